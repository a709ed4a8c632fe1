==== check
set -e
# about: within ten percent, the bounds included; never off by one; and all other relations as before
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include <stdio.h>
#include <string.h>
#include "ledger/rules.h"
static enum verdict judge(const char *rule, double k)
{
  struct memory m = {0}; struct error why = {""}; struct run_values v = {0}; struct parsed_rule r;
  char text[60];
  snprintf(text, sizeof text, "k %.6f\n", k);
  if (!rule_parse(rule, &r, &why)) { puts(why.text); return N_VERDICTS; }
  if (!run_values_take(&v, &m, text, &why)) return N_VERDICTS;
  enum verdict is = rule_decide(&r, &v, &why);
  run_values_free(&v, &m);
  return is;
}
int main(void)
{
  static const struct { const char *rule; double k; enum verdict is; } of[] = {
    {"says k about 100", 100, VERDICT_HOLDS}, {"says k about 100", 110, VERDICT_HOLDS}, {"says k about 100", 90, VERDICT_HOLDS},
    {"says k about 100", 110.1, VERDICT_WRONG}, {"says k about 100", 89.9, VERDICT_WRONG}, {"says k about 5", 4, VERDICT_WRONG},
    {"says k about 5", 6, VERDICT_WRONG}, {"says k about -100", -109, VERDICT_HOLDS}, {"says k about 0.3", 0.33, VERDICT_HOLDS},
    {"says k ~ 171", 171.2857, VERDICT_ROUNDED}, {"says k = 5", 4, VERDICT_OFF_BY_ONE}, {"says k in 3..5", 5, VERDICT_HOLDS},
    {"says k >= 5", 5, VERDICT_HOLDS}, {"says k < 5", 5, VERDICT_WRONG} };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (judge(of[i].rule, of[i].k) != of[i].is) { printf("%s with %g\n", of[i].rule, of[i].k); return 1; }
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/ledger/rules.h
-  RELATION_AT_MOST, RELATION_AT_LEAST, RELATION_IN, N_RELATIONS };
+  RELATION_AT_MOST, RELATION_AT_LEAST, RELATION_IN, RELATION_NEAR, N_RELATIONS };
== tangled/ledger/reading.c
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
== tangled/ledger/reading.c
-    ">=", "in" };
+    ">=", "in", "about" };
== tangled/ledger/rules.c
-  case RELATION_IN: holds = t->low <= ours && ours <= t->high; break;
+  case RELATION_IN: holds = t->low <= ours && ours <= t->high; break;
+  case RELATION_NEAR: holds = fabs(ours - theirs) <= 0.1 * ours; break;
==== skeleton
== tangled/ledger/reading.c
-    ">=", "in" };
+    ">=", "in" };
