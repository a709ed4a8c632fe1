/* rows.h -- rows of tokens for a trainer. The module knows nothing of models: given a grammar,
   it learns the merges, once; given a tokenizer as well, it makes as many rows as are wanted. */
#ifndef INCIPIT_ROWS_H
#define INCIPIT_ROWS_H
#include "corpus/corpus.h"
#include "tokenizer/tokenizer.h"

/* texts from which the vocabulary is learnt, and merges to learn; with the 256 bytes and
   end-of-text they make the vocabulary of the plan */
enum { DATASET_TOKENIZER_TEXTS = 20000, DATASET_MERGES = 1791 };

/* learns DATASET_MERGES merges from the texts of SEED_TOKENIZER; freed by bpe_forget */
bool dataset_merges(struct memory *m, const struct grammar *g,
  struct bpe_merge **out,
  size_t *n, struct error *why);

/* rows of tokens. Each text is written when it is needed, and no text is used twice */
struct dataset;

/* the texts of seed as rows of tokens; owned by the caller, who keeps g and t */
struct dataset *dataset_open(struct memory *m, const struct grammar *g,
  struct tokenizer *t,
  uint64_t seed, struct error *why);

/* returns its memory; closing null does nothing */
void dataset_close(struct memory *m, struct dataset *s);

/* the next row of n tokens, which begins with a new text */
bool dataset_row(struct dataset *s, uint32_t *row, size_t n,
  struct error *why);

/* the number of the next text */
uint64_t dataset_at(const struct dataset *s);

/* continues with text at */
void dataset_seek(struct dataset *s, uint64_t at);
#endif
