/* the program -- made from chapters/03-loop.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "loop/generate.h"

/* <The built-in model, and what it takes to run it> */
enum { LONGEST = 200 };
struct writer { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct store *s;
  float *logits; struct ids text; };
static bool writer_open(struct writer *w, struct error *why)
{
  static const char pocket[] = "models/pocket", prompt[] = "The cat sat";
  struct memory *m = &w->m;
  w->e = (struct engine) { .k = &kernels_plain, .c = &w->c };
  if ((w->lm = model_open(m, pocket, why)) == NULL
      || (w->t = tokenizer_open(m, pocket, why)) == NULL
      || (w->s = array_store_open(m, &w->lm->config, why)) == NULL) return false;
  w->logits = memory_alloc(m, MEMORY_ACTIVATIONS, w->lm->config.vocab_size,
    sizeof (float), why);
  return w->logits != NULL && tokenizer_encode(w->t, m, prompt,
    strlen(prompt), false, false, &w->text, why);
}

/* <Find the token with the highest logit> */
static uint32_t likeliest(const float *logits, size_t vocab)
{
  uint32_t best = 0;
  for (uint32_t v = 1; v < vocab; v++)
    if (logits[v] > logits[best]) best = v;
  return best;
}

/* <Write until the end token, or until the text is full> */
static bool write_text(struct writer *w, size_t full, struct error *why)
{
  struct engine *e = &w->e; const struct model *lm = w->lm;
  struct ids *text = &w->text;
  for (;;) {
    struct row rows[LONGEST];
    struct pass *p;
    size_t n = text->n, last = n - 1, vocab = lm->config.vocab_size;
    store_crop(w->s, 0, 0);                                  /* 1. forget */
    for (size_t i = 0; i < n; i++)
      rows[i] = (struct row) { 0, (uint32_t) i, text->id[i] };
    bool ok = model_forward(e, lm, w->s, rows, n, &p, why);    /* 2. read */
    ok = ok && model_logits(e, lm, p, &last, 1, w->logits, why); /* 3. score */
    pass_close(p);
    if (!ok) return false;
    uint32_t id = likeliest(w->logits, vocab);               /* 4. select */
    if (!ids_push(&w->m, text, id, why)) return false;     /* 5. append */
    if (id == lm->config.eos[0] || text->n == full)
      return true;                                         /* 6. stop */
  }
}

/* <Print what the counters say> */
static void print_counts(const struct writer *w)
{
  uint64_t rows = w->c.kv_rows_computed, again = w->c.kv_rows_recomputed;
  printf("%2zu tokens: %" PRIu64 " rows = ", w->text.n - 3, rows);
  printf("%" PRIu64 " needed + %" PRIu64 " redundant; ", rows - again, again);
  printf("%" PRIu64 " pairs\n", w->c.qk_pairs);
}

/* <Print the text, and write its end once more with the general loop> */
static void print_text(const struct writer *w)
{
  for (size_t i = 0, n, column = 0; i < w->text.n; i++) {
    const char *word = (const char *) tokenizer_text(w->t, w->text.id[i], &n);
    bool wrap = n > 1 && column + n > 62, skip = wrap && *word == ' ';
    printf("%s%.*s", wrap ? "\n" : "", (int) n - skip, word + skip);
    column = (wrap ? 0 : column) + n - skip;
  }
  printf("\n");
}

static bool compare_loops(struct writer *w, struct error *why)
{
  struct generate_context g = { &w->e, w->lm, w->s, &w->m };
  struct generate_options want = { .max_new_tokens = LONGEST,
    .eos = w->lm->config.eos, .n_eos = w->lm->config.n_eos };
  struct continuation c;
  size_t given = w->text.n > 3 + 4 ? w->text.n - 4 : 3;
  if (!generate(&g, w->text.id, given, &want, &c, why)) return false;
  bool same = c.text.n == w->text.n
    && memcmp(c.text.id, w->text.id, c.text.n * sizeof (uint32_t)) == 0;
  if (same) printf("generate: the same last %zu tokens\n", c.text.n - given);
  continuation_free(&w->m, &c);
  return same || error_say(why, "generate writes another end");
}

int main(void)
{
  static struct writer w;
  struct error why;
  bool ok = writer_open(&w, &why) && write_text(&w, 3 + 4, &why);
  if (ok) print_counts(&w);
  ok = ok && write_text(&w, LONGEST, &why);
  if (ok) print_counts(&w), print_text(&w);
  ok = ok && compare_loops(&w, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  ids_free(&w.m, &w.text), memory_free(&w.m, w.logits);
  store_close(w.s), tokenizer_close(&w.m, w.t);
  model_close(&w.m, w.lm);
  return !ok;
}
