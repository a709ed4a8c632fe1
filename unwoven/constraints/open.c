/* open.c -- a constraint is made, bound to a vocabulary, forgets its states, and is freed.

   The network stays from the beginning to the end. What was learnt by running it, states
   and stacks and tables, goes when the constraint forgets or is bound again: the lists of
   next states depend on the tokens. A constraint that was never bound can check whole texts
   only. */

#include <stdio.h>
#include "constraints/states.h"

/* Bytes that no node tells apart are one class, so a state needs a place for each class and
   not for 256 bytes. A class begins where some range begins or has just ended. Nodes from
   which the end cannot be reached are ignored. */
static void sort_bytes(struct constraint *c)
{
  bool begins[257] = { true };
  const struct net_node *x = c->w.nodes.block;
  for (size_t i = 0; i < c->w.n_least; i++)
    if (x[i].kind == NET_BYTES && c->w.least[i] != NET_NEVER)
      begins[x[i].lo] = begins[x[i].hi + 1] = true;
  for (size_t b = 0; b < 256; b++) {
    c->n_classes += begins[b];
    c->byte_class[b] = (uint8_t) (c->n_classes - 1);
  }
}

/* visited and stack_of go as well, since they have numbers of stacks and searches. */
static void drop_states(struct constraint *c)
{
  for (size_t i = 0; i < c->states.n; i++) {
    struct dfa_state *x = ((struct dfa_state **) c->states.block)[i];
    memory_free(c->m, x->after);
    memory_free(c->m, x);
  }
  array_free(c->m, &c->states);
  array_free(c->m, &c->stacks);
  pair_map_free(c->m, &c->visited), pair_map_free(c->m, &c->stack_of);
  name_map_free(c->m, &c->by_pairs);
  c->bytes = c->closures = 0;
  c->known = UNTRIED;
}

/* all numbers of states are invalid afterwards */
bool constraint_forget(struct constraint *c, struct error *why)
{
  drop_states(c);
  return state_first(c, why);
}

/* One function for both languages. The name is copied for later messages, since the
   caller's string may be gone by then. */
static struct constraint *constraint_new(struct memory *m, const char *name,
  bool grammar, const char *text, size_t n, struct error *why)
{
  struct parser r = { .m = m };
  struct constraint *c = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *c, why);
  if (c == NULL) return NULL;
  c->m = c->w.m = m;
  snprintf(c->name, sizeof c->name, "%s", name);
  c->w.name = c->name;
  bool ok = parser_begin(&r, m, c->name, text, n, why)
    && (grammar ? net_of_grammar : net_of_pattern)(&c->w, &r);
  parser_end(&r);
  if (ok && c->w.least[c->w.start[c->w.root]] == NET_MAX_LEAST)
    ok = error_say(why, "%s: its shortest text has %d bytes or more", name,
      NET_MAX_LEAST);
  if (ok) sort_bytes(c);
  if (ok && state_first(c, why)) return c;
  constraint_free(c);
  return NULL;
}

struct constraint *constraint_regex(struct memory *m, const char *pattern,
  size_t n, struct error *why)
{
  return constraint_new(m, "the pattern", false, pattern, n, why);
}

struct constraint *constraint_grammar(struct memory *m, const char *name,
  const char *text, size_t n, struct error *why)
{
  return constraint_new(m, name, true, text, n, why);
}

/* in a constraint that was never bound, at is NULL */
void constraint_free(struct constraint *c)
{
  if (c == NULL) return;
  struct memory *m = c->m;
  drop_states(c);
  array_free(m, &c->todo);
  array_free(m, &c->pending);
  array_free(m, &c->group);
  heap_free(m, &c->found);
  memory_free(m, c->at);
  net_free(&c->w);
  memory_free(m, c);
}

/* If every byte that occurs is a token, any text can be finished byte by byte, and no cost
   need be known: the common case, and a fast one. */
static void look_for_bytes(struct constraint *c)
{
  const struct net_node *x = c->w.nodes.block;
  c->complete = true;
  for (size_t i = 0; i < c->w.n_least; i++)
    if (x[i].kind == NET_BYTES && c->w.least[i] != NET_NEVER)
      for (unsigned b = x[i].lo; c->complete && b <= x[i].hi; b++)
        if (!c->words->single[b]) c->complete = false, c->lacking = (uint8_t) b;
}

/* Asked when binding, so that a constraint that these tokens cannot meet is refused before
   a text is begun. Where every byte is a token the answer is yes without a search, except
   for the lost blank: a text that has to begin with a blank may be impossible. */
static bool can_begin(struct constraint *c, struct error *why)
{
  if (c->first->accepts || (c->complete && !c->strips)) return true;
  if (c->complete ? !state_find_after(c, c->first, why) : !state_compute_cost(c, c->first, why))
    return false;
  if (c->complete ? c->first->n_after > 0 : c->first->cost != NET_NEVER)
    return true;
  if (c->complete) return error_say(why, "%s: no token can begin a text,"
    " as the first one loses a blank", c->w.name);
  return error_say(why, "%s: the tokens can't write it; none is byte 0x%02x alone",
    c->w.name, c->lacking);
}

/* The walk needs an entry for each depth of the vocabulary's tree and for each piece. What
   was learnt with other tokens is forgotten. */
bool constraint_bind(struct constraint *c, const struct lexicon *l,
  bool strips, struct error *why)
{
  size_t n = l->max_len + 1 + l->n_words;
  struct dfa_state **at = memory_alloc(c->m, MEMORY_TOKENS, n, sizeof *at, why);
  if (at == NULL) return false;
  memory_free(c->m, c->at);
  c->at = at, c->n_at = n;
  c->reached = at + l->max_len + 1;
  c->words = l;
  c->strips = strips;
  look_for_bytes(c);
  return constraint_forget(c, why) && can_begin(c, why);
}

/* a number like any other: after states were forgotten the caller must ask for it again */
uint32_t constraint_start(const struct constraint *c)
{
  return c->first->number;
}

struct constraint_look constraint_look(const struct constraint *c)
{
  return (struct constraint_look) { c->w.nodes.n, c->n_classes, c->states.n,
    state_bytes(c) };
}
