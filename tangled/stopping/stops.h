/* stops.h -- made from chapters/08-stopping.w; change it there */

#ifndef INCIPIT_STOPS_H
#define INCIPIT_STOPS_H
#include "tokens/utf8.h"

/* <Stop strings, and the machine that looks for them> */

/* n bytes at which a text is to end; borrowed */
struct stop_string { const unsigned char *byte; size_t n; };

/* a prefix of a stop string, depth bytes long, the last of them byte; its first child
   and its next sibling; failure: its longest proper suffix that is a node; ending:
   the number of the longest string that ends here, counted from 1, or 0; hold: how
   many bytes at the end may still become a part of one */
struct stops_node { uint32_t child, sibling, failure, depth, hold, ending;
  unsigned char byte; };

/* node[0] is the root, and so 0 stands for no node; first[b] is the root's child for
   byte b */
struct stops { struct memory *m; const struct stop_string *list; size_t n;
  struct stops_node *node; size_t cap, n_nodes; uint32_t first[256]; };

/* builds the automaton for list[n], which is borrowed; n may be 0; on failure there
   is nothing to close, but it does no harm; errors: an empty string, too many bytes,
   memory */
bool stops_open(struct stops *s, struct memory *m,
  const struct stop_string *list, size_t n, struct error *why);

/* returns the nodes */
void stops_close(struct stops *s);

/* the state after one more byte; a text begins in state 0 */
uint32_t stops_step(const struct stops *s, uint32_t state,
  unsigned char byte);

/* the length of the longest suffix of the text that is a prefix of a longer stop
   string */
size_t stops_hold(const struct stops *s, uint32_t state);

/* the longest stop string that ends with the text, or null */
const struct stop_string *stops_ending(const struct stops *s, uint32_t state);

/* appends text to out, with each escape replaced by its byte; errors: a backslash
   before anything else, memory; on failure out is as it was */
bool stops_unescape(struct memory *m, const char *text, struct bytes *out,
  struct error *why);
#endif
