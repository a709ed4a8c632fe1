==== check
# both tests, in 64 bits, on the four lengths: the lengths that each lets in, as the text writes them
engine <<'C'
#include <stdint.h>
#include <stdio.h>
int main(void)
{
  static const struct { uint64_t h; const char *name; } at[] = {{92, "92"}, {93, "93"}, {-UINT64_C(8), "2^64-8"}, {-UINT64_C(7), "2^64-7"}};
  for (int k = 0; k < 2; k++, puts("")) for (int i = 0, n = 0; i < 4; i++) if (k == 0 ? 8 + at[i].h <= 100 : at[i].h <= 100 - 8) printf("%s%s", n++ ? " " : "", at[i].name);
}
C
is $(run)
==== answer
92 2^64-8 2^64-7
92
==== wrong
92 2^64-8
92
==== skeleton
# a line for each test: the lengths that it lets in, as they stand in the text, with a blank between
