/* pieces.h -- what the readers of ranks and of scores share */
#ifndef INCIPIT_PIECES_H
#define INCIPIT_PIECES_H
#include "sentencepiece/sentencepiece.h"

/* the id plus 1 of a piece that merges, or 0 */
uint32_t pieces_ranked(const struct tokenizer *t,
  const uint32_t *rank, const unsigned char *byte, size_t n);

/* appends the bytes of n letters of base64; *good: is it base64? false: no memory */
bool pieces_from_base64(struct memory *m, const unsigned char *c, size_t n, struct bytes *out,
  struct error *why, bool *good);

/* is no piece there twice? false and a sentence that names the second by what and its number */
bool pieces_all_different(const struct tokenizer *t, const char *file,
  const char *what, struct error *why);
#endif
