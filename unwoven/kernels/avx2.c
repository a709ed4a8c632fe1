/* avx2.c -- the table for AVX2, with all kernels that are small. */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#define NAME "avx2"
#define TABLE kernels_avx2
#define FLOATS floats_avx2
#define BLOCKS &blocks_avx2
#define PAIRS NULL
#define ATTENTION attention_avx2
#include "kernels/table.inc"
#endif 
