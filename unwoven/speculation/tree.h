/* tree.h -- a tree of guesses after one text, verified in one pass (chapter 13, "A tree of guesses"). The engine's own steps guess in
   chains; the laboratory compares both. */

#ifndef INCIPIT_GUESS_TREE_H
#define INCIPIT_GUESS_TREE_H
#include "loop/generate.h"

/* branches of guesses after one text */
struct guess_tree {
  uint32_t first; /* the text's number in the store; those of the branches follow */
  uint32_t n; size_t depth; /* branches; guesses of each */
  const uint32_t *guess; /* [n][depth] */
};

/* verifies all branches in one pass; sequence first of the store has the rows of the
   text but the last; logits has room for [n][1 + depth] rows of the vocabulary. On
   failure the branches may be forked, and nothing else has changed */
bool tree_read(const struct generate_context *g, const struct guess_tree *t,
  const struct ids *text, float *logits, struct error *why);

/* makes the first length rows of a branch those of the text, and forgets the other
   branches */
bool tree_keep(struct store *s, const struct guess_tree *t, uint32_t branch,
  size_t length, struct error *why);
#endif
