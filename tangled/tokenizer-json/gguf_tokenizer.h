/* gguf_tokenizer.h -- made from workshop/31-gguf-tokenizers.w; change it there */

#ifndef INCIPIT_GGUF_TOKENIZER_H
#define INCIPIT_GGUF_TOKENIZER_H
#include "gguf/gguf.h"
#include "tokenizer/tokenizer_internal.h"

/* the name that files have for the way in which a tokenizer of bytes cuts texts,
   without letters if there is none; false: no memory */
bool gguf_tokenizer_pre(struct memory *m, const struct tokenizer *t,
  struct gguf_words *name, struct error *why);

/* fills an empty tokenizer from a GGUF file of n bytes; on failure *found says
   whether there is none, one of another kind, or one that is refused */
bool gguf_tokenizer_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  enum tokenizer_found *found, struct error *why);
#endif
