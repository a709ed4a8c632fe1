==== check
set -e
# against differences of u sigma(u)
{ printf '#include <math.h>\n#include <stdio.h>\n'; cat "$1"; cat <<"C"
static double f(double u) { return u / (1 + exp(-u)); }
int main(void)
{
  for (double u = -6; u <= 6; u += 0.37) if (fabs((f(u + 1e-5) - f(u - 1e-5)) / 2e-5 * 1.7 - back((float) u, 1.7f)) > 1e-4) return 1;
  return 0;
}
C
} > $BUILD/ex.c
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w $BUILD/ex.c -o $BUILD/ex -lm
$BUILD/ex
==== answer
float back(float u, float da) { float s = 1 / (1 + expf(-u)); return da * s * (1 + u * (1 - s)); }
==== wrong
float back(float u, float da) { float s = 1 / (1 + expf(-u)); return da * s * (1 - s); }
==== skeleton
/* float back(float u, float da): the gradient du of a = u sigma(u) */
float back(float u, float da) { return da; }
