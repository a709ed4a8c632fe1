==== check
set -e
# rows at which both roofs meet: the first pass of n rows that the multipliers bound
cat > $BUILD/ex.c <<"C"
#include <stdio.h>
#include "phases/phases.h"
int main(void)
{
  struct roofline m = {90e9, 20e9};
  uint64_t w = 1u << 30;                                   /* weights of a large matrix */
  for (uint64_t n = 1; n < 100; n++) {
    struct counters c = {.madds_linear = n * w, .weight_bytes_read = 2 * w};
    if (work_bound(&m, &c) > (double) (2 * w) / m.bytes) return printf("%d\n", (int) n - 1) < 0;
  }
  return 1;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
[ "$(grep -v "^#" "$1")" = "$($BUILD/ex)" ]
==== answer
9
==== wrong
5
==== skeleton
# rows
