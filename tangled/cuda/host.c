/* host.c -- made from chapters/14-cuda.w; change it there */

#include "cuda/kernels.cu"
