#!/bin/sh
# lab.sh NAME -- makes the lab course/NAME.ch: build/labs/NAME, what a student gets, and build/labs/NAME.key, with which it is graded.
# course/NAME/lab: `module loop'; `program naive.c', the file that the web's program becomes; `files naive.c generate.c', which the student writes;
# `given counted.c', files of course/NAME that are compiled with the student's; `uncounted lookups/table.o heap_push',
# functions of the library that a given file counts: there they are called uncounted_heap_push; and title, hours and also-read for the handout.
set -eu
name=$1 root=$PWD out=build/labs/$1 key=build/labs/$1.key tmp=build/labs/$1.tmp
[ -f "course/$name.ch" ] || { echo "lab.sh: there is no course/$name.ch" >&2; exit 1; }
field() { sed -n "s/^$1 //p" "course/$name/lab"; }
module=$(field module) program=$(field program) files=$(field files) given=$(field given) cc=${CC:-cc}
flags="-std=c11 -O2 -g -ffp-contract=off -Wall -Wextra -Werror=switch"
rm -rf "$tmp" "$out" "$key"; mkdir -p "$tmp" "$out" "$key"
web=$(texlua tools/labs.lua course "$name" "$tmp")
for kind in reference skeleton; do
  mkdir -p "$tmp/$kind/c" "$tmp/$kind/out"
  ( cd "$tmp/$kind/c" && CWEBINPUTS=".:$root/chapters" ctangle "../$(basename "$web")" - _program.c > ../ctangle.log 2>&1 ) ||
    { cat "$tmp/$kind/ctangle.log" >&2; exit 1; }
  texlua tools/expand.lua "$tmp/$kind/$(basename "$web")" "$tmp/$kind/out" "$tmp/$kind/c" _program.c
  sed -i "s|made from [^ ;]*; change it there|a lab of $web|" "$tmp/$kind"/out/*
  [ -z "$program" ] || mv "$tmp/$kind/out/_program.c" "$tmp/$kind/out/$program"
done
# headers: those of the library, over which those of the lab
mkdir -p "$key/include"
for t in tangled unwoven; do ( cd $t && tar -cf - $(ls */*.h; [ $t = tangled ] || ls model/*.inc) ) | tar -C "$key/include" -xf -; done
for h in "$tmp"/reference/out/*.h; do [ ! -f "$h" ] || cp "$h" "$key/include/$module/"; done
cp course/kit.h "$key/include/"
# the library without what the student writes; two modules may have a file of the same name
own=" "; for f in $files; do own="$own build/obj/$module/${f%.c}.o "; done
renamed=
for f in $(field uncounted); do
  case $f in
    *.o) renamed="$tmp/$(basename "$f")"; own="${own}build/obj/$f "; cp "build/obj/$f" "$renamed" ;;
    *) objcopy --redefine-sym "$f=uncounted_$f" "$renamed" ;;
  esac
done
ar rcsD "$key/lib.a" $renamed $(for o in build/obj/*/*.o; do
  case $o in build/obj/checkpoints/*|build/obj/laboratory/*) ;; *) case "$own" in *" $o "*) ;; *) echo "$o" ;; esac ;; esac; done)
$cc $flags -I"$key/include" -c course/kit.c -o "$tmp/kit.o"
$cc $flags -I"$key/include" -c "course/$name/tests.c" -o "$tmp/tests.o"
ld -r "$tmp/tests.o" "$tmp/kit.o" -o "$key/tests.o"
mkdir -p "$tmp/answer" "$key/own"
for f in $files; do
  cp "$tmp/skeleton/out/$f" "$out/$f"
  cp "$tmp/reference/out/$f" "$tmp/answer/$f"
done
for f in $given; do cp "course/$name/$f" "$key/own/"; cp "course/$name/$f" "$tmp/answer/"; cp "course/$name/$f" "$out/"; done
reference=
for f in $files $given; do
  case $f in *.c) ;; *) continue ;; esac
  $cc $flags -I"$key/include" -c "$tmp/answer/$f" -o "$tmp/$f.o"
  reference="$reference $tmp/$f.o"
done
strip -g "$key/lib.a"
# a lab machine may have no libraries but C's: what the lab needs of others goes into lib.a
libraries="-pthread -lm"
if ! $cc -static -o "$key/reference" $reference "$key/tests.o" "$key/lib.a" $libraries 2> "$tmp/link.log"; then
  { echo "create $tmp/all.a"; echo "addlib $key/lib.a"; for l in jansson pcre2-8 utf8proc; do echo "addlib $($cc -print-file-name=lib$l.a)"; done; echo save; } | ar -M
  mv "$tmp/all.a" "$key/lib.a"; strip -g "$key/lib.a"
  cp course/notices.txt "$out/NOTICES"
  $cc -static -o "$key/reference" $reference "$key/tests.o" "$key/lib.a" $libraries
fi
echo "$libraries" > "$key/libraries"
# what a hand-in may take from elsewhere and what it may give, and the same for the lab's own files, which may have some of its text in them:
# as the reference does.  A function that is counted, uncounted_NAME, is called by the lab's own files alone, and NAME by the hand-in
symbols() { nm -P -g "$@" | awk -v kinds="$kinds" '$2 ~ kinds { print $1 }' | sort -u; }
theirs= ours=
for f in $files $given; do
  case " $given " in *" $f "*) to=ours ;; *) to=theirs ;; esac
  case $f in *.c) eval "$to=\"\$$to $tmp/$f.o\"" ;; esac
done
common='memcpy memmove memset memcmp strlen strcmp strncmp snprintf malloc calloc realloc free __assert_fail __stack_chk_fail fmaf fabsf sqrtf expf _GLOBAL_OFFSET_TABLE_'
for who in "$theirs" "$ours"; do
  [ -n "$who" ] && list=$key/may || continue
  [ "$who" = "$theirs" ] || list=$key/own-may
  kinds='^[TDBRVW]$'; symbols $who > "$list-define"
  { kinds='^U$'; symbols $who; printf '%s\n' $common; cat "$list-define"; [ -z "$ours" ] || symbols $ours | sed -n 's/^uncounted_//p'; } |
    grep -v '^uncounted_' > "$list-use"
done
cp "course/$name/tests.tsv" "$key/tests.tsv"
echo "$files" > "$key/files"; echo "$given" > "$key/given"
[ -x build/labs/incipit-grade ] || MAKEFLAGS= make -s build/labs/incipit-grade
# what the student gets besides the files: headers, library, the tests and what the reference prints for the public ones, a way to run them
mkdir -p "$out/lib" "$out/tests/public"
cp LICENSE LICENSE-text "$out/"; cp -r "$key/include" "$out/"; cp "$key/lib.a" "$out/lib/lab.a"
cp course/kit.c course/try.c course/cage.[ch] course/transcript.[ch] "course/$name/tests.c" "course/$name/tests.tsv" "$out/tests/"
yours=; for f in $files $given; do case $f in *.c) yours="$yours $f" ;; esac; done
sed -e "s|@YOURS@|${yours# }|; s|@FILES@|$files|; s|@LIBRARIES@|$libraries|" course/student.mk > "$out/Makefile"
awk -F '\t' '!/^#/ && $3 == "public" { print $1 }' "course/$name/tests.tsv" | while read -r t; do
  "$key/reference" "$t" "$(build/labs/incipit-grade --seed-of "$t" public)" > "$out/tests/public/$t.txt"
done
texlua tools/labreadme.lua "$name" > "$out/README.md"
