==== check
set -e
# the rule of the exercise, and the numbers of its run
cat > $BUILD/ex.c <<"C"
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
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
[ "$(echo $(grep -v "^#" "$1") | tr ' A-Z' '-a-z')" = "$($BUILD/ex)" ]
==== answer
off by one
==== wrong
holds, rounded
==== skeleton
# one of: holds, holds with rounding, off by one, misleading, ambiguous, wrong
