==== check
# the scale and the minimum of three weights, by the two formulas; a negative minimum is none
engine <<'C'
#include <stdio.h>
int main(void)
{
  double x[] = { 0.1, 0.5, 1.0 }, q[] = { 0, 1, 3 }, q1 = 0, q2 = 0, x1 = 0, qx = 0;
  for (int i = 0; i < 3; i++) q1 += q[i], q2 += q[i] * q[i], x1 += x[i], qx += q[i] * x[i];
  double s = (3 * qx - q1 * x1) / (3 * q2 - q1 * q1), t = (s * q1 - x1) / 3;
  if (t < 0) s = qx / q2, t = 0;
  printf("%.2f %.2f\n", s, t);
  return 0;
}
C
is $(run)
==== answer
0.35 0.00
==== wrong
0.29 -0.14
==== skeleton
# s, t
