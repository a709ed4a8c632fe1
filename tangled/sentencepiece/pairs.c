/* pairs.c -- Merges from tokens with ranks: a piece that can be cut into two others
   gives one pair for each such cut, all with the piece's rank.
   made from workshop/05-sentencepiece.w; change it there

   That is enough only if every part of a piece is a piece. */

#include <stdio.h>
#include "sentencepiece/pieces.h"

/* <Make pairs of pieces> */

/* the id plus 1 of a piece that merges, or 0 */
uint32_t pieces_ranked(const struct tokenizer *t,
  const uint32_t *rank, const unsigned char *byte, size_t n)
{
  uint32_t id = name_map_get(&t->by_piece, byte, n);
  return id == 0 || rank[id - 1] == TIKTOKEN_NO_RANK ? 0 : id;
}

/* Every cut of every piece: whichever two parts meet in a text, their pair must be
   found. */
bool tiktoken_pairs_from_ranks(struct memory *m, struct tokenizer *t,
  const uint32_t *rank, struct error *why)
{
  for (uint32_t id = 0; id < t->n_vocab; id++) {
    struct span s = t->vocab[id].piece;
    const unsigned char *byte = t->string_pool.byte + s.at;
    for (size_t k = 1; k < s.n && rank[id] != TIKTOKEN_NO_RANK; k++) {
      uint32_t left = pieces_ranked(t, rank, byte, k),
        right = left == 0 ? 0 : pieces_ranked(t, rank, byte + k, s.n - k);
      if (right != 0 && !bpe_add_ranked(m, &t->rules,
        (struct bpe_rule) { left - 1, right - 1, id, rank[id] },
        why)) return false;
    }
  }
  return true;
}

/* A word that stands there twice could be decoded by both ids, and encoded by one. */
bool pieces_all_different(const struct tokenizer *t, const char *file,
  const char *what, struct error *why)
{
  for (uint32_t id = 0; id < t->n_vocab; id++) {
    struct span s = t->vocab[id].piece;
    char field[40];
    uint32_t last = s.n == 0 ? id + 1 : name_map_get(&t->by_piece,
      t->string_pool.byte + s.at, s.n);
    if (last == id + 1) continue;
    snprintf(field, sizeof field, "%s %u", what, last - 1);
    return error_found(why, file, field, "a word for the second time",
      "words that are all different");
  }
  return true;
}
