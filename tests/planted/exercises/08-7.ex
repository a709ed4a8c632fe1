==== check
# nothing is held for a string that another one always overtakes: the longest beginning of a string that can still end a text, on random texts
planted
says_like_ours
==== test
#include "exercise.h"
#include "stopping/stopping.h"
enum { SIZES = 400 };
static void test(unsigned size)
{
  struct memory m = { 0 }; struct error why; char stop[5][8], text[40]; struct stop_string list[5], alive[5]; struct stops s;
  size_t n = 1 + draw(5), live = 0, length = draw(40), at = 0;
  for (size_t i = 0; i < n; i++) {
    size_t l = 1 + draw(6);
    for (size_t k = 0; k < l; k++) stop[i][k] = "abc"[draw(2 + size % 2)];
    stop[i][l] = 0, list[i] = (struct stop_string) { (unsigned char *) stop[i], l }, tell("\"%s\"", stop[i]);
  }
  for (size_t i = 0; i < n; i++) {                      /* overtaken: some string ends in it, before its last byte */
    bool never = false;
    char head[8];
    strcpy(head, stop[i]), head[list[i].n - 1] = 0;
    for (size_t j = 0; j < n; j++) never |= strstr(head, stop[j]) != NULL;
    if (!never) alive[live++] = list[i];
  }
  for (size_t k = 0; k < length; k++) text[k] = "abcd"[draw(2 + size % 3)];
  tell("the text %.*s", (int) length, text);
  if (!stops_open(&s, &m, list, n, &why)) return;
  struct text_stream o = { .m = &m, .until = &s };
  for (size_t end = length + 1; at < length && end > at;) {
    size_t k = 1 + draw(3), had = at, cut = 0, held = 0;
    k = k > length - at ? length - at : k, at += k, end = length + 1;
    for (size_t e = had + 1; e <= at && end > at; e++)
      for (size_t i = 0; i < n; i++)
        if (list[i].n <= e && memcmp(text + e - list[i].n, stop[i], list[i].n) == 0 && (end > at || list[i].n > e - cut)) end = e, cut = e - list[i].n;
    for (size_t i = 0; i < live; i++)
      for (size_t l = 1; l < alive[i].n && l <= at; l++) if (memcmp(text + at - l, alive[i].byte, l) == 0 && l > held) held = l;
#ifdef OURS
    say("after %zu bytes: %s, released %zu", at, end <= at ? "ended" : "goes on", end <= at ? cut : at - held);
#else
    (void) held;
    if (!text_stream_bytes(&o, (unsigned char *) text + at - k, k, &why)) return;
    say("after %zu bytes: %s, released %zu", at, o.found != NULL ? "ended" : "goes on", o.released);
#endif
  }
  text_stream_close(&o), stops_close(&s);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
== tangled/stopping/stops.c
-      x->hold = x->child != 0 ? x->depth : shorter->hold;
== tangled/stopping/stops.c
-      queue[tail++] = c;
-    }
-  }
+      queue[tail++] = c;
+    }
+  }
+  for (size_t i = tail; i-- > 1;) {
+    struct stops_node *x = &s->node[queue[i]];
+    x->hold = x->ending != 0 && s->list[x->ending - 1].n == x->depth;
+    for (uint32_t c = x->child; x->ending == 0 && c != 0; c = s->node[c].sibling)
+      x->hold |= s->node[c].hold;
+  }
+  for (size_t i = 1; i < tail; i++) {
+    struct stops_node *x = &s->node[queue[i]];
+    x->hold = x->hold != 0 && x->ending == 0 ? x->depth : s->node[x->failure].hold;
+  }
==== wrong
== tangled/stopping/stops.c
-      x->hold = x->child != 0 ? x->depth : shorter->hold;
+      x->hold = x->child != 0 && x->ending == 0 ? x->depth : shorter->hold;
==== skeleton
# tangled/stopping/stops.c says for each node of the machine how many bytes are held there.  Write == FILE, then - lines and + lines
