/* draws.h -- made from chapters/07-sampling.w; change it there */

#ifndef INCIPIT_DRAWS_H
#define INCIPIT_DRAWS_H
#include <stdint.h>

/* Philox4x32-10 of a key and a counter (Salmon and others 2011) */
void philox4x32(const uint32_t key[2], const uint32_t counter[4],
  uint32_t out[4]);

/* -ln (-ln u) for a u that depends on these four alone; from -3.6 to 36.7 */
double gumbel_noise(uint64_t seed, uint32_t sequence, uint32_t position,
  uint32_t id);

/* for each id the number m of 52 bits of which its u is made, (m+0.5)2^(-52) */
void philox_bits(uint64_t seed, uint32_t sequence, uint32_t position,
  const uint32_t id[16], uint64_t bits[16]);
#endif
