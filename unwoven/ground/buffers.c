/* buffers.c -- growing arrays of bytes and of ids, and bytes in hexadecimal.

   All zero is an empty array. A failure to grow leaves the array as it was; freeing
   twice does nothing. */

#include <string.h>
#include "ground/buffers.h"

/* The sum of two lengths of things that lie in memory cannot wrap around; that of a length
   that a caller has made up can, and is refused as the longest that there is. If the larger
   block is refused, the old one and everything in it is still there. */
bool bytes_push(struct memory *m, struct bytes *b, const void *more,
  size_t n, struct error *why)
{
  if (n == 0) return true;
  size_t all = n <= SIZE_MAX - b->n ? b->n + n : SIZE_MAX; /* which is refused */
  unsigned char *p = memory_reserve(m, MEMORY_TOKENS, b->byte, &b->cap, all, 34, 1,
    why);
  if (p == NULL) return false;
  b->byte = p;
  memcpy(p + b->n, more, n);
  b->n += n;
  return true;
}

/* A function that fails half-way can free all its arrays without asking which of them it had
   begun. */
void bytes_free(struct memory *m, struct bytes *b)
{
  memory_free(m, b->byte);
  *b = (struct bytes) { NULL, 0, 0 };
}

bool ids_push(struct memory *m, struct ids *list, uint32_t id,
  struct error *why)
{
  /* tested here, not in a call: the encoder pushes an id for every byte of a text */
  if (list->n == list->cap) {
    uint32_t *p = memory_reserve(m, MEMORY_TOKENS, list->id, &list->cap,
      list->n + 1, 32,
      sizeof *p, why);
    if (p == NULL) return false;
    list->id = p;
  }
  list->id[list->n++] = id;
  return true;
}

void ids_free(struct memory *m, struct ids *list)
{
  memory_free(m, list->id);
  *list = (struct ids) { NULL, 0, 0 };
}

/* not strtoul, which would take a blank or a sign */
int hex_digit(unsigned char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hex_byte(const void *two)
{
  const unsigned char *c = two;
  int high = hex_digit(c[0]), low = high < 0 ? -1 : hex_digit(c[1]);
  return low < 0 ? -1 : 16 * high + low;
}
