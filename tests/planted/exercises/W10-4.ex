==== check
# the first step of a weight, by the piece, as a share of the rate
numbers 2
engine <<'C'
#include <math.h>
#include <stdio.h>
#include "gradients/gradients.h"
static double share(float g)
{
  float w = 0, first = 0, second = 0; bool decays = false;
  struct moments a = {&w, &g, &first, &second, NULL, &decays, 1, 1, 1 / (1 - 0.9f), 1 / (1 - 0.95f), 0};
  gradients_plain.adam(&a, 0, 1);
  return -w;
}
int main(int argc, char **argv)
{
  double a, b; char line[200];
  FILE *f = fopen(argv[1], "r"); (void) argc;
  while (f && fgets(line, sizeof line, f)) if (line[0] != '#' && sscanf(line, "%lf %lf", &a, &b) == 2)
    return !(fabs(a - share(1e-9f)) < 1e-3 && fabs(b - share(1e-6f)) < 1e-3);
  return 1;
}
C
tr ',;' '  ' < "$answer" > "$work/numbers"
run "$work/numbers" || no "one of the numbers is not right"
==== answer
0.0909 0.990
==== wrong
1 1
==== skeleton
# the share for 1e-9, the share for 1e-6
