==== check
set -e
# the stage top_n_sigma: what it keeps, that a temperature before it changes nothing, that 0 is off; and the other stages are as they were
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "suite.h"
#include "kernels/kernels.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "settings/settings.h"

enum { V = 300 };
static const char *const name[] = {"top_n_sigma", "temperature", "top_k"};
int main(void)
{
  struct memory m = {0}; struct error why; struct funnel f; uint64_t seed = 1; float z[V];
  struct history none = {NULL, 0, 0};
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), V, &why)) return 1;
  for (int round = 0; round < 400; round++) {
    struct sampling_params s = sampling_default, t;
    double max = -INFINITY, mean = 0, variance = 0, n = 0; size_t kept = 0;
    for (int i = 0; i < V; i++) {
      z[i] = (float) (rnd(&seed) % 4096) / 256 + 40;
      if (rnd(&seed) % 4 == 0) z[i] = -INFINITY;
      else { mean += z[i], n++; if (z[i] > max) max = z[i]; }
    }
    mean /= n;
    for (int i = 0; i < V; i++) if (z[i] > -INFINITY) variance += (z[i] - mean) * (z[i] - mean) / n;
    s.top_n_sigma = .1 + (double) (rnd(&seed) % 40) / 16, s.temperature = .3 + (double) (rnd(&seed) % 40) / 16;
    t = s;
    bool near = false;
    for (int i = 0; i < V; i++) near |= z[i] > -INFINITY && fabs(max - z[i] - s.top_n_sigma * sqrt(variance)) < 1e-9;
    if (near) continue;
    if (!sampling_stages_parse(&s, name, 2, &why) || !sampling_check(&s, V, &why) || !sampling_run(&f, &s, z, none, &why)) return 2;
    for (int i = 0; i < V; i++) {
      bool in = z[i] > -INFINITY && max - z[i] <= s.top_n_sigma * sqrt(variance);
      if (in != (f.score[i] > -INFINITY)) return 3;
      kept += in;
    }
    if (f.n != kept) return 4;
    s.stage[0] = t.stage[0] = 0;
    const char *turned[] = {"temperature", "top_n_sigma"};
    if (!sampling_stages_parse(&s, turned, 2, &why) || !sampling_run(&f, &s, z, none, &why) || f.n != kept) return 5;
    t = sampling_default, t.top_n_sigma = s.top_n_sigma;                     /* it is in the normal order, and off in it */
    if (!sampling_check(&t, V, &why) || !sampling_run(&f, &t, z, none, &why) || f.n != kept) return 6;
    t = sampling_default;
    if (!sampling_run(&f, &t, z, none, &why) || f.n != (size_t) n) return 7;
  }
  struct sampling_params s = sampling_default;
  struct sequence_bias b = {(uint32_t [1]) {3}, 1, 2};
  unsigned times[N_SAMPLE_STAGES] = {0};
  if (s.n_stages != N_SAMPLE_STAGES) return 8;
  for (size_t i = 0; i < N_SAMPLE_STAGES; i++) if (times[s.stage[i]]++ > 0) return 9;
  for (int i = 0; i < V; i++) z[i] = 1;
  s.logit_bias = &b, s.n_logit_bias = 1;
  if (!sampling_run(&f, &s, z, none, &why) || f.score[3] != 3) return 10;
  s.top_n_sigma = -1;
  if (sampling_check(&s, V, &why)) return 11;
  funnel_close(&f);
  return m.all.live != 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/sampling/sampling.h
-  SAMPLE_TYPICAL_P, N_SAMPLE_STAGES
+  SAMPLE_TYPICAL_P, STAGE_TOP_N_SIGMA, N_SAMPLE_STAGES
== tangled/sampling/sampling.h
-  double temperature;
+  double temperature, top_n_sigma;
== tangled/sampling/funnel.h
-void funnel_min_p(struct funnel *f, double m);
+void stage_top_n_sigma(struct funnel *f, double n);
+void funnel_min_p(struct funnel *f, double m);
== tangled/sampling/funnel.c
-void funnel_min_p(struct funnel *f, double m)
-{
+void stage_top_n_sigma(struct funnel *f, double n)
+{
+  if (n == 0)
+    return;
+  double max = max_score(f), mean = 0, variance = 0;
+  for (size_t i = 0; i < f->n; i++)
+    mean += f->score[f->candidates[i]] - max;
+  mean /= (double) f->n;
+  for (size_t i = 0; i < f->n; i++) {
+    double d = f->score[f->candidates[i]] - max - mean;
+    variance += d * d;
+  }
+  variance /= (double) f->n;
+  for (size_t i = 0; i < f->n; i++) {
+    double d = f->score[f->candidates[i]] - max;
+    if (d * d > n * n * variance)
+      f->score[f->candidates[i]] = -INFINITY;
+  }
+  drop_masked(f);
+}
+void funnel_min_p(struct funnel *f, double m)
+{
== tangled/settings/settings.c
-  OPTION(top_p, SAMPLE_TOP_P, 0, 1, false, "0 to 1"),
+  OPTION(top_n_sigma, STAGE_TOP_N_SIGMA, 0, DBL_MAX, false,
+       "0 or more"),
+  OPTION(top_p, SAMPLE_TOP_P, 0, 1, false, "0 to 1"),
== tangled/sampling/sampling.c
-            SAMPLE_TOP_K, SAMPLE_TOP_P, SAMPLE_MIN_P, SAMPLE_TYPICAL_P},
+            SAMPLE_TOP_K, SAMPLE_TOP_P, SAMPLE_MIN_P, SAMPLE_TYPICAL_P,
+            STAGE_TOP_N_SIGMA},
== tangled/sampling/sampling.c
-  "ngram", "temperature", "top_k", "top_p", "min_p", "typical_p"
+  "ngram", "temperature", "top_k", "top_p", "min_p", "typical_p",
+  "top_n_sigma"
== tangled/sampling/sampling.c
-  if (stage == SAMPLE_TYPICAL_P)
+  if (stage == STAGE_TOP_N_SIGMA)
+    stage_top_n_sigma(f, s->top_n_sigma);
+  if (stage == SAMPLE_TYPICAL_P)
==== wrong is the answer but
-+            SAMPLE_TOP_K, SAMPLE_TOP_P, SAMPLE_MIN_P, SAMPLE_TYPICAL_P,
++            SAMPLE_TOP_K, SAMPLE_TOP_P, SAMPLE_MIN_P, SAMPLE_TYPICAL_P},
-+            STAGE_TOP_N_SIGMA},
==== skeleton
== tangled/sampling/sampling.h
-  double temperature;
+  double temperature, top_n_sigma;
== tangled/sampling/funnel.h
-void funnel_min_p(struct funnel *f, double m);
+void stage_top_n_sigma(struct funnel *f, double n);
+void funnel_min_p(struct funnel *f, double m);
== tangled/sampling/funnel.c
-void funnel_min_p(struct funnel *f, double m)
-{
+void stage_top_n_sigma(struct funnel *f, double n)
+{
+  (void) f, (void) n;
+}
+void funnel_min_p(struct funnel *f, double m)
+{
