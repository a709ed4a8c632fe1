==== check
# about: within ten percent, the bounds included; never off by one; and all other relations as before
planted
says_like_ours
==== test
#include "exercise.h"
#include "ledger/rules.h"
enum { SIZES = 150 };
static enum verdict judge(const char *rule, double k)
{
  struct memory m = { 0 }; struct error why = { "" }; struct run_values v = { 0 }; struct parsed_rule r;
  char text[60];
  snprintf(text, sizeof text, "k %.6f\n", k);
  if (!rule_parse(rule, &r, &why) || !run_values_take(&v, &m, text, &why)) return N_VERDICTS;
  enum verdict is = rule_decide(&r, &v, &why);
  run_values_free(&v, &m);
  return is;
}
static void test(unsigned size)
{
  static const char *const other[] = { "says k = %g", "says k ~ %g", "says k >= %g", "says k < %g", "says k in 1..%g" };
  static const double at[] = { 1, 0.9, 1.1, 0.899, 1.101, 0.5, 1.5, -1 };
  char rule[60];
  int number = 1 + (int) draw(60) * 5;
  double says = size % 7 == 0 ? -number : size % 7 == 1 ? number / 10.0 : number, k = size < 50 ? number + (int) draw(5) - 2 : says * at[draw(8)];
  enum verdict is = OF(VERDICT_WRONG, fabs(k - says) <= 0.1 * fabs(says) * (1 + 1e-9) ? VERDICT_HOLDS : VERDICT_WRONG);
  snprintf(rule, sizeof rule, size < 50 ? other[size % 5] : "says k about %g", says);
#ifndef OURS
  is = judge(rule, k);
#else
  if (size < 50) is = judge(rule, k);
#endif
  tell("%s, with k %.6f", rule, k), say("verdict: %s", is == N_VERDICTS ? "the rule is refused" : verdict_name(is));
}
==== answer
== tangled/ledger/rules.h
-  RELATION_AT_MOST, RELATION_AT_LEAST, RELATION_IN, N_RELATIONS };
+  RELATION_AT_MOST, RELATION_AT_LEAST, RELATION_IN, RELATION_NEAR, N_RELATIONS };
== unwoven/ledger/reading.c
-    ">=", "in" };
+    ">=", "in", "about" };
== tangled/ledger/rules.c
-  case RELATION_IN: holds = t->low <= ours && ours <= t->high; break;
+  case RELATION_IN: holds = t->low <= ours && ours <= t->high; break;
+  case RELATION_NEAR: holds = fabs(ours - theirs) <= 0.1 * fabs(theirs) * (1 + 1e-9); break;
==== wrong
== tangled/ledger/rules.h
-  RELATION_AT_MOST, RELATION_AT_LEAST, RELATION_IN, N_RELATIONS };
+  RELATION_AT_MOST, RELATION_AT_LEAST, RELATION_IN, RELATION_NEAR, N_RELATIONS };
== unwoven/ledger/reading.c
-    ">=", "in" };
+    ">=", "in", "about" };
== tangled/ledger/rules.c
-  case RELATION_IN: holds = t->low <= ours && ours <= t->high; break;
+  case RELATION_IN: holds = t->low <= ours && ours <= t->high; break;
+  case RELATION_NEAR: holds = fabs(ours - theirs) <= 0.1 * ours; break;
==== skeleton
# the relations: their names are in tangled/ledger/rules.h and unwoven/ledger/reading.c, what they mean is in tangled/ledger/rules.c.  Write == FILE, then - lines and + lines
