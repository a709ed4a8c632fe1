/* draws.c -- made from chapters/07-sampling.w; change it there */

#include <string.h>
#include "sampling/draws.h"
#include "functions/numbers.h"

/* <Ten rounds of mixing> */
static inline void philox_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d,
  uint32_t k0, uint32_t k1)
{
  uint64_t p = (uint64_t) 0xD2511F53u * *a, q = (uint64_t) 0xCD9E8D57u * *c;
  *a = (uint32_t) (q >> 32) ^ *b ^ k0, *b = (uint32_t) q;
  *c = (uint32_t) (p >> 32) ^ *d ^ k1, *d = (uint32_t) p;
}

void philox4x32(const uint32_t key[2], const uint32_t counter[4],
  uint32_t out[4])
{
  uint32_t k0 = key[0], k1 = key[1];
  uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
  for (int round = 0; round < 10; round++) {
    philox_round(&a, &b, &c, &d, k0, k1);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  out[0] = a, out[1] = b;
  out[2] = c, out[3] = d;
}

/* <Numbers of 52 bits for sixteen tokens> */
void philox_bits(uint64_t seed, uint32_t sequence, uint32_t position,
  const uint32_t id[16], uint64_t bits[16])
{
  uint32_t k0 = (uint32_t) seed, k1 = (uint32_t) (seed >> 32);
  uint32_t a[16], b[16], c[16], d[16] = { 0 };
  memcpy(a, id, sizeof a);
  for (int j = 0; j < 16; j++) b[j] = position, c[j] = sequence;
  for (int round = 0; round < 10; round++) {
    for (int j = 0; j < 16; j++) philox_round(&a[j], &b[j], &c[j], &d[j], k0, k1);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  for (int j = 0; j < 16; j++) bits[j] = (uint64_t) a[j] << 20 | b[j] >> 12;
}

/* <The noise of a token at a place> */
double gumbel_noise(uint64_t seed, uint32_t sequence, uint32_t position,
  uint32_t id)
{
  uint32_t key[2] = { (uint32_t) seed, (uint32_t) (seed >> 32) };
  uint32_t counter[4] = { id, position, sequence, 0 }, out[4];
  philox4x32(key, counter, out);
  uint64_t m = (uint64_t) out[0] << 20 | out[1] >> 12;
  return -num_log(-num_log(((double) m + 0.5) * 0x1p-52));
}
