/* avx2_attention.c -- attention of many rows, and of one head at a time, with the head for AVX2. */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#define HEADS heads_avx2
#include "kernels/attention.inc"
const struct attention_kernels attention_avx2 = { attend, attention_room };
#endif 
