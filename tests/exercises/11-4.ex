==== check
set -e
# chains that hide a latency of four at two a cycle, and the rows of a tile two registers wide that has them
cat > $BUILD/ex.c <<"C"
#include <stdio.h>
int main(void)
{
  int chains = 4 * 2, rows = 1;
  while (2 * rows < chains) rows++;
  printf("%d %d\n", chains, rows);
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w $BUILD/ex.c -o $BUILD/ex -lm
right=$($BUILD/ex)
set -- $(grep -v "^#" "$1") : $right
[ $# = 5 ] && [ "$1 $2" = "$4 $5" ]
==== answer
8 4
==== wrong
4 2
==== skeleton
# chains, rows
