/* tokenizer.c -- a tokenizer.json, or a vocabulary and its merges if there is a second part; what
 * can be opened must encode and come back. */
#include "words.h"

FUZZ(tokenizer)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  const uint8_t *part;
  size_t all = size;
  scratch_drop("tokenizer.json"), scratch_drop("vocab.json"), scratch_drop("merges.txt"),
    scratch_drop("tokenizer_config.json");
  size_t n = next_part(&data, &size, &part);
  if (size > 0) {
    scratch_file("vocab.json", part, n);
    n = next_part(&data, &size, &part);
    scratch_file("merges.txt", part, n);
  } else
    scratch_file("tokenizer.json", part, n);
  if (size > 0) scratch_file("tokenizer_config.json", data, size);
  struct tokenizer *t = tokenizer_open(&m, scratch(), &why);
  cheap(&m, all);
  if (t == NULL)
    must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
  else
    try_words(t, &m);
  tokenizer_close(&m, t);
  must(m.all.live == 0);
  return 0;
}
