==== check
set -e
# the stage stage_dry: each token's penalty by the longest repetition that it would go on with, on random texts of few tokens
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "suite.h"
#include "kernels/kernels.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"

enum { V = 6, MOST = 40 };
int main(void)
{
  struct memory m = {0}; struct error why; struct funnel f; uint64_t seed = 11; float z[V]; uint32_t id[MOST]; size_t hit = 0;
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), V, &why)) return 1;
  for (int round = 0; round < 3000; round++) {
    size_t n = rnd(&seed) % MOST, a = 1 + rnd(&seed) % 3; double w[V], b = 1 + (double) (rnd(&seed) % 8) / 8, by = round % 9 == 0 ? 0 : .75;
    for (size_t i = 0; i < n; i++) id[i] = (uint32_t) (rnd(&seed) % (round % 2 ? 2 : 4));
    for (int i = 0; i < V; i++) w[i] = z[i] = (float) (rnd(&seed) % 64) / 8;
    if (round % 5 == 0) w[1] = z[1] = -INFINITY;
    for (uint32_t t = 0; t < V; t++) {
      size_t max_len = 0;
      for (size_t i = 1; i < n; i++)
        for (size_t l = 1; id[i] == t && l <= i; l++)
          if (memcmp(id + i - l, id + n - l, l * sizeof *id) == 0 && l > max_len) max_len = l;
      if (max_len >= a && by > 0) w[t] -= by * pow(b, (double) (max_len - a)), hit++;
    }
    if (!funnel_fill(&f, z, &why)) return 1;
    if (round % 3 == 0) funnel_distribution(&f);                            /* the list may stand by falling score */
    stage_dry(&f, by, b, a, id, n);
    for (int i = 0; i < V; i++)
      if (f.count[i] != 0 || (w[i] == -INFINITY ? f.score[i] > -INFINITY : !(fabs(f.score[i] - w[i]) < 1e-6 * (1 + fabs(w[i]))))) return 2;
    funnel_distribution(&f);
    for (size_t i = 1; i < f.n; i++) if (f.weight[i] > f.weight[i - 1]) return 3;
    if (f.n != (size_t) (round % 5 == 0 ? V - 1 : V)) return 4;
  }
  funnel_close(&f);
  return hit < 3000 || m.all.live != 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/sampling/funnel.h
-void funnel_no_repeat_ngram(struct funnel *f, size_t n,
+void stage_dry(struct funnel *f, double m, double b, size_t a,
+               const uint32_t *id, size_t n);
+void funnel_no_repeat_ngram(struct funnel *f, size_t n,
== tangled/sampling/funnel.c
-void funnel_no_repeat_ngram(struct funnel *f, size_t n,
+void stage_dry(struct funnel *f, double m, double b, size_t a,
+               const uint32_t *id, size_t n)
+{
+  if (m == 0)
+    return;
+  sort_by_id(f);
+  for (size_t i = 1; i < n; i++) {
+    size_t l = 0;
+    while (l < i && id[i - 1 - l] == id[n - 1 - l])
+      l++;
+    if (l >= a && l > f->count[id[i]])
+      f->count[id[i]] = (uint32_t) l;
+  }
+  for (size_t i = 1; i < n; i++) {
+    double *score = &f->score[id[i]], less = m;
+    if (f->count[id[i]] > 0 && *score > -INFINITY) {
+      for (size_t j = a; j < f->count[id[i]]; j++)
+        less *= b;
+      *score -= less;
+    }
+    f->count[id[i]] = 0;
+  }
+  drop_masked(f);
+}
+void funnel_no_repeat_ngram(struct funnel *f, size_t n,
==== wrong is the answer but
-+    if (l >= a && l > f->count[id[i]])
++    if (l >= a)
==== skeleton
== tangled/sampling/funnel.h
-void funnel_no_repeat_ngram(struct funnel *f, size_t n,
+void stage_dry(struct funnel *f, double m, double b, size_t a,
+               const uint32_t *id, size_t n);
+void funnel_no_repeat_ngram(struct funnel *f, size_t n,
== tangled/sampling/funnel.c
-void funnel_no_repeat_ngram(struct funnel *f, size_t n,
+void stage_dry(struct funnel *f, double m, double b, size_t a,
+               const uint32_t *id, size_t n)
+{
+  (void) f, (void) m, (void) b, (void) a, (void) id, (void) n;
+}
+void funnel_no_repeat_ngram(struct funnel *f, size_t n,
