/* avx512_attention.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#define HEADS heads_avx512
#define NARROW attention_avx2
#include "kernels/attention.inc"
const struct attention_kernels attention_avx512 = { attend, attention_room };
#endif
