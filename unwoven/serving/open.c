/* open.c -- a scheduler opens and closes; requests are submitted, cancelled and freed.

   A scheduler owns three arrays and an index; the cache, the model and the requests are its caller's. A request
   belongs to the line from scheduler_submit until it has ended, and its caller may free it then; request_close
   does both in any state, also of a request that was never submitted and is zero. */

#include "cache/keep.h"
#include "serving/inside.h"

/* With fewer rows than slots, a text that decodes could be left out of a pass. */
bool scheduler_open(struct scheduler *s, const struct generate_context *g,
  const struct scheduler_options *w, struct error *why)
{
  uint32_t slots = g->s->n_sequences;
  *s = (struct scheduler) { .g = *g, .w = *w, .limit = slots };
  if (s->w.pass_rows == 0) s->w.pass_rows = slots > 256 ? slots : 256;
  if (s->w.pass_rows < slots)
    return error_say(why, "passes of %zu rows for %u slots; wanted: a row for each slot, or more",
      s->w.pass_rows, slots);
  s->taken = memory_alloc(g->m, MEMORY_OTHER, slots, sizeof *s->taken, why);
  if (s->taken != NULL) s->list = memory_alloc(g->m, MEMORY_OTHER, slots, sizeof (struct sequence *), why);
  if (s->list != NULL) s->demand = memory_alloc(g->m, MEMORY_OTHER, slots + 1, sizeof *s->demand, why);
  if (s->demand != NULL)
    s->logits = memory_alloc(g->m, MEMORY_ACTIVATIONS, slots * (1 + w->guesses), g->lm->config.vocab_size * sizeof *s->logits,
      why);
  if (s->logits != NULL && prefix_open(&s->index, w->share && g->s->stretched == NULL ? g->s : NULL, g->m, why)) {
    s->index.page_rows = cache_look(g->s).page_rows;
    return true;
  }
  scheduler_close(s);
  return false;
}

/* Could the text run if it were alone? Its last token is never read, so it has one row less than tokens, and no more than
   the context has positions; a text that writes nothing still reads its prompt. */
static bool could_fit(const struct scheduler *s, size_t n, size_t new_tokens, struct error *why)
{
  size_t context = s->g.s->n_positions, more = new_tokens == 0 ? 0 : new_tokens - 1, has;
  size_t rows = more > context - n ? context : n + more;
  return cache_could_hold(s->g.s, rows, s->w.pass_rows, &has)
    || error_say(why, "the prompt has %zu tokens, and with all that may follow it has %zu rows; the cache has room for %zu",
      n, rows, has);
}

/* The text reads its prompt with what the cache has of it, and as many rows at a time as the plan gives it. */
bool scheduler_submit(struct scheduler *s, struct request *r, const uint32_t *prompt,
  size_t n, const struct generate_options *want, struct error *why)
{
  struct request **end = &s->line;
  *r = (struct request) { .want = *want };
  r->want.recall = store_match_prefix;
  if (!sequence_open(&r->q, &s->g, prompt, n, &r->want, why)) return false;
  if (!could_fit(s, n, want->max_new_tokens, why)) {
    sequence_close(s->g.m, &r->q);
    return false;
  }
  r->state = REQUEST_WAITING;
  while (*end != NULL) end = &(*end)->next;
  *end = r;
  return true;
}

/* While a pass is computed, the texts in slots stay: the pass has their rows. */
void scheduler_cancel(struct scheduler *s, struct request *r)
{
  if (r->state == REQUEST_ENDED) return;
  if (s->in_pass && r->state == REQUEST_RUNNING) {
    r->unwanted = true;
    return;
  }
  r->q.c.ended = FINISH_CANCELLED;
  request_leave(s, r);
}

void request_close(struct scheduler *s, struct request *r)
{
  scheduler_cancel(s, r);
  sequence_close(s->g.m, &r->q);
}

bool scheduler_idle(const struct scheduler *s)
{
  return s->line == NULL;
}

void scheduler_close(struct scheduler *s)
{
  while (s->line != NULL) scheduler_cancel(s, s->line);
  prefix_close(&s->index);
  memory_free(s->g.m, s->taken), memory_free(s->g.m, s->list);
  memory_free(s->g.m, s->demand), memory_free(s->g.m, s->logits);
  *s = (struct scheduler) { .line = NULL };
}
