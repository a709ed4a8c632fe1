==== check
# a table of 100 pairs: its room, and how often all of it was put in again
set -e
cat > $BUILD/ex.c <<'C'
#include <stdio.h>
#include "lookups/table.h"
int main(void)
{
  struct memory m = { .refuse_at = 0 };
  struct pair_map p = { NULL, 0, 0 };
  for (uint32_t i = 1; i <= 100; i++) pair_map_put(&m, &p, i, i, i, NULL);
  printf("%d %d\n", (int) p.room, (int) m.all.requests - 1);
  pair_map_free(&m, &p);
}
C
${CC:-cc} -std=c11 -Itangled $BUILD/ex.c $BUILD/libincipit.a -o $BUILD/ex -pthread -lm
$BUILD/ex > $BUILD/ex.out; grep -v '^#' "$1" | diff -bB - $BUILD/ex.out
==== answer
256 2
==== wrong
128 1
==== skeleton
# slots, and how many times: two integers in a line
