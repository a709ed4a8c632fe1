/* bond.c -- a constraint, a state of it, and a limit: the rule that a sampler obeys for one
   text.

   The state is a number, so saving and restoring is copying it. End tokens are no part of
   the language: they are allowed exactly where the text may end, and taking one changes
   nothing. The cursor borrows the constraint and the list of end tokens and owns allowed.
   It is a module of its own, since it depends on the loop; a constraint depends only on
   bytes and tokens. */

#include "constraints/bond.h"

/* A limit that no matching text fits into is refused before the model computes anything,
   with the least limit that would be enough. c is set last: a cursor that failed to open
   has none and can be closed. */
bool constraint_cursor_open(struct constraint_cursor *b, struct memory *m,
  struct constraint *c,
  size_t vocab, size_t max_tokens, const uint32_t *eos, size_t n_eos,
  struct error *why)
{
  size_t min_tokens;
  *b = (struct constraint_cursor) { .vocab = vocab, .max_tokens = max_tokens,
    .eos = eos,
    .n_eos = n_eos };
  if (!constraint_minimum(c, constraint_start(c), &min_tokens, why)) return false;
  if (min_tokens > max_tokens) return error_say(why, "at most %zu tokens may be"
      " written; wanted: %zu or more, which a text that matches takes",
      max_tokens, min_tokens);
  b->allowed = memory_alloc(m, MEMORY_OTHER, vocab, 1, why);
  if (b->allowed == NULL) return false;
  b->c = c;
  constraint_cursor_restart(b);
  return true;
}

void constraint_cursor_close(struct constraint_cursor *b, struct memory *m)
{
  memory_free(m, b->allowed);
  *b = (struct constraint_cursor) { .c = NULL };
}

/* for the next of several texts */
void constraint_cursor_restart(struct constraint_cursor *b)
{
  if (b->c != NULL) b->state = constraint_start(b->c);
}

/* End tokens come after the mask, since the lexicon may know them as ordinary ones. */
bool bond_allow(void *ctx, size_t written, const uint8_t **allowed,
  struct error *why)
{
  struct constraint_cursor *b = ctx;
  bool accepts;
  if (!constraint_mask(b->c, b->state, b->max_tokens - written, b->allowed,
      &accepts, why)) return false;
  for (size_t i = 0; i < b->n_eos; i++) b->allowed[b->eos[i]] = accepts;
  *allowed = b->allowed;
  return true;
}

/* The constraint does not read end tokens, because they are not text. */
bool bond_take(void *ctx, uint32_t id, struct error *why)
{
  struct constraint_cursor *b = ctx;
  for (size_t i = 0; i < b->n_eos; i++)
    if (b->eos[i] == id) return true;
  return constraint_step(b->c, b->state, id, &b->state, why);
}

/* valid until the constraint is told to forget its states */
uint32_t bond_save(const void *ctx)
{
  const struct constraint_cursor *b = ctx;
  return b->state;
}

void bond_restore(void *ctx, uint32_t state)
{
  struct constraint_cursor *b = ctx;
  b->state = state;
}

/* Only without end tokens: with one the model decides when to end. A text that matches and
   can go on is not ended. */
bool constraint_cursor_should_stop(void *ctx, const struct continuation *text,
  bool *enough,
  struct error *why)
{
  struct constraint_cursor *b = ctx;
  size_t written = text->text.n - text->n_prompt;
  if (b->c == NULL || b->n_eos > 0 || written >= b->max_tokens) return true;
  bool accepts, any = false;
  if (!constraint_mask(b->c, b->state, b->max_tokens - written, b->allowed,
      &accepts, why)) return false;
  for (size_t i = 0; i < b->vocab; i++) any = any || b->allowed[i] != 0;
  *enough = accepts && !any;
  return true;
}

/* The least number of tokens to the end is 0 exactly if the text may end here. */
bool constraint_cursor_matches(const struct constraint_cursor *b, bool *yes,
  struct error *why)
{
  size_t min_tokens = 0;
  bool ok = b->c == NULL || constraint_minimum(b->c, b->state, &min_tokens, why);
  *yes = ok && min_tokens == 0;
  return ok;
}
