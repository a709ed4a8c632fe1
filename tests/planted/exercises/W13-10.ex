==== check
# the mean distance and the entropy of a row's look at n rows, the last of which is itself
wrapped
says_like_ours
==== head
#include <math.h>
#include <stddef.h>
==== tail
void ex_look(const float *p, size_t n, double *distance, double *bits) { look(p, n, distance, bits); }
==== test
#include "exercise.h"
void ex_look(const float *p, size_t n, double *distance, double *bits);
enum { SIZES = 20, MOST = 9 };
static void test(unsigned size)
{
  float p[MOST], sum = 0;
  size_t n = 1 + draw(size < 6 ? 3 : MOST), one = draw((unsigned) n);
  double distance = 0, bits = 0;
  for (size_t k = 0; k < n; k++) sum += p[k] = draw(3) == 0 ? 0 : 1 + draw_float();  /* some weights are 0 */
  p[one] += 1, sum += 1;
  tell("%zu rows", n);
  for (size_t k = 0; k < n; k++) p[k] /= sum;
#ifdef OURS
  for (size_t k = 0; k < n; k++) distance += p[k] * (double) (n - 1 - k), bits += p[k] == 0 ? 0 : -(double) p[k] * log((double) p[k]) / log(2);
#else
  distance = bits = -1, ex_look(p, n, &distance, &bits);
#endif
  say_near("distance", distance), say_near("bits", bits);
}
==== answer
static void look(const float *p, size_t n, double *distance, double *bits)
{
  *distance = 0, *bits = 0;
  for (size_t k = 0; k < n; k++) {
    *distance += p[k] * (double) (n - 1 - k);
    if (p[k] > 0) *bits -= p[k] * log2(p[k]);
  }
}
==== wrong
static void look(const float *p, size_t n, double *distance, double *bits)
{
  *distance = 0, *bits = 0;
  for (size_t k = 0; k < n; k++) {
    *distance += p[k] * (double) (n - 1 - k);
    *bits -= p[k] * log2(p[k]);
  }
}
==== skeleton
/* mean distance, in tokens, and entropy, in bits, of the weights p that row n-1 gives to the rows 0...n-1 */
static void look(const float *p, size_t n, double *distance, double *bits)
{
  *distance = 0, *bits = 0;
}
