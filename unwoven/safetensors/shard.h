/* shard.h -- what the reader of a single file offers to the reader of several. */

#ifndef INCIPIT_SHARD_H
#define INCIPIT_SHARD_H
#include "safetensors/tensor_format.h"

/* reads the header of a mapped file, enters its tensors in w, and checks that they lie end to
   end and fill the file; false and a sentence */
bool shard_read(struct tensor_file *w, struct shard *s, struct error *why);
#endif
