/* tests.c -- lab 11: continuous batching. A model of four words with random weights, and places for 64 tokens, serves as the model. What a
   pass was is taken from the engine's counters and from the texts, not from what the scheduler says; that is compared besides. */
#include "kit.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cache/keep.h"
#include "model/toy.h"
#include "sampling/sampling.h"
#include "serving/scheduler.h"

enum { MOST = 8, MOST_SLOTS = 4, LONG = 64, TOO_LONG = 900 };

static struct toy toy;
static float place[LONG][TOY_WIDTH];
static struct memory memory;
static struct counters counters, other_counters;
static struct engine engine, other_engine;
static struct error why;

static void shake(float *numbers, size_t n, float by)
{
  for (size_t i = 0; i < n; i++) numbers[i] += by * draw_float();
}

/* a model of four words with other weights each time */
static void begin(void)
{
  toy_make(&toy);
  memset(place, 0, sizeof place);
  shake(place[0], LONG * TOY_WIDTH, 1);
  shake(toy.token[0], TOY_WORDS * TOY_WIDTH, .6f), shake(toy.query[0], TOY_WIDTH * TOY_WIDTH, .5f);
  shake(toy.value[0], TOY_WIDTH * TOY_WIDTH, .5f), shake(toy.asked[0], TOY_WORDS * TOY_WIDTH, .5f);
  toy.lm.config.n_positions = LONG, toy.lm.positions.data = place[0];
  memset(&counters, 0, sizeof counters), memset(&other_counters, 0, sizeof counters), memset(&memory, 0, sizeof memory);
  engine = (struct engine) { .k = &kernels_plain, .c = &counters };
  other_engine = (struct engine) { .k = &kernels_plain, .c = &other_counters };
}

static const char *ending(enum finish_reason r)
{
  static const char *const name[] = { [FINISH_NONE] = "none", [FINISH_STOP] = "stop", [FINISH_LENGTH] = "length",
    [FINISH_CANCELLED] = "cancelled", [FINISH_ERROR] = "error" };
  return name[r];
}

/* ---- requests, called A, B, C and so on */

struct asked {
  uint32_t prompt[LONG];
  size_t n, arrives, gone; /* before which step it comes, and is cancelled; 0: never */
  size_t quits; /* the watcher of its token with this number cancels the text of its victim; 0: no */
  struct asked *victim;
  struct scheduler *s;
  struct generate_options want;
  struct sampler dice, other_dice;
  struct request r;
  bool here;
  size_t shown; /* rows of its prompt whose logits it has seen */
  size_t seen, before, first, last; /* tokens that were told, those before the newest step, and after which step the first and the last came */
};

/* options of a test, and the house in which it is served */
struct house {
  uint32_t slots;
  struct cache_options size;
  struct scheduler_options w;
  struct asked a[MOST];
  size_t n;
  struct store *cache;
  struct scheduler s;
};

static char letter(size_t i) { return (char) ('A' + i); }

static bool told(void *ctx, const struct step *now)
{
  struct asked *a = ctx;
  a->seen++;
  if (now->number != a->seen) say("token %zu is told as number %zu", a->seen, now->number);
  if (a->seen == a->quits && a->victim->here) scheduler_cancel(a->s, &a->victim->r);
  return true;
}

static bool shown(void *ctx, size_t position, const float *logits)
{
  struct asked *a = ctx;
  (void) position, (void) logits;
  a->shown++;
  return true;
}

static void prompt_of(struct asked *a, size_t n)
{
  a->n = n;
  for (size_t i = 0; i < n; i++) a->prompt[i] = draw(TOY_WORDS);
}

static void want(struct house *h, struct asked *a, size_t tokens)
{
  a->s = &h->s;
  a->want = (struct generate_options) { .max_new_tokens = tokens, .on_step = told, .ctx = a };
}

static bool open_house(struct house *h)
{
  h->cache = cache_open(&memory, &toy.lm.config, h->slots, &h->size, &why);
  struct generate_context g = { &engine, &toy.lm, h->cache, &memory };
  bool ok = h->cache != NULL && scheduler_open(&h->s, &g, &h->w, &why);
  if (!ok) say("not opened: %s", why.text);
  return ok;
}

static bool submit(struct house *h, size_t i)
{
  struct asked *a = &h->a[i];
  a->here = scheduler_submit(&h->s, &a->r, a->prompt, a->n, &a->want, &why);
  if (!a->here) say("%c is refused", letter(i));
  return a->here;
}

static void close_house(struct house *h)
{
  for (size_t i = 0; i < h->n; i++) {
    if (h->a[i].here) request_close(&h->s, &h->a[i].r);
    funnel_close(&h->a[i].dice.f), funnel_close(&h->a[i].other_dice.f);
  }
  scheduler_close(&h->s);
  if (h->cache != NULL) say("pages in use at the end %zu", cache_look(h->cache).pages_used);
  store_close(h->cache);
  say("bytes left %" PRIu64, memory.all.live);
}

/* reads the tokens from |from| to |to| of a text into a sequence, without the scheduler */
static bool feed(struct house *h, uint32_t sequence, const uint32_t *id, size_t n)
{
  struct generate_context g = { &engine, &toy.lm, h->cache, &memory };
  struct row row[LONG];
  struct pass *p;
  for (size_t i = 0; i < n; i++) row[i] = (struct row) { sequence, (uint32_t) i, id[i] };
  if (n == 0) return true;
  if (!cache_fits(h->cache, &(struct cache_demand) { sequence, n }, 1) || !model_read(&g, row, n, 0, &p, &why)) return false;
  pass_close(p);
  return true;
}

/* puts a request into a slot by hand, with some of its rows */
static bool seat(struct house *h, size_t i, uint32_t slot, size_t rows)
{
  struct asked *a = &h->a[i];
  if (!feed(h, slot, a->prompt, rows)) return false;
  a->r.q.c.sequence = slot, a->r.state = REQUEST_RUNNING;
  h->s.taken[slot] = true;
  return true;
}

/* ---- one function at a time */

static void reading(unsigned size)
{
  static struct house h;
  begin();
  h = (struct house) { .slots = 1 + draw(3), .n = 1, .size = { .page_rows = 4 } };
  if (!open_house(&h)) return;
  uint32_t slot = draw(h.slots);
  struct asked *a = &h.a[0];
  prompt_of(a, size), want(&h, a, 4);
  if (submit(&h, 0))
    for (size_t rows = size == 1 ? 1 : 0; rows <= size; rows += 1 + draw(3)) {
      store_crop(h.cache, slot, 0);
      if (!seat(&h, 0, slot, rows)) break;
      tell("tokens in the text: %u; rows in the cache: %zu; slot %" PRIu32 " of %" PRIu32, size, rows, slot, h.slots);
      say("rows to read: %zu", rows_to_read(&h.s, &a->r));
    }
  close_house(&h);
}

static void say_plan(struct house *h, size_t n)
{
  size_t rows = 0;
  say("texts with rows: %zu", n);
  for (size_t i = 0; i < n && i < h->slots; i++) rows += h->s.demand[i].rows;
  say("rows together: %zu", rows);
  for (size_t i = 0; i < h->n; i++) {
    size_t times = 0, mine = 0, chunk = 0;
    for (size_t k = 0; k < n && k < h->slots; k++) {
      if (h->s.list[k] != &h->a[i].r.q) continue;
      times++, chunk = h->a[i].r.want.chunk;
      if (h->s.demand[k].sequence == h->a[i].r.q.c.sequence) mine = h->s.demand[k].rows;
    }
    if (times == 0) say("%c has none", letter(i));
    else say("%c: in the list %zu, rows demanded %zu, chunk %zu", letter(i), times, mine, chunk);
  }
}

static void plan(unsigned size)
{
  static struct house h;
  begin();
  h = (struct house) { .slots = size == 1 ? 1 : 1 + draw(MOST_SLOTS), .n = size == 1 ? 1 : 2 + draw(5), .size = { .page_rows = 4 } };
  h.w.pass_rows = h.slots + draw(12);
  if (!open_house(&h)) return;
  tell("slots: %" PRIu32 "; rows in a pass: at most %zu", h.slots, h.s.w.pass_rows);
  uint32_t running = size == 1 ? 1 : draw(h.slots + 1); /* the first of the line */
  for (size_t i = 0; i < h.n; i++) {
    prompt_of(&h.a[i], 1 + draw(14)), want(&h, &h.a[i], 4);
    if (!submit(&h, i)) break;
    size_t n = h.a[i].n, rows = draw(2) ? n - draw(2) : draw((uint32_t) n);
    bool sits = i < running && seat(&h, i, running - 1 - (uint32_t) i, rows);
    if (sits) tell("%c: tokens %zu, rows in the cache %zu", letter(i), n, rows);
    else tell("%c waits", letter(i));
  }
  say_plan(&h, plan_pass(&h.s));
  close_house(&h);
}

static const char *pages_in_words(const struct house *h, char *to, size_t n)
{
  if (h->size.rows == 0) snprintf(to, n, "pages of %zu rows, enough", h->size.page_rows);
  else snprintf(to, n, "pages: %zu of %zu rows", (h->size.rows + h->size.page_rows - 1) / h->size.page_rows, h->size.page_rows);
  return to;
}

static void door(unsigned size)
{
  static struct house h;
  begin();
  h = (struct house) { .slots = size == 1 ? 1 : 2 + draw(MOST_SLOTS - 1), .n = size == 1 ? 1 : 2 + draw(6),
    .size = { .page_rows = (size_t) 2 << draw(3), .rows = size % 4 == 1 ? 0 : LONG + draw(24) } };
  h.w.share = size % 3 == 2, h.w.in_batches = size % 7 == 6;
  if (!open_house(&h)) return;
  if (size % 5 == 4) h.s.limit = 1 + draw(h.slots);
  char pages_of[60];
  tell("slots: %" PRIu32 ", of them open %" PRIu32 "; %s%s%s", h.slots, h.s.limit, pages_in_words(&h, pages_of, sizeof pages_of), h.w.share ? ", shared" : "", h.w.in_batches ? ", in batches" : "");
  uint32_t known[LONG];
  size_t pages = h.w.share ? 1 + draw(3) : 0, P = h.size.page_rows;
  for (size_t i = 0; i < LONG; i++) known[i] = draw(TOY_WORDS);
  if (pages > 0 && feed(&h, 0, known, pages * P)) {
    struct prefix_place at = { 0, 0 };
    for (size_t i = 0; i < pages; i++) at = prefix_add(&h.s.index, at, known + i * P, 0, i);
    store_crop(h.cache, 0, 0);
    tell("pages in the index: %zu", h.s.index.kept);
  }
  uint32_t running = size == 1 ? 0 : draw(h.slots), slot = h.slots;
  for (size_t i = 0; i < h.n; i++) {
    size_t n = i < running ? 1 + draw(30) : 1 + draw(size % 2 ? 50 : 16), rows = draw((uint32_t) n + 1);
    prompt_of(&h.a[i], n), want(&h, &h.a[i], 4);
    if (draw(6) == 0) h.a[i].want.on_row = shown;
    if (i >= running && draw(2)) memcpy(h.a[i].prompt, known, (n < pages * P ? n : pages * P) * sizeof *known);
    if (!submit(&h, i)) break;
    bool sits = i < running && seat(&h, i, slot - 1, rows);
    if (!sits && i < running) running = 0; /* there are no pages for it; those behind it wait as well */
    if (sits) slot--, tell("%c runs: tokens %zu, rows in the cache %zu", letter(i), n, rows);
    else tell("%c waits: tokens %zu%s", letter(i), n, h.a[i].want.on_row != NULL ? ", wants to see the rows of its prompt" : "");
  }
  let_in(&h.s);
  bool of[MOST_SLOTS] = { false };
  for (size_t i = 0; i < h.n; i++) {
    const struct request *r = &h.a[i].r;
    say("%c %s", letter(i), r->state == REQUEST_RUNNING ? "runs" : "waits");
    if (r->state != REQUEST_RUNNING) continue;
    bool good = r->q.c.sequence < h.slots && !of[r->q.c.sequence] && h.s.taken[r->q.c.sequence];
    if (!good) say("the slot of %c is not its own", letter(i));
    else of[r->q.c.sequence] = true, say("%c: rows in the cache %zu, found %zu", letter(i), store_length(h.cache, r->q.c.sequence), r->found);
  }
  for (uint32_t k = 0; k < h.slots; k++)
    if (h.s.taken[k] != of[k] || (!of[k] && store_length(h.cache, k) > 0)) say("slot %" PRIu32 " is taken or full, but nobody is in it", k);
  say("found %" PRIu64 " in all, pages in use %zu, kept %zu", h.s.counts.found, cache_look(h.cache).pages_used, h.s.index.kept);
  close_house(&h);
}

/* ---- whole runs */

/* what happened in a step: rows that the engine has computed, whose text became longer, who is in a slot after it */
static void say_step(struct house *h, size_t step, const struct counters *before)
{
  char tokens[4 * MOST] = "", in[4 * MOST] = "";
  for (size_t i = 0; i < h->n; i++) {
    struct asked *a = &h->a[i];
    char name[3] = { ' ', letter(i), '\0' };
    if (!a->here) continue;
    if (a->seen > a->before) {
      strcat(tokens, name);
      if (a->before == 0) a->first = step;
      a->last = step;
    }
    if (a->seen > a->before + 1) say("%c has %zu tokens of one step", letter(i), a->seen - a->before);
    if (a->r.state == REQUEST_RUNNING) strcat(in, name);
    a->before = a->seen;
  }
  say("step %zu: passes %" PRIu64 ", rows %" PRIu64 ", tokens for%s, in slots then%s", step, counters.passes - before->passes,
    counters.kv_rows_computed - before->kv_rows_computed, tokens[0] ? tokens : " nobody", in[0] ? in : " nobody");
}

static void run(struct house *h, size_t poor, size_t forgets)
{
  size_t left = h->n;
  for (size_t step = 1; left > 0 || !scheduler_idle(&h->s); step++) {
    if (step > TOO_LONG) {
      say("nobody comes to an end");
      return;
    }
    for (size_t i = 0; i < h->n; i++) {
      struct asked *a = &h->a[i];
      if (!a->here && a->arrives < step) {
        left--;
        if (!submit(h, i)) return;
      }
      if (a->here && a->gone == step) scheduler_cancel(&h->s, &a->r);
    }
    while (step == forgets && prefix_evict(&h->s.index, true)) continue;
    struct counters before = counters;
    if (step == poor) memory.fail_at = memory.all.requests + 1;
    bool ok = scheduler_step(&h->s, &why);
    memory.fail_at = 0;
    if (!ok) {
      say("step %zu failed", step);
      return;
    }
    say_step(h, step, &before);
  }
}

/* is the text the one that is written alone?  For one that was cancelled or had no memory: its beginning */
static bool as_alone(struct asked *a)
{
  static struct memory other;
  struct cache_options usual = { .page_rows = 16 };
  struct generate_options w = a->want;
  struct continuation c;
  struct store *s = cache_open(&other, &toy.lm.config, 1, &usual, &why);
  struct generate_context g = { &other_engine, &toy.lm, s, &other };
  const struct ids *t = &a->r.q.c.text;
  w.on_step = NULL, w.on_row = NULL, w.recall = store_match_prefix;
  if (w.select != NULL) w.select_ctx = &a->other_dice;
  if (s == NULL || !generate(&g, a->prompt, a->n, &w, &c, &why)) return false;
  bool same = a->r.q.c.ended == FINISH_CANCELLED || a->r.q.c.ended == FINISH_ERROR ? t->n <= c.text.n : t->n == c.text.n && a->r.q.c.ended == c.ended;
  same = same && memcmp(t->id, c.text.id, t->n * sizeof *t->id) == 0;
  continuation_free(&other, &c);
  store_close(s);
  return same;
}

static void say_texts(struct house *h)
{
  for (size_t i = 0; i < h->n; i++) {
    struct asked *a = &h->a[i];
    if (!a->here) continue;
    const struct ids *t = &a->r.q.c.text;
    char line[LONG + 2] = "";
    for (size_t k = 0; k < t->n && k < LONG; k++) line[k] = (char) ('0' + t->id[k]), line[k + 1] = '\0';
    say("%c is %s, ended by %s", letter(i), line, ending(a->r.q.c.ended));
    say("%c alone is the same: %s", letter(i), as_alone(a) ? "yes" : "no");
    say("%c: first token after step %zu, last after %zu; slot lost %zu", letter(i), a->first, a->last, a->r.preempted);
    if (a->want.on_row != NULL) say("%c has seen rows: %zu", letter(i), a->shown);
  }
  const struct scheduler_counts *c = &h->s.counts;
  say("counted passes %" PRIu64 ", rows %" PRIu64 ", slots used %" PRIu64 ", found %" PRIu64 ", preempted %" PRIu64, c->passes, c->rows,
    c->slots_used, c->found, c->preempted);
  if (h->w.share) say("pages in the index at the end: %zu", h->s.index.kept);
}

static void tell_all(const struct house *h)
{
  char pages[60];
  tell("slots: %" PRIu32 "; rows in a pass: at most %zu; %s%s%s", h->slots, h->s.w.pass_rows, pages_in_words(h, pages, sizeof pages), h->w.share ? ", shared" : "", h->w.in_batches ? ", in batches" : "");
  for (size_t i = 0; i < h->n; i++) {
    const struct asked *a = &h->a[i];
    char when[200] = "";
    if (a->arrives > 0) snprintf(when, sizeof when, ", comes before step %zu", a->arrives + 1);
    if (a->gone > 0) snprintf(when + strlen(when), sizeof when - strlen(when), ", is cancelled before step %zu", a->gone);
    if (a->want.on_row != NULL) snprintf(when + strlen(when), sizeof when - strlen(when), ", wants to see the rows of its prompt");
    if (a->quits > 0) snprintf(when + strlen(when), sizeof when - strlen(when), ", cancels %c with its token %zu", letter((size_t) (a->victim - h->a)), a->quits);
    tell("%c: prompt %zu, wants %zu%s", letter(i), a->n, a->want.max_new_tokens, when);
  }
}

static void whole(struct house *h, size_t poor, size_t forgets)
{
  if (!open_house(h)) return;
  tell_all(h);
  if (poor > 0) tell("in step %zu the first request for memory is refused", poor);
  if (forgets > 0) tell("before step %zu the index gives up all its pages", forgets);
  run(h, poor, forgets);
  say_texts(h);
  close_house(h);
}

/* pages enough.  Case 2 has the lengths of the chapter's hand calculation, halved */
static void roomy(unsigned size, bool in_batches)
{
  static const size_t half[MOST] = { 5, 50, 10, 15, 25, 7, 40, 20 };
  static struct house h;
  begin();
  h = (struct house) { .slots = size == 1 ? 1 : size == 2 ? 4 : 1 + draw(MOST_SLOTS), .n = size == 1 ? 1 : size == 2 ? MOST : 2 + draw(MOST - 1),
    .size = { .page_rows = 16 }, .w = { .in_batches = in_batches } };
  for (size_t i = 0; i < h.n; i++) {
    prompt_of(&h.a[i], size <= 2 ? 1 : 1 + draw(5)), want(&h, &h.a[i], size == 1 ? 2 : size == 2 ? half[i] : draw(16));
    if (size > 3) h.a[i].arrives = draw(10);
  }
  whole(&h, 0, 0);
}
static void slots(unsigned size) { roomy(size, false); }
static void batches(unsigned size) { roomy(size, true); }

static void pieces(unsigned size)
{
  static struct house h;
  begin();
  h = (struct house) { .slots = size == 1 ? 1 : 1 + draw(MOST_SLOTS), .n = size == 1 ? 1 : 2 + draw(4), .size = { .page_rows = 16 } };
  h.w.pass_rows = h.slots + draw(8);
  for (size_t i = 0; i < h.n; i++) {
    prompt_of(&h.a[i], size == 1 ? 7 : draw(3) == 0 ? 1 + draw(3) : 8 + draw(32)), want(&h, &h.a[i], 1 + draw(12));
    if (i > 0) h.a[i].arrives = h.a[i - 1].arrives + draw(4);
  }
  whole(&h, 0, 0);
}

static void room(unsigned size)
{
  static struct house h;
  begin();
  h = (struct house) { .slots = size == 1 ? 2 : 2 + draw(MOST_SLOTS - 1), .n = size == 1 ? 2 : 2 + draw(5),
    .size = { .rows = LONG + (size == 1 ? 0 : draw(24)), .page_rows = size == 1 ? 8 : (size_t) 1 << draw(5) } };
  if (size % 3 == 0) h.w.pass_rows = h.slots + draw(10);
  for (size_t i = 0; i < h.n; i++) {
    prompt_of(&h.a[i], size == 1 ? 4 : 1 + draw(24)), want(&h, &h.a[i], size == 1 ? 40 : 4 + draw(36));
    if (size > 3) h.a[i].arrives = draw(6);
  }
  whole(&h, 0, 0);
}

static void alike(struct house *h, const uint32_t *family)
{
  for (size_t i = 0; i < h->n; i++) {
    struct asked *a = &h->a[i];
    size_t common = draw(30);
    prompt_of(a, 1 + draw(28));
    memcpy(a->prompt, family, (common < a->n ? common : a->n) * sizeof *family);
  }
}

static void shared(unsigned size)
{
  static struct house h;
  uint32_t family[LONG];
  begin();
  bool tight = size > 20;
  h = (struct house) { .slots = tight ? 2 + draw(3) : 1 + draw(3), .n = 2 + draw(tight ? 7 : 5), .w = { .share = true }, .size = { .page_rows = (size_t) 2 << draw(3) } };
  if (size % 2 == 0) h.w.pass_rows = h.slots + draw(10);
  if (tight) h.size.rows = LONG + draw(16), h.size.page_rows = (size_t) 1 << draw(4);
  for (size_t i = 0; i < LONG; i++) family[i] = draw(TOY_WORDS);
  alike(&h, family);
  for (size_t i = 0; i < h.n; i++) {
    want(&h, &h.a[i], 1 + draw(tight ? 34 : 10));
    if (size > 2 && draw(8) == 0) h.a[i].want.on_row = shown;
    if (size > 2) h.a[i].arrives = draw(3) * draw(12);
  }
  if (size == 1) { /* the same prompt twice, one after the other */
    h.slots = 1, h.n = 2, h.size.page_rows = 4;
    memcpy(h.a[1].prompt, h.a[0].prompt, sizeof h.a[0].prompt);
    h.a[1].n = h.a[0].n;
  }
  whole(&h, 0, size > 2 && size % 5 == 3 ? 3 + draw(6) : 0);
}

static void refused(unsigned size)
{
  static struct house h;
  begin();
  h = (struct house) { .slots = 1 + size % MOST_SLOTS, .n = 1 + draw(6), .size = { .page_rows = 16 } };
  for (size_t i = 0; i < h.n; i++) {
    prompt_of(&h.a[i], 1 + draw(5)), want(&h, &h.a[i], 4 + draw(10));
    if (size > 4) h.a[i].arrives = draw(6);
  }
  whole(&h, 2 + draw(8), 0);
}

static void company(unsigned size)
{
  static const uint32_t stop[1] = { TOY_STOP };
  static struct house h;
  uint32_t family[LONG];
  begin();
  h = (struct house) { .slots = 1 + draw(MOST_SLOTS), .n = 1 + draw(MOST), .size = { .page_rows = (size_t) 1 << draw(5) } };
  if (size % 4 != 0) h.size.rows = LONG + draw(24);
  h.w = (struct scheduler_options) { .pass_rows = h.slots + draw(20), .share = draw(4) > 0, .in_batches = draw(8) == 0 };
  for (size_t i = 0; i < LONG; i++) family[i] = draw(TOY_WORDS);
  alike(&h, family);
  for (size_t i = 0; i < h.n; i++) {
    struct asked *a = &h.a[i];
    want(&h, a, draw(24));
    a->arrives = draw(12), a->gone = draw(8) == 0 ? a->arrives + 1 + draw(12) : 0;
    a->quits = draw(size % 4 == 1 ? 2 : 8) == 0 ? 1 + draw(8) : 0, a->victim = &h.a[draw((uint32_t) h.n)];
    if (draw(3) == 0) a->want.eos = stop, a->want.n_eos = 1;
    if (draw(12) == 0) a->want.on_row = shown;
    if (draw(2)) continue;
    a->dice.s = a->other_dice.s = sampling_default();
    a->dice.s.temperature = a->other_dice.s.temperature = 1.2, a->dice.seed = a->other_dice.seed = draw(1u << 31);
    if (!funnel_open(&a->dice.f, &memory, &kernels_plain, TOY_WORDS, &why) || !funnel_open(&a->other_dice.f, &memory, &kernels_plain, TOY_WORDS, &why)) return;
    a->want.select = sampler_choose, a->want.select_ctx = &a->dice;
  }
  whole(&h, 0, 0);
}

const struct lab_test lab_tests[] = { { "reading", 12, reading }, { "plan", 40, plan }, { "door", 60, door }, { "slots", 24, slots },
  { "batches", 16, batches }, { "pieces", 24, pieces }, { "room", 40, room }, { "shared", 80, shared }, { "refused", 24, refused },
  { "company", 80, company }, { NULL, 0, NULL } };
