==== check
# the rule of the exercise, and the numbers of its run
engine <<'C'
#include <stdio.h>
#include "ledger/rules.h"
int main(void)
{
  struct memory m = {0}; struct error why; struct run_values v = {0}; struct parsed_rule r;
  char text[] = "a 11\nb 3.2\n";
  if (!rule_parse("says a = 10 ; says b ~ 3", &r, &why) || !run_values_take(&v, &m, text, &why)) return 1;
  puts(verdict_name(rule_decide(&r, &v, &why)));
  run_values_free(&v, &m);
  return 0;
}
C
is $(run | tr - ' ')
==== answer
off by one
==== wrong
holds, rounded
==== skeleton
# one of: holds, holds with rounding, off by one, misleading, ambiguous, wrong
