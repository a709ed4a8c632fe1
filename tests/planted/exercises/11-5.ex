==== check
# tokens a second from the bytes of the weights
engine <<'C'
#include <stdio.h>
int main(void)
{
  printf("%.1f %.1f\n", 20e9 / (1.1e9 * 34 / 32), 20e9 / (1.1e9 * 18 / 32));
  return 0;
}
C
is $(run)
==== answer
17.1 32.3
==== wrong
18.2 36.4
==== skeleton
# tokens a second in q8_0, in q4_0
