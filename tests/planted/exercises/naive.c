/* naive.c P G [WINDOW [CONTEXT]] -- the loop that keeps nothing, P tokens of a prompt and G to be
   written, run on a tiny random model whose rows see WINDOW positions (0: all).  Prints passes,
   rows computed, rows needed, pairs, tokens written; the exercises of chapter 3 are judged by it. */
#include "tiny.h"
#include "loop/generate.h"
#include "kernels/kernels.h"

int main(int argc, char **argv)
{
  size_t p = strtoul(argv[1], NULL, 10), g = strtoul(argv[2], NULL, 10);
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct tiny t;
  struct error why;
  tiny_make(&t, 1);
  if (argc > 3) t.lm.config.window = (uint32_t) atoi(argv[3]);
  if (argc > 4) t.lm.config.n_positions = (uint32_t) atoi(argv[4]);
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct generate_context gen = { &e, &t.lm, array_store_open(&m, &t.lm.config, &why), &m };
  uint32_t prompt[TINY_CONTEXT];
  for (size_t i = 0; i < p; i++) prompt[i] = (uint32_t) (i % TINY_V);
  struct generate_options want = { .max_new_tokens = g };
  struct continuation out;
  if (!generate(&gen, prompt, p, &want, &out, &why)) return 1;
  printf("%d %d %d %d %d\n", (int) c.passes, (int) c.kv_rows_computed,
    (int) (c.kv_rows_computed - c.kv_rows_recomputed), (int) c.qk_pairs, (int) (out.text.n - p));
  return 0;
}
