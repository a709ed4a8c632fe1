==== check
# euro signs that are left of a message of 200, from error_say itself
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "ground/ground.h"
int main(void)
{
  char long_one[601] = "";
  struct error why;
  for (int i = 0; i < 200; i++) strcat(long_one, "\xe2\x82\xac");
  error_say(&why, "%s", long_one);
  printf("%d\n", (int) strlen(why.text) / 3);
}
C
is $(run)
==== answer
132
==== wrong
133
==== skeleton
# one integer, characters
