#!/bin/sh
# tangle.sh CHAPTER.w DIR [CHANGEFILE] -- bring DIR up to date with one chapter, as readable C.
# ctangle writes @(file@> into the current directory, so it runs in a scratch directory; cweave gives
# the names of the sections, plain.lua puts them into the C as comments, indent lays it out. A file whose text did not
# change is left alone, so make rebuilds nothing for it. DIR/MANIFEST names the programs that wrote it
# and the sums of what was read and written:
#   chapter edited                  tangle again          (no ctangle here: warn, build from DIR)
#   chapter and DIR as committed,
#   yet the sums differ             stop: the commit is stale
set -eu
root=$PWD; w=$1; dir=$2; ch=${3:+$root/$3}; name=$(basename "$w" .w); man=$dir/MANIFEST
here=$(ctangle --version 2>/dev/null | head -n 1) || here=
command -v indent >/dev/null && command -v texlua >/dev/null || here=
[ -z "$here" ] || here="$here; $(indent --version || true)"
there=$(sed -n 's/^# //p' "$man" 2>/dev/null) || there=
if [ -z "$ch${LINES_KEPT:-}" ] && [ -f "$man" ] && grep -v '^#' "$man" | sha256sum --quiet -c - >/dev/null 2>&1; then exit 0; fi
if [ -z "$here" ]; then echo "warning: $dir is not what $w says now, and there is no ctangle: building from $dir as it is" >&2; exit 0; fi
if [ -z "$ch${LINES_KEPT:-}" ] && [ -f "$man" ] && [ "$here" = "$there" ] && [ -z "${FORCE:-}" ] && git ls-files --error-unmatch "$w" "$man" >/dev/null 2>&1 && git diff --quiet HEAD -- "$w" chapters/types.w "$dir"; then
  echo "stale: $dir was not committed with $w; make tangle FORCE=1, look, commit" >&2; exit 1
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/tangle.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/out"
( cd "$tmp/out" && CWEBINPUTS=".:$root/chapters" ctangle "$root/$w" "${ch:--}" "$name.c" )
( cd "$tmp" && CWEBINPUTS=".:$root/chapters" cweave "$root/$w" "${ch:--}" names.tex >/dev/null )
mkdir -p "$dir"
for f in "$tmp"/out/*.[ch]; do
  if [ -n "${LINES_KEPT:-}" ]; then sed "s|^#line \([0-9]*\) \"$root/|#line \1 \"|" "$f" > "$f.new"
  else texlua tools/plain.lua "$name" "$tmp/names.scn" "$f" "$w" | indent -linux -i2 -nut -l84 -lc84 -hnl -nbbo -sob -nfca -o "$f.new" - ; fi
  b=$(basename "$f"); cmp -s "$f.new" "$dir/$b" || cp "$f.new" "$dir/$b"
done
for f in "$dir"/*.[ch]; do [ -f "$tmp/out/$(basename "$f")" ] || rm -f "$f"; done
[ -n "$ch${LINES_KEPT:-}" ] || { echo "# $here"; sha256sum "$w" chapters/types.w "$dir"/*.[ch]; } > "$man"
