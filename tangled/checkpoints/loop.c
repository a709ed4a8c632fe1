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
  struct model *lm; struct tokenizer *t; struct store *s; float *logits; };
static bool writer_open(struct writer *w, struct error *why)
{
  w->e = (struct engine) { .k = &kernels_plain, .c = &w->c };
  return (w->lm = model_open(&w->m, "models/pocket", why)) != NULL
    && (w->t = tokenizer_open(&w->m, "models/pocket", why)) != NULL
    && (w->logits = memory_alloc(&w->m, MEMORY_ACTIVATIONS,
      w->lm->config.vocab_size, sizeof (float), why)) != NULL;
}

static bool begin_text(struct writer *w, struct ids *text, struct error *why)
{
  store_close(w->s);
  w->s = store_open(&w->m, &w->lm->config, 1, why);
  w->c = (struct counters) { .passes = 0 };
  return w->s != NULL && tokenizer_encode(w->t, &w->m, "The cat sat",
    strlen("The cat sat"), false, false, text, why);
}

static void writer_close(struct writer *w)
{
  store_close(w->s);
  memory_free(&w->m, w->logits);
  tokenizer_close(&w->m, w->t);
  model_close(&w->m, w->lm);
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
static bool write_text(struct writer *w, struct ids *text, size_t full,
  struct error *why)
{
  for (;;) {
    struct row rows[LONGEST];
    struct pass *p;
    size_t n = text->n, last = n - 1;
    store_crop(w->s, 0, 0);                                      /* 1. forget */
    for (size_t i = 0; i < n; i++)
      rows[i] = (struct row) { 0, (uint32_t) i, text->id[i] };
    bool ok = model_forward(&w->e, w->lm, w->s, rows, n, &p, why) /* 2. read */
      && model_logits(&w->e, w->lm, p, &last, 1, w->logits, why); /* 3. score */
    pass_close(p);
    if (!ok) return false;
    uint32_t id = likeliest(w->logits, w->lm->config.vocab_size); /* 4. select */
    if (!ids_push(&w->m, text, id, why)) return false;           /* 5. append */
    if (id == w->lm->config.eos[0] || text->n == full)
      return true;                                               /* 6. stop */
  }
}

/* <Print what the counters say> */
static void print_counts(const struct writer *w)
{
  uint64_t rows = w->c.kv_rows_computed, again = w->c.kv_rows_recomputed;
  printf("%" PRIu64 " rows = %" PRIu64 " needed + %" PRIu64 " redundant;",
    rows, rows - again, again);
  printf(" %" PRIu64 " pairs\n\n", w->c.qk_pairs);
}

/* <Draw the first four passes, from the counters> */
static bool draw_passes(struct writer *w, struct ids *text, struct error *why)
{
  if (!begin_text(w, text, why)) return false;
  for (int pass = 1; pass <= 4; pass++) {
    size_t rows = w->c.kv_rows_computed, again = w->c.kv_rows_recomputed, n;
    if (!write_text(w, text, text->n + 1, why)) return false;
    rows = w->c.kv_rows_computed - rows;
    again = w->c.kv_rows_recomputed - again;
    printf("pass %d  ", pass);
    for (size_t i = 0; i < rows; i++)
      printf("%s", i < again ? " REDO" : "  NEW");
    const unsigned char *word = tokenizer_text(w->t, text->id[rows], &n);
    printf("%*s -> %.*s\n", (int) (5 * (6 - rows)), "", (int) n, word);
  }
  print_counts(w);
  return true;
}

/* <Print the tale that the naive loop writes> */
static bool print_tale(struct writer *w, struct ids *tale, struct error *why)
{
  if (!begin_text(w, tale, why) || !write_text(w, tale, LONGEST, why))
    return false;
  for (size_t i = 0, n, column = 0; i < tale->n; i++) {
    const char *word = (const char *) tokenizer_text(w->t, tale->id[i], &n);
    bool wrap = column + n > 64 && *word == ' ';
    printf("%s%.*s", wrap ? "\n" : "", (int) n - wrap, word + wrap);
    column = wrap ? n - 1 : column + n;
  }
  printf("\n");
  print_counts(w);
  return true;
}

/* <Write it once more with the general loop, and compare> */
static bool compare_loops(struct writer *w, const struct ids *tale,
  struct ids *prompt, struct error *why)
{
  prompt->n = 0;
  if (!begin_text(w, prompt, why)) return false;
  const struct model_config *config = &w->lm->config;
  struct generate_context g = { &w->e, w->lm, w->s, &w->m };
  struct generate_options want = { .max_new_tokens = LONGEST,
    .eos = config->eos, .n_eos = config->n_eos };
  struct continuation c;
  if (!generate(&g, prompt->id, prompt->n, &want, &c, why)) return false;
  bool same = c.text.n == tale->n
    && memcmp(c.text.id, tale->id, tale->n * sizeof *tale->id) == 0;
  if (same) printf("generate writes the same %zu tokens\n", tale->n);
  continuation_free(&w->m, &c);
  return same || error_say(why, "generate writes another text");
}

int main(void)
{
  static struct writer w;
  struct ids tale = { .n = 0 }, text = { .n = 0 };
  struct error why;
  bool ok = writer_open(&w, &why) && print_tale(&w, &tale, &why)
    && draw_passes(&w, &text, &why) && compare_loops(&w, &tale, &text, &why);
  ids_free(&w.m, &tale);
  ids_free(&w.m, &text);
  writer_close(&w);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
