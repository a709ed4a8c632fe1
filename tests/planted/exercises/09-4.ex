==== check
# rows copied and pages in use, counted by a cache
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
  for (uint32_t i = 0; i < 32; i++) rows[i] = (struct row) {0, i, i % TINY_V};
  if (!model_forward(&e, &t.lm, s, rows, 32, &p, &why) || !store_fork(s, 0, 1, &why) || !store_fork(s, 0, 2, &why)) return 1;
  pass_close(p);
  for (uint32_t q = 0; q < 3; q++) for (uint32_t i = 0; i < 5; i++) rows[5 * q + i] = (struct row) {q, 32 + i, (i + q) % TINY_V};
  if (!model_forward(&e, &t.lm, s, rows, 15, &p, &why)) return 1;
  pass_close(p);
  size_t before = cache_look(s).bytes_copied;
  for (uint32_t q = 1; q < 3; q++) { store_crop(s, q, 0); if (!store_fork(s, 0, q, &why)) return 1; }
  for (uint32_t q = 0; q < 3; q++) rows[q] = (struct row) {q, 37, q};
  if (!model_forward(&e, &t.lm, s, rows, 3, &p, &why)) return 1;
  pass_close(p);
  printf("%d %d\n", (int) ((cache_look(s).bytes_copied - before) / (2 * TINY_LAYERS * TINY_KV * TINY_HD * sizeof (float))), (int) cache_look(s).pages_used);
  return 0;
}
C
is $(run)
==== answer
10 5
==== wrong
15 5
==== skeleton
# rows copied, pages in use
