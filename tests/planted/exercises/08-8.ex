==== check
# what is released never ends with half a character of a text that has none, whatever bytes the strings are; and no more is held than that needs
planted
says_like_ours
==== test
#include "exercise.h"
#include "stopping/stopping.h"
enum { SIZES = 400 };
static void test(unsigned size)
{
  static const char *const letter[] = { "a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
  struct memory m = { 0 }; struct error why; unsigned char text[80], stop[3][6]; struct stop_string list[3]; struct stops s;
  size_t length = 0, n = 1 + draw(3), at = 0;
  for (size_t k = draw(14); k > 0; k--) { const char *l = letter[draw(5)]; memcpy(text + length, l, strlen(l)), length += strlen(l); }
  for (size_t i = 0; i < n; i++) {                      /* a piece of such a text, cut anywhere */
    unsigned char other[24]; size_t all = 0;
    while (all < 12) { const char *l = letter[draw(5)]; memcpy(other + all, l, strlen(l)), all += strlen(l); }
    list[i] = (struct stop_string) { stop[i], 1 + draw(6) };
    memcpy(stop[i], other + draw(6), list[i].n);
  }
  tell("a text of %zu bytes, %zu strings", length, n);
  if (!stops_open(&s, &m, list, n, &why)) return;
  struct text_stream o = { .m = &m, .until = &s };
  for (bool ended = false; at < length && !ended;) {
    size_t k = 1 + draw(3), held = 0, had = at;
    k = k > length - at ? length - at : k, at += k;
    for (size_t e = had + 1; e <= at; e++)
      for (size_t i = 0; i < n; i++) ended |= list[i].n <= e && memcmp(text + e - list[i].n, stop[i], list[i].n) == 0;
    for (size_t i = 0; i < n; i++)
      for (size_t l = 1; l < list[i].n && l <= at; l++) if (memcmp(text + at - l, stop[i], l) == 0 && l > held) held = l;
    size_t want = at - held;
    while (want < length && want > 0 && (text[want] & 0xc0) == 0x80) want--;
#ifndef OURS
    if (!text_stream_bytes(&o, text + had, k, &why)) return;
    want = o.released, ended = o.found != NULL;
#endif
    if (ended) say("after %zu bytes: ended", at);
    else say("after %zu bytes: released %zu", at, want);
  }
  text_stream_close(&o), stops_close(&s);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
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
# tangled/stopping/stopping.c says, after some bytes have come, how many are released.  Write == FILE, then - lines and + lines
