@i types.w
@s size_t int
@s operand int
@s relation int
@s clause int
@s run_values int
@s rule_word int

\chapterquestion{How does a program read a rule that people write in a table?}
@** Reading the rules of the ledger.
\incipit{C}{hapter 16} judges sentences of tutorials by rules, and its header \.{rules.h} declares what a rule is. This chapter has the functions that read text: they find a verdict by its name, take the numbers that programs print, work out expressions of them, and parse a rule.

@* The names of the verdicts. \label{sec:verdictnames}
They are those of the table and of the command, in the order of the enumeration.

@<Name the verdicts@>=
static const char *const verdict_names[N_VERDICTS] = {
  "not-judged", "holds", "holds-with-rounding", "off-by-one",@|
  "misleading", "ambiguous", "wrong",@| "not-testable-here", "to-come" };
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

@* Numbers that programs print. \label{sec:ledgervalues}
A laboratory program prints one key and one number on each line. The list of these numbers does not copy the text: it points into it, and the blank after each key becomes the zero byte that ends the key. If two programs print different numbers under the same key, one of the programs is wrong. We cannot know which, so we refuse both.

@(values.h@>=
#ifndef INCIPIT_LEDGER_VALUES_H
#define INCIPIT_LEDGER_VALUES_H
#include "ground/ground.h"
struct run_value { const char *key;@+ double x; };
  /* a key and its number */
struct run_values { struct run_value *list;@+ size_t n, cap; };
  /* all numbers of some runs; all zero is an empty list */
bool run_values_take(struct run_values *v, struct memory *m, char *text,
  struct error *why);
  /* adds the lines KEY NUMBER of |text|, which is cut up and must live as long
     as the list; errors: a key with two numbers, memory */
bool run_values_find(const struct run_values *v, const char *key, size_t n,
  double *x);
  /* the number of the key |key[n]|; false if it was not printed */
void run_values_free(struct run_values *v, struct memory *m);
  /* returns the list, not the text */
#endif

@ A key is found by looking through the list.

@<Collect what a run printed@>=
bool run_values_find(const struct run_values *v, const char *key, size_t n,
  double *x)
{
  for (size_t i = 0; i < v->n; i++)
    if (strncmp(v->list[i].key, key, n) == 0 && v->list[i].key[n] == '\0') {
      *x = v->list[i].x;
      return true;
    }
  return false;
}
static bool take_value(struct run_values *v, struct memory *m, const char *key,
  double x, struct error *why)
{
  double before;
  if (run_values_find(v, key, strlen(key), &before))
    return before == x@|
      || error_say(why, "two numbers for %s: %g and %g", key, before, x);
  void *more = memory_reserve(m, MEMORY_OTHER, v->list, &v->cap, v->n + 1, 64,@|
    sizeof *v->list, why);
  if (more == NULL) return false;
  v->list = more;
  v->list[v->n++] = (struct run_value) @[{ key, x }@];
  return true;
}

@ After the number the line ends, or a blank and a unit follow. A line whose second word is not a number is skipped; it may be a message of the program.

@<Collect what a run printed@>=
bool run_values_take(struct run_values *v, struct memory *m, char *text,
  struct error *why)
{
  bool ok = true;
  while (ok && *text != '\0') {
    char *line = text, *end;
    text += strcspn(text, "\n");
    if (*text != '\0') *text++ = '\0';
    size_t n = strcspn(line, " ");
    if (n == 0 || line[n] == '\0') continue;
    line[n] = '\0';
    double x = strtod(line + n + 1, &end);
    if (end == line + n + 1 || (*end != '\0' && *end != ' ')) continue;
    ok = take_value(v, m, line, x, why);
  }
  return ok;
}
void run_values_free(struct run_values *v, struct memory *m)
{
  memory_free(m, v->list);
  *v = (struct run_values) @[{ .n = 0 }@];
}

@ An operand of an expression is a number or a key. A key that the run did not print makes the whole test unknown, and the message says which key it was.

@<Work out an expression@>=
static bool operand_value(const struct operand *o, const struct run_values *v,
  double *x, struct error *why)
{
  *x = o->x;
  return o->n == 0 || run_values_find(v, o->key, o->n, x)
    || error_say(why, "no program printed the key %.*s", (int) o->n, o->key);
}

@ An expression without a sign is its first operand.

@<Work out an expression@>=
bool expression_value(const struct expression *e, const struct run_values *v,
  double *x, struct error *why)
{
  double y;
  if (!operand_value(&e->first, v, x, why)) return false;
  if (e->sign == '\0') return true;
  if (!operand_value(&e->second, v, &y, why)) return false;
  switch (e->sign) {
  case '+': *x += y; break;
  case '-': *x -= y; break;
  case '*': *x *= y; break;
  default: if (y == 0)
      return error_say(why, "the rule divides by zero");
    *x /= y;
  }
  return true;
}

@* Reading a rule. \label{sec:ledgerparse}
The text is a sequence of words with blanks between them, so the parser takes one word at a time. The first character tells what a word is: a number begins with a digit or a minus sign, a key with a letter.

@<Read the words of a rule@>=
struct rule_word { const char *at;@+ size_t n; };
  /* |n| bytes; at the end of the text none */
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

@ Every message quotes the word and says what could have stood there.

@<Read the words of a rule@>=
static bool not_a_rule(struct rule_word w, const char *wanted, struct error *why)
{
  if (w.n == 0) return error_say(why, "the rule ends too early; wanted: %s", wanted);
  return error_say(why, "`%.*s' in the rule; wanted: %s", (int) w.n, w.at, wanted);
}

@ Significant digits are counted from the first that is not zero; a decimal point does not count, and an exponent ends them. So 0.15 has two.

@<Read the words of a rule@>=
static int count_digits(struct rule_word w)
{
  int n = 0;
  for (size_t i = 0; i < w.n && w.at[i] != 'e'; i++)
    if (w.at[i] >= '0' && w.at[i] <= '9' && (n > 0 || w.at[i] != '0')) n++;
  return n;
}
static bool read_operand(struct rule_word w, struct operand *o, struct error *why)
{
  char *end;
  bool number = w.n > 0 && (*w.at == '-' || (*w.at >= '0' && *w.at <= '9'));
  *o = (struct operand) @[{ .key = w.at, .n = w.n }@];
  if (!number)@+ return (w.n > 0 && ((*w.at >= 'a' && *w.at <= 'z')
      || (*w.at >= 'A' && *w.at <= 'Z')))
    || not_a_rule(w, "a key or a number", why);
  o->n = 0;
  o->digits = count_digits(w);
  o->x = strtod(w.at, &end);
  return end == w.at + w.n || not_a_rule(w, "a number", why);
}

@ An expression is an operand, sometimes followed by an operator and a second operand. If the next word is not an operator, it belongs to what comes after the expression, and the parser steps back.

@<Read the words of a rule@>=
static bool read_expression(const char **text, struct expression *e,
  struct error *why)
{
  *e = (struct expression) @[{ .sign = '\0' }@];
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

@ A range is one word: two numbers with two points between them, such as \.{10..100}. We copy the first number before we convert it, because |strtod| would take the first of the two points for a decimal point.

@<Read the words of a rule@>=
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

@ A test is its word, our expression, the relation, their expression. A semicolon separates it from the next.

@<Read a rule@>=
static bool read_test(const char **text, struct rule_test *t, struct error *why)
{
  static const char *const clause[N_CLAUSES] = { "says", "true", "read",@|
    "either", "or" };
  static const char *const relation[N_RELATIONS] = { "=", "~", "<", ">", "<=",@|
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

@ Three combinations of words are allowed: \.{says} alone, \.{true} with \.{read}, and \.{either} with \.{or}. A rule with only one half of a pair would be a judgement with half of its evidence.

@<Read a rule@>=
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
    "the rule mixes its words; wanted: says alone,"@|
    " true with read, or either with or");
}
bool rule_parse(const char *text, struct parsed_rule *r, struct error *why)
{
  *r = (struct parsed_rule) @[{ .n = 0 }@];
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

@ The file.

@(reading.c@>=
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ledger/rules.h"
@;@#
@<Name the verdicts@>@;
@<Collect what a run printed@>@;
@<Work out an expression@>@;
@<Read the words of a rule@>@;
@<Read a rule@>@;
