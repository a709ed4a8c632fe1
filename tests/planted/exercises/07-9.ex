==== check
# two shares, counted by drawing as the textbook does; then the change, which chooses as the textbook does
engine <<'C'
#include <math.h>
#include <stdio.h>
int main(void)
{
  enum { N = 300000 };
  double left[2] = { 0 }, changed[2] = { 0 };           /* 1/2, 3/10, 1/5; struck out: the last, the first */
  for (int i = 0; i < N; i++) {
    double u = (i + .5) / N;
    int one = u < .5 ? 0 : u < .8 ? 1 : 2;
    if (one != 2) left[0]++, changed[0] += one != (u * .8 < .5 ? 0 : 1);
    if (one != 0) left[1]++, changed[1] += one != (u * .5 < .3 ? 1 : 2);
  }
  printf("%.4f %.4f\n", changed[0] / left[0], changed[1] / left[1]);
  return 0;
}
C
sed '/^==/,$d' "$answer" > $work/numbers
( answer=$work/numbers; near .006 $(run) )
planted
says_like_ours
==== test
#include "exercise.h"
#include "kernels/kernels.h"
#include "sampling/sampling.h"
enum { SIZES = 6, V = 40 };
static uint32_t textbook(struct funnel *f, uint64_t seed, uint32_t sequence, uint32_t position)
{
  uint32_t out[4]; double sum = 0;
  philox4x32((uint32_t [2]) { (uint32_t) seed, (uint32_t) (seed >> 32) }, (uint32_t [4]) { 0, position, sequence, 0 }, out);
  double u = ((double) ((uint64_t) out[0] << 20 | out[1] >> 12) + .5) * 0x1p-52;
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    if ((sum += f->weight[i]) > u) return f->candidates[i];
  return f->candidates[f->n - 1];
}
static void test(unsigned size)
{
  struct memory m = { 0 }; struct error why; struct funnel f; float z[V]; uint64_t seed = fresh();
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), V, &why)) return;
  for (uint32_t at = 0; at < 2000; at++) {
    for (int i = 0; i < V; i++) z[i] = (float) draw(100) / 16;
    if (!funnel_fill(&f, z, &why)) return;
    if (at % 3 == 0) funnel_top_k(&f, 7);
    if (at % 3 == 1) funnel_top_p(&f, .6);
    say("place %u: %u", at, OF(funnel_choose(&f, seed, at % 5, at), textbook(&f, seed, at % 5, at)));
  }
  (void) textbook;
  funnel_close(&f);
}
==== answer
0.156 0.4
== tangled/sampling/funnel.c
-  if (f->n == 1)
-    return f->candidates[0];
-  softmax_weights(f);
+  sort_descending(f);
+  uint64_t m[16];
+  philox_bits(seed, sequence, position, (const uint32_t[16]) { 0 }, m);
+  double u = ((double) m[0] + 0.5) * 0x1p-52;
+  double part = u * softmax_weights(f), sum = 0;
+  for (size_t i = 0; i < f->n; i++)
+    if ((sum += f->weight[i]) > part)
+      return f->candidates[i];
+  return f->candidates[f->n - 1];
+}
+static uint32_t race(struct funnel *f, uint64_t seed, uint32_t sequence,
+                     uint32_t position)
+{
+  softmax_weights(f);
==== wrong is the answer but
-+  sort_descending(f);
==== skeleton
# the share of choices that change, if the last of the three is struck out; if the first is; two numbers in this line's place
# and funnel_choose in tangled/sampling/funnel.c: == FILE, then - lines and + lines
