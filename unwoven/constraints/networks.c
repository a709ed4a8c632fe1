/* networks.c -- the network of a whole pattern or grammar, and the rules that cannot work.

   A rule must come to an end, and must not call itself before it has read anything: left
   recursion would let a search push frames for ever between two bytes, even if it is hidden
   because something that can be empty comes first. A rule that calls itself with something
   left to do afterwards nests: then stacks can grow without a limit, and the states cannot
   all be listed. A rule that calls itself only at its very end has nothing left to do; it
   is a loop, and does not nest. */

#include "constraints/nodes.h"

/* The sentence names the rule, and the line where its name first occurs. */
static bool refuse_rule(const struct parser *r, const struct grammar_rule *rule,
  const char *what)
{
  size_t line = 1;
  for (size_t i = 0; i < rule->at; i++) line += r->text[i] == '\n';
  return error_say(r->why, "%s: the rule %.*s, of line %zu, %s", r->name,
    (int) (rule->n < 60 ? rule->n : 60), (const char *) rule->name, line, what);
}

/* A silent search stops at nodes that read, and goes on after a call only if the called
   rule can be empty. */
static bool goes_through(const struct net *w, const struct net_node *x,
  bool silent)
{
  if (x->kind == NET_CALL)
    return !silent || w->least[w->start[x->other]] == 0;
  return x->kind == NET_FORK || (x->kind == NET_BYTES && !silent);
}

/* room for a search: the mark of the last search that met each node, and the nodes that are
   still to be looked at */
struct walkers { uint32_t *seen, *todo; };

/* Can the rule be reached from its own beginning, silently (before any byte) or with
   something left to return to? mark differs for each rule and question, so seen need not be
   cleared. todo has room for twice the nodes: each is done once and adds at most two. */
static bool comes_again(const struct net *w, uint32_t rule, bool silent,
  const struct walkers *scratch)
{
  const struct net_node *all = w->nodes.block;
  uint32_t n = 0, mark = 2 * rule + (silent ? 2 : 1);
  scratch->todo[n++] = w->start[rule];
  while (n > 0) {
    uint32_t at = scratch->todo[--n];
    const struct net_node *x = &all[at];
    if (scratch->seen[at] == mark) continue;
    scratch->seen[at] = mark;
    bool call = x->kind == NET_CALL;
    if (call && x->other == rule && (silent || x->next != 0)) return true;
    if (call) scratch->todo[n++] = w->start[x->other];
    if (x->kind == NET_FORK) scratch->todo[n++] = x->other;
    if (goes_through(w, x, silent)) scratch->todo[n++] = x->next;
  }
  return false;
}

/* Each rule is asked three questions: does it end, is it left recursive, does it nest? */
static bool check_rules(struct net *w, const struct parser *r,
  const struct grammar_rule *rule, struct error *why)
{
  size_t cap = 3 * w->n_least;
  bool ok = true;
  struct walkers x = { memory_alloc(w->m, MEMORY_TOKENS, cap,
    sizeof (uint32_t), why), NULL };
  if (x.seen == NULL) return false;
  x.todo = x.seen + w->n_least;
  for (uint32_t i = 0; ok && i < w->n_rules; i++) {
    if (w->least[w->start[i]] == NET_NEVER)
      ok = refuse_rule(r, &rule[i], "comes to no end: no text is ever complete");
    else if (comes_again(w, i, true, &x))
      ok = refuse_rule(r, &rule[i], "calls itself before it has read anything (left recursion)");
    w->nested = w->nested || (ok && comes_again(w, i, false, &x));
  }
  memory_free(w->m, x.seen);
  return ok;
}

/* For both languages a network begins with the end, node 0, and the list of first nodes. */
static bool net_begin(struct net *w, size_t n_rules,
  struct error *why)
{
  w->start = memory_alloc(w->m, MEMORY_TOKENS, n_rules, sizeof *w->start, why);
  if (w->start == NULL) return false;
  w->n_rules = n_rules;
  return net_add(w, (struct net_node) { .kind = NET_END }, why) != NO_NODE;
}

/* A pattern has a single rule. It may match no text at all, as one that asks for a
   character that is neither a digit nor anything else. PCRE2 accepts such a pattern and
   never finds anything; we refuse it, since a model could write nothing that matches. */
bool net_of_pattern(struct net *w, struct parser *r)
{
  uint32_t s = parser_pattern(r);
  if (s == NO_AST_NODE || !net_begin(w, 1, r->why)) return false;
  w->start[0] = net_emit(w, r, s, 0, r->why);
  if (w->start[0] == NO_NODE || !net_find_least(w, r->why)) return false;
  return w->least[w->start[0]] != NET_NEVER || error_say(r->why,
    "%s: no text matches it", w->name);
}

/* The nodes are made one rule after the other, in the order in which their names first
   occur. A call names a rule by its number and not by its first node, so it does not matter
   whether the rule has been made yet. */
bool net_of_grammar(struct net *w, struct parser *r)
{
  struct array rules = { NULL, 0, 0 };
  uint32_t root;
  bool ok = parser_grammar(r, &rules, &root)
    && net_begin(w, rules.n, r->why);
  const struct grammar_rule *rule = rules.block;
  for (size_t i = 0; ok && i < rules.n; i++) {
    w->start[i] = net_emit(w, r, rule[i].means, 0, r->why);
    ok = w->start[i] != NO_NODE;
  }
  ok = ok && net_find_least(w, r->why) && check_rules(w, r, rule, r->why);
  if (ok) w->root = root;
  array_free(w->m, &rules);
  return ok;
}
