/* utf8.c -- made from chapters/01-tokens.w; change it there */

#include <string.h>
#include "tokens/utf8.h"

/* <Tell what begins at a byte> */
static size_t announced_length(unsigned char b)
{
  if (b < 0x80) return 1;
  if (b < 0xc2) return 0;
  if (b < 0xe0) return 2;
  if (b < 0xf0) return 3;
  return b < 0xf5 ? 4 : 0;
}

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

bool stream_flush(struct memory *m, struct stream *s,
  struct bytes *out, struct error *why)
{
  if (!bytes_push(m, out, s->held, s->n, why)) return false;
  s->n = 0;
  return true;
}
