/* tokenizer_json.c -- Reading the tokenizers that Hugging Face's library writes, and
   GPT-2's pair of files; telling all kinds of files apart; writing.
   made from workshop/06-tokenizer-json.w; change it there

   A key that is not known may change ids, so it is refused unless its value says
   nothing. A file that is not BPE is of another kind, which is no error (ours); a
   file of our kind with anything that we do not do is one. Parts are read in the
   order in which they refer to each other, which is not that of the file: words,
   decoder, added tokens and all stages before tokenizer_index_added, after which
   nothing may be added to the string pool; then what goes around a text. jansson's
   functions take null, and answer null, zero or false: asking is never an error, and
   the answer is checked where it matters. Readers of parts stand before readers of
   wholes. */

#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/new_file.h"
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "sentencepiece/sentencepiece.h"
#include "tokenizer-json/gguf_tokenizer.h"
#include "tokenizer-json/tokenizer_json.h"

/* <What reading a file needs> */
#define BLOCK "\xe2\x96\x81"
struct json_reader { struct memory *m; struct tokenizer *t;
  const char *file;
  json_t *vocab; size_t bytes; struct bytes row; bool ours, fused,
    in_bytes;
  uint32_t begin, end; enum tokenizer_found found;
  struct error *why; };

/* <Refuse a field> */

/* As a person names it who reads the file aloud: of an object or a list it helps most
   to know that it is one. */
static const char *kind_of(const json_t *v)
{
  switch (json_typeof(v)) {
  case JSON_NULL: return "null";
  case JSON_TRUE: return "true";
  case JSON_FALSE: return "false";
  case JSON_OBJECT: return "an object";
  case JSON_ARRAY: return "a list";
  case JSON_STRING: return "a string";
  case JSON_INTEGER: return "an integer";
  case JSON_REAL: break;
  }
  return "a number with a point";
}

/* Only strings and integers are worth quoting, and a string may be as long as the
   file, so it is cut. */
static const char *shown(const json_t *v, char buffer[80])
{
  const char *text = json_string_value(v);
  char part[EXCERPT_MAX + 4];
  if (v == NULL) return "missing";
  if (text != NULL)
    snprintf(buffer, 80, "\"%s\"",
      text_excerpt(text, json_string_length(v), EXCERPT_MAX, part));
  else if (json_is_integer(v))
    snprintf(buffer, 80, "%lld", (long long) json_integer_value(v));
  else return kind_of(v);
  return buffer;
}

/* Returns false, as error_found does, so that a check can be written: this is so, or
   refuse. */
static bool refuse(struct json_reader *r, const char *field,
  const json_t *found, const char *wanted)
{
  char buffer[80];
  return error_found(r->why, r->file, field, shown(found, buffer),
    wanted);
}

struct field_name { char name[160]; };

/* By value: names live for one message, and nothing need be freed. */
static struct field_name below(const char *where, const char *key)
{
  struct field_name p;
  char part[EXCERPT_MAX + 4];
  snprintf(p.name, sizeof p.name, "%s%s%s", where,
    *where ? "." : "", text_excerpt(key, strlen(key), 40, part));
  return p;
}

/* The name is cut before its number, which says where in a long list to look. */
static struct field_name number_of(const char *where, size_t i)
{
  struct field_name p;
  snprintf(p.name, sizeof p.name, "%.130s[%zu]", where, i);
  return p;
}

/* <Accept only keys that we know> */

/* Programs write out every field they have: what is null, false or empty asks for
   nothing. */
static bool says_nothing(const json_t *v)
{
  return v == NULL || json_is_null(v) || json_is_false(v)
    || (json_is_string(v) && json_string_length(v) == 0)
    || (json_is_array(v) && json_array_size(v) == 0)
    || (json_is_object(v) && json_object_size(v) == 0);
}

/* Checks as well that there is an object. keys has a blank after each, the last one,
   too. */
static bool only_keys(struct json_reader *r, const char *where,
  json_t *object, const char *keys)
{
  const char *key;
  json_t *v;
  if (!json_is_object(object)) return refuse(r, where, object,
    "an object");
  json_object_foreach(object, key, v) {
    size_t n = strlen(key);
    const char *at = strchr(key, ' ') == NULL ? keys : "";
    while (*at != '\0' && !(strncmp(at, key, n) == 0 && at[n] == ' '))
      at = strchr(at, ' ') + 1;
    if (*at == '\0' && !says_nothing(v))
      return refuse(r, below(where, key).name, v,
        "a key that this reader knows");
  }
  return true;
}

/* <Read a flag> */

/* a 1 is not a flag */
static bool flag(struct json_reader *r, const char *where, json_t *object,
  const char *key, bool otherwise, bool *out)
{
  json_t *v = json_object_get(object, key);
  *out = v == NULL || json_is_null(v) ? otherwise : json_is_true(v);
  return v == NULL || json_is_null(v) || json_is_boolean(v)
    || refuse(r, below(where, key).name, v, "true or false");
}

/* <Read an id> */
static bool read_id(struct json_reader *r, const char *field,
  const json_t *v, uint32_t *id)
{
  char wanted[64];
  /* Each word takes some bytes of the file, so no honest id is as large as that; a
     small file cannot ask for a large table. */
  size_t max = r->bytes < TOKENIZER_MAX_ID ? r->bytes : TOKENIZER_MAX_ID;
  snprintf(wanted, sizeof wanted, "an integer from 0 to %zu", max - 1);
  if (!json_is_integer(v) || json_integer_value(v) < 0
      || json_integer_value(v) >= (json_int_t) max)
    return refuse(r, field, v, wanted);
  *id = (uint32_t) json_integer_value(v);
  return true;
}

/* <Turn a word of the file into bytes> */

/* A word with a character that stands for no byte keeps its spelling, and can be made
   by no merge: *spelt is false. With characters, every word can. */
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

/* <All about the words of the vocabulary> */

/* <Read the vocabulary> */

/* In the order of the file, which need not be that of the ids; the table grows to the
   largest that comes. */
static bool read_vocab(struct json_reader *r, const char *where)
{
  const char *key;
  size_t n;
  json_t *v;
  if (!json_is_object(r->vocab)) return refuse(r, where, r->vocab,
    "an object");
  json_object_keylen_foreach(r->vocab, key, n, v) {
    uint32_t id;
    bool spelt;
    r->row.n = 0;
    if (!read_id(r, below(where, key).name, v, &id)
        || !to_bytes(r, key, n, &r->row, &spelt)) return false;
    /* <Enter the word under its id> */
    struct vocab_entry *k = tokenizer_vocab_at(r->m, r->t, id, r->why);
    if (k == NULL) return false;
    /* Two words with one id: decoding would be luck. */
    if (k->text.n > 0)
      return refuse(r, below(where, key).name, v,
        "an id that no other word has");
    if (!tokenizer_intern(r->m, r->t, r->row.byte, r->row.n, &k->text,
      r->why)) return false;
    if (spelt) k->piece = k->text;
  }
  return tokenizer_index_vocab(r->m, r->t, r->why);
}

/* <Read one merge> */
static bool read_merge(struct json_reader *r, const char *a, size_t n_a,
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

/* <Read the merges> */

/* A file may mix the two forms, so each element is asked for its own. The number is
   in the field's name because nobody finds one bad merge among all by eye. */
static bool read_merges(struct json_reader *r, const char *where,
  json_t *list)
{
  size_t i;
  json_t *v;
  if (!json_is_array(list)) return refuse(r, where, list, "a list");
  json_array_foreach(list, i, v) {
    const json_t *a = json_array_get(v, 0), *b = json_array_get(v, 1);
    const char *text = json_string_value(v), *blank;
    struct field_name field = number_of(where, i);
    bool ok;
    /* <Take the two words from a list, or from a string> */
    if (json_array_size(v) == 2 && json_is_string(a)
      && json_is_string(b)) ok = read_merge(r, json_string_value(a),
        json_string_length(a), json_string_value(b),
        json_string_length(b), field.name);
    else if (text != NULL && (blank = strchr(text, ' ')) != NULL
      && strchr(blank + 1, ' ') == NULL)
      ok = read_merge(r, text, (size_t) (blank - text), blank + 1,
        json_string_length(v) - (size_t) (blank + 1 - text),
        field.name);
    else ok = refuse(r, field.name, v, "two words");
    if (!ok) return false;
  }
  return true;
}

/* <Count the bytes that have tokens> */

/* also of those that never occur in UTF-8: our texts may be any bytes */
static int bytes_with_tokens(const struct tokenizer *t)
{
  int n = 0;
  for (int b = 0; b < 256; b++)
    n += t->rules.byte_id[b] != BPE_NONE;
  return n;
}

/* <Read the unknown token> */
static bool read_unknown(struct json_reader *r, const json_t *v)
{
  uint32_t id;
  int bytes = bytes_with_tokens(r->t);
  if (says_nothing(v)) return true;
  /* With a token for every byte the unknown one is never used, so it may be named. */
  if (!r->t->char_level) return bytes == 256
    || refuse(r, "model.unk_token", v,
    "null, as some byte has no token");
  /* not defined which of the two a character gets */
  if (bytes > 0 && bytes < 256) return refuse(r,
    "model.byte_fallback", json_true(),
    "false, or a token for each of the 256 bytes");
  if (!json_is_string(v) || !tokenizer_find(r->t,
    json_string_value(v), json_string_length(v), &id))
    return refuse(r, "model.unk_token", v,
      "a word of the vocabulary");
  r->t->unknown = id + 1;
  return true;
}

/* <Read the model> */
static bool read_model(struct json_reader *r, json_t *model)
{
  static const char *const none[] = { "dropout",
    "continuing_subword_prefix", "end_of_word_suffix", NULL };
  if (!only_keys(r, "model", model, "type dropout unk_token "
    "continuing_subword_prefix end_of_word_suffix fuse_unk "
    "byte_fallback ignore_merges vocab merges ")) return false;
  /* <Refuse what would change ids, and what we do not do> */
  for (size_t i = 0; none[i] != NULL; i++) {
    json_t *v = json_object_get(model, none[i]);
    if (!says_nothing(v) && !(json_is_number(v)
      && json_number_value(v) == 0)) return refuse(r,
      below("model", none[i]).name, v, "null");
  }
  r->vocab = json_object_get(model, "vocab");
  if (!flag(r, "model", model, "ignore_merges", false,
      &r->t->ignore_merges)
    || !flag(r, "model", model, "byte_fallback", false,
      &r->t->byte_fallback)
    || !flag(r, "model", model, "fuse_unk", false,
      &r->t->fuse_unk) || !read_vocab(r, "model.vocab")
    || !read_merges(r, "model.merges",
      json_object_get(model, "merges"))) return false;
  /* The flags before read_vocab, which needs them; the unknown token after, since it
     is looked up. */
  if (r->t->char_level) tokenizer_find_splits(r->t);
  return read_unknown(r, json_object_get(model, "unk_token"));
}

/* <Read an added token> */

/* special is read before normalized, whose default depends on it: special tokens are
   looked for in the text as it is, the others in its normal form. */
static bool read_added(struct json_reader *r, const char *where, json_t *v)
{
  struct added_token x = { .id = 0 };
  json_t *text = json_object_get(v, "content"),
    *id = json_object_get(v, "id");
  if (!only_keys(r, where, v, "id content single_word lstrip rstrip normalized special ")
    || !read_id(r, below(where, "id").name, id, &x.id)
    || !flag(r, where, v, "special", false, &x.special)
    || !flag(r, where, v, "lstrip", false, &x.lstrip)
    || !flag(r, where, v, "rstrip", false, &x.rstrip)
    || !flag(r, where, v, "single_word", false, &x.single_word)
    || !flag(r, where, v, "normalized", !x.special,
      &x.normalized)) return false;
  /* an empty text would be found everywhere */
  size_t n = json_string_length(text);
  if (n == 0) return refuse(r, below(where, "content").name, text,
    "some text");
  /* <See that the id is free, or the one that the word has> */
  json_t *word = json_object_getn(r->vocab, json_string_value(text),
    n);
  /* The token may be a word, but then with the word's id; otherwise one of two could
     be encoded and not decoded. */
  bool taken = x.id < r->t->n_vocab
    && r->t->vocab[x.id].text.n > 0;
  if (word != NULL ? json_integer_value(word) != x.id : taken)
    return refuse(r, below(where, "id").name, id, word != NULL
      ? "the id that the vocabulary has" : "an id that no word has");
  return tokenizer_intern(r->m, r->t, json_string_value(text), n, &x.text,
    r->why) && tokenizer_add_token(r->m, r->t, &x, r->why);
}

/* <Read the other four parts> */

/* <Go through a sequence> */
typedef bool read_part(struct json_reader *r, const char *where,
  json_t *v);
static bool read_each(struct json_reader *r, const char *where, json_t *v,
  const char *key, read_part *read)
{
  size_t i;
  json_t *each, *list = json_object_get(v, key);
  struct field_name at = below(where, key);
  char keys[40];
  snprintf(keys, sizeof keys, "type %s ", key);
  if (!only_keys(r, where, v, keys)) return false;
  /* bounds the depth, and with it the recursion */
  if (strlen(at.name) > 120) return refuse(r, where, v,
    "less nesting");
  if (!json_is_array(list)) return refuse(r, at.name, list, "a list");
  json_array_foreach(list, i, each)
    if (!read(r, number_of(at.name, i).name, each)) return false;
  return true;
}

/* <Append a stage of the file> */

/* A pattern that PCRE2 cannot compile is the fault of the file: its message is what
   was found, and the field is named as for every other fault. */
static bool or_refuse(struct json_reader *r, const char *where, bool ok,
  const struct error *inner)
{
  return ok || error_found(r->why, r->file, where, inner->text,
    "a pattern that can be used, and at most 16 stages");
}

static bool cut_at(struct json_reader *r, const char *where,
  const char *pattern, size_t n)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_split(r->m, r->t, pattern, n, &inner),
    &inner);
}

static bool put_before(struct json_reader *r, const char *where,
  const char *words, size_t n, bool first_only, bool unless_there)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_string(r->m, r->t,
    (struct text_step) { .what = STEP_PREPEND, .first_only = first_only,
    .unless_there = unless_there }, words, n, NULL, 0, false,
    &inner), &inner);
}

/* The words go into the pool of strings, which tokenizer_index_added points into: so
   every stage is read before that. */
static bool put_instead(struct json_reader *r, const char *where,
  const char *pattern, size_t n, bool literal, const char *words,
  size_t n_words)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_string(r->m, r->t,
    (struct text_step) { .what = STEP_REPLACE }, words, n_words, pattern,
    n, literal, &inner), &inner);
}

/* <Read a pattern in two dialects> */

/* A pattern was written for Oniguruma, and PCRE2 will read it. The treacherous
   differences are what both accept: {1,3}+ repeats in one and is possessive in the
   other. Whatever has two readings, or one that was not verified, is refused and
   named. */

/* bit depth of folded: the group at this depth ignores the case of letters */
struct pattern_text { const unsigned char *c; size_t n, at;
  uint64_t folded; unsigned depth; bool in_class; };
static bool has(const struct pattern_text *p, size_t at, const char *words)
{
  size_t n = strlen(words);
  return at <= p->n && p->n - at >= n
    && memcmp(p->c + at, words, n) == 0;
}

/* A category has one or two letters, and means the same to both; a longer name is a
   script, and their lists of scripts differ. A folded letter that is given by its
   number would escape the pairs of read_letter. */
static const char *read_braced(struct pattern_text *p, unsigned char c)
{
  size_t from = p->at, max = has(p, from, "{^") ? 5 : 4;
  if (!has(p, from, "{")) return "no { after \\x or \\p";
  if (c == 'x' && (p->folded >> p->depth & 1) != 0)
    return "a folded letter that is a number";
  while (p->at < p->n && p->c[p->at++] != '}') ;
  return c == 'x' || p->at - from <= max ? NULL
    : "a property with a long name";
}

/* The letters that mean the same in both; s and w because split.c rewrites them. Long
   names of properties are scripts, of which the two have different lists; backslash b
   goes by other letters. */
static const char *read_escape(struct pattern_text *p)
{
  unsigned char c = p->at + 1 < p->n ? p->c[p->at + 1] : 0;
  p->at += 2;
  if (c == 0) return "a backslash at the end";
  if (c == 'W' && p->in_class) return "\\W in a class";
  if (c > 127 || strchr("sSdDwWrntf", c) != NULL) return NULL;
  if (c == 'x' || c == 'p' || c == 'P') return read_braced(p, c);
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
    || (c >= 'a' && c <= 'z') ? "an escaped letter or digit" : NULL;
}

/* Oniguruma nests and intersects classes; to PCRE2 the same signs are characters. */
static const char *read_in_class(struct pattern_text *p)
{
  if (p->c[p->at] == '\\') return read_escape(p);
  if (p->c[p->at] == '[') return "[ in a class";
  if (has(p, p->at, "&&")) return "&& in a class";
  if (p->c[p->at] > 127 && (p->folded >> p->depth & 1) != 0)
    return "a folded letter beyond ASCII";
  p->in_class = p->c[p->at++] != ']';
  return NULL;
}

/* The sign ] is a character there to one of the two, and the end of an empty class to
   the other. */
static const char *begin_class(struct pattern_text *p)
{
  p->at += has(p, p->at, "[^") ? 2 : 1;
  p->in_class = true;
  return has(p, p->at, "]") ? "a class that begins with ]" : NULL;
}

/* A bit for each depth says whether case is folded there. A switch by itself, (?i),
   reaches further in one than in the other. */
static const char *begin_group(struct pattern_text *p)
{
  static const char *const known[] = { "(?:", "(?=", "(?!", "(?>",
    "(?<=", "(?<!", "(?i:" };
  bool fold = (p->folded >> p->depth & 1) != 0;
  size_t k = 0;
  if (has(p, p->at, "(*")) return "a verb";
  if (++p->depth > 60) return "groups in groups in groups";
  if (has(p, p->at, "(?")) {
    while (k < 7 && !has(p, p->at, known[k])) k++;
    if (k == 7) return "a group of another kind";
    p->at += strlen(known[k]), fold = fold || k == 6;
  } else p->at++;
  p->folded &= ~((uint64_t) 1 << p->depth);
  p->folded |= (uint64_t) fold << p->depth;
  return NULL;
}

/* {1,3}+ repeats a repeat to Oniguruma and gives nothing back to PCRE2; {1,3}? is as
   treacherous. */
static const char *read_count(struct pattern_text *p)
{
  size_t i = p->at + 1;
  if (has(p, i, ",")) return "a count without a beginning";
  while (i < p->n && ((p->c[i] >= '0' && p->c[i] <= '9')
    || p->c[i] == ',')) i++;
  if (i == p->at + 1 || !has(p, i, "}")) return "a brace";
  p->at = i + 1;
  return has(p, p->at, "+") || has(p, p->at, "?")
    ? "a count with + or ? after it" : NULL;
}

/* Where case is folded, Oniguruma matches two letters by one character that stands
   for them, such as the German sharp s for ss. */
static const char *read_letter(struct pattern_text *p)
{
  static const char *const pair[] = { "ss", "ff", "fi", "fl", "st" };
  bool fold = (p->folded >> p->depth & 1) != 0;
  unsigned char c = p->c[p->at], next = p->at + 1 < p->n
    ? p->c[p->at + 1] : 0;
  p->at++;
  if (!fold) return NULL;
  if (c > 127) return "a folded letter beyond ASCII";
  for (int k = 0; k < 5; k++)
    if ((c | 32) == pair[k][0] && (next | 32) == pair[k][1])
      return "folded letters that are one character";
  return NULL;
}

static const char *read_next(struct pattern_text *p)
{
  unsigned char c = p->c[p->at];
  if (p->in_class) return read_in_class(p);
  switch (c) {
  case '\\': return read_escape(p);
  case '[': return begin_class(p);
  case '(': return begin_group(p);
  case '{': return read_count(p);
  /* of a line to Oniguruma, of the text to PCRE2 */
  case '^': return "^";
  case '$': return "$";
  case ')':
    if (p->depth > 0) p->depth--;
  }
  return read_letter(p);
}

/* Asked before the pattern is compiled, since PCRE2 would take it, with a meaning of
   its own. Bytes are counted from 1, as people count. */
static bool same_in_both(struct json_reader *r, const char *where,
  json_t *regex)
{
  struct pattern_text p = { .n = json_string_length(regex),
    .c = (const unsigned char *) json_string_value(regex) };
  const char *wrong = NULL;
  size_t from = 0;
  while (p.at < p.n && (from = p.at, wrong = read_next(&p)) == NULL) ;
  if (wrong == NULL) return true;
  char text[EXCERPT_MAX + 4], found[128];
  snprintf(found, sizeof found, "%s: `%s' at byte %zu", wrong,
    text_excerpt(json_string_value(regex) + from, p.n - from, 16, text), from + 1);
  return error_found(r->why, r->file, where, found,
    "a pattern that PCRE2 and Oniguruma read alike");
}

/* <Read a stage that brings its pattern> */

/* Inverted, the gaps are the pieces: a stage has a flag for matches and one for gaps,
   and what cuts need not know why. */
static bool read_split(struct json_reader *r, const char *where, json_t *v)
{
  struct field_name at = below(where, "pattern");
  json_t *pattern = json_object_get(v, "pattern"), *how =
    json_object_get(v, "behavior");
  json_t *regex = json_object_get(pattern, "Regex"), *text =
    json_object_get(pattern, "String");
  bool invert;
  if (!only_keys(r, where, v, "type pattern behavior invert ")
    || !only_keys(r, at.name, pattern, "Regex String ")
    || !flag(r, where, v, "invert", false, &invert)) return false;
  json_t *given = regex != NULL ? regex : text;
  if (json_string_length(given) == 0)
    return refuse(r, at.name, given, "a Regex or a String");
  if (regex != NULL && !same_in_both(r, at.name, regex)) return false;
  /* <See whether matches are kept or removed> */
  const char *name = json_is_string(how) ? json_string_value(how)
    : "";
  bool removed = strcmp(name, "Removed") == 0;
  if (!removed && strcmp(name, "Isolated") != 0)
    return refuse(r, below(where, "behavior").name, how,
      "Isolated or Removed");
  struct text_step s = { .what = STEP_SPLIT,
    .keep_matches = !removed || invert,
    .keep_gaps = !removed || !invert };
  struct error inner = { "" };
  return or_refuse(r, at.name, tokenizer_add_step(r->m, r->t, s,
    json_string_value(given), json_string_length(given),
    regex == NULL, &inner), &inner);
}

/* <Choose a scheme> */
enum scheme { NEVER, FIRST, ALWAYS };
static bool choose_scheme(struct json_reader *r, const char *where,
  json_t *v, enum scheme *s)
{
  static const char *const name[] = { "never", "first",
    "always" };
  json_t *how = json_object_get(v, "prepend_scheme");
  const char *text = json_string_value(how);
  if (how == NULL || json_is_null(how)) return true;
  int i = 0;
  while (i < 3 && (text == NULL || strcmp(text, name[i]) != 0)) i++;
  /* The scheme replaces the older flag, but must not contradict it. */
  if (i == 3 || (i != NEVER && *s == NEVER))
    return refuse(r, below(where, "prepend_scheme").name, how,
      i == 3 ? "never, first or always"
      : "never, as add_prefix_space is false");
  return *s = (enum scheme) i, true;
}

/* <Read a stage of blocks> */

/* Files from before the schemes have a flag in their place. Only the one character
   that all files use is taken: the decoder undoes it by name. */
static bool read_scheme(struct json_reader *r, const char *where,
  json_t *v, enum scheme *s, bool *split)
{
  bool put;
  json_t *mark = json_object_get(v, "replacement");
  if (!only_keys(r, where, v, "type replacement split str_rep add_prefix_space prepend_scheme ")
    || !flag(r, where, v, "add_prefix_space", true, &put)
    || !flag(r, where, v, "split", true, split)) return false;
  if (!json_is_string(mark)
    || strcmp(json_string_value(mark), BLOCK) != 0)
    return refuse(r, below(where, "replacement").name, mark,
      "the block U+2581");
  *s = put ? ALWAYS : NEVER;
  return choose_scheme(r, where, v, s);
}

static bool read_metaspace(struct json_reader *r, const char *where,
  json_t *v)
{
  static const char pattern[] = BLOCK "[^" BLOCK "]*";
  enum scheme s;
  bool split;
  if (!read_scheme(r, where, v, &s, &split)) return false;
  /* Where the whole text begins has two meanings once the normalizer has removed
     something. */
  for (size_t k = 0; s == FIRST && k < r->t->n_normalizers; k++)
    if (r->t->step[k].what == STEP_REPLACE)
      return refuse(r, below(where, "prepend_scheme").name,
        json_object_get(v, "prepend_scheme"),
        "never or always, after a Replace");
  return put_instead(r, where, " ", 1, true, BLOCK, strlen(BLOCK))
    && (s == NEVER || put_before(r, where, BLOCK, strlen(BLOCK),
    s == FIRST, true))
    && (!split || cut_at(r, where, pattern, strlen(pattern)));
}

/* <Read a stage of digits> */

/* All that Unicode counts as numbers, as the makers' own library does: an Arabic four
   is cut like an ASCII one. */
static bool read_digits(struct json_reader *r, const char *where, json_t *v)
{
  bool single;
  return only_keys(r, where, v, "type individual_digits ")
    && flag(r, where, v, "individual_digits", false, &single)
    && cut_at(r, where, single ? "\\p{N}" : "\\p{N}+", single ? 5 : 6);
}

/* <Read a stage of bytes> */
static const char byte_level_keys[] = "type add_prefix_space trim_offsets use_regex ";

/* Nothing is left to do for its alphabet: our words are bytes already. */
static bool read_byte_level(struct json_reader *r, const char *where,
  json_t *v)
{
  bool blank, regex;
  r->in_bytes = true;
  return only_keys(r, where, v, byte_level_keys)
    && flag(r, where, v, "add_prefix_space", true, &blank)
    && flag(r, where, v, "use_regex", true, &regex)
    && (!blank || put_before(r, where, " ", 1, false, true))
    && (!regex || cut_at(r, where, split_gpt2, strlen(split_gpt2)));
}

/* <Read the pre-tokenizer> */
static bool read_stage(struct json_reader *r, const char *where, json_t *v)
{
  json_t *name = json_object_get(v, "type");
  const char *type = json_string_value(name);
  if (type == NULL) return refuse(r, below(where, "type").name, name,
    "the name of a stage");
  if (strcmp(type, "Sequence") == 0)
    return read_each(r, where, v, "pretokenizers", read_stage);
  /* A stage after ByteLevel would see the letters of its alphabet, where a byte of an
     accented letter may look like a digit. */
  if (r->in_bytes) return refuse(r, below(where, "type").name, name,
    "no stage after ByteLevel");
  if (strcmp(type, "Split") == 0) return read_split(r, where, v);
  if (strcmp(type, "Digits") == 0) return read_digits(r, where, v);
  if (strcmp(type, "Metaspace") == 0) return read_metaspace(r, where, v);
  if (strcmp(type, "ByteLevel") == 0) return read_byte_level(r, where, v);
  return refuse(r, below(where, "type").name, name,
    "Sequence, Split, Digits, Metaspace or ByteLevel");
}

/* <Read a replacement> */

/* An empty pattern would match everywhere; an empty replacement is a removal, and
   allowed. */
static bool read_replace(struct json_reader *r, const char *where,
  json_t *v)
{
  struct field_name at = below(where, "pattern");
  json_t *pattern = json_object_get(v, "pattern"), *by =
    json_object_get(v, "content");
  json_t *regex = json_object_get(pattern, "Regex"), *given =
    regex != NULL ? regex : json_object_get(pattern, "String");
  if (!only_keys(r, where, v, "type pattern content ")
    || !only_keys(r, at.name, pattern, "Regex String ")) return false;
  if (json_string_length(given) == 0)
    return refuse(r, at.name, given, "a Regex or a String");
  if (regex != NULL && !same_in_both(r, at.name, regex)) return false;
  if (!json_is_string(by))
    return refuse(r, below(where, "content").name, by, "some text");
  return put_instead(r, at.name, json_string_value(given),
    json_string_length(given), regex == NULL, json_string_value(by),
    json_string_length(by));
}

/* <Read the composition of characters> */

/* It has neither pattern nor words, so only the number of stages can refuse it. */
static bool compose_too(struct json_reader *r, const char *where)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_step(r->m, r->t,
    (struct text_step) { .what = STEP_NFC }, NULL, 0, false, &inner),
    &inner);
}

/* <Read the normalizer> */

/* The normalizers that are refused change letters for good: they make them small,
   take accents off, part ligatures. Without them the ids would be others. */
static bool read_normalizer(struct json_reader *r, const char *where,
  json_t *v)
{
  if (json_is_null(v) || v == NULL) return true;
  json_t *type = json_object_get(v, "type"), *put =
    json_object_get(v, "prepend");
  const char *name = json_is_string(type) ? json_string_value(type)
    : "";
  if (strcmp(name, "Sequence") == 0)
    return read_each(r, where, v, "normalizers", read_normalizer);
  if (strcmp(name, "NFC") == 0)
    return only_keys(r, where, v, "type ") && compose_too(r, where);
  if (strcmp(name, "Replace") == 0) return read_replace(r, where, v);
  if (strcmp(name, "Prepend") != 0)
    return refuse(r, below(where, "type").name, type,
      "NFC, Prepend, Replace or Sequence");
  return only_keys(r, where, v, "type prepend ")
    && (json_is_string(put) || refuse(r, below(where, "prepend").name,
    put, "some text")) && put_before(r, where, json_string_value(put),
    json_string_length(put), false, false);
}

/* <Read the ids of a token of a template> */

/* A template names a token by its text; only the numbers under ids count. */
static bool read_template_token(struct json_reader *r, const char *where,
  json_t *v, json_t *each, struct ids *list)
{
  json_t *name = json_object_get(json_object_get(each,
    "SpecialToken"), "id"), *id;
  if (!json_is_string(name))
    return refuse(r, where, each, "the text A or a SpecialToken");
  json_t *known = json_object_get(json_object_get(v,
    "special_tokens"), json_string_value(name));
  json_t *all = json_object_get(known, "ids");
  size_t i;
  if (!json_is_array(all)) return refuse(r, where, name,
    "one of special_tokens");
  json_array_foreach(all, i, id) {
    uint32_t n;
    if (!read_id(r, where, id, &n)) return false;
    if (n >= r->t->n_vocab || r->t->vocab[n].text.n == 0)
      return refuse(r, where, id, "the id of a token");
    if (!ids_push(r->m, list, n, r->why)) return false;
  }
  return true;
}

/* <Put ids around what is there> */

/* A row grows only at its end, so a new prefix is built. Half of one is never used:
   opening fails then. */
static bool wrap(struct json_reader *r, const struct ids *before,
  const struct ids *after)
{
  struct ids front = { NULL, 0, 0 };
  bool ok = true;
  for (size_t i = 0; ok && i < before->n; i++)
    ok = ids_push(r->m, &front, before->id[i], r->why);
  for (size_t i = 0; ok && i < r->t->prefix_ids.n; i++)
    ok = ids_push(r->m, &front, r->t->prefix_ids.id[i], r->why);
  for (size_t i = 0; ok && i < after->n; i++)
    ok = ids_push(r->m, &r->t->suffix_ids, after->id[i], r->why);
  ids_free(r->m, &r->t->prefix_ids);
  r->t->prefix_ids = front;
  return ok;
}

/* <Read a template> */

/* The file's second list, for pairs of texts, is not looked at: a model that writes
   is given one text. Two templates go around each other, the second outside (wrap). */
static bool read_template(struct json_reader *r, const char *where,
  json_t *v)
{
  struct field_name at = below(where, "single");
  json_t *list = json_object_get(v, "single"), *each;
  struct ids before = { NULL, 0, 0 }, after = { NULL, 0, 0 };
  size_t i, texts = 0;
  bool ok = only_keys(r, where, v, "type single pair special_tokens ") && (json_is_array(list)
    || refuse(r, at.name, list, "a list"));
  /* <Sort the tokens by the side of the text on which they stand> */
  if (ok) json_array_foreach(list, i, each) {
    json_t *text = json_object_get(json_object_get(each, "Sequence"),
      "id");
    bool is_text = json_is_string(text)
      && strcmp(json_string_value(text), "A") == 0;
    if (is_text) texts++;
    else ok = read_template_token(r, number_of(at.name, i).name, v,
      each, texts == 0 ? &before : &after);
    if (!ok) break;
  }
  if (ok && texts != 1)
    ok = error_found(r->why, r->file, at.name,
      texts == 0 ? "without the text A" : "one with the text A twice",
      "a template with the text A once");
  ok = ok && wrap(r, &before, &after);
  ids_free(r->m, &before);
  ids_free(r->m, &after);
  return ok;
}

/* <Read the post-processor> */

/* ByteLevel moves offsets here, on which no id depends. */
static bool read_post(struct json_reader *r, const char *where, json_t *v)
{
  json_t *type = json_object_get(v, "type");
  const char *name = json_is_string(type) ? json_string_value(type)
    : "";
  if (strcmp(name, "ByteLevel") == 0)
    return only_keys(r, where, v, byte_level_keys);
  if (strcmp(name, "TemplateProcessing") == 0)
    return read_template(r, where, v);
  if (strcmp(name, "Sequence") == 0)
    return read_each(r, where, v, "processors", read_post);
  return refuse(r, below(where, "type").name, type,
    "ByteLevel, TemplateProcessing or Sequence");
}

/* <Read the steps of a decoder> */

/* No encoder adds more than one blank, and none at the end: to strip more would take
   what the model wrote. */
static bool read_strip(struct json_reader *r, const char *where, json_t *v)
{
  static const char *const key[] = { "start", "stop" };
  json_t *what = json_object_get(v, "content");
  if (!only_keys(r, where, v, "type content start stop "))
    return false;
  if (!json_is_string(what)
    || strcmp(json_string_value(what), " ") != 0)
    return refuse(r, below(where, "content").name, what, "a blank");
  /* <Read how many blanks are taken from both ends> */
  for (int i = 0; i < 2; i++) {
    json_t *n = json_object_get(v, key[i]);
    if (!json_is_integer(n) || json_integer_value(n) < 0
      || json_integer_value(n) > 1 - i)
      return refuse(r, below(where, key[i]).name, n,
        i == 0 ? "0 or 1" : "0");
  }
  r->t->strip_prefix_space = json_integer_value(json_object_get(v,
    "start")) == 1;
  /* of the whole text, not of each token */
  return r->fused || refuse(r, where, v, "Strip after Fuse");
}

/* The format allows a pattern in place of the string; no published file has one. */
static bool read_swap(struct json_reader *r, const char *where, json_t *v)
{
  json_t *from = json_object_get(json_object_get(v, "pattern"),
    "String"), *to = json_object_get(v, "content");
  if (!only_keys(r, where, v, "type pattern content ")) return false;
  if (json_string_length(from) == 0)
    return refuse(r, below(where, "pattern").name,
      json_object_get(v, "pattern"), "a String");
  if (!json_is_string(to))
    return refuse(r, below(where, "content").name, to, "some text");
  return tokenizer_texts_replace(r->m, r->t, json_string_value(from),
    json_string_length(from), json_string_value(to),
    json_string_length(to), r->why);
}

/* The way back of read_metaspace: what was put before the text is taken off, and
   blocks are blanks again. */
static bool read_block_decoder(struct json_reader *r, const char *where,
  json_t *v)
{
  enum scheme s;
  bool split;
  if (!read_scheme(r, where, v, &s, &split)) return false;
  r->t->strip_prefix_space = s != NEVER;
  return tokenizer_texts_replace(r->m, r->t, BLOCK, strlen(BLOCK), " ", 1,
    r->why);
}

/* <Read the decoder> */
static bool read_decoder(struct json_reader *r, const char *where,
  json_t *v)
{
  json_t *type = json_object_get(v, "type");
  const char *name = json_is_string(type) ? json_string_value(type)
    : "";
  if (strcmp(name, "Sequence") == 0)
    return read_each(r, where, v, "decoders", read_decoder);
  if (!r->t->char_level) return strcmp(name, "ByteLevel") != 0
    ? refuse(r, below(where, "type").name, type, "ByteLevel")
    : only_keys(r, where, v, byte_level_keys) && (r->fused = true);
  if (strcmp(name, "Strip") == 0) return read_strip(r, where, v);
  if (strcmp(name, "Fuse") == 0)
    return only_keys(r, where, v, "type ") && (r->fused = true);
  /* Steps before Fuse change tokens, and are done here, once for each; after it they
     would change the whole text. */
  if (r->fused) return refuse(r, below(where, "type").name, type,
    "only Strip after Fuse");
  if (strcmp(name, "ByteFallback") == 0)
    return only_keys(r, where, v, "type ")
      && tokenizer_texts_as_bytes(r->m, r->t, r->why);
  if (strcmp(name, "Replace") == 0)
    return read_swap(r, where, v);
  if (strcmp(name, "Metaspace") == 0)
    return read_block_decoder(r, where, v);
  return refuse(r, below(where, "type").name, type,
    "Sequence, Replace, ByteFallback, Fuse, Strip or Metaspace");
}

/* <Read whole files> */

/* <Parse a file of JSON> */
enum { MAX_JSON = 64 << 20 };

/* The length is limited before parsing, since the tree takes many times the memory of
   the text, and outside our accounts; the limit is twice the largest that was
   published. */
static json_t *read_json(const char *path, size_t *bytes,
  struct error *why)
{
  struct mapping map;
  json_error_t trouble;
  if (!file_map(&map, path, why)) return NULL;
  *bytes = map.size;
  json_t *v = map.size > MAX_JSON ? NULL
    : json_loadb((const char *) map.bytes, map.size,
      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &trouble);
  if (*bytes > MAX_JSON)
    error_say(why, "%s: this has %zu bytes; wanted: at most %d of JSON",
      path, *bytes, MAX_JSON);
  else if (v == NULL)
    error_say(why, "%s: line %d, column %d: %s; wanted: strict JSON",
      path, trouble.line, trouble.column,
      jsonfile_trouble(&trouble, (const char *) map.bytes, map.size));
  if (v == NULL) misfit_bytes(path, map.bytes, map.size, true, why);
  file_unmap(&map);
  return v;
}

/* <Read the configuration beside it> */

/* By the name of a class in Python, such files put an id before a text or after it,
   and say so nowhere else. Where no token is named, the one that a model of
   SentencePiece has named is meant. */
static bool read_bracket(struct json_reader *r, json_t *config,
  const char *wish, const char *which, uint32_t id, bool otherwise,
  struct ids *list)
{
  bool add;
  if (!flag(r, "", config, wish, otherwise, &add)) return false;
  if (!add) return true;
  json_t *v = json_object_get(config, which);
  if (json_is_object(v)) v = json_object_get(v, "content");
  if (says_nothing(v) && id != 0)
    return ids_push(r->m, list, id - 1, r->why);
  if (!json_is_string(v)
      || !tokenizer_find(r->t, json_string_value(v),
      json_string_length(v), &id))
    return refuse(r, which, v, "the text of a token");
  return ids_push(r->m, list, id, r->why);
}

static bool read_config(struct json_reader *r)
{
  const char *file = r->file;
  char path[PATH_CAP];
  bool here = path_beside(path, file, "tokenizer_config.json", NULL)
    && access(path, F_OK) == 0;
  /* while we read it, messages name the second file */
  if (here) r->file = path;
  size_t bytes;
  json_t *config = here ? read_json(path, &bytes, r->why) : NULL;
  bool ok = (!here || config != NULL)
    && read_bracket(r, config, "add_bos_token", "bos_token", r->begin,
    r->begin != 0, &r->t->prefix_ids)
    && read_bracket(r, config, "add_eos_token", "eos_token", r->end,
      false, &r->t->suffix_ids);
  json_decref(config);
  r->file = file;
  return ok;
}

/* <Tell whether a tokenizer is of our kind> */

/* At any depth of nested sequences, and before the vocabulary is read, because it
   says how words are spelt. */
static bool has_byte_level(json_t *v)
{
  const char *type = json_string_value(json_object_get(v, "type"));
  size_t i;
  json_t *each;
  if (type == NULL) return false;
  if (strcmp(type, "ByteLevel") == 0) return true;
  json_array_foreach(json_object_get(v, "pretokenizers"), i, each)
    if (has_byte_level(each)) return true;
  return false;
}

static bool is_ours(struct json_reader *r, json_t *file)
{
  json_t *model = json_object_get(file, "model");
  json_t *type = json_object_get(model, "type");
  /* more likely a broken file than a new kind */
  if (!json_is_object(model)) {
    r->ours = true;
    return refuse(r, "model", model, "an object");
  }
  r->ours = type == NULL ? json_object_get(model, "merges") != NULL
    : json_is_string(type)
    && strcmp(json_string_value(type), "BPE") == 0;
  r->t->char_level = !has_byte_level(json_object_get(file,
    "pre_tokenizer"));
  r->t->kind = r->t->char_level ? "BPE on characters"
    : "byte-level BPE";
  return r->ours || refuse(r, "model.type", type,
    "BPE (another kind of tokenizer)");
}

/* <Read the tokens that were added> */

/* After the words, whose ids they must not take, and before the templates, which name
   them. */
static bool read_all_added(struct json_reader *r, json_t *added)
{
  size_t i;
  json_t *v;
  if (!says_nothing(added) && !json_is_array(added))
    return refuse(r, "added_tokens", added, "a list");
  json_array_foreach(added, i, v)
    if (!read_added(r, number_of("added_tokens", i).name, v))
      return false;
  return true;
}

/* <Read a whole description> */
static bool read_description(struct json_reader *r, json_t *file)
{
  json_t *post = json_object_get(file, "post_processor"),
    *stages = json_object_get(file, "pre_tokenizer");
  if (!is_ours(r, file) || !only_keys(r, "", file,
    "version added_tokens normalizer pre_tokenizer "
    "post_processor decoder model truncation padding "))
    return false;
  json_t *version = json_object_get(file, "version");
  if (!says_nothing(version) && !(json_is_string(version)
      && strcmp(json_string_value(version), "1.0") == 0))
    return refuse(r, "version", version, "\"1.0\"");
  /* <See what is for batches of texts> */
  r->t->ignored[0] = !says_nothing(json_object_get(file,
    "truncation"));
  r->t->ignored[1] = !says_nothing(json_object_get(file, "padding"));
  if (!read_model(r, json_object_get(file, "model"))
    || !read_normalizer(r, "normalizer",
      json_object_get(file, "normalizer"))
    || !read_decoder(r, "decoder", json_object_get(file, "decoder")))
    return false;
  if (!r->t->char_level && !r->fused) return refuse(r, "decoder",
    json_object_get(file, "decoder"), "a ByteLevel in it");
  /* From here on stages are the pre-tokenizer's. Strings and stages first, then the
     tables that point to them. */
  r->t->n_normalizers = r->t->n_steps;
  return read_all_added(r, json_object_get(file, "added_tokens"))
    && ((r->t->char_level && says_nothing(stages))
      || read_stage(r, "pre_tokenizer", stages))
    && tokenizer_index_added(r->m, r->t, r->why)
    && (json_is_null(post) || post == NULL ? read_config(r)
      : read_post(r, "post_processor", post));
}

/* <Read one such line> */
static bool read_line(struct json_reader *r, const char *text, size_t n,
  size_t line_number)
{
  char field[40];
  bool whole;
  const char *blank = memchr(text, ' ', n);
  snprintf(field, sizeof field, "line %zu", line_number);
  /* jansson checks this in JSON; to_bytes trusts it */
  if (utf8_run((const unsigned char *) text, n, &whole) != n
    || !whole) return error_found(r->why, r->file, field, "not UTF-8",
    "two words");
  if (blank == NULL) return error_found(r->why, r->file, field,
    "without a blank", "two words with a blank between");
  size_t n_a = (size_t) (blank - text);
  return read_merge(r, text, n_a, blank + 1, n - n_a - 1, field);
}

/* <Read the lines of a list of merges> */
static bool read_lines(struct json_reader *r, const char *path)
{
  struct mapping map;
  if (!file_map(&map, path, r->why)) return false;
  bool ok = true;
  r->file = path;
  for (size_t line_number = 1, at = 0; ok && at < map.size;
       line_number++) {
    const char *text = (const char *) map.bytes + at,
      *stop = memchr(text, '\n', map.size - at);
    size_t n = stop == NULL ? map.size - at : (size_t) (stop - text);
    at += n + 1;
    if (n > 0 && text[n - 1] == '\r') n--;
    /* a later line that begins with # is a merge of that sign */
    if (n > 0 && !(line_number == 1 && n >= 8
      && memcmp(text, "#version", 8) == 0)) ok = read_line(r, text, n,
      line_number);
  }
  if (!ok) misfit_bytes(path, map.bytes, map.size, true, r->why);
  file_unmap(&map);
  return ok;
}

/* <Read a vocabulary and its merges> */

/* What is in neither file was in GPT-2's program, so it is here: the pattern, and
   that one word is special. */
static bool read_pair_of_files(struct json_reader *r, const char *vocab,
  const char *merges)
{
  static const char end_of_text[] = "<|endoftext|>";
  struct added_token x = { .special = true };
  r->file = vocab, r->ours = true;
  r->vocab = read_json(vocab, &r->bytes, r->why);
  bool ok = r->vocab != NULL && read_vocab(r, "")
    && read_lines(r, merges);
  if (ok && tokenizer_find(r->t, end_of_text, strlen(end_of_text),
    &x.id)) {
    /* as a special token, or its letters would be encoded like any text */
    x.text = r->t->vocab[x.id].text;
    ok = tokenizer_add_token(r->m, r->t, &x, r->why);
  }
  r->file = vocab;
  r->t->kind = "byte-level BPE";
  ok = ok && tokenizer_index_added(r->m, r->t, r->why)
    && cut_at(r, "", split_gpt2, strlen(split_gpt2))
    && read_config(r);
  json_decref(r->vocab);
  return ok;
}

/* <Read a file of JSON into a tokenizer> */

/* A file that cannot be parsed counts as ours: it deserves a message and not silence. */
static bool read_json_file(struct json_reader *r, const char *path)
{
  json_t *file = read_json(path, &r->bytes, r->why);
  bool ok = file != NULL && (json_is_object(file)
    || refuse(r, "this", file, "an object"))
    && read_description(r, file);
  json_decref(file);
  return ok;
}

/* <Read a model of SentencePiece> */

/* The model says which pieces begin and end a text, but not whether they are added;
   that is in the file beside it, if there is one. */
static bool read_scores(struct json_reader *r, const unsigned char *byte,
  size_t n)
{
  return sentencepiece_read(r->m, r->t, r->file, byte, n, &r->begin,
    &r->end, &r->ours, r->why) && read_config(r);
}

/* <Tell what a file contains> */

/* A word in base64, a blank and a number: neither JSON nor a message of protobuf
   begins like that. */
static bool is_rank_line(const unsigned char *c, size_t n)
{
  size_t i = 0, digits = 0;
  while (i < n && c[i] > ' ') i++;
  if (i == 0 || i == n || c[i] != ' ') return false;
  for (i++; i < n && c[i] >= '0' && c[i] <= '9'; i++) digits++;
  return digits > 0 && (i == n || c[i] == '\n' || c[i] == '\r');
}

enum file_content { CONTENT_JSON, CONTENT_RANKS, CONTENT_PIECES,
  CONTENT_GGUF };

/* By what it contains; names are changed by users. A model and its first piece both
   begin with the byte 10. */
static enum file_content file_content(const unsigned char *c, size_t n)
{
  size_t k = 0;
  while (k < n && strchr(" \t\r\n", c[k]) != NULL && c[k] != 0) k++;
  if (n >= 4 && memcmp(c, "GGUF", 4) == 0) return CONTENT_GGUF;
  if (k < n && c[k] == '{') return CONTENT_JSON;
  if (is_rank_line(c, n < 1000 ? n : 1000)) return CONTENT_RANKS;
  if (n > 2 && c[0] == 10 && c[2] == 10) return CONTENT_PIECES;
  return CONTENT_JSON;
}

/* JSON is mapped once more by its reader, which is also called for files that have
   that name. */
static bool read_file(struct json_reader *r, const char *path)
{
  struct mapping map;
  r->file = path, r->ours = true;
  if (!file_map(&map, path, r->why)) return false;
  bool ok = true;
  enum file_content what = file_content(map.bytes, map.size);
  if (what == CONTENT_RANKS)
    ok = tiktoken_read(r->m, r->t, path, map.bytes, map.size, r->why);
  if (what == CONTENT_PIECES) ok = read_scores(r, map.bytes, map.size);
  if (what == CONTENT_GGUF) ok = gguf_tokenizer_read(r->m, r->t, path,
    map.bytes, map.size, &r->found, r->why);
  file_unmap(&map);
  return what == CONTENT_JSON ? read_json_file(r, path) : ok;
}

/* <Find out what a path holds> */
static bool read_path(struct json_reader *r, const char *path,
  bool *absent)
{
  char one[PATH_CAP], two[PATH_CAP];
  struct stat about;
  *absent = false;
  /* a path that leads nowhere, too: opening it has the better message */
  if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
    return read_file(r, path);
  if (path_find(one, path, "tokenizer.json", F_OK)) return read_file(r, one);
  if (path_find(one, path, "vocab.json", F_OK)
    && path_find(two, path, "merges.txt", F_OK)) return read_pair_of_files(r,
    one, two);
  if (path_find(one, path, "encoder.json", F_OK)
    && path_find(two, path, "vocab.bpe", F_OK)) return read_pair_of_files(r,
    one, two);
  if (path_find(one, path, "tokenizer.model", F_OK)) return read_file(r, one);
  *absent = true;
  return error_say(r->why,
    "%s: no tokenizer.json here, nor vocab.json and merges.txt, nor encoder.json and "
    "vocab.bpe, nor tokenizer.model", path);
}

/* <Open a tokenizer> */

/* On failure the half that was built is closed: whoever gets a tokenizer gets a whole
   one. */
enum tokenizer_found tokenizer_try(struct memory *m, const char *path,
  struct tokenizer **t, struct error *why)
{
  struct json_reader r = { .m = m, .why = why };
  bool absent = false;
  *t = r.t = memory_alloc(m, MEMORY_TOKENS, 1, sizeof **t, why);
  if (r.t == NULL) return TOKENIZER_REFUSED;
  bool ok = read_path(&r, path, &absent);
  bytes_free(m, &r.row);
  if (ok) return TOKENIZER_OPEN;
  tokenizer_close(m, *t);
  *t = NULL;
  /* nothing there, another kind, or wrong: the command can go on after the first two */
  if (absent) return TOKENIZER_ABSENT;
  if (r.found != TOKENIZER_OPEN) return r.found;
  return r.ours ? TOKENIZER_REFUSED : TOKENIZER_OTHER_KIND;
}

/* For a caller that cannot go on without a tokenizer, and needs only the message. */
struct tokenizer *tokenizer_open(struct memory *m, const char *path,
  struct error *why)
{
  struct tokenizer *t;
  tokenizer_try(m, path, &t, why);
  return t;
}

/* <Make a merge as JSON> */
static bool make_merge(struct memory *m, const struct tokenizer *t,
  const struct bpe_rule *rule, struct bytes *row, json_t *merges,
  struct error *why)
{
  struct span a = t->vocab[rule->left].piece,
    b = t->vocab[rule->right].piece;
  row->n = 0;
  return tokenizer_to_alphabet(m, t->string_pool.byte + a.at, a.n, row, why)
    && bytes_push(m, row, " ", 1, why)
    && tokenizer_to_alphabet(m, t->string_pool.byte + b.at, b.n, row, why)
    && json_array_append_new(merges,
      json_stringn((const char *) row->byte, row->n)) == 0;
}

/* <Make the vocabulary and the merges as JSON> */
static bool make_words(struct memory *m, const struct tokenizer *t,
  json_t *vocab, json_t *merges, struct error *why)
{
  struct bytes row = { NULL, 0, 0 };
  bool ok = json_object_set_new(vocab, "<|endoftext|>",
    json_integer(0)) == 0;
  for (size_t i = 1; ok && i < t->n_vocab; i++) {
    struct span s = t->vocab[i].piece;
    row.n = 0;
    ok = tokenizer_to_alphabet(m, t->string_pool.byte + s.at, s.n, &row, why)
      /* the zero: jansson takes keys as C's strings, and the alphabet has none */
      && bytes_push(m, &row, "", 1, why);
    /* would be one key, and the first lost */
    if (ok && json_object_get(vocab, (const char *) row.byte) != NULL)
      ok = error_say(why, "token %zu is spelt like an earlier one",
        i);
    ok = ok && json_object_set_new(vocab, (const char *) row.byte,
      json_integer((json_int_t) i)) == 0;
  }
  for (size_t i = 0; ok && i < t->rules.n; i++)
    ok = make_merge(m, t, &t->rules.rule[i], &row, merges, why);
  bytes_free(m, &row);
  return ok;
}

/* <Make the description as JSON> */

/* The tokenizer of finish_merges in tokenizer.c: change both or none. In the format a
   letter stands for each value, s a string, b a flag, n null, O a value of which we
   keep our reference. */
static json_t *make_description(json_t *vocab, json_t *merges)
{
  return json_pack("{s:s, s:n, s:n, s:[{s:i, s:s, s:b, s:b,"
    " s:b, s:b, s:b}], s:n, s:{s:s, s:b, s:b, s:b}, s:n,"
    " s:{s:s, s:b, s:b, s:b}, s:{s:s, s:n, s:n, s:n, s:n, s:b, s:b, s:b, s:O, s:O}}",
    "version", "1.0", "truncation", "padding",
    "added_tokens", "id", 0, "content", "<|endoftext|>",
      "single_word", 0,
    "lstrip", 0, "rstrip", 0, "normalized", 0, "special", 1,
      "normalizer",
    "pre_tokenizer", "type", "ByteLevel", "add_prefix_space", 0,
    "trim_offsets", 1, "use_regex", 1, "post_processor",
    "decoder", "type", "ByteLevel", "add_prefix_space", 1,
    "trim_offsets", 1, "use_regex", 1,
    "model", "type", "BPE", "dropout", "unk_token",
    "continuing_subword_prefix", "end_of_word_suffix",
      "fuse_unk", 0,
    "byte_fallback", 0, "ignore_merges", 0, "vocab", vocab, "merges",
      merges);
}

/* <Write a tokenizer> */

/* What is written depends on the merges alone: no date, no order of a hash, one blank
   of indentation; two machines write the same bytes. The file has its name only when
   it is whole. */
bool tokenizer_write(struct memory *m, const char *path,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  struct error inner = { "" };
  struct new_file to;
  struct tokenizer *t = tokenizer_from_merges(m, merge, n, why);
  if (t == NULL) return false;
  json_t *vocab = json_object(), *merges = json_array(),
    *whole = NULL;
  bool ok = vocab != NULL && merges != NULL
    && make_words(m, t, vocab, merges, &inner)
    && (whole = make_description(vocab, merges)) != NULL;
  tokenizer_close(m, t);
  /* <Write it beside its place, and move it there> */
  if (!ok) error_say(why, "%s: cannot be made: %s", path,
    inner.text);
  else if ((ok = new_file_open(&to, path, false, why))) {
    bool whole_file = json_dumpf(whole, to.f, JSON_INDENT(1)) == 0;
    ok = new_file_stored(&to, why) && (whole_file
      || error_say(why, "%s: cannot be written: no memory", path));
    ok = new_file_end(&to, ok, why);
  }
  json_decref(whole);
  json_decref(vocab);
  json_decref(merges);
  return ok;
}
