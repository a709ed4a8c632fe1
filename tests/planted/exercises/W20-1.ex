==== check
# the sum rounded once, and rounded twice, in units of the last place above 1
engine <<'C'
#include <math.h>
#include <stdio.h>
int main(void)
{
  volatile float a = 0x1.000002p+0f, b = 0x1.fffffcp-25f, c = 1;
  float once = fmaf(a, b, c), twice = (float) ((double) a * b + c);
  printf("%g %g\n", (double) (once - 1) * 0x1p23, (double) (twice - 1) * 0x1p23);
  return 0;
}
C
is $(run)
==== answer
0 0
==== wrong
0 1
==== skeleton
# two numbers of units: rounded once, rounded twice
