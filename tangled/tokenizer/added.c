/* added.c -- What begins here: the longest added token of a root, by a walk down the
   tree, and whether a word does.
   made from workshop/04-tokenizer.w; change it there

   These functions only look; the tree is made in tokenizer.c. */

#include <string.h>
#include "tokenizer/inside.h"

/* <Find the longest added token here> */

/* A list, since added tokens branch little. */
uint32_t tokenizer_trie_child(const struct tokenizer *t, uint32_t at,
  unsigned char byte)
{
  uint32_t next = t->trie[at].child;
  while (next != 0 && t->trie[next].byte != byte)
    next = t->trie[next].sibling;
  return next;
}

/* At most places of most texts the walk ends at the root. */
const struct added_token *tokenizer_longest_added(const struct tokenizer *t,
  uint32_t root, const unsigned char *text, size_t n, size_t *length)
{
  const struct added_token *found = NULL;
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    at = tokenizer_trie_child(t, at, text[i]);
    if (at == 0) break;
    if (t->trie[at].added == 0) continue;
    found = &t->added[t->trie[at].added - 1];
    *length = i + 1;
  }
  return found;
}

/* <Check whether a match stands at word boundaries> */
static const unsigned char block[3] = { 0xe2, 0x96, 0x81 };
bool tokenizer_word_begins(const unsigned char *text, size_t at,
  size_t n)
{
  return at > 0 && n - at >= 3 && memcmp(text + at, block, 3) == 0
    && (at < 3 || memcmp(text + at - 3, block, 3) != 0);
}

/* If no token has a block after another character, no merge can join a block to what
   comes before it. Then a row may end before each block, with the same ids: rows are
   words, not books. The block must be a token itself, or its bytes could merge. */
void tokenizer_find_splits(struct tokenizer *t)
{
  t->splits_at_spaces = name_map_get(&t->by_piece, block, 3) != 0;
  for (size_t i = 0; i < t->n_vocab; i++) {
    struct span s = t->vocab[i].piece;
    for (size_t k = 1; k < s.n && t->splits_at_spaces; k++)
      t->splits_at_spaces = !tokenizer_word_begins(t->string_pool.byte + s.at, k, s.n);
  }
}
