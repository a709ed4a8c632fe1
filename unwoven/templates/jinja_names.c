/* jinja_names.c -- which variable a name means, decided before anything runs.

   Jinja compiles a template to Python, and its rules for names show it: a name that a block sets is the block's own, wherever in the block
   it is set; a branch of an if is no block; a loop's body is one, anew in every turn; a macro sees the variables around it as they are
   when it is called. Each name becomes a place: so many functions out, and which variable there. When a block begins, each of its own
   names gets its first value: an argument, the caller's variable of that name, the block around it, or nothing. */

#include <string.h>
#include "templates/jinja_inside.h"

struct walk { struct jinja_run *r; struct jinja_scope *scope; bool soft, in_loop; };

static bool read_names(struct jinja_run *r, struct jinja_scope *s, struct jinja_node *e);
static bool declare_names(struct jinja_run *r, struct jinja_scope *s, struct jinja_node *e, bool parameter);
static bool settle(struct walk *w, struct jinja_node *e);

static struct jinja_symbol *own(const struct jinja_scope *s, uint32_t name)
{
  for (size_t i = 0; i < s->n; i++) if (s->symbol[i].name == name && s->symbol[i].slot != UINT32_MAX) return &s->symbol[i];
  return NULL;
}

/* where a name is found from a scope outwards */
static bool find_place(const struct jinja_scope *s, uint32_t name, struct jinja_place *place)
{
  uint32_t up = 0;
  for (; s != NULL; s = s->outer) {
    const struct jinja_symbol *y = own(s, name);
    if (y != NULL) {
      *place = (struct jinja_place) { up, y->slot };
      return true;
    }
    if (s->outer != NULL && s->outer->slots != s->slots) up++;
  }
  return false;
}

/* the place as seen from the scope inside of the one it was found from */
static bool find_outside(const struct jinja_scope *s, uint32_t name, struct jinja_place *place)
{
  if (s->outer == NULL || !find_place(s->outer, name, place)) return false;
  if (s->outer->slots != s->slots) place->up++;
  return true;
}

static struct jinja_symbol *add_symbol(struct jinja_run *r, struct jinja_scope *s, uint32_t name, enum jinja_load load)
{
  struct jinja_symbol *y = own(s, name);
  if (y == NULL) {
    if (s->n == s->cap) {
      size_t cap = s->cap == 0 ? 8 : 2 * s->cap;
      struct jinja_symbol *more = jinja_room(r, cap, sizeof *more);
      if (more == NULL) return NULL;
      if (s->n > 0) memcpy(more, s->symbol, s->n * sizeof *more);
      s->symbol = more, s->cap = cap;
    }
    y = &s->symbol[s->n++];
    *y = (struct jinja_symbol) { .name = name, .slot = s->slots->n++ };
  }
  y->load = load;
  return y;
}

static bool declare_parameter(struct jinja_run *r, struct jinja_scope *s, uint32_t name, struct jinja_place *place)
{
  struct jinja_symbol *y = add_symbol(r, s, name, JINJA_LOAD_PARAMETER);
  if (y == NULL) return false;
  y->stored = true;
  if (place != NULL) *place = (struct jinja_place) { 0, y->slot };
  return true;
}

static bool declare_stored(struct jinja_run *r, struct jinja_scope *s, uint32_t name)
{
  struct jinja_symbol *y = own(s, name);
  if (y == NULL) {
    struct jinja_place outer = { 0, 0 };
    bool there = find_outside(s, name, &outer);
    if ((y = add_symbol(r, s, name, there ? JINJA_LOAD_OUTER : JINJA_LOAD_NOTHING)) == NULL) return false;
    y->outer = outer;
  }
  return y->stored = true;
}

static bool declare_read(struct jinja_run *r, struct jinja_scope *s, uint32_t name)
{
  struct jinja_place place;
  return find_place(s, name, &place) || add_symbol(r, s, name, JINJA_LOAD_CONTEXT) != NULL;
}

/* Branches see what was known before them, not each other; a name that one of them sets has, until then, the value from around. */
static bool read_branches(struct jinja_run *r, struct jinja_scope *s, struct jinja_node *e)
{
  if (!read_names(r, s, e->list[0])) return false;
  size_t before = s->n;
  bool *was_stored = jinja_room(r, before + 1, sizeof *was_stored);
  if (was_stored == NULL) return false;
  for (size_t i = 0; i < before; i++) was_stored[i] = s->symbol[i].stored;
  for (size_t k = 0; k <= e->n / 2; k++) {
    struct jinja_node *part = k < e->n / 2 ? e->list[2 * k + 1] : e->b;
    if (k > 0 && k < e->n / 2 && !read_names(r, s, e->list[2 * k])) return false;
    if (part != NULL && !read_names(r, s, part)) return false;
  }
  for (size_t i = 0; i < s->n; i++) {
    struct jinja_symbol *y = &s->symbol[i];
    if (!y->stored || (i < before && was_stored[i])) continue;
    y->load = find_outside(s, y->name, &y->outer) ? JINJA_LOAD_OUTER : JINJA_LOAD_CONTEXT;
  }
  return true;
}

static bool read_list(struct jinja_run *r, struct jinja_scope *s, struct jinja_node *e)
{
  for (size_t i = 0; i < e->n; i++) if (!read_names(r, s, e->list[i])) return false;
  return true;
}

/* the names that a part of a block reads or sets itself; not those of blocks inside it */
static bool read_names(struct jinja_run *r, struct jinja_scope *s, struct jinja_node *e)
{
  if (e == NULL) return true;
  switch (e->kind) {
  case JINJA_NAME: return declare_read(r, s, e->name);
  case JINJA_IF: return read_branches(r, s, e);
  case JINJA_FOR: return read_names(r, s, e->list[1]);
  case JINJA_SET: return read_names(r, s, e->b) && declare_names(r, s, e->a, false);
  case JINJA_SET_BLOCK: return declare_names(r, s, e->a, false);
  case JINJA_MACRO_DEFINED: return declare_stored(r, s, e->name);
  case JINJA_CALL_BLOCK: return read_names(r, s, e->a);
  case JINJA_FILTER_BLOCK: return read_list(r, s, e);
  case JINJA_GENERATION: return true;
  case JINJA_WITH:
    for (size_t i = 1; i < e->n; i += 2) if (!read_names(r, s, e->list[i])) return false;
    return true;
  default: return read_names(r, s, e->a) && read_names(r, s, e->b) && read_names(r, s, e->c) && read_list(r, s, e);
  }
}

static bool declare_names(struct jinja_run *r, struct jinja_scope *s, struct jinja_node *e, bool parameter)
{
  if (e->kind == JINJA_TARGET_ATTRIBUTE) return declare_read(r, s, e->a->name);
  if (e->kind == JINJA_NAME)
    return parameter ? declare_parameter(r, s, e->name, NULL) : declare_stored(r, s, e->name);
  for (size_t i = 0; i < e->n; i++) if (!declare_names(r, s, e->list[i], parameter)) return false;
  return true;
}

static struct jinja_scope *open_scope(struct walk *w, bool function)
{
  struct jinja_scope *s = jinja_room(w->r, 1, sizeof *s);
  if (s == NULL) return NULL;
  s->outer = w->scope;
  s->slots = w->scope != NULL ? w->scope->slots : NULL;
  if (function) {
    struct jinja_slots *slots = jinja_room(w->r, 1, sizeof *slots);
    if (slots == NULL) return NULL;
    slots->outer = s->slots;
    s->slots = slots;
  }
  return s;
}

/* is the name read anywhere below, before something below sets it? */
static bool mentions(struct jinja_run *r, const struct jinja_node *e, uint32_t name)
{
  if (e == NULL) return false;
  bool names = e->kind == JINJA_NAME && e->name == name;
  for (size_t i = 0; !names && i < e->n; i++) names = mentions(r, e->list[i], name);
  return names || mentions(r, e->a, name) || mentions(r, e->b, name) || mentions(r, e->c, name);
}

/* is the name a target of a set or a for, here or below? */
static bool assigns(const struct jinja_node *e, uint32_t name, bool target)
{
  if (e == NULL) return false;
  if (e->kind == JINJA_NAME) return target && e->name == name;
  bool set = e->kind == JINJA_SET || e->kind == JINJA_SET_BLOCK, tuple = target && e->kind == JINJA_TUPLED, found = false;
  for (size_t i = 0; !found && i < e->n; i++) found = assigns(e->list[i], name, tuple || (e->kind == JINJA_FOR && i == 0));
  return found || assigns(e->a, name, set) || assigns(e->b, name, false) || assigns(e->c, name, false);
}

static bool named(struct jinja_run *r, const char *word, uint32_t *id)
{
  return jinja_intern(r, word, strlen(word), id);
}

/* parts of a block with a scope of its own */
static bool settle_in(struct walk *w, struct jinja_scope *s, struct jinja_node *e, bool soft, bool in_loop)
{
  struct walk inside = { w->r, s, soft, in_loop };
  return settle(&inside, e);
}

/* ---- blocks that have names of their own ---- */

static struct jinja_node *copy_target(struct jinja_run *r, const struct jinja_node *e)
{
  struct jinja_node *copy = jinja_room(r, 1, sizeof *copy);
  if (copy == NULL) return NULL;
  *copy = *e;
  if (e->n > 0 && (copy->list = jinja_room(r, e->n, sizeof *copy->list)) == NULL) return NULL;
  for (size_t i = 0; i < e->n; i++) if ((copy->list[i] = copy_target(r, e->list[i])) == NULL) return NULL;
  return copy;
}

/* other: the scope of else; c: the condition's own variable, with its scope */
static bool settle_for(struct walk *w, struct jinja_node *e)
{
  struct jinja_run *r = w->r;
  struct jinja_scope *s = open_scope(w, false), *test = NULL, *other = NULL;
  uint32_t loop;
  if (s == NULL || !named(r, "loop", &loop)) return false;
  if (assigns(e, loop, false)) return r->line = e->line, jinja_fail(r, "within a for nothing else can be called loop");
  e->uses_loop = mentions(r, e->list[2], loop);
  if (e->uses_loop && !declare_parameter(r, s, loop, &e->place)) return false;
  if (!declare_names(r, s, e->list[0], true) || !read_names(r, s, e->list[2])) return false;
  e->scope = s;
  if (e->b != NULL && ((other = open_scope(w, false)) == NULL || !read_names(r, other, e->b))) return false;
  if (e->a != NULL) {
    if ((test = open_scope(w, false)) == NULL || !declare_names(r, test, e->list[0], true) || !read_names(r, test, e->a)
      || !settle_in(w, test, e->a, false, w->in_loop)) return false;
    /* The condition has its own copy of the variable. */
    if ((e->c = copy_target(r, e->list[0])) == NULL || !settle_in(w, test, e->c, false, false)) return false;
    e->c->scope = test;
  }
  e->other = other;
  return settle(w, e->list[1]) && settle_in(w, s, e->list[0], false, true) && settle_in(w, s, e->list[2], false, true)
    && (e->b == NULL || settle_in(w, other, e->b, false, w->in_loop));
}

/* the arguments, and the three that a body may use without having declared them */
static bool settle_function(struct walk *w, struct jinja_node *e)
{
  struct jinja_run *r = w->r;
  struct jinja_scope *s = open_scope(w, true);
  uint32_t caller, kwargs, varargs;
  bool own_caller = false, own_kwargs = false, own_varargs = false;
  if (s == NULL || !named(r, "caller", &caller) || !named(r, "kwargs", &kwargs) || !named(r, "varargs", &varargs)) return false;
  for (size_t i = 0; i < e->n; i++) {
    own_caller = own_caller || e->list[i]->name == caller, own_kwargs = own_kwargs || e->list[i]->name == kwargs;
    own_varargs = own_varargs || e->list[i]->name == varargs;
    if (!declare_parameter(r, s, e->list[i]->name, &e->list[i]->place)) return false;
    for (size_t k = 0; k < i; k++)
      if (e->list[k]->name == e->list[i]->name)
        return r->line = e->line, jinja_fail(r, "an argument is named twice");
  }
  if (own_caller) return r->line = e->line, jinja_fail(r, "an argument called caller is not known here");
  e->uses_caller = mentions(r, e->b, caller);
  e->uses_kwargs = !own_kwargs && mentions(r, e->b, kwargs), e->uses_varargs = !own_varargs && mentions(r, e->b, varargs);
  if ((e->uses_caller && !declare_parameter(r, s, caller, &e->special[0]))
    || (e->uses_kwargs && !declare_parameter(r, s, kwargs, &e->special[1]))
    || (e->uses_varargs && !declare_parameter(r, s, varargs, &e->special[2]))) return false;
  for (size_t i = 0; i < e->n; i++) if (!read_names(r, s, e->list[i]->a)) return false;
  if (!read_names(r, s, e->b)) return false;
  e->scope = s;
  for (size_t i = 0; i < e->n; i++)
    if (e->list[i]->a != NULL && !settle_in(w, s, e->list[i]->a, false, false)) return false;
  return settle_in(w, s, e->b, false, false);
}

static bool settle_body(struct walk *w, struct jinja_node *e)
{
  struct jinja_scope *s = open_scope(w, false);
  if (s == NULL) return false;
  if (e->kind == JINJA_WITH)
    for (size_t i = 0; i < e->n; i += 2) if (!declare_names(w->r, s, e->list[i], true)) return false;
  if (!read_names(w->r, s, e->b)) return false;
  e->scope = s;
  if (e->kind == JINJA_WITH)
    for (size_t i = 0; i < e->n; i++)
      if (i % 2 == 0 ? !settle_in(w, s, e->list[i], false, w->in_loop) : !settle(w, e->list[i])) return false;
  return settle_in(w, s, e->b, false, w->in_loop);
}

/* ---- the walk ---- */

static bool settle_list(struct walk *w, struct jinja_node *e)
{
  for (size_t i = 0; i < e->n; i++) if (!settle(w, e->list[i])) return false;
  return true;
}

static bool settle_parts(struct walk *w, struct jinja_node *e)
{
  return (e->a == NULL || settle(w, e->a)) && (e->b == NULL || settle(w, e->b)) && (e->c == NULL || settle(w, e->c))
    && settle_list(w, e);
}

/* A filter that is not known is an error now, unless it may never be reached. */
static bool settle_named_step(struct walk *w, struct jinja_node *e)
{
  const struct jinja_text *name = w->r->names[e->name];
  bool known = e->kind == JINJA_STEP_FILTER ? jinja_filter_known(name->byte, name->n) : jinja_test_known(name->byte, name->n);
  e->soft = w->soft;
  if (!known && !w->soft) {
    w->r->line = e->line;
    return jinja_fail(w->r, "the %s `%.*s' is not known here", e->kind == JINJA_STEP_FILTER ? "filter" : "test",
      name->n > 40 ? 40 : (int) name->n, name->byte);
  }
  return settle_parts(w, e);
}

static bool settle_soft(struct walk *w, struct jinja_node *e)
{
  bool soft = w->soft;
  w->soft = true;
  bool ok = settle_parts(w, e);
  w->soft = soft;
  return ok;
}

static bool settle_name(struct walk *w, struct jinja_node *e)
{
  return find_place(w->scope, e->name, &e->place) || jinja_fail(w->r, "a name has no place");
}

static bool settle_inside(struct walk *w, struct jinja_node *e)
{
  switch (e->kind) {
  case JINJA_NAME: return settle_name(w, e);
  case JINJA_IF: case JINJA_COND: return settle_soft(w, e);
  case JINJA_STEP_FILTER: case JINJA_STEP_TEST: return settle_named_step(w, e);
  case JINJA_FOR: return settle_for(w, e);
  case JINJA_MACRO_DEFINED: return settle_name(w, e) && settle_function(w, e);
  case JINJA_CALL_BLOCK: return settle(w, e->a) && settle_function(w, e);
  case JINJA_GENERATION: return settle_function(w, e);
  case JINJA_SET_BLOCK: return settle_body(w, e) && settle(w, e->a) && settle_list(w, e);
  case JINJA_FILTER_BLOCK: return settle_list(w, e) && settle_body(w, e);
  case JINJA_WITH: return settle_body(w, e);
  case JINJA_BREAK: case JINJA_CONTINUE:
    if (w->in_loop) return true;
    w->r->line = e->line;
    return jinja_fail(w->r, "a break or a continue stands outside of a loop");
  default: return settle_parts(w, e);
  }
}

static bool settle(struct walk *w, struct jinja_node *e)
{
  if (!jinja_deeper(w->r) || !jinja_steps(w->r, 1)) return false;
  bool ok = settle_inside(w, e);
  w->r->depth--;
  return ok;
}

bool jinja_resolve(struct jinja_run *r, struct jinja_node *root)
{
  struct walk w = { .r = r };
  if ((w.scope = open_scope(&w, true)) == NULL || !read_list(r, w.scope, root)) return false;
  root->scope = w.scope;
  return settle_list(&w, root);
}
