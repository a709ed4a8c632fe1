==== check
# rows that serve a text that differs in its 38th token; and one without the first
engine <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
int main(void)
{
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why; struct pass *p;
  tiny_make(&t, 1);
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct store *s = cache_open(&m, &t.lm.config, 2, &(struct cache_options) {.rows = 0}, &why);
  struct row rows[60]; uint32_t id[61];
  for (uint32_t i = 0; i < 61; i++) id[i] = i % TINY_V;
  for (uint32_t i = 0; i < 60; i++) rows[i] = (struct row) {0, i, id[i]};
  if (!model_forward(&e, &t.lm, s, rows, 60, &p, &why) || !store_fork(s, 0, 1, &why)) return 1;
  id[37]++;
  printf("%zu ", store_match_prefix(s, 0, id, 60));
  id[37]--;
  printf("%zu\n", store_match_prefix(s, 1, id + 1, 59));
  return 0;
}
C
is $(run)
==== answer
37 0
==== wrong
59 59
==== skeleton
# rows that can serve the one, and the other
