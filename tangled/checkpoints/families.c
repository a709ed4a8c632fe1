/* the program -- made from workshop/03-models.w; change it there */

#include <math.h>
#include <stdio.h>
#include "families/rope_scaling.h"
#include "families/slowed.inc"

int main(void)
{
  print_hand();
  return 0;
}
