/* charsmap.h -- the map of characters that a file of SentencePiece has for its normal form. */

#ifndef INCIPIT_CHARSMAP_H
#define INCIPIT_CHARSMAP_H
#include "tokenizer/tokenizer_internal.h"

/* n units of a double array, whose values are places in n_text bytes of strings with a zero after
   each. by_clusters: as Hugging Face's library reads it, which asks for a letter with its marks as a
   whole and takes the shortest entry; else the longest entry at a place counts */
struct charsmap { uint32_t *unit; size_t n; unsigned char *text; size_t n_text; bool by_clusters; };

/* a map from n bytes; null and a sentence, which begins with what was found, and *wanted what it should
   have been, or null if memory is what is missing */
struct charsmap *charsmap_open(struct memory *m, const unsigned char *byte, size_t n,
  bool by_clusters, const char **wanted, struct error *why);

/* appends n bytes to out, with what the map has for them; user-defined pieces stay */
bool charsmap_apply(const struct charsmap *map, const struct tokenizer *t, struct memory *m,
  const unsigned char *text, size_t n, struct bytes *out, struct error *why);

/* also for null */
void charsmap_close(struct memory *m, struct charsmap *map);
#endif
