==== check
# the tallest tile of three registers of outputs in sixty-four, and its loads
engine <<'C'
#include <stdio.h>
int main(void)
{
  int m = 0;
  while (3 * (m + 1) + 3 + 1 <= 64) m++;
  printf("%d %.2f\n", m, (3.0 + m) / (3 * m));
  return 0;
}
C
is $(run)
==== answer
20 0.38
==== wrong
21 0.38
==== skeleton
# rows, loads for each multiply-add
