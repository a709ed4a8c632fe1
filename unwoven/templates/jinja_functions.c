/* jinja_functions.c -- the functions that every template sees, and the clock. */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "templates/jinja_inside.h"

#define CALLED const struct jinja_call *c, struct jinja_value *out

static bool call_range(struct jinja_run *r, CALLED)
{
  int64_t n[3] = { 0, 0, 1 };
  if (c->n < 1 || c->n > 3 || c->n_named > 0) return jinja_fail(r, "range takes 1 to 3 integers");
  for (size_t i = 0; i < c->n; i++)
    if (!jinja_integer(&c->item[i], &n[i])) return jinja_fail(r, "range takes integers, not %s", jinja_kind_name(&c->item[i]));
  int64_t from = c->n == 1 ? 0 : n[0], to = c->n == 1 ? n[0] : n[1], by = n[2];
  if (by == 0) return jinja_fail(r, "range cannot go by zero");
  if (from < INT64_MIN / 4 || from > INT64_MAX / 4 || to < INT64_MIN / 4 || to > INT64_MAX / 4 || by < INT64_MIN / 4 || by > INT64_MAX / 4)
    return jinja_fail(r, "a range is too large");
  int64_t wide = by > 0 ? to - from : from - to, step = by > 0 ? by : -by, count = wide > 0 ? (wide - 1) / step + 1 : 0;
  if (count > JINJA_MAX_RANGE) return jinja_limit(r, "a range has %lld numbers, more than %d", (long long) count, JINJA_MAX_RANGE);
  struct jinja_range *g = jinja_room(r, 1, sizeof *g);
  if (g == NULL) return false;
  *g = (struct jinja_range) { from, by, (size_t) count, to };
  *out = (struct jinja_value) { .kind = JINJA_RANGE, .as.range = g };
  return true;
}

/* dict() of another, or of pairs, and of arguments by name */
static bool make_dict(struct jinja_run *r, const struct jinja_call *c, struct jinja_dict **d)
{
  struct jinja_list *l, *both;
  if ((*d = jinja_dict_new(r)) == NULL) return false;
  if (c->n > 1) return jinja_fail(r, "dict takes one value, and others by name");
  if (c->n == 1 && c->item[0].kind == JINJA_UNDEFINED) return jinja_fail(r, "dict cannot be made of an undefined value");
  if (c->n == 1 && c->item[0].kind == JINJA_DICT)
    for (size_t i = 0; i < c->item[0].as.dict->n; i++)
      if (!jinja_dict_set(r, *d, c->item[0].as.dict->pair[i].key, c->item[0].as.dict->pair[i].value)) return false;
  if (c->n == 1 && c->item[0].kind != JINJA_DICT) {
    if (!jinja_iterable(&c->item[0])) return jinja_fail(r, "dict cannot be made of %s", jinja_kind_name(&c->item[0]));
    if (!jinja_items(r, &c->item[0], &l)) return false;
    for (size_t i = 0; i < l->n; i++) {
      if (!jinja_iterable(&l->item[i])) return jinja_fail(r, "dict wants pairs, not %s", jinja_kind_name(&l->item[i]));
      if (!jinja_items(r, &l->item[i], &both)) return false;
      if (both->n != 2) return jinja_fail(r, "dict wants pairs, and one has %zu items", both->n);
      if (!jinja_dict_set(r, *d, both->item[0], both->item[1])) return false;
    }
  }
  for (size_t i = 0; i < c->n_named; i++)
    if (!jinja_dict_set(r, *d, (struct jinja_value) { .kind = JINJA_TEXT, .as.text = c->named[i].name }, c->named[i].value)) return false;
  return true;
}

static bool call_dict(struct jinja_run *r, CALLED)
{
  struct jinja_dict *d;
  if (!make_dict(r, c, &d)) return false;
  return *out = jinja_dicted(d), true;
}

static bool call_namespace(struct jinja_run *r, CALLED)
{
  struct jinja_dict *d;
  if (!make_dict(r, c, &d)) return false;
  for (size_t i = 0; i < d->n; i++)
    if (d->pair[i].key.kind == JINJA_TEXT && d->pair[i].key.as.text->n > 0 && d->pair[i].key.as.text->byte[0] == '_')
      return jinja_fail(r, "a namespace has no attributes that begin with _");
  *out = (struct jinja_value) { .kind = JINJA_NAMESPACE, .as.dict = d };
  return true;
}

/* The template's own refusal: its words are the message. */
static bool call_raise(struct jinja_run *r, CALLED)
{
  static const char *const names[] = { "message", NULL };
  struct jinja_value s;
  char text[sizeof r->why->text];
  (void) out;
  if (!jinja_arguments(r, "raise_exception", c, 1, 1, names) || !jinja_str(r, jinja_argument(c, 0, "message"), &s)) return false;
  size_t n = s.as.text->n < sizeof text - 1 ? s.as.text->n : sizeof text - 1;
  for (size_t i = 0; i < n; i++) text[i] = s.as.text->byte[i] == '\n' || s.as.text->byte[i] == '\r' || s.as.text->byte[i] == '\t' ? ' ' : s.as.text->byte[i];
  text[n] = '\0';
  r->line = 0;
  return jinja_fail(r, "the template says: %s", text);
}

static bool call_strftime(struct jinja_run *r, CALLED)
{
  static const char *const names[] = { "format", NULL };
  if (!jinja_arguments(r, "strftime_now", c, 1, 1, names)) return false;
  const struct jinja_value *v = jinja_argument(c, 0, "format");
  if (v->kind != JINJA_TEXT) return jinja_fail(r, "strftime_now wants a str, not %s", jinja_kind_name(v));
  return jinja_strftime(r, v->as.text, out);
}

static bool call_unknown(struct jinja_run *r, CALLED)
{
  (void) c, (void) out;
  return jinja_fail(r, "cycler, joiner, lipsum and self are not known here");
}

static const struct jinja_function functions[] = {
  { "range", call_range }, { "dict", call_dict }, { "namespace", call_namespace }, { "raise_exception", call_raise },
  { "strftime_now", call_strftime }, { "cycler", call_unknown }, { "joiner", call_unknown }, { "lipsum", call_unknown },
  { "self", call_unknown } };

const struct jinja_function *jinja_function_named(const char *name, size_t n)
{
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (strlen(functions[i].name) == n && memcmp(functions[i].name, name, n) == 0) return &functions[i];
  return NULL;
}

/* ---- the clock ---- */

static const char *const days[] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday" };
static const char *const months[] = { "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
  "November", "December" };

static bool leap(int year)
{
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in(int year, int month)
{
  static const int n[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  return n[month] + (month == 1 && leap(year));
}

/* the local time of the clock, or of the text YYYY-MM-DDTHH:MM:SS */
static bool find_now(struct jinja_run *r, struct tm *t)
{
  char rest;
  memset(t, 0, sizeof *t);
  if (r->now == NULL) {
    time_t now = time(NULL);
    return localtime_r(&now, t) != NULL || jinja_fail(r, "the clock has no time");
  }
  if (strlen(r->now) != 19 || sscanf(r->now, "%4d-%2d-%2dT%2d:%2d:%2d%c", &t->tm_year, &t->tm_mon, &t->tm_mday, &t->tm_hour, &t->tm_min,
      &t->tm_sec, &rest) != 6) return jinja_fail(r, "the time is not written as YYYY-MM-DDTHH:MM:SS");
  t->tm_mon--;
  bool ok = t->tm_year >= 1 && t->tm_mon >= 0 && t->tm_mon < 12 && t->tm_mday >= 1 && t->tm_mday <= days_in(t->tm_year, t->tm_mon)
    && t->tm_hour >= 0 && t->tm_hour < 24 && t->tm_min >= 0 && t->tm_min < 60 && t->tm_sec >= 0 && t->tm_sec < 60;
  if (!ok) return jinja_fail(r, "there is no such time as %s", r->now);
  for (int m = 0; m < t->tm_mon; m++) t->tm_yday += days_in(t->tm_year, m);
  t->tm_yday += t->tm_mday - 1;
  /* The first of January of the year 1 was a Monday. */
  long before = 365L * (t->tm_year - 1) + (t->tm_year - 1) / 4 - (t->tm_year - 1) / 100 + (t->tm_year - 1) / 400;
  t->tm_wday = (int) ((before + t->tm_yday + 1) % 7);
  t->tm_year -= 1900;
  return true;
}

/* the ISO 8601 week and its year */
static int iso_week(const struct tm *t, int *year)
{
  int weekday = (t->tm_wday + 6) % 7, week = (t->tm_yday - weekday + 10) / 7;
  *year = t->tm_year + 1900;
  int first = (weekday - t->tm_yday % 7 + 7 * 53) % 7;
  bool long_year = first == 3 || (first == 2 && leap(*year));
  if (week < 1) {
    --*year;
    int last = (first + 7 - (leap(*year) ? 2 : 1)) % 7;
    return last == 3 || (last == 2 && leap(*year)) ? 53 : 52;
  }
  if (week == 53 && !long_year) return ++*year, 1;
  return week;
}

/* the numbers; -1 if the letter stands for none. digits is how many are printed at least, and blank fills up with blanks */
static int numeric(const struct tm *t, char letter, int *digits, bool *blank)
{
  int year, hour = t->tm_hour % 12 == 0 ? 12 : t->tm_hour % 12;
  *digits = 2, *blank = letter == 'e' || letter == 'k' || letter == 'l';
  switch (letter) {
  case 'd': case 'e': return t->tm_mday;
  case 'm': return t->tm_mon + 1;
  case 'y': return (t->tm_year + 1900) % 100;
  case 'Y': return *digits = 1, t->tm_year + 1900;
  case 'C': return (t->tm_year + 1900) / 100;
  case 'H': case 'k': return t->tm_hour;
  case 'I': case 'l': return hour;
  case 'M': return t->tm_min;
  case 'S': return t->tm_sec;
  case 'j': return *digits = 3, t->tm_yday + 1;
  case 'w': return *digits = 1, t->tm_wday;
  case 'u': return *digits = 1, t->tm_wday == 0 ? 7 : t->tm_wday;
  case 'U': return (t->tm_yday + 7 - t->tm_wday) / 7;
  case 'W': return (t->tm_yday + 7 - (t->tm_wday + 6) % 7) / 7;
  case 'V': return iso_week(t, &year);
  case 'G':
    *digits = 1;
    iso_week(t, &year);
    return year;
  case 'f': return *digits = 6, 0;
  default: return -1;
  }
}

static bool put_number(struct jinja_run *r, struct jinja_output *o, int n, int digits, bool blank, char sign)
{
  char text[24];
  const char *form = blank || sign == '_' ? "%*d" : "%0*d";
  int k = snprintf(text, sizeof text, form, sign == '-' ? 1 : digits, n);
  return jinja_write(r, o, text, (size_t) k);
}

static const char *composed(char letter)
{
  switch (letter) {
  case 'c': return "%a %b %e %H:%M:%S %Y";
  case 'x': case 'D': return "%m/%d/%y";
  case 'X': case 'T': return "%H:%M:%S";
  case 'F': return "%Y-%m-%d";
  case 'R': return "%H:%M";
  case 'r': return "%I:%M:%S %p";
  default: return NULL;
  }
}

static bool put_time(struct jinja_run *r, struct jinja_output *o, const struct tm *t, const char *format, size_t n, int level);

static bool put_directive(struct jinja_run *r, struct jinja_output *o, const struct tm *t, char letter, char sign, int level)
{
  int digits, n;
  bool blank;
  const char *word = NULL, *whole = composed(letter);
  if (whole != NULL && level == 0 && sign == '\0') return put_time(r, o, t, whole, strlen(whole), 1);
  if (letter == 'A' || letter == 'a') word = days[t->tm_wday];
  else if (letter == 'B' || letter == 'b' || letter == 'h') word = months[t->tm_mon];
  else if (letter == 'p') word = t->tm_hour < 12 ? "AM" : "PM";
  else if (letter == 'P') word = t->tm_hour < 12 ? "am" : "pm";
  else if (letter == '%') word = "%";
  else if (letter == 'n') word = "\n";
  else if (letter == 't') word = "\t";
  else if (letter == 'Z' || letter == 'z') word = "";
  if (word != NULL && sign == '\0')
    return jinja_write(r, o, word, letter == 'a' || letter == 'b' || letter == 'h' ? 3 : strlen(word));
  n = numeric(t, letter, &digits, &blank);
  if (n < 0 || (sign != '\0' && letter == 'f')) return jinja_fail(r, "strftime_now does not know %%%c here", letter > ' ' && letter < 0x7f ? letter : '?');
  return put_number(r, o, n, digits, blank, sign);
}

static bool put_time(struct jinja_run *r, struct jinja_output *o, const struct tm *t, const char *format, size_t n, int level)
{
  for (size_t i = 0; i < n; i++) {
    char sign = '\0';
    if (format[i] != '%') {
      if (!jinja_write(r, o, format + i, 1)) return false;
      continue;
    }
    if (i + 1 < n && (format[i + 1] == '-' || format[i + 1] == '_')) sign = format[++i];
    if (++i >= n) return jinja_fail(r, "strftime_now ends within a directive");
    if (!jinja_steps(r, 1) || !put_directive(r, o, t, format[i], sign, level)) return false;
  }
  return true;
}

bool jinja_strftime(struct jinja_run *r, const struct jinja_text *format, struct jinja_value *out)
{
  struct tm t;
  struct jinja_output o = { .byte = NULL };
  bool ok = find_now(r, &t) && put_time(r, &o, &t, format->byte, format->n, 0);
  jinja_directed(r, &o, format);
  ok = ok && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  return ok;
}
