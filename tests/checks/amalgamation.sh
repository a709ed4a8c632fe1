#!/bin/sh
# amalgamation.sh [short] -- the library in one file: the cc line in it compiles it, it says what the command says, and what it shows has its
# prefix.  "short", in make check: two compilers read all of it, and it is compiled by that line, but with -O0 and without the tables
# that are for one kind of processor, which is a twentieth of the work; make amalgamated: letter by letter.
set -eu
build=${BUILD:-build}; from=$PWD/${LIBRARY:-$build/library}/amalgamation; clone=$PWD
tmp=$(mktemp -d "${TMPDIR:-/tmp}/amalgamation.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
cp "$from/incipit.c" "$from/incipit.h" docs/examples/greedy.c "$tmp/"
cd "$tmp"
grep -q 'MIT License' incipit.c || { echo "no licence in incipit.c"; exit 1; }
command=$(sed -n 's/^ *cc \(-std.*incipit\.c\)$/\1/p' incipit.c); libs=$(grep -o '\-ljansson .* -lm' incipit.c)
[ "${1:-}" != short ] || { command=$(echo "$command" | sed 's/ -O2 / -O0 /'); case $command in *" -O0 "*) ;; *) echo "the cc line has no -O2"; exit 1 ;; esac; }
for c in "${CC:-cc}" $(command -v clang clang-14 | head -1); do
  $c -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only incipit.c
done
[ "${1:-}" != short ] || { grep -q 'defined __x86_64__' incipit.c; sed -i 's/defined __x86_64__/0/' incipit.c; }
${CC:-cc} $command
${CC:-cc} -std=c11 -I. greedy.c incipit.o $libs -o greedy
export INCIPIT_MODEL="$clone/models/pocket"
for p in "The cat sat" "Once upon a time" '"Hello'; do
  { "$clone/$build/incipit" generate "$p" -n 12; printf '\n'; } > wanted
  ./greedy "$p" | sed '$d' > got
  cmp wanted got || { cat wanted got; exit 1; }
done
! nm -g --defined-only incipit.o | awk 'NF == 3 { print $3 }' | grep -v '^incipit_' || { echo "names without a prefix"; exit 1; }
