/* the program -- made from laboratory/01-tokens.w; change it there */

#include <stdio.h>
#include <string.h>
#include "tokens/lesson.h"
#include "laboratory/kit.h"

/* <Count looks, the slow way and the fast way> */
static uint64_t slow_looks(const struct bpe *b, uint32_t *id,
  size_t n)
{
  uint64_t looks = 0;
  for (;;) {
    uint32_t best = UINT32_MAX;
    size_t at = 0;
    for (size_t i = 0; i + 1 < n; i++, looks++) {
      uint32_t rank = pair_map_get(&b->place, id[i], id[i + 1]);
      if (rank != 0 && rank < best) best = rank, at = i;
    }
    if (best == UINT32_MAX) return looks;
    id[at] = b->rule[best - 1].made;
    memmove(id + at + 1, id + at + 2, (n - at - 2) * sizeof *id);
    n--;
  }
}

enum { LONGEST = 1024 };
static bool count_looks(struct memory *m, size_t n, uint64_t *slow,
  uint64_t *fast)
{
  struct bpe b = { .n = 0 };
  struct bpe_work w = { .lookups = 0 };
  struct ids out = { NULL, 0, 0 };
  unsigned char letter[LONGEST];
  uint32_t id[LONGEST];
  bool ok = true;
  memset(letter, 'a', n);
  for (uint32_t i = 0; i < 256; i++) b.byte_id[i] = i;
  for (size_t i = 0; i < n; i++) id[i] = 'a';
  /* <Add ten merges that double> */
  for (uint32_t k = 0; ok && k < 10; k++)
    ok = bpe_add(m, &b, k == 0 ? 'a' : 255 + k,
      k == 0 ? 'a' : 255 + k, 256 + k, NULL);
  ok = ok && bpe_encode(&b, m, &w, letter, n, &out, NULL);
  *fast = w.lookups, *slow = slow_looks(&b, id, n);
  ids_free(m, &out);
  bpe_work_free(m, &w);
  bpe_free(m, &b);
  return ok;
}

/* <Fill a table, and find its longest run> */
enum { PAIRS = 1000 };
static bool fill_table(struct memory *m, size_t *buffer, size_t *max_len)
{
  struct pair_map p = { NULL, 0, 0 };
  bool ok = true;
  size_t run = 0;
  for (uint32_t i = 1; ok && i <= PAIRS; i++)
    ok = pair_map_put(m, &p, i, i + 1, i, NULL);
  for (uint32_t i = 1; ok && i <= PAIRS; i++)
    ok = pair_map_get(&p, i, i + 1) == i && pair_map_get(&p, i + 1, i) == 0;
  *max_len = 0, *buffer = p.cap;
  for (size_t i = 0; i < p.cap; i++) {
    run = p.slot[i].value != 0 ? run + 1 : 0;
    if (run > *max_len) *max_len = run;
  }
  pair_map_free(m, &p);
  return ok;
}

/* <Print the numbers that the prose quotes> */

/* <Print the keys of the story> */
static void print_story_keys(struct memory *m, struct lesson *cat)
{
  char unicode[24];
  splitter_unicode(unicode);
  printf("tokens.unicode %s\n", unicode);
  printf("tokens.story.merges %zu\n", cat->n);
  printf("tokens.story.bytes %zu\n", strlen(story));
  printf("tokens.story.ids %zu\n", lesson_count(m, cat, story));
  printf("tokens.news.bytes %zu\n", strlen(news));
  printf("tokens.news.ids %zu\n", lesson_count(m, cat, news));
  printf("tokens.sentence.bytes %zu\n", strlen(sentence));
  printf("tokens.sentence.ids %zu\n", lesson_count(m, cat, sentence));
  printf("tokens.cat.ids %zu\n", lesson_count(m, cat, "The cat sat"));
  printf("tokens.euro.ids %zu\n", lesson_count(m, cat, "\xe2\x82\xac"));
  printf("claim.S3-52 %zu\n", lesson_count(m, cat, "\xe2\x82\xac"));
  printf("claim.S4-03 %zu\n", lesson_count(m, cat, " on the mat"));
}

/* <Print the sizes of published vocabularies> */
static void print_published(void)
{
  static const struct { const char *name, *claim; int merges,
    special; } list[] = { { "gpt2", NULL, 50000, 1 },
      { "llama3", "S1-04", 127744, 256 },
      { "cl100k", "S3-02", 100000, 21 } };
  for (size_t i = 0; i < 3; i++) {
    int size = 256 + list[i].merges + list[i].special;
    printf("tokens.%s %d\n", list[i].name, size);
    printf("tokens.%s.merges %d\n", list[i].name, list[i].merges);
    printf("tokens.%s.special %d\n", list[i].name, list[i].special);
    if (list[i].claim != NULL) printf("claim.%s %d\n", list[i].claim,
      size);
  }
}

/* <Print tokens per word> */
enum { COUNTED = 15 };
struct word_counts { double english; size_t printed; };
static bool print_count(void *ctx, const char *line)
{
  struct word_counts *c = ctx;
  char name[16], text[16];
  unsigned words, bytes, tokens;
  if (sscanf(line, "%15[^,],%15[^,],%u,%u,%u", name, text, &words, &bytes,
    &tokens) != 5) return false;
  printf("tokens.words.%s.%s %.4f\n", name, text, (double) tokens / words);
  printf("tokens.width.%s.%s %.4f\n", name, text, (double) bytes / tokens);
  if (c->printed++ < 3) printf("tokens.words.%s %u\n", text, words);
  if (strcmp(text, "english") == 0) c->english = tokens;
  if (strcmp(text, "german") == 0)
    printf("tokens.german.%s %.4f\n", name, tokens / c->english);
  return true;
}

static bool print_words(void)
{
  struct word_counts c = { 0, 0 };
  struct error why;
  if (data_read("tokens.words", print_count, &c, COUNTED, &why))
    return true;
  fprintf(stderr, "%s\n", why.text);
  return false;
}

static int print_values(void)
{
  struct memory m = { .fail_at = 0 };
  struct lesson hand, cat;
  uint64_t slow, fast;
  size_t cap, max_len;
  if (!lesson_learn(&m, hand_line, HAND_MERGES, &hand)
    || !lesson_learn(&m, story, STORY_MERGES, &cat)
    || !count_looks(&m, LONGEST, &slow, &fast)
    || !fill_table(&m, &cap, &max_len)) return 1;
  printf("tokens.bytes 256\ntokens.looks.n %d\n", LONGEST);
  printf("tokens.looks.slow %d\ntokens.looks.fast %d\n", (int) slow,
    (int) fast);
  printf("tokens.hand.merges %zu\n", hand.n);
  printf("tokens.hand.that %zu\n", lesson_count(&m, &hand, "that"));
  print_story_keys(&m, &cat);
  print_published();
  if (!print_words()) return 1;
  printf("lookups.pairs %d\nlookups.slots %zu\n", PAIRS, cap);
  printf("lookups.crowd %zu\n", max_len);
  lesson_forget(&m, &hand);
  lesson_forget(&m, &cat);
  return 0;
}

/* <Print the points of the figures> */
static bool print_row(struct memory *m, size_t merges)
{
  struct lesson l;
  struct ids list = { NULL, 0, 0 };
  size_t at = 0, n;
  if (!lesson_learn(m, story, merges, &l)) return false;
  bool ok = lesson_encode(m, &l, sentence, &list);
  for (size_t i = 0; i < list.n; at += n, i++) {
    char buffer[64];
    n = lesson_show(m, &l, list.id[i], buffer);
    printf("%zu,%zu,%zu,%s\n", merges, at, n, buffer);
  }
  ids_free(m, &list);
  lesson_forget(m, &l);
  return ok;
}

static int print_growth(void)
{
  static const size_t level[] = { 0, 1, 2, 4, 5, 6, 8, 11, 13,
    18 };
  struct memory m = { .fail_at = 0 };
  printf("merges,from,length,text\n");
  for (size_t i = 0; i < sizeof level / sizeof *level; i++)
    if (!print_row(&m, level[i])) return 1;
  return 0;
}

enum { MANY = 40 };
static int print_shrink(void)
{
  struct memory m = { .fail_at = 0 };
  printf("merges,story,news\n");
  for (size_t k = 0; k <= MANY; k++) {
    struct lesson l;
    if (!lesson_learn(&m, story, k, &l)) return 1;
    printf("%zu,%.4f,%.4f\n", k,
      (double) strlen(story) / (double) lesson_count(&m, &l, story),
      (double) strlen(news) / (double) lesson_count(&m, &l, news));
    lesson_forget(&m, &l);
  }
  return 0;
}

static int print_work(void)
{
  struct memory m = { .fail_at = 0 };
  printf("n,slow,fast\n");
  for (size_t n = 2; n <= LONGEST; n *= 2) {
    uint64_t slow, fast;
    if (!count_looks(&m, n, &slow, &fast)) return 1;
    printf("%zu,%d,%d\n", n, (int) slow, (int) fast);
  }
  return 0;
}

static int print_held(void)
{
  struct memory m = { .fail_at = 0 };
  struct lesson cat;
  if (!lesson_learn(&m, story, STORY_MERGES, &cat)) return 1;
  printf("id,released,held\n");
  lesson_stream(&m, &cat, price, "%u,%zu,%zu\n");
  lesson_forget(&m, &cat);
  return 0;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "values") == 0) return print_values();
  if (strcmp(what, "growth") == 0) return print_growth();
  if (strcmp(what, "shrink") == 0) return print_shrink();
  if (strcmp(what, "work") == 0) return print_work();
  if (strcmp(what, "stream") == 0) return print_held();
  return 1;
}
