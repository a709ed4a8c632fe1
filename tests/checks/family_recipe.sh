#!/bin/sh
# family_recipe.sh -- does what docs/changing.md tells: in a copy of the C it adds a family that differs from Llama by one switch, and
# looks whether everything that should know the switch knows it.  Then it leaves out one step after the other, and each time something
# must tell.  The steps are in tests/checks/recipes/family/change.txt.  Only what includes the table of settings is compiled again, but not
# the kernels, which do not see a model; what prepares weights for them does.
set -eu
build=${BUILD:-build}; data=tests/checks/recipes/family; golden=tests/golden/llama; cc=${CC:-cc}
libs="$(pkg-config --libs jansson libpcre2-8 libutf8proc libedit) -pthread -lm"
here=$PWD; case $build in /*) ;; *) build=$here/$build ;; esac
home=$build/recipes/family; rm -rf "$home"; mkdir -p "$home/obj"; cp -r tangled unwoven program "$home/"
bad() { echo "family recipe: $*"; exit 1; }
says() { grep -qF -- "$2" "$1" || { cat "$1"; bad "$3 should say: $2"; }; } # FILE WORDS WHAT
flags="-std=c11 -O0 -ffp-contract=off -w -Itangled -Iunwoven -Iprogram"
object() { (cd "$home" && $cc $flags -c "$1" -o "obj/$(echo "$1" | tr / _).o"); } # SOURCE
linked() { # there are two programs: the command, and one that prints the bits of logits
  (cd "$home" && $cc obj/*.o main.o "$build/libprogram.a" "$build/libmodules.a" -o incipit $libs &&
    $cc obj/*.o logits.o "$build/libprogram.a" "$build/libmodules.a" -o logits $libs); }
without() { # STEP: the copy as it is with all steps but this one
  awk -v out="$1" '/^# / { name = $2 } name != out' $data/change.txt > "$home/change.txt"
  for f in $files; do cp "$f" "$home/$f"; done
  texlua $data/apply.lua "$home" "$home/change.txt" > "$home/changed"
}
# a step that is left out stops the compiler
stops() { # STEP WORDS
  without "$1"
  if (cd "$home" && $cc $flags -fsyntax-only tangled/families/families.c && $cc $flags -fsyntax-only unwoven/families/config.c) 2> "$home/err"; then bad "without the step '$1' everything compiles"; fi
  says "$home/err" "$2" "the compiler"
}
files=$(sed -n 's/^== //p' $data/change.txt | sort -u)
webs=$(for f in $files; do case $f in unwoven/*) echo "$f" ;; *) sed -n '1,3s/.*made from \([^;]*\);.*/\1/p' "$f" ;; esac; done | sort -u)
n=$(echo "$webs" | wc -l); [ "$n" -le 6 ] || bad "$n files are edited by hand; wanted: 6 at most"

# every setting is asked for by what makes a model, a pass or a cache
awk '/^SETTING\(/ { gsub(/[(,]/, " "); print $3 }' unwoven/model/settings.inc > "$home/settings"
unused() { cat "$1"/tangled/model/*.c "$1"/unwoven/model/*.c "$1"/tangled/cache/*.c "$1"/unwoven/cache/*.c "$1"/unwoven/families/loader.c "$1"/unwoven/families/config.c > "$home/readers"
  while read -r s; do grep -qE "(c|config)(->|\.)$s\>" "$home/readers" || echo "$s"; done < "$home/settings"; }
[ -z "$(unused .)" ] || bad "settings that nothing computes with: $(unused .)"

# all steps
without nothing
list=$(cd "$build" && grep -l 'model/settings\.inc' obj/*/*.d program/*.d 2>/dev/null | xargs sed -sn '1{$!N;s/\\\n//;s/^[^:]*: *\([^ ]*\).*/\1/p}' |
  grep -v -e '^[a-z]*/kernels/' -e '^tangled/checkpoints/' -e /laboratory/ || true)
[ -n "$list" ] || { echo "nothing is built here: make check"; exit 77; }
for f in $list $files unwoven/kernels/prepared.c; do case $f in *.c) echo "$f" ;; esac; done | sort -u > "$home/list"
(cd "$home" && xargs -P 2 -I @ sh -c "$cc $flags -c @ -o obj/\$(echo @ | tr / _).o" < list) || bad "it does not compile"
(cd "$home" && $cc $flags -c program/main.c -o main.o && $cc $flags -c "$here/$data/logits.c" -o logits.o)
linked
model() { # FOLDER FACTOR
  cp -r $golden "$home/$1"
  sed -e 's/"model_type": "llama"/"model_type": "nudged"/; s/LlamaForCausalLM/NudgedForCausalLM/' \
    -e "s/\"vocab_size\"/\"embedding_nudge\": $2,\n \"vocab_size\"/" $golden/config.json > "$home/$1/config.json"
}
model plain 1.0; model nudged 0.75
"$home/logits" $golden > "$home/llama"; "$home/logits" $golden 0.75 > "$home/outside"
for m in plain nudged; do "$home/logits" "$home/$m" > "$home/$m.out" || { cat "$home/$m.out"; bad "the model cannot be read"; }; done
cmp -s "$home/plain.out" "$home/llama" || bad "times 1 is not a Llama"
cmp -s "$home/nudged.out" "$home/outside" || bad "times 0.75 is not a Llama whose embedding is multiplied by 0.75"
! cmp -s "$home/nudged.out" "$home/llama" || bad "times 0.75 changes nothing"
tail -1 "$home/nudged.out" | awk '$2 != $3 { exit 1 }' || bad "its weights are counted wrongly"
"$home/incipit" inspect "$home/nudged" > "$home/inspect"
says "$home/inspect" "architecture: nudged" inspect; says "$home/inspect" "  embedding_nudge      0.75" inspect
"$home/incipit" quantize -q -m "$home/nudged" --type f32 --out "$home/nudged.gguf" > /dev/null
"$home/logits" "$home/nudged.gguf" > "$home/gguf.out" || { cat "$home/gguf.out"; bad "the file cannot be read"; }
cmp -s "$home/gguf.out" "$home/nudged.out" || bad "the GGUF file has other logits"
if INCIPIT_CUDA=host "$home/incipit" bench -q -m "$home/nudged" -p 2 -n 1 -r 1 --device cuda > "$home/device" 2>&1; then bad "a device computes it"; fi
says "$home/device" "do not know, embedding_nudge" "a device"
INCIPIT_CUDA=host "$home/incipit" bench -q -m $golden -p 2 -n 1 -r 1 --device cuda > "$home/device" 2>&1 || { cat "$home/device"; bad "a device refuses a Llama"; }

# a step too few
stops setting SETTING_embedding_nudge
stops number FAMILY_NUDGED
stops bit NUDGED
stops row "a family without a row"
without field; object unwoven/families/config.c; linked
! "$home/logits" "$home/nudged" > "$home/field" || bad "the field of config.json is read over"
says "$home/field" "embedding_nudge" "the loader"; says "$home/field" "a field that this program knows" "the loader"
without key; object unwoven/families/config.c; object unwoven/families/gguf_settings.c; linked
! "$home/incipit" quantize -q -m "$home/nudged" --type f32 --out "$home/lost.gguf" > "$home/key" 2>&1 || bad "the file forgets it"
says "$home/key" "its embedding_nudge cannot be said in a GGUF file" quantize
without pass; echo embedding_nudge > "$home/settings"
[ -n "$(unused "$home")" ] || bad "a setting that no pass asks for is not noticed"
echo "7 steps in $n files: $(echo $webs)"
