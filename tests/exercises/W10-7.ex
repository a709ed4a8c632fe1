==== check
set -e
# the gradient of -log p_r + lambda * (log of the sum)^2, against differences
cat > $BUILD/ex.c <<"C"
#include <math.h>
#include <stdio.h>
C
cat "$1" >> $BUILD/ex.c
cat >> $BUILD/ex.c <<"C"
enum { N = 9 };
static double loss(const double *z, int right, double lambda)
{
  double s = 0;
  for (int i = 0; i < N; i++) s += exp(z[i]);
  return log(s) - z[right] + lambda * log(s) * log(s);
}
int main(void)
{
  double z[N], dz[N] = {0}, off = 0;
  for (int k = 0; k < N; k++) z[k] = k * 37 % 29 / 8.0 - 1;
  loss_gradient(z, N, 4, 0.3, dz);
  for (int k = 0; k < N; k++) {
    double old = z[k], h = 0x1p-13, up, down;
    z[k] = old + h, up = loss(z, 4, 0.3), z[k] = old - h, down = loss(z, 4, 0.3), z[k] = old;
    off = fmax(off, fabs((up - down) / (2 * h) - dz[k]));
  }
  return !(off < 1e-6);
}
C
${CC:-cc} -std=gnu11 -O2 -w $BUILD/ex.c -o $BUILD/ex -lm
$BUILD/ex
==== answer
static void loss_gradient(const double *z, int n, int right, double lambda, double *dz)
{
  double s = 0;
  for (int i = 0; i < n; i++) s += exp(z[i]);
  for (int i = 0; i < n; i++) dz[i] = exp(z[i]) / s * (1 + 2 * lambda * log(s)) - (i == right);
}
==== wrong
static void loss_gradient(const double *z, int n, int right, double lambda, double *dz)
{
  double s = 0;
  for (int i = 0; i < n; i++) s += exp(z[i]);
  for (int i = 0; i < n; i++) dz[i] = exp(z[i]) / s + 2 * lambda * log(s) - (i == right);
}
==== skeleton
/* dz[i] for each of the n logits; right is the token that came */
static void loss_gradient(const double *z, int n, int right, double lambda, double *dz)
{
}
