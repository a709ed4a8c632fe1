==== check
# rotations in every second layer only: with equal rows put before a layer, the queries of layer 1 are equal, those of layers 0 and 2 are not
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
enum { SIZES = 4 };
static int queries[TINY_LAYERS], keys[TINY_LAYERS];
static uint64_t first;
static void see(void *ctx, enum tap_point stage, uint32_t layer, float *x, size_t rows, size_t width)
{
  for (size_t r = 1; r < rows; r++) {
    if (stage == TAP_NORM) memcpy(x + r * width, x, width * sizeof *x);
    if (stage == TAP_QUERY) queries[layer] += memcmp(x + r * width, x, width * sizeof *x) != 0;
    if (stage == TAP_KEY) keys[layer] += memcmp(x + r * width, x, width * sizeof *x) != 0;
  }
  if (stage == TAP_QUERY && layer == 0) first = hash_of(x, rows * width * sizeof *x);
}
static void test(unsigned size)
{
  struct tiny t; struct memory m = { 0 }; struct counters c = { 0 }; struct error why; struct row rows[9]; struct pass *p;
  struct watcher w = { see, NULL, false };
  uint32_t n = 3 + draw(7);
  memset(queries, 0, sizeof queries), memset(keys, 0, sizeof keys);
  tiny_make(&t, fresh());
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct store *s = array_store_open(&m, &t.lm.config, &why);
  for (uint32_t i = 0; i < n; i++) rows[i] = (struct row) { 0, i, draw(TINY_V) };
  if (!model_forward_watched(&e, &t.lm, s, rows, n, &w, &p, &why)) return;
  tell("%u equal rows", n), say("bits of the queries of layer 0: %llx", (unsigned long long) first);
  for (int l = 0; l < TINY_LAYERS; l++)
    say("layer %d: queries that differ from the first %d, keys %d", l, OF(queries[l], l % 2 ? 0 : queries[l]), OF(keys[l], l % 2 ? 0 : keys[l]));
}
==== answer
== tangled/model/forward.c
-  if (c->learned_positions)
-    return;
+  if (c->learned_positions || (l - w->lm->layers) % 2 == 1)
+    return;
==== wrong
== tangled/model/forward.c
-  if (c->learned_positions)
-    return;
+  if (c->learned_positions || (l - w->lm->layers) % 2 == 0)
+    return;
==== skeleton
# tangled/model/forward.c has a function that rotates queries and keys of a layer, and returns at once if there is nothing to rotate.  Write == FILE, then - lines and + lines
