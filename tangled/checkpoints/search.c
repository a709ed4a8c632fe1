/* the program -- made from chapters/09-search.w; change it there */

#include <stdio.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "tokenizer/tokenizer.h"
#include "search/sharing.h"
#include "sampling/pocket.inc"

/* <Print the beams that were kept> */
enum { GIVEN = 3, WRITTEN = 6 };
static void print_ids(const struct tokenizer *t, const uint32_t *id, size_t n)
{
  for (size_t i = 0, length; i < n; i++) {
    const unsigned char *byte = tokenizer_text(t, id[i], &length);
    fwrite(byte, 1, length, stdout);
  }
}

static bool print_step(void *ctx, const struct search_step *now)
{
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    const struct search_beam *b = &now->active[c->parent];
    if (c->outcome == OUTCOME_DROPPED) continue;
    printf("%zu.%zu %7.3f %7.3f  ", now->number, c->rank,
      c->score, c->logprob);
    print_ids(ctx, b->id + GIVEN, b->n - GIVEN);
    print_ids(ctx, &c->token, 1);
    printf("\n");
  }
  return true;
}

/* <Search after three words> */
static bool search_cat(struct pocket *p, const struct ids *cat, size_t beams,
  struct error *why)
{
  /* <What is wanted of the search> */
  const struct search_settings want = { .num_beams = beams,
    .num_return = 1, .max_length = GIVEN + WRITTEN, .length_penalty = 1,
    .see = beams > 1 ? print_step : NULL, .ctx = p->t };
  struct search_model model;
  struct search_source from;
  struct search_result r = { .n = 0 };
  struct store *s = cache_open(&p->m, &p->lm->config, (uint32_t) beams,
    &(struct cache_options) { .page_rows = 0 }, why);
  if (s == NULL) return false;
  struct generate_context g = { &p->e, p->lm, s, &p->m };
  bool ok = search_model_open(&model, &g, beams, 0, &from, why);
  if (ok) {
    ok = search_run(&from, &p->m, p->e.k, cat->id, cat->n, &want, &r, why);
    search_model_close(&model);
  }
  store_close(s);
  if (ok) {
    printf("%s%.3f ", beams > 1 ? "beams:  " : "greedy: ", r.text[0].sum);
    print_ids(p->t, r.text[0].id, r.text[0].n);
    printf("\n");
  }
  search_free(&r);
  return ok;
}

/* <Open the model, and search twice> */
int main(void)
{
  static struct pocket p;
  struct error why;
  struct ids cat = { .n = 0 };
  bool ok = pocket_open(&p, &why)
    && tokenizer_encode(p.t, &p.m, "The cat sat", 11, false, false, &cat, &why)
    && search_cat(&p, &cat, 4, &why) && search_cat(&p, &cat, 1, &why);
  ids_free(&p.m, &cat);
  pocket_close(&p);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
