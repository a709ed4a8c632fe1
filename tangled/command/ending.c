/* ending.c -- made from workshop/14-command.w; change it there */

#include "command/ending.h"

/* <Open, begin and close the endings> */
bool endings_open(struct endings *x, struct memory *m,
  const struct tokenizer *t, const struct stop_string *stop, size_t n,
  struct bond *b, struct error *why)
{
  *x = (struct endings) { .flow = { .m = m, .t = t } };
  x->list[0] = (struct criterion) { "string", outflow_judge, &x->flow };
  x->list[1] = (struct criterion) { "repetition", repetition_judge,
    &x->repeat };
  x->list[2] = (struct criterion) { "match", bond_judge, b };
  x->all = (struct criteria) { .list = x->list, .n = b != NULL ? 3 : 2 };
  x->flow.until = &x->until;
  return stops_open(&x->until, m, stop, n, why);
}

bool endings_begin(struct endings *x, const uint32_t *id, size_t n,
  struct error *why)
{
  struct outflow *o = &x->flow;
  outflow_close(o);
  o->released = o->tokens = 0, o->state = 0, o->begun = false;
  o->found = NULL, x->all.fired = NULL;
  return outflow_prompt(o, id, n, why);
}

void endings_close(struct endings *x)
{
  if (x->flow.m == NULL) return;
  outflow_close(&x->flow);
  stops_close(&x->until);
}
