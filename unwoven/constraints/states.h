/* states.h -- what the files of a constraint share besides its structures */
#ifndef INCIPIT_STATES_H
#define INCIPIT_STATES_H
#include "constraints/inside.h"

/* bytes of all states and what belongs to them */
size_t state_bytes(const struct constraint *c);

/* may they take so many more? false and a sentence */
bool state_fits(const struct constraint *c, size_t more,
  struct error *why);

/* a new state of n pairs, in order; NULL and a sentence */
struct dfa_state *state_add(struct constraint *c,
  const struct position *p, size_t n, struct error *why);

/* the state with this number; NULL and a sentence if there is none, if it is the dead one, or if
   the constraint is not bound */
struct dfa_state *state_at(const struct constraint *c,
  uint32_t state, struct error *why);

/* the dead state, the first, and where a text begins if its first token loses a blank */
bool state_first(struct constraint *c, struct error *why);

/* fills after: the states to which one token leads */
bool state_find_after(struct constraint *c, struct dfa_state *x,
  struct error *why);

/* fills cost: tokens to the end, or NET_NEVER */
bool state_compute_cost(struct constraint *c, struct dfa_state *x,
  struct error *why);
#endif
