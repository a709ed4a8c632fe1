==== check
set -e
# the longest that number_float and number_double write
cat > $BUILD/ex.c <<'C'
#include <stdio.h>
#include <string.h>
#include "json/json.h"
int main(void)
{
  unsigned long long state = 7;
  char room[NUMBER_ROOM];
  size_t single = 0, whole = 0;
  for (int i = 0; i < 100000; i++) {
    float x; double y;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    unsigned long long bits = state ^ state >> 29;
    unsigned half = (unsigned) (bits >> 32);
    memcpy(&x, &half, 4), memcpy(&y, &bits, 8);
    number_float(x, room), single = strlen(room) > single ? strlen(room) : single;
    number_double(y, room), whole = strlen(room) > whole ? strlen(room) : whole;
    number_double(y - y != 0 ? 0 : (double) (bits >> 11) / (-1e4 * 0x1p53), room);   /* none of them needs an exponent */
    whole = strlen(room) > whole ? strlen(room) : whole;
  }
  printf("%zu %zu\n", single, whole);
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled $BUILD/ex.c $BUILD/libincipit.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
[ "$(grep -v '^#' "$1" | tr -s ' \n' '  ' | sed 's/ *$//')" = "$($BUILD/ex)" ]
==== answer
15 24
==== wrong
14 23
==== skeleton
# two numbers: the most characters for a float32, for a double
