/* rows.h -- made from workshop/12-training.w; change it there */

#ifndef INCIPIT_ROWS_H
#define INCIPIT_ROWS_H
#include "corpus/corpus.h"
#include "tokenizer/tokenizer.h"

/* <What gives rows of tokens> */

/* texts from which the vocabulary is learnt; merges to learn */
enum { DATASET_TOKENIZER_TEXTS = 20000, DATASET_MERGES = 1791 };

/* learns DATASET_MERGES merges from the texts of SEED_TOKENIZER; freed by bpe_forget */
bool dataset_merges(struct memory *m, const struct grammar *g,
  struct bpe_merge **out,
  size_t *n, struct error *why);

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
