/* tensor_format.h -- what a reader of a format fills, for readers of formats alone.

   A reader is a function that fills a struct tensor_file: it maps files, adds an entry for
   each tensor that it finds, checks that every tensor is within its mapping, and sorts the
   list. tensor_file_close frees all that has been entered, so a reader that fails half-way
   need not clean up. A path is a block of its own, because tensors point to it while the array
   of files may still grow, and growing moves the array. */

#ifndef INCIPIT_TENSOR_FORMAT_H
#define INCIPIT_TENSOR_FORMAT_H
#include "safetensors/tensor_file.h"

struct tensor_format;

/* a mapped file and its path, each owned by the struct tensor_file */
struct shard { char *path; struct mapping map; };

/* the files of a model and their tensors; once sorted, list is in order of names */
struct tensor_file {
  struct memory *m;
  const struct tensor_format *format;
  char *path; /* what messages name: the file, or the index */
  struct shard *shards;
  size_t n_shards;
  struct tensor_entry **list;
  size_t n, cap;
};

/* a format of tensor files; the first that recognizes a path reads it */
struct tensor_format {
  const char *name;
  /* does path seem to lead to files of this format? */
  bool (*recognizes)(const char *path);
  /* enters all files and tensors, checked and sorted, and w->path; or a sentence */
  bool (*fill)(struct tensor_file *w, const char *path, struct error *why);
};

/* a block with directory, a slash and name, or with directory alone if name is empty;
   null and a sentence. Owned by the caller until it is entered in w */
char *tensor_file_keep_path(struct tensor_file *w, const char *directory,
  const char *name, struct error *why);

/* one more file, entered and mapped; null and a sentence. It lives in an array that
   moves when the next file is mapped */
struct shard *tensor_file_map(struct tensor_file *w, const char *directory,
  const char *name, struct error *why);

/* one more file, which the caller has mapped: its path and mapping are w's from now on, and *path is null
   once they are; null and a sentence */
struct shard *tensor_file_adopt(struct tensor_file *w, char **path, struct mapping map,
  struct error *why);

/* a tensor of the file path of an entered shard, with a copy of name, and zeros for
   all else but rank; null and a sentence if there are too many, or if memory is
   refused */
struct tensor_entry *tensor_file_add(struct tensor_file *w, const char *path,
  const char *name, size_t rank, struct error *why);

/* the list by name, each entry with its number; error: a name given twice */
bool tensor_file_sort(struct tensor_file *w, struct error *why);
#endif
