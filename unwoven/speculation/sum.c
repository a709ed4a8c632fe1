/* sum.c -- a sum that does not lose the small numbers (A. Neumaier 1974).

   What an addition rounds away is computed exactly, from whichever operand is the larger, and kept in a second variable. The
   probabilities of a whole vocabulary differ by many orders of magnitude, and a residual is a sum of their small differences. */

#include <math.h>
#include "speculation/acceptance.h"

double sum_carefully(const double *x, size_t n)
{
  double sum = 0, lost = 0;
  for (size_t i = 0; i < n; i++) {
    double t = sum + x[i];
    lost += fabs(sum) >= fabs(x[i]) ? (sum - t) + x[i] : (x[i] - t) + sum;
    sum = t;
  }
  return sum + lost;
}
