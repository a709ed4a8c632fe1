#!/bin/sh
# recipes.sh -- follows a recipe of docs/changing.md in a copy, $BUILD/recipes: a stage of the sampler, top_a, as tests/checks/recipes/top_a/change.patch
# adds it.  The stage works end to end, in at most six files, each of which the recipe names; and whatever is left out stops the build or fails a check.
# What was built is used again: only what includes a changed header is compiled, and without ctangle nothing is.
set -u
build=${BUILD:-build} cc=${CC:-cc} to=${BUILD:-build}/recipes change=tests/checks/recipes/top_a/change.patch bad=0
for t in ctangle texlua patch; do command -v $t > /dev/null || { echo "no $t here"; exit 77; }; done
libs=${LIBS:-"-ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm"}
flags="-std=c11 -O0 -ffp-contract=off -Wall -Wextra -Werror -Werror=switch -Wno-missing-field-initializers -Itangled -Iunwoven -Iprogram"
fault() { echo "$1"; bad=$((bad + 1)); }
stop() { echo "$1"; exit 1; }
rm -rf "$to"; mkdir -p "$to"
cp -r chapters workshop tangled unwoven figures program tests tools docs book.list "$to" && ln -s "$PWD/models" "$to/models"

# ---- the change, in few files, all of them named by the recipe
( cd "$to" && patch -s -p1 < $change ) || stop "the change no longer fits; make it again: diff -ru -U3"
files=$(sed -n 's|^+++ b/||p' $change)
[ "$(echo "$files" | wc -l)" -le 6 ] || fault "the change has more than six files"
recipe() { awk -v head="## $1" '$0 == head { on = 1; next } /^## / { on = 0 } on' docs/changing.md; }
for f in $files; do recipe "A sampler stage" | grep -q "\`$f\`" || fault "docs/changing.md does not name $f for a stage of the sampler"; done
for w in chapters/07-sampling.w workshop/15-library.w; do
  ( cd "$to" && tools/tangle.sh $w > /dev/null ) || stop "$w cannot be tangled"
done

# ---- compiled: what includes one of the headers that have changed, linked before the archives, which keep their own
includes=$(grep -lE 'sampling/(sampling|funnel)\.h|library/incipit\.h' "$build"/program/*.d "$build"/obj/*/*.d \
  | xargs sed -sn '1{$!N;s/\\\n//;s/^[^:]*: *\([^ ]*\).*/\1/p}' | grep -vE '^tangled/checkpoints/|/laboratory/|/model/toy')
mkdir "$to/o"
( cd "$to" && echo "$includes" | xargs -P 2 -I{} sh -c "exec $cc $flags -fPIC -c {} -o o/\$(echo {} | tr / _).o" ) || stop "the copy cannot be compiled"
cp "$build/libmodules.a" "$build/libprogram.a" "$build/tests/oracle.o" "$to"
linked() { ( cd "$to" && $cc $flags "$@" o/*.o libprogram.a libmodules.a $libs ); } # OPTION... SOURCE...
linked -o incipit program/main.c || stop "the copy cannot be linked"
suite() { linked -w $(pkg-config --cflags check) -o check_sampling "$1" oracle.o $(pkg-config --libs check); }
incipit() { ( cd "$to" && ./incipit "$@" ); }

# ---- it works: help, manual, completion, refusals, the protocol
for h in "generate --help" "help --man" "help --completion" "help zsh --completion" "help fish --completion" "chat --help" "trace --help"; do
  incipit $h 2> /dev/null | sed 's/\\//g' | grep -q 'top-a' || fault "incipit $h does not have --top-a"
done
incipit generate --help | tr -s ' \n' '  ' | grep -q 'typical_p, top_a)' || fault "the default of --samplers does not have top_a"
says() { # WORDS ARGUMENT...
  words=$1; shift; incipit "$@" 2>&1 | grep -qF -- "$words" || fault "incipit $*: does not say: $words"; }
says "--top-a is \`2'; wanted: 0 to 1" generate The --top-a 2
says "--top-a is \`x'; wanted: 0 to 1" chat --top-a x
says "typical_p, top_a" generate The --samplers frob
says "--top-a contradicts --num-beams" generate The --top-a 0.2 --num-beams 2
says "--top-a changes nothing at temperature 0" generate The -n 1 --top-a 0.2
asked() { printf '%s\n' "$2" | incipit probe "$1"; }
asked sample '{"logits":[1,2],"params":{"top_a":2}}' | grep -qF 'top_a is 2; wanted: 0 to 1' || fault "probe sample takes a top_a of 2"
asked process '{"op":"top_a","params":{"top_p":1},"logits":[1,2]}' | grep -q error || fault "the operation top_a takes another key"
plain=$(incipit generate "The cat sat" -n 12 --temp 1 --seed 3) || fault "generate"
for o in "--top-a 0.2" "--samplers top_a" "--samplers top_a,temperature --top-a 1"; do incipit generate "The cat sat" -n 12 --temp 1 $o > /dev/null || fault "generate $o"; done
[ "$plain" = "$(incipit generate "The cat sat" -n 12 --temp 1 --seed 3 --top-a 0)" ] || fault "--top-a 0 is not off"
[ "$plain" = "$("$build/incipit" generate "The cat sat" -n 12 --temp 1 --seed 3)" ] || fault "a stage that is off changes a text"
greedy=$(incipit generate "The cat sat" -n 12)
[ "$plain" != "$greedy" ] && [ "$(incipit generate "The cat sat" -n 12 --temp 1 --seed 3 --top-a 1 --samplers temperature,top_k,top_a --top-k 1)" = "$greedy" ] || fault "top_a beside top_k"

# ---- what is kept: p >= a pmax^2, by other arithmetic
logits="2 0.5 1.5 -1 0 3 2.5 -4 1 0.25"
for a in 0.01 0.1 0.2 0.35 0.5 0.9 1; do
  want=$(echo "$logits" | awk -v a=$a '{ for (i = 1; i <= NF; i++) { sum += exp($i); if (exp($i) > best) best = exp($i) }
    for (i = 1; i <= NF; i++) printf "%d", (exp($i) / sum >= a * (best / sum) ^ 2) }')
  list=$(echo "$logits" | tr ' ' ,)
  got=$(asked process "{\"op\":\"top_a\",\"params\":{\"top_a\":$a},\"logits\":[$list]}" | sed 's/.*\[//; s/\].*//' | tr , '\n' | awk '{ printf "%d", ($0 !~ /inf/) }')
  [ "$got" = "$want" ] || fault "top_a of $a keeps $got; wanted: $want"
  n=$(asked sample "{\"logits\":[$list],\"params\":{\"top_a\":$a}}" | sed 's/.*"kept":\[//; s/\].*//' | tr , '\n' | wc -l)
  [ "$n" = "$(echo "$want" | tr -d '0\n' | wc -c)" ] || fault "the sampler keeps $n tokens with a top_a of $a; wanted: $want"
done

# ---- its own test, and that everything that is left out is noticed
check() { ( cd "$to" && CK_RUN_CASE=rows CK_VERBOSITY=normal ./check_sampling ) 2>&1; }
suite tests/suites/check_sampling.c || stop "check_sampling cannot be compiled"
check > "$to/says" || { cat "$to/says"; fault "check_sampling fails"; }
stops() { # WORDS FLAGS FILE: the compiler stops, and says so
  ( cd "$to" && $cc $flags -Wno-error -Werror=switch $2 -fsyntax-only "$3" ) > "$to/says" 2>&1 && { fault "$3 is compiled: $1"; return; }
  grep -q "$1" "$to/says" || { head -5 "$to/says"; fault "$3: the compiler does not say: $1"; }
}
left_out() { sed "/$2/d" "$to/$1" > "$to/less.c" && cmp -s "$to/$1" "$to/less.c" && fault "$1 has no $2"; }
for c in tangled/sampling/sampling.c unwoven/library/samplers.c tests/suites/check_sampling.c; do
  stops SAMPLE_TOP_A "-I$PWD/tests -Itests" "$PWD/$c"                   # the constant alone
done
stops "a stage without a row" "" "$PWD/tangled/sampling/sampling.c"
left_out tangled/sampling/sampling.c "case SAMPLE_TOP_A"; stops SAMPLE_TOP_A "" less.c
left_out unwoven/library/samplers.c "case SAMPLE_TOP_A"; stops SAMPLE_TOP_A "-Itangled/library" less.c
fails() { # FILE WORDS: with FILE as it was before the change the check fails, and says so
  cp "$to/$1" "$to/kept"; cp "$1" "$to/$1"
  check > "$to/says" && fault "check_sampling does not miss the change of $1"
  grep -q -- "$2" "$to/says" || { tail -5 "$to/says"; fault "check_sampling does not say: $2"; }
  [ "$1" != tangled/library/incipit.h ] || stops top_a "" unwoven/library/samplers.c
  cp "$to/kept" "$to/$1"
}
fails chapters/07-sampling.w "the table of the book lacks"
fails figures/sampler.tex "does not draw top_a"
fails tangled/library/incipit.h "incipit.h has no top_a"
sed '/SOMETIMES) s->top_a/d' "$to/tests/suites/check_sampling.c" > "$to/tests/suites/less.c"
suite tests/suites/less.c && check | grep -q "make_wish draws no top_a" || fault "check_sampling does not see that it draws no top_a"
grep -q 'tests/suites/options.tsv lacks' tests/suites/check_options.c || fault "check_options does not ask for every option"
echo "a stage in $(echo "$files" | wc -l) files, $bad faults"; [ $bad = 0 ]
