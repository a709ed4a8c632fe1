/* scalar_heads.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_scalar = { attend_together };
