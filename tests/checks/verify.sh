#!/bin/sh
# verify.sh -- incipit verify, whole: every claim of the ledger comes out as the ledger says, in two minutes; and as JSON for a few.
set -eu
build=${BUILD:-build}; out=$build/tests/verify; rm -rf "$out"; mkdir -p "$out"
rc=0; begin=$(date +%s); "$build/incipit" verify > "$out/lines" 2> "$out/said" || rc=$?; end=$(date +%s)
[ $rc = 0 ] || { cat "$out/said"; exit 1; }
[ "$(wc -l < "$out/lines")" = 347 ] || { echo "$(wc -l < "$out/lines") lines"; exit 1; }
grep -q '^347 claims: ' "$out/said" || { cat "$out/said"; exit 1; }
[ $((end - begin)) -le 120 ] || echo "it took $((end - begin)) seconds; wanted: 120 at most, on two cores"
# what people see is what the book was built from
cut -f1,6 build/claims.tsv > "$out/book"
awk '{ print $1 "\t" $2 }' "$out/lines" | cmp - "$out/book"
"$build/incipit" verify --source S4 --verdict off-by-one --json -q > "$out/json"
[ "$(grep -o '"verdict":"off-by-one"' "$out/json" | wc -l)" = "$(awk -F'\t' '$1 ~ /^S4/ && $6 == "off-by-one"' build/claims.tsv | wc -l)" ] || { cat "$out/json"; exit 1; }
# the commands that rows show work as printed (those that take long are left out)
PATH=$(cd "$build" && pwd):$PATH; export PATH
cut -f14 ledger/claims.tsv | grep '^incipit' | grep -v 'bench\|-n 500\|-n 1000' | sort -u | while read -r c; do
  sh -c "$c" > "$out/shown" 2>&1 < /dev/null || { echo "$c: $(tail -1 "$out/shown")"; exit 1; }
done
