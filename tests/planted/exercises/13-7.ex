==== check
# all guesses are tried, each with its share of q, and what comes out is added up: for random p and q, some with zeros, some with a favourite, some equal
wrapped
says_like_ours
==== head
#include <math.h>
#include <stddef.h>
==== tail
double ex_rule(const double *p, const double *q, size_t n, size_t guess, double *instead) { return rule(p, q, n, guess, instead); }
==== test
#include "exercise.h"
enum { SIZES = 40, V = 7, PAIRS = 50 };
double ex_rule(const double *p, const double *q, size_t n, size_t guess, double *instead);
static void shares(double *x, size_t n, unsigned kind)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] = kind == 0 ? 1 + draw(8) : exp(2 * draw_float()) * (kind == 2 && draw(3) == 0 ? 0 : 1);
  if (sum == 0) sum = x[draw((uint32_t) n)] = 1;
  for (size_t i = 0; i < n; i++) x[i] /= sum;
}
static void try(unsigned size, double *far, double *short_of, double *odd)
{
  double p[V], q[V], p2[V], q2[V], out[V] = { 0 }, instead[V], rate = 0, separate = 0;
  size_t n = 2 + draw(size < 5 ? 2 : V - 1);
  shares(p, n, draw(3)), shares(q, n, draw(3));
  if (draw(8) == 0) memcpy(q, p, sizeof p);
  if (draw(8) == 0) memset(q, 0, sizeof q), q[draw((uint32_t) n)] = 1;
  memcpy(p2, p, n * sizeof *p), memcpy(q2, q, n * sizeof *q);
  for (size_t g = 0; g < n; g++) {
    separate += p[g] * q[g];
    if (q[g] <= 0) continue;
    for (size_t i = 0; i < n; i++) instead[i] = -1;
    double a = OF(ex_rule(p2, q2, n, g, instead), 0), all = 0;
    if (!(a >= 0 && a <= 1 + 1e-12)) *odd = 1, a = 0;
    out[g] += q[g] * a, rate += q[g] * a;
    for (size_t i = 0; a < 1 - 1e-12 && i < n; i++) {
      if (!(instead[i] >= 0)) *odd = 1;
      all += instead[i], out[i] += q[g] * (1 - a) * instead[i];
    }
    if (a < 1 - 1e-9 && !(fabs(all - 1) < 1e-6)) *odd = 1;
  }
  for (size_t i = 0; i < n; i++) *far = fmax(*far, fabs(p[i] - out[i]));
  *short_of = fmax(*short_of, separate - rate);
}
static void test(unsigned size)
{
  double far = 0, short_of = 0, odd = 0;
  tell("%d pairs p and q of %s tokens", PAIRS, size < 5 ? "2 or 3" : "2 to 7");
  for (int i = 0; i < PAIRS; i++) try(size, &far, &short_of, &odd);
#ifdef OURS
  far = short_of = 1e-9, odd = 0;
#endif
  say_most("no-probability", odd, 1);
  say_most("far-from-p", far, 1);
  say_most("below-separate-dice", short_of, 1);
}
==== answer
/* Leviathan, Kalman and Matias */
static double rule(const double *p, const double *q, size_t n, size_t guess, double *instead)
{
  double missing = 0;
  for (size_t i = 0; i < n; i++) missing += instead[i] = fmax(0, p[i] - q[i]);
  for (size_t i = 0; i < n; i++) instead[i] = missing > 0 ? instead[i] / missing : p[i];
  return fmin(1, p[guess] / q[guess]);
}
==== right-compared
/* a throw from p, compared with the guess */
static double rule(const double *p, const double *q, size_t n, size_t guess, double *instead)
{
  double rest = 0;
  for (size_t i = 0; i < n; i++) rest += instead[i] = i == guess ? 0 : p[i];
  for (size_t i = 0; rest > 0 && i < n; i++) instead[i] /= rest;
  return rest > 0 ? p[guess] : 1;
}
==== right-common
/* common dice: accepted if the race with speeds p is won by the winner of the race with speeds q, and otherwise a winner of the first race, if it is another */
static double agree(const double *p, const double *q, size_t n, size_t x)
{
  double speeds = 0;
  if (p[x] <= 0 || q[x] <= 0) return 0;
  for (size_t j = 0; j < n; j++) speeds += fmax(p[j] / p[x], q[j] / q[x]);
  return 1 / speeds;
}
/* the first race is won by x in the time s, and the second by another, y, in the time r s: the integral of p_x q_y s exp(-s (a + b r)) over s and r, where
   a is the speed of all that would come first by p, and b of those by q; between two places where they change it is known */
static double both(const double *p, const double *q, size_t n, size_t x, size_t y)
{
  double cut[10] = { 0 }, sum = 0;
  size_t k = 1;
  if (p[x] <= 0 || q[y] <= 0) return 0;
  double high = q[x] > 0 ? p[x] / q[x] : 1e300, low = p[y] / q[y];
  if (low >= high) return 0;
  cut[0] = low;
  for (size_t j = 0; j < n; j++)
    if (q[j] > 0 && p[j] / q[j] > low && p[j] / q[j] < high) cut[k++] = p[j] / q[j];
  cut[k++] = high;
  for (size_t i = 1; i < k; i++)
    for (size_t j = i; j > 0 && cut[j] < cut[j - 1]; j--) { double c = cut[j]; cut[j] = cut[j - 1], cut[j - 1] = c; }
  for (size_t i = 0; i + 1 < k; i++) {
    double a = 0, b = 0, middle = cut[i + 1] > 1e200 ? 2 * cut[i] + 1 : (cut[i] + cut[i + 1]) / 2;
    for (size_t j = 0; j < n; j++)
      if (p[j] > q[j] * middle) a += p[j];
      else b += q[j];
    if (cut[i + 1] <= cut[i]) continue;
    double left = 1 / (a + b * cut[i]), right = cut[i + 1] > 1e200 ? 0 : 1 / (a + b * cut[i + 1]);
    sum += b > 0 ? p[x] * q[y] * (left - right) / b : 0;
  }
  return sum;
}
static double rule(const double *p, const double *q, size_t n, size_t guess, double *instead)
{
  double all = 0;
  for (size_t x = 0; x < n; x++) all += instead[x] = x == guess ? 0 : both(p, q, n, x, guess);
  for (size_t x = 0; all > 0 && x < n; x++) instead[x] /= all;
  return all > 0 ? agree(p, q, n, guess) / q[guess] : 1;
}
==== wrong
static double rule(const double *p, const double *q, size_t n, size_t guess, double *instead)
{
  for (size_t i = 0; i < n; i++) instead[i] = p[i];
  return fmin(1, p[guess] / q[guess]);
}
==== skeleton
/* guess was drawn from q[n]. With which probability is it accepted? If it is not, instead[n] is the distribution that the token is drawn from.
   Neither p nor q may be changed */
static double rule(const double *p, const double *q, size_t n, size_t guess, double *instead)
{
  for (size_t i = 0; i < n; i++) instead[i] = p[i];
  return 0;
}
