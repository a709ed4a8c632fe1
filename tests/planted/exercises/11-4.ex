==== check
# chains that hide a latency of four at two a cycle, and the rows of a tile two registers wide that has them
engine <<'C'
#include <stdio.h>
int main(void)
{
  int chains = 4 * 2, rows = 1;
  while (2 * rows < chains) rows++;
  printf("%d %d\n", chains, rows);
  return 0;
}
C
is $(run)
==== answer
8 4
==== wrong
4 2
==== skeleton
# chains, rows
