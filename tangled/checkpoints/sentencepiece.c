/* the program -- made from workshop/05-sentencepiece.w; change it there */

#include <stdio.h>
#include <string.h>
#include "sentencepiece/sentencepiece.h"

/* <The words of the hand calculation> */
static const char *const word[] = { "a", "b", "ab", "ba", "aba" };
enum { WORDS = 5 };

/* <Tokens with ranks> */
static bool with_ranks(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  uint32_t rank[WORDS];
  for (uint32_t i = 0; i < WORDS; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(m, t, i, why);
    if (k == NULL || !tokenizer_intern(m, t, word[i], strlen(word[i]),
      &k->piece, why)) return false;
    k->text = k->piece, rank[i] = i;
  }
  return tokenizer_index_vocab(m, t, why) && tiktoken_pairs_from_ranks(m, t, rank, why)
    && tokenizer_index_added(m, t, why);
}

/* <Tokens with scores> */
static size_t write_piece(unsigned char *out, const char *words,
  float score, unsigned char type)
{
  size_t n = strlen(words);
  unsigned char *at = out;
  *at++ = 10, *at++ = (unsigned char) (n + 9);
  *at++ = 10, *at++ = (unsigned char) n;
  memcpy(at, words, n), at += n;
  *at++ = 21;
  memcpy(at, &score, 4), at += 4;
  *at++ = 24, *at++ = type;
  return (size_t) (at - out);
}

static bool with_scores(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  static const unsigned char rest[] = { 18, 2, 24, 2, 26, 6, 24, 0,
    32, 0, 40, 0 };
  unsigned char message[200];
  uint32_t begin, end;
  bool ours;
  size_t n = write_piece(message, "<unk>", 0, 2);
  for (int i = 0; i < WORDS; i++) n += write_piece(message + n,
    word[i], (float) -i, 1);
  memcpy(message + n, rest, sizeof rest);
  return sentencepiece_read(m, t, "the message", message,
    n + sizeof rest, &begin, &end, &ours, why);
}

/* <Spell with both> */
static bool show(struct memory *m, struct tokenizer *t,
  const char *text, uint32_t less, struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  bool ok = tokenizer_encode(t, m, text, strlen(text), false, false,
    &list, why);
  printf("  %s:", text);
  for (size_t i = 0; i < list.n; i++)
    printf(" %s", word[(list.id[i] - less) % WORDS]);
  printf("\n");
  ids_free(m, &list);
  return ok;
}

static bool spell_with_both(bool values)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  bool ok = true;
  for (int scores = 0; ok && scores < 2; scores++) {
    struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t,
      &why);
    ok = t != NULL && (scores ? with_scores(&m, t, &why)
      : with_ranks(&m, t, &why));
    if (ok && values) printf("scores.pairs.%s %zu\n",
      scores ? "scores" : "ranks", t->rules.n);
    if (ok && !values) {
      printf("%zu pairs from %s\n", t->rules.n, scores ? "scores"
        : "ranks");
      ok = show(&m, t, "abaa", (uint32_t) scores, &why)
        && show(&m, t, "baa", (uint32_t) scores, &why);
    }
    tokenizer_close(&m, t);
  }
  if (!ok) printf("%s\n", why.text);
  return ok && m.all.live == 0;
}

int main(int argc, char **argv)
{
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  return spell_with_both(values) ? 0 : 1;
}
