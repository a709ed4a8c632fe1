/* Chapter 7: the sampler beside a plain restatement of its words, and its edges. */
#define _DEFAULT_SOURCE
#include <math.h>
#include "tiny.h"
#include "choices.h"
#include "constraints/bond.h"
#include "functions/numbers.h"
#include "kernels/kernels.h"

enum { MAX_V = 5000, MAX_IDS = 40 };
static double uniform(uint64_t *s)
{
  return (double) (rnd(s) >> 11) * 0x1p-53;
}
static const struct kernels *some_kernels(uint64_t k)
{
  size_t n = 0;
  while (kernels_at(n) != NULL) n++;
  return kernels_at(k % n);
}

/* ---- the words of the contract, once more and plainly: an array of scores, -inf for a token that
 * is out; qsort; libm */
struct plain {
  size_t v;
  double z[MAX_V];
  uint32_t order[MAX_V];
  size_t n;
  double w[MAX_V];
  bool near;
};
static double our_exp(double x)
{
  return num_exp(x);
}
static double (*plain_exp)(double) = exp;
static const double *qsort_by;
static int by_fall(const void *a, const void *b)
{
  uint32_t i = *(const uint32_t *) a, j = *(const uint32_t *) b;
  return qsort_by[i] > qsort_by[j] ? -1 : qsort_by[i] < qsort_by[j] ? 1 : i < j ? -1 : 1;
}
static int by_rise(const void *a, const void *b)
{
  uint32_t i = *(const uint32_t *) a, j = *(const uint32_t *) b;
  return qsort_by[i] < qsort_by[j] ? -1 : qsort_by[i] > qsort_by[j] ? 1 : i < j ? -1 : 1;
}
static double plain_left(struct plain *p) /* the ids left, rising; the greatest score */
{
  double max = -INFINITY;
  p->n = 0;
  for (uint32_t i = 0; i < p->v; i++)
    if (p->z[i] > -INFINITY) {
      p->order[p->n++] = i;
      if (p->z[i] > max) max = p->z[i];
    }
  return max;
}
static double plain_weigh(
  struct plain *p, double max) /* weights in the order that stands, and their sum */
{
  double sum = 0;
  for (size_t i = 0; i < p->n; i++) sum += p->w[i] = plain_exp(p->z[p->order[i]] - max);
  return sum;
}
static void plain_cut(struct plain *p, size_t n)
{
  for (size_t i = n; i < p->n; i++) p->z[p->order[i]] = -INFINITY;
}
static double plain_falling(struct plain *p)
{
  double max = plain_left(p);
  qsort_by = p->z, qsort(p->order, p->n, sizeof *p->order, by_fall);
  return max;
}
/* two sums of rounded exponentials that are as good as equal: the words do not decide which is
 * larger, unless all weights are 0 or 1 */
static void plain_near(struct plain *p, double a, double b)
{
  bool whole = true;
  for (size_t i = 0; i < p->n; i++) whole = whole && (p->w[i] == 0 || p->w[i] == 1);
  if (!whole && fabs(a - b) <= 1e-12 * fabs(b)) p->near = true;
}
static void plain_share(struct plain *p, double share, double all)
{
  double sum = 0;
  size_t n = 0;
  for (; n < p->n; n++) {
    if (n > 0) plain_near(p, sum, share * all);
    if (n > 0 && sum >= share * all) break;
    sum += p->w[n];
  }
  plain_cut(p, n);
}
static void plain_temperature(struct plain *p, double t)
{
  if (t == 0) {
    plain_falling(p), plain_cut(p, 1);
    return;
  }
  for (size_t i = 0; i < p->v; i++) p->z[i] /= t;
}
static void plain_top_k(struct plain *p, size_t k)
{
  plain_falling(p);
  if (k > 0) plain_cut(p, k);
}
static void plain_top_p(struct plain *p, double share)
{
  if (share == 1) return;
  double max = plain_falling(p), all = plain_weigh(p, max);
  plain_share(p, share, all);
}
static void plain_min_p(struct plain *p, double m)
{
  double max = plain_left(p);
  plain_weigh(p, max);
  for (size_t i = 0; i < p->n; i++) {
    if (p->w[i] != 0 && p->w[i] != 1 && fabs(p->w[i] - m) <= 1e-12 * m) p->near = true;
    if (p->w[i] < m) p->z[p->order[i]] = -INFINITY;
  }
}
static void plain_typical(struct plain *p, double share)
{
  static double distance[MAX_V];
  if (share == 1) return;
  double max = plain_left(p), all = plain_weigh(p, max), mean = 0;
  for (size_t i = 0; i < p->n; i++) mean += p->w[i] * (p->z[p->order[i]] - max);
  mean /= all;
  for (size_t i = 0; i < p->n; i++) distance[p->order[i]] = fabs(p->z[p->order[i]] - max - mean);
  qsort_by = distance, qsort(p->order, p->n, sizeof *p->order, by_rise);
  for (size_t i = 1; i < p->n; i++) { /* two that are as far on either side */
    uint32_t a = p->order[i - 1], b = p->order[i];
    if (p->z[a] != p->z[b] && fabs(distance[a] - distance[b]) <= 1e-12 * (fabs(mean) + distance[b]))
      p->near = true;
  }
  plain_weigh(p, max), plain_share(p, share, all);
}
static void plain_penalties(struct plain *p, const struct sampling_params *s, struct history h)
{
  size_t from = 0;
  if (s->penalty_last_n >= 0 && (uint64_t) s->penalty_last_n < h.n)
    from = h.n - (size_t) s->penalty_last_n;
  for (uint32_t id = 0; id < p->v; id++) {
    size_t seen = 0, written = 0;
    for (size_t i = from; i < h.n; i++)
      if (h.id[i] == id) seen++, written += i >= h.n_prompt;
    if (p->z[id] == -INFINITY) continue;
    if (seen > 0)
      p->z[id] = p->z[id] > 0 ? p->z[id] / s->repetition_penalty : p->z[id] * s->repetition_penalty;
    if (written > 0)
      p->z[id] = p->z[id] - ((double) written * s->frequency_penalty + s->presence_penalty);
  }
}
static void plain_ngram(struct plain *p, size_t n, struct history h)
{
  if (n == 0) return;
  for (size_t i = 0; i + n <= h.n; i++) {
    bool same = true;
    for (size_t k = 0; k + 1 < n; k++) same = same && h.id[i + k] == h.id[h.n - (n - 1) + k];
    if (same) p->z[h.id[i + n - 1]] = -INFINITY;
  }
}
static void plain_sequences(
  struct plain *p, const struct sequence_bias *list, size_t n, struct history h)
{
  for (size_t i = 0; i < n; i++) {
    bool ends = list[i].n - 1 <= h.n;
    for (size_t k = 0; ends && k + 1 < list[i].n; k++)
      ends = list[i].id[k] == h.id[h.n - (list[i].n - 1) + k];
    uint32_t last = list[i].id[list[i].n - 1];
    if (ends && p->z[last] != -INFINITY) p->z[last] += list[i].bias;
  }
}
/* N_SAMPLE_STAGES: all went well; else the stage behind which nothing was left, or something
 * infinite */
static enum sample_stage plain_run(
  struct plain *p, const struct sampling_params *s, const float *logits, struct history h)
{
  p->near = false;
  for (size_t i = 0; i < p->v; i++) p->z[i] = (double) logits[i];
  for (size_t i = 0; i < s->n_stages; i++) {
    enum sample_stage stage = s->stage[i];
    switch (stage) { /* no default: a stage that is left out here stops the build */
    case SAMPLE_BIAS:
      plain_sequences(p, s->logit_bias, s->n_logit_bias, h);
      for (size_t k = 0; k < s->n_suppress; k++) p->z[s->suppress[k]] = -INFINITY;
      plain_sequences(p, s->bad_words, s->n_bad_words, h);
      break;
    case SAMPLE_PENALTIES: plain_penalties(p, s, h); break;
    case SAMPLE_NGRAM: plain_ngram(p, s->no_repeat_ngram, h); break;
    case SAMPLE_TEMPERATURE: plain_temperature(p, s->temperature); break;
    case SAMPLE_TOP_K: plain_top_k(p, s->top_k); break;
    case SAMPLE_TOP_P: plain_top_p(p, s->top_p); break;
    case SAMPLE_MIN_P: plain_min_p(p, s->min_p); break;
    case SAMPLE_TYPICAL_P: plain_typical(p, s->typical_p); break;
    case N_SAMPLE_STAGES: break;
    }
    if (!(plain_left(p) < INFINITY) || p->n == 0) return stage;
  }
  return N_SAMPLE_STAGES;
}

/* ---- logits of every kind, and settings of every kind */
static const char *const kind_name[] = { "Gaussian", "a few levels", "all equal",
  "equal but for the last bit", "one power of ten", "up to 1e30", "denormals", "a spread of 700",
  "a peak" };
enum { KINDS = 9 };
static unsigned make_logits(float *x, size_t v, uint64_t *seed)
{
  unsigned kind = (unsigned) (rnd(seed) % KINDS);
  static const float level[] = { 0, 1, 2, -1.5f, -0.0f };
  float same = tiny_normal(seed) * 3, power = (float) pow(10, (double) (rnd(seed) % 80) - 42);
  for (size_t i = 0; i < v; i++)
    x[i] = kind == 0 ? 3 * tiny_normal(seed)
      : kind == 1    ? level[rnd(seed) % 5]
      : kind == 2    ? same
      : kind == 3    ? nextafterf(same, rnd(seed) % 2 ? 1000.0f : same)
      : kind == 4    ? tiny_normal(seed) * power
      : kind == 5    ? (float) ((double) (rnd(seed) % 5) - 2) * (rnd(seed) % 3 ? 1e30f : 1)
      : kind == 6    ? (float) ((double) (rnd(seed) % 9) - 4) * 1.4e-45f
      : kind == 7    ? (float) (700 * uniform(seed))
                     : tiny_normal(seed) + (float) (rnd(seed) % 9 == 0) * 12;
  if (rnd(seed) % 4 == 0)
    for (size_t i = 0; i < v; i++)
      if (rnd(seed) % 4 == 0) x[i] = -INFINITY;
  if (rnd(seed) % 50 != 0) x[rnd(seed) % v] = same; /* nearly always one is left */
  return kind;
}
struct wish {
  struct sampling_params s;
  struct sequence_bias list[8];
  uint32_t id[8][4], suppress[3], text[MAX_IDS];
  struct history h;
};
static double some_share(uint64_t *seed)
{
  static const double edge[] = { 0, 1, .5, .9, .25, .1, 1e-9, 1 - 1e-9 };
  return rnd(seed) % 2 ? edge[rnd(seed) % 8] : uniform(seed);
}
static double some_temperature(uint64_t *seed)
{
  static const double t[] = { 0, .5, 1, 2, .8, 1e-5, 1e4, .7 };
  return rnd(seed) % 2 ? t[rnd(seed) % 8] : 2 * uniform(seed) + .01;
}
static void make_lists(struct wish *w, size_t v, uint64_t *seed)
{
  static const double bias[] = { 1.5, -3, 100, -INFINITY, 1e-3, -1e5 };
  size_t range = v < 6 || rnd(seed) % 3 == 0 ? v : 6;
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 4; k++) w->id[i][k] = (uint32_t) (rnd(seed) % range);
    w->list[i] = (struct sequence_bias){ w->id[i], i < 4 && rnd(seed) % 2 ? 1 : 1 + rnd(seed) % 4,
      i < 5 ? bias[rnd(seed) % 6] : -INFINITY };
  }
  for (int i = 0; i < 3; i++) w->suppress[i] = (uint32_t) (rnd(seed) % v);
  w->h = (struct history){ w->text, rnd(seed) % 8 == 0 ? 0 : rnd(seed) % (MAX_IDS + 1), 0 };
  for (size_t i = 0; i < w->h.n; i++) w->text[i] = (uint32_t) (rnd(seed) % range);
  w->h.n_prompt = rnd(seed) % (w->h.n + 1);
}
static void make_wish(struct wish *w, size_t v, uint64_t *seed)
{
  static const double r[] = { 1.2, 2, .5, 1e-3, 1.05, 50 };
  make_lists(w, v, seed);
  struct sampling_params *s = &w->s;
  *s = sampling_default();
  uint64_t coin = rnd(seed);
#define SOMETIMES (coin >>= 1, coin & 1)
  if (SOMETIMES) s->temperature = some_temperature(seed);
  if (SOMETIMES) s->top_k = rnd(seed) % (v + 3);
  if (SOMETIMES) s->top_p = some_share(seed);
  if (SOMETIMES) s->min_p = some_share(seed) * (rnd(seed) % 2 ? 1 : .1);
  if (SOMETIMES) s->typical_p = 1 - some_share(seed) * (1 - 1e-6);
  if (SOMETIMES) s->repetition_penalty = r[rnd(seed) % 6];
  if (SOMETIMES) s->frequency_penalty = 4 * uniform(seed) - 2;
  if (SOMETIMES) s->presence_penalty = 4 * uniform(seed) - 2;
  if (SOMETIMES) s->penalty_last_n = (int64_t) (rnd(seed) % (MAX_IDS + 9)) - 1;
  if (SOMETIMES) s->no_repeat_ngram = rnd(seed) % 5;
  if (SOMETIMES) s->logit_bias = w->list, s->n_logit_bias = rnd(seed) % 5;
  if (SOMETIMES) s->bad_words = w->list + 5, s->n_bad_words = rnd(seed) % 4;
  if (SOMETIMES) s->suppress = w->suppress, s->n_suppress = rnd(seed) % 4;
  if (SOMETIMES) {
    for (size_t i = N_SAMPLE_STAGES; i > 1; i--) {
      size_t k = rnd(seed) % i;
      enum sample_stage t = s->stage[i - 1];
      s->stage[i - 1] = s->stage[k], s->stage[k] = t;
    }
    s->n_stages = rnd(seed) % (N_SAMPLE_STAGES + 1);
  }
}

/* ---- what must hold of a funnel at any time */
static void in_order(const struct funnel *f, const char *where)
{
  static bool left[200000];
  hold_msg(f->n <= f->vocab, "more tokens than before");
  memset(left, 0, f->vocab);
  for (size_t i = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i];
    hold_msg(id < f->vocab && !left[id], "%s: id %u", where, id);
    left[id] = true;
    if (i == 0) continue;
    uint32_t before = f->candidates[i - 1];
    if (!f->sorted)
      hold_msg(before < id, "%s: not by rising id", where);
    else
      hold_msg(f->score[before] > f->score[id] || (f->score[before] == f->score[id] && before < id),
        "%s: not by falling score", where);
  }
  for (size_t i = 0; i < f->vocab; i++) {
    hold_msg((f->score[i] != -INFINITY) == left[i], "%s: id %zu is %s, and its score is %g", where,
      i, left[i] ? "left" : "out", f->score[i]);
    hold_msg(f->count[i] == 0, "%s: %zu is still counted", where, i);
  }
}

/* ---- every case against the plain restatement */
static unsigned near_ones, compared, refused_by_both, margins;
static void compare_case(struct funnel *f, struct plain *p, const struct wish *w,
  const float *logits, uint64_t seed, unsigned kind)
{
  struct error why = { "" };
  bool any = false;
  for (size_t i = 0; i < p->v; i++) any = any || logits[i] > -INFINITY;
  enum sample_stage at = plain_run(p, &w->s, logits, w->h);
  bool ok = sampling_run(f, &w->s, logits, w->h, &why);
  if (!any) {
    hold_msg(!ok && strstr(why.text, "logits are -inf") != NULL, "%s", why.text);
    refused_by_both++;
    return;
  }
  if (p->near) { /* with our own exponential nothing is too near: each sum has its order */
    near_ones++;
    plain_exp = our_exp, at = plain_run(p, &w->s, logits, w->h), plain_exp = exp;
  }
  hold_msg(ok == (at == N_SAMPLE_STAGES), "seed %llu: %s; %s", (unsigned long long) seed, why.text,
    kind_name[kind]);
  if (!ok) {
    char words[40];
    snprintf(words, sizeof words, "after the stage %s ", sampling_stage_name(at));
    hold_msg(strstr(why.text, words) != NULL, "seed %llu: %s; wanted: %s",
      (unsigned long long) seed, why.text, words);
    refused_by_both++;
    return;
  }
  in_order(f, "after the last stage");
  double max = plain_falling(p), all = plain_weigh(p, max), best = -INFINITY, second = -INFINITY;
  hold_msg(f->n == p->n, "seed %llu, %s: %zu are left; wanted: %zu", (unsigned long long) seed,
    kind_name[kind], f->n, p->n);
  uint32_t sequence = (uint32_t) rnd(&seed), position = (uint32_t) rnd(&seed),
           token = funnel_choose(f, seed, sequence, position), winner = 0;
  for (size_t i = 0; i < p->n; i++) { /* in full, for every token */
    double sum = p->z[p->order[i]] + plain_noise(seed, sequence, position, p->order[i]);
    if (sum > best || (sum == best && p->order[i] < winner))
      second = best, best = sum, winner = p->order[i];
    else if (sum > second)
      second = sum;
  }
  funnel_distribution(f);
  for (size_t i = 0; i < p->n; i++) {
    hold_msg(f->candidates[i] == p->order[i], "seed %llu, %s: place %zu has id %u; wanted: %u",
      (unsigned long long) seed, kind_name[kind], i, f->candidates[i], p->order[i]);
    hold_msg(fabs(f->weight[i] - p->w[i] / all) <= 1e-12,
      "seed %llu: place %zu has %.17g; wanted: %.17g", (unsigned long long) seed, i, f->weight[i],
      p->w[i] / all);
  }
  if (best - second <= 1e-9 && !(fabs(max) > 1e20))
    margins++;
  else
    hold_msg(token == winner, "seed %llu, %s: %u wins by %g; wanted: %u", (unsigned long long) seed,
      kind_name[kind], token, best - second, winner);
  compared++;
}
static void oracle_round(size_t rounds, size_t v_most)
{
  static struct plain p;
  static float logits[MAX_V];
  struct memory m = { .fail_at = 0 };
  struct error why;
  near_ones = compared = refused_by_both = margins = 0;
  for (size_t round = 0; round < rounds; round++) {
    uint64_t begin = suite_seed() + round * 7919 + v_most, seed = begin;
    struct funnel f;
    struct wish w;
    p.v = rnd(&seed) % 5 == 0 ? 1 + rnd(&seed) % 8 : 1 + rnd(&seed) % v_most;
    hold_msg(funnel_open(&f, &m, some_kernels(round), p.v, &why), "%s", why.text);
    unsigned kind = make_logits(logits, p.v, &seed);
    make_wish(&w, p.v, &seed);
    hold_msg(sampling_check(&w.s, p.v, &why), "%s", why.text);
    compare_case(&f, &p, &w, logits, seed, kind);
    funnel_close(&f);
  }
  hold_msg(m.all.live == 0, "memory is still held");
  printf("%zu cases of up to %zu tokens: %u compared, %u refused by both, %u of them decided by "
         "the exponential of the engine, %u of the compared with a margin below 1e-9\n",
    rounds, v_most, compared, refused_by_both, near_ones, margins);
}
START_TEST(the_words_of_the_contract)
{
  oracle_round(30000 / LESS, 300);
  ck_assert_uint_gt(compared, 20000 / LESS);
  ck_assert_uint_gt(refused_by_both, 100 / LESS);
  ck_assert_uint_lt(near_ones, 3000);
  ck_assert_uint_lt(margins, 20);
}
END_TEST
START_TEST(the_words_of_the_contract_for_few_tokens)
{
  oracle_round(100000 / LESS, 12);
  ck_assert_uint_gt(compared, 60000 / LESS);
  ck_assert_uint_lt(near_ones, 5000);
  ck_assert_uint_lt(margins, 100);
}
END_TEST
START_TEST(the_words_of_the_contract_for_many_tokens)
{
  oracle_round(400 / LESS, MAX_V);
  ck_assert_uint_gt(compared, 250 / LESS);
  ck_assert_uint_lt(near_ones, 40);
  ck_assert_uint_lt(margins, 5);
}
END_TEST

/* ---- the race: tokens that cannot win are not computed, and the winner is that of the full race,
 * to the last bit */
static uint32_t full_race(
  const struct funnel *f, uint64_t seed, uint32_t sequence, uint32_t position)
{
  double best = -INFINITY;
  uint32_t chosen = UINT32_MAX;
  if (f->n == 1) return f->candidates[0];
  for (size_t i = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i];
    double sum = f->score[id] + gumbel_noise(seed, sequence, position, id);
    if (sum > best || (sum == best && id < chosen)) best = sum, chosen = id;
  }
  return chosen;
}
static void same_race(struct funnel *f, uint64_t seed, const char *what)
{
  uint32_t sequence = (uint32_t) rnd(&seed), position = (uint32_t) rnd(&seed) & 0xffff,
           want = full_race(f, seed, sequence, position),
           got = funnel_choose(f, seed, sequence, position);
  hold_msg(got == want, "seed %llu: %u wins; wanted: %u; %zu tokens, %s", (unsigned long long) seed,
    got, want, f->n, what);
}
START_TEST(lazily_evaluated_or_not)
{
  static float logits[MAX_V];
  struct memory m = { .fail_at = 0 };
  struct error why;
  for (size_t round = 0; round < 60000 / LESS; round++) {
    uint64_t seed = suite_seed() + round * 104729;
    struct funnel f;
    size_t v = round % 500 == 0 ? MAX_V : 1 + rnd(&seed) % (round % 8 == 0 ? 300 : 40);
    hold_msg(funnel_open(&f, &m, some_kernels(round), v, &why), "%s", why.text);
    unsigned kind = make_logits(logits, v, &seed);
    if (funnel_fill(&f, logits, &why)) {
      if (rnd(&seed) % 3 == 0) funnel_temperature(&f, .05 + 3 * uniform(&seed));
      if (rnd(&seed) % 3 == 0) funnel_top_k(&f, 1 + rnd(&seed) % v);
      same_race(&f, seed, kind_name[kind]);
      funnel_distribution(&f); /* by falling score: the same winner */
      same_race(&f, seed, kind_name[kind]);
    }
    funnel_close(&f);
  }
  hold_msg(m.all.live == 0, "memory is still held");
}
END_TEST
/* of scores of 1e15 the sum with the noise is rounded to an eighth, so that several win, and the
   lowest id has to be found although a bound without a margin would leave it out */
START_TEST(rounding_loses_no_winner)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct funnel f;
  float zero[400] = { 0 };
  unsigned ties = 0;
  hold_msg(funnel_open(&f, &m, kernels_find(NULL, NULL), 400, &why), "%s", why.text);
  for (size_t round = 0; round < 40000 / LESS; round++) {
    static const double base[] = { 1e15, -1e15, 1e16, 3e15, 1e14, 1e17, -4e15, 1e13 };
    uint64_t seed = suite_seed() + round * 15485863;
    double b = base[round % 8], step = nextafter(fabs(b), INFINITY) - fabs(b);
    hold_msg(funnel_fill(&f, zero, &why), "%s", why.text);
    for (size_t i = 0; i < 400; i++) f.score[i] = b + step * (double) (rnd(&seed) % 12);
    funnel_distribution(&f);
    uint32_t winner = full_race(&f, seed, 1, 2);
    double best = f.score[winner] + gumbel_noise(seed, 1, 2, winner);
    for (uint32_t i = 0; i < 400; i++)
      ties += i != winner && f.score[i] + gumbel_noise(seed, 1, 2, i) == best;
    uint32_t got = funnel_choose(&f, seed, 1, 2);
    hold_msg(
      got == winner, "seed %llu: %u wins; wanted: %u", (unsigned long long) seed, got, winner);
  }
  ck_assert_uint_gt(ties, 10000 / LESS);
  funnel_close(&f);
}
END_TEST
/* two scores that differ by just as much as the noise, give or take a few last places: all 52 bits
 * decide */
START_TEST(a_dead_heat_is_decided_by_the_last_bit)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct funnel f;
  float zero[30] = { 0 };
  unsigned first = 0, rounds = 40000 / LESS;
  ck_assert(funnel_open(&f, &m, kernels_find(NULL, NULL), 30, &why));
  for (size_t round = 0; round < rounds; round++) {
    uint64_t seed = suite_seed() + round * 32452843;
    uint32_t a = (uint32_t) (rnd(&seed) % 30), b = (a + 1 + (uint32_t) (rnd(&seed) % 29)) % 30;
    hold_msg(funnel_fill(&f, zero, &why), "%s", why.text);
    for (size_t i = 0; i < 30; i++) f.score[i] = -50 - (double) i;
    uint64_t key = seed;
    f.score[a] = 0, f.score[b] = gumbel_noise(key, 1, 2, a) - gumbel_noise(key, 1, 2, b);
    for (uint64_t steps = rnd(&seed) % 4; steps > 0; steps--)
      f.score[b] = nextafter(f.score[b], round % 2 ? INFINITY : -INFINITY);
    uint32_t winner = full_race(&f, key, 1, 2), got = funnel_choose(&f, key, 1, 2);
    hold_msg(got == winner && (winner == a || winner == b), "seed %llu: %u wins; wanted: %u",
      (unsigned long long) key, got, winner);
    first += winner == a;
  }
  ck_assert_uint_gt(first, rounds / 4);
  ck_assert_uint_lt(first, rounds - rounds / 4);
  funnel_close(&f);
}
END_TEST
/* who is struck out changes nothing, unless it had won; nor does the order of the list */
START_TEST(a_token_owns_its_number)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct funnel f;
  hold_msg(funnel_open(&f, &m, kernels_find(NULL, NULL), 60, &why), "%s", why.text);
  for (size_t round = 0; round < 5000; round++) {
    uint64_t seed = suite_seed() + round * 31;
    float logits[60];
    for (int i = 0; i < 60; i++) logits[i] = tiny_normal(&seed);
    uint64_t key = seed;
    uint32_t out = (uint32_t) (rnd(&seed) % 60);
    hold_msg(funnel_fill(&f, logits, &why), "%s", why.text);
    uint32_t first = funnel_choose(&f, key, 0, 5);
    funnel_suppress(&f, &out, 1);
    uint32_t then = funnel_choose(&f, key, 0, 5);
    hold_msg(out == first ? then != first : then == first,
      "seed %llu: %u is struck out, and then not %u wins, but %u", (unsigned long long) key, out,
      first, then);
    funnel_distribution(&f);
    ck_assert_uint_eq(funnel_choose(&f, key, 0, 5), then);
  }
  funnel_close(&f);
}
END_TEST

/* ---- edges */
static bool checks(const struct sampling_params *s,
  const char *words) /* accepted if words is null; else refused with all words between commas */
{
  struct error why = { "" };
  bool ok = sampling_check(s, 10, &why);
  if (words == NULL) {
    ck_assert_msg(ok, "%s", why.text);
    return ok;
  }
  char copy[200];
  snprintf(copy, sizeof copy, "%s", words);
  ck_assert_msg(!ok, "wanted a refusal: %s", words);
  for (char *w = strtok(copy, "|"); w != NULL; w = strtok(NULL, "|"))
    ck_assert_msg(strstr(why.text, w) != NULL, "%s; wanted: %s", why.text, w);
  return ok;
}
START_TEST(every_setting_at_its_limits)
{
  static const struct {
    const char *name;
    double x;
    const char *words;
  } at[] = { { "temperature", 0, NULL }, { "temperature", 1e-5, NULL },
    { "temperature", 1e4, NULL },
    { "temperature", 9.99e-6, "temperature is 9.99e-06|0, or 0.00001 to 10000" },
    { "temperature", 5e-324, "temperature is 4.94066e-324" },
    { "temperature", -1, "temperature is -1|wanted: 0, or 0.00001 to 10000" },
    { "temperature", 10000.1, "temperature is 10000.1" },
    { "temperature", NAN, "temperature is nan" }, { "temperature", INFINITY, "temperature is inf" },
    { "temperature", -INFINITY, "temperature is -inf" }, { "temperature", -0.0, NULL },
    { "top_p", 0, NULL }, { "top_p", 1, NULL }, { "top_p", 1.0000001, "top_p is 1|wanted: 0 to 1" },
    { "top_p", -1e-9, "top_p is -1e-09" }, { "top_p", NAN, "top_p is nan" }, { "min_p", 0, NULL },
    { "min_p", 1, NULL }, { "min_p", 1.5, "min_p is 1.5|wanted: 0 to 1" },
    { "min_p", -.5, "min_p is -0.5" }, { "min_p", NAN, "min_p is nan" },
    { "typical_p", 1e-300, NULL }, { "typical_p", 1, NULL },
    { "typical_p", 0, "typical_p is 0|wanted: above 0, up to 1" },
    { "typical_p", 1.25, "typical_p is 1.25" }, { "typical_p", NAN, "typical_p is nan" },
    { "repetition_penalty", 1e-300, NULL }, { "repetition_penalty", 1e300, NULL },
    { "repetition_penalty", 0, "repetition_penalty is 0|wanted: a number above 0" },
    { "repetition_penalty", -2, "repetition_penalty is -2" },
    { "repetition_penalty", INFINITY, "repetition_penalty is inf" },
    { "repetition_penalty", NAN, "repetition_penalty is nan" },
    { "frequency_penalty", -1e300, NULL }, { "frequency_penalty", 1e300, NULL },
    { "frequency_penalty", INFINITY, "frequency_penalty is inf|wanted: a finite number" },
    { "frequency_penalty", -INFINITY, "frequency_penalty is -inf" },
    { "frequency_penalty", NAN, "frequency_penalty is nan" }, { "presence_penalty", -2, NULL },
    { "presence_penalty", INFINITY, "presence_penalty is inf|wanted: a finite number" },
    { "presence_penalty", NAN, "presence_penalty is nan" } };
  const struct sampling_option *r;
  enum sample_stage where = N_SAMPLE_STAGES;
  size_t n;
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct sampling_params s = sampling_default();
    for (n = 0; strcmp((r = sampling_option_at(n, &where))->name, at[i].name) != 0; n++)
      ;
    sampling_option_set(&s, r, at[i].x, 0);
    ck_assert_int_eq(sampling_option_fits(r, at[i].x), at[i].words == NULL);
    checks(&s, at[i].words);
    for (size_t k = 0; k < s.n_stages; k++)
      if (s.stage[k] == where) s.stage[k] = s.stage[--s.n_stages];
    checks(&s, NULL); /* nobody reads it */
  }
  struct sampling_params s = sampling_default();
  s.penalty_last_n = -1, checks(&s, NULL);
  s.penalty_last_n = INT64_MAX, checks(&s, NULL);
  s.penalty_last_n = -2, checks(&s, "penalty_last_n is -2|-1 for all");
  static const uint32_t ids[] = { 9, 3, 10 };
  s = sampling_default(), s.suppress = ids, s.n_suppress = 2, checks(&s, NULL);
  s.n_suppress = 3, checks(&s, "suppress_tokens has id 10|wanted: 0 to 9");
  struct sequence_bias list[2] = { { ids, 2, 1 }, { ids, 1, -INFINITY } };
  s = sampling_default(), s.logit_bias = s.bad_words = list, s.n_logit_bias = s.n_bad_words = 2,
  checks(&s, NULL);
  list[1].n = 0, checks(&s, "logit_bias has an empty sequence|1 id or more");
  s.n_logit_bias = 1, checks(&s, "bad_words has an empty sequence");
  list[1].n = 3, checks(&s, "bad_words has id 10");
  s.n_logit_bias = 2, checks(&s, "logit_bias has id 10");
  list[1].n = 1, list[1].bias = INFINITY,
  checks(&s, "logit_bias has a bias of inf|a number or -inf");
  list[1].bias = NAN, checks(&s, "logit_bias has a bias of nan");
}
END_TEST
START_TEST(names_of_stages)
{
  static const char *const some[] = { "top_p", "min_p" }, *const odd[] = { "top_k", "topk" };
  const char *name[N_SAMPLE_STAGES + 1];
  struct sampling_params s = sampling_default();
  struct error why;
  char all[200];
  for (int i = 0; i < N_SAMPLE_STAGES; i++) {
    name[i] = sampling_stage_name((enum sample_stage) i);
    ck_assert_msg(name[i] != NULL, "stage %d has no row", i);
    ck_assert_int_eq(s.stage[i], i);
  }
  name[N_SAMPLE_STAGES] = name[4];
  ck_assert(sampling_stages_parse(&s, name, N_SAMPLE_STAGES, &why) && s.n_stages == N_SAMPLE_STAGES);
  for (int i = 0; i < N_SAMPLE_STAGES; i++) ck_assert_int_eq(s.stage[i], i);
  ck_assert(sampling_stages_parse(&s, name, 0, &why) && s.n_stages == 0);
  ck_assert(sampling_stages_parse(&s, some, 2, &why) && s.n_stages == 2
    && s.stage[0] == SAMPLE_TOP_P && s.stage[1] == SAMPLE_MIN_P);
  ck_assert(!sampling_stages_parse(&s, name, N_SAMPLE_STAGES + 1, &why));
  ck_assert_msg(strstr(why.text, "`top_k' twice") != NULL, "%s", why.text);
  ck_assert(!sampling_stages_parse(&s, odd, 2, &why));
  sampling_stage_names(all, sizeof all);
  ck_assert_msg(strstr(why.text, all) != NULL, "%s lists not all of %s", why.text, all);
  ck_assert_msg(
    strstr(why.text, "`topk'") != NULL && strstr(why.text, "typical_p") != NULL, "%s", why.text);
}
END_TEST
/* every parameter of every row: its neutral value is in its range and changes nothing, what a person
 * reads about it is there, the cases of this suite draw values for it (make_wish), and what people read
 * names it: the book's table and figure, and incipit.h */
static bool is_drawn(const struct sampling_option *r)
{
  const struct sampling_params off = sampling_default();
  static struct wish w;
  bool drawn = false;
  for (uint64_t seed = 1, i = 0; i < 200 && !drawn; i++) {
    make_wish(&w, 40, &seed);
    drawn = memcmp((char *) &w.s + r->at, (const char *) &off + r->at, 8) != 0;
  }
  return drawn;
}
static const char *text_of(const char *file)
{
  static char text[1 << 18];
  FILE *f = fopen(file, "r");
  ck_assert_msg(f != NULL, "%s", file);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  return text;
}
static bool in_header(const char *name)
{
  const char *text = text_of("tangled/library/incipit.h");
  for (const char *at = text; (at = strstr(at, name)) != NULL; at++)
    if ((at[-1] == ' ' || at[-1] == '\n') && strchr(",;", at[strlen(name)]) != NULL) return true;
  return false;
}
START_TEST(rows_of_stages_are_whole)
{
  const struct sampling_option *r, *other;
  struct sampling_params s = sampling_default();
  float logits[9] = { 1, -2, .5f, 3, 0, -7, 2.5f, 1.25f, -.5f };
  static const uint32_t id[] = { 3, 6, 3, 6, 0 };
  struct history h = { id, 5, 2 };
  ck_assert_uint_eq(s.n_stages, N_SAMPLE_STAGES);
  for (size_t i = 0; (r = sampling_option_at(i, NULL)) != NULL; i++) {
    char line[200];
    ck_assert_msg(r->option && r->value && r->expected && r->words && r->otherwise, "%s", r->name);
    ck_assert_msg(sampling_option_fits(r, r->neutral), "%s: %g is not in its range", r->name, r->neutral);
    ck_assert_msg(!sampling_option_fits(r, NAN), "%s may be NaN", r->name);
    for (size_t k = 0; k < i; k++)
      ck_assert_msg((other = sampling_option_at(k, NULL))->at != r->at && strcmp(other->name, r->name) != 0
        && strcmp(other->option, r->option) != 0, "%s and %s", r->name, other->name);
    snprintf(line, sizeof line, r->neutral < 0 ? "& \\.{%s} & $%g$ & " : "& \\.{%s} & %g & ",
      r->option, r->neutral);
    ck_assert_msg(strstr(text_of("chapters/07-sampling.w"), line) != NULL, "the table of the book lacks %s", line);
    ck_assert_msg(in_header(r->name), "incipit.h has no %s", r->name);
    ck_assert_msg(is_drawn(r), "make_wish draws no %s", r->name);
  }
  char name[40], drawn[200];
  snprintf(drawn, sizeof drawn, "%s", strstr(text_of("figures/sampler.tex"), "% stages:"));
  drawn[strcspn(drawn, "\n")] = '\0';
  for (int i = 0; i < N_SAMPLE_STAGES; i++) {
    struct result off;
    s.stage[0] = (enum sample_stage) i, s.n_stages = 1;
    result_of(&off, logits, 9, &s, h);
    ck_assert(off.ok && off.f.n == 9);
    snprintf(name, sizeof name, " %s", sampling_stage_name(s.stage[0]));
    ck_assert_msg(strstr(drawn, name) != NULL, "figures/sampler.tex does not draw%s", name);
    for (int k = 0; k < 9; k++)
      ck_assert_msg(off.f.score[k] == (double) logits[k], "%s is not off", sampling_stage_name(s.stage[0]));
    result_drop(&off);
  }
  ck_assert(r == NULL && sampling_option_at(SIZE_MAX, NULL) == NULL);
}
END_TEST
START_TEST(one_token_by_three_names)
{
  static float logits[300];
  for (int round = 0; round < 2000; round++) {
    uint64_t seed = suite_seed() + (uint64_t) round;
    size_t v = 1 + rnd(&seed) % 300;
    make_logits(logits, v, &seed);
    uint32_t top = 0;
    for (uint32_t i = 1; i < v; i++)
      if (logits[i] > logits[top]) top = i;
    if (!(logits[top] > -INFINITY)) continue;
    for (int k = 0; k < 4; k++) {
      struct result r;
      struct sampling_params s = sampling_default();
      if (k == 0) s.top_k = 1;
      if (k == 1) s.temperature = 0;
      if (k == 2) s.top_p = 0;
      if (k == 3) s.temperature = 0, s.top_k = 5, s.top_p = .5, s.min_p = .1, s.typical_p = .2;
      result_of(&r, logits, v, &s, nothing);
      ck_assert_msg(
        r.ok && r.f.n == 1 && r.f.candidates[0] == top && r.f.score[top] == (double) logits[top],
        "way %d: %s", k, r.why.text);
      in_order(&r.f, "one token");
      ck_assert_uint_eq(funnel_choose(&r.f, seed, 0, 0), top);
      result_drop(&r);
    }
  }
}
END_TEST
START_TEST(what_is_off_changes_nothing)
{
  static float logits[300];
  static double before[300];
  uint32_t text[20];
  for (int round = 0; round < 1000; round++) {
    uint64_t seed = suite_seed() + (uint64_t) round;
    struct memory m = { .fail_at = 0 };
    struct error why;
    struct funnel f;
    size_t v = 1 + rnd(&seed) % 300;
    ck_assert(funnel_open(&f, &m, some_kernels(seed), v, &why));
    make_logits(logits, v, &seed);
    for (int i = 0; i < 20; i++) text[i] = (uint32_t) (rnd(&seed) % v);
    if (funnel_fill(&f, logits, &why)) {
      if (rnd(&seed) % 2) funnel_distribution(&f);
      memcpy(before, f.score, v * sizeof *before);
      size_t n = f.n;
      funnel_temperature(&f, 1), funnel_top_k(&f, 0), funnel_top_k(&f, n), funnel_top_k(&f, v),
        funnel_top_k(&f, SIZE_MAX), funnel_top_p(&f, 1), funnel_min_p(&f, 0),
        funnel_typical_p(&f, 1);
      funnel_repetition_penalty(&f, 1, text, 20), funnel_repetition_penalty(&f, 2, text, 0),
        funnel_frequency_presence(&f, 0, 0, text, 20), funnel_frequency_presence(&f, 1, 1, text, 0);
      funnel_no_repeat_ngram(&f, 0, text, 20), funnel_no_repeat_ngram(&f, 21, text, 20),
        funnel_no_repeat_ngram(&f, 1, text, 0), funnel_no_repeat_ngram(&f, SIZE_MAX, text, 20);
      funnel_sequence_bias(&f, NULL, 0, text, 20), funnel_suppress(&f, NULL, 0);
      struct sequence_bias too_long = { text, 20, -INFINITY };
      funnel_sequence_bias(&f, &too_long, 1, text, 18),
        funnel_sequence_bias(&f, &too_long, 1, text, 0);
      ck_assert(f.n == n && memcmp(before, f.score, v * sizeof *before) == 0);
      in_order(&f, "all off");
    }
    funnel_close(&f);
    ck_assert_uint_eq(m.all.live, 0);
  }
}
END_TEST
START_TEST(windows_and_prompts)
{
  static const uint32_t text[] = { 0, 1, 1, 2, 3, 3, 3 };
  static const float z[6] = { 2, 2, 2, 2, 2, -2 };
  static const struct {
    int64_t window;
    size_t n, prompt;
    double want[6];
  } at[] = { /* repetition 2, frequency 0.5, presence 0.25 */
    { -1, 7, 0, { .25, -.25, .25, -.75, 2, -2 } }, { -1, 7, 7, { 1, 1, 1, 1, 2, -2 } },
    { -1, 7, 4, { 1, 1, 1, -.75, 2, -2 } }, { 0, 7, 0, { 2, 2, 2, 2, 2, -2 } },
    { 1, 7, 0, { 2, 2, 2, .25, 2, -2 } }, { 3, 7, 0, { 2, 2, 2, -.75, 2, -2 } },
    { 4, 7, 0, { 2, 2, .25, -.75, 2, -2 } }, { 4, 7, 5, { 2, 2, 1, -.25, 2, -2 } },
    { 4, 7, 6, { 2, 2, 1, .25, 2, -2 } }, { 7, 7, 0, { .25, -.25, .25, -.75, 2, -2 } },
    { 8, 7, 0, { .25, -.25, .25, -.75, 2, -2 } },
    { INT64_MAX, 7, 0, { .25, -.25, .25, -.75, 2, -2 } }, { 2, 3, 1, { 2, -.25, 2, 2, 2, -2 } },
    { -1, 0, 0, { 2, 2, 2, 2, 2, -2 } }, { 5, 0, 0, { 2, 2, 2, 2, 2, -2 } }
  };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct result r;
    struct sampling_params s = sampling_default();
    s.repetition_penalty = 2, s.frequency_penalty = .5, s.presence_penalty = .25,
    s.penalty_last_n = at[i].window;
    result_of(&r, z, 6, &s, (struct history){ text, at[i].n, at[i].prompt });
    for (int k = 0; k < 6; k++)
      ck_assert_msg(r.f.score[k] == at[i].want[k], "case %zu: id %d has %g; wanted: %g", i, k,
        r.f.score[k], at[i].want[k]);
    result_drop(&r);
  }
  static const struct {
    size_t n, length;
    unsigned out;
  } gram[] = { { 1, 7, 0xf }, { 2, 7, 0x8 }, { 3, 7, 0x8 }, { 4, 7, 0 }, { 7, 7, 0 }, { 8, 7, 0 },
    { 2, 3, 0x2 }, { 2, 2, 0 }, { 2, 1, 0 }, { 1, 1, 1 }, { 3, 5, 0 } };
  for (size_t i = 0; i < sizeof gram / sizeof *gram; i++) {
    struct result r;
    struct sampling_params s = sampling_default();
    s.no_repeat_ngram = gram[i].n;
    result_of(&r, z, 6, &s, (struct history){ text, gram[i].length, 0 });
    for (unsigned k = 0; k < 6; k++)
      ck_assert_msg((r.f.score[k] == -INFINITY) == (gram[i].out >> k & 1),
        "%zu-grams of %zu: id %u", gram[i].n, gram[i].length, k);
    in_order(&r.f, "n-grams");
    result_drop(&r);
  }
}
END_TEST
static void fails(
  const float *z, size_t v, const struct sampling_params *s, struct history h, const char *words)
{
  struct result r;
  result_of(&r, z, v, s, h);
  ck_assert_msg(!r.ok && strstr(r.why.text, words) != NULL, "%s; wanted: %s",
    r.ok ? "accepted" : r.why.text, words);
  result_drop(&r);
}
START_TEST(errors_name_the_logit_or_the_stage)
{
  struct sampling_params off = sampling_default();
  static const float good[3] = { 1, 2, -3 },
                     bad[][3] = { { 1, NAN, NAN }, { INFINITY, 1, NAN },
                       { -INFINITY, -INFINITY, -INFINITY }, { 0, -NAN, 0 } };
  static const uint32_t all[] = { 0, 1, 2 }, text[] = { 0, 1, 2 };
  struct history h = { text, 3, 0 };
  fails(bad[0], 3, &off, nothing, "logit 1 is nan; wanted: a number"),
    fails(bad[1], 3, &off, nothing, "logit 0 is inf"),
    fails(
      bad[2], 3, &off, nothing, "all 3 logits are -inf; wanted: a token to choose"),
    fails(bad[3], 3, &off, nothing, "logit 1 is nan");
  struct sampling_params s = sampling_default();
  s.suppress = all, s.n_suppress = 3,
  fails(good, 3, &s, nothing, "after the stage bias no token is left");
  s = sampling_default(), s.no_repeat_ngram = 1,
  fails(good, 3, &s, h, "after the stage ngram no token is left");
  struct sequence_bias one[] = { { all, 1, -INFINITY }, { all + 1, 1, -INFINITY },
    { all + 1, 2, -INFINITY } };
  s = sampling_default(), s.bad_words = one, s.n_bad_words = 3,
  fails(good, 3, &s, (struct history){ text, 2, 0 }, "after the stage bias no token is left");
  s = sampling_default(), s.frequency_penalty = -1.7e308, s.presence_penalty = -1.7e308,
  fails(
    good, 3, &s, h, "after the stage penalties the score of id 0 is infinite; wanted: a number");
  static const float large[3] = { 3e38f, 1, -3e38f };
  s = sampling_default(), s.repetition_penalty = 1e-300,
  fails(large, 3, &s, h, "after the stage penalties the score of id 0 is infinite");
  struct sequence_bias more[] = { { all, 1, 1.7e308 }, { all, 1, 1.7e308 } };
  s = sampling_default(), s.logit_bias = more, s.n_logit_bias = 2,
  fails(good, 3, &s, nothing, "after the stage bias the score of id 0 is infinite");
  s = sampling_default(), s.logit_bias = more, s.n_logit_bias = 1, s.temperature = .5,
  fails(good, 3, &s, nothing, "after the stage temperature the score of id 0 is infinite");
  struct result r; /* the next text begins without an error */
  struct error why;
  result_of(&r, good, 3, &s, nothing);
  ck_assert(!r.ok && r.f.overflow);
  ck_assert(sampling_run(&r.f, &off, good, nothing, &why) && !r.f.overflow);
  result_drop(&r); /* what falls to -inf by overflow is out */
  s = sampling_default(), s.repetition_penalty = 1e300;
  result_of(&r, large, 3, &s, (struct history){ text + 2, 1, 0 });
  ck_assert(r.ok && r.f.n == 2 && r.f.score[2] == -INFINITY);
  in_order(&r.f, "penalties"), result_drop(&r);
  more[0].bias = -1.7e308, s = sampling_default(), s.logit_bias = more, s.n_logit_bias = 1,
  s.temperature = .5;
  result_of(&r, good, 3, &s, nothing);
  ck_assert(r.ok && r.f.n == 2 && r.f.score[0] == -INFINITY);
  in_order(&r.f, "temperature"), result_drop(&r);
  static const uint32_t each[] = { 0, 1, 2 }; /* and where all have fallen, nobody is left */
  struct sequence_bias low[] = { { each, 1, -1.7e308 }, { each + 1, 1, -1.7e308 },
    { each + 2, 1, -1.7e308 } };
  s.logit_bias = low, s.n_logit_bias = 3,
  fails(good, 3, &s, nothing, "after the stage temperature no token is left");
}
END_TEST

/* ---- any bits as logits, any bits as settings, in any order: an error that is a sentence, or a
 * finite distribution */
static double any_bits(uint64_t *seed)
{
  uint64_t u = rnd(seed);
  double x;
  memcpy(&x, &u, sizeof x);
  return rnd(seed) % 3 == 0 ? x
    : rnd(seed) % 2         ? uniform(seed) * 1.1 - .05
                            : 1e308 * (uniform(seed) - .5);
}
static void any_wish(struct wish *w, size_t v, uint64_t *seed)
{
  make_wish(w, v, seed);
  double *real[] = { &w->s.temperature, &w->s.top_p, &w->s.min_p, &w->s.typical_p,
    &w->s.repetition_penalty, &w->s.frequency_penalty, &w->s.presence_penalty };
  for (int i = 0; i < 7; i++)
    if (rnd(seed) % 8 == 0) *real[i] = any_bits(seed);
  if (rnd(seed) % 4 == 0) w->s.temperature = 1e-5;
  for (int i = 0; i < 8; i++)
    if (rnd(seed) % 8 == 0) w->list[i].bias = any_bits(seed);
  if (rnd(seed) % 9 == 0) w->s.penalty_last_n = (int64_t) rnd(seed);
  if (rnd(seed) % 9 == 0) w->s.no_repeat_ngram = rnd(seed), w->s.top_k = rnd(seed);
}
START_TEST(any_bits_at_all)
{
  unsigned chosen = 0, refusals = 0, checked = 0;
  static float logits[64];
  struct memory m = { .fail_at = 0 };
  struct funnel f[65];
  struct error why;
  for (size_t v = 1; v <= 64; v++)
    hold_msg(funnel_open(&f[v], &m, some_kernels(v), v, &why), "%s", why.text);
  for (size_t round = 0; round < 200000 / LESS; round++) {
    uint64_t seed = suite_seed() + round * 6700417;
    size_t v = 1 + rnd(&seed) % 64;
    bool wild = rnd(&seed) % 2;
    for (size_t i = 0; i < v; i++) {
      uint32_t u = (uint32_t) rnd(&seed);
      if (!wild && (u & 0x7f800000u) == 0x7f800000u)
        u = rnd(&seed) % 8 ? u & 0xbfffffffu : 0xff800000u;
      memcpy(&logits[i], &u, 4);
    }
    struct wish w;
    any_wish(&w, v, &seed);
    why.text[0] = '\0';
    if (!sampling_check(&w.s, v, &why)) {
      ck_assert_uint_gt(strlen(why.text), 20);
      refusals++;
      continue;
    }
    if (!sampling_run(&f[v], &w.s, logits, w.h, &why)) {
      ck_assert_uint_gt(strlen(why.text), 20);
      checked++;
      continue;
    }
    in_order(&f[v], "any bits");
    hold_msg(f[v].n > 0, "round %zu: nothing is left", round);
    uint32_t id = funnel_choose(&f[v], seed, (uint32_t) round, 3);
    hold_msg(id == full_race(&f[v], seed, (uint32_t) round, 3), "another wins");
    funnel_distribution(&f[v]);
    double sum = 0;
    bool there = false;
    for (size_t i = 0; i < f[v].n; i++) {
      hold_msg(f[v].weight[i] >= 0 && f[v].weight[i] <= 1, "round %zu: a probability of %g", round,
        f[v].weight[i]);
      sum += f[v].weight[i], there = there || f[v].candidates[i] == id;
    }
    hold_msg(there && fabs(sum - 1) < 1e-12, "round %zu: the sum is %g", round, sum);
    chosen++;
  }
  for (size_t v = 1; v <= 64; v++) funnel_close(&f[v]);
  printf("any bits: %u distributions, %u settings refused, %u logits or results refused\n", chosen,
    refusals, checked);
  ck_assert_uint_gt(chosen, 20000 / LESS);
  ck_assert_uint_gt(refusals, 10000 / LESS);
  ck_assert_uint_gt(checked, 10000 / LESS);
}
END_TEST
/* the single stages, in any order and number, through the public functions: the two orders of the
 * list, -inf, counts */
START_TEST(the_funnel_stays_consistent_after_any_stages)
{
  static float logits[300];
  for (size_t round = 0; round < 20000 / LESS; round++) {
    uint64_t seed = suite_seed() + round * 2750159;
    struct memory m = { .fail_at = 0 };
    struct error why;
    struct funnel f;
    struct wish w;
    size_t v = 1 + rnd(&seed) % (round % 10 ? 20 : 300);
    static uint8_t allowed[300];
    hold_msg(funnel_open(&f, &m, some_kernels(round), v, &why), "%s", why.text);
    make_logits(logits, v, &seed), make_wish(&w, v, &seed);
    for (size_t i = 0; i < v; i++) allowed[i] = rnd(&seed) % 5 != 0;
    bool filled = funnel_fill(&f, logits, &why);
    for (int k = 0; filled && f.n > 0 && k < 12; k++) {
      /* the numbers after those of the stages are what else may be done with a funnel */
      enum { SUPPRESS = N_SAMPLE_STAGES, LOG_SOFTMAX, DISTRIBUTION, TOP_P, TOP_K, DEEDS };
      size_t before = f.n, stage = rnd(&seed) % DEEDS;
      if (stage < N_SAMPLE_STAGES)
        sampling_stage_run(&f, &w.s, (enum sample_stage) stage, w.h);
      else if (stage == SUPPRESS) {
        uint32_t out[300];
        size_t n = 0;
        for (uint32_t i = 0; i < v; i++)
          if (!allowed[i]) out[n++] = i;
        funnel_suppress(&f, out, n);
      } else if (stage == LOG_SOFTMAX)
        funnel_log_softmax(&f);
      else if (stage == DISTRIBUTION)
        funnel_distribution(&f);
      else if (stage == TOP_P)
        funnel_top_p(&f, some_share(&seed));
      else
        funnel_top_k(&f, rnd(&seed) % v);
      hold_msg(f.n <= before, "more tokens than before");
      in_order(&f, "a stage");
      if (stage == DISTRIBUTION) hold_msg(f.sorted, "a distribution stands by falling score");
      if (stage == LOG_SOFTMAX) {
        double sum = 0;
        for (size_t i = 0; i < f.n; i++) sum += exp(f.score[f.candidates[i]]);
        hold_msg(fabs(sum - 1) < 1e-9, "round %zu: the sum is %g", round, sum);
      }
      if (stage == SUPPRESS)
        for (size_t i = 0; i < v; i++)
          hold_msg(allowed[i] || f.score[i] == -INFINITY, "%zu is not allowed", i);
      if (f.n > 0) same_race(&f, seed, "after a stage");
    }
    funnel_close(&f);
    hold_msg(m.all.live == 0, "memory is still held");
  }
}
END_TEST

/* ---- no memory */
START_TEST(a_funnel_survives_every_refusal)
{
  uint64_t n = 0;
  for (bool whole = false; !whole;) {
    struct memory m = { .fail_at = ++n };
    struct error why = { "" };
    struct funnel f;
    whole = funnel_open(&f, &m, kernels_find(NULL, NULL), 1000, &why);
    if (!whole) {
      ck_assert_msg(strstr(why.text, "out of memory") != NULL, "%s", why.text);
      ck_assert_uint_eq(m.all.live, 0);
    }
    funnel_close(&f), funnel_close(&f);
    ck_assert_uint_eq(m.all.live, 0);
  }
  ck_assert_uint_eq(n, 7);
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct funnel f;
  ck_assert(!funnel_open(&f, &m, kernels_find(NULL, NULL), SIZE_MAX / 8, &why));
  ck_assert(m.all.live == 0 && why.text[0] != '\0');
}
END_TEST

/* ---- a bound text, a and then some ba; one of two end tokens is spelt like another piece */
enum { B_V = 6, B_EOS = 4 };
static const struct token_bytes b_piece[B_V] = { { (const unsigned char *) "a", 1 },
  { (const unsigned char *) "b", 1 }, { (const unsigned char *) "ab", 2 },
  { (const unsigned char *) "ba", 2 }, { (const unsigned char *) "a", 1 },
  { (const unsigned char *) "", 0 } };
static const uint32_t b_eos[2] = { B_EOS, B_EOS + 1 };
struct bound {
  struct memory m;
  struct error why;
  struct lexicon *l;
  struct constraint *c;
  struct constraint_cursor b;
  struct sampler d;
};
static void bound_open(struct bound *x, const bool *usable, size_t max, size_t n_eos)
{
  memset(x, 0, sizeof *x);
  x->c = constraint_regex(&x->m, "a(ba)*", 6, &x->why);
  x->l = lexicon_open(&x->m, b_piece, usable, B_V, &x->why);
  x->d.s = sampling_default(), x->d.s.temperature = 0;
  ck_assert(constraint_bind(x->c, x->l, false, &x->why));
  ck_assert(funnel_open(&x->d.f, &x->m, kernels_find(NULL, NULL), B_V, &x->why));
  ck_assert_msg(
    constraint_cursor_open(&x->b, &x->m, x->c, B_V, max, b_eos, n_eos, &x->why), "%s", x->why.text);
  x->d.rule = (struct token_rule){
    .allow = bond_allow, .take = bond_take, .save = bond_save, .restore = bond_restore, .ctx = &x->b
  };
}
static void bound_close(struct bound *x)
{
  constraint_cursor_close(&x->b, &x->m), constraint_cursor_close(&x->b, &x->m);
  funnel_close(&x->d.f), constraint_free(x->c), lexicon_close(x->l);
  ck_assert_uint_eq(x->m.all.live, 0);
}
/* what may come, by the text alone: letters in turn, and an end that the tokens left can reach */
static bool b_may(const char *text, size_t id, size_t budget)
{
  char all[80];
  snprintf(all, sizeof all, "%s%.*s", text, (int) b_piece[id].n, b_piece[id].byte);
  size_t n = strlen(all);
  for (size_t i = 0; i < n; i++)
    if (all[i] != "ab"[i % 2]) return false;
  return budget >= (n % 2 ? 1u : 2u);
}
static bool b_ends(const char *text)
{
  return strlen(text) % 2 == 1;
}
START_TEST(a_bound_text_ends_where_it_may)
{
  uint64_t seed = suite_seed() + (uint64_t) _i;
  unsigned ended = 0, full = 0, enough_said = 0, judged = 0;
  static const bool no_ba[B_V] = { true, true, true, false, true, true };
  size_t n_eos = _i == 0 ? 2 : _i == 1 ? 1 : 0;
  for (size_t max = 1; max < 9; max++) {
    struct bound x;
    bound_open(&x, _i == 2 ? no_ba : NULL, max, n_eos);
    for (int text = 0; text < 60; text++) { /* one after the other with one bond */
      char words[80] = "";
      uint32_t id[12] = { 1, 1, 1 }; /* a prompt that would not match */
      struct continuation now = { .n_prompt = 3 };
      bool over = false, yes;
      now.text.id = id, now.text.n = 3;
      if (text > 0) constraint_cursor_restart(&x.b);
      for (size_t written = 0; written < max && !over; written++) {
        float logits[B_V];
        uint32_t want = B_V, got;
        for (int i = 0; i < B_V; i++) logits[i] = tiny_normal(&seed);
        if (text % 2) logits[B_EOS] = 9;
        for (uint32_t i = 0; i < B_V; i++) {
          bool eos = i >= B_EOS && i < B_EOS + n_eos;
          bool may = eos ? b_ends(words) : i != B_EOS + 1 && b_may(words, i, max - written);
          if (_i == 2 && i == 3) may = false;
          if (may && (want == B_V || logits[i] > logits[want])) want = i;
        }
        ck_assert(constraint_cursor_matches(&x.b, &yes, &x.why) && yes == b_ends(words));
        ck_assert_msg(sampler_choose(&x.d, logits, &now, &got, &x.why), "%s", x.why.text);
        ck_assert_msg(
          got == want, "`%s', %zu of %zu: %u, wanted %u", words, written, max, got, want);
        id[now.text.n++] = got;
        ck_assert(sampler_accept(&x.d, got, &x.why));
        over = got >= B_EOS && got < B_EOS + n_eos;
        ended += over;
        if (!over) strncat(words, (const char *) b_piece[got].byte, b_piece[got].n);
        bool enough = false, more = false;
        for (uint32_t i = 0; i < B_EOS + 1; i++) /* an end token that is none is a piece */
          more = more || ((i != 3 || _i != 2) && b_may(words, i, max - written - 1));
        ck_assert(constraint_cursor_should_stop(&x.b, &now, &enough, &x.why));
        ck_assert_int_eq(enough, n_eos == 0 && written + 1 < max && b_ends(words) && !more);
        judged++, enough_said += enough, over = over || enough;
      }
      full += !over;
      ck_assert(constraint_cursor_matches(&x.b, &yes, &x.why) && yes && b_ends(words));
    }
    /* who is bound no longer chooses among all */
    float logits[B_V] = { 0, 1, 2, 3, 4, 5 };
    uint32_t id[3] = { 0 }, got;
    struct continuation now = { .n_prompt = 3 };
    now.text.id = id, now.text.n = 3;
    constraint_cursor_close(&x.b, &x.m), x.d.rule = (struct token_rule){ .allow = NULL };
    ck_assert(sampler_choose(&x.d, logits, &now, &got, &x.why) && got == 5);
    bound_close(&x);
  }
  ck_assert(judged > 500 && full > 50 && (n_eos == 0 ? enough_said > 20 : ended > 100));
}
END_TEST
/* to choose advances nothing; tokens that were only guessed are taken back, and the text is the one
 * that nobody guessed in */
START_TEST(a_guess_that_is_taken_back_has_not_been)
{
  uint64_t seed = suite_seed();
  enum { MAX = 9 };
  unsigned guessed = 0, wrong = 0;
  for (int round = 0; round < 200; round++) {
    struct bound x, y;
    bound_open(&x, NULL, MAX, 1), bound_open(&y, NULL, MAX, 1);
    x.d.s.temperature = y.d.s.temperature = round % 2;
    x.d.seed = y.d.seed = (uint64_t) round;
    uint32_t id[MAX + 1] = { 0 }, other;
    struct continuation now = { .text = { id, 1, MAX + 1 }, .n_prompt = 1 };
    while (now.text.n <= MAX && (now.text.n == 1 || id[now.text.n - 1] != B_EOS)) {
      float logits[MAX + 1][B_V];
      for (int i = 0; i <= MAX; i++)
        for (int j = 0; j < B_V; j++) logits[i][j] = tiny_normal(&seed);
      uint32_t state = sampler_save(&x.d), first = B_V, chosen;
      size_t n = now.text.n;
      for (size_t more = rnd(&seed) % 5; more > 0 && now.text.n <= MAX; more--) {
        ck_assert_msg(sampler_choose(&x.d, logits[now.text.n], &now, &other, &x.why), "%s", x.why.text);
        if (first == B_V) first = other;
        id[now.text.n++] = other, guessed++;
        ck_assert(sampler_accept(&x.d, other, &x.why));
        if (other == B_EOS) break;
      }
      wrong += sampler_save(&x.d) != state;
      sampler_restore(&x.d, state), now.text.n = n;
      ck_assert(sampler_choose(&x.d, logits[n], &now, &other, &x.why));
      ck_assert(sampler_save(&x.d) == state && (first == B_V || first == other));
      ck_assert(sampler_choose(&y.d, logits[n], &now, &chosen, &y.why));
      ck_assert_uint_eq(other, chosen);
      id[now.text.n++] = chosen;
      ck_assert(sampler_accept(&x.d, chosen, &x.why) && sampler_accept(&y.d, chosen, &y.why));
    }
    bound_close(&x), bound_close(&y);
  }
  ck_assert(guessed > 500 && wrong > 200);
  struct sampler free = { .seed = 1 }; /* without a rule there is nothing to save, and nobody to ask */
  ck_assert(sampler_save(&free) == 0 && sampler_accept(&free, 3, NULL));
  sampler_restore(&free, 0);
}
END_TEST
/* a bond that cannot be: nothing is to be closed, and a wider one is granted */
START_TEST(a_bond_at_its_limits)
{
  struct memory m = { 0 };
  struct error why;
  struct constraint *c = constraint_regex(&m, "a(ba)(ba)", 9, &why);
  static const bool letters[B_V] = { true, true };
  struct lexicon *l = lexicon_open(&m, b_piece, letters, B_V, &why);
  ck_assert(constraint_bind(c, l, false, &why));
  uint64_t held = m.of[MEMORY_OTHER].live;
  struct constraint_cursor b;
  for (size_t max = 0; max < 8; max++) {
    bool ok = constraint_cursor_open(&b, &m, c, B_V, max, b_eos, 2, &why), yes = true;
    ck_assert_int_eq(ok, max >= 5);
    if (!ok) {
      char words[100];
      snprintf(words, sizeof words, "at most %zu tokens may be written; wanted: 5 or more", max);
      ck_assert_msg(strstr(why.text, words) == why.text, "%s", why.text);
      ck_assert(b.allowed == NULL && m.of[MEMORY_OTHER].live == held);
    } else {
      ck_assert(constraint_cursor_matches(&b, &yes, &why) && !yes);
      constraint_cursor_close(&b, &m);
    }
  }
  m.fail_at = m.all.requests + 1;
  ck_assert(
    !constraint_cursor_open(&b, &m, c, B_V, 9, b_eos, 2, &why) && b.allowed == NULL && b.c == NULL);
  m.fail_at = 0;
  constraint_free(c), lexicon_close(l);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
/* a list that is refused in the middle, and the one after it */
START_TEST(a_list_of_stages_after_one_that_was_refused)
{
  static const char *const twice[] = { "top_k", "min_p", "top_k", "bias" },
                           *const fine[] = { "bias", "min_p" };
  struct sampling_params s = sampling_default();
  struct error why;
  ck_assert(!sampling_stages_parse(&s, twice, 4, &why));
  ck_assert_str_eq(why.text, "samplers has `top_k' twice; wanted: once at most");
  ck_assert(sampling_stages_parse(&s, fine, 2, &why) && s.n_stages == 2);
  ck_assert(s.stage[0] == SAMPLE_BIAS && s.stage[1] == SAMPLE_MIN_P);
}
END_TEST
/* which logit, of which kind; and a funnel that was refused is filled again */
START_TEST(the_first_bad_logit_is_named)
{
  struct memory m = { 0 };
  struct funnel f;
  struct error why;
  uint8_t allowed[4] = { 1, 1, 0, 0 };
  ck_assert(funnel_open(&f, &m, kernels_find(NULL, NULL), 4, &why));
  static const struct {
    float z[4];
    bool bound;
    const char *words;
  } at[] = { { { 0, NAN, INFINITY, 0 }, false,
               "logit 1 is nan; wanted: a number, or -inf for a token that is out" },
    { { 0, 1, 2, INFINITY }, false, "logit 3 is inf; wanted" },
    { { NAN, 1, 2, INFINITY }, false, "logit 0 is nan" },
    { { 0, 1, 2, NAN }, true, "logit 3 is nan" }, { { 0, 1, INFINITY, 0 }, true, "logit 2 is inf" },
    { { -INFINITY, -INFINITY, 2, 3 }, true,
      "all 4 logits are -inf, or not allowed; wanted: a token" },
    { { -INFINITY, -INFINITY, -INFINITY, -INFINITY }, false,
      "all 4 logits are -inf; wanted: a token" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    f.allowed = at[i].bound ? allowed : NULL;
    ck_assert(!funnel_fill(&f, at[i].z, &why));
    ck_assert_msg(strstr(why.text, at[i].words) == why.text, "%s", why.text);
    f.allowed = NULL;
    ck_assert(
      funnel_fill(&f, (float[4]){ -INFINITY, 1, 0, 2 }, &why) && f.n == 3 && f.candidates[0] == 1);
    funnel_top_k(&f, 2);
    ck_assert(f.n == 2 && f.candidates[0] == 1 && f.candidates[1] == 3);
  }
  funnel_close(&f);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

int main(void)
{
  unsetenv("INCIPIT_ISA"), unsetenv("OMP_NUM_THREADS");
  Suite *s = suite_create("sampling");
  TCase *t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, a_bound_text_ends_where_it_may, 0, 3);
  tcase_add_test(t, a_guess_that_is_taken_back_has_not_been);
  tcase_add_test(t, a_bond_at_its_limits);
  tcase_add_test(t, a_list_of_stages_after_one_that_was_refused);
  tcase_add_test(t, the_first_bad_logit_is_named);
  suite_add_tcase(s, t);
  t = tcase_create("words");
  tcase_add_test(t, the_words_of_the_contract);
  tcase_add_test(t, the_words_of_the_contract_for_few_tokens);
  tcase_add_test(t, the_words_of_the_contract_for_many_tokens);
  tcase_add_test(t, lazily_evaluated_or_not);
  tcase_add_test(t, rounding_loses_no_winner);
  tcase_add_test(t, a_dead_heat_is_decided_by_the_last_bit);
  tcase_add_test(t, a_token_owns_its_number);
  suite_add_tcase(s, t);
  t = tcase_create("rows");
  tcase_add_test(t, names_of_stages);
  tcase_add_test(t, rows_of_stages_are_whole);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_add_test(t, every_setting_at_its_limits);
  tcase_add_test(t, one_token_by_three_names);
  tcase_add_test(t, what_is_off_changes_nothing);
  tcase_add_test(t, windows_and_prompts);
  tcase_add_test(t, errors_name_the_logit_or_the_stage);
  tcase_add_test(t, any_bits_at_all);
  tcase_add_test(t, the_funnel_stays_consistent_after_any_stages);
  tcase_add_test(t, a_funnel_survives_every_refusal);
  suite_add_tcase(s, t);
  return suite_run(s);
}
