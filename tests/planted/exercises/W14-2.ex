==== check
# from ca to abc: the slips that the table counts, and the fewest of the same four kinds that would do
engine <<'C'
#include "options.c"
int main(void) { printf("%u\n", edit_distance("ca", "abc")); return 0; }
C
fewest() { awk 'function reach(w) { if (!(w in seen) && length(w) < 6) { seen[w]; far[++m] = w } }
  BEGIN {                        # by trying: all words one slip away, then all words one slip from those
    seen["ca"]; edge[1] = "ca"; k = 1
    for (n = 0; !("abc" in seen); n++) {
      m = 0
      for (e = 1; e <= k; e++) for (i = 0; i <= length(edge[e]); i++) {
        a = substr(edge[e], 1, i); b = substr(edge[e], i + 1)
        reach(a substr(b, 2)); reach(a substr(b, 2, 1) substr(b, 1, 1) substr(b, 3))
        for (j = 1; j <= 3; j++) { reach(a substr("abc", j, 1) b); if (b != "") reach(a substr("abc", j, 1) substr(b, 2)) }
      }
      for (k = 1; k <= m; k++) edge[k] = far[k]
      k = m
    }
    print n
  }'; }
is $(run) $(fewest)
==== answer
3 2
==== wrong
2 2
==== skeleton
# two numbers
