==== check
set -e
# the squared errors of random blocks of eight bits, before and after
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include <math.h>
#include <stdio.h>
#include "suite.h"
#include "model/quantization.h"
static double off(enum weight_type t, const float *x)
{
  struct error why; unsigned char b[64]; double sum = 0;
  if (!weights_encode(t, x, WEIGHT_BLOCK, b, &why)) return INFINITY;
  for (size_t i = 0; i < WEIGHT_BLOCK; i++) { double e = (double) block_number(t, b, i) - (double) x[i]; sum += e * e; }
  return sum;
}
int main(int argc, char **argv)
{
  uint64_t seed = 1; double all = 0;
  for (int k = 0; k < 20000; k++) {
    float x[WEIGHT_BLOCK];
    for (int i = 0; i < WEIGHT_BLOCK; i++) { double s = 0; for (int j = 0; j < 12; j++) s += (double) (rnd(&seed) >> 11) * 0x1p-53; x[i] = (float) (s - 6); }
    all += off(WEIGHT_Q8_0, x);
  }
  printf("%.6f\n", all);
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
before=$($BUILD/ex)
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
after=$($BUILD/ex)
echo $before $after | awk '{ exit !($2 < 0.99999 * $1) }'
==== answer
== tangled/model/quantization.c
-  float d = most / 127, times = d != 0 ? 1 / d : 0;
+  float d = num_from_f16(num_to_f16(most / 127)), times = d != 0 ? 1 / d : 0;
==== wrong
== tangled/model/quantization.c
-  float d = most / 127, times = d != 0 ? 1 / d : 0;
+  float d = num_from_bf16(num_to_bf16(most / 127)), times = d != 0 ? 1 / d : 0;
==== skeleton
== tangled/model/quantization.c
-  float d = most / 127, times = d != 0 ? 1 / d : 0;
+  float d = most / 127, times = d != 0 ? 1 / d : 0;
