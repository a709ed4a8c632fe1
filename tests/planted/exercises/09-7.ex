==== check
# scores are sums over a power of the whole length: with more beams than there are texts, the three best of all texts
planted
says_like_ours
==== test
#include "exercise.h"
#include "search/search.h"
#include "kernels/kernels.h"
enum { SIZES = 12, V = 3, G = 4, MOST = 40 };         /* the last token ends a text */
static float table[V][V][G + 1];
static size_t n_prompt;
static const float *after(const uint32_t *id, size_t n)
{
  static float z[V];
  for (int v = 0; v < V; v++) z[v] = table[id[n - 1]][v][n - n_prompt];
  return z;
}
static bool score(void *ctx, const struct search_beam *grown, size_t n, float *logits, struct error *why)
{
  for (size_t i = 0; i < n; i++) memcpy(logits + V * i, after(grown[i].id, grown[i].n), V * sizeof *logits);
  return true;
}
static struct { double score, sum; size_t n; } best[MOST * 4];
static size_t texts;
static void all_texts(uint32_t *id, size_t n, double sum, double lp)
{
  const float *z = after(id, n);
  double e[V], total = 0;
  for (int v = 0; v < V; v++) total += e[v] = exp(z[v]);
  for (uint32_t v = 0; v < V; v++) {
    double s = sum + log(e[v] / total);
    size_t i = texts;
    id[n] = v;
    if (v < V - 1 && n + 1 < n_prompt + G) { all_texts(id, n + 1, s, lp); continue; }
    for (texts++, i = texts - 1; i > 0 && best[i - 1].score < s / pow((double) (n + 1), lp); i--) best[i] = best[i - 1];
    best[i].score = s / pow((double) (n + 1), lp), best[i].sum = s, best[i].n = n + 1;
  }
}
static void test(unsigned size)
{
  struct memory m = { 0 }; struct error why; uint32_t eos = V - 1, prompt[20 + G]; struct search_result r;
  double lp = size < 3 ? 0 : 2 * draw_float();
  n_prompt = 1 + draw(10), texts = 0;
  for (size_t i = 0; i < n_prompt; i++) prompt[i] = draw(V - 1);
  for (int a = 0; a < V; a++) for (int b = 0; b < V; b++) for (int k = 0; k <= G; k++) table[a][b][k] = 2 * draw_float();
  tell("a prompt of %zu, a length penalty of %g", n_prompt, lp);
#ifdef OURS
  all_texts(prompt, n_prompt, 0, lp);
  for (int i = 0; i < 3; i++) say_near("score", best[i].score), say_near("sum", best[i].sum), say("length: %zu", best[i].n);
#else
  struct search_source from = { .vocab = V, .score = score };
  struct search_settings want = { .num_beams = MOST, .num_return = 3, .max_length = n_prompt + G, .length_penalty = lp, .early = EARLY_NEVER, .eos = &eos, .n_eos = 1 };
  if (!search_run(&from, &m, kernels_find(NULL, NULL), prompt, n_prompt, &want, &r, &why)) { tell("%s", why.text); return; }
  for (size_t i = 0; i < r.n; i++) say_near("score", r.text[i].score), say_near("sum", r.text[i].sum), say("length: %zu", r.text[i].n);
  search_free(&r);
#endif
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
== tangled/search/search.c
-  return sum / num_pow((double)written, s->want->length_penalty);
+  return sum / num_pow((double)(written + s->n_prompt), s->want->length_penalty);
==== wrong
== tangled/search/search.c
-  return sum / num_pow((double)written, s->want->length_penalty);
+  return sum / num_pow((double)(written + 1), s->want->length_penalty);
==== skeleton
# a function in tangled/search/search.c divides a sum by a power of a length.  Write == FILE, then - lines and + lines
