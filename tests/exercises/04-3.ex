==== check
set -e
# the smallest g with as many rows saved as computed, p = 100
cat > $BUILD/ex.c <<"C"
#include "tiny.h"
#include "loop/generate.h"
#include "cache/cache.h"
/* p g keep: rows in the cache at the end, rows computed, pairs, counted by running the loop on a tiny random model */
int main(int argc, char **argv)
{
  size_t p = strtoul(argv[1], NULL, 10), g = strtoul(argv[2], NULL, 10);
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why; (void) argc;
  tiny_make(&t, 1);
  struct engine e = {kernels_find(NULL, NULL), NULL, &c};
  struct generate_context gen = {&e, &t.lm, cache_open(&m, &t.lm.config, 1, &(struct cache_options) {.rows = 0}, &why), &m};
  uint32_t prompt[300]; for (size_t i = 0; i < p; i++) prompt[i] = (uint32_t) (i % TINY_V);
  struct generate_options want = {.max_new_tokens = g, .recall = argv[3][0] == '1' ? store_match_prefix : NULL}; struct continuation out;
  if (!generate(&gen, prompt, p, &want, &out, &why)) return 1;
  printf("%d %d %d\n", (int) store_length(gen.s, 0), (int) c.rows, (int) c.qk_pairs);
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
mine=$(grep -v "^#" "$1"); [ -n "$mine" ]; g=0; saved=0; did=1
while [ $saved -lt $did ]; do g=$((g + 1)); set -- $($BUILD/ex 100 $g 0) $($BUILD/ex 100 $g 1); did=$5; saved=$(($2 - $5)); done
[ "$mine" = "$g" ]
==== answer
3
==== wrong
2
==== skeleton
# tokens written
