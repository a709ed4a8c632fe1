/* the program -- made from workshop/06-tokenizer-json.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tokenizer-json/tokenizer_json.h"
#include "tokenizer-json/shown.inc"

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "alphabet") == 0) return print_alphabet();
  if (strcmp(what, "values") == 0) return print_values();
  return print_round_trip();
}
