==== check
set -e
# the largest sum, and how many of them a float adds exactly
cat > $BUILD/ex.c <<"C"
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
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
right=$($BUILD/ex)
set -- $(grep -v "^#" "$1") $right
[ $# = 4 ] && [ "$1 $2" = "$3 $4" ]
==== answer
520192 32
==== wrong
516128 32
==== skeleton
# the largest sum, how many of them
