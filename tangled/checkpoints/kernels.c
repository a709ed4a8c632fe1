/* kernels.c -- made from chapters/11-simd.w; change it there */

/* F.2 */

#include <stdio.h>
#include <string.h>
#include "kernels/kernels.h"
#include "kernels/numbers.h"

/* F.3  Print a product with its bits */

static int print_product(void)
{
  enum { IN = 21, OUT = 3 };
  float x[IN], w[IN * OUT], first[OUT], y[OUT], *place = y;
  int apart = 0;
  for (int i = 0; i < IN; i++)
    x[i] = 1.0f / (float)(i + 1);
  for (int i = 0; i < IN * OUT; i++)
    w[i] = (float)(i % 8) - 2.9f;
  struct matrix m = {.weight = {w, WEIGHT_F32},.in = IN,.out = OUT };
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    struct engine e = {.k = kernels_at(i) };
    e.k->linear(&e, &m, 1, x, 1, &place);
    if (i == 0)
      memcpy(first, y, sizeof y);
    for (int o = 0; o < OUT; o++)
      apart += num_bits32(y[o]) != num_bits32(first[o]);
  }
  for (int o = 0; o < OUT; o++)
    printf("output %d         %12.6f  %08x\n", o, (double)y[o], num_bits32(y[o]));
  printf("%d numbers in which the tables differ\n\n", apart);
  return apart > 0;
}

/* F.4  Print some values of the functions */

static void print_value(const char *name, float y)
{
  printf("%-16s %12.6f  %08x\n", name, (double)y, num_bits32(y));
}

static int print_functions(void)
{
  print_value("expf(2)", num_expf(2));
  print_value("logf(7)", num_logf(7));
  print_value("powf(10000, 0.3)", num_powf(10000, 0.3f));
  print_value("sinf(12345)", num_sinf(12345));
  print_value("cosf(12345)", num_cosf(12345));
  print_value("tanhf(0.7)", num_tanhf(0.7f));
  print_value("erff(0.7)", num_erff(0.7f));
  return 0;
}

/* F.136  Print the errors that were measured */

static int print_errors(void)
{
  FILE *f = fopen("figures/data/kernels.ulp.csv", "r");
  char words[300], name[32];
  double error;
  if (f == NULL)
    return 1;
  while (fgets(words, sizeof words, f) != NULL)
    if (sscanf(words, "%31[a-z],%*[^,],%lf", name, &error) == 2)
      printf("ulp.%s %.4f\n", name, error);
  fclose(f);
  return 0;
}

int main(int argc, char **argv)
{
  struct error why;
  const struct kernels *k = kernels_find(NULL, &why);
  if (argc > 1 && strcmp(argv[1], "values") == 0)
    return print_errors();
  if (argc > 1 || k == NULL)
    return 1;
  return print_product() + print_functions();
}
