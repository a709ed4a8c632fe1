/* sentencepiece.h -- made from workshop/05-sentencepiece.w; change it there */

#ifndef INCIPIT_SENTENCEPIECE_H
#define INCIPIT_SENTENCEPIECE_H
#include "tokenizer/tokenizer_internal.h"

/* <Readers of scores and ranks> */
#define TIKTOKEN_NO_RANK UINT32_MAX

/* rank[id] for all t->n_vocab ids, TIKTOKEN_NO_RANK for those that are not merged;
   fills t->rules; t->by_piece must be made */
bool tiktoken_pairs_from_ranks(struct memory *m, struct tokenizer *t,
  const uint32_t *rank, struct error *why);

/* fills an empty tokenizer from a rank file of n bytes */
bool tiktoken_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  struct error *why);

/* the same from a SentencePiece model; *begin and *end: the ids that begin and end a
   text, plus 1, or 0; *ours: is it BPE? */
bool sentencepiece_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  uint32_t *begin, uint32_t *end, bool *ours, struct error *why);

/* n letters, not copied; type: 1 normal, 2 unknown, 3 control, 4 user-defined, 5
   unused, 6 a byte */
struct sentencepiece_piece { const char *text; size_t n; float score;
  unsigned type; };

/* piece i; they are asked for in their order; false: it cannot be read */
typedef bool sentencepiece_piece_at(void *ctx, size_t i,
  struct sentencepiece_piece *p);

/* fills an empty tokenizer with n pieces that the caller has; prefix: a blank is put
   before a text; unknown: the id of what cannot be spelt, plus 1, or 0 */
bool sentencepiece_make(struct memory *m, struct tokenizer *t,
  const char *file, size_t n, sentencepiece_piece_at *at, void *ctx,
  bool prefix, uint32_t unknown, struct error *why);
#endif
