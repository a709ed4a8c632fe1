/* simd128_attention.c -- attention of many rows, and of one head at a time, for WebAssembly. */

#include "kernels/parts.h"
#include "living/simd128.inc"
#define HEADS heads_simd128
#include "kernels/attention.inc"
const struct attention_kernels attention_simd128 = { attend, attention_room };
