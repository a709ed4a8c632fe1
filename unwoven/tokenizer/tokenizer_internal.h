/* tokenizer_internal.h -- what a tokenizer is made of, for the modules that fill one.

   Added tokens come when all pieces are known, because a file may add a token that is a piece
   already, to give it flags. The tree by which they are found in a text is made last: if a
   token asks for it, the tree has its normal form, so the stages must be complete by then.
   Stages are appended in the order in which a text goes through them: first the n_normalizers
   that make the normal form, then those of the pre-tokenizer, most of them cuts. The texts to
   which ids decode are changed once, when all pieces are known; so decoding only has to copy
   texts, and to drop a first blank. */

#ifndef INCIPIT_TOKENIZER_INTERNAL_H
#define INCIPIT_TOKENIZER_INTERNAL_H
#include "tokenizer/tokenizer.h"

/* n bytes of the string pool, from at on */
struct span { uint32_t at, n; };

/* how an id is spelt in the vocabulary, and what it decodes to */
struct vocab_entry { struct span piece, text; bool special; };

/* a token added to the vocabulary, with the flags of tokenizer.json; frozen: defined
   by the user of SentencePiece, and decoded as a piece is */
struct added_token { struct span text; uint32_t id; bool special,
  lstrip, rstrip, single_word, normalized, frozen; };

/* a node of the tree of added tokens; 0: none; added counts from 1 */
struct trie_node { uint32_t child, sibling, added; unsigned char byte; };

/* what struct text_step says of each; STEP_NFC to STEP_NFKD: the four normal forms;
   STEP_STRIP: blanks at the ends go; STEP_MAP: a table of characters; STEP_MARKS: marks go;
   STEP_LOWER: small letters; STEP_TRIM: white space at the ends goes; STEP_CLEAN: control
   characters go; STEP_CALL: what a function of the reader makes of it */
enum text_step_kind { STEP_SPLIT, STEP_PREPEND, STEP_REPLACE, STEP_NFC, STEP_NFD, STEP_NFKC,
  STEP_NFKD, STEP_STRIP, STEP_MAP, STEP_MARKS, STEP_LOWER, STEP_TRIM, STEP_CLEAN, STEP_CALL };

/* appends a text to out, changed */
typedef bool text_change(struct memory *m, const unsigned char *text, size_t n,
  struct bytes *out, struct error *why);

/* what a match is glued to: nothing, the gap before it, the gap after it, other matches */
enum text_glue { GLUE_NONE, GLUE_BEFORE, GLUE_AFTER, GLUE_RUNS };

/* STEP_SPLIT: at the matches of by, of which and of the gaps some are kept, or glued to each
   other; STEP_PREPEND: words before a text, or before the first only, or unless they are
   there, or even before nothing; STEP_REPLACE: the matches of by by words; STEP_MAP: by map;
   STEP_TRIM: at the left, at the right; STEP_CALL: by call */
struct text_step { enum text_step_kind what; struct splitter *by;
  struct charsmap *map; text_change *call; enum text_glue glue;
  struct span words;
  bool keep_matches, keep_gaps, first_only, unless_there, even_empty, left, right; };

/* Unigram: a score for each id, those ids that a text is cut into, in the order of their
   letters, and what a character costs that is no piece; floats: sums are rounded to single
   precision */
struct unigram { double *score; uint32_t *sorted; size_t n; double unknown; bool floats; };

/* limits of a vocabulary: stages, and the largest id */
enum { TOKENIZER_MAX_STEPS = 16, TOKENIZER_MAX_ID = 1 << 22 };

/* a vocabulary, and how text is cut into it and put together again */
struct tokenizer {
  const char *kind;
  struct bytes string_pool;
  struct vocab_entry *vocab; size_t n_vocab, vocab_cap; /* by id */
  /* from a token's spelling to its id, plus 1 */
  struct name_map by_piece;
  struct bpe rules;
  struct unigram unigram; /* if it has pieces, there are no rules */
  struct added_token *added; size_t n_added, added_cap;
  struct trie_node *trie; size_t n_trie, trie_cap;
  struct text_step step[TOKENIZER_MAX_STEPS]; size_t n_normalizers, n_steps;
  struct ids prefix_ids, suffix_ids; /* what the post-processor adds */
  bool ignore_merges, lines_whole, char_level, byte_fallback, fuse_unk,
    splits_at_spaces, any_frozen, strip_prefix_space, ignored[2];
  /* ids of characters plus 1; the id of what cannot be spelt, plus 1 */
  uint32_t letter[128], unknown;
};

/* copies n bytes into the string pool */
bool tokenizer_intern(struct memory *m, struct tokenizer *t,
  const void *byte, size_t n, struct span *where, struct error *why);

/* the entry of an id, made if necessary; null and a sentence on failure */
struct vocab_entry *tokenizer_vocab_at(struct memory *m, struct tokenizer *t,
  uint32_t id, struct error *why);

/* after the last piece: makes by_piece, finds the ids of the bytes */
bool tokenizer_index_vocab(struct memory *m, struct tokenizer *t,
  struct error *why);

/* makes the table of scores, one for each id, to be filled by the caller: an id whose score is
   -INFINITY is none that a text is cut into */
bool tokenizer_make_scores(struct memory *m, struct tokenizer *t, struct error *why);

/* after the last score, and tokenizer_index_vocab: sorts the pieces; lowest is the score
   from which that of an unknown character is counted */
bool tokenizer_index_scores(struct memory *m, struct tokenizer *t, double lowest, bool floats,
  struct error *why);

/* the id plus 1 of a piece with a score, or 0; also while the pool moves */
uint32_t tokenizer_find_scored(const struct tokenizer *t, const unsigned char *byte, size_t n);

/* after tokenizer_index_vocab: finds out whether words can be merged separately */
void tokenizer_find_splits(struct tokenizer *t);

/* adds a token; its bytes are in the string pool already */
bool tokenizer_add_token(struct memory *m, struct tokenizer *t,
  const struct added_token *x, struct error *why);

/* after the last one, and the last stage: makes the tree, and by_piece again, since
   the pool may have moved; nothing may be added to the pool afterwards */
bool tokenizer_index_added(struct memory *m, struct tokenizer *t,
  struct error *why);

/* appends a stage and compiles its pattern if it has one; at most TOKENIZER_MAX_STEPS */
bool tokenizer_add_step(struct memory *m, struct tokenizer *t,
  struct text_step s, const char *pattern, size_t n, bool literal,
  struct error *why);

/* appends a step with a map of characters from n bytes; false and a sentence, which begins
   with what was found, and *wanted what it should have been, or null if memory is what is
   missing; by_clusters: as Hugging Face's library reads it */
bool tokenizer_add_map(struct memory *m, struct tokenizer *t, const unsigned char *byte, size_t n,
  bool by_clusters, const char **wanted, struct error *why);

/* a cut that keeps everything */
bool tokenizer_add_split(struct memory *m, struct tokenizer *t,
  const char *pattern, size_t n, struct error *why);

/* a stage that has words */
bool tokenizer_add_string(struct memory *m, struct tokenizer *t, struct text_step s,
  const char *words, size_t n_words, const char *pattern, size_t n,
  bool literal, struct error *why);

/* in the texts of all ids: replaces a string by another */
bool tokenizer_texts_replace(struct memory *m, struct tokenizer *t,
  const char *from, size_t n, const char *to, size_t n_to,
  struct error *why);

/* <0x41> decodes to the byte 65, and so on */
bool tokenizer_texts_as_bytes(struct memory *m, struct tokenizer *t,
  struct error *why);

/* makes out the text after the first n_normalizers stages; first: it is the beginning
   of the whole */
bool tokenizer_normalize(const struct tokenizer *t, struct memory *m,
  const unsigned char *text, size_t n, bool first, struct bytes *out,
  struct error *why);
#endif
