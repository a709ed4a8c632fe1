==== check
# a learner that stops when the best pair stands there only once
set -e
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<'C'
#include <string.h>
#include "tokens/bpe.h"
#include "lookups/split.h"
static size_t learnt(const char *text)
{
  struct memory m = {0}; struct bpe_merge *list; size_t n;
  if (!bpe_train(&m, text, strlen(text), split_gpt2, 50, &list, &n, NULL)) return 99;
  bpe_forget(&m, list);
  return m.all.live == 0 ? n : 98;
}
int main(void) { return !(learnt("banana bandana") == 3 && learnt("abc") == 0 && learnt("ab ab ab") == 2 && learnt("") == 0 && learnt("the cat that sat") == 2); }
C
${CC:-cc} -std=c11 -w -I$BUILD/exercise/tangled $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/tokens/bpe.c
-    if (best == NULL)
+    if (best == NULL || best->count < 2)
==== wrong
== tangled/tokens/bpe.c
-    if (best == NULL)
+    if (best == NULL || best->count <= 2)
==== skeleton
== tangled/tokens/bpe.c
-    if (best == NULL)
+    if (best == NULL)
