==== check
# the scheduler reads them: two texts decode, and two prompts come
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
  struct store *s = cache_open(&m, &lm->config, 4, &(struct cache_options) { .rows = 0 }, &why);
  struct generate_context g = { &e, lm, s, &m };
  struct scheduler d; struct request r[4]; uint32_t id[40]; size_t first[2] = { 0, 0 };
  static const size_t n[4] = { 1, 1, 40, 30 };
  if (s == NULL || !scheduler_open(&d, &g, &(struct scheduler_options) { .pass_rows = 16 }, &why)) return 1;
  for (uint32_t i = 0; i < 40; i++) id[i] = i + 1;
  for (int i = 0; i < 4; i++) {
    if (!scheduler_submit(&d, &r[i], id, n[i], &(struct generate_options) { .max_new_tokens = 50 }, &why)) return 1;
    if (i == 1 && !scheduler_step(&d, &why)) return 1;
  }
  for (size_t pass = 1; first[0] == 0 || first[1] == 0; pass++) {
    if (!scheduler_step(&d, &why)) return 1;
    for (int i = 0; i < 2; i++) if (first[i] == 0 && r[2 + i].q.c.text.n > n[2 + i]) first[i] = pass;
  }
  printf("%zu %zu\n", first[0], first[1]);
  return 0;
}
C
is $(run)
==== answer
3 6
==== wrong
3 5
==== skeleton
# two numbers: the passes after which the first prompt and the second have their first tokens
