/* the program -- made from chapters/06-memory.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include "safetensors/tensor_file.h"
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "accounts/accounts.h"

/* <Print what the case by hand comes to> */
static void print_by_hand(void)
{
  static const struct kv_format two = { "f16", WEIGHT_F16, NULL };
  struct model_config c = { .n_layers = 2, .n_heads = 4, .n_kv_heads = 2,
    .head_dim = 3, .window_from = 1 };
  struct cache_plan p = { &two, 0, 1, 0, 0 };
  printf("a token: %" PRIu64 " bytes; %" PRIu64 " fit", footprint_token(&c,
    &two), footprint_max_context(&c, &p, 400, 1000));
  c.window = 5;
  printf("; with a window %" PRIu64, footprint_max_context(&c, &p, 400, 1000));
  c.window = 0, c.n_kv_heads = 4;
  printf("; with 4 heads %" PRIu64 "\n", footprint_max_context(&c, &p, 400, 1000));
}

/* <Compare the formulas with the allocator> */
static void compare_line(const char *what, uint64_t reckoned, uint64_t found)
{
  printf("%-11s %9" PRIu64 " %9" PRIu64 "%s\n", what, reckoned, found,
    reckoned == found ? "" : "  differ");
}

static void compare_weights(const struct model *lm)
{
  uint64_t stored = 0;
  for (size_t i = 0; i < tensor_file_count(lm->weights); i++)
    stored += tensor_file_at(lm->weights, i)->bytes;
  compare_line("weights", 2 * footprint_parameters(&lm->config), stored);
}

static bool compare_vocabulary(struct error *why)
{
  struct memory book = { .fail_at = 0 };
  struct tokenizer *t = tokenizer_open(&book, "models/pocket", why);
  if (t == NULL) return false;
  struct tokenizer_tables taken = tokenizer_tables(t);
  compare_line("vocabulary", tokenizer_bytes(taken.ids, taken.merges),
    taken.bytes);
  tokenizer_close(&book, t);
  return true;
}

static bool compare_pass(struct engine *e, const struct model *lm, uint32_t n,
  struct error *why)
{
  struct memory book = { .fail_at = 0 };
  struct row row[64];
  struct pass *p;
  for (uint32_t i = 0; i < n; i++) row[i] = (struct row) { 0, i, i };
  struct store *s = cache_open(&book, &lm->config, 1,
    &(struct cache_options) { .rows = 0 }, why);
  bool ok = s != NULL && model_forward(e, lm, s, row, n, &p, why);
  if (ok) {
    char what[32];
    snprintf(what, sizeof what, "pass of %u", n);
    compare_line(what, footprint_pass(&lm->config, n, n, 1),
      book.of[MEMORY_ACTIVATIONS].peak);
    pass_close(p);
  }
  store_close(s);
  return ok;
}

static bool compare_cache(const struct model_config *c, const struct cache_plan *p,
  struct error *why)
{
  struct memory book = { .fail_at = 0 };
  struct cache_options options = { .rows = p->context * p->batch,
    .page_rows = p->page_rows, .pass = p->pass, .format = p->format,
    .preallocate = true };
  char what[32];
  uint64_t reckoned;
  if (!footprint_cache(c, p, &reckoned, why)) return false;
  struct store *s = cache_open(&book, c, (uint32_t) p->batch, &options, why);
  if (s == NULL) return false;
  snprintf(what, sizeof what, "cache, %s", p->format->name);
  compare_line(what, reckoned, book.of[MEMORY_CACHE].live);
  store_close(s);
  return true;
}

/* <Open the built-in model, and compare everything> */
int main(void)
{
  struct memory m = { .fail_at = 0 };
  struct counters count = { .passes = 0 };
  struct error why;
  struct engine e = { .k = kernels_find(NULL, &why), .c = &count };
  struct model *lm = e.k == NULL ? NULL
    : model_open(&m, "models/pocket", &why);
  bool ok = lm != NULL;
  print_by_hand();
  printf("             reckoned     found\n");
  if (ok) compare_weights(lm);
  ok = ok && compare_vocabulary(&why) && compare_pass(&e, lm, 1, &why)
    && compare_pass(&e, lm, 64, &why);
  for (size_t i = 0; ok && i < N_FORMATS; i++)
    ok = compare_cache(&lm->config,
      &(struct cache_plan) { format_at(i), 2000, 2, 16, 0 }, &why);
  model_close(&m, lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
