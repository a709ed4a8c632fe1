==== check
# a loop that goes on when the context is full: it leaves out the oldest half context, and again when that is full
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
#include "loop/generate.h"
enum { SIZES = 4, G = 60 };
static void test(unsigned size)
{
  struct tiny t; struct memory m = { 0 }; struct counters c = { 0 }; struct error why;
  uint32_t id[100];
  size_t most = 8 + 2 * draw(8), p = 1 + draw((uint32_t) most), rows = 0;
  tiny_make(&t, fresh());
  t.lm.config.n_positions = (uint32_t) most;
  for (size_t i = 0; i < p; i++) id[i] = draw(TINY_V);
  tell("a context of %zu, a prompt of %zu tokens", most, p);
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct store *s = array_store_open(&m, &t.lm.config, &why);
#ifdef OURS
  for (size_t n = p; n < p + G; n++) {                /* each token is the best after what was left of its predecessors */
    size_t from = 0, top = 0;
    while (n - from > most) from += most / 2;
    float x[TINY_V]; size_t last = n - from - 1;
    if (!model_evaluate(&e, &t.lm, s, id + from, n - from, &last, 1, x, &why)) return;
    for (size_t v = 1; v < TINY_V; v++) if (x[v] > x[top]) top = v;
    id[n] = (uint32_t) top, rows += n - from;
  }
#else
  struct generate_context gen = { &e, &t.lm, s, &m };
  struct generate_options want = { .max_new_tokens = G }; struct continuation out;
  if (!generate(&gen, id, p, &want, &out, &why)) { tell("%s", why.text); return; }
  say("tokens written: %zu", out.text.n - p);
  memcpy(id, out.text.id, out.text.n * sizeof *id), rows = c.rows;
  if (out.text.n != p + G || out.ended != FINISH_LENGTH) return;
#endif
#ifdef OURS
  say("tokens written: %d", G);
#endif
  for (size_t i = p; i < p + G; i++) say("token %zu: %u", i, id[i]);
  say("rows: %zu", rows);
}
==== answer
== tangled/loop/generate.c
-  size_t left = n - q->first;
+  size_t most = g->s->n_positions, from = 0;
+  while (n - from > most)
+    from += most / 2;
+  size_t left = n - from;
== tangled/loop/generate.c
-at < n ? q->c.text.id[at] : q->guess.id[at - n]
+q->c.text.id[q->c.text.n - q->count + i]
== tangled/loop/generate.c
-    else if (written == want->max_new_tokens
-             || c->text.n > g->s->n_positions)
+    else if (written == want->max_new_tokens)
==== wrong is the answer but
-+    from += most / 2;
++    from += 1;
==== skeleton
# tangled/loop/generate.c says how many rows the next pass reads, which token each of them has, and when a text ends.  Write == FILE, then - lines and + lines
