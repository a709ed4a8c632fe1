/* build.c -- a tokenizer while it is filled, and when it is closed.

   The readers of files and tokenizer_from_merges call these functions in a fixed order: first
   the pieces of the vocabulary, then tokenizer_index_vocab, then stages and added tokens, then
   tokenizer_index_added (tokenizer.c). Nothing is ever removed. The string pool moves when it
   grows, so a string in it is an offset and a length, and never an address. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tokenizer/inside.h"

/* The offsets of a span have 32 bits, enough for 4 GiB of vocabulary; a file that has more is
   refused, so that no offset wraps around. */
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

/* For an id beyond its end the table grows to twice that id, so that a vocabulary in any order
   needs few moves. Ids without a token stay empty, and decode to nothing. The readers of files
   have checked that no id is above TOKENIZER_MAX_ID, since they know which field to name if
   one is. */
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

/* A pattern is compiled when its stage is appended; if PCRE2 refuses it, its message becomes
   our sentence. */
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

bool tokenizer_add_map(struct memory *m, struct tokenizer *t, const unsigned char *byte, size_t n,
  bool by_clusters, const char **wanted, struct error *why)
{
  struct charsmap *map = charsmap_open(m, byte, n, by_clusters, wanted, why);
  if (map == NULL) return false;
  if (tokenizer_add_step(m, t, (struct text_step) { .what = STEP_MAP, .map = map }, NULL, 0, false, why))
    return true;
  charsmap_close(m, map);
  return false;
}

/* The patterns of published vocabularies keep both their matches and the gaps between them. */
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

/* The piece that is this one byte; in a vocabulary of characters a piece of six characters,
   such as <0x0A>, if the file asks for byte fallback. */
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

/* The table of pieces points to their bytes, until the pool grows and moves. It has ids plus
   one, because 0 means that there is no such piece. The ids of single bytes and of ASCII
   characters are in arrays as well, which are faster than the table. */
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

bool tokenizer_make_scores(struct memory *m, struct tokenizer *t, struct error *why)
{
  t->unigram.score = memory_alloc(m, MEMORY_TOKENS, t->n_vocab, sizeof *t->unigram.score, why);
  for (size_t i = 0; t->unigram.score != NULL && i < t->n_vocab; i++)
    t->unigram.score[i] = -INFINITY;
  return t->unigram.score != NULL;
}

/* for sorting, which is told nothing of the pool */
struct sorted_piece { const unsigned char *byte; uint32_t n, id; };

/* A piece comes before those that begin with it; of two that are spelt alike the one with the higher
   id, which the makers' library keeps. */
static int by_letters(const void *a, const void *b)
{
  const struct sorted_piece *x = a, *y = b;
  int order = memcmp(x->byte, y->byte, x->n < y->n ? x->n : y->n);
  if (order != 0) return order;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return x->id > y->id ? -1 : x->id < y->id;
}

/* The scores of characters without a piece: ten less than the worst. */
bool tokenizer_index_scores(struct memory *m, struct tokenizer *t, double lowest, bool floats,
  struct error *why)
{
  struct unigram *u = &t->unigram;
  struct sorted_piece *p = memory_alloc(m, MEMORY_TOKENS, t->n_vocab, sizeof *p, why);
  u->sorted = p == NULL ? NULL
    : memory_alloc(m, MEMORY_TOKENS, t->n_vocab, sizeof *u->sorted, why);
  for (uint32_t i = 0; u->sorted != NULL && i < t->n_vocab; i++)
    if (t->vocab[i].piece.n > 0 && u->score[i] > -INFINITY)
      p[u->n++] = (struct sorted_piece) { t->string_pool.byte + t->vocab[i].piece.at,
        t->vocab[i].piece.n, i };
  if (u->n > 0) qsort(p, u->n, sizeof *p, by_letters);
  for (size_t i = 0; i < u->n; i++) u->sorted[i] = p[i].id;
  memory_free(m, p);
  u->floats = floats;
  u->unknown = floats ? (float) lowest - 10.0f : lowest - 10;
  return u->sorted != NULL;
}

uint32_t tokenizer_find_scored(const struct tokenizer *t, const unsigned char *byte, size_t n)
{
  struct sorted_piece wanted = { byte, (uint32_t) n, UINT32_MAX };
  size_t from = 0, to = t->unigram.n;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    uint32_t id = t->unigram.sorted[middle];
    struct span s = t->vocab[id].piece;
    struct sorted_piece here = { t->string_pool.byte + s.at, s.n, id };
    if (by_letters(&here, &wanted) < 0) from = middle + 1;
    else to = middle;
  }
  if (from == t->unigram.n) return 0;
  struct span s = t->vocab[t->unigram.sorted[from]].piece;
  return s.n == n && memcmp(t->string_pool.byte + s.at, byte, n) == 0
    ? t->unigram.sorted[from] + 1 : 0;
}

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

/* Mostly a block becomes a blank. A text in which from does not occur keeps the bytes of its
   piece. */
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

/* Pieces such as <0x0A> decode to the byte that they name. */
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

/* also after half an opening: what was not filled is zero */
void tokenizer_close(struct memory *m, struct tokenizer *t)
{
  if (t == NULL) return;
  for (size_t i = 0; i < t->n_steps; i++) {
    splitter_close(t->step[i].by);
    charsmap_close(m, t->step[i].map);
  }
  ids_free(m, &t->prefix_ids);
  ids_free(m, &t->suffix_ids);
  bpe_free(m, &t->rules);
  memory_free(m, t->unigram.score);
  memory_free(m, t->unigram.sorted);
  name_map_free(m, &t->by_piece);
  bytes_free(m, &t->string_pool);
  memory_free(m, t->vocab);
  memory_free(m, t->added);
  memory_free(m, t->trie);
  memory_free(m, t);
}
