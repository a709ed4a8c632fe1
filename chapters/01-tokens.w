@i types.w

\chapterquestion{The model knows only numbers from a list. Who made the list, and how does a
sentence become numbers from it without losing a single letter?}
@** Tokenization: bytes, UTF-8, byte-pair encoding. \label{sec:tokens}
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
of its own. This is a \emph{merge}. Do it again, and again, until the list is as long as we like. Frequent words end up as one
token, rare ones as a few, and a word that was never seen is still spelt, byte by byte at the
worst. What has been learnt is the list of merges in their order, and nothing else; a merge's place
in the list, counted from 0, is its \emph{rank}. The whole is \emph{byte-pair encoding}, a trick for
compressing files that Philip Gage published in 1994 and Rico Sennrich and his colleagues brought to
translation in 2016. GPT-2, OpenAI's model of 2019, started it from bytes, and so does Llama~3, Meta's of
2024; this book reads the files of both.
@^byte-pair encoding@>@^Gage, Philip@>@^Sennrich, Rico@>

\begin{byhand}{nine merges, and a word that was not there}
The text is \texttt{the cat that sat}. First it is cut before every blank, because no token shall
reach across two words (\cref{sec:split} says why): \texttt{the}, \texttt{\textvisiblespace cat}, \texttt{\textvisiblespace that}, \texttt{\textvisiblespace sat}, where the low line stands for the
blank. Now we count neighbours within the four pieces: \texttt{a t} stands there three times, \texttt{t h}
twice, all other pairs once. So the first merge makes \texttt{at}, and the pieces are now
\texttt{t h e}, \texttt{\textvisiblespace\ c at}, \texttt{\textvisiblespace\ t h at}, \texttt{\textvisiblespace\ s at}. In what is left \texttt{t h} is the only pair that occurs
twice: the second merge makes \texttt{th}.

\medskip
\begin{tabular}{@@{}rlrl@@{}}
\tabhead{rank} & \tabhead{pair} & \tabhead{count} & \tabhead{the pieces afterwards}\\
0 & \tok{a}\,\tok{t} & 3 & \texttt{t h e} \enspace \texttt{\textvisiblespace\ c at} \enspace \texttt{\textvisiblespace\ t h at} \enspace \texttt{\textvisiblespace\ s at}\\
1 & \tok{t}\,\tok{h} & 2 & \texttt{th e} \enspace \texttt{\textvisiblespace\ c at} \enspace \texttt{\textvisiblespace\ th at} \enspace \texttt{\textvisiblespace\ s at}\\
2 & \tok{\ }\,\tok{c} & 1 & \texttt{th e} \enspace \texttt{\textvisiblespace c at} \enspace \texttt{\textvisiblespace\ th at} \enspace \texttt{\textvisiblespace\ s at}\\
3 & \tok{\ }\,\tok{s} & 1 & \texttt{th e} \enspace \texttt{\textvisiblespace c at} \enspace \texttt{\textvisiblespace\ th at} \enspace \texttt{\textvisiblespace s at}\\
4 & \tok{\ }\,\tok{th} & 1 & \texttt{th e} \enspace \texttt{\textvisiblespace c at} \enspace \texttt{\textvisiblespace th at} \enspace \texttt{\textvisiblespace s at}
\end{tabular}
\medskip

From rank 2 on every pair occurs once, and a rule must decide. Ours: the smaller left id, then
the smaller right one. A byte's id is its value, and merges make new ids in turn, behind the last byte. The blank is byte 32,
smaller than every letter, so it goes first, and of its three right neighbours \texttt{c} is byte 99, \texttt{s} is byte 115, and \texttt{th}, which rank 1 has made, is
256 + 1 = 257. Four more merges, \texttt{th e}, \texttt{\textvisiblespace c at}, \texttt{\textvisiblespace s at}, \texttt{\textvisiblespace th at} in this order, and each of
the four pieces is a single token.

Now spell \texttt{that}, at the start of a line, so without its blank: \texttt{t h a t}. Of its pairs
\texttt{t h} has rank 1 and \texttt{a t} has rank 0; the lowest goes first: \texttt{t h at}. Then \texttt{t h}: \texttt{th at}. No
merge joins \texttt{th} and \texttt{at} (there is one for \texttt{\textvisiblespace th} and \texttt{at}), so we stop: two tokens,
257 and 256. A word that the list does not have was spelt by parts that it does have.
\end{byhand}

@ So much by hand. \Cref{fig:merges}\lab{lab:tokensfigures} shows the same on a slightly longer page, the three lines about a cat that this
chapter's program learns from. At the top one sentence of that page is \val{tokens.sentence.bytes} bytes, each a token
by itself. With every line more merges are known. The tokens grow together where the page repeats
itself, and a token of one line is always made of whole tokens of the line above: what was
joined is never taken apart again. At the bottom the sentence is \val{tokens.sentence.ids} tokens, and ``The cat
sat'' is three of them. These three will be with us to the end of the book.

\widefig{merges}{fig:merges}{One sentence, spelt with more and more merges, whose number stands on the left and the number of
tokens on the right. Red: tokens that the line above did not have.}{Ten rows, one below the other. Each shows the sentence
The cat sat on the mat, cut into boxes. The first row, without merges, has one box for each byte, blanks and full stop included, 23 in all. From row to row
boxes join, the new ones in red: at, he, then blank t and the, cat and sat with their blanks, on, mat. The last row has seven boxes, six
words and the full stop.}

@ How long should the list be? The model pays twice for a long one: it has a row of numbers to
store for every token of the list, and it computes a score for every one of them each time it writes one. For a
short list it pays in the length of the text: fewer bytes a token, more tokens a page, more work. And
a token that hardly ever occurs in the texts that a model learns from teaches it nothing about when to use it. Published lists lie where these costs
balance: GPT-2 has \val{tokens.gpt2.merges} merges and \val{tokens.gpt2} ids, Llama~3 has \val{tokens.llama3}.
Afterwards nothing in it can be changed. The list belongs to the model like its
weights; exchange two ids, and what the model learnt about the one it now believes of the other.

\begin{tutorial}{rounded}{S3-02}
\quoted{Get a probability distribution over all possible next tokens (\textasciitilde100,000 options)}
\ourrun The number is one vocabulary's: OpenAI's cl100k, \val{tokens.bytes} bytes, \val{tokens.cl100k.merges} merges and
\val{tokens.cl100k.special} places for tokens that mark something and spell nothing (\cref{sec:tokenizer}), \val{tokens.cl100k} ids. GPT-2 has half as many; Llama~3,
with \val{tokens.llama3}, more. Another tutorial says ``typically 32,000 to 128,000+ tokens'' (S1-04), which holds.
\end{tutorial}

@ Words are not tokens, which is easily forgotten when one counts on one's fingers. In our small vocabulary the sentence
of \cref{fig:merges} has six words and \val{tokens.sentence.ids} tokens, because the full stop is one. So
is it in the example of another tutorial, whose grid we will draw in chapter 3.

\begin{tutorial}{offbyone}{S4-03}
\quoted{Suppose the user's prompt is "The cat sat" (3 tokens), and we want to generate " on the mat" (4 tokens).}
\ourrun The program counts \val{claim.S4-03} tokens in \texttt{\textvisiblespace on the mat}, one a word. The fourth is the full stop, which the quoted text
does not have; the article writes it in its last step.
\end{tutorial}

@ The program of this chapter learns the nine merges of the hand calculation, spells \texttt{that} with them, and then does the same
with the page about the cat, until ``The cat sat'' is three ids. Three modules do the work, in the order
in which the chapter builds them: \.{utf8} (bytes and characters), \.{split} (cutting a text before
it is encoded) and \.{bpe} (learning merges, applying them, and going back). A fourth, \.{tokenizer},
is what the rest of the book sees; its promises stand at the end of this chapter, and what it takes
to keep them is \cref{tokenizer}. How to look up pairs and names comes near the end (\cref{sec:tables}). Whoever wants the idea before the care goes on at
\cref{sec:learning}, which learns, and \cref{sec:encoding}, which applies; both can be read without what stands before them. What the figures and the numbers
in the prose need beyond this program is in \cref{lab:tokens}.

@c
#include <stdio.h>
#include <string.h>
#include "tokens/lesson.h"
@<Turn ids back into text@>@;
@<Print merges@>@;
@<Print ids beside their text@>@;
@#
int main(int argc, char **argv)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct lesson hand, cat;
  (void) argv;
  if (argc > 1 || !lesson_learn(&m, hand_line, HAND_MERGES, &hand))@+ return 1;
  printf("%zu merges from `%s'\n", hand.n, hand_line);
  print_merges(&m, &hand);
  bool ok = print_ids(&m, &hand, "that");
  lesson_forget(&m, &hand);
  if (!lesson_learn(&m, story, STORY_MERGES, &cat))@+ return 1;
  printf("%zu merges from three lines about a cat\n", cat.n);
  print_merges(&m, &cat);
  ok = print_ids(&m, &cat, "The cat sat") && ok;
  ok = print_ids(&m, &cat, sentence) && ok;
  ok = print_ids(&m, &cat, "The bat") && ok;
  printf("a stream of %zu ids: id, bytes released, bytes held\n ",
    lesson_count(&m, &cat, price));
  lesson_stream(&m, &cat, price, " %u/%zu/%zu");
  printf("\n");
  lesson_forget(&m, &cat);
  return ok && m.all.live == 0 ? 0 : 1;
}

@* Bytes and UTF-8. \label{sec:bytes}
A text in memory is a row of bytes, and what the bytes mean is a convention. The convention of
our time is UTF-8: a byte below 128 is the ASCII character of that number; any other
character is one leading byte, whose upper bits say how many bytes follow, and one to three
bytes of the form \texttt{10xxxxxx}. No leading byte has that form. So no character's
bytes occur inside another's, and one can begin to read anywhere and be right after at most
three bytes. Everything below rests on this.
@^UTF-8@>

\begin{byhand}{one character, three bytes}
The euro sign is character U+20AC. In bits, \texttt{2} is \texttt{0010}, \texttt{0} is \texttt{0000}, \texttt{A} is \texttt{1010}, \texttt{C} is
\texttt{1100}. A character of sixteen bits goes into three bytes, as four, six and six bits, each behind a mark that tells the byte's part:

\medskip
\begin{tabular}{@@{}llll@@{}}
\tabhead{bits} & \tabhead{mark} & \tabhead{byte} & \tabhead{hexadecimal}\\
\texttt{0010} & \texttt{1110} & \texttt{11100010} & \texttt{e2}\\
\texttt{000010} & \texttt{10} & \texttt{10000010} & \texttt{82}\\
\texttt{101100} & \texttt{10} & \texttt{10101100} & \texttt{ac}
\end{tabular}
\medskip

Whoever sees only \texttt{82} knows from its first two bits that nothing begins here, and goes one byte back.
\end{byhand}

Starting from bytes and not from characters is what makes the vocabulary closed. Unicode has
more characters than one would want to list, and gets new ones every year; there are \val{tokens.bytes}
bytes, and there will be no more. The price is that a token may end in the middle of a
character, and somebody has to wait for the other half. That will be the business of
\cref{sec:streaming}.

@ Texts grow while we work on them; they are kept in the growing rows of bytes of chapter 0, |struct bytes|, and appended to
with |bytes_push|. Everything else about UTF-8 comes down to one question: what begins at this byte? There are three
answers. A whole character; something that is broken, and no further byte can mend it; or the
beginning of a character whose rest is not there yet. A file needs the first two; only a
text that is still being written needs the third. The length that comes with the
second answer is that of the \emph{maximal subpart}: the longest beginning that could
still have become a character. The bytes \texttt{f0 9f 98} before a blank are one such part, since a fourth byte might
have made a face of them; of \texttt{ed a0 80} each byte is a part by itself, because already the first two begin nothing. The Unicode standard recommends to replace each such part by
one U+FFFD, the black diamond with a question mark, and so do we.
@^maximal subpart@>@^U+FFFD@>

@<What begins at a byte@>=
enum utf8_state { UTF8_WHOLE, UTF8_BROKEN, UTF8_UNFINISHED };
  /* a character; a maximal subpart of none; the beginning of one, cut
     off */
size_t utf8_next(const unsigned char *byte, size_t n,
  enum utf8_state *state);
  /* how many of the |n| $\ge 1$ bytes belong to what begins at the
     first of them, 1 to 4; Unicode 15, section 3.9, tables 3-7 and
     3-8 */

@ The leading byte gives the length: half of the \val{tokens.bytes} values stand for themselves, the others announce
two bytes, or three, or four, or nothing. The values |0xc0| and |0xc1| could only begin a character
that has a shorter spelling, and from |0xf5| on the character would lie beyond the last one that
Unicode allows; so they begin nothing, like the continuation bytes, and are broken by themselves.

@<Tell what begins at a byte@>=
static size_t announced_length(unsigned char b)
{
  if (b < 0x80)@+ return 1;
  if (b < 0xc2)@+ return 0;
  if (b < 0xe0)@+ return 2;
  if (b < 0xf0)@+ return 3;
  return b < 0xf5 ? 4 : 0;
}
@#
size_t utf8_next(const unsigned char *byte, size_t n,
  enum utf8_state *state)
{
  unsigned char b = byte[0], low = 0x80, high = 0xbf;
  size_t length = announced_length(b);
  @<Narrow what the second byte may be@>@;
  *state = UTF8_BROKEN;
  if (length == 0)@+ return 1;
  @<Go on while each byte may stand where it stands@>@;
  *state = UTF8_WHOLE;
  return length;
}

@ From the second byte on we go forward as long as each byte is one that may stand there. There are two ways to stop early: the bytes are at an
end, or the next one does not fit. In both the count is the length of what could still have become a character, which is what we promised; only the name of
the state differs, and it is on ``broken'' until something else is known.

@<Go on while each byte may stand where it stands@>=
for (size_t k = 1; k < length; k++) {
  if (k == n) {
    *state = UTF8_UNFINISHED;
    return k;
  }
  if (byte[k] < low || byte[k] > high)@+ return k;
  low = 0x80, high = 0xbf;
}

@ Four leading bytes restrict the byte after them, and from the third byte on nothing is restricted. Two of the four, |0xe0| and |0xf0|, would otherwise allow a spelling that is too
long: a slash that is hidden in \texttt{e0 80 af} has opened many a door that a check for slashes was to keep shut, so a character has
one spelling and no other. After |0xed| would come the surrogates U+D800 to U+DFFF (a device of UTF-16, no characters), and after |0xf4|
what lies beyond U+10FFFF.

@<Narrow what the second byte may be@>=
if (b == 0xe0)@+ low = 0xa0;
if (b == 0xed)@+ high = 0x9f;
if (b == 0xf0)@+ low = 0x90;
if (b == 0xf4)@+ high = 0x8f;

@ Four things follow at once. A text may be cut into runs of whole characters and runs of bytes
that are none; it may be shown with a U+FFFD for each part that is none; we can say which
bytes at its end wait for more; and of a character that is whole, which number it has.

@<What begins at a byte@>=
size_t utf8_run(const unsigned char *byte, size_t n, bool *whole);
  /* the length of the longest run, from the first of |n| $\ge 1$
     bytes on, of nothing but whole characters, or of nothing that is
     one */
bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
  struct bytes *out, struct error *why);
  /* appends the text, one U+FFFD per maximal subpart; on failure
     |out| is as it was */
size_t utf8_held(const unsigned char *byte, size_t n);
  /* how many bytes at the end are an unfinished character, 0 to 3 */
uint32_t utf8_point(const unsigned char *byte, size_t length);
  /* the number of the whole character of |length| bytes that begins
     here */

@ The run goes on while the answer stays the same. An unfinished character at the end is, for
this purpose, no character. A text without faults, which is nearly every text, comes out as a single run, and whoever cuts
it into runs first has then only asked whether it is UTF-8.

@<Cut off a run of characters, or of what is none@>=
size_t utf8_run(const unsigned char *byte, size_t n, bool *whole)
{
  enum utf8_state state;
  size_t at = utf8_next(byte, n, &state);
  *whole = state == UTF8_WHOLE;
  while (at < n) {
    size_t step = utf8_next(byte + at, n - at, &state);
    if ((state == UTF8_WHOLE) != *whole)@+ break;
    at += step;
  }
  return at;
}

@ For showing a text we go through it character by character. Whoever wants it faster can copy
whole runs; this function prints error messages and answers of a test protocol, and is fast
enough for both. What has been through it is for eyes only. It must not be encoded again, since a broken byte has become
three other bytes.

@<Replace what is no character@>=
bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
  struct bytes *out, struct error *why)
{
  size_t start = out->n, step = 0;
  for (size_t at = 0; at < n; at += step) {
    enum utf8_state state;
    step = utf8_next(byte + at, n - at, &state);
    bool ok = state == UTF8_WHOLE ? bytes_push(m, out, byte + at,
      step, why) : bytes_push(m, out, "\xef\xbf\xbd", 3, why);
    if (ok)@+ continue;
    out->n = start;
    return false;
  }
  return true;
}

@ A character of four bytes is unfinished with at most three. So there are three endings to try, and a text of any length
is judged by its last three bytes. We try the longest ending first;
because no leading byte is also a continuation, at most one of the three can be the
beginning of a character, and what stands before it does not matter. Of \texttt{41 e2 82} the last three bytes are a letter and more, which is not
unfinished; the last two are, so two are held.

@<Count the bytes that wait for more@>=
size_t utf8_held(const unsigned char *byte, size_t n)
{
  for (size_t k = n < 3 ? n : 3; k > 0; k--) {
    enum utf8_state state;
    if (utf8_next(byte + n - k, k, &state) == k
      && state == UTF8_UNFINISHED) return k;
  }
  return 0;
}

@ The number of a character is made of the free bits of its bytes: seven, five, four or three in
the first, six in each of the others. For the euro sign they are the first column of the table above. Only those
ask for it who must know a character's properties: is it white space, is it a letter?

@<Put a character's number together@>=
uint32_t utf8_point(const unsigned char *byte, size_t length)
{
  static const unsigned char free_bits[5] = @[{ 0, 0x7f, 0x1f, 0x0f,
    0x07 }@];
  uint32_t point = byte[0] & free_bits[length];
  for (size_t k = 1; k < length; k++)
    point = point << 6 | (byte[k] & 0x3f);
  return point;
}

@* Streaming characters. \label{sec:streaming}
A model writes one token at a time, and the reader wants to see each as it comes. But a token is
a few bytes, and may be half a character: the euro sign has three bytes, and a small vocabulary
has a token for each of them and none for the whole. If the three are printed one by one, a
terminal shows three black diamonds, and a program that believes in UTF-8 may stop. So between the tokens and the screen stands something that
holds back the bytes that are not a character \emph{yet}, and nothing else. (To decode all ids again after each token, and to print what is new, costs more with every token, and diamonds
that were printed have to be taken back.)
@^streaming@>

The definition is short. After each token, release everything but the longest ending that is an
incomplete and still completable character. So at most three bytes are ever held, a byte that
can never become a character is released at once (holding it would be holding it forever), and
nothing is ever lost: the pieces released, and what is flushed at the end, are together exactly
the bytes of all tokens. \Cref{fig:stream}\lab{lab:tokensfigures} shows the seven tokens of a price: \texttt{on}, a blank, the euro sign, \texttt{9}.

\fig{stream}{fig:stream}{Seven tokens on their way to the screen. Above the line: bytes that each releases; below: bytes
that are held after it. At the bottom stand the ids, which here are single bytes.}{A row of seven columns, one for each token of the text on, blank, euro sign, nine. The first three columns release one
byte each and hold none. The fourth and fifth, the first two bytes of the euro sign, release nothing and hold one and two bytes. The sixth releases three
at once. The seventh releases one.}

@<Bytes on their way to a reader@>=
struct stream { unsigned char held[3]; size_t n; };
  /* the |n| bytes that are held back; all zero is a stream that
     begins */
bool stream_feed(struct memory *m, struct stream *s,
  const unsigned char *byte, size_t n, struct bytes *out,
  struct error *why);
  /* appends to |out| what may be released now that |n| more bytes are
     known; on failure |s| and |out| are as they were */
bool stream_flush(struct memory *m, struct stream *s,
  struct bytes *out, struct error *why);
  /* appends what is held, raw, and empties the stream */

@ We put the held bytes and the new ones into |out| and take back the ending that must wait. What
was released before need not be looked at: had it been the beginning of a character, it
would have been held. If the second of the two copies is refused, the first is taken back; a caller who tries again must not
find the held bytes twice.

@<Release what is certain, hold the rest@>=
bool stream_feed(struct memory *m, struct stream *s,
  const unsigned char *byte, size_t n, struct bytes *out,
  struct error *why)
{
  size_t start = out->n;
  if (!bytes_push(m, out, s->held, s->n, why))@+ return false;
  if (!bytes_push(m, out, byte, n, why)) {
    out->n = start;
    return false;
  }
  s->n = utf8_held(out->byte + start, out->n - start);
  out->n -= s->n;
  if (s->n > 0) memcpy(s->held, out->byte + out->n, s->n);
  return true;
}

@ At the end of a text nothing more will come, and what is held goes out as it is, finished or not. To show half a character is bad; to
swallow a byte that the model has written would be worse, because then what the reader has would not encode to what the model said.

@<Release what is certain, hold the rest@>=
bool stream_flush(struct memory *m, struct stream *s,
  struct bytes *out, struct error *why)
{
  if (!bytes_push(m, out, s->held, s->n, why))@+ return false;
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

The header of the module is these two parts, and its body the functions.

@(utf8.h@>=
#ifndef INCIPIT_UTF8_H
#define INCIPIT_UTF8_H
#include "ground/buffers.h"
@<What begins at a byte@>@;
@<Bytes on their way to a reader@>@;
#endif

@ Nothing here calls the system, so the C library's |memcpy| is all that has to be included. The parts stand in the order in which
they were explained.

@(utf8.c@>=
#include <string.h>
#include "tokens/utf8.h"
@<Tell what begins at a byte@>@;
@<Cut off a run of characters, or of what is none@>@;
@<Replace what is no character@>@;
@<Count the bytes that wait for more@>@;
@<Put a character's number together@>@;
@<Release what is certain, hold the rest@>@;

@* Pre-tokenization. \label{sec:split}
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
takes digits in threes, so that no token is ever a number of more than three digits, takes any sign before a word, and line ends with what precedes
them. The two differ on almost every line that is not plain prose:

\medskip
\begin{tabular}{@@{}ll@@{}}
GPT-2 & \texttt{It}\enspace \texttt{'s}\enspace \texttt{\textvisiblespace 12345}\enspace \texttt{\textvisiblespace o}\enspace \texttt{'}\enspace \texttt{clock}\enspace \texttt{,}\enspace \texttt{\textvisiblespace}\enspace \texttt{\textvisiblespace he}\enspace \texttt{'ll}\enspace \texttt{\textvisiblespace say}\enspace \texttt{.}\\
Llama 3 & \texttt{It}\enspace \texttt{'s}\enspace \texttt{\textvisiblespace}\enspace \texttt{123}\enspace \texttt{45}\enspace \texttt{\textvisiblespace o}\enspace \texttt{'clock}\enspace \texttt{,}\enspace \texttt{\textvisiblespace}\enspace \texttt{\textvisiblespace he}\enspace \texttt{'ll}\enspace \texttt{\textvisiblespace say}\enspace \texttt{.}
\end{tabular}
\medskip

(The cut is called \emph{pre-tokenization} in the files.)
@^regular expression@>

@* Learning the merges. \label{sec:learning}
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
list. After the first tie the lists part, and because every merge changes later counts they need not meet
again. Our tests compare with such a program up to its first tie, and no further. Nothing of that
matters once a list exists: to apply the merges of a list there is only one way.

What are merges worth? \Cref{fig:shrink}\lab{lab:tokensfigures} counts bytes per id while the list grows. On the page that it was learnt from the curve climbs
until every word is a token. On a page that the learner has not seen, though it speaks of the same cat, little more than a third of that is gained: what the later merges
know are the first page's words. So one learns from a text as large and as mixed as what will be read, and the list ends long before its
last merges are about one document. What such a text is full of, say English, comes out short; whoever writes in a language that it hardly had
pays for the same page with more ids.

\fig{shrink}{fig:shrink}{Bytes per id, while merges are added: on the three lines that they are learnt from, and on three
lines of news about the same cat. Dashed: one byte per id, where both begin.}{Two curves that begin at one byte per id. The curve of the page that is learnt from rises nearly straight, to more than three bytes, and is flat from merge 31 on, since there
is no pair left. The curve of the unseen page rises much more slowly, and ends below two.}

@<Merges, learnt@>=
struct bpe_merge { uint32_t left, right; };
  /* merge number $k$ of a list makes id $256 + k$ of these two */
bool bpe_train(struct memory *m, const char *text, size_t n,
  const char *pattern, size_t merges, struct bpe_merge **out,
  size_t *n_out, struct error *why);
  /* learns at most |merges| merges from |n| bytes, cut by |pattern|
     (null: one piece); |*out| has |*n_out| of them in a block of
     |merges|, to be given back by |bpe_forget|; Gage 1994, Sennrich
     et al. 2016 */
void bpe_forget(struct memory *m, struct bpe_merge *merge);
  /* returns what |bpe_train| gave, for as many |merges| as were asked
     for */

@ Done literally, each merge would read the whole text twice, once to count and once to merge. For a text of a megabyte and
very many merges that is hours of work, in which hardly anything changes from one
merge to the next. So we keep three things up to date instead: the text as a chain of \emph{spots},
each with its id; for every pair, its count and the chain of the spots where it begins; and a
heap of the pairs by count. Then a merge touches only the places where it happens.

Every spot begins at most one pair at a time, the one with its right neighbour. So the links
|prev_occ| and |next_occ| of the pair's chain can lie in the spot itself, and all chains together
need no more room than the text. Spots are named by their numbers and not by pointers: four bytes for each of four links, where
pointers would take eight, and every spot of a long text has all four.
@^linked list@>

@<What the learner knows@>=
#define NOWHERE UINT32_MAX /* the end of a chain */
struct occurrence {
  uint32_t id, prev, next; /* the neighbours in the piece */
  uint32_t prev_occ, next_occ; /* the neighbours in the pair's chain */
  uint32_t weight; /* how often the piece stands in the text */
};
struct bpe_pair { uint64_t count; uint32_t left, right, first, last; };

@ Two tables of \cref{sec:tables} lead to these things: from the letters of a piece to the piece, and from two ids to their pair. In both a 0
means that there is nothing, so the numbers in them count from 1. A learner is made for one text and thrown away after it, and can therefore
hold the memory and the place for the sentence as well; it saves every function below two arguments.

@<What the learner knows@>=
struct bpe_trainer {
  struct memory *m;
  struct error *why;
  struct chunk *part; size_t n_chunks, chunks_cap;
  struct name_map known;
    /* from a piece's letters to its number, plus 1 */
  struct occurrence *nodes; size_t n_nodes;
  struct bpe_pair *pairs; size_t n_pairs, pairs_cap;
  struct pair_map number; /* from a pair to its number, plus 1 */
  struct heap queue;
  struct split_work cut;
};

@ A long text in which every other line has a \texttt{the} has
that piece very many times, and whatever happens to one of them happens to all. So equal pieces
are kept once, with the number of |weight| they occur. This alone makes learning from a large
text about as fast as learning from its dictionary. Such a piece with its number is a |chunk|, to tell it from
the |text_piece|, of which there is one for each time.

@<What the learner knows@>=
struct chunk { const unsigned char *byte; size_t n; uint32_t weight; };

@ A piece is entered by its letters: if they are known already, the number of their piece comes out of the table of names and the piece
counts once more; otherwise it gets the next number. A piece of one byte has no pair, but it does no harm either; it is entered like
the others. The letters are not copied: they stay in the text, which is the caller's and outlives the learner, and the table points there. Chunks may move when their block grows, and therefore the table gives a chunk's
number and not its address.

@<Enter a piece of the text@>=
static bool enter_piece(struct bpe_trainer *t, const unsigned char *byte,
  size_t n)
{
  uint32_t known = name_map_get(&t->known, byte, n);
  if (known != 0) {
    t->part[known - 1].weight++;
    return true;
  }
  struct chunk *p = memory_reserve(t->m, MEMORY_TOKENS, t->part, &t->chunks_cap,
    t->n_chunks + 1, 64, sizeof *p, t->why);
  if (p == NULL) return false;
  t->part = p;
  t->part[t->n_chunks++] = (struct chunk) @[{ byte, n, 1 }@];
  t->n_nodes += n;
  return name_map_put(t->m, &t->known, byte, n,
    (uint32_t) t->n_chunks, t->why);
}

@ The text is cut as in \cref{sec:split}. Bytes that are no characters cannot be shown to a pattern, which knows only characters;
each run of them is a piece of its own, and merges may be learnt inside it as anywhere else. Without a pattern the whole text is one piece, as in the
experiments of people who want to see what happens then.

@<Collect the pieces of the text@>=
static bool collect(struct bpe_trainer *t, const unsigned char *text,
  size_t n, struct splitter *by)
{
  if (by == NULL)@+ return n == 0 || enter_piece(t, text, n);
  for (size_t at = 0, length = 0; at < n; at += length) {
    bool whole;
    struct pieces p;
    struct text_piece next;
    length = utf8_run(text + at, n - at, &whole);
    pieces_begin(&p, whole ? by : NULL, &t->cut, text + at, length);
    do {
      if (!pieces_next(&p, &next, t->why))@+ return false;
      if (next.n > 0 && !enter_piece(t, next.byte, next.n))
        return false;
    } while (next.n > 0);
  }
  return true;
}

@ To enter a spot in the chain of its pair is to find the pair, or to make it, and to append.
Because we always go through pieces from left to right, the spots of every chain stand in the order of
the text, and ``from left to right'' will later need no sorting. The count grows by as many places as the spot stands for, which is
where equal pieces count as often as they occur.

@<Enter the pair that begins at a spot@>=
static bool link_pair(struct bpe_trainer *t, uint32_t i)
{
  uint32_t left = t->nodes[i].id, right = t->nodes[t->nodes[i].next].id;
  uint32_t k = pair_map_get(&t->number, left, right);
  if (k == 0 && !new_pair(t, left, right, &k))@+ return false;
  struct bpe_pair *p = &t->pairs[k - 1];
  t->nodes[i].prev_occ = p->last, t->nodes[i].next_occ = NOWHERE;
  if (p->last == NOWHERE) p->first = i;
  else t->nodes[p->last].next_occ = i;
  p->last = i;
  p->count += t->nodes[i].weight;
  return true;
}

@ A new pair gets the next number and an empty chain. Pairs are never removed, not even when their count has fallen to zero: an entry of the
heap may still name them, and what it names must mean something when it comes out.

@<Make room for a new pair@>=
static bool new_pair(struct bpe_trainer *t, uint32_t left, uint32_t right,
  uint32_t *k)
{
  struct bpe_pair *p = memory_reserve(t->m, MEMORY_TOKENS, t->pairs, &t->pairs_cap,
    t->n_pairs + 1, 256, sizeof *p, t->why);
  if (p == NULL) return false;
  t->pairs = p;
  *k = (uint32_t) (t->n_pairs + 1);
  if (!pair_map_put(t->m, &t->number, left, right, *k, t->why))
    return false;
  t->pairs[t->n_pairs++] = (struct bpe_pair) @[{ 0, left, right, NOWHERE,
    NOWHERE }@];
  return true;
}

@ To take a spot out of its chain is to let its two neighbours there know each other. This is why the chain has links in both directions: with
one, we would have to walk along it to find the neighbour before, and the chain of a common pair may be as long as the text. The count falls by what it had
grown.

@<Strike out the pair that begins at a spot@>=
static void unlink_pair(struct bpe_trainer *t, uint32_t i)
{
  const struct occurrence *s = &t->nodes[i];
  uint32_t k = pair_map_get(&t->number, s->id, t->nodes[s->next].id);
  struct bpe_pair *p = &t->pairs[k - 1];
  if (s->prev_occ == NOWHERE) p->first = s->next_occ;
  else t->nodes[s->prev_occ].next_occ = s->next_occ;
  if (s->next_occ == NOWHERE) p->last = s->prev_occ;
  else t->nodes[s->next_occ].prev_occ = s->prev_occ;
  p->count -= s->weight;
}

@ The chain of spots is laid out once, chunk after chunk. The number of a spot must be below |NOWHERE|, so there is a limit to the text: 4 GiB of
\emph{different} pieces, which is more than it sounds. When all pairs have been counted they enter the heap, each once and with its final count.

@<Lay out the spots and count the pairs@>=
static bool lay_out(struct bpe_trainer *t)
{
  if (t->n_nodes >= NOWHERE)
    return error_say(t->why,
      "a text of %zu bytes is too long to learn from", t->n_nodes);
  t->nodes = memory_alloc(t->m, MEMORY_TOKENS, t->n_nodes, sizeof *t->nodes,
    t->why);
  if (t->nodes == NULL)@+ return false;
  uint32_t i = 0;
  for (size_t c = 0; c < t->n_chunks; c++) {
    @<Lay out the spots of one chunk@>@;
  }
  return queue_from(t, 0);
}

@ At the ends of a chunk there is no
neighbour, and so no pair reaches from one piece into the next. The pairs are entered when all spots of the chunk lie there, since a pair is found by
the id of its right neighbour, too.

@<Lay out the spots of one chunk@>=
uint32_t first = i, last = i + (uint32_t) t->part[c].n - 1;
for (; i <= last; i++)
  t->nodes[i] = (struct occurrence) @[{ t->part[c].byte[i - first],@|
    i > first ? i - 1 : NOWHERE, i < last ? i + 1 : NOWHERE,@|
    NOWHERE, NOWHERE, t->part[c].weight }@];
for (i = first; i < last; i++)
  if (!link_pair(t, i))@+ return false;
i = last + 1;

@ The heap takes the smallest first, so a count goes in with its bits inverted, which turns the order round. Equal counts are
decided by the second key, which has the left id above the right one; that is the rule
for ties. A pair that stands nowhere any more is left out, so that an empty heap means that there is nothing to merge.

@<Put pairs into the queue@>=
static bool queue_pair(struct bpe_trainer *t, const struct bpe_pair *p)
{
  struct heap_item e = @[{ ~p->count,
    (uint64_t) p->left << 32 | p->right }@];
  return p->count == 0 || heap_push(t->m, &t->queue, e, t->why);
}
@#
static bool queue_from(struct bpe_trainer *t, size_t k)
{
  for (; k < t->n_pairs; k++)
    if (!queue_pair(t, &t->pairs[k]))@+ return false;
  return true;
}

@ A count in the heap may be out of date. But it can only be too high: a pair's count grows during the
one step that makes the newer of its two ids, after which it is put into the heap, and
from then on other merges can only take places away from it. So we take the top, look at
the true count, and if that is lower, put it back with the true one. What comes out
with the right count is the highest: all others have entries that are not above it, and true counts that are not above their entries.

The other way would be to move a pair in the heap whenever its count changes. Then every pair must know where in the heap it is, and most of the
moving is for pairs that never come near the top.
@^lazy deletion@>

@<Find the pair with the highest count@>=
static bool best_pair(struct bpe_trainer *t, struct bpe_pair **best)
{
  *best = NULL;
  while (t->queue.n > 0) {
    struct heap_item e = heap_pop(&t->queue);
    uint32_t k = pair_map_get(&t->number, (uint32_t) (e.tie >> 32),
      (uint32_t) e.tie);
    struct bpe_pair *p = &t->pairs[k - 1];
    if (p->count == ~e.key) {
      *best = p;
      return true;
    }
    if (!queue_pair(t, p))@+ return false;
  }
  return true;
}

@ A place where the pair stands is three neighbours at most: what comes before, the pair itself, what comes after. One place is merged like
this: the pairs that the two ids form with their neighbours are struck
out, the right spot leaves the piece, the left one takes the new id, and the new pairs
are entered. In \texttt{t h a t}, spots 0 to 3, merging \texttt{a t} at spot 2 strikes out \texttt{h a} at spot 1 and \texttt{a t} at spot 2; spot 3
leaves; spot 2 is \texttt{at} now, and spot 1 begins \texttt{h at}. Nothing else changes in the whole text.

This is also why learning is fast. A merge at one place removes one spot, and there were no more spots than bytes; so in \emph{all} merges
together there are fewer places than the text has bytes, however many merges are asked for. Each place strikes out at most three pairs and enters
at most two. A pair that comes out of the heap with a count that is too high has lost a place since, so that even the putting back is paid for by striking
out. With $n$ bytes of different pieces everything is of the order $n\log n$, the logarithm for the heap.

@<Merge at one place@>=
static bool merge_at(struct bpe_trainer *t, uint32_t i, uint32_t made)
{
  uint32_t prev = t->nodes[i].prev, gone = t->nodes[i].next,
    next = t->nodes[gone].next;
  if (prev != NOWHERE) unlink_pair(t, prev);
  if (next != NOWHERE) unlink_pair(t, gone);
  unlink_pair(t, i);
  t->nodes[i].id = made, t->nodes[i].next = next;
  if (next != NOWHERE) t->nodes[next].prev = i;
  if (prev != NOWHERE && !link_pair(t, prev))@+ return false;
  return next == NOWHERE || link_pair(t, i);
}

@ Merging a pair everywhere is merging at the head of its chain until the chain is empty. An
overlap takes care of itself: in \texttt{aaa} the merge at the first place strikes out the pair
that began at the second, before we come to it. All pairs with the new id are new, and enter the heap when their
counts are final.

@<Merge a pair wherever it stands@>=
static bool merge_all(struct bpe_trainer *t, const struct bpe_pair *best,
  uint32_t made)
{
  size_t k = pair_map_get(&t->number, best->left, best->right) - 1;
  size_t fresh = t->n_pairs;
  while (t->pairs[k].first != NOWHERE)
    if (!merge_at(t, t->pairs[k].first, made))@+ return false;
  return queue_from(t, fresh);
}

@ The learner itself is now short: cut, lay out, learn. Whatever happens, the learner's memory goes back in the end, and the list of merges too if it cannot be finished; so the caller
has either a list or a sentence, and never half of one.

@<Learn merges from a text@>=
bool bpe_train(struct memory *m, const char *text, size_t n,
  const char *pattern, size_t merges, struct bpe_merge **out,
  size_t *n_out, struct error *why)
{
  struct bpe_trainer t = @[{ .m = m, .why = why, .cut = { .m = m } }@];
  struct splitter *by = NULL;
  struct bpe_merge *list = NULL;
  *out = NULL, *n_out = 0;
  @<Refuse more merges than there are ids, and compile the pattern@>@;
  ok = ok && collect(&t, (const unsigned char *) text, n, by)
    && lay_out(&t);
  splitter_close(by);
  if (ok) list = memory_alloc(m, MEMORY_TOKENS, merges, sizeof *list,
    why);
  ok = ok && list != NULL && learn(&t, list, merges, n_out);
  @<Return what the learner took@>@;
  if (ok) *out = list;
  else bpe_forget(m, list);
  return ok;
}

@ An id has 32 bits, of which one value is no id but |NOWHERE|; with the ids of the bytes taken off, so many merges can be numbered. Nobody will ask for as many, but a number that comes from a
command line may be anything.

@<Refuse more merges than there are ids, and compile the pattern@>=
bool ok = merges < NOWHERE - 256
  || error_say(why, "%zu merges are more than ids can number", merges);
if (ok && pattern != NULL)
  ok = (by = splitter_open(m, pattern, strlen(pattern), false, why))
    != NULL;

@ The block of the list is as long as the number of merges that were asked for, even if fewer could be learnt; so that is the number to give back.

@<Learn merges from a text@>=
void bpe_forget(struct memory *m, struct bpe_merge *merge)
{
  memory_free(m, merge);
}

@ This is the loop that the hand calculation went through nine times: the best pair, its merge, and all places
where it stands. If there is no pair left, every piece is one token, and the list stays shorter than it was asked to be.

@<Find and merge, again and again@>=
static bool learn(struct bpe_trainer *t, struct bpe_merge *list,
  size_t merges, size_t *n_out)
{
  size_t k = 0;
  for (; k < merges; k++) {
    struct bpe_pair *best;
    if (!best_pair(t, &best))@+ return false;
    if (best == NULL)@+ break;
    list[k] = (struct bpe_merge) @[{ best->left, best->right }@];
    if (!merge_all(t, best, (uint32_t) (256 + k))) return false;
  }
  *n_out = k;
  return true;
}

@ Five blocks were taken, each with the room that was asked for it. Those that were never taken are null, and giving a null back is nothing.

@<Return what the learner took@>=
split_work_free(&t.cut);
heap_free(m, &t.queue);
pair_map_free(m, &t.number);
name_map_free(m, &t.known);
memory_free(m, t.pairs);
memory_free(m, t.nodes);
memory_free(m, t.part);

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
words. But somebody's text will be a megabyte of one letter without a blank; then there are nearly
as many rounds as letters, each round looks at everything that is left, and the program looks for hours. On one machine
for many users, such a text is also a way to stop all the others. \Cref{fig:work}\lab{lab:tokenslooks} counts the looks for rows of one letter
that get longer and longer: of \val{tokens.looks.n} letters, \val{tokens.looks.slow} looks the slow
way, and \val{tokens.looks.fast} the way that we are going to take, about three a letter.
@^quadratic@>

\fig{work}{fig:work}{Looks into the table of ranks for one row of equal letters: the definition, taken literally, and the program
of this section. The upper line climbs two squares to the right one, the lower one by one.}{A plot with two logarithmic axes: letters in a row
against looks. Both lines start together at two letters. The line of the definition rises with slope 2, the line of the program with slope 1. At the right end, at 2 to the power of 10 letters, the upper one
is more than two powers of ten above the lower.}

@ A published vocabulary numbers its tokens as it likes: the ids of the bytes may be anything, and
the $k$-th merge may make any id. (GPT-2's letter \texttt A is 32, and not 65.) So the encoder has a list of \emph{rules}, whose places are
the ranks, and a table from pairs to ranks. A merge that was learnt here is the special case in which byte $b$ has id $b$ and rule
$k$ makes $256+k$.

@<Merges, applied@>=
#define BPE_NONE UINT32_MAX
struct bpe_rule { uint32_t left, right, made, rank; };
  /* the pair |left|, |right| becomes |made|; of several rules that apply, the lowest |rank| goes first */
struct bpe { uint32_t byte_id[256]; struct bpe_rule *rule; size_t n,
  cap;
  struct pair_map place; };
  /* the id of every byte, |BPE_NONE| if it has none; |n| rules, of
     which the lowest rank goes first; from a pair to the place of its
     rule, plus 1 */
bool bpe_add(struct memory *m, struct bpe *b, uint32_t left,
  uint32_t right, uint32_t made, struct error *why);
  /* appends a rule whose rank is its place; of two rules for one pair
     the later counts */
bool bpe_add_ranked(struct memory *m, struct bpe *b,
  struct bpe_rule rule, struct error *why);
  /* the same, with any rank below $2^{32}-1$; several rules may have it */
void bpe_free(struct memory *m, struct bpe *b);
  /* returns the blocks of the rules */

@ Work needs a workspace, and a text has many pieces; so whoever encodes brings one that is used
again for every piece, and after the longest one nothing more is asked of the memory. The rules themselves are only read; two threads may
encode with the same rules if each has its own workspace. It also counts the looks into the table of rules, by which we will compare
the fast way with the definition.

@<Merges, applied@>=
struct bpe_node { uint32_t id, prev, next; };
  /* an id of a piece, and the places of its neighbours, |BPE_NONE| at the ends */
struct bpe_work { struct ids row; struct bpe_node *node; size_t cap;
  struct heap queue;
  uint64_t lookups; };
  /* a piece as ids, a chain of |cap| nodes, what is to be done, and
     a count of look-ups; all zero is an empty workspace */
bool bpe_encode(const struct bpe *b, struct memory *m,
  struct bpe_work *w, const unsigned char *byte, size_t n,
  struct ids *out, struct error *why);
  /* appends the ids of a piece of |n| bytes; the time is of the order
     $n\log n$ for any piece; on failure |out| is as it was */
bool bpe_join(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct ids *out, struct error *why);
  /* the same for a piece whose first ids stand in |w->row|, which is
     used up */
void bpe_work_free(struct memory *m, struct bpe_work *w);
  /* returns the workspace */

@ Appending a rule enters it in the table; an older rule for the same pair stays in the list, where
nothing leads to it any more. (Lists that name a pair twice do exist, and the libraries that read them let the
later line win.) The rule is written to its place before the table is asked to grow, and counted after, so that a
failure leaves the number of rules as it was.

@<Append a rule, and return them@>=
bool bpe_add_ranked(struct memory *m, struct bpe *b,
  struct bpe_rule rule, struct error *why)
{
  struct bpe_rule *p = memory_reserve(m, MEMORY_TOKENS, b->rule, &b->cap, b->n + 1, 256,
    sizeof *p, why);
  if (p == NULL) return false;
  b->rule = p;
  b->rule[b->n] = rule;
  if (!pair_map_put(m, &b->place, rule.left, rule.right,
    (uint32_t) b->n + 1, why)) return false;
  b->n++;
  return true;
}

@ Where merges come as a list, the list is the order. Returning the rules leaves the ids of the bytes as they are; they lie in the structure itself.

@<Append a rule, and return them@>=
bool bpe_add(struct memory *m, struct bpe *b, uint32_t left,
  uint32_t right, uint32_t made, struct error *why)
{
  return bpe_add_ranked(m, b, (struct bpe_rule) @[{ left, right,
    made,@| (uint32_t) b->n }@], why);
}
@#
void bpe_free(struct memory *m, struct bpe *b)
{
  pair_map_free(m, &b->place);
  memory_free(m, b->rule);
  b->rule = NULL, b->n = b->cap = 0;
}

@ A look is the one question about two neighbours. The answer is a \emph{candidate}: the rank in the upper half of a number, the
place of the rule in the lower one; or the largest number there is, if no rule has the pair. So of two candidates the smaller upper half goes first.

@<Look at two neighbours@>=
static uint64_t look_at(const struct bpe *b, struct bpe_work *w,
  uint32_t left, uint32_t right)
{
  uint32_t place = pair_map_get(&b->place, left, right);
  w->lookups++;
  if (place == 0)@+ return UINT64_MAX;
  return (uint64_t) b->rule[place - 1].rank << 32 | (place - 1);
}

@ Most pieces are words, and of a few bytes. For them nothing is faster than the definition, if it is taken with one grain of salt: after
a merge, only the two pairs that the new token is part of have changed, and only these are looked up. The others are remembered. Then a round is a walk over a row of
numbers that lies in the innermost cache, without a look into the table.

@<Join a short row@>=
enum { SHORT = 32 };
static size_t join_short(const struct bpe *b, struct bpe_work *w,
  uint32_t *id, size_t n)
{
  uint64_t candidate[SHORT];
  for (size_t i = 0; i + 1 < n; i++)
    candidate[i] = look_at(b, w, id[i], id[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; i++)
      if (candidate[i] >> 32 < candidate[best] >> 32) best = i;
    if (candidate[best] == UINT64_MAX)@+ break;
    @<Merge two in the row@>@;
  }
  return n;
}

@ The right one of the two leaves the row, and what stood behind it moves up. With it goes the candidate that it began; the token that was made
begins a pair of its own with the one that follows it now, and ends one with the one before.

@<Merge two in the row@>=
size_t after = n - best - 2;
id[best] = b->rule[(uint32_t) candidate[best]].made;
memmove(id + best + 1, id + best + 2, after * sizeof *id);
memmove(candidate + best, candidate + best + 1,
  after * sizeof *candidate);
n--;
if (best > 0)
  candidate[best - 1] = look_at(b, w, id[best - 1], id[best]);
if (after > 0) candidate[best] = look_at(b, w, id[best],
  id[best + 1]);

@ Each round walks over the row once, and there are fewer rounds than ids: of the order $n^2$, which is why it is for short rows only. A long row is kept
in a chain, as the learner keeps its text, and the candidates for merging in a
heap, ordered by rank and then by place. A candidate that has been overtaken by another merge
stays in the heap, and is recognized when it comes out: the two ids that its rule wants no longer
stand there. That is cheaper than to look for it and strike it out. Each merge makes at most two new candidates, and there are fewer than $n$ merges, so
at most $3n$ candidates pass through the heap, each in $\log n$ steps.

For \texttt{t h a t} and the nine merges of the hand calculation the heap begins with two candidates, rank 1 at place 0 and rank 0 at place 2. The second comes
out first, and makes \texttt{at}; \texttt{h at} has no rank. Then the other comes out, finds its \texttt t and \texttt h still there, and makes \texttt{th};
\texttt{th at} has no rank. The heap is empty, and what is left in the chain are the ids.
@^heap@>

@<Join a long row@>=
static bool join_long(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct ids *out, struct error *why)
{
  size_t start = out->n;
  if (!begin_chain(b, m, w, why))@+ return false;
  while (w->queue.n > 0) {
    struct heap_item e = heap_pop(&w->queue);
    const struct bpe_rule *r = &b->rule[(uint32_t) e.tie];
    uint32_t i = (uint32_t) (e.tie >> 32), next = w->node[i].next;
    if (w->node[i].id != r->left || next == NOWHERE
      || w->node[next].id != r->right) continue;
    @<Merge the two nodes, and look at their neighbours@>@;
  }
  @<Append the ids that are left in the chain@>@;
  return true;
}

@ The first node never leaves the chain, because of two that merge it is always the right one that does; so the way begins at node 0. If memory is
refused on it, the ids that were appended are taken back by forgetting them.

@<Append the ids that are left in the chain@>=
for (uint32_t i = 0; i != NOWHERE; i = w->node[i].next)
  if (!ids_push(m, out, w->node[i].id, why)) {
    out->n = start;
    return false;
  }

@ The left node lives on with the new id. The right one gets an id that no rule wants, so that
candidates which still point to it are recognized, too. Two pairs are new: the neighbour before with the new token, and the new token with the
neighbour after. No others can have become possible, so we look at these two and at nothing else.

@<Merge the two nodes, and look at their neighbours@>=
uint32_t after = w->node[next].next, before = w->node[i].prev;
w->node[i].id = r->made, w->node[i].next = after;
w->node[next].id = BPE_NONE;
if (after != NOWHERE) w->node[after].prev = i;
if (before != NOWHERE && !consider(b, m, w, before, why))
  return false;
if (after != NOWHERE && !consider(b, m, w, i, why)) return false;

@ To consider a node is to look at the pair that it begins, and to put a candidate
into the heap by its rank and, among equals, by its place in the row. This is the ``lowest rank, of several equal ones the
leftmost'' of the definition.

@<Consider the pair that begins at a node@>=
static bool consider(const struct bpe *b, struct memory *m,
  struct bpe_work *w, uint32_t i, struct error *why)
{
  const struct bpe_node *left = &w->node[i];
  uint64_t c = look_at(b, w, left->id, w->node[left->next].id);
  return c == UINT64_MAX || heap_push(m, &w->queue,
    (struct heap_item) @[{ c >> 32,@| (uint64_t) i << 32
    | (uint32_t) c }@], why);
}

@ In the beginning every id is a node, and every pair of neighbours is considered once. A node's number is its place in the row; it does not change
when others leave the chain, so that ``leftmost'' can be read off the number. The
nodes are taken anew, not grown, when a longer row comes: what stood in them belongs to the row before, and need not
be copied.

@<Begin with a chain of all ids@>=
static bool begin_chain(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct error *why)
{
  size_t n = w->row.n;
  if (n > w->cap) {
    give_nodes(m, w);
    w->node = memory_alloc(m, MEMORY_TOKENS, n, sizeof *w->node, why);
    if (w->node == NULL)@+ return false;
    w->cap = n;
  }
  w->queue.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    w->node[i] = (struct bpe_node) @[{ w->row.id[i],
      i > 0 ? i - 1 : NOWHERE,@| i + 1 < n ? i + 1 : NOWHERE }@];
    if (i > 0 && !consider(b, m, w, i - 1, why))@+ return false;
  }
  return true;
}

@ The workspace keeps its room from piece to piece. The queue, too, is only emptied: a piece that failed may have left candidates in it, with places that mean
nothing in the next one. At the end all three parts go back.

@<Return the workspace@>=
static void give_nodes(struct memory *m, struct bpe_work *w)
{
  memory_free(m, w->node);
  w->node = NULL, w->cap = 0;
}
@#
void bpe_work_free(struct memory *m, struct bpe_work *w)
{
  heap_free(m, &w->queue);
  ids_free(m, &w->row);
  give_nodes(m, w);
}

@ Which of the two ways a row goes is a matter of its length alone, and of nothing that could be seen from outside: both give the same ids, after
the same number of looks. The tests hold both against the definition.

@<Encode a piece@>=
bool bpe_join(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct ids *out, struct error *why)
{
  if (w->row.n > SHORT) return w->row.n < NOWHERE
    ? join_long(b, m, w, out, why) : error_say(why,
    "a piece of %zu letters is too long", w->row.n);
  size_t n = join_short(b, w, w->row.id, w->row.n), start = out->n;
  for (size_t i = 0; i < n; i++)
    if (!ids_push(m, out, w->row.id[i], why)) {
      out->n = start;
      return false;
    }
  return true;
}

@ A piece of bytes begins as a row of the bytes' ids. A vocabulary without a token for some byte cannot spell
every text; the sentence says which byte it was.

@<Encode a piece@>=
bool bpe_encode(const struct bpe *b, struct memory *m,
  struct bpe_work *w, const unsigned char *byte, size_t n,
  struct ids *out, struct error *why)
{
  w->row.n = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t id = b->byte_id[byte[i]];
    if (id == BPE_NONE)
      return error_say(why, "the vocabulary cannot spell byte 0x%02x",
        byte[i]);
    if (!ids_push(m, &w->row, id, why))@+ return false;
  }
  return bpe_join(b, m, w, out, why);
}

@* Decoding. \label{sec:back}
Decoding needs no search, no rank and no heap: every id stands for a row of bytes, and the text is
these rows, one after another. Which bytes they are is told by the list of merges itself. A byte's id
is the byte; any other id was made of two older ones, each of which is a byte or was made of two
older ones still. So to spell an id we keep a pile of ids that are to be spelt. The topmost is taken
off; if it is a byte, it is written; if not, its right half is put back and then its left half, which
is now on top. The numbers only fall, and so the pile is empty in the end.

@<Merges, undone@>=
bool bpe_learnt(struct memory *m, struct bpe *b,
  const struct bpe_merge *merge, size_t n, struct error *why);
  /* fills an empty |b| with the ids of the bytes and |n| merges as
     |bpe_train| gives them; |bpe_free| returns it */
bool bpe_spell(struct memory *m, const struct bpe_merge *merge,
  uint32_t id, struct bytes *out, struct error *why);
  /* appends the bytes of an id: a byte, or one that the merges make;
     on failure |out| is as it was */

@ A function that calls itself would be shorter by a line or two. But a token may be made of a long one and a byte,
and that of a long one and a byte, and so on, and the pile is a block of memory that
can be refused, while the machine's own stack ends without a word.

@<Spell an id, and make an encoder of merges@>=
bool bpe_spell(struct memory *m, const struct bpe_merge *merge,
  uint32_t id, struct bytes *out, struct error *why)
{
  struct ids pile = @[{ NULL, 0, 0 }@];
  size_t start = out->n;
  bool ok = ids_push(m, &pile, id, why);
  while (ok && pile.n > 0) {
    uint32_t top = pile.id[--pile.n];
    unsigned char byte = (unsigned char) top;
    if (top < 256) ok = bytes_push(m, out, &byte, 1, why);
    else ok = ids_push(m, &pile, merge[top - 256].right, why)
      && ids_push(m, &pile, merge[top - 256].left, why);
  }
  ids_free(m, &pile);
  if (!ok) out->n = start;
  return ok;
}

@ An encoder for merges that were learnt here is the simplest there is: a byte's id is the byte, and rule
$k$ makes id $256+k$. No two ids of such a list are spelt alike, which is not obvious, and the subject of an exercise. That does not make spelling unique: \texttt{that} can be written
with the ids of its four bytes, too, and a model is free to write it so. Text to ids and back is always the same text; ids to text and back need not be
the same ids.

@<Spell an id, and make an encoder of merges@>=
bool bpe_learnt(struct memory *m, struct bpe *b,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  for (uint32_t i = 0; i < 256; i++) b->byte_id[i] = i;
  for (uint32_t k = 0; k < n; k++)
    if (!bpe_add(m, b, merge[k].left, merge[k].right, 256 + k, why))
      return false;
  return true;
}

@ Three parts make the header: what is learnt, how it is applied, and how it is undone.

@(bpe.h@>=
#ifndef INCIPIT_BPE_H
#define INCIPIT_BPE_H
#include "ground/ground.h"
#include "tokens/utf8.h"
#include "lookups/table.h"
@<Merges, learnt@>@;
@<Merges, applied@>@;
@<Merges, undone@>@;
#endif

@ In the file the learner comes first, then the encoder, and the way back last. Only the learner cuts a text itself; the encoder is
given pieces, so that the same function serves a pattern, the stages of \cref{tokenizer}, and no cut at all.

@(bpe.c@>=
#include <string.h>
#include "tokens/bpe.h"
#include "lookups/split.h"
#include "tokens/utf8.h"
@<The learner, from its structures up@>@;
@<Append a rule, and return them@>@;
@<Look at two neighbours@>@;
@<Join a short row@>@;
@<Return the workspace@>@;
@<Consider the pair that begins at a node@>@;
@<Begin with a chain of all ids@>@;
@<Join a long row@>@;
@<Encode a piece@>@;
@<Spell an id, and make an encoder of merges@>@;

@ Each part of the learner stands behind those that it calls. Its structures stay inside; of all that is in it, the header shows two functions.

@<The learner, from its structures up@>=
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

@* Three families of vocabularies. \label{sec:threefamilies}
What this chapter has built is one of three sorts of vocabularies that models come with, and the other two answer the same three questions otherwise. \emph{With what does spelling begin?} GPT-2 began with bytes, so that
nothing can be missing; but a letter that is not Latin is two or three tokens until merges have put it together, and a vocabulary that was learnt on English has spent few merges on that. Google's
SentencePiece, of 2018, begins with characters, of which those that are frequent enough have a token from the start; what is left over falls into bytes, and these are joined
by nothing. So it is the better speller of a language that it has seen and the worse of one that it has not.
@^SentencePiece@>

\emph{Where may a token end?} A pattern knows what a word is, and somebody has to write it. GPT-2's knows the contractions of English, and only in small letters. SentencePiece was made for translation, also out of languages that write
no blanks, and wanted no rules: the blank is a letter like others, shown as a low block, and learns its own habits. That all texts can be cut at blanks or not at all is its strength. Its weakness is the first word. It has no blank before it, and so would
be another token than the same word further on; so a blank is put there, and taken away in the end. Who decodes one token alone cannot know
whether its blank is to be shown; it depends on whether something stands before it.

\emph{What is written down?} A list of merges, as here; or for each token a number, and the rule that neighbours merge if together they spell a token, the best number first. OpenAI's later files are of this third
sort, with bytes and patterns as in GPT-2. It looks like another method, and is the same one: \cref{sentencepiece} turns the numbers into merges, token by token, and needs nothing new but that several merges may have one rank.
@^tiktoken@>

@ \Cref{fig:spellings} shows one sentence that is hard for all. Llama~2's vocabulary is SentencePiece's, the other three begin with bytes and differ in their patterns. The digits are one row in the sentence, threes in Llama~3, and singles in Llama~2 and Qwen~3, so
that every digit has the same token wherever it stands; in GPT-2 it was left to merges, and 123 came about because it is frequent. Of the two blanks all leave one for what follows. The Greek cat is a token for each letter
at best, or nearly; in GPT-2 the bytes of its first two letters have not even found together. Llama~3 joins an accent with the letter \emph{behind} it, to which it does not belong, since to a merge it is a byte like others. And there are two ways to write \texttt{\'e}, of which the sentence has both. Qwen~3 brings the text into a normal form first, sees the same word letter by letter, and has a token for it; in exchange
the text that comes back is not, byte for byte, the one that went in. The last sign is a cat, too rare for all four.

\widefig{spellings}{fig:spellings}{One sentence in four published vocabularies; on the right the number of tokens. Red: tokens that are part of a character. The sign before the exclamation mark is
the cat U+1F408, for which our typeface has no letter, and none of the four a token.}{Four rows of boxes below one another, one for each of GPT-2, Llama 2, Llama 3 and Qwen 3, over the same sentence: Don't pay, two blanks, a
euro sign and 12345, for, the Greek word for cat, a comma, the French word for summer with its first accent as a character of its own, and a cat. The boxes differ in the digits, the Greek letters and the accents. Bytes that are no character are filled red: the cat in all
rows, two Greek letters and the accent in GPT-2. The numbers of tokens are between 19 and 27.}

@* The interface of a tokenizer. \label{sec:tokenizer}
What other people publish as a tokenizer is more than a list of merges and a pattern. Some texts stand for one
id as a whole, like the \texttt{<\textbar endoftext\textbar>} that ends a document in GPT-2's training text.
Some tokenizers first bring the letters into a normal form (an \texttt e with an accent can be one character or two, of different bytes); some put a blank before the text; some
put an id of their own before all others. Each of these changes ids, so
each must be done exactly as the model's makers did it, or refused in words. A tokenizer that
is nearly right is worse than none: the model answers anyway, only a little more stupidly, and
nobody knows why.
@^special token@>

Such a tokenizer is built of the parts of this chapter, and of many small rules. It is the subject of \cref{tokenizer}, with its interface, \.{tokenizer.h}, and the bodies of
its functions; the later chapters need five of them. |tokenizer_open| reads what has been published, a file or a directory, or fails with a sentence, and |tokenizer_close| returns the memory. |tokenizer_encode|
appends the ids of a text to a row of ids, |tokenizer_decode| the bytes of ids to a row of bytes; and for one id of a text that is still being written |tokenizer_decode_next| does the same, which
is what \cref{sec:streaming} was about. These are their promises:
@^tokenizer@>

\printedheader{tokenizer/tokenizer.h}
\printedheader{lookups/table.h}
\printedheader{lookups/split.h}

Special tokens deserve a word now.
They steer: one ends a document, others mark whose turn it is in a conversation. In a text that a user has typed the same letters must stay
letters, or the user could write what only the program should. So there are two questions at every encoding, and |tokenizer_encode| has a flag for each: shall the text of a
special token be that token (|parse_special|), and shall the ids that the files put around a text be put there (|add_special|)?

@* The check. \label{sec:tokenscheck}
The program learns from two texts, the line of the hand calculation and three lines about a cat. A third text,
of the same words but never learnt from, shows in the laboratory what merges are worth on a page that is new. These texts and everything that learning from one of them leads to
have a header and a file of their own, which the laboratory shares.

@<The texts of this chapter@>=
extern const char hand_line[], story[], news[], sentence[], price[];
  /* the line of the hand calculation; the page about the cat; a page that is new; the first sentence of the
     cat's page; and a price with a euro sign */
enum { HAND_MERGES = 9, STORY_MERGES = 24 };
  /* merges that we learn from the line, and from the page */

@ The page has three lines and ends in a line break. The price is spelt as UTF-8, for its first sign has three bytes.

@<The words of the texts@>=
const char hand_line[] = "the cat that sat";
const char story[] =@|
  "The cat sat on the mat."@| " The rat sat on the "@| "cat.\n"@|
  "The cat sat up and "@| "the rat ran. That is "@| "that,\n"@|
  "said the cat, and sat "@| "on the mat.\n";
const char news[] =@|
  "Then the hat ran up to "@| "the oat. A man has sat "@|
  "there and has seen a\n"@|
  "star on the path: what "@| "is that? said the man, "@|
    "and he sat at last on\n"@|
  "the hat.\n";
const char sentence[] = "The cat sat on the "@| "mat.";
const char price[] = "on \xe2\x82\xac" "9";

@ A \emph{lesson} is everything that learning from a text leads to: the merges, an encoder made of them, a splitter
and a workspace.

@<A lesson@>=
struct lesson { struct bpe_merge *merge; size_t n, asked;
  struct bpe rules;
  struct bpe_work work; struct splitter *by; struct split_work cut; };
  /* |n| merges in a block of |asked|, and what encodes with them */
bool lesson_learn(struct memory *m, const char *text,
  size_t merges, struct lesson *l);
  /* learns at most so many merges from a text; a failure is printed */
void lesson_forget(struct memory *m, struct lesson *l);
  /* returns what |lesson_learn| took */
bool lesson_encode(struct memory *m, struct lesson *l,
  const char *text, struct ids *out);
  /* appends the ids of a text, which is whole characters */
size_t lesson_count(struct memory *m, struct lesson *l,
  const char *text);
  /* how many ids a text is */
size_t lesson_show(struct memory *m, const struct lesson *l,
  uint32_t id, char buffer[64]);
  /* writes a token so that we can read it; returns its true number of bytes */
void lesson_stream(struct memory *m, struct lesson *l, const char *text,
  const char *format);
  /* feeds a text to a stream, id by id, and prints of each step the id, the bytes released and those held */

@ If a step of learning fails, its sentence is printed, and the program ends with status 1.

@<Learn, and be ready to encode@>=
bool lesson_learn(struct memory *m, const char *text,
  size_t merges, struct lesson *l)
{
  struct error why;
  *l = (struct lesson) @[{ .asked = merges, .cut = { .m = m } }@];
  if (bpe_train(m, text, strlen(text), split_gpt2, merges, &l->merge,
    &l->n, &why) && bpe_learnt(m, &l->rules, l->merge, l->n, &why)
    && (l->by = splitter_open(m, split_gpt2, strlen(split_gpt2),
      false, &why)))
    return true;
  fprintf(stderr, "%s\n", why.text);
  return false;
}

@ A lesson is forgotten in the opposite order of its making.

@<Learn, and be ready to encode@>=
void lesson_forget(struct memory *m, struct lesson *l)
{
  split_work_free(&l->cut);
  splitter_close(l->by);
  bpe_work_free(m, &l->work);
  bpe_free(m, &l->rules);
  bpe_forget(m, l->merge);
}

@ Here is the way from text to ids, all of it, now that the parts have names: cut, and
encode every piece. (The texts of this program are whole characters from
end to end; a text that may have other bytes in it is first cut into runs, as in
\cref{sec:learning}.)

@<From a text to its ids@>=
bool lesson_encode(struct memory *m, struct lesson *l,
  const char *text, struct ids *out)
{
  struct pieces p;
  struct text_piece next;
  pieces_begin(&p, l->by, &l->cut, (const unsigned char *) text,
    strlen(text));
  while (pieces_next(&p, &next, NULL) && next.n > 0)
    if (!bpe_encode(&l->rules, m, &l->work, next.byte, next.n, out,
      NULL)) return false;
  return next.n == 0;
}

@ Often we only want to know how many ids a text is. That is what the owner of a model charges for, and what chapter 3 counts its
work in.

@<From a text to its ids@>=
size_t lesson_count(struct memory *m, struct lesson *l,
  const char *text)
{
  struct ids list = @[{ NULL, 0, 0 }@];
  lesson_encode(m, l, text, &list);
  size_t n = list.n;
  ids_free(m, &list);
  return n;
}

@ Before we can read a token it must be made visible. It is shown with a low line for the blank, and with its number in angle brackets for a byte that
cannot be shown. A token of this chapter is a few bytes long; of a longer one we would see the beginning.

@<Show a token@>=
size_t lesson_show(struct memory *m, const struct lesson *l,
  uint32_t id, char buffer[64])
{
  struct bytes b = @[{ NULL, 0, 0 }@];
  size_t to = 0;
  bpe_spell(m, l->merge, id, &b, NULL);
  for (size_t i = 0; i < b.n && to < 58; i++) {
    bool plain = b.byte[i] > 32 && b.byte[i] < 127;
    if (plain || b.byte[i] == ' ') buffer[to++] = plain
      ? (char) b.byte[i] : '_';
    else to += (size_t) sprintf(buffer + to, "<%02x>", b.byte[i]);
  }
  buffer[to] = '\0';
  to = b.n;
  bytes_free(m, &b);
  return to;
}

@ A stream is fed token by token. For the checkpoint a step is an id with the bytes released and
held; for \cref{fig:stream} it is a line.

@<Feed a stream@>=
void lesson_stream(struct memory *m, struct lesson *l, const char *text,
  const char *format)
{
  struct ids list = @[{ NULL, 0, 0 }@];
  struct stream s = @[{ .n = 0 }@];
  lesson_encode(m, l, text, &list);
  for (size_t i = 0; i < list.n; i++) {
    struct bytes token = @[{ NULL, 0, 0 }@], out = token;
    bpe_spell(m, l->merge, list.id[i], &token, NULL);
    stream_feed(m, &s, token.byte, token.n, &out, NULL);
    printf(format, (unsigned) list.id[i], out.n, s.n);
    bytes_free(m, &token);
    bytes_free(m, &out);
  }
  ids_free(m, &list);
}

@ The header of the lesson and its file are linked to the programs of this chapter, and are no part of the library.

@(lesson.h@>=
#ifndef INCIPIT_LESSON_H
#define INCIPIT_LESSON_H
#include "tokens/bpe.h"
#include "lookups/split.h"
@<The texts of this chapter@>@;
@<A lesson@>@;
#endif

@ In the file the words come first.

@(lesson.c@>=
#include <stdio.h>
#include <string.h>
#include "tokens/lesson.h"
@<The words of the texts@>@;
@<Learn, and be ready to encode@>@;
@<From a text to its ids@>@;
@<Show a token@>@;
@<Feed a stream@>@;

@ The way back is to spell every id. The promise of this chapter is that the two ways together change nothing, for every text that
there is, and now we can prove it. The pieces, one after the other, are the text. A piece begins as its bytes, each with an id that spells it; and a
merge puts one id in the place of two, which spells what the two have spelt. So at no moment, and whatever the merges are, do the ids spell anything else.
Whether a program does what the proof says is another matter: this one is tried on four texts here, and by the tests on very many rows of arbitrary bytes.

@<Turn ids back into text@>=
static bool decode(struct memory *m, const struct lesson *l,
  const struct ids *list, struct bytes *out)
{
  for (size_t i = 0; i < list->n; i++)
    if (!bpe_spell(m, l->merge, list->id[i], out, NULL)) return false;
  return true;
}

@ The merges are printed four in a line, each with the id that it makes and its two halves, because the halves show how a word has grown:
\texttt{\textvisiblespace that} is a blank with \texttt{th}, and then \texttt{at}.

@<Print merges@>=
static void print_merges(struct memory *m, const struct lesson *l)
{
  for (size_t k = 0; k < l->n; k++) {
    char left[64], right[64], both[140];
    lesson_show(m, l, l->merge[k].left, left);
    lesson_show(m, l, l->merge[k].right, right);
    snprintf(both, sizeof both, "%s+%s", left, right);
    bool last = (k + 1) % 4 == 0 || k + 1 == l->n;
    printf("%4zu %-*s%s", 256 + k, last ? 1 : 11, both,
      last ? "\n" : "");
  }
}

@ Ids are printed beside the text that they came from, and the way back is tested at once. A difference is printed, and it also decides the status with which the program
ends, because a build does not read what a program prints.

@<Print ids beside their text@>=
static bool print_ids(struct memory *m, struct lesson *l,
  const char *text)
{
  struct ids list = @[{ NULL, 0, 0 }@];
  struct bytes back = @[{ NULL, 0, 0 }@];
  bool ok = lesson_encode(m, l, text, &list) && decode(m, l, &list, &back);
  printf("%s\n ", text);
  for (size_t i = 0; i < list.n; i++) {
    char buffer[64];
    lesson_show(m, l, list.id[i], buffer);
    printf(" %u:%s", (unsigned) list.id[i], buffer);
  }
  bool same = ok && back.n == strlen(text)
    && memcmp(back.byte, text, back.n) == 0;
  printf("\n  %zu ids, and back: %s\n", list.n,
    same ? "the same" : "DIFFERENT");
  ids_free(m, &list);
  bytes_free(m, &back);
  return same;
}

@ What the program prints: the hand calculation first, so that pencil and program can be compared line by line, and then the page about the cat with three texts, of which the last has a word that the page does not have.
The euro sign of the price, for which the page has no token, goes through a stream. At the end all memory must have been returned; chapter 0 has counted it.

The first two ids of the hand calculation, 256 and 257, are there, and the word that was not learnt is spelt with them; ``The bat'' has
its \tok{The} and its \tok{at}, and a blank and a \tok b that stand alone, because no word of the page begins like that.

What does it all cost? Compared with what comes, nothing. A byte is looked at a few times in a table, on the way to ids, and once on the way back. To write one token the smallest GPT-2, as chapter~2 will
count, does \val{gpt2.head} multiplications and as many additions for the scores of its vocabulary alone. So a short spelling is
worth looking for, and the time that it takes to find it is not worth a thought, as long as it grows with the text and not with its square.

\checkpoint{build/out/tokens.txt}{merges learnt on a page, ids, a round trip, a stream}

@* Exercises. \label{sec:tokensexercises}
Every answer can be judged: \texttt{make exercise-01-1} puts the first one's skeleton into a file of your own, and judges
the file when it is called again.

\begin{exercises}
\exercise{check}{ex:tokens.banana}{Learn from \texttt{banana bandana}, cut before the blank, until no pair is left. Which rank is
the first of which the rule for ties decides, and how many merges are there?}{\texttt{make exercise-01-1}}{\tok{a}\,\tok{n}
stands there four times and has rank 0. After it \tok{b}\,\tok{an} and \tok{an}\,\tok{a} stand there twice: rank 1 is a tie, and \tok b is
the smaller left id. Seven merges in all.}
\exercise{check}{ex:tokens.held}{The bytes |0xe2|, |0x82|, |0x41|, |0xf0|, |0x9f|, |0xe2| come one by one. How many are held after
each?}{\texttt{make exercise-01-2}}{1, 2, 0, 1, 2, 1: the third can never be part of the character that the first two began, so all
three go; the same happens to the fourth and the fifth when the sixth comes, which itself may begin something.}
\exercise{think}{ex:tokens.longest}{Give a text to learn from, and a word without blanks that comes out otherwise if one always takes the longest
token that fits.}{\texttt{make exercise-01-3}}{\texttt{bc.bc.bc.ab.ab} teaches \tok{b}\,\tok{c} before \tok{a}\,\tok{b}. Then \texttt{abc} is
\tok a\,\tok{bc}; the longest token at its beginning would be \tok{ab}.}
\exercise{think}{ex:tokens.alike}{Write down merges of which two ids are spelt alike. Then show that a list which was \emph{learnt} has no
such two.}{\texttt{make exercise-01-4} (the list)}{\tok a\,\tok b, \tok b\,\tok c, \tok{ab}\,\tok c and \tok a\,\tok{bc} make \texttt{abc} twice. But suppose that a
token of these letters stands at two places of the text, at the end of learning. While it was made, nothing joined its first or last letter with a
neighbour outside, or it would not be a token. So at both places the same letters went through the same merges: at each rank either both
had the pair or neither. In a row of equal ids the merges go from left to right, and might begin outside the token; but had they
an odd number of ids before it, one of them would have been joined across its border. So both are made alike, and are one id.}
\exercise{think}{ex:tokens.most}{How many merges can be learnt from one piece of $n$ bytes, at the most?}{\texttt{make
exercise-01-5}}{$n-1$: every merge shortens the piece by at least one, and one token is left in the end. A piece in which no pair stands twice at any time has
them all.}
\exercise{build}{ex:tokens.once}{A pair that stands in the text once is worth no token. Let the learner stop before the first
such pair.}{\texttt{make exercise-01-6}}{In |learn|, ask for |best->count < 2| as well. Of the nine merges of the hand calculation two are left.}
\exercise{build}{ex:tokens.spell}{Write the rival: a function that spells a text by always taking the longest token that fits. How many ids do the three lines of
news take then, and how many with the merges in their order?}{\texttt{make exercise-01-7}}{Two loops, one over the places of the text and one over the
ids. For most texts the rival is a little shorter; it is still the wrong one, since no model has ever read its spelling.}
\exercise{check}{ex:tokens.ranks}{The tokens \tok a, \tok b, \tok{ab}, \tok{bb}, \tok{abb} have the ranks 0 to 4. How many merges are they, and how is \texttt{abbabb} spelt?}{\texttt{make
exercise-01-8}}{\tok a\,\tok b, \tok b\,\tok b, and two for the last: \tok a\,\tok{bb} and \tok{ab}\,\tok b. Both \texttt{ab} go first, and then both times \tok{ab}\,\tok b makes \tok{abb}: two tokens. \tok{bb} has no part in it.}
\exercise{think}{ex:tokens.across}{In a vocabulary whose blanks are blocks, a text may be cut before every block that stands behind another letter, if no token has a block there (\cref{tokenizer}). Give tokens with scores, and a text of three letters, for which the cut
makes a difference.}{\texttt{make exercise-01-9}}{One token is enough that has a block behind a letter: \texttt{a\textunderscore} in a text like \texttt{a\textunderscore b}, with a score that makes it go first. Uncut it is \texttt{a\textunderscore}\enspace\texttt b; cut before the block \texttt{a}\enspace\texttt{\textunderscore}\enspace\texttt b.}
\exercise{build}{ex:tokens.languages}{Write a program that prints, for each file that it is given, bytes per token and tokens per word, with two decimals. Use it for one page in several languages, and for vocabularies that you have. (The command \texttt{incipit tokenize --count} counts for
you.)}{\texttt{make exercise-01-10}}{A loop around |wc -c|, |wc -w| and the command. With this book's own vocabulary, learnt on English tales, English has nearly three bytes a token, German less than two, and Greek or Russian one: their words were never read, and fall apart into bytes.}
\exercise{build}{ex:tokens.smallest}{Write the function that finds the $k$ smallest of $n$ numbers, in rising order, with a heap that never holds more than
$k+1$.}{\texttt{make exercise-01-11}}{The heap has the smallest on top, and we want to throw the largest away; so each number is entered as its distance from the largest possible number. |heap_pop| takes
out the smallest of those, which is the largest of ours.}
\end{exercises}
