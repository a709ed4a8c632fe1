/* jinja_parse.c -- tokens become a tree, by recursive descent, one function for each level of precedence.

   From loose to tight: x if c else y; or; and; not; comparisons, which chain; + -; ~; * / // %; **, which goes from left to right;
   signs; and behind a value . [] () | is. So ~ binds tighter than +, and -2 ** 2 is 4. What goes from left to right is a chain and no
   deep tree; what nests has a limit. */

#include <string.h>
#include "templates/jinja_inside.h"

enum { MAX_SIGNS = 2 * JINJA_MAX_NESTED };

struct parser {
  struct jinja_run *r;
  struct jinja_lexer x;
  struct jinja_token now, next;
  bool looked;
  size_t nested, blocks;
};

static struct jinja_node *expression(struct parser *p);
static struct jinja_node *primary(struct parser *p, bool attributes);
static struct jinja_node *statements(struct parser *p, const char *const *ends);

static void *fail_at(struct parser *p, uint32_t line, const char *words, const struct jinja_token *t)
{
  p->r->line = line;
  if (t != NULL && t->n > 0 && (t->kind == JINJA_T_NAME)) jinja_fail(p->r, "%s, not `%.*s'", words, t->n > 40 ? 40 : (int) t->n, t->byte);
  else if (t != NULL && t->kind == JINJA_T_OPERATOR) jinja_fail(p->r, "%s, not `%c%c'", words, (int) (t->op & 255), t->op >> 8 == 0 ? ' ' : (int) (t->op >> 8));
  else jinja_fail(p->r, "%s", words);
  return NULL;
}

static struct jinja_node *new_node(struct parser *p, enum jinja_node_kind kind, uint32_t line)
{
  struct jinja_node *e = jinja_room(p->r, 1, sizeof *e);
  if (e != NULL) e->kind = kind, e->line = line;
  return e;
}

static bool append(struct parser *p, struct jinja_node *to, struct jinja_node *part)
{
  if (part == NULL) return false;
  if (to->n == to->cap) {
    size_t cap = to->cap == 0 ? 4 : 2 * to->cap;
    struct jinja_node **list = jinja_room(p->r, cap, sizeof *list);
    if (list == NULL) return false;
    if (to->n > 0) memcpy(list, to->list, to->n * sizeof *list);
    to->list = list, to->cap = cap;
  }
  to->list[to->n++] = part;
  return true;
}

/* ---- tokens ---- */

static bool advance(struct parser *p)
{
  uint32_t line = p->now.line;
  if (p->looked) p->now = p->next, p->looked = false;
  else if (!jinja_lex(&p->x, &p->now)) return false;
  if (p->now.kind == JINJA_T_END) p->now.line = line > 0 ? line : 1;
  return jinja_steps(p->r, 1);
}

static bool look(struct parser *p)
{
  if (!p->looked && !jinja_lex(&p->x, &p->next)) return false;
  return p->looked = true;
}

static bool is_word(const struct jinja_token *t, const char *word)
{
  return t->kind == JINJA_T_NAME && strlen(word) == t->n && memcmp(t->byte, word, t->n) == 0;
}

static bool at_word(const struct parser *p, const char *word)
{
  return is_word(&p->now, word);
}

static bool at_op(const struct parser *p, char a, char b)
{
  return p->now.kind == JINJA_T_OPERATOR && p->now.op == JINJA_OP(a, b);
}

static bool expect_op(struct parser *p, char c, const char *words)
{
  if (!at_op(p, c, 0)) return fail_at(p, p->now.line, words, &p->now) != NULL;
  return advance(p);
}

static bool expect(struct parser *p, enum jinja_token_kind kind, const char *words)
{
  if (p->now.kind != kind) return fail_at(p, p->now.line, words, &p->now) != NULL;
  return advance(p);
}

/* the name here, its number into *id */
static bool take_name(struct parser *p, uint32_t *id)
{
  if (p->now.kind != JINJA_T_NAME) return fail_at(p, p->now.line, "a name is wanted", &p->now) != NULL;
  return jinja_intern(p->r, p->now.byte, p->now.n, id) && advance(p);
}

/* ---- values ---- */

static bool reserved(const struct jinja_token *t)
{
  static const char *const word[] = { "true", "false", "none", "True", "False", "None" };
  for (size_t i = 0; i < 6; i++) if (is_word(t, word[i])) return true;
  return false;
}

static struct jinja_node *name_or_constant(struct parser *p, bool attributes)
{
  struct jinja_token t = p->now;
  struct jinja_node *e = new_node(p, reserved(&t) ? JINJA_CONST : JINJA_NAME, t.line);
  if (e == NULL || !take_name(p, &e->name)) return NULL;
  if (e->kind == JINJA_CONST) {
    char c = t.byte[0];
    e->value = c == 'n' || c == 'N' ? jinja_none() : jinja_bool(c == 't' || c == 'T');
  }
  else if (attributes && at_op(p, '.', 0)) {
    struct jinja_node *to = new_node(p, JINJA_TARGET_ATTRIBUTE, t.line);
    if (to == NULL || !advance(p) || !take_name(p, &to->name)) return NULL;
    to->a = e;
    return to;
  }
  return e;
}

/* Strings side by side are one. */
static struct jinja_node *strings(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_CONST, p->now.line);
  if (e == NULL) return NULL;
  e->value = p->now.value;
  if (!advance(p)) return NULL;
  while (p->now.kind == JINJA_T_STRING)
    if (!jinja_text_join(p->r, e->value.as.text, p->now.value.as.text, &e->value) || !advance(p)) return NULL;
  return e;
}

static bool tuple_ends(const struct parser *p, const char *end)
{
  return p->now.kind == JINJA_T_VARIABLE_END || p->now.kind == JINJA_T_BLOCK_END || at_op(p, ')', 0)
    || (end != NULL && at_word(p, end));
}

enum tuple_of { ANY_VALUES, NO_CONDITIONS, TARGETS, TARGETS_OR_ATTRIBUTES };
static struct jinja_node *disjunction(struct parser *p);

/* one value, or several with commas, which are a tuple */
static struct jinja_node *tuple(struct parser *p, enum tuple_of what, const char *end, bool bracketed)
{
  struct jinja_node *first = NULL, *all = new_node(p, JINJA_TUPLED, p->now.line);
  bool many = false;
  while (all != NULL) {
    if (all->n > 0 && !expect_op(p, ',', "a comma is wanted")) return NULL;
    if (tuple_ends(p, end)) break;
    if (what == ANY_VALUES) first = expression(p);
    else if (what == NO_CONDITIONS) first = disjunction(p);
    else first = primary(p, what == TARGETS_OR_ATTRIBUTES);
    if (!append(p, all, first)) return NULL;
    if (!at_op(p, ',', 0)) break;
    many = true;
  }
  if (all == NULL || many) return all;
  if (all->n > 0) return first;
  return bracketed ? all : fail_at(p, p->now.line, "an expression is wanted", &p->now);
}

static struct jinja_node *list_or_dict(struct parser *p)
{
  bool dict = at_op(p, '{', 0);
  char close = dict ? '}' : ']';
  struct jinja_node *e = new_node(p, dict ? JINJA_DICTED : JINJA_LISTED, p->now.line);
  if (e == NULL || !advance(p)) return NULL;
  while (!at_op(p, close, 0)) {
    if (e->n > 0 && !expect_op(p, ',', "a comma is wanted")) return NULL;
    if (at_op(p, close, 0)) break;
    if (!append(p, e, expression(p))) return NULL;
    if (dict && (!expect_op(p, ':', "a colon is wanted") || !append(p, e, expression(p)))) return NULL;
  }
  return advance(p) ? e : NULL;
}

static struct jinja_node *primary(struct parser *p, bool attributes)
{
  struct jinja_node *e;
  if (p->now.kind == JINJA_T_NAME) return name_or_constant(p, attributes);
  if (p->now.kind == JINJA_T_STRING) return strings(p);
  if (p->now.kind == JINJA_T_INTEGER || p->now.kind == JINJA_T_FLOAT) {
    if ((e = new_node(p, JINJA_CONST, p->now.line)) == NULL) return NULL;
    e->value = p->now.value;
    return advance(p) ? e : NULL;
  }
  if (at_op(p, '(', 0)) {
    if (!advance(p) || (e = tuple(p, ANY_VALUES, NULL, true)) == NULL) return NULL;
    return expect_op(p, ')', "a closing bracket is wanted") ? e : NULL;
  }
  if (at_op(p, '[', 0) || at_op(p, '{', 0)) return list_or_dict(p);
  return fail_at(p, p->now.line, "a value is wanted", &p->now);
}

/* ---- behind a value ---- */

/* the value with one more step behind it */
static struct jinja_node *step(struct parser *p, struct jinja_node *e, struct jinja_node *s)
{
  if (e == NULL || s == NULL) return NULL;
  if (e->kind != JINJA_CHAIN) {
    struct jinja_node *chain = new_node(p, JINJA_CHAIN, e->line);
    if (chain == NULL) return NULL;
    chain->a = e;
    e = chain;
  }
  return append(p, e, s) ? e : NULL;
}

static struct jinja_node *argument(struct parser *p)
{
  struct jinja_node *a = new_node(p, JINJA_ARGUMENT, p->now.line);
  if (a == NULL) return NULL;
  if (at_op(p, '*', 0) || at_op(p, '*', '*')) {
    a->kind = at_op(p, '*', 0) ? JINJA_ARGUMENT_LIST : JINJA_ARGUMENT_DICT;
    if (!advance(p)) return NULL;
  }
  else if (p->now.kind == JINJA_T_NAME) {
    if (!look(p)) return NULL;
    if (p->next.kind == JINJA_T_OPERATOR && p->next.op == JINJA_OP('=', 0)) {
      a->kind = JINJA_ARGUMENT_NAMED;
      if (!take_name(p, &a->name) || !advance(p)) return NULL;
    }
  }
  a->a = expression(p);
  return a->a == NULL ? NULL : a;
}

/* An argument by place after one by name, or after a star, is an error; so is a name twice. */
static bool in_order(struct parser *p, const struct jinja_node *call, const struct jinja_node *a, uint32_t line)
{
  for (size_t i = 0; i < call->n; i++) {
    enum jinja_node_kind before = call->list[i]->kind;
    bool bad = before == JINJA_ARGUMENT_DICT || (a->kind == JINJA_ARGUMENT && before != JINJA_ARGUMENT)
      || (a->kind == JINJA_ARGUMENT_LIST && before == JINJA_ARGUMENT_LIST)
      || (a->kind == JINJA_ARGUMENT_NAMED && before == JINJA_ARGUMENT_NAMED && call->list[i]->name == a->name);
    if (bad) return fail_at(p, line, "the arguments of a call are in no order that is allowed", NULL) != NULL;
  }
  return true;
}

static bool arguments(struct parser *p, struct jinja_node *call)
{
  uint32_t line = p->now.line;
  if (!advance(p)) return false;
  while (!at_op(p, ')', 0)) {
    if (call->n > 0 && !expect_op(p, ',', "a comma is wanted")) return false;
    if (at_op(p, ')', 0)) break;
    struct jinja_node *a = argument(p);
    if (a == NULL || !in_order(p, call, a, line) || !append(p, call, a)) return false;
  }
  return advance(p);
}

static struct jinja_node *call(struct parser *p, struct jinja_node *e)
{
  struct jinja_node *s = new_node(p, JINJA_STEP_CALL, p->now.line);
  return s != NULL && arguments(p, s) ? step(p, e, s) : NULL;
}

/* a, b, c: the bounds of a slice, null where there is none */
static struct jinja_node *subscript(struct parser *p)
{
  struct jinja_node *s = new_node(p, JINJA_STEP_ITEM, p->now.line);
  if (s == NULL) return NULL;
  struct jinja_node **part[3] = { &s->a, &s->b, &s->c };
  for (int i = 0; i < 3; i++) {
    if (!at_op(p, ':', 0) && !at_op(p, ']', 0) && !at_op(p, ',', 0) && (*part[i] = expression(p)) == NULL) return NULL;
    if (i == 2 || !at_op(p, ':', 0)) break;
    s->kind = JINJA_STEP_SLICE;
    if (!advance(p)) return NULL;
  }
  return s;
}

static struct jinja_node *brackets(struct parser *p, struct jinja_node *e)
{
  struct jinja_node *s = NULL, *all = new_node(p, JINJA_TUPLED, p->now.line);
  if (all == NULL || !advance(p)) return NULL;
  while (!at_op(p, ']', 0)) {
    if (all->n > 0 && !expect_op(p, ',', "a comma is wanted")) return NULL;
    if ((s = subscript(p)) == NULL) return NULL;
    if (s->kind == JINJA_STEP_ITEM && s->a == NULL) return fail_at(p, p->now.line, "a value is wanted", &p->now);
    if (!append(p, all, s->kind == JINJA_STEP_SLICE ? s : s->a)) return NULL;
  }
  if (all->n != 1 || s->kind != JINJA_STEP_SLICE) {
    for (size_t i = 0; i < all->n; i++)
      if (all->list[i]->kind == JINJA_STEP_SLICE) return fail_at(p, p->now.line, "several slices are not known here", NULL);
    s = new_node(p, JINJA_STEP_ITEM, all->line);
    if (s != NULL) s->a = all->n == 1 ? all->list[0] : all;
  }
  return s != NULL && advance(p) ? step(p, e, s) : NULL;
}

static struct jinja_node *dot(struct parser *p, struct jinja_node *e)
{
  struct jinja_node *s = new_node(p, JINJA_STEP_ATTRIBUTE, p->now.line);
  if (s == NULL || !advance(p)) return NULL;
  if (p->now.kind == JINJA_T_NAME) return take_name(p, &s->name) ? step(p, e, s) : NULL;
  if (p->now.kind != JINJA_T_INTEGER) return fail_at(p, p->now.line, "a name or a number is wanted", &p->now);
  s->kind = JINJA_STEP_ITEM;
  if ((s->a = new_node(p, JINJA_CONST, p->now.line)) == NULL) return NULL;
  s->a->value = p->now.value;
  return advance(p) ? step(p, e, s) : NULL;
}

static struct jinja_node *postfix(struct parser *p, struct jinja_node *e)
{
  for (;;) {
    if (e == NULL) return NULL;
    if (at_op(p, '.', 0)) e = dot(p, e);
    else if (at_op(p, '[', 0)) e = brackets(p, e);
    else if (at_op(p, '(', 0)) e = call(p, e);
    else return e;
  }
}

/* names with dots are one name */
static bool dotted(struct parser *p, uint32_t *id)
{
  struct jinja_value all;
  if (p->now.kind != JINJA_T_NAME) return fail_at(p, p->now.line, "a name is wanted", &p->now) != NULL;
  if (!jinja_text_copy(p->r, p->now.byte, p->now.n, &all) || !advance(p)) return false;
  while (at_op(p, '.', 0)) {
    struct jinja_value point, part;
    if (!advance(p)) return false;
    if (p->now.kind != JINJA_T_NAME) return fail_at(p, p->now.line, "a name is wanted", &p->now) != NULL;
    if (!jinja_words(p->r, ".", &point) || !jinja_text_join(p->r, all.as.text, point.as.text, &all)
      || !jinja_text_of(p->r, p->now.byte, p->now.n, &part) || !jinja_text_join(p->r, all.as.text, part.as.text, &all)
      || !advance(p)) return false;
  }
  return jinja_intern(p->r, all.as.text->byte, all.as.text->n, id);
}

static struct jinja_node *filter_step(struct parser *p)
{
  struct jinja_node *s = new_node(p, JINJA_STEP_FILTER, p->now.line);
  if (s == NULL || !dotted(p, &s->name)) return NULL;
  return !at_op(p, '(', 0) || arguments(p, s) ? s : NULL;
}

/* An argument without brackets may follow the name of a test. op: 1 for is not */
static struct jinja_node *test(struct parser *p, struct jinja_node *e)
{
  struct jinja_node *s = new_node(p, JINJA_STEP_TEST, p->now.line), *a;
  if (s == NULL || !advance(p)) return NULL;
  if (at_word(p, "not")) {
    s->op = 1;
    if (!advance(p)) return NULL;
  }
  if (!dotted(p, &s->name)) return NULL;
  if (at_op(p, '(', 0)) return arguments(p, s) ? step(p, e, s) : NULL;
  bool value = p->now.kind == JINJA_T_NAME || p->now.kind == JINJA_T_STRING || p->now.kind == JINJA_T_INTEGER
    || p->now.kind == JINJA_T_FLOAT || at_op(p, '[', 0) || at_op(p, '{', 0);
  if (value && !at_word(p, "else") && !at_word(p, "or") && !at_word(p, "and")) {
    if (at_word(p, "is")) return fail_at(p, p->now.line, "tests cannot be chained", NULL);
    if ((a = new_node(p, JINJA_ARGUMENT, p->now.line)) == NULL) return NULL;
    a->a = postfix(p, primary(p, false));
    if (a->a == NULL || !append(p, s, a)) return NULL;
  }
  return step(p, e, s);
}

static struct jinja_node *filters(struct parser *p, struct jinja_node *e)
{
  for (;;) {
    if (e == NULL) return NULL;
    if (at_op(p, '|', 0)) e = advance(p) ? step(p, e, filter_step(p)) : NULL;
    else if (at_word(p, "is")) e = test(p, e);
    else if (at_op(p, '(', 0)) e = call(p, e);
    else return e;
  }
}

/* ---- operators ---- */

static struct jinja_node *signed_value(struct parser *p, bool filtered)
{
  struct jinja_node *e;
  if (at_op(p, '-', 0) || at_op(p, '+', 0)) {
    if (p->nested >= MAX_SIGNS) return fail_at(p, p->now.line, "expressions are nested more than 100 deep", NULL);
    if ((e = new_node(p, JINJA_SIGN, p->now.line)) == NULL) return NULL;
    e->op = p->now.op;
    p->nested++;
    if (!advance(p) || (e->a = signed_value(p, false)) == NULL) return NULL;
    p->nested--;
  }
  else e = primary(p, false);
  e = postfix(p, e);
  return filtered ? filters(p, e) : e;
}

/* a level of operators that go from left to right: 0 **; 1 * / // %; 2 + - */
static bool at_level(const struct parser *p, int level)
{
  if (level == 0) return at_op(p, '*', '*');
  if (level == 1) return at_op(p, '*', 0) || at_op(p, '/', 0) || at_op(p, '/', '/') || at_op(p, '%', 0);
  return at_op(p, '+', 0) || at_op(p, '-', 0);
}

static struct jinja_node *binary(struct parser *p, int level);

static struct jinja_node *joined(struct parser *p)
{
  struct jinja_node *e = binary(p, 1), *all;
  if (e == NULL || !at_op(p, '~', 0)) return e;
  if ((all = new_node(p, JINJA_CONCAT, e->line)) == NULL || !append(p, all, e)) return NULL;
  while (at_op(p, '~', 0))
    if (!advance(p) || !append(p, all, binary(p, 1))) return NULL;
  return all;
}

static struct jinja_node *tighter(struct parser *p, int level)
{
  if (level == 0) return signed_value(p, true);
  return level == 1 ? binary(p, 0) : joined(p);
}

static struct jinja_node *binary(struct parser *p, int level)
{
  struct jinja_node *e = tighter(p, level);
  while (e != NULL && at_level(p, level)) {
    struct jinja_node *s = new_node(p, JINJA_STEP_BINARY, p->now.line);
    if (s == NULL) return NULL;
    s->op = p->now.op;
    if (!advance(p)) return NULL;
    s->a = tighter(p, level);
    e = s->a == NULL ? NULL : step(p, e, s);
  }
  return e;
}

/* the operator here, 0 if there is none; in and not in are i and n */
static bool comparison(struct parser *p, uint32_t *op)
{
  static const char two[][2] = { "==", "!=", ">=", "<=" };
  *op = 0;
  for (size_t i = 0; i < 4; i++) if (at_op(p, two[i][0], two[i][1])) *op = p->now.op;
  if (at_op(p, '<', 0) || at_op(p, '>', 0)) *op = p->now.op;
  if (at_word(p, "in")) *op = 'i';
  if (at_word(p, "not")) {
    if (!look(p)) return false;
    if (!is_word(&p->next, "in")) return true;
    *op = 'n';
    if (!advance(p)) return false;
  }
  return *op == 0 || advance(p);
}

static struct jinja_node *compared(struct parser *p)
{
  struct jinja_node *e = binary(p, 2), *all = NULL, *s;
  uint32_t op, line = p->now.line;
  while (e != NULL) {
    if (!comparison(p, &op)) return NULL;
    if (op == 0) return all != NULL ? all : e;
    if (all == NULL && (all = new_node(p, JINJA_COMPARE, line)) == NULL) return NULL;
    if (all->a == NULL) all->a = e;
    if ((s = new_node(p, JINJA_STEP_BINARY, p->now.line)) == NULL) return NULL;
    s->op = op;
    if ((s->a = binary(p, 2)) == NULL || !append(p, all, s)) return NULL;
  }
  return NULL;
}

static struct jinja_node *negation(struct parser *p)
{
  uint32_t n = 0, line = p->now.line;
  struct jinja_node *e, *inside;
  while (at_word(p, "not")) {
    n++;
    if (!advance(p)) return NULL;
  }
  if ((inside = compared(p)) == NULL || n == 0) return inside;
  if ((e = new_node(p, JINJA_NOT, line)) != NULL) e->a = inside, e->op = n;
  return e;
}

static struct jinja_node *conjunction(struct parser *p)
{
  struct jinja_node *e = negation(p), *all;
  if (e == NULL || !at_word(p, "and")) return e;
  if ((all = new_node(p, JINJA_AND, e->line)) == NULL || !append(p, all, e)) return NULL;
  while (at_word(p, "and"))
    if (!advance(p) || !append(p, all, negation(p))) return NULL;
  return all;
}

static struct jinja_node *disjunction(struct parser *p)
{
  struct jinja_node *e = conjunction(p), *all;
  if (e == NULL || !at_word(p, "or")) return e;
  if ((all = new_node(p, JINJA_OR, e->line)) == NULL || !append(p, all, e)) return NULL;
  while (at_word(p, "or"))
    if (!advance(p) || !append(p, all, conjunction(p))) return NULL;
  return all;
}

/* a: the condition, b: if it is true, c: else, perhaps null */
static struct jinja_node *conditional(struct parser *p)
{
  struct jinja_node *e = disjunction(p), *all;
  while (e != NULL && at_word(p, "if")) {
    if (!advance(p) || (all = new_node(p, JINJA_COND, e->line)) == NULL) return NULL;
    all->b = e;
    if ((all->a = disjunction(p)) == NULL) return NULL;
    if (at_word(p, "else") && (!advance(p) || (all->c = expression(p)) == NULL)) return NULL;
    e = all;
  }
  return e;
}

static struct jinja_node *expression(struct parser *p)
{
  if (p->nested >= MAX_SIGNS) return fail_at(p, p->now.line, "expressions are nested more than 100 deep", NULL);
  p->nested++;
  struct jinja_node *e = conditional(p);
  p->nested--;
  return e;
}

/* ---- statements ---- */

static bool can_assign(struct parser *p, const struct jinja_node *to)
{
  for (size_t i = 0; to->kind == JINJA_TUPLED && i < to->n; i++) if (!can_assign(p, to->list[i])) return false;
  return to->kind == JINJA_TUPLED || to->kind == JINJA_NAME || to->kind == JINJA_TARGET_ATTRIBUTE
    || fail_at(p, to->line, "this cannot be assigned to", NULL) != NULL;
}

static struct jinja_node *target(struct parser *p, enum tuple_of what, const char *end)
{
  struct jinja_node *to = tuple(p, what, end, false);
  return to != NULL && can_assign(p, to) ? to : NULL;
}

/* the body up to one of the words, which is then the token here */
static struct jinja_node *body(struct parser *p, const char *const *ends)
{
  if (at_op(p, ':', 0) && !advance(p)) return NULL;
  if (!expect(p, JINJA_T_BLOCK_END, "the end of the tag is wanted")) return NULL;
  struct jinja_node *b = statements(p, ends);
  if (b != NULL && p->now.kind == JINJA_T_END) return fail_at(p, p->now.line, "a block has no end", NULL);
  return b;
}

/* the body up to one word, and over that word */
static struct jinja_node *whole_body(struct parser *p, const char *end)
{
  const char *const ends[] = { end, NULL };
  struct jinja_node *b = body(p, ends);
  return b != NULL && advance(p) ? b : NULL;
}

/* list: conditions and bodies by turns; b: else */
static struct jinja_node *parse_if(struct parser *p)
{
  static const char *const ends[] = { "elif", "else", "endif", NULL };
  struct jinja_node *e = new_node(p, JINJA_IF, p->now.line);
  for (bool more = true; e != NULL && more;) {
    if (!advance(p) || !append(p, e, tuple(p, NO_CONDITIONS, NULL, false)) || !append(p, e, body(p, ends))) return NULL;
    more = at_word(p, "elif");
  }
  if (e == NULL) return NULL;
  bool other = at_word(p, "else");
  if (!advance(p) || (other && (e->b = whole_body(p, "endif")) == NULL)) return NULL;
  return e;
}

/* list: target, items, body; a: the condition, b: else, both perhaps null */
static struct jinja_node *parse_for(struct parser *p)
{
  static const char *const ends[] = { "endfor", "else", NULL };
  struct jinja_node *e = new_node(p, JINJA_FOR, p->now.line);
  if (e == NULL || !advance(p) || !append(p, e, target(p, TARGETS, "in"))) return NULL;
  if (!at_word(p, "in")) return fail_at(p, p->now.line, "`in' is wanted", &p->now);
  if (!advance(p) || !append(p, e, tuple(p, NO_CONDITIONS, "recursive", false))) return NULL;
  if (at_word(p, "if") && (!advance(p) || (e->a = expression(p)) == NULL)) return NULL;
  if (at_word(p, "recursive")) return fail_at(p, p->now.line, "recursive loops are not known here", NULL);
  if (!append(p, e, body(p, ends))) return NULL;
  bool other = at_word(p, "else");
  if (!advance(p) || (other && (e->b = whole_body(p, "endfor")) == NULL)) return NULL;
  return e;
}

/* a: target, b: value; or a: target, b: body, list: filters */
static struct jinja_node *parse_set(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_SET, p->now.line);
  if (e == NULL || !advance(p) || (e->a = target(p, TARGETS_OR_ATTRIBUTES, NULL)) == NULL) return NULL;
  if (at_op(p, '=', 0)) return advance(p) && (e->b = tuple(p, ANY_VALUES, NULL, false)) != NULL ? e : NULL;
  e->kind = JINJA_SET_BLOCK;
  while (at_op(p, '|', 0))
    if (!advance(p) || !append(p, e, filter_step(p))) return NULL;
  return (e->b = whole_body(p, "endset")) != NULL ? e : NULL;
}

/* list: arguments, each a NAME, whose a is its default, perhaps null */
static bool signature(struct parser *p, struct jinja_node *e)
{
  bool defaults = false;
  if (!expect_op(p, '(', "an opening bracket is wanted")) return false;
  while (!at_op(p, ')', 0)) {
    if (e->n > 0 && !expect_op(p, ',', "a comma is wanted")) return false;
    struct jinja_node *a = new_node(p, JINJA_NAME, p->now.line);
    if (reserved(&p->now)) return fail_at(p, p->now.line, "this cannot be assigned to", &p->now) != NULL;
    if (a == NULL || !take_name(p, &a->name) || !append(p, e, a)) return false;
    if (at_op(p, '=', 0)) {
      defaults = true;
      if (!advance(p) || (a->a = expression(p)) == NULL) return false;
    }
    else if (defaults) return fail_at(p, p->now.line, "an argument without a default follows one with", NULL) != NULL;
  }
  return advance(p);
}

/* b: body */
static struct jinja_node *parse_macro(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_MACRO_DEFINED, p->now.line);
  if (e == NULL || !advance(p)) return NULL;
  if (reserved(&p->now)) return fail_at(p, p->now.line, "this cannot be assigned to", &p->now);
  if (!take_name(p, &e->name) || !signature(p, e)) return NULL;
  return (e->b = whole_body(p, "endmacro")) != NULL ? e : NULL;
}

/* a: the call, b: body */
static struct jinja_node *parse_call(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_CALL_BLOCK, p->now.line);
  if (e == NULL || !advance(p) || (at_op(p, '(', 0) && !signature(p, e)) || (e->a = expression(p)) == NULL) return NULL;
  if (e->a->kind != JINJA_CHAIN || e->a->list[e->a->n - 1]->kind != JINJA_STEP_CALL)
    return fail_at(p, e->line, "a call is wanted", NULL);
  return (e->b = whole_body(p, "endcall")) != NULL ? e : NULL;
}

/* list: filters, b: body */
static struct jinja_node *parse_filter(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_FILTER_BLOCK, p->now.line);
  if (e == NULL || !advance(p) || !append(p, e, filter_step(p))) return NULL;
  while (at_op(p, '|', 0))
    if (!advance(p) || !append(p, e, filter_step(p))) return NULL;
  return (e->b = whole_body(p, "endfilter")) != NULL ? e : NULL;
}

/* list: targets and values by turns, b: body */
static struct jinja_node *parse_with(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_WITH, p->now.line);
  if (e == NULL || !advance(p)) return NULL;
  while (p->now.kind != JINJA_T_BLOCK_END) {
    if (e->n > 0 && !expect_op(p, ',', "a comma is wanted")) return NULL;
    struct jinja_node *to = target(p, TARGETS, NULL);
    if (!append(p, e, to) || !expect_op(p, '=', "an equals sign is wanted") || !append(p, e, expression(p))) return NULL;
  }
  return (e->b = whole_body(p, "endwith")) != NULL ? e : NULL;
}

static struct jinja_node *parse_generation(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_GENERATION, p->now.line);
  if (e == NULL || !advance(p)) return NULL;
  return (e->b = whole_body(p, "endgeneration")) != NULL ? e : NULL;
}

static struct jinja_node *parse_print(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_OUTPUT, p->now.line);
  if (e == NULL || !advance(p)) return NULL;
  while (p->now.kind != JINJA_T_BLOCK_END) {
    if (e->n > 0 && !expect_op(p, ',', "a comma is wanted")) return NULL;
    if (!append(p, e, expression(p))) return NULL;
  }
  return e;
}

static struct jinja_node *parse_break(struct parser *p)
{
  struct jinja_node *e = new_node(p, at_word(p, "break") ? JINJA_BREAK : JINJA_CONTINUE, p->now.line);
  return e != NULL && advance(p) ? e : NULL;
}

static struct jinja_node *parse_refused(struct parser *p)
{
  return fail_at(p, p->now.line, "this tag is not known here: wanted one of chat templates", &p->now);
}

/* The tags; the last are Jinja's own that no chat template uses. */
static const struct tag_row { const char *word; struct jinja_node *(*parse)(struct parser *p); } tags[] = {
  { "if", parse_if }, { "for", parse_for }, { "set", parse_set }, { "macro", parse_macro }, { "call", parse_call },
  { "filter", parse_filter }, { "with", parse_with }, { "generation", parse_generation }, { "print", parse_print },
  { "break", parse_break }, { "continue", parse_break },
  { "block", parse_refused }, { "extends", parse_refused }, { "include", parse_refused }, { "import", parse_refused },
  { "from", parse_refused }, { "autoescape", parse_refused } };

static struct jinja_node *statement(struct parser *p)
{
  if (p->now.kind != JINJA_T_NAME) return fail_at(p, p->now.line, "the name of a tag is wanted", &p->now);
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    if (!at_word(p, tags[i].word)) continue;
    if (p->blocks >= JINJA_MAX_NESTED) return fail_at(p, p->now.line, "blocks are nested more than 100 deep", NULL);
    p->blocks++;
    struct jinja_node *e = tags[i].parse(p);
    p->blocks--;
    return e;
  }
  return fail_at(p, p->now.line, "there is no such tag here", &p->now);
}

static struct jinja_node *data(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_OUTPUT, p->now.line), *c = new_node(p, JINJA_CONST, p->now.line);
  if (e == NULL || c == NULL || !jinja_text_of(p->r, p->now.byte, p->now.n, &c->value) || !append(p, e, c)) return NULL;
  return advance(p) ? e : NULL;
}

static struct jinja_node *variable(struct parser *p)
{
  struct jinja_node *e = new_node(p, JINJA_OUTPUT, p->now.line);
  if (e == NULL || !advance(p) || !append(p, e, tuple(p, ANY_VALUES, NULL, false))) return NULL;
  return expect(p, JINJA_T_VARIABLE_END, "the end of the expression is wanted") ? e : NULL;
}

static struct jinja_node *statements(struct parser *p, const char *const *ends)
{
  struct jinja_node *b = new_node(p, JINJA_BLOCK, p->now.line), *e;
  while (b != NULL && p->now.kind != JINJA_T_END) {
    if (p->now.kind == JINJA_T_DATA) e = data(p);
    else if (p->now.kind == JINJA_T_VARIABLE) e = variable(p);
    else {
      if (!advance(p)) return NULL;
      for (size_t i = 0; ends != NULL && ends[i] != NULL; i++) if (at_word(p, ends[i])) return b;
      e = statement(p);
      if (e != NULL && !expect(p, JINJA_T_BLOCK_END, "the end of the tag is wanted")) return NULL;
    }
    if (!append(p, b, e)) return NULL;
  }
  return b;
}

struct jinja_node *jinja_parse(struct jinja_run *r, const char *source, size_t n)
{
  struct parser p = { .r = r };
  if (!jinja_lexer_open(&p.x, r, source, n) || !advance(&p)) return NULL;
  struct jinja_node *root = statements(&p, NULL);
  if (root != NULL) r->line = 0;
  return root;
}
