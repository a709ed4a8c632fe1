/* config.h -- the settings of a model, read from its files.

   Reading takes memory only for the list of ignored fields, which belongs to the structure;
   closing frees it. The families can be asked without a file: the workshop's figure of them is
   drawn from the answers. */

#ifndef INCIPIT_CONFIG_H
#define INCIPIT_CONFIG_H
#include "model/model.h"

/* the caller's wishes; borrowed. Filled in: n_unknown, fields refused or (if
   tolerant) ignored; used: whether a file has an unknown field of that name */
struct config_options {
  const char *const *ignore;
  size_t n_ignore; /* fields to ignore if they are unknown */
  bool tolerant; /* ignore all unknown fields */
  size_t n_unknown; /* how many other unknown fields there were */
  bool *used; /* [n_ignore], or null: was it met? */
};

/* the reason, in the list of what was ignored, of a field that the caller named; that
   of another unknown field is null */
extern const char config_ignored_by_caller[];

/* reads config.json and, if there, generation_config.json, or the keys of a GGUF
   file; every field is used, known to be harmless, or an error; on failure nothing is
   held */
bool config_open(struct model_config *c, struct memory *m, const char *directory,
  struct error *why);

/* the same, with the caller's wishes about unknown fields; o may be null */
bool config_open_with(struct model_config *c, struct memory *m,
  const char *directory, struct config_options *o, struct error *why);

/* the same for a directory alone; o is not null */
bool config_read_directory(struct model_config *c, struct memory *m,
  const char *directory, struct config_options *o, struct error *why);

/* adds to the list of what is ignored; field is copied, the others are not */
bool config_ignore(struct model_config *c, struct memory *m, const char *file,
  const char *field, const char *reason, struct error *why);

/* frees the list of ignored fields */
void config_close(struct memory *m, struct model_config *c);

/* gives all layers but every window_pattern-th a window; of at most CONFIG_MAX_LISTED layers */
void config_mark_windows(struct model_config *c);

/* lets every unturned_every-th layer turn nothing; of at most CONFIG_MAX_LISTED layers */
void config_mark_unturned(struct model_config *c);

/* the defaults of family number i of the table; null after the last */
const struct model_config *config_family(size_t i);

/* whether field is used in the config.json of family number i, and may have more than one value */
bool config_reads(size_t i, const char *field);
#endif
