/* json.c -- made from workshop/19-json.w; change it there */

/* G.2 */

#include <string.h>
#include "json/json.h"

/* G.3  Print some numbers, each in two sizes */

static void print_numbers(void)
{
  static const double some[] = { 0.1, 0.1 + 0.2, 0x1p-96, 1e23,
    100, -0.0
  };
  char single[NUMBER_ROOM], whole[NUMBER_ROOM];
  printf("%-24s %-16s %s\n", "17 digits", "as float32", "as double");
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    number_float((float)some[i], single);
    number_double(some[i], whole);
    printf("%-24.17g %-16s %s\n", some[i], single, whole);
  }
}

int main(int argc, char **argv)
{
  if (argc < 2)
    print_numbers();
  else if (strcmp(argv[1], "values") == 0)
    number_values(stdout);
  else
    number_digits(stdout);
  return 0;
}
