#!/bin/sh
# tangle.sh WEB MODULE -- brings tangled/MODULE, and the web's program tangled/checkpoints/MODULE.c, up to date with WEB, as its author's C;
# for a MODULE laboratory/NAME all goes to tangled/laboratory, the program as NAME.c; for NAME/MORE, to tangled/NAME, with what NAME's own web makes.
# ctangle writes @(file@> into the current directory, so it runs in a scratch directory; expand.lua writes the same tokens in the
# author's lines and with the comments. A file whose text did not change is left alone, so make rebuilds nothing for it.
# MANIFEST names the ctangle that was the referee and has the sums of what was read (web, tools) and written:
#   web edited                      tangle again          (no ctangle here: warn, build from what is there)
#   web, tools and C as
#   committed, yet the sums differ  stop: the commit is stale
set -eu
root=$PWD; w=$1; module=$2; to=${TANGLED:-tangled}
tools="tools/tangle.sh tools/expand.lua tools/ctokens.lua"
case $module in
laboratory/*) dir=$to/laboratory; program=$to/$module.c; man=$to/$module.MANIFEST ;;
*/*) dir=$to/${module%/*}; program=$to/checkpoints/${module%/*}-${module##*/}.c; man=$to/$module.MANIFEST ;;
*) dir=$to/$module; program=$to/checkpoints/$module.c; man=$dir/MANIFEST ;;
esac
here=$(ctangle --version 2>/dev/null | head -n 1) || here=
command -v texlua >/dev/null || here=
there=$(sed -n 's/^# //p' "$man" 2>/dev/null) || there=
plain=yes; [ -z "${LINES_KEPT:-}" ] || plain=
written() { sed -n "s|^[0-9a-f]*  \($to/.*\)|\1|p" "$man" 2>/dev/null || true; }
covered() { for t in $tools; do grep -q "  $t\$" "$man" || return 1; done; grep -v '^#' "$man" | sha256sum --quiet -c - >/dev/null 2>&1; }
if [ -n "$plain" ] && [ -f "$man" ] && covered; then exit 0; fi
if [ -z "$here" ]; then echo "warning: $dir is not what $w says now, and there is no ctangle: building from it as it is" >&2; exit 0; fi
if [ -n "$plain" ] && [ -f "$man" ] && [ "$here" = "$there" ] && [ -z "${FORCE:-}" ] && git ls-files --error-unmatch "$w" "$man" >/dev/null 2>&1 && git diff --quiet HEAD -- "$w" chapters/types.w $tools "$man" $(written); then
  echo "stale: $dir was not committed with $w; make tangle FORCE=1, look, commit" >&2; exit 1
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/tangle.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/c" "$tmp/out"
( cd "$tmp/c" && CWEBINPUTS=".:$root/chapters" ctangle "$root/$w" - _program.c >/dev/null )
if [ -z "$plain" ]; then
  for f in "$tmp"/c/*; do sed "s|^#line \([0-9]*\) \"$root/|#line \1 \"|" "$f" > "$tmp/out/$(basename "$f")"; done
else texlua tools/expand.lua "$w" "$tmp/out" "$tmp/c" _program.c; fi
mkdir -p "$dir" "$(dirname "$program")"
new=
for f in "$tmp"/out/*; do
  [ -f "$f" ] || continue
  b=$(basename "$f"); o=$dir/$b; [ "$b" != _program.c ] || o=$program
  cmp -s "$f" "$o" || cp "$f" "$o"; new="$new $o"
done
for f in $(written); do case " $new " in *" $f "*) ;; *) rm -f "$f" ;; esac; done
[ -z "$plain" ] || { echo "# $here"; sha256sum "$w" chapters/types.w $tools $new; } > "$man"
