/* answers.c -- decoding, and questions about a tokenizer.

   Ids come from a model and may be anything, so every id gets an answer. The questions
   allocate nothing, so they cannot fail. Whether the decoded bytes form characters is not
   asked here; streaming does. */

#include <stdio.h>
#include <string.h>
#include <utf8proc.h>
#include "tokenizer/inside.h"

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

/* on failure the row is as it was */
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

/* Special tokens are left out on request, for a reader who wants the conversation and not its
   stage directions. */
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

/* The files may put several ids before a text; this is the first. */
bool tokenizer_bos(const struct tokenizer *t, uint32_t *id)
{
  if (t->prefix_ids.n > 0) *id = t->prefix_ids.id[0];
  return t->prefix_ids.n > 0;
}

const char *tokenizer_kind(const struct tokenizer *t)
{
  return t->kind;
}

/* both are about batches of texts */
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

/* of the libraries at run time, which may be newer than those at compile time; the two may
   differ, and nothing needs them to agree */
void tokenizer_unicode(char pcre2[24], char utf8proc[24])
{
  splitter_unicode(pcre2);
  snprintf(utf8proc, 24, "%s", utf8proc_unicode_version());
}

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
