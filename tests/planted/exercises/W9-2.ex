==== check
# the states that texts of a and b come to, counted
engine <<'C'
#include <stdio.h>
#include "constraints/constraint.h"
int main(void)
{
  static const int k[] = { 1, 2, 3, 10 };
  struct memory m = { .fail_at = 0 };
  struct token_bytes p[] = { { (const unsigned char *) "a", 1 }, { (const unsigned char *) "b", 1 } };
  struct lexicon *l = lexicon_open(&m, p, NULL, 2, NULL);
  for (int i = 0; i < 4; i++) {
    char t[40];
    static uint32_t seen[1 << 14];
    size_t n = 0;
    struct constraint *c = constraint_regex(&m, t, (size_t) snprintf(t, sizeof t, "(a|b)*a(a|b){%d}", k[i]), NULL);
    constraint_bind(c, l, false, NULL);
    seen[n++] = constraint_start(c);
    for (size_t at = 0; at < n; at++)
      for (uint32_t id = 0; id < 2; id++) {
        uint32_t next;
        size_t j = 0;
        constraint_step(c, seen[at], id, &next, NULL);
        while (j < n && seen[j] != next) j++;
        if (j == n) seen[n++] = next;
      }
    printf("%zu%c", n, i < 3 ? ' ' : '\n');
    constraint_free(c);
  }
  lexicon_close(l);
}
C
is $(run)
==== answer
4 8 16 2048
==== wrong
3 4 5 12
==== skeleton
# four numbers of states, for k = 1, 2, 3, 10
