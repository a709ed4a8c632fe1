==== check
# the way back of a norm with a mean, against differences
wrapped
says_like_ours
==== head
#include <math.h>
#include <stdio.h>
==== tail
void ex_back(const double *x, const double *gain, const double *dy, int d, double *dx) { layernorm_back(x, gain, dy, d, dx); }
==== test
#include "exercise.h"
void ex_back(const double *x, const double *gain, const double *dy, int d, double *dx);
enum { SIZES = 8, MOST = 12 };
static double loss(int d, const double *x, const double *gain, const double *dy)
{
  double mean = 0, square = 0, l = 0;
  for (int k = 0; k < d; k++) mean += x[k] / d;
  for (int k = 0; k < d; k++) square += (x[k] - mean) * (x[k] - mean) / d;
  for (int k = 0; k < d; k++) l += dy[k] * gain[k] * (x[k] - mean) / sqrt(square + 1e-5);
  return l;
}
static void test(unsigned size)
{
  double x[MOST], gain[MOST], dy[MOST], dx[MOST] = { 0 };
  int d = 3 + (int) draw(MOST - 2);
  tell("%d inputs", d);
  for (int k = 0; k < d; k++) x[k] = 3 * draw_float(), gain[k] = 1 + draw_float() / 2, dy[k] = draw_float();
  x[0] = 2, x[1] = -2;                                /* they differ */
#ifdef OURS
  for (int k = 0; k < d; k++) {
    double old = x[k], h = 0x1p-13, up, down;
    x[k] = old + h, up = loss(d, x, gain, dy), x[k] = old - h, down = loss(d, x, gain, dy), x[k] = old;
    dx[k] = (up - down) / (2 * h);
  }
#else
  ex_back(x, gain, dy, d, dx);
#endif
  for (int k = 0; k < d; k++) say_near("dx", dx[k]);
}
==== answer
static void layernorm_back(const double *x, const double *gain, const double *dy, int d, double *dx)
{
  double mean = 0, square = 0, t_mean = 0, along = 0;
  for (int k = 0; k < d; k++) mean += x[k] / d;
  for (int k = 0; k < d; k++) square += (x[k] - mean) * (x[k] - mean) / d;
  double r = 1 / sqrt(square + 1e-5);
  for (int k = 0; k < d; k++) t_mean += gain[k] * dy[k] / d, along += gain[k] * dy[k] * (x[k] - mean) * r / d;
  for (int k = 0; k < d; k++) dx[k] = r * (gain[k] * dy[k] - t_mean - (x[k] - mean) * r * along);
}
==== wrong
static void layernorm_back(const double *x, const double *gain, const double *dy, int d, double *dx)
{
  double mean = 0, square = 0, along = 0;
  for (int k = 0; k < d; k++) mean += x[k] / d;
  for (int k = 0; k < d; k++) square += (x[k] - mean) * (x[k] - mean) / d;
  double r = 1 / sqrt(square + 1e-5);
  for (int k = 0; k < d; k++) along += gain[k] * dy[k] * (x[k] - mean) * r / d;
  for (int k = 0; k < d; k++) dx[k] = r * (gain[k] * dy[k] - (x[k] - mean) * r * along);
}
==== skeleton
/* dx[k] for each of the d inputs; the epsilon beside the variance is 1e-5 */
static void layernorm_back(const double *x, const double *gain, const double *dy, int d, double *dx)
{
}
