/* jinja_tests.c -- the tests, what stands behind is, a row of a table each. */

#include <math.h>
#include <string.h>
#include "templates/jinja_inside.h"

#define ASKED const struct jinja_value *v, const struct jinja_value *w, bool *out

static bool test_defined(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind != JINJA_UNDEFINED, true; }
static bool test_undefined(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_UNDEFINED, true; }
static bool test_none(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_NONE, true; }
static bool test_boolean(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_BOOL, true; }
static bool test_true(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_BOOL && v->as.flag, true; }
static bool test_false(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_BOOL && !v->as.flag, true; }
static bool test_integer(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_INT, true; }
static bool test_float(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_FLOAT, true; }
static bool test_string(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_TEXT, true; }
static bool test_mapping(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_DICT, true; }
static bool test_iterable(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = jinja_iterable(v), true; }
static bool test_escaped(struct jinja_run *r, ASKED) { (void) r, (void) w; return *out = v->kind == JINJA_TEXT && v->safe, true; }

static bool test_number(struct jinja_run *r, ASKED)
{
  (void) r, (void) w;
  return *out = v->kind == JINJA_INT || v->kind == JINJA_FLOAT || v->kind == JINJA_BOOL, true;
}

static bool test_sequence(struct jinja_run *r, ASKED)
{
  (void) r, (void) w;
  return *out = jinja_iterable(v) && v->kind != JINJA_VIEW && v->kind != JINJA_ITERATOR, true;
}

static bool test_callable(struct jinja_run *r, ASKED)
{
  (void) r, (void) w;
  return *out = v->kind == JINJA_UNDEFINED || v->kind == JINJA_MACRO || v->kind == JINJA_FUNCTION || v->kind == JINJA_METHOD
    || v->kind == JINJA_LOOP, true;
}

static bool test_case(struct jinja_run *r, const struct jinja_value *v, enum jinja_case how, bool *out)
{
  struct jinja_value s;
  return jinja_str(r, v, &s) && (*out = jinja_is_case(s.as.text, how), true);
}

static bool test_lower(struct jinja_run *r, ASKED) { (void) w; return test_case(r, v, JINJA_LOWER, out); }
static bool test_upper(struct jinja_run *r, ASKED) { (void) w; return test_case(r, v, JINJA_UPPER, out); }

static bool rest_is(struct jinja_run *r, const struct jinja_value *v, struct jinja_value by, int64_t wanted, bool *out)
{
  struct jinja_value rest, want = jinja_int(wanted);
  if (v->kind == JINJA_TEXT) return jinja_fail(r, "a str is neither odd nor even");
  return jinja_binary(r, '%', v, &by, &rest) && jinja_equal(r, &rest, &want, out);
}

static bool test_odd(struct jinja_run *r, ASKED) { (void) w; return rest_is(r, v, jinja_int(2), 1, out); }
static bool test_even(struct jinja_run *r, ASKED) { (void) w; return rest_is(r, v, jinja_int(2), 0, out); }
static bool test_divisibleby(struct jinja_run *r, ASKED) { return rest_is(r, v, *w, 0, out); }

static bool test_equal(struct jinja_run *r, ASKED) { return jinja_equal(r, v, w, out); }
static bool test_unequal(struct jinja_run *r, ASKED) { bool ok = jinja_equal(r, v, w, out); return *out = !*out, ok; }
static bool test_in(struct jinja_run *r, ASKED) { return jinja_contains(r, w, v, out); }
static bool test_less(struct jinja_run *r, ASKED) { return jinja_compare(r, '<', v, w, out); }
static bool test_more(struct jinja_run *r, ASKED) { return jinja_compare(r, '>', v, w, out); }
static bool test_most(struct jinja_run *r, ASKED) { return jinja_compare(r, JINJA_OP('<', '='), v, w, out); }
static bool test_least(struct jinja_run *r, ASKED) { return jinja_compare(r, JINJA_OP('>', '='), v, w, out); }

/* Identity: sure for what there is once, and for things; numbers and texts may or may not be the same object in Python. */
static bool test_sameas(struct jinja_run *r, ASKED)
{
  *out = false;
  if (v->kind != w->kind) return true;
  if (v->kind == JINJA_NONE) return *out = true;
  if (v->kind == JINJA_BOOL) return *out = v->as.flag == w->as.flag, true;
  if (v->kind == JINJA_LIST || v->kind == JINJA_DICT || v->kind == JINJA_NAMESPACE) return *out = v->as.list == w->as.list, true;
  return jinja_fail(r, "whether two %s values are the same is not known here", jinja_kind_name(v));
}

/* name, function, how many arguments */
static const struct test_row { const char *name; bool (*ask)(struct jinja_run *r, ASKED); size_t n; } tests[] = {
  { "defined", test_defined, 0 }, { "undefined", test_undefined, 0 }, { "none", test_none, 0 }, { "boolean", test_boolean, 0 },
  { "true", test_true, 0 }, { "false", test_false, 0 }, { "integer", test_integer, 0 }, { "float", test_float, 0 },
  { "number", test_number, 0 }, { "string", test_string, 0 }, { "mapping", test_mapping, 0 }, { "iterable", test_iterable, 0 },
  { "sequence", test_sequence, 0 }, { "callable", test_callable, 0 }, { "escaped", test_escaped, 0 }, { "lower", test_lower, 0 },
  { "upper", test_upper, 0 }, { "odd", test_odd, 0 }, { "even", test_even, 0 },
  { "divisibleby", test_divisibleby, 1 }, { "sameas", test_sameas, 1 }, { "in", test_in, 1 }, { "==", test_equal, 1 },
  { "eq", test_equal, 1 }, { "equalto", test_equal, 1 }, { "!=", test_unequal, 1 }, { "ne", test_unequal, 1 }, { "<", test_less, 1 },
  { "lt", test_less, 1 }, { "lessthan", test_less, 1 }, { ">", test_more, 1 }, { "gt", test_more, 1 }, { "greaterthan", test_more, 1 },
  { "<=", test_most, 1 }, { "le", test_most, 1 }, { ">=", test_least, 1 }, { "ge", test_least, 1 } };

static const struct test_row *find_test(const char *name, size_t n)
{
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    if (strlen(tests[i].name) == n && memcmp(tests[i].name, name, n) == 0) return &tests[i];
  return NULL;
}

bool jinja_test_known(const char *name, size_t n)
{
  return find_test(name, n) != NULL;
}

bool jinja_test(struct jinja_run *r, const struct jinja_text *name, const struct jinja_value *v, const struct jinja_call *c, bool *out)
{
  const struct test_row *row = find_test(name->byte, name->n);
  if (row == NULL) return jinja_fail(r, "the test `%.*s' is not known here", name->n > 40 ? 40 : (int) name->n, name->byte);
  if (c->n != row->n || c->n_named > 0) return jinja_fail(r, "the test %s takes %zu arguments by place, not %zu", row->name, row->n, c->n);
  return row->ask(r, v, c->item, out);
}
