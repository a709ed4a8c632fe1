==== check
# the shortest added token that begins at a place is found, and of places still the first
planted
says_like_ours
==== test
#include "exercise.h"
#include "tokenizer/tokenizer_internal.h"
enum { SIZES = 40, MORE = 5 };
static void test(unsigned size)
{
  static const char *const word[] = { "<", ">", "a", "b", "c" };
  struct memory m = { 0 }; struct error why; struct ids list = { 0 };
  struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t, &why);
  char more[MORE][8], text[30];
  size_t n = draw(30);
  for (uint32_t i = 0; i < 5; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(&m, t, i, &why);
    tokenizer_intern(&m, t, word[i], 1, &k->piece, &why), k->text = k->piece;
  }
  tokenizer_index_vocab(&m, t, &why);
  for (uint32_t i = 0; i < MORE;) {
    size_t length = 1 + draw(4), twins = 0;
    for (size_t k = 0; k < length; k++) more[i][k] = "<>abc"[draw(5)];
    more[i][length] = '\0';
    for (uint32_t k = 0; k < i; k++) twins += strcmp(more[k], more[i]) == 0;
    if (twins > 0) continue;
    struct added_token x = { .id = 5 + i };
    tokenizer_intern(&m, t, more[i], length, &x.text, &why), tokenizer_add_token(&m, t, &x, &why);
    tell("%s is %u", more[i], 5 + i), i++;
  }
  tokenizer_index_added(&m, t, &why);
  for (size_t i = 0; i < n; i++) text[i] = "<>abc"[draw(5)];
  tell("the text %.*s", (int) n, text);
#ifdef OURS
  for (size_t at = 0; at < n;) {
    uint32_t id = (uint32_t) (strchr("<>abc", text[at]) - "<>abc"); size_t length = 9;
    for (uint32_t k = 0; k < MORE; k++)
      if (strlen(more[k]) <= n - at && strlen(more[k]) < length && memcmp(more[k], text + at, strlen(more[k])) == 0) length = strlen(more[k]), id = 5 + k;
    say("id at %zu: %u", at, id), at += length == 9 ? 1 : length;
  }
  (void) list;
#else
  if (!tokenizer_encode(t, &m, text, n, false, true, &list, &why)) return;
  for (size_t i = 0, at = 0; i < list.n; i++) say("id at %zu: %u", at, list.id[i]), at += list.id[i] < 5 ? 1 : list.id[i] < 5 + MORE ? strlen(more[list.id[i] - 5]) : 99;
  ids_free(&m, &list);
#endif
  tokenizer_close(&m, t);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
== tangled/tokenizer/added.c
-    *length = i + 1;
+    *length = i + 1;
+    break;
==== wrong
== tangled/tokenizer/added.c
-    *length = i + 1;
+    *length = i + 1;
+    if (i > 0) break;
==== skeleton
# a function in tangled/tokenizer/added.c looks for the longest added token at a place.  Write == FILE, then - lines and + lines
