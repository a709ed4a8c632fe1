/* host.c -- The host as a device: the kernels, compiled as C.
   made from chapters/14-cuda.w; change it there

   _GNU_SOURCE is for sysconf. */

#define _GNU_SOURCE
#include "cuda/kernels.cu"
