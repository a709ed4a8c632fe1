/* kernels.h -- Tables of fast kernels, and weights prepared for them.
   made from chapters/11-simd.w; change it there

   Every table gives the bits of the plain one, so which of them a caller has can only
   be told by a clock. */

#ifndef INCIPIT_KERNELS_H
#define INCIPIT_KERNELS_H
#include "model/model.h"
#include "model/quantization.h"

/* <Prepared weights> */

/* a matrix, by the address of its weights, and the copy of them */
struct prepared_matrix { const void *weight; void *copy; };

/* copies of the weights of n matrices for the table k and an engine's activations, by
   rising addresses */
struct prepared_weights { const struct kernels *k; enum activations activations;
  size_t n; struct prepared_matrix *of; };

/* copies for those of n matrices for which k wants any, when an engine's activations
   are asked; the memory of what has been copied is given back, if it is in source,
   which may be null; null and a sentence if memory is refused. Owned by the caller,
   and must live as long as any engine that has it, and not longer than the weights */
struct prepared_weights *prepared_open(struct memory *m, const struct kernels *k,
  enum activations asked, const struct tensor_file *source,
  const struct matrix *const *list, size_t n, struct error *why);

/* frees the copies; null does nothing */
void prepared_close(struct memory *m, struct prepared_weights *p);

/* copies of all matrices of lm for which k wants any; null and a sentence. Owned by
   the caller; the model stays as it is */
struct prepared_weights *model_prepare(struct memory *m, const struct kernels *k,
  enum activations asked, const struct model *lm, struct error *why);

/* the copy of the weights of w for the engine's table, or null */
const void *prepared_find(const struct engine *e, const struct matrix *w);

/* <How a table is found> */

/* the table called name, plain, scalar, avx2, avx512 or neon, or for null the fastest
   that this processor can run; null and a sentence that lists those it can */
const struct kernels *kernels_find(const char *name, struct error *why);

/* table number i of those that this build has and this processor can run, the slowest
   first; null after the last */
const struct kernels *kernels_at(size_t i);
#endif
