/* vocabulary.c -- one file of a vocabulary whose kind is told by its content: a description in
 * JSON, a model of SentencePiece, a list of ranks. */
#include "words.h"

FUZZ(vocabulary)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct tokenizer *t = NULL;
  char path[128];
  scratch_drop("tokenizer_config.json");
  scratch_file("vocabulary", data, size);
  enum tokenizer_found found = tokenizer_try(&m, scratch_path(path, "vocabulary"), &t, &why);
  cheap(&m, size);
  must((found == TOKENIZER_OPEN) == (t != NULL));
  if (t == NULL)
    must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
  else
    try_words(t, &m);
  tokenizer_close(&m, t);
  must(m.all.live == 0);
  return 0;
}
