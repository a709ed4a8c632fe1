/* the program -- made from chapters/11-simd.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "kernels/kernels.h"

/* <Print a product with its bits> */
static int print_product(void)
{
  enum { IN = 21, OUT = 3 };
  float x[IN], w[IN * OUT], first[OUT], y[OUT], *place = y;
  int apart = 0;
  for (int i = 0; i < IN; i++) x[i] = 1.0f / (float) (i + 1);
  for (int i = 0; i < IN * OUT; i++) w[i] = (float) (i % 8) - 2.9f;
  struct matrix m = { .weight = { w, WEIGHT_F32 }, .in = IN, .out = OUT };
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    struct engine e = { .k = kernels_at(i) };
    e.k->linear(&e, &m, 1, x, 1, &place);
    if (i == 0) memcpy(first, y, sizeof y);
    for (int o = 0; o < OUT; o++) apart += num_bits32(y[o]) != num_bits32(first[o]);
  }
  for (int o = 0; o < OUT; o++)
    printf("output %d         %12.6f  %08x\n", o, (double) y[o], num_bits32(y[o]));
  printf("%d numbers in which the tables differ\n", apart);
  return apart > 0;
}

int main(int argc, char **argv)
{
  struct error why;
  if (argc > 1) return strcmp(argv[1], "values") != 0;
  if (kernels_find(NULL, &why) == NULL) return 1;
  return print_product();
}
