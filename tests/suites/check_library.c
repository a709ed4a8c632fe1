/* From outside: incipit.h, used rightly, used wrongly, without memory, and from two threads. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <dirent.h>
#include <fenv.h>
#include <malloc.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>
#include "suite.h"
#include "library/incipit.h"
#include "cache/cache.h"
#include "constraints/constraint.h"
#include "families/loader.h"
#include "sampling/sampling.h"
#include "stopping/stopping.h"
#include "kernels/kernels.h"

#define POCKET "models/pocket"
#define SMALL "tests/golden/small"
#define BARE "tests/golden/gpt2-bare" /* has no tokenizer */
enum { VOCAB = 2048 };

/* every block of the library comes from here: request number refused, from 1, gets none */
static atomic_size_t requests, refused;
void *aligned_alloc(size_t alignment, size_t bytes)
{
  void *p = NULL;
  if (atomic_fetch_add(&requests, 1) + 1 == atomic_load(&refused)) return NULL;
  return posix_memalign(&p, alignment, bytes) == 0 ? p : NULL;
}

struct set {
  struct incipit_model *m;
  struct incipit_context *c;
  struct incipit_error why;
};
static void set_open(struct set *x, const char *path, uint32_t sequences)
{
  struct incipit_context_options o = { .size = sizeof o, .n_sequences = sequences, .threads = 1 };
  memset(x, 0, sizeof *x);
  x->m = incipit_model_open(path, NULL, &x->why);
  ck_assert_msg(x->m != NULL, "%s", x->why.text);
  x->c = incipit_context_open(x->m, &o, &x->why);
  ck_assert_msg(x->c != NULL, "%s", x->why.text);
}
static void set_close(struct set *x)
{
  incipit_context_close(x->c);
  incipit_model_close(x->m);
}
static size_t ids_of(struct set *x, const char *text, uint32_t *id, size_t cap)
{
  size_t n;
  ck_assert_msg(
    incipit_encode(x->m, text, strlen(text), true, false, id, cap, &n, &x->why), "%s", x->why.text);
  ck_assert_uint_le(n, cap);
  return n;
}
static const struct incipit_generate_options most_20 = { .size = sizeof most_20,
  .max_new_tokens = 20 };
static struct incipit_result *write_20(struct set *x, const char *prompt)
{
  uint32_t id[64];
  size_t n = ids_of(x, prompt, id, 64);
  struct incipit_result *r = incipit_generate(x->c, id, n, &most_20, &x->why);
  ck_assert_msg(r != NULL, "%s", x->why.text);
  return r;
}
static struct incipit_report report_of(struct set *x)
{
  struct incipit_report r;
  ck_assert(incipit_context_report(x->c, &r, sizeof r, &x->why));
  return r;
}
static const char *const four[] = { "The cat sat", "Once", "There was a", "\"I am" };

/* the texts that the chapters write, with the same settings */
static void inner_text(const char *path, const uint32_t *id, size_t n, size_t most, double t,
  uint64_t seed, uint32_t sequence, struct ids *out)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct counters c = { .passes = 0 };
  struct engine e = { kernels_find(NULL, NULL), NULL, &c };
  struct model *lm = model_open(&m, path, &why);
  struct store *s = cache_open(&m, &lm->config, 1, &(struct cache_options){ .rows = 0 }, &why);
  struct sampler d = { .s = sampling_default(), .seed = seed, .sequence = sequence };
  d.s.temperature = t;
  ck_assert(funnel_open(&d.f, &m, e.k, lm->config.vocab_size, &why));
  struct generate_context g = { &e, lm, s, &m };
  struct generate_options want = { .max_new_tokens = most,
    .eos = lm->config.eos,
    .n_eos = lm->config.n_eos,
    .recall = store_match_prefix,
    .select = sampler_choose,
    .select_ctx = &d };
  struct continuation text;
  ck_assert_msg(generate(&g, id, n, &want, &text, &why), "%s", why.text);
  *out = (struct ids){ malloc(text.text.n * sizeof *id), text.text.n - n, 0 };
  memcpy(out->id, text.text.id + n, out->n * sizeof *id);
  continuation_free(&m, &text);
  funnel_close(&d.f);
  store_close(s);
  model_close(&m, lm);
}

START_TEST(a_text_is_that_of_the_chapters)
{
  struct set x;
  set_open(&x, POCKET, 1);
  for (int i = 0; i < 4; i++) {
    uint32_t id[64];
    struct ids want;
    size_t n = ids_of(&x, four[i], id, 64);
    uint64_t before = report_of(&x).rows;
    struct incipit_result *r = write_20(&x, four[i]);
    inner_text(POCKET, id, n, 20, 0, 0, 0, &want);
    ck_assert_uint_eq(r->n_ids, want.n);
    ck_assert_mem_eq(r->id, want.id, want.n * sizeof *id);
    ck_assert_uint_eq(r->text[r->n], 0);
    /* the default keeps what it has computed */
    ck_assert_uint_eq(report_of(&x).rows - before, n + want.n - 1);
    free(want.id);
    incipit_result_close(r);
  }
  ck_assert_uint_eq(report_of(&x).rows_recomputed, 0);
  set_close(&x);
}
END_TEST

static void same(const struct incipit_result *a, const struct incipit_result *b)
{
  ck_assert_uint_eq(a->n_ids, b->n_ids);
  ck_assert_mem_eq(a->id, b->id, a->n_ids * sizeof *a->id);
  ck_assert_uint_eq(a->n, b->n);
  ck_assert_mem_eq(a->text, b->text, a->n + 1);
  ck_assert_int_eq(a->finish, b->finish);
}

START_TEST(many_texts_are_those_of_one_by_one)
{
  for (uint32_t sequences = 1; sequences <= 5; sequences++)
    for (size_t chunk = 1; chunk <= 3; chunk++) {
      struct set x;
      struct incipit_prompt p[4];
      struct incipit_result *r[4];
      uint32_t id[4][64];
      set_open(&x, POCKET, sequences);
      for (int i = 0; i < 4; i++) p[i] = (struct incipit_prompt){ id[i], ids_of(&x, four[i], id[i], 64) };
      struct incipit_generate_options o = most_20;
      o.chunk = chunk;
      ck_assert_msg(incipit_generate_many(x.c, p, 4, &o, r, &x.why), "%s", x.why.text);
      for (int i = 0; i < 4; i++) {
        struct incipit_result *one = write_20(&x, four[i]);
        same(r[i], one);
        incipit_result_close(one);
        incipit_result_close(r[i]);
      }
      set_close(&x);
    }
}
END_TEST

START_TEST(a_sampler_is_copied_for_each_text_and_numbered)
{
  struct set x;
  uint32_t id[64];
  set_open(&x, POCKET, 3);
  size_t n = ids_of(&x, "The cat sat", id, 64);
  struct incipit_prompt p[3] = { { id, n }, { id, n }, { id, n } };
  struct incipit_result *r[3];
  struct incipit_sampler_options so = { .size = 0 };
  ck_assert(incipit_sampler_defaults(x.m, &so, sizeof so, &x.why));
  so.temperature = 0.9, so.seed = 7, so.sequence = 2;
  struct incipit_generate_options o = most_20;
  o.sampler = incipit_sampler_open(x.m, &so, &x.why);
  ck_assert(incipit_generate_many(x.c, p, 3, &o, r, &x.why));
  for (uint32_t i = 0; i < 3; i++) {
    struct ids want;
    inner_text(POCKET, id, n, 20, 0.9, 7, 2 + i, &want);
    ck_assert_uint_eq(r[i]->n_ids, want.n);
    ck_assert_mem_eq(r[i]->id, want.id, want.n * sizeof *id);
    free(want.id);
    incipit_result_close(r[i]);
  }
  incipit_sampler_close((struct incipit_sampler *) o.sampler);
  set_close(&x);
}
END_TEST

/* ---- passes and sequences */
static void push(struct set *x, uint32_t s, const uint32_t *id, size_t n, float *logits)
{
  struct incipit_row row[64];
  size_t at, last = n - 1;
  ck_assert(incipit_sequence_length(x->c, s, &at, &x->why));
  for (size_t i = 0; i < n; i++) row[i] = (struct incipit_row){ s, (uint32_t) (at + i), id[i] };
  ck_assert_msg(incipit_forward(x->c, row, n, &x->why), "%s", x->why.text);
  ck_assert_msg(incipit_logits(x->c, &last, 1, logits, &x->why), "%s", x->why.text);
}
START_TEST(forks_and_crops_give_the_bits_of_reading_again)
{
  struct set x;
  static float a[VOCAB], b[VOCAB], c[VOCAB];
  uint32_t id[8] = { 5, 400, 71, 9, 9, 300, 12, 8 }, one, two, three;
  size_t n;
  set_open(&x, POCKET, 3);
  ck_assert(incipit_sequence_open(x.c, &one, &x.why));
  push(&x, one, id, 8, a);
  ck_assert(incipit_sequence_fork(x.c, one, &two, &x.why));
  ck_assert(incipit_sequence_crop(x.c, two, 5, &x.why));
  push(&x, two, id + 5, 3, b);
  ck_assert_mem_eq(a, b, sizeof a);
  ck_assert(incipit_sequence_open(x.c, &three, &x.why));
  push(&x, three, id, 8, c);
  ck_assert_mem_eq(a, c, sizeof a);
  uint32_t other[5] = { 5, 400, 71, 10, 9 };
  ck_assert(incipit_sequence_keep(x.c, three, other, 5, &n, &x.why));
  ck_assert_uint_eq(n, 3);
  ck_assert(incipit_sequence_length(x.c, three, &n, &x.why) && n == 3);
  ck_assert(incipit_sequence_length(x.c, one, &n, &x.why) && n == 8);
  /* rows of three sequences in one pass, logits in another order */
  struct incipit_row row[3] = { { one, 8, 3 }, { three, 3, 9 }, { two, 8, 3 } };
  size_t which[2] = { 2, 0 };
  static float two_rows[2][VOCAB];
  ck_assert(incipit_forward(x.c, row, 3, &x.why));
  ck_assert(incipit_logits(x.c, which, 2, two_rows[0], &x.why));
  ck_assert_mem_eq(two_rows[0], two_rows[1], sizeof a);
  set_close(&x);
}
END_TEST

START_TEST(kept_rows_are_not_computed_again)
{
  struct set x;
  uint32_t id[64], s;
  set_open(&x, POCKET, 1);
  size_t n = ids_of(&x, "The cat sat", id, 64);
  struct incipit_generate_options o = most_20;
  ck_assert(incipit_sequence_open(x.c, &s, &x.why));
  o.sequence = &s;
  struct incipit_result *a = incipit_generate(x.c, id, n, &o, &x.why);
  uint64_t rows = report_of(&x).rows;
  struct incipit_result *b = incipit_generate(x.c, id, n, &o, &x.why);
  ck_assert_uint_eq(report_of(&x).rows - rows, 1 + b->n_ids - 1);
  same(a, b);
  size_t length;
  ck_assert(incipit_sequence_length(x.c, s, &length, &x.why) && length == n + b->n_ids - 1);
  incipit_result_close(a);
  incipit_result_close(b);
  set_close(&x);
}
END_TEST

START_TEST(the_cache_is_smaller_in_another_format)
{
  struct incipit_error why;
  struct incipit_model *m = incipit_model_open(POCKET, NULL, &why);
  uint64_t bytes[2];
  static const char *const type[] = { "f32", "q8_0" };
  for (int i = 0; i < 2; i++) {
    struct incipit_context_options o = { .size = sizeof o, .kv_type = type[i], .window = 8, .sinks = 2,
      .kernels = "scalar", .threads = 2, .rows = 500 };
    struct set x = { .m = m, .c = incipit_context_open(m, &o, &why) };
    ck_assert_msg(x.c != NULL, "%s", why.text);
    incipit_result_close(write_20(&x, "The cat sat"));
    bytes[i] = report_of(&x).cache_bytes;
    ck_assert_uint_gt(report_of(&x).weight_bytes, 2000000);
    ck_assert_uint_ge(report_of(&x).peak_bytes, report_of(&x).live_bytes);
    ck_assert_uint_ge(report_of(&x).live_bytes, report_of(&x).cache_bytes);
    incipit_context_close(x.c);
  }
  ck_assert_uint_gt(bytes[1], 0);
  ck_assert_uint_gt(bytes[0], 3 * bytes[1]);
  incipit_model_close(m);
}
END_TEST

/* ---- samplers, constraints, streams */
START_TEST(to_choose_changes_nothing_and_to_accept_does)
{
  struct set x;
  static float logits[VOCAB];
  uint32_t id[64], s, a, b, c;
  set_open(&x, POCKET, 1);
  size_t n = ids_of(&x, "The cat sat", id, 64);
  struct incipit_sampler_options o = { .size = 0 };
  ck_assert(incipit_sampler_defaults(x.m, &o, sizeof o, &x.why));
  ck_assert_uint_eq(o.size, sizeof o);
  o.temperature = 1.5, o.seed = 3, o.repetition_penalty = 1.3, o.top_k = 40, o.n_bias = 1;
  uint32_t unwanted = 7;
  double bias = -1e9;
  o.bias_id = &unwanted, o.bias = &bias;
  struct incipit_sampler *one = incipit_sampler_open(x.m, &o, &x.why), *two;
  ck_assert_msg(one != NULL, "%s", x.why.text);
  bias = 1e9; /* the sampler has its own */
  ck_assert(incipit_sampler_reset(one, id, n, 0, &x.why));
  ck_assert(incipit_sequence_open(x.c, &s, &x.why));
  push(&x, s, id, n, logits);
  ck_assert(incipit_sampler_apply(one, logits, &a, &x.why) && a != unwanted);
  for (int i = 0; i < 5; i++) ck_assert(incipit_sampler_apply(one, logits, &b, &x.why) && a == b);
  two = incipit_sampler_copy(one, &x.why);
  bool moved = false;
  for (int i = 0; i < 20; i++) {
    ck_assert(incipit_sampler_apply(one, logits, &a, &x.why));
    ck_assert(incipit_sampler_apply(two, logits, &b, &x.why));
    ck_assert_uint_eq(a, b);
    ck_assert(incipit_sampler_accept(one, a, &x.why));
    ck_assert(incipit_sampler_apply(one, logits, &c, &x.why));
    moved = moved || c != a; /* the noise is another at the next position */
    ck_assert(incipit_sampler_accept(two, a, &x.why));
  }
  ck_assert(moved);
  incipit_sampler_close(two);
  incipit_sampler_close(one);
  set_close(&x);
}
END_TEST

START_TEST(a_constraint_holds_in_generate_and_by_hand)
{
  struct set x;
  uint32_t id[64];
  set_open(&x, POCKET, 4);
  size_t n = ids_of(&x, "The cat sat", id, 64);
  struct incipit_constraint *k = incipit_constraint_open(x.m, INCIPIT_JSON, NULL, 0, &x.why);
  ck_assert_msg(k != NULL, "%s", x.why.text);
  struct incipit_sampler_options o = { .size = 0 };
  ck_assert(incipit_sampler_defaults(x.m, &o, sizeof o, &x.why));
  o.constraint = k, o.temperature = 1;
  struct incipit_sampler *s = incipit_sampler_open(x.m, &o, &x.why);
  incipit_constraint_close(k); /* the sampler keeps it */
  ck_assert_msg(s != NULL, "%s", x.why.text);
  struct incipit_generate_options g = { .size = sizeof g, .max_new_tokens = 30, .sampler = s };
  struct incipit_prompt p[4] = { { id, n }, { id, n }, { id, n }, { id, n } };
  struct incipit_result *r[4];
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct constraint *json = constraint_grammar(&m, "", constraint_json, strlen(constraint_json), &why);
  for (int ignore = 0; ignore < 2; ignore++) {
    g.ignore_end = ignore;
    ck_assert_msg(incipit_generate_many(x.c, p, 4, &g, r, &x.why), "%s", x.why.text);
    for (int i = 0; i < 4; i++) {
      bool yes;
      ck_assert(constraint_matches(json, r[i]->text, r[i]->n, &yes, &why));
      ck_assert_msg(yes, "%s", r[i]->text);
      ck_assert(r[i]->finish == (ignore ? INCIPIT_FINISH_MATCH : INCIPIT_FINISH_END)
        || r[i]->finish == INCIPIT_FINISH_LENGTH);
      incipit_result_close(r[i]);
    }
  }
  constraint_free(json);
  /* by hand: a token that the constraint does not allow is not accepted, and nothing has changed */
  k = incipit_constraint_open(x.m, INCIPIT_REGEX, "(yes|no)", 8, &x.why);
  o.constraint = k, o.temperature = 0;
  struct incipit_sampler *h = incipit_sampler_open(x.m, &o, &x.why);
  static float logits[VOCAB];
  uint32_t bad, good;
  char text[16];
  size_t bytes, all = 0;
  ck_assert_uint_eq(ids_of(&x, "z", &bad, 1), 1);
  for (int step = 0; step < 4; step++) {
    ck_assert(!incipit_sampler_accept(h, bad, &x.why));
    ck_assert_int_eq(x.why.code, INCIPIT_NO_CHOICE);
    ck_assert_msg(incipit_sampler_apply(h, logits, &good, &x.why), "%s", x.why.text);
    ck_assert(incipit_sampler_accept(h, good, &x.why));
    if (incipit_is_end(x.m, good)) break;
    ck_assert(incipit_decode(x.m, &good, 1, true, text + all, 16 - all, &bytes, &x.why));
    all += bytes;
  }
  text[all] = '\0';
  ck_assert(strcmp(text, "yes") == 0 || strcmp(text, "no") == 0);
  ck_assert(incipit_sampler_reset(h, NULL, 0, 1, &x.why) || x.why.code == INCIPIT_NO_CHOICE);
  incipit_sampler_close(h);
  incipit_constraint_close(k);
  incipit_sampler_close(s);
  set_close(&x);
}
END_TEST

struct heard {
  char text[5][4096];
  size_t n[5], tokens, calls, rows, all;
  size_t stop_at, cancel_rows, number[5];
  bool over;
  struct set *x;
};
static bool hear(void *ctx, const struct incipit_token *now)
{
  struct heard *h = ctx;
  memcpy(h->text[now->prompt] + h->n[now->prompt], now->text, now->n);
  h->n[now->prompt] += now->n;
  ck_assert_uint_eq(now->number, ++h->number[now->prompt]);
  return ++h->tokens != h->stop_at;
}
static bool progress(void *ctx, size_t rows, size_t all)
{
  struct heard *h = ctx;
  ck_assert_uint_ge(rows, h->rows);
  ck_assert_uint_le(rows, all);
  ck_assert(!h->over); /* who has said that it is enough is not asked again */
  h->rows = rows, h->all = all, h->calls++;
  h->over = h->cancel_rows > 0 && rows >= h->cancel_rows;
  return !h->over;
}
START_TEST(what_is_streamed_is_the_text)
{
  static const char *const stop[] = { "mat.", "milk", "the moon" };
  for (int include = 0; include < 2; include++) {
    struct set x;
    uint32_t id[4][64];
    struct incipit_prompt p[4];
    struct incipit_result *r[4];
    struct heard h = { .tokens = 0 };
    set_open(&x, POCKET, 2);
    for (int i = 0; i < 4; i++) p[i] = (struct incipit_prompt){ id[i], ids_of(&x, four[i], id[i], 64) };
    struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 40, .stop = stop,
      .n_stop = 3, .include_stop = include, .on_token = hear, .on_progress = progress, .ctx = &h,
      .chunk = 1 };
    ck_assert(incipit_generate_many(x.c, p, 4, &o, r, &x.why));
    size_t tokens = 0;
    for (int i = 0; i < 4; i++) {
      ck_assert_uint_eq(h.n[i], r[i]->n);
      ck_assert_mem_eq(h.text[i], r[i]->text, r[i]->n);
      ck_assert((r[i]->stop != NULL) == (r[i]->finish == INCIPIT_FINISH_STOP));
      if (r[i]->stop != NULL) ck_assert((strstr(r[i]->text, r[i]->stop) != NULL) == include);
      tokens += r[i]->n_ids;
    }
    ck_assert_int_eq(r[0]->finish, INCIPIT_FINISH_STOP);
    ck_assert_str_eq(r[0]->stop, "mat.");
    ck_assert_str_eq(r[0]->text, include ? " on the mat." : " on the ");
    ck_assert_uint_eq(h.tokens, tokens);
    ck_assert_uint_eq(h.rows, p[0].n + p[1].n + p[2].n + p[3].n);
    ck_assert_uint_eq(h.rows, h.all);
    for (int i = 0; i < 4; i++) incipit_result_close(r[i]);
    set_close(&x);
  }
}
END_TEST

START_TEST(the_last_piece_brings_what_was_held)
{
  struct set x;
  uint32_t id[64];
  static const char *const stop[] = { "yesno" };
  struct heard h = { .tokens = 0 };
  set_open(&x, POCKET, 1);
  size_t n = ids_of(&x, "The cat sat", id, 64);
  struct incipit_sampler_options so = { .size = 0 };
  ck_assert(incipit_sampler_defaults(x.m, &so, sizeof so, &x.why));
  so.constraint = incipit_constraint_open(x.m, INCIPIT_REGEX, "yes", 3, &x.why);
  struct incipit_sampler *s = incipit_sampler_open(x.m, &so, &x.why);
  struct incipit_generate_options o = { .size = sizeof o, .stop = stop, .n_stop = 1, .sampler = s, .on_token = hear, .ctx = &h };
  struct incipit_result *r = incipit_generate(x.c, id, n, &o, &x.why);
  ck_assert_str_eq(r->text, "yes");
  ck_assert_int_eq(r->finish, INCIPIT_FINISH_END);
  ck_assert_uint_eq(h.n[0], 3);
  ck_assert_mem_eq(h.text[0], "yes", 3);
  incipit_result_close(r);
  incipit_sampler_close(s);
  incipit_constraint_close(so.constraint);
  set_close(&x);
}
END_TEST

START_TEST(callbacks_cancel)
{
  struct set x;
  uint32_t id[64];
  set_open(&x, POCKET, 1);
  size_t n = ids_of(&x, "The cat sat on the mat and looked at the moon", id, 64);
  struct heard h = { .stop_at = 3 };
  struct incipit_generate_options o = { .size = sizeof o, .on_token = hear, .ctx = &h };
  struct incipit_result *r = incipit_generate(x.c, id, n, &o, &x.why);
  ck_assert_int_eq(r->finish, INCIPIT_FINISH_CANCELLED);
  ck_assert_uint_eq(r->n_ids, 3);
  ck_assert_uint_ge(r->n, h.n[0]);
  incipit_result_close(r);
  struct heard g = { .cancel_rows = 4 };
  o = (struct incipit_generate_options){ .size = sizeof o, .on_progress = progress, .ctx = &g, .chunk = 2 };
  struct incipit_prompt p[2] = { { id, n }, { id, n } };
  struct incipit_result *two[2];
  ck_assert_uint_gt(n, 5);
  ck_assert(incipit_generate_many(x.c, p, 2, &o, two, &x.why));
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(two[i]->finish, INCIPIT_FINISH_CANCELLED);
    ck_assert_uint_eq(two[i]->n_ids + two[i]->n, 0);
    incipit_result_close(two[i]);
  }
  ck_assert_uint_eq(g.rows, 4);
  ck_assert_uint_gt(g.calls, 2);
  ck_assert_uint_eq(g.all, 2 * n);
  set_close(&x);
}
END_TEST

START_TEST(a_pass_is_given_up_inside)
{
  struct set x;
  static uint32_t id[2000];
  uint32_t s[2];
  size_t n;
  set_open(&x, POCKET, 2);
  for (size_t i = 0; i < 2000; i++) id[i] = 300 + (uint32_t) (i % 700);
  struct incipit_prompt p[3] = { { id, 1500 }, { id, 1000 }, { id, 9 } };
  struct incipit_result *r[3];
  struct heard h = { .cancel_rows = 700 };
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 3, .chunk = 2000,
    .on_token = hear, .on_progress = progress, .ctx = &h };
  for (size_t texts = 1; texts <= 3; texts++) {
    h = (struct heard){ .cancel_rows = 700 };
    ck_assert_msg(incipit_generate_many(x.c, p, texts, &o, r, &x.why), "%s", x.why.text);
    for (size_t i = 0; i < texts; i++) {
      ck_assert_int_eq(r[i]->finish, INCIPIT_FINISH_CANCELLED);
      ck_assert_uint_eq(r[i]->n_ids + r[i]->n, 0);
      incipit_result_close(r[i]);
    }
    ck_assert_uint_eq(h.tokens, 0);
    /* it was asked before any pass was done, at least every 64 rows of a layer */
    ck_assert_uint_ge(h.rows, 700);
    ck_assert_uint_lt(h.rows, texts == 1 ? 1500 : 2500);
    ck_assert_uint_gt(h.calls, 20);
    ck_assert_uint_eq(h.all, texts == 1 ? 1500 : texts == 2 ? 2500 : 2509);
  }
  /* nothing of the pass is in the sequences, and what was cancelled can be written */
  ck_assert(incipit_sequence_open(x.c, &s[0], &x.why) && incipit_sequence_open(x.c, &s[1], &x.why));
  o.sequence = s;
  h = (struct heard){ .cancel_rows = 1 };
  ck_assert(incipit_generate_many(x.c, p, 2, &o, r, &x.why));
  for (int i = 0; i < 2; i++) {
    ck_assert(incipit_sequence_length(x.c, s[i], &n, &x.why) && n == 0);
    incipit_result_close(r[i]);
  }
  h = (struct heard){ .tokens = 0 };
  ck_assert(incipit_generate_many(x.c, p, 2, &o, r, &x.why));
  ck_assert_uint_eq(h.rows, 2500);
  ck_assert_uint_eq(h.tokens, 6);
  struct incipit_result *two[2] = { r[0], r[1] };
  o.on_progress = NULL, o.on_token = NULL, o.chunk = 0, o.sequence = NULL;
  ck_assert(incipit_sequence_close(x.c, s[0], &x.why) && incipit_sequence_close(x.c, s[1], &x.why));
  ck_assert(incipit_generate_many(x.c, p, 2, &o, r, &x.why));
  for (int i = 0; i < 2; i++) {
    same(two[i], r[i]);
    incipit_result_close(two[i]);
    incipit_result_close(r[i]);
  }
  /* a text that is written while another is read: its rows are not the prompt's */
  p[1] = (struct incipit_prompt){ id, 4 };
  h = (struct heard){ .tokens = 0 };
  o.chunk = 100, o.on_progress = progress, o.on_token = hear;
  ck_assert(incipit_generate_many(x.c, p, 2, &o, r, &x.why));
  ck_assert_uint_eq(h.rows, 1504);
  ck_assert_uint_eq(h.all, 1504);
  incipit_result_close(r[0]);
  incipit_result_close(r[1]);
  struct set y;
  set_open(&y, POCKET, 5);
  struct incipit_prompt q[5] = { { id, 2 }, { id, 2 }, { id, 2 }, { id, 2 }, { id, 40 } };
  struct incipit_result *five[5];
  h = (struct heard){ .tokens = 0 };
  o.chunk = 1, o.max_new_tokens = 12;
  ck_assert(incipit_generate_many(y.c, q, 5, &o, five, &y.why));
  ck_assert_uint_eq(h.rows, 48);
  for (int i = 0; i < 5; i++) incipit_result_close(five[i]);
  set_close(&y);
  /* a pass by hand does not ask those who asked before */
  size_t calls = h.calls;
  ck_assert(incipit_sequence_open(x.c, &s[0], &x.why));
  ck_assert(incipit_forward(x.c, &(struct incipit_row){ s[0], 0, 5 }, 1, &x.why));
  ck_assert_uint_eq(h.calls, calls);
  set_close(&x);
}
END_TEST

static bool meddle(void *ctx, const struct incipit_token *now)
{
  struct heard *h = ctx;
  struct set *x = h->x;
  uint32_t s;
  struct incipit_row row = { 1, 0, 0 };
  struct incipit_error why = { .code = 0 };
  (void) now;
  incipit_context_close(x->c); /* does nothing */
  ck_assert(!incipit_forward(x->c, &row, 1, &why) && why.code == INCIPIT_MISUSE);
  ck_assert_msg(strstr(why.text, "callbacks") != NULL, "%s", why.text);
  ck_assert(!incipit_sequence_open(x->c, &s, &why));
  ck_assert(incipit_generate(x->c, &row.token, 1, NULL, &why) == NULL);
  return true;
}
START_TEST(a_callback_cannot_use_its_context)
{
  struct set x;
  uint32_t id[64];
  struct heard h = { .x = &x };
  set_open(&x, POCKET, 2);
  size_t n = ids_of(&x, "The cat sat", id, 64);
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 5, .on_token = meddle, .ctx = &h };
  struct incipit_result *r = incipit_generate(x.c, id, n, &o, &x.why), *s;
  ck_assert(r != NULL);
  o.on_token = NULL;
  s = incipit_generate(x.c, id, n, &o, &x.why); /* and it can afterwards */
  same(r, s);
  incipit_result_close(r);
  incipit_result_close(s);
  set_close(&x);
}
END_TEST

START_TEST(a_stream_holds_back_and_begins_again)
{
  struct set x;
  uint32_t id[64];
  struct incipit_piece piece;
  static const char *const stop[] = { "sat on", "nowhere" };
  set_open(&x, POCKET, 1);
  size_t n = ids_of(&x, "The cat sat on it", id, 64);
  struct incipit_stream *s = incipit_stream_open(x.m, stop, 2, false, &x.why);
  ck_assert_msg(s != NULL, "%s", x.why.text);
  for (int round = 0; round < 2; round++) {
    char text[64] = "";
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
      ck_assert(incipit_stream_push(s, id[i], &piece, &x.why));
      strncat(text, piece.text, piece.n);
      if (piece.stop != NULL) found = piece.stop;
    }
    ck_assert(incipit_stream_end(s, &piece, &x.why) && piece.n == 0);
    ck_assert_str_eq(text, "The cat ");
    ck_assert_str_eq(found, "sat on");
    ck_assert(incipit_stream_reset(s, id, 1, &x.why));
  }
  /* what is held comes at the end */
  char text[64] = "";
  for (size_t i = 0; i < 3; i++) {
    ck_assert(incipit_stream_push(s, id[i], &piece, &x.why));
    strncat(text, piece.text, piece.n);
  }
  ck_assert_ptr_eq(strstr(text, "sat"), NULL);
  ck_assert(incipit_stream_end(s, &piece, &x.why));
  strncat(text, piece.text, piece.n);
  ck_assert_ptr_ne(strstr(text, "sat"), NULL);
  incipit_stream_close(s);
  set_close(&x);
}
END_TEST

/* the built-in model in a folder of its own: with more fields, other wishes of its makers, an embedding that is no number, another tokenizer */
struct folder {
  const char *fields, *wishes, *tokenizer;
  long nan_row; /* 0: none */
  char name[64];
};
static const char *const parts[] = { "config.json", "generation_config.json", "tokenizer.json", "model.safetensors" };
static void write_part(const struct folder *f, int i, const char *text, size_t n)
{
  char path[128];
  snprintf(path, sizeof path, "%s/%s", f->name, parts[i]);
  FILE *out = fopen(path, "wb");
  ck_assert(out != NULL && fwrite(text, 1, n, out) == n && fclose(out) == 0);
}
static void folder_make(struct folder *f)
{
  static char text[8 << 20];
  strcpy(f->name, "/tmp/incipit-library-XXXXXX");
  ck_assert_ptr_ne(mkdtemp(f->name), NULL);
  for (int i = 0; i < 4; i++) {
    char from[64];
    snprintf(from, sizeof from, POCKET "/%s", parts[i]);
    FILE *in = fopen(from, "rb");
    size_t n = fread(text, 1, sizeof text, in);
    ck_assert(fclose(in) == 0 && n > 0 && n < sizeof text);
    if (i == 0 && f->fields != NULL) {
      size_t more = strlen(f->fields);
      memmove(text + 1 + more, text + 1, n - 1);
      memcpy(text + 1, f->fields, more);
      n += more;
    }
    uint64_t header;
    memcpy(&header, text, 8);
    /* the embedding is the first tensor: [2048][128] of two bytes each */
    if (i == 3 && f->nan_row > 0) memset(text + 8 + header + 256 * (size_t) f->nan_row, 0xff, 256);
    if (i == 1 && f->wishes != NULL) write_part(f, i, f->wishes, strlen(f->wishes));
    else if (i == 2 && f->tokenizer != NULL) write_part(f, i, f->tokenizer, strlen(f->tokenizer));
    else write_part(f, i, text, n);
  }
}
static void folder_remove(const struct folder *f)
{
  for (int i = 0; i < 4; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->name, parts[i]);
    unlink(path);
  }
  rmdir(f->name);
}

/* ---- conversations */
START_TEST(a_conversation_computes_no_row_twice)
{
  struct set x;
  static const char *const said[] = { "Hello!", "What did the cat do?", "And then?" };
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 12 };
  size_t rows_before = 0;
  set_open(&x, POCKET, 2);
  struct incipit_chat *t = incipit_chat_open(x.c, "pocket", NULL, &x.why);
  ck_assert_msg(t != NULL, "%s", x.why.text);
  struct incipit_message message[6];
  struct incipit_result *r[3];
  char first[3][512];
  uint32_t id[512];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 3; i++) {
      struct heard h = { .tokens = 0 };
      o.on_token = hear, o.ctx = &h;
      uint64_t before = report_of(&x).rows;
      size_t n;
      message[2 * i] = (struct incipit_message){ INCIPIT_USER, said[i], strlen(said[i]) };
      ck_assert(incipit_chat_encode(x.m, "pocket", message, (size_t) (2 * i + 1), true, id, 512, &n, &x.why));
      r[i] = incipit_chat_say(t, said[i], strlen(said[i]), &o, &x.why);
      ck_assert_msg(r[i] != NULL, "%s", x.why.text);
      ck_assert(r[i]->n == 0 || r[i]->text[0] != ' ');
      ck_assert_uint_eq(h.n[0], r[i]->n);
      ck_assert_mem_eq(h.text[0], r[i]->text, r[i]->n);
      message[2 * i + 1] = (struct incipit_message){ INCIPIT_ASSISTANT, r[i]->text, r[i]->n };
      /* a later turn costs itself and its answer, not what was there before */
      if (i == 0 && round == 0) ck_assert_uint_eq(report_of(&x).rows - before, n + r[i]->n_ids - 1);
      if (i > 0) ck_assert_uint_lt(report_of(&x).rows - before, n);
      /* after a reset the same turn is asked with the same ids, of which the cache has all but the last */
      if (i == 0 && round == 1) ck_assert_uint_eq(report_of(&x).rows - before, r[i]->n_ids);
      /* the ids are those of the template, from which an answer without its end token is taken up to the last row */
      if (i > 0) ck_assert_uint_eq(report_of(&x).rows - before, n + r[i]->n_ids - 1 - rows_before);
      rows_before = n + r[i]->n_ids - 1;
      if (round == 0) snprintf(first[i], sizeof first[i], "%s", r[i]->text);
      else ck_assert_str_eq(first[i], r[i]->text);
    }
    if (round == 0) ck_assert_uint_eq(report_of(&x).rows_recomputed, 0);
    for (int i = 0; i < 3; i++) incipit_result_close(r[i]);
    ck_assert(incipit_chat_reset(t, &x.why));
  }
  struct heard g = { .cancel_rows = 1 };
  o.on_progress = progress, o.on_token = NULL, o.ctx = &g;
  struct incipit_result *none = incipit_chat_say(t, "Good morning, little fox!", 25, &o, &x.why);
  ck_assert(none != NULL && none->finish == INCIPIT_FINISH_CANCELLED && none->n_ids == 0);
  incipit_result_close(none);
  incipit_chat_close(t);
  set_close(&x);
}
END_TEST

START_TEST(an_answer_ends_as_the_template_says)
{
  struct set x;
  uint32_t line;
  set_open(&x, POCKET, 1);
  ck_assert(ids_of(&x, "\n", &line, 1) == 1 && !incipit_is_end(x.m, line));
  struct incipit_chat *t = incipit_chat_open(x.c, "pocket", NULL, &x.why);
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 60 };
  struct incipit_result *r = incipit_chat_say(t, "Hello!", 6, &o, &x.why);
  ck_assert(r != NULL && r->finish == INCIPIT_FINISH_END && r->id[r->n_ids - 1] == line);
  incipit_result_close(r);
  incipit_chat_close(t);
  set_close(&x);
}
END_TEST

static bool close_chat(void *ctx, const struct incipit_token *now)
{
  (void) now;
  incipit_chat_close((struct incipit_chat *) ctx); /* does nothing */
  return true;
}
START_TEST(a_callback_cannot_close_its_conversation)
{
  struct set x;
  set_open(&x, POCKET, 1);
  struct incipit_chat *t = incipit_chat_open(x.c, "pocket", NULL, &x.why);
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 12, .on_token = close_chat, .ctx = t };
  for (int i = 0; i < 3; i++) {
    size_t live = report_of(&x).live_bytes;
    struct incipit_result *r = incipit_chat_say(t, "Hello!", 6, &o, &x.why);
    ck_assert_msg(r != NULL && r->n_ids > 2, "%s", x.why.text);
    ck_assert_uint_ge(report_of(&x).live_bytes, live);
    incipit_result_close(r);
  }
  incipit_chat_close(t);
  uint32_t s;
  ck_assert(incipit_sequence_open(x.c, &s, &x.why)); /* the only one is free again */
  set_close(&x);
}
END_TEST

START_TEST(a_turn_that_does_not_fit_is_taken_back)
{
  struct set x;
  static char much[9000];
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 8 };
  memset(much, 'x', sizeof much - 1);
  set_open(&x, POCKET, 1);
  for (int with = 0; with < 2; with++) {
    struct incipit_chat *t = incipit_chat_open(x.c, "pocket", NULL, &x.why);
    struct incipit_result *a = incipit_chat_say(t, "Hello!", 6, &o, &x.why);
    if (with == 1) {
      ck_assert(incipit_chat_say(t, much, sizeof much - 1, &o, &x.why) == NULL);
      ck_assert_int_eq(x.why.code, INCIPIT_FULL);
    }
    struct incipit_result *b = incipit_chat_say(t, "And then?", 9, &o, &x.why);
    static char after[512];
    if (with == 0) snprintf(after, sizeof after, "%s", b->text);
    else ck_assert_str_eq(after, b->text);
    incipit_result_close(a);
    incipit_result_close(b);
    incipit_chat_close(t);
  }
  set_close(&x);
}
END_TEST

/* ---- misuse: every function called wrongly says what is wrong */
#define WRONG_AS(wanted, says, call)                                                               \
  do {                                                                                             \
    memset(&why, 0, sizeof why);                                                                   \
    if (call) ck_abort_msg("%s succeeded", #call);                                                 \
    if (why.code != (wanted) || strstr(why.text, says) == NULL || strlen(why.text) < 20)           \
      ck_abort_msg("%s: code %d, %s", #call, why.code, why.text);                                  \
    told++;                                                                                        \
  } while (0)
#define WRONG(says, call) WRONG_AS(INCIPIT_MISUSE, says, call)
/* the same with nobody to tell */
#define QUIET(call) ck_assert(!(call))

static struct incipit_error why;
static unsigned told;
START_TEST(null_is_told)
{
  struct set x;
  uint32_t id = 5, s;
  size_t n = 0;
  float logits[VOCAB];
  char text[8];
  struct incipit_report report;
  struct incipit_piece piece;
  struct incipit_prompt p = { &id, 1 };
  struct incipit_result *r;
  struct incipit_message message = { INCIPIT_USER, "x", 1 };
  struct incipit_sampler_options so;
  static const char *const stop[] = { "a", NULL };
  set_open(&x, POCKET, 2);
  ck_assert(incipit_sequence_open(x.c, &s, &why));
  struct incipit_row row = { s, 0, 5 };
  struct incipit_sampler *sampler = incipit_sampler_open(x.m, NULL, &why);
  struct incipit_stream *stream = incipit_stream_open(x.m, NULL, 0, false, &why);
  struct incipit_chat *chat = incipit_chat_open(x.c, "pocket", NULL, &why);
  ck_assert_uint_eq(incipit_vocab_size(NULL) + incipit_context_size(NULL), 0);
  ck_assert(!incipit_is_end(NULL, 0));
  WRONG("the model is NULL", incipit_encode(NULL, "x", 1, true, false, &id, 1, &n, &why));
  WRONG("the text is NULL", incipit_encode(x.m, NULL, 1, true, false, &id, 1, &n, &why));
  WRONG("room for ids is NULL", incipit_encode(x.m, "x", 1, true, false, NULL, 1, &n, &why));
  WRONG("n_ids is NULL", incipit_encode(x.m, "x", 1, true, false, &id, 1, NULL, &why));
  WRONG("the model is NULL", incipit_decode(NULL, &id, 1, true, text, 8, &n, &why));
  WRONG("list of ids is NULL", incipit_decode(x.m, NULL, 1, true, text, 8, &n, &why));
  WRONG("room for bytes is NULL", incipit_decode(x.m, &id, 1, true, NULL, 8, &n, &why));
  WRONG("n_bytes is NULL", incipit_decode(x.m, &id, 1, true, text, 8, NULL, &why));
  WRONG("the model is NULL", incipit_context_open(NULL, NULL, &why));
  WRONG("the context is NULL", incipit_context_report(NULL, &report, sizeof report, &why));
  WRONG("structure is NULL", incipit_context_report(x.c, NULL, sizeof report, &why));
  WRONG("the context is NULL", incipit_sequence_open(NULL, &s, &why));
  WRONG("sequence is NULL", incipit_sequence_open(x.c, NULL, &why));
  WRONG("the context is NULL", incipit_sequence_close(NULL, s, &why));
  WRONG("the context is NULL", incipit_sequence_length(NULL, s, &n, &why));
  WRONG("length is NULL", incipit_sequence_length(x.c, s, NULL, &why));
  WRONG("the context is NULL", incipit_sequence_fork(NULL, s, &s, &why));
  WRONG("to is NULL", incipit_sequence_fork(x.c, s, NULL, &why));
  WRONG("the context is NULL", incipit_sequence_crop(NULL, s, 0, &why));
  WRONG("the context is NULL", incipit_sequence_keep(NULL, s, &id, 1, &n, &why));
  WRONG("list of ids is NULL", incipit_sequence_keep(x.c, s, NULL, 1, &n, &why));
  WRONG("length is NULL", incipit_sequence_keep(x.c, s, &id, 1, NULL, &why));
  WRONG("the context is NULL", incipit_forward(NULL, &row, 1, &why));
  WRONG("list of rows is NULL", incipit_forward(x.c, NULL, 1, &why));
  WRONG("the context is NULL", incipit_logits(NULL, &n, 1, logits, &why));
  WRONG("list of rows is NULL", incipit_logits(x.c, NULL, 1, logits, &why));
  WRONG("room for logits is NULL", incipit_logits(x.c, &n, 1, NULL, &why));
  WRONG("the model is NULL", incipit_constraint_open(NULL, INCIPIT_REGEX, "a", 1, &why));
  WRONG("the text is NULL", incipit_constraint_open(x.m, INCIPIT_REGEX, NULL, 1, &why));
  WRONG("the model is NULL", incipit_sampler_defaults(NULL, &so, sizeof so, &why));
  WRONG("structure is NULL", incipit_sampler_defaults(x.m, NULL, sizeof so, &why));
  WRONG("the model is NULL", incipit_sampler_open(NULL, NULL, &why));
  WRONG("the sampler is NULL", incipit_sampler_copy(NULL, &why));
  WRONG("the sampler is NULL", incipit_sampler_reset(NULL, &id, 1, 0, &why));
  WRONG("list of ids is NULL", incipit_sampler_reset(sampler, NULL, 1, 0, &why));
  WRONG("the sampler is NULL", incipit_sampler_apply(NULL, logits, &id, &why));
  WRONG("list of logits is NULL", incipit_sampler_apply(sampler, NULL, &id, &why));
  WRONG("id is NULL", incipit_sampler_apply(sampler, logits, NULL, &why));
  WRONG("the sampler is NULL", incipit_sampler_accept(NULL, 5, &why));
  WRONG("the model is NULL", incipit_stream_open(NULL, NULL, 0, false, &why));
  WRONG("stop is NULL", incipit_stream_open(x.m, NULL, 1, false, &why));
  WRONG("stop[1] is NULL", incipit_stream_open(x.m, stop, 2, false, &why));
  WRONG("the stream is NULL", incipit_stream_reset(NULL, &id, 1, &why));
  WRONG("list of ids is NULL", incipit_stream_reset(stream, NULL, 1, &why));
  WRONG("the stream is NULL", incipit_stream_push(NULL, 5, &piece, &why));
  WRONG("piece is NULL", incipit_stream_push(stream, 5, NULL, &why));
  WRONG("the stream is NULL", incipit_stream_end(NULL, &piece, &why));
  WRONG("piece is NULL", incipit_stream_end(stream, NULL, &why));
  WRONG("the context is NULL", incipit_generate(NULL, &id, 1, NULL, &why));
  WRONG("list of ids is NULL", incipit_generate(x.c, NULL, 1, NULL, &why));
  WRONG("incipit_generate: stop[1] is NULL", incipit_generate(x.c, &id, 1,
    &(struct incipit_generate_options){ .size = sizeof(struct incipit_generate_options), .stop = stop, .n_stop = 2 }, &why));
  WRONG("the context is NULL", incipit_generate_many(NULL, &p, 1, NULL, &r, &why));
  WRONG("list of prompts is NULL", incipit_generate_many(x.c, NULL, 1, NULL, &r, &why));
  WRONG("room for results is NULL", incipit_generate_many(x.c, &p, 1, NULL, NULL, &why));
  WRONG("the model is NULL", incipit_chat_encode(NULL, "chatml", &message, 1, true, &id, 1, &n, &why));
  WRONG("list of messages is NULL", incipit_chat_encode(x.m, "pocket", NULL, 1, true, &id, 1, &n, &why));
  WRONG("n_ids is NULL", incipit_chat_encode(x.m, "pocket", &message, 1, true, &id, 1, NULL, &why));
  WRONG("the context is NULL", incipit_chat_open(NULL, NULL, NULL, &why));
  WRONG("the conversation is NULL", incipit_chat_say(NULL, "x", 1, NULL, &why));
  WRONG("the text is NULL", incipit_chat_say(chat, NULL, 1, NULL, &why));
  WRONG("the conversation is NULL", incipit_chat_reset(NULL, &why));
  incipit_chat_close(chat), chat = NULL;
  ck_assert(incipit_sequence_close(x.c, s, &why));
  uint64_t number;
  struct incipit_request request;
  struct incipit_batch_counts batch_report;
  WRONG("the context is NULL", incipit_batch_open(NULL, NULL, &why));
  struct incipit_batch *batch = incipit_batch_open(x.c, NULL, &why);
  WRONG("the batch is NULL", incipit_batch_submit(NULL, &id, 1, NULL, &number, &why));
  WRONG("list of ids is NULL", incipit_batch_submit(batch, NULL, 1, NULL, &number, &why));
  WRONG("request is NULL", incipit_batch_submit(batch, &id, 1, NULL, NULL, &why));
  WRONG("incipit_batch_submit: stop[1] is NULL", incipit_batch_submit(batch, &id, 1,
    &(struct incipit_generate_options){ .size = sizeof(struct incipit_generate_options), .stop = stop, .n_stop = 2 }, &number, &why));
  WRONG("the batch is NULL", incipit_batch_step(NULL, &n, &why));
  WRONG("the batch is NULL", incipit_batch_poll(NULL, 1, &request, sizeof request, &why));
  ck_assert(incipit_batch_submit(batch, &id, 1, NULL, &number, &why));
  WRONG("structure is NULL", incipit_batch_poll(batch, number, NULL, sizeof request, &why));
  WRONG("the batch is NULL", incipit_batch_cancel(NULL, 1, &why));
  WRONG("the batch is NULL", incipit_batch_take(NULL, 1, &why));
  WRONG("the batch is NULL", incipit_batch_report(NULL, &batch_report, sizeof batch_report, &why));
  WRONG("structure is NULL", incipit_batch_report(batch, NULL, sizeof batch_report, &why));
  QUIET(incipit_batch_cancel(batch, 2, NULL));
  incipit_batch_close(batch);
  QUIET(incipit_model_open("/nowhere", NULL, NULL));
  QUIET(incipit_encode(NULL, "x", 1, true, false, &id, 1, &n, NULL));
  QUIET(incipit_forward(x.c, NULL, 1, NULL));
  QUIET(incipit_generate(x.c, NULL, 1, NULL, NULL));
  incipit_model_close(NULL);
  incipit_context_close(NULL);
  incipit_constraint_close(NULL);
  incipit_sampler_close(NULL);
  incipit_stream_close(NULL);
  incipit_result_close(NULL);
  incipit_chat_close(NULL);
  incipit_batch_close(NULL);
  incipit_stream_close(stream);
  incipit_sampler_close(sampler);
  set_close(&x);
  tally(" calls of the library that are wrong", told, 0, 0, "");
}
END_TEST

START_TEST(numbers_out_of_range_are_told)
{
  struct set x, y;
  uint32_t id = VOCAB, s, t, u;
  size_t n = 0, beyond = 1;
  static float logits[VOCAB];
  char text[8];
  struct incipit_piece piece;
  struct incipit_result *r[2];
  set_open(&x, POCKET, 2);
  set_open(&y, SMALL, 1);
  WRONG("below 2048", incipit_decode(x.m, &id, 1, true, text, 8, &n, &why));
  ck_assert(incipit_sequence_open(x.c, &s, &why) && incipit_sequence_open(x.c, &t, &why));
  WRONG_AS(INCIPIT_FULL, "sequences of the context are open", incipit_sequence_open(x.c, &u, &why));
  WRONG_AS(INCIPIT_FULL, "sequences of the context are open", incipit_sequence_fork(x.c, s, &u, &why));
  WRONG("is closed", incipit_sequence_close(y.c, s, &why)); /* of another context, with the same number */
  WRONG("no sequence of this context", incipit_sequence_close(y.c, t, &why));
  WRONG("no sequence of this context", incipit_sequence_close(x.c, 0, &why));
  WRONG("no sequence of this context", incipit_sequence_close(x.c, UINT32_MAX, &why));
  WRONG("there are no rows", incipit_forward(x.c, &(struct incipit_row){ s, 0, 0 }, 0, &why));
  WRONG("no pass", incipit_logits(x.c, &n, 1, logits, &why));
  WRONG("below 2048", incipit_forward(x.c, &(struct incipit_row){ s, 0, VOCAB }, 1, &why));
  WRONG("wanted: 0, the next", incipit_forward(x.c, &(struct incipit_row){ s, 1, 0 }, 1, &why));
  WRONG("no sequence of this context", incipit_forward(x.c, &(struct incipit_row){ 0, 0, 0 }, 1, &why));
  struct incipit_row twice[2] = { { s, 0, 1 }, { s, 0, 1 } };
  WRONG("row 1 is at position 0", incipit_forward(x.c, twice, 2, &why));
  ck_assert(incipit_forward(x.c, twice, 1, &why));
  WRONG("row 1 of the pass", incipit_logits(x.c, &beyond, 1, logits, &why));
  WRONG("1 rows", incipit_sequence_crop(x.c, s, 2, &why));
  WRONG("below 2048", incipit_sequence_keep(x.c, s, &id, 1, &n, &why));
  ck_assert(incipit_sequence_close(x.c, t, &why));
  WRONG("is closed", incipit_sequence_close(x.c, t, &why));
  WRONG("is closed", incipit_sequence_length(x.c, t, &n, &why));
  WRONG("is closed", incipit_sequence_crop(x.c, t, 0, &why));
  WRONG("is closed", incipit_sequence_keep(x.c, t, NULL, 0, &n, &why));
  WRONG("is closed", incipit_sequence_fork(x.c, t, &u, &why));
  WRONG("is closed", incipit_forward(x.c, &(struct incipit_row){ t, 0, 0 }, 1, &why));
  ck_assert(incipit_sequence_open(x.c, &u, &why) && u != t); /* the place again, by another number */
  WRONG("is closed", incipit_sequence_length(x.c, t, &n, &why));
  struct incipit_sampler *a = incipit_sampler_open(x.m, NULL, &why);
  struct incipit_sampler *b = incipit_sampler_open(y.m, NULL, &why);
  struct incipit_stream *stream = incipit_stream_open(x.m, NULL, 0, false, &why);
  WRONG("below 2048", incipit_sampler_reset(a, &id, 1, 0, &why));
  WRONG("below 2048", incipit_sampler_accept(a, id, &why));
  WRONG("below 2048", incipit_stream_push(stream, id, &piece, &why));
  WRONG("below 2048", incipit_stream_reset(stream, &id, 1, &why));
  WRONG("below 2048", incipit_generate(x.c, &id, 1, NULL, &why));
  WRONG("has no tokens", incipit_generate(x.c, &id, 0, NULL, &why));
  id = 5;
  struct incipit_generate_options o = { .size = sizeof o, .sampler = b };
  WRONG("another model", incipit_generate(x.c, &id, 1, &o, &why));
  uint32_t pair[2] = { s, s };
  struct incipit_prompt p[2] = { { &id, 1 }, { &id, 1 } };
  o = (struct incipit_generate_options){ .size = sizeof o, .sequence = pair };
  WRONG("the same sequence", incipit_generate_many(x.c, p, 2, &o, r, &why));
  pair[1] = t;
  WRONG("is closed", incipit_generate_many(x.c, p, 2, &o, r, &why));
  ck_assert(r[0] == NULL && r[1] == NULL);
  WRONG_AS(INCIPIT_FULL, "incipit_generate_many: all 2", incipit_generate_many(x.c, p, 2, NULL, r, &why));
  WRONG_AS(INCIPIT_FULL, "incipit_generate: all 2", incipit_generate(x.c, &id, 1, NULL, &why));
  ck_assert(incipit_sequence_close(x.c, u, &why));
  struct incipit_chat *chat = incipit_chat_open(x.c, "pocket", NULL, &why);
  o.sequence = &s;
  WRONG("a sequence is given", incipit_chat_say(chat, "x", 1, &o, &why));
  struct incipit_message message = { 3, "x", 1 };
  WRONG("role of message 0 is 3", incipit_chat_encode(x.m, "pocket", &message, 1, true, NULL, 0, &n, &why));
  WRONG("no messages", incipit_chat_encode(x.m, "pocket", &message, 0, true, NULL, 0, &n, &why));
  WRONG("language 9", incipit_constraint_open(x.m, (enum incipit_language) 9, "a", 1, &why));
  struct incipit_constraint *k = incipit_constraint_open(x.m, INCIPIT_REGEX, "a", 1, &why);
  struct incipit_sampler_options so;
  ck_assert(incipit_sampler_defaults(y.m, &so, sizeof so, &why));
  so.constraint = k;
  WRONG("another model", incipit_sampler_open(y.m, &so, &why));
  so.constraint = NULL, so.temperature = -1;
  WRONG("temperature", incipit_sampler_open(y.m, &so, &why));
  so.temperature = 1, so.n_bias = 1;
  WRONG("bias_id is NULL", incipit_sampler_open(y.m, &so, &why));
  so.bias_id = &s;
  WRONG("bias is NULL", incipit_sampler_open(y.m, &so, &why));
  double one = 1;
  so.bias = &one;
  WRONG("wanted: below", incipit_sampler_open(y.m, &so, &why));
  for (size_t i = 0; i < VOCAB; i++) logits[i] = 0.0f / 0.0f;
  WRONG_AS(INCIPIT_NO_CHOICE, "", incipit_sampler_apply(a, logits, &id, &why));
  incipit_chat_close(chat);
  ck_assert(incipit_sequence_close(x.c, s, &why));
  id = VOCAB;
  WRONG("pass_rows is 1; wanted: one for each of the 2", incipit_batch_open(x.c, &(struct incipit_batch_options){ .size = sizeof(struct incipit_batch_options), .pass_rows = 1 }, &why));
  struct incipit_batch *batch = incipit_batch_open(x.c, NULL, &why);
  uint64_t number;
  struct { struct incipit_request r; uint64_t more; } request = { .more = 9 };
  struct { struct incipit_batch_counts r; uint64_t more; } report = { .more = 9 };
  WRONG("below 2048", incipit_batch_submit(batch, &id, 1, NULL, &number, &why));
  WRONG("has no tokens", incipit_batch_submit(batch, &id, 0, NULL, &number, &why));
  id = 5;
  WRONG("a sequence is given", incipit_batch_submit(batch, &id, 1, &o, &number, &why));
  o = (struct incipit_generate_options){ .size = sizeof o, .sampler = b };
  WRONG("another model", incipit_batch_submit(batch, &id, 1, &o, &number, &why));
  o.size = 0;
  WRONG("size of the options is 0", incipit_batch_submit(batch, &id, 1, &o, &number, &why));
  ck_assert(incipit_batch_submit(batch, &id, 1, NULL, &number, &why) && number == 1);
  WRONG("no request of this batch has the number 0", incipit_batch_cancel(batch, 0, &why));
  WRONG("no request of this batch has the number 2", incipit_batch_poll(batch, 2, &request.r, sizeof request.r, &why));
  WRONG("no request of this batch has the number 18446744073709551615", incipit_batch_take(batch, UINT64_MAX, &why));
  WRONG("the size is 4", incipit_batch_poll(batch, 1, &request.r, 4, &why));
  WRONG("the size is 4", incipit_batch_report(batch, &report.r, 4, &why));
  WRONG("has not ended", incipit_batch_take(batch, 1, &why));
  ck_assert(incipit_batch_poll(batch, 1, &request.r, sizeof request, &why) && request.more == 0);
  ck_assert(incipit_batch_report(batch, &report.r, sizeof report, &why) && report.more == 0);
  incipit_batch_close(batch);
  incipit_constraint_close(k);
  incipit_stream_close(stream);
  incipit_sampler_close(a);
  incipit_sampler_close(b);
  set_close(&x);
  set_close(&y);
  tally(" calls of the library that are wrong", told, 0, 0, "");
}
END_TEST

START_TEST(what_a_person_named_is_told)
{
  struct set x, y;
  uint32_t id = 5;
  size_t n;
  set_open(&x, POCKET, 1);
  set_open(&y, BARE, 1);
  struct incipit_context_options o = { .size = sizeof o, .kv_type = "f31" };
  static const char *const stop[] = { "a" };
  static const char *const empty[] = { "" };
  struct incipit_message message = { INCIPIT_USER, "x", 1 };
  WRONG_AS(INCIPIT_INPUT, "/nowhere", incipit_model_open("/nowhere", NULL, &why));
  WRONG_AS(INCIPIT_INPUT, "no name", incipit_model_open("", NULL, &why));
  WRONG_AS(INCIPIT_INPUT, "config.json", incipit_model_open("tests/golden", NULL, &why));
  WRONG_AS(INCIPIT_INPUT, "f31", incipit_context_open(x.m, &o, &why));
  o.kv_type = NULL, o.kernels = "abacus";
  WRONG_AS(INCIPIT_INPUT, "abacus", incipit_context_open(x.m, &o, &why));
  o.kernels = NULL, o.sinks = 3;
  WRONG_AS(INCIPIT_INPUT, "sinks", incipit_context_open(x.m, &o, &why));
  o.sinks = 0, o.activations = "int4";
  WRONG_AS(INCIPIT_INPUT, "activations `int4'; wanted: f32, bf16 or int8", incipit_context_open(x.m, &o, &why));
  o.activations = "bf16";
  WRONG_AS(INCIPIT_INPUT, "bf16 activations for matrices of F16; wanted: matrices of BF16", incipit_context_open(x.m, &o, &why));
  o.activations = NULL, o.n_sequences = 70000;
  WRONG("n_sequences is 70000", incipit_context_open(x.m, &o, &why));
  o.n_sequences = 1, o.threads = 5000;
  WRONG("threads is 5000", incipit_context_open(x.m, &o, &why));
  WRONG_AS(INCIPIT_INPUT, "tokenizer", incipit_encode(y.m, "x", 1, true, false, &id, 1, &n, &why));
  WRONG_AS(INCIPIT_INPUT, "tokenizer", incipit_decode(y.m, &id, 1, true, NULL, 0, &n, &why));
  WRONG_AS(INCIPIT_INPUT, "tokenizer", incipit_stream_open(y.m, stop, 1, false, &why));
  WRONG("empty", incipit_stream_open(x.m, empty, 1, false, &why));
  WRONG_AS(INCIPIT_INPUT, "tokenizer", incipit_constraint_open(y.m, INCIPIT_REGEX, "a", 1, &why));
  WRONG_AS(INCIPIT_INPUT, "tokenizer", incipit_chat_open(y.c, NULL, NULL, &why));
  WRONG_AS(INCIPIT_INPUT, "tokenizer", incipit_chat_encode(y.m, NULL, &message, 1, true, NULL, 0, &n, &why));
  struct incipit_generate_options g = { .size = sizeof g, .stop = stop, .n_stop = 1 };
  WRONG_AS(INCIPIT_INPUT, "tokenizer", incipit_generate(y.c, &id, 1, &g, &why));
  WRONG_AS(INCIPIT_INPUT, "(", incipit_constraint_open(x.m, INCIPIT_REGEX, "(a", 2, &why));
  WRONG_AS(INCIPIT_INPUT, "root", incipit_constraint_open(x.m, INCIPIT_GRAMMAR, "a ::= \"b\"\n", 10, &why));
  WRONG_AS(INCIPIT_INPUT, "chatml", incipit_chat_open(x.c, "gibberish", NULL, &why));
  WRONG_AS(INCIPIT_INPUT, "", incipit_chat_encode(x.m, "llama3", &message, 1, true, NULL, 0, &n, &why));
  /* a model without a tokenizer still writes */
  struct incipit_result *r = incipit_generate(y.c, (uint32_t[]){ 6, 2, 3 }, 3,
    &(struct incipit_generate_options){ .size = sizeof g, .max_new_tokens = 4, .ignore_end = true }, &why);
  ck_assert_msg(r != NULL, "%s", why.text);
  ck_assert_uint_eq(r->n_ids, 4);
  ck_assert_uint_eq(r->n, 0);
  incipit_result_close(r);
  set_close(&x);
  set_close(&y);
}
END_TEST

/* two contexts share the copies, which a third, of other kernels, passes over */
START_TEST(packed_weights_give_the_same_logits)
{
  static float a[VOCAB], b[VOCAB];
  struct set x, y;
  uint32_t id[8] = { 5, 400, 71, 9, 9, 300, 12, 8 }, s;
  set_open(&x, POCKET, 1);
  ck_assert(incipit_sequence_open(x.c, &s, &x.why));
  push(&x, s, id, 8, a);
  memset(&y, 0, sizeof y);
  y.m = incipit_model_open(POCKET, &(struct incipit_model_options){ .size = sizeof (struct incipit_model_options),
    .packed = true }, &y.why);
  ck_assert_msg(y.m != NULL, "%s", y.why.text);
  for (int i = 0; i < 3; i++) {
    struct incipit_context_options o = { .size = sizeof o, .threads = 1, .kernels = i == 2 ? "plain" : NULL };
    y.c = incipit_context_open(y.m, &o, &y.why);
    ck_assert(y.c != NULL && incipit_sequence_open(y.c, &s, &y.why));
    push(&y, s, id, 8, b);
    ck_assert_mem_eq(a, b, sizeof a);
    incipit_context_close(y.c);
  }
  incipit_model_close(y.m);
  set_close(&x);
}
END_TEST

START_TEST(unknown_fields_may_be_read_over)
{
  struct incipit_error e;
  static const char *const names[] = { "my_company_note", "not_there", "another" };
  static const char *const bad[] = { "my_company_note", NULL };
  struct folder f = { .fields = "\"my_company_note\": 3, \"another\": [1]," };
  folder_make(&f);
  struct incipit_model_options o = { .size = sizeof o, .ignore_field = names, .n_ignore_field = 2 };
  WRONG_AS(INCIPIT_INPUT, "my_company_note", incipit_model_open(f.name, NULL, &why));
  WRONG_AS(INCIPIT_INPUT, "another", incipit_model_open(f.name, &o, &why));
  o.n_ignore_field = 3;
  struct incipit_model *m = incipit_model_open(f.name, &o, &e);
  ck_assert_msg(m != NULL, "%s", e.text);
  ck_assert_uint_eq(incipit_vocab_size(m), VOCAB);
  incipit_model_close(m);
  o.ignore_field = bad, o.n_ignore_field = 2;
  WRONG("ignore_field[1] is NULL", incipit_model_open(f.name, &o, &why));
  o.ignore_field = NULL;
  WRONG("ignore_field is NULL", incipit_model_open(f.name, &o, &why));
  WRONG("size of the options is 0", incipit_model_open(f.name, &(struct incipit_model_options){ .size = 0 }, &why));
  folder_remove(&f);
  struct folder g = { .tokenizer = "{ \"model\": 7 }" };
  folder_make(&g);
  WRONG_AS(INCIPIT_INPUT, "tokenizer.json", incipit_model_open(g.name, NULL, &why));
  folder_remove(&g);
}
END_TEST

/* the text of the built-in tokenizer with more behind the word before */
static const char *tokenizer_with(const char *before, const char *instead, const char *more)
{
  static char text[1 << 20], changed[1 << 20];
  FILE *in = fopen(POCKET "/tokenizer.json", "rb");
  size_t n = fread(text, 1, sizeof text - 1, in);
  fclose(in);
  text[n] = '\0';
  char *at = strstr(text, before);
  ck_assert_ptr_ne(at, NULL);
  at += strlen(before);
  ck_assert_mem_eq(at, instead, strlen(instead));
  snprintf(changed, sizeof changed, "%.*s%s%s", (int) (at - text), text, more, at + strlen(instead));
  return changed;
}
START_TEST(a_tokenizer_is_asked_for_its_special_tokens)
{
#define END_TOKEN "\"<|endoftext|>\""
  struct folder f = { .tokenizer = tokenizer_with("\"post_processor\": ", "null",
    "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": " END_TOKEN ", \"type_id\": 0}}, {\"Sequence\":"
    " {\"id\": \"A\", \"type_id\": 0}}], \"pair\": [{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"B\","
    " \"type_id\": 1}}], \"special_tokens\": {" END_TOKEN ": {\"id\": " END_TOKEN ", \"ids\": [0], \"tokens\": [" END_TOKEN "]}}}") };
  uint32_t id[8];
  size_t n;
  folder_make(&f);
  struct incipit_model *m = incipit_model_open(f.name, NULL, &why);
  ck_assert_msg(m != NULL, "%s", why.text);
  ck_assert(incipit_encode(m, "The cat sat", 11, false, false, id, 8, &n, &why) && n == 3);
  ck_assert(incipit_encode(m, "The cat sat", 11, true, false, id, 8, &n, &why) && n == 4 && id[0] == 0);
  incipit_model_close(m);
  folder_remove(&f);
  struct folder g = { .tokenizer = tokenizer_with("\"added_tokens\": ", "[", "[{\"id\": 2048, \"content\": \"<one more>\", \"single_word\": false,"
    " \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": true}, ") };
  folder_make(&g);
  WRONG_AS(INCIPIT_INPUT, "largest id is 2048; wanted: less than 2048", incipit_model_open(g.name, NULL, &why));
  folder_remove(&g);
}
END_TEST

START_TEST(what_the_makers_wish_is_the_default)
{
  struct folder f = { .wishes = "{\"do_sample\": true, \"temperature\": 0.75, \"top_k\": 7, \"top_p\": 0.5, \"min_p\": 0.125,"
    " \"typical_p\": 0.25, \"repetition_penalty\": 1.5, \"no_repeat_ngram_size\": 3, \"eos_token_id\": [0, 9]}" };
  struct incipit_sampler_options o;
  folder_make(&f);
  struct incipit_model *m = incipit_model_open(f.name, NULL, &why);
  ck_assert_msg(m != NULL, "%s", why.text);
  ck_assert(incipit_is_end(m, 0) && incipit_is_end(m, 9) && !incipit_is_end(m, 8) && !incipit_is_end(m, VOCAB + 9));
  ck_assert(incipit_sampler_defaults(m, &o, sizeof o, &why));
  ck_assert(o.temperature == 0.75 && o.top_k == 7 && o.top_p == 0.5 && o.min_p == 0.125 && o.typical_p == 0.25);
  ck_assert(o.repetition_penalty == 1.5 && o.no_repeat_ngram == 3 && o.frequency_penalty == 0 && o.presence_penalty == 0);
  incipit_model_close(m);
  folder_remove(&f);
  m = incipit_model_open(POCKET, NULL, &why);
  ck_assert(incipit_sampler_defaults(m, &o, sizeof o, &why));
  ck_assert(o.temperature == 0 && o.top_k == 0 && o.top_p == 1 && o.min_p == 0 && o.typical_p == 1 && o.repetition_penalty == 1);
  incipit_model_close(m);
  m = incipit_model_open(SMALL, NULL, &why);
  ck_assert(incipit_context_size(m) == 64 && incipit_vocab_size(m) == 286);
  incipit_model_close(m);
}
END_TEST

START_TEST(what_is_not_finite_is_told)
{
  struct folder f = { .nan_row = 700 };
  struct set x;
  uint32_t s, id[3] = { 5, 6, 700 };
  static float logits[3][VOCAB];
  folder_make(&f);
  set_open(&x, f.name, 2);
  ck_assert(incipit_sequence_open(x.c, &s, &why));
  struct incipit_row row[3] = { { s, 0, 5 }, { s, 1, 6 }, { s, 2, 700 } };
  size_t which[3] = { 0, 1, 2 };
  ck_assert(incipit_forward(x.c, row, 3, &why));
  ck_assert_msg(incipit_logits(x.c, which, 2, logits[0], &why), "%s", why.text);
  WRONG_AS(INCIPIT_NO_CHOICE, "finite", incipit_logits(x.c, which, 3, logits[0], &why));
  WRONG_AS(INCIPIT_NO_CHOICE, "finite", incipit_logits(x.c, which + 2, 1, logits[0], &why));
  struct incipit_prompt p[2] = { { id, 2 }, { id, 3 } };
  struct incipit_result *r[2];
  WRONG_AS(INCIPIT_NO_CHOICE, "finite", incipit_generate_many(x.c, p + 1, 1, &most_20, r, &why));
  ck_assert(r[0] == NULL);
  set_close(&x);
  folder_remove(&f);
}
END_TEST

START_TEST(a_full_context_has_a_code)
{
  struct set x;
  static uint32_t id[2049];
  set_open(&x, POCKET, 1);
  for (int i = 0; i < 2049; i++) id[i] = 5;
  WRONG_AS(INCIPIT_FULL, "the context holds 2048", incipit_generate(x.c, id, 2049, NULL, &why));
  struct incipit_result *r = incipit_generate(x.c, id, 2047, NULL, &why);
  ck_assert_uint_le(r->n_ids, 2);
  incipit_result_close(r);
  r = incipit_generate(x.c, id, 2047, &(struct incipit_generate_options){ .size = sizeof most_20, .ignore_end = true }, &why);
  ck_assert(r != NULL && r->n_ids == 2 && r->finish == INCIPIT_FINISH_LENGTH);
  incipit_result_close(r);
  uint32_t s;
  static struct incipit_row row[2049];
  ck_assert(incipit_sequence_open(x.c, &s, &why));
  for (uint32_t i = 0; i < 2049; i++) row[i] = (struct incipit_row){ s, i, 5 };
  WRONG_AS(INCIPIT_FULL, "the context holds 2048", incipit_forward(x.c, row, 2049, &why));
  incipit_context_close(x.c);
  struct incipit_context_options o = { .size = sizeof o, .n_sequences = 2, .rows = 128 };
  x.c = incipit_context_open(x.m, &o, &why);
  ck_assert(incipit_sequence_open(x.c, &s, &why));
  for (uint32_t i = 0; i < 200; i++) row[i].sequence = s;
  WRONG_AS(INCIPIT_FULL, "the cache holds 128 rows", incipit_forward(x.c, row, 129, &why));
  ck_assert(incipit_forward(x.c, row, 128, &why));
  WRONG_AS(INCIPIT_FULL, "the cache holds 128 rows", incipit_forward(x.c, row + 128, 1, &why));
  size_t n;
  ck_assert(incipit_sequence_length(x.c, s, &n, &why) && n == 128);
  WRONG_AS(INCIPIT_FULL, "the cache holds 128 rows", incipit_generate(x.c, id, 100, NULL, &why));
  ck_assert(incipit_sequence_close(x.c, s, &why));
  r = incipit_generate(x.c, id, 100, &most_20, &why);
  ck_assert_msg(r != NULL, "%s", why.text);
  incipit_result_close(r);
  set_close(&x);
}
END_TEST

START_TEST(structures_grow_and_a_cleared_one_is_refused)
{
  struct set x;
  uint32_t id = 5;
  set_open(&x, POCKET, 1);
  struct { struct incipit_generate_options o; char more[16]; } later = { .o = { .max_new_tokens = 3 } };
  WRONG("size of the options is 0", incipit_generate(x.c, &id, 1, &later.o, &why));
  later.o.size = sizeof later.o - 1;
  WRONG("size of the options is", incipit_generate(x.c, &id, 1, &later.o, &why));
  later.o.size = sizeof later;
  struct incipit_result *r = incipit_generate(x.c, &id, 1, &later.o, &why);
  ck_assert_uint_eq(r->n_ids, 3);
  incipit_result_close(r);
  later.more[7] = 1;
  WRONG("wanted: 0, for this library knows only", incipit_generate(x.c, &id, 1, &later.o, &why));
  later.o.size = 1 << 20;
  WRONG("below 4096", incipit_generate(x.c, &id, 1, &(struct incipit_generate_options){ .size = 1 << 20 }, &why));
  WRONG("size of the options is 0", incipit_context_open(x.m, &(struct incipit_context_options){ .n_sequences = 1 }, &why));
  WRONG("size of the options is 0", incipit_sampler_open(x.m, &(struct incipit_sampler_options){ .top_p = 1 }, &why));
  struct incipit_chat *t = incipit_chat_open(x.c, "pocket", NULL, &why);
  WRONG("size of the options is 0", incipit_chat_say(t, "x", 1, &(struct incipit_generate_options){ .chunk = 1 }, &why));
  for (size_t n = SIZE_MAX; n > SIZE_MAX - 70; n--) {
    WRONG_AS(INCIPIT_MEMORY, "out of memory", incipit_chat_say(t, "x", n, NULL, &why));
    WRONG_AS(INCIPIT_MEMORY, "out of memory", incipit_constraint_open(x.m, INCIPIT_REGEX, "x", n, &why));
  }
  incipit_chat_close(t);
  struct { struct incipit_report r; uint64_t more; } report = { .more = 9 };
  WRONG("the size is 4", incipit_context_report(x.c, &report.r, 4, &why));
  ck_assert(incipit_context_report(x.c, &report.r, sizeof report, &why) && report.more == 0);
  struct incipit_sampler_options so;
  WRONG("the size is 8", incipit_sampler_defaults(x.m, &so, 8, &why));
  set_close(&x);
}
END_TEST

START_TEST(objects_keep_what_they_need)
{
  struct incipit_error e;
  uint32_t id = 5;
  struct incipit_model *m = incipit_model_open(POCKET, NULL, &e);
  struct incipit_context *c = incipit_context_open(m, NULL, &e);
  struct incipit_sampler *s = incipit_sampler_open(m, NULL, &e);
  struct incipit_chat *t = incipit_chat_open(c, "pocket", NULL, &e);
  incipit_model_close(m);
  incipit_context_close(c);
  struct incipit_result *r = incipit_chat_say(t, "Hello!", 6, &most_20, &e);
  ck_assert_msg(r != NULL, "%s", e.text);
  incipit_chat_close(t);
  ck_assert(incipit_sampler_accept(s, id, &e));
  incipit_sampler_close(s);
  ck_assert_uint_eq(strlen(r->text), r->n); /* the result needs nobody */
  incipit_result_close(r);
}
END_TEST

/* which of the tokens 1 to 4, with these logits, 64 texts begin with, as bits; after[n] has been written before */
static unsigned chosen(struct incipit_model *m, const struct incipit_sampler_options *o, const uint32_t *after, size_t n)
{
  static float logits[VOCAB];
  unsigned set = 0;
  for (int i = 0; i < VOCAB; i++) logits[i] = -90;
  logits[1] = 10, logits[2] = 9.75f, logits[3] = 9.5f, logits[4] = 8.5f;
  for (uint32_t i = 0; i < 64; i++) {
    struct incipit_sampler_options mine = *o;
    uint32_t id;
    mine.sequence = i;
    struct incipit_sampler *s = incipit_sampler_open(m, &mine, &why);
    ck_assert_msg(s != NULL, "%s", why.text);
    for (size_t k = 0; k < n; k++) ck_assert(incipit_sampler_accept(s, after[k], &why));
    ck_assert_msg(incipit_sampler_apply(s, logits, &id, &why), "%s", why.text);
    set |= id < 32 ? 1u << id : 1;
    incipit_sampler_close(s);
  }
  return set;
}
START_TEST(every_wish_of_a_sampler_counts)
{
  static const uint32_t after[] = { 1, 1, 3 };
  struct incipit_sampler_options o;
  struct incipit_model *m = incipit_model_open(POCKET, NULL, &why);
  enum { A = 1 << 1, B = 1 << 2, C = 1 << 3, D = 1 << 4 };
#define WITH(wish, n, wanted) \
  do { \
    ck_assert(incipit_sampler_defaults(m, &o, sizeof o, &why)); \
    o.seed = 5; \
    wish; \
    ck_assert_msg(chosen(m, &o, after, n) == (wanted), "%s: %x", #wish, chosen(m, &o, after, n)); \
  } while (0)
  WITH((void) 0, 0, A);
  WITH(o.temperature = 1, 0, A | B | C | D);
  WITH(o.temperature = 0.001, 0, A);
  WITH((o.temperature = 1, o.top_k = 3), 0, A | B | C);
  WITH((o.temperature = 1, o.top_p = 0.5), 0, A | B);
  WITH((o.temperature = 1, o.min_p = 0.7), 0, A | B);
  WITH((o.temperature = 1, o.typical_p = 0.2), 0, B);
  WITH(o.frequency_penalty = 1, 2, B);
  WITH(o.frequency_penalty = 0.2, 2, B);
  WITH(o.presence_penalty = 0.2, 2, A);
  WITH(o.presence_penalty = 0.5, 2, B);
  WITH(o.repetition_penalty = 1.1, 2, B);
  WITH((o.presence_penalty = 0.5, o.penalty_last_n = 1), 3, A);
  WITH((o.presence_penalty = 0.5, o.penalty_last_n = -1), 3, B);
  WITH(o.no_repeat_ngram = 1, 2, B);
  WITH(o.no_repeat_ngram = 2, 2, B);
  WITH(o.no_repeat_ngram = 3, 2, A);
  /* another seed draws otherwise */
  ck_assert(incipit_sampler_defaults(m, &o, sizeof o, &why));
  o.temperature = 1;
  static float logits[VOCAB];
  uint32_t id[2][16], n_other = 0;
  for (int k = 0; k < 2; k++) {
    o.seed = (uint64_t) k;
    struct incipit_sampler *s = incipit_sampler_open(m, &o, &why);
    for (int i = 0; i < 16; i++) ck_assert(incipit_sampler_apply(s, logits, &id[k][i], &why) && incipit_sampler_accept(s, id[k][i], &why));
    incipit_sampler_close(s);
  }
  for (int i = 0; i < 16; i++) n_other += id[0][i] != id[1][i];
  ck_assert_uint_gt(n_other, 8);
  incipit_model_close(m);
}
END_TEST

START_TEST(a_copy_goes_on_where_the_sampler_is)
{
  struct set x;
  uint32_t id[8], y, e, o;
  set_open(&x, POCKET, 1);
  size_t n = ids_of(&x, "The cat sat", id, 8);
  ck_assert(ids_of(&x, "y", &y, 1) == 1 && ids_of(&x, "e", &e, 1) == 1 && ids_of(&x, "o", &o, 1) == 1);
  struct incipit_sampler_options so;
  ck_assert(incipit_sampler_defaults(x.m, &so, sizeof so, &why));
  so.constraint = incipit_constraint_open(x.m, INCIPIT_REGEX, "(ye*s?|no)", 10, &why);
  struct incipit_sampler *s = incipit_sampler_open(x.m, &so, &why), *t;
  ck_assert(incipit_sampler_reset(s, id, n, 3, &why));
  ck_assert(incipit_sampler_accept(s, y, &why));
  t = incipit_sampler_copy(s, &why);
  WRONG_AS(INCIPIT_NO_CHOICE, "", incipit_sampler_accept(t, o, &why));
  ck_assert_msg(incipit_sampler_accept(t, e, &why), "%s", why.text);
  ck_assert_msg(incipit_sampler_accept(t, e, &why), "%s", why.text);
  WRONG_AS(INCIPIT_NO_CHOICE, "the text has 3 tokens", incipit_sampler_accept(t, e, &why));
  static float logits[VOCAB];
  uint32_t next;
  WRONG_AS(INCIPIT_NO_CHOICE, "the text has 3 tokens", incipit_sampler_apply(t, logits, &next, &why));
  WRONG_AS(INCIPIT_NO_CHOICE, "", incipit_sampler_accept(s, o, &why));
  incipit_sampler_close(t);
  incipit_sampler_close(s);
  incipit_constraint_close(so.constraint);
  /* the stream's automaton begins again, too */
  static const char *const stop[] = { "sat on" };
  struct incipit_piece piece;
  struct incipit_stream *f = incipit_stream_open(x.m, stop, 1, false, &why);
  for (size_t i = 0; i < n; i++) ck_assert(incipit_stream_push(f, id[i], &piece, &why));
  ck_assert(incipit_stream_reset(f, NULL, 0, &why));
  n = ids_of(&x, " on it", id, 8);
  size_t bytes = 0;
  for (size_t i = 0; i < n; i++, bytes += piece.n) ck_assert(incipit_stream_push(f, id[i], &piece, &why) && piece.stop == NULL);
  ck_assert_uint_eq(bytes, 6);
  incipit_stream_close(f);
  set_close(&x);
}
END_TEST

START_TEST(wishes_about_a_text_count)
{
  struct set x;
  uint32_t id[64], none = 0, s[3];
  double much = 1000;
  static const char *const stop[] = { "mat." };
  set_open(&x, POCKET, 3);
  size_t n = ids_of(&x, "The cat sat", id, 64);
  struct incipit_sampler_options so;
  ck_assert(incipit_sampler_defaults(x.m, &so, sizeof so, &why));
  so.bias_id = &none, so.bias = &much, so.n_bias = 1;
  struct incipit_sampler *end = incipit_sampler_open(x.m, &so, &why);
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 12, .min_new_tokens = 4, .sampler = end };
  struct incipit_result *r = incipit_generate(x.c, id, n, &o, &why);
  ck_assert(r != NULL && r->n_ids == 5 && r->finish == INCIPIT_FINISH_END);
  incipit_result_close(r);
  o.ignore_end = true, o.min_new_tokens = 0;
  r = incipit_generate(x.c, id, n, &o, &why);
  ck_assert(r != NULL && r->n_ids == 12 && r->finish == INCIPIT_FINISH_LENGTH);
  incipit_result_close(r);
  incipit_sampler_close(end);
  o = (struct incipit_generate_options){ .size = sizeof o, .max_new_tokens = 12, .min_new_tokens = 9, .stop = stop, .n_stop = 1 };
  r = incipit_generate(x.c, id, n, &o, &why);
  ck_assert(r != NULL && r->stop == NULL && r->n_ids == 12 && strstr(r->text, "mat.") != NULL);
  incipit_result_close(r);
  /* so many rows a pass */
  uint64_t before = report_of(&x).passes;
  o = (struct incipit_generate_options){ .size = sizeof o, .max_new_tokens = 1, .chunk = 2 };
  n = ids_of(&x, "The cat sat on the mat and looked at the moon", id, 64);
  incipit_result_close(incipit_generate(x.c, id, n, &o, &why));
  ck_assert_uint_eq(report_of(&x).passes - before, (n + 1) / 2);
  /* what a sequence has is neither read again nor told, and stays */
  for (int i = 0; i < 3; i++) ck_assert(incipit_sequence_open(x.c, &s[i], &why));
  struct incipit_prompt p[3] = { { id, n }, { id, n - 1 }, { id, 3 } };
  struct incipit_result *three[3];
  for (int round = 0; round < 2; round++) {
    struct heard h = { .tokens = 0 };
    o = (struct incipit_generate_options){ .size = sizeof o, .max_new_tokens = 4, .sequence = s, .ignore_end = true,
      .on_progress = progress, .ctx = &h };
    ck_assert(incipit_generate_many(x.c, p, 3, &o, three, &why));
    ck_assert_uint_eq(h.all, round == 0 ? 2 * n + 2 : 3);
    ck_assert_uint_eq(h.rows, h.all);
    for (int i = 0; i < 3; i++) {
      size_t length;
      ck_assert(incipit_sequence_length(x.c, s[i], &length, &why));
      ck_assert_uint_eq(length, p[i].n + 3);
      incipit_result_close(three[i]);
    }
  }
  uint32_t apart[3] = { s[0], s[1], s[0] };
  o.sequence = apart;
  WRONG("prompts 0 and 2 have the same sequence", incipit_generate_many(x.c, p, 3, &o, three, &why));
  set_close(&x);
}
END_TEST

START_TEST(special_tokens_go_in_and_out)
{
  struct set x;
  uint32_t id[32] = { 0 };
  char text[32];
  size_t n, with;
  set_open(&x, POCKET, 1);
  memset(text, 'Z', sizeof text);
  ck_assert(incipit_decode(x.m, id, 1, false, text, 3, &n, &why) && n == 13);
  ck_assert_mem_eq(text, "<|eZ", 4);
  ck_assert(incipit_decode(x.m, id, 1, true, text, 3, &n, &why) && n == 0);
  ck_assert(incipit_encode(x.m, "<|endoftext|>", 13, false, true, id, 32, &n, &why) && n == 1 && id[0] == 0);
  for (int add = 0; add < 2; add++)
    ck_assert(incipit_encode(x.m, "<|endoftext|>", 13, add, false, id, 32, &n, &why) && n > 1);
  id[1] = 77;
  ck_assert(incipit_encode(x.m, "The cat sat", 11, false, false, id, 1, &n, &why) && n == 3 && id[1] == 77);
  struct incipit_message message = { INCIPIT_USER, "x", 1 };
  ck_assert(incipit_chat_encode(x.m, "pocket", &message, 1, false, NULL, 0, &n, &why));
  ck_assert(incipit_chat_encode(x.m, "pocket", &message, 1, true, NULL, 0, &with, &why));
  ck_assert_uint_gt(with, n);
  WRONG_AS(INCIPIT_INPUT, "system", incipit_chat_open(x.c, "pocket", "Be kind.", &why));
  set_close(&x);
}
END_TEST

static unsigned tasks(void)
{
#ifdef __SANITIZE_THREAD__
  return 0; /* the sanitizer has a thread of its own */
#endif
  unsigned n = 0;
  DIR *d = opendir("/proc/self/task");
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
  if (d != NULL) closedir(d);
  return n;
}
START_TEST(wishes_about_a_context_count)
{
  struct set x;
  static float logits[4][VOCAB];
  uint32_t s, id[40];
  struct incipit_model *m = incipit_model_open(POCKET, NULL, &why);
  static const uint32_t window[4] = { 0, 8, 8, 40 }, sinks[4] = { 0, 0, 2, 0 };
  unsigned alone = tasks();
  for (int i = 0; i < 4; i++) {
    struct incipit_context_options o = { .size = sizeof o, .window = window[i], .sinks = sinks[i], .threads = 3, .rows = 512, .n_sequences = 3 };
    x = (struct set){ .m = m, .c = incipit_context_open(m, &o, &why) };
    ck_assert_msg(x.c != NULL, "%s", why.text);
    if (alone > 0) ck_assert_uint_eq(tasks(), alone + 2);
    ck_assert_uint_eq(report_of(&x).cache_bytes_used, 0);
    ck_assert(incipit_sequence_open(x.c, &s, &why));
    for (uint32_t k = 0; k < 40; k++) id[k] = 300 + 7 * k;
    push(&x, s, id, 40, logits[i]);
    struct incipit_report r = report_of(&x);
    ck_assert(r.passes == 1 && r.rows == 40 && r.rows_recomputed == 0);
    ck_assert(r.cache_bytes_used > 0 && r.cache_bytes_used <= r.cache_bytes);
    ck_assert(incipit_sequence_close(x.c, s, &why));
    ck_assert(report_of(&x).cache_bytes_used == 0 && report_of(&x).cache_bytes == r.cache_bytes);
    ck_assert_uint_gt(r.peak_bytes, r.live_bytes);
    /* all sequences share the rows */
    struct incipit_row row[513];
    for (uint32_t k = 0; k < 513; k++) row[k] = (struct incipit_row){ s, k, 5 };
    ck_assert(incipit_sequence_open(x.c, &s, &why));
    for (uint32_t k = 0; k < 513; k++) row[k].sequence = s;
    if (window[i] == 0) WRONG_AS(INCIPIT_FULL, "the cache holds 512 rows", incipit_forward(x.c, row, 513, &why));
    incipit_context_close(x.c);
    ck_assert_uint_eq(tasks(), alone);
  }
  ck_assert_mem_ne(logits[0], logits[1], sizeof logits[0]);
  ck_assert_mem_ne(logits[0], logits[2], sizeof logits[0]);
  ck_assert_mem_ne(logits[1], logits[2], sizeof logits[0]);
  ck_assert_mem_eq(logits[0], logits[3], sizeof logits[0]);
  incipit_model_close(m);
}
END_TEST

/* ---- requests that come and go: each is the text that it would be alone, whatever the others are */
enum { REQUESTS = 10 };
static const char *const begins[REQUESTS] = { "The cat sat", "Once", "There was a", "The moon", "The cat sat on the mat and", "\"I am",
  "The cat sat", "In the village there was a dog who", "A", "The cat" };
struct asked {
  struct incipit_generate_options o;
  struct incipit_sampler *s;
  struct incipit_constraint *k;
  uint32_t id[700];
  size_t n, pieces, tokens, rows;
  char text[4096];
  uint64_t number;
  size_t stop_at; /* on_token says false at this token */
};
static bool hear_one(void *ctx, const struct incipit_token *now)
{
  struct asked *a = ctx;
  ck_assert_uint_eq(now->prompt, 0);
  ck_assert_uint_eq(now->number, ++a->tokens);
  memcpy(a->text + a->pieces, now->text, now->n), a->pieces += now->n;
  return a->tokens != a->stop_at;
}
static bool rows_grow(void *ctx, size_t rows, size_t all)
{
  struct asked *a = ctx;
  ck_assert(rows > a->rows && rows <= all && all == a->n);
  a->rows = rows;
  return true;
}
/* options of every kind, and more of them than fit into one text */
static void ask(struct set *x, struct asked *a, int i)
{
  static const char *const stop[] = { "mat.", "milk", "the" };
  struct incipit_sampler_options so;
  a->n = ids_of(x, begins[i % REQUESTS], a->id, 64);
  a->o = (struct incipit_generate_options){ .size = sizeof a->o, .max_new_tokens = (size_t) (5 + i * 37 % 110), .on_token = hear_one, .on_progress = rows_grow, .ctx = a };
  if (i % 3 == 1) a->o.stop = stop, a->o.n_stop = 3, a->o.include_stop = i % 2 == 0;
  if (i % 4 != 1) a->o.ignore_end = true;
  if (i % 5 == 3) a->o.min_new_tokens = 4;
  if (i % 2 == 0) return;
  ck_assert(incipit_sampler_defaults(x->m, &so, sizeof so, &x->why));
  so.temperature = 1.1, so.seed = (uint64_t) i * 77, so.sequence = (uint32_t) i, so.top_k = 40, so.repetition_penalty = 1.1;
  if (i % 4 == 3) {
    a->k = incipit_constraint_open(x->m, INCIPIT_REGEX, "[a-zA-Z ,.']*", 13, &x->why);
    so.constraint = a->k;
  }
  a->o.sampler = a->s = incipit_sampler_open(x->m, &so, &x->why);
  ck_assert_msg(a->s != NULL, "%s", x->why.text);
}
static void forget(struct asked *a)
{
  incipit_sampler_close(a->s), incipit_constraint_close(a->k);
}
static void come(struct set *x, struct incipit_batch *b, struct asked *a)
{
  struct incipit_generate_options o = a->o;
  uint32_t id[700];
  memcpy(id, a->id, a->n * sizeof *id);
  ck_assert_msg(incipit_batch_submit(b, id, a->n, &o, &a->number, &x->why), "%s", x->why.text);
  memset(&o, 0, sizeof o), memset(id, 0, sizeof id); /* it has copies */
}
static struct incipit_request poll_of(struct incipit_batch *b, uint64_t number)
{
  struct incipit_request r;
  ck_assert_msg(incipit_batch_poll(b, number, &r, sizeof r, &why), "%s", why.text);
  return r;
}
static struct incipit_batch_counts batch_report_of(struct incipit_batch *b)
{
  struct incipit_batch_counts r;
  ck_assert(incipit_batch_report(b, &r, sizeof r, &why));
  return r;
}
/* the same request, written by itself in another context */
static void compare_alone(struct set *alone, struct asked *a, const struct incipit_result *r)
{
  struct incipit_generate_options o = a->o;
  o.on_token = NULL, o.on_progress = NULL;
  struct incipit_result *want = incipit_generate(alone->c, a->id, a->n, &o, &alone->why);
  ck_assert_msg(want != NULL, "%s", alone->why.text);
  same(want, r);
  ck_assert_int_eq(want->finish, r->finish);
  ck_assert((want->stop == NULL) == (r->stop == NULL) && (want->stop == NULL || strcmp(want->stop, r->stop) == 0));
  ck_assert_uint_eq(a->pieces, r->n);
  ck_assert_mem_eq(a->text, r->text, r->n);
  ck_assert_uint_eq(a->tokens, r->n_ids);
  ck_assert_uint_eq(a->rows, a->n);
  incipit_result_close(want);
}
START_TEST(a_batch_writes_what_each_would_alone)
{
  static struct asked a[2 * REQUESTS];
  uint64_t preempted = 0;
  struct set alone;
  set_open(&alone, POCKET, 1);
  for (int round = 0; round < 4; round++) {
    struct set x = { .m = alone.m };
    struct incipit_context_options co = { .size = sizeof co, .n_sequences = round == 3 ? 1 : 4, .threads = 1 + (uint32_t) round % 3, .rows = round % 2 == 0 ? 192 : 0 };
    struct incipit_batch_options bo = { .size = sizeof bo, .pass_rows = round == 1 ? 5 : 0, .no_sharing = round == 2 };
    size_t left = 1, next = 0;
    memset(a, 0, sizeof a);
    x.c = incipit_context_open(x.m, &co, &x.why);
    struct incipit_batch *b = incipit_batch_open(x.c, &bo, &x.why);
    ck_assert_msg(b != NULL, "%s", x.why.text);
    for (int i = 0; i < 2 * REQUESTS; i++) ask(&x, &a[i], i);
    for (int step = 0; left > 0 || next < 2 * REQUESTS; step++) {
      ck_assert_int_lt(step, 4000);
      if (next < 2 * REQUESTS && (step % 3 == 0 || step < 2)) come(&x, b, &a[next]), next++;
      ck_assert_uint_eq(a[next - 1].number, next);
      ck_assert_msg(incipit_batch_step(b, &left, &x.why), "%s", x.why.text);
    }
    struct incipit_batch_counts r = batch_report_of(b);
    struct incipit_report c = report_of(&x);
    ck_assert(r.waiting == 0 && r.running == 0 && r.ended == 2 * REQUESTS);
    ck_assert(r.passes == c.passes && r.rows == c.rows && r.places_used <= r.passes * co.n_sequences);
    preempted += r.preempted;
    for (int i = 2 * REQUESTS - 1; i >= 0; i--) {
      struct incipit_request q = poll_of(b, a[i].number);
      struct incipit_result *t = incipit_batch_take(b, a[i].number, &x.why);
      ck_assert_msg(t != NULL, "%s", x.why.text);
      ck_assert(q.state == INCIPIT_ENDED && q.n_ids == t->n_ids && q.failure.code == 0);
      compare_alone(&alone, &a[i], t);
      incipit_result_close(t), forget(&a[i]);
    }
    ck_assert_uint_eq(batch_report_of(b).ended, 0);
    incipit_batch_close(b);
    ck_assert_uint_eq(report_of(&x).cache_bytes_used, 0);
    incipit_context_close(x.c);
  }
  ck_assert_uint_gt(preempted, 0);
  set_close(&alone);
}
END_TEST

/* a common beginning of more than a page is computed once, unless it is not to be */
START_TEST(a_batch_finds_what_others_have_read)
{
  for (int apart = 0; apart < 2; apart++) {
    struct set x;
    struct incipit_batch_options bo = { .size = sizeof bo, .no_sharing = apart };
    struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 1 };
    uint32_t id[80];
    uint64_t number;
    set_open(&x, POCKET, 2);
    struct incipit_batch *b = incipit_batch_open(x.c, &bo, &x.why);
    for (uint32_t i = 0; i < 80; i++) id[i] = 300 + i;
    for (uint32_t i = 0; i < 5; i++) {
      size_t left = 1;
      id[79] = i;
      ck_assert(incipit_batch_submit(b, id, 80, &o, &number, &x.why));
      while (left > 0) ck_assert(incipit_batch_step(b, &left, &x.why));
      ck_assert_uint_eq(poll_of(b, number).rows_found, i > 0 && !apart ? 64 : 0);
    }
    struct incipit_batch_counts r = batch_report_of(b);
    ck_assert_uint_eq(r.rows, apart ? 400 : 80 + 4 * 16);
    ck_assert_uint_eq(r.rows_found, apart ? 0 : 4 * 64);
    ck_assert_uint_eq(r.ended, 5);
    incipit_batch_close(b);
    ck_assert_uint_eq(report_of(&x).cache_bytes_used, 0);
    set_close(&x);
  }
}
END_TEST

/* in the middle of its prompt a text loses its rows to an older one; what was told of it is not told again */
START_TEST(a_prompt_that_is_read_again_is_told_once)
{
  static struct asked a[2];
  struct incipit_context_options co = { .size = sizeof co, .n_sequences = 2, .threads = 1, .rows = 256 };
  struct incipit_batch_options bo = { .size = sizeof bo, .pass_rows = 2 };
  struct set alone, x;
  size_t left = 1;
  memset(a, 0, sizeof a);
  set_open(&alone, POCKET, 1);
  x = (struct set){ .m = alone.m, .c = incipit_context_open(alone.m, &co, &why) };
  struct incipit_batch *b = incipit_batch_open(x.c, &bo, &why);
  ck_assert(b != NULL);
  for (int i = 0; i < 2; i++) {
    a[i].n = i == 0 ? 1 : 128;
    for (uint32_t k = 0; k < 128; k++) a[i].id[k] = 300 + k;
    a[i].o = (struct incipit_generate_options){ .size = sizeof a[i].o, .max_new_tokens = i == 0 ? 200 : 3, .ignore_end = true, .on_token = hear_one, .on_progress = rows_grow, .ctx = &a[i] };
    come(&x, b, &a[i]);
    for (int k = 0; k < 20; k++) ck_assert(incipit_batch_step(b, NULL, &why));
  }
  while (poll_of(b, a[1].number).preempted == 0) ck_assert(incipit_batch_step(b, &left, &why) && left == 2);
  ck_assert(a[1].rows > 64 && a[1].rows < 128 && a[1].tokens == 0);
  while (left > 0) ck_assert(incipit_batch_step(b, &left, &why));
  for (int i = 0; i < 2; i++) {
    struct incipit_result *r = incipit_batch_take(b, a[i].number, &why);
    compare_alone(&alone, &a[i], r);
    incipit_result_close(r);
  }
  incipit_batch_close(b);
  incipit_context_close(x.c), set_close(&alone);
}
END_TEST

/* cancelled in every state and from every callback; and one that cannot go on. The others do not notice */
struct disturber {
  struct asked *a;
  struct incipit_batch *b;
  struct set *x;
  uint64_t victim, extra;
};
static bool disturb(void *ctx, const struct incipit_token *now)
{
  struct disturber *d = ctx;
  struct incipit_error e = { .code = 0 };
  if (now->number != 3) return true;
  ck_assert_int_eq(poll_of(d->b, d->victim).state, INCIPIT_RUNNING);
  ck_assert(incipit_batch_cancel(d->b, d->victim, &e));
  come(d->x, d->b, &d->a[5]);
  ck_assert(!incipit_batch_step(d->b, NULL, &e) && e.code == INCIPIT_MISUSE && strstr(e.text, "callbacks") != NULL);
  ck_assert(incipit_batch_take(d->b, d->victim, &e) == NULL && strstr(e.text, "callbacks") != NULL);
  incipit_batch_close(d->b); /* does nothing */
  return true;
}
static bool no_more_rows(void *ctx, size_t rows, size_t all)
{
  (void) ctx, (void) rows, (void) all;
  return false;
}
START_TEST(requests_are_cancelled_and_fail_by_themselves)
{
  static struct asked a[9];
  struct set x, alone;
  struct incipit_sampler_options so;
  memset(a, 0, sizeof a);
  set_open(&x, POCKET, 7);
  alone = (struct set){ .m = x.m, .c = incipit_context_open(x.m, NULL, &x.why) };
  struct incipit_batch *b = incipit_batch_open(x.c, NULL, &x.why);
  struct disturber d = { .a = a, .b = b, .x = &x };
  for (int i = 0; i < 9; i++) ask(&x, &a[i], i), a[i].o.max_new_tokens = 12, a[i].o.min_new_tokens = 9;
  a[0].o.on_token = disturb, a[0].o.on_progress = NULL, a[0].o.ctx = &d; /* cancels 1 within a pass, and submits 5 */
  a[2].stop_at = 2;
  a[3].o.on_progress = no_more_rows;
  ck_assert(incipit_sampler_defaults(x.m, &so, sizeof so, &x.why)); /* each token once, and then there is none */
  so.constraint = a[6].k = incipit_constraint_open(x.m, INCIPIT_REGEX, "[qjx]{400}", 10, &x.why), so.no_repeat_ngram = 1;
  a[6].s = incipit_sampler_open(x.m, &so, &x.why);
  ck_assert_msg(a[6].s != NULL, "%s", x.why.text);
  a[6].o.sampler = a[6].s, a[6].o.max_new_tokens = 0, a[6].o.stop = NULL, a[6].o.n_stop = 0;
  static const int order[8] = { 0, 1, 2, 3, 4, 6, 7, 8 };
  for (int i = 0; i < 8; i++) come(&x, b, &a[order[i]]);
  d.victim = a[1].number;
  ck_assert(incipit_batch_step(b, NULL, &x.why));
  ck_assert_int_eq(poll_of(b, a[8].number).state, INCIPIT_WAITING); /* there are seven places */
  ck_assert(incipit_batch_cancel(b, a[8].number, &x.why) && incipit_batch_cancel(b, a[8].number, &x.why));
  ck_assert(incipit_batch_cancel(b, a[7].number, &x.why));
  ck_assert(incipit_batch_take(b, a[4].number, &x.why) == NULL && x.why.code == INCIPIT_MISUSE && strstr(x.why.text, "has not ended") != NULL);
  size_t left = 1, steps = 0;
  while (left > 0) ck_assert(incipit_batch_step(b, &left, &x.why) && ++steps < 500);
  static const int finish[9] = { -1, INCIPIT_FINISH_CANCELLED, INCIPIT_FINISH_CANCELLED, INCIPIT_FINISH_CANCELLED, -1, -1, INCIPIT_FINISH_FAILED,
    INCIPIT_FINISH_CANCELLED, INCIPIT_FINISH_CANCELLED };
  for (int i = 0; i < 9; i++) {
    struct incipit_request q = poll_of(b, a[i].number);
    struct incipit_result *r = incipit_batch_take(b, a[i].number, &x.why);
    ck_assert_msg(r != NULL, "%s", x.why.text);
    ck_assert(!incipit_batch_poll(b, a[i].number, &q, sizeof q, &x.why) && strstr(x.why.text, "no request of this batch") != NULL);
    if (finish[i] >= 0) ck_assert_msg(r->finish == finish[i], "request %d ends by %d", i, r->finish);
    else if (i > 0) compare_alone(&alone, &a[i], r);
    if (i != 6) ck_assert_int_eq(q.failure.code, 0);
    else ck_assert_msg(q.failure.code == INCIPIT_NO_CHOICE && strlen(q.failure.text) > 10 && r->n_ids > 2, "%d: %s", q.failure.code, q.failure.text);
    if (i == 1) ck_assert(a[1].tokens == 2 && r->n_ids == 3); /* the pass brings a token that nobody is told of */
    if (i == 2) ck_assert(a[2].tokens == 2 && r->n_ids == 2);
    if (i == 3 || i == 7) ck_assert(r->n_ids <= 1);
    if (i == 8) ck_assert(r->n_ids == 0 && r->n == 0 && a[8].rows == 0);
    incipit_result_close(r), forget(&a[i]);
  }
  incipit_batch_close(b);
  ck_assert_uint_eq(report_of(&x).cache_bytes_used, 0);
  incipit_context_close(alone.c), set_close(&x);
}
END_TEST

static size_t given_out(void);
/* while it is open its context is its alone; afterwards it is as before; and it is closed in any order */
START_TEST(a_batch_has_its_context_for_itself)
{
  struct set x;
  uint32_t s, id[3] = { 5, 6, 7 };
  uint64_t number;
  size_t n;
  float logits[VOCAB];
  static struct incipit_row row = { 1, 0, 5 };
  set_open(&x, POCKET, 2);
  ck_assert(incipit_sequence_open(x.c, &s, &why));
  WRONG("open sequence", incipit_batch_open(x.c, NULL, &why));
  ck_assert(incipit_sequence_close(x.c, s, &why));
  struct incipit_batch *b = incipit_batch_open(x.c, NULL, &why);
  ck_assert_msg(b != NULL, "%s", why.text);
  WRONG("has an open batch", incipit_batch_open(x.c, NULL, &why));
  WRONG("has an open batch", incipit_sequence_open(x.c, &s, &why));
  WRONG("has an open batch", incipit_forward(x.c, &row, 1, &why));
  WRONG("has an open batch", incipit_logits(x.c, &n, 1, logits, &why));
  WRONG("has an open batch", incipit_generate(x.c, id, 3, NULL, &why));
  WRONG("has an open batch", incipit_chat_open(x.c, "pocket", NULL, &why));
  ck_assert(incipit_batch_step(b, &n, &why) && n == 0); /* there is nothing to do */
  ck_assert(incipit_batch_submit(b, id, 3, &most_20, &number, &why) && number == 1);
  ck_assert(incipit_batch_step(b, NULL, &why) && report_of(&x).passes == 1);
  uint64_t live = 0, other;
  for (int i = 0; i < 30; i++) { /* what was taken leaves no memory behind */
    if (i == 3) live = report_of(&x).live_bytes;
    ck_assert(incipit_batch_submit(b, id, 3, &most_20, &other, &why) && incipit_batch_cancel(b, other, &why));
    incipit_result_close(incipit_batch_take(b, other, &why));
  }
  ck_assert_uint_eq(report_of(&x).live_bytes, live);
  incipit_batch_close(b); /* in the middle of a text */
  ck_assert_uint_eq(report_of(&x).cache_bytes_used, 0);
  ck_assert(incipit_sequence_open(x.c, &s, &why) && incipit_sequence_close(x.c, s, &why));
  struct incipit_result *r = incipit_generate(x.c, id, 3, &most_20, &why), *t;
  b = incipit_batch_open(x.c, NULL, &why);
  ck_assert(b != NULL && r != NULL);
  set_close(&x); /* the batch keeps both */
  ck_assert(incipit_batch_submit(b, id, 3, &most_20, &number, &why));
  for (n = 1; n > 0;) ck_assert(incipit_batch_step(b, &n, &why));
  t = incipit_batch_take(b, number, &why);
  incipit_batch_close(b);
  same(r, t);
  incipit_result_close(r), incipit_result_close(t);
  /* what could never fit is refused, with both numbers */
  set_open(&x, POCKET, 1);
  incipit_context_close(x.c);
  struct incipit_context_options co = { .size = sizeof co, .n_sequences = 2, .rows = 128 };
  x.c = incipit_context_open(x.m, &co, &why);
  b = incipit_batch_open(x.c, NULL, &why);
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 127 };
  WRONG_AS(INCIPIT_FULL, "it has 129 rows; the cache has room for 128", incipit_batch_submit(b, id, 3, &o, &number, &why));
  WRONG_AS(INCIPIT_FULL, "it has 2048 rows; the cache has room for 128", incipit_batch_submit(b, id, 3, NULL, &number, &why));
  size_t bytes = 0;
  for (int i = 0; i < 400; i++) { /* what was refused leaves no memory behind */
    if (i == 100) bytes = given_out();
    ck_assert(!incipit_batch_submit(b, id, 3, &o, &number, NULL));
  }
  ck_assert_uint_lt(given_out(), bytes + 24000);
  o.max_new_tokens = 126;
  ck_assert(incipit_batch_submit(b, id, 3, &o, &number, &why) && number == 1);
  incipit_batch_close(b);
  set_close(&x);
  tally(" calls of the library that are wrong", told, 0, 0, "");
}
END_TEST

/* memory is refused at each request in turn: a batch that was not opened, a request that was not submitted and a result that
   was not taken have not been; a step ends at most the text that it was refused for */
static struct incipit_batch *batch_of_two(struct set *x, uint64_t *number)
{
  static const uint32_t id[2][3] = { { 262, 270, 263 }, { 264, 265, 266 } };
  struct incipit_batch *b = incipit_batch_open(x->c, NULL, &why);
  ck_assert(b != NULL);
  for (int i = 0; i < 2; i++) ck_assert(incipit_batch_submit(b, id[i], 3, &most_20, &number[i], &why));
  ck_assert(incipit_batch_step(b, NULL, &why));
  return b;
}
static void texts_of_two(struct incipit_batch *b, const uint64_t *number, char text[2][400], int *code)
{
  size_t left = 1;
  while (left > 0) ck_assert(incipit_batch_step(b, &left, &why));
  for (int i = 0; i < 2; i++) {
    code[i] = poll_of(b, number[i]).failure.code;
    struct incipit_result *r = incipit_batch_take(b, number[i], &why);
    snprintf(text[i], 400, "%d %s", r->finish, r->text), incipit_result_close(r);
  }
}
START_TEST(what_a_batch_refuses_has_not_been)
{
  struct set x;
  char want[2][400], got[2][400];
  int code[2];
  uint64_t number[2], third;
  static const uint32_t id[4] = { 5, 6, 7, 8 };
  static const char *const stop[] = { "zzz" };
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 3, .stop = stop, .n_stop = 1 };
  set_open(&x, POCKET, 3);
  struct incipit_batch *b = batch_of_two(&x, number);
  texts_of_two(b, number, want, code);
  incipit_batch_close(b);
  size_t met[4] = { 0 };
  for (int what = 0; what < 4; what++)
    for (size_t k = 1, whole = 0; !whole; k++) {
      struct incipit_result *r = NULL;
      struct incipit_batch_counts before, after;
      uint64_t live = report_of(&x).live_bytes;
      b = what == 0 ? NULL : batch_of_two(&x, number);
      if (what == 2) {
        ck_assert(incipit_batch_submit(b, id, 4, &o, &third, &why) && incipit_batch_cancel(b, third, &why));
        ck_assert(incipit_batch_submit(b, id, 4, &o, &third, &why) && incipit_batch_cancel(b, third, &why));
      }
      if (b != NULL) before = batch_report_of(b);
      atomic_store(&requests, 0), atomic_store(&refused, k);
      memset(&why, 0, sizeof why);
      bool ok = what == 0 ? (b = incipit_batch_open(x.c, NULL, &why)) != NULL : what == 1 ? incipit_batch_submit(b, id, 4, &o, &third, &why)
        : what == 2 ? (r = incipit_batch_take(b, third, &why)) != NULL : incipit_batch_step(b, NULL, &why);
      whole = atomic_load(&requests) < k, atomic_store(&refused, 0);
      incipit_result_close(r);
      if (what == 3) ck_assert(ok);
      else ck_assert_msg(ok == whole && (ok || why.code == INCIPIT_MEMORY), "call %d, request %zu: %s", what, k, why.text);
      met[what] += !whole;
      if (what == 0 && !ok) {
        ck_assert_uint_eq(report_of(&x).live_bytes, live);
        incipit_result_close(incipit_generate(x.c, id, 4, &o, &why)); /* the context is free */
        b = batch_of_two(&x, number), before = batch_report_of(b);
      }
      if (what == 0 && ok) incipit_batch_close(b), b = NULL;
      if (b == NULL) continue;
      after = batch_report_of(b);
      if (!ok) ck_assert_mem_eq(&before, &after, sizeof after);
      if (what == 1 && !ok) ck_assert(incipit_batch_submit(b, id, 4, &o, &third, &why) && third == 3);
      if (what == 2 && !ok) r = incipit_batch_take(b, third, &why), ck_assert(r != NULL), incipit_result_close(r);
      texts_of_two(b, number, got, code);
      for (int i = 0; i < 2; i++) {
        ck_assert_msg(code[i] == 0 || (what == 3 && code[i] == INCIPIT_MEMORY), "code %d", code[i]);
        ck_assert_msg(code[i] != 0 || strcmp(got[i], want[i]) == 0, "call %d, request %zu: %s, not %s", what, k, got[i], want[i]);
      }
      ck_assert(code[0] == 0 || code[1] == 0);
      incipit_batch_close(b);
      ck_assert_uint_eq(report_of(&x).cache_bytes_used, 0);
    }
  for (int what = 0; what < 4; what++) ck_assert_msg(met[what] > 2, "call %d was refused %zu times", what, met[what]);
  set_close(&x);
}
END_TEST

/* ---- memory: whatever is refused, there is a code, nothing is lost, and the next call works */
static int everything(void)
{
  struct incipit_error e = { .code = 0 };
  struct incipit_context_options o = { .size = sizeof o, .n_sequences = 2, .threads = 1, .kernels = "scalar" };
  struct incipit_generate_options g = { .size = sizeof g, .max_new_tokens = 2, .stop = (const char *const[]){ "qq" }, .n_stop = 1 };
  struct incipit_sampler_options so;
  struct incipit_constraint *k = NULL;
  struct incipit_sampler *s = NULL;
  struct incipit_context *c = NULL;
  struct incipit_chat *t = NULL;
  struct incipit_result *r[2] = { NULL, NULL }, *a = NULL;
  struct incipit_constraint *second = NULL;
  uint32_t id[16], one, two;
  size_t n;
  struct incipit_model *m = incipit_model_open(SMALL, NULL, &e);
  bool ok = m != NULL && (c = incipit_context_open(m, &o, &e)) != NULL
    && incipit_sequence_open(c, &one, &e)
    && incipit_forward(c, &(struct incipit_row){ one, 0, 262 }, 1, &e)
    && incipit_sequence_fork(c, one, &two, &e);
  incipit_context_close(c);
  incipit_model_close(m);
  if (!ok) return e.code;
  c = NULL;
  m = incipit_model_open(POCKET, NULL, &e);
  ok = m != NULL && incipit_encode(m, "The cat", 7, true, false, id, 16, &n, &e)
    && incipit_sampler_defaults(m, &so, sizeof so, &e)
    && (k = incipit_constraint_open(m, INCIPIT_REGEX, "[a-z ]*", 7, &e)) != NULL
    && (second = incipit_constraint_open(m, INCIPIT_REGEX, "a", 1, &e)) != NULL
    && (so.constraint = k, s = incipit_sampler_open(m, &so, &e)) != NULL
    && (c = incipit_context_open(m, &o, &e)) != NULL;
  g.sampler = s;
  if (ok) {
    struct incipit_prompt p[2] = { { id, n }, { id, n } };
    ok = incipit_generate_many(c, p, 2, &g, r, &e);
    if (!ok) ck_assert(r[0] == NULL && r[1] == NULL);
  }
  uint64_t request = 0;
  size_t left = 1;
  struct incipit_batch *b = !ok ? NULL : incipit_batch_open(c, NULL, &e);
  ok = ok && b != NULL && incipit_batch_submit(b, id, n, &g, &request, &e) && incipit_batch_submit(b, id, n, NULL, &request, &e);
  for (int step = 0; ok && step < 4; step++) ok = incipit_batch_step(b, &left, &e);
  incipit_batch_close(b);
  g = (struct incipit_generate_options){ .size = sizeof g, .max_new_tokens = 2 };
  ok = ok && (t = incipit_chat_open(c, "pocket", NULL, &e)) != NULL
    && (a = incipit_chat_say(t, "Hello", 5, &g, &e)) != NULL;
  incipit_result_close(a);
  incipit_result_close(r[0]);
  incipit_result_close(r[1]);
  incipit_chat_close(t);
  incipit_sampler_close(s);
  incipit_constraint_close(k);
  incipit_constraint_close(second);
  incipit_context_close(c);
  incipit_model_close(m);
  return ok ? 0 : e.code;
}
/* what the C library has given out; under a sanitizer, which looks for leaks itself, 0 */
static size_t given_out(void)
{
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  struct mallinfo2 i = mallinfo2();
  return i.uordblks + i.hblkhd;
#else
  return 0;
#endif
}
START_TEST(nothing_is_left_behind)
{
  static const char *const stop[] = { "one", "two", "" };
  struct incipit_model *m = incipit_model_open(POCKET, NULL, &why);
  struct incipit_message message = { INCIPIT_USER, "x", 1 };
  uint32_t id[2] = { 5, 6 };
  double bias[2] = { 1, 2 };
  static uint32_t many[100];
  struct incipit_piece piece;
  struct incipit_context_options co = { .size = sizeof co, .rows = 64, .threads = 1 };
  struct incipit_context *c = incipit_context_open(m, &co, &why);
  struct incipit_generate_options go = { .size = sizeof go, .max_new_tokens = 1 };
  struct incipit_prompt p[2] = { { many, 1 }, { many, 100 } };
  struct incipit_result *r[2];
  size_t before = 0, n;
  ck_assert_int_eq(everything(), 0);
  for (int i = 0; i < 2000; i++) {
    struct incipit_sampler_options o;
    if (i == 400) before = given_out();
    struct incipit_stream *f = incipit_stream_open(m, stop, 2, false, &why);
    ck_assert(incipit_stream_push(f, 5, &piece, &why) && incipit_stream_reset(f, id, 1, &why));
    incipit_stream_close(f);
    ck_assert(incipit_stream_open(m, stop, 3, false, &why) == NULL);
    ck_assert(incipit_sampler_defaults(m, &o, sizeof o, &why));
    o.bias_id = id, o.bias = bias, o.n_bias = 2;
    struct incipit_sampler *s = incipit_sampler_open(m, &o, &why), *t;
    ck_assert(incipit_sampler_accept(s, 5, &why) && (t = incipit_sampler_copy(s, &why)) != NULL);
    incipit_sampler_close(s);
    incipit_sampler_close(t);
    o.temperature = -1;
    ck_assert(incipit_sampler_open(m, &o, &why) == NULL);
    ck_assert(incipit_chat_encode(m, "pocket", &message, 1, true, NULL, 0, &n, &why));
    ck_assert(incipit_decode(m, id, 2, true, NULL, 0, &n, &why) && incipit_encode(m, "x", 1, true, true, NULL, 0, &n, &why));
    ck_assert(incipit_constraint_open(m, INCIPIT_REGEX, "(a", 2, &why) == NULL);
    ck_assert(incipit_model_open("/nowhere", NULL, &why) == NULL);
    /* the first text is written, the second does not fit: no result, and none is left */
    ck_assert(!incipit_generate_many(c, p, 2, &go, r, &why) && r[0] == NULL && r[1] == NULL);
    ck_assert_int_eq(why.code, INCIPIT_FULL);
  }
  incipit_context_close(c);
  ck_assert_uint_lt(given_out(), before + 24000);
  incipit_model_close(m);
  before = given_out();
  for (int i = 0; i < 8; i++) ck_assert_int_eq(everything(), 0);
  /* malloc keeps small blocks for itself, at first more with every round */
  ck_assert_uint_lt(given_out(), before + 64000);
}
END_TEST

START_TEST(every_request_may_be_refused)
{
  atomic_store(&requests, 0);
  ck_assert_int_eq(everything(), 0);
  size_t all = atomic_load(&requests), step = all / 400 + 1, without = 0;
  ck_assert_uint_gt(all, 100);
  for (size_t k = 1; k <= all; k += k < 300 ? 1 : step) {
    atomic_store(&requests, 0);
    atomic_store(&refused, k);
    int code = everything();
    atomic_store(&refused, 0);
    /* PCRE2 does without the code that it compiles for speed */
    if (code == 0) without++;
    else if (code != INCIPIT_MEMORY) ck_abort_msg("request %zu of %zu refused: code %d", k, all, code);
  }
  ck_assert_uint_le(without, 40);
}
END_TEST

/* ---- whatever is refused has not been: two worlds have the same life, but in one of them something
   is refused, at each request for memory or because it cannot be. After it the world looks as
   before, and then all that can be done in it gives what it gives in the other */
struct world {
  struct set x;
  uint32_t a, b, given;
  struct incipit_constraint *k;
  struct incipit_sampler *s, *free; /* with the constraint, and without */
  struct incipit_stream *f;
  struct incipit_chat *t;
};
static struct incipit_model *world_model;
static bool read_rows(struct world *w, uint32_t q, size_t n, uint32_t token)
{
  struct incipit_row row[400];
  size_t at;
  if (!incipit_sequence_length(w->x.c, q, &at, &why)) return false;
  for (uint32_t i = 0; i < n; i++) row[i] = (struct incipit_row){ q, (uint32_t) at + i, token + i };
  return incipit_forward(w->x.c, row, n, &why);
}
static bool feed(struct incipit_stream *f, const char *text, struct incipit_piece *piece)
{
  uint32_t id[8];
  size_t n;
  bool ok = incipit_encode(world_model, text, strlen(text), false, false, id, 8, &n, &why);
  for (size_t i = 0; ok && i < n; i++) ok = incipit_stream_push(f, id[i], piece, &why);
  return ok;
}
static uint32_t letter(char c) /* found before something is refused */
{
  static uint32_t id[128];
  size_t n;
  for (char k = 'a'; id['z'] == 0 && k <= 'z'; k++)
    ck_assert(incipit_encode(world_model, &k, 1, false, false, &id[(int) k], 1, &n, NULL) && n == 1);
  return id[(int) c];
}
static const struct incipit_generate_options most_3 = { .size = sizeof most_3, .max_new_tokens = 3 };
static void world_open(struct world *w)
{
  struct incipit_context_options o = { .size = sizeof o, .n_sequences = 6, .threads = 1, .rows = 6 * 64 };
  struct incipit_sampler_options so;
  struct incipit_piece piece;
  static const uint32_t five[5] = { 5, 6, 7, 8, 9 };
  memset(w, 0, sizeof *w);
  w->x.m = world_model;
  bool ok = (w->x.c = incipit_context_open(w->x.m, &o, &why)) != NULL
    && incipit_sequence_open(w->x.c, &w->a, &why) && incipit_sequence_open(w->x.c, &w->given, &why)
    && read_rows(w, w->a, 5, 5) && incipit_sequence_fork(w->x.c, w->a, &w->b, &why)
    && read_rows(w, w->given, 3, 5) && read_rows(w, w->b, 2, 90)
    && incipit_sampler_defaults(w->x.m, &so, sizeof so, &why);
  so.repetition_penalty = 1.5, so.temperature = 1, so.seed = 8;
  ok = ok && (w->free = incipit_sampler_open(w->x.m, &so, &why)) != NULL
    && (so.constraint = w->k = incipit_constraint_open(w->x.m, INCIPIT_REGEX, "n[qjx][qjx][a-z]*", 17, &why)) != NULL
    && (w->s = incipit_sampler_open(w->x.m, &so, &why)) != NULL
    && incipit_sampler_reset(w->s, five, 5, 4, &why) && incipit_sampler_accept(w->s, letter('n'), &why)
    && incipit_sampler_reset(w->free, five, 5, 0, &why) && incipit_sampler_accept(w->free, 5, &why)
    && (w->f = incipit_stream_open(w->x.m, (const char *const[]){ "sat on", "." }, 2, false, &why)) != NULL
    && feed(w->f, "Who sat", &piece)
    && (w->t = incipit_chat_open(w->x.c, "pocket", NULL, &why)) != NULL;
  ck_assert_msg(ok, "%s", why.text);
  incipit_result_close(incipit_chat_say(w->t, "Hello", 5, &most_3, &why));
  ck_assert(read_rows(w, w->b, 2, 50));
}
static void world_close(struct world *w)
{
  incipit_chat_close(w->t), incipit_stream_close(w->f);
  incipit_sampler_close(w->s), incipit_sampler_close(w->free);
  incipit_constraint_close(w->k), incipit_context_close(w->x.c);
}
/* what can be seen without changing anything: lengths, used bytes, and what has been computed unless
   the call was to compute something */
struct outlook {
  size_t a, b;
  uint64_t used, passes, rows, again;
};
static struct outlook look_at(struct world *w, bool computes)
{
  struct outlook o;
  struct incipit_report r = report_of(&w->x);
  memset(&o, 0, sizeof o);
  ck_assert(incipit_sequence_length(w->x.c, w->a, &o.a, &why) && incipit_sequence_length(w->x.c, w->b, &o.b, &why));
  if (!computes) o.used = r.cache_bytes_used, o.passes = r.passes, o.rows = r.rows, o.again = r.rows_recomputed;
  return o;
}
/* what can be done then; the part that the refused call is about comes first, in turn */
enum { PARTS = 7 };
struct doings {
  char text[PARTS][200];
  float logits[3][VOCAB];
  uint32_t id[8];
};
static void choices(struct incipit_sampler *s, uint32_t *id)
{
  static float z[VOCAB];
  for (uint32_t i = 0; i < VOCAB; i++) z[i] = (float) (i * 7919 % 613) / 100;
  for (int i = 0; i < 3; i++)
    if (!incipit_sampler_apply(s, z, &id[i], &why) || !incipit_sampler_accept(s, id[i], &why)) id[i] = UINT32_MAX;
}
static void do_part(struct world *w, int part, struct doings *d)
{
  struct incipit_piece piece = { "", 0, NULL };
  struct incipit_result *r;
  size_t last[2] = { 0, 1 };
  uint32_t q;
  switch (part) {
  case 0: ck_assert(incipit_logits(w->x.c, last, 2, d->logits[0], &why)); break;
  case 1:
    ck_assert(incipit_sequence_crop(w->x.c, w->b, 8, &why) && read_rows(w, w->b, 3, 20));
    ck_assert(incipit_logits(w->x.c, last + 1, 1, d->logits[2], &why));
    break;
  case 2: choices(w->s, d->id); break;
  case 3: choices(w->free, d->id + 3); break;
  case 4:
    ck_assert(feed(w->f, " on it", &piece));
    snprintf(d->text[4], sizeof d->text[4], "%.*s|%s", (int) piece.n, piece.text, piece.stop == NULL ? "" : piece.stop);
    break;
  case 5:
    r = incipit_chat_say(w->t, "And then?", 9, &most_3, &why);
    ck_assert_msg(r != NULL, "%s", why.text);
    snprintf(d->text[5], sizeof d->text[5], "%s", r->text), incipit_result_close(r);
    break;
  case 6:
    ck_assert(incipit_sequence_open(w->x.c, &q, &why));
    r = incipit_generate(w->x.c, (const uint32_t[]){ 5, 6, 7, 8, 90 }, 5, &(struct incipit_generate_options){
      .size = sizeof most_3, .max_new_tokens = 4, .sequence = &w->given, .sampler = w->free }, &why);
    ck_assert_msg(r != NULL, "%s", why.text);
    snprintf(d->text[6], sizeof d->text[6], "%s %u", r->text, q), incipit_result_close(r);
  }
}
static void do_all(struct world *w, int first, struct doings *d)
{
  memset(d, 0, sizeof *d);
  for (int i = 0; i < PARTS; i++) do_part(w, (first + i) % PARTS, d);
}
enum { CALLS = 18, IMPOSSIBLE = 17 };
/* the part that it is about, and whether it computes */
static const struct { int part; bool computes; } about[CALLS] = { { 1, false }, { 0, false }, { 6, false }, { 2, false },
  { 2, false }, { 2, false }, { 2, false }, { 4, false }, { 4, false }, { 5, true }, { 6, true }, { 6, true }, { 6, false },
  { 2, false }, { 6, false }, { 3, false }, { 3, false }, { 3, false } };
static bool call_it(struct world *w, int what)
{
  static const uint32_t id[3] = { 5, 6, 7 };
  static float z[2 * VOCAB];
  struct incipit_generate_options o = most_3;
  struct incipit_result *r[2] = { NULL, NULL };
  struct incipit_prompt p[2] = { { id, 3 }, { id, 2 } };
  struct incipit_message message = { INCIPIT_USER, "x", 1 };
  struct incipit_constraint *k;
  struct incipit_sampler *s;
  struct incipit_context *c;
  struct incipit_stream *f;
  struct incipit_piece piece;
  struct incipit_chat *t;
  char bytes[30];
  uint32_t q, out[30];
  size_t n;
  bool ok;
  switch (what) {
  case 0: return read_rows(w, w->a, 70, 30);
  case 1: return incipit_logits(w->x.c, (const size_t[]){ 1, 0 }, 2, z, &why);
  case 2: return incipit_sequence_fork(w->x.c, w->b, &q, &why);
  case 3: return incipit_sampler_reset(w->s, id, 3, 9, &why);
  case 4: return incipit_sampler_accept(w->s, letter('q'), &why);
  case 5: return incipit_sampler_apply(w->s, z, &q, &why);
  case 6: s = incipit_sampler_copy(w->s, &why), incipit_sampler_close(s); return s != NULL;
  case 7: return incipit_stream_reset(w->f, id, 3, &why);
  case 8: return feed(w->f, " with a very long tail", &piece);
  case 9: r[0] = incipit_chat_say(w->t, "What?", 5, &most_3, &why), incipit_result_close(r[0]); return r[0] != NULL;
  case 10:
    ok = incipit_generate_many(w->x.c, p, 2, &most_3, r, &why);
    if (!ok) ck_assert(r[0] == NULL && r[1] == NULL);
    incipit_result_close(r[0]), incipit_result_close(r[1]);
    return ok;
  case 11:
    o.sequence = &w->given, o.sampler = w->s;
    r[0] = incipit_generate(w->x.c, id, 3, &o, &why), incipit_result_close(r[0]);
    return r[0] != NULL;
  case 12: c = incipit_context_open(w->x.m, NULL, &why), incipit_context_close(c); return c != NULL;
  case 13: k = incipit_constraint_open(w->x.m, INCIPIT_GRAMMAR, "root ::= \"a\"", 12, &why), incipit_constraint_close(k); return k != NULL;
  case 14: t = incipit_chat_open(w->x.c, "pocket", NULL, &why), incipit_chat_close(t); return t != NULL;
  case 15:
    f = incipit_stream_open(w->x.m, (const char *const[]){ "a" }, 1, false, &why), incipit_stream_close(f);
    return f != NULL;
  case 16: return incipit_encode(w->x.m, "The cat", 7, true, false, out, 30, &n, &why)
      && incipit_decode(w->x.m, id, 3, false, bytes, 30, &n, &why);
  case 17: return incipit_chat_encode(w->x.m, "pocket", &message, 1, true, out, 30, &n, &why);
  /* these cannot be, whatever memory there is */
  case CALLS + 0: return read_rows(w, w->a, 400, 5); /* the cache is full */
  case CALLS + 1: return read_rows(w, w->a, 2, VOCAB - 1);
  case CALLS + 2: return incipit_forward(w->x.c, (const struct incipit_row[]){ { w->a, 5, 5 }, { w->b, 10, 5 } }, 2, &why);
  case CALLS + 3: return incipit_logits(w->x.c, (const size_t[]){ 1, 2 }, 2, z, &why);
  case CALLS + 4: return incipit_sequence_crop(w->x.c, w->b, 10, &why);
  case CALLS + 5: return incipit_sampler_reset(w->s, id, 3, 2, &why); /* three tokens at least */
  case CALLS + 6: return incipit_sampler_reset(w->s, (const uint32_t[]){ 5, VOCAB }, 2, 0, &why);
  case CALLS + 7: return incipit_sampler_accept(w->s, letter('z'), &why);
  case CALLS + 8:
    for (int i = 0; i < VOCAB; i++) z[i] = -INFINITY;
    return incipit_sampler_apply(w->free, z, &q, &why);
  case CALLS + 9: return incipit_stream_reset(w->f, (const uint32_t[]){ 5, VOCAB }, 2, &why);
  case CALLS + 10: return incipit_stream_push(w->f, VOCAB, &piece, &why);
  case CALLS + 11:
    o.sequence = (const uint32_t[]){ w->given, w->given };
    r[0] = r[1] = (void *) &o; /* what was there before is not taken for a result */
    ck_assert(!incipit_generate_many(NULL, p, 2, &o, r, &why) && r[0] == NULL && r[1] == NULL);
    r[0] = r[1] = (void *) &o;
    ok = incipit_generate_many(w->x.c, p, 2, &o, r, &why);
    ck_assert(r[0] == NULL && r[1] == NULL);
    return ok;
  case CALLS + 12:
    o.sequence = &w->given;
    return incipit_chat_say(w->t, "What?", 5, &o, &why) != NULL;
  case CALLS + 13:
    for (n = 0; n < 2048; n++) z[n] = 0;
    o.sequence = &w->given, o.stop = (const char *const[]){ "" }, o.n_stop = 1;
    return incipit_generate(w->x.c, id, 3, &o, &why) != NULL;
  case CALLS + 14: return incipit_sequence_fork(w->x.c, w->b + 9, &q, &why);
  case CALLS + 15: return incipit_sequence_keep(w->x.c, w->b, (const uint32_t[]){ 5, VOCAB }, 2, &n, &why);
  default: return incipit_generate(w->x.c, (const uint32_t[]){ 5, VOCAB }, 2, &o, &why) != NULL;
  }
}
START_TEST(what_is_refused_changes_nothing)
{
  static struct doings want[PARTS], got;
  struct world w;
  unsigned met = 0;
  world_model = incipit_model_open(POCKET, NULL, &why);
  for (int first = 0; first < PARTS; first++) world_open(&w), do_all(&w, first, &want[first]), world_close(&w);
  for (int what = 0; what < CALLS + IMPOSSIBLE; what++)
    for (size_t k = 1, all = 0, whole = 0; !whole; k += k < 80 ? 1 : 7) {
      bool memory = what < CALLS, computes = memory && about[what].computes;
      int first = memory ? about[what].part : (int) k % PARTS;
      world_open(&w);
      struct outlook before = look_at(&w, computes), after;
      atomic_store(&requests, 0), atomic_store(&refused, memory ? k : 0);
      memset(&why, 0, sizeof why);
      bool ok = call_it(&w, what);
      all = memory ? atomic_load(&requests) : PARTS - 1, atomic_store(&refused, 0);
      whole = k > all;
      int code = why.code;
      if (memory && whole) ck_assert_msg(ok, "call %d: %s", what, why.text);
      if (!memory) ck_assert_msg(!ok && code != 0 && code != INCIPIT_MEMORY, "call %d: code %d", what, code);
      if (!ok) {
        if (memory) ck_assert_msg(code == INCIPIT_MEMORY, "call %d, request %zu: code %d, %s", what, k, code, why.text);
        after = look_at(&w, computes), met++;
        if (memory) { /* what fails then for another reason is not said to be for want of memory */
          int other = CALLS + (int) k % IMPOSSIBLE;
          ck_assert(!call_it(&w, other));
          ck_assert_msg(why.code != INCIPIT_MEMORY, "call %d after call %d: %s", other, what, why.text);
        }
        ck_assert_msg(memcmp(&before, &after, sizeof after) == 0, "call %d, request %zu of %zu, looks", what, k, all);
        do_all(&w, first, &got);
        for (int i = 0; i < PARTS; i++) ck_assert_msg(strcmp(got.text[i], want[first].text[i]) == 0, "call %d, request %zu: %s, not %s", what, k, got.text[i], want[first].text[i]);
        ck_assert_msg(memcmp(got.logits, want[first].logits, sizeof got.logits) == 0, "call %d, request %zu of %zu, logits", what, k, all);
        ck_assert_msg(memcmp(got.id, want[first].id, sizeof got.id) == 0, "call %d, request %zu of %zu, choices", what, k, all);
      }
      world_close(&w);
    }
  ck_assert_uint_gt(met, 250);
  incipit_model_close(world_model);
}
END_TEST

/* ---- and nothing stays in memory, however often it is refused */
START_TEST(what_is_refused_keeps_no_memory)
{
  struct world w;
  world_model = incipit_model_open(POCKET, NULL, &why);
  for (int what = 0; what < CALLS; what++) {
    size_t before = 0, most = 300; /* requests; it is called without a refusal once */
    world_open(&w);
    for (int round = 0; round < 14; round++) {
      if (round == 2) before = given_out();
      for (size_t k = 1; k < most; k++) {
        atomic_store(&requests, 0), atomic_store(&refused, k);
        bool ok = call_it(&w, what);
        atomic_store(&refused, 0);
        if (!ok || atomic_load(&requests) >= k) continue;
        if (what != 9) most = k;
        else ck_assert(incipit_chat_reset(w.t, &why)); /* said at last: and again from the beginning */
        break;
      }
    }
    size_t after = given_out();
    ck_assert_msg(after < before + 8000, "call %d: %zu bytes", what, after - before);
    world_close(&w);
  }
  incipit_model_close(world_model);
  size_t before = 0;
  for (int round = 0; round < 8; round++) { /* the first constraint of a model puts its vocabulary in order */
    struct incipit_model *m = incipit_model_open(POCKET, NULL, &why);
    struct incipit_constraint *k = NULL;
    if (round == 2) before = given_out();
    for (size_t n = 1; k == NULL; n++) {
      atomic_store(&requests, 0), atomic_store(&refused, n);
      k = incipit_constraint_open(m, INCIPIT_REGEX, "a", 1, &why);
      atomic_store(&refused, 0);
    }
    incipit_constraint_close(k), incipit_model_close(m);
  }
  ck_assert_uint_lt(given_out(), before + 24000);
}
END_TEST

/* ---- a call that fails in the middle of a pass or before it leaves no callback to the context */
static bool count_asks(void *ctx, size_t rows, size_t all)
{
  return rows <= all && ++*(unsigned *) ctx < 10000;
}
START_TEST(a_failed_text_leaves_no_callback_behind)
{
  struct set x;
  struct incipit_context_options o = { .size = sizeof o, .n_sequences = 2, .threads = 1, .rows = 128 };
  static uint32_t id[200];
  static struct incipit_row row[100];
  unsigned asks = 0, before;
  uint32_t s;
  struct incipit_generate_options g = { .size = sizeof g, .max_new_tokens = 2, .on_progress = count_asks, .ctx = &asks };
  memset(&x, 0, sizeof x);
  x.m = incipit_model_open(POCKET, NULL, &why), x.c = incipit_context_open(x.m, &o, &why);
  ck_assert(incipit_sequence_open(x.c, &s, &why));
  for (uint32_t i = 0; i < 200; i++) id[i] = 5 + i % 50;
  for (uint32_t i = 0; i < 100; i++) row[i] = (struct incipit_row){ s, i, id[i] };
  for (size_t chunk = 0; chunk < 90; chunk += 40) {
    g.chunk = chunk;
    WRONG_AS(INCIPIT_FULL, "the cache holds 128 rows", incipit_generate(x.c, id, 200, &g, &why));
    before = asks;
    ck_assert_msg(incipit_forward(x.c, row, 100, &why), "%s", why.text);
    ck_assert_uint_eq(asks, before);
    ck_assert(incipit_sequence_crop(x.c, s, 0, &why));
  }
  ck_assert_uint_gt(asks, 2);
  set_close(&x);
}
END_TEST

/* ---- a number is never 0, never that of a place that was not given out, and not used again for a long time */
START_TEST(numbers_of_sequences_wrap_and_are_never_zero)
{
  struct set x;
  static uint32_t name[65600];
  uint32_t one, other;
  size_t n;
  set_open(&x, SMALL, 2);
  ck_assert(incipit_sequence_open(x.c, &one, &why));
  for (int i = 0; i < 65600; i++) {
    hold(incipit_sequence_open(x.c, &name[i], &why) && name[i] >> 16 != 0);
    hold_msg(incipit_sequence_length(x.c, name[i], &n, &why) && n == 0, "opening %d: %s", i, why.text);
    if (i > 0) hold(name[i] != name[i - 1] && !incipit_sequence_length(x.c, name[i - 1], &n, &why));
    if (i % 500 == 0) hold(incipit_forward(x.c, &(struct incipit_row){ name[i], 0, 5 }, 1, &why));
    if (i >= 65535) hold(name[i] == name[i - 65535]);
    hold(incipit_sequence_close(x.c, name[i], &why));
  }
  ck_assert(incipit_sequence_fork(x.c, one, &other, &why) && incipit_sequence_length(x.c, other, &n, &why));
  set_close(&x);
}
END_TEST

/* ---- a context that was opened before a fork, in the child: with several threads it says so and can be closed */
static int in_child(struct incipit_context *c, struct incipit_model *m, uint32_t s, int what)
{
  struct incipit_context_options o = { .size = sizeof o, .threads = 2 };
  struct incipit_error e = { 0, "" };
  uint32_t id = 5;
  size_t n;
  if (what == 0) incipit_result_close(incipit_generate(c, &id, 1, &most_20, &e));
  if (what == 1) incipit_forward(c, &(struct incipit_row){ s, 0, 5 }, 1, &e);
  if (what == 2) incipit_context_close(c);
  if (what == 3) {
    c = incipit_context_open(m, &o, &e);
    incipit_result_close(incipit_generate(c, &id, 1, &most_20, &e)), incipit_context_close(c);
  }
  if (what == 4) incipit_sequence_close(c, s, &e), incipit_context_close(c), incipit_model_close(m);
  if (what == 5) return incipit_sequence_length(c, s, &n, &e) ? 0 : 9;
  return e.code == 0 ? 0 : e.code == INCIPIT_MISUSE && strstr(e.text, "before a fork") != NULL ? 7 : 8;
}
START_TEST(a_forked_process_opens_its_own_context)
{
  struct incipit_model *m = incipit_model_open(POCKET, NULL, &why);
  for (uint32_t threads = 1; threads <= 3; threads++)
    for (int what = 0; what < 6; what++) {
      struct incipit_context_options o = { .size = sizeof o, .threads = threads, .n_sequences = 2 };
      struct set x = { .m = m, .c = incipit_context_open(m, &o, &why) };
      uint32_t s;
      int status;
      ck_assert(x.c != NULL && incipit_sequence_open(x.c, &s, &why));
      incipit_result_close(write_20(&x, "Once"));
      pid_t child = fork();
      if (child == 0) alarm(30), _exit(in_child(x.c, m, s, what));
      ck_assert(child > 0 && waitpid(child, &status, 0) == child);
      bool refuses = threads > 1 && (what < 2 || what == 4);
      ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == (refuses ? 7 : 0), "%u threads, %d: status %x", threads, what, status);
      incipit_result_close(write_20(&x, "Once"));
      incipit_context_close(x.c);
    }
  incipit_model_close(m);
}
END_TEST

/* ---- the caller's way of rounding changes no bit of anything, from the opening on, and is what it was after each call */
struct rounded {
  char text[300];
  float logits[VOCAB];
};
static void round_trip(int mode, bool packed, struct rounded *out)
{
  struct incipit_model_options mo = { .size = sizeof mo, .packed = packed };
  struct incipit_sampler_options so;
  struct incipit_generate_options g = most_20;
  uint32_t id[64], s;
  size_t n, last;
  memset(out, 0, sizeof *out);
#define KEPT(call) \
  do { \
    ck_assert_msg(call, "%s", why.text); \
    ck_assert_int_eq(fegetround(), mode); \
  } while (0)
  ck_assert_int_eq(fesetround(mode), 0);
  struct incipit_model *m;
  struct incipit_context *c;
  struct incipit_sampler *d;
  struct incipit_result *r;
  KEPT((m = incipit_model_open(POCKET, &mo, &why)) != NULL);
  KEPT((c = incipit_context_open(m, NULL, &why)) != NULL);
  KEPT(incipit_sampler_defaults(m, &so, sizeof so, &why));
  so.temperature = 0.7, so.top_p = 0.9, so.repetition_penalty = 1.1, so.seed = 3;
  KEPT((d = incipit_sampler_open(m, &so, &why)) != NULL);
  KEPT(incipit_encode(m, "The cat sat", 11, true, false, id, 64, &n, &why));
  g.sampler = d;
  KEPT((r = incipit_generate(c, id, n, &g, &why)) != NULL);
  snprintf(out->text, sizeof out->text, "%s", r->text), incipit_result_close(r);
  KEPT(incipit_sequence_open(c, &s, &why));
  for (uint32_t i = 0; i < n; i++) KEPT(incipit_forward(c, &(struct incipit_row){ s, i, id[i] }, 1, &why));
  KEPT(incipit_logits(c, (last = 0, &last), 1, out->logits, &why));
  incipit_sampler_close(d), incipit_context_close(c), incipit_model_close(m);
  fesetround(FE_TONEAREST);
}
START_TEST(the_callers_rounding_is_his_own)
{
  static const int mode[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  static struct rounded want, got;
  for (int packed = 0; packed < 2; packed++)
    for (int i = 0; i < 4; i++) {
      round_trip(mode[i], packed, i + packed == 0 ? &want : &got);
      if (i + packed > 0) ck_assert(strcmp(got.text, want.text) == 0 && memcmp(got.logits, want.logits, sizeof want.logits) == 0);
    }
}
END_TEST

/* ---- the preprocessor can compare versions; the number of rows is what the header says, or refused */
#if INCIPIT_VERSION_MAJOR * 1000 + INCIPIT_VERSION_MINOR < 3
#error "a version before the first"
#endif
START_TEST(versions_and_rows_are_numbers)
{
  char version[20];
  snprintf(version, sizeof version, "%d.%d", INCIPIT_VERSION_MAJOR, INCIPIT_VERSION_MINOR);
  ck_assert_str_eq(version, INCIPIT_VERSION);
  struct incipit_model *m = incipit_model_open(POCKET, NULL, &why);
  static const size_t rows[] = { 1, 64, 65, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 62, SIZE_MAX - 63, SIZE_MAX - 64, SIZE_MAX / 2 };
  for (int i = 0; i < 9; i++) {
    struct incipit_context_options o = { .size = sizeof o, .threads = 1, .rows = rows[i] };
    struct incipit_row row[129];
    uint32_t s;
    if (i > 2) WRONG_AS(INCIPIT_INPUT, "pages; wanted: at most", incipit_context_open(m, &o, &why));
    if (i > 2) continue;
    struct incipit_context *c = incipit_context_open(m, &o, &why);
    size_t has = i < 2 ? 64 : 128;
    ck_assert(c != NULL && incipit_sequence_open(c, &s, &why));
    for (uint32_t k = 0; k < 129; k++) row[k] = (struct incipit_row){ s, k, 5 };
    WRONG_AS(INCIPIT_FULL, has == 64 ? "holds 64 rows" : "holds 128 rows", incipit_forward(c, row, has + 1, &why));
    ck_assert(incipit_forward(c, row, has, &why));
    incipit_context_close(c);
  }
  incipit_model_close(m);
}
END_TEST

/* ---- threads */
struct job {
  struct incipit_model *m;
  struct incipit_result *r[4];
};
static void *write_four(void *ctx)
{
  struct job *j = ctx;
  struct incipit_context_options o = { .size = sizeof o, .n_sequences = 2, .threads = 2 };
  struct set x = { .m = j->m, .c = incipit_context_open(j->m, &o, NULL) };
  uint32_t id[4][64];
  struct incipit_prompt p[4];
  struct incipit_sampler_options so;
  for (int i = 0; i < 4; i++) p[i] = (struct incipit_prompt){ id[i], ids_of(&x, four[i], id[i], 64) };
  struct incipit_constraint *k = incipit_constraint_open(j->m, INCIPIT_REGEX, "[a-zA-Z .]*", 11, NULL);
  bool ok = incipit_sampler_defaults(j->m, &so, sizeof so, NULL);
  so.temperature = 0.8, so.seed = 11, so.constraint = k;
  struct incipit_sampler *s = incipit_sampler_open(j->m, &so, NULL);
  struct incipit_generate_options g = { .size = sizeof g, .max_new_tokens = 12, .sampler = s };
  ck_assert(ok && incipit_generate_many(x.c, p, 4, &g, j->r, &x.why));
  incipit_sampler_close(s);
  incipit_constraint_close(k);
  incipit_context_close(x.c);
  return NULL;
}
START_TEST(two_threads_give_the_bits_of_one)
{
  struct incipit_model *m = incipit_model_open(POCKET, NULL, NULL);
  struct job alone = { .m = m }, pair[2] = { { .m = m }, { .m = m } };
  pthread_t thread[2];
  /* the two first: what is made on demand is made by one of them */
  for (int i = 0; i < 2; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, write_four, &pair[i]), 0);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  write_four(&alone);
  for (int i = 0; i < 4; i++) {
    same(alone.r[i], pair[0].r[i]);
    same(alone.r[i], pair[1].r[i]);
    incipit_result_close(alone.r[i]);
    incipit_result_close(pair[0].r[i]);
    incipit_result_close(pair[1].r[i]);
  }
  incipit_model_close(m);
}
END_TEST

START_TEST(the_built_in_model_is_found)
{
  struct incipit_error e;
  setenv("INCIPIT_MODEL", POCKET, 1);
  struct incipit_model *m = incipit_model_open(NULL, NULL, &e);
  ck_assert_msg(m != NULL, "%s", e.text);
  struct incipit_context *c = incipit_context_open(m, NULL, &e);
  struct incipit_chat *t = incipit_chat_open(c, NULL, NULL, &e); /* its template is known */
  ck_assert_msg(t != NULL, "%s", e.text);
  incipit_chat_close(t);
  incipit_context_close(c);
  incipit_model_close(m);
  setenv("INCIPIT_MODEL", "/nowhere", 1);
  ck_assert(incipit_model_open(NULL, NULL, &e) == NULL && strstr(e.text, "/nowhere") != NULL);
  ck_assert_str_eq(incipit_version(), INCIPIT_VERSION);
  uint32_t id[2];
  char text[4];
  size_t n, bytes;
  m = incipit_model_open(POCKET, NULL, &e);
  ck_assert(incipit_encode(m, "The cat sat", 11, true, false, id, 2, &n, &e) && n == 3);
  ck_assert(incipit_encode(m, "The cat sat", 11, true, false, NULL, 0, &n, &e) && n == 3);
  ck_assert(incipit_decode(m, id, 2, true, text, 4, &bytes, &e) && bytes == 7);
  ck_assert_mem_eq(text, "The ", 4);
  incipit_model_close(m);
}
END_TEST

/* ---- limits, and what a second text may not have of the first */
START_TEST(a_stream_forgets_the_text_before)
{
  struct set x;
  uint32_t half[16], rest[16], whole[16];
  struct incipit_piece piece;
  static const char *const stop[] = { "sat on" };
  set_open(&x, POCKET, 1);
  size_t n = ids_of(&x, "The cat sa", half, 16), k = ids_of(&x, "t on it", rest, 16), w = ids_of(&x, "The cat sat", whole, 16);
  struct incipit_stream *s = incipit_stream_open(x.m, stop, 1, false, &x.why);
  ck_assert(s != NULL);
  for (size_t with = 0; with < 3; with++) { /* begun anew behind no token, or behind some: half a stop string, and what was shown, are gone */
    char text[64] = "";
    for (size_t i = 0; i < n; i++) ck_assert(incipit_stream_push(s, half[i], &piece, &x.why));
    ck_assert(incipit_stream_reset(s, whole, with, &x.why));
    for (size_t i = 0; i < k; i++) {
      ck_assert(incipit_stream_push(s, rest[i], &piece, &x.why) && piece.stop == NULL);
      strncat(text, piece.text, piece.n);
    }
    ck_assert_str_eq(text, "t on it");
  }
  ck_assert(incipit_stream_reset(s, NULL, 0, &x.why));
  for (size_t i = 0; i < w; i++) ck_assert(incipit_stream_push(s, whole[i], &piece, &x.why) && piece.stop == NULL);
  ck_assert(incipit_stream_end(s, &piece, &x.why) && piece.n == 3 && memcmp(piece.text, "sat", 3) == 0);
  incipit_stream_close(s);
  set_close(&x);
}
END_TEST
START_TEST(a_batch_counts_places_and_passes)
{
  struct set x;
  uint64_t request[2];
  uint32_t id[16];
  struct incipit_batch_counts all;
  size_t left = 1;
  set_open(&x, POCKET, 2);
  struct incipit_batch *b = incipit_batch_open(x.c, NULL, &x.why);
  struct incipit_generate_options o = { .size = sizeof o, .max_new_tokens = 5, .ignore_end = true };
  size_t n = ids_of(&x, "The cat sat", id, 16);
  for (int i = 0; i < 2; i++) ck_assert(b != NULL && incipit_batch_submit(b, id, n, &o, &request[i], &x.why));
  while (left > 0) ck_assert(incipit_batch_step(b, &left, &x.why));
  ck_assert(incipit_batch_report(b, &all, sizeof all, &x.why));
  ck_assert(all.ended == 2 && all.running == 0 && all.waiting == 0 && all.passes >= 5 && all.places_used == 2 * all.passes);
  incipit_batch_close(b);
  set_close(&x);
}
END_TEST
START_TEST(the_first_that_is_too_much)
{
  struct set x;
  struct incipit_row row[2] = { { 0, 0, 1 }, { 0, 1, 2 } };
  static float logits[2 * 4096];
  size_t which[2] = { 1, 2 }, length = 0;
  set_open(&x, POCKET, 1);
  WRONG("n_sequences is 65536", incipit_context_open(x.m, &(struct incipit_context_options) { .size = sizeof (struct incipit_context_options),
    .n_sequences = 65536 }, &why));
  WRONG("threads is 1025", incipit_context_open(x.m, &(struct incipit_context_options) { .size = sizeof (struct incipit_context_options),
    .threads = 1025 }, &why));
  ck_assert(incipit_sequence_open(x.c, &row[0].sequence, &x.why));
  row[1].sequence = row[0].sequence;
  ck_assert(incipit_forward(x.c, row, 2, &x.why) && incipit_logits(x.c, which, 1, logits, &x.why));
  WRONG("row 2 of the pass; wanted: below 2", incipit_logits(x.c, which, 2, logits, &why));
  WRONG("has 2 rows", incipit_sequence_crop(x.c, row[0].sequence, 3, &why));
  ck_assert(incipit_sequence_crop(x.c, row[0].sequence, 2, &x.why) && incipit_sequence_length(x.c, row[0].sequence, &length, &x.why) && length == 2);
  ck_assert(incipit_sequence_close(x.c, row[0].sequence, &x.why));
  set_close(&x);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("library");
  TCase *t = tcase_create("incipit.h");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, a_text_is_that_of_the_chapters);
  tcase_add_test(t, many_texts_are_those_of_one_by_one);
  tcase_add_test(t, a_sampler_is_copied_for_each_text_and_numbered);
  tcase_add_test(t, forks_and_crops_give_the_bits_of_reading_again);
  tcase_add_test(t, kept_rows_are_not_computed_again);
  tcase_add_test(t, the_cache_is_smaller_in_another_format);
  tcase_add_test(t, to_choose_changes_nothing_and_to_accept_does);
  tcase_add_test(t, a_constraint_holds_in_generate_and_by_hand);
  tcase_add_test(t, what_is_streamed_is_the_text);
  tcase_add_test(t, the_last_piece_brings_what_was_held);
  tcase_add_test(t, callbacks_cancel);
  tcase_add_test(t, a_pass_is_given_up_inside);
  tcase_add_test(t, packed_weights_give_the_same_logits);
  tcase_add_test(t, unknown_fields_may_be_read_over);
  tcase_add_test(t, a_tokenizer_is_asked_for_its_special_tokens);
  tcase_add_test(t, what_the_makers_wish_is_the_default);
  tcase_add_test(t, what_is_not_finite_is_told);
  tcase_add_test(t, every_wish_of_a_sampler_counts);
  tcase_add_test(t, a_copy_goes_on_where_the_sampler_is);
  tcase_add_test(t, wishes_about_a_text_count);
  tcase_add_test(t, special_tokens_go_in_and_out);
  tcase_add_test(t, wishes_about_a_context_count);
  tcase_add_test(t, nothing_is_left_behind);
  tcase_add_test(t, a_callback_cannot_use_its_context);
  tcase_add_test(t, a_stream_holds_back_and_begins_again);
  tcase_add_test(t, a_conversation_computes_no_row_twice);
  tcase_add_test(t, an_answer_ends_as_the_template_says);
  tcase_add_test(t, a_callback_cannot_close_its_conversation);
  tcase_add_test(t, a_turn_that_does_not_fit_is_taken_back);
  tcase_add_test(t, null_is_told);
  tcase_add_test(t, numbers_out_of_range_are_told);
  tcase_add_test(t, what_a_person_named_is_told);
  tcase_add_test(t, a_full_context_has_a_code);
  tcase_add_test(t, structures_grow_and_a_cleared_one_is_refused);
  tcase_add_test(t, objects_keep_what_they_need);
  tcase_add_test(t, every_request_may_be_refused);
  tcase_add_test(t, two_threads_give_the_bits_of_one);
  tcase_add_test(t, the_built_in_model_is_found);
  suite_add_tcase(s, t);
  TCase *batch = tcase_create("batch");
  tcase_set_timeout(batch, 300);
  tcase_add_test(batch, a_batch_writes_what_each_would_alone);
  tcase_add_test(batch, a_batch_finds_what_others_have_read);
  tcase_add_test(batch, a_prompt_that_is_read_again_is_told_once);
  tcase_add_test(batch, requests_are_cancelled_and_fail_by_themselves);
  tcase_add_test(batch, a_batch_has_its_context_for_itself);
  tcase_add_test(batch, what_a_batch_refuses_has_not_been);
  suite_add_tcase(s, batch);
  TCase *state = tcase_create("state");
  tcase_set_timeout(state, 300);
  tcase_add_test(state, what_is_refused_changes_nothing);
  tcase_add_test(state, what_is_refused_keeps_no_memory);
  tcase_add_test(state, a_failed_text_leaves_no_callback_behind);
  tcase_add_test(state, numbers_of_sequences_wrap_and_are_never_zero);
  tcase_add_test(state, a_forked_process_opens_its_own_context);
  tcase_add_test(state, the_callers_rounding_is_his_own);
  tcase_add_test(state, versions_and_rows_are_numbers);
  suite_add_tcase(s, state);
  TCase *limits = tcase_create("limits");
  tcase_set_timeout(limits, 60);
  tcase_add_test(limits, a_stream_forgets_the_text_before);
  tcase_add_test(limits, a_batch_counts_places_and_passes);
  tcase_add_test(limits, the_first_that_is_too_much);
  suite_add_tcase(s, limits);
  return suite_run(s);
}
