/* cached.c P G KEEP -- the loop with a cache, which is not asked again if KEEP is 0, run on a tiny
   random model with P tokens of a prompt and G to be written.  Prints rows in the cache at the end,
   rows computed, pairs; exercises of chapter 4 are judged by it. */
#include "tiny.h"
#include "loop/generate.h"
#include "cache/cache.h"
#include "kernels/kernels.h"

int main(int argc, char **argv)
{
  size_t p = strtoul(argv[1], NULL, 10), g = strtoul(argv[2], NULL, 10);
  bool keep = argc > 3 && argv[3][0] == '1';
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct tiny t;
  struct error why;
  tiny_make(&t, 1);
  struct engine e = { kernels_find(NULL, NULL), NULL, &c };
  struct cache_options o = { .rows = 0 };
  struct generate_context gen = { &e, &t.lm, cache_open(&m, &t.lm.config, 1, &o, &why), &m };
  uint32_t prompt[TINY_CONTEXT];
  for (size_t i = 0; i < p; i++) prompt[i] = (uint32_t) (i % TINY_V);
  struct generate_options want = { .max_new_tokens = g };
  if (keep) want.recall = store_match_prefix;
  struct continuation out;
  if (!generate(&gen, prompt, p, &want, &out, &why)) return 1;
  printf("%d %d %d\n", (int) store_length(gen.s, 0), (int) c.rows, (int) c.qk_pairs);
  return 0;
}
