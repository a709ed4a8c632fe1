==== check
set -e
# two formulas in p and k, a line each: rows computed, rows needed
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
[ "$(grep -vc "^#" "$1")" = 2 ]
a=$(grep -v "^#" "$1" | sed -n 1p); b=$(grep -v "^#" "$1" | sed -n 2p)
for pk in "3 4" "10 1" "7 30"; do set -- $pk; p=$1; k=$2; eval "x=\$(( $a )); y=\$(( $b ))"; set -- $($BUILD/ex $p $k); [ "$x $y" = "$2 $3" ]; done
==== answer
k*p+k*(k-1)/2
p+k-1
==== wrong
(k-1)*p+(k-1)*(k-2)/2
p+k-2
==== skeleton
# rows computed, then rows needed, in terms of p and k
