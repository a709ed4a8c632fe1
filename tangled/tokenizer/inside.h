/* inside.h -- made from workshop/04-tokenizer.w; change it there */

#ifndef INCIPIT_INSIDE_H
#define INCIPIT_INSIDE_H
#include "tokenizer/tokenizer.h"

/* <A tokenizer, from inside> */

/* n bytes from at on; n == 0: nothing */
struct span { uint32_t at, n; };

/* how an id is spelt in the vocabulary, and the bytes that it stands for */
struct known_id { struct span piece, text; bool special; };

/* a token added to the vocabulary, with the flags of tokenizer.json; frozen: defined
   by the user of SentencePiece, and read as a piece is */
struct added_token { struct span text; uint32_t id; bool special,
  lstrip, rstrip, single_word, normalized, frozen; };

/* a node of the tree of added tokens; 0: none; extra counts from 1 */
struct twig { uint32_t child, sibling, extra; unsigned char byte; };

/* what struct stage says of each; COMPOSE: normal form C; THIN: blanks at the ends go */
enum stage_kind { CUT, PUT, REPLACE, COMPOSE, THIN };

/* CUT: at the matches of by, of which and of the gaps some are kept; PUT: words
   before a text, or before the first only, or unless they are there; REPLACE: the
   matches of by by words */
struct stage { enum stage_kind what; struct splitter *by;
  struct span words;
  bool keep_matches, keep_gaps, first_only, unless_there; };

/* limits of a vocabulary: stages, and the largest id */
enum { MAX_STAGES = 16, MAX_ID = 1 << 22 };

/* a vocabulary, and how text is cut into it and put together again */
struct tokenizer {
  const char *kind;
  struct bytes letters;
  struct known_id *known_as; size_t n_known, room_known; /* by id */
  /* from a token's spelling to its id, plus 1 */
  struct name_map by_piece;
  struct bpe rules;
  struct added_token *more; size_t n_more, room_more;
  struct twig *tree; size_t n_twigs, room_twigs;
  struct stage cut[MAX_STAGES]; size_t n_forms, n_cuts;
  struct ids front, back; /* what the post-processor adds */
  bool ignore_merges, by_characters, byte_fallback, fuse_unknown,
    words_apart, any_frozen, drop_blank, ignored[2];
  /* ids of characters plus 1; the id of what cannot be spelt, plus 1 */
  uint32_t letter[128], unknown;
};

/* copies letters into the tokenizer's block */
bool keep_letters(struct memory *m, struct tokenizer *t,
  const void *byte, size_t n, struct span *where, struct error *why);

/* the entry of an id, made if it is not there; null and a sentence */
struct known_id *know_id(struct memory *m, struct tokenizer *t,
  uint32_t id, struct error *why);

/* after the last piece: makes by_piece, finds the ids of the bytes */
bool index_pieces(struct memory *m, struct tokenizer *t,
  struct error *why);

/* after index_pieces: may a row of characters be ended between words? */
void find_words_apart(struct tokenizer *t);

/* adds a token; its letters are kept already */
bool add_extra(struct memory *m, struct tokenizer *t,
  const struct added_token *x, struct error *why);

/* after the last one, and the last stage: makes the tree, and by_piece again, since
   letters have moved; none may be kept afterwards */
bool index_extras(struct memory *m, struct tokenizer *t,
  struct error *why);

/* appends a stage, with its pattern compiled if it has one; at most MAX_STAGES */
bool add_stage(struct memory *m, struct tokenizer *t,
  struct stage s, const char *pattern, size_t n, bool literal,
  struct error *why);

/* a cut that keeps everything */
bool add_cut(struct memory *m, struct tokenizer *t,
  const char *pattern, size_t n, struct error *why);

/* a stage that has words */
bool add_words(struct memory *m, struct tokenizer *t, struct stage s,
  const char *words, size_t n_words, const char *pattern, size_t n,
  bool literal, struct error *why);

/* in what the ids read as: a string by another */
bool texts_replace(struct memory *m, struct tokenizer *t,
  const char *from, size_t n, const char *to, size_t n_to,
  struct error *why);

/* <0x41> reads as the byte 65, and so on */
bool texts_as_bytes(struct memory *m, struct tokenizer *t,
  struct error *why);

/* makes out the text as the first n_forms stages leave it; first: it is the beginning
   of the whole */
bool normal_form(const struct tokenizer *t, struct memory *m,
  const unsigned char *text, size_t n, bool first, struct bytes *out,
  struct error *why);
#endif
