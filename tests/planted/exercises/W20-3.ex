==== check
# the text of the box, and the same text without the cache from its first step on
engine <<'C'
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "living/living.h"
static uint64_t rows(bool all)
{
  static struct living g;
  static const char on[] = "{\"prompt\":\"Once upon a time\",\"cache\":true}", off[] = "{\"cache\":false}";
  memset(&g, 0, sizeof g);
  if (!living_material(&g) || !living_begin(&g) || !living_set(&g, on, strlen(on))) return 0;
  for (int i = 0; i < 8; i++) {
    if ((all || i == 5) && !living_set(&g, off, strlen(off))) return 0;
    if (!living_next(&g, NULL)) return 0;
  }
  return living_base(&g, g.now).rows;
}
int main(void)
{
  uint64_t box = rows(false), none = rows(true);
  printf("%" PRIu64 " %" PRIu64 "\n", box, none);
  return 0;
}
C
is $(run)
==== answer
38 60
==== wrong
38 52
==== skeleton
# rows of the box, and rows without the cache
