/* tree.h -- made from chapters/09-search.w; change it there */

#ifndef INCIPIT_TREE_H
#define INCIPIT_TREE_H
#include "search/search.h"

/* in a text: not chosen, chosen as the likeliest, drawn; in a search: too low, kept
   as a beam, finished */
enum tree_reason { REASON_PASSED, REASON_LIKELIEST, REASON_DRAWN,
  REASON_LOW, REASON_KEPT, REASON_FINISHED, N_REASONS };

/* token of step number, counted from 1, after node parent, counted from 1, 0 for the
   prompt; its log-probability after its parent; the rank from 1, among all tokens or
   in a search among the candidates of its step; whether it is in the text in the end */
struct tree_node { uint32_t parent, token; size_t number, rank;
  double logprob; enum tree_reason reason; bool chosen; };

/* <A tree and its functions> */

/* node number i + 1 is node[i], i < n; sampled: whether tokens are drawn; tip[beams]:
   the nodes that may grow; if ok is false, why says what was refused */
struct token_tree { struct memory *m; const struct engine *e;
  size_t vocab, branches, beams; bool sampled; struct tree_node *node;
  size_t n, cap; double *logprob; uint32_t *tip, *next;
  bool ok; struct error why; };

/* an empty tree that keeps the branches likeliest tokens of each step, for a text, or
   all candidates, for a search of at most beams beams */
bool token_tree_open(struct token_tree *t, struct memory *m,
  const struct engine *e, size_t vocab, size_t branches, size_t beams,
  struct error *why);

/* returns its memory */
void token_tree_close(struct token_tree *t);

/* a step_watch: ctx is a tree that was opened for one beam */
bool token_tree_step(void *ctx, const struct step *now);

/* a watcher of a search; ctx is a tree */
bool token_tree_search(void *ctx, const struct search_step *now);

/* marks the nodes of a text whose n written tokens are id[n] as chosen */
void token_tree_mark(struct token_tree *t, const uint32_t *id, size_t n);

/* "passed over", "the likeliest", ... */
const char *tree_reason_name(enum tree_reason reason);
#endif
