/* utf8.h -- made from chapters/01-tokens.w; change it there */

#ifndef INCIPIT_UTF8_H
#define INCIPIT_UTF8_H
#include "ground/buffers.h"

/* a character; a maximal subpart of none; the beginning of one, cut off */
enum utf8_state { UTF8_WHOLE, UTF8_BROKEN, UTF8_UNFINISHED };

/* how many of the n >=1 bytes belong to what begins at the first of them, 1 to 4;
   Unicode 15, section 3.9, tables 3-7 and 3-8 */
size_t utf8_next(const unsigned char *byte, size_t n,
  enum utf8_state *state);

/* how many bytes at the end are an unfinished character, 0 to 3 */
size_t utf8_held(const unsigned char *byte, size_t n);

/* the n bytes that are held back; all zero is a stream that begins */
struct stream { unsigned char held[3]; size_t n; };

/* appends to out what may be released now that n more bytes are known; on failure s
   and out are as they were */
bool stream_feed(struct memory *m, struct stream *s,
  const unsigned char *byte, size_t n, struct bytes *out,
  struct error *why);

/* appends what is held, raw, and empties the stream */
bool stream_flush(struct memory *m, struct stream *s,
  struct bytes *out, struct error *why);
#include "tokens/lossy.h"
#endif
