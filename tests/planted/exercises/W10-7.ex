==== check
# the gradient of -log p_r + lambda * (log of the sum)^2, against differences
wrapped
says_like_ours
==== head
#include <math.h>
#include <stdio.h>
==== tail
void ex_gradient(const double *z, int n, int right, double lambda, double *dz) { loss_gradient(z, n, right, lambda, dz); }
==== test
#include "exercise.h"
void ex_gradient(const double *z, int n, int right, double lambda, double *dz);
enum { SIZES = 8, MOST = 12 };
static double loss(const double *z, int n, int right, double lambda)
{
  double s = 0;
  for (int i = 0; i < n; i++) s += exp(z[i]);
  return log(s) - z[right] + lambda * log(s) * log(s);
}
static void test(unsigned size)
{
  double z[MOST], dz[MOST] = { 0 }, lambda = 0.1 + draw(5) / 10.0;
  int n = 2 + (int) draw(MOST - 1), right = (int) draw((unsigned) n);
  tell("%d logits, token %d comes, lambda is %g", n, right, lambda);
  for (int k = 0; k < n; k++) z[k] = 2 * draw_float();
#ifdef OURS
  for (int k = 0; k < n; k++) {
    double old = z[k], h = 0x1p-13, up, down;
    z[k] = old + h, up = loss(z, n, right, lambda), z[k] = old - h, down = loss(z, n, right, lambda), z[k] = old;
    dz[k] = (up - down) / (2 * h);
  }
#else
  ex_gradient(z, n, right, lambda, dz);
#endif
  for (int k = 0; k < n; k++) say_near("dz", dz[k]);
}
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
