==== check
set -e
# the pool has never more pages than are taken; 300 tokens one by one
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "tiny.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
int main(void)
{
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why; struct pass *p;
  tiny_make(&t, 1);
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct store *s = cache_open(&m, &t.lm.config, 1, &(struct cache_options) {.page_rows = 16}, &why);
  for (uint32_t i = 0; i < 300; i++) {
    if (!model_forward(&e, &t.lm, s, &(struct row) {0, i, i % TINY_V}, 1, &p, &why)) return 2;
    pass_close(p);
    if (cache_look(s).pages != i / 16 + 1 || cache_look(s).pages_used != i / 16 + 1) return 1;
  }
  store_close(s);
  return m.all.live != 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/cache/cache.c
-  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
+  size_t cap = wanted;
==== wrong
== tangled/cache/cache.c
-  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
+  size_t cap = wanted + 1;
==== skeleton
== tangled/cache/cache.c
-  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
+  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
