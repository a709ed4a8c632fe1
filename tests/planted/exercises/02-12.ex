==== check
# the experts of the row (2,1) and their weights to a hundredth, from the engine's own router
engine <<'C'
#include <stdio.h>
#include "kernels/kernels.h"
#include "model/experts.h"
int main(void)
{
  const struct model_config c = { .n_experts = 4, .n_chosen = 2, .chosen_normed = true };
  const float router[4][2] = { { 0, 1 }, { 1, 0 }, { 1, 1 }, { -1, 0 } };
  float logit[4];
  double share[4];
  struct expert_choice own[2];
  struct engine e = {kernels_find(NULL, NULL), NULL, NULL};
  for (int i = 0; i < 4; i++) logit[i] = 2 * router[i][0] + router[i][1];
  e.k->softmax(&e, logit, 1, 4, share);
  experts_choose(&c, logit, share, own);
  printf("%u %u %.2f %.2f\n", own[0].expert, own[1].expert, own[0].weight, own[1].weight);
  return 0;
}
C
is $(run)
==== answer
1 2 0.27 0.73
==== wrong
2 1 0.24 0.67
==== skeleton
# the two experts, the lower number first, and their weights to a hundredth
