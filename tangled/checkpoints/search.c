/* the program -- made from chapters/09-search.w; change it there */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "families/loader.h"
#include "tokenizer/tokenizer.h"
#include "search/sharing.h"

/* <What the program works with> */
struct study { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; };

/* <Search on paper> */
struct paper { const char *letters; bool last; size_t lines;
  struct { const char *after; double p[3]; } line[5]; };
static struct paper boxes[2] = {
  { "abc", false, 5, { { "", { 0.5, 0.4, 0.1 } }, { "a", { 0.4, 0.3, 0.3 } },
    { "b", { 0.1, 0.1, 0.8 } }, { "aa", { 0.6, 0.2, 0.2 } },
    { "bc", { 0.5, 0.25, 0.25 } } } },
  { "ab.", true, 3, { { "", { 0.6, 0.1, 0.3 } }, { "a", { 0.2, 0.5, 0.3 } },
    { "b", { 0.15, 0.05, 0.8 } } } } };
static void spell(const struct paper *box, const uint32_t *id, size_t n)
{
  for (size_t t = 0; t < n; t++) putchar(box->letters[id[t]]);
}

static bool paper_score(void *ctx, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  const struct paper *box = ctx;
  (void) why;
  for (size_t i = 0; i < n; i++, logits += 4) {
    char text[8] = "";
    for (size_t k = 1; k < grown[i].n; k++)
      text[k - 1] = box->letters[grown[i].id[k]];
    const char *key = box->last && text[0] != '\0'
      ? text + strlen(text) - 1 : text;
    for (size_t v = 0; v < 4; v++) logits[v] = v == 3 ? -INFINITY : 0;
    for (size_t l = 0; l < box->lines; l++)
      for (size_t v = 0; strcmp(box->line[l].after, key) == 0 && v < 3; v++)
        logits[v] = (float) num_log(box->line[l].p[v]);
  }
  return true;
}

static bool paper_see(void *ctx, const struct search_step *now)
{
  printf("%zu", now->number);
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    const struct search_beam *b = &now->active[c->parent];
    if (c->outcome == OUTCOME_DROPPED) continue;
    printf("   ");
    spell(ctx, b->id + 1, b->n - 1), spell(ctx, &c->token, 1);
    printf(" %.2f", num_exp(c->score));
  }
  printf("\n");
  return true;
}

static bool search_on_paper(struct study *u, struct error *why)
{
  static const struct { const char *name; enum early_stopping early;
    double lambda; } rule[5] = { { "", EARLY_FALSE, 0 },
    { "true", EARLY_TRUE, 1 }, { "false", EARLY_FALSE, 1 },
    { "never", EARLY_NEVER, 1 }, { "false", EARLY_FALSE, 0 } };
  const uint32_t begin = 3, stop = 2;
  printf("two beams on paper\n");
  for (size_t i = 0; i < 5; i++) {
    struct paper *box = &boxes[i > 0];
    struct search_source from = { 4, 0, box, paper_score };
    struct search_settings want = { .num_beams = 2, .num_return = 2,
      .max_length = i == 0 ? 4 : 5, .length_penalty = rule[i].lambda,
      .early = rule[i].early, .eos = &stop, .n_eos = i > 0,
      .see = i == 0 ? paper_see : NULL, .ctx = box };
    struct search_result r;
    if (!search_run(&from, &u->m, u->e.k, &begin, 1, &want, &r, why))
      return false;
    if (i == 0) printf("with an end token:" " stopping, lambda\n");
    else {
      printf("%-5s  %.0f  %zu" " steps", rule[i].name, rule[i].lambda, r.steps);
      for (size_t k = 0; k < r.n; k++) {
        printf("   ");
        spell(box, r.text[k].id + 1, r.text[k].n - 1);
        printf(" %.3f", r.text[k].score);
      }
      printf("\n");
    }
    search_free(&r);
  }
  return true;
}

/* <Search with the model> */
static bool search_behind(struct study *u, uint32_t beams,
  const uint32_t *prompt, size_t n, size_t max, search_see *see,
  struct search_result *r, struct error *why)
{
  struct search_model seats;
  struct search_source from;
  struct search_settings want = { .num_beams = beams, .num_return = 1,
    .max_length = n + max, .length_penalty = 1, .see = see, .ctx = u };
  struct store *s = cache_open(&u->m, &u->lm->config, beams,
    &(struct cache_options) { .rows = 0 }, why);
  if (s == NULL) return false;
  struct generate_context g = { &u->e, u->lm, s, &u->m };
  bool ok = search_model_open(&seats, &g, beams, 0, &from, why);
  if (ok) {
    ok = search_run(&from, &u->m, u->e.k, prompt, n, &want, r, why);
    search_model_close(&seats);
  }
  store_close(s);
  return ok;
}

static void write_out(const struct study *u, const uint32_t *id, size_t n)
{
  for (size_t i = 0, length; i < n; i++) {
    const unsigned char *byte = tokenizer_text(u->t, id[i], &length);
    for (size_t k = 0; k < length; k++)
      putchar(byte[k] == '\n' ? '/' : byte[k]);
  }
}

static bool cat_see(void *ctx, const struct search_step *now)
{
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    const struct search_beam *b = &now->active[c->parent];
    if (c->outcome == OUTCOME_DROPPED) continue;
    printf("%zu.%zu %7.3f %7.3f " " ", now->number, c->rank, c->score,
      c->logprob);
    write_out(ctx, b->id + 3, b->n - 3), write_out(ctx, &c->token, 1);
    printf("\n");
  }
  return true;
}

static bool search_cat(struct study *u, struct error *why)
{
  struct ids cat = { .n = 0 };
  struct search_result four = { .n = 0 }, one = { .n = 0 };
  printf("four beams behind" " `The cat sat'\n");
  bool ok = tokenizer_encode(u->t, &u->m, "The cat sat", 11, false, false,
      &cat, why)
    && search_behind(u, 4, cat.id, cat.n, 6, cat_see, &four, why)
    && search_behind(u, 1, cat.id, cat.n, 6, NULL, &one, why);
  if (ok) {
    printf("greedy: %.3f ", one.text[0].sum);
    write_out(u, one.text[0].id, one.text[0].n);
    printf("\nbeams:  %.3f ", four.text[0].sum);
    write_out(u, four.text[0].id, four.text[0].n);
    printf("\n");
  }
  if (four.n > 0) search_free(&four);
  if (one.n > 0) search_free(&one);
  ids_free(&u->m, &cat);
  return ok;
}

/* <Find where the beams get lost> */
enum { PLACE = 240, SPAN = 48, WIDTH = 56 };
static void print_wrapped(const struct study *u, const char *title,
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

static bool search_tale(struct study *u, struct error *why)
{
  struct mapping map;
  struct ids tales = { .n = 0 };
  struct search_result r;
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  bool ok = tokenizer_encode(u->t, &u->m, (const char *) map.bytes, map.size,
      false, true, &tales, why)
    && search_behind(u, 4, tales.id + PLACE - SPAN, SPAN, SPAN, NULL, &r, why);
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
  static struct study u;
  struct error why;
  u.e = (struct engine) { .k = kernels_find(NULL, &why), .c = &u.c };
  bool ok = u.e.k != NULL
    && (u.lm = model_open(&u.m, "models/pocket", &why)) != NULL
    && (u.t = tokenizer_open(&u.m, "models/pocket", &why)) != NULL
    && search_on_paper(&u, &why) && search_cat(&u, &why)
    && search_tale(&u, &why);
  tokenizer_close(&u.m, u.t);
  model_close(&u.m, u.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
