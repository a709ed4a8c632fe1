/* host.c -- made from chapters/14-cuda.w; change it there */

#define _GNU_SOURCE
#include "cuda/kernels.cu"
