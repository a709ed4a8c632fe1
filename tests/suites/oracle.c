/* oracle.c -- design P2.1-P2.7 in the plainest loops, written from the text and not from the
   program. Includes no header of tangled/.  The functions of P2.7 are restated from the book's
   formulas: range reduction with two pieces of ln 2, the polynomial with its printed coefficients,
   the power of two by ldexp; logarithm and trigonometry come from the C library in long double,
   rounded once, and are only used where both must agree after rounding to float. */
#include "oracle.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- numbers as they are stored: by arithmetic on the fields, not by shifting bits */
/* blocks: the whole number |q|, the factor |d| and the summand |m| of number |i|, which is q*d + m */
struct parts {
  int q;
  float d, m;
};
static int bits_of(int byte, int first, int n)
{
  return byte / (1 << first) % (1 << n);
}
static float half_of(const unsigned char *b)
{
  return oracle_number(b, ORACLE_F16, 0);
}
static struct parts q4_k_parts(const unsigned char *b, int i)
{
  const unsigned char *six = b + 4, *q = b + 16;
  int j = i / 32, s, m, byte = q[i / 64 * 32 + i % 32];
  if (j < 4)
    s = bits_of(six[j], 0, 6), m = bits_of(six[j + 4], 0, 6);
  else
    s = bits_of(six[j + 4], 0, 4) + 16 * bits_of(six[j - 4], 6, 2),
    m = bits_of(six[j + 4], 4, 4) + 16 * bits_of(six[j], 6, 2);
  return (struct parts){ bits_of(byte, j % 2 * 4, 4), half_of(b) * (float) s,
    -(half_of(b + 2) * (float) m) };
}
static struct parts q6_k_parts(const unsigned char *b, int i)
{
  const unsigned char *low = b, *high = b + 128, *scale = b + 192;
  int n = i / 128, k = i / 32 % 4, l = i % 32, s = scale[8 * n + l / 16 + 2 * k];
  int q = bits_of(low[64 * n + l + 32 * (k % 2)], k / 2 * 4, 4)
    + 16 * bits_of(high[32 * n + l], 2 * k, 2);
  return (struct parts){ q - 32, half_of(b + 208) * (float) (s < 128 ? s : s - 256), 0 };
}
static struct parts q2_k_parts(const unsigned char *b, int i)
{
  int s = b[i / 16], byte = b[16 + i / 128 * 32 + i % 32];
  return (struct parts){ bits_of(byte, i / 32 % 4 * 2, 2), half_of(b + 80) * (float) bits_of(s, 0, 4),
    -(half_of(b + 82) * (float) bits_of(s, 4, 4)) };
}
static struct parts q3_k_parts(const unsigned char *b, int i)
{
  const unsigned char *six = b + 96;
  int j = i / 16, s = bits_of(six[j % 8], j < 8 ? 0 : 4, 4) + 16 * bits_of(six[8 + j % 4], j / 4 * 2, 2);
  int q = bits_of(b[32 + i / 128 * 32 + i % 32], i / 32 % 4 * 2, 2) - (bits_of(b[i % 32], i / 32, 1) ? 0 : 4);
  return (struct parts){ q, half_of(b + 108) * (float) (s - 32), 0 };
}
static struct parts q5_k_parts(const unsigned char *b, int i)
{
  unsigned char as_four[144];
  memcpy(as_four, b, 16), memcpy(as_four + 16, b + 48, 128);
  struct parts p = q4_k_parts(as_four, i);
  p.q += 16 * bits_of(b[16 + i % 32], i / 32, 1);
  return p;
}
static struct parts iq4_parts(const unsigned char *b, int type, int i)
{
  static const int curve[] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };
  int j = i / 32, s = bits_of(b[4 + j / 2], j % 2 * 4, 4) + 16 * bits_of(b[2 + j / 4], j % 4 * 2, 2) - 32;
  int byte = b[(type == ORACLE_IQ4_XS ? 8 + 16 * j : 2) + i % 16];
  return (struct parts){ curve[bits_of(byte, i % 32 < 16 ? 0 : 4, 4)],
    half_of(b) * (type == ORACLE_IQ4_XS ? (float) s : 1), 0 };
}
/* a sign, two bits of exponent, one of fraction, in halves; the scale is half of 2^(e-127) */
static struct parts mxfp4_parts(const unsigned char *b, int i)
{
  int four = bits_of(b[1 + i % 16], i / 16 * 4, 4), e = bits_of(four, 1, 2), one = four % 2;
  double halves = e == 0 ? one : ldexp(2 + one, e - 1);
  return (struct parts){ four < 8 ? (int) halves : -(int) halves, (float) ldexp(1, b[0] - 128), 0 };
}
static struct parts parts_of(const unsigned char *b, int type, int i)
{
  if (type == ORACLE_Q2_K) return q2_k_parts(b, i);
  if (type == ORACLE_Q3_K) return q3_k_parts(b, i);
  if (type == ORACLE_Q5_K) return q5_k_parts(b, i);
  if (type == ORACLE_MXFP4) return mxfp4_parts(b, i);
  if (type == ORACLE_IQ4_NL || type == ORACLE_IQ4_XS) return iq4_parts(b, type, i);
  if (type == ORACLE_Q4_K) return q4_k_parts(b, i);
  if (type == ORACLE_Q6_K) return q6_k_parts(b, i);
  struct parts p = { 0, half_of(b), 0 };
  if (type == ORACLE_Q8_0) {
    p.q = b[2 + i] < 128 ? b[2 + i] : b[2 + i] - 256;
    return p;
  }
  const unsigned char *rest = b + 2;
  if (type == ORACLE_Q4_1 || type == ORACLE_Q5_1) p.m = half_of(rest), rest += 2;
  if (type == ORACLE_Q5_0 || type == ORACLE_Q5_1)
    p.q = 16 * bits_of(rest[i / 8], i % 8, 1), rest += 4;
  p.q += bits_of(rest[i % 16], i / 16 * 4, 4);
  if (type == ORACLE_Q4_0) p.q -= 8;
  if (type == ORACLE_Q5_0) p.q -= 16;
  return p;
}
static size_t block_bytes(int type)
{
  static const size_t bytes[] = { 0, 0, 0, 34, 18, 20, 22, 24, 144, 210, 84, 110, 176, 18, 136, 17 };
  _Static_assert(sizeof bytes / sizeof *bytes == N_ORACLE_TYPES, "bytes of each type");
  return bytes[type];
}
static size_t block_length(int type)
{
  return type >= ORACLE_Q4_K && type != ORACLE_IQ4_NL && type != ORACLE_MXFP4 ? 256 : 32;
}
static int has_min(int type)
{
  return type == ORACLE_Q4_1 || type == ORACLE_Q5_1 || type == ORACLE_Q4_K || type == ORACLE_Q2_K || type == ORACLE_Q5_K;
}
float oracle_number(const void *data, int type, size_t i)
{
  if (type >= ORACLE_Q8_0) {
    struct parts b = parts_of((const unsigned char *) data + i / block_length(type) * block_bytes(type),
      type, (int) (i % block_length(type)));
    float product = b.d * (float) b.q;
    if (has_min(type)) product = product + b.m;
    return product;
  }
  const unsigned char *p = (const unsigned char *) data + i * (type == ORACLE_F32 ? 4 : 2);
  if (type == ORACLE_F32) {
    float x;
    memcpy(&x, p, 4);
    return x;
  }
  unsigned h = p[0] + 256u * p[1], sign = h / 32768;
  unsigned exponent = type == ORACLE_F16 ? h / 1024 % 32 : h / 128 % 256,
           fraction = type == ORACLE_F16 ? h % 1024 : h % 128;
  double top = type == ORACLE_F16 ? 1024 : 128, x;
  int bias = type == ORACLE_F16 ? 15 : 127;
  if (exponent == (type == ORACLE_F16 ? 31u : 255u))
    x = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    x = ldexp(fraction / top, 1 - bias);
  else
    x = ldexp(1 + fraction / top, (int) exponent - bias);
  return (float) (sign ? -x : x);
}

/* ---- P2.1 */
static float fold(float *a)
{
  for (int j = 0; j < 8; j++) a[j] = a[j] + a[j + 8];
  for (int j = 0; j < 4; j++) a[j] = a[j] + a[j + 4];
  for (int j = 0; j < 2; j++) a[j] = a[j] + a[j + 2];
  return a[0] + a[1];
}
static float dot16(const float *x, const float *w, size_t n)
{
  float a[16];
  for (int j = 0; j < 16; j++) a[j] = +0.0f;
  for (size_t k = 0; k < n; k++) a[k % 16] = fmaf(x[k], w[k], a[k % 16]);
  return fold(a);
}
static float sum16(const float *x, size_t n)
{
  float a[16];
  for (int j = 0; j < 16; j++) a[j] = +0.0f;
  for (size_t k = 0; k < n; k++) a[k % 16] = a[k % 16] + x[k];
  return fold(a);
}
void oracle_linear(const void *w, int type, int transposed, const void *bias, int bias_type,
  size_t in, size_t out, const float *x, size_t rows, float *y)
{
  float column[in + 1];
  for (size_t o = 0; o < out; o++) {
    for (size_t k = 0; k < in; k++)
      column[k] = oracle_number(w, type, transposed ? k * out + o : o * in + k);
    for (size_t r = 0; r < rows; r++) {
      float s = dot16(x + r * in, column, in);
      if (bias) s = s + oracle_number(bias, bias_type, o);
      y[r * out + o] = s;
    }
  }
}

/* ---- P2.2: x to bfloat16, nearest even, by arithmetic on the bits; both flushed on entry; the odd
   member of a pair first; what is left is flushed if it is tiny after rounding to 24 bits without a
   lower end, as FTZ does */
static float to_bf16(float x)
{
  uint32_t u;
  memcpy(&u, &x, 4);
  if (x != x) return x;
  uint32_t low = u % 65536, high = u / 65536;
  if (low > 32768 || (low == 32768 && high % 2 == 1)) high++;
  u = high * 65536;
  memcpy(&x, &u, 4);
  return x;
}
static float zero_if_tiny(float x)
{
  if (x > -0x1p-126f && x < 0x1p-126f) return signbit(x) ? -0.0f : 0.0f;
  return x;
}
static float bf16_step(float x, float w, float acc)
{
  x = zero_if_tiny(x), w = zero_if_tiny(w), acc = zero_if_tiny(acc);
  /* scaled by 2^64 nothing near the threshold is a denormal */
  if (fabsf(acc) < 1 && fabsf(x) < 0x1p30f && fabsf(w) < 0x1p30f && fabsf(x * w) < 1) {
    float larger = fabsf(x) > fabsf(w) ? x : w, smaller = larger == x ? w : x;
    float up = fmaf(smaller * 0x1p64f, larger, acc * 0x1p64f);
    if (fabsf(up) < 0x1p-62f) return signbit(up) ? -0.0f : 0.0f;
  }
  return fmaf(x, w, acc);
}
void oracle_linear_bf16(const void *w, int transposed, const void *bias, int bias_type, size_t in,
  size_t out, const float *x, size_t rows, float *y)
{
  for (size_t r = 0; r < rows; r++)
    for (size_t o = 0; o < out; o++) {
      float a[16];
      for (int j = 0; j < 16; j++) a[j] = +0.0f;
      for (size_t i = 0; 2 * i < in; i++)
        for (int odd = 1; odd >= 0; odd--) {
          size_t k = 2 * i + (size_t) odd;
          if (k < in)
            a[i % 16] = bf16_step(to_bf16(x[r * in + k]),
              oracle_number(w, ORACLE_BF16, transposed ? k * out + o : o * in + k), a[i % 16]);
        }
      float s = fold(a);
      if (bias) s = s + oracle_number(bias, bias_type, o);
      y[r * out + o] = s;
    }
}

/* ---- P2.3 */
static void to_bytes(const float *x, float *d, int *q)
{
  float amax = 0;
  int any_nan = 0;
  for (int i = 0; i < 32; i++) {
    if (x[i] != x[i]) any_nan = 1;
    if (fabsf(x[i]) > amax) amax = fabsf(x[i]);
  }
  if (any_nan) amax = NAN;
  /* x*(127/amax), two roundings, as if the exponent had no upper end */
  float inverse = amax == 0 ? 0 : amax < 1e-30f ? 127 / ldexpf(amax, 90) : 127 / amax;
  *d = amax / 127;
  for (int i = 0; i < 32; i++) {
    float z = (amax < 1e-30f ? ldexpf(x[i], 90) : x[i]) * inverse, near, rest;
    q[i] = 0;
    if (z != z) continue;
    if (z > 1000) z = 1000;
    if (z < -1000) z = -1000;
    near = floorf(z), rest = z - near;
    if (rest > 0.5f || (rest == 0.5f && fmodf(near, 2) != 0)) near += 1;
    q[i] = near > 127 ? 127 : near < -127 ? -127 : (int) near;
  }
}
void oracle_linear_int8(const void *w, int type, const void *bias, int bias_type, size_t in,
  size_t out, const float *x, size_t rows, float *y)
{
  size_t length = block_length(type), group = type == ORACLE_Q6_K || type == ORACLE_Q2_K || type == ORACLE_Q3_K ? 16 : 32;
  for (size_t r = 0; r < rows; r++)
    for (size_t o = 0; o < out; o++) {
      float acc = +0.0f;
      for (size_t k = 0; k < in; k += group) {
        float dx;
        int q[32], isum = 0, xsum = 0;
        to_bytes(x + r * in + k / 32 * 32, &dx, q);
        struct parts b = { 0 };
        for (size_t i = k; i < k + group; i++) {
          const unsigned char *from = (const unsigned char *) w
            + (o * in + i) / length * block_bytes(type);
          b = parts_of(from, type, (int) (i % length));
          isum += b.q * q[i % 32], xsum += q[i % 32];
        }
        float one = b.d * dx, other = b.m * dx;
        acc = fmaf((float) isum, one, acc);
        if (has_min(type)) acc = fmaf((float) xsum, other, acc);
      }
      if (bias) acc = acc + oracle_number(bias, bias_type, o);
      y[r * out + o] = acc;
    }
}

/* ---- P2.5 */
void oracle_rmsnorm(
  const float *x, size_t rows, size_t d, const void *gain, int type, float epsilon, float *y)
{
  for (size_t r = 0; r < rows; r++) {
    float mean = dot16(x + r * d, x + r * d, d) / (float) d;
    float under = mean + epsilon, root = sqrtf(under), scale = 1.0f / root;
    for (size_t i = 0; i < d; i++) {
      float z = x[r * d + i] * scale;
      y[r * d + i] = gain ? z * oracle_number(gain, type, i) : z;
    }
  }
}
void oracle_layernorm(const float *x, size_t rows, size_t d, const void *gain, const void *bias,
  int type, float epsilon, float *y)
{
  float c[d + 1];
  for (size_t r = 0; r < rows; r++) {
    float mean = sum16(x + r * d, d) / (float) d;
    for (size_t i = 0; i < d; i++) c[i] = x[r * d + i] - mean;
    float variance = dot16(c, c, d) / (float) d;
    float under = variance + epsilon, root = sqrtf(under), scale = 1.0f / root;
    for (size_t i = 0; i < d; i++) {
      float z = c[i] * scale, g = gain ? oracle_number(gain, type, i) : 1.0f;
      if (bias)
        y[r * d + i] = fmaf(z, g, oracle_number(bias, type, i));
      else
        y[r * d + i] = z * g;
    }
  }
}
void oracle_rope(float *x, size_t rows, size_t heads, size_t half, const uint32_t *position,
  const float *frequency, float scaling)
{
  for (size_t r = 0; r < rows; r++)
    for (size_t h = 0; h < heads; h++)
      for (size_t i = 0; i < half; i++) {
        float p = (float) position[r], angle = p * frequency[i];
        float c = (float) cosl((long double) angle), s = (float) sinl((long double) angle);
        c = c * scaling, s = s * scaling;
        float *a = &x[((r * heads + h) * 2) * half + i], *b = a + half, x0 = *a, x1 = *b;
        float m = x1 * s, n = x1 * c;
        *a = fmaf(x0, c, -m);
        *b = fmaf(x0, s, n);
      }
}

/* ---- P2.4; with sinks a row sees the first positions besides */
#define UNSEEN(t) ((t) >= hi[r] || ((t) < lo[r] && (t) >= sinks[r]))
void oracle_attention(const float *q, size_t rows, size_t heads, size_t n_kv, size_t d, float scale,
  const void *k, const void *v, int type, const uint32_t *lo, const uint32_t *hi,
  const uint32_t *sinks, const float *sink, float *y, float *weights, size_t stride)
{
  size_t end = 0;
  for (size_t r = 0; r < rows; r++)
    if (hi[r] > end) end = hi[r];
  size_t blocks = end / 256 + 1;
  float s[end + 1], e[end + 1], m[blocks], l[blocks], key[d + 1], o[blocks][d + 1];
  int any[blocks];
  for (size_t r = 0; r < rows; r++)
    for (size_t h = 0; h < heads; h++) {
      const float *query = q + (r * heads + h) * d;
      size_t kv = h / (heads / n_kv);
      float top = sink ? sink[h] : -INFINITY;
      for (size_t b = 0; b < blocks; b++) {
        float lane[16] = { 0 };
        any[b] = 0;
        m[b] = -INFINITY;
        for (size_t t = b * 256; t < b * 256 + 256; t++) {
          if (UNSEEN(t)) continue;
          for (size_t i = 0; i < d; i++) key[i] = oracle_number(k, type, (t * n_kv + kv) * d + i);
          s[t] = dot16(query, key, d) * scale;
          if (s[t] > m[b]) m[b] = s[t];
          any[b] = 1;
        }
        if (!any[b]) continue;
        if (m[b] < -FLT_MAX) m[b] = -FLT_MAX; /* nothing but -inf, or what is no number */
        for (size_t i = 0; i < d; i++) o[b][i] = +0.0f;
        for (size_t t = b * 256; t < b * 256 + 256; t++) {
          if (UNSEEN(t)) continue;
          e[t] = oracle_expf(s[t] - m[b]);
          lane[t % 16] = lane[t % 16] + e[t];
          for (size_t i = 0; i < d; i++)
            o[b][i] = fmaf(e[t], oracle_number(v, type, (t * n_kv + kv) * d + i), o[b][i]);
        }
        l[b] = fold(lane);
        if (m[b] > top) top = m[b];
      }
      float sum = sink && !(sink[h] <= -INFINITY) ? oracle_expf(sink[h] - top) : 0, *out = y + (r * heads + h) * d;
      for (size_t i = 0; i < d; i++) out[i] = 0;
      for (size_t b = 0; b < blocks; b++) {
        float w = oracle_expf(m[b] - top);
        if (!any[b]) continue;
        sum = fmaf(l[b], w, sum);
        for (size_t i = 0; i < d; i++) out[i] = fmaf(o[b][i], w, out[i]);
      }
      for (size_t i = 0; i < d; i++) out[i] = out[i] / sum;
      for (size_t t = 0; weights && t < stride; t++)
        weights[(r * heads + h) * stride + t] =
          UNSEEN(t) ? 0 : e[t] * oracle_expf(m[t / 256] - top) / sum;
    }
}
#undef UNSEEN

/* ---- activations: as written, from the inside out */
void oracle_gelu_tanh(const float *x, size_t n, float *y)
{
  for (size_t i = 0; i < n; i++) {
    float square = x[i] * x[i], cube = square * x[i], inner = fmaf(0.044715f, cube, x[i]);
    float t = oracle_tanhf(0.7978846f * inner), one = 1.0f + t, half = 0.5f * x[i];
    y[i] = half * one;
  }
}
void oracle_gelu_erf(const float *x, size_t n, float *y)
{
  for (size_t i = 0; i < n; i++) {
    float scaled = x[i] * 0.70710677f, t = oracle_erff(scaled), one = 1.0f + t, half = 0.5f * x[i];
    y[i] = half * one;
  }
}
void oracle_silu(const float *x, size_t n, float *y)
{
  for (size_t i = 0; i < n; i++) {
    float below = 1.0f + oracle_expf(-x[i]);
    y[i] = x[i] / below;
  }
}

/* ---- P2.6 */
static double sum_exp(const float *x, size_t n, double max)
{
  double a[16] = { 0 };
  for (size_t i = 0; i < n; i++) {
    double d = (double) x[i] - max;
    a[i % 16] = a[i % 16] + oracle_exp(d);
  }
  for (int s = 8; s >= 1; s /= 2)
    for (int j = 0; j < s; j++) a[j] = a[j] + a[j + s];
  return a[0];
}
static double greatest(const float *x, size_t n)
{
  double max = -INFINITY;
  for (size_t i = 0; i < n; i++)
    if (x[i] > max) max = x[i];
  return max;
}
void oracle_log_softmax(const float *x, size_t n, double *y)
{
  double max = greatest(x, n), log_sum = oracle_log(sum_exp(x, n, max));
  for (size_t i = 0; i < n; i++) {
    double d = (double) x[i] - max;
    y[i] = d - log_sum;
  }
}
void oracle_softmax(const float *x, size_t n, double *y)
{
  double max = greatest(x, n), sum = sum_exp(x, n, max);
  for (size_t i = 0; i < n; i++) {
    double d = (double) x[i] - max;
    y[i] = oracle_exp(d) / sum;
  }
}

/* ---- P2.7 */
static const float e_float[6] = { 0.5f, 0.16666667f, 0.041666463f, 0.008333286f, 0.001393369f,
  0.00019907638f };
static float parts_of_exp(float x, float *n)
{
  double exact = (double) x * (double) 1.442695f;
  *n = (float) rint(exact);
  float r = fmaf(*n, -0.6931472f, x), q = e_float[5];
  r = fmaf(*n, 1.9046542e-9f, r);
  for (int i = 4; i >= 0; i--) q = fmaf(q, r, e_float[i]);
  float square = r * r;
  return fmaf(square, q, r);
}
float oracle_expf(float x)
{
  float n;
  if (x < -104.0f) x = -104.0f;
  if (x > 89.0f) x = 89.0f;
  if (x != x) return x;
  float y = 1.0f + parts_of_exp(x, &n);
  return ldexpf(y, (int) n);
}
float oracle_tanhf(float x)
{
  float n, a = fabsf(x) * 2.0f;
  if (x != x) return x;
  if (a > 20.0f) a = 20.0f;
  float p = parts_of_exp(a, &n), power = ldexpf(1.0f, (int) n), less = power - 1.0f,
        t = fmaf(power, p, less), more = t + 2.0f;
  return copysignf(t / more, x);
}
float oracle_erff(float x)
{
  static const float near_zero[7] = { 0.12837917f, -0.37612626f, 0.112836f, -0.026854446f,
    0.0051895365f, -0.0008020846f, 7.889119e-05f };
  static const float exponent[8] = { -0.00018801549f, 1.1295784f, 0.6332201f, 0.10841836f,
    -0.025208123f, 0.0042045144f, -0.00044132717f, 2.168610e-05f };
  float a = fabsf(x), z = a * a;
  if (x != x) return x;
  if (a < 1.0f) {
    float s = near_zero[6];
    for (int i = 5; i >= 0; i--) s = fmaf(s, z, near_zero[i]);
    return copysignf(fmaf(a, s, a), x);
  }
  if (a > 4.0f) a = 4.0f;
  float g = exponent[7];
  for (int i = 6; i >= 0; i--) g = fmaf(g, a, exponent[i]);
  float tail = oracle_expf(-g);
  return copysignf(1.0f - tail, x);
}
double oracle_exp(double x)
{
  static const double c[11] = { 0.5, 0.1666666666666667, 0.041666666666666685, 0.008333333333326112,
    0.0013888888888874352, 0.00019841269874904636, 2.480158734744942e-05, 2.755725529422524e-06,
    2.755725280625021e-07, 2.5105260922590062e-08, 2.0921625276615325e-09 };
  if (x < -746.0) x = -746.0;
  if (x > 710.0) x = 710.0;
  if (x != x) return x;
  /* the whole number nearest to the product, which an fma compares with each half exactly; of two the even one */
  double log2_e = 1.4426950408889634, n = floor(x * log2_e) - 1, past;
  while ((past = fma(x, log2_e, -(n + 0.5))) > 0 || (past == 0 && fmod(n, 2) != 0)) n = n + 1;
  double r = fma(n, -0.6931471805599453, x), q = c[10];
  r = fma(n, -2.3190468138462996e-17, r);
  for (int i = 9; i >= 0; i--) q = fma(q, r, c[i]);
  double square = r * r, y = 1.0 + fma(square, q, r);
  return ldexp(y, (int) n);
}
double oracle_log(double x)
{
  static const double c[8] = { 0.6666666666666666, 0.4000000000000089, 0.28571428570794766,
    0.22222222393604002, 0.18181795448247662, 0.15386249682350017, 0.13268516254636384,
    0.1308921949868944 };
  int e;
  double m = frexp(x, &e);
  if (m < 0.7071067811865476) m = m * 2, e = e - 1;
  double f = m - 1, d = m + 1, dropped = m - (d - 1), s = f / d;
  double remainder = fma(-s, d, f), low = fma(-s, dropped, remainder) / d;
  double z = s * s, p = c[7], k = e;
  for (int i = 6; i >= 0; i--) p = fma(p, z, c[i]);
  double a = k * 0.6931471805598903, b = 2 * s, sum = a + b, left = a - sum, rest = left + b,
         cube = s * z;
  rest = rest + fma(cube, p, 2 * low);
  return sum + fma(k, 5.497923018708371e-14, rest);
}
