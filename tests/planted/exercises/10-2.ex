==== check
# the scale, both integers, and what the second stands for, in tenths
engine <<'C'
#include <math.h>
#include <stdio.h>
#include "model/quantization.h"
int main(void)
{
  struct error why; unsigned char b[18];
  float x[WEIGHT_BLOCK] = { 3.2f, -3.1f };
  if (!weights_encode(WEIGHT_Q4_0, x, WEIGHT_BLOCK, b, &why)) return 1;
  printf("%.1f %d %d %.1f\n", (double) block_scale_of(WEIGHT_Q4_0, b, 0).d, block_whole(WEIGHT_Q4_0, b, 0), block_whole(WEIGHT_Q4_0, b, 1), (double) block_number(WEIGHT_Q4_0, b, 1));
  return 0;
}
C
is $(run)
==== answer
-0.4 -8 7 -2.8
==== wrong
0.4 8 -8 -3.2
==== skeleton
# d, the integer of 3.2, that of -3.1, what the last stands for (one decimal where it is no integer)
