==== check
# the k smallest of n numbers, in rising order, with a heap of no more than k + 1
wrapped
says_like_ours
==== head
#include "lookups/table.h"
==== tail
void ex_smallest(struct memory *m, const uint64_t *x, size_t n, size_t k, uint64_t *out) { k_smallest(m, x, n, k, out); }
==== test
#include "exercise.h"
#include "lookups/table.h"
void ex_smallest(struct memory *m, const uint64_t *x, size_t n, size_t k, uint64_t *out);
enum { SIZES = 25, MOST = 1000 };
static void test(unsigned size)
{
  static uint64_t x[MOST], out[16];
  size_t n = 1 + draw(size < 10 ? 6 : MOST), k = 1 + draw(10);
  struct memory m = { .fail_at = 0 };
  if (k > n) k = n;
  tell("the %zu smallest of %zu numbers", k, n);
  for (size_t i = 0, at; i < n; i++) at = draw((unsigned) i + 1), x[i] = x[at], x[at] = 7 * i + 3;  /* in any order */
#ifdef OURS
  for (size_t i = 0; i < k; i++) out[i] = 7 * i + 3;
#else
  ex_smallest(&m, x, n, k, out);
#endif
  for (size_t i = 0; i < k; i++) say("number %zu: %llu", i, (unsigned long long) out[i]);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
  say_most("bytes-held-at-once", (double) OF(m.all.peak, 32 * sizeof(struct heap_item)), 1);
}
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
