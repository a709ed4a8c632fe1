==== check
# the relative error of evenly spread weights, by the formula, and a try of it
engine <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static double tried(double d, int top)
{
  double off = 0, all = 0;
  for (int i = 0; i < 2000000; i++) {
    double x = -1 + (i + 0.5) / 1e6, q = fmin(floor(x / d + 0.5), top), e = q * d - x;
    off += e * e, all += x * x;
  }
  return 100 * sqrt(off / all);
}
int main(void)
{
  double four = 100 / 16.0, eight = 100 / 254.0;
  if (fabs(tried(1 / 8.0, 7) - four) > 1 || fabs(tried(1 / 127.0, 127) - eight) > 0.01) return 1;
  printf("%.2f %.2f\n", four, eight);
  return 0;
}
C
is $(run)
==== answer
6.25 0.39
==== wrong
12.50 0.79
==== skeleton
# percent with 4 bits, with 8
