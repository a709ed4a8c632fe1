/* the program -- made from chapters/16-ledger.w; change it there */

#include <stdio.h>
#include "ledger/rules.h"

/* <Judge a few rows> */
static const struct { const char *id, *rule; } worked[] = {
  { "S4-29", "says rows = 6225" }, { "S4-30", "says needed = 150" },
  { "S4-40", "says factor ~ 833" },
  { "S0-04", "true rows.1000 / rows.100 in 9..11 ; read pairs.1000 / pairs.100 in 9..11" },
  { "S0-13", "either drawn = 120 ; or kept = 120" },
  { "S9-01", "says walked < 1" }
};
static bool show_worked(struct memory *m, struct error *why)
{
  char printed[] = "rows 6225\n" "needed 149\n" "factor 833.4445\n"
    "rows.100 100\n" "rows.1000 1000\n" "pairs.100 5050\n"
    "pairs.1000 500500\n" "drawn 120\n" "kept 162\n";
  struct run_values v = { .n = 0 };
  bool ok = run_values_take(&v, m, printed, why);
  for (size_t i = 0; ok && i < sizeof worked / sizeof *worked; i++) {
    struct parsed_rule r;
    ok = rule_parse(worked[i].rule, &r, why);
    if (ok) {
      struct error missing;
      double x = 0;
      enum verdict is = rule_decide(&r, &v, &missing);
      if (is != VERDICT_NOT_JUDGED) expression_value(&r.list[0].ours, &v, &x, why);
      printf("%s  ours %-8.7g  %s\n  %s\n", worked[i].id, x, verdict_name(is),
        is != VERDICT_NOT_JUDGED ? worked[i].rule : missing.text);
    }
  }
  run_values_free(&v, m);
  return ok;
}

int main(void)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  bool ok = show_worked(&m, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
