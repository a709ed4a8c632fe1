==== check
# the stage stage_dry: each token's penalty by the longest repetition that it would go on with, on random texts of few tokens
planted
says_like_ours
==== test
#include "exercise.h"
#include "kernels/kernels.h"
#include "sampling/sampling.h"
enum { SIZES = 300, V = 6, MOST = 40 };
static void test(unsigned size)
{
  struct memory m = { 0 }; struct error why; struct funnel f; float z[V]; double w[V]; uint32_t id[MOST];
  size_t n = draw(MOST), a = 1 + draw(3); double b = 1 + draw(8) / 8.0, by = size % 9 == 0 ? 0 : .75;
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), V, &why)) return;
  tell("%zu tokens, multiplier %g, base %g, length %zu", n, by, b, a);
  for (size_t i = 0; i < n; i++) id[i] = draw(size % 2 ? 2 : 4), tell("%u", id[i]);
  for (int i = 0; i < V; i++) w[i] = z[i] = size % 5 == 0 && i == 1 ? -INFINITY : (float) draw(64) / 8;
  if (!funnel_fill(&f, z, &why)) return;
  if (size % 3 == 0) funnel_distribution(&f);           /* the list may stand by falling score */
#ifdef OURS
  for (uint32_t t = 0; t < V; t++) {
    size_t max_len = 0;
    for (size_t i = 1; i < n; i++)
      for (size_t l = 1; id[i] == t && l <= i; l++)
        if (memcmp(id + i - l, id + n - l, l * sizeof *id) == 0 && l > max_len) max_len = l;
    if (max_len >= a && by > 0) w[t] -= by * pow(b, (double) (max_len - a));
  }
  for (int i = 0; i < V; i++) z[i] = (float) w[i];
  if (!funnel_fill(&f, z, &why)) return;
#else
  stage_dry(&f, by, b, a, id, n);
#endif
  for (int i = 0; i < V; i++) say_near("score", f.score[i] > -1e30 ? f.score[i] : -1e30), say("counts left: %u", f.count[i]);
  funnel_distribution(&f);
  say("tokens left: %zu", f.n);
  for (size_t i = 0; i < f.n; i++) say_near("weight", f.weight[i]);
  funnel_close(&f);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
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
