/* gguf_settings.h -- made from workshop/30-gguf-models.w; change it there */

#ifndef INCIPIT_GGUF_SETTINGS_H
#define INCIPIT_GGUF_SETTINGS_H
#include "families/config.h"

/* what config_open_with does, for a GGUF file; o is not null */
bool gguf_settings_open(struct model_config *c, struct memory *m,
  const char *path, struct config_options *o, struct error *why);

/* the next key that files of this family get, from row *i of the table on, and the
   setting that it says; null after the last. *i is then the row after it */
const char *gguf_settings_key(size_t *i, const char *family,
  const struct setting **s);
#endif
