#!/bin/sh
# live.sh MODULE... -- are the keys alive?  Every chapter's program is linked with libraries that are wrong on purpose (tests/planted/live/*.txt:
# blocks too large, a row too many, a logit scaled, a rule of the tokenizer lost): one with all faults, one with those of the engine
# only, as a wrong tokenizer may stop a program before it prints, one whose counters alone are wrong, and one that chooses tokens
# wrongly; and for chapters that watch themselves and stop, libraries whose faults they cannot see at once.
# A key must be printed with another value by one of them; a key that is not printed is not alive.  Or it stands in tests/planted/live/*.tsv
# with its reason; there "refused: WORDS" means that the program says WORDS and ends with a status that is not 0 for one of them.
set -eu
build=${BUILD:-build}; export BUILD=$build
fixtures=$(ls unwoven/model/toy.c 2>/dev/null || true)
limit=$build/limit live=$build/live
[ "$limit" -nt tests/checks/limit.c ] || ${CC:-cc} -std=c11 -O2 tests/checks/limit.c -o "$limit"
rm -rf "$live"; mkdir -p "$live"
cat tests/planted/live/*.tsv | grep -v '^#' > "$live/reasons"
own="steps marks"                        # faults for some chapters only
chapters_of() { # KIND CHAPTER...: those of the chapters that this kind is for
  kind=$1; shift
  for c in "$@"; do
    case $kind:$c in
    steps:loop|marks:loop|marks:tokenizer) echo "$c" ;;
    steps:*|marks:*) ;;
    *) echo "$c" ;;
    esac
  done
}
for kind in all engine counts choice $own; do
  programs=$(chapters_of "$kind" "$@"); [ -n "$programs" ] || continue
  case $kind in
  all) for f in tests/planted/live/*.txt; do
      case $(basename "$f" .txt) in counts|sampling|steps|marks) ;; *) cat "$f" ;; esac
    done ;;
  engine) for f in ground model accounts stopping search constraints serving speculation; do cat "tests/planted/live/$f.txt"; done ;;
  choice) cat tests/planted/live/sampling.txt ;;
  *) cat "tests/planted/live/$kind.txt" ;;
  esac > "$live/$kind.txt"
  PLANTED=$live/$kind texlua tests/planted/planted.lua "$live/$kind.txt"
  for c in $programs; do
    program=build/tangled/laboratory/$c.c
    if [ -f "$program" ]; then shared=$(ls build/tangled/laboratory/kit*.c 2>/dev/null || true); else program=tangled/checkpoints/$c.c shared=; fi
    ${CC:-cc} -std=c11 -O2 -ffp-contract=off -w -I"$live/$kind/tangled" -I"$live/$kind/unwoven" -Ibuild/tangled -I"$live/$kind/program" "$program" $shared "$live/$kind"/objects/*.o $fixtures "$build/libprogram.a" "$build/libmodules.a" \
      -z muldefs -o "$live/$kind/$c" -ljansson -lpcre2-8 -lutf8proc -ledit $(pkg-config --libs libmicrohttpd 2>/dev/null) $(pkg-config --libs libcurl 2>/dev/null) -pthread -lm
    rc=0; "$limit" 1800 "$live/$kind/$c" values > "$live/$kind/$c.val" 2> "$live/$kind/$c.err" || rc=$?
    if [ $rc = 0 ]; then rm "$live/$kind/$c.err"; fi         # words that count are those of a program that stopped
  done
done
bad=0
for c in "$@"; do
  awk -v c="$c" -v said="$(cat "$live"/*/"$c.err" 2>/dev/null || true)" -v files="$(ls "$live"/*/"$c.val")" -v list="$live/reasons" '
    BEGIN {
      FS = "\t"
      while ((getline l < list) > 0) { split(l, f, "\t"); reason[f[1]] = f[2] }
      FS = " "; n_files = split(files, file, "\n")
      for (i = 1; i <= n_files; i++) while ((getline l < file[i]) > 0) { k = l; sub(/ .*/, "", k); wrong[i, k] = l }
    }
    { n++; alive = printed = 0
      for (i = 1; i <= n_files; i++) if ((i, $1) in wrong) { printed = 1; if (wrong[i, $1] != $0) alive = 1 }
      if (alive) next
      same++
      if (!($1 in reason)) { print c ": " $1 (printed ? " does not notice" : " is not even printed"); bad++ }
      else if (match(reason[$1], /^refused: /) && !index(said, substr(reason[$1], 10))) {
        print c ": " $1 ": no program stopped with the words: " substr(reason[$1], 10); bad++ } }
    END { print c ": " n + 0 " keys, " n - same " change, " same + 0 " do not, " bad + 0 " without a reason"; exit bad > 0 }' \
    "build/values/$c.val" || bad=1
done
exit $bad
