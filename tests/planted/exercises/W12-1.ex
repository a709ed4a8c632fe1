==== check
# loss and gradient of the logits (ln 2, ln 2, ln 4) when the third token comes, by the trainer's own judge
numbers 4
engine <<'C'
#include <math.h>
#include <stdio.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"
int main(int argc, char **argv)
{
  double w[4]; float z[3] = {num_logf(2), num_logf(2), num_logf(4)};
  double loss = gradients_plain.cross_entropy(z, 3, 2, 1.0f);
  FILE *f = fopen(argv[1], "r"); char line[200]; (void) argc;
  while (f && fgets(line, sizeof line, f)) if (line[0] != '#' && sscanf(line, "%lf %lf %lf %lf", w, w + 1, w + 2, w + 3) == 4)
    return !(fabs(w[0] - loss) < 1e-3 && fabs(w[1] - z[0]) < 1e-3 && fabs(w[2] - z[1]) < 1e-3 && fabs(w[3] - z[2]) < 1e-3);
  return 1;
}
C
tr ',;' '  ' < "$answer" > "$work/numbers"
run "$work/numbers" || no "one of the numbers is not right"
==== answer
0.693147 0.25 0.25 -0.5
==== wrong
0.693147 0.25 0.25 0.5
==== skeleton
# loss, then the gradients of the three logits
