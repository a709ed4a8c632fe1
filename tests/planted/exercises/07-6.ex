==== check
# two texts of the tokens 0, 1, 2, a line each: the shortest and a longest behind which n = 2 leaves nothing; all texts are tried
[ "$(lines | wc -l)" = 2 ] || no "wanted: two texts, a line each"
engine <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"
#include "kernels/kernels.h"

static struct funnel f;
static size_t shortest = 99, longest = 0;
static size_t allowed(const uint32_t *id, size_t n)
{
  struct error why;
  if (!funnel_fill(&f, (float [3]) {0, 0, 0}, &why)) exit(1);
  funnel_no_repeat_ngram(&f, 2, id, n);
  return f.n;
}
static void go_on(uint32_t *id, size_t n)
{
  if (n > 20) exit(1);
  if (allowed(id, n) == 0) {
    shortest = n < shortest ? n : shortest, longest = n > longest ? n : longest;
    return;
  }
  for (uint32_t i = 0; i < 3; i++) {
    allowed(id, n);
    if (f.score[i] == -INFINITY) continue;
    id[n] = i;
    go_on(id, n + 1);
  }
}
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; uint32_t id[32];
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), 3, &why)) return 1;
  go_on(id, 0);
  size_t n = (size_t) argc - 2;
  for (size_t i = 0; i < n; i++) {
    if (strlen(argv[2 + i]) != 1 || argv[2 + i][0] < '0' || argv[2 + i][0] > '2') return 1;
    id[i] = (uint32_t) (argv[2 + i][0] - '0');
    if (allowed(id, i) == 0 || f.score[id[i]] == -INFINITY) return 1;
  }
  return !(allowed(id, n) == 0 && n == (argv[1][0] == 's' ? shortest : longest));
}
C
run short $(lines | sed -n 1p) || no "the first line is not a shortest text after which nothing is left"
run long $(lines | sed -n 2p) || no "the second line is not a longest text after which nothing is left"
==== answer
0 0 1 0 2 0
0 0 1 1 2 2 0 2 1 0
==== wrong
0 0 1 0 2
0 0 1 1 2 2 0 2 1 0
==== skeleton
# the shortest text, and a longest, of the ids 0, 1 and 2; a line each
