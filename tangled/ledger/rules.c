/* rules.c -- made from chapters/16-ledger.w; change it there */

/* From a parsed rule and the values of a run to a verdict. Outcomes are ordered from
   exact to unknown, so the worst of several is the largest, and a verdict is looked
   up by it. A value that is missing decides nothing: it gives "not judged", never a
   verdict by default. Parsing is in reading.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ledger/rules.h"

/* <Compare ours with theirs> */

/* Relative, and with room for a few roundings: both sides may have been printed and
   read again. */
static bool equal_numbers(double a, double b)
{
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Is ours theirs, when it is printed with the digits that they give? printf rounds as
   a reader expects, and no formula with powers of ten does at the borders. */
static bool equal_rounded(double ours, double theirs, int digits)
{
  char text[64];
  snprintf(text, sizeof text, "%.*e", digits > 0 ? digits - 1 : 0, ours);
  return equal_numbers(strtod(text, NULL), theirs);
}

/* only of two whole numbers: 0.5 and 1.5 are simply different */
static bool off_by_one(double a, double b)
{
  return floor(a) == a && floor(b) == b && fabs(a - b) == 1;
}

/* From the strictest to the mildest: the first that holds is the outcome. An
   inequality either holds or does not; rounding and off by one are for equations. */
static enum outcome compare(const struct rule_test *t, double ours, double theirs)
{
  bool holds = false;
  switch (t->how) {
  case RELATION_LESS: holds = ours < theirs; break;
  case RELATION_MORE: holds = ours > theirs; break;
  case RELATION_AT_MOST: holds = ours <= theirs; break;
  case RELATION_AT_LEAST: holds = ours >= theirs; break;
  case RELATION_IN: holds = t->low <= ours && ours <= t->high; break;
  case RELATION_EQUAL: case RELATION_ABOUT:
    if (equal_numbers(ours, theirs)) return OUTCOME_EXACT;
    if (t->how == RELATION_ABOUT
      && equal_rounded(ours, theirs, t->theirs.first.digits)) return OUTCOME_ROUNDED;
    if (off_by_one(ours, theirs)) return OUTCOME_OFF_BY_ONE;
    break;
  case N_RELATIONS: break;
  }
  return holds ? OUTCOME_EXACT : OUTCOME_FALSE;
}

/* an interval has its two ends in the test and nothing on the right */
enum outcome test_outcome(const struct rule_test *t, const struct run_values *v,
  struct error *why)
{
  double ours, theirs = 0;
  if (!expression_value(&t->ours, v, &ours, why)) return OUTCOME_UNKNOWN;
  if (t->how != RELATION_IN && !expression_value(&t->theirs, v, &theirs, why))
    return OUTCOME_UNKNOWN;
  return compare(t, ours, theirs);
}

/* <Decide> */

/* in the order of enum outcome */
static enum verdict plain_verdict(enum outcome o)
{
  static const enum verdict of[] = { VERDICT_HOLDS, VERDICT_ROUNDED,
    VERDICT_OFF_BY_ONE, VERDICT_WRONG, VERDICT_NOT_JUDGED };
  return of[o];
}

/* A claim with two readings. Both true: the worse of the two. One true: ambiguous if
   the text leaves open which is meant, misleading if a reader will take the false
   one. */
static enum verdict verdict_of_two(enum outcome first, enum outcome second,
  bool open)
{
  bool one = first <= OUTCOME_ROUNDED, other = second <= OUTCOME_ROUNDED;
  if (one && other) return plain_verdict(first > second ? first : second);
  if (open && (one || other)) return VERDICT_AMBIGUOUS;
  return one ? VERDICT_MISLEADING : VERDICT_WRONG;
}

/* Each clause belongs to the first reading or to the second, and a reading is as good
   as its worst clause. The first clause says which kind of rule it is. */
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
