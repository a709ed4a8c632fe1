==== check
# a store that has no room for more than so many rows a pass: the rows are read all the same, the scores are the same, and the passes are halved
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
#include "loop/generate.h"
#include "cache/cache.h"
enum { SIZES = 10, MOST = 64 };
static const struct store_kind *plain;
static size_t room, tried[1000], tries;
static bool begin(struct store *s, struct error *why)
{
  if (tries < 1000) tried[tries++] = s->n_rows;
  if (s->n_rows <= room) return plain->begin(s, why);
  snprintf(why->text, sizeof why->text, "no room for %zu rows", s->n_rows);
  return false;
}
static void test(unsigned size)
{
  struct tiny t; struct error why; struct row rows[MOST]; float x[TINY_V];
  size_t halvings = draw(4), n; bool ok;
  room = size == 2 ? 0 : 1 + draw(MOST >> halvings), n = size == 2 ? 16 : room << halvings, tries = 0;
  if (n > MOST) n = MOST, room = n >> halvings;
  tiny_make(&t, fresh());
  for (uint32_t i = 0; i < n; i++) rows[i] = (struct row) { 0, i, draw(TINY_V) };
  struct memory m = { 0 }; struct counters c = { 0 }; struct pass *p = NULL;
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct generate_context gen = { &e, &t.lm, cache_open(&m, &t.lm.config, 1, &(struct cache_options) { .preallocate = true }, &why), &m };
  struct store_kind kind = *(plain = gen.s->kind);
  kind.begin = begin, gen.s->kind = &kind;
  tell("%zu rows, of which no more than %zu find room in a pass", n, room);
#ifdef OURS
  size_t last = n - 1, most = room, k = n, i = 0;
  room = MOST, ok = model_forward(&e, &t.lm, gen.s, rows, n, &p, &why) && most > 0;
  do say("try %zu: %zu rows", i++, k), k = k > most ? k / 2 : 0; while (k > 0);
#else
  ok = model_read(&gen, rows, n, 0, &p, &why);
  size_t last = p == NULL ? 0 : p->n - 1;
  for (size_t i = 0; i < tries && (i == 0 || tried[i - 1] > room); i++) say("try %zu: %zu rows", i, tried[i]);
#endif
  say("read: %s", ok ? "yes" : "no");
  if (!ok) return;
  if (!model_logits(&e, &t.lm, p, &last, 1, x, &why)) return;
  for (int v = 0; v < TINY_V; v += 5) say_near("logit", x[v]);
  say("rows in the store: %zu", store_length(gen.s, 0));
  pass_close(p), gen.s->kind = plain, store_close(gen.s);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
== tangled/loop/generate.c
-    ok = model_forward(g->e, g->lm, g->s, rows + i, here, last, why);
+    ok = model_forward(g->e, g->lm, g->s, rows + i, here, last, why);
+    if (!ok && here > 1)
+      chunk = here / 2, here = 0, ok = true;
==== wrong
== tangled/loop/generate.c
-    ok = model_forward(g->e, g->lm, g->s, rows + i, here, last, why);
+    ok = model_forward(g->e, g->lm, g->s, rows + i, here, last, why);
+    while (!ok && here > 1)
+      ok = model_forward(g->e, g->lm, g->s, rows + i, here -= 1, last, why);
==== skeleton
# model_read is in tangled/loop/generate.c.  Write == FILE, then - lines as they are and + lines as they shall be
