/* neon_blocks.c -- linear layers of blocks and bytes, with the head for NEON. */

#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_neon = { int8_linear, int8_room,
  int8_bytes, int8_prepare };
#endif 
