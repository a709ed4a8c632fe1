/* open.c -- a drafter with a model of its own opens and closes.

   Its cache takes memory as rows come, so a drafter that is never asked costs none. */

#include "cache/cache.h"
#include "speculation/drafter.h"

enum { DRAFT_PASS_ROWS = 256 };

/* Weights that were prepared for the large model are not those of the small one. */
bool drafter_open(struct drafter *d, const struct engine *e, const struct model *lm,
  struct memory *m, uint32_t n_sequences, struct error *why)
{
  struct cache_options usual = { .rows = 0 };
  *d = (struct drafter) { .e = *e, .lm = lm, .m = m, .pass_rows = DRAFT_PASS_ROWS };
  d->e.c = &d->c, d->e.prepared = NULL;
  d->s = cache_open(m, &lm->config, n_sequences, &usual, why);
  return d->s != NULL;
}

void drafter_close(struct drafter *d)
{
  store_close(d->s);
  d->s = NULL;
}
