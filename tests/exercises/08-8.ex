==== check
set -e
# what is released never ends with half a character of a text that has none, whatever bytes the strings are; and no more is held than that needs
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "suite.h"
#include "stopping/stopping.h"
int main(void)
{
  struct memory m = {0}; struct error why; uint64_t seed = 8; size_t longer = 0, found = 0;
  static const char *const letter[] = {"a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  for (int round = 0; round < 20000; round++) {
    unsigned char text[80], stop[3][6]; struct stop_string list[3]; size_t length = 0, n = 1 + rnd(&seed) % 3, at = 0;
    for (size_t k = rnd(&seed) % 14; k > 0; k--) { const char *l = letter[rnd(&seed) % 5]; memcpy(text + length, l, strlen(l)), length += strlen(l); }
    for (size_t i = 0; i < n; i++) {            /* a piece of such a text, cut anywhere */
      unsigned char other[24]; size_t all = 0;
      while (all < 12) { const char *l = letter[rnd(&seed) % 5]; memcpy(other + all, l, strlen(l)), all += strlen(l); }
      list[i] = (struct stop_string) {stop[i], 1 + rnd(&seed) % 6};
      memcpy(stop[i], other + rnd(&seed) % 6, list[i].n);
    }
    struct stops s;
    if (!stops_open(&s, &m, list, n, &why)) return 1;
    struct text_stream o = {.m = &m, .until = &s};
    while (at < length && o.found == NULL) {
      size_t k = 1 + rnd(&seed) % 3, held = 0;
      k = k > length - at ? length - at : k;
      if (!text_stream_bytes(&o, text + at, k, &why)) return 1;
      at += k;
      if (o.found != NULL) { found++; break; }
      for (size_t i = 0; i < n; i++)
        for (size_t l = 1; l < list[i].n && l <= at; l++) if (memcmp(text + at - l, stop[i], l) == 0 && l > held) held = l;
      size_t want = at - held;
      while (want < length && want > 0 && (text[want] & 0xc0) == 0x80) want--;
      if (o.released != want) return 2;
      longer += want < at - held;
    }
    text_stream_close(&o), stops_close(&s);
  }
  return longer < 500 || found < 500 || m.all.live != 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/stopping/stopping.c
-  o->released = o->text.n - (claimed > held ? claimed : held);
+  o->released = o->text.n - (claimed > held ? claimed : held);
+  o->released -= utf8_held(o->text.byte, o->released);
==== wrong
== tangled/stopping/stopping.c
-  o->released = o->text.n - (claimed > held ? claimed : held);
+  o->released = o->text.n - (claimed + held);
==== skeleton
== tangled/stopping/stopping.c
-  o->released = o->text.n - (claimed > held ? claimed : held);
+  o->released = o->text.n - (claimed > held ? claimed : held);
