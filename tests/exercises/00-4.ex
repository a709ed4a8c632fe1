==== check
# consecutive parts of n rows for a crew of workers, as even as can be
set -e
cat > $BUILD/ex.c <<'C'
#include <stdint.h>
#include <stddef.h>
C
cat "$1" >> $BUILD/ex.c
cat >> $BUILD/ex.c <<'C'
static int fair(size_t n, unsigned workers)
{
  size_t at = 0, first, last, least = SIZE_MAX, most = 0;
  for (unsigned w = 0; w < workers; w++) {
    first = last = 77;
    part(n, w, workers, &first, &last);
    if (first != at || last < first) return 0;
    at = last;
    if (last - first < least) least = last - first;
    if (last - first > most) most = last - first;
  }
  return at == n && most - least <= 1;
}
int main(void)
{
  for (unsigned workers = 1; workers < 20; workers++)
    for (size_t n = 0; n < 100; n++)
      if (!fair(n, workers)) return 1;
  return !(fair(SIZE_MAX, 7) && fair(SIZE_MAX - 1, 64));
}
C
${CC:-cc} -std=c11 -w $BUILD/ex.c -o $BUILD/ex
$BUILD/ex
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
