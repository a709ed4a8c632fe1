#!/bin/sh
# installed.sh -- installed means installed: what make install copies works from / with no clone in reach: the command continues a prompt,
# the library serves a program compiled with pkg-config alone; DESTDIR is kept out of every file.
set -eu
build=${BUILD:-build}; clone=$PWD; tmp=$(mktemp -d "${TMPDIR:-/tmp}/installed.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
BUILD=$build PREFIX=/opt/incipit DESTDIR=$tmp/stage sh tools/install.sh > /dev/null
! grep -rlI "$tmp" "$tmp/stage" || { echo "a file names the DESTDIR"; exit 1; }
BUILD=$build PREFIX=$tmp/there DESTDIR= sh tools/install.sh > /dev/null
cp -r tests/golden/small tests/example.c tests/sharing.c "$tmp/"
mkdir -p "$tmp/there/share/incipit/models"
pocket=$tmp/there/share/incipit/models/pocket
own=yes; [ -d "$pocket" ] || { own=no; cp -r tests/golden/small "$pocket"; }     # until there is a built-in model
# from here on nothing is taken from the clone, and no installed file names it
cd /
unset INCIPIT_MODEL INCIPIT_ISA
out=$("$tmp/there/bin/incipit" generate "The cat sat" -n 4); [ "$out" = " on the mat." ] || { echo "generate says '$out'"; exit 1; }
"$tmp/there/bin/incipit" --version | grep -q '^incipit .*build [0-9a-f]' || { echo "no build id"; exit 1; }
for f in share/man/man1/incipit.1 share/bash-completion/completions/incipit share/zsh/site-functions/_incipit share/fish/vendor_completions.d/incipit.fish lib/pkgconfig/incipit.pc lib/libincipit.a; do
  [ -s "$tmp/there/$f" ] || { echo "$f is missing"; exit 1; }
done
export PKG_CONFIG_PATH="$tmp/there/lib/pkgconfig"
cd "$tmp"
${CC:-cc} -std=c11 example.c $(pkg-config --cflags --libs incipit) -o example
for h in $(cd there/include/incipit && find . -name '*.h' | LC_ALL=C sort); do     # every header compiles by itself
  echo "#include \"${h#./}\"" > header.c
  ${CC:-cc} -std=c11 -fsyntax-only $(pkg-config --cflags incipit) header.c || { echo "$h does not stand alone"; exit 1; }
done
[ "$(./example small 4 262 270 263 | tr '\n' ' ')" = "265 260 269 47 " ] || { echo "the example says $(./example small 4 262 270 263)"; exit 1; }
${CC:-cc} -std=c11 sharing.c $(pkg-config --cflags --libs incipit) -o sharing     # no more than 50 lines: prefill, decode, fork, crop
[ "$(wc -l < sharing.c)" -le 50 ] && [ "$(./sharing small)" = "6 rows, then 47; 3 rows, then 138; 7 computed" ] || { echo "sharing says $(./sharing small)"; exit 1; }
! grep -rla "$clone" there || { echo "a file names the clone's folder"; exit 1; }
echo "built-in model there: $own"
