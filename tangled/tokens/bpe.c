/* bpe.c -- Byte-pair encoding: learning merges from a text, and applying them.
   made from chapters/01-tokens.w; change it there

   Learning keeps three things up to date, so that a merge costs only the places where
   it happens: the text as nodes, those of a piece in a list; for each pair of ids its
   count and the list of its nodes, in the order of the text; and the pairs by count
   in a heap. A count in the heap may be too high, never too low: the heap is lazy.
   Ties go to the smaller left id, then the smaller right one, so a text has one list
   of merges. Encoding a piece has two ways, by its length, with the same ids and the
   same look-ups. Whatever fails leaves the caller's output as it was. */

#include <string.h>
#include "tokens/bpe.h"
#include "tokens/unique.h"

/* <What the trainer knows> */
#define NOWHERE UINT32_MAX /* the end of a list */
struct text_node { uint32_t id;
  uint32_t prev, next; /* the neighbours in the piece */
  uint32_t prev_occ, next_occ; /* the neighbours in the pair's list */
  uint32_t weight; /* how often the piece occurs in the text */
};
struct bpe_pair { uint64_t count; uint32_t left, right, first, last; };

struct bpe_trainer { struct memory *m; struct error *why;
  struct unique_pieces unique; /* the pieces, and how often each occurs */
  struct text_node *nodes; /* one for each of their bytes */
  struct bpe_pair *pairs; size_t n_pairs, pairs_cap;
  struct pair_map pair_number; /* from two ids to their pair, plus 1 */
  struct heap queue; }; /* of the pairs, by count */

/* <Enter and strike out the pair that begins at a node> */

/* Pairs are never removed, not even at count 0: an entry of the heap may still name
   them. The table counts them from 1; 0 is no entry. */
static bool new_pair(struct bpe_trainer *t, uint32_t left, uint32_t right,
  uint32_t *k)
{
  struct bpe_pair *p = memory_reserve(t->m, MEMORY_TOKENS, t->pairs,
    &t->pairs_cap, t->n_pairs + 1, 256, sizeof *p, t->why);
  if (p == NULL) return false;
  t->pairs = p;
  *k = (uint32_t) (t->n_pairs + 1);
  if (!pair_map_put(t->m, &t->pair_number, left, right, *k, t->why))
    return false;
  t->pairs[t->n_pairs++] = (struct bpe_pair) { 0, left, right, NOWHERE,
    NOWHERE };
  return true;
}

/* Pieces are always gone through from left to right, so the list of a pair is in the
   order of the text. Nodes count with their weight: equal pieces are kept once. */
static bool link_pair(struct bpe_trainer *t, uint32_t i)
{
  uint32_t left = t->nodes[i].id, right = t->nodes[t->nodes[i].next].id;
  uint32_t k = pair_map_get(&t->pair_number, left, right);
  if (k == 0 && !new_pair(t, left, right, &k)) return false;
  struct bpe_pair *p = &t->pairs[k - 1];
  t->nodes[i].prev_occ = p->last, t->nodes[i].next_occ = NOWHERE;
  if (p->last == NOWHERE) p->first = i;
  else t->nodes[p->last].next_occ = i;
  p->last = i;
  p->count += t->nodes[i].weight;
  return true;
}

/* The lists have links both ways for this: that of a common pair may be as long as
   the text. */
static void unlink_pair(struct bpe_trainer *t, uint32_t i)
{
  const struct text_node *s = &t->nodes[i];
  uint32_t k = pair_map_get(&t->pair_number, s->id, t->nodes[s->next].id);
  struct bpe_pair *p = &t->pairs[k - 1];
  if (s->prev_occ == NOWHERE) p->first = s->next_occ;
  else t->nodes[s->prev_occ].next_occ = s->next_occ;
  if (s->next_occ == NOWHERE) p->last = s->prev_occ;
  else t->nodes[s->next_occ].prev_occ = s->prev_occ;
  p->count -= s->weight;
}

/* <Put pairs into the heap> */

/* The heap gives out the smallest entry and we want the highest count, so the count
   goes in inverted. */
static bool queue_pair(struct bpe_trainer *t, const struct bpe_pair *p)
{
  struct heap_item e = { ~p->count,
    (uint64_t) p->left << 32 | p->right };
  return p->count == 0 || heap_push(t->m, &t->queue, e, t->why);
}

static bool queue_from(struct bpe_trainer *t, size_t k)
{
  for (; k < t->n_pairs; k++)
    if (!queue_pair(t, &t->pairs[k])) return false;
  return true;
}

/* <Lay out the nodes and count the pairs> */
static bool lay_out(struct bpe_trainer *t)
{
  size_t n = t->unique.n_bytes;
  if (n >= NOWHERE) return error_say(t->why,
    "a text of %zu bytes is too long to learn from", n);
  t->nodes = memory_alloc(t->m, MEMORY_TOKENS, n, sizeof *t->nodes, t->why);
  if (t->nodes == NULL) return false;
  uint32_t i = 0;
  for (size_t k = 0; k < t->unique.n; k++) {
    const struct unique_piece *p = &t->unique.piece[k];
    uint32_t first = i, last = i + (uint32_t) p->n - 1;
    /* <Write the nodes of a piece> */
    for (; i <= last; i++)
      t->nodes[i] = (struct text_node) { p->byte[i - first],
        i > first ? i - 1 : NOWHERE, i < last ? i + 1 : NOWHERE,
        NOWHERE, NOWHERE, p->weight };
    /* after all nodes of the piece, since a pair is found by the id of its right
       neighbour */
    for (i = first; i < last; i++)
      if (!link_pair(t, i)) return false;
    i = last + 1;
  }
  return queue_from(t, 0);
}

/* <Find the pair with the highest count> */

/* A count only falls once the pair is in the heap, so an entry may be too high and
   never too low. One that comes out with its true count is the highest of all; one
   that does not goes in again. */
static bool best_pair(struct bpe_trainer *t, struct bpe_pair **best)
{
  *best = NULL;
  while (t->queue.n > 0) {
    struct heap_item e = heap_pop(&t->queue);
    uint32_t k = pair_map_get(&t->pair_number, (uint32_t) (e.tie >> 32),
      (uint32_t) e.tie);
    struct bpe_pair *p = &t->pairs[k - 1];
    if (p->count == ~e.key) {
      *best = p;
      return true;
    }
    if (!queue_pair(t, p)) return false;
  }
  return true;
}

/* <Merge a pair wherever it occurs> */

/* Four nodes at most are concerned. First the pairs that end here are struck out,
   while both ids are still there; then the right node leaves, and the new pairs are
   entered. */
static bool merge_at(struct bpe_trainer *t, uint32_t i, uint32_t made)
{
  uint32_t prev = t->nodes[i].prev, gone = t->nodes[i].next,
    next = t->nodes[gone].next;
  if (prev != NOWHERE) unlink_pair(t, prev);
  if (next != NOWHERE) unlink_pair(t, gone);
  unlink_pair(t, i);
  t->nodes[i].id = made, t->nodes[i].next = next;
  if (next != NOWHERE) t->nodes[next].prev = i;
  if (prev != NOWHERE && !link_pair(t, prev)) return false;
  return next == NOWHERE || link_pair(t, i);
}

/* Always at the head of the list: in aaa the first merge strikes out the second pair
   before we come to it. New pairs enter the heap when their counts are final. */
static bool merge_all(struct bpe_trainer *t, const struct bpe_pair *best,
  uint32_t made)
{
  size_t k = pair_map_get(&t->pair_number, best->left, best->right) - 1;
  size_t fresh = t->n_pairs;
  while (t->pairs[k].first != NOWHERE)
    if (!merge_at(t, t->pairs[k].first, made)) return false;
  return queue_from(t, fresh);
}

/* <Find and merge, again and again> */
static bool learn(struct bpe_trainer *t, struct bpe_merge *list,
  size_t merges, size_t *n_out)
{
  size_t k = 0;
  for (; k < merges; k++) {
    struct bpe_pair *best;
    if (!best_pair(t, &best)) return false;
    if (best == NULL) break;
    list[k] = (struct bpe_merge) { best->left, best->right };
    if (!merge_all(t, best, (uint32_t) (256 + k))) return false;
  }
  *n_out = k;
  return true;
}

/* <Learn merges from a text> */
bool bpe_train(struct memory *m, const char *text, size_t n,
  const char *pattern, size_t merges, struct bpe_merge **out,
  size_t *n_out, struct error *why)
{
  struct bpe_trainer t = { .m = m, .why = why };
  struct bpe_merge *list = NULL;
  *out = NULL, *n_out = 0;
  bool ok = merges < NOWHERE - 256
    || error_say(why, "%zu merges are more than ids can number", merges);
  ok = ok && unique_collect(m, &t.unique, (const unsigned char *) text, n,
    pattern, why) && lay_out(&t);
  if (ok) list = memory_alloc(m, MEMORY_TOKENS, merges, sizeof *list,
    why);
  ok = ok && list != NULL && learn(&t, list, merges, n_out);
  /* <Free what the trainer has used> */
  heap_free(m, &t.queue);
  pair_map_free(m, &t.pair_number);
  memory_free(m, t.pairs);
  memory_free(m, t.nodes);
  unique_free(m, &t.unique);
  if (ok) *out = list;
  else bpe_forget(m, list);
  return ok;
}

/* <Join a short piece> */

/* A candidate: rank above, place of the rule below; or the largest number there is,
   which no rank beats. */
static uint64_t look_at(const struct bpe *b, struct bpe_work *w,
  uint32_t left, uint32_t right)
{
  uint32_t place = pair_map_get(&b->place, left, right);
  w->lookups++;
  if (place == 0) return UINT64_MAX;
  return (uint64_t) b->rule[place - 1].rank << 32 | (place - 1);
}

enum { SHORT = 32 };

/* By the definition, but a merge looks up only the two pairs that it has made.
   Strictly less: of equal ranks the leftmost. */
static size_t join_short(const struct bpe *b, struct bpe_work *w,
  uint32_t *id, size_t n)
{
  uint64_t candidate[SHORT];
  for (size_t i = 0; i + 1 < n; i++)
    candidate[i] = look_at(b, w, id[i], id[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; i++)
      if (candidate[i] >> 32 < candidate[best] >> 32) best = i;
    if (candidate[best] == UINT64_MAX) break;
    /* <Merge at best, and look up the two new pairs> */
    size_t after = n - best - 2;
    id[best] = b->rule[(uint32_t) candidate[best]].made;
    memmove(id + best + 1, id + best + 2, after * sizeof *id);
    memmove(candidate + best, candidate + best + 1,
      after * sizeof *candidate);
    n--;
    if (best > 0)
      candidate[best - 1] = look_at(b, w, id[best - 1], id[best]);
    if (after > 0)
      candidate[best] = look_at(b, w, id[best], id[best + 1]);
  }
  return n;
}

/* <Join a long piece> */

/* By rank, then by place: a node keeps its number when others leave, so leftmost can
   be read off it. */
static bool consider(const struct bpe *b, struct memory *m,
  struct bpe_work *w, uint32_t i, struct error *why)
{
  const struct bpe_node *left = &w->node[i];
  uint64_t c = look_at(b, w, left->id, w->node[left->next].id);
  return c == UINT64_MAX || heap_push(m, &w->queue,
    (struct heap_item) { c >> 32, (uint64_t) i << 32
    | (uint32_t) c }, why);
}

static bool begin_list(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct error *why)
{
  size_t n = w->piece.n;
  if (n > w->cap) {
    memory_free(m, w->node);
    w->cap = 0;
    w->node = memory_alloc(m, MEMORY_TOKENS, n, sizeof *w->node, why);
    if (w->node == NULL) return false;
    w->cap = n;
  }
  w->queue.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    w->node[i] = (struct bpe_node) { w->piece.id[i],
      i > 0 ? i - 1 : NOWHERE, i + 1 < n ? i + 1 : NOWHERE };
    if (i > 0 && !consider(b, m, w, i - 1, why)) return false;
  }
  return true;
}

/* A candidate that was overtaken stays in the heap, and is known when it comes out,
   since the ids that its rule wants are gone; the right node of a merge gets an id
   that no rule wants. The left one lives on, so the list always begins at node 0. */
static bool join_long(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct ids *out, struct error *why)
{
  size_t start = out->n;
  if (!begin_list(b, m, w, why)) return false;
  while (w->queue.n > 0) {
    struct heap_item e = heap_pop(&w->queue);
    const struct bpe_rule *r = &b->rule[(uint32_t) e.tie];
    uint32_t i = (uint32_t) (e.tie >> 32), next = w->node[i].next;
    if (w->node[i].id != r->left || next == NOWHERE
      || w->node[next].id != r->right) continue;
    uint32_t after = w->node[next].next, before = w->node[i].prev;
    w->node[i].id = r->made, w->node[i].next = after;
    w->node[next].id = BPE_NONE;
    if (after != NOWHERE) w->node[after].prev = i;
    if (before != NOWHERE && !consider(b, m, w, before, why))
      return false;
    if (after != NOWHERE && !consider(b, m, w, i, why)) return false;
  }
  /* <Append the ids that are left in the list> */
  for (uint32_t i = 0; i != NOWHERE; i = w->node[i].next)
    if (!ids_push(m, out, w->node[i].id, why)) {
      out->n = start;
      return false;
    }
  return true;
}

/* <Encode a piece> */

/* The two ways give the same ids after the same number of look-ups; the test compares
   both with the definition. */
bool bpe_join(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct ids *out, struct error *why)
{
  if (w->piece.n > SHORT) return w->piece.n < NOWHERE
    ? join_long(b, m, w, out, why) : error_say(why,
    "a piece of %zu letters is too long", w->piece.n);
  size_t n = join_short(b, w, w->piece.id, w->piece.n), start = out->n;
  for (size_t i = 0; i < n; i++)
    if (!ids_push(m, out, w->piece.id[i], why)) {
      out->n = start;
      return false;
    }
  return true;
}

bool bpe_encode(const struct bpe *b, struct memory *m,
  struct bpe_work *w, const unsigned char *byte, size_t n,
  struct ids *out, struct error *why)
{
  w->piece.n = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t id = b->byte_id[byte[i]];
    if (id == BPE_NONE)
      return error_say(why, "the vocabulary cannot spell byte 0x%02x",
        byte[i]);
    if (!ids_push(m, &w->piece, id, why)) return false;
  }
  return bpe_join(b, m, w, out, why);
}

/* <Expand an id, and make an encoder of merges> */

/* A stack of ours, not the machine's: a token may be as deep as it has bytes, and
   ours is refused with a message. Right half first, so that the left one is on top. */
bool bpe_spell(struct memory *m, const struct bpe_merge *merge,
  uint32_t id, struct bytes *out, struct error *why)
{
  struct ids stack = { NULL, 0, 0 };
  size_t start = out->n;
  bool ok = ids_push(m, &stack, id, why);
  while (ok && stack.n > 0) {
    uint32_t top = stack.id[--stack.n];
    unsigned char byte = (unsigned char) top;
    if (top < 256) ok = bytes_push(m, out, &byte, 1, why);
    else ok = ids_push(m, &stack, merge[top - 256].right, why)
      && ids_push(m, &stack, merge[top - 256].left, why);
  }
  ids_free(m, &stack);
  if (!ok) out->n = start;
  return ok;
}

bool bpe_learnt(struct memory *m, struct bpe *b,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  for (uint32_t i = 0; i < 256; i++) b->byte_id[i] = i;
  for (uint32_t k = 0; k < n; k++)
    if (!bpe_add(m, b, merge[k].left, merge[k].right, 256 + k, why))
      return false;
  return true;
}
