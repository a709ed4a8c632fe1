/* funnel.c -- made from chapters/07-sampling.w; change it there */

#include <math.h>
#include <string.h>
#include "sampling/funnel.h"
#include "functions/numbers.h"

/* <Fill the funnel> */
bool funnel_fill(struct funnel *f, const float *logits, struct error *why)
{
  f->n = 0, f->sorted = f->overflow = false;
  for (size_t i = 0; i < f->vocab; i++) {
    f->score[i] = (double) logits[i];
    if (logits[i] != logits[i] || f->score[i] == INFINITY)
      return error_say(why, "logit %zu is %s; wanted: a number, or -inf for a token that is out",
        i, f->score[i] == INFINITY ? "inf" : "nan");
    if (f->allowed != NULL && f->allowed[i] == 0) f->score[i] = -INFINITY;
    f->candidates[f->n] = (uint32_t) i; /* stored in any case: an if would be guessed wrong */
    f->n += f->score[i] > -INFINITY;
  }
  return f->n > 0 || error_say(why, "all %zu logits are -inf%s; wanted: a token to choose",
    f->vocab,
    f->allowed != NULL ? ", or not allowed" : "");
}

/* <Let those go that are out> */
static void drop_masked(struct funnel *f)
{
  size_t n = 0;
  for (size_t i = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i];
    f->candidates[n] = id;
    n += f->score[id] != -INFINITY; /* a NaN stays, to be reported */
    f->overflow |= !(f->score[id] < INFINITY);
  }
  f->n = n;
}

static void truncate_to(struct funnel *f, size_t n)
{
  for (size_t i = n; i < f->n; i++) f->score[f->candidates[i]] = -INFINITY;
  f->n = n < f->n ? n : f->n;
}

/* <A key that rises as the logit falls> */

/* the bits of a positive double rise with it, and those of a negative one fall; z+0
   makes of both zeros one */
static uint64_t falling_key(double z)
{
  uint64_t u = num_bits64(z + 0.0);
  return (u >> 63) != 0 ? u : 0x7ff0000000000000u - u;
}

/* <Sort by the key, and leave equals as they stood> */

/* deals sort_buf out by one byte of the keys; equal bytes stay in their order, so
   rounds from the last byte to the first sort by the whole key */
static void radix_scatter(struct funnel *f, const size_t *count, unsigned shift)
{
  size_t at[256], sum = 0;
  for (int d = 0; d < 256; d++) at[d] = sum, sum += count[d];
  for (size_t i = 0; i < f->n; i++)
    f->sort_spare[at[f->sort_buf[i].key >> shift & 255]++] = f->sort_buf[i];
  struct sort_item *dealt = f->sort_spare;
  f->sort_spare = f->sort_buf, f->sort_buf = dealt;
}

static void sort_list(struct funnel *f)
{
  size_t count[8][256] = { {0} };
  for (size_t i = 0; i < f->n; i++)
    for (unsigned d = 0; d < 8; d++)
      count[d][f->sort_buf[i].key >> 8 * d & 255]++;
  for (unsigned d = 0; f->n > 0 && d < 8; d++) /* a byte that all have in common needs no round */
    if (count[d][f->sort_buf[0].key >> 8 * d & 255] < f->n)
      radix_scatter(f, count[d], 8 * d);
  for (size_t i = 0; i < f->n; i++) f->candidates[i] = f->sort_buf[i].id;
}

/* <Bring the list into one of its two orders> */
static void sort_descending(struct funnel *f)
{
  if (f->sorted) return;
  for (size_t i = 0; i < f->n; i++) f->sort_buf[i] =
    (struct sort_item) { falling_key(f->score[f->candidates[i]]), f->candidates[i] };
  sort_list(f);
  f->sorted = true;
}

static void restore_id_order(struct funnel *f)
{
  for (size_t i = 0; i < f->n; i++)
    f->sort_buf[i] = (struct sort_item) { f->candidates[i], f->candidates[i] };
  sort_list(f);
  f->sorted = false;
}

static void sort_by_id(struct funnel *f)
{
  if (f->sorted) restore_id_order(f);
}

/* <Weigh the tokens that are left> */
static double max_score(const struct funnel *f)
{
  double max = -INFINITY;
  for (size_t i = 0; i < f->n; i++)
    if (f->score[f->candidates[i]] > max) max = f->score[f->candidates[i]];
  return max;
}

static double softmax_weights(struct funnel *f)
{
  double sum = 0;
  for (size_t i = 0; i < f->n; i++) f->weight[i] = f->score[f->candidates[i]];
  f->k->exp_shifted(f->weight, f->n, max_score(f));
  for (size_t i = 0; i < f->n; i++) sum += f->weight[i];
  return sum;
}

/* <Divide by the temperature> */
void funnel_temperature(struct funnel *f, double t)
{
  if (t == 1) return;
  sort_by_id(f);
  if (t == 0) {
    size_t best = 0;
    for (size_t i = 1; i < f->n; i++)
      if (f->score[f->candidates[i]] > f->score[f->candidates[best]]) best = i;
    uint32_t id = f->candidates[best];
    f->candidates[best] = f->candidates[0], f->candidates[0] = id;
    truncate_to(f, 1);
  }
  else {
    for (size_t i = 0; i < f->n; i++) f->score[f->candidates[i]] /= t;
    drop_masked(f);
  }
}

/* <Find the key of the kth best> */

/* a radix selection: the kth smallest key, found byte by byte from the first, and in
   equals how many of those that have it are among the first k. The keys lie in the
   memory of sort_buf, and only those in the hole of the kth stay for the next byte */
static uint64_t kth_key(struct funnel *f, size_t k, size_t *equals)
{
  size_t n = f->n;
  uint64_t *key = (void *) f->sort_buf, differ = 0;
  for (size_t i = 0; i < n; i++) {
    key[i] = falling_key(f->score[f->candidates[i]]);
    differ |= key[i] ^ key[0];
  }
  for (unsigned shift = 64; shift > 0 && n > 1; ) {
    shift -= 8;
    if ((differ >> shift & 255) == 0) continue;
    size_t count[4][256] = { { 0 } }, hole = 0, rest = 0;
    /* most keys fall into a few holes: four sets of counts, lest each wait for the
       last */
    for (size_t i = 0; i < n; i++) count[i & 3][key[i] >> shift & 255]++;
    for (size_t d = 0; d < 256; d++) count[0][d] += count[1][d] + count[2][d] + count[3][d];
    while (k > count[0][hole]) k -= count[0][hole++];
    for (size_t i = 0; i < n; i++) {
      key[rest] = key[i];
      rest += (key[i] >> shift & 255) == hole;
    }
    n = rest;
  }
  *equals = k;
  return key[0];
}

/* <Keep the k best> */
void funnel_top_k(struct funnel *f, size_t k)
{
  if (k == 0 || k >= f->n) return;
  if (!f->sorted) {
    size_t equals;
    uint64_t last = kth_key(f, k, &equals);
    for (size_t i = 0; i < f->n; i++) {
      uint64_t key = falling_key(f->score[f->candidates[i]]);
      if (key > last || (key == last && equals == 0))
        f->score[f->candidates[i]] = -INFINITY;
      else if (key == last) equals--;
    }
    drop_masked(f);
  }
  else truncate_to(f, k);
}

/* <Keep as many as it takes to reach a share> */
static void keep_share(struct funnel *f, double p, double all)
{
  double sum = 0;
  size_t n = 0;
  while (n < f->n && (n == 0 || sum < p * all)) sum += f->weight[n++];
  truncate_to(f, n);
}

/* <Keep the fewest that reach a share> */
void funnel_top_p(struct funnel *f, double p)
{
  if (p == 1) return;
  sort_descending(f);
  keep_share(f, p, softmax_weights(f));
}

/* <Keep what is likely enough beside the best> */
void funnel_min_p(struct funnel *f, double m)
{
  if (m == 0) return;
  softmax_weights(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] < m) f->score[f->candidates[i]] = -INFINITY;
  drop_masked(f);
}

/* <Keep the most typical that reach a share> */
void funnel_typical_p(struct funnel *f, double p)
{
  if (p == 1) return;
  sort_by_id(f);
  double max = max_score(f), all = softmax_weights(f), mean = 0;
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] > 0) mean += f->weight[i] * (f->score[f->candidates[i]] - max);
  mean /= all;
  for (size_t i = 0; i < f->n; i++) f->sort_buf[i] = (struct sort_item) {
    num_bits64(fabs(f->score[f->candidates[i]] - max - mean)), f->candidates[i] };
  /* <Take the list by rising distance, and keep the share> */
  sort_list(f);
  keep_share(f, p, softmax_weights(f));
  restore_id_order(f);
}

/* <Mark down what the history has> */
static void forget_counts(struct funnel *f, const uint32_t *seen, size_t n)
{
  for (size_t i = 0; i < n; i++) f->count[seen[i]] = 0;
}

void funnel_repetition_penalty(struct funnel *f, double r,
  const uint32_t *seen, size_t n)
{
  if (r == 1) return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++) {
    double *z = &f->score[seen[i]];
    if (f->count[seen[i]]++ == 0 && *z > -INFINITY)
      *z = *z > 0 ? *z / r : *z * r;
  }
  forget_counts(f, seen, n);
  drop_masked(f);
}

/* <Subtract for what has been written> */
void funnel_frequency_presence(struct funnel *f, double frequency,
  double presence, const uint32_t *written, size_t n)
{
  if (frequency == 0 && presence == 0) return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++) f->count[written[i]]++;
  for (size_t i = 0; i < n; i++) {
    uint32_t id = written[i];
    if (f->count[id] > 0 && f->score[id] > -INFINITY)
      f->score[id] -= f->count[id] * frequency + presence;
    f->count[id] = 0;
  }
  drop_masked(f);
}

/* <Ban what would repeat an n-gram> */
void funnel_no_repeat_ngram(struct funnel *f, size_t n,
  const uint32_t *id, size_t length)
{
  if (n == 0 || n > length) return;
  const uint32_t *end = id + length - (n - 1);
  for (size_t i = 0; i + n <= length; i++)
    if (memcmp(id + i, end, (n - 1) * sizeof *id) == 0)
      f->score[id[i + n - 1]] = -INFINITY;
  drop_masked(f);
}

/* <Add a bias to the ends of sequences> */
void funnel_sequence_bias(struct funnel *f, const struct sequence_bias *list,
  size_t n, const uint32_t *id, size_t length)
{
  if (n == 0) return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++) {
    size_t others = list[i].n - 1;
    if (others > length || (others > 0 && memcmp(list[i].id,
        id + length - others, others * sizeof *id) != 0)) continue;
    double *z = &f->score[list[i].id[others]];
    if (list[i].bias == -INFINITY) *z = -INFINITY;
    else if (*z > -INFINITY) *z += list[i].bias;
  }
  drop_masked(f);
}

void funnel_suppress(struct funnel *f, const uint32_t *id, size_t n)
{
  if (n == 0) return;
  for (size_t i = 0; i < n; i++) f->score[id[i]] = -INFINITY;
  drop_masked(f);
}

/* <Turn the logits into a distribution> */
void funnel_distribution(struct funnel *f)
{
  sort_descending(f);
  double all = softmax_weights(f);
  for (size_t i = 0; i < f->n; i++) f->weight[i] /= all;
}

void funnel_log_softmax(struct funnel *f)
{
  sort_by_id(f);
  double max = max_score(f), log_sum = num_log(softmax_weights(f));
  for (size_t i = 0; i < f->n; i++)
    f->score[f->candidates[i]] = f->score[f->candidates[i]] - max - log_sum;
}

/* <Let the tokens race> */
uint32_t funnel_choose(struct funnel *f, uint64_t seed, uint32_t sequence,
  uint32_t position)
{
  if (f->n == 1) return f->candidates[0];
  softmax_weights(f);
  double best = -INFINITY, max = max_score(f), reach = INFINITY;
  uint32_t chosen = UINT32_MAX;
  uint64_t bits[16];
  for (size_t i = 0, end = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i];
    double bound = f->weight[i] * reach;
    if (bound < 0x1p-53) continue;
    /* <Make random bits from candidates[i] on, if there are none> */
    if (i >= end) {
      uint32_t next[16];
      for (size_t j = 0; j < 16; j++) next[j] = f->candidates[i + j < f->n ? i + j : f->n - 1];
      philox_bits(seed, sequence, position, next, bits);
      end = i + 16;
    }
    uint64_t m = bits[i + 16 - end];
    f->bits++;
    if (0x1p52 - (double) m - 0.5 > bound * 0x1p52) continue; /* 1-u: cannot win */
    f->noises++;
    double sum = f->score[id] - num_log(-num_log(((double) m + 0.5) * 0x1p-52));
    if (sum < best || (sum == best && id > chosen)) continue;
    chosen = id, best = sum;
    /* <Lower reach to what the new best leaves> */
    reach = num_exp(max - best + 0x1p-40 + fabs(max) * 0x1p-48);
  }
  return chosen;
}
