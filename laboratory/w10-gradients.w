@i types.w
@s vec int

\chapterquestion{Are all these derivatives right?}
@** Gradients against finite differences. \label{lab:slopes}
\incipit{E}{very operation} of \cref{gradients} is computed once more by a plain loop in double, from its formula of the way forward. Each input is moved a little to
both sides, and the gradient that follows from the two losses is compared with the gradient that the function gives. With |"values"| the program prints the numbers of the prose, with |"steps"| and
|"gate"| the data of two figures.

@c
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"
@;@#
@<Every operation against differences@>@;
@<Steps of many sizes@>@;
@<Print what is asked for@>@;

@* Every operation against finite differences. \label{lab:slopesdifferences}
An operation has two functions: one computes a loss from some numbers, in double; the other gives the gradient with respect to each of these numbers, by the functions of the chapter, in float.
@<Every operation against differences@>=
enum { MOST = 100 };
struct operation {
  const char *name; size_t n;
  double (*forth)(const double *x);
  void (*back)(const float *x, float *dx);
};

@ The inputs are multiples of an eighth between $-1\frac34$ and $1\frac34$, so float and double start from the
same place. A loss is the sum of the outputs, each times such a number, so these numbers are the gradients $dy$ that come from above.
@<Every operation against differences@>=
static double lot(size_t i)
{
  return (double) ((int) (i * 37 % 29) - 14) / 8;
}

@ The matrix has two rows of twenty inputs, and three outputs. The inputs come first, the weights after them. Twenty is
no multiple of sixteen, so the columns at the end of a row are tried as well.
@<Every operation against differences@>=
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

@ The way back has the two products of \eqref{eq:matrixback}. The first reads $dY$ by rows, the second reads the same array
by columns; only the strides differ.
@<Every operation against differences@>=
static void matrix_back(const float *x, float *dx)
{
  static float scratch[GRADIENTS_KC * (IN + 16 + GRADIENTS_MC)];
  float dy[X_ROWS * OUT];
  for (size_t i = 0; i < X_ROWS * OUT; i++) dy[i] = (float) lot(i);
  struct product down = @[{ .a = dy, .a_row = OUT, .a_step = 1,
    .b = x + X_ROWS * IN, .b_step = IN, .c = dx, .c_row = IN,
    .rows = X_ROWS, .terms = OUT, .cols = IN }@];
  gradients_plain.multiply(&down, scratch);
  struct product own = @[{ .a = dy, .a_row = 1, .a_step = OUT,
    .b = x, .b_step = IN, .c = dx + X_ROWS * IN, .c_row = IN,
    .rows = OUT, .terms = X_ROWS, .cols = IN }@];
  gradients_plain.multiply(&own, scratch);
}

@ Attention is checked from the scores on, with twelve keys whose values have sixteen numbers each, and scores multiplied by a quarter. The values are constants
here, because the products that turn a mixture back have just been tried.
@<Every operation against differences@>=
enum { KEYS = 12, VALUES = 16 };
static double value(size_t t, size_t c)
{
  return lot(5 * t + c);
}
@#
static double look_forth(const double *s)
{
  double e[KEYS], sum = 0, loss = 0;
  for (size_t t = 0; t < KEYS; t++) sum += e[t] = num_exp(s[t] / 4);
  for (size_t t = 0; t < KEYS; t++)
    for (size_t c = 0; c < VALUES; c++)
      loss += e[t] / sum * value(t, c) * lot(c + 3);
  return loss;
}

@ The way back needs the maximum, the sum and the mixture of the way forward. |softmax_block| replaces the scores by their exponentials, so it is given a copy.
@<Every operation against differences@>=
static void look_back(const float *s, float *ds)
{
  float e[16] = @[{ 0 }@], again[16] = @[{ 0 }@], g[16] = @[{ 0 }@];
  float left[2], y[VALUES] = @[{ 0 }@], dy[VALUES];
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

@ The loss is that of one row of twenty logits, of which the fourth is right.
@<Every operation against differences@>=
enum { LOGITS = 20, RIGHT = 3 };
static double loss_forth(const double *z)
{
  double sum = 0;
  for (size_t i = 0; i < LOGITS; i++) sum += num_exp(z[i]);
  return num_log(sum) - z[RIGHT];
}
@#
static void loss_back(const float *z, float *dz)
{
  memcpy(dz, z, LOGITS * sizeof *dz);
  gradients_plain.cross_entropy(dz, LOGITS, RIGHT, 1.0f);
}

@ The norm has one row of sixteen numbers, followed by sixteen gains.
@<Every operation against differences@>=
static double norm_forth(const double *x)
{
  double square = 0, loss = 0;
  for (size_t k = 0; k < 16; k++) square += x[k] * x[k] / 16;
  for (size_t k = 0; k < 16; k++)
    loss += lot(k + 3) * x[16 + k] * x[k] / sqrt(square + 1e-5);
  return loss;
}
@#
static void norm_slopes(const float *x, float *dx)
{
  float dy[16];
  for (size_t k = 0; k < 16; k++) dy[k] = (float) lot(k + 3);
  memset(dx, 0, 32 * sizeof *dx);
  float r = gradients_plain.norm_backward(x, x + 16, dy, 16, dx);
  gradients_plain.gain_backward(x, dy, &r, 1, 16, 0, 16, dx + 16);
}

@ The gate has sixteen gates, followed by their partners.
@<Every operation against differences@>=
static double gate_forth(const double *x)
{
  double loss = 0;
  for (size_t k = 0; k < 16; k++)
    loss += lot(k + 3) * x[16 + k] * x[k] / (1 + num_exp(-x[k]));
  return loss;
}
@#
static void gate_slopes(const float *x, float *dx)
{
  float da[16];
  for (size_t k = 0; k < 16; k++) da[k] = (float) lot(k + 3);
  gradients_plain.swiglu_backward(x, x + 16, da, 16, dx, dx + 16);
}

@ The error of an operation is the largest difference between the two gradients of an input, as a share of the largest gradient of the operation. The step is a power of
two, so $x\pm h$ is exact.
@<Every operation against differences@>=
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

@ There are five operations.

@<Every operation against differences@>=
static const struct operation operations[] = @[{
  @[{ "a matrix", 100, matrix_forth, matrix_back }@],@|
  @[{ "weights of attention", 12, look_forth, look_back }@],@|
  @[{ "the loss of a row", 20, loss_forth, loss_back }@],@|
  @[{ "a norm and its gain", 32, norm_forth, norm_slopes }@],@|
  @[{ "a gate and its partner", 32, gate_forth, gate_slopes }@] }@];
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

@* Step sizes. \label{lab:slopessteps}
For the loss of a row we know the exact gradients in double: the probabilities, less one for the right logit. The error of a step is the largest over all
logits, because a single one may be small by luck. The largest gradient is near 1, so these errors are shares of it.
@<Steps of many sizes@>=
struct quotients { double one, both, single; };
static struct quotients errors_at(double h)
{
  struct quotients worst = @[{ 0, 0, 0 }@];
  double z[LOGITS], sum = 0;
  for (size_t i = 0; i < LOGITS; i++) z[i] = lot(i), sum += num_exp(z[i]);
  double here = loss_forth(z);
  for (size_t i = 0; i < LOGITS; i++) {
    double slope = num_exp(z[i]) / sum - (i == RIGHT ? 1 : 0);
    @<Move logit |i| to both sides, and note the errors@>@;
  }
  return worst;
}

@ For the third error each of the same two losses is rounded to a float before they are subtracted.
@<Move logit |i| to both sides, and note the errors@>=
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

@ The right digits at the best step are the negative decimal logarithm of its error.
@<Steps of many sizes@>=
static double best_digits(bool single)
{
  double best = 1;
  for (double h = 0.5; h > 0x1p-31; h /= 2) {
    struct quotients q = errors_at(h);
    best = fmin(best, single ? q.single : q.both);
  }
  return -num_log(best) / num_log(10);
}
@#
static void print_steps(void)
{
  printf("step,one,both,single\n");
  for (double h = 0.5; h > 0x1p-31; h /= 2) {
    struct quotients q = errors_at(h);
    printf("%.9g,%.6g,%.6g,%.6g\n", h, q.one, q.both, q.single);
  }
}

@* What is printed. \label{lab:slopesprints}
The checkpoint has one line for each operation, and the keys have the largest error of all gradients.

@<Print what is asked for@>=
static void print_checkpoint(void)
{
  for (int i = 0; i < OPERATIONS; i++)
    printf("%-22s %3zu slopes, worst error %.2f millionths\n",
      operations[i].name, operations[i].n, 1e6 * apart(&operations[i]));
}
@#
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

@ The backward function itself gives the curve of the gate and its slope: with the gradient from above and the partner both 1, |dup| is the curve and |dgate| its slope.
@<Print what is asked for@>=
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

@ Without an argument the program prints the checkpoint.
@<Print what is asked for@>=
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "values") == 0) print_values();
  else if (strcmp(what, "steps") == 0) print_steps();
  else if (strcmp(what, "gate") == 0) print_gate();
  else print_checkpoint();
  return 0;
}
