/* engine.h -- the first argument of every kernel: who computes, and how.
   made from chapters/02-model.w; change it there

   An engine belongs to one caller at a time, because the counters are increased
   without a lock. What it points to must outlive it; k and prepared go together,
   since each table has an order of its own for weights. */

#ifndef INCIPIT_ENGINE_H
#define INCIPIT_ENGINE_H
#include "model/tensor.h"
struct kernels;
struct counters;
struct prepared_weights;

/* the first argument of every kernel */
struct engine {
  const struct kernels *k; /* the kernels in use */
  void *pool; /* its struct pool *; null: one thread */
  struct counters *c; /* the callers of kernels add to them */
  struct progress *progress; /* a callback that a pass tells how far it is, or null */
  const struct prepared_weights *prepared; /* for these kernels; null: none */
  enum activations activations; /* to which inputs of linear layers are rounded */
};
#endif
