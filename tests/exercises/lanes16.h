/* lanes16.h -- sixteen lanes for a kernel of one's own.  With COUNT each load and each multiply-add is counted; without it they are
   the instructions of AVX2. */
#include <math.h>
#include <stddef.h>
#include <string.h>
#define INLINE static inline __attribute__((always_inline))
static unsigned long long loads, madds;
#ifdef COUNT
typedef struct { float lane[16]; } vec;
INLINE vec zero16(void) { return (vec) { { 0 } }; }
INLINE vec load16(const float *p) { vec v; loads++; memcpy(&v, p, sizeof v); return v; }
INLINE vec fused(vec a, vec b, vec c) { madds++; for (int j = 0; j < 16; j++) c.lane[j] = fmaf(a.lane[j], b.lane[j], c.lane[j]); return c; }
#else
#include <immintrin.h>
typedef struct { __m256 low, high; } vec;
INLINE vec zero16(void) { return (vec) { _mm256_setzero_ps(), _mm256_setzero_ps() }; }
INLINE vec load16(const float *p) { return (vec) { _mm256_loadu_ps(p), _mm256_loadu_ps(p + 8) }; }
INLINE vec fused(vec a, vec b, vec c) { return (vec) { _mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high) }; }
#endif
INLINE float fold(vec v)
{
  float a[16];
  memcpy(a, &v, sizeof a);
  for (int s = 8; s > 0; s /= 2) for (int j = 0; j < s; j++) a[j] += a[j + s];
  return a[0];
}
