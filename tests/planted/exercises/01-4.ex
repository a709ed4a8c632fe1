==== check
# a list of merges, a line "left right" each, of which two ids are spelt alike
numbers pairs
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "tokens/bpe.h"
int main(void)
{
  struct memory m = {0}; struct bpe_merge list[100]; size_t n = 0; unsigned a, b; static struct bytes s[400];
  while (n < 100 && scanf("%u %u", &a, &b) == 2) { if (a >= 256 + n || b >= 256 + n) return 2; list[n++] = (struct bpe_merge) {a, b}; }
  for (uint32_t i = 0; i < n; i++) for (uint32_t k = 0; k < i; k++) if (list[i].left == list[k].left && list[i].right == list[k].right) return 3;
  for (uint32_t i = 0; i < 256 + n; i++) bpe_spell(&m, list, i, &s[i], NULL);
  for (uint32_t i = 0; i < 256 + n; i++)
    for (uint32_t k = 0; k < i; k++) if (s[i].n == s[k].n && memcmp(s[i].byte, s[k].byte, s[i].n) == 0) return 0;
  return 1;
}
C
lines | tr ',;' '  ' | run || no "no two ids are spelt alike, or a line is no merge"
==== answer
97 98
98 99
256 99
97 257
==== wrong
97 98
98 97
256 97
257 98
==== skeleton
# a merge a line: the id on the left, the id on the right; the first line makes id 256
