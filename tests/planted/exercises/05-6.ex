==== check
# windows, tokens scored, rows: counted by reading such a text with a tiny random model
engine <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
#include "phases/phases.h"
int main(void)
{
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why; struct perplexity p;
  tiny_make(&t, 1);
  t.lm.config.n_positions = 256;
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct generate_context gen = {&e, &t.lm, cache_open(&m, &t.lm.config, 1, &(struct cache_options) {.rows = 0}, &why), &m};
  static uint32_t id[1500];
  if (!perplexity_of(&gen, id, 1500, 256, 64, &p, &why)) return 1;
  printf("%d %d %d\n", (int) p.windows, (int) p.tokens, (int) c.rows);
  return 0;
}
C
is $(run)
==== answer
21 1499 5340
==== wrong
24 1500 6000
==== skeleton
# windows, tokens scored, rows
