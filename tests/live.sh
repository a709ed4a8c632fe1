#!/bin/sh
# live.sh CHAPTER... -- are the keys alive?  Every chapter's program is linked with a library that is wrong on purpose
# (tests/live/*.txt: blocks too large, a row too many, a logit scaled); a key that does not change must stand in tests/live/*.tsv.
set -eu
build=${BUILD:-build}; export BUILD=$build
cat tests/live/*.txt > "$build/live.txt"; cat tests/live/*.tsv | grep -v '^#' > "$build/live.tsv"
texlua tests/planted.lua "$build/live.txt"
bad=0; total=0
for c in "$@"; do
  ${CC:-cc} -std=c11 -O2 -ffp-contract=off -w -I"$build/exercise/tangled" "tangled/$c/$c.c" "$build/exercise/libincipit.a" -o "$build/exercise/$c" -ljansson -lpcre2-8 -lutf8proc -pthread -lm
  "$build/exercise/$c" values > "$build/exercise/$c.val" 2>/dev/null || echo "# $c stops" >> "$build/exercise/$c.val"
  awk -v c="$c" -v wrong="$build/exercise/$c.val" -v list="$build/live.tsv" '
    BEGIN { FS = "\t"; while ((getline l < list) > 0) { split(l, f, "\t"); ok[f[1]] = 1 } FS = " "
      while ((getline l < wrong) > 0) { k = l; sub(/ .*/, "", k); now[k] = l } }
    { n++; if ($0 == now[$1] && !($1 in ok)) { print c ": " $1 " does not notice"; bad++ }
      if ($0 == now[$1]) same++ }
    END { print c ": " n+0 " keys, " n - same " change, " same+0 " do not, " bad+0 " without a reason"; exit bad > 0 }' "build/values/$c.val" || bad=1
done
exit $bad
