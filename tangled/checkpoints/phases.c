/* the program -- made from chapters/05-phases.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
#include "phases/phases.h"

/* <A model that reads the sentence over and over> */
enum { WORDS = 7, TEXT = 20 * WORDS };
struct reading {
  struct memory m; struct counters c; struct engine e;
  struct model *lm; struct store *s; struct generate_context g; struct ids text;
};
static bool reading_open(struct reading *r, struct error *why)
{
  static const char sentence[] = "The cat sat on the mat.", pocket[] = "models/pocket";
  r->e = (struct engine) { .k = kernels_find(NULL, why), .c = &r->c };
  if (r->e.k == NULL || (r->lm = model_open(&r->m, pocket, why)) == NULL
      || (r->s = cache_open(&r->m, &r->lm->config, 1,
        &(struct cache_options) { .rows = 0 }, why)) == NULL) return false;
  struct tokenizer *t = tokenizer_open(&r->m, pocket, why);
  bool ok = t != NULL && tokenizer_encode(t, &r->m, sentence, strlen(sentence),
    false, false, &r->text, why);
  for (size_t i = 0; ok && i + WORDS < TEXT; i++)
    ok = ids_push(&r->m, &r->text, r->text.id[i], why);
  tokenizer_close(&r->m, t);
  r->g = (struct generate_context) { &r->e, r->lm, r->s, &r->m };
  return ok;
}

/* <Show the rows of the two phases> */
static bool print_pass(void *ctx, const struct step *now)
{
  const struct counters *a = &now->before, *b = &now->after;
  double madds = (double) (work_madds(b) - work_madds(a));
  double bytes = (double) (work_bytes(b) - work_bytes(a));
  (void) ctx;
  printf("%4zu %5" PRIu64 " %12.0f %10.0f %9.2f\n", now->number,
    b->rows - a->rows, madds, bytes, madds / bytes);
  return true;
}

static bool show_phases(struct reading *r, struct error *why)
{
  struct generate_options want = { .max_new_tokens = 4, .recall = store_match_prefix,
    .on_step = print_pass };
  struct continuation text;
  printf("pass  rows  mult.-adds      bytes  a byte\n");
  bool ok = generate(&r->g, r->text.id, WORDS, &want, &text, why);
  continuation_free(&r->m, &text);
  return ok;
}

/* <Show that chunks change nothing> */
enum { PROMPT = 60 };
static bool read_chunked(struct reading *r, size_t chunk, float *logits,
  struct error *why)
{
  struct row rows[PROMPT];
  struct pass *p = NULL;
  for (uint32_t i = 0; i < PROMPT; i++)
    rows[i] = (struct row) { 0, i, r->text.id[i] };
  r->c = (struct counters) { .passes = 0 };
  store_clear(r->s);
  bool ok = model_read(&r->g, rows, PROMPT, chunk, &p, why)
    && model_logits(&r->e, r->lm, p, &(size_t) { p->n - 1 }, 1, logits, why);
  pass_close(p);
  return ok;
}

static bool show_chunks(struct reading *r, struct error *why)
{
  static const size_t chunk[] = { 1, 7, 16, 59 };
  size_t n = r->lm->config.vocab_size;
  float *z = memory_alloc(&r->m, MEMORY_ACTIVATIONS, 2 * n, sizeof *z, why);
  bool ok = z != NULL && read_chunked(r, 0, z, why);
  for (int i = 0; ok && i < 4; i++) {
    size_t differ = 0;
    ok = read_chunked(r, chunk[i], z + n, why);
    for (size_t k = 0; k < n; k++)
      differ += memcmp(z + k, z + n + k, sizeof *z) != 0;
    if (ok) printf("%d rows in chunks of %2zu: %2zu passes, ", PROMPT,
      chunk[i], (size_t) r->c.passes);
    if (ok) printf("%zu of %zu logits differ\n", differ, n);
  }
  memory_free(&r->m, z);
  return ok;
}

/* <Show what windows do> */
static bool show_windows(struct reading *r, struct error *why)
{
  for (size_t stride = 32; stride >= 8; stride /= 2) {
    struct perplexity p;
    if (!perplexity_of(&r->g, r->text.id, TEXT, 32, stride, &p, why))
      return false;
    printf("windows every %2zu: %2zu, %zu of %d scored, perplexity %.4f\n",
      stride, p.windows, p.tokens, TEXT, exp(p.loss / (double) p.tokens));
  }
  return true;
}

int main(void)
{
  static struct reading r;
  struct error why;
  bool ok = reading_open(&r, &why) && show_phases(&r, &why)
    && show_chunks(&r, &why) && show_windows(&r, &why);
  store_close(r.s), ids_free(&r.m, &r.text);
  model_close(&r.m, r.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
