==== check
# both templates, printed
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "templates/jinja.h"
int main(void)
{
  static const char source[] = "{% set n = 1 %}{% for x in [1, 2, 3] %}{% set n = n * x %}{{ n }}{% endfor %}{{ n }} "
    "{% set ns = namespace(n=1) %}{% for x in [1, 2, 3] %}{% set ns.n = ns.n * x %}{{ ns.n }}{% endfor %}{{ ns.n }}";
  struct memory m = { .fail_at = 0 };
  struct jinja_answer a;
  struct jinja_request q = { .messages = json_pack("[{}]") };
  if (!jinja_render(&m, source, sizeof source - 1, &q, &a, NULL)) return 1;
  printf("%.*s\n", (int) a.text.n, (char *) a.text.byte);
}
C
is $(run)
==== answer
# what is printed without a namespace, and with one, with a blank between
1231 1266
==== wrong
# what is printed without a namespace, and with one, with a blank between
1266 1266
==== skeleton
# what is printed without a namespace, and with one, with a blank between
