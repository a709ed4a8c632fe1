/* draft.c -- the two lists of a draft: keys with their values, and bytes for the list of tensors.

   Both lists are in memory as they will be in the file, so writing them is a copy. After a failure
   nothing more is appended, and the first message stays. */

#include <string.h>
#include "functions/numbers.h"
#include "gguf/inside.h"

void gguf_put(struct gguf_draft *d, struct bytes *list, const void *byte, size_t n)
{
  d->ok = d->ok && (n == 0 || bytes_push(d->m, list, byte, n, d->why));
}

/* Lowest byte first, as everywhere in the format, whatever the machine does. */
void gguf_put_number(struct gguf_draft *d, struct bytes *list, size_t n, uint64_t x)
{
  unsigned char byte[8];
  for (size_t i = 0; i < n; i++) byte[i] = (unsigned char) (x >> 8 * i);
  gguf_put(d, list, byte, n);
}

void gguf_put_string(struct gguf_draft *d, struct bytes *list, const void *text, size_t n)
{
  gguf_put_number(d, list, 8, n);
  gguf_put(d, list, text, n);
}

static void put_key(struct gguf_draft *d, const char *key, size_t n,
  enum gguf_type type)
{
  d->n_keys++;
  gguf_put_string(d, &d->keys, key, n);
  gguf_put_number(d, &d->keys, 4, type);
}

void gguf_add_count(struct gguf_draft *d, const char *key, uint32_t n)
{
  put_key(d, key, strlen(key), GGUF_U32);
  gguf_put_number(d, &d->keys, 4, n);
}

void gguf_add_real(struct gguf_draft *d, const char *key, double x)
{
  put_key(d, key, strlen(key), GGUF_F32);
  gguf_put_number(d, &d->keys, 4, num_bits32((float) x));
}

void gguf_add_flag(struct gguf_draft *d, const char *key, bool flag)
{
  put_key(d, key, strlen(key), GGUF_BOOL);
  gguf_put_number(d, &d->keys, 1, flag);
}

void gguf_add_text(struct gguf_draft *d, const char *key, const void *text, size_t n)
{
  put_key(d, key, strlen(key), GGUF_STRING);
  gguf_put_string(d, &d->keys, text, n);
}

/* Before an array come two types: array, and the type of its elements. */
void gguf_add_array(struct gguf_draft *d, const char *key, enum gguf_type type,
  uint64_t count)
{
  put_key(d, key, strlen(key), GGUF_ARRAY);
  gguf_put_number(d, &d->keys, 4, type);
  gguf_put_number(d, &d->keys, 8, count);
}

void gguf_add_element(struct gguf_draft *d, const void *text, size_t n)
{
  gguf_put_string(d, &d->keys, text, n);
}

void gguf_add_number(struct gguf_draft *d, size_t bytes, uint64_t x)
{
  gguf_put_number(d, &d->keys, bytes, x);
}

/* The value is copied as it lies in the other file: we need not know what it means. */
void gguf_add_entry(struct gguf_draft *d, const struct gguf_entry *e)
{
  put_key(d, e->key.text, e->key.n, e->is_array ? GGUF_ARRAY : e->type);
  if (e->is_array) gguf_put_number(d, &d->keys, 4, e->type);
  if (e->is_array) gguf_put_number(d, &d->keys, 8, e->count);
  gguf_put(d, &d->keys, e->at, (size_t) (e->end - e->at));
}

void gguf_draft_free(struct gguf_draft *d)
{
  bytes_free(d->m, &d->keys);
  bytes_free(d->m, &d->list);
}
