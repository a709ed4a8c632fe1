/* Chapter 3: the loop, its counters, and why nothing changes. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include "tiny.h"
#include "loop/generate.h"

static bool run(struct tiny_rig *r, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct continuation *c)
{
  struct generate_context g = { &r->e, &r->t.lm, r->s, &r->m };
  return generate(&g, prompt, n, want, c, &r->why);
}

START_TEST(naive_is_the_closed_form)
{
  uint64_t seed = suite_seed();
  for (size_t p = 1; p <= 12; p++)
    for (size_t g = 1; g <= 12; g++) {
      struct tiny_rig r;
      tiny_open(&r, seed + p * 100 + g, 2);
      uint32_t prompt[12];
      for (size_t i = 0; i < p; i++) prompt[i] = (uint32_t) (rnd(&seed) % TINY_V);
      struct generate_options want = { .max_new_tokens = g };
      struct continuation c;
      ck_assert_msg(run(&r, prompt, p, &want, &c), "%s", r.why.text);
      ck_assert_uint_eq(c.text.n, p + g);
      ck_assert_int_eq(c.ended, FINISH_LENGTH);
      uint64_t rows = 0, pairs = 0;
      for (size_t n = p; n < p + g; n++)
        for (size_t i = 0; i < n; i++) rows++, pairs += i + 1;
      ck_assert_uint_eq(rows, g * p + g * (g - 1) / 2);
      ck_assert_uint_eq(r.c.passes, g);
      ck_assert_uint_eq(r.c.rows, rows);
      ck_assert_uint_eq(r.c.kv_rows_computed, rows);
      ck_assert_uint_eq(r.c.kv_rows_recomputed, rows - (p + g - 1));
      ck_assert_uint_eq(r.c.qk_pairs, pairs);
      ck_assert_uint_eq(r.c.madds_linear, rows * r.t.lm.layer_madds);
      ck_assert_uint_eq(r.c.madds_attention, 2 * TINY_HD * TINY_HEADS * TINY_LAYERS * pairs);
      ck_assert_uint_eq(r.c.madds_head, g * TINY_D * TINY_V);
      continuation_free(&r.m, &c);
      tiny_close(&r);
    }
}
END_TEST

START_TEST(each_token_is_the_argmax_after_its_prefix)
{
  struct tiny_rig r;
  tiny_open(&r, 7, 2);
  uint32_t prompt[3] = { 3, 1, 4 };
  struct generate_options want = { .max_new_tokens = 40 };
  struct continuation c;
  ck_assert(run(&r, prompt, 3, &want, &c));
  for (size_t n = 3; n < c.text.n; n++) {
    float logits[TINY_V];
    size_t last = n - 1, top = 0;
    ck_assert(model_evaluate(&r.e, &r.t.lm, r.s, c.text.id, n, &last, 1, logits, &r.why));
    for (size_t v = 1; v < TINY_V; v++)
      if (logits[v] > logits[top]) top = v;
    ck_assert_uint_eq(c.text.id[n], top);
  }
  continuation_free(&r.m, &c);
  tiny_close(&r);
}
END_TEST

static bool cancel_after(void *ctx, const struct step *s)
{
  return s->number < *(size_t *) ctx;
}
START_TEST(three_things_end_the_loop)
{
  struct tiny_rig r;
  tiny_open(&r, 7, 2);
  uint32_t prompt[3] = { 3, 1, 4 };
  struct generate_options want = { .max_new_tokens = 10 };
  struct continuation all, c;
  ck_assert(run(&r, prompt, 3, &want, &all));
  size_t at = 3; /* the first place where its token stands for the first time */
  for (size_t i = 4; i < 13; i++) {
    bool before = false;
    for (size_t j = 3; j < i; j++) before |= all.text.id[j] == all.text.id[i];
    if (!before) {
      at = i;
      break;
    }
  }
  want.eos = &all.text.id[at], want.n_eos = 1;
  ck_assert(run(&r, prompt, 3, &want, &c));
  ck_assert_int_eq(c.ended, FINISH_STOP);
  ck_assert_uint_eq(c.text.n, at + 1);
  continuation_free(&r.m, &c);
  want.max_new_tokens = at - 2; /* end and length on one token: the end is named */
  ck_assert(run(&r, prompt, 3, &want, &c));
  ck_assert_int_eq(c.ended, FINISH_STOP);
  continuation_free(&r.m, &c);
  size_t k = 4;
  want = (struct generate_options){ .max_new_tokens = 10, .on_step = cancel_after, .ctx = &k };
  ck_assert(run(&r, prompt, 3, &want, &c));
  ck_assert_int_eq(c.ended, FINISH_CANCELLED);
  ck_assert_uint_eq(c.text.n, 3 + 4);
  ck_assert_int_eq(memcmp(c.text.id, all.text.id, 7 * sizeof *c.text.id), 0);
  continuation_free(&r.m, &c);
  want = (struct generate_options){ .max_new_tokens = 0 };
  ck_assert(run(&r, prompt, 3, &want, &c));
  ck_assert_uint_eq(c.text.n, 3);
  ck_assert_int_eq(c.ended, FINISH_LENGTH);
  continuation_free(&r.m, &c);
  continuation_free(&r.m, &all);
  tiny_close(&r);
}
END_TEST

START_TEST(context_ends_the_text_and_refuses_a_longer_prompt)
{
  struct tiny_rig r;
  tiny_open(&r, 9, 2);
  r.t.lm.config.n_positions = 8;
  uint32_t prompt[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
  struct generate_options want = { .max_new_tokens = SIZE_MAX };
  for (size_t n = 1; n <= 8; n++) {
    struct continuation c;
    ck_assert_msg(run(&r, prompt, n, &want, &c), "%s", r.why.text);
    ck_assert_uint_eq(c.text.n, 9);
    ck_assert_int_eq(c.ended, FINISH_LENGTH);
    continuation_free(&r.m, &c);
  }
  struct continuation c;
  ck_assert(!run(&r, prompt, 9, &want, &c));
  ck_assert_ptr_nonnull(strstr(r.why.text, "9 tokens"));
  ck_assert_ptr_nonnull(strstr(r.why.text, "holds 8"));
  ck_assert(!run(&r, prompt, 0, &want, &c));
  prompt[1] = TINY_V;
  ck_assert(!run(&r, prompt, 2, &want, &c));
  ck_assert_ptr_nonnull(strstr(r.why.text, "id 19"));
  tiny_close(&r);
}
END_TEST

static bool until_eleven(void *ctx, const struct step *now)
{
  (void) ctx;
  return now->number < 11;
}
START_TEST(a_context_that_is_only_claimed_costs_nothing)
{
  struct tiny_rig r;
  tiny_open(&r, 5, 2);
  uint32_t prompt[2] = { 3, 1 };
  struct generate_options want = { .max_new_tokens = SIZE_MAX, .on_step = NULL };
  struct continuation c;
  store_close(r.s);
  r.t.lm.config.n_positions = 12;
  ck_assert_ptr_nonnull(r.s = store_open(&r.m, &r.t.lm.config, 1, &r.why));
  ck_assert(run(&r, prompt, 2, &want, &c));
  uint64_t peak = r.m.all.peak;
  continuation_free(&r.m, &c);
  store_close(r.s);
  r.t.lm.config.n_positions = 0x7fffffff;
  ck_assert_ptr_nonnull(r.s = store_open(&r.m, &r.t.lm.config, 1, &r.why));
  want.on_step = until_eleven; /* as many as there may be, and the context is enormous */
  ck_assert(run(&r, prompt, 2, &want, &c));
  ck_assert_uint_le(r.m.all.peak, peak + 8192);
  continuation_free(&r.m, &c);
  tiny_close(&r);
}
END_TEST

START_TEST(loop_survives_every_refusal)
{
  for (uint64_t n = 1;; n++) {
    struct tiny_rig r;
    tiny_open(&r, 5, 2);
    ck_assert_ptr_nonnull(r.s);
    r.m.fail_at = r.m.all.requests + n;
    uint32_t prompt[2] = { 3, 1 };
    struct generate_options want = { .max_new_tokens = 3 };
    struct continuation c;
    bool ok = run(&r, prompt, 2, &want, &c);
    if (!ok) ck_assert_ptr_nonnull(strstr(r.why.text, "out of memory"));
    continuation_free(&r.m, &c);
    tiny_close(&r);
    if (ok) {
      ck_assert_uint_gt(n, 5);
      break;
    }
  }
}
END_TEST

START_TEST(a_logit_that_is_no_number_is_an_error)
{
  /* where a number is spoilt, and what the sentence must name: the head; a layer; an embedding of a
   * row that the last one sees */
  static const struct {
    int where;
    const char *words;
  } bad[] = { { 0, "the model: logit 5 is not finite behind the last layer" },
    { 1, "the model: row 0 is not finite behind layer 1 of 3" },
    { 2, "the model: row 0 is not finite behind layer 2 of 3" },
    { 3, "the model: row 0 is not finite behind layer 3 of 3" },
    { 4, "the model: the embedding of row 0 is not finite" } };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct tiny_rig r;
    tiny_open(&r, 5, 2);
    const void *at = bad[i].where == 0 ? r.t.lm.head.weight.data
      : bad[i].where == 4              ? r.t.lm.embedding.data
                                       : r.t.layer[bad[i].where - 1].down.weight.data;
    size_t k = bad[i].where == 4 ? 3 * TINY_D + 1 : bad[i].where == 0 ? 5 : 0;
    ((float *) (uintptr_t) at)[k] = i == 2 ? INFINITY : NAN;
    uint32_t prompt[2] = { 3, 1 };
    struct generate_options want = { .max_new_tokens = 3 };
    struct continuation c;
    ck_assert(!run(&r, prompt, 2, &want, &c));
    if (bad[i].where == 0)
      ck_assert_msg(strstr(r.why.text, "is not finite behind the last layer; wanted: a number"),
        "%s", r.why.text);
    else
      ck_assert_msg(
        strstr(r.why.text, bad[i].words) != NULL, "%s; wanted: %s", r.why.text, bad[i].words);
    tiny_close(&r);
  }
}
END_TEST

/* ---- causality: what a watcher saw, kept */
struct seen {
  float k[TINY_LAYERS][32][TINY_KV * TINY_HD], v[TINY_LAYERS][32][TINY_KV * TINY_HD],
    h[TINY_LAYERS][32][TINY_D];
  int spoil;
};
static void see(
  void *ctx, enum tap_point stage, uint32_t layer, float *x, size_t rows, size_t width)
{
  struct seen *s = ctx;
  for (size_t r = 0; r < rows; r++) {
    if (stage == TAP_KEY) memcpy(s->k[layer][r], x + r * width, width * sizeof *x);
    if (stage == TAP_VALUE) memcpy(s->v[layer][r], x + r * width, width * sizeof *x);
    if (stage == TAP_LAYER) memcpy(s->h[layer][r], x + r * width, width * sizeof *x);
  }
  if (stage == TAP_ATTENTION && layer == 0 && s->spoil >= 0)
    memset(x + (size_t) s->spoil * width, 0, width * sizeof *x);
}
static void pass_over(struct tiny_rig *r, const uint32_t *ids, size_t n, struct seen *s, int spoil)
{
  memset(s, 0, sizeof *s);
  s->spoil = spoil;
  struct row rows[32];
  for (size_t i = 0; i < n; i++) rows[i] = (struct row){ 0, (uint32_t) i, ids[i] };
  struct watcher w = { see, s, false };
  struct pass *p;
  store_clear(r->s);
  ck_assert_msg(
    model_forward_watched(&r->e, &r->t.lm, r->s, rows, n, &w, &p, &r->why), "%s", r->why.text);
  pass_close(p);
}
static bool same(const struct seen *a, const struct seen *b, int layer, size_t row)
{
  return memcmp(a->k[layer][row], b->k[layer][row], sizeof a->k[0][0]) == 0
    && memcmp(a->v[layer][row], b->v[layer][row], sizeof a->v[0][0]) == 0;
}
START_TEST(later_tokens_change_nothing)
{
  uint64_t seed = suite_seed();
  struct tiny_rig r;
  tiny_open(&r, 11, 2);
  static struct seen a, b;
  for (int round = 0; round < 60; round++) {
    uint32_t ids[32];
    size_t n = 2 + rnd(&seed) % 31, cut = 1 + rnd(&seed) % (n - 1);
    for (size_t i = 0; i < n; i++) ids[i] = (uint32_t) (rnd(&seed) % TINY_V);
    pass_over(&r, ids, n, &a, -1);
    for (size_t i = cut; i < n; i++) ids[i] = (uint32_t) (rnd(&seed) % TINY_V);
    size_t n2 = cut + rnd(&seed) % (n - cut + 1);
    pass_over(&r, ids, n2, &b, -1);
    for (int l = 0; l < TINY_LAYERS; l++)
      for (size_t i = 0; i < cut; i++) {
        ck_assert_msg(same(&a, &b, l, i), "seed %llu: layer %d, position %zu",
          (unsigned long long) suite_seed(), l, i);
        ck_assert_int_eq(memcmp(a.h[l][i], b.h[l][i], sizeof a.h[0][0]), 0);
      }
  }
  tiny_close(&r);
}
END_TEST

/* the same kernel with the mask taken away: every row sees the whole pass */
struct unmasked {
  struct kernels k;
  const struct kernels *true_one;
};
static void attend_all(const struct engine *e, const struct attention_dims *h, const float *q,
  const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  const struct unmasked *u = (const struct unmasked *) (const void *) e->k;
  struct segment all[32];
  uint32_t rows = list->n_rows;
  ck_assert_uint_eq(n, 1);
  for (uint32_t i = 0; i < rows; i++)
    all[i] = *list, all[i].first_row = i, all[i].n_rows = 1, all[i].first_position = rows - 1;
  u->true_one->attend(e, h, q, all, rows, scratch, y, probe);
}
START_TEST(without_the_mask_they_do)
{
  struct tiny_rig r;
  tiny_open(&r, 11, 2);
  struct unmasked u = { *r.e.k, r.e.k };
  u.k.attend = attend_all;
  r.e.k = &u.k;
  static struct seen a, b;
  uint32_t ids[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
  pass_over(&r, ids, 8, &a, -1);
  ids[7] = 7;
  pass_over(&r, ids, 8, &b, -1);
  for (size_t i = 0; i < 7; i++) {
    ck_assert(same(&a, &b, 0, i)); /* the first layer's keys come from the embeddings alone */
    for (int l = 1; l < TINY_LAYERS; l++) ck_assert(!same(&a, &b, l, i));
  }
  tiny_close(&r);
}
END_TEST

START_TEST(every_query_is_needed)
{
  struct tiny_rig r;
  tiny_open(&r, 11, 2);
  static struct seen a, b;
  uint32_t ids[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
  pass_over(&r, ids, 8, &a, -1);
  for (int left_out = 0; left_out < 8; left_out++) {
    pass_over(&r, ids, 8, &b, left_out);
    ck_assert(same(&a, &b, 0, (size_t) left_out));
    ck_assert(!same(&a, &b, 1, (size_t) left_out));
    for (int i = 0; i < left_out; i++) ck_assert(same(&a, &b, 1, (size_t) i));
  }
  tiny_close(&r);
}
END_TEST

START_TEST(waste_is_between_its_bounds)
{
  for (uint64_t p = 1; p <= 60; p++)
    for (uint64_t g = 1; g <= 60; g++) {
      uint64_t n = g * p + g * (g - 1) / 2, m = p + g - 1; /* W = n/m, compared without dividing */
      ck_assert(2 * n >= (g + 1) * m);
      ck_assert(n <= g * m);
      if (p == 1) ck_assert(2 * n == (g + 1) * m);
    }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("loop");
  TCase *t = tcase_create("loop");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, naive_is_the_closed_form);
  tcase_add_test(t, each_token_is_the_argmax_after_its_prefix);
  tcase_add_test(t, three_things_end_the_loop);
  tcase_add_test(t, context_ends_the_text_and_refuses_a_longer_prompt);
  tcase_add_test(t, a_context_that_is_only_claimed_costs_nothing);
  tcase_add_test(t, loop_survives_every_refusal);
  tcase_add_test(t, a_logit_that_is_no_number_is_an_error);
  tcase_add_test(t, later_tokens_change_nothing);
  tcase_add_test(t, without_the_mask_they_do);
  tcase_add_test(t, every_query_is_needed);
  tcase_add_test(t, waste_is_between_its_bounds);
  suite_add_tcase(s, t);
  return suite_run(s);
}
