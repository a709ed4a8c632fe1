#!/bin/sh
# matrix.sh [short] -- the kernels compiled by gcc and clang, with -O1 and -O3, contraction off and on: each table gives the same
# bits in every build, or refuses where the compiler contracts a*b+c.  "short": gcc -O1 and clang -O3 beside the build as it is.
set -eu
build=${BUILD:-build}; dir=$build/matrix; mkdir -p "$dir"; bad=0
one() { # NAME COMPILER FLAGS...
  name=$1; shift
  command -v "$1" >/dev/null 2>&1 || { echo "NOT RUN: $1 is not installed"; return; }
  "$@" -std=c11 -w -Itangled tests/matrix.c tangled/functions/*.c tangled/kernels/[a-z]*.c tangled/model/kernel.c tangled/model/plain.c tangled/model/quantization.c tangled/ground/[a-z]*.c "$build/libmodules.a" -o "$dir/$name" -ljansson -lpcre2-8 -lutf8proc -pthread -lm
  "$dir/$name" > "$dir/$name.out"
  sed "s/^/$name: /" "$dir/$name.out"
}
one plain ${CC:-cc} -O2 -ffp-contract=off
if [ "${1:-}" = short ]; then
  one gcc-O1 gcc -O1 -ffp-contract=off
  one clang-O3 clang -O3 -ffp-contract=off
else
  for c in gcc clang; do for o in -O1 -O3; do
    one "$c$o" $c $o -ffp-contract=off
    one "$c$o-contracting" $c $o -ffp-contract=fast
  done; done
  grep -q 'avx2 refuses' "$dir"/*-contracting.out 2>/dev/null || ! grep -q '^avx2 ' "$dir/plain.out" || { echo "no contracting build was refused"; bad=1; }
fi
# every hash that was printed, whatever the table and the build, is the same
[ "$(cat "$dir"/*.out | grep -v refuses | cut -d' ' -f2 | sort -u | wc -l)" = 1 ] || { echo "the bits differ"; bad=1; }
for t in avx2 avx512; do grep -q "^$t " "$dir/plain.out" || echo "NOT RUN: $t, which this machine lacks"; done
exit $bad
