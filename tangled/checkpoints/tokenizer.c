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

/* <Show the lattice> */
static const struct { const char *word; double score; } scored[] = {
  { "a", -2 }, { "b", -2.5 }, { "ab", -3 }, { "ba", -3.1 },
  { "aba", -5 } };
enum { SCORED = 5 };

static bool make_scored(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  for (uint32_t i = 0; i < SCORED; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(m, t, i, why);
    if (k == NULL || !tokenizer_intern(m, t, scored[i].word,
      strlen(scored[i].word), &k->piece, why)) return false;
    k->text = k->piece;
  }
  t->char_level = true;
  if (!tokenizer_make_scores(m, t, why)) return false;
  for (int i = 0; i < SCORED; i++)
    t->unigram.score[i] = scored[i].score;
  return tokenizer_index_vocab(m, t, why)
    && tokenizer_index_scores(m, t, -5, false, why)
    && tokenizer_index_added(m, t, why);
}

static void print_arcs(const char *text, const struct ids *best)
{
  printf("from,to,piece,score,best\n");
  for (size_t at = 0; at < strlen(text); at++)
    for (int i = 0; i < SCORED; i++) {
      size_t n = strlen(scored[i].word), place = 0, on = 0;
      if (strncmp(text + at, scored[i].word, n) != 0) continue;
      for (size_t k = 0; k < best->n; k++) {
        on = on || (place == at && best->id[k] == (uint32_t) i);
        place += strlen(scored[best->id[k]].word);
      }
      printf("%zu,%zu,%s,%g,%zu\n", at, at + n, scored[i].word,
        scored[i].score, on);
    }
}

static bool show_lattice(bool values, bool lattice)
{
  static const char text[] = "abab";
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct ids list = { NULL, 0, 0 };
  struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t,
    &why);
  bool ok = t != NULL && make_scored(&m, t, &why)
    && tokenizer_encode(t, &m, text, strlen(text), false, false,
    &list, &why);
  if (lattice) print_arcs(text, &list);
  else if (values) printf("vocab.best %zu\n", list.n);
  else printf("best way:   |%s| is", text);
  for (size_t i = 0; i < list.n && !lattice && !values; i++)
    printf(" %s%s", scored[list.id[i]].word, i + 1 < list.n ? "" : "\n");
  ids_free(&m, &list);
  tokenizer_close(&m, t);
  return ok && m.all.live == 0;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  bool values = strcmp(what, "values") == 0;
  bool lattice = strcmp(what, "lattice") == 0;
  for (int newer = 0; newer < 2 && !lattice; newer++)
    if (!show_order(newer, values)) return 1;
  return show_lattice(values, lattice) ? 0 : 1;
}
