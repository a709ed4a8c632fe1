/* gguf_patterns.h -- the names that GGUF files have for the ways of cutting a text. */

#ifndef INCIPIT_GGUF_PATTERNS_H
#define INCIPIT_GGUF_PATTERNS_H
#include "gguf/gguf.h"
#include "tokenizer/tokenizer_internal.h"

/* what stands behind a name: patterns in their order, up to a null; all its names, a blank before
   and after each, that which we write first */
struct pattern_group {
  const char *pattern[4], *names;
  bool is_llama3; /* begins each text with its first token; a word that is a token is taken whole */
  bool composes; /* brings a text into the normal form C first */
};

/* the group that has this name, or null */
const struct pattern_group *gguf_pattern_named(struct gguf_words name);

/* the name for the way in which a tokenizer of bytes cuts texts, without letters if there is none;
   false: no memory */
bool gguf_pattern_of(struct memory *m, const struct tokenizer *t,
  struct gguf_words *name, struct error *why);
#endif
