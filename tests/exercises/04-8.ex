==== check
set -e
# a text that differs keeps nothing; one that goes on keeps all
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "tiny.h"
#include "kernels/kernels.h"
#include "loop/generate.h"
#include "cache/cache.h"
int main(void)
{
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why; struct pass *p;
  tiny_make(&t, 1);
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct generate_context gen = {&e, &t.lm, cache_open(&m, &t.lm.config, 1, &(struct cache_options) {.rows = 0}, &why), &m};
  uint32_t id[20]; struct continuation out;
  for (uint32_t i = 0; i < 20; i++) id[i] = i % TINY_V;
  struct generate_options want = {.max_new_tokens = 10, .recall = store_match_prefix};
  if (!generate(&gen, id, 20, &want, &out, &why) || c.rows != 29) return 1;   /* step by step it still remembers */
  if (store_match_prefix(gen.s, 0, out.text.id, 25) != 25 || store_length(gen.s, 0) != 25) return 2;
  id[7]++;
  if (store_match_prefix(gen.s, 0, id, 20) != 0 || store_length(gen.s, 0) != 0) return 3;
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
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
== tangled/cache/keep.c
-  store_crop(s, sequence, k);
+  store_crop(s, sequence, k);
