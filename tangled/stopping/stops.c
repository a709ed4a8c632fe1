/* stops.c -- made from chapters/08-stopping.w; change it there */

/* The machine of Aho and Corasick. Node 0 is the root, and 0 also says "no node",
   which is safe: the root is nobody's child. The failure of a node is less deep than
   the node, so links are made level by level, and what a node inherits from its
   failure is final when it is read. node has cap entries, one for each byte of all
   strings and one for the root; so no index can run over. Once opened it is only
   read. */
#include <inttypes.h>
#include "stopping/stops.h"

/* <Look for a child> */

/* the root has a table, since most bytes of a text begin no stop string; other nodes
   have a list */
static uint32_t child_for(const struct stops *s, uint32_t at,
  unsigned char byte)
{
  if (at == 0) return s->first[byte];
  uint32_t next = s->node[at].child;
  while (next != 0 && s->node[next].byte != byte)
    next = s->node[next].sibling;
  return next;
}

/* <Step through a byte> */

/* A step may follow several failures, but each makes the state less deep, and a byte
   deepens it by one: over a whole text there are no more failures than bytes. */
uint32_t stops_step(const struct stops *s, uint32_t state,
  unsigned char byte)
{
  uint32_t next = child_for(s, state, byte);
  while (next == 0 && state != 0) {
    state = s->node[state].failure;
    next = child_for(s, state, byte);
  }
  return next;
}

/* <Look at a state> */
size_t stops_hold(const struct stops *s, uint32_t state)
{
  return s->node[state].hold;
}

const struct stop_string *stops_ending(const struct stops *s, uint32_t state)
{
  uint32_t which = s->node[state].ending;
  return which == 0 ? NULL : &s->list[which - 1];
}

/* <Add a string to the tree> */

/* If a string is given twice, the first counts. A new child goes to the front of the
   list. */
static void add_string(struct stops *s, size_t which)
{
  const struct stop_string *x = &s->list[which];
  uint32_t at = 0;
  for (size_t i = 0; i < x->n; i++) {
    uint32_t next = child_for(s, at, x->byte[i]);
    if (next == 0) {
      next = (uint32_t) s->n_nodes++;
      s->node[next] = (struct stops_node) { .depth = (uint32_t) i + 1,
        .sibling = s->node[at].child, .byte = x->byte[i] };
      s->node[at].child = next;
      if (at == 0) s->first[x->byte[i]] = next;
    }
    at = next;
  }
  if (s->node[at].ending == 0) s->node[at].ending = (uint32_t) which + 1;
}

/* <Find the failures, level by level> */

/* Breadth first: stops_step from the parent's failure meets only nodes whose links
   are done. Children of the root keep failure 0; otherwise they would fail to
   themselves. */
static void link_nodes(struct stops *s, uint32_t *queue)
{
  size_t tail = 1; /* queue[0] is the root */
  for (size_t i = 0; i < tail; i++) {
    uint32_t at = queue[i], c = s->node[at].child;
    for (; c != 0; c = s->node[c].sibling) {
      struct stops_node *x = &s->node[c];
      if (at != 0)
        x->failure = stops_step(s, s->node[at].failure, x->byte);
      /* <See what ends at x, and what it may become> */
      const struct stops_node *shorter = &s->node[x->failure];
      if (x->ending == 0) x->ending = shorter->ending;
      x->hold = x->child != 0 ? x->depth : shorter->hold;
      queue[tail++] = c;
    }
  }
}

/* <Open and close the machine> */

/* the strings are the caller's and stay */
void stops_close(struct stops *s)
{
  memory_free(s->m, s->node);
  s->node = NULL;
}

/* An empty string would end every text before its first byte, so it is refused.
   Numbers of nodes have 32 bits, and the sum is checked string by string, before it
   can wrap. */
bool stops_open(struct stops *s, struct memory *m,
  const struct stop_string *list, size_t n, struct error *why)
{
  *s = (struct stops) { .m = m, .list = list, .n = n, .n_nodes = 1 };
  size_t cap = 1;
  for (size_t i = 0; i < n; i++) {
    if (list[i].n == 0) return error_say(why, "stop string %zu is empty; wanted: 1 byte or more",
        i);
    if (list[i].n > UINT32_MAX - cap) return error_say(why,
        "the stop strings have more than %" PRIu32 " bytes",
        UINT32_MAX - 1);
    cap += list[i].n;
  }
  /* <Take the nodes, and build the tree> */
  s->node = memory_alloc(m, MEMORY_TOKENS, cap, sizeof *s->node, why);
  uint32_t *queue = s->node == NULL ? NULL
    : memory_alloc(m, MEMORY_TOKENS, cap, sizeof *queue, why);
  s->cap = cap;
  if (queue == NULL) {
    stops_close(s);
    return false;
  }
  for (size_t i = 0; i < n; i++) add_string(s, i);
  link_nodes(s, queue);
  memory_free(m, queue);
  return true;
}
