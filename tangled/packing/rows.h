/* rows.h -- made from workshop/16-rows.w; change it there */

/* M.3  rows.h */

#ifndef INCIPIT_ROWS_H
#define INCIPIT_ROWS_H
#include "corpus/corpus.h"
#include "tokens/tokenizer.h"

/* M.4  What gives rows of tokens */

enum { TOKENIZER_TEXTS = 20000, MERGES = 1791 };
bool training_merges(struct memory *m, const struct grammar *g,
                     struct bpe_merge **out, size_t *n, struct error *why);
/* learns MERGES merges from the texts of SEED_TOKENIZER; given back by
 * bpe_forget */

/* M.5  What gives rows of tokens */

struct source;
struct source *source_open(struct memory *m, const struct grammar *g,
                           struct tokenizer *t, uint64_t seed, struct error *why);
/* the texts of seed as rows of tokens; owned by the caller, who keeps g and
 * t */

void source_close(struct memory *m, struct source *s);
/* returns its memory; null is nothing */

bool source_row(struct source *s, uint32_t * row, size_t n, struct error *why);
/* the next row of n tokens, from the beginning of a text on */

uint64_t source_at(const struct source *s);
/* the number of the next text */

void source_seek(struct source *s, uint64_t at);
/* goes on with text at */

#endif
