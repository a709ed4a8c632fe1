#!/bin/sh
# install.sh [remove] -- what make install does: copies the command, the library and the models to PREFIX (below DESTDIR, if there is one),
# and lets the command write its own manual page and completion. share/incipit/installed has a line for each file (f), link (f) and folder (d)
# that was made; with remove these go again, folders only if they are empty, and nothing else is touched.
set -eu
prefix=${PREFIX:-/usr/local}; to=${DESTDIR:-}$prefix; list=share/incipit/installed
if [ "${1:-}" = remove ]; then
  [ -f "$to/$list" ] || { echo "install.sh: $to/$list is not there; wanted: what make install has written" >&2; exit 1; }
  tac "$to/$list" > "$to/$list.back"
  while read -r kind path; do
    case $kind in f) rm -f "$to/$path" ;; d) echo "$path" ;; esac
  done < "$to/$list.back" > "$to/$list.folders"
  folders=$(cat "$to/$list.folders"); rm -f "$to/$list" "$to/$list.back" "$to/$list.folders"
  for d in $folders; do rmdir "$to/$d" 2>/dev/null || true; done
  echo "removed from $to"; exit 0
fi
build=${BUILD:-build}; library=${LIBRARY:-$build/library}; version=$VERSION
new=$(mktemp); trap 'rm -f "$new"*' EXIT
folder() { # FOLDER: with those above it, below $to; $to itself is not ours
  [ ! -d "$to/$1" ] || return 0
  case $1 in */*) folder "${1%/*}" ;; esac
  mkdir -p "$to/$1"; echo "d $1" >> "$new"
}
put() { folder "${3%/*}"; install -m "$1" "$2" "$to/$3"; echo "f $3" >> "$new"; }
made() { cat > "$new.made"; put 644 "$new.made" "$1"; rm -f "$new.made"; }
bare() { cp "$3" "$new.bare"; strip "$2" "$new.bare" 2>/dev/null || true; put "$1" "$new.bare" "$4"; rm -f "$new.bare"; } # without what debuggers read
link() { ln -sf "$1" "$to/$2"; echo "f $2" >> "$new"; }
bare 755 --strip-all "$build/incipit" bin/incipit
bare 644 --strip-debug "$library/libincipit.a" lib/libincipit.a
bare 755 --strip-unneeded "$library/libincipit.so" "lib/libincipit.so.$version"
link "libincipit.so.$version" "lib/libincipit.so.${version%%.*}"
link "libincipit.so.${version%%.*}" lib/libincipit.so
put 644 tangled/library/incipit.h include/incipit.h
made lib/pkgconfig/incipit.pc <<PC
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include
models=\${prefix}/share/incipit/models

Name: incipit
Description: what follows a prompt, one token at a time
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lincipit
Libs.private: $ENGINE_LIBS
PC
"$build/incipit" help --man | made share/man/man1/incipit.1
put 644 "$library/incipit.3" share/man/man3/incipit.3
"$build/incipit" help --completion bash | made share/bash-completion/completions/incipit
"$build/incipit" help --completion zsh | made share/zsh/site-functions/_incipit
"$build/incipit" help --completion fish | made share/fish/vendor_completions.d/incipit.fish
for e in docs/examples/*; do put 644 "$e" "share/doc/incipit/examples/${e##*/}"; done
# what incipit verify runs, and what these programs read
for f in $(cut -f4 ledger/claims.tsv | tr ' ' '\n' | sort -u); do
  for d in laboratory/ ''; do
    [ ! -f "$build/bin/$d$f" ] || { put 755 "$build/bin/$d$f" "libexec/incipit/$f"; strip "$to/libexec/incipit/$f" 2>/dev/null || true; break; }
  done
done
for f in ledger/*.tsv figures/data/*.csv models/*.grammar; do put 644 "$f" "share/incipit/$f"; done
put 644 build/sections.tsv share/incipit/ledger/sections.tsv
for m in models/*/; do
  [ -f "$m/config.json" ] || continue
  for f in "$m"*; do [ ! -f "$f" ] || put 644 "$f" "share/incipit/$f"; done
done
# what an earlier installation has made stays known
folder share/incipit
{ cat "$to/$list" 2>/dev/null || true; cat "$new"; echo "f $list"; } | awk '!seen[$0]++' > "$new.all"
install -m 644 "$new.all" "$to/$list"; rm -f "$new.all"
echo "installed in $to"
