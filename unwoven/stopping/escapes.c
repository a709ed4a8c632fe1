/* escapes.c -- stop strings as a person types them.

   Stop strings are typed on a command line, and not every byte has a key. So the command writes
   them with escapes: \n for a line end, \t for a tab, \x and two hexadecimal digits for any byte,
   even one that is no character, and \\ for a backslash. Anything else after a backslash is an
   error, because it might get a meaning later. What is appended is appended whole or not at all. */

#include "stopping/stopping.h"

/* One escape. p points after the backslash; the result is the number of characters that the
   escape has, the backslash included, or 0 if it is none. */
static size_t escape(const char *p, unsigned char *byte)
{
  int value = *p == 'x' ? hex_byte(p + 1) : -1;
  switch (*p) {
  case 'n': *byte = '\n'; return 2;
  case 't': *byte = '\t'; return 2;
  case '\\': *byte = '\\'; return 2;
  case 'x':
    if (value < 0) return 0;
    *byte = (unsigned char) value;
    return 4;
  default: return 0;
  }
}

bool stops_unescape(struct memory *m, const char *text, struct bytes *out,
  struct error *why)
{
  size_t before = out->n;
  for (const char *p = text; *p != '\0'; ) {
    unsigned char byte = (unsigned char) *p;
    size_t n = byte == '\\' ? escape(p + 1, &byte) : 1;
    bool ok = n > 0 ? bytes_push(m, out, &byte, 1, why)
      : error_say(why, "stop string `%s': wanted after a backslash: n, t,"
          " a backslash, or x and two hexadecimal digits", text);
    if (!ok) {
      out->n = before; /* all of it, or nothing */
      return false;
    }
    p += n;
  }
  return true;
}
