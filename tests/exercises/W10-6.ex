==== check
set -e
# the way back of a norm with a mean, against differences
cat > $BUILD/ex.c <<"C"
#include <math.h>
#include <stdio.h>
C
cat "$1" >> $BUILD/ex.c
cat >> $BUILD/ex.c <<"C"
enum { D = 7 };
static double loss(const double *x, const double *gain, const double *dy)
{
  double mean = 0, square = 0, l = 0;
  for (int k = 0; k < D; k++) mean += x[k] / D;
  for (int k = 0; k < D; k++) square += (x[k] - mean) * (x[k] - mean) / D;
  for (int k = 0; k < D; k++) l += dy[k] * gain[k] * (x[k] - mean) / sqrt(square + 1e-5);
  return l;
}
int main(void)
{
  double x[D], gain[D], dy[D], dx[D] = {0}, off = 0;
  for (int k = 0; k < D; k++) x[k] = k * 37 % 29 / 8.0 - 1, gain[k] = 1 + k * 11 % 7 / 8.0, dy[k] = k * 17 % 13 / 8.0 - 0.5;
  layernorm_back(x, gain, dy, D, dx);
  for (int k = 0; k < D; k++) {
    double old = x[k], h = 0x1p-13, up, down;
    x[k] = old + h, up = loss(x, gain, dy), x[k] = old - h, down = loss(x, gain, dy), x[k] = old;
    off = fmax(off, fabs((up - down) / (2 * h) - dx[k]));
  }
  return !(off < 1e-6);
}
C
${CC:-cc} -std=gnu11 -O2 -w $BUILD/ex.c -o $BUILD/ex -lm
$BUILD/ex
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
