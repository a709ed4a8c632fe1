/* kernels.c [short] -- linear layers beside two probes, in one process and one thread, for each
   vector table that this machine can run: 64 rows against the most multiply-adds a second that a
   loop without memory reaches, one row against the most bytes a second that a loop which only reads
   reaches.  Exit 1 if 64 rows reach less than 30 % or one row less than 50 %. */
#define _POSIX_C_SOURCE 200809L
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernels/kernels.h"

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}
static volatile float sink;
#define PROBES(name, isa, reg, bits, set1, fma, load, plus)                                        \
  __attribute__((target(isa))) static double fma_##name(long n)                                    \
  {                                                                                                \
    reg a[10], x = set1(1.0000001f), y = set1(1e-9f);                                              \
    for (int i = 0; i < 10; i++) a[i] = set1((float) i);                                           \
    double t = now();                                                                              \
    for (long k = 0; k < n; k++) {                                                                 \
      _Pragma("GCC unroll 10") for (int i = 0; i < 10; i++) a[i] = fma(a[i], x, y);                \
    }                                                                                              \
    t = now() - t;                                                                                 \
    for (int i = 1; i < 10; i++) a[0] = plus(a[0], a[i]);                                          \
    sink = ((float *) &a[0])[0];                                                                   \
    return 10.0 * (double) n * (bits / 32) / t;                                                    \
  }                                                                                                \
  __attribute__((target(isa))) static double read_##name(const float *w, size_t n)                 \
  {                                                                                                \
    reg a[8];                                                                                      \
    for (int i = 0; i < 8; i++) a[i] = set1(0);                                                    \
    double t = now();                                                                              \
    for (size_t k = 0; k + 8 * (bits / 32) <= n; k += 8 * (bits / 32)) {                           \
      _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++) a[i] =                                   \
        plus(a[i], load(w + k + (size_t) i * (bits / 32)));                                        \
    }                                                                                              \
    t = now() - t;                                                                                 \
    for (int i = 1; i < 8; i++) a[0] = plus(a[0], a[i]);                                           \
    sink = ((float *) &a[0])[0];                                                                   \
    return 4.0 * (double) n / t;                                                                   \
  }
PROBES(
  avx2, "avx2,fma", __m256, 256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_add_ps)
PROBES(avx512, "avx512f,avx512vl,avx2,fma", __m512, 512, _mm512_set1_ps, _mm512_fmadd_ps,
  _mm512_loadu_ps, _mm512_add_ps)

static double linear_time(
  const struct engine *e, struct matrix m, size_t rows, const float *x, float *y)
{
  double t = now();
  e->k->linear(e, &m, 1, x, rows, &y);
  return now() - t;
}
int main(int argc, char **argv)
{
  int rounds = argc > 1 && strcmp(argv[1], "short") == 0 ? 3 : 9, bad = 0;
  size_t large = (size_t) 24 << 20, in = 1024, out = 1024;
  float *w = malloc(4 * large), *x = malloc(4 * 64 * in), *y = malloc(4 * (64 * out + large / in));
  for (size_t i = 0; i < large; i++) w[i] = (float) (i % 97) * 0.01f - 0.4f;
  for (size_t i = 0; i < 64 * in; i++) x[i] = (float) (i % 89) * 0.01f - 0.4f;
  printf("table,rows,matrix,reached,probe,share\n");
  static const char *const name[] = { "avx2", "avx512" };
  for (int v = 0; v < 2; v++) {
    const struct kernels *k = kernels_find(name[v], NULL);
    if (k == NULL) {
      printf("NOT RUN: %s, which this machine lacks\n", name[v]);
      continue;
    }
    /* panels want a workspace */
    struct matrix all = { { w, WEIGHT_F32 }, { NULL, WEIGHT_F32 }, in, out, false };
    struct memory memory = { 0 };
    struct pool *pool = pool_open(&memory, 1, NULL);
    if (pool == NULL || !pool_reserve(pool, k->room(&all, 1, 64), NULL)) return 1;
    struct engine e = { .k = k, .pool = pool };
    double fma = 0, reading = 0, many = 0, one = 0, conv = 0, half = 0;
    for (int r = 0; r < rounds; r++) {
      struct matrix square = { { w, WEIGHT_F32 }, { NULL, WEIGHT_F32 }, in, out, false },
                    across = square, tall = square, tall16 = square;
      across.transposed = true, tall.out = large / in;
      tall16.out = 2 * large / in / 2, tall16.weight.type = WEIGHT_BF16;
      double f = v == 0 ? fma_avx2(20000000 / (r ? 1 : 4)) : fma_avx512(20000000 / (r ? 1 : 4));
      double b = v == 0 ? read_avx2(w, large) : read_avx512(w, large);
      double m = 64.0 * (double) (in * out) / linear_time(&e, square, 64, x, y);
      double c = 64.0 * (double) (in * out) / linear_time(&e, across, 64, x, y);
      double o = 4.0 * (double) large / linear_time(&e, tall, 1, x, y);
      double h = 2.0 * (double) (tall16.out * in) / linear_time(&e, tall16, 1, x, y);
      if (f > fma) fma = f;
      if (b > reading) reading = b;
      if (m > many) many = m;
      if (c > conv) conv = c;
      if (o > one) one = o;
      if (h > half) half = h;
    }
    printf("%s,64,%zux%zu,%.1f G multiply-adds/s,%.1f,%.0f %%\n", name[v], in, out, many / 1e9,
      fma / 1e9, 100 * many / fma);
    printf("%s,64,%zux%zu transposed,%.1f G multiply-adds/s,%.1f,%.0f %%\n", name[v], in, out,
      conv / 1e9, fma / 1e9, 100 * conv / fma);
    printf("%s,1,%zux%zu,%.1f GB/s,%.1f,%.0f %%\n", name[v], large / in, in, one / 1e9,
      reading / 1e9, 100 * one / reading);
    printf("%s,1,%zux%zu bfloat16,%.1f GB/s,%.1f,%.0f %%\n", name[v], large / in, in, half / 1e9,
      reading / 1e9, 100 * half / reading);
    pool_close(&memory, pool);
    bad += many < 0.3 * fma || one < 0.5 * reading;
  }
  return bad > 0;
}
