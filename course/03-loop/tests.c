/* tests.c -- lab 3: the loops, on small models with random weights */
#include "kit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cache/cache.h"
#include "loop/naive.h"
#include "model/toy.h"

static struct toy toy;
static struct memory memory;
static struct counters counters;
static struct engine engine;
static struct error why;

static void shake(float *numbers, size_t n, float by)
{
  for (size_t i = 0; i < n; i++) numbers[i] += by * draw_float();
}

/* a model of four words with other weights each time, and an engine for it */
static void begin(void)
{
  toy_make(&toy);
  shake(toy.token[0], TOY_WORDS * TOY_WIDTH, .6f), shake(toy.place[0], TOY_PLACES * TOY_WIDTH, .6f);
  shake(toy.query[0], TOY_WIDTH * TOY_WIDTH, .5f), shake(toy.value[0], TOY_WIDTH * TOY_WIDTH, .5f);
  shake(toy.asked[0], TOY_WORDS * TOY_WIDTH, .5f);
  memset(&counters, 0, sizeof counters), memset(&memory, 0, sizeof memory);
  engine = (struct engine) { .k = &kernels_plain, .c = &counters };
}

static void say_ids(const char *what, const struct ids *text)
{
  char line[400];
  size_t n = 0;
  line[0] = '\0';
  for (size_t i = 0; i < text->n && n < 380; i++) n += (size_t) snprintf(line + n, sizeof line - n, " %u", text->id[i]);
  say("%s%s", what, line);
}

static void greedy(unsigned size)
{
  static const float few[] = { -1, -0.0f, 0, 1, 2, 2, -INFINITY, 3e38f };
  float logits[40];
  char line[400] = "";
  size_t n = 0;
  for (unsigned i = 0; i < size; i++) {
    logits[i] = size % 3 == 0 ? draw_float() : few[draw(8)];
    n += (size_t) snprintf(line + n, sizeof line - n, " %g", (double) logits[i]);
  }
  tell("logits%s", line);
  say("token %u", likeliest(logits, size));
}

/* how often a pass over some rows and the logits of the last of them ask for memory */
static uint64_t requests_of_pass(struct store *s, struct memory *m, size_t n)
{
  struct row rows[TOY_PLACES];
  struct pass *p = NULL;
  float logits[TOY_WORDS];
  size_t last = n - 1;
  uint64_t before = m->all.requests;
  for (size_t i = 0; i < n; i++) rows[i] = (struct row) { 0, (uint32_t) i, 0 };
  if (model_forward(&engine, &toy.lm, s, rows, n, &p, &why)) model_logits(&engine, &toy.lm, p, &last, 1, logits, &why);
  pass_close(p);
  store_crop(s, 0, 0);
  return m->all.requests - before;
}

/* a writer with a prompt of some length; what it wrote, and what that took */
static void naive(unsigned size, bool counts)
{
  struct writer w = { .lm = &toy.lm };
  float logits[TOY_WORDS];
  begin();
  w.m = memory, w.e = engine, w.e.c = &w.c, w.logits = logits;
  w.s = array_store_open(&w.m, &toy.lm.config, &why);
  size_t prompt = 1 + (size - 1) % 4, full = prompt + 1 + size / 3;
  if (full > TOY_PLACES) full = TOY_PLACES;
  for (size_t i = 0; i < prompt; i++) ids_push(&w.m, &w.text, draw(TOY_STOP), &why);
  tell("a prompt of %zu, full at %zu", prompt, full);
  if (!counts && size % 3 == 1 && size > 1) { /* each request of the first pass is refused once; then the same is tried again */
    uint64_t n = requests_of_pass(w.s, &w.m, prompt), which = size / 3 % n, live = w.m.all.live;
    tell("without memory for request %llu of its %llu", (unsigned long long) which + 1, (unsigned long long) n);
    w.m.fail_at = w.m.all.requests + 1 + which;
    why.text[0] = '\0';
    say_done("written", write_text(&w, full, &why), why.text);
    say("bytes kept %llu", (unsigned long long) (w.m.all.live - live));
    w.m.fail_at = 0;
    say_ids("text", &w.text);
    tell("and now with memory");
  }
  why.text[0] = '\0';
  bool ok = w.s != NULL && write_text(&w, full, &why);
  say_done("written", ok, why.text);
  if (!counts) say_ids("text", &w.text);
  else {
    say("rows %llu", (unsigned long long) w.c.kv_rows_computed);
    say("again %llu", (unsigned long long) w.c.kv_rows_recomputed);
    say("pairs %llu", (unsigned long long) w.c.qk_pairs);
  }
  store_close(w.s), ids_free(&w.m, &w.text);
  say("bytes left %llu", (unsigned long long) w.m.all.live);
}
static void naive_text(unsigned size) { naive(size, false); }
static void naive_counts(unsigned size) { naive(size, true); }

/* ---- the general loop */

static bool watch(void *ctx, const struct step *now)
{
  unsigned *left = ctx;
  say("step %zu chose %u of a text of %zu, rows %llu", now->number, now->chosen, now->length,
    (unsigned long long) (now->after.kv_rows_computed - now->before.kv_rows_computed));
  return left == NULL || --*left > 0;
}

/* a sampler, and from which number of tokens on it has nothing to choose; a criterion that is met at some length, or cannot say */
struct sampler { unsigned by; size_t fails; };
struct criterion { size_t at; bool fails; };

static bool choose(void *ctx, const float *logits, const struct continuation *text, uint32_t *chosen, struct error *e)
{
  const struct sampler *s = ctx;
  if (text->text.n >= s->fails) return error_say(e, "the sampler has no token for place %zu", text->text.n);
  say("sampler sees %u after %zu", *chosen, text->text.n);
  say_bits("logit", logits[*chosen]);
  *chosen = (*chosen + s->by) % TOY_STOP;
  return true;
}
static bool joined(void *ctx, uint32_t id, struct error *e)
{
  (void) ctx, (void) e;
  say("joined %u", id);
  return true;
}
static bool stop_at(void *ctx, const struct continuation *text, bool *enough, struct error *e)
{
  const struct criterion *c = ctx;
  say("criterion after %zu", text->text.n);
  if (c->fails && text->text.n >= c->at) return error_say(e, "the criterion cannot read place %zu", text->text.n);
  *enough = text->text.n >= c->at;
  return true;
}

static const char *ending(enum finish_reason r)
{
  static const char *const name[] = { [FINISH_NONE] = "none", [FINISH_STOP] = "stop", [FINISH_LENGTH] = "length",
    [FINISH_CANCELLED] = "cancelled", [FINISH_ERROR] = "error" };
  return name[r];
}

/* fails: the sentence with which the writing must fail, if it must */
static void write_with(struct generate_options *want, size_t prompt, const char *fails)
{
  struct store *s = array_store_open(&memory, &toy.lm.config, &why);
  struct generate_context g = { &engine, &toy.lm, s, &memory };
  struct continuation c;
  uint32_t ids[TOY_PLACES];
  for (size_t i = 0; i < prompt; i++) ids[i] = draw(TOY_STOP);
  memset(&c, 0, sizeof c);
  why.text[0] = '\0';
  bool ok = s != NULL && generate(&g, ids, prompt, want, &c, &why);
  say_done("written", ok, why.text);
  if (!ok && fails != NULL) say("the sentence is its own: %s", strstr(why.text, fails) != NULL ? "yes" : "no");
  if (ok) {
    say_ids("text", &c.text);
    say("ended %s", ending(c.ended));
    continuation_free(&memory, &c);
  }
  store_close(s);
  say("bytes left %llu", (unsigned long long) memory.all.live);
}

static void choice(unsigned size)
{
  struct sampler by = { draw(3), SIZE_MAX };
  struct generate_options want = { .max_new_tokens = 1 + size / 2, .select = choose, .accept = joined, .select_ctx = &by };
  begin();
  if (size % 4 == 3) by.fails = 1 + size % 3 + draw((uint32_t) want.max_new_tokens);
  tell("a sampler that takes the token %u after the likeliest, %zu tokens", by.by, want.max_new_tokens);
  if (by.fails < SIZE_MAX) tell("and fails at a text of %zu", by.fails);
  write_with(&want, 1 + size % 3, "the sampler has no token");
}

static void not_finite(unsigned size)
{
  struct store *s;
  struct sequence q;
  struct sequence *list[] = { &q };
  struct generate_options want = { .max_new_tokens = 3 };
  uint32_t ids[] = { 0, 1 };
  float logits[TOY_WORDS];
  begin();
  unsigned bad = draw(TOY_WORDS);
  toy.asked[bad][draw(TOY_WIDTH)] = size % 2 ? INFINITY : NAN;
  tell("logit %u is not finite", bad);
  s = array_store_open(&memory, &toy.lm.config, &why);
  struct generate_context g = { &engine, &toy.lm, s, &memory };
  if (s != NULL && sequence_open(&q, &g, ids, 2, &want, &why)) {
    char name[20];
    say_done("step", generate_step(&g, list, 1, logits, &why), why.text);
    say("ended %s", ending(q.c.ended));
    snprintf(name, sizeof name, "logit %u", bad);
    say("the message names it %s", q.c.ended == FINISH_ERROR && strstr(q.why.text, name) != NULL ? "yes" : "no");
    sequence_close(&memory, &q);
  }
  store_close(s);
}

static void endings(unsigned size)
{
  unsigned left = 1 + draw(3);
  struct criterion at = { 2 + draw(6), size % 8 == 6 };
  uint32_t eos[] = { TOY_STOP, draw(TOY_STOP) };
  struct generate_options want = { .max_new_tokens = 1 + draw(8), .eos = eos, .n_eos = size % 3 };
  begin();
  want.on_step = watch;
  if (size % 4 == 1) want.ctx = &left;
  if (size % 4 >= 2) want.stop = stop_at, want.stop_ctx = &at;
  if (size % 5 == 0) want.min_tokens = 1 + draw(3);
  size_t prompt = size % 7 == 0 ? 12 + draw(4) : 1 + draw(3);
  tell("%zu tokens after %zu, %zu end tokens, at least %zu", want.max_new_tokens, prompt, want.n_eos, want.min_tokens);
  if (want.stop != NULL) tell("a criterion that %s at %zu", at.fails ? "fails" : "is met", at.at);
  if (want.ctx != NULL) tell("a watcher that cancels after %u", left);
  if (size == 1) want.max_new_tokens = 0;
  write_with(&want, prompt, "the criterion cannot read");
}

static void chunks(unsigned size)
{
  struct generate_options want = { .max_new_tokens = 1 + draw(3), .chunk = 1 + draw(4), .on_step = watch };
  size_t prompt = 1 + size % 11;
  struct sequence q;
  struct sequence *list[] = { &q };
  uint32_t ids[TOY_PLACES];
  float logits[TOY_WORDS];
  begin();
  struct store *s = array_store_open(&memory, &toy.lm.config, &why);
  struct generate_context g = { &engine, &toy.lm, s, &memory };
  for (size_t i = 0; i < prompt; i++) ids[i] = draw(TOY_STOP);
  tell("a prompt of %zu in pieces of %zu", prompt, want.chunk);
  if (s == NULL || !sequence_open(&q, &g, ids, prompt, &want, &why)) return;
  for (int i = 0; i < 40 && q.c.ended == FINISH_NONE; i++) {
    uint64_t before = counters.kv_rows_computed;
    bool ok = generate_step(&g, list, 1, logits, &why);
    say("%s, read %llu, text %zu", ok ? "ok" : "refused", (unsigned long long) (counters.kv_rows_computed - before), q.c.text.n);
    if (!ok) break;
  }
  say("ended %s", ending(q.c.ended));
  sequence_close(&memory, &q);
  store_close(s);
}

/* a text in a store that still has the rows of another one, which begins in the same way */
static void kept(unsigned size)
{
  struct generate_options want = { .max_new_tokens = 2, .recall = store_match_prefix, .on_step = watch };
  struct continuation c;
  uint32_t ids[8];
  size_t prompt = 2 + size % 5;
  begin();
  struct store *s = array_store_open(&memory, &toy.lm.config, &why);
  struct generate_context g = { &engine, &toy.lm, s, &memory };
  for (size_t i = 0; i < prompt; i++) ids[i] = draw(TOY_STOP);
  tell("a prompt of %zu, then its first %zu tokens once more, rows kept", prompt, prompt - size % 2);
  for (int i = 0; i < 2 && s != NULL; i++) {
    bool ok = generate(&g, ids, prompt - (i > 0 ? size % 2 : 0), &want, &c, &why);
    say_done("written", ok, why.text);
    if (!ok) break;
    say_ids("text", &c.text);
    continuation_free(&memory, &c);
  }
  store_close(s);
}

static void together(unsigned size)
{
  enum { MOST = 4 };
  size_t n = 1 + size % MOST, alive = n;
  struct cache_options o = { .page_rows = 2 };
  struct sequence q[MOST], *list[MOST];
  struct generate_options want[MOST];
  float logits[MOST * TOY_WORDS];
  begin();
  struct store *s = cache_open(&memory, &toy.lm.config, n, &o, &why);
  struct generate_context g = { &engine, &toy.lm, s, &memory };
  tell("%zu sequences%s", n, size % 2 ? ", rows kept" : "");
  for (size_t i = 0; i < n; i++) {
    uint32_t ids[6];
    size_t prompt = 1 + draw(5);
    for (size_t k = 0; k < prompt; k++) ids[k] = draw(TOY_STOP);
    want[i] = (struct generate_options) { .max_new_tokens = 1 + draw(6), .sequence = (uint32_t) i, .chunk = draw(3),
      .recall = size % 2 ? store_match_prefix : NULL };
    list[i] = &q[i];
    if (s == NULL || !sequence_open(&q[i], &g, ids, prompt, &want[i], &why)) return;
  }
  /* one step is refused memory at each of its requests in turn; no text has changed then, and the step is tried again */
  int poor = size % 3 == 0 ? (int) draw(4) : -1, tries = 0;
  if (poor >= 0) tell("step %d is refused memory, request after request, and tried again", poor);
  for (int step = 0; step < 60 && alive > 0; step++) {
    memory.fail_at = step == poor ? memory.all.requests + 1 + (uint64_t) tries : 0;
    why.text[0] = '\0';
    bool ok = generate_step(&g, list, n, logits, &why);
    memory.fail_at = 0;
    if (!ok) {
      say_why("refused", why.text);
      for (size_t i = 0; i < n; i++) say_ids("text", &q[i].c.text);
      if (step != poor || ++tries > 40) break;
      step--;
    }
    alive = 0;
    for (size_t i = 0; i < n; i++) alive += q[i].c.ended == FINISH_NONE;
  }
  for (size_t i = 0; i < n; i++) {
    say_ids("text", &q[i].c.text);
    say("ended %s", ending(q[i].c.ended));
    sequence_close(&memory, &q[i]);
  }
  say("passes %llu rows %llu", (unsigned long long) counters.passes, (unsigned long long) counters.kv_rows_computed);
  store_close(s);
  say("bytes left %llu", (unsigned long long) memory.all.live);
}

const struct lab_test lab_tests[] = { { "greedy", 24, greedy }, { "naive_text", 30, naive_text }, { "naive_counts", 30, naive_counts },
  { "choice", 20, choice }, { "not_finite", 12, not_finite }, { "endings", 60, endings }, { "chunks", 40, chunks },
  { "kept", 20, kept }, { "together", 40, together }, { NULL, 0, NULL } };
