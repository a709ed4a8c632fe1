/* avx2_linear.c -- Linear layers of floats, with the head for AVX2.
   made from chapters/11-simd.w; change it there */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_avx2 = { linear, room,
  prepared_bytes, prepare };
#endif
