/* logits.c MODEL [FACTOR] -- the bits of all logits of a few ids; with a FACTOR the embedding is multiplied by it, from outside.
   The last line is the number of weights, by the formula and by the files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "accounts/accounts.h"
#include "cache/cache.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "model/forward.h"

static void multiply(void *ctx, enum tap_point at, uint32_t layer, float *x, size_t rows, size_t width)
{
  (void) layer;
  for (size_t i = 0; at == TAP_EMBEDDING && i < rows * width; i++) x[i] *= *(float *) ctx;
}

int main(int argc, char **argv)
{
  enum { N = 6 };
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct error why = { "" };
  struct row rows[N];
  struct pass *p = NULL;
  float factor = argc > 2 ? strtof(argv[2], NULL) : 1;
  struct watcher watch = { multiply, &factor, false };
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct model *lm = model_open(&m, argv[1], &why);
  struct store *s = lm == NULL ? NULL : cache_open(&m, &lm->config, 1, &(struct cache_options) { .rows = 0 }, &why);
  for (uint32_t i = 0; i < N; i++) rows[i] = (struct row) { 0, i, 3 * i + 1 };
  if (s == NULL || !model_forward_watched(&e, lm, s, rows, N, argc > 2 ? &watch : NULL, &p, &why)) {
    puts(why.text);
    return 1;
  }
  float *y = malloc(lm->config.vocab_size * sizeof *y);
  for (size_t i = 0; i < N && model_logits(&e, lm, p, &i, 1, y, &why); i++)
    for (uint32_t v = 0; v < lm->config.vocab_size; v++) printf("%a\n", (double) y[v]);
  printf("weights %" PRIu64 " %" PRIu64 "\n", footprint_parameters(&lm->config), model_parameters(lm));
  free(y);
  return 0;
}
