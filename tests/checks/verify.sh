#!/bin/sh
# verify.sh [whole] -- incipit verify, of all rows: every claim of the ledger comes out as the ledger says; and as JSON for a few.
# Without a word, in make check: of the programs of the laboratory those that take longest are not run once more; in their places stand
# programs that say what the same ones said when the numbers of the books were made.  whole, in make check-all: all of them, in two minutes.
set -eu
build=${BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
out=$build/tests/verify; rm -rf "$out"; mkdir -p "$out"
command=$build/incipit slow="quantization sampling search serving speculation"
if [ "${1:-}" != whole ]; then
  stage=$out/stage
  mkdir -p "$stage/build/bin/laboratory" "$stage/figures"
  ln -s "$PWD/ledger" "$PWD/models" "$stage/"; ln -s "$PWD/figures/data" "$stage/figures/"
  cp "$build/incipit" build/sections.tsv "$stage/build/"
  for p in "$build/bin"/* "$build/bin/laboratory"/*; do [ -d "$p" ] || ln -s "$p" "$stage/build/${p#"$build"/}"; done
  for p in $slow; do
    rm "$stage/build/bin/laboratory/$p"
    printf '#!/bin/sh\n[ "$*" = "values claims" ] && cat "%s"\n' "$PWD/build/values/$p.val" > "$stage/build/bin/laboratory/$p"
    chmod +x "$stage/build/bin/laboratory/$p"
  done
  command=$stage/build/incipit
fi
rc=0; begin=$(date +%s); "$command" verify > "$out/lines" 2> "$out/said" || rc=$?; end=$(date +%s)
[ $rc = 0 ] || { cat "$out/said"; exit 1; }
[ "$(wc -l < "$out/lines")" = 347 ] || { echo "$(wc -l < "$out/lines") lines"; exit 1; }
grep -q '^347 claims: ' "$out/said" || { cat "$out/said"; exit 1; }
[ $((end - begin)) -le 120 ] || echo "it took $((end - begin)) seconds; wanted: 120 at most, on two cores"
# what people see is what the book was built from
cut -f1,6 build/claims.tsv > "$out/book"
awk '{ print $1 "\t" $2 }' "$out/lines" | cmp - "$out/book"
"$command" verify --source S4 --verdict off-by-one --json -q > "$out/json"
[ "$(grep -o '"verdict":"off-by-one"' "$out/json" | wc -l)" = "$(awk -F'\t' '$1 ~ /^S4/ && $6 == "off-by-one"' build/claims.tsv | wc -l)" ] || { cat "$out/json"; exit 1; }
# the commands that rows show work as printed (those that take long are left out)
PATH=$build:$PATH; export PATH
cut -f14 ledger/claims.tsv | grep '^incipit' | grep -v 'bench\|-n 500\|-n 1000\|-n 200.*--no-cache' | sort -u | while read -r c; do
  sh -c "$c" > "$out/shown" 2>&1 < /dev/null || { echo "$c: $(tail -1 "$out/shown")"; exit 1; }
done
