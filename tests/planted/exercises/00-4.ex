==== check
# consecutive parts of n rows for a crew of workers, as even as can be
wrapped
says_like_ours
==== head
#include <stdint.h>
#include <stddef.h>
==== tail
void ex_part(size_t n, unsigned worker, unsigned workers, size_t *first, size_t *last) { part(n, worker, workers, first, last); }
==== test
#include "exercise.h"
void ex_part(size_t n, unsigned worker, unsigned workers, size_t *first, size_t *last);
enum { SIZES = 40 };
static void test(unsigned size)
{
  unsigned workers = 1 + draw(size < 20 ? 5 : 70);
  size_t n = size > 35 ? SIZE_MAX - draw(9) : draw(size < 20 ? 12 : 1000), first, last = 0, at = 0, gaps = 0, least = SIZE_MAX, most = 0;
  tell("%zu rows, %u workers", n, workers);
  for (unsigned w = 0; w < workers; w++) {
    first = at, last = n * (w + 1 == workers);
#ifndef OURS
    first = last = 77, ex_part(n, w, workers, &first, &last);
#endif
    gaps += first != at || last < first, at = last;
    least = last - first < least ? last - first : least, most = last - first > most ? last - first : most;
  }
  say("end of the last part: %zu", last);
  say("parts that do not begin where the one before ended: %zu", OF(gaps, (size_t) 0));
  say("rows of the largest part less those of the smallest: %zu", OF(most - least, (size_t) (n % workers != 0)));
}
==== answer
static void part(size_t n, unsigned worker, unsigned workers, size_t *first, size_t *last)
{
  size_t each = n / workers, more = n % workers;
  *first = worker * each + (worker < more ? worker : more);
  *last = *first + each + (worker < more);
}
==== wrong
static void part(size_t n, unsigned worker, unsigned workers, size_t *first, size_t *last)
{
  *first = n * worker / workers, *last = n * (worker + 1) / workers;
}
==== skeleton
/* worker's part of n rows: those from *first up to, but without, *last */
static void part(size_t n, unsigned worker, unsigned workers, size_t *first, size_t *last)
{
  *first = 0, *last = worker == 0 ? n : 0;
}
