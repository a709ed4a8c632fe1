/* inside.h -- what the files of this module call of each other. */

#ifndef INCIPIT_TOKENIZER_INSIDE_H
#define INCIPIT_TOKENIZER_INSIDE_H
#include "tokenizer/tokenizer_internal.h"

/* appends a text to out as one stage leaves it; first: it is the beginning of the whole */
bool tokenizer_change(const struct tokenizer *t, const struct text_step *s,
  struct memory *m, const unsigned char *text, size_t n, bool first,
  struct bytes *out, struct error *why);

/* where the white space ends that begins at byte at of a text of n */
size_t tokenizer_space_after(const unsigned char *text, size_t n, size_t at);

/* where the white space begins that ends before byte at, but not before stop */
size_t tokenizer_space_before(const unsigned char *text, size_t at, size_t stop);

/* does neither neighbour of these bytes of a text belong to a word? */
bool tokenizer_whole_word(const unsigned char *text, size_t n,
  size_t from, size_t to);
#endif
