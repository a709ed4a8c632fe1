==== check
set -e
# the loop with a window of 64 rows: linear, and no row repeated at its position
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
#include "loop/generate.h"
int main(void)
{
  struct tiny t;
  tiny_make(&t, 1);
  struct memory m = {0}; struct counters c = {0}; struct error why;
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct generate_context gen = {&e, &t.lm, array_store_open(&m, &t.lm.config, &why), &m};
  uint32_t prompt[100];
  for (int i = 0; i < 100; i++) prompt[i] = (uint32_t) (i * i % TINY_V);
  struct generate_options want = {.max_new_tokens = 50}; struct continuation out;
  if (!generate(&gen, prompt, 100, &want, &out, &why)) { puts(why.text); return 2; }
  if (c.rows != 50 * 64) return 1;
  for (size_t n = 100; n < 150; n++) {             /* each token is the argmax after its 64 predecessors */
    float x[TINY_V]; size_t last = 63, top = 0;
    if (!model_evaluate(&e, &t.lm, gen.s, out.text.id + n - 64, 64, &last, 1, x, &why)) return 2;
    for (size_t v = 1; v < TINY_V; v++) if (x[v] > x[top]) top = v;
    if (top != out.text.id[n]) return 1;
  }
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/loop/generate.c
-  size_t left = n - q->first;
+  size_t left = n < 64 ? n : 64;
== tangled/loop/generate.c
-q->c.text.id[q->first + i]
+q->c.text.id[q->c.text.n - q->count + i]
==== wrong
== tangled/loop/generate.c
-  size_t left = n - q->first;
+  size_t left = n < 64 ? n : 64;
== tangled/loop/generate.c
-q->c.text.id[q->first + i]
+q->c.text.id[i]
==== skeleton
== tangled/loop/generate.c
-  size_t left = n - q->first;
+  size_t left = n;
== tangled/loop/generate.c
-q->c.text.id[q->first + i]
+q->c.text.id[q->c.text.n - q->count + i]
