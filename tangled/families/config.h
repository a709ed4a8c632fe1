/* config.h -- made from workshop/03-models.w; change it there */

#ifndef INCIPIT_CONFIG_H
#define INCIPIT_CONFIG_H
#include "model/model.h"

/* <What is asked of the settings> */

/* reads config.json and, if there, generation_config.json; every field is used, known
   to be harmless, or an error; on failure nothing is held */
bool config_open(struct model_config *c, struct memory *m, const char *directory,
  struct error *why);

/* adds to the list of what is ignored; field is copied, the others are not */
bool config_ignore(struct model_config *c, struct memory *m, const char *file,
  const char *field, const char *reason, struct error *why);

/* returns the list of ignored fields */
void config_close(struct memory *m, struct model_config *c);

/* what family number i of the table does without being told; null behind the last */
const struct model_config *config_family(size_t i);

/* whether config.json of family number i may have field and is obeyed */
bool config_reads(size_t i, const char *field);
#endif
