/* try_split.c -- the two cutters of texts beside each other: PCRE2 with the pattern of GPT-2 (lookups/split.c) and the one that a page
   has (split.c). Every code point in eight surroundings, and texts at random of what the pattern can tell apart. */

#include <stdio.h>
#include <string.h>
#include "lookups/split.h"

/* the page's cutter, under names of its own */
#define splitter_open lean_open
#define splitter_close lean_close
#define splitter_same lean_same
#define splitter_unicode lean_unicode
#define split_work_free lean_work_free
#define pieces_begin lean_begin
#define pieces_next lean_next
#define split_gpt2 lean_gpt2
#define splitter lean_splitter
#undef INCIPIT_SPLIT_H
#define text_piece lean_piece
#define pieces lean_pieces
#define split_work lean_work
#include "split.c"
#undef splitter_open
#undef splitter_close
#undef splitter_unicode
#undef split_work_free
#undef pieces_begin
#undef pieces_next
#undef splitter
#undef text_piece
#undef pieces
#undef split_work

static struct memory m;
static struct error why;
static struct splitter *by;
static struct split_work work;
static unsigned long texts, differ, cut;

static void compare(const unsigned char *text, size_t n)
{
  static struct lean_splitter lean;
  struct pieces a;
  struct lean_pieces b;
  struct text_piece x = { NULL, 1, false };
  struct lean_piece y;
  bool same = true;
  pieces_begin(&a, by, &work, text, n);
  lean_begin(&b, &lean, NULL, text, n);
  for (; same && x.n > 0; cut++)
    same = pieces_next(&a, &x, &why) && lean_next(&b, &y, &why) && x.n == y.n && x.byte == y.byte && x.match == y.match;
  texts++;
  if (!same && differ++ < 5) {
    printf("another cut at byte %zu of", (size_t) (x.byte - text));
    for (size_t i = 0; i < n; i++) printf(" %02x", text[i]);
    printf("\n");
  }
}

static size_t spell(uint32_t c, unsigned char *b)
{
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  if (n == 1) return *b = (unsigned char) c, 1;
  for (size_t i = n - 1; i > 0; i--, c >>= 6) b[i] = (unsigned char) (0x80 | (c & 0x3f));
  b[0] = (unsigned char) ((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
  return n;
}

static void every_character(void)
{
  static const char *const around[][2] = { { "", "" }, { "a", "a" }, { " ", "" }, { "  ", " 1" }, { "'", "s" }, { "1", "!" },
    { "\n", " x" }, { "x", "  " } };
  unsigned char text[16];
  for (uint32_t c = 0; c < 0x110000; c++) {
    if (c >= 0xd800 && c < 0xe000) continue;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
      size_t n = strlen(around[i][0]), k = strlen(around[i][1]);
      memcpy(text, around[i][0], n);
      n += spell(c, text + n);
      memcpy(text + n, around[i][1], k);
      compare(text, n + k);
    }
  }
}

static void at_random(void)
{
  static const char *const part[] = { " ", " ", "  ", "\n", "\t", "'", "'s", "'re", "'ll", "'v", "a", "the", "E", "1", "23", "!", "?!", "-",
    "\xc2\xa0", "\xe2\x80\x83", "\xc3\xa9", "\xe4\xbd\xa0", "\xc2\xbd", "\xd9\xa3", "\xf0\x9f\x98\x80", "\xcc\x81" };
  uint64_t s = 20260101;
  for (int i = 0; i < 300000; i++) {
    unsigned char text[64];
    size_t n = 0;
    for (int k = 0; k < 10; k++) {
      s = s * UINT64_C(6364136223846793005) + 1;
      const char *p = part[(s >> 33) % (sizeof part / sizeof *part)];
      memcpy(text + n, p, strlen(p));
      n += strlen(p);
    }
    compare(text, n);
  }
}

int main(void)
{
  work.m = &m;
  by = splitter_open(&m, split_gpt2, strlen(split_gpt2), false, &why);
  if (by == NULL) return 1;
  every_character();
  at_random();
  printf("%lu texts, %lu pieces, %lu texts cut otherwise\n", texts, cut, differ);
  split_work_free(&work), splitter_close(by);
  return differ > 0;
}
