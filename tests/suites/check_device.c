/* Chapter 14: a pass with the kernels of a device gives the bits of the host's, whatever the order of its
   threads; rows keep their bits in any company; what fails is said. The device is the host, by the same
   kernels; INCIPIT_TEST_DEVICE=cuda takes a real one. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include "accounts/formats.h"
#include "cache/cache.h"
#include "cuda/queue.h"
#include "model/forward.h"
#include "model/counters.h"
#include "model/quantization.h"
#include "families/loader.h"
#include "functions/numbers.h"
#include "oracle.h"
#include "sampling/draws.h"

enum { SEQ = 3, MOST = 24 };
/* how much less the suite does where a thread costs more (check_warps.c) */
#ifndef LESS
#define LESS 1
#endif
#ifndef ORDERS
#define ORDERS 3
#endif
static const char *const own_model[] = { "gpt2", "llama", "mistral", "qwen2", "qwen3", "qwen3-layers",
  "gpt2-unscaled", "families/olmo2", "families/exaone4",
  "families/ernie4_5" };
enum { MODELS = sizeof own_model / sizeof *own_model };
static struct memory books;
static struct error why;
static uint64_t seed;
static size_t below(size_t n)
{
  return (size_t) (rnd(&seed) % n);
}
static struct device *open_device(unsigned order)
{
  char name[20];
  const char *real = getenv("INCIPIT_TEST_DEVICE");
  snprintf(name, sizeof name, "host:%u", order);
  seed = suite_seed() + order;
  struct device *d = device_open(&books, real != NULL ? real : name, &why);
  ck_assert_msg(d != NULL, "%s", why.text);
  return d;
}

/* the same model on the host and on the device, with a cache for each */
struct pair {
  struct memory m[2];
  struct counters c[2];
  struct engine e[2];
  struct store *s[2];
  struct device *d;
  struct model *lm;
  struct prepared_weights *p;
};
static bool pair_open(struct pair *r, const char *path, const struct kv_format *f, unsigned order, bool prepared)
{
  memset(r, 0, sizeof *r);
  r->d = open_device(order);
  r->lm = model_open(&r->m[0], path, &why);
  ck_assert_msg(r->lm != NULL, "%s", why.text);
  const struct kernels *k[2] = { kernels_find(NULL, NULL), device_kernels(r->d) };
  if (prepared) {
    r->p = model_prepare(&r->m[1], k[1], ACTIVATIONS_DEFAULT, r->lm, &why);
    ck_assert_msg(r->p != NULL, "%s", why.text);
  }
  for (int i = 0; i < 2; i++) {
    struct cache_options o = { .page_rows = 4, .format = f, .memory = k[i]->memory };
    r->e[i] = (struct engine){ .k = k[i], .c = &r->c[i], .prepared = i ? r->p : NULL };
    r->s[i] = cache_open(&r->m[i], &r->lm->config, SEQ, &o, &why);
  }
  return r->s[1] != NULL;
}
static void pair_close(struct pair *r)
{
  for (int i = 0; i < 2; i++) store_close(r->s[i]);
  prepared_close(&r->m[1], r->p);
  model_close(&r->m[0], r->lm), device_close(r->d);
  ck_assert_uint_eq(r->m[0].all.live, 0);
  ck_assert_uint_eq(r->m[1].all.live, 0);
  ck_assert_uint_eq(books.all.live, 0);
}
static void both(struct pair *r, const struct row *rows, size_t n, const size_t *which, size_t wanted)
{
  size_t v = r->lm->config.vocab_size, bytes = wanted * v * sizeof(float);
  float *logits[2];
  struct pass *p[2];
  for (int i = 0; i < 2; i++) {
    logits[i] = malloc(bytes + 4);
    ck_assert_msg(model_forward(&r->e[i], r->lm, r->s[i], rows, n, &p[i], &why), "%s", why.text);
    ck_assert_msg(model_logits(&r->e[i], r->lm, p[i], which, wanted, logits[i], &why), "%s", why.text);
  }
  ck_assert(memcmp(logits[0], logits[1], bytes) == 0);
  ck_assert(memcmp(p[0]->first_bad_layer, p[1]->first_bad_layer, n * sizeof *p[0]->first_bad_layer) == 0);
  for (int i = 0; i < 2; i++) pass_close(p[i]), free(logits[i]);
}

/* prompts in pieces, batches, forks and crops, in every format of the cache */
START_TEST(a_pass_has_the_bits_of_the_host)
{
  char path[200];
  unsigned formats = 0, order = (unsigned) _i % ORDERS;
  snprintf(path, sizeof path, "tests/golden/%s", own_model[_i / ORDERS]);
  for (size_t k = 0; format_at(k) != NULL; k++) {
    struct pair r;
    if (LESS > 1 && k > 0 && (k + (size_t) _i) % LESS != 0) continue;
    if (!pair_open(&r, path, format_at(k), order, k % 2 == 0)) {
      ck_assert_msg(strstr(why.text, "multiple of 32") != NULL, "%s", why.text);
      pair_close(&r);
      continue;
    }
    formats++;
    for (int step = 0; step < 12 / LESS; step++) {
      struct row rows[SEQ * MOST];
      size_t n = 0, which[4], wanted = 1 + below(4);
      uint32_t one = (uint32_t) below(SEQ), other = (uint32_t) below(SEQ);
      bool crop = below(4) == 0, fork = below(4) == 0 && one != other;
      size_t half = store_length(r.s[0], one) / 2;
      for (int i = 0; i < 2; i++) {
        if (crop) store_crop(r.s[i], one, half);
        if (fork) store_crop(r.s[i], other, 0), ck_assert(store_fork(r.s[i], one, other, &why));
      }
      for (uint32_t q = 0; q < SEQ; q++) {
        size_t at = store_length(r.s[0], q), left = r.lm->config.n_positions - at, take = below(below(3) == 0 ? MOST : 3);
        for (size_t i = 0; i < take && i < left; i++)
          rows[n++] = (struct row){ q, (uint32_t) (at + i), (uint32_t) below(r.lm->config.vocab_size) };
      }
      if (n == 0) continue;
      for (size_t i = 0; i < wanted; i++) which[i] = below(n);
      both(&r, rows, n, which, wanted);
    }
    ck_assert(memcmp(&r.c[0], &r.c[1], sizeof r.c[0]) == 0);
    pair_close(&r);
  }
  ck_assert_uint_ge(formats, LESS > 1 ? 1 : 3);
}
END_TEST

static float number(void)
{
  return (float) ((double) (int64_t) rnd(&seed) / 9.3e18);
}
/* a linear layer on the device: arrays there and back */
static void there(struct device *d, const struct matrix *w, enum activations format, const float *x, size_t rows, float *y)
{
  const struct buffers *b = device_memory(d);
  struct engine e = { .k = device_kernels(d), .activations = format };
  float *dx = b->alloc(b, &books, MEMORY_OTHER, rows * w->in, 4, &why),
        *dy = b->alloc(b, &books, MEMORY_OTHER, rows * w->out, 4, &why);
  b->set(b, dx, x, rows * w->in * 4);
  kernels_multiply(&e, w, 1, dx, rows, &dy);
  b->get(b, y, dy, rows * w->out * 4);
  ck_assert_msg(b->working(b, &why), "%s", why.text);
  b->release(b, &books, dx), b->release(b, &books, dy);
}
static struct matrix random_matrix(enum weight_type type, size_t in, size_t out)
{
  float *x = malloc(in * out * 4);
  char *to = malloc(weight_row_bytes(type, in * out) + 64);
  for (size_t i = 0; i < in * out; i++) x[i] = number();
  ck_assert_msg(weights_encode(type, x, in * out, to, &why), "%s", why.text);
  free(x);
  return (struct matrix){ { to, type }, { NULL, WEIGHT_F32 }, in, out, false };
}

/* few rows and many, every remainder of a tile; the workspace in slices */
START_TEST(a_linear_layer_has_the_bits_of_the_plain_one)
{
  static const enum weight_type types[] = { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16, WEIGHT_Q8_0 };
  struct device *d = open_device((unsigned) _i);
  for (int i = 0; i < 40 / LESS; i++) {
    enum weight_type type = types[i % 4];
    size_t in = i % 4 == 3 ? 32 * (1 + below(20)) : 1 + below(300), out = 1 + below(140),
           rows = 1 + below(i % 2 ? 150 : 20);
    if (i == 39) in = 640, out = 5, rows = 1700; /* more than the workspace holds when they are rounded to bytes */
    struct matrix w = random_matrix(type, in, out);
    float *x = malloc(rows * in * 4), *y = malloc(rows * out * 4), *z = malloc(rows * out * 4);
    for (size_t j = 0; j < rows * in; j++) x[j] = number();
    for (int f = 0; f < 1 + (type == WEIGHT_Q8_0); f++) {
      struct engine plain = { .k = &kernels_plain, .activations = f ? ACTIVATIONS_INT8 : ACTIVATIONS_F32 };
      kernels_multiply(&plain, &w, 1, x, rows, &z);
      there(d, &w, plain.activations, x, rows, y);
      ck_assert_msg(memcmp(y, z, rows * out * 4) == 0, "[%zu][%zu]->%zu, type %d, format %d", rows, in, out, type, f);
    }
    free(x), free(y), free(z), free((void *) w.weight.data);
  }
  device_close(d);
}
END_TEST

/* the kernels before the one for few rows, and that one, by themselves */
START_TEST(the_steps_have_the_bits_of_the_plain_table)
{
  struct device *d = open_device((unsigned) _i);
  for (int i = 0; i < (LESS > 6 ? 1 : 12); i++) {
    size_t in = 16 * (1 + below(30)), out = 1 + below(300);
    struct matrix w = random_matrix(WEIGHT_BF16, in, out);
    struct engine plain = { .k = &kernels_plain };
    float *x = malloc(in * 4), *y = malloc(out * 4), *z = malloc(out * 4);
    double seconds;
    for (size_t j = 0; j < in; j++) x[j] = number();
    kernels_multiply(&plain, &w, 1, x, 1, &z);
    for (unsigned step = 0; step < 4; step++) {
      memset(y, 0x5a, out * 4);
      ck_assert_msg(device_step(d, step, w.weight.data, x, (uint32_t) in, (uint32_t) out, y, &seconds, &why), "%s", why.text);
      ck_assert_msg(memcmp(y, z, out * 4) == 0, "step %u, [%zu]->%zu", step, in, out);
      ck_assert(seconds > 0);
    }
    free(x), free(y), free(z), free((void *) w.weight.data);
  }
  device_close(d);
}
END_TEST

/* a row has the same bits alone, with a few and with many; and they are near the plain table's */
START_TEST(a_tensor_core_does_not_see_the_company)
{
  struct device *d = open_device((unsigned) _i);
  for (int i = 0; i < (LESS > 6 ? 2 : 6); i++) {
    size_t in = i % 2 ? 1 + below(2100) : 16 * (1 + below(100)), out = 1 + below(100), rows = 17 + below(150);
    if (i == 0 && LESS == 1) in = 2048, out = 9, rows = 600; /* more than the workspace holds when they are rounded */
    struct matrix w = random_matrix(WEIGHT_BF16, in, out);
    float *x = malloc(rows * in * 4), *y = malloc(rows * out * 4), *one = malloc(16 * out * 4), *z = malloc(rows * out * 4);
    for (size_t j = 0; j < rows * in; j++) x[j] = number();
    struct engine plain = { .k = &kernels_plain, .activations = ACTIVATIONS_BF16 };
    kernels_multiply(&plain, &w, 1, x, rows, &z);
    there(d, &w, ACTIVATIONS_BF16, x, rows, y);
    for (int j = 0; j < 8; j++) {
      size_t n = 1 + below(16), at = below(rows - n + 1);
      there(d, &w, ACTIVATIONS_BF16, x + at * in, n, one);
      ck_assert_msg(memcmp(one, y + at * out, n * out * 4) == 0, "%zu of %zu rows, in %zu", n, rows, in);
    }
    double most = 0;
    for (size_t j = 0; j < rows * out; j++) most = fmax(most, fabs((double) y[j] - (double) z[j]));
    ck_assert_msg(most < 2e-6 * sqrt((double) in) + 1e-6, "%g for %zu inputs", most, in);
    ck_assert_msg(in < 100 || most > 0, "the definitions should differ");
    free(x), free(y), free(z), free(one), free((void *) w.weight.data);
  }
  device_close(d);
}
END_TEST

/* the token that the sampler's noise chooses, and the likeliest, the lower id of equals */
START_TEST(the_choice_is_the_samplers)
{
  enum { N = 5000 };
  struct device *d = open_device((unsigned) _i);
  const struct buffers *b = device_memory(d);
  float *z = malloc(N * 4), *dz = b->alloc(b, &books, MEMORY_OTHER, N, 4, &why);
  for (int i = 0; i < 60 / LESS; i++) {
    uint32_t n = 1 + (uint32_t) below(N), id, at = (uint32_t) below(1000);
    double t = i % 3 == 0 ? 0 : 0.1 + (double) below(20) / 10, best = -INFINITY;
    uint32_t chosen = 0;
    for (uint32_t j = 0; j < n; j++) z[j] = i % 2 ? (float) below(4) : 4 * number();
    for (uint32_t j = 0; j < n; j++) {
      double score = (double) z[j];
      if (t > 0) score = score / t + gumbel_noise(99, 7, at, j);
      if (score > best) best = score, chosen = j;
    }
    b->set(b, dz, z, n * 4);
    ck_assert(device_choose(d, dz, n, t, 99, 7, at, &id, &why));
    ck_assert_uint_eq(id, chosen);
    if (i % 4) continue; /* what the sampler refuses is refused, wherever it is */
    float none[] = { NAN, -NAN, INFINITY }, kept = z[chosen = (uint32_t) below(n)];
    char wanted[40];
    z[chosen] = none[below(3)];
    b->set(b, dz, z, n * 4);
    snprintf(wanted, sizeof wanted, "logit %u is nan or infinite", chosen);
    ck_assert(!device_choose(d, dz, n, t, 99, 7, at, &id, &why) && strstr(why.text, wanted) == why.text);
    z[chosen] = kept;
    for (uint32_t j = 0; j < n; j++) z[j] = -INFINITY;
    b->set(b, dz, z, n * 4);
    ck_assert(!device_choose(d, dz, n, t, 99, 7, at, &id, &why) && strstr(why.text, "logits are -inf"));
  }
  b->release(b, &books, dz), free(z);
  device_close(d);
}
END_TEST

/* memory refused at every request of opening, preparing and a pass: a sentence, and nothing is lost */
START_TEST(every_refusal_is_survived)
{
  uint64_t k = 0;
  struct memory m = { 0 };
  struct model *lm = model_open(&m, "tests/golden/gpt2", &why);
  for (bool whole = false; !whole;) {
    struct memory n = { 0 };
    struct counters c = { 0 };
    struct pass *p = NULL;
    float logits[400];
    size_t which = 8;
    struct row rows[9];
    for (uint32_t i = 0; i < 9; i++) rows[i] = (struct row){ 0, i, i };
    n.fail_at = ++k;
    strcpy(why.text, "");
    struct device *d = device_open(&n, "host", &why);
    struct prepared_weights *w = d == NULL ? NULL : model_prepare(&n, device_kernels(d), ACTIVATIONS_DEFAULT, lm, &why);
    struct engine e = { .k = d != NULL ? device_kernels(d) : NULL, .c = &c, .prepared = w };
    struct cache_options o = { .page_rows = 4, .memory = d != NULL ? device_memory(d) : NULL };
    struct store *s = w == NULL ? NULL : cache_open(&n, &lm->config, 1, &o, &why);
    whole = s != NULL && model_forward(&e, lm, s, rows, 9, &p, &why) && model_logits(&e, lm, p, &which, 1, logits, &why);
    if (!whole) ck_assert_msg(strstr(why.text, "out of memory") != NULL, "request %d: %s", (int) k, why.text);
    if (s != NULL) ck_assert_uint_eq(store_length(s, 0), p != NULL ? 9 : 0);
    pass_close(p), store_close(s), prepared_close(&n, w), device_close(d);
    ck_assert_uint_eq(n.all.live, 0);
  }
  ck_assert_uint_gt(k, 60);
  model_close(&m, lm);
}
END_TEST

static bool go_on(void *ctx, size_t done, size_t all)
{
  ++*(int *) ctx;
  return done <= all;
}
/* a row has the same bits alone, in a batch of any size, in chunks of any size, and however often; a real device is asked a
   thousand times */
START_TEST(a_row_keeps_its_bits_in_any_company)
{
  enum { TEXTS = LESS > 1 ? 12 : 64, LONG = 9 };
  struct device *d = open_device((unsigned) _i);
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct model *lm = model_open(&m, "tests/golden/llama", &why);
  struct prepared_weights *w = model_prepare(&m, device_kernels(d), ACTIVATIONS_DEFAULT, lm, &why);
  int told = 0; /* who is told of progress has attention done in parts */
  struct progress go = { .report = go_on, .ctx = &told };
  struct engine e = { .k = device_kernels(d), .c = &c, .prepared = w, .progress = &go };
  struct cache_options o = { .page_rows = 4, .memory = device_memory(d) };
  struct store *s = cache_open(&m, &lm->config, TEXTS, &o, &why);
  uint32_t v = lm->config.vocab_size, times = getenv("INCIPIT_TEST_DEVICE") != NULL ? 1000 : 4 / LESS;
  float *alone = malloc(TEXTS * v * 4), *here = malloc(v * 4);
  struct row rows[TEXTS * LONG];
  struct pass *p;
  size_t last;
  for (uint32_t t = 0; t < TEXTS; t++) { /* each text in one pass of its own */
    for (uint32_t i = 0; i < LONG; i++) rows[i] = (struct row){ t, i, (t * 31 + i * 7) % v };
    last = LONG - 1;
    ck_assert(model_forward(&e, lm, s, rows, LONG, &p, &why) && model_logits(&e, lm, p, &last, 1, alone + t * v, &why));
    pass_close(p);
  }
  for (uint32_t k = 0; k < times; k++) { /* some texts together, in chunks */
    uint32_t texts = k == 0 ? TEXTS : 1 + (uint32_t) below(TEXTS), chunk = 1 + (uint32_t) below(LONG);
    store_clear(s);
    for (uint32_t from = 0; from < LONG; from += chunk) {
      size_t n = 0;
      for (uint32_t t = 0; t < texts; t++)
        for (uint32_t i = from; i < from + chunk && i < LONG; i++) rows[n++] = (struct row){ t, i, (t * 31 + i * 7) % v };
      ck_assert_msg(model_forward(&e, lm, s, rows, n, &p, &why), "%s", why.text);
      size_t each = n / texts;
      for (uint32_t t = 0; t < texts && from + chunk >= LONG; t++) {
        last = (t + 1) * each - 1;
        ck_assert(model_logits(&e, lm, p, &last, 1, here, &why));
        ck_assert_msg(memcmp(here, alone + t * v, v * 4) == 0, "text %u of %u, chunks of %u", t, texts, chunk);
      }
      pass_close(p);
    }
  }
  ck_assert_int_gt(told, 0);
  free(alone), free(here), store_close(s), prepared_close(&m, w), model_close(&m, lm), device_close(d);
}
END_TEST

/* so many addresses of pages that the room for them is used up again and again, without an answer in between: no call may take
   the place of what another has still to read; and what one call cannot hold is a failure, with a sentence */
START_TEST(places_are_not_overwritten)
{
  enum { N = 40, D = 16, AT = 9000 };
  struct device *d = open_device((unsigned) _i);
  const struct buffers *b = device_memory(d);
  struct engine e = { .k = device_kernels(d) }, host = { .k = &kernels_plain };
  struct attention_dims h = { 1, 1, D, 0.25f };
  float *kv = malloc(2 * N * D * 4), *q = malloc(N * D * 4), *y = malloc(N * D * 4), *z = malloc(N * D * 4),
        *dkv = b->alloc(b, &books, MEMORY_OTHER, 2 * N * D, 4, &why), *dq = b->alloc(b, &books, MEMORY_OTHER, N * D, 4, &why),
        *dy[4], *scratch = malloc(kernels_scratch(&h, AT + 1) * 4);
  const char **page[2] = { calloc(AT + 1, sizeof **page * N), calloc(AT + 1, sizeof **page * N) };
  struct segment list[2][N];
  for (size_t i = 0; i < 2 * N * D; i++) kv[i] = number();
  for (size_t i = 0; i < N * D; i++) q[i] = number();
  for (uint32_t i = 0; i < N; i++)
    for (int k = 0; k < 2; k++) { /* a window of one row: only the last page is there */
      const char **of = page[k] + (size_t) i * (AT + 1);
      of[AT] = (const char *) (k ? dkv : kv) + i * D * 4;
      list[k][i] = (struct segment){ { 0, N * D * 4, of, 1, D * 4, D * 4, WEIGHT_F32, 0 }, i, 1, AT, 1 };
    }
  b->set(b, dkv, kv, 2 * N * D * 4), b->set(b, dq, q, N * D * 4);
  for (int k = 0; k < 4; k++) dy[k] = b->alloc(b, &books, MEMORY_OTHER, N * D, 4, &why);
  kernels_plain.attend(&host, &h, q, list[0], N, scratch, z, NULL);
  for (int k = 0; k < 4; k++) e.k->attend(&e, &h, dq, list[1], N, NULL, dy[k], NULL);
  for (int k = 0; k < 4; k++) {
    b->get(b, y, dy[k], N * D * 4);
    ck_assert_msg(b->working(b, &why), "%s", why.text);
    ck_assert(memcmp(y, z, N * D * 4) == 0);
  }
  struct segment many[2 * N];
  for (int i = 0; i < 2 * N; i++) many[i] = list[1][i % N], many[i].first_row = (uint32_t) i;
  e.k->attend(&e, &h, dq, many, 2 * N, NULL, dy[0], NULL);
  ck_assert(!b->working(b, &why));
  ck_assert_msg(strstr(why.text, "places") != NULL, "%s", why.text);
  for (int k = 0; k < 4; k++) b->release(b, &books, dy[k]);
  b->release(b, &books, dkv), b->release(b, &books, dq);
  free(kv), free(q), free(y), free(z), free(scratch), free(page[0]), free(page[1]);
  device_close(d);
}
END_TEST

/* while text is written, a pass and its logits have the shapes of those before, but where attention has one block more
   (and at the first token, which finds no memory that was used before) */
START_TEST(the_lists_of_a_text_are_known)
{
  struct pair r;
  ck_assert(pair_open(&r, "tests/golden/llama", NULL, (unsigned) _i, true));
  size_t which = 0;
  struct device_counts before = { 0, 0, 0 }, now;
  uint32_t n = r.lm->config.n_positions;
  for (uint32_t i = 0; i < n; i++) {
    struct row row = { 0, i, i % r.lm->config.vocab_size };
    both(&r, &row, 1, &which, 1);
    now = device_count(r.d);
    if (i >= 2) ck_assert_uint_eq(now.lists - before.lists, 2);
    if (i >= 2) ck_assert_uint_eq(now.known - before.known, i % 256 == 0 ? 1 : 2);
    before = now;
  }
  pair_close(&r);
}
END_TEST

/* rows that are longer than the part that a norm has in shared memory */
START_TEST(a_long_row_is_normalized)
{
  enum { ROWS = 2, MOST_D = 6000 };
  struct device *d = open_device((unsigned) _i);
  const struct buffers *b = device_memory(d);
  struct engine e = { .k = device_kernels(d) }, host = { .k = &kernels_plain };
  float *x = malloc(ROWS * MOST_D * 4), *y = malloc(ROWS * MOST_D * 4), *z = malloc(ROWS * MOST_D * 4),
        *dx = b->alloc(b, &books, MEMORY_OTHER, ROWS * MOST_D, 4, &why);
  for (int i = 0; i < 8; i++) {
    size_t n = i < 2 ? 2048 : 1 + below(MOST_D);
    struct norm g = { .kind = i % 2 ? NORM_LAYER : NORM_RMS, .epsilon = 1e-5f };
    g.gain = (struct tensor){ x, WEIGHT_F32 };
    if (i % 4 == 1) g.bias = (struct tensor){ x + n, WEIGHT_F32 };
    for (size_t j = 0; j < ROWS * n; j++) x[j] = number();
    b->set(b, dx, x, ROWS * n * 4);
    host.k->normalize(&host, &g, x, ROWS, n, z);
    e.k->normalize(&e, &g, dx, ROWS, n, dx); /* in place */
    b->get(b, y, dx, ROWS * n * 4);
    ck_assert_msg(b->working(b, &why), "%s", why.text);
    ck_assert_msg(memcmp(y, z, ROWS * n * 4) == 0, "a row of %zu, kind %d", n, (int) g.kind);
  }
  b->release(b, &books, dx), free(x), free(y), free(z);
  device_close(d);
}
END_TEST

/* a number that is none goes through attention: from a key to all of the result, from a value to its own place; with pages that begin
   at odd addresses as well */
START_TEST(what_is_no_number_stays_in_the_result)
{
  enum { D = 16, AT = 300 };
  struct device *d = open_device((unsigned) _i % ORDERS);
  const struct buffers *b = device_memory(d);
  struct engine e = { .k = device_kernels(d) }, host = { .k = &kernels_plain };
  struct attention_dims h = { 1, 1, D, 0.25f };
  size_t odd = (size_t) _i / ORDERS, n = (AT + 1) * D, bytes = 4 * n + 4;
  uint16_t *kv = malloc(bytes);
  char *there = malloc(bytes);
  float q[D], y[D], z[D], *dq = b->alloc(b, &books, MEMORY_OTHER, D, 4, &why), *dy = b->alloc(b, &books, MEMORY_OTHER, D, 4, &why),
        *dkv = b->alloc(b, &books, MEMORY_OTHER, bytes / 4, 4, &why), *scratch = malloc(kernels_scratch(&h, AT + 1) * 4);
  for (size_t i = 0; i < D; i++) q[i] = number();
  b->set(b, dq, q, sizeof q);
  for (int what = 0; what < 3; what++) {
    for (size_t i = 0; i < 2 * n; i++) kv[i] = num_to_f16(number());
    if (what == 1) kv[n + (AT - 5) * D + 3] = 0x7e00;
    if (what == 2) kv[(AT - 5) * D + 3] = 0x7e00;
    memcpy(there + odd, kv, 4 * n);
    b->set(b, dkv, there, bytes);
    struct segment s[2];
    for (int i = 0; i < 2; i++) {
      uintptr_t at = (uintptr_t) (i ? (char *) dkv : there) + odd;
      s[i] = (struct segment){ { at, at + 2 * n, NULL, 0, 2 * D, 2 * D, WEIGHT_F16, 0 }, 0, 1, AT, 0 };
    }
    kernels_plain.attend(&host, &h, q, s, 1, scratch, z, NULL);
    e.k->attend(&e, &h, dq, s + 1, 1, NULL, dy, NULL);
    b->get(b, y, dy, sizeof y);
    ck_assert_msg(b->working(b, &why), "%s", why.text);
    for (int i = 0; i < D; i++) {
      ck_assert_int_eq(isnan(y[i]) != 0, what == 2 || (what == 1 && i == 3));
      ck_assert(isnan(y[i]) ? isnan(z[i]) != 0 : memcmp(&y[i], &z[i], 4) == 0);
    }
  }
  b->release(b, &books, dkv), b->release(b, &books, dq), b->release(b, &books, dy);
  free(kv), free(there), free(scratch);
  device_close(d);
}
END_TEST

/* what cannot be done fails the device: it does nothing more, gives zeros, and says why, in a pass as well, which stores nothing */
START_TEST(a_device_that_failed_says_so)
{
  struct pair r;
  ck_assert(pair_open(&r, "tests/golden/llama", NULL, 0, true));
  const struct buffers *b = device_memory(r.d);
  char block[2 * 210] = { 0 };
  float *x = b->alloc(b, &books, MEMORY_OTHER, 256, 4, &why), *y = b->alloc(b, &books, MEMORY_OTHER, 2, 4, &why), z[2] = { 1, 1 };
  struct matrix w = { { block, WEIGHT_Q6_K }, { NULL, WEIGHT_F32 }, 256, 2, false };
  struct pass *p;
  ck_assert(b->working(b, &why));
  r.e[1].k->linear(&r.e[1], &w, 1, x, 1, &y);
  b->get(b, z, y, sizeof z);
  ck_assert(z[0] == 0 && z[1] == 0);
  ck_assert(!b->working(b, &why));
  ck_assert_msg(strstr(why.text, "type") != NULL, "%s", why.text);
  ck_assert(!model_forward(&r.e[1], r.lm, r.s[1], &(struct row){ 0, 0, 1 }, 1, &p, &why));
  ck_assert_msg(strstr(why.text, device_name(r.d)) != NULL && strstr(why.text, " failed") != NULL, "%s", why.text);
  ck_assert(p == NULL && store_length(r.s[1], 0) == 0);
  b->release(b, &books, x), b->release(b, &books, y);
  pair_close(&r);
}
END_TEST

/* a driver that does what the host's does until its calls are used up: then one call fails, or it has no more memory */
static struct device_driver broken;
static unsigned calls_left, calls_broken;
static bool broken_run(void *state, const struct launch *list, size_t n, unsigned place, bool known, void *to, const void *from,
  size_t bytes);
static bool breaks(void)
{
  if (calls_left > 0 || (calls_broken > 0 && broken.run == broken_run)) return calls_left -= calls_left > 0, false;
  return calls_broken++, true;
}
static bool broken_run(void *state, const struct launch *list, size_t n, unsigned place, bool known, void *to, const void *from,
  size_t bytes)
{
  return !breaks() && driver_host.run(state, list, n, place, known, to, from, bytes);
}
static bool broken_put(void *state, void *to, const void *from, size_t bytes)
{
  return !breaks() && driver_host.put(state, to, from, bytes);
}
static bool broken_get(void *state, void *to, const void *from, size_t bytes)
{
  memset(to, 0x5a, bytes < 8 ? bytes : 8); /* what came before it broke */
  return !breaks() && driver_host.get(state, to, from, bytes);
}
static void *broken_alloc(void *state, size_t bytes)
{
  return breaks() ? NULL : driver_host.alloc(state, bytes);
}
static void *broken_alloc_shared(void *state, size_t bytes)
{
  return breaks() ? NULL : driver_host.alloc_shared(state, bytes);
}
static void broken_fault(void *state, char text[200])
{
  (void) state, strcpy(text, "a wire was pulled");
}
static struct device_driver *break_after(unsigned calls, bool memory)
{
  broken = driver_host;
  broken.fault = broken_fault;
  if (memory)
    broken.alloc = broken_alloc, broken.alloc_shared = broken_alloc_shared;
  else
    broken.run = broken_run, broken.put = broken_put, broken.get = broken_get;
  calls_left = calls, calls_broken = 0;
  return &broken;
}

/* the device breaks, or has no memory left, at each of the driver's calls: a sentence, and nothing is lost; and whatever is asked of it
   after that is refused with the same sentence, however often */
START_TEST(a_device_that_breaks_stays_broken)
{
  struct memory m = { 0 };
  struct model *lm = model_open(&m, "tests/golden/llama", &why);
  for (int memory = 0; memory < 2; memory++)
    for (unsigned k = 0, whole = 0; !whole; k++) {
      struct memory n = { 0 };
      struct counters c = { 0 };
      struct pass *p = NULL;
      float logits[400];
      size_t which = 2;
      struct row rows[3] = { { 0, 0, 1 }, { 0, 1, 2 }, { 0, 2, 3 } };
      struct device *d = device_open(&n, "host", &why);
      d->driver = break_after(k, memory);
      struct prepared_weights *w = k % 2 ? model_prepare(&n, device_kernels(d), ACTIVATIONS_DEFAULT, lm, &why) : NULL;
      struct engine e = { .k = device_kernels(d), .c = &c, .prepared = w };
      struct cache_options o = { .page_rows = 4, .memory = device_memory(d) };
      struct store *s = cache_open(&n, &lm->config, 1, &o, &why);
      strcpy(why.text, "");
      bool ok = s != NULL && model_forward(&e, lm, s, rows, 3, &p, &why) && model_logits(&e, lm, p, &which, 1, logits, &why);
      whole = calls_broken == 0;
      ck_assert_msg(!whole || ok, "%s", why.text);
      ck_assert_msg(memory || whole || !ok, "call %u failed, and nobody was told", k);
      ck_assert_msg(ok || s == NULL || strstr(why.text, memory ? "out of memory" : "a wire was pulled") != NULL, "call %u: %s", k, why.text);
      if (!memory && !ok) { /* once broken, broken for ever: no list grows, zeros come back, the sentence is that of the first time */
        float x[2] = { 1, 1 }, *dx = (float *) (void *) d->work;
        ck_assert(d->failed);
        for (int i = 0; i < MOST_LAUNCHES + 100; i++) e.k->add(&e, dx, dx, 2);
        for (int i = 0; i < 20 && s != NULL; i++) {
          struct pass *again;
          ck_assert(!model_forward(&e, lm, s, &(struct row){ 0, store_length(s, 0), 1 }, 1, &again, &why));
          ck_assert_msg(strstr(why.text, "a wire was pulled") != NULL, "%s", why.text);
        }
        ck_assert_uint_eq(d->n, 0);
        device_memory(d)->get(device_memory(d), x, dx, sizeof x);
        ck_assert(x[0] == 0 && x[1] == 0);
        uint32_t id;
        ck_assert(!device_choose(d, dx, 2, 0, 0, 0, 0, &id, &why));
      }
      pass_close(p), store_close(s), prepared_close(&n, w), device_close(d);
      ck_assert_uint_eq(n.all.live, 0);
    }
  for (unsigned k = 0; k < 3; k++) { /* opening needs memory three times */
    struct memory n = { 0 };
    struct device d = { .driver = break_after(k, true), .m = &n, .work_bytes = HOST_WORK_BYTES };
    char text[200];
    d.state = driver_host.open(0, &d.facts, text);
    ck_assert(!device_memory_open(&d, &why));
    ck_assert_msg(strstr(why.text, "out of memory") != NULL, "%s", why.text);
    device_memory_close(&d);
    driver_host.close(d.state);
    ck_assert_uint_eq(n.all.live, 0);
  }
  model_close(&m, lm);
}
END_TEST

/* matrices that were not prepared, each with its bias, in as many slices of rows as the workspace wants, and of as many types as there
   are: what is lent to a launch is given back */
START_TEST(what_is_lent_is_given_back)
{
  enum { N = 7, IN = 4096, OUT = 3, ROWS = LESS > 1 ? 300 : 600 };
  static const enum weight_type mixed[N] = { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16, WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16, WEIGHT_F32 };
  struct device *d = open_device((unsigned) _i);
  const struct buffers *b = device_memory(d);
  struct engine e = { .k = device_kernels(d) }, plain = { .k = &kernels_plain };
  float *x = malloc(ROWS * IN * 4), y[32 * OUT], z[N][32 * OUT], *row[N], *dy[N], bias[OUT] = { 1, 2, 3 };
  float *dx = b->alloc(b, &books, MEMORY_OTHER, ROWS * IN, 4, &why);
  struct matrix list[N];
  for (size_t j = 0; j < ROWS * IN; j++) x[j] = number();
  b->set(b, dx, x, ROWS * IN * 4);
  for (int i = 0; i < N; i++) {
    list[i] = random_matrix(mixed[i], IN, OUT), list[i].bias.data = bias, row[i] = z[i];
    dy[i] = b->alloc(b, &books, MEMORY_OTHER, ROWS * OUT, 4, &why);
  }
  plain.k->linear(&plain, list, N, x, 2, row);
  e.k->linear(&e, list, N, dx, 2, dy);
  ck_assert_uint_eq(d->n_lent, 0);
  for (int i = 0; i < N; i++) {
    b->get(b, y, dy[i], 2 * OUT * 4);
    ck_assert_msg(memcmp(y, z[i], 2 * OUT * 4) == 0, "matrix %d", i);
  }
  struct matrix halves[3] = { list[2], list[5], list[2] };
  e.k->linear_bf16(&e, halves, 3, dx, ROWS, dy);
  ck_assert_uint_eq(d->n_lent, 0);
  for (int i = 0; i < 3; i++) { /* the last rows are in the last slice; alone they have the same bits */
    b->get(b, z[0], dy[i] + (ROWS - 2) * OUT, 2 * OUT * 4);
    there(d, &halves[i], ACTIVATIONS_BF16, x + (ROWS - 2) * IN, 2, y);
    ck_assert_msg(memcmp(y, z[0], 2 * OUT * 4) == 0, "matrix %d", i);
  }
  ck_assert(b->working(b, &why));
  for (size_t i = 0; i < d->n_blocks; i++) ck_assert(!d->block[i].used || d->block[i].what != MEMORY_WEIGHTS);
  for (int i = 0; i < N; i++) b->release(b, &books, dy[i]), free((void *) list[i].weight.data);
  b->release(b, &books, dx), free(x);
  device_close(d);
  ck_assert_uint_eq(books.all.live, 0);
}
END_TEST

/* small numbers in as many pieces as were reserved fit, at every length of a piece, and are there when the launch reads them, though the
   room for them is used up again and again */
START_TEST(what_was_reserved_can_be_sent)
{
  enum { PIECES = 700 };
  struct device *d = open_device((unsigned) _i);
  const struct buffers *b = device_memory(d);
  size_t passed = 0, round = 0;
  unsigned char *got = b->alloc(b, &books, MEMORY_OTHER, PIECES, 1, &why), back[PIECES];
  for (; passed < 2 * (size_t) SMALL_BYTES; round++) {
    size_t each = 1 + below(2) * below(40), n = 1 + below(PIECES);
    unsigned char piece[40], at = (unsigned char) rnd(&seed);
    device_reserve(d, n * each, n);
    for (size_t i = 0; i < n; i++) {
      memset(piece, at + (int) i, sizeof piece);
      struct launch l = { .work = WORK_copy_bytes, .x = 1, .y = 1, .z = 1, .threads = 32 };
      l.a.copy = (struct copy_args){ got + i, (char *) device_send(d, piece, each) + each - 1, 1, 0, 0 };
      device_launch(d, &l);
    }
    ck_assert_msg(b->working(b, &why), "round %zu: %s", round, why.text);
    ck_assert_uint_le(d->filled, SMALL_BYTES);
    passed += 16 * n;
    if (below(40) != 0 && d->filled < SMALL_BYTES - 20000) continue; /* an answer empties the room */
    if (below(3) == 0) {
      ck_assert(device_flush(d));
      memcpy(back, got, n);
    } else
      b->get(b, back, got, n);
    if (getenv("INCIPIT_TEST_DEVICE") == NULL)
      for (size_t i = 0; i < n; i++) ck_assert_uint_eq(back[i], (unsigned char) (at + (int) i));
  }
  device_reserve(d, 1, 1);
  (void) device_send(d, back, 1);
  device_reserve(d, SMALL_BYTES - 16, 1); /* the most that there is */
  ck_assert(b->working(b, &why));
  device_reserve(d, SMALL_BYTES, 1);
  ck_assert(!b->working(b, &why));
  b->release(b, &books, got);
  device_close(d);
}
END_TEST

/* what is beside a row is no part of it: all other rows of the inputs, and all other outputs of the matrix, are NaN */
START_TEST(a_row_does_not_read_its_neighbours)
{
  static const enum weight_type types[] = { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16, WEIGHT_BF16, WEIGHT_Q8_0, WEIGHT_Q8_0 };
  static const enum activations formats[] = { ACTIVATIONS_F32, ACTIVATIONS_F32, ACTIVATIONS_F32, ACTIVATIONS_BF16, ACTIVATIONS_F32,
    ACTIVATIONS_INT8 };
  struct device *d = open_device((unsigned) _i);
  for (int i = 0; i < 72 / LESS; i++) {
    enum weight_type type = types[i % 6];
    size_t in = type == WEIGHT_Q8_0 ? 32 * (1 + below(3)) : i % 12 < 6 ? 33 : 1 + below(70), out = 1 + below(20), rows = 2 + below(i % 3 ? 12 : 40);
    size_t r = below(rows), o = below(out), bytes = weight_row_bytes(type, in);
    struct matrix w = random_matrix(type, in, out), one = w;
    char *data = (char *) (uintptr_t) w.weight.data;
    float *x = malloc(rows * in * 4), *y = malloc(rows * out * 4), z;
    for (size_t j = 0; j < rows * in; j++) x[j] = j / in == r ? number() : NAN;
    for (size_t j = 0; j < out; j++) { /* every number of a row, or the scale of every block */
      uint16_t h = type == WEIGHT_BF16 ? 0x7fc0 : 0x7e00;
      for (size_t k = 0; j != o && k < bytes; k += type == WEIGHT_F32 ? 4 : type == WEIGHT_Q8_0 ? 34 : 2)
        if (type == WEIGHT_F32)
          memcpy(data + j * bytes + k, &(float){ NAN }, 4);
        else
          memcpy(data + j * bytes + k, &h, 2);
    }
    there(d, &w, formats[i % 6], x, rows, y);
    one.out = 1, one.weight.data = data + o * bytes;
    there(d, &one, formats[i % 6], x + r * in, 1, &z);
    ck_assert_msg(isfinite(z) && memcmp(&z, &y[r * out + o], 4) == 0, "type %d, format %d, row %zu of [%zu][%zu]->%zu: %g, alone %g", (int) type,
      (int) formats[i % 6], r, rows, in, out, (double) y[r * out + o], (double) z);
    for (size_t j = 0; j < rows * out; j++) ck_assert(j == r * out + o || isnan(y[j]) || formats[i % 6] == ACTIVATIONS_INT8);
    free(x), free(y), free(data);
  }
  device_close(d);
}
END_TEST

/* numbers at an edge of the type: those whose products overflow, subnormal ones, infinities, NaN */
static float edge_number(void)
{
  static const float odd[] = { 0, INFINITY, NAN, 0x1.fffffep127f, 0x1p127f, 3e38f, 65504, 65520, 3e19f, 1e-45f, 1e-40f, 0x1p-24f, 0x1p-126f };
  float x = odd[below(sizeof odd / sizeof *odd)];
  return below(2) ? x : -x;
}
/* what a device writes into its cache is what the store's formats write, byte for byte, whatever the numbers; scales that are NaN may be
   any NaN */
START_TEST(the_cache_is_written_as_on_the_host)
{
  enum { D = 64, KV = 2, ROWS = 9 };
  struct device *d = open_device((unsigned) _i);
  const struct buffers *b = device_memory(d);
  struct engine e = { .k = device_kernels(d) }, host = { .k = &kernels_plain };
  struct attention_dims h = { 4, KV, D, 1 };
  float k[ROWS * KV * D], v[ROWS * KV * D], *dk = b->alloc(b, &books, MEMORY_OTHER, ROWS * KV * D, 4, &why),
    *dv = b->alloc(b, &books, MEMORY_OTHER, ROWS * KV * D, 4, &why);
  for (size_t f = 0; format_at(f) != NULL; f++)
    for (int i = 0; i < 8; i++) {
      enum weight_type type = format_at(f)->type;
      size_t one = weight_row_bytes(type, D), bytes = 2 * ROWS * KV * one;
      char *here = calloc(bytes, 1), *back = calloc(bytes, 1), *dkv = b->alloc(b, &books, MEMORY_OTHER, bytes, 1, &why);
      for (size_t j = 0; j < ROWS * KV * D; j++)
        k[j] = below(i < 4 ? 40 : 3) ? number() : edge_number(), v[j] = below(i < 4 ? 40 : 3) ? number() : edge_number();
      b->set(b, dk, k, sizeof k), b->set(b, dv, v, sizeof v), b->set(b, dkv, here, bytes);
      struct segment s[2];
      for (int j = 0; j < 2; j++) {
        uintptr_t at = (uintptr_t) (j ? dkv : here);
        s[j] = (struct segment){ { at, at + bytes / 2, NULL, 0, KV * one, one, type, 0 }, 0, ROWS, 0, 0 };
      }
      host.k->write(&host, &h, s, 1, format_at(f)->encode, k, v);
      e.k->write(&e, &h, s + 1, 1, format_at(f)->encode, dk, dv);
      b->get(b, back, dkv, bytes);
      ck_assert_msg(b->working(b, &why), "%s", why.text);
      for (size_t j = 0; j < 2 * ROWS * KV * D; j++) {
        struct tensor a = { here, type }, c = { back, type };
        float x = tensor_number(a, j), y = tensor_number(c, j);
        ck_assert_msg((isnan(x) && isnan(y)) || memcmp(&x, &y, 4) == 0, "%s: number %zu is %a, not %a", format_at(f)->name, j, (double) y, (double) x);
      }
      b->release(b, &books, dkv), free(here), free(back);
    }
  b->release(b, &books, dk), b->release(b, &books, dv);
  device_close(d);
}
END_TEST

/* infinities, NaN and overflow go through a tensor core as through the plain sums, where both can say the same: a row in which nothing but
   one input is odd; and they stay in their row */
START_TEST(a_tensor_core_keeps_what_is_infinite)
{
  struct device *d = open_device((unsigned) _i);
  for (int i = 0; i < 24 / LESS; i++) {
    size_t in = 1 + below(i % 2 ? 1100 : 40), out = 1 + below(20), rows = 1 + below(i % 3 ? 10 : 40);
    struct matrix w = random_matrix(WEIGHT_BF16, in, out);
    float *x = malloc(rows * in * 4), *y = malloc(rows * out * 4), *z = malloc(rows * out * 4);
    for (size_t j = 0; j < rows * in; j++) x[j] = number();
    for (size_t r = 0; r < rows; r += 2) x[r * in + below(in)] = (const float[]){ INFINITY, -INFINITY, NAN, 0x1.fffffep127f }[below(4)];
    struct engine plain = { .k = &kernels_plain, .activations = ACTIVATIONS_BF16 };
    kernels_multiply(&plain, &w, 1, x, rows, &z);
    there(d, &w, ACTIVATIONS_BF16, x, rows, y);
    for (size_t j = 0; j < rows * out; j++) {
      ck_assert_msg(isfinite(z[j]) ? isfinite(y[j]) != 0 : isnan(z[j]) ? isnan(y[j]) != 0 : y[j] == z[j], "row %zu of %zu, [%zu]: %g, not %g",
        j / out, rows, in, (double) y[j], (double) z[j]);
    }
    free(x), free(y), free(z), free((void *) w.weight.data);
  }
  device_close(d);
}
END_TEST

/* what a caller may do wrong is a sentence and not a write beyond an end */
START_TEST(what_no_launch_can_take_is_refused)
{
  struct device *d = open_device(0);
  const struct buffers *b = device_memory(d);
  struct engine e = { .k = device_kernels(d) };
  float *x = b->alloc(b, &books, MEMORY_OTHER, 64, 4, &why), y[16], *part[4] = { x, x, x, x };
  uint16_t w[16] = { 0 };
  double seconds;
  ck_assert(!device_step(d, 4, w, y, 16, 1, y, &seconds, &why) && strstr(why.text, "step 4") != NULL);
  ck_assert(!device_step(d, 0, w, y, 15, 1, y, &seconds, &why) && strstr(why.text, "multiple of 16") != NULL);
  uint64_t live = books.all.live;
  b->release(b, &books, x);
  b->release(b, &books, x); /* a second time does nothing */
  ck_assert_uint_eq(books.all.live, live - 256);
  ck_assert(b->working(b, &why));
  size_t big = 2 * (size_t) SMALL_BYTES + 12345; /* comes back in pieces */
  char *to = b->alloc(b, &books, MEMORY_OTHER, big, 1, &why), *from = malloc(big), *back = malloc(big);
  for (size_t i = 0; i < big; i++) from[i] = (char) (i >> 20 ^ i);
  b->set(b, to, from, big), b->get(b, back, to, big);
  ck_assert(memcmp(from, back, big) == 0);
  b->release(b, &books, to), free(from), free(back);
  e.k->split(&e, x, 1, 4, 4, part);
  ck_assert(!b->working(b, &why) && strstr(why.text, "parts") != NULL);
  device_close(d);
  ck_assert_uint_eq(books.all.live, 0);
}
END_TEST

START_TEST(a_device_that_is_not_there_is_a_sentence)
{
  static const char *const bad[] = { "cpu", "cuda:x", "cuda:0x", "host:3", "hosts", "", "host:-4294967295", "host: 1", "host:+1", "host:4294967297" };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ck_assert_ptr_null(device_open(&books, bad[i], &why));
    ck_assert_msg(strstr(why.text, "device") != NULL, "%s", why.text);
  }
#ifndef INCIPIT_CUDA
  ck_assert_ptr_null(device_open(&books, "cuda", &why));
  ck_assert_msg(strstr(why.text, "make CUDA=1") != NULL, "%s", why.text);
#endif
  ck_assert_uint_eq(books.all.live, 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("device");
  TCase *t = tcase_create("device"), *linear = tcase_create("linear");
  tcase_set_timeout(t, getenv("INCIPIT_TEST_DEVICE") != NULL ? 3600 : 300);
  tcase_set_timeout(linear, getenv("INCIPIT_TEST_DEVICE") != NULL ? 3600 : 300);
  tcase_add_loop_test(t, a_pass_has_the_bits_of_the_host, 0, ORDERS * MODELS);
  tcase_add_loop_test(linear, a_linear_layer_has_the_bits_of_the_plain_one, 0, ORDERS);
  tcase_add_loop_test(t, the_steps_have_the_bits_of_the_plain_table, 0, ORDERS);
  tcase_add_loop_test(t, a_tensor_core_does_not_see_the_company, 0, ORDERS);
  tcase_add_loop_test(t, the_choice_is_the_samplers, 0, ORDERS);
  tcase_add_loop_test(t, a_row_keeps_its_bits_in_any_company, 0, ORDERS);
  tcase_add_loop_test(t, places_are_not_overwritten, 0, ORDERS);
  tcase_add_loop_test(t, what_is_no_number_stays_in_the_result, 0, 2 * ORDERS);
  tcase_add_loop_test(t, the_lists_of_a_text_are_known, 0, ORDERS);
  tcase_add_loop_test(t, a_long_row_is_normalized, 0, ORDERS);
  tcase_add_loop_test(linear, a_row_does_not_read_its_neighbours, 0, ORDERS);
  tcase_add_loop_test(t, the_cache_is_written_as_on_the_host, 0, ORDERS);
  tcase_add_loop_test(t, a_tensor_core_keeps_what_is_infinite, 0, ORDERS);
  tcase_add_test(t, what_no_launch_can_take_is_refused);
  if (LESS <= 6) { /* nothing of these is about what threads of a kernel share (races.sh) */
    tcase_add_loop_test(t, what_is_lent_is_given_back, 0, ORDERS);
    tcase_add_loop_test(t, what_was_reserved_can_be_sent, 0, ORDERS);
    tcase_add_test(t, a_device_that_breaks_stays_broken);
    tcase_add_test(t, every_refusal_is_survived);
  }
  tcase_add_test(t, a_device_that_failed_says_so);
  tcase_add_test(t, a_device_that_is_not_there_is_a_sentence);
  suite_add_tcase(s, t), suite_add_tcase(s, linear);
  return suite_run(s);
}
