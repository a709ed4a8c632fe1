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
    for (int k = 0; k < 2000 && number_types[t].block <= WEIGHT_BLOCK; k++) {
      float x[WEIGHT_BLOCK];
      for (int i = 0; i < WEIGHT_BLOCK; i++) x[i] = (float) ((double) (rnd(&seed) >> 11) * 0x1p-52 - 0.7);
      x[5] = 0;
      if (!weights_encode((enum weight_type) t, x, WEIGHT_BLOCK, b, &why)) return 1;
      stays &= tensor_number((struct tensor) { b, (enum weight_type) t }, 5) == 0;
    }
    /* blocks that we only read: is there a code for zero with every scale? */
    if (number_types[t].block > WEIGHT_BLOCK) stays = !block_has_min((enum weight_type) t);
    n += stays;
  }
  printf("%d\n", n);
  return 0;
}
C
is $(run)
==== answer
7
==== wrong
10
==== skeleton
# how many of the ten
