/* gguf_settings.h -- the settings of a model among the keys of a GGUF file: read, and written.

   They are the settings of config.json under other names, and fill the same struct model_config
   under the same rule: every key is used, or harmless with a reason, or refused by name. One table,
   gguf_keys.inc, serves both directions. */

#ifndef INCIPIT_GGUF_SETTINGS_H
#define INCIPIT_GGUF_SETTINGS_H
#include "families/families.h"
#include "gguf/writing.h"

/* families whose files say something in a way of their own: which turn a part of each head; which have
   LayerNorm; in which a layer that sees everything turns nothing; which have experts */
enum { PARTLY = PHI3 | NEOX | PHI | STABLELM,
  CENTRED = GPT2 | NEOX | FALCON | PHI | STABLELM | COHERE | COHERE2,
  NEAR_TURNED = COHERE2 | EXAONE4, SPARSE = MIXTRAL | QWEN3_MOE | OLMOE | QWEN2_MOE };

/* what config_open_with does, for a GGUF file; o is not null */
bool gguf_settings_open(struct model_config *c, struct memory *m,
  const char *path, struct config_options *o, struct error *why);

/* the next key that files of this family get, from row *i of the table on, and the setting that it
   says; null after the last. *i is then the row after it */
const char *gguf_settings_key(size_t *i, const char *family,
  const struct setting **s);

/* adds to a draft all keys that say settings, but for the ids of tokens */
void gguf_settings_write(struct gguf_draft *d, const struct model_config *c);

/* whether a file that says b is the model a, found in path: false and the name of what was lost */
bool gguf_settings_same(const struct model_config *a, const struct model_config *b,
  const char *path, struct error *why);
#endif
