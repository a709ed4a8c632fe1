/* the program -- made from chapters/09-search.w; change it there */

#include <stdio.h>
#include "kernels/kernels.h"
#include "functions/numbers.h"
#include "families/loader.h"
#include "tokenizer/tokenizer.h"
#include "search/sources.h"

/* <Write out a candidate> */
struct searcher { struct memory m; struct counters c; struct engine e;
  struct generate_context g; struct tokenizer *t; const char *letters; };
static void write_out(const struct searcher *u, const uint32_t *id, size_t n)
{
  for (size_t i = 0; u->letters != NULL && i < n; i++)
    putchar(u->letters[id[i]]);
  for (size_t i = 0, length; u->letters == NULL && i < n; i++) {
    const unsigned char *byte = tokenizer_text(u->t, id[i], &length);
    for (size_t k = 0; k < length; k++)
      putchar(byte[k] == '\n' ? '/' : byte[k]);
  }
}

static bool print_step(void *ctx, const struct search_step *now)
{
  const struct searcher *u = ctx;
  bool paper = u->letters != NULL;
  size_t prompt = paper ? 1 : 3;
  if (paper) printf("%zu", now->number);
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    const struct search_beam *b = &now->active[c->parent];
    if (c->outcome == OUTCOME_DROPPED) continue;
    if (paper) printf("   ");
    else printf("%zu.%zu %7.3f %7.3f " " ", now->number, c->rank,
      c->score, c->logprob);
    write_out(u, b->id + prompt, b->n - prompt);
    write_out(u, &c->token, 1);
    if (paper) printf(" %.2f", num_exp(c->score));
    else printf("\n");
  }
  if (paper) printf("\n");
  return true;
}

/* <Compare the rules on paper> */
static const struct { const char *name; enum early_stopping early;
  double lambda; } rule[5] = { { "", EARLY_FALSE, 0 },
  { "true", EARLY_TRUE, 1 }, { "false", EARLY_FALSE, 1 },
  { "never", EARLY_NEVER, 1 }, { "false", EARLY_FALSE, 0 } };
static void print_pool(const struct searcher *u, const struct search_result *r,
  size_t i)
{
  printf("%-5s  %.0f  %zu" " steps", rule[i].name, rule[i].lambda, r->steps);
  for (size_t k = 0; k < r->n; k++) {
    printf("   ");
    write_out(u, r->text[k].id + 1, r->text[k].n - 1);
    printf(" %.3f", r->text[k].score);
  }
  printf("\n");
}

static bool search_on_paper(struct searcher *u, struct error *why)
{
  const uint32_t begin = 3, stop = 2;
  printf("two beams on paper\n");
  for (size_t i = 0; i < 5; i++) {
    struct search_source from = paper_source(i > 0);
    struct search_settings want = { .num_beams = 2, .num_return = 2,
      .max_length = i == 0 ? 4 : 5, .length_penalty = rule[i].lambda,
      .early = rule[i].early, .eos = &stop, .n_eos = i > 0,
      .see = i == 0 ? print_step : NULL, .ctx = u };
    struct search_result r;
    u->letters = paper_boxes[i > 0].letters;
    if (!search_run(&from, &u->m, u->e.k, &begin, 1, &want, &r, why))
      return false;
    if (i == 0) printf("with an end token:" " stopping, lambda\n");
    else print_pool(u, &r, i);
    search_free(&r);
  }
  u->letters = NULL;
  return true;
}

/* <Search after three words> */
static bool search_cat(struct searcher *u, struct error *why)
{
  static const char *const name[2] = { "greedy: ", "beams:  " };
  struct ids cat = { .n = 0 };
  struct search_result r[2] = { { .n = 0 }, { .n = 0 } };
  printf("four beams behind" " `The cat sat'\n");
  bool ok = tokenizer_encode(u->t, &u->m, "The cat sat", 11, false, false,
    &cat, why);
  for (size_t i = 2; ok && i-- > 0; ) {
    struct search_settings want = { .num_beams = i == 0 ? 1 : 4,
      .num_return = 1, .max_length = cat.n + 6, .length_penalty = 1,
      .see = i == 0 ? NULL : print_step, .ctx = u };
    ok = search_with_cache(&u->g, 0, cat.id, cat.n, &want, &r[i], NULL, why);
  }
  for (size_t i = 0; i < 2; i++) {
    if (ok) {
      printf("%s%.3f ", name[i], r[i].text[0].sum);
      write_out(u, r[i].text[0].id, r[i].text[0].n);
      printf("\n");
    }
    search_free(&r[i]);
  }
  ids_free(&u->m, &cat);
  return ok;
}

/* <Find where the beams get lost> */
enum { PLACE = 240, SPAN = 48, WIDTH = 56 };
static void print_wrapped(const struct searcher *u, const char *title,
  const uint32_t *id, size_t n)
{
  printf("%s:", title);
  for (size_t i = 0, column = WIDTH, length; i < n; i++, column += length) {
    tokenizer_text(u->t, id[i], &length);
    if (column + length > WIDTH) printf("\n   "), column = 3;
    write_out(u, &id[i], 1);
  }
  printf("\n");
}

static bool search_tale(struct searcher *u, struct error *why)
{
  struct mapping map;
  struct ids tales = { .n = 0 };
  struct search_result r;
  const struct search_settings want = { .num_beams = 4, .num_return = 1,
    .max_length = 2 * SPAN, .length_penalty = 1 };
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  bool ok = tokenizer_encode(u->t, &u->m, (const char *) map.bytes, map.size,
      false, true, &tales, why)
    && search_with_cache(&u->g, 0, tales.id + PLACE - SPAN, SPAN, &want, &r,
      NULL, why);
  if (ok) {
    print_wrapped(u, "behind", tales.id + PLACE - 12, 12);
    print_wrapped(u, "the tale", tales.id + PLACE, SPAN);
    print_wrapped(u, "four beams", r.text[0].id + SPAN, SPAN);
    search_free(&r);
  }
  ids_free(&u->m, &tales);
  file_unmap(&map);
  return ok;
}

/* <Open everything, search, and close> */
int main(void)
{
  static struct searcher u;
  struct error why;
  struct model *lm = NULL;
  u.e = (struct engine) { .k = kernels_find(NULL, &why), .c = &u.c };
  bool ok = u.e.k != NULL
    && (lm = model_open(&u.m, "models/pocket", &why)) != NULL
    && (u.t = tokenizer_open(&u.m, "models/pocket", &why)) != NULL;
  u.g = (struct generate_context) { &u.e, lm, NULL, &u.m };
  ok = ok && search_on_paper(&u, &why) && search_cat(&u, &why)
    && search_tale(&u, &why);
  tokenizer_close(&u.m, u.t);
  model_close(&u.m, lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
