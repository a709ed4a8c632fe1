/* tests.c -- lab 9: beam search. A table of random numbers serves as the model where only the rule is tested; a model of four words
   with random weights where rows of a cache are shared. */
#include "kit.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/toy.h"
#include "search/inside.h"
#include "search/sharing.h"

enum { MOST_BEAMS = 6, MOST_EOS = 3, MOST_VOCAB = 9, LONGEST = 24 };

static uint64_t mix(uint64_t z)
{
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* ids in words, in one of a few places */
static const char *words(const uint32_t *id, size_t n)
{
  static char place[4][300];
  static unsigned next;
  char *line = place[next++ % 4];
  size_t at = 0;
  line[0] = '\0';
  for (size_t i = 0; i < n && at < 280; i++) at += (size_t) snprintf(line + at, 300 - at, "%s%u", i > 0 ? " " : "", id[i]);
  return line;
}

static const char *ending(enum finish_reason r)
{
  static const char *const name[] = { [FINISH_NONE] = "none", [FINISH_STOP] = "stop", [FINISH_LENGTH] = "length",
    [FINISH_CANCELLED] = "cancelled", [FINISH_ERROR] = "error" };
  return name[r];
}
static const char *outcome(enum search_outcome o)
{
  static const char *const name[] = { [OUTCOME_DROPPED] = "dropped", [OUTCOME_KEPT] = "kept", [OUTCOME_FINISHED] = "finished" };
  return name[o];
}

/* ---- a table for a model: what may follow depends on the last tokens */

struct table { size_t vocab, order; unsigned kinds, calls, gone, give_up; uint64_t key; struct progress *told; bool spoilt, cancels; };

static bool table_score(void *ctx, const struct search_beam *grown, size_t n, float *logits, struct error *why)
{
  struct table *t = ctx;
  if (++t->calls == t->give_up) {
    if (t->cancels) t->told->cancelled = true;
    memset(logits, 0x7f, n * t->vocab * sizeof *logits);
    return error_say(why, "the source has given up");
  }
  for (size_t i = 0; i < n; i++) {
    uint64_t h = t->key;
    for (size_t k = grown[i].n > t->order ? grown[i].n - t->order : 0; k < grown[i].n; k++) h = mix(h + (grown[i].id[k] + 1) * 0x9e3779b97f4a7c15u);
    for (size_t v = 0; v < t->vocab; v++) {
      uint64_t x = mix(h ^ (v + 1) * 0xd1342543de82ef95u);
      float *z = &logits[i * t->vocab + v];
      *z = t->kinds > 0 ? (float) (x % t->kinds) : (float) (x >> 40) / (1 << 22) - 2;
      if (t->gone > 0 && v > 0 && (x >> 3) % t->gone == 0) *z = -INFINITY;
      if (t->spoilt && i == n - 1 && v == t->vocab - 1) *z = NAN;
    }
  }
  return true;
}

/* a search that has begun, without search_run */
struct bench {
  struct memory m;
  struct table table;
  struct search_source from;
  struct search_settings want;
  uint32_t eos[MOST_EOS];
  struct search s;
  struct error why;
};

static bool bench_open(struct bench *b, size_t beams, size_t n_eos)
{
  static const double power[] = { 1, 0, 0.5, 2, -1 };
  memset(b, 0, sizeof *b);
  b->table = (struct table) { .vocab = n_eos + 2 + draw(MOST_VOCAB - MOST_EOS - 1), .order = 1 + draw(3), .key = mix(draw(1u << 31)) };
  b->from = (struct search_source) { .vocab = b->table.vocab, .ctx = &b->table, .score = table_score };
  for (size_t i = 0; i < n_eos; i++) b->eos[i] = (uint32_t) (b->table.vocab - 1 - 2 * i) % (uint32_t) b->table.vocab;
  b->want = (struct search_settings) { .num_beams = beams, .num_return = beams, .length_penalty = power[draw(5)], .eos = b->eos, .n_eos = n_eos };
  b->s = (struct search) { .from = &b->from, .want = &b->want, .m = &b->m, .lists.m = &b->m, .n_prompt = 1 + draw(3) };
  b->want.max_length = b->s.limit = b->s.n_prompt + 2 + draw(8);
  b->s.max_candidates = (n_eos > 1 ? 1 + n_eos : 2) * beams;
  bool ok = search_take(&b->s, &kernels_plain, &b->why);
  for (size_t i = 0; ok && i < beams; i++) b->s.hypotheses[i].id = b->s.pooled + i * b->s.limit;
  return ok;
}
static void bench_close(struct bench *b)
{
  search_give(&b->s);
  say("bytes left %" PRIu64, b->m.all.live);
}

/* beams that grow next: all of one length, with the same prompt */
static void fill_beams(struct bench *b, size_t n, size_t length)
{
  struct search *s = &b->s;
  double score = -draw(3);
  s->n_active = n, s->turn = draw(2);
  for (size_t i = 0; i < n; i++) {
    uint32_t *id = s->text[s->turn] + i * s->limit;
    for (size_t k = 0; k < length; k++) id[k] = k < s->n_prompt && i > 0 ? s->active[0].id[k] : draw((uint32_t) b->table.vocab);
    score -= .5 * (1 + (double) draw_float());
    s->active[i] = (struct search_beam) { .id = id, .n = length, .score = score };
    tell("beam %zu: %s, with %.3f", i, words(id, length), score);
  }
}

/* ---- one function at a time */

static void ranks(unsigned size)
{
  struct search_candidate list[8] = { { .token = 77 } };
  struct search s = { .list = list, .max_candidates = size == 1 ? 1 : 1 + draw(8) };
  tell("room for %zu", s.max_candidates);
  for (unsigned i = 0; i < size; i++) {
    struct search_candidate c = { .parent = i / 4, .token = i % 4, .score = size % 3 == 0 ? (double) draw_float() - 1 : -.5 * draw(4) };
    tell("beam %zu, token %u: %.2f", c.parent, c.token, c.score);
    rank_candidate(&s, c);
  }
  say("there are %zu", s.n_list);
  for (size_t i = 0; i < s.n_list && i < 8; i++) say("beam %zu, token %u, with %.4f", list[i].parent, list[i].token, list[i].score);
}

static void say_candidates(const struct search_candidate *list, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    say("rank %zu: beam %zu, token %u", list[i].rank, list[i].parent, list[i].token);
    say_near("log-probability", list[i].logprob);
    say_near("score", list[i].score);
  }
}

static void grow(unsigned size, bool processors)
{
  struct bench b;
  struct search_processor list[3];
  size_t beams = size == 1 ? 1 : 1 + draw(4);
  if (!bench_open(&b, beams, size == 1 ? 0 : draw(3))) return;
  if (processors) {
    size_t n = 1 + draw(3);
    for (size_t i = 0; i < n; i++) {
      list[i] = (struct search_processor) { .what = (enum search_process) ((size + i) % 3), .penalty = .5 + draw(5), .n = draw(4) };
      tell("processor %zu: %s %g", i, list[i].what == PROCESS_REPETITION ? "repetition penalty" : list[i].what == PROCESS_NGRAM ? "no n-gram twice, n ="
        : "no end before", list[i].what == PROCESS_REPETITION ? list[i].penalty : (double) list[i].n);
    }
    b.want.process = list, b.want.n_process = n;
  }
  else if (size % 5 == 4) b.table.gone = 3;
  else if (size % 7 == 6) b.table.spoilt = true;
  if (b.table.spoilt) tell("a logit is NaN");
  tell("%zu tokens, %zu candidates at most", b.table.vocab, b.s.max_candidates);
  if (b.want.n_eos > 0) tell("end tokens: %s", words(b.eos, b.want.n_eos));
  fill_beams(&b, size == 1 ? 1 : 1 + draw((uint32_t) beams), b.s.n_prompt + draw((uint32_t) (b.s.limit - b.s.n_prompt)));
  for (int round = 0; round < 2; round++) { /* the second time the list must be as after the first */
    bool ok = grow_beams(&b.s, &b.why);
    say("%s, %u questions", ok ? "grown" : "refused", b.table.calls);
    if (!ok) break;
    say("there are %zu", b.s.n_list);
    say_candidates(b.s.list, b.s.n_list);
  }
  bench_close(&b);
}
static void candidates(unsigned size) { grow(size, false); }
static void processors(unsigned size) { grow(size, true); }

static void say_text(const char *what, const struct search_text *t)
{
  say("%s %s, ended by %s", what, words(t->id, t->n), ending(t->ended));
  say_near("sum", t->sum);
  say_near("score", t->score);
}

static void pool(unsigned size)
{
  struct bench b;
  double last = -1;
  size_t last_n = 2;
  if (!bench_open(&b, size == 1 ? 1 : 1 + draw(5), 1)) return;
  struct search *s = &b.s;
  tell("%zu places, a prompt of %zu, length penalty %g", b.want.num_beams, s->n_prompt, b.want.length_penalty);
  say_near("score", final_score(s, -3, 2));
  say_near("score", final_score(s, -5, 5));
  for (unsigned i = 0; i < size; i++) {
    uint32_t id[LONGEST], token = draw((uint32_t) b.table.vocab);
    bool same = i > 0 && draw(3) == 0, cancelled = !same && draw(5) == 0; /* an equal of the one before */
    size_t n = same ? last_n : s->n_prompt + 1 + draw((uint32_t) (s->limit - s->n_prompt - 1));
    double sum = same ? last : -4 * (1 + (double) draw_float());
    for (size_t k = 0; k < n; k++) id[k] = draw((uint32_t) b.table.vocab);
    struct search_beam beam = { id, n, 0, sum + 1 };
    tell("%s%s%u with %.3f", words(id, n), cancelled ? " cancelled, not " : " ends with ", token, sum);
    finish_text(s, &beam, cancelled ? NULL : &token, sum, cancelled ? FINISH_CANCELLED : FINISH_STOP);
    last = cancelled ? -9 - (double) i : sum, last_n = cancelled ? s->n_prompt + 1 : n;
    memset(id, 0xff, sizeof id);
  }
  say("%zu texts", s->n_hypotheses);
  for (size_t i = 0; i < s->n_hypotheses && i < b.want.num_beams; i++) say_text("text", &s->hypotheses[i]);
  bench_close(&b);
}

static void deciding(unsigned size)
{
  struct bench b;
  size_t beams = size == 1 ? 1 : 1 + draw(4);
  if (!bench_open(&b, beams, size == 1 ? 0 : draw(MOST_EOS + 1))) return;
  struct search *s = &b.s;
  uint32_t active = size == 1 ? 1 : 1 + draw((uint32_t) beams);
  fill_beams(&b, active, size % 5 == 0 ? s->limit - 1 : s->n_prompt + draw((uint32_t) (s->limit - s->n_prompt)));
  tell("%zu beams, the longest text has %zu, end tokens: %s", beams, s->limit, words(b.eos, b.want.n_eos));
  double score = -1;
  s->n_list = size == 1 ? 1 : 1 + draw((uint32_t) s->max_candidates);
  for (size_t i = 0; i < s->n_list; i++) {
    uint32_t token = b.want.n_eos > 0 && draw(3) == 0 ? b.eos[draw((uint32_t) b.want.n_eos)] : draw((uint32_t) b.table.vocab);
    score -= draw(3) == 0 ? 0 : .3 * (1 + (double) draw_float());
    s->list[i] = (struct search_candidate) { .parent = draw(active), .rank = i + 1, .token = token, .logprob = -1, .score = score };
    tell("rank %zu: beam %zu, token %u, %.3f", i + 1, s->list[i].parent, token, score);
  }
  s->n_next = draw(2);
  decide(s);
  for (size_t i = 0; i < s->n_list; i++) say("rank %zu is %s", i + 1, outcome(s->list[i].outcome));
  say("beams then: %zu", s->n_next);
  for (size_t i = 0; i < s->n_next && i < beams; i++) {
    say("beam %zu: %s, from %zu", i, words(s->next[i].id, s->next[i].n), s->next[i].parent);
    say_near("score", s->next[i].score);
  }
  for (size_t i = 0; i < s->n_active; i++) say("its parents are still there: %s", words(s->active[i].id, s->active[i].n));
  for (size_t i = 0; i < s->n_hypotheses && i < beams; i++) say_text("finished", &s->hypotheses[i]);
  bench_close(&b);
}

static void done(unsigned size)
{
  static const char *const rule[] = { [EARLY_FALSE] = "false", [EARLY_TRUE] = "true", [EARLY_NEVER] = "never" };
  struct bench b;
  if (!bench_open(&b, size == 1 ? 1 : 1 + draw(3), 1)) return;
  struct search *s = &b.s;
  for (int k = 0; k < 8; k++) {
    b.want.early = (enum early_stopping) draw(3);
    s->n_next = draw(5) == 0 ? 0 : 1 + draw((uint32_t) b.want.num_beams);
    s->n_hypotheses = draw(4) == 0 ? draw((uint32_t) b.want.num_beams) : b.want.num_beams;
    size_t n = s->n_prompt + 1 + draw((uint32_t) (s->limit - s->n_prompt - 1));
    double sum = -1 - (double) draw(40) / 7, worst = sum / pow((double) (n - s->n_prompt), b.want.length_penalty) * (1 + .5 * (double) draw_float());
    if (s->n_next > 0) s->next[0] = (struct search_beam) { .id = s->text[0], .n = n, .score = sum };
    for (size_t i = 1; i < s->n_next; i++) s->next[i] = (struct search_beam) { .id = s->text[0], .n = n, .score = sum - (double) i };
    for (size_t i = s->n_hypotheses; i-- > 0; ) s->hypotheses[i].score = worst + .1 * (double) (s->n_hypotheses - 1 - i);
    tell("early_stopping %s, length penalty %g, %zu beams, %zu of %zu texts", rule[b.want.early], b.want.length_penalty, s->n_next, s->n_hypotheses,
      b.want.num_beams);
    if (s->n_next > 0) tell("the best has %.3f after %zu of at most %zu", sum, n - s->n_prompt, s->limit - s->n_prompt);
    if (s->n_hypotheses > 0) tell("the worst text %.4f", worst);
    say("over %s", search_is_done(s) ? "yes" : "no");
  }
  bench_close(&b);
}

/* ---- the whole search */

struct seen { size_t stop_at, prompt; };
static bool see(void *ctx, const struct search_step *now)
{
  const struct seen *w = ctx;
  char kept[200] = "";
  for (size_t i = 0; i < now->n_candidates; i++)
    if (now->candidate[i].outcome != OUTCOME_DROPPED)
      snprintf(kept + strlen(kept), sizeof kept - strlen(kept), " %zu+%u%s", now->candidate[i].parent, now->candidate[i].token,
        now->candidate[i].outcome == OUTCOME_KEPT ? "" : "!");
  say("step %zu: %zu beams, %zu candidates, of them%s; %zu texts", now->number, now->n, now->n_candidates, kept, now->n_finished);
  if (now->n > 0) say("the first beam was %s", words(now->active[0].id, now->active[0].n));
  if (now->n_candidates > 0) say_near("the-best", now->candidate[0].score);
  return now->number != w->stop_at;
}

static void say_result(struct search_result *r)
{
  say("%zu texts after %zu steps", r->n, r->steps);
  for (size_t i = 0; i < r->n; i++) say_text("text", &r->text[i]);
  search_free(r);
}

/* options at random; the search itself */
static void run(struct table *t, size_t beams, size_t n_eos, unsigned size, struct search_settings *want, size_t stop_at)
{
  static const char *const rule[] = { [EARLY_FALSE] = "false", [EARLY_TRUE] = "true", [EARLY_NEVER] = "never" };
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct search_result r;
  uint32_t eos[MOST_EOS], prompt[4];
  struct seen w = { stop_at, 1 + draw(3) };
  for (size_t i = 0; i < n_eos; i++) eos[i] = (uint32_t) ((t->vocab - 1 - 2 * i) % t->vocab);
  for (size_t i = 0; i < w.prompt; i++) prompt[i] = draw((uint32_t) t->vocab);
  want->num_beams = beams, want->num_return = 1 + draw((uint32_t) beams), want->eos = eos, want->n_eos = n_eos;
  want->max_length = w.prompt + (size == 1 ? 1 : 1 + draw(9)), want->early = (enum early_stopping) draw(3);
  want->see = see, want->ctx = &w;
  struct search_source from = { .vocab = t->vocab, .ctx = t, .score = table_score, .progress = t->told };
  if (size % 6 == 5) from.max_len = w.prompt + 2;
  tell("%zu beams, %zu tokens, end tokens: %s", beams, t->vocab, words(eos, n_eos));
  tell("prompt %s, at most %zu, early_stopping %s, length penalty %g", words(prompt, w.prompt), want->max_length, rule[want->early], want->length_penalty);
  bool ok = search_run(&from, &m, &kernels_plain, prompt, w.prompt, want, &r, &why);
  say("%s", ok ? "found" : "refused");
  say("questions %u", t->calls);
  if (ok) say_result(&r);
  say("bytes left %" PRIu64, m.all.live);
}

static void search(unsigned size)
{
  static const double power[] = { 1, 0, .7, 2, -1 };
  struct table t = { .vocab = size == 1 ? 3 : 3 + draw(MOST_VOCAB - 3), .order = 1 + draw(3), .key = mix(draw(1u << 31)) };
  struct search_settings want = { .length_penalty = power[draw(5)] };
  run(&t, size == 1 ? 1 : 1 + draw(5), size == 1 ? 0 : draw(3), size, &want, 0);
}

/* few different numbers, so many candidates are equal */
static void ties(unsigned size)
{
  struct table t = { .vocab = 3 + draw(4), .order = 1 + draw(2), .kinds = 1 + draw(3), .key = mix(draw(1u << 31)) };
  struct search_settings want = { .length_penalty = draw(2) ? 2 : 0 };
  tell("%u different logits", t.kinds);
  run(&t, 1 + draw(5), draw(3), size, &want, 0);
}

/* searches that end in the middle, with texts or without */
static void given_up(unsigned size)
{
  static const struct search_processor never_twice = { .what = PROCESS_NGRAM, .n = 1 };
  struct table t = { .vocab = 4 + draw(4), .order = 1 + draw(3), .key = mix(draw(1u << 31)) };
  struct progress told = { .cancelled = false };
  struct search_settings want = { .length_penalty = 1 };
  size_t stop_at = 0, n_eos = draw(2);
  switch (size % 4) {
    case 1: stop_at = 1 + draw(4), tell("the watcher ends it after step %zu", stop_at); break;
    case 2: t.give_up = 1 + draw(4), t.told = &told, t.cancels = true, tell("the source is cancelled at question %u", t.give_up); break;
    case 3: want.process = &never_twice, want.n_process = 1, tell("no token comes twice"); break;
    default:
      t.give_up = 2 + draw(3), tell("the source fails at question %u", t.give_up);
      if (draw(2)) t.told = &told;
  }
  run(&t, 1 + draw(4), n_eos, size, &want, stop_at);
}

/* ---- beams that share a cache */

static struct toy toy;
static struct memory memory;
static struct counters counters, other_counters;
static struct engine engine, other_engine;
static struct error why;

static void begin(void)
{
  float *const part[] = { toy.token[0], toy.place[0], toy.query[0], toy.value[0], toy.asked[0] };
  static const size_t n[] = { TOY_WORDS * TOY_WIDTH, TOY_PLACES * TOY_WIDTH, TOY_WIDTH * TOY_WIDTH, TOY_WIDTH * TOY_WIDTH, TOY_WORDS * TOY_WIDTH };
  toy_make(&toy);
  for (int k = 0; k < 5; k++)
    for (size_t i = 0; i < n[k]; i++) part[k][i] += .5f * draw_float();
  memset(&counters, 0, sizeof counters), memset(&other_counters, 0, sizeof counters), memset(&memory, 0, sizeof memory);
  engine = (struct engine) { .k = &kernels_plain, .c = &counters };
  other_engine = (struct engine) { .k = &kernels_plain, .c = &other_counters };
}

/* children chosen by the test: the logits of all, what was read and what was copied */
static void source(unsigned size)
{
  enum { MOST = 4 };
  struct search_model model;
  struct search_source from;
  uint32_t beams = size < 4 ? 1 + size / 2 : 1 + draw(MOST);
  struct cache_options o = { .page_rows = 1u << draw(3) };
  uint32_t text[2][MOST][TOY_PLACES];
  size_t n = 1, length = 1 + draw(4), chunk = draw(3);
  begin();
  struct store *s = cache_open(&memory, &toy.lm.config, beams, &o, &why), *plain = array_store_open(&memory, &toy.lm.config, &why);
  struct generate_context g = { &engine, &toy.lm, s, &memory };
  tell("%u beams, pages of %zu, a prompt of %zu in chunks of %zu", beams, o.page_rows, length, chunk);
  for (size_t k = 0; k < length; k++) text[0][0][k] = draw(TOY_WORDS);
  if (s == NULL || plain == NULL || !search_model_open(&model, &g, beams, chunk, &from, &why)) {
    say("not opened");
    return;
  }
  struct search_beam grown[MOST] = { { .id = text[0][0], .n = length } };
  for (unsigned step = 0; step < 1 + size / 4 && length <= TOY_PLACES; step++) {
    float logits[MOST * TOY_WORDS], again[TOY_WORDS];
    struct counters before = counters;
    if (!from.score(from.ctx, grown, n, logits, &why)) {
      say("refused: %s", why.text);
      break;
    }
    say("rows read %" PRIu64, counters.kv_rows_computed - before.kv_rows_computed);
    say("rows read again %" PRIu64, counters.kv_rows_recomputed - before.kv_rows_recomputed);
    say("pages in use %zu", cache_look(s).pages_used);
    say_most("copied-bytes", (double) cache_look(s).bytes_copied, 1);
    for (size_t i = 0; i < n; i++) {
      size_t at = length - 1;
      model_evaluate(&other_engine, &toy.lm, plain, grown[i].id, length, &at, 1, again, &why);
      say("beam %zu: the logits are those of its text %s", i, memcmp(again, logits + i * TOY_WORDS, sizeof again) == 0 ? "yes" : "no");
      say_bits("logit", logits[i * TOY_WORDS + draw(TOY_WORDS)]);
    }
    size_t children = 1 + draw(beams), old = n;
    char line[200] = "";
    for (size_t i = 0; i < children; i++) {
      size_t parent = draw((uint32_t) old);
      uint32_t *id = text[(step + 1) % 2][i];
      memcpy(id, text[step % 2][parent], length * sizeof *id);
      if (length < TOY_PLACES) id[length] = draw(TOY_WORDS);
      grown[i] = (struct search_beam) { .id = id, .n = length + 1, .parent = parent };
      snprintf(line + strlen(line), sizeof line - strlen(line), " %zu", parent);
    }
    n = children, length++;
    if (length > TOY_PLACES) break;
    tell("parents of the next:%s", line);
  }
  search_model_close(&model);
  store_close(s), store_close(plain);
  say("bytes left %" PRIu64, memory.all.live);
}

/* whole searches with a model, one after another in the same cache */
static void shared(unsigned size)
{
  uint32_t beams = 1 + draw(4), eos[] = { TOY_STOP };
  struct cache_options o = { .page_rows = 1u << draw(3) };
  uint32_t prompt[8];
  begin();
  struct store *s = cache_open(&memory, &toy.lm.config, beams, &o, &why);
  struct generate_context g = { &engine, &toy.lm, s, &memory };
  for (int k = 0; k < 8; k++) prompt[k] = draw(TOY_WORDS);
  for (int round = 0; s != NULL && round < 2; round++) {
    struct search_model model;
    struct search_source from;
    struct search_result r;
    size_t n = 1 + draw(6);
    struct search_settings want = { .num_beams = beams, .num_return = beams, .max_length = n + 1 + draw(12), .length_penalty = .5 * draw(3), .eos = eos,
      .n_eos = size % 2, .early = (enum early_stopping) draw(3) };
    if (round > 0 && draw(2)) prompt[draw((uint32_t) n)] = draw(TOY_WORDS);
    tell("%u beams, pages of %zu, after %s, at most %zu tokens", beams, o.page_rows, words(prompt, n), want.max_length);
    if (!search_model_open(&model, &g, beams, draw(3), &from, &why)) {
      say("not opened");
      break;
    }
    if (search_run(&from, &memory, &kernels_plain, prompt, n, &want, &r, &why)) say_result(&r);
    else say("refused: %s", why.text);
    search_model_close(&model);
    say_most("rows-read", (double) counters.kv_rows_computed, 1);
    say_most("passes", (double) counters.passes, 1);
    say_most("copied-bytes", (double) cache_look(s).bytes_copied, 1);
    say_most("pages", (double) cache_look(s).pages, 1);
  }
  store_close(s);
  say("bytes left %" PRIu64, memory.all.live);
}

/* ---- best of n */

static bool not_asked(void *ctx, const struct step *now)
{
  (void) ctx;
  say("the caller's watcher is shown step %zu", now->number);
  return true;
}

static void best(unsigned size)
{
  uint32_t prompt[4], eos = TOY_STOP;
  size_t n = 1 + draw(4), texts = size < 3 ? size : 1 + draw(6);
  struct sampler dice = { .s = sampling_default(), .seed = draw(1u << 31) };
  struct best_of b;
  begin();
  if (size % 4 == 0) dice.s.temperature = draw(2) ? 0 : .5;
  struct store *s = array_store_open(&memory, &toy.lm.config, &why);
  struct generate_context g = { &engine, &toy.lm, s, &memory };
  struct generate_options want = { .max_new_tokens = size % 7 == 6 ? 1 : 1 + draw(8), .eos = &eos, .n_eos = 1, .recall = store_match_prefix, .on_step = not_asked };
  for (size_t k = 0; k < n; k++) prompt[k] = draw(TOY_STOP);
  if (s == NULL || !funnel_open(&dice.f, &memory, &kernels_plain, TOY_WORDS, &why)) return;
  tell("%zu texts of at most %zu tokens after %s, temperature %g", texts, want.max_new_tokens, words(prompt, n), dice.s.temperature);
  bool ok = best_of_write(&g, &dice, prompt, n, &want, texts, &b, &why);
  say("%s", ok ? "written" : "refused");
  if (ok) {
    say("number %zu: %s, ended by %s", b.winner, words(b.best.text.id, b.best.text.n), ending(b.best.ended));
    say_near("log-probability", b.logprob);
    best_of_free(&memory, &b);
  }
  say_most("passes", (double) counters.passes, 1);
  funnel_close(&dice.f);
  store_close(s);
  say("bytes left %" PRIu64, memory.all.live);
}

const struct lab_test lab_tests[] = { { "ranks", 24, ranks }, { "candidates", 30, candidates }, { "processors", 40, processors },
  { "pool", 30, pool }, { "deciding", 40, deciding }, { "done", 30, done }, { "search", 50, search }, { "ties", 40, ties },
  { "given_up", 48, given_up }, { "source", 40, source }, { "shared", 40, shared }, { "best", 30, best }, { NULL, 0, NULL } };
