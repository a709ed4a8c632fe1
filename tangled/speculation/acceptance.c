/* acceptance.c -- When guesses are accepted, by the rule of the papers and by ours,
   in exact probabilities.
   made from chapters/13-speculation.w; change it there

   The engine needs none of this to write a text: it compares tokens. */

#include <math.h>
#include "speculation/acceptance.h"

/* <Accept, or draw from what is missing> */
double acceptance_of(const double *p, const double *q, size_t n, double *accept,
  double *residual, double *rate)
{
  for (size_t i = 0; i < n; i++) residual[i] = fmin(p[i], q[i]);
  *rate = sum_carefully(residual, n);
  for (size_t i = 0; i < n; i++) {
    accept[i] = q[i] > 0 ? fmin(1, p[i] / q[i]) : 0;
    residual[i] = fmax(p[i] - q[i], 0);
  }
  double missing = sum_carefully(residual, n);
  for (size_t i = 0; missing > 0 && i < n; i++) residual[i] /= missing;
  return missing;
}

/* <How often common dice agree> */
double coupled_rate(const double *p, const double *q, size_t n)
{
  double rate = 0;
  for (size_t x = 0; x < n; x++) {
    double speeds = 0;
    if (p[x] <= 0 || q[x] <= 0) continue;
    for (size_t j = 0; j < n; j++) speeds += fmax(p[j] / p[x], q[j] / q[x]);
    rate += 1 / speeds;
  }
  return rate;
}
