/* publish.h -- a trained model as a directory that any program can read. */
#ifndef INCIPIT_PUBLISH_H
#define INCIPIT_PUBLISH_H
#include "training/training.h"

/* each to the nearest number that sixteen bits can hold, IEEE binary16 */
void publish_round_weights(float *w, size_t n);

/* writes a directory that model_open and tokenizer_open read: weights in binary16, a
   tokenizer of n merges unless merge is null; the directory must exist */
bool publish_model(struct memory *m, const char *directory,
  const struct model_shape *s,
  const struct network *net, const float *w,
    const struct bpe_merge *merge, size_t n,
  struct error *why);
#endif
