/* room.c -- the memory of a search, and its results.

   The memory is taken before the first step and given back after the last, and the results are
   copied out in between; in a step only the source allocates. The largest part are the logits, four
   bytes for each token and beam. Everything but the chain of chapter 7 comes from an arena, so
   nothing is lost when an allocation fails: search_give frees what there is, whatever that may be. */

#include <string.h>
#include "search/inside.h"

bool search_take(struct search *s, const struct kernels *k,
  struct error *why)
{
  struct arena *a = &s->lists;
  size_t width = s->want->num_beams, each = s->limit * sizeof (uint32_t);
  if (!funnel_open(&s->f, s->m, k, s->from->vocab, why)) return false;
  s->logits = arena_alloc(a, MEMORY_ACTIVATIONS, width,
    s->from->vocab * sizeof (float), why);
  s->active = arena_alloc(a, MEMORY_OTHER, width, sizeof *s->active, why);
  s->next = arena_alloc(a, MEMORY_OTHER, width, sizeof *s->next, why);
  s->text[0] = arena_alloc(a, MEMORY_TOKENS, width, each, why);
  s->text[1] = arena_alloc(a, MEMORY_TOKENS, width, each, why);
  s->list = arena_alloc(a, MEMORY_OTHER, s->max_candidates, sizeof *s->list, why);
  s->pooled = arena_alloc(a, MEMORY_TOKENS, width, each, why);
  s->hypotheses = arena_alloc(a, MEMORY_OTHER, width, sizeof *s->hypotheses, why);
  return !a->refused; /* an arena remembers that any of them was */
}

void search_give(struct search *s)
{
  arena_free(&s->lists);
  funnel_close(&s->f);
}

/* The pool's texts go with the search, so the texts that were asked for are copied. If an
   allocation fails, all of the copies are freed. */
bool search_export(struct search *s, struct search_result *out,
  struct error *why)
{
  size_t n = s->n_hypotheses < s->want->num_return ? s->n_hypotheses
    : s->want->num_return;
  out->steps = s->number;
  out->text = memory_alloc(s->m, MEMORY_TOKENS, n, sizeof *out->text, why);
  bool ok = out->text != NULL;
  if (ok) out->n = n;
  for (size_t i = 0; ok && i < n; i++) {
    struct search_text *t = &out->text[i];
    *t = s->hypotheses[i];
    t->id = memory_alloc(s->m, MEMORY_TOKENS, t->n, sizeof *t->id, why);
    ok = t->id != NULL;
    if (ok) memcpy(t->id, s->hypotheses[i].id, t->n * sizeof *t->id);
  }
  if (!ok) search_free(out);
  return ok;
}

/* frees the copies of a list that is not complete as well: the texts that are missing are null */
void search_free(struct search_result *r)
{
  for (size_t i = 0; i < r->n; i++)
    memory_free(r->m, r->text[i].id);
  memory_free(r->m, r->text);
  *r = (struct search_result) { .m = r->m };
}
