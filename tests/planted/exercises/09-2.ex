==== check
# the texts that three beams keep after the second step
engine <<'C'
#include "exercises/three_tokens.h"
#include "kernels/kernels.h"
static bool see(void *ctx, const struct search_step *now)
{
  (void) ctx;
  for (size_t i = 0; now->number == 2 && i < now->n_candidates; i++)
    if (now->candidate[i].outcome == OUTCOME_KEPT) printf("%c%c\n", 'a' + (int) now->active[now->candidate[i].parent].id[1], 'a' + (int) now->candidate[i].token);
  return true;
}
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; struct search_result r; (void) argc;
  struct search_source from = {.vocab = 4, .score = score};
  struct search_settings want = {.num_beams = 3, .num_return = 1, .max_length = 4, .see = see};
  if (!load(argv[1])) return 1;
  return !search_run(&from, &m, kernels_find(NULL, NULL), &(uint32_t) {BEGINNING}, 1, &want, &r, &why);
}
C
printf '%s\n' '- 0.5 0.4 0.1' 'a 0.4 0.3 0.3' 'b 0.1 0.1 0.8' 'aa 0.6 0.2 0.2' 'bc 0.5 0.25 0.25' > $work/model
is $(run $work/model)
==== answer
bc
aa
ab
==== wrong
bc
aa
ac
==== skeleton
# three texts, one a line, the best first
