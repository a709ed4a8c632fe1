/* utf8.c -- What begins at a byte, how much of an ending must wait, and a stream that
   holds it back.
   made from chapters/01-tokens.w; change it there

   At most three bytes ever wait, and only those that may still become a character:
   what can become none is released at once. All that is released, and what is
   flushed, are together exactly the bytes that came in. */

#include <string.h>
#include "tokens/utf8.h"

/* <Tell what begins at a byte> */

/* c0 and c1 could only begin a spelling that is too long, and f5 and above lie beyond
   Unicode: they begin nothing. */
static size_t announced_length(unsigned char b)
{
  if (b < 0x80) return 1;
  if (b < 0xc2) return 0;
  if (b < 0xe0) return 2;
  if (b < 0xf0) return 3;
  return b < 0xf5 ? 4 : 0;
}

/* The length of what is broken is that of the maximal subpart, as Unicode recommends
   it. Four leading bytes narrow what may follow: no overlong spellings, no
   surrogates, nothing beyond U+10FFFF. */
size_t utf8_next(const unsigned char *byte, size_t n,
  enum utf8_state *state)
{
  unsigned char b = byte[0], low = 0x80, high = 0xbf;
  size_t length = announced_length(b);
  /* <Narrow what the second byte may be> */
  if (b == 0xe0) low = 0xa0;
  if (b == 0xed) high = 0x9f;
  if (b == 0xf0) low = 0x90;
  if (b == 0xf4) high = 0x8f;
  *state = UTF8_BROKEN;
  if (length == 0) return 1;
  for (size_t k = 1; k < length; k++) {
    if (k == n) {
      *state = UTF8_UNFINISHED;
      return k;
    }
    if (byte[k] < low || byte[k] > high) return k;
    low = 0x80, high = 0xbf;
  }
  *state = UTF8_WHOLE;
  return length;
}

/* <Count the bytes that wait for more> */

/* The longest ending first; no leading byte is a continuation, so at most one of the
   three can begin a character. */
size_t utf8_held(const unsigned char *byte, size_t n)
{
  for (size_t k = n < 3 ? n : 3; k > 0; k--) {
    enum utf8_state state;
    if (utf8_next(byte + n - k, k, &state) == k
      && state == UTF8_UNFINISHED) return k;
  }
  return 0;
}

/* <Release what is certain, hold the rest> */

/* What went out before cannot begin a character, or it would have been held. If the
   second push is refused, the first is taken back: who tries again must not find the
   held bytes twice. */
bool stream_feed(struct memory *m, struct stream *s,
  const unsigned char *byte, size_t n, struct bytes *out,
  struct error *why)
{
  size_t start = out->n;
  if (!bytes_push(m, out, s->held, s->n, why)) return false;
  if (!bytes_push(m, out, byte, n, why)) {
    out->n = start;
    return false;
  }
  s->n = utf8_held(out->byte + start, out->n - start);
  out->n -= s->n;
  if (s->n > 0) memcpy(s->held, out->byte + out->n, s->n);
  return true;
}

/* Half a character goes out as it is: the text must encode to what the model wrote. */
bool stream_flush(struct memory *m, struct stream *s,
  struct bytes *out, struct error *why)
{
  if (!bytes_push(m, out, s->held, s->n, why)) return false;
  s->n = 0;
  return true;
}
