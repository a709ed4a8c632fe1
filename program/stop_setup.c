/* stop_setup.c -- what may end a text besides its end token and its length, as one list for the
   loop: a stop string, a repetition, a constraint that allows nothing more. With the list goes
   the outflow, through which every byte passes on its way to the reader, so that the beginning
   of a stop string is not shown before it is known whether the rest will come. */

#include "stop_setup.h"

/* the outflow takes the last token: its bytes, or its name if that is to be text */
static bool take_token(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct stop_setup *x = ctx;
  uint32_t id = text->text.id[text->text.n - 1];
  bool named = false;
  size_t n;
  for (size_t i = 0; x->named != NULL && i < x->named->n; i++) named = named || x->named->id[i] == id;
  if (!named) return text_stream_should_stop(&x->flow, text, enough, why);
  const unsigned char *name = tokenizer_text(x->flow.t, id, &n);
  if (!text_stream_bytes(&x->flow, name, n, why)) return false;
  *enough = x->flow.found != NULL;
  return true;
}

/* the order of the list is the order in which its criteria are asked */
bool stop_setup_open(struct stop_setup *x, struct memory *m,
  const struct tokenizer *t, const struct stop_string *stop, size_t n,
  struct constraint_cursor *b, struct error *why)
{
  *x = (struct stop_setup) { .flow = { .m = m, .t = t } };
  x->list[0] = (struct criterion) { "string", take_token, x };
  x->list[1] = (struct criterion) { "repetition", repetition_should_stop,
    &x->repeat };
  x->list[2] = (struct criterion) { "match", constraint_cursor_should_stop, b };
  x->all = (struct criteria) { .list = x->list, .n = b != NULL ? 3 : 2 };
  x->flow.until = &x->until;
  return stops_open(&x->until, m, stop, n, why);
}

/* what the text before has left behind is forgotten; the settings of the outflow stay */
bool stop_setup_begin(struct stop_setup *x, const uint32_t *id, size_t n,
  struct error *why)
{
  struct text_stream *o = &x->flow;
  text_stream_close(o);
  o->released = o->tokens = 0;
  o->state = 0;
  o->begun = false;
  o->found = NULL, x->all.fired = NULL;
  return text_stream_prompt(o, id, n, why);
}

void stop_setup_close(struct stop_setup *x)
{
  if (x->flow.m == NULL) return;
  text_stream_close(&x->flow);
  stops_close(&x->until);
}
