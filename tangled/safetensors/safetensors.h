/* safetensors.h -- made from workshop/02-safetensors.w; change it there */

/* C.7  safetensors.h */

#ifndef INCIPIT_SAFETENSORS_H
#define INCIPIT_SAFETENSORS_H
#include <jansson.h>
#include "ground/ground.h"

/* C.8  A tensor in a file */

struct stored {
  const char *name, *type, *file;
/* type as in the file: "F32", "BF16", ... */

  const unsigned char *data;
/* little endian, not always aligned */

  uint64_t bytes, elements, begin;
  size_t number;
/* its place in the list by name */

  uint32_t rank;
  uint64_t shape[];
};
/* owned by its struct archive; rank 0 has one element */

/* C.9  All tensors of a model */

struct archive;
struct archive *weights_open(struct memory *m, const char *path, struct error *why);
/* maps and validates a safetensors file, or those of a directory:
 * model.safetensors, else the files that its model.safetensors.index.json
 * names; null and a sentence if anything is amiss. Owned by the caller */

void weights_close(struct memory *m, struct archive *w);
/* unmaps the files; every pointer into them dies. Null is nothing */

size_t weights_count(const struct archive *w);
/* how many tensors */

const struct stored *weights_at(const struct archive *w, size_t i);
/* number i in the order of their names, 0<= i<weights_count(w) */

const struct stored *weights_find(const struct archive *w, const char *name);
/* by name, or null */

const char *weights_path(const struct archive *w);
/* the file, or the index: the name to put into an error; of null, a model
 * that was made in memory, the words for it */

/* C.10  A file of JSON */

enum { SETTINGS_MOST = 1 << 20, INDEX_MOST = 16 << 20 };
/* bytes */

json_t *json_read(const char *path, size_t most, struct error *why);
/* the value in a file, to be released with json_decref; strict: duplicate
 * keys, bad UTF-8, more than most bytes are errors; null and a sentence */

const char *json_excerpt(json_t * value, char room[64]);
/* the value as one would type it, cut to fit into room, for an error's
 * "found"; returns room */

#endif
