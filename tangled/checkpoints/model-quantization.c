/* the program -- made from chapters/10-quantization.w; change it there */

#include <stdio.h>
#include "model/quantization.h"

int main(void)
{
  float x[WEIGHT_BLOCK] = { 0.7f, -1.6f, 0.3f, 0.05f, -0.45f, 1.15f, 0.9f, -0.2f };
  struct int8_block b;
  quantize_int8(x, &b);
  for (int i = 0; i < 8; i++)
    printf("%6.2f %5d %8.4f\n", (double) x[i], b.q[i], (double) ((float) b.q[i] * b.d));
  return 0;
}
