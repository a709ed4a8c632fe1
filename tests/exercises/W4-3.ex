==== check
# the shortest added token that begins at a place is found, and of places still the first
set -e
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<'C2'
#include <string.h>
#include "tokenizer/tokenizer_internal.h"
static const char *const word[] = {"<", ">", "a", "b", "c"}, *const more[] = {"<a>", "<a>b", "b<a>c", "c", "ca"};
int main(void)
{
  /* <a> and not <a>b; then b<a>c, of which no shorter one begins there; c and not ca */
  static const struct { const char *text; uint32_t id[3]; size_t n; } want[] = {{"<a>b<a>c", {5, 7}, 2}, {"cac", {8, 2, 8}, 3}};
  struct memory m = {0}; struct error why;
  struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t, &why);
  for (uint32_t i = 0; i < 5; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(&m, t, i, &why);
    tokenizer_intern(&m, t, word[i], 1, &k->piece, &why), k->text = k->piece;
  }
  tokenizer_index_vocab(&m, t, &why);
  for (uint32_t i = 0; i < 5; i++) {
    struct added_token x = {.id = 5 + i};
    tokenizer_intern(&m, t, more[i], strlen(more[i]), &x.text, &why), tokenizer_add_token(&m, t, &x, &why);
  }
  tokenizer_index_added(&m, t, &why);
  int bad = 0;
  for (int k = 0; k < 2; k++) {
    struct ids list = {0};
    if (!tokenizer_encode(t, &m, want[k].text, strlen(want[k].text), false, true, &list, &why)) return 1;
    bad += list.n != want[k].n || memcmp(list.id, want[k].id, list.n * sizeof *list.id) != 0;
    ids_free(&m, &list);
  }
  tokenizer_close(&m, t);
  return bad || m.all.live != 0;
}
C2
${CC:-cc} -std=c11 -w -I$BUILD/exercise/tangled $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/tokenizer/tokenizer.c
-    *length = i + 1;
+    *length = i + 1;
+    break;
==== wrong
== tangled/tokenizer/tokenizer.c
-    *length = i + 1;
+    *length = i + 1;
+    if (i > 0) break;
==== skeleton
== tangled/tokenizer/tokenizer.c
-    *length = i + 1;
+    *length = i + 1;
