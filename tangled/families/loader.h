/* loader.h -- made from workshop/03-models.w; change it there */

#ifndef INCIPIT_LOADER_H
#define INCIPIT_LOADER_H
#include "families/config.h"
#include "families/layout.h"

/* <A model, from outside> */

/* maps the weights of a directory in Hugging Face's layout and checks them against
   its settings; null and a sentence that names file and field. Owned by the caller;
   any number of threads may read it. Its matrices can be multiplied by the table of
   kernels that kernels_find gives for null */
struct model *model_open(struct memory *m, const char *directory,
  struct error *why);

/* the same for the table k: a matrix of a type that k cannot multiply is refused,
   with the file, the tensor, its type, and the types that k has. The tensors have the
   layout l, or for null that of the file's format and the settings' family */
struct model *model_open_for(struct memory *m, const struct kernels *k,
  const struct tensor_layout *l, const char *directory, struct error *why);

/* closes the files and returns the rest; null is nothing */
void model_close(struct memory *m, struct model *lm);

/* numbers in the tensors that are used, a tied head not counted twice */
uint64_t model_parameters(const struct model *lm);
#endif
