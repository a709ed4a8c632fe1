==== check
# what two rows of logits have in common: the sum of the smaller chances
wrapped
says_like_ours
==== head
#include <math.h>
#include <stddef.h>
==== tail
double ex_common(const float *a, const float *b, size_t n) { return common(a, b, n); }
==== test
#include "exercise.h"
double ex_common(const float *a, const float *b, size_t n);
enum { SIZES = 30, MOST = 9 };
static double smaller(const float *a, const float *b, size_t n)
{
  long double sum[2] = { 0, 0 }, both = 0;            /* a long double holds e to the power of thousands */
  for (size_t i = 0; i < n; i++) sum[0] += expl(a[i]), sum[1] += expl(b[i]);
  for (size_t i = 0; i < n; i++) both += fminl(expl(a[i]) / sum[0], expl(b[i]) / sum[1]);
  return (double) both;
}
static void test(unsigned size)
{
  float a[MOST], b[MOST], shift = size % 3 == 0 ? 1500 : size % 3 == 1 ? -1500 : 0;
  size_t n = 1 + draw(MOST);
  for (size_t i = 0; i < n; i++) a[i] = 3 * draw_float() + shift, b[i] = size % 4 == 0 ? a[i] : 3 * draw_float();
  tell("%zu logits, the first %g and %g", n, a[0], b[0]);
  say_near("common", OF(ex_common(a, b, n), smaller(a, b, n)));
}
==== answer
static double common(const float *a, const float *b, size_t n)
{
  double high[2] = { a[0], b[0] }, sum[2] = { 0, 0 }, both = 0;
  for (size_t i = 1; i < n; i++) high[0] = fmax(high[0], a[i]), high[1] = fmax(high[1], b[i]);
  for (size_t i = 0; i < n; i++) sum[0] += exp(a[i] - high[0]), sum[1] += exp(b[i] - high[1]);
  for (size_t i = 0; i < n; i++) both += fmin(exp(a[i] - high[0]) / sum[0], exp(b[i] - high[1]) / sum[1]);
  return both;
}
==== wrong
static double common(const float *a, const float *b, size_t n)
{
  double sum[2] = { 0, 0 }, both = 0;
  for (size_t i = 0; i < n; i++) sum[0] += exp(a[i]), sum[1] += exp(b[i]);
  for (size_t i = 0; i < n; i++) both += fmin(exp(a[i]) / sum[0], exp(b[i]) / sum[1]);
  return both;
}
==== skeleton
/* the sum of the smaller of the two chances that two rows of n logits give each token */
static double common(const float *a, const float *b, size_t n)
{
  return 0;
}
