/* the program -- made from workshop/01-functions.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"

/* <Print some values of the functions> */
static void print_value(const char *name, float y)
{
  printf("%-16s %12.6f  %08x\n", name, (double) y, num_bits32(y));
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

/* <Print the errors that were measured> */
static int print_errors(void)
{
  FILE *f = fopen("figures/data/functions.ulp.csv", "r");
  char words[300], name[32];
  double error;
  if (f == NULL) return 1;
  while (fgets(words, sizeof words, f) != NULL)
    if (sscanf(words, "%31[a-z],%*[^,],%lf", name, &error) == 2)
      printf("ulp.%s %.4f\n", name, error);
  fclose(f);
  return 0;
}

int main(int argc, char **argv)
{
  if (argc > 1) return strcmp(argv[1], "values") == 0 ? print_errors() : 1;
  return print_functions();
}
