/* inside.h -- what the files of this module call of each other. */

#ifndef INCIPIT_TOKENIZER_INSIDE_H
#define INCIPIT_TOKENIZER_INSIDE_H
#include "tokenizer/tokenizer_internal.h"
#include "tokenizer/charsmap.h"

/* a place between two characters: how it is best reached, from where and by which id (BPE_NONE: by a
   character that is no piece), and the place that comes after it on the best way */
struct unigram_node { double score; uint32_t from, to, id; };
/* room for the places of a text, kept from one piece to the next */
struct unigram_work { struct unigram_node *node; size_t cap; };

/* appends the ids of the best way to cut n bytes, which are whole characters */
bool unigram_encode(const struct tokenizer *t, struct memory *m, struct unigram_work *w,
  const unsigned char *text, size_t n, struct ids *out, struct error *why);

/* is there a block at byte at, after another character? */
bool tokenizer_word_begins(const unsigned char *text, size_t at, size_t n);

/* the child of a node of the tree for a byte, or 0 */
uint32_t tokenizer_trie_child(const struct tokenizer *t, uint32_t at, unsigned char byte);

/* the longest added token of a root at the beginning of n bytes, or null */
const struct added_token *tokenizer_longest_added(const struct tokenizer *t,
  uint32_t root, const unsigned char *text, size_t n, size_t *length);

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
