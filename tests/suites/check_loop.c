/* Chapter 3: the loop, its counters, and why nothing changes. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include "suite.h"
#include "tiny.h"
#include "cache/cache.h"
#include "loop/generate.h"
#include "sampling/sampling.h"
#include "kernels/kernels.h"

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

/* a text that is dictated, a criterion that counts how often it is asked, and a reader who may say no */
struct dictation {
  const uint32_t *id;
  size_t asked, no_at;
  bool fails;
};
static bool dictate(
  void *ctx, const float *logits, const struct continuation *c, uint32_t *chosen, struct error *why)
{
  (void) logits, (void) why;
  *chosen = ((struct dictation *) ctx)->id[c->text.n - c->n_prompt];
  return true;
}
static bool ask(void *ctx, const struct continuation *c, bool *enough, struct error *why)
{
  struct dictation *d = ctx;
  (void) c;
  ck_assert(!*enough);
  d->asked++;
  return !d->fails || error_say(why, "the criterion cannot tell");
}
static bool read_along(void *ctx, const struct step *now)
{
  return now->number != ((struct dictation *) ctx)->no_at;
}
/* end tokens 7 and 9: when may they end a text, and what is asked and told at the last token? */
START_TEST(an_end_token_counts_when_it_may)
{
  static const struct { uint32_t id[6]; size_t min, max, no_at, n, asked; enum finish_reason how; } of[] = {
    { { 1, 2, 7, 3, 7, 4 }, 3, 6, 0, 5, 4, FINISH_STOP }, /* up to the third it does not count */
    { { 1, 2, 7, 9, 7, 4 }, 3, 6, 0, 4, 3, FINISH_STOP },
    { { 1, 2, 7, 3, 7, 4 }, 2, 6, 0, 3, 2, FINISH_STOP },
    { { 7, 2, 3, 4, 5, 6 }, 0, 6, 0, 1, 0, FINISH_STOP },
    { { 7, 2, 3, 4, 5, 6 }, 1, 6, 0, 6, 6, FINISH_LENGTH },
    { { 1, 9, 3, 4, 5, 6 }, 0, 6, 0, 2, 1, FINISH_STOP }, /* any of the end tokens */
    { { 1, 2, 7, 3, 4, 5 }, 3, 3, 0, 3, 3, FINISH_LENGTH }, /* length goes before the least length */
    { { 1, 2, 3, 4, 5, 6 }, 0, 4, 4, 4, 4, FINISH_LENGTH }, /* who says no at the end has cancelled nothing */
    { { 1, 2, 3, 7, 5, 6 }, 0, 6, 4, 4, 3, FINISH_STOP },
    { { 1, 2, 3, 7, 5, 6 }, 0, 6, 3, 3, 3, FINISH_CANCELLED },
  };
  static const uint32_t end[2] = { 7, 9 }, prompt[2] = { 3, 1 };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct tiny_rig r;
    struct continuation c;
    struct dictation d = { .id = of[i].id, .no_at = of[i].no_at };
    struct generate_options want = { .max_new_tokens = of[i].max, .min_tokens = of[i].min, .eos = end,
      .n_eos = 2, .select = dictate, .select_ctx = &d, .stop = ask, .stop_ctx = &d,
      .on_step = read_along, .ctx = &d };
    tiny_open(&r, 7, 2);
    ck_assert_msg(run(&r, prompt, 2, &want, &c), "%s", r.why.text);
    ck_assert_msg(c.ended == of[i].how && c.text.n == 2 + of[i].n && d.asked == of[i].asked,
      "%zu: ended %d with %zu tokens, asked %zu times", i, (int) c.ended, c.text.n - 2, d.asked);
    continuation_free(&r.m, &c);
    ck_assert_int_eq(c.ended, FINISH_NONE);
    d.fails = true, d.asked = 0;
    if (of[i].asked > 0) { /* a criterion that cannot tell is an error, and nothing is left */
      ck_assert(!run(&r, prompt, 2, &want, &c));
      ck_assert_str_eq(r.why.text, "the criterion cannot tell");
      ck_assert(c.text.n == 0 && d.asked == 1);
    }
    tiny_close(&r);
  }
}
END_TEST
START_TEST(a_sequence_that_is_refused_is_empty)
{
  struct tiny_rig r;
  struct sequence q;
  uint32_t prompt[300] = { 1, 2, 3 };
  struct generate_options want = { .max_new_tokens = 1 };
  tiny_open(&r, 7, 2);
  struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
  uint64_t live = r.m.all.live;
  for (uint64_t n = 1, failed = 1; failed; n++) { /* the list of ids grows more than once */
    r.m.fail_at = r.m.all.requests + n;
    failed = !sequence_open(&q, &g, prompt, 300, &want, &r.why);
    if (!failed) sequence_close(&r.m, &q);
    ck_assert(q.c.text.n == 0 && q.c.text.id == NULL && r.m.all.live == live);
  }
  r.m.fail_at = 0;
  prompt[2] = TINY_V;
  ck_assert(!sequence_open(&q, &g, prompt, 3, &want, &r.why));
  ck_assert_str_eq(r.why.text, "token 2 of the prompt is id 19; the vocabulary has 19");
  tiny_close(&r);
}
END_TEST

START_TEST(context_ends_the_text_and_refuses_a_longer_prompt)
{
  struct tiny_rig r;
  tiny_open(&r, 9, 2);
  store_close(r.s);
  r.t.lm.config.n_positions = 8;
  ck_assert_ptr_nonnull(r.s = cache_open(&r.m, &r.t.lm.config, 2, &(struct cache_options){ .rows = 0 }, &r.why));
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
  ck_assert_ptr_nonnull(r.s = cache_open(&r.m, &r.t.lm.config, 1, &(struct cache_options){ .rows = 0 }, &r.why));
  ck_assert(run(&r, prompt, 2, &want, &c));
  uint64_t peak = r.m.all.peak;
  continuation_free(&r.m, &c);
  store_close(r.s);
  r.t.lm.config.n_positions = 0x7fffffff;
  ck_assert_ptr_nonnull(r.s = cache_open(&r.m, &r.t.lm.config, 1, &(struct cache_options){ .rows = 0 }, &r.why));
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

/* whoever is asked how far a text is, is told of the next pass by itself after one that was refused:
   of a text in chunks, and of a list of rows */
START_TEST(a_refused_pass_leaves_no_word_about_its_whole)
{
  unsigned refused[2] = { 0, 0 };
  for (int list = 0; list < 2; list++)
    for (uint64_t k = 1, whole = 0; !whole; k++) {
      struct tiny_rig r;
      struct asker a;
      struct pass *p = NULL;
      struct row rows[20];
      uint32_t id[20];
      struct continuation c;
      struct generate_options want = { .max_new_tokens = 3, .chunk = 6, .recall = store_match_prefix };
      tiny_open(&r, 5, 1), asker_open(&a, 0), r.e.progress = &a.told;
      struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
      for (uint32_t i = 0; i < 20; i++) id[i] = i % TINY_V, rows[i] = (struct row){ 0, i, id[i] };
      r.m.fail_at = r.m.all.requests + k;
      whole = list ? model_read(&g, rows, 20, 6, &p, &r.why) : generate(&g, id, 20, &want, &c, &r.why);
      r.m.fail_at = 0, refused[list] += !whole;
      hold(a.told.before == 0 && a.told.all == 0 && (whole || p == NULL));
      if (whole && !list) continuation_free(&r.m, &c);
      pass_close(p), store_clear(r.s), asker_open(&a, 0);
      hold(model_forward(&r.e, &r.t.lm, r.s, rows, 7, &p, &r.why) && a.all == 7 && a.done <= 7);
      pass_close(p), tiny_close(&r);
    }
  ck_assert(refused[0] > 30 && refused[1] > 30);
}
END_TEST

/* a pass asks after the four products with matrices of a layer, which are small here, and after
   attention for every 64 rows; whenever it is given up, nothing has happened, and the next one
   gives the same bits */
START_TEST(a_pass_that_is_given_up_has_not_been)
{
  static const size_t rows[] = { 1, 63, 64, 65, 128, 150 };
  for (size_t k = 0; k < 6; k++) {
    struct tiny_rig r;
    struct asker a;
    struct row list[150];
    struct pass *p, *q;
    uint64_t seed = suite_seed() + k;
    size_t n = rows[k], blocks = (n + 63) / 64, all = (4 + blocks) * TINY_LAYERS;
    tiny_open(&r, 11, 1);
    for (size_t i = 0; i < n; i++)
      list[i] = (struct row){ 0, (uint32_t) i, (uint32_t) (rnd(&seed) % TINY_V) };
    ck_assert(model_forward(&r.e, &r.t.lm, r.s, list, n, &p, &r.why));
    struct counters done = r.c, none = { .passes = 0 };
    asker_open(&a, 0), r.e.progress = &a.told; /* nobody gives up: the same pass */
    store_clear(r.s), r.c = none;
    ck_assert(model_forward(&r.e, &r.t.lm, r.s, list, n, &q, &r.why));
    ck_assert_uint_eq(a.asks, all);
    ck_assert_uint_eq(a.all, n);
    done.kv_rows_recomputed = n; /* the store remembers what it has forgotten */
    ck_assert(memcmp(p->hidden, q->hidden, n * TINY_D * sizeof(float)) == 0
      && memcmp(&r.c, &done, sizeof done) == 0);
    pass_close(q);
    for (size_t at = 1; at <= all; at++) {
      struct counters before = r.c;
      uint64_t live = r.m.all.live;
      store_clear(r.s);
      asker_open(&a, at), r.e.progress = &a.told;
      ck_assert(!model_forward(&r.e, &r.t.lm, r.s, list, n, &q, &r.why));
      ck_assert_uint_eq(a.asks, at); /* who has said no is not asked again */
      ck_assert(q == NULL && progress_cancelled(&a.told) && store_length(r.s, 0) == 0
        && memcmp(&before, &r.c, sizeof before) == 0 && r.m.all.live == live
        && strstr(r.why.text, "given up") != NULL);
    }
    r.e.progress = NULL;
    ck_assert(model_forward(&r.e, &r.t.lm, r.s, list, n, &q, &r.why));
    ck_assert(memcmp(p->hidden, q->hidden, n * TINY_D * sizeof(float)) == 0);
    pass_close(p), pass_close(q);
    tiny_close(&r);
  }
}
END_TEST

/* given up while the prompt is read, a text has no new token; later, those that were there; a
   reading in chunks tells of the whole prompt */
START_TEST(a_text_that_is_given_up_keeps_what_it_has)
{
  uint32_t prompt[100];
  struct continuation whole, c;
  struct tiny_rig r;
  struct asker a;
  uint64_t seed = suite_seed();
  for (size_t i = 0; i < 100; i++) prompt[i] = (uint32_t) (rnd(&seed) % TINY_V);
  tiny_open(&r, 3, 1);
  struct generate_options want = { .max_new_tokens = 6 };
  ck_assert(run(&r, prompt, 100, &want, &whole));
  size_t first = (4 + 2) * TINY_LAYERS; /* asks of the first step, and about as many of the others */
  for (size_t at = 1; at <= 6 * first; at += 7) {
    asker_open(&a, at), r.e.progress = &a.told, a.asks = 0;
    struct generate_options one = want;
    ck_assert_msg(run(&r, prompt, 100, &one, &c), "%s", r.why.text);
    ck_assert_int_eq(c.ended, FINISH_CANCELLED);
    ck_assert_uint_eq(c.text.n, 100 + (at - 1) / first);
    ck_assert(memcmp(c.text.id, whole.text.id, c.text.n * sizeof *c.text.id) == 0);
    continuation_free(&r.m, &c);
  }
  for (size_t chunk = 0; chunk < 100; chunk += 33) {
    want.chunk = chunk, want.max_new_tokens = 1;
    asker_open(&a, 0), r.e.progress = &a.told;
    ck_assert(run(&r, prompt, 100, &want, &c));
    ck_assert_uint_eq(a.all, 100);
    ck_assert_uint_ge(a.done, chunk == 33 ? 99 : chunk == 66 ? 66 : 0);
    ck_assert(a.told.before == 0 && a.told.all == 0 && !a.told.cancelled);
    continuation_free(&r.m, &c);
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    struct row rows[100];
    struct pass *last;
    for (uint32_t i = 0; i < 100; i++) rows[i] = (struct row){ 0, i, prompt[i] };
    asker_open(&a, 0), r.e.progress = &a.told, store_clear(r.s);
    ck_assert(model_read(&g, rows, 100, chunk, &last, &r.why));
    ck_assert_uint_eq(a.all, 100);
    ck_assert(a.told.before == 0 && a.told.all == 0);
    pass_close(last);
  }
  continuation_free(&r.m, &whole);
  tiny_close(&r);
}
END_TEST

START_TEST(a_logit_that_is_no_number_is_an_error)
{
  /* where a number is spoilt, and what the sentence must name: the head; a layer; an embedding of a
   * row that the last one sees */
  static const struct {
    int where;
    const char *words;
  } bad[] = { { 0, "the model: logit 5 is not finite after the last layer" },
    { 1, "the model: row 0 is not finite after layer 1 of 3" },
    { 2, "the model: row 0 is not finite after layer 2 of 3" },
    { 3, "the model: row 0 is not finite after layer 3 of 3" },
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
      ck_assert_msg(strstr(r.why.text, "is not finite after the last layer; wanted: a number"),
        "%s", r.why.text);
    else
      ck_assert_msg(
        strstr(r.why.text, bad[i].words) != NULL, "%s; wanted: %s", r.why.text, bad[i].words);
    tiny_close(&r);
  }
}
END_TEST

START_TEST(of_equal_logits_the_lowest_id)
{
  /* with a head of zeros all logits are equal; then tokens 4 and 11 have the same line, and are the
   * best or the worst, as its sign says: the best are tied, or all the others are */
  uint32_t first[3];
  for (int k = 0; k < 3; k++) {
    struct tiny_rig r;
    tiny_open(&r, 5, 2);
    float *head = (float *) (uintptr_t) r.t.lm.head.weight.data;
    for (size_t i = 0; i < TINY_V * TINY_D; i++) head[i] = 0;
    if (k > 0) head[4 * TINY_D] = head[11 * TINY_D] = k == 1 ? 1.0f : -1.0f;
    uint32_t prompt[2] = { 3, 1 };
    struct generate_options want = { .max_new_tokens = 1 };
    struct continuation c;
    ck_assert_msg(run(&r, prompt, 2, &want, &c), "%s", r.why.text);
    ck_assert_uint_eq(c.text.n, 3);
    first[k] = c.text.id[2];
    ids_free(&r.m, &c.text);
    tiny_close(&r);
  }
  ck_assert_uint_eq(first[0], 0);
  ck_assert_uint_eq(first[1] + first[2], 4);
  ck_assert(first[1] == 0 || first[2] == 0);
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

/* ---- steps of several texts: each has the bits that it has alone, whatever shares its passes */
enum { JOBS = 30, SLOTS = 4, MOST = 48 };
struct job {
  uint32_t prompt[MOST], end, taken[MOST];
  size_t n, n_taken, cancel, fail, steps;
  uint64_t bits; /* of all logits that a choice was made from */
  bool sampled;
  struct sampler d;
  struct generate_options want;
};
static bool job_watch(void *ctx, const struct step *now)
{
  struct job *j = ctx;
  for (size_t v = 0; v < TINY_V; v++) {
    uint32_t x;
    memcpy(&x, now->logits + v, sizeof x);
    j->bits = (j->bits ^ x) * 0x100000001b3;
  }
  ck_assert(now->number == j->steps + 1 && now->length == j->n + j->steps);
  ck_assert(now->after.passes > now->before.passes);
  return ++j->steps != j->cancel;
}
static bool job_select(void *ctx, const float *logits, const struct continuation *text,
  uint32_t *chosen, struct error *why)
{
  struct job *j = ctx;
  if (j->steps + 1 == j->fail) return error_say(why, "this text fails at %zu", j->fail);
  return !j->sampled || sampler_choose(&j->d, logits, text, chosen, why);
}
static bool job_accept(void *ctx, uint32_t id, struct error *why)
{
  struct job *j = ctx;
  (void) why;
  j->taken[j->n_taken++] = id;
  return true;
}
static void job_begin(struct job *j)
{
  j->bits = 14695981039346656037u, j->steps = j->n_taken = 0;
}
static void job_draw(struct job *j, uint64_t *seed, uint32_t number, bool remember)
{
  memset(j, 0, sizeof *j);
  j->n = 1 + rnd(seed) % 20;
  for (size_t i = 0; i < j->n; i++) j->prompt[i] = (uint32_t) (rnd(seed) % TINY_V);
  if (rnd(seed) % 2) j->prompt[0] = 3, j->prompt[j->n > 1] = 1; /* some begin alike */
  j->end = (uint32_t) (rnd(seed) % TINY_V);
  j->cancel = rnd(seed) % 4 ? 0 : 1 + rnd(seed) % 6;
  j->fail = rnd(seed) % 5 ? 0 : 1 + rnd(seed) % 6;
  j->sampled = rnd(seed) % 2;
  j->d = (struct sampler){ .s = sampling_default(), .seed = 5, .sequence = number };
  j->want = (struct generate_options){ .max_new_tokens = rnd(seed) % 16,
    .eos = &j->end, .n_eos = rnd(seed) % 2, .on_step = job_watch, .ctx = j,
    .recall = remember && rnd(seed) % 4 ? store_match_prefix : NULL,
    .chunk = rnd(seed) % 2 ? 0 : 1 + rnd(seed) % 6,
    .select = job_select, .accept = job_accept, .select_ctx = j };
}
struct alone {
  struct continuation c;
  bool ok;
  uint64_t bits;
  struct error why;
};
static void same_as_alone(const struct job *j, const struct sequence *q, const struct alone *a)
{
  ck_assert(a->ok ? q->c.ended == a->c.ended : q->c.ended == FINISH_ERROR);
  ck_assert(a->bits == j->bits && (a->ok || strcmp(q->why.text, a->why.text) == 0));
  if (a->ok)
    ck_assert(q->c.text.n == a->c.text.n
      && memcmp(q->c.text.id, a->c.text.id, a->c.text.n * sizeof *a->c.text.id) == 0);
  if (a->ok) ck_assert_uint_eq(j->n_taken, q->c.text.n - j->n);
  ck_assert(j->n_taken == 0
    || memcmp(j->taken, q->c.text.id + j->n, j->n_taken * sizeof *j->taken) == 0);
}
static size_t rows_at_most(const struct sequence *q)
{
  size_t chunk = q->want->chunk;
  if (q->c.ended != FINISH_NONE) return 0;
  return chunk > 0 && chunk < q->c.text.n ? chunk : q->c.text.n;
}
START_TEST(a_text_in_company_is_the_text_alone)
{
  uint64_t seed = suite_seed() + (uint64_t) _i;
  static struct job job[JOBS];
  static struct alone alone[JOBS];
  unsigned errors = 0, cancelled = 0, mixed = 0, moved = 0, full = 0;
  for (int round = 0; round < 6; round++) {
    struct tiny_rig r;
    tiny_open(&r, seed + 31, SLOTS);
    if (_i > 0) {
      store_close(r.s);
      r.s = cache_open(
        &r.m, &r.t.lm.config, SLOTS, &(struct cache_options){ .page_rows = 4 }, &r.why);
    }
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    for (uint32_t i = 0; i < JOBS; i++) {
      struct job *j = &job[i];
      job_draw(j, &seed, i, true);
      ck_assert(funnel_open(&j->d.f, &r.m, r.e.k, TINY_V, &r.why));
      job_begin(j);
      alone[i].ok = generate(&g, j->prompt, j->n, &j->want, &alone[i].c, &alone[i].why);
      alone[i].bits = j->bits, job_begin(j);
    }
    struct sequence slot[SLOTS], *list[SLOTS];
    struct job *of[SLOTS] = { NULL };
    float logits[(SLOTS + 1) * TINY_V];
    size_t next = 0, done = 0;
    while (done < JOBS) {
      size_t n = 0, most = 0, reading = 0, writing = 0;
      uint64_t passes = r.c.passes, rows = r.c.rows;
      for (uint32_t k = 0; k < SLOTS; k++) {
        if (of[k] == NULL && next < JOBS && rnd(&seed) % 3) {
          of[k] = &job[next++];
          of[k]->want.sequence = k;
          ck_assert(sequence_open(&slot[k], &g, of[k]->prompt, of[k]->n, &of[k]->want, &r.why));
        }
        if (of[k] != NULL && rnd(&seed) % 4) list[n++] = &slot[k];
      }
      for (size_t i = n; i-- > 1;) { /* in any order */
        size_t other = rnd(&seed) % (i + 1);
        struct sequence *q = list[i];
        list[i] = list[other], list[other] = q;
      }
      for (size_t i = 0; i < n; i++) most += rows_at_most(list[i]);
      logits[n * TINY_V] = 77;
      ck_assert_msg(generate_step(&g, list, n, logits, &r.why), "%s", r.why.text);
      ck_assert(logits[n * TINY_V] == 77);
      ck_assert_uint_eq(r.c.passes - passes, n > 0);
      ck_assert_uint_le(r.c.rows - rows, most);
      for (size_t i = 0; i < n; i++) reading += list[i]->reading, writing += !list[i]->reading;
      mixed += reading > 0 && writing > 0, full += n == SLOTS;
      for (uint32_t k = 0; k < SLOTS; k++) {
        if (of[k] == NULL || slot[k].c.ended == FINISH_NONE) continue;
        same_as_alone(of[k], &slot[k], &alone[of[k] - job]);
        errors += slot[k].c.ended == FINISH_ERROR, cancelled += slot[k].c.ended == FINISH_CANCELLED;
        struct sequence *over = &slot[k]; /* who has ended has no rows in a step */
        passes = r.c.passes;
        ck_assert(generate_step(&g, &over, 1, logits, &r.why) && r.c.passes == passes);
        sequence_close(&r.m, over), of[k] = NULL, done++;
      }
      uint32_t from = (uint32_t) (rnd(&seed) % SLOTS), to = (uint32_t) (rnd(&seed) % SLOTS);
      if (of[from] != NULL && of[to] == NULL && of[from]->want.recall != NULL) {
        slot[to] = slot[from], of[to] = of[from], of[from] = NULL; /* a text may move */
        slot[to].c.sequence = to, moved++;
      }
    }
    for (uint32_t i = 0; i < JOBS; i++)
      continuation_free(&r.m, &alone[i].c), funnel_close(&job[i].d.f);
    tiny_close(&r);
  }
  ck_assert(errors > 5 && cancelled > 5 && mixed > 20 && moved > 3 && full > 20);
}
END_TEST

/* one model, and in each thread a store, an engine and a book of its own */
struct author {
  const struct model *lm;
  uint32_t first;
  struct continuation c;
  struct memory m;
  pthread_t thread;
  bool ok;
};
static void *write_alone(void *ctx)
{
  struct author *a = ctx;
  struct counters count = { 0 };
  struct engine e = { kernels_find(NULL, NULL), NULL, &count };
  struct store *s =
    cache_open(&a->m, &a->lm->config, 1, &(struct cache_options){ .window = a->first,
      .set_window = a->first % 2 }, NULL);
  struct generate_context g = { &e, a->lm, s, &a->m };
  struct generate_options want = { .max_new_tokens = 40, .recall = store_match_prefix };
  a->ok = s != NULL && generate(&g, &a->first, 1, &want, &a->c, NULL);
  store_close(s);
  return NULL;
}
START_TEST(one_model_serves_several_threads)
{
  static struct author alone[4], together[4];
  struct tiny t;
  tiny_make(&t, 6);
  for (uint32_t i = 0; i < 4; i++) {
    alone[i] = (struct author){ .lm = &t.lm, .first = 3 + i }, together[i] = alone[i];
    write_alone(&alone[i]);
  }
  for (int i = 0; i < 4; i++)
    ck_assert_int_eq(pthread_create(&together[i].thread, NULL, write_alone, &together[i]), 0);
  for (int i = 0; i < 4; i++) {
    struct author *a = &alone[i], *b = &together[i];
    ck_assert_int_eq(pthread_join(b->thread, NULL), 0);
    ck_assert(a->ok && b->ok && a->c.text.n == b->c.text.n && a->m.all.peak == b->m.all.peak);
    ck_assert_int_eq(memcmp(a->c.text.id, b->c.text.id, a->c.text.n * sizeof *a->c.text.id), 0);
    continuation_free(&a->m, &a->c), continuation_free(&b->m, &b->c);
    ck_assert(a->m.all.live == 0 && b->m.all.live == 0);
  }
  tiny_free(&t);
}
END_TEST

/* a step that is refused has changed nothing, and is taken again; a text for which there is no more
 * memory ends alone */
START_TEST(a_refused_step_may_be_taken_again)
{
  uint64_t seed = suite_seed();
  unsigned again = 0, ended = 0;
  for (int round = 0; round < 60; round++) {
    struct tiny_rig r;
    tiny_open(&r, 77, 3);
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    static struct job job[3];
    static struct alone alone[3];
    struct sequence q[3], *list[3];
    float logits[3 * TINY_V];
    for (uint32_t i = 0; i < 3; i++) {
      job_draw(&job[i], &seed, i, true);
      ck_assert(funnel_open(&job[i].d.f, &r.m, r.e.k, TINY_V, &r.why));
      job_begin(&job[i]), job[i].want.sequence = i;
      alone[i].ok =
        generate(&g, job[i].prompt, job[i].n, &job[i].want, &alone[i].c, &alone[i].why);
      alone[i].bits = job[i].bits, job_begin(&job[i]);
      ck_assert(sequence_open(&q[i], &g, job[i].prompt, job[i].n, &job[i].want, &r.why));
      list[i] = &q[i];
    }
    store_clear(r.s);
    while (q[0].c.ended == 0 || q[1].c.ended == 0 || q[2].c.ended == 0) {
      size_t had[3];
      for (int i = 0; i < 3; i++) had[i] = q[i].c.text.n;
      r.m.fail_at = rnd(&seed) % 2 ? r.m.all.requests + 1 + rnd(&seed) % 30 : 0;
      bool ok = generate_step(&g, list, 3, logits, &r.why);
      r.m.fail_at = 0, again += !ok;
      for (int i = 0; i < 3 && !ok; i++) ck_assert_uint_eq(had[i], q[i].c.text.n);
      if (!ok) ck_assert_ptr_nonnull(strstr(r.why.text, "out of memory"));
    }
    for (uint32_t i = 0; i < 3; i++) {
      if (q[i].c.ended == FINISH_ERROR && strstr(q[i].why.text, "out of memory") != NULL) ended++;
      else same_as_alone(&job[i], &q[i], &alone[i]);
      sequence_close(&r.m, &q[i]), continuation_free(&r.m, &alone[i].c), funnel_close(&job[i].d.f);
    }
    tiny_close(&r);
  }
  ck_assert(again > 50 && ended < 60);
}
END_TEST

/* a number that is none is the error of the text in which it is */
START_TEST(a_bad_row_ends_its_own_text)
{
  struct tiny_rig r;
  tiny_open(&r, 5, 3);
  ((float *) (uintptr_t) r.t.lm.embedding.data)[3 * TINY_D + 1] = NAN;
  struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
  static const uint32_t prompt[3][3] = { { 3, 1, 2 }, { 1, 3, 2 }, { 1, 2, 4 } };
  struct generate_options want[3] = { { .max_new_tokens = 1, .chunk = 1 },
    { .max_new_tokens = 1, .sequence = 1 }, { .max_new_tokens = 1, .sequence = 2 } };
  struct sequence q[3], *list[3];
  float logits[3 * TINY_V];
  for (int i = 0; i < 3; i++)
    list[i] = &q[i], ck_assert(sequence_open(&q[i], &g, prompt[i], 3, &want[i], &r.why));
  ck_assert(generate_step(&g, list, 3, logits, &r.why));
  ck_assert(q[0].reading && q[0].c.ended == FINISH_NONE && q[2].c.ended == FINISH_LENGTH);
  ck_assert(q[1].c.ended == FINISH_ERROR && q[1].c.text.n == 3 && q[2].c.text.n == 4);
  ck_assert_msg(strstr(q[1].why.text, "the embedding of row 2 is not finite") != NULL, "%s",
    q[1].why.text);
  ck_assert(generate_step(&g, list, 3, logits, &r.why) && q[0].c.ended == FINISH_NONE);
  ck_assert(generate_step(&g, list, 3, logits, &r.why) && q[0].c.ended == FINISH_ERROR);
  for (int i = 0; i < 3; i++) sequence_close(&r.m, &q[i]);
  struct row gap = { .sequence = 0, .position = 9 };
  struct pass *p;
  ck_assert(!model_forward(&r.e, &r.t.lm, r.s, &gap, 1, &p, &r.why)); /* and the store is in order */
  tiny_close(&r);
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
  tcase_add_test(t, an_end_token_counts_when_it_may);
  tcase_add_test(t, a_sequence_that_is_refused_is_empty);
  tcase_add_test(t, context_ends_the_text_and_refuses_a_longer_prompt);
  tcase_add_test(t, a_context_that_is_only_claimed_costs_nothing);
  tcase_add_test(t, loop_survives_every_refusal);
  tcase_add_test(t, a_refused_pass_leaves_no_word_about_its_whole);
  tcase_add_test(t, a_logit_that_is_no_number_is_an_error);
  tcase_add_test(t, of_equal_logits_the_lowest_id);
  tcase_add_test(t, a_pass_that_is_given_up_has_not_been);
  tcase_add_test(t, a_text_that_is_given_up_keeps_what_it_has);
  tcase_add_test(t, later_tokens_change_nothing);
  tcase_add_test(t, without_the_mask_they_do);
  tcase_add_test(t, every_query_is_needed);
  tcase_add_test(t, waste_is_between_its_bounds);
  tcase_add_loop_test(t, a_text_in_company_is_the_text_alone, 0, 2);
  tcase_add_test(t, a_refused_step_may_be_taken_again);
  tcase_add_test(t, a_bad_row_ends_its_own_text);
  tcase_add_test(t, one_model_serves_several_threads);
  suite_add_tcase(s, t);
  return suite_run(s);
}
