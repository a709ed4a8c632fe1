==== check
# passes, rows: counted by running the loop on a tiny random model
engine <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
#include "loop/generate.h"
#include "cache/cache.h"
int main(void)
{
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why;
  tiny_make(&t, 1);
  t.lm.config.n_positions = 2000;
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct generate_context gen = {&e, &t.lm, cache_open(&m, &t.lm.config, 1, &(struct cache_options) {.rows = 0}, &why), &m};
  static uint32_t prompt[1200]; struct continuation out;
  struct generate_options want = {.max_new_tokens = 40, .recall = store_match_prefix, .chunk = 96};
  if (!generate(&gen, prompt, 1200, &want, &out, &why)) return 1;
  printf("%d %d\n", (int) c.passes, (int) c.rows);
  return 0;
}
C
is $(run)
==== answer
52 1239
==== wrong
53 1240
==== skeleton
# passes, rows
