/* stops.c -- stop strings over a text in pieces, against the sentence read with plain loops; and
 * the escapes of the command line. */
#include "fuzz.h"
#include "stopping/stopping.h"

enum { STRINGS = 7 };
static bool ends_with(const uint8_t *b, size_t n, const struct stop_string *s, size_t k)
{
  return k <= n && memcmp(b + n - k, s->byte, k) == 0;
}
/* the escapes, read a second time: how many bytes come of them, or -1 */
static long plain(const char *s, uint8_t *out)
{
  long n = 0;
  while (*s) {
    unsigned v;
    char one[3] = { s[0] == '\\' && s[1] == 'x' ? s[2] : 0, 0, 0 };
    one[1] = one[0] ? s[3] : 0;
    if (*s != '\\')
      out[n++] = (uint8_t) *s++;
    else if (strchr("nt\\", s[1]) && s[1])
      out[n++] = (uint8_t) (s[1] == 'n' ? 10 : s[1] == 't' ? 9 : 92), s += 2;
    else if (strlen(one) == 2 && strspn(one, "0123456789abcdefABCDEF") == 2)
      sscanf(one, "%2x", &v), out[n++] = (uint8_t) v, s += 4;
    else
      return -1;
  }
  return n;
}
static void escapes(const uint8_t *data, size_t size)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct bytes out = { NULL, 0, 0 };
  char *text = malloc(size + 1);
  uint8_t *want = malloc(size + 1);
  memcpy(text, data, size), text[size] = 0;
  long n = plain(text, want);
  must(stops_unescape(&m, text, &out, &why) == (n >= 0));
  must(n < 0 ? out.n == 0 : out.n == (size_t) n && (n == 0 || memcmp(out.byte, want, out.n) == 0));
  bytes_free(&m, &out), free(text), free(want);
  must(m.all.live == 0);
}

FUZZ(stops)
{
  if (size < 4) return 0;
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct stop_string list[STRINGS];
  bool include = data[0] & 1;
  size_t min_tokens = data[1] % 9, step = data[2] % 5 + 1, n = data[3] % (STRINGS + 1), total = 0,
         tokens = 0, at = 0, cut = 0;
  const struct stop_string *found = NULL;
  data += 4, size -= 4;
  for (size_t i = 0; i < n; i++) {
    size_t length = size > 0 ? data[0] % 32 : 0;
    if (size > 0) data++, size--;
    length = length < size ? length : size;
    list[i] = (struct stop_string){ data, length }, data += length, size -= length, total += length;
    if (length == 0) {
      struct stops s;
      must(!stops_open(&s, &m, list, i + 1, &why)), stops_close(&s), escapes(data, size);
      must(m.all.live == 0);
      return 0;
    }
  }
  struct stops s;
  must(
    stops_open(&s, &m, list, n, &why) && s.n_nodes <= total + 1 && m.all.peak <= 40 * total + 4096);
  struct text_stream o = {
    .m = &m, .until = &s, .include_stop = include, .min_tokens = min_tokens
  };
  while (at < size && found == NULL) {
    size_t k = (step + at * step) % 7, held = 0; /* pieces of many lengths, none among them */
    k = k < size - at ? k : size - at;
    if (k == 0 && tokens > 64) k = 1;
    uint8_t *piece = malloc(k ? k : 1);
    memcpy(piece, data + at, k);
    must(text_stream_bytes(&o, piece, k, &why) && o.tokens == ++tokens);
    free(piece);
    for (size_t end = at + 1; end <= at + k && found == NULL && tokens > min_tokens; end++)
      for (size_t i = 0; i < n; i++)
        if (ends_with(data, end, &list[i], list[i].n) && (found == NULL || list[i].n > found->n))
          found = &list[i], cut = include ? end : end - list[i].n;
    at += k;
    if (found != NULL) break;
    for (size_t i = 0; i < n && !include; i++)
      for (size_t l = held + 1; l < list[i].n; l++)
        if (ends_with(data, at, &list[i], l)) held = l;
    size_t half = utf8_held(data, at);
    must(o.found == NULL && o.text.n == at && o.released == at - (held > half ? held : half));
  }
  must((o.found != NULL) == (found != NULL));
  if (found != NULL)
    must(o.found->n == found->n && memcmp(o.found->byte, found->byte, found->n) == 0
      && o.text.n == cut && o.released == cut);
  must(o.text.n == 0 || memcmp(o.text.byte, data, o.text.n) == 0);
  text_stream_end(&o);
  must(o.released == o.text.n);
  text_stream_close(&o), stops_close(&s);
  must(m.all.live == 0);
  return 0;
}
