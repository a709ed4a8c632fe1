/* the program -- made from workshop/12-training.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "training/network.h"

/* <Draw by lot> */
static float lot(uint64_t *dice)
{
  *dice = *dice * UINT64_C(6364136223846793005)
    + UINT64_C(1442695040888963407);
  return (float) (int32_t) (*dice >> 60) / 8 - 0.9375f;
}

/* <What the checkpoint shows> */
static const struct model_shape tiny = { 2, 32, 2, 1, 16, 48, 40, 64 };
enum { TINY_ROWS = 16 };
struct lab { struct memory m; struct error why; struct network *net;
  size_t n; float *w, *grad; double losses[TINY_ROWS];
  uint32_t inputs[TINY_ROWS], targets[TINY_ROWS]; };

static bool lab_open(struct lab *l)
{
  uint64_t dice = 5;
  l->net = network_open(&l->m, &tiny, TINY_ROWS,
    kernels_find(NULL, &l->why), NULL, &l->why);
  if (l->net == NULL) return false;
  l->n = network_count(l->net);
  l->w = memory_alloc(&l->m, MEMORY_TRAINING, l->n, sizeof(float), &l->why);
  l->grad = memory_alloc(&l->m, MEMORY_TRAINING, l->n, sizeof(float), &l->why);
  if (l->w == NULL || l->grad == NULL) return false;
  for (size_t i = 0; i < l->n; i++) l->w[i] = 0.5f * lot(&dice);
  for (size_t i = 0; i < TINY_ROWS; i++) {
    l->inputs[i] = (uint32_t) (7 * i % 40);
    l->targets[i] = (uint32_t) (11 * i % 40);
  }
  return true;
}

static double lab_loss(struct lab *l, size_t rows)
{
  struct batch b = { l->inputs, l->targets, 1, rows, 1.0f };
  double sum = 0;
  if (!network_forward(l->net, l->w, &b, &l->why)) return 0;
  network_loss(l->net, &b, l->losses);
  for (size_t i = 0; i < rows; i++) sum += l->losses[i];
  return sum;
}

static void lab_close(struct lab *l)
{
  memory_free(&l->m, l->w);
  memory_free(&l->m, l->grad);
  network_close(&l->m, l->net);
}

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

static double by_hand(float z[3])
{
  z[0] = num_logf(3), z[1] = num_logf(2);
  z[2] = 0;
  return gradients_plain.cross_entropy(z, 3, 1, 1.0f);
}

static int print_checkpoint(void)
{
  static struct lab l;
  float z[3];
  double loss = by_hand(z);
  printf("by hand: loss %.6f, gradient %.6f %.6f %.6f\n", loss, (double) z[0],
    (double) z[1], (double) z[2]);
  if (!lab_open(&l)) return 1;
  printf("gradients of 20 tensors, worst: %.4f of itself\n",
    gradients(&l, false));
  printf("one pass against 15: %d losses the same\n", forced(&l));
  lab_close(&l);
  return 0;
}

static int print_values(void)
{
  static struct lab l;
  if (!lab_open(&l)) return 1;
  double worst = gradients(&l, true);
  printf("grad.worst %.4f\n", worst);
  printf("claim.S1-38 %d\nclaim.S1-51 %d\n", forced(&l), forced(&l));
  lab_close(&l);
  return 0;
}

/* <Main> */
int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "values") == 0) return print_values();
  return print_checkpoint();
}
