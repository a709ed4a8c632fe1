/* constraint.c -- made from workshop/09-constraints.w; change it there */

/* Which tokens may come? A network is run as a deterministic automaton whose states
   are made when they are first met, and a lexicon, the tokens as a tree of bytes, is
   walked against it. Invariants: a state is a set of pairs of a node that waits and a
   stack, sorted and listed once, so two states are equal if they are the same block.
   Stacks are kept once as well, 0 is the empty one. State 0 is dead, with no pairs.
   States are blocks of their own and never move; the lists do. All that is made is
   kept until constraint_forget, up to MAX_BYTES; a state's number stays valid until
   then. A lexicon is only read and may serve several threads; a constraint may not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "constraints/constraint.h"
#include "constraints/net.h"

/* <The pieces as a tree> */

/* a letter at depth (0: a piece's first); the next twig that does not hang on it; the
   first piece, in order, that it is part of */
struct lexicon_node { uint32_t skip, word; unsigned depth : 24, byte : 8; };

/* a token and the number of its piece: two tokens may be spelt alike */
struct lexicon_id { uint32_t id, word; };

/* token in the order of the pieces; the bytes of id i are those of text from from[i]
   to from[i+1]: none if it cannot be used */
struct lexicon { struct memory *m; size_t vocab_size, n_nodes, n_ids, n_words,
  max_len, n_bytes; struct lexicon_node *node; struct lexicon_id *token;
  size_t *from; uint8_t *text; bool single[256]; };
enum { MAX_PIECE = 1 << 24 };

/* <Stacks and configurations> */
struct call_frame { uint32_t back, below, least; };
struct position { uint32_t node, stack; };

/* n pairs in order; the least number of bytes to the end, and of tokens, or
   COST_UNKNOWN; the n_after others to which one token leads, or NULL; for each class
   of bytes the next state, or NULL if not yet computed */
struct dfa_state { uint32_t number, n, least, cost; bool accepts;
  size_t round, gathered, n_after; struct dfa_state **after; struct position *at;
  struct dfa_state *next[]; };
#define COST_UNKNOWN (UINT32_MAX - 1)

/* <What a constraint knows> */
enum { MAX_BYTES = 1 << 28, MAX_PAIRS = 1 << 16, MAX_WAYS = 1 << 20 };
enum tried { UNTRIED, WHOLE, ENDLESS };

/* at for each depth of a walk, and reached for each piece, in one block */
struct constraint { struct memory *m; struct net w; uint8_t byte_class[256];
  char name[200]; size_t n_classes, closures, ways, bytes, round, gathers;
  struct array states, stacks, todo;
  struct pair_map stack_of, visited; struct name_map by_pairs; struct heap found;
  struct dfa_state *dead, *start, *first; const struct lexicon *words;
  bool strips, complete; uint8_t lacking; enum tried known;
  struct dfa_state **at, **reached; size_t n_at; struct array pending,
  group; };

/* <Sort the bytes into kinds> */

/* Bytes that no node tells apart are one class, so a state needs a place for each
   class and not for 256 bytes. A class begins where some range begins or has just
   ended. */
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

/* visited holds the number of the search that met a pair last, so it is never
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

/* <Make a configuration of what was found> */
static size_t block_size(const struct constraint *c, size_t n)
{
  return sizeof (struct dfa_state)
    + c->n_classes * sizeof (struct dfa_state *) + n * sizeof (struct position);
}

/* what counts against the limit: also tables, which are the larger part with small
   states */
static size_t bytes_taken(const struct constraint *c)
{
  return c->bytes + c->states.cap * sizeof (struct dfa_state *)
    + c->stacks.cap * sizeof (struct call_frame)
    + (c->visited.cap + c->stack_of.cap) * sizeof (struct pair_slot)
    + c->by_pairs.cap * sizeof (struct name_slot);
}

static bool within_limits(const struct constraint *c, size_t more,
  struct error *why)
{
  return bytes_taken(c) + more <= MAX_BYTES || error_say(why,
    "%s: its %zu states have no more room", c->w.name, c->states.n);
}

/* One block: the structure, the list of next states, the pairs. Pairs are sorted by
   node, and node 0 is the end of a rule; with an empty stack it is the text's end, so
   accepts looks at the first pair only. */
static struct dfa_state *state_add(struct constraint *c,
  const struct position *p, size_t n, struct error *why)
{
  size_t size = block_size(c, n);
  if (!within_limits(c, size, why)) return NULL;
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

/* Sorting first, since the same set must be found again whatever way led to it. The
   list todo, which is empty by now, serves a second time. */
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

/* <Find the next configuration> */

/* byte stands for its whole class: the answer is kept under the class */
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

/* <Begin with nothing known> */

/* With strips the beginning of the text is a state of its own, equal to start but
   never found by its pairs: only there does the first token lose its blank. */
static bool state_first(struct constraint *c, struct error *why)
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

/* the network stays; all that was learnt by running it goes */
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

bool constraint_forget(struct constraint *c, struct error *why)
{
  drop_states(c);
  return state_first(c, why);
}

/* <Make a constraint, and return it> */
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

/* <Copy the pieces> */

/* Tokens that cannot be used have no bytes here, and so are in no place of the tree.
   The sums are checked before anything is taken. */
static bool copy_pieces(struct lexicon *l, const struct token_bytes *spelt,
  const bool *usable, struct error *why)
{
  for (size_t i = 0; i < l->vocab_size; i++) {
    size_t n = usable == NULL || usable[i] ? spelt[i].n : 0;
    if (n > MAX_PIECE || l->n_bytes > UINT32_MAX / 2) return error_say(why,
      "token %zu has %zu bytes, and those before it %zu; a token may have %d, and all before it %u",
      i, n, l->n_bytes, MAX_PIECE,
      (unsigned) (UINT32_MAX / 2));
    l->n_bytes += n, l->n_ids += n > 0;
    if (n > l->max_len) l->max_len = n;
  }
  l->from = memory_alloc(l->m, MEMORY_TOKENS, l->vocab_size + 1, sizeof *l->from,
    why);
  l->text = memory_alloc(l->m, MEMORY_TOKENS, l->n_bytes, 1, why);
  if (l->from == NULL || l->text == NULL) return false;
  for (size_t i = 0; i < l->vocab_size; i++) {
    size_t n = usable == NULL || usable[i] ? spelt[i].n : 0;
    if (n > 0) memcpy(l->text + l->from[i], spelt[i].byte, n);
    if (n == 1) l->single[spelt[i].byte[0]] = true;
    l->from[i + 1] = l->from[i] + n;
  }
  return true;
}

/* <Sort the pieces> */
struct spelling { const uint8_t *byte; size_t n; uint32_t id; };
static int as_in_a_dictionary(const void *a, const void *b)
{
  const struct spelling *x = a, *y = b;
  int c = memcmp(x->byte, y->byte, x->n < y->n ? x->n : y->n);
  if (c != 0) return c;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return x->id < y->id ? -1 : 1;
}

static struct spelling *sort_pieces(const struct lexicon *l, struct error *why)
{
  struct spelling *sorted = memory_alloc(l->m, MEMORY_TOKENS, l->n_ids, sizeof *sorted,
    why);
  size_t k = 0;
  for (size_t i = 0; sorted != NULL && i < l->vocab_size; i++)
    if (l->from[i + 1] > l->from[i])
      sorted[k++] = (struct spelling) { l->text + l->from[i],
        l->from[i + 1] - l->from[i], (uint32_t) i };
  if (sorted != NULL) qsort(sorted, k, sizeof *sorted, as_in_a_dictionary);
  return sorted;
}

/* <Count the twigs> */
static size_t in_common(const struct spelling *sorted, size_t i)
{
  size_t k = 0, n;
  if (i == 0) return 0;
  n = sorted[i].n < sorted[i - 1].n ? sorted[i].n : sorted[i - 1].n;
  while (k < n && sorted[i].byte[k] == sorted[i - 1].byte[k]) k++;
  return k;
}

static size_t count_nodes(const struct spelling *sorted, size_t n)
{
  size_t all = 0;
  for (size_t i = 0; i < n; i++) all += sorted[i].n - in_common(sorted, i);
  return all;
}

/* <Grow the tree> */
static void grow_nodes(struct lexicon *l, const struct spelling *sorted,
  uint32_t *open)
{
  size_t made = 0, depth = 0, words = 0;
  for (size_t i = 0; i < l->n_ids; i++) {
    size_t k = in_common(sorted, i);
    words += k < sorted[i].n;
    while (depth > k) l->node[open[--depth]].skip = (uint32_t) made;
    for (; depth < sorted[i].n; depth++) {
      open[depth] = (uint32_t) made;
      l->node[made++] = (struct lexicon_node) { 0, (uint32_t) words - 1,
        (unsigned) depth & 0xffffff, sorted[i].byte[depth] };
    }
    l->token[i] = (struct lexicon_id) { sorted[i].id, (uint32_t) words - 1 };
  }
  while (depth > 0) l->node[open[--depth]].skip = (uint32_t) made;
  l->n_words = words;
}

/* <Open a lexicon, and close it> */
static bool make_nodes(struct lexicon *l, struct spelling *sorted,
  struct error *why)
{
  l->n_nodes = count_nodes(sorted, l->n_ids);
  l->node = memory_alloc(l->m, MEMORY_TOKENS, l->n_nodes, sizeof *l->node, why);
  l->token = memory_alloc(l->m, MEMORY_TOKENS, l->n_ids, sizeof *l->token, why);
  uint32_t *open = memory_alloc(l->m, MEMORY_TOKENS, l->max_len, sizeof *open, why);
  bool ok = l->node != NULL && l->token != NULL && open != NULL;
  if (ok) grow_nodes(l, sorted, open);
  memory_free(l->m, open);
  return ok;
}

/* the tokens' bytes are copied: the caller may free its own */
struct lexicon *lexicon_open(struct memory *m, const struct token_bytes *spelt,
  const bool *usable, size_t vocab_size, struct error *why)
{
  if (vocab_size >= UINT32_MAX)
    return error_say(why, "%zu tokens are too many", vocab_size), NULL;
  struct lexicon *l = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *l, why);
  if (l == NULL) return NULL;
  l->m = m;
  l->vocab_size = vocab_size;
  l->max_len = 1;
  struct spelling *sorted = NULL;
  bool ok = copy_pieces(l, spelt, usable, why)
    && (sorted = sort_pieces(l, why)) != NULL && make_nodes(l, sorted, why);
  memory_free(m, sorted);
  if (ok) return l;
  lexicon_close(l);
  return NULL;
}

void lexicon_close(struct lexicon *l)
{
  if (l == NULL) return;
  memory_free(l->m, l->from);
  memory_free(l->m, l->text);
  memory_free(l->m, l->node);
  memory_free(l->m, l->token);
  memory_free(l->m, l);
}

/* <Walk through the pieces> */

/* The hot loop: through all tokens as a tree in depth-first order. at[d] is the state
   after d bytes of the present path; a dead state jumps over the whole branch by
   skip. A node that is in the midst of a token writes to a place of reached that a
   later node of the same token overwrites, so no test for ends is needed. A blank
   that the first token loses leads to start and is not a text by itself. */
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

/* round marks what is in the list already, so each state comes once */
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
static bool find_after(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  struct array all = { NULL, 0, 0 };
  if (x->after != NULL) return true;
  bool ok = walk(c, x, why);
  c->round++;
  for (size_t i = 0; ok && i < c->words->n_words; i++)
    ok = c->reached[i] == NULL || note(c, &all, c->reached[i], why);
  ok = ok && within_limits(c, all.n * sizeof *x->after, why)
    && (x->after = memory_alloc(c->m, MEMORY_TOKENS, all.n,
      sizeof *x->after, why)) != NULL;
  if (ok) x->n_after = all.n, c->bytes += all.n * sizeof *x->after;
  if (ok && all.n > 0)
    memcpy(x->after, all.block, all.n * sizeof *x->after);
  array_free(c->m, &all);
  return ok;
}

/* <Collect what belongs together> */
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

static bool is_collected(const struct dfa_state *x,
  const struct dfa_state *after, bool nearer)
{
  return !nearer || after->least < x->least;
}

/* With nearer only steps that come nearer to the end in bytes are followed; that
   ends, since the bytes left grow less. More than MAX_TOGETHER states are given up:
   all stays false, and that is no error. */
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
    if (!find_after(c, x, why)) return false;
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
static bool compute_cost(struct constraint *c, struct dfa_state *x,
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
  if (!find_after(c, x, why)) return false;
  uint32_t best = NET_NEVER - 1;
  for (size_t k = 0; k < x->n_after; k++) {
    if (!compute_cost(c, x->after[k], why)) return false;
    if (x->after[k]->cost < best) best = x->after[k]->cost;
  }
  x->cost = x->accepts ? 0 : best + 1;
  return true;
}

/* <Bind the constraint to a vocabulary> */

/* If every byte that occurs is a token, any text can be finished byte by byte, and no
   cost need be known: the common case, and a fast one. */
static void look_for_bytes(struct constraint *c)
{
  const struct net_node *x = c->w.nodes.block;
  c->complete = true;
  for (size_t i = 0; i < c->w.n_least; i++)
    if (x[i].kind == NET_BYTES && c->w.least[i] != NET_NEVER)
      for (unsigned b = x[i].lo; c->complete && b <= x[i].hi; b++)
        if (!c->words->single[b]) c->complete = false, c->lacking = (uint8_t) b;
}

/* asked when binding, so that a constraint that these tokens cannot meet is refused
   before a text is begun */
static bool can_begin(struct constraint *c, struct error *why)
{
  if (c->first->accepts || (c->complete && !c->strips)) return true;
  if (c->complete ? !find_after(c, c->first, why) : !compute_cost(c, c->first, why))
    return false;
  if (c->complete ? c->first->n_after > 0 : c->first->cost != NET_NEVER)
    return true;
  if (c->complete) return error_say(why, "%s: no token can begin a text,"
    " as the first one loses a blank", c->w.name);
  return error_say(why, "%s: the tokens can't write it; none is byte 0x%02x alone",
    c->w.name, c->lacking);
}

/* what was learnt with other tokens is forgotten: lists of next states depend on them */
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

/* <Find a state by its number> */

/* numbers come from callers, who may have kept them for too long */
static struct dfa_state *state_at(const struct constraint *c,
  uint32_t state, struct error *why)
{
  if (c->words == NULL)
    return error_say(why, "%s: it is not bound to tokens", c->w.name), NULL;
  if (state < c->states.n && state != c->dead->number)
    return ((struct dfa_state **) c->states.block)[state];
  return error_say(why, "%s: there is no state %u", c->w.name, state), NULL;
}

uint32_t constraint_start(const struct constraint *c)
{
  return c->first->number;
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

/* the costs must not be computed in the midst of mark: they walk, too, and reached
   would be overwritten */
static bool mark_all(struct constraint *c, struct dfa_state *x,
  size_t left, uint8_t *allowed, bool *any, struct error *why)
{
  if (!mark(c, x, left, allowed, any, why)) return false;
  if (c->pending.n == 0) return true;
  for (size_t i = 0; i < c->pending.n; i++)
    if (!compute_cost(c, ((struct dfa_state **) c->pending.block)[i], why))
      return false;
  return mark(c, x, left, allowed, any, why);
}

/* <Mask the tokens> */

/* One token of the budget is the token itself, so what follows has budget-1. No token
   and not accepting: the limit is too small, and the sentence says how much would do. */
bool constraint_mask(struct constraint *c, uint32_t state, size_t budget,
  uint8_t *allowed, bool *accepts, struct error *why)
{
  struct dfa_state *x = state_at(c, state, why);
  bool any = false;
  if (x == NULL) return false;
  memset(allowed, 0, c->words->vocab_size);
  *accepts = x->accepts;
  if (judge(c, x, budget) == FATE_OPEN && !compute_cost(c, x, why)) return false;
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
  if (x == NULL || !compute_cost(c, x, why)) return false;
  *tokens = x->cost;
  return x->cost != NET_NEVER || error_say(why,
    "%s: the tokens can't end this text", c->w.name);
}

/* <Step after a token> */

/* Byte by byte and not by looking into reached, since the last walk may have been for
   another state. A token without bytes never moves the state and is refused. */
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

/* <Look at what is known> */
struct constraint_look constraint_look(const struct constraint *c)
{
  return (struct constraint_look) { c->w.nodes.n, c->n_classes, c->states.n,
    bytes_taken(c) };
}

/* <An object of JSON> */
const char constraint_json[] =
  "root ::= object\n"
  "object ::= \"{\" ws ( member (\",\" ws member)* )? \"}\"\n"
  "member ::= string \":\" ws value ws\n"
  "array ::= \"[\" ws ( value ws (\",\" ws value ws)* )? \"]\"\n"
  "value ::= object | array | string | number | \"true\" | \"false\" | \"null\"\n"
  "string ::= \"\\\"\" ( [^\"\\\\\\x00-\\x1f] | escape )* \"\\\"\"\n"
  "escape ::= \"\\\\\" ( [\"\\\\/bfnrt] | \"u\" unit )\n"
  "unit ::= [1-9a-cefA-CEF] hex hex hex | \"0\" [1-9a-fA-F] hex hex |\n"
  "  \"00\" [1-9a-fA-F] hex | \"000\" [1-9a-fA-F] |\n"
  "  [dD] ( [0-7] hex hex |\n"
  "    [89abAB] hex hex \"\\\\u\" [dD] [c-fC-F] hex hex )\n"
  "hex ::= [0-9a-fA-F]\n"
  "number ::= \"-\"? (\"0\" | [1-9] [0-9]{0,14}) (\".\" [0-9]{1,15})? (\n"
  "  [eE] [-+]? [0-9]{1,2} )?\n"
  "ws ::= (\" \" | \"\\n\" [ ]{0,32})?\n";
