/* counted.c -- counts the logarithms and the calls of Philox that a draw makes.  Part of the lab; there is nothing to write in it. */
#include "functions/numbers.h"
#include "sampling/draws.h"

static uint64_t logs, mixed; /* since counted_begin */
void counted_begin(void);
uint64_t counted_logs(void);
uint64_t counted_mixed(void);
double counted_log(double x);
void counted_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);
void counted_bits(uint64_t seed, uint32_t sequence, uint32_t position, const uint32_t id[16], uint64_t bits[16]);
double counted_gumbel(uint64_t seed, uint32_t sequence, uint32_t position, uint32_t id);

void counted_begin(void) { logs = mixed = 0; }
uint64_t counted_logs(void) { return logs; }
uint64_t counted_mixed(void) { return mixed; }

double counted_log(double x)
{
  logs++;
  return num_log(x);
}

void counted_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
  mixed++;
  philox4x32(key, counter, out);
}

/* sixteen tokens at a time are sixteen calls */
void counted_bits(uint64_t seed, uint32_t sequence, uint32_t position, const uint32_t id[16], uint64_t bits[16])
{
  mixed += 16;
  philox_bits(seed, sequence, position, id, bits);
}

/* the noise is defined in draws.c, and a race may call it */
double counted_gumbel(uint64_t seed, uint32_t sequence, uint32_t position, uint32_t id)
{
  return gumbel_noise(seed, sequence, position, id);
}
