==== check
# the scheduler serves them, with the built-in model
engine <<'C'
#include <stdio.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "serving/scheduler.h"
int main(void)
{
  static const size_t lengths[8] = { 10, 15, 20, 30, 40, 50, 80, 100 };
  struct memory m = { .fail_at = 0 }; struct counters c = { .rows = 0 }; struct error why;
  struct model *lm = model_open(&m, "models/pocket", &why);
  struct engine e = { .k = kernels_find(NULL, &why), .c = &c };
  if (lm == NULL || e.k == NULL) return 1;
  struct store *s = cache_open(&m, &lm->config, 4, &(struct cache_options) { .rows = 0 }, &why);
  struct generate_context g = { &e, lm, s, &m };
  struct scheduler d; struct request r[8]; size_t passes = 0, sum = 0, done = 0; uint32_t first = 5;
  if (s == NULL || !scheduler_open(&d, &g, &(struct scheduler_options) { .share = false }, &why)) return 1;
  for (int i = 0; i < 8; i++)
    if (!scheduler_submit(&d, &r[i], &first, 1, &(struct generate_options) { .max_new_tokens = lengths[i] }, &why)) return 1;
  while (!scheduler_idle(&d)) {
    if (!scheduler_step(&d, &why)) return 1;
    size_t now = 0;
    passes++;
    for (int i = 0; i < 8; i++) now += r[i].state == REQUEST_ENDED;
    sum += (now - done) * passes, done = now;
  }
  printf("%zu %zu\n", passes, sum);
  return 0;
}
C
is $(run)
==== answer
130 420
==== wrong
110 420
==== skeleton
# two numbers: passes, and the sum of the last passes of the eight texts
