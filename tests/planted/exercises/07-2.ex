==== check
# the score of a token behind the penalties, if its logit is 3 and if it is -3, by the funnel
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
  const uint32_t id[] = {1, 0, 2, 0, 1, 0};                     /* the token is 0; the prompt is the first two */
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), 3, &why)) return 1;
  s.repetition_penalty = 1.5, s.frequency_penalty = .25, s.presence_penalty = .5;
  for (float z = 3; z >= -3; z -= 6) {
    if (!sampling_run(&f, &s, (float [3]) {z, 0, 0}, (struct history) {id, 6, 2}, &why)) return 1;
    printf("%g ", f.score[0]);
  }
  return 0;
}
C
is $(run)
==== answer
1 -5.5
==== wrong
0.75 -5.75
==== skeleton
# score for 3, score for -3
