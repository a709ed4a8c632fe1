/* wire.c -- Reading a protocol buffer, field by field.
   made from workshop/05-sentencepiece.w; change it there

   A length is compared with what is left before it is followed, and a field takes at
   least a byte, so reading ends on any input. */

#include "sentencepiece/wire.h"

/* <Read a message> */

/* Seven bits a byte, the lowest first; a tenth byte is the last that can matter. */
static bool read_number(struct wire *w, uint64_t *number)
{
  *number = 0;
  for (unsigned shift = 0; w->n > 0 && shift < 64; shift += 7) {
    unsigned char byte = *w->at++;
    w->n--;
    *number |= (uint64_t) (byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/* A field takes at least a byte, so reading ends on any input. */
bool wire_next(struct wire *w, struct wire_field *f)
{
  uint64_t n;
  if (!read_number(w, &f->name)) return false;
  f->form = (unsigned) (f->name & 7);
  f->name >>= 3;
  f->number = 0;
  f->inside = (struct wire) { w->at, 0 };
  if (f->form == 0) return read_number(w, &f->number);
  /* no other forms exist: 3 and 4 are groups, long out of use */
  if (f->form == 1 || f->form == 5) n = f->form == 1 ? 8 : 4;
  else if (f->form != 2 || !read_number(w, &n)) return false;
  if (n > w->n) return false;
  f->inside = (struct wire) { w->at, (size_t) n };
  w->at += n, w->n -= (size_t) n;
  if (f->form == 5) for (int i = 3; i >= 0; i--)
    f->number = f->number << 8 | f->inside.at[i];
  return true;
}
