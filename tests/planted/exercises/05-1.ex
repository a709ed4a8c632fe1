==== check
# rows at which both roofs meet: the first pass of n rows that the multipliers bound
engine <<'C'
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
is $(run)
==== answer
9
==== wrong
5
==== skeleton
# rows
