/* scalar_attention.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#define HEADS heads_scalar
#include "kernels/attention.inc"
const struct attention_kernels attention_scalar = { attend, attention_room };
