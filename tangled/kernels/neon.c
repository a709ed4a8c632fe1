/* neon.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#define NAME "neon"
#define TABLE kernels_neon
#define FLOATS floats_neon
#define BLOCKS &blocks_neon
#define PAIRS NULL
#define ATTENTION attention_neon
#include "kernels/table.inc"
#endif
