/*66:*/
#line 1291 "workshop/03-models.w"

#ifndef INCIPIT_ROPE_SCALING_H
#define INCIPIT_ROPE_SCALING_H
#include "model/rope.h"
double rope_scaled_frequency(const struct rope_config*r,uint32_t i,
uint32_t half);

double rope_scaled_attention(const struct rope_config*r);

#endif
#line 1301 "workshop/03-models.w"

/*:66*/
