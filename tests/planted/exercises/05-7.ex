==== check
# the most surprising token of a text: the one with the largest loss, by one pass over all of it
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
#include "cache/cache.h"
#include "phases/phases.h"
enum { SIZES = 12 };
static void test(unsigned size)
{
  struct memory m = { 0 }; struct counters c = { 0 }; struct tiny t; struct error why; struct perplexity p;
  uint32_t id[60], n = 5 + draw(56); double lp[60], sum; size_t worst = 1;
  tiny_make(&t, fresh());
  for (uint32_t i = 0; i < n; i++) id[i] = size == 1 ? 3 : draw(TINY_V);
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct generate_context gen = { &e, &t.lm, cache_open(&m, &t.lm.config, 1, &(struct cache_options) { .rows = 0 }, &why), &m };
  if (!perplexity_of(&gen, id, n, n, n, &p, &why)) return;
  tell("a text of %u tokens", n), say("tokens scored: %zu", p.tokens), say_near("loss", p.loss);
#ifdef OURS
  if (!model_logprobs(&e, &t.lm, array_store_open(&m, &t.lm.config, &why), id, n, lp, &sum, &why)) return;
  for (size_t i = 1; i < n; i++) if (lp[i] < lp[worst]) worst = i;
#else
  (void) lp, (void) sum, worst = p.worst;
#endif
  say("the most surprising: token %zu", worst);
  if (size > 8) {                                     /* and with windows */
    uint32_t context = 4 + draw(n - 4);
    if (!perplexity_of(&gen, id, n, context, 1, &p, &why)) return;
    say("tokens scored in windows: %zu", p.tokens);
  }
}
==== answer
== tangled/phases/phases.h
-  size_t tokens, windows;
+  size_t tokens, windows, worst;
== tangled/phases/phases.c
-  double *logprob;
-  struct perplexity *out;
+  double *logprob, largest;
+  struct perplexity *out;
== tangled/phases/phases.c
-      r->out->loss += loss, r->out->tokens++;
+      if (r->out->tokens == 0 || loss > r->largest)
+        r->largest = loss, r->out->worst = base + i + k + 1;
+      r->out->loss += loss, r->out->tokens++;
==== wrong is the answer but
-+        r->largest = loss, r->out->worst = base + i + k + 1;
++        r->largest = loss, r->out->worst = base + i + k;
==== skeleton
== tangled/phases/phases.h
-  size_t tokens, windows;
+  size_t tokens, windows, worst;
