@i types.w
@s size_t int

\chapterquestion{How does a line end get into a stop string, and a text stream back to where it was?}
@** Inside stopping: escapes, and going back.
\incipit{C}{hapter 8} declares two things that it does not print: the escapes by which a caller types any byte, and the functions that take a text stream back. They are in one file.

@(inside.c@>=
#include "stopping/stopping.h"
@;@#
@<Replace the escapes@>@;
@<Save and restore a text stream@>@;

@* Escapes. \label{sec:escapes}
Stop strings are typed on a command line, and not every byte has a key. So the command writes them with escapes: \.{\char92 n} for a line end, \.{\char92 t} for a tab, \.{\char92 x} and two hexadecimal digits for any byte, even one that is no character, and \.{\char92\char92} for a backslash. Anything else after a backslash is an error, because it might get a meaning later.
@^escapes@>

@ First one escape: |p| points after the backslash, and the result is the number of characters that the escape has, or 0.

@<Replace the escapes@>=
static size_t escape(const char *p, unsigned char *byte)
{
  int value = *p == 'x' ? hex_byte(p + 1) : -1;
  switch (*p) {
  case 'n': *byte = '\n';@+ return 2;
  case 't': *byte = '\t';@+ return 2;
  case '\\': *byte = '\\';@+ return 2;
  case 'x':
    if (value < 0)@+ return 0;
    *byte = (unsigned char) value;
    return 4;
  default: return 0;
  }
}

@ If something is wrong, everything that was appended is taken back.

@<Replace the escapes@>=
bool stops_unescape(struct memory *m, const char *text, struct bytes *out,
  struct error *why)
{
  size_t before = out->n;
  for (const char *p = text; *p != '\0'; ) {
    unsigned char byte = (unsigned char) *p;
    size_t n = byte == '\\' ? escape(p + 1, &byte) : 1;
    bool ok = n > 0 ? bytes_push(m, out, &byte, 1, why)
      : error_say(why, "stop string `%s': "@|
        "wanted after a backslash: n, t,"@|
        " a backslash, or x and two hexadecimal digits", text);
    if (!ok) {
      out->n = before;
      return false;
    }
    p += n;
  }
  return true;
}

@* Going back. \label{sec:goback}
Six fields of a text stream change with a token. One function copies them out, the other copies them back. Why the bytes need not be copied is said in \cref{sec:outflow}.

@<Save and restore a text stream@>=
struct text_stream_state text_stream_save(const struct text_stream *o)
{
  return (struct text_stream_state) @[{ .n = o->text.n, .released = o->released,@|
    .tokens = o->tokens, .state = o->state, .begun = o->begun,@|
    .found = o->found }@];
}
void text_stream_restore(struct text_stream *o,
  const struct text_stream_state *to)
{
  o->text.n = to->n, o->released = to->released;
  o->tokens = to->tokens, o->state = to->state;
  o->begun = to->begun, o->found = to->found;
}
