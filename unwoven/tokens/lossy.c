/* lossy.c -- text that may not be UTF-8: its runs, how it is shown, and the numbers of its characters.

   utf8_next says how long each part of a text is, and whether it is a character. No byte is skipped
   and none is looked at twice, whatever the text: the parts follow each other without a gap. */

#include "tokens/utf8.h"

/* A text without faults, which is nearly every text, comes out as a single run. */
size_t utf8_run(const unsigned char *byte, size_t n, bool *whole)
{
  enum utf8_state state;
  size_t at = utf8_next(byte, n, &state);
  *whole = state == UTF8_WHOLE;
  while (at < n) {
    size_t step = utf8_next(byte + at, n - at, &state);
    if ((state == UTF8_WHOLE) != *whole) break;
    at += step;
  }
  return at;
}

/* The result is for eyes only and must not be encoded again: a broken byte has become three other
   bytes. ef bf bd is U+FFFD. */
bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
  struct bytes *out, struct error *why)
{
  size_t start = out->n, step = 0;
  for (size_t at = 0; at < n; at += step) {
    enum utf8_state state;
    step = utf8_next(byte + at, n - at, &state);
    bool ok = state == UTF8_WHOLE ? bytes_push(m, out, byte + at,
      step, why) : bytes_push(m, out, "\xef\xbf\xbd", 3, why);
    if (ok) continue;
    out->n = start;
    return false;
  }
  return true;
}

/* The number is made of the free bits of the bytes: seven, five, four or three in the first, six in
   each of the others. */
uint32_t utf8_point(const unsigned char *byte, size_t length)
{
  static const unsigned char free_bits[5] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
  uint32_t point = byte[0] & free_bits[length];
  for (size_t k = 1; k < length; k++)
    point = point << 6 | (byte[k] & 0x3f);
  return point;
}
