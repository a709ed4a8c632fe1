/* scalar.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/parts.h"
#include "kernels/scalar.inc"
#define NAME "scalar"
#define TABLE kernels_scalar
#define FLOATS floats_scalar
#define BLOCKS &blocks_scalar
#define PAIRS NULL
#define ATTENTION attention_scalar
#include "kernels/table.inc"
