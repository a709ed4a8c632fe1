==== check
# WhitespaceSplit: words without white space, and white space is nobody's; in front of ByteLevel, alone in the sequence's first place
set -e
texlua tests/planted.lua "$1"
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > $d/tokenizer.json <<'J'
{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3, "\u0120": 4, "\u00c2": 5, "\u0142": 6}, "merges": ["a b", "b a"]}, "decoder": {"type": "ByteLevel"},
 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]}}
J
mkdir $d/more; sed 's/{"type": "WhitespaceSplit"}/{"type": "WhitespaceSplit", "behavior": "x"}/' $d/tokenizer.json > $d/more/tokenizer.json
cat > $BUILD/ex.c <<'C2'
#include <string.h>
#include "tokenizer/tokenizer.h"
int main(int argc, char **argv)
{
  static const struct { const char *text; uint32_t id[4]; size_t n; } want[] = {
    {"ab ba", {2, 3}, 2}, {"  a\t\nb ", {0, 1}, 2}, {"aba\xc2\xa0" "b", {2, 0, 1}, 3}, {" ", {0}, 0}, {"b a", {1, 0}, 2}};
  struct memory m = {0}; struct error why;
  struct tokenizer *t = tokenizer_open(&m, argv[1], &why);
  if (t == NULL || tokenizer_open(&m, argv[2], &why) != NULL || strstr(why.text, "behavior") == NULL) return 1;
  int bad = 0;
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    struct ids list = {0};
    if (!tokenizer_encode(t, &m, want[k].text, strlen(want[k].text), false, false, &list, &why)) return 1;
    bad += list.n != want[k].n || (list.n > 0 && memcmp(list.id, want[k].id, list.n * sizeof *list.id) != 0);
    ids_free(&m, &list);
  }
  tokenizer_close(&m, t);
  return bad || m.all.live != 0;
}
C2
${CC:-cc} -std=c11 -w -I$BUILD/exercise/tangled $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex $d $d/more
==== answer
== tangled/tokenizer-json/tokenizer_json.c
-  if (strcmp(type, "Digits") == 0)
+  if (strcmp(type, "WhitespaceSplit") == 0) {
+    struct text_step s = {.what = STEP_SPLIT, .keep_matches = true};
+    struct error inner = {""};
+    return only_keys(r, where, v, "type ")
+      && or_refuse(r, where, tokenizer_add_step(r->m, r->t, s, "\\S+", 3, false, &inner), &inner);
+  }
+  if (strcmp(type, "Digits") == 0)
==== wrong
== tangled/tokenizer-json/tokenizer_json.c
-  if (strcmp(type, "Digits") == 0)
+  if (strcmp(type, "WhitespaceSplit") == 0) {
+    struct text_step s = {.what = STEP_SPLIT, .keep_matches = true, .keep_gaps = true};
+    struct error inner = {""};
+    return only_keys(r, where, v, "type ")
+      && or_refuse(r, where, tokenizer_add_step(r->m, r->t, s, "\\S+", 3, false, &inner), &inner);
+  }
+  if (strcmp(type, "Digits") == 0)
==== skeleton
== tangled/tokenizer-json/tokenizer_json.c
-  if (strcmp(type, "Digits") == 0)
+  if (strcmp(type, "Digits") == 0)
