==== check
set -e
# the tallest tile of three registers of outputs in sixty-four, and its loads
cat > $BUILD/ex.c <<"C"
#include <stdio.h>
int main(void)
{
  int m = 0;
  while (3 * (m + 1) + 3 + 1 <= 64) m++;
  printf("%d %.2f\n", m, (3.0 + m) / (3 * m));
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w $BUILD/ex.c -o $BUILD/ex -lm
right=$($BUILD/ex)
set -- $(grep -v "^#" "$1") : $right
[ $# = 5 ] && [ "$1 $2" = "$4 $5" ]
==== answer
20 0.38
==== wrong
21 0.38
==== skeleton
# rows, loads for each multiply-add
