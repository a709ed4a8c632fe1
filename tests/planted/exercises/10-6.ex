==== check
# the largest sum, and how many of them a float adds exactly
engine <<'C'
#include <math.h>
#include <stdio.h>
int main(void)
{
  long most = 0;
  for (int i = 0; i < 32; i++) most += 128 * 127;
  int n = 0;
  for (float sum = 0; ; n++) {
    if ((long) sum + most > 1L << 24) break;
    sum += (float) most;
  }
  printf("%ld %d\n", most, n);
  return 0;
}
C
is $(run)
==== answer
520192 32
==== wrong
516128 32
==== skeleton
# the largest sum, how many of them
