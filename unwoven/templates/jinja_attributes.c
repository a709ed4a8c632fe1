/* jinja_attributes.c -- what values have after a dot and in brackets, and the methods of Python's types.

   After a dot a method comes before a key, and in brackets a key before a method, as the library has it. The sandbox forbids what would
   change a list or a dictionary: such an attribute is undefined, and calling it an error. A method of Python's that we do not have is
   there, too, and an error when it is used. */

#include <string.h>
#include "templates/jinja_inside.h"

#define SELF const struct jinja_value *self, const struct jinja_call *c, struct jinja_value *out

static bool text_argument(struct jinja_run *r, const struct jinja_call *c, size_t i, const char *name, const struct jinja_text **t)
{
  const struct jinja_value *v = jinja_argument(c, i, name);
  if (v != NULL && v->kind == JINJA_TEXT) return *t = v->as.text, true;
  return jinja_fail(r, "a method wants a str, not %s", v == NULL ? "nothing" : jinja_kind_name(v));
}

static bool no_names(struct jinja_run *r, const struct jinja_call *c)
{
  return c->n_named == 0 || jinja_fail(r, "a method has no argument called %.*s", (int) c->named[0].name->n, c->named[0].name->byte);
}

/* ---- cases and classes ---- */

static bool text_upper(struct jinja_run *r, SELF) { return no_names(r, c) && jinja_change_case(r, self, JINJA_UPPER, out); }
static bool text_lower(struct jinja_run *r, SELF) { return no_names(r, c) && jinja_change_case(r, self, JINJA_LOWER, out); }
static bool text_title(struct jinja_run *r, SELF) { return no_names(r, c) && jinja_change_case(r, self, JINJA_TITLE, out); }
static bool text_swapcase(struct jinja_run *r, SELF) { return no_names(r, c) && jinja_change_case(r, self, JINJA_SWAP, out); }
static bool text_capitalize(struct jinja_run *r, SELF) { return no_names(r, c) && jinja_change_case(r, self, JINJA_CAPITALIZE, out); }

static bool text_class(struct jinja_run *r, const struct jinja_value *self, const struct jinja_call *c, enum jinja_class what,
  struct jinja_value *out)
{
  *out = jinja_bool(jinja_is_class(self->as.text, what));
  for (size_t i = 0; what != JINJA_SPACE && i < self->as.text->n; i++)
    if ((unsigned char) self->as.text->byte[i] >= 0x80) return jinja_fail(r, "classes of letters beyond ASCII are not known here");
  return no_names(r, c) && jinja_steps(r, self->as.text->n / 4);
}

static bool text_isalpha(struct jinja_run *r, SELF) { return text_class(r, self, c, JINJA_ALPHA, out); }
static bool text_isdigit(struct jinja_run *r, SELF) { return text_class(r, self, c, JINJA_DIGIT, out); }
static bool text_isalnum(struct jinja_run *r, SELF) { return text_class(r, self, c, JINJA_ALNUM, out); }
static bool text_isspace(struct jinja_run *r, SELF) { return text_class(r, self, c, JINJA_SPACE, out); }

static bool text_isupper(struct jinja_run *r, SELF)
{
  *out = jinja_bool(jinja_is_case(self->as.text, JINJA_UPPER));
  return no_names(r, c);
}

static bool text_islower(struct jinja_run *r, SELF)
{
  *out = jinja_bool(jinja_is_case(self->as.text, JINJA_LOWER));
  return no_names(r, c);
}

/* ---- strip ---- */

static bool in_set(const struct jinja_text *set, const char *byte, size_t k, uint32_t point)
{
  if (set == NULL) return jinja_blank(point);
  for (size_t i = 0; i + k <= set->n; i++)
    if (((unsigned char) set->byte[i] & 0xc0) != 0x80 && memcmp(set->byte + i, byte, k) == 0) return true;
  return false;
}

/* takes characters of a set, or white space, off the ends that are named */
static bool strip(struct jinja_run *r, const struct jinja_value *v, const struct jinja_text *set, bool left, bool right,
  struct jinja_value *out)
{
  const struct jinja_text *t = v->as.text;
  size_t from = 0, to = t->n;
  uint32_t p;
  while (left && from < to) {
    size_t k = jinja_point(t->byte + from, to - from, &p);
    if (!in_set(set, t->byte + from, k, p)) break;
    from += k;
  }
  while (right && to > from) {
    size_t k = to - 1;
    while (k > from && ((unsigned char) t->byte[k] & 0xc0) == 0x80) k--;
    jinja_point(t->byte + k, to - k, &p);
    if (!in_set(set, t->byte + k, to - k, p)) break;
    to = k;
  }
  if (!jinja_steps(r, (t->n - (to - from)) * (set == NULL ? 1 : 1 + set->n) / 8)
    || !jinja_text_of(r, t->byte + from, to - from, out)) return false;
  out->safe = v->safe;
  return true;
}

static bool strip_method(struct jinja_run *r, SELF, bool left, bool right)
{
  const struct jinja_text *set = NULL;
  if (!no_names(r, c)) return false;
  if (c->n > 0 && c->item[0].kind != JINJA_NONE && !text_argument(r, c, 0, NULL, &set)) return false;
  return strip(r, self, set, left, right, out);
}

static bool text_strip(struct jinja_run *r, SELF) { return strip_method(r, self, c, out, true, true); }
static bool text_lstrip(struct jinja_run *r, SELF) { return strip_method(r, self, c, out, true, false); }
static bool text_rstrip(struct jinja_run *r, SELF) { return strip_method(r, self, c, out, false, true); }

/* ---- finding ---- */

static size_t points_in(const char *byte, size_t n)
{
  size_t k = 0;
  for (size_t i = 0; i < n; i++) k += ((unsigned char) byte[i] & 0xc0) != 0x80;
  return k;
}

/* arguments 1 and 2, a beginning and an end in code points, as Python reads them; *far: the beginning is behind the text */
static bool window(struct jinja_run *r, const struct jinja_text *t, const struct jinja_call *c, int64_t *from, struct jinja_value *out,
  bool *far)
{
  int64_t n = (int64_t) t->points, bound[2] = { 0, n };
  for (size_t i = 0; i < 2 && i + 1 < c->n; i++) {
    if (c->item[i + 1].kind == JINJA_NONE) continue;
    if (!jinja_integer(&c->item[i + 1], &bound[i])) return jinja_fail(r, "a place in a str is an integer, not %s", jinja_kind_name(&c->item[i + 1]));
    if (bound[i] < 0) bound[i] = bound[i] < -n ? 0 : bound[i] + n;
    if (i == 1 && bound[i] > n) bound[i] = n;
  }
  *far = bound[0] > n || bound[0] > bound[1];
  *from = bound[0];
  return *far ? jinja_words(r, "", out) : jinja_part(r, t, (size_t) bound[0], (size_t) bound[1], out);
}

static bool affix(struct jinja_run *r, SELF, bool end)
{
  struct jinja_value part;
  int64_t from;
  bool far, yes = false;
  size_t n = 1;
  if (!no_names(r, c) || !window(r, self->as.text, c, &from, &part, &far)) return false;
  const struct jinja_value *what = c->item;
  if (what->kind == JINJA_TUPLE) n = what->as.list->n, what = what->as.list->item;
  for (size_t i = 0; i < n; i++) {
    if (what[i].kind != JINJA_TEXT) return jinja_fail(r, "startswith and endswith want a str, not %s", jinja_kind_name(&what[i]));
    const struct jinja_text *t = part.as.text, *w = what[i].as.text;
    yes = yes || (!far && w->n <= t->n && (w->n == 0 || memcmp(t->byte + (end ? t->n - w->n : 0), w->byte, w->n) == 0));
  }
  *out = jinja_bool(yes);
  return true;
}

static bool text_startswith(struct jinja_run *r, SELF) { return affix(r, self, c, out, false); }
static bool text_endswith(struct jinja_run *r, SELF) { return affix(r, self, c, out, true); }

/* the last place where what begins; more than the length if nowhere */
static bool find_last(struct jinja_run *r, const struct jinja_text *in, const struct jinja_text *what, size_t *at)
{
  *at = in->n + 1;
  for (size_t i = in->n + 1; i-- > 0;) {
    if (i + what->n > in->n || (i < in->n && ((unsigned char) in->byte[i] & 0xc0) == 0x80)) continue;
    if (!jinja_steps(r, 1 + what->n / 64)) return false;
    if (what->n > 0 && memcmp(in->byte + i, what->byte, what->n) != 0) continue;
    *at = i;
    return true;
  }
  return true;
}

static bool find_method(struct jinja_run *r, SELF, bool last, bool must)
{
  const struct jinja_text *what = NULL;
  struct jinja_value part;
  int64_t from;
  bool far;
  size_t at;
  if (!no_names(r, c) || !text_argument(r, c, 0, NULL, &what) || !window(r, self->as.text, c, &from, &part, &far)) return false;
  const struct jinja_text *t = part.as.text;
  if (last ? !find_last(r, t, what, &at) : !jinja_find(r, t, 0, what, &at)) return false;
  bool found = !far && at <= t->n;
  if (!found && must) return jinja_fail(r, "a str does not contain another that it must");
  *out = jinja_int(found ? from + (int64_t) points_in(t->byte, at) : -1);
  return true;
}

static bool text_find(struct jinja_run *r, SELF) { return find_method(r, self, c, out, false, false); }
static bool text_rfind(struct jinja_run *r, SELF) { return find_method(r, self, c, out, true, false); }
static bool text_index(struct jinja_run *r, SELF) { return find_method(r, self, c, out, false, true); }
static bool text_rindex(struct jinja_run *r, SELF) { return find_method(r, self, c, out, true, true); }

static bool text_count(struct jinja_run *r, SELF)
{
  const struct jinja_text *what = NULL;
  struct jinja_value part;
  int64_t from, n = 0;
  bool far;
  size_t at = 0;
  if (!no_names(r, c) || !text_argument(r, c, 0, NULL, &what) || !window(r, self->as.text, c, &from, &part, &far)) return false;
  const struct jinja_text *t = part.as.text;
  if (what->n == 0) n = far ? 0 : (int64_t) t->points + 1;
  else for (;;) {
    if (!jinja_find(r, t, at, what, &at)) return false;
    if (at > t->n) break;
    n++, at += what->n;
  }
  *out = jinja_int(n);
  return true;
}

static bool removed(struct jinja_run *r, SELF, bool end)
{
  const struct jinja_text *what = NULL, *t = self->as.text;
  if (!no_names(r, c) || !text_argument(r, c, 0, NULL, &what)) return false;
  bool there = what->n <= t->n && (what->n == 0 || memcmp(t->byte + (end ? t->n - what->n : 0), what->byte, what->n) == 0);
  size_t cut = there ? what->n : 0;
  if (!jinja_text_of(r, t->byte + (end ? 0 : cut), t->n - cut, out)) return false;
  out->safe = self->safe;
  return true;
}

static bool text_removeprefix(struct jinja_run *r, SELF) { return removed(r, self, c, out, false); }
static bool text_removesuffix(struct jinja_run *r, SELF) { return removed(r, self, c, out, true); }

/* ---- cutting and joining ---- */

static bool push_part(struct jinja_run *r, struct jinja_list *l, const struct jinja_value *of, size_t from, size_t to)
{
  struct jinja_value v;
  if (!jinja_text_of(r, of->as.text->byte + from, to - from, &v)) return false;
  v.safe = of->safe;
  return jinja_steps(r, 1) && jinja_push(r, l, v);
}

static void reverse(struct jinja_list *l)
{
  for (size_t i = 0; i < l->n / 2; i++) {
    struct jinja_value v = l->item[i];
    l->item[i] = l->item[l->n - 1 - i], l->item[l->n - 1 - i] = v;
  }
}

static bool split_blank(struct jinja_run *r, const struct jinja_value *v, int64_t most, struct jinja_list *l)
{
  const struct jinja_text *t = v->as.text;
  uint32_t p;
  for (size_t at = 0; at < t->n;) {
    size_t k = jinja_point(t->byte + at, t->n - at, &p), from = at;
    if (jinja_blank(p)) {
      at += k;
      continue;
    }
    if (most >= 0 && (int64_t) l->n >= most) return push_part(r, l, v, from, t->n);
    while (at < t->n && !jinja_blank(p)) {
      at += k;
      if (at < t->n) k = jinja_point(t->byte + at, t->n - at, &p);
    }
    if (!push_part(r, l, v, from, at)) return false;
  }
  return true;
}

static bool split_at(struct jinja_run *r, const struct jinja_value *v, const struct jinja_text *by, int64_t most, struct jinja_list *l)
{
  const struct jinja_text *t = v->as.text;
  size_t from = 0, at;
  for (;;) {
    at = t->n + 1;
    if ((most < 0 || (int64_t) l->n < most) && !jinja_find(r, t, from, by, &at)) return false;
    if (at > t->n) return push_part(r, l, v, from, t->n);
    if (!push_part(r, l, v, from, at)) return false;
    from = at + by->n;
  }
}

static bool split_from_end(struct jinja_run *r, const struct jinja_value *v, const struct jinja_text *by, int64_t most, struct jinja_list *l)
{
  struct jinja_text head = *v->as.text;
  size_t at;
  for (;;) {
    at = head.n + 1;
    if ((most < 0 || (int64_t) l->n < most) && !find_last(r, &head, by, &at)) return false;
    if (at > head.n) break;
    if (!push_part(r, l, v, at + by->n, head.n)) return false;
    head.n = at;
  }
  if (!push_part(r, l, v, 0, head.n)) return false;
  reverse(l);
  return true;
}

static bool split_method(struct jinja_run *r, SELF, bool from_end)
{
  static const char *const names[] = { "sep", "maxsplit", NULL };
  int64_t most = -1;
  if (!jinja_arguments(r, "split", c, 0, 2, names)) return false;
  const struct jinja_value *by = jinja_argument(c, 0, "sep"), *max = jinja_argument(c, 1, "maxsplit");
  struct jinja_list *l = jinja_list_new(r, 4);
  if (l == NULL) return false;
  if (max != NULL && !jinja_integer(max, &most)) return jinja_fail(r, "split is told how often by an integer");
  *out = jinja_listed(JINJA_LIST, l);
  if (by == NULL || by->kind == JINJA_NONE) {
    if (from_end && most >= 0) return jinja_fail(r, "rsplit at white space with a number is not known here");
    return split_blank(r, self, most, l);
  }
  if (by->kind != JINJA_TEXT) return jinja_fail(r, "split wants a str, not %s", jinja_kind_name(by));
  if (by->as.text->n == 0) return jinja_fail(r, "split at an empty str");
  return from_end ? split_from_end(r, self, by->as.text, most, l) : split_at(r, self, by->as.text, most, l);
}

static bool text_split(struct jinja_run *r, SELF) { return split_method(r, self, c, out, false); }
static bool text_rsplit(struct jinja_run *r, SELF) { return split_method(r, self, c, out, true); }

static bool line_break(uint32_t p)
{
  return (p >= 0x0a && p <= 0x0d) || (p >= 0x1c && p <= 0x1e) || p == 0x85 || p == 0x2028 || p == 0x2029;
}

bool jinja_lines(struct jinja_run *r, const struct jinja_value *v, bool kept, struct jinja_list **out)
{
  const struct jinja_text *t = v->as.text;
  struct jinja_list *l = jinja_list_new(r, 4);
  uint32_t p;
  size_t from = 0;
  if ((*out = l) == NULL) return false;
  for (size_t at = 0; at < t->n;) {
    size_t k = jinja_point(t->byte + at, t->n - at, &p), end = at;
    at += k;
    if (!line_break(p)) continue;
    if (p == '\r' && at < t->n && t->byte[at] == '\n') at++;
    if (!push_part(r, l, v, from, kept ? at : end)) return false;
    from = at;
  }
  return from == t->n || push_part(r, l, v, from, t->n);
}

static bool text_splitlines(struct jinja_run *r, SELF)
{
  static const char *const names[] = { "keepends", NULL };
  struct jinja_list *l;
  if (!jinja_arguments(r, "splitlines", c, 0, 1, names)) return false;
  const struct jinja_value *keep = jinja_argument(c, 0, "keepends");
  int64_t n;
  if (keep != NULL && !jinja_integer(keep, &n)) return jinja_fail(r, "splitlines is told by an integer whether ends are kept");
  if (!jinja_lines(r, self, keep != NULL && jinja_true(keep), &l)) return false;
  return *out = jinja_listed(JINJA_LIST, l), true;
}

static bool part_method(struct jinja_run *r, SELF, bool last)
{
  const struct jinja_text *by = NULL, *t = self->as.text;
  struct jinja_list *l = jinja_list_new(r, 3);
  size_t at;
  if (l == NULL || !no_names(r, c) || !text_argument(r, c, 0, NULL, &by)) return false;
  if (by->n == 0) return jinja_fail(r, "partition at an empty str");
  if (last ? !find_last(r, t, by, &at) : !jinja_find(r, t, 0, by, &at)) return false;
  *out = jinja_listed(JINJA_TUPLE, l);
  if (at <= t->n)
    return push_part(r, l, self, 0, at) && push_part(r, l, self, at, at + by->n) && push_part(r, l, self, at + by->n, t->n);
  return (last || push_part(r, l, self, 0, t->n)) && push_part(r, l, self, 0, 0) && push_part(r, l, self, 0, 0)
    && (!last || push_part(r, l, self, 0, t->n));
}

static bool text_partition(struct jinja_run *r, SELF) { return part_method(r, self, c, out, false); }
static bool text_rpartition(struct jinja_run *r, SELF) { return part_method(r, self, c, out, true); }

bool jinja_replace(struct jinja_run *r, const struct jinja_text *t, const struct jinja_text *old, const struct jinja_text *new, int64_t most,
  struct jinja_value *out)
{
  struct jinja_output o = { .byte = NULL };
  size_t from = 0, at = 0;
  bool ok = true;
  for (int64_t done = 0; ok && (most < 0 || done < most); done++) {
    uint32_t p;
    if (old->n > 0) ok = jinja_find(r, t, from, old, &at);
    else if (done > 0) at = from < t->n ? from + jinja_point(t->byte + from, t->n - from, &p) : t->n + 1;
    if (!ok || at > t->n) break;
    ok = jinja_steps(r, 1) && jinja_write(r, &o, t->byte + from, at - from) && jinja_write_text(r, &o, new);
    from = at + old->n;
  }
  ok = ok && jinja_write(r, &o, t->byte + from, t->n - from) && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  return ok;
}

static bool text_replace(struct jinja_run *r, SELF)
{
  static const char *const names[] = { "", "", "count", NULL };
  const struct jinja_text *old = NULL, *new = NULL;
  struct jinja_value put;
  int64_t most = -1;
  if (!jinja_arguments(r, "replace", c, 2, 3, names) || !text_argument(r, c, 0, NULL, &old) || !text_argument(r, c, 1, NULL, &new)) return false;
  const struct jinja_value *max = jinja_argument(c, 2, "count");
  if (max != NULL && !jinja_integer(max, &most)) return jinja_fail(r, "replace is told how often by an integer");
  put = c->item[1];
  if (self->safe && !jinja_escape(r, &c->item[1], &put)) return false;
  if (!jinja_replace(r, self->as.text, old, put.as.text, most, out)) return false;
  out->safe = self->safe;
  return true;
}

static bool text_join(struct jinja_run *r, SELF)
{
  struct jinja_output o = { .byte = NULL };
  struct jinja_list *l;
  if (!no_names(r, c)) return false;
  if (!jinja_iterable(&c->item[0])) return jinja_fail(r, "join wants something to go through, not %s", jinja_kind_name(&c->item[0]));
  if (!jinja_items(r, &c->item[0], &l)) return false;
  bool ok = true;
  for (size_t i = 0; ok && i < l->n; i++) {
    struct jinja_value v = l->item[i];
    ok = v.kind == JINJA_TEXT || jinja_fail(r, "join wants strs, and found %s", jinja_kind_name(&v));
    if (ok && self->safe) ok = jinja_escape(r, &l->item[i], &v);
    ok = ok && jinja_steps(r, 1) && (i == 0 || jinja_write_text(r, &o, self->as.text)) && jinja_write_text(r, &o, v.as.text);
  }
  ok = ok && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  if (ok) out->safe = self->safe;
  return ok;
}

/* ---- filling up ---- */

bool jinja_pad(struct jinja_run *r, const struct jinja_text *t, size_t left, size_t right, const struct jinja_text *fill, struct jinja_value *out)
{
  struct jinja_output o = { .byte = NULL };
  bool ok = true;
  for (size_t i = 0; ok && i < left; i++) ok = jinja_steps(r, 1) && jinja_write_text(r, &o, fill);
  ok = ok && jinja_write_text(r, &o, t);
  for (size_t i = 0; ok && i < right; i++) ok = jinja_steps(r, 1) && jinja_write_text(r, &o, fill);
  ok = ok && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  return ok;
}

/* Python's center puts the odd one on the left if the width is odd */
static bool pad_method(struct jinja_run *r, SELF, char where)
{
  static const struct jinja_text blank = { " ", 1, 1 };
  const struct jinja_text *fill = &blank;
  int64_t width, n = (int64_t) self->as.text->points;
  if (!no_names(r, c)) return false;
  if (!jinja_integer(&c->item[0], &width)) return jinja_fail(r, "a width is an integer, not %s", jinja_kind_name(&c->item[0]));
  if (c->n > 1 && (!text_argument(r, c, 1, NULL, &fill) || fill->points != 1)) return jinja_fail(r, "what fills up is one character");
  size_t more = width > n ? (size_t) (width - n) : 0;
  size_t left = where == 'r' ? more : 0;
  if (where == 'c') left = more / 2 + (more & (size_t) width & 1);
  if (!jinja_pad(r, self->as.text, left, more - left, fill, out)) return false;
  out->safe = self->safe;
  return true;
}

static bool text_ljust(struct jinja_run *r, SELF) { return pad_method(r, self, c, out, 'l'); }
static bool text_rjust(struct jinja_run *r, SELF) { return pad_method(r, self, c, out, 'r'); }
static bool text_center(struct jinja_run *r, SELF) { return pad_method(r, self, c, out, 'c'); }

bool jinja_center(struct jinja_run *r, const struct jinja_value *v, const struct jinja_value *width, struct jinja_value *out)
{
  struct jinja_value one = *width;
  struct jinja_call c = { .item = &one, .n = 1 };
  return pad_method(r, v, &c, out, 'c');
}

static bool text_format(struct jinja_run *r, SELF)
{
  if (self->safe) return jinja_fail(r, "format of a safe text is not known here");
  return jinja_braces(r, self->as.text, c, out);
}

/* ---- lists and dictionaries ---- */

static bool list_index(struct jinja_run *r, SELF)
{
  bool same;
  if (!no_names(r, c)) return false;
  for (size_t i = 0; i < self->as.list->n; i++) {
    if (!jinja_equal(r, &self->as.list->item[i], &c->item[0], &same)) return false;
    if (same) return *out = jinja_int((int64_t) i), true;
  }
  return jinja_fail(r, "a list does not contain what it must");
}

static bool list_count(struct jinja_run *r, SELF)
{
  int64_t n = 0;
  bool same;
  if (!no_names(r, c)) return false;
  for (size_t i = 0; i < self->as.list->n; i++) {
    if (!jinja_equal(r, &self->as.list->item[i], &c->item[0], &same)) return false;
    n += same;
  }
  return *out = jinja_int(n), true;
}

static bool list_copy(struct jinja_run *r, SELF)
{
  return *out = *self, no_names(r, c);
}

static bool view(struct jinja_run *r, SELF, enum jinja_view_of of)
{
  struct jinja_view *v = jinja_room(r, 1, sizeof *v);
  if (v == NULL || !no_names(r, c)) return false;
  *v = (struct jinja_view) { self->as.dict, of };
  return *out = (struct jinja_value) { .kind = JINJA_VIEW, .as.view = v }, true;
}

static bool dict_keys(struct jinja_run *r, SELF) { return view(r, self, c, out, JINJA_KEYS); }
static bool dict_values(struct jinja_run *r, SELF) { return view(r, self, c, out, JINJA_VALUES); }
static bool dict_items(struct jinja_run *r, SELF) { return view(r, self, c, out, JINJA_ITEMS); }

static bool dict_get(struct jinja_run *r, SELF)
{
  const struct jinja_value *v;
  if (!no_names(r, c) || !jinja_dict_get(r, self->as.dict, c->item[0], &v)) return false;
  *out = c->n > 1 ? c->item[1] : jinja_none();
  if (v != NULL) *out = *v;
  return true;
}

/* ---- the tables: a name, its function, how many arguments ---- */

enum { ALL_NAMES = 1000, UNKNOWN = 1 };

static const struct jinja_method_row text_methods[] = {
  { "capitalize", text_capitalize, 0, 0 }, { "center", text_center, 1, 2 }, { "count", text_count, 1, 3 },
  { "endswith", text_endswith, 1, 3 }, { "find", text_find, 1, 3 }, { "format", text_format, 0, ALL_NAMES },
  { "index", text_index, 1, 3 }, { "isalnum", text_isalnum, 0, 0 }, { "isalpha", text_isalpha, 0, 0 },
  { "isdigit", text_isdigit, 0, 0 }, { "islower", text_islower, 0, 0 }, { "isspace", text_isspace, 0, 0 },
  { "isupper", text_isupper, 0, 0 }, { "join", text_join, 1, 1 }, { "ljust", text_ljust, 1, 2 },
  { "lower", text_lower, 0, 0 }, { "lstrip", text_lstrip, 0, 1 }, { "partition", text_partition, 1, 1 },
  { "removeprefix", text_removeprefix, 1, 1 }, { "removesuffix", text_removesuffix, 1, 1 },
  { "replace", text_replace, 2, 3 }, { "rfind", text_rfind, 1, 3 }, { "rindex", text_rindex, 1, 3 },
  { "rjust", text_rjust, 1, 2 }, { "rpartition", text_rpartition, 1, 1 }, { "rsplit", text_rsplit, 0, 2 },
  { "rstrip", text_rstrip, 0, 1 }, { "split", text_split, 0, 2 }, { "splitlines", text_splitlines, 0, 1 },
  { "startswith", text_startswith, 1, 3 }, { "strip", text_strip, 0, 1 }, { "swapcase", text_swapcase, 0, 0 },
  { "title", text_title, 0, 0 }, { "upper", text_upper, 0, 0 },
  { "casefold", NULL, 0, UNKNOWN }, { "encode", NULL, 0, UNKNOWN }, { "expandtabs", NULL, 0, UNKNOWN },
  { "format_map", NULL, 0, UNKNOWN }, { "isascii", NULL, 0, UNKNOWN }, { "isdecimal", NULL, 0, UNKNOWN },
  { "isidentifier", NULL, 0, UNKNOWN }, { "isnumeric", NULL, 0, UNKNOWN }, { "isprintable", NULL, 0, UNKNOWN },
  { "istitle", NULL, 0, UNKNOWN }, { "maketrans", NULL, 0, UNKNOWN }, { "translate", NULL, 0, UNKNOWN },
  { "zfill", NULL, 0, UNKNOWN }, { NULL, NULL, 0, 0 } };

static const struct jinja_method_row list_methods[] = {
  { "copy", list_copy, 0, 0 }, { "count", list_count, 1, 1 }, { "index", list_index, 1, 1 },
  { "append", NULL, 0, 0 }, { "clear", NULL, 0, 0 }, { "extend", NULL, 0, 0 }, { "insert", NULL, 0, 0 }, { "pop", NULL, 0, 0 },
  { "remove", NULL, 0, 0 }, { "reverse", NULL, 0, 0 }, { "sort", NULL, 0, 0 }, { NULL, NULL, 0, 0 } };

static const struct jinja_method_row tuple_methods[] = {
  { "count", list_count, 1, 1 }, { "index", list_index, 1, 1 }, { NULL, NULL, 0, 0 } };

static const struct jinja_method_row dict_methods[] = {
  { "copy", list_copy, 0, 0 }, { "get", dict_get, 1, 2 }, { "items", dict_items, 0, 0 }, { "keys", dict_keys, 0, 0 },
  { "values", dict_values, 0, 0 }, { "fromkeys", NULL, 0, UNKNOWN }, { "clear", NULL, 0, 0 }, { "pop", NULL, 0, 0 },
  { "popitem", NULL, 0, 0 }, { "setdefault", NULL, 0, 0 }, { "update", NULL, 0, 0 }, { NULL, NULL, 0, 0 } };

static const struct jinja_method_row number_methods[] = {
  { "as_integer_ratio", NULL, 0, UNKNOWN }, { "bit_count", NULL, 0, UNKNOWN }, { "bit_length", NULL, 0, UNKNOWN },
  { "conjugate", NULL, 0, UNKNOWN }, { "denominator", NULL, 0, UNKNOWN }, { "from_bytes", NULL, 0, UNKNOWN },
  { "imag", NULL, 0, UNKNOWN }, { "is_integer", NULL, 0, UNKNOWN }, { "numerator", NULL, 0, UNKNOWN },
  { "real", NULL, 0, UNKNOWN }, { "to_bytes", NULL, 0, UNKNOWN }, { "fromhex", NULL, 0, UNKNOWN }, { "hex", NULL, 0, UNKNOWN },
  { NULL, NULL, 0, 0 } };

static const struct jinja_method_row range_methods[] = {
  { "count", NULL, 0, UNKNOWN }, { "index", NULL, 0, UNKNOWN }, { "start", NULL, 0, UNKNOWN }, { "step", NULL, 0, UNKNOWN },
  { "stop", NULL, 0, UNKNOWN }, { NULL, NULL, 0, 0 } };

static const struct jinja_method_row view_methods[] = {
  { "isdisjoint", NULL, 0, UNKNOWN }, { "mapping", NULL, 0, UNKNOWN }, { NULL, NULL, 0, 0 } };

static const struct jinja_method_row other_methods[] = {
  { "close", NULL, 0, UNKNOWN }, { "send", NULL, 0, UNKNOWN }, { "throw", NULL, 0, UNKNOWN }, { NULL, NULL, 0, 0 } };

static const struct jinja_method_row *methods_of(const struct jinja_value *v)
{
  static const struct jinja_method_row none[] = { { NULL, NULL, 0, 0 } };
  switch (v->kind) {
  case JINJA_TEXT: return text_methods;
  case JINJA_LIST: return list_methods;
  case JINJA_TUPLE: return tuple_methods;
  case JINJA_DICT: return dict_methods;
  case JINJA_BOOL: case JINJA_INT: case JINJA_FLOAT: return number_methods;
  case JINJA_RANGE: return range_methods;
  case JINJA_VIEW: return view_methods;
  case JINJA_ITERATOR: return other_methods;
  default: return none;
  }
}

static bool macro_attribute(struct jinja_run *r, const struct jinja_macro *m, const struct jinja_text *name, struct jinja_value *out, bool *there)
{
  *there = true;
  if (JINJA_IS(name, "name") && m->node->kind == JINJA_MACRO_DEFINED)
    return *out = (struct jinja_value) { .kind = JINJA_TEXT, .as.text = r->names[m->node->name] }, true;
  if (JINJA_IS(name, "arguments")) {
    struct jinja_list *l = jinja_list_new(r, m->node->n);
    if (l == NULL) return false;
    for (size_t i = 0; i < m->node->n; i++)
      if (!jinja_push(r, l, (struct jinja_value) { .kind = JINJA_TEXT, .as.text = r->names[m->node->list[i]->name] })) return false;
    return *out = jinja_listed(JINJA_TUPLE, l), true;
  }
  if (JINJA_IS(name, "name") || JINJA_IS(name, "caller") || JINJA_IS(name, "catch_kwargs") || JINJA_IS(name, "catch_varargs")
    || JINJA_IS(name, "explicit_caller")) return jinja_fail(r, "this attribute of a macro is not known here");
  return *there = false, true;
}

/* Python's own attribute of this name, if there is one */
static bool own_attribute(struct jinja_run *r, const struct jinja_value *of, const struct jinja_text *name, struct jinja_value *out, bool *there)
{
  *there = false;
  if (of->kind == JINJA_LOOP) return jinja_loop_attribute(r, of->as.loop, name, out, there);
  if (of->kind == JINJA_MACRO) return macro_attribute(r, of->as.macro, name, out, there);
  if (of->kind == JINJA_NAMESPACE) {
    const struct jinja_value *v = jinja_dict_word(of->as.dict, name->byte, name->n);
    if ((*there = v != NULL)) *out = *v;
    return true;
  }
  for (const struct jinja_method_row *row = methods_of(of); row->name != NULL; row++) {
    if (!jinja_is(name, row->name, strlen(row->name))) continue;
    struct jinja_method *m = jinja_room(r, 1, sizeof *m);
    if (m == NULL) return false;
    *m = (struct jinja_method) { *of, row };
    *out = (struct jinja_value) { .kind = JINJA_METHOD, .as.method = m };
    if (row->call == NULL && row->most == 0) *out = (struct jinja_value) { .kind = JINJA_UNDEFINED, .safe = true };
    return *there = true;
  }
  return true;
}

static bool dunder(const struct jinja_text *name)
{
  return name->n > 4 && memcmp(name->byte, "__", 2) == 0 && memcmp(name->byte + name->n - 2, "__", 2) == 0;
}

bool jinja_attribute(struct jinja_run *r, const struct jinja_value *of, const struct jinja_text *name, struct jinja_value *out)
{
  struct jinja_value key = { .kind = JINJA_TEXT, .as.text = name };
  const struct jinja_value *v;
  bool there;
  if (of->kind == JINJA_UNDEFINED) return jinja_fail(r, "an undefined value has no attribute %.*s", name->n > 40 ? 40 : (int) name->n, name->byte);
  if (!own_attribute(r, of, name, out, &there) || there) return there;
  *out = jinja_undefined();
  if (dunder(name)) return out->safe = true;
  if (of->kind != JINJA_DICT) return true;
  if (!jinja_dict_get(r, of->as.dict, key, &v)) return false;
  if (v != NULL) *out = *v;
  return true;
}

/* item number n, from the end if it is negative; false if there is none */
static bool numbered(struct jinja_run *r, const struct jinja_value *of, int64_t n, struct jinja_value *out, bool *there)
{
  int64_t all = 0;
  if (!jinja_length(r, of, &all)) return false;
  if (n < 0) n += all;
  if (!(*there = n >= 0 && n < all)) return true;
  if (of->kind == JINJA_LIST || of->kind == JINJA_TUPLE) *out = of->as.list->item[n];
  else if (of->kind == JINJA_RANGE) *out = jinja_int(of->as.range->from + n * of->as.range->step);
  else return jinja_part(r, of->as.text, (size_t) n, (size_t) n + 1, out);
  return true;
}

bool jinja_item(struct jinja_run *r, const struct jinja_value *of, const struct jinja_value *key, struct jinja_value *out)
{
  const struct jinja_value *v = NULL;
  int64_t n;
  bool there = false, row = of->kind == JINJA_LIST || of->kind == JINJA_TUPLE || of->kind == JINJA_RANGE || of->kind == JINJA_TEXT;
  if (of->kind == JINJA_UNDEFINED) return jinja_fail(r, "an undefined value has no items");
  bool hashable = key->kind <= JINJA_TEXT || key->kind == JINJA_TUPLE;
  if (of->kind == JINJA_DICT && hashable && !jinja_dict_get(r, of->as.dict, *key, &v)) return false;
  if (v != NULL) return *out = *v, true;
  if (row && jinja_integer(key, &n) && !numbered(r, of, n, out, &there)) return false;
  if (there) {
    if (of->kind == JINJA_TEXT) out->safe = of->safe;
    return true;
  }
  *out = jinja_undefined();
  if (key->kind != JINJA_TEXT) return true;
  if (!own_attribute(r, of, key->as.text, out, &there)) return false;
  if (!there) *out = jinja_undefined();
  if (!there && dunder(key->as.text)) out->safe = true;
  return true;
}

bool jinja_strip(struct jinja_run *r, const struct jinja_value *v, const struct jinja_text *set, struct jinja_value *out)
{
  return strip(r, v, set, true, true, out);
}
