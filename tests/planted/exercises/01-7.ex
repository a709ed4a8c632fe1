==== check
# C: a function that spells a text by "always the longest token that fits"
wrapped
says_like_ours
==== head
#include <stdio.h>
#include <string.h>
#include "tokens/bpe.h"
==== tail
size_t ex_spell(struct memory *m, const struct bpe_merge *list, size_t n_list, const char *text, size_t n, uint32_t *id) { return spell_longest(m, list, n_list, text, n, id); }
==== test
#include "exercise.h"
#include "tokens/bpe.h"
size_t ex_spell(struct memory *m, const struct bpe_merge *list, size_t n_list, const char *text, size_t n, uint32_t *id);
enum { SIZES = 60, MERGES = 5, MOST = 40 };
static char spelt[256 + MERGES][MOST + 1];
static void test(unsigned size)
{
  struct bpe_merge list[MERGES];
  uint32_t id[MOST];
  char text[MOST + 1] = "";
  size_t n = draw(size < 20 ? 8 : MOST), made = 0;
  struct memory m = { .fail_at = 0 };
  for (int c = 1; c < 256; c++) spelt[c][0] = (char) c;
  for (uint32_t i = 0; i < MERGES;) {                 /* two tokens of before, of letters a, b, c; no two are spelt alike */
    uint32_t left = draw(3 + i), right = draw(3 + i), twins = 0;
    list[i] = (struct bpe_merge) { left < 3 ? 'a' + left : 253 + left, right < 3 ? 'a' + right : 253 + right };
    snprintf(spelt[256 + i], MOST, "%s%s", spelt[list[i].left], spelt[list[i].right]);
    for (uint32_t k = 0; k < i; k++) twins += strcmp(spelt[256 + i], spelt[256 + k]) == 0;
    if (twins == 0) tell("%u is %s", 256 + i, spelt[256 + i]), i++;
  }
  for (size_t i = 0; i < n; i++) text[i] = "abcx"[draw(size % 5 == 0 ? 4 : 3)];
  tell("the text %s", text);
#ifdef OURS
  for (size_t at = 0; at < n; at += strlen(spelt[id[made++]])) {
    id[made] = (unsigned char) text[at];
    for (uint32_t k = 256; k < 256 + MERGES; k++)
      if (strncmp(spelt[k], text + at, strlen(spelt[k])) == 0 && strlen(spelt[k]) > strlen(spelt[id[made]])) id[made] = k;
  }
#else
  made = ex_spell(&m, list, MERGES, text, n, id);
#endif
  say("ids: %zu", made);
  for (size_t i = 0; i < made && i < MOST; i++) say("id %zu: %u", i, id[i]);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
static size_t spell_longest(struct memory *m, const struct bpe_merge *list, size_t n_list,
  const char *text, size_t n, uint32_t *id)
{
  size_t made = 0;
  for (size_t at = 0, step; at < n; at += step, made++) {
    step = 1, id[made] = (unsigned char) text[at];
    for (uint32_t k = 256; k < 256 + n_list; k++) {
      struct bytes s = { NULL, 0, 0 };
      bpe_spell(m, list, k, &s, NULL);
      if (s.n > step && s.n <= n - at && memcmp(s.byte, text + at, s.n) == 0) step = s.n, id[made] = k;
      bytes_free(m, &s);
    }
  }
  return made;
}
==== wrong is the answer but
-      if (s.n > step && s.n <= n - at && memcmp(s.byte, text + at, s.n) == 0) step = s.n, id[made] = k;
+      if (step == 1 && s.n > step && s.n <= n - at && memcmp(s.byte, text + at, s.n) == 0) step = s.n, id[made] = k;
==== skeleton
/* the ids of text, of which the first is that of the longest token that fits, and so on; how many they are */
static size_t spell_longest(struct memory *m, const struct bpe_merge *list, size_t n_list,
  const char *text, size_t n, uint32_t *id)
{
  return 0;
}
