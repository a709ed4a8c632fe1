/* stream.c -- UTF-8, whole and in pieces, against a reading of Unicode's tables 3-7 and 3-8 that
 * shares nothing with ours. */
#include "fuzz.h"
#include "tokens/utf8.h"

/* is this exactly one character?  By its number: long enough for it, no surrogate, below 0x110000
 */
static bool character(const uint8_t *b, size_t n)
{
  static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
  if (n == 1) return b[0] < 0x80;
  uint32_t point = n == 2 ? b[0] - 0xc0u : n == 3 ? b[0] - 0xe0u : b[0] - 0xf0u;
  if (n > 4 || b[0] < 0xc0 || point >= (n == 2 ? 0x20u : n == 3 ? 0x10u : 0x08u)) return false;
  for (size_t i = 1; i < n; i++) {
    if (b[i] >> 6 != 2) return false;
    point = point * 64 + b[i] - 0x80;
  }
  return point >= least[n] && point < 0x110000 && (point < 0xd800 || point > 0xdfff);
}
/* could these bytes become one? */
static bool beginning(const uint8_t *b, size_t n)
{
  static const uint8_t fill[] = { 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf };
  for (size_t length = n + 1; length <= 4; length++)
    for (size_t k = 0; k < sizeof fill; k++) {
      uint8_t whole[4];
      memcpy(whole, b, n), memset(whole + n, fill[k], 4 - n);
      if (character(whole, length)) return true;
    }
  return false;
}
static size_t naive(const uint8_t *b, size_t n, enum utf8_state *state)
{
  for (size_t k = 1; k <= 4 && k <= n; k++)
    if (character(b, k)) {
      *state = UTF8_WHOLE;
      return k;
    }
  for (size_t k = n < 3 ? n : 3; k > 0; k--)
    if (beginning(b, k)) {
      *state = k == n ? UTF8_UNFINISHED : UTF8_BROKEN;
      return k;
    }
  *state = UTF8_BROKEN;
  return 1;
}

FUZZ(stream)
{
  if (size == 0) return 0;
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct bytes lossy = { NULL, 0, 0 }, want = { NULL, 0, 0 }, out = { NULL, 0, 0 };
  struct stream s = { .n = 0 };
  size_t step = data[0] % 7 + 1, held = 0;
  data++, size--;
  for (size_t at = 0, n; at < size; at += n) {
    enum utf8_state a, b;
    n = naive(data + at, size - at, &a);
    must(utf8_next(data + at, size - at, &b) == n && a == b);
    must(bytes_push(&m, &want, a == UTF8_WHOLE ? (const char *) data + at : "\xef\xbf\xbd",
      a == UTF8_WHOLE ? n : 3, &why));
    held = a == UTF8_UNFINISHED ? n : 0;
    bool whole;
    size_t run = utf8_run(data + at, size - at, &whole);
    must(run >= 1 && run <= size - at && whole == (a == UTF8_WHOLE));
  }
  must(utf8_lossy(&m, data, size, &lossy, &why) && lossy.n == want.n
    && (want.n == 0 || memcmp(lossy.byte, want.byte, want.n) == 0));
  must(utf8_held(data, size) == held);
  for (size_t at = 0; at < size; at += step) {
    size_t n = size - at < step ? size - at : step;
    uint8_t *part = malloc(n); /* in a block of its own size */
    memcpy(part, data + at, n);
    must(stream_feed(&m, &s, part, n, &out, &why) && s.n <= 3 && out.n + s.n == at + n);
    must(s.n == 0 || beginning(s.held, s.n));
    free(part);
  }
  must(stream_flush(&m, &s, &out, &why) && s.n == 0 && out.n == size
    && (size == 0 || memcmp(out.byte, data, size) == 0));
  bytes_free(&m, &lossy), bytes_free(&m, &want), bytes_free(&m, &out);
  must(m.all.live == 0);
  return 0;
}
