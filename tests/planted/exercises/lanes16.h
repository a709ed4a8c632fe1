/* lanes16.h -- sixteen lanes for a kernel of one's own.  With COUNT they are functions of the test, which counts them; the numbers
   in memory are then written in a way that only load16 reads.  Without it they are the instructions of AVX2. */
#include <math.h>
#include <stddef.h>
#include <string.h>
#ifdef COUNT
typedef struct { float lane[16]; } vec;
vec zero16(void), load16(const float *p), fused(vec a, vec b, vec c);
float fold(vec v);
#else
#include <immintrin.h>
#define INLINE static inline __attribute__((always_inline))
typedef struct { __m256 low, high; } vec;
INLINE vec zero16(void) { return (vec) { _mm256_setzero_ps(), _mm256_setzero_ps() }; }
INLINE vec load16(const float *p) { return (vec) { _mm256_loadu_ps(p), _mm256_loadu_ps(p + 8) }; }
INLINE vec fused(vec a, vec b, vec c) { return (vec) { _mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high) }; }
INLINE float fold(vec v)
{
  float a[16];
  memcpy(a, &v, sizeof a);
  for (int s = 8; s > 0; s /= 2) for (int j = 0; j < s; j++) a[j] += a[j + s];
  return a[0];
}
#endif
