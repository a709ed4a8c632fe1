==== check
set -e
# tokens a second from the bytes of the weights
cat > $BUILD/ex.c <<"C"
#include <stdio.h>
int main(void)
{
  printf("%.1f %.1f\n", 20e9 / (1.1e9 * 34 / 32), 20e9 / (1.1e9 * 18 / 32));
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w $BUILD/ex.c -o $BUILD/ex -lm
right=$($BUILD/ex)
set -- $(grep -v "^#" "$1") : $right
[ $# = 5 ] && [ "$1 $2" = "$4 $5" ]
==== answer
17.1 32.3
==== wrong
18.2 36.4
==== skeleton
# tokens a second in q8_0, in q4_0
