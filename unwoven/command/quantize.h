/* quantize.h -- one GGUF file of a model, with weights in fewer bits: what incipit quantize does.

   The options of the command and what it prints are program/cmd_quantize.c's. */

#ifndef INCIPIT_QUANTIZE_H
#define INCIPIT_QUANTIZE_H
#include "families/config.h"

/* what is to be done; all of it is borrowed */
struct quantize_options {
  const char *from, *to; /* a directory or a GGUF file of floats; the file to be written */
  enum weight_type type; /* of the matrices */
  struct config_options fields; /* unknown fields of the settings */
  struct progress *progress; /* is told how many numbers are done; or null */
};

/* how many tensors, and of them in the type that was asked for; their numbers; their bytes in the
   model and in the file; those of the whole file */
struct quantize_result { size_t tensors, blocks; uint64_t numbers, before, after, file; };

/* the type that has this name, as "q8_0"; false if there is none that is written */
bool quantize_type(const char *name, enum weight_type *type);

/* writes the whole file or, on failure, none, as new_file_open does: it grows under another name
   beside o->to, and takes that name when it is complete. Error: o->to is a file of the model, under
   whatever name */
bool quantize_file(struct memory *m, struct quantize_options *o,
  struct quantize_result *r, struct error *why);
#endif
