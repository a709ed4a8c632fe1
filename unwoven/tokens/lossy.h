/* lossy.h -- text that may not be UTF-8: cut into runs, and shown as well as it can be. Included by utf8.h. */

#ifndef INCIPIT_LOSSY_H
#define INCIPIT_LOSSY_H
#include "ground/buffers.h"

/* the length of the longest run, from the first of n >= 1 bytes on, of nothing but
   whole characters, or of nothing that is one */
size_t utf8_run(const unsigned char *byte, size_t n, bool *whole);

/* appends the text, one U+FFFD per maximal subpart; on failure out is as it was */
bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
  struct bytes *out, struct error *why);

/* the number of the whole character of length bytes that begins here */
uint32_t utf8_point(const unsigned char *byte, size_t length);
#endif
