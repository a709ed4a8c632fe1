==== check
# four probabilities (or weights), k, p, T; three orders leave three, two and one token
numbers 7
engine <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"
#include "kernels/kernels.h"

int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; struct funnel f; struct sampling_params s = sampling_default();
  static const char *const order[3][3] = {{"top_p", "top_k", "temperature"}, {"top_k", "top_p", "temperature"}, {"temperature", "top_k", "top_p"}};
  float z[4];
  if (argc != 8 || !funnel_open(&f, &m, kernels_find(NULL, NULL), 4, &why)) return 1;
  for (int i = 0; i < 4; i++) {
    if (!(atof(argv[1 + i]) > 0)) return 1;
    z[i] = (float) log(atof(argv[1 + i]));
  }
  s.top_k = strtoul(argv[5], NULL, 10), s.top_p = atof(argv[6]), s.temperature = atof(argv[7]);
  for (size_t i = 0; i < 3; i++) {
    if (!sampling_stages_parse(&s, order[i], 3, &why) || !sampling_check(&s, 4, &why)
        || !sampling_run(&f, &s, z, (struct history) {NULL, 0, 0}, &why)) return 1;
    printf("%zu left\n", f.n);
    if (f.n != 3 - i) return 1;
  }
  return 0;
}
C
run $(words) || no "these orders do not leave three, two and one token"
==== answer
5 4 2 1 3 0.8 0.125
==== wrong
5 4 2 1 3 0.8 0.5
==== skeleton
# four probabilities, k, p, T
