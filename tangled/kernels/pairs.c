/* pairs.c -- Linear layers with inputs rounded to bfloat16, two to a word.
   made from workshop/17-kernels.w; change it there

   The linear layers of floats once more, with a multiply-add that takes words apart;
   so lanes, panels, tiles and folds are the same code. */

#include "kernels/parts.h"
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq," \
  "avx512vl,avx512bf16,avx2,fma,f16c")))
#define WIDTH 16
#define TILE_ROWS 12
#define WORDS_ALONE
#include "kernels/lanes.inc"
INLINE vec fused(vec a, vec b, vec c)
{ return _mm512_dpbf16_ps(c, (__m512bh) a, (__m512bh) b); }

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
#include "kernels/linear.inc"

/* <Multiply pairs of bfloat16> */
static bool see_pairs(const struct matrix *w, struct matrix *pairs)
{
  *pairs = *w;
  pairs->weight.type = WEIGHT_F32, pairs->in = w->in / 2;
  /* an odd row would pair its end with the beginning of the next */
  return w->in % 2 == 0 && w->in > 0 && !w->transposed
    && w->weight.type == WEIGHT_BF16;
}

INLINE uint16_t rounded_half(float x)
{
  uint32_t u = num_bits32(x), quiet = u >> 16 | 0x40u;
  /* to the nearest, a half to the even one; a NaN must not become infinite */
  uint32_t near = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
  return (uint16_t) ((u & 0x7fffffffu) > 0x7f800000u ? quiet : near);
}

TARGET static void round_halves(const float *x, size_t n, uint16_t *to)
{
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (size_t j = 0; j < 16; j++) to[i + j] = rounded_half(x[i + j]);
  for (; i < n; i++) to[i] = rounded_half(x[i]);
}
#include "kernels/pairs_calls.inc"
#endif
