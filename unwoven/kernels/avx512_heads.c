/* avx512_heads.c -- attention of one row, all heads together, with the head for AVX-512. */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_avx512 = { attend_together };
#endif 
