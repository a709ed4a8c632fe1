#!/bin/sh
# tangle.sh WEB -- brings tangled/MODULE, the MODULE of book.list, and the web's program tangled/checkpoints/MODULE.c, up to date with WEB, as its author's C;
# for NAME/MORE all goes to tangled/NAME, with what NAME's own web makes; for laboratory/NAME, to $LAB/laboratory, which is not committed.
# ctangle writes @(file@> into the current directory, so it runs in a scratch directory; expand.lua writes the same tokens in the
# author's lines and with the comments. A file whose text did not change is left alone, so make rebuilds nothing for it; a file that
# says in its first line that WEB made it, and that WEB makes no more, goes.
# LINES_KEPT=1: as ctangle wrote it, with the lines of the web for a debugger.
set -eu
root=$PWD; w=$1; to=${TANGLED:-tangled} lab=${LAB:-build/tangled}
module=$(awk -v w="$w" '!/^#/ && w == $1 "/" $3 ".w" { print $4 }' book.list)
[ -n "$module" ] || { echo "book.list has no web $w" >&2; exit 1; }
case $module in
laboratory/*) dir=$lab/laboratory; program=$lab/$module.c ;;
*/*) dir=$to/${module%/*}; program=$to/checkpoints/${module%/*}-${module##*/}.c ;;
*) dir=$to/$module; program=$to/checkpoints/$module.c ;;
esac
if ! command -v ctangle >/dev/null 2>&1 || ! command -v texlua >/dev/null 2>&1; then
  git diff --quiet HEAD -- "$w" 2>/dev/null || echo "warning: $w may have changed, and there is no ctangle: building from $dir as it is" >&2
  exit 0
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/tangle.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/c" "$tmp/out"
( cd "$tmp/c" && CWEBINPUTS=".:$root/chapters" ctangle "$root/$w" - _program.c >/dev/null )
if [ -n "${LINES_KEPT:-}" ]; then
  for f in "$tmp"/c/*; do sed "s|^#line \([0-9]*\) \"$root/|#line \1 \"|" "$f" > "$tmp/out/$(basename "$f")"; done
else texlua tools/expand.lua "$w" "$tmp/out" "$tmp/c" _program.c; fi
mkdir -p "$dir" "$(dirname "$program")"
new=
for f in "$tmp"/out/*; do
  [ -f "$f" ] || continue
  b=$(basename "$f"); o=$dir/$b; [ "$b" != _program.c ] || o=$program
  cmp -s "$f" "$o" || cp "$f" "$o"; new="$new $o"
done
for f in $(grep -lFs "made from $w;" "$dir"/* "$program"); do case " $new " in *" $f "*) ;; *) rm -f "$f" ;; esac; done
