==== check
# n, x, w: the dot product of n equal terms is -0, and that of one less is not
[ "$(words | wc -w)" = 3 ] || no "wanted: n, x and w"
engine <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "kernels/kernels.h"
static float dot(size_t n, float x, float w)
{
  float *a = malloc(4 * n), *b = malloc(4 * n), y, *out = &y;
  struct counters *none = NULL;
  struct engine e = {.k = kernels_find(NULL, NULL), .c = none};
  for (size_t i = 0; i < n; i++) a[i] = x, b[i] = w;
  struct matrix m = {{b, WEIGHT_F32}, {NULL, WEIGHT_F32}, n, 1, false};
  e.k->linear(&e, &m, 1, a, 1, &out);
  return y;
}
int main(int argc, char **argv)
{
  if (argc < 4) return 1;
  size_t n = strtoul(argv[1], NULL, 10);
  float x = strtof(argv[2], NULL), w = strtof(argv[3], NULL), y = dot(n, x, w), z = dot(n - 1, x, w);
  return !(n > 1 && n < 100 && y == 0 && signbit(y) && !(z == 0 && signbit(z)));
}
C
run $(words) || no "n terms do not give -0, or one less does"
==== answer
16 -0x1p-100 0x1p-100
==== wrong
16 -0.0 1
==== skeleton
# n x w
