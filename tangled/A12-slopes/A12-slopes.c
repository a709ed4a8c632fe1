/* A12-slopes.c -- made from chapters/A12-slopes.w; change it there */

/* L.2 */

#include <stdio.h>
#include <string.h>
#include "A12-slopes/slopes.h"

/* L.3  The box, by the pieces */

static void one_matrix(void)
{
  static float desk[DEPTH * 80];
  float w[4] = { 1, 2, 3, -1 }, x[2] = { 2, 1 };
  float dy[2] = { 5, 4 }, dx[2], dw[4];
  struct product back = {.a = dy,.a_row = 2,.a_step = 1,.b = w,
    .b_step = 2,.c = dx,.c_row = 2,.rows = 1,.terms = 2,
    .cols = 2
  };
  slopes_plain.multiply(&back, desk);
  struct product own = {.a = dy,.a_row = 1,.a_step = 2,.b = x,
    .b_step = 2,.c = dw,.c_row = 2,.rows = 2,.terms = 1,
    .cols = 2
  };
  slopes_plain.multiply(&own, desk);
  printf("a matrix: dx %g %g, dW %g %g, %g %g\n", (double)dx[0],
         (double)dx[1], (double)dw[0], (double)dw[1], (double)dw[2], (double)dw[3]);
}

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "values") == 0)
    return 0;
  one_matrix();
  return 0;
}
