/* rope_scaling.c -- The frequencies of rotary positions in a model that was
   stretched.
   made from workshop/03-models.w; change it there

   No file and no model is known here. All is computed in double, and the caller
   rounds once, when it stores a frequency. The order of operations is that of the
   published programs, because the bits of the logits depend on it. */

#include <math.h>
#include "families/rope_scaling.h"
#include "functions/numbers.h"

/* <The share that a wheel keeps> */

/* With a share of 0 or 1 one term of the sum below is exactly zero, and the other is
   right to the last bit. */
static double llama3_share(const struct rope_config *r, double frequency)
{
  double turns = frequency * r->original / 6.283185307179586;
  if (turns > r->high_freq_factor) return 1;
  if (turns < r->low_freq_factor) return 0;
  return (turns - r->low_freq_factor)
    / (r->high_freq_factor - r->low_freq_factor);
}

static double yarn_place(const struct rope_config *r, double turns, uint32_t half)
{
  return half * num_log(r->original / (turns * 6.283185307179586))
    / num_log(r->theta);
}

/* The bounds may lie outside of the wheels; the second ends at 2 half - 1, although
   there are only half of them, as in the published program. If a very long original
   context turns the bounds round, it computes with them as they are, and so do we. */
static double yarn_share(const struct rope_config *r, uint32_t i, uint32_t half)
{
  double low = yarn_place(r, r->beta_fast, half);
  double high = yarn_place(r, r->beta_slow, half), last = 2.0 * half - 1;
  if (r->truncate) low = floor(low), high = ceil(high);
  if (low < 0) low = 0;
  if (high > last) high = last;
  if (low == high) high += 0.001;
  double slowed = (i - low) / (high - low);
  if (slowed < 0) return 1;
  return slowed > 1 ? 0 : 1 - slowed;
}

/* <The frequency of a wheel> */
double rope_scaled_frequency(const struct rope_config *r, uint32_t i,
  uint32_t half)
{
  double f = rope_frequency(r->theta, i, half), share = 0;
  if (r->kind == ROPE_PLAIN) return f;
  if (r->kind == ROPE_LINEAR) return f / r->factor;
  if (r->kind == ROPE_LONG) return f / r->divisor[ROPE_SHORT_TEXTS][i];
  if (r->kind == ROPE_LLAMA3) share = llama3_share(r, f);
  else share = yarn_share(r, i, half);
  double kept = share * f, slowed = (1 - share) * (f / r->factor);
  return kept + slowed;
}

/* <The attention factor> */

/* Texts that do not become longer need no sharper attention. */
static double sharpened(double factor, double scale)
{
  return factor <= 1 ? 1 : 0.1 * scale * num_log(factor) + 1;
}

double rope_scaled_attention(const struct rope_config *r)
{
  if (r->kind != ROPE_YARN && r->kind != ROPE_LONG) return 1;
  if (r->attention_factor > 0) return r->attention_factor;
  if (r->kind == ROPE_LONG)
    return r->factor <= 1 ? 1 : sqrt(1 + num_log(r->factor) / num_log(r->original));
  if (r->mscale > 0 && r->mscale_all_dim > 0)
    return sharpened(r->factor, r->mscale)
      / sharpened(r->factor, r->mscale_all_dim);
  return sharpened(r->factor, 1);
}
