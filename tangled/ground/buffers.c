/* buffers.c -- made from chapters/00-foundations.w; change it there */

#include <string.h>
#include "ground/buffers.h"

/* <Append bytes, and free them> */
bool bytes_push(struct memory *m, struct bytes *b, const void *more,
  size_t n, struct error *why)
{
  if (n > b->cap - b->n) {
    size_t cap = 2 * (b->n + n) + 32;
    unsigned char *p = memory_resize(m, MEMORY_TOKENS, b->byte, cap, 1, why);
    if (p == NULL) return false;
    b->byte = p, b->cap = cap;
  }
  if (n > 0) memcpy(b->byte + b->n, more, n);
  b->n += n;
  return true;
}

void bytes_free(struct memory *m, struct bytes *b)
{
  memory_free(m, b->byte);
  *b = (struct bytes) { NULL, 0, 0 };
}

/* <Append an id, and free the row> */
bool ids_push(struct memory *m, struct ids *list, uint32_t id,
  struct error *why)
{
  if (list->n == list->cap) {
    size_t cap = 2 * list->cap + 32;
    uint32_t *p = memory_resize(m, MEMORY_TOKENS, list->id, cap, sizeof *p, why);
    if (p == NULL) return false;
    list->id = p, list->cap = cap;
  }
  list->id[list->n++] = id;
  return true;
}

void ids_free(struct memory *m, struct ids *list)
{
  memory_free(m, list->id);
  *list = (struct ids) { NULL, 0, 0 };
}
