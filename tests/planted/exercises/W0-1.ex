==== check
# a block that is grown twice: the accounts, from the allocator itself
engine <<'C'
#include <stdio.h>
#include "ground/ground.h"
int main(void)
{
  struct memory m = { .fail_at = 0 };
  void *p = memory_alloc(&m, MEMORY_OTHER, 10, 8, NULL);
  p = memory_resize(&m, MEMORY_OTHER, p, 20, 8, NULL);
  p = memory_resize(&m, MEMORY_OTHER, p, 40, 8, NULL);
  printf("requested %d\nallocated %d\nlive %d\npeak %d\n", (int) m.all.requested, (int) m.all.allocated, (int) m.all.live, (int) m.all.peak);
  memory_free(&m, p);
}
C
is $(run)
==== answer
requested 560
allocated 560
live 320
peak 480
==== wrong
requested 560
allocated 560
live 320
peak 320
==== skeleton
# four lines "NAME VALUE": requested, allocated, live, peak
