#!/bin/sh
# objects.sh -- in the objects of the vector tables stand packed fused multiply-adds, and no call of fmaf.
set -eu
build=${BUILD:-build}
[ "$(uname -m)" = x86_64 ] || { echo "NOT RUN: not an x86-64"; exit 77; }
command -v objdump >/dev/null || { echo "NOT RUN: objdump is not installed"; exit 77; }
for t in avx2:ymm avx512:zmm; do
  r=${t#*:}; t=${t%:*}
  for o in "$build/obj/kernels/$t.o" "$build/obj/kernels/${t}_"*.o; do
    n=$(objdump -d "$o" | grep -cE "vfmadd[0-9]*ps .*$r" || true)
    [ "$n" -gt 50 ] || { echo "$o: $n packed multiply-adds in $r"; exit 1; }
    if nm -u "$o" | grep -qE ' (fmaf|fma)$'; then echo "$o calls fmaf or fma"; exit 1; fi
    echo "$o: $n packed multiply-adds"
  done
done
