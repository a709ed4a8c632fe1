/* rules.h -- merges as rules in memory: how they come in, and how the memory goes back.

   Included by bpe.h, which says what a rule is. */

#ifndef INCIPIT_RULES_H
#define INCIPIT_RULES_H
#include <stdbool.h>
#include <stdint.h>
struct bpe;
struct bpe_rule;
struct bpe_work;
struct error;
struct memory;

/* appends a rule whose rank is its place; of two rules for one pair the later counts */
bool bpe_add(struct memory *m, struct bpe *b, uint32_t left,
  uint32_t right, uint32_t made, struct error *why);

/* the same, with any rank below 2^32-1; several rules may have it */
bool bpe_add_ranked(struct memory *m, struct bpe *b,
  struct bpe_rule rule, struct error *why);

/* returns the blocks of the rules */
void bpe_free(struct memory *m, struct bpe *b);

/* returns the workspace of an encoder */
void bpe_work_free(struct memory *m, struct bpe_work *w);
#endif
