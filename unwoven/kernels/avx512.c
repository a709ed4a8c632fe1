/* avx512.c -- the table for AVX-512, with all kernels that are small. */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#define NAME "avx512"
#define TABLE kernels_avx512
#define FLOATS floats_avx512
#define BLOCKS (__builtin_cpu_supports("avx512vnni") \
  ? &blocks_vnni : &blocks_avx512)
#define PAIRS (__builtin_cpu_supports("avx512bf16") ? &pairs_avx512 : NULL)
#define ATTENTION attention_avx512
#include "kernels/table.inc"
#endif 
