/* neon_attention.c -- attention of many rows, and of one head at a time, with the head for NEON. */

#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#define HEADS heads_neon
#include "kernels/attention.inc"
const struct attention_kernels attention_neon = { attend, attention_room };
#endif 
