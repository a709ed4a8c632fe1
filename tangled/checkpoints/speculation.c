/* the program -- made from chapters/13-speculation.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "speculation/drafter.h"
#include "speculation/lookup.h"
#include "speculation/house.inc"

/* <A drafter that is always wrong> */
static void guess_wrongly(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n)
{
  const struct house *h = ctx;
  struct error why;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < list[i]->room; k++) {
      size_t at = list[i]->c.text.n + k;
      uint32_t id = at < h->alone.text.n ? h->alone.text.id[at] + 1 : 0;
      if (!ids_push(g->m, &list[i]->guess, id % g->lm->config.vocab_size, &why)) break;
    }
}

/* <Write one tale> */
static bool write_tale(struct house *h, struct speculation *by, size_t tale, struct error *why)
{
  struct generate_context g = { &h->e, h->lm, h->s, &h->m };
  struct generate_options want = { .max_new_tokens = TOKENS, .recall = store_match_prefix,
    .select = sampler_choose, .accept = sampler_accept, .select_ctx = &h->dice };
  const struct ids *p = &h->prompt[tale];
  struct continuation c;
  store_crop(h->s, 0, 0);
  h->dice.seed = tale;
  if (by == NULL) {
    continuation_free(&h->m, &h->alone);
    return generate(&g, p->id, p->n, &want, &h->alone, why);
  }
  if (!speculate(by, &g, p->id, p->n, &want, &c, why)) return false;
  h->same += c.text.n == h->alone.text.n
    && memcmp(c.text.id, h->alone.text.id, c.text.n * sizeof *c.text.id) == 0;
  continuation_free(&h->m, &c);
  return true;
}

/* <Write all tales> */
static bool print_drafters(struct house *h, double temperature, struct error *why)
{
  static struct lookup usual = { 2, 4 };
  struct { const char *name; guess_tokens *guess; void *ctx; } who[] = {
    { "nobody", NULL, NULL }, { "the text", guess_by_lookup, &usual },
    { "the sibling", guess_by_draft, &h->d }, { "a fool", guess_wrongly, h } };
  uint64_t passes[4] = { 0 };
  struct speculation by[4];
  h->dice.s.temperature = temperature;
  for (size_t k = 0; k < 4; k++)
    by[k] = (struct speculation) { .guess = who[k].guess, .ctx = who[k].ctx, .most = AHEAD };
  for (size_t i = 0; i < TALES; i++)
    for (size_t k = 0; k < 4; k++) {
      uint64_t before = h->c.passes;
      if (!write_tale(h, k == 0 ? NULL : &by[k], i, why)) return false;
      passes[k] += h->c.passes - before;
    }
  for (size_t k = 0; k < 4; k++)
    printf("%-12s %6.0f %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", who[k].name,
      temperature, by[k].guessed, by[k].accepted, passes[k]);
  return true;
}

int main(void)
{
  static struct house h;
  struct error why;
  bool ok = house_open(&h, &why);
  if (ok) printf("guesses by     temp  guessed accepted   passes\n");
  ok = ok && print_drafters(&h, 0, &why) && print_drafters(&h, 1, &why);
  if (ok) printf("%zu of %d texts with guesses are those without\n", h.same, 2 * 3 * TALES);
  house_close(&h);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
