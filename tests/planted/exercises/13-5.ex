==== check
# the rule of the chapter, on these numbers
engine <<'C'
#include <stdio.h>
#include "speculation/acceptance.h"
int main(void)
{
  static const double p[4] = { .4, .3, .2, .1 }, q[4] = { .2, .6, .1, .1 };
  double accept[4], residual[4], rate;
  acceptance_of(p, q, 4, accept, residual, &rate);
  printf("%.1f %.1f %.3f\n", rate, accept[1], residual[0]);
  return 0;
}
C
is $(run)
==== answer
0.7 0.5 0.667
==== wrong
0.7 0.5 0.571
==== skeleton
# three numbers: the share of guesses that are accepted; that for the second token; the residual of the first, three decimals
