==== check
set -e
# a kernel in phases: the sum of 256 numbers in sixteen lanes, with the threads in three orders
cat > $BUILD/ex.c <<"C"
#include <stdbool.h>
#include "functions/numbers.h"
#include "cuda/machine.inc"
struct sum_args { const float *x; float *y; };
#include SUBMITTED
#include <stdio.h>
int main(void)
{
  float x[256], y, lane[16] = { 0 };
  for (int i = 0; i < 256; i++) x[i] = 1.0f / (float) (i + 1) - (float) (i % 7), lane[i % 16] += x[i];
  for (int half = 8; half > 0; half /= 2) for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  for (unsigned order = 0; order < 3; order++) {
    struct sum_args a = { x, &y };
    struct block_place at = { 0, 0, 0, 256, order };
    y = 0;
    sum_block(at, a);
    if (num_bits32(y) != num_bits32(lane[0])) { printf("order %u: %a, not %a\n", order, (double) y, (double) lane[0]); return 1; }
  }
  return 0;
}
C
cp "$1" $BUILD/kernel.c
${CC:-cc} -std=gnu11 -O1 -ffp-contract=off -w -Itangled "-DSUBMITTED=\"kernel.c\"" $BUILD/ex.c tangled/functions/numbers.c -o $BUILD/ex -lm && $BUILD/ex
==== answer
KERNEL void sum_block(GRID const struct sum_args a)
{
  HERE(at);
  SHARED(float, lane, 16);
  EACH_THREAD(t) {
    float sum = 0;
    if (t >= 16) continue;
    for (unsigned i = t; i < 256; i += 16) sum += a.x[i];
    lane[t] = sum;
  }
  EACH_THREAD(t) {
    if (t != 0) continue;
    for (int half = 8; half > 0; half /= 2)
      for (int j = 0; j < half; j++) lane[j] += lane[j + half];
    a.y[0] = lane[0];
  }
}
==== wrong
KERNEL void sum_block(GRID const struct sum_args a)
{
  HERE(at);
  EACH_THREAD(t) a.y[0] += a.x[t];
}
==== skeleton
KERNEL void sum_block(GRID const struct sum_args a)
{
  HERE(at);
  /* a.x[0] ... a.x[255]; the sum goes to a.y[0] */
}
