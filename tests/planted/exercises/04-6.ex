==== check
# bytes a position of 2-byte numbers; and with 4 heads of keys and values
engine <<'C'
#include "suite.h"
#include "cache/cache.h"
static size_t bytes(uint32_t kv)
{
  struct memory m = {0}; struct error why;
  struct model_config c = {.n_positions = 64, .n_layers = 24, .n_heads = 16, .n_kv_heads = kv, .head_dim = 64};
  struct store *s = cache_open(&m, &c, 1, &(struct cache_options) {.preallocate = true, .page_rows = 64}, &why);
  return m.of[MEMORY_CACHE].live / 64 / 2; /* this one's numbers have four */
}
int main(void) { printf("%zu %zu\n", bytes(16), bytes(4)); return 0; }
C
is $(run)
==== answer
98304 24576
==== wrong
49152 12288
==== skeleton
# bytes with 16 heads, and with 4
