#!/bin/sh
# ulp.sh [short] -- how far our functions are from the truth: all floats, and 10^8 random arguments of the others, in ranges that
# can be interrupted and gone on with (build/ulp.state); writes figures/data/functions.ulp.csv.  With "short": every 4099th
# float and 20000 others, and none may be worse than the committed worst.
set -eu
build=${BUILD:-build}; exe=$build/tests/ulp
mkdir -p "$build/tests" figures/data
if ! echo '#include <mpfr.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then echo "NOT RUN: MPFR is not installed"; exit 77; fi
flags="-std=c11 -O2 -ffp-contract=off -Itangled -Iunwoven"
case $(uname -m) in x86_64) if grep -q ' fma ' /proc/cpuinfo && grep -q ' avx2 ' /proc/cpuinfo; then flags="$flags -mfma -mavx2"; fi;; esac
${CC:-cc} $flags -w tests/checks/ulp.c tangled/functions/numbers.c -o "$exe" -lmpfr -lgmp -lm
if [ "${1:-}" = short ]; then exec "$exe" -k 4099 -n 20000 -c figures/data/functions.ulp.csv; fi
"$exe" -s "$build/ulp.state" > "$build/ulp.csv"
cp "$build/ulp.csv" figures/data/functions.ulp.csv; cat figures/data/functions.ulp.csv
