/* A pass through a backend whose memory the host cannot read gives the bits of a pass on the host;
   and what is in the wrong memory is refused, or stops the program. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include "variants.h"
#include "accounts/formats.h"
#include "cache/cache.h"
#include "remote.h"
#include "kernels/kernels.h"

enum { SEQ = 3, MOST = 24 };
static const char *const own_model[] = { "gpt2", "llama", "mistral", "qwen2", "qwen3",
  "qwen3-layers", "gpt2-unscaled", "families/olmo2", "families/exaone4",
  "families/ernie4_5" };
enum { MODELS = sizeof own_model / sizeof *own_model };

/* the same model with two engines and a cache for each */
struct pair {
  struct memory m[2];
  struct counters c[2];
  struct engine e[2];
  struct store *s[2];
  struct pool *pool;
  struct model *lm;
  struct error why;
};
static bool pair_open(struct pair *r, const char *path, const struct kv_format *f, unsigned workers)
{
  memset(r, 0, sizeof *r);
  const struct kernels *host = kernels_find(NULL, NULL), *k[2] = { host, remote_open(host) };
  r->pool = pool_open(&r->m[1], workers, &r->why);
  r->lm = model_open(&r->m[0], path, &r->why);
  for (int i = 0; i < 2 && r->lm != NULL; i++) {
    struct cache_options o = { .page_rows = 4, .format = f, .memory = k[i]->memory };
    r->e[i] = (struct engine){ .k = k[i], .pool = r->pool, .c = &r->c[i] };
    r->s[i] = cache_open(&r->m[i], &r->lm->config, SEQ, &o, &r->why);
  }
  return r->lm != NULL && r->s[1] != NULL;
}
static void pair_close(struct pair *r)
{
  for (int i = 0; i < 2; i++) store_close(r->s[i]);
  model_close(&r->m[0], r->lm), pool_close(&r->m[1], r->pool);
  ck_assert_uint_eq(r->m[0].all.live, 0);
  ck_assert_uint_eq(r->m[1].all.live, 0);
  ck_assert_uint_eq(the_remote.live, 0);
}

/* a pass and its logits on both: the same answer, the same sentence, the same bits */
static bool both(struct pair *r, const struct row *rows, size_t n, const size_t *which,
  size_t wanted, float *logits[2])
{
  struct pass *p[2] = { NULL, NULL };
  struct error why[2] = { { "" }, { "" } };
  size_t bytes = wanted * r->lm->config.vocab_size * sizeof(float);
  bool ok[2];
  for (int i = 0; i < 2; i++) {
    ok[i] = model_forward(&r->e[i], r->lm, r->s[i], rows, n, &p[i], &why[i])
      && model_logits(&r->e[i], r->lm, p[i], which, wanted, logits[i], &why[i]);
    memset(logits[i] + wanted * r->lm->config.vocab_size, 0, sizeof(float));
  }
  ck_assert_msg(ok[0] == ok[1] && strcmp(why[0].text, why[1].text) == 0, "%d %s; %d %s", ok[0],
    why[0].text, ok[1], why[1].text);
  if (ok[0]) {
    ck_assert(memcmp(logits[0], logits[1], bytes) == 0);
    ck_assert(
      memcmp(p[0]->first_bad_layer, p[1]->first_bad_layer, n * sizeof *p[0]->first_bad_layer) == 0);
    ck_assert(is_handle(p[1]->hidden) && !is_handle(p[0]->hidden));
  }
  pass_close(p[0]), pass_close(p[1]);
  return ok[0];
}

/* prompts in pieces, batches in any order, forks, crops, single tokens, in every format that the
   model's heads allow */
START_TEST(a_memory_that_nobody_sees_gives_the_same_bits)
{
  char path[200];
  uint64_t seed = suite_seed() + (uint64_t) _i;
  unsigned formats = 0;
  snprintf(path, sizeof path, "tests/golden/%s", own_model[_i]);
  for (size_t k = 0; format_at(k) != NULL; k++) {
    struct pair r;
    if (!pair_open(&r, path, format_at(k), 1 + (unsigned) k % 2)) {
      ck_assert_msg(strstr(r.why.text, "multiple of 32") != NULL, "%s", r.why.text);
      pair_close(&r);
      continue;
    }
    formats++;
    size_t v = r.lm->config.vocab_size, context = r.lm->config.n_positions;
    float *logits[2] = { malloc((4 * v + 1) * sizeof(float)), malloc((4 * v + 1) * sizeof(float)) };
    for (int step = 0; step < 40; step++) {
      struct row rows[SEQ * MOST];
      size_t n = 0, which[4];
      uint32_t one = (uint32_t) (rnd(&seed) % SEQ), other = (uint32_t) (rnd(&seed) % SEQ);
      size_t half = store_length(r.s[0], one) / 2;
      if (rnd(&seed) % 4 == 0)
        for (int i = 0; i < 2; i++) store_crop(r.s[i], one, half);
      if (rnd(&seed) % 4 == 0 && one != other)
        for (int i = 0; i < 2; i++)
          store_crop(r.s[i], other, 0), ck_assert(store_fork(r.s[i], one, other, &r.why));
      for (uint32_t q = 0; q < SEQ; q++) {
        size_t at = store_length(r.s[0], q), left = context - at,
               take = rnd(&seed) % (rnd(&seed) % 3 == 0 ? MOST : 3);
        for (size_t i = 0; i < take && i < left; i++)
          rows[n++] = (struct row){ q, (uint32_t) (at + i), (uint32_t) (rnd(&seed) % v) };
      }
      if (n == 0) continue;
      for (size_t i = n - 1; i > 0 && step % 2; i--) {
        size_t j = rnd(&seed) % (i + 1);
        struct row t = rows[i];
        rows[i] = rows[j], rows[j] = t;
      }
      size_t wanted = 1 + rnd(&seed) % 4;
      for (size_t i = 0; i < wanted; i++) which[i] = rnd(&seed) % n;
      ck_assert(both(&r, rows, n, which, wanted, logits));
      ck_assert(memcmp(&r.c[0], &r.c[1], sizeof r.c[0]) == 0);
      ck_assert(cache_look(r.s[0]).bytes_copied == cache_look(r.s[1]).bytes_copied);
    }
    free(logits[0]), free(logits[1]);
    pair_close(&r);
  }
  ck_assert_uint_ge(formats, 3);
}
END_TEST

/* what a watcher is shown, and what it writes, is on the host in either case */
struct shown {
  uint64_t sum, calls;
  bool spoil;
};
static void look(void *ctx, enum tap_point stage, uint32_t layer, float *x, size_t rows, size_t width)
{
  struct shown *s = ctx;
  s->calls++;
  for (size_t i = 0; i < rows * width; i++) {
    uint32_t u;
    ck_assert(!is_handle(&x[i]));
    memcpy(&u, &x[i], 4);
    s->sum = s->sum * 31 + u;
  }
  if (s->spoil && layer == 1 && (stage == TAP_MIXED || stage == TAP_LAYER))
    for (size_t i = 0; i < width; i++) x[(rows - 1) * width + i] *= (float) (i % 3);
}
START_TEST(a_watcher_sees_the_same_and_is_felt)
{
  char path[200];
  struct pair r;
  snprintf(path, sizeof path, "tests/golden/%s", own_model[_i]);
  ck_assert(pair_open(&r, path, NULL, 2));
  size_t v = r.lm->config.vocab_size, last = 5;
  float *logits[2][2];
  for (int spoil = 0; spoil < 2; spoil++) {
    struct shown s[2] = { { .spoil = spoil }, { .spoil = spoil } };
    for (int i = 0; i < 2; i++) {
      struct watcher watch = { look, &s[i], true };
      struct row rows[6];
      struct pass *p;
      for (uint32_t j = 0; j < 6; j++) rows[j] = (struct row){ 0, j, (j * 7 + 1) % (uint32_t) v };
      store_clear(r.s[i]);
      logits[spoil][i] = malloc(v * sizeof(float));
      ck_assert(model_forward_watched(&r.e[i], r.lm, r.s[i], rows, 6, &watch, &p, &r.why));
      ck_assert(model_logits(&r.e[i], r.lm, p, &last, 1, logits[spoil][i], &r.why));
      pass_close(p);
    }
    ck_assert(s[0].sum == s[1].sum && s[0].calls == s[1].calls && s[0].calls > 20);
    ck_assert(memcmp(logits[spoil][0], logits[spoil][1], v * sizeof(float)) == 0);
  }
  ck_assert(memcmp(logits[0][1], logits[1][1], v * sizeof(float)) != 0);
  for (int i = 0; i < 4; i++) free(logits[i / 2][i % 2]);
  pair_close(&r);
}
END_TEST

/* a number that is not finite is found where it is, and named by the same layer */
START_TEST(rows_that_are_not_finite_are_marked_there)
{
  struct pair r;
  struct error why[2];
  ck_assert(pair_open(&r, "tests/golden/llama", NULL, 1));
  size_t d = r.lm->config.d_model, n = r.lm->config.vocab_size * d;
  float *table = malloc(n * sizeof *table), *logits[2] = { malloc(400 * d), malloc(400 * d) };
  r.e[0].k->embed(&r.e[0], r.lm->embedding, n, &(uint32_t){ 0 }, 1, table);
  struct tensor old = r.lm->embedding;
  r.lm->embedding = (struct tensor){ table, WEIGHT_F32 };
  for (size_t at = 0; at < d; at++) { /* every place, so every lane and the rest of a row */
    float kept = table[2 * d + at];
    table[2 * d + at] = at % 3 == 0 ? INFINITY : at % 3 == 1 ? -INFINITY : NAN;
    struct row rows[3] = { { 0, 0, 1 }, { 0, 1, 2 }, { 0, 2, 1 } };
    for (int i = 0; i < 2; i++) {
      struct pass *p;
      store_clear(r.s[i]);
      ck_assert(model_forward(&r.e[i], r.lm, r.s[i], rows, 3, &p, &r.why));
      ck_assert(pass_is_finite(r.lm, p, 0, &why[i]) && !pass_is_finite(r.lm, p, 1, &why[i]));
      ck_assert_uint_eq(p->first_bad_layer[1], 0);
      ck_assert_uint_eq(p->first_bad_layer[2], 1);
      pass_close(p);
    }
    ck_assert_str_eq(why[0].text, why[1].text);
    table[2 * d + at] = kept;
  }
  r.lm->embedding = old;
  free(table), free(logits[0]), free(logits[1]);
  pair_close(&r);
}
END_TEST

/* memory refused at every request: nothing is stored, and everything is given back */
START_TEST(every_refusal_there_is_survived)
{
  struct row rows[9];
  struct shown s = { 0 };
  struct watcher watch = { look, &s, true };
  uint64_t k = 0;
  for (bool whole = false; !whole;) {
    struct pair r;
    struct pass *p = NULL;
    float logits[400];
    size_t which[2] = { 8, 3 };
    ck_assert(pair_open(&r, "tests/golden/gpt2", NULL, 2));
    for (uint32_t i = 0; i < 9; i++) rows[i] = (struct row){ 0, i, i };
    r.m[1].fail_at = r.m[1].all.requests + ++k;
    whole = model_forward_watched(&r.e[1], r.lm, r.s[1], rows, 9, &watch, &p, &r.why);
    ck_assert_uint_eq(store_length(r.s[1], 0), whole ? 9 : 0);
    whole = whole && model_logits(&r.e[1], r.lm, p, which, 2, logits, &r.why);
    if (!whole) ck_assert_msg(strstr(r.why.text, "bytes") != NULL, "%s", r.why.text);
    pass_close(p);
    pair_close(&r);
    munmap(the_remote.handles, REMOTE_SPACE), munmap(the_remote.truth, REMOTE_SPACE);
    memset(&the_remote, 0, sizeof the_remote);
  }
  ck_assert_uint_gt(k, 15);
}
END_TEST

START_TEST(kernels_and_store_must_have_one_memory)
{
  struct pair r;
  struct pass *p;
  ck_assert(pair_open(&r, "tests/golden/llama", NULL, 1));
  for (int i = 0; i < 2; i++) {
    struct row row = { 0, 0, 1 };
    ck_assert(!model_forward(&r.e[i], r.lm, r.s[1 - i], &row, 1, &p, &r.why));
    ck_assert_ptr_nonnull(strstr(r.why.text, r.e[i].k->name));
    ck_assert_ptr_nonnull(strstr(r.why.text, "in the memory"));
    ck_assert(p == NULL && store_length(r.s[1 - i], 0) == 0);
  }
  struct store *plain = array_store_open(&r.m[0], &r.lm->config, &r.why);
  ck_assert(!model_forward(&r.e[1], r.lm, plain, &(struct row){ 0, 0, 1 }, 1, &p, &r.why));
  store_close(plain);
  pair_close(&r);
}
END_TEST

/* the proof that the proof is one: a handle cannot be read */
START_TEST(a_handle_cannot_be_read)
{
  struct memory m = { 0 };
  remote_open(kernels_at(0));
  volatile char *p = remote_alloc(&the_remote.b, &m, MEMORY_OTHER, 1, 64, NULL);
  signal(SIGSEGV, SIG_DFL);
  ck_assert_int_eq(p[5], 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("backend");
  TCase *t = tcase_create("backend");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, a_memory_that_nobody_sees_gives_the_same_bits, 0, MODELS);
  tcase_add_loop_test(t, a_watcher_sees_the_same_and_is_felt, 0, MODELS);
  tcase_add_test(t, rows_that_are_not_finite_are_marked_there);
  tcase_add_test(t, every_refusal_there_is_survived);
  tcase_add_test(t, kernels_and_store_must_have_one_memory);
  tcase_add_test_raise_signal(t, a_handle_cannot_be_read, SIGSEGV);
  suite_add_tcase(s, t);
  return suite_run(s);
}
