==== check
# where input 37 of 768 stands: lanes in the order of their numbers with the bits reversed
engine <<'C'
#include <stdio.h>
int main(void)
{
  int before = 0, lane[16];
  for (int i = 0; i < 16; i++) for (int b = lane[i] = 0; b < 4; b++) if (i >> b & 1) lane[i] += 8 >> b;
  for (int i = 0; lane[i] != 37 % 16; i++) for (int k = lane[i]; k < 768; k += 16) before++;
  for (int k = 37 % 16; k < 37; k += 16) before++;
  printf("%d\n", before);
  return 0;
}
C
is $(run)
==== answer
482
==== wrong
242
==== skeleton
# weights before it
