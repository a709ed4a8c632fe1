/* jinja_run.c -- the interpreter's core: a tree, and the places of its variables, become text.

   Every function of a template, the outermost too, has an activation: its places, and the activation around it. C's own stack grows
   with what is nested in the source and with calls; both have limits, so no template can exhaust it. */

#include <string.h>
#include "templates/jinja_inside.h"

enum flow { GO_ON, BROKEN, CONTINUED };

static bool execute(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, enum flow *flow);

static struct jinja_value *place_of(struct jinja_activation *act, struct jinja_place p)
{
  for (; p.up > 0; p.up--) act = act->outer;
  return &act->slot[p.slot];
}

/* first values of a block's own names */
static void enter(struct jinja_run *r, struct jinja_activation *act,
  const struct jinja_scope *s)
{
  static const struct jinja_value missing = { .kind = JINJA_MISSING };
  for (size_t i = 0; i < s->n; i++) {
    const struct jinja_symbol *y = &s->symbol[i];
    if (y->load == JINJA_LOAD_CONTEXT) act->slot[y->slot] = r->context[y->name];
    else if (y->load == JINJA_LOAD_OUTER) act->slot[y->slot] = *place_of(act, y->outer);
    else if (y->load == JINJA_LOAD_NOTHING) act->slot[y->slot] = missing;
  }
}

static struct jinja_activation *activate(struct jinja_run *r, struct jinja_activation *outer, const struct jinja_scope *s)
{
  struct jinja_activation *act = jinja_room(r, 1, sizeof *act);
  if (act == NULL || (act->slot = jinja_room(r, s->slots->n + 1, sizeof *act->slot)) == NULL) return NULL;
  act->outer = outer;
  return act;
}

/* ---- assignments ---- */

static bool assign(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *to, struct jinja_value v);

static bool unpack(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *to, struct jinja_value v)
{
  struct jinja_list *l;
  if (!jinja_iterable(&v)) return jinja_fail(r, "%s cannot be unpacked", jinja_kind_name(&v));
  if (!jinja_items(r, &v, &l)) return false;
  if (l->n != to->n) return jinja_fail(r, "%zu values for %zu names", l->n, to->n);
  for (size_t i = 0; i < to->n; i++) if (!assign(r, act, to->list[i], l->item[i])) return false;
  return true;
}

static bool assign(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *to, struct jinja_value v)
{
  struct jinja_value key = { .kind = JINJA_TEXT };
  if (to->kind == JINJA_TUPLED) return unpack(r, act, to, v);
  if (to->kind == JINJA_NAME) {
    *place_of(act, to->place) = v;
    return true;
  }
  const struct jinja_value *ns = place_of(act, to->a->place);
  key.as.text = r->names[to->name];
  if (ns->kind != JINJA_NAMESPACE) return jinja_fail(r, "only a namespace has attributes that can be set");
  if (key.as.text->byte[0] == '_') return jinja_fail(r, "a namespace has no attributes that begin with _");
  return jinja_dict_set(r, ns->as.dict, key, v);
}

/* ---- calls ---- */

static bool spread_dict(struct jinja_run *r, const struct jinja_value *v, struct jinja_call *c, size_t *cap)
{
  if (v->kind != JINJA_DICT) return jinja_fail(r, "after ** a dictionary is wanted");
  for (size_t i = 0; i < v->as.dict->n; i++) {
    const struct jinja_pair *p = &v->as.dict->pair[i];
    if (p->key.kind != JINJA_TEXT || c->n_named == *cap) return jinja_fail(r, "names of arguments must be texts");
    for (size_t k = 0; k < c->n_named; k++)
      if (jinja_is(c->named[k].name, p->key.as.text->byte, p->key.as.text->n)) return jinja_fail(r, "an argument is given twice");
    c->named[c->n_named++] = (struct jinja_named) { p->value, p->key.as.text };
  }
  return true;
}

/* all arguments of a call; one more may be added by name */
static bool eval_arguments(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_call *c)
{
  struct jinja_list *by_place = jinja_list_new(r, e->n), *more;
  struct jinja_value *v = jinja_room(r, e->n + 1, sizeof *v);
  size_t cap = e->n + 1;
  *c = (struct jinja_call) { .item = NULL };
  if (by_place == NULL || v == NULL) return false;
  for (size_t i = 0; i < e->n; i++) {
    const struct jinja_node *a = e->list[i];
    if (!jinja_eval(r, act, a->a, &v[i])) return false;
    if (a->kind == JINJA_ARGUMENT && !jinja_push(r, by_place, v[i])) return false;
    if (a->kind == JINJA_ARGUMENT_DICT && v[i].kind == JINJA_DICT) cap += v[i].as.dict->n;
    if (a->kind != JINJA_ARGUMENT_LIST) continue;
    if (!jinja_iterable(&v[i])) return jinja_fail(r, "after * something to go through is wanted");
    if (!jinja_items(r, &v[i], &more)) return false;
    for (size_t k = 0; k < more->n; k++) if (!jinja_push(r, by_place, more->item[k])) return false;
  }
  c->item = by_place->item, c->n = by_place->n;
  if ((c->named = jinja_room(r, cap, sizeof *c->named)) == NULL) return false;
  for (size_t i = 0; i < e->n; i++) {
    if (e->list[i]->kind == JINJA_ARGUMENT_NAMED)
      c->named[c->n_named++] = (struct jinja_named) { v[i], r->names[e->list[i]->name] };
    if (e->list[i]->kind == JINJA_ARGUMENT_DICT && !spread_dict(r, &v[i], c, &cap)) return false;
  }
  return true;
}

/* takes an argument away from those by name; MISSING if it is not there */
static struct jinja_value take_named(struct jinja_call *c, const struct jinja_text *name)
{
  struct jinja_value v = { .kind = JINJA_MISSING };
  for (size_t i = 0; i < c->n_named; i++)
    if (jinja_is(c->named[i].name, name->byte, name->n)) {
      v = c->named[i].value;
      memmove(c->named + i, c->named + i + 1, (--c->n_named - i) * sizeof *c->named);
    }
  return v;
}

/* caller, kwargs and varargs, if the body names them; else there must be no arguments left for them */
static bool bind_special(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_call *c)
{
  static const struct jinja_text word = { "caller", 6, 6 };
  if (e->uses_caller) {
    struct jinja_value v = take_named(c, &word);
    *place_of(act, e->special[0]) = v.kind == JINJA_MISSING || v.kind == JINJA_NONE ? jinja_undefined() : v;
  }
  if (e->uses_kwargs) {
    struct jinja_dict *d = jinja_dict_new(r);
    if (d == NULL) return false;
    for (size_t i = 0; i < c->n_named; i++)
      if (!jinja_dict_set(r, d, (struct jinja_value) { .kind = JINJA_TEXT, .as.text = c->named[i].name }, c->named[i].value))
        return false;
    *place_of(act, e->special[1]) = jinja_dicted(d);
  }
  else if (c->n_named > 0) return jinja_fail(r, "a macro has no argument called %.*s", (int) c->named[0].name->n, c->named[0].name->byte);
  if (e->uses_varargs) {
    struct jinja_list *l = jinja_list_new(r, c->n);
    if (l == NULL) return false;
    for (size_t i = e->n; i < c->n; i++) if (!jinja_push(r, l, c->item[i])) return false;
    *place_of(act, e->special[2]) = jinja_listed(JINJA_TUPLE, l);
  }
  else if (c->n > e->n) return jinja_fail(r, "a macro of %zu arguments is called with %zu", e->n, c->n);
  return true;
}

static bool bind(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_call *c)
{
  struct jinja_value *v;
  for (size_t i = 0; i < e->n; i++) {
    v = place_of(act, e->list[i]->place);
    *v = i < c->n ? c->item[i] : take_named(c, r->names[e->list[i]->name]);
  }
  if (!bind_special(r, act, e, c)) return false;
  enter(r, act, e->scope);
  for (size_t i = 0; i < e->n; i++) {
    v = place_of(act, e->list[i]->place);
    if (v->kind != JINJA_MISSING) continue;
    *v = jinja_undefined();
    if (e->list[i]->a != NULL && !jinja_eval(r, act, e->list[i]->a, v)) return false;
  }
  return true;
}

/* runs a body and catches what it prints */
static bool capture(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *body, enum flow *flow,
  struct jinja_value *out)
{
  struct jinja_output o = { .byte = NULL }, *before = r->out;
  r->out = &o;
  bool ok = execute(r, act, body, flow);
  r->out = before;
  ok = ok && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  return ok;
}

static bool call_macro(struct jinja_run *r, const struct jinja_macro *m, const struct jinja_call *given, struct jinja_value *out)
{
  struct jinja_activation *act = activate(r, m->outer, m->node->scope);
  struct jinja_call c = *given;
  enum flow flow = GO_ON;
  if (act == NULL) return false;
  if (r->calls >= JINJA_MAX_CALLS) return jinja_limit(r, "calls are nested more than %d deep", JINJA_MAX_CALLS);
  r->calls++;
  bool ok = bind(r, act, m->node, &c) && capture(r, act, m->node->b, &flow, out);
  r->calls--;
  return ok;
}

bool jinja_invoke(struct jinja_run *r, const struct jinja_value *f, const struct jinja_call *c, struct jinja_value *out)
{
  if (f->kind == JINJA_MACRO) return call_macro(r, f->as.macro, c, out);
  if (f->kind == JINJA_FUNCTION) return f->as.function->call(r, c, out);
  if (f->kind == JINJA_UNDEFINED)
    return jinja_fail(r, f->safe ? "the sandbox forbids this attribute" : "what is called is undefined");
  if (f->kind != JINJA_METHOD) return jinja_fail(r, "a %s cannot be called", jinja_kind_name(f));
  const struct jinja_method_row *row = f->as.method->row;
  if (row->call == NULL) return jinja_fail(r, "the method %s is not known here", row->name);
  if (c->n + c->n_named < row->least || c->n > row->most)
    return jinja_fail(r, "the method %s takes %u to %u arguments, not %zu", row->name, row->least, row->most, c->n + c->n_named);
  return row->call(r, &f->as.method->self, c, out);
}

/* ---- expressions ---- */

static bool eval_slice(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *v)
{
  const struct jinja_node *part[3] = { e->a, e->b, e->c };
  struct jinja_value bound[3], of = *v;
  for (int i = 0; i < 3; i++) {
    bound[i] = jinja_none();
    if (part[i] != NULL && !jinja_eval(r, act, part[i], &bound[i])) return false;
  }
  return jinja_slice(r, &of, bound, v);
}

static bool eval_test(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *v)
{
  struct jinja_call c;
  bool yes;
  if (!eval_arguments(r, act, e, &c) || !jinja_test(r, r->names[e->name], v, &c, &yes)) return false;
  *v = jinja_bool(yes != (e->op == 1));
  return true;
}

/* what a step makes of the value on its left */
static bool eval_step(struct jinja_run *r, struct jinja_activation *act,
  const struct jinja_node *e, struct jinja_value *v)
{
  struct jinja_value left = *v, right;
  struct jinja_call c;
  switch (e->kind) {
  case JINJA_STEP_BINARY:
    return jinja_eval(r, act, e->a, &right) && jinja_binary(r, e->op, &left, &right, v);
  case JINJA_STEP_ATTRIBUTE: return jinja_attribute(r, &left, r->names[e->name], v);
  case JINJA_STEP_ITEM:
    return jinja_eval(r, act, e->a, &right) && jinja_item(r, &left, &right, v);
  case JINJA_STEP_SLICE: return eval_slice(r, act, e, v);
  case JINJA_STEP_CALL: return eval_arguments(r, act, e, &c) && jinja_invoke(r, &left, &c, v);
  case JINJA_STEP_FILTER:
    return eval_arguments(r, act, e, &c) && jinja_filter(r, r->names[e->name], &left, &c, v);
  default: return eval_test(r, act, e, v);
  }
}

static bool eval_chain(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, size_t n, struct jinja_value *out)
{
  if (!jinja_eval(r, act, e->a, out)) return false;
  for (size_t i = 0; i < n; i++) {
    r->line = e->list[i]->line;
    if (!jinja_steps(r, 1) || !eval_step(r, act, e->list[i], out)) return false;
  }
  return true;
}

static bool eval_list(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *out)
{
  struct jinja_list *l = jinja_list_new(r, e->n);
  struct jinja_value v;
  if (l == NULL) return false;
  for (size_t i = 0; i < e->n; i++) if (!jinja_eval(r, act, e->list[i], &v) || !jinja_push(r, l, v)) return false;
  *out = jinja_listed(e->kind == JINJA_LISTED ? JINJA_LIST : JINJA_TUPLE, l);
  return true;
}

static bool eval_dict(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *out)
{
  struct jinja_dict *d = jinja_dict_new(r);
  struct jinja_value key, v;
  if (d == NULL) return false;
  for (size_t i = 0; i < e->n; i += 2)
    if (!jinja_eval(r, act, e->list[i], &key) || !jinja_eval(r, act, e->list[i + 1], &v) || !jinja_dict_set(r, d, key, v))
      return false;
  *out = jinja_dicted(d);
  return true;
}

/* and, or: the value that decided */
static bool eval_logic(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *out)
{
  for (size_t i = 0; i < e->n; i++) {
    if (!jinja_eval(r, act, e->list[i], out)) return false;
    if (jinja_true(out) == (e->kind == JINJA_OR)) return true;
  }
  return true;
}

/* a < b < c is a < b and b < c, with b evaluated once */
static bool eval_compare(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *out)
{
  struct jinja_value left, right;
  bool yes = true;
  if (!jinja_eval(r, act, e->a, &left)) return false;
  for (size_t i = 0; yes && i < e->n; i++) {
    r->line = e->list[i]->line;
    if (!jinja_eval(r, act, e->list[i]->a, &right) || !jinja_compare(r, e->list[i]->op, &left, &right, &yes)) return false;
    left = right;
  }
  *out = jinja_bool(yes);
  return true;
}

static bool eval_concat(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *out)
{
  struct jinja_value v, s;
  if (!jinja_words(r, "", out)) return false;
  for (size_t i = 0; i < e->n; i++) {
    if (!jinja_eval(r, act, e->list[i], &v) || !jinja_str(r, &v, &s)) return false;
    if (i == 0) *out = s;
    else if (!jinja_text_join(r, out->as.text, s.as.text, out)) return false;
  }
  out->safe = false;
  return true;
}

static bool eval_inside(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *out)
{
  struct jinja_value v;
  switch (e->kind) {
  case JINJA_CONST: *out = e->value; return true;
  case JINJA_NAME:
    *out = *place_of(act, e->place);
    if (out->kind == JINJA_MISSING) *out = jinja_undefined();
    return true;
  case JINJA_CHAIN: return eval_chain(r, act, e, e->n, out);
  case JINJA_LISTED: case JINJA_TUPLED: return eval_list(r, act, e, out);
  case JINJA_DICTED: return eval_dict(r, act, e, out);
  case JINJA_AND: case JINJA_OR: return eval_logic(r, act, e, out);
  case JINJA_COMPARE: return eval_compare(r, act, e, out);
  case JINJA_CONCAT: return eval_concat(r, act, e, out);
  case JINJA_SIGN: return jinja_eval(r, act, e->a, &v) && jinja_sign(r, e->op, &v, out);
  case JINJA_NOT:
    if (!jinja_eval(r, act, e->a, &v)) return false;
    *out = jinja_bool(jinja_true(&v) == (e->op % 2 == 0));
    return true;
  case JINJA_COND:
    if (!jinja_eval(r, act, e->a, &v)) return false;
    if (jinja_true(&v)) return jinja_eval(r, act, e->b, out);
    *out = jinja_undefined();
    return e->c == NULL || jinja_eval(r, act, e->c, out);
  default: return jinja_fail(r, "an expression of a kind that is not known here");
  }
}

bool jinja_eval(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *out)
{
  if (!jinja_steps(r, 1) || !jinja_deeper(r)) return false;
  r->line = e->line;
  bool ok = eval_inside(r, act, e, out);
  r->depth--;
  return ok;
}

/* ---- loops (what a template asks of one: jinja_loops.c) ---- */

/* the next item that the condition lets through */
static bool pull(struct jinja_run *r, struct jinja_loop *l, struct jinja_value *out, bool *some)
{
  const struct jinja_node *e = l->node;
  struct jinja_value yes;
  for (;;) {
    if (!jinja_next(r, &l->of, &l->at, out, some)) return false;
    if (!*some || e->a == NULL || l->ended) return true;
    enter(r, l->act, e->c->scope);
    if (!assign(r, l->act, e->c, *out) || !jinja_eval(r, l->act, e->a, &yes)) return false;
    if (jinja_true(&yes)) return true;
  }
}

/* The turns. idle: no turn has come to its end, and then the else runs; so it does after a
   break in the first turn. */
static bool run_turns(struct jinja_run *r, struct jinja_activation *act,
  const struct jinja_node *e, struct jinja_loop *l, bool *idle)
{
  const struct jinja_value loop = { .kind = JINJA_LOOP, .as.loop = l };
  bool some;
  *idle = true;
  for (;;) {
    enum flow flow = GO_ON;
    if (!jinja_advance(r, l, &some)) return false;
    if (!some) return true;
    enter(r, act, e->scope);
    if (e->uses_loop) *place_of(act, e->place) = loop;
    if (!assign(r, act, e->list[0], l->current)
      || !execute(r, act, e->list[2], &flow)) return false;
    if (flow == GO_ON) *idle = false;
    if (flow == BROKEN) return true;
  }
}

static bool run_for(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, enum flow *flow)
{
  struct jinja_loop *l = jinja_room(r, 1, sizeof *l);
  bool idle;
  if (l == NULL || !jinja_eval(r, act, e->list[1], &l->of)) return false;
  if (!jinja_iterable(&l->of)) return jinja_fail(r, "%s cannot be gone through", jinja_kind_name(&l->of));
  l->node = e, l->act = act;
  l->pull = pull;
  l->index0 = -1, l->known_length = -1;
  if (!run_turns(r, act, e, l, &idle)) return false;
  if (!idle || e->b == NULL) return true;
  enter(r, act, e->other);
  return execute(r, act, e->b, flow);
}

/* ---- statements ---- */

static bool run_output(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e)
{
  struct jinja_value v;
  for (size_t i = 0; i < e->n; i++)
    if (!jinja_eval(r, act, e->list[i], &v) || !jinja_print(r, r->out, &v)) return false;
  return true;
}

static bool run_if(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, enum flow *flow)
{
  struct jinja_value v;
  for (size_t i = 0; i < e->n; i += 2) {
    if (!jinja_eval(r, act, e->list[i], &v)) return false;
    if (jinja_true(&v)) return execute(r, act, e->list[i + 1], flow);
  }
  return e->b == NULL || execute(r, act, e->b, flow);
}

static bool apply_filters(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *v)
{
  for (size_t i = 0; i < e->n; i++) if (!eval_step(r, act, e->list[i], v)) return false;
  return true;
}

static bool run_set_block(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, enum flow *flow)
{
  struct jinja_value v;
  enter(r, act, e->scope);
  if (!capture(r, act, e->b, flow, &v)) return false;
  return *flow != GO_ON || (apply_filters(r, act, e, &v) && assign(r, act, e->a, v));
}

static bool run_filter_block(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, enum flow *flow)
{
  struct jinja_value v;
  enter(r, act, e->scope);
  if (!capture(r, act, e->b, flow, &v)) return false;
  if (*flow != GO_ON) return true;
  if (!apply_filters(r, act, e, &v)) return false;
  return v.kind == JINJA_TEXT ? jinja_write_text(r, r->out, v.as.text) : jinja_fail(r, "a filter block makes no text");
}

static bool run_with(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, enum flow *flow)
{
  struct jinja_value v;
  enter(r, act, e->scope);
  for (size_t i = 0; i < e->n; i += 2)
    if (!jinja_eval(r, act, e->list[i + 1], &v) || !assign(r, act, e->list[i], v)) return false;
  return execute(r, act, e->b, flow);
}

static bool new_macro(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *out)
{
  struct jinja_macro *m = jinja_room(r, 1, sizeof *m);
  if (m == NULL) return false;
  *m = (struct jinja_macro) { e, act };
  *out = (struct jinja_value) { .kind = JINJA_MACRO, .as.macro = m };
  return true;
}

static bool run_call(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e)
{
  static const struct jinja_text word = { "caller", 6, 6 };
  const struct jinja_node *chain = e->a;
  struct jinja_value f, caller, v;
  struct jinja_call c;
  if (!new_macro(r, act, e, &caller) || !eval_chain(r, act, chain, chain->n - 1, &f)
    || !eval_arguments(r, act, chain->list[chain->n - 1], &c)) return false;
  if (take_named(&c, &word).kind != JINJA_MISSING) return jinja_fail(r, "a call block gives the caller itself");
  c.named[c.n_named++] = (struct jinja_named) { caller, &word };
  if (!jinja_invoke(r, &f, &c, &v)) return false;
  return v.kind == JINJA_TEXT ? jinja_write_text(r, r->out, v.as.text) : jinja_fail(r, "a call block makes no text");
}

/* Where the text begins is measured on what the outermost function has printed. */
static bool run_generation(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e)
{
  struct jinja_value m, v;
  struct jinja_call none = { .item = NULL };
  struct jinja_answer *a = r->answer;
  if (!new_macro(r, act, e, &m) || !jinja_invoke(r, &m, &none, &v)) return false;
  size_t from = r->root->points;
  struct jinja_span *span = memory_reserve(r->m, MEMORY_OTHER, a->span, &a->cap, a->n + 1, 8, sizeof *span, r->why);
  if (span == NULL) {
    r->fatal = true;
    return false;
  }
  a->span = span;
  a->span[a->n++] = (struct jinja_span) { from, from + v.as.text->points };
  return jinja_write_text(r, r->out, v.as.text);
}

static bool execute_one(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, enum flow *flow)
{
  struct jinja_value v;
  r->line = e->line;
  switch (e->kind) {
  case JINJA_OUTPUT: return run_output(r, act, e);
  case JINJA_IF: return run_if(r, act, e, flow);
  case JINJA_FOR: return run_for(r, act, e, flow);
  case JINJA_SET: return jinja_eval(r, act, e->b, &v) && assign(r, act, e->a, v);
  case JINJA_SET_BLOCK: return run_set_block(r, act, e, flow);
  case JINJA_MACRO_DEFINED: return new_macro(r, act, e, place_of(act, e->place));
  case JINJA_CALL_BLOCK: return run_call(r, act, e);
  case JINJA_FILTER_BLOCK: return run_filter_block(r, act, e, flow);
  case JINJA_WITH: return run_with(r, act, e, flow);
  case JINJA_GENERATION: return run_generation(r, act, e);
  case JINJA_BREAK: *flow = BROKEN; return true;
  case JINJA_CONTINUE: *flow = CONTINUED; return true;
  default: return jinja_fail(r, "a statement of a kind that is not known here");
  }
}

/* a body, until its end or a break */
static bool execute(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, enum flow *flow)
{
  bool ok = jinja_deeper(r);
  if (!ok) return false;
  for (size_t i = 0; ok && *flow == GO_ON && i < e->n; i++)
    ok = jinja_steps(r, 1) && execute_one(r, act, e->list[i], flow);
  r->depth--;
  return ok;
}

bool jinja_execute(struct jinja_run *r, const struct jinja_node *root)
{
  struct jinja_activation *act = activate(r, NULL, root->scope);
  enum flow flow = GO_ON;
  if (act == NULL) return false;
  enter(r, act, root->scope);
  return execute(r, act, root, &flow);
}
