==== check
# the shares of workers: whole steps, no two more than a step apart, and none larger than the first; the bits stay
planted
{ echo '#include <stddef.h>'; awk '/^static size_t worker_begin/ { on = 1 } on { print } on && /^}/ { exit }' $work/tangled/kernels/shares.inc
  echo 'size_t ex_begin(size_t n, size_t step, unsigned w, unsigned of) { return worker_begin(n, step, w, of); }'; } > $work/answer.c
object $work/answer.c $work/answer.o $include; objects="$objects $work/answer.o"
says_like_ours --reading                # a cage without files has no threads either
==== test
#include "exercise.h"
#include "kernels/kernels.h"
size_t ex_begin(size_t n, size_t step, unsigned w, unsigned of);
enum { SIZES = 200, IN = 40, ROWS = 3, OUT = 300 };
static void test(unsigned size)
{
  size_t n = 1 + draw(1500), step = draw(2) ? 16 : 32, least = n, most = 0, first = 0, broken = 0; unsigned of = 1 + draw(9);
  tell("%zu outputs in steps of %zu, %u workers", n, step, of);
#ifndef OURS
  for (unsigned w = 0; w < of; w++) {
    size_t from = ex_begin(n, step, w, of), to = ex_begin(n, step, w + 1, of), steps = (to - from + step - 1) / step;
    broken += to < from || (from % step != 0 && from != n);
    least = steps < least ? steps : least, most = steps > most ? steps : most;
    if (w == 0) first = steps;
  }
  say("begins at %zu, ends at %zu", ex_begin(n, step, 0, of), ex_begin(n, step, of, of));
#else
  size_t steps = (n + step - 1) / step;
  first = most = (steps + of - 1) / of, least = steps / of;
  say("begins at 0, ends at %zu", n);
#endif
  say("parts that begin within a step: %zu, steps of the first %zu, of the largest %zu, of the smallest %zu", broken, first, most, least);
  if (size % 40 != 0) return;
  struct memory m = { 0 }; struct error why;
  static float x[IN * ROWS], w[IN * OUT], y[OUT * ROWS];
  for (int i = 0; i < IN * ROWS; i++) x[i] = draw_float();
  for (int i = 0; i < IN * OUT; i++) w[i] = draw_float();
  struct matrix one = { .weight = { w, WEIGHT_F32 }, .in = IN, .out = OUT };
  struct engine e = { .k = &kernels_plain, .pool = pool_open(&m, OF(3, 1), &why) };
  float *to = y;
  if (e.pool == NULL || !pool_reserve(e.pool, e.k->room(&one, 1, ROWS), &why)) return;
  e.k->linear(&e, &one, 1, x, ROWS, &to);
  pool_close(&m, e.pool);
  say("bits with three workers: %llx", (unsigned long long) hash_of(y, sizeof y));
}
==== answer
== tangled/kernels/shares.inc
-  size_t begin = (n + step - 1) / step * worker / workers * step;
+  size_t begin = ((n + step - 1) / step * worker + workers - 1) / workers * step;
==== wrong
== tangled/kernels/shares.inc
-  size_t begin = (n + step - 1) / step * worker / workers * step;
+  size_t begin = ((n + step - 1) / step + workers - 1) / workers * worker * step;
==== skeleton
# worker_begin is in tangled/kernels/shares.inc.  Write == FILE, then - lines and + lines
