/* inside.h -- made from workshop/09-constraints.w; change it there */

#ifndef INCIPIT_CONSTRAINT_INSIDE_H
#define INCIPIT_CONSTRAINT_INSIDE_H
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

/* <Stacks and configurations> */

/* where to go on, the stack below, and the bytes that it takes to empty it */
struct call_frame { uint32_t back, below, least; };

/* a node that waits, and the number of its stack */
struct position { uint32_t node, stack; };

/* n pairs in order; the least number of bytes to the end, and of tokens, or
   COST_UNKNOWN; the n_after others to which one token leads, or NULL; for each class
   of bytes the next state, or NULL if not yet computed */
struct dfa_state { uint32_t number, n, least, cost; bool accepts;
  size_t round, gathered, n_after; struct dfa_state **after; struct position *at;
  struct dfa_state *next[]; };
#define COST_UNKNOWN (UINT32_MAX - 1)

/* <What a constraint knows> */

/* limits: bytes of all states, pairs of one, pairs that a search meets */
enum { MAX_BYTES = 1 << 28, MAX_PAIRS = 1 << 16, MAX_WAYS = 1 << 20 };

/* have all tokens to the end been counted together, and were they few enough? */
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
#endif
