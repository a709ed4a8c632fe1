/* avx512_heads.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_avx512 = { attend_together };
#endif
