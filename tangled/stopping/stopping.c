/* stopping.c -- made from chapters/08-stopping.w; change it there */

/* The text stream, and what may end a text. After every token the first released
   bytes are certain: they are whole characters, and no stop string that is still
   possible begins in them. released never goes down, and text.n goes down once, when
   a stop string is found. After that the stream takes no more tokens. What a
   criterion finds is remembered in fired, the first one only; all are asked in every
   step, because a stream has to see every token. */
#include <string.h>
#include "stopping/stopping.h"

/* <Take the bytes from from on, and release what is certain> */

/* Byte by byte, for a stop string may begin in one token and end in the middle of
   another; what follows it in the token is dropped. Two things are held back, an
   unfinished character and what may become a stop string; both reach to the end of
   the text, so the longer one covers the other. */
static void take_bytes(struct text_stream *o, size_t from)
{
  o->tokens++;
  for (size_t i = from; i < o->text.n; i++) {
    o->state = stops_step(o->until, o->state, o->text.byte[i]);
    const struct stop_string *x = stops_ending(o->until, o->state);
    if (x == NULL || o->tokens <= o->min_tokens) continue;
    o->found = x;
    o->text.n = i + 1 - (o->include_stop ? 0 : x->n);
    o->released = o->text.n;
    return;
  }
  size_t held = utf8_held(o->text.byte, o->text.n);
  size_t claimed = o->include_stop ? 0 : stops_hold(o->until, o->state);
  o->released = o->text.n - (claimed > held ? claimed : held);
}

/* <Take a token> */

/* after a stop string further tokens are ignored, as the header promises */
bool text_stream_bytes(struct text_stream *o, const unsigned char *byte, size_t n,
  struct error *why)
{
  size_t from = o->text.n;
  if (o->found != NULL) return true;
  if (!bytes_push(o->m, &o->text, byte, n, why)) return false;
  take_bytes(o, from);
  return true;
}

/* no token will come, so what was held can become nothing else */
void text_stream_end(struct text_stream *o)
{
  o->released = o->text.n;
}

void text_stream_close(struct text_stream *o)
{
  bytes_free(o->m, &o->text);
  o->released = 0;
}

/* The prompt is decoded only until the decoder has begun, which decides about a blank
   before the first token; its bytes are thrown away. */
bool text_stream_prompt(struct text_stream *o, const uint32_t *id, size_t n,
  struct error *why)
{
  size_t before = o->text.n;
  bool ok = true;
  for (size_t i = 0; o->t != NULL && ok && !o->begun && i < n; i++)
    ok = tokenizer_decode_next(o->t, o->m, id[i], true, &o->begun,
      &o->text, why);
  o->text.n = before;
  return ok;
}

bool text_stream_id(struct text_stream *o, uint32_t id, struct error *why)
{
  size_t from = o->text.n;
  if (o->found != NULL) return true;
  if (o->t != NULL && !tokenizer_decode_next(o->t, o->m, id, true,
      &o->begun, &o->text, why)) return false;
  take_bytes(o, from);
  return true;
}

/* <Ask all of a list> */

/* no early return when one says yes: the others may count tokens */
bool criteria_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct criteria *c = ctx;
  for (size_t i = 0; i < c->n; i++) {
    const struct criterion *x = &c->list[i];
    bool yes = false;
    if (!x->should_stop(x->ctx, text, &yes, why)) return false;
    if (yes && c->fired == NULL) c->fired = x;
  }
  *enough = c->fired != NULL;
  return true;
}

/* the loop ends a text by itself only at an end token; so without a criterion that
   was it */
const char *criteria_reason(const struct criteria *c, enum finish_reason ended)
{
  if (ended != FINISH_STOP) return NULL;
  return c->fired == NULL ? "eos" : c->fired->name;
}

/* <Stop at a stop string> */
bool text_stream_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct text_stream *o = ctx;
  if (!text_stream_id(o, text->text.id[text->text.n - 1], why)) return false;
  *enough = o->found != NULL;
  return true;
}

/* <Stop at a repetition> */

/* The last 2n tokens are compared with those from n tokens earlier: if they agree,
   the last three times n tokens are one piece three times. The prompt does not count. */
bool repetition_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  (void) why;
  size_t n = *(const size_t *) ctx;
  size_t written = text->text.n - text->n_prompt;
  if (n == 0 || written / 3 < n) return true;
  const uint32_t *end = text->text.id + text->text.n;
  *enough = memcmp(end - 2 * n, end - 3 * n, 2 * n * sizeof *end) == 0;
  return true;
}
