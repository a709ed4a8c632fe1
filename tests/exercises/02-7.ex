==== check
set -e
# without the scale: the logits of row 0 are as before, those of the later rows not, and every counter is
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include <stdio.h>
#include "model/forward.h"
#include "kernels/kernels.h"
#include "families/loader.h"
int main(void)
{
  struct memory m = {0}; struct counters c = {0}; struct error why;
  struct model *lm = model_open(&m, "tests/golden/llama", &why);
  if (lm == NULL) return puts(why.text), 1;
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct store *s = array_store_open(&m, &lm->config, &why);
  uint32_t ids[4] = {1, 2, 3, 4}; size_t which[4] = {0, 1, 2, 3}, v = lm->config.vocab_size; float *z = malloc(16 * v);
  if (!model_evaluate(&e, lm, s, ids, 4, which, 4, z, &why)) return puts(why.text), 1;
  for (int i = 0; i < 4; i++) { unsigned long h = 0; for (size_t j = 0; j < 4 * v; j++) h = h * 31 + ((unsigned char *) (z + (size_t) i * v))[j]; printf("%lx\n", h); }
  for (size_t i = 0; i < sizeof c / 8; i++) printf("%lu ", ((unsigned long *) &c)[i]);
  return 0;
}
C
sed -i 's/#include <stdio.h>/#include <stdio.h>\n#include <stdlib.h>/' $BUILD/ex.c
flags="-std=gnu11 -O2 -ffp-contract=off -w $BUILD/ex.c"; libs="-ljansson -lpcre2-8 -lutf8proc -pthread -lm"
${CC:-cc} $flags -Itangled $BUILD/libmodules.a -o $BUILD/ex $libs; $BUILD/ex > $BUILD/ex.before
${CC:-cc} $flags -I$BUILD/exercise/tangled $BUILD/exercise/libmodules.a -o $BUILD/ex $libs; $BUILD/ex > $BUILD/ex.after
[ "$(head -1 $BUILD/ex.before)" = "$(head -1 $BUILD/ex.after)" ]
for i in 2 3 4; do [ "$(sed -n ${i}p $BUILD/ex.before)" != "$(sed -n ${i}p $BUILD/ex.after)" ]; done
[ "$(tail -1 $BUILD/ex.before)" = "$(tail -1 $BUILD/ex.after)" ]
==== answer
== tangled/families/loader.c
-    (float)(c->scaled ? 1 / sqrt((double)c->head_dim) : 1)
+    1
==== wrong
== tangled/families/loader.c
-    (float)(c->scaled ? 1 / sqrt((double)c->head_dim) : 1)
+    (float)(c->scaled ? 1 / sqrt((double)c->head_dim) : 1) * 1.0f
==== skeleton
== tangled/families/loader.c
-    (float)(c->scaled ? 1 / sqrt((double)c->head_dim) : 1)
+    (float)(c->scaled ? 1 / sqrt((double)c->head_dim) : 1)
