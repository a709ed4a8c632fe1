==== check
# the laugh without a!, asked of the machine
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "constraints/constraint.h"
int main(void)
{
  static const char *const spelt[] = { "h", "a", "!", "ha", "ah", "haha" };
  struct memory m = { .fail_at = 0 };
  struct token_bytes p[6];
  for (int i = 0; i < 6; i++) p[i] = (struct token_bytes) { (const unsigned char *) spelt[i], strlen(spelt[i]) };
  struct lexicon *l = lexicon_open(&m, p, NULL, 6, NULL);
  struct constraint *c = constraint_regex(&m, "(ha)+!", 6, NULL);
  uint32_t s[4];
  size_t n;
  uint8_t allowed[6];
  bool accepts;
  constraint_bind(c, l, false, NULL);
  s[0] = constraint_start(c);
  constraint_step(c, s[0], 0, &s[1], NULL), constraint_step(c, s[1], 1, &s[2], NULL), constraint_step(c, s[2], 2, &s[3], NULL);
  for (int i = 0; i < 4; i++) constraint_minimum(c, s[i], &n, NULL), printf("%zu%c", n, i < 3 ? ' ' : '\n');
  constraint_mask(c, s[1], 2, allowed, &accepts, NULL);
  for (int i = 0, k = 0; i < 6; i++) if (allowed[i]) printf("%s%s", k++ ? " " : "", spelt[i]);
  printf("\n");
  constraint_free(c), lexicon_close(l);
}
C
is $(run)
==== answer
2 2 1 0
a
==== wrong
2 2 1 0
a ah
==== skeleton
# the last column from state 0 to 3, and in a second line the pieces that may come in state 1
