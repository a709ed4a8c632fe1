==== check
set -e
# the shares of workers: whole steps, no two more than a step apart, and none larger than the first; the bits stay
texlua tests/planted.lua "$1"
{ echo '#include <stddef.h>'; awk '/^static size_t worker_begin/ { on = 1 } on { print } on && /^}/ { exit }' $BUILD/exercise/tangled/kernels/linear.inc
cat <<"C"
#include "suite.h"
#include "kernels/kernels.h"
static size_t steps(size_t n, size_t step, unsigned w, unsigned of)
{
  return (worker_begin(n, step, w + 1, of) - worker_begin(n, step, w, of) + step - 1) / step;
}
int main(void)
{
  for (size_t step = 16; step <= 32; step += 16)
    for (size_t n = 1; n < 1500; n++)
      for (unsigned of = 1; of < 9; of++) {
        if (worker_begin(n, step, 0, of) != 0 || worker_begin(n, step, of, of) != n) return 1;
        for (unsigned w = 0; w < of; w++) {
          if (worker_begin(n, step, w, of) > worker_begin(n, step, w + 1, of)) return 2;
          if (w > 0 && worker_begin(n, step, w, of) % step != 0 && worker_begin(n, step, w, of) != n) return 3;
          if (steps(n, step, w, of) > steps(n, step, 0, of)) return 4;
          if (steps(n, step, 0, of) > steps(n, step, w, of) + 1) return 5;
        }
      }
  struct memory m = {0}; struct error why; uint64_t seed = 3;
  enum { IN = 100, OUT = 700, ROWS = 9 };
  static float x[IN * ROWS], w[IN * OUT], y[2][OUT * ROWS];
  for (int i = 0; i < IN * ROWS; i++) x[i] = (float) (rnd(&seed) % 2001) / 1000 - 1;
  for (int i = 0; i < IN * OUT; i++) w[i] = (float) (rnd(&seed) % 2001) / 1000 - 1;
  struct matrix one = { .weight = { w, WEIGHT_F32 }, .in = IN, .out = OUT };
  for (int k = 0; k < 2; k++) {
    struct engine e = { .k = kernels_find(NULL, &why), .pool = pool_open(&m, k ? 3 : 1, &why) };
    float *to = y[k];
    if (e.pool == NULL || !pool_reserve(e.pool, e.k->room(&one, 1, ROWS), &why)) return 6;
    e.k->linear(&e, &one, 1, x, ROWS, &to);
    pool_close(&m, e.pool);
  }
  return memcmp(y[0], y[1], sizeof y[0]) != 0;
}
C
} > $BUILD/ex.c
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/kernels/linear.inc
-  size_t begin = (n + step - 1) / step * worker / workers * step;
+  size_t begin = ((n + step - 1) / step * worker + workers - 1) / workers * step;
==== wrong
== tangled/kernels/linear.inc
-  size_t begin = (n + step - 1) / step * worker / workers * step;
+  size_t begin = ((n + step - 1) / step + workers - 1) / workers * worker * step;
==== skeleton
== tangled/kernels/linear.inc
-  size_t begin = (n + step - 1) / step * worker / workers * step;
+  size_t begin = (n + step - 1) / step * worker / workers * step;
