==== check
# no more than two children are kept of any beam, as many beams as that allows, and the best of them
planted
says_like_ours
==== test
#include "exercise.h"
#include "kernels/kernels.h"
#include "search/search.h"
enum { SIZES = 40, V = 6, BEAMS = 4, STEPS = 6 };
static float table[STEPS + 1][V][V];             /* by the length of the text: no two texts are equally likely */
static bool score(void *ctx, const struct search_beam *grown, size_t n, float *logits, struct error *why)
{
  for (size_t i = 0; i < n; i++) memcpy(logits + V * i, table[grown[i].n - 1][grown[i].id[grown[i].n - 1]], sizeof table[0][0]);
  return true;
}
static bool see(void *ctx, const struct search_step *now)
{
  for (size_t i = 0; i < now->n_candidates && now->number < STEPS; i++)
    if (now->candidate[i].outcome == OUTCOME_KEPT)
      say("step %zu: token %u after %u of beam %d", now->number, now->candidate[i].token, now->active[now->candidate[i].parent].id[now->number - 1], (int) now->candidate[i].parent);
  return true;
}
static void test(unsigned size)
{
  uint32_t begin = draw(V);
  for (int i = 0; i <= STEPS * V * V; i++) table[i / V / V][i / V % V][i % V] = 3 * draw_float();
#ifdef OURS
  struct { uint32_t last; double sum; } beam[BEAMS] = { { begin, 0 } }, next[BEAMS];
  size_t beams = 1;
  for (size_t step = 1; step < STEPS; step++) {
    size_t kept = 0, children[BEAMS] = { 0 };
    bool used[BEAMS][V] = { { false } };
    while (kept < BEAMS) {
      double top = -INFINITY; size_t parent = BEAMS; uint32_t token = 0;
      for (size_t b = 0; b < beams; b++) {
        double total = 0;
        for (int v = 0; v < V; v++) total += exp(table[step - 1][beam[b].last][v]);
        for (uint32_t v = 0; v < V && children[b] < 2; v++)
          if (!used[b][v] && beam[b].sum + table[step - 1][beam[b].last][v] - log(total) > top) top = beam[b].sum + table[step - 1][beam[b].last][v] - log(total), parent = b, token = v;
      }
      if (parent == BEAMS) break;
      used[parent][token] = true, children[parent]++, next[kept].last = token, next[kept++].sum = top;
      say("step %zu: token %u after %u of beam %d", step, token, beam[parent].last, (int) parent);
    }
    memcpy(beam, next, sizeof beam), beams = kept;
  }
#else
  struct memory m = { 0 }; struct error why; struct search_result r;
  struct search_source from = { .vocab = V, .score = score };
  struct search_settings want = { .num_beams = BEAMS, .num_return = 1, .max_length = 1 + STEPS, .see = see };
  if (search_run(&from, &m, kernels_find(NULL, NULL), &begin, 1, &want, &r, &why)) search_free(&r);
#endif
}
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
# tangled/search/search.c goes through the candidates and decides which of them are kept.  Write == FILE, then - lines and + lines
