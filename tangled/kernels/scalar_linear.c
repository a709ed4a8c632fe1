/* scalar_linear.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_scalar = { linear, room,
  prepared_bytes, prepare };
