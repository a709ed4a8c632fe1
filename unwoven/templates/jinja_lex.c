/* jinja_lex.c -- the source of a template as tokens: text, and within braces names, numbers, strings, operators.

   White space around tags is where most templates differ from what one reads. A sign in a tag takes the white space on its side
   away; a block or a comment alone takes the blanks before it on its line, and one newline behind it. Line ends become LF, and
   the last one of the source is dropped. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "templates/jinja_inside.h"

static bool fail_at(struct jinja_lexer *x, const char *words, int c)
{
  x->r->line = x->line;
  if (c < 0) return jinja_fail(x->r, "%s", words);
  return jinja_fail(x->r, "%s '%c'", words, c >= ' ' && c < 0x7f ? c : '?');
}

bool jinja_lexer_open(struct jinja_lexer *x, struct jinja_run *r, const char *source, size_t n)
{
  size_t k = 0;
  char *to = jinja_letters(r, n + 1);
  if (to == NULL) return false;
  for (size_t i = 0; i < n; i++) {
    if (source[i] == '\r' && i + 1 < n && source[i + 1] == '\n') continue;
    to[k++] = source[i] == '\r' ? '\n' : source[i];
  }
  if (k > 0 && to[k - 1] == '\n') k--;
  to[k] = '\0';
  *x = (struct jinja_lexer) { .r = r, .source = to, .n = k, .line = 1, .line_starting = true };
  return true;
}

static bool is_at(const struct jinja_lexer *x, size_t at, const char *word)
{
  size_t n = strlen(word);
  return at + n <= x->n && memcmp(x->source + at, word, n) == 0;
}

static size_t skip_blank(const struct jinja_lexer *x, size_t at)
{
  uint32_t c;
  while (at < x->n) {
    size_t k = jinja_point(x->source + at, x->n - at, &c);
    if (!jinja_blank(c)) break;
    at += k;
  }
  return at;
}

static void count_lines(struct jinja_lexer *x, size_t from, size_t to)
{
  for (size_t i = from; i < to; i++) x->line += x->source[i] == '\n';
}

/* goes on at to, over what was matched */
static void move_to(struct jinja_lexer *x, size_t to)
{
  count_lines(x, x->at, to);
  x->line_starting = to > 0 && to > x->at && x->source[to - 1] == '\n';
  x->at = to;
}

/* the end of a tag whose closing mark begins at at: with a minus all white space goes, else one newline if it may */
static size_t after_mark(const struct jinja_lexer *x, size_t at, const char *mark, bool newline)
{
  bool minus = x->source[at] == '-', sign = minus || x->source[at] == '+';
  at += sign + strlen(mark);
  if (minus) return skip_blank(x, at);
  return !sign && newline && at < x->n && x->source[at] == '\n' ? at + 1 : at;
}

/* the text before a tag that begins at to, with the sign the tag has, without what the tag takes away */
static size_t text_end(const struct jinja_lexer *x, size_t from, size_t to, char sign, bool lines)
{
  uint32_t c;
  size_t end = to, line;
  while (end > from) {
    size_t k = end - 1;
    while (k > from && ((unsigned char) x->source[k] & 0xc0) == 0x80) k--;
    jinja_point(x->source + k, end - k, &c);
    if (!jinja_blank(c) || (sign != '-' && c == '\n')) break;
    end = k;
  }
  if (sign == '-') return end;
  for (line = to; line > from && x->source[line - 1] != '\n';) line--;
  bool starts = line > from || x->line_starting;
  return sign != '+' && lines && starts && end == line ? line : to;
}

/* {% raw %}: the end of the tag at at, or 0 */
static size_t raw_tag(const struct jinja_lexer *x, size_t at, const char *word, bool newline)
{
  at += 2;
  if (at < x->n && (x->source[at] == '-' || x->source[at] == '+')) at++;
  at = skip_blank(x, at);
  if (!is_at(x, at, word)) return 0;
  at = skip_blank(x, at + strlen(word));
  bool signed_end = is_at(x, at, "-%}") || (newline && is_at(x, at, "+%}"));
  if (!signed_end && !is_at(x, at, "%}")) return 0;
  return after_mark(x, at, "%}", newline);
}

static char sign_at(const struct jinja_lexer *x, size_t at)
{
  char c = at < x->n ? x->source[at] : '\0';
  return c == '-' || c == '+' ? c : '\0';
}

static void data_token(const struct jinja_lexer *x, struct jinja_token *t, size_t from, size_t to)
{
  *t = (struct jinja_token) { .kind = JINJA_T_DATA, .line = x->line, .byte = x->source + from, .n = to - from };
}

/* the text up to endraw */
static bool lex_raw(struct jinja_lexer *x, struct jinja_token *t)
{
  size_t at = x->at, end = 0;
  x->raw = false;
  if (at == x->n) return true;
  for (; at < x->n; at++)
    if (is_at(x, at, "{%") && (end = raw_tag(x, at, "endraw", true)) > 0) break;
  if (end == 0) return fail_at(x, "a raw block has no end", -1);
  data_token(x, t, x->at, text_end(x, x->at, at, sign_at(x, at + 2), true));
  move_to(x, end);
  return true;
}

/* a comment whose text begins at at; x->at is already there */
static bool lex_comment(struct jinja_lexer *x)
{
  size_t at = x->at;
  if (at == x->n) return true;
  while (at < x->n && !is_at(x, at, "#}")) at++;
  if (at == x->n) return fail_at(x, "a comment has no end", -1);
  if (at > x->at && (x->source[at - 1] == '-' || x->source[at - 1] == '+')) at--;
  move_to(x, after_mark(x, at, "#}", true));
  return true;
}

/* Text up to the next tag, and the tag's beginning, which is held back if there is text. */
static bool lex_text(struct jinja_lexer *x, struct jinja_token *t)
{
  size_t at = x->at, from = x->at, end, raw = 0;
  while (at < x->n && !(x->source[at] == '{' && at + 1 < x->n && strchr("{%#", x->source[at + 1]) != NULL
      && x->source[at + 1] != '\0')) at++;
  if (at >= x->n) {
    data_token(x, t, from, x->n);
    move_to(x, x->n);
    return true;
  }
  char kind = x->source[at + 1], sign = sign_at(x, at + 2);
  end = text_end(x, from, at, sign, kind != '{');
  data_token(x, t, from, end);
  if (kind == '%') raw = raw_tag(x, at, "raw", false);
  move_to(x, at);
  if (raw > 0) {
    move_to(x, raw);
    x->raw = true;
    return true;
  }
  x->at = at + 2 + (sign != '\0');
  x->line_starting = false;
  if (kind == '#') return lex_comment(x);
  x->state = kind == '{' ? JINJA_S_VARIABLE : JINJA_S_BLOCK;
  x->held = (struct jinja_token) { .kind = kind == '{' ? JINJA_T_VARIABLE : JINJA_T_BLOCK, .line = x->line };
  x->pending = true;
  return true;
}

/* ---- within a tag ---- */

static bool digit_at(const struct jinja_lexer *x, size_t at)
{
  return at < x->n && x->source[at] >= '0' && x->source[at] <= '9';
}

/* digits, with single underscores between them */
static size_t skip_digits(const struct jinja_lexer *x, size_t at)
{
  while (digit_at(x, at) || (at < x->n && x->source[at] == '_' && digit_at(x, at + 1) && digit_at(x, at - 1))) at++;
  return at;
}

/* the end of a number with a point or an exponent that begins at at, or 0 */
static size_t float_end(const struct jinja_lexer *x, size_t at)
{
  if (at > 0 && x->source[at - 1] == '.') return 0;
  size_t end = skip_digits(x, at), e;
  bool found = end < x->n && x->source[end] == '.' && digit_at(x, end + 1);
  if (found) end = skip_digits(x, end + 1);
  if (end < x->n && (x->source[end] == 'e' || x->source[end] == 'E')) {
    e = end + 1;
    if (e < x->n && (x->source[e] == '+' || x->source[e] == '-')) e++;
    if (digit_at(x, e)) return skip_digits(x, e);
  }
  return found ? end : 0;
}

static bool radix_digit(char c, int base)
{
  int v = hex_digit((unsigned char) c);
  return v >= 0 && v < base;
}

/* the end of an integer, and its base */
static size_t integer_end(const struct jinja_lexer *x, size_t at, int *base)
{
  char letter = at + 1 < x->n && x->source[at] == '0' ? (char) tolower((unsigned char) x->source[at + 1]) : '\0';
  *base = letter == 'x' ? 16 : 10;
  if (letter == 'o') *base = 8;
  if (letter == 'b') *base = 2;
  size_t end = at + 2;
  while (*base != 10 && end < x->n && (radix_digit(x->source[end], *base)
      || (x->source[end] == '_' && end + 1 < x->n && radix_digit(x->source[end + 1], *base)))) end++;
  if (*base != 10 && end > at + 2) return end;
  *base = 10;
  if (x->source[at] != '0') return skip_digits(x, at);
  for (end = at + 1; end < x->n && (x->source[end] == '0' || (x->source[end] == '_' && end + 1 < x->n
      && x->source[end + 1] == '0')); end++) ;
  return end;
}

static bool lex_number(struct jinja_lexer *x, struct jinja_token *t)
{
  char digits[72];
  int base = 10;
  size_t end = float_end(x, x->at), n = 0;
  bool real = end > 0;
  if (!real) end = integer_end(x, x->at, &base);
  for (size_t i = x->at + (base != 10 ? 2 : 0); i < end; i++) {
    if (x->source[i] == '_') continue;
    if (n == sizeof digits - 1) return fail_at(x, "a number has too many digits", -1);
    digits[n++] = x->source[i];
  }
  digits[n] = '\0';
  t->kind = real ? JINJA_T_FLOAT : JINJA_T_INTEGER;
  if (real) t->value = jinja_float(strtod(digits, NULL));
  else {
    unsigned long long v = 0;
    for (size_t i = 0; i < n; i++) {
      unsigned d = (unsigned) hex_digit((unsigned char) digits[i]);
      if (v > ((unsigned long long) INT64_MAX - d) / (unsigned) base) return fail_at(x, "an integer has more than 64 bits", -1);
      v = v * (unsigned) base + d;
    }
    t->value = jinja_int((int64_t) v);
  }
  move_to(x, end);
  return true;
}

static size_t put_utf8(char *to, uint32_t c)
{
  size_t n = c >= 0x80 ? 2 : 1;
  if (c >= 0x800) n++;
  if (c >= 0x10000) n++;
  static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
  for (size_t i = n - 1; i > 0; i--, c >>= 6) to[i] = (char) (0x80 | (c & 63));
  to[0] = (char) (first[n] | c);
  return n;
}

/* so many hexadecimal digits, or false */
static bool hex_escape(struct jinja_lexer *x, const char *from, size_t left, size_t n, uint32_t *c)
{
  *c = 0;
  for (size_t i = 0; i < n; i++) {
    int d = i < left ? hex_digit((unsigned char) from[i]) : -1;
    if (d < 0) return fail_at(x, "an escape in a string has too few digits", -1);
    *c = *c << 4 | (uint32_t) d;
  }
  if (*c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000)) return fail_at(x, "an escape in a string is no character", -1);
  return true;
}

/* The letter after a backslash, which is at from; *used bytes of the source become *k bytes. Python's decoder sees a letter
   beyond ASCII as an escape already, so that a backslash before it makes that escape visible. */
static bool unescape(struct jinja_lexer *x, const char *from, size_t left, size_t *used, char *to, size_t *k)
{
  static const char plain[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
  uint32_t c = 0;
  size_t n = 0;
  char e = from[0];
  *used = 1;
  for (size_t i = 0; i + 1 < sizeof plain; i += 2)
    if (plain[i] == e) {
      to[0] = plain[i + 1], *k = 1;
      return true;
    }
  if (e == '\n') return *k = 0, true;
  if (e >= '0' && e <= '7') {
    while (n < 3 && n < left && from[n] >= '0' && from[n] <= '7') c = c * 8 + (uint32_t) (from[n++] - '0');
    *used = n, *k = put_utf8(to, c);
    return true;
  }
  if (e == 'x' || e == 'u' || e == 'U') {
    n = e == 'x' ? 2 : 4;
    if (e == 'U') n = 8;
    if (!hex_escape(x, from + 1, left - 1, n, &c)) return false;
    *used = n + 1, *k = put_utf8(to, c);
    return true;
  }
  if (e == 'N') return fail_at(x, "named characters are not known here", -1);
  to[0] = '\\';
  if ((unsigned char) e < 0x80) {
    to[1] = e, *k = 2;
    return true;
  }
  *used = jinja_point(from, left, &c);
  const char *form = c < 0x100 ? "x%02x" : "u%04x";
  *k = 1 + (size_t) snprintf(to + 1, 12, c < 0x10000 ? form : "U%08x", (unsigned) c);
  return true;
}

static bool lex_string(struct jinja_lexer *x, struct jinja_token *t)
{
  char quote = x->source[x->at];
  size_t end = x->at + 1, n = 0, used = 0, k = 0;
  while (end < x->n && x->source[end] != quote) end += x->source[end] == '\\' ? 2 : 1;
  if (end >= x->n) return fail_at(x, "unexpected", quote);
  char *to = jinja_letters(x->r, 3 * (end - x->at) + 12);
  if (to == NULL) return false;
  for (size_t i = x->at + 1; i < end;) {
    if (x->source[i] != '\\') {
      to[n++] = x->source[i++];
      continue;
    }
    if (!unescape(x, x->source + i + 1, end - i - 1, &used, to + n, &k)) return false;
    n += k, i += 1 + used;
  }
  t->kind = JINJA_T_STRING;
  if (!jinja_text_of(x->r, to, n, &t->value)) return false;
  move_to(x, end + 1);
  return true;
}

static bool lex_name(struct jinja_lexer *x, struct jinja_token *t, size_t first)
{
  uint32_t c;
  size_t end = x->at + first;
  while (end < x->n) {
    size_t k = jinja_point(x->source + end, x->n - end, &c);
    if (!jinja_name_point(c, false)) break;
    end += k;
  }
  t->kind = JINJA_T_NAME;
  t->byte = x->source + x->at, t->n = end - x->at;
  move_to(x, end);
  return true;
}

/* brackets must close in order, and while one is open no tag ends */
static bool balance(struct jinja_lexer *x, char c)
{
  if (c == '(' || c == '[' || c == '{') {
    if (x->brackets == JINJA_MAX_NESTED) return fail_at(x, "brackets are nested more than 100 deep", -1);
    x->bracket[x->brackets++] = (char) (c == '(' ? ')' : c + 2);
  }
  else if (c == ')' || c == ']' || c == '}') {
    if (x->brackets == 0 || x->bracket[x->brackets - 1] != c) return fail_at(x, "unexpected", c);
    x->brackets--;
  }
  return true;
}

static bool lex_operator(struct jinja_lexer *x, struct jinja_token *t)
{
  static const char *const two[] = { "//", "**", "==", "!=", ">=", "<=" };
  char c = x->source[x->at];
  t->kind = JINJA_T_OPERATOR;
  for (size_t i = 0; i < sizeof two / sizeof *two; i++)
    if (is_at(x, x->at, two[i])) {
      t->op = JINJA_OP(two[i][0], two[i][1]);
      move_to(x, x->at + 2);
      return true;
    }
  if (c == '\0' || strchr("+-/*%~[](){}><=.:|,;", c) == NULL) return fail_at(x, "unexpected character", c);
  if (!balance(x, c)) return false;
  t->op = JINJA_OP(c, 0);
  move_to(x, x->at + 1);
  return true;
}

/* the end of the tag, if it is here */
static bool lex_tag_end(struct jinja_lexer *x, struct jinja_token *t)
{
  bool block = x->state == JINJA_S_BLOCK;
  const char *mark = block ? "%}" : "}}";
  size_t at = x->at + (x->source[x->at] == '-' || (block && x->source[x->at] == '+'));
  if (x->brackets > 0 || !is_at(x, at, mark)) return false;
  t->kind = block ? JINJA_T_BLOCK_END : JINJA_T_VARIABLE_END;
  move_to(x, after_mark(x, x->at, mark, block));
  x->state = JINJA_S_TEXT;
  return true;
}

static bool lex_tag(struct jinja_lexer *x, struct jinja_token *t)
{
  uint32_t c;
  for (;;) {
    *t = (struct jinja_token) { .kind = JINJA_T_END, .line = x->line };
    if (x->at >= x->n || lex_tag_end(x, t)) return true;
    size_t to = skip_blank(x, x->at);
    if (to == x->at) break;
    move_to(x, to);
  }
  if (digit_at(x, x->at)) return lex_number(x, t);
  if (x->source[x->at] == '\'' || x->source[x->at] == '"') return lex_string(x, t);
  size_t k = jinja_point(x->source + x->at, x->n - x->at, &c);
  return jinja_name_point(c, true) ? lex_name(x, t, k) : lex_operator(x, t);
}

bool jinja_lex(struct jinja_lexer *x, struct jinja_token *t)
{
  for (;;) {
    if (x->pending) {
      *t = x->held;
      x->pending = false;
      return true;
    }
    if (x->state != JINJA_S_TEXT) return lex_tag(x, t);
    *t = (struct jinja_token) { .kind = JINJA_T_END, .line = x->line };
    if (x->at >= x->n && !x->raw) return true;
    if (!(x->raw ? lex_raw(x, t) : lex_text(x, t))) return false;
    if (t->kind == JINJA_T_DATA && t->n > 0) return true;
  }
}
