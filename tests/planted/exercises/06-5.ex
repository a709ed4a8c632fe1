==== check
# how far another number can be off at most, four digits: blocks with a 3 are packed, and unpacked with the scale as it was
engine <<'C'
#include <math.h>
#include <stdio.h>
#include "accounts/formats.h"
int main(void)
{
  struct error why; double max = 0, d = 3.0 / 127;
  const struct kv_format *f = format_find("q8_0", &why);
  for (int k = 0; k < 20000; k++) {
    float x[WEIGHT_BLOCK] = {3}; unsigned char block[2 + WEIGHT_BLOCK];
    for (int i = 1; i < WEIGHT_BLOCK; i++) x[i] = (float) (-3 + 6 * (31 * k + i - 1) / (31 * 20000.0));
    f->encode(x, WEIGHT_BLOCK, block);
    for (int i = 0; i < WEIGHT_BLOCK; i++) max = fmax(max, fabs((signed char) block[2 + i] * d - x[i]));
  }
  printf("%.4f\n", max);
  return 0;
}
C
is $(run)
==== answer
0.0118
==== wrong
0.0236
==== skeleton
# off by, four decimals
