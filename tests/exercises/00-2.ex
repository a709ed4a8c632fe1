==== check
# the sum of six numbers with six workers, from the pool itself
set -e
cat > $BUILD/ex.c <<'C'
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
${CC:-cc} -std=c11 -Itangled $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex -pthread -lm
$BUILD/ex > $BUILD/ex.out; grep -v '^#' "$1" | diff -bB - $BUILD/ex.out
==== answer
100000000
==== wrong
100000016
==== skeleton
# one integer, the sum
