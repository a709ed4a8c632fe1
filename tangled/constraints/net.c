/* net.c -- made from workshop/09-constraints.w; change it there */

/* From a tree to a transition network. It is built from its end: each part is told
   the node next where it goes on, so no node has to be mended later but the loop of a
   repetition. Node 0 is the end of a rule, of all of them. Nodes that read the same
   bytes and go on to the same node are made once. least[i] is the least number of
   bytes from node i to the end of its rule, and NET_NEVER if there is none. Both the
   nodes and the work of making them are bounded, since a short text can describe a
   huge network. */
#include <string.h>
#include "constraints/net.h"

/* <Add a node> */
#define NO_NODE UINT32_MAX

/* Only reading nodes are shared; a fork may be mended after it is made. The key tells
   ranges from 0, which means not shared. */
static uint32_t node_add(struct net *w, struct net_node x, struct error *why)
{
  uint32_t key = x.kind == NET_BYTES ? 1u << 16 | (uint32_t) x.lo << 8 | x.hi
    : 0;
  uint32_t known = key == 0 ? 0 : pair_map_get(&w->same, key, x.next);
  if (known != 0) return known;
  if (w->nodes.n == NET_MAX_NODES) return error_say(why, "%s: it is too large: more than %d nodes",
    w->name, NET_MAX_NODES), NO_NODE;
  struct net_node *fresh = array_push(w->m, &w->nodes, sizeof *fresh, why);
  if (fresh == NULL) return NO_NODE;
  *fresh = x;
  known = (uint32_t) (w->nodes.n - 1);
  return key == 0 || pair_map_put(w->m, &w->same, key, x.next, known, why)
    ? known : NO_NODE;
}

static uint32_t node_fork(struct net *w, uint32_t one, uint32_t other,
  struct error *why)
{
  if (one == NO_NODE || other == NO_NODE) return NO_NODE;
  return node_add(w, (struct net_node) { NET_FORK, 0, 0, one, other }, why);
}

/* <Cut a range of characters> */

/* The largest end, up to hi, so that the characters from lo on are one range in each
   byte: all of one length, and the same in all bytes before those that run through
   their whole range. */
static uint32_t cut(uint32_t lo, uint32_t hi)
{
  static const uint32_t longer[] = { 0x7f, 0x7ff, 0xffff };
  for (int i = 0; i < 3; i++)
    if (lo <= longer[i] && hi > longer[i]) hi = longer[i];
  for (uint32_t tail = 0x3ffff; tail >= 0x3f && lo >= 0x80; tail >>= 6) {
    if ((lo & ~tail) == (hi & ~tail)) continue;
    if ((lo & tail) != 0) hi = lo | tail;
    else if ((hi & tail) != tail) hi = (hi & ~tail) - 1;
  }
  return hi;
}

/* <Make nodes for a range of characters> */
static size_t encode(uint32_t point, uint8_t byte[4])
{
  size_t n = 1u + (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);
  static const uint8_t mark[] = { 0, 0xc0, 0xe0, 0xf0 };
  for (size_t i = n; i-- > 1; point >>= 6)
    byte[i] = (uint8_t) (0x80 | (point & 0x3f));
  byte[0] = (uint8_t) (mark[n - 1] | point);
  return n;
}

static uint32_t emit_part(struct net *w, uint32_t lo, uint32_t hi,
  uint32_t next, struct error *why)
{
  uint8_t a[4], b[4];
  size_t n = encode(lo, a);
  encode(hi, b);
  while (n-- > 0 && next != NO_NODE)
    next = node_add(w, (struct net_node) { NET_BYTES, a[n], b[n], next, 0 },
      why);
  return next;
}

/* The gap of the surrogates is jumped over. An empty set must not become next, which
   would read nothing and go on: it becomes a fork that leads to itself and thus never
   to the end. */
static uint32_t emit_set(struct net *w, const struct code_range *x,
  size_t n, uint32_t next, struct error *why)
{
  uint32_t all = NO_NODE, one;
  for (size_t i = 0; i < n; i++)
    for (uint32_t lo = x[i].lo, hi; lo <= x[i].hi; lo = hi + 1) {
      if (lo >= 0xd800 && lo <= 0xdfff) { hi = 0xdfff; continue; }
      hi = cut(lo, lo < 0xd800 && x[i].hi >= 0xd800 ? 0xd7ff : x[i].hi);
      one = emit_part(w, lo, hi, next, why);
      all = all == NO_NODE ? one : node_fork(w, one, all, why);
      if (all == NO_NODE) return NO_NODE;
    }
  if (all != NO_NODE) return all;
  one = (uint32_t) w->nodes.n;
  return node_add(w, (struct net_node) { NET_FORK, 0, 0, one, one }, why);
}

static uint32_t emit(struct net *w, const struct parser *r, uint32_t at,
  uint32_t next, struct error *why);

/* <Make nodes for a repetition> */

/* For ever: a fork is made first and mended when what it leads to is there. Otherwise
   the optional copies are made from the last to the first, each with a way out; then
   those that must come. */
static uint32_t emit_times(struct net *w, const struct parser *r,
  const struct ast_node *s, uint32_t next, struct error *why)
{
  uint32_t min = s->min, tail = next, first;
  if (s->max == PARSER_FOREVER) {
    tail = node_fork(w, next, next, why);
    first = tail == NO_NODE ? NO_NODE : emit(w, r, s->a, tail, why);
    if (first == NO_NODE) return NO_NODE;
    ((struct net_node *) w->nodes.block)[tail].next = first;
    if (min > 0) tail = first, min--;
  } else for (uint32_t i = s->min; i < s->max && tail != NO_NODE; i++)
    tail = node_fork(w, emit(w, r, s->a, tail, why), next, why);
  for (; min > 0 && tail != NO_NODE; min--)
    tail = emit(w, r, s->a, tail, why);
  return tail;
}

/* <Make nodes for a shape> */

/* Sequences and choices hang to the left and are walked in loops, so the depth of the
   calls is that of the parentheses. The work is counted here, where all of it passes. */
static uint32_t emit(struct net *w, const struct parser *r, uint32_t at,
  uint32_t next, struct error *why)
{
  const struct ast_node *all = r->nodes.block, *s = &all[at];
  if (++w->work > NET_MAX_WORK) return error_say(why, "%s: it is too large:"
    " its repetitions come to too much", w->name), NO_NODE;
  for (; s->kind == AST_BOTH && next != NO_NODE; s = &all[s->a])
    next = emit(w, r, s->b, next, why);
  if (next == NO_NODE || s->kind == AST_EMPTY) return next;
  if (s->kind == AST_TIMES) return emit_times(w, r, s, next, why);
  if (s->kind == AST_SET) return emit_set(w,
    (const struct code_range *) r->ranges.block + s->a, s->b, next, why);
  if (s->kind == AST_CALL) return node_add(w, (struct net_node) { NET_CALL,
    0, 0, next, s->a }, why);
  uint32_t any = emit(w, r, s->b, next, why);
  for (s = &all[s->a]; s->kind == AST_EITHER && any != NO_NODE;
      s = &all[s->a])
    any = node_fork(w, emit(w, r, s->b, next, why), any, why);
  return any == NO_NODE ? any : node_fork(w,
    emit(w, r, (uint32_t) (s - all), next, why), any, why);
}

/* <Find the least number of bytes to the end> */

/* stops at the largest number, and "never" stays never */
uint32_t net_sum(uint32_t a, uint32_t b)
{
  if (a == NET_NEVER || b == NET_NEVER) return NET_NEVER;
  return a + b < NET_MAX_LEAST ? a + b : NET_MAX_LEAST;
}

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
static bool find_least(struct net *w, struct error *why)
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

/* <Say what is wrong with a rule> */
static bool refuse_rule(const struct parser *r, const struct grammar_rule *rule,
  const char *what)
{
  size_t line = 1;
  for (size_t i = 0; i < rule->at; i++) line += r->text[i] == '\n';
  return error_say(r->why, "%s: the rule %.*s, of line %zu, %s", r->name,
    (int) (rule->n < 60 ? rule->n : 60), (const char *) rule->name, line, what);
}

/* <Ask whether a rule comes to itself again> */
static bool goes_through(const struct net *w, const struct net_node *x,
  bool silent)
{
  if (x->kind == NET_CALL)
    return !silent || w->least[w->start[x->other]] == 0;
  return x->kind == NET_FORK || (x->kind == NET_BYTES && !silent);
}

struct walkers { uint32_t *seen, *todo; };

/* Can the rule be reached from its own beginning, silently (before any byte) or with
   something left to return to? mark differs for each rule and question, so seen need
   not be cleared. todo has room for twice the nodes: each is done once and adds at
   most two. */
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

/* Left recursion would let follow push frames for ever without reading a byte, so it
   is refused. nested says that stacks can grow without a limit: then the states
   cannot all be listed. */
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

/* <Make the network of a text> */
static bool net_begin(struct net *w, size_t n_rules,
  struct error *why)
{
  w->start = memory_alloc(w->m, MEMORY_TOKENS, n_rules, sizeof *w->start, why);
  if (w->start == NULL) return false;
  w->n_rules = n_rules;
  return node_add(w, (struct net_node) { .kind = NET_END }, why) != NO_NODE;
}

bool net_of_pattern(struct net *w, struct parser *r)
{
  uint32_t s = parser_pattern(r);
  if (s == NO_AST_NODE || !net_begin(w, 1, r->why)) return false;
  w->start[0] = emit(w, r, s, 0, r->why);
  if (w->start[0] == NO_NODE || !find_least(w, r->why)) return false;
  return w->least[w->start[0]] != NET_NEVER || error_say(r->why,
    "%s: no text matches it", w->name);
}

bool net_of_grammar(struct net *w, struct parser *r)
{
  struct array rules = { NULL, 0, 0 };
  uint32_t root;
  bool ok = parser_grammar(r, &rules, &root)
    && net_begin(w, rules.n, r->why);
  const struct grammar_rule *rule = rules.block;
  for (size_t i = 0; ok && i < rules.n; i++) {
    w->start[i] = emit(w, r, rule[i].means, 0, r->why);
    ok = w->start[i] != NO_NODE;
  }
  ok = ok && find_least(w, r->why) && check_rules(w, r, rule, r->why);
  if (ok) w->root = root;
  array_free(w->m, &rules);
  return ok;
}

void net_free(struct net *w)
{
  array_free(w->m, &w->nodes);
  pair_map_free(w->m, &w->same);
  memory_free(w->m, w->start);
  memory_free(w->m, w->least);
}
