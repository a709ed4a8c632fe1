/* words.h -- what a tokenizer that could be opened must do: encode, keep to its ids, and come back.
 */
#ifndef INCIPIT_FUZZ_WORDS_H
#define INCIPIT_FUZZ_WORDS_H
#include "fuzz.h"
#include "tokenizer/tokenizer.h"

static inline void try_words(struct tokenizer *t, struct memory *m)
{
  static const char text[] = "The cat's 12 \xc3\xa9\xe2\x82\xac<|endoftext|> on \xff\xe2\x82";
  struct error why;
  for (int k = 0; k < 4; k++) {
    struct ids list = { NULL, 0, 0 };
    struct bytes back = { NULL, 0, 0 };
    if (tokenizer_encode(t, m, text, strlen(text), k & 1, k >> 1 & 1, &list, &why)) {
      for (size_t i = 0; i < list.n; i++) must(list.id[i] < tokenizer_vocab_size(t));
      must(tokenizer_decode(t, m, list.id, list.n, k & 1, &back, &why));
    } else
      must(list.n == 0);
    ids_free(m, &list), bytes_free(m, &back);
  }
  uint32_t id, far[] = { 0, (uint32_t) tokenizer_vocab_size(t), UINT32_MAX };
  struct bytes back = { NULL, 0, 0 };
  must(tokenizer_decode(t, m, far, 3, false, &back, &why));
  bytes_free(m, &back);
  if (tokenizer_bos(t, &id)) must(id < tokenizer_vocab_size(t));
  for (size_t i = 0; i < tokenizer_added_count(t); i++)
    must(tokenizer_added_at(t, i).id < tokenizer_vocab_size(t));
}
#endif
