/* A6-kernels.c -- made from chapters/A6-kernels.w; change it there */

/* F.1 */

#include <stdio.h>
#include "A6-kernels/kernels.h"

int main(void)
{
  printf("kernels: %s\n", kernels_find("scalar", NULL)->name);
  return 0;
}
