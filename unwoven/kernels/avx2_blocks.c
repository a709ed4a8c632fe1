/* avx2_blocks.c -- linear layers of blocks and bytes, with the head for AVX2. */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_avx2 = { int8_linear, int8_room,
  int8_bytes, int8_prepare };
#endif 
