/* rope_scaling.h -- made from workshop/03-models.w; change it there */

#ifndef INCIPIT_ROPE_SCALING_H
#define INCIPIT_ROPE_SCALING_H
#include "model/rope.h"

/* frequency of wheel i of half, slowed as r says; in double, not yet rounded */
double rope_scaled_frequency(const struct rope_config *r, uint32_t i,
  uint32_t half);

/* the attention factor of yarn and of longrope, worked out if it is not given; 1 for
   all other kinds */
double rope_scaled_attention(const struct rope_config *r);
#endif
