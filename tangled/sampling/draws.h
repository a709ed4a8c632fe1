/* draws.h -- made from chapters/sampling.w; change it there */

/* 7.42  draws.h */

#ifndef INCIPIT_DRAWS_H
#define INCIPIT_DRAWS_H
#include <stdint.h>
void philox4x32(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);
/* Philox4x32-10 of a key and a counter (Salmon and others 2011) */

double gumbel_noise(uint64_t seed, uint32_t sequence, uint32_t position,
                    uint32_t id);
/* -ln(-ln u) for a u that depends on these four alone; from -3.6 to 36.7 */

#endif
