/* the program -- made from workshop/10-gradients.w; change it there */

#include <stdio.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"

/* <The boxes, recomputed> */
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

static void box_look(void)
{
  float s[16] = { 0 }, g[16] = { 6, 0, 12 };
  float known[2], y[16] = { 5 }, dy[16] = { 1 };
  s[0] = num_logf(3), s[1] = num_logf(2);
  known[0] = s[0], known[1] = 2;
  gradients_plain.softmax_backward(s, g, 3, 16, 1.0f, known, y, dy, 16);
  printf("box 3, look: p %.4f %.4f %.4f, ds %.4f %.4f %.4f\n",
    (double) s[0], (double) s[1], (double) s[2], (double) g[0],
    (double) g[1], (double) g[2]);
}

static void box_norm_and_gate(void)
{
  float x[16], gain[16], dy[16], dx[16] = { 0 }, dg[16] = { 0 };
  float gate[16], up[16], da[16], dgate[16], dup[16];
  for (int i = 0; i < 16; i++) {
    x[i] = i % 2 ? 7 : 1, gain[i] = i % 2 ? 1 : 2;
    dy[i] = i % 2 ? 10 : 5;
    gate[i] = num_logf(3), up[i] = 3;
    da[i] = 2;
  }
  float r = gradients_plain.norm_backward(x, gain, dy, 16, dx);
  gradients_plain.gain_backward(x, dy, &r, 1, 16, 0, 16, dg);
  printf("box 4, norm: dx %.4f %.4f, gains %.4f %.4f\n", (double) dx[0],
    (double) dx[1], (double) dg[0], (double) dg[1]);
  gradients_plain.swiglu_backward(gate, up, da, 16, dgate, dup);
  printf("box 5, gate: du %.4f, dg %.4f\n", (double) dup[0],
    (double) dgate[0]);
}

static void box_steps(void)
{
  float w = 1, g = 4, first = 0, second = 0;
  bool decays = true;
  struct moments a = { &w, &g, &first, &second, NULL, &decays, 0.1f, 1,
    1 / (1 - 0.9f), 1 / (1 - 0.95f), 0 };
  gradients_plain.adam(&a, 0, 1);
  printf("box 6, AdamW: %.4f,", (double) w);
  g = 2;
  a.fix1 = 1 / (1 - 0.81f), a.fix2 = 1 / (1 - 0.9025f);
  gradients_plain.adam(&a, 0, 1);
  printf(" %.4f\n", (double) w);
}

int main(void)
{
  box_matrix();
  box_look();
  box_norm_and_gate();
  box_steps();
  return 0;
}
