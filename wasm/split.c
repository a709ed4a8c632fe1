/* split.c -- cutting a text, in place of lookups/split.c, which needs PCRE2: by the pattern of GPT-2 alone.

   The pattern has seven ways to begin, tried in this order at every place:
     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
   A character is a letter, a number, white space or something else, and each kind has a way to begin, so there are
   no gaps between matches. Which it is, a table says that wasm/snapshot.c has asked of PCRE2, for all code points.
   The suite check_living compares the two cutters: every code point in six surroundings, and texts at random. */

#include <string.h>
#include "kinds.h"
#include "lookups/split.h"
#include "tokens/utf8.h"

const char split_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
  "\\s+(?!\\S)|\\s+";

struct splitter { struct memory *home; };

struct splitter *splitter_open(struct memory *m, const char *pattern, size_t n, bool literal, struct error *why)
{
  if (literal || n != strlen(split_gpt2) || memcmp(pattern, split_gpt2, n) != 0) {
    error_say(why, "a pattern of %zu bytes; wanted: that of GPT-2, the only one that is built in", n);
    return NULL;
  }
  struct splitter *s = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *s, why);
  if (s != NULL) s->home = m;
  return s;
}

void splitter_close(struct splitter *s)
{
  if (s != NULL) memory_free(s->home, s);
}

bool splitter_same(const struct splitter *a, const struct splitter *b)
{
  return (a == NULL) == (b == NULL);
}

void splitter_unicode(char version[24])
{
  strcpy(version, kinds_unicode);
}

void split_work_free(struct split_work *w)
{
  (void) w;
}

void pieces_begin(struct pieces *p, const struct splitter *by, struct split_work *w, const unsigned char *text, size_t n)
{
  *p = (struct pieces) { .by = by, .work = w, .text = text, .n = n };
}

/* the last range that begins at or before c has its kind */
static enum character_kind kind_of(uint32_t c)
{
  size_t low = 0, high = n_kinds;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (kinds[middle].first <= c) low = middle;
    else high = middle;
  }
  return kinds[low].kind;
}

/* the kind of the character at a place and the bytes that it has; there is one */
static enum character_kind kind_at(const struct pieces *p, size_t at, size_t *bytes)
{
  enum utf8_state state;
  *bytes = utf8_next(p->text + at, p->n - at, &state);
  return kind_of(utf8_point(p->text + at, *bytes));
}

/* where the characters of one kind end that begin at a place; *last: where the last of them begins */
static size_t run_of(const struct pieces *p, size_t at, enum character_kind kind, size_t *last)
{
  size_t bytes;
  for (*last = at; at < p->n && kind_at(p, at, &bytes) == kind; at += bytes) *last = at;
  return at;
}

/* the bytes of 's, 't, 're and so on at a place; 0: none is there */
static size_t shortened(const struct pieces *p)
{
  static const char *const end[] = { "s", "t", "re", "ve", "m", "ll", "d" };
  const unsigned char *at = p->text + p->at;
  if (*at != '\'') return 0;
  for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
    size_t n = strlen(end[i]);
    if (p->n - p->at > n && memcmp(at + 1, end[i], n) == 0) return n + 1;
  }
  return 0;
}

/* White space leaves its last character to what comes behind it, unless nothing does or it has only one. A blank
   before another kind begins a piece of that kind; for all other white space that one character is a piece. */
static size_t piece_end(const struct pieces *p)
{
  size_t bytes, last, from = p->at, end = from + shortened(p);
  if (end > from) return end;
  enum character_kind kind = kind_at(p, from, &bytes);
  if (p->text[from] == ' ' && from + 1 < p->n && kind_at(p, from + 1, &bytes) != KIND_SPACE)
    kind = kind_at(p, ++from, &bytes);
  end = run_of(p, from, kind, &last);
  return kind == KIND_SPACE && end < p->n && last > from ? last : end;
}

bool pieces_next(struct pieces *p, struct text_piece *next, struct error *why)
{
  (void) why;
  *next = (struct text_piece) { p->text, 0, false };
  if (p->at == p->n) return true;
  size_t end = p->by == NULL ? p->n : piece_end(p);
  *next = (struct text_piece) { p->text + p->at, end - p->at, p->by != NULL };
  p->at = end;
  return true;
}
