/* 01-tokens.c -- made from chapters/01-tokens.w; change it there */

/* 1.2 */

#include <stdio.h>
#include <string.h>
#include "01-tokens/tokenizer.h"

/* 1.153  The texts of this chapter */

static const char hand_line[] = "the cat that sat";
static const char story[] =
    "The cat sat on the mat." " The rat sat on the " "cat.\n"
    "The cat sat up and " "the rat ran. That is " "that,\n"
    "said the cat, and sat " "on the mat.\n";
static const char sentence[] = "The cat sat on the " "mat.";
enum { HAND_MERGES = 9, STORY_MERGES = 24, MANY = 60 };

/* 1.154  Learn the nine merges of the hand calculation */

static void show(const struct tokenizer *t, uint32_t id, char room[64])
{
  size_t n, to = 0;
  const unsigned char *byte = tokenizer_text(t, id, &n);
  for (size_t i = 0; i < n && to < 58; i++) {
    bool plain = byte[i] > 32 && byte[i] < 127;
    if (plain || byte[i] == ' ')
      room[to++] = plain ? (char)byte[i] : '_';
    else
      to += (size_t)sprintf(room + to, "<%02x>", byte[i]);
  }
  room[to] = '\0';
}

/* 1.155  Learn the nine merges of the hand calculation */

struct lesson {
  struct bpe_merge *merge;
  size_t n, asked;
  struct tokenizer *t;
};
static bool learn_from(struct memory *m, const char *text, size_t merges,
                       struct lesson *l)
{
  struct error why;
  *l = (struct lesson) {.asked = merges };
  if (bpe_train(m, text, strlen(text), split_gpt2, merges, &l->merge, &l->n, &why)
      && (l->t = tokenizer_from_merges(m, l->merge, l->n, &why)) != NULL)
    return true;
  fprintf(stderr, "%s\n", why.words);
  return false;
}

static void forget(struct memory *m, struct lesson *l)
{
  tokenizer_close(m, l->t);
  bpe_forget(m, l->merge, l->asked);
}

/* 1.156  Learn the nine merges of the hand calculation */

static void print_merges(const struct lesson *l, size_t first)
{
  for (size_t k = 0; k < l->n; k++) {
    char left[64], right[64], both[140];
    show(l->t, l->merge[k].left + 1, left);
    show(l->t, l->merge[k].right + 1, right);
    snprintf(both, sizeof both, "%s+%s", left, right);
    bool last = (k + 1) % 4 == 0 || k + 1 == l->n;
    printf("%4zu %-*s%s", first + k, last ? 1 : 11, both, last ? "\n" : "");
  }
}

/* 1.159  Feed a stream token by token */

static void print_stream(struct memory *m, struct tokenizer *t)
{
  static const char price[] = "on \xe2\x82\xac" "9";
  struct ids list = { NULL, 0, 0 };
  struct stream s = {.n = 0 };
  tokenizer_encode(t, m, price, strlen(price), false, false, &list, NULL);
  printf("a stream of %zu ids: id, bytes released, bytes held\n ", list.n);
  for (size_t i = 0; i < list.n; i++) {
    struct bytes out = { NULL, 0, 0 };
    size_t n;
    const unsigned char *byte = tokenizer_text(t, list.id[i], &n);
    stream_feed(m, &s, byte, n, &out, NULL);
    printf(" %u/%zu/%zu", (unsigned)list.id[i], out.n, s.n);
    bytes_free(m, &out);
  }
  printf("\n");
  ids_free(m, &list);
}

/* 1.157  Learn from the longer text, and show ids */

static bool print_ids(struct memory *m, struct tokenizer *t, const char *text,
                      uint32_t minus)
{
  struct ids list = { NULL, 0, 0 };
  struct bytes back = { NULL, 0, 0 };
  bool ok = tokenizer_encode(t, m, text, strlen(text), false, false, &list, NULL)
      && tokenizer_decode(t, m, list.id, list.n, false, &back, NULL);
  printf("%s\n ", text);
  for (size_t i = 0; i < list.n; i++) {
    char room[64];
    show(t, list.id[i], room);
    printf(" %u:%s", (unsigned)(list.id[i] - minus), room);
  }
  bool same = ok && back.n == strlen(text) && memcmp(back.byte, text, back.n) == 0;
  printf("\n  %zu ids, and back: %s\n", list.n, same ? "the same" : "DIFFERENT");
  ids_free(m, &list);
  bytes_free(m, &back);
  return same;
}

/* 1.158  Learn from the longer text, and show ids */

static int print_lessons(void)
{
  struct memory m = {.refuse_at = 0 };
  struct lesson hand, cat;
  if (!learn_from(&m, hand_line, HAND_MERGES, &hand))
    return 1;
  printf("%zu merges from `%s'\n", hand.n, hand_line);
  print_merges(&hand, 256);
  bool ok = print_ids(&m, hand.t, "that", 1);
  forget(&m, &hand);
  if (!learn_from(&m, story, STORY_MERGES, &cat))
    return 1;
  printf("%zu merges from three lines about a cat\n", cat.n);
  print_merges(&cat, 257);
  ok = print_ids(&m, cat.t, "The cat sat", 0) && ok;
  ok = print_ids(&m, cat.t, sentence, 0) && ok;
  ok = print_ids(&m, cat.t, "The bat", 0) && ok;
  print_stream(&m, cat.t);
  forget(&m, &cat);
  return ok && m.all.held == 0 ? 0 : 1;
}

/* 1.160  Print keys and points */

/* 1.161  Count looks, the slow way and the fast way */

static uint64_t slow_looks(const struct bpe *b, uint32_t * id, size_t n)
{
  uint64_t looks = 0;
  for (;;) {
    uint32_t best = UINT32_MAX;
    size_t at = 0;
    for (size_t i = 0; i + 1 < n; i++, looks++) {
      uint32_t rank = pair_map_get(&b->rank, id[i], id[i + 1]);
      if (rank != 0 && rank < best)
        best = rank, at = i;
    }
    if (best == UINT32_MAX)
      return looks;
    id[at] = b->rule[best - 1].made;
    memmove(id + at + 1, id + at + 2, (n - at - 2) * sizeof *id);
    n--;
  }
}

/* 1.162  Count looks, the slow way and the fast way */

enum { LONGEST = 1024 };
static bool count_looks(struct memory *m, size_t n, uint64_t * slow,
                        uint64_t * fast)
{
  struct bpe b = {.n = 0 };
  struct bpe_work w = {.looks = 0 };
  struct ids out = { NULL, 0, 0 };
  unsigned char letter[LONGEST];
  uint32_t id[LONGEST];
  bool ok = true;
  memset(letter, 'a', n);
  for (uint32_t i = 0; i < 256; i++)
    b.byte_id[i] = i;
  for (size_t i = 0; i < n; i++)
    id[i] = 'a';
  for (uint32_t k = 0; ok && k < 10; k++)
    ok = bpe_add(m, &b, k == 0 ? 'a' : 255 + k, k == 0 ? 'a' : 255 + k, 256 + k,
                 NULL);
  ok = ok && bpe_encode(&b, m, &w, letter, n, &out, NULL);
  *fast = w.looks, *slow = slow_looks(&b, id, n);
  ids_free(m, &out);
  bpe_work_free(m, &w);
  bpe_free(m, &b);
  return ok;
}

/* 1.163  Print the numbers that the prose quotes */

static size_t count_ids(struct memory *m, struct tokenizer *t, const char *text)
{
  struct ids list = { NULL, 0, 0 };
  tokenizer_encode(t, m, text, strlen(text), false, false, &list, NULL);
  size_t n = list.n;
  ids_free(m, &list);
  return n;
}

static int print_values(void)
{
  struct memory m = {.refuse_at = 0 };
  struct lesson hand, cat;
  uint64_t slow, fast;
  if (!learn_from(&m, hand_line, HAND_MERGES, &hand)
      || !learn_from(&m, story, STORY_MERGES, &cat)
      || !count_looks(&m, LONGEST, &slow, &fast))
    return 1;
  printf("tokens.bytes 256\ntokens.looks.n %d\n", LONGEST);
  printf("tokens.looks.slow %d\ntokens.looks.fast %d\n", (int)slow, (int)fast);
  printf("tokens.hand.merges %zu\n", hand.n);
  printf("tokens.hand.that %zu\n", count_ids(&m, hand.t, "that"));

/* 1.164  Print the keys of the story */

  printf("tokens.story.merges %zu\n", cat.n);
  printf("tokens.story.bytes %zu\n", strlen(story));
  printf("tokens.story.ids %zu\n", count_ids(&m, cat.t, story));
  printf("tokens.sentence.bytes %zu\n", strlen(sentence));
  printf("tokens.sentence.ids %zu\n", count_ids(&m, cat.t, sentence));
  printf("tokens.cat.ids %zu\n", count_ids(&m, cat.t, "The cat sat"));
  printf("tokens.euro.ids %zu\n", count_ids(&m, cat.t, "\xe2\x82\xac"));
  printf("claim.S3-52 %zu\n", count_ids(&m, cat.t, "\xe2\x82\xac"));
  printf("claim.S4-03 %zu\n", count_ids(&m, cat.t, " on the mat"));

/* 1.165  Print the sizes of published vocabularies */

  static const struct {
    const char *name;
    int merges, special;
  } published[] = { {"gpt2", 50000, 1}, {"llama3", 127744, 256},
  {"cl100k", 100000, 21}
  };
  for (size_t i = 0; i < 3; i++) {
    int size = 256 + published[i].merges + published[i].special;
    printf("tokens.%s %d\n", published[i].name, size);
    printf("tokens.%s.merges %d\n", published[i].name, published[i].merges);
    printf("tokens.%s.special %d\n", published[i].name, published[i].special);
    if (i == 1)
      printf("claim.S1-04 %d\n", size);
    if (i == 2)
      printf("claim.S3-02 %d\n", size);
  }

  forget(&m, &hand);
  forget(&m, &cat);
  return 0;
}

/* 1.166  Print the points of the figures */

static bool print_row(struct memory *m, size_t merges)
{
  struct lesson l;
  struct ids list = { NULL, 0, 0 };
  size_t at = 0, n;
  if (!learn_from(m, story, merges, &l))
    return false;
  bool ok = tokenizer_encode(l.t, m, sentence, strlen(sentence), false, false,
                             &list, NULL);
  for (size_t i = 0; i < list.n; at += n, i++) {
    char room[64];
    show(l.t, list.id[i], room);
    tokenizer_text(l.t, list.id[i], &n);
    printf("%zu,%zu,%zu,%zu,%s\n", merges, at, n, list.n, room);
  }
  ids_free(m, &list);
  forget(m, &l);
  return ok;
}

/* 1.167  Print the points of the figures */

static int print_growth(void)
{
  static const size_t level[] = { 0, 1, 2, 4, 5, 6, 8, 11, 13, 18 };
  struct memory m = {.refuse_at = 0 };
  printf("merges,from,length,ids,text\n");
  for (size_t i = 0; i < sizeof level / sizeof *level; i++)
    if (!print_row(&m, level[i]))
      return 1;
  return 0;
}

/* 1.168  Print the points of the figures */

static int print_shrink(void)
{
  struct memory m = {.refuse_at = 0 };
  printf("merges,ids\n");
  for (size_t k = 0; k <= MANY; k++) {
    struct lesson l;
    if (!learn_from(&m, story, k, &l))
      return 1;
    printf("%zu,%zu\n", k, count_ids(&m, l.t, story));
    forget(&m, &l);
  }
  return 0;
}

static int print_work(void)
{
  struct memory m = {.refuse_at = 0 };
  printf("n,slow,fast\n");
  for (size_t n = 2; n <= LONGEST; n *= 2) {
    uint64_t slow, fast;
    if (!count_looks(&m, n, &slow, &fast))
      return 1;
    printf("%zu,%d,%d\n", n, (int)slow, (int)fast);
  }
  return 0;
}

static int run(const char *what)
{
  if (strcmp(what, "values") == 0)
    return print_values();
  if (strcmp(what, "growth") == 0)
    return print_growth();
  if (strcmp(what, "shrink") == 0)
    return print_shrink();
  if (strcmp(what, "work") == 0)
    return print_work();
  return print_lessons();
}

int main(int argc, char **argv)
{
  return run(argc > 1 ? argv[1] : "");
}
