/* probe_stop.c -- the kind stop: what a reader is shown of a text, piece by piece, when strings
   may end it. The pieces come with the question, as texts or in hexadecimal, and go through the
   outflow of chapter 8 as the tokens of generate do. */

#include <string.h>
#include "probe.h"

static bool take_piece(const struct probe_request *q, struct text_stream *o,
  json_t *v, bool hex)
{
  size_t n = json_string_length(v);
  const char *text = json_string_value(v);
  if (!json_is_string(v)) return error_say(q->why, "a piece is no text");
  if (!hex) return text_stream_bytes(o, (const unsigned char *) text, n, q->why);
  unsigned char *byte = memory_alloc(q->o->m, MEMORY_OTHER, n, 1, q->why);
  bool ok = byte != NULL && request_hex(q, text, n, byte)
    && text_stream_bytes(o, byte, n / 2, q->why);
  memory_free(q->o->m, byte);
  return ok;
}

/* after each piece it is noted how much has been released; when a string was found, or no piece
   is left, the rest is released and belongs to the last piece */
static bool run_pieces(struct probe_request *q, struct text_stream *o,
  struct ids *ends)
{
  json_t *hex = json_object_get(q->in, "pieces_hex");
  json_t *from = json_object_get(q->in, "pieces");
  if ((hex == NULL) == (from == NULL)) return error_say(q->why,
      "wanted: either \"pieces\" or \"pieces_hex\"");
  json_t *list = hex != NULL ? hex : from;
  for (size_t i = 0; o->found == NULL && i < json_array_size(list); i++)
    if (!take_piece(q, o, json_array_get(list, i), hex != NULL)
        || !ids_push(q->o->m, ends, (uint32_t) o->released, q->why))
      return false;
  text_stream_end(o);
  if (ends->n > 0) ends->id[ends->n - 1] = (uint32_t) o->released;
  return true;
}

/* cuts the text at the noted places */
static void put_deltas(struct probe_request *q, const struct text_stream *o,
  const struct ids *ends)
{
  const unsigned char *text = o->text.n > 0 ? o->text.byte
    : (const unsigned char *) "";
  put_open_as(&q->out, "deltas", '[');
  for (size_t i = 0, at = 0; i < ends->n; at = ends->id[i++])
    writer_text(&q->out, text + at, ends->id[i] - at);
  writer_close(&q->out, ']');
  put_text_as(&q->out, "text", text, o->text.n);
  writer_key(&q->out, "stop_reason");
  if (o->found == NULL) writer_word(&q->out, "null");
  else writer_text(&q->out, o->found->byte, o->found->n);
  put_count_as(&q->out, "tokens_consumed", ends->n);
}

bool probe_stop(struct probe_request *q)
{
  struct memory *m = q->o->m;
  struct stops until = { .m = NULL };
  struct ids ends = { NULL, 0, 0 };
  struct stop_string *list;
  size_t n;
  if (!request_stops(q, &list, &n)) return false;
  struct text_stream o = { .m = m, .until = &until,
    .include_stop = request_flag(q, "include_stop", false),
    .min_tokens = (size_t) request_count(q, "min_tokens") };
  bool ok = stops_open(&until, m, list, n, q->why)
    && run_pieces(q, &o, &ends);
  if (ok) put_deltas(q, &o, &ends);
  text_stream_close(&o);
  stops_close(&until);
  ids_free(m, &ends);
  memory_free(m, list);
  return ok;
}
