/* avx2_heads.c -- attention of one row, all heads together, with the head for AVX2. */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_avx2 = { attend_together };
#endif 
