==== check
# the rule of the chapter is fed the probability that the favourite had, and the favourite is always guessed
engine <<'C'
#include <stdio.h>
#include "speculation/acceptance.h"
int main(void)
{
  static const double p[4] = { .4, .3, .2, .1 }, q[4] = { .2, .6, .1, .1 };
  double accept[4], residual[4], rate;
  acceptance_of(p, q, 4, accept, residual, &rate);
  for (int i = 0; i < 4; i++) printf("%.3f ", (i == 1 ? accept[1] : 0) + (1 - accept[1]) * residual[i]);
  printf("\n");
  return 0;
}
C
is $(run)
==== answer
0.333 0.5 0.167 0
==== wrong
0.4 0.3 0.2 0.1
==== skeleton
# four numbers, three decimals: how often each of the four tokens comes out
