/* states.c -- states are blocks of their own, numbered in a list, up to a limit of bytes
   for all of them.

   A state is one block: its numbers, the pointers to the next states, its pairs. Blocks
   never move; the list does. State 0 is the dead one, without pairs. */

#include <string.h>
#include "constraints/states.h"

/* a place for each class of bytes, and the pairs */
static size_t block_size(const struct constraint *c, size_t n)
{
  return sizeof (struct dfa_state)
    + c->n_classes * sizeof (struct dfa_state *) + n * sizeof (struct position);
}

/* What counts against the limit: the blocks with their lists, which bytes counts, and also
   the tables, which are the larger part with small states. */
size_t state_bytes(const struct constraint *c)
{
  return c->bytes + c->states.cap * sizeof (struct dfa_state *)
    + c->stacks.cap * sizeof (struct call_frame)
    + (c->visited.cap + c->stack_of.cap) * sizeof (struct pair_slot)
    + c->by_pairs.cap * sizeof (struct name_slot);
}

/* Beyond the limit a constraint fails with a sentence, rather than use up the machine's
   memory. The limit is checked when a state is made; between two checks a search may still
   take as much as MAX_WAYS allows. */
bool state_fits(const struct constraint *c, size_t more,
  struct error *why)
{
  return state_bytes(c) + more <= MAX_BYTES || error_say(why,
    "%s: its %zu states have no more room", c->w.name, c->states.n);
}

/* The bytes to the end are the least of the pairs' numbers, and a pair's number is the sum
   of those of its node and its stack. Pairs are sorted by node, and node 0 is the end of a
   rule; with an empty stack it is the text's end, so accepts looks at the first pair only. */
struct dfa_state *state_add(struct constraint *c,
  const struct position *p, size_t n, struct error *why)
{
  size_t size = block_size(c, n);
  if (!state_fits(c, size, why)) return NULL;
  struct dfa_state **slot = array_push(c->m, &c->states, sizeof *slot, why);
  if (slot == NULL) return NULL;
  struct dfa_state *x = memory_alloc(c->m, MEMORY_TOKENS, size, 1, why);
  if (x == NULL) return c->states.n--, NULL;
  c->bytes += size;
  x->number = (uint32_t) (c->states.n - 1), x->n = (uint32_t) n;
  x->at = (struct position *) (x->next + c->n_classes);
  if (n > 0) memcpy(x->at, p, n * sizeof *p);
  x->accepts = n > 0 && p[0].node == 0;
  x->least = NET_NEVER, x->cost = COST_UNKNOWN;
  for (size_t i = 0; i < n; i++) {
    uint32_t one = net_sum(c->w.least[p[i].node],
      ((struct call_frame *) c->stacks.block)[p[i].stack].least);
    if (one < x->least) x->least = one;
  }
  return *slot = x;
}

/* Numbers come from callers, who may have kept them for too long, or ask before the
   constraint has been bound. */
struct dfa_state *state_at(const struct constraint *c,
  uint32_t state, struct error *why)
{
  if (c->words == NULL)
    return error_say(why, "%s: it is not bound to tokens", c->w.name), NULL;
  if (state < c->states.n && state != c->dead->number)
    return ((struct dfa_state **) c->states.block)[state];
  return error_say(why, "%s: there is no state %u", c->w.name, state), NULL;
}
