==== check
# bytes of a superblock of q3_k with scales of four bits, and its bits a number
engine <<'C'
#include <stdio.h>
#include "functions/number_type.h"
int main(void)
{
  const struct number_type *t = &number_types[WEIGHT_Q3_K];
  int bytes = t->bytes - t->block / t->group * 2 / 8;
  printf("%d %.4f\n", bytes, 8.0 * bytes / t->block);
  return 0;
}
C
is $(run)
==== answer
106 3.3125
==== wrong
102 3.1875
==== skeleton
# bytes, bits
