==== check
# the scheduler reads the prompt twice, and counts rows and pages
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
  struct store *s = cache_open(&m, &lm->config, 2, &(struct cache_options) { .page_rows = 16, .rows = 4096 }, &why);
  struct generate_context g = { &e, lm, s, &m };
  struct scheduler d; struct request r[2]; uint32_t id[48];
  if (s == NULL || !scheduler_open(&d, &g, &(struct scheduler_options) { .share = true }, &why)) return 1;
  for (uint32_t i = 0; i < 48; i++) id[i] = i + 1;
  if (!scheduler_submit(&d, &r[0], id, 48, &(struct generate_options) { .max_new_tokens = 1 }, &why)) return 1;
  while (!scheduler_idle(&d)) if (!scheduler_step(&d, &why)) return 1;
  unsigned long rows = (unsigned long) d.counts.rows, pages = (unsigned long) cache_look(s).pages_used;
  if (!scheduler_submit(&d, &r[1], id, 48, &(struct generate_options) { .max_new_tokens = 2 }, &why)) return 1;
  if (!scheduler_step(&d, &why)) return 1;
  printf("%lu %lu\n", (unsigned long) d.counts.rows - rows, (unsigned long) cache_look(s).pages_used - pages);
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
