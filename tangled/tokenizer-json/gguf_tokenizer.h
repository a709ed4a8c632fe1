/* gguf_tokenizer.h -- made from workshop/31-gguf-tokenizers.w; change it there */

#ifndef INCIPIT_GGUF_TOKENIZER_H
#define INCIPIT_GGUF_TOKENIZER_H
#include "tokenizer/tokenizer_internal.h"

/* fills an empty tokenizer from a GGUF file of n bytes; on failure *found says
   whether there is none, one of another kind, or one that is refused */
bool gguf_tokenizer_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  enum tokenizer_found *found, struct error *why);
#endif
