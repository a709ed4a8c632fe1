#!/bin/sh
# matrix.sh [short] -- the kernels compiled by gcc and clang, with -O1 and -O3, contraction off and on: each table gives the same
# bits in every build, or refuses where the compiler contracts a*b+c; "plain" is the build as it is.  "short", in make check: by clang all
# kernels whose bits are compared, so not those of blocks, which take longer to compile than the others together; and by gcc, which contracts,
# the file that has the product that a contracting build is known by, as it must refuse; make matrix: all.  Two at a time; each takes a
# minute or two.
set -eu
build=${BUILD:-build}; dir=$build/matrix; rm -rf "$dir"; mkdir -p "$dir"; bad=0
all="tangled/functions/*.c tangled/kernels/*.c unwoven/kernels/*.c unwoven/model/kernel.c tangled/model/self_test.c tangled/model/segments.c tangled/model/plain.c tangled/model/blocks.c tangled/model/quantization.c tangled/ground/*.c unwoven/ground/*.c"
compared=$(for f in $all; do case $f in *_blocks.c|*/vnni.c) ;; *) echo "$f" ;; esac; done)
one() { # NAME COMPILER LEVEL CONTRACTION SOURCES
  command -v "${2%% *}" >/dev/null 2>&1 || { echo "NOT RUN: $2 is not installed"; return; }
  case $5 in all) sources=$all ;; compared) sources=$compared ;; probe) sources=unwoven/kernels/avx2.c ;; *) sources= ;; esac
  if $2 "$3" "-ffp-contract=$4" -std=c11 -w -Itangled -Iunwoven tests/checks/matrix.c $sources "$build/libmodules.a" -o "$dir/$1" -ljansson -lpcre2-8 -lutf8proc -pthread -lm &&
    "$dir/$1" > "$dir/$1.out"; then sed "s/^/$1: /" "$dir/$1.out"
  else echo "$1: does not compile, or does not run to its end" | tee "$dir/$1.bad"; fi
}
both() { # one or two builds, each NAME:COMPILER:LEVEL:CONTRACTION:SOURCES
  for job in "$@"; do
    (IFS=:; set -- $job; unset IFS; one "$@") &
  done
  wait
}
both "plain:${CC:-cc}:-O2:off:none"
if [ "${1:-}" = short ]; then both gcc-O2-contracting:gcc:-O2:fast:probe clang-O1:clang:-O1:off:compared
else
  both gcc-O3-contracting:gcc:-O3:fast:all clang-O1:clang:-O1:off:all
  both gcc-O1:gcc:-O1:off:all gcc-O1-contracting:gcc:-O1:fast:all
  both gcc-O3:gcc:-O3:off:all clang-O1-contracting:clang:-O1:fast:all
  both clang-O3:clang:-O3:off:all clang-O3-contracting:clang:-O3:fast:all
fi
grep -q 'avx2 refuses' "$dir"/*-contracting.out 2>/dev/null || ! grep -q '^avx2 ' "$dir/plain.out" || { echo "no contracting build was refused"; bad=1; }
ls "$dir"/*.bad >/dev/null 2>&1 && bad=1
# every hash that was printed, whatever the table and the build, is the same
[ "$(cat "$dir"/*.out | grep -v refuses | cut -d' ' -f2 | sort -u | wc -l)" = 1 ] || { echo "the bits differ"; bad=1; }
for t in avx2 avx512; do grep -q "^$t " "$dir/plain.out" || echo "NOT RUN: $t, which this machine lacks"; done
exit $bad
