/* simd128_blocks.c -- linear layers of blocks and bytes, for WebAssembly. */

#include "kernels/parts.h"
#include "living/simd128.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_simd128 = { int8_linear, int8_room,
  int8_bytes, int8_prepare };
