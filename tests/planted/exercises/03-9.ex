==== check
# the loop with a window of 64 rows: each token is the best after its 64 predecessors, and no row is computed besides
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
#include "loop/generate.h"
enum { SIZES = 3, W = 64, G = 30 };
static void test(unsigned size)
{
  struct tiny t; struct memory m = { 0 }; struct counters c = { 0 }; struct error why;
  uint32_t id[200];
  size_t p = size == 1 ? 50 : 64 + draw(60), rows = 0;
  tiny_make(&t, fresh());
  for (size_t i = 0; i < p; i++) id[i] = draw(TINY_V);
  tell("a prompt of %zu tokens", p);
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct store *s = array_store_open(&m, &t.lm.config, &why);
#ifdef OURS
  for (size_t n = p; n < p + G; n++) {
    float x[TINY_V]; size_t of = n < W ? n : W, last = of - 1, top = 0;
    if (!model_evaluate(&e, &t.lm, s, id + n - of, of, &last, 1, x, &why)) return;
    for (size_t v = 1; v < TINY_V; v++) if (x[v] > x[top]) top = v;
    id[n] = (uint32_t) top, rows += of;
  }
#else
  struct generate_context gen = { &e, &t.lm, s, &m };
  struct generate_options want = { .max_new_tokens = G }; struct continuation out;
  if (!generate(&gen, id, p, &want, &out, &why) || out.text.n != p + G) return;
  memcpy(id, out.text.id, (p + G) * sizeof *id), rows = c.rows;
#endif
  for (size_t i = p; i < p + G; i++) say("token %zu: %u", i, id[i]);
  say("rows: %zu", rows);
}
==== answer
== tangled/loop/generate.c
-  size_t left = n - q->first;
+  size_t left = n < 64 ? n : 64;
== tangled/loop/generate.c
-at < n ? q->c.text.id[at] : q->guess.id[at - n]
+q->c.text.id[q->c.text.n - q->count + i]
==== wrong
== tangled/loop/generate.c
-  size_t left = n - q->first;
+  size_t left = n < 64 ? n : 64;
== tangled/loop/generate.c
-at < n ? q->c.text.id[at] : q->guess.id[at - n]
+q->c.text.id[i]
==== skeleton
# tangled/loop/generate.c says how many rows the next pass reads, and which token each of them has.  Write == FILE, then - lines and + lines
