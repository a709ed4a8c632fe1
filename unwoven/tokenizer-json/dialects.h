/* dialects.h -- a pattern for one library, as another must read it */
#ifndef INCIPIT_DIALECTS_H
#define INCIPIT_DIALECTS_H
#include "ground/ground.h"
#include "ground/buffers.h"

/* bytes of what is said of a pattern, with its end */
enum { DIALECTS_CAP = 80 };

/* appends to out what PCRE2 must read to find what Oniguruma finds by a pattern of n bytes; said, if it
   is not empty, is the part that has no such form, and *at the byte at which it begins; false: no memory */
bool dialects_translate(struct memory *m, const char *pattern, size_t n, struct bytes *out,
  char said[DIALECTS_CAP], size_t *at, struct error *why);
#endif
