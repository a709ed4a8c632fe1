/* scalar_attention.c -- attention of many rows, and of one head at a time, with the head for plain C. */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#define HEADS heads_scalar
#include "kernels/attention.inc"
const struct attention_kernels attention_scalar = { attend, attention_room };
