==== check
set -e
# a loop that goes on when the context is full: it leaves out the oldest half context, and again when that is full
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
#include "loop/generate.h"
int main(void)
{
  enum { C = 16, P = 5, G = 60 };
  struct tiny t;
  tiny_make(&t, 1);
  t.lm.config.n_positions = C;
  struct memory m = {0}; struct counters c = {0}; struct error why;
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct generate_context gen = {&e, &t.lm, array_store_open(&m, &t.lm.config, &why), &m};
  uint32_t prompt[P] = {3, 1, 4, 1, 5};
  struct generate_options want = {.max_new_tokens = G}; struct continuation out;
  if (!generate(&gen, prompt, P, &want, &out, &why)) { puts(why.text); return 2; }
  if (out.text.n != P + G || out.ended != FINISH_LENGTH) return 1;
  size_t rows = 0;
  for (size_t n = P; n < P + G; n++) {           /* each token is the best behind what was left of its predecessors */
    size_t from = 0, top = 0;
    while (n - from > C) from += C / 2;
    rows += n - from;
    float x[TINY_V]; size_t last = n - from - 1;
    struct counters before = c;
    if (!model_evaluate(&e, &t.lm, gen.s, out.text.id + from, n - from, &last, 1, x, &why)) return 2;
    c = before;
    for (size_t v = 1; v < TINY_V; v++) if (x[v] > x[top]) top = v;
    if (top != out.text.id[n]) return 1;
  }
  return c.rows != rows;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/loop/generate.c
-  size_t left = n - q->first;
+  size_t most = g->s->n_positions, from = 0;
+  while (n - from > most)
+    from += most / 2;
+  size_t left = n - from;
== tangled/loop/generate.c
-q->c.text.id[q->first + i]
+q->c.text.id[q->c.text.n - q->count + i]
== tangled/loop/generate.c
-    else if (written == want->max_new_tokens
-             || c->text.n > g->s->n_positions)
+    else if (written == want->max_new_tokens)
==== wrong is the answer but
-+    from += most / 2;
++    from += 1;
==== skeleton
== tangled/loop/generate.c
-    else if (written == want->max_new_tokens
-             || c->text.n > g->s->n_positions)
+    else if (written == want->max_new_tokens
+             || c->text.n > g->lm->config.n_positions)
