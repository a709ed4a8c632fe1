==== check
# a text that differs keeps nothing; one that goes on keeps all
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
#include "loop/generate.h"
#include "cache/cache.h"
enum { SIZES = 8 };
static void test(unsigned size)
{
  struct memory m = { 0 }; struct counters c = { 0 }; struct tiny t; struct error why; struct continuation out;
  size_t n = 10 + draw(20), g = 3 + draw(10), shorter = 1 + draw((uint32_t) (n + g - 1)), at = draw((uint32_t) shorter), kept;
  uint32_t id[40];
  tiny_make(&t, fresh());
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct generate_context gen = { &e, &t.lm, cache_open(&m, &t.lm.config, 1, &(struct cache_options) { .rows = 0 }, &why), &m };
  for (size_t i = 0; i < n; i++) id[i] = draw(TINY_V);
  struct generate_options want = { .max_new_tokens = g, .recall = store_match_prefix };
  if (!generate(&gen, id, n, &want, &out, &why)) return;
  for (size_t i = 0; i < out.text.n; i++) say("token %zu: %u", i, out.text.id[i]);
  say("rows, step by step: %llu", OF((unsigned long long) c.rows, (unsigned long long) (n + g - 1)));
  tell("then a text of its first %zu tokens", shorter);
  kept = store_match_prefix(gen.s, 0, out.text.id, shorter);
  say("kept %zu, and so many rows are there: %zu", kept, store_length(gen.s, 0));
  tell("then one that differs in token %zu", at);
  out.text.id[at] = (out.text.id[at] + 1) % TINY_V;
  kept = store_match_prefix(gen.s, 0, out.text.id, shorter);
  say("kept %zu, and so many rows are there: %zu", OF(kept, (size_t) 0), OF(store_length(gen.s, 0), (size_t) 0));
}
==== answer
== tangled/cache/keep.c
-  store_crop(s, sequence, k);
+  if (k < length && k < n)
+    k = 0;
+  store_crop(s, sequence, k);
==== wrong
== tangled/cache/keep.c
-  store_crop(s, sequence, k);
+  if (k < length)
+    k = 0;
+  store_crop(s, sequence, k);
==== skeleton
# store_match_prefix, in tangled/cache/keep.c, says how many rows are kept.  Write == FILE, then - lines and + lines
