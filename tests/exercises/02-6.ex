==== check
set -e
# a window of eight, whatever the settings say: rows 0 to 7 as before, the others not
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "tiny.h"
#include "kernels/kernels.h"
int main(void)
{
  struct tiny t; struct memory m = {0}; struct counters c = {0}; struct error why; struct row rows[20]; struct pass *p;
  tiny_make(&t, 1);
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct store *s = array_store_open(&m, &t.lm.config, &why);
  for (uint32_t i = 0; i < 20; i++) rows[i] = (struct row) {0, i, i % TINY_V};
  if (!model_forward(&e, &t.lm, s, rows, 20, &p, &why)) return 1;
  for (int i = 0; i < 20; i++) { unsigned long h = 0; for (int j = 0; j < 4 * TINY_D; j++) h = h * 31 + ((unsigned char *) (p->hidden + i * TINY_D))[j]; printf("%lx\n", h); }
  printf("%d\n", (int) c.qk_pairs);
  return 0;
}
C
flags="-std=gnu11 -O2 -ffp-contract=off -w -Itests $BUILD/ex.c"; libs="$(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm"
${CC:-cc} $flags -Itangled $BUILD/libmodules.a -o $BUILD/ex $libs; $BUILD/ex > $BUILD/ex.before
${CC:-cc} $flags -I$BUILD/exercise/tangled $BUILD/exercise/libmodules.a -o $BUILD/ex $libs; $BUILD/ex > $BUILD/ex.after
[ "$(head -8 $BUILD/ex.before)" = "$(head -8 $BUILD/ex.after)" ]
for i in 9 14 20; do [ "$(sed -n ${i}p $BUILD/ex.before)" != "$(sed -n ${i}p $BUILD/ex.after)" ]; done
[ "$(tail -1 $BUILD/ex.after)" = 132 ]   # 1+2+...+8 and twelve times 8
==== answer
== tangled/model/kernel.c
-  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
+  if (at >= 8) lo = at + 1 - 8;
==== wrong
== tangled/model/kernel.c
-  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
+  if (at >= 8) lo = at - 8;
==== skeleton
== tangled/model/kernel.c
-  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
+  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
