/* numbers.h -- made from workshop/01-functions.w; change it there */

#ifndef INCIPIT_NUMBERS_H
#define INCIPIT_NUMBERS_H
#include <float.h>
#include <math.h>
#include <string.h>
#include "ground/ground.h"

/* <Where these functions run> */
#ifdef __CUDACC__
#define NUM_INLINE static __device__ inline
#define NUM_CALLED static __device__ __attribute__((unused))
#define NUM_PRIVATE static __device__
#define NUM_TABLE static __device__ const
#else
#define NUM_INLINE static inline __attribute__((always_inline))
#define NUM_CALLED
#define NUM_PRIVATE static
#define NUM_TABLE static const
#endif

/* <See a number as its bits, and bits as a number> */

/* the 32 bits of x */
NUM_INLINE uint32_t num_bits32(float x)
{
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

/* the number with the bits u */
NUM_INLINE float num_float(uint32_t u)
{
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* <The same two for double> */

/* the 64 bits of x */
NUM_INLINE uint64_t num_bits64(double x)
{
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

/* the number with the bits u */
NUM_INLINE double num_double(uint64_t u)
{
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* <Functions that are compiled into the loops that use them> */

/* <The exponential in float> */

/* e^x; 0 below about -104, infinite above about 88.7 */
NUM_INLINE float num_expf(float x)
{
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  float pushed = fmaf(x, 1.442695f, 12582912.0f);
  float n = pushed - 12582912.0f;
  float r = fmaf(n, -0.6931472f, x);
  r = fmaf(n, 1.9046542e-9f, r);
  /* <Let q be the polynomial of the exponential at r> */
  float q = 0.00019907638f;
  q = fmaf(q, r, 0.001393369f);
  q = fmaf(q, r, 0.008333286f);
  q = fmaf(q, r, 0.041666463f);
  q = fmaf(q, r, 0.16666667f);
  q = fmaf(q, r, 0.5f);
  float y = 1.0f + fmaf(r * r, q, r);
  /* <Return y times two to the n, in two steps> */
  uint32_t k = num_bits32(pushed) - 0x4b400000u + 300u;
  uint32_t half = k >> 1, rest = k - half;
  return y * num_float((half - 23u) << 23) * num_float((rest - 23u) << 23);
}

/* <The exponential in double> */

/* e^(x+t) for a t much smaller than the last place of 1 */
NUM_INLINE double num_exp_of_sum(double x, double tiny)
{
  x = x < -746.0 ? -746.0 : x;
  x = x > 710.0 ? 710.0 : x;
  double pushed = fma(x, 1.4426950408889634, 6755399441055744.0);
  double n = pushed - 6755399441055744.0;
  double r = fma(n, -0.6931471805599453, x);
  r = fma(n, -2.3190468138462996e-17, r) + tiny;
  /* <Let q be the longer polynomial at r> */
  double q = 2.0921625276615325e-09;
  q = fma(q, r, 2.5105260922590062e-08);
  q = fma(q, r, 2.755725280625021e-07);
  q = fma(q, r, 2.755725529422524e-06);
  q = fma(q, r, 2.480158734744942e-05);
  q = fma(q, r, 0.00019841269874904636);
  q = fma(q, r, 0.0013888888888874352);
  q = fma(q, r, 0.008333333333326112);
  q = fma(q, r, 0.041666666666666685);
  q = fma(q, r, 0.1666666666666667);
  q = fma(q, r, 0.5);
  double y = 1.0 + fma(r * r, q, r);
  uint64_t k = num_bits64(pushed) - 0x4338000000000000u + 2200u;
  uint64_t half = k >> 1, rest = k - half;
  return y * num_double((half - 77u) << 52) * num_double((rest - 77u) << 52);
}

/* e^x; 1 exactly for 0 */
NUM_INLINE double num_exp(double x)
{ return num_exp_of_sum(x, 0.0); }

/* <The hyperbolic tangent in float> */

/* hyperbolic tangent; odd, to the bit */
NUM_INLINE float num_tanhf(float x)
{
  float a = num_float(num_bits32(x) & 0x7fffffffu) * 2.0f;
  a = a > 20.0f ? 20.0f : a;
  float pushed = fmaf(a, 1.442695f, 12582912.0f);
  float n = pushed - 12582912.0f;
  float r = fmaf(n, -0.6931472f, a);
  r = fmaf(n, 1.9046542e-9f, r);
  float q = 0.00019907638f;
  q = fmaf(q, r, 0.001393369f);
  q = fmaf(q, r, 0.008333286f);
  q = fmaf(q, r, 0.041666463f);
  q = fmaf(q, r, 0.16666667f);
  q = fmaf(q, r, 0.5f);
  float p = fmaf(r * r, q, r);
  float power = num_float((num_bits32(pushed) - 0x4b400000u + 127u) << 23);
  float t = fmaf(power, p, power - 1.0f);
  float y = t / (t + 2.0f);
  return num_float(num_bits32(y) | (num_bits32(x) & 0x80000000u));
}

/* <The error function in float> */

/* the error function; odd, to the bit */
NUM_INLINE float num_erff(float x)
{
  float a = num_float(num_bits32(x) & 0x7fffffffu), z = a * a;
  /* <Let small be the polynomial for arguments below 1> */
  float s = 7.889119e-05f;
  s = fmaf(s, z, -0.0008020846f);
  s = fmaf(s, z, 0.0051895365f);
  s = fmaf(s, z, -0.026854446f);
  s = fmaf(s, z, 0.112836f);
  s = fmaf(s, z, -0.37612626f);
  s = fmaf(s, z, 0.12837917f);
  float small = fmaf(a, s, a);
  a = a > 4.0f ? 4.0f : a;
  /* <Let g be the exponent for arguments above 1> */
  float g = 2.168610e-05f;
  g = fmaf(g, a, -0.00044132717f);
  g = fmaf(g, a, 0.0042045144f);
  g = fmaf(g, a, -0.025208123f);
  g = fmaf(g, a, 0.10841836f);
  g = fmaf(g, a, 0.6332201f);
  g = fmaf(g, a, 1.1295784f);
  g = fmaf(g, a, -0.00018801549f);
  float large = 1.0f - num_expf(-g);
  uint32_t below = num_bits32(x) << 1 < 0x7f000000u ? 0xffffffffu : 0u;
  uint32_t y = (num_bits32(small) & below) | (num_bits32(large) & ~below);
  return num_float((y & 0x7fffffffu) | (num_bits32(x) & 0x80000000u));
}

/* <Widen the two short formats> */

/* the upper half of a binary32, widened exactly */
NUM_INLINE float num_from_bf16(uint16_t h)
{ return num_float((uint32_t) h << 16); }

/* IEEE binary16, widened exactly */
NUM_INLINE float num_from_f16(uint16_t h)
{
  uint32_t u = (h & 0x7fffu) << 13;
  uint32_t top = u >= 0x0f800000u ? 0x7f800000u : 0u;
  uint32_t v = num_bits32(num_float(u) * 0x1p112f) | top;
  return num_float(v | (h & 0x8000u) << 16);
}

/* <Functions that are called> */

/* natural logarithm; -infinity for 0, not a number below */
NUM_CALLED float num_logf(float x);

/* x^y with the special cases of C's annex F */
NUM_CALLED float num_powf(float x, float y);

/* sine of an angle in radians, however large */
NUM_CALLED float num_sinf(float x);

/* cosine of an angle in radians, however large */
NUM_CALLED float num_cosf(float x);

/* natural logarithm; -infinity for 0, not a number below */
NUM_CALLED double num_log(double x);

/* x^y with the special cases of C's annex F */
NUM_CALLED double num_pow(double x, double y);

/* sine of an angle in radians, however large */
NUM_CALLED double num_sin(double x);

/* cosine of an angle in radians, however large */
NUM_CALLED double num_cos(double x);

/* hyperbolic tangent */
NUM_CALLED double num_tanh(double x);

/* error function */
NUM_CALLED double num_erf(double x);

/* IEEE binary16, rounded to nearest even; infinite from 65520 on */
NUM_CALLED uint16_t num_to_f16(float x);

/* the upper half of a binary32, rounded to nearest even */
NUM_CALLED uint16_t num_to_bf16(float x);
#endif
