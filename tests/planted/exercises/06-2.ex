==== check
# bytes of a text with the windows, and without
engine <<'C'
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "accounts/accounts.h"
static uint64_t bytes(const struct model_config *c)
{
  struct error why; uint64_t sum;
  struct cache_plan p = {format_find("f16", &why), 8192, 1, 1, 1};
  if (!footprint_cache(c, &p, &sum, &why)) exit(1);
  return sum;
}
int main(void)
{
  struct model_config c = {.n_positions = 8192, .n_layers = 26, .n_heads = 8, .n_kv_heads = 4, .head_dim = 256, .window = 4096, .window_listed = true};
  for (uint32_t i = 1; i < c.n_layers; i += 2) c.windowed[i / 8] |= (uint8_t) (1 << i % 8);
  printf("%" PRIu64, bytes(&c));
  c.window = 0;
  printf(" %" PRIu64 "\n", bytes(&c));
  return 0;
}
C
is $(run)
==== answer
654311424 872415232
==== wrong
436207616 872415232
==== skeleton
# bytes with the windows, and without
