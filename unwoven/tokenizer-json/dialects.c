/* dialects.c -- a pattern that was written for Oniguruma, as PCRE2 must read it.

   Most of what patterns say means the same to both. The treacherous differences are what
   both accept: {1,3}+ repeats in one and is possessive in the other. A tokenizer that cuts
   at other places gives other ids, silently. So whatever has two readings is written anew,
   if there is a way to say the same to PCRE2, and else it is refused and named.

   Lookahead and lookbehind, atomic groups, and groups that ignore case are the same in
   both. White space, the letters of words and digits mean the same, since split.c rewrites
   the first two and tells PCRE2 to use Unicode. A backslash before a punctuation sign makes
   it an ordinary character in both. */

#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "tokenizer-json/dialects.h"

enum { DEEPEST = 60 };

/* bit depth of folded: the group at this depth ignores the case of letters. In out, what was repeated
   last begins at atom, and the group at a depth at group[depth]. inside: in a class in a class. said:
   room for a complaint */
struct pattern_text { const unsigned char *c; size_t n, at;
  uint64_t folded; unsigned depth; bool in_class, inside;
  struct memory *m; struct bytes *out; struct error *why; bool no_memory;
  size_t atom, group[DEEPEST + 2]; char *said; };

static void put(struct pattern_text *p, const void *text, size_t n)
{
  p->no_memory = p->no_memory || !bytes_push(p->m, p->out, text, n, p->why);
}

static void put_words(struct pattern_text *p, const char *words)
{
  put(p, words, strlen(words));
}

/* as it stands in the pattern, from a place to where we are */
static const char *copy(struct pattern_text *p, size_t from)
{
  put(p, p->c + from, p->at - from);
  return NULL;
}

/* a group that begins before the last atom */
static void wrap_atom(struct pattern_text *p)
{
  size_t n = p->out->n;
  put_words(p, "(?:");
  if (p->no_memory) return;
  memmove(p->out->byte + p->atom + 3, p->out->byte + p->atom, n - p->atom);
  memcpy(p->out->byte + p->atom, "(?:", 3);
}

static bool has(const struct pattern_text *p, size_t at, const char *words)
{
  size_t n = strlen(words);
  return at <= p->n && p->n - at >= n
    && memcmp(p->c + at, words, n) == 0;
}

/* Scripts whose lists are those of Unicode in both. PCRE2 would add what a script shares with others. */
static const char scripts[] = " Arabic Armenian Bengali Bopomofo Common Cyrillic Devanagari Ethiopic Georgian "
  "Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam "
  "Mongolian Myanmar Oriya Sinhala Tamil Telugu Thai Tibetan ";

/* A category has one or two letters, and means the same to both; a longer name is a
   script. A folded letter that is given by its
   number would escape the pairs of read_letter. */
static const char *read_braced(struct pattern_text *p, unsigned char c)
{
  size_t from = p->at, max = has(p, from, "{^") ? 5 : 4;
  char name[24];
  if (!has(p, from, "{")) return "no { after \\x or \\p";
  if (c == 'x' && (p->folded >> p->depth & 1) != 0)
    return "a folded letter that is a number";
  while (p->at < p->n && p->c[p->at++] != '}') ;
  if (c == 'x' || p->at - from <= max) return copy(p, from - 2);
  int n = snprintf(name, sizeof name, " %.*s ", (int) (p->at - from < 20 ? p->at - from - 2 : 19),
    (const char *) p->c + from + 1);
  if (n < 4 || strchr(name + 1, ' ') != name + n - 1 || strstr(scripts, name) == NULL)
    return "a property with a long name";
  put_words(p, c == 'p' ? "\\p{sc:" : "\\P{sc:");
  put(p, p->c + from + 1, p->at - from - 1);
  return NULL;
}

/* Where a word begins or ends goes by the same letters as \w; a hexadecimal digit is white space to
   PCRE2. */
static const char *other_escape(struct pattern_text *p, unsigned char c)
{
  if (c == 'h') put_words(p, p->in_class ? "0-9a-fA-F" : "[0-9a-fA-F]");
  else if (p->in_class) return "";
  else if (c == 'H') put_words(p, "[^0-9a-fA-F]");
  else if (c == 'b') put_words(p, "(?:(?<=\\w)(?!\\w)|(?<!\\w)(?=\\w))");
  else if (c == 'B') put_words(p, "(?:(?<=\\w)(?=\\w)|(?<!\\w)(?!\\w))");
  else if (c == 'A' || c == 'z' || c == 'Z') return copy(p, p->at - 2);
  else return "";
  return NULL;
}

/* What is left has two readings, or one that was not verified; the complaint has its letter. */
static const char *read_escape(struct pattern_text *p)
{
  unsigned char c = p->at + 1 < p->n ? p->c[p->at + 1] : 0;
  p->at += 2;
  if (c == 0) return "a backslash at the end";
  if (c == 'W' && p->in_class) return "\\W in a class";
  if (c > 127) p->at--; /* the letter is more than a byte */
  if (c > 127 || strchr("sSdDwWrntf", c) != NULL) return copy(p, p->at - (c > 127 ? 1 : 2));
  if (c == 'x' || c == 'p' || c == 'P') return read_braced(p, c);
  if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')))
    return copy(p, p->at - 2);
  if (other_escape(p, c) == NULL) return NULL;
  snprintf(p->said, DIALECTS_CAP, "\\%c%s, which the two read otherwise", c, p->in_class ? " in a class" : "");
  return p->said;
}

/* The names of kinds of characters, in a class. */
static const char *read_kind(struct pattern_text *p)
{
  static const char *const kind[][2] = { { "[:alpha:]", "\\p{Alphabetic}" }, { "[:digit:]", "\\p{Nd}" },
    { "[:space:]", "\\s" }, { "[:upper:]", "\\p{Uppercase}" }, { "[:lower:]", "\\p{Lowercase}" },
    { "[:alnum:]", "\\p{Alphabetic}\\p{Nd}" }, { "[:xdigit:]", "0-9a-fA-F" } };
  for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++)
    if (has(p, p->at, kind[i][0])) {
      p->at += strlen(kind[i][0]);
      return put_words(p, kind[i][1]), NULL;
    }
  return "[ in a class";
}

static const char *read_in_class(struct pattern_text *p);

/* A class in a class adds its characters, so its brackets can go: unless it is the rest that it adds,
   or a hyphen at its edge would become a range. One level is enough for what was published. */
static const char *read_inner_class(struct pattern_text *p)
{
  static const char wrong[] = "[ in a class";
  const unsigned char *c = p->c;
  size_t end = ++p->at;
  if (p->inside || has(p, end, "^") || has(p, end, "-") || has(p, end, "]") || c[end - 2] == '-') return wrong;
  p->inside = true;
  const char *said = NULL;
  while (p->at < p->n && c[p->at] != ']' && said == NULL) said = read_in_class(p);
  p->inside = false;
  if (said != NULL) return said;
  if (p->at >= p->n || c[p->at - 1] == '-' || has(p, p->at, "]-")) return wrong;
  p->at++;
  return NULL;
}

/* Oniguruma nests and intersects classes; to PCRE2 the same signs are characters. */
static const char *read_in_class(struct pattern_text *p)
{
  size_t from = p->at;
  if (p->c[p->at] == '\\') return read_escape(p);
  if (has(p, p->at, "[:")) return read_kind(p);
  if (p->c[p->at] == '[') return read_inner_class(p);
  if (has(p, p->at, "&&")) return "&& in a class";
  if (p->c[p->at] > 127 && (p->folded >> p->depth & 1) != 0)
    return "a folded letter beyond ASCII";
  p->in_class = p->c[p->at++] != ']';
  return copy(p, from);
}

/* One intersection is told otherwise: [ab&&[^c]] is what is in [ab], if it is not in [c]. */
static const char *begin_class(struct pattern_text *p)
{
  size_t from = p->at, start = p->out->n, inner;
  p->at += has(p, p->at, "[^") ? 2 : 1;
  p->in_class = true, p->atom = start;
  if (has(p, p->at, "]")) return "a class that begins with ]";
  copy(p, from);
  const char *wrong = NULL;
  while (p->in_class && p->at < p->n && wrong == NULL && !has(p, p->at, "&&["))
    wrong = read_in_class(p);
  if (wrong != NULL || !p->in_class || p->at >= p->n) return wrong;
  if (has(p, from, "[^")) return "&& in a class";
  p->at += 2, inner = p->out->n;
  bool not_in = has(p, p->at, "[^");
  p->at += not_in ? 2 : 1;
  put_words(p, not_in ? "](?<![" : "](?<=[");
  while (p->in_class && p->at < p->n && wrong == NULL) wrong = read_in_class(p);
  if (wrong != NULL || inner == start + 1) return wrong != NULL ? wrong : "&& in a class";
  if (!has(p, p->at, "]")) return "&& in a class";
  p->at++;
  wrap_atom(p);
  put_words(p, "))");
  return NULL;
}

/* A bit for each depth says whether case is folded there. A switch by itself, (?i),
   reaches further in one than in the other, except at the beginning of all. */
static const char *begin_group(struct pattern_text *p)
{
  static const char *const known[] = { "(?:", "(?=", "(?!", "(?>",
    "(?<=", "(?<!", "(?i:" };
  bool fold = (p->folded >> p->depth & 1) != 0;
  size_t k = 0, from = p->at;
  if (from == 0 && has(p, 0, "(?i)")) {
    p->at = 4, p->folded = 1;
    return copy(p, from);
  }
  if (has(p, p->at, "(*")) return "a verb";
  if (++p->depth > DEEPEST) return "groups in groups in groups";
  p->group[p->depth] = p->out->n;
  if (has(p, p->at, "(?")) {
    while (k < 7 && !has(p, p->at, known[k])) k++;
    if (k == 7) return "a group of another kind";
    p->at += strlen(known[k]), fold = fold || k == 6;
  } else p->at++;
  p->folded &= ~((uint64_t) 1 << p->depth);
  p->folded |= (uint64_t) fold << p->depth;
  return copy(p, from);
}

/* {1,3}+ repeats a repeat to Oniguruma and gives nothing back to PCRE2; {3}? may be nothing at all to
   Oniguruma. So both get a group. {1,3}? is the same to both. */
static const char *read_count(struct pattern_text *p)
{
  size_t from = p->at, i = p->at + 1;
  bool comma = false;
  if (has(p, i, ",")) return "a count without a beginning";
  while (i < p->n && ((p->c[i] >= '0' && p->c[i] <= '9')
    || p->c[i] == ',')) comma = comma || p->c[i] == ',', i++;
  if (i == p->at + 1 || !has(p, i, "}")) return "a brace";
  p->at = i + 1;
  copy(p, from);
  if (!has(p, p->at, "+") && (comma || !has(p, p->at, "?"))) return NULL;
  wrap_atom(p);
  put_words(p, ")");
  return NULL;
}

/* Where case is folded, Oniguruma matches two letters by one character that stands for
   them, such as the German sharp s for ss. There the pairs that have such a character are
   refused, and everything beyond ASCII. */
static const char *read_letter(struct pattern_text *p)
{
  static const char *const pair[] = { "ss", "ff", "fi", "fl", "st" };
  bool fold = (p->folded >> p->depth & 1) != 0;
  unsigned char c = p->c[p->at], next = p->at + 1 < p->n
    ? p->c[p->at + 1] : 0;
  p->at++;
  if (fold && c > 127) return "a folded letter beyond ASCII";
  for (int k = 0; k < 5 && fold; k++)
    if ((c | 32) == pair[k][0] && (next | 32) == pair[k][1])
      return "folded letters that are one character";
  return copy(p, p->at - 1);
}

/* what may stand after what is repeated; the second byte of a character continues it */
static bool begins_atom(unsigned char c)
{
  return strchr("*+?{)|^$", c) == NULL && (c & 0xc0) != 0x80;
}

/* A sign of one letter, which becomes some words. */
static const char *put_place(struct pattern_text *p, const char *words)
{
  p->at++;
  put_words(p, words);
  return NULL;
}

/* The signs for beginning and end mean those of a line to Oniguruma and those of the whole
   text to PCRE2. */
static const char *read_next(struct pattern_text *p)
{
  unsigned char c = p->c[p->at];
  if (p->in_class) return read_in_class(p);
  if (c != 0 && begins_atom(c)) p->atom = p->out->n;
  switch (c) {
  case '\\': return read_escape(p);
  case '[': return begin_class(p);
  case '(': return begin_group(p);
  case '{': return read_count(p);
  case '^': return put_place(p, "(?:\\A|(?<=\n)(?!\\z))");
  case '$': return put_place(p, "(?=\n|\\z)");
  case ')':
    p->atom = p->group[p->depth];
    if (p->depth > 0) p->depth--;
  }
  return read_letter(p);
}

bool dialects_translate(struct memory *m, const char *pattern, size_t n, struct bytes *out,
  char said[DIALECTS_CAP], size_t *at, struct error *why)
{
  struct pattern_text p = { .n = n, .c = (const unsigned char *) pattern, .m = m, .out = out,
    .why = why, .said = said };
  const char *wrong = NULL;
  said[0] = '\0';
  while (p.at < p.n && !p.no_memory && (*at = p.at, wrong = read_next(&p)) == NULL) ;
  if (wrong != NULL && wrong != said) snprintf(said, DIALECTS_CAP, "%s", wrong);
  return !p.no_memory;
}
