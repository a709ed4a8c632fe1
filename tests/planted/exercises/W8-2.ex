==== check
# every bit of the description is flipped, and the reader says which flips it does not notice
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "gguf/gguf.h"
static unsigned char byte[512];
static size_t n;
static void num(size_t b, uint64_t x) { for (size_t i = 0; i < b; i++) byte[n++] = (unsigned char) (x >> 8 * i); }
static void str(const char *t) { num(8, strlen(t)); memcpy(byte + n, t, strlen(t)); n += strlen(t); }
int main(void)
{
  static const int from[] = { 0, 4, 8, 16, 24, 49, 53, 57, 66, 70, 86, 90, 98, 107, 111, 119, 123, 131 };
  struct memory m = { .fail_at = 0 };
  memcpy(byte, "GGUF", 4), n = 4;
  num(4, 3), num(8, 2), num(8, 1), str("general.alignment"), num(4, 4), num(4, 32);
  str("a"), num(4, 2), num(8, 5), num(8, 3), num(4, 1), num(8, 0);
  str("b"), num(4, 1), num(8, 4), num(4, 0), num(8, 32);
  for (int k = 0; k < 17; k++) {
    int unnoticed = 0;
    for (int i = 8 * from[k]; i < 8 * from[k + 1]; i++) {
      struct gguf_file g;
      byte[i / 8] ^= (unsigned char) (1 << i % 8);
      unnoticed += gguf_read(&g, &m, "x", byte, 208, NULL), gguf_free(&g);
      byte[i / 8] ^= (unsigned char) (1 << i % 8);
    }
    if (unnoticed > 0) printf("%d\n", from[k]);
  }
}
C
sorted=$(words | tr ' ' '\n' | sort -n); echo "$sorted" > "$answer"      # in any order
is $(run | sort -n)
==== answer
4 8 24 57 70 98 111 119
==== wrong
24 57 98
==== skeleton
# the first bytes of the rows
