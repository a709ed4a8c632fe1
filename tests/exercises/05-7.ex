==== check
set -e
# the most surprising token of a text: the one with the largest loss, by one pass over all of it
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "tiny.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
#include "phases/phases.h"
int main(void)
{
  struct memory m = {0}; struct counters c = {0}; struct tiny t; struct error why; struct perplexity p;
  for (uint64_t seed = 1; seed < 9; seed++) {
    tiny_make(&t, seed);
    struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
    struct generate_context gen = {&e, &t.lm, cache_open(&m, &t.lm.config, 1, &(struct cache_options) {.rows = 0}, &why), &m};
    uint32_t id[60]; double lp[60], sum; uint64_t s = seed; size_t worst = 1;
    for (int i = 0; i < 60; i++) id[i] = (uint32_t) (rnd(&s) % TINY_V);
    if (seed == 8) for (int i = 0; i < 60; i++) id[i] = 3;
    struct store *plain = array_store_open(&m, &t.lm.config, &why);
    if (!model_logprobs(&e, &t.lm, plain, id, 60, lp, &sum, &why) || !perplexity_of(&gen, id, 60, 60, 60, &p, &why)) return 1;
    for (size_t i = 1; i < 60; i++) if (lp[i] < lp[worst]) worst = i;
    if (p.worst != worst || p.tokens != 59) return 2;
  }
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/phases/phases.h
-  size_t tokens, windows;
+  size_t tokens, windows, worst;
== tangled/phases/phases.c
-  double *logprob;
-  struct perplexity *out;
+  double *logprob, largest;
+  struct perplexity *out;
== tangled/phases/phases.c
-      r->out->loss += loss, r->out->tokens++;
+      if (r->out->tokens == 0 || loss > r->largest)
+        r->largest = loss, r->out->worst = base + i + k + 1;
+      r->out->loss += loss, r->out->tokens++;
==== wrong is the answer but
-+        r->largest = loss, r->out->worst = base + i + k + 1;
++        r->largest = loss, r->out->worst = base + i + k;
==== skeleton
== tangled/phases/phases.h
-  size_t tokens, windows;
+  size_t tokens, windows, worst;
