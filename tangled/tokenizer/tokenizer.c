/* tokenizer.c -- From text to ids and back, whatever file the vocabulary came from.
   made from workshop/04-tokenizer.w; change it there

   Encoding is a series of cuts: valid UTF-8 and other bytes; added tokens in the text
   (root 0 of the tree); added tokens in its normal form (root 1); the stages of the
   pre-tokenizer; and only then merging, before which frozen tokens (root 2) are
   found. Where two readings are possible we do what Hugging Face's library does,
   since the model was trained so. by_piece and the tree borrow bytes of the string
   pool, which moves when it grows: tokenizer_index_added comes after the last byte.
   In the tables 0 is no entry, so ids stand there plus 1. A tokenizer is only read
   once it is made; all that an encoding changes is in its struct job. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include "tokenizer/tokenizer_internal.h"

/* <What an encoding needs on its way> */

/* unknown_end: how long the row of the piece was after the last unknown character; if
   the row is still that long, nothing has followed */
struct job { const struct tokenizer *t; struct memory *m; struct ids *out;
  struct bpe_work work; struct split_work cut; bool parse_special; struct error *why;
  size_t unknown_end; };
static bool push_bytes(struct job *j, const unsigned char *byte,
  size_t n);
static bool change(const struct tokenizer *t, const struct text_step *s,
  struct memory *m, const unsigned char *text, size_t n, bool first,
  struct bytes *out, struct error *why);
static bool encode_changed(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n);
static bool encode_added(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n);

/* <Store the strings, and find ids> */
bool tokenizer_intern(struct memory *m, struct tokenizer *t,
  const void *byte, size_t n, struct span *where, struct error *why)
{
  if (n > UINT32_MAX - t->string_pool.n)
    return error_say(why,
      "a vocabulary of more than 4 GiB of letters");
  /* before the push: the span begins where the pool ends now */
  *where = (struct span) { (uint32_t) t->string_pool.n,
    (uint32_t) n };
  return bytes_push(m, &t->string_pool, byte, n, why);
}

struct vocab_entry *tokenizer_vocab_at(struct memory *m, struct tokenizer *t,
  uint32_t id, struct error *why)
{
  struct vocab_entry *p = memory_reserve(m, MEMORY_TOKENS, t->vocab, &t->vocab_cap,
    (size_t) id + 1, 256, sizeof *p, why);
  /* The entry must be used before the next one is asked for: the table may move. */
  if (p == NULL) return NULL;
  t->vocab = p;
  if (id >= t->n_vocab) t->n_vocab = (size_t) id + 1;
  return &t->vocab[id];
}

/* <Append a stage> */
bool tokenizer_add_step(struct memory *m, struct tokenizer *t,
  struct text_step s, const char *pattern, size_t n, bool literal,
  struct error *why)
{
  /* A hostile file could slow us down with patterns without end. */
  if (t->n_steps == TOKENIZER_MAX_STEPS)
    return error_say(why, "more than %d stages", TOKENIZER_MAX_STEPS);
  if (pattern != NULL) {
    s.by = splitter_open(m, pattern, n, literal, why);
    if (s.by == NULL) return false;
  }
  t->step[t->n_steps++] = s;
  return true;
}

bool tokenizer_add_split(struct memory *m, struct tokenizer *t,
  const char *pattern, size_t n, struct error *why)
{
  return tokenizer_add_step(m, t, (struct text_step) { .what = STEP_SPLIT,
    .keep_matches = true, .keep_gaps = true }, pattern, n, false,
    why);
}

bool tokenizer_add_string(struct memory *m, struct tokenizer *t, struct text_step s,
  const char *words, size_t n_words, const char *pattern, size_t n,
  bool literal, struct error *why)
{
  return tokenizer_intern(m, t, words, n_words, &s.words, why)
    && tokenizer_add_step(m, t, s, pattern, n, literal, why);
}

/* <Find the token of a byte> */
static uint32_t byte_token(const struct tokenizer *t, unsigned b)
{
  char word[8] = { (char) b };
  size_t n = 1;
  if (t->char_level) {
    if (!t->byte_fallback) return BPE_NONE;
    n = (size_t) snprintf(word, sizeof word, "<0x%02X>", b);
  }
  /* 0, for none, becomes BPE_NONE */
  return name_map_get(&t->by_piece, (const unsigned char *) word, n) - 1;
}

/* <Make the table of pieces> */
bool tokenizer_index_vocab(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  for (size_t i = 0; i < t->n_vocab; i++) {
    struct span s = t->vocab[i].piece;
    if (s.n > 0 && !name_map_put(m, &t->by_piece,
      t->string_pool.byte + s.at, s.n, (uint32_t) i + 1,
      why)) return false;
  }
  for (unsigned b = 0; b < 128; b++) {
    unsigned char byte = (unsigned char) b;
    t->letter[b] = name_map_get(&t->by_piece, &byte, 1);
  }
  for (unsigned b = 0; b < 256; b++) t->rules.byte_id[b] =
    byte_token(t, b);
  return true;
}

/* <Add a token> */
bool tokenizer_add_token(struct memory *m, struct tokenizer *t,
  const struct added_token *x, struct error *why)
{
  struct added_token *p = memory_reserve(m, MEMORY_TOKENS, t->added, &t->added_cap,
    t->n_added + 1, 16, sizeof *p, why);
  if (p == NULL) return false;
  t->added = p;
  struct vocab_entry *k = tokenizer_vocab_at(m, t, x->id, why);
  if (k == NULL) return false;
  /* a frozen token decodes as its piece does, block to blank and all */
  if (!x->frozen) k->text = x->text;
  k->special = x->special;
  t->added[t->n_added++] = *x;
  return true;
}

/* <Make the tree of added tokens> */

/* 0 is no child and no sibling: the roots have the numbers 0 to 2, and are nobody's
   child. */
static bool new_trie_node(struct memory *m, struct tokenizer *t,
  unsigned char byte, uint32_t sibling, struct error *why)
{
  struct trie_node *p = memory_reserve(m, MEMORY_TOKENS, t->trie, &t->trie_cap,
    t->n_trie + 1, 64, sizeof *p, why);
  if (p == NULL) return false;
  t->trie = p;
  t->trie[t->n_trie++] = (struct trie_node) { 0, sibling, 0, byte };
  return true;
}

/* A list, since added tokens branch little. */
static uint32_t trie_child(const struct tokenizer *t, uint32_t at,
  unsigned char byte)
{
  uint32_t next = t->trie[at].child;
  while (next != 0 && t->trie[next].byte != byte)
    next = t->trie[next].sibling;
  return next;
}

static bool plant(struct memory *m, struct tokenizer *t,
  uint32_t root, const unsigned char *byte, size_t n, uint32_t number,
  struct error *why)
{
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    uint32_t k = trie_child(t, at, byte[i]);
    if (k == 0) {
      k = (uint32_t) t->n_trie;
      if (!new_trie_node(m, t, byte[i], t->trie[at].child, why))
        return false;
      t->trie[at].child = k;
    }
    at = k;
  }
  /* of two with the same bytes, the first in the file */
  if (t->trie[at].added == 0) t->trie[at].added = number;
  return true;
}

bool tokenizer_index_added(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  /* The tokens' bytes came after those of the pieces, and the pool may have moved;
     by_piece would point into what was freed. */
  name_map_free(m, &t->by_piece);
  bool ok = tokenizer_index_vocab(m, t, why);
  for (int root = 0; root < 3; root++)
    ok = ok && new_trie_node(m, t, 0, 0, why);
  for (size_t i = 0; ok && i < t->n_added; i++) {
    const struct added_token *x = &t->added[i];
    const unsigned char *byte = t->string_pool.byte + x->text.at;
    struct bytes normal = { NULL, 0, 0 };
    bool after = x->normalized && t->n_normalizers > 0 && !x->frozen;
    /* What is looked for in the normal form must be in it, block before it and all,
       or it would never be found. */
    if (after) ok = tokenizer_normalize(t, m, byte, x->text.n, true, &normal,
      why);
    t->any_frozen = t->any_frozen || x->frozen;
    uint32_t root = x->normalized ? 1 : 0;
    if (x->frozen) root = 2;
    ok = ok && plant(m, t, root, after ? normal.byte : byte,
      after ? normal.n : x->text.n, (uint32_t) i + 1, why);
    bytes_free(m, &normal);
  }
  return ok;
}

/* <Find the longest added token here> */

/* At most places of most texts the walk ends at the root. */
static const struct added_token *longest_match(const struct tokenizer *t,
  uint32_t root, const unsigned char *text, size_t n, size_t *length)
{
  const struct added_token *found = NULL;
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    at = trie_child(t, at, text[i]);
    if (at == 0) break;
    if (t->trie[at].added == 0) continue;
    found = &t->added[t->trie[at].added - 1];
    *length = i + 1;
  }
  return found;
}

/* <Measure white space> */

/* Unicode's White_Space, which has not changed since version 6.3. */
static bool is_space(uint32_t c)
{
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85
    || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a)
    || c == 0x2028 || c == 0x2029
    || c == 0x202f || c == 0x205f || c == 0x3000;
}

static size_t space_after(const unsigned char *text, size_t n,
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
static size_t space_before(const unsigned char *text, size_t at,
  size_t stop)
{
  while (at > stop) {
    size_t i = character_before(text, at);
    if (i < stop || !is_space(utf8_point(text + i, at - i))) break;
    at = i;
  }
  return at;
}

/* <Tell whether a character belongs to a word> */

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
static bool whole_word(const unsigned char *text, size_t n,
  size_t from, size_t to)
{
  enum utf8_state state;
  size_t before = from > 0 ? character_before(text, from) : 0;
  return (from == 0 || !in_word(text + before, from - before))
    && (to == n || !in_word(text + to,
    utf8_next(text + to, n - to, &state)));
}

/* <From a text to its ids, by ever smaller cuts> */

/* <Check whether a match stands at word boundaries> */
static const unsigned char block[3] = { 0xe2, 0x96, 0x81 };
static bool word_begins(const unsigned char *text, size_t at,
  size_t n)
{
  return at > 0 && n - at >= 3 && memcmp(text + at, block, 3) == 0
    && (at < 3 || memcmp(text + at - 3, block, 3) != 0);
}

/* If no token has a block after another character, no merge can join a block to what
   comes before it. Then a row may end before each block, with the same ids: rows are
   words, not books. The block must be a token itself, or its bytes could merge. */
void tokenizer_find_splits(struct tokenizer *t)
{
  t->splits_at_spaces = name_map_get(&t->by_piece, block, 3) != 0;
  for (size_t i = 0; i < t->n_vocab; i++) {
    struct span s = t->vocab[i].piece;
    for (size_t k = 1; k < s.n && t->splits_at_spaces; k++)
      t->splits_at_spaces = !word_begins(t->string_pool.byte + s.at, k, s.n);
  }
}

/* <Encode a piece of characters> */

/* A character without a token is spelt in bytes if there is one for each, else it
   becomes the unknown token; several in a row may become one. None is lost without a
   trace. */
static bool push_character(struct job *j, const unsigned char *c,
  size_t n)
{
  const struct tokenizer *t = j->t;
  struct ids *row = &j->work.piece;
  uint32_t id = n == 1 ? t->letter[*c] : name_map_get(&t->by_piece, c,
    n);
  if (id != 0) return ids_push(j->m, row, id - 1, j->why);
  bool bytes = true;
  for (size_t i = 0; i < n; i++)
    bytes = bytes && t->rules.byte_id[c[i]] != BPE_NONE;
  if (bytes) return push_bytes(j, c, n);
  if (t->unknown == 0)
    return error_say(j->why, "the vocabulary cannot spell the character U+%04X",
      (unsigned) utf8_point(c, n));
  if (t->fuse_unk && row->n > 0 && j->unknown_end == row->n)
    return true;
  j->unknown_end = row->n + 1;
  return ids_push(j->m, row, t->unknown - 1, j->why);
}

/* unknown counts from 1, so if there is no unknown token its id is BPE_NONE as well. */
static bool push_bytes(struct job *j, const unsigned char *byte,
  size_t n)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t id = j->t->rules.byte_id[byte[i]];
    if (id == BPE_NONE) id = j->t->unknown - 1;
    if (id == BPE_NONE) return error_say(j->why,
      "the vocabulary cannot spell byte 0x%02x", byte[i]);
    if (!ids_push(j->m, &j->work.piece, id, j->why)) return false;
  }
  return true;
}

/* Merges the row and begins a new one. */
static bool join(struct job *j)
{
  bool ok = bpe_join(&j->t->rules, j->m, &j->work, j->out, j->why);
  j->work.piece.n = 0, j->unknown_end = 0;
  return ok;
}

static bool encode_characters(struct job *j,
  const unsigned char *text, size_t n)
{
  enum utf8_state state;
  size_t length;
  j->work.piece.n = 0, j->unknown_end = 0;
  for (size_t at = 0; at < n; at += length) {
    const struct added_token *x = !j->t->any_frozen ? NULL
      : longest_match(j->t, 2, text + at, n - at, &length);
    if (x == NULL) length = utf8_next(text + at, n - at, &state);
    if ((x != NULL || (j->t->splits_at_spaces
      && word_begins(text, at, n))) && !join(j)) return false;
    if (x != NULL ? !ids_push(j->m, j->out, x->id, j->why)
      : !push_character(j, text + at, length)) return false;
  }
  return join(j);
}

/* <Encode what needs no more cutting> */
static bool encode_piece(struct job *j, const unsigned char *byte,
  size_t n)
{
  /* Llama 3 has tokens that its own merges do not reach. */
  uint32_t whole = j->t->ignore_merges
    ? name_map_get(&j->t->by_piece, byte, n) : 0;
  if (whole != 0) return ids_push(j->m, j->out, whole - 1, j->why);
  return j->t->char_level ? encode_characters(j, byte, n)
    : bpe_encode(&j->t->rules, j->m, &j->work, byte, n, j->out,
    j->why);
}

/* <Go through the stages> */

/* Calls itself with each piece for the next stage: no list of pieces is ever made,
   and the recursion is as deep as there are stages. */
static bool encode_from(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n)
{
  if (n == 0) return true;
  if (k == j->t->n_steps) return encode_piece(j, text, n);
  const struct text_step *s = &j->t->step[k];
  /* which calls encode_from with the changed copy */
  if (s->what != STEP_SPLIT) return encode_changed(j, k, first, text, n);
  struct pieces p;
  struct text_piece next;
  pieces_begin(&p, s->by, &j->cut, text, n);
  for (;;) {
    if (!pieces_next(&p, &next, j->why)) return false;
    if (next.n == 0) return true;
    if (next.match ? !s->keep_matches : !s->keep_gaps) continue;
    if (!encode_from(j, k + 1, first && next.byte == text, next.byte,
      next.n)) return false;
  }
}

static bool encode_changed(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n)
{
  struct bytes copy = { NULL, 0, 0 };
  bool ok = change(j->t, &j->t->step[k], j->m, text, n, first, &copy,
    j->why) && encode_from(j, k + 1, first, copy.byte, copy.n);
  bytes_free(j->m, &copy);
  return ok;
}

/* <Bring a text into the normal form> */

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

/* <Replace, or thin out> */
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

/* <Change a text> */

/* Tokenizers differ in where a block goes: before every stretch, before those without
   one, or before the first of the whole only. Each rule gives other ids. */
static bool change(const struct tokenizer *t, const struct text_step *s,
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

/* <Go through the forms> */

/* text may be the row before, so that is freed only when the next one is there. */
bool tokenizer_normalize(const struct tokenizer *t, struct memory *m,
  const unsigned char *text, size_t n, bool first, struct bytes *out,
  struct error *why)
{
  bytes_free(m, out);
  for (size_t k = 0; k < t->n_normalizers; k++) {
    struct bytes next = { NULL, 0, 0 };
    bool ok = change(t, &t->step[k], m, text, n, first, &next, why);
    bytes_free(m, out);
    *out = next;
    if (!ok) return false;
    text = next.byte, n = next.n;
  }
  return true;
}

/* <Encode the text between added tokens> */

/* After root 0 the text is normalized and searched again; after root 1 it goes to the
   stages. Without a normal form the two searches still follow each other, since
   Hugging Face's do. */
static bool encode_between(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n)
{
  if (root == 1)
    return encode_from(j, j->t->n_normalizers, first, text, n);
  if (j->t->n_normalizers == 0) return encode_added(j, 1, first, text, n);
  struct bytes normal = { NULL, 0, 0 };
  bool ok = tokenizer_normalize(j->t, j->m, text, n, first, &normal, j->why)
    && encode_added(j, 1, first, normal.byte, normal.n);
  bytes_free(j->m, &normal);
  return ok;
}

/* <Cut at the added tokens> */
struct added_place { const struct added_token *token; size_t from, to; };

/* A match that does not count is skipped whole, as Hugging Face does it: no other
   token that overlaps it is found. */
static bool find_added(const struct job *j, uint32_t root,
  const unsigned char *text, size_t n, size_t *at, struct added_place *p)
{
  while (*at < n) {
    size_t from = *at, length = 1;
    const struct added_token *x = longest_match(j->t, root, text + from,
      n - from, &length);
    *at += length;
    if (x == NULL || (x->special && !j->parse_special)) continue;
    if (x->single_word && !whole_word(text, n, from, *at)) continue;
    *p = (struct added_place) { x, from, *at };
    return true;
  }
  return false;
}

/* The token before may have swallowed beyond our beginning; what lies between is
   white space. */
static void swallow_space(struct added_place *p, const unsigned char *text,
  size_t n, size_t done)
{
  if (p->token->lstrip)
    p->from = done < p->from ? space_before(text, p->from, done) : done;
  if (p->token->rstrip)
    p->to = p->to < done ? done : space_after(text, n, p->to);
}

static bool encode_added(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n)
{
  size_t done = 0, at = 0;
  struct added_place p;
  while (find_added(j, root, text, n, &at, &p)) {
    swallow_space(&p, text, n, done);
    /* all of it has been swallowed by the token before */
    if (p.from >= p.to) continue;
    /* only now: a token may swallow white space on its left */
    if (done < p.from && !encode_between(j, root, first && done == 0,
      text + done, p.from - done)) return false;
    if (!ids_push(j->m, j->out, p.token->id, j->why)) return false;
    done = p.to;
  }
  return done >= n || encode_between(j, root, first && done == 0,
    text + done, n - done);
}

/* <Push the ids that the files add> */
static bool push_all(struct job *j, const struct ids *list)
{
  for (size_t i = 0; i < list->n; i++)
    if (!ids_push(j->m, j->out, list->id[i], j->why)) return false;
  return true;
}

/* <Encode a text> */
static bool encode_runs(struct job *j, bool first,
  const unsigned char *byte, size_t n)
{
  size_t length = 0;
  bool ok = true, whole;
  for (size_t at = 0; ok && at < n; at += length) {
    /* What is no UTF-8 is spelt byte by byte, so every string of bytes comes back. */
    length = utf8_run(byte + at, n - at, &whole);
    j->work.piece.n = 0;
    ok = whole ? encode_added(j, 0, first && at == 0, byte + at, length)
      : push_bytes(j, byte + at, length) && join(j);
  }
  return ok;
}

bool tokenizer_encode(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, bool add_special, bool parse_special,
  struct ids *out,
  struct error *why)
{
  struct job j = { .t = t, .m = m, .out = out, .cut = { .m = m },
    .parse_special = parse_special, .why = why };
  size_t start = out->n;
  bool ok = (!add_special || push_all(&j, &t->prefix_ids))
    && encode_runs(&j, true, (const unsigned char *) text, n)
    && (!add_special || push_all(&j, &t->suffix_ids));
  split_work_free(&j.cut), bpe_work_free(m, &j.work);
  if (!ok) out->n = start;
  return ok;
}

/* A stretch of a conversation is not the beginning of a text, though it is all that
   we get. */
bool tokenizer_encode_inside(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, struct ids *out, struct error *why)
{
  struct job j = { .t = t, .m = m, .out = out, .cut = { .m = m },
    .why = why };
  size_t start = out->n;
  bool ok = encode_runs(&j, false, (const unsigned char *) text, n);
  split_work_free(&j.cut), bpe_work_free(m, &j.work);
  if (!ok) out->n = start;
  return ok;
}

/* <Make texts of pieces> */

/* A text in which from does not occur keeps the bytes of its piece. */
bool tokenizer_texts_replace(struct memory *m, struct tokenizer *t,
  const char *from, size_t n, const char *to, size_t n_to,
  struct error *why)
{
  struct bytes row = { NULL, 0, 0 };
  bool ok = true;
  for (size_t i = 0; ok && i < t->n_vocab; i++) {
    struct span *s = &t->vocab[i].text;
    bool any = false;
    row.n = 0;
    for (size_t k = 0; ok && k < s->n;) {
      const unsigned char *c = t->string_pool.byte + s->at + k;
      bool here = s->n - k >= n && memcmp(c, from, n) == 0;
      ok = here ? bytes_push(m, &row, to, n_to, why)
        : bytes_push(m, &row, c, 1, why);
      any = any || here, k += here ? n : 1;
    }
    if (any) ok = ok && tokenizer_intern(m, t, row.byte, row.n, s, why);
  }
  bytes_free(m, &row);
  return ok;
}

static int named_byte(const unsigned char *c, size_t n)
{
  if (n != 6 || memcmp(c, "<0x", 3) != 0 || c[5] != '>') return -1;
  /* capital digits only: other spellings are ordinary pieces */
  return c[3] >= 'a' || c[4] >= 'a' ? -1 : hex_byte(c + 3);
}

bool tokenizer_texts_as_bytes(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  for (size_t i = 0; i < t->n_vocab; i++) {
    struct span *s = &t->vocab[i].text;
    int b = s->n == 0 ? -1 : named_byte(t->string_pool.byte + s->at,
      s->n);
    unsigned char byte = (unsigned char) b;
    if (b >= 0 && !tokenizer_intern(m, t, &byte, 1, s, why)) return false;
  }
  return true;
}

/* <Decode ids, and answer questions about them> */

/* A model may have more rows than its tokenizer has tokens, so any id gets an answer. */
const unsigned char *tokenizer_text(const struct tokenizer *t,
  uint32_t id, size_t *n)
{
  struct span s = { 0, 0 };
  if (id < t->n_vocab) s = t->vocab[id].text;
  *n = s.n;
  return s.n > 0 ? t->string_pool.byte + s.at
    : (const unsigned char *) "";
}

bool tokenizer_decode(const struct tokenizer *t, struct memory *m,
  const uint32_t *id, size_t n, bool skip_special, struct bytes *out,
  struct error *why)
{
  size_t start = out->n;
  bool begun = false;
  for (size_t i = 0; i < n; i++)
    if (!tokenizer_decode_next(t, m, id[i], skip_special, &begun, out,
      why)) {
      out->n = start;
      return false;
    }
  return true;
}

bool tokenizer_decode_next(const struct tokenizer *t,
  struct memory *m, uint32_t id, bool skip_special, bool *begun,
  struct bytes *out, struct error *why)
{
  size_t n, drop;
  if (skip_special && tokenizer_is_special(t, id)) return true;
  const unsigned char *text = tokenizer_text(t, id, &n);
  /* The blank that encoding put before the text; whether the text has begun is the
     caller's to remember. */
  drop = t->strip_prefix_space && !*begun && n > 0 && text[0] == ' ';
  if (!bytes_push(m, out, text + drop, n - drop, why)) return false;
  *begun = *begun || n > 0;
  return true;
}

bool tokenizer_is_special(const struct tokenizer *t, uint32_t id)
{
  return id < t->n_vocab && t->vocab[id].special;
}

/* added tokens first: who asks for the end of the text means the token, not a piece
   that is spelt like it */
bool tokenizer_find(const struct tokenizer *t, const char *text,
  size_t n, uint32_t *id)
{
  for (size_t i = 0; i < t->n_added; i++) {
    struct span s = t->added[i].text;
    if (s.n != n || memcmp(t->string_pool.byte + s.at, text, n) != 0)
      continue;
    *id = t->added[i].id;
    return true;
  }
  uint32_t found = name_map_get(&t->by_piece,
    (const unsigned char *) text, n);
  if (found != 0) *id = found - 1;
  return found != 0;
}

bool tokenizer_bos(const struct tokenizer *t, uint32_t *id)
{
  if (t->prefix_ids.n > 0) *id = t->prefix_ids.id[0];
  return t->prefix_ids.n > 0;
}

const char *tokenizer_kind(const struct tokenizer *t)
{
  return t->kind;
}

const char *tokenizer_ignores(const struct tokenizer *t, size_t i)
{
  static const char *const name[] = { "truncation", "padding" };
  return i < 2 && t->ignored[i] ? name[i] : NULL;
}

size_t tokenizer_vocab_size(const struct tokenizer *t)
{
  return t->n_vocab;
}

size_t tokenizer_added_count(const struct tokenizer *t)
{
  return t->n_added;
}

struct tokenizer_added tokenizer_added_at(const struct tokenizer *t,
  size_t i)
{
  const struct added_token *x = &t->added[i];
  return (struct tokenizer_added) { x->id,
    t->string_pool.byte + x->text.at, x->text.n, x->special };
}

void tokenizer_unicode(char pcre2[24], char utf8proc[24])
{
  splitter_unicode(pcre2);
  snprintf(utf8proc, 24, "%s", utf8proc_unicode_version());
}

/* <Close a tokenizer> */

/* also after half an opening: what was not filled is zero */
void tokenizer_close(struct memory *m, struct tokenizer *t)
{
  if (t == NULL) return;
  for (size_t i = 0; i < t->n_steps; i++)
    splitter_close(t->step[i].by);
  ids_free(m, &t->prefix_ids);
  ids_free(m, &t->suffix_ids);
  bpe_free(m, &t->rules);
  name_map_free(m, &t->by_piece);
  bytes_free(m, &t->string_pool);
  memory_free(m, t->vocab);
  memory_free(m, t->added);
  memory_free(m, t->trie);
  memory_free(m, t);
}

/* <Make a tokenizer from merges> */
static bool spell_merges(struct memory *m, struct tokenizer *t,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  for (uint32_t i = 0; i < 256 + n; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(m, t, i + 1, why);
    if (k == NULL) return false;
    size_t at = t->string_pool.n;
    /* a list that was not learnt by bpe_train could go in circles */
    if (i >= 256 && (merge[i - 256].left >= i
      || merge[i - 256].right >= i)) return error_say(why,
      "merge %u joins ids that are not made yet", i - 256);
    if (!bpe_spell(m, merge, i, &t->string_pool, why)) return false;
    if (t->string_pool.n > UINT32_MAX)
      return error_say(why,
        "a vocabulary of more than 4 GiB of letters");
    k->piece = (struct span) { (uint32_t) at,
      (uint32_t) (t->string_pool.n - at) };
    k->text = k->piece;
    if (i >= 256 && !bpe_add(m, &t->rules, merge[i - 256].left + 1,
      merge[i - 256].right + 1, i + 1, why)) return false;
  }
  return true;
}

static const char end_of_text[] = "<|endoftext|>";

/* tokenizer_write describes exactly this tokenizer: change both or none. */
static bool finish_merges(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  struct added_token x = { .id = 0, .special = true };
  t->kind = "byte-level BPE";
  return tokenizer_add_split(m, t, split_gpt2, strlen(split_gpt2), why)
    && tokenizer_intern(m, t, end_of_text, strlen(end_of_text), &x.text,
    why) && tokenizer_index_vocab(m, t, why) && tokenizer_add_token(m, t, &x, why)
    && tokenizer_index_added(m, t, why);
}

struct tokenizer *tokenizer_from_merges(struct memory *m,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  struct tokenizer *t = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *t, why);
  if (t == NULL) return NULL;
  if (n <= TOKENIZER_MAX_ID - 257 ? spell_merges(m, t, merge, n, why)
      && finish_merges(m, t, why) : error_say(why,
      "%zu merges are too many", n))
    return t;
  tokenizer_close(m, t);
  return NULL;
}

/* <Tell what the tables take> */

/* memory_reserve and the hash tables grow in fixed series, so the room follows from
   the number of entries. */
static uint64_t next_room(uint64_t n)
{
  uint64_t cap = 0;
  while (cap < n) cap = 2 * cap + 256;
  return cap;
}

static uint64_t next_power(uint64_t n)
{
  uint64_t cap = 64;
  while (cap < 2 * n) cap *= 2;
  return n == 0 ? 0 : cap;
}

uint64_t tokenizer_bytes(uint64_t ids, uint64_t merges)
{
  return next_room(ids) * sizeof (struct vocab_entry)
    + next_power(ids) * sizeof (struct name_slot)
    + next_room(merges) * sizeof (struct bpe_rule)
    + next_power(merges) * sizeof (struct pair_slot);
}

struct tokenizer_tables tokenizer_tables(const struct tokenizer *t)
{
  return (struct tokenizer_tables) { .ids = t->n_vocab, .merges = t->rules.n,
    .bytes = t->vocab_cap * sizeof *t->vocab
      + t->by_piece.cap * sizeof *t->by_piece.slot
      + t->rules.cap * sizeof *t->rules.rule
      + t->rules.place.cap * sizeof *t->rules.place.slot,
    .letters = t->string_pool.cap };
}
