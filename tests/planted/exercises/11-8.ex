==== check
# a kernel of one's own: the bits of the plain one, at most 0.9 loads for each multiply-add of sixteen lanes, each multiply-add once,
# and, where there is AVX2, a tenth of the rate of the probe
wrapped -Itests/planted/exercises -DCOUNT
if grep -q avx2 /proc/cpuinfo 2> /dev/null; then
  object $work/answer.c $work/fast.o -O3 -mavx2 -mfma -Wno-psabi -Itests/planted/exercises -Itangled -Iunwoven
  objects="$objects $work/fast.o" also=-DFAST
fi
lent="zero16 load16 fused fold"
says_like_ours --seconds 20
==== head
#include "lanes16.h"
==== tail
#ifdef COUNT
void ex_counted(const float *x, const float *w, size_t in, size_t out, size_t rows, float *y)
#else
void ex_fast(const float *x, const float *w, size_t in, size_t out, size_t rows, float *y)
#endif
{ multiply(x, w, in, out, rows, y); }
==== test
#include "exercise.h"
#include "kernels/kernels.h"
#include "ground/timing.h"
void ex_counted(const float *x, const float *w, size_t in, size_t out, size_t rows, float *y);
void ex_fast(const float *x, const float *w, size_t in, size_t out, size_t rows, float *y);
enum { SIZES = 30, MOST = 768 * 512 };
static float x[768 * 96], w[MOST], y[512 * 96];
#ifndef OURS
typedef struct { float lane[16]; } vec;
vec zero16(void), load16(const float *p), fused(vec a, vec b, vec c);
float fold(vec v);
static uint64_t key;
static unsigned long long loads, madds;
static uint32_t seal(const float *p)
{
  uint64_t z = key + (uintptr_t) p * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return (uint32_t) (z >> 29);
}
static void write_sealed(float *p, size_t n)
{
  for (size_t i = 0; i < n; i++) { uint32_t b; memcpy(&b, p + i, 4), b ^= seal(p + i), memcpy(p + i, &b, 4); }
}
vec zero16(void) { return (vec) { { 0 } }; }
vec load16(const float *p) { vec v; loads++, memcpy(&v, p, sizeof v); for (int j = 0; j < 16; j++) { uint32_t b; memcpy(&b, v.lane + j, 4), b ^= seal(p + j), memcpy(v.lane + j, &b, 4); } return v; }
vec fused(vec a, vec b, vec c) { madds++; for (int j = 0; j < 16; j++) c.lane[j] = fmaf(a.lane[j], b.lane[j], c.lane[j]); return c; }
float fold(vec v) { for (int s = 8; s > 0; s /= 2) for (int j = 0; j < s; j++) v.lane[j] += v.lane[j + s]; return v.lane[0]; }
#endif
static void test(unsigned size)
{
  size_t in = 16 * (1 + draw(9)), out = 1 + draw(40), rows = 1 + draw(20); float *to = y;
  if (size == SIZES - 1) in = 64, out = rows = 96;
  if (size == SIZES) in = 768, out = 512, rows = 96;
  tell("%zu inputs, %zu outputs, %zu rows", in, out, rows);
  for (size_t i = 0; i < in * rows; i++) x[i] = draw_float();
  for (size_t i = 0; i < in * out; i++) w[i] = draw_float();
#ifdef OURS
  struct engine e = { .k = &kernels_plain };
  struct matrix m = { .weight = { w, WEIGHT_F32 }, .in = in, .out = out };
  e.k->linear(&e, &m, 1, x, rows, &to);
#elif defined FAST
  if (size == SIZES) ex_fast(x, w, in, out, rows, y);
#endif
#ifndef OURS
  if (size < SIZES) {
    key = fresh(), loads = madds = 0;
    write_sealed(x, in * rows), write_sealed(w, in * out);
    ex_counted(x, w, in, out, rows, to);
  }
#else
  (void) fresh();
#endif
#ifndef FAST
  if (size == SIZES) return;
#endif
  say("bits: %llx", (unsigned long long) hash_of(y, out * rows * sizeof *y));
  if (size < SIZES) say("multiply-adds of sixteen lanes: %llu", OF(madds, (unsigned long long) (in / 16 * out * rows)));
  if (size == SIZES - 1) say_most("loads-for-each-multiply-add", OF((double) loads / (double) madds, 0.9), 1);
#ifdef FAST
  if (size < SIZES) return;
  double best = 1, roof = 1;
#ifndef OURS
  const struct kernels *k = kernels_find("avx2", NULL);
  best = roof = 0;
  for (int t = 0; t < 7 && k != NULL; t++) {
    float left; double a = timing_seconds(), n = (double) k->probe_flops(1 << 24, &left), b = timing_seconds();
    ex_fast(x, w, in, out, rows, y);
    double c = timing_seconds();
    roof = fmax(roof, n / (b - a)), best = fmax(best, 768.0 * 512 * 96 / (c - b));
  }
#endif
  say_least("share-of-the-probe", best / roof, 0.1);
#endif
}
==== answer
static inline __attribute__((always_inline)) void tile(const float *x, const float *w, size_t in, size_t out, int rows, int outs, float *y)
{
  vec a[2][3], u[3];
  for (int r = 0; r < rows; r++) for (int o = 0; o < outs; o++) a[r][o] = zero16();
  for (size_t k = 0; k < in; k += 16) {
    for (int o = 0; o < outs; o++) u[o] = load16(w + (size_t) o * in + k);
    for (int r = 0; r < rows; r++) {
      vec v = load16(x + (size_t) r * in + k);
      for (int o = 0; o < outs; o++) a[r][o] = fused(v, u[o], a[r][o]);
    }
  }
  for (int r = 0; r < rows; r++)
    for (int o = 0; o < outs; o++) y[(size_t) r * out + (size_t) o] = fold(a[r][o]);
}
static void multiply(const float *x, const float *w, size_t in, size_t out, size_t rows, float *y)
{
  for (size_t o = 0; o < out; o += 3)
    for (size_t r = 0; r < rows; r += 2) {
      int h = rows - r < 2 ? 1 : 2, n = out - o < 3 ? (int) (out - o) : 3;
      const float *u = x + r * in, *v = w + o * in;
      float *to = y + r * out + o;
      if (h == 2 && n == 3) tile(u, v, in, out, 2, 3, to);
      else tile(u, v, in, out, h, n, to);
    }
}
==== wrong
static void multiply(const float *x, const float *w, size_t in, size_t out, size_t rows, float *y)
{
  for (size_t r = 0; r < rows; r++)
    for (size_t o = 0; o < out; o++) {
      vec a = zero16();
      for (size_t k = 0; k < in; k += 16) a = fused(load16(x + r * in + k), load16(w + o * in + k), a);
      y[r * out + o] = fold(a);
    }
}
==== skeleton
/* y[r * out + o] = the dot product of row r of x and output o of w, both of in numbers, a multiple of sixteen.
   zero16() is sixteen zeros, load16(p) loads sixteen numbers, fused(a, b, c) is a * b + c, fold(v) is the sum of sixteen lanes. */
static void multiply(const float *x, const float *w, size_t in, size_t out, size_t rows, float *y)
{
}
