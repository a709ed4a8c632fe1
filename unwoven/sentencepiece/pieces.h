/* pieces.h -- what the readers of ranks and of scores share */
#ifndef INCIPIT_PIECES_H
#define INCIPIT_PIECES_H
#include "sentencepiece/sentencepiece.h"

/* the id plus 1 of a piece that merges, or 0 */
uint32_t pieces_ranked(const struct tokenizer *t,
  const uint32_t *rank, const unsigned char *byte, size_t n);

/* is no piece there twice? false and a sentence that names the second by what and its number */
bool pieces_all_different(const struct tokenizer *t, const char *file,
  const char *what, struct error *why);
#endif
