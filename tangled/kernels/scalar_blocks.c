/* scalar_blocks.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_scalar = { int8_linear, int8_room,
  int8_bytes, int8_prepare };
