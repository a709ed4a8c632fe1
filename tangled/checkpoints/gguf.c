/* the program -- made from workshop/08-gguf.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "safetensors/tensor_file.h"

#include "gguf/shown.inc"

int main(int argc, char **argv)
{
  (void) argv;
  if (argc > 1) return 0;
  for (int damage = 0; damage < DAMAGES; damage++)
    if (!open_again(damage)) return 1;
  return 0;
}
