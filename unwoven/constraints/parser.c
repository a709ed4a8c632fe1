/* parser.c -- what the readers of patterns and of grammars share: nodes of the tree,
   ranges, repetitions, sentences of refusal.

   A parser reads text from at on and never goes back. Nodes are made bottom up and numbered
   in the order in which they are made, so a child has a smaller number than its parent, and
   NO_AST_NODE means that the reason has been said already. Both arrays may move when they
   grow: keep numbers, not addresses. The network is made from the nodes; after that they
   are no longer needed. */

#include <stdlib.h>
#include <string.h>
#include "tokens/utf8.h"
#include "constraints/parser.h"

/* The list grows by the rule of memory_reserve. Each new element is zeroed, because a list
   may have been shortened by setting n back, and then its block still has old elements. */
void *array_push(struct memory *m, struct array *l, size_t size,
  struct error *why)
{
  char *p = memory_reserve(m, MEMORY_TOKENS, l->block, &l->cap, l->n + 1,
    16, size, why);
  if (p == NULL) return NULL;
  l->block = p;
  return memset(p + size * l->n++, 0, size);
}

/* A list that was freed is empty and can be filled again. */
void array_free(struct memory *m, struct array *l)
{
  memory_free(m, l->block);
  *l = (struct array) { NULL, 0, 0 };
}

/* We check first that the whole text is UTF-8, and name the first byte that is not, so
   nobody has to check again. A text has a mebibyte at most, so 32 bits are enough to number
   everything that is made from it. */
bool parser_begin(struct parser *r, struct memory *m, const char *name,
  const char *text, size_t n, struct error *why)
{
  *r = (struct parser) { .m = m, .name = name, .n = n, .why = why };
  r->text = (const unsigned char *) text;
  if (n > PARSER_MAX_TEXT) return error_say(why, "%s: it has %zu bytes, the most is %d",
    name, n, PARSER_MAX_TEXT);
  for (size_t i = 0, k; i < n; i += k) {
    bool whole;
    k = utf8_run(r->text + i, n - i, &whole);
    if (!whole) return error_say(why, "%s: byte %zu is 0x%02x, which is not UTF-8",
      name, i, r->text[i]);
  }
  return true;
}

/* The text itself is the caller's and was not copied. */
void parser_end(struct parser *r)
{
  array_free(r->m, &r->nodes);
  array_free(r->m, &r->ranges);
}

/* Shows a dozen bytes of the text, up to the end of the line, but not half a character: a
   sentence must be UTF-8. Lines are counted only now, for refusing happens once. */
uint32_t parser_refuse(struct parser *r, size_t at, const char *what)
{
  size_t line = 1, n = 0;
  const char *shown = (const char *) r->text + at;
  for (size_t i = 0; i < at; i++) line += r->text[i] == '\n';
  while (at + n < r->n && n < 12 && shown[n] != '\n' && shown[n] != '\r') n++;
  while (at + n < r->n && n > 0 && (r->text[at + n] & 0xc0) == 0x80) n--;
  error_say(r->why, "%s, %s %zu%s%.*s%s: %s", r->name,
    r->lines ? "line" : "byte", r->lines ? line : at,
    n > 0 ? ", at \"" : ", at the end", (int) n, shown,
    n > 0 ? "\"" : "", what);
  return NO_AST_NODE;
}

uint32_t parser_node(struct parser *r, struct ast_node s)
{
  struct ast_node *fresh = array_push(r->m, &r->nodes, sizeof *fresh, r->why);
  if (fresh == NULL) return NO_AST_NODE;
  *fresh = s;
  return (uint32_t) (r->nodes.n - 1);
}

/* A refusal in either part is passed on: the parsers join first and ask for failure
   afterwards. */
uint32_t parser_join(struct parser *r, enum ast_kind kind, uint32_t a,
  uint32_t b)
{
  if (a == NO_AST_NODE || b == NO_AST_NODE) return NO_AST_NODE;
  return parser_node(r, (struct ast_node) { kind, a, b, 0, 0 });
}

/* parser_begin has checked that the whole text is UTF-8, so the state is not looked at. */
uint32_t parser_point(struct parser *r)
{
  enum utf8_state state;
  size_t k = utf8_next(r->text + r->at, r->n - r->at, &state);
  uint32_t point = utf8_point(r->text + r->at, k);
  r->at += k;
  return point;
}

/* A number may be too large for a character, or one of the 0x800 surrogates, which UTF-16
   keeps for itself. Both are refused: no text in UTF-8 has them, and a set with a character
   that can never occur is probably a mistake. The loop stops as soon as the number is too
   large, so x cannot wrap, however many digits follow. */
bool parser_hex(struct parser *r, size_t min, size_t max,
  uint32_t *point)
{
  size_t from = r->at, k = 0;
  uint32_t x = 0;
  for (; k < max && r->at < r->n && hex_digit(r->text[r->at]) >= 0; k++)
    if ((x = 16 * x + (uint32_t) hex_digit(r->text[r->at++])) > PARSER_LAST_POINT)
      break;
  *point = x;
  if (x > PARSER_LAST_POINT || (x >= 0xd800 && x <= 0xdfff))
    return parser_refuse(r, from, "no character has this number"), false;
  return k >= min || (parser_refuse(r, from,
    "hexadecimal digits are wanted"), false);
}

/* The network has a copy for each repetition, so a count is bounded; a pattern that needs
   more can use a star. Reading stops when the count exceeds the bound, so it cannot wrap. A
   bound for each count bounds nothing yet, since repetitions can be nested; net_emit counts
   the work. */
static bool read_count(struct parser *r, uint32_t *count)
{
  size_t from = r->at;
  *count = 0;
  for (; r->at < r->n && r->text[r->at] >= '0' && r->text[r->at] <= '9';
      r->at++) {
    *count = 10 * *count + (uint32_t) (r->text[r->at] - '0');
    if (*count > PARSER_MAX_TIMES) return parser_refuse(r, from,
      "a thing may be repeated 1000 times at most"), false;
  }
  return r->at > from || (parser_refuse(r, from,
    "a count is wanted; a brace itself is written \\{"), false);
}

/* The braces have m, or m and a comma, or m, a comma and n. Of anything else Perl and its
   successors take the brace literally; we refuse it, since it is usually a mistake. */
static bool read_braces(struct parser *r, struct ast_node *s)
{
  size_t from = r->at++;
  if (!read_count(r, &s->min)) return false;
  s->max = s->min;
  if (r->at < r->n && r->text[r->at] == ',') {
    r->at++;
    if (r->at < r->n && r->text[r->at] == '}') s->max = PARSER_FOREVER;
    else if (!read_count(r, &s->max)) return false;
  }
  if (r->at == r->n || r->text[r->at] != '}')
    return parser_refuse(r, r->at, "a closing brace is wanted"), false;
  r->at++;
  return s->max >= s->min || (parser_refuse(r, from,
    "the second count is less than the first"), false);
}

/* The signs are short for braces. Gives s itself if nothing follows that repeats, for a
   thing that comes once needs no node around it; callers compare, to find a repetition of a
   repetition. */
uint32_t parser_times(struct parser *r, uint32_t s)
{
  if (s == NO_AST_NODE || r->at == r->n) return s;
  struct ast_node t = { AST_TIMES, s, 0, 0, PARSER_FOREVER };
  switch (r->text[r->at]) {
  case '?': t.max = 1, r->at++; break;
  case '*': r->at++; break;
  case '+': t.min = 1, r->at++; break;
  case '{': if (!read_braces(r, &t)) return NO_AST_NODE; break;
  default: return s;
  }
  return parser_node(r, t);
}

/* Ranges are written in any order, and may overlap. */
static int by_beginning(const void *a, const void *b)
{
  const struct code_range *x = a, *y = b;
  return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* The parser has checked that the smaller end comes first. */
bool parser_range(struct parser *r, uint32_t lo, uint32_t hi)
{
  struct code_range *fresh = array_push(r->m, &r->ranges, sizeof *fresh, r->why);
  if (fresh == NULL) return false;
  *fresh = (struct code_range) { lo, hi };
  return true;
}

/* The ranges of a set are the last of the list, from number from on. They are sorted and
   joined in place, those that overlap or touch: k never overtakes i. To negate a set we
   replace its ranges by the gaps between them. A range beyond the last character is added,
   so that the gap before it comes out as well (n ranges have at most n+1 gaps), and for
   each range at most one gap is written. An empty gap is left out. */
uint32_t parser_set(struct parser *r, size_t from, bool negated)
{
  if (negated && !parser_range(r, PARSER_LAST_POINT + 1, PARSER_LAST_POINT + 1))
    return NO_AST_NODE;
  struct code_range *x = r->ranges.block;
  size_t n = r->ranges.n - from, k = 0;
  uint32_t next = 0;                        /* all ranges so far end before it */
  if (n > 0) qsort(x += from, n, sizeof *x, by_beginning);
  for (size_t i = 0; i < n; i++) {
    struct code_range now = x[i];
    if (negated && now.lo > next)
      x[k++] = (struct code_range) { next, now.lo - 1 };
    if (!negated && (k == 0 || now.lo > next)) x[k++] = now;
    else if (!negated && now.hi > x[k - 1].hi) x[k - 1].hi = now.hi;
    if (now.hi >= next) next = now.hi + 1;
  }
  r->ranges.n = from + k;
  return parser_node(r, (struct ast_node) { AST_SET, (uint32_t) from,
    (uint32_t) k, 0, 0 });
}
