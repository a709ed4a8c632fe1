/* utf8.c -- made from chapters/tokens.w; change it there */

/* 1.23  utf8.c */

#include <string.h>
#include "tokens/utf8.h"

/* 1.8  Append bytes, and return them */

bool bytes_push(struct memory *m, struct bytes *b, const void *more,
                size_t n, struct error *why)
{
  if (n > b->room - b->n) {
    size_t room = 2 * (b->n + n) + 32;
    unsigned char *p = memory_grow(m, FOR_TOKENS, b->byte, b->room,
                                   room, 1, why);
    if (p == NULL)
      return false;
    b->byte = p, b->room = room;
  }
  if (n > 0)
    memcpy(b->byte + b->n, more, n);
  b->n += n;
  return true;
}

/* 1.9  Append bytes, and return them */

void bytes_free(struct memory *m, struct bytes *b)
{
  memory_give(m, FOR_TOKENS, b->byte, b->room, 1);
  *b = (struct bytes) { NULL, 0, 0 };
}

/* 1.11  Tell what begins at a byte */

size_t utf8_next(const unsigned char *byte, size_t n, enum utf8_state *state)
{
  unsigned char b = byte[0], low = 0x80, high = 0xbf;
  size_t length = b < 0x80 ? 1 : b < 0xc2 ? 0 : b < 0xe0 ? 2
      : b < 0xf0 ? 3 : b < 0xf5 ? 4 : 0;

/* 1.13  Narrow what the second byte may be */

  if (b == 0xe0)
    low = 0xa0;
  if (b == 0xed)
    high = 0x9f;
  if (b == 0xf0)
    low = 0x90;
  if (b == 0xf4)
    high = 0x8f;

  *state = UTF8_BROKEN;
  if (length == 0)
    return 1;

/* 1.12  Go on while each byte may stand where it stands */

  for (size_t k = 1; k < length; k++) {
    if (k == n) {
      *state = UTF8_UNFINISHED;
      return k;
    }
    if (byte[k] < low || byte[k] > high)
      return k;
    low = 0x80, high = 0xbf;
  }

  *state = UTF8_WHOLE;
  return length;
}

/* 1.15  Cut off a run of characters, or of what is none */

size_t utf8_run(const unsigned char *byte, size_t n, bool *whole)
{
  enum utf8_state state;
  size_t at = utf8_next(byte, n, &state);
  *whole = state == UTF8_WHOLE;
  while (at < n) {
    size_t step = utf8_next(byte + at, n - at, &state);
    if ((state == UTF8_WHOLE) != *whole)
      break;
    at += step;
  }
  return at;
}

/* 1.16  Replace what is no character */

bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
                struct bytes *out, struct error *why)
{
  size_t start = out->n, step = 0;
  for (size_t at = 0; at < n; at += step) {
    enum utf8_state state;
    step = utf8_next(byte + at, n - at, &state);
    bool ok = state == UTF8_WHOLE ? bytes_push(m, out, byte + at,
                                               step, why) : bytes_push(m, out,
                                                                       "\xef\xbf\xbd",
                                                                       3, why);
    if (ok)
      continue;
    out->n = start;
    return false;
  }
  return true;
}

/* 1.17  Count the bytes that wait for more */

size_t utf8_held(const unsigned char *byte, size_t n)
{
  for (size_t k = n < 3 ? n : 3; k > 0; k--) {
    enum utf8_state state;
    if (utf8_next(byte + n - k, k, &state) == k && state == UTF8_UNFINISHED)
      return k;
  }
  return 0;
}

/* 1.18  Put a character's number together */

uint32_t utf8_point(const unsigned char *byte, size_t length)
{
  static const unsigned char free_bits[5] = { 0, 0x7f, 0x1f, 0x0f,
    0x07
  };
  uint32_t point = byte[0] & free_bits[length];
  for (size_t k = 1; k < length; k++)
    point = point << 6 | (byte[k] & 0x3f);
  return point;
}

/* 1.20  Release what is certain, hold the rest */

bool stream_feed(struct memory *m, struct stream *s,
                 const unsigned char *byte, size_t n, struct bytes *out,
                 struct error *why)
{
  size_t start = out->n;
  if (!bytes_push(m, out, s->held, s->n, why))
    return false;
  if (!bytes_push(m, out, byte, n, why)) {
    out->n = start;
    return false;
  }
  s->n = utf8_held(out->byte + start, out->n - start);
  out->n -= s->n;
  if (s->n > 0)
    memcpy(s->held, out->byte + out->n, s->n);
  return true;
}

/* 1.21  Release what is certain, hold the rest */

bool stream_flush(struct memory *m, struct stream *s,
                  struct bytes *out, struct error *why)
{
  if (!bytes_push(m, out, s->held, s->n, why))
    return false;
  s->n = 0;
  return true;
}
