==== check
# rows from which on more than half of 64 experts are chosen, with eight and with one for each row, by the formula
engine <<'C'
#include <math.h>
#include <stdio.h>
int main(void)
{
  for (int k = 8; k > 0; k -= 7) {
    int n = 1;
    while (64 * (1 - pow(1 - k / 64.0, n)) <= 32) n++;
    printf(k == 8 ? "%d " : "%d\n", n);
  }
  return 0;
}
C
is $(run)
==== answer
6 45
==== wrong
5 44
==== skeleton
# rows with eight experts each, rows with one
