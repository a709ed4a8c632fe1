/* words.c -- the white space beside a token, and whether a token is a whole word.

   Both are what Hugging Face's library means by them, or its texts would be cut otherwise. */

#include <utf8proc.h>
#include "tokenizer/inside.h"

/* Unicode's White_Space. Its list has not changed since version 6.3, so it can stand in a
   program; the list of letters grows every year. */
static bool is_space(uint32_t c)
{
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85
    || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a)
    || c == 0x2028 || c == 0x2029
    || c == 0x202f || c == 0x205f || c == 0x3000;
}

size_t tokenizer_space_after(const unsigned char *text, size_t n,
  size_t at)
{
  for (enum utf8_state state; at < n;) {
    size_t step = utf8_next(text + at, n - at, &state);
    if (!is_space(utf8_point(text + at, step))) break;
    at += step;
  }
  return at;
}

/* at most three steps: no continuation byte begins a character */
static size_t character_before(const unsigned char *text, size_t at)
{
  do at--; while ((text[at] & 0xc0) == 0x80);
  return at;
}

/* not beyond stop, where the previous token ended */
size_t tokenizer_space_before(const unsigned char *text, size_t at,
  size_t stop)
{
  while (at > stop) {
    size_t i = character_before(text, at);
    if (i < stop || !is_space(utf8_point(text + i, at - i))) break;
    at = i;
  }
  return at;
}

/* What backslash w means in the regular expressions of Hugging Face's library:
   utf8proc lacks the property Alphabetic, so the enclosed letters, whose categories
   do not show it, stand here by number. */
static bool in_word(const unsigned char *text, size_t length)
{
  uint32_t c = utf8_point(text, length);
  static const uint32_t of_words = 1u << UTF8PROC_CATEGORY_LU
    | 1u << UTF8PROC_CATEGORY_LL | 1u << UTF8PROC_CATEGORY_LT
    | 1u << UTF8PROC_CATEGORY_LM | 1u << UTF8PROC_CATEGORY_LO
    | 1u << UTF8PROC_CATEGORY_MN | 1u << UTF8PROC_CATEGORY_MC
    | 1u << UTF8PROC_CATEGORY_ME | 1u << UTF8PROC_CATEGORY_ND
    | 1u << UTF8PROC_CATEGORY_NL | 1u << UTF8PROC_CATEGORY_PC;
  return (of_words >> utf8proc_category((utf8proc_int32_t) c) & 1) != 0
    || c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9)
    || (c >= 0x1f130 && c <= 0x1f149)
    || (c >= 0x1f150 && c <= 0x1f169)
    || (c >= 0x1f170 && c <= 0x1f189);
}

/* neither neighbour belongs to a word */
bool tokenizer_whole_word(const unsigned char *text, size_t n,
  size_t from, size_t to)
{
  enum utf8_state state;
  size_t before = from > 0 ? character_before(text, from) : 0;
  return (from == 0 || !in_word(text + before, from - before))
    && (to == n || !in_word(text + to,
    utf8_next(text + to, n - to, &state)));
}
