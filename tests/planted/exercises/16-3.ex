==== check
# the rule judges three worlds: rows linear and pairs quadratic; both linear; both quadratic
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "ledger/rules.h"
static enum verdict judge(const char *rule, const char *printed)
{
  struct memory m = {0}; struct error why = {""}; struct run_values v = {0}; struct parsed_rule r;
  char text[200];
  strcpy(text, printed);
  if (!rule_parse(rule, &r, &why)) { puts(why.text); return VERDICT_NOT_JUDGED; }
  if (!run_values_take(&v, &m, text, &why)) return VERDICT_NOT_JUDGED;
  enum verdict is = rule_decide(&r, &v, &why);
  run_values_free(&v, &m);
  return is;
}
int main(int argc, char **argv)
{
  char rule[1000] = "", line[1000];
  FILE *f = fopen(argv[1], "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    if (line[0] != '#' && line[0] != '\n' && rule[0] == '\0') line[strcspn(line, "\n")] = '\0', strcpy(rule, line);
  if (judge(rule, "rows.100 100\nrows.1000 1000\npairs.100 5050\npairs.1000 500500\n") != VERDICT_MISLEADING)
    { puts("with a cache it is not called misleading"); return 1; }
  enum verdict linear = judge(rule, "rows.100 100\nrows.1000 1000\npairs.100 5050\npairs.1000 50500\n");
  if (linear != VERDICT_HOLDS && linear != VERDICT_ROUNDED) { puts("a cost that is linear in both does not hold"); return 1; }
  if (judge(rule, "rows.100 5050\nrows.1000 500500\npairs.100 5050\npairs.1000 500500\n") != VERDICT_WRONG)
    { puts("a cost that is quadratic in both is not wrong"); return 1; }
  return 0;
}
C
run "$answer"
==== answer
true rows.1000 / rows.100 in 9..11 ; read pairs.1000 / pairs.100 in 9..11
==== wrong
true pairs.1000 / pairs.100 in 90..110 ; read rows.1000 / rows.100 in 90..110
==== skeleton
# one line: the rule
