==== check
# dx and dW of a matrix, by the product that trains the model
engine <<'C'
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
is $(run)
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
