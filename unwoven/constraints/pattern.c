/* pattern.c -- regular expressions to a tree, by recursive descent.

   What PCRE2 would read differently from us is refused here and not guessed at: a pattern
   must not mean one thing in another program and something else in this one. A pattern is a
   choice of sequences of things; choice, sequence and thing have a function each, and a
   group in parentheses is a choice again. The depth of parentheses is bounded, and so is
   the stack. */

#include <string.h>
#include "constraints/parser.h"
static uint32_t read_choice(struct parser *r);

/* The ranges of a kind are those of ASCII, as in PCRE2 without its property flag. They are
   in rising order, and a capital letter means the gaps between them, up to the last
   character: between one range's end and the next one's beginning. */
static bool add_kind(struct parser *r, unsigned char letter)
{
  static const struct { char letter; struct code_range x[4]; size_t n; }
    kind[] = { { 'd', { {'0', '9'} }, 1 },
      { 'w', { {'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'} }, 4 },
      { 's', { {9, 13}, {' ', ' '} }, 2 } };
  size_t k = 0;
  uint32_t next = 0;
  while (kind[k].letter != (char) (letter | 0x20)) k++;
  for (size_t i = 0; i < kind[k].n; i++) {
    struct code_range now = kind[k].x[i];
    if (!(letter & 0x20)) now = (struct code_range) { next, now.lo - 1 };
    if (!parser_range(r, now.lo, now.hi)) return false;
    next = kind[k].x[i].hi + 1;
  }
  return (letter & 0x20) != 0 || parser_range(r, next, PARSER_LAST_POINT);
}

/* A character can be given by its number: two digits, or up to eight in braces. */
static bool numbered_point(struct parser *r, size_t from, uint32_t *point)
{
  if (r->at == r->n || r->text[r->at] != '{')
    return parser_hex(r, 2, 2, point);
  r->at++;
  if (!parser_hex(r, 1, 8, point)) return false;
  if (r->at < r->n && r->text[r->at++] == '}') return true;
  parser_refuse(r, from, "a closing brace is wanted");
  return false;
}

#define NO_POINT UINT32_MAX

/* A backslash before a letter or digit that we do not know is refused, always with the same
   sentence, since it is some part of PCRE2 that is not done here; before any other sign it
   means that sign. At the end of the text c is a letter that has no meaning. */
static bool escaped_point(struct parser *r, uint32_t *point)
{
  static const char letter[] = "nrtf", meant[] = "\n\r\t\f";
  size_t from = r->at++;
  unsigned char c = r->at < r->n ? r->text[r->at] : 'Q';
  const char *known = c == '\0' ? NULL : strchr(letter, c);
  bool word = c >= 0x80 || c < ' ' || c == 0x7f || (c >= '0' && c <= '9')
    || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  r->at++;
  *point = known != NULL ? (uint32_t) meant[known - letter] : c;
  if (known != NULL || !word) return true;
  if (c == 'x') return numbered_point(r, from, point);
  parser_refuse(r, from, "this escape is not done here");
  return false;
}

/* A kind adds its ranges at once, and then *point is NO_POINT: the code that reads a hyphen
   in a set must know whether a character or a kind came before it. */
static bool read_escape_point(struct parser *r, uint32_t *point)
{
  unsigned char c = r->at + 1 < r->n ? r->text[r->at + 1] : '\0';
  *point = NO_POINT;
  if (c == '\0' || strchr("dwsDWS", c) == NULL) return escaped_point(r, point);
  r->at += 2;
  return add_kind(r, c);
}

/* Outside of a set, an escape is a set by itself. */
static bool read_escape(struct parser *r)
{
  uint32_t point;
  if (!read_escape_point(r, &point)) return false;
  return point == NO_POINT || parser_range(r, point, point);
}

/* A class such as [:alpha:] would otherwise be read as a set of its letters, which PCRE2
   does not do. */
static bool set_point(struct parser *r, uint32_t *point)
{
  unsigned char c = r->text[r->at];
  if (c == '\\') return read_escape_point(r, point);
  if (c == '[' && r->at + 1 < r->n && r->text[r->at + 1] != '\0'
      && strchr(":.=", r->text[r->at + 1]) != NULL)
    return parser_refuse(r, r->at, "named classes are not done here"), false;
  *point = parser_point(r);
  return true;
}

/* One character or kind, or two characters with a hyphen between them. A hyphen stands for
   itself where it comes first or last; after a kind or after a range PCRE2 guesses, and we
   do not. NO_POINT is an escape that stands for several characters: it has added its ranges
   already and cannot be an end of a range. */
static bool set_member(struct parser *r, bool first)
{
  size_t from = r->at;
  uint32_t lo, hi;
  if (r->text[r->at] == '-' && !first
      && (r->at + 1 == r->n || r->text[r->at + 1] != ']'))
    return parser_refuse(r, from,
      "a hyphen in the midst of a set is written \\-"), false;
  if (!set_point(r, &lo)) return false;
  hi = lo;
  if (r->n - r->at >= 2 && r->text[r->at] == '-' && r->text[r->at + 1] != ']') {
    r->at++;
    if (!set_point(r, &hi)) return false;
    if (lo == NO_POINT || hi == NO_POINT || hi < lo)
      return parser_refuse(r, from, "this is not a range"), false;
  }
  return lo == NO_POINT || parser_range(r, lo, hi);
}

/* An empty set is refused, because dialects disagree: to some [] is empty, to others the
   beginning of a longer set. A set that begins and ends with the same one of three signs is
   refused as well: PCRE2 takes it for a named class in the wrong place. */
static uint32_t read_set(struct parser *r)
{
  size_t from = r->at++, ranges = r->ranges.n;
  bool negated = r->at < r->n && r->text[r->at] == '^', first = true;
  r->at += negated;
  if (r->at < r->n && r->text[r->at] == ']') return parser_refuse(r, from,
    "a set of nothing; a bracket itself is written \\]");
  for (; r->at < r->n && r->text[r->at] != ']'; first = false)
    if (!set_member(r, first)) return NO_AST_NODE;
  if (r->at == r->n)
    return parser_refuse(r, from, "this bracket is never closed");
  if (r->at - from > 2 && r->text[from + 1] == r->text[r->at - 1]
      && memchr(":.=", r->text[from + 1], 3) != NULL)
    return parser_refuse(r, from, "named classes are not done here");
  r->at++;
  return parser_set(r, ranges, negated);
}

/* A group only holds things together; what it has matched is not recorded, so a plain
   parenthesis and one with ?: are the same. All else that begins with a question mark
   changes what matching means: names, flags, conditions, looking ahead and back. */
static uint32_t read_group(struct parser *r)
{
  size_t from = r->at++;
  bool marked = r->n - r->at >= 2 && r->text[r->at] == '?';
  if (marked && r->text[r->at + 1] == ':') r->at += 2;
  else if (r->at < r->n && (r->text[r->at] == '?' || r->text[r->at] == '*'))
    return parser_refuse(r, from, "of the groups with a word of their own only (?: is done here");
  if (++r->depth > PARSER_MAX_DEPTH)
    return parser_refuse(r, from, "the parentheses are too deep");
  uint32_t s = read_choice(r);
  r->depth--;
  if (s != NO_AST_NODE && r->at == r->n)
    return parser_refuse(r, from, "this parenthesis is never closed");
  r->at += s != NO_AST_NODE;
  return s;
}

/* The signs that mean something are refused where they would mean nothing, as by PCRE2; a
   closing parenthesis does not come here, and ^ and $ only where they are not redundant.
   Any other character is itself a thing. */
static uint32_t read_thing(struct parser *r)
{
  size_t from = r->ranges.n;
  switch (r->text[r->at]) {
  case '(': return read_group(r);
  case '[': return read_set(r);
  case '?': case '*': case '+': case '{':
    return parser_refuse(r, r->at,
      "there is nothing before this to repeat");
  case '^': case '$':
    return parser_refuse(r, r->at, "the whole text must match, and this"
      " may only come at its beginning or end");
  case '\\':
    return read_escape(r) ? parser_set(r, from, false) : NO_AST_NODE;
  case '.':
    r->at++;
    return parser_range(r, '\n', '\n') ? parser_set(r, from, true)
      : NO_AST_NODE;
  default: break;
  }
  uint32_t point = parser_point(r);
  return parser_range(r, point, point) ? parser_set(r, from, false)
    : NO_AST_NODE;
}

/* A question mark after a repetition is read over: as few as possible and as many as
   possible are the same where the whole text must match. A plus there would make the
   repetition possessive, which could even take matches of a whole text away. */
static uint32_t read_repeated(struct parser *r)
{
  uint32_t once = read_thing(r), s = parser_times(r, once);
  if (s == NO_AST_NODE || s == once || r->at == r->n) return s;
  if (r->text[r->at] == '?') r->at++;
  if (r->at == r->n || strchr("?*+{", r->text[r->at]) == NULL
      || r->text[r->at] == '\0') return s;
  return parser_refuse(r, r->at, r->text[r->at] == '+'
    ? "possessive repetition is not done here"
    : "a repetition can't be repeated; put parentheses around it");
}

/* As the whole text must match, ^ and $ say what is true anyway. Many people write them, so
   they are read over at the beginning and the end of the whole pattern or of one of its
   outermost alternatives. (In PCRE2 a $ also matches before the last line's end; but the
   match must end where the text ends, so this makes no difference.) Within a group they
   could make it impossible to match, and are refused. */
static bool is_last(const struct parser *r)
{
  return r->depth == 0 && (r->at + 1 == r->n || r->text[r->at + 1] == '|');
}

/* Begins with the empty node and grows by one thing at a time, up to a bar, a closing
   parenthesis or the end of the text. AST_BOTH hangs to the left: net_emit goes down that
   side in a loop and not by calling itself. */
static uint32_t read_sequence(struct parser *r)
{
  uint32_t s = parser_node(r, (struct ast_node) { AST_EMPTY,
    0, 0, 0, 0 });
  if (r->depth == 0 && r->at < r->n && r->text[r->at] == '^') r->at++;
  while (s != NO_AST_NODE && r->at < r->n && r->text[r->at] != '|'
      && r->text[r->at] != ')') {
    if (r->text[r->at] == '$' && is_last(r)) r->at++;
    else s = parser_join(r, AST_BOTH, s, read_repeated(r));
  }
  return s;
}

/* A bar separates two sequences, and a sequence may be empty: a| is a or nothing. */
static uint32_t read_choice(struct parser *r)
{
  uint32_t s = read_sequence(r);
  while (s != NO_AST_NODE && r->at < r->n && r->text[r->at] == '|') {
    r->at++;
    s = parser_join(r, AST_EITHER, s, read_sequence(r));
  }
  return s;
}

/* What is left when the outermost choice has ended can only be a parenthesis that closes
   nothing. */
uint32_t parser_pattern(struct parser *r)
{
  uint32_t s = read_choice(r);
  return s == NO_AST_NODE || r->at == r->n ? s : parser_refuse(r, r->at,
    "this parenthesis was never opened; itself it is written \\)");
}
