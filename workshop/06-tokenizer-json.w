@i types.w
@s json_t int
@s json_error_t int
@s FILE int
@s read_part int
@s json_array_foreach while
@s json_object_foreach while
@s json_object_keylen_foreach while

\chapterquestion{A model comes with a file that says how to make tokens. What does it say, and what must we not ignore?}
@** Tokenizers of Hugging Face. \label{sec:files1}
\incipit{F}{or Hugging Face's library} a tokenizer is one file of JSON, named \.{tokenizer.json}. It describes a
machine of five parts: a normalizer, a pre-tokenizer, a model (the merges), a post-processor (what is
put before and after) and a decoder, each of a type from a long list. We build most of the types that tokenizers with merges
use, whether they begin with bytes or with characters, and refuse the others by name. We ignore what the file says about things that change no ids
(how offsets are trimmed, for example).
@^Hugging Face@>@^tokenizer.json@>

We read the file into the tokenizer of \cref{tokenizer}. The end of the chapter says which other files there are, and how to tell them apart.

@ The program learns a few merges, makes a tokenizer of them, writes it as a file, reads the file, and
compares: both tokenizers must give a text the same ids. Then it shows what happens if such a file has one word that we do not know. The name of the
file differs from run to run, and is not printed.

@c
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tokenizer-json/tokenizer_json.h"
@<Show ids as pieces@>@;
@<Show how a file is refused@>@;
@<Go by way of a file, and compare@>@;
@<Print the alphabet of bytes@>@;
@#
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "alphabet") == 0) return print_alphabet();
  if (strcmp(what, "values") == 0) return print_values();
  return print_round_trip();
}

@* Characters that stand for bytes. \label{sec:alphabet}
A vocabulary that begins with characters is spelt as it reads. One that begins with bytes needs a spelling of its own. JSON has no bytes, only characters, and the words of a vocabulary
should be printable and have no blanks; so GPT-2's authors gave every byte a character that
can be seen. A byte that is a printable character of Latin-1 stands for itself; the others, in
order, are the characters from U+0100 on. The blank, byte 32, is the 33rd of the others, and so
it appears as U+0120, the letter \.G with a dot above that puzzles every reader of such a
file. \Cref{fig:alphabet} shows the whole alphabet: \val{vocab.alphabet.itself} bytes stand for themselves, and
\val{vocab.alphabet.moved} have moved.

\fig{alphabet}{fig:alphabet}{The characters that stand for the bytes in a vocabulary's file: the first hexadecimal digit of a byte
is on the left, the second above. Red: bytes that do not stand for themselves, in four blocks; the blank is the first in line 2. (The character in line 9,
column 6, is missing in our typeface.)}{A square table of characters, 16 in each line. The printable characters of ASCII and of
Latin-1 are in black, in their places. The first two lines, the blank, all of lines 7 F to A 0, and A D are red and hold letters with accents from A with macron on.}
@^characters, that stand for bytes@>

@(tokenizer_json.h@>=
#ifndef INCIPIT_TOKENIZER_JSON_H
#define INCIPIT_TOKENIZER_JSON_H
#include "tokenizer/tokenizer_internal.h"
uint32_t tokenizer_byte_to_unicode(unsigned b);
  /* the character that stands for byte |b| in a vocabulary's file */
int tokenizer_unicode_to_byte(uint32_t c);
  /* the byte that character |c| stands for, or $-1$ */
bool tokenizer_to_alphabet(struct memory *m, const unsigned char *byte,
  size_t n, struct bytes *out, struct error *why);
  /* appends |n| bytes, spelt in these characters, to |out| */
#endif

@ The rule asks one question about a byte: is its Latin-1 character visible?

@<Spell a byte as a character, and back@>=
static bool seen(unsigned b)
{
  return (b >= 33 && b <= 126) || (b >= 161 && b <= 255 && b != 173);
}

@ The others are three blocks: the bytes from 0 to 32, those from |127| to |160|, and |173|, the soft hyphen, which is invisible. Their sizes are 33, 34 and one. Numbered
from \given{256} on, the first block begins at \given{256}, the second at \given{256} + 33, and the last byte is \given{256} + 33 + 34, U+0143.

@<Spell a byte as a character, and back@>=
uint32_t tokenizer_byte_to_unicode(unsigned b)
{
  if (seen(b)) return b;
  if (b <= 32) return 256 + b;
  return b <= 160 ? 256 + 33 + (b - 127) : 256 + 33 + 34;
}
  /*- Three blocks of bytes have no glyph of their own: 0 to 32, 127 to 160, and 173. They are
    numbered from 256 on. */

@ And back: the number alone tells the block, and the block tells the byte. Not every number stands for a byte; blanks, for example, never occur in such a word, nor do letters of
other scripts.

@<Spell a byte as a character, and back@>=
int tokenizer_unicode_to_byte(uint32_t c)
{
  if (c < 256) return seen(c) ? (int) c : -1;
  if (c <= 256 + 32) return (int) (c - 256);
  if (c <= 256 + 32 + 34) return (int) (c - 256 - 33 + 127);
  return c == 256 + 33 + 34 ? 173 : -1;
}

@ A word of the vocabulary is turned into its bytes character by character. A word with a character
that stands for no byte cannot be made by merges; it still has an id, and decodes as it is
written. (Special tokens are often in the vocabulary in this way, with vertical bars that are not those of ASCII.) |spelt| tells the caller which of the two it was.
In a vocabulary that begins with characters, every word can be made by merges.

@<Turn a word of the file into bytes@>=
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
  /*- A word with a character that stands for no byte keeps its spelling, and can be made by no
    merge: *spelt is false. With characters, every word can. */

@* Reading a description. \label{sec:description}
All reading functions need the tokenizer to be filled, the file's name for messages, and
a buffer of bytes to work in. We also keep the vocabulary, since added tokens are compared with it, and the number of |bytes| of the file; |ours| tells a broken file of our kind from a
good one of another.

The library jansson has turned the file into a tree of values, |json_t|. If a value cannot answer a question, its functions return null, zero or false, and they do the same for a null
pointer: asking for the third element of a value that is not a list is not an error. So we may ask first, and check the answer only where it matters.

@<What reading a file needs@>=
#define BLOCK "\xe2\x96\x81"
struct json_reader { struct memory *m; struct tokenizer *t;
  const char *file;
  json_t *vocab; size_t bytes; struct bytes row; bool ours, fused,
    in_bytes;
  uint32_t begin, end; enum tokenizer_found found;
  struct error *why; };

@ Every refusal has the four parts of chapter 0: file, field, found, wanted. What was found is a value of JSON. A string may be long, so |text_excerpt| shortens it for the message. A value is shown as you would name it if you read the file aloud. Only strings and integers are worth quoting; of an object or a list it helps more to know
that it is one.

@<Refuse a field@>=
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
  /*- As a person names it who reads the file aloud: of an object or a list it helps most to know
    that it is one. */
@#
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
  /*- Only strings and integers are worth quoting, and a string may be as long as the file, so it is
    cut. */

@ A refusal needs three things from its caller: the field, what is there, and what should be. The file is known. It returns false, as |error_found| does, so that a
check can be written as ``this is so, or refuse''.

@<Refuse a field@>=
static bool refuse(struct json_reader *r, const char *field,
  const json_t *found, const char *wanted)
{
  char buffer[80];
  return error_found(r->why, r->file, field, shown(found, buffer),
    wanted);
}
  /*- Returns false, as error_found does, so that a check can be written: this is so, or refuse. */

@ A field's full name is built where it is needed, from the outside in, as in \texttt{model.vocab}. It is long enough for a reader to find the field in the file,
and a long key is shortened.

@<Refuse a field@>=
struct field_name { char name[160]; };
/*- By value: names live for one message, and nothing need be freed. */
static struct field_name below(const char *where, const char *key)
{
  struct field_name p;
  char part[EXCERPT_MAX + 4];
  snprintf(p.name, sizeof p.name, "%s%s%s", where,
    *where ? "." : "", text_excerpt(key, strlen(key), 40, part));
  return p;
}

@ Elements of lists have a number, as in \texttt{added\_tokens[3]}. Names are returned by value: they are short, live for one message, and need not be freed.

@<Refuse a field@>=
static struct field_name number_of(const char *where, size_t i)
{
  struct field_name p;
  snprintf(p.name, sizeof p.name, "%.130s[%zu]", where, i);
  return p;
}
  /*- The name is cut before its number, which says where in a long list to look. */

@ A key that we do not know may change ids or not; we cannot tell. So it is refused, unless its
value says nothing: null, false, or empty. Programs write out all fields that they have, whether a tokenizer uses them or not, and a newer program has more of them; without this exception most files
would be refused for fields that say nothing.

@<Accept only keys that we know@>=
static bool says_nothing(const json_t *v)
{
  return v == NULL || json_is_null(v) || json_is_false(v)
    || (json_is_string(v) && json_string_length(v) == 0)
    || (json_is_array(v) && json_array_size(v) == 0)
    || (json_is_object(v) && json_object_size(v) == 0);
}
  /*- Programs write out every field they have: what is null, false or empty asks for nothing. */

@ Only objects have keys. The function checks that as well, so every reader that begins with this call knows that it has an object.
The keys that we know are given as one string with a blank after each, and a key that contains a blank itself is not one of them. A search through a few words is fast enough for a check that is
done a dozen times per file.

@<Accept only keys that we know@>=
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
  /*- Checks as well that there is an object. keys has a blank after each, the last one, too. */

@ Most fields are flags. An absent flag has a default, which is not the same for all. A flag that is present must be true or false; a 1 is not a flag.

@<Read a flag@>=
static bool flag(struct json_reader *r, const char *where, json_t *object,
  const char *key, bool otherwise, bool *out)
{
  json_t *v = json_object_get(object, key);
  *out = v == NULL || json_is_null(v) ? otherwise : json_is_true(v);
  return v == NULL || json_is_null(v) || json_is_boolean(v)
    || refuse(r, below(where, key).name, v, "true or false");
}
  /*- a 1 is not a flag */

@ An id is an integer from 0 on, and the table of ids is as long as the largest. So a file of ten bytes could ask for a table of gigabytes, if we believed it. But each word takes some bytes of
the file: in a vocabulary without gaps every id is smaller than the number of bytes, and with gaps it almost always is. That number is one limit. The other is |TOKENIZER_MAX_ID|, several times the size of the largest published vocabularies.

@<Read an id@>=
static bool read_id(struct json_reader *r, const char *field,
  const json_t *v, uint32_t *id)
{
  char wanted[64];
  /*- Each word takes some bytes of the file, so no honest id is as large as that; a small file
    cannot ask for a large table. */
  size_t max = r->bytes < TOKENIZER_MAX_ID ? r->bytes : TOKENIZER_MAX_ID;
  snprintf(wanted, sizeof wanted, "an integer from 0 to %zu", max - 1);
  if (!json_is_integer(v) || json_integer_value(v) < 0
      || json_integer_value(v) >= (json_int_t) max)
    return refuse(r, field, v, wanted);
  *id = (uint32_t) json_integer_value(v);
  return true;
}

@ The vocabulary is an object from words to ids. Two words with one id would make decoding a matter
of luck, so the second is refused. The words come in the order of the file, which is usually that of the ids, but need not be.

@<Read the vocabulary@>=
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
    @<Enter the word under its id@>@;
  }
  return tokenizer_index_vocab(r->m, r->t, r->why);
}
  /*- In the order of the file, which need not be that of the ids; the table grows to the largest
    that comes. */

@ A word that does not stand for bytes has a text but no piece: it can be decoded, but no merge can make it, and |tokenizer_index_vocab| skips it. In a vocabulary that begins with characters, every
word has a piece.

@<Enter the word under its id@>=
struct vocab_entry *k = tokenizer_vocab_at(r->m, r->t, id, r->why);
if (k == NULL) return false;
/*- Two words with one id: decoding would be luck. */
if (k->text.n > 0)
  return refuse(r, below(where, key).name, v,
    "an id that no other word has");
if (!tokenizer_intern(r->m, r->t, r->row.byte, r->row.n, &k->text,
  r->why)) return false;
if (spelt) k->piece = k->text;

@ A merge is a pair of words, or, in older files, one string with one blank between two words. Both words and what they make together
must be in the vocabulary. If they are not, the file is broken, or of a kind that marks the beginnings of words in its merges; the message shows both words. Neither may be empty. (A fuzzer found that, too: with an empty vocabulary and
two empty words the buffer is never allocated, and the second word would begin at a null pointer plus zero, which C does not allow.)

@<Read one merge@>=
static bool read_merge(struct json_reader *r, const char *a, size_t n_a,
  const char *b, size_t n_b, const char *field)
{
  bool spelt_a, spelt_b;
  r->row.n = 0;
  if (!to_bytes(r, a, n_a, &r->row, &spelt_a)) return false;
  size_t n = r->row.n;
  if (!to_bytes(r, b, n_b, &r->row, &spelt_b)) return false;
  const struct name_map *known = &r->t->by_piece;
  /*- Neither may be empty: with an empty vocabulary the row was never allocated, and C does not
    even allow null + 0. */
  bool two = spelt_a && spelt_b && n > 0 && r->row.n > n;
  uint32_t left = two ? name_map_get(known, r->row.byte, n) : 0;
  uint32_t right = two ? name_map_get(known, r->row.byte + n,
    r->row.n - n) : 0;
  uint32_t made = two ? name_map_get(known, r->row.byte, r->row.n) : 0;
  if (left != 0 && right != 0 && made != 0)
    return bpe_add(r->m, &r->t->rules, left - 1, right - 1, made - 1,
      r->why);
  char words[140], first[EXCERPT_MAX + 4], second[EXCERPT_MAX + 4];
  snprintf(words, sizeof words, "\"%s\" and \"%s\"",@|
    text_excerpt(a, n_a, 40, first), text_excerpt(b, n_b, 40, second));
  return error_found(r->why, r->file, field, words,
    "two words of the vocabulary that make a third");
}

@ The elements of the list show which of the two forms it uses. A file may even mix them. The number of the merge is part of the field's name, since a bad one is hard to find by eye among so many.

@<Read the merges@>=
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
    @<Take the two words from a list, or from a string@>@;
    if (!ok) return false;
  }
  return true;
}
  /*- A file may mix the two forms, so each element is asked for its own. The number is in the
    field's name because nobody finds one bad merge among all by eye. */

@ Two strings in a list are the two words. A single string is divided at its blank. With a second blank it would be ambiguous where to divide it, since in a vocabulary of characters a word may contain blanks. Such a string is refused; newer files
write these words as a list of two.

@<Take the two words from a list, or from a string@>=
if (json_array_size(v) == 2 && json_is_string(a)
  && json_is_string(b)) ok = read_merge(r, json_string_value(a),
    json_string_length(a),@| json_string_value(b),
    json_string_length(b), field.name);
else if (text != NULL && (blank = strchr(text, ' ')) != NULL
  && strchr(blank + 1, ' ') == NULL)
  ok = read_merge(r, text, (size_t) (blank - text), blank + 1,@|
    json_string_length(v) - (size_t) (blank + 1 - text),
    field.name);
else ok = refuse(r, field.name, v, "two words");

@ Two fields deal with text that the vocabulary cannot spell: \texttt{byte\_fallback}, which says that bytes have words of their own, and \texttt{unk\_token}, the word for
everything else. The first must be known before the table of words is made; the second can be looked up only in that table.

@<Read the model@>=
static bool read_model(struct json_reader *r, json_t *model)
{
  static const char *const none[] = @[{ "dropout",@|
    "continuing_subword_prefix",@| "end_of_word_suffix", NULL }@];
  if (!only_keys(r, "model", model, "type dropout unk_token "@|
    "continuing_subword_prefix "@| "end_of_word_suffix fuse_unk "@|
    "byte_fallback ignore_merges "@| "vocab merges ")) return false;
  @<Refuse what would change ids, and what we do not do@>@;
  r->vocab = json_object_get(model, "vocab");
  if (!flag(r, "model", model, "ignore_merges", false,
      &r->t->ignore_merges)
    || !flag(r, "model", model, "byte_fallback", false,
      &r->t->byte_fallback)
    || !flag(r, "model", model, "fuse_unk", false,
      &r->t->fuse_unk) || !read_vocab(r, "model.vocab")
    || !read_merges(r, "model.merges",
      json_object_get(model, "merges"))) return false;
  /*- The flags before read_vocab, which needs them; the unknown token after, since it is looked
    up. */
  if (r->t->char_level) tokenizer_find_splits(r->t);
  return read_unknown(r, json_object_get(model, "unk_token"));
}

@ In a byte-level vocabulary, if every byte has a token, every text can be spelt; then the unknown token
is never used, and the file may name one. If some byte has no token, the unknown token could be used, and
we refuse the file: no byte-level tokenizer that we have met does that. In a vocabulary of characters, an unknown character becomes bytes first, and the unknown token is the last resort. If only some bytes are words, it is not defined which of the two a text gets, and
Hugging Face's library even changes their order. We refuse such a file.

@<Read the unknown token@>=
static bool read_unknown(struct json_reader *r, const json_t *v)
{
  uint32_t id;
  int bytes = bytes_with_tokens(r->t);
  if (says_nothing(v)) return true;
  /*- With a token for every byte the unknown one is never used, so it may be named. */
  if (!r->t->char_level) return bytes == 256
    || refuse(r, "model.unk_token", v,
    "null, as some byte has no token");
  /*- not defined which of the two a character gets */
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

@ Dropout, which omits merges at random to make training harder, must be off, or the same text would have other ids every time; some files turn it off with a zero. Prefixes and suffixes for parts of words would change
what the two words of a merge spell together; no file of the families that we read has them.

@<Refuse what would change ids, and what we do not do@>=
for (size_t i = 0; none[i] != NULL; i++) {
  json_t *v = json_object_get(model, none[i]);
  if (!says_nothing(v) && !(json_is_number(v)
    && json_number_value(v) == 0)) return refuse(r,
    below("model", none[i]).name, v, "null");
}

@ The test for completeness looks at all bytes, including those that never occur in UTF-8, since
our texts may be any bytes.

@<Count the bytes that have tokens@>=
static int bytes_with_tokens(const struct tokenizer *t)
{
  int n = 0;
  for (int b = 0; b < 256; b++)
    n += t->rules.byte_id[b] != BPE_NONE;
  return n;
}
  /*- also of those that never occur in UTF-8: our texts may be any bytes */

@ The five flags have defaults, of which one depends on another: special tokens are looked for in the text as it is, the others in its normal form. So the order of reading matters: |special| comes first,
and |normalized|, which depends on it, last. A token with an empty text would be found everywhere, and is refused.

@<Read an added token@>=
static bool read_added(struct json_reader *r, const char *where, json_t *v)
{
  struct added_token x = @[{ .id = 0 }@];
  json_t *text = json_object_get(v, "content"),
    *id = json_object_get(v, "id");
  if (!only_keys(r, where, v, "id content single_word "@|
    "lstrip rstrip normalized "@| "special ")
    @/|| !read_id(r, below(where, "id").name, id, &x.id)
    @/|| !flag(r, where, v, "special", false, &x.special)
    @/|| !flag(r, where, v, "lstrip", false, &x.lstrip)
    @/|| !flag(r, where, v, "rstrip", false, &x.rstrip)
    @/|| !flag(r, where, v, "single_word", false, &x.single_word)
    @/|| !flag(r, where, v, "normalized", !x.special,
      &x.normalized)) return false;
  /*- an empty text would be found everywhere */
  size_t n = json_string_length(text);
  if (n == 0) return refuse(r, below(where, "content").name, text,
    "some text");
  @<See that the id is free, or the one that the word has@>@;
  return tokenizer_intern(r->m, r->t, json_string_value(text), n, &x.text,
    r->why) && tokenizer_add_token(r->m, r->t, &x, r->why);
}
  /*- special is read before normalized, whose default depends on it: special tokens are looked for
    in the text as it is, the others in its normal form. */

@ An added token may be in the vocabulary as well, but only with the same id; and its id must not
belong to another word. Otherwise one of the two could be encoded but not decoded.

@<See that the id is free, or the one that the word has@>=
json_t *word = json_object_getn(r->vocab, json_string_value(text),
  n);
/*- The token may be a word, but then with the word's id; otherwise one of two could be encoded and
  not decoded. */
bool taken = x.id < r->t->n_vocab
  && r->t->vocab[x.id].text.n > 0;
if (word != NULL ? json_integer_value(word) != x.id : taken)
  return refuse(r, below(where, "id").name, id, word != NULL
    ? "the id that the vocabulary has" : "an id that no word has");

@ A pre-tokenizer is one stage or a sequence of them. A stage becomes up to three of ours:
\texttt{ByteLevel} may put a blank before the text and may cut it by GPT-2's pattern; \texttt{Digits} cuts
out digits, one by one or in runs; \texttt{Split} brings its own pattern; and \texttt{Metaspace} writes blanks as blocks, the character U+2581. A pattern that cannot be compiled is the file's fault, so PCRE2's message becomes the
``found'' of a refusal.

@<Append a stage of the file@>=
static bool or_refuse(struct json_reader *r, const char *where, bool ok,
  const struct error *inner)
{
  return ok || error_found(r->why, r->file, where, inner->text,
    "a pattern that can be used, and "@| "at most 16 stages");
}
  /*- A pattern that PCRE2 cannot compile is the fault of the file: its message is what was found,
    and the field is named as for every other fault. */
@#
static bool cut_at(struct json_reader *r, const char *where,
  const char *pattern, size_t n)
{
  struct error inner = @[{ "" }@];
  return or_refuse(r, where, tokenizer_add_split(r->m, r->t, pattern, n, &inner),
    &inner);
}

@ A stage may prepend a string to a text, or replace a string or the matches of a pattern. Both pass on the error of PCRE2 or of the allocator, with the name of the field
that asked for them.

@<Append a stage of the file@>=
static bool put_before(struct json_reader *r, const char *where,
  const char *words, size_t n, bool first_only, bool unless_there)
{
  struct error inner = @[{ "" }@];
  return or_refuse(r, where, tokenizer_add_string(r->m, r->t,
    (struct text_step) @[{ .what = STEP_PREPEND, .first_only = first_only,@|
    .unless_there = unless_there }@], words, n, NULL, 0, false,
    &inner), &inner);
}
@#
static bool put_instead(struct json_reader *r, const char *where,
  const char *pattern, size_t n, bool literal, const char *words,
  size_t n_words)
{
  struct error inner = @[{ "" }@];
  return or_refuse(r, where, tokenizer_add_string(r->m, r->t,
    (struct text_step) @[{ .what = STEP_REPLACE }@], words, n_words, pattern,
    n, literal, &inner), &inner);
}
  /*- The words go into the pool of strings, which tokenizer_index_added points into: so every stage
    is read before that. */

@* Patterns of Oniguruma and of PCRE2. \label{sec:dialects}
A pattern in a file was written for the library that the file's makers used, which is called Oniguruma; ours is PCRE2. Most of what patterns say means the same to both. Some things do not, and
the treacherous ones are those that both accept: after a count such as \texttt{\{1,3\}} a plus means ``one or more times'' to Oniguruma, and ``never give any of it back'' to PCRE2. A tokenizer that cuts
at other places gives other ids, silently. So we check a pattern from a file before it is compiled. If any part of it has two readings, or a reading that we have not
verified, we refuse the pattern and name that part. The patterns of the published files of chapter~1 all pass.
@^Oniguruma@>@^PCRE2@>

@<Read a pattern in two dialects@>=
struct pattern_text { const unsigned char *c; size_t n, at;
  /*- A pattern was written for Oniguruma, and PCRE2 will read it. The treacherous differences are
    what both accept: {1,3}+ repeats in one and is possessive in the other. Whatever has two
    readings, or one that was not verified, is refused and named. */
  uint64_t folded; unsigned depth; bool in_class; };
  /* bit |depth| of |folded|: the group at this depth ignores the
     case of letters */
static bool has(const struct pattern_text *p, size_t at, const char *words)
{
  size_t n = strlen(words);
  return at <= p->n && p->n - at >= n
    && memcmp(p->c + at, words, n) == 0;
}

@ A backslash before a punctuation sign makes it an ordinary character, in both. Only a few letters after a backslash are safe. White space, the letters of words and digits mean the same in both, since \cref{sec:pcre} rewrites the first two and
PCRE2 was told to use Unicode. A property with a name of one or two letters is a category; longer names are scripts, of which the two libraries have different lists. And \texttt{\textbackslash b}, where a word begins or ends, goes by another list of letters.

@<Read a pattern in two dialects@>=
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
  /*- A category has one or two letters, and means the same to both; a longer name is a script, and
    their lists of scripts differ. A folded letter that is given by its number would escape the
    pairs of read_letter. */
@#
/*- The letters that mean the same in both; s and w because split.c rewrites them. Long names of
  properties are scripts, of which the two have different lists; backslash b goes by other letters.
  */
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

@ In brackets, Oniguruma has nested classes and intersections of classes; PCRE2 takes their signs for ordinary characters.

@<Read a pattern in two dialects@>=
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
  /*- Oniguruma nests and intersects classes; to PCRE2 the same signs are characters. */
@#
static const char *begin_class(struct pattern_text *p)
{
  p->at += has(p, p->at, "[^") ? 2 : 1;
  p->in_class = true;
  return has(p, p->at, "]") ? "a class that begins with ]" : NULL;
}
  /*- The sign ] is a character there to one of the two, and the end of an empty class to the other. */

@ Lookahead and lookbehind, atomic groups, and groups that ignore case are the same in both. A switch by itself, such as \texttt{(?i)}, extends further in one library than in the other. We keep track of whether
case is folded, with one bit for each depth of nesting.

@<Read a pattern in two dialects@>=
static const char *begin_group(struct pattern_text *p)
{
  static const char *const known[] = @[{ "(?:", "(?=", "(?!", "(?>",@|
    "(?<=", "(?<!", "(?i:" }@];
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
  /*- A bit for each depth says whether case is folded there. A switch by itself, (?i), reaches
    further in one than in the other. */

@ A count in braces must not be followed by a plus or a question mark; other repeats may. Where case is folded, Oniguruma also matches two letters with a single character that stands
for them, such as the \texttt{\ss} of Gr\"o\ss e for two of \texttt{s}. So there we refuse the pairs that have such a character, and everything beyond ASCII.

@<Read a pattern in two dialects@>=
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
  /*- {1,3}+ repeats a repeat to Oniguruma and gives nothing back to PCRE2; {1,3}? is as
    treacherous. */
@#
/*- Where case is folded, Oniguruma matches two letters by one character that stands for them, such
  as the German sharp s for ss. */
static const char *read_letter(struct pattern_text *p)
{
  static const char *const pair[] = @[{ "ss", "ff", "fi", "fl", "st" }@];
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

@ The message quotes the pattern from the part that is refused on, and counts bytes from one, since a pattern may be longer than a line.
There remain the signs for beginning and end, which mean those of a line to Oniguruma and those of the whole text to PCRE2; the end of a group; and ordinary characters.

@<Read a pattern in two dialects@>=
static const char *read_next(struct pattern_text *p)
{
  unsigned char c = p->c[p->at];
  if (p->in_class) return read_in_class(p);
  switch (c) {
  case '\\': return read_escape(p);
  case '[': return begin_class(p);
  case '(': return begin_group(p);
  case '{': return read_count(p);
  /*- of a line to Oniguruma, of the text to PCRE2 */
  case '^': return "^";
  case '$': return "$";
  case ')':
    if (p->depth > 0) p->depth--;
  }
  return read_letter(p);
}
@#
static bool same_in_both(struct json_reader *r, const char *where,
  json_t *regex)
{
  struct pattern_text p = @[{ .n = json_string_length(regex),@|
    .c = (const unsigned char *) json_string_value(regex) }@];
  const char *wrong = NULL;
  size_t from = 0;
  while (p.at < p.n && (from = p.at, wrong = read_next(&p)) == NULL) ;
  if (wrong == NULL) return true;
  char text[EXCERPT_MAX + 4], found[128];
  snprintf(found, sizeof found, "%s: `%s' at byte %zu", wrong,@|
    text_excerpt(json_string_value(regex) + from, p.n - from, 16, text), from + 1);
  return error_found(r->why, r->file, where, found,
    "a pattern that PCRE2 and Oniguruma read alike");
}
  /*- Asked before the pattern is compiled, since PCRE2 would take it, with a meaning of its own.
    Bytes are counted from 1, as people count. */

@* Stages. \label{sec:stages}
The pattern of a \texttt{Split} is a regular expression, or a plain string, in which a dot is a dot. The file's flag \texttt{invert} swaps the roles of matches and gaps; our
stage has a flag for each, so the code that cuts a text need not know about inverting.

@<Read a stage that brings its pattern@>=
static bool read_split(struct json_reader *r, const char *where, json_t *v)
{
  struct field_name at = below(where, "pattern");
  json_t *pattern = json_object_get(v, "pattern"), *how =
    json_object_get(v, "behavior");
  json_t *regex = json_object_get(pattern, "Regex"), *text =
    json_object_get(pattern, "String");
  bool invert;
  if (!only_keys(r, where, v, "type pattern behavior "@| "invert ")
    || !only_keys(r, at.name, pattern, "Regex String ")
    || !flag(r, where, v, "invert", false, &invert)) return false;
  json_t *given = regex != NULL ? regex : text;
  if (json_string_length(given) == 0)
    return refuse(r, at.name, given, "a Regex or a String");
  if (regex != NULL && !same_in_both(r, at.name, regex)) return false;
  @<See whether matches are kept or removed@>@;
  struct text_step s = @[{ .what = STEP_SPLIT,@|
    .keep_matches = !removed || invert,@|
    .keep_gaps = !removed || !invert }@];
  struct error inner = @[{ "" }@];
  return or_refuse(r, at.name, tokenizer_add_step(r->m, r->t, s,@|
    json_string_value(given), json_string_length(given),
    regex == NULL, &inner), &inner);
}
  /*- Inverted, the gaps are the pieces: a stage has a flag for matches and one for gaps, and what
    cuts need not know why. */

@ We have three behaviours of \texttt{Split}: every match becomes a piece of its own
(\texttt{Isolated}), matches are dropped (\texttt{Removed}), or, inverted, only matches are kept. Two more behaviours glue a match to a neighbour; no byte-level tokenizer that we have met uses them.

@<See whether matches are kept or removed@>=
const char *name = json_is_string(how) ? json_string_value(how)
  : "";
bool removed = strcmp(name, "Removed") == 0;
if (!removed && strcmp(name, "Isolated") != 0)
  return refuse(r, below(where, "behavior").name, how,
    "Isolated or Removed");

@ Digits are all characters that Unicode counts as numbers, so an Arabic four is cut out
like an ASCII one, and so is a half, which is one character.

@<Read a stage of digits@>=
static bool read_digits(struct json_reader *r, const char *where, json_t *v)
{
  bool single;
  return only_keys(r, where, v, "type individual_digits ")
    && flag(r, where, v, "individual_digits", false, &single)
    && cut_at(r, where, single ? "\\p{N}" : "\\p{N}+", single ? 5 : 6);
}
  /*- All that Unicode counts as numbers, as the makers' own library does: an Arabic four is cut
    like an ASCII one. */

@ \texttt{ByteLevel} does two things: it may put a blank before the text, and it may cut. It also turns bytes into the
alphabet of the file, but we need not do that, since we turned the file's words into bytes. Its two flags are true if they are absent.

@<Read a stage of bytes@>=
static const char byte_level_keys[] = "type add_prefix_space "@|
  "trim_offsets use_regex ";
/*- Nothing is left to do for its alphabet: our words are bytes already. */
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

@ Sequences may be nested, and are taken apart until single stages are left; the order of the file is the order in which they cut. \texttt{ByteLevel} must come last, if it comes at all: a stage after it would see the
letters of the file's alphabet instead of the text, and there a byte of an accented letter may look like a digit.

@<Read the pre-tokenizer@>=
static bool read_stage(struct json_reader *r, const char *where, json_t *v)
{
  json_t *name = json_object_get(v, "type");
  const char *type = json_string_value(name);
  if (type == NULL) return refuse(r, below(where, "type").name, name,
    "the name of a stage");
  if (strcmp(type, "Sequence") == 0)
    return read_each(r, where, v, "pretokenizers", read_stage);
  /*- A stage after ByteLevel would see the letters of its alphabet, where a byte of an accented
    letter may look like a digit. */
  if (r->in_bytes) return refuse(r, below(where, "type").name, name,
    "no stage after ByteLevel");
  if (strcmp(type, "Split") == 0) return read_split(r, where, v);
  if (strcmp(type, "Digits") == 0) return read_digits(r, where, v);
  if (strcmp(type, "Metaspace") == 0) return read_metaspace(r, where, v);
  if (strcmp(type, "ByteLevel") == 0) return read_byte_level(r, where, v);
  return refuse(r, below(where, "type").name, name,
    "Sequence, Split, Digits, Metaspace or ByteLevel");
}

@ \texttt{Metaspace} does three things. Blanks become blocks. A block is put before a text never, always, or only where the whole text begins. And the text may be cut before every
block. Older files have a flag in place of the three schemes. The block is U+2581 by custom; a file that wants another
character for it is refused.

@<Read a stage of blocks@>=
static bool read_scheme(struct json_reader *r, const char *where,
  json_t *v, enum scheme *s, bool *split)
{
  bool put;
  json_t *mark = json_object_get(v, "replacement");
  if (!only_keys(r, where, v, "type replacement split str_rep "@|
    "add_prefix_space "@| "prepend_scheme ")
    || !flag(r, where, v, "add_prefix_space", true, &put)
    || !flag(r, where, v, "split", true, split)) return false;
  if (!json_is_string(mark)
    || strcmp(json_string_value(mark), BLOCK) != 0)
    return refuse(r, below(where, "replacement").name, mark,
      "the block U+2581");
  *s = put ? ALWAYS : NEVER;
  return choose_scheme(r, where, v, s);
}
  /*- Files from before the schemes have a flag in their place. Only the one character that all
    files use is taken: the decoder undoes it by name. */

@ The scheme replaces the older flag. If a file has both, the scheme counts; but a false flag with a scheme that prepends a block is a contradiction, and is refused.

@<Choose a scheme@>=
enum scheme { NEVER, FIRST, ALWAYS };
static bool choose_scheme(struct json_reader *r, const char *where,
  json_t *v, enum scheme *s)
{
  static const char *const name[] = @[{ "never", "first",@|
    "always" }@];
  json_t *how = json_object_get(v, "prepend_scheme");
  const char *text = json_string_value(how);
  if (how == NULL || json_is_null(how)) return true;
  int i = 0;
  while (i < 3 && (text == NULL || strcmp(text, name[i]) != 0)) i++;
  /*- The scheme replaces the older flag, but must not contradict it. */
  if (i == 3 || (i != NEVER && *s == NEVER))
    return refuse(r, below(where, "prepend_scheme").name, how,
      i == 3 ? "never, first or always"
      : "never, as add_prefix_space is false");
  return *s = (enum scheme) i, true;
}

@ The three become three stages, in this order. No block is prepended if the text already begins with one, even one that was a blank; in this the
newer form differs from the older, whose files prepend first and replace afterwards. ``Where the whole text begins'' has two meanings if the normalizer has removed characters: the original text or
the normalized one. A file in which the difference may matter is refused.

@<Read a stage of blocks@>=
static bool read_metaspace(struct json_reader *r, const char *where,
  json_t *v)
{
  static const char pattern[] = BLOCK "[^" BLOCK "]*";
  enum scheme s;
  bool split;
  if (!read_scheme(r, where, v, &s, &split)) return false;
  /*- Where the whole text begins has two meanings once the normalizer has removed something. */
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

@ All parts of the machine but the model may be sequences, so one function goes through a sequence and is
told what to do with each element. A limit on the length of the field's name limits how deep sequences may be nested.

@<Go through a sequence@>=
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
  /*- bounds the depth, and with it the recursion */
  if (strlen(at.name) > 120) return refuse(r, where, v,
    "less nesting");
  if (!json_is_array(list)) return refuse(r, at.name, list, "a list");
  json_array_foreach(list, i, each)
    if (!read(r, number_of(at.name, i).name, each)) return false;
  return true;
}

@ Of the normalizers we know NFC, and the two steps by which Llama's files prepend a block to a text and replace blanks by blocks. The others change letters for good: they make capitals small, remove accents, or replace the ligature \texttt{fi} by two letters.

@<Read the normalizer@>=
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
      "NFC, Prepend, Replace or "@| "Sequence");
  return only_keys(r, where, v, "type prepend ")
    && (json_is_string(put) || refuse(r, below(where, "prepend").name,
    put, "some text")) && put_before(r, where, json_string_value(put),
    json_string_length(put), false, false);
}
  /*- The normalizers that are refused change letters for good: they make them small, take accents
    off, part ligatures. Without them the ids would be others. */

@ NFC is a stage without a pattern and without words. It can only fail if there are too many stages already.

@<Read the composition of characters@>=
static bool compose_too(struct json_reader *r, const char *where)
{
  struct error inner = @[{ "" }@];
  return or_refuse(r, where, tokenizer_add_step(r->m, r->t,
    (struct text_step) @[{ .what = STEP_NFC }@], NULL, 0, false, &inner),
    &inner);
}
  /*- It has neither pattern nor words, so only the number of stages can refuse it. */

@ A string or a pattern is replaced, as with \texttt{Split}. The replacement may be empty, and then the string is removed; an empty pattern would
match everywhere, and is refused.

@<Read a replacement@>=
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
  return put_instead(r, at.name, json_string_value(given),@|
    json_string_length(given), regex == NULL, json_string_value(by),
    json_string_length(by));
}
  /*- An empty pattern would match everywhere; an empty replacement is a removal, and allowed. */

@* Post-processing. \label{sec:around}
A template is a list in which \texttt{A} is the text, with special tokens before and after it. If
two templates follow each other, the second one goes around the first. The file has a second list, for pairs of texts, which we ignore: a model that writes is given one text.

@<Read a template@>=
static bool read_template(struct json_reader *r, const char *where,
  json_t *v)
{
  struct field_name at = below(where, "single");
  json_t *list = json_object_get(v, "single"), *each;
  struct ids before = @[{ NULL, 0, 0 }@], after = @[{ NULL, 0, 0 }@];
  size_t i, texts = 0;
  bool ok = only_keys(r, where, v, "type single pair "@|
    "special_tokens ") && (json_is_array(list)
    || refuse(r, at.name, list, "a list"));
  @<Sort the tokens by the side of the text on which they stand@>@;
  if (ok && texts != 1)
    ok = error_found(r->why, r->file, at.name,
      texts == 0 ? "without the text A" : "one with the text A twice",
      "a template with the text A once");
  ok = ok && wrap(r, &before, &after);
  ids_free(r->m, &before);
  ids_free(r->m, &after);
  return ok;
}
  /*- The file's second list, for pairs of texts, is not looked at: a model that writes is given one
    text. Two templates go around each other, the second outside (wrap). */

@ The list is read from front to back: the tokens up to the text \texttt{A} go before it, the rest after it. A template without the text would lose it,
and one with two would repeat it; so we count them.

@<Sort the tokens by the side of the text on which they stand@>=
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

@ A special token of a template is looked up in the template's own list of tokens, where it may have several
ids. Each must be the id of a token, or it could not be decoded. A template names a token by its text, in a field that is called |id| all the same; the numbers are in the list under |ids|, and
only these count. We do not look up the text in the vocabulary.

@<Read the ids of a token of a template@>=
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
  /*- A template names a token by its text; only the numbers under ids count. */

@ The new ids go around those that are there: before the prefix and after the suffix. A row of ids can only be extended at its end, so we build a new prefix from the two. If memory runs out on the way, the
tokenizer has half a prefix; but then opening fails, and the tokenizer is never used.

@<Put ids around what is there@>=
static bool wrap(struct json_reader *r, const struct ids *before,
  const struct ids *after)
{
  struct ids front = @[{ NULL, 0, 0 }@];
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
  /*- A row grows only at its end, so a new prefix is built. Half of one is never used: opening
    fails then. */

@ The post-processor \texttt{ByteLevel} concerns offsets into the text and changes no id. A template may come alone or in a sequence with it, as in Llama~3's file; the processors of other families are refused by name.

@<Read the post-processor@>=
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
    "ByteLevel, TemplateProcessing"@| " or Sequence");
}
  /*- ByteLevel moves offsets here, on which no id depends. */

@* Decoding. \label{sec:decodersteps}
A byte-level vocabulary needs the decoder that joins bytes; a sequence may contain it, but nothing else. With characters the decoder is a small program, whose steps
change each token, and, after the step called \texttt{Fuse}, the whole text. We carry out the steps of the first sort here, once for all tokens. Of the second sort
we know one step, which strips a blank from the beginning.

@<Read the decoder@>=
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
  /*- Steps before Fuse change tokens, and are done here, once for each; after it they would change
    the whole text. */
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
    "Sequence, Replace, ByteFallback, "@| "Fuse, Strip or Metaspace");
}

@ At most one blank is stripped from the front, if the file says so. We refuse to strip more, or to strip the end, because no encoder adds more than one blank. The step makes sense only for the
whole text, so it must come after \texttt{Fuse}.

@<Read the steps of a decoder@>=
static bool read_strip(struct json_reader *r, const char *where, json_t *v)
{
  static const char *const key[] = @[{ "start", "stop" }@];
  json_t *what = json_object_get(v, "content");
  if (!only_keys(r, where, v, "type content start stop "))
    return false;
  if (!json_is_string(what)
    || strcmp(json_string_value(what), " ") != 0)
    return refuse(r, below(where, "content").name, what, "a blank");
  @<Read how many blanks are taken from both ends@>@;
  /*- of the whole text, not of each token */
  return r->fused || refuse(r, where, v, "Strip after Fuse");
}
  /*- No encoder adds more than one blank, and none at the end: to strip more would take what the
    model wrote. */

@ The first of the two numbers may be 0 or 1, the second must be 0.

@<Read how many blanks are taken from both ends@>=
for (int i = 0; i < 2; i++) {
  json_t *n = json_object_get(v, key[i]);
  if (!json_is_integer(n) || json_integer_value(n) < 0
    || json_integer_value(n) > 1 - i)
    return refuse(r, below(where, key[i]).name, n,
      i == 0 ? "0 or 1" : "0");
}
r->t->strip_prefix_space = json_integer_value(json_object_get(v,
  "start")) == 1;

@ \texttt{Replace} names a string and its replacement. The format also allows a pattern here; no file that we have met has one. \texttt{Metaspace} is the same
step with fixed strings, and one more: if its encoder prepends a block, its decoder strips a blank.

@<Read the steps of a decoder@>=
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
    json_string_length(from), json_string_value(to),@|
    json_string_length(to), r->why);
}
  /*- The format allows a pattern in place of the string; no published file has one. */
@#
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
  /*- The way back of read_metaspace: what was put before the text is taken off, and blocks are
    blanks again. */

@* The whole file. \label{sec:wholefile}
Before we refuse anything, we decide whether a file is of our kind at all, that is, whether its model is BPE. A file of another kind is not an error, and the caller may go on without a tokenizer; a file of our kind with an unknown field is an error, and the caller may not. If
the stages contain \texttt{ByteLevel}, the vocabulary begins with bytes. In nested sequences the stage may be at any depth.

@<Tell whether a tokenizer is of our kind@>=
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
  /*- At any depth of nested sequences, and before the vocabulary is read, because it says how words
    are spelt. */

@ A model that names no type is BPE if it has merges; older files are like that. A file without any model counts as ours: it is more likely a broken file than a
new kind of tokenizer.

@<Tell whether a tokenizer is of our kind@>=
static bool is_ours(struct json_reader *r, json_t *file)
{
  json_t *model = json_object_get(file, "model");
  json_t *type = json_object_get(model, "type");
  /*- more likely a broken file than a new kind */
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

@ Now the whole file. We read each part after the parts that it refers to; this is neither the order of the file nor the order of use. The words come before the decoder, which changes their texts, and both before the added tokens, which decode as they are
written. These, and all stages, come before the tables that point into the pool of strings, and the tables before
the ids that are put around a text. (A fuzzer found a stage whose strings were added after the tables, and moved what they pointed to.) Without a post-processor, another file may say what goes around a text. There has been one version of the form so far; a file of the next may mean something else by the same words.

@<Read a whole description@>=
static bool read_description(struct json_reader *r, json_t *file)
{
  json_t *post = json_object_get(file, "post_processor"),
    *stages = json_object_get(file, "pre_tokenizer");
  if (!is_ours(r, file) || !only_keys(r, "", file,
    "version added_tokens "@| "normalizer pre_tokenizer "@|
    "post_processor decoder "@| "model truncation padding "))
    return false;
  json_t *version = json_object_get(file, "version");
  if (!says_nothing(version) && !(json_is_string(version)
      && strcmp(json_string_value(version), "1.0") == 0))
    return refuse(r, "version", version, "\"1.0\"");
  @<See what is for batches of texts@>@;
  if (!read_model(r, json_object_get(file, "model"))
    || !read_normalizer(r, "normalizer",
      json_object_get(file, "normalizer"))
    || !read_decoder(r, "decoder", json_object_get(file, "decoder")))
    return false;
  if (!r->t->char_level && !r->fused) return refuse(r, "decoder",
    json_object_get(file, "decoder"), "a ByteLevel in it");
  /*- From here on stages are the pre-tokenizer's. Strings and stages first, then the tables that
    point to them. */
  r->t->n_normalizers = r->t->n_steps;
  return read_all_added(r, json_object_get(file, "added_tokens"))
    && ((r->t->char_level && says_nothing(stages))
      || read_stage(r, "pre_tokenizer", stages))
    && tokenizer_index_added(r->m, r->t, r->why)
    && (json_is_null(post) || post == NULL ? read_config(r)
      : read_post(r, "post_processor", post));
}

@ Two settings concern not a text but a batch of texts: truncation to one length, and padding of the short ones. A training program may have left them in the file.
We do neither, and say so when asked.

@<See what is for batches of texts@>=
r->t->ignored[0] = !says_nothing(json_object_get(file,
  "truncation"));
r->t->ignored[1] = !says_nothing(json_object_get(file, "padding"));

@ A file need not have added tokens. If it has some, we read them after the vocabulary, whose ids they must not take, and before the templates, which may name them.

@<Read the tokens that were added@>=
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
  /*- After the words, whose ids they must not take, and before the templates, which name them. */

@ Without a post-processor a second file decides whether a text begins or ends with a special
token: \.{tokenizer\_config.json}, in the same directory. It names the token by its text, or by an
object that has the text in it; if it names none, we take the token that a model of SentencePiece has named. The file is full of other things (templates for conversations, the names of classes in a Python library), but they do not change an encoding, so we do not look at them.

@<Read the configuration beside it@>=
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
  /*- By the name of a class in Python, such files put an id before a text or after it, and say so
    nowhere else. Where no token is named, the one that a model of SentencePiece has named is
    meant. */

@ The path of the second file is that of the first with another name at its end. If there is no such file, only the first one counts. While we read the second file,
messages must name it, so |r->file| is changed and changed back.

@<Read the configuration beside it@>=
static bool read_config(struct json_reader *r)
{
  const char *file = r->file;
  char path[PATH_CAP];
  bool here = path_beside(path, file, "tokenizer_config.json", NULL)
    && access(path, F_OK) == 0;
  /*- while we read it, messages name the second file */
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

@ JSON is parsed by the library jansson, which is told to be strict: a key that comes twice is an
error, while U+0000 is a character like any other. It allocates its own memory, outside
our accounts, and we free it when the tokenizer has been built. A file that is not JSON may be of another kind that we recognize, and then the message names the kind (\cref{sec:misfits}). The tree may take many times the memory of the text, so we limit the length of the text to twice that of the largest published tokenizer.
@^jansson@>

@<Parse a file of JSON@>=
enum { MAX_JSON = 64 << 20 };
static json_t *read_json(const char *path, size_t *bytes,
  struct error *why)
{
  struct mapping map;
  json_error_t trouble;
  if (!file_map(&map, path, why)) return NULL;
  *bytes = map.size;
  json_t *v = map.size > MAX_JSON ? NULL
    : json_loadb(@[(const char *) map.bytes@], map.size,
      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &trouble);
  if (*bytes > MAX_JSON)
    error_say(why, "%s: this has %zu bytes;"@| " wanted: at most %d of JSON",
      path, *bytes, MAX_JSON);
  else if (v == NULL)
    error_say(why, "%s: line %d, column %d: %s;"@|
      " wanted: strict JSON", path, trouble.line, trouble.column,@|
      jsonfile_trouble(&trouble, (const char *) map.bytes, map.size));
  if (v == NULL) misfit_bytes(path, map.bytes, map.size, true, why);
  file_unmap(&map);
  return v;
}
  /*- The length is limited before parsing, since the tree takes many times the memory of the text,
    and outside our accounts; the limit is twice the largest that was published. */

@ GPT-2 was published before \.{tokenizer.json} existed: as a vocabulary in JSON and a list of merges, one per line,
in which the first line may give the version. Everything else was in GPT-2's program, so it is in ours as well. If a list is refused, it may be a file of another kind; then its bytes say more than the line that was not a merge. Lines may end as on Windows, and empty lines are skipped. A later line that begins
with a number sign is a merge of that sign, not a comment.

@<Read the lines of a list of merges@>=
static bool read_lines(struct json_reader *r, const char *path)
{
  struct mapping map;
  if (!file_map(&map, path, r->why)) return false;
  bool ok = true;
  r->file = path;
  for (size_t line_number = 1, at = 0; ok && at < map.size;
       line_number++) {
    const char *text = @[(const char *) map.bytes + at@],
      *stop = memchr(text, '\n', map.size - at);
    size_t n = stop == NULL ? map.size - at : (size_t) (stop - text);
    at += n + 1;
    if (n > 0 && text[n - 1] == '\r') n--;
    /*- a later line that begins with # is a merge of that sign */
    if (n > 0 && !(line_number == 1 && n >= 8
      && memcmp(text, "#version", 8) == 0)) ok = read_line(r, text, n,
      line_number);
  }
  if (!ok) misfit_bytes(path, map.bytes, map.size, true, r->why);
  file_unmap(&map);
  return ok;
}

@ A line must be UTF-8. In the other format jansson checks that; here we must do it ourselves, because |to_bytes| reads characters and trusts that they are whole. In messages the field's name is the line's number,
counted from 1, as in an editor.

@<Read one such line@>=
static bool read_line(struct json_reader *r, const char *text, size_t n,
  size_t line_number)
{
  char field[40];
  bool whole;
  const char *blank = memchr(text, ' ', n);
  snprintf(field, sizeof field, "line %zu", line_number);
  /*- jansson checks this in JSON; to_bytes trusts it */
  if (utf8_run((const unsigned char *) text, n, &whole) != n
    || !whole) return error_found(r->why, r->file, field, "not UTF-8",
    "two words");
  if (blank == NULL) return error_found(r->why, r->file, field,
    "without a blank", "two words with a blank between");
  size_t n_a = (size_t) (blank - text);
  return read_merge(r, text, n_a, blank + 1, n - n_a - 1, field);
}

@ If the vocabulary has GPT-2's end of text, that is the one special token; without this step its letters would be encoded like any other text. Both files are needed, and the message names the one that is
at fault. The pattern is not in the files: GPT-2's list of merges goes with GPT-2's pattern, but no file says so.

@<Read a vocabulary and its merges@>=
static bool read_pair_of_files(struct json_reader *r, const char *vocab,
  const char *merges)
{
  static const char end_of_text[] = "<|endoftext|>";
  struct added_token x = @[{ .special = true }@];
  r->file = vocab, r->ours = true;
  r->vocab = read_json(vocab, &r->bytes, r->why);
  bool ok = r->vocab != NULL && read_vocab(r, "")
    && read_lines(r, merges);
  if (ok && tokenizer_find(r->t, end_of_text, strlen(end_of_text),
    &x.id)) {
    /*- as a special token, or its letters would be encoded like any text */
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
  /*- What is in neither file was in GPT-2's program, so it is here: the pattern, and that one word
    is special. */

@* Recognizing a file. \label{sec:whichfile}
A path names a file or a directory. In a directory we look for four kinds of files in a fixed order; the most informative comes first. Two of the four are pairs, and half of a pair is useless: a directory with a \.{vocab.json} and no \.{merges.txt} has no
tokenizer for us. Any other path is read as a file, even if it does not exist, since opening it gives the better message.

@<Find out what a path holds@>=
static bool read_path(struct json_reader *r, const char *path,
  bool *absent)
{
  char one[PATH_CAP], two[PATH_CAP];
  struct stat about;
  *absent = false;
  /*- a path that leads nowhere, too: opening it has the better message */
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
    "%s: no tokenizer.json here, nor "@|
    "vocab.json and merges.txt,"@| " nor encoder.json and "@|
    "vocab.bpe, nor tokenizer.model", path);
}

@ A list of ranks begins with a line of two words, of which the second is a number. Neither JSON nor a protobuf message begins like that.

@<Tell what a file contains@>=
static bool is_rank_line(const unsigned char *c, size_t n)
{
  size_t i = 0, digits = 0;
  while (i < n && c[i] > ' ') i++;
  if (i == 0 || i == n || c[i] != ' ') return false;
  for (i++; i < n && c[i] >= '0' && c[i] <= '9'; i++) digits++;
  return digits > 0 && (i == n || c[i] == '\n' || c[i] == '\r');
}
  /*- A word in base64, a blank and a number: neither JSON nor a message of protobuf begins like
    that. */

@ We tell the kind of a file by what it contains, not by its name, which users change. A file that begins with a brace, after optional white space, is JSON. A model of SentencePiece begins with its first piece; both the model and the piece begin with the
byte 10. A GGUF file begins with its four letters, and has a reader of its own (\cref{gguf}). Everything else is taken for JSON as well, and the parser's message says what is wrong with it.

@<Tell what a file contains@>=
enum file_content { CONTENT_JSON, CONTENT_RANKS, CONTENT_PIECES,@|
  CONTENT_GGUF };
/*- By what it contains; names are changed by users. A model and its first piece both begin with
  the byte 10. */
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

@ The readers of ranks and pieces take the bytes of the mapped file; the reader of JSON maps the file itself.

@<Tell what a file contains@>=
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
  /*- JSON is mapped once more by its reader, which is also called for files that have that name. */

@ A file of JSON is one object. A file that cannot even be parsed counts as ours, and is refused, because a broken file deserves a message and not silence.

@<Read a file of JSON into a tokenizer@>=
static bool read_json_file(struct json_reader *r, const char *path)
{
  json_t *file = read_json(path, &r->bytes, r->why);
  bool ok = file != NULL && (json_is_object(file)
    || refuse(r, "this", file, "an object"))
    && read_description(r, file);
  json_decref(file);
  return ok;
}
  /*- A file that cannot be parsed counts as ours: it deserves a message and not silence. */

@ A model of SentencePiece says which of its pieces begin and end a text, but not whether to add them. If a second file does not say otherwise, we add the first and not the second.

@<Read a model of SentencePiece@>=
static bool read_scores(struct json_reader *r, const unsigned char *byte,
  size_t n)
{
  return sentencepiece_read(r->m, r->t, r->file, byte, n, &r->begin,
    &r->end, &r->ours, r->why) && read_config(r);
}
  /*- The model says which pieces begin and end a text, but not whether they are added; that is in
    the file beside it, if there is one. */

@ The two functions that open a tokenizer differ in what they tell. The first distinguishes four outcomes, for the command, which can run a model without a tokenizer for a user who supplies ids. If reading fails half-way, closing frees
the rest. A refusal for want of memory is a refusal like any other.

@<Open a tokenizer@>=
enum tokenizer_found tokenizer_try(struct memory *m, const char *path,
  struct tokenizer **t, struct error *why)
{
  struct json_reader r = @[{ .m = m, .why = why }@];
  bool absent = false;
  *t = r.t = memory_alloc(m, MEMORY_TOKENS, 1, sizeof **t, why);
  if (r.t == NULL) return TOKENIZER_REFUSED;
  bool ok = read_path(&r, path, &absent);
  bytes_free(m, &r.row);
  if (ok) return TOKENIZER_OPEN;
  tokenizer_close(m, *t);
  *t = NULL;
  /*- nothing there, another kind, or wrong: the command can go on after the first two */
  if (absent) return TOKENIZER_ABSENT;
  if (r.found != TOKENIZER_OPEN) return r.found;
  return r.ours ? TOKENIZER_REFUSED : TOKENIZER_OTHER_KIND;
}
  /*- On failure the half that was built is closed: whoever gets a tokenizer gets a whole one. */

@ The second function does not say which of the three failures it was, and keeps only the message.

@<Open a tokenizer@>=
struct tokenizer *tokenizer_open(struct memory *m, const char *path,
  struct error *why)
{
  struct tokenizer *t;
  tokenizer_try(m, path, &t, why);
  return t;
}
  /*- For a caller that cannot go on without a tokenizer, and needs only the message. */

@* Writing a description. \label{sec:writingdescription}
Writing goes the other way: words are spelt in the alphabet of bytes, and merges as two words with a
blank between, the form that old and new readers understand. The alphabet ends at U+0143, so two bytes of UTF-8 are enough for each character.

@<Spell bytes for a file@>=
bool tokenizer_to_alphabet(struct memory *m, const unsigned char *byte,
  size_t n, struct bytes *out, struct error *why)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t c = tokenizer_byte_to_unicode(byte[i]);
    unsigned char two[2] = @[{ (unsigned char) (0xc0 | c >> 6),@|
      (unsigned char) (0x80 | (c & 0x3f)) }@];
    unsigned char one = (unsigned char) c;
    if (!(c < 0x80 ? bytes_push(m, out, &one, 1, why)
      : bytes_push(m, out, two, 2, why))) return false;
  }
  return true;
}

@ The words go into an object of JSON, the merges into a list. We end each spelling with a zero byte, which the alphabet never uses, because jansson takes its keys as C strings. Two words that are spelt alike would be one key, and the first would be lost. A list of merges that
was learnt has no such pair, as an exercise of chapter 1 shows; but a caller may pass any list, and then the message says so.

@<Make the vocabulary and the merges as JSON@>=
static bool make_words(struct memory *m, const struct tokenizer *t,
  json_t *vocab, json_t *merges, struct error *why)
{
  struct bytes row = @[{ NULL, 0, 0 }@];
  bool ok = json_object_set_new(vocab, "<|endoftext|>",
    json_integer(0)) == 0;
  for (size_t i = 1; ok && i < t->n_vocab; i++) {
    struct span s = t->vocab[i].piece;
    row.n = 0;
    ok = tokenizer_to_alphabet(m, t->string_pool.byte + s.at, s.n, &row, why)
      /*- the zero: jansson takes keys as C's strings, and the alphabet has none */
      && bytes_push(m, &row, "", 1, why);
    /*- would be one key, and the first lost */
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

@ One merge is one string: the spelling of its left half, a blank, the spelling of the right one. The rule has only ids; the letters come from the two tokens. The caller
lends us its buffer, which has grown already.

@<Make a merge as JSON@>=
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

@ Around them we put the simplest description of a byte-level tokenizer. jansson builds it from a format string with one letter for each value (\texttt s a string, \texttt b a flag, \texttt n null, \texttt O a value to which we keep our reference); where a part of the machine is not needed, the file
says null, as Hugging Face's library expects.

@<Make the description as JSON@>=
static json_t *make_description(json_t *vocab, json_t *merges)
{
  return json_pack("{s:s, s:n, s:n,"@| " s:[{s:i, s:s, s:b, s:b,"@|
    " s:b, s:b, s:b}], s:n,"@| " s:{s:s, s:b, s:b, s:b},"@| " s:n,"@|
    " s:{s:s, s:b, s:b, s:b},"@| " s:{s:s, s:n, s:n, s:n,"@|
    " s:n, s:b, s:b, s:b,"@| " s:O, s:O}}",
    "version", "1.0", "truncation", "padding",
    "added_tokens", "id", 0, "content", "<|endoftext|>",
      "single_word", 0,@|
    "lstrip", 0, "rstrip", 0, "normalized", 0, "special", 1,
      "normalizer",
    "pre_tokenizer", "type", "ByteLevel", "add_prefix_space", 0,@|
    "trim_offsets", 1, "use_regex", 1, "post_processor",
    "decoder", "type", "ByteLevel", "add_prefix_space", 1,@|
    "trim_offsets", 1, "use_regex", 1,
    "model", "type", "BPE", "dropout", "unk_token",@|
    "continuing_subword_prefix",@| "end_of_word_suffix",@|
      "fuse_unk", 0,@|
    "byte_fallback", 0, "ignore_merges", 0, "vocab", vocab, "merges",
      merges);
}
  /*- The tokenizer of finish_merges in tokenizer.c: change both or none. In the format a letter
    stands for each value, s a string, b a flag, n null, O a value of which we keep our reference.
    */

@ Four steps can fail before a byte is written. One message serves for all, and includes the reason if there is one. Numbers, blanks and newlines do not depend on the machine: the same merges give the same bytes, and a test checks that.

@<Write a tokenizer@>=
bool tokenizer_write(struct memory *m, const char *path,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  struct error inner = @[{ "" }@];
  struct new_file to;
  struct tokenizer *t = tokenizer_from_merges(m, merge, n, why);
  if (t == NULL) return false;
  json_t *vocab = json_object(), *merges = json_array(),
    *whole = NULL;
  bool ok = vocab != NULL && merges != NULL
    && make_words(m, t, vocab, merges, &inner)
    && (whole = make_description(vocab, merges)) != NULL;
  tokenizer_close(m, t);
  @<Write it beside its place, and move it there@>@;
  json_decref(whole);
  json_decref(vocab);
  json_decref(merges);
  return ok;
}
  /*- What is written depends on the merges alone: no date, no order of a hash, one blank of
    indentation; two machines write the same bytes. The file has its name only when it is whole. */

@ At every moment the file |path| is either the old one or the new one, and complete (\cref{sec:newfile}). If the machine loses power, we promise nothing. What jansson could not write shows when the file is closed; it may also have been refused memory.

@<Write it beside its place, and move it there@>=
if (!ok) error_say(why, "%s: cannot be made: %s", path,
  inner.text);
else if ((ok = new_file_open(&to, path, false, why))) {
  bool whole_file = json_dumpf(whole, to.f, JSON_INDENT(1)) == 0;
  ok = new_file_stored(&to, why) && (whole_file
    || error_say(why, "%s: cannot be written: no memory", path));
  ok = new_file_end(&to, ok, why);
}

@ The file is built bottom up; this chapter is written mostly top down.

@(tokenizer_json.c@>=
@;
/** Reading the tokenizers that Hugging Face's library writes, and GPT-2's pair of files; telling
  all kinds of files apart; writing. A key that is not known may change ids, so it is refused
  unless its value says nothing. A file that is not BPE is of another kind, which is no error
  (ours); a file of our kind with anything that we do not do is one. Parts are read in the order in
  which they refer to each other, which is not that of the file: words, decoder, added tokens and
  all stages before |tokenizer_index_added|, after which nothing may be added to the string pool;
  then what goes around a text. jansson's functions take null, and answer null, zero or false:
  asking is never an error, and the answer is checked where it matters. Readers of parts stand
  before readers of wholes. */
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
@<What reading a file needs@>@;
@<Refuse a field@>@;
@<Accept only keys that we know@>@;
@<Read a flag@>@;
@<Read an id@>@;
@<Turn a word of the file into bytes@>@;
@<All about the words of the vocabulary@>@;
@<Read the other four parts@>@;
@<Read whole files@>@;
@<Make a merge as JSON@>@;
@<Make the vocabulary and the merges as JSON@>@;
@<Make the description as JSON@>@;
@<Write a tokenizer@>@;

@ The alphabet is a file of its own, because the reader and the writer of GGUF files spell words in it, too.

@(alphabet.c@>=
@;
/** The characters that stand for bytes in the words of a vocabulary, both ways. It knows nothing of
  files, and every reader and writer of one uses it. Every byte has a character; not every character
  is a byte's. */
#include "tokenizer-json/tokenizer_json.h"
@<Spell a byte as a character, and back@>@;
@<Spell bytes for a file@>@;

@ The model comes first, because the rest refers to its words: added tokens to their ids, and templates to both.

@<All about the words of the vocabulary@>=
@<Read the vocabulary@>@;
@<Read one merge@>@;
@<Read the merges@>@;
@<Count the bytes that have tokens@>@;
@<Read the unknown token@>@;
@<Read the model@>@;
@<Read an added token@>@;

@ Then the parts that may be sequences, each before its first caller.

@<Read the other four parts@>=
@<Go through a sequence@>@;
@<Append a stage of the file@>@;
@<Read a pattern in two dialects@>@;
@<Read a stage that brings its pattern@>@;
@<Choose a scheme@>@;
@<Read a stage of blocks@>@;
@<Read a stage of digits@>@;
@<Read a stage of bytes@>@;
@<Read the pre-tokenizer@>@;
@<Read a replacement@>@;
@<Read the composition of characters@>@;
@<Read the normalizer@>@;
@<Read the ids of a token of a template@>@;
@<Put ids around what is there@>@;
@<Read a template@>@;
@<Read the post-processor@>@;
@<Read the steps of a decoder@>@;
@<Read the decoder@>@;

@ Last come the files: parsing one, reading a whole description, the configuration beside it, and the kinds of files to which a path may lead.

@<Read whole files@>=
@<Parse a file of JSON@>@;
@<Read the configuration beside it@>@;
@<Tell whether a tokenizer is of our kind@>@;
@<Read the tokens that were added@>@;
@<Read a whole description@>@;
@<Read one such line@>@;
@<Read the lines of a list of merges@>@;
@<Read a vocabulary and its merges@>@;
@<Read a file of JSON into a tokenizer@>@;
@<Read a model of SentencePiece@>@;
@<Tell what a file contains@>@;
@<Find out what a path holds@>@;
@<Open a tokenizer@>@;

@* The check. \label{sec:descriptionscheck}
The program learns from a short text with many repetitions. The probe has a letter of two bytes in
it, which no merge has joined. Each line of the checkpoint has six ids; blanks and bytes outside printable ASCII are shown as in chapter 1.

@<Show ids as pieces@>=
static const char lesson[] = "the cat sat on the mat, "@|
  "the rat sat on the cat";
static const char probe[] = "<|endoftext|>the caf\xc3\xa9";
enum { LESSON_MERGES = 14 };
static void print_ids(const struct tokenizer *t, const char *label,
  const struct ids *list)
{
  printf("%s", label);
  for (size_t i = 0; i < list->n; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(t, list->id[i], &n);
    printf(i > 0 && i % 6 == 0 ? "\n          %u:" : " %u:",@|
      (unsigned) list->id[i]);
    for (size_t k = 0; k < n; k++)
      if (byte[k] >= 33 && byte[k] < 127) putchar(byte[k]);
      else printf(byte[k] == ' ' ? "_" : "<%02x>", byte[k]);
  }
  printf("\n");
}

@ The probe is encoded twice: once as text that a user has typed, in which the end of a
text is letters like any others, and once as text that the program itself has written, in which it is
one token.

@<Show ids as pieces@>=
static bool encode_probe(struct memory *m, struct tokenizer *t,
  bool parse_special, struct ids *list, struct error *why)
{
  list->n = 0;
  return tokenizer_encode(t, m, probe, strlen(probe), false,
    parse_special, list, why);
}

@ We take two tokenizers for the same if they give the same ids both times. We print only the ids of the second; if those of the first differ, the program prints |"DIFFERENT"|.

@<Show ids as pieces@>=
static bool same_ids(struct memory *m, struct tokenizer *t,
  struct tokenizer *u, struct error *why)
{
  struct ids one = @[{ NULL, 0, 0 }@], two = @[{ NULL, 0, 0 }@];
  bool same = true;
  for (int special = 0; same && special < 2; special++) {
    same = encode_probe(m, t, special, &one, why)
      && encode_probe(m, u, special, &two, why) && one.n == two.n
      && memcmp(one.id, two.id, one.n * sizeof *one.id) == 0;
    print_ids(u, special ? "  parsed:" : "  typed: ", &two);
  }
  ids_free(m, &one);
  ids_free(m, &two);
  return same;
}

@ The file goes to the system's directory for temporary files, under a unique name, and is
removed in the end. If no file can be made, the program says so and ends with status 1, since its task is to show the round trip.

@<Go by way of a file, and compare@>=
static struct tokenizer *by_way_of_a_file(struct memory *m,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  char path[] = "/tmp/incipit-vocabulary-XXXXXX";
  int f = mkstemp(path);
  if (f < 0) return NULL;
  close(f);
  struct tokenizer *t = NULL;
  if (tokenizer_write(m, path, merge, n, why))
    t = tokenizer_open(m, path, why);
  remove(path);
  return t;
}

@ The tokenizer that was made and the one that was read are both kept until they have been compared. As in every program of this book, the last check is whether all memory has been freed.

@<Go by way of a file, and compare@>=
static int print_round_trip(void)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct error why = @[{ "no file can be made in /tmp" }@];
  struct bpe_merge *merge;
  size_t n;
  if (!bpe_train(&m, lesson, strlen(lesson), split_gpt2,
    LESSON_MERGES, &merge, &n, &why)) return 1;
  struct tokenizer *t = tokenizer_from_merges(&m, merge, n, &why);
  struct tokenizer *u = t ? by_way_of_a_file(&m, merge, n, &why)
    : NULL;
  bool same = false;
  @<Compare the two, and show a refusal@>@;
  tokenizer_close(&m, t);
  tokenizer_close(&m, u);
  bpe_forget(&m, merge);
  return same && m.all.live == 0 ? 0 : 1;
}

@ The printed size is that of the tokenizer from the file: the end of the text, the bytes, and one word for each merge.

@<Compare the two, and show a refusal@>=
if (u != NULL) {
  printf("%s, %zu ids, written and read again\n",
    tokenizer_kind(u),@| tokenizer_vocab_size(u));
  same = same_ids(&m, t, u, &why);
  printf("%s\n", same ? "  the same ids" : "  DIFFERENT");
  print_refusal(&m);
} else printf("%s\n", why.text);

@ A file that asks for lower case is of our kind, but has a normalizer that
we do not have. The message names the field, what was found and what was wanted. It also names the file, whose name differs from run to run; so the program prints only the part after
it.

@<Show how a file is refused@>=
static void print_refusal(struct memory *m)
{
  static const char text[] = "{\"model\": {\"type\": \"BPE\", "@|
    "\"vocab\": {\"a\": 0}, "@| "\"merges\": []}, "@|
    "\"normalizer\": {\"type\": "@| "\"Lowercase\"}, "@|
    "\"pre_tokenizer\": "@| "{\"type\": \"ByteLevel\"}}";
  char path[] = "/tmp/incipit-vocabulary-XXXXXX";
  struct error why = @[{ "?" }@];
  int f = mkstemp(path);
  if (f < 0) return;
  bool written = write(f, text,
    strlen(text)) == (ssize_t) strlen(text);
  close(f);
  if (written && tokenizer_open(m, path, &why) == NULL) {
    const char *words = why.text + strlen(path) + 2;
    size_t n = strcspn(words, ";");
    printf("refused:\n  %.*s\n  %s\n", (int) n, words,
      words[n] ? words + n + 2 : "");
  }
  remove(path);
}

@ The figure of the alphabet needs a line for every byte.

@<Print the alphabet of bytes@>=
static int print_alphabet(void)
{
  printf("byte,character\n");
  for (unsigned b = 0; b < 256; b++)
    printf("%u,%u\n", b, (unsigned) tokenizer_byte_to_unicode(b));
  return 0;
}

@ The keys of the prose are the bytes that stand for themselves, those that have moved, the last character, and two limits of the reader. We count the bytes instead of repeating the rule.

@<Print the alphabet of bytes@>=
static int print_values(void)
{
  int itself = 0;
  for (unsigned b = 0; b < 256; b++) itself += tokenizer_byte_to_unicode(b) == b;
  printf("vocab.alphabet.itself %d\nvocab.alphabet.moved %d\n",
    itself, 256 - itself);
  printf("vocab.alphabet.last %u\n", (unsigned) tokenizer_byte_to_unicode(173));
  printf("vocab.max_id %d\nvocab.max_stages %d\n", TOKENIZER_MAX_ID,
    TOKENIZER_MAX_STEPS);
  return 0;
}

@ What the program prints:

\checkpoint{build/out/tokenizer-json.txt}{a tokenizer written, read, and refused}

@* Exercises. \label{sec:descriptionexercises}
The first two need paper and an editor. The third adds a stage that some published files have, and that our reader refuses.

\begin{exercises}
\exercise{check}{ex:descriptions.alphabet}{A word in a file of GPT-2's kind is written with the three characters U+00C3, U+00A9 and U+0120. Which bytes does it stand for, and what does a reader see?}{\texttt{make
exercise-W6-1}}{The first two stand for themselves as bytes, \texttt{c3} and \texttt{a9}, and U+0120 is the moved blank, \texttt{20}: an e with an acute accent, and a blank.}
\exercise{think}{ex:descriptions.small}{Write a \texttt{tokenizer.json} with which \texttt{the} becomes a single id and decodes to itself. Not counting blanks, it may have at most \given{200} bytes.}{\texttt{make
exercise-W6-2}}{Three letters, \tok{th} and \tok{the}, two merges; \texttt{ByteLevel} cuts, without its blank, and decodes. Without \tok{th} a merge would name a word that is not there, and the file would be refused.}
\exercise{think}{ex:descriptions.words}{Add the stage \texttt{WhitespaceSplit}: it cuts at white space and drops the white space itself. It has no settings.}{\texttt{make
exercise-W6-3}}{A stage that keeps matches and no gaps, with the pattern \texttt{\textbackslash S+}; |only_keys| refuses any setting. With |keep_gaps| the blanks would come back as pieces of their own.}
\end{exercises}
