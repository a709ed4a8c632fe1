#!/bin/sh
# live.sh CHAPTER... -- are the keys alive?  Every chapter's program is linked with libraries that are wrong on purpose (tests/live/*.txt:
# blocks too large, a row too many, a logit scaled, a rule of the tokenizer lost): one with all faults, and one with those of the engine
# only, as a wrong tokenizer may stop a program before it prints, one whose counters alone are wrong, and one that chooses tokens wrongly.
# A key must be printed with another value by one of them, or
# the chapter must itself refuse to print it when counters are wrong, or it stands in tests/live/*.tsv with its reason.
set -eu
fixtures=$(ls tangled/model/toy.c tangled/loop/parrot.c tangled/loop/laboratory.c 2>/dev/null || true)
build=${BUILD:-build}; export BUILD=$build
cat tests/live/*.tsv | grep -v '^#' > "$build/live.tsv"
bad=0
for kind in all engine counts choice; do
  case $kind in
  all) cat $(ls tests/live/*.txt | grep -v -e counts -e sampling) ;;
  engine) cat tests/live/ground.txt tests/live/model.txt tests/live/accounts.txt tests/live/stopping.txt tests/live/search.txt tests/live/constraints.txt ;;
  counts) cat tests/live/counts.txt ;;
  choice) cat tests/live/sampling.txt ;;
  esac > "$build/live.txt"
  texlua tests/planted.lua "$build/live.txt"
  for c in "$@"; do
    kit=; program=tangled/laboratory/$c.c
    if [ -f "$program" ]; then kit=$(ls tangled/laboratory/kit*.c 2>/dev/null || true); else program=tangled/checkpoints/$c.c; fi
    ${CC:-cc} -std=c11 -O2 -ffp-contract=off -w -I"$build/exercise/tangled" "$program" $kit $fixtures "$build/exercise/libincipit.a" -o "$build/exercise/$c" -ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm
    "$build/exercise/$c" values > "$build/live.$kind.$c.val" 2>/dev/null || true
  done
done
for c in "$@"; do
  awk -v c="$c" -v a="$build/live.all.$c.val" -v b="$build/live.engine.$c.val" -v d="$build/live.counts.$c.val" -v e="$build/live.choice.$c.val" -v list="$build/live.tsv" '
    function wrong(file, v,   l, k) { while ((getline l < file) > 0) { k = l; sub(/ .*/, "", k); v[k] = l } }
    BEGIN { FS = "\t"; while ((getline l < list) > 0) { split(l, f, "\t"); ok[f[1]] = 1 } FS = " "; wrong(a, A); wrong(b, B); wrong(d, C); wrong(e, D) }
    { n++; alive = ($1 in A && A[$1] != $0) || ($1 in B && B[$1] != $0) || C[$1] != $0 || ($1 in D && D[$1] != $0); gone = !($1 in A) && !($1 in B) && !($1 in C) && !($1 in D); same += !alive
      if (!alive && !($1 in ok)) { print c ": " $1 (gone ? " is not even printed" : " does not notice"); bad++ } }
    END { print c ": " n+0 " keys, " n - same " change, " same+0 " do not, " bad+0 " without a reason"; exit bad > 0 }' "build/values/$c.val" || bad=1
done
exit $bad
