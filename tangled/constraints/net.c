/* net.c -- From a tree to a transition network.
   made from workshop/09-constraints.w; change it there

   It is built from its end: each part is told the node next where it goes on, so no
   node has to be mended later but the loop of a repetition. Node 0 is the end of a
   rule, of all of them. least[i] is the least number of bytes from node i to the end
   of its rule, and NET_NEVER if there is none. The work of making nodes is bounded. */

#include "constraints/nodes.h"

/* <Make nodes for a repetition> */

/* For ever: a fork is made first and mended when what it leads to is there. Otherwise
   the optional copies are made from the last to the first, each with a way out; then
   those that must come. */
static uint32_t emit_times(struct net *w, const struct parser *r,
  const struct ast_node *s, uint32_t next, struct error *why)
{
  uint32_t min = s->min, tail = next, first;
  if (s->max == PARSER_FOREVER) {
    tail = net_fork(w, next, next, why);
    first = tail == NO_NODE ? NO_NODE : net_emit(w, r, s->a, tail, why);
    if (first == NO_NODE) return NO_NODE;
    ((struct net_node *) w->nodes.block)[tail].next = first;
    if (min > 0) tail = first, min--;
  } else for (uint32_t i = s->min; i < s->max && tail != NO_NODE; i++)
    tail = net_fork(w, net_emit(w, r, s->a, tail, why), next, why);
  for (; min > 0 && tail != NO_NODE; min--)
    tail = net_emit(w, r, s->a, tail, why);
  return tail;
}

/* <Make nodes for a shape> */

/* Sequences and choices hang to the left and are walked in loops, so the depth of the
   calls is that of the parentheses. The work is counted here, where all of it passes. */
uint32_t net_emit(struct net *w, const struct parser *r, uint32_t at,
  uint32_t next, struct error *why)
{
  const struct ast_node *all = r->nodes.block, *s = &all[at];
  if (++w->work > NET_MAX_WORK) return error_say(why, "%s: it is too large:"
    " its repetitions come to too much", w->name), NO_NODE;
  for (; s->kind == AST_BOTH && next != NO_NODE; s = &all[s->a])
    next = net_emit(w, r, s->b, next, why);
  if (next == NO_NODE || s->kind == AST_EMPTY) return next;
  if (s->kind == AST_TIMES) return emit_times(w, r, s, next, why);
  if (s->kind == AST_SET) return net_set(w,
    (const struct code_range *) r->ranges.block + s->a, s->b, next, why);
  if (s->kind == AST_CALL) return net_add(w, (struct net_node) { NET_CALL,
    0, 0, next, s->a }, why);
  uint32_t any = net_emit(w, r, s->b, next, why);
  for (s = &all[s->a]; s->kind == AST_EITHER && any != NO_NODE;
      s = &all[s->a])
    any = net_fork(w, net_emit(w, r, s->b, next, why), any, why);
  return any == NO_NODE ? any : net_fork(w,
    net_emit(w, r, (uint32_t) (s - all), next, why), any, why);
}

/* <Find the least number of bytes to the end> */
static uint32_t from_here(const struct net *w, const struct net_node *x)
{
  switch ((enum node_kind) x->kind) {
  case NET_BYTES: return net_sum(1, w->least[x->next]);
  case NET_FORK: return w->least[x->next] < w->least[x->other]
    ? w->least[x->next] : w->least[x->other];
  case NET_CALL: return net_sum(w->least[w->start[x->other]], w->least[x->next]);
  case NET_END: break;
  }
  return 0;
}

/* To a fixed point: numbers only become smaller, so it ends. Nodes are made from the
   end, so one round is nearly enough, except for rules that call each other. */
bool net_find_least(struct net *w, struct error *why)
{
  const struct net_node *x = w->nodes.block;
  w->n_least = w->nodes.n;
  w->least = memory_alloc(w->m, MEMORY_TOKENS, w->n_least, sizeof *w->least, why);
  if (w->least == NULL) return false;
  for (size_t i = 0; i < w->n_least; i++) w->least[i] = NET_NEVER;
  for (bool quiet = false; !quiet;) {
    quiet = true;
    for (size_t i = 0; i < w->n_least; i++) {
      uint32_t found = from_here(w, &x[i]);
      if (found != w->least[i]) w->least[i] = found, quiet = false;
    }
  }
  return true;
}
