/* Chapter 13: whoever guesses, and whatever is guessed, the text is that of the loop of chapter 3. */
#define _GNU_SOURCE
#include "room.h"
#include "tiny.h"
#include "cache/keep.h"
#include "sampling/sampling.h"
#include "serving/scheduler.h"
#include "speculation/drafter.h"
#include "speculation/lookup.h"
#include "speculation/tree.h"
#include "speculation/acceptance.h"
#include "kernels/kernels.h"
#include "guess_setup.h"

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
struct wanted_text {
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
  struct wanted_text a[MOST];
  size_t n;
  enum who who;
  struct lookup lookup;
  struct drafter drafter;
  struct speculation by;
  uint64_t dice, lies; /* the liar's, and how often he has guessed */
};

static bool told(void *ctx, const struct step *now)
{
  struct wanted_text *a = ctx;
  hold_msg(now->number == a->told + 1, "token %zu is told after %zu", now->number, a->told);
  hold_msg(now->length == a->n + a->told, "token %zu came after a text of %zu", now->number, now->length);
  a->seen[a->told++] = now->chosen;
  return true;
}
static bool stop_there(void *ctx, const struct continuation *text, bool *enough, struct error *why)
{
  const struct wanted_text *a = ctx;
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
    const struct wanted_text *a = q->want->ctx;
    size_t many = q->room == 0 ? 0 : rnd(&h->dice) % (q->room + 1), at = q->c.text.n;
    for (size_t k = 0; k < many; k++) {
      bool right = rnd(&h->dice) % 5 != 0 && at + k < a->alone.text.n;
      uint32_t id = right ? a->alone.text.id[at + k] : (uint32_t) (rnd(&h->dice) % TINY_V);
      if (rnd(&h->dice) % 200 == 0) id = TINY_V + 5;
      hold(ids_push(g->m, &q->guess, id, &why));
    }
    h->lies += many;
  }
}
static void be_silent(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  (void) ctx, (void) g, (void) list, (void) n;
}

static void ask(struct house *h, struct wanted_text *a, uint64_t *seed)
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
static void write_alone(struct house *h, struct wanted_text *a)
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

static void compare(const struct wanted_text *a, const struct continuation *c, enum who who)
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
      struct wanted_text *a = &h.a[k];
      struct continuation c;
      a->want.recall = rnd(&now) % 4 == 0 ? NULL : store_match_prefix;
      a->want.chunk = rnd(&now) % 2 == 0 ? 0 : 1 + rnd(&now) % 12;
      struct speculation by = h.by;
      uint64_t passes = h.rig.c.passes;
      if (!speculate(&by, &g, a->prompt, a->n, &a->want, &c, &h.rig.why)) c.ended = FINISH_ERROR, errors++;
      else hold(store_length(h.rig.s, 0) < c.text.n + (a->want.max_new_tokens == 0));
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
      struct wanted_text *a = &h.a[k];
      hold_msg(scheduler_submit(&s, &a->r, a->prompt, a->n, &a->want, &h.rig.why), "%s", h.rig.why.text);
      if (rnd(&now) % 2 == 0) hold(scheduler_step(&s, &h.rig.why));
    }
    for (size_t step = 0; !scheduler_idle(&s); step++) {
      uint64_t rows = h.rig.c.rows;
      hold(step < 4000 && scheduler_step(&s, &h.rig.why));
      hold(h.rig.c.rows - rows <= w.pass_rows);
      hold(s.counts.rows == h.rig.c.rows - before);
      for (const struct request *r = s.line; r != NULL && r->state == REQUEST_RUNNING; r = r->next)
        hold(store_length(h.rig.s, r->q.c.sequence) < r->q.c.text.n); /* nothing that was read in vain is kept */
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

/* ---- the classical rule, and common dice */
static void hold_near(const char *what, double x, double y, double most, const char *line)
{
  hold_msg(fabs(x - y) <= most, "%s is %.17g; wanted: %.17g; %s", what, x, y, line);
}
enum { WIDE = 64 };
static size_t shares_of(json_t *o, const char *key, double *x)
{
  json_t *list = json_object_get(o, key);
  size_t n = json_array_size(list);
  hold(n <= WIDE);
  for (size_t i = 0; i < n; i++) x[i] = json_number_value(json_array_get(list, i));
  return n;
}
START_TEST(the_rule_is_that_of_its_definition)
{
  FILE *f = fopen("tests/golden/speculative.jsonl", "r");
  char *line = NULL;
  size_t cap = 0, cases = 0;
  ck_assert(f != NULL);
  for (; getline(&line, &cap, f) > 0; cases++) {
    double p[WIDE], q[WIDE], accept[WIDE], residual[WIDE], wanted[WIDE], rate;
    json_t *c = json_loads(line, 0, NULL), *left = json_object_get(c, "residual");
    size_t n = shares_of(c, "p", p);
    hold(n > 0 && shares_of(c, "q", q) == n && shares_of(c, "accept", wanted) == n);
    double missing = acceptance_of(p, q, n, accept, residual, &rate);
    for (size_t i = 0; i < n; i++) hold_msg(accept[i] == wanted[i], "accept[%zu] is %.17g; %s", i, accept[i], line);
    hold_near("the rate", rate, json_number_value(json_object_get(c, "rate")), 2e-16, line);
    hold_msg((missing > 0) == json_is_array(left), "%g are missing; %s", missing, line);
    for (size_t i = 0; i < n; i++)
      hold_near("a residual", residual[i], missing > 0 ? json_number_value(json_array_get(left, i)) : 0, 4e-16, line);
    json_decref(c);
  }
  free(line), fclose(f);
  tally("tests/golden/speculative.jsonl", (unsigned) cases, 0, 0, "");
}
END_TEST
START_TEST(the_rule_is_that_of_others)
{
  static const char name[] = "vectors/speculative/leviathan.json";
  char buffer[4096];
  const char *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  json_t *all = json_load_file(path, 0, NULL), *list = json_object_get(all, "cases"), *c;
  size_t at;
  json_array_foreach(list, at, c) {
    double p[WIDE], q[WIDE], accept[WIDE], residual[WIDE], wanted[WIDE], rate, sure[WIDE] = { 0 };
    json_t *left = json_object_get(c, "residual"), *one = json_object_get(c, "one_hot_draft_residual");
    size_t n = shares_of(c, "p", p);
    hold(n > 0 && shares_of(c, "q", q) == n && shares_of(c, "accept_prob", wanted) == n);
    double missing = acceptance_of(p, q, n, accept, residual, &rate);
    for (size_t i = 0; i < n; i++) hold_near("accept", accept[i], wanted[i], 1e-15, name);
    hold_near("the rate", rate, json_number_value(json_object_get(c, "acceptance_rate")), 1e-15, name);
    hold_near("tokens", rate < 1 ? (1 - pow(rate, 5)) / (1 - rate) : 5, json_number_value(json_object_get(c, "gamma4_expected_tokens")), 1e-9, name);
    if (json_is_array(left)) {
      shares_of(c, "residual", wanted);
      for (size_t i = 0; i < n; i++) hold_near("a residual", residual[i], wanted[i], 1e-15 / missing, name); /* theirs is divided by a plain sum */
    }
    for (size_t k = 0; k < n; k++) { /* a drafter that is sure of its guess */
      sure[k] = 1;
      acceptance_of(p, sure, n, accept, residual, &rate);
      hold_near("accept", accept[k], p[k], 0, name);
      hold_near("the rate", rate, p[k], 1e-15, name);
      for (size_t i = 0; i < n; i++)
        hold_near("a residual", residual[i], json_number_value(json_array_get(json_array_get(one, k), i)), 1e-15 / (1 - p[k]), name);
      sure[k] = 0;
    }
  }
  tally(name, (unsigned) json_array_size(list), 0, 0, "");
  json_decref(all);
}
END_TEST

static void random_shares(double *x, size_t n, uint64_t *seed, bool holes)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] = holes && rnd(seed) % 3 == 0 ? 0 : exp(2 * tiny_normal(seed));
  if (sum == 0) sum = x[0] = 1;
  for (size_t i = 0; i < n; i++) x[i] /= sum;
}
/* all that may happen, added up, is the model's distribution; common dice agree within the bounds that are proved for them */
START_TEST(what_comes_out_is_the_model)
{
  uint64_t seed = suite_seed() + 15;
  for (int round = 0; round < 4000; round++) {
    double p[WIDE], q[WIDE], accept[WIDE], residual[WIDE], rate, low = 0, separate = 0;
    size_t n = 1 + rnd(&seed) % (round % 10 == 0 ? WIDE : 6);
    random_shares(p, n, &seed, round % 2), random_shares(q, n, &seed, round % 3 == 0);
    double missing = acceptance_of(p, q, n, accept, residual, &rate);
    hold_near("what is missing", missing, 1 - rate, 1e-14, "");
    for (size_t i = 0; i < n; i++) {
      hold(accept[i] >= 0 && accept[i] <= 1 && residual[i] >= 0);
      hold_near("a token", q[i] * accept[i] + (1 - rate) * residual[i], p[i], 1e-14, "");
      low += fmin(p[i], q[i]), separate += p[i] * q[i];
    }
    hold_near("the rate", rate, low, 1e-14, "");
    double common = coupled_rate(p, q, n);
    hold(common <= rate + 1e-12 && common >= rate / (2 - rate) - 1e-12);
    if (n == 2) hold_near("two tokens", common, rate, 1e-12, "");
    hold_near("the same models", coupled_rate(p, p, n), 1, 1e-12, "");
    hold_near("the other way round", coupled_rate(q, p, n), common, 1e-12, "");
  }
  static const double huge[4] = { 1, 1e100, 1, -1e100 }, little[3] = { 1e-20, 1, -1 }, tenth[3] = { .1, .2, .3 };
  ck_assert(sum_carefully(huge, 4) == 2 && sum_carefully(little, 3) == 1e-20 && sum_carefully(tenth, 0) == 0);
  hold_near("three tenths", sum_carefully(tenth, 3), .6, 1.2e-16, "");
}
END_TEST

static double uniform(uint64_t *seed) { return (double) (rnd(seed) >> 11) * 0x1p-53; }
static size_t throw_from(const double *x, size_t n, uint64_t *seed)
{
  double u = uniform(seed);
  size_t i = 0;
  for (; i + 1 < n && (u -= x[i]) >= 0; i++) continue;
  while (x[i] <= 0) i--;
  return i;
}
enum { THROWS = 20000, FACES = 6 };
/* 20,000 tokens by the rule: their counts are those of p; if a refused guess is replaced by a throw from p, they are not */
static double chi_square(const double *p, const double *q, bool from_p, uint64_t seed)
{
  double accept[FACES], residual[FACES], rate, sum = 0;
  unsigned count[FACES] = { 0 };
  acceptance_of(p, q, FACES, accept, residual, &rate);
  for (int i = 0; i < THROWS; i++) {
    size_t x = throw_from(q, FACES, &seed);
    if (uniform(&seed) >= accept[x]) x = throw_from(from_p ? p : residual, FACES, &seed);
    count[x]++;
  }
  for (int i = 0; i < FACES; i++) {
    double wanted = p[i] * THROWS, off = count[i] - wanted;
    if (p[i] == 0) hold(count[i] == 0);
    else sum += off * off / wanted;
  }
  return sum;
}
START_TEST(throws_by_the_rule_are_those_of_the_model)
{
  static const double p[3][FACES] = { { .4, .25, .15, .1, .06, .04 }, { .05, .05, .2, .2, .2, .3 }, { .5, .5, 0, 0, 0, 0 } },
    q[3][FACES] = { { .1, .3, .1, .3, .1, .1 }, { .3, .2, .2, .1, .1, .1 }, { .1, .2, .3, .4, 0, 0 } };
  for (uint64_t i = 0; i < 3; i++) {
    double right = chi_square(p[i], q[i], false, 40 + i), wrong = chi_square(p[i], q[i], true, 40 + i);
    printf("chi square of %d throws with 5 degrees of freedom: %.2f; from p instead of the residual %.0f\n", THROWS, right, wrong);
    hold_msg(right < 20.5, "%.2f: one of a thousand right rules has more than 20.5", right);
    hold(i == 2 || wrong > 200);
  }
}
END_TEST

/* two funnels with the same noise choose the same token as often as the formula says; with other seeds, as often as separate dice do */
START_TEST(common_dice_agree_as_often_as_they_should)
{
  struct memory m = { 0 };
  struct error why;
  struct funnel f[2];
  uint64_t seed = 99;
  for (int i = 0; i < 2; i++) hold(funnel_open(&f[i], &m, kernels_find(NULL, NULL), FACES, &why));
  for (int round = 0; round < 4; round++) {
    double x[2][FACES] = { { .5, .3, .2 }, { .2, .7, .1 } }, agreed[2] = { 0 }, wanted[2] = { 0 };
    float z[2][FACES];
    for (int k = 0; k < 2; k++) {
      if (round > 0) random_shares(x[k], FACES, &seed, false);
      for (int i = 0; i < FACES; i++) z[k][i] = x[k][i] > 0 ? (float) log(x[k][i]) : -INFINITY;
    }
    wanted[0] = coupled_rate(x[0], x[1], FACES);
    for (int i = 0; i < FACES; i++) wanted[1] += x[0][i] * x[1][i];
    for (uint32_t at = 0; at < THROWS; at++) {
      uint32_t id[3];
      for (uint32_t k = 0; k < 3; k++) {
        hold(funnel_fill(&f[k > 0], z[k > 0], &why));
        id[k] = funnel_choose(&f[k > 0], k == 2 ? 8 : 7, 3, at);
      }
      agreed[0] += id[0] == id[1], agreed[1] += id[0] == id[2];
    }
    for (int k = 0; k < 2; k++) {
      double share = agreed[k] / THROWS, sigma = sqrt(wanted[k] * (1 - wanted[k]) / THROWS);
      printf("%s dice agree %.4f of the time; computed %.4f\n", k ? "separate" : "common", share, wanted[k]);
      hold_msg(fabs(share - wanted[k]) < 4 * sigma, "%g; wanted: %g", share, wanted[k]);
    }
  }
  for (int i = 0; i < 2; i++) funnel_close(&f[i]);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- who guesses */
START_TEST(lookups_by_hand)
{
  static const struct { const char *text; struct lookup how; size_t room; const char *guess; } table[] = {
    { "the cat sat on the mat, and the cat", { 4, 7 }, 12, " sat on the " }, /* letters are tokens here */
    { "ABCABDEBFAB", { 2, 4 }, 3, "DEB" }, /* the last of two places */
    { "ABCABDEBFAB", { 2, 2 }, 20, "DEBFABDEBFABDEBFABDE" }, /* its own guesses are copied */
    { "ABCABDEBFAB", { 1, 1 }, 3, "FAB" }, /* the last B alone */
    { "ABCABDEBFAB", { 3, 4 }, 3, "" }, { "ABCABDEBFAB", { 2, 4 }, 0, "" },
    { "xABCyzABqABC", { 2, 4 }, 2, "yz" }, /* three agree, further away */
    { "xABCyBCqABC", { 2, 2 }, 2, "qA" }, /* two are enough: the nearer */
    { "xABCyBCqABC", { 2, 3 }, 2, "yB" }, { "xABCyBCqABC", { 2, 9 }, 2, "yB" },
    { "ABAB", { 2, 4 }, 3, "ABA" }, /* the beginning of the text is a place */
    { "AAAA", { 2, 2 }, 5, "AAAAA" }, { "AA", { 1, 4 }, 3, "AAA" }, { "AB", { 1, 4 }, 3, "" }, { "A", { 1, 4 }, 3, "" },
    { "ABCDABCD", { 4, 4 }, 5, "ABCDA" }, { "BCDABCD", { 4, 4 }, 5, "" } };
  struct memory m = { 0 };
  struct error why;
  struct generate_context g = { .m = &m };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    struct lookup how = table[i].how;
    struct sequence q = { .room = table[i].room }, other = { .room = 2 }, *list[2] = { &q, &other };
    for (const char *c = table[i].text; *c; c++) hold(ids_push(&m, &q.c.text, (uint32_t) *c, &why));
    for (const char *c = "zzz"; *c; c++) hold(ids_push(&m, &other.c.text, (uint32_t) *c, &why));
    size_t n = q.c.text.n, k = strlen(table[i].guess);
    guess_by_lookup(&how, &g, list, 2);
    hold_msg(q.guess.n == k && q.c.text.n == n && q.room == table[i].room, "%s: %zu guesses", table[i].text, q.guess.n);
    for (size_t j = 0; j < k; j++) hold_msg(q.guess.id[j] == (uint32_t) table[i].guess[j], "%s: guess %zu", table[i].text, j);
    hold(other.guess.n == (how.shortest <= 2 ? 2 : 0));
    ids_free(&m, &q.guess), ids_free(&m, &q.c.text), ids_free(&m, &other.guess), ids_free(&m, &other.c.text);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* a house of one text with a plain model; who guesses is the test's */
static void simple_house(struct house *h, uint64_t seed, size_t new_tokens)
{
  memset(h, 0, sizeof *h);
  tiny_open(&h->rig, seed, MOST);
  struct wanted_text *a = &h->a[0];
  a->n = 5, h->n = 1, a->forbidden = TINY_V;
  for (uint32_t i = 0; i < a->n; i++) a->prompt[i] = (uint32_t) (rnd(&seed) % TINY_V);
  a->want = (struct generate_options){ .max_new_tokens = new_tokens, .recall = store_match_prefix, .on_step = told, .ctx = a };
  h->by = (struct speculation){ .guess = guess_by_draft, .ctx = &h->drafter, .most = 4 };
}
static void open_drafter(struct house *h, const struct model *lm, struct memory *m)
{
  hold_msg(drafter_open(&h->drafter, &h->rig.e, lm, m, MOST, &h->rig.why), "%s", h->rig.why.text);
}
static bool write_guessed(struct house *h, struct continuation *c)
{
  struct generate_context g = { &h->rig.e, &h->rig.t.lm, h->rig.s, &h->rig.m };
  struct wanted_text *a = &h->a[0];
  a->told = 0, store_crop(h->rig.s, 0, 0);
  return speculate(&h->by, &g, a->prompt, a->n, &a->want, c, &h->rig.why);
}
static void leave_house(struct house *h)
{
  struct wanted_text *a = &h->a[0];
  if (h->drafter.s != NULL) drafter_close(&h->drafter);
  ck_assert(h->drafter.s == NULL);
  for (int k = 0; k < 2; k++) funnel_close(&a->dice[k].f);
  continuation_free(&h->rig.m, &a->alone);
  tiny_close(&h->rig);
}

/* a model that guesses for itself is always right, whatever the settings: no guess is in vain, and no pass is too many */
START_TEST(a_model_guesses_for_itself)
{
  uint64_t seed = suite_seed() + 16;
  static const uint32_t end[1] = { 3 };
  for (int round = 0; round < 240; round++) {
    static struct house h;
    struct continuation c;
    simple_house(&h, rnd(&seed), 1 + rnd(&seed) % 40);
    struct wanted_text *a = &h.a[0];
    uint64_t kind = rnd(&seed), draw = rnd(&seed);
    if (round % 3 == 1) a->want.eos = end, a->want.n_eos = 1;
    for (int i = 0; round % 4 != 0 && i < 2; i++) {
      struct sampler *d = &a->dice[i];
      d->s = sampling_default(), d->s.temperature = 1, d->seed = draw;
      if (kind & 1) d->s.repetition_penalty = 1.5, d->s.frequency_penalty = .5;
      if (kind & 2) d->s.no_repeat_ngram = 2;
      if (kind & 4) d->rule = (struct token_rule){ toy_allow, toy_take, toy_save, toy_restore, &a->rule[i] };
      hold(funnel_open(&d->f, &h.rig.m, h.rig.e.k, TINY_V, &h.rig.why));
      a->want.select = sampler_choose, a->want.accept = sampler_accept, a->want.select_ctx = &a->dice[1];
    }
    write_alone(&h, a);
    open_drafter(&h, &h.rig.t.lm, &h.rig.m);
    h.by.most = 1 + rnd(&seed) % MOST_GUESSES;
    uint64_t passes = h.rig.c.passes, rows = h.rig.c.rows;
    hold_msg(write_guessed(&h, &c), "%s", h.rig.why.text);
    compare(a, &c, SAME);
    size_t g = c.text.n - a->n, least = (g + h.by.most) / (h.by.most + 1);
    /* an end token may have been guessed: then its row was read, and nobody looks at it */
    size_t ends = h.by.guessed - h.by.accepted;
    hold_msg(ends == 0 || (ends == 1 && c.ended == FINISH_STOP), "%lu guesses, %lu right", (unsigned long) h.by.guessed, (unsigned long) h.by.accepted);
    hold_msg(h.rig.c.passes - passes == least, "%lu passes for %zu tokens, %zu guesses each", (unsigned long) (h.rig.c.passes - passes), g, h.by.most);
    hold(h.by.accepted == g - least && h.rig.c.rows - rows == a->n + g - 1 + ends); /* as many rows as alone */
    hold_msg(h.drafter.c.rows <= a->n + g - 1, "the drafter has read %lu rows", (unsigned long) h.drafter.c.rows); /* and none twice */
    continuation_free(&h.rig.m, &c), leave_house(&h);
  }
}
END_TEST

/* nobody tells a drafter that a text has become another, or is asked about for the second time */
START_TEST(a_drafter_follows_the_texts)
{
  static struct house h;
  simple_house(&h, 31, 12);
  open_drafter(&h, &h.rig.t.lm, &h.rig.m);
  struct asked_again { uint32_t first[16]; size_t n; } was = { .n = 0 };
  for (uint32_t k = 0; k < 6; k++) { /* one text after the other, under the same number */
    struct continuation c;
    h.a[0].prompt[k % 3] = k;
    h.by.guessed = h.by.accepted = 0;
    hold(write_guessed(&h, &c));
    hold_msg(h.by.guessed == h.by.accepted && h.by.guessed > 0, "text %u: %lu guesses, %lu right", k, (unsigned long) h.by.guessed, (unsigned long) h.by.accepted);
    continuation_free(&h.rig.m, &c);
  }
  struct generate_context g = { &h.rig.e, &h.rig.t.lm, h.rig.s, &h.rig.m };
  struct sequence q, *one = &q;
  hold(sequence_open(&q, &g, h.a[0].prompt, h.a[0].n, &h.a[0].want, &h.rig.why));
  for (int k = 0; k < 3; k++) {
    uint64_t rows = h.drafter.c.rows;
    q.room = 5, q.guess.n = 0;
    guess_by_draft(&h.drafter, &g, &one, 1);
    hold(q.guess.n == 5 && q.c.text.n == h.a[0].n && q.room == 5);
    if (k == 0) was.n = 5, memcpy(was.first, q.guess.id, 5 * sizeof *was.first);
    hold(memcmp(was.first, q.guess.id, 5 * sizeof *was.first) == 0);
    hold_msg(k == 0 || h.drafter.c.rows - rows == 5, "%lu rows", (unsigned long) (h.drafter.c.rows - rows)); /* only from the last token on */
  }
  sequence_close(&h.rig.m, &q), leave_house(&h);
}
END_TEST

/* asked how far a pass is, gives up at the question that was agreed upon */
struct patience { struct progress told; size_t asks, give_up; };
static bool still_patient(void *ctx, size_t done, size_t all)
{
  struct patience *a = ctx;
  hold_msg(done <= all, "%zu of %zu", done, all);
  return ++a->asks != a->give_up;
}
/* Ctrl-C in the middle of a pass: the text keeps what it has, and nothing is tried again */
START_TEST(a_cancelled_text_keeps_what_it_has)
{
  static struct house h;
  static struct patience asker;
  simple_house(&h, 32, 20);
  struct wanted_text *a = &h.a[0];
  write_alone(&h, a);
  h.dice = 5, h.by.guess = lie, h.by.ctx = &h;
  size_t some = 0;
  for (size_t k = 1; k < 60; k++) {
    struct continuation c;
    asker = (struct patience){ .told = { .report = still_patient, .ctx = &asker }, .give_up = k }, h.rig.e.progress = &asker.told;
    hold_msg(write_guessed(&h, &c), "%s", h.rig.why.text);
    hold(c.ended == FINISH_CANCELLED || asker.asks < k);
    hold(c.text.n <= a->alone.text.n && memcmp(c.text.id, a->alone.text.id, c.text.n * sizeof *c.text.id) == 0);
    if (c.ended == FINISH_CANCELLED) some++, asker.asks -= k;
    hold(c.ended != FINISH_CANCELLED || asker.asks == 0); /* nobody was asked once more */
    h.rig.e.progress = NULL;
    continuation_free(&h.rig.m, &c);
  }
  ck_assert_uint_gt(some, 5);
  leave_house(&h);
}
END_TEST

static uint64_t guessed_with(size_t context, size_t prompt, size_t most, size_t pass_rows)
{
  static struct house h;
  static struct model shorter;
  struct continuation c;
  simple_house(&h, 5, 30);
  shorter = h.rig.t.lm, shorter.config.n_positions = (uint32_t) context;
  open_drafter(&h, &shorter, &h.rig.m);
  h.a[0].n = prompt, h.by.most = most;
  for (uint32_t i = 0; i < prompt; i++) h.a[0].prompt[i] = i % TINY_V;
  if (pass_rows > 0) h.drafter.pass_rows = pass_rows;
  hold(write_guessed(&h, &c));
  uint64_t guessed = h.by.guessed;
  continuation_free(&h.rig.m, &c), leave_house(&h);
  return guessed;
}
/* a text that has outgrown the smaller model's context gets no guesses; one that it has not read yet waits for them */
START_TEST(drafters_know_their_limits)
{
  ck_assert_uint_eq(guessed_with(20, 11, 1, 0), 5); /* after 11, 13, 15, 17 and 19 tokens */
  ck_assert_uint_eq(guessed_with(19, 11, 1, 0), 4);
  ck_assert_uint_eq(guessed_with(20, 11, 4, 0), 8); /* after 11 and 16 */
  ck_assert_uint_eq(guessed_with(300, 20, 1, 256), 15);
  ck_assert_uint_eq(guessed_with(300, 20, 1, 20), 15); /* read in one pass */
  ck_assert_uint_eq(guessed_with(300, 20, 1, 19), 14); /* in two: the first pass has no guess */
  ck_assert_uint_eq(guessed_with(300, 20, 1, 5), 13);
}
END_TEST

/* whoever chooses in a way that the smaller model does not know gets no guesses */
static bool choose_seven(void *ctx, const float *logits, const struct continuation *c, uint32_t *chosen, struct error *why)
{
  (void) ctx, (void) logits, (void) c, (void) why;
  *chosen = 7;
  return true;
}
START_TEST(strange_choices_get_no_guesses)
{
  static struct house h;
  struct continuation c;
  simple_house(&h, 5, 20);
  open_drafter(&h, &h.rig.t.lm, &h.rig.m);
  h.a[0].want.select = choose_seven;
  hold(write_guessed(&h, &c));
  ck_assert_uint_eq(h.by.guessed, 0);
  ck_assert_uint_eq(c.text.id[24], 7);
  continuation_free(&h.rig.m, &c), leave_house(&h);
}
END_TEST

/* every request for memory that the smaller model makes is refused once; the text is the same, and ends as it would */
START_TEST(a_drafter_without_memory_guesses_nothing)
{
  static struct house h;
  struct memory its = { 0 };
  uint64_t refused = 0, silent = 0;
  simple_house(&h, 6, 24);
  struct wanted_text *a = &h.a[0];
  write_alone(&h, a);
  open_drafter(&h, &h.rig.t.lm, &its);
  for (uint64_t k = 1;; k++) {
    struct continuation c;
    store_crop(h.drafter.s, 0, 0), h.by.guessed = h.by.accepted = 0;
    its.fail_at = its.all.requests + k;
    hold_msg(write_guessed(&h, &c), "request %lu: %s", (unsigned long) k, h.rig.why.text);
    compare(a, &c, SAME);
    bool all = its.all.requests < its.fail_at;
    its.fail_at = 0, refused++, silent += h.by.guessed < 19; /* 24 tokens in 5 passes */
    continuation_free(&h.rig.m, &c);
    if (all) break;
  }
  printf("%lu requests refused, %lu of them cost guesses\n", (unsigned long) refused - 1, (unsigned long) silent);
  ck_assert_msg(refused > 20 && silent > 10, "%lu, %lu", (unsigned long) refused, (unsigned long) silent);
  drafter_close(&h.drafter);
  ck_assert_uint_eq(its.all.live, 0);
  leave_house(&h);
}
END_TEST

/* and those of the loop: an error, or the same text; what is held is held by the store alone */
START_TEST(refused_memory_ends_the_text_or_changes_nothing)
{
  static struct lookup usual = { 1, 4 };
  static struct house h;
  simple_house(&h, 7, 24);
  struct wanted_text *a = &h.a[0];
  write_alone(&h, a);
  h.by.guess = guess_by_lookup, h.by.ctx = &usual;
  uint64_t errors = 0, texts = 0;
  for (uint64_t k = 1;; k++) {
    struct continuation c;
    h.rig.m.fail_at = h.rig.m.all.requests + k;
    bool ok = write_guessed(&h, &c), all = h.rig.m.all.requests < h.rig.m.fail_at;
    h.rig.m.fail_at = 0;
    if (ok) compare(a, &c, LOOKUP), texts++;
    else {
      errors++;
      hold(c.text.n == 0 && c.text.id == NULL);
    }
    continuation_free(&h.rig.m, &c);
    if (all) break;
  }
  ck_assert_msg(errors > 0 && texts > 10, "%lu errors, %lu texts", (unsigned long) errors, (unsigned long) texts);
  leave_house(&h);
}
END_TEST

/* a cache in which the text has room, and its guesses have not: they are dropped, and the text goes on */
START_TEST(a_pass_that_is_refused_is_tried_without_guesses)
{
  unsigned refused = 0, some = 0;
  for (size_t round = 0; round < 100; round++) {
    static struct house h;
    size_t rows = 13 + round % 8;
    struct continuation c;
    struct cache_options size = { .page_rows = 1, .rows = rows };
    simple_house(&h, 8, 8);
    struct wanted_text *a = &h.a[0];
    write_alone(&h, a);
    a->forbidden = a->alone.text.id[a->alone.text.n - 1];
    a->want.max_new_tokens = 200, a->want.stop = stop_there, a->want.stop_ctx = a;
    continuation_free(&h.rig.m, &a->alone), write_alone(&h, a);
    h.who = LIAR, h.dice = round, h.by.guess = lie, h.by.ctx = &h, h.by.most = 16;
    store_close(h.rig.s), h.rig.s = cache_open(&h.rig.m, &h.rig.t.lm.config, 1, &size, &h.rig.why);
    hold_msg(h.rig.s != NULL, "%s", h.rig.why.text);
    uint64_t before = h.rig.c.rows;
    hold_msg(write_guessed(&h, &c), "%zu rows: %s", rows, h.rig.why.text);
    compare(a, &c, LIAR);
    /* what was dropped was not read, and is not counted */
    hold(h.rig.c.rows - before == c.text.n - 1 + h.by.guessed - h.by.accepted);
    refused += h.by.guessed < h.lies, h.by.guessed > 0 ? some++ : 0;
    continuation_free(&h.rig.m, &c), leave_house(&h);
  }
  ck_assert_msg(refused > 5 && some > 5, "%u, %u", refused, some);
}
END_TEST

/* a row of a guess that is no number is not looked at; one of the text ends it, with the sentence of the plain loop */
START_TEST(rows_that_are_no_numbers)
{
  uint64_t seed = suite_seed() + 17;
  unsigned errors = 0, texts = 0;
  for (int round = 0; round < 60; round++) {
    static struct house h;
    struct continuation c;
    simple_house(&h, 20 + rnd(&seed) % 20, 20);
    struct wanted_text *a = &h.a[0];
    uint32_t bad = (uint32_t) (rnd(&seed) % TINY_V);
    for (uint32_t i = 0; i < a->n; i++) if (a->prompt[i] == bad) a->prompt[i] = (bad + 1) % TINY_V;
    write_alone(&h, a); /* the liar knows how it would go on */
    for (int i = 0; i < TINY_D; i++) ((float *) (uintptr_t) h.rig.t.lm.embedding.data)[bad * TINY_D + i] = NAN;
    struct continuation plain;
    struct generate_context g = { &h.rig.e, &h.rig.t.lm, h.rig.s, &h.rig.m };
    struct generate_options want = a->want;
    want.on_step = NULL;
    bool ok = generate(&g, a->prompt, a->n, &want, &plain, &h.rig.why), also;
    char sentence[sizeof h.rig.why.text];
    snprintf(sentence, sizeof sentence, "%s", ok ? "" : h.rig.why.text);
    h.dice = rnd(&seed), h.by.guess = lie, h.by.ctx = &h, h.by.most = 8;
    also = write_guessed(&h, &c);
    hold_msg(ok == also && (ok || strcmp(sentence, h.rig.why.text) == 0), "alone: %s; with guesses: %s", sentence, h.rig.why.text);
    if (ok) hold(c.text.n == plain.text.n && memcmp(c.text.id, plain.text.id, c.text.n * sizeof *c.text.id) == 0);
    errors += !ok, texts += ok;
    continuation_free(&h.rig.m, &c), continuation_free(&h.rig.m, &plain), leave_house(&h);
  }
  ck_assert_msg(errors > 5 && texts > 5, "%u errors, %u texts", errors, texts);
}
END_TEST

/* ---- a tree of guesses: each branch's logits are those of its text alone, the branch that is kept is the text, and of the others nothing stays */
enum { BRANCHES = 4, DEPTH = 3, TRUNK = 20, FIRST = 1 };
static void read_alone(struct tiny_rig *r, const uint32_t *id, size_t n, float *logits)
{
  size_t last = n - 1;
  struct store *s = cache_open(&r->m, &r->t.lm.config, 1, &(struct cache_options){ .rows = 0 }, &r->why);
  hold_msg(s != NULL && model_evaluate(&r->e, &r->t.lm, s, id, n, &last, 1, logits, &r->why), "%s", r->why.text);
  store_close(s);
}
static void grow_trunk(struct tiny_rig *r, const struct ids *text)
{
  struct row row[TRUNK];
  struct pass *p = NULL;
  store_crop(r->s, FIRST, 0); /* the branches have what the last attempt has left */
  for (uint32_t i = 0; i + 1 < text->n; i++) row[i] = (struct row){ FIRST, i, text->id[i] };
  if (text->n > 1) hold_msg(model_forward(&r->e, &r->t.lm, r->s, row, text->n - 1, &p, &r->why), "%s", r->why.text);
  pass_close(p);
}
static void hold_branch(struct tiny_rig *r, const struct ids *text, const uint32_t *guess, const float *logits)
{
  uint32_t id[TRUNK + DEPTH];
  float alone[TINY_V];
  memcpy(id, text->id, text->n * sizeof *id), memcpy(id + text->n, guess, DEPTH * sizeof *id);
  for (size_t i = 0; i <= DEPTH; i++) {
    read_alone(r, id, text->n + i, alone);
    hold_msg(memcmp(alone, logits + i * TINY_V, sizeof alone) == 0, "row %zu of a branch", i);
  }
}
START_TEST(a_tree_of_guesses_is_as_many_texts)
{
  uint64_t seed = suite_seed() + 18;
  for (int round = 0; round < 60; round++) {
    struct tiny_rig r;
    struct ids text = { NULL, 0, 0 };
    uint32_t guess[BRANCHES * DEPTH], kept[TRUNK + DEPTH + 1], branches = 1 + (uint32_t) (rnd(&seed) % BRANCHES), b = (uint32_t) (rnd(&seed) % branches);
    float logits[BRANCHES * (1 + DEPTH) * TINY_V], next[2][TINY_V];
    tiny_open(&r, rnd(&seed), FIRST + BRANCHES);
    store_close(r.s);
    r.s = cache_open(&r.m, &r.t.lm.config, FIRST + BRANCHES, &(struct cache_options){ .page_rows = (size_t) 1 << rnd(&seed) % 4 }, &r.why);
    for (size_t n = 1 + rnd(&seed) % TRUNK; text.n < n;) hold(ids_push(&r.m, &text, (uint32_t) (rnd(&seed) % TINY_V), &r.why));
    for (int i = 0; i < BRANCHES * DEPTH; i++) guess[i] = (uint32_t) (rnd(&seed) % TINY_V);
    struct guess_tree t = { .first = FIRST, .n = branches, .depth = DEPTH, .guess = guess };
    struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
    for (uint64_t refused = 1;; refused++) { /* each request for memory is refused once; then what was there is there */
      grow_trunk(&r, &text);
      r.m.fail_at = r.m.all.requests + refused;
      bool ok = tree_read(&g, &t, &text, logits, &r.why), all = r.m.all.requests < r.m.fail_at;
      r.m.fail_at = 0;
      if (all) {
        hold_msg(ok, "%s", r.why.text);
        break;
      }
      hold(ok || store_length(r.s, FIRST) >= text.n - 1);
    }
    for (uint32_t k = 0; k < branches; k++) {
      hold(store_length(r.s, FIRST + k) == text.n + DEPTH);
      hold_branch(&r, &text, guess + k * DEPTH, logits + k * (1 + DEPTH) * TINY_V);
    }
    size_t right = rnd(&seed) % (DEPTH + 1), length = text.n + right;
    hold_msg(tree_keep(r.s, &t, b, length, &r.why), "%s", r.why.text);
    for (uint32_t k = 0; k < BRANCHES; k++) hold(store_length(r.s, FIRST + k) == (k == 0 ? length : 0));
    memcpy(kept, text.id, text.n * sizeof *kept), memcpy(kept + text.n, guess + b * DEPTH, right * sizeof *kept);
    kept[length] = 7;
    struct pass *p = NULL;
    struct row row = { FIRST, (uint32_t) length, 7 };
    size_t only = 0;
    hold(model_forward(&r.e, &r.t.lm, r.s, &row, 1, &p, &r.why) && model_logits(&r.e, &r.t.lm, p, &only, 1, next[0], &r.why));
    pass_close(p);
    read_alone(&r, kept, length + 1, next[1]);
    hold_msg(memcmp(next[0], next[1], sizeof next[0]) == 0, "after branch %u of %u", b, branches);
    ids_free(&r.m, &text), tiny_close(&r);
  }
}
END_TEST

/* ---- how much room there is */
struct rooms { size_t n, room[200], texts, list[40]; };
static void look_at_rooms(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  struct rooms *r = ctx;
  (void) g;
  r->room[r->n++ % 200] = list[0]->room, r->texts = n;
  for (size_t i = 0; i < n; i++) {
    r->list[i] = list[i]->room;
    hold(list[i]->guess.n == 0);
  }
}
START_TEST(room_for_guesses_of_a_text)
{
  static struct house h;
  static struct rooms r;
  struct continuation c;
  static const struct { size_t tokens, chunk, prompt, most, rooms[8]; } table[] = {
    { 5, 0, 5, 16, { 4, 3, 2, 1, 0 } }, { 5, 0, 5, 2, { 2, 2, 2, 1, 0 } }, { 1, 0, 5, 8, { 0 } },
    { 3, 2, 5, 8, { 0, 0, 2, 1, 0 } }, { 3, 4, 4, 8, { 2, 1, 0 } }, { 3, 3, 4, 8, { 0, 2, 1, 0 } },
    { 99, 0, TINY_CONTEXT - 3, 8, { 3, 2, 1, 0 } } };
  for (size_t recall = 0; recall < 2; recall++)
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
      static uint32_t prompt[TINY_CONTEXT];
      simple_house(&h, 9, table[i].tokens);
      struct generate_context g = { &h.rig.e, &h.rig.t.lm, h.rig.s, &h.rig.m };
      struct generate_options want = { .max_new_tokens = table[i].tokens, .chunk = table[i].chunk };
      if (recall) want.recall = store_match_prefix;
      memset(&r, 0, sizeof r);
      struct speculation by = { .guess = look_at_rooms, .ctx = &r, .most = table[i].most };
      hold_msg(speculate(&by, &g, prompt, table[i].prompt, &want, &c, &h.rig.why), "%s", h.rig.why.text);
      for (size_t k = 0; k < 5 && k < r.n; k++) /* without a recall, a text longer than the chunk is read in pieces for ever */
        if (recall || table[i].chunk == 0)
          hold_msg(r.room[k] == table[i].rooms[k], "case %zu, pass %zu: room for %zu", i, k, r.room[k]);
      hold(by.guessed == 0 && by.came[0] == 0);
      continuation_free(&h.rig.m, &c), leave_house(&h);
    }
}
END_TEST
/* the rows that are left are divided equally, if the cache has pages for all of them */
START_TEST(room_for_guesses_in_company)
{
  static const struct { size_t texts, rows, guesses, prompt, cache, room; } table[] = {
    { 6, 32, 4, 0, 0, 4 }, { 10, 32, 4, 0, 0, 2 }, { 6, 32, 4, 10, 0, 2 }, { 6, 32, 9, 0, 0, 4 }, { 1, 32, 16, 0, 0, 16 },
    { 10, 10, 4, 0, 0, 0 }, { 10, 19, 4, 0, 0, 0 }, { 10, 20, 4, 0, 0, 1 }, { 3, 32, 0, 0, 0, 0 }, { 6, 32, 4, 26, 0, 0 },
    { 4, 32, 4, 0, 40, 4 }, { 4, 32, 4, 0, 34, 0 } };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    static struct house h;
    static struct rooms seen;
    static struct request r[12];
    struct scheduler s;
    uint32_t id[40];
    simple_house(&h, 9, 20), memset(&seen, 0, sizeof seen), memset(r, 0, sizeof r);
    struct speculation by = { .guess = look_at_rooms, .ctx = &seen, .most = table[i].guesses };
    h.rig.t.lm.config.n_positions = table[i].cache > 0 ? 24 : TINY_CONTEXT;
    store_close(h.rig.s);
    h.rig.s = cache_open(&h.rig.m, &h.rig.t.lm.config, 11, &(struct cache_options){ .rows = table[i].cache, .page_rows = 1 }, &h.rig.why);
    hold_msg(h.rig.s != NULL, "%s", h.rig.why.text);
    struct generate_context g = { &h.rig.e, &h.rig.t.lm, h.rig.s, &h.rig.m };
    struct scheduler_options how = { .pass_rows = table[i].rows < 11 ? 11 : table[i].rows, .guesses = table[i].guesses, .step = speculate_step, .step_ctx = &by };
    hold_msg(scheduler_open(&s, &g, &how, &h.rig.why), "%s", h.rig.why.text);
    s.w.pass_rows = table[i].rows;
    for (uint32_t k = 0; k < 40; k++) id[k] = k % TINY_V;
    struct generate_options want = { .max_new_tokens = table[i].cache > 0 ? 20 : 100 };
    for (size_t k = 0; k < table[i].texts; k++) hold_msg(scheduler_submit(&s, &r[k], id + k, 1, &want, &h.rig.why), "%s", h.rig.why.text);
    size_t steps = table[i].cache > 0 ? 5 : 12;
    for (size_t k = 0; k < steps; k++) hold(scheduler_step(&s, &h.rig.why));
    if (table[i].prompt > 0) hold(scheduler_submit(&s, &r[11], id, table[i].prompt, &want, &h.rig.why) && scheduler_step(&s, &h.rig.why));
    hold_msg(seen.texts == table[i].texts + (table[i].prompt > 0), "case %zu: %zu texts", i, seen.texts);
    for (size_t k = 0; k < seen.texts; k++) hold_msg(seen.list[k] == table[i].room, "case %zu: room for %zu of text %zu; wanted: %zu", i, seen.list[k], k, table[i].room);
    for (size_t k = 0; k < 12; k++) if (r[k].q.c.text.n > 0) request_close(&s, &r[k]);
    scheduler_close(&s), leave_house(&h);
  }
}
END_TEST

/* ---- the command */
static const char *const guessed_by[] = { "--speculate 1", "--speculate 2", "--speculate 4", "--speculate 7", "--speculate 16",
  "--speculate 1 --draft models/draft", "--speculate 3 --draft models/draft", "--speculate 16 --draft models/draft" };
enum { N_GUESSED_BY = sizeof guessed_by / sizeof *guessed_by };
START_TEST(the_command_writes_the_same_with_guesses)
{
  static const char *const line[] = { "", "--temperature 1 --seed 3", "--temperature 1.7 --seed 5 --top-p .9 --num-sequences 3",
    "--temperature .7 --repetition-penalty 1.3 --frequency-penalty .4 --no-repeat-ngram-size 3 --seed 8", "--regex '[a-z ]+(, [a-z ]+)*\\.'",
    "--temperature 1 --regex '(the|a) [a-z]+ [a-z]+s'", "--temperature .9 --grammar tests/golden/yes.gbnf", "--stop ' the' --min-tokens 4",
    "--stop ' a' --include-stop --temperature 1", "--no-cache", "--window 16 --temperature 1", "--window 24 --sinks 2", "--chunk 3",
    "--no-cache --temperature 1", "--kv-type q8_0 --temperature 1", "--ignore-eos --temperature 1", "-t 1", "-c 40", "--logprobs 3 --json --temperature 1",
    "--temperature 1 --num-sequences 4 --json" };
  size_t compared = 0;
  for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
    char plain[400], with[500];
    snprintf(plain, sizeof plain, "generate -m models/pocket 'Once upon a time there was a king, and the king had a daughter, and the king' -n 40 %s", line[i]);
    struct run r = run(plain);
    ck_assert_msg(r.status == 0 && r.n_out > 0, "%s: %d %s", plain, r.status, r.err);
    for (size_t k = 0; k < N_GUESSED_BY; k++, compared++) {
      snprintf(with, sizeof with, "%s %s", plain, guessed_by[k]);
      struct run o = run(with);
      if (strstr(line[i], "--json") != NULL && o.status == 0) { /* the counters are others, since passes are fewer */
        json_t *a = object_of(&r), *b = object_of(&o);
        ck_assert_msg(json_equal(json_object_get(a, "sequences"), json_object_get(b, "sequences")), "%s: %s%s", with, o.out, r.out);
        ck_assert(json_array_size(json_object_get(a, "sequences")) > 0);
        json_decref(a), json_decref(b);
      } else
        ck_assert_msg(o.status == 0 && o.n_out == r.n_out && memcmp(o.out, r.out, r.n_out) == 0, "%s: %d %s%s; alone: %s", with, o.status, o.out, o.err, r.out);
      done(&o);
    }
    done(&r);
  }
  printf("%zu texts of the command with guesses are those without\n", compared);
}
END_TEST
START_TEST(a_talk_is_the_same_with_guesses)
{
  static const char *const line[] = { "chat -m models/pocket --template pocket", "chat -m models/pocket --template pocket --temperature 1 --seed 4" };
  static const char talk[] = "Hello!\nTell me a story.\nAnd then?\nTell me a story.\n";
  for (int i = 0; i < 2; i++) {
    struct run r = { 0 };
    for (int k = -1; k < N_GUESSED_BY; k++) {
      char with[300], *argv[40], *none;
      snprintf(with, sizeof with, "%s %s", line[i], k < 0 ? "" : guessed_by[k]);
      int argc = words_of(with, argv, &none);
      struct run o = run_words(argc, argv, talk, strlen(talk), 0, 0, "build/incipit");
      ck_assert_msg(o.status == 0 && o.n_out > 20, "%s: %d %s", with, o.status, o.err);
      if (k < 0) r = o;
      else {
        ck_assert_msg(o.n_out == r.n_out && memcmp(o.out, r.out, r.n_out) == 0, "%s %s: %s; alone: %s", line[i], guessed_by[k], o.out, r.out);
        done(&o);
      }
      for (int j = 0; j < argc; j++) free(argv[j]);
    }
    done(&r);
  }
}
END_TEST
static long stat_of(const struct run *r, const char *name)
{
  const char *at = strstr(r->err, name);
  return at == NULL ? -1 : strtol(at + strlen(name), NULL, 10);
}
START_TEST(guesses_are_counted)
{
  static const struct { const char *line; long passes, guessed, accepted; } table[] = {
    { "generate The -n 8 --stats --speculate 4 --draft tests/golden/small", 2, 6, 6 },
    { "generate The -n 8 --stats --speculate 16 --draft tests/golden/small", 1, 7, 7 },
    { "generate The -n 8 --stats --speculate 4 --draft tests/golden/small --packed", 2, 6, 6 },
    { "generate The -n 8 --stats --speculate 4 --draft tests/golden/small -m @/bf16 --packed", 2, 6, 6 },
    { "generate The -n 8 --stats --speculate 0 --draft tests/golden/small", 8, -1, -1 },
    /* ' cat' alone is no reason to guess; ' cat sat' is; and of two places the later one counts */
    { "generate 'The cat sat on the mat and the cat' -n 1 --stats --speculate 4", 1, -1, -1 },
    { "generate 'The cat sat on the mat. The cat' -n 3 --stats --speculate 4", 2, 1, 1 } };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    struct run r = run(table[i].line);
    ck_assert_msg(r.status == 0, "%s: %s", table[i].line, r.err);
    ck_assert_msg(stat_of(&r, "\npasses ") == table[i].passes && stat_of(&r, "\nguessed ") == table[i].guessed
        && stat_of(&r, "\naccepted ") == table[i].accepted, "%s: %s", table[i].line, r.err);
    done(&r);
  }
  struct guess_setup x;
  guess_setup_lookup(&x, 100);
  ck_assert(x.by.most == MOST_GUESSES && x.by.guess == guess_by_lookup && x.by.ctx == &x.lookup && x.lookup.shortest == 2 && x.lookup.longest == 4);
  guess_setup_lookup(&x, 3);
  ck_assert(x.by.most == 3 && x.by.guessed == 0);
}
END_TEST

/* a second model must mean the same by every id */
static void other_tokenizers(void)
{
  char path[8192];
  static const char *const name[] = { "swapped", "fewer", "plain-end" };
  for (int i = 0; i < 3; i++) {
    variant(name[i], NULL);
    json_t *t = json_load_file(place(path, name[i], "tokenizer.json"), 0, NULL), *vocab = json_object_get(json_object_get(t, "model"), "vocab"), *id;
    const char *first = NULL, *text;
    void *safe;
    json_object_foreach_safe(vocab, safe, text, id) {
      if (i == 0 && json_integer_value(id) == 1) first = text, json_integer_set(id, 2);
      else if (i == 0 && json_integer_value(id) == 2 && first != NULL) json_integer_set(id, 1), first = NULL;
      else if (i == 1 && json_integer_value(id) == 285) {
        json_t *merges = json_object_get(json_object_get(t, "model"), "merges");
        json_array_remove(merges, json_array_size(merges) - 1), json_object_del(vocab, text);
      }
    }
    if (i == 2) json_object_set_new(json_array_get(json_object_get(t, "added_tokens"), 0), "special", json_false());
    must(json_dump_file(t, path, JSON_PRESERVE_ORDER) == 0, path);
    json_decref(t);
  }
}
START_TEST(a_second_model_means_the_same)
{
  static const struct { const char *line, *words; int status; } table[] = {
    { "generate The -n 8 --speculate 2 --draft tests/golden/small", "", 0 }, { "generate The -n 8 --speculate 2 --draft @/no-tokenizer", "", 0 },
    { "generate The -n 8 --speculate 2 --draft @/no-eos", "", 0 }, { "generate --prompt-ids 262 -n 8 -m @/no-tokenizer --speculate 2 --draft tests/golden/small", "", 0 },
    { "generate The -n 8 --speculate 2 --draft models/draft", "models/draft: the model has 2048 ids; wanted: 286, as many as the model for which it guesses", 1 },
    { "generate The -n 8 --speculate 2 --draft @/swapped", "its tokenizer means something else by token 1; wanted: the tokenizer of the model", 1 },
    { "generate The -n 8 --speculate 2 --draft @/fewer", "its tokenizer has 285 tokens; wanted: the tokenizer of the model, which has 286", 1 },
    { "generate The -n 8 --speculate 2 --draft @/plain-end", "its tokenizer means something else by token 0; wanted", 1 },
    { "chat -m models/pocket --template pocket --speculate 2 --draft tests/golden/small <Hello!", "the model has 286 ids", 1 },
    { "serve --port 0 --speculate 2 --draft models/draft", "the model has 2048 ids", 1 },
    { "generate The --speculate 2 --draft @/nowhere", "No such file", 1 }, { "generate The --speculate 2 --draft @/cut", "cut/model.safetensors", 1 },
    { "generate The --draft tests/golden/small", "--draft needs --speculate", 2 }, { "generate The --num-beams 2 --speculate 2", "--speculate contradicts --num-beams 2", 2 },
    { "generate The --num-beams 2 --speculate 2 --draft tests/golden/small", "contradicts --num-beams 2", 2 }, { "generate The --speculate 17", "0 to 16", 2 } };
  other_tokenizers();
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    struct run r = run(table[i].line);
    ck_assert_msg(r.status == table[i].status && (table[i].status == 0) == (r.n_out > 0) && strstr(r.err, table[i].words) != NULL, "%s: %d %s%s",
      table[i].line, r.status, r.out, r.err);
    done(&r);
  }
}
END_TEST
/* what is refused while the guesses are prepared is told, and nothing is kept */
START_TEST(memory_refused_while_guesses_are_prepared)
{
  static const char line[] = "generate The -n 8 --speculate 2 --draft tests/golden/small";
  struct run all = run(line);
  unsigned failed = 0;
  for (uint64_t k = 1; k <= all.m.all.requests; k += 1 + k / 40) {
    struct run r = run_as(line, 0, k);
    ck_assert_msg(r.status == 0 ? strcmp(r.out, all.out) == 0 : r.status == 1 && r.n_err > 0, "request %lu: %d %s%s", (unsigned long) k, r.status, r.out, r.err);
    failed += r.status != 0;
    done(&r);
  }
  ck_assert(failed > 20);
  done(&all);
}
END_TEST

/* a store that has rows of another text: the loop reads the prompt in pieces after all, and drops the guesses that were made */
static void guess_one_token(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  struct error why;
  (void) ctx;
  for (size_t i = 0; i < n; i++)
    if (list[i]->room > 0) hold(ids_push(g->m, &list[i]->guess, 7, &why));
}
START_TEST(guesses_that_were_dropped_do_not_count)
{
  struct tiny_rig r;
  tiny_open(&r, 3, 1);
  struct generate_context g = { &r.e, &r.t.lm, r.s, &r.m };
  struct continuation c;
  uint32_t first[30], text[20];
  for (uint32_t i = 0; i < 30; i++) first[i] = (i * 5 + 1) % TINY_V;
  for (uint32_t i = 0; i < 20; i++) text[i] = (i * 3 + 2) % TINY_V;
  struct generate_options want = { .max_new_tokens = 8, .recall = store_match_prefix, .chunk = 4 };
  ck_assert(generate(&g, first, 30, &want, &c, &r.why));
  continuation_free(&r.m, &c);
  struct speculation by = { .guess = guess_one_token, .most = 1 };
  uint64_t rows = r.c.rows, came = 0;
  ck_assert(speculate(&by, &g, text, 20, &want, &c, &r.why));
  ck_assert_uint_eq(r.c.rows - rows, 20 + 8 - 1 + by.guessed - by.accepted);
  for (int i = 0; i <= MOST_GUESSES; i++) came += by.came[i];
  ck_assert_uint_eq(came, by.guessed);
  continuation_free(&r.m, &c);
  tiny_close(&r);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("speculation");
  TCase *rules = tcase_create("rules"), *guesses = tcase_create("guesses"), *command = tcase_create("command");
  room_open("speculation");
  tcase_add_test(rules, the_rule_is_that_of_its_definition);
  tcase_add_test(rules, the_rule_is_that_of_others);
  tcase_add_test(rules, what_comes_out_is_the_model);
  tcase_add_test(rules, throws_by_the_rule_are_those_of_the_model);
  tcase_add_test(rules, common_dice_agree_as_often_as_they_should);
  tcase_set_timeout(guesses, 600);
  tcase_add_test(guesses, lookups_by_hand);
  tcase_add_test(guesses, a_model_guesses_for_itself);
  tcase_add_test(guesses, a_drafter_follows_the_texts);
  tcase_add_test(guesses, a_cancelled_text_keeps_what_it_has);
  tcase_add_test(guesses, drafters_know_their_limits);
  tcase_add_test(guesses, strange_choices_get_no_guesses);
  tcase_add_test(guesses, a_drafter_without_memory_guesses_nothing);
  tcase_add_test(guesses, refused_memory_ends_the_text_or_changes_nothing);
  tcase_add_test(guesses, a_pass_that_is_refused_is_tried_without_guesses);
  tcase_add_test(guesses, rows_that_are_no_numbers);
  tcase_add_test(guesses, a_tree_of_guesses_is_as_many_texts);
  tcase_add_test(guesses, room_for_guesses_of_a_text);
  tcase_add_test(guesses, room_for_guesses_in_company);
  tcase_add_test(guesses, guessing_changes_no_text);
  tcase_add_test(guesses, guesses_that_were_dropped_do_not_count);
  tcase_add_test(guesses, guessing_in_company_changes_no_text);
  tcase_set_timeout(command, 600);
  tcase_add_test(command, guesses_are_counted);
  tcase_add_test(command, a_second_model_means_the_same);
  tcase_add_test(command, memory_refused_while_guesses_are_prepared);
  tcase_add_test(command, a_talk_is_the_same_with_guesses);
  tcase_add_test(command, the_command_writes_the_same_with_guesses);
  suite_add_tcase(s, rules), suite_add_tcase(s, guesses), suite_add_tcase(s, command);
  return suite_run(s);
}
