==== check
set -e
# a kernel of one's own: the bits of the plain one, at most 0.9 loads for each multiply-add of sixteen lanes, each multiply-add once,
# and, where there is AVX2, a tenth of the rate of the probe
cat > $BUILD/ex.c <<"C"
#include "../tests/exercises/lanes16.h"
#include KERNEL
#include <stdio.h>
#include "suite.h"
#include "kernels/kernels.h"
#include "ground/timing.h"
enum { MOST = 768 * 512 };
static float x[768 * 96], w[MOST], y[512 * 96], z[512 * 96];
int main(void)
{
  uint64_t seed = 5; struct error why; struct engine e = { .k = &kernels_plain };
  for (int i = 0; i < 768 * 96; i++) x[i] = (float) (rnd(&seed) % 2001) / 1000 - 1;
  for (int i = 0; i < MOST; i++) w[i] = (float) (rnd(&seed) % 2001) / 1000 - 1;
#ifdef COUNT
  for (int t = 0; t < 60; t++) {
    size_t in = 16 * (1 + rnd(&seed) % 9), out = 1 + rnd(&seed) % 40, rows = 1 + rnd(&seed) % 20; float *to = z;
    struct matrix m = { .weight = { w, WEIGHT_F32 }, .in = in, .out = out };
    madds = 0;
    multiply(x, w, in, out, rows, y);
    e.k->linear(&e, &m, 1, x, rows, &to);
    if (memcmp(y, z, out * rows * sizeof *y) != 0) { printf("%zu inputs, %zu outputs, %zu rows: other bits\n", in, out, rows); return 1; }
    if (madds != in / 16 * out * rows) { printf("%llu multiply-adds\n", madds); return 1; }
  }
  loads = madds = 0;
  multiply(x, w, 64, 96, 96, y);
  printf("%.2f loads for each multiply-add\n", (double) loads / (double) madds);
  return (double) loads > 0.9 * (double) madds;
#else
  double best = 0, roof = 0;
  e.k = kernels_find("avx2", &why);
  if (e.k == NULL) return 0;
  for (int t = 0; t < 7; t++) {
    float left; double a = timing_seconds(), n = (double) e.k->probe_flops(1 << 24, &left), b = timing_seconds();
    multiply(x, w, 768, 512, 96, y);
    double c = timing_seconds();
    if (n / (b - a) > roof) roof = n / (b - a);
    if (768.0 * 512 * 96 / (c - b) > best) best = 768.0 * 512 * 96 / (c - b);
  }
  printf("%.0f %% of the probe\n", 100 * best / roof);
  return best < 0.1 * roof;
#endif
}
C
cp "$1" $BUILD/kernel.c
here() { ${CC:-cc} -std=gnu11 -O3 -ffp-contract=off -w -Wno-psabi -Itangled -Itests "-DKERNEL=\"kernel.c\"" $* $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm && $BUILD/ex; }
here -DCOUNT
! grep -q avx2 /proc/cpuinfo 2>/dev/null || here -mavx2 -mfma
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
