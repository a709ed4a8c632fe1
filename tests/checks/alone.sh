#!/bin/sh
# alone.sh MODULE|NN [show] -- a chapter's checkpoint compiled in an empty folder from nothing but the modules that book.list says it needs,
# by the cc command printed in the book; its output is the chapter's Checkpoint box.  ONCE=FOLDER: by tests/checks/once.sh in place of cc.
set -eu
case $1 in [0-9]*) name=$(awk -v n="$1" '$1 == "chapters" && $2 == n + 0 { print $4 }' book.list | tr / -) ;; *) name=$1 ;; esac
[ -n "$name" ] || { echo "book.list has no chapter $1" >&2; exit 1; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alone.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/tangled/checkpoints"
for m in $(tools/needs.sh "$name"); do for root in tangled unwoven; do
  [ ! -d "$root/$m" ] || { mkdir -p "$tmp/$root"; cp -r "$root/$m" "$tmp/$root/"; }
done; done
cp "tangled/checkpoints/$name.c" "$tmp/tangled/checkpoints/"
# a chapter's program that calls the command is compiled with program/, which has a main of its own
if grep -q '^#include "command.h"' "tangled/checkpoints/$name.c"; then mkdir "$tmp/program"; cp program/*.[ch] "$tmp/program/"; rm "$tmp/program/main.c"; fi
if [ "$name" = server ]; then mkdir -p "$tmp/build/program"; sh tools/page.sh program/page.html > "$tmp/build/program/page.c"; fi
[ ! -d models ] || cp -r models "$tmp/"
# letter for letter what stands in the book, but for another compiler
command=$(tools/ccline.sh "$name" | sed 's/ \\$//' | tr '\n' ' ') compiler=${CC:-cc}
[ -z "${ONCE:-}" ] || compiler="sh $PWD/tests/checks/once.sh"
cd "$tmp"
eval "$compiler ${command#cc }"
{ echo "\$ build/bin/$name"; ./checkpoint; } > out.txt
[ -z "${2:-}" ] || cat out.txt
if [ -f "$OLDPWD/build/out/$name.txt" ]; then cmp out.txt "$OLDPWD/build/out/$name.txt"; fi
