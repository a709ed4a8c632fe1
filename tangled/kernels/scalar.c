/* scalar.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/kernels.h"
#include "functions/numbers.h"
#define NAME "scalar"
#define TABLE kernels_scalar
#define TARGET
#define WIDTH 4
#define TILE_ROWS 6
#define ALONE __attribute__((noinline))
#include "kernels/lanes.inc"

/* <Multiply-add and the rest, in plain C> */
static ALONE vec fused(vec a, vec b, vec c)
{
  for (int j = 0; j < WIDTH; j++) c[j] = fmaf(a[j], b[j], c[j]);
  return c;
}

INLINE vec spread(float x)
{ return (vec) { x, x, x, x }; }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  vec v = { 0 };
  for (int j = 0; j < WIDTH; j++)
    v[j] = type == WEIGHT_F16 ? num_from_f16(h[j]) : num_from_bf16(h[j]);
  return v;
}

INLINE vec i8_to_f32(const int8_t *small)
{
  vec v = { 0 };
  for (int j = 0; j < WIDTH; j++) v[j] = (float) small[j];
  return v;
}

/* <Choose lanes and fold them, in plain C> */
INLINE vec blend(int n, vec a, vec b)
{
  for (int j = 0; j < WIDTH; j++) a[j] = j < n ? a[j] : b[j];
  return a;
}

INLINE vec load_first(const void *p, int n)
{
  vec v = { 0 };
  memcpy(&v, p, (size_t) n * sizeof (float));
  return v;
}

INLINE vec fold_all(const vec *a)
{
  vec b[2];
  each (i, 2) b[i] = MIX(a[2 * i], a[2 * i + 1], 0, 1, 4, 5)
    + MIX(a[2 * i], a[2 * i + 1], 2, 3, 6, 7);
  return MIX(b[0], b[1], 0, 2, 4, 6) + MIX(b[0], b[1], 1, 3, 5, 7);
}
#include "kernels/bodies.inc"
