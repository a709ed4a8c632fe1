==== check
# the first number of tokens whose cache is larger than the weights
engine <<'C'
#include <inttypes.h>
#include <stdio.h>
#include "accounts/accounts.h"
int main(void)
{
  struct error why; struct model_config c;
  struct cache_plan p = {format_find("f16", &why), 0, 1, 0, 0};
  if (!named_shape_find("llama3-8b", &c, &why)) return 1;
  uint64_t weights = 2 * footprint_parameters(&c);
  printf("%" PRIu64 "\n", footprint_max_context(&c, &p, weights, 2 * weights) + 1);
  return 0;
}
C
is $(run)
==== answer
122533
==== wrong
30634
==== skeleton
# tokens
