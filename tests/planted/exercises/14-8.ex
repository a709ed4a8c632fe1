==== check
# a kernel in phases: the sum of 256 numbers in sixteen lanes, with the threads in three orders
wrapped -Itangled/cuda
says_like_ours
==== head
#include <stdbool.h>
#include "functions/numbers.h"
#include "cuda/machine.inc"
struct sum_args { const float *x; float *y; };
==== tail
void ex_sum(unsigned order, const float *x, float *y)
{
  struct sum_args a = { x, y };
  struct block_place at = { 0, 0, 0, 256, order };
  sum_block(at, a);
}
==== test
#include "exercise.h"
void ex_sum(unsigned order, const float *x, float *y);
enum { SIZES = 4 };
static void test(unsigned size)
{
  float x[256], y, lane[16] = { 0 };
  for (int i = 0; i < 256; i++) x[i] = 4 * draw_float(), lane[i % 16] += x[i];
  for (int half = 8; half > 0; half /= 2) for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  for (unsigned order = 0; order < 3; order++) {
    y = OF(0, lane[0]);
#ifndef OURS
    ex_sum(order, x, &y);
#endif
    tell("order %u", order), say_bits("sum", y);
  }
}
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
