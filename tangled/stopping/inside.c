/* inside.c -- made from workshop/26-stopping.w; change it there */

#include "stopping/stopping.h"

/* <Replace the escapes> */
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
      out->n = before;
      return false;
    }
    p += n;
  }
  return true;
}

/* <Save and restore a text stream> */
struct text_stream_state text_stream_save(const struct text_stream *o)
{
  return (struct text_stream_state) { .n = o->text.n, .released = o->released,
    .tokens = o->tokens, .state = o->state, .begun = o->begun,
    .found = o->found };
}

void text_stream_restore(struct text_stream *o,
  const struct text_stream_state *to)
{
  o->text.n = to->n, o->released = to->released;
  o->tokens = to->tokens, o->state = to->state;
  o->begun = to->begun, o->found = to->found;
}
