/* net.h -- made from workshop/09-constraints.w; change it there */

#ifndef INCIPIT_NET_H
#define INCIPIT_NET_H
#include "lookups/table.h"
#include "constraints/parser.h"

/* <A network> */

/* what struct net_node says of each */
enum node_kind { NET_END, NET_BYTES, NET_FORK, NET_CALL };

/* BYTES: one of lo to hi, then next; FORK: next or other; CALL: rule other, then
   next; END: of the rule we are in */
struct net_node { uint8_t kind, lo, hi; uint32_t next, other; };

/* node 0 is the only END; start: the first node of each of the n_rules; least: for
   each of the n_least nodes the fewest bytes to the END, NET_NEVER if it cannot be
   reached; root: the number of the root's rule; nested: can a rule come within
   itself? */
struct net { struct memory *m; const char *name; struct array nodes;
  struct pair_map same; size_t work; uint32_t *start, *least, root;
  size_t n_rules, n_least; bool nested; };
#define NET_NEVER UINT32_MAX

/* limits: nodes of a network, steps that build it, fewest bytes of a text */
enum { NET_MAX_NODES = 1 << 16, NET_MAX_WORK = 1 << 20, NET_MAX_LEAST = 1 << 30 };

/* fills a network that is all zero but for m and name; errors: the text, its size,
   memory; call net_free in any case */
bool net_of_pattern(struct net *w, struct parser *r);

/* the same, from a grammar */
bool net_of_grammar(struct net *w, struct parser *r);

/* a+b bytes, NET_MAX_LEAST at most; NET_NEVER if either is that */
uint32_t net_sum(uint32_t a, uint32_t b);

/* frees all of it, even after a failure */
void net_free(struct net *w);
#endif
