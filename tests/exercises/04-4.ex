==== check
set -e
# a formula in p and k: pairs of the cached loop
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
a=$(grep -v "^#" "$1"); [ -n "$a" ]
for pk in "3 4" "10 1" "7 30"; do set -- $pk; p=$1; k=$2; eval "x=\$(( $a ))"; set -- $($BUILD/ex $p $k 1); [ "$x" = "$3" ]; done
==== answer
p*(p+1)/2+(k-1)*p+k*(k-1)/2
==== wrong
p*(p+1)/2+k*p+k*(k-1)/2
==== skeleton
# pairs, in terms of p and k
