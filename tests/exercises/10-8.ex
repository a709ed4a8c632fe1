==== check
set -e
# the squared errors of random blocks of four bits, before and after
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
    all += off(WEIGHT_Q4_0, x);
  }
  printf("%.6f\n", all);
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
before=$($BUILD/ex)
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
after=$($BUILD/ex)
echo $before $after | awk '{ exit !($2 < 0.94 * $1) }'
==== answer
== tangled/model/quantization.c
-  struct block_scale s = min ? min_max_scale(x, top) : symmetric_scale(x, top);
+  struct block_scale s = min ? min_max_scale(x, top) : symmetric_scale(x, top);
+  if (type == WEIGHT_Q4_0 && s.d != 0) {
+    float usual = s.d, least = INFINITY;
+    for (int k = -10; k <= 10; k++) {
+      float d = usual * 8 / (8 + (float) k * 0.1f), sum = 0;
+      for (int i = 0; i < WEIGHT_BLOCK; i++) {
+        float z = x[i] / d, off = (float) (whole_within(z + 8.5f, 0, 15) - 8) * d - x[i];
+        sum += off * off;
+      }
+      if (sum < least) least = sum, s.d = d;
+    }
+  }
==== wrong
== tangled/model/quantization.c
-  struct block_scale s = min ? min_max_scale(x, top) : symmetric_scale(x, top);
+  struct block_scale s = min ? min_max_scale(x, top) : symmetric_scale(x, top);
+  if (type == WEIGHT_Q4_0) s.d = s.d * 8 / 7.5f;
==== skeleton
== tangled/model/quantization.c
-  struct block_scale s = min ? min_max_scale(x, top) : symmetric_scale(x, top);
+  struct block_scale s = min ? min_max_scale(x, top) : symmetric_scale(x, top);
