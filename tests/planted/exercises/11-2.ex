==== check
# the sum of a large number and fifteen ones, in one chain and in sixteen lanes
engine <<'C'
#include <math.h>
#include <stdio.h>
int main(void)
{
  float x[16] = {0x1p24f}, one = 0;
  for (int i = 1; i < 16; i++) x[i] = 1;
  for (int i = 0; i < 16; i++) one = fmaf(x[i], 1, one);
  for (int s = 8; s > 0; s /= 2) for (int j = 0; j < s; j++) x[j] += x[j + s];
  printf("%.0f %.0f\n", one, x[0]);
  return 0;
}
C
is $(run)
==== answer
16777216 16777230
==== wrong
16777216 16777231
==== skeleton
# one chain, sixteen lanes
