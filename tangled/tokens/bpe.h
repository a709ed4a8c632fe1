/* bpe.h -- made from chapters/01-tokens.w; change it there */

#ifndef INCIPIT_BPE_H
#define INCIPIT_BPE_H
#include "ground/ground.h"
#include "tokens/utf8.h"
#include "lookups/table.h"

/* merge number k of a list makes id 256 + k of these two */
struct bpe_merge { uint32_t left, right; };

/* learns at most merges merges from n bytes, cut by pattern (null: one piece); *out
   has *n_out of them in a block of merges, to be given back by bpe_forget; Gage 1994,
   Sennrich et al. 2016 */
bool bpe_train(struct memory *m, const char *text, size_t n,
  const char *pattern, size_t merges, struct bpe_merge **out,
  size_t *n_out, struct error *why);

/* returns what bpe_train gave */
void bpe_forget(struct memory *m, struct bpe_merge *merge);

#define BPE_NONE UINT32_MAX

/* the pair left, right becomes made; of several rules that apply, the lowest rank
   goes first */
struct bpe_rule { uint32_t left, right, made, rank; };

/* the id of every byte, BPE_NONE if it has none; n rules, of which the lowest rank
   goes first; from a pair to the place of its rule, plus 1 */
struct bpe { uint32_t byte_id[256]; struct bpe_rule *rule; size_t n,
  cap; struct pair_map place; };

/* an id of a piece, and the numbers of its neighbours, BPE_NONE at the ends */
struct bpe_node { uint32_t id, prev, next; };

/* a piece as ids, a list of cap nodes, the merges to be done, and a count of
   look-ups; all zero to begin with */
struct bpe_work { struct ids piece; struct bpe_node *node; size_t cap;
  struct heap queue; uint64_t lookups; };

/* appends the ids of a piece of n bytes; the time is of the order n log n for any
   piece; on failure out is as it was */
bool bpe_encode(const struct bpe *b, struct memory *m,
  struct bpe_work *w, const unsigned char *byte, size_t n,
  struct ids *out, struct error *why);

/* the same for a piece whose first ids are in w->piece, which is used up */
bool bpe_join(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct ids *out, struct error *why);
#include "tokens/rules.h"

/* fills an empty b with the ids of the bytes and n merges as bpe_train gives them;
   bpe_free returns it */
bool bpe_learnt(struct memory *m, struct bpe *b,
  const struct bpe_merge *merge, size_t n, struct error *why);

/* appends the bytes of an id: a byte, or one that the merges make; on failure out is
   as it was */
bool bpe_spell(struct memory *m, const struct bpe_merge *merge,
  uint32_t id, struct bytes *out, struct error *why);
#endif
