/* tokenizer.h -- from text to ids and back: what a program may ask of a tokenizer.

   Every program may include this header; tokenizer_internal.h is only for the modules that
   fill one. */

#ifndef INCIPIT_TOKENIZER_H
#define INCIPIT_TOKENIZER_H
#include "tokens/bpe.h"
#include "lookups/split.h"
#include "tokens/utf8.h"

struct tokenizer;

/* reads a tokenizer.json, or a directory that has one, or has vocab.json and
   merges.txt, or encoder.json and vocab.bpe; null and a sentence; m must outlive it */
struct tokenizer *tokenizer_open(struct memory *m, const char *path,
  struct error *why);

/* returns all of it; closing a null does nothing */
void tokenizer_close(struct memory *m, struct tokenizer *t);

/* appends the ids of n bytes; add_special: also the ids that the files put before and
   after a text; parse_special: the text of a special token is that token; on failure
   out is as it was. The tokenizer is only read: any number of threads may use it at
   the same time, each with its own m */
bool tokenizer_encode(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, bool add_special, bool parse_special,
  struct ids *out,
  struct error *why);

/* appends the bytes of n ids; an id that the tokenizer does not know has none; on
   failure out is as it was */
bool tokenizer_decode(const struct tokenizer *t, struct memory *m,
  const uint32_t *id, size_t n, bool skip_special, struct bytes *out,
  struct error *why);

/* the same for one id of a text; *begun, false at first, becomes true when an id has
   had bytes */
bool tokenizer_decode_next(const struct tokenizer *t,
  struct memory *m, uint32_t id, bool skip_special, bool *begun,
  struct bytes *out, struct error *why);

/* like tokenizer_encode, for n bytes that come after an added token, in the middle of
   a text; adds nothing, and knows no special token */
bool tokenizer_encode_inside(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, struct ids *out, struct error *why);

/* A directory may have no tokenizer, or one of a kind that is not treated here, and a caller
   that brings ids can still use the model. So these cases are told apart from a broken
   tokenizer: it is open; there is none; it is of another kind (Unigram, WordPiece); it is of
   our kind, but invalid, or has a rule that we do not implement */
enum tokenizer_found { TOKENIZER_OPEN, TOKENIZER_ABSENT,
  TOKENIZER_OTHER_KIND, TOKENIZER_REFUSED };

/* like tokenizer_open; *t is null and there is a sentence unless it is open */
enum tokenizer_found tokenizer_try(struct memory *m, const char *path,
  struct tokenizer **t, struct error *why);

/* what it is, in words: "byte-level BPE" */
const char *tokenizer_kind(const struct tokenizer *t);

/* field i (0 or 1) of its file that we ignore, null if the file does not have it */
const char *tokenizer_ignores(const struct tokenizer *t, size_t i);

/* the largest id plus 1 */
size_t tokenizer_vocab_size(const struct tokenizer *t);

/* is this id that of a token marked special? */
bool tokenizer_is_special(const struct tokenizer *t, uint32_t id);

/* the id of the token with exactly these n bytes; added tokens have precedence */
bool tokenizer_find(const struct tokenizer *t, const char *text,
  size_t n, uint32_t *id);

/* the *n bytes of an id, which belong to the tokenizer; unknown ids have 0 */
const unsigned char *tokenizer_text(const struct tokenizer *t,
  uint32_t id, size_t *n);

/* the id that add_special puts first, if it puts one */
bool tokenizer_bos(const struct tokenizer *t, uint32_t *id);

/* A token that was added to the vocabulary after it was learnt. Such tokens are asked for one
   by one: a list would have to be freed. Its id and its n bytes, borrowed */
struct tokenizer_added { uint32_t id; const unsigned char *byte;
  size_t n;
  bool special; };

/* how many tokens were added to the vocabulary, special or not */
size_t tokenizer_added_count(const struct tokenizer *t);

/* added token i; the bytes belong to the tokenizer */
struct tokenizer_added tokenizer_added_at(const struct tokenizer *t,
  size_t i);

/* id 0 is the end of a text, 1 to 256 are the bytes, then come n merges; text is cut
   by split_gpt2; null and a sentence */
struct tokenizer *tokenizer_from_merges(struct memory *m,
  const struct bpe_merge *merge, size_t n, struct error *why);

/* writes the same as a tokenizer.json that Hugging Face's library reads */
bool tokenizer_write(struct memory *m, const char *path,
  const struct bpe_merge *merge, size_t n, struct error *why);

/* which versions of Unicode the patterns and the normal form know */
void tokenizer_unicode(char pcre2[24], char utf8proc[24]);

/* for accounts of memory, which do not know the structure: the bytes of the four tables of a
   byte-level vocabulary whose ids come in rising order */
uint64_t tokenizer_bytes(uint64_t ids, uint64_t merges);

/* how many ids and merges a tokenizer has, and the bytes of its tables and of its
   string pool */
struct tokenizer_tables { size_t ids, merges; uint64_t bytes, letters; };

/* the entries of its tables, the bytes allocated for the tables, and those for the
   string pool */
struct tokenizer_tables tokenizer_tables(const struct tokenizer *t);
#endif
