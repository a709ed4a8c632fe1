/* avx512.c -- made from workshop/34-kernels-body.w; change it there */

#include "kernels/kernels.h"
#include "functions/numbers.h"
#if defined __x86_64__
#include <immintrin.h>
#define NAME "avx512"
#define TABLE kernels_avx512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq," \
  "avx512vl,avx2,fma,f16c")))
#define WIDTH 16
#define TILE_ROWS 12
extern const struct kernels kernels_avx2;
#define NARROW kernels_avx2
#include "kernels/lanes.inc"

/* <Multiply-add and the rest, for AVX-512> */
INLINE vec fused(vec a, vec b, vec c)
{ return _mm512_fmadd_ps(a, b, c); }

/* <Spread, widen, choose and fold, for AVX-512> */
INLINE vec spread(float x)
{ return _mm512_set1_ps(x); }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  __m256i short_ones = _mm256_loadu_si256((const void *) h);
  if (type == WEIGHT_F16) return _mm512_cvtph_ps(short_ones);
  __m512i wide = _mm512_cvtepu16_epi32(short_ones);
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

INLINE vec i8_to_f32(const int8_t *small)
{
  __m128i few = _mm_loadu_si128((const void *) small);
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(few));
}

/* <Choose lanes and fold them, for AVX-512> */
INLINE vec blend(int n, vec a, vec b)
{ return _mm512_mask_blend_ps((__mmask16) ((1u << n) - 1), b, a); }
INLINE vec load_first(const void *p, int n)
{ return _mm512_maskz_loadu_ps((__mmask16) ((1u << n) - 1), p); }
INLINE vec fold_all(const vec *a)
{
  vec b[8], c[4], d[2];
  each (i, 8) {
    vec x = a[i % 4 + i / 4 * 8], y = a[i % 4 + i / 4 * 8 + 4];
    b[i] = _mm512_shuffle_f32x4(x, y, 0x44) + _mm512_shuffle_f32x4(x, y, 0xee);
  }
  each (i, 4) c[i] = _mm512_shuffle_f32x4(b[i], b[i + 4], 0x88)
    + _mm512_shuffle_f32x4(b[i], b[i + 4], 0xdd);
  each (i, 2) d[i] = _mm512_shuffle_ps(c[2 * i], c[2 * i + 1], 0x44)
    + _mm512_shuffle_ps(c[2 * i], c[2 * i + 1], 0xee);
  return _mm512_shuffle_ps(d[0], d[1], 0x88)
    + _mm512_shuffle_ps(d[0], d[1], 0xdd);
}
#include "kernels/bodies.inc"
#endif
