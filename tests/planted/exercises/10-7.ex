==== check
# the squared errors of random blocks of eight bits are smaller than before
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
    if (!weights_encode(WEIGHT_Q8_0, x, WEIGHT_BLOCK, b, &why)) return;
    for (size_t i = 0; i < WEIGHT_BLOCK; i++) all += pow((double) block_number(WEIGHT_Q8_0, b, i) - (double) x[i], 2);
  }
  say_most("sum-of-squared-errors", all, OF(1, 0.99999));
}
==== answer
== tangled/model/quantization.c
-  float d = most / 127, times = d != 0 ? 1 / d : 0;
+  float d = num_from_f16(num_to_f16(most / 127)), times = d != 0 ? 1 / d : 0;
==== wrong
== tangled/model/quantization.c
-  float d = most / 127, times = d != 0 ? 1 / d : 0;
+  float d = num_from_bf16(num_to_bf16(most / 127)), times = d != 0 ? 1 / d : 0;
==== skeleton
# a function in tangled/model/quantization.c chooses the scale of a block of eight bits.  Write == FILE, then - lines and + lines
