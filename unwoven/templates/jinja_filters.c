/* jinja_filters.c -- the filters, a row of a table each.

   What the library does lazily, map and select, is done here at once, but an error that comes on the way is kept and said only to
   whoever goes so far. Filters of Jinja's that no published template uses are not here, and using one is an error that names it. */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "templates/jinja_inside.h"

#define GIVEN const struct jinja_value *v, const struct jinja_call *c, struct jinja_value *out

static const char *const no_name[] = { NULL };

/* the value as text, and safe if it was */
static bool soft(struct jinja_run *r, const struct jinja_value *v, struct jinja_value *out)
{
  return jinja_str(r, v, out);
}

static bool items_of(struct jinja_run *r, const struct jinja_value *v, struct jinja_list **l)
{
  if (!jinja_iterable(v)) return jinja_fail(r, "%s cannot be gone through", jinja_kind_name(v));
  return jinja_items(r, v, l);
}

/* ---- text ---- */

static bool cased(struct jinja_run *r, const char *what, const struct jinja_value *v, const struct jinja_call *c, enum jinja_case how,
  struct jinja_value *out)
{
  struct jinja_value s;
  return jinja_arguments(r, what, c, 0, 0, no_name) && soft(r, v, &s) && jinja_change_case(r, &s, how, out);
}

static bool filter_upper(struct jinja_run *r, GIVEN) { return cased(r, "upper", v, c, JINJA_UPPER, out); }
static bool filter_lower(struct jinja_run *r, GIVEN) { return cased(r, "lower", v, c, JINJA_LOWER, out); }
static bool filter_capitalize(struct jinja_run *r, GIVEN) { return cased(r, "capitalize", v, c, JINJA_CAPITALIZE, out); }

static bool begins_word(uint32_t p)
{
  return p == '-' || p == '(' || p == '{' || p == '[' || p == '<' || jinja_blank(p);
}

/* Unlike Python's method it knows words by what separates them: white space, hyphens, opening brackets. */
static bool filter_title(struct jinja_run *r, GIVEN)
{
  struct jinja_value s, part, done;
  uint32_t p;
  if (!jinja_arguments(r, "title", c, 0, 0, no_name) || !soft(r, v, &s) || !jinja_words(r, "", out)) return false;
  const struct jinja_text *t = s.as.text;
  for (size_t at = 0; at < t->n;) {
    size_t from = at, k = jinja_point(t->byte + at, t->n - at, &p);
    if (!jinja_text_of(r, t->byte + from, k, &part) || !jinja_change_case(r, &part, JINJA_UPPER, &done)
      || !jinja_text_join(r, out->as.text, done.as.text, out)) return false;
    bool apart = begins_word(p);
    for (from = at += k; at < t->n; at += k) {
      k = jinja_point(t->byte + at, t->n - at, &p);
      if (begins_word(p) != apart) break;
    }
    if (!jinja_text_of(r, t->byte + from, at - from, &part) || !jinja_change_case(r, &part, JINJA_LOWER, &done)
      || !jinja_text_join(r, out->as.text, done.as.text, out)) return false;
  }
  return true;
}

static bool filter_trim(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "chars", NULL };
  struct jinja_value s;
  if (!jinja_arguments(r, "trim", c, 0, 1, names) || !soft(r, v, &s)) return false;
  const struct jinja_value *set = jinja_argument(c, 0, "chars");
  if (set == NULL || set->kind == JINJA_NONE) return jinja_strip(r, &s, NULL, out);
  if (set->kind != JINJA_TEXT) return jinja_fail(r, "trim wants a str, not %s", jinja_kind_name(set));
  return jinja_strip(r, &s, set->as.text, out);
}

static bool filter_string(struct jinja_run *r, GIVEN)
{
  return jinja_arguments(r, "string", c, 0, 0, no_name) && soft(r, v, out);
}

static bool filter_safe(struct jinja_run *r, GIVEN)
{
  if (!jinja_arguments(r, "safe", c, 0, 0, no_name) || !jinja_str(r, v, out)) return false;
  return out->safe = true;
}

static bool filter_escape(struct jinja_run *r, GIVEN)
{
  return jinja_arguments(r, "escape", c, 0, 0, no_name) && jinja_escape(r, v, out);
}

static bool filter_forceescape(struct jinja_run *r, GIVEN)
{
  struct jinja_value s;
  if (!jinja_arguments(r, "forceescape", c, 0, 0, no_name) || !jinja_str(r, v, &s)) return false;
  s.safe = false;
  return jinja_escape(r, &s, out);
}

static bool filter_replace(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "old", "new", "count", NULL };
  struct jinja_value s, old, new;
  int64_t most = -1;
  if (!jinja_arguments(r, "replace", c, 2, 3, names)) return false;
  const struct jinja_value *a = jinja_argument(c, 0, "old"), *b = jinja_argument(c, 1, "new"), *max = jinja_argument(c, 2, "count");
  if (a == NULL || b == NULL) return jinja_fail(r, "replace wants an old and a new text");
  if (max != NULL && max->kind != JINJA_NONE && !jinja_integer(max, &most)) return jinja_fail(r, "replace is told how often by an integer");
  return jinja_str(r, v, &s) && jinja_str(r, a, &old) && jinja_str(r, b, &new)
    && jinja_replace(r, s.as.text, old.as.text, new.as.text, most, out);
}

/* Lines are Python's, and the last newline goes with them. */
static bool indent_lines(struct jinja_run *r, const struct jinja_list *lines, const struct jinja_text *by, bool first, bool blank,
  struct jinja_output *o)
{
  for (size_t i = 0; i < lines->n; i++) {
    const struct jinja_text *line = lines->item[i].as.text;
    bool in = i == 0 ? first : blank || line->n > 0;
    if ((i > 0 && !jinja_write(r, o, "\n", 1)) || (in && !jinja_write_text(r, o, by)) || !jinja_write_text(r, o, line)) return false;
  }
  return lines->n > 0 || !first || jinja_write_text(r, o, by);
}

static bool filter_indent(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "width", "first", "blank", NULL };
  static const struct jinja_text break_text = { "\n", 1, 1 };
  struct jinja_value all, by;
  struct jinja_list *lines = NULL;
  struct jinja_output o = { .byte = NULL };
  int64_t n = 4;
  if (!jinja_arguments(r, "indent", c, 0, 3, names)) return false;
  if (v->kind != JINJA_TEXT) return jinja_fail(r, "indent wants a str, not %s", jinja_kind_name(v));
  const struct jinja_value *width = jinja_argument(c, 0, "width"), *first = jinja_argument(c, 1, "first"), *blank = jinja_argument(c, 2, "blank");
  if (width != NULL && width->kind == JINJA_TEXT) by = *width;
  else {
    struct jinja_value space;
    if (width != NULL && !jinja_integer(width, &n)) return jinja_fail(r, "indent wants a width, not %s", jinja_kind_name(width));
    struct jinja_value times = jinja_int(n);
    if (!jinja_words(r, " ", &space) || !jinja_binary(r, '*', &space, &times, &by)) return false;
  }
  if (v->safe && by.kind == JINJA_TEXT && !jinja_escape(r, &by, &by)) return false;
  if (!jinja_text_join(r, v->as.text, &break_text, &all) || !jinja_lines(r, &all, false, &lines)) return false;
  bool ok = indent_lines(r, lines, by.as.text, first != NULL && jinja_true(first), blank != NULL && jinja_true(blank), &o)
    && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  if (ok) out->safe = v->safe;
  return ok;
}

static bool filter_format(struct jinja_run *r, GIVEN)
{
  struct jinja_value s, with;
  if (!jinja_str(r, v, &s)) return false;
  if (c->n > 0 && c->n_named > 0) return jinja_fail(r, "format takes arguments by place or by name, not both");
  if (c->n_named > 0) {
    struct jinja_dict *d = jinja_dict_new(r);
    if (d == NULL) return false;
    for (size_t i = 0; i < c->n_named; i++)
      if (!jinja_dict_set(r, d, (struct jinja_value) { .kind = JINJA_TEXT, .as.text = c->named[i].name }, c->named[i].value)) return false;
    with = jinja_dicted(d);
  }
  else {
    struct jinja_list *l = jinja_list_new(r, c->n);
    if (l == NULL) return false;
    for (size_t i = 0; i < c->n; i++) if (!jinja_push(r, l, c->item[i])) return false;
    with = jinja_listed(JINJA_TUPLE, l);
  }
  return jinja_percent(r, &s, &with, out);
}

static bool filter_center(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "width", NULL };
  struct jinja_value s, width = jinja_int(80);
  if (!jinja_arguments(r, "center", c, 0, 1, names) || !soft(r, v, &s)) return false;
  if (jinja_argument(c, 0, "width") != NULL) width = *jinja_argument(c, 0, "width");
  return jinja_center(r, &s, &width, out);
}

/* ---- numbers ---- */

/* Python's float() of a text: white space, single underscores, inf and nan; false if it is none */
static bool parse_float(const struct jinja_text *t, double *x)
{
  char digits[80];
  size_t n = 0, from = 0, to = t->n;
  while (from < to && jinja_blank((unsigned char) t->byte[from])) from++;
  while (to > from && jinja_blank((unsigned char) t->byte[to - 1])) to--;
  if (to == from || to - from >= sizeof digits) return false;
  for (size_t i = from; i < to; i++) {
    char ch = t->byte[i], before = i > from ? t->byte[i - 1] : ' ', after = i + 1 < to ? t->byte[i + 1] : ' ';
    bool digits_around = before >= '0' && before <= '9' && after >= '0' && after <= '9';
    if (ch == '_' && digits_around) continue;
    if (ch >= 'A' && ch <= 'Z') ch = (char) (ch + 32);
    if (ch == '\0' || strchr("0123456789.e+-infaty", ch) == NULL) return false;
    digits[n++] = ch;
  }
  digits[n] = '\0';
  char *end;
  *x = strtod(digits, &end);
  return *end == '\0';
}

/* Python's int() of a text in a base; *large: it is one, of more than 64 bits */
static bool parse_int(const struct jinja_text *t, int64_t base, int64_t *x, bool *large)
{
  size_t i = 0, to = t->n;
  uint64_t n = 0;
  *large = false;
  while (i < to && jinja_blank((unsigned char) t->byte[i])) i++;
  while (to > i && jinja_blank((unsigned char) t->byte[to - 1])) to--;
  bool minus = i < to && t->byte[i] == '-', digit = false;
  if (i < to && (t->byte[i] == '-' || t->byte[i] == '+')) i++;
  if (base == 16 && i + 2 < to && t->byte[i] == '0' && (t->byte[i + 1] | 32) == 'x') i += 2;
  if (base == 8 && i + 2 < to && t->byte[i] == '0' && (t->byte[i + 1] | 32) == 'o') i += 2;
  if (base == 2 && i + 2 < to && t->byte[i] == '0' && (t->byte[i + 1] | 32) == 'b') i += 2;
  for (; i < to; i++) {
    int d = hex_digit((unsigned char) t->byte[i]);
    if (t->byte[i] == '_' && digit && i + 1 < to) {
      digit = false;
      continue;
    }
    if (d < 0 || d >= base) return false;
    digit = true;
    if (n > ((uint64_t) INT64_MAX - (uint64_t) d) / (uint64_t) base) *large = true;
    else n = n * (uint64_t) base + (uint64_t) d;
  }
  *x = minus ? -(int64_t) n : (int64_t) n;
  return digit;
}

static bool float_to_int(struct jinja_run *r, double x, struct jinja_value *out)
{
  if (!(x > -9.2e18 && x < 9.2e18)) return jinja_fail(r, "a float has no integer of 64 bits");
  *out = jinja_int((int64_t) x);
  return true;
}

static bool filter_int(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "default", "base", NULL };
  int64_t n = 0, base = 10;
  double x;
  bool large = false;
  if (!jinja_arguments(r, "int", c, 0, 2, names)) return false;
  const struct jinja_value *normal = jinja_argument(c, 0, "default"), *b = jinja_argument(c, 1, "base");
  if (b != NULL && (!jinja_integer(b, &base) || (base != 10 && base != 16 && base != 8 && base != 2)))
    return jinja_fail(r, "int knows the bases 2, 8, 10 and 16 here");
  if (v->kind == JINJA_UNDEFINED) return jinja_fail(r, "an undefined value is no int");
  if (jinja_integer(v, &n)) return *out = jinja_int(n), true;
  if (v->kind == JINJA_FLOAT && isnan(v->as.x)) return *out = normal == NULL ? jinja_int(0) : *normal, true;
  if (v->kind == JINJA_FLOAT) return float_to_int(r, v->as.x, out);
  if (v->kind == JINJA_TEXT && parse_int(v->as.text, base, &n, &large)) {
    if (large) return jinja_fail(r, "an int would have more than 64 bits");
    return *out = jinja_int(n), true;
  }
  if (v->kind == JINJA_TEXT && parse_float(v->as.text, &x) && !isnan(x) && !isinf(x)) return float_to_int(r, x, out);
  return *out = normal == NULL ? jinja_int(0) : *normal, true;
}

static bool filter_float(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "default", NULL };
  int64_t n = 0;
  double x = 0;
  if (!jinja_arguments(r, "float", c, 0, 1, names)) return false;
  const struct jinja_value *normal = jinja_argument(c, 0, "default");
  if (v->kind == JINJA_UNDEFINED) return jinja_fail(r, "an undefined value is no float");
  *out = normal == NULL ? jinja_float(0) : *normal;
  if (v->kind == JINJA_FLOAT) *out = *v;
  else if (jinja_integer(v, &n)) *out = jinja_float((double) n);
  else if (v->kind == JINJA_TEXT && parse_float(v->as.text, &x)) *out = jinja_float(x);
  return true;
}

static bool filter_abs(struct jinja_run *r, GIVEN)
{
  int64_t n = 0;
  if (!jinja_arguments(r, "abs", c, 0, 0, no_name)) return false;
  if (jinja_integer(v, &n) && n != INT64_MIN) return *out = jinja_int(n < 0 ? -n : n), true;
  if (v->kind == JINJA_FLOAT) return *out = jinja_float(fabs(v->as.x)), true;
  return jinja_fail(r, "%s has no absolute value here", jinja_kind_name(v));
}

/* ---- attributes of items ---- */

/* the item's attribute by a path with dots; a number in it is an index. Where there is none, normal, if it is not null */
static bool by_path(struct jinja_run *r, struct jinja_value item, const struct jinja_value *path, const struct jinja_value *normal,
  struct jinja_value *out)
{
  *out = item;
  if (path == NULL || path->kind == JINJA_NONE) return true;
  if (path->kind != JINJA_TEXT) return jinja_item(r, &item, path, out);
  const struct jinja_text *t = path->as.text;
  for (size_t from = 0, to; from <= t->n; from = to + 1) {
    struct jinja_value key;
    int64_t n = 0;
    bool large, digits = true;
    for (to = from; to < t->n && t->byte[to] != '.'; to++) digits = digits && t->byte[to] >= '0' && t->byte[to] <= '9';
    if (!jinja_text_of(r, t->byte + from, to - from, &key)) return false;
    if (digits && to > from && parse_int(key.as.text, 10, &n, &large) && !large) key = jinja_int(n);
    struct jinja_value here = *out;
    if (!jinja_steps(r, 1) || !jinja_item(r, &here, &key, out)) return false;
    if (out->kind == JINJA_UNDEFINED && normal != NULL && normal->kind != JINJA_NONE) *out = *normal;
  }
  return true;
}

/* what the order looks at: the attribute, in small letters unless letters' case matters */
static bool sort_key(struct jinja_run *r, struct jinja_value item, const struct jinja_value *path, bool sensitive, struct jinja_value *out)
{
  struct jinja_value v;
  if (!by_path(r, item, path, NULL, &v)) return false;
  *out = v;
  return sensitive || v.kind != JINJA_TEXT || jinja_change_case(r, &v, JINJA_LOWER, out);
}

static bool flag(const struct jinja_value *v)
{
  return v != NULL && jinja_true(v);
}

/* ---- lists ---- */

static struct jinja_iterator *new_iterator(struct jinja_run *r, struct jinja_value *out)
{
  struct jinja_iterator *t = jinja_room(r, 1, sizeof *t);
  if (t == NULL || (t->list = jinja_list_new(r, 0)) == NULL) return NULL;
  *out = (struct jinja_value) { .kind = JINJA_ITERATOR, .as.iterator = t };
  return t;
}

/* What failed while items were made comes after those that were; a limit is a failure at once. */
static bool keep_failure(struct jinja_run *r, struct jinja_iterator *t, size_t depth, size_t calls)
{
  struct jinja_value words;
  if (r->fatal) return false;
  r->depth = depth, r->calls = calls;
  const char *text = r->why != NULL ? r->why->text : "a filter failed";
  if (!jinja_text_copy(r, text, strlen(text) + 1, &words)) return false;
  t->failed = words.as.text->byte;
  return true;
}

/* makes one item of a lazy filter, or says that there is none for this one */
typedef bool make_item(struct jinja_run *r, struct jinja_value item, const struct jinja_call *c, struct jinja_value *out, bool *some);

static bool lazily(struct jinja_run *r, const struct jinja_value *v, const struct jinja_call *c, make_item *make, struct jinja_value *out)
{
  struct jinja_iterator *t = new_iterator(r, out);
  struct jinja_value from = *v, item, made;
  size_t at = 0, depth = r->depth, calls = r->calls;
  bool some = true, keep;
  if (t == NULL) return false;
  if (!jinja_true(v)) return true;
  if (!jinja_iterable(v)) {
    jinja_fail(r, "%s cannot be gone through", jinja_kind_name(v));
    return keep_failure(r, t, depth, calls);
  }
  for (;;) {
    if (!jinja_next(r, &from, &at, &item, &some)) return keep_failure(r, t, depth, calls);
    if (!some) return true;
    if (!make(r, item, c, &made, &keep)) return keep_failure(r, t, depth, calls);
    if (keep && !jinja_push(r, t->list, made)) return false;
  }
}

static struct jinja_call arguments_after(const struct jinja_call *c, size_t n)
{
  struct jinja_call rest = *c;
  rest.item += n < c->n ? n : c->n, rest.n -= n < c->n ? n : c->n;
  return rest;
}

static bool map_item(struct jinja_run *r, struct jinja_value item, const struct jinja_call *c, struct jinja_value *out, bool *some)
{
  static const char *const names[] = { "attribute", "default", NULL };
  const struct jinja_value *path = jinja_argument(c, 1, "attribute");
  *some = true;
  if (c->n == 0 && path != NULL) {
    if (!jinja_arguments(r, "map", c, 0, 0, names)) return false;
    return by_path(r, item, path, jinja_argument(c, 2, "default"), out);
  }
  if (c->n == 0 || c->item[0].kind != JINJA_TEXT) return jinja_fail(r, "map wants the name of a filter");
  struct jinja_call rest = arguments_after(c, 1);
  return jinja_filter(r, c->item[0].as.text, &item, &rest, out);
}

static bool filter_map(struct jinja_run *r, GIVEN) { return lazily(r, v, c, map_item, out); }

/* does the item pass the test that begins at argument number off? without one, is it true? */
static bool passes(struct jinja_run *r, struct jinja_value item, const struct jinja_call *c, size_t off, bool *yes)
{
  struct jinja_value v = item;
  if (off == 1) {
    if (c->n == 0) return jinja_fail(r, "selectattr wants the name of an attribute");
    if (!by_path(r, item, &c->item[0], NULL, &v)) return false;
  }
  if (c->n <= off) {
    *yes = jinja_true(&v);
    return true;
  }
  if (c->item[off].kind != JINJA_TEXT) return jinja_fail(r, "select wants the name of a test");
  struct jinja_call rest = arguments_after(c, off + 1);
  return jinja_test(r, c->item[off].as.text, &v, &rest, yes);
}

static bool select_item(struct jinja_run *r, struct jinja_value item, const struct jinja_call *c, struct jinja_value *out, bool *some)
{
  *out = item;
  return passes(r, item, c, 0, some);
}

static bool reject_item(struct jinja_run *r, struct jinja_value item, const struct jinja_call *c, struct jinja_value *out, bool *some)
{
  bool yes = false, ok = passes(r, item, c, 0, &yes);
  *out = item, *some = !yes;
  return ok;
}

static bool selectattr_item(struct jinja_run *r, struct jinja_value item, const struct jinja_call *c, struct jinja_value *out, bool *some)
{
  *out = item;
  return passes(r, item, c, 1, some);
}

static bool rejectattr_item(struct jinja_run *r, struct jinja_value item, const struct jinja_call *c, struct jinja_value *out, bool *some)
{
  bool yes = false, ok = passes(r, item, c, 1, &yes);
  *out = item, *some = !yes;
  return ok;
}

static bool filter_select(struct jinja_run *r, GIVEN) { return lazily(r, v, c, select_item, out); }
static bool filter_reject(struct jinja_run *r, GIVEN) { return lazily(r, v, c, reject_item, out); }
static bool filter_selectattr(struct jinja_run *r, GIVEN) { return lazily(r, v, c, selectattr_item, out); }
static bool filter_rejectattr(struct jinja_run *r, GIVEN) { return lazily(r, v, c, rejectattr_item, out); }

static bool filter_items(struct jinja_run *r, GIVEN)
{
  struct jinja_iterator *t = new_iterator(r, out);
  struct jinja_view view = { v->as.dict, JINJA_ITEMS };
  if (t == NULL || !jinja_arguments(r, "items", c, 0, 0, no_name)) return false;
  if (v->kind == JINJA_UNDEFINED) return true;
  if (v->kind != JINJA_DICT) {
    jinja_fail(r, "items wants a dictionary, not %s", jinja_kind_name(v));
    return keep_failure(r, t, r->depth, r->calls);
  }
  struct jinja_value all = { .kind = JINJA_VIEW, .as.view = &view };
  return jinja_items(r, &all, &t->list);
}

static bool filter_length(struct jinja_run *r, GIVEN)
{
  int64_t n;
  if (!jinja_arguments(r, "length", c, 0, 0, no_name) || !jinja_length(r, v, &n)) return false;
  return *out = jinja_int(n), true;
}

static bool filter_first(struct jinja_run *r, GIVEN)
{
  struct jinja_value from = *v;
  size_t at = 0;
  bool some;
  if (!jinja_arguments(r, "first", c, 0, 0, no_name)) return false;
  if (!jinja_iterable(v)) return jinja_fail(r, "%s cannot be gone through", jinja_kind_name(v));
  if (!jinja_next(r, &from, &at, out, &some)) return false;
  if (!some) *out = jinja_undefined();
  return true;
}

static bool filter_last(struct jinja_run *r, GIVEN)
{
  struct jinja_list *l;
  if (!jinja_arguments(r, "last", c, 0, 0, no_name)) return false;
  if (v->kind == JINJA_ITERATOR) return jinja_fail(r, "a generator has no last item");
  if (v->kind == JINJA_TEXT && v->as.text->points > 0) return jinja_part(r, v->as.text, v->as.text->points - 1, v->as.text->points, out);
  if (!items_of(r, v, &l)) return false;
  *out = l->n > 0 ? l->item[l->n - 1] : jinja_undefined();
  return true;
}

static bool filter_list(struct jinja_run *r, GIVEN)
{
  struct jinja_list *l;
  if (!jinja_arguments(r, "list", c, 0, 0, no_name) || !items_of(r, v, &l)) return false;
  return *out = jinja_listed(JINJA_LIST, l), true;
}

static bool filter_reverse(struct jinja_run *r, GIVEN)
{
  struct jinja_value bound[3] = { jinja_none(), jinja_none(), jinja_int(-1) };
  struct jinja_list *l;
  if (!jinja_arguments(r, "reverse", c, 0, 0, no_name)) return false;
  if (v->kind == JINJA_TEXT) return jinja_slice(r, v, bound, out);
  if (!items_of(r, v, &l)) return false;
  struct jinja_value list = jinja_listed(JINJA_LIST, l), back;
  if (!jinja_slice(r, &list, bound, &back)) return false;
  if (v->kind == JINJA_ITERATOR) return *out = back, true;
  struct jinja_iterator *t = new_iterator(r, out);
  if (t == NULL) return false;
  t->list = back.as.list;
  return true;
}

static bool filter_join(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "d", "attribute", NULL };
  struct jinja_value by, item, s;
  struct jinja_output o = { .byte = NULL };
  struct jinja_list *l;
  if (!jinja_arguments(r, "join", c, 0, 2, names) || !jinja_words(r, "", &by)) return false;
  const struct jinja_value *d = jinja_argument(c, 0, "d"), *path = jinja_argument(c, 1, "attribute");
  if ((d != NULL && !jinja_str(r, d, &by)) || !items_of(r, v, &l)) return false;
  bool ok = true;
  for (size_t i = 0; ok && i < l->n; i++)
    ok = jinja_steps(r, 1) && by_path(r, l->item[i], path, NULL, &item) && jinja_str(r, &item, &s)
      && (i == 0 || jinja_write_text(r, &o, by.as.text)) && jinja_write_text(r, &o, s.as.text);
  ok = ok && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  return ok;
}

/* ---- order ---- */

struct keyed { struct jinja_value key, item; };

static bool merge(struct jinja_run *r, const struct keyed *from, struct keyed *to, size_t a, size_t mid, size_t b, bool reverse)
{
  size_t i = a, k = mid;
  for (size_t n = a; n < b; n++) {
    bool right = i == mid;
    if (i < mid && k < b) {
      int order = 0;
      if (!jinja_steps(r, 1) || !jinja_less(r, &from[k].key, &from[i].key, "<", &order)) return false;
      right = reverse ? order == 1 : order == -1;
    }
    to[n] = right ? from[k++] : from[i++];
  }
  return true;
}

/* Equal items keep their order, also when it is reversed. */
static bool sort_keyed(struct jinja_run *r, struct keyed *list, size_t n, bool reverse)
{
  struct keyed *spare = jinja_room(r, n, sizeof *spare), *from = list, *to = spare;
  if (spare == NULL) return false;
  for (size_t wide = 1; wide < n; wide *= 2) {
    for (size_t a = 0; a < n; a += 2 * wide) {
      size_t mid = a + wide < n ? a + wide : n, b = a + 2 * wide < n ? a + 2 * wide : n;
      if (!merge(r, from, to, a, mid, b, reverse)) return false;
    }
    struct keyed *other = from;
    from = to, to = other;
  }
  if (from != list && n > 0) memcpy(list, from, n * sizeof *list);
  return true;
}

/* Python wants an integer here, where any value would do elsewhere. */
static bool reversed(struct jinja_run *r, const struct jinja_value *v, bool *yes)
{
  int64_t n = 0;
  *yes = v != NULL && jinja_true(v);
  return v == NULL || jinja_integer(v, &n) || jinja_fail(r, "reverse is no %s", jinja_kind_name(v));
}

static bool sorted_list(struct jinja_run *r, struct keyed *k, size_t n, bool reverse, struct jinja_value *out)
{
  struct jinja_list *l = jinja_list_new(r, n);
  if (l == NULL || !sort_keyed(r, k, n, reverse)) return false;
  for (size_t i = 0; i < n; i++) l->item[i] = k[i].item;
  l->n = n;
  return *out = jinja_listed(JINJA_LIST, l), true;
}

/* With attributes Python compares lists of them, a list an item. So two that are equal are in order, even if they have none: None, or nothing. */
static bool sort_keys(struct jinja_run *r, struct jinja_value item, const struct jinja_value *path, bool sensitive, struct jinja_value *out)
{
  struct jinja_list *l = jinja_list_new(r, 1);
  struct jinja_value one, key;
  if (path == NULL || path->kind == JINJA_NONE) return sort_key(r, item, NULL, sensitive, out);
  *out = jinja_listed(JINJA_LIST, l);
  if (l == NULL || path->kind != JINJA_TEXT) return l != NULL && sort_key(r, item, path, sensitive, &key) && jinja_push(r, l, key);
  const struct jinja_text *t = path->as.text;
  for (size_t from = 0, to; from <= t->n; from = to + 1) {
    for (to = from; to < t->n && t->byte[to] != ','; to++) { }
    if (!jinja_text_of(r, t->byte + from, to - from, &one) || !sort_key(r, item, &one, sensitive, &key) || !jinja_push(r, l, key)) return false;
  }
  return true;
}

static bool filter_sort(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "reverse", "case_sensitive", "attribute", NULL };
  struct jinja_list *l;
  if (!jinja_arguments(r, "sort", c, 0, 3, names) || !items_of(r, v, &l)) return false;
  const struct jinja_value *path = jinja_argument(c, 2, "attribute");
  struct keyed *k = jinja_room(r, l->n, sizeof *k);
  bool back;
  if (k == NULL || !reversed(r, jinja_argument(c, 0, "reverse"), &back)) return false;
  for (size_t i = 0; i < l->n; i++) {
    k[i].item = l->item[i];
    if (!sort_keys(r, l->item[i], path, flag(jinja_argument(c, 1, "case_sensitive")), &k[i].key)) return false;
  }
  return sorted_list(r, k, l->n, back, out);
}

static bool filter_dictsort(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "case_sensitive", "by", "reverse", NULL };
  struct jinja_view view = { v->as.dict, JINJA_ITEMS };
  struct jinja_value all = { .kind = JINJA_VIEW, .as.view = &view };
  struct jinja_list *l;
  if (!jinja_arguments(r, "dictsort", c, 0, 3, names)) return false;
  if (v->kind != JINJA_DICT) return jinja_fail(r, "dictsort wants a dictionary, not %s", jinja_kind_name(v));
  const struct jinja_value *by = jinja_argument(c, 1, "by");
  bool value = by != NULL && by->kind == JINJA_TEXT && JINJA_IS(by->as.text, "value");
  if (by != NULL && !value && !(by->kind == JINJA_TEXT && JINJA_IS(by->as.text, "key"))) return jinja_fail(r, "dictsort goes by key or value");
  struct keyed *k = jinja_room(r, v->as.dict->n, sizeof *k);
  bool back;
  if (k == NULL || !jinja_items(r, &all, &l) || !reversed(r, jinja_argument(c, 2, "reverse"), &back)) return false;
  for (size_t i = 0; i < l->n; i++) {
    k[i].item = l->item[i];
    if (!sort_key(r, l->item[i].as.list->item[value], NULL, flag(jinja_argument(c, 0, "case_sensitive")), &k[i].key)) return false;
  }
  return sorted_list(r, k, l->n, back, out);
}

static bool filter_unique(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "case_sensitive", "attribute", NULL };
  struct jinja_dict *seen = jinja_dict_new(r);
  struct jinja_iterator *t = new_iterator(r, out);
  struct jinja_value key;
  const struct jinja_value *there;
  struct jinja_list *l;
  size_t depth = r->depth, calls = r->calls;
  if (seen == NULL || t == NULL || !jinja_arguments(r, "unique", c, 0, 2, names)) return false;
  if (!items_of(r, v, &l)) return keep_failure(r, t, depth, calls);
  for (size_t i = 0; i < l->n; i++) {
    if (!sort_key(r, l->item[i], jinja_argument(c, 1, "attribute"), flag(jinja_argument(c, 0, "case_sensitive")), &key)
      || !jinja_dict_get(r, seen, key, &there)) return keep_failure(r, t, depth, calls);
    if (there == NULL && (!jinja_dict_set(r, seen, key, key) || !jinja_push(r, t->list, l->item[i]))) return false;
  }
  return true;
}

static bool extreme(struct jinja_run *r, const struct jinja_value *v, const struct jinja_call *c, int wanted, struct jinja_value *out)
{
  static const char *const names[] = { "case_sensitive", "attribute", NULL };
  struct jinja_value key, best = jinja_none();
  struct jinja_list *l;
  int order = 0;
  if (!jinja_arguments(r, "min or max", c, 0, 2, names) || !items_of(r, v, &l)) return false;
  *out = jinja_undefined();
  for (size_t i = 0; i < l->n; i++) {
    if (!sort_key(r, l->item[i], jinja_argument(c, 1, "attribute"), flag(jinja_argument(c, 0, "case_sensitive")), &key)
      || (i > 0 && !jinja_less(r, &key, &best, "<", &order))) return false;
    if (i == 0 || order == wanted) best = key, *out = l->item[i];
  }
  return true;
}

static bool filter_min(struct jinja_run *r, GIVEN) { return extreme(r, v, c, -1, out); }
static bool filter_max(struct jinja_run *r, GIVEN) { return extreme(r, v, c, 1, out); }

static bool filter_sum(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "attribute", "start", NULL };
  struct jinja_value sum = jinja_int(0), item, left;
  struct jinja_list *l;
  if (!jinja_arguments(r, "sum", c, 0, 2, names) || !items_of(r, v, &l)) return false;
  if (jinja_argument(c, 1, "start") != NULL) sum = *jinja_argument(c, 1, "start");
  if (sum.kind == JINJA_TEXT) return jinja_fail(r, "strs are not summed");
  for (size_t i = 0; i < l->n; i++) {
    if (!by_path(r, l->item[i], jinja_argument(c, 0, "attribute"), NULL, &item)) return false;
    if (item.kind == JINJA_FLOAT) return jinja_fail(r, "floats are not summed here");
    left = sum;
    if (!jinja_binary(r, '+', &left, &item, &sum)) return false;
  }
  return *out = sum, true;
}

static bool filter_default(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "default_value", "boolean", NULL };
  if (!jinja_arguments(r, "default", c, 0, 2, names)) return false;
  const struct jinja_value *normal = jinja_argument(c, 0, "default_value");
  bool missing = v->kind == JINJA_UNDEFINED || (flag(jinja_argument(c, 1, "boolean")) && !jinja_true(v));
  if (!missing) *out = *v;
  else if (normal != NULL) *out = *normal;
  else return jinja_words(r, "", out);
  return true;
}

/* rows of so many, the last filled up if something is given for it */
static bool filter_batch(struct jinja_run *r, GIVEN)
{
  static const char *const names[] = { "linecount", "fill_with", NULL };
  struct jinja_iterator *t = new_iterator(r, out);
  struct jinja_list *l, *row = NULL;
  int64_t n = 0;
  if (t == NULL || !jinja_arguments(r, "batch", c, 1, 2, names) || !items_of(r, v, &l)) return false;
  const struct jinja_value *count = jinja_argument(c, 0, "linecount"), *fill = jinja_argument(c, 1, "fill_with");
  if (count == NULL || !jinja_integer(count, &n) || n < 1) return jinja_fail(r, "batch wants a number from 1 on");
  for (size_t i = 0; i < l->n; i++) {
    if (row == NULL || (int64_t) row->n == n) {
      if ((row = jinja_list_new(r, 0)) == NULL || !jinja_push(r, t->list, jinja_listed(JINJA_LIST, row))) return false;
    }
    if (!jinja_push(r, row, l->item[i])) return false;
  }
  while (row != NULL && fill != NULL && fill->kind != JINJA_NONE && (int64_t) row->n < n)
    if (!jinja_steps(r, 1) || !jinja_push(r, row, *fill)) return false;
  return true;
}

static bool filter_tojson(struct jinja_run *r, GIVEN) { return jinja_tojson(r, v, c, out); }

static const struct filter_row {
  const char *name;
  bool (*call)(struct jinja_run *r, const struct jinja_value *v, const struct jinja_call *c, struct jinja_value *out);
} filters[] = {
  { "abs", filter_abs }, { "batch", filter_batch }, { "capitalize", filter_capitalize }, { "center", filter_center },
  { "count", filter_length }, { "d", filter_default }, { "default", filter_default }, { "dictsort", filter_dictsort },
  { "e", filter_escape }, { "escape", filter_escape }, { "first", filter_first }, { "float", filter_float },
  { "forceescape", filter_forceescape }, { "format", filter_format }, { "indent", filter_indent }, { "int", filter_int },
  { "items", filter_items }, { "join", filter_join }, { "last", filter_last }, { "length", filter_length },
  { "list", filter_list }, { "lower", filter_lower }, { "map", filter_map }, { "max", filter_max }, { "min", filter_min },
  { "reject", filter_reject }, { "rejectattr", filter_rejectattr }, { "replace", filter_replace },
  { "reverse", filter_reverse }, { "safe", filter_safe }, { "select", filter_select }, { "selectattr", filter_selectattr },
  { "sort", filter_sort }, { "string", filter_string }, { "sum", filter_sum }, { "title", filter_title },
  { "tojson", filter_tojson }, { "trim", filter_trim }, { "unique", filter_unique }, { "upper", filter_upper } };

static const struct filter_row *find_filter(const char *name, size_t n)
{
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
    if (strlen(filters[i].name) == n && memcmp(filters[i].name, name, n) == 0) return &filters[i];
  return NULL;
}

bool jinja_filter_known(const char *name, size_t n)
{
  return find_filter(name, n) != NULL;
}

bool jinja_filter(struct jinja_run *r, const struct jinja_text *name, const struct jinja_value *v, const struct jinja_call *c,
  struct jinja_value *out)
{
  const struct filter_row *row = find_filter(name->byte, name->n);
  if (row == NULL) return jinja_fail(r, "the filter `%.*s' is not known here", name->n > 40 ? 40 : (int) name->n, name->byte);
  if (!jinja_deeper(r)) return false;
  bool ok = row->call(r, v, c, out);
  r->depth--;
  return ok;
}
