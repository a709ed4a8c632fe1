/* the program -- made from workshop/05-sentencepiece.w; change it there */

#include <stdio.h>
#include <string.h>
#include "sentencepiece/sentencepiece.h"
#include "sentencepiece/shown.inc"

int main(int argc, char **argv)
{
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  return spell_with_both(values) ? 0 : 1;
}
