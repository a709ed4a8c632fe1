/* words.c -- the model: words with their ids, merges, the unknown token; and the tokens
   that were added.

   The words come first, because everything else refers to them: merges to three of them,
   added tokens to their ids. In a vocabulary that begins with bytes the words are spelt in
   the alphabet of alphabet.c; a word with a character that stands for no byte cannot be
   made by merges, but has an id, and decodes as it is written. Special tokens are often in
   the vocabulary in this way, with vertical bars that are not those of ASCII. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "safetensors/excerpt.h"
#include "tokenizer-json/reader.h"

/* A word with a character that stands for no byte keeps its spelling, and can be made by no
   merge: *spelt is false. With characters, every word can. */
static bool to_bytes(struct json_reader *r, const char *text, size_t n,
  struct bytes *out, bool *spelt)
{
  const unsigned char *c = (const unsigned char *) text;
  size_t start = out->n, length = 0;
  *spelt = true;
  if (r->t->char_level)
    return bytes_push(r->m, out, text, n, r->why);
  for (size_t at = 0; at < n && *spelt; at += length) {
    enum utf8_state state;
    length = utf8_next(c + at, n - at, &state);
    int b = tokenizer_unicode_to_byte(utf8_point(c + at, length));
    unsigned char byte = (unsigned char) b;
    *spelt = b >= 0;
    if (*spelt && !bytes_push(r->m, out, &byte, 1, r->why))
      return false;
  }
  if (*spelt) return true;
  out->n = start;
  return bytes_push(r->m, out, text, n, r->why);
}

/* In the order of the file, which need not be that of the ids; the table grows to the
   largest that comes. A word that does not stand for bytes has a text but no piece, and
   tokenizer_index_vocab skips it. */
bool words_read(struct json_reader *r, const char *where)
{
  const char *key;
  size_t n;
  json_t *v;
  if (!json_is_object(r->vocab)) return reader_refuse(r, where, r->vocab,
    "an object");
  json_object_keylen_foreach(r->vocab, key, n, v) {
    uint32_t id;
    bool spelt;
    r->row.n = 0;
    if (!reader_id(r, field_below(where, key).name, v, &id)
        || !to_bytes(r, key, n, &r->row, &spelt)) return false;
    /* enter the word under its id */
    struct vocab_entry *k = tokenizer_vocab_at(r->m, r->t, id, r->why);
    if (k == NULL) return false;
    /* Two words with one id: decoding would be luck. */
    if (k->text.n > 0)
      return reader_refuse(r, field_below(where, key).name, v,
        "an id that no other word has");
    if (!tokenizer_intern(r->m, r->t, r->row.byte, r->row.n, &k->text,
      r->why)) return false;
    if (spelt) k->piece = k->text;
  }
  return tokenizer_index_vocab(r->m, r->t, r->why);
}

/* Both words and what they make together must be in the vocabulary. If they are not, the
   file is broken, or of a kind that marks the beginnings of words in its merges; the
   message shows both. */
bool words_read_merge(struct json_reader *r, const char *a, size_t n_a,
  const char *b, size_t n_b, const char *field)
{
  bool spelt_a, spelt_b;
  r->row.n = 0;
  if (!to_bytes(r, a, n_a, &r->row, &spelt_a)) return false;
  size_t n = r->row.n;
  if (!to_bytes(r, b, n_b, &r->row, &spelt_b)) return false;
  const struct name_map *known = &r->t->by_piece;
  /* Neither may be empty: with an empty vocabulary the row was never allocated, and C
     does not even allow null + 0. */
  bool two = spelt_a && spelt_b && n > 0 && r->row.n > n;
  uint32_t left = two ? name_map_get(known, r->row.byte, n) : 0;
  uint32_t right = two ? name_map_get(known, r->row.byte + n,
    r->row.n - n) : 0;
  uint32_t made = two ? name_map_get(known, r->row.byte, r->row.n) : 0;
  if (left != 0 && right != 0 && made != 0)
    return bpe_add(r->m, &r->t->rules, left - 1, right - 1, made - 1,
      r->why);
  char words[140], first[EXCERPT_MAX + 4], second[EXCERPT_MAX + 4];
  snprintf(words, sizeof words, "\"%s\" and \"%s\"",
    text_excerpt(a, n_a, 40, first), text_excerpt(b, n_b, 40, second));
  return error_found(r->why, r->file, field, words,
    "two words of the vocabulary that make a third");
}

/* A merge is a list of two words or, in older files, one string with one blank between two;
   a file may mix the two forms, so each element is asked for its own. With a second blank
   it would be ambiguous where to divide, since in a vocabulary of characters a word may
   contain blanks; newer files write such words as a list. The number is in the field's name
   because nobody finds one bad merge among all by eye. */
static bool read_merges(struct json_reader *r, const char *where,
  json_t *list)
{
  size_t i;
  json_t *v;
  if (!json_is_array(list)) return reader_refuse(r, where, list, "a list");
  json_array_foreach(list, i, v) {
    const json_t *a = json_array_get(v, 0), *b = json_array_get(v, 1);
    const char *text = json_string_value(v), *blank;
    struct field_name field = field_element(where, i);
    bool ok;
    /* take the two words from a list, or from a string */
    if (json_array_size(v) == 2 && json_is_string(a)
      && json_is_string(b)) ok = words_read_merge(r, json_string_value(a),
        json_string_length(a), json_string_value(b),
        json_string_length(b), field.name);
    else if (text != NULL && (blank = strchr(text, ' ')) != NULL
      && strchr(blank + 1, ' ') == NULL)
      ok = words_read_merge(r, text, (size_t) (blank - text), blank + 1,
        json_string_length(v) - (size_t) (blank + 1 - text),
        field.name);
    else ok = reader_refuse(r, field.name, v, "two words");
    if (!ok) return false;
  }
  return true;
}

/* also of those that never occur in UTF-8: our texts may be any bytes */
static int bytes_with_tokens(const struct tokenizer *t)
{
  int n = 0;
  for (int b = 0; b < 256; b++)
    n += t->rules.byte_id[b] != BPE_NONE;
  return n;
}

/* In a byte-level vocabulary in which every byte has a token, every text can be spelt, and
   the unknown token is never used. If some byte has none, it could be used, and we refuse:
   no byte-level tokenizer that we have met does that. With characters an unknown one
   becomes bytes first, if all of its bytes are words, and the unknown token is the last resort. */
static bool read_unknown(struct json_reader *r, const json_t *v)
{
  uint32_t id;
  if (value_says_nothing(v)) return true;
  /* With a token for every byte the unknown one is never used, so it may be named. */
  if (!r->t->char_level) return bytes_with_tokens(r->t) == 256
    || reader_refuse(r, "model.unk_token", v,
    "null, as some byte has no token");
  if (!json_is_string(v) || !tokenizer_find(r->t,
    json_string_value(v), json_string_length(v), &id))
    return reader_refuse(r, "model.unk_token", v,
      "a word of the vocabulary");
  r->t->unknown = id + 1;
  return true;
}

/* The double that the makers' library reads. It divides the digits as a whole number by a power of ten,
   which is not always the nearest double, and sums of such scores decide about ties. The digits are those
   of the shortest decimal, since it is what programs write. */
static double score_of(const json_t *v)
{
  static const double ten[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
    1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
  double x = json_number_value(v), digits = 0;
  char text[40];
  int exponent = 0, after = 0;
  if (json_is_integer(v)) return x;
  for (int n = 1; n <= 17; n++)
    if (snprintf(text, sizeof text, "%.*e", n - 1, x), strtod(text, NULL) == x) break;
  uint64_t whole = 0;
  const char *c = text;
  for (bool point = false; *c != '\0' && *c != 'e'; c++)
    if (*c == '.') point = true;
    else if (*c != '-') whole = 10 * whole + (uint64_t) (*c - '0'), after += point;
  exponent = (*c == 'e' ? atoi(c + 1) : 0) - after;
  digits = (double) whole;
  if (exponent > 22 || exponent < -22) return x;
  digits = exponent < 0 ? digits / ten[-exponent] : digits * ten[exponent];
  return x < 0 ? -digits : digits;
}

/* A list of words with scores; the place in it is the id. */
static bool read_scored_words(struct json_reader *r, double *lowest)
{
  size_t i;
  json_t *each;
  if (!json_is_array(r->vocab) || json_array_size(r->vocab) == 0
    || json_array_size(r->vocab) > TOKENIZER_MAX_ID)
    return reader_refuse(r, "model.vocab", r->vocab, "a list of words, each with a score");
  json_array_foreach(r->vocab, i, each) {
    json_t *word = json_array_get(each, 0), *score = json_array_get(each, 1);
    struct vocab_entry *k = tokenizer_vocab_at(r->m, r->t, (uint32_t) i, r->why);
    if (k == NULL) return false;
    if (json_array_size(each) != 2 || !json_is_string(word) || !json_is_number(score))
      return reader_refuse(r, field_element("model.vocab", i).name, each, "a word and a score");
    if (!tokenizer_intern(r->m, r->t, json_string_value(word), json_string_length(word),
      &k->text, r->why)) return false;
    k->piece = k->text;
  }
  if (!tokenizer_make_scores(r->m, r->t, r->why)) return false;
  json_array_foreach(r->vocab, i, each) {
    double x = r->t->unigram.score[i] = score_of(json_array_get(each, 1));
    if (i == 0 || x < *lowest) *lowest = x;
  }
  return true;
}

/* Unigram chooses the best of all ways to cut a text; its unknown token has a number, not a name. */
static bool read_unigram(struct json_reader *r, json_t *model)
{
  json_t *unknown = json_object_get(model, "unk_id");
  double lowest = 0;
  uint32_t id = 0;
  if (!reader_keys(r, "model", model, "type unk_id vocab byte_fallback ")
    || !reader_flag(r, "model", model, "byte_fallback", false, &r->t->byte_fallback)) return false;
  if (!r->t->char_level)
    return error_found(r->why, r->file, "pre_tokenizer", "ByteLevel", "none with Unigram");
  r->t->kind = "Unigram";
  if (!read_scored_words(r, &lowest) || !tokenizer_index_vocab(r->m, r->t, r->why)
    || !tokenizer_index_scores(r->m, r->t, lowest, false, r->why)) return false;
  tokenizer_find_splits(r->t);
  if (value_says_nothing(unknown)) return true;
  if (!reader_id(r, "model.unk_id", unknown, &id)) return false;
  if (id >= r->t->n_vocab)
    return reader_refuse(r, "model.unk_id", unknown, "the number of a word");
  r->t->unknown = id + 1;
  return true;
}

/* Dropout, which omits merges at random to make training harder, must be off, or the same
   text would have other ids every time; some files turn it off with a zero. Prefixes and
   suffixes for parts of words would change what the two words of a merge spell together; no
   file of the families that we read has them. byte_fallback must be known before the words
   are read, and unk_token can be looked up only afterwards. */
bool words_read_model(struct json_reader *r, json_t *model)
{
  static const char *const none[] = { "dropout",
    "continuing_subword_prefix", "end_of_word_suffix", NULL };
  r->vocab = json_object_get(model, "vocab");
  if (r->unigram) return read_unigram(r, model);
  if (!reader_keys(r, "model", model, "type dropout unk_token "
    "continuing_subword_prefix end_of_word_suffix fuse_unk "
    "byte_fallback ignore_merges vocab merges ")) return false;
  /* refuse what would change ids, and what we do not do */
  for (size_t i = 0; none[i] != NULL; i++) {
    json_t *v = json_object_get(model, none[i]);
    if (!value_says_nothing(v) && !(json_is_number(v)
      && json_number_value(v) == 0)) return reader_refuse(r,
      field_below("model", none[i]).name, v, "null");
  }
  if (!reader_flag(r, "model", model, "ignore_merges", false,
      &r->t->ignore_merges)
    || !reader_flag(r, "model", model, "byte_fallback", false,
      &r->t->byte_fallback)
    || !reader_flag(r, "model", model, "fuse_unk", false,
      &r->t->fuse_unk) || !words_read(r, "model.vocab")
    || !read_merges(r, "model.merges",
      json_object_get(model, "merges"))) return false;
  /* The flags before read_vocab, which needs them; the unknown token after, since it
     is looked up. */
  if (r->t->char_level) tokenizer_find_splits(r->t);
  return read_unknown(r, json_object_get(model, "unk_token"));
}

/* by the spelling in the file */
static bool find_word(struct json_reader *r, const char *text, size_t n, uint32_t *id)
{
  /* by_piece may point to where the pool was */
  uint32_t place = r->unigram ? tokenizer_find_scored(r->t, (const unsigned char *) text, n) : 0;
  json_t *word = r->unigram ? NULL : json_object_getn(r->vocab, text, n);
  if (place != 0) *id = place - 1;
  if (word != NULL) *id = (uint32_t) json_integer_value(word);
  return place != 0 || word != NULL;
}

/* special is read before normalized, whose default depends on it: special tokens are looked
   for in the text as it is, the others in its normal form. */
static bool read_added(struct json_reader *r, const char *where, json_t *v)
{
  struct added_token x = { .id = 0 };
  json_t *text = json_object_get(v, "content"),
    *id = json_object_get(v, "id");
  if (!reader_keys(r, where, v, "id content single_word lstrip rstrip normalized special ")
    || !reader_id(r, field_below(where, "id").name, id, &x.id)
    || !reader_flag(r, where, v, "special", false, &x.special)
    || !reader_flag(r, where, v, "lstrip", false, &x.lstrip)
    || !reader_flag(r, where, v, "rstrip", false, &x.rstrip)
    || !reader_flag(r, where, v, "single_word", false, &x.single_word)
    || !reader_flag(r, where, v, "normalized", !x.special,
      &x.normalized)) return false;
  /* an empty text would be found everywhere */
  size_t n = json_string_length(text);
  if (n == 0) return reader_refuse(r, field_below(where, "content").name, text,
    "some text");
  /* The token may be a word, and then it has the word's id, whatever the file says: the makers' library
     does so. Else the id must be free; otherwise one of two could be encoded and not decoded. */
  if (!find_word(r, json_string_value(text), n, &x.id) && x.id < r->t->n_vocab
    && r->t->vocab[x.id].text.n > 0)
    return reader_refuse(r, field_below(where, "id").name, id, "an id that no word has");
  return tokenizer_intern(r->m, r->t, json_string_value(text), n, &x.text,
    r->why) && tokenizer_add_token(r->m, r->t, &x, r->why);
}

/* After the words, whose ids they must not take, and before the templates, which name them. */
bool words_read_added(struct json_reader *r, json_t *added)
{
  size_t i;
  json_t *v;
  if (!value_says_nothing(added) && !json_is_array(added))
    return reader_refuse(r, "added_tokens", added, "a list");
  json_array_foreach(added, i, v)
    if (!read_added(r, field_element("added_tokens", i).name, v))
      return false;
  return true;
}
