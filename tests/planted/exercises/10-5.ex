==== check
# the types in which a zero stays one, whatever else is in its block
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "model/quantization.h"
#include "tiny.h"
int main(void)
{
  int n = 0; uint64_t seed = 3; struct error why; unsigned char b[1024];
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++) {
    bool stays = true;
    for (int k = 0; k < 2000 && number_types[t].block <= WEIGHT_BLOCK && number_types[t].is_written; k++) {
      float x[WEIGHT_BLOCK];
      for (int i = 0; i < WEIGHT_BLOCK; i++) x[i] = (float) ((double) (rnd(&seed) >> 11) * 0x1p-52 - 0.7);
      x[5] = 0;
      if (!weights_encode((enum weight_type) t, x, WEIGHT_BLOCK, b, &why)) return 1;
      stays &= tensor_number((struct tensor) { b, (enum weight_type) t }, 5) == 0;
    }
    /* blocks of another length, and those that we only read: is there a code for zero with every scale? */
    bool zero = number_types[t].steps == STEPS_EQUAL;
    for (int i = 0; i < 16 && !zero; i++) zero = block_steps[number_types[t].steps][i] == 0;
    if (number_types[t].block > WEIGHT_BLOCK || !number_types[t].is_written) stays = zero && !block_has_min((enum weight_type) t);
    n += stays;
  }
  printf("%d\n", n);
  return 0;
}
C
is $(run)
==== answer
9
==== wrong
11
==== skeleton
# how many of the types
