/* scalar_heads.c -- attention of one row, all heads together, with the head for plain C. */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_scalar = { attend_together };
