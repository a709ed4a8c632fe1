/* bond.h -- made from workshop/09-constraints.w; change it there */

#ifndef INCIPIT_BOND_H
#define INCIPIT_BOND_H
#include "loop/loop.h"
#include "constraints/constraint.h"

/* <What binds a text> */

/* what a text of at most most tokens has to match, and where in it we are;
   allowed[vocab] is its own, c and the ids of the end tokens are borrowed */
struct bond { struct constraint *c; uint32_t state; uint8_t *allowed;
  size_t vocab, most; const uint32_t *eos; size_t n_eos; };

/* binds by a c that knows the tokens; errors: most is less than constraint_minimum,
   which the sentence names; memory. Nothing is to be closed then */
bool bond_open(struct bond *b, struct memory *m, struct constraint *c,
  size_t vocab, size_t most, const uint32_t *eos, size_t n_eos,
  struct error *why);

/* returns the room; one that is all zero has none */
void bond_close(struct bond *b, struct memory *m);

/* for another text, from its beginning */
void bond_restart(struct bond *b);

/* does what has been written match? */
bool bond_matches(const struct bond *b, bool *yes, struct error *why);

/* what chapter 7's struct token_rule asks before a choice; self is a struct bond */
bool bond_allow(void *self, size_t written, const uint8_t **allowed,
  struct error *why);

/* and what it is told afterwards */
bool bond_take(void *self, uint32_t id, struct error *why);

/* a step_judge: without end tokens, a text is to end when it matches and nothing may
   follow; self is a struct bond */
bool bond_judge(void *self, const struct continuation *text, bool *enough,
  struct error *why);
#endif
