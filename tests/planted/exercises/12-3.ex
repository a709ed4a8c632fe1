==== check
# the scheduler serves them, one after the other, and counts
engine <<'C'
#include <stdio.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "serving/scheduler.h"
int main(void)
{
  struct memory m = { .fail_at = 0 }; struct counters c = { .rows = 0 }; struct error why;
  struct model *lm = model_open(&m, "models/pocket", &why);
  struct engine e = { .k = kernels_find(NULL, &why), .c = &c };
  if (lm == NULL || e.k == NULL) return 1;
  struct store *s = cache_open(&m, &lm->config, 1, &(struct cache_options) { .page_rows = 16, .rows = 4096 }, &why);
  struct generate_context g = { &e, lm, s, &m };
  struct scheduler d;
  if (s == NULL || !scheduler_open(&d, &g, &(struct scheduler_options) { .share = true }, &why)) return 1;
  for (uint32_t i = 0; i < 40; i++) {
    struct request r; uint32_t id[75];
    for (uint32_t k = 0; k < 75; k++) id[k] = k < 70 ? k + 1 : 100 + i;
    if (!scheduler_submit(&d, &r, id, 75, &(struct generate_options) { .max_new_tokens = 1 }, &why)) return 1;
    while (!scheduler_idle(&d)) if (!scheduler_step(&d, &why)) return 1;
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
