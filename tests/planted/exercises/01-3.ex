==== check
# two lines: a text to learn all merges from, and a word that "always the longest token that fits" spells otherwise
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "tokens/bpe.h"
#include "lookups/split.h"
int main(int argc, char **argv)
{
  struct memory m = {0}; struct bpe_merge *list; size_t n, ask = strlen(argv[1]); struct error why; (void) argc;
  struct bpe b = {.n = 0}; struct bpe_work w = {.cap = 0}; struct ids out = {0}; const char *word = argv[2];
  if (strchr(word, ' ') || !bpe_train(&m, argv[1], ask, split_gpt2, ask, &list, &n, &why) || !bpe_learnt(&m, &b, list, n, &why)
      || !bpe_encode(&b, &m, &w, (const unsigned char *) word, strlen(word), &out, &why)) return 1;
  size_t at = 0, k = 0; int same = 1;
  while (word[at]) {
    size_t best = 0; uint32_t id = 0;
    for (uint32_t i = 0; i < 256 + n; i++) {
      struct bytes s = {0}; bpe_spell(&m, list, i, &s, NULL);
      if (s.n > best && s.n <= strlen(word + at) && memcmp(s.byte, word + at, s.n) == 0) best = s.n, id = i;
      bytes_free(&m, &s);
    }
    if (k >= out.n || out.id[k] != id) same = 0;
    at += best, k++;
  }
  return same && k == out.n;
}
C
text=$(lines | sed -n 1p) word=$(lines | sed -n 2p)
[ -n "$text" ] && [ -n "$word" ] || no "wanted: two lines, a text and a word"
run "$text" "$word" || no "after this text both spell the word alike, or it is no word"
==== answer
bc.bc.bc.ab.ab
abc
==== wrong
ab.ab.bc
abc
==== skeleton
# first line: the text to learn from; second line: the word
