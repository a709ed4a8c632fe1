==== check
# how many bits are enough is tried with all numbers of fourteen bits that are rounded to five, with 0, 1, 2, ... bits more in between
engine <<'C'
#include <stdio.h>
static unsigned width(unsigned x) { unsigned n = 0; for (; x > 0; x /= 2) n++; return n; }
static unsigned odd(unsigned x, unsigned to)
{
  unsigned away = width(x) > to ? width(x) - to : 0, kept = x >> away << away;
  return kept != x ? kept | 1u << away : x;
}
static unsigned nearest(unsigned x, unsigned to)
{
  unsigned away = width(x) > to ? width(x) - to : 0, unit = 1u << away, rest = x % unit, kept = x - rest;
  if (2 * rest > unit || (2 * rest == unit && kept / unit % 2 != 0)) kept += unit;
  return kept;
}
int main(void)
{
  for (unsigned more = 0; more < 9; more++) {
    unsigned bad = 0;
    for (unsigned x = 1; x < 1u << 14; x++) bad += nearest(odd(x, 5 + more), 5) != nearest(x, 5);
    if (bad > 0) continue;
    printf("%u %u\n", more, 24 - more);
    return 0;
  }
  return 1;
}
C
is $(run)
==== answer
2 22
==== wrong
1 23
==== skeleton
# bits more, and the most bits of a result
