==== check
# a window of eight, whatever the settings say: as the plain model does it with a window of eight in its settings
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
enum { SIZES = 4 };
static void test(unsigned size)
{
  struct tiny t; struct memory m = { 0 }; struct counters c = { 0 }; struct error why; struct row rows[40]; struct pass *p;
  uint32_t n = size == 1 ? 8 : 9 + draw(30);
  tiny_make(&t, fresh());
  t.lm.config.window = OF(size == 4 ? 20 : 0, 8);
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct store *s = array_store_open(&m, &t.lm.config, &why);
  for (uint32_t i = 0; i < n; i++) rows[i] = (struct row) { 0, i, draw(TINY_V) };
  if (!model_forward(&e, &t.lm, s, rows, n, &p, &why)) return;
  for (uint32_t i = 0; i < n; i++) say("bits of row %u: %llx", i, (unsigned long long) hash_of(p->hidden + i * TINY_D, TINY_D * sizeof *p->hidden));
  say("pairs: %llu", (unsigned long long) c.qk_pairs);
}
==== answer
== tangled/model/segments.c
-  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
+  if (at >= 8) lo = at + 1 - 8;
==== wrong
== tangled/model/segments.c
-  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
+  if (at >= 8) lo = at - 8;
==== skeleton
# which line of attention, in tangled/model/segments.c, says where a row's window begins?  Write == FILE, then - lines and + lines
