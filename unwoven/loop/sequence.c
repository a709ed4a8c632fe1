/* sequence.c -- a text begins, and is given back.

   A text begins as a copy of its prompt. The prompt is checked before it has cost a pass, so the
   loop never meets an empty text, an id that the model does not have, or a text that the context
   cannot hold. The caller need not know how long the text can become: max_new_tokens may be the
   largest number there is, and the context ends the loop. On failure a sequence is empty; closing
   one that is empty, or was closed before, does nothing. */

#include <inttypes.h>
#include "loop/generate.h"

/* The common mistake is an id that the vocabulary does not have, made by pairing one model with
   another's tokenizer; unchecked, it would be an address beyond the end of the embedding. A prompt
   that fills the context to its last position is allowed, since one token can still be written: it
   is not read, and needs no position. */
static bool check_prompt(const struct generate_context *g, const uint32_t *prompt,
  size_t n, struct error *why)
{
  size_t context = g->s->n_positions, v = g->lm->config.vocab_size;
  if (n == 0) return error_say(why, "the prompt has no tokens; wanted: 1 or more");
  if (n > context) return error_say(why,
      "the prompt has %zu tokens; the context holds %zu", n, context);
  for (size_t i = 0; i < n; i++)
    if (prompt[i] >= v) return error_say(why, "token %zu of the prompt is id %" PRIu32
        "; the vocabulary has %zu", i, prompt[i], v);
  return true;
}

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

/* ids_free leaves an empty list, and freeing an empty list does nothing: so this may come twice.
   A text that is gone has not ended, or a caller who opens it again would find it ended. */
void continuation_free(struct memory *m, struct continuation *c)
{
  ids_free(m, &c->text);
  c->ended = FINISH_NONE;
}

void sequence_close(struct memory *m, struct sequence *q)
{
  continuation_free(m, &q->c);
  ids_free(m, &q->guess);
}
