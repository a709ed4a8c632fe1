/* avx512_attention.c -- attention of many rows, and of one head at a time, with the head for AVX-512. Heads
   that are too small for its registers go to AVX2 (NARROW). */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#define HEADS heads_avx512
#define NARROW attention_avx2
#include "kernels/attention.inc"
const struct attention_kernels attention_avx512 = { attend, attention_room };
#endif 
