/* utf8.h -- made from chapters/tokens.w; change it there */

/* 1.22  utf8.h */

#ifndef INCIPIT_UTF8_H
#define INCIPIT_UTF8_H
#include "ground/ground.h"

/* 1.7  A row of bytes that grows */

struct bytes {
  unsigned char *byte;
  size_t n, room;
};
/* n bytes in a block of room, for tokens; all zero is empty */

bool bytes_push(struct memory *m, struct bytes *b, const void *more,
                size_t n, struct error *why);
/* appends n bytes (more not inside b); on failure b is as it was */

void bytes_free(struct memory *m, struct bytes *b);
/* returns the block and empties the row */

/* 1.10  What begins at a byte */

enum utf8_state { UTF8_WHOLE, UTF8_BROKEN, UTF8_UNFINISHED };
/* a character; a maximal subpart of none; the beginning of one, cut off */

size_t utf8_next(const unsigned char *byte, size_t n, enum utf8_state *state);
/* how many of the n >= 1 bytes belong to what begins at the first of them, 1
 * to 4; Unicode 15, section 3.9, tables 3-7 and 3-8 */

/* 1.14  What begins at a byte */

size_t utf8_run(const unsigned char *byte, size_t n, bool *whole);
/* the length of the longest run, from the first of n >= 1 bytes on, of
 * nothing but whole characters, or of nothing that is one */

bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
                struct bytes *out, struct error *why);
/* appends the text, one U+FFFD per maximal subpart; on failure out is as it
 * was */

size_t utf8_held(const unsigned char *byte, size_t n);
/* how many bytes at the end are an unfinished character, 0 to 3 */

uint32_t utf8_point(const unsigned char *byte, size_t length);
/* the number of the whole character of length bytes that begins here */

/* 1.19  Bytes on their way to a reader */

struct stream {
  unsigned char held[3];
  size_t n;
};
/* the n bytes that are held back; all zero is a stream that begins */

bool stream_feed(struct memory *m, struct stream *s,
                 const unsigned char *byte, size_t n, struct bytes *out,
                 struct error *why);
/* appends to out what may be released now that n more bytes are known; on
 * failure s and out are as they were */

bool stream_flush(struct memory *m, struct stream *s,
                  struct bytes *out, struct error *why);
/* appends what is held, raw, and empties the stream */

#endif
