==== check
# bytes held after each of e2 82 41 f0 9f e2, fed one by one
engine <<'C'
#include <stdio.h>
#include "tokens/utf8.h"
int main(void)
{
  static const unsigned char byte[] = {0xe2, 0x82, 0x41, 0xf0, 0x9f, 0xe2};
  struct memory m = {0}; struct stream s = {.n = 0}; struct bytes out = {0};
  for (int i = 0; i < 6; i++) { stream_feed(&m, &s, byte + i, 1, &out, NULL); printf("%d%s", (int) s.n, i < 5 ? " " : "\n"); }
  return 0;
}
C
is $(run)
==== answer
1 2 0 1 2 1
==== wrong
1 2 3 1 2 3
==== skeleton
# six numbers, with blanks between
