#!/bin/sh
# reproduce.sh -- two clones of what is committed, in folders of different names and lengths, without HOME: the book, the libraries
# and the archives must be the same bytes, and none of them may know where it was made.  NO_BOOK=tangle leaves the book out.
set -eu
tmp=$(mktemp -d "${TMPDIR:-/tmp}/reproduce.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
for d in one another/longer-name; do
  mkdir -p "$tmp/$(dirname "$d")"; git clone -q . "$tmp/$d"
  ( cd "$tmp/$d"; [ ! -d "$OLDPWD/models" ] || [ -d models ] || cp -r "$OLDPWD/models" .
    env -u HOME SHARED=/nonexistent make -s -j2 build/libmodules.a library ${NO_BOOK:-book} > "$tmp/log" 2>&1 || { tail -20 "$tmp/log"; exit 1; }
    env -u HOME make -s dist > /dev/null
    sha256sum $(ls build/incipit.pdf build/workshop.pdf 2>/dev/null) build/libmodules.a build/library/libincipit.* build/incipit-*.tar.gz > "$tmp/$(basename "$d").sums" )
done
cat "$tmp/one.sums"
bad=0
cmp "$tmp/one.sums" "$tmp/longer-name.sums" || { diff "$tmp/one.sums" "$tmp/longer-name.sums" || true; bad=1; }
for f in "$tmp"/one/build/incipit.pdf "$tmp"/one/build/workshop.pdf "$tmp"/one/build/libmodules.a "$tmp"/one/build/library/libincipit.*; do [ -f "$f" ] || continue
  if grep -aq "$tmp" "$f"; then echo "$(basename "$f") knows where it was made"; grep -ao "$tmp[^ )]*" "$f" | sort | uniq -c | head; bad=1; fi
done
if cat "$tmp"/one/build/incipit-*.tar.gz | zcat | grep -aq "$tmp"; then echo "the archive knows where it was made"; bad=1; fi
[ "$bad" = 0 ] && echo "the same bytes twice"
