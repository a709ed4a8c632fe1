/* buffers.h -- growing arrays of bytes and of ids, and bytes in hexadecimal.

   All zero is an empty array. It can be used again for the next text by setting its n to zero;
   its block stays. Files of several formats write a byte as two hexadecimal digits. */

#ifndef INCIPIT_BUFFERS_H
#define INCIPIT_BUFFERS_H
#include "ground/ground.h"

/* n bytes in a block of cap, for tokens; all zero is empty */
struct bytes { unsigned char *byte; size_t n, cap; };

/* appends n bytes (more not inside b); on failure b is as it was */
bool bytes_push(struct memory *m, struct bytes *b, const void *more,
  size_t n, struct error *why);

/* frees the block and empties the array */
void bytes_free(struct memory *m, struct bytes *b);

/* a growing array of ids, like struct bytes; all zero is empty */
struct ids { uint32_t *id; size_t n, cap; };

/* appends one id; on failure the array is as it was */
bool ids_push(struct memory *m, struct ids *list, uint32_t id,
  struct error *why);

/* frees the block and empties the array */
void ids_free(struct memory *m, struct ids *list);

/* the value of a hexadecimal digit, capital or not; -1 for any other byte */
int hex_digit(unsigned char c);

/* the value of two; -1 if one is not a digit; the second is not read if the first is
   not a digit */
int hex_byte(const void *two);
#endif
