/* matrix.c -- one line for each table of kernels that this build and this machine have: its name
   and a hash of the bits that it gives on some hundreds of random shapes, or "refuses" if its
   self-test refuses.  tests/checks/matrix.sh compares builds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/kernels.h"
#include "functions/numbers.h"

static uint64_t seed, hash;
static uint64_t rnd(void)
{
  uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
static size_t below(size_t n)
{
  return (size_t) (rnd() % n);
}
static float *numbers(size_t n)
{
  float *x = malloc(4 * n + 64);
  for (size_t i = 0; i < n; i++) x[i] = (float) ((double) (int64_t) rnd() / 9.3e18);
  return x;
}
static void add(const void *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ ((const unsigned char *) p)[i]) * UINT64_C(0x100000001b3);
}
static void one_linear(const struct engine *e)
{
  size_t in = 1 + below(90), out = 1 + below(60), rows = 1 + below(8);
  float *x = numbers(rows * in), *w = numbers(in * out), *y = numbers(rows * out);
  uint16_t *h = malloc(2 * in * out);
  enum weight_type type = (enum weight_type) below(3);
  for (size_t i = 0; i < in * out; i++)
    h[i] = type == WEIGHT_F16 ? num_to_f16(w[i]) : num_to_bf16(w[i]);
  struct matrix m = { { type == WEIGHT_F32 ? (void *) w : (void *) h, type }, { NULL, WEIGHT_F32 },
    in, out, below(2) != 0 };
  e->k->linear(e, &m, 1, x, rows, &y);
  add(y, 4 * rows * out);
  free(x), free(w), free(y), free(h);
}
static void one_row(const struct engine *e)
{
  size_t d = 2 * (1 + below(40)), n = 1 + below(400);
  float *x = numbers(d), *y = numbers(d), *k = numbers(n * d), *v = numbers(n * d), *scratch, c[40],
        s[40], f[40];
  double p[80];
  uint32_t position = (uint32_t) below(4000);
  struct norm g = { below(2) ? NORM_RMS : NORM_LAYER, { NULL, WEIGHT_F32 }, { NULL, WEIGHT_F32 },
    1e-5f };
  struct attention_dims h = { 1, 1, (uint32_t) d, 0.3f };
  struct segment seen = { { .key = (uintptr_t) k, .value = (uintptr_t) v, .row_bytes = 4 * h.head_dim, .head_bytes = 4 * d },
    0, 1, (uint32_t) n - 1, 0 };
  seen.window = (uint32_t) (n - below(n));
  e->k->normalize(e, &g, x, 1, d, y);
  add(y, 4 * d);
  for (int i = 0; i < 40; i++) f[i] = 1.0f / (float) (1 + i);
  e->k->angles(e, &position, 1, f, d / 2, 1, c, s);
  e->k->rotate(e, y, 1, 1, d / 2, c, s);
  add(y, 4 * d);
  scratch = numbers(kernels_scratch(&h, n));
  e->k->attend(e, &h, y, &seen, 1, scratch, x, NULL);
  add(x, 4 * d);
  for (int kind = 0; kind < 3; kind++)
    e->k->activate(e, (enum activation_kind) kind, y, x, d, x), add(x, 4 * d);
  e->k->log_softmax(e, x, 1, d, p);
  add(p, 8 * d);
  free(x), free(y), free(k), free(v), free(scratch);
}
int main(void)
{
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    struct error why;
    struct engine e = { .k = kernels_at(i) };
    if (!kernels_self_test(e.k, &why)) {
      printf("%s refuses\n", e.k->name);
      continue;
    }
    seed = 1, hash = UINT64_C(0xcbf29ce484222325);
    for (int j = 0; j < 250; j++) one_linear(&e), one_row(&e);
    printf("%s %016llx\n", e.k->name, (unsigned long long) hash);
  }
  return 0;
}
