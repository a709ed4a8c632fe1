#!/bin/sh
# matrix.sh [short] -- the kernels compiled by gcc and clang, with -O1 and -O3, contraction off and on: each table gives the same
# bits in every build, or refuses where the compiler contracts a*b+c; "plain" is the build as it is.  "short", in make check: one build
# of each kind; make matrix: all.  Two at a time; each takes a minute or two.
set -eu
build=${BUILD:-build}; dir=$build/matrix; rm -rf "$dir"; mkdir -p "$dir"; bad=0
one() { # NAME COMPILER LEVEL CONTRACTION
  command -v "${2%% *}" >/dev/null 2>&1 || { echo "NOT RUN: $2 is not installed"; return; }
  sources="tangled/functions/*.c tangled/kernels/*.c unwoven/kernels/*.c unwoven/model/kernel.c tangled/model/self_test.c tangled/model/segments.c tangled/model/plain.c tangled/model/blocks.c tangled/model/quantization.c tangled/ground/*.c"
  [ "$1" != plain ] || sources=
  if $2 "$3" "-ffp-contract=$4" -std=c11 -w -Itangled -Iunwoven tests/checks/matrix.c $sources "$build/libmodules.a" -o "$dir/$1" -ljansson -lpcre2-8 -lutf8proc -pthread -lm &&
    "$dir/$1" > "$dir/$1.out"; then sed "s/^/$1: /" "$dir/$1.out"
  else echo "$1: does not compile, or does not run to its end" | tee "$dir/$1.bad"; fi
}
both() { # one or two builds, each NAME:COMPILER:LEVEL:CONTRACTION
  for job in "$@"; do
    (IFS=:; set -- $job; unset IFS; one "$@") &
  done
  wait
}
both "plain:${CC:-cc}:-O2:off"
both gcc-O3-contracting:gcc:-O3:fast clang-O1:clang:-O1:off
if [ "${1:-}" != short ]; then
  both gcc-O1:gcc:-O1:off gcc-O1-contracting:gcc:-O1:fast
  both gcc-O3:gcc:-O3:off clang-O1-contracting:clang:-O1:fast
  both clang-O3:clang:-O3:off clang-O3-contracting:clang:-O3:fast
fi
grep -q 'avx2 refuses' "$dir"/*-contracting.out 2>/dev/null || ! grep -q '^avx2 ' "$dir/plain.out" || { echo "no contracting build was refused"; bad=1; }
ls "$dir"/*.bad >/dev/null 2>&1 && bad=1
# every hash that was printed, whatever the table and the build, is the same
[ "$(cat "$dir"/*.out | grep -v refuses | cut -d' ' -f2 | sort -u | wc -l)" = 1 ] || { echo "the bits differ"; bad=1; }
for t in avx2 avx512; do grep -q "^$t " "$dir/plain.out" || echo "NOT RUN: $t, which this machine lacks"; done
exit $bad
