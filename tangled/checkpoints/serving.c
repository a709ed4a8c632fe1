/* the program -- made from chapters/12-serving.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "serving/scheduler.h"

/* <Eight requests> */
enum { REQUESTS = 8, SLOTS = 4 };
static const size_t wanted[REQUESTS] = { 10, 100, 20, 30, 50, 15, 80, 40 };
struct house { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct ids prompt[REQUESTS];
  struct continuation alone[REQUESTS]; };
static bool house_open(struct house *h, struct error *why)
{
  static const char *const begins[REQUESTS] = { "The cat sat", "The owl", "A", "The harvest",
    "In the village", "The dog", "Once", "The king" };
  static const char pocket[] = "models/pocket";
  bool ok = true;
  h->e = (struct engine) { .k = kernels_find(NULL, why), .c = &h->c };
  if (h->e.k == NULL || (h->lm = model_open(&h->m, pocket, why)) == NULL
      || (h->t = tokenizer_open(&h->m, pocket, why)) == NULL) return false;
  for (size_t i = 0; ok && i < REQUESTS; i++)
    ok = tokenizer_encode(h->t, &h->m, begins[i], strlen(begins[i]), false, false,
      &h->prompt[i], why);
  return ok;
}

static bool write_alone(struct house *h, struct error *why)
{
  struct cache_options usual = { .rows = 0 };
  struct store *s = cache_open(&h->m, &h->lm->config, 1, &usual, why);
  bool ok = s != NULL;
  for (size_t i = 0; ok && i < REQUESTS; i++) {
    struct generate_context g = { &h->e, h->lm, s, &h->m };
    struct generate_options want = { .max_new_tokens = wanted[i],
      .recall = store_match_prefix };
    ok = generate(&g, h->prompt[i].id, h->prompt[i].n, &want, &h->alone[i], why);
  }
  store_close(s);
  return ok;
}

/* <Serve them together> */
static bool serve(struct house *h, const struct scheduler_options *w, size_t rows,
  struct scheduler_counts *counts, size_t *same, struct error *why)
{
  struct cache_options size = { .rows = rows, .page_rows = 16 };
  struct request r[REQUESTS] = { { .state = REQUEST_ENDED } };
  struct scheduler s;
  struct store *cache = cache_open(&h->m, &h->lm->config, SLOTS, &size, why);
  struct generate_context g = { &h->e, h->lm, cache, &h->m };
  bool open = cache != NULL && scheduler_open(&s, &g, w, why), ok = open;
  for (size_t i = 0; ok && i < REQUESTS; i++) {
    struct generate_options want = { .max_new_tokens = wanted[i] };
    ok = scheduler_submit(&s, &r[i], h->prompt[i].id, h->prompt[i].n, &want, why);
  }
  while (ok && !scheduler_idle(&s)) ok = scheduler_step(&s, why);
  for (size_t i = 0; open && i < REQUESTS; i++) {
    const struct ids *a = &r[i].q.c.text, *b = &h->alone[i].text;
    *same += ok && a->n == b->n && memcmp(a->id, b->id, a->n * sizeof *a->id) == 0;
    request_close(&s, &r[i]);
  }
  if (open) *counts = s.counts, scheduler_close(&s);
  store_close(cache);
  return ok;
}

static bool print_ways(struct house *h, struct error *why)
{
  static const struct { const char *name; struct scheduler_options w; size_t rows; } way[] = {
    { "in batches", { .in_batches = true }, 0 }, { "continuously", { .share = false }, 0 },
    { "in 160 rows", { .share = true }, 160 } };
  size_t same = 0;
  printf("              passes  slots used  rows  preempted\n");
  for (size_t i = 0; i < 3; i++) {
    struct scheduler_counts c;
    if (!serve(h, &way[i].w, way[i].rows, &c, &same, why)) return false;
    printf("%-13s %6" PRIu64 "  %8.1f %%  %4" PRIu64 "  %9" PRIu64 "\n", way[i].name,
      c.passes, 100.0 * (double) c.slots_used / (double) (SLOTS * c.passes), c.rows,
      c.preempted);
  }
  printf("%zu of %d texts are those of a request alone\n", same, 3 * REQUESTS);
  return true;
}

/* <Serve a class> */
static bool print_class(struct house *h, struct error *why)
{
  struct cache_options size = { .page_rows = 16, .rows = 1024 };
  struct scheduler s;
  struct store *cache = cache_open(&h->m, &h->lm->config, SLOTS, &size, why);
  struct generate_context g = { &h->e, h->lm, cache, &h->m };
  struct scheduler_options w = { .share = true };
  bool ok = cache != NULL && scheduler_open(&s, &g, &w, why);
  for (uint32_t i = 0; ok && i < 100; i++) {
    struct request r;
    struct generate_options want = { .max_new_tokens = 1 };
    uint32_t text[65];
    memcpy(text, h->alone[1].text.id, 64 * sizeof *text);
    text[64] = i;
    ok = scheduler_submit(&s, &r, text, 65, &want, why);
    while (ok && !scheduler_idle(&s)) ok = scheduler_step(&s, why);
    request_close(&s, &r);
  }
  if (ok) printf("100 prompts of 65 tokens: %" PRIu64 " rows computed, %" PRIu64
    " found\n", s.counts.rows, s.counts.found);
  if (cache != NULL) scheduler_close(&s);
  store_close(cache);
  return ok;
}

int main(void)
{
  static struct house h;
  struct error why;
  bool ok = house_open(&h, &why) && write_alone(&h, &why) && print_ways(&h, &why)
    && print_class(&h, &why);
  for (size_t i = 0; i < REQUESTS; i++)
    ids_free(&h.m, &h.prompt[i]), continuation_free(&h.m, &h.alone[i]);
  tokenizer_close(&h.m, h.t), model_close(&h.m, h.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
