/* tensor_file.h -- the tensors of a model, whatever format its files have.

   The rest of the program finds a tensor by its name, counts the tensors, goes through them,
   and closes the files. Whether they are one file or several shards shows only in messages: a
   sentence about a tensor names the file that has it, one about a missing tensor the place
   where we looked. */

#ifndef INCIPIT_TENSOR_FILE_H
#define INCIPIT_TENSOR_FILE_H
#include "functions/number_type.h"

/* A tensor in a file, owned by its struct tensor_file; rank 0 has one element. The numbers
   stay in the mapped file, unless tensor_file_narrow has made a copy of them. The shape is
   the last member, outermost dimension first, with one element for each dimension, so that
   each tensor is one block of memory. The engine multiplies by tensors of some types only;
   the others can be listed. */
struct tensor_entry {
  const char *name, *file;
  unsigned type; /* its row in number_types; below N_WEIGHT_TYPES we compute with it */
  const unsigned char *data; /* little endian, perhaps unaligned */
  uint64_t bytes, elements, begin;
  size_t number; /* its index in the sorted list */
  uint32_t rank;
  bool copied; /* type, data and bytes are those of a copy in float, which the struct tensor_file owns */
  uint64_t shape[];
};

struct tensor_file;

/* maps and validates a safetensors file, a GGUF file with the other parts if it is one of
   several, or those of a directory: model.safetensors, else the files that its
   model.safetensors.index.json names; null and a sentence if anything is amiss. Owned by
   the caller */
struct tensor_file *tensor_file_open(struct memory *m, const char *path,
  struct error *why);

/* unmaps the files and invalidates every pointer into them; null is allowed */
void tensor_file_close(struct memory *m, struct tensor_file *w);

/* how many files they are in */
size_t tensor_file_files(const struct tensor_file *w);

/* how many tensors */
size_t tensor_file_count(const struct tensor_file *w);

/* tensor i in the order of names, 0<=i<tensor_file_count(w) */
const struct tensor_entry *tensor_file_at(const struct tensor_file *w, size_t i);

/* by name, or null */
const struct tensor_entry *tensor_file_find(const struct tensor_file *w,
  const char *name);

/* a tensor of type F64 becomes one of type F32, each number rounded to the nearest, in memory that w owns; one
   of another type stays as it is. False and a sentence if memory is refused; then nothing has changed */
bool tensor_file_narrow(struct tensor_file *w, const struct tensor_entry *t, struct error *why);

/* how a tensor is kept in its file: the name of its type, and its bytes */
struct stored_form { const char *type; uint64_t bytes; };

/* that of a tensor, also of one that was narrowed */
struct stored_form tensor_file_stored(const struct tensor_entry *t);

/* the file or the index, as messages name it; if w is null, because the model was
   made in memory, the model */
const char *tensor_file_path(const struct tensor_file *w);

/* the format of the files: "safetensors" or "gguf" */
const char *tensor_file_format(const struct tensor_file *w);

/* n bytes of a tensor will hardly be read again: returns their memory, if they are in
   a file of w; null does nothing */
void tensor_file_release(const struct tensor_file *w, const void *from, size_t n);
#endif
