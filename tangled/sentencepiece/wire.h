/* wire.h -- made from workshop/05-sentencepiece.w; change it there */

#ifndef INCIPIT_WIRE_H
#define INCIPIT_WIRE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* <A message> */

/* n bytes from at on; n may be 0 */
struct wire { const unsigned char *at; size_t n; };

/* number for the forms 0 and 5, inside for 2 */
struct wire_field { uint64_t name, number; unsigned form;
  struct wire inside; };

/* the next of w->n > 0 bytes; false if they are not a field */
bool wire_next(struct wire *w, struct wire_field *f);
#endif
