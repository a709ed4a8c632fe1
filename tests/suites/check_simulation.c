/* Chapter 12: the simulated server makes the passes of the real one, and waits as long as queueing theory says. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include "tiny.h"
#include "serving/scheduler.h"
#include "serving/simulator.h"

enum { MOST = 9, SLOTS = 5, CONTEXT = 64, PASSES = 2000 };
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { ROUNDS = 100, CUSTOMERS = 20000 };
#else
enum { ROUNDS = 3000, CUSTOMERS = 400000 };
#endif

/* a pass as either of the two makes it */
struct made {
  size_t n;
  uint32_t text[SLOTS];
  size_t rows[SLOTS];
  uint64_t preempted, madds, bytes;
};
struct record {
  struct made pass[PASSES];
  size_t n;
};

static void note(void *ctx, const struct simulation *s, const struct counters *work)
{
  struct record *r = ctx;
  struct made *p = &r->pass[r->n++];
  hold(r->n < PASSES && s->planned <= SLOTS);
  *p = (struct made){ .n = s->planned, .preempted = s->counts.preempted, .madds = work_madds(work), .bytes = work_bytes(work) };
  for (size_t k = 0; k < p->n; k++) p->text[k] = s->plan[k], p->rows[k] = s->text[s->plan[k]].rows;
}

/* a server of random size, and texts that come in random passes */
static void build(struct simulation *s, struct simulated_text *text, uint64_t *seed)
{
  *s = (struct simulation){ .text = text, .n = 1 + rnd(seed) % MOST };
  s->slots = 1 + rnd(seed) % SLOTS;
  s->page_rows = (size_t) 1 << rnd(seed) % 5;
  s->pages = (CONTEXT + rnd(seed) % 40 + s->page_rows - 1) / s->page_rows;
  size_t all = s->slots * ((CONTEXT + s->page_rows - 1) / s->page_rows);
  if (s->pages > all) s->pages = all;
  s->pass_rows = s->slots + rnd(seed) % 20;
  s->in_batches = rnd(seed) % 8 == 0;
  for (size_t i = 0; i < s->n; i++)
    text[i] = (struct simulated_text){ .arrives = rnd(seed) % 15, .prompt = 1 + rnd(seed) % 30, .wants = 1 + rnd(seed) % 30 };
}

/* the texts that the scheduler has made a pass of, by their numbers, and how much work it was */
static void compare(const struct scheduler *s, const struct request *r, size_t n, const struct counters *work, const struct made *p,
  size_t at)
{
  hold_msg(p->n == n, "pass %zu has rows of %zu texts, simulated %zu", at, n, p->n);
  hold_msg(p->preempted == s->counts.preempted, "pass %zu: %lu preempted, simulated %lu", at, (unsigned long) s->counts.preempted,
    (unsigned long) p->preempted);
  for (size_t k = 0; k < n; k++) {
    hold_msg(s->list[k] == &r[p->text[k]].q, "pass %zu: place %zu is not text %u", at, k, p->text[k]);
    hold_msg(s->demand[k].rows == p->rows[k], "pass %zu: text %u has %zu rows, simulated %zu", at, p->text[k], s->demand[k].rows,
      p->rows[k]);
  }
  hold_msg(work_madds(work) == p->madds, "pass %zu: %lu multiply-adds, simulated %lu", at, (unsigned long) work_madds(work),
    (unsigned long) p->madds);
  hold_msg(work_bytes(work) == p->bytes, "pass %zu: %lu bytes, simulated %lu", at, (unsigned long) work_bytes(work),
    (unsigned long) p->bytes);
}

/* the same arrivals, with a model; time is counted in passes, and stands still when there is nothing to do */
static void serve(struct tiny_rig *rig, const struct simulation *sim, const struct record *want)
{
  struct request r[MOST];
  struct scheduler s;
  struct generate_context g = { &rig->e, &rig->t.lm, rig->s, &rig->m };
  struct scheduler_options how = { .pass_rows = sim->pass_rows, .in_batches = sim->in_batches };
  size_t made = 0, left = sim->n;
  memset(r, 0, sizeof r);
  hold(scheduler_open(&s, &g, &how, &rig->why));
  for (size_t now = 0; left > 0 || !scheduler_idle(&s); now++) {
    for (uint32_t i = 0; i < sim->n; i++) {
      uint32_t id[CONTEXT] = { i, 1, 2 };
      struct generate_options w = { .max_new_tokens = sim->text[i].wants };
      if (sim->text[i].arrives != now) continue;
      hold_msg(scheduler_submit(&s, &r[i], id, sim->text[i].prompt, &w, &rig->why), "%s", rig->why.text);
      left--;
    }
    if (scheduler_idle(&s)) continue;
    struct counters before = rig->c;
    uint64_t slots = s.counts.slots_used;
    hold_msg(scheduler_step(&s, &rig->why), "%s", rig->why.text);
    struct counters work = counters_since(&before, &rig->c);
    hold(made < want->n);
    compare(&s, r, (size_t) (s.counts.slots_used - slots), &work, &want->pass[made], made);
    made++;
  }
  hold_msg(made == want->n, "%zu passes, simulated %zu", made, want->n);
  hold(s.counts.rows == sim->counts.rows && s.counts.passes == sim->counts.passes);
  for (size_t i = 0; i < sim->n; i++) {
    hold(r[i].preempted == sim->text[i].preempted);
    request_close(&s, &r[i]);
  }
  scheduler_close(&s);
}

START_TEST(the_scheduler_makes_the_simulated_passes)
{
  static struct record want;
  uint64_t seed = suite_seed() + 44, passes = 0, preempted = 0;
  for (size_t i = 0; i < ROUNDS; i++) {
    struct simulated_text text[MOST];
    struct simulation s;
    struct tiny_rig rig;
    memset(&rig, 0, sizeof rig);
    build(&s, text, &seed);
    tiny_make(&rig.t, i % 7);
    rig.t.lm.config.n_positions = CONTEXT;
    rig.t.lm.layer_bytes = 4096, rig.t.lm.head_bytes = 1000;
    rig.e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &rig.c };
    rig.s = cache_open(&rig.m, &rig.t.lm.config, (uint32_t) s.slots,
      &(struct cache_options){ .rows = s.pages * s.page_rows, .page_rows = s.page_rows }, &rig.why);
    hold_msg(rig.s != NULL, "%s", rig.why.text);
    s.cost = row_costs_of(&rig.t.lm, rig.s->row_bytes);
    s.on_pass = note, s.ctx = &want, want.n = 0;
    hold_msg(simulate(&rig.m, &s, &rig.why), "%s", rig.why.text);
    serve(&rig, &s, &want);
    passes += want.n, preempted += s.counts.preempted;
    tiny_close(&rig);
  }
  printf("%d servers, %lu passes, %lu preempted\n", ROUNDS, (unsigned long) passes, (unsigned long) preempted);
  ck_assert(preempted > 0);
}
END_TEST

/* what must hold whatever comes: the pages and rows of each pass, and the oldest */
struct guard { uint64_t passes, rows; };
static void hold_limits(void *ctx, const struct simulation *s, const struct counters *work)
{
  struct guard *g = ctx;
  size_t rows = 0, held = 0, running = 0;
  for (size_t k = 0; k < s->planned; k++) rows += s->text[s->plan[k]].rows;
  hold(rows > 0 && rows <= s->pass_rows && work->rows == rows && s->running <= s->slots);
  for (size_t i = 0; i < s->n; i++)
    if (s->text[i].length > 0) held += (s->text[i].stored + s->text[i].rows + s->page_rows - 1) / s->page_rows, running += s->text[i].running;
  hold_msg(held <= s->pages, "%zu pages of %zu", held, s->pages);
  hold(running == s->running && s->text[s->line].running);
  g->passes++, g->rows += rows;
}

START_TEST(every_text_ends_within_limits)
{
  enum { TEXTS = 200 };
  static struct simulated_text text[TEXTS];
  uint64_t seed = suite_seed() + 45;
  struct memory m = { 0 };
  struct error why;
  for (size_t i = 0; i < 200; i++) {
    struct guard g = { 0, 0 };
    struct simulation s;
    uint64_t gap = 1 + rnd(&seed) % 40, tokens = 0;
    build(&s, text, &seed);
    s.n = TEXTS, s.slots = 1 + rnd(&seed) % 12, s.pass_rows = s.slots + rnd(&seed) % 64;
    s.machine.madds = rnd(&seed) % 2 == 0 ? 0 : 1e9, s.machine.bytes = 1e9;
    s.cost = (struct row_costs){ .layer_madds = 3, .pair_madds = 1, .head_madds = 5, .layer_bytes = 20, .row_bytes = 1 };
    s.on_pass = hold_limits, s.ctx = &g;
    for (size_t k = 0; k < TEXTS; k++)
      text[k] = (struct simulated_text){ .arrives = k * gap * (1 + 20 * (s.machine.madds > 0)), .prompt = 1 + rnd(&seed) % 30, .wants = 1 + rnd(&seed) % 30 };
    hold_msg(simulate(&m, &s, &why), "%s", why.text);
    for (size_t k = 0; k < TEXTS; k++) {
      hold(text[k].length == text[k].prompt + text[k].wants && !text[k].running);
      hold(text[k].first > text[k].arrives && text[k].last >= text[k].first + text[k].wants - 1);
      tokens += text[k].length - 1;
    }
    hold(s.counts.rows == g.rows && s.counts.passes == g.passes && g.rows >= tokens && s.free_pages == s.pages);
    hold_msg(s.counts.preempted > 0 || g.rows == tokens, "rows were computed again, and nobody was preempted");
    ck_assert_uint_eq(m.all.live, 0);
  }
}
END_TEST

/* one slot, texts of one row, a pass of a microsecond: the queue that books call M/D/1. At a load of rho the mean
   wait is rho/(2(1-rho)) passes (Pollaczek 1930, Khinchine 1932) */
START_TEST(waits_are_those_of_the_formula)
{
  struct simulated_text *text = calloc(CUSTOMERS, sizeof *text);
  uint64_t seed = suite_seed() + 46;
  struct memory m = { 0 };
  struct error why;
  for (int tenth = 3; tenth <= 8; tenth++) {
    double rho = tenth / 10.0, now = 0, wait = 0, formula = rho / (2 * (1 - rho));
    for (size_t i = 0; i < CUSTOMERS; i++) {
      now += -log(((double) (rnd(&seed) >> 11) + .5) * 0x1p-53) * 1000 / rho;
      text[i] = (struct simulated_text){ .arrives = (uint64_t) now, .prompt = 1, .wants = 1 };
    }
    struct simulation s = { .slots = 1, .pages = 2, .page_rows = 1, .pass_rows = 1, .text = text, .n = CUSTOMERS,
      .cost = { .layer_madds = 1000 }, .machine = { 1e9, 1e9 } };
    hold_msg(simulate(&m, &s, &why), "%s", why.text);
    for (size_t i = 0; i < CUSTOMERS; i++) wait += (double) (text[i].first - text[i].arrives) / 1000 - 1;
    wait /= CUSTOMERS;
    printf("load %.1f: mean wait %.4f passes, formula %.4f\n", rho, wait, formula);
    ck_assert_msg(fabs(wait / formula - 1) < (CUSTOMERS > 100000 ? .06 : .2), "load %.1f: %.4f instead of %.4f", rho, wait, formula);
    ck_assert_uint_eq(s.counts.passes, CUSTOMERS);
  }
  free(text);
}
END_TEST

START_TEST(what_cannot_be_simulated_is_refused)
{
  struct simulated_text text = { .prompt = 30, .wants = 3 };
  struct simulation s = { .slots = 1, .pages = 4, .page_rows = 8, .pass_rows = 9, .text = &text, .n = 1 };
  struct memory m = { 0 };
  struct error why;
  ck_assert(!simulate(&m, &s, &why));
  ck_assert_msg(strstr(why.text, "text 0: 30 tokens and 3 more; wanted: at least one of each, and no more than 4 pages hold") != NULL,
    "%s", why.text);
  text.wants = 0;
  ck_assert(!simulate(&m, &s, &why));
  text.wants = 2;
  ck_assert(simulate(&m, &s, &why));
  ck_assert(text.first == 4 && text.last == 5 && s.busy == 5);
  for (uint64_t at = 1; at <= 3; at++) {
    struct memory poor = { .fail_at = at };
    if (simulate(&poor, &s, &why)) break;
    ck_assert(strstr(why.text, "refused") != NULL || strstr(why.text, "memory") != NULL);
    ck_assert_uint_eq(poor.all.live, 0);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("simulation");
  TCase *t = tcase_create("passes");
  tcase_set_timeout(t, 600);
  tcase_add_test(t, the_scheduler_makes_the_simulated_passes);
  tcase_add_test(t, every_text_ends_within_limits);
  tcase_add_test(t, waits_are_those_of_the_formula);
  tcase_add_test(t, what_cannot_be_simulated_is_refused);
  suite_add_tcase(s, t);
  return suite_run(s);
}
