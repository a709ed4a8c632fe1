/* the program -- made from workshop/06-tokenizer-json.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tokenizer-json/tokenizer_json.h"

/* <Show ids as pieces> */
static const char lesson[] = "the cat sat on the mat, the rat sat on the cat";
static const char probe[] = "<|endoftext|>the caf\xc3\xa9";
enum { LESSON_MERGES = 14 };
static void print_ids(const struct tokenizer *t, const char *label,
  const struct ids *list)
{
  printf("%s", label);
  for (size_t i = 0; i < list->n; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(t, list->id[i], &n);
    printf(i > 0 && i % 6 == 0 ? "\n          %u:" : " %u:",
      (unsigned) list->id[i]);
    for (size_t k = 0; k < n; k++)
      if (byte[k] >= 33 && byte[k] < 127) putchar(byte[k]);
      else printf(byte[k] == ' ' ? "_" : "<%02x>", byte[k]);
  }
  printf("\n");
}

static bool encode_probe(struct memory *m, struct tokenizer *t,
  bool parse_special, struct ids *list, struct error *why)
{
  list->n = 0;
  return tokenizer_encode(t, m, probe, strlen(probe), false,
    parse_special, list, why);
}

static bool same_ids(struct memory *m, struct tokenizer *t,
  struct tokenizer *u, struct error *why)
{
  struct ids one = { NULL, 0, 0 }, two = { NULL, 0, 0 };
  bool same = true;
  for (int special = 0; same && special < 2; special++) {
    same = encode_probe(m, t, special, &one, why)
      && encode_probe(m, u, special, &two, why) && one.n == two.n
      && memcmp(one.id, two.id, one.n * sizeof *one.id) == 0;
    print_ids(u, special ? "  parsed:" : "  typed: ", &two);
  }
  ids_free(m, &one);
  ids_free(m, &two);
  return same;
}

/* <Show how a file is refused> */
static void print_refusal(struct memory *m)
{
  static const char text[] = "{\"model\": {\"type\": \"BPE\", "
    "\"vocab\": {\"a\": 0}, \"merges\": []}, \"normalizer\": {\"type\": \"BertNormalizer\"}, "
    "\"pre_tokenizer\": {\"type\": \"ByteLevel\"}}";
  char path[] = "/tmp/incipit-vocabulary-XXXXXX";
  struct error why = { "?" };
  int f = mkstemp(path);
  if (f < 0) return;
  bool written = write(f, text,
    strlen(text)) == (ssize_t) strlen(text);
  close(f);
  if (written && tokenizer_open(m, path, &why) == NULL) {
    const char *words = why.text + strlen(path) + 2;
    size_t n = strcspn(words, ";");
    printf("refused:\n  %.*s\n", (int) n, words);
    for (words += n + strspn(words + n, "; "); *words != 0;
      words += n + strspn(words + n, " ")) {
      n = strlen(words);
      if (n > 60) for (n = 60; words[n] != ' '; n--) ;
      printf("  %.*s\n", (int) n, words);
    }
  }
  remove(path);
}

/* <Go by way of a file, and compare> */
static struct tokenizer *by_way_of_a_file(struct memory *m,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  char path[] = "/tmp/incipit-vocabulary-XXXXXX";
  int f = mkstemp(path);
  if (f < 0) return NULL;
  close(f);
  struct tokenizer *t = NULL;
  if (tokenizer_write(m, path, merge, n, why))
    t = tokenizer_open(m, path, why);
  remove(path);
  return t;
}

static int print_round_trip(void)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "no file can be made in /tmp" };
  struct bpe_merge *merge;
  size_t n;
  if (!bpe_train(&m, lesson, strlen(lesson), split_gpt2,
    LESSON_MERGES, &merge, &n, &why)) return 1;
  struct tokenizer *t = tokenizer_from_merges(&m, merge, n, &why);
  struct tokenizer *u = t ? by_way_of_a_file(&m, merge, n, &why)
    : NULL;
  bool same = false;
  if (u != NULL) {
    printf("%s, %zu ids, written and read again\n",
      tokenizer_kind(u), tokenizer_vocab_size(u));
    same = same_ids(&m, t, u, &why);
    printf("%s\n", same ? "  the same ids" : "  DIFFERENT");
    print_refusal(&m);
  } else printf("%s\n", why.text);
  tokenizer_close(&m, t);
  tokenizer_close(&m, u);
  bpe_forget(&m, merge);
  return same && m.all.live == 0 ? 0 : 1;
}

/* <Print the alphabet of bytes> */
static int print_alphabet(void)
{
  printf("byte,character\n");
  for (unsigned b = 0; b < 256; b++)
    printf("%u,%u\n", b, (unsigned) tokenizer_byte_to_unicode(b));
  return 0;
}

static int print_values(void)
{
  int itself = 0;
  for (unsigned b = 0; b < 256; b++) itself += tokenizer_byte_to_unicode(b) == b;
  printf("vocab.alphabet.itself %d\nvocab.alphabet.moved %d\n",
    itself, 256 - itself);
  printf("vocab.alphabet.last %u\n", (unsigned) tokenizer_byte_to_unicode(173));
  printf("vocab.max_id %d\nvocab.max_stages %d\n", TOKENIZER_MAX_ID,
    TOKENIZER_MAX_STEPS);
  return 0;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "alphabet") == 0) return print_alphabet();
  if (strcmp(what, "values") == 0) return print_values();
  return print_round_trip();
}
