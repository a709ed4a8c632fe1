/* vocabulary.c -- one file of a vocabulary whose kind is told by its content: a description in
 * JSON, a model of SentencePiece, a list of ranks. */
#include "words.h"

FUZZ(vocabulary)
{
  struct memory m = { .refuse_at = 0 };
  struct error why = { "" };
  struct tokenizer *t = NULL;
  char path[128];
  scratch_drop("tokenizer_config.json");
  scratch_file("vocabulary", data, size);
  enum tokenizer_found found = tokenizer_try(&m, scratch_path(path, "vocabulary"), &t, &why);
  cheap(&m, size);
  must((found == TOKENIZER_OPEN) == (t != NULL));
  if (t == NULL)
    must(why.words[0] != '\0' && strchr(why.words, '\n') == NULL);
  else
    try_words(t, &m);
  tokenizer_close(&m, t);
  must(m.all.held == 0);
  return 0;
}
