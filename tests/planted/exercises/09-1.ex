==== check
# passes and rows of a search, counted by running it on a tiny random model
engine <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
#include "search/sharing.h"
/* p g beams: passes, rows */
int main(int argc, char **argv)
{
  size_t p = strtoul(argv[1], NULL, 10), g = strtoul(argv[2], NULL, 10), b = strtoul(argv[3], NULL, 10); (void) argc;
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why;
  tiny_make(&t, 1);
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct generate_context gen = {&e, &t.lm, cache_open(&m, &t.lm.config, (uint32_t) b, &(struct cache_options) {.rows = 0}, &why), &m};
  uint32_t prompt[300]; for (size_t i = 0; i < p; i++) prompt[i] = (uint32_t) (i % TINY_V);
  struct search_model model; struct search_source from; struct search_result r;
  struct search_settings want = {.num_beams = b, .num_return = 1, .max_length = p + g};
  if (!search_model_open(&model, &gen, b, 0, &from, &why) || !search_run(&from, &m, e.k, prompt, p, &want, &r, &why)) return 1;
  printf("%d %d\n", (int) c.passes, (int) c.rows);
  return 0;
}
C
is $(run 20 30 5)
==== answer
30 165
==== wrong
30 170
==== skeleton
# passes, rows
