/* scalar_blocks.c -- linear layers of blocks and bytes, with the head for plain C. */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_scalar = { int8_linear, int8_room,
  int8_bytes, int8_prepare };
