/* the program -- made from chapters/01-tokens.w; change it there */

#include <stdio.h>
#include <string.h>
#include "tokens/bpe.h"
#include "lookups/split.h"

/* <From a text to its ids> */
static bool encode(struct memory *m, const struct bpe *rules,
  const char *text, struct ids *out, struct error *why)
{
  struct bpe_work work = { .cap = 0 };
  struct split_work cut = { .m = m };
  struct splitter *by = splitter_open(m, split_gpt2, strlen(split_gpt2),
    false, why);
  struct pieces p;
  struct text_piece next;
  bool ok = by != NULL;
  pieces_begin(&p, by, &cut, (const unsigned char *) text, strlen(text));
  while (ok && (ok = pieces_next(&p, &next, why)) && next.n > 0)
    ok = bpe_encode(rules, m, &work, next.byte, next.n, out, why);
  split_work_free(&cut);
  splitter_close(by);
  bpe_work_free(m, &work);
  return ok;
}

int main(void)
{
  static const char text[] = "the cat that sat", word[] = "that";
  struct memory m = { .fail_at = 0 };
  struct error why = { .text = "" };
  struct bpe_merge *merge = NULL;
  struct bpe rules = { .n = 0 };
  struct ids list = { NULL, 0, 0 };
  struct bytes back = { NULL, 0, 0 };
  size_t n = 0;
  /* <Learn the merges, and encode the word> */
  bool ok = bpe_train(&m, text, strlen(text), split_gpt2, 9, &merge, &n,
    &why) && bpe_learnt(&m, &rules, merge, n, &why)
    && encode(&m, &rules, word, &list, &why);
  /* <Print merges and ids, and expand the ids> */
  for (size_t k = 0; k < n; k++) printf("%3u + %3u -> %zu%s",
    (unsigned) merge[k].left, (unsigned) merge[k].right, 256 + k,
    k % 3 == 2 ? "\n" : "     ");
  printf("%s:", word);
  for (size_t i = 0; ok && i < list.n; i++) {
    printf(" %u", (unsigned) list.id[i]);
    ok = bpe_spell(&m, merge, list.id[i], &back, &why);
  }
  printf(", and back: %.*s%s\n", (int) back.n, (char *) back.byte, why.text);
  ok = ok && back.n == strlen(word) && memcmp(back.byte, word, back.n) == 0;
  bytes_free(&m, &back);
  ids_free(&m, &list);
  bpe_free(&m, &rules);
  bpe_forget(&m, merge);
  return ok && m.all.live == 0 ? 0 : 1;
}
