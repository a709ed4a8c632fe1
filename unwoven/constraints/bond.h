/* bond.h -- a text that is tied to a constraint: what a sampler asks at each token. */

#ifndef INCIPIT_BOND_H
#define INCIPIT_BOND_H
#include "loop/generate.h"
#include "constraints/constraint.h"

/* a text of at most max_tokens tokens must match c and has reached state;
   allowed[vocab] is its own, c and the ids of the end tokens are borrowed */
struct constraint_cursor { struct constraint *c; uint32_t state; uint8_t *allowed;
  size_t vocab, max_tokens; const uint32_t *eos; size_t n_eos; };

/* c must be bound to the tokens; errors: max_tokens is less than constraint_minimum,
   which the sentence names; memory. Close nothing then */
bool constraint_cursor_open(struct constraint_cursor *b, struct memory *m,
  struct constraint *c,
  size_t vocab, size_t max_tokens, const uint32_t *eos, size_t n_eos,
  struct error *why);

/* frees the mask; a cursor that is all zero has none */
void constraint_cursor_close(struct constraint_cursor *b, struct memory *m);

/* for another text, from its beginning */
void constraint_cursor_restart(struct constraint_cursor *b);

/* does the text so far match? */
bool constraint_cursor_matches(const struct constraint_cursor *b, bool *yes,
  struct error *why);

/* chapter 7's struct token_rule calls it before a choice; ctx is a cursor */
bool bond_allow(void *ctx, size_t written, const uint8_t **allowed,
  struct error *why);

/* and this when a token has joined the text */
bool bond_take(void *ctx, uint32_t id, struct error *why);

/* the state that the text has reached */
uint32_t bond_save(const void *ctx);

/* goes back to a state that bond_save gave */
void bond_restore(void *ctx, uint32_t state);

/* a step_stop: without end tokens, a text must end when it matches and nothing may
   follow; ctx is a cursor */
bool constraint_cursor_should_stop(void *ctx, const struct continuation *text,
  bool *enough,
  struct error *why);
#endif
