==== check
set -e
# dx and dW of a matrix, by the product that trains the model
cat > $BUILD/ex.c <<"C"
#include <stdio.h>
#include "gradients/gradients.h"
int main(void)
{
  static float scratch[GRADIENTS_KC * 80];
  float w[] = {2, 1, 0, 3}, x[] = {1, 2}, dy[] = {1, -1}, dx[2], dw[4];
  gradients_plain.multiply(&(struct product) {.a = dy, .a_row = 2, .a_step = 1, .b = w, .b_step = 2, .c = dx, .c_row = 2, .rows = 1, .terms = 2, .cols = 2}, scratch);
  gradients_plain.multiply(&(struct product) {.a = dy, .a_row = 1, .a_step = 2, .b = x, .b_step = 2, .c = dw, .c_row = 2, .rows = 2, .terms = 1, .cols = 2}, scratch);
  printf("%g %g\n%g %g\n%g %g\n", dx[0], dx[1], dw[0], dw[1], dw[2], dw[3]);
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
[ "$(grep -v '^#' "$1")" = "$($BUILD/ex)" ]
==== answer
2 -2
1 2
-1 -2
==== wrong
1 -3
1 2
-1 -2
==== skeleton
# dx
# first row of dW
# second row of dW
