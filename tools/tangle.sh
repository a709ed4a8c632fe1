#!/bin/sh
# tangle.sh WEB.w DIR -- bring DIR up to date with one web, as its author's C.
# ctangle writes @(file@> into the current directory, so it runs in a scratch directory; expand.lua writes the same tokens in the
# author's lines and with the comments. A file whose text did not change is left alone, so make rebuilds nothing for it.
# DIR/MANIFEST names the ctangle that was the referee and has the sums of what was read (web, tools) and written:
#   web edited                      tangle again          (no ctangle here: warn, build from DIR)
#   web, tools and DIR as
#   committed, yet the sums differ  stop: the commit is stale
set -eu
root=$PWD; w=$1; dir=$2; name=$(basename "$w" .w); man=$dir/MANIFEST
tools="tools/tangle.sh tools/expand.lua tools/ctokens.lua"
here=$(ctangle --version 2>/dev/null | head -n 1) || here=
command -v texlua >/dev/null || here=
there=$(sed -n 's/^# //p' "$man" 2>/dev/null) || there=
plain=yes; [ -z "${LINES_KEPT:-}" ] || plain=
covered() { for t in $tools; do grep -q "  $t\$" "$man" || return 1; done; grep -v '^#' "$man" | sha256sum --quiet -c - >/dev/null 2>&1; }
if [ -n "$plain" ] && [ -f "$man" ] && covered; then exit 0; fi
if [ -z "$here" ]; then echo "warning: $dir is not what $w says now, and there is no ctangle: building from $dir as it is" >&2; exit 0; fi
if [ -n "$plain" ] && [ -f "$man" ] && [ "$here" = "$there" ] && [ -z "${FORCE:-}" ] && git ls-files --error-unmatch "$w" "$man" >/dev/null 2>&1 && git diff --quiet HEAD -- "$w" chapters/types.w $tools "$dir"; then
  echo "stale: $dir was not committed with $w; make tangle FORCE=1, look, commit" >&2; exit 1
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/tangle.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/c" "$tmp/out"
( cd "$tmp/c" && CWEBINPUTS=".:$root/chapters" ctangle "$root/$w" - "$name.c" >/dev/null )
mkdir -p "$dir"
if [ -n "${LINES_KEPT:-}" ]; then
  for f in "$tmp"/c/*.[ch]; do sed "s|^#line \([0-9]*\) \"$root/|#line \1 \"|" "$f" > "$tmp/out/$(basename "$f")"; done
else texlua tools/expand.lua "$w" "$tmp/out" "$tmp/c"; fi
for f in "$tmp"/out/*.[ch]; do cmp -s "$f" "$dir/$(basename "$f")" || cp "$f" "$dir/"; done
for f in "$dir"/*.[ch]; do [ -f "$tmp/out/$(basename "$f")" ] || rm -f "$f"; done
[ -z "$plain" ] || { echo "# $here"; sha256sum "$w" chapters/types.w $tools "$dir"/*.[ch]; } > "$man"
