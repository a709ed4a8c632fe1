/* avx2.c -- given: the head for AVX2, as in chapter 11: registers of eight lanes, sixteen of them */
#include "kernels/lanes.h"
#include "functions/numbers.h"
#include <string.h>
#if defined __x86_64__
#include <immintrin.h>
#define NAME "AVX2"
#define TABLE lanes_avx2
#define LINKAGE static
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define WIDTH 8
#define TILE_ROWS 6
#define TAKE memcpy
#include "lanes.inc"
INLINE vec fused(vec a, vec b, vec c)
{ return _mm256_fmadd_ps(a, b, c); }
INLINE vec spread(float x)
{ return _mm256_set1_ps(x); }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  __m128i short_ones = _mm_loadu_si128((const void *) h);
  if (type == WEIGHT_F16) return _mm256_cvtph_ps(short_ones);
  __m256i wide = _mm256_cvtepu16_epi32(short_ones);
  return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}
INLINE __m256i first_lanes(int n)
{
  static const int32_t on[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };
  return _mm256_loadu_si256((const void *) (on + 8 - n));
}
INLINE vec blend(int n, vec a, vec b)
{ return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(first_lanes(n))); }
INLINE vec load_first(const void *p, int n)
{ return _mm256_maskload_ps(p, first_lanes(n)); }
INLINE vec fold_all(const vec *a)
{
  vec b[4], c[2];
  each (i, 4) b[i] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x20) + _mm256_permute2f128_ps(a[i], a[i + 4], 0x31);
  each (i, 2) c[i] = _mm256_shuffle_ps(b[2 * i], b[2 * i + 1], 0x44) + _mm256_shuffle_ps(b[2 * i], b[2 * i + 1], 0xee);
  return _mm256_shuffle_ps(c[0], c[1], 0x88) + _mm256_shuffle_ps(c[0], c[1], 0xdd);
}
#include "table.inc"

const struct lanes *lanes_real(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &lanes_avx2 : &lanes_counted;
}
#else
const struct lanes *lanes_real(void)
{ return &lanes_counted; }
#endif
