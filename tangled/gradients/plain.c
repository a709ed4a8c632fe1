/* plain.c -- The gradients in plain C: the reference, and what runs without AVX2.
   made from workshop/10-gradients.w; change it there

   It defines a register of four numbers and its fused multiply and add, and includes
   the bodies that wide.c includes too; so the two tables have the same results to the
   last bit. */

#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"
#define TARGET
#define WIDTH 4
#include "gradients/slopes_tools.inc"

/* <Fuse and spread without wide registers> */
INLINE vec fused(vec a, vec b, vec c)
{
  each(i, WIDTH) c[i] = fmaf(a[i], b[i], c[i]);
  return c;
}

INLINE vec spread(float x)
{
  vec v;
  each(i, WIDTH) v[i] = x;
  return v;
}
#include "gradients/slopes_bodies.inc"
const struct gradients gradients_plain = { .multiply = multiply, .linear = linear, .softmax_block = softmax_block,
.join = join, .softmax_backward = softmax_backward,
.cross_entropy = cross_entropy, .norm_backward = norm_backward,
.gain_backward = gain_backward, .swiglu_backward = swiglu_backward,
.square = square, .adam = adam };
