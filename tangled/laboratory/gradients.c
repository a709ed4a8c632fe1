/* the program -- made from laboratory/w10-gradients.w; change it there */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"

/* <Every operation against differences> */
enum { MOST = 100 };
struct operation {
  const char *name; size_t n;
  double (*forth)(const double *x);
  void (*back)(const float *x, float *dx);
};

static double lot(size_t i)
{
  return (double) ((int) (i * 37 % 29) - 14) / 8;
}

enum { X_ROWS = 2, IN = 20, OUT = 3 };
static double matrix_forth(const double *x)
{
  const double *w = x + X_ROWS * IN;
  double loss = 0;
  for (size_t r = 0; r < X_ROWS; r++)
    for (size_t o = 0; o < OUT; o++)
      for (size_t k = 0; k < IN; k++)
        loss += lot(r * OUT + o) * w[o * IN + k] * x[r * IN + k];
  return loss;
}

static void matrix_back(const float *x, float *dx)
{
  static float scratch[GRADIENTS_KC * (IN + 16 + GRADIENTS_MC)];
  float dy[X_ROWS * OUT];
  for (size_t i = 0; i < X_ROWS * OUT; i++) dy[i] = (float) lot(i);
  struct product down = { .a = dy, .a_row = OUT, .a_step = 1,
    .b = x + X_ROWS * IN, .b_step = IN, .c = dx, .c_row = IN,
    .rows = X_ROWS, .terms = OUT, .cols = IN };
  gradients_plain.multiply(&down, scratch);
  struct product own = { .a = dy, .a_row = 1, .a_step = OUT,
    .b = x, .b_step = IN, .c = dx + X_ROWS * IN, .c_row = IN,
    .rows = OUT, .terms = X_ROWS, .cols = IN };
  gradients_plain.multiply(&own, scratch);
}

enum { KEYS = 12, VALUES = 16 };
static double value(size_t t, size_t c)
{
  return lot(5 * t + c);
}

static double look_forth(const double *s)
{
  double e[KEYS], sum = 0, loss = 0;
  for (size_t t = 0; t < KEYS; t++) sum += e[t] = num_exp(s[t] / 4);
  for (size_t t = 0; t < KEYS; t++)
    for (size_t c = 0; c < VALUES; c++)
      loss += e[t] / sum * value(t, c) * lot(c + 3);
  return loss;
}

static void look_back(const float *s, float *ds)
{
  float e[16] = { 0 }, again[16] = { 0 }, g[16] = { 0 };
  float left[2], y[VALUES] = { 0 }, dy[VALUES];
  memcpy(e, s, KEYS * sizeof *e);
  memcpy(again, s, KEYS * sizeof *e);
  gradients_plain.softmax_block(e, KEYS, 16, 0.25f, left);
  for (size_t c = 0; c < VALUES; c++) {
    dy[c] = (float) lot(c + 3);
    for (size_t t = 0; t < KEYS; t++) {
      y[c] += e[t] / left[1] * (float) value(t, c);
      g[t] += dy[c] * (float) value(t, c);
    }
  }
  gradients_plain.softmax_backward(again, g, KEYS, 16, 0.25f, left, y, dy,
    VALUES);
  memcpy(ds, g, KEYS * sizeof *ds);
}

enum { LOGITS = 20, RIGHT = 3 };
static double loss_forth(const double *z)
{
  double sum = 0;
  for (size_t i = 0; i < LOGITS; i++) sum += num_exp(z[i]);
  return num_log(sum) - z[RIGHT];
}

static void loss_back(const float *z, float *dz)
{
  memcpy(dz, z, LOGITS * sizeof *dz);
  gradients_plain.cross_entropy(dz, LOGITS, RIGHT, 1.0f);
}

static double norm_forth(const double *x)
{
  double square = 0, loss = 0;
  for (size_t k = 0; k < 16; k++) square += x[k] * x[k] / 16;
  for (size_t k = 0; k < 16; k++)
    loss += lot(k + 3) * x[16 + k] * x[k] / sqrt(square + 1e-5);
  return loss;
}

static void norm_slopes(const float *x, float *dx)
{
  float dy[16];
  for (size_t k = 0; k < 16; k++) dy[k] = (float) lot(k + 3);
  memset(dx, 0, 32 * sizeof *dx);
  float r = gradients_plain.norm_backward(x, x + 16, dy, 16, dx);
  gradients_plain.gain_backward(x, dy, &r, 1, 16, 0, 16, dx + 16);
}

static double gate_forth(const double *x)
{
  double loss = 0;
  for (size_t k = 0; k < 16; k++)
    loss += lot(k + 3) * x[16 + k] * x[k] / (1 + num_exp(-x[k]));
  return loss;
}

static void gate_slopes(const float *x, float *dx)
{
  float da[16];
  for (size_t k = 0; k < 16; k++) da[k] = (float) lot(k + 3);
  gradients_plain.swiglu_backward(x, x + 16, da, 16, dx, dx + 16);
}

static double apart(const struct operation *o)
{
  double x[MOST], off = 0, max = 0, h = 0x1p-13;
  float at[MOST], dx[MOST];
  for (size_t i = 0; i < o->n; i++) at[i] = (float) (x[i] = lot(i));
  o->back(at, dx);
  for (size_t i = 0; i < o->n; i++) {
    x[i] = lot(i) + h;
    double up = o->forth(x);
    x[i] = lot(i) - h;
    double slope = (up - o->forth(x)) / (2 * h);
    x[i] = lot(i);
    off = fmax(off, fabs(slope - (double) dx[i]));
    max = fmax(max, fabs(slope));
  }
  return off / max;
}

static const struct operation operations[] = {
  { "a matrix", 100, matrix_forth, matrix_back },
  { "weights of attention", 12, look_forth, look_back },
  { "the loss of a row", 20, loss_forth, loss_back },
  { "a norm and its gain", 32, norm_forth, norm_slopes },
  { "a gate and its partner", 32, gate_forth, gate_slopes } };
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* <Steps of many sizes> */
struct quotients { double one, both, single; };
static struct quotients errors_at(double h)
{
  struct quotients worst = { 0, 0, 0 };
  double z[LOGITS], sum = 0;
  for (size_t i = 0; i < LOGITS; i++) z[i] = lot(i), sum += num_exp(z[i]);
  double here = loss_forth(z);
  for (size_t i = 0; i < LOGITS; i++) {
    double slope = num_exp(z[i]) / sum - (i == RIGHT ? 1 : 0);
    /* <Move logit i to both sides, and note the errors> */
    z[i] = lot(i) + h;
    double up = loss_forth(z);
    z[i] = lot(i) - h;
    double down = loss_forth(z);
    z[i] = lot(i);
    float single = (float) up - (float) down;
    worst.one = fmax(worst.one, fabs((up - here) / h - slope));
    worst.both = fmax(worst.both, fabs((up - down) / (2 * h) - slope));
    worst.single = fmax(worst.single,
      fabs((double) single / (2 * h) - slope));
  }
  return worst;
}

static double best_digits(bool single)
{
  double best = 1;
  for (double h = 0.5; h > 0x1p-31; h /= 2) {
    struct quotients q = errors_at(h);
    best = fmin(best, single ? q.single : q.both);
  }
  return -num_log(best) / num_log(10);
}

static void print_steps(void)
{
  printf("step,one,both,single\n");
  for (double h = 0.5; h > 0x1p-31; h /= 2) {
    struct quotients q = errors_at(h);
    printf("%.9g,%.6g,%.6g,%.6g\n", h, q.one, q.both, q.single);
  }
}

/* <Print what is asked for> */
static void print_checkpoint(void)
{
  for (int i = 0; i < OPERATIONS; i++)
    printf("%-22s %3zu slopes, worst error %.2f millionths\n",
      operations[i].name, operations[i].n, 1e6 * apart(&operations[i]));
}

static void print_values(void)
{
  double worst = 0;
  size_t count = 0;
  for (int i = 0; i < OPERATIONS; i++) {
    worst = fmax(worst, apart(&operations[i]));
    count += operations[i].n;
  }
  printf("slopes.count %zu\nslopes.worst %.4f\n", count, 1e6 * worst);
  printf("slopes.digits.double %.4f\n", best_digits(false));
  printf("slopes.digits.single %.4f\n", best_digits(true));
}

static void print_gate(void)
{
  float g[16], one[16], curve[16], slope[16];
  printf("gate,curve,slope\n");
  for (int i = 0; i < 96; i += 16) {
    for (int j = 0; j < 16; j++)
      g[j] = (float) (i + j - 48) / 8, one[j] = 1;
    gradients_plain.swiglu_backward(g, one, one, 16, slope, curve);
    for (int j = 0; j < 16; j++)
      printf("%.4f,%.6f,%.6f\n", (double) g[j], (double) curve[j],
        (double) slope[j]);
  }
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "values") == 0) print_values();
  else if (strcmp(what, "steps") == 0) print_steps();
  else if (strcmp(what, "gate") == 0) print_gate();
  else print_checkpoint();
  return 0;
}
