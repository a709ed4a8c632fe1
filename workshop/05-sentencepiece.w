@i types.w

\chapterquestion{Not every vocabulary is a list of merges. What do the others contain, and can the same engine encode with them?}
@** SentencePiece models and tiktoken files. \label{sec:scores}
\incipit{I}{n chapter 1 a} list of merges told us everything: which two tokens make a third, and in which order. Now you open the vocabulary of another model, and there are no merges in it. OpenAI's later
files, which the program \emph{tiktoken} reads, list only tokens, each with a number, its rank. The files of Google's \emph{SentencePiece}, by Taku Kudo and John Richardson \cited{Kudo 2018}, which Llama~2 and Mistral
use, list tokens with scores. Do we have to write two more encoders?
@^tiktoken@>@^SentencePiece@>@^Kudo, Taku@>

Look at what these programs do. Among all pairs of neighbours in the text that \emph{together spell a token}, tiktoken joins the pair whose token has the lowest rank, and if there are several, the leftmost. It goes on until no two neighbours spell a token. SentencePiece does the same, with the highest score for the lowest rank.

That is a rule about tokens, and our engine wants a rule about pairs. So let $t$ be a token of $n$ letters. It can be cut in two at $n-1$ places. At some of
them both halves are tokens, $l$ and $r$, and two neighbours spell $t$ exactly when they are such halves. So we write down all of them: the pair
$(l,r)$ makes $t$ with the rank of $t$. That is a list of merges after all, and one engine is enough. Only one thing is new. Several pairs may make the same token, and they must
have \emph{the same} rank: the place in the text decides between them, not the order of the list.

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

@ Each of the three kinds of files has its own weakness. A list of merges can contain a token that merging never produces, because a merge with a lower rank always comes first; Llama~3's list has some, and so its tokenizer first looks
each piece up as a whole. A file of ranks says neither how texts are cut nor which special tokens there are: the file alone is not enough. Scores were learnt from words
with their blanks, and a text without blanks between words (Chinese, for example) is one long word. And SentencePiece begins with characters, not with bytes: a character that has no token falls apart into bytes that
\emph{no merge joins}, three tokens for a missing Chinese character, four for an emoji. GPT-2's merges work on bytes, and have joined many of these.

@* Merges from ranks. \label{sec:pairsofpieces}
Each of the two readers fills a tokenizer with all pieces and makes a table with the rank of each id; a piece that takes part in no merge has no rank. Then every piece is cut at every place. A piece of $n$ bytes
gives at most $n-1$ pairs, so the file's size bounds their number. (In a vocabulary of characters a cut inside a character finds nothing, since no piece is half a character.)

@<Make pairs of pieces@>=
uint32_t pieces_ranked(const struct tokenizer *t,
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
      uint32_t left = pieces_ranked(t, rank, byte, k),
        right = left == 0 ? 0 : pieces_ranked(t, rank, byte + k, s.n - k);
      if (right != 0 && !bpe_add_ranked(m, &t->rules,
        (struct bpe_rule) @[{ left - 1,@| right - 1, id, rank[id] }@],
        why)) return false;
    }
  }
  return true;
}

@ If a file held the same word twice, the table would find only one of its two ids; the other could be decoded but never encoded. So duplicates are refused, in both kinds of files.

@<Make pairs of pieces@>=
bool pieces_all_different(const struct tokenizer *t, const char *file,
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

@ This is the file of pairs.

@(pairs.c@>=
@;
/** Merges from tokens with ranks: a piece that can be cut into two others gives one pair for each
  such cut, all with the piece's rank. That is enough only if every part of a piece is a piece. */
#include <stdio.h>
#include "sentencepiece/pieces.h"
@<Make pairs of pieces@>@;

@ Its users are two readers of files, and a third one that gets the same pieces from a GGUF file (\cref{gguf}), where they are three arrays.

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

@ So these functions are in the header.

@(sentencepiece.h@>=
#ifndef INCIPIT_SENTENCEPIECE_H
#define INCIPIT_SENTENCEPIECE_H
#include "tokenizer/tokenizer_internal.h"
@<Readers of scores and ranks@>@;
#endif

@* Rank files. \label{sec:ranks}
A rank file has a line for each token: its bytes in base64, a blank, and its rank, which is also its id. \emph{Base64} writes three bytes as four letters of an alphabet of 64, and pads the last group of four with equal signs. So each letter adds six bits, and as soon as eight have collected, a byte is complete. (The reader is \.{unwoven/sentencepiece/tiktoken.c}.)
@^base64@>

How is a text cut before the merges are applied? Which special tokens are there? The file does not say; its makers keep both in the source of their programs. But there are only a few such files, and the number of lines tells which is which (\cref{tab:rankfiles}). A file that has lost or gained a line belongs to none, and it is better to say so than to cut texts with the wrong pattern.

\begin{table}
\tabcaption{tab:rankfiles}{The rank files. For any other number of lines we do not know how to cut a text.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}lp{34mm}p{26mm}@@{}}
\tabhead{lines} & \tabhead{name} & \tabhead{pattern} & \tabhead{special tokens}\\
\midrule
\given{50\,256} & \texttt{r50k\_base} & GPT-2's & the end of a text\\
\given{50\,280} & \texttt{p50k\_base} & GPT-2's & the end of a text\\
\given{100\,256} & \texttt{cl100k\_base} & digits by threes & five\\
\given{199\,998} & \texttt{o200k\_base} & the same, and capital letters apart: \texttt{camelCase} is cut in two & two\\
\given{128\,000} & Llama 3 & digits by threes & \given{256}, of which the first begins each text\\
\given{200\,000} & Llama 4 & that of \texttt{o200k\_base} & those of a chat; the first begins each text\\
\given{151\,643} & Qwen & digits one by one, after normal form C & \given{208}
\end{tabular*}
\end{table}

Numbers are limited as everywhere: an id must be smaller than the number of bytes in the file, since each line takes more than one. And a piece that is a token as a whole becomes that token, even if the merges would have led elsewhere; tiktoken looks this up first, too.

Mistral writes its ranks as JSON (\.{tekken.json}). There the pattern is in the file, and so is the number of special tokens that come before the words: the id of a word is its rank and that number. (\.{unwoven/tokenizer-json/tekken.c})
@^tekken.json@>

@* Protocol buffers. \label{sec:protobuf}
SentencePiece writes its model as a \emph{protocol buffer}, a format for structures that can gain fields without breaking old readers. A message is a sequence of fields. Each begins with a number that
tells which field it is and, in its lowest three bits, how its value is written: 0 for a number of variable length, 1 and 5 for eight and four bytes, 2 for a length and that many bytes, which may themselves be a message.
@^protocol buffers@>

The number of variable length is called a \emph{varint}. It holds seven bits in each byte, the lowest first, and a byte whose upper bit is set is followed by another. So small numbers take one byte. For \given{300} it takes two: the lowest seven bits are 44, and with the upper bit set they are \given{172}; the rest is 2.
@^varint@>

\begin{byhand}{a piece, byte by byte}
The piece \tok{ab} with the score $-1$ is a field of the message, and a message itself.

\medskip
\begin{tabular}{@@{}l@@{\enspace}l@@{\enspace}l@@{}}
\tabhead{bytes} & \tabhead{number} & \tabhead{meaning}\\
\texttt{0a} & $10=8\cdot1+2$ & field 1, a length follows\\
\texttt{0b} & $11$ & the piece has 11 bytes\\
\texttt{0a} & $10=8\cdot1+2$ & field 1, a length follows\\
\texttt{02} & $2$ & 2 letters\\
\texttt{61 62} & & a and b\\
\texttt{15} & $21=8\cdot2+5$ & field 2, four bytes follow\\
\texttt{00 00 80 bf} & & the float $-1$, low byte first\\
\texttt{18} & $24=8\cdot3+0$ & field 3, a varint follows\\
\texttt{01} & $1$ & the type, a normal piece
\end{tabular}
\medskip

After the second byte there are $2+2+5+2=11$ bytes, as it says. A reader that knows only field 1 can skip the others, since each says how long it is.
\end{byhand}

@<A message@>=
struct wire { const unsigned char *at; size_t n; };
  /* |n| bytes from |at| on; |n| may be 0 */
struct wire_field { uint64_t name, number; unsigned form;
  struct wire inside; };
  /* |number| for the forms 0 and 5, |inside| for 2 */
bool wire_next(struct wire *w, struct wire_field *f);
  /* the next of |w->n > 0| bytes; false if they are not a field */

@ A varint that goes on for ever must not shift a bit out of the world: a tenth byte is the last that can matter.

@<Read a message@>=
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

@ Every length is compared with the number of bytes left before we read on. And a field takes at least one byte. So the reader ends on any input.

@<Read a message@>=
bool wire_next(struct wire *w, struct wire_field *f)
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

@ The reader of messages knows nothing of pieces, and is a file of its own.

@(wire.h@>=
#ifndef INCIPIT_WIRE_H
#define INCIPIT_WIRE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
@<A message@>@;
#endif

@ The function that reads one field is all that others need.

@(wire.c@>=
@;
/** Reading a protocol buffer, field by field. A length is compared with what is left before it is
  followed, and a field takes at least a byte, so reading ends on any input. */
#include "sentencepiece/wire.h"
@<Read a message@>@;

@* Scores. \label{sec:sentencepiece}
Four fields of the message concern us: the pieces, one after another (1); how they were learnt (2); the normalizer, which prepares a text before it is encoded (3); and the denormalizer, which would change a decoded text (5) and must be empty. The
value of an absent field is given in the description of the format, not in the file: a model that says nothing was made by \emph{Unigram}, which compares all ways of cutting a text and has no merges (\cref{sec:unigram}). Then the scores are taken as they are, and the rest of this section does not concern it.
@^score, of SentencePiece@>@^Unigram@>

Pieces have six types. \emph{Normal} ones merge. \emph{Control} pieces and the \emph{unknown} one are made by no merge; they become special tokens, which are recognized only on request. \emph{User-defined} pieces are frozen: they
are taken out of the text before anything merges. \emph{Byte} pieces spell characters that have no piece, and are recognized by their names. The sixth type, number 5, is for \emph{unused} pieces: SentencePiece merges them and then takes them apart again. We refuse such a piece in a model with merges; Unigram never chooses it. (In a GGUF file unused pieces fill the vocabulary up to a round number, and are never found.)

Scores become ranks by sorting: the highest score gets rank 0, and equal scores get equal ranks. A score must not be NaN, which cannot be sorted. NaN is the one float that does not equal itself, so a comparison of the score with itself finds it.

\printedfunction{sentencepiece/sentencepiece.c}{rank_scores}

@ Are pairs enough? Only on one assumption: whenever two parts of a text merge into a piece, both parts are pieces themselves. For parts of several letters this holds, since they came from merges. For single letters it
is a property of the file. SentencePiece gives every letter that it uses a piece of its own; we check it, and refuse a model with a letter that is no piece.

@ What is done with a text before it is encoded? The normalizer becomes up to three steps, in this order: remove extra blanks, put one blank before the text, and write the block U+2581 for each blank, which makes blanks visible in a list of pieces. Decoding turns blocks back into blanks. It drops the first blank if one was put there or, as SentencePiece does, if extra blanks are removed.

One thing is refused. SentencePiece finds a user-defined piece with a blank in it \emph{before} it removes extra blanks; our steps come in the opposite order, so a file that wants both is refused.

@* A map of characters: the double array. \label{sec:charsmap}
Before all this, a normalizer may replace characters by others, for example the one character \texttt{\textonehalf} by the three of 1/2. The rules have a name, such as \texttt{nmt\_nfkc}, but the file does not rely on the name: it contains the whole map, as bytes. How do we read them?
@^double array@>@^normalizer@>

Think of the keys of the map, each a few letters long, as a tree, like that of the added tokens (\cref{sec:added}). How small can we store a tree and still walk through it? The \emph{double array} \cited{Aoe 1989} takes one number of 32 bits, a \emph{unit}, for each node. All units are in one array, and a node is a place in it. The unit of a node $p$ contains an \emph{offset} $o$ and a \emph{label}, the byte that leads to the node. To find the child of $p$ for the byte $c$ we look at the place $p\oplus o\oplus c$, where $\oplus$ is the exclusive or. If the unit there has the label $c$, it is the child; otherwise there is none. We need no list of children and no search: a step is two exclusive ors and one comparison. One bit of a unit says that a key ends at this node. Then the unit at $p\oplus o$ is not a node: it says where the string begins that replaces the key.

\begin{byhand}{A, and AB}
The map has two entries: \texttt A becomes \texttt a, and \texttt{AB} becomes \texttt x. The strings are \texttt a, a zero, \texttt x, a zero. The root, unit 0, has the offset 1. In hexadecimal:

\medskip
{\footnotesize\begin{tabular}{@@{}l@@{\enspace}l@@{\enspace}l@@{\enspace}l@@{}}
\tabhead{step} & \tabhead{place} & \tabhead{the unit has} & \tabhead{so}\\
byte \texttt A, 41 & $0\oplus1\oplus41=40$ & label 41, offset 1, end & see $40\oplus1$\\
value & $41$ & 0 & string 0: \texttt a\\
byte \texttt B, 42 & $40\oplus1\oplus42=3$ & label 42, offset 1, end & see $3\oplus1$\\
value & $2$ & 2 & string 2: \texttt x
\end{tabular}}
\medskip

Which of the two counts in a text \texttt{AB}? SentencePiece takes the longest key, so the answer is \texttt x. A test does this with the same five numbers.
\end{byhand}

\printedfunction{tokenizer/charsmap.c}{look_up}

@ A file that a stranger made can have any numbers in its array. So we compare each place with the array's size before we look there, end a walk after \given{255} bytes, and refuse a replacement that is longer or begins inside a character. Suppose we did not. A unit that is its own child would send us through the whole text, once from each of its characters, and a short file could make a text longer than any memory.

Hugging Face's library reads the same bytes in another way (\texttt{Precompiled} in a \.{tokenizer.json}). It looks up a whole \emph{grapheme cluster}, a letter with all its marks, if that has less than \given{6} bytes; takes the \emph{shortest} key that fits; and replaces the whole cluster, marks and all. Its source says that this seems broken and must stay, because the models were published with it. We agree on both counts, and do the same for such files.
@^grapheme cluster@>

@* The check. \label{sec:scorescheck}
The program encodes the two texts of the hand calculation, first with tokens that have ranks, then with a SentencePiece model in which the same tokens have scores. \.{unwoven/sentencepiece/shown.inc} makes the two; the model is written byte by byte, as in the second box.

@c
#include <stdio.h>
#include <string.h>
#include "sentencepiece/sentencepiece.h"
#include "sentencepiece/shown.inc"
@;@#
int main(int argc, char **argv)
{
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  return spell_with_both(values) ? 0 : 1;
}

@ It prints the four merges of the hand calculation, and its spellings, twice:

\checkpoint{build/out/sentencepiece.txt}{the same spelling from ranks and from scores}

@* Exercises. \label{sec:scoresexercises}
You need paper for the first two and the reader of messages for the third.

\begin{exercises}
\exercise{check}{ex:scores.base64}{A line of GPT-2's rank file reads \texttt{IHRoZQ==}, and a number. Which token is it?}{\texttt{make exercise-W5-1}}{\texttt{IHRo} is 8, 7, 17, 40 in the alphabet, the 24 bits of the bytes 32, \given{116}, \given{104}; \texttt{ZQ==} is 25 and 16, of which eight bits are the byte \given{101}: \tok{\ the}.}
\exercise{think}{ex:scores.places}{A token of $n$ letters can be cut at $n-1$ places, but hardly ever gives $n-1$ merges. Give five tokens, the longest of four letters, such that every cut of each gives a merge.}{\texttt{make exercise-W5-2}}{Repeat one letter: \tok a, \tok{aa}, \tok{aaa}, \tok{aaaa} are four of them, and the fifth can be any other single letter. The cuts of the three longer ones give six merges.}
\exercise{check}{ex:scores.unused}{Let the reader of models accept an unused piece (type 5) as one that no merge makes, instead of refusing it.}{\texttt{make exercise-W5-3}}{In |judge| the refusal goes; since only normal pieces get a rank, nothing else is needed. SentencePiece does otherwise: it makes such a piece first and then takes it apart again.}
\end{exercises}
