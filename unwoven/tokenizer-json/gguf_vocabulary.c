/* gguf_vocabulary.c -- a tokenizer, written as the keys of a GGUF file.

   The file gets an array with the letters of each token, an array with their types, and either merges
   or scores. What the format cannot say is refused before anything is added: a way of cutting texts
   that has no name there, several tokens around a text, flags of added tokens. Whether all the rest
   came through, the caller tries: it reads the file again, and compares two tokenizers on a text. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "tokenizer-json/gguf_patterns.h"
#include "tokenizer-json/gguf_tokenizer.h"
#include "tokenizer-json/tokenizer_json.h"

struct words {
  struct memory *m;
  struct gguf_draft *d;
  const struct tokenizer *t;
  uint32_t n;
  bool scored;
  unsigned char *type; /* of each token, */
  struct span *text; /* its letters, */
  float *score; /* and its score */
  struct error *why;
};

static const unsigned char *pool_at(const struct words *v, struct span s)
{
  return v->t->string_pool.byte + s.at;
}

static bool is_byte_piece(const struct words *v, struct span s)
{
  const unsigned char *c = pool_at(v, s);
  return s.n == 6 && memcmp(c, "<0x", 3) == 0 && hex_byte(c + 3) >= 0
    && c[5] == '>';
}

/* In three steps: an id without letters is unused; an added token is control or user-defined; and in a
   vocabulary of SentencePiece one token is the unknown one, and some are bytes. */
static void find_types(struct words *v)
{
  const struct tokenizer *t = v->t;
  for (uint32_t i = 0; i < v->n; i++) {
    struct span none = { 0, 0 };
    v->text[i] = i < t->n_vocab ? t->vocab[i].piece : none;
    v->type[i] = v->text[i].n == 0 ? TOKEN_UNUSED : TOKEN_NORMAL;
    if (v->scored && v->text[i].n > 0 && is_byte_piece(v, v->text[i]))
      v->type[i] = TOKEN_BYTE;
  }
  for (size_t i = 0; i < t->n_added; i++)
    if (t->added[i].id < v->n) {
      v->text[t->added[i].id] = t->added[i].text;
      v->type[t->added[i].id] = t->added[i].special ? TOKEN_CONTROL : TOKEN_USER;
    }
  if (v->scored && t->unknown > 0) v->type[t->unknown - 1] = TOKEN_UNKNOWN;
}

/* A tokenizer of SentencePiece merges the pair whose result has the best score; ours has a list of
   rules with ranks. So the score of a token is the rank of the first rule that makes it, with a minus
   sign, and a token that no rule makes is worse than all. This is right if all rules for one token are
   neighbours, which holds for lists that were made from scores. */
static void find_scores(struct words *v)
{
  const struct bpe *b = &v->t->rules;
  for (uint32_t i = 0; i < v->n; i++) v->score[i] = -(float) b->n - 1;
  for (size_t i = b->n; i-- > 0;)
    if (b->rule[i].made < v->n) v->score[b->rule[i].made] = -(float) b->rule[i].rank;
}

/* The letters of a vocabulary of bytes are written in its alphabet. Added tokens are written as they
   are, and so is everything in a vocabulary with scores. An id without letters gets the name
   that llama.cpp's own converter gives it. */
static void add_words(struct words *v, struct bytes *row)
{
  gguf_add_array(v->d, "tokenizer.ggml.tokens", GGUF_STRING, v->n);
  for (uint32_t i = 0; i < v->n && v->d->ok; i++) {
    const unsigned char *c = pool_at(v, v->text[i]);
    char pad[24];
    row->n = 0;
    if (v->type[i] == TOKEN_UNUSED)
      gguf_add_element(v->d, pad, (size_t) snprintf(pad, sizeof pad,
        "[PAD%" PRIu32 "]", i));
    else if (v->scored || v->type[i] != TOKEN_NORMAL)
      gguf_add_element(v->d, c, v->text[i].n);
    else if (tokenizer_to_alphabet(v->m, c, v->text[i].n, row, v->why))
      gguf_add_element(v->d, row->byte, row->n);
    else v->d->ok = false;
  }
  gguf_add_array(v->d, "tokenizer.ggml.token_type", GGUF_I32, v->n);
  for (uint32_t i = 0; i < v->n; i++) gguf_add_number(v->d, 4, v->type[i]);
}

/* A merge is two words with a blank between them; the order of the ranks is that of the array. */
static void add_merges(struct words *v, struct bytes *row)
{
  const struct bpe *b = &v->t->rules;
  gguf_add_array(v->d, "tokenizer.ggml.merges", GGUF_STRING, b->n);
  for (size_t i = 0; i < b->n && v->d->ok; i++) {
    struct span l = v->t->vocab[b->rule[i].left].piece;
    struct span r = v->t->vocab[b->rule[i].right].piece;
    row->n = 0;
    if (tokenizer_to_alphabet(v->m, pool_at(v, l), l.n, row, v->why)
      && bytes_push(v->m, row, " ", 1, v->why)
      && tokenizer_to_alphabet(v->m, pool_at(v, r), r.n, row, v->why))
      gguf_add_element(v->d, row->byte, row->n);
    else v->d->ok = false;
  }
}

static void add_scores(struct words *v)
{
  gguf_add_array(v->d, "tokenizer.ggml.scores", GGUF_F32, v->n);
  for (uint32_t i = 0; i < v->n; i++)
    gguf_add_number(v->d, 4, num_bits32(v->score[i]));
}

static bool puts_blank(const struct tokenizer *t)
{
  for (size_t i = 0; i < t->n_steps; i++)
    if (t->step[i].what == STEP_PREPEND) return true;
  return false;
}

/* A tokenizer whose way of cutting has no name is refused. So are flags of added tokens for which the
   format has no place: they would be lost without a word. */
static bool can_be_said(const struct words *v, struct gguf_words pre,
  const char *path)
{
  const struct tokenizer *t = v->t;
  const char *lost = NULL;
  if (t->n_vocab > v->n) lost = "has more tokens than the model";
  if (!v->scored && pre.n == 0) lost = "cuts texts in a way that has no name there";
  if (t->prefix_ids.n > 1 || t->suffix_ids.n > 1)
    lost = "puts several tokens around a text";
  for (size_t i = 0; i < t->n_added; i++) {
    const struct added_token *a = &t->added[i];
    if (a->lstrip || a->rstrip || a->single_word)
      lost = "has an added token that takes blanks with it, or stands alone";
  }
  return lost == NULL || error_say(v->why, "%s: cannot become a GGUF file: its tokenizer %s",
    path, lost);
}

static bool add_kind(struct words *v, const char *path)
{
  struct gguf_words pre = { "default", 7 };
  if (!v->scored && !gguf_pattern_of(v->m, v->t, &pre, v->why)) return false;
  if (!can_be_said(v, pre, path)) return false;
  gguf_add_text(v->d, "tokenizer.ggml.model", v->scored ? "llama" : "gpt2",
    v->scored ? 5 : 4);
  gguf_add_text(v->d, "tokenizer.ggml.pre", pre.text, pre.n);
  if (v->scored) gguf_add_flag(v->d, "tokenizer.ggml.add_space_prefix",
    puts_blank(v->t));
  return true;
}

static void add_arrays(struct words *v)
{
  struct bytes row = { .n = 0 };
  find_types(v);
  find_scores(v);
  add_words(v, &row);
  if (v->scored) add_scores(v);
  else add_merges(v, &row);
  bytes_free(v->m, &row);
}

bool gguf_tokenizer_write(struct gguf_draft *d, const struct tokenizer *t,
  uint32_t n, const char *path, struct error *why)
{
  struct words v = { .m = d->m, .d = d, .t = t, .n = n, .scored = t->char_level,
    .why = why };
  v.type = memory_alloc(v.m, MEMORY_OTHER, n, sizeof *v.type, why);
  v.text = v.type == NULL ? NULL : memory_alloc(v.m, MEMORY_OTHER, n, sizeof *v.text, why);
  v.score = v.text == NULL ? NULL : memory_alloc(v.m, MEMORY_OTHER, n, sizeof *v.score, why);
  bool ok = v.score != NULL && add_kind(&v, path);
  if (ok) add_arrays(&v);
  memory_free(v.m, v.type);
  memory_free(v.m, v.text);
  memory_free(v.m, v.score);
  return ok && d->ok;
}
