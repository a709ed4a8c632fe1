/* 02-model.c -- made from chapters/02-model.w; change it there */

/* 2.1 */

#include <stdio.h>
#include "02-model/forward.h"

int main(void)
{
  printf("kernels: %s\n", kernels_find("scalar", NULL)->name);
  return 0;
}
