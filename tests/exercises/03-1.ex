==== check
set -e
# cells and needed cells of the grid for p = 2, g = 5
sh tests/numbers.sh 2 "$1" || exit 1
cat > $BUILD/ex.c <<"C"
#include "tiny.h"
#include "loop/generate.h"
/* p g: passes, rows, needed rows, pairs of the naive loop, counted by running it on a tiny random model */
int main(int argc, char **argv)
{
  size_t p = strtoul(argv[1], NULL, 10), g = strtoul(argv[2], NULL, 10);
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why; (void) argc;
  tiny_make(&t, 1);
  struct engine e = {kernels_find(NULL, NULL), NULL, &c};
  struct generate_context gen = {&e, &t.lm, store_open(&m, &t.lm.config, 1, &why), &m};
  uint32_t prompt[300]; for (size_t i = 0; i < p; i++) prompt[i] = (uint32_t) (i % TINY_V);
  struct generate_options want = {.max_new_tokens = g}; struct continuation out;
  if (!generate(&gen, prompt, p, &want, &out, &why)) return 1;
  printf("%d %d %d %d\n", (int) c.passes, (int) c.kv_rows_computed, (int) (c.kv_rows_computed - c.kv_rows_recomputed), (int) c.qk_pairs);
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
set -- $(grep -v "^#" "$1") $($BUILD/ex 2 5)
[ "$1 $2" = "$4 $5" ]
==== answer
20 6
==== wrong
20 7
==== skeleton
# cells, cells needed
