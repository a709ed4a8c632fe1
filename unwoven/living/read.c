/* read.c -- the reader of what a page sends: one flat object.

   It is as strict as the grammar of JSON, since a page that sends something else has a mistake that its author
   wants to hear of: no number like 01, no character below the blank in a string, no half of a surrogate pair.
   A name has at most 31 bytes, as no setting is longer; a text has at most as many as the page has sent. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "living/json.h"

static bool refuse(const struct page_reader *r, const char *wanted)
{
  char found[24] = "the end";
  if (r->at < r->end) snprintf(found, sizeof found, "byte 0x%02x", (unsigned) (unsigned char) *r->at);
  return error_say(r->why, "settings: byte %zu is %s; wanted: %s", (size_t) (r->at - r->from), found, wanted);
}

static void skip_space(struct page_reader *r)
{
  while (r->at < r->end && *r->at != '\0' && strchr(" \t\n\r", *r->at) != NULL) r->at++;
}

static bool take(struct page_reader *r, char c)
{
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

/* four hexadecimal digits; the reader stands behind them */
static bool unit(struct page_reader *r, uint32_t *u)
{
  *u = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    int digit = r->at < r->end ? hex_digit((unsigned char) *r->at) : -1;
    if (digit < 0) return refuse(r, "a hexadecimal digit");
    *u = *u << 4 | (uint32_t) digit;
  }
  return true;
}

/* the bytes of a character in UTF-8 */
static size_t spell(uint32_t c, unsigned char to[4])
{
  static const unsigned char first[5] = { 0, 0, 0xc0, 0xe0, 0xf0 };
  size_t n = 1;
  if (c >= 0x80) n = c < 0x800 ? 2 : 3;
  if (c >= 0x10000) n = 4;
  for (size_t i = n - 1; i > 0; i--, c >>= 6) to[i] = (unsigned char) (0x80 | (c & 0x3f));
  to[0] = (unsigned char) (first[n] | c);
  return n;
}

/* after a backslash and a u: a character, or the first of a pair that makes one */
static bool escaped_unit(struct page_reader *r, struct bytes *to)
{
  unsigned char byte[4];
  uint32_t u, low;
  if (!unit(r, &u)) return false;
  if (u >= 0xdc00 && u < 0xe000) return refuse(r, "no second half of a pair without the first");
  if (u >= 0xd800 && u < 0xdc00) {
    if (!take(r, '\\') || !take(r, 'u')) return refuse(r, "the second half of a pair");
    if (!unit(r, &low)) return false;
    if (low < 0xdc00 || low >= 0xe000) return refuse(r, "the second half of a pair before it");
    u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
  }
  return bytes_push(r->m, to, byte, spell(u, byte), r->why);
}

static bool escaped(struct page_reader *r, struct bytes *to)
{
  static const char letter[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
  if (take(r, 'u')) return escaped_unit(r, to);
  const char *found = r->at < r->end && *r->at != '\0' ? strchr(letter, *r->at) : NULL;
  if (found == NULL) return refuse(r, "a letter that may stand behind a backslash");
  r->at++;
  return bytes_push(r->m, to, &means[found - letter], 1, r->why);
}

/* The bytes of a character need not be looked at: what is no UTF-8 is spelt byte by byte by the tokenizer. */
static bool string(struct page_reader *r, struct bytes *to)
{
  to->n = 0;
  if (!take(r, '"')) return refuse(r, "a quotation mark");
  while (!take(r, '"')) {
    if (r->at == r->end || (unsigned char) *r->at < 0x20) return refuse(r, "a character or a quotation mark");
    if (take(r, '\\') ? !escaped(r, to) : !bytes_push(r->m, to, r->at++, 1, r->why)) return false;
  }
  return true;
}

static size_t digits(struct page_reader *r)
{
  const char *from = r->at;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
  return (size_t) (r->at - from);
}

/* The grammar first, because strtod takes more than JSON has: blanks, hexadecimal, nan. It wants a zero byte
   behind the number, and the page's text has none. */
static bool number(struct page_reader *r, double *x)
{
  char text[64] = "";
  const char *from = r->at;
  take(r, '-');
  if (!take(r, '0') && digits(r) == 0) return refuse(r, "a string, a number, true or false");
  if (take(r, '.') && digits(r) == 0) return refuse(r, "a digit");
  if (take(r, 'e') || take(r, 'E')) {
    if (!take(r, '-')) take(r, '+');
    if (digits(r) == 0) return refuse(r, "a digit");
  }
  if ((size_t) (r->at - from) >= sizeof text) return refuse(r, "a number of fewer than 64 characters");
  memcpy(text, from, (size_t) (r->at - from));
  *x = strtod(text, NULL);
  return *x - *x == 0 || refuse(r, "a number that a double can hold");
}

static bool word(struct page_reader *r, const char *text)
{
  size_t n = strlen(text);
  if ((size_t) (r->end - r->at) < n || memcmp(r->at, text, n) != 0) return false;
  r->at += n;
  return true;
}

static bool value(struct page_reader *r, struct page_field *f)
{
  if (r->at < r->end && *r->at == '"') {
    f->kind = PAGE_TEXT;
    return string(r, &f->text);
  }
  f->kind = PAGE_FLAG, f->flag = word(r, "true");
  if (f->flag || word(r, "false")) return true;
  f->kind = PAGE_NUMBER;
  return number(r, &f->number);
}

bool page_next(struct page_reader *r, struct page_field *f, bool *more)
{
  *more = true;
  skip_space(r);
  if (!r->begun && !take(r, '{')) return refuse(r, "a brace");
  skip_space(r);
  if (take(r, '}')) {
    skip_space(r), *more = false;
    return r->at == r->end || refuse(r, "the end");
  }
  if (r->begun && !take(r, ',')) return refuse(r, "a comma or a brace");
  r->begun = true;
  skip_space(r);
  if (!string(r, &f->text)) return false;
  if (f->text.n >= sizeof f->name) return refuse(r, "a name of fewer than 32 bytes before this");
  memset(f->name, 0, sizeof f->name);
  if (f->text.n > 0) memcpy(f->name, f->text.byte, f->text.n);
  skip_space(r);
  if (!take(r, ':')) return refuse(r, "a colon");
  skip_space(r);
  return value(r, f);
}
