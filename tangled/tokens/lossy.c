/* lossy.c -- made from workshop/23-tokens.w; change it there */

#include "tokens/utf8.h"

/* <Cut off a run> */
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

/* <Replace what is not a character> */
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

/* <The number of a character> */
uint32_t utf8_point(const unsigned char *byte, size_t length)
{
  static const unsigned char free_bits[5] = { 0, 0x7f, 0x1f, 0x0f,
    0x07 };
  uint32_t point = byte[0] & free_bits[length];
  for (size_t k = 1; k < length; k++)
    point = point << 6 | (byte[k] & 0x3f);
  return point;
}
