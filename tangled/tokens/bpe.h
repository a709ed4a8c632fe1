/* bpe.h -- made from chapters/tokens.w; change it there */

/* 1.83  bpe.h */

#ifndef INCIPIT_BPE_H
#define INCIPIT_BPE_H
#include "ground/ground.h"
#include "tokens/utf8.h"
#include "lookups/table.h"

/* 1.43  Merges, learnt */

struct bpe_merge {
  uint32_t left, right;
};
/* merge number k of a list makes id 256 + k of these two */

bool bpe_train(struct memory *m, const char *text, size_t n,
               const char *pattern, size_t merges, struct bpe_merge **out,
               size_t *n_out, struct error *why);
/* learns at most merges merges from n bytes, cut by pattern (null: one
 * piece); *out has *n_out of them in a block of merges, to be given back by
 * bpe_forget; Gage 1994, Sennrich et al. 2016 */

void bpe_forget(struct memory *m, struct bpe_merge *merge, size_t merges);
/* returns what bpe_train gave, for as many merges as were asked for */

/* 1.63  Merges, applied */

struct ids {
  uint32_t *id;
  size_t n, room;
};
/* a row of ids that grows, like struct bytes; all zero is empty */

bool ids_push(struct memory *m, struct ids *list, uint32_t id, struct error *why);
/* appends one id; on failure the row is as it was */

void ids_free(struct memory *m, struct ids *list);
/* returns the block and empties the row */

/* 1.65  Merges, applied */

#define BPE_NONE UINT32_MAX
struct bpe_rule {
  uint32_t left, right, made, rank;
};
struct bpe {
  uint32_t byte_id[256];
  struct bpe_rule *rule;
  size_t n, room;
  struct pair_map place;
};
/* the id of every byte, BPE_NONE if it has none; n rules, of which the
 * lowest rank goes first; from a pair to the place of its rule, plus 1 */

bool bpe_add(struct memory *m, struct bpe *b, uint32_t left,
             uint32_t right, uint32_t made, struct error *why);
/* appends a rule whose rank is its place; of two rules for one pair the
 * later counts */

bool bpe_add_ranked(struct memory *m, struct bpe *b,
                    struct bpe_rule rule, struct error *why);
/* the same, with any rank below 2^32-1; several rules may have it */

void bpe_free(struct memory *m, struct bpe *b);
/* returns the blocks of the rules */

/* 1.66  Merges, applied */

struct bpe_node {
  uint32_t id, prev, next;
};
struct bpe_work {
  struct ids row;
  struct bpe_node *node;
  size_t room;
  struct heap queue;
  uint64_t looks;
};
/* a piece as ids, a chain of room nodes, what is to be done, and a count of
 * look-ups; all zero is an empty workspace */

bool bpe_encode(const struct bpe *b, struct memory *m,
                struct bpe_work *w, const unsigned char *byte, size_t n,
                struct ids *out, struct error *why);
/* appends the ids of a piece of n bytes; the time is of the order nn for any
 * piece; on failure out is as it was */

bool bpe_join(const struct bpe *b, struct memory *m,
              struct bpe_work *w, struct ids *out, struct error *why);
/* the same for a piece whose first ids stand in w->row, which is used up */

void bpe_work_free(struct memory *m, struct bpe_work *w);
/* returns the workspace */

/* 1.80  Merges, undone */

bool bpe_learnt(struct memory *m, struct bpe *b,
                const struct bpe_merge *merge, size_t n, struct error *why);
/* fills an empty b with the ids of the bytes and n merges as bpe_train gives
 * them; bpe_free returns it */

bool bpe_spell(struct memory *m, const struct bpe_merge *merge,
               uint32_t id, struct bytes *out, struct error *why);
/* appends the bytes of an id: a byte, or one that the merges make; on
 * failure out is as it was */

#endif
