/* scalar.c -- the table for plain C, with all kernels that are small. */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#define NAME "scalar"
#define TABLE kernels_scalar
#define FLOATS floats_scalar
#define BLOCKS &blocks_scalar
#define PAIRS NULL
#define ATTENTION attention_scalar
#include "kernels/table.inc"
