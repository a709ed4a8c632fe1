@i types.w

\chapterquestion{Not every vocabulary is a list of merges. What do the others contain, and can the same engine encode with them?}
@** SentencePiece models and tiktoken files. \label{sec:scores}
\incipit{T}{hree families of files} say how a text becomes tokens. GPT-2's lists merges: which two tokens make a third, and in which order. OpenAI's later
files, which the program \emph{tiktoken} reads, list only tokens, each with a number, its rank. The files of Google's \emph{SentencePiece}, by Taku Kudo and John Richardson \cited{Kudo 2018}, which Llama~2 and Mistral
use, list tokens with scores. The last two do not mention merges at all. Yet all three describe the same kind of process, and
one engine is enough.
@^tiktoken@>@^SentencePiece@>@^Kudo, Taku@>

The rule of the second family reads: among all pairs of neighbours in the piece that \emph{together spell a token}, join the pair whose token has the lowest rank, and if there are several, the leftmost. Repeat
until no two neighbours spell a token. The rule of the third family is the same, with the highest score for the lowest rank. Now let $t$ be a token of $n$ letters. It can be cut in two at $n-1$ places. At some of
them both halves are tokens, $l$ and $r$. Two neighbours spell $t$ exactly when they are such halves. So the rule about tokens is a rule about pairs, in which the pair
$(l,r)$ makes $t$ with the rank of $t$; and if we write down all such pairs, we have a list of merges after all. Only one thing is new: several pairs may make the same token, and they must
have \emph{the same} rank. The place in the text decides between them, not the order of the list.

\begin{byhand}{one token, two pairs}
The tokens are \tok a, \tok b, \tok{ab} with rank 0, \tok{ba} with rank 1 and \tok{aba} with rank 2; the ranks of the single letters do not matter.
\tok{aba} can be cut as \tok a\,\tok{ba} and as \tok{ab}\,\tok a; so there are four pairs:

\medskip
\begin{tabular}{@@{}lll@@{}}
\tabhead{pair} & \tabhead{makes} & \tabhead{rank}\\
\tok a\,\tok b & \tok{ab} & 0\\
\tok b\,\tok a & \tok{ba} & 1\\
\tok a\,\tok{ba} & \tok{aba} & 2\\
\tok{ab}\,\tok a & \tok{aba} & 2
\end{tabular}
\medskip

Encode \texttt{abaa}. The pair \tok a\,\tok b has rank 0: \texttt{ab a a}. Of the pairs that are left only \tok{ab}\,\tok a spells a token: \texttt{aba a}, two tokens. In \texttt{baa} the only pair that
spells a token is \tok b\,\tok a: \texttt{ba a}, and we are done. The third pair of the table is never used here: for \tok a to come before \tok{ba}, the text must have been
\texttt{a b a}, and there rank 0 has already joined the \texttt b to the \texttt a on its left. The pair costs one line in a table. We keep it, since another vocabulary would use it.
\end{byhand}

@ Each of the three has its own weakness. A list of merges can contain a token that merging never produces, because a merge with a lower rank always comes first; Llama~3's list has some, and so its tokenizer first looks
each piece up as a whole. A file of ranks says neither how texts are cut nor which special tokens there are: the file alone is not enough. Scores were learnt from words
with their blanks, and a text without blanks between words (Chinese, for example) is one long word. And SentencePiece begins with characters, not with bytes: a character that has no token falls apart into bytes that
\emph{no merge joins}, three tokens for a missing Chinese character, four for an emoji. GPT-2's merges work on bytes, and have joined many of these.

The program encodes the two texts of the hand calculation, first with tokens that have ranks, then with a SentencePiece model in which the same tokens have scores. With |"values"| it prints the keys.

@c
#include <stdio.h>
#include <string.h>
#include "sentencepiece/sentencepiece.h"
@<The words of the hand calculation@>@;
@<Tokens with ranks@>@;
@<Tokens with scores@>@;
@<Spell with both@>@;
@#
int main(int argc, char **argv)
{
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  return spell_with_both(values) ? 0 : 1;
}

@* Merges from ranks. \label{sec:pairsofpieces}
Each of the two readers fills a tokenizer with all pieces and makes a table with the rank of each id; a piece that takes part in no merge has no rank. Then every piece is cut at every place.

@<Readers of scores and ranks@>=
#define TIKTOKEN_NO_RANK UINT32_MAX
bool tiktoken_pairs_from_ranks(struct memory *m, struct tokenizer *t,
  const uint32_t *rank, struct error *why);
  /* |rank[id]| for all |t->n_vocab| ids, |TIKTOKEN_NO_RANK| for those that are
     not merged; fills |t->rules|; |t->by_piece| must be made */
bool tiktoken_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  struct error *why);
  /* fills an empty tokenizer from a rank file of |n| bytes */
bool sentencepiece_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  uint32_t *begin, uint32_t *end, bool *ours, struct error *why);
  /* the same from a SentencePiece model; |*begin| and |*end|: the ids that
     begin and end a text, plus 1, or 0; |*ours|: is it BPE? */
struct sentencepiece_piece { const char *text; size_t n; float score;
  unsigned type; };
  /* |n| letters, not copied; |type|: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused,
     6 a byte */
typedef bool sentencepiece_piece_at(void *ctx, size_t i,
  struct sentencepiece_piece *p);
  /* piece |i|; they are asked for in their order; false: it cannot be read */
bool sentencepiece_make(struct memory *m, struct tokenizer *t,
  const char *file, size_t n, sentencepiece_piece_at *at, void *ctx,
  bool prefix, uint32_t unknown, struct error *why);
  /* fills an empty tokenizer with |n| pieces that the caller has; |prefix|: a blank is put before
     a text; |unknown|: the id of what cannot be spelt, plus 1, or 0 */

@ Both halves must be pieces that merges can make, that is, pieces with a rank. In a vocabulary of characters a cut inside a character finds nothing, since no piece is half a character. A piece of $n$ bytes
gives at most $n-1$ pairs, so the file's size bounds their number.

@<Make pairs of pieces@>=
static uint32_t ranked(const struct tokenizer *t,
  const uint32_t *rank, const unsigned char *byte, size_t n)
{
  uint32_t id = name_map_get(&t->by_piece, byte, n);
  return id == 0 || rank[id - 1] == TIKTOKEN_NO_RANK ? 0 : id;
}
  /*- the id plus 1 of a piece that merges, or 0 */
@#
/*- Every cut of every piece: whichever two parts meet in a text, their pair must be found. */
bool tiktoken_pairs_from_ranks(struct memory *m, struct tokenizer *t,
  const uint32_t *rank, struct error *why)
{
  for (uint32_t id = 0; id < t->n_vocab; id++) {
    struct span s = t->vocab[id].piece;
    const unsigned char *byte = t->string_pool.byte + s.at;
    for (size_t k = 1; k < s.n && rank[id] != TIKTOKEN_NO_RANK; k++) {
      uint32_t left = ranked(t, rank, byte, k),
        right = left == 0 ? 0 : ranked(t, rank, byte + k, s.n - k);
      if (right != 0 && !bpe_add_ranked(m, &t->rules,
        (struct bpe_rule) @[{ left - 1,@| right - 1, id, rank[id] }@],
        why)) return false;
    }
  }
  return true;
}

@ If a file held the same word twice, the table would find only one of its two ids; the other could be decoded but never encoded. So duplicates are refused, in both kinds of files.

@<Make pairs of pieces@>=
static bool all_different(const struct tokenizer *t, const char *file,
  const char *what, struct error *why)
{
  for (uint32_t id = 0; id < t->n_vocab; id++) {
    struct span s = t->vocab[id].piece;
    char field[40];
    uint32_t last = s.n == 0 ? id + 1 : name_map_get(&t->by_piece,
      t->string_pool.byte + s.at, s.n);
    if (last == id + 1) continue;
    snprintf(field, sizeof field, "%s %u", what, last - 1);
    return error_found(why, file, field, "a word for the second time",
      "words that are all different");
  }
  return true;
}
  /*- A word that stands there twice could be decoded by both ids, and encoded by one. */

@* Rank files. \label{sec:ranks}
A rank file has a line for each token: its bytes, encoded in base64, a blank, and its rank, which is also its id. Base64 writes three bytes as four letters of an alphabet of 64, and pads the last group of four with equal signs.
The value of a letter is its place in the alphabet. Each letter adds six bits; as soon as eight have collected, a byte is complete.
@^base64@>

@<Read a word in base64@>=
static bool from_base64(struct memory *m, const unsigned char *c,
  size_t n, struct bytes *out, struct error *why, bool *good)
{
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"@|
    "abcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned value = 0, bits = 0;
  *good = n % 4 == 0 && n > 0;
  /*- at most two equal signs */
  while (*good && n > 0 && c[n - 1] == '=' && bits++ < 2) n--;
  bits = 0;
  for (size_t i = 0; i < n && *good; i++) {
    const char *at = memchr(alphabet, c[i], 64);
    *good = at != NULL;
    if (!*good) break;
    value = value << 6 | (unsigned) (at - alphabet), bits += 6;
    if (bits < 8) continue;
    unsigned char byte = (unsigned char) (value >> (bits -= 8));
    if (!bytes_push(m, out, &byte, 1, why)) return false;
  }
  return true;
}

@ A rank file does not say how texts are cut, or which special tokens belong to it. OpenAI keeps both in the source of tiktoken. There are four such files, and the number of
lines tells which is which; for any other file we do not know how to cut the text, and it is refused. The third pattern differs from Llama~3's in how it treats white space at the end of a text, and is written so that PCRE2 need not backtrack;
the fourth distinguishes capital letters, so that \texttt{camelCase} is cut where a person would cut it.

@<What goes with a rank file@>=
static const char cut_cl100k[] = "'(?i:[sdmt]|ll|ve|re)|"@|
  "[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|"@| "\\p{N}{1,3}+|"@|
  " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|"@|
  "\\s++$|\\s*[\\r\\n]|"@| "\\s+(?!\\S)|\\s";
static const char cut_o200k[] = "[^\\r\\n\\p{L}\\p{N}]?"@|
  "[\\p{Lu}\\p{Lt}\\p{Lm}"@| "\\p{Lo}\\p{M}]*"@|
  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"@|
  "(?i:'s|'t|'re|'ve|'m|"@| "'ll|'d)?|"@|
  "[^\\r\\n\\p{L}\\p{N}]?"@| "[\\p{Lu}\\p{Lt}\\p{Lm}"@|
  "\\p{Lo}\\p{M}]+"@| "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"@|
  "(?i:'s|'t|'re|'ve|'m|"@| "'ll|'d)?|"@| "\\p{N}{1,3}|"@|
  " ?[^\\s\\p{L}\\p{N}]+"@| "[\\r\\n/]*|\\s*[\\r\\n]+|"@|
  "\\s+(?!\\S)|\\s+";

@ The table of the four files: number of lines, pattern, and special tokens with their ids. These do not always follow directly on the last rank.

@<What goes with a rank file@>=
static const struct rank_family { size_t lines; const char *pattern;
  struct { const char *text; uint32_t id; } special[6]; }
  families[] = @[{@|
  { 50256, split_gpt2, { { "<|endoftext|>", 50256 } } },@|
  { 50280, split_gpt2, { { "<|endoftext|>", 50256 } } },@|
  { 100256, cut_cl100k, { { "<|endoftext|>", 100257 },@|
    { "<|fim_prefix|>", 100258 }, { "<|fim_middle|>", 100259 },@|
    { "<|fim_suffix|>", 100260 }, { "<|endofprompt|>", 100276 } } },@|
  { 199998, cut_o200k, { { "<|endoftext|>", 199999 },@|
    { "<|endofprompt|>", 200018 } } } }@];

@ A line is read from left to right: the word up to the blank, then the number. The id must be free, and smaller than |max|. That is our limit for any vocabulary, or the number of bytes in the file if this is less: since each line takes more than one byte, no id need be as large as that, as in \cref{tokenizer-json}.

@<Read a line of a rank file@>=
static bool read_rank_line(struct memory *m, struct tokenizer *t,
  const unsigned char *c, size_t n, size_t max, struct bytes *row,
  struct error *why, const char **wrong)
{
  const unsigned char *blank = memchr(c, ' ', n);
  size_t id = 0, i = blank == NULL ? n : (size_t) (blank - c) + 1;
  bool good;
  row->n = 0, *wrong = "a word in base64, a blank and a number";
  if (blank == NULL || i == n) return true;
  for (; i < n && c[i] >= '0' && c[i] <= '9' && id < max; i++)
    id = 10 * id + (size_t) (c[i] - '0');
  if (!from_base64(m, c, (size_t) (blank - c), row, why, &good))
    return false;
  if (!good || i < n || id >= max) return true;
  struct vocab_entry *k = tokenizer_vocab_at(m, t, (uint32_t) id, why);
  if (k == NULL) return false;
  *wrong = "a rank that no other word has";
  if (k->piece.n > 0) return true;
  *wrong = NULL;
  return tokenizer_intern(m, t, row->byte, row->n, &k->piece, why)
    && (k->text = k->piece, true);
}
  /*- *wrong: what the line should have been, or null. A line takes more than a byte, so no id need
    be as large as the file; a small file cannot make the table large. */

@ We go through the lines once; a complaint names the number of its line. Lines may end as on Windows, and the last newline may be missing. One buffer, |row|, is
used for the bytes of all words and keeps its memory from line to line.

@<Read the lines of a rank file@>=
static bool read_rank_lines(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  size_t *lines, struct error *why)
{
  struct bytes row = @[{ NULL, 0, 0 }@];
  bool ok = true;
  *lines = 0;
  for (size_t at = 0; ok && at < n;) {
    const unsigned char *stop = memchr(byte + at, '\n', n - at);
    size_t length = stop == NULL ? n - at
      : (size_t) (stop - byte) - at, used = length;
    const char *wrong = NULL;
    char field[40];
    if (used > 0 && byte[at + used - 1] == '\r') used--;
    snprintf(field, sizeof field, "line %zu", ++*lines);
    ok = read_rank_line(m, t, byte + at, used, n < TOKENIZER_MAX_ID ? n
      : TOKENIZER_MAX_ID,
      &row, why, &wrong)
      && (wrong == NULL || error_found(why, file, field,
      "something else", wrong));
    at += length + 1;
  }
  bytes_free(m, &row);
  return ok;
}

@ The number of lines identifies the family. A file that has lost or gained a line belongs to none. It is better to say so than to cut texts with the wrong pattern.

@<Read a rank file@>=
static const struct rank_family *family_of(const char *file,
  size_t lines, struct error *why)
{
  char found[40];
  for (size_t i = 0; i < 4; i++)
    if (families[i].lines == lines) return &families[i];
  snprintf(found, sizeof found, "%zu lines", lines);
  error_found(why, file, "this", found,
    "50256, 50280, 100256 or 199998 ranks");
  return NULL;
}
  /*- The file does not say how texts are cut; its number of lines does. It is better to refuse
    than to cut with the wrong pattern. */

@ Then the rest is added: pairs, pattern, special tokens. A piece that is a token as a whole becomes that token, even if the merges would
have led elsewhere; tiktoken looks this up first, too.

@<Read a rank file@>=
bool tiktoken_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  struct error *why)
{
  size_t lines;
  /*- A piece that is a token as a whole becomes that token, wherever merges would lead. */
  t->kind = "tiktoken ranks", t->ignore_merges = true;
  if (!read_rank_lines(m, t, file, byte, n, &lines, why))
    return false;
  const struct rank_family *f = family_of(file, lines, why);
  if (f == NULL) return false;
  if (!tokenizer_index_vocab(m, t, why)
    || !all_different(t, file, "rank", why)
    || !pairs_by_id(m, t, why)
    || !tokenizer_add_split(m, t, f->pattern, strlen(f->pattern), why))
    return false;
  for (size_t i = 0; i < 6 && f->special[i].text != NULL; i++)
    if (!add_special_text(m, t, file, f->special[i].text,
      f->special[i].id, why)) return false;
  return tokenizer_index_added(m, t, why);
}

@ Here the rank of an id is the id itself, and an id that has no line takes part in no merge. The table of ranks is needed only while the pairs are made.

@<Make a rank of every id@>=
static bool pairs_by_id(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  size_t n = t->n_vocab;
  uint32_t *rank = memory_alloc(m, MEMORY_TOKENS, n, sizeof *rank, why);
  if (rank == NULL) return false;
  for (uint32_t id = 0; id < n; id++)
    rank[id] = t->vocab[id].piece.n > 0 ? id : TIKTOKEN_NO_RANK;
  bool ok = tiktoken_pairs_from_ranks(m, t, rank, why);
  memory_free(m, rank);
  return ok;
}

@ The id of a special token must not be one that a line has. In OpenAI's own files the two never collide; in another file, with the same number of lines but other ids, they might.

@<Make a rank of every id@>=
static bool add_special_text(struct memory *m, struct tokenizer *t,
  const char *file, const char *text, uint32_t id, struct error *why)
{
  struct added_token x = @[{ .id = id, .special = true }@];
  char field[40];
  snprintf(field, sizeof field, "rank %u", (unsigned) id);
  if (id < t->n_vocab && t->vocab[id].piece.n > 0)
    return error_found(why, file, field, "a word's", text);
  return tokenizer_intern(m, t, text, strlen(text), &x.text, why)
    && tokenizer_add_token(m, t, &x, why);
}
  /*- In another file, with as many lines and other ids, a line may have the special token's id. */

@* Protocol buffers. \label{sec:protobuf}
SentencePiece writes its model as a \emph{protocol buffer}, a format for structures that can gain fields without breaking old readers. A message is a sequence of fields. Each begins with a number that
tells which field it is and, in its lowest three bits, how its value is written: 0 for a number of variable length (a \emph{varint}), 1 and 5 for eight and four bytes, 2 for a length and that many bytes, which may themselves be a message.
A varint holds seven bits in each byte, the lowest first; a byte whose upper bit is set is followed by another.
@^protocol buffers@>

@<Read a message@>=
struct wire { const unsigned char *at; size_t n; };
  /* |n| bytes from |at| on; |n| may be 0 */
struct wire_field { uint64_t name, number; unsigned form;
  struct wire inside; };
  /* |number| for the forms 0 and 5, |inside| for 2 */
/*- Seven bits a byte, the lowest first; a tenth byte is the last that can matter. */
static bool read_number(struct wire *w, uint64_t *number)
{
  *number = 0;
  for (unsigned shift = 0; w->n > 0 && shift < 64; shift += 7) {
    unsigned char byte = *w->at++;
    w->n--;
    *number |= (uint64_t) (byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

@ Every length is compared with the number of bytes left before we read on. A field takes at least one byte, so the reader terminates on any input.

@<Read a message@>=
static bool read_field(struct wire *w, struct wire_field *f)
{
  uint64_t n;
  if (!read_number(w, &f->name)) return false;
  f->form = (unsigned) (f->name & 7);
  f->name >>= 3;
  f->number = 0;
  f->inside = (struct wire) @[{ w->at, 0 }@];
  if (f->form == 0) return read_number(w, &f->number);
  /*- no other forms exist: 3 and 4 are groups, long out of use */
  if (f->form == 1 || f->form == 5) n = f->form == 1 ? 8 : 4;
  else if (f->form != 2 || !read_number(w, &n)) return false;
  if (n > w->n) return false;
  f->inside = (struct wire) @[{ w->at, (size_t) n }@];
  w->at += n, w->n -= (size_t) n;
  if (f->form == 5) for (int i = 3; i >= 0; i--)
    f->number = f->number << 8 | f->inside.at[i];
  return true;
}
  /*- A field takes at least a byte, so reading ends on any input. */

@* Scores. \label{sec:sentencepiece}
Four fields of the message concern us: the pieces, one after another (1); how they were learnt (2); the normalizer, which prepares a text before it is encoded (3); and the denormalizer, which would change a decoded text (5) and must be empty. Inside these, we take the fields that could change an id. The
value of an absent field is given in the description of the format, not in the file.
@^score, of SentencePiece@>

@<What a model of SentencePiece says@>=
enum piece_type { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED,
  BYTE };
struct piece_spec { uint64_t model, unknown, begin, end, bytes, suffix,
  put, thin, escape; struct wire name, charsmap, back; };
  /* the fields of the training and the normalizer */

@ A table gives, for each of the two inner messages, the number of each field and where we store it. If a field occurs twice, the last value counts, as the format demands; a field that
should be a number and is not makes the file invalid.

@<What a model of SentencePiece says@>=
static bool take_field(struct piece_spec *s, bool training,
  const struct wire_field *f)
{
  static const struct { bool training; uint64_t name; size_t at; }
    list[] = @[{ { true, 3, offsetof(struct piece_spec, model) },@|
    { true, 40, offsetof(struct piece_spec, unknown) },@|
    { true, 41, offsetof(struct piece_spec, begin) },@|
    { true, 42, offsetof(struct piece_spec, end) },@|
    { true, 35, offsetof(struct piece_spec, bytes) },@|
    { true, 24, offsetof(struct piece_spec, suffix) },@|
    { false, 3, offsetof(struct piece_spec, put) },@|
    { false, 4, offsetof(struct piece_spec, thin) },@|
    { false, 5, offsetof(struct piece_spec, escape) } }@];
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i].training == training && list[i].name == f->name) {
      if (f->form != 0) return false;
      memcpy((char *) s + list[i].at, &f->number, sizeof f->number);
    }
  return true;
}
  /*- Where each number belongs. The last of several counts, as the format demands. */

@ The normalizer has two more fields, its name and a map that replaces characters by others. We do not implement such maps; the empty one, called \texttt{identity}, needs no work.

@<What a model of SentencePiece says@>=
static bool read_spec(struct piece_spec *s, bool training, struct wire w)
{
  while (w.n > 0) {
    struct wire_field f;
    if (!read_field(&w, &f) || !take_field(s, training, &f))
      return false;
    if (training || f.name > 2) continue;
    if (f.form != 2) return false;
    if (f.name == 1) s->name = f.inside;
    else s->charsmap = f.inside;
  }
  return true;
}

@ A piece has letters, a score and a type. The score is a float of four bytes. A piece must have letters, and they must be whole characters in UTF-8. The score must not be NaN, which cannot be sorted; NaN is the one float that does not equal itself, so a comparison of the score with itself finds it.

@<Read one piece@>=
struct one_piece { struct wire words; float score; uint64_t type; };
static bool read_piece(struct wire w, struct one_piece *p)
{
  bool whole;
  *p = (struct one_piece) @[{ { NULL, 0 }, 0, NORMAL }@];
  while (w.n > 0) {
    struct wire_field f;
    if (!read_field(&w, &f)) return false;
    if (f.name == 1 && f.form == 2) p->words = f.inside;
    else if (f.name == 3 && f.form == 0) p->type = f.number;
    else if (f.name == 2 && f.form == 5) {
      uint32_t bits = (uint32_t) f.number;
      memcpy(&p->score, &bits, sizeof bits);
    } else if (f.name <= 3) return false;
  }
  /*- a score that is not itself is NaN, and cannot be sorted */
  return p->words.n > 0 && p->score == p->score
    && utf8_run(p->words.at, p->words.n, &whole) == p->words.n
    && whole;
}

@ We read pieces of five types. \emph{Normal} ones merge. \emph{Control} pieces and the \emph{unknown} one are made by no merge; they become special tokens, which are recognized only on request. \emph{User-defined} pieces are frozen: they
are taken out of the text before anything merges. \emph{Byte} pieces spell characters that have no piece, and are recognized by their names. A sixth type, number 5, is for unused pieces: SentencePiece merges them and then takes them apart again. It is refused.

@<Enter one piece@>=
static bool enter_piece(struct memory *m, struct tokenizer *t,
  const struct one_piece *p, uint32_t id, struct error *why)
{
  struct vocab_entry *k = tokenizer_vocab_at(m, t, id, why);
  if (k == NULL) return false;
  k->special = p->type == CONTROL || p->type == UNKNOWN;
  if (!tokenizer_intern(m, t, p->words.at, p->words.n, &k->piece, why))
    return false;
  k->text = k->piece;
  return true;
}
  /*- Control pieces and the unknown one are made by no merge; they are special. */

@ The pieces come in the file in the order of their ids, and we count them as we read. Each takes some bytes of the file, so a small file cannot make us allocate much memory.

@<A list of pieces@>=
struct scored { float score; uint32_t id, type; };
struct piece_list { struct scored *piece; size_t n, cap; };
static bool list_piece(struct memory *m, struct piece_list *l,
  const struct one_piece *p, struct error *why)
{
  struct scored *s = memory_reserve(m, MEMORY_TOKENS, l->piece, &l->cap, l->n + 1, 256,
    sizeof *s, why);
  if (s == NULL) return false;
  l->piece = s;
  l->piece[l->n] = (struct scored) @[{ p->score, (uint32_t) l->n,@|
    (uint32_t) p->type }@];
  l->n++;
  return true;
}

@ A reader needs the tokenizer, the file's name for messages, and what has been read so far. A complaint names a piece by its number, which is its id,
since its letters may be what is wrong.

@<Read the whole message@>=
struct piece_model { struct memory *m; struct tokenizer *t;
  const char *file;
  struct piece_list list; struct piece_spec spec; bool cut_first;
  struct error *why; };
static bool read_next_piece(struct piece_model *x, struct wire w)
{
  struct one_piece p;
  char field[40];
  snprintf(field, sizeof field, "piece %zu", x->list.n);
  if (!read_piece(w, &p)) return error_found(x->why, x->file, field,
    "something else", "letters in UTF-8, a score and a type");
  if (p.type == UNUSED || p.type < NORMAL || p.type > BYTE)
    return error_found(x->why, x->file, field, p.type == UNUSED
    ? "a piece that is not used" : "an unknown type",
    "a type from 1 to 4, or 6");
  if (x->list.n == TOKENIZER_MAX_ID) return error_found(x->why, x->file, field,
    "one more", "at most 4194304 pieces");
  return enter_piece(x->m, x->t, &p, (uint32_t) x->list.n, x->why)
    && list_piece(x->m, &x->list, &p, x->why);
}

@ We go through the message once. Unknown fields, such as SentencePiece's samples for a self-test, are skipped, as the format intends. The denormalizer (5) would change the decoded text; its map must be
empty like that of the normalizer.

@<Read the whole message@>=
static bool read_message(struct piece_model *x, struct wire w)
{
  size_t size = w.n;
  while (w.n > 0) {
    struct wire_field f;
    char place[60];
    snprintf(place, sizeof place, "byte %zu of %zu", size - w.n,
      size);
    bool good = read_field(&w, &f) && (f.form == 2 || f.name > 5);
    if (good && f.name == 1) {
      /*- has its own message */
      if (!read_next_piece(x, f.inside)) return false;
    } else if (good && (f.name == 2 || f.name == 3))
      good = read_spec(&x->spec, f.name == 2, f.inside);
    else if (good && f.name == 5) {
      struct piece_spec back = @[{ .model = 0 }@];
      good = read_spec(&back, false, f.inside);
      x->spec.back = back.charsmap;
    }
    if (!good) return error_found(x->why, x->file, place,
      "no field", "a field of a SentencePiece model");
  }
  return true;
}
  /*- Once, from front to back; what we do not know is skipped, as the format intends. */

@ Now we check what has been read. SentencePiece has three other training methods, of which \emph{Unigram} is the common one: it compares all ways of cutting a text, and has no merges. Such a file is valid; we only do not
read it here. A model that treats the blank as the end of a word cuts texts in another way, and is refused. So is a model whose \texttt{unk\_id} is not the unknown piece, which would give us two unknown tokens.

@<Judge what was read@>=
static bool judge(struct piece_model *x, bool *ours)
{
  static const char *const learner[] = @[{ "a number from 1 to 4",@|
    "Unigram", "BPE", "words", "characters" }@];
  const struct piece_spec *s = &x->spec;
  *ours = s->model == 2;
  if (!*ours) return error_found(x->why, x->file,
    "trainer_spec.model_type",
    s->model <= 4 && s->model > 0 ? learner[s->model]
    : "another number", "BPE (another kind of tokenizer)");
  if (s->suffix != 0) return error_found(x->why, x->file,
    "trainer_spec."@| "treat_whitespace_as_suffix", "true", "false");
  if (s->unknown >= x->list.n
    || x->list.piece[s->unknown].type != UNKNOWN)
    return error_found(x->why, x->file, "trainer_spec.unk_id",
    "another piece", "the id of the unknown piece");
  return rules_are_none(x);
}
  /*- *ours is false for a valid file of another kind, Unigram for example. */

@ The rules of a normalizer are a map from strings to strings, with a name such as \texttt{nmt\_nfkc}. With that one \texttt{\textonehalf} would become three characters before anything is looked
up. The name is in the file, and our complaint quotes it, or the beginning of a long one.

@<Judge the rules for letters@>=
static bool rules_are_none(struct piece_model *x)
{
  const struct piece_spec *s = &x->spec;
  char name[80];
  snprintf(name, sizeof name, "the rules %.*s",
    s->name.n < 40 ? (int) s->name.n : 40,
    s->name.n > 0 ? (const char *) s->name.at : "");
  if (s->charsmap.n > 0) return error_found(x->why,
    x->file, "normalizer_spec."@| "precompiled_charsmap", name,
    "none (identity)");
  if (s->back.n > 0) return error_found(x->why, x->file,
    "denormalizer_spec."@| "precompiled_charsmap", "some rules",
    "none");
  return true;
}
  /*- A map would change characters before anything is looked up; only the empty one, identity, is
    read. */

@ Scores become ranks by sorting: the highest score gets rank 0, and equal scores get equal ranks. Sorting destroys the order of the list, but each entry knows its id and type.

@<Make ranks of scores@>=
static int by_score(const void *a, const void *b)
{
  const struct scored *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}
  /*- by id where scores are equal, so that qsort, which is not stable, has one answer */
@#
static bool rank_scores(struct piece_model *x)
{
  size_t n = x->list.n;
  struct scored *p = x->list.piece;
  uint32_t *rank = memory_alloc(x->m, MEMORY_TOKENS, n, sizeof *rank,
    x->why), next = 0;
  if (rank == NULL) return false;
  qsort(p, n, sizeof *p, by_score);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && p[i].score != p[i - 1].score) next++;
    /*- only normal pieces merge */
    rank[p[i].id] = p[i].type == NORMAL ? next : TIKTOKEN_NO_RANK;
  }
  bool ok = letters_are_pieces(x, rank)
    && tiktoken_pairs_from_ranks(x->m, x->t, rank, x->why);
  memory_free(x->m, rank);
  return ok;
}

@ Pairs are enough only on one assumption: whenever two parts of a text merge into a piece, both parts are pieces themselves. For parts of several letters this holds, since they came from merges; for single letters it
is a property of the file. SentencePiece gives every letter that it uses a piece of its own. We check it.

@<Tell whether all letters are pieces@>=
static bool letters_are_pieces(struct piece_model *x, const uint32_t *rank)
{
  enum utf8_state state;
  for (uint32_t id = 0; id < x->t->n_vocab; id++) {
    struct span s = x->t->vocab[id].piece;
    const unsigned char *c = x->t->string_pool.byte + s.at;
    char field[40];
    if (rank[id] == TIKTOKEN_NO_RANK) continue;
    for (size_t k = 0, n; k < s.n; k += n) {
      n = utf8_next(c + k, s.n - k, &state);
      if (ranked(x->t, rank, c + k, n) != 0) continue;
      snprintf(field, sizeof field, "piece %u", (unsigned) id);
      return error_found(x->why, x->file, field,
        "a letter that is no piece", "letters that are pieces");
    }
  }
  return true;
}
  /*- For parts of several letters it follows from how the file was learnt, for single ones it is a
    property of the file. */

@ The normalizer becomes up to three steps: remove extra blanks, put one blank before the text, and write the block U+2581 for each blank, which makes blanks visible in a list of pieces. Decoding turns blocks back into blanks. It drops the first blank if one was put there or if extra blanks are removed, as SentencePiece does.

@<Set up what is done with a text@>=
static bool set_up(struct piece_model *x)
{
  struct tokenizer *t = x->t;
  const struct piece_spec *s = &x->spec;
  static const char block[] = "\xe2\x96\x81";
  struct text_step thin = @[{ .what = STEP_STRIP }@], put = @[{ .what = STEP_PREPEND }@],
    replace = @[{ .what = STEP_REPLACE }@];
  /*- as SentencePiece does it: also if blanks are only thinned */
  t->strip_prefix_space = s->put != 0 || s->thin != 0;
  if (s->thin != 0 && !tokenizer_add_string(x->m, t, thin, block,
    s->escape != 0 ? 3 : 0, NULL, 0, false, x->why)) return false;
  if (s->put != 0 && !tokenizer_add_string(x->m, t, put, " ", 1, NULL, 0, false,
    x->why)) return false;
  if (s->escape != 0 && (!tokenizer_texts_replace(x->m, t, block, 3, " ", 1,
      x->why) || !tokenizer_add_string(x->m, t, replace, block, 3, " ", 1, true,
      x->why))) return false;
  t->n_normalizers = t->n_steps;
  return tokenizer_texts_as_bytes(x->m, t, x->why);
}
  /*- In this order a text goes through them: thin out blanks, put one in front, write blocks for
    blanks. Decoding turns blocks back. */

@ Last come the pieces that are found before anything merges. SentencePiece itself never looks for control pieces in a text; here a caller that asks for special tokens gets them, as in the other families. SentencePiece finds a user-defined
piece with a blank in it before it removes extra blanks; our steps come in the opposite order, so a file that wants both is refused.

@<Set up what is done with a text@>=
static bool has_blank(const struct tokenizer *t, const struct span *s)
{
  const unsigned char *c = t->string_pool.byte + s->at;
  for (size_t i = 0; i < s->n; i++)
    if (c[i] == ' ' || (s->n - i >= 3
      && memcmp(c + i, "\xe2\x96\x81", 3) == 0)) return true;
  return false;
}
  /*- SentencePiece finds such a piece before it thins out blanks, and we after: a file with both
    is refused. */
@#
static bool add_special_pieces(struct piece_model *x)
{
  for (size_t i = 0; i < x->list.n; i++) {
    const struct scored *p = &x->list.piece[i];
    struct added_token a = @[{ .id = p->id,@|
      .text = x->t->vocab[p->id].piece,@|
      .special = p->type == CONTROL || p->type == UNKNOWN,@|
      .frozen = p->type == USER_DEFINED && !x->cut_first }@];
    if (a.frozen && x->spec.thin != 0 && has_blank(x->t, &a.text))
      return error_found(x->why, x->file,
        "normalizer_spec."@| "remove_extra_whitespaces", "true, and "@|
        "a user-defined piece with a blank", "one of the two");
    if ((a.special || p->type == USER_DEFINED) && !tokenizer_add_token(x->m, x->t, &a,
      x->why)) return false;
  }
  return tokenizer_index_added(x->m, x->t, x->why);
}

@ The whole is a sequence of steps, and each needs the one before: pieces can be looked up only when they are indexed, making pairs from ranks looks pieces up, and whether words may be encoded separately depends on all
pieces.

@<Read a model of SentencePiece@>=
static bool finish_tokenizer(struct piece_model *x)
{
  struct tokenizer *t = x->t;
  t->kind = "SentencePiece BPE", t->char_level = true;
  t->byte_fallback = x->spec.bytes != 0;
  t->unknown = (uint32_t) x->spec.unknown + 1,
    t->fuse_unk = true;
  if (!tokenizer_index_vocab(x->m, t, x->why)
    || !all_different(t, x->file, "piece", x->why)
    || !rank_scores(x)) return false;
  /*- Each step needs the one before: pairs look pieces up, and the splits depend on all pieces. */
  tokenizer_find_splits(t);
  return set_up(x) && add_special_pieces(x);
}
static bool make_tokenizer(struct piece_model *x, struct wire w, bool *ours)
{
  return read_message(x, w) && judge(x, ours) && finish_tokenizer(x);
}

@ Absent fields have the values that the format gives them: Unigram, the ids 0, 1 and 2, and a normalizer that removes extra blanks, puts one before the text, and writes blocks. A vocabulary without
a beginning token says so by an id that no piece has, usually $-1$, which as an unsigned number is very large.

@<Read a model of SentencePiece@>=
bool sentencepiece_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  uint32_t *begin, uint32_t *end, bool *ours, struct error *why)
{
  struct piece_model x = @[{ .m = m, .t = t, .file = file,@|
    .spec = { .model = 1, .begin = 1, .end = 2, .put = 1, .thin = 1,@|
    .escape = 1 }, .why = why }@];
  *ours = true;
  bool ok = make_tokenizer(&x, (struct wire) @[{ byte, n }@],
    ours);
  /*- none is an id that no piece has, -1 mostly, which is very large here */
  *begin = ok && x.spec.begin < x.list.n
    ? (uint32_t) x.spec.begin + 1 : 0;
  *end = ok && x.spec.end < x.list.n ? (uint32_t) x.spec.end + 1 : 0;
  memory_free(m, x.list.piece);
  return ok;
}

@ The same pieces also come in files of another format, GGUF (\cref{gguf}), where they are three arrays. Its reader hands them over one by one, and the rest is as above, with two differences that follow the program for which those files are made. Unused pieces occur, as padding: they have an id and a text, and are never found.
User-defined pieces are cut out of the text before a blank is put before it, like special ones, and not frozen.

@<Read a model of SentencePiece@>=
static bool take_piece(struct piece_model *x, sentencepiece_piece_at *at,
  void *ctx, size_t i)
{
  struct sentencepiece_piece from;
  char field[40];
  bool whole = false;
  snprintf(field, sizeof field, "piece %zu", i);
  if (!at(ctx, i, &from)) return error_found(x->why, x->file, field,
    "changed while it was read", "a file that stays as it is");
  struct one_piece p = @[{ { (const unsigned char *) from.text, from.n },@|
    from.score, from.type }@];
  if (from.n == 0 || from.score != from.score
    || utf8_run(p.words.at, from.n, &whole) != from.n || !whole)
    return error_found(x->why, x->file, field, "something else",
      "letters in UTF-8 and a score");
  if (p.type < NORMAL || p.type > BYTE) return error_found(x->why, x->file,
    field, "one of an unknown type", "a type from 1 to 6");
  if (!enter_piece(x->m, x->t, &p, (uint32_t) i, x->why)) return false;
  /*- padding: it has an id and a text, and is never found */
  if (p.type == UNUSED) x->t->vocab[i].piece.n = 0;
  if (p.type == BYTE) x->spec.bytes = 1;
  return list_piece(x->m, &x->list, &p, x->why);
}

@ The unknown piece is given as its id plus 1, or 0. In the structure of the other reader it is the id itself, and an id that no piece has says that there is none.

@<Read a model of SentencePiece@>=
bool sentencepiece_make(struct memory *m, struct tokenizer *t,
  const char *file, size_t n, sentencepiece_piece_at *at, void *ctx,
  bool prefix, uint32_t unknown, struct error *why)
{
  struct piece_model x = @[{ .m = m, .t = t, .file = file,@|
    .spec = { .put = prefix, .escape = 1 }, .cut_first = true, .why = why }@];
  bool ok = n <= TOKENIZER_MAX_ID || error_found(why, file, "the vocabulary",
    "larger", "at most 4194304 pieces");
  /*- from an id plus 1 to an id; 0 becomes one that no piece has */
  x.spec.unknown = (uint64_t) unknown - 1;
  for (size_t i = 0; ok && i < n; i++) ok = take_piece(&x, at, ctx, i);
  ok = ok && finish_tokenizer(&x);
  memory_free(m, x.list.piece);
  return ok;
}

@ The header is included by the reader of files and by this chapter's program.

@(sentencepiece.h@>=
#ifndef INCIPIT_SENTENCEPIECE_H
#define INCIPIT_SENTENCEPIECE_H
#include "tokenizer/tokenizer_internal.h"
@<Readers of scores and ranks@>@;
#endif

@ Both readers share the functions that make pairs of pieces.

@(sentencepiece.c@>=
@;
/** Vocabularies that come as ranks or scores instead of merges: tiktoken's files, and
  SentencePiece's. Both become pairs with ranks: a piece that can be cut into two others gives one
  pair for each such cut, all with the piece's rank. That is enough only if every part of a piece
  is a piece, which is checked. Highest score is rank 0, equal scores are equal ranks. A message of
  SentencePiece is read once, and every length is compared with what is left before we follow it.
  What would change an id and is not done here (maps of characters, unused pieces, Unigram) is
  refused, not passed over. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sentencepiece/sentencepiece.h"
@<Make pairs of pieces@>@;
@<Read a word in base64@>@;
@<What goes with a rank file@>@;
@<Read a line of a rank file@>@;
@<Read the lines of a rank file@>@;
@<Make a rank of every id@>@;
@<Read a rank file@>@;
@<Read a message@>@;
@<What a model of SentencePiece says@>@;
@<Read one piece@>@;
@<Enter one piece@>@;
@<A list of pieces@>@;
@<Read the whole message@>@;
@<Judge the rules for letters@>@;
@<Judge what was read@>@;
@<Tell whether all letters are pieces@>@;
@<Make ranks of scores@>@;
@<Set up what is done with a text@>@;
@<Read a model of SentencePiece@>@;

@* The check. \label{sec:scorescheck}
The letters come first, as in every vocabulary; then the three words, in the order of their ranks.

@<The words of the hand calculation@>=
static const char *const word[] = @[{ "a", "b", "ab", "ba", "aba" }@];
enum { WORDS = 5 };

@ With ranks, the place in the list is the rank, as in a rank file. The vocabulary begins with single bytes; this one has two.

@<Tokens with ranks@>=
static bool with_ranks(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  uint32_t rank[WORDS];
  for (uint32_t i = 0; i < WORDS; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(m, t, i, why);
    if (k == NULL || !tokenizer_intern(m, t, word[i], strlen(word[i]),
      &k->piece, why)) return false;
    k->text = k->piece, rank[i] = i;
  }
  return tokenizer_index_vocab(m, t, why) && tiktoken_pairs_from_ranks(m, t, rank, why)
    && tokenizer_index_added(m, t, why);
}

@ With scores, the words go into a message. It is small enough that every length fits in one byte: a piece is its letters, a score of four bytes, and a type. The scores fall from 0 in steps of one; every machine of this book stores a float with its
lowest byte first, as the format does.

@<Tokens with scores@>=
static size_t write_piece(unsigned char *out, const char *words,
  float score, unsigned char type)
{
  size_t n = strlen(words);
  unsigned char *at = out;
  *at++ = 10, *at++ = (unsigned char) (n + 9);
  *at++ = 10, *at++ = (unsigned char) n;
  memcpy(at, words, n), at += n;
  *at++ = 21;
  memcpy(at, &score, 4), at += 4;
  *at++ = 24, *at++ = type;
  return (size_t) (at - out);
}

@ The unknown piece is number 0, so the id of each word is its place in the list plus one. The training is BPE, and the whole normalizer is switched off: extra blanks stay, no blank is put before the text, and no blocks are written.

@<Tokens with scores@>=
static bool with_scores(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  static const unsigned char rest[] = @[{ 18, 2, 24, 2, 26, 6, 24, 0,@|
    32, 0, 40, 0 }@];
  unsigned char message[200];
  uint32_t begin, end;
  bool ours;
  size_t n = write_piece(message, "<unk>", 0, 2);
  for (int i = 0; i < WORDS; i++) n += write_piece(message + n,
    word[i], (float) -i, 1);
  memcpy(message + n, rest, sizeof rest);
  return sentencepiece_read(m, t, "the message", message,
    n + sizeof rest, &begin, &end, &ours, why);
}

@ One function encodes a text and prints the pieces. Since the second vocabulary begins with the unknown piece, its ids are one larger; |less| takes this off.

@<Spell with both@>=
static bool show(struct memory *m, struct tokenizer *t,
  const char *text, uint32_t less, struct error *why)
{
  struct ids list = @[{ NULL, 0, 0 }@];
  bool ok = tokenizer_encode(t, m, text, strlen(text), false, false,
    &list, why);
  printf("  %s:", text);
  for (size_t i = 0; i < list.n; i++)
    printf(" %s", word[(list.id[i] - less) % WORDS]);
  printf("\n");
  ids_free(m, &list);
  return ok;
}

@ Both tokenizers encode both texts of the hand calculation. The number of pairs is printed as a key, because the hand calculation gives it as well.

@<Spell with both@>=
static bool spell_with_both(bool values)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct error why = @[{ "" }@];
  bool ok = true;
  for (int scores = 0; ok && scores < 2; scores++) {
    struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t,
      &why);
    ok = t != NULL && (scores ? with_scores(&m, t, &why)
      : with_ranks(&m, t, &why));
    if (ok && values) printf("scores.pairs.%s %zu\n",
      scores ? "scores" : "ranks", t->rules.n);
    if (ok && !values) {
      printf("%zu pairs from %s\n", t->rules.n, scores ? "scores"
        : "ranks");
      ok = show(&m, t, "abaa", (uint32_t) scores, &why)
        && show(&m, t, "baa", (uint32_t) scores, &why);
    }
    tokenizer_close(&m, t);
  }
  if (!ok) printf("%s\n", why.text);
  return ok && m.all.live == 0;
}

@ What the program prints:

\checkpoint{build/out/sentencepiece.txt}{the same spelling from ranks and from scores}

@* Exercises. \label{sec:scoresexercises}
You need paper for the first two and the reader of messages for the third.

\begin{exercises}
\exercise{check}{ex:scores.base64}{A line of GPT-2's rank file reads \texttt{IHRoZQ==}, and a number. Which token is it?}{\texttt{make exercise-W5-1}}{\texttt{IHRo} is 8, 7, 17, 40 in the alphabet, the 24 bits of the bytes 32, \given{116}, \given{104}; \texttt{ZQ==} is 25 and 16, of which eight bits are the byte \given{101}: \tok{\ the}.}
\exercise{think}{ex:scores.places}{A token of $n$ letters can be cut at $n-1$ places, but hardly ever gives $n-1$ merges. Give five tokens, the longest of four letters, such that every cut of each gives a merge.}{\texttt{make exercise-W5-2}}{Repeat one letter: \tok a, \tok{aa}, \tok{aaa}, \tok{aaaa} are four of them, and the fifth can be any other single letter. The cuts of the three longer ones give six merges.}
\exercise{check}{ex:scores.unused}{Let the reader of models accept an unused piece (type 5) as one that no merge makes, instead of refusing it.}{\texttt{make exercise-W5-3}}{In |read_next_piece| the refusal goes; since only normal pieces get a rank, nothing else is needed. SentencePiece does otherwise: it makes such a piece first and then takes it apart again.}
\end{exercises}
