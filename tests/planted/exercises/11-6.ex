==== check
# rows that are computed for 13 and 17, with tiles of twelve and thirds of them
engine <<'C'
#include <stdio.h>
static int rows(int n) { return n / 12 * 12 + (n % 12 + 3) / 4 * 4; }
int main(void)
{
  printf("%d %d\n", rows(13), rows(17));
  return 0;
}
C
is $(run)
==== answer
16 20
==== wrong
24 24
==== skeleton
# rows computed for 13, for 17
