/* loader.h -- a model from its files: settings, names and shapes come together.

   The settings say which tensors there must be. Each is looked for by its name, its shape is
   checked, and it stays where it is in the mapped file. An open model never changes, so any
   number of passes can share it. */

#ifndef INCIPIT_LOADER_H
#define INCIPIT_LOADER_H
#include "families/config.h"
#include "families/layout.h"

/* maps the weights of a directory in Hugging Face's layout, or of a GGUF file, and
   checks them against its settings; null and a sentence that names file and field.
   Owned by the caller; any number of threads may read it. Its matrices can be
   multiplied by the plain table of kernels */
struct model *model_open(struct memory *m, const char *directory,
  struct error *why);

/* the caller's wishes: the table of kernels that will multiply (a matrix of a type
   that it cannot multiply is refused, with the file, the tensor, its type, and the
   types that the table has); the names of the tensors; unknown fields; and the
   callback that is told how many tensors have been found, or null. fields is filled
   in even on failure */
struct model_open_options {
  const struct kernels *k; /* null: the plain table */
  const struct tensor_layout *layout; /* null: by the file's format and the family */
  struct config_options fields;
  struct progress *progress;
};

/* the same, with the caller's wishes; giving up is a failure */
struct model *model_open_with(struct memory *m, const char *directory,
  struct model_open_options *o, struct error *why);

/* closes the files and frees the rest; null is allowed */
void model_close(struct memory *m, struct model *lm);

/* numbers in the tensors that are used; a tied head is counted once */
uint64_t model_parameters(const struct model *lm);
#endif
