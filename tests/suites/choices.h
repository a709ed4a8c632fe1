/* choices.h -- what the suites about the sampler share */
#ifndef INCIPIT_CHOICES_H
#define INCIPIT_CHOICES_H
#include <math.h>
#include "suite.h"
#include "sampling/settings.h"
#include "kernels/kernels.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { LESS = 10 }; /* under the sanitizers a tenth of the cases */
#else
enum { LESS = 1 };
#endif

/* Philox from the paper: two multipliers, two Weyl constants, ten rounds, the key bumped between
 * them */
static inline void plain_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
  uint64_t a = counter[0], b = counter[1], c = counter[2], d = counter[3], k = key[0], l = key[1];
  for (int round = 1; round <= 10; round++) {
    uint64_t left = 3528531795u * a, right = 3449720151u * c, was_b = b, was_d = d;
    a = (right / 4294967296u) ^ was_b ^ k, b = right % 4294967296u,
    c = (left / 4294967296u) ^ was_d ^ l, d = left % 4294967296u;
    k = (k + 2654435769u) % 4294967296u, l = (l + 3144134277u) % 4294967296u;
  }
  out[0] = (uint32_t) a, out[1] = (uint32_t) b, out[2] = (uint32_t) c, out[3] = (uint32_t) d;
}
static inline double plain_noise(uint64_t seed, uint32_t sequence, uint32_t position, uint32_t id)
{
  uint32_t key[2] = { (uint32_t) (seed % 4294967296u), (uint32_t) (seed / 4294967296u) },
           counter[4] = { id, position, sequence, 0 }, r[4];
  plain_philox(key, counter, r);
  double m = r[0] * 1048576.0 + floor(r[1] / 4096.0); /* exact: 52 bits */
  return -log(-log((m + 0.5) / 4503599627370496.0));
}

#define SMALL "tests/golden/small"

/* the distribution that is left, with or without a history, and the scores */
struct result {
  struct memory m;
  struct funnel f;
  struct error why;
  bool ok;
};
static inline void result_of(struct result *r, const float *logits, size_t v,
  const struct sampling_params *s, struct history h)
{
  memset(r, 0, sizeof *r);
  ck_assert(funnel_open(&r->f, &r->m, kernels_find(NULL, NULL), v, &r->why));
  r->ok = sampling_check(s, v, &r->why) && sampling_run(&r->f, s, logits, h, &r->why);
}
static inline void result_drop(struct result *r)
{
  funnel_close(&r->f);
  ck_assert_uint_eq(r->m.all.live, 0);
}
static const struct history nothing = { NULL, 0, 0 };
#endif
