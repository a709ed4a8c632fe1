/* probe.c -- what this machine can do, for the bench beside other engines: reads lines "read BYTES THREADS" and
   "KIND THREADS", KIND one of fma (float32), bf16 (pairs of bfloat16 into float32), int8 (bytes into int32), and answers
   each with one number: bytes a second of a loop that only reads, multiply-adds a second of a loop without memory.  The
   widest instructions that the machine has, of AVX2 and AVX-512; 0 where it has none of that kind.  Each answer is a median of five, and takes
   about 0.1 s.  The buffer is kept, and asked for in huge pages: the share of a probe must not be flattered by its faults. */
#define _GNU_SOURCE
#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}
#ifdef __x86_64__
static volatile int sink;

#define READ(name, isa, reg, zero, load, either)                                        \
  __attribute__((target(isa))) static void name(const char *from, size_t n)             \
  {                                                                                     \
    reg a[8];                                                                           \
    for (int i = 0; i < 8; i++) a[i] = zero();                                          \
    for (size_t k = 0; k + sizeof a <= n; k += sizeof a) {                              \
      _Pragma("GCC unroll 8") for (size_t i = 0; i < 8; i++) a[i] =                     \
        either(a[i], load((const void *) (from + k + i * sizeof(reg))));                \
    }                                                                                   \
    for (int i = 1; i < 8; i++) a[0] = either(a[0], a[i]);                              \
    int low;                                                                            \
    memcpy(&low, &a[0], sizeof low), sink = low;                                        \
  }
READ(read_avx2, "avx2", __m256i, _mm256_setzero_si256, _mm256_loadu_si256, _mm256_or_si256)
READ(read_avx512, "avx512f", __m512i, _mm512_setzero_si512, _mm512_loadu_si512, _mm512_or_si512)

/* ten sums, so that each has come out before it is wanted again; empty asm: the sums may not be joined */
#define SPIN(name, isa, reg, operation)                                                 \
  __attribute__((target(isa))) static void name(size_t n)                               \
  {                                                                                     \
    reg a[10] = { { 0 } }, x = { 0 }, y = { 0 };                                        \
    _Pragma("GCC unroll 10") for (int i = 0; i < 10; i++) __asm__("" : "+v"(a[i]));     \
    for (size_t k = 0; k < n; k++) {                                                    \
      __asm__ volatile("" : "+v"(x), "+v"(y));                                          \
      _Pragma("GCC unroll 10") for (int i = 0; i < 10; i++) a[i] = operation;           \
    }                                                                                   \
    _Pragma("GCC unroll 10") for (int i = 0; i < 10; i++) __asm__ volatile("" ::"v"(a[i])); \
  }
SPIN(fma_avx2, "avx2,fma", __m256, _mm256_fmadd_ps(x, y, a[i]))
SPIN(fma_avx512, "avx512f", __m512, _mm512_fmadd_ps(x, y, a[i]))
SPIN(bf16_avx512, "avx512f,avx512bf16", __m512, _mm512_dpbf16_ps(a[i], (__m512bh) x, (__m512bh) y))
SPIN(int8_avx2, "avx2", __m256i, _mm256_add_epi32(a[i],
  _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), _mm256_set1_epi16(1))))
SPIN(int8_avx512, "avx512f,avx512vnni", __m512i, _mm512_dpbusd_epi32(a[i], x, y))
#define HAS(feature) __builtin_cpu_supports(feature)
#else
#define HAS(feature) 0
static void (*const read_avx2)(const char *, size_t) = NULL, (*const read_avx512)(const char *, size_t) = NULL;
static void (*const fma_avx2)(size_t) = NULL, (*const fma_avx512)(size_t) = NULL, (*const bf16_avx512)(size_t) = NULL;
static void (*const int8_avx2)(size_t) = NULL, (*const int8_avx512)(size_t) = NULL;
#endif

struct work {
  void (*read)(const char *from, size_t n);
  void (*spin)(size_t n);
  const char *from;
  size_t n;
  pthread_barrier_t *together;
  double begin, end;
};
enum { ROUNDS = 5, MOST = 256 };
static double took[ROUNDS];

static void *run(void *of)
{
  struct work *w = of;
  for (int r = 0; r < ROUNDS; r++) {
    pthread_barrier_wait(w->together);
    double t = now();
    if (w->read != NULL) w->read(w->from, w->n);
    else w->spin(w->n);
    pthread_barrier_wait(w->together);
    if (w->begin == 0) took[r] = now() - t; /* the first thread's clock counts for all */
  }
  return NULL;
}
static int smaller(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}
/* seconds of the median round in which each of the threads does its share */
static double together(struct work w, int threads)
{
  static struct work each[MOST];
  pthread_t t[MOST];
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, (unsigned) threads);
  w.together = &barrier;
  for (int i = 0; i < threads; i++) {
    each[i] = w, each[i].begin = i;
    if (w.read != NULL) each[i].from += (size_t) i * w.n;
    if (i > 0) pthread_create(&t[i], NULL, run, &each[i]);
  }
  run(&each[0]);
  for (int i = 1; i < threads; i++) pthread_join(t[i], NULL);
  pthread_barrier_destroy(&barrier);
  qsort(took, ROUNDS, sizeof *took, smaller);
  return took[ROUNDS / 2];
}

int main(void)
{
  char line[200], kind[20], *buffer = NULL;
  size_t cap = 0, bytes;
  int threads;
  int wide = HAS("avx512f"), some = HAS("avx2") && HAS("fma");
  while (fgets(line, sizeof line, stdin) != NULL) {
    double answer = 0;
    if (!some) {
      /* nothing that this file knows how to drive */
    } else if (sscanf(line, "read %zu %d", &bytes, &threads) == 2 && threads > 0 && threads <= MOST) {
      if (bytes > cap) {
        if (buffer != NULL) munmap(buffer, cap);
        cap = (bytes + 4095) & ~(size_t) 4095;
        buffer = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (buffer == MAP_FAILED) return perror("probe"), 1;
        madvise(buffer, cap, MADV_HUGEPAGE);
        memset(buffer, 1, cap);
      }
      size_t share = bytes / (size_t) threads & ~(size_t) 511;
      struct work w = { .read = wide ? read_avx512 : read_avx2, .from = buffer, .n = share };
      answer = (double) share * threads / together(w, threads);
    } else if (sscanf(line, "%19s %d", kind, &threads) == 2 && threads > 0 && threads <= MOST) {
      struct work w = { .n = 4000000 };
      double each = 0; /* multiply-adds of one instruction */
      if (strcmp(kind, "fma") == 0) w.spin = wide ? fma_avx512 : fma_avx2, each = wide ? 16 : 8;
      if (strcmp(kind, "bf16") == 0 && HAS("avx512bf16"))
        w.spin = bf16_avx512, each = 32;
      if (strcmp(kind, "int8") == 0) {
        int vnni = HAS("avx512vnni");
        w.spin = vnni ? int8_avx512 : int8_avx2, each = vnni ? 64 : 32;
      }
      if (w.spin != NULL) answer = 10 * each * (double) w.n * threads / together(w, threads);
    }
    printf("%.6g\n", answer);
    fflush(stdout);
  }
  return 0;
}
