@i types.w

\chapterquestion{What must a file say so that other programs read what we meant?}
@** Writing GGUF files.
\incipit{R}{eading a GGUF} file (\cref{gguf}) means distrusting it. Writing one is easier: the sizes are ours, and the only question is the order. The list of tensors comes before the tensors and says where each of them begins. So everything about them must be known before the first number is written: name, shape and type, from which the bytes follow. The numbers themselves may be as many as the disk holds, and go to the file as they are computed.
@^GGUF@>

The module has two parts accordingly. A \emph{draft} collects keys and tensors in memory; then its text, the description, is written, and after it the caller writes the tensors, one after another, with padding between them.

@(writing.h@>=
#ifndef INCIPIT_GGUF_WRITING_H
#define INCIPIT_GGUF_WRITING_H
#include <stdio.h>
#include "gguf/gguf.h"
#include "ground/buffers.h"
@<The draft of a description@>@;
@<What is put into a draft@>@;
@<How the file is written@>@;
#endif

@ A draft remembers its first failure. So the caller adds all keys, one line for each, and asks once at the end.

@<The draft of a description@>=
enum { GGUF_ALIGNMENT = 32 };
  /* each tensor begins at a multiple of it, which is the format's default */
struct gguf_draft {
  struct memory *m;
  struct bytes keys, list; /* the two lists, as they will be in the file */
  uint64_t n_keys, n_tensors, next; /* |next|: where the next tensor begins in the data */
  bool ok; /* true at first; false after a failure, which |why| explains */
  struct error *why;
};
  /* set |m|, |ok| and |why|, and leave the rest zero */
void gguf_draft_free(struct gguf_draft *d);
  /* frees the lists */

@ A key has a value of one of four kinds, or an array, whose elements follow one by one. The last function copies a key of another file, whatever its value is.

@<What is put into a draft@>=
void gguf_add_count(struct gguf_draft *d, const char *key, uint32_t n);
  /* an integer */
void gguf_add_real(struct gguf_draft *d, const char *key, double x);
  /* rounded to |float|, which all programs expect */
void gguf_add_flag(struct gguf_draft *d, const char *key, bool flag);
  /* true or false */
void gguf_add_text(struct gguf_draft *d, const char *key, const void *text, size_t n);
  /* |n| bytes of UTF-8 */
void gguf_add_array(struct gguf_draft *d, const char *key, enum gguf_type type,@|
  uint64_t count);
  /* then |count| elements must follow: */
void gguf_add_element(struct gguf_draft *d, const void *text, size_t n);
  /* a string */
void gguf_add_number(struct gguf_draft *d, size_t bytes, uint64_t x);
  /* a number of so many bytes */
void gguf_add_entry(struct gguf_draft *d, const struct gguf_entry *e);
  /* a key of a file that was read */
void gguf_add_tensor(struct gguf_draft *d, const char *name, unsigned type,@|
  uint32_t rank, const uint64_t *shape);
  /* the next tensor, |shape| outermost first; errors: a type that the format lacks, rows that are no whole blocks, a
     size beyond 64 bits */

@ Two functions write. Between the description and the end of the file the caller is free to compute as long as it likes.

@<How the file is written@>=
bool gguf_write_draft(struct gguf_draft *d, FILE *f);
  /* all but the numbers, up to where they begin; false and |d->why|, also if the draft had failed. The system's
     errors are noticed later, by |ferror| or when the file is closed */
void gguf_write_padding(FILE *f, uint64_t bytes);
  /* the zeros after a tensor of so many bytes */

@* The two lists. \label{sec:ggufdraft}
Numbers are written lowest byte first, as everywhere in the format.

@<Put numbers and strings into a list@>=
static void put(struct gguf_draft *d, struct bytes *list, const void *byte, size_t n)
{
  d->ok = d->ok && (n == 0 || bytes_push(d->m, list, byte, n, d->why));
}
static void put_number(struct gguf_draft *d, struct bytes *list, size_t n,
  uint64_t x)
{
  unsigned char byte[8];
  for (size_t i = 0; i < n; i++) byte[i] = (unsigned char) (x >> 8 * i);
  put(d, list, byte, n);
}
static void put_string(struct gguf_draft *d, struct bytes *list, const void *text,
  size_t n)
{
  put_number(d, list, 8, n);
  put(d, list, text, n);
}
static void put_key(struct gguf_draft *d, const char *key, size_t n,
  enum gguf_type type)
{
  d->n_keys++;
  put_string(d, &d->keys, key, n);
  put_number(d, &d->keys, 4, type);
}

@ With these four the kinds of values are a line or two each.

@<Add a key@>=
void gguf_add_count(struct gguf_draft *d, const char *key, uint32_t n)
{
  put_key(d, key, strlen(key), GGUF_U32);
  put_number(d, &d->keys, 4, n);
}
void gguf_add_real(struct gguf_draft *d, const char *key, double x)
{
  put_key(d, key, strlen(key), GGUF_F32);
  put_number(d, &d->keys, 4, num_bits32((float) x));
}
void gguf_add_flag(struct gguf_draft *d, const char *key, bool flag)
{
  put_key(d, key, strlen(key), GGUF_BOOL);
  put_number(d, &d->keys, 1, flag);
}
void gguf_add_text(struct gguf_draft *d, const char *key, const void *text, size_t n)
{
  put_key(d, key, strlen(key), GGUF_STRING);
  put_string(d, &d->keys, text, n);
}

@ An array has two types: that it is one, and that of its elements.

@<Add a key@>=
void gguf_add_array(struct gguf_draft *d, const char *key, enum gguf_type type,
  uint64_t count)
{
  put_key(d, key, strlen(key), GGUF_ARRAY);
  put_number(d, &d->keys, 4, type);
  put_number(d, &d->keys, 8, count);
}
void gguf_add_element(struct gguf_draft *d, const void *text, size_t n)
{
  put_string(d, &d->keys, text, n);
}
void gguf_add_number(struct gguf_draft *d, size_t bytes, uint64_t x)
{
  put_number(d, &d->keys, bytes, x);
}
void gguf_add_entry(struct gguf_draft *d, const struct gguf_entry *e)
{
  put_key(d, e->key.text, e->key.n, e->is_array ? GGUF_ARRAY : e->type);
  if (e->is_array) put_number(d, &d->keys, 4, e->type);
  if (e->is_array) put_number(d, &d->keys, 8, e->count);
  put(d, &d->keys, e->at, (size_t) (e->end - e->at));
}

@ The bytes of a tensor are a product, and the place of the next tensor is a sum; neither may wrap around. The last dimension is the row, which must be whole blocks. In the file the dimensions stand innermost first.

@<Add a tensor@>=
static bool tensor_bytes(unsigned type, uint32_t rank, const uint64_t *shape,
  uint64_t *bytes)
{
  const struct number_type *t = &number_types[type];
  uint64_t row = shape[rank - 1];
  bool fits = row % t->block == 0 && row / t->block <= UINT64_MAX / t->bytes;
  *bytes = row / t->block * t->bytes;
  for (uint32_t i = 0; i + 1 < rank && fits; i++) {
    fits = shape[i] == 0 || *bytes <= UINT64_MAX / shape[i];
    *bytes *= shape[i];
  }
  return fits;
}
void gguf_add_tensor(struct gguf_draft *d, const char *name, unsigned type,
  uint32_t rank, const uint64_t *shape)
{
  uint32_t number = 0;
  uint64_t bytes = 0;
  bool fits = gguf_type_number(type, &number)
    && tensor_bytes(type, rank, shape, &bytes)
    && bytes <= UINT64_MAX - GGUF_ALIGNMENT - d->next;
  if (d->ok && !fits) d->ok = error_say(d->why,
    "%s: cannot be a tensor of type %s", name, number_types[type].name);
  d->n_tensors++;
  put_string(d, &d->list, name, strlen(name));
  put_number(d, &d->list, 4, rank);
  for (uint32_t i = rank; i-- > 0;) put_number(d, &d->list, 8, shape[i]);
  put_number(d, &d->list, 4, number);
  put_number(d, &d->list, 8, d->next);
  d->next += bytes + (GGUF_ALIGNMENT - bytes % GGUF_ALIGNMENT) % GGUF_ALIGNMENT;
}

@* The file. \label{sec:ggufwriting}
The description has 24 bytes before the two lists, and zeros after them.

@<Write the description@>=
void gguf_write_padding(FILE *f, uint64_t bytes)
{
  static const unsigned char zeros[GGUF_ALIGNMENT] = @[{ 0 }@];
  fwrite(zeros, 1, (GGUF_ALIGNMENT - bytes % GGUF_ALIGNMENT) % GGUF_ALIGNMENT, f);
}
bool gguf_write_draft(struct gguf_draft *d, FILE *f)
{
  struct bytes head = @[{ .n = 0 }@];
  put(d, &head, "GGUF", 4);
  put_number(d, &head, 4, 3);
  put_number(d, &head, 8, d->n_tensors);
  put_number(d, &head, 8, d->n_keys);
  if (d->ok) {
    fwrite(head.byte, 1, head.n, f);
    if (d->keys.n > 0) fwrite(d->keys.byte, 1, d->keys.n, f);
    if (d->list.n > 0) fwrite(d->list.byte, 1, d->list.n, f);
    gguf_write_padding(f, (uint64_t) head.n + d->keys.n + d->list.n);
  }
  bytes_free(d->m, &head);
  return d->ok;
}
void gguf_draft_free(struct gguf_draft *d)
{
  bytes_free(d->m, &d->keys);
  bytes_free(d->m, &d->list);
}

@ The module follows the order of this text.

@(writing.c@>=
#include <string.h>
#include "functions/numbers.h"
#include "gguf/writing.h"
@;@#
@<Put numbers and strings into a list@>@;
@<Add a key@>@;
@<Add a tensor@>@;
@<Write the description@>@;
