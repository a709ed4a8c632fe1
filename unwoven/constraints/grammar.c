/* grammar.c -- grammars in a subset of GBNF to a tree for each rule, by recursive descent.

   A name gets its number where it is first met, defined or not; whether all are defined is
   asked at the end, for a rule may be used before its definition. Line ends are blanks
   within parentheses, after a bar and after the sign of definition, and end a rule
   elsewhere: depth says which. */

#include <string.h>
#include "lookups/table.h"
#include "constraints/parser.h"

enum { MAX_RULES = 4096 };

/* The letters are those of ASCII. GBNF has no underscore in a name, although programmers
   tend to write one. */
static bool is_name(unsigned char c)
{
  return (c >= '0' && c <= '9') || c == '-'
    || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* A comment goes to the line's end, which itself counts only if lines is true. */
static void skip_blanks(struct parser *r, bool lines)
{
  for (; r->at < r->n; r->at++) {
    unsigned char c = r->text[r->at];
    if (c == '#')
      while (r->at + 1 < r->n && r->text[r->at + 1] != '\n'
        && r->text[r->at + 1] != '\r') r->at++;
    else if (c != ' ' && c != '\t' && !(lines && (c == '\n' || c == '\r')))
      return;
  }
}

struct names { struct array *rules; struct name_map by_name; };

/* The table has numbers plus one, since 0 says that a name is new. The names stay in the
   grammar's text, which must outlive the parser. */
static uint32_t name_number(struct parser *r, struct names *all)
{
  const unsigned char *name = r->text + r->at;
  size_t n = 0, at = r->at;
  while (at + n < r->n && is_name(name[n])) n++;
  uint32_t k = name_map_get(&all->by_name, name, n);
  r->at += n;
  if (k > 0) return k - 1;
  if (all->rules->n == MAX_RULES)
    return parser_refuse(r, at, "there are too many rules");
  struct grammar_rule *fresh = array_push(r->m, all->rules, sizeof *fresh, r->why);
  if (fresh == NULL) return NO_AST_NODE;
  *fresh = (struct grammar_rule) { name, n, at, NO_AST_NODE };
  k = (uint32_t) all->rules->n;
  return name_map_put(r->m, &all->by_name, name, n, k, r->why) ? k - 1
    : NO_AST_NODE;
}

static uint32_t grammar_group(struct parser *r, struct names *all);

/* Only the escapes of GBNF; all others are refused. */
static bool grammar_point(struct parser *r, uint32_t *point)
{
  static const char letter[] = "nrt\\\"[]", meant[] = "\n\r\t\\\"[]";
  size_t from = r->at;
  if (r->text[r->at] != '\\') return *point = parser_point(r), true;
  unsigned char c = r->at + 1 < r->n ? r->text[r->at + 1] : '\0';
  const char *known = c == '\0' ? NULL : strchr(letter, c);
  r->at += 2;
  if (known != NULL) *point = (uint32_t) meant[known - letter];
  else if (c == 'x') return parser_hex(r, 2, 2, point);
  else if (c == 'u') return parser_hex(r, 4, 4, point);
  else if (c == 'U') return parser_hex(r, 8, 8, point);
  return known != NULL || (parser_refuse(r, from,
    "this escape is not done here"), false);
}

/* Each character is a set of one, so texts need no kind of node of their own. A text may be
   empty, so it begins with the empty node. It must be closed before the end of its line. */
static uint32_t read_text(struct parser *r)
{
  size_t from = r->at++;
  uint32_t point, s = parser_node(r, (struct ast_node) { AST_EMPTY,
    0, 0, 0, 0 });
  while (s != NO_AST_NODE && r->at < r->n && r->text[r->at] != '"'
      && r->text[r->at] != '\n') {
    size_t first = r->ranges.n;
    if (!grammar_point(r, &point) || !parser_range(r, point, point))
      return NO_AST_NODE;
    s = parser_join(r, AST_BOTH, s, parser_set(r, first, false));
  }
  if (s != NO_AST_NODE && (r->at == r->n || r->text[r->at] != '"'))
    return parser_refuse(r, from, "this text is never closed");
  r->at++;
  return s;
}

/* Simpler than a pattern's set: there are no kinds, so any member before a hyphen can begin
   a range. */
static bool grammar_member(struct parser *r)
{
  size_t from = r->at;
  uint32_t lo, hi;
  if (!grammar_point(r, &lo)) return false;
  hi = lo;
  if (r->n - r->at >= 2 && r->text[r->at] == '-' && r->text[r->at + 1] != ']') {
    r->at++;
    if (!grammar_point(r, &hi)) return false;
    if (hi < lo) return parser_refuse(r, from, "this is not a range"), false;
  }
  return parser_range(r, lo, hi);
}

static uint32_t grammar_set(struct parser *r)
{
  size_t from = r->at++, ranges = r->ranges.n;
  bool negated = r->at < r->n && r->text[r->at] == '^';
  r->at += negated;
  if (r->at < r->n && r->text[r->at] == ']') return parser_refuse(r, from,
    "a set of nothing; a bracket itself is written \\]");
  while (r->at < r->n && r->text[r->at] != ']' && r->text[r->at] != '\n')
    if (!grammar_member(r)) return NO_AST_NODE;
  if (r->at == r->n || r->text[r->at] != ']')
    return parser_refuse(r, from, "this bracket is never closed");
  r->at++;
  return parser_set(r, ranges, negated);
}

#define NO_THING (UINT32_MAX - 1)

/* NO_THING is no error: the sequence ends here, and its reader knows what may follow. */
static uint32_t grammar_thing(struct parser *r, struct names *all)
{
  size_t from = r->ranges.n;
  unsigned char c = r->at < r->n ? r->text[r->at] : '\0';
  if (c == '"') return read_text(r);
  if (c == '[') return grammar_set(r);
  if (c == '(') return grammar_group(r, all);
  if (c == '.') {
    r->at++;
    return parser_set(r, from, true);
  }
  if (!is_name(c)) return NO_THING;
  uint32_t k = name_number(r, all);
  return k == NO_AST_NODE ? k : parser_node(r, (struct ast_node)
    { AST_CALL, k, 0, 0, 0 });
}

/* A blank may come before the sign of a repetition, and after one; so a second repetition
   is looked for here, or it would be refused with a sentence about something else. */
static uint32_t grammar_sequence(struct parser *r, struct names *all)
{
  uint32_t s = parser_node(r, (struct ast_node) { AST_EMPTY,
    0, 0, 0, 0 });
  while (s != NO_AST_NODE) {
    uint32_t once = grammar_thing(r, all), part = once;
    if (once == NO_THING) break;
    skip_blanks(r, r->depth > 0);
    if (once != NO_AST_NODE) part = parser_times(r, once);
    skip_blanks(r, r->depth > 0);
    if (part != once && part != NO_AST_NODE && r->at < r->n
        && r->text[r->at] != '\0' && strchr("?*+{", r->text[r->at]) != NULL)
      return parser_refuse(r, r->at,
        "a repetition can't be repeated; put parentheses around it");
    s = parser_join(r, AST_BOTH, s, part);
  }
  return s;
}

/* After a bar the rule may continue on the next line. */
static uint32_t grammar_choice(struct parser *r, struct names *all)
{
  uint32_t s = grammar_sequence(r, all);
  while (s != NO_AST_NODE && r->at < r->n && r->text[r->at] == '|') {
    r->at++;
    skip_blanks(r, true);
    s = parser_join(r, AST_EITHER, s, grammar_sequence(r, all));
  }
  return s;
}

static uint32_t grammar_group(struct parser *r, struct names *all)
{
  size_t from = r->at++;
  if (++r->depth > PARSER_MAX_DEPTH)
    return parser_refuse(r, from, "the parentheses are too deep");
  skip_blanks(r, true);
  uint32_t s = grammar_choice(r, all);
  r->depth--;
  if (s != NO_AST_NODE && r->at == r->n)
    return parser_refuse(r, from, "this parenthesis is never closed");
  if (s != NO_AST_NODE && r->text[r->at] != ')')
    return parser_refuse(r, r->at, "neither a thing, nor a bar, nor the closing parenthesis");
  r->at += s != NO_AST_NODE;
  return s;
}

/* A rule ends with its line. A second definition of a name is refused; it is usually a copy
   that its author forgot to rename. The rule is found again by its number at the end:
   reading it may have moved the array. */
static bool read_rule(struct parser *r, struct names *all)
{
  size_t from = r->at;
  if (!is_name(r->text[r->at])) return parser_refuse(r, from,
    "the name of a rule is wanted"), false;
  uint32_t k = name_number(r, all);
  if (k == NO_AST_NODE) return false;
  skip_blanks(r, false);
  if (r->n - r->at < 3 || memcmp(r->text + r->at, "::=", 3) != 0)
    return parser_refuse(r, r->at, "::= is wanted"), false;
  if (((struct grammar_rule *) all->rules->block)[k].means != NO_AST_NODE)
    return parser_refuse(r, from, "this rule is defined already"), false;
  r->at += 3;
  skip_blanks(r, true);
  uint32_t s = grammar_choice(r, all);
  if (s == NO_AST_NODE) return false;
  if (r->at < r->n && r->text[r->at] != '\n' && r->text[r->at] != '\r')
    return parser_refuse(r, r->at, "neither a thing, nor a bar, nor the end of the line"), false;
  ((struct grammar_rule *) all->rules->block)[k].means = s;
  return true;
}

/* Every name must have a rule, or it is reported where it is first used, and one of them
   must be the root. */
static bool check_names(struct parser *r, const struct names *all,
  uint32_t *root)
{
  const struct grammar_rule *rule = all->rules->block;
  *root = name_map_get(&all->by_name, (const unsigned char *) "root", 4);
  for (size_t i = 0; i < all->rules->n; i++)
    if (rule[i].means == NO_AST_NODE)
      return parser_refuse(r, rule[i].at, "no rule has this name"), false;
  if ((*root)-- == 0) return error_say(r->why, "%s: there is no rule root,"
    " with which the whole text begins", r->name);
  return true;
}

/* Messages about grammars name lines. */
bool parser_grammar(struct parser *r, struct array *rules, uint32_t *root)
{
  struct names all = { .rules = rules };
  bool ok = true;
  r->lines = true;
  for (skip_blanks(r, true); ok && r->at < r->n; skip_blanks(r, true))
    ok = read_rule(r, &all);
  ok = ok && check_names(r, &all, root);
  name_map_free(r->m, &all.by_name);
  return ok;
}
