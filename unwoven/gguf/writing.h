/* writing.h -- writing a GGUF file: a draft of its description, then the numbers.

   The list of tensors comes before the tensors and says where each of them begins, so everything
   about them must be known before the first number is written. The numbers themselves may be as
   many as the disk holds; they go to the file as they are computed, between the description and the
   end of the file. A draft remembers its first failure, so a caller adds all keys, one line for
   each, and asks once at the end. */

#ifndef INCIPIT_GGUF_WRITING_H
#define INCIPIT_GGUF_WRITING_H
#include <stdio.h>
#include "gguf/gguf.h"
#include "ground/buffers.h"

/* each tensor begins at a multiple of it, which is the format's default */
enum { GGUF_ALIGNMENT = 32 };

/* set m, ok and why, and leave the rest zero */
struct gguf_draft {
  struct memory *m;
  struct bytes keys, list; /* the two lists, as they will be in the file */
  uint64_t n_keys, n_tensors, next; /* next: where the next tensor begins in the data */
  bool ok; /* true at first; false after a failure, which why explains */
  struct error *why;
};

/* frees the lists */
void gguf_draft_free(struct gguf_draft *d);

/* an integer */
void gguf_add_count(struct gguf_draft *d, const char *key, uint32_t n);

/* rounded to float, which all programs expect */
void gguf_add_real(struct gguf_draft *d, const char *key, double x);

/* true or false */
void gguf_add_flag(struct gguf_draft *d, const char *key, bool flag);

/* n bytes of UTF-8 */
void gguf_add_text(struct gguf_draft *d, const char *key, const void *text, size_t n);

/* then count elements must follow: */
void gguf_add_array(struct gguf_draft *d, const char *key, enum gguf_type type,
  uint64_t count);

/* a string */
void gguf_add_element(struct gguf_draft *d, const void *text, size_t n);

/* a number of the given bytes */
void gguf_add_number(struct gguf_draft *d, size_t bytes, uint64_t x);

/* a key of a file that was read, whatever its value is */
void gguf_add_entry(struct gguf_draft *d, const struct gguf_entry *e);

/* the next tensor, shape outermost first; errors: a type that the format lacks, rows that are no
   whole blocks, a size beyond 64 bits */
void gguf_add_tensor(struct gguf_draft *d, const char *name, unsigned type,
  uint32_t rank, const uint64_t *shape);

/* all but the numbers, up to where they begin; false and d->why, also if the draft had failed. The
   system's errors are noticed later, by ferror or when the file is closed */
bool gguf_write_draft(struct gguf_draft *d, FILE *f);

/* the zeros after a tensor of the given bytes */
void gguf_write_padding(FILE *f, uint64_t bytes);
#endif
