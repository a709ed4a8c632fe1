/* reading.c -- what people write in the ledger's table: the names of the verdicts, and rules.

   The language of rules is in chapter 16. A rule is a sequence of words with blanks between them, so
   the parser takes one word at a time, and every message quotes the word and says what could have
   stood there. A parsed rule points into its text and copies nothing; it is whole (the words that
   belong together are all there) or refused. */

#include <stdlib.h>
#include <string.h>
#include "ledger/rules.h"

/* as in the table and on the command line, in the order of the enumeration */
static const char *const verdict_names[N_VERDICTS] = {
  "not-judged", "holds", "holds-with-rounding", "off-by-one",
  "misleading", "ambiguous", "wrong", "not-testable-here", "to-come" };

const char *verdict_name(enum verdict which)
{
  return verdict_names[which];
}

bool verdict_find(const char *name, enum verdict *which)
{
  for (int i = 0; i < N_VERDICTS; i++)
    if (strcmp(name, verdict_names[i]) == 0) {
      *which = (enum verdict) i;
      return true;
    }
  return false;
}

/* ---- words */

/* n bytes; at the end of the text none */
struct rule_word { const char *at; size_t n; };

static struct rule_word next_word(const char **text)
{
  struct rule_word w;
  *text += strspn(*text, " ");
  w.at = *text;
  w.n = strcspn(*text, " ");
  *text += w.n;
  return w;
}

static bool word_is(struct rule_word w, const char *s)
{
  return w.n == strlen(s) && strncmp(w.at, s, w.n) == 0;
}

static int word_among(struct rule_word w, const char *const *list, int n)
{
  for (int i = 0; i < n; i++)
    if (word_is(w, list[i])) return i;
  return -1;
}

static bool not_a_rule(struct rule_word w, const char *wanted, struct error *why)
{
  if (w.n == 0) return error_say(why, "the rule ends too early; wanted: %s", wanted);
  return error_say(why, "`%.*s' in the rule; wanted: %s", (int) w.n, w.at, wanted);
}

/* ---- operands, expressions, ranges */

/* Significant digits are counted from the first that is not zero; a decimal point does not count,
   and an exponent ends them. So 0.15 has two. */
static int count_digits(struct rule_word w)
{
  int n = 0;
  for (size_t i = 0; i < w.n && w.at[i] != 'e'; i++)
    if (w.at[i] >= '0' && w.at[i] <= '9' && (n > 0 || w.at[i] != '0')) n++;
  return n;
}

/* The first character tells what a word is: a number begins with a digit or a minus sign, a key
   with a letter. */
static bool read_operand(struct rule_word w, struct operand *o, struct error *why)
{
  char *end;
  bool number = w.n > 0 && (*w.at == '-' || (*w.at >= '0' && *w.at <= '9'));
  *o = (struct operand) { .key = w.at, .n = w.n };
  if (!number) return (w.n > 0 && ((*w.at >= 'a' && *w.at <= 'z')
      || (*w.at >= 'A' && *w.at <= 'Z')))
    || not_a_rule(w, "a key or a number", why);
  o->n = 0;
  o->digits = count_digits(w);
  o->x = strtod(w.at, &end);
  return end == w.at + w.n || not_a_rule(w, "a number", why);
}

/* An operand, sometimes followed by an operator and a second operand. If the next word is not an
   operator, it belongs to what comes after the expression, and the parser steps back. */
static bool read_expression(const char **text, struct expression *e,
  struct error *why)
{
  *e = (struct expression) { .sign = '\0' };
  if (!read_operand(next_word(text), &e->first, why)) return false;
  const char *back = *text;
  struct rule_word w = next_word(text);
  if (w.n == 1 && strchr("+-*/", *w.at) != NULL) {
    e->sign = *w.at;
    return read_operand(next_word(text), &e->second, why);
  }
  *text = back;
  return true;
}

/* A range is one word: two numbers with two points between them, such as 10..100. The first number
   is copied before it is converted, because strtod would take the first of the two points for a
   decimal point. */
static bool read_range(struct rule_word w, struct rule_test *t, struct error *why)
{
  char low[32], *end;
  size_t n = 0;
  while (n + 1 < w.n && strncmp(w.at + n, "..", 2) != 0) n++;
  bool ok = n > 0 && n < sizeof low && n + 2 < w.n;
  if (ok) {
    memcpy(low, w.at, n);
    low[n] = '\0';
    t->low = strtod(low, &end);
    ok = *end == '\0';
    t->high = strtod(w.at + n + 2, &end);
    ok = ok && end == w.at + w.n && t->low <= t->high;
  }
  return ok || not_a_rule(w, "a range, as in 10..100", why);
}

/* ---- tests and rules */

/* A test is its word, our expression, the relation, their expression. */
static bool read_test(const char **text, struct rule_test *t, struct error *why)
{
  static const char *const clause[N_CLAUSES] = { "says", "true", "read",
    "either", "or" };
  static const char *const relation[N_RELATIONS] = { "=", "~", "<", ">", "<=",
    ">=", "in" };
  struct rule_word w = next_word(text);
  int which = word_among(w, clause, N_CLAUSES);
  if (which < 0)
    return not_a_rule(w, "says, true, read, either, or, none, to-come", why);
  t->meaning = (enum clause) which;
  if (!read_expression(text, &t->ours, why)) return false;
  w = next_word(text);
  which = word_among(w, relation, N_RELATIONS);
  if (which < 0) return not_a_rule(w, "= ~ < > <= >= in", why);
  t->how = (enum relation) which;
  if (t->how == RELATION_IN) return read_range(next_word(text), t, why);
  return read_expression(text, &t->theirs, why);
}

/* Three combinations of words are allowed: says alone, true with read, and either with or. A rule
   with only one half of a pair would be a judgement with half of its evidence. */
static bool halves_match(const struct parsed_rule *r, struct error *why)
{
  size_t of[N_CLAUSES] = { 0 };
  for (size_t i = 0; i < r->n; i++) of[r->list[i].meaning]++;
  bool says = of[CLAUSE_SAYS] == r->n;
  bool judged = of[CLAUSE_TRUE] > 0 && of[CLAUSE_READ] > 0
    && of[CLAUSE_TRUE] + of[CLAUSE_READ] == r->n;
  bool open = of[CLAUSE_EITHER] > 0 && of[CLAUSE_OR] > 0
    && of[CLAUSE_EITHER] + of[CLAUSE_OR] == r->n;
  return says || judged || open || error_say(why,
    "the rule mixes its words; wanted: says alone, true with read, or either with or");
}

bool rule_parse(const char *text, struct parsed_rule *r, struct error *why)
{
  *r = (struct parsed_rule) { .n = 0 };
  r->none = strcmp(text, "none") == 0;
  r->to_come = strcmp(text, "to-come") == 0;
  if (r->none || r->to_come) return true;
  struct rule_word w;
  do {
    if (r->n == RULE_MAX_TESTS)
      return error_say(why, "the rule has more than %d tests", RULE_MAX_TESTS);
    if (!read_test(&text, &r->list[r->n++], why)) return false;
    w = next_word(&text);
  } while (word_is(w, ";"));
  return w.n == 0 ? halves_match(r, why) : not_a_rule(w, "; or the end", why);
}
