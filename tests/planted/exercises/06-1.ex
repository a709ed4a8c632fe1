==== check
# bytes a token leaves in f16, and in q8_0
engine <<'C'
#include <inttypes.h>
#include <stdio.h>
#include "accounts/accounts.h"
int main(void)
{
  struct error why;
  struct model_config c = {.n_layers = 26, .n_heads = 8, .n_kv_heads = 4, .head_dim = 256};
  printf("%" PRIu64 " %" PRIu64 "\n", footprint_token(&c, format_find("f16", &why)), footprint_token(&c, format_find("q8_0", &why)));
  return 0;
}
C
is $(run)
==== answer
106496 56576
==== wrong
106496 53248
==== skeleton
# bytes in f16, in q8_0
