==== check
# pages taken, rows copied
engine <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
int main(void)
{
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why; struct pass *p;
  tiny_make(&t, 1);
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct store *s = cache_open(&m, &t.lm.config, 3, &(struct cache_options) {.page_rows = 16}, &why);
  struct row rows[40];
  for (uint32_t i = 0; i < 40; i++) rows[i] = (struct row) {0, i, i % TINY_V};
  if (!model_forward(&e, &t.lm, s, rows, 40, &p, &why)) return 1;
  if (!store_fork(s, 0, 1, &why) || !store_fork(s, 0, 2, &why)) return 1;
  for (uint32_t i = 0; i < 10; i++) for (uint32_t q = 0; q < 3; q++)
    if (!model_forward(&e, &t.lm, s, &(struct row) {q, 40 + i, 1 + q}, 1, &p, &why)) return 1;
  printf("%zu %zu\n", cache_look(s).pages_used, cache_look(s).bytes_copied * 16 * cache_look(s).pages / cache_look(s).bytes);
  return 0;
}
C
is $(run)
==== answer
8 16
==== wrong
8 24
==== skeleton
# pages taken, rows copied
