==== check
# two different numbers; with either added to the logits 5 (in the history) and 2, r = 2 makes the tokens equally likely
numbers 2
engine <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"
#include "kernels/kernels.h"

int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; struct funnel f; struct sampling_params s = sampling_default();
  if (argc != 3 || fabs(atof(argv[1]) - atof(argv[2])) < 1e-3 || !funnel_open(&f, &m, kernels_find(NULL, NULL), 2, &why)) return 1;
  s.repetition_penalty = 2;
  for (int i = 1; i < 3; i++) {
    float c = (float) atof(argv[i]);
    if (!sampling_run(&f, &s, (float [2]) {5 + c, 2 + c}, (struct history) {(uint32_t [1]) {0}, 1, 1}, &why)) return 1;
    funnel_distribution(&f);
    if (fabs(f.weight[0] - .5) > 1e-6) return 1;
  }
  return 0;
}
C
run $(words) || no "with one of them the two tokens are not equally likely, or the numbers are the same"
==== answer
1 -8
==== wrong
1 -5
==== skeleton
# a number, another number
