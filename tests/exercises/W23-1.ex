==== check
# four things pushed into a heap, from the heap itself
set -e
cat > $BUILD/ex.c <<'C'
#include <stdio.h>
#include "lookups/table.h"
int main(void)
{
  struct memory m = { .refuse_at = 0 };
  struct heap h = { NULL, 0, 0 };
  static const uint64_t x[] = { 5, 3, 8, 1 };
  for (int i = 0; i < 4; i++) heap_push(&m, &h, (struct entry) { x[i], 0 }, NULL);
  for (int i = 0; i < 4; i++) printf("%d%c", (int) h.e[i].first, i < 3 ? ' ' : '\n');
  heap_pop(&h);
  for (int i = 0; i < 3; i++) printf("%d%c", (int) h.e[i].first, i < 2 ? ' ' : '\n');
  heap_free(&m, &h);
}
C
${CC:-cc} -std=c11 -Itangled $BUILD/ex.c $BUILD/libincipit.a -o $BUILD/ex -pthread -lm
$BUILD/ex > $BUILD/ex.out; grep -v '^#' "$1" | diff -bB - $BUILD/ex.out
==== answer
1 3 8 5
3 5 8
==== wrong
1 3 5 8
3 5 8
==== skeleton
# the heap from e[0] on, and in a second line the heap after one heap_pop
