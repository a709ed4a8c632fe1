/* neon_heads.c -- attention of one row, all heads together, with the head for NEON. */

#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_neon = { attend_together };
#endif 
