==== check
# how often a token is the best so far, weights 8, 4, 2, 1 in this order and in the reverse: counted in a million races
engine <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"

int main(void)
{
  enum { RACES = 1000000 };
  size_t falling = 0, rising = 0;
  for (uint32_t at = 0; at < RACES; at++) {
    double sum[4], best = -INFINITY;
    for (uint32_t i = 0; i < 4; i++) sum[i] = log(8 >> i) + gumbel_noise(7, 0, at, i);
    for (int i = 0; i < 4; i++) if (sum[i] > best) best = sum[i], falling++;
    best = -INFINITY;
    for (int i = 3; i >= 0; i--) if (sum[i] > best) best = sum[i], rising++;
  }
  printf("%.4f %.4f\n", (double) falling / RACES, (double) rising / RACES);
  return 0;
}
C
near .01 $(run)
==== answer
1.54 2.77
==== wrong
2.08 2.08
==== skeleton
# on average in this order, and in the reverse
