/* dialects.c -- a pattern that was written for Oniguruma, and that PCRE2 will read.

   Most of what patterns say means the same to both. The treacherous differences are what
   both accept: {1,3}+ repeats in one and is possessive in the other. A tokenizer that cuts
   at other places gives other ids, silently. So whatever has two readings, or one that was
   not verified, is refused and named. The patterns of the published files of chapter 1 all
   pass.

   Lookahead and lookbehind, atomic groups, and groups that ignore case are the same in
   both. White space, the letters of words and digits mean the same, since split.c rewrites
   the first two and tells PCRE2 to use Unicode. A backslash before a punctuation sign makes
   it an ordinary character in both. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "tokenizer-json/dialects.h"

/* bit depth of folded: the group at this depth ignores the case of letters */
struct pattern_text { const unsigned char *c; size_t n, at;
  uint64_t folded; unsigned depth; bool in_class; };

static bool has(const struct pattern_text *p, size_t at, const char *words)
{
  size_t n = strlen(words);
  return at <= p->n && p->n - at >= n
    && memcmp(p->c + at, words, n) == 0;
}

/* A category has one or two letters, and means the same to both; a longer name is a
   script, and their lists of scripts differ. A folded letter that is given by its
   number would escape the pairs of read_letter. */
static const char *read_braced(struct pattern_text *p, unsigned char c)
{
  size_t from = p->at, max = has(p, from, "{^") ? 5 : 4;
  if (!has(p, from, "{")) return "no { after \\x or \\p";
  if (c == 'x' && (p->folded >> p->depth & 1) != 0)
    return "a folded letter that is a number";
  while (p->at < p->n && p->c[p->at++] != '}') ;
  return c == 'x' || p->at - from <= max ? NULL
    : "a property with a long name";
}

/* The letters that mean the same in both. Long names of properties are scripts, of which
   the two have different lists; backslash b, where a word begins or ends, goes by other
   letters. */
static const char *read_escape(struct pattern_text *p)
{
  unsigned char c = p->at + 1 < p->n ? p->c[p->at + 1] : 0;
  p->at += 2;
  if (c == 0) return "a backslash at the end";
  if (c == 'W' && p->in_class) return "\\W in a class";
  if (c > 127 || strchr("sSdDwWrntf", c) != NULL) return NULL;
  if (c == 'x' || c == 'p' || c == 'P') return read_braced(p, c);
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
    || (c >= 'a' && c <= 'z') ? "an escaped letter or digit" : NULL;
}

/* Oniguruma nests and intersects classes; to PCRE2 the same signs are characters. */
static const char *read_in_class(struct pattern_text *p)
{
  if (p->c[p->at] == '\\') return read_escape(p);
  if (p->c[p->at] == '[') return "[ in a class";
  if (has(p, p->at, "&&")) return "&& in a class";
  if (p->c[p->at] > 127 && (p->folded >> p->depth & 1) != 0)
    return "a folded letter beyond ASCII";
  p->in_class = p->c[p->at++] != ']';
  return NULL;
}

/* The sign ] is a character there to one of the two, and the end of an empty class to
   the other. */
static const char *begin_class(struct pattern_text *p)
{
  p->at += has(p, p->at, "[^") ? 2 : 1;
  p->in_class = true;
  return has(p, p->at, "]") ? "a class that begins with ]" : NULL;
}

/* A bit for each depth says whether case is folded there. A switch by itself, (?i),
   reaches further in one than in the other. */
static const char *begin_group(struct pattern_text *p)
{
  static const char *const known[] = { "(?:", "(?=", "(?!", "(?>",
    "(?<=", "(?<!", "(?i:" };
  bool fold = (p->folded >> p->depth & 1) != 0;
  size_t k = 0;
  if (has(p, p->at, "(*")) return "a verb";
  if (++p->depth > 60) return "groups in groups in groups";
  if (has(p, p->at, "(?")) {
    while (k < 7 && !has(p, p->at, known[k])) k++;
    if (k == 7) return "a group of another kind";
    p->at += strlen(known[k]), fold = fold || k == 6;
  } else p->at++;
  p->folded &= ~((uint64_t) 1 << p->depth);
  p->folded |= (uint64_t) fold << p->depth;
  return NULL;
}

/* {1,3}+ repeats a repeat to Oniguruma and gives nothing back to PCRE2; {1,3}? is as
   treacherous. */
static const char *read_count(struct pattern_text *p)
{
  size_t i = p->at + 1;
  if (has(p, i, ",")) return "a count without a beginning";
  while (i < p->n && ((p->c[i] >= '0' && p->c[i] <= '9')
    || p->c[i] == ',')) i++;
  if (i == p->at + 1 || !has(p, i, "}")) return "a brace";
  p->at = i + 1;
  return has(p, p->at, "+") || has(p, p->at, "?")
    ? "a count with + or ? after it" : NULL;
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
  if (!fold) return NULL;
  if (c > 127) return "a folded letter beyond ASCII";
  for (int k = 0; k < 5; k++)
    if ((c | 32) == pair[k][0] && (next | 32) == pair[k][1])
      return "folded letters that are one character";
  return NULL;
}

/* The signs for beginning and end mean those of a line to Oniguruma and those of the whole
   text to PCRE2. */
static const char *read_next(struct pattern_text *p)
{
  unsigned char c = p->c[p->at];
  if (p->in_class) return read_in_class(p);
  switch (c) {
  case '\\': return read_escape(p);
  case '[': return begin_class(p);
  case '(': return begin_group(p);
  case '{': return read_count(p);
  case '^': return "^";
  case '$': return "$";
  case ')':
    if (p->depth > 0) p->depth--;
  }
  return read_letter(p);
}

const char *dialects_differ(const char *pattern, size_t n, size_t *at)
{
  struct pattern_text p = { .n = n, .c = (const unsigned char *) pattern };
  const char *wrong = NULL;
  while (p.at < p.n && (*at = p.at, wrong = read_next(&p)) == NULL) ;
  return wrong;
}
