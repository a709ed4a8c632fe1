/* Chapter 12: many texts in one scheduler, and each is the text that it would have been alone. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include "tiny.h"
#include "cache/keep.h"
#include "serving/scheduler.h"
#include "serving/prefix_file.h"
#include "sampling/sampling.h"
#include "kernels/kernels.h"

enum { MOST = 9, LONG = 40 };
/* so many schedules; one of SHARED has up to three workers */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { ROUNDS = 150, SHARED = 1 };
#else
enum { ROUNDS = 10000, SHARED = 16 };
#endif

/* a text that is asked for: when it comes, when it is cancelled (0: never), and what the watcher saw */
struct asked {
  uint32_t prompt[LONG];
  size_t n, arrives, cancelled;
  struct generate_options want;
  struct sampler dice, alone_dice;
  struct request r;
  struct continuation alone;
  size_t seen, before; /* tokens that were told, and before the newest pass */
  size_t found; /* rows that were found when it first got a slot */
  bool here, decoded, met; /* met: it has had a slot */
  struct house *house; /* where it may disturb others: at its token number meddles (0: at none) */
  size_t meddles;
};

/* a house of random size: model, window, cache, slots, rows in a pass */
struct house {
  struct tiny_rig rig;
  struct cache_options size;
  uint32_t slots;
  struct scheduler_options w;
  struct asked a[MOST];
  size_t n, left; /* left: texts that have not come yet */
  struct scheduler *s; /* while it serves */
};

static void come(struct house *h, struct asked *a)
{
  hold_msg(scheduler_submit(h->s, &a->r, a->prompt, a->n, &a->want, &h->rig.why), "%s", h->rig.why.text);
  a->here = true, h->left--;
}

/* in the middle of a pass, somebody cancels a text, perhaps this one, and others come */
static void meddle(struct house *h, size_t which)
{
  struct asked *a = &h->a[which % h->n];
  if (a->here && a->cancelled == 0) scheduler_cancel(h->s, &a->r), a->cancelled = SIZE_MAX;
  for (size_t i = 0; i < h->n; i++)
    if (!h->a[i].here && i % 2 == 0) come(h, &h->a[i]);
}

static bool told(void *ctx, const struct step *now)
{
  struct asked *a = ctx;
  hold_msg(now->number == a->seen + 1, "token %zu is told after %zu", now->number, a->seen);
  a->seen++;
  if (a->seen == a->meddles) meddle(a->house, a->seen + a->n);
  return true;
}

static void ask(struct house *h, struct asked *a, uint64_t *seed, uint64_t family)
{
  static const uint32_t end[1] = { 3 };
  size_t common = rnd(seed) % 30;
  a->n = 1 + rnd(seed) % (LONG - 12);
  for (size_t i = 0; i < a->n; i++) {
    uint64_t same = family + i;
    a->prompt[i] = (uint32_t) ((i < common ? rnd(&same) : rnd(seed)) % TINY_V);
  }
  a->arrives = rnd(seed) % 12;
  a->cancelled = rnd(seed) % 8 == 0 ? a->arrives + rnd(seed) % 12 : 0;
  a->want = (struct generate_options){ .max_new_tokens = rnd(seed) % 24, .on_step = told, .ctx = a };
  if (rnd(seed) % 3 == 0) a->want.eos = end, a->want.n_eos = 1;
  a->house = h, a->meddles = rnd(seed) % 6 == 0 ? 1 + rnd(seed) % 10 : 0;
  if (rnd(seed) % 2 == 0) return;
  struct sampler *both[2] = { &a->dice, &a->alone_dice };
  uint64_t draw = rnd(seed);
  for (int i = 0; i < 2; i++) {
    both[i]->s = sampling_default(), both[i]->s.temperature = 1.2, both[i]->seed = draw;
    hold(funnel_open(&both[i]->f, &h->rig.m, h->rig.e.k, TINY_V, &h->rig.why));
  }
  a->want.select = sampler_choose, a->want.select_ctx = &a->dice;
}

/* the text without company: one sequence, a usual cache, and the second sampler */
static void write_alone(struct house *h, struct asked *a)
{
  struct cache_options usual = { .format = h->size.format };
  struct store *s = cache_open(&h->rig.m, &h->rig.t.lm.config, 1, &usual, &h->rig.why);
  struct generate_context g = { &h->rig.e, &h->rig.t.lm, s, &h->rig.m };
  struct generate_options want = a->want;
  want.on_step = NULL, want.recall = store_match_prefix;
  if (want.select != NULL) want.select_ctx = &a->alone_dice;
  hold_msg(generate(&g, a->prompt, a->n, &want, &a->alone, &h->rig.why), "%s", h->rig.why.text);
  store_close(s);
}

static void build(struct house *h, uint64_t seed, bool tight)
{
  memset(h, 0, sizeof *h);
  tiny_make(&h->rig.t, seed % 7);
  h->rig.e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &h->rig.c };
  struct model_config *c = &h->rig.t.lm.config;
  c->n_positions = 64;
  if (rnd(&seed) % 3 == 0)
    hold(config_set_window(c, 5 + (uint32_t) (rnd(&seed) % 12), (uint32_t) (rnd(&seed) % 3), &h->rig.why));
  if (c->window > 0 && rnd(&seed) % 2 == 0) c->window_listed = true, c->windowed[0] = 2;
  h->slots = 1 + (uint32_t) (rnd(&seed) % 5);
  h->size.page_rows = (size_t) 1 << rnd(&seed) % 5;
  if (tight) h->size.rows = 64 + rnd(&seed) % 24;
  h->w.pass_rows = h->slots + rnd(&seed) % 20;
  h->w.share = rnd(&seed) % 4 != 0;
  h->w.in_batches = rnd(&seed) % 8 == 0;
  h->n = 1 + rnd(&seed) % MOST;
  uint64_t family = rnd(&seed);
  for (size_t i = 0; i < h->n; i++) ask(h, &h->a[i], &seed, family), write_alone(h, &h->a[i]);
}

static void demolish(struct house *h)
{
  for (size_t i = 0; i < h->n; i++) {
    funnel_close(&h->a[i].dice.f), funnel_close(&h->a[i].alone_dice.f);
    continuation_free(&h->rig.m, &h->a[i].alone);
  }
  store_close(h->rig.s);
  ck_assert_uint_eq(h->rig.m.all.live, 0);
  tiny_free(&h->rig.t);
}

/* what was promised about a pass: not too many rows; and whoever was one row away has its token now */
static void hold_promises(struct house *h, const struct scheduler *s, uint64_t rows)
{
  hold(s->counts.rows - rows <= h->w.pass_rows);
  size_t running = 0;
  bool waits = false;
  for (const struct request *r = s->line; r != NULL; r = r->next) {
    running += r->state == REQUEST_RUNNING;
    hold_msg(!waits || r->state == REQUEST_WAITING, "a text has no slot, and a younger one has");
    waits = r->state == REQUEST_WAITING;
  }
  hold(running <= h->slots);
  for (size_t i = 0; i < h->n; i++) {
    struct asked *a = &h->a[i];
    bool running_now = a->here && a->r.state == REQUEST_RUNNING;
    hold_msg(!a->decoded || !running_now || a->r.preempted > 0 || a->seen == a->before + 1, "text %zu had to wait", i);
    a->decoded = running_now && a->seen > 0, a->before = a->seen;
    if (!a->met && running_now) a->met = true, a->found = a->r.found;
    hold(!a->met || a->found == a->r.found);
    hold(a->cancelled != SIZE_MAX || a->r.state == REQUEST_ENDED);
  }
}

static void serve(struct house *h, struct scheduler *s)
{
  size_t step = 0;
  h->s = s, h->left = h->n;
  for (; h->left > 0 || !scheduler_idle(s); step++) {
    hold_msg(step < 4000, "nobody comes to an end");
    for (size_t i = 0; i < h->n; i++) {
      struct asked *a = &h->a[i];
      if (!a->here && a->arrives <= step) come(h, a);
      if (a->here && a->cancelled > 0 && a->cancelled == step) scheduler_cancel(s, &a->r);
    }
    uint64_t rows = s->counts.rows;
    hold_msg(scheduler_step(s, &h->rig.why), "%s", h->rig.why.text);
    hold_promises(h, s, rows);
  }
}

static void compare(const struct asked *a, size_t i)
{
  const struct ids *t = &a->r.q.c.text;
  if (a->r.q.c.ended == FINISH_CANCELLED)
    hold(a->cancelled > 0 && t->n <= a->alone.text.n);
  else {
    hold_msg(a->r.q.c.ended == a->alone.ended, "text %zu ended by %d, alone by %d: %s", i, a->r.q.c.ended, a->alone.ended, a->r.q.why.text);
    hold_msg(t->n == a->alone.text.n, "text %zu has %zu tokens, alone %zu", i, t->n, a->alone.text.n);
  }
  hold_msg(memcmp(t->id, a->alone.text.id, t->n * sizeof *t->id) == 0, "text %zu is another one", i);
}

/* every round a house of another kind; the counts say that what can happen did happen */
START_TEST(company_changes_no_text)
{
  const char *more = getenv("INCIPIT_ROUNDS");
  size_t rounds = more != NULL ? strtoul(more, NULL, 0) : ROUNDS;
  uint64_t seed = suite_seed() + 12, preempted = 0, found = 0, texts = 0;
  for (size_t i = 0; i < rounds; i++) {
    static struct house h;
    struct scheduler s;
    uint64_t now = rnd(&seed);
    build(&h, now, i % 4 != 0);
    h.rig.s = cache_open(&h.rig.m, &h.rig.t.lm.config, h.slots, &h.size, &h.rig.why);
    hold_msg(h.rig.s != NULL, "%s", h.rig.why.text);
    if (i % SHARED == 0) h.rig.e.pool = pool_open(&h.rig.m, 1 + (uint32_t) (now % 3), &h.rig.why);
    struct generate_context g = { &h.rig.e, &h.rig.t.lm, h.rig.s, &h.rig.m };
    hold_msg(scheduler_open(&s, &g, &h.w, &h.rig.why), "%s", h.rig.why.text);
    serve(&h, &s);
    for (size_t k = 0; k < h.n; k++) compare(&h.a[k], k), request_close(&s, &h.a[k].r);
    preempted += s.counts.preempted, found += s.counts.found, texts += h.n;
    scheduler_close(&s);
    ck_assert_uint_eq(cache_look(h.rig.s).pages_used, 0);
    pool_close(&h.rig.m, h.rig.e.pool);
    demolish(&h);
  }
  printf("%zu schedules, %lu texts, %lu preempted, %lu rows found\n", rounds, (unsigned long) texts, (unsigned long) preempted,
    (unsigned long) found);
  ck_assert(preempted > 0 && found > 0);
}
END_TEST

/* ---- the index by itself: pages of four rows, tokens that are typed, and rows that nobody looks at */
static void feed(struct tiny_rig *r, uint32_t sequence, const uint32_t *id, size_t n)
{
  struct row row[64];
  struct pass *p;
  size_t at = store_length(r->s, sequence);
  for (size_t i = 0; i < n; i++) row[i] = (struct row){ sequence, (uint32_t) (at + i), id[i] };
  ck_assert_msg(model_forward(&r->e, &r->t.lm, r->s, row, n, &p, &r->why), "%s", r->why.text);
  pass_close(p);
}
static void index_open(struct tiny_rig *r, struct prefix_index *x, uint32_t sequences)
{
  memset(r, 0, sizeof *r);
  tiny_make(&r->t, 5);
  r->e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &r->c };
  r->s = cache_open(&r->m, &r->t.lm.config, sequences, &(struct cache_options){ .page_rows = 4, .rows = 48 }, &r->why);
  ck_assert(r->s != NULL && prefix_open(x, r->s, &r->m, &r->why));
}
static const struct prefix_place root = { 0, 0 };

START_TEST(leaves_are_given_up_first_and_the_oldest_of_them)
{
  struct tiny_rig r;
  struct prefix_index x;
  struct prefix_place place;
  uint32_t id[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, other[8] = { 1, 2, 3, 4, 9, 9, 9, 9 };
  index_open(&r, &x, 4);
  feed(&r, 0, id, 12), feed(&r, 1, other, 8);
  struct prefix_place a = prefix_add(&x, root, id, 0, 0), b = prefix_add(&x, a, id + 4, 0, 1),
    c = prefix_add(&x, b, id + 8, 0, 2), d = prefix_add(&x, prefix_add(&x, root, other, 1, 0), other + 4, 1, 1);
  ck_assert(a.entry != 0 && b.entry != 0 && c.entry != 0 && d.entry != 0);
  ck_assert_uint_eq(x.kept, 4); /* the common page once */
  ck_assert(!prefix_evict(&x, false)); /* all are in block tables */
  store_crop(r.s, 0, 0), store_crop(r.s, 1, 0);
  ck_assert(prefix_evict(&x, false)); /* c: b was made before it, and is no leaf */
  ck_assert_uint_eq(prefix_adopt(&x, 2, id, 12, &place), 2);
  ck_assert_uint_eq(place.entry, b.entry);
  ck_assert_uint_eq(store_length(r.s, 2), 8);
  ck_assert_int_eq(memcmp(store_tokens(r.s, 2), id, 8 * sizeof *id), 0);
  ck_assert(prefix_evict(&x, false)); /* d: a leaf that nobody uses */
  ck_assert(!prefix_evict(&x, false));
  ck_assert_uint_eq(prefix_adopt(&x, 3, other, 8, &place), 1);
  store_crop(r.s, 2, 0), store_crop(r.s, 3, 0);
  ck_assert(prefix_evict(&x, false)); /* b, then a */
  ck_assert_uint_eq(prefix_adopt(&x, 2, id, 12, &place), 1);
  store_crop(r.s, 2, 0);
  ck_assert(prefix_evict(&x, false) && !prefix_evict(&x, true));
  ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
  prefix_close(&x);
  tiny_close(&r);
}
END_TEST

/* the number of an entry that was given up goes to another page; who remembers the old one gets nothing */
START_TEST(a_place_is_of_no_use_after_its_entry)
{
  struct tiny_rig r;
  struct prefix_index x;
  struct prefix_place place;
  uint32_t id[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, other[8] = { 9, 9, 9, 9, 5, 6, 7, 8 };
  index_open(&r, &x, 3);
  feed(&r, 0, id, 4);
  struct prefix_place a = prefix_add(&x, root, id, 0, 0);
  feed(&r, 1, id, 8); /* the same again, in pages of its own */
  struct prefix_place same = prefix_add(&x, root, id, 1, 0);
  ck_assert(same.entry == a.entry && same.born == a.born);
  store_crop(r.s, 0, 0);
  ck_assert(prefix_evict(&x, false));
  feed(&r, 2, other, 4);
  struct prefix_place b = prefix_add(&x, root, other, 2, 0);
  ck_assert(b.entry == a.entry && b.born != a.born);
  struct prefix_place c = prefix_add(&x, same, id + 4, 1, 1);
  ck_assert_uint_eq(c.entry, 0);
  store_crop(r.s, 0, 0);
  ck_assert_uint_eq(prefix_adopt(&x, 0, other, 8, &place), 1);
  prefix_close(&x);
  for (uint32_t i = 0; i < 3; i++) store_crop(r.s, i, 0);
  ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
  tiny_close(&r);
}
END_TEST

/* a text whose page in the index is gone has no further pages there: as first pages they would be wrong */
START_TEST(a_chain_that_is_cut_ends)
{
  struct tiny_rig r;
  struct prefix_index none;
  struct prefix_place place;
  struct scheduler s;
  struct request q;
  uint32_t id[6] = { 1, 2, 3, 4, 5, 6 };
  index_open(&r, &none, 2);
  prefix_close(&none);
  struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
  ck_assert(scheduler_open(&s, &g, &(struct scheduler_options){ .share = true }, &r.why));
  ck_assert(scheduler_submit(&s, &q, id, 6, &(struct generate_options){ .max_new_tokens = 20 }, &r.why));
  ck_assert(scheduler_step(&s, &r.why));
  ck_assert_uint_eq(s.index.kept, 1);
  ck_assert(prefix_evict(&s.index, true));
  while (!scheduler_idle(&s)) ck_assert(scheduler_step(&s, &r.why));
  ck_assert_uint_eq(s.index.kept, 0);
  ck_assert_uint_eq(prefix_adopt(&s.index, 0, q.q.c.text.id + 4, 8, &place), 0);
  request_close(&s, &q);
  scheduler_close(&s);
  tiny_close(&r);
}
END_TEST

/* does cache_fits say what the cache does? Forks share pages, so that copies count, and a window lets pages go */
START_TEST(what_fits_is_what_the_cache_takes)
{
  uint64_t seed = suite_seed() + 3;
  size_t yes = 0, no = 0;
  for (int round = 0; round < 300; round++) {
    struct tiny_rig r;
    memset(&r, 0, sizeof r);
    tiny_make(&r.t, 3);
    r.e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &r.c };
    struct cache_options w = { .page_rows = (size_t) 1 << rnd(&seed) % 4, .rows = 24 + rnd(&seed) % 40, .context = 60 };
    if (round % 3 == 0) w.set_window = true, w.window = 9;
    r.s = cache_open(&r.m, &r.t.lm.config, 4, &w, &r.why);
    ck_assert_msg(r.s != NULL, "%s", r.why.text);
    for (int step = 0; step < 40; step++) {
      uint32_t id[20] = { 0 }, q = (uint32_t) (rnd(&seed) % 4), other = (q + 1) % 4;
      struct cache_demand want = { q, 1 + rnd(&seed) % 20 };
      if (store_length(r.s, q) + want.rows > 60) want.rows = 0;
      struct row row[20];
      for (size_t i = 0; i < want.rows; i++) row[i] = (struct row){ q, (uint32_t) (store_length(r.s, q) + i), id[i] };
      bool fits = cache_fits(r.s, &want, 1);
      if (want.rows > 0) {
        bool taken = store_begin(r.s, row, want.rows, &r.why);
        hold_msg(taken == fits, "%zu rows for %u: %s", want.rows, q, r.why.text);
        if (taken) store_commit(r.s), yes++;
        else no++;
      }
      if (rnd(&seed) % 3 == 0) {
        store_crop(r.s, other, 0);
        hold(store_fork(r.s, q, other, &r.why));
      }
      if (rnd(&seed) % 3 == 0) store_crop(r.s, q, rnd(&seed) % 30);
    }
    tiny_close(&r);
  }
  ck_assert(yes > 1000 && no > 1000);
}
END_TEST

/* the index gives up as many pages as are lacking; if it has not so many, the text is not let in, and the index keeps them all */
START_TEST(pages_are_given_up_only_for_somebody_who_comes_in)
{
  uint32_t id[12], other[5] = { 9, 9, 9, 9, 9 }, large[40] = { 7, 7, 7 };
  for (uint32_t i = 0; i < 12; i++) id[i] = (i * 5 + 1) % TINY_V;
  for (int fits = 0; fits < 2; fits++) {
    struct tiny_rig r;
    struct prefix_index none;
    struct scheduler s;
    struct request q[3];
    index_open(&r, &none, 2); /* twelve pages of four rows */
    prefix_close(&none);
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    ck_assert(scheduler_open(&s, &g, &(struct scheduler_options){ .share = true, .pass_rows = 8 }, &r.why));
    struct generate_options one = { .max_new_tokens = 1 }, long_one = { .max_new_tokens = 20 };
    ck_assert(scheduler_submit(&s, &q[0], id, 12, &one, &r.why));
    while (!scheduler_idle(&s)) ck_assert(scheduler_step(&s, &r.why));
    ck_assert_uint_eq(s.index.kept, 3);
    ck_assert_uint_eq(prefix_spare(&s.index), 3);
    ck_assert(scheduler_submit(&s, &q[1], other, 5, &long_one, &r.why) && scheduler_step(&s, &r.why));
    ck_assert_uint_eq(s.index.kept, 4); /* and the newest is in use */
    ck_assert_uint_eq(prefix_spare(&s.index), 3);
    /* seven pages are free. A prompt of ten, with one for the other to grow, lacks four, and there are three; one of seven lacks one */
    ck_assert(scheduler_submit(&s, &q[2], large, fits ? 26 : 40, &one, &r.why));
    ck_assert(scheduler_step(&s, &r.why));
    ck_assert_int_eq(q[2].state, fits ? REQUEST_RUNNING : REQUEST_WAITING);
    ck_assert_uint_eq(prefix_spare(&s.index), fits ? 2 : 3);
    ck_assert(scheduler_step(&s, &r.why));
    ck_assert_uint_eq(prefix_spare(&s.index), fits ? 2 : 3);
    while (!scheduler_idle(&s)) ck_assert(scheduler_step(&s, &r.why));
    ck_assert(q[2].q.c.ended == FINISH_LENGTH && q[1].q.c.ended == FINISH_LENGTH);
    for (int i = 0; i < 3; i++) request_close(&s, &q[i]);
    scheduler_close(&s);
    tiny_close(&r);
  }
}
END_TEST

/* with a window, a text may have let go of a page above one that it uses: neither can be spared */
START_TEST(what_can_be_spared_is_what_can_be_given_up)
{
  uint64_t seed = suite_seed() + 8;
  size_t above = 0;
  for (int round = 0; round < 200; round++) {
    struct tiny_rig r;
    struct scheduler s;
    struct request q[4];
    memset(&r, 0, sizeof r);
    tiny_make(&r.t, 5);
    r.e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &r.c };
    r.s = cache_open(&r.m, &r.t.lm.config, 3, &(struct cache_options){ .page_rows = 4, .set_window = round % 3 != 0, .window = 7 }, &r.why);
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    ck_assert(r.s != NULL && scheduler_open(&s, &g, &(struct scheduler_options){ .share = true, .pass_rows = 9 }, &r.why));
    for (int i = 0; i < 4; i++) {
      uint32_t id[30];
      size_t n = 1 + rnd(&seed) % 30, common = rnd(&seed) % 30;
      for (size_t k = 0; k < n; k++) id[k] = (uint32_t) (k < common ? k % TINY_V : rnd(&seed) % TINY_V);
      ck_assert(scheduler_submit(&s, &q[i], id, n, &(struct generate_options){ .max_new_tokens = 4 + rnd(&seed) % 20 }, &r.why));
    }
    for (size_t n = rnd(&seed) % 12; n > 0; n--) ck_assert(scheduler_step(&s, &r.why));
    size_t spare = prefix_spare(&s.index), given = 0, unused = 0;
    for (size_t i = 1; i < s.index.n; i++) unused += s.index.entry[i].born != 0 && !cache_block_in_use(r.s, &s.index.entry[i].block);
    while (prefix_evict(&s.index, false)) given++;
    hold_msg(spare == given, "%zu to spare, %zu given up", spare, given);
    above += unused > spare;
    for (int i = 0; i < 4; i++) request_close(&s, &q[i]);
    scheduler_close(&s);
    tiny_close(&r);
  }
  ck_assert_uint_gt(above, 0);
}
END_TEST

/* what could never run is refused with both numbers, and what just fits runs to its end, also in a window */
START_TEST(a_text_for_which_the_cache_is_too_small_is_refused)
{
  uint32_t id[40] = { 1, 2, 3 };
  for (int window = 0; window < 2; window++) {
    struct tiny_rig r;
    struct scheduler s;
    struct request q[5];
    memset(&r, 0, sizeof r);
    tiny_make(&r.t, 5);
    r.e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &r.c };
    struct cache_options w = { .page_rows = 4, .rows = 32, .context = 100, .set_window = window == 1, .window = window == 1 ? 6 : 0 };
    r.s = cache_open(&r.m, &r.t.lm.config, 2, &w, &r.why);
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    ck_assert(r.s != NULL && scheduler_open(&s, &g, &(struct scheduler_options){ .share = true, .pass_rows = 8 }, &r.why));
    size_t live = r.m.all.live;
    struct generate_options want = { .max_new_tokens = window == 0 ? 24 : SIZE_MAX }, more = { .max_new_tokens = 24 };
    if (window == 0) {
      ck_assert(!scheduler_submit(&s, &q[0], id, 10, &more, &r.why));
      ck_assert_str_eq(r.why.text, "the prompt has 10 tokens, and with all that may follow it has 33 rows; the cache has room for 32");
      more.max_new_tokens = SIZE_MAX;
      ck_assert(!scheduler_submit(&s, &q[0], id, 10, &more, &r.why));
      ck_assert(strstr(r.why.text, " it has 100 rows;") != NULL);
      more.max_new_tokens = 0;
      ck_assert(!scheduler_submit(&s, &q[0], id, 33, &more, &r.why));
      ck_assert(scheduler_idle(&s) && q[0].state == REQUEST_ENDED && q[0].q.c.text.n == 0);
      ck_assert_uint_eq(r.m.all.live, live);
      request_close(&s, &q[0]);
    }
    for (int i = 0; i < 5; i++) ck_assert_msg(scheduler_submit(&s, &q[i], id, 9, &want, &r.why), "%s", r.why.text);
    for (int step = 0; !scheduler_idle(&s); step++) ck_assert(step < 2000 && scheduler_step(&s, &r.why));
    for (int i = 0; i < 5; i++) {
      ck_assert_msg(q[i].q.c.ended == FINISH_LENGTH, "%s", q[i].q.why.text);
      ck_assert_uint_eq(q[i].q.c.text.n, window == 0 ? 33 : 101);
      request_close(&s, &q[i]);
    }
    scheduler_close(&s);
    tiny_close(&r);
  }
}
END_TEST

/* a request that is refused has not been: the line and the accounts are as before, and the others get their texts */
START_TEST(a_refused_request_has_not_been)
{
  uint32_t id[40];
  struct tiny_rig r;
  struct prefix_index none;
  struct scheduler s;
  struct request q[3], extra;
  struct generate_options want = { .max_new_tokens = 6 };
  for (uint32_t i = 0; i < 40; i++) id[i] = i % TINY_V;
  index_open(&r, &none, 2);
  prefix_close(&none);
  struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
  ck_assert(scheduler_open(&s, &g, &(struct scheduler_options){ .share = true }, &r.why));
  for (int i = 0; i < 3; i++) ck_assert(scheduler_submit(&s, &q[i], id, 5, &want, &r.why));
  ck_assert(scheduler_step(&s, &r.why));
  size_t refused = 0;
  for (size_t at = 1;; at++) {
    uint64_t before = r.m.all.requests;
    size_t live = r.m.all.live;
    r.m.fail_at = before + at;
    bool ok = scheduler_submit(&s, &extra, id, 40, &want, &r.why);
    r.m.fail_at = 0;
    if (ok) break;
    refused++;
    ck_assert(s.line == &q[0] && q[0].next == &q[1] && q[1].next == &q[2] && q[2].next == NULL);
    ck_assert_uint_eq(r.m.all.live, live);
    ck_assert(extra.state == REQUEST_ENDED && extra.q.c.text.n == 0);
    request_close(&s, &extra);
  }
  ck_assert_uint_gt(refused, 1);
  ck_assert(q[2].next == &extra);
  while (!scheduler_idle(&s)) ck_assert(scheduler_step(&s, &r.why));
  for (int i = 1; i < 3; i++) ck_assert_int_eq(memcmp(q[i].q.c.text.id, q[0].q.c.text.id, 11 * sizeof *id), 0);
  ck_assert_int_eq(extra.q.c.ended, FINISH_LENGTH);
  for (int i = 0; i < 3; i++) request_close(&s, &q[i]);
  request_close(&s, &extra);
  scheduler_close(&s);
  tiny_close(&r);
}
END_TEST

/* a text in a slot, one that waits and one that is cancelled within a pass: it leaves, and its neighbours notice nothing */
struct meddler {
  struct scheduler *s;
  struct request *victim;
};
static bool cancel_at_two(void *ctx, const struct step *now)
{
  struct meddler *of = ctx;
  if (now->number == 2) scheduler_cancel(of->s, of->victim);
  return true;
}
START_TEST(a_text_may_be_cancelled_in_any_state)
{
  uint32_t id[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 1, 2, 3 } };
  for (int victim = 0; victim < 4; victim++) {
    struct tiny_rig r;
    struct prefix_index none;
    struct scheduler s;
    struct request q[4];
    struct ids alone[3];
    index_open(&r, &none, 3);
    prefix_close(&none);
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    ck_assert(scheduler_open(&s, &g, &(struct scheduler_options){ .share = false }, &r.why));
    struct generate_options want = { .max_new_tokens = 6 }, told = want;
    for (int i = 0; i < 3; i++) {
      ck_assert(scheduler_submit(&s, &q[0], id[i], 4, &want, &r.why));
      while (!scheduler_idle(&s)) ck_assert(scheduler_step(&s, &r.why));
      alone[i] = q[0].q.c.text, q[0].q.c.text = (struct ids){ .n = 0 };
    }
    struct meddler of = { &s, &q[victim] };
    told.on_step = cancel_at_two, told.ctx = &of;
    for (int i = 0; i < 4; i++) ck_assert(scheduler_submit(&s, &q[i], id[i % 3], 4, i == 0 ? &told : &want, &r.why));
    for (int step = 0; step < 2; step++) ck_assert(scheduler_step(&s, &r.why));
    ck_assert(q[victim].state == REQUEST_ENDED && q[victim].q.c.ended == FINISH_CANCELLED);
    scheduler_cancel(&s, &q[victim]); /* once more does nothing */
    while (!scheduler_idle(&s)) ck_assert(scheduler_step(&s, &r.why));
    for (int i = 0; i < 4; i++) {
      const struct ids *a = &alone[i % 3], *t = &q[i].q.c.text;
      ck_assert(i == victim ? t->n == (i == 3 ? 4 : 6) : t->n == a->n);
      ck_assert_int_eq(memcmp(t->id, a->id, t->n * sizeof *t->id), 0);
      ck_assert(i == victim || q[i].q.c.ended == FINISH_LENGTH);
      request_close(&s, &q[i]);
    }
    for (int i = 0; i < 3; i++) ids_free(&r.m, &alone[i]);
    scheduler_close(&s);
    ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
    tiny_close(&r);
  }
}
END_TEST

/* memory is refused at every place in turn: one text may end with the reason, and everything is given back */
START_TEST(a_refusal_costs_one_text)
{
  uint32_t id[3][5] = { { 1, 2, 3, 4, 5 }, { 1, 2, 3, 4, 6 }, { 7, 8, 9, 1, 2 } };
  for (size_t at = 1;; at++) {
    struct tiny_rig r;
    struct prefix_index none;
    struct scheduler s;
    struct request q[3] = { { .state = REQUEST_ENDED } };
    size_t ended[FINISH_ERROR + 1] = { 0 };
    index_open(&r, &none, 2);
    prefix_close(&none);
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    uint64_t before = r.m.all.requests;
    r.m.fail_at = before + at;
    bool open = scheduler_open(&s, &g, &(struct scheduler_options){ .share = true }, &r.why), ok = open;
    for (int i = 0; ok && i < 3; i++)
      ok = scheduler_submit(&s, &q[i], id[i], 5, &(struct generate_options){ .max_new_tokens = 9 }, &r.why);
    for (int step = 0; ok && !scheduler_idle(&s); step++) {
      ck_assert(step < 100);
      ok = scheduler_step(&s, &r.why);
    }
    bool reached = r.m.all.requests >= before + at;
    for (int i = 0; open && i < 3; i++) ended[q[i].q.c.ended]++, request_close(&s, &q[i]);
    if (open) scheduler_close(&s);
    if (ok) ck_assert_uint_ge(ended[FINISH_LENGTH], 2);
    ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
    tiny_close(&r);
    if (!reached) {
      ck_assert_uint_eq(ended[FINISH_LENGTH], 3);
      break;
    }
  }
}
END_TEST

/* passes of two rows, so that the second text is in its slot and has no row: it does not end for the first */
START_TEST(a_refused_pass_ends_a_text_that_it_was_for)
{
  uint32_t id[2][5] = { { 1, 2, 3, 4, 5 }, { 7, 8, 9, 1, 2 } };
  size_t ended = 0;
  for (size_t at = 1, reached = 1; reached; at++) {
    struct tiny_rig r;
    struct prefix_index none;
    struct scheduler s;
    struct request q[2];
    index_open(&r, &none, 2);
    prefix_close(&none);
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    ck_assert(scheduler_open(&s, &g, &(struct scheduler_options){ .pass_rows = 2 }, &r.why));
    for (int i = 0; i < 2; i++) ck_assert(scheduler_submit(&s, &q[i], id[i], 5, &(struct generate_options){ .max_new_tokens = 3 }, &r.why));
    r.m.fail_at = r.m.all.requests + at;
    ck_assert(scheduler_step(&s, &r.why));
    reached = r.m.all.requests >= r.m.fail_at, r.m.fail_at = 0;
    ck_assert(q[1].state == REQUEST_RUNNING);
    ended += q[0].q.c.ended == FINISH_ERROR;
    while (!scheduler_idle(&s)) ck_assert(scheduler_step(&s, &r.why));
    ck_assert_int_eq(q[1].q.c.ended, FINISH_LENGTH);
    for (int i = 0; i < 2; i++) request_close(&s, &q[i]);
    scheduler_close(&s);
    tiny_close(&r);
  }
  ck_assert_uint_gt(ended, 2);
}
END_TEST

START_TEST(a_scheduler_is_refused_in_words)
{
  struct tiny_rig r;
  struct prefix_index none;
  struct scheduler s;
  index_open(&r, &none, 4);
  prefix_close(&none);
  struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
  ck_assert(!scheduler_open(&s, &g, &(struct scheduler_options){ .pass_rows = 3 }, &r.why));
  ck_assert_str_eq(r.why.text, "passes of 3 rows for 4 slots; wanted: a row for each slot, or more");
  ck_assert(scheduler_open(&s, &g, &(struct scheduler_options){ .pass_rows = 4 }, &r.why));
  struct request q;
  uint32_t id[1] = { TINY_V };
  ck_assert(!scheduler_submit(&s, &q, id, 1, &(struct generate_options){ .max_new_tokens = 1 }, &r.why));
  ck_assert(strstr(r.why.text, "the vocabulary has 19") != NULL);
  ck_assert(scheduler_idle(&s));
  scheduler_close(&s), scheduler_close(&s);
  tiny_close(&r);
}
END_TEST

/* ---- pages in a file: what was saved is found, gives the same texts, and no byte of it may be another */
static const unsigned char key_of_tests[PREFIX_KEY] = "a key of thirty-one letters ...";
static uint64_t rows_of_a_text(struct tiny_rig *r, struct scheduler *s, const uint32_t *id, size_t n, struct ids *text)
{
  struct request q;
  uint64_t before = s->counts.rows;
  ck_assert(scheduler_submit(s, &q, id, n, &(struct generate_options){ .max_new_tokens = 6 }, &r->why));
  while (!scheduler_idle(s)) ck_assert(scheduler_step(s, &r->why));
  *text = q.q.c.text, q.q.c.text = (struct ids){ .n = 0 };
  request_close(s, &q);
  return s->counts.rows - before;
}
static void scheduler_of(struct tiny_rig *r, struct scheduler *s, size_t rows, bool window)
{
  memset(r, 0, sizeof *r);
  tiny_make(&r->t, 5);
  r->e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &r->c };
  r->s = cache_open(&r->m, &r->t.lm.config, 2, &(struct cache_options){ .page_rows = 4, .rows = rows, .set_window = window, .window = 6 * window }, &r->why);
  struct generate_context g = { &r->e, &r->t.lm, r->s, &r->m };
  ck_assert(r->s != NULL && scheduler_open(s, &g, &(struct scheduler_options){ .share = true }, &r->why));
}
START_TEST(pages_survive_in_a_file)
{
  char path[] = "/tmp/incipit-pages-XXXXXX";
  uint32_t id[2][20];
  struct tiny_rig r, again;
  struct scheduler s, t;
  struct ids text[2], same;
  close(mkstemp(path));
  for (uint32_t i = 0; i < 20; i++) id[0][i] = i % TINY_V, id[1][i] = i < 9 ? i % TINY_V : (i * 7) % TINY_V;
  scheduler_of(&r, &s, 96, _i == 1);
  for (int k = 0; k < 2; k++) ck_assert_uint_eq(rows_of_a_text(&r, &s, id[k], 20, &text[k]), k == 0 ? 25 : 17);
  size_t kept = s.index.kept;
  ck_assert_msg(prefix_save(&s.index, path, key_of_tests, &r.why), "%s", r.why.text);
  scheduler_of(&again, &t, 96, _i == 1);
  ck_assert_msg(prefix_load(&t.index, path, key_of_tests, &again.why), "%s", again.why.text);
  ck_assert_uint_eq(t.index.kept, kept);
  for (int k = 0; k < 2; k++) {
    uint64_t rows = rows_of_a_text(&again, &t, id[k], 20, &same);
    ck_assert_msg(rows == 6, "text %d: %lu rows", k, (unsigned long) rows);
    ck_assert(same.n == text[k].n && memcmp(same.id, text[k].id, same.n * sizeof *same.id) == 0);
    ids_free(&again.m, &same);
  }
  scheduler_close(&t);
  ck_assert_uint_eq(cache_look(again.s).pages_used, 0);
  tiny_close(&again);
  /* what was used last is given up last, as before */
  scheduler_of(&again, &t, 96, _i == 1);
  ck_assert(prefix_load(&t.index, path, key_of_tests, &again.why));
  for (int i = 0; i < 3; i++) ck_assert(prefix_evict(&t.index, false));
  ck_assert_uint_eq(rows_of_a_text(&again, &t, id[1], 20, &same), 6);
  ids_free(&again.m, &same);
  ck_assert_uint_gt(rows_of_a_text(&again, &t, id[0], 20, &same), 6);
  ids_free(&again.m, &same);
  scheduler_close(&t), tiny_close(&again);
  /* too few pages: what fits is taken, the latest first, and with it what comes before */
  scheduler_of(&again, &t, 16, _i == 1);
  ck_assert_msg(prefix_load(&t.index, path, key_of_tests, &again.why), "%s", again.why.text);
  ck_assert(t.index.kept > 0 && t.index.kept <= 4);
  scheduler_close(&t);
  ck_assert_uint_eq(cache_look(again.s).pages_used, 0);
  tiny_close(&again);
  for (int k = 0; k < 2; k++) ids_free(&r.m, &text[k]);
  scheduler_close(&s), tiny_close(&r);
  unlink(path);
}
END_TEST

/* the index grows with the pages: all of a long text are found again, and those of a short one that came first */
START_TEST(an_index_has_room_for_all_pages)
{
  struct tiny_rig r;
  struct scheduler s;
  struct ids text;
  uint32_t id[2][290];
  for (uint32_t i = 0; i < 290; i++) id[0][i] = i * 5 % TINY_V, id[1][i] = (i * i + 1) % TINY_V;
  scheduler_of(&r, &s, 700, false);
  for (int round = 0; round < 2; round++)
    for (int k = 0; k < 3; k++) { /* 10 tokens, then 290, of which 288 fill pages, and those with the first 10 once more */
      uint64_t rows = rows_of_a_text(&r, &s, id[k > 0], k == 0 ? 10 : 290 - 40 * (size_t) (k == 2), &text);
      ids_free(&r.m, &text);
      ck_assert_msg(round == 0 || rows <= 4 + 6, "text %d: %lu rows", k, (unsigned long) rows);
    }
  ck_assert_uint_gt(s.index.kept, 70);
  scheduler_close(&s);
  ck_assert_uint_eq(cache_look(r.s).pages_used, 0);
  tiny_close(&r);
}
END_TEST

/* every byte of the file turned, and the file cut off at every length: each is refused, and the index is empty */
START_TEST(a_damaged_file_of_pages_is_refused)
{
  char path[] = "/tmp/incipit-pages-XXXXXX";
  static unsigned char bytes[40000];
  uint32_t id[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
  struct tiny_rig r;
  struct scheduler s;
  struct ids text;
  close(mkstemp(path));
  scheduler_of(&r, &s, 64, false);
  rows_of_a_text(&r, &s, id, 9, &text), ids_free(&r.m, &text);
  ck_assert(s.index.kept == 3 && prefix_save(&s.index, path, key_of_tests, &r.why));
  while (prefix_evict(&s.index, true)) continue;
  FILE *f = fopen(path, "rb");
  size_t n = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  ck_assert(n > 3000 && n < sizeof bytes);
  for (size_t i = 0; i <= 2 * n; i++) {
    size_t m = i < n ? n : i - n - (i == 2 * n);
    if (i >= n && i % 7 != 0 && m > 200) continue;
    if (i < n && i > 400 && i % 5 != 0) continue;
    if (i < n) bytes[i] ^= 1 << i % 8;
    f = fopen(path, "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, m, f), m);
    fclose(f);
    r.why.text[0] = '\0';
    hold_msg(!prefix_load(&s.index, path, key_of_tests, &r.why), "byte %zu of %zu", i, n);
    hold(strncmp(r.why.text, path, strlen(path)) == 0 && s.index.kept == 0);
    if (i < n) bytes[i] ^= 1 << i % 8;
  }
  f = fopen(path, "wb");
  ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
  fclose(f);
  /* the sum agrees, and the second page says that it comes after itself: somebody has written that on purpose */
  unsigned char forged[sizeof bytes];
  uint64_t h = UINT64_C(14695981039346656037), word, itself = 2;
  size_t each = (n - 88 - 8) / 3;
  memcpy(forged, bytes, n), memcpy(forged + 88 + each, &itself, 8);
  for (size_t i = 0; i < n - 8; i += 8) memcpy(&word, forged + i, 8), h = (h ^ word) * UINT64_C(1099511628211), h ^= h >> 32;
  memcpy(forged + n - 8, &h, 8);
  f = fopen(path, "wb");
  ck_assert_uint_eq(fwrite(forged, 1, n, f), n);
  fclose(f);
  ck_assert(!prefix_load(&s.index, path, key_of_tests, &r.why) && s.index.kept == 0);
  ck_assert_msg(strstr(r.why.text, "page 2 comes after page 2") != NULL, "%s", r.why.text);
  f = fopen(path, "wb");
  ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
  fclose(f);
  unsigned char other[PREFIX_KEY] = "another key";
  ck_assert(!prefix_load(&s.index, path, other, &r.why));
  ck_assert(strstr(r.why.text, "another model, other settings or another version") != NULL);
  ck_assert(prefix_load(&s.index, path, key_of_tests, &r.why) && s.index.kept == 3);
  unlink(path);
  ck_assert(!prefix_load(&s.index, path, key_of_tests, &r.why));
  scheduler_close(&s), tiny_close(&r);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("serving");
  TCase *t = tcase_create("many");
  tcase_set_timeout(t, 600);
  tcase_add_test(t, company_changes_no_text);
  tcase_add_test(t, leaves_are_given_up_first_and_the_oldest_of_them);
  tcase_add_test(t, a_place_is_of_no_use_after_its_entry);
  tcase_add_test(t, a_chain_that_is_cut_ends);
  tcase_add_test(t, what_fits_is_what_the_cache_takes);
  tcase_add_test(t, pages_are_given_up_only_for_somebody_who_comes_in);
  tcase_add_test(t, what_can_be_spared_is_what_can_be_given_up);
  tcase_add_test(t, a_text_for_which_the_cache_is_too_small_is_refused);
  tcase_add_test(t, a_refused_request_has_not_been);
  tcase_add_test(t, a_text_may_be_cancelled_in_any_state);
  tcase_add_test(t, a_refusal_costs_one_text);
  tcase_add_test(t, a_refused_pass_ends_a_text_that_it_was_for);
  tcase_add_test(t, a_scheduler_is_refused_in_words);
  suite_add_tcase(s, t);
  t = tcase_create("pages");
  tcase_set_timeout(t, 600);
  tcase_add_loop_test(t, pages_survive_in_a_file, 0, 2);
  tcase_add_test(t, an_index_has_room_for_all_pages);
  tcase_add_test(t, a_damaged_file_of_pages_is_refused);
  suite_add_tcase(s, t);
  return suite_run(s);
}
