==== check
set -e
# rows that are computed for 13 and 17, with tiles of twelve and thirds of them
cat > $BUILD/ex.c <<"C"
#include <stdio.h>
static int rows(int n) { return n / 12 * 12 + (n % 12 + 3) / 4 * 4; }
int main(void)
{
  printf("%d %d\n", rows(13), rows(17));
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w $BUILD/ex.c -o $BUILD/ex -lm
right=$($BUILD/ex)
set -- $(grep -v "^#" "$1") : $right
[ $# = 5 ] && [ "$1 $2" = "$4 $5" ]
==== answer
16 20
==== wrong
24 24
==== skeleton
# rows computed for 13, for 17
