#!/bin/sh
# run.sh SUITE... -- runs the suites and the other checks, adds up, prints the total as the last line.
# A case is one Check test, one golden line, or one check of this file.  Fewer cases of a file than tests/cases.tsv says is a failure
# (the lines that say plain: of the plain build; under the sanitizers these checks do not run, or run shorter; whole: not of FAST).
# FAST=1: the suites that are named, two at a time, and those checks that need no chapter's program and are done in seconds.
# BOOK=1: no suite, and what a typo may break.  Behind each suite and check stands how many seconds it took, and
# in brackets how many of a processor, which are no more when others are busy.
# Everything runs under a limit of time, and what it leaves behind is ended (tests/checks/limit.c).
set -u
build=${BUILD:-build}; out=$build/tests; mkdir -p "$out"
tally=$out/tally.tsv checks=$out/checks.tsv; : > "$tally"; : > "$checks"
# how long each took, in seconds, and how many of a processor it used, which does not grow when others are busy:
# sort -k2 -rn build/tests/seconds.tsv
seconds=$out/seconds.tsv; : > "$seconds"
begins() { date +%s > "$out/$1.began"; times >> "$out/$1.began"; } # NAME
took() { # NAME
  date +%s >> "$out/$1.began"; times >> "$out/$1.began"
  awk -F'[ms ]+' -v name="$1" 'NF == 1 { from = wall; wall = $1; next } { was = had; had = used; used = $1 * 60 + $2 + $3 * 60 + $4 }
    END { printf "%d\t%.1f\t%s\n", wall - from, used - was, name }' "$out/$1.began" >> "$seconds"; rm "$out/$1.began"
}
case $build in /*) here=$build;; *) here=$PWD/$build;; esac
limit=$build/limit most=$((3600 * ${CK_TIMEOUT_MULTIPLIER:-1}))
[ "$limit" -nt tests/checks/limit.c ] || ${CC:-cc} -std=c11 -O2 tests/checks/limit.c -o "$limit" || exit 1
suites() { # SUITE...: one after the other
for s in "$@"; do
  rm -f "$out/$s.tap"; begins "$s"
  INCIPIT_TAP=$here/tests/$s.tap INCIPIT_TALLY=$PWD/$tally CK_DEFAULT_TIMEOUT=300 CK_VERBOSITY=silent "$limit" $most "$out/$s" > "$out/$s.out" 2>&1; rc=$?
  took "$s"
  pass=$(grep -c '^ok ' "$out/$s.tap" 2>/dev/null); fail=$(grep -c '^not ok ' "$out/$s.tap" 2>/dev/null)
  [ "$rc" = 0 ] || [ "${fail:-0}" -gt 0 ] || fail=1
  printf 'tests/suites/%s.c\t%s\t%s\t0\t\n' "$s" "${pass:-0}" "${fail:-0}" >> "$tally"
  if [ "${fail:-0}" -gt 0 ]; then grep '^not ok ' "$out/$s.tap"; tail -40 "$out/$s.out"; fi
  [ "$s" != check_paths ] || grep 'NOT RUN' "$out/$s.out"
done
}
one() { # NAME COMMAND...: one check of this file
  name=$1; shift; begins "$name"
  "$limit" $most "$@" > "$out/$name.out" 2>&1; rc=$?; took "$name"
  if [ $rc = 0 ]; then printf '%s\t1\t0\t0\t\n' "$name" >> "$checks"
  elif [ $rc = 77 ]; then printf '%s\t0\t0\t1\t%s\n' "$name" "$(tail -1 "$out/$name.out")" >> "$checks"
  else printf '%s\t0\t1\t0\t\n' "$name" >> "$checks"; echo "FAILED: $name"; tail -20 "$out/$name.out"; fi
}
# a chapter alone; chapter 3 letter for letter by the command in the book, the others by once.sh
alone() { # MODULE
  case $1 in
  loop) one "alone-$1" tests/checks/alone.sh "$1" ;;
  serving|speculation) one "alone-$1" env TABLES=all ONCE="$here/once" tests/checks/alone.sh "$1" ;;
  *) one "alone-$1" env ONCE="$here/once" tests/checks/alone.sh "$1" ;; esac
}
# what asks make to make something: one after the other
makes() {
  one cuda sh tests/checks/cuda.sh; grep 'NOT RUN' "$out/cuda.out"
  one course sh tests/checks/course.sh; grep 'faults' "$out/course.out" || true
  one cross sh tests/checks/cross.sh short; grep 'NOT RUN' "$out/cross.out"
  one incremental tests/checks/incremental.sh
  one installed tests/checks/installed.sh; grep 'NOT RUN' "$out/installed.out"
}
# both in $BUILD/recipes
recipes() {
  one recipes sh tests/checks/recipes.sh
  one family-recipe sh tests/checks/family_recipe.sh
}
# a job has the name of a suite or of a check, or of what runs several; it is done by whoever claims it first
job() {
  case $1 in
  check_*) suites "$1" ;;
  alone-*) alone "${1#alone-}" ;;
  makes|recipes|data|siege) "$1" ;;
  matrix) one matrix sh tests/checks/matrix.sh short; grep 'NOT RUN' "$out/matrix.out" ;;
  page) one page sh tests/checks/page.sh; grep 'NOT RUN' "$out/page.out" ;;
  living_page) one living_page sh tests/checks/living_page.sh; grep 'NOT RUN' "$out/living_page.out" ;;
  living) one living sh tests/checks/living.sh short; grep "NOT RUN" "$out/living.out" ;;
  serve) one serve sh tests/checks/serve.sh; grep 'NOT RUN' "$out/serve.out" ;;
  soak) one soak sh tests/checks/soak.sh; tail -1 "$out/soak.out" ;;
  exercises) one exercises sh tests/planted/exercises.sh; grep ' faults' "$out/exercises.out" || true ;;
  ulp) one ulp sh tests/checks/ulp.sh short ;;
  amalgamation) one amalgamation sh tests/checks/amalgamation.sh short ;;
  python-tokenizers) one python-tokenizers sh -c 'command -v ${PYTHON:-python3} >/dev/null || { echo "no python3 here"; exit 77; }; ${PYTHON:-python3} tests/golden/tokenizers/make.py check' ;;
  corpus) one corpus tests/planted/fuzz.sh replay; grep '%' "$out/corpus.out" ;;
  *) one "$1" sh "tests/checks/$1.sh" ;;
  esac
}
claim() { for j; do ! mkdir "$out/$j.claim" 2>/dev/null || job "$j"; done; }
# what a typo may break: the books as they are printed, their boxes, links, claims and questions
book() {
  one card texlua tests/book/card.lua models
  one families texlua tools/families.lua check
  one readme texlua tools/readme.lua README.md
  one questions texlua tests/book/questions.lua docs/questions.md
  one margins texlua tests/book/margins.lua
  one apparatus texlua tests/book/apparatus.lua
  one digits texlua tests/book/digits.lua
  one pdf texlua tests/book/pdf.lua
  one html sh -c '[ -f build/figures.pdf ] && [ -f build/labels.tex ] && [ -f build/book.cwm ] && [ -f build/values.tex ] || { echo "the figures are not drawn here: make book"; exit 77; }; texlua tools/html.lua build/tests/laboratory && texlua tests/book/html.lua build/tests/laboratory'
  one pages texlua tests/book/pages.lua
  one printed texlua tests/book/printed.lua
}
# what ../shared has, read again
data() {
  one spellings sh -c '[ -d "$1" ] || { echo "the published vocabularies of $1 are not here"; exit 77; }; texlua tools/spellings.lua "$1" | cmp - figures/data/tokens.spellings.csv && texlua tools/spellings.lua "$1" letters | cmp - figures/data/tokens.letters.csv && texlua tools/wordcounts.lua "$1" | cmp - figures/data/tokens.words.csv' - "${SHARED:-../shared}"
  one lossy sh -c '[ -d "$1" ] || { echo "the published model $1 is not here"; exit 77; }; build/bin/laboratory/accounts lossy "$1" | cmp - figures/data/accounts.lossy.csv' - "${SHARED:-../shared}/golden/models/stories260K"
  one published sh -c '[ -d "$1" ] || { echo "the published model $1 is not here"; exit 77; }; build/bin/laboratory/quantization published "$1" | cmp - figures/data/quantization.stories.csv' - "${SHARED:-../shared}/golden/models/stories260K"
  one files sh -c '[ -d "$1" ] || { echo "the published model $1 is not here"; exit 77; }; tests/checks/quantized_files.sh "$1" | cmp - figures/data/quantization.files.csv' - "${SHARED:-../shared}/golden/models/stories260K"
  one smollm2 tests/checks/smollm2.sh
  one gemma3 tests/checks/gemma3.sh
  one unseen tests/checks/unseen.sh
  one picture sh -c 'build/bin/laboratory/loop grid > build/tests/grid.csv && texlua tools/gridsvg.lua build/tests/grid.csv | cmp - docs/grid.svg'
}
# every bit of a model's files turned, one at a time, in one process: under the address sanitizer, too
siege() {
  one siege "$out/siege"
  one siege-llama "$out/siege" whole tests/golden/llama; tail -2 "$out/siege-llama.out"
  s=${SHARED:-../shared}/golden/refuse/control-llama
  if [ -d "$s" ]; then one siege-shared "$out/siege" whole "$s"; tail -2 "$out/siege-shared.out"; fi
}
more_of_the_book() {
  for f in tests/book/byhand/*.lua; do [ ! -f "$f" ] || one "byhand-$(basename "$f" .lua)" texlua "$f"; done
  one byhand env STRICT=1 tests/book/byhand.sh
  one claims texlua tests/book/claims.lua
  one letters texlua tools/letters.lua "$out/letters"
}
rm -rf "$out"/*.claim
if [ -n "${BOOK:-}" ]; then book; more_of_the_book
elif [ -n "${FAST:-}" ]; then
  backwards=$(for s in "$@"; do echo "$s"; done | tac)
  claim "$@" & claim $backwards
elif [ "$build" != build ]; then
  suites "$@" & case $build in *tsan*) ;; *) siege ;; esac
else
  # two at a time.  First what takes minutes, the longest first, so that at the end both have something to do; the suites, longer than
  # the rest; and what is short
  sh tests/planted/exercises.sh unpack
  jobs="makes exercises matrix verify check_training races check_formats check_paths amalgamation check_warps living_page"
  for s in "$@"; do case " $jobs " in *" $s "*) ;; *) jobs="$jobs $s" ;; esac; done
  jobs="$jobs recipes ulp data python-tokenizers corpus siege page living serve soak records objects library $(for c in ${CHECKPOINTS:-}; do echo "alone-$c"; done)"
  claim $jobs &
fi
# what is cheap: nothing is compiled but small programs
if [ "$build" = build ] && [ -z "${BOOK:-}" ]; then
  one limit sh tests/checks/limit.sh
  one globals tests/checks/globals.sh
  [ -z "${FAST:-}" ] || sh tests/planted/exercises.sh unpack
  one planted env PLACES=1 texlua tests/planted/mutants.lua tests/planted/mutants/*.txt tests/planted/live/*.txt tests/planted/fuzz/planted.txt \
    $(grep -l '^== ' build/exercises/*/answer build/exercises/*/wrong build/exercises/*/skeleton)
  one tangled sh -c 'git diff --quiet HEAD -- chapters workshop 2>/dev/null || { echo "the webs are not as committed, or there is no git"; exit 77; }; git status --porcelain -- tangled | tee /dev/stderr | wc -l | grep -qx 0'
  book
fi
if [ "$build" = build ] && [ -z "${FAST:-}${BOOK:-}" ]; then more_of_the_book; claim $jobs; fi
wait; cat "$checks" >> "$tally"
if [ -d "${SHARED:-../shared}" ]; then column=3; else column=2; fi
awk -F'\t' -v column=$column -v build="${FAST:+fast }${BOOK:+fast book }$build" -v seconds="$seconds" '
  BEGIN { while ((getline line < seconds) > 0) { split(line, f, "\t"); k = f[3] ~ /^check_/ ? "tests/suites/" f[3] ".c" : f[3]; took[k] += f[1]; used[k] += f[2]; all += f[2] }
    while (build !~ /book/ && (getline line < "tests/cases.tsv") > 0) { split(line, f, "\t"); if (line !~ /^#/ && f[1] != "" && (f[4] !~ /plain/ || build == "build") && (f[4] !~ /whole/ || build !~ /^fast/)) want[f[1]] = f[column] } }
  { p[$1] += $2; f[$1] += $3; s[$1] += $4; why[$1] = $5; if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 } }
  END {
    # a name that begins with a blank tells about the cases above it, and is not counted again
    for (i = 1; i <= n; i++) { k = order[i]; if (k !~ /^ /) P += p[k]; F += f[k]; S += s[k]
      printf "%-46s %6d passed%s%s%s\n", k, p[k], (took[k] > 0 ? sprintf(", %d s (%d)", took[k], used[k] + 0.5) : ""), f[k] ? sprintf(", %d FAILED", f[k]) : "", s[k] ? sprintf(", %d skipped (%s)", s[k], why[k]) : "" }
    for (k in want) if (p[k] + 0 < want[k] + 0) { printf "%s: %d cases passed, %s expected\n", k, p[k], want[k]; F++ }
    printf "%d seconds of a processor\n", all
    printf "%d passed, %d failed, %d skipped\n", P, F, S
    exit F > 0 }' "$tally"
