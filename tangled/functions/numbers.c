/* numbers.c -- Functions of numbers whose bits are the same on every machine.
   made from workshop/01-functions.w; change it there

   The C library's exp, log, sin and their kin differ between systems in the last bit;
   these do not. They use nothing but operations that IEEE 754 rounds in one way, fma
   among them, in a fixed order: change no order, and let no compiler contract or
   reorder (see ground.h). What is used in loops over many numbers is inline in
   numbers.h; here is what is called. Functions of float are computed in double and
   rounded once. */

#include "functions/numbers.h"

/* <Coefficients of the error function> */
NUM_TABLE double near_zero[13] = { 0.1283791670955126,
  -0.3761263890318375, 0.11283791670954885, -0.026866170645077875,
  0.005223977624828431, -0.0008548326981425542, 0.0001205533113295582,
  -1.4925595772180906e-05, 1.64610084778027e-06, -1.6350396222864617e-07,
  1.466032872274226e-08, -1.137495573607015e-09, 5.960685338520971e-11 };
NUM_TABLE double far_out[15] = { 1.2530080582697296, -0.1356211061245808,
  -0.04756229435348483, 0.12964515870168167, -0.11927366342599195,
  0.06830802735463042, -0.023770513726954084, 0.0025294041906958912,
  0.0018887579716481701, -0.0007796153229701539, -0.00010480741267096996,
  0.00012497748414954833, 2.9325597703315207e-06, -2.4882027595308854e-05,
  -6.512716156202709e-06 };

/* <Coefficients of the logarithm> */
NUM_TABLE double artanh[8] = { 0.6666666666666666, 0.4000000000000089,
  0.28571428570794766, 0.22222222393604002, 0.18181795448247662,
  0.15386249682350017, 0.13268516254636384, 0.1308921949868944 };
NUM_TABLE double beyond[8] = { 0.4, 0.2857142857142938,
  0.22222222221648177, 0.18181818337034797, 0.15384594796273687,
  0.13334813318194078, 0.11706014853795696, 0.11725409813239257 };

/* <Coefficients of sine and cosine> */
NUM_TABLE double sine_terms[7] = { -0.16666666666666666,
  0.008333333333333331, -0.00019841269841265044, 2.755731921932218e-06,
  -2.5052106226493628e-08, 1.605853066848744e-10,
  -7.586640759739923e-13 };
NUM_TABLE double cosine_terms[7] = { 0.041666666666666664,
  -0.0013888888888888887, 2.4801587301584635e-05, -2.755731922139329e-07,
  2.0876755787742277e-09, -1.1470460355137536e-11,
  4.745840351316594e-14 };

/* <The digits of two over pi> */
NUM_TABLE uint32_t two_over_pi[40] = { 0, 0,
  0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
  0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
  0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
  0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
  0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
  0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
  0x56033046, 0xfc7b6bab };

/* <Evaluate a polynomial> */

/* From the highest power down, so that the large coefficients come last; one fma a
   step, in this order on every machine. */
NUM_PRIVATE double series(double z, const double *c, int n)
{
  double y = c[n - 1];
  for (int i = n - 2; i >= 0; i--) y = fma(y, z, c[i]);
  return y;
}

/* <Tangent and error function in double> */

/* t is e^2x - 1, and is never made by subtracting from e^2x, which would cancel for
   small x: it is put together from 2^n - 1 and 2^n p. Beyond 40 the quotient is 1 in
   any case. */
NUM_CALLED double num_tanh(double x)
{
  double a = fabs(x) * 2.0;
  if (a > 40.0) a = 40.0;
  double pushed = fma(a, 1.4426950408889634, 6755399441055744.0);
  double n = pushed - 6755399441055744.0;
  double r = fma(n, -0.6931471805599453, a);
  r = fma(n, -2.3190468138462996e-17, r);
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
  double p = fma(r * r, q, r);
  uint64_t k = num_bits64(pushed) - 0x4338000000000000u;
  double power = num_double((k + 1023u) << 52);
  double t = fma(power, p, power - 1.0);
  return copysign(t / (t + 2.0), x);
}

/* <The error function in double> */

/* Near zero a polynomial of its own keeps all digits of a small result; beyond 6 the
   result is 1. Between, the polynomial is fitted to what hardly varies, not to the
   tail itself. */
NUM_CALLED double num_erf(double x)
{
  double a = fabs(x);
  if (!(a < 6.0)) return x != x ? x : copysign(1.0, x);
  if (a < 1.0) return fma(x, series(x * x, near_zero, 13), x);
  double u = (a - 3.0) / (a + 3.0);
  double tail = num_exp(-a * a) * series(u, far_out, 15) / fma(2.0, a, 1.0);
  return copysign(1.0 - tail, x);
}

/* <The logarithm in double> */

/* Added from the large to the small, and the first sum keeps its remainder. The first
   part of ln 2 ends with so many zeros that its product with k is exact; the last
   line has the rest of it. */
NUM_CALLED double num_log(double x)
{
  if (x == 0) return -INFINITY;
  if (x < 0) return NAN;
  if (x != x || x == INFINITY) return x;
  /* <Split x into m and a power of two, k> */
  double k = 0;
  if (x < 0x1p-1022) x *= 0x1p54, k = -54;
  uint64_t u = num_bits64(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  k += (double) (u >> 52) - 1023;
  double m = num_double((u & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
  /* <Let s + low be the quotient for m> */
  double f = m - 1.0, d = m + 1.0, dropped = m - (d - 1.0);
  double s = f / d;
  double low = fma(-s, dropped, fma(-s, d, f)) / d;
  double z = s * s, a = k * 0.6931471805598903, b = 2 * s;
  double sum = a + b, rest = (a - sum) + b;
  rest += fma(s * z, series(z, artanh, 8), 2 * low);
  return sum + fma(k, 5.497923018708371e-14, rest);
}

/* <The power of a positive number> */

/* An error in the logarithm is multiplied by y and becomes a relative error of the
   result: so the logarithm is a sum of two doubles here, high + rest. Beyond 800 the
   answer is known, and an infinite product must not meet its own remainder. */
NUM_PRIVATE double positive_power(double x, double y)
{
  if (x == 1.0) return 1.0;
  if (x == 0.0 || x == INFINITY || fabs(y) == INFINITY)
    return (x > 1.0) == (y > 0.0) ? INFINITY : 0.0;
  /* <The logarithm of x as high + rest> */
  double k = 0;
  if (x < 0x1p-1022) x *= 0x1p54, k = -54;
  uint64_t u = num_bits64(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  k += (double) (u >> 52) - 1023;
  double m = num_double((u & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
  double f = m - 1.0, d = m + 1.0, dropped = m - (d - 1.0);
  double s = f / d;
  double low = fma(-s, dropped, fma(-s, d, f)) / d;
  double z = s * s, z_low = fma(2 * s, low, fma(s, s, -z));
  double c = z * s, c_low = fma(z, s, -c) + fma(z_low, s, z * low);
  double third = 0.6666666666666666, t = c * third;
  double t_low = fma(c, third, -t) + fma(c, 3.700743415417188e-17, c_low * third);
  double a = k * 0.6931471805598903, b = 2 * s;
  double ab = a + b, ab_low = (a - ab) + b;
  double abt = ab + t, rest = (ab - abt) + t;
  rest += ab_low + (t_low + 2 * low);
  rest += fma(c * z, series(z, beyond, 8), k * 5.497923018708371e-14);
  double high = abt + rest;
  rest = (abt - high) + rest;
  double p = y * high;
  if (p > 800.0) return INFINITY;
  if (p < -800.0) return 0.0;
  return num_exp_of_sum(p, fma(y, high, -p) + y * rest);
}

/* <The power in double> */

/* The special cases are those of C's annex F, in its order: x^0 is 1 even if x is not
   a number. */
NUM_CALLED double num_pow(double x, double y)
{
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  bool negative = num_bits64(x) >> 63 != 0, whole = y == rint(y);
  bool odd = whole && y / 2 != rint(y / 2);
  if (negative && x != 0.0 && x != -INFINITY && !whole && fabs(y) != INFINITY)
    return NAN;
  double magnitude = positive_power(fabs(x), y);
  return negative && odd ? -magnitude : magnitude;
}

/* <Reduce x to y + low in a quadrant> */

/* One method for angles of all sizes, after Payne and Hanek: of two over pi only the
   bits are multiplied that matter for this exponent. Whole turns are dropped before
   they are computed. A negative angle is reduced as a positive one and turned back. */
NUM_PRIVATE unsigned reduce(double x, double *y, double *low)
{
  *y = x, *low = 0;
  if (fabs(x) <= 0.7853981633974483) return 0;
  double sign = x < 0 ? -1.0 : 1.0;
  x = fabs(x);
  /* <Multiply the window of two over pi by M> */
  uint64_t u = num_bits64(x);
  uint64_t M = (u & 0xfffffffffffffu) | 0x10000000000000u;
  unsigned skip = (unsigned) (u >> 52 & 0x7ff) - 1075 - 2 + 64;
  uint32_t w[6], r[6];
  for (unsigned i = 0; i < 6; i++) {
    const uint32_t *d = &two_over_pi[skip / 32 + i];
    w[i] = (uint32_t) (((uint64_t) d[0] << 32 | d[1]) >> (32 - skip % 32));
  }
  uint64_t carry = 0;
  for (int i = 5; i >= 0; i--, carry >>= 32)
    carry += (M & 0xffffffff) * w[i], r[i] = (uint32_t) carry;
  carry = 0;
  for (int i = 5; i > 0; i--, carry >>= 32)
    carry += (M >> 32) * w[i] + r[i - 1], r[i - 1] = (uint32_t) carry;
  /* <Take the quadrant off, and let g + g_low be the rest> */
  unsigned quadrant = r[0] >> 30;
  for (int i = 0; i < 5; i++) r[i] = r[i] << 2 | r[i + 1] >> 30;
  double first = (double) r[0];
  if (r[0] >> 31 != 0) quadrant++, first -= 0x1p32;
  first *= 0x1p-32;
  double second = (double) r[1] * 0x1p-64, third = (double) r[2] * 0x1p-96;
  double fourth = (double) r[3] * 0x1p-128;
  double g = ((fourth + third) + second) + first;
  double g_low = ((first - g) + second) + third + fourth;
  double p = g * 1.5707963267948966;
  double p_low = fma(g, 1.5707963267948966, -p)
    + fma(g, 6.123233995736766e-17, g_low * 1.5707963267948966);
  *y = sign * p, *low = sign * p_low;
  return sign < 0 ? 4 - quadrant % 4 : quadrant;
}

/* <Sine and cosine within a quadrant> */
NUM_PRIVATE double sine(double y, double low)
{
  double z = y * y, p = series(z, sine_terms, 7);
  return y + fma(y * z, p, fma(-0.5 * z, low, low));
}

/* 1 - z/2 is rounded, and what that lost is added again; low enters by the first term
   of Taylor's series, as in sine. */
NUM_PRIVATE double cosine(double y, double low)
{
  double z = y * y, p = series(z, cosine_terms, 7);
  double head = fma(-0.5, z, 1.0), lost = fma(-0.5, z, 1.0 - head);
  return head + (lost + fma(z * z, p, -y * low));
}

/* <Sine and cosine in double> */

/* Infinity is caught first, because the reduction would find an answer for it. */
NUM_PRIVATE double turned(double x, unsigned turn)
{
  double y, low;
  if (!(fabs(x) < INFINITY)) return x - x;
  unsigned quadrant = (reduce(x, &y, &low) + turn) % 4;
  double value = quadrant % 2 == 0 ? sine(y, low) : cosine(y, low);
  return quadrant >= 2 ? -value : value;
}

NUM_CALLED double num_sin(double x)
{ return fabs(x) < 0x1p-27 ? x : turned(x, 0); }
NUM_CALLED double num_cos(double x)
{ return turned(x, 1); }

/* <Those in float that are rounded from double> */
NUM_CALLED float num_logf(float x)
{ return (float) num_log((double) x); }
NUM_CALLED float num_powf(float x, float y)
{ return (float) num_pow((double) x, (double) y); }
NUM_CALLED float num_sinf(float x)
{ return (float) num_sin((double) x); }
NUM_CALLED float num_cosf(float x)
{ return (float) num_cos((double) x); }

/* <Narrow to the two short formats> */

/* To the nearest, from the middle to the even neighbour: a carry runs into the
   exponent, where it belongs. What is not a number keeps a bit that says so, which
   cutting might lose. */
NUM_CALLED uint16_t num_to_bf16(float x)
{
  uint32_t u = num_bits32(x);
  if (x != x) return (uint16_t) (u >> 16 | 0x40u);
  return (uint16_t) ((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

/* <Narrow to binary16> */

/* As above, with the exponent moved. Below the normal range the numbers are multiples
   of 2^-24, the last place of a float between 1/2 and 1: so adding 1/2 rounds there. */
NUM_CALLED uint16_t num_to_f16(float x)
{
  uint32_t u = num_bits32(x), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (x != x) return (uint16_t) (sign | 0x7e00u);
  if (u >= 0x477ff000u) return (uint16_t) (sign | 0x7c00u);
  if (u < 0x38800000u)
    return (uint16_t) (sign | (num_bits32(num_float(u) + 0.5f) - 0x3f000000u));
  u = u - 0x38000000u + 0xfffu + (u >> 13 & 1u);
  return (uint16_t) (sign | u >> 13);
}
