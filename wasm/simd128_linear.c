/* simd128_linear.c -- linear layers of floats, for WebAssembly. */

#include "kernels/parts.h"
#include "living/simd128.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_simd128 = { linear, room,
  prepared_bytes, prepare };
