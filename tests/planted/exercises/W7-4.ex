==== check
# the three lines, printed
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "templates/jinja.h"
int main(void)
{
  static const char source[] = "{{ 10 - 2 ** 2 ** 2 }} {{ 2 ~ 3 * 4 }} {{ 2 + 3 is odd }}";
  struct memory m = { .fail_at = 0 };
  struct jinja_answer a;
  struct jinja_request q = { .messages = json_pack("[{}]") };
  if (!jinja_render(&m, source, sizeof source - 1, &q, &a, NULL)) return 1;
  printf("%.*s\n", (int) a.text.n, (char *) a.text.byte);
}
C
is $(run)
==== answer
# what the three lines print, with a blank between
-6 212 3
==== wrong
# what the three lines print, with a blank between
-246 212 3
==== skeleton
# what the three lines print, with a blank between
