/* the program -- made from chapters/02-model.w; change it there */

#include <math.h>
#include <stdio.h>
#include "functions/numbers.h"
#include "model/toy.h"

/* <Attention in a dozen lines> */
static void attend_simply(const float *q, const float *k, const float *v, size_t n,
  size_t d, size_t stride, float *o)
{
  float weight[TOY_PLACES], max = -INFINITY, sum = 0;
  for (size_t t = 0; t < n; t++) {
    weight[t] = 0;
    for (size_t i = 0; i < d; i++) weight[t] += q[i] * k[t * stride + i];
    weight[t] /= sqrtf((float) d);
    max = fmaxf(max, weight[t]);
  }
  for (size_t t = 0; t < n; t++) sum += weight[t] = num_expf(weight[t] - max);
  for (size_t i = 0; i < d; i++) o[i] = 0;
  for (size_t t = 0; t < n; t++)
    for (size_t i = 0; i < d; i++) o[i] += weight[t] / sum * v[t * stride + i];
}

/* <Mix the values of the last row once more> */
static bool print_simply(struct engine *e, const struct toy *y, struct store *s,
  struct error *why)
{
  static const uint32_t text[3] = { 0, 1, 2 };
  struct toy_trace a;
  float o[TOY_WIDTH];
  if (!toy_look(e, y, s, text, 3, &a, why)) return false;
  for (size_t at = 0; at < TOY_WIDTH; at += 2)
    attend_simply(a.x[TAP_QUERY] + 2 * TOY_WIDTH + at, a.x[TAP_KEY] + at,
      a.x[TAP_VALUE] + at, 3, 2, TOY_WIDTH, o + at);
  printf("\n%-24s", "mixed in a dozen lines");
  for (int i = 0; i < TOY_WIDTH; i++) printf("%6.2f", (double) o[i]);
  printf("\n");
  return true;
}

int main(void)
{
  static struct toy toy;
  struct memory m = { .fail_at = 0 };
  struct counters c = { .passes = 0 };
  struct error why;
  struct engine e = { .k = &kernels_plain, .c = &c };
  toy_make(&toy);
  struct store *s = array_store_open(&m, &toy.lm.config, &why);
  bool ok = s != NULL && toy_print(&e, &toy, s, &why)
    && print_simply(&e, &toy, s, &why);
  store_close(s);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
