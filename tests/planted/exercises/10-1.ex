==== check
# bytes of a matrix in q4_0, q4_1 and q6_k
engine <<'C'
#include <stdio.h>
#include "functions/number_type.h"
int main(void)
{
  printf("%zu %zu %zu\n", 11008 * weight_row_bytes(WEIGHT_Q4_0, 4096), 11008 * weight_row_bytes(WEIGHT_Q4_1, 4096), 11008 * weight_row_bytes(WEIGHT_Q6_K, 4096));
  return 0;
}
C
is $(run)
==== answer
25362432 28180480 36986880
==== wrong
22544384 22544384 33816576
==== skeleton
# bytes in q4_0, in q4_1, in q6_k
