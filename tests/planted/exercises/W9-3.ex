==== check
# a grammar of sums, held against sums and others
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "constraints/constraint.h"
int main(int argc, char **argv)
{
  static const char *const good[] = { "7", "0", "1+(20-3)", "((4))-5+6", "10-0+(1-(2+(3)))", "100" };
  static const char *const bad[] = { "", "+1", "1+", "()", "(1", "1)", "01", "1++2", "1 + 2", "(1)(2)", "1+-2", "(1+)2", "1+00" };
  struct memory m = { .fail_at = 0 };
  struct error why;
  char text[10000];
  FILE *f = fopen(argv[1], "rb");
  struct constraint *c = constraint_grammar(&m, "your grammar", text, fread(text, 1, sizeof text, f), &why);
  if (c == NULL) return printf("%s\n", why.text), 1;
  for (size_t i = 0; i < sizeof good / sizeof *good + sizeof bad / sizeof *bad; i++) {
    bool want = i < sizeof good / sizeof *good, yes;
    const char *t = want ? good[i] : bad[i - sizeof good / sizeof *good];
    if (!constraint_matches(c, t, strlen(t), &yes, &why) || yes != want) return printf("\"%s\" is %sa sum\n", t, want ? "" : "not "), 1;
  }
  return 0;
}
C
run "$answer"
==== answer
root ::= term ([-+] term)*
term ::= number | "(" root ")"
number ::= "0" | [1-9] [0-9]*
==== wrong
root ::= root [-+] term | term
term ::= number | "(" root ")"
number ::= "0" | [1-9] [0-9]*
==== skeleton
# root ::=
