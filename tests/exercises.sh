#!/bin/sh
# exercises.sh [NN-k [ANSWER]] -- without arguments: every model answer passes, the plausible wrong one and the
# untouched skeleton fail.  With a name: judges the reader's ANSWER (default: my-NN-k, begun from the skeleton).
# tests/exercises/NN-k/ holds check (run with the answer's file), answer, wrong, skeleton.
set -u
build=${BUILD:-build}; export BUILD=$build
judge() { sh "tests/exercises/$1/check" "$2" > "$build/exercise.out" 2>&1; }
mkdir -p "$build"
if [ $# -gt 0 ]; then
  mine=${2:-my-$1}
  if [ ! -f "$mine" ]; then cp "tests/exercises/$1/skeleton" "$mine"; echo "$mine is the place for your answer; fill it in, then type make exercise-$1 again"; exit 0; fi
  if judge "$1" "$mine"; then echo "exercise $1: right"; else cat "$build/exercise.out"; echo "exercise $1: not yet"; exit 1; fi
  exit 0
fi
bad=0; n=0
for d in tests/exercises/*/; do
  e=$(basename "$d"); n=$((n + 1))
  judge "$e" "$d/answer" || { echo "$e: the model answer fails"; cat "$build/exercise.out"; bad=$((bad + 1)); }
  ! judge "$e" "$d/wrong" || { echo "$e: the wrong answer passes"; bad=$((bad + 1)); }
  ! judge "$e" "$d/skeleton" || { echo "$e: the skeleton passes"; bad=$((bad + 1)); }
done
echo "$n exercises, $bad faults"; [ "$bad" = 0 ]
