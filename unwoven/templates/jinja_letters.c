/* jinja_letters.c -- letters as Python sees them: capitals, blanks, what can be printed, what makes a name.

   utf8proc has Unicode's classes and the capitals that are one letter. Those that are more are in a table, and the one letter
   whose small form depends on its neighbours, the Greek sigma, is treated by itself. */

#include <string.h>
#include <utf8proc.h>
#include "templates/jinja_inside.h"

struct special { uint32_t point, upper[3], title[3]; };
static const struct special specials[] = {
#include "templates/jinja_special.inc"
};
enum { SPECIALS = sizeof specials / sizeof *specials, SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2, SMALL_SIGMA = 0x3c3 };

static utf8proc_category_t class_of(uint32_t c)
{
  return utf8proc_category((utf8proc_int32_t) c);
}

bool jinja_blank(uint32_t c)
{
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680
    || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool jinja_printable(uint32_t c)
{
  if (c < 0x7f) return c >= 0x20;
  utf8proc_category_t k = class_of(c);
  return k != UTF8PROC_CATEGORY_CN && k < UTF8PROC_CATEGORY_ZS;
}

/* As Python's \w and identifiers, for all letters in use. */
bool jinja_name_point(uint32_t c, bool first)
{
  if (c < 0x80) return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (!first && c >= '0' && c <= '9');
  utf8proc_category_t k = class_of(c);
  if (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO) return true;
  return k == UTF8PROC_CATEGORY_NL || (!first && (k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC
    || k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_PC));
}

/* letters that have a case, among them some signs and small letters above the line */
static bool cased(uint32_t c)
{
  utf8proc_category_t k = class_of(c);
  return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LT) || c == 0xaa || c == 0xba || (c >= 0x2b0 && c <= 0x2b8)
    || (c >= 0x2160 && c <= 0x217f) || (c >= 0x24b6 && c <= 0x24e9);
}

static bool ignored(uint32_t c)
{
  utf8proc_category_t k = class_of(c);
  return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_ME || k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_LM
    || k == UTF8PROC_CATEGORY_SK || c == '\'' || c == '.' || c == ':' || c == 0xb7 || c == 0x2018 || c == 0x2019
    || c == 0x2024 || c == 0x2027;
}

static const struct special *find_special(uint32_t c)
{
  for (size_t i = 0; c >= 0xdf && i < SPECIALS; i++)
    if (specials[i].point == c) return &specials[i];
  return NULL;
}

static bool put_point(struct jinja_run *r, struct jinja_output *o, uint32_t c, const char *from)
{
  utf8proc_uint8_t byte[4];
  utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t) c, byte);
  return jinja_write_for(r, o, (const char *) byte, (size_t) n, from);
}

static bool put_points(struct jinja_run *r, struct jinja_output *o, const uint32_t point[3], const char *from)
{
  for (int i = 0; i < 3 && point[i] != 0; i++)
    if (!put_point(r, o, point[i], from)) return false;
  return true;
}

/* A sigma is final after a letter, unless another letter follows; signs in between do not count. */
static bool final_sigma(const struct jinja_text *t, size_t at)
{
  uint32_t c = 0;
  size_t i = at;
  bool before = false;
  while (i > 0) {
    do i--; while (i > 0 && ((unsigned char) t->byte[i] & 0xc0) == 0x80);
    jinja_point(t->byte + i, t->n - i, &c);
    if (ignored(c)) continue;
    before = cased(c);
    break;
  }
  if (!before) return false;
  for (i = at + 2; i < t->n;) {
    i += jinja_point(t->byte + i, t->n - i, &c);
    if (!ignored(c)) return !cased(c);
  }
  return true;
}

static bool put_case(struct jinja_run *r, struct jinja_output *o, const struct jinja_text *t, size_t at, uint32_t c,
  enum jinja_case how)
{
  const struct special *s = find_special(c);
  const char *from = t->byte + at;
  if (how == JINJA_LOWER && c == 0x130) return put_point(r, o, 'i', from) && put_point(r, o, 0x307, from);
  if (how == JINJA_LOWER && c == SIGMA) return put_point(r, o, final_sigma(t, at) ? FINAL_SIGMA : SMALL_SIGMA, from);
  if (how == JINJA_LOWER) return put_point(r, o, (uint32_t) utf8proc_tolower((utf8proc_int32_t) c), from);
  if (s != NULL) return put_points(r, o, how == JINJA_UPPER ? s->upper : s->title, from);
  return put_point(r, o, (uint32_t) (how == JINJA_UPPER ? utf8proc_toupper((utf8proc_int32_t) c)
    : utf8proc_totitle((utf8proc_int32_t) c)), from);
}

/* what becomes of a letter: first, and inside, say whether it is the text's first and whether a cased one is before it */
static enum jinja_case case_here(enum jinja_case how, bool first, bool inside, uint32_t c)
{
  if (how == JINJA_CAPITALIZE) return first ? JINJA_TITLE : JINJA_LOWER;
  if (how == JINJA_TITLE) return inside ? JINJA_LOWER : JINJA_TITLE;
  if (how == JINJA_SWAP) return class_of(c) == UTF8PROC_CATEGORY_LU ? JINJA_LOWER : JINJA_UPPER;
  return how;
}

bool jinja_change_case(struct jinja_run *r, const struct jinja_value *v, enum jinja_case how, struct jinja_value *out)
{
  const struct jinja_text *t = v->as.text;
  struct jinja_output o = { .byte = NULL };
  bool ok = jinja_steps(r, t->n / 4), inside = false;
  for (size_t at = 0; ok && at < t->n;) {
    uint32_t c;
    size_t k = jinja_point(t->byte + at, t->n - at, &c);
    ok = put_case(r, &o, t, at, c, case_here(how, at == 0, inside, c));
    inside = cased(c);
    at += k;
  }
  ok = ok && jinja_output_text(r, &o, out);
  jinja_output_free(r, &o);
  if (ok) out->safe = v->safe;
  return ok;
}

bool jinja_is_case(const struct jinja_text *t, enum jinja_case how)
{
  bool any = false;
  for (size_t at = 0; at < t->n;) {
    uint32_t c;
    at += jinja_point(t->byte + at, t->n - at, &c);
    utf8proc_category_t k = class_of(c), other = how == JINJA_UPPER ? UTF8PROC_CATEGORY_LL : UTF8PROC_CATEGORY_LU;
    if (k == other || k == UTF8PROC_CATEGORY_LT) return false;
    any = any || cased(c);
  }
  return any;
}

bool jinja_is_class(const struct jinja_text *t, enum jinja_class what)
{
  for (size_t at = 0; at < t->n;) {
    uint32_t c;
    at += jinja_point(t->byte + at, t->n - at, &c);
    utf8proc_category_t k = class_of(c);
    bool letter = k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO, digit = k == UTF8PROC_CATEGORY_ND;
    bool fits = (what == JINJA_SPACE && jinja_blank(c)) || (letter && (what == JINJA_ALPHA || what == JINJA_ALNUM))
      || (digit && (what == JINJA_DIGIT || what == JINJA_ALNUM));
    if (!fits) return false;
  }
  return t->n > 0;
}
