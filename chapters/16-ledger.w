@i types.w
@s size_t int
@s operand int
@s relation int
@s clause int
@s verdict int
@s outcome int

\chapterquestion{I have read in a tutorial that the cache turns quadratic cost into linear cost. Is that right? And who says so?}
@** The ledger: what the tutorials say.
\incipit{F}{ive tutorials} stand behind this book. They explain, to many more readers than we shall ever have, how a language model writes; and between them they make 341 statements that can be looked at one by one: a count, a formula, a size in bytes, a rule,
a promise that something stays the same. We took each of them down, with the whole sentence that it stands in, and asked the engine.

This chapter is the result: a \emph{ledger} with one row for each statement. A row has the sentence, the number that it claims, the number that our run gives, a verdict, and a line that says why. Nobody has typed a verdict and left it at that. A row states the \emph{rule} by which a run decides,
a program of this chapter applies the rule to what the laboratory prints, and if the result is not the verdict in the row, the book is not built. You can do the same at home: \.{incipit verify S1-11} runs the experiment for one row, and \.{incipit verify} runs all of them.
@^ledger@>@^verdict@>@^tutorials@>@^claim@>

@ Why judge tutorials at all? Not to shame their authors, who gave their time away. A learner who meets two tutorials that contradict each other needs somebody to settle it; an author would like to know which sentence to change; and we learned more about generation from the sentences that turned out to be almost right
than from those that were right. Most of the 341 are right, and the table says so in the same type and at the same length as it says anything else.

If you come with a sentence in hand, search this chapter for three words of it. The table in \cref{sec:ledgertable} has every sentence as its author printed it. The words before it explain how to read a row.

\begin{byhand}{three rows judged}
The article S4 prints a table. Its first line says that after a prompt of 100 tokens, for 50 tokens written, the naive loop computes $6{,}225$ rows, that $150$ are needed, and that the factor between the two is $41.5$.

\medskip
\begin{tabular}{@@{}llrl@@{}}
\tabhead{row} & \tabhead{rule} & \tabhead{our run} & \tabhead{verdict}\\
S4-29 & says |rows| = 6225 & 6225 & holds\\
S4-30 & says |needed| = 150 & 149 & off by one\\
S4-34 & says |factor| \verb|~| 171 & 171.2857 & holds, rounded
\end{tabular}
\medskip

For S4-29 the numbers are equal. For S4-30 the rule asks for equality as well; $150-149=1$, and two whole numbers that differ by exactly one get a verdict of their own, because that is a mistake of its own kind. S4-34 is the factor in the second line of the same table; its rule allows rounding to as many digits as the author
printed: $171.2857$ rounded to three digits is $171$.
\end{byhand}

@* A rule and its tests. \label{sec:ledgerrules}
A laboratory program prints lines, each a \emph{key} and a number: \.{loop.naive.100.50 6225}. A \emph{test} compares what keys give with what a sentence says:
$$\vbox{\halign{\hfil\it#\quad&#\hfil\cr
test&\it expression relation expression\cr
expression&\it operand\quad\rm or\quad \it operand operator operand\cr
operand&a key, or a number\cr
operator&\.{+}\quad\.{-}\quad\.{*}\quad\.{/}\cr
relation&\.{=}\quad\.{\char`\~}\quad\.{<}\quad\.{>}\quad\.{<=}\quad\.{>=}\quad\.{in}\cr}}$$
Ours stands on the left of the relation, theirs on the right. One operator is enough: a ratio of two keys, or a number of bytes divided by $10^9$. After \.{in} comes a range, as \.{10..100}. Blanks separate everything, so that a key may contain points and dashes.
@^rule of a claim@>@^test of a rule@>

@ A \emph{rule} is one or more tests, each with a word before it that says what the test means for the sentence. Most sentences have one meaning, and its tests have the word \.{says}. Some need judgement, and there the rule has two halves. A sentence is \emph{misleading} if it is \.{true} in one sense and will be \.{read} in another;
it is \emph{ambiguous} if its author left open whether \.{either} of two things is meant \.{or} the other. The row then explains both senses in words, and the tests decide both. So even a judgement has to be supported by two runs: one in which the sentence is right, and one in which it fails.

Two words need no test. \.{none} says that no run of ours can decide, and the row says why. \.{to-come} says that a later chapter has to run it.

@(rules.h@>=
#ifndef INCIPIT_LEDGER_RULES_H
#define INCIPIT_LEDGER_RULES_H
#include "ground/ground.h"
@<What may become of a sentence@>@;
@<What a run printed@>@;
@<A rule@>@;
#endif

@ There are nine verdicts, and their names are the words of the table. The first is for a row that could not be judged, because a program is missing, failed, or did not print a key: such a row is never taken to hold.

@<What may become of a sentence@>=
enum verdict { VERDICT_NOT_JUDGED, VERDICT_HOLDS, VERDICT_ROUNDED,
  VERDICT_OFF_BY_ONE, VERDICT_MISLEADING, VERDICT_AMBIGUOUS, VERDICT_WRONG,
  VERDICT_NOT_TESTABLE, VERDICT_TO_COME, N_VERDICTS };
  /* what a rule and a run may come to */
const char *verdict_name(enum verdict which);
  /* ``holds'', ``off-by-one'', ... */
bool verdict_find(const char *name, enum verdict *which);
  /* the verdict of that name; false if there is none */

@ @<Name the verdicts@>=
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

@ What programs print is collected in a list. The text of a run is cut into lines where it stands: the blank after a key becomes the zero byte that ends it, and the list points into the text. A line whose second word is no number is left out, and so is a message that a program may have printed. If two programs print different numbers under the same key, one of them is wrong, and we do
not choose between them.

@<What a run printed@>=
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

@ @<Collect what a run printed@>=
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

@ A number ends with its line, or with a blank and its unit.

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

@ A rule in parsed form. It points into the text that it was read from. The digits of a number are remembered as well, because ``as many digits as the author printed'' is a property of the way it is written: \.{171} has three, and \.{5e1} has one.

@<A rule@>=
enum { RULE_MAX_TESTS = 6 };
  /* tests that a rule may have */
enum clause { CLAUSE_SAYS, CLAUSE_TRUE, CLAUSE_READ, CLAUSE_EITHER, CLAUSE_OR,
  N_CLAUSES };
  /* what a test means for its sentence */
enum relation { RELATION_EQUAL, RELATION_ABOUT, RELATION_LESS, RELATION_MORE,
  RELATION_AT_MOST, RELATION_AT_LEAST, RELATION_IN, N_RELATIONS };
  /* how ours and theirs are compared */
struct operand { const char *key;@+ size_t n;@+ double x;@+ int digits; };
  /* a key of |n| bytes or, if |n| is 0, the number |x|, written with so many digits */
struct expression { struct operand first, second;@+ char sign; };
  /* two operands and the sign between them, or the first alone, and no sign */
struct rule_test { enum clause meaning;@+ struct expression ours, theirs;
  enum relation how;@+ double low, high; };
  /* a test; theirs is the range if |how| is |RELATION_IN| */
struct parsed_rule { struct rule_test list[RULE_MAX_TESTS];@+ size_t n;
  bool none, to_come; };
  /* a rule: tests, or no test and one of the two flags */
bool rule_parse(const char *text, struct parsed_rule *r, struct error *why);
  /* borrows |text|; on failure a sentence that quotes what is wrong */
@<What a rule decides@>@;

@* Reading a rule. \label{sec:ledgerparse}
The text is a row of words with blanks between them, so the reader takes a word at a time. What a word is shows at its first letter: a number begins with a digit or a minus sign, a key with a letter.

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

@ Significant digits are counted from the first that is not zero; a decimal point does not count, and an exponent ends them. So \.{0.15} has two.

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

@ An expression is an operand, and perhaps an operator and another one. A word that is no operator belongs to whatever follows; the reader then steps back.

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

@ A range is one word, two numbers with two points between them. The first number is copied out, because |strtod| would take the first of the two points for a decimal point.

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

@ A clause is its word, ours, the relation, theirs; a semicolon separates it from the next.

@<Read a rule@>=
static bool read_test(const char **text, struct rule_test *t, struct error *why)
{
  static const char *const clause[N_CLAUSES] = { "says", "true", "read",@|
    "either", "or" };
  static const char *const relation[N_RELATIONS] = { "=", "~", "<", ">", "<=",@|
    ">=", "in" };
  struct rule_word w = next_word(text);
  int which = word_among(w, clause, N_CLAUSES);
  if (which < 0) return not_a_rule(w, "says, true, read, either, or, none, to-come", why);
  t->meaning = (enum clause) which;
  if (!read_expression(text, &t->ours, why)) return false;
  w = next_word(text);
  which = word_among(w, relation, N_RELATIONS);
  if (which < 0) return not_a_rule(w, "= ~ < > <= >= in", why);
  t->how = (enum relation) which;
  if (t->how == RELATION_IN) return read_range(next_word(text), t, why);
  return read_expression(text, &t->theirs, why);
}

@ Which words may stand together? Only |CLAUSE_SAYS|; or both of true and read; or both of either and or. A rule with one half would be a judgement without its evidence.

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

@* Deciding. \label{sec:ledgerdecide}
A test can come out in five ways. Equal or true; equal after rounding; off by one; false; or undecided, because a key is missing. They are ordered from good to bad, and the result of several tests is the worst of them.

@<What a rule decides@>=
enum outcome { OUTCOME_EXACT, OUTCOME_ROUNDED, OUTCOME_OFF_BY_ONE, OUTCOME_FALSE,
  OUTCOME_UNKNOWN };
  /* how a test came out, from good to bad */
bool expression_value(const struct expression *e, const struct run_values *v,
  double *x, struct error *why);
  /* its value; false and a sentence that names the key that was not printed, or
     a division by zero */
enum outcome test_outcome(const struct rule_test *t, const struct run_values *v,
  struct error *why);
  /* |why| is written if it is unknown */
enum verdict rule_decide(const struct parsed_rule *r, const struct run_values *v,
  struct error *why);
  /* the verdict; |why| is written if the row is not judged */

@ @<Work out an expression@>=
static bool operand_value(const struct operand *o, const struct run_values *v,
  double *x, struct error *why)
{
  *x = o->x;
  return o->n == 0 || run_values_find(v, o->key, o->n, x)
    || error_say(why, "no program printed the key %.*s", (int) o->n, o->key);
}
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

@ Two numbers are equal if they agree to nine digits: keys are printed in decimal, and a quotient of two of them need not be the double that is nearest to the number in the rule. For rounding we let |snprintf| round ours to as many digits as theirs was written with; it rounds the exact value of the double, and of two equally near results it takes the even one. Numbers that are off by one must both be whole.

@<Compare ours with theirs@>=
static bool equal_numbers(double a, double b)
{
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}
static bool equal_rounded(double ours, double theirs, int digits)
{
  char text[64];
  snprintf(text, sizeof text, "%.*e", digits > 0 ? digits - 1 : 0, ours);
  return equal_numbers(strtod(text, NULL), theirs);
}
static bool off_by_one(double a, double b)
{
  return floor(a) == a && floor(b) == b && fabs(a - b) == 1;
}
static enum outcome compare(const struct rule_test *t, double ours, double theirs)
{
  bool holds = false;
  switch (t->how) {
  case RELATION_LESS: holds = ours < theirs; break;
  case RELATION_MORE: holds = ours > theirs; break;
  case RELATION_AT_MOST: holds = ours <= theirs; break;
  case RELATION_AT_LEAST: holds = ours >= theirs; break;
  case RELATION_IN: holds = t->low <= ours && ours <= t->high; break;
  default: if (equal_numbers(ours, theirs)) return OUTCOME_EXACT;
    if (t->how == RELATION_ABOUT
      && equal_rounded(ours, theirs, t->theirs.first.digits)) return OUTCOME_ROUNDED;
    if (off_by_one(ours, theirs)) return OUTCOME_OFF_BY_ONE;
  }
  return holds ? OUTCOME_EXACT : OUTCOME_FALSE;
}

@ @<Compare ours with theirs@>=
enum outcome test_outcome(const struct rule_test *t, const struct run_values *v,
  struct error *why)
{
  double ours, theirs = 0;
  if (!expression_value(&t->ours, v, &ours, why)) return OUTCOME_UNKNOWN;
  if (t->how != RELATION_IN && !expression_value(&t->theirs, v, &theirs, why))
    return OUTCOME_UNKNOWN;
  return compare(t, ours, theirs);
}

@ From outcomes to a verdict. Let |first| be the worst outcome of the tests with \.{says}, \.{true} or \.{either}, and |second| that of the tests with \.{read} or \.{or}. For a sentence with one meaning there is no second half, and the verdict is the first.

For a judgement the two halves are taken together. If both hold, the sentence holds in either sense and there is nothing to judge: the rule would be refused as a reason for calling it misleading. If the sense in which it should be true fails, no sense is left in which it is right. Only in the remaining case, where one holds and the other does not, is it misleading, or ambiguous.

@<Decide@>=
static enum verdict plain_verdict(enum outcome o)
{
  static const enum verdict of[] = { VERDICT_HOLDS, VERDICT_ROUNDED,@|
    VERDICT_OFF_BY_ONE, VERDICT_WRONG, VERDICT_NOT_JUDGED };
  return of[o];
}
static enum verdict verdict_of_two(enum outcome first, enum outcome second,
  bool open)
{
  bool one = first <= OUTCOME_ROUNDED, other = second <= OUTCOME_ROUNDED;
  if (one && other) return plain_verdict(first > second ? first : second);
  if (open && (one || other)) return VERDICT_AMBIGUOUS;
  return one ? VERDICT_MISLEADING : VERDICT_WRONG;
}
enum verdict rule_decide(const struct parsed_rule *r, const struct run_values *v,
  struct error *why)
{
  enum outcome worst[2] = { OUTCOME_EXACT, OUTCOME_EXACT };
  if (r->none) return VERDICT_NOT_TESTABLE;
  if (r->to_come) return VERDICT_TO_COME;
  for (size_t i = 0; i < r->n; i++) {
    enum clause meaning = r->list[i].meaning;
    int half = meaning == CLAUSE_READ || meaning == CLAUSE_OR;
    enum outcome o = test_outcome(&r->list[i], v, why);
    if (o == OUTCOME_UNKNOWN) return VERDICT_NOT_JUDGED;
    if (o > worst[half]) worst[half] = o;
  }
  if (r->list[0].meaning == CLAUSE_SAYS) return plain_verdict(worst[0]);
  bool open = r->list[0].meaning == CLAUSE_EITHER || r->list[0].meaning == CLAUSE_OR;
  return verdict_of_two(worst[0], worst[1], open);
}

@ The file of the rules.

@(rules.c@>=
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ledger/rules.h"
@;@#
@<Name the verdicts@>@;
@<Collect what a run printed@>@;
@<Read the words of a rule@>@;
@<Read a rule@>@;
@<Work out an expression@>@;
@<Compare ours with theirs@>@;
@<Decide@>@;

@* The table. \label{sec:ledgerfile}
The rows are in \.{ledger/claims.tsv}, a text file with one line for each row and a tab between its fields, so that it can be searched with |grep|, opened as a spreadsheet, and compared line by line when it changes. The first line has the names of the fields. A second table, \.{ledger/sources.tsv}, has a line for each tutorial.

@<A row of the ledger@>=
enum { LEDGER_FIELDS = 14 };
  /* fields of a row */
struct ledger_row {
  const char *id, *chapter, *section, *run, *kind, *stated, *claimed, *ours,
    *rule, *quote, *in_truth, *as_read, *why, *command;
  enum verdict verdict;
  struct parsed_rule parsed;
};
  /* as S4-30; the chapter that decides it, and the label of the place; the programs
     that print its keys; whether ours is counted, measured or computed; the
     verdict's name; their number; ours, with |{1}| for the left side of
     the first test; the rule; the whole sentence; the sense in which it is true
     and that in which it will be read; one line why; the command that shows it, or
     nothing. Then the verdict and the rule, read */
struct ledger_source { const char *id, *title, *kind, *date, *place, *begins; };
  /* as S4; where it can be found, and its first words, for one that has no address */
struct ledger { struct memory *m;@+ char *text[2];
  struct ledger_row *rows;@+ struct ledger_source *sources;@+ size_t n, n_sources; };
  /* the ledger, in memory; all strings point into |text| */

@ @<Open the ledger@>=
bool ledger_open(struct ledger *l, struct memory *m, const char *folder,
  struct error *why);
  /* reads the two tables of a folder and checks every row; errors, which name file, row
     and field: a table that is not there, a row with too many or too few
     fields, one that says what it may not. On failure there is nothing to close */
void ledger_close(struct ledger *l);
  /* returns everything */
const struct ledger_row *ledger_find(const struct ledger *l, const char *id);
  /* the row of that id, or null */
@<What became of a row@>@;

@ A table is read as a whole, with a zero byte after it, and cut into lines and fields where it stands. A line that ends without a line feed is the last.

@<Read a table@>=
static char *table_read(struct memory *m, const char *path, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  char *text = memory_alloc(m, MEMORY_OTHER, map.size + 1, 1, why);
  if (text != NULL && map.size > 0) memcpy(text, map.bytes, map.size);
  file_unmap(&map);
  return text;
}
static char *cut(char **text, const char *end)
{
  char *part = *text;
  *text += strcspn(*text, end);
  if (**text != '\0') *(*text)++ = '\0';
  return part;
}
static size_t count_lines(const char *text)
{
  size_t n = 0;
  for (; *text != '\0'; text++) n += *text == '\n';
  return n + 1;
}

@ Each field goes where it belongs; a row with the wrong number of fields is refused by its first field, which is most likely still the id.

@<Read a table@>=
static bool cut_fields(char *line, const char **field[], size_t n,
  const char *table, struct error *why)
{
  const char *id = line;
  size_t tabs = 0;
  for (const char *c = line; *c != '\0'; c++) tabs += *c == '\t';
  for (size_t i = 0; i < n; i++) *field[i] = cut(&line, "\t");
  return tabs == n - 1 || error_say(why,
    "%s, row %.20s: %zu fields; wanted: %zu, with tabs between them",@| table, id,
    tabs + 1, n);
}

@ Now what a row may say. Every complaint names the file, the row and the field.

@<Check a row@>=
static bool row_error(const struct ledger_row *r, const char *field,
  const char *found, const char *wanted, struct error *why)
{
  char place[80];
  snprintf(place, sizeof place, "row %.20s, field %s", r->id, field);
  return error_say(why, "ledger/claims.tsv, %s: `%.160s'; wanted: %s", place, found,
    wanted);
}

@ Three fields have a list of words that may stand there. The id is a source, a dash, and a number.

@<Check a row@>=
static bool is_id(const char *id)
{
  size_t n = strlen(id);
  return n > 3 && n < 8 && id[0] == 'S' && id[1] >= '0' && id[1] <= '9'
    && id[2] == '-' && strspn(id + 3, "0123456789") == n - 3;
}
static bool words_known(struct ledger_row *r, struct error *why)
{
  static const char *const kind[] = { "counted", "measured", "computed", "-" };
  bool known = false;
  for (int i = 0; i < 4; i++) known = known || strcmp(r->kind, kind[i]) == 0;
  if (!is_id(r->id)) return row_error(r, "id", r->id, "as S4-30", why);
  if (!known) return row_error(r, "kind", r->kind,@|
    "counted, measured, computed or -", why);
  return (verdict_find(r->stated, &r->verdict)
      && r->verdict != VERDICT_NOT_JUDGED)
    || row_error(r, "verdict", r->stated, "a verdict", why);
}

@ The number claimed is the author's, so it must stand in the sentence; and it must be the one that the rule compares with. If somebody ``corrects'' it in one place, the row is refused. Numbers are read with or without commas between thousands.

@<Check a row@>=
static bool next_number(const char **text, double *x)
{
  char digits[40];
  size_t n = 0;
  *text += strcspn(*text, "0123456789");
  if (**text == '\0') return false;
  const char *c = *text;
  for (; n < sizeof digits - 1; c++)
    if ((*c >= '0' && *c <= '9') || (*c == '.' && c[1] >= '0' && c[1] <= '9'))
      digits[n++] = *c;
    else if (*c != ',' || strspn(c + 1, "0123456789") < 3) break;
  digits[n] = '\0';
  *x = strtod(digits, NULL);
  *text = c;
  return true;
}
static bool text_has(const char *text, double wanted)
{
  double x;
  while (next_number(&text, &x))
    if (x == wanted) return true;
  return false;
}
static bool rule_has(const struct parsed_rule *r, double x)
{
  for (size_t i = 0; i < r->n; i++) {
    const struct rule_test *t = &r->list[i];
    const struct expression *e = &t->theirs;
    if (t->how == RELATION_IN && (t->low == x || t->high == x)) return true;
    if (t->how == RELATION_IN) continue;
    if (e->first.n == 0 && e->first.x == x) return true;
    if (e->sign != '\0' && e->second.n == 0 && e->second.x == x) return true;
  }
  return false;
}

@ Ours is never typed: outside of the braces of a template there is no digit.

@<Check a row@>=
static bool numbers_agree(const struct ledger_row *r, struct error *why)
{
  const char *text = r->claimed;
  double x;
  bool decided = !r->parsed.none && !r->parsed.to_come;
  while (next_number(&text, &x)) {
    if (!text_has(r->quote, x)) return row_error(r, "claimed", r->claimed,
      "numbers of the quotation", why);
    if (decided && !rule_has(&r->parsed, x)) return row_error(r, "claimed",
      r->claimed, "the numbers of the rule", why);
  }
  bool inside = false;
  for (const char *c = r->ours; *c != '\0'; c++) {
    inside = *c == '{' || (inside && *c != '}');
    if (!inside && *c >= '0' && *c <= '9') return row_error(r, "ours", r->ours,
      "no number outside of braces", why);
  }
  return true;
}

@ What must be there depends on the rule. A row that a run decides names its programs and what kind of number ours is. A judgement has both senses in words. No row is without its sentence and its reason.

@<Check a row@>=
static bool row_complete(const struct ledger_row *r, struct error *why)
{
  bool decided = !r->parsed.none && !r->parsed.to_come;
  bool judged = decided && r->parsed.list[0].meaning != CLAUSE_SAYS;
  if (*r->quote == '\0') return row_error(r, "quote", "", "the sentence", why);
  if (*r->why == '\0') return row_error(r, "why", "", "one line", why);
  if (*r->chapter == '\0') return row_error(r, "chapter", "", "a chapter", why);
  if (decided != (*r->run != '\0')) return row_error(r, "run", r->run,@|
    "the programs of the rule's keys, none without keys", why);
  if (decided != (strcmp(r->kind, "-") != 0)) return row_error(r, "kind", r->kind,
    "- if no run decides, else another", why);
  if (judged != (*r->in_truth != '\0') || judged != (*r->as_read != '\0'))
    return row_error(r, "true, read", r->in_truth,@|
      "both senses in words where the rule has two, else none", why);
  return true;
}
static bool row_check(struct ledger_row *r, struct error *why)
{
  struct error wrong;
  if (!words_known(r, why)) return false;
  if (!rule_parse(r->rule, &r->parsed, &wrong))
    return error_say(why, "ledger/claims.tsv, row %s, field rule: %s", r->id,
      wrong.text);
  return row_complete(r, why) && numbers_agree(r, why);
}

@ The rows, one after the other. An id may stand there once.

@<Take the rows@>=
static bool take_row(struct ledger *l, char *line, struct error *why)
{
  struct ledger_row *r = &l->rows[l->n];
  const char **field[LEDGER_FIELDS] = { &r->id, &r->chapter, &r->section,@|
    &r->run, &r->kind, &r->stated, &r->claimed, &r->ours, &r->rule,@| &r->quote,
    &r->in_truth, &r->as_read, &r->why, &r->command };
  if (!cut_fields(line, field, LEDGER_FIELDS, "ledger/claims.tsv", why)
      || !row_check(r, why)) return false;
  if (ledger_find(l, r->id) != NULL)
    return row_error(r, "id", r->id, "each id once", why);
  l->n++;
  return true;
}
static bool take_source(struct ledger *l, char *line, struct error *why)
{
  struct ledger_source *s = &l->sources[l->n_sources++];
  const char **field[] = { &s->id, &s->title, &s->kind, &s->date, &s->place,@|
    &s->begins };
  return cut_fields(line, field, 6, "ledger/sources.tsv", why);
}
const struct ledger_row *ledger_find(const struct ledger *l, const char *id)
{
  for (size_t i = 0; i < l->n; i++)
    if (strcmp(l->rows[i].id, id) == 0) return &l->rows[i];
  return NULL;
}

@ The first line of a table is skipped, and so are empty lines. Both tables are read before a line is taken.

@<Take the rows@>=
static bool take_lines(struct ledger *l, char *text,
  bool take(struct ledger *, char *, struct error *), struct error *why)
{
  cut(&text, "\n");
  while (*text != '\0') {
    char *line = cut(&text, "\n");
    if (*line != '\0' && !take(l, line, why)) return false;
  }
  return true;
}
static bool open_table(struct ledger *l, int which, const char *folder,
  const char *name, struct error *why)
{
  char path[PATH_CAP];
  return path_join(path, folder, name, why)
    && (l->text[which] = table_read(l->m, path, why)) != NULL;
}
bool ledger_open(struct ledger *l, struct memory *m, const char *folder,
  struct error *why)
{
  *l = (struct ledger) @[{ .m = m }@];
  bool ok = open_table(l, 0, folder, "claims.tsv", why)
    && open_table(l, 1, folder, "sources.tsv", why);
  ok = ok && (l->rows = memory_alloc(m, MEMORY_OTHER, count_lines(l->text[0]),@|
      sizeof *l->rows, why)) != NULL
    && (l->sources = memory_alloc(m, MEMORY_OTHER, count_lines(l->text[1]),@|
      sizeof *l->sources, why)) != NULL
    && take_lines(l, l->text[1], take_source, why)
    && take_lines(l, l->text[0], take_row, why);
  if (!ok) ledger_close(l);
  return ok;
}
void ledger_close(struct ledger *l)
{
  for (int i = 0; i < 2; i++) memory_free(l->m, l->text[i]);
  memory_free(l->m, l->rows);
  memory_free(l->m, l->sources);
  *l = (struct ledger) @[{ .n = 0 }@];
}

@* A row and a run. \label{sec:ledgerjudge}
Last, a row meets the numbers of a run. The verdict comes from the rule. Then it is compared with the one that the row states, and this is the only place where the stated verdict is used.

@<What became of a row@>=
enum { OURS_CAP = 160 };
  /* the longest text of ours */
struct judgement { enum verdict verdict;@+ bool as_stated;@+ char ours[OURS_CAP];
  struct error why; };
  /* what the run came to; is it what the ledger says? Ours in words; if it is not as
     stated, |why| names the row and both verdicts, or the key that is missing */
void ledger_judge(const struct ledger_row *r, const struct run_values *v,
  struct judgement *j);
  /* judges a row by its rule */
void ledger_fill(const struct ledger_row *r, const struct run_values *v,
  const char *template, char *to, size_t cap);
  /* writes a text of the row to |to[cap]| with |{2}| replaced by the left side of the second
     test, |{2:1}| with one decimal, and |{k:1}| by the number of key |k|; what is not known
     becomes a question mark */

@ A number without decimals in its braces is printed whole if it is whole, else with four digits.

@<Fill a template@>=
static void put_number(char *to, size_t cap, double x, int decimals)
{
  if (decimals >= 0) snprintf(to, cap, "%.*f", decimals, x);
  else if (floor(x) == x && fabs(x) < 1e15) snprintf(to, cap, "%.0f", x);
  else snprintf(to, cap, "%.4g", x);
}
static void put_braces(const struct ledger_row *r, const struct run_values *v,
  const char *inside, char *to, size_t cap)
{
  size_t n = strcspn(inside, ":}"), which = (size_t) (*inside - '1');
  int decimals = inside[n] == ':' ? inside[n + 1] - '0' : -1;
  double x;
  bool known = which < r->parsed.n
    ? expression_value(&r->parsed.list[which].ours, v, &x, NULL)
    : run_values_find(v, inside, n, &x);
  if (known) put_number(to, cap, x, decimals);
  else snprintf(to, cap, "?");
}
void ledger_fill(const struct ledger_row *r, const struct run_values *v,
  const char *template, char *to, size_t cap)
{
  size_t n = 0;
  while (*template != '\0' && n + 1 < cap) {
    size_t braces = strcspn(template, "}");
    if (*template == '{' && template[braces] == '}') {
      put_braces(r, v, template + 1, to + n, cap - n);
      n += strlen(to + n);
      template += braces + 1;
    }
    else to[n++] = *template++;
  }
  to[n] = '\0';
}

@ A row without a template for ours shows the left side of its first test.

@<Judge a row@>=
void ledger_judge(const struct ledger_row *r, const struct run_values *v,
  struct judgement *j)
{
  struct error missing;
  const char *template = *r->ours != '\0' || r->parsed.n == 0 ? r->ours : "{1}";
  ledger_fill(r, v, template, j->ours, sizeof j->ours);
  j->verdict = rule_decide(&r->parsed, v, &missing);
  j->why.text[0] = '\0';
  j->as_stated = j->verdict == r->verdict;
  if (j->verdict == VERDICT_NOT_JUDGED)
    error_say(&j->why, "%s is not judged: %s", r->id, missing.text);
  else if (!j->as_stated) error_say(&j->why, "ledger/claims.tsv, row %s: the"@|
    " verdict is %s; by its rule and the run it is %s (ours: %s)",@| r->id,
    r->stated, verdict_name(j->verdict), j->ours);
}

@ @(ledger.h@>=
#ifndef INCIPIT_LEDGER_H
#define INCIPIT_LEDGER_H
#include "ledger/rules.h"
@<A row of the ledger@>@;
@<Open the ledger@>@;
#endif

@ @(ledger.c@>=
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ledger/ledger.h"
@;@#
@<Read a table@>@;
@<Check a row@>@;
@<Take the rows@>@;
@<Fill a template@>@;
@<Judge a row@>@;

@* The chapter's program. \label{sec:ledgerrun}
Without an argument the program judges the rows of the hand calculation, and three more that show what else can happen: a sentence that is true of one count and will be read as being about another, one that leaves its meaning open, and one whose key nobody printed.

@<Judge a few rows@>=
static const struct { const char *id, *rule; } worked[] = {
  { "S4-29", "says rows = 6225" }, { "S4-30", "says needed = 150" },@|
  { "S4-34", "says factor ~ 171" },@|
  { "S0-04", "true rows.1000 / rows.100 in 9..11 ;"@|
    " read pairs.1000 / pairs.100 in 9..11" },@|
  { "S0-13", "either drawn = 120 ; or kept = 120" },@|
  { "S9-01", "says walked < 1" }
};
static bool show_worked(struct memory *m, struct error *why)
{
  char printed[] = "rows 6225\nneeded 149\nfactor 171.2857\nrows.100 100\n"@|
    "rows.1000 1000\npairs.100 5050\npairs.1000 500500\n"@|
    "drawn 120\nkept 162\n";
  struct run_values v = { .n = 0 };
  bool ok = run_values_take(&v, m, printed, why);
  for (size_t i = 0; ok && i < sizeof worked / sizeof *worked; i++) {
    struct ledger_row r = { .id = worked[i].id, .rule = worked[i].rule,@|
      .ours = "", .stated = "" };
    struct judgement j;
    ok = rule_parse(r.rule, &r.parsed, why);
    if (!ok) break;
    ledger_judge(&r, &v, &j);
    printf("%s  ours %-8s  %s\n  %s\n", r.id, j.ours, verdict_name(j.verdict),
      r.rule);
  }
  run_values_free(&v, m);
  return ok;
}

@ With an argument it judges the whole ledger. What each program prints under \.{values} has been written to \.{build/values} when the book was built, and is read from there; so building the book judges all rows again, without running anything twice.

@<Read what the programs printed@>=
struct reckoning { struct memory m;@+ struct ledger l;@+ struct run_values v;
  struct rule_name { const char *at;@+ size_t n; } seen[40];
  size_t n_seen;@+ char *text[40]; };
  /* the ledger and all numbers; the programs whose numbers were taken, and the
     texts that they printed */
static bool take_program(struct reckoning *k, const char *name, size_t n,
  struct error *why)
{
  char path[200];
  struct mapping map;
  for (size_t i = 0; i < k->n_seen; i++)
    if (k->seen[i].n == n && strncmp(k->seen[i].at, name, n) == 0) return true;
  snprintf(path, sizeof path, "build/values/%.*s.val", (int) n, name);
  if (k->n_seen == 40 || !file_map(&map, path, why)) return false;
  char *text = memory_alloc(&k->m, MEMORY_OTHER, map.size + 1, 1, why);
  if (text != NULL && map.size > 0) memcpy(text, map.bytes, map.size);
  file_unmap(&map);
  k->seen[k->n_seen] = (struct rule_name) @[{ name, n }@];
  k->text[k->n_seen++] = text;
  return text != NULL && run_values_take(&k->v, &k->m, text, why);
}
static bool reckon(struct reckoning *k, struct error *why)
{
  bool ok = ledger_open(&k->l, &k->m, "ledger", why);
  for (size_t i = 0; ok && i < k->l.n; i++)
    for (const char *s = k->l.rows[i].run; ok && *s != '\0'; ) {
      size_t n = strcspn(s, " ");
      ok = take_program(k, s, n, why);
      s += n + strspn(s + n, " ");
    }
  return ok;
}
static void close_reckoning(struct reckoning *k)
{
  run_values_free(&k->v, &k->m);
  for (size_t i = 0; i < k->n_seen; i++) memory_free(&k->m, k->text[i]);
  ledger_close(&k->l);
}

@ Three forms: keys for the prose, a table of verdicts by source for the figure, and the judged rows for the pages. Keys count the verdicts of all sources and of each, and the kinds of our numbers. In a row of the pages, the reasons have their numbers filled in.

@<Print the judged ledger@>=
enum form { FORM_KEYS, FORM_TABLE, FORM_ROWS };
static void print_row(const struct ledger_row *r, const struct run_values *v,
  const struct judgement *j)
{
  const char *part[] = { r->quote, r->in_truth, r->as_read, r->why, r->command };
  char text[2000];
  printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", r->id, r->chapter, r->section, r->run,@|
    r->kind, verdict_name(j->verdict), r->claimed, j->ours);
  for (int i = 0; i < 5; i++) {
    if (i == 0) snprintf(text, sizeof text, "%s", part[i]);
    else ledger_fill(r, v, part[i], text, sizeof text);
    printf("\t%s", text);
  }
  printf("\n");
}
static void print_counts(const struct ledger *l, unsigned of[][N_VERDICTS],
  enum form form)
{
  if (form == FORM_TABLE) printf("source,verdict,rows\n");
  for (size_t s = 0; s <= l->n_sources; s++)
    for (int i = 0; i < N_VERDICTS; i++) {
      const char *source = s < l->n_sources ? l->sources[s].id : "all";
      printf(form == FORM_TABLE ? "%s,%s,%u\n" : "ledger.%s.%s %u\n", source,@|
        verdict_name((enum verdict) i), of[s][i]);
    }
}

@ A row that does not come out as stated is an error. All of them are named before the program gives up, and a book with one of them is not built.

@<Print the judged ledger@>=
static bool print_judged(struct reckoning *k, enum form form, struct error *why)
{
  unsigned of[12][N_VERDICTS] = @[{ { 0 } }@];
  size_t n = k->l.n_sources, wrong = 0, kinds[3] = { 0 };
  for (size_t i = 0; n < 11 && i < k->l.n; i++) {
    const struct ledger_row *r = &k->l.rows[i];
    struct judgement j;
    ledger_judge(r, &k->v, &j);
    if (!j.as_stated) wrong++, fprintf(stderr, "%s\n", j.why.text);
    for (size_t s = 0; s < n; s++)
      if (strncmp(r->id, k->l.sources[s].id, 2) == 0) of[s][j.verdict]++;
    of[n][j.verdict]++;
    kinds[0] += strcmp(r->kind, "counted") == 0;
    kinds[1] += strcmp(r->kind, "measured") == 0;
    kinds[2] += strcmp(r->kind, "computed") == 0;
    if (form == FORM_ROWS) print_row(r, &k->v, &j);
  }
  if (form != FORM_ROWS) print_counts(&k->l, of, form);
  if (form == FORM_KEYS) printf("ledger.rows %zu\nledger.counted %zu\n"
    "ledger.measured %zu\nledger.computed %zu\n",@| k->l.n, kinds[0], kinds[1], kinds[2]);
  return wrong == 0 || error_say(why, "%zu rows of the ledger do not come out"@|
    " as they say", wrong);
}

@ @c
#include <stdio.h>
#include <string.h>
#include "ledger/ledger.h"
@;@#
@<Judge a few rows@>@;
@<Read what the programs printed@>@;
@<Print the judged ledger@>@;
@#
int main(int argc, char **argv)
{
  static const char *const word[] = { "values", "verdicts", "judged" };
  static struct reckoning k;
  struct error why;
  bool ok;
  int form = 0;
  while (argc > 1 && form < 3 && strcmp(argv[1], word[form]) != 0) form++;
  if (argc < 2) ok = show_worked(&k.m, &why);
  else if (form == 3)
    ok = error_say(&why, "`%s'; wanted: values, verdicts or judged", argv[1]);
  else ok = reckon(&k, &why) && print_judged(&k, (enum form) form, &why);
  close_reckoning(&k);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
