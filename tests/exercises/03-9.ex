==== check
set -e
# two formulas in p and c for the shell, a line each: tokens written when the loop runs until the context c is full, and rows computed
[ "$(grep -vc "^#" "$1")" = 2 ]
a=$(grep -v "^#" "$1" | sed -n 1p); b=$(grep -v "^#" "$1" | sed -n 2p)
cat > $BUILD/ex.c <<"C"
#include "tiny.h"
#include "loop/generate.h"
/* p g window context: rows and pairs of the naive loop, and tokens written, counted by running it on a tiny random model */
int main(int argc, char **argv)
{
  size_t p = strtoul(argv[1], NULL, 10), g = strtoul(argv[2], NULL, 10);
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why; (void) argc;
  tiny_make(&t, 1);
  t.lm.config.window = (uint32_t) atoi(argv[3]), t.lm.config.n_positions = (uint32_t) atoi(argv[4]);
  struct engine e = {kernels_find(NULL, NULL), NULL, &c};
  struct generate_context gen = {&e, &t.lm, store_open(&m, &t.lm.config, 1, &why), &m};
  uint32_t prompt[300]; for (size_t i = 0; i < p; i++) prompt[i] = (uint32_t) (i % TINY_V);
  struct generate_options want = {.max_new_tokens = g}; struct continuation out;
  if (!generate(&gen, prompt, p, &want, &out, &why)) return 1;
  printf("%d %d %d\n", (int) c.kv_rows_computed, (int) c.qk_pairs, (int) (out.text.n - p));
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
for pc in "1 10" "10 10" "7 40" "33 100"; do set -- $pc; p=$1; c=$2; eval "x=\$(( $a )); y=\$(( $b ))"; set -- $($BUILD/ex $p 1000 0 $c); [ "$x $y" = "$3 $1" ]; done
==== answer
c-p+1
c*(c+1)/2-p*(p-1)/2
==== wrong
c-p
c*(c+1)/2-p*(p+1)/2
==== skeleton
# tokens written, then rows computed, in terms of p and c
