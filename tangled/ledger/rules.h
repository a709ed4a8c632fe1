/* rules.h -- made from chapters/16-ledger.w; change it there */

#ifndef INCIPIT_LEDGER_RULES_H
#define INCIPIT_LEDGER_RULES_H
#include "ledger/values.h"

/* <What may become of a sentence> */

/* what a rule and a run may come to */
enum verdict { VERDICT_NOT_JUDGED, VERDICT_HOLDS, VERDICT_ROUNDED,
  VERDICT_OFF_BY_ONE, VERDICT_MISLEADING, VERDICT_AMBIGUOUS, VERDICT_WRONG,
  VERDICT_NOT_TESTABLE, VERDICT_TO_COME, N_VERDICTS };

/* "holds", "off-by-one", ... */
const char *verdict_name(enum verdict which);

/* the verdict of that name; false if there is none */
bool verdict_find(const char *name, enum verdict *which);

/* <A rule> */

/* tests that a rule may have */
enum { RULE_MAX_TESTS = 6 };

/* what a test means for its sentence */
enum clause { CLAUSE_SAYS, CLAUSE_TRUE, CLAUSE_READ, CLAUSE_EITHER, CLAUSE_OR,
  N_CLAUSES };

/* how ours and theirs are compared */
enum relation { RELATION_EQUAL, RELATION_ABOUT, RELATION_LESS, RELATION_MORE,
  RELATION_AT_MOST, RELATION_AT_LEAST, RELATION_IN, N_RELATIONS };

/* a key of n bytes or, if n is 0, the number x, written with so many digits */
struct operand { const char *key; size_t n; double x; int digits; };

/* two operands and the sign between them, or the first alone, and no sign */
struct expression { struct operand first, second; char sign; };

/* a test; theirs is the range if how is RELATION_IN */
struct rule_test { enum clause meaning; struct expression ours, theirs;
  enum relation how; double low, high; };

/* a rule: tests, or no test and one of the two flags */
struct parsed_rule { struct rule_test list[RULE_MAX_TESTS]; size_t n;
  bool none, to_come; };

/* borrows text; on failure a sentence that quotes what is wrong */
bool rule_parse(const char *text, struct parsed_rule *r, struct error *why);

/* <What a rule decides> */

/* how a test came out, from good to bad */
enum outcome { OUTCOME_EXACT, OUTCOME_ROUNDED, OUTCOME_OFF_BY_ONE, OUTCOME_FALSE,
  OUTCOME_UNKNOWN };

/* its value; false and a sentence that names the key that was not printed, or a
   division by zero */
bool expression_value(const struct expression *e, const struct run_values *v,
  double *x, struct error *why);

/* why is written if it is unknown */
enum outcome test_outcome(const struct rule_test *t, const struct run_values *v,
  struct error *why);

/* the verdict; why is written if the row is not judged */
enum verdict rule_decide(const struct parsed_rule *r, const struct run_values *v,
  struct error *why);
#endif
