/* simd128_heads.c -- attention of one row, all heads together, for WebAssembly. */

#include "kernels/parts.h"
#include "living/simd128.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_simd128 = { attend_together };
