/* Chapter 4: the cache -- the same bits as the naive loop, whatever is kept, shared, cut off or
 * refused. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include "tiny.h"
#include "loop/generate.h"
#include "cache/cache.h"
#include "cache/share.h"
#include "families/loader.h"
#include "kernels/kernels.h"

struct rig {
  struct memory m;
  struct counters c;
  struct engine e;
  struct tiny t;
  struct store *s, *plain;
  struct error why;
};
/* what a layer sees: everything, a window in all layers or in those that are listed, with sinks */
struct sight {
  uint32_t window, sinks;
  uint8_t listed;
};
static void rig_open_short_sighted(
  struct rig *r, uint64_t seed, uint32_t n_sequences, struct sight sight, struct cache_options w)
{
  memset(r, 0, sizeof *r);
  tiny_make(&r->t, seed);
  if (sight.window > 0)
    ck_assert_msg(
      config_set_window(&r->t.lm.config, sight.window, sight.sinks, &r->why), "%s", r->why.text);
  if (sight.listed > 0)
    r->t.lm.config.window_listed = true, r->t.lm.config.windowed[0] = sight.listed;
  r->e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &r->c };
  r->plain = array_store_open(&r->m, &r->t.lm.config, &r->why);
  r->s = cache_open(&r->m, &r->t.lm.config, n_sequences, &w, &r->why);
  ck_assert_msg(r->s != NULL, "%s", r->why.text);
}
static void rig_open(struct rig *r, uint64_t seed, uint32_t n_sequences, struct cache_options w)
{
  rig_open_short_sighted(r, seed, n_sequences, (struct sight){ 0, 0, 0 }, w);
}
static void rig_close(struct rig *r)
{
  store_close(r->s), store_close(r->plain), pool_close(&r->m, r->e.pool);
  ck_assert_uint_eq(r->m.all.live, 0);
  tiny_free(&r->t);
}

/* ---- random schedules: passes over ragged rows in any order, forks, crops, drops, refusals; every
 * row against a pass over its own prefix */
enum { SEQ = 6, LONG = 90, SCHEDULES = 16 };
struct texts {
  uint32_t id[SEQ][LONG];
  size_t n[SEQ];
};
static void shuffle(uint64_t *seed, struct row *r, size_t n)
{
  for (size_t i = n; i > 1; i--) {
    size_t k = rnd(seed) % i;
    struct row t = r[i - 1];
    r[i - 1] = r[k], r[k] = t;
  }
}
/* adds up to `most' rows to some sequences; true if the cache has taken them */
static bool add_rows(struct rig *r, struct texts *x, uint64_t *seed, size_t max)
{
  struct row rows[SEQ * LONG];
  size_t n = 0, old[SEQ];
  for (uint32_t q = 0; q < SEQ; q++) {
    old[q] = x->n[q];
    size_t take = rnd(seed) % 3 == 0 ? 0 : rnd(seed) % (max + 1);
    for (; take > 0 && x->n[q] < LONG; take--) {
      x->id[q][x->n[q]] = (uint32_t) (rnd(seed) % TINY_V);
      rows[n++] = (struct row){ q, (uint32_t) x->n[q], x->id[q][x->n[q]] }, x->n[q]++;
    }
  }
  if (n == 0) return true;
  shuffle(seed, rows, n);
  struct pass *p;
  if (!model_forward(&r->e, &r->t.lm, r->s, rows, n, &p, &r->why)) {
    for (int q = 0; q < SEQ; q++) x->n[q] = old[q];
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    float got[TINY_V], want[TINY_V];
    size_t at = rows[i].position;
    if (rnd(seed) % 3 && i > 2) continue;
    ck_assert(model_logits(&r->e, &r->t.lm, p, &i, 1, got, &r->why));
    ck_assert(model_evaluate(
      &r->e, &r->t.lm, r->plain, x->id[rows[i].sequence], at + 1, &at, 1, want, &r->why));
    ck_assert_msg(memcmp(got, want, sizeof got) == 0, "sequence %u, position %zu differs",
      rows[i].sequence, at);
  }
  pass_close(p);
  return true;
}
START_TEST(every_schedule_gives_the_bits_of_the_naive_pass)
{
  uint64_t seed = suite_seed() + 1000 * (uint64_t) _i;
  static const size_t page[SCHEDULES] = { 16, 32, 64, 128, 256, 16, 16, 16, 1, 1, 4, 16, 2, 1, 8,
    64 };
  static const size_t most[SCHEDULES] = { 0, 0, 0, 0, 0, 160, 96, 208, 0, 90, 0, 0, 0, 0, 160, 0 };
  static const struct sight sight[SCHEDULES] = { [1] = { 23, 0, 0 },
    [7] = { 23, 0, 0 },
    [8] = { 7, 0, 0 },
    [9] = { 5, 0, 2 },
    [10] = { 1, 0, 0 },
    [11] = { 30, 0, 5 },
    [12] = { 200, 0, 0 },
    [13] = { 6, 3, 0 },
    [14] = { 9, 20, 3 },
    [15] = { 11, 4, 0 } };
  struct rig r;
  struct texts x = { .n = { 0 } };
  unsigned refused = 0, forks = 0, crops = 0;
  rig_open_short_sighted(&r, seed, SEQ, sight[_i],
    (struct cache_options){ .rows = most[_i], .page_rows = page[_i], .preallocate = _i % 2 });
  unsigned emptied = 0;
  size_t layer_bytes = 2 * TINY_KV * TINY_HD * sizeof(float);
  for (int round = 0; round < 250; round++) {
    uint32_t a = (uint32_t) (rnd(&seed) % SEQ), b = (uint32_t) (rnd(&seed) % SEQ);
    struct cache_state before = cache_look(r.s), after;
    switch (rnd(&seed) % 6) {
    case 0: /* fork: nothing is copied, no page is taken */
      if (a == b) break;
      store_crop(r.s, b, 0), x.n[b] = 0, before = cache_look(r.s);
      ck_assert_msg(store_fork(r.s, a, b, &r.why), "%s", r.why.text);
      memcpy(x.id[b], x.id[a], sizeof x.id[a]), x.n[b] = x.n[a];
      after = cache_look(r.s);
      ck_assert(after.pages_used == before.pages_used && after.bytes_copied == before.bytes_copied);
      forks += x.n[a] > 0;
      break;
    case 1: /* crop, or drop */
      x.n[a] = rnd(&seed) % 3 == 0 ? 0 : rnd(&seed) % (x.n[a] + 1);
      store_crop(r.s, a, x.n[a]);
      if (sight[_i].window > 0 && store_length(r.s, a) == 0) emptied += x.n[a] > 0, x.n[a] = 0;
      ck_assert_uint_eq(cache_look(r.s).bytes_copied, before.bytes_copied);
      ck_assert_uint_le(cache_look(r.s).pages_used, before.pages_used);
      crops++;
      break;
    default:
      if (!add_rows(&r, &x, &seed, rnd(&seed) % 4 == 0 ? 40 : 3)) {
        refused++;
        ck_assert_msg(strstr(r.why.text, "the cache holds") != NULL, "%s", r.why.text);
        after = cache_look(r.s);
        ck_assert(
          after.pages_used <= before.pages_used && after.bytes_copied == before.bytes_copied);
        ck_assert(after.pages_used == before.pages_used || sight[_i].window > 0);
        uint32_t q = (uint32_t) (rnd(&seed) % SEQ); /* make room */
        store_crop(r.s, q, 0), x.n[q] = 0;
      }
      /* at most one page's rows are copied for each sequence, in every layer */
      ck_assert_uint_le(cache_look(r.s).bytes_copied - before.bytes_copied,
        SEQ * (page[_i] - 1) * TINY_LAYERS * layer_bytes);
    }
    for (uint32_t q = 0; q < SEQ; q++) ck_assert_uint_eq(store_length(r.s, q), x.n[q]);
  }
  ck_assert_uint_gt(forks, 3);
  ck_assert_uint_gt(crops, 20);
  if (most[_i] > 0) ck_assert_uint_gt(refused, 3);
  ck_assert(emptied == 0 || sight[_i].window > 0);
  if (sight[_i].window > 0 && sight[_i].window < 12 && page[_i] < 16) ck_assert_uint_gt(emptied, 0);
  if (most[_i] == 0) ck_assert_uint_eq(refused, 0);
  store_clear(r.s);
  ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
  rig_close(&r);
}
END_TEST

/* ---- what is shared is not copied until somebody writes, and then once */
START_TEST(a_fork_costs_nothing_until_it_is_written_to)
{
  struct rig r;
  rig_open(&r, suite_seed(), 3, (struct cache_options){ .page_rows = 16 });
  size_t row = 2 * TINY_LAYERS * TINY_KV * TINY_HD * sizeof(float);
  struct row rows[20];
  struct pass *p;
  for (uint32_t i = 0; i < 20; i++) rows[i] = (struct row){ 0, i, i % TINY_V };
  ck_assert(model_forward(&r.e, &r.t.lm, r.s, rows, 20, &p, &r.why)), pass_close(p);
  ck_assert(store_fork(r.s, 0, 1, &r.why) && store_fork(r.s, 0, 2, &r.why));
  uint32_t ids[20];
  for (uint32_t i = 0; i < 20; i++) ids[i] = i % TINY_V;
  ck_assert_uint_eq(store_match_prefix(r.s, 1, ids, 20), 20);
  struct {
    struct store common;
    char rest[2000];
  } other; /* a store of another kind has no pages, whatever stands behind what they have in common */
  struct cache_state none = { .pages = 0 }, look;
  memset(&other, 0x5a, sizeof other), other.common = *r.plain;
  look = cache_look(&other.common);
  ck_assert(memcmp(&look, &none, sizeof none) == 0);
  /* who follows knows the tokens */
  ck_assert_uint_eq(cache_look(r.s).pages_used, 2);
  ck_assert_uint_eq(cache_look(r.s).bytes_copied, 0);
  ck_assert_uint_eq(cache_look(r.s).bytes_used, 2 * 16 * row);
  static const struct {
    uint32_t q;
    size_t pages, copied;
  } then[] = { { 1, 3, 4 }, { 1, 3, 4 }, { 0, 4, 8 }, { 2, 4, 8 } };
  for (int k = 0; k < 4; k++) {
    struct row one = { then[k].q, (uint32_t) store_length(r.s, then[k].q), 3 };
    ck_assert(model_forward(&r.e, &r.t.lm, r.s, &one, 1, &p, &r.why)), pass_close(p);
    ck_assert_uint_eq(cache_look(r.s).pages_used, then[k].pages);
    ck_assert_uint_eq(cache_look(r.s).bytes_copied, then[k].copied * row);
  }
  /* at the end of a page there is nothing to copy */
  store_crop(r.s, 1, 16), store_crop(r.s, 2, 0);
  ck_assert(store_fork(r.s, 1, 2, &r.why));
  struct row one = { 2, 16, 3 };
  ck_assert(model_forward(&r.e, &r.t.lm, r.s, &one, 1, &p, &r.why)), pass_close(p);
  ck_assert_uint_eq(cache_look(r.s).bytes_copied, 8 * row);
  /* no fork onto somebody, from nowhere, or in a pass */
  ck_assert(!store_fork(r.s, 0, 1, &r.why) && strstr(r.why.text, "sequence 1 has 16 rows") != NULL);
  ck_assert(!store_fork(r.s, 0, 3, &r.why) && strstr(r.why.text, "no sequence 3") != NULL);
  ck_assert(!store_fork(r.s, 3, 0, &r.why) && strstr(r.why.text, "below 3") != NULL);
  store_clear(r.s);
  ck_assert(store_begin(r.s, &(struct row){ 0, 0, 0 }, 1, &r.why));
  ck_assert(!store_fork(r.s, 0, 1, &r.why) && strstr(r.why.text, "in a pass") != NULL);
  store_abort(r.s);
  rig_close(&r);
}
END_TEST

/* three share a page and all go on in one pass: two copy it, and the last has it for itself */
START_TEST(the_last_of_those_who_share_needs_no_copy)
{
  struct rig r;
  rig_open(&r, suite_seed(), 3, (struct cache_options){ .rows = 64, .page_rows = 16 });
  size_t row = 2 * TINY_LAYERS * TINY_KV * TINY_HD * sizeof(float);
  struct row rows[20], all[3];
  struct pass *p;
  for (uint32_t i = 0; i < 20; i++) rows[i] = (struct row){ 0, i, i % TINY_V };
  ck_assert(model_forward(&r.e, &r.t.lm, r.s, rows, 20, &p, &r.why)), pass_close(p);
  ck_assert(store_fork(r.s, 0, 1, &r.why) && store_fork(r.s, 0, 2, &r.why));
  for (uint32_t q = 0; q < 3; q++) all[q] = (struct row){ 2 - q, 20, 1 + q };
  ck_assert_msg(model_forward(&r.e, &r.t.lm, r.s, all, 3, &p, &r.why), "%s", r.why.text),
    pass_close(p);
  ck_assert_uint_eq(cache_look(r.s).pages_used, 4);
  ck_assert_uint_eq(cache_look(r.s).bytes_copied, 8 * row);
  rig_close(&r);
}
END_TEST

START_TEST(a_full_cache_says_how_much_it_has)
{
  struct rig r;
  rig_open(&r, suite_seed(), 2, (struct cache_options){ .rows = 40, .page_rows = 16 });
  struct row rows[60];
  struct pass *p;
  for (uint32_t i = 0; i < 60; i++) rows[i] = (struct row){ 0, i, i % TINY_V };
  ck_assert(!model_forward(&r.e, &r.t.lm, r.s, rows, 60, &p, &r.why));
  ck_assert_str_eq(r.why.text,
    "the cache holds 48 rows, of which 0 are taken; wanted: room for 64 more, in pages of 16");
  ck_assert_msg(model_forward(&r.e, &r.t.lm, r.s, rows, 40, &p, &r.why), "%s", r.why.text),
    pass_close(p);
  struct row other = { 1, 0, 1 };
  ck_assert(!model_forward(&r.e, &r.t.lm, r.s, &other, 1, &p, &r.why));
  ck_assert_str_eq(r.why.text,
    "the cache holds 48 rows, of which 48 are taken; wanted: room for 16 more, in pages of 16");
  ck_assert_uint_eq(store_length(r.s, 1), 0);
  store_crop(r.s, 0, 32);
  ck_assert(model_forward(&r.e, &r.t.lm, r.s, &other, 1, &p, &r.why)), pass_close(p);
  rig_close(&r);
  static const size_t bad[] = { 3, 12, 17, 48, 512 };
  for (int k = 0; k < 5; k++) {
    struct memory m = { .fail_at = 0 };
    struct tiny t;
    struct error why;
    tiny_make(&t, 1);
    ck_assert_ptr_null(
      cache_open(&m, &t.lm.config, 1, &(struct cache_options){ .page_rows = bad[k] }, &why));
    ck_assert_msg(strstr(why.text, "a power of two up to 256") != NULL, "%s", why.text);
    ck_assert_ptr_null(
      cache_open(&m, &t.lm.config, 1, &(struct cache_options){ .rows = (size_t) 1 << 40 }, &why));
    ck_assert_msg(strstr(why.text, "17179869184 pages") != NULL, "%s", why.text);
    for (size_t less = 0; less < 300; less += 1 + less / 4)
      for (int given = 0; given < 2; given++) { /* rows and rows of a pass as large as they can be */
        struct cache_options w = { .page_rows = (size_t) 1 << 2 * k, .set_window = given, .window = 8 * (uint32_t) given };
        *(given ? &w.pass : &w.rows) = SIZE_MAX - less;
        struct store *s = cache_open(&m, &t.lm.config, 1, &w, &why);
        ck_assert_int_eq(s != NULL, given);
        if (s == NULL && k < 4) ck_assert_ptr_nonnull(strstr(why.text, "pages; wanted: at most 4294967295"));
        struct row row = { 0, 0, 0 };
        if (s != NULL) ck_assert_msg(store_begin(s, &row, 1, &why), "%s", why.text), store_abort(s);
        store_close(s);
      }
    ck_assert_uint_eq(m.all.live, 0);
    tiny_free(&t);
  }
}
END_TEST

START_TEST(every_refused_request_is_survived)
{
  bool whole = false;
  uint64_t k = 0;
  while (!whole) {
    struct memory m = { .fail_at = ++k };
    struct counters c = { 0 };
    struct tiny t;
    struct error why;
    tiny_make(&t, 3);
    if (_i == 1) t.lm.config.window = 40, t.lm.config.window_from = 1;
    struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
    struct store *s =
      cache_open(&m, &t.lm.config, 3, &(struct cache_options){ .page_rows = 16 }, &why);
    whole = s != NULL;
    for (uint32_t step = 0; whole && step < 4; step++) {
      struct row rows[70];
      struct pass *p;
      for (uint32_t i = 0; i < 70; i++)
        rows[i] = (struct row){ step % 3, step / 3 * 70 + i, i % TINY_V };
      whole = (step != 1 || store_fork(s, 0, 1, &why)) && (step != 1 || (store_crop(s, 1, 0), true))
        && model_forward(&e, &t.lm, s, rows, 70, &p, &why);
      if (whole) pass_close(p);
    }
    whole = whole && (store_crop(s, 2, 0), store_fork(s, 0, 2, &why));
    if (!whole)
      ck_assert_msg(
        strstr(why.text, "memory") != NULL || strstr(why.text, "bytes") != NULL, "%s", why.text);
    store_close(s);
    ck_assert_uint_eq(m.all.live, 0);
    tiny_free(&t);
  }
  ck_assert_uint_gt(k, 40);
}
END_TEST

/* ---- W - 1 + n rows: with pages of one row exactly, whatever the window, the passes and the
 * sinks; with longer ones at most a page more at either end */
START_TEST(a_window_keeps_a_ring)
{
  uint64_t seed = suite_seed();
  for (int round = 0; round < 150; round++) {
    struct rig r;
    uint32_t w = 1 + (uint32_t) (rnd(&seed) % (round % 3 ? 20 : 320)),
             sinks = round % 4 == 0 ? (uint32_t) (rnd(&seed) % 9) : 0;
    size_t page = (size_t) 1 << (round % 2 ? 0 : rnd(&seed) % 6), max = 1 + rnd(&seed) % 30;
    rig_open_short_sighted(&r, seed, 1, (struct sight){ w, sinks, 0 },
      (struct cache_options){ .page_rows = page, .pass = max, .preallocate = round % 5 == 0 });
    size_t row = 2 * TINY_LAYERS * TINY_KV * TINY_HD * sizeof(float), ring = w - 1 + max + sinks;
    for (uint32_t at = 0, n; at < TINY_CONTEXT; at += n) {
      struct row rows[32];
      struct pass *p;
      n = 1 + (uint32_t) (rnd(&seed) % max);
      if (n > TINY_CONTEXT - at) n = TINY_CONTEXT - at;
      for (uint32_t i = 0; i < n; i++) rows[i] = (struct row){ 0, at + i, (at * 5 + i) % TINY_V };
      r.c = (struct counters){ 0 };
      ck_assert_msg(model_forward(&r.e, &r.t.lm, r.s, rows, n, &p, &r.why),
        "window %u, pages of %zu, %u rows at %u: %s", w, page, n, at, r.why.text);
      pass_close(p);
      size_t lo = at + 1 > w ? at + 1 - w : 0, held = at + n - lo + (sinks < lo ? sinks : lo),
             pairs = 0;
      for (uint32_t q = at; q < at + n; q++)
        for (uint32_t k = 0; k <= q; k++) pairs += k + w > q || k < sinks;
      ck_assert_uint_eq(r.c.qk_pairs, pairs); /* one by one: a row sees its window and the sinks */
      ck_assert_uint_eq(r.c.cache_bytes_read, held * row);
      ck_assert_uint_eq(r.c.cache_bytes_written, n * row);
      if (page == 1)
        ck_assert_uint_eq(cache_look(r.s).pages_used, held);
      else
        ck_assert_uint_le(cache_look(r.s).pages_used * page, held + 3 * page);
      if (page == 1) ck_assert_uint_eq(cache_look(r.s).bytes_used, held * row);
      if (page == 1)
        ck_assert_uint_le(cache_look(r.s).bytes, (ring < TINY_CONTEXT ? ring : TINY_CONTEXT) * row);
      /* a pass that is aborted has changed nothing that a row could see; the last pass can be taken
       * back */
      if (round % 7 == 0) store_crop(r.s, 0, at + n / 2 + 1), n = n / 2 + 1;
      ck_assert_uint_eq(store_length(r.s, 0), at + n);
    }
    if (w > 30)
      store_crop(r.s, 0, TINY_CONTEXT - max);
    else { /* before the window */
      store_crop(r.s, 0, w < 3 ? 5 : 3);
      ck_assert_uint_eq(store_length(r.s, 0), 0);
      ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
    }
    rig_close(&r);
  }
}
END_TEST

/* a ring of the window's rows is the mask of the window: the plain store keeps all rows and shows
 * only those; and both differ from full sight at W + 1 */
START_TEST(a_ring_is_a_mask)
{
  uint64_t seed = suite_seed() + 5;
  for (int round = 0; round < 40; round++) {
    struct rig r, full;
    static const uint32_t some[] = { 1, 2, 16, 17, 255, 256, 257, 299, 300, 500 };
    uint32_t w = round < 10 ? some[round] : 1 + (uint32_t) (rnd(&seed) % 40);
    uint64_t same = rnd(&seed);
    rig_open_short_sighted(&r, same, 1, (struct sight){ w, 0, 0 },
      (struct cache_options){ .page_rows = (size_t) 1 << rnd(&seed) % 5, .rows = 0 });
    rig_open(&full, same, 1, (struct cache_options){ .rows = 0 });
    struct row rows[TINY_CONTEXT];
    for (uint32_t i = 0; i < TINY_CONTEXT; i++)
      rows[i] = (struct row){ 0, i, (uint32_t) (rnd(&seed) % TINY_V) };
    struct pass *whole, *masked, *p;
    ck_assert(model_forward(&r.e, &r.t.lm, r.plain, rows, TINY_CONTEXT, &masked, &r.why));
    ck_assert(
      model_forward(&full.e, &full.t.lm, full.plain, rows, TINY_CONTEXT, &whole, &full.why));
    for (uint32_t at = 0, n; at < TINY_CONTEXT;
         at += n) { /* the first pass often longer than the window, and pieces across its edge */
      n = at == 0 ? 1 + (uint32_t) (rnd(&seed) % 100) : 1 + (uint32_t) (rnd(&seed) % (w + 5));
      if (n > TINY_CONTEXT - at) n = TINY_CONTEXT - at;
      ck_assert_msg(model_forward(&r.e, &r.t.lm, r.s, rows + at, n, &p, &r.why), "%s", r.why.text);
      ck_assert_msg(
        memcmp(p->hidden, masked->hidden + at * TINY_D, n * TINY_D * sizeof(float)) == 0,
        "window %u, rows %u to %u", w, at, at + n);
      pass_close(p);
    }
    size_t first = 0;
    while (first < TINY_CONTEXT
      && memcmp(
           whole->hidden + first * TINY_D, masked->hidden + first * TINY_D, TINY_D * sizeof(float))
        == 0)
      first++;
    ck_assert_uint_eq(first, w < TINY_CONTEXT ? w : TINY_CONTEXT); /* row number W + 1 */
    pass_close(whole), pass_close(masked), rig_close(&r), rig_close(&full);
  }
}
END_TEST

/* how far a token reaches through L layers: L (W - 1) positions and not one further */
START_TEST(a_token_reaches_so_far_and_no_further)
{
  for (uint32_t w = 1; w < 30; w += 4) {
    struct rig r;
    rig_open_short_sighted(
      &r, suite_seed() + w, 2, (struct sight){ w, 0, 0 }, (struct cache_options){ .rows = 0 });
    struct row rows[2 * 120];
    for (uint32_t i = 0; i < 120; i++)
      rows[i] = (struct row){ 0, i, (i * 7 + 3) % TINY_V }, rows[120 + i] = rows[i],
      rows[120 + i].sequence = 1;
    rows[120].token =
      (rows[0].token + 1) % TINY_V; /* the first token of the second text is another */
    struct pass *p;
    ck_assert(model_forward(&r.e, &r.t.lm, r.s, rows, 240, &p, &r.why));
    size_t last = 0;
    for (size_t i = 0; i < 120; i++)
      if (memcmp(p->hidden + i * TINY_D, p->hidden + (120 + i) * TINY_D, TINY_D * sizeof(float))
        != 0)
        last = i;
    ck_assert_uint_eq(last, TINY_LAYERS * (w - 1));
    pass_close(p), rig_close(&r);
  }
  /* a sink reaches every row behind it; the token behind the last sink is one like any other */
  for (uint32_t changed = 0; changed < 5; changed++) {
    struct rig r;
    enum { W = 6, S = 3 };
    rig_open_short_sighted(&r, suite_seed() + changed, 2, (struct sight){ W, S, 0 },
      (struct cache_options){ .page_rows = 1 });
    struct row rows[2 * 120];
    for (uint32_t i = 0; i < 120; i++)
      rows[i] = (struct row){ 0, i, (i * 7 + 3) % TINY_V }, rows[120 + i] = rows[i],
      rows[120 + i].sequence = 1;
    rows[120 + changed].token = (rows[changed].token + 1) % TINY_V;
    struct pass *p;
    ck_assert(model_forward(&r.e, &r.t.lm, r.s, rows, 240, &p, &r.why));
    for (size_t i = 0; i < 120; i++) {
      bool same =
        memcmp(p->hidden + i * TINY_D, p->hidden + (120 + i) * TINY_D, TINY_D * sizeof(float)) == 0;
      ck_assert_msg(same == (i < changed || (changed >= S && i > changed + TINY_LAYERS * (W - 1))),
        "token %u, row %zu", changed, i);
    }
    pass_close(p), rig_close(&r);
  }
}
END_TEST

/* two texts that share pages read on in one pass that is given up at each of its questions: lengths,
   counters and rows are as before, and the same pass, not given up, gives the bits of a naive one */
START_TEST(a_pass_that_is_given_up_leaves_the_cache_as_it_was)
{
  struct rig r;
  struct asker a;
  struct row rows[90];
  struct pass *p;
  float got[TINY_V], want[TINY_V];
  uint32_t id[60];
  size_t n = 0, last = 0;
  uint64_t seed = suite_seed();
  rig_open(&r, seed, 2, (struct cache_options){ .page_rows = 16 });
  for (uint32_t i = 0; i < 60; i++) id[i] = (uint32_t) (rnd(&seed) % TINY_V);
  for (uint32_t i = 0; i < 21; i++) rows[i] = (struct row){ 0, i, id[i] };
  ck_assert(model_forward(&r.e, &r.t.lm, r.s, rows, 21, &p, &r.why)), pass_close(p);
  ck_assert(store_fork(r.s, 0, 1, &r.why));
  for (uint32_t i = 21; i < 60; i++)
    for (uint32_t q = 0; q < 2; q++) rows[n++] = (struct row){ q, i, (id[i] + q) % TINY_V };
  shuffle(&seed, rows, n);
  struct counters before = r.c;
  asker_open(&a, 0), r.e.progress = &a.told;
  for (size_t at = 1; at <= (4 + 2) * TINY_LAYERS; at++) {
    asker_open(&a, at);
    ck_assert(!model_forward(&r.e, &r.t.lm, r.s, rows, n, &p, &r.why));
    ck_assert(a.asks == at && store_length(r.s, 0) == 21 && store_length(r.s, 1) == 21
      && memcmp(&before, &r.c, sizeof before) == 0);
  }
  asker_open(&a, 0);
  ck_assert(model_forward(&r.e, &r.t.lm, r.s, rows, n, &p, &r.why));
  r.e.progress = NULL;
  for (uint32_t q = 0; q < 2; q++) {
    for (size_t i = 0; i < n; i++)
      if (rows[i].sequence == q && rows[i].position == 59) last = i;
    ck_assert(model_logits(&r.e, &r.t.lm, p, &last, 1, got, &r.why));
    for (uint32_t i = 21; q == 1 && i < 60; i++) id[i] = (id[i] + 1) % TINY_V;
    size_t at = 59;
    ck_assert(model_evaluate(&r.e, &r.t.lm, r.plain, id, 60, &at, 1, want, &r.why));
    ck_assert_msg(memcmp(got, want, sizeof got) == 0, "sequence %u", q);
  }
  pass_close(p);
  rig_close(&r);
}
END_TEST
/* a first pass that was aborted leaves nothing to the fork that its sequence then becomes */
START_TEST(a_fork_onto_pages_of_an_aborted_pass_loses_none)
{
  struct rig r;
  rig_open(&r, suite_seed(), 2, (struct cache_options){ .page_rows = 16 });
  struct row rows[40];
  struct pass *p;
  for (uint32_t i = 0; i < 40; i++) rows[i] = (struct row){ 1, i, i % TINY_V };
  ck_assert(store_begin(r.s, rows, 40, &r.why)), store_abort(r.s);
  ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
  for (uint32_t i = 0; i < 20; i++) rows[i].sequence = 0;
  ck_assert(model_forward(&r.e, &r.t.lm, r.s, rows, 20, &p, &r.why)), pass_close(p);
  ck_assert(store_fork(r.s, 0, 1, &r.why));
  ck_assert_uint_eq(cache_look(r.s).pages_used, 2);
  store_clear(r.s);
  ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
  rig_close(&r);
}
END_TEST

START_TEST(a_window_is_set_or_refused_in_words)
{
  struct model_config c = { .n_layers = 4, .window = 9, .window_from = 2 };
  struct error why;
  ck_assert(config_set_window(&c, 5, 3, &why));
  for (uint32_t i = 0; i < 4; i++) ck_assert_uint_eq(config_window(&c, i), 5);
  ck_assert(
    !config_set_window(&c, 0, 3, &why) && strstr(why.text, "3 sinks without a window") != NULL);
  ck_assert(config_set_window(&c, 0, 0, &why) && config_window(&c, 3) == 0);
  c.learned_positions = true;
  ck_assert(!config_set_window(&c, 5, 1, &why) && strstr(why.text, "learned") != NULL);
  ck_assert(config_set_window(&c, 5, 0, &why) && c.window == 5);
}
END_TEST

/* a cache that grows takes what it lacks and moves nothing: keys lie where they were, and there is
 * never more memory than there are pages */
START_TEST(pages_never_move)
{
  struct tiny_rig r;
  tiny_open(&r, 8, 1);
  struct cache_options w = { .page_rows = 4 };
  struct store *s = cache_open(&r.m, &r.t.lm.config, 2, &w, &r.why);
  static const char *first[TINY_CONTEXT];
  static float key[TINY_CONTEXT];
  size_t grown = 0, pages = 0;
  for (uint32_t at = 0; at < 120; at++) {
    struct pass *p;
    struct row rows[2] = { { 0, at, at % TINY_V }, { 1, at, (at + 3) % TINY_V } };
    ck_assert_msg(model_forward(&r.e, &r.t.lm, s, rows, 2, &p, &r.why), "%s", r.why.text);
    pass_close(p);
    struct kv_view v;
    struct row next = { 0, at + 1, 0 };
    ck_assert(store_begin(s, &next, 1, &r.why));
    store_view(s, 1, 0, &v);
    for (uint32_t t = 0; t <= at; t++) {
      const char *here = v.page[t / 4] + v.key + t % 4 * v.row_bytes;
      if (t == at) first[t] = here, memcpy(&key[t], here, sizeof *key);
      ck_assert(first[t] == here && memcmp(&key[t], here, sizeof *key) == 0);
    }
    store_abort(s);
    struct cache_state state = cache_look(s);
    grown += state.pages > pages, pages = state.pages;
    ck_assert_uint_eq(r.m.of[MEMORY_CACHE].live, state.bytes);
    ck_assert_uint_eq(r.m.of[MEMORY_CACHE].peak, state.bytes);
  }
  ck_assert(grown > 4 && grown < 10 && pages >= 60);
  store_close(s), tiny_close(&r);
}
END_TEST

/* what a row sees, and how long a text may be, is the cache's: two caches of one model differ, and the
 * model is not written to */
static void last_logits(struct tiny_rig *r, struct store *s, size_t n, float *logits)
{
  struct row rows[40];
  struct pass *p;
  for (uint32_t i = 0; i < n; i++) rows[i] = (struct row){ 0, i, i * i % TINY_V };
  ck_assert_msg(model_forward(&r->e, &r->t.lm, s, rows, n, &p, &r->why), "%s", r->why.text);
  ck_assert(model_logits(&r->e, &r->t.lm, p, &(size_t){ n - 1 }, 1, logits, &r->why));
  pass_close(p);
}
START_TEST(a_window_and_a_context_are_the_caches_own)
{
  struct tiny_rig r;
  tiny_open(&r, 3, 1);
  struct model_config before = r.t.lm.config, other = before;
  struct cache_options narrow = { .set_window = true, .window = 5, .sinks = 2, .context = 33 };
  struct store *s = cache_open(&r.m, &r.t.lm.config, 1, &narrow, &r.why);
  struct store *all = cache_open(&r.m, &r.t.lm.config, 1, &(struct cache_options){ .rows = 0 }, &r.why);
  ck_assert(config_set_window(&other, 5, 2, &r.why));
  struct store *same = array_store_open(&r.m, &other, &r.why);
  ck_assert(s != NULL && all != NULL && same != NULL && s->n_positions == 33);
  ck_assert_int_eq(memcmp(&before, &r.t.lm.config, sizeof before), 0);
  struct store *whole = cache_open(&r.m, &r.t.lm.config, 1, &(struct cache_options){ .context = TINY_CONTEXT }, &r.why);
  ck_assert(whole != NULL && whole->n_positions == TINY_CONTEXT);
  store_close(whole);
  float x[4][TINY_V];
  last_logits(&r, s, 33, x[0]), last_logits(&r, all, 33, x[1]);
  last_logits(&r, same, 33, x[2]), last_logits(&r, r.s, 33, x[3]);
  ck_assert(memcmp(x[0], x[2], sizeof *x) == 0 && memcmp(x[1], x[3], sizeof *x) == 0);
  ck_assert(memcmp(x[0], x[1], sizeof *x) != 0);
  struct row beyond = { .position = 33 };
  struct pass *p;
  ck_assert(!model_forward(&r.e, &r.t.lm, s, &beyond, 1, &p, &r.why)
    && strstr(r.why.text, "beyond the context") != NULL);
  store_close(s);
  other.window = 4; /* and 0 takes a window away that the model has */
  s = cache_open(&r.m, &other, 1, &(struct cache_options){ .set_window = true }, &r.why);
  last_logits(&r, s, 33, x[0]);
  ck_assert_int_eq(memcmp(x[0], x[1], sizeof *x), 0);
  static const struct {
    struct cache_options w;
    const char *words;
  } bad[] = { { { .context = TINY_CONTEXT + 1 }, "a context of 301 positions; wanted: at most 300" },
    { { .sinks = 3 }, "3 sinks without a window" },
    { { .set_window = true, .sinks = 3 }, "3 sinks without a window" },
    { { .set_window = true, .window = 5, .sinks = 1 }, "learned" } };
  for (size_t i = 0; i < 4; i++) {
    r.t.lm.config.learned_positions = i == 3;
    ck_assert(cache_open(&r.m, &r.t.lm.config, 1, &bad[i].w, &r.why) == NULL);
    ck_assert_msg(strstr(r.why.text, bad[i].words) != NULL, "%s", r.why.text);
  }
  ck_assert(!store_fork(same, 0, 0, &r.why) && strstr(r.why.text, "cannot fork") != NULL);
  struct cache_state none = cache_look(same); /* a store of another kind has no pages */
  ck_assert(none.pages == 0 && none.bytes == 0 && none.page_rows == 0);
  ck_assert(cache_look(all).pages > 0);
  store_close(s), store_close(same), store_close(all), tiny_close(&r);
}
END_TEST

/* ---- the loop with a memory is the loop without one, at every step, and may change its mind
 * between two */
struct witness {
  float *logits;
  size_t v, steps, turn;
  struct generate_options want;
  const struct store *s;
  size_t n_prompt;
};
static bool see(void *ctx, const struct step *now)
{
  struct witness *w = ctx;
  memcpy(w->logits + w->steps++ * w->v, now->logits, w->v * sizeof *now->logits);
  ck_assert_uint_eq(store_length(w->s, 0), now->length);
  if (w->turn > 0 && now->number % w->turn == 0)
    w->want.recall = w->want.recall == NULL ? store_match_prefix : NULL;
  return true;
}
static const char *const own_model[] = { "gpt2", "gpt2-bare", "llama", "llama-stretched", "mistral",
  "qwen2", "qwen3", "gpt2-unscaled", "llama-linear", "llama-yarn", "qwen2-yarn", "qwen3-layers",
  "families/gemma3", "families/cohere2", "families/falcon" };
enum { OWN = sizeof own_model / sizeof *own_model, WRITE = 40 };
START_TEST(to_remember_changes_no_bit)
{
  char path[200];
  snprintf(path, sizeof path, "tests/golden/%s", own_model[_i]);
  struct memory m = { .fail_at = 0 };
  struct counters c = { 0 };
  struct error why;
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct model *lm = model_open(&m, path, &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  uint64_t seed = suite_seed() + (uint64_t) _i;
  size_t v = lm->config.vocab_size, p = 1 + rnd(&seed) % 9,
         g = lm->config.n_positions - p < WRITE ? lm->config.n_positions - p + 1 : WRITE;
  uint32_t prompt[16];
  for (size_t i = 0; i < p; i++) prompt[i] = (uint32_t) (rnd(&seed) % v);
  enum { WAYS = 9 };
  float *logits[WAYS];
  struct ids text[WAYS] = { { NULL, 0, 0 } };
  for (size_t k = 0; k < WAYS; k++) { /* naive in both stores, remembering, changing its mind after
                                         every step and every third; the same in chunks */
    struct store *s = k == 0
      ? array_store_open(&m, &lm->config, &why)
      : cache_open(&m, &lm->config, 1, &(struct cache_options){ .rows = 0 }, &why);
    logits[k] = calloc(g * v, sizeof(float));
    struct witness w = { .logits = logits[k], .v = v, .turn = k == 3 ? 1 : k == 4 ? 3 : 0, .s = s };
    size_t chunk = k < 5 ? 0 : k < 8 ? k - 4 : 1 + rnd(&seed) % 7;
    w.want = (struct generate_options){ .max_new_tokens = g,
      .on_step = see,
      .ctx = &w,
      .recall = k >= 2 && k != 7 ? store_match_prefix : NULL,
      .chunk = chunk };
    struct continuation out;
    c = (struct counters){ 0 };
    ck_assert_msg(
      generate(&(struct generate_context){ &e, lm, s, &m }, prompt, p, &w.want, &out, &why), "%s",
      why.text);
    text[k] = out.text;
    ck_assert_uint_eq(store_length(s, 0), p + g - 1);
    if (k < 2 || k == 7) ck_assert_uint_eq(c.rows, g * p + g * (g - 1) / 2);
    if (k == 7) { /* naive, in chunks of three: passes of a step, rounded up */
      uint64_t passes = 0;
      for (size_t i = 0; i < g; i++) passes += (p + i + chunk - 1) / chunk;
      ck_assert_uint_eq(c.passes, passes);
    } else if (k >= 2 && k != 3 && k != 4)
      ck_assert_uint_eq(c.passes, (chunk > 0 ? (p + chunk - 1) / chunk : 1) + g - 1);
    if (k == 2 || k == 5 || k == 6 || k == 8) {
      ck_assert_uint_eq(c.rows, p + g - 1);
      ck_assert_uint_eq(c.kv_rows_recomputed, 0);
      if (lm->config.window == 0)
        ck_assert_uint_eq(c.qk_pairs, p * (p + 1) / 2 + (g - 1) * p + g * (g - 1) / 2);
    }
    if ((k == 3 || k == 4) && g > 6)
      ck_assert(c.rows > p + g - 1 && c.rows < g * p + g * (g - 1) / 2);
    ck_assert(text[k].n == text[0].n
      && memcmp(text[k].id, text[0].id, text[0].n * sizeof *text[0].id) == 0);
    ck_assert_msg(
      memcmp(logits[k], logits[0], g * v * sizeof(float)) == 0, "%s: way %zu differs", path, k);
    store_close(s);
  }
  for (int k = 0; k < WAYS; k++) free(logits[k]), ids_free(&m, &text[k]);
  model_close(&m, lm);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* the built-in model to the last position of its context: one pass over everything, row by row, and
 * in random pieces */
START_TEST(the_whole_context_row_by_row)
{
  struct memory m = { .fail_at = 0 };
  struct counters c = { 0 };
  struct error why;
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct model *lm = model_open(&m, "models/pocket", &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  uint64_t seed = suite_seed();
  size_t n = lm->config.n_positions, d = lm->config.d_model;
  struct row *rows = calloc(n, sizeof *rows);
  float *want = calloc(n * d, sizeof *want);
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row){ 0, (uint32_t) i, (uint32_t) (rnd(&seed) % lm->config.vocab_size) };
  struct store *plain = array_store_open(&m, &lm->config, &why);
  struct pass *p;
  ck_assert(model_forward(&e, lm, plain, rows, n, &p, &why));
  memcpy(want, p->hidden, n * d * sizeof *want), pass_close(p);
  for (int way = 0; way < 2; way++) {
    struct store *s =
      cache_open(&m, &lm->config, 1, &(struct cache_options){ .page_rows = way ? 64 : 16 }, &why);
    for (size_t i = 0, some; i < n; i += some) {
      some = way == 0 ? 1 : 1 + rnd(&seed) % 70;
      if (some > n - i) some = n - i;
      ck_assert_msg(model_forward(&e, lm, s, rows + i, some, &p, &why), "%s", why.text);
      ck_assert_msg(
        memcmp(p->hidden, want + i * d, some * d * sizeof *want) == 0, "row %zu differs", i);
      pass_close(p);
    }
    ck_assert(!model_forward(&e, lm, s, &(struct row){ 0, (uint32_t) n, 0 }, 1, &p, &why)
      && strstr(why.text, "beyond the context") != NULL);
    store_close(s);
  }
  store_close(plain), model_close(&m, lm);
  free(rows), free(want);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* what is kept of another text is only what fits */
START_TEST(a_second_text_keeps_what_it_shares_with_the_first)
{
  struct rig r;
  rig_open(&r, suite_seed() + 7, 1, (struct cache_options){ .rows = 0 });
  struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m },
                          naive = { &r.e, &r.t.lm, r.plain, &r.m };
  uint64_t seed = suite_seed();
  uint32_t prompt[30] = { 0 };
  for (int round = 0; round < 60; round++) {
    size_t n = 1 + rnd(&seed) % 29, same = 0;
    for (size_t i = round ? rnd(&seed) % n : 0; i < n; i++)
      prompt[i] = (uint32_t) (rnd(&seed) % TINY_V);
    struct continuation a, b;
    struct generate_options want = { .max_new_tokens = 5, .recall = store_match_prefix };
    size_t stored = store_length(r.s, 0);
    while (same < n - 1 && same < stored && store_tokens(r.s, 0)[same] == prompt[same])
      same++;
    r.c = (struct counters){ 0 };
    ck_assert(generate(&g, prompt, n, &want, &a, &r.why));
    ck_assert_uint_eq(r.c.rows, n + 4 - same);
    ck_assert(
      generate(&naive, prompt, n, &(struct generate_options){ .max_new_tokens = 5 }, &b, &r.why));
    ck_assert(
      a.text.n == b.text.n && memcmp(a.text.id, b.text.id, a.text.n * sizeof *a.text.id) == 0);
    continuation_free(&r.m, &a), continuation_free(&r.m, &b);
  }
  rig_close(&r);
}
END_TEST

/* ---- which rows are computed again: a second book, through crops, forks and aborted passes */
struct memo {
  uint32_t token[LONG];
  size_t length, computed;
};
START_TEST(what_is_computed_again_is_known)
{
  uint64_t seed = suite_seed() + (uint64_t) _i;
  struct rig r;
  struct memo memo[3] = { { .length = 0 } };
  size_t again = 0, forks = 0, aborted = 0, within = 0;
  rig_open(&r, seed, 3, (struct cache_options){ .page_rows = 4 });
  uint32_t n_sequences = _i % 2 ? 3 : 1; /* in the array store there is one text, in order */
  struct store *s = _i % 2 ? r.s : array_store_open(&r.m, &r.t.lm.config, &r.why);
  for (int round = 0; round < 3000; round++) {
    uint32_t a = (uint32_t) (rnd(&seed) % n_sequences), b = (uint32_t) (rnd(&seed) % 3);
    struct row rows[3 * 12];
    uint32_t id[LONG];
    size_t n = 0, want = 0, cut;
    switch (rnd(&seed) % 5) {
    case 0:
      cut = rnd(&seed) % (memo[a].length + 3); /* sometimes more than there is */
      store_crop(s, a, cut);
      if (cut < memo[a].length) memo[a].length = cut;
      break;
    case 1: /* what follows knows what counts, and not what was cropped away */
      if (a == b || _i % 2 == 0) break;
      store_crop(s, b, 0), memo[b].length = 0;
      hold(store_fork(s, a, b, &r.why));
      memo[b] = memo[a], memo[b].computed = memo[b].length,
      forks += memo[a].computed > memo[a].length;
      break;
    case 2:
      for (size_t i = 0; i < LONG; i++) id[i] = i < memo[a].length ? memo[a].token[i] : 0;
      if (memo[a].length > 0) id[rnd(&seed) % memo[a].length] ^= (uint32_t) (rnd(&seed) % 2);
      cut = 0, n = rnd(&seed) % LONG;
      while (cut < n && cut < memo[a].length && id[cut] == memo[a].token[cut]) cut++;
      hold(store_match_prefix(s, a, id, n) == cut);
      memo[a].length = cut;
      break;
    default:
      for (uint32_t q = 0; q < n_sequences; q++) {
        size_t take = rnd(&seed) % 3 ? rnd(&seed) % 12 : 0;
        bool known = true;
        for (size_t t = memo[q].length; t < memo[q].length + take && t < LONG; t++) {
          rows[n] = (struct row){ q, (uint32_t) t, (uint32_t) (rnd(&seed) % 9 == 0) };
          known = known && t < memo[q].computed && memo[q].token[t] == rows[n].token;
          want += known, n++;
        }
      }
      if (n == 0) break;
      if (_i % 2) shuffle(&seed, rows, n);
      if (!store_begin(s, rows, n, &r.why)) ck_abort_msg("%s", r.why.text);
      if (s->rows_recomputed != want)
        ck_abort_msg("round %d: %zu rows again, not %zu", round, s->rows_recomputed, want);
      again += want;
      if (rnd(&seed) % 4 == 0) {
        store_abort(s), aborted++;
        break;
      }
      store_commit(s);
      for (uint32_t q = 0; q < n_sequences; q++) {
        size_t end = memo[q].length, old = memo[q].computed;
        bool differs = false;
        for (size_t t = 0; t < n; t++) end += rows[t].sequence == q;
        for (size_t t = 0; t < n; t++) {
          size_t at = rows[t].position;
          if (rows[t].sequence != q) continue;
          differs = differs || at >= old || memo[q].token[at] != rows[t].token;
          memo[q].token[at] = rows[t].token;
        }
        if (differs)
          memo[q].computed = end;
        else
          within += end > memo[q].length && end < old;
        memo[q].length = end;
      }
    }
    for (uint32_t q = 0; q < n_sequences; q++) {
      if (store_length(s, q) != memo[q].length) ck_abort_msg("round %d, sequence %u", round, q);
      if (memo[q].length < LONG / 2) continue;
      store_crop(s, q, memo[q].length = rnd(&seed) % 20);
    }
  }
  ck_assert(again > 500 && aborted > 100 && within > 20 && (_i % 2 == 0 || forks > 50));
  store_clear(s);
  for (uint32_t q = 0; q < n_sequences; q++) ck_assert_uint_eq(store_length(s, q), 0);
  ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
  if (s != r.s) store_close(s);
  rig_close(&r);
}
END_TEST

/* ---- a crop as far back as rows are there keeps them; one row further, all is forgotten */
START_TEST(a_crop_reaches_back_to_the_first_row_that_is_there)
{
  uint64_t seed = suite_seed() + 3;
  unsigned kept = 0, forgotten = 0;
  for (int round = 0; round < 120; round++) {
    struct rig r;
    uint32_t w = 1 + (uint32_t) (rnd(&seed) % 12),
             sinks = round % 3 ? 0 : (uint32_t) (rnd(&seed) % 6);
    size_t page = (size_t) 1 << rnd(&seed) % 4, n = 20 + rnd(&seed) % 30,
           sink_pages = (sinks + page - 1) / page;
    rig_open_short_sighted(
      &r, seed, 1, (struct sight){ w, sinks, 0 }, (struct cache_options){ .page_rows = page });
    uint32_t ids[60];
    struct pass *p;
    for (uint32_t i = 0; i < 60; i++) ids[i] = (uint32_t) (rnd(&seed) % TINY_V);
    for (uint32_t i = 0; i < n; i++) {
      hold(model_forward(&r.e, &r.t.lm, r.s, &(struct row){ 0, i, ids[i] }, 1, &p, &r.why));
      pass_close(p);
    }
    /* sees its first row */
    size_t first = n - 1 >= w ? (n - w) / page : 0, back = first * page + w - 1;
    if (first <= sink_pages) back = 0;
    if (round % 2 && back > 0) back--;
    bool all = first > sink_pages && back < first * page + w - 1;
    if (back >= n) back = n - 1, all = false;
    size_t left = 0; /* who keeps what two texts share is told how much is left */
    if (round % 5 == 0)
      left = store_match_prefix(r.s, 0, ids, back);
    else
      store_crop(r.s, 0, back), left = store_length(r.s, 0);
    hold(left == store_length(r.s, 0));
    if (store_length(r.s, 0) != (all ? 0 : back))
      ck_abort_msg("round %d: window %u, pages of %zu, %u sinks, %zu rows cropped to %zu, not %zu",
        round, w, page, sinks, n, back, store_length(r.s, 0));
    kept += !all && first > sink_pages, forgotten += all;
    if (all) ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
    for (uint32_t i = (uint32_t) store_length(r.s, 0); i < n + 3; i++) {
      float want[TINY_V], got[TINY_V];
      size_t at = i, zero = 0;
      hold(model_forward(&r.e, &r.t.lm, r.s, &(struct row){ 0, i, ids[i] }, 1, &p, &r.why));
      hold(model_logits(&r.e, &r.t.lm, p, &zero, 1, got, &r.why));
      pass_close(p);
      if (i % 4) continue;
      hold(model_evaluate(&r.e, &r.t.lm, r.plain, ids, i + 1, &at, 1, want, &r.why));
      if (memcmp(got, want, sizeof got) != 0) ck_abort_msg("round %d, row %u differs", round, i);
    }
    store_clear(r.s);
    ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
    rig_close(&r);
  }
  ck_assert(kept > 25 && forgotten > 25);
}
END_TEST

/* ---- a fork or a pass refused in the middle: no page is lost, and the next try is right */
START_TEST(what_is_refused_in_the_middle_has_not_been)
{
  uint64_t seed = suite_seed() + 4;
  uint32_t ids[80];
  for (int i = 0; i < 80; i++) ids[i] = (uint32_t) (rnd(&seed) % TINY_V);
  unsigned failures[2] = { 0, 0 };
  for (uint64_t k = 1, whole = 0; !whole; k++) {
    struct rig r;
    struct pass *p = NULL;
    struct row rows[80];
    float want[TINY_V], got[TINY_V];
    rig_open_short_sighted(&r, seed, 3, (struct sight){ _i ? 9 : 0, 0, _i ? 2 : 0 },
      (struct cache_options){ .page_rows = 4 });
    for (uint32_t i = 0; i < 30; i++) rows[i] = (struct row){ 0, i, ids[i] };
    for (uint32_t i = 0; i < 30; i += 10) {
      hold(model_forward(&r.e, &r.t.lm, r.s, rows + i, 10, &p, &r.why));
      pass_close(p);
    }
    struct cache_state before = cache_look(r.s), after;
    /* of eight pages the near-sighted layer has let three go */
    size_t one = 2 * TINY_KV * TINY_HD * 4 * sizeof(float);
    hold(before.pages_used == (_i ? 13 : 8) && before.bytes_used == (_i ? 2 * 8 + 5 : 3 * 8) * one);
    hold(before.bytes >= before.bytes_used && before.pages >= before.pages_used);
    bool ok[2];
    r.m.fail_at = r.m.all.requests + k;
    ok[0] = store_fork(r.s, 0, 1, &r.why);
    if (!ok[0]) {
      r.m.fail_at = 0, failures[0]++, after = cache_look(r.s);
      hold(store_length(r.s, 1) == 0 && memcmp(&after, &before, sizeof after) == 0);
      hold(store_fork(r.s, 0, 1, &r.why));
    }
    hold(store_length(r.s, 1) == 30);
    before = cache_look(r.s);
    hold(before.bytes_copied == 0);
    size_t n = 0; /* both go on, and one that has nothing yet */
    for (uint32_t i = 30; i < 50; i++)
      for (uint32_t q = 0; q < 2; q++) rows[n++] = (struct row){ q, i, ids[i + 20 * q] };
    for (uint32_t i = 0; i < 11; i++) rows[n++] = (struct row){ 2, i, ids[i] };
    ok[1] = model_forward(&r.e, &r.t.lm, r.s, rows, n, &p, &r.why);
    if (!ok[1]) {
      r.m.fail_at = 0, failures[1]++, after = cache_look(r.s);
      hold(store_length(r.s, 0) == 30 && store_length(r.s, 1) == 30 && store_length(r.s, 2) == 0);
      hold(after.pages_used == before.pages_used && after.bytes_copied == before.bytes_copied);
      hold(model_forward(&r.e, &r.t.lm, r.s, rows, n, &p, &r.why));
    }
    r.m.fail_at = 0;
    for (uint32_t q = 0; q < 2; q++) {
      size_t at = 38 + q, last = 49;
      uint32_t text[50];
      for (int i = 0; i < 50; i++) text[i] = i < 30 ? ids[i] : ids[(uint32_t) i + 20 * q];
      hold(model_logits(&r.e, &r.t.lm, p, &at, 1, got, &r.why));
      hold(model_evaluate(&r.e, &r.t.lm, r.plain, text, 50, &last, 1, want, &r.why));
      if (memcmp(got, want, sizeof got) != 0)
        ck_abort_msg("request %d, sequence %u differs", (int) k, q);
    }
    pass_close(p);
    hold(cache_look(r.s).bytes_copied == 2 * 2 * TINY_LAYERS * TINY_KV * TINY_HD * sizeof(float));
    store_clear(r.s);
    hold(cache_look(r.s).pages_used == 0);
    whole = ok[0] && ok[1];
    rig_close(&r);
  }
  ck_assert(failures[0] > 0 && failures[1] > 8);
}
END_TEST

/* ---- whatever is refused, at each request for memory or at a limit, has not been: the caches of two
   rigs have the same life, but one of them refuses something in the middle. It looks the same
   after the refusal as before, and then like its twin: what can be taken back, what is known of old
   tokens, pages and bits */
enum { TEXT = 48, ENDINGS = 4 };
static void read_on(struct rig *r, uint32_t q, size_t n, float *logits)
{
  struct row row[TEXT];
  struct pass *p;
  for (size_t i = 0; i < n; i++) {
    uint32_t at = (uint32_t) (store_length(r->s, q) + i);
    row[i] = (struct row){ q, at, (7 * at + at / 3 + q % 2) % TINY_V };
  }
  hold_msg(model_forward(&r->e, &r->t.lm, r->s, row, n, &p, &r->why), "%s", r->why.text);
  if (logits != NULL) hold(model_logits(&r->e, &r->t.lm, p, &(size_t){ n - 1 }, 1, logits, &r->why));
  pass_close(p);
}
struct cache_looks {
  size_t length[4], used, bytes_used, copied;
  struct counters c;
};
static struct cache_looks looks_of(const struct rig *r)
{
  struct cache_state s = cache_look(r->s);
  struct cache_looks x = { .used = s.pages_used, .bytes_used = s.bytes_used,
    .copied = s.bytes_copied, .c = r->c };
  for (uint32_t q = 0; q < 4; q++) x.length[q] = store_length(r->s, q);
  return x;
}
static void first_half(struct rig *r, int kind)
{
  static const struct sight sight[] = { { 0, 0, 0 }, { 9, 0, 0 }, { 9, 2, 2 }, { 6, 5, 0 }, { 9, 0, 2 } };
  rig_open_short_sighted(r, 5, 4, sight[kind],
    (struct cache_options){ .rows = 60, .page_rows = 4, .pass = kind == 1 ? 12 : 0 });
  if (kind == 4) ck_assert_ptr_nonnull(r->e.pool = pool_open(&r->m, 2, &r->why)); /* it keeps memory */
  for (int i = 0; i < 2; i++) read_on(r, 0, 10, NULL);
  read_on(r, 0, 2, NULL);
  hold(store_fork(r->s, 0, 1, &r->why));
  read_on(r, 1, 3, NULL), read_on(r, 2, 6, NULL), read_on(r, 0, 4, NULL);
  read_on(r, 3, 5, NULL), store_crop(r->s, 3, 0); /* its tokens are known */
}
static void second_half(struct rig *r, int ending, float logits[5][TINY_V])
{
  if (ending == 1) store_crop(r->s, 0, 23), store_crop(r->s, 1, 23), store_crop(r->s, 2, 1);
  if (ending == 2) ck_assert(store_fork(r->s, 1, 3, &r->why)), store_crop(r->s, 1, 0);
  if (ending == 3) read_on(r, 3, 6, logits[4]);
  for (uint32_t q = 0; q < 4; q++) read_on(r, q, q == 1 ? 5 : 2, logits[q]);
}
enum { PASSES = 4, FORKS = 1, LIMITS = 12 };
/* the first PASSES + FORKS can only be refused memory */
static bool attempt(struct rig *r, int what)
{
  static const struct {
    struct row from;
    size_t n, also; /* rows of its sequence, and of sequence 3 */
  } pass[] = { { { 0, 26, 1 }, 1, 0 }, { { 0, 26, 1 }, 7, 5 }, { { 2, 6, 1 }, 12, 0 }, { { 3, 0, 1 }, 9, 0 },
    [PASSES + FORKS] = { { 0, 26, 1 }, 90, 0 }, { { 1, 25, 1 }, 33, 35 }, { { 0, 27, 1 }, 1, 1 },
    { { 0, 25, 1 }, 1, 1 }, { { 0, 26, TINY_V }, 1, 0 }, { { 4, 0, 1 }, 1, 1 }, { { 0, 26, 1 }, 0, 0 },
    { { 0, UINT32_MAX, 1 }, 1, 1 }, { { 0, 26, 1 }, 1, 1 } };
  struct row row[100];
  struct pass *p;
  size_t n = 0;
  if (what == PASSES) return store_fork(r->s, 0, 3, &r->why);
  if (what == PASSES + FORKS + 9) return store_fork(r->s, 0, 1, &r->why);
  if (what == PASSES + FORKS + 10) return store_fork(r->s, 0, 4, &r->why);
  if (what == PASSES + FORKS + 11) return store_fork(r->s, 3, 0, &r->why);
  for (uint32_t i = 0; i < pass[what].n; i++) {
    row[n] = pass[what].from, row[n++].position += i;
    row[n - 1].token = i + 1 == pass[what].n ? row[n - 1].token : i % TINY_V;
  }
  if (what == PASSES + FORKS + 8) row[n++] = row[0]; /* given twice */
  for (uint32_t i = 0; i < pass[what].also; i++) row[n++] = (struct row){ 3, i, (7 * i) % TINY_V };
  bool ok = model_forward(&r->e, &r->t.lm, r->s, row, n, &p, &r->why);
  if (ok) pass_close(p);
  return ok;
}
START_TEST(what_is_refused_has_not_been)
{
  unsigned refused[2] = { 0, 0 };
  float want[ENDINGS][5][TINY_V], got[5][TINY_V];
  struct cache_looks then[ENDINGS];
  memset(want, 0, sizeof want);
  for (int ending = 0; ending < ENDINGS; ending++) {
    struct rig twin;
    first_half(&twin, _i), second_half(&twin, ending, want[ending]);
    then[ending] = looks_of(&twin), rig_close(&twin);
  }
  for (int what = 0; what < PASSES + FORKS + LIMITS; what++)
    for (uint64_t k = 1, whole = 0; !whole; k++) {
      bool limit = what >= PASSES + FORKS;
      for (int ending = 0; ending < ENDINGS; ending++) {
        struct rig r;
        first_half(&r, _i);
        struct cache_looks before = looks_of(&r), after;
        uint64_t bytes = r.m.all.requested;
        if (!limit) r.m.fail_at = r.m.all.requests + k;
        whole = attempt(&r, what);
        if (!whole) {
          r.m.fail_at = 0, refused[limit]++, after = looks_of(&r);
          hold_msg(memcmp(&before, &after, sizeof after) == 0, "kind %d, what %d, request %d: %s", _i,
            what, (int) k, r.why.text);
          hold(r.m.all.requested - bytes < 1 << 24); /* not as many as a position may say */
          memset(got, 0, sizeof got), second_half(&r, ending, got), after = looks_of(&r);
          hold_msg(memcmp(got, want[ending], sizeof got) == 0
              && memcmp(&then[ending], &after, sizeof after) == 0,
            "kind %d, what %d, request %d, ending %d: %s", _i, what, (int) k, ending, r.why.text);
        }
        else hold_msg(!limit, "kind %d, what %d is not refused", _i, what);
        rig_close(&r);
      }
      whole = whole || limit;
    }
  ck_assert(refused[0] > (_i == 4 ? 20 : 40) * ENDINGS && refused[1] == LIMITS * ENDINGS);
}
END_TEST

/* ---- a pass that is given up gives back the pages that it was given: another text has room for
   as many rows as before */
START_TEST(a_pass_that_is_given_up_gives_its_pages_back)
{
  for (size_t k = 1;; k++) {
    struct rig r;
    struct asker a;
    asker_open(&a, k);
    rig_open(&r, 3, 3, (struct cache_options){ .rows = 16, .page_rows = 4 });
    read_on(&r, 0, 8, NULL), ck_assert(store_fork(r.s, 0, 2, &r.why));
    struct cache_looks before = looks_of(&r), after;
    struct row row[8];
    struct pass *p;
    for (uint32_t i = 0; i < 8; i++) row[i] = (struct row){ i % 2, i % 2 == 0 ? 8 + i / 2 : i / 2, i };
    r.e.progress = &a.told;
    bool ok = model_forward(&r.e, &r.t.lm, r.s, row, 8, &p, &r.why);
    r.e.progress = NULL, after = looks_of(&r);
    if (!ok) hold(memcmp(&before, &after, sizeof after) == 0);
    if (!ok) read_on(&r, 1, 8, NULL);
    else pass_close(p);
    rig_close(&r);
    if (ok) {
      ck_assert_uint_gt(k, 10);
      break;
    }
  }
}
END_TEST

/* ---- exactly the limit, and one beyond; a refusal repeated says the same again */
START_TEST(a_cache_is_full_at_its_last_page)
{
  struct rig r;
  struct row rows[60], two[2];
  struct pass *p;
  rig_open(&r, suite_seed(), 3, (struct cache_options){ .rows = 16, .page_rows = 4 });
  for (uint32_t i = 0; i < 60; i++) rows[i] = (struct row){ 0, i, i % TINY_V };
  for (int twice = 0; twice < 2; twice++) {
    ck_assert(!model_forward(&r.e, &r.t.lm, r.s, rows, 17, &p, &r.why));
    ck_assert_str_eq(r.why.text,
      "the cache holds 16 rows, of which 0 are taken; wanted: room for 20 more, in pages of 4");
    ck_assert(cache_look(r.s).pages_used == 0 && store_length(r.s, 0) == 0);
  }
  ck_assert(model_forward(&r.e, &r.t.lm, r.s, rows, 10, &p, &r.why)), pass_close(p);
  ck_assert(store_fork(r.s, 0, 1, &r.why) && store_fork(r.s, 0, 2, &r.why));
  /* three share the last page, and one is left: whoever goes on while another reads copies it */
  for (uint32_t q = 0; q < 2; q++) two[q] = (struct row){ q, 10, 1 + q };
  struct row all[3] = { { 0, 10, 1 }, { 1, 10, 2 }, { 2, 10, 3 } };
  for (int twice = 0; twice < 3; twice++) {
    ck_assert(!model_forward(&r.e, &r.t.lm, r.s, all, 3, &p, &r.why));
    ck_assert_str_eq(r.why.text,
      "the cache holds 16 rows, of which 12 are taken; wanted: room for 8 more, in pages of 4");
    ck_assert(!model_forward(&r.e, &r.t.lm, r.s, two, 2, &p, &r.why));
    ck_assert_str_eq(r.why.text,
      "the cache holds 16 rows, of which 12 are taken; wanted: room for 8 more, in pages of 4");
    ck_assert(cache_look(r.s).pages_used == 3 && cache_look(r.s).bytes_copied == 0);
  }
  store_crop(r.s, 2, 8);
  ck_assert_msg(model_forward(&r.e, &r.t.lm, r.s, two, 2, &p, &r.why), "%s", r.why.text),
    pass_close(p);
  ck_assert_uint_eq(cache_look(r.s).pages_used, 4);
  ck_assert_uint_eq(
    cache_look(r.s).bytes_copied, 2 * 2 * TINY_LAYERS * TINY_KV * TINY_HD * sizeof(float));
  rig_close(&r);
  /* the numbers of a look, and pages of a length that is wished for or not */
  static const size_t page[] = { 0, 1, 256 };
  for (int i = 0; i < 3; i++) {
    size_t each = page[i] == 0 ? 64 : page[i], pages = (TINY_CONTEXT + each - 1) / each;
    size_t bytes = 2 * TINY_LAYERS * TINY_KV * TINY_HD * sizeof(float) * each;
    rig_open(&r, 1, 2, (struct cache_options){ .page_rows = page[i], .preallocate = true });
    struct cache_state s = cache_look(r.s);
    ck_assert(s.page_rows == each && s.pages == 2 * pages && s.bytes == 2 * pages * bytes);
    ck_assert(s.pages_used == 0 && s.bytes_used == 0);
    ck_assert(model_forward(&r.e, &r.t.lm, r.s, rows, 5, &p, &r.why)), pass_close(p);
    s = cache_look(r.s);
    ck_assert(s.pages_used == (5 + each - 1) / each && s.bytes_used == s.pages_used * bytes);
    rig_close(&r);
  }
  struct memory m = { 0 };
  struct tiny t;
  struct error why;
  struct kv_format blocks = { "q8_0", WEIGHT_Q8_0, NULL };
  tiny_make(&t, 1);
  t.lm.config.head_dim = 31;
  for (int i = 0; i < 3; i++, t.lm.config.head_dim++) {
    struct store *s =
      cache_open(&m, &t.lm.config, 1, &(struct cache_options){ .format = &blocks }, &why);
    ck_assert_int_eq(s != NULL, i == 1);
    if (s == NULL)
      ck_assert_ptr_nonnull(
        strstr(why.text, i ? "q8_0 for a head_dim of 33; wanted: a multiple of 32" : "of 31;"));
    store_close(s);
  }
  ck_assert_uint_eq(m.all.live, 0);
  tiny_free(&t);
}
END_TEST

/* ---- blocks that are shared, in a model whose first layer sees 8 rows and whose others see all; pages of 4 rows */
static struct store *two_groups(struct tiny_rig *r, uint32_t sequences, struct cache_options w)
{
  r->t.lm.config.window = 8, r->t.lm.config.window_listed = true, r->t.lm.config.windowed[0] = 1;
  w.page_rows = 4;
  struct store *s = cache_open(&r->m, &r->t.lm.config, sequences, &w, &r->why);
  ck_assert_msg(s != NULL, "%s", r->why.text);
  return s;
}
static void read_rows(struct tiny_rig *r, struct store *s, uint32_t sequence, size_t n)
{
  for (size_t left = n, k; left > 0; left -= k) {
    struct row row[4];
    struct pass *p;
    k = left < 4 ? left : 4;
    for (size_t i = 0; i < k; i++) {
      uint32_t at = (uint32_t) (store_length(s, sequence) + i);
      row[i] = (struct row){ sequence, at, at * 7 % TINY_V };
    }
    ck_assert_msg(model_forward(&r->e, &r->t.lm, s, row, k, &p, &r->why), "%s", r->why.text);
    pass_close(p);
  }
}
START_TEST(a_block_is_whole_or_none)
{
  struct tiny_rig r;
  struct cache_block b, copy;
  tiny_open(&r, 5, 1);
  struct store *s = two_groups(&r, 1, (struct cache_options){ .rows = 0 });
  read_rows(&r, s, 0, 24); /* at the last pass, behind 20 rows, a row sees those from 13 on */
  for (size_t i = 0; i < 6; i++) ck_assert_int_eq(cache_block_of(s, 0, i, &b), i >= 3);
  ck_assert(cache_block_of(s, 0, 3, &b));
  cache_block_hold(s, &b);
  ck_assert(cache_block_in_use(s, &b));
  store_crop(s, 0, 0);
  ck_assert(!cache_block_in_use(s, &b)); /* nobody has it but who asks */
  size_t n = cache_block_bytes(s);
  unsigned char *one = malloc(n), *two = malloc(n);
  cache_block_get(s, &b, one);
  ck_assert(cache_block_make(s, one, &copy));
  cache_block_get(s, &copy, two);
  ck_assert(memcmp(one, two, n) == 0 && memcmp(one, one + n - n / 3, n / 3) != 0);
  cache_block_release(s, &b), cache_block_release(s, &copy);
  ck_assert_uint_eq(cache_look(s).pages_used, 0);
  free(one), free(two);
  store_close(s), tiny_close(&r);
}
END_TEST
START_TEST(the_tightest_group_counts)
{
  struct tiny_rig r;
  size_t has = 0;
  tiny_open(&r, 6, 1);
  struct store *s = two_groups(&r, 1, (struct cache_options){ .rows = 16, .pass = 1 }); /* 3 pages of the ring, and 4 */
  ck_assert(cache_could_hold(s, 16, 1, &has) && !cache_could_hold(s, 100, 16, &has) && has == 12);
  ck_assert(!cache_could_hold(s, 17, 1, &has) && has == 16);
  ck_assert_uint_eq(cache_lacks(s, &(struct cache_demand){ 0, 16 }, 1), 1);
  ck_assert(cache_fits(s, &(struct cache_demand){ 0, 12 }, 1) && !cache_fits(s, &(struct cache_demand){ 0, 16 }, 1));
  store_close(s);
  s = two_groups(&r, 2, (struct cache_options){ .rows = 8 });
  read_rows(&r, s, 0, 6);
  ck_assert(store_fork(s, 0, 1, &r.why)); /* who reads on copies a page, and there is none; who does not needs none */
  ck_assert_uint_eq(cache_lacks(s, &(struct cache_demand){ 0, 1 }, 1), 1);
  ck_assert_uint_eq(cache_lacks(s, &(struct cache_demand){ 0, 0 }, 1), 0);
  store_close(s);
  ck_assert(config_set_window(&r.t.lm.config, 8, 0, &r.why)); /* all layers: a page that others have does not become free */
  s = cache_open(&r.m, &r.t.lm.config, 2, &(struct cache_options){ .page_rows = 4, .rows = 12 }, &r.why);
  read_rows(&r, s, 0, 12);
  ck_assert_uint_eq(cache_lacks(s, &(struct cache_demand){ 0, 4 }, 1), 0);
  ck_assert(store_fork(s, 0, 1, &r.why));
  ck_assert_uint_eq(cache_lacks(s, &(struct cache_demand){ 0, 4 }, 1), 1);
  store_close(s), tiny_close(&r);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("cache");
  TCase *edges = tcase_create("edges");
  tcase_set_timeout(edges, 60);
  tcase_add_loop_test(edges, what_is_computed_again_is_known, 0, 4);
  tcase_add_test(edges, a_crop_reaches_back_to_the_first_row_that_is_there);
  tcase_add_loop_test(edges, what_is_refused_in_the_middle_has_not_been, 0, 2);
  tcase_add_loop_test(edges, what_is_refused_has_not_been, 0, 5);
  tcase_add_test(edges, a_pass_that_is_given_up_gives_its_pages_back);
  tcase_add_test(edges, a_cache_is_full_at_its_last_page);
  suite_add_tcase(s, edges);
  TCase *c = tcase_create("cache");
  tcase_add_loop_test(c, every_schedule_gives_the_bits_of_the_naive_pass, 0, SCHEDULES);
  tcase_add_test(c, a_fork_costs_nothing_until_it_is_written_to);
  tcase_add_test(c, the_last_of_those_who_share_needs_no_copy);
  tcase_add_test(c, a_window_keeps_a_ring);
  tcase_add_test(c, a_ring_is_a_mask);
  tcase_add_test(c, a_token_reaches_so_far_and_no_further);
  tcase_add_test(c, a_fork_onto_pages_of_an_aborted_pass_loses_none);
  tcase_add_test(c, a_pass_that_is_given_up_leaves_the_cache_as_it_was);
  tcase_add_test(c, a_window_is_set_or_refused_in_words);
  tcase_add_test(c, a_window_and_a_context_are_the_caches_own);
  tcase_add_test(c, pages_never_move);
  tcase_add_test(c, a_full_cache_says_how_much_it_has);
  tcase_add_loop_test(c, every_refused_request_is_survived, 0, 2);
  tcase_add_loop_test(c, to_remember_changes_no_bit, 0, OWN);
  tcase_add_test(c, the_whole_context_row_by_row);
  tcase_add_test(c, a_second_text_keeps_what_it_shares_with_the_first);
  suite_add_tcase(s, c);
  c = tcase_create("blocks");
  tcase_add_test(c, a_block_is_whole_or_none);
  tcase_add_test(c, the_tightest_group_counts);
  suite_add_tcase(s, c);
  return suite_run(s);
}
