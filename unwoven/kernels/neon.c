/* neon.c -- the table for NEON, with all kernels that are small. */

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
