/* neon_heads.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_neon = { attend_together };
#endif
