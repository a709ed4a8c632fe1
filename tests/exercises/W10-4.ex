==== check
set -e
# the first step of a weight, by the piece, as a share of the rate
sh tests/numbers.sh 2 "$1" || exit 1
cat > $BUILD/ex.c <<"C"
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
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex "$1"
==== answer
0.0909 0.990
==== wrong
1 1
==== skeleton
# the share for 1e-9, the share for 1e-6
