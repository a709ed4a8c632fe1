==== check
# the temperatures at which the best token has 1/2 and 0.99: halved until found, with the funnel
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
  float z[26];
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), 26, &why)) return 1;
  for (int i = 0; i < 26; i++) z[i] = (float) log(i == 9 ? .25 : .03);
  for (int which = 0; which < 2; which++) {
    double low = .01, high = 100;
    for (int i = 0; i < 60; i++) {
      s.temperature = (low + high) / 2;
      if (!sampling_run(&f, &s, z, (struct history) {NULL, 0, 0}, &why)) return 1;
      funnel_distribution(&f);
      if (f.candidates[0] != 9) return 1;
      if (f.weight[0] > (which == 0 ? .5 : .99)) low = s.temperature; else high = s.temperature;
    }
    printf("%.6f ", low);
  }
  return 0;
}
C
near .0006 $(run)
==== answer
0.659 0.271
==== wrong
0.667 0.273
==== skeleton
# temperature for 1/2, temperature for 0.99; three decimals
