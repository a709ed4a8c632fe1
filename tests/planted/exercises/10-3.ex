==== check
# scale, minimum, the integer of 0 and what it stands for, two decimals
engine <<'C'
#include <stdio.h>
#include "model/quantization.h"
int main(void)
{
  struct error why; unsigned char b[20];
  float x[WEIGHT_BLOCK] = { 3.2f, -3.1f };
  if (!weights_encode(WEIGHT_Q4_1, x, WEIGHT_BLOCK, b, &why)) return 1;
  struct block_scale s = block_scale_of(WEIGHT_Q4_1, b, 0);
  printf("%.2f %.1f %d %.2f\n", (double) s.d, (double) s.m, block_whole(WEIGHT_Q4_1, b, 2), (double) block_number(WEIGHT_Q4_1, b, 2));
  return 0;
}
C
is $(run)
==== answer
0.42 -3.1 7 -0.16
==== wrong
0.42 -3.1 8 0.26
==== skeleton
# d, m, the integer of 0, what it stands for (d and the last with two decimals, m with one)
