/* writing.c -- The list of tensors, and the description as it goes to the file.
   made from workshop/08-gguf.w; change it there

   Sizes are products and places are sums: both are checked before they are used,
   although here they are our own. */

#include <string.h>
#include "gguf/inside.h"

/* <Add a tensor> */
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
  gguf_put_string(d, &d->list, name, strlen(name));
  gguf_put_number(d, &d->list, 4, rank);
  for (uint32_t i = rank; i-- > 0;) gguf_put_number(d, &d->list, 8, shape[i]);
  gguf_put_number(d, &d->list, 4, number);
  gguf_put_number(d, &d->list, 8, d->next);
  d->next += bytes + (GGUF_ALIGNMENT - bytes % GGUF_ALIGNMENT) % GGUF_ALIGNMENT;
}

/* <Write the description> */
void gguf_write_padding(FILE *f, uint64_t bytes)
{
  static const unsigned char zeros[GGUF_ALIGNMENT] = { 0 };
  fwrite(zeros, 1, (GGUF_ALIGNMENT - bytes % GGUF_ALIGNMENT) % GGUF_ALIGNMENT, f);
}

bool gguf_write_draft(struct gguf_draft *d, FILE *f)
{
  struct bytes head = { .n = 0 };
  gguf_put(d, &head, "GGUF", 4);
  gguf_put_number(d, &head, 4, 3);
  gguf_put_number(d, &head, 8, d->n_tensors);
  gguf_put_number(d, &head, 8, d->n_keys);
  if (d->ok) {
    fwrite(head.byte, 1, head.n, f);
    if (d->keys.n > 0) fwrite(d->keys.byte, 1, d->keys.n, f);
    if (d->list.n > 0) fwrite(d->list.byte, 1, d->list.n, f);
    gguf_write_padding(f, (uint64_t) head.n + d->keys.n + d->list.n);
  }
  bytes_free(d->m, &head);
  return d->ok;
}
