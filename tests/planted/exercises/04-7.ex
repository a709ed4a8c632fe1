==== check
# the pool has never more pages than are taken; up to 300 tokens one by one
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
enum { SIZES = 3 };
static void test(unsigned size)
{
  struct memory m = { 0 }; struct counters c = { 0 }; struct tiny t; struct error why; struct pass *p;
  uint32_t rows = 4u << draw(4), n = 100 + draw(200);
  tiny_make(&t, fresh());
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct store *s = cache_open(&m, &t.lm.config, 1, &(struct cache_options) { .page_rows = rows }, &why);
  tell("pages of %u rows", rows);
  for (uint32_t i = 0; i < n; i++) {
    if (!model_forward(&e, &t.lm, s, &(struct row) { 0, i, draw(TINY_V) }, 1, &p, &why)) return;
    if (i % 7 == 0) say("after token %u: bits %llx", i, (unsigned long long) hash_of(p->hidden, TINY_D * sizeof *p->hidden));
    pass_close(p);
    if (i % 7 == 0 || i % rows < 2) say("after token %u: pages %zu, in use %zu", i, OF(cache_look(s).pages, (size_t) (i / rows + 1)), OF(cache_look(s).pages_used, (size_t) (i / rows + 1)));
  }
  store_close(s);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
== tangled/cache/cache.c
-  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
+  size_t cap = wanted;
==== wrong
== tangled/cache/cache.c
-  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
+  size_t cap = wanted + 1;
==== skeleton
# a function in tangled/cache/cache.c decides how many pages the pool has when it grows.  Write == FILE, then - lines and + lines
