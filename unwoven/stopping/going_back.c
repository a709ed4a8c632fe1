/* going_back.c -- a text stream is taken back to where it was, as if no token had come since.

   Six fields change with a token, and they are all that is copied. The bytes need not be: a stream
   only appends, and the cut before a stop string shortens the text without changing a byte of it.
   After a restore the bytes of the tokens that were taken back are still there, beyond the end,
   and the next token overwrites them. A field that a token may change must be in both functions;
   the fields that are fixed when a stream is opened are in neither. */

#include "stopping/stopping.h"

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
