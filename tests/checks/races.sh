#!/bin/sh
# races.sh -- ThreadSanitizer on the kernels of chapter 14, each thread of a block a fiber (fibers.h): two threads that use the same number
# without a barrier between them are found in whatever order they come.  Only the kernels are compiled with it.  Then a barrier of the
# block becomes one of the warp, which must be found; the first race ends that run.
set -eu
build=${BUILD:-build} cc=${CC:-cc} out=${BUILD:-build}/races
mkdir -p "$out"
echo 'int main(void) { return 0; }' > "$out/empty.c"
if ! { $cc -fsanitize=thread "$out/empty.c" -o "$out/empty" && "$out/empty"; } 2> /dev/null; then
  echo "NOT RUN: the kernels of chapter 14 under ThreadSanitizer, which this compiler or this machine lacks"; exit 77
fi
flags='-std=c11 -O1 -g -ffp-contract=off -Itests/suites -Iprogram -Wno-missing-field-initializers'
one() { # FOLDER NAME: the device of that folder's kernels, with the suite
  $cc $flags -fsanitize=thread '-DKERNEL_WORDS="fibers.h"' "-I$1" -Itangled -Iunwoven -c "$1/cuda/host.c" -o "$out/$2.o"
  $cc -fsanitize=thread "$out/$2.o" "$out/suite.o" "$build/tests/oracle.o" "$build/libprogram.a" "$build/libmodules.a" -o "$out/$2" \
    $(pkg-config --libs check) -ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm
}
$cc $flags -DLESS=12 -DORDERS=1 -Itangled -Iunwoven $(pkg-config --cflags check) -c tests/suites/check_warps.c -o "$out/suite.o"
one tangled kernels
rm -rf "$out/fault"; mkdir -p "$out/fault"
cp -r tangled/cuda "$out/fault/"
sed 's/EACH_THREAD(t) fill_tiles/EACH_LANE(t) fill_tiles/' tangled/cuda/kernels.cu > "$out/fault/cuda/kernels.cu"
! cmp -s tangled/cuda/kernels.cu "$out/fault/cuda/kernels.cu" || { echo "the barrier to be planted is not there"; exit 1; }
one "$out/fault" planted
export CK_DEFAULT_TIMEOUT=600 CK_VERBOSITY=minimal
"$out/kernels"
if TSAN_OPTIONS=halt_on_error=1 CK_RUN_CASE=linear "$out/planted" > "$out/planted.out" 2>&1; then echo "a race that was planted was not found"; exit 1; fi
grep -q 'ThreadSanitizer: data race' "$out/planted.out" || { echo "what was planted failed otherwise:"; tail -5 "$out/planted.out"; exit 1; }
