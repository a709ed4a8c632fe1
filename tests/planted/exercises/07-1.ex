==== check
# how many tokens are left behind T = 1, 1/2, 2 and top-p 0.9, by the funnel
engine <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"
#include "kernels/kernels.h"

int main(void)
{
  struct memory m = {0}; struct error why; struct funnel f; struct sampling_params s = sampling_default();
  const double t[] = {1, .5, 2}; float z[5];
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), 5, &why)) return 1;
  for (int i = 0; i < 5; i++) z[i] = (float) log((16 >> i) / 31.0);
  s.top_p = .9;
  for (int i = 0; i < 3; i++) {
    s.temperature = t[i];
    if (!sampling_run(&f, &s, z, (struct history) {NULL, 0, 0}, &why)) return 1;
    printf("%zu ", f.n);
  }
  return 0;
}
C
is $(run)
==== answer
3 2 4
==== wrong
3 4 2
==== skeleton
# tokens at T = 1, at 1/2, at 2
