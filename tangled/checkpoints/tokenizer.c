/* the program -- made from workshop/04-tokenizer.w; change it there */

#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer_internal.h"

/* <A vocabulary of a few words> */
#define BLOCK "\xe2\x96\x81"
static bool make_words(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  static const char *const word[] = { BLOCK, "a", BLOCK "a",
    "<0xC3>", "<0xA9>" };
  t->char_level = t->byte_fallback = t->strip_prefix_space = true;
  for (uint32_t i = 0; i < 5; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(m, t, i, why);
    if (k == NULL || !tokenizer_intern(m, t, word[i], strlen(word[i]),
      &k->piece, why)) return false;
    k->text = k->piece;
  }
  return bpe_add(m, &t->rules, 0, 1, 2, why)
    && tokenizer_texts_replace(m, t, BLOCK, 3, " ", 1, why)
    && tokenizer_texts_as_bytes(m, t, why) && tokenizer_index_added(m, t, why);
}

static bool make_forms(struct memory *m, struct tokenizer *t,
  bool newer, struct error *why)
{
  for (int i = 0; i < 2; i++) {
    bool put = (i == 0) != newer;
    struct text_step s = { .what = put ? STEP_PREPEND : STEP_REPLACE,
      .unless_there = newer };
    if (!tokenizer_add_string(m, t, s, BLOCK, 3, put ? NULL : " ", 1, true, why))
      return false;
  }
  t->n_normalizers = t->n_steps;
  return true;
}

/* <Show a text's ids in both orders> */
static bool show_text(struct memory *m, struct tokenizer *t,
  bool newer, bool values, const char *text, struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  struct bytes back = { NULL, 0, 0 };
  bool ok = tokenizer_encode(t, m, text, strlen(text), false, false,
    &list, why) && tokenizer_decode(t, m, list.id, list.n, false,
    &back, why);
  if (values) printf("vocab.order.%s.%zu %zu\n",
    newer ? "newer" : "older", strlen(text), list.n);
  else {
    printf("%s form: |%s| is", newer ? "newer" : "older", text);
    for (size_t i = 0; i < list.n; i++)
      printf(" %u", (unsigned) list.id[i]);
    printf(", and back |%.*s|\n", (int) back.n,
      back.n > 0 ? (const char *) back.byte : "");
  }
  ids_free(m, &list);
  bytes_free(m, &back);
  return ok;
}

static bool show_order(bool newer, bool values)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t,
    &why);
  bool ok = t != NULL && make_forms(&m, t, newer, &why)
    && make_words(&m, t, &why)
    && show_text(&m, t, newer, values, " a", &why)
    && show_text(&m, t, newer, values, "a\xc3\xa9", &why);
  tokenizer_close(&m, t);
  return ok && m.all.live == 0;
}

int main(int argc, char **argv)
{
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  for (int newer = 0; newer < 2; newer++)
    if (!show_order(newer, values)) return 1;
  return 0;
}
