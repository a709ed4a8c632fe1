/* streams.c -- streams: chapter 8's text stream for a caller. shown is how much the caller has
   seen, and a piece is what has been released since. Stop strings are copied, each with its
   zero, into one block; list points into it, so it is filled after the last string is there and
   the block no longer moves. The zero is for the caller, who learns from a pointer into the
   copies which string was met. */

#include <string.h>
#include "library/library.h"

static bool copy_stops(struct incipit_stream *s, const char *const *stop,
  struct error *why)
{
  bool ok = true;
  s->list = memory_alloc(&s->m, MEMORY_OTHER, s->n, sizeof *s->list, why);
  for (size_t i = 0; s->list != NULL && ok && i < s->n; i++)
    ok = bytes_push(&s->m, &s->copies, stop[i], strlen(stop[i]) + 1, why);
  if (s->list == NULL || !ok) return false;
  const unsigned char *at = s->copies.byte;
  for (size_t i = 0; i < s->n; at += s->list[i++].n + 1)
    s->list[i] = (struct stop_string) { at, strlen((const char *) at) };
  return stops_open(&s->until, &s->m, s->list, s->n, why);
}

/* A stop string is text, so it needs a model with a tokenizer. Without stop strings a stream
   can be opened for any model: with ids alone it shows nothing, but it counts tokens. */
struct incipit_stream *incipit_stream_open(struct incipit_model *m,
  const char *const *stop, size_t n_stop, bool include_stop, struct incipit_error *why)
{
  if (!library_given(m, __func__, "the model", why)
      || (n_stop > 0 && !library_spells(m, __func__, why))
      || !library_strings(stop, n_stop, __func__, "stop", why)) return NULL;
  struct incipit_stream *s = library_new(sizeof *s, why);
  if (s == NULL) return NULL;
  s->model = m, s->n = n_stop;
  library_hold(m);
  s->flow = (struct text_stream) { .m = &s->m, .t = m->t, .until = &s->until,
    .include_stop = include_stop };
  struct attempt a = attempt_begin(&s->m);
  if (attempt_end(&a, copy_stops(s, stop, &a.why), INCIPIT_MISUSE, why)) return s;
  incipit_stream_close(s);
  return NULL;
}

/* A piece points into the text that flow keeps, which may move when the next token comes; so a
   piece is valid only until then. A piece without bytes has a text as well, so that a caller
   may print it. */
void library_show(struct incipit_stream *s, struct incipit_piece *piece)
{
  const struct text_stream *f = &s->flow;
  *piece = (struct incipit_piece) { "", f->released - s->shown, NULL };
  if (piece->n > 0) piece->text = (const char *) f->text.byte + s->shown;
  if (f->found != NULL) piece->stop = (const char *) f->found->byte;
  s->shown = f->released;
}

bool incipit_stream_push(struct incipit_stream *s, uint32_t id,
  struct incipit_piece *piece, struct incipit_error *why)
{
  if (!library_given(s, __func__, "the stream", why)
      || !library_given(piece, __func__, "piece", why)
      || !library_ids(s->model, &id, 1, __func__, why)) return false;
  struct attempt a = attempt_begin(&s->m);
  bool ok = text_stream_id(&s->flow, id, &a.why);
  if (ok) library_show(s, piece);
  return attempt_end(&a, ok, INCIPIT_MEMORY, why);
}

/* At the end of a text nothing more can become a character or a stop string, so what is held is
   released. */
bool incipit_stream_end(struct incipit_stream *s, struct incipit_piece *piece,
  struct incipit_error *why)
{
  if (!library_given(s, __func__, "the stream", why)
      || !library_given(piece, __func__, "piece", why)) return false;
  text_stream_end(&s->flow);
  library_show(s, piece);
  return true;
}

/* Begins another text, or leaves the old one as it was: it is kept until the prompt has been
   read, and comes back if it cannot be. The stream is told the prompt, because whether a blank
   at the front is dropped depends on what comes before it. */
bool incipit_stream_reset(struct incipit_stream *s, const uint32_t *id, size_t n,
  struct incipit_error *why)
{
  if (!library_given(s, __func__, "the stream", why)
      || !library_ids(s->model, id, n, __func__, why)) return false;
  struct text_stream old = s->flow, *f = &s->flow;
  f->text = (struct bytes) { NULL, 0, 0 };
  f->released = f->tokens = 0;
  f->state = 0, f->begun = false;
  f->found = NULL;
  struct attempt a = attempt_begin(&s->m);
  bool ok = text_stream_prompt(f, id, n, &a.why);
  if (ok) s->shown = 0;
  bytes_free(&s->m, ok ? &old.text : &f->text);
  if (!ok) *f = old;
  return attempt_end(&a, ok, INCIPIT_MEMORY, why);
}

void incipit_stream_close(struct incipit_stream *s)
{
  if (s == NULL) return;
  text_stream_close(&s->flow);
  stops_close(&s->until);
  memory_free(&s->m, s->list);
  bytes_free(&s->m, &s->copies);
  incipit_model_close(s->model);
  library_delete(s);
}
