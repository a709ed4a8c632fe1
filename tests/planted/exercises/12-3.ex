==== check
# the scheduler serves them, one after the other, and counts
engine <<'C'
#include "exercises/serving.h"
int main(void)
{
  serve_with(1, (struct cache_options) { .page_rows = 16, .rows = 4096 }, (struct scheduler_options) { .share = true });
  for (uint32_t i = 0; i < 40; i++) {
    struct request r;
    uint32_t id[75];
    for (uint32_t k = 0; k < 75; k++) id[k] = k < 70 ? k + 1 : 100 + i;
    submit(&r, id, 75, 1);
    while (!scheduler_idle(&d)) step();
    request_close(&d, &r);
  }
  printf("%lu\n", (unsigned long) d.counts.rows);
  return 0;
}
C
is $(run)
==== answer
504
==== wrong
270
==== skeleton
# one number: the rows computed
