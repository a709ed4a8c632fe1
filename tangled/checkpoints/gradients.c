/* the program -- made from workshop/10-gradients.w; change it there */

#include <stdio.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"

/* <Repeat the box of the matrix> */
static void box_matrix(void)
{
  static float scratch[GRADIENTS_KC * (2 + 16 + GRADIENTS_MC)];
  float w[4] = { 1, 2, 3, -1 }, x[2] = { 2, 1 };
  float dy[2] = { 5, 4 }, dx[2], dw[4];
  struct product down = { .a = dy, .a_row = 2, .a_step = 1, .b = w,
    .b_step = 2, .c = dx, .c_row = 2, .rows = 1, .terms = 2,
    .cols = 2 };
  gradients_plain.multiply(&down, scratch);
  struct product own = { .a = dy, .a_row = 1, .a_step = 2, .b = x,
    .b_step = 2, .c = dw, .c_row = 2, .rows = 2, .terms = 1,
    .cols = 2 };
  gradients_plain.multiply(&own, scratch);
  printf("box 1, matrix: dx %g %g, dW %g %g %g %g\n", (double) dx[0],
    (double) dx[1], (double) dw[0], (double) dw[1], (double) dw[2],
    (double) dw[3]);
}

#include "gradients/shown.inc"
