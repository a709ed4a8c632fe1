==== check
# the five requests with the 80 returned: what is live at the end, from the allocator itself
engine <<'C'
#include <stdio.h>
#include "ground/ground.h"
int main(void)
{
  struct memory m = {.fail_at = 4};
  struct account before, after;
  void *a = memory_alloc(&m, MEMORY_OTHER, 1, 60, NULL), *b = memory_alloc(&m, MEMORY_OTHER, 1, 40, NULL), *c = memory_alloc(&m, MEMORY_OTHER, 1, 80, NULL);
  memory_free(&m, c);
  memory_alloc(&m, MEMORY_OTHER, 1, 50, NULL);
  void *d = memory_alloc(&m, MEMORY_OTHER, 1, 30, NULL);
  before = (struct account) {.requested = 260, .allocated = 210, .live = 170, .peak = 180};
  after = m.all;
  if (after.requested != before.requested) printf("requested %d\n", (int) after.requested);
  if (after.allocated != before.allocated) printf("allocated %d\n", (int) after.allocated);
  if (after.live != before.live) printf("live %d\n", (int) after.live);
  if (after.peak != before.peak) printf("peak %d\n", (int) after.peak);
  memory_free(&m, a), memory_free(&m, b), memory_free(&m, d);
}
C
is $(run)
==== answer
live 130
==== wrong
live 130
peak 140
==== skeleton
# a line "NAME VALUE" for each of requested, allocated, live, peak that changes
