/* counted.c -- given: a head in plain C with registers of four lanes, for any machine; its loads and multiply-adds are counted.  The
   weights of a test that counts are stored in disguise: only load, load_partial and load_one see what they are */
#include "kernels/lanes.h"
#include "functions/numbers.h"
#include <math.h>
#include <string.h>
#define NAME "counted"
#define TABLE lanes_counted
#define LINKAGE
#define TARGET
#define INLINE static __attribute__((unused))
#define WIDTH 4
#define TILE_ROWS 6
#define TAKE lanes_take
#include "lanes.inc"
static __attribute__((noinline)) vec fused(vec a, vec b, vec c)
{
  lanes_count(LANES_FUSED);
  for (int j = 0; j < WIDTH; j++) c[j] = fmaf(a[j], b[j], c[j]);
  return c;
}
INLINE vec spread(float x)
{
  lanes_count(LANES_SPREAD);
  return (vec) { x, x, x, x };
}
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  vec v = { 0 };
  for (int j = 0; j < WIDTH; j++) v[j] = type == WEIGHT_F16 ? num_from_f16(h[j]) : num_from_bf16(h[j]);
  return v;
}
INLINE vec blend(int n, vec a, vec b)
{
  for (int j = 0; j < WIDTH; j++) a[j] = j < n ? a[j] : b[j];
  return a;
}
INLINE vec load_first(const void *p, int n)
{
  vec v = { 0 };
  TAKE(&v, p, (size_t) n * sizeof (float));
  return v;
}
INLINE vec fold_all(const vec *a)
{
  vec b[2];
  each (i, 2) b[i] = MIX(a[2 * i], a[2 * i + 1], 0, 1, 4, 5) + MIX(a[2 * i], a[2 * i + 1], 2, 3, 6, 7);
  return MIX(b[0], b[1], 0, 2, 4, 6) + MIX(b[0], b[1], 1, 3, 5, 7);
}
/* loops are not written out here: this hides from gcc that sums begin with 0, and clang says so */
#if defined __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "table.inc"
