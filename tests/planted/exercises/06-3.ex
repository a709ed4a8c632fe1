==== check
# pages at most, and at least: counted in a cache, once the text is longer than the window
engine <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
static size_t most = 0, least = 1000;
static void read_text(const struct tiny *t, uint64_t seed, size_t fixed)     /* passes of FIXED rows, or of 1 to 8 at random */
{
  struct memory m = {0}; struct counters count = {0}; struct error why; struct pass *p;
  struct engine e = {kernels_find(NULL, NULL), NULL, &count};
  struct store *s = cache_open(&m, &t->lm.config, 1, &(struct cache_options) {.page_rows = 16, .pass = 8}, &why);
  struct row row[8];
  for (uint32_t at = 0;;) {
    size_t n = fixed > 0 ? fixed : 1 + rnd(&seed) % 8;
    if (at + n > TINY_CONTEXT) break;
    for (uint32_t i = 0; i < n; i++) row[i] = (struct row) {0, at + i, (at + i) % TINY_V};
    if (!model_forward(&e, &t->lm, s, row, n, &p, &why)) exit(1);
    pass_close(p);
    size_t used = cache_look(s).pages_used;
    if (at >= 100 && used > most) most = used;
    if (at >= 100 && used < least) least = used;
    at += (uint32_t) n;
  }
  store_close(s);
}
int main(void)
{
  struct tiny t; struct error why;
  tiny_make(&t, 1);
  if (!config_set_window(&t.lm.config, 100, 0, &why)) return 1;
  for (size_t n = 1; n <= 8; n++) read_text(&t, 0, n);
  for (uint64_t seed = 1; seed <= 20; seed++) read_text(&t, seed, 0);
  printf("%zu %zu\n", most, least);
  return 0;
}
C
is $(run)
==== answer
8 7
==== wrong
7 7
==== skeleton
# pages at most, at least
