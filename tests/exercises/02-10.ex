==== check
set -e
# rotations in every second layer only: with equal rows put before a layer, the queries of layer 1 are equal, those of layers 0 and 2 are not
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
static int differ[TINY_LAYERS], keys[TINY_LAYERS];
static void see(void *ctx, enum tap_point stage, uint32_t layer, float *x, size_t rows, size_t width)
{
  for (size_t r = 1; r < rows; r++) {
    if (stage == TAP_NORM) memcpy(x + r * width, x, width * sizeof *x);
    if (stage == TAP_QUERY) differ[layer] += memcmp(x + r * width, x, width * sizeof *x) != 0;
    if (stage == TAP_KEY) keys[layer] += memcmp(x + r * width, x, width * sizeof *x) != 0;
  }
}
int main(void)
{
  struct tiny t; struct memory m = {0}; struct counters c = {0}; struct error why; struct row rows[9]; struct pass *p;
  struct watcher w = {see, NULL, false};
  tiny_make(&t, 1);
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct store *s = array_store_open(&m, &t.lm.config, &why);
  for (uint32_t i = 0; i < 9; i++) rows[i] = (struct row) {0, i, i};
  if (!model_forward_watched(&e, &t.lm, s, rows, 9, &w, &p, &why)) return 1;
  return !(differ[0] == 8 && differ[1] == 0 && differ[2] == 8 && keys[0] == 8 && keys[1] == 0 && keys[2] == 8);
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
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
== tangled/model/forward.c
-  if (c->learned_positions)
-    return;
+  if (c->learned_positions)
+    return;
