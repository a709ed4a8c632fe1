==== check
# the k smallest of n numbers, in rising order, with a heap of no more than k
set -e
cat > $BUILD/ex.c <<'C'
#include "lookups/table.h"
C
cat "$1" >> $BUILD/ex.c
cat >> $BUILD/ex.c <<'C'
int main(void)
{
  static uint64_t x[1000], out[1000];
  for (size_t n = 1; n <= 1000; n += 37)
    for (size_t k = 1; k <= 10 && k <= n; k += 3) {
      struct memory m = { .fail_at = 0 };
      for (size_t i = 0; i < n; i++) x[i] = (i * 7919 + k) % 1009;
      k_smallest(&m, x, n, k, out);
      if (m.all.live != 0 || m.all.peak > 32 * sizeof(struct heap_item)) return 1;
      for (size_t i = 0, below = 0; i < k; i++, below = 0) {
        if (i > 0 && out[i] < out[i - 1]) return 1;
        for (size_t j = 0; j < n; j++) below += x[j] < out[i];
        if (below != i) return 1;
      }
    }
  return 0;
}
C
${CC:-cc} -std=c11 -w -Itangled $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex -pthread -lm
timeout 20 $BUILD/ex
==== answer
static void k_smallest(struct memory *m, const uint64_t *x, size_t n, size_t k, uint64_t *out)
{
  struct heap h = { NULL, 0, 0 };
  for (size_t i = 0; i < n; i++) {
    heap_push(m, &h, (struct heap_item) { UINT64_MAX - x[i], 0 }, NULL);
    if (h.n > k) heap_pop(&h);
  }
  while (k > 0) out[--k] = UINT64_MAX - heap_pop(&h).key;
  heap_free(m, &h);
}
==== wrong
static void k_smallest(struct memory *m, const uint64_t *x, size_t n, size_t k, uint64_t *out)
{
  struct heap h = { NULL, 0, 0 };
  for (size_t i = 0; i < n; i++) heap_push(m, &h, (struct heap_item) { x[i], 0 }, NULL);
  for (size_t i = 0; i < k; i++) out[i] = heap_pop(&h).key;
  heap_free(m, &h);
}
==== skeleton
/* the k smallest of the n different numbers x, in rising order; 1 <= k <= n. The heap may never hold more than k + 1 */
static void k_smallest(struct memory *m, const uint64_t *x, size_t n, size_t k, uint64_t *out)
{
}
