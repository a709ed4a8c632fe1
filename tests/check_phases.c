/* Chapter 5: two phases -- what is measured is what was asked for, and a text that is only read is scored as it should be. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include "suite.h"
#include "tiny.h"
#include "cache/cache.h"
#include "phases/phases.h"

struct rig { struct memory m; struct counters c; struct engine e; struct tiny t; struct generator g; struct error why; };
static void rig_open(struct rig *r, uint64_t seed, uint32_t context)
{
  memset(r, 0, sizeof *r);
  tiny_make(&r->t, seed);
  r->t.lm.config.n_positions = context;
  r->e = (struct engine) {kernels_find(NULL, NULL), NULL, &r->c};
  r->g = (struct generator) {&r->e, &r->t.lm, cache_open(&r->m, &r->t.lm.config, 1, &(struct cache_wishes) {.rows = 0}, &r->why), &r->m};
  ck_assert_msg(r->g.s != NULL, "%s", r->why.words);
}
static void rig_close(struct rig *r)
{
  store_close(r->g.s);
  ck_assert_uint_eq(r->m.all.held, 0);
  tiny_free(&r->t);
}

/* windows of random lengths and strides: every token scored once, in the first window where it has a predecessor, by the
   log-probabilities of a whole pass over that window from an empty store of chapter 2 */
START_TEST(perplexity_is_the_sum_of_its_windows)
{
  uint64_t seed = suite_seed() + (uint64_t) _i;
  struct rig r;
  size_t context = 2 + rnd(&seed) % 150, stride = 1 + rnd(&seed) % context, n = rnd(&seed) % 400;
  if (_i % 3 == 0) stride = context;
  rig_open(&r, seed, 200);
  uint32_t *id = malloc((n + 1) * sizeof *id);
  for (size_t i = 0; i < n; i++) id[i] = (uint32_t) (rnd(&seed) % TINY_V);
  bool *scored = calloc(n + 1, 1);
  double want = 0;
  size_t tokens = 0, windows = 0;
  struct store *plain = store_open(&r.m, &r.t.lm.config, 1, &r.why);
  for (size_t begin = 0, end = 0; end < n; begin += stride, windows++) {
    double lp[200], sum;
    end = begin + context < n ? begin + context : n;
    ck_assert_msg(logprobs(&r.e, &r.t.lm, plain, id + begin, end - begin, lp, &sum, &r.why), "%s", r.why.words);
    for (size_t i = begin + 1; i < end; i++)
      if (!scored[i]) scored[i] = true, want += -lp[i - begin], tokens++;
  }
  store_close(plain);
  struct perplexity p;
  ck_assert_msg(perplexity_of(&r.g, id, n, context, stride, &p, &r.why), "%s", r.why.words);
  ck_assert_msg(p.loss == want && p.tokens == tokens && p.windows == windows, "seed %" PRIu64 ": %zu ids, %zu/%zu: %.17g of %zu in %zu, wanted %.17g of %zu in %zu",
    seed, n, context, stride, p.loss, p.tokens, p.windows, want, tokens, windows);
  free(id), free(scored);
  rig_close(&r);
}
END_TEST

START_TEST(perplexity_refuses_what_makes_no_sense)
{
  struct rig r;
  struct perplexity p;
  uint32_t id[50] = {0};
  rig_open(&r, 1, 40);
  static const struct { size_t context, stride; const char *words; } bad[] = {{0, 1, "windows of 0"}, {41, 1, "1 to 40"}, {20, 0, "every 0"}, {20, 21, "1 to 20"}};
  for (int k = 0; k < 4; k++) {
    ck_assert(!perplexity_of(&r.g, id, 50, bad[k].context, bad[k].stride, &p, &r.why));
    ck_assert_msg(strstr(r.why.words, bad[k].words) != NULL, "%s", r.why.words);
  }
  id[30] = TINY_V;
  ck_assert(!perplexity_of(&r.g, id, 50, 20, 20, &p, &r.why) && strstr(r.why.words, "token 30 of the text is id 19; the vocabulary has 19") != NULL);
  ck_assert_uint_eq(r.c.rows, 0);                          /* before anything is read: a later chunk's id scores an earlier row */
  id[30] = 0;
  ck_assert(perplexity_of(&r.g, id, 1, 20, 20, &p, &r.why) && p.tokens == 0 && p.windows == 1);
  ck_assert(perplexity_of(&r.g, id, 0, 20, 20, &p, &r.why) && p.tokens == 0 && p.windows == 0);
  float *w = (float *) (uintptr_t) r.t.lm.head.weight.data, kept = w[5];
  w[5] = NAN;
  ck_assert(!perplexity_of(&r.g, id, 10, 20, 20, &p, &r.why) && strstr(r.why.words, "not finite") != NULL);
  w[5] = kept;
  bool whole = false;                                      /* every refused request is survived */
  for (uint64_t k = 1; !whole; k++) {
    struct perplexity again;
    r.m.refuse_at = r.m.all.requests + k;
    whole = perplexity_of(&r.g, id, 50, 20, 10, &again, &r.why);
    r.m.refuse_at = 0;
    if (whole) ck_assert_uint_eq(again.tokens, 49);
    ck_assert_uint_lt(k, 1000);
  }
  rig_close(&r);
}
END_TEST

/* what a pass has taken: exactly the rows that were asked for, whatever had to be read before */
START_TEST(a_phase_counts_its_own_rows_only)
{
  struct rig r;
  struct phase one;
  rig_open(&r, suite_seed(), 300);
  static const struct { size_t depth, n, chunk; } ask[] = {{0, 1, 0}, {0, 50, 0}, {50, 1, 0}, {200, 1, 0}, {20, 30, 7}, {0, 60, 1}, {100, 100, 33}};
  for (int k = 0; k < 7; k++) {
    size_t d = ask[k].depth, n = ask[k].n, c = ask[k].chunk;
    ck_assert_msg(phase_read(&r.g, d, n, c, &one, &r.why), "%s", r.why.words);
    ck_assert(one.seconds > 0 && one.seconds < 60);
    ck_assert_uint_eq(one.work.rows, n);
    ck_assert_uint_eq(one.work.passes, c == 0 ? 1 : (n + c - 1) / c);
    ck_assert_uint_eq(one.work.qk_pairs, n * d + n * (n + 1) / 2);
    ck_assert_uint_eq(one.work.madds_head, TINY_D * TINY_V);
    ck_assert_uint_eq(store_length(r.g.s, 0), d + n);
    ck_assert_uint_eq(work_madds(&one.work), one.work.madds_linear + one.work.madds_attention + one.work.madds_head);
    struct counters sum = one.work, twice = one.work;
    counters_add(&twice, &sum);
    for (size_t i = 0; i < sizeof sum / sizeof (uint64_t); i++) ck_assert_uint_eq(((uint64_t *) &twice)[i], 2 * ((uint64_t *) &sum)[i]);
  }
  ck_assert(!phase_read(&r.g, 290, 11, 0, &one, &r.why));
  rig_close(&r);
}
END_TEST

START_TEST(the_bound_is_the_slower_of_the_two)
{
  struct machine m = {4, 1};                               /* the machine of the hand calculation, in ticks */
  static const double ticks[] = {6, 6, 6, 12};
  for (uint64_t n = 1, k = 0; n <= 8; n *= 2, k++) {
    struct counters c = {.madds_linear = 6 * n, .weight_bytes_read = 6};
    ck_assert_double_eq(work_bound(&m, &c), ticks[k]);
  }
  struct counters c = {.madds_linear = 1, .madds_attention = 2, .madds_head = 5, .weight_bytes_read = 1, .cache_bytes_read = 2, .cache_bytes_written = 4};
  ck_assert_uint_eq(work_madds(&c), 8);
  ck_assert_uint_eq(work_bytes(&c), 7);
}
END_TEST

/* a stand-in of GPT-2's kind: as many numbers as the published model has, logits that do not depend on how it is read */
START_TEST(a_stand_in_is_a_model)
{
  ck_assert_uint_eq(stand_in_numbers(&gpt2_small), 124439808);
  struct model_config shape = gpt2_small;
  shape.vocab_size = 50, shape.n_positions = 64, shape.d_model = 48, shape.d_inner = 100, shape.n_layers = 3, shape.n_heads = shape.n_kv_heads = 3, shape.head_dim = 16;
  struct rig r;
  rig_open(&r, 1, 64);
  bool whole = false;
  struct model *lm = NULL;
  for (uint64_t k = 1; !whole; k++) {
    r.m.refuse_at = r.m.all.requests + k;
    lm = stand_in_open(&r.m, &shape, &r.why);
    r.m.refuse_at = 0;
    whole = lm != NULL;
  }
  ck_assert_uint_eq(r.m.of[FOR_WEIGHTS].held, stand_in_numbers(&shape) * sizeof (float) + sizeof *lm + 3 * sizeof *lm->layers);
  float logits[3][50];
  for (int way = 0; way < 3; way++) {
    struct store *s = cache_open(&r.m, &shape, 1, &(struct cache_wishes) {.rows = 0}, &r.why);
    struct generator g = {&r.e, lm, s, &r.m};
    struct row rows[64];
    struct pass *p;
    r.c = (struct counters) {0};
    for (uint32_t i = 0; i < 64; i++) rows[i] = (struct row) {0, i, i * 31 % 50};
    ck_assert_msg(read_rows(&g, rows, 64, way == 0 ? 0 : way == 1 ? 1 : 13, &p, &r.why), "%s", r.why.words);
    size_t last = p->n - 1;
    ck_assert(head(&r.e, lm, p, &last, 1, logits[way], &r.why));
    uint64_t layers = 3 * (4 * 48 * 48 + 2 * 48 * 100);
    ck_assert_uint_eq(r.c.madds_linear, 64 * layers);
    if (way == 0) ck_assert_uint_eq(r.c.weight_bytes_read, 4 * (layers + 3 * (4 * 48 + 3 * 48 + 48 + 100 + 48) + 64 * 2 * 48 + 48 * 50));
    pass_close(p), store_close(s);
  }
  ck_assert(memcmp(logits[0], logits[1], sizeof logits[0]) == 0 && memcmp(logits[0], logits[2], sizeof logits[0]) == 0);
  bool differ = false;
  for (int i = 1; i < 50; i++) differ = differ || logits[0][i] != logits[0][0];
  ck_assert(differ);
  stand_in_close(&r.m, lm);
  rig_close(&r);
}
END_TEST

/* the probes say something that can be: more than nothing, and less than any machine there is; memory comes back */
START_TEST(probes_are_plausible)
{
  struct rig r;
  rig_open(&r, 1, 64);
  struct machine one;
  ck_assert_msg(machine_probe(&r.m, &r.e, &one, &r.why), "%s", r.why.words);
  ck_assert(one.madds > 1e7 && one.madds < 1e13 && one.bytes > 1e7 && one.bytes < 1e13);
  for (int k = 1; k <= 2; k++) {
    struct machine none;
    uint64_t held = r.m.all.held;
    r.m.refuse_at = r.m.all.requests + (uint64_t) k;
    ck_assert(!machine_probe(&r.m, &r.e, &none, &r.why));
    ck_assert_uint_eq(r.m.all.held, held);
    r.m.refuse_at = 0;
  }
  rig_close(&r);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("phases");
  TCase *c = tcase_create("phases");
  tcase_add_loop_test(c, perplexity_is_the_sum_of_its_windows, 0, 40);
  tcase_add_test(c, perplexity_refuses_what_makes_no_sense);
  tcase_add_test(c, a_phase_counts_its_own_rows_only);
  tcase_add_test(c, the_bound_is_the_slower_of_the_two);
  tcase_add_test(c, a_stand_in_is_a_model);
  tcase_add_test(c, probes_are_plausible);
  suite_add_tcase(s, c);
  return suite_run(s);
}
