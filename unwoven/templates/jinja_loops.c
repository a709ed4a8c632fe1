/* jinja_loops.c -- what a template may ask of a loop: where it is, what comes before and after, how long it is.

   The items are pulled one by one, since a condition may depend on what earlier turns did; looking ahead pulls one more. */

#include "templates/jinja_inside.h"

/* the item after this one; *some false if this is the last */
static bool peek(struct jinja_run *r, struct jinja_loop *l, bool *some)
{
  *some = true;
  if (l->has_after) return true;
  if (!l->pull(r, l, &l->after, some)) return false;
  l->has_after = *some;
  return true;
}

bool jinja_advance(struct jinja_run *r, struct jinja_loop *l, bool *some)
{
  struct jinja_value v = l->after;
  *some = true;
  if (!l->has_after && !l->pull(r, l, &v, some)) return false;
  l->has_after = false;
  if (!*some) return true;
  l->index0++;
  l->before = l->current, l->current = v;
  return true;
}

/* The length of what has none before it is gone through: the rest is gathered, and taken from there. ended: the condition has been asked. */
static bool loop_length(struct jinja_run *r, struct jinja_loop *l, int64_t *n)
{
  struct jinja_list *rest;
  struct jinja_value v;
  bool some = true;
  if (l->known_length < 0 && l->node->a == NULL && l->of.kind != JINJA_ITERATOR && !jinja_length(r, &l->of, &l->known_length))
    return false;
  if (l->known_length < 0) {
    if ((rest = jinja_list_new(r, 0)) == NULL) return false;
    while (some) {
      if (!l->pull(r, l, &v, &some)) return false;
      if (some && !jinja_push(r, rest, v)) return false;
    }
    l->known_length = (int64_t) rest->n + l->index0 + 1 + l->has_after;
    l->of = jinja_listed(JINJA_LIST, rest);
    l->at = 0, l->ended = true;
  }
  *n = l->known_length;
  return true;
}

static bool loop_neighbour(struct jinja_run *r, struct jinja_loop *l, bool next, struct jinja_value *out)
{
  bool some = l->index0 > 0;
  if (next && !peek(r, l, &some)) return false;
  *out = next ? l->after : l->before;
  if (!some) *out = jinja_undefined();
  return true;
}

static bool loop_cycle(struct jinja_run *r, const struct jinja_value *self, const struct jinja_call *c, struct jinja_value *out)
{
  if (c->n == 0 || c->n_named > 0) return jinja_fail(r, "loop.cycle has nothing to choose from");
  *out = c->item[(size_t) self->as.loop->index0 % c->n];
  return true;
}

static bool loop_changed(struct jinja_run *r, const struct jinja_value *self, const struct jinja_call *c, struct jinja_value *out)
{
  struct jinja_loop *l = self->as.loop;
  struct jinja_list *now = jinja_list_new(r, c->n);
  bool same = false;
  if (now == NULL) return false;
  for (size_t i = 0; i < c->n; i++) if (!jinja_push(r, now, c->item[i])) return false;
  struct jinja_value a = jinja_listed(JINJA_TUPLE, now), b = jinja_listed(JINJA_TUPLE, l->changed);
  if (l->changed != NULL && !jinja_equal(r, &a, &b, &same)) return false;
  l->changed = now;
  *out = jinja_bool(!same);
  return true;
}

static const struct jinja_method_row loop_methods[] = {
  { "cycle", loop_cycle, 0, 1000 }, { "changed", loop_changed, 0, 1000 } };

/* the attributes that are numbers */
static bool loop_number(struct jinja_run *r, struct jinja_loop *l, const struct jinja_text *name, int64_t *n, bool *there)
{
  *there = true;
  if (JINJA_IS(name, "index")) *n = l->index0 + 1;
  else if (JINJA_IS(name, "index0")) *n = l->index0;
  else if (JINJA_IS(name, "depth")) *n = 1;
  else if (JINJA_IS(name, "depth0")) *n = 0;
  else if (JINJA_IS(name, "length")) return loop_length(r, l, n);
  else if (JINJA_IS(name, "revindex") || JINJA_IS(name, "revindex0")) {
    if (!loop_length(r, l, n)) return false;
    *n -= l->index0 + (name->n == 9);
  }
  else *there = false;
  return true;
}

bool jinja_loop_attribute(struct jinja_run *r, struct jinja_loop *l, const struct jinja_text *name, struct jinja_value *out,
  bool *there)
{
  int64_t n = 0;
  bool some;
  if (!loop_number(r, l, name, &n, there)) return false;
  *out = jinja_int(n);
  if (*there) return true;
  *there = true;
  if (JINJA_IS(name, "first")) *out = jinja_bool(l->index0 == 0);
  else if (JINJA_IS(name, "last")) {
    if (!peek(r, l, &some)) return false;
    *out = jinja_bool(!some);
  }
  else if (JINJA_IS(name, "previtem")) return loop_neighbour(r, l, false, out);
  else if (JINJA_IS(name, "nextitem")) return loop_neighbour(r, l, true, out);
  else if (JINJA_IS(name, "cycle") || JINJA_IS(name, "changed")) {
    struct jinja_method *m = jinja_room(r, 1, sizeof *m);
    if (m == NULL) return false;
    m->self = (struct jinja_value) { .kind = JINJA_LOOP, .as.loop = l };
    m->row = &loop_methods[name->n == 7];
    *out = (struct jinja_value) { .kind = JINJA_METHOD, .as.method = m };
  }
  else *there = false;
  return true;
}
