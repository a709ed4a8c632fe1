/* forms.c -- the stages that change a text: characters before it, characters replaced, normal
   form C, and superfluous blanks removed.

   A stage writes a copy, because the text belongs to the caller. The normal form takes three
   steps: every character is decomposed, the marks after a letter are sorted by their combining
   classes, and what can be composed is composed. utf8proc has the tables for all three, and we
   sort by ourselves: its own function exchanges neighbours, which takes quadratic time on a
   text of nothing but marks, and an attacker may send one. */

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include "tokenizer/inside.h"

/* Sorting keys sorts marks by class, and keeps the order within a class. utf8proc
   would sort by exchanging neighbours, in quadratic time on a text of nothing but
   marks. */
static uint64_t mark_key(utf8proc_int32_t point, uint64_t place)
{
  uint64_t kind =
    (uint64_t) utf8proc_get_property(point)->combining_class;
  return kind << 56 | place << 21 | (uint64_t) point;
}

static int by_key(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
  return x < y ? -1 : x > y;
}

/* A run of marks ends at a character of class 0, which is none. */
static size_t take_apart(const unsigned char *text, size_t n,
  uint64_t *key)
{
  size_t made = 0, run = 0, step;
  enum utf8_state state;
  for (size_t i = 0; i < n; i += step) {
    utf8proc_int32_t part[8];
    int bound = 0;
    step = utf8_next(text + i, n - i, &state);
    utf8proc_ssize_t parts = utf8proc_decompose_char(
      (utf8proc_int32_t) utf8_point(text + i, step), part, 8,
      UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, &bound);
    for (utf8proc_ssize_t k = 0; k < parts; k++, made++) {
      key[made] = mark_key(part[k], made);
      /* class 0 is no mark, and ends a run */
      if (key[made] >> 56 != 0) continue;
      qsort(key + run, made - run, sizeof *key, by_key);
      run = made + 1;
    }
  }
  qsort(key + run, made - run, sizeof *key, by_key);
  return made;
}

/* Composing is left to utf8proc; it works on code points, in place. */
static bool compose_run(struct memory *m, const unsigned char *text,
  size_t n, struct bytes *out, struct error *why)
{
  /* a character becomes at most four, and at most two for each of its bytes */
  uint64_t *key = memory_alloc(m, MEMORY_TOKENS, 2 * n, sizeof *key, why);
  utf8proc_int32_t *point = memory_alloc(m, MEMORY_TOKENS, 2 * n,
    sizeof *point, why);
  bool ok = key != NULL && point != NULL;
  size_t made = ok ? take_apart(text, n, key) : 0;
  for (size_t i = 0; i < made; i++)
    point[i] = (utf8proc_int32_t) (key[i] & 0x1fffff);
  utf8proc_ssize_t left = utf8proc_normalize_utf32(point,
    (utf8proc_ssize_t) made, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  for (utf8proc_ssize_t i = 0; ok && i < left; i++) {
    utf8proc_uint8_t c[4];
    ok = bytes_push(m, out, c,
      (size_t) utf8proc_encode_char(point[i], c), why);
  }
  memory_free(m, key);
  memory_free(m, point);
  return ok;
}

/* In the normal form already, and composes with nothing before it: most text is only
   copied. */
static bool stands_alone(const unsigned char *text, size_t length)
{
  uint32_t c = utf8_point(text, length);
  return c < 0x300 || (c >= 0x3400 && c <= 0x9fff)
    || (c >= 0xac00 && c <= 0xd7a3);
}

/* A run goes from one character that stands alone to the next; a run of one such is
   copied. */
static bool compose(struct memory *m, const unsigned char *text,
  size_t n, struct bytes *out, struct error *why)
{
  enum utf8_state state;
  for (size_t i = 0, first, end; i < n; i = end) {
    first = utf8_next(text + i, n - i, &state), end = i + first;
    for (size_t step; end < n; end += step) {
      step = utf8_next(text + end, n - end, &state);
      if (stands_alone(text + end, step)) break;
    }
    bool alone = end == i + first && stands_alone(text + i, first);
    if (!(alone ? bytes_push(m, out, text + i, first, why)
      : compose_run(m, text + i, end - i, out, why))) return false;
  }
  return true;
}

/* The matches are replaced by words, the gaps kept. A piece of length 0 is the end of the
   text. */
static bool replace(const struct text_step *s, const unsigned char *words,
  struct memory *m, const unsigned char *text, size_t n,
  struct bytes *out, struct error *why)
{
  struct split_work cut = { .m = m };
  struct pieces p;
  struct text_piece next;
  bool ok = true;
  pieces_begin(&p, s->by, &cut, text, n);
  while ((ok = ok && pieces_next(&p, &next, why)) && next.n > 0)
    ok = bytes_push(m, out, next.match ? words : next.byte,
      next.match ? s->words.n : next.n, why);
  split_work_free(&cut);
  return ok;
}

/* SentencePiece: one blank of several, none at the ends; and no block at the end if
   blanks become blocks (words). */
static bool strip(const struct text_step *s, const unsigned char *words,
  struct memory *m, const unsigned char *text, size_t n,
  struct bytes *out, struct error *why)
{
  for (size_t i = 0; i < n; i++) {
    bool blank = text[i] == ' ';
    if (blank && (out->n == 0 || out->byte[out->n - 1] == ' '))
      continue;
    if (!bytes_push(m, out, &text[i], 1, why)) return false;
  }
  for (;;) {
    size_t k = s->words.n;
    if (out->n > 0 && out->byte[out->n - 1] == ' ') out->n--;
    else if (k > 0 && out->n >= k
      && memcmp(out->byte + out->n - k, words, k) == 0) out->n -= k;
    else return true;
  }
}

/* Tokenizers differ in where a block goes: before every stretch, before those without
   one, or before the first of the whole only. Each rule gives other ids. */
bool tokenizer_change(const struct tokenizer *t, const struct text_step *s,
  struct memory *m, const unsigned char *text, size_t n, bool first,
  struct bytes *out, struct error *why)
{
  const unsigned char *words = t->string_pool.byte + s->words.at;
  bool there = s->unless_there && n >= s->words.n
    && memcmp(text, words, s->words.n) == 0;
  switch (s->what) {
  case STEP_PREPEND:
    return (n == 0 || there || (s->first_only && !first)
      || bytes_push(m, out, words, s->words.n, why))
      && bytes_push(m, out, text, n, why);
  case STEP_REPLACE:
    return replace(s, words, m, text, n, out, why);
  case STEP_STRIP:
    return strip(s, words, m, text, n, out, why);
  case STEP_NFC: case STEP_SPLIT: break; /* a cut is no change */
  }
  return compose(m, text, n, out, why);
}

/* Each stage has a row of bytes of its own, which is freed as soon as the next is complete:
   there are never more than two, however many stages the file has. text may be the row
   before. */
bool tokenizer_normalize(const struct tokenizer *t, struct memory *m,
  const unsigned char *text, size_t n, bool first, struct bytes *out,
  struct error *why)
{
  bytes_free(m, out);
  for (size_t k = 0; k < t->n_normalizers; k++) {
    struct bytes next = { NULL, 0, 0 };
    bool ok = tokenizer_change(t, &t->step[k], m, text, n, first, &next, why);
    bytes_free(m, out);
    *out = next;
    if (!ok) return false;
    text = next.byte, n = next.n;
  }
  return true;
}
