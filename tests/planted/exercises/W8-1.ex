==== check
# the file is written, and the reader accepts it; with one byte less it does not
engine <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gguf/gguf.h"
static unsigned char byte[512];
static size_t n;
static void num(size_t b, uint64_t x) { for (size_t i = 0; i < b; i++) byte[n++] = (unsigned char) (x >> 8 * i); }
static void str(const char *t) { num(8, strlen(t)); memcpy(byte + n, t, strlen(t)); n += strlen(t); }
int main(int argc, char **argv)
{
  size_t size = argc > 1 ? (size_t) strtoul(argv[1], NULL, 10) : 0;
  struct memory m = { .fail_at = 0 };
  struct gguf_file g, h;
  memcpy(byte, "GGUF", 4), n = 4;
  num(4, 3), num(8, 1), num(8, 1), str("general.alignment"), num(4, 4), num(4, 64);
  str("a"), num(4, 1), num(8, 4), num(4, 0), num(8, 0);
  if (size < n || size > sizeof byte) return 1;
  bool fits = gguf_read(&g, &m, "x", byte, size, NULL), less = gguf_read(&h, &m, "x", byte, size - 1, NULL);
  return !(fits && !less);
}
C
numbers 1
run $(words) || no "the reader does not accept a file of that size, or accepts one with a byte less"
==== answer
144
==== wrong
106
==== skeleton
# how many bytes
