/* bond.c -- made from workshop/09-constraints.w; change it there */

#include "constraints/bond.h"

/* <Bind a text> */
bool bond_open(struct bond *b, struct memory *m, struct constraint *c,
  size_t vocab, size_t most, const uint32_t *eos, size_t n_eos,
  struct error *why)
{
  size_t least;
  *b = (struct bond) { .vocab = vocab, .most = most, .eos = eos,
    .n_eos = n_eos };
  if (!constraint_minimum(c, constraint_start(c), &least, why)) return false;
  if (least > most) return error_say(why, "at most %zu tokens may be"
      " written; wanted: %zu or more, which a text that matches takes",
      most, least);
  b->allowed = memory_alloc(m, FOR_OTHER, vocab, 1, why);
  if (b->allowed == NULL) return false;
  b->c = c;
  bond_restart(b);
  return true;
}

void bond_close(struct bond *b, struct memory *m)
{
  memory_free(m, b->allowed);
  *b = (struct bond) { .c = NULL };
}

void bond_restart(struct bond *b)
{
  if (b->c != NULL) b->state = constraint_start(b->c);
}

/* <Narrow the choice to what may come> */
bool bond_allow(void *self, size_t written, const uint8_t **allowed,
  struct error *why)
{
  struct bond *b = self;
  bool accepts;
  if (!constraint_mask(b->c, b->state, b->most - written, b->allowed,
      &accepts, why)) return false;
  for (size_t i = 0; i < b->n_eos; i++) b->allowed[b->eos[i]] = accepts;
  *allowed = b->allowed;
  return true;
}

bool bond_take(void *self, uint32_t id, struct error *why)
{
  struct bond *b = self;
  for (size_t i = 0; i < b->n_eos; i++)
    if (b->eos[i] == id) return true;
  return constraint_step(b->c, b->state, id, &b->state, why);
}

/* <End a text that nothing may follow> */
bool bond_judge(void *self, const struct continuation *text, bool *enough,
  struct error *why)
{
  struct bond *b = self;
  size_t written = text->text.n - text->n_prompt;
  if (b->c == NULL || b->n_eos > 0 || written >= b->most) return true;
  bool accepts, any = false;
  if (!constraint_mask(b->c, b->state, b->most - written, b->allowed,
      &accepts, why)) return false;
  for (size_t i = 0; i < b->vocab; i++) any = any || b->allowed[i] != 0;
  *enough = accepts && !any;
  return true;
}

bool bond_matches(const struct bond *b, bool *yes, struct error *why)
{
  size_t least = 0;
  bool ok = b->c == NULL || constraint_minimum(b->c, b->state, &least, why);
  *yes = ok && least == 0;
  return ok;
}
