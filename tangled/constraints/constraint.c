/* constraint.c -- Which tokens may come? A network is run as a deterministic
   automaton whose states are made when they are first met, and a lexicon, the tokens
   as a tree of bytes, is walked against it.
   made from workshop/09-constraints.w; change it there

   Invariants: a state is a set of pairs of a node that waits and a stack, sorted and
   listed once, so two states are equal if they are the same block. Stacks are kept
   once as well, 0 is the empty one. State 0 is dead, with no pairs. States are blocks
   of their own and never move; the lists do. All that is made is kept until
   constraint_forget, up to MAX_BYTES; a state's number stays valid until then. A
   constraint serves one thread at a time. */

#include <string.h>
#include "constraints/states.h"

/* <Push a frame> */

/* A call at the end of a rule has nothing to come back to, so it pushes nothing:
   without this a right-recursive rule would make a new stack in each round. */
static bool push(struct constraint *c, uint32_t back, uint32_t below,
  uint32_t *stack, struct error *why)
{
  *stack = back == 0 ? below : pair_map_get(&c->stack_of, back, below);
  if (back == 0 || *stack != 0) return true;
  struct call_frame *fresh = array_push(c->m, &c->stacks, sizeof *fresh, why);
  if (fresh == NULL) return false;
  *stack = (uint32_t) c->stacks.n - 1;
  *fresh = (struct call_frame) { back, below,
    net_sum(c->w.least[back], ((struct call_frame *) c->stacks.block)[below].least) };
  return pair_map_put(c->m, &c->stack_of, back, below, *stack, why);
}

/* <Follow all ways to where they wait> */

/* |visited| holds the number of the search that met a pair last, so it is never
   emptied. Nodes from which no end can be reached are not entered: a state that is
   not dead can always be completed. */
static bool reach(struct constraint *c, uint32_t node, uint32_t stack,
  struct error *why)
{
  if (c->w.least[node] == NET_NEVER
      || pair_map_get(&c->visited, node, stack) == c->closures) return true;
  if (c->ways++ == MAX_WAYS) return error_say(why, "%s: there are more"
    " than %d ways between two bytes", c->w.name, MAX_WAYS);
  struct position *p = array_push(c->m, &c->todo, sizeof *p, why);
  if (p == NULL) return false;
  *p = (struct position) { node, stack };
  return pair_map_put(c->m, &c->visited, node, stack, (uint32_t) c->closures, why);
}

/* Goes on through what reads nothing. What waits for a byte, or is the end of all, is
   collected in a heap, which will give it back in order. */
static bool follow(struct constraint *c, struct position p, struct error *why)
{
  const struct net_node *x = (struct net_node *) c->w.nodes.block + p.node;
  const struct call_frame *f = (struct call_frame *) c->stacks.block + p.stack;
  uint32_t stack;
  if (x->kind == NET_FORK)
    return reach(c, x->next, p.stack, why) && reach(c, x->other, p.stack, why);
  if (x->kind == NET_CALL)
    return push(c, x->next, p.stack, &stack, why)
      && reach(c, c->w.start[x->other], stack, why);
  if (x->kind == NET_END && p.stack != 0)
    return reach(c, f->back, f->below, why);
  if (c->found.n == MAX_PAIRS) return error_say(why, "%s: more than %d ways are open at once",
    c->w.name, MAX_PAIRS);
  return heap_push(c->m, &c->found, (struct heap_item) { p.node, p.stack }, why);
}

static void begin_search(struct constraint *c)
{
  c->closures++;
  c->todo.n = c->found.n = 0;
  c->ways = 0;
}

static bool follow_all(struct constraint *c, struct error *why)
{
  while (c->todo.n > 0)
    if (!follow(c, ((struct position *) c->todo.block)[--c->todo.n], why))
      return false;
  return true;
}

/* Sorting first, since the same set must be found again whatever way led to it. The
   list |todo|, which is empty by now, serves a second time. */
static struct dfa_state *gather_pairs(struct constraint *c,
  struct error *why)
{
  if (!follow_all(c, why)) return NULL;
  while (c->found.n > 0) {
    struct heap_item e = heap_pop(&c->found);
    struct position *p = array_push(c->m, &c->todo, sizeof *p, why);
    if (p == NULL) return NULL;
    *p = (struct position) { (uint32_t) e.key, (uint32_t) e.tie };
  }
  size_t n = c->todo.n, bytes = n * sizeof (struct position);
  if (n == 0) return c->dead;
  uint32_t known = name_map_get(&c->by_pairs, c->todo.block, bytes);
  if (known > 0)
    return ((struct dfa_state **) c->states.block)[known - 1];
  struct dfa_state *x = state_add(c, c->todo.block, n, why);
  return x == NULL || !name_map_put(c->m, &c->by_pairs,
    (unsigned char *) x->at, bytes, x->number + 1, why) ? NULL : x;
}

/* <Begin with nothing known> */

/* With |strips| the beginning of the text is a state of its own, equal to |start| but
   never found by its pairs: only there does the first token lose its blank. */
bool state_first(struct constraint *c, struct error *why)
{
  if (array_push(c->m, &c->stacks, sizeof (struct call_frame), why) == NULL
      || (c->dead = state_add(c, NULL, 0, why)) == NULL) return false;
  begin_search(c);
  if (!reach(c, c->w.start[c->w.root], 0, why)
      || (c->start = gather_pairs(c, why)) == NULL) return false;
  c->first = !c->strips ? c->start
    : state_add(c, c->start->at, c->start->n, why);
  return c->first != NULL;
}

/* <Find the next configuration> */

/* |byte| stands for its whole class: the answer is kept under the class */
static struct dfa_state *discover(struct constraint *c,
  struct dfa_state *x, uint8_t byte, struct error *why)
{
  const struct net_node *all = c->w.nodes.block;
  begin_search(c);
  for (size_t i = 0; i < x->n; i++) {
    const struct net_node *at = &all[x->at[i].node];
    if (at->kind == NET_BYTES && at->lo <= byte && byte <= at->hi
        && !reach(c, at->next, x->at[i].stack, why)) return NULL;
  }
  return x->next[c->byte_class[byte]] = gather_pairs(c, why);
}

/* the fast way, taken for nearly every byte; null only after an error, since dead is
   a state */
static inline struct dfa_state *advance(struct constraint *c,
  struct dfa_state *x, uint8_t byte, struct error *why)
{
  struct dfa_state *next = x->next[c->byte_class[byte]];
  return next != NULL ? next : discover(c, x, byte, why);
}

/* <Match a whole text> */
bool constraint_matches(struct constraint *c, const char *text, size_t n,
  bool *yes, struct error *why)
{
  struct dfa_state *x = c->start;
  for (size_t i = 0; i < n && x != NULL && x != c->dead; i++)
    x = advance(c, x, (uint8_t) text[i], why);
  *yes = x != NULL && x->accepts;
  return x != NULL;
}

/* <Walk through the pieces> */

/* The hot loop: through all tokens as a tree in depth-first order. |at[d]| is the
   state after |d| bytes of the present path; a dead state jumps over the whole branch
   by |skip|. A node that is in the midst of a token writes to a place of |reached|
   that a later node of the same token overwrites, so no test for ends is needed. A
   blank that the first token loses leads to |start| and is not a text by itself. */
static bool walk(struct constraint *c, struct dfa_state *from,
  struct error *why)
{
  const struct lexicon_node *all = c->words->node, *t = all;
  const struct lexicon_node *end = all + c->words->n_nodes;
  struct dfa_state **at = c->at, **reached = c->reached;
  const struct dfa_state *dead = c->dead;
  bool strip = c->strips && from == c->first;
  memset(reached, 0, c->words->n_words * sizeof *reached);
  for (at[0] = from; t < end;) {
    bool blank = strip && t->depth == 0 && t->byte == ' ';
    struct dfa_state *next = blank ? c->start
      : advance(c, at[t->depth], t->byte, why);
    if (next == NULL) return false;
    reached[t->word] = next == dead || blank ? NULL : next;
    at[t->depth + 1] = next;
    t = next == dead ? all + t->skip : t + 1;
  }
  return true;
}

/* <How far tokens lead> */
enum { MAX_TOGETHER = 1024 };

/* |round| marks what is in the list already, so each state comes once */
static bool note(struct constraint *c, struct array *all,
  struct dfa_state *x, struct error *why)
{
  if (x->round == c->round) return true;
  struct dfa_state **slot = array_push(c->m, all, sizeof *slot, why);
  if (slot == NULL) return false;
  *slot = x, x->round = c->round;
  return true;
}

/* computed once for a state and kept: walking is the expensive part */
bool state_find_after(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  struct array all = { NULL, 0, 0 };
  if (x->after != NULL) return true;
  bool ok = walk(c, x, why);
  c->round++;
  for (size_t i = 0; ok && i < c->words->n_words; i++)
    ok = c->reached[i] == NULL || note(c, &all, c->reached[i], why);
  ok = ok && state_fits(c, all.n * sizeof *x->after, why)
    && (x->after = memory_alloc(c->m, MEMORY_TOKENS, all.n,
      sizeof *x->after, why)) != NULL;
  if (ok) x->n_after = all.n, c->bytes += all.n * sizeof *x->after;
  if (ok && all.n > 0)
    memcpy(x->after, all.block, all.n * sizeof *x->after);
  array_free(c->m, &all);
  return ok;
}

/* <Collect what belongs together> */
static bool is_collected(const struct dfa_state *x,
  const struct dfa_state *after, bool nearer)
{
  return !nearer || after->least < x->least;
}

static bool collect_one(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  if (x->gathered == c->gathers) return true;
  struct dfa_state **slot = array_push(c->m, &c->group, sizeof *slot,
    why);
  if (slot == NULL) return false;
  *slot = x, x->gathered = c->gathers;
  return true;
}

/* With |nearer| only steps that come nearer to the end in bytes are followed; that
   ends, since the bytes left grow less. More than |MAX_TOGETHER| states are given up:
   |all| stays false, and that is no error. */
static bool collect_predecessors(struct constraint *c, struct dfa_state *from,
  bool nearer, bool *all, struct error *why)
{
  *all = false;
  c->gathers++;
  c->group.n = 0;
  if (!collect_one(c, from, why)) return false;
  for (size_t i = 0; i < c->group.n; i++) {
    struct dfa_state *x = ((struct dfa_state **) c->group.block)[i];
    if (c->group.n > MAX_TOGETHER) return true;
    if (!state_find_after(c, x, why)) return false;
    for (size_t k = 0; k < x->n_after; k++)
      if (is_collected(x, x->after[k], nearer) && !collect_one(c, x->after[k], why))
        return false;
  }
  return *all = true;
}

static bool compute_cost_first(struct constraint *c, struct dfa_state *x,
  struct error *why);

/* <Count the tokens to the end> */

/* Shortest ways by rounds until nothing changes, from the last found to the first,
   since those found late are near the end. */
static void compute_cost_group(struct constraint *c, bool nearer)
{
  struct dfa_state **x = c->group.block;
  for (size_t i = 0; i < c->group.n; i++)
    x[i]->cost = x[i]->accepts ? 0 : NET_NEVER;
  for (bool quiet = false; !quiet;) {
    quiet = true;
    for (size_t i = c->group.n; i-- > 0;)
      for (size_t k = 0; k < x[i]->n_after; k++) {
        const struct dfa_state *y = x[i]->after[k];
        if (!is_collected(x[i], y, nearer) || y->cost == NET_NEVER
            || y->cost + 1 >= x[i]->cost) continue;
        x[i]->cost = y->cost + 1, quiet = false;
      }
  }
}

/* Tried once: if the whole automaton is small, all exact costs are known for good.
   With nested rules it has no end. */
static bool compute_all_costs(struct constraint *c, struct error *why)
{
  bool all = false;
  if (!c->w.nested && !collect_predecessors(c, c->first, false, &all, why))
    return false;
  if (all) compute_cost_group(c, false);
  c->known = all ? WHOLE : ENDLESS;
  return true;
}

/* The cheapest answer first: known, accepting, from the whole automaton. Otherwise
   from the states nearer to the end; if these are too many and every byte is a token,
   the number of bytes is a safe upper bound. */
bool state_compute_cost(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  bool all;
  if (c->known == UNTRIED && !compute_all_costs(c, why)) return false;
  if (x->accepts) x->cost = 0;
  if (x->cost != COST_UNKNOWN) return true;
  if (x == c->first && c->strips) return compute_cost_first(c, x, why);
  if (!collect_predecessors(c, x, true, &all, why)) return false;
  if (all) compute_cost_group(c, true);
  else if (c->complete) x->cost = x->least;
  else return error_say(why, "%s: more than %d states are nearer to the "
    "end, and byte 0x%02x is not a token", c->w.name, MAX_TOGETHER,
    c->lacking);
  return true;
}

/* the first state has ways of its own, so its cost is one more than the cheapest of
   those after it */
static bool compute_cost_first(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  if (!state_find_after(c, x, why)) return false;
  uint32_t best = NET_NEVER - 1;
  for (size_t k = 0; k < x->n_after; k++) {
    if (!state_compute_cost(c, x->after[k], why)) return false;
    if (x->after[k]->cost < best) best = x->after[k]->cost;
  }
  x->cost = x->accepts ? 0 : best + 1;
  return true;
}

/* <Judge what comes after a token> */
enum fate { FATE_GOOD, FATE_BAD, FATE_OPEN };

/* Bytes are an upper bound of the tokens if all bytes are tokens, and bytes divided
   by the longest token are always a lower one; only between them is the exact cost
   needed. */
static enum fate judge(const struct constraint *c,
  const struct dfa_state *x, size_t left)
{
  if (c->complete && x->least <= left) return FATE_GOOD;
  if (x->cost == NET_NEVER) return FATE_BAD;
  if (x->cost != COST_UNKNOWN) return x->cost <= left ? FATE_GOOD : FATE_BAD;
  return left < (x->least + c->words->max_len - 1) / c->words->max_len
    ? FATE_BAD : FATE_OPEN;
}

/* <Mark the tokens that may come> */

/* Good or bad at once; those that are open are noted, and decided all together in a
   second round. */
static bool mark(struct constraint *c, struct dfa_state *x, size_t left,
  uint8_t *allowed, bool *any, struct error *why)
{
  const struct lexicon_id *t = c->words->token;
  if (!walk(c, x, why)) return false;
  c->round++, c->pending.n = 0;
  for (size_t i = 0; i < c->words->n_ids; i++) {
    struct dfa_state *after = c->reached[t[i].word];
    enum fate f = after == NULL ? FATE_BAD : judge(c, after, left);
    if (f == FATE_OPEN && !note(c, &c->pending, after, why)) return false;
    allowed[t[i].id] = f == FATE_GOOD;
    *any = *any || f == FATE_GOOD;
  }
  return true;
}

/* the costs must not be computed in the midst of |mark|: they walk, too, and
   |reached| would be overwritten */
static bool mark_all(struct constraint *c, struct dfa_state *x,
  size_t left, uint8_t *allowed, bool *any, struct error *why)
{
  if (!mark(c, x, left, allowed, any, why)) return false;
  if (c->pending.n == 0) return true;
  for (size_t i = 0; i < c->pending.n; i++)
    if (!state_compute_cost(c, ((struct dfa_state **) c->pending.block)[i], why))
      return false;
  return mark(c, x, left, allowed, any, why);
}

/* <Mask the tokens> */

/* One token of the budget is the token itself, so what follows has |budget-1|. No
   token and not accepting: the limit is too small, and the sentence says how much
   would do. */
bool constraint_mask(struct constraint *c, uint32_t state, size_t budget,
  uint8_t *allowed, bool *accepts, struct error *why)
{
  struct dfa_state *x = state_at(c, state, why);
  bool any = false;
  if (x == NULL) return false;
  memset(allowed, 0, c->words->vocab_size);
  *accepts = x->accepts;
  if (judge(c, x, budget) == FATE_OPEN && !state_compute_cost(c, x, why)) return false;
  if (budget > 0 && judge(c, x, budget) == FATE_GOOD
      && !mark_all(c, x, budget - 1, allowed, &any, why)) return false;
  if (any || x->accepts) return true;
  size_t min_tokens;
  if (!constraint_minimum(c, state, &min_tokens, why)) return false;
  return error_say(why, "%s: it takes at least %zu tokens to the end, and the limit leaves %zu",
    c->w.name, min_tokens, budget);
}

bool constraint_minimum(struct constraint *c, uint32_t state, size_t *tokens,
  struct error *why)
{
  struct dfa_state *x = state_at(c, state, why);
  if (x == NULL || !state_compute_cost(c, x, why)) return false;
  *tokens = x->cost;
  return x->cost != NET_NEVER || error_say(why,
    "%s: the tokens can't end this text", c->w.name);
}

/* <Step after a token> */

/* Byte by byte and not by looking into |reached|, since the last walk may have been
   for another state. A token without bytes never moves the state and is refused. */
bool constraint_step(struct constraint *c, uint32_t state, uint32_t id,
  uint32_t *next, struct error *why)
{
  struct dfa_state *x = state_at(c, state, why);
  if (x == NULL) return false;
  const struct lexicon *l = c->words;
  size_t at = id < l->vocab_size ? l->from[id] : 0;
  size_t end = id < l->vocab_size ? l->from[id + 1] : 0;
  bool first = c->strips && x == c->first;
  if (first && at < end && l->text[at] == ' ') at++, x = c->start;
  bool empty = at == end;
  for (; at < end && x != NULL && x != c->dead; at++)
    x = advance(c, x, l->text[at], why);
  if (x == NULL) return false;
  *next = x->number;
  return (!empty && x != c->dead) || error_say(why,
    "%s: token %u can't come here", c->w.name, id);
}
