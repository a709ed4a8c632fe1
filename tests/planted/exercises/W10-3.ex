==== check
# one query of one number, three keys: dq and dk by the piece, before and after the keys are doubled and the scale is halved
numbers 2
engine <<'C'
#include <math.h>
#include <stdio.h>
#include "gradients/gradients.h"
static void back(float alpha, const float *k, float *dq, float *dk)
{
  float q = 1.5f, v[3] = {1, -2, 0.5f}, s[16] = {0}, e[16] = {0}, g[16] = {0}, left[2], y[16] = {0}, dy[16] = {1};
  for (int i = 0; i < 3; i++) s[i] = e[i] = q * k[i], g[i] = v[i];
  gradients_plain.softmax_block(e, 3, 16, alpha, left);
  for (int i = 0; i < 3; i++) y[0] += e[i] / left[1] * v[i];
  gradients_plain.softmax_backward(s, g, 3, 16, alpha, left, y, dy, 16);
  *dq = *dk = 0;
  for (int i = 0; i < 3; i++) *dq += g[i] * k[i];
  *dk = g[0] * q;
}
int main(int argc, char **argv)
{
  float k[3] = {0.5f, 1, -1}, k2[3] = {1, 2, -2}, dq, dk, dq2, dk2; double a, b; char line[200];
  back(0.5f, k, &dq, &dk), back(0.25f, k2, &dq2, &dk2);
  FILE *f = fopen(argv[1], "r"); (void) argc;
  while (f && fgets(line, sizeof line, f)) if (line[0] != '#' && sscanf(line, "%lf %lf", &a, &b) == 2)
    return !(fabs(a - dq2 / dq) < 1e-3 && fabs(b - dk2 / dk) < 1e-3);
  return 1;
}
C
tr ',;' '  ' < "$answer" > "$work/numbers"
run "$work/numbers" || no "one of the numbers is not right"
==== answer
1 0.5
==== wrong
2 0.5
==== skeleton
# the factor of dq, the factor of dk
