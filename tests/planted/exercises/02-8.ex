==== check
# x to a tenth and the difference there in units of 0.0001: where the two GELUs differ most, from the engine's own curves
engine <<'C'
#include <math.h>
#include <stdio.h>
#include "kernels/kernels.h"
int main(void)
{
  float x[601], a[601], b[601]; int best = 0;
  struct engine e = {kernels_find(NULL, NULL), NULL, NULL};
  for (int i = 0; i < 601; i++) x[i] = (float) i / 100;
  e.k->activate(&e, ACTIVATION_GELU_TANH, x, NULL, 601, a);
  e.k->activate(&e, ACTIVATION_GELU_ERF, x, NULL, 601, b);
  for (int i = 0; i < 601; i++) if (fabsf(a[i] - b[i]) > fabsf(a[best] - b[best])) best = i;
  printf("%.1f %.0f\n", x[best], fabsf(a[best] - b[best]) * 1e4f);
  return 0;
}
C
is $(run)
==== answer
2.7 5
==== wrong
0.0 0
==== skeleton
# x to a tenth, the difference in units of 0.0001
