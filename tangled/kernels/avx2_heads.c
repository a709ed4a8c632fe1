/* avx2_heads.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_avx2 = { attend_together };
#endif
