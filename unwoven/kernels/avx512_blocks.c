/* avx512_blocks.c -- linear layers of blocks and bytes, with the head for AVX-512. vnni.c is the same with
   one instruction more. */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_avx512 = { int8_linear, int8_room,
  int8_bytes, int8_prepare };
#endif 
