/* gguf.h -- made from workshop/08-gguf.w; change it there */

#ifndef INCIPIT_GGUF_H
#define INCIPIT_GGUF_H
#include "functions/number_type.h"
#include "gguf/values.h"

/* <Keys and values> */

/* the types of values, with the format's numbers */
enum gguf_type { GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32,
  GGUF_F32, GGUF_BOOL, GGUF_STRING, GGUF_ARRAY, GGUF_U64, GGUF_I64, GGUF_F64,
  N_GGUF_TYPES };

/* n bytes of the mapped file, without a zero at the end */
struct gguf_words { const char *text; size_t n; };

/* a key and where its value is */
struct gguf_entry {
  struct gguf_words key;
  enum gguf_type type; /* of the value, or of the elements of an array */
  bool is_array;
  uint64_t count; /* elements; 1 if it is no array */
  const unsigned char *at, *end; /* the bytes of the elements */
};

/* <The description of a file> */

/* what a file says about itself, once it has been checked; it points into the file */
struct gguf_file {
  struct memory *m;
  const char *path; /* for messages; borrowed */
  const unsigned char *bytes;
  size_t size; /* of the file */
  struct gguf_entry *entry; /* in the order of the keys' names */
  size_t n_entries, cap;
  uint64_t n_tensors, alignment;
  size_t tensors_at, data_at; /* where the list of tensors begins, and the data */
};

/* is this a regular file that begins with the four letters? */
bool gguf_recognizes(const char *path);

/* checks the size bytes of a file, and fills in g, which gguf_free frees even on
   failure; false and a sentence. Not checked: that the names of tensors differ */
bool gguf_read(struct gguf_file *g, struct memory *m, const char *path,
  const unsigned char *bytes, size_t size, struct error *why);

/* frees the list of keys; a structure of zeros is allowed */
void gguf_free(struct gguf_file *g);

/* <The tensors, one after another> */

/* an entry of the list of tensors; the name is in the file, the rest is a copy */
struct gguf_tensor {
  struct gguf_words name;
  unsigned type; /* its row in number_types */
  uint32_t rank;
  uint64_t shape[4]; /* outermost first, as elsewhere in this book */
  uint64_t elements, bytes, begin; /* begin: from data_at on */
};

/* where the next entry is, how many are left, and where the next tensor must begin */
struct gguf_walk { size_t at; uint64_t left, next; };

/* before the first */
struct gguf_walk gguf_begin(const struct gguf_file *g);

/* the next of w->left > 0 tensors; false and a sentence */
bool gguf_next(const struct gguf_file *g, struct gguf_walk *w,
  struct gguf_tensor *t, struct error *why);
#endif
