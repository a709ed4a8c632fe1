/* Chapter 12: many texts in one scheduler, and each is the text that it would have been alone. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include "tiny.h"
#include "cache/keep.h"
#include "serving/scheduler.h"
#include "sampling/sampling.h"
#include "kernels/kernels.h"

enum { MOST = 9, LONG = 40 };
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { ROUNDS = 150 };
#else
enum { ROUNDS = 10000 };
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
  bool here, decoded;
};

/* a house of random size: model, window, cache, slots, rows in a pass */
struct house {
  struct tiny_rig rig;
  struct cache_options size;
  uint32_t slots;
  struct scheduler_options w;
  struct asked a[MOST];
  size_t n;
};

static bool told(void *ctx, const struct step *now)
{
  struct asked *a = ctx;
  hold_msg(now->number == a->seen + 1, "token %zu is told after %zu", now->number, a->seen);
  a->seen++;
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
  size_t running = 0, started = 0;
  const struct request *first = NULL;
  for (const struct request *r = s->line; r != NULL; r = r->next) {
    running += r->state == REQUEST_RUNNING;
    if (first == NULL) first = r, started = r->state == REQUEST_RUNNING;
  }
  hold(running <= h->slots);
  hold_msg(first == NULL || running == 0 || started, "the oldest has no slot, and another has");
  for (size_t i = 0; i < h->n; i++) {
    struct asked *a = &h->a[i];
    bool running_now = a->here && a->r.state == REQUEST_RUNNING;
    hold_msg(!a->decoded || !running_now || a->r.preempted > 0 || a->seen == a->before + 1, "text %zu had to wait", i);
    a->decoded = running_now && a->seen > 0, a->before = a->seen;
  }
}

static void serve(struct house *h, struct scheduler *s)
{
  size_t step = 0, left = h->n;
  for (; left > 0 || !scheduler_idle(s); step++) {
    hold_msg(step < 4000, "nobody comes to an end");
    for (size_t i = 0; i < h->n; i++) {
      struct asked *a = &h->a[i];
      if (!a->here && a->arrives <= step) {
        hold_msg(scheduler_submit(s, &a->r, a->prompt, a->n, &a->want, &h->rig.why), "%s", h->rig.why.text);
        a->here = true, left--;
      }
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
    struct generate_context g = { &h.rig.e, &h.rig.t.lm, h.rig.s, &h.rig.m };
    hold_msg(scheduler_open(&s, &g, &h.w, &h.rig.why), "%s", h.rig.why.text);
    serve(&h, &s);
    for (size_t k = 0; k < h.n; k++) compare(&h.a[k], k), request_close(&s, &h.a[k].r);
    preempted += s.counts.preempted, found += s.counts.found, texts += h.n;
    scheduler_close(&s);
    ck_assert_uint_eq(cache_look(h.rig.s).pages_used, 0);
    demolish(&h);
  }
  printf("%zu schedules, %lu texts, %lu preempted, %lu rows found\n", rounds, (unsigned long) texts, (unsigned long) preempted,
    (unsigned long) found);
  ck_assert(preempted > 0 && found > 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("serving");
  TCase *t = tcase_create("many");
  tcase_set_timeout(t, 600);
  tcase_add_test(t, company_changes_no_text);
  suite_add_tcase(s, t);
  return suite_run(s);
}
