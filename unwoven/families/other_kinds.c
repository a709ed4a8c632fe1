/* other_kinds.c -- what a model is whose family we do not run.

   Somebody who opens an encoder, or a model of images, is not helped by a list of families: none of them
   would be right, because what he has does not write texts token by token. A model that does, and keeps a state
   where ours keep rows of keys and values, is of another kind as well. The list is of words, since the names of one kind
   are made of each other: a roberta, a modernbert and a nomic-bert are all a bert. It decides nothing
   but these words; the family was refused before. */

#include <stddef.h>
#include <string.h>
#include "families/other_kinds.h"

static const struct other { const char *words, *kind; } other_row[] = {
  { "bert electra mpnet", ", which reads texts and writes none (an encoder)" },
  { "t5 bart pegasus marian m2m whisper", ", which has an encoder beside its decoder" },
  { "clip siglip", ", which reads images and writes no texts" },
  { "mamba rwkv jamba zamba recurrent nemotron_h hybrid lfm2 qwen3_next qwen3next qwen3_5 qwen35",
    ", which keeps a state in the place of a cache" } };

const char *other_kind(const char *name)
{
  for (size_t i = 0; name != NULL && i < sizeof other_row / sizeof *other_row; i++)
    for (const char *at = other_row[i].words; *at != '\0'; at += strspn(at, " ")) {
      char word[32] = "";
      size_t n = strcspn(at, " ");
      memcpy(word, at, n < sizeof word ? n : 0);
      if (strstr(name, word) != NULL) return other_row[i].kind;
      at += n;
    }
  return "";
}
