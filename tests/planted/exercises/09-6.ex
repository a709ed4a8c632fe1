==== check
# two beams find a text that is less likely than the one that one beam finds
engine <<'C'
#include "exercises/three_tokens.h"
#include "kernels/kernels.h"
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; double sum[3]; (void) argc;
  struct search_source from = {.vocab = 4, .score = score};
  if (!load(argv[1])) return 1;
  for (size_t b = 1; b <= 2; b++) {
    struct search_result r;
    struct search_settings want = {.num_beams = b, .num_return = 1, .max_length = 4};
    if (!search_run(&from, &m, kernels_find(NULL, NULL), &(uint32_t) {BEGINNING}, 1, &want, &r, &why)) return 1;
    sum[b] = r.text[0].sum;
  }
  return !(sum[2] < sum[1] - 1e-6);
}
C
run "$answer" || no "two beams do not find a less likely text with it, or a line is no beginning with three probabilities"
==== answer
- 0.4 0.35 0.25
a 0.34 0.33 0.33
b 0.5 0.5 0
aa 1 0 0
==== wrong
- 0.4 0.35 0.25
a 0.34 0.33 0.33
b 0.5 0.5 0
==== skeleton
# lines: a beginning (- for none) and three probabilities, as in: b 0.5 0.5 0
