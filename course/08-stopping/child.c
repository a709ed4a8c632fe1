/* child.c -- lab 8: the look for a child, which counts itself; given */
#include "kit.h"
#include "stopping/stops.h"

enum { LOOKS }; /* how often child_for was called; tests.c has it as well */

uint32_t child_for(const struct stops *s, uint32_t at,
  unsigned char byte)
{
  count_more(LOOKS, 1);
  if (at == 0) return s->first[byte];
  uint32_t next = s->node[at].child;
  while (next != 0 && s->node[next].byte != byte)
    next = s->node[next].sibling;
  return next;
}
