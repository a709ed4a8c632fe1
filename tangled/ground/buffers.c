/* buffers.c -- made from chapters/00-foundations.w; change it there */

#include <string.h>
#include "ground/buffers.h"

/* <Append bytes, and free them> */
bool bytes_push(struct memory *m, struct bytes *b, const void *more,
  size_t n, struct error *why)
{
  if (n > b->room - b->n) {
    size_t room = 2 * (b->n + n) + 32;
    unsigned char *p = memory_resize(m, FOR_TOKENS, b->byte, room, 1, why);
    if (p == NULL) return false;
    b->byte = p, b->room = room;
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
  if (list->n == list->room) {
    size_t room = 2 * list->room + 32;
    uint32_t *p = memory_resize(m, FOR_TOKENS, list->id, room, sizeof *p, why);
    if (p == NULL) return false;
    list->id = p, list->room = room;
  }
  list->id[list->n++] = id;
  return true;
}

void ids_free(struct memory *m, struct ids *list)
{
  memory_free(m, list->id);
  *list = (struct ids) { NULL, 0, 0 };
}
