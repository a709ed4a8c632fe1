==== check
# without the scale: as the plain model with a scale of 1, and every counter as before
planted
says_like_ours --reading
==== test
#include "exercise.h"
#include "model/forward.h"
#include "kernels/kernels.h"
#include "families/loader.h"
enum { SIZES = 3 };
static void test(unsigned size)
{
  struct memory m = { 0 }; struct counters c = { 0 }; struct error why;
  struct model *lm = model_open(&m, "tests/golden/llama", &why);
  if (lm == NULL) return;
#ifdef OURS
  lm->attention.scale = 1;
#endif
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct store *s = array_store_open(&m, &lm->config, &why);
  uint32_t ids[4]; size_t which[4] = { 0, 1, 2, 3 }, v = lm->config.vocab_size; float *z = malloc(4 * v * sizeof *z);
  for (int i = 0; i < 4; i++) ids[i] = draw((uint32_t) v);
  if (!model_evaluate(&e, lm, s, ids, 4, which, 4, z, &why)) return;
  for (int i = 0; i < 4; i++) say("bits of the logits of row %d: %llx", i, (unsigned long long) hash_of(z + (size_t) i * v, v * sizeof *z));
  say("counters: %llx", (unsigned long long) hash_of(&c, sizeof c));
}
==== answer
== unwoven/families/loader.c
-    (float) scale, .cap = (float) c->score_cap
+    1, .cap = (float) c->score_cap
==== wrong
== unwoven/families/loader.c
-    (float) scale, .cap = (float) c->score_cap
+    (float) scale * 1.0f, .cap = (float) c->score_cap
==== skeleton
# unwoven/families/loader.c fills in, among other things, by what the products of queries and keys are multiplied.  Write == FILE, then - lines and + lines
