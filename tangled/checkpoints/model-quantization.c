/* the program -- made from chapters/10-quantization.w; change it there */

#include <stdio.h>
#include <string.h>
#include "model/quantization.h"

/* <Multiply with one row of weights> */
typedef void linear_kernel(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y);

static double product(const void *w, enum weight_type type, const float *x,
  linear_kernel *multiply)
{
  struct engine e = { .k = &kernels_plain };
  struct matrix m = { .weight = { w, type }, .in = WEIGHT_BLOCK, .out = 1 };
  float y, *to = &y;
  multiply(&e, &m, 1, x, 1, &to);
  return (double) y;
}

/* <Print a line of eight numbers> */
static void print_line(const char *name, const float *x)
{
  printf("%-8s", name);
  for (int i = 0; i < 8; i++) {
    double z = (double) x[i];
    printf("%7.2f", z > -0.005 && z < 0.005 ? 0.0 : z);
  }
  printf("\n");
}

int main(int argc, char **argv)
{
  static const float w[WEIGHT_BLOCK] = { 0.72f, -1.60f, 0.34f, 0.08f, -0.46f,
    1.12f, 0.86f, -0.24f };
  static const float x[WEIGHT_BLOCK] = { 1, 0.5f, -1, 2, 1, -0.5f, 1, 2 };
  float back[WEIGHT_BLOCK], off[WEIGHT_BLOCK];
  unsigned char block[18];
  struct error why;
  if (argc > 1) return strcmp(argv[1], "values") != 0;
  if (!weights_encode(WEIGHT_Q4_0, w, WEIGHT_BLOCK, block, &why)) return 1;
  /* <Read the block, and print all of it> */
  for (size_t i = 0; i < 8; i++) {
    back[i] = block_number(WEIGHT_Q4_0, block, i);
    off[i] = back[i] - w[i];
  }
  print_line("weight", w);
  printf("q       ");
  for (size_t i = 0; i < 8; i++) printf("%7d", block_whole(WEIGHT_Q4_0, block, i));
  printf("\n");
  print_line("back", back);
  print_line("error", off);
  print_line("input", x);
  printf("exact product     %7.2f\n", product(w, WEIGHT_F32, x, kernels_plain.linear));
  printf("with four bits    %7.2f\n", product(block, WEIGHT_Q4_0, x,
    kernels_plain.linear));
  printf("with int8 inputs  %7.2f\n", product(block, WEIGHT_Q4_0, x,
    kernels_plain.linear_int8));
  return 0;
}
