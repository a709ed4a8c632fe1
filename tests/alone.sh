#!/bin/sh
# alone.sh NN[-name] [show] -- a chapter's checkpoint compiled from its own and earlier chapters' C only, in an empty
# folder with nothing later present, by the cc command printed in the chapter; its output is the chapter's Checkpoint box.
set -eu
n=${1%%-*}; dir=$(ls -d tangled/"$n"-* | head -1); name=${dir#tangled/}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/alone.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/tangled"
for d in tangled/00-* tangled/A6-* tangled/A3-* tangled/A14-* tangled/A5-* tangled/01-* tangled/A4-* tangled/A15-* tangled/A17-* tangled/A20-* tangled/0[23]-* tangled/A19-* tangled/0[4-9]-* tangled/A9-* tangled/A13-* tangled/A12-* tangled/A1-* tangled/A10-* tangled/A7-* tangled/A2-* tangled/A18-* tangled/A21-* tangled/A8-* tangled/A11-* tangled/A16-*; do
  [ ! -d "$d" ] || cp -r "$d" "$tmp/tangled/"; [ "$d" != "$dir" ] || break
done
[ ! -d models ] || cp -r models "$tmp/"
cd "$tmp"
${CC:-cc} -std=c11 -O2 -ffp-contract=off -Itangled tangled/*/[a-z]*.c "tangled/$name/$name.c" -o "$name" \
  -ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm
{ echo "\$ build/bin/$name"; "./$name"; } > out.txt
[ -z "${2:-}" ] || cat out.txt
if [ -f "$OLDPWD/build/out/$name.txt" ]; then cmp out.txt "$OLDPWD/build/out/$name.txt"; fi
