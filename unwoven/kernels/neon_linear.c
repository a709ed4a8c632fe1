/* neon_linear.c -- linear layers of floats, with the head for NEON. */

#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_neon = { linear, room,
  prepared_bytes, prepare };
#endif 
