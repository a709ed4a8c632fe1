==== check
# a formula in n: the most merges that one piece of n bytes can teach
engine <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "tokens/bpe.h"
int main(int argc, char **argv)
{
  struct memory m = {0}; struct bpe_merge *list; size_t n = strtoul(argv[1], NULL, 10), max = 0, got; uint64_t x = 88172645463325252u; (void) argc;
  for (int round = 0; round < 400; round++) {
    char text[64];
    for (size_t i = 0; i < n; i++) { x ^= x << 13, x ^= x >> 7, x ^= x << 17; text[i] = (char) (x % (unsigned) (2 + round)); }
    if (!bpe_train(&m, text, n, NULL, 100, &list, &got, NULL)) return 1;
    if (got > max) max = got;
    bpe_forget(&m, list);
  }
  printf("%d\n", (int) max);
  return 0;
}
C
for n in 2 5 $(pick 6 15) $(pick 16 30); do computes 1 $(run $n) n=$n; done
==== answer
n-1
==== wrong
n/2
==== skeleton
# a formula in n, such as n*n+1
