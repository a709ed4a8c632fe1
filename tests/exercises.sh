#!/bin/sh
# exercises.sh [NN-k [ANSWER]] -- without arguments: every model answer passes; the plausible wrong one and the untouched skeleton
# fail, and so does a number with anything behind it.  With a name: judges the reader's ANSWER (default: my-NN-k, begun from the
# skeleton).  "unpack" only unpacks; "junk" only proves that nothing may stand behind a number.
# tests/exercises/NN-k.ex has the parts check (run with the answer's file), answer, wrong, skeleton, each behind a line "==== PART";
# behind "==== PART is the answer but" stand only lines that differ, -OLD and then what comes for it, each +NEW;
# they are unpacked in $BUILD/exercises/NN-k/.  What several checks run is a program or a header beside them, tests/exercises/*.c, *.h.
set -u
build=${BUILD:-build}; export BUILD=$build
parts=$build/exercises; mkdir -p "$build"
[ "$build/limit" -nt tests/limit.c ] || ${CC:-cc} -std=c11 -O2 tests/limit.c -o "$build/limit" || exit 1
unpack() { # NN-k.ex...
  for f in "$@"; do e=$(basename "$f" .ex); rm -rf "${parts:?}/$e"; mkdir -p "$parts/$e"; done
  awk -v parts="$parts" '
    FNR == 1 { e = FILENAME; sub(/.*\//, "", e); sub(/\.ex$/, "", e) }
    /^==== / { if (to != "") close(to); to = parts "/" e "/" $2 (NF > 2 ? ".but" : ""); printf "" > to; next }
    { print > to }' "$@"
  for b in "$parts"/*/*.but; do
    [ -f "$b" ] || continue
    awk 'NR == FNR && /^-/ { old = substr($0, 2); put[old] = ""; wanted++; next }
      NR == FNR { put[old] = put[old] substr($0, 2) "\n"; next }
      $0 in put { printf "%s", put[$0]; found++; next } { print }
      END { exit found != wanted }' "$b" "${b%/*}/answer" > "${b%.but}" || { echo "$b: not just one such line in the answer"; exit 1; }
    rm "$b"
  done
}
judge() { "$build/limit" 300 sh "$parts/$1/check" "$2" > "$build/exercise.out" 2>&1; }
case ${1:-} in
''|junk) unpack tests/exercises/*.ex ;;
unpack) rm -rf "${parts:?}"; unpack tests/exercises/*.ex; exit 0 ;;
*)
  [ -f "tests/exercises/$1.ex" ] || { echo "there is no exercise $1"; exit 1; }
  unpack "tests/exercises/$1.ex"
  mine=${2:-my-$1}
  if [ ! -f "$mine" ]; then
    cp "$parts/$1/skeleton" "$mine"
    echo "$mine is the place for your answer; fill it in, then type make exercise-$1 again"; exit 0
  fi
  if judge "$1" "$mine"; then echo "exercise $1: right"; else cat "$build/exercise.out"; echo "exercise $1: not yet"; exit 1; fi
  exit 0 ;;
esac
bad=0; n=0; numbers=0
fault() { echo "$1"; bad=$((bad + 1)); }
# where the answer is numbers: something directly behind the last, another number, another line, and the wrong answer twice
# (a check that counts what it was given from the front takes the second for its own)
behind() { # NN-k
  d=$parts/$1
  ! grep -v '^#' "$d/answer" | grep -q '[^-0-9. ]' || return 0
  numbers=$((numbers + 1))
  said=$(cat "$d/answer")                # without the last newline
  printf '%sx\n' "$said" > "$d/junk-1"
  printf '%s 7\n' "$said" > "$d/junk-2"
  printf '%s\nseven\n' "$said" > "$d/junk-3"
  echo $(grep -v '^#' "$d/wrong") $(grep -v '^#' "$d/wrong") > "$d/junk-4"
  for k in 1 2 3 4; do ! judge "$1" "$d/junk-$k" || fault "$1: passes with something behind its number: $(tail -1 "$d/junk-$k")"; done
}
for f in ${ONLY:-tests/exercises/*.ex}; do
  e=$(basename "$f" .ex); d=$parts/$e; n=$((n + 1))
  if [ -z "${1:-}" ]; then
    judge "$e" "$d/answer" || { cat "$build/exercise.out"; fault "$e: the model answer fails"; }
    ! judge "$e" "$d/wrong" || fault "$e: the wrong answer passes"
    ! judge "$e" "$d/skeleton" || fault "$e: the skeleton passes"
  fi
  behind "$e"
done
echo "$n exercises, $numbers of them with numbers for an answer, $bad faults"; [ "$bad" = 0 ]
