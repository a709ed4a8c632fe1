/* fields.h -- how the fields of config.json and generation_config.json are described: in
   tables.

   A field that is used is a row: its name, the families that have it, whether it must be
   there, the function that reads it, and where its value goes. Families are bits of a number,
   so one row can be about several. A table can be read as a list, compared with the published
   files line by line, and counted; a function of many branches could not. A field that cannot
   change a logit is a name with the reason why. config.c walks through both kinds. */

#ifndef INCIPIT_FIELDS_H
#define INCIPIT_FIELDS_H
#include <jansson.h>
#include "families/families.h"

struct config_reader; struct config_field;

/* reads the value of one field, or refuses it with a sentence */
typedef bool field_read(struct config_reader *s, const struct config_field *f,
  json_t *value);

/* a field that is used */
struct config_field {
  const char *name;
  unsigned of; /* families */
  bool required;
  field_read *read;
  struct field_place { size_t at; double min, max; } to; /* in struct model_config */
};

/* a field that is known, and why it may be read over */
struct harmless_entry { const char *name, *reason; };

/* What steers the reading of one file: the family, which decides which rows count, the tables
   of fields that are used, and those of fields that are harmless. Both lists end with a
   null. */
struct tables {
  unsigned family;
  const struct config_field *used[6];
  const struct harmless_entry *harmless[4];
};

/* the state of a reading */
struct config_reader {
  const char *path, *file; /* the path for messages; the file's bare name */
  json_t *all;
  json_t *outer; /* the whole file, if it wraps the settings of a model of texts; else null */
  const struct tables *t; /* those that are being read */
  struct config_options *o;
  json_t *strange; /* unknown fields: an object of the file's values */
  struct model_config *c;
  struct memory *m;
  struct error *why;
};
#endif
