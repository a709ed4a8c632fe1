==== check
# the slopes of a norm, by the piece (the pair eight times over: the same mean, the same slopes)
numbers 2
engine <<'C'
#include <math.h>
#include <stdio.h>
#include "gradients/gradients.h"
int main(int argc, char **argv)
{
  float x[16], gain[16], dy[16], dx[16] = {0}; double a, b; char line[200];
  for (int i = 0; i < 16; i++) x[i] = 3, gain[i] = 1, dy[i] = i % 2 == 0;
  gradients_plain.norm_backward(x, gain, dy, 16, dx);
  FILE *f = fopen(argv[1], "r"); (void) argc;
  while (f && fgets(line, sizeof line, f)) if (line[0] != '#' && sscanf(line, "%lf %lf", &a, &b) == 2)
    return !(fabs(a - dx[0]) < 1e-3 && fabs(b - dx[1]) < 1e-3);
  return 1;
}
C
tr ',;' '  ' < "$answer" > "$work/numbers"
run "$work/numbers" || no "one of the numbers is not right"
==== answer
0.16667 -0.16667
==== wrong
0.33333 0
==== skeleton
# dx, two decimal numbers
