/* simd128.c -- the table for WebAssembly, with all kernels that are small. */

#include "kernels/parts.h"
#include "living/simd128.inc"
#define NAME "wasm"
#define TABLE kernels_simd128
#define FLOATS floats_simd128
#define BLOCKS &blocks_simd128
#define PAIRS NULL
#define ATTENTION attention_simd128
#include "kernels/table.inc"
