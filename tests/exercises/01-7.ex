==== check
# C: a function that spells a text by "always the longest token that fits"
set -e
cat > $BUILD/ex.c <<'C'
#include <stdio.h>
#include <string.h>
#include "tokens/bpe.h"
C
cat "$1" >> $BUILD/ex.c
cat >> $BUILD/ex.c <<'C'
int main(void)
{
  /* 256 ab, 257 bc, 258 abc (ab+c), 259 aa, 260 aaaa */
  static const struct bpe_merge list[] = {{97, 98}, {98, 99}, {256, 99}, {97, 97}, {259, 259}};
  static const struct { const char *text; size_t n; uint32_t id[8]; } want[] = {
    {"abc", 1, {258}}, {"abab", 2, {256, 256}}, {"aab", 2, {259, 98}}, {"aaaaaaa", 3, {260, 259, 97}}, {"xbc", 2, {120, 257}}, {"", 0, {0}},
    {"abcab", 2, {258, 256}}, {"aaabc", 2, {259, 258}}};
  struct memory m = {0};
  for (size_t i = 0; i < 8; i++) {
    uint32_t id[64]; size_t n = spell_longest(&m, list, 5, want[i].text, strlen(want[i].text), id);
    if (n != want[i].n || (n && memcmp(id, want[i].id, n * sizeof *id) != 0)) return 1;
  }
  return m.all.live != 0;
}
C
${CC:-cc} -std=gnu11 -w -Itangled $BUILD/ex.c $BUILD/libincipit.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
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
