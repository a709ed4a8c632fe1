/* jinja_format.c -- Python's two ways to fill in a text: % and str.format.

   Of their many settings these have what templates use: text, integers, floats, widths, signs. Anything else is an error. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "templates/jinja_inside.h"

enum { MAX_WIDTH = 1000, MAX_DIGITS = 100 };

struct spec { char fill, align, sign, type; bool zero, alternate; int width, digits; };

static bool integer_of(const struct jinja_value *v, int64_t *n)
{
  if (jinja_integer(v, n)) return true;
  if (v->kind != JINJA_FLOAT || !(fabs(v->as.x) < 9e18)) return false;
  *n = (int64_t) v->as.x;
  return true;
}

static const char *sign_before(const struct spec *s, bool minus)
{
  if (minus) return "-";
  if (s->sign == '+') return "+";
  return s->sign == ' ' ? " " : "";
}

/* the number without width; false after an error */
static bool number_text(struct jinja_run *r, const struct spec *s, const struct jinja_value *v, bool lenient, char text[512])
{
  int64_t n = 0;
  if (strchr("diuxXo", s->type) != NULL) {
    if (s->alternate || s->digits >= 0) return jinja_fail(r, "this way to print a number is not known here");
    if (!(lenient && strchr("diu", s->type) != NULL ? integer_of(v, &n) : jinja_integer(v, &n)))
      return jinja_fail(r, "%%%c wants an integer, not %s", s->type, jinja_kind_name(v));
    unsigned long long size = n < 0 ? 0ull - (unsigned long long) n : (unsigned long long) n;
    const char *sign = sign_before(s, n < 0);
    if (s->type == 'x') snprintf(text, 512, "%s%llx", sign, size);
    else if (s->type == 'X') snprintf(text, 512, "%s%llX", sign, size);
    else if (s->type == 'o') snprintf(text, 512, "%s%llo", sign, size);
    else snprintf(text, 512, "%s%llu", sign, size);
    return true;
  }
  double x = v->kind == JINJA_FLOAT ? v->as.x : NAN;
  if (jinja_integer(v, &n)) x = (double) n;
  if (!isfinite(x) || s->alternate) return jinja_fail(r, "%%%c wants a number, not %s", s->type, jinja_kind_name(v));
  int digits = s->digits < 0 ? 6 : s->digits;
  const char *sign = sign_before(s, signbit(x));
  x = fabs(x);
  if (s->type == 'f' || s->type == 'F') snprintf(text, 512, "%s%.*f", sign, digits, x);
  else if (s->type == 'e') snprintf(text, 512, "%s%.*e", sign, digits, x);
  else if (s->type == 'g') snprintf(text, 512, "%s%.*g", sign, digits, x);
  else return jinja_fail(r, "%%%c is not known here", s->type);
  return true;
}

/* writes a text of so many code points, filled up to a width */
static bool put_wide(struct jinja_run *r, struct jinja_output *o, const struct spec *s, const char *byte, size_t n, size_t points)
{
  size_t more = s->width > 0 && (size_t) s->width > points ? (size_t) s->width - points : 0, left = 0;
  size_t sign = s->align == '=' && n > 0 && strchr("+- ", byte[0]) != NULL ? 1 : 0;
  if (s->align == '>' || s->align == '=') left = more;
  else if (s->align == '^') left = more / 2;
  if (!jinja_write(r, o, byte, sign)) return false;
  for (size_t i = 0; i < left; i++) if (!jinja_write(r, o, &s->fill, 1)) return false;
  if (!jinja_write(r, o, byte + sign, n - sign)) return false;
  for (size_t i = left; i < more; i++) if (!jinja_write(r, o, &s->fill, 1)) return false;
  return true;
}

static bool put_value(struct jinja_run *r, struct jinja_output *o, struct spec *s, const struct jinja_value *v, bool repr, bool lenient)
{
  char text[512];
  struct jinja_output made = { .byte = NULL };
  struct jinja_value t;
  if (s->type != 's') {
    if (!number_text(r, s, v, lenient, text)) return false;
    return put_wide(r, o, s, text, strlen(text), strlen(text));
  }
  bool ok = (repr ? jinja_repr(r, &made, v) : jinja_print(r, &made, v)) && jinja_output_text(r, &made, &t);
  jinja_output_free(r, &made);
  if (ok && s->digits >= 0) ok = jinja_part(r, t.as.text, 0, (size_t) s->digits, &t);
  return ok && put_wide(r, o, s, t.as.text->byte, t.as.text->n, t.as.text->points);
}

static bool read_count(struct jinja_run *r, const struct jinja_text *t, size_t *at, int most, int *n)
{
  *n = 0;
  while (*at < t->n && t->byte[*at] >= '0' && t->byte[*at] <= '9') {
    *n = *n * 10 + (t->byte[(*at)++] - '0');
    if (*n > most) return jinja_fail(r, "a width or a precision is larger than %d", most);
  }
  return true;
}

/* ---- % ---- */

struct filling { const struct jinja_value *with; size_t used; bool named; };

/* the value for a directive, whose name may stand in brackets */
static bool take_value(struct jinja_run *r, const struct jinja_text *t, size_t *at, struct filling *f, struct jinja_value *v, bool *given)
{
  const struct jinja_value *found;
  *given = *at < t->n && t->byte[*at] == '(';
  if (!*given) return true;
  size_t from = ++*at;
  while (*at < t->n && t->byte[*at] != ')') ++*at;
  if (*at >= t->n || f->with->kind != JINJA_DICT) return jinja_fail(r, "a name in a format wants a dictionary");
  struct jinja_value key;
  if (!jinja_text_of(r, t->byte + from, *at - from, &key) || !jinja_dict_get(r, f->with->as.dict, key, &found)) return false;
  if (found == NULL) return jinja_fail(r, "a format names what is not there");
  ++*at;
  f->named = true, *v = *found;
  return true;
}

static bool next_value(struct jinja_run *r, struct filling *f, struct jinja_value *v)
{
  bool tuple = f->with->kind == JINJA_TUPLE;
  size_t all = tuple ? f->with->as.list->n : 1;
  if (f->used >= all) return jinja_fail(r, "a format wants more values than there are");
  *v = tuple ? f->with->as.list->item[f->used] : *f->with;
  f->used++;
  return true;
}

static bool directive(struct jinja_run *r, const struct jinja_text *t, size_t *at, struct filling *f, struct jinja_output *o)
{
  struct spec s = { .fill = ' ', .align = '>', .digits = -1 };
  struct jinja_value v;
  bool given;
  if (!take_value(r, t, at, f, &v, &given)) return false;
  for (; *at < t->n && strchr("-+ 0#", t->byte[*at]) != NULL && t->byte[*at] != '\0'; ++*at) {
    char c = t->byte[*at];
    if (c == '-') s.align = '<';
    else if (c == '0') s.zero = true;
    else if (c == '#') s.alternate = true;
    else if (s.sign != '+') s.sign = c;
  }
  if (!read_count(r, t, at, MAX_WIDTH, &s.width)) return false;
  if (*at < t->n && t->byte[*at] == '.') {
    ++*at;
    if (!read_count(r, t, at, MAX_DIGITS, &s.digits)) return false;
  }
  if (*at >= t->n) return jinja_fail(r, "a format ends within a directive");
  char type = t->byte[(*at)++];
  if (type == '%') return jinja_write(r, o, "%", 1);
  if (strchr("srdiuxXofFeg", type) == NULL || type == '\0') return jinja_fail(r, "%%%c is not known here", type > ' ' && type < 0x7f ? type : '?');
  if (!given && !next_value(r, f, &v)) return false;
  s.type = type == 'r' ? 's' : type;
  if (s.zero && s.align == '>' && s.type != 's') s.fill = '0', s.align = '=';
  return put_value(r, o, &s, &v, type == 'r', true);
}

bool jinja_percent(struct jinja_run *r, const struct jinja_value *format, const struct jinja_value *with, struct jinja_value *out)
{
  const struct jinja_text *t = format->as.text;
  struct filling f = { .with = with };
  struct jinja_output o = { .byte = NULL };
  bool ok = !format->safe || jinja_fail(r, "%% of a safe text is not known here");
  for (size_t at = 0; ok && at < t->n;) {
    size_t from = at;
    while (at < t->n && t->byte[at] != '%') at++;
    ok = jinja_write(r, &o, t->byte + from, at - from);
    if (ok && at < t->n) at++, ok = jinja_steps(r, 1) && directive(r, t, &at, &f, &o);
  }
  size_t all = with->kind == JINJA_TUPLE ? with->as.list->n : 1;
  bool loose = with->kind == JINJA_DICT || with->kind == JINJA_LIST || with->kind == JINJA_RANGE;
  if (ok && f.used < all && !loose) ok = jinja_fail(r, "a format wants fewer values than there are");
  jinja_directed(r, &o, t);
  ok = ok && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  return ok;
}

/* ---- format ---- */

/* what stands before : and !, an argument's number, its name, or nothing */
static bool field_value(struct jinja_run *r, const char *name, size_t n, const struct jinja_call *c, int *next, struct jinja_value *v)
{
  size_t i = 0;
  bool digits = n > 0;
  for (size_t k = 0; k < n; k++) {
    if (strchr(".[]", name[k]) != NULL) return jinja_fail(r, "attributes in a format are not known here");
    digits = digits && name[k] >= '0' && name[k] <= '9';
    if (digits && k < 4) i = i * 10 + (size_t) (name[k] - '0');
  }
  if (n == 0 || digits) {
    if (n > 4 || (n == 0 ? *next < 0 : *next > 0)) return jinja_fail(r, "a format counts its fields in two ways");
    if (n == 0) i = (size_t) (*next)++;
    else *next = -1;
    if (i >= c->n) return jinja_fail(r, "a format wants more values than there are");
    return *v = c->item[i], true;
  }
  for (size_t k = 0; k < c->n_named; k++)
    if (jinja_is(c->named[k].name, name, n)) return *v = c->named[k].value, true;
  return jinja_fail(r, "a format names what is not there");
}

static bool read_spec(struct jinja_run *r, const struct jinja_text *t, const struct jinja_value *v, struct spec *s)
{
  size_t at = 0;
  bool number = v->kind == JINJA_INT || v->kind == JINJA_FLOAT, filled = false, aligned = true;
  *s = (struct spec) { .fill = ' ', .align = number ? '>' : '<', .digits = -1 };
  if (t->n > 1 && (unsigned char) t->byte[0] < 0x80 && strchr("<>^=", t->byte[1]) != NULL) {
    at = 2, filled = true;
    s->fill = t->byte[0], s->align = t->byte[1];
  }
  else if (t->n > 0 && strchr("<>^=", t->byte[0]) != NULL) s->align = t->byte[0], at = 1;
  else aligned = false;
  if (at < t->n && strchr("+- ", t->byte[at]) != NULL) s->sign = t->byte[at++];
  if (at < t->n && t->byte[at] == '0' && !filled) {
    s->fill = '0', at++;
    if (!aligned && number) s->align = '=';
  }
  if (!read_count(r, t, &at, MAX_WIDTH, &s->width)) return false;
  if (at < t->n && t->byte[at] == '.') {
    at++;
    if (!read_count(r, t, &at, MAX_DIGITS, &s->digits)) return false;
  }
  s->type = v->kind == JINJA_INT ? 'd' : 's';
  if (at < t->n) s->type = t->byte[at++];
  bool fits = s->type == 's' ? v->kind == JINJA_TEXT && s->align != '=' && s->sign == '\0'
    : strchr("dxXofFeg", s->type) != NULL && number && (strchr("dxXo", s->type) == NULL || v->kind == JINJA_INT);
  if (at != t->n || !fits) return jinja_fail(r, "this format of a %s is not known here", jinja_kind_name(v));
  return true;
}

/* one field in braces, without them */
static bool put_field(struct jinja_run *r, const struct jinja_text *t, const struct jinja_call *c, int *next, struct jinja_output *o)
{
  size_t n = 0;
  struct jinja_value v, s;
  struct jinja_output made = { .byte = NULL };
  struct spec spec = { .fill = ' ', .align = '<', .type = 's', .digits = -1 };
  while (n < t->n && t->byte[n] != ':' && t->byte[n] != '!') n++;
  if (!field_value(r, t->byte, n, c, next, &v)) return false;
  if (n < t->n && t->byte[n] == '!') {
    char how = n + 1 < t->n ? t->byte[n + 1] : '\0';
    if (how != 's' && how != 'r') return jinja_fail(r, "a format converts with !s or !r");
    bool ok = (how == 'r' ? jinja_repr(r, &made, &v) : jinja_print(r, &made, &v)) && jinja_output_text(r, &made, &s);
    jinja_output_free(r, &made);
    if (!ok) return false;
    v = s, n += 2;
  }
  if (n < t->n && t->byte[n] != ':') return jinja_fail(r, "a field of a format is not closed");
  struct jinja_text rest = { t->byte + n + (n < t->n), t->n - n - (n < t->n), 0 };
  if (rest.n > 0 && !read_spec(r, &rest, &v, &spec)) return false;
  return put_value(r, o, &spec, &v, false, false);
}

bool jinja_braces(struct jinja_run *r, const struct jinja_text *t, const struct jinja_call *c, struct jinja_value *out)
{
  struct jinja_output o = { .byte = NULL };
  bool ok = true;
  int next = 0;
  for (size_t at = 0; ok && at < t->n;) {
    char b = t->byte[at], follows = at + 1 < t->n ? t->byte[at + 1] : '\0';
    ok = jinja_steps(r, 1);
    if ((b == '{' || b == '}') && follows == b) ok = ok && jinja_write(r, &o, t->byte + at, 1), at += 2;
    else if (b == '}') ok = jinja_fail(r, "a format has a brace that closes nothing");
    else if (b == '{') {
      size_t end = at + 1;
      while (end < t->n && t->byte[end] != '}' && t->byte[end] != '{') end++;
      if (end >= t->n || t->byte[end] == '{') ok = jinja_fail(r, "a field of a format is not closed");
      else {
        struct jinja_text field = { t->byte + at + 1, end - at - 1, 0 };
        ok = ok && put_field(r, &field, c, &next, &o);
        at = end + 1;
      }
    }
    else ok = ok && jinja_write(r, &o, t->byte + at, 1), at++;
  }
  jinja_directed(r, &o, t);
  ok = ok && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  return ok;
}
