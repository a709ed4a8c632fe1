/* stops.h -- made from chapters/stopping.w; change it there */

/* 8.18  stops.h */

#ifndef INCIPIT_STOPS_H
#define INCIPIT_STOPS_H
#include "tokens/utf8.h"

/* 8.3  Stop strings, and the machine that looks for them */

struct stop_string {
  const unsigned char *byte;
  size_t n;
};
/* n bytes at which a text is to end; borrowed */

struct stops_node {
  uint32_t child, sibling, failure, depth, hold, ending;
  unsigned char byte;
};
/* a beginning of a stop string, depth bytes long, the last of them byte; its
 * first child and its next sibling; the longest other node that is an end of
 * it, failure; 1 more than the number of the longest string that ends here,
 * ending; how many bytes at the end may still become a part of one, hold */

struct stops {
  struct memory *m;
  const struct stop_string *list;
  size_t n;
  struct stops_node *node;
  size_t room, n_nodes;
  uint32_t first[256];
};
/* node[0] is the root, and so 0 stands for no node; first[b] is the root's
 * child for byte b */

/* 8.4  Stop strings, and the machine that looks for them */

bool stops_open(struct stops *s, struct memory *m,
                const struct stop_string *list, size_t n, struct error *why);
/* builds the automaton of Aho and Corasick (1975) for list[n], which is
 * borrowed, in memory in proportion to its bytes, and in as much time, times
 * the ways in which the strings go on from one node, 256 at the most; n may
 * be 0; on failure there is nothing to close, but it does no harm; errors:
 * an empty string, too many bytes, memory */

void stops_close(struct stops *s);
/* returns the nodes */

uint32_t stops_step(const struct stops *s, uint32_t state, unsigned char byte);
/* the state behind one more byte; a text begins in state 0 */

size_t stops_hold(const struct stops *s, uint32_t state);
/* the length of the longest end of the text that begins a longer stop string */

const struct stop_string *stops_ending(const struct stops *s, uint32_t state);
/* the longest stop string that ends with the text, or null */

/* 8.15  Stop strings, and the machine that looks for them */

bool stop_unescape(struct memory *m, const char *text, struct bytes *out,
                   struct error *why);
/* appends text to out; a backslash and what stands behind it, an n, a t, an
 * x with two hexadecimal digits or a backslash, are replaced by one byte;
 * errors: a backslash before anything else, memory; on failure out is as it
 * was */

#endif
