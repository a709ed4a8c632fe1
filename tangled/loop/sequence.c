/* sequence.c -- made from workshop/28-loop.w; change it there */

#include <inttypes.h>
#include "loop/sequence.h"

/* <Check a prompt> */
static bool check_prompt(const struct generate_context *g, const uint32_t *prompt,
  size_t n, struct error *why)
{
  size_t context = g->s->n_positions, v = g->lm->config.vocab_size;
  if (n == 0) return error_say(why,
      "the prompt has no tokens; wanted: 1 or more");
  if (n > context) return error_say(why,
      "the prompt has %zu tokens; the context holds %zu", n, context);
  for (size_t i = 0; i < n; i++)
    if (prompt[i] >= v) return error_say(why, "token %zu of the prompt is id %" PRIu32
        "; the vocabulary has %zu", i, prompt[i], v);
  return true;
}

/* <Begin and close a sequence> */
bool sequence_open(struct sequence *q, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct error *why)
{
  *q = (struct sequence) { .want = want,
    .c = { .n_prompt = n, .sequence = want->sequence } };
  bool ok = check_prompt(g, prompt, n, why);
  for (size_t i = 0; ok && i < n; i++)
    ok = ids_push(g->m, &q->c.text, prompt[i], why);
  if (!ok) sequence_close(g->m, q);
  return ok;
}

void continuation_free(struct memory *m, struct continuation *c)
{
  ids_free(m, &c->text);
  c->ended = FINISH_NONE;
}

void sequence_close(struct memory *m, struct sequence *q)
{ continuation_free(m, &q->c); }

/* <Help a pass with its errors and its progress> */
bool finite_until(const struct model *lm, const struct pass *p,
  size_t first, size_t last, struct error *why)
{
  if (pass_is_finite(lm, p, last, NULL)) return true;
  while (first < last && pass_is_finite(lm, p, first, NULL)) first++;
  return pass_is_finite(lm, p, first, why);
}

void tell_of_text(struct progress *p, const struct sequence *q)
{
  if (p == NULL) return;
  p->before = q == NULL ? 0 : q->first;
  p->all = q == NULL ? 0 : q->c.text.n;
}

/* <Write a continuation> */
static bool given_up(const struct generate_context *g, struct continuation *c)
{
  bool cancelled = progress_cancelled(g->e->progress);
  if (cancelled) c->ended = FINISH_CANCELLED;
  return cancelled;
}

bool generate(const struct generate_context *g, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct continuation *out, struct error *why)
{
  struct sequence q, *one = &q;
  bool ok = sequence_open(&q, g, prompt, n, want, why);
  float *logits = !ok ? NULL : memory_alloc(g->m, MEMORY_ACTIVATIONS,
    g->lm->config.vocab_size, sizeof *logits, why);
  ok = logits != NULL;
  while (ok && q.c.ended == FINISH_NONE)
    ok = generate_step(g, &one, 1, logits, why) || given_up(g, &q.c);
  if (q.c.ended == FINISH_ERROR) ok = error_say(why, "%s", q.why.text);
  memory_free(g->m, logits);
  if (!ok) sequence_close(g->m, &q);
  *out = q.c;
  return ok;
}

/* <Read a list of rows, a chunk at a time> */
bool model_read(const struct generate_context *g, const struct row *rows, size_t n,
  size_t chunk, struct pass **last, struct error *why)
{
  struct progress none = { .all = 0 };
  struct progress *p = g->e->progress != NULL ? g->e->progress : &none;
  bool ok = true;
  *last = NULL;
  p->all = n;
  for (size_t i = 0, here; ok && i < n; i += here) {
    here = chunk > 0 && n - i > chunk ? chunk : n - i;
    p->before = i;
    pass_close(*last);
    ok = model_forward(g->e, g->lm, g->s, rows + i, here, last, why);
  }
  p->before = p->all = 0;
  return ok;
}
