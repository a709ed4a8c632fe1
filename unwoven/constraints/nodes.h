/* nodes.h -- what the makers of a network share; NO_NODE means that the reason has been said */
#ifndef INCIPIT_NODES_H
#define INCIPIT_NODES_H
#include "constraints/net.h"
#define NO_NODE UINT32_MAX

/* the number of a new node, or of an earlier one that reads the same and goes on to the same;
   NO_NODE and a sentence if there are too many */
uint32_t net_add(struct net *w, struct net_node x, struct error *why);

/* a fork, which is never shared; NO_NODE if either side is that */
uint32_t net_fork(struct net *w, uint32_t one, uint32_t other,
  struct error *why);

/* the first node of ways that read one character of n ranges, in order, and go on to next */
uint32_t net_set(struct net *w, const struct code_range *x, size_t n,
  uint32_t next, struct error *why);

/* the first node of the tree at, after which comes next */
uint32_t net_emit(struct net *w, const struct parser *r, uint32_t at,
  uint32_t next, struct error *why);

/* fills least for all nodes that there are now */
bool net_find_least(struct net *w, struct error *why);
#endif
