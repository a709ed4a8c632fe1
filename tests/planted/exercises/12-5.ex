==== check
# the scheduler reads the prompt twice, and counts rows and pages
engine <<'C'
#include "exercises/serving.h"
int main(void)
{
  struct request r[2];
  uint32_t id[48];
  serve_with(2, (struct cache_options) { .page_rows = 16, .rows = 4096 }, (struct scheduler_options) { .share = true });
  for (uint32_t i = 0; i < 48; i++) id[i] = i + 1;
  submit(&r[0], id, 48, 1);
  while (!scheduler_idle(&d)) step();
  unsigned long rows = (unsigned long) d.counts.rows, pages = (unsigned long) cache_look(d.g.s).pages_used;
  submit(&r[1], id, 48, 2);
  step();
  printf("%lu %lu\n", (unsigned long) d.counts.rows - rows, (unsigned long) cache_look(d.g.s).pages_used - pages);
  return 0;
}
C
is $(run)
==== answer
1 1
==== wrong
0 0
==== skeleton
# two numbers: rows computed, and pages more
