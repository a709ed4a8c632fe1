@i types.w
@s json_t int
@s json_error_t int
@s pcre2_code int
@s pcre2_general_context int
@s pcre2_compile_context int
@s pcre2_match_context int
@s pcre2_match_data int
@s pcre2_jit_stack int
@s PCRE2_SIZE int
@s FILE int
@s read_part int
@s json_array_foreach while
@s json_object_foreach while
@s json_object_keylen_foreach while

\chapterquestion{The model knows only numbers from a list. Who made the list, and how does a
sentence become numbers from it without losing a single letter?}
@** Tokens.
\incipit{A}{ language model never} sees a letter. It is given whole numbers, each below some
fixed bound, and it answers with such a number; everything that looks like language happens
outside of it, in a program that turns text into numbers and numbers back into text. That
program is the subject of this chapter. It is called a \emph{tokenizer}, the numbers are
\emph{ids}, the pieces of text they stand for are \emph{tokens}, and the list that pairs the
two is the \emph{vocabulary}.
@^token@>@^vocabulary@>@^id@>

One could take the letters themselves for the list. Then a sentence is a long row of numbers,
and a model's work grows with the length of the row, as chapter 3 will count. One could take
the words. Then the row is short, and the first word that nobody thought of cannot be written
at all. The method that nearly every published model uses lies between: begin with the
\val{tokens.bytes} values that a byte can have, which can spell anything; then look at a large
text, find the two neighbours that stand side by side most often, and give that pair a number
of its own. Do it again, and again, until the list is as long as we like. Frequent words end up as one
token, rare ones as a few, and a word that was never seen is still spelt, byte by byte at the
worst. This is \emph{byte-pair encoding}, a trick for compressing files that Philip Gage published
in 1994 and Rico Sennrich and his colleagues brought to translation in 2016; GPT-2 started it
from bytes.
@^byte-pair encoding@>@^Gage, Philip@>@^Sennrich, Rico@>

\begin{byhand}{nine merges, and a word that was not there}
The text is \texttt{the cat that sat}. First it is cut before every blank, because no token shall
reach across two words: \texttt{the}, \texttt{\textvisiblespace cat}, \texttt{\textvisiblespace that}, \texttt{\textvisiblespace sat}, where the low line stands for the
blank. Now we count neighbours within the four pieces: \texttt{a t} stands there three times, \texttt{t h}
twice, all other pairs once. So the first new token is \texttt{at}, and the pieces are now
\texttt{t h e}, \texttt{\textvisiblespace  c at}, \texttt{\textvisiblespace  t h at}, \texttt{\textvisiblespace  s at}. In what is left \texttt{t h} is the only pair that occurs
twice: the second token is \texttt{th}.

\medskip
\begin{tabular}{@@{}rlrl@@{}}
\tabhead{rank} & \tabhead{pair} & \tabhead{count} & \tabhead{the pieces afterwards}\\
0 & \tok{a}\,\tok{t} & 3 & \texttt{t h e} \enspace \texttt{\textvisiblespace  c at} \enspace \texttt{\textvisiblespace  t h at} \enspace \texttt{\textvisiblespace  s at}\\
1 & \tok{t}\,\tok{h} & 2 & \texttt{th e} \enspace \texttt{\textvisiblespace  c at} \enspace \texttt{\textvisiblespace  th at} \enspace \texttt{\textvisiblespace  s at}\\
2 & \tok{\ }\,\tok{c} & 1 & \texttt{th e} \enspace \texttt{\textvisiblespace c at} \enspace \texttt{\textvisiblespace  th at} \enspace \texttt{\textvisiblespace  s at}\\
3 & \tok{\ }\,\tok{s} & 1 & \texttt{th e} \enspace \texttt{\textvisiblespace c at} \enspace \texttt{\textvisiblespace  th at} \enspace \texttt{\textvisiblespace s at}\\
4 & \tok{\ }\,\tok{th} & 1 & \texttt{th e} \enspace \texttt{\textvisiblespace c at} \enspace \texttt{\textvisiblespace th at} \enspace \texttt{\textvisiblespace s at}
\end{tabular}
\medskip

From rank 2 on every pair occurs once, and a rule must decide. Ours: the smaller left id, then
the smaller right one. The blank is byte 32, smaller than every letter, so it goes first, and of
its three right neighbours \texttt{c} is byte 99, \texttt{s} is byte 115, and \texttt{th}, the second token made, is
256 + 1 = 257. Four more merges, \texttt{th e}, \texttt{\textvisiblespace c at}, \texttt{\textvisiblespace s at}, \texttt{\textvisiblespace th at} in this order, and each of
the four pieces is a single token.

Now spell \texttt{that}, at the start of a line, so without its blank: \texttt{t h a t}. Of its pairs
\texttt{t h} has rank 1 and \texttt{a t} has rank 0; the lowest goes first: \texttt{t h at}. Then \texttt{t h}: \texttt{th at}. No
merge joins \texttt{th} and \texttt{at} (there is one for \texttt{\textvisiblespace th} and \texttt{at}), so we stop: two tokens,
257 and 256. A word that the list does not have was spelt by parts that it does have.
\end{byhand}

@ The program of this chapter learns these nine merges, spells this word, and then does the same
with a longer text, until ``The cat sat'' is three ids. Five modules do the work, in the order
in which the chapter builds them: \.{utf8} (bytes and characters), \.{table} (three small
structures for looking things up), \.{split} (cutting a text before it is encoded), \.{bpe}
(learning and applying merges) and \.{tokenizer} (all of it together, and the files in which
other people keep their vocabularies).

@c
#include <stdio.h>
#include <string.h>
#include "01-tokens/tokenizer.h"
@<The texts of this chapter@>@;
@<Learn the nine merges of the hand calculation@>@;
@<Feed a stream token by token@>@;
@<Learn from the longer text, and show ids@>@;
@<Print keys and points@>@;
@#
int main(int argc, char **argv)
{
  return run(argc > 1 ? argv[1] : "");
}

@* Text is bytes. \label{sec:bytes}
A text in memory is a row of bytes, and what the bytes mean is a convention. The convention of
our time is UTF-8: a byte below 128 is the ASCII character of that number; any other
character is one leading byte, whose upper bits say how many bytes follow, and one to three
bytes of the form |10xxxxxx|. It has a property that everything below rests on: no character's
bytes occur inside another's, so one can begin to read anywhere and be right after at most
three bytes.
@^UTF-8@>

Starting from bytes and not from characters is what makes the vocabulary closed. Unicode has
more characters than one would want to list, and gets new ones every year; there are \val{tokens.bytes}
bytes, and there will be no more. The price is that a token may end in the middle of a
character, and somebody has to wait for the other half. That will be the business of
\cref{sec:streaming}.

@ Texts grow while we work on them, so the first thing we need is a row of bytes that can
grow, from the memory that chapter 0 counts. All zero is the empty row, so nothing has to be
opened.

@<A row of bytes that grows@>=
struct bytes { unsigned char *byte; size_t n, room; };
  /* |n| bytes in a block of |room|, for tokens; all zero is empty */
bool bytes_push(struct memory *m, struct bytes *b, const void *more, size_t n,
  struct error *why);
  /* appends |n| bytes (|more| not inside |b|); on failure |b| is as it was */
void bytes_free(struct memory *m, struct bytes *b);
  /* returns the block and empties the row */

@ When the room is used up we ask for twice what is needed. So a row that grows to $n$ bytes in
small steps copies each byte about once on average, not $n/2$ times.

@<Append bytes, and return them@>=
bool bytes_push(struct memory *m, struct bytes *b, const void *more, size_t n,
  struct error *why)
{
  if (n > b->room - b->n) {
    size_t room = 2 * (b->n + n) + 32;
    unsigned char *p = memory_grow(m, FOR_TOKENS, b->byte, b->room, room, 1,
      why);
    if (p == NULL) return false;
    b->byte = p, b->room = room;
  }
  if (n > 0) memcpy(b->byte + b->n, more, n);
  b->n += n;
  return true;
}
@#
void bytes_free(struct memory *m, struct bytes *b)
{
  memory_give(m, FOR_TOKENS, b->byte, b->room, 1);
  *b = (struct bytes) @[{ NULL, 0, 0 }@];
}

@ Everything about UTF-8 comes down to one question: what begins at this byte? There are three
answers. A whole character; something that is broken, and no further byte can mend it; or the
beginning of a character whose rest is not there yet. The length that comes with the
second answer is that of the \emph{maximal subpart}: the longest beginning that could
still have become a character. The Unicode standard recommends to replace each such part by
one U+FFFD, the black diamond with a question mark, and so do we.
@^maximal subpart@>@^U+FFFD@>

@<What begins at a byte@>=
enum utf8_state { UTF8_WHOLE, UTF8_BROKEN, UTF8_UNFINISHED };
  /* a character; a maximal subpart of none; the beginning of one, cut off */
size_t utf8_next(const unsigned char *byte, size_t n, enum utf8_state *state);
  /* how many of the |n| $\ge 1$ bytes belong to what begins at the first of them,
     1 to 4; Unicode 15, section 3.9, tables 3-7 and 3-8 */

@ The leading byte gives the length. The values |0xc0| and |0xc1| could only begin a character
that has a shorter spelling, and from |0xf5| on the character would lie beyond the last one that
Unicode allows; so they begin nothing, like the continuation bytes.

@<Tell what begins at a byte@>=
size_t utf8_next(const unsigned char *byte, size_t n, enum utf8_state *state)
{
  unsigned char b = byte[0], low = 0x80, high = 0xbf;
  size_t length = b < 0x80 ? 1 : b < 0xc2 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 3
    : b < 0xf5 ? 4 : 0;
  @<Narrow what the second byte may be@>@;
  *state = UTF8_BROKEN;
  if (length == 0) return 1;
  for (size_t k = 1; k < length; k++) {
    if (k == n) {
      *state = UTF8_UNFINISHED;
      return k;
    }
    if (byte[k] < low || byte[k] > high) return k;
    low = 0x80, high = 0xbf;
  }
  *state = UTF8_WHOLE;
  return length;
}

@ Four leading bytes restrict the byte after them. Two would otherwise allow a spelling that is too
long, one the surrogates U+D800 to U+DFFF (a device of UTF-16, no characters), and one
what lies beyond U+10FFFF.

@<Narrow what the second byte may be@>=
if (b == 0xe0) low = 0xa0;
if (b == 0xed) high = 0x9f;
if (b == 0xf0) low = 0x90;
if (b == 0xf4) high = 0x8f;

@ Three things follow at once. A text may be cut into runs of whole characters and runs of bytes
that are none; it may be shown with a U+FFFD for each part that is none; and we can say which
bytes at its end wait for more.

@<What begins at a byte@>=
size_t utf8_run(const unsigned char *byte, size_t n, bool *whole);
  /* the length of the longest run, from the first of |n| $\ge 1$ bytes on, of nothing
     but whole characters, or of nothing that is one */
bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
  struct bytes *out, struct error *why);
  /* appends the text, one U+FFFD per maximal subpart; on failure |out| is as it was */
size_t utf8_held(const unsigned char *byte, size_t n);
  /* how many bytes at the end are an unfinished character, 0 to 3 */
uint32_t utf8_point(const unsigned char *byte, size_t length);
  /* the number of the whole character of |length| bytes that begins here */

@ The run goes on while the answer stays the same. An unfinished character at the end is, for
this purpose, no character.

@<Cut off a run of characters, or of what is none@>=
size_t utf8_run(const unsigned char *byte, size_t n, bool *whole)
{
  enum utf8_state state;
  size_t at = utf8_next(byte, n, &state);
  *whole = state == UTF8_WHOLE;
  while (at < n) {
    size_t step = utf8_next(byte + at, n - at, &state);
    if ((state == UTF8_WHOLE) != *whole) break;
    at += step;
  }
  return at;
}

@ For showing a text we go through it character by character. Whoever wants it faster can copy
whole runs; this function prints error messages and answers of a test protocol, and is fast
enough for both.

@<Replace what is no character@>=
bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
  struct bytes *out, struct error *why)
{
  size_t start = out->n, step = 0;
  for (size_t at = 0; at < n; at += step) {
    enum utf8_state state;
    step = utf8_next(byte + at, n - at, &state);
    bool ok = state == UTF8_WHOLE ? bytes_push(m, out, byte + at, step, why)
      : bytes_push(m, out, "\xef\xbf\xbd", 3, why);
    if (ok) continue;
    out->n = start;
    return false;
  }
  return true;
}

@ A character of four bytes is unfinished with at most three. We try the longest ending first;
because no leading byte is also a continuation, at most one of the three can be the
beginning of a character, and what stands before it does not matter.

@<Count the bytes that wait for more@>=
size_t utf8_held(const unsigned char *byte, size_t n)
{
  for (size_t k = n < 3 ? n : 3; k > 0; k--) {
    enum utf8_state state;
    if (utf8_next(byte + n - k, k, &state) == k && state == UTF8_UNFINISHED)
      return k;
  }
  return 0;
}

@ The number of a character is made of the free bits of its bytes: seven, five, four or three in
the first, six in each of the others.

@<Put a character's number together@>=
uint32_t utf8_point(const unsigned char *byte, size_t length)
{
  static const unsigned char free_bits[5] = @[{ 0, 0x7f, 0x1f, 0x0f, 0x07 }@];
  uint32_t point = byte[0] & free_bits[length];
  for (size_t k = 1; k < length; k++) point = point << 6 | (byte[k] & 0x3f);
  return point;
}

@* Streaming. \label{sec:streaming}
A model writes one token at a time, and the reader wants to see each as it comes. But a token is
a few bytes, and may be half a character: the euro sign has three bytes, and a small vocabulary
has a token for each of them and none for the whole. If the three are printed one by one, a
terminal shows three black diamonds. So between the tokens and the screen stands something that
holds back the bytes that are not a character \emph{yet}, and nothing else.
@^streaming@>

The definition is short. After each token, release everything but the longest ending that is an
incomplete and still completable character. So at most three bytes are ever held, a byte that
can never become a character is released at once (holding it would be holding it forever), and
nothing is ever lost: the pieces released, and what is flushed at the end, are together exactly
the bytes of all tokens.

@<Bytes on their way to a reader@>=
struct stream { unsigned char held[3]; size_t n; };
  /* the |n| bytes that are held back; all zero is a stream that begins */
bool stream_feed(struct memory *m, struct stream *s, const unsigned char *byte,
  size_t n, struct bytes *out, struct error *why);
  /* appends to |out| what may be released now that |n| more bytes are known; on
     failure |s| and |out| are as they were */
bool stream_flush(struct memory *m, struct stream *s, struct bytes *out,
  struct error *why);
  /* appends what is held, raw, and empties the stream */

@ We put the held bytes and the new ones into |out| and take back the ending that must wait. What
was released before need not be looked at: had it been the beginning of a character, it
would have been held.

@<Release what is certain, hold the rest@>=
bool stream_feed(struct memory *m, struct stream *s, const unsigned char *byte,
  size_t n, struct bytes *out, struct error *why)
{
  size_t start = out->n;
  if (!bytes_push(m, out, s->held, s->n, why)) return false;
  if (!bytes_push(m, out, byte, n, why)) {
    out->n = start;
    return false;
  }
  s->n = utf8_held(out->byte + start, out->n - start);
  out->n -= s->n;
  if (s->n > 0) memcpy(s->held, out->byte + out->n, s->n);
  return true;
}
@#
bool stream_flush(struct memory *m, struct stream *s, struct bytes *out,
  struct error *why)
{
  if (!bytes_push(m, out, s->held, s->n, why)) return false;
  s->n = 0;
  return true;
}

@ One of the tutorials that this book looks into is about the stream that a reader sees.

\begin{tutorial}{misleading}{S3-52}
\quoted{What you see is exactly the process happening.}
\ourrun The euro sign costs the model \val{tokens.euro.ids} tokens in our small vocabulary and
reaches the reader in one piece, after the last of them. Half characters are held back here;
chapter 8 will hold back what may be the beginning of a stop string, and chapter 13 will write
several tokens at a step. What you see is the process behind a window that opens now and then.
\end{tutorial}

The header of the module is these three parts, and its body the functions.

@(utf8.h@>=
#ifndef INCIPIT_UTF8_H
#define INCIPIT_UTF8_H
#include "00-ground/ground.h"
@<A row of bytes that grows@>@;
@<What begins at a byte@>@;
@<Bytes on their way to a reader@>@;
#endif

@ Nothing here calls the system, so the C library's |memcpy| is all that has to be included.

@(utf8.c@>=
#include <string.h>
#include "01-tokens/utf8.h"
@<Append bytes, and return them@>@;
@<Tell what begins at a byte@>@;
@<Cut off a run of characters, or of what is none@>@;
@<Replace what is no character@>@;
@<Count the bytes that wait for more@>@;
@<Put a character's number together@>@;
@<Release what is certain, hold the rest@>@;

@* Three ways to look something up. \label{sec:tables}
Learning merges and applying them asks three questions over and over. Which number has this pair
of ids? Which number has this row of letters? What comes next, in order of importance? Two hash
tables and a heap answer them, and both the learner and the encoder use the same ones.
@^hash table@>@^heap@>

@<A table from pairs to numbers@>=
struct pair_slot { uint32_t left, right, value; };
struct pair_map { struct pair_slot *slot; size_t room, used; };
  /* |room| slots, a power of two, at most half of them used; a slot whose
     value is 0 is free; all zero is an empty table */
bool pair_map_put(struct memory *m, struct pair_map *p, uint32_t left,
  uint32_t right, uint32_t value, struct error *why);
  /* enters |value| $\ge 1$ for a pair, in place of an older one */
uint32_t pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right);
  /* the value of a pair, 0 if there is none */
void pair_map_free(struct memory *m, struct pair_map *p);
  /* returns the block and empties the table */

@ A pair's place is told by a product: the pair as one number of 64 bits, times a large odd
constant, of which we take bits from the middle, where all bits of both ids have had their
influence. If the place is taken by another pair, the next one is tried, and so on around the
table; since half of the slots are free this ends soon.

@<Find a pair's slot, or the free one where it belongs@>=
static size_t pair_place(const struct pair_map *p, uint32_t left, uint32_t right)
{
  uint64_t h = ((uint64_t) left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
  size_t i = (size_t) (h >> 32) & (p->room - 1);
  while (p->slot[i].value != 0
      && (p->slot[i].left != left || p->slot[i].right != right))
    i = (i + 1) & (p->room - 1);
  return i;
}
@#
uint32_t pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right)
{
  return p->room == 0 ? 0 : p->slot[pair_place(p, left, right)].value;
}

@ A table that would become more than half full is replaced by one of twice the size. Its slots
are not copied but entered again, because with more places every pair may have another one.

@<Give a table of pairs twice the room@>=
static bool pair_map_grow(struct memory *m, struct pair_map *p, struct error *why)
{
  struct pair_map larger = @[{ NULL, p->room == 0 ? 64 : 2 * p->room, p->used }@];
  larger.slot = memory_take(m, FOR_TOKENS, larger.room, sizeof *larger.slot, why);
  if (larger.slot == NULL) return false;
  for (size_t i = 0; i < p->room; i++) {
    const struct pair_slot *s = &p->slot[i];
    if (s->value != 0) larger.slot[pair_place(&larger, s->left, s->right)] = *s;
  }
  pair_map_free(m, p);
  *p = larger;
  return true;
}

@ To enter is to find the place and to write there; whether something stood there before tells
us whether one more slot is in use.

@<Enter a pair, and return the table@>=
bool pair_map_put(struct memory *m, struct pair_map *p, uint32_t left,
  uint32_t right, uint32_t value, struct error *why)
{
  if (2 * (p->used + 1) > p->room && !pair_map_grow(m, p, why)) return false;
  struct pair_slot *s = &p->slot[pair_place(p, left, right)];
  if (s->value == 0) p->used++;
  *s = (struct pair_slot) @[{ left, right, value }@];
  return true;
}
@#
void pair_map_free(struct memory *m, struct pair_map *p)
{
  memory_give(m, FOR_TOKENS, p->slot, p->room, sizeof *p->slot);
  *p = (struct pair_map) @[{ NULL, 0, 0 }@];
}

@ The second table is the same with rows of letters for keys. It doesn't own the letters; it
points to where they stand, so they must stay there for as long as the table is used.

@<A table from letters to numbers@>=
struct name_slot { const unsigned char *byte; size_t n; uint32_t value; };
struct name_map { struct name_slot *slot; size_t room, used; };
  /* like |struct pair_map|; the bytes belong to the caller and stay where they are */
bool name_map_put(struct memory *m, struct name_map *p, const unsigned char *byte,
  size_t n, uint32_t value, struct error *why);
  /* enters |value| $\ge 1$ for a row of |n| bytes, in place of an older one */
uint32_t name_map_get(const struct name_map *p, const unsigned char *byte,
  size_t n);
  /* the value of a row, 0 if there is none */
void name_map_free(struct memory *m, struct name_map *p);
  /* returns the block and empties the table */

@ The place of a row is computed from all of its bytes, each multiplied into what the earlier
ones left: the function known as FNV-1a.\side{Fowler, Noll and Vo, 1991. Its constants
are a prime and an offset that were chosen by trying.} Its lower bits alone are
not good enough, so the upper half is folded over them.
@^hash function@>

@<Find a row's slot, or the free one where it belongs@>=
static size_t name_place(const struct name_map *p, const unsigned char *byte,
  size_t n)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t k = 0; k < n; k++) h = (h ^ byte[k]) * UINT64_C(0x100000001b3);
  size_t i = (size_t) (h ^ h >> 32) & (p->room - 1);
  while (p->slot[i].value != 0 && (p->slot[i].n != n
      || memcmp(p->slot[i].byte, byte, n) != 0))
    i = (i + 1) & (p->room - 1);
  return i;
}
@#
uint32_t name_map_get(const struct name_map *p, const unsigned char *byte, size_t n)
{
  return p->room == 0 ? 0 : p->slot[name_place(p, byte, n)].value;
}

@ Growing follows the same steps as before. We could have written both tables once, with a
pointer to a function for the comparison; two short functions are easier to read than one
with such a pointer.

@<Give a table of names twice the room@>=
static bool name_map_grow(struct memory *m, struct name_map *p, struct error *why)
{
  struct name_map larger = @[{ NULL, p->room == 0 ? 64 : 2 * p->room, p->used }@];
  larger.slot = memory_take(m, FOR_TOKENS, larger.room, sizeof *larger.slot, why);
  if (larger.slot == NULL) return false;
  for (size_t i = 0; i < p->room; i++) {
    const struct name_slot *s = &p->slot[i];
    if (s->value != 0) larger.slot[name_place(&larger, s->byte, s->n)] = *s;
  }
  name_map_free(m, p);
  *p = larger;
  return true;
}

@ What |pair_map_put| does for two numbers, this does for a row of letters; an older entry's
letters are forgotten in favour of the new ones, which are equal to them.

@<Enter a name, and return the table@>=
bool name_map_put(struct memory *m, struct name_map *p, const unsigned char *byte,
  size_t n, uint32_t value, struct error *why)
{
  if (2 * (p->used + 1) > p->room && !name_map_grow(m, p, why)) return false;
  struct name_slot *s = &p->slot[name_place(p, byte, n)];
  if (s->value == 0) p->used++;
  *s = (struct name_slot) @[{ byte, n, value }@];
  return true;
}
@#
void name_map_free(struct memory *m, struct name_map *p)
{
  memory_give(m, FOR_TOKENS, p->slot, p->room, sizeof *p->slot);
  *p = (struct name_map) @[{ NULL, 0, 0 }@];
}

@ The third structure answers ``what comes next?''. It is a heap of entries with two keys
each: the first decides, and where it is equal, the second. The encoder will use rank
and place, the learner count and pair; for both, the smallest entry is the next.

@<A heap of things to do@>=
struct entry { uint64_t first, second; };
struct heap { struct entry *e; size_t n, room; };
  /* |e[0]| is the smallest; |e[i]| is not larger than |e[2*i + 1]| and
     |e[2*i + 2]|; all zero is empty */
bool heap_push(struct memory *m, struct heap *h, struct entry e, struct error *why);
  /* puts an entry in; on failure the heap is as it was */
struct entry heap_pop(struct heap *h);
  /* takes the smallest of |h->n| $\ge 1$ entries out */
void heap_free(struct memory *m, struct heap *h);
  /* returns the block and empties the heap */

@ A new entry begins at the end and rises: as long as the entry above it is larger, that one comes
down. The way up is as long as the heap is deep, the logarithm of its size.

@<Put an entry into the heap@>=
static bool comes_before(struct entry a, struct entry b)
{
  return a.first < b.first || (a.first == b.first && a.second < b.second);
}
@#
bool heap_push(struct memory *m, struct heap *h, struct entry e, struct error *why)
{
  if (h->n == h->room) {
    size_t room = 2 * h->room + 32;
    struct entry *p = memory_grow(m, FOR_TOKENS, h->e, h->room, room, sizeof *p,
      why);
    if (p == NULL) return false;
    h->e = p, h->room = room;
  }
  size_t i = h->n++;
  for (; i > 0 && comes_before(e, h->e[(i - 1) / 2]); i = (i - 1) / 2)
    h->e[i] = h->e[(i - 1) / 2];
  h->e[i] = e;
  return true;
}

@ When the smallest is taken out, the last entry takes the free place at the top and sinks,
always to the side of the smaller of its two followers, until neither comes before it.

@<Take the smallest entry out@>=
struct entry heap_pop(struct heap *h)
{
  struct entry top = h->e[0], last = h->e[--h->n];
  size_t i = 0;
  for (;;) {
    size_t next = 2 * i + 1;
    if (next + 1 < h->n && comes_before(h->e[next + 1], h->e[next])) next++;
    if (next >= h->n || !comes_before(h->e[next], last)) break;
    h->e[i] = h->e[next];
    i = next;
  }
  h->e[i] = last;
  return top;
}
@#
void heap_free(struct memory *m, struct heap *h)
{
  memory_give(m, FOR_TOKENS, h->e, h->room, sizeof *h->e);
  *h = (struct heap) @[{ NULL, 0, 0 }@];
}

@ So much for the tools. None of them knows what it is used for, and none will be mentioned
again except by name.

@(table.h@>=
#ifndef INCIPIT_TABLE_H
#define INCIPIT_TABLE_H
#include "00-ground/ground.h"
@<A table from pairs to numbers@>@;
@<A table from letters to numbers@>@;
@<A heap of things to do@>@;
#endif

@ In the file each function stands before the first that calls it; growing calls |free|, which
the header has announced.

@(table.c@>=
#include <string.h>
#include "01-tokens/table.h"
@<Find a pair's slot, or the free one where it belongs@>@;
@<Give a table of pairs twice the room@>@;
@<Enter a pair, and return the table@>@;
@<Find a row's slot, or the free one where it belongs@>@;
@<Give a table of names twice the room@>@;
@<Enter a name, and return the table@>@;
@<Put an entry into the heap@>@;
@<Take the smallest entry out@>@;

@* Cutting the text first. \label{sec:split}
In the hand calculation the text was cut before every blank, and merges were learnt only inside
the pieces. Without the cut the pair ``\texttt{e\textvisiblespace}'' would be among the first
to be merged, for many English words end in \texttt{e}; and then \texttt{the} would be one token
before a blank, another one before a comma, a third at the end of a line. The cut costs a little
compression and buys a vocabulary of things that mean something.
@^pre-tokenizer@>

What exactly is a piece is part of the vocabulary: whoever cuts differently gets other ids, and
the model, which has seen only the right ones, understands less. The published tokenizers say it
with a regular expression. GPT-2's reads, in words: an English contraction such as \texttt{'ll};
or a row of letters, of digits, or of other signs, each with the one blank before it; or white
space, of which the last blank is left for the word that follows. Llama~3's is similar, but
takes digits in threes, any sign before a word, and line ends with what precedes
them. (The cut is called \emph{pre-tokenization} in the files.)
@^regular expression@>

@ We leave regular expressions to the library PCRE2, which compiles them to machine code. A
\emph{splitter} is a compiled pattern; the pieces of a text are its matches \emph{and} whatever
lies between them, in order, so that no letter of the text is lost even where a pattern
forgets one.
@^PCRE2@>

@<A pattern that cuts@>=
struct splitter;
struct splitter *splitter_open(struct memory *m, const char *pattern, size_t n,
  bool literal, struct error *why);
  /* compiles |n| bytes of pattern, as they stand if |literal|; |m| must outlive
     the splitter, which takes from it at every use; null and a sentence */
void splitter_close(struct splitter *s);
  /* returns all of it; null is nothing */
void splitter_unicode(char version[24]);
  /* which version of Unicode the patterns know, as in \.{"14.0.0"} */
extern const char split_gpt2[], split_llama3[];
  /* the patterns of GPT-2 and of Llama 3 */

@ Cutting goes piece by piece, so that the longest text needs no list of its pieces. One splitter
serves one cutting at a time.

@<A pattern that cuts@>=
struct text_piece { const unsigned char *byte; size_t n; bool match; };
  /* |n| bytes inside the text; were they a match, or lay they between two? */
struct pieces { struct splitter *by; const unsigned char *text; size_t n, at, from,
  to; bool known, full; };
  /* a text that is being cut; for |pieces_next| only */
void pieces_begin(struct pieces *p, struct splitter *by,
  const unsigned char *text, size_t n);
  /* begins to cut |n| bytes, which must be whole characters; with a null splitter
     the text is one piece */
bool pieces_next(struct pieces *p, struct text_piece *next, struct error *why);
  /* the next piece; |next->n == 0| at the end, no other piece is empty; false
     and a sentence if the pattern gives up */

@ The two patterns, as their makers published them. They are long, and C joins strings that stand
next to each other.
@^GPT-2@>@^Llama 3@>

@<The published patterns@>=
const char split_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d|"@| " ?\\p{L}+| ?\\p{N}+|"@|
  " ?[^\\s\\p{L}\\p{N}]+|"@| "\\s+(?!\\S)|\\s+";
const char split_llama3[] = "(?i:'s|'t|'re|'ve|'m|"@| "'ll|'d)|"@|
  "[^\\r\\n\\p{L}\\p{N}]?"@| "\\p{L}+|\\p{N}{1,3}|"@|
  " ?[^\\s\\p{L}\\p{N}]+"@| "[\\r\\n]*|\\s*[\\r\\n]+|"@| "\\s+(?!\\S)|\\s+";

@ One thing in them does not mean the same to everybody. The \texttt{\textbackslash s} of the tokenizers is Unicode's
property |White_Space|. PCRE2's \texttt{\textbackslash s} with Unicode switched on has one character more,
U+180E, the Mongolian vowel separator, which was a space until Unicode~6.3. So \texttt{\textbackslash s} is
rewritten before compiling, and \texttt{\textbackslash S} likewise; inside brackets, too, where a property may stand
as well as a class.
@^white space@>

@<Rewrite the white space of a pattern@>=
static bool rewrite(struct memory *m, const char *pattern, size_t n,
  struct bytes *out, struct error *why)
{
  for (size_t i = 0; i < n;) {
    size_t length = pattern[i] == '\\' && i + 1 < n ? 2 : 1;
    const char *put = pattern + i;
    i += length;
    if (length == 2 && put[1] == 's') put = "\\p{White_Space}", length = 15;
    else if (length == 2 && put[1] == 'S') put = "\\P{White_Space}", length = 15;
    if (!bytes_push(m, out, put, length, why)) return false;
  }
  return true;
}

@ PCRE2 asks for memory through two functions of ours, but returns a block without saying how
large it was, which our books want to know. So this one adapter does what chapter 0 declined to
do: it writes the size before the block. The header is a whole 64 bytes, to keep the alignment.
Only the machine code lies elsewhere, in pages that PCRE2 asks of the system itself.

@<Let PCRE2 take its memory from ours@>=
enum { HEADER = 64 };
static void *take_for_pcre2(size_t n, void *m)
{
  if (n > SIZE_MAX - HEADER) return NULL;
  unsigned char *p = memory_take(m, FOR_TOKENS, n + HEADER, 1, NULL);
  if (p == NULL) return NULL;
  memcpy(p, &n, sizeof n);
  return p + HEADER;
}
@#
static void give_for_pcre2(void *block, void *m)
{
  if (block == NULL) return;
  size_t n;
  unsigned char *p = (unsigned char *) block - HEADER;
  memcpy(&n, p, sizeof n);
  memory_give(m, FOR_TOKENS, p, n + HEADER, 1);
}

@ A splitter keeps five things of PCRE2: where memory comes from, the code, the place for a
result, the limits of a search, and a stack for the machine code. The stack may grow to
a megabyte; a search that needs more is done again by PCRE2's interpreter, which works in memory
of ours.

@<What a splitter holds@>=
struct splitter {
  struct memory *home;
  pcre2_general_context *general;
  pcre2_code *code;
  pcre2_match_data *result;
  pcre2_match_context *limits;
  pcre2_jit_stack *stack;
};

@ Opening takes three steps, and after a failure of any the same function tidies up. What
PCRE2 has to say about a bad pattern goes into the sentence, with the place; the
caller knows from which file the pattern came.

@<Compile a pattern@>=
struct splitter *splitter_open(struct memory *m, const char *pattern, size_t n,
  bool literal, struct error *why)
{
  struct splitter *s = memory_take(m, FOR_TOKENS, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  s->home = m;
  s->general = pcre2_general_context_create(take_for_pcre2, give_for_pcre2, m);
  struct bytes text = @[{ NULL, 0, 0 }@];
  bool ok = s->general != NULL || error_say(why, "out of memory for a pattern");
  ok = ok && (literal ? bytes_push(m, &text, pattern, n, why)
    : rewrite(m, pattern, n, &text, why));
  ok = ok && compile(s, &text, literal, why) && make_room(s, why);
  bytes_free(m, &text);
  if (ok) return s;
  splitter_close(s);
  return NULL;
}

@ Unicode properties are switched on, and \texttt{\textbackslash C}, which could cut a character in two, off. If there
is no machine code to be had, on a system that forbids it or for lack of memory, the
interpreter serves.

@<Have PCRE2 compile it@>=
static bool compile(struct splitter *s, const struct bytes *text, bool literal,
  struct error *why)
{
  int code = 0;
  PCRE2_SIZE place = 0;
  pcre2_compile_context *c = pcre2_compile_context_create(s->general);
  if (c == NULL) return error_say(why, "out of memory for a pattern");
  s->code = pcre2_compile(text->n > 0 ? text->byte : (PCRE2_SPTR) "", text->n,
    PCRE2_UTF | (literal ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C),
    &code, &place, c);
  pcre2_compile_context_free(c);
  if (s->code != NULL) {
    pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE);
    return true;
  }
  unsigned char words[160] = "";
  pcre2_get_error_message(code, words, sizeof words);
  return error_say(why, "%s at byte %zu", (const char *) words, (size_t) place);
}

@ The other three things are needed for every search and made once.

@<Make room for the searches@>=
static bool make_room(struct splitter *s, struct error *why)
{
  s->result = pcre2_match_data_create(1, s->general);
  s->limits = pcre2_match_context_create(s->general);
  s->stack = pcre2_jit_stack_create(32 * 1024, 1024 * 1024, s->general);
  if (s->result == NULL || s->limits == NULL || s->stack == NULL)
    return error_say(why, "out of memory for a pattern");
  pcre2_jit_stack_assign(s->limits, NULL, s->stack);
  return true;
}
@#
void splitter_close(struct splitter *s)
{
  if (s == NULL) return;
  pcre2_jit_stack_free(s->stack);
  pcre2_match_context_free(s->limits);
  pcre2_match_data_free(s->result);
  pcre2_code_free(s->code);
  pcre2_general_context_free(s->general);
  memory_give(s->home, FOR_TOKENS, s, 1, sizeof *s);
}

@ A search goes on from where the last one ended. PCRE2 counts the steps of a search and gives up
after too many, which protects against patterns that try everything; the published ones need a few
steps a letter, so a limit in proportion to the text leaves them room and still ends the others.
@^backtracking@>

@<Begin to cut@>=
void pieces_begin(struct pieces *p, struct splitter *by,
  const unsigned char *text, size_t n)
{
  *p = (struct pieces) @[{ by, text, n, 0, 0, 0, false, false }@];
  if (by == NULL) p->from = p->to = n, p->known = true;
  else {
    size_t limit = n < 20000000 ? 10000000 + 100 * n : UINT32_MAX;
    pcre2_set_match_limit(by->limits, (uint32_t) limit);
  }
}

@ If there is no match left, we behave as if an empty one stood at the end of the text. The flag
|full| asks for a match that is not empty at its start; it is set after an empty one, which would
be found again and again. That the text is UTF-8 we know, and PCRE2 need not look:
it would look at all of it at every search.

@<Look for the next match@>=
static bool look(struct pieces *p, struct error *why)
{
  struct splitter *s = p->by;
  uint32_t options = PCRE2_NO_UTF_CHECK | (p->full ? PCRE2_NOTEMPTY_ATSTART : 0);
  int got = pcre2_match(s->code, p->text, p->n, p->at, options, s->result,
    s->limits);
  if (got == PCRE2_ERROR_JIT_STACKLIMIT)
    got = pcre2_match(s->code, p->text, p->n, p->at, options | PCRE2_NO_JIT,
      s->result, s->limits);
  p->from = p->to = p->n;
  p->known = true;
  if (got == PCRE2_ERROR_NOMATCH) return true;
  if (got < 0) return say_what_pcre2_says(got, p->at, why);
  const PCRE2_SIZE *found = pcre2_get_ovector_pointer(s->result);
  p->from = found[0], p->to = found[1];
  return (p->at <= p->from && p->from <= p->to)
    || error_say(why, "the pattern matches backwards at byte %zu", p->at);
}

@ Whoever reads such a message wants to know where in the text the search gave up, too.

@<Say why a search failed@>=
static bool say_what_pcre2_says(int code, size_t at, struct error *why)
{
  unsigned char words[160] = "";
  pcre2_get_error_message(code, words, sizeof words);
  return error_say(why, "cutting the text at byte %zu: %s", at,
    (const char *) words);
}

@ The next piece is what lies before the match, if anything does, and then the match, if it is not
empty. An empty match is no piece, but it ends the one before it, as it does in other languages'
libraries.

@<Cut off the next piece@>=
bool pieces_next(struct pieces *p, struct text_piece *next, struct error *why)
{
  *next = (struct text_piece) @[{ p->text + p->at, 0, false }@];
  while (p->at < p->n) {
    if (!p->known && !look(p, why)) return false;
    if (p->at < p->from) {
      next->n = p->from - p->at;
      p->at = p->from;
      return true;
    }
    p->known = false, p->full = p->from == p->to;
    if (p->full) continue;
    next->n = p->to - p->from, next->match = true;
    p->at = p->to;
    return true;
  }
  return true;
}

@ Unicode grows every year, and with it the letters that \texttt{\textbackslash p\{L\}} stands for. So which
piece a new character belongs to depends on the library's version; \.{incipit --version}
prints it.

@<Ask for the version of Unicode@>=
void splitter_unicode(char version[24])
{
  if (pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, NULL) > 24
      || pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version) < 0)
    strcpy(version, "?");
}

@ The header needs nothing of PCRE2, which stays a matter between \.{split.c} and the library.

@(split.h@>=
#ifndef INCIPIT_SPLIT_H
#define INCIPIT_SPLIT_H
#include "00-ground/ground.h"
@<A pattern that cuts@>@;
#endif

@ PCRE2 comes in three widths of characters, and wants to be told which one a file uses.

@(split.c@>=
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>
#include "01-tokens/split.h"
#include "01-tokens/utf8.h"
@<The published patterns@>@;
@<Rewrite the white space of a pattern@>@;
@<Let PCRE2 take its memory from ours@>@;
@<What a splitter holds@>@;
@<Have PCRE2 compile it@>@;
@<Make room for the searches@>@;
@<Compile a pattern@>@;
@<Say why a search failed@>@;
@<Look for the next match@>@;
@<Begin to cut@>@;
@<Cut off the next piece@>@;
@<Ask for the version of Unicode@>@;

@* Learning merges. \label{sec:learning}
The rule of the hand calculation, said once more and precisely. Ids 0 to 255 are the
values of a byte; the $k$-th merge makes id $256 + k$. The count of a pair is the number of
places, inside pieces, where its two ids stand side by side; places may overlap, so
\texttt{aaa} has \tok{a}\,\tok{a} twice. The pair with the highest count is merged, of several the one with
the smaller left id, and of those the one with the smaller right id. It is merged from left to
right without overlap, so that \texttt{aaa} becomes \tok{aa}\,\tok{a}. Then all is counted
again. A pair that occurs once is merged like any other; when there is no pair
left, learning ends.
@^tie@>

Other programs break ties otherwise: some take the pair that was met first, and then even the
order of a hash table may decide. As long as no two counts are equal all of them learn the same
list. After the first tie the lists part, and because every merge changes later counts they never meet
again. Our tests compare with such a program up to its first tie, and no further.

@<Merges, learnt@>=
struct bpe_merge { uint32_t left, right; };
  /* merge number $k$ of a list makes id $256 + k$ of these two */
bool bpe_train(struct memory *m, const char *text, size_t n, const char *pattern,
  size_t merges, struct bpe_merge **out, size_t *n_out, struct error *why);
  /* learns at most |merges| merges from |n| bytes, cut by |pattern| (null: one
     piece); |*out| has |*n_out| of them in a block of |merges|, to be given back
     by |bpe_forget|; Gage 1994, Sennrich et al. 2016 */
void bpe_forget(struct memory *m, struct bpe_merge *merge, size_t merges);
  /* returns what |bpe_train| gave, for as many |merges| as were asked for */

@ Done literally, each merge would read the whole text twice. For a text of a megabyte and
very many merges that is hours of work, in which hardly anything changes from one
merge to the next. So we keep three things up to date instead: the text as a chain of \emph{spots},
each with its id; for every pair, its count and the chain of the spots where it begins; and a
heap of the pairs by count. Then a merge touches only the places where it happens.

Every spot begins exactly one pair at a time, the one with its right neighbour. So the links
|before| and |after| of the pair's chain can lie in the spot itself, and all chains together
need no more room than the text.
@^linked list@>

@<What the learner knows@>=
enum { NOWHERE = UINT32_MAX }; /* the end of a chain */
struct spot {
  uint32_t id, prev, next; /* the neighbours in the piece */
  uint32_t before, after; /* the neighbours in the pair's chain */
  uint32_t times; /* how often the piece stands in the text */
};
struct pair { uint64_t count; uint32_t left, right, first, last; };
struct trainer {
  struct memory *m;
  struct error *why;
  struct chunk *part; size_t n_chunks, room_chunks;
  struct name_map known; /* from a piece's letters to its number, plus 1 */
  struct spot *at; size_t n_at;
  struct pair *of; size_t n_of, room_of;
  struct pair_map number; /* from a pair to its number, plus 1 */
  struct heap queue;
};

@ A long text in which every other line has a \texttt{the} has
that piece very many times, and whatever happens to one of them happens to all. So equal pieces
are kept once, with the number of |times| they occur. This alone makes learning from a large
text about as fast as learning from its dictionary.

@<What the learner knows@>=
struct chunk { const unsigned char *byte; size_t n; uint32_t times; };

@ A piece of one byte has no pair, but it does no harm either; it is entered like the others.

@<Enter a piece of the text@>=
static bool enter_piece(struct trainer *t, const unsigned char *byte, size_t n)
{
  uint32_t known = name_map_get(&t->known, byte, n);
  if (known != 0) {
    t->part[known - 1].times++;
    return true;
  }
  if (t->n_chunks == t->room_chunks) {
    size_t room = 2 * t->room_chunks + 64;
    struct chunk *p = memory_grow(t->m, FOR_TOKENS, t->part, t->room_chunks,
      room, sizeof *p, t->why);
    if (p == NULL) return false;
    t->part = p, t->room_chunks = room;
  }
  t->part[t->n_chunks++] = (struct chunk) @[{ byte, n, 1 }@];
  t->n_at += n;
  return name_map_put(t->m, &t->known, byte, n, (uint32_t) t->n_chunks, t->why);
}

@ The text is cut as in \cref{sec:split}. Bytes that are no characters cannot be shown to a pattern;
each run of them is a piece of its own.

@<Collect the pieces of the text@>=
static bool collect(struct trainer *t, const unsigned char *text, size_t n,
  struct splitter *by)
{
  if (by == NULL) return n == 0 || enter_piece(t, text, n);
  for (size_t at = 0, length = 0; at < n; at += length) {
    bool whole;
    struct pieces p;
    struct text_piece next;
    length = utf8_run(text + at, n - at, &whole);
    pieces_begin(&p, whole ? by : NULL, text + at, length);
    do {
      if (!pieces_next(&p, &next, t->why)) return false;
      if (next.n > 0 && !enter_piece(t, next.byte, next.n)) return false;
    } while (next.n > 0);
  }
  return true;
}

@ To enter a spot in the chain of its pair is to find the pair, or to make it, and to append.
Because we always go through pieces from left to right, the spots of every chain stand in the order of
the text, and ``from left to right'' will later need no sorting.

@<Enter the pair that begins at a spot@>=
static bool link_pair(struct trainer *t, uint32_t i)
{
  uint32_t left = t->at[i].id, right = t->at[t->at[i].next].id;
  uint32_t k = pair_map_get(&t->number, left, right);
  if (k == 0 && !new_pair(t, left, right, &k)) return false;
  struct pair *p = &t->of[k - 1];
  t->at[i].before = p->last, t->at[i].after = NOWHERE;
  if (p->last == NOWHERE) p->first = i;
  else t->at[p->last].after = i;
  p->last = i;
  p->count += t->at[i].times;
  return true;
}

@ A new pair gets the next number and an empty chain.

@<Make room for a new pair@>=
static bool new_pair(struct trainer *t, uint32_t left, uint32_t right, uint32_t *k)
{
  if (t->n_of == t->room_of) {
    size_t room = 2 * t->room_of + 256;
    struct pair *p = memory_grow(t->m, FOR_TOKENS, t->of, t->room_of, room,
      sizeof *p, t->why);
    if (p == NULL) return false;
    t->of = p, t->room_of = room;
  }
  *k = (uint32_t) (t->n_of + 1);
  if (!pair_map_put(t->m, &t->number, left, right, *k, t->why)) return false;
  t->of[t->n_of++] = (struct pair) @[{ 0, left, right, NOWHERE, NOWHERE }@];
  return true;
}

@ To take a spot out of its chain is to let its two neighbours there know each other.

@<Strike out the pair that begins at a spot@>=
static void unlink_pair(struct trainer *t, uint32_t i)
{
  const struct spot *s = &t->at[i];
  uint32_t k = pair_map_get(&t->number, s->id, t->at[s->next].id);
  struct pair *p = &t->of[k - 1];
  if (s->before == NOWHERE) p->first = s->after;
  else t->at[s->before].after = s->after;
  if (s->after == NOWHERE) p->last = s->before;
  else t->at[s->after].before = s->before;
  p->count -= s->times;
}

@ The chain of spots is laid out once, piece after piece. At the ends of a piece there is no
neighbour, and so no pair reaches from one piece into the next.

@<Lay out the spots and count the pairs@>=
static bool lay_out(struct trainer *t)
{
  if (t->n_at >= NOWHERE)
    return error_say(t->why, "a text of %zu bytes is too long to learn from",
      t->n_at);
  t->at = memory_take(t->m, FOR_TOKENS, t->n_at, sizeof *t->at, t->why);
  if (t->at == NULL) return false;
  uint32_t i = 0;
  for (size_t c = 0; c < t->n_chunks; c++) {
    uint32_t first = i, last = i + (uint32_t) t->part[c].n - 1;
    for (; i <= last; i++)
      t->at[i] = (struct spot) @[{ t->part[c].byte[i - first],@|
        i > first ? i - 1 : NOWHERE, i < last ? i + 1 : NOWHERE,@|
        NOWHERE, NOWHERE, t->part[c].times }@];
    for (i = first; i < last; i++)
      if (!link_pair(t, i)) return false;
    i = last + 1;
  }
  return queue_from(t, 0);
}

@ The heap takes the smallest first, so a count goes in with its bits inverted. Equal counts are
decided by the second key, which has the left id above the right one; that is the rule
for ties.

@<Put pairs into the queue@>=
static bool queue_pair(struct trainer *t, const struct pair *p)
{
  struct entry e = @[{ ~p->count, (uint64_t) p->left << 32 | p->right }@];
  return p->count == 0 || heap_push(t->m, &t->queue, e, t->why);
}
@#
static bool queue_from(struct trainer *t, size_t k)
{
  for (; k < t->n_of; k++)
    if (!queue_pair(t, &t->of[k])) return false;
  return true;
}

@ A count in the heap may be out of date. But it can only be too high: a pair's count grows during the
one step that makes the newer of its two ids, after which it is put into the heap, and
from then on other merges can only take places away from it. So we take the top, look at
the true count, and if that is lower, put it back with the true one. What comes out
with the right count is the highest.
@^lazy deletion@>

@<Find the pair with the highest count@>=
static bool best_pair(struct trainer *t, struct pair **best)
{
  *best = NULL;
  while (t->queue.n > 0) {
    struct entry e = heap_pop(&t->queue);
    uint32_t k = pair_map_get(&t->number, (uint32_t) (e.second >> 32),
      (uint32_t) e.second);
    struct pair *p = &t->of[k - 1];
    if (p->count == ~e.first) {
      *best = p;
      return true;
    }
    if (!queue_pair(t, p)) return false;
  }
  return true;
}

@ One place is merged like this: the pairs that the two ids form with their neighbours are struck
out, the right spot leaves the piece, the left one takes the new id, and the new pairs
are entered. Four chains change, and nothing else in the whole text.

@<Merge at one place@>=
static bool merge_at(struct trainer *t, uint32_t i, uint32_t made)
{
  uint32_t prev = t->at[i].prev, gone = t->at[i].next, next = t->at[gone].next;
  if (prev != NOWHERE) unlink_pair(t, prev);
  if (next != NOWHERE) unlink_pair(t, gone);
  unlink_pair(t, i);
  t->at[i].id = made, t->at[i].next = next;
  if (next != NOWHERE) t->at[next].prev = i;
  if (prev != NOWHERE && !link_pair(t, prev)) return false;
  return next == NOWHERE || link_pair(t, i);
}

@ Merging a pair everywhere is merging at the head of its chain until the chain is empty. An
overlap takes care of itself: in \texttt{aaa} the merge at the first place strikes out the pair
that began at the second. All pairs with the new id are new, and enter the heap when their
counts are final.

@<Merge a pair wherever it stands@>=
static bool merge_all(struct trainer *t, const struct pair *best, uint32_t made)
{
  size_t k = pair_map_get(&t->number, best->left, best->right) - 1;
  size_t fresh = t->n_of;
  while (t->of[k].first != NOWHERE)
    if (!merge_at(t, t->of[k].first, made)) return false;
  return queue_from(t, fresh);
}

@ The learner itself is now short. Whatever happens, its memory goes back in the end, and the
list of merges too if it cannot be finished.

@<Learn merges from a text@>=
bool bpe_train(struct memory *m, const char *text, size_t n, const char *pattern,
  size_t merges, struct bpe_merge **out, size_t *n_out, struct error *why)
{
  struct trainer t = @[{ .m = m, .why = why }@];
  struct splitter *by = NULL;
  struct bpe_merge *list = NULL;
  *out = NULL, *n_out = 0;
  bool ok = merges < NOWHERE - 256
    || error_say(why, "%zu merges are more than ids can number", merges);
  if (ok && pattern != NULL)
    ok = (by = splitter_open(m, pattern, strlen(pattern), false, why)) != NULL;
  ok = ok && collect(&t, (const unsigned char *) text, n, by) && lay_out(&t);
  splitter_close(by);
  if (ok) list = memory_take(m, FOR_TOKENS, merges, sizeof *list, why);
  ok = ok && list != NULL && learn(&t, list, merges, n_out);
  @<Return what the learner took@>@;
  if (ok) *out = list;
  else bpe_forget(m, list, merges);
  return ok;
}
@#
void bpe_forget(struct memory *m, struct bpe_merge *merge, size_t merges)
{
  memory_give(m, FOR_TOKENS, merge, merges, sizeof *merge);
}

@ This is the loop that the hand calculation went through nine times.

@<Find and merge, again and again@>=
static bool learn(struct trainer *t, struct bpe_merge *list, size_t merges,
  size_t *n_out)
{
  size_t k = 0;
  for (; k < merges; k++) {
    struct pair *best;
    if (!best_pair(t, &best)) return false;
    if (best == NULL) break;
    list[k] = (struct bpe_merge) @[{ best->left, best->right }@];
    if (!merge_all(t, best, (uint32_t) (256 + k))) return false;
  }
  *n_out = k;
  return true;
}

@ Five blocks were taken, each with the room that was asked for it.

@<Return what the learner took@>=
heap_free(m, &t.queue);
pair_map_free(m, &t.number);
name_map_free(m, &t.known);
memory_give(m, FOR_TOKENS, t.of, t.room_of, sizeof *t.of);
memory_give(m, FOR_TOKENS, t.at, t.at == NULL ? 0 : t.n_at, sizeof *t.at);
memory_give(m, FOR_TOKENS, t.part, t.room_chunks, sizeof *t.part);

@* Encoding a piece. \label{sec:encoding}
To encode is to apply the merges in the order in which they were learnt. Why in that order, and not,
say, always the longest token that fits? Because the model has been trained on texts that were
encoded so, and any other spelling, though it stands for the same letters, is a row of
ids that it has hardly ever seen. And why is it the order of learning at all? Because a merge was
learnt on a text in which all earlier ones had been applied: \tok{\ }\,\tok{th} can
only be found where \tok{t}\,\tok{h} is \tok{th} already.
@^rank@>

So: look at all neighbours, merge the pair with the lowest rank, of several equal ones the
leftmost, and repeat until no two neighbours have a rank. This is a definition, and it is a
slow program: each round looks at everything. Usually it doesn't matter, because pieces are
words. But somebody's text will be a megabyte of one letter without a blank; then there are
as many rounds as letters, and the program looks for hours.
@^quadratic@>

@<Merges, applied@>=
struct ids { uint32_t *id; size_t n, room; };
  /* a row of ids that grows, like |struct bytes|; all zero is empty */
bool ids_push(struct memory *m, struct ids *list, uint32_t id, struct error *why);
  /* appends one id; on failure the row is as it was */
void ids_free(struct memory *m, struct ids *list);
  /* returns the block and empties the row */

@ The row of ids grows as that of bytes does; only here the elements come one by one.

@<Append an id, and return the row@>=
bool ids_push(struct memory *m, struct ids *list, uint32_t id, struct error *why)
{
  if (list->n == list->room) {
    size_t room = 2 * list->room + 32;
    uint32_t *p = memory_grow(m, FOR_TOKENS, list->id, list->room, room,
      sizeof *p, why);
    if (p == NULL) return false;
    list->id = p, list->room = room;
  }
  list->id[list->n++] = id;
  return true;
}
@#
void ids_free(struct memory *m, struct ids *list)
{
  memory_give(m, FOR_TOKENS, list->id, list->room, sizeof *list->id);
  *list = (struct ids) @[{ NULL, 0, 0 }@];
}

@ A published vocabulary numbers its tokens as it likes: the ids of the bytes may be anything, and
the $k$-th merge may make any id. So the encoder has a list of \emph{rules}, whose places are
the ranks, and a table from pairs to ranks.

@<Merges, applied@>=
#define BPE_NONE UINT32_MAX
struct bpe_rule { uint32_t left, right, made; };
struct bpe { uint32_t byte_id[256]; struct bpe_rule *rule; size_t n, room;
  struct pair_map rank; };
  /* the id of every byte, |BPE_NONE| if it has none; |n| rules, the lower the
     earlier; from a pair to its rank, plus 1 */
bool bpe_add(struct memory *m, struct bpe *b, uint32_t left, uint32_t right,
  uint32_t made, struct error *why);
  /* appends a rule; of two rules for one pair the later counts */
void bpe_free(struct memory *m, struct bpe *b);
  /* returns the blocks of the rules */

@ Work needs a workspace, and a text has many pieces; so whoever encodes brings one that is used
again for every piece. It also counts the looks into the table of ranks, by which we will compare
the fast way with the definition.

@<Merges, applied@>=
struct bpe_node { uint32_t id, prev, next; };
struct bpe_work { struct bpe_node *node; size_t room; struct heap queue;
  uint64_t looks; };
  /* a chain of |room| nodes, what is to be done, and a count of look-ups; all
     zero is an empty workspace */
bool bpe_encode(const struct bpe *b, struct memory *m, struct bpe_work *w,
  const unsigned char *byte, size_t n, struct ids *out, struct error *why);
  /* appends the ids of a piece of |n| bytes; the time is of the order
     $n\log n$ for any piece; on failure |out| is as it was */
void bpe_work_free(struct memory *m, struct bpe_work *w);
  /* returns the workspace */

@ Appending a rule enters it in the table; an older rule for the same pair stays in the list, where
nothing leads to it any more.

@<Append a rule, and return them@>=
bool bpe_add(struct memory *m, struct bpe *b, uint32_t left, uint32_t right,
  uint32_t made, struct error *why)
{
  if (b->n == b->room) {
    size_t room = 2 * b->room + 256;
    struct bpe_rule *p = memory_grow(m, FOR_TOKENS, b->rule, b->room, room,
      sizeof *p, why);
    if (p == NULL) return false;
    b->rule = p, b->room = room;
  }
  b->rule[b->n] = (struct bpe_rule) @[{ left, right, made }@];
  if (!pair_map_put(m, &b->rank, left, right, (uint32_t) b->n + 1, why))
    return false;
  b->n++;
  return true;
}
@#
void bpe_free(struct memory *m, struct bpe *b)
{
  pair_map_free(m, &b->rank);
  memory_give(m, FOR_TOKENS, b->rule, b->room, sizeof *b->rule);
  b->rule = NULL, b->n = b->room = 0;
}

@ The fast way keeps the ids in a chain, as the learner does, and the candidates for merging in a
heap, ordered by rank and then by place. A candidate that has been overtaken by another merge
stays in the heap, and is recognized when it comes out: the two ids that its rule wants no longer
stand there. Each merge makes at most two new candidates, and there are fewer than $n$ merges, so
at most $3n$ candidates pass through the heap, each in $\log n$ steps.
@^heap@>

@<Encode a piece@>=
bool bpe_encode(const struct bpe *b, struct memory *m, struct bpe_work *w,
  const unsigned char *byte, size_t n, struct ids *out, struct error *why)
{
  size_t start = out->n;
  if (n == 0) return true;
  if (!spell_in_bytes(b, m, w, byte, n, why)) return false;
  while (w->queue.n > 0) {
    struct entry e = heap_pop(&w->queue);
    const struct bpe_rule *r = &b->rule[e.first];
    uint32_t i = (uint32_t) e.second, next = w->node[i].next;
    if (w->node[i].id != r->left || next == NOWHERE
      || w->node[next].id != r->right) continue;
    @<Merge the nodes |i| and |next|, and look at their neighbours@>@;
  }
  for (uint32_t i = 0; i != NOWHERE; i = w->node[i].next)
    if (!ids_push(m, out, w->node[i].id, why)) {
      out->n = start;
      return false;
    }
  return true;
}

@ The left node lives on with the new id. The right one gets an id that no rule wants, so that
candidates which still point to it are recognized, too.

@<Merge the nodes |i| and |next|, and look at their neighbours@>=
uint32_t after = w->node[next].next, before = w->node[i].prev;
w->node[i].id = r->made, w->node[i].next = after;
w->node[next].id = BPE_NONE;
if (after != NOWHERE) w->node[after].prev = i;
if (before != NOWHERE && !consider(b, m, w, before, why)) return false;
if (after != NOWHERE && !consider(b, m, w, i, why)) return false;

@ To consider a node is to look up the pair that it begins; if there is a rank, it is a
candidate.

@<Consider the pair that begins at a node@>=
static bool consider(const struct bpe *b, struct memory *m, struct bpe_work *w,
  uint32_t i, struct error *why)
{
  const struct bpe_node *left = &w->node[i], *right = &w->node[left->next];
  uint32_t rank = pair_map_get(&b->rank, left->id, right->id);
  w->looks++;
  if (rank == 0) return true;
  return heap_push(m, &w->queue, (struct entry) @[{ rank - 1, i }@], why);
}

@ In the beginning every byte is a node. A vocabulary without a token for some byte cannot spell
every text; the sentence says which byte it was.

@<Spell a piece in bytes@>=
static bool spell_in_bytes(const struct bpe *b, struct memory *m,
  struct bpe_work *w, const unsigned char *byte, size_t n, struct error *why)
{
  if (n >= NOWHERE) return error_say(why, "a piece of %zu bytes is too long", n);
  if (n > w->room) {
    bpe_work_free(m, w);
    w->node = memory_take(m, FOR_TOKENS, n, sizeof *w->node, why);
    if (w->node == NULL) return false;
    w->room = n;
  }
  w->queue.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t id = b->byte_id[byte[i]];
    if (id == BPE_NONE)
      return error_say(why, "the vocabulary cannot spell byte 0x%02x", byte[i]);
    w->node[i] = (struct bpe_node) @[{ id, i > 0 ? i - 1 : NOWHERE,@|
      i + 1 < n ? i + 1 : NOWHERE }@];
    if (i > 0 && !consider(b, m, w, i - 1, why)) return false;
  }
  return true;
}
@#
void bpe_work_free(struct memory *m, struct bpe_work *w)
{
  heap_free(m, &w->queue);
  memory_give(m, FOR_TOKENS, w->node, w->room, sizeof *w->node);
  w->node = NULL, w->room = 0;
}

@ Decoding needs no algorithm at all: every id stands for a row of bytes, and the text is these
rows, one after another. It can be left to the tokenizer, who owns them.

@(bpe.h@>=
#ifndef INCIPIT_BPE_H
#define INCIPIT_BPE_H
#include "00-ground/ground.h"
#include "01-tokens/table.h"
@<Merges, learnt@>@;
@<Merges, applied@>@;
#endif

@ In the file the learner comes first. Its structures stay inside.

@(bpe.c@>=
#include <string.h>
#include "01-tokens/bpe.h"
#include "01-tokens/split.h"
#include "01-tokens/utf8.h"
@<What the learner knows@>@;
@<Enter a piece of the text@>@;
@<Collect the pieces of the text@>@;
@<Make room for a new pair@>@;
@<Enter the pair that begins at a spot@>@;
@<Strike out the pair that begins at a spot@>@;
@<Put pairs into the queue@>@;
@<Lay out the spots and count the pairs@>@;
@<Find the pair with the highest count@>@;
@<Merge at one place@>@;
@<Merge a pair wherever it stands@>@;
@<Find and merge, again and again@>@;
@<Learn merges from a text@>@;
@<Append an id, and return the row@>@;
@<Append a rule, and return them@>@;
@<Consider the pair that begins at a node@>@;
@<Spell a piece in bytes@>@;
@<Encode a piece@>@;

@* A tokenizer. \label{sec:tokenizer}
What other people publish as a tokenizer is more than a list of merges. Some texts stand for one
id as a whole, like the \texttt{<|endoftext|>} that ends a document in GPT-2's training text.
Some tokenizers first bring the letters into a normal form; some put a blank before the text; some
put an id of their own before all others. Each of these changes ids, so
each must be done exactly as the model's makers did it, or refused in words. A tokenizer that
is nearly right is worse than none: the model answers anyway, only a little more stupidly, and
nobody knows why.
@^special token@>

This is what other programs see of it.

@<A tokenizer, from outside@>=
struct tokenizer;
struct tokenizer *tokenizer_open(struct memory *m, const char *path,
  struct error *why);
  /* reads a \.{tokenizer.json}, or a directory that has one, or has
     \.{vocab.json} and \.{merges.txt}, or \.{encoder.json} and \.{vocab.bpe};
     null and a sentence; |m| must outlive it */
void tokenizer_close(struct memory *m, struct tokenizer *t);
  /* returns all of it; null is nothing */
bool tokenizer_encode(struct tokenizer *t, struct memory *m, const char *text,
  size_t n, bool add_special, bool parse_special, struct ids *out,
  struct error *why);
  /* appends the ids of |n| bytes; |add_special|: also the ids that the files put
     before and after a text; |parse_special|: the text of a special token is that
     token; on failure |out| is as it was; one thread at a time */
bool tokenizer_decode(const struct tokenizer *t, struct memory *m,
  const uint32_t *id, size_t n, bool skip_special, struct bytes *out,
  struct error *why);
  /* appends the bytes of |n| ids; an id that the tokenizer does not know has none;
     on failure |out| is as it was */

@ A directory may have no tokenizer, or one of a kind that this chapter does not treat, and the model in
it can be used all the same by those who bring ids. So there is a second way of opening, which
tells these cases apart from a tokenizer that is broken.

@<A tokenizer, from outside@>=
enum tokenizer_found { TOKENIZER_OPEN, TOKENIZER_ABSENT, TOKENIZER_OTHER_KIND,
  TOKENIZER_REFUSED };
  /* it is open; there is none; it is of another kind (Unigram, WordPiece, BPE on
     characters); it is of our kind, but wrong, or has what we do not do */
enum tokenizer_found tokenizer_try(struct memory *m, const char *path,
  struct tokenizer **t, struct error *why);
  /* like |tokenizer_open|; |*t| is null and there is a sentence unless it is open */

@ A command that shows what is in a model's directory asks for the rest.

@<A tokenizer, from outside@>=
const char *tokenizer_kind(const struct tokenizer *t);
  /* what it is, in words: \.{"byte-level BPE"} */
size_t tokenizer_vocab_size(const struct tokenizer *t);
  /* the largest id plus 1 */
bool tokenizer_is_special(const struct tokenizer *t, uint32_t id);
  /* is this id that of a token marked special? */
bool tokenizer_find(const struct tokenizer *t, const char *text, size_t n,
  uint32_t *id);
  /* the id of the token whose bytes are these |n|, added tokens first */
const unsigned char *tokenizer_text(const struct tokenizer *t, uint32_t id,
  size_t *n);
  /* the |*n| bytes of an id, which belong to the tokenizer; unknown ids have 0 */
bool tokenizer_bos(const struct tokenizer *t, uint32_t *id);
  /* the id that |add_special| puts first, if it puts one */
struct tokenizer_extra { uint32_t id; const unsigned char *byte; size_t n;
  bool special; };
size_t tokenizer_extras(const struct tokenizer *t);
  /* how many tokens were added to the vocabulary, special or not */
struct tokenizer_extra tokenizer_extra_at(const struct tokenizer *t, size_t i);
  /* number |i| of them; the bytes belong to the tokenizer */

@ Finally, merges that were learnt here become a tokenizer, in memory or as a file that other
programs can read.

@<A tokenizer, from outside@>=
struct tokenizer *tokenizer_from_merges(struct memory *m,
  const struct bpe_merge *merge, size_t n, struct error *why);
  /* id 0 is \.{<|endoftext|>}, 1 to 256 are the bytes, then come |n| merges;
     text is cut by |split_gpt2|; null and a sentence */
bool tokenizer_write(struct memory *m, const char *path,
  const struct bpe_merge *merge, size_t n, struct error *why);
  /* writes the same as a \.{tokenizer.json} that Hugging Face's library reads */
void tokenizer_unicode(char pcre2[24], char utf8proc[24]);
  /* which versions of Unicode the patterns and the normal form know */

@ Inside, the letters of all tokens lie in one block, and a token is a \emph{span} of it. For every
id there are two spans, nearly always the same one: how the vocabulary spells the token, which
matters when it is looked up whole, and what it reads as, which is what decoding gives.

@<A tokenizer, from inside@>=
struct span { uint32_t at, n; }; /* |n| bytes from |at| on; |n == 0|: nothing */
struct known_id { struct span piece, text; bool special; };
struct added_token { struct span text; uint32_t id; bool special, lstrip, rstrip,
  single_word, normalized; };
struct stage { struct splitter *by; bool keep_matches, keep_gaps; };
  /* one cut of the text; no splitter: a blank before it, unless it has one */
struct twig { uint32_t child, sibling, extra; unsigned char byte; };
  /* a node of the tree of added tokens; 0: none; |extra| counts from 1 */
enum { MAX_STAGES = 16, MAX_ID = 1 << 22 };
struct tokenizer {
  struct bytes letters;
  struct known_id *known_as; size_t n_known, room_known; /* by id */
  struct name_map by_piece; /* from a token's spelling to its id, plus 1 */
  struct bpe rules;
  struct added_token *more; size_t n_more, room_more;
  struct twig *tree; size_t n_twigs, room_twigs;
  struct stage cut[MAX_STAGES]; size_t n_cuts;
  struct ids front, back; /* what the post-processor adds */
  bool nfc, ignore_merges;
};

@ The functions that fill it serve the reader of files and the maker from merges alike.

@<A tokenizer, from inside@>=
bool keep_letters(struct memory *m, struct tokenizer *t, const void *byte, size_t n,
  struct span *where, struct error *why);
  /* copies letters into the tokenizer's block */
struct known_id *know_id(struct memory *m, struct tokenizer *t, uint32_t id,
  struct error *why);
  /* the entry of an id, made if it is not there; null and a sentence */
bool index_pieces(struct memory *m, struct tokenizer *t, struct error *why);
  /* after the last piece: makes |by_piece|, finds the ids of the bytes */
bool add_extra(struct memory *m, struct tokenizer *t, const struct added_token *x,
  struct error *why);
  /* adds a token; its letters are kept already */
bool index_extras(struct memory *m, struct tokenizer *t, struct error *why);
  /* after the last one: makes the tree */
bool normal_form(struct memory *m, const unsigned char *text, size_t n,
  struct bytes *out, struct error *why);
  /* appends the text in the normal form NFC */

@ A span counts in 32 bits, which is enough for 4 GiB of vocabulary; a file that
has more is refused, and not wrapped around.

@<Keep letters, and know ids@>=
bool keep_letters(struct memory *m, struct tokenizer *t, const void *byte, size_t n,
  struct span *where, struct error *why)
{
  if (n > UINT32_MAX - t->letters.n)
    return error_say(why, "a vocabulary of more than 4 GiB of letters");
  *where = (struct span) @[{ (uint32_t) t->letters.n, (uint32_t) n }@];
  return bytes_push(m, &t->letters, byte, n, why);
}
@#
struct known_id *know_id(struct memory *m, struct tokenizer *t, uint32_t id,
  struct error *why)
{
  if (id >= t->room_known) {
    size_t room = 2 * (size_t) id + 256;
    struct known_id *p = memory_grow(m, FOR_TOKENS, t->known_as, t->room_known, room,
      sizeof *p, why);
    if (p == NULL) return NULL;
    t->known_as = p, t->room_known = room;
  }
  if (id >= t->n_known) t->n_known = (size_t) id + 1;
  return &t->known_as[id];
}

@ When all pieces are known the table can point to their letters, which will not move any more.
The ids of the single bytes come out of the table.

@<Make the table of pieces@>=
bool index_pieces(struct memory *m, struct tokenizer *t, struct error *why)
{
  for (size_t i = 0; i < t->n_known; i++) {
    struct span s = t->known_as[i].piece;
    if (s.n > 0 && !name_map_put(m, &t->by_piece, t->letters.byte + s.at, s.n,
      (uint32_t) i + 1, why)) return false;
  }
  for (int b = 0; b < 256; b++) {
    unsigned char byte = (unsigned char) b;
    uint32_t found = name_map_get(&t->by_piece, &byte, 1);
    t->rules.byte_id[b] = found == 0 ? BPE_NONE : found - 1;
  }
  return true;
}

@* Tokens that were added. \label{sec:added}
An \emph{added} token is found in the text before anything else is done, so no merge can come
between. Five marks say how. \emph{Special} tokens steer a conversation or end a document;
in a text that a user has typed they must stay ordinary letters, or the user could write what
only the program should. So they are recognized only on request; other added tokens always. An added token may
swallow the white space on its left or right; it may insist on being a whole word; and it
may be looked for before or after the text has been brought into its normal form.
@^special token@>

@<Add a token@>=
bool add_extra(struct memory *m, struct tokenizer *t, const struct added_token *x,
  struct error *why)
{
  if (t->n_more == t->room_more) {
    size_t room = 2 * t->room_more + 16;
    struct added_token *p = memory_grow(m, FOR_TOKENS, t->more, t->room_more, room,
      sizeof *p, why);
    if (p == NULL) return false;
    t->more = p, t->room_more = room;
  }
  struct known_id *k = know_id(m, t, x->id, why);
  if (k == NULL) return false;
  k->text = x->text, k->special = x->special;
  t->more[t->n_more++] = *x;
  return true;
}

@ Where several added tokens begin at the same letter, the longest is meant; where they overlap,
the one that begins first. Llama~3 has \val{tokens.llama3.special} added tokens that begin alike, and
comparing a text with all of them at every letter would take its time. So their letters are
arranged as a tree: below the root stand the possible first letters, below each of them the
possible second ones, and a token's number stands where its last letter is. There
are two roots, for the tokens that are looked for before the normal form (0) and after it (1).
@^trie@>

@<Make the tree of added tokens@>=
static bool new_twig(struct memory *m, struct tokenizer *t, unsigned char byte,
  uint32_t sibling, struct error *why)
{
  if (t->n_twigs == t->room_twigs) {
    size_t room = 2 * t->room_twigs + 64;
    struct twig *p = memory_grow(m, FOR_TOKENS, t->tree, t->room_twigs, room,
      sizeof *p, why);
    if (p == NULL) return false;
    t->tree = p, t->room_twigs = room;
  }
  t->tree[t->n_twigs++] = (struct twig) @[{ 0, sibling, 0, byte }@];
  return true;
}
@#
static bool plant(struct memory *m, struct tokenizer *t, uint32_t root,
  const unsigned char *byte, size_t n, uint32_t number, struct error *why)
{
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    uint32_t k = t->tree[at].child;
    while (k != 0 && t->tree[k].byte != byte[i]) k = t->tree[k].sibling;
    if (k == 0) {
      k = (uint32_t) t->n_twigs;
      if (!new_twig(m, t, byte[i], t->tree[at].child, why)) return false;
      t->tree[at].child = k;
    }
    at = k;
  }
  if (t->tree[at].extra == 0) t->tree[at].extra = number;
  return true;
}

@ A token that is looked for in the normal form must be in that form itself.

@<Make the tree of added tokens@>=
bool index_extras(struct memory *m, struct tokenizer *t, struct error *why)
{
  bool ok = new_twig(m, t, 0, 0, why) && new_twig(m, t, 0, 0, why);
  for (size_t i = 0; ok && i < t->n_more; i++) {
    const struct added_token *x = &t->more[i];
    const unsigned char *byte = t->letters.byte + x->text.at;
    struct bytes normal = @[{ NULL, 0, 0 }@];
    bool after = x->normalized && t->nfc;
    if (after) ok = normal_form(m, byte, x->text.n, &normal, why);
    ok = ok && plant(m, t, x->normalized ? 1 : 0, after ? normal.byte : byte,
      after ? normal.n : x->text.n, (uint32_t) i + 1, why);
    bytes_free(m, &normal);
  }
  return ok;
}

@ To find the longest token that begins at a letter we walk down the tree as long as the letters agree,
and remember the last token's end that we passed.

@<Find the longest added token here@>=
static const struct added_token *longest(const struct tokenizer *t, uint32_t root,
  const unsigned char *text, size_t n, size_t *length)
{
  const struct added_token *found = NULL;
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    at = t->tree[at].child;
    while (at != 0 && t->tree[at].byte != text[i]) at = t->tree[at].sibling;
    if (at == 0) break;
    if (t->tree[at].extra == 0) continue;
    found = &t->more[t->tree[at].extra - 1];
    *length = i + 1;
  }
  return found;
}

@ White space is here what Unicode's property of that name contains, a list that has not changed
for years and will not, since much depends on it.

@<Measure white space@>=
static bool is_space(uint32_t c)
{
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0
    || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029
    || c == 0x202f || c == 0x205f || c == 0x3000;
}
@#
static size_t space_after(const unsigned char *text, size_t n, size_t at)
{
  for (enum utf8_state state; at < n;) {
    size_t step = utf8_next(text + at, n - at, &state);
    if (!is_space(utf8_point(text + at, step))) break;
    at += step;
  }
  return at;
}

@ Backwards we step over continuation bytes to the beginning of each character.

@<Measure white space@>=
static size_t character_before(const unsigned char *text, size_t at)
{
  do at--; while ((text[at] & 0xc0) == 0x80);
  return at;
}
@#
static size_t space_before(const unsigned char *text, size_t at, size_t stop)
{
  while (at > stop) {
    size_t i = character_before(text, at);
    if (i < stop || !is_space(utf8_point(text + i, at - i))) break;
    at = i;
  }
  return at;
}

@ Whether a token stands as a whole word depends on its neighbours: letters, marks, decimal digits,
connecting punctuation and joiners belong to words. The library utf8proc knows the category of every
character; what it does not know is the property ``alphabetic'', of which the categories
leave out the circled and a few other enclosed letters, added here by their numbers.
@^utf8proc@>

@<Tell whether a character belongs to a word@>=
static bool in_word(const unsigned char *text, size_t length)
{
  uint32_t c = utf8_point(text, length);
  switch (utf8proc_category((utf8proc_int32_t) c)) {
  case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LL:@|
  case UTF8PROC_CATEGORY_LT: case UTF8PROC_CATEGORY_LM:@|
  case UTF8PROC_CATEGORY_LO: case UTF8PROC_CATEGORY_MN:@|
  case UTF8PROC_CATEGORY_MC: case UTF8PROC_CATEGORY_ME:@|
  case UTF8PROC_CATEGORY_ND: case UTF8PROC_CATEGORY_NL:@|
  case UTF8PROC_CATEGORY_PC:
    return true;
  default:
    return c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9)
      || (c >= 0x1f130 && c <= 0x1f149) || (c >= 0x1f150 && c <= 0x1f169)
      || (c >= 0x1f170 && c <= 0x1f189);
  }
}
@#
static bool whole_word(const unsigned char *text, size_t n, size_t from, size_t to)
{
  enum utf8_state state;
  size_t before = from > 0 ? character_before(text, from) : 0;
  return (from == 0 || !in_word(text + before, from - before))
    && (to == n || !in_word(text + to, utf8_next(text + to, n - to, &state)));
}

@* From text to ids. \label{sec:encode}
Encoding is a series of cuts. Into runs of characters and of what is none; at the added tokens
that stand there as written; at those that stand there in the normal form; by the stages of
the pre-tokenizer; and what is left are pieces for \cref{sec:encoding}. Everything that the functions
need on the way travels in one structure.

@<What an encoding needs on its way@>=
struct job { struct tokenizer *t; struct memory *m; struct ids *out;
  struct bpe_work work; bool parse_special; struct error *why; };

@ At the bottom is a piece. Some tokenizers look it up as a whole before they merge
(\texttt{ignore\_merges}: Llama~3's does, because its vocabulary has tokens that its own merges
do not reach).

@<Encode what needs no more cutting@>=
static bool encode_piece(struct job *j, const unsigned char *byte, size_t n)
{
  uint32_t whole = j->t->ignore_merges
    ? name_map_get(&j->t->by_piece, byte, n) : 0;
  if (whole != 0) return ids_push(j->m, j->out, whole - 1, j->why);
  return bpe_encode(&j->t->rules, j->m, &j->work, byte, n, j->out, j->why);
}

@ The stages of the pre-tokenizer apply one after another, each to the pieces that the one before
has left. A stage without a pattern puts a blank before its piece. A stage may drop its matches, or
what lies between them; the makers of such a file know why.

@<Cut by the stages of the pre-tokenizer@>=
static bool encode_from(struct job *j, size_t k, const unsigned char *text, size_t n)
{
  if (n == 0) return true;
  if (k == j->t->n_cuts) return encode_piece(j, text, n);
  const struct stage *s = &j->t->cut[k];
  if (s->by == NULL) return with_blank(j, k, text, n);
  struct pieces p;
  struct text_piece next;
  pieces_begin(&p, s->by, text, n);
  for (;;) {
    if (!pieces_next(&p, &next, j->why)) return false;
    if (next.n == 0) return true;
    if (next.match ? !s->keep_matches : !s->keep_gaps) continue;
    if (!encode_from(j, k + 1, next.byte, next.n)) return false;
  }
}

@ A blank before a text makes its first word look like all others: \tok{\ the} and not \tok{the}.
It takes a copy of the text, since the text is not ours to write in.

@<Put a blank before a piece@>=
static bool with_blank(struct job *j, size_t k, const unsigned char *text, size_t n)
{
  if (text[0] == ' ') return encode_from(j, k + 1, text, n);
  struct bytes copy = @[{ NULL, 0, 0 }@];
  bool ok = bytes_push(j->m, &copy, " ", 1, j->why)
    && bytes_push(j->m, &copy, text, n, j->why)
    && encode_from(j, k + 1, copy.byte, copy.n);
  bytes_free(j->m, &copy);
  return ok;
}

@ The two searches for added tokens are the same function. What lies between the tokens
goes on to the second search, by way of the normal form, and from there to the stages.

@<Go on with what lies between added tokens@>=
static bool encode_between(struct job *j, uint32_t root, const unsigned char *text,
  size_t n)
{
  if (root == 1) return encode_from(j, 0, text, n);
  if (!j->t->nfc) return encode_added(j, 1, text, n);
  struct bytes normal = @[{ NULL, 0, 0 }@];
  bool ok = normal_form(j->m, text, n, &normal, j->why)
    && encode_added(j, 1, normal.byte, normal.n);
  bytes_free(j->m, &normal);
  return ok;
}

@ A special token that is not wanted, or a word that is not whole, is passed over, letters and all:
the search goes on behind it, as Hugging Face's does, so what another token shares with
it is not found either.

@<Cut at the added tokens@>=
static bool encode_added(struct job *j, uint32_t root, const unsigned char *text,
  size_t n)
{
  size_t done = 0, length = 0;
  for (size_t i = 0; i < n;) {
    const struct added_token *x = longest(j->t, root, text + i, n - i, &length);
    if (x == NULL) {
      i++;
      continue;
    }
    size_t from = i, to = i += length;
    if (x->special && !j->parse_special) continue;
    if (x->single_word && !whole_word(text, n, from, to)) continue;
    if (x->lstrip) from = space_before(text, from, done < from ? done : from);
    if (x->rstrip) to = space_after(text, n, to);
    if (done < from && !encode_between(j, root, text + done, from - done))
      return false;
    if (!ids_push(j->m, j->out, x->id, j->why)) return false;
    done = to;
  }
  return done >= n || encode_between(j, root, text + done, n - done);
}

@ The normal form is a matter of characters that can be written in two ways: \texttt{\'e} is one
character, or an \texttt{e} and an accent. NFC makes one of them where there is one. utf8proc does it,
and takes its memory from the system; we copy the result and return it.
@^NFC@>

@<Bring a text into the normal form@>=
bool normal_form(struct memory *m, const unsigned char *text, size_t n,
  struct bytes *out, struct error *why)
{
  utf8proc_uint8_t *made = NULL;
  utf8proc_ssize_t length = utf8proc_map(text, (utf8proc_ssize_t) n, &made,
    UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  if (length < 0)
    return error_say(why, "the normal form: %s", utf8proc_errmsg(length));
  bool ok = bytes_push(m, out, made, (size_t) length, why);
  free(made);
  return ok;
}

@ The outermost cut is between characters and bytes that are none. The latter are spelt byte
by byte, so that \emph{every} row of bytes comes back from decoding as it was.

@<Encode a text@>=
bool tokenizer_encode(struct tokenizer *t, struct memory *m, const char *text,
  size_t n, bool add_special, bool parse_special, struct ids *out,
  struct error *why)
{
  struct job j = @[{ .t = t, .m = m, .out = out, .parse_special = parse_special,@|
    .why = why }@];
  const unsigned char *byte = (const unsigned char *) text;
  size_t start = out->n, length = 0;
  bool ok = !add_special || push_all(&j, &t->front), whole;
  for (size_t at = 0; ok && at < n; at += length) {
    length = utf8_run(byte + at, n - at, &whole);
    ok = whole ? encode_added(&j, 0, byte + at, length)
      : bpe_encode(&t->rules, m, &j.work, byte + at, length, out, why);
  }
  ok = ok && (!add_special || push_all(&j, &t->back));
  bpe_work_free(m, &j.work);
  if (!ok) out->n = start;
  return ok;
}

@ What the files put before and after a text are ids like any others.

@<Push the ids that the files add@>=
static bool push_all(struct job *j, const struct ids *list)
{
  for (size_t i = 0; i < list->n; i++)
    if (!ids_push(j->m, j->out, list->id[i], j->why)) return false;
  return true;
}

@* And back. \label{sec:decode}
Decoding puts the texts of the ids one after another. An id that the tokenizer does not know adds
nothing: models are often given more rows than their tokenizer has tokens, because some numbers
are rounder than others.

@<Decode ids, and answer questions about them@>=
const unsigned char *tokenizer_text(const struct tokenizer *t, uint32_t id, size_t *n)
{
  struct span s = @[{ 0, 0 }@];
  if (id < t->n_known) s = t->known_as[id].text;
  *n = s.n;
  return s.n > 0 ? t->letters.byte + s.at : (const unsigned char *) "";
}
@#
bool tokenizer_decode(const struct tokenizer *t, struct memory *m,
  const uint32_t *id, size_t n, bool skip_special, struct bytes *out,
  struct error *why)
{
  size_t start = out->n, length;
  for (size_t i = 0; i < n; i++) {
    if (skip_special && tokenizer_is_special(t, id[i])) continue;
    const unsigned char *text = tokenizer_text(t, id[i], &length);
    if (bytes_push(m, out, text, length, why)) continue;
    out->n = start;
    return false;
  }
  return true;
}

@ The other questions are answered by looking.

@<Decode ids, and answer questions about them@>=
bool tokenizer_is_special(const struct tokenizer *t, uint32_t id)
{
  return id < t->n_known && t->known_as[id].special;
}
@#
bool tokenizer_find(const struct tokenizer *t, const char *text, size_t n,
  uint32_t *id)
{
  for (size_t i = 0; i < t->n_more; i++) {
    struct span s = t->more[i].text;
    if (s.n != n || memcmp(t->letters.byte + s.at, text, n) != 0) continue;
    *id = t->more[i].id;
    return true;
  }
  uint32_t found = name_map_get(&t->by_piece, (const unsigned char *) text, n);
  if (found != 0) *id = found - 1;
  return found != 0;
}
@#
bool tokenizer_bos(const struct tokenizer *t, uint32_t *id)
{
  if (t->front.n > 0) *id = t->front.id[0];
  return t->front.n > 0;
}

@ A few are answered without looking.

@<Decode ids, and answer questions about them@>=
const char *tokenizer_kind(const struct tokenizer *t)
{
  (void) t;
  return "byte-level BPE";
}
@#
size_t tokenizer_vocab_size(const struct tokenizer *t)
{
  return t->n_known;
}
@#
size_t tokenizer_extras(const struct tokenizer *t)
{
  return t->n_more;
}
@#
struct tokenizer_extra tokenizer_extra_at(const struct tokenizer *t, size_t i)
{
  const struct added_token *x = &t->more[i];
  return (struct tokenizer_extra) @[{ x->id, t->letters.byte + x->text.at,@|
    x->text.n, x->special }@];
}
@#
void tokenizer_unicode(char pcre2[24], char utf8proc[24])
{
  splitter_unicode(pcre2);
  snprintf(utf8proc, 24, "%s", utf8proc_unicode_version());
}

@ Closing returns one block after another. It also serves when opening has failed half-way, because
whatever was not made yet is zero.

@<Close a tokenizer@>=
void tokenizer_close(struct memory *m, struct tokenizer *t)
{
  if (t == NULL) return;
  for (size_t i = 0; i < t->n_cuts; i++) splitter_close(t->cut[i].by);
  ids_free(m, &t->front);
  ids_free(m, &t->back);
  bpe_free(m, &t->rules);
  name_map_free(m, &t->by_piece);
  bytes_free(m, &t->letters);
  memory_give(m, FOR_TOKENS, t->known_as, t->room_known, sizeof *t->known_as);
  memory_give(m, FOR_TOKENS, t->more, t->room_more, sizeof *t->more);
  memory_give(m, FOR_TOKENS, t->tree, t->room_twigs, sizeof *t->tree);
  memory_give(m, FOR_TOKENS, t, 1, sizeof *t);
}

@ Merges from \cref{sec:learning} become a tokenizer whose ids are those of the learner plus one,
since id 0 goes to the end of the text. A token's letters are those of its two halves.

@<Make a tokenizer from merges@>=
static bool spell_merges(struct memory *m, struct tokenizer *t,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  for (uint32_t i = 0; i < 256 + n; i++) {
    struct known_id *k = know_id(m, t, i + 1, why);
    if (k == NULL) return false;
    unsigned char byte = (unsigned char) i;
    if (i < 256) {
      if (!keep_letters(m, t, &byte, 1, &k->piece, why)) return false;
    } else {
      struct bpe_merge two = merge[i - 256];
      if (two.left >= i || two.right >= i)
        return error_say(why, "merge %u joins ids that are not made yet", i - 256);
      @<Spell token |i + 1| as its two halves@>@;
      if (!bpe_add(m, &t->rules, two.left + 1, two.right + 1, i + 1, why))
        return false;
    }
    k->text = k->piece;
  }
  return true;
}

@ The two halves are appended one after the other, and the token's span covers both.

@<Spell token |i + 1| as its two halves@>=
struct span a = t->known_as[two.left + 1].piece, b =
  t->known_as[two.right + 1].piece, whole;
if (!keep_letters(m, t, NULL, 0, &whole, why)) return false;
if (!double_letters(m, t, a, why) || !double_letters(m, t, b, why)) return false;
k->piece = (struct span) @[{ whole.at, a.n + b.n }@];

@ Letters cannot be appended to a row from within itself, since the row may move while it grows. They
make a detour through a row of their own.

@<Append letters of the block to itself@>=
static bool double_letters(struct memory *m, struct tokenizer *t, struct span s,
  struct error *why)
{
  struct bytes copy = @[{ NULL, 0, 0 }@];
  struct span where;
  bool ok = bytes_push(m, &copy, t->letters.byte + s.at, s.n, why)
    && keep_letters(m, t, copy.byte, copy.n, &where, why);
  bytes_free(m, &copy);
  return ok;
}

@ With the letters spelt, the rest is a list of small steps. The file that |tokenizer_write|
writes describes exactly this, and a test compares the two.

@<Make a tokenizer from merges@>=
static const char end_of_text[] = "<|endoftext|>";
static bool finish_merges(struct memory *m, struct tokenizer *t, struct error *why)
{
  struct added_token x = @[{ .id = 0, .special = true }@];
  t->cut[0] = (struct stage) @[{ NULL, true, true }@];
  t->cut[0].by = splitter_open(m, split_gpt2, strlen(split_gpt2), false, why);
  if (t->cut[0].by == NULL) return false;
  t->n_cuts = 1;
  return keep_letters(m, t, end_of_text, strlen(end_of_text), &x.text, why)
    && index_pieces(m, t, why) && add_extra(m, t, &x, why)
    && index_extras(m, t, why);
}
@#
struct tokenizer *tokenizer_from_merges(struct memory *m,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  struct tokenizer *t = memory_take(m, FOR_TOKENS, 1, sizeof *t, why);
  if (t == NULL) return NULL;
  if (n < MAX_ID - 257 ? spell_merges(m, t, merge, n, why)
      && finish_merges(m, t, why) : error_say(why, "%zu merges are too many", n))
    return t;
  tokenizer_close(m, t);
  return NULL;
}

@ The outside of a tokenizer is for everybody, the inside for the two files that make one.

@(tokenizer.h@>=
#ifndef INCIPIT_TOKENIZER_H
#define INCIPIT_TOKENIZER_H
#include "01-tokens/bpe.h"
#include "01-tokens/split.h"
#include "01-tokens/utf8.h"
@<A tokenizer, from outside@>@;
#endif

@ The inside has a header of its own, which no other chapter includes.

@(inside.h@>=
#ifndef INCIPIT_INSIDE_H
#define INCIPIT_INSIDE_H
#include "01-tokens/tokenizer.h"
@<A tokenizer, from inside@>@;
#endif

@ In the file the searches call each other, so two of them are announced.

@(tokenizer.c@>=
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include "01-tokens/inside.h"
@<What an encoding needs on its way@>@;
static bool with_blank(struct job *j, size_t k, const unsigned char *text, size_t n);
static bool encode_added(struct job *j, uint32_t root, const unsigned char *text,
  size_t n);
@#
@<Keep letters, and know ids@>@;
@<Make the table of pieces@>@;
@<Add a token@>@;
@<Make the tree of added tokens@>@;
@<Find the longest added token here@>@;
@<Measure white space@>@;
@<Tell whether a character belongs to a word@>@;
@<Encode what needs no more cutting@>@;
@<Cut by the stages of the pre-tokenizer@>@;
@<Put a blank before a piece@>@;
@<Go on with what lies between added tokens@>@;
@<Cut at the added tokens@>@;
@<Bring a text into the normal form@>@;
@<Push the ids that the files add@>@;
@<Encode a text@>@;
@<Decode ids, and answer questions about them@>@;
@<Close a tokenizer@>@;
@<Append letters of the block to itself@>@;
@<Make a tokenizer from merges@>@;

@* Other people's files. \label{sec:files1}
Hugging Face's library keeps a tokenizer in one file of JSON, \.{tokenizer.json}. It describes a
machine of five parts: a normalizer, a pre-tokenizer, a model (the merges), a post-processor (what is
put before and after) and a decoder, each of a type from a long list. We build the types that byte-level
tokenizers use and refuse the others by name. What the file says about things that change no ids
(how offsets are trimmed, say) is read over.
@^Hugging Face@>@^tokenizer.json@>

The file spells bytes in a way of its own. JSON has no bytes, only characters, and a vocabulary
wants to be printed without blanks; so GPT-2's authors gave every byte a character that
can be seen. A byte that is a printable character of Latin-1 stands for itself; the others, in
order, are the characters from U+0100 on. The blank, byte 32, is the 33rd of the others, and so
it appears as U+0120, the letter \.G with a dot above that everybody who has looked into such a
file has wondered about.
@^byte alphabet@>

@<Spell a byte as a character, and back@>=
static bool seen(unsigned b)
{
  return (b >= 33 && b <= 126) || (b >= 161 && b <= 255 && b != 173);
}
@#
static uint32_t alphabet(unsigned b)
{
  if (seen(b)) return b;
  return b <= 32 ? 256 + b : b <= 160 ? 256 + 33 + (b - 127) : 256 + 33 + 34;
}
@#
static int alphabet_byte(uint32_t c)
{
  if (c < 256) return seen(c) ? (int) c : -1;
  if (c <= 256 + 32) return (int) (c - 256);
  if (c <= 256 + 32 + 34) return (int) (c - 256 - 33 + 127);
  return c == 256 + 33 + 34 ? 173 : -1;
}

@ A word of the vocabulary is turned into its bytes character by character. A word with a character
that stands for no byte cannot be spelt by merges; it still has a number and reads as it is
written.

@<Turn a word of the file into bytes@>=
static bool to_bytes(struct reader *r, const char *text, size_t n, struct bytes *out,
  bool *spelt)
{
  const unsigned char *c = (const unsigned char *) text;
  size_t start = out->n, length = 0;
  *spelt = true;
  for (size_t at = 0; at < n && *spelt; at += length) {
    enum utf8_state state;
    length = utf8_next(c + at, n - at, &state);
    int b = alphabet_byte(utf8_point(c + at, length));
    unsigned char byte = (unsigned char) b;
    *spelt = b >= 0;
    if (*spelt && !bytes_push(r->m, out, &byte, 1, r->why)) return false;
  }
  if (*spelt) return true;
  out->n = start;
  return bytes_push(r->m, out, text, n, r->why);
}

@ What all reading functions need is the tokenizer to be filled, the file's name for messages, and
a row of bytes to work in.

@<What reading a file needs@>=
struct reader { struct memory *m; struct tokenizer *t; const char *file;
  json_t *vocab; struct bytes row; bool ours; struct error *why; };

@ Every refusal has the four parts of chapter 0. What was found is a value of JSON, of which we show
a string or an integer as it stands and of others the kind.

@<Refuse a field@>=
static const char *shown(const json_t *v, char room[80])
{
  if (v == NULL) return "missing";
  if (json_is_string(v)) snprintf(room, 80, "\"%.70s\"", json_string_value(v));
  else if (json_is_integer(v))
    snprintf(room, 80, "%lld", (long long) json_integer_value(v));
  else return json_is_null(v) ? "null" : json_is_true(v) ? "true"
    : json_is_false(v) ? "false" : json_is_object(v) ? "an object"
    : json_is_array(v) ? "a list" : "a number with a point";
  return room;
}
@#
static bool refuse(struct reader *r, const char *field, const json_t *found,
  const char *wanted)
{
  char room[80];
  return error_found(r->why, r->file, field, shown(found, room), wanted);
}

@ A field's full name is built where it is needed; fields of lists have a number.

@<Refuse a field@>=
struct field_name { char name[160]; };
static struct field_name below(const char *where, const char *key)
{
  struct field_name p;
  snprintf(p.name, sizeof p.name, "%.100s%s%.50s", where, *where ? "." : "",
    key);
  return p;
}
@#
static struct field_name number_of(const char *where, size_t i)
{
  struct field_name p;
  snprintf(p.name, sizeof p.name, "%.130s[%zu]", where, i);
  return p;
}

@ A key that we have never heard of may change ids or not; we cannot know. So it is refused, unless its
value is a way of saying nothing: null, false, or empty.

@<Accept only keys that we know@>=
static bool says_nothing(const json_t *v)
{
  return v == NULL || json_is_null(v) || json_is_false(v)
    || (json_is_string(v) && json_string_length(v) == 0)
    || (json_is_array(v) && json_array_size(v) == 0)
    || (json_is_object(v) && json_object_size(v) == 0);
}
@#
static bool only_keys(struct reader *r, const char *where, json_t *object,
  const char *keys)
{
  const char *key;
  json_t *v;
  if (!json_is_object(object)) return refuse(r, where, object, "an object");
  json_object_foreach(object, key, v) {
    size_t n = strlen(key);
    const char *at = keys;
    while (*at != '\0' && !(strncmp(at, key, n) == 0 && at[n] == ' '))
      at = strchr(at, ' ') + 1;
    if (*at == '\0' && !says_nothing(v))
      return refuse(r, below(where, key).name, v, "a key that this reader knows");
  }
  return true;
}

@ Flags may be absent, and then have a default.

@<Read a flag@>=
static bool flag(struct reader *r, const char *where, json_t *object,
  const char *key, bool otherwise, bool *out)
{
  json_t *v = json_object_get(object, key);
  *out = v == NULL || json_is_null(v) ? otherwise : json_is_true(v);
  return v == NULL || json_is_null(v) || json_is_boolean(v)
    || refuse(r, below(where, key).name, v, "true or false");
}

@ An id is an integer from 0 on. The upper limit protects against a file of ten bytes that asks for
a table of many gigabytes; it is several times the size of the largest published vocabularies.

@<Read an id@>=
static bool read_id(struct reader *r, const char *field, const json_t *v,
  uint32_t *id)
{
  if (!json_is_integer(v) || json_integer_value(v) < 0
      || json_integer_value(v) >= MAX_ID)
    return refuse(r, field, v, "an integer from 0 to 4194303");
  *id = (uint32_t) json_integer_value(v);
  return true;
}

@ The vocabulary is an object from words to ids. Two words with one id would make decoding a matter
of luck.

@<Read the vocabulary@>=
static bool read_vocab(struct reader *r, const char *where)
{
  const char *key;
  size_t n;
  json_t *v;
  if (!json_is_object(r->vocab)) return refuse(r, where, r->vocab, "an object");
  json_object_keylen_foreach(r->vocab, key, n, v) {
    uint32_t id;
    bool spelt;
    r->row.n = 0;
    if (!read_id(r, below(where, key).name, v, &id)
        || !to_bytes(r, key, n, &r->row, &spelt)) return false;
    struct known_id *k = know_id(r->m, r->t, id, r->why);
    if (k == NULL) return false;
    if (k->text.n > 0)
      return refuse(r, below(where, key).name, v, "an id that no other word has");
    if (!keep_letters(r->m, r->t, r->row.byte, r->row.n, &k->text, r->why))
      return false;
    if (spelt) k->piece = k->text;
  }
  return index_pieces(r->m, r->t, r->why);
}

@ A merge is a pair of words, or, in older files, one string with a blank between two words (the
alphabet of bytes has no blank, so there is no doubt where). Both words and what they make together
must be in the vocabulary.

@<Read one merge@>=
static bool read_merge(struct reader *r, const char *a, size_t n_a, const char *b,
  size_t n_b, const char *field)
{
  bool spelt_a, spelt_b;
  r->row.n = 0;
  if (!to_bytes(r, a, n_a, &r->row, &spelt_a)) return false;
  size_t n = r->row.n;
  if (!to_bytes(r, b, n_b, &r->row, &spelt_b)) return false;
  const struct name_map *known = &r->t->by_piece;
  uint32_t left = name_map_get(known, r->row.byte, n);
  uint32_t right = name_map_get(known, r->row.byte + n, r->row.n - n);
  uint32_t made = name_map_get(known, r->row.byte, r->row.n);
  if (spelt_a && spelt_b && left != 0 && right != 0 && made != 0)
    return bpe_add(r->m, &r->t->rules, left - 1, right - 1, made - 1, r->why);
  char words[120];
  snprintf(words, sizeof words, "\"%.40s\" and \"%.40s\"", a, b);
  return error_found(r->why, r->file, field, words,
    "two words of the vocabulary that make a third");
}

@ The list says which of the two forms it uses by the form of its elements.

@<Read the merges@>=
static bool read_merges(struct reader *r, const char *where, json_t *list)
{
  size_t i;
  json_t *v;
  if (!json_is_array(list)) return refuse(r, where, list, "a list");
  json_array_foreach(list, i, v) {
    const json_t *a = json_array_get(v, 0), *b = json_array_get(v, 1);
    const char *text = json_string_value(v), *blank;
    struct field_name field = number_of(where, i);
    bool ok;
    if (json_array_size(v) == 2 && json_is_string(a) && json_is_string(b))
      ok = read_merge(r, json_string_value(a), json_string_length(a),@|
        json_string_value(b), json_string_length(b), field.name);
    else if (text != NULL && (blank = strchr(text, ' ')) != NULL)
      ok = read_merge(r, text, (size_t) (blank - text), blank + 1,@|
        json_string_length(v) - (size_t) (blank + 1 - text), field.name);
    else ok = refuse(r, field.name, v, "two words");
    if (!ok) return false;
  }
  return true;
}

@ Merges spell every text only if every byte has a token. Then the marks for unknown letters
(\texttt{unk\_token}, \texttt{byte\_fallback}) can never come into play; otherwise they could, and
we refuse.

@<Read the model@>=
static bool read_model(struct reader *r, json_t *model)
{
  static const char *const none[] = @[{ "dropout",@| "continuing_subword_prefix",@|
    "end_of_word_suffix", NULL }@];
  if (!only_keys(r, "model", model, "type dropout unk_token "@|
    "continuing_subword_prefix "@| "end_of_word_suffix fuse_unk "@|
    "byte_fallback ignore_merges "@| "vocab merges ")) return false;
  for (size_t i = 0; none[i] != NULL; i++) {
    json_t *v = json_object_get(model, none[i]);
    if (!says_nothing(v) && !(json_is_number(v) && json_number_value(v) == 0))
      return refuse(r, below("model", none[i]).name, v, "null");
  }
  r->vocab = json_object_get(model, "vocab");
  if (!flag(r, "model", model, "ignore_merges", false, &r->t->ignore_merges)
      || !read_vocab(r, "model.vocab")
      || !read_merges(r, "model.merges", json_object_get(model, "merges")))
    return false;
  json_t *unknown = json_object_get(model, "unk_token");
  return says_nothing(unknown) || all_bytes(r->t)
    || refuse(r, "model.unk_token", unknown, "null, as some byte has no token");
}

@ The test for completeness looks at the bytes that can occur in UTF-8 and at the others, too, since
our texts may be any bytes.

@<Tell whether every byte has a token@>=
static bool all_bytes(const struct tokenizer *t)
{
  for (int b = 0; b < 256; b++)
    if (t->rules.byte_id[b] == BPE_NONE) return false;
  return true;
}

@ An added token may stand in the vocabulary as well, but then under the same id; and its id must not
belong to another word.

@<Read an added token@>=
static bool read_added(struct reader *r, const char *where, json_t *v)
{
  struct added_token x = @[{ .id = 0 }@];
  json_t *text = json_object_get(v, "content"), *id = json_object_get(v, "id");
  if (!only_keys(r, where, v, "id content single_word "@|
    "lstrip rstrip normalized "@| "special ")
    || !read_id(r, below(where, "id").name, id, &x.id)
    || !flag(r, where, v, "special", false, &x.special)
    || !flag(r, where, v, "lstrip", false, &x.lstrip)
    || !flag(r, where, v, "rstrip", false, &x.rstrip)
    || !flag(r, where, v, "single_word", false, &x.single_word)
    || !flag(r, where, v, "normalized", !x.special, &x.normalized)) return false;
  size_t n = json_string_length(text);
  if (n == 0) return refuse(r, below(where, "content").name, text, "some text");
  json_t *word = json_object_getn(r->vocab, json_string_value(text), n);
  bool taken = x.id < r->t->n_known && r->t->known_as[x.id].text.n > 0;
  if (word != NULL ? json_integer_value(word) != x.id : taken)
    return refuse(r, below(where, "id").name, id, word != NULL
      ? "the id that the vocabulary has" : "an id that no word has");
  return keep_letters(r->m, r->t, json_string_value(text), n, &x.text, r->why)
    && add_extra(r->m, r->t, &x, r->why);
}

@ A pre-tokenizer is one stage or a sequence of them. A stage becomes one or two cuts of ours:
\texttt{ByteLevel} may put a blank before and may cut by GPT-2's pattern; \texttt{Digits} cuts
out digits, one by one or in rows; \texttt{Split} brings its own pattern.

@<Append a cut@>=
static bool add_cut(struct reader *r, const char *where, const char *pattern,
  size_t n, bool literal, bool keep_matches, bool keep_gaps)
{
  struct tokenizer *t = r->t;
  struct error inner;
  if (t->n_cuts == MAX_STAGES)
    return error_found(r->why, r->file, where, "one more", "at most 16 stages");
  struct stage s = @[{ NULL, keep_matches, keep_gaps }@];
  if (pattern != NULL) {
    s.by = splitter_open(r->m, pattern, n, literal, &inner);
    if (s.by == NULL)
      return error_found(r->why, r->file, where, inner.words, "a pattern");
  }
  t->cut[t->n_cuts++] = s;
  return true;
}

@ Of the behaviours of \texttt{Split} we have three: every match a piece of its own
(\texttt{Isolated}), matches dropped (\texttt{Removed}), and, inverted, only matches kept.

@<Read a stage that brings its pattern@>=
static bool read_split(struct reader *r, const char *where, json_t *v)
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
  const char *name = json_is_string(how) ? json_string_value(how) : "";
  bool removed = strcmp(name, "Removed") == 0;
  if (!removed && strcmp(name, "Isolated") != 0)
    return refuse(r, below(where, "behavior").name, how, "Isolated or Removed");
  return add_cut(r, at.name, json_string_value(given), json_string_length(given),@|
    regex == NULL, !removed || invert, !removed || !invert);
}

@ Sequences may be nested, and are taken apart until single stages are left.

@<Read the pre-tokenizer@>=
static bool read_stage(struct reader *r, const char *where, json_t *v)
{
  const char *type = json_string_value(json_object_get(v, "type"));
  bool blank, regex, single;
  if (type == NULL) return refuse(r, below(where, "type").name,
    json_object_get(v, "type"), "the name of a stage");
  if (strcmp(type, "Sequence") == 0)
    return read_each(r, where, v, "pretokenizers", read_stage);
  if (strcmp(type, "Split") == 0) return read_split(r, where, v);
  if (strcmp(type, "Digits") == 0)
    return only_keys(r, where, v, "type individual_digits ")
      && flag(r, where, v, "individual_digits", false, &single)
      && add_cut(r, where, single ? "\\p{N}" : "\\p{N}+", single ? 5 : 6, false,
        true, true);
  if (strcmp(type, "ByteLevel") != 0)
    return refuse(r, below(where, "type").name, json_object_get(v, "type"),
      "Sequence, Split, Digits or ByteLevel");
  return only_keys(r, where, v, "type add_prefix_space "@|
    "trim_offsets use_regex ")
    && flag(r, where, v, "add_prefix_space", true, &blank)
    && flag(r, where, v, "use_regex", true, &regex)
    && (!blank || add_cut(r, where, NULL, 0, false, true, true))
    && (!regex || add_cut(r, where, split_gpt2, strlen(split_gpt2), false, true,
      true));
}

@ Three of the five parts of the machine may be sequences, so going through one is a function that is
told what to do with each element.

@<Go through a sequence@>=
typedef bool read_part(struct reader *r, const char *where, json_t *v);
static bool read_each(struct reader *r, const char *where, json_t *v,
  const char *key, read_part *read)
{
  size_t i;
  json_t *each, *list = json_object_get(v, key);
  struct field_name at = below(where, key);
  if (strlen(at.name) > 120) return refuse(r, where, v, "less nesting");
  if (!json_is_array(list)) return refuse(r, at.name, list, "a list");
  json_array_foreach(list, i, each)
    if (!read(r, number_of(at.name, i).name, each)) return false;
  return true;
}

@ Of normal forms we know NFC, and none.

@<Read the normalizer@>=
static bool read_normalizer(struct reader *r, const char *where, json_t *v)
{
  if (json_is_null(v) || v == NULL) return true;
  json_t *type = json_object_get(v, "type");
  const char *name = json_is_string(type) ? json_string_value(type) : "";
  if (strcmp(name, "Sequence") == 0)
    return read_each(r, where, v, "normalizers", read_normalizer);
  if (strcmp(name, "NFC") != 0)
    return refuse(r, below(where, "type").name, type, "NFC or Sequence");
  r->t->nfc = true;
  return true;
}

@ A template is a list in which the text stands as \texttt{A} and special tokens stand before and after it. If
two templates follow each other, the second one goes around the first.

@<Read a template@>=
static bool read_template(struct reader *r, const char *where, json_t *v)
{
  struct field_name at = below(where, "single");
  json_t *list = json_object_get(v, "single"), *each;
  struct ids before = @[{ NULL, 0, 0 }@], after = @[{ NULL, 0, 0 }@];
  size_t i, texts = 0;
  bool ok = only_keys(r, where, v, "type single pair "@| "special_tokens ")
    && (json_is_array(list) || refuse(r, at.name, list, "a list"));
  if (ok) json_array_foreach(list, i, each) {
    json_t *text = json_object_get(json_object_get(each, "Sequence"), "id");
    bool is_text = json_is_string(text)
      && strcmp(json_string_value(text), "A") == 0;
    if (is_text) texts++;
    else ok = read_template_token(r, number_of(at.name, i).name, v, each,
      texts == 0 ? &before : &after);
    if (!ok) break;
  }
  if (ok && texts != 1)
    ok = error_found(r->why, r->file, at.name, texts == 0 ? "without the text A"
      : "one with the text A twice", "a template with the text A once");
  ok = ok && wrap(r, &before, &after);
  ids_free(r->m, &before);
  ids_free(r->m, &after);
  return ok;
}

@ A special token of a template is looked up in the list that the template brings along, and may be several
ids there.

@<Read the ids of a token of a template@>=
static bool read_template_token(struct reader *r, const char *where, json_t *v,
  json_t *each, struct ids *list)
{
  json_t *name = json_object_get(json_object_get(each, "SpecialToken"), "id"), *id;
  if (!json_is_string(name))
    return refuse(r, where, each, "the text A or a SpecialToken");
  json_t *known = json_object_get(json_object_get(v, "special_tokens"),
    json_string_value(name));
  json_t *all = json_object_get(known, "ids");
  size_t i;
  if (!json_is_array(all)) return refuse(r, where, name, "one of special_tokens");
  json_array_foreach(all, i, id) {
    uint32_t n;
    if (!read_id(r, where, id, &n)) return false;
    if (n >= r->t->n_known || r->t->known_as[n].text.n == 0)
      return refuse(r, where, id, "the id of a token");
    if (!ids_push(r->m, list, n, r->why)) return false;
  }
  return true;
}

@ To go around what is there already, the new ids are put before the front and after the back.

@<Put ids around what is there@>=
static bool wrap(struct reader *r, const struct ids *before,
  const struct ids *after)
{
  struct ids front = @[{ NULL, 0, 0 }@];
  bool ok = true;
  for (size_t i = 0; ok && i < before->n; i++)
    ok = ids_push(r->m, &front, before->id[i], r->why);
  for (size_t i = 0; ok && i < r->t->front.n; i++)
    ok = ids_push(r->m, &front, r->t->front.id[i], r->why);
  for (size_t i = 0; ok && i < after->n; i++)
    ok = ids_push(r->m, &r->t->back, after->id[i], r->why);
  ids_free(r->m, &r->t->front);
  r->t->front = front;
  return ok;
}

@ The post-processor \texttt{ByteLevel} is about offsets into the text and changes no id.

@<Read the post-processor@>=
static bool read_post(struct reader *r, const char *where, json_t *v)
{
  json_t *type = json_object_get(v, "type");
  const char *name = json_is_string(type) ? json_string_value(type) : "";
  if (strcmp(name, "ByteLevel") == 0) return true;
  if (strcmp(name, "TemplateProcessing") == 0) return read_template(r, where, v);
  if (strcmp(name, "Sequence") == 0)
    return read_each(r, where, v, "processors", read_post);
  return refuse(r, below(where, "type").name, type,
    "ByteLevel, TemplateProcessing"@| " or Sequence");
}

@ The decoder must be the one that joins bytes. A sequence may contain it, but nothing else.

@<Read the decoder@>=
static bool read_decoder(struct reader *r, const char *where, json_t *v)
{
  json_t *type = json_object_get(v, "type");
  const char *name = json_is_string(type) ? json_string_value(type) : "";
  if (strcmp(name, "Sequence") == 0)
    return read_each(r, where, v, "decoders", read_decoder);
  return strcmp(name, "ByteLevel") == 0
    || refuse(r, below(where, "type").name, type, "ByteLevel");
}

@ Whether a file is of our kind at all is decided before anything is refused: its model is BPE, and
somewhere among the stages there is \texttt{ByteLevel}.

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
@#
static bool is_ours(struct reader *r, json_t *file)
{
  json_t *model = json_object_get(file, "model");
  json_t *type = json_object_get(model, "type");
  json_t *stages = json_object_get(file, "pre_tokenizer");
  if (!json_is_object(model)) {
    r->ours = true;
    return refuse(r, "model", model, "an object");
  }
  bool merges = type == NULL ? json_object_get(model, "merges") != NULL
    : json_is_string(type) && strcmp(json_string_value(type), "BPE") == 0;
  r->ours = merges && has_byte_level(stages);
  return r->ours || refuse(r, merges ? "pre_tokenizer" : "model.type",
    merges ? stages : type, merges ? "one with ByteLevel"
    : "BPE (another kind of tokenizer)");
}

@ Now the whole file. Truncation and padding would change the ids of some texts, so they must be
absent; the parts are read in an order in which each finds what it refers to.

@<Read a whole description@>=
static bool read_description(struct reader *r, json_t *file)
{
  size_t i;
  json_t *v, *added = json_object_get(file, "added_tokens");
  json_t *post = json_object_get(file, "post_processor");
  if (!is_ours(r, file) || !only_keys(r, "", file, "version added_tokens "@|
    "normalizer pre_tokenizer "@| "post_processor decoder "@| "model "))
    return false;
  if (!read_model(r, json_object_get(file, "model"))) return false;
  if (!read_normalizer(r, "normalizer", json_object_get(file, "normalizer")))
    return false;
  if (!says_nothing(added) && !json_is_array(added))
    return refuse(r, "added_tokens", added, "a list");
  json_array_foreach(added, i, v)
    if (!read_added(r, number_of("added_tokens", i).name, v)) return false;
  return index_extras(r->m, r->t, r->why)
    && read_stage(r, "pre_tokenizer", json_object_get(file, "pre_tokenizer"))
    && read_decoder(r, "decoder", json_object_get(file, "decoder"))
    && (json_is_null(post) || post == NULL ? read_config(r)
      : read_post(r, "post_processor", post));
}

@ Without a post-processor a second file decides whether a text begins or ends with a special
token: \.{tokenizer\_config.json}, in the same directory. It names the token by its text, or by an
object that has the text in it.

@<Read the configuration beside it@>=
static bool read_bracket(struct reader *r, json_t *config, const char *wish,
  const char *which, struct ids *list)
{
  bool add;
  uint32_t id;
  if (!flag(r, "", config, wish, false, &add)) return false;
  if (!add) return true;
  json_t *v = json_object_get(config, which);
  if (json_is_object(v)) v = json_object_get(v, "content");
  if (!json_is_string(v)
      || !tokenizer_find(r->t, json_string_value(v), json_string_length(v), &id))
    return refuse(r, which, v, "the text of a token");
  return ids_push(r->m, list, id, r->why);
}
@#
static bool read_config(struct reader *r)
{
  const char *slash = strrchr(r->file, '/'), *file = r->file;
  char path[4096];
  int n = slash == NULL ? 0 : (int) (slash + 1 - r->file);
  int length = snprintf(path, sizeof path, "%.*stokenizer_config.json", n, r->file);
  if (length < 0 || length >= (int) sizeof path || access(path, F_OK) != 0)
    return true;
  r->file = path;
  json_t *config = read_json(path, r->why);
  bool ok = config != NULL
    && read_bracket(r, config, "add_bos_token", "bos_token", &r->t->front)
    && read_bracket(r, config, "add_eos_token", "eos_token", &r->t->back);
  json_decref(config);
  r->file = file;
  return ok;
}

@ JSON is parsed by the library jansson, which is told to be strict: a key that comes twice is an
error, while U+0000 is a character like any other. Its memory is its own and outside
our books; it is returned when the tokenizer has been built.
@^jansson@>

@<Parse a file of JSON@>=
static json_t *read_json(const char *path, struct error *why)
{
  struct mapping map;
  json_error_t trouble;
  if (!file_map(&map, path, why)) return NULL;
  json_t *v = json_loadb(@[(const char *) map.bytes@], map.size,
    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &trouble);
  file_unmap(&map);
  if (v == NULL)
    error_say(why, "%s: line %d, column %d: %s", path, trouble.line,
      trouble.column, trouble.text);
  return v;
}

@ GPT-2 was published before the one file existed: as a vocabulary in JSON and a list of merges, one a line,
in which the first line may tell the version. Everything else was in the program, so here it is, too.

@<Read the lines of a list of merges@>=
static bool read_lines(struct reader *r, const char *path)
{
  struct mapping map;
  if (!file_map(&map, path, r->why)) return false;
  const char *text = @[(const char *) map.bytes@], *end = text + map.size;
  bool ok = true;
  r->file = path;
  for (size_t line_number = 1; ok && text < end; line_number++) {
    const char *stop = memchr(text, '\n', (size_t) (end - text));
    if (stop == NULL) stop = end;
    size_t n = (size_t) (stop - text);
    if (n > 0 && text[n - 1] == '\r') n--;
    if (n > 0 && !(line_number == 1 && n >= 8 && memcmp(text, "#version", 8) == 0))
      ok = read_line(r, text, n, line_number);
    text = stop + 1;
  }
  file_unmap(&map);
  return ok;
}

@ A line must be UTF-8, which a parser of JSON has checked for us in the other format, and here has not.

@<Read one such line@>=
static bool read_line(struct reader *r, const char *text, size_t n,
  size_t line_number)
{
  char field[40];
  bool whole;
  const char *blank = memchr(text, ' ', n);
  snprintf(field, sizeof field, "line %zu", line_number);
  if (utf8_run((const unsigned char *) text, n, &whole) != n || !whole)
    return error_found(r->why, r->file, field, "not UTF-8", "two words");
  if (blank == NULL) return error_found(r->why, r->file, field,
    "without a blank", "two words with a blank between");
  size_t n_a = (size_t) (blank - text);
  return read_merge(r, text, n_a, blank + 1, n - n_a - 1, field);
}

@ If the vocabulary has GPT-2's end of text, that is the one special token.

@<Read a vocabulary and its merges@>=
static bool read_pair_of_files(struct reader *r, const char *vocab,
  const char *merges)
{
  static const char end_of_text[] = "<|endoftext|>";
  struct added_token x = @[{ .special = true }@];
  r->file = vocab, r->ours = true;
  r->vocab = read_json(vocab, r->why);
  bool ok = r->vocab != NULL && read_vocab(r, "") && read_lines(r, merges);
  if (ok && tokenizer_find(r->t, end_of_text, strlen(end_of_text), &x.id)) {
    x.text = r->t->known_as[x.id].text;
    ok = add_extra(r->m, r->t, &x, r->why);
  }
  r->file = vocab;
  ok = ok && index_extras(r->m, r->t, r->why)
    && add_cut(r, "", split_gpt2, strlen(split_gpt2), false, true, true)
    && read_config(r);
  json_decref(r->vocab);
  return ok;
}

@ A path is a file, or a directory in which we look for what it may contain, in a fixed order.

@<Find out what a path holds@>=
static bool there(char room[4096], const char *path, const char *name)
{
  int n = snprintf(room, 4096, "%s/%s", path, name);
  return n > 0 && n < 4096 && access(room, F_OK) == 0;
}
@#
static bool read_path(struct reader *r, const char *path, bool *absent)
{
  char one[4096], two[4096];
  struct stat about;
  *absent = false;
  if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
    return read_file(r, path);
  if (there(one, path, "tokenizer.json")) return read_file(r, one);
  if (there(one, path, "vocab.json") && there(two, path, "merges.txt"))
    return read_pair_of_files(r, one, two);
  if (there(one, path, "encoder.json") && there(two, path, "vocab.bpe"))
    return read_pair_of_files(r, one, two);
  *absent = !there(one, path, "tokenizer.model");
  r->file = one;
  if (*absent) return error_say(r->why, "%s: no tokenizer.json here, nor "@|
    "vocab.json and merges.txt,"@| " nor encoder.json and "@| "vocab.bpe", path);
  return error_found(r->why, one, "this", "a SentencePiece model",
    "byte-level BPE (another kind of tokenizer)");
}

@ A file of the right kind is one object of JSON.

@<Read a file of JSON into a tokenizer@>=
static bool read_file(struct reader *r, const char *path)
{
  r->file = path;
  r->ours = true;
  json_t *file = read_json(path, r->why);
  bool ok = file != NULL && (json_is_object(file)
    || refuse(r, "this", file, "an object")) && read_description(r, file);
  json_decref(file);
  return ok;
}

@ The two ways of opening differ in what they tell.

@<Open a tokenizer@>=
enum tokenizer_found tokenizer_try(struct memory *m, const char *path,
  struct tokenizer **t, struct error *why)
{
  struct reader r = @[{ .m = m, .why = why }@];
  bool absent = false;
  *t = r.t = memory_take(m, FOR_TOKENS, 1, sizeof **t, why);
  if (r.t == NULL) return TOKENIZER_REFUSED;
  bool ok = read_path(&r, path, &absent);
  bytes_free(m, &r.row);
  if (ok) return TOKENIZER_OPEN;
  tokenizer_close(m, *t);
  *t = NULL;
  return absent ? TOKENIZER_ABSENT : r.ours ? TOKENIZER_REFUSED
    : TOKENIZER_OTHER_KIND;
}
@#
struct tokenizer *tokenizer_open(struct memory *m, const char *path,
  struct error *why)
{
  struct tokenizer *t;
  tokenizer_try(m, path, &t, why);
  return t;
}

@ Writing goes the other way: words are spelt in the alphabet of bytes, and merges as two words with a
blank between, the form that old and new readers understand.

@<Spell bytes for a file@>=
static bool to_alphabet(struct memory *m, const unsigned char *byte, size_t n,
  struct bytes *out, struct error *why)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t c = alphabet(byte[i]);
    unsigned char two[2] = @[{ (unsigned char) (0xc0 | c >> 6),@|
      (unsigned char) (0x80 | (c & 0x3f)) }@];
    unsigned char one = (unsigned char) c;
    if (!(c < 0x80 ? bytes_push(m, out, &one, 1, why)
      : bytes_push(m, out, two, 2, why))) return false;
  }
  return true;
}

@ The file is made as text and parsed by jansson only where strings need escapes: words of the
vocabulary. Two words that are spelt alike would be one key; learning has never been seen to make
such a pair, and if it does, the sentence says so.

@<Make the vocabulary and the merges as JSON@>=
static bool make_words(struct memory *m, const struct tokenizer *t, json_t *vocab,
  json_t *merges, struct error *why)
{
  struct bytes row = @[{ NULL, 0, 0 }@];
  bool ok = json_object_set_new(vocab, "<|endoftext|>", json_integer(0)) == 0;
  for (size_t i = 1; ok && i < t->n_known; i++) {
    struct span s = t->known_as[i].piece;
    row.n = 0;
    ok = to_alphabet(m, t->letters.byte + s.at, s.n, &row, why)
      && bytes_push(m, &row, "", 1, why);
    if (ok && json_object_get(vocab, (const char *) row.byte) != NULL)
      ok = error_say(why, "token %zu is spelt like an earlier one", i);
    ok = ok && json_object_set_new(vocab, (const char *) row.byte,
      json_integer((json_int_t) i)) == 0;
  }
  for (size_t i = 0; ok && i < t->rules.n; i++)
    ok = make_merge(m, t, &t->rules.rule[i], &row, merges, why);
  bytes_free(m, &row);
  return ok;
}

@ One merge is one string.

@<Make a merge as JSON@>=
static bool make_merge(struct memory *m, const struct tokenizer *t,
  const struct bpe_rule *rule, struct bytes *row, json_t *merges,
  struct error *why)
{
  struct span a = t->known_as[rule->left].piece, b = t->known_as[rule->right].piece;
  row->n = 0;
  return to_alphabet(m, t->letters.byte + a.at, a.n, row, why)
    && bytes_push(m, row, " ", 1, why)
    && to_alphabet(m, t->letters.byte + b.at, b.n, row, why)
    && json_array_append_new(merges, json_stringn((const char *) row->byte,
      row->n)) == 0;
}

@ Around them stands what a byte-level tokenizer of the simplest sort looks like.

@<Make the description as JSON@>=
static json_t *make_description(json_t *vocab, json_t *merges)
{
  return json_pack("{s:s, s:n, s:n,"@| " s:[{s:i, s:s, s:b, s:b,"@|
    " s:b, s:b, s:b}], s:n,"@| " s:{s:s, s:b, s:b, s:b},"@| " s:n,"@|
    " s:{s:s, s:b, s:b, s:b},"@| " s:{s:s, s:n, s:n, s:n,"@|
    " s:n, s:b, s:b, s:b,"@| " s:O, s:O}}",
    "version", "1.0", "truncation", "padding",
    "added_tokens", "id", 0, "content", "<|endoftext|>", "single_word", 0,@|
    "lstrip", 0, "rstrip", 0, "normalized", 0, "special", 1, "normalizer",
    "pre_tokenizer", "type", "ByteLevel", "add_prefix_space", 0,@|
    "trim_offsets", 1, "use_regex", 1, "post_processor",
    "decoder", "type", "ByteLevel", "add_prefix_space", 1,@|
    "trim_offsets", 1, "use_regex", 1,
    "model", "type", "BPE", "dropout", "unk_token",@|
    "continuing_subword_prefix",@| "end_of_word_suffix",@| "fuse_unk", 0,@|
    "byte_fallback", 0, "ignore_merges", 0, "vocab", vocab, "merges", merges);
}

@ The file is written beside its place and moved there when it is complete, so that a full disk
leaves no half vocabulary behind.

@<Write a tokenizer@>=
bool tokenizer_write(struct memory *m, const char *path,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  struct error inner = @[{ "" }@];
  char beside[4096];
  struct tokenizer *t = tokenizer_from_merges(m, merge, n, why);
  if (t == NULL) return false;
  json_t *vocab = json_object(), *merges = json_array(), *whole = NULL;
  bool ok = vocab != NULL && merges != NULL
    && make_words(m, t, vocab, merges, &inner)
    && (whole = make_description(vocab, merges)) != NULL
    && snprintf(beside, sizeof beside, "%s.new", path) < (int) sizeof beside;
  tokenizer_close(m, t);
  if (!ok) error_say(why, "%s: cannot be made: %s", path, inner.words);
  else if (json_dump_file(whole, beside, JSON_INDENT(1)) != 0
      || rename(beside, path) != 0)
    ok = error_say(why, "%s: cannot be written: %s", path, strerror(errno));
  json_decref(whole);
  json_decref(vocab);
  json_decref(merges);
  return ok;
}

@ The file has the readers of parts before the readers of wholes; four that call each other in a circle, or
stand later in the book, are announced.

@(files.c@>=
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "01-tokens/inside.h"
@<What reading a file needs@>@;
@<Refuse a field@>@;
@<Accept only keys that we know@>@;
@<Read a flag@>@;
@<Read an id@>@;
@<Spell a byte as a character, and back@>@;
@<Turn a word of the file into bytes@>@;
@<All about the words of the vocabulary@>@;
@<Read the other four parts@>@;
@<Read whole files@>@;
@<Spell bytes for a file@>@;
@<Make a merge as JSON@>@;
@<Make the vocabulary and the merges as JSON@>@;
@<Make the description as JSON@>@;
@<Write a tokenizer@>@;

@ The model comes first, because everything else refers to its words.

@<All about the words of the vocabulary@>=
@<Read the vocabulary@>@;
@<Read one merge@>@;
@<Read the merges@>@;
@<Tell whether every byte has a token@>@;
@<Read the model@>@;
@<Read an added token@>@;

@ Then the parts that may be sequences.

@<Read the other four parts@>=
@<Go through a sequence@>@;
@<Append a cut@>@;
@<Read a stage that brings its pattern@>@;
@<Read the pre-tokenizer@>@;
@<Read the normalizer@>@;
@<Read the ids of a token of a template@>@;
@<Put ids around what is there@>@;
@<Read a template@>@;
@<Read the post-processor@>@;
@<Read the decoder@>@;

@ And at last the files.

@<Read whole files@>=
@<Parse a file of JSON@>@;
@<Read the configuration beside it@>@;
@<Tell whether a tokenizer is of our kind@>@;
@<Read a whole description@>@;
@<Read one such line@>@;
@<Read the lines of a list of merges@>@;
@<Read a vocabulary and its merges@>@;
@<Read a file of JSON into a tokenizer@>@;
@<Find out what a path holds@>@;
@<Open a tokenizer@>@;

@* The check. \label{sec:tokenscheck}
Two texts are learnt from: the line of the hand calculation, and three lines about a cat.

@<The texts of this chapter@>=
static const char hand_line[] = "the cat that sat";
static const char story[] =@|
  "The cat sat on the mat."@| " The rat sat on the "@| "cat.\n"@|
  "The cat sat up and "@| "the rat ran. That is "@| "that,\n"@|
  "said the cat, and sat "@| "on the mat.\n";
static const char sentence[] = "The cat sat on the "@| "mat.";
enum { HAND_MERGES = 9, STORY_MERGES = 24, MANY = 60 };

@ A token is shown with a low line for the blank and a bent arrow's two letters for the end of a
line, so that both can be seen.

@<Learn the nine merges of the hand calculation@>=
static void show(const struct tokenizer *t, uint32_t id, char room[64])
{
  size_t n, to = 0;
  const unsigned char *byte = tokenizer_text(t, id, &n);
  for (size_t i = 0; i < n && to < 58; i++) {
    bool plain = byte[i] > 32 && byte[i] < 127;
    if (plain || byte[i] == ' ') room[to++] = plain ? (char) byte[i] : '_';
    else to += (size_t) sprintf(room + to, "<%02x>", byte[i]);
  }
  room[to] = '\0';
}

@ Learning gives a list of merges, and a tokenizer is made of it. Every part of this program begins
with these two steps; if one fails, the program says why and ends with status 1.

@<Learn the nine merges of the hand calculation@>=
struct lesson { struct bpe_merge *merge; size_t n, asked; struct tokenizer *t; };
static bool learn_from(struct memory *m, const char *text, size_t merges,
  struct lesson *l)
{
  struct error why;
  *l = (struct lesson) @[{ .asked = merges }@];
  if (bpe_train(m, text, strlen(text), split_gpt2, merges, &l->merge, &l->n, &why)
    && (l->t = tokenizer_from_merges(m, l->merge, l->n, &why)) != NULL) return true;
  fprintf(stderr, "%s\n", why.words);
  return false;
}
@#
static void forget(struct memory *m, struct lesson *l)
{
  tokenizer_close(m, l->t);
  bpe_forget(m, l->merge, l->asked);
}

@ The learner's ids and the tokenizer's differ by one, since the tokenizer's id 0 is taken. The hand
calculation used the learner's, the story uses the tokenizer's; so the |first| new id is 256 for
one and 257 for the other.

@<Learn the nine merges of the hand calculation@>=
static void print_merges(const struct lesson *l, size_t first)
{
  for (size_t k = 0; k < l->n; k++) {
    char left[64], right[64], both[140];
    show(l->t, l->merge[k].left + 1, left);
    show(l->t, l->merge[k].right + 1, right);
    snprintf(both, sizeof both, "%s+%s", left, right);
    bool last = (k + 1) % 4 == 0 || k + 1 == l->n;
    printf("%4zu %-*s%s", first + k, last ? 1 : 11, both, last ? "\n" : "");
  }
}

@ Ids are printed beside the text that they came from, and the way back is tested on the spot.

@<Learn from the longer text, and show ids@>=
static bool print_ids(struct memory *m, struct tokenizer *t, const char *text,
  uint32_t minus)
{
  struct ids list = @[{ NULL, 0, 0 }@];
  struct bytes back = @[{ NULL, 0, 0 }@];
  bool ok = tokenizer_encode(t, m, text, strlen(text), false, false, &list, NULL)
    && tokenizer_decode(t, m, list.id, list.n, false, &back, NULL);
  printf("%s\n ", text);
  for (size_t i = 0; i < list.n; i++) {
    char room[64];
    show(t, list.id[i], room);
    printf(" %u:%s", (unsigned) (list.id[i] - minus), room);
  }
  bool same = ok && back.n == strlen(text) && memcmp(back.byte, text, back.n) == 0;
  printf("\n  %zu ids, and back: %s\n", list.n, same ? "the same" : "DIFFERENT");
  ids_free(m, &list);
  bytes_free(m, &back);
  return same;
}

@ This is the first half of what the program prints.

@<Learn from the longer text, and show ids@>=
static int print_lessons(void)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  struct lesson hand, cat;
  if (!learn_from(&m, hand_line, HAND_MERGES, &hand)) return 1;
  printf("%zu merges from `%s'\n", hand.n, hand_line);
  print_merges(&hand, 256);
  bool ok = print_ids(&m, hand.t, "that", 1);
  forget(&m, &hand);
  if (!learn_from(&m, story, STORY_MERGES, &cat)) return 1;
  printf("%zu merges from three lines about a cat\n", cat.n);
  print_merges(&cat, 257);
  ok = print_ids(&m, cat.t, "The cat sat", 0) && ok;
  ok = print_ids(&m, cat.t, sentence, 0) && ok;
  ok = print_ids(&m, cat.t, "The bat", 0) && ok;
  print_stream(&m, cat.t);
  forget(&m, &cat);
  return ok && m.all.held == 0 ? 0 : 1;
}

@ The second half feeds a stream. The euro sign is three bytes and, in this vocabulary, three tokens;
its first two are held.

@<Feed a stream token by token@>=
static void print_stream(struct memory *m, struct tokenizer *t)
{
  static const char price[] = "on \xe2\x82\xac" "9";
  struct ids list = @[{ NULL, 0, 0 }@];
  struct stream s = @[{ .n = 0 }@];
  tokenizer_encode(t, m, price, strlen(price), false, false, &list, NULL);
  printf("a stream of %zu ids: id, bytes released, bytes held\n ", list.n);
  for (size_t i = 0; i < list.n; i++) {
    struct bytes out = @[{ NULL, 0, 0 }@];
    size_t n;
    const unsigned char *byte = tokenizer_text(t, list.id[i], &n);
    stream_feed(m, &s, byte, n, &out, NULL);
    printf(" %u/%zu/%zu", (unsigned) list.id[i], out.n, s.n);
    bytes_free(m, &out);
  }
  printf("\n");
  ids_free(m, &list);
}

@ Words on the command line choose what is printed; without one it is the checkpoint.

@<Print keys and points@>=
@<Count looks, the slow way and the fast way@>@;
@<Print the numbers that the prose quotes@>@;
@<Print the points of the figures@>@;
@#
static int run(const char *what)
{
  if (strcmp(what, "values") == 0) return print_values();
  if (strcmp(what, "growth") == 0) return print_growth();
  if (strcmp(what, "shrink") == 0) return print_shrink();
  if (strcmp(what, "work") == 0) return print_work();
  return print_lessons();
}

@ The definition of encoding, as it stands: look at all neighbours, merge the best, repeat. It
counts its looks as the fast encoder does.

@<Count looks, the slow way and the fast way@>=
static uint64_t slow_looks(const struct bpe *b, uint32_t *id, size_t n)
{
  uint64_t looks = 0;
  for (;;) {
    uint32_t best = UINT32_MAX;
    size_t at = 0;
    for (size_t i = 0; i + 1 < n; i++, looks++) {
      uint32_t rank = pair_map_get(&b->rank, id[i], id[i + 1]);
      if (rank != 0 && rank < best) best = rank, at = i;
    }
    if (best == UINT32_MAX) return looks;
    id[at] = b->rule[best - 1].made;
    memmove(id + at + 1, id + at + 2, (n - at - 2) * sizeof *id);
    n--;
  }
}

@ Both encode a row of equal letters with merges that double: \tok{aa}, \tok{aaaa}, and so on.

@<Count looks, the slow way and the fast way@>=
enum { LONGEST = 1024 };
static bool count_looks(struct memory *m, size_t n, uint64_t *slow, uint64_t *fast)
{
  struct bpe b = @[{ .n = 0 }@];
  struct bpe_work w = @[{ .looks = 0 }@];
  struct ids out = @[{ NULL, 0, 0 }@];
  unsigned char letter[LONGEST];
  uint32_t id[LONGEST];
  bool ok = true;
  memset(letter, 'a', n);
  for (uint32_t i = 0; i < 256; i++) b.byte_id[i] = i;
  for (size_t i = 0; i < n; i++) id[i] = 'a';
  for (uint32_t k = 0; ok && k < 10; k++)
    ok = bpe_add(m, &b, k == 0 ? 'a' : 255 + k, k == 0 ? 'a' : 255 + k, 256 + k,
      NULL);
  ok = ok && bpe_encode(&b, m, &w, letter, n, &out, NULL);
  *fast = w.looks, *slow = slow_looks(&b, id, n);
  ids_free(m, &out);
  bpe_work_free(m, &w);
  bpe_free(m, &b);
  return ok;
}

@ The keys: what the hand calculation and the checkpoint contain, the looks, and four published
vocabularies, each the sum of what it was made from.

@<Print the numbers that the prose quotes@>=
static size_t count_ids(struct memory *m, struct tokenizer *t, const char *text)
{
  struct ids list = @[{ NULL, 0, 0 }@];
  tokenizer_encode(t, m, text, strlen(text), false, false, &list, NULL);
  size_t n = list.n;
  ids_free(m, &list);
  return n;
}
@#
static int print_values(void)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  struct lesson hand, cat;
  uint64_t slow, fast;
  if (!learn_from(&m, hand_line, HAND_MERGES, &hand)
    || !learn_from(&m, story, STORY_MERGES, &cat)
    || !count_looks(&m, LONGEST, &slow, &fast)) return 1;
  printf("tokens.bytes 256\ntokens.looks.n %d\n", LONGEST);
  printf("tokens.looks.slow %d\ntokens.looks.fast %d\n", (int) slow, (int) fast);
  printf("tokens.hand.merges %zu\n", hand.n);
  printf("tokens.hand.that %zu\n", count_ids(&m, hand.t, "that"));
  @<Print the keys of the story@>@;
  @<Print the sizes of published vocabularies@>@;
  forget(&m, &hand);
  forget(&m, &cat);
  return 0;
}

@ The story's keys come from encoding, not from counting by hand.

@<Print the keys of the story@>=
printf("tokens.story.merges %zu\n", cat.n);
printf("tokens.story.bytes %zu\n", strlen(story));
printf("tokens.story.ids %zu\n", count_ids(&m, cat.t, story));
printf("tokens.sentence.bytes %zu\n", strlen(sentence));
printf("tokens.sentence.ids %zu\n", count_ids(&m, cat.t, sentence));
printf("tokens.cat.ids %zu\n", count_ids(&m, cat.t, "The cat sat"));
printf("tokens.euro.ids %zu\n", count_ids(&m, cat.t, "\xe2\x82\xac"));
printf("claim.S3-52 %zu\n", count_ids(&m, cat.t, "\xe2\x82\xac"));
printf("claim.S4-03 %zu\n", count_ids(&m, cat.t, " on the mat"));

@ Bytes, merges, and ids for special texts. (OpenAI's second vocabulary numbers its five special
texts with a gap; what counts for a model is the largest number plus one.)

@<Print the sizes of published vocabularies@>=
static const struct { const char *name; int merges, special; } published[] =
  @[{ { "gpt2", 50000, 1 }, { "llama3", 127744, 256 },@|
    { "cl100k", 100000, 21 } }@];
for (size_t i = 0; i < 3; i++) {
  int size = 256 + published[i].merges + published[i].special;
  printf("tokens.%s %d\n", published[i].name, size);
  printf("tokens.%s.merges %d\n", published[i].name, published[i].merges);
  printf("tokens.%s.special %d\n", published[i].name, published[i].special);
  if (i == 1) printf("claim.S1-04 %d\n", size);
  if (i == 2) printf("claim.S3-02 %d\n", size);
}

@ The first figure wants, after some numbers of merges, where each token of the sentence begins and
how long it is.

@<Print the points of the figures@>=
static bool print_row(struct memory *m, size_t merges)
{
  struct lesson l;
  struct ids list = @[{ NULL, 0, 0 }@];
  size_t at = 0, n;
  if (!learn_from(m, story, merges, &l)) return false;
  bool ok = tokenizer_encode(l.t, m, sentence, strlen(sentence), false, false,
    &list, NULL);
  for (size_t i = 0; i < list.n; at += n, i++) {
    char room[64];
    show(l.t, list.id[i], room);
    tokenizer_text(l.t, list.id[i], &n);
    printf("%zu,%zu,%zu,%zu,%s\n", merges, at, n, list.n, room);
  }
  ids_free(m, &list);
  forget(m, &l);
  return ok;
}

@ The numbers of merges are chosen so that every row differs from the one above it.

@<Print the points of the figures@>=
static int print_growth(void)
{
  static const size_t level[] = @[{ 0, 1, 2, 4, 5, 6, 8, 11, 13, 18 }@];
  struct memory m = @[{ .refuse_at = 0 }@];
  printf("merges,from,length,ids,text\n");
  for (size_t i = 0; i < sizeof level / sizeof *level; i++)
    if (!print_row(&m, level[i])) return 1;
  return 0;
}

@ The other two figures are curves: ids of the story against merges, and looks against the length of
a row of letters.

@<Print the points of the figures@>=
static int print_shrink(void)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  printf("merges,ids\n");
  for (size_t k = 0; k <= MANY; k++) {
    struct lesson l;
    if (!learn_from(&m, story, k, &l)) return 1;
    printf("%zu,%zu\n", k, count_ids(&m, l.t, story));
    forget(&m, &l);
  }
  return 0;
}
@#
static int print_work(void)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  printf("n,slow,fast\n");
  for (size_t n = 2; n <= LONGEST; n *= 2) {
    uint64_t slow, fast;
    if (!count_looks(&m, n, &slow, &fast)) return 1;
    printf("%zu,%d,%d\n", n, (int) slow, (int) fast);
  }
  return 0;
}

@ What the program prints:

\checkpoint{build/out/01-tokens.txt}{merges learnt on a page, ids, a round trip, a stream}
