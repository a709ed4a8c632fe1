/* jinja_print.c -- values as text: Python's str and repr, its floats, and JSON as the library prints it. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "templates/jinja_inside.h"

/* The fewest digits that read back, as Python chooses them: without an exponent from 0.0001 up to 16 digits. */
size_t jinja_float_repr(double x, char buffer[JINJA_FLOAT_MAX])
{
  char digit[32], text[JINJA_FLOAT_MAX];
  if (isnan(x)) return (size_t) snprintf(buffer, JINJA_FLOAT_MAX, "nan");
  if (isinf(x)) return (size_t) snprintf(buffer, JINJA_FLOAT_MAX, x < 0 ? "-inf" : "inf");
  int digits = 1, exponent;
  for (; digits < 17; digits++) {
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    if (strtod(text, NULL) == x) break;
  }
  snprintf(text, sizeof text, "%.*e", digits - 1, x);
  const char *sign = text[0] == '-' ? "-" : "", *from = text + (text[0] == '-');
  exponent = atoi(strchr(from, 'e') + 1);
  size_t n = 0, k = 0;
  for (const char *c = from; *c != 'e'; c++) if (*c != '.') digit[n++] = *c;
  k = (size_t) snprintf(buffer, JINJA_FLOAT_MAX, "%s", sign);
  if (exponent < -4 || exponent >= 16) {
    k += (size_t) snprintf(buffer + k, JINJA_FLOAT_MAX - k, "%c%s%.*s", digit[0], n > 1 ? "." : "", (int) n - 1, digit + 1);
    return k + (size_t) snprintf(buffer + k, JINJA_FLOAT_MAX - k, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
  }
  if (exponent < 0) {
    buffer[k++] = '0', buffer[k++] = '.';
    for (int i = -1; i > exponent; i--) buffer[k++] = '0';
    return k + (size_t) snprintf(buffer + k, JINJA_FLOAT_MAX - k, "%.*s", (int) n, digit);
  }
  for (size_t i = 0; i < n || i <= (size_t) exponent; i++) {
    buffer[k++] = i < n ? digit[i] : '0';
    if (i == (size_t) exponent) buffer[k++] = '.';
  }
  if (buffer[k - 1] == '.') buffer[k++] = '0';
  buffer[k] = '\0';
  return k;
}

static bool put(struct jinja_run *r, struct jinja_output *o, const char *words)
{
  return jinja_write(r, o, words, strlen(words));
}

static bool put_number(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v)
{
  char text[JINJA_FLOAT_MAX];
  if (v->kind == JINJA_FLOAT) jinja_float_repr(v->as.x, text);
  else snprintf(text, sizeof text, "%lld", (long long) v->as.n);
  return put(r, o, text);
}

/* ---- repr ---- */

static bool put_escaped_point(struct jinja_run *r, struct jinja_output *o, const char *byte, size_t k, uint32_t c, char quote)
{
  char text[16];
  if (c == '\n') strcpy(text, "\\n");
  else if (c == '\r') strcpy(text, "\\r");
  else if (c == '\t') strcpy(text, "\\t");
  else if (c == '\\' || c == (unsigned char) quote) snprintf(text, sizeof text, "\\%c", (char) c);
  else if (jinja_printable(c)) return jinja_write(r, o, byte, k);
  else if (c < 0x100) snprintf(text, sizeof text, "\\x%02x", (unsigned) c);
  else snprintf(text, sizeof text, c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned) c);
  return jinja_write_for(r, o, text, strlen(text), byte);
}

/* Single quotes, unless there are such inside and no double ones. */
static bool repr_text(struct jinja_run *r, struct jinja_output *o, const struct jinja_text *t)
{
  bool single = memchr(t->byte, '\'', t->n) != NULL, twice = memchr(t->byte, '"', t->n) != NULL;
  char quote = single && !twice ? '"' : '\'';
  if (!jinja_steps(r, t->n / 4) || !jinja_write(r, o, &quote, 1)) return false;
  for (size_t at = 0; at < t->n;) {
    uint32_t c;
    size_t k = jinja_point(t->byte + at, t->n - at, &c);
    if (!put_escaped_point(r, o, t->byte + at, k, c, quote)) return false;
    at += k;
  }
  return jinja_write(r, o, &quote, 1);
}

static bool repr_list(struct jinja_run *r, struct jinja_output *o, const struct jinja_list *l, const char *open,
  const char *close)
{
  if (!put(r, o, open)) return false;
  for (size_t i = 0; i < l->n; i++)
    if ((i > 0 && !put(r, o, ", ")) || !jinja_repr(r, o, &l->item[i])) return false;
  return (*open != '(' || l->n != 1 || put(r, o, ",")) && put(r, o, close);
}

static bool repr_dict(struct jinja_run *r, struct jinja_output *o, const struct jinja_dict *d)
{
  if (!put(r, o, "{")) return false;
  for (size_t i = 0; i < d->n; i++)
    if ((i > 0 && !put(r, o, ", ")) || !jinja_repr(r, o, &d->pair[i].key) || !put(r, o, ": ")
      || !jinja_repr(r, o, &d->pair[i].value)) return false;
  return put(r, o, "}");
}

static bool repr_range(struct jinja_run *r, struct jinja_output *o, const struct jinja_range *g)
{
  char text[96];
  snprintf(text, sizeof text, g->step == 1 ? "range(%lld, %lld)" : "range(%lld, %lld, %lld)", (long long) g->from,
    (long long) g->to, (long long) g->step);
  return put(r, o, text);
}

static bool repr_view(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v)
{
  static const char *const name[] = { "dict_keys([", "dict_values([", "dict_items([" };
  struct jinja_list *l;
  return jinja_items(r, v, &l) && repr_list(r, o, l, name[v->as.view->of], "])");
}

static bool repr_inside(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v)
{
  switch (v->kind) {
  case JINJA_UNDEFINED: return put(r, o, "Undefined");
  case JINJA_NONE: return put(r, o, "None");
  case JINJA_BOOL: return put(r, o, v->as.flag ? "True" : "False");
  case JINJA_INT: case JINJA_FLOAT: return put_number(r, o, v);
  case JINJA_TEXT: return (!v->safe || put(r, o, "Markup(")) && repr_text(r, o, v->as.text) && (!v->safe || put(r, o, ")"));
  case JINJA_LIST: return repr_list(r, o, v->as.list, "[", "]");
  case JINJA_TUPLE: return repr_list(r, o, v->as.list, "(", ")");
  case JINJA_DICT: return repr_dict(r, o, v->as.dict);
  case JINJA_RANGE: return repr_range(r, o, v->as.range);
  case JINJA_VIEW: return repr_view(r, o, v);
  case JINJA_NAMESPACE: return put(r, o, "<Namespace ") && repr_dict(r, o, v->as.dict) && put(r, o, ">");
  default: return jinja_fail(r, "a %s has no text of its own", jinja_kind_name(v));
  }
}

bool jinja_repr(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v)
{
  if (!jinja_steps(r, 1)) return false;
  if (r->calls >= JINJA_MAX_CALLS) return jinja_limit(r, "values are nested more than %d deep", JINJA_MAX_CALLS);
  r->calls++;
  bool ok = repr_inside(r, o, v);
  r->calls--;
  return ok;
}

bool jinja_print(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v)
{
  if (v->kind == JINJA_TEXT) return jinja_write_text(r, o, v->as.text);
  if (v->kind == JINJA_UNDEFINED) return true;
  return jinja_repr(r, o, v);
}

bool jinja_str(struct jinja_run *r, const struct jinja_value *v, struct jinja_value *out)
{
  struct jinja_output o = { .byte = NULL };
  if (v->kind == JINJA_TEXT) {
    *out = *v;
    return true;
  }
  bool ok = jinja_print(r, &o, v) && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  return ok;
}

static const char *entity(char c)
{
  switch (c) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&#34;";
  case '\'': return "&#39;";
  default: return NULL;
  }
}

bool jinja_escape(struct jinja_run *r, const struct jinja_value *v, struct jinja_value *out)
{
  struct jinja_output o = { .byte = NULL };
  struct jinja_value s;
  bool ok = jinja_str(r, v, &s);
  if (!ok || (s.safe && v->kind == JINJA_TEXT)) {
    if (ok) *out = s;
    return ok;
  }
  const struct jinja_text *t = s.as.text;
  for (size_t i = 0, from = 0; ok && i <= t->n; i++) {
    char c = i < t->n ? t->byte[i] : '\0';
    const char *e = entity(c);
    if (e == NULL && i < t->n) continue;
    ok = jinja_write(r, &o, t->byte + from, i - from) && (e == NULL || jinja_write_for(r, &o, e, strlen(e), t->byte + i));
    from = i + 1;
  }
  ok = ok && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  if (ok) out->safe = true;
  return ok;
}

/* ---- JSON ---- */

struct json_style {
  bool ascii, sorted, indented;
  struct jinja_value indent;
  const struct jinja_text *item, *key;
};

/* what stands behind the backslash where JSON has a short form */
static char letter_of(char c)
{
  static const char pairs[] = "\"\"\\\\\nn\rr\tt\bb\ff";
  for (size_t i = 0; i + 1 < sizeof pairs; i += 2) if (pairs[i] == c) return pairs[i + 1];
  return '\0';
}

static bool json_text(struct jinja_run *r, struct jinja_output *o, const struct jinja_text *t, bool ascii)
{
  char text[16];
  if (!jinja_steps(r, t->n / 8) || !put(r, o, "\"")) return false;
  for (size_t at = 0, from = 0; at <= t->n;) {
    uint32_t c = 0;
    size_t k = at < t->n ? jinja_point(t->byte + at, t->n - at, &c) : 1;
    bool plain = at < t->n && c >= 0x20 && c != '"' && c != '\\' && (!ascii || c < 0x7f || c == 0x7f);
    if (plain) {
      at += k;
      continue;
    }
    if (!jinja_write(r, o, t->byte + from, at - from)) return false;
    if (at == t->n) break;
    char letter = c < 0x80 ? letter_of((char) c) : '\0';
    if (letter != '\0') snprintf(text, sizeof text, "\\%c", letter);
    else if (c < 0x10000) snprintf(text, sizeof text, "\\u%04x", (unsigned) c);
    else snprintf(text, sizeof text, "\\u%04x\\u%04x", (unsigned) (0xd800 + ((c - 0x10000) >> 10)),
      (unsigned) (0xdc00 + ((c - 0x10000) & 0x3ff)));
    if (!jinja_write_for(r, o, text, strlen(text), t->byte + at)) return false;
    at += k, from = at;
  }
  return put(r, o, "\"");
}

static bool json_break(struct jinja_run *r, struct jinja_output *o, const struct json_style *s, size_t level)
{
  if (!s->indented) return true;
  if (!put(r, o, "\n")) return false;
  for (size_t i = 0; i < level; i++) {
    if (s->indent.kind == JINJA_TEXT) {
      if (!jinja_write_text(r, o, s->indent.as.text)) return false;
    }
    else for (int64_t k = 0; k < s->indent.as.n; k++)
      if (!jinja_steps(r, 1) || !put(r, o, " ")) return false;
  }
  return true;
}

static bool json_number(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v)
{
  if (v->kind == JINJA_FLOAT && isnan(v->as.x)) return put(r, o, "NaN");
  if (v->kind == JINJA_FLOAT && isinf(v->as.x)) return put(r, o, v->as.x < 0 ? "-Infinity" : "Infinity");
  return put_number(r, o, v);
}

static bool json_scalar(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v)
{
  if (v->kind == JINJA_NONE) return put(r, o, "null");
  if (v->kind == JINJA_BOOL) return put(r, o, v->as.flag ? "true" : "false");
  if (v->kind == JINJA_INT || v->kind == JINJA_FLOAT) return json_number(r, o, v);
  return jinja_fail(r, "a %s cannot be written as JSON", jinja_kind_name(v));
}

static bool json_key(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v, bool ascii)
{
  if (v->kind == JINJA_TEXT) return json_text(r, o, v->as.text, ascii);
  if (v->kind == JINJA_TUPLE || v->kind == JINJA_UNDEFINED) return jinja_fail(r, "a %s is no key in JSON", jinja_kind_name(v));
  return put(r, o, "\"") && json_scalar(r, o, v) && put(r, o, "\"");
}

static bool json_value(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v, const struct json_style *s,
  size_t level);

static bool json_list(struct jinja_run *r, struct jinja_output *o, const struct jinja_list *l, const struct json_style *s,
  size_t level)
{
  if (l->n == 0) return put(r, o, "[]");
  if (!put(r, o, "[")) return false;
  for (size_t i = 0; i < l->n; i++)
    if ((i > 0 && !jinja_write_text(r, o, s->item)) || !json_break(r, o, s, level + 1)
      || !json_value(r, o, &l->item[i], s, level + 1)) return false;
  return json_break(r, o, s, level) && put(r, o, "]");
}

/* Keys in order by insertion sort; schemas have few. */
static bool sorted_pairs(struct jinja_run *r, const struct jinja_dict *d, struct jinja_pair **out)
{
  struct jinja_pair *p = jinja_room(r, d->n, sizeof *p);
  if (p == NULL) return false;
  for (size_t i = 0; i < d->n; i++) {
    size_t k = i;
    for (int order = -1; k > 0; k--) {
      if (!jinja_steps(r, 1) || !jinja_less(r, &d->pair[i].key, &p[k - 1].key, "<", &order)) return false;
      if (order >= 0) break;
      p[k] = p[k - 1];
    }
    p[k] = d->pair[i];
  }
  *out = p;
  return true;
}

static bool json_dict(struct jinja_run *r, struct jinja_output *o, const struct jinja_dict *d, const struct json_style *s,
  size_t level)
{
  struct jinja_pair *p = d->pair;
  if (d->n == 0) return put(r, o, "{}");
  if ((s->sorted && !sorted_pairs(r, d, &p)) || !put(r, o, "{")) return false;
  for (size_t i = 0; i < d->n; i++)
    if ((i > 0 && !jinja_write_text(r, o, s->item)) || !json_break(r, o, s, level + 1)
      || !json_key(r, o, &p[i].key, s->ascii) || !jinja_write_text(r, o, s->key)
      || !json_value(r, o, &p[i].value, s, level + 1)) return false;
  return json_break(r, o, s, level) && put(r, o, "}");
}

static bool json_value(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v, const struct json_style *s,
  size_t level)
{
  if (!jinja_steps(r, 1)) return false;
  if (v->kind == JINJA_TEXT) return json_text(r, o, v->as.text, s->ascii);
  if (v->kind != JINJA_LIST && v->kind != JINJA_TUPLE && v->kind != JINJA_DICT) return json_scalar(r, o, v);
  if (level >= JINJA_MAX_CALLS) return jinja_limit(r, "values are nested more than %d deep", JINJA_MAX_CALLS);
  return v->kind == JINJA_DICT ? json_dict(r, o, v->as.dict, s, level) : json_list(r, o, v->as.list, s, level);
}

static bool json_separators(struct jinja_run *r, const struct jinja_value *v, struct json_style *s)
{
  struct jinja_value item, key;
  if (v == NULL || v->kind == JINJA_NONE) {
    if (!jinja_words(r, s->indented ? "," : ", ", &item) || !jinja_words(r, ": ", &key)) return false;
  }
  else {
    bool pair = (v->kind == JINJA_TUPLE || v->kind == JINJA_LIST) && v->as.list->n == 2
      && v->as.list->item[0].kind == JINJA_TEXT && v->as.list->item[1].kind == JINJA_TEXT;
    if (!pair) return jinja_fail(r, "the separators of tojson are no pair of texts");
    item = v->as.list->item[0], key = v->as.list->item[1];
  }
  s->item = item.as.text, s->key = key.as.text;
  return true;
}

bool jinja_tojson(struct jinja_run *r, const struct jinja_value *v, const struct jinja_call *c, struct jinja_value *out)
{
  static const char *const names[] = { "ensure_ascii", "indent", "separators", "sort_keys", NULL };
  struct json_style s = { .ascii = false };
  struct jinja_output o = { .byte = NULL };
  int64_t width;
  if (!jinja_arguments(r, "tojson", c, 0, 4, names)) return false;
  const struct jinja_value *ascii = jinja_argument(c, 0, "ensure_ascii"), *indent = jinja_argument(c, 1, "indent"),
    *sorted = jinja_argument(c, 3, "sort_keys");
  s.ascii = ascii != NULL && jinja_true(ascii), s.sorted = sorted != NULL && jinja_true(sorted);
  s.indented = indent != NULL && indent->kind != JINJA_NONE;
  if (s.indented) s.indent = *indent;
  if (s.indented && indent->kind != JINJA_TEXT) {
    if (!jinja_integer(indent, &width)) return jinja_fail(r, "tojson cannot indent by a %s", jinja_kind_name(indent));
    s.indent = jinja_int(width);
  }
  bool ok = json_separators(r, jinja_argument(c, 2, "separators"), &s) && json_value(r, &o, v, &s, 0)
    && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  return ok;
}
