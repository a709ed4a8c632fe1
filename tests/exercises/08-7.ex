==== check
set -e
# nothing is held for a string that another one always overtakes: against a list without these, on random texts
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "suite.h"
#include "stopping/stopping.h"
int main(void)
{
  struct memory m = {0}; struct error why; uint64_t seed = 7; size_t sooner = 0;
  for (int round = 0; round < 20000; round++) {
    char stop[5][8], text[40]; struct stop_string list[5], alive[5];
    size_t n = 1 + rnd(&seed) % 5, live = 0, length = rnd(&seed) % 40, at = 0;
    for (size_t i = 0; i < n; i++) {
      size_t l = 1 + rnd(&seed) % 6;
      for (size_t k = 0; k < l; k++) stop[i][k] = "abc"[rnd(&seed) % (2 + round % 2)];
      stop[i][l] = 0, list[i] = (struct stop_string) {(unsigned char *) stop[i], l};
    }
    for (size_t i = 0; i < n; i++) {            /* overtaken: some string ends in it, before its last byte */
      bool never = false;
      for (size_t j = 0; j < n; j++) {
        char head[8];
        strcpy(head, stop[i]), head[list[i].n - 1] = 0;
        never |= strstr(head, stop[j]) != NULL;
      }
      if (!never) alive[live++] = list[i];
    }
    for (size_t k = 0; k < length; k++) text[k] = "abcd"[rnd(&seed) % (2 + round % 3)];
    struct stops s;
    if (!stops_open(&s, &m, list, n, &why)) return 1;
    struct text_stream o = {.m = &m, .until = &s};
    size_t had = 0;
    while (at < length && o.found == NULL) {
      size_t k = 1 + rnd(&seed) % 3;
      k = k > length - at ? length - at : k;
      if (!text_stream_bytes(&o, (unsigned char *) text + at, k, &why)) return 1;
      had = at, at += k;
      size_t end = at + 1, cut = 0, held = 0, before = 0;
      for (size_t e = had + 1; e <= at && end > at; e++)
        for (size_t i = 0; i < n; i++)
          if (list[i].n <= e && memcmp(text + e - list[i].n, stop[i], list[i].n) == 0 && (end > at || list[i].n > e - cut)) end = e, cut = e - list[i].n;
      if ((end <= at) != (o.found != NULL)) return 2;
      if (end <= at) { if (o.text.n != cut || o.released != cut) return 3; break; }
      for (size_t i = 0; i < live; i++)
        for (size_t l = 1; l < alive[i].n && l <= at; l++) if (memcmp(text + at - l, alive[i].byte, l) == 0 && l > held) held = l;
      for (size_t i = 0; i < n; i++)
        for (size_t l = 1; l < list[i].n && l <= at; l++) if (memcmp(text + at - l, stop[i], l) == 0 && l > before) before = l;
      if (o.released != at - held) return 4;
      sooner += held < before;
    }
    text_stream_close(&o), stops_close(&s);
  }
  return sooner < 200 || m.all.live != 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
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
== tangled/stopping/stops.c
-      x->hold = x->child != 0 ? x->depth : shorter->hold;
+      x->hold = x->child != 0 ? x->depth : shorter->hold;
