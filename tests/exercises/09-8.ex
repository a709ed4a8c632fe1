==== check
set -e
# no more than two children are kept of any beam, as many beams as that allows, and the best of them
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "suite.h"
#include "kernels/kernels.h"
#include "tiny.h"
#include "search/search.h"
static float table[6][6];
static bool score(void *ctx, const struct search_beam *grown, size_t n, float *logits, struct error *why)
{
  (void) ctx, (void) why;
  for (size_t i = 0; i < n; i++) memcpy(logits + 6 * i, table[grown[i].id[grown[i].n - 1]], sizeof table[0]);
  return true;
}
static bool see(void *ctx, const struct search_step *now)
{
  size_t children[8] = {0}, kept = 0;
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    bool should = now->number < 6 && kept < 4 && children[c->parent] < 2;
    if (now->number < 6 && (c->outcome == OUTCOME_KEPT) != should) *(bool *) ctx = false;
    if (c->outcome == OUTCOME_KEPT) children[c->parent]++, kept++;
  }
  return true;
}
int main(void)
{
  uint64_t seed = 5; bool fine = true;
  for (int round = 0; round < 300; round++) {
    struct memory m = {0}; struct error why; struct search_result r;
    for (int i = 0; i < 36; i++) table[i / 6][i % 6] = 2 * tiny_normal(&seed);
    struct search_source from = {.vocab = 6, .score = score};
    struct search_settings want = {.num_beams = 4, .num_return = 1, .max_length = 7, .see = see, .ctx = &fine};
    if (!search_run(&from, &m, kernels_find(NULL, NULL), &(uint32_t) {0}, 1, &want, &r, &why)) return 1;
    search_free(&r);
  }
  return !fine;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/search/search.c
-    } else if (s->n_next < width)
-      keep_candidate(s, c);
+    } else if (s->n_next < width) {
+      size_t twins = 0;
+      for (size_t k = 0; k < s->n_next; k++)
+        twins += s->next[k].parent == c->parent;
+      if (twins < 2)
+        keep_candidate(s, c);
+    }
==== wrong is the answer but
-+      if (twins < 2)
++      if (twins < 3)
==== skeleton
== tangled/search/search.c
-    } else if (s->n_next < width)
-      keep_candidate(s, c);
+    } else if (s->n_next < width)
+      keep_candidate(s, c);
