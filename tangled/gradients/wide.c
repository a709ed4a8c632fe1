/* wide.c -- The same with AVX2: eight numbers in a register.
   made from workshop/10-gradients.w; change it there

   On other machines the file is empty and its table must not be named (network.c asks
   for the same macro). */

#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH 8
#include "gradients/slopes_tools.inc"

/* <Fuse and spread with AVX2> */
INLINE vec fused(vec a, vec b, vec c)
{
  return _mm256_fmadd_ps(a, b, c);
}

INLINE vec spread(float x)
{
  return _mm256_set1_ps(x);
}
#include "gradients/slopes_bodies.inc"
const struct gradients gradients_wide = { .multiply = multiply, .linear = linear, .softmax_block = softmax_block,
.join = join, .softmax_backward = softmax_backward,
.cross_entropy = cross_entropy, .norm_backward = norm_backward,
.gain_backward = gain_backward, .swiglu_backward = swiglu_backward,
.square = square, .adam = adam };
#endif
