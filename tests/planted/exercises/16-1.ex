==== check
# the rule decides for each whole number
engine <<'C'
#include <stdio.h>
#include "ledger/rules.h"
int main(void)
{
  int least = 0, most = 0;
  for (int k = 1; k < 100; k++) {
    struct memory m = {0}; struct error why; struct run_values v = {0}; struct parsed_rule r;
    char text[20];
    snprintf(text, sizeof text, "k %d\n", k);
    if (!rule_parse("says k ~ 5e1", &r, &why) || !run_values_take(&v, &m, text, &why)) return 1;
    enum verdict is = rule_decide(&r, &v, &why);
    if (is == VERDICT_HOLDS || is == VERDICT_ROUNDED) { if (least == 0) least = k; most = k; }
    run_values_free(&v, &m);
  }
  printf("%d %d\n", least, most);
  return 0;
}
C
is $(run)
==== answer
46 54
==== wrong
45 54
==== skeleton
# two numbers: the least, the greatest
