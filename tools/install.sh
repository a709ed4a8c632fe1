#!/bin/sh
# install.sh -- what make install does: copies the command, the library, its headers and the models to PREFIX
# (below DESTDIR, if there is one), and lets the command write its own manual page and completion.
set -eu
build=${BUILD:-build}; to=${DESTDIR:-}${PREFIX:-/usr/local}
mkdir -p "$to/bin" "$to/lib/pkgconfig" "$to/include/incipit" "$to/share/man/man1" "$to/share/bash-completion/completions" "$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d" "$to/share/incipit"
install -m 755 "$build/incipit" "$to/bin/incipit"
install -m 644 "$build/libincipit.a" "$to/lib/libincipit.a"
for c in $(awk '$1 == "chapters" || $1 == "workshop" { print $4 }' book.list); do
  for h in tangled/"$c"/*.h; do
    [ -f "$h" ] || continue
    case ${h##*/} in parrot.h|toy.h|lesson.h|text_session.h|sources.h) continue ;; esac     # models of the programs, not in the library
    mkdir -p "$to/include/incipit/$c"
    install -m 644 "$h" "$to/include/incipit/$c/"
  done
done
cat > "$to/lib/pkgconfig/incipit.pc" <<PC
prefix=${PREFIX:-/usr/local}
Name: incipit
Description: what follows a prompt, one token at a time
Version: 0.3
Requires: jansson libpcre2-8 libutf8proc
Cflags: -I\${prefix}/include/incipit
Libs: -L\${prefix}/lib -lincipit -pthread -lm
PC
"$build/incipit" help --man > "$to/share/man/man1/incipit.1"
"$build/incipit" help --completion bash > "$to/share/bash-completion/completions/incipit"
"$build/incipit" help --completion zsh > "$to/share/zsh/site-functions/_incipit"
"$build/incipit" help --completion fish > "$to/share/fish/vendor_completions.d/incipit.fish"
if [ -d models ]; then
  for m in models/*/; do
    [ -f "$m/config.json" ] || continue
    mkdir -p "$to/share/incipit/$m"
    for f in "$m"*; do [ ! -f "$f" ] || install -m 644 "$f" "$to/share/incipit/$m"; done
  done
fi
echo "installed in $to"
