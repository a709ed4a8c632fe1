/* nodes.c -- the nodes of a network are added one by one, and returned together.

   The maker of a part is told the node that follows and makes its own nodes before it, so
   node 0 is the end and is made first. Only nodes that read are shared, never forks: the
   fork of a loop is mended after it is made. */

#include "constraints/nodes.h"

/* Where a node would read the same bytes and go on to the same node as an earlier one, the
   earlier one serves. This saves much, since a set of characters makes many chains with the
   same ends. The key tells ranges from 0, which means not shared. A short text can describe
   a huge network, so the nodes are bounded. */
uint32_t net_add(struct net *w, struct net_node x, struct error *why)
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

/* Forks are made so often that they have a function of their own, which passes on the
   failure of either side. */
uint32_t net_fork(struct net *w, uint32_t one, uint32_t other,
  struct error *why)
{
  if (one == NO_NODE || other == NO_NODE) return NO_NODE;
  return net_add(w, (struct net_node) { NET_FORK, 0, 0, one, other }, why);
}

/* Stops at the largest number, and "never" stays never. If each of 31 rules calls the next
   one twice, the shortest text has more than 10^9 bytes. */
uint32_t net_sum(uint32_t a, uint32_t b)
{
  if (a == NET_NEVER || b == NET_NEVER) return NET_NEVER;
  return a + b < NET_MAX_LEAST ? a + b : NET_MAX_LEAST;
}

/* After a failure the network may be half made: what was not allocated is NULL, and its
   size 0. */
void net_free(struct net *w)
{
  array_free(w->m, &w->nodes);
  pair_map_free(w->m, &w->same);
  memory_free(w->m, w->start);
  memory_free(w->m, w->least);
}
