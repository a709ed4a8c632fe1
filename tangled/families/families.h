/* families.h -- made from workshop/03-models.w; change it there */

#ifndef INCIPIT_FAMILIES_H
#define INCIPIT_FAMILIES_H
#include "families/config.h"

/* the numbers of the families */
enum model_family { FAMILY_GPT2, FAMILY_LLAMA, FAMILY_MISTRAL, FAMILY_QWEN2,
  FAMILY_QWEN3, N_FAMILIES };

/* their bits, for rows that are about several */
enum { GPT2 = 1 << FAMILY_GPT2, LLAMA = 1 << FAMILY_LLAMA,
  MISTRAL = 1 << FAMILY_MISTRAL, QWEN2 = 1 << FAMILY_QWEN2,
  QWEN3 = 1 << FAMILY_QWEN3, ALL = (1 << N_FAMILIES) - 1, LATER = ALL & ~GPT2 };

/* what a family is called, how its files name tensors, and what its settings begin
   with */
struct family_row {
  const char *type, *architecture, *once; /* and how the class was once spelt, or null */
  const char *gguf, *layout[2];
  struct model_config always;
};

/* N_FAMILIES rows */
extern const struct family_row model_families[];

/* the row with this type, or null */
const struct family_row *family_named(const char *type);

/* all types, or all names in GGUF files, as a sentence lists them: "a, b or c" */
const char *family_list(bool gguf, char list[200]);
#endif
