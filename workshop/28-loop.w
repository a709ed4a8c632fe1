@i types.w
@s row int
@s pass int
@s step_watch int
@s step_select int
@s step_accept int
@s step_stop int
@s step_recall int

\chapterquestion{What does a loop need besides its six steps?}
@** Inside the loop: prompts, bad numbers, whole texts.
\incipit{C}{hapter 3} has the six steps of the loop and what a caller can attach to them. This chapter has the rest of the same module, what a text needs before its first step, after its last, and when something is wrong: how a prompt is checked, and a sequence opened and closed; which message a model with damaged weights gets; how |generate| writes a whole text; and how |model_read| serves callers that read and do not write.

@* A text begins and ends. \label{sec:sequenceopen}
The structures are in \.{generate.h} (\cref{sec:generate}). Their functions, in the order that C wants:

@(sequence.c@>=
#include <inttypes.h>
#include "loop/sequence.h"
@;@#
@<Check a prompt@>@;
@<Begin and close a sequence@>@;
@<Help a pass with its errors and its progress@>@;
@<Write a continuation@>@;
@<Read a list of rows, a chunk at a time@>@;

@ The prompt is checked before it has cost a pass. The common mistake is an id that the vocabulary does not have, made by pairing one model with another's tokenizer; unchecked, it would be an address beyond the end of the embedding. A prompt that fills the context to its last position is allowed, since one token can still be written (\cref{sec:contextfull}).

@<Check a prompt@>=
static bool check_prompt(const struct generate_context *g, const uint32_t *prompt,
  size_t n, struct error *why)
{
  size_t context = g->s->n_positions, v = g->lm->config.vocab_size;
  if (n == 0)@+ return error_say(why,@|
      "the prompt has no tokens; wanted: 1 or more");
  if (n > context)@+ return error_say(why,@|
      "the prompt has %zu tokens;"@| " the context holds %zu", n, context);
  for (size_t i = 0; i < n; i++)
    if (prompt[i] >= v)@+ return error_say(why,@| "token %zu of the prompt is id %" PRIu32@|
        "; the vocabulary has %zu", i, prompt[i], v);
  return true;
}

@ Then the text begins as a copy of the prompt. The caller need not know how long it can become: |max_new_tokens| may be the
largest number there is, and the context ends the loop. Closing frees the text, twice if need be: |ids_free| leaves an empty
list, and freeing an empty list does nothing.

@<Begin and close a sequence@>=
bool sequence_open(struct sequence *q, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct error *why)
{
  *q = (struct sequence) @[{ .want = want,
    .c = { .n_prompt = n, .sequence = want->sequence } }@];
  bool ok = check_prompt(g, prompt, n, why);
  for (size_t i = 0; ok && i < n; i++)
    ok = ids_push(g->m, &q->c.text, prompt[i], why);
  if (!ok)@+ sequence_close(g->m, q);
  return ok;
}
void continuation_free(struct memory *m, struct continuation *c)
{
  ids_free(m, &c->text);
  c->ended = FINISH_NONE;
}
void sequence_close(struct memory *m, struct sequence *q)
{@+ continuation_free(m, &q->c);@+ }

@* Damaged weights, and progress. \label{sec:badrows}
The step in chapter 3 calls two functions of this chapter. They are declared in a header that nothing else includes.

@(sequence.h@>=
#ifndef INCIPIT_SEQUENCE_H
#define INCIPIT_SEQUENCE_H
#include "loop/generate.h"
bool finite_until(const struct model *lm, const struct pass *p,
  size_t first, size_t last, struct error *why);
  /* are the hidden states of row |last| finite? If not, the message names the first row
     of the text, from |first| on, of which this is not so */
void tell_of_text(struct progress *p, const struct sequence *q);
  /* lets progress be counted over the text of |q|, null: over a pass; |p| may be null */
#endif

@ If weights are NaN or infinite, a row becomes non-finite in some layer, and spoils the rows that see it. So the row to blame is the first one, and |pass_is_finite| says after which layer it became so. A non-finite row that the last row does not see, because it is outside the window, does no harm, and the last row is finite.

@<Help a pass with its errors and its progress@>=
bool finite_until(const struct model *lm, const struct pass *p,
  size_t first, size_t last, struct error *why)
{
  if (pass_is_finite(lm, p, last, NULL))@+ return true;
  while (first < last && pass_is_finite(lm, p, first, NULL))@+ first++;
  return pass_is_finite(lm, p, first, why);
}

@ If there is only one text, the progress that is reported (\cref{sec:progress}) is that of the whole text, not of the piece that this pass reads.

@<Help a pass with its errors and its progress@>=
void tell_of_text(struct progress *p, const struct sequence *q)
{
  if (p == NULL)@+ return;
  p->before = q == NULL ? 0 : q->first;
  p->all = q == NULL ? 0 : q->c.text.n;
}

@* One text, from its prompt to its end. \label{sec:wholetext}
In a step with several texts one may fail, and the others should go on. So a sequence that fails ends like any other, and keeps its message. The caller of |generate| has only one text, and gets the message as an error. And if the caller has given up a pass, because Ctrl-C was pressed while a long prompt was read, the step fails, but the text does not: it ends where it is, and what was written before is kept.

@<Write a continuation@>=
static bool given_up(const struct generate_context *g, struct continuation *c)
{
  bool cancelled = progress_cancelled(g->e->progress);
  if (cancelled)@+ c->ended = FINISH_CANCELLED;
  return cancelled;
}
@#
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
  if (q.c.ended == FINISH_ERROR)@+ ok = error_say(why, "%s", q.why.text);
  memory_free(g->m, logits);
  if (!ok)@+ sequence_close(g->m, &q);
  *out = q.c;
  return ok;
}

@* Reading without writing. \label{sec:readrows}
Some callers want the passes and no text: \cref{phases} times a prefill, and \cref{search} reads the rows of all beams. For them |model_read| puts a list of rows through the model, a chunk at a time. Only the last pass is kept, since its hidden states are what the caller asks for logits. A row comes out the same in whichever piece of the list it is read, because the keys and values of the earlier pieces are in the store, with the same bits (\cref{sec:chunks}).

@<Read a list of rows, a chunk at a time@>=
bool model_read(const struct generate_context *g, const struct row *rows, size_t n,
  size_t chunk, struct pass **last, struct error *why)
{
  struct progress none = @[{ .all = 0 }@];
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
