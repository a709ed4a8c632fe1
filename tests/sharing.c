/* sharing.c -- one prompt, two continuations, with the installed library: load, prefill, decode,
   fork, crop. cc sharing.c $(pkg-config --cflags --libs incipit) -o sharing; ./sharing DIRECTORY */
#include <stdio.h>
#include <stdlib.h>
#include "model/forward.h"
#include "cache/cache.h"
#include "families/loader.h"
struct run {
  struct engine e;
  struct model *lm;
  struct store *s;
  float *logits;
  struct error why;
};
static uint32_t next(struct run *r, uint32_t sequence, const uint32_t *id,
  uint32_t n) /* reads n tokens; the likeliest behind them */
{
  struct row row[8];
  struct pass *p = NULL;
  uint32_t best = 0, at = (uint32_t) store_length(r->s, sequence);
  for (uint32_t i = 0; i < n; i++) row[i] = (struct row){ sequence, at + i, id[i] };
  if (!model_forward(&r->e, r->lm, r->s, row, n, &p, &r->why)
    || !model_logits(&r->e, r->lm, p, &(size_t){ n - 1 }, 1, r->logits, &r->why))
    exit(puts(r->why.text));
  for (uint32_t i = 1; i < r->lm->config.vocab_size; i++)
    if (r->logits[i] > r->logits[best]) best = i;
  return pass_close(p), best;
}
int main(int argc, char **argv)
{
  struct memory m = { .fail_at = 0 };
  struct counters c = { .passes = 0 };
  struct run r = { .e = { kernels_find(NULL, NULL), NULL, &c },
    .lm = argc > 1 ? model_open(&m, argv[1], &r.why) : NULL };
  if (r.lm == NULL
    || (r.s = cache_open(&m, &r.lm->config, 2, &(struct cache_options){ .rows = 0 }, &r.why))
      == NULL)
    return puts(r.why.text);
  r.logits = malloc(r.lm->config.vocab_size * sizeof *r.logits);
  uint32_t id = next(&r, 0, (uint32_t[]){ 262, 270, 263 }, 3), other;
  for (int i = 0; i < 3; i++) id = next(&r, 0, &id, 1);
  if (!store_fork(r.s, 0, 1, &r.why)) return puts(r.why.text);
  store_crop(r.s, 1, 2),
    other = next(&r, 1, (uint32_t[]){ 264 }, 1); /* back to two rows, and on with another token */
  printf("%zu rows, then %u; %zu rows, then %u; %u computed\n", store_length(r.s, 0), id,
    store_length(r.s, 1), other, (unsigned) c.rows);
  return store_close(r.s), model_close(&m, r.lm), free(r.logits), 0;
}
