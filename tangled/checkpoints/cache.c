/* the program -- made from chapters/04-cache.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "loop/generate.h"
#include "cache/cache.h"

/* <A model and the sentence that it writes> */
struct writer { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct ids sentence; };
static bool writer_open(struct writer *w, struct error *why)
{
  static const char text[] = "The cat sat on the mat.", pocket[] = "models/pocket";
  w->e = (struct engine) { .k = kernels_find(NULL, why), .c = &w->c };
  return w->e.k != NULL && (w->lm = model_open(&w->m, pocket, why)) != NULL
    && (w->t = tokenizer_open(&w->m, pocket, why)) != NULL
    && tokenizer_encode(w->t, &w->m, text, strlen(text), false, false,
      &w->sentence, why);
}

/* <Write the text twice, and compare> */
enum { GIVEN = 3, STEPS = 4 };

/* logits, rows and pairs are of the first run; logits: [STEPS][vocab] */
struct trial { const struct store *s; float *logits; size_t vocab, differ;
  bool again; unsigned rows[STEPS], pairs[STEPS]; };
static bool note_step(void *ctx, const struct step *now)
{
  struct trial *t = ctx;
  size_t i = now->number - 1;
  float *z = t->logits + i * t->vocab;
  unsigned rows = (unsigned) (now->after.rows - now->before.rows);
  unsigned pairs = (unsigned) (now->after.qk_pairs - now->before.qk_pairs);
  if (!t->again) {
    t->rows[i] = rows, t->pairs[i] = pairs;
    memcpy(z, now->logits, t->vocab * sizeof *z);
    return true;
  }
  printf("%3zu %7u %6u  %9u %6u %7zu\n", i + 1, t->rows[i], t->pairs[i],
    rows, pairs, store_length(t->s, 0));
  for (size_t k = 0; k < t->vocab; k++)
    t->differ += memcmp(z + k, now->logits + k, sizeof *z) != 0;
  return true;
}

static bool write_text(struct writer *w, step_recall *recall, struct trial *t,
  struct error *why)
{
  struct store *s = cache_open(&w->m, &w->lm->config, 1,
    &(struct cache_options) { .rows = 0 }, why);
  struct generate_context g = { &w->e, w->lm, s, &w->m };
  struct generate_options want = { .max_new_tokens = STEPS, .on_step = note_step,
    .ctx = t, .recall = recall };
  struct continuation text = { .n_prompt = 0 };
  t->s = s, t->again = recall != NULL;
  bool ok = s != NULL && generate(&g, w->sentence.id, GIVEN, &want, &text, why);
  continuation_free(&w->m, &text);
  store_close(s);
  return ok;
}

static bool print_twice(struct writer *w, struct error *why)
{
  size_t n = w->lm->config.vocab_size;
  struct trial t = { .vocab = n, .logits = memory_alloc(&w->m,
    MEMORY_ACTIVATIONS, STEPS * n, sizeof (float), why) };
  printf("       forgetting        remembering\n");
  printf("step   rows  pairs " "      rows  pairs  stored\n");
  bool ok = t.logits != NULL && write_text(w, NULL, &t, why);
  unsigned rows = (unsigned) w->c.rows, pairs = (unsigned) w->c.qk_pairs;
  ok = ok && write_text(w, store_match_prefix, &t, why);
  printf("all %7u %6u  %9u %6u\n", rows, pairs, (unsigned) w->c.rows - rows,
    (unsigned) w->c.qk_pairs - pairs);
  printf("%zu of %zu logits differ\n", t.differ, STEPS * n);
  memory_free(&w->m, t.logits);
  return ok;
}

/* <Show what a step adds to the cache> */
static bool read_on(struct writer *w, struct store *s, uint32_t sequence,
  size_t n, struct error *why)
{
  struct row row[32]; struct pass *p;
  size_t at = store_length(s, sequence);
  for (size_t i = 0; i < n; i++)
    row[i] = (struct row) { sequence, (uint32_t) (at + i),
      w->sentence.id[(at + i) % w->sentence.n] };
  if (!model_forward(&w->e, w->lm, s, row, n, &p, why)) return false;
  pass_close(p);
  return true;
}

static bool print_step(struct writer *w, struct store *s, size_t n,
  struct error *why)
{
  const struct model_config *c = &w->lm->config;
  uint64_t before = w->c.rows;
  if (!read_on(w, s, 0, n, why)) return false;
  printf("keys and values: [%u][1][%u][%zu][%u],", c->n_layers,
    c->n_kv_heads, store_length(s, 0), c->head_dim);
  printf(" %" PRIu64 " rows in\n", w->c.rows - before);
  return true;
}

/* <Show what a fork costs> */
static bool print_fork(struct writer *w, struct error *why)
{
  struct cache_options small = { .rows = 48, .page_rows = 16 };
  struct store *s = cache_open(&w->m, &w->lm->config, 2, &small, why);
  bool ok = s != NULL && print_step(w, s, 10, why) && print_step(w, s, 1, why);
  if (ok) store_crop(s, 0, 10);
  ok = ok && store_fork(s, 0, 1, why);
  if (ok) printf("forked:   %zu page, " "%zu bytes copied\n",
    cache_look(s).pages_used, cache_look(s).bytes_copied);
  for (uint32_t q = 0; ok && q < 2; q++) {
    ok = read_on(w, s, q, 1, why);
    if (ok) printf("%u goes on: %zu pages, " "%zu bytes copied\n", q,
      cache_look(s).pages_used, cache_look(s).bytes_copied);
  }
  if (ok && !read_on(w, s, 0, 25, why)) {
    int half = (int) strcspn(why->text, ";") + 1;
    printf("%.*s\n %s\n", half, why->text, why->text + half);
  }
  store_close(s);
  return ok;
}

int main(void)
{
  static struct writer w;
  struct error why;
  bool ok = writer_open(&w, &why) && print_twice(&w, &why)
    && print_fork(&w, &why);
  ids_free(&w.m, &w.sentence), tokenizer_close(&w.m, w.t);
  model_close(&w.m, w.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
