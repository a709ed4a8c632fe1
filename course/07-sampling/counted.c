/* counted.c -- the logarithm and the random numbers, with a count of how often they are asked.  Part of the lab; there is nothing to write
   in it. */
#include "kit.h"
#include "functions/numbers.h"
#include "sampling/draws.h"

enum { LOGS, MIXED }; /* tests.c has them as well */

/* what is counted has these names in the library and in draws.c; only this file calls them */
double uncounted_num_log(double x);
void uncounted_philox4x32(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);
void uncounted_philox_bits(uint64_t seed, uint32_t sequence, uint32_t position, const uint32_t id[16], uint64_t bits[16]);
double uncounted_gumbel_noise(uint64_t seed, uint32_t sequence, uint32_t position, uint32_t id);

double num_log(double x)
{
  count_more(LOGS, 1);
  return uncounted_num_log(x);
}

void philox4x32(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
  count_more(MIXED, 1);
  uncounted_philox4x32(key, counter, out);
}

/* sixteen tokens at a time are sixteen calls */
void philox_bits(uint64_t seed, uint32_t sequence, uint32_t position, const uint32_t id[16], uint64_t bits[16])
{
  count_more(MIXED, 16);
  uncounted_philox_bits(seed, sequence, position, id, bits);
}

double gumbel_noise(uint64_t seed, uint32_t sequence, uint32_t position, uint32_t id)
{
  count_more(MIXED, 1);
  return uncounted_gumbel_noise(seed, sequence, position, id);
}
