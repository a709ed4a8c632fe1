/* gguf_tokenizer.c -- a tokenizer from the keys of a GGUF file.

   The file has the words as an array of strings, and beside it arrays of the same length with a score
   and a type for each; merges, if the vocabulary is one of bytes; the ids that begin and end a text;
   and a name for the way in which a text is cut (gguf_patterns.c). Strings are read again where they
   are used, since the file may change; that every one of them is within the file was checked before.
   The same struct tokenizer is filled as from a directory, and in the same order: nothing may be added
   after tokenizer_index_added. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "gguf/gguf.h"
#include "safetensors/excerpt.h"
#include "sentencepiece/sentencepiece.h"
#include "tokenizer-json/gguf_patterns.h"
#include "tokenizer-json/gguf_tokenizer.h"
#include "tokenizer-json/tokenizer_json.h"

struct vocab_reader {
  struct memory *m;
  struct tokenizer *t;
  struct gguf_file g;
  const struct gguf_entry *tokens, *scores, *types; /* the last two may be null */
  const unsigned char *at; /* the next token's string */
  struct bytes row;
  struct error *why;
};

static bool vocab_bad(struct vocab_reader *x, const char *key, const char *wanted)
{
  char buffer[64];
  return error_found(x->why, x->g.path, key,
    gguf_excerpt(gguf_find(&x->g, key), buffer), wanted);
}

/* A type that is no type at all counts as one that nobody has: such a token is spelt like any other. */
static unsigned type_of(const struct vocab_reader *x, uint64_t i)
{
  double type = x->types == NULL ? TOKEN_NORMAL : gguf_number(x->types, i);
  return type >= 0 && type <= TOKEN_BYTE ? (unsigned) type : TOKEN_BYTE + 1;
}

/* An array for each token must have as many elements as there are tokens. A vocabulary with scores
   needs them; types may be absent, and then all tokens are normal. */
static bool find_array(struct vocab_reader *x, const char *key, bool required,
  bool integers, const struct gguf_entry **e)
{
  char wanted[64];
  *e = gguf_find(&x->g, key);
  snprintf(wanted, sizeof wanted, "an array of %" PRIu64 " %s", x->tokens->count,
    integers ? "integers" : "numbers");
  if (*e == NULL) return !required || vocab_bad(x, key, wanted);
  return ((*e)->is_array && (integers ? gguf_integer(*e) : gguf_numeric(*e))
    && (*e)->count == x->tokens->count) || vocab_bad(x, key, wanted);
}

static bool find_arrays(struct vocab_reader *x, bool scored)
{
  static const char key[] = "tokenizer.ggml.tokens";
  x->tokens = gguf_find(&x->g, key);
  if (x->tokens == NULL || !x->tokens->is_array || x->tokens->type != GGUF_STRING
    || x->tokens->count > TOKENIZER_MAX_ID)
    return vocab_bad(x, key, "an array of at most 4194304 strings");
  x->at = x->tokens->at;
  return find_array(x, "tokenizer.ggml.token_type", false, true, &x->types)
    && find_array(x, "tokenizer.ggml.scores", scored, false, &x->scores);
}

static bool take_flag(struct vocab_reader *x, const char *key, bool otherwise,
  bool *flag)
{
  const struct gguf_entry *e = gguf_find(&x->g, key);
  *flag = otherwise;
  return e == NULL || gguf_flag(e, flag) || vocab_bad(x, key, "true or false");
}

/* An id is handed on plus 1, so that 0 can say that there is none. */
static bool take_token(struct vocab_reader *x, const char *key, uint32_t *id)
{
  const struct gguf_entry *e = gguf_find(&x->g, key);
  *id = 0;
  if (e == NULL) return true;
  double n = gguf_integer(e) && !e->is_array ? gguf_number(e, 0) : -1;
  if (n < 0 || n >= (double) x->tokens->count)
    return vocab_bad(x, key, "the id of a token");
  *id = (uint32_t) n + 1;
  return true;
}

static bool piece_at(void *ctx, size_t i, struct sentencepiece_piece *p)
{
  struct vocab_reader *x = ctx;
  struct gguf_words words;
  if (!gguf_next_string(x->tokens, &x->at, &words)) return false;
  *p = (struct sentencepiece_piece) { words.text, words.n,
    (float) gguf_number(x->scores, i), type_of(x, i) };
  return true;
}

/* A blank is put before a text unless the file says otherwise. Two keys name rules that we do not have:
   runs of blanks that become one, and a table of characters that become others. */
static bool read_scored(struct vocab_reader *x)
{
  static const char thin[] = "tokenizer.ggml.remove_extra_whitespaces";
  static const char map[] = "tokenizer.ggml.precompiled_charsmap";
  const struct gguf_entry *e = gguf_find(&x->g, map);
  bool prefix, extra;
  uint32_t unknown = 0;
  if (!take_flag(x, "tokenizer.ggml.add_space_prefix", true, &prefix)
    || !take_flag(x, thin, false, &extra)
    || !take_token(x, "tokenizer.ggml.unknown_token_id", &unknown)) return false;
  if (extra) return vocab_bad(x, thin, "false");
  if (e != NULL && e->count > 0) return vocab_bad(x, map, "none");
  return sentencepiece_make(x->m, x->t, x->g.path, (size_t) x->tokens->count,
    piece_at, x, prefix, unknown, x->why);
}

/* A vocabulary of bytes is spelt in an alphabet in which a blank appears as U+0120. A word with a
   character that is not of the alphabet cannot be spelt, and is found by no merge, but it has a text. */
static bool to_row(struct vocab_reader *x, const char *text, size_t n, bool *spelt)
{
  const unsigned char *c = (const unsigned char *) text;
  size_t start = x->row.n, length = 0;
  *spelt = true;
  if (x->t->char_level) return bytes_push(x->m, &x->row, text, n, x->why);
  for (size_t at = 0; at < n && *spelt; at += length) {
    enum utf8_state state;
    length = utf8_next(c + at, n - at, &state);
    int b = state != UTF8_WHOLE ? -1
      : tokenizer_unicode_to_byte(utf8_point(c + at, length));
    unsigned char byte = (unsigned char) b;
    *spelt = b >= 0;
    if (*spelt && !bytes_push(x->m, &x->row, &byte, 1, x->why)) return false;
  }
  if (*spelt) return true;
  x->row.n = start;
  return bytes_push(x->m, &x->row, text, n, x->why);
}

/* An empty string is an id without a token. A token that was added is not spelt in the alphabet: its
   text is what it says, and it goes into the list of those that are looked for before a text is cut. */
static bool enter_word(struct vocab_reader *x, uint32_t id, struct gguf_words w)
{
  unsigned type = type_of(x, id);
  bool added = type == TOKEN_CONTROL || type == TOKEN_USER
    || type == TOKEN_UNKNOWN, spelt = false, whole = true;
  struct vocab_entry *k = tokenizer_vocab_at(x->m, x->t, id, x->why);
  char field[40];
  snprintf(field, sizeof field, "token %u", (unsigned) id);
  if (k == NULL) return false;
  if (w.n == 0) return true;
  if (utf8_run((const unsigned char *) w.text, w.n, &whole) != w.n || !whole)
    return error_found(x->why, x->g.path, field, "not UTF-8", "letters");
  x->row.n = 0;
  if (!(added ? bytes_push(x->m, &x->row, w.text, w.n, x->why)
      : to_row(x, w.text, w.n, &spelt))
    || !tokenizer_intern(x->m, x->t, x->row.byte, x->row.n, &k->text, x->why))
    return false;
  if (spelt && type != TOKEN_UNUSED) k->piece = k->text;
  struct added_token a = { .text = k->text, .id = id,
    .special = type != TOKEN_USER };
  return !added || tokenizer_add_token(x->m, x->t, &a, x->why);
}

static bool enter_words(struct vocab_reader *x)
{
  struct gguf_words words;
  for (uint32_t id = 0; id < x->tokens->count; id++)
    if (!gguf_next_string(x->tokens, &x->at, &words))
      return vocab_bad(x, "tokenizer.ggml.tokens", "strings that do not change");
    else if (!enter_word(x, id, words)) return false;
  return tokenizer_index_vocab(x->m, x->t, x->why);
}

/* A merge is two words with a blank between them. Neither contains one, since the alphabet has another
   sign for it; so the first blank is the one. (It may be looked for from the second byte on, as no
   word is empty.) */
static bool read_merge(struct vocab_reader *x, struct gguf_words w, uint64_t i)
{
  const struct name_map *known = &x->t->by_piece;
  const char *blank = w.n < 3 ? NULL : memchr(w.text + 1, ' ', w.n - 1);
  size_t n_left = blank == NULL ? 0 : (size_t) (blank - w.text), n;
  bool a = false, b = false;
  char field[64], words[80];
  char part[EXCERPT_MAX + 4];
  x->row.n = 0;
  if (n_left > 0 && !to_row(x, w.text, n_left, &a)) return false;
  n = x->row.n;
  if (n_left > 0 && !to_row(x, blank + 1, w.n - n_left - 1, &b)) return false;
  bool two = a && b && n > 0 && x->row.n > n;
  uint32_t left = two ? name_map_get(known, x->row.byte, n) : 0;
  uint32_t right = two ? name_map_get(known, x->row.byte + n, x->row.n - n) : 0;
  uint32_t made = two ? name_map_get(known, x->row.byte, x->row.n) : 0;
  if (left != 0 && right != 0 && made != 0)
    return bpe_add(x->m, &x->t->rules, left - 1, right - 1, made - 1, x->why);
  snprintf(field, sizeof field, "tokenizer.ggml.merges[%" PRIu64 "]", i);
  snprintf(words, sizeof words, "\"%s\"", text_excerpt(w.text, w.n, EXCERPT_MAX, part));
  return error_found(x->why, x->g.path, field, words,
    "two words of the vocabulary that make a third");
}

static bool read_merges(struct vocab_reader *x)
{
  static const char key[] = "tokenizer.ggml.merges";
  const struct gguf_entry *e = gguf_find(&x->g, key);
  struct gguf_words words;
  if (e == NULL || !e->is_array || e->type != GGUF_STRING)
    return vocab_bad(x, key, "an array of strings");
  const unsigned char *at = e->at;
  for (uint64_t i = 0; i < e->count; i++)
    if (!gguf_next_string(e, &at, &words))
      return vocab_bad(x, key, "strings that do not change");
    else if (!read_merge(x, words, i)) return false;
  return true;
}

/* Merges of characters, as Gemma has them: words are spelt as they are, a block for a blank, and a
   character without a token is spelt in bytes. */
static bool read_characters(struct vocab_reader *x)
{
  static const char block[] = "\xe2\x96\x81";
  struct tokenizer *t = x->t;
  t->kind = "BPE on characters", t->char_level = t->byte_fallback = true;
  return tokenizer_add_string(x->m, t, (struct text_step) { .what = STEP_REPLACE },
    block, 3, " ", 1, true, x->why);
}

/* Steps are added in their order: those that change a text, then the words and their merges, then the
   cuts; the added tokens are indexed last, after which nothing may be added. */
static bool read_steps(struct vocab_reader *x, const struct pattern_group *by)
{
  struct tokenizer *t = x->t;
  bool characters = (by->how & GROUP_CHARACTERS) != 0;
  t->kind = "byte-level BPE", t->ignore_merges = (by->how & GROUP_WHOLE) != 0;
  t->lines_whole = (by->how & GROUP_LINES) != 0;
  if ((by->how & GROUP_COMPOSES) != 0 && !tokenizer_add_step(x->m, t,
    (struct text_step) { .what = STEP_NFC }, NULL, 0, false, x->why))
    return false;
  if (characters && !read_characters(x)) return false;
  t->n_normalizers = t->n_steps;
  if (!enter_words(x) || !read_merges(x)) return false;
  for (int i = 0; i < GGUF_PATTERNS && by->pattern[i] != NULL; i++)
    if (!tokenizer_add_split(x->m, t, by->pattern[i], strlen(by->pattern[i]), x->why))
      return false;
  if (characters) {
    tokenizer_find_splits(t);
    if (!tokenizer_texts_replace(x->m, t, "\xe2\x96\x81", 3, " ", 1, x->why)
      || !tokenizer_texts_as_bytes(x->m, t, x->why)) return false;
  }
  return tokenizer_index_added(x->m, t, x->why);
}

/* without a name, which is that of the kind of model if it is Gemma's */
static bool read_merged(struct vocab_reader *x, struct gguf_words name, bool *adds_bos)
{
  static const char key[] = "tokenizer.ggml.pre";
  char list[GGUF_NAMES_CAP], wanted[GGUF_NAMES_CAP + 40];
  const struct gguf_entry *e = gguf_find(&x->g, key);
  if (e != NULL && !gguf_string(e, &name)) name.n = 0;
  const struct pattern_group *by = gguf_pattern_named(name);
  gguf_pattern_names(list);
  snprintf(wanted, sizeof wanted, "one of the names known here: %s", list);
  if (by == NULL) return vocab_bad(x, key, wanted);
  *adds_bos = (by->how & GROUP_BEGINS) != 0;
  return read_steps(x, by);
}

static bool surround(struct vocab_reader *x, const char *flag, const char *key,
  bool otherwise, struct ids *list)
{
  bool add;
  uint32_t id;
  if (!take_flag(x, flag, otherwise, &add) || !take_token(x, key, &id))
    return false;
  if (!add) return true;
  if (id == 0) return vocab_bad(x, key, "the id of a token, which is to be added");
  return ids_push(x->m, list, id - 1, x->why);
}

/* A vocabulary of another kind is a valid file, and so is a model without a vocabulary: the caller can
   run it with ids. Whether a text gets a token before it, a flag says; if it is absent, vocabularies
   with scores add one, and so does a Llama 3: older files of theirs rely on it. */
static bool read_kind(struct vocab_reader *x, enum tokenizer_found *found)
{
  static const char key[] = "tokenizer.ggml.model";
  struct gguf_words kind = { "", 0 };
  const struct gguf_entry *e = gguf_find(&x->g, key);
  bool any = gguf_string(e, &kind), adds_bos = true;
  bool scored = kind.n == 5 && memcmp(kind.text, "llama", 5) == 0;
  bool gemma = kind.n == 6 && memcmp(kind.text, "gemma4", 6) == 0;
  bool merged = gemma || (kind.n == 4 && memcmp(kind.text, "gpt2", 4) == 0);
  struct gguf_words pre = gemma ? kind : (struct gguf_words) { "default", 7 };
  if (e == NULL || (kind.n == 4 && memcmp(kind.text, "none", 4) == 0)
    || (kind.n == 8 && memcmp(kind.text, "no_vocab", 8) == 0)) {
    *found = TOKENIZER_ABSENT;
    return vocab_bad(x, key, "a vocabulary: gpt2 or llama");
  }
  if (any && !scored && !merged) *found = TOKENIZER_OTHER_KIND;
  if (!scored && !merged)
    return vocab_bad(x, key, "gpt2 or llama (another kind of tokenizer)");
  return find_arrays(x, scored)
    && (scored ? read_scored(x) : read_merged(x, pre, &adds_bos))
    && surround(x, "tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id",
      adds_bos, &x->t->prefix_ids)
    && surround(x, "tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id",
      false, &x->t->suffix_ids);
}

bool gguf_tokenizer_read(struct memory *m, struct tokenizer *t,
  const struct gguf_file *g,
  enum tokenizer_found *found, struct error *why)
{
  struct vocab_reader x = { .m = m, .t = t, .g = *g, .why = why };
  *found = TOKENIZER_REFUSED;
  bool ok = read_kind(&x, found);
  bytes_free(m, &x.row);
  if (ok) *found = TOKENIZER_OPEN;
  return ok;
}
