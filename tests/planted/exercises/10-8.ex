==== check
# the squared errors of random blocks of four bits are at most 0.94 times as large as before
planted
says_like_ours
==== test
#include "exercise.h"
#include "model/quantization.h"
enum { SIZES = 3 };
static void test(unsigned size)
{
  double all = 0; struct error why; unsigned char b[64];
  for (int k = 0; k < 10000; k++) {
    float x[WEIGHT_BLOCK];
    for (int i = 0; i < WEIGHT_BLOCK; i++) { x[i] = 0; for (int j = 0; j < 6; j++) x[i] += draw_float(); }
    if (!weights_encode(WEIGHT_Q4_0, x, WEIGHT_BLOCK, b, &why)) return;
    for (size_t i = 0; i < WEIGHT_BLOCK; i++) all += pow((double) block_number(WEIGHT_Q4_0, b, i) - (double) x[i], 2);
  }
  say_most("sum-of-squared-errors", all, OF(1, 0.94));
}
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
# a function in tangled/model/quantization.c chooses the scale of a block of four bits and encodes it.  Write == FILE, then - lines and + lines
