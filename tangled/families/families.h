/* families.h -- made from workshop/03-models.w; change it there */

#ifndef INCIPIT_FAMILIES_H
#define INCIPIT_FAMILIES_H
#include "families/config.h"

/* the numbers of the families */
enum model_family { FAMILY_GPT2, FAMILY_LLAMA, FAMILY_MISTRAL, FAMILY_QWEN2,
  FAMILY_QWEN3, FAMILY_SMOLLM3, FAMILY_GRANITE, FAMILY_MINISTRAL, FAMILY_MINISTRAL3,
  FAMILY_SEED_OSS, FAMILY_ERNIE, FAMILY_OLMO2, FAMILY_GEMMA, FAMILY_GEMMA2, FAMILY_GEMMA3,
  FAMILY_EXAONE4, FAMILY_NEOX, FAMILY_FALCON, FAMILY_PHI, FAMILY_STABLELM, FAMILY_COHERE,
  FAMILY_COHERE2, FAMILY_PHI3, FAMILY_MIXTRAL, FAMILY_QWEN3_MOE, FAMILY_OLMOE,
  FAMILY_QWEN2_MOE, FAMILY_GPT_OSS, N_FAMILIES };

/* their bits, for rows that are about several */
enum { GPT2 = 1 << FAMILY_GPT2, LLAMA = 1 << FAMILY_LLAMA,
  MISTRAL = 1 << FAMILY_MISTRAL, QWEN2 = 1 << FAMILY_QWEN2,
  QWEN3 = 1 << FAMILY_QWEN3, SMOLLM3 = 1 << FAMILY_SMOLLM3,
  GRANITE = 1 << FAMILY_GRANITE, MINISTRAL = 1 << FAMILY_MINISTRAL,
  MINISTRAL3 = 1 << FAMILY_MINISTRAL3, SEED_OSS = 1 << FAMILY_SEED_OSS,
  ERNIE = 1 << FAMILY_ERNIE, OLMO2 = 1 << FAMILY_OLMO2, GEMMA = 1 << FAMILY_GEMMA,
  GEMMA2 = 1 << FAMILY_GEMMA2, GEMMA3 = 1 << FAMILY_GEMMA3,
  EXAONE4 = 1 << FAMILY_EXAONE4, NEOX = 1 << FAMILY_NEOX, FALCON = 1 << FAMILY_FALCON,
  PHI = 1 << FAMILY_PHI, STABLELM = 1 << FAMILY_STABLELM, COHERE = 1 << FAMILY_COHERE,
  COHERE2 = 1 << FAMILY_COHERE2, PHI3 = 1 << FAMILY_PHI3,
  MIXTRAL = 1 << FAMILY_MIXTRAL, QWEN3_MOE = 1 << FAMILY_QWEN3_MOE,
  OLMOE = 1 << FAMILY_OLMOE, QWEN2_MOE = 1 << FAMILY_QWEN2_MOE,
  GPT_OSS = 1 << FAMILY_GPT_OSS,
  ALL = (1 << N_FAMILIES) - 1, LATER = ALL & ~GPT2 };

/* what a family is called, how its files name tensors, and what its settings begin
   with */
struct family_row {
  const char *type, *architecture, *once; /* and how the class was once spelt, or null */
  const char *gguf, *layout[2]; /* null: we know no such files of this family */
  struct model_config always;
};

/* N_FAMILIES rows */
extern const struct family_row model_families[];

/* the row with this type, or null */
const struct family_row *family_named(const char *type);

/* bytes for a list of all families */
enum { FAMILY_LIST = 400 };

/* all types, or all names in GGUF files, as a sentence lists them: "a, b or c" */
const char *family_list(bool gguf, char list[FAMILY_LIST]);
#endif
