/* forms.c -- the stages that change a text: characters before it, characters replaced, the four
   normal forms, small letters, marks and blanks removed.

   A stage writes a copy, because the text belongs to the caller. A normal form takes three
   steps: every character is decomposed (in the forms K also what only looks alike), the marks after a letter are sorted by their combining
   classes, and in the forms C what can be composed is composed. utf8proc has the tables for all three, and we
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

/* one character of Arabic is a whole sentence */
enum { MOST_PARTS = 18 };

/* A run of marks ends at a character of class 0, which is none. */
static size_t take_apart(const unsigned char *text, size_t n, bool alike,
  uint64_t *key)
{
  size_t made = 0, run = 0, step;
  enum utf8_state state;
  utf8proc_option_t how = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
  if (alike) how |= UTF8PROC_COMPAT;
  for (size_t i = 0; i < n; i += step) {
    utf8proc_int32_t part[MOST_PARTS];
    int bound = 0;
    step = utf8_next(text + i, n - i, &state);
    utf8proc_ssize_t parts = utf8proc_decompose_char(
      (utf8proc_int32_t) utf8_point(text + i, step), part, MOST_PARTS, how, &bound);
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
static bool compose_run(enum text_step_kind form, struct memory *m, const unsigned char *text,
  size_t n, struct bytes *out, struct error *why)
{
  /* a character becomes at most two for each of its bytes, and at most six where alike will do */
  bool alike = form == STEP_NFKC || form == STEP_NFKD;
  size_t each = alike ? 6 : 2, room = n > SIZE_MAX / 6 ? SIZE_MAX : each * n;
  uint64_t *key = memory_alloc(m, MEMORY_TOKENS, room, sizeof *key, why);
  utf8proc_int32_t *point = memory_alloc(m, MEMORY_TOKENS, room,
    sizeof *point, why);
  bool ok = key != NULL && point != NULL;
  size_t made = ok ? take_apart(text, n, alike, key) : 0;
  for (size_t i = 0; i < made; i++)
    point[i] = (utf8proc_int32_t) (key[i] & 0x1fffff);
  utf8proc_ssize_t left = (utf8proc_ssize_t) made;
  if (form == STEP_NFC || form == STEP_NFKC)
    left = utf8proc_normalize_utf32(point, left, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
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
static bool stands_alone(enum text_step_kind form, const unsigned char *text, size_t length)
{
  uint32_t c = utf8_point(text, length);
  if (form != STEP_NFC) return c < 0x80;
  return c < 0x300 || (c >= 0x3400 && c <= 0x9fff)
    || (c >= 0xac00 && c <= 0xd7a3);
}

/* A run goes from one character that stands alone to the next; a run of one such is
   copied. */
static bool compose(enum text_step_kind form, struct memory *m, const unsigned char *text,
  size_t n, struct bytes *out, struct error *why)
{
  enum utf8_state state;
  for (size_t i = 0, first, end; i < n; i = end) {
    first = utf8_next(text + i, n - i, &state), end = i + first;
    for (size_t step; end < n; end += step) {
      step = utf8_next(text + end, n - end, &state);
      if (stands_alone(form, text + end, step)) break;
    }
    bool alone = end == i + first && stands_alone(form, text + i, first);
    if (!(alone ? bytes_push(m, out, text + i, first, why)
      : compose_run(form, m, text + i, end - i, out, why))) return false;
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

/* Rust's small letters, character by character: all are utf8proc's but one, which becomes two. */
static bool lower(struct memory *m, utf8proc_int32_t c, const unsigned char *text, size_t length,
  struct bytes *out, struct error *why)
{
  utf8proc_uint8_t small[4];
  if (c == 0x130) return bytes_push(m, out, "i\xcc\x87", 3, why);
  utf8proc_int32_t to = utf8proc_tolower(c);
  if (to == c) return bytes_push(m, out, text, length, why);
  return bytes_push(m, out, small, (size_t) utf8proc_encode_char(to, small), why);
}

/* Hugging Face's library has the marks of Unicode 9; those that came later, it leaves. */
static const struct { utf8proc_int32_t from, to; } young_marks[] = {
  { 0x7fd, 0x7fd }, { 0x898, 0x89f }, { 0x8ca, 0x8d3 }, { 0x9fe, 0x9fe }, { 0xafa, 0xaff },
    { 0xb55, 0xb55 }, { 0xc04, 0xc04 }, { 0xc3c, 0xc3c }, { 0xcf3, 0xcf3 }, { 0xd00, 0xd00 },
    { 0xd3b, 0xd3c }, { 0xd81, 0xd81 }, { 0xeba, 0xeba }, { 0xece, 0xece }, { 0x1715, 0x1715 }, { 0x180f, 0x180f },
    { 0x1abf, 0x1ace }, { 0x1cf7, 0x1cf7 }, { 0x1df6, 0x1dfa }, { 0xa82c, 0xa82c },
    { 0xa8ff, 0xa8ff }, { 0x10d24, 0x10d27 }, { 0x10eab, 0x10eac }, { 0x10efd, 0x10eff },
    { 0x10f46, 0x10f50 }, { 0x10f82, 0x10f85 }, { 0x11070, 0x11070 }, { 0x11073, 0x11074 },
    { 0x110c2, 0x110c2 }, { 0x11145, 0x11146 }, { 0x111c9, 0x111c9 }, { 0x111ce, 0x111cf },
    { 0x11241, 0x11241 }, { 0x1133b, 0x1133b }, { 0x1145e, 0x1145e }, { 0x1182c, 0x1183a },
    { 0x11930, 0x11935 }, { 0x11937, 0x11938 }, { 0x1193b, 0x1193e }, { 0x11940, 0x11940 },
    { 0x11942, 0x11943 }, { 0x119d1, 0x119d7 }, { 0x119da, 0x119e0 }, { 0x119e4, 0x119e4 },
    { 0x11a01, 0x11a0a }, { 0x11a33, 0x11a39 }, { 0x11a3b, 0x11a3e }, { 0x11a47, 0x11a47 },
    { 0x11a51, 0x11a5b }, { 0x11a8a, 0x11a99 }, { 0x11d31, 0x11d36 }, { 0x11d3a, 0x11d3a },
    { 0x11d3c, 0x11d3d }, { 0x11d3f, 0x11d45 }, { 0x11d47, 0x11d47 }, { 0x11d8a, 0x11d8e },
    { 0x11d90, 0x11d91 }, { 0x11d93, 0x11d97 }, { 0x11ef3, 0x11ef6 }, { 0x11f00, 0x11f01 },
    { 0x11f03, 0x11f03 }, { 0x11f34, 0x11f3a }, { 0x11f3e, 0x11f42 }, { 0x13440, 0x13440 },
    { 0x13447, 0x13455 }, { 0x16f4f, 0x16f4f }, { 0x16f7f, 0x16f87 }, { 0x16fe4, 0x16fe4 },
    { 0x16ff0, 0x16ff1 }, { 0x1cf00, 0x1cf2d }, { 0x1cf30, 0x1cf46 }, { 0x1e08f, 0x1e08f },
    { 0x1e130, 0x1e136 }, { 0x1e2ae, 0x1e2ae }, { 0x1e2ec, 0x1e2ef }, { 0x1e4ec, 0x1e4ef } };

static bool is_mark(utf8proc_int32_t c)
{
  utf8proc_category_t kind = utf8proc_category(c);
  for (size_t i = 0; i < sizeof young_marks / sizeof young_marks[0]; i++)
    if (c >= young_marks[i].from && c <= young_marks[i].to) return false;
  if (c == 0x1cf2 || c == 0x1cf3) return true;
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC
    || kind == UTF8PROC_CATEGORY_ME;
}

/* The cleaning of SentencePiece's "nmt", as Hugging Face's library has it: control characters go, and
   what is blank or says nothing becomes a blank. */
static bool clean(struct memory *m, utf8proc_int32_t c, const unsigned char *text, size_t length,
  struct bytes *out, struct error *why)
{
  if ((c >= 1 && c <= 8) || c == 0x0b || (c >= 0x0e && c <= 0x1f) || c == 0x7f || c == 0x8f
    || c == 0x9f) return true;
  if (c == 9 || c == 0x0a || c == 0x0c || c == 0x0d || c == 0x1680 || (c >= 0x200b && c <= 0x200f)
    || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xfeff || c == 0xfffd)
    return bytes_push(m, out, " ", 1, why);
  return bytes_push(m, out, text, length, why);
}

/* the steps that look at one character after another */
static bool each_character(enum text_step_kind what, struct memory *m, const unsigned char *text,
  size_t n, struct bytes *out, struct error *why)
{
  enum utf8_state state;
  for (size_t at = 0, step; at < n; at += step) {
    step = utf8_next(text + at, n - at, &state);
    utf8proc_int32_t c = (utf8proc_int32_t) utf8_point(text + at, step);
    bool ok = true;
    if (what == STEP_LOWER) ok = lower(m, c, text + at, step, out, why);
    else if (what == STEP_CLEAN) ok = clean(m, c, text + at, step, out, why);
    else if (!is_mark(c)) ok = bytes_push(m, out, text + at, step, why);
    if (!ok) return false;
  }
  return true;
}

/* white space at the ends that the step names */
static bool trim(const struct text_step *s, struct memory *m, const unsigned char *text, size_t n,
  struct bytes *out, struct error *why)
{
  size_t from = s->left ? tokenizer_space_after(text, n, 0) : 0;
  size_t to = s->right ? tokenizer_space_before(text, n, from) : n;
  return bytes_push(m, out, text + from, to - from, why);
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
    return ((n == 0 && !s->even_empty) || there || (s->first_only && !first)
      || bytes_push(m, out, words, s->words.n, why))
      && bytes_push(m, out, text, n, why);
  case STEP_REPLACE:
    return replace(s, words, m, text, n, out, why);
  case STEP_STRIP:
    return strip(s, words, m, text, n, out, why);
  case STEP_MAP:
    return charsmap_apply(s->map, t, m, text, n, out, why);
  case STEP_MARKS: case STEP_LOWER: case STEP_CLEAN:
    return each_character(s->what, m, text, n, out, why);
  case STEP_TRIM:
    return trim(s, m, text, n, out, why);
  case STEP_CALL:
    return s->call(m, text, n, out, why);
  case STEP_SPLIT: /* a cut is no change */
  case STEP_NFC: case STEP_NFD: case STEP_NFKC: case STEP_NFKD: break;
  }
  return compose(s->what, m, text, n, out, why);
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
