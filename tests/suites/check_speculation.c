/* Chapter 13: whoever guesses, and whatever is guessed, the text is that of the loop of chapter 3. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include "tiny.h"
#include "cache/keep.h"
#include "sampling/sampling.h"
#include "serving/scheduler.h"
#include "speculation/drafter.h"
#include "speculation/lookup.h"
#include "kernels/kernels.h"

enum { MOST = 6, LONG = 40, CONTEXT = 64 };
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { ROUNDS = 300, SHARED = 2 };
#else
enum { ROUNDS = 6000, SHARED = 16 };
#endif

/* a rule with a state: the token after x is one of the residues of x that its state allows; it forbids more and more */
struct toy_rule { uint32_t state; uint8_t allowed[TINY_V]; };
static bool toy_allow(void *ctx, size_t written, const uint8_t **allowed, struct error *why)
{
  struct toy_rule *r = ctx;
  (void) written, (void) why;
  for (uint32_t v = 0; v < TINY_V; v++) r->allowed[v] = (v * 7 + r->state) % 3 != 0;
  *allowed = r->allowed;
  return true;
}
static bool toy_take(void *ctx, uint32_t id, struct error *why)
{
  struct toy_rule *r = ctx;
  (void) why;
  r->state = (r->state * 5 + id + 1) % 97;
  return true;
}
static uint32_t toy_save(const void *ctx) { return ((const struct toy_rule *) ctx)->state; }
static void toy_restore(void *ctx, uint32_t state) { ((struct toy_rule *) ctx)->state = state; }

/* a text that is asked for, and its choices, twice: alone and with guesses */
struct asked {
  uint32_t prompt[LONG];
  size_t n;
  struct generate_options want;
  struct sampler dice[2];
  struct toy_rule rule[2];
  uint32_t forbidden; /* a stop criterion ends the text behind it; TINY_V: none */
  struct continuation alone;
  struct request r;
  size_t told;
  uint32_t seen[CONTEXT + 2];
};

/* who guesses: a lookup, a smaller model, the same model, somebody who has seen the answer and lies now and then */
enum who { LOOKUP, SMALL, SAME, LIAR, NOBODY, N_WHO };
struct house {
  struct tiny_rig rig;
  struct tiny small;
  struct cache_options size;
  struct asked a[MOST];
  size_t n;
  enum who who;
  struct lookup lookup;
  struct drafter drafter;
  struct speculation by;
  uint64_t dice; /* the liar's */
};

static bool told(void *ctx, const struct step *now)
{
  struct asked *a = ctx;
  hold_msg(now->number == a->told + 1, "token %zu is told after %zu", now->number, a->told);
  hold_msg(now->length == a->n + a->told, "token %zu came after a text of %zu", now->number, now->length);
  a->seen[a->told++] = now->chosen;
  return true;
}
static bool stop_there(void *ctx, const struct continuation *text, bool *enough, struct error *why)
{
  const struct asked *a = ctx;
  (void) why;
  *enough = text->text.id[text->text.n - 1] == a->forbidden;
  return true;
}

/* knows how the text goes on; guesses too much, too little, wrong, and what is no token at all */
static void lie(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  struct house *h = ctx;
  struct error why;
  for (size_t i = 0; i < n; i++) {
    struct sequence *q = list[i];
    const struct asked *a = q->want->ctx;
    size_t many = q->room == 0 ? 0 : rnd(&h->dice) % (q->room + 1), at = q->c.text.n;
    for (size_t k = 0; k < many; k++) {
      bool right = rnd(&h->dice) % 5 != 0 && at + k < a->alone.text.n;
      uint32_t id = right ? a->alone.text.id[at + k] : (uint32_t) (rnd(&h->dice) % TINY_V);
      if (rnd(&h->dice) % 200 == 0) id = TINY_V + 5;
      hold(ids_push(g->m, &q->guess, id, &why));
    }
  }
}
static void be_silent(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  (void) ctx, (void) g, (void) list, (void) n;
}

static void ask(struct house *h, struct asked *a, uint64_t *seed)
{
  static const uint32_t end[2] = { 3, 11 };
  a->n = 1 + rnd(seed) % (LONG - 12);
  size_t period = 1 + rnd(seed) % 9; /* so that there is something to look up */
  for (size_t i = 0; i < a->n; i++)
    a->prompt[i] = i >= period && rnd(seed) % 8 != 0 ? a->prompt[i - period] : (uint32_t) (rnd(seed) % TINY_V);
  a->want = (struct generate_options){ .max_new_tokens = rnd(seed) % 40, .on_step = told, .ctx = a };
  if (rnd(seed) % 3 == 0) a->want.eos = end, a->want.n_eos = 1 + rnd(seed) % 2, a->want.min_tokens = rnd(seed) % 6;
  a->forbidden = rnd(seed) % 3 == 0 ? (uint32_t) (rnd(seed) % TINY_V) : TINY_V;
  if (a->forbidden < TINY_V) a->want.stop = stop_there, a->want.stop_ctx = a;
  if (rnd(seed) % 4 == 0) return;
  static const double degrees[4] = { 0, 0.3, 0.8, 1.5 };
  uint64_t draw = rnd(seed), kind = rnd(seed);
  for (int i = 0; i < 2; i++) {
    struct sampler *d = &a->dice[i];
    d->s = sampling_default(), d->s.temperature = degrees[kind % 4], d->seed = draw, d->sequence = (uint32_t) (kind % 3);
    if (kind & 16) d->s.repetition_penalty = 1.3, d->s.frequency_penalty = .2;
    if (kind & 32) d->s.no_repeat_ngram = 2;
    if (kind & 64) d->s.top_p = .8;
    if (kind & 128) d->s.top_k = 4;
    if (kind & 256) d->rule = (struct token_rule){ toy_allow, toy_take, toy_save, toy_restore, &a->rule[i] };
    hold(funnel_open(&d->f, &h->rig.m, h->rig.e.k, TINY_V, &h->rig.why));
  }
  a->want.select = sampler_choose, a->want.accept = sampler_accept, a->want.select_ctx = &a->dice[1];
}

/* the plain loop; the text may end with an error, if its rules leave nothing: then the other must as well */
static void write_alone(struct house *h, struct asked *a)
{
  struct cache_options usual = { .format = h->size.format };
  struct store *s = cache_open(&h->rig.m, &h->rig.t.lm.config, 1, &usual, &h->rig.why);
  struct generate_context g = { &h->rig.e, &h->rig.t.lm, s, &h->rig.m };
  struct generate_options want = a->want;
  want.on_step = NULL, want.recall = store_match_prefix;
  if (want.select != NULL) want.select_ctx = &a->dice[0];
  if (!generate(&g, a->prompt, a->n, &want, &a->alone, &h->rig.why)) a->alone.ended = FINISH_ERROR;
  store_close(s);
}

static void build(struct house *h, uint64_t seed)
{
  memset(h, 0, sizeof *h);
  tiny_make(&h->rig.t, seed % 7);
  h->rig.e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &h->rig.c };
  struct model_config *c = &h->rig.t.lm.config;
  c->n_positions = CONTEXT;
  if (rnd(&seed) % 3 == 0)
    hold(config_set_window(c, 5 + (uint32_t) (rnd(&seed) % 12), (uint32_t) (rnd(&seed) % 3), &h->rig.why));
  if (c->window > 0 && rnd(&seed) % 2 == 0) c->window_listed = true, c->windowed[0] = 2;
  h->size.page_rows = (size_t) 1 << rnd(&seed) % 5;
  h->n = 1 + rnd(&seed) % MOST;
  h->who = (enum who) (rnd(&seed) % N_WHO), h->dice = rnd(&seed);
  for (size_t i = 0; i < h->n; i++) ask(h, &h->a[i], &seed), write_alone(h, &h->a[i]);
  if (h->who == SAME) h->small = h->rig.t;
  else tiny_make(&h->small, 100 + seed % 5);
  if (h->who == SMALL && rnd(&seed) % 2 == 0) h->small.lm.config.n_positions = 20 + rnd(&seed) % 30;
  h->lookup = (struct lookup){ 1 + rnd(&seed) % 2, 2 + rnd(&seed) % 3 };
  bool drafts = h->who == SMALL || h->who == SAME;
  if (drafts) hold(drafter_open(&h->drafter, &h->rig.e, &h->small.lm, &h->rig.m, MOST, &h->rig.why));
  h->drafter.pass_rows = 1 + rnd(&seed) % 40;
  guess_tokens *const by[N_WHO] = { guess_by_lookup, guess_by_draft, guess_by_draft, lie, be_silent };
  void *const ctx[N_WHO] = { &h->lookup, &h->drafter, &h->drafter, h, NULL };
  h->by = (struct speculation){ .guess = by[h->who], .ctx = ctx[h->who], .most = 1 + rnd(&seed) % MOST_GUESSES };
}
static void demolish(struct house *h)
{
  if (h->drafter.s != NULL) drafter_close(&h->drafter);
  for (size_t i = 0; i < h->n; i++) {
    for (int k = 0; k < 2; k++) funnel_close(&h->a[i].dice[k].f);
    continuation_free(&h->rig.m, &h->a[i].alone);
  }
  store_close(h->rig.s);
  ck_assert_uint_eq(h->rig.m.all.live, 0);
  if (h->who != SAME) tiny_free(&h->small);
  tiny_free(&h->rig.t);
}

static void compare(const struct asked *a, const struct continuation *c, enum who who)
{
  hold_msg(c->ended == a->alone.ended, "guessed by %d: ended by %d, alone by %d", who, c->ended, a->alone.ended);
  if (c->ended == FINISH_ERROR) return;
  hold_msg(c->text.n == a->alone.text.n, "guessed by %d: %zu tokens, alone %zu", who, c->text.n, a->alone.text.n);
  hold(memcmp(c->text.id, a->alone.text.id, c->text.n * sizeof *c->text.id) == 0);
  hold(a->told == c->text.n - a->n && memcmp(a->seen, c->text.id + a->n, a->told * sizeof *a->seen) == 0);
}

/* what was counted agrees with what was written */
static void hold_counts(const struct speculation *by, size_t tokens, size_t passes)
{
  uint64_t came = 0, texts = 0;
  for (size_t i = 0; i <= MOST_GUESSES; i++) came += i * by->came[i], texts += by->came[i];
  hold(came == by->accepted && by->accepted <= by->guessed && texts <= passes);
  hold(tokens <= passes + by->accepted);
  hold_msg(passes >= (tokens + by->most) / (by->most + 1), "%zu tokens in %zu passes", tokens, passes);
}

/* every round a model, a text and a drafter of another kind: with a cache or without one, in pieces, in a window */
START_TEST(guessing_changes_no_text)
{
  const char *more = getenv("INCIPIT_ROUNDS");
  size_t rounds = more != NULL ? strtoul(more, NULL, 0) : ROUNDS;
  uint64_t seed = suite_seed() + 13, guessed[N_WHO] = { 0 }, accepted[N_WHO] = { 0 }, errors = 0;
  for (size_t i = 0; i < rounds; i++) {
    static struct house h;
    uint64_t now = rnd(&seed);
    build(&h, now);
    h.rig.s = cache_open(&h.rig.m, &h.rig.t.lm.config, 1, &h.size, &h.rig.why);
    if (i % SHARED == 0) h.rig.e.pool = pool_open(&h.rig.m, 1 + (uint32_t) (now % 3), &h.rig.why);
    struct generate_context g = { &h.rig.e, &h.rig.t.lm, h.rig.s, &h.rig.m };
    for (size_t k = 0; k < h.n; k++) {
      struct asked *a = &h.a[k];
      struct continuation c;
      a->want.recall = rnd(&now) % 4 == 0 ? NULL : store_match_prefix;
      a->want.chunk = rnd(&now) % 2 == 0 ? 0 : 1 + rnd(&now) % 12;
      struct speculation by = h.by;
      uint64_t passes = h.rig.c.passes;
      if (!speculate(&by, &g, a->prompt, a->n, &a->want, &c, &h.rig.why)) c.ended = FINISH_ERROR, errors++;
      compare(a, &c, h.who);
      if (c.ended != FINISH_ERROR) hold_counts(&by, a->told, (size_t) (h.rig.c.passes - passes));
      guessed[h.who] += by.guessed, accepted[h.who] += by.accepted;
      continuation_free(&h.rig.m, &c);
    }
    pool_close(&h.rig.m, h.rig.e.pool);
    demolish(&h);
  }
  printf("%zu rounds, %lu errors; accepted of guessed: by lookup %lu of %lu, by a small model %lu of %lu, by the same %lu of %lu, "
    "by a liar %lu of %lu\n", rounds, (unsigned long) errors, (unsigned long) accepted[LOOKUP], (unsigned long) guessed[LOOKUP],
    (unsigned long) accepted[SMALL], (unsigned long) guessed[SMALL], (unsigned long) accepted[SAME], (unsigned long) guessed[SAME],
    (unsigned long) accepted[LIAR], (unsigned long) guessed[LIAR]);
  for (int w = LOOKUP; w <= LIAR; w++) ck_assert(accepted[w] > 0);
  ck_assert(accepted[SAME] > guessed[SAME] / 2 && accepted[SMALL] < guessed[SMALL] / 2);
}
END_TEST

/* many texts in one scheduler, in a cache that is too small now and then, with guesses behind all of them */
START_TEST(guessing_in_company_changes_no_text)
{
  const char *more = getenv("INCIPIT_ROUNDS");
  size_t rounds = more != NULL ? strtoul(more, NULL, 0) : ROUNDS / 2;
  uint64_t seed = suite_seed() + 14, accepted = 0, preempted = 0;
  for (size_t i = 0; i < rounds; i++) {
    static struct house h;
    struct scheduler s;
    uint64_t now = rnd(&seed);
    build(&h, now);
    uint32_t slots = 1 + (uint32_t) (rnd(&now) % 5);
    if (i % 4 != 0) h.size.rows = CONTEXT + 8 + rnd(&now) % 40;
    h.rig.s = cache_open(&h.rig.m, &h.rig.t.lm.config, slots, &h.size, &h.rig.why);
    if (i % SHARED == 0) h.rig.e.pool = pool_open(&h.rig.m, 1 + (uint32_t) (now % 3), &h.rig.why);
    struct generate_context g = { &h.rig.e, &h.rig.t.lm, h.rig.s, &h.rig.m };
    struct scheduler_options w = { .pass_rows = slots + rnd(&now) % 30, .share = rnd(&now) % 3 != 0, .guesses = h.by.most,
      .step = speculate_step, .step_ctx = &h.by };
    hold_msg(scheduler_open(&s, &g, &w, &h.rig.why), "%s", h.rig.why.text);
    uint64_t before = h.rig.c.rows;
    for (size_t k = 0; k < h.n; k++) {
      struct asked *a = &h.a[k];
      hold_msg(scheduler_submit(&s, &a->r, a->prompt, a->n, &a->want, &h.rig.why), "%s", h.rig.why.text);
      if (rnd(&now) % 2 == 0) hold(scheduler_step(&s, &h.rig.why));
    }
    for (size_t step = 0; !scheduler_idle(&s); step++) {
      uint64_t rows = h.rig.c.rows;
      hold(step < 4000 && scheduler_step(&s, &h.rig.why));
      hold(h.rig.c.rows - rows <= w.pass_rows);
      hold(s.counts.rows == h.rig.c.rows - before);
    }
    for (size_t k = 0; k < h.n; k++) compare(&h.a[k], &h.a[k].r.q.c, h.who), request_close(&s, &h.a[k].r);
    accepted += h.by.accepted, preempted += s.counts.preempted;
    scheduler_close(&s);
    ck_assert_uint_eq(cache_look(h.rig.s).pages_used, 0);
    pool_close(&h.rig.m, h.rig.e.pool);
    demolish(&h);
  }
  printf("%zu schedules, %lu preempted, %lu guesses accepted\n", rounds, (unsigned long) preempted, (unsigned long) accepted);
  ck_assert(accepted > 0 && preempted > 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("speculation");
  TCase *t = tcase_create("guesses");
  tcase_set_timeout(t, 600);
  tcase_add_test(t, guessing_changes_no_text);
  tcase_add_test(t, guessing_in_company_changes_no_text);
  suite_add_tcase(s, t);
  return suite_run(s);
}
