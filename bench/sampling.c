/* sampling.c [VOCAB [ROUNDS]] -- what a choice costs on one core: every stage that is asked for,
   and the race.  Four kinds of logits, six settings; a CSV line each: milliseconds of the processor
   (medians of the rounds) of the whole sampler and of the race alone, tokens left at the race, and
   of those how many needed their random bits and how many their logarithms, by the same inequality
   as in the book. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "sampling/sampling.h"
#include "functions/numbers.h"
#include "kernels/kernels.h"

static double now(void) /* time of this process: what else runs here is not counted */
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}
static int smaller(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}
static double uniform(uint64_t *s)
{
  uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9),
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (double) ((z ^ z >> 31) >> 11) * 0x1p-53;
}
static double normal(uint64_t *s)
{
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += uniform(s);
  return sum;
}
/* the race once more, counting: who passes the first bound needs bits, who passes the second
 * logarithms */
static uint32_t counted(
  struct funnel *f, uint64_t seed, uint32_t position, size_t *bits, size_t *logs)
{
  double max = -INFINITY, best = -INFINITY, reach = INFINITY;
  uint32_t chosen = f->candidates[0];
  *bits = *logs = 0;
  if (f->n == 1) return chosen;
  for (size_t i = 0; i < f->n; i++)
    if (f->score[f->candidates[i]] > max) max = f->score[f->candidates[i]];
  for (size_t i = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i], key[2] = { (uint32_t) seed, (uint32_t) (seed >> 32) },
             counter[4] = { id, position, 0, 0 }, out[4];
    double bound = num_exp(f->score[id] - max) * reach;
    if (bound < 0x1p-53) continue;
    philox4x32(key, counter, out);
    double m = (double) ((uint64_t) out[0] << 20 | out[1] >> 12);
    ++*bits;
    if (0x1p52 - m - 0.5 > bound * 0x1p52) continue;
    double sum = f->score[id] + gumbel_noise(seed, 0, position, id);
    ++*logs;
    if (sum < best || (sum == best && id > chosen)) continue;
    chosen = id, best = sum, reach = num_exp(max - best + 0x1p-40 + fabs(max) * 0x1p-48);
  }
  return chosen;
}

static const char *const kind[] = { "Gaussian times 3", "peaked", "all equal",
  "uniform from 0 to 10" };
enum { KINDS = 4, SETTINGS = 7, MOST = 1001 };
static void fill(float *x, size_t n, int k)
{
  uint64_t s = 20260101;
  for (size_t i = 0; i < n; i++) {
    double z = k == 0 ? 3 * normal(&s)
      : k == 1        ? 2 * normal(&s) - 4
      : k == 2        ? 1.25
                      : 10 * uniform(&s);
    if (k == 1 && uniform(&s) < .0005)
      z += 8 + 6 * uniform(&s); /* a few dozen that fit, and one far before them */
    x[i] = (float) z;
  }
  if (k == 1) x[n / 3] = 19;
}
static struct sampling_params setting(int i, const char **name)
{
  static const char *const names[SETTINGS] = { "normal: T 1, nothing cut", "greedy: T 0",
    "top_k 40, top_p .95, min_p .05, T .8", "top_p .9 alone", "typical_p .9", "T 1.5, min_p .02",
    "repetition 1.1 over 1000, top_k 40" };
  struct sampling_params s = sampling_default();
  *name = names[i];
  if (i == 1) s.temperature = 0;
  if (i == 2) s.top_k = 40, s.top_p = .95, s.min_p = .05, s.temperature = .8;
  if (i == 3) s.top_p = .9;
  if (i == 4) s.typical_p = .9;
  if (i == 5) s.temperature = 1.5, s.min_p = .02;
  if (i == 6) s.repetition_penalty = 1.1, s.top_k = 40;
  return s;
}

int main(int argc, char **argv)
{
  size_t vocab = argc > 1 ? strtoul(argv[1], NULL, 10) : 128256,
         rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 41;
  static double whole[MOST], race[MOST];
  static uint32_t text[1000];
  double worst = 0;
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct funnel f;
  if (vocab < 1000 || rounds < 1 || rounds > MOST)
    return fprintf(stderr, "usage: sampling [VOCAB from 1000 [ROUNDS up to 1001]]\n"), 2;
  float *logits = malloc(vocab * sizeof *logits);
  if (logits == NULL
    || !funnel_open(&f, &m, kernels_find(getenv("INCIPIT_ISA"), &why), vocab, &why))
    return fprintf(stderr, "sampling: %s\n", why.text), 1;
  for (uint32_t i = 0; i < 1000; i++) text[i] = i * 37 % (uint32_t) vocab;
  printf("logits,settings,vocabulary,whole ms,race ms,left,bits,logarithms\n");
  for (int k = 0; k < KINDS; k++)
    for (int i = 0; i < SETTINGS; i++) {
      const char *name;
      struct sampling_params s = setting(i, &name);
      double bits = 0, logs = 0;
      fill(logits, vocab, k);
      for (size_t r = 0; r < rounds; r++) {
        double begin = now();
        if (!sampling_run(&f, &s, logits, (struct history){ text, 1000, 0 }, &why))
          return fprintf(stderr, "sampling: %s\n", why.text), 1;
        double middle = now();
        uint32_t id = funnel_choose(&f, 1, 0, (uint32_t) r);
        whole[r] = now() - begin, race[r] = now() - middle;
        size_t b, l;
        if (counted(&f, 1, (uint32_t) r, &b, &l) != id)
          return fprintf(stderr, "sampling: the race that is counted has another winner\n"), 1;
        bits += (double) b / (double) rounds, logs += (double) l / (double) rounds;
      }
      qsort(whole, rounds, sizeof *whole, smaller), qsort(race, rounds, sizeof *race, smaller);
      printf("%s,\"%s\",%zu,%.3f,%.3f,%zu,%.0f,%.1f\n", kind[k], name, vocab,
        1e3 * whole[rounds / 2], 1e3 * race[rounds / 2], f.n, bits, logs);
      worst = fmax(worst, 1e3 * whole[rounds / 2]);
    }
  fprintf(stderr, "the dearest: %.3f ms\n", worst);
  free(logits), funnel_close(&f);
  return m.all.live == 0 ? 0 : 1;
}
