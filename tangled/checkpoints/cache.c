/* the program -- made from chapters/04-cache.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "model/forward.h"
#include "cache/cache.h"

/* <A model and the sentence that it reads> */
struct writer { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct ids sentence;
  float *logits; };
static bool writer_open(struct writer *w, struct error *why)
{
  static const char text[] = "The cat sat on the mat.", pocket[] = "models/pocket";
  w->e = (struct engine) { .k = kernels_find(NULL, why), .c = &w->c };
  if (w->e.k == NULL || (w->lm = model_open(&w->m, pocket, why)) == NULL
      || (w->t = tokenizer_open(&w->m, pocket, why)) == NULL) return false;
  w->logits = memory_alloc(&w->m, MEMORY_ACTIVATIONS,
    2 * w->lm->config.vocab_size, sizeof (float), why);
  return w->logits != NULL && tokenizer_encode(w->t, &w->m, text,
    strlen(text), false, false, &w->sentence, why);
}

/* <Read more tokens of the sentence> */
static bool read_on(struct writer *w, struct store *s, uint32_t sequence,
  size_t n, float *logits, struct error *why)
{
  struct row row[32]; struct pass *p;
  size_t at = store_length(s, sequence), last = n - 1;
  for (size_t i = 0; i < n; i++)
    row[i] = (struct row) { sequence, (uint32_t) (at + i),
      w->sentence.id[(at + i) % w->sentence.n] };
  if (!model_forward(&w->e, w->lm, s, row, n, &p, why)) return false;
  bool ok = logits == NULL
    || model_logits(&w->e, w->lm, p, &last, 1, logits, why);
  pass_close(p);
  return ok;
}

/* <Take the steps of both loops, and compare> */
enum { GIVEN = 3, STEPS = 4 };
static bool take_steps(struct writer *w, struct store *const *s,
  struct counters *c, size_t *differ, struct error *why)
{
  size_t vocab = w->lm->config.vocab_size;
  float *z = w->logits;
  for (size_t n = GIVEN; n < GIVEN + STEPS; n++) {
    store_crop(s[0], 0, 0);
    store_match_prefix(s[1], 0, w->sentence.id, n - 1);
    printf("%4zu", n - GIVEN + 1);
    for (size_t k = 0; k < 2; k++) {
      struct counters before = c[k];
      w->e.c = &c[k];
      if (!read_on(w, s[k], 0, n - store_length(s[k], 0), z + k * vocab, why))
        return false;
      printf("%10" PRIu64 "%7" PRIu64, c[k].rows - before.rows,
        c[k].qk_pairs - before.qk_pairs);
    }
    printf("%8zu\n", store_length(s[1], 0));
    for (size_t v = 0; v < vocab; v++)
      *differ += memcmp(z + v, z + vocab + v, sizeof *z) != 0;
  }
  return true;
}

static bool print_twice(struct writer *w, struct error *why)
{
  struct counters c[2] = { { .rows = 0 } };
  struct cache_options usual = { .rows = 0 };
  struct store *s[2];
  size_t differ = 0;
  for (size_t k = 0; k < 2; k++)
    s[k] = cache_open(&w->m, &w->lm->config, 1, &usual, why);
  printf("            forgetting      remembering\n");
  printf("step      rows  pairs      rows  pairs  stored\n");
  bool ok = s[0] != NULL && s[1] != NULL && take_steps(w, s, c, &differ, why);
  if (ok) printf(" all%10" PRIu64 "%7" PRIu64 "%10" PRIu64 "%7" PRIu64
    "\n%zu of %u logits differ\n", c[0].rows, c[0].qk_pairs, c[1].rows,
    c[1].qk_pairs, differ, STEPS * w->lm->config.vocab_size);
  store_close(s[0]), store_close(s[1]);
  w->e.c = &w->c;
  return ok;
}

/* <Show what a fork costs> */
static void print_pages(const struct store *s, const char *when)
{
  struct cache_state now = cache_look(s);
  printf("%-10s pages used: %zu, bytes copied: %zu\n", when,
    now.pages_used, now.bytes_copied);
}

static bool print_fork(struct writer *w, struct error *why)
{
  struct cache_options small = { .rows = 48, .page_rows = 16 };
  struct store *s = cache_open(&w->m, &w->lm->config, 2, &small, why);
  bool ok = s != NULL && read_on(w, s, 0, 11, NULL, why);
  if (ok) store_crop(s, 0, 10);
  ok = ok && store_fork(s, 0, 1, why);
  if (ok) print_pages(s, "forked");
  for (uint32_t q = 0; ok && q < 2; q++) {
    ok = read_on(w, s, q, 1, NULL, why);
    if (ok) print_pages(s, q == 0 ? "0 goes on" : "1 goes on");
  }
  if (ok && !read_on(w, s, 0, 25, NULL, why)) {
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
  ids_free(&w.m, &w.sentence), memory_free(&w.m, w.logits);
  tokenizer_close(&w.m, w.t), model_close(&w.m, w.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
