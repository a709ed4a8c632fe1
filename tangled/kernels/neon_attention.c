/* neon_attention.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#define HEADS heads_neon
#include "kernels/attention.inc"
const struct attention_kernels attention_neon = { attend, attention_room };
#endif
