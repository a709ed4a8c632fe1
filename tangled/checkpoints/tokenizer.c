/* the program -- made from workshop/04-tokenizer.w; change it there */

#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer_internal.h"
#include "tokenizer/shown.inc"

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  bool values = strcmp(what, "values") == 0;
  bool lattice = strcmp(what, "lattice") == 0;
  for (int newer = 0; newer < 2 && !lattice; newer++)
    if (!show_order(newer, values)) return 1;
  return show_lattice(values, lattice) ? 0 : 1;
}
