@i types.w
@s size_t int
@s step_watch int

\chapterquestion{What else might the model have written, and why did it not?}
@** The token tree.
\incipit{A}{ finished text} looks as if it had been the only one. The token tree of \cref{sec:tokentree} keeps what else was possible: below each token those that might have come next, with their log-probabilities, their ranks, and the reason why they were taken or not.
It is a watcher: of the loop of \cref{loop} in one case, of the search of \cref{search} in the other.
@^token tree@>

@* Nodes. \label{sec:treenodes}
The nodes are in one array, each parent before its children. A tree grows by watching: it is a watcher of the loop in one case and of the search in the other. A watcher cannot say why it fails, only that it does not want to go on. So the tree keeps the error, and a caller must look at |ok|, because the text or the search ends as if it had been cancelled.

@<What might have been written@>=
enum tree_reason {@+ REASON_PASSED, REASON_LIKELIEST, REASON_DRAWN,
  REASON_LOW, REASON_KEPT, REASON_FINISHED, N_REASONS@+ };
  /* in a text: not chosen, chosen as the likeliest, drawn; in a search: too low, kept as
     a beam, finished */
struct tree_node {@+ uint32_t parent, token;@+ size_t number, rank;
  double logprob;@+ enum tree_reason reason;@+ bool chosen;@+ };
  /* |token| of step |number|, counted from 1, after node |parent|, counted from 1, 0 for the prompt; its
     log-probability after its parent; the rank from 1, among all tokens or in a search
     among the candidates of its step; whether it is in the text in the end */
struct token_tree {@+ struct memory *m;@+ const struct engine *e;
  size_t vocab, branches, beams;@+ bool sampled;@+ struct tree_node *node;
  size_t n, cap;@+ double *logprob;@+ uint32_t *tip, *next;
  bool ok;@+ struct error why;@+ };
  /* node number |i + 1| is |node[i]|, |i < n|; |sampled|: whether tokens are drawn; |tip[beams]|:
     the nodes that may grow; if |ok| is false, |why| says what was refused */
bool token_tree_open(struct token_tree *t, struct memory *m,
  const struct engine *e, size_t vocab, size_t branches, size_t beams,
  struct error *why);
  /* an empty tree that keeps the |branches| likeliest tokens of each step, for a text, or all
     candidates, for a search of at most |beams| beams */
void token_tree_close(struct token_tree *t);
  /* returns its memory */
bool token_tree_step(void *ctx, const struct step *now);
  /* a |step_watch|: |ctx| is a tree that was opened for one beam */
bool token_tree_search(void *ctx, const struct search_step *now);
  /* a watcher of a search; |ctx| is a tree */
void token_tree_mark(struct token_tree *t, const uint32_t *id, size_t n);
  /* marks the nodes of a text whose |n| written tokens are |id[n]| as chosen */
const char *tree_reason_name(enum tree_reason reason);
  /* "passed over", "the likeliest", ... */

@* Watching a text and a search. \label{sec:treewatch}
A node is added at the end, and the array grows by doubling.

@<Add a node@>=
static uint32_t add_node(struct token_tree *t, struct tree_node node)
{
  struct tree_node *more = memory_reserve(t->m, MEMORY_OTHER, t->node, &t->cap,
    t->n + 1, 64, sizeof *more, &t->why);
  if (more == NULL) {
    t->ok = false;
    return 0;
  }
  t->node = more;
  t->node[t->n++] = node;
  return (uint32_t) t->n;
}

@ In a text, we find the likeliest tokens one after the other, each as the best of those that come after the one before: less likely, or as likely with a higher id. For a handful of branches that is cheaper than sorting.

@<Find the likeliest tokens, one after the other@>=
static bool goes_before(const double *z, size_t a, size_t b)
{
  return z[a] > z[b] || (z[a] == z[b] && a < b);
}
static size_t best_after(const struct token_tree *t, size_t last)
{
  size_t best = t->vocab;
  for (size_t i = 0; i < t->vocab; i++)
    if ((last == t->vocab || goes_before(t->logprob, last, i))
        && (best == t->vocab || goes_before(t->logprob, i, best))) best = i;
  return best;
}
static size_t rank_of(const struct token_tree *t, size_t token)
{
  size_t rank = 1;
  for (size_t i = 0; i < t->vocab; i++)
    rank += goes_before(t->logprob, i, token);
  return rank;
}

@ The watcher of the loop adds the branches one by one. The chosen token becomes a node in any case, even if it was drawn from far down the list, and the nodes of the next step hang from it.

@<Watch a text grow@>=
static uint32_t branch(struct token_tree *t, const struct step *now,
  size_t token, size_t rank)
{
  bool chosen = token == now->chosen;
  enum tree_reason reason = REASON_PASSED;
  if (chosen) reason = t->sampled ? REASON_DRAWN : REASON_LIKELIEST;
  return add_node(t, (struct tree_node) @[{ t->tip[0], (uint32_t) token,@|
    now->number, rank, t->logprob[token], reason, chosen }@]);
}
bool token_tree_step(void *ctx, const struct step *now)
{
  struct token_tree *t = ctx;
  size_t last = t->vocab;
  uint32_t tip = 0;
  t->e->k->log_softmax(t->e, now->logits, 1, t->vocab, t->logprob);
  for (size_t rank = 1; t->ok && rank <= t->branches && rank <= t->vocab;
      rank++) {
    last = best_after(t, last);
    uint32_t node = branch(t, now, last, rank);
    if (last == now->chosen)@+ tip = node;
  }
  if (t->ok && tip == 0)
    tip = branch(t, now, now->chosen, rank_of(t, now->chosen));
  t->tip[0] = tip;
  return t->ok;
}

@ In a search the candidates are the nodes, whatever became of them. Those that were kept are the tips of the next step, in their order.

@<Watch a search@>=
bool token_tree_search(void *ctx, const struct search_step *now)
{
  static const enum tree_reason of[] = @[{ REASON_LOW, REASON_KEPT,@|
    REASON_FINISHED }@];
  struct token_tree *t = ctx;
  size_t kept = 0;
  for (size_t i = 0; t->ok && i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    uint32_t node = add_node(t, (struct tree_node) @[{ t->tip[c->parent],@|
      c->token, now->number, c->rank, c->logprob, of[c->outcome], false }@]);
    if (c->outcome == OUTCOME_KEPT)@+ t->next[kept++] = node;
  }
  memcpy(t->tip, t->next, kept * sizeof *t->tip);
  return t->ok;
}

@ Which of the leaves is the text is known only at the end. The walk starts at the root; the node of each token is among the children of the last one, and there is only one such child, because a search never has the same text twice. The walk never goes back, since children have higher numbers than their parents.

@<Mark what was chosen in the end@>=
void token_tree_mark(struct token_tree *t, const uint32_t *id, size_t n)
{
  uint32_t parent = 0;
  size_t i = 0;
  for (size_t k = 0; k < n; k++) {
    while (i < t->n && (t->node[i].parent != parent
        || t->node[i].token != id[k])) i++;
    if (i == t->n)@+ return;
    t->node[i].chosen = true;
    parent = (uint32_t) i + 1;
  }
}

@ A tree allocates the log-probabilities of a step and two lists of nodes that may grow, those of this step and of the next.

@<Open and close a tree@>=
bool token_tree_open(struct token_tree *t, struct memory *m,
  const struct engine *e, size_t vocab, size_t branches, size_t beams,
  struct error *why)
{
  *t = (struct token_tree) @[{ .m = m, .e = e, .vocab = vocab,@|
    .branches = branches, .beams = beams, .ok = true }@];
  t->logprob = memory_alloc(m, MEMORY_OTHER, vocab, sizeof *t->logprob, why);
  t->tip = memory_alloc(m, MEMORY_OTHER, beams, sizeof *t->tip, why);
  t->next = memory_alloc(m, MEMORY_OTHER, beams, sizeof *t->next, why);
  if (t->logprob != NULL && t->tip != NULL && t->next != NULL) return true;
  token_tree_close(t);
  return false;
}
void token_tree_close(struct token_tree *t)
{
  memory_free(t->m, t->next);
  memory_free(t->m, t->tip);
  memory_free(t->m, t->logprob);
  memory_free(t->m, t->node);
  *t = (struct token_tree) @[{ .m = t->m }@];
}

@ The names of the reasons are used in the data of the figures.

@<Name the reasons@>=
const char *tree_reason_name(enum tree_reason reason)
{
  static const char *const name[N_REASONS] = @[{ "passed over",@|
    "the likeliest", "drawn", "too low", "kept", "finished" }@];
  return name[reason];
}

@ The header includes that of the search, for the type of its steps.

@(tree.h@>=
#ifndef INCIPIT_TREE_H
#define INCIPIT_TREE_H
#include "search/search.h"
@<What might have been written@>@;
#endif

@ Adding a node comes first in the file, since both watchers do it.

@(tree.c@>=
#include <string.h>
#include "tree/tree.h"
@;@#
@<Add a node@>@;
@<Find the likeliest tokens, one after the other@>@;
@<Watch a text grow@>@;
@<Watch a search@>@;
@<Mark what was chosen in the end@>@;
@<Open and close a tree@>@;
@<Name the reasons@>@;
