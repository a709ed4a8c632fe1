/* neon_linear.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_neon = { linear, room,
  prepared_bytes, prepare };
#endif
