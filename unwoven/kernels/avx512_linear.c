/* avx512_linear.c -- linear layers of floats, with the head for AVX-512. */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_avx512 = { linear, room,
  prepared_bytes, prepare };
#endif 
