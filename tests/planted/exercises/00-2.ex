==== check
# the sum of six numbers with six workers, from the pool itself
engine <<'C'
#include <stdio.h>
#include "ground/ground.h"
static const float x[6] = { 100000000, 3, 3, 3, 3, 3 };
static void add_share(void *ctx, unsigned worker, unsigned workers)
{
  float *part = ctx;
  for (unsigned i = 6 * worker / workers; i < 6 * (worker + 1) / workers; i++) part[worker] += x[i];
}
int main(void)
{
  struct memory m = { .fail_at = 0 };
  float part[6] = { 0 }, sum;
  struct pool *p = pool_open(&m, 6, NULL);
  pool_run(p, add_share, part);
  pool_close(&m, p);
  sum = part[0];
  for (int i = 1; i < 6; i++) sum += part[i];
  printf("%.0f\n", sum);
}
C
is $(run)
==== answer
100000000
==== wrong
100000016
==== skeleton
# one integer, the sum
