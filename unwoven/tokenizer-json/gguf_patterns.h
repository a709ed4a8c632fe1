/* gguf_patterns.h -- the names that GGUF files have for the ways of cutting a text. */

#ifndef INCIPIT_GGUF_PATTERNS_H
#define INCIPIT_GGUF_PATTERNS_H
#include "gguf/gguf.h"
#include "tokenizer/tokenizer_internal.h"

/* GROUP_WHOLE: a piece that is a token is taken whole; GROUP_BEGINS: a text begins with the first
   token, unless the file says otherwise; GROUP_COMPOSES: a text is brought into the normal form C;
   GROUP_CHARACTERS: merges begin with characters, and a blank is a block; GROUP_LINES: line ends that
   are a token are taken whole */
enum { GROUP_WHOLE = 1, GROUP_BEGINS = 2, GROUP_COMPOSES = 4, GROUP_CHARACTERS = 8, GROUP_LINES = 16 };

/* the most patterns of a group; the room for the list of names */
enum { GGUF_PATTERNS = 6, GGUF_NAMES_CAP = 320 };

/* what stands behind a name: patterns in their order, up to a null; all its names, a blank before
   and after each, that which we write first; bits of GROUP_ */
struct pattern_group {
  const char *pattern[GGUF_PATTERNS], *names;
  unsigned how;
};

/* the group that has this name, or null */
const struct pattern_group *gguf_pattern_named(struct gguf_words name);

/* a name of each group, for messages */
void gguf_pattern_names(char list[GGUF_NAMES_CAP]);

/* the name for the way in which a tokenizer of bytes cuts texts, without letters if there is none;
   false: no memory */
bool gguf_pattern_of(struct memory *m, const struct tokenizer *t,
  struct gguf_words *name, struct error *why);
#endif
