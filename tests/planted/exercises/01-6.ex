==== check
# a learner that stops when the best pair stands there only once: the plain one's merges, up to the first whose pair does
planted
says_like_ours
==== test
#include "exercise.h"
#include "tokens/bpe.h"
enum { SIZES = 60, MOST = 60 };
static void test(unsigned size)
{
  struct memory m = { 0 };
  struct bpe_merge *list = NULL;
  char text[MOST + 1] = "";
  size_t n = size == 1 ? 0 : 1 + draw(size < 20 ? 12 : MOST), got = 0;
  for (size_t i = 0; i < n; i++) text[i] = "abcd"[draw(2 + size % 3)];
  tell("the text %s", text);
  if (!bpe_train(&m, text, n, NULL, 50, &list, &got, NULL)) return;
#ifdef OURS
  uint32_t id[MOST];
  size_t left = n, k = 0;
  for (size_t i = 0; i < n; i++) id[i] = (unsigned char) text[i];
  for (; k < got; k++) {
    size_t times = 0, to = 0;
    for (size_t i = 0; i + 1 < left; i++) times += id[i] == list[k].left && id[i + 1] == list[k].right;
    if (times < 2) break;
    for (size_t i = 0; i < left; i++)
      if (i + 1 < left && id[i] == list[k].left && id[i + 1] == list[k].right) id[to++] = 256 + (uint32_t) k, i++;
      else id[to++] = id[i];
    left = to;
  }
  got = k;
#endif
  say("merges: %zu", got);
  for (size_t i = 0; i < got; i++) say("merge %zu: %u %u", i, list[i].left, list[i].right);
  bpe_forget(&m, list);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
== tangled/tokens/bpe.c
-    if (best == NULL)
+    if (best == NULL || best->count < 2)
==== wrong
== tangled/tokens/bpe.c
-    if (best == NULL)
+    if (best == NULL || best->count <= 2)
==== skeleton
# which line of learn, in tangled/tokens/bpe.c, ends the learning?  Write == FILE, then the lines as they are, each after -, and as they should be, each after +
