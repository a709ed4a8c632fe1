/* stopping.c -- made from chapters/08-stopping.w; change it there */

#include <string.h>
#include "stopping/stopping.h"

/* <Take the bytes behind from, and release what is certain> */
static void take_bytes(struct outflow *o, size_t from)
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
bool outflow_bytes(struct outflow *o, const unsigned char *byte, size_t n,
  struct error *why)
{
  size_t from = o->text.n;
  if (o->found != NULL) return true;
  if (!bytes_push(o->m, &o->text, byte, n, why)) return false;
  take_bytes(o, from);
  return true;
}

bool outflow_prompt(struct outflow *o, const uint32_t *id, size_t n,
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

bool outflow_id(struct outflow *o, uint32_t id, struct error *why)
{
  size_t from = o->text.n;
  if (o->found != NULL) return true;
  if (o->t != NULL && !tokenizer_decode_next(o->t, o->m, id, true,
      &o->begun, &o->text, why)) return false;
  take_bytes(o, from);
  return true;
}

void outflow_end(struct outflow *o)
{
  o->released = o->text.n;
}

void outflow_close(struct outflow *o)
{
  bytes_free(o->m, &o->text);
  o->released = 0;
}

/* <Ask all of a list> */
bool criteria_judge(void *self, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct criteria *c = self;
  for (size_t i = 0; i < c->n; i++) {
    const struct criterion *x = &c->list[i];
    bool yes = false;
    if (!x->judge(x->self, text, &yes, why)) return false;
    if (yes && c->fired == NULL) c->fired = x;
  }
  *enough = c->fired != NULL;
  return true;
}

const char *criteria_reason(const struct criteria *c, enum finish ended)
{
  return ended != FINISH_STOP ? NULL
    : c->fired == NULL ? "eos" : c->fired->name;
}

/* <Judge by the outflow> */
bool outflow_judge(void *self, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct outflow *o = self;
  if (!outflow_id(o, text->text.id[text->text.n - 1], why)) return false;
  *enough = o->found != NULL;
  return true;
}

/* <Judge by repetition> */
bool repetition_judge(void *self, const struct continuation *text,
  bool *enough, struct error *why)
{
  (void) why;
  size_t n = *(const size_t *) self;
  size_t written = text->text.n - text->n_prompt;
  if (n == 0 || written / 3 < n) return true;
  const uint32_t *end = text->text.id + text->text.n;
  *enough = memcmp(end - 2 * n, end - 3 * n, 2 * n * sizeof *end) == 0;
  return true;
}
