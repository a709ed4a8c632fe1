#!/bin/sh
# exercises.sh [NN-k [ANSWER]] -- without arguments: every model answer passes; the plausible wrong one, the untouched skeleton and the cheats
# fail, and so does a number with anything behind it.  With a name: judges the reader's ANSWER (default: my-NN-k, begun from the
# skeleton).  "unpack" only unpacks; "junk" only proves that nothing may stand behind a number; "cheats" only tries the cheats.
# tests/planted/exercises/NN-k.ex has the parts check, answer, wrong, skeleton, and for code head, tail and test, each behind a line "==== PART";
# parts that begin with "right" are other model answers;
# behind "==== PART is the answer but" stand only lines that differ, -OLD and then what comes for it, each +NEW;
# they are unpacked in $BUILD/exercises/NN-k/.  What a check is made of is in tests/planted/judge.sh; what several run is beside the .ex files.
set -u
build=${BUILD:-build}; export BUILD=$build
parts=$build/exercises; mkdir -p "$build"
tool() { # NAME SOURCE...: compiled if a source is newer
  name=$1; shift
  for f in "$@"; do [ "$build/$name" -nt "$f" ] || { ${CC:-cc} -std=c11 -O2 "$@" -o "$build/$name" -lm || exit 1; break; }; done
}
tool limit tests/checks/limit.c
tool change tests/planted/exercises/change.c
tool formula tests/planted/exercises/formula.c
tool cage tests/planted/exercises/cage.c course/cage.c course/transcript.c
unpack() { # NN-k.ex...: what has not changed since stays, with the programs that were compiled for it
  for f in "$@"; do
    e=$(basename "$f" .ex)
    [ "$parts/$e/check" -nt "$f" ] && [ "$parts/$e/check" -nt tests/planted/judge.sh ] && [ "$parts/$e/check" -nt "$build/libmodules.a" ] && continue
    rm -rf "${parts:?}/$e"; mkdir -p "$parts/$e"
    awk -v to="$parts/$e/" '/^==== / { if (out != "") close(out); out = to $2 (NF > 2 ? ".but" : ""); printf "" > out; next } { print > out }' "$f"
    for b in "$parts/$e"/*.but; do
      [ -f "$b" ] || continue
      awk 'NR == FNR && /^-/ { old = substr($0, 2); put[old] = ""; wanted++; next }
        NR == FNR { put[old] = put[old] substr($0, 2) "\n"; next }
        $0 in put { printf "%s", put[$0]; found++; next } { print }
        END { exit found != wanted }' "$b" "$parts/$e/answer" > "${b%.but}" || { echo "$b: not just one such line in the answer"; exit 1; }
      rm "$b"
    done
  done
}
judge() { "$build/limit" 300 sh tests/planted/judge.sh "$1" "$2" < /dev/null > "$build/answers/$1.out" 2>&1; } # NN-k ANSWER
mkdir -p "$build/answers"
case ${1:-} in
''|junk|cheats) unpack tests/planted/exercises/*.ex ;;
unpack) rm -rf "${parts:?}"; unpack tests/planted/exercises/*.ex; exit 0 ;;
*)
  [ -f "tests/planted/exercises/$1.ex" ] || { echo "there is no exercise $1"; exit 1; }
  unpack "tests/planted/exercises/$1.ex"
  mine=${2:-my-$1}
  if [ ! -f "$mine" ]; then
    cp "$parts/$1/skeleton" "$mine"
    echo "$mine is the place for your answer; fill it in, then type make exercise-$1 again"; exit 0
  fi
  if judge "$1" "$mine"; then echo "exercise $1: right"; exit 0; fi
  echo "exercise $1: not yet"; tail -5 "$build/answers/$1.out" | cut -c1-500; exit 1 ;;
esac
bad=0; n=0; numbers=0; tried=0
fault() { echo "$1"; bad=$((bad + 1)); }
fails() { # NN-k ANSWER WHAT: it does not pass, and a sentence says why
  if judge "$1" "$2"; then fault "$1: $3 passes"
  elif ! grep -q '[a-z]' "$build/answers/$1.out"; then fault "$1: $3 fails without a reason"; fi
}
# where the answer is numbers: something directly behind the last, another number, another line, and the wrong answer twice
# (a check that counts what it was given from the front takes the second for its own); with commas between them it is right
behind() { # NN-k
  d=$parts/$1
  ! grep -v '^#' "$d/answer" | grep -q '[^-0-9. ]' || return 0
  numbers=$((numbers + 1))
  said=$(cat "$d/answer")                # without the last newline
  printf '%sx\n' "$said" > "$d/junk-1"
  printf '%s 7\n' "$said" > "$d/junk-2"
  printf '%s\nseven\n' "$said" > "$d/junk-3"
  echo $(grep -v '^#' "$d/wrong") $(grep -v '^#' "$d/wrong") > "$d/junk-4"
  for k in 1 2 3 4; do fails "$1" "$d/junk-$k" "something behind its number, $(tail -1 "$d/junk-$k"),"; done
  [ "$(grep -vc '^#' "$d/answer")" = 1 ] || return 0
  grep -v '^#' "$d/answer" | sed 's/ /, /g' > "$d/commas"
  judge "$1" "$d/commas" || fault "$1: the model answer fails with commas: $(cat "$d/commas")"
}
# the answers of tests/planted/exercises/cheats.txt, in $BUILD/cheats, and a list: exercise, file, what it tries
cheats() {
  rm -rf "$build/cheats"; mkdir -p "$build/cheats"
  awk -v dir="$build/cheats" -v parts="$parts" '
    function end(  i, o, l) {
      for (i = 2; kind != "" && i <= n; i++) {
        o = dir "/" ++number
        if (kind == "@") printf "%s", body > o
        else if (of[i] in file) { l = body; gsub(/\n/, "\n+", l); printf "== %s\n-%s\n+%s\n+%s\n", file[of[i]], place[of[i]], place[of[i]], l > o }
        else { printf "%s", body > o; while ((getline l < (parts "/" of[i] "/skeleton")) > 0) print l > o; close(parts "/" of[i] "/skeleton") }
        close(o); print of[i], o, what
      }
      kind = body = ""
    }
    /^at / { file[$2] = $3; place[$2] = $4 " " $5; next }
    /^# / { end(); what = substr($0, 3); next }
    /^[@+] [0-9W][0-9]*-/ { end(); kind = $1; n = split($0, of, " "); next }
    kind != "" && NF { body = body $0 "\n" }
    END { end() }' tests/planted/exercises/cheats.txt > "$build/cheats/list"
}
for f in ${ONLY:-tests/planted/exercises/*.ex}; do
  e=$(basename "$f" .ex); d=$parts/$e; n=$((n + 1))
  if [ -z "${1:-}" ]; then
    for a in "$d/answer" "$d"/right*; do
      [ ! -f "$a" ] || judge "$e" "$a" || { cat "$build/answers/$e.out"; fault "$e: the model answer $(basename "$a") fails"; }
    done
    fails "$e" "$d/wrong" "the wrong answer"
    fails "$e" "$d/skeleton" "the skeleton"
  fi
  [ "${1:-}" = cheats ] || behind "$e"
done
if [ -z "${1:-}" ] || [ "$1" = cheats ]; then
  cheats
  while read -r e file what; do
    case " ${ONLY:-} " in "  "|*" $e "*|*"/$e.ex "*) fails "$e" "$file" "the cheat that $what"; tried=$((tried + 1)) ;; esac
  done < "$build/cheats/list"
  for f in "$build/exercises/cheated" tests/planted/exercises/cheated; do [ ! -e "$f" ] || fault "a cheat wrote $f"; done
fi
echo "$n exercises, $numbers of them with numbers for an answer, $tried cheats, $bad faults"; [ "$bad" = 0 ]
