/* scalar_linear.c -- linear layers of floats, with the head for plain C. */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_scalar = { linear, room,
  prepared_bytes, prepare };
