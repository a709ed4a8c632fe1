@i types.w

\chapterquestion{Not every vocabulary is a list of merges. What do the others say instead, and does the same engine write with them?}
@** SentencePiece models and tiktoken files. \label{sec:scores}
\incipit{T}{hree families of files} say how a text becomes tokens. GPT-2's lists merges: which two tokens make a third, and in which order. OpenAI's later
files, and the program \emph{tiktoken} that reads them, list tokens only, each with a number, its rank. Google's \emph{SentencePiece}, by Taku Kudo and John Richardson \cited{Kudo 2018}, from which Llama~2 and Mistral have
their vocabularies, lists tokens with a score. Neither of the latter two says a word about merges; and yet all three mean the same kind of thing, and
one engine is enough.
@^tiktoken@>@^SentencePiece@>@^Kudo, Taku@>

The rule of the second family reads: of all neighbours in the piece that \emph{together spell a token}, join those whose token has the lowest rank, of several the leftmost; and
again, until no two neighbours spell one. The third says the same of the highest score. Now let $t$ be a token of $n$ letters. It can be cut in two at $n-1$ places. At some of
them both halves are tokens, $l$ and $r$. Whenever these stand side by side they spell $t$, and nothing else does. So the rule about tokens is a rule about pairs, in which the pair
$(l,r)$ makes $t$ with the rank of $t$; and if we write down all such pairs, we have a list of merges after all. Only one thing is new: several pairs may make the same token, and they must
have \emph{the same} rank. Between two of them it is not the list that decides but the place in the text.

\begin{byhand}{one token, two pairs}
The tokens are \tok a, \tok b, \tok{ab} with rank 0, \tok{ba} with rank 1 and \tok{aba} with rank 2; the single letters come before everything and have no rank that matters.
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

Spell \texttt{abaa}. The pair \tok a\,\tok b has rank 0: \texttt{ab a a}. Of what is left only \tok{ab}\,\tok a spells a token: \texttt{aba a}, two tokens. In \texttt{baa} the first pair that
exists is \tok b\,\tok a: \texttt{ba a}, and nothing more. The third pair of the table is never used here: wherever \tok a stands before \tok{ba}, there stood
\texttt{a b a}, and rank 0 has joined the \texttt b to the left. It costs a line in a table, and it is right to have it, since in another vocabulary it would be used.
\end{byhand}

@ What each of the three loses is another matter. A list of merges can have a token that no text ever becomes, because a merge with a lower rank always comes between; Llama~3's has some, and looks pieces up as a
whole first. A file of ranks does not say how texts are cut, nor which special tokens there are: whoever has only the file cannot use it. Scores were made by a learner that saw words
with their blanks, and a text without blanks in between (Chinese, say) is one long word to it. And SentencePiece begins with characters, not with bytes: what has no token falls apart into bytes that
\emph{no merge joins}, three tokens for a Chinese character that is missing, four for a face. GPT-2's merges know no characters, and have joined many of these bytes.

The program spells the two texts of the hand calculation, with tokens that have ranks, and with a model of SentencePiece in which the same tokens have scores. With |"values"| it prints the keys.

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
The two readers leave a tokenizer that knows all pieces, and for each id its rank; those that no merge can make, and that stand in no merge, have none. Then all pieces are cut at all places.

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
  /* the same from a model of SentencePiece; the ids that begin and end
     a text, plus 1, or 0; |*ours|: is it BPE? */

@ A half that is found must be one that merges can make: a piece with a rank. In a vocabulary of characters a cut inside a character finds nothing, since no piece is half a character. The
number of pairs is at most the number of letters, so the file's size bounds it.

@<Make pairs of pieces@>=
static uint32_t ranked(const struct tokenizer *t,
  const uint32_t *rank, const unsigned char *byte, size_t n)
{
  uint32_t id = name_map_get(&t->by_piece, byte, n);
  return id == 0 || rank[id - 1] == TIKTOKEN_NO_RANK ? 0 : id;
}
@#
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

@ A word that stands twice in a file would be found under one of its two ids only, and the other would decode and never encode. So it is refused, in both kinds of files.

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

@* Rank files. \label{sec:ranks}
A rank file has a line for each token: its bytes, in the spelling called base64, a blank, and its rank, which is also its id. Base64 writes three bytes as four letters of an alphabet of 64, and fills up the last four with equal signs.
The value of a letter is its place in the alphabet, and every letter adds six bits; whenever eight are there, a byte is complete.
@^base64@>

@<Read a word in base64@>=
static bool from_base64(struct memory *m, const unsigned char *c,
  size_t n, struct bytes *out, struct error *why, bool *good)
{
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"@|
    "abcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned value = 0, bits = 0;
  *good = n % 4 == 0 && n > 0;
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

@ What a rank file does not say is how its texts are cut, and which special tokens go with it. OpenAI keeps both in a program. There are four such files, and they can be told
by the number of their lines; of a fifth we should not know how to cut, and it is refused. The third pattern differs from Llama~3's in how it takes white space at the end of a text, and spares PCRE2 the going back;
the fourth knows capital letters, so that \texttt{camelCase} falls apart where a person would cut it.

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

@ The table of the four: lines, pattern, and special tokens with their ids, which are not always those that follow.

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

@ A line is read from left to right, the word up to the blank, and then the number. The id must be free, and smaller than |max|: no larger than any vocabulary's, and than the number of the file's bytes, as in \cref{tokenizer-json}, since a line takes more than one of them.

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

@ The lines are gone through once; what was wrong with one is said with its number. Lines may end as on Windows, and an empty one at the end is none. One row is
used for the bytes of all words and keeps its room from line to line.

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

@ The family is known by the number of lines. A file that was cut off, or that somebody has added a line to, is of no family; better to say so than to cut its texts by a pattern that was not theirs.

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

@ Then the rest is made: pattern, pairs, special tokens. A piece that is a token as a whole is that token, also if merges would
have led elsewhere; this is what tiktoken looks up first.

@<Read a rank file@>=
bool tiktoken_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  struct error *why)
{
  size_t lines;
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

@ Here the rank of an id is the id, and an id that no line has cannot be merged. The table of ranks is needed only while the pairs are made.

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

@ A special token's id must be one that no line has. The two cannot get into each other's way in OpenAI's own files; in somebody else's, with as many lines and other ids, they might.

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

@* Protocol buffers. \label{sec:protobuf}
SentencePiece writes its model as a \emph{protocol buffer}, a format for structures that may gain fields without old readers failing. A message is a row of fields. Before each stands a number that
tells which field it is and, in its last three bits, how its value is written: 0 for a number of variable length, 1 and 5 for eight and four bytes, 2 for a length and as many bytes, which may be a message again.
A number of variable length has seven bits in each byte, the lowest first, and a byte with its upper bit set has a successor.
@^protocol buffers@>

@<Read a message@>=
struct wire { const unsigned char *at; size_t n; };
  /* |n| bytes from |at| on, or nothing at all */
struct wire_field { uint64_t name, number; unsigned form;
  struct wire inside; };
  /* |number| for the forms 0 and 5, |inside| for 2 */
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

@ Every length is held against what is left, before anything is looked at; and a field always takes at least one byte, so that any row of bytes comes to an end.

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
  if (f->form == 1 || f->form == 5) n = f->form == 1 ? 8 : 4;
  else if (f->form != 2 || !read_number(w, &n)) return false;
  if (n > w->n) return false;
  f->inside = (struct wire) @[{ w->at, (size_t) n }@];
  w->at += n, w->n -= (size_t) n;
  if (f->form == 5) for (int i = 3; i >= 0; i--)
    f->number = f->number << 8 | f->inside.at[i];
  return true;
}

@* Scores. \label{sec:sentencepiece}
Of the whole message four fields concern us: the pieces, one after another (1), how they were learnt (2), what is done with a text first (3), and what would be done with one that comes back (5), which must be nothing. Inside, we take the fields that could change an id. What a
field is if it is absent stands in the format's description, and not in the file.
@^score, of SentencePiece@>

@<What a model of SentencePiece says@>=
enum piece_type { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED,
  BYTE };
struct piece_spec { uint64_t model, unknown, begin, end, bytes, suffix,
  put, thin, escape; struct wire name, charsmap, back; };
  /* the fields of the training and of the normalizer */

@ Which number in which of the two inner messages means which field is a table. A field that is there twice has its last value, as the format wants it, and one that is no
number where a number belongs is a fault of the file.

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

@ The normalizer has two fields more, its name and a map of characters, in which a change of letters would be written. A map is not done here; an empty one, which is called \texttt{identity}, needs nothing.

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

@ A piece has letters, a score and a type. The score is a number of four bytes in the format of the machine's floats. A piece must have letters, and they must be whole characters; and a score must equal itself, which the one that is not a number does not, or sorting would have no order.

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
  return p->words.n > 0 && p->score == p->score
    && utf8_run(p->words.at, p->words.n, &whole) == p->words.n
    && whole;
}

@ Pieces of five types are read. \emph{Normal} ones merge. No merge makes \emph{control} pieces and the \emph{unknown} one; they become special tokens, which are found on request only. Pieces that a \emph{user has defined} are frozen: they
are taken out of the text before anything merges. \emph{Bytes} spell what has no piece, and are known by their names. One type more, number 5, for pieces that were taken out of use, makes SentencePiece merge and then take apart again; it is refused.

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

@ The pieces stand in the file in the order of their ids. How many there are is counted on the way; each takes bytes of the file, so that a file can ask for no more memory than it justifies.

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

@ A reader needs the tokenizer, the file's name for messages, and what has been read so far. A piece that is refused is called by its number, which is its id; whoever wrote the file
has no other name for it, since its letters may be what is wrong.

@<Read the whole message@>=
struct piece_model { struct memory *m; struct tokenizer *t;
  const char *file;
  struct piece_list list; struct piece_spec spec; struct error *why; };
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

@ The message is gone through once. Fields that we do not know, such as sentences for a test of itself, are passed over, as the format means it. A second normalizer (5) would change what ids read as; its map must be
empty like that of the first.

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

@ Now what has been read is judged. Three other ways of learning exist, of which \emph{Unigram} is the common one: it weighs all ways of cutting a text against each other, and knows no merges. That is no mistake, only not
ours. Words whose blank comes after them are cut in another way, and an id for what is unknown that leads elsewhere would make two special tokens of one.

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

@ Rules for letters are a map from strings to strings, made from a name such as \texttt{nmt\_nfkc}. With them \texttt{\textonehalf} would become three characters before anything is looked
up. The name is in the file, and the message gives it, or the beginning of it if it is long.

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

@ Scores become ranks by sorting: the highest has rank 0, and equal scores have equal ranks. The order of the list is lost in this, but each entry knows its id and type.

@<Make ranks of scores@>=
static int by_score(const void *a, const void *b)
{
  const struct scored *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}
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
    rank[p[i].id] = p[i].type == NORMAL ? next : TIKTOKEN_NO_RANK;
  }
  bool ok = letters_are_pieces(x, rank)
    && tiktoken_pairs_from_ranks(x->m, x->t, rank, x->why);
  memory_free(x->m, rank);
  return ok;
}

@ That pairs are enough rests on one assumption: that both halves of a piece, however it comes about, are pieces. For halves of several letters it holds, since they have been merged; for single letters it
is a property of the file. SentencePiece's learner gives every letter that it uses a piece of its own. We look.

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

@ What is done with a text first becomes stages: thin out blanks, put one before, write blocks for blanks. A first blank is dropped on the way back if one was put, and if blanks are thinned out, too, as SentencePiece does. The last is the rule by which a blank is seen in a list of pieces, and is undone in what ids read as.

@<Set up what is done with a text@>=
static bool set_up(struct piece_model *x)
{
  struct tokenizer *t = x->t;
  const struct piece_spec *s = &x->spec;
  static const char block[] = "\xe2\x96\x81";
  struct text_step thin = @[{ .what = STEP_STRIP }@], put = @[{ .what = STEP_PREPEND }@],
    replace = @[{ .what = STEP_REPLACE }@];
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

@ Last come the pieces that are found before anything merges. In SentencePiece itself control pieces are never found in a text; here they are found by whoever asks for special tokens, as in the other families. A piece of the user's
with a blank in it is one that SentencePiece finds before it thins blanks out; our stages do it the other way round, so a file that wants both is refused.

@<Set up what is done with a text@>=
static bool has_blank(const struct tokenizer *t, const struct span *s)
{
  const unsigned char *c = t->string_pool.byte + s->at;
  for (size_t i = 0; i < s->n; i++)
    if (c[i] == ' ' || (s->n - i >= 3
      && memcmp(c + i, "\xe2\x96\x81", 3) == 0)) return true;
  return false;
}
@#
static bool add_special_pieces(struct piece_model *x)
{
  for (size_t i = 0; i < x->list.n; i++) {
    const struct scored *p = &x->list.piece[i];
    struct added_token a = @[{ .id = p->id,@|
      .text = x->t->vocab[p->id].piece,@|
      .special = p->type == CONTROL || p->type == UNKNOWN,@|
      .frozen = p->type == USER_DEFINED }@];
    if (a.frozen && x->spec.thin != 0 && has_blank(x->t, &a.text))
      return error_found(x->why, x->file,
        "normalizer_spec."@| "remove_extra_whitespaces", "true, and "@|
        "a user-defined piece with a blank", "one of the two");
    if ((a.special || a.frozen) && !tokenizer_add_token(x->m, x->t, &a,
      x->why)) return false;
  }
  return tokenizer_index_added(x->m, x->t, x->why);
}

@ The whole is a row of steps, and each stands on the one before: pieces can be looked up when they are indexed, ranks need the pieces, and whether words may be taken apart is a property of all
pieces.

@<Read a model of SentencePiece@>=
static bool make_tokenizer(struct piece_model *x, struct wire w, bool *ours)
{
  struct tokenizer *t = x->t;
  if (!read_message(x, w) || !judge(x, ours)) return false;
  t->kind = "SentencePiece BPE", t->char_level = true;
  t->byte_fallback = x->spec.bytes != 0;
  t->unknown = (uint32_t) x->spec.unknown + 1,
    t->fuse_unk = true;
  if (!tokenizer_index_vocab(x->m, t, x->why)
    || !all_different(t, x->file, "piece", x->why)
    || !rank_scores(x)) return false;
  tokenizer_find_splits(t);
  return set_up(x) && add_special_pieces(x);
}

@ Absent fields have the values that the format gives them: Unigram, the ids 0, 1 and 2, and a normalizer that thins out, puts a blank before, and writes blocks. A vocabulary without
a beginning says so by an id that it does not have, mostly $-1$, which as a number without a sign is very large.

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
  *begin = ok && x.spec.begin < x.list.n
    ? (uint32_t) x.spec.begin + 1 : 0;
  *end = ok && x.spec.end < x.list.n ? (uint32_t) x.spec.end + 1 : 0;
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

@ In the file both readers share what makes pairs of pieces.

@(sentencepiece.c@>=
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

@ With ranks, the place in the list is the rank, as in a rank file. The vocabulary begins with bytes, of which it has two.

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

@ With scores, the words go into a message. It is small enough for all lengths to be single bytes: a piece is its letters, a score of four bytes, and a type. The scores fall from 0 in steps of one; as floats on every machine of this book they have the
lowest byte first.

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

@ The unknown piece is number 0, so that the words have their numbers plus one. The training is BPE, and of the normalizer everything is switched off: no thinning out, no blank before the text, no blocks.

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

@ Both are asked for the same texts. The ids of the second are one larger, since its first piece is the unknown one, and are shown without this one.

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

@ Both are asked for both texts of the hand calculation. How many pairs there are is a key, for the hand calculation says it, too.

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
The first two need paper, the third the reader of messages.

\begin{exercises}
\exercise{check}{ex:scores.base64}{A line of GPT-2's rank file reads \texttt{IHRoZQ==}, and a number. Which token is it?}{\texttt{make exercise-W5-1}}{\texttt{IHRo} is 8, 7, 17, 40 in the alphabet, the 24 bits of the bytes 32, \given{116}, \given{104}; \texttt{ZQ==} is 25 and 16, of which eight bits are the byte \given{101}: \tok{\ the}.}
\exercise{think}{ex:scores.places}{A token of $n$ letters can be cut at $n-1$ places, but hardly ever gives $n-1$ merges. Give five tokens, the longest of four letters, of which every cut does.}{\texttt{make exercise-W5-2}}{All rows of one letter: \tok a, \tok{aa}, \tok{aaa}, \tok{aaaa} are four; any fifth token that is one letter more or another letter keeps it. Six merges or more.}
\exercise{build}{ex:scores.unused}{Let the reader of models take a piece that is not used (type 5) for one that merges cannot make, instead of refusing it.}{\texttt{make exercise-W5-3}}{In |read_next_piece| the refusal goes; since only normal pieces get a rank, nothing else is needed. It is not what SentencePiece does, which makes such a piece first and takes it apart again.}
\end{exercises}
