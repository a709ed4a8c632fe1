/* tree.c -- a token tree grows by watching a text or a search, and is told at the end what was chosen.

   The nodes are one array, and a parent comes before its children; a node has the number of its
   place plus 1, so 0 can stand for the prompt. The array grows by doubling and may move: nodes are
   named by number and never by address. A watcher cannot say why it fails, only that it does not
   want to go on; the first refusal is kept in the tree, ok says so, and nothing is added after it. */

#include <string.h>
#include "search/tree.h"

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

/* ---- a text */

/* The likeliest tokens are found one after the other, each as the best of those that come after
   the one before: less likely, or as likely with a higher id. For a handful of branches that is
   cheaper than sorting. */
static bool goes_before(const double *z, size_t a, size_t b)
{
  return z[a] > z[b] || (z[a] == z[b] && a < b);
}

/* last is the vocabulary's size when nothing has been found yet */
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

static uint32_t branch(struct token_tree *t, const struct step *now,
  size_t token, size_t rank)
{
  bool chosen = token == now->chosen;
  enum tree_reason reason = REASON_PASSED;
  if (chosen) reason = t->sampled ? REASON_DRAWN : REASON_LIKELIEST;
  return add_node(t, (struct tree_node) { t->tip[0], (uint32_t) token,
    now->number, rank, t->logprob[token], reason, chosen });
}

/* The chosen token becomes a node in any case, even if it was drawn from far down the list, and
   the nodes of the next step hang from it. */
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
    if (last == now->chosen) tip = node;
  }
  if (t->ok && tip == 0)
    tip = branch(t, now, now->chosen, rank_of(t, now->chosen));
  t->tip[0] = tip;
  return t->ok;
}

/* ---- a search */

/* The candidates are the nodes, whatever became of them. Those that were kept are the tips of the
   next step, in their order; they are collected beside the old tips, which the later candidates
   still name as their parents. */
bool token_tree_search(void *ctx, const struct search_step *now)
{
  static const enum tree_reason of[] = { REASON_LOW, REASON_KEPT,
    REASON_FINISHED };
  struct token_tree *t = ctx;
  size_t kept = 0;
  for (size_t i = 0; t->ok && i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    uint32_t node = add_node(t, (struct tree_node) { t->tip[c->parent],
      c->token, now->number, c->rank, c->logprob, of[c->outcome], false });
    if (c->outcome == OUTCOME_KEPT) t->next[kept++] = node;
  }
  memcpy(t->tip, t->next, kept * sizeof *t->tip);
  return t->ok;
}

/* ---- what was chosen */

/* Which of the leaves is the text is known only at the end. The walk starts at the root; the node
   of each token is among the children of the last one, and there is only one such child, because a
   search never has the same text twice. The walk never goes back, since children have higher
   numbers than their parents. */
void token_tree_mark(struct token_tree *t, const uint32_t *id, size_t n)
{
  uint32_t parent = 0;
  size_t i = 0;
  for (size_t k = 0; k < n; k++) {
    while (i < t->n && (t->node[i].parent != parent
        || t->node[i].token != id[k])) i++;
    if (i == t->n) return;
    t->node[i].chosen = true;
    parent = (uint32_t) i + 1;
  }
}

/* Taken when a tree is opened: the log-probabilities of a step, and two lists of nodes that may
   grow, those of this step and of the next. */
bool token_tree_open(struct token_tree *t, struct memory *m,
  const struct engine *e, size_t vocab, size_t branches, size_t beams,
  struct error *why)
{
  *t = (struct token_tree) { .m = m, .e = e, .vocab = vocab,
    .branches = branches, .beams = beams, .ok = true };
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
  *t = (struct token_tree) { .m = t->m };
}

/* as the data of the figures have them */
const char *tree_reason_name(enum tree_reason reason)
{
  static const char *const name[N_REASONS] = { "passed over",
    "the likeliest", "drawn", "too low", "kept", "finished" };
  return name[reason];
}
