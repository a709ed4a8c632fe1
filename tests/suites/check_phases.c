/* Chapter 5: two phases -- what is measured is what was asked for, and a text that is only read is
 * scored as it should be. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include "suite.h"
#include "tiny.h"
#include "cache/cache.h"
#include "ground/timing.h"
#include "phases/phases.h"
#include "kernels/kernels.h"
/* the stand-in belongs to the laboratory, which no suite is linked with; weak, so that a file with a planted fault comes first */
#pragma weak random_model_open
#pragma weak random_model_close
#pragma weak random_model_numbers
#pragma weak random_model_gpt2
#include "laboratory/kit-random.c"

struct rig {
  struct memory m;
  struct counters c;
  struct engine e;
  struct tiny t;
  struct generate_context g;
  struct error why;
};
static void rig_open(struct rig *r, uint64_t seed, uint32_t context)
{
  memset(r, 0, sizeof *r);
  tiny_make(&r->t, seed);
  r->t.lm.config.n_positions = context;
  r->e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &r->c };
  r->g = (struct generate_context){ &r->e, &r->t.lm,
    cache_open(&r->m, &r->t.lm.config, 1, &(struct cache_options){ .rows = 0 }, &r->why), &r->m };
  ck_assert_msg(r->g.s != NULL, "%s", r->why.text);
}
static void rig_close(struct rig *r)
{
  store_close(r->g.s);
  ck_assert_uint_eq(r->m.all.live, 0);
  tiny_free(&r->t);
}

/* windows of random lengths and strides: every token scored once, in the first window where it has
   a predecessor, by the log-probabilities of a whole pass over that window from an empty store of
   chapter 2 */
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
  struct store *plain = array_store_open(&r.m, &r.t.lm.config, &r.why);
  for (size_t begin = 0, end = 0; end < n; begin += stride, windows++) {
    double lp[200], sum;
    end = begin + context < n ? begin + context : n;
    ck_assert_msg(model_logprobs(&r.e, &r.t.lm, plain, id + begin, end - begin, lp, &sum, &r.why),
      "%s", r.why.text);
    for (size_t i = begin + 1; i < end; i++)
      if (!scored[i]) scored[i] = true, want += -lp[i - begin], tokens++;
  }
  store_close(plain);
  struct perplexity p;
  ck_assert_msg(perplexity_of(&r.g, id, n, context, stride, &p, &r.why), "%s", r.why.text);
  ck_assert_msg(p.loss == want && p.tokens == tokens && p.windows == windows,
    "seed %" PRIu64 ": %zu ids, %zu/%zu: %.17g of %zu in %zu, wanted %.17g of %zu in %zu", seed, n,
    context, stride, p.loss, p.tokens, p.windows, want, tokens, windows);
  free(id), free(scored);
  rig_close(&r);
}
END_TEST

START_TEST(perplexity_refuses_what_makes_no_sense)
{
  struct rig r;
  struct perplexity p;
  uint32_t id[50] = { 0 };
  rig_open(&r, 1, 40);
  static const struct {
    size_t context, stride;
    const char *words;
  } bad[] = { { 0, 1, "windows of 0" }, { 41, 1, "1 to 40" }, { 20, 0, "every 0" },
    { 20, 21, "1 to 20" } };
  for (int k = 0; k < 4; k++) {
    ck_assert(!perplexity_of(&r.g, id, 50, bad[k].context, bad[k].stride, &p, &r.why));
    ck_assert_msg(strstr(r.why.text, bad[k].words) != NULL, "%s", r.why.text);
  }
  id[30] = TINY_V;
  ck_assert(!perplexity_of(&r.g, id, 50, 20, 20, &p, &r.why)
    && strstr(r.why.text, "token 30 of the text is id 19; the vocabulary has 19") != NULL);
  ck_assert_uint_eq(
    r.c.rows, 0); /* before anything is read: a later chunk's id scores an earlier row */
  id[30] = 0;
  ck_assert(perplexity_of(&r.g, id, 1, 20, 20, &p, &r.why) && p.tokens == 0 && p.windows == 1);
  ck_assert(perplexity_of(&r.g, id, 0, 20, 20, &p, &r.why) && p.tokens == 0 && p.windows == 0);
  float *w = (float *) (uintptr_t) r.t.lm.head.weight.data, kept = w[5];
  w[5] = NAN;
  ck_assert(
    !perplexity_of(&r.g, id, 10, 20, 20, &p, &r.why) && strstr(r.why.text, "not finite") != NULL);
  w[5] = kept;
  bool whole = false; /* every refused request is survived */
  for (uint64_t k = 1; !whole; k++) {
    struct perplexity again;
    r.m.fail_at = r.m.all.requests + k;
    whole = perplexity_of(&r.g, id, 50, 20, 10, &again, &r.why);
    r.m.fail_at = 0;
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
  static const struct {
    size_t depth, n, chunk;
  } ask[] = { { 0, 1, 0 }, { 0, 50, 0 }, { 50, 1, 0 }, { 200, 1, 0 }, { 20, 30, 7 }, { 0, 60, 1 },
    { 100, 100, 33 } };
  for (int k = 0; k < 7; k++) {
    size_t d = ask[k].depth, n = ask[k].n, c = ask[k].chunk;
    ck_assert_msg(phase_read(&r.g, d, n, c, &one, &r.why), "%s", r.why.text);
    ck_assert(one.seconds > 0 && one.seconds < 60);
    ck_assert_uint_eq(one.work.rows, n);
    ck_assert_uint_eq(one.work.passes, c == 0 ? 1 : (n + c - 1) / c);
    ck_assert_uint_eq(one.work.qk_pairs, n * d + n * (n + 1) / 2);
    ck_assert_uint_eq(one.work.madds_head, TINY_D * TINY_V);
    ck_assert_uint_eq(store_length(r.g.s, 0), d + n);
    ck_assert_uint_eq(work_madds(&one.work),
      one.work.madds_linear + one.work.madds_attention + one.work.madds_head);
    struct counters sum = one.work, twice = one.work;
    counters_add(&twice, &sum);
    for (size_t i = 0; i < sizeof sum / sizeof(uint64_t); i++)
      ck_assert_uint_eq(((uint64_t *) &twice)[i], 2 * ((uint64_t *) &sum)[i]);
  }
  ck_assert(!phase_read(&r.g, 290, 11, 0, &one, &r.why));
  rig_close(&r);
}
END_TEST

START_TEST(the_bound_is_the_slower_of_the_two)
{
  struct roofline m = { 4, 1 }; /* the machine of the hand calculation, in ticks */
  static const double ticks[] = { 6, 6, 6, 12 };
  for (uint64_t n = 1, k = 0; n <= 8; n *= 2, k++) {
    struct counters c = { .madds_linear = 6 * n, .weight_bytes_read = 6 };
    ck_assert_double_eq(work_bound(&m, &c), ticks[k]);
  }
  struct counters c = { .madds_linear = 1,
    .madds_attention = 2,
    .madds_head = 5,
    .weight_bytes_read = 1,
    .cache_bytes_read = 2,
    .cache_bytes_written = 4 };
  ck_assert_uint_eq(work_madds(&c), 8);
  ck_assert_uint_eq(work_bytes(&c), 7);
}
END_TEST

/* a stand-in of GPT-2's kind: as many numbers as the published model has, logits that do not depend
 * on how it is read */
START_TEST(a_stand_in_is_a_model)
{
  ck_assert_uint_eq(random_model_numbers(&random_model_gpt2), 124439808);
  struct model_config shape = random_model_gpt2;
  shape.vocab_size = 50, shape.n_positions = 64, shape.d_model = 48, shape.d_inner = 100,
  shape.n_layers = 3, shape.n_heads = shape.n_kv_heads = 3, shape.head_dim = 16;
  struct rig r;
  rig_open(&r, 1, 64);
  bool whole = false;
  struct model *lm = NULL;
  for (uint64_t k = 1; !whole; k++) {
    r.m.fail_at = r.m.all.requests + k;
    lm = random_model_open(&r.m, &shape, &r.why);
    r.m.fail_at = 0;
    whole = lm != NULL;
  }
  ck_assert_uint_eq(r.m.of[MEMORY_WEIGHTS].live,
    random_model_numbers(&shape) * sizeof(float) + sizeof *lm + 3 * sizeof *lm->layers);
  float logits[3][50];
  for (int way = 0; way < 3; way++) {
    struct store *s = cache_open(&r.m, &shape, 1, &(struct cache_options){ .rows = 0 }, &r.why);
    struct generate_context g = { &r.e, lm, s, &r.m };
    struct row rows[64];
    struct pass *p;
    r.c = (struct counters){ 0 };
    for (uint32_t i = 0; i < 64; i++) rows[i] = (struct row){ 0, i, i * 31 % 50 };
    ck_assert_msg(model_read(&g, rows, 64,
                    way == 0     ? 0
                      : way == 1 ? 1
                                 : 13,
                    &p, &r.why),
      "%s", r.why.text);
    size_t last = p->n - 1;
    ck_assert(model_logits(&r.e, lm, p, &last, 1, logits[way], &r.why));
    uint64_t layers = 3 * (4 * 48 * 48 + 2 * 48 * 100);
    ck_assert_uint_eq(r.c.madds_linear, 64 * layers);
    if (way == 0)
      ck_assert_uint_eq(r.c.weight_bytes_read,
        4 * (layers + 3 * (4 * 48 + 3 * 48 + 48 + 100 + 48) + 64 * 2 * 48 + 48 * 50));
    pass_close(p), store_close(s);
  }
  ck_assert(memcmp(logits[0], logits[1], sizeof logits[0]) == 0
    && memcmp(logits[0], logits[2], sizeof logits[0]) == 0);
  bool differ = false;
  for (int i = 1; i < 50; i++) differ = differ || logits[0][i] != logits[0][0];
  ck_assert(differ);
  random_model_close(&r.m, lm);
  rig_close(&r);
}
END_TEST

/* the probes say something that can be: more than nothing, and less than any machine there is;
 * memory comes back */
START_TEST(probes_are_plausible)
{
  struct rig r;
  rig_open(&r, 1, 64);
  struct roofline one;
  ck_assert_msg(roofline_measure(&r.m, &r.e, &one, &r.why), "%s", r.why.text);
  ck_assert(one.madds > 1e7 && one.madds < 1e13 && one.bytes > 1e7 && one.bytes < 1e13);
  for (int k = 1; k <= 2; k++) {
    struct roofline none;
    uint64_t held = r.m.all.live;
    r.m.fail_at = r.m.all.requests + (uint64_t) k;
    ck_assert(!roofline_measure(&r.m, &r.e, &none, &r.why));
    ck_assert_uint_eq(r.m.all.live, held);
    r.m.fail_at = 0;
  }
  rig_close(&r);
}
END_TEST

/* ---- a token that cannot come is an error, and is named; a text without it is scored */
START_TEST(an_impossible_token_is_named)
{
  static const size_t place[3] = { 5, 70,
    139 }; /* in the first pass, in the second, and the last */
  struct rig r;
  struct perplexity p, q;
  uint32_t id[140];
  uint64_t seed = suite_seed() + (uint64_t) _i;
  rig_open(&r, seed, 200);
  for (size_t i = 0; i < 140; i++) id[i] = (uint32_t) (rnd(&seed) % (TINY_V - 1));
  ck_assert(perplexity_of(&r.g, id, 140, 140, 140, &p, &r.why));
  float *w = (float *) (uintptr_t) r.t.lm.head.weight.data + (TINY_V - 1) * TINY_D, row[TINY_D];
  struct pass *pass;
  struct row rows[140];
  /* a weight that is infinite makes the last token's logit behind that row minus infinity */
  store_crop(r.g.s, 0, 0);
  for (uint32_t i = 0; i < 140; i++) rows[i] = (struct row){ 0, i, id[i] };
  ck_assert(model_forward(&r.e, &r.t.lm, r.g.s, rows, place[_i], &pass, &r.why));
  float gain = ((float *) (uintptr_t) r.t.lm.final_norm.gain.data)[0];
  float x = pass->hidden[(place[_i] - 1) * TINY_D] * gain;
  pass_close(pass);
  memcpy(row, w, sizeof row);
  w[0] = x > 0 ? -INFINITY : INFINITY;
  id[place[_i]] = TINY_V - 1;
  ck_assert(!perplexity_of(&r.g, id, 140, 140, 140, &q, &r.why));
  /* an earlier row may be spoilt by the sign of its own number: then that token is named */
  size_t named = (size_t) atoi(strstr(r.why.text, "token ") + 6);
  ck_assert_msg(named <= place[_i] && strstr(r.why.text, "is not finite; wanted: finite logits"),
    "%s", r.why.text);
  for (size_t k = 0; k < 2; k++) { /* of two tokens the second */
    memcpy(w, row, sizeof row);
    uint32_t two[2] = { 3, k ? TINY_V - 1 : 4 };
    store_crop(r.g.s, 0, 0);
    ck_assert(model_forward(&r.e, &r.t.lm, r.g.s, &(struct row){ 0, 0, 3 }, 1, &pass, &r.why));
    x = pass->hidden[0] * gain;
    pass_close(pass);
    w[0] = x > 0 ? -INFINITY : INFINITY;
    bool ok = perplexity_of(&r.g, two, 2, 20, 20, &q, &r.why);
    ck_assert_int_eq(ok, k == 0);
    if (ok)
      ck_assert(q.tokens == 1 && isfinite(q.loss));
    else
      ck_assert_str_eq(r.why.text, "the loss of token 1 is not finite; wanted: finite logits");
  }
  memcpy(w, row, sizeof row);
  for (size_t i = 0; i < 140; i++)
    if (id[i] == TINY_V - 1) id[i] = 0;
  ck_assert(
    perplexity_of(&r.g, id, 140, 140, 140, &q, &r.why) && q.tokens == 139 && q.windows == 1);
  rig_close(&r);
}
END_TEST

/* ---- every number of a phase's account is that of its own passes, reckoned by hand */
START_TEST(a_phase_has_a_whole_account)
{
  struct rig r;
  struct phase one;
  rig_open(&r, suite_seed() + 1, 300);
  size_t row = 2 * TINY_KV * TINY_HD * sizeof(float) * TINY_LAYERS;
  static const struct {
    size_t depth, n, chunk;
  } ask[] = { { 0, 40, 0 }, { 40, 1, 0 }, { 60, 7, 0 }, { 10, 20, 5 }, { 10, 20, 0 }, { 299, 1, 0 },
    { 0, 300, 0 } };
  for (int k = 0; k < 7; k++) {
    size_t d = ask[k].depth, n = ask[k].n, c = ask[k].chunk, read = 0;
    uint64_t before = store_length(r.g.s, 0), computed = 0;
    struct counters all = r.c;
    ck_assert_msg(phase_read(&r.g, d, n, c, &one, &r.why), "%s", r.why.text);
    for (size_t at = d; at < d + n; at += c ? c : n) read += at + (c ? c : n);
    ck_assert_uint_eq(one.work.cache_bytes_written, n * row);
    ck_assert_uint_eq(one.work.cache_bytes_read, read * row);
    ck_assert_uint_eq(one.work.kv_rows_computed, n);
    ck_assert_uint_eq(one.work.madds_linear, n * r.t.lm.layer_madds);
    ck_assert_uint_eq(
      one.work.madds_attention, 2 * TINY_HEADS * TINY_HD * TINY_LAYERS * one.work.qk_pairs);
    ck_assert_uint_le(one.work.kv_rows_recomputed, n);
    computed = r.c.rows - all.rows; /* what had to be read before is not the phase's */
    ck_assert_uint_eq(computed, n + (before < d ? d - before : 0));
    ck_assert_uint_eq(work_bytes(&one.work), one.work.weight_bytes_read + (n + read) * row);
    struct roofline m = { 1e3, 1e4 };
    double a = (double) work_madds(&one.work) / 1e3, b = (double) work_bytes(&one.work) / 1e4;
    ck_assert_double_eq(work_bound(&m, &one.work), a > b ? a : b);
  }
  for (uint64_t k = 1, whole = 0; !whole; k++) { /* refused anywhere, nothing is kept */
    uint64_t held = r.m.of[MEMORY_ACTIVATIONS].live;
    r.m.fail_at = r.m.all.requests + k;
    whole = phase_read(&r.g, 30, 20, 7, &one, &r.why);
    r.m.fail_at = 0;
    ck_assert_uint_eq(r.m.of[MEMORY_ACTIVATIONS].live, held);
    if (!whole) ck_assert(phase_read(&r.g, 30, 20, 7, &one, &r.why));
    ck_assert(one.work.rows == 20 && one.work.passes == 3 && store_length(r.g.s, 0) == 50);
  }
  ck_assert(
    !phase_read(&r.g, 300, 1, 0, &one, &r.why) && strstr(r.why.text, "position 300") != NULL);
  ck_assert(phase_read(&r.g, 299, 1, 0, &one, &r.why));
  rig_close(&r);
}
END_TEST

/* ---- windows and strides at their limits; what failed before changes nothing */
START_TEST(perplexity_at_its_limits)
{
  struct rig r;
  struct perplexity p, q;
  uint32_t id[90];
  uint64_t seed = suite_seed() + 2;
  rig_open(&r, seed, 40);
  for (int i = 0; i < 90; i++) id[i] = (uint32_t) (rnd(&seed) % TINY_V);
  static const struct {
    size_t n, context, stride, tokens, windows;
  } at[] = { { 90, 40, 40, 87, 3 }, { 80, 40, 40, 78, 2 }, { 81, 40, 40, 78, 3 },
    { 40, 40, 1, 39, 1 }, { 41, 40, 1, 40, 2 }, { 41, 40, 40, 39, 2 }, { 5, 1, 1, 0, 5 },
    { 2, 2, 1, 1, 1 }, { 90, 40, 39, 89, 3 }, { 17, 17, 17, 16, 1 }, { 65, 33, 33, 63, 2 } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (int twice = 0; twice < 2; twice++) {
      ck_assert_msg(
        perplexity_of(&r.g, id, at[i].n, at[i].context, at[i].stride, twice ? &q : &p, &r.why),
        "%s", r.why.text);
      struct perplexity *x = twice ? &q : &p;
      ck_assert_msg(x->tokens == at[i].tokens && x->windows == at[i].windows, "%zu: %zu in %zu", i,
        x->tokens, x->windows);
      if (twice) ck_assert(p.loss == q.loss);
      if (twice) continue;
      uint32_t last = id[at[i].n - 1];
      id[at[i].n - 1] = TINY_V; /* one beyond: refused before anything is read */
      uint64_t rows = r.c.rows;
      ck_assert(!perplexity_of(&r.g, id, at[i].n, at[i].context, at[i].stride, &q, &r.why));
      char words[100];
      snprintf(words, sizeof words, "token %zu of the text is id %u; the vocabulary has 19",
        at[i].n - 1, id[at[i].n - 1]);
      ck_assert_str_eq(r.why.text, words);
      ck_assert(r.c.rows == rows && q.tokens == 0 && q.loss == 0);
      id[at[i].n - 1] = last;
    }
  rig_close(&r);
}
END_TEST

/* ---- the rates of the probes: kernels that take their time, and say how much they have done */
enum { NAP = 25000 };
static uint64_t lazy_spin(uint64_t n, float *left)
{
  *left = 0, usleep(NAP);
  return n > 0 ? 1000 : 0;
}
static float lazy_sweep(const float *x, size_t n)
{
  usleep(NAP);
  return x[0] + (float) n;
}
START_TEST(probes_tell_how_much_a_second)
{
  struct rig r;
  bool near = false;
  rig_open(&r, 1, 64);
  struct kernels lazy = *r.e.k;
  lazy.probe_flops = lazy_spin, lazy.probe_bandwidth = lazy_sweep;
  struct pool *pool = _i == 0 ? NULL : pool_open(&r.m, 2, &r.why);
  struct engine e = { .k = &lazy, .pool = pool, .c = &r.c };
  size_t swept = timing_last_cache(); /* as many floats as the last cache has bytes, or 256 MiB of them */
  double max = (_i + 1) * 1000 / (NAP * 1e-6), read = 4.0 * (double) (swept < 1 << 26 ? 1 << 26 : swept) / (NAP * 1e-6);
  for (int k = 0; k < 6 && !near; k++) { /* never faster; slower only if others work here */
    struct roofline one;
    ck_assert_msg(roofline_measure(&r.m, &e, &one, &r.why), "%s", r.why.text);
    ck_assert(one.madds <= max * 1.001 && one.bytes <= read * 1.001);
    near = one.madds > max * 0.7 && one.bytes > read * 0.7;
  }
  ck_assert(near);
  pool_close(&r.m, pool), rig_close(&r);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("phases");
  TCase *edges = tcase_create("edges");
  tcase_set_timeout(edges, 60);
  tcase_add_loop_test(edges, an_impossible_token_is_named, 0, 3);
  tcase_add_test(edges, a_phase_has_a_whole_account);
  tcase_add_test(edges, perplexity_at_its_limits);
  tcase_add_loop_test(edges, probes_tell_how_much_a_second, 0, 2);
  suite_add_tcase(s, edges);
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
