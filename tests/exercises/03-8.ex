==== check
set -e
# a formula in p, g and w for the shell: pairs of the naive loop in a model whose rows see w positions, for p not below w
f=$(grep -v "^#" "$1"); [ -n "$f" ]
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
for pgw in "8 5 8" "20 31 4" "9 1 3" "50 10 1" "30 40 17"; do set -- $pgw; p=$1; g=$2; w=$3; eval "v=\$(( $f ))"; set -- $($BUILD/ex $p $g $w 300); [ "$v" = "$2" ]; done
==== answer
w*(p*g+g*(g-1)/2)-g*w*(w-1)/2
==== wrong
w*(p*g+g*(g-1)/2)
==== skeleton
# in terms of p, g and w
