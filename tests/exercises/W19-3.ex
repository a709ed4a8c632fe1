==== check
set -e
# digits tried upwards from one: the same text for every float
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<'C'
#include <stdio.h>
#include <string.h>
#include "json/json.h"
int main(void)
{
  unsigned long long state = 7;
  char room[NUMBER_ROOM];
  for (int i = 0; i < 20000; i++) {
    float x; double y;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    unsigned bits = (unsigned) (state >> 32) & (i % 4 ? ~0u : 0xff800000u);
    memcpy(&x, &bits, 4), memcpy(&y, &state, 8);
    number_float(x, room), puts(room);
    number_double(i % 3 ? y : (double) (bits % 1000) / 8, room), puts(room);
  }
  return 0;
}
C
for lib in $BUILD/libincipit.a $BUILD/exercise/libincipit.a; do
  ${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled $BUILD/ex.c $lib -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
  $BUILD/ex | cksum
done | uniq | awk 'END { exit NR != 1 }'
! grep -q 'while (--digits > 0' $BUILD/exercise/tangled/json/json.c
==== answer
== tangled/json/json.c
-  int digits = single ? 9 : 17;
-  snprintf(room, NUMBER_ROOM, "%.*g", digits, x);
-  while (--digits > 0 && shorter(x, single, digits, trial))
-    strcpy(room, trial);
+  int digits = 1, most = single ? 9 : 17;
+  while (digits < most && !shorter(x, single, digits, trial))
+    digits++;
+  if (digits < most)
+    strcpy(room, trial);
+  else
+    snprintf(room, NUMBER_ROOM, "%.*g", most, x);
==== wrong
== tangled/json/json.c
-  int digits = single ? 9 : 17;
-  snprintf(room, NUMBER_ROOM, "%.*g", digits, x);
-  while (--digits > 0 && shorter(x, single, digits, trial))
-    strcpy(room, trial);
+  int digits = 1, most = single ? 8 : 16;
+  while (digits < most && !shorter(x, single, digits, trial))
+    digits++;
+  if (digits < most)
+    strcpy(room, trial);
+  else
+    snprintf(room, NUMBER_ROOM, "%.*g", most, x);
==== skeleton
== tangled/json/json.c
-  int digits = single ? 9 : 17;
-  snprintf(room, NUMBER_ROOM, "%.*g", digits, x);
-  while (--digits > 0 && shorter(x, single, digits, trial))
-    strcpy(room, trial);
+  int digits = single ? 9 : 17;
+  snprintf(room, NUMBER_ROOM, "%.*g", digits, x);
+  while (--digits > 0 && shorter(x, single, digits, trial))
+    strcpy(room, trial);
