/* the program -- made from chapters/03-loop.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "loop/generate.h"
#include "loop/parrot.h"

/* <Somebody who writes the sentence> */
struct writer {
  struct memory m; struct counters c; struct engine e;
  const struct model *lm; struct model *own;
  uint32_t sentence[PARROT_WORDS];
  struct parrot bird; struct kernels idle;
};

/* <Let the built-in model write it> */
static bool model_writer(struct writer *w, struct error *why)
{
  w->e = (struct engine) { .k = &kernels_plain, .c = &w->c };
  w->lm = w->own = model_open(&w->m, "models/pocket", why);
  struct tokenizer *t = tokenizer_open(&w->m, "models/pocket", why);
  const char *text = "The cat sat on the mat.";
  struct ids ids = { .n = 0 };
  bool ok = w->own != NULL && t != NULL
    && tokenizer_encode(t, &w->m, text, strlen(text), false, false, &ids, why)
    && (ids.n == PARROT_WORDS || error_say(why, "%s has %zu tokens, not %d",
      text, ids.n, PARROT_WORDS));
  if (ok) memcpy(w->sentence, ids.id, sizeof w->sentence);
  ids_free(&w->m, &ids);
  tokenizer_close(&w->m, t);
  return ok;
}

/* <Let the parrot write it> */
static void parrot_writer(struct writer *w)
{
  parrot_kernels(&w->idle, &kernels_plain);
  parrot_make(&w->bird);
  w->e = (struct engine) { .k = &w->idle, .c = &w->c };
  w->lm = &w->bird.lm;
  for (uint32_t i = 0; i < PARROT_WORDS; i++) w->sentence[i] = i;
}

/* <Count the rows of a text> */
static bool count_rows(struct writer *w, size_t p, size_t g, struct error *why)
{
  uint32_t prompt[PARROT_CONTEXT];
  for (size_t i = 0; i < p; i++) prompt[i] = w->sentence[i % PARROT_WORDS];
  struct store *s = array_store_open(&w->m, &w->lm->config, why);
  if (s == NULL) return false;
  struct generate_context maker = { &w->e, w->lm, s, &w->m };
  struct generate_options want = { .max_new_tokens = g };
  struct continuation c;
  w->c = (struct counters) { .passes = 0 };
  bool ok = generate(&maker, prompt, p, &want, &c, why);
  for (size_t i = p; ok && i < c.text.n; i++)
    ok = c.text.id[i] == w->sentence[i % PARROT_WORDS]
      || error_say(why, "token %zu is not the next of the sentence", i);
  continuation_free(&w->m, &c);
  store_close(s);
  return ok;
}

static size_t needed(const struct writer *w)
{
  return (size_t) (w->c.kv_rows_computed - w->c.kv_rows_recomputed);
}

/* <Draw the four passes as the hand drew them> */
static bool draw_passes(struct writer *w, struct error *why)
{
  size_t rows = 0, again = 0;
  for (size_t g = 1; g <= 4; g++) {
    if (!count_rows(w, 3, g, why)) return false;
    rows = w->c.kv_rows_computed - rows;
    again = w->c.kv_rows_recomputed - again;
    /* <Draw a pass of rows rows, again of them computed before> */
    printf("pass %zu  ", g);
    for (size_t i = 0; i < rows; i++)
      printf("%s", i < again ? " REDO" : "  NEW");
    printf("%*s -> %s\n", (int) (5 * (6 - rows)), "", parrot_word[2 + g]);
    rows = w->c.kv_rows_computed, again = w->c.kv_rows_recomputed;
  }
  printf("%zu computed = %zu necessary + %zu redundant;", rows, needed(w),
    again);
  printf(" %" PRIu64 " pairs\n\n", w->c.qk_pairs);
  return true;
}

/* <Count the four cases that are quoted everywhere> */
static bool print_table(struct writer *w, struct error *why)
{
  static const size_t quoted[4][2] =
    { {100, 50}, {500, 200}, {1000, 500}, {2000, 1000} };
  printf("     p      g   computed   needed     waste\n");
  for (int i = 0; i < 4; i++) {
    size_t p = quoted[i][0], g = quoted[i][1];
    if (!count_rows(w, p, g, why)) return false;
    size_t rows = w->c.kv_rows_computed;
    printf("%6zu %6zu %10zu %8zu %8.2fx\n", p, g, rows, needed(w),
      (double) rows / (double) needed(w));
  }
  return true;
}

int main(void)
{
  static struct writer model, parrot;
  struct error why;
  parrot_writer(&parrot);
  bool ok = model_writer(&model, &why) && draw_passes(&model, &why)
    && print_table(&parrot, &why);
  model_close(&model.m, model.own);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
