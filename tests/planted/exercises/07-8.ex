==== check
# the stage top_n_sigma: what it keeps, that a temperature before it changes nothing, that 0 is off; and the other stages are as they were
planted
says_like_ours
==== test
#include "exercise.h"
#include "kernels/kernels.h"
#include "sampling/settings.h"
enum { SIZES = 60, V = 300 };
static struct funnel f;
static void left(const char *how, const uint8_t *in)
{
  uint8_t kept[V];
  size_t n = 0;
  for (int i = 0; i < V; i++) n += kept[i] = in != NULL ? in[i] : f.score[i] > -INFINITY;
  say("%s: %zu left, listed %zu, which: %llx", how, n, in != NULL ? n : f.n, (unsigned long long) hash_of(kept, V));
}
static void test(unsigned size)
{
  struct memory m = { 0 }; struct error why; float z[V]; struct history none = { NULL, 0, 0 }; uint8_t in[V], all[V];
  struct sampling_params s = sampling_default(); double max, mean, variance, n, by; bool close;
  if (!funnel_open(&f, &m, kernels_find(NULL, NULL), V, &why)) return;
  do {
    max = -INFINITY, mean = variance = n = 0, by = .1 + draw(40) / 16.0, close = false;
    for (int i = 0; i < V; i++) {
      all[i] = draw(4) > 0, z[i] = all[i] ? (float) draw(4096) / 256 + 40 : -INFINITY;
      if (all[i]) mean += z[i], n++, max = fmax(max, z[i]);
    }
    mean /= n;
    for (int i = 0; i < V; i++) if (all[i]) variance += (z[i] - mean) * (z[i] - mean) / n;
    for (int i = 0; i < V; i++) in[i] = all[i] && max - z[i] <= by * sqrt(variance), close |= all[i] && fabs(max - z[i] - by * sqrt(variance)) < 1e-9;
  } while (close);
  s.temperature = .3 + draw(40) / 16.0;
  tell("n is %g, the temperature %g", by, s.temperature);
#ifdef OURS
  left("before a temperature", in), left("after it", in), left("in the normal order", in), left("off", all);
  say("the last stage of the normal order is top_n_sigma"), say("stages that come twice: 0"), say("with a bias: %d", 3), say("a negative value: refused");
#else
  static const char *const name[] = { "top_n_sigma", "temperature", "top_n_sigma" };
  struct sampling_params t = sampling_default();
  s.top_n_sigma = by;
  if (!sampling_stages_parse(&s, name, 2, &why) || !sampling_check(&s, V, &why) || !sampling_run(&f, &s, z, none, &why)) { tell("%s", why.text); return; }
  int stage = s.stage[0];
  left("before a temperature", NULL);
  if (!sampling_stages_parse(&s, name + 1, 2, &why) || !sampling_run(&f, &s, z, none, &why)) return;
  left("after it", NULL);
  t.top_n_sigma = by;
  if (!sampling_check(&t, V, &why) || !sampling_run(&f, &t, z, none, &why)) return;
  left("in the normal order", NULL);
  t = sampling_default();
  if (!sampling_run(&f, &t, z, none, &why)) return;
  left("off", NULL);
  say("the last stage of the normal order is %s", (int) t.stage[t.n_stages - 1] == stage ? "top_n_sigma" : "another");
  unsigned times[N_SAMPLE_STAGES] = { 0 }, twice = t.n_stages != N_SAMPLE_STAGES;
  for (size_t i = 0; i < t.n_stages; i++) twice += times[t.stage[i]]++ > 0;
  say("stages that come twice: %u", twice);
  struct sequence_bias b = { (uint32_t [1]) { 3 }, 1, 2 };
  for (int i = 0; i < V; i++) z[i] = 1;
  t.logit_bias = &b, t.n_logit_bias = 1;
  if (!sampling_run(&f, &t, z, none, &why)) return;
  say("with a bias: %g", f.score[3]);
  t.top_n_sigma = -1;
  say("a negative value: %s", sampling_check(&t, V, &why) ? "accepted" : "refused");
#endif
  funnel_close(&f);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
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
== tangled/sampling/sampling.c
-  [SAMPLE_TYPICAL_P] = {
+  [STAGE_TOP_N_SIGMA] = { .name = "top_n_sigma", .option = {
+    { FIELD(top_n_sigma), .high = DBL_MAX, .option = "top-n-sigma", .value = "N", .expected = "0 or more",
+      .words = "only those within N standard deviations of the best", .otherwise = "0" } } },
+  [SAMPLE_TYPICAL_P] = {
== tangled/sampling/sampling.c
-  case SAMPLE_TYPICAL_P:
+  case STAGE_TOP_N_SIGMA: stage_top_n_sigma(f, s->top_n_sigma); break;
+  case SAMPLE_TYPICAL_P:
==== wrong is the answer but
-+  SAMPLE_TYPICAL_P, STAGE_TOP_N_SIGMA, N_SAMPLE_STAGES
++  STAGE_TOP_N_SIGMA, SAMPLE_TYPICAL_P, N_SAMPLE_STAGES
==== skeleton
# an option top_n_sigma and a stage in tangled/sampling/: sampling.h, funnel.h, funnel.c, and its row in sampling.c
== tangled/sampling/sampling.h
-  double temperature;
+  double temperature, top_n_sigma;
