/* trim.c -- white space, as the published programs strip it from both ends of a turn. */

#include "templates/inside.h"
#include "tokens/utf8.h"

/* What Python's strip removes: Unicode's white space and four more characters, 1c to 1f,
   the separators at the end of ASCII's control characters, which have separated nothing
   since the days of paper tape. A byte that does not form a character is not white. */
size_t prompt_blank(const unsigned char *text, size_t n)
{
  enum utf8_state state;
  size_t k = utf8_next(text, n, &state);
  uint32_t c = state == UTF8_WHOLE ? utf8_point(text, k) : 'x';
  bool blank = (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20)
    || c == 0x85 || c == 0xa0 || c == 0x1680
    || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029
    || c == 0x202f || c == 0x205f || c == 0x3000;
  return blank ? k : 0;
}

/* White space goes as far back as from, whether it came from a speaker or from the
   template. Parts that are left empty are removed. */
void prompt_trim_end(struct rendered_prompt *s, size_t from)
{
  unsigned char *c = s->text.byte;
  while (s->text.n > from) {
    size_t k = s->text.n - 1;
    while (k > from && (c[k] & 0xc0) == 0x80) k--;
    if (prompt_blank(c + k, s->text.n - k) != s->text.n - k) break;
    s->text.n = k;
  }
  while (s->n > 0 && s->part[s->n - 1].at >= s->text.n) s->n--;
  if (s->n > 0 && s->part[s->n - 1].at + s->part[s->n - 1].n > s->text.n)
    s->part[s->n - 1].n = s->text.n - s->part[s->n - 1].at;
}
