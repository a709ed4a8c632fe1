==== check
# the three rates of the chapter, for two tokens
engine <<'C'
#include <stdio.h>
#include "speculation/acceptance.h"
int main(void)
{
  static const double p[2] = { .7, .3 }, q[2] = { .5, .5 };
  double accept[2], residual[2], rate;
  acceptance_of(p, q, 2, accept, residual, &rate);
  printf("%.1f %.1f %.1f\n", coupled_rate(p, q, 2), rate, p[0] * q[0] + p[1] * q[1]);
  return 0;
}
C
is $(run)
==== answer
0.8 0.8 0.5
==== wrong
0.5 0.8 0.5
==== skeleton
# three numbers: common dice, the classical rule, separate dice
