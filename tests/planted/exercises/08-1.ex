==== check
# what is held after each byte of ononine, by the machine
engine <<'C'
#include <stdio.h>
#include "stopping/stops.h"
int main(void)
{
  struct memory m = {0}; struct error why; struct stops s; uint32_t state = 0;
  const struct stop_string list[] = {{(const unsigned char *) "onion", 5}, {(const unsigned char *) "nine", 4}};
  if (!stops_open(&s, &m, list, 2, &why)) return 1;
  for (const char *p = "ononin"; *p; p++) state = stops_step(&s, state, (unsigned char) *p), printf("%zu ", stops_hold(&s, state));
  return 0;
}
C
is $(run)
==== answer
1 2 1 2 3 3
==== wrong
1 2 0 1 2 3
==== skeleton
# six numbers
