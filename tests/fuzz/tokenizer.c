/* tokenizer.c -- a tokenizer.json, or a vocabulary and its merges if there is a second part; what can be opened must encode and come back. */
#include "fuzz.h"
#include "01-tokens/tokenizer.h"

FUZZ(tokenizer)
{
  struct memory m = {.refuse_at = 0};
  struct error why = {""};
  const uint8_t *part;
  static const char text[] = "The cat's 12 \xc3\xa9\xe2\x82\xac<|endoftext|> on";
  scratch_drop("tokenizer.json"), scratch_drop("vocab.json"), scratch_drop("merges.txt"), scratch_drop("tokenizer_config.json");
  size_t n = next_part(&data, &size, &part);
  if (size > 0) {
    scratch_file("vocab.json", part, n);
    n = next_part(&data, &size, &part);
    scratch_file("merges.txt", part, n);
  }
  else scratch_file("tokenizer.json", part, n);
  if (size > 0) scratch_file("tokenizer_config.json", data, size);
  struct tokenizer *t = tokenizer_open(&m, scratch(), &why);
  if (t == NULL) must(why.words[0] != '\0' && strchr(why.words, '\n') == NULL);
  else for (int k = 0; k < 4; k++) {
    struct ids list = {NULL, 0, 0};
    struct bytes back = {NULL, 0, 0};
    if (tokenizer_encode(t, &m, text, strlen(text), k & 1, k >> 1 & 1, &list, &why)) {
      for (size_t i = 0; i < list.n; i++) must(list.id[i] < tokenizer_vocab_size(t));
      must(tokenizer_decode(t, &m, list.id, list.n, k & 1, &back, &why));
    }
    ids_free(&m, &list), bytes_free(&m, &back);
  }
  tokenizer_close(&m, t);
  must(m.all.held == 0);
  return 0;
}
