/* vnni.c -- linear layers of blocks and bytes, with the head for AVX-512 and one instruction more, VPDPBUSD.

   AVX512-VNNI came later than AVX-512, so a processor may lack it, and this is a file of its own; of that
   head it has only what blocks.inc needs. */

#include "kernels/parts.h"
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq," \
  "avx512vl,avx512vnni,avx2,fma,f16c")))
#define WIDTH 16
#define VNNI
#include "kernels/lanes.inc"
INLINE vec fused(vec a, vec b, vec c)
{ return _mm512_fmadd_ps(a, b, c); }
INLINE vec spread(float x)
{ return _mm512_set1_ps(x); }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  (void) type; /* always WEIGHT_F16 here */
  return _mm512_cvtph_ps(_mm256_loadu_si256((const void *) h));
}
#include "kernels/blocks.inc"
const struct linear_kernels blocks_vnni = { int8_linear, int8_room,
  int8_bytes, int8_prepare };
#endif
