Lab 7: sampling. A change file for chapters/07-sampling.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer.

cut: the weights
@x
  double sum = 0;
  for (size_t i = 0; i < f->n; i++)@+ f->weight[i] = f->score[f->candidates[i]];
  f->k->exp_shifted(f->weight, f->n, max_score(f));
  for (size_t i = 0; i < f->n; i++)@+ sum += f->weight[i];
  return sum;
}
@y
  /* YOUR CODE: the weight of each candidate with the kernel |exp_shifted|; then their sum, in the order of the list */
  (void) f, (void) max_score;
  return 1;
}
@z

cut: the temperature
@x
  sort_by_id(f);
  if (t == 0) {
    size_t best = 0;
    for (size_t i = 1; i < f->n; i++)
      if (f->score[f->candidates[i]] > f->score[f->candidates[best]])@+ best = i;
    uint32_t id = f->candidates[best];
    f->candidates[best] = f->candidates[0], f->candidates[0] = id;
    truncate_to(f, 1);
  }
  else {
    for (size_t i = 0; i < f->n; i++)@+ f->score[f->candidates[i]] /= t;
    drop_masked(f);
  }
}
@y
  /* YOUR CODE: divide the scores; for 0 only the likeliest stays; what is out leaves the list */
  (void) f, (void) t, (void) drop_masked, (void) truncate_to;
}
@z

cut: the k best
@x
  if (k == 0 || k >= f->n)@+ return;
  if (!f->sorted) {
    size_t equals;
    uint64_t last = kth_key(f, k, &equals);
    for (size_t i = 0; i < f->n; i++) {
      uint64_t key = falling_key(f->score[f->candidates[i]]);
      if (key > last || (key == last && equals == 0))
        f->score[f->candidates[i]] = -INFINITY;
      else if (key == last)@+ equals--;
    }
    drop_masked(f);
  }
  else@+ truncate_to(f, k);
}
@y
  /* YOUR CODE: the first k of a sorted list, or those whose keys are below that of the kth, and of equal ones the first */
  (void) f, (void) k, (void) kth_key;
}
@z

cut: top-p
@x
  if (p == 1)@+ return;
  sort_descending(f);
  keep_share(f, p, softmax_weights(f));
}
@y
  /* YOUR CODE: sort, weigh, keep the share */
  (void) f, (void) p, (void) keep_share;
}
@z

cut: a share
@x
  double sum = 0;
  size_t n = 0;
  while (n < f->n && (n == 0 || sum < p * all))@+ sum += f->weight[n++];
  truncate_to(f, n);
}
@y
  /* YOUR CODE: as many candidates, from the first on, as reach the share p of all */
  (void) f, (void) p, (void) all;
}
@z

cut: min-p
@x
  if (m == 0)@+ return;
  softmax_weights(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] < m)@+ f->score[f->candidates[i]] = -INFINITY;
  drop_masked(f);
}
@y
  /* YOUR CODE: take out what has less than m times the weight of the best */
  (void) f, (void) m;
}
@z

cut: typical sampling
@x
  if (p == 1)@+ return;
  sort_by_id(f);
  double max = max_score(f), all = softmax_weights(f), mean = 0;
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] > 0)@+ mean += f->weight[i] * (f->score[f->candidates[i]] - max);
  mean /= all;
  for (size_t i = 0; i < f->n; i++)@+ f->sort_buf[i] = (struct sort_item) @[{@|
    num_bits64(fabs(f->score[f->candidates[i]] - max - mean)), f->candidates[i] }@];
  @<Take the list by rising distance, and keep the share@>@;
}
@y
  /* YOUR CODE: the mean of the information; each distance from it as a key; then sort by it, keep the share, and put the list back in order */
  (void) f, (void) p, (void) sort_list;
}
@z

cut: a key that rises as the score falls
@x
  uint64_t u = num_bits64(z + 0.0);
  return (u >> 63) != 0 ? u : 0x7ff0000000000000u - u;
}
@y
  /* YOUR CODE: an integer, the smaller the greater z is; +0 and -0 have the same */
  (void) z;
  return 0;
}
@z

cut: the repetition penalty
@x
  if (r == 1)@+ return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++) {
    double *z = &f->score[seen[i]];
    if (f->count[seen[i]]++ == 0 && *z > -INFINITY)
      *z = *z > 0 ? *z / r : *z * r;
  }
  forget_counts(f, seen, n);
  drop_masked(f);
}
@y
  /* YOUR CODE: once for each distinct id, divide or multiply its score */
  (void) f, (void) r, (void) seen, (void) n, (void) forget_counts;
}
@z

cut: the frequency and presence penalties
@x
  if (frequency == 0 && presence == 0)@+ return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++)@+ f->count[written[i]]++;
  for (size_t i = 0; i < n; i++) {
    uint32_t id = written[i];
    if (f->count[id] > 0 && f->score[id] > -INFINITY)
      f->score[id] -= f->count[id] * frequency + presence;
    f->count[id] = 0;
  }
  drop_masked(f);
}
@y
  /* YOUR CODE: count each id, and subtract once; the counts are zero again afterwards */
  (void) f, (void) frequency, (void) presence, (void) written, (void) n;
}
@z

cut: the n-gram ban
@x
  if (n == 0 || n > length)@+ return;
  const uint32_t *end = id + length - (n - 1);
  for (size_t i = 0; i + n <= length; i++)
    if (memcmp(id + i, end, (n - 1) * sizeof *id) == 0)
      f->score[id[i + n - 1]] = -INFINITY;
  drop_masked(f);
}
@y
  /* YOUR CODE: where the last n-1 ids occurred before, what followed them is out */
  (void) f, (void) n, (void) id, (void) length;
}
@z

cut: Philox
@x
  uint64_t p = (uint64_t) 0xD2511F53u * *a, q = (uint64_t) 0xCD9E8D57u * *c;
  *a = (uint32_t) (q >> 32) ^ *b ^ k0, *b = (uint32_t) q;
  *c = (uint32_t) (p >> 32) ^ *d ^ k1, *d = (uint32_t) p;
}
@y
  /* YOUR CODE: one round; the new words are made of the old ones */
  (void) a, (void) b, (void) c, (void) d, (void) k0, (void) k1;
}
@z

cut: its ten rounds
@x
  uint32_t k0 = key[0], k1 = key[1];
  uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
  for (int round = 0; round < 10; round++) {
    philox_round(&a, &b, &c, &d, k0, k1);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  out[0] = a, out[1] = b;
  out[2] = c, out[3] = d;
}
@y
  /* YOUR CODE: ten rounds, and after each the key advances */
  (void) philox_round, (void) key, (void) counter;
  out[0] = out[1] = out[2] = out[3] = 0;
}
@z

cut: sixteen tokens at a time
@x
  for (int round = 0; round < 10; round++) {
    for (int j = 0; j < 16; j++)@+ philox_round(&a[j], &b[j], &c[j], &d[j], k0, k1);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  for (int j = 0; j < 16; j++)@+ bits[j] = (uint64_t) a[j] << 20 | b[j] >> 12;
}
@y
  /* YOUR CODE: the ten rounds for all sixteen, and 52 bits of each */
  (void) c, (void) d, (void) k0, (void) k1;
  for (int j = 0; j < 16; j++)@+ bits[j] = a[j] ^ b[j];
}
@z

cut: the noise
@x
  uint32_t key[2] = @[{ (uint32_t) seed, (uint32_t) (seed >> 32) }@];
  uint32_t counter[4] = @[{ id, position, sequence, 0 }@], out[4];
  philox4x32(key, counter, out);
  uint64_t m = (uint64_t) out[0] << 20 | out[1] >> 12;
  return -num_log(-num_log(((double) m + 0.5) * 0x1p-52));
}
@y
  /* YOUR CODE: from 52 bits to a uniform number, and from that to Gumbel noise */
  (void) seed, (void) sequence, (void) position, (void) id;
  return 0;
}
@z

cut: the race
@x
  if (f->n == 1)@+ return f->candidates[0];
  softmax_weights(f);
  double best = -INFINITY, max = max_score(f), reach = INFINITY;
  uint32_t chosen = UINT32_MAX;
  uint64_t bits[16];
  for (size_t i = 0, end = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i];
    double bound = f->weight[i] * reach;
    if (bound < 0x1p-53)@+ continue;
    @<Make random bits from |candidates[i]| on, if there are none@>@;
    uint64_t m = bits[i + 16 - end];
    f->bits++;
    if (0x1p52 - (double) m - 0.5 > bound * 0x1p52)@+ continue; /* $1-u$: cannot win */
    f->noises++;
    double sum = f->score[id] - num_log(-num_log(((double) m + 0.5) * 0x1p-52));
    if (sum < best || (sum == best && id > chosen))@+ continue;
    chosen = id, best = sum;
    @<Lower |reach| to what the new best leaves@>@;
  }
  return chosen;
}
@y
  /* YOUR CODE: the greatest score plus noise, of equal sums the lowest id; a token that cannot win needs no logarithms, and perhaps no random bits */
  (void) seed, (void) sequence, (void) position;
  return f->candidates[0];
}
@z

cut: the bits of sixteen candidates
@x
if (i >= end) {
  uint32_t next[16];
  for (size_t j = 0; j < 16; j++)@+ next[j] = f->candidates[i + j < f->n ? i + j : f->n - 1];
  philox_bits(seed, sequence, position, next, bits);
  end = i + 16;
}
@y
/* YOUR CODE: when the bits of a candidate are not there yet, make them for it and the next fifteen */
@z

cut: the bound
@x
reach = num_exp(max - best + 0x1p-40 + fabs(max) * 0x1p-48);
@y
/* YOUR CODE: how far a weight may be multiplied and not reach the best, with a margin for rounding */
@z

cut: the window
@x
{
  size_t from = s->penalty_last_n >= 0
    && (uint64_t) s->penalty_last_n < h.n
    ? h.n - (size_t) s->penalty_last_n : 0;
  size_t later = from > h.n_prompt ? from : h.n_prompt;
  if (from < h.n)@+ funnel_repetition_penalty(f, s->repetition_penalty,@|
    h.id + from, h.n - from);
  if (later < h.n)@+ funnel_frequency_presence(f, s->frequency_penalty,@|
    s->presence_penalty, h.id + later, h.n - later);
}
@y
{
  /* YOUR CODE: the repetition penalty for the window; the other two for what the model has written of it */
  (void) h;
}
@z

cut: all stages
@x
  if (!funnel_fill(f, logits, why))@+ return false;
  for (size_t i = 0; i < s->n_stages; i++) {
    sampling_stage_run(f, s, s->stage[i], h);
    const char *name = rows[s->stage[i]].name;
    for (size_t j = 0; f->overflow && j < f->n; j++)
      if (!(f->score[f->candidates[j]] < INFINITY))
        return error_say(why, "after the stage %s the score of id %" PRIu32
          " is infinite; wanted: a number", name, f->candidates[j]);
    if (f->n == 0)@+ return error_say(why, "after the stage %s no token is left", name);
  }
  return true;
}
@y
  /* YOUR CODE: fill, run the stages one after the other, and after each look for a score that is infinite and whether a token is left */
  (void) f, (void) s, (void) logits, (void) h;
  return error_say(why, "sampling_run has not been written yet");
}
@z

shape: the logarithms and random bits of a draw are counted
@x
#include <string.h>
#include "sampling/draws.h"
#include "functions/numbers.h"
@y
#include <string.h>
#include "sampling/counted.h"
#include "sampling/draws.h"
#include "functions/numbers.h"
@z

shape: which is why three functions have other names
@x
@<Ten rounds of mixing@>@;
@<Numbers of 52 bits for sixteen tokens@>@;
@<The noise of a token at a place@>@;
@y
@<Ten rounds of mixing@>@;
@<Numbers of 52 bits for sixteen tokens@>@;
@<The noise of a token at a place@>@;

@ In the lab a logarithm and a call of Philox are counted. The functions that other files call are those of |counted.c|, and they call yours.

@(counted.h@>=
#ifndef INCIPIT_COUNTED_H
#define INCIPIT_COUNTED_H
#define philox4x32 uncounted_philox4x32
#define philox_bits uncounted_philox_bits
#define gumbel_noise uncounted_gumbel_noise
#endif
@z
