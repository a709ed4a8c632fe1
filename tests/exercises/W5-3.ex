==== check
# a piece of type 5 is there, can be decoded, and no merge makes it; a type that does not exist is still refused
set -e
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<'C'
#include <string.h>
#include "sentencepiece/sentencepiece.h"
static size_t piece(unsigned char *out, const char *w, float score, unsigned char type)
{
  size_t n = strlen(w);
  unsigned char head[4] = {10, (unsigned char) (n + 9), 10, (unsigned char) n}, *at = out;
  memcpy(at, head, 4), at += 4, memcpy(at, w, n), at += n, *at++ = 21, memcpy(at, &score, 4), at += 4, *at++ = 24, *at++ = type;
  return (size_t) (at - out);
}
static int ids(unsigned char type)
{
  static const unsigned char rest[] = {18, 2, 24, 2, 26, 6, 24, 0, 32, 0, 40, 0};
  unsigned char b[200];
  struct memory m = {0}; struct error why; uint32_t begin, end; bool ours;
  size_t n = piece(b, "<unk>", 0, 2);
  n += piece(b + n, "a", -2, 1), n += piece(b + n, "b", -3, 1), n += piece(b + n, "ab", -1, type);
  memcpy(b + n, rest, sizeof rest), n += sizeof rest;
  struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t, &why);
  int got = -1;
  if (sentencepiece_read(&m, t, "ex", b, n, &begin, &end, &ours, &why)) {
    struct ids list = {0}; size_t length;
    got = tokenizer_encode(t, &m, "ab", 2, false, false, &list, &why) ? (int) list.n : -2;
    tokenizer_text(t, 3, &length);
    if (length != 2) got = -3;
    ids_free(&m, &list);
  }
  tokenizer_close(&m, t);
  return m.all.live == 0 ? got : -4;
}
int main(void) { return !(ids(1) == 1 && ids(5) == 2 && ids(7) == -1); }
C
${CC:-cc} -std=c11 -w -I$BUILD/exercise/tangled $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/sentencepiece/sentencepiece.c
-  if (p.type == UNUSED || p.type < NORMAL || p.type > BYTE)
+  if (p.type < NORMAL || p.type > BYTE)
==== wrong
== tangled/sentencepiece/sentencepiece.c
-  if (p.type == UNUSED || p.type < NORMAL || p.type > BYTE)
+  if (p.type == UNUSED) p.type = NORMAL;
+  if (p.type < NORMAL || p.type > BYTE)
==== skeleton
== tangled/sentencepiece/sentencepiece.c
-  if (p.type == UNUSED || p.type < NORMAL || p.type > BYTE)
+  if (p.type == UNUSED || p.type < NORMAL || p.type > BYTE)
