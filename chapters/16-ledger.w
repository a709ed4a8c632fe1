@i types.w
@s size_t int
@s operand int
@s relation int
@s clause int
@s verdict int
@s outcome int
@s take_line int
@s ledger int
@s judgement int
@s print_form int

\chapterquestion{I have read in a tutorial that the cache turns quadratic cost into linear cost. Is that right? And how could I find out?}
@** The ledger: what the tutorials say.
\incipit{F}{ive tutorials} made us write this book. They explain, to more readers than we shall ever have, how a language model writes; and between them they make \val{ledger.rows} statements that can be looked at one by one: a count, a formula, a size in bytes, a rule,
a promise that something stays the same. We took each of them down, with the whole sentence that it stands in, and asked the engine.

The result is a \emph{ledger} with one row for each statement. A row has the sentence, the number that it claims, the number that our run gives, a verdict, and a line that says why. No verdict is typed and left at that. A row also has the \emph{rule} by which a run decides;
a program applies the rule to what the laboratory prints, and if the result is not the verdict in the row, the book is not built. You can do the same: \texttt{incipit verify S1-11} runs the experiment for one row, and \texttt{incipit verify} runs all of them, in about half a minute.
@^ledger@>@^verdict@>@^tutorials@>@^claim@>

@ Why judge tutorials at all? Not to shame their authors, who gave their time away. A learner who meets two tutorials that contradict each other needs a third opinion. An author would like to know which sentence to change. And we learned more about generation from the sentences that turned out to be almost right
than from those that were right.

If you come with a sentence in hand, search this chapter for three words of it: the table in \cref{sec:ledgertable} has every sentence as its author printed it. The pages before it explain how a row is judged, say what the tutorials get right (\cref{sec:ledgerright}), and what their authors might change (\cref{sec:ledgerchange}).

\begin{byhand}{three rows judged}
The article S4 prints a table. Its first line says that after a prompt of 100 tokens, for 50 tokens written, the naive loop computes 6,225 rows, that 150 are needed, and that the factor between the two is 41.5; its second line has 171 for the factor.

\medskip
\begin{tabular}{@@{}llrl@@{}}
\tabhead{row} & \tabhead{rule} & \tabhead{our run} & \tabhead{verdict}\\
S4-29 & says \emph{rows} = 6225 & 6225 & holds\\
S4-30 & says \emph{needed} = 150 & 149 & off by one\\
S4-34 & says \emph{factor} \texttt{\textasciitilde} 171 & 171.2857 & holds, rounded
\end{tabular}
\medskip

For S4-29 the numbers are equal. S4-30 asks for equality as well, and $150-149=1$: two whole numbers that differ by exactly one get a verdict of their own, because that is a mistake of its own kind. S4-34 allows rounding to as many digits as the author printed: $171.2857$ rounded to three digits is $171$.
\end{byhand}

@* What became of the claims. \label{sec:ledgersum}
Of the \val{ledger.rows} statements \val{ledger.all.holds} hold as they stand and \val{ledger.all.holds-with-rounding} hold when our number is rounded to the digits that the author printed: \cref{fig:verdicts} and \cref{tab:verdicts}. \val{ledger.all.off-by-one} are off by one, nearly all of them about the same thing, the one row that the cache has not got yet. Of the rest, most are not wrong but \emph{misleading}: true in one sense, and likely to be read in another. Only \val[word]{ledger.all.wrong} are simply wrong.

\fig{verdicts}{fig:verdicts}{What became of the claims, by source. The table at the end of the chapter has every one of them.}{Five horizontal bars, one for each tutorial, divided by verdict. In each of them the largest part holds; the second largest is misleading in S1, S2 and S3, and off by one in S4.}

\begin{table}
\tabcaption{tab:verdicts}{Verdicts by source.}
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrrrrrrrr@@{}}
& \tabhead{holds} & \tabhead{rounded} & \tabhead{$\pm1$} & \tabhead{ambig.} & \tabhead{mislead.} & \tabhead{wrong} & \tabhead{untested} & \tabhead{to come}\\\midrule
S0 & \val{ledger.S0.holds} & \val{ledger.S0.holds-with-rounding} & \val{ledger.S0.off-by-one} & \val{ledger.S0.ambiguous} & \val{ledger.S0.misleading} & \val{ledger.S0.wrong} & \val{ledger.S0.not-testable-here} & \val{ledger.S0.to-come}\\
S1 & \val{ledger.S1.holds} & \val{ledger.S1.holds-with-rounding} & \val{ledger.S1.off-by-one} & \val{ledger.S1.ambiguous} & \val{ledger.S1.misleading} & \val{ledger.S1.wrong} & \val{ledger.S1.not-testable-here} & \val{ledger.S1.to-come}\\
S2 & \val{ledger.S2.holds} & \val{ledger.S2.holds-with-rounding} & \val{ledger.S2.off-by-one} & \val{ledger.S2.ambiguous} & \val{ledger.S2.misleading} & \val{ledger.S2.wrong} & \val{ledger.S2.not-testable-here} & \val{ledger.S2.to-come}\\
S3 & \val{ledger.S3.holds} & \val{ledger.S3.holds-with-rounding} & \val{ledger.S3.off-by-one} & \val{ledger.S3.ambiguous} & \val{ledger.S3.misleading} & \val{ledger.S3.wrong} & \val{ledger.S3.not-testable-here} & \val{ledger.S3.to-come}\\
S4 & \val{ledger.S4.holds} & \val{ledger.S4.holds-with-rounding} & \val{ledger.S4.off-by-one} & \val{ledger.S4.ambiguous} & \val{ledger.S4.misleading} & \val{ledger.S4.wrong} & \val{ledger.S4.not-testable-here} & \val{ledger.S4.to-come}\\
all & \val{ledger.all.holds} & \val{ledger.all.holds-with-rounding} & \val{ledger.all.off-by-one} & \val{ledger.all.ambiguous} & \val{ledger.all.misleading} & \val{ledger.all.wrong} & \val{ledger.all.not-testable-here} & \val{ledger.all.to-come}
\end{tabular*}
\end{table}

@ Our side of a row is one of three kinds, and the row says which. In \val{ledger.counted} rows it is \emph{counted}: a program ran the engine and counted rows, pairs, bytes, tokens that are the same, cases in which a property held. In \val{ledger.measured} it is \emph{measured}: a clock or many random draws, on a machine that the file of measurements names; on yours it will be another number, and the rules ask only for what should hold on both.
In \val{ledger.computed} it is \emph{computed}, from the settings of a published model or the data sheet of an accelerator, by a formula that a chapter derives.

What a run cannot decide stays open. Statements about all models, about what most people use, or about what reads well are in the table with the verdict \emph{not tested here} and the reason; we may have an opinion, and the ledger does not record it. The statements about quantization, batching and speculation wait for the chapters that will build these things. They say so, and nothing else.

@* A rule and its tests. \label{sec:ledgerrules}
A laboratory program prints lines, each a \emph{key} and a number, such as \texttt{loop.naive.3.4 18}. A \emph{test} compares what keys give with what a sentence says:

\medskip
\begin{tabular}{@@{}ll@@{}}
\emph{test} & \emph{expression} \emph{relation} \emph{expression}\\
\emph{expression} & \emph{operand}, or \emph{operand} \emph{operator} \emph{operand}\\
\emph{operand} & a key, or a number\\
\emph{operator} & \texttt{+} \texttt{-} \texttt{*} \texttt{/}\\
\emph{relation} & \texttt{=} \texttt{\textasciitilde} \texttt{\char60} \texttt{\char62} \texttt{\char60=} \texttt{\char62=} \texttt{in}
\end{tabular}
\medskip

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

@ A rule in parsed form. It points into the text that it was read from. The digits of a number are remembered as well, because ``as many digits as the author printed'' is a property of the way it is written: 171 has three, and \.{5e1} has one.

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

@* A row of the ledger. \label{sec:ledgerfile}
The rows are in a text file, \.{ledger/claims.tsv}, one line each with tabs between the fields, so that they can be searched with \texttt{grep} and compared line by line when they change.
A row has its id, as S4-30; the chapter and the section that decide it; the programs whose keys the rule names; whether our number is counted, measured or computed; the verdict; the number claimed; a pattern for ours, in which \texttt{\char123 1\char125} stands for the left side of the first test; the rule; the sentence whole; for a judgement the two senses; one line that says why; and a command that shows it.

The reader of this file, \.{program/ledger\_table.c}, is ordinary C and not printed here. It believes little. The number claimed has to stand in the sentence, and it has to be a number of the rule: an author of this book who ``corrects'' one of them is told the row and the field. Ours may have no digit outside of its braces, so no result is ever typed. A judgement without both of its senses is refused, and so is a row without a reason, or with programs that its rule does not need. And where a copy of the five texts is at hand, a test looks for every quotation in them, letter by letter.

Last, the verdict that the rule gave is compared with the one in the row. This is the only use of the typed verdict: to be contradicted.

@* The chapter's program. \label{sec:ledgerrun}
Without an argument the program judges the rows of the hand calculation, and three more that show what else can happen: a sentence that is true of one count and will be read as being about another, one that leaves its meaning open, and one whose key no program printed.

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
  struct run_values v = @[{ .n = 0 }@];
  bool ok = run_values_take(&v, m, printed, why);
  for (size_t i = 0; ok && i < sizeof worked / sizeof *worked; i++) {
    struct parsed_rule r;
    struct error missing;
    double x = 0;
    ok = rule_parse(worked[i].rule, &r, why);
    if (!ok) break;
    enum verdict is = rule_decide(&r, &v, &missing);
    if (is != VERDICT_NOT_JUDGED) expression_value(&r.list[0].ours, &v, &x, why);
    printf("%s  ours %-8.7g  %s\n  %s\n", worked[i].id, x, verdict_name(is),
      is != VERDICT_NOT_JUDGED ? worked[i].rule : missing.text);
  }
  run_values_free(&v, m);
  return ok;
}

@ @c
#include <stdio.h>
#include "ledger/rules.h"
@;@#
@<Judge a few rows@>@;
@#
int main(void)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct error why;
  bool ok = show_worked(&m, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ This is what it prints.

\widecheckpoint{build/out/ledger.txt}{six rows judged}

@* What the tutorials get right. \label{sec:ledgerright}
A list of corrections gives a false picture, so first the other list. The five tutorials agree on a great deal, and what they agree on is the skeleton of this book. Each sentence that follows is one of theirs in other words, and each was run.

The loop is as they describe it: a pass, a choice, one token appended, and around again (S0-23, S4-02). A text of $n$ tokens takes $n$ passes (S0-21, S1-37), ends with an end token or at a length (S1-05, S2-09), and each token depends on all tokens before it (S1-35, S3-04): change one, and all \val{prop.earlier.changed} rows after it change. Greedy decoding writes the same text every time (S1-27, S2-08).

All five have the one fact on which everything in Part II rests, that keys and values of a position never change when the text grows (S2-40, S4-20), and S4 gives the reason, step by step, better than we do: the embedding depends on the token and its place, the mask keeps later positions out, and so it goes through all layers (S4-15 to S4-20). We compared \val{prop.later.rows} rows; all were the same to the last bit.

The arithmetic is mostly right, and that is rarer than it sounds. S4's total for the naive loop, $gp+g(g-1)/2$, is what our counters say in every line of its table (S4-22, S4-29, S4-32, S4-35, S4-38). S0's and S2's bytes of a cache are exact for the model they name (S0-42, S2-91), and S1's formula has the grouped heads in it (S1-25). S0 corrects its own opening further down: with the cache each step is linear and the sum is quadratic (S0-54, S0-61), in words we could not improve.

On sampling and stopping there is little to add. Temperature, top-k, nucleus (S1-29, S1-31, S1-32, S3-24, S3-25), the danger of loops (S1-28, S3-23), the spread between one sample and many (S3-48), stop strings that arrive in pieces (S3-42), a text cut in the middle of its sentence (S3-41): all of it held when it was run.

@* What to change. \label{sec:ledgerchange}
These are five letters. We would send them if we had all the addresses; if you have one, use them. Each names a few sentences, in the order of how much a reader would gain, and says what could stand in their place.

\medskip\noindent\emph{To the author of S0, ``Autoregressive generation: how an LLM writes one token at a time''.} Your section on why inference gets slower is the best short account that we know, and it contradicts your opening. ``Without it, inference cost scales quadratically with sequence length instead of linearly'' (S0-04) could say: \emph{without it the work on keys and values is quadratic in the length instead of linear, and attention cubic instead of quadratic}. ``That makes each step O(T)'' (S0-36) is true of the rows; with attention in the deeper layers it is $O(T^2)$,
as your FAQ says. In the demo, the cache of the newest token fills one step later than you draw it (S0-11, S0-31, S0-32), and the write head looks from the last token and not from the empty slot (S0-09). COMPUTE needs a unit: no single one gives both 120 and more than 2400 (S0-13). One sentence has its two modes interchanged (S0-20), and a model of 32 layers and 4096 dimensions is what people call a 7B, not frontier scale (S0-41).

\medskip\noindent\emph{To the author of S1, the course note on autoregressive generation.} In the list of the decode phase the new token's key and value are appended after it has attended; they must come first, because it attends to itself (S1-13). ``A 1000-token prompt is processed in roughly the same wall-clock time as a 100-token prompt'' (S1-11) is true as long as both are below the ridge point of the machine, which is \val[0]{phases.balance.H100} rows on an H100; the bound for your two prompts differs by a factor of \val[1]{phases.earliest.ratio}.
A nucleus \emph{reaches} its share and need not exceed it (S1-30). A response of 500 tokens takes as many passes, but not as many times as long as its first token, which has to wait for the prompt (S1-42). And the 500,500 positions that you set against 1000 (S1-57) are rows: of \val{claim.S2-36} pairs in attention the cache leaves \val{claim.S0-61}.

\medskip\noindent\emph{To the author of S2, ``Autoregressive Generation'' in the Language AI Handbook.} Your chapter has the most statements of the five and the largest number that hold. Four things recur in the others. The tenth token is predicted from the hidden state at position 9 (S2-30); position 10 contains the answer. Generation is sequential because a token that has not been chosen cannot be read, not because of the mask (S2-29): what the mask gives is that rows stay as they are. The bias of the head is \emph{context}-independent (S2-24);
one that is the same for all tokens changes nothing. And ``from quadratic to linear'' (S2-03, S2-94) holds for rows; pairs go from cubic to quadratic. The product of heads and head size is the model's width only where every query head has its own keys (S2-57). The counts of attention operations for 1000 and 100 tokens (S2-37, S2-38) are right as a proportion and twice too large as counts: your own sum has \val{claim.S2-37} and \val{claim.S2-38}.

\medskip\noindent\emph{To the author of S3, ``How AI Text Generation Actually Works''.} One sentence should go: ``With KV caching, it's O(n)'' (S3-12). Each step is linear, and their sum is quadratic. Of the cache ``for a model like GPT-4'' (S3-13): with 128 heads of keys it would be \val[0]{claim.S3-13} GiB; tens of gigabytes are what eight heads take, so name those. Token 500 is the newest when token 501 is written, and its key and value are computed in that step (S3-08). Generation stops when the end token is \emph{selected} (S3-39); it usually is when its probability is high,
but a draw can pass it by. ``Each token is committed the moment it's generated'' (S3-06) is true of sampling and not of the beam search that you describe two sections later.

\medskip\noindent\emph{To the author of S4, ``The Autoregressive Loop and the Redundancy Problem''.} Your drawing of the redundancy is why this book counts rows at all. It counts six necessary cells, and so should the formula: $p+g-1$ and not $p+g$, since the last token is never fed back (S4-27; likewise \val{claim.S4-30}, \val{claim.S4-33}, \val{claim.S4-36} and \val{claim.S4-39} in the table). Five of the six results are worth storing, not six (S4-14). ``3rd time'' counts computations, so it is the second recomputation (S4-08). The ratio in your text has $g^2/2$ where the table uses $g(g-1)/2$ (S4-28); the table is right.
Layers and heads multiply the naive count and the necessary one alike, so they do not multiply the waste factor (S4-48). The factor grows in proportion to $g$, not with its square, and cannot exceed $g$ (S4-53, S4-58). And in your own table twice the tokens cost \val[1]{claim.S4-43} times the work, since the prompts are long (S4-43): four times is the limit for short ones.

@* The table. \label{sec:ledgertable}
For each source its title, where it can be found as far as we know, and its first words, by which it can be searched for. Then its claims, in the order of its text. A row has the mark of the verdict and the id; the sentence whole, or the note that it is the one before; \emph{theirs}, a bar, \emph{ours} in red and how it was found; why; and for a judgement both senses. Then follow the section of this book, or of the laboratory, that shows it, and often a command to type.
Where a symbol or a formula is missing in a quotation, it is missing in the copy of the source that we have: its pages set formulas as pictures or scripts.

\begin{trivlist}\item[]\small
\verdict{holds}\quad \verdict{rounded}\quad \verdict{offbyone}\quad \verdict{ambiguous}\quad \verdict{misleading}\\[2pt] \verdict{wrong}\quad \verdict{untested}\quad \verdict{tocome}
\end{trivlist}

@ \ledgersource{S0}
\ledgerrows{S0}

@ \ledgersource{S1}
\ledgerrows{S1}

@ \ledgersource{S2}
\ledgerrows{S2}

@ \ledgersource{S3}
\ledgerrows{S3}

@ \ledgersource{S4}
\ledgerrows{S4}

@* What a ledger cannot do. \label{sec:ledgerlimits}
A verdict is only as good as its rule, and a rule is written by people. We have tried to judge sentences and not fragments, with the qualifications that their authors gave them and on the hardware that they name first; where we failed, the table has everything that is needed to say so: the sentence, the rule, the run. Two kinds of mistakes no program finds. A rule may test something that the sentence does not say; and what a careless reader will take from a sentence (the word \emph{read} in a judgement) is a guess about people.

Nor is a run a proof. That keys do not change was compared in \val{prop.later.rows} rows of one model and follows from the definition of a pass; that five beams find the likeliest text in nearly all of \val{forest.models} random models says little about others. And the bibliography of a tutorial, a claim as good as any (S1-62), is checked with a library card.

@* Exercises. \label{sec:ledgerexercises}
Each names the command that checks an answer by the rules of this chapter.

\begin{exercises}
\exercise{check}{ex:ledger.digits}{For which whole numbers does the test \texttt{says k \textasciitilde{} 5e1} not fail? Of those below 100, give the least and the greatest.}{\texttt{make exercise-16-1}}{46 and 54. One digit is left. 45 and 55 lie halfway between two results, and of these the one with the even digit wins: 4e1 and 6e1.}
\exercise{check}{ex:ledger.worst}{A rule says \texttt{says a = 10 ; says b \textasciitilde{} 3}. The run prints 11 for \emph{a} and 3.2 for \emph{b}. Which verdict?}{\texttt{make exercise-16-2}}{Off by one: \emph{a} differs by one and \emph{b} holds after rounding, and of several outcomes the worst decides.}
\exercise{think}{ex:ledger.judge}{A tutorial says: ``With a cache, generating twice as many tokens takes twice the work.'' Write a rule that calls it misleading, with the keys \texttt{rows.100} and \texttt{rows.1000}, \texttt{pairs.100} and \texttt{pairs.1000}. It must not call a sentence misleading whose cost is linear in both.}{\texttt{make exercise-16-3}}{The rule \texttt{true rows.1000 / rows.100 in 9..11 ;} and on the same line \texttt{read pairs.1000 / pairs.100 in 9..11}: ten times the tokens, ten times the rows, but many more pairs.}
\exercise{build}{ex:ledger.percent}{Many sentences say ``about''. Add a relation \texttt{about} that holds if ours is within ten percent of theirs, the bounds included, and never gives the verdict off by one.}{\texttt{make exercise-16-4}}{A name more in the list of relations and one in the |enum|, and a case in |compare|: |holds = fabs(ours - theirs) <= 0.1 * fabs(theirs) * (1 + 1e-9)|.}
\end{exercises}
