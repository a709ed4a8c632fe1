/* funnel.c -- made from chapters/07-sampling.w; change it there */

#include <math.h>
#include <string.h>
#include "sampling/funnel.h"
#include "functions/numbers.h"

/* <Take and return the room> */
bool funnel_open(struct funnel *f, struct memory *m,
  const struct kernels *k, size_t vocab, struct error *why)
{
  *f = (struct funnel) { .m = m, .k = k, .vocab = vocab };
  bool ok = (f->z = memory_alloc(m, FOR_OTHER, vocab, 8, why)) != NULL
    && (f->w = memory_alloc(m, FOR_OTHER, vocab, 8, why)) != NULL
    && (f->left = memory_alloc(m, FOR_OTHER, vocab, 4, why)) != NULL
    && (f->count = memory_alloc(m, FOR_OTHER, vocab, 4, why)) != NULL
    && (f->list = memory_alloc(m, FOR_OTHER, vocab, 16, why)) != NULL
    && (f->spare = memory_alloc(m, FOR_OTHER, vocab, 16, why)) != NULL;
  if (!ok) funnel_close(f);
  return ok;
}

void funnel_close(struct funnel *f)
{
  memory_free(f->m, f->spare);
  memory_free(f->m, f->list);
  memory_free(f->m, f->count);
  memory_free(f->m, f->left);
  memory_free(f->m, f->w);
  memory_free(f->m, f->z);
  *f = (struct funnel) { .vocab = 0 };
}

/* <Fill the funnel> */
bool funnel_fill(struct funnel *f, const float *logits, struct error *why)
{
  f->n = 0, f->falling = false;
  for (size_t i = 0; i < f->vocab; i++) {
    f->z[i] = (double) logits[i];
    if (logits[i] != logits[i] || f->z[i] == INFINITY)
      return error_say(why, "logit %zu is %s; wanted: a number,"
        " or -inf for a token that is out", i,
        f->z[i] == INFINITY ? "inf" : "nan");
    if (f->allowed != NULL && f->allowed[i] == 0) f->z[i] = -INFINITY;
    if (f->z[i] > -INFINITY) f->left[f->n++] = (uint32_t) i;
  }
  return f->n > 0 || error_say(why, "all %zu logits are -inf%s;"
    " wanted: a token to choose", f->vocab,
    f->allowed != NULL ? ", or not allowed" : "");
}

/* <Let those go that are out> */
static void settle(struct funnel *f)
{
  size_t n = 0;
  for (size_t i = 0; i < f->n; i++)
    if (f->z[f->left[i]] != -INFINITY) f->left[n++] = f->left[i];
  f->n = n;
}

static void keep_first(struct funnel *f, size_t n)
{
  for (size_t i = n; i < f->n; i++) f->z[f->left[i]] = -INFINITY;
  f->n = n < f->n ? n : f->n;
}

/* <A key that rises as the score falls> */
static uint64_t falling_key(double z)
{
  uint64_t u = num_bits64(z + 0.0);
  return (u >> 63) != 0 ? u : 0x7ff0000000000000u - u;
}

/* <Sort by the key, and leave equals as they stood> */
static void deal(struct funnel *f, const size_t *count, unsigned shift)
{
  size_t at[256], sum = 0;
  for (int d = 0; d < 256; d++) at[d] = sum, sum += count[d];
  for (size_t i = 0; i < f->n; i++)
    f->spare[at[f->list[i].key >> shift & 255]++] = f->list[i];
  struct keyed *dealt = f->spare;
  f->spare = f->list, f->list = dealt;
}

static void sort_list(struct funnel *f)
{
  size_t count[8][256] = { {0} };
  for (size_t i = 0; i < f->n; i++)
    for (unsigned d = 0; d < 8; d++)
      count[d][f->list[i].key >> 8 * d & 255]++;
  for (unsigned d = 0; f->n > 0 && d < 8; d++)
    if (count[d][f->list[0].key >> 8 * d & 255] < f->n)
      deal(f, count[d], 8 * d);
  for (size_t i = 0; i < f->n; i++) f->left[i] = f->list[i].id;
}

/* <Bring the list into one of its two orders> */
static void by_falling_score(struct funnel *f)
{
  if (f->falling) return;
  for (size_t i = 0; i < f->n; i++) f->list[i] =
    (struct keyed) { falling_key(f->z[f->left[i]]), f->left[i] };
  sort_list(f);
  f->falling = true;
}

static void by_rising_id(struct funnel *f)
{
  if (!f->falling) return;
  for (size_t i = 0; i < f->n; i++)
    f->list[i] = (struct keyed) { f->left[i], f->left[i] };
  sort_list(f);
  f->falling = false;
}

/* <Weigh the tokens that are left> */
static double highest(const struct funnel *f)
{
  double most = -INFINITY;
  for (size_t i = 0; i < f->n; i++)
    if (f->z[f->left[i]] > most) most = f->z[f->left[i]];
  return most;
}

static double weigh(struct funnel *f)
{
  double sum = 0;
  for (size_t i = 0; i < f->n; i++) f->w[i] = f->z[f->left[i]];
  f->k->weigh(f->w, f->n, highest(f));
  for (size_t i = 0; i < f->n; i++) sum += f->w[i];
  return sum;
}

/* <The stages that cut> */

/* <Divide by the temperature> */
void stage_temperature(struct funnel *f, double t)
{
  by_rising_id(f);
  if (t == 0) {
    size_t best = 0;
    for (size_t i = 1; i < f->n; i++)
      if (f->z[f->left[i]] > f->z[f->left[best]]) best = i;
    uint32_t id = f->left[best];
    f->left[best] = f->left[0], f->left[0] = id;
    keep_first(f, 1);
  }
  else {
    for (size_t i = 0; i < f->n; i++) f->z[f->left[i]] /= t;
    settle(f);
  }
}

/* <Find the key of the kth best> */
static uint64_t kth_key(struct funnel *f, size_t k, size_t *equals)
{
  size_t n = f->n;
  for (size_t i = 0; i < n; i++)
    f->list[i].key = falling_key(f->z[f->left[i]]);
  for (unsigned shift = 56; ; shift -= 8) {
    size_t count[256] = { 0 }, before = 0, rest = 0;
    for (size_t i = 0; i < n; i++) count[f->list[i].key >> shift & 255]++;
    uint64_t hole = 0;
    while (before + count[hole] < k) before += count[hole++];
    k -= before;
    for (size_t i = 0; i < n; i++)
      if ((f->list[i].key >> shift & 255) == hole)
        f->list[rest++] = f->list[i];
    n = rest;
    if (shift == 0 || n == 1) break;
  }
  *equals = k;
  return f->list[0].key;
}

/* <Keep the k best> */
void stage_top_k(struct funnel *f, size_t k)
{
  if (k == 0 || k >= f->n) return;
  if (!f->falling) {
    size_t equals;
    uint64_t last = kth_key(f, k, &equals);
    for (size_t i = 0; i < f->n; i++) {
      uint64_t key = falling_key(f->z[f->left[i]]);
      if (key > last || (key == last && equals == 0))
        f->z[f->left[i]] = -INFINITY;
      else if (key == last) equals--;
    }
    settle(f);
  }
  else keep_first(f, k);
}

/* <Keep as many as it takes to reach a share> */
static void keep_share(struct funnel *f, double p, double all)
{
  double sum = 0;
  size_t n = 0;
  while (n < f->n && (n == 0 || sum < p * all)) sum += f->w[n++];
  keep_first(f, n);
}

/* <Keep the fewest that reach a share> */
void stage_top_p(struct funnel *f, double p)
{
  if (p == 1) return;
  by_falling_score(f);
  keep_share(f, p, weigh(f));
}

/* <Keep what is likely enough beside the best> */
void stage_min_p(struct funnel *f, double m)
{
  if (m == 0) return;
  weigh(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->w[i] < m) f->z[f->left[i]] = -INFINITY;
  settle(f);
}

/* <Keep the most typical that reach a share> */
void stage_typical_p(struct funnel *f, double p)
{
  if (p == 1) return;
  by_rising_id(f);
  double most = highest(f), all = weigh(f), mean = 0;
  for (size_t i = 0; i < f->n; i++)
    if (f->w[i] > 0) mean += f->w[i] * (f->z[f->left[i]] - most);
  mean /= all;
  for (size_t i = 0; i < f->n; i++) f->list[i] = (struct keyed) {
    num_bits64(fabs(f->z[f->left[i]] - most - mean)), f->left[i] };
  /* <Take the list by rising distance, and keep the share> */
  sort_list(f);
  keep_share(f, p, weigh(f));
  f->falling = true; /* or in any order but the other */
  by_rising_id(f);
}

/* <Make log-probabilities of the scores> */
void stage_log_softmax(struct funnel *f)
{
  by_rising_id(f);
  double most = highest(f), log_sum = num_log(weigh(f));
  for (size_t i = 0; i < f->n; i++)
    f->z[f->left[i]] = f->z[f->left[i]] - most - log_sum;
}

/* <The stages that look back> */

/* <Forget what was counted> */
static void forget_counts(struct funnel *f, const uint32_t *seen, size_t n)
{
  for (size_t i = 0; i < n; i++) f->count[seen[i]] = 0;
}

/* <Mark down what the history has> */
void stage_repetition_penalty(struct funnel *f, double r,
  const uint32_t *seen, size_t n)
{
  if (r == 1) return;
  by_rising_id(f);
  for (size_t i = 0; i < n; i++) {
    double *z = &f->z[seen[i]];
    if (f->count[seen[i]]++ == 0 && *z > -INFINITY)
      *z = *z > 0 ? *z / r : *z * r;
  }
  forget_counts(f, seen, n);
  settle(f);
}

/* <Subtract for what has been written> */
void stage_frequency_presence(struct funnel *f, double frequency,
  double presence, const uint32_t *written, size_t n)
{
  if (frequency == 0 && presence == 0) return;
  by_rising_id(f);
  for (size_t i = 0; i < n; i++) f->count[written[i]]++;
  for (size_t i = 0; i < n; i++) {
    uint32_t id = written[i];
    if (f->count[id] > 0 && f->z[id] > -INFINITY)
      f->z[id] -= f->count[id] * frequency + presence;
    f->count[id] = 0;
  }
  settle(f);
}

/* <Ban what would repeat an n-gram> */
void stage_no_repeat_ngram(struct funnel *f, size_t n,
  const uint32_t *id, size_t length)
{
  if (n == 0 || n > length) return;
  const uint32_t *end = id + length - (n - 1);
  for (size_t i = 0; i + n <= length; i++)
    if (memcmp(id + i, end, (n - 1) * sizeof *id) == 0)
      f->z[id[i + n - 1]] = -INFINITY;
  settle(f);
}

/* <Add a bias to the ends of sequences> */
void stage_sequence_bias(struct funnel *f, const struct biased *list,
  size_t n, const uint32_t *id, size_t length)
{
  by_rising_id(f);
  for (size_t i = 0; i < n; i++) {
    size_t others = list[i].n - 1;
    if (others > length || (others > 0 && memcmp(list[i].id,
        id + length - others, others * sizeof *id) != 0)) continue;
    double *z = &f->z[list[i].id[others]];
    if (list[i].bias == -INFINITY) *z = -INFINITY;
    else if (*z > -INFINITY) *z += list[i].bias;
  }
  settle(f);
}

/* <Strike tokens out> */
void stage_suppress(struct funnel *f, const uint32_t *id, size_t n)
{
  for (size_t i = 0; i < n; i++) f->z[id[i]] = -INFINITY;
  settle(f);
}

/* <A number of 52 bits for a token at a place> */
static uint64_t bits_for(uint64_t seed, uint32_t sequence,
  uint32_t position, uint32_t id)
{
  uint32_t key[2] = { (uint32_t) seed, (uint32_t) (seed >> 32) };
  uint32_t counter[4] = { id, position, sequence, 0 }, out[4];
  philox4x32(key, counter, out);
  return (uint64_t) out[0] << 20 | out[1] >> 12;
}

/* <Turn the scores into a distribution> */
void funnel_distribution(struct funnel *f)
{
  by_falling_score(f);
  double all = weigh(f);
  for (size_t i = 0; i < f->n; i++) f->w[i] /= all;
}

/* <Let the tokens race> */
uint32_t funnel_choose(struct funnel *f, uint64_t seed, uint32_t sequence,
  uint32_t position)
{
  if (f->n == 1) return f->left[0];
  weigh(f);
  double best = -INFINITY, most = highest(f), reach = INFINITY;
  uint32_t chosen = UINT32_MAX;
  for (size_t i = 0; i < f->n; i++) {
    uint32_t id = f->left[i];
    double bound = f->w[i] * reach;
    if (bound < 0x1p-53) continue;
    f->bits++;
    uint64_t m = bits_for(seed, sequence, position, id);
    if (0x1p52 - (double) m - 0.5 > bound * 0x1p52) continue;
    f->noises++;
    double sum = f->z[id] - num_log(-num_log(((double) m + 0.5) * 0x1p-52));
    if (sum < best || (sum == best && id > chosen)) continue;
    chosen = id, best = sum;
    /* <Set reach to what a weight is multiplied by> */
    reach = num_exp(most - best + 0x1p-40 + fabs(most) * 0x1p-48);
  }
  return chosen;
}
