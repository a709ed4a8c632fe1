/* the program -- made from workshop/12-training.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "training/network.h"

#include "training/tiny.inc"

/* <Compare the gradients with differences> */
static void differ(struct lab *l, const struct parameter *p,
  double *far, double *back)
{
  uint64_t dice = 3 + p->offset;
  size_t n = p->rows * p->cols;
  float old[40 * 48], way[40 * 48], step = 0x1p-9f;
  double loss[2];
  memcpy(old, l->w + p->offset, n * sizeof *old);
  *back = 0;
  for (size_t i = 0; i < n; i++) {
    way[i] = lot(&dice);
    *back += (double) way[i] * (double) l->grad[p->offset + i];
  }
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < n; i++)
      l->w[p->offset + i] = old[i] + (side == 0 ? -step : step) * way[i];
    loss[side] = lab_loss(l, TINY_ROWS);
  }
  memcpy(l->w + p->offset, old, n * sizeof *old);
  *far = (loss[1] - loss[0]) / (2 * (double) step);
}

static double gradients(struct lab *l, bool aloud)
{
  double worst = 0, far, back;
  struct batch b = { l->inputs, l->targets, 1, TINY_ROWS, 1.0f };
  const struct parameter *p;
  memset(l->grad, 0, l->n * sizeof *l->grad);
  lab_loss(l, TINY_ROWS);
  network_backward(l->net, l->w, &b, l->grad);
  for (size_t i = 0; (p = network_parameter(l->net, i)) != NULL; i++) {
    differ(l, p, &far, &back);
    double off = (far - back) / (back == 0 ? 1 : back);
    if (off < 0) off = -off;
    worst = off > worst ? off : worst;
    if (!aloud || strstr(p->name, "layers.1") != NULL) continue;
    printf("grad.%zu.far %.4f\n", i < 10 ? i : (size_t) 10, far);
    printf("grad.%zu.back %.4f\n", i < 10 ? i : (size_t) 10, back);
  }
  return worst;
}

/* <Compare one pass with many> */
static int forced(struct lab *l)
{
  double all[TINY_ROWS];
  int same = 0;
  lab_loss(l, TINY_ROWS);
  memcpy(all, l->losses, sizeof all);
  for (size_t n = 2; n <= TINY_ROWS; n++) {
    lab_loss(l, n);
    same += l->losses[n - 1] == all[n - 1];
  }
  return same;
}

#include "training/shown.inc"
