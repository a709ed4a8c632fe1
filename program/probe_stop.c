/* probe_stop.c -- the kind stop: what a reader is shown of a text, piece by piece, when strings
   may end it. The pieces come with the question, as texts or in hexadecimal, and go through the
   outflow of chapter 8 as the tokens of generate do. */

#include <string.h>
#include "probe.h"

bool stops_of(const struct inquiry *q, struct stop_string **list, size_t *n)
{
  json_t *from = json_object_get(q->in, "stop");
  *n = json_array_size(from);
  *list = memory_alloc(q->o->m, FOR_OTHER, *n, sizeof **list, q->why);
  for (size_t i = 0; *list != NULL && i < *n; i++) {
    json_t *v = json_array_get(from, i);
    (*list)[i].byte = (const unsigned char *) json_string_value(v);
    (*list)[i].n = json_string_length(v);
    if (json_string_length(v) > 0) continue;
    memory_free(q->o->m, *list);
    *list = NULL;
    return error_say(q->why, "\"stop\"[%zu] is no string, or an empty one;"
      " wanted: texts", i);
  }
  return *list != NULL;
}

static bool take_piece(const struct inquiry *q, struct outflow *o,
  json_t *v, bool hex)
{
  size_t n = json_string_length(v);
  const char *text = json_string_value(v);
  if (!json_is_string(v)) return error_say(q->why, "a piece is no text");
  if (!hex) return outflow_bytes(o, (const unsigned char *) text, n, q->why);
  unsigned char *byte = memory_alloc(q->o->m, FOR_OTHER, n, 1, q->why);
  bool ok = byte != NULL && hex_undo(q, text, n, byte)
    && outflow_bytes(o, byte, n / 2, q->why);
  memory_free(q->o->m, byte);
  return ok;
}

/* after each piece it is noted how much has been released; when a string was found, or no piece
   is left, the rest is released and belongs to the last piece */
static bool run_pieces(struct inquiry *q, struct outflow *o,
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
  outflow_end(o);
  if (ends->n > 0) ends->id[ends->n - 1] = (uint32_t) o->released;
  return true;
}

/* cuts the text at the noted places */
static void put_deltas(struct inquiry *q, const struct outflow *o,
  const struct ids *ends)
{
  const unsigned char *text = o->text.n > 0 ? o->text.byte
    : (const unsigned char *) "";
  put_open_as(&q->out, "deltas", '[');
  for (size_t i = 0, at = 0; i < ends->n; at = ends->id[i++])
    put_text(&q->out, text + at, ends->id[i] - at);
  put_close(&q->out, ']');
  put_text_as(&q->out, "text", text, o->text.n);
  put_key(&q->out, "stop_reason");
  if (o->found == NULL) put_word(&q->out, "null");
  else put_text(&q->out, o->found->byte, o->found->n);
  put_count_as(&q->out, "tokens_consumed", ends->n);
}

bool answer_stop(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct stops until = { .m = NULL };
  struct ids ends = { NULL, 0, 0 };
  struct stop_string *list;
  size_t n;
  if (!stops_of(q, &list, &n)) return false;
  struct outflow o = { .m = m, .until = &until,
    .include_stop = flag_of(q, "include_stop", false),
    .min_tokens = (size_t) count_of(q, "min_tokens") };
  bool ok = stops_open(&until, m, list, n, q->why)
    && run_pieces(q, &o, &ends);
  if (ok) put_deltas(q, &o, &ends);
  outflow_close(&o);
  stops_close(&until);
  ids_free(m, &ends);
  memory_free(m, list);
  return ok;
}
