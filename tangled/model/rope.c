/* rope.c -- the frequencies of rotary positions.
   made from chapters/02-model.w; change it there

   In double and with our own power function, so that they are the same on every
   machine; the opener of a model rounds them to float once. */

#include "model/rope.h"
#include "functions/numbers.h"

double rope_frequency(double theta, uint32_t i, uint32_t half)
{
  return num_pow(theta, -(double) i / half);
}

double rope_attention(const struct rope_config *r)
{
  return r->attention_factor > 0 ? r->attention_factor : 1;
}
