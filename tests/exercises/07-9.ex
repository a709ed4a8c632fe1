==== check
set -e
# two shares, then the change: one number a place, and the list by falling score; the shares are counted with it
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "suite.h"
#include "kernels/kernels.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"

static uint32_t textbook(struct funnel *f, uint64_t seed, uint32_t sequence, uint32_t position)
{
  uint32_t out[4]; double sum = 0;
  philox4x32((uint32_t [2]) {(uint32_t) seed, (uint32_t) (seed >> 32)}, (uint32_t [4]) {0, position, sequence, 0}, out);
  double u = ((double) ((uint64_t) out[0] << 20 | out[1] >> 12) + .5) * 0x1p-52;
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    if ((sum += f->weight[i]) > u) return f->candidates[i];
  return f->candidates[f->n - 1];
}
static double changes(struct funnel *f, uint32_t struck)
{
  const float z[] = {(float) log(.5), (float) log(.3), (float) log(.2)};
  struct error why; size_t others = 0, changed = 0;
  for (uint32_t at = 0; at < 300000; at++) {
    if (!funnel_fill(f, z, &why)) exit(1);
    uint32_t one = funnel_choose(f, 5, 1, at);
    if (one == struck) continue;
    if (!funnel_fill(f, z, &why)) exit(1);
    funnel_suppress(f, &struck, 1);
    others++, changed += funnel_choose(f, 5, 1, at) != one;
  }
  return (double) changed / (double) others;
}
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; struct funnel f, g; uint64_t seed = 3; float z[40];
  if (argc != 3 || !funnel_open(&f, &m, kernels_find(NULL, NULL), 40, &why) || !funnel_open(&g, &m, kernels_find(NULL, NULL), 40, &why)) return 1;
  for (uint32_t at = 0; at < 20000; at++) {
    for (int i = 0; i < 40; i++) z[i] = (float) (rnd(&seed) % 100) / 16;
    if (!funnel_fill(&f, z, &why) || !funnel_fill(&g, z, &why)) return 1;
    if (at % 3 == 0) funnel_top_k(&f, 7), funnel_top_k(&g, 7);
    if (at % 3 == 1) funnel_top_p(&f, .6), funnel_top_p(&g, .6);
    if (funnel_choose(&f, at * 0x123456789u, at % 5, at) != textbook(&g, at * 0x123456789u, at % 5, at)) return 2;
  }
  funnel_close(&f), funnel_close(&g);
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), 3, &why)) return 1;
  double last = changes(&f, 2), first = changes(&f, 0);
  printf("%.3f %.3f\n", last, first);
  funnel_close(&f);
  return fabs(atof(argv[1]) - last) > .006 || fabs(atof(argv[2]) - first) > .006;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex $(sed "/^==/,\$d" "$1" | grep -v "^#")
==== answer
0.156 0.4
== tangled/sampling/funnel.c
-  if (f->n == 1)
-    return f->candidates[0];
-  softmax_weights(f);
+  sort_descending(f);
+  double u = ((double) bits_for(seed, sequence, position, 0) + 0.5) * 0x1p-52;
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
# the share of choices that change, if the last of the three is struck out; if the first is
== tangled/sampling/funnel.c
-  if (f->n == 1)
-    return f->candidates[0];
-  softmax_weights(f);
+  if (f->n == 1)
+    return f->candidates[0];
+  softmax_weights(f);
