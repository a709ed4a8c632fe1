/* the program -- made from chapters/06-memory.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "ground/timing.h"
#include "safetensors/safetensors.h"
#include "tokenizer/tokenizer.h"
#include "loop/laboratory.h"
#include "phases/phases.h"
#include "accounts/accounts.h"

/* <Print what the case by hand comes to> */
static void print_by_hand(void)
{
  static const struct row_format two = { "f16", WEIGHT_F16, NULL };
  struct model_config c = { .n_layers = 2, .n_heads = 4, .n_kv_heads = 2,
    .head_dim = 3, .window_from = 1 };
  struct plan p = { &two, 0, 1, 0, 0 };
  printf("a token: %" PRIu64 " bytes; %" PRIu64 " fit", bill_token(&c,
    &two), bill_max_context(&c, &p, 400, 1000));
  c.window = 5;
  printf("; with a window %" PRIu64, bill_max_context(&c, &p, 400, 1000));
  c.window = 0, c.n_kv_heads = 4;
  printf("; with 4 heads %" PRIu64 "\n", bill_max_context(&c, &p, 400, 1000));
}

/* <Hold the reckoning against the books> */
static void compare_line(const char *what, uint64_t reckoned, uint64_t found)
{
  printf("%-11s %9" PRIu64 " %9" PRIu64 "%s\n", what, reckoned, found,
    reckoned == found ? "" : "  differ");
}

static bool compare_cache(struct laboratory *lab, const struct plan *p,
  struct error *why)
{
  const struct model_config *c = &lab->pocket->config;
  struct cache_wishes how = { .rows = p->context * p->batch,
    .page_rows = p->page_rows, .pass = p->pass, .format = p->format,
    .at_once = true };
  uint64_t reckoned, before = lab->m.of[FOR_CACHE].held;
  if (!bill_cache(c, p, &reckoned, why)) return false;
  struct store *s = cache_open(&lab->m, c, (uint32_t) p->batch, &how, why);
  if (s == NULL) return false;
  char what[32];
  snprintf(what, sizeof what, "cache, %s", p->format->name);
  compare_line(what, reckoned, lab->m.of[FOR_CACHE].held - before);
  store_close(s);
  return true;
}

static bool compare_pass(struct laboratory *lab, uint32_t n, struct error *why)
{
  struct memory book = { .refuse_at = 0 };
  struct row row[64];
  struct pass *p;
  for (uint32_t i = 0; i < n; i++)
    row[i] = (struct row) { 0, i, lab->sentence[i % WORDS] };
  struct store *s = cache_open(&book, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  bool ok = s != NULL
    && forward(&lab->e, lab->pocket, s, row, n, &p, why);
  if (ok) {
    char what[32];
    snprintf(what, sizeof what, "pass of %u", n);
    compare_line(what, bill_pass(&lab->pocket->config, n, n, 1),
      book.of[FOR_ACTIVATIONS].peak);
    pass_close(p);
  }
  store_close(s);
  return ok;
}

static bool compare_vocabulary(struct error *why)
{
  struct memory book = { .refuse_at = 0 };
  struct tokenizer *t = tokenizer_open(&book, "models/pocket", why);
  if (t == NULL) return false;
  struct tokenizer_tables taken = tokenizer_tables(t);
  compare_line("vocabulary", tokenizer_bytes(taken.ids, taken.merges),
    taken.bytes);
  tokenizer_close(&book, t);
  return true;
}

static bool print_books(struct laboratory *lab, struct error *why)
{
  printf("             reckoned     found\n");
  uint64_t stored = 0;
  const struct archive *file = lab->pocket->weights;
  for (size_t i = 0; i < weights_count(file); i++)
    stored += weights_at(file, i)->bytes;
  compare_line("weights", 2 * bill_parameters(&lab->pocket->config), stored);
  if (!compare_vocabulary(why) || !compare_pass(lab, 1, why)
    || !compare_pass(lab, 64, why)) return false;
  for (size_t i = 0; i < N_FORMATS; i++)
    if (!compare_cache(lab, &(struct plan) { format_at(i), 2000, 2, 16, 0 },
      why)) return false;
  return true;
}

/* <Read three tales> */
struct tales { struct ids id; float *exact, *logits; size_t vocab; };
static bool tales_encode(struct laboratory *lab, struct tales *t,
  struct error *why)
{
  struct mapping map;
  struct tokenizer *words = tokenizer_open(&lab->m, "models/pocket", why);
  bool mapped = words != NULL && file_map(&map,
    "models/pocket/tales.txt", why);
  bool ok = mapped && tokenizer_encode(words, &lab->m,
    (const char *) map.bytes, map.size, false, true, &t->id, why);
  if (mapped) file_unmap(&map);
  tokenizer_close(&lab->m, words);
  return ok;
}

static void tales_close(struct laboratory *lab, struct tales *t)
{
  size_t n = t->id.n * t->vocab;
  memory_give(&lab->m, FOR_OTHER, t->exact, t->exact == NULL ? 0 : n,
    sizeof (float));
  memory_give(&lab->m, FOR_OTHER, t->logits, t->logits == NULL ? 0 : n,
    sizeof (float));
  ids_free(&lab->m, &t->id);
}

struct memory_way { const char *name; size_t format; uint32_t window, sinks; };
static bool tales_read(struct laboratory *lab, const struct tales *t,
  const struct memory_way *way, float *logits, struct error *why)
{
  struct model_config c = lab->pocket->config;
  struct cache_wishes how = { .format = format_at(way->format) };
  struct pass *p = NULL;
  size_t n = t->id.n;
  if (!config_set_window(&c, way->window, way->sinks, why)) return false;
  struct store *s = cache_open(&lab->m, &c, 1, &how, why);
  struct row *row = memory_take(&lab->m, FOR_OTHER, n, sizeof *row, why);
  bool ok = s != NULL && row != NULL;
  for (uint32_t i = 0; ok && i < n; i++)
    row[i] = (struct row) { 0, i, t->id.id[i] };
  ok = ok && forward(&lab->e, lab->pocket, s, row, n, &p, why);
  for (size_t i = 0; ok && i < n; i++)
    ok = head(&lab->e, lab->pocket, p, &i, 1, logits + i * t->vocab, why);
  pass_close(p);
  memory_give(&lab->m, FOR_OTHER, row, row == NULL ? 0 : n, sizeof *row);
  store_close(s);
  return ok;
}

static bool tales_open(struct laboratory *lab, struct tales *t,
  struct error *why)
{
  static const struct memory_way exact = { "f32", 0, 0, 0 };
  *t = (struct tales) { .vocab = lab->pocket->config.vocab_size };
  bool ok = tales_encode(lab, t, why);
  size_t n = t->id.n * t->vocab;
  if (ok) t->exact = memory_take(&lab->m, FOR_OTHER, n, sizeof (float), why);
  if (t->exact != NULL)
    t->logits = memory_take(&lab->m, FOR_OTHER, n, sizeof (float), why);
  if (t->logits != NULL && tales_read(lab, t, &exact, t->exact, why))
    return true;
  tales_close(lab, t);
  return false;
}

/* <Show the ring at work> */
enum { RING_WINDOW = 6, RING_STEPS = 16, RING_PROMPT = 4 };
static bool print_places(struct store *s, const struct row *row, size_t n,
  struct error *why)
{
  struct view v;
  if (!store_begin(s, row, n, why)) return false;
  store_view(s, 0, n - 1, &v);
  for (uint32_t t = v.lo; t < v.hi; t++)
    printf("%u,%u,%u,%d\n", v.hi, v.page[t], t, t >= row->position);
  store_abort(s);
  return true;
}

static bool print_ring(struct laboratory *lab, struct error *why)
{
  struct model_config c = lab->pocket->config;
  struct cache_wishes how = { .page_rows = 1 };
  struct row row[RING_STEPS];
  struct pass *p;
  if (!config_set_window(&c, RING_WINDOW, 0, why)) return false;
  struct store *s = cache_open(&lab->m, &c, 1, &how, why);
  bool ok = s != NULL;
  printf("step,place,position,fresh\n");
  for (uint32_t i = 0; i < RING_STEPS; i++)
    row[i] = (struct row) { 0, i, lab->sentence[i % WORDS] };
  for (size_t i = 0, n = RING_PROMPT; ok && i < RING_STEPS; i += n, n = 1) {
    ok = print_places(s, row + i, n, why)
      && forward(&lab->e, lab->pocket, s, row + i, n, &p, why);
    if (ok) pass_close(p);
  }
  store_close(s);
  return ok;
}

/* <Measure what a shorter memory costs> */
struct damage { double most, sum; size_t changed; double loss; };
static double row_error(const float *a, const float *b, size_t n)
{
  double most = 0;
  for (size_t i = 0; i < n; i++)
    most = fmax(most, fabs((double) a[i] - (double) b[i]));
  return most;
}

static size_t leader(const float *z, size_t n)
{
  size_t best = 0;
  for (size_t i = 1; i < n; i++) if (z[i] > z[best]) best = i;
  return best;
}

static bool assess(struct laboratory *lab, const struct tales *t,
  const float *logits, struct damage *d, struct error *why)
{
  size_t v = t->vocab;
  double *logprob = memory_take(&lab->m, FOR_OTHER, v, sizeof *logprob, why);
  if (logprob == NULL) return false;
  *d = (struct damage) { 0, 0, 0, 0 };
  for (size_t i = 0; i < t->id.n; i++) {
    const float *z = logits + i * v, *exact = t->exact + i * v;
    double off = row_error(z, exact, v);
    d->most = fmax(d->most, off), d->sum += off;
    d->changed += leader(z, v) != leader(exact, v);
    if (i + 1 == t->id.n) break;
    lab->e.k->log_softmax(&lab->e, z, 1, v, logprob);
    d->loss -= logprob[t->id.id[i + 1]];
  }
  memory_give(&lab->m, FOR_OTHER, logprob, v, sizeof *logprob);
  return true;
}

static const struct memory_way formats_way[] = {
  { "f32", 0, 0, 0 }, { "f16", 1, 0, 0 }, { "bf16", 2, 0, 0 },
  { "q8_0", 3, 0, 0 }, { "q4_0", 4, 0, 0 } };
static bool print_errors(struct laboratory *lab, struct error *why)
{
  enum { GROUP = 32 };
  struct tales t;
  if (!tales_open(lab, &t, why)) return false;
  bool ok = true;
  printf("format,row,error,changed\n");
  for (int k = 1; ok && k < N_FORMATS; k++) {
    ok = tales_read(lab, &t, &formats_way[k], t.logits, why);
    for (size_t i = 0; ok && i + GROUP <= t.id.n; i += GROUP) {
      double off[GROUP];
      int changed = 0;
      for (size_t j = 0; j < GROUP; j++) {
        const float *z = t.logits + (i + j) * t.vocab;
        const float *exact = t.exact + (i + j) * t.vocab;
        off[j] = row_error(z, exact, t.vocab);
        changed += leader(z, t.vocab) != leader(exact, t.vocab);
      }
      printf("%s,%zu,%.6f,%d\n", formats_way[k].name, i + GROUP / 2,
        timing_quartiles(off, GROUP).median, changed);
    }
  }
  tales_close(lab, &t);
  return ok;
}

static bool print_window(struct laboratory *lab, const struct tales *t,
  uint32_t window, uint32_t sinks, double whole, struct error *why)
{
  struct memory_way way = { NULL, 0, window, sinks };
  struct model_config c = lab->pocket->config;
  struct damage d;
  struct plan p = { format_at(0), t->id.n, 1, 1, 1 };
  const char *with = sinks > 0 ? ".sinks" : "";
  if (!tales_read(lab, t, &way, t->logits, why)
      || !assess(lab, t, t->logits, &d, why)
      || !config_set_window(&c, window, sinks, why)) return false;
  double perplexed = exp(d.loss / (double) (t->id.n - 1));
  printf("win.%u%s.rows %" PRIu64 "\nwin.%u%s.changed %zu\n", window, with,
    bill_rows(&c, 0, &p), window, with, d.changed);
  printf("win.%u%s.perplexity %.6f\n", window, with, perplexed);
  if (sinks == 0) printf("win.%u.percent %.4f\n", window,
    100 * (perplexed / whole - 1));
  return true;
}

static bool print_windows(struct laboratory *lab, const struct tales *t,
  double whole, struct error *why)
{
  static const uint32_t window[] = { 16, 64, 128, 256, 1024 };
  if (!print_window(lab, t, 20, 0, whole, why)) return false;
  for (int i = 0; i < 5; i++)
    for (uint32_t sinks = 0; sinks <= 4; sinks += 4)
      if (!print_window(lab, t, window[i], sinks, whole, why)) return false;
  return true;
}

static bool print_damage(struct laboratory *lab, struct error *why)
{
  struct tales t;
  struct damage d;
  double whole = 0;
  if (!tales_open(lab, &t, why)) return false;
  printf("tales.tokens %zu\ntales.rows %zu\n", t.id.n, t.id.n);
  bool ok = true;
  for (int k = 0; ok && k < N_FORMATS; k++) {
    const char *name = formats_way[k].name;
    ok = tales_read(lab, &t, &formats_way[k], t.logits, why)
      && assess(lab, &t, t.logits, &d, why);
    double perplexed = exp(d.loss / (double) (t.id.n - 1));
    if (k == 0) whole = perplexed;
    if (ok) printf("kv.%s.bytes %" PRIu64 "\nkv.%s.most %.6f\nkv.%s.mean %.6f\n"
      "kv.%s.changed %zu\nkv.%s.perplexity %.6f\n", name,
      bill_token(&lab->pocket->config, format_at((size_t) k)), name, d.most,
      name, d.sum / (double) t.id.n, name, d.changed, name, perplexed);
  }
  ok = ok && print_windows(lab, &t, whole, why);
  tales_close(lab, &t);
  return ok;
}

/* <Print the points of the stack> */
static bool print_stack(struct error *why)
{
  struct model_config c;
  if (!shape_find("llama-7b", &c, why)) return false;
  uint64_t weights = 2 * bill_parameters(&c), bytes[3];
  printf("tokens,weights,mha,gqa,small\n");
  for (uint64_t n = 0; n <= 131072; n += 4096) {
    for (int k = 0; k < 3; k++) {
      struct plan p = { format_at(k == 2 ? 4 : 1), n, 1, 0, 0 };
      c.n_kv_heads = k == 0 ? 32 : 8;
      if (!bill_cache(&c, &p, &bytes[k], why)) return false;
    }
    printf("%" PRIu64 ",%.4f,%.4f,%.4f,%.4f\n", n, (double) weights / 1e9,
      (double) (weights + bytes[0]) / 1e9, (double) (weights + bytes[1]) / 1e9,
      (double) (weights + bytes[2]) / 1e9);
  }
  return true;
}

/* <Print every number that the prose quotes> */
static void print_tensors(const char *name, const struct model_config *c)
{
  struct tensor_line line[TENSOR_LINES];
  size_t n = bill_tensors(c, line);
  for (size_t i = 0; i < n; i++) {
    int word = (int) strcspn(line[i].name, " ");
    printf("bill.%s.%.*s %" PRIu64 "\nbill.%s.%.*s.times %" PRIu64 "\n",
      name, word, line[i].name, line[i].each,
      name, word, line[i].name, line[i].times);
  }
}

static bool print_shape(const struct named_shape *n, struct error *why)
{
  struct model_config c;
  struct plan p = { format_at(1), n->n_positions, 1, 0, 0 };
  uint64_t bytes;
  if (!shape_find(n->name, &c, why) || !bill_cache(&c, &p, &bytes, why))
    return false;
  printf("shape.%s.layers %u\nshape.%s.heads %u\n", n->name, c.n_layers,
    n->name, c.n_kv_heads);
  printf("shape.%s.token %" PRIu64 "\nshape.%s.context %u\n", n->name,
    bill_token(&c, p.format), n->name, c.n_positions);
  printf("shape.%s.gb %.6f\nshape.%s.gib %.6f\n", n->name,
    (double) bytes / 1e9, n->name, (double) bytes / 0x1p30);
  printf("bill.%s.parameters %" PRIu64 "\n", n->name, bill_parameters(&c));
  if (n->window > 0) printf("shape.%s.window %u\n", n->name, n->window);
  return true;
}

static uint64_t cache_of(const char *name, uint64_t tokens, uint32_t kv_heads)
{
  struct model_config c;
  uint64_t bytes = 0;
  if (!shape_find(name, &c, NULL)) return 0;
  if (kv_heads > 0) c.n_kv_heads = kv_heads;
  bill_cache(&c, &(struct plan) { format_at(1), tokens, 1, 0, 0 }, &bytes,
    NULL);
  return bytes;
}

static bool print_vocabulary(struct error *why)
{
  struct memory book = { .refuse_at = 0 };
  struct tokenizer *t = tokenizer_open(&book, "models/pocket", why);
  if (t == NULL) return false;
  struct tokenizer_tables taken = tokenizer_tables(t);
  uint64_t tables = tokenizer_bytes(taken.ids, taken.merges);
  printf("vocab.pocket %" PRIu64 "\nvocab.gpt2 %" PRIu64 "\n", tables,
    tokenizer_bytes(50257, 50000));
  struct model_config c;
  shape_find("gpt2", &c, NULL);
  printf("vocab.gpt2.percent %.4f\n", 100 * (double) tokenizer_bytes(50257,
    50000) / (2 * (double) bill_parameters(&c)));
  printf("vocab.letters %" PRIu64 "\nvocab.rest %" PRIu64 "\n", taken.letters,
    book.of[FOR_TOKENS].held - tables - taken.letters);
  tokenizer_close(&book, t);
  return true;
}

static void print_fits(void)
{
  struct model_config c;
  struct plan p = { format_at(1), 4096, 1, 0, 0 };
  shape_find("llama-7b", &c, NULL);
  uint64_t weights = 2 * bill_parameters(&c), card = 80000000000;
  printf("fits.llama.weights %.4f\n", (double) weights / 1e9);
  printf("fits.llama.batch %" PRIu64 "\nfits.llama.context %" PRIu64 "\n",
    bill_max_batch(&c, &p, weights, card),
    bill_max_context(&c, &p, weights, card));
  printf("claim.S1-49 %" PRIu64 "\n", bill_max_batch(&c, &p, weights, card));
  printf("desk.row %zu\ndesk.llama.one %" PRIu64 "\n", 3 * sizeof (uint32_t)
    + sizeof (size_t) + sizeof (struct view), bill_pass(&c, 1, 1, 1));
  printf("desk.pass %zu\ndesk.llama.sheet %" PRIu64 "\n", sizeof (struct pass),
    bill_pass(&c, 1, 257, 1) - bill_pass(&c, 1, 1, 1));
  printf("desk.llama.prompt %.4f\n", (double) bill_pass(&c, 2048, 2048, 1)
    / 1e6);
}

static void print_claims(void)
{
  struct model_config c;
  uint64_t token = cache_of("llama-7b", 1, 0);
  uint64_t hundred = cache_of("llama-7b", 100000, 0);
  shape_find("llama-7b", &c, NULL);
  printf("claim.S0-42 %" PRIu64 "\nclaim.S0-56 %" PRIu64 "\n", token, token);
  printf("claim.S0-43 %" PRIu64 "\nclaim.S0-63 %" PRIu64 "\n", hundred,
    hundred);
  printf("llama.gigabyte %.4f\n", 1e9 / (double) token);
  printf("fifty.sum %.4f\n", (double) (hundred + 2
    * bill_parameters(&c)) / 1e9);
  printf("fifty.gb %.4f\nfifty.gib %.4f\n", (double) hundred / 1e9,
    (double) hundred / 0x1p30);
  printf("claim.S0-19 %" PRIu64 "\n", 6 * token / c.n_layers);
  printf("claim.S0-41 %" PRIu64 "\n", (uint64_t) c.n_layers * c.d_model
    * c.d_model * 12);
  printf("claim.S0-46 %" PRIu64 "\n", cache_of("llama-7b", 100000, 8));
  printf("claim.S2-55 %" PRIu64 "\nclaim.S1-24 %" PRIu64 "\n", token, token);
  printf("claim.S0-49 %" PRIu64 "\n", c.n_layers * (uint64_t) c.d_model
    * c.d_model * 12 * 2 / token);
  printf("claim.S2-91 %.4f\n", (double) cache_of("llama-7b", 131072, 0)
    / 0x1p30);
}

static void print_grouped(void)
{
  struct model_config c;
  shape_find("llama-7b", &c, NULL);
  uint64_t whole = bill_parameters(&c);
  c.n_kv_heads = 8;
  printf("stack.floor %.4f\n", 100 - 100 * (double) bill_parameters(&c)
    / (double) whole);
  printf("seven.short.gib %.4f\nseven.grouped.gib %.4f\n", (double)
    cache_of("llama-7b", 128000, 0) / 0x1p30, (double)
    cache_of("llama-7b", 131072, 8) / 0x1p30);
}

static void print_more_claims(void)
{
  struct model_config c;
  uint64_t grouped = cache_of("llama2-70b", 4096, 0);
  uint64_t full = cache_of("llama2-70b", 4096, 64);
  printf("bill.70b.grouped %" PRIu64 "\nbill.70b.grouped.gib %.4f\n"
    "bill.70b.full.gib %.4f\n", grouped, (double) grouped / 0x1p30,
    (double) full / 0x1p30);
  printf("claim.S1-25 %" PRIu64 "\nclaim.S1-26 %.4f\n", grouped,
    (double) cache_of("llama2-70b", 131072, 0) / 0x1p30);
  printf("claim.S1-61 %" PRIu64 "\n", full / grouped);
  shape_find("llama2-70b", &c, NULL);
  printf("claim.S0-55 %u\nclaim.S2-57 %u\nclaim.S4-46 %u\n",
    c.d_model / (c.n_kv_heads * c.head_dim), c.n_kv_heads * c.head_dim,
    c.n_heads);
  shape_find("gpt2", &c, NULL);
  uint64_t small = cache_of("gpt2", 1024, 0);
  uint64_t weights = 2 * bill_parameters(&c);
  printf("claim.S1-16 %" PRIu64 "\n", weights + small);
  printf("small.weights %" PRIu64 "\n", weights);
  printf("claim.S2-59 %" PRIu64 "\n", small);
  printf("claim.S2-60 %" PRIu64 "\n", cache_of("gpt2", 8192, 0));
  printf("claim.S2-61 %.4f\n", (double) cache_of("gpt3", 2048, 0) / 0x1p30);
  shape_find("gpt3", &c, NULL);
  double users = 2 * (double) bill_parameters(&c)
    / (double) cache_of("gpt3", 2048, 0);
  printf("users.gpt3 %.4f\nclaim.S2-62 %.4f\nclaim.S4-45 %u\n", users, users,
    c.n_layers);
}

static bool print_big(struct error *why)
{
  struct model_config c = { .n_layers = 120, .n_heads = 128,
    .n_kv_heads = 128, .head_dim = 128 };
  struct plan p = { format_at(1), 131072, 1, 0, 0 };
  uint64_t full, grouped;
  if (!bill_cache(&c, &p, &full, why)) return false;
  c.n_kv_heads = 8;
  if (!bill_cache(&c, &p, &grouped, why)) return false;
  printf("big.head_dim %u\nclaim.S3-13 %.4f\nbig.grouped.gib %.4f\n",
    c.head_dim, (double) full / 0x1p30, (double) grouped / 0x1p30);
  printf("big.factor %.4f\n", (double) full / (double) grouped);
  printf("claim.S2-56 %zu\n", row_bytes(WEIGHT_F32, 1) + row_bytes(WEIGHT_F16,
    1));
  printf("claim.S0-48 %.4f\n", (double) row_bytes(WEIGHT_F16, 32)
    / (double) row_bytes(BLOCKS_Q4_0, 32));
  return true;
}

static bool print_keys(struct laboratory *lab, struct error *why)
{
  struct model_config c;
  for (size_t i = 0; shape_at(i) != NULL; i++)
    if (!print_shape(shape_at(i), why)) return false;
  if (!shape_find("gpt2", &c, why)) return false;
  print_tensors("gpt2", &c);
  if (!shape_find("llama-7b", &c, why)) return false;
  print_tensors("llama-7b", &c);
  print_fits(), print_claims(), print_grouped(), print_more_claims();
  return print_vocabulary(why) && print_big(why) && print_damage(lab, why);
}

static bool print_what(struct laboratory *lab, const char *what,
  struct error *why)
{
  if (strcmp(what, "values") == 0) return print_keys(lab, why);
  if (strcmp(what, "stack") == 0) return print_stack(why);
  if (strcmp(what, "ring") == 0) return print_ring(lab, why);
  if (strcmp(what, "errors") == 0) return print_errors(lab, why);
  print_by_hand();
  return print_books(lab, why);
}

int main(int argc, char **argv)
{
  struct laboratory lab;
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = laboratory_open(&lab, &why) && print_what(&lab, what, &why);
  laboratory_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.words);
  return !ok;
}
