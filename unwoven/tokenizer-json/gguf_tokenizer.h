/* gguf_tokenizer.h -- a tokenizer in the keys of a GGUF file: read, and written. */

#ifndef INCIPIT_GGUF_TOKENIZER_H
#define INCIPIT_GGUF_TOKENIZER_H
#include "gguf/writing.h"
#include "tokenizer/tokenizer_internal.h"

/* the types of tokens in the array tokenizer.ggml.token_type, with SentencePiece's numbers */
enum token_type { TOKEN_NORMAL = 1, TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_USER,
  TOKEN_UNUSED, TOKEN_BYTE };

/* fills an empty tokenizer from a GGUF file that has been read; on failure *found says whether there is
   none, one of another kind, or one that is refused */
bool gguf_tokenizer_read(struct memory *m, struct tokenizer *t,
  const struct gguf_file *g,
  enum tokenizer_found *found, struct error *why);

/* adds to a draft the kind of a tokenizer and an array for each part of its vocabulary, of n tokens;
   false and a sentence about path if the format cannot say what it does */
bool gguf_tokenizer_write(struct gguf_draft *d, const struct tokenizer *t,
  uint32_t n, const char *path, struct error *why);
#endif
