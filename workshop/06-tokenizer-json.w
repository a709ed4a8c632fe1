@i types.w
@s json_t int
@s FILE int

\chapterquestion{A model comes with a file that says how to make tokens. What does it say, and what must we not ignore?}
@** Tokenizers of Hugging Face. \label{sec:files1}
\incipit{Y}{ou have downloaded a} model, and beside its weights there is a file named \.{tokenizer.json}. You open it, and the words look broken: \texttt{Ġthe}, \texttt{cafÃ©}. Is the file damaged? No; it spells bytes. But suppose that something in it is new to you, a flag that you have never seen. May you skip it?
@^Hugging Face@>@^tokenizer.json@>

That is the question of this chapter. A tokenizer that is a little wrong makes no noise. It gives you ids, the model takes them, and its answers are a little worse: the text was cut in a way that the model has never met in training. So we build most of what published tokenizers use, and refuse the rest by name. We ignore only what changes no id, for example how offsets into a text are trimmed.

We first learn to read the spelling. Then we take the machine apart that the file describes, and ask of each part: which types do we build, and what would go wrong if we guessed? The worst case turns out to be a part that we do know, but that means something else to the file's makers. What only fetches values out of JSON, key by key, is plain C in \.{unwoven/tokenizer-json}, with its reasons beside it.

\begin{byhand}{a word of the file}
JSON has no bytes, only characters, and the words of a vocabulary should be printable and have no blanks. So GPT-2's authors gave every byte a character that can be seen. A byte that is a printable character of Latin-1 stands for itself. The others are three blocks: 0 to 32, which are 33 bytes; 127 to 160, which are 34; and 173, the soft hyphen. They get the characters from 256 on, in order. Which bytes are the word \texttt{ĠcafÃ©}?

\medskip
\begin{tabular}{@@{}lrlrl@@{}}
\tabhead{character} & \tabhead{number} & \tabhead{which byte} & \tabhead{byte} & \tabhead{hexadecimal}\\
\texttt{Ġ} & 288 & moved, $288-256$ & 32 & 20\\
\texttt{c} & 99 & itself & 99 & 63\\
\texttt{a} & 97 & itself & 97 & 61\\
\texttt{f} & 102 & itself & 102 & 66\\
\texttt{Ã} & 195 & itself & 195 & c3\\
\texttt{©} & 169 & itself & 169 & a9
\end{tabular}
\medskip

The first byte is a blank, and c3 a9 is an e with an accent in UTF-8. The second block begins at $256+33=289$, so byte 127 is character 289, and byte 173 comes after both blocks, at $289+34=323$.
\end{byhand}

@* Characters that stand for bytes. \label{sec:alphabet}
The blank, byte 32, is the last of the first block. So it appears as U+0120, the letter \.G with a dot above that puzzles every reader of such a
file. \Cref{fig:alphabet} shows the whole alphabet: \val{vocab.alphabet.itself} bytes stand for themselves, and
\val{vocab.alphabet.moved} have moved. (A vocabulary that begins with characters is spelt as it reads, and needs none of this.)

\fig{alphabet}{fig:alphabet}{The characters that stand for the bytes in a vocabulary's file: the first hexadecimal digit of a byte
is on the left, the second above. Red: bytes that do not stand for themselves, in four blocks; the blank is the first in line 2. (The character in line 9,
column 6, is missing in our typeface.)}{A square table of characters, 16 in each line. The printable characters of ASCII and of
Latin-1 are in black, in their places. The first two lines, the blank, all of lines 7 F to A 0, and A D are red and hold letters with accents from A with macron on.}
@^characters, that stand for bytes@>

The rule asks one question about a byte: is its Latin-1 character visible? The rest is the arithmetic of the box.

@<Spell a byte as a character, and back@>=
static bool seen(unsigned b)
{
  return (b >= 33 && b <= 126) || (b >= 161 && b <= 255 && b != 173);
}
@#
uint32_t tokenizer_byte_to_unicode(unsigned b)
{
  if (seen(b)) return b;
  if (b <= 32) return 256 + b;
  return b <= 160 ? 256 + 33 + (b - 127) : 256 + 33 + 34;
}
  /*- Three blocks of bytes have no glyph of their own: 0 to 32, 127 to 160, and 173. They are
    numbered from 256 on. */

@ And back: the number alone tells the block, and the block tells the byte. Not every number stands for a byte; blanks, for example, never occur in such a word, nor do letters of
other scripts. A word of a vocabulary that has one cannot be made by merges. It still has an id, and decodes as it is written. Special tokens are often in the vocabulary in this way, with vertical bars that are not those of ASCII.

@<Spell a byte as a character, and back@>=
int tokenizer_unicode_to_byte(uint32_t c)
{
  if (c < 256) return seen(c) ? (int) c : -1;
  if (c <= 256 + 32) return (int) (c - 256);
  if (c <= 256 + 32 + 34) return (int) (c - 256 - 33 + 127);
  return c == 256 + 33 + 34 ? 173 : -1;
}

@ The writer needs the alphabet as UTF-8. It ends at U+0143, so two bytes are enough for each character.

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

@ The alphabet is a file of its own, because the reader and the writer of GGUF files spell words in it, too.

@(alphabet.c@>=
@;
/** The characters that stand for bytes in the words of a vocabulary, both ways. It knows nothing of
  files, and every reader and writer of one uses it. Every byte has a character; not every character
  is a byte's. */
#include "tokenizer-json/tokenizer_json.h"
@<Spell a byte as a character, and back@>@;
@<Spell bytes for a file@>@;

@ Its header declares the three functions.

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

@* Five parts and their stages. \label{sec:stages}
For Hugging Face's library a tokenizer is a machine of five parts: a normalizer, a pre-tokenizer, a model (the merges, or the scores of \cref{sec:unigram}), a post-processor (what is put before and after) and a decoder. Each is of a type from a long list, and \cref{tab:fiveparts} has the types that we build.
@^normalizer@>@^pre-tokenizer@>@^post-processor@>

\begin{table}
\tabcaption{tab:fiveparts}{The parts of a \texttt{tokenizer.json}, in the order in which a text meets them. All but the model may be a Sequence.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}p{30mm}p{44mm}@@{}}
\tabhead{part} & \tabhead{what it does} & \tabhead{types that we build}\\
\midrule
\texttt{added\_tokens} & finds whole tokens in a text & all flags\\
\texttt{normalizer} & rewrites the text & NFC, NFD, NFKC, NFKD, StripAccents, Lowercase, Strip, Nmt, Precompiled, Prepend, Replace\\
\texttt{pre\_tokenizer} & cuts the text into pieces & Split, Digits, Punctuation, Whitespace, WhitespaceSplit, BertPreTokenizer, UnicodeScripts, ByteLevel, Metaspace\\
\texttt{model} & makes tokens of pieces & BPE, on bytes or on characters; Unigram\\
\texttt{post\_processor} & puts ids before and after & TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel\\
\texttt{decoder} & makes a text of ids & ByteLevel; Replace, ByteFallback, Fuse, Strip, Metaspace
\end{tabular*}
\end{table}

We read them into the steps of \cref{tokenizer}. Three examples show how. \texttt{Digits} is one step: it cuts at a pattern, the class \texttt{\textbackslash p\char123 N\char125}. (So an Arabic four is cut out like an ASCII one, and so is a half, which is one character.) \texttt{ByteLevel} may be two: it may put a blank before the text, and it may cut by GPT-2's pattern. It also turns bytes into the alphabet of the file, but we need not do that, since we turned the file's words into bytes.

And \texttt{Metaspace} is three. Blanks become blocks, the character U+2581. A block is put before a text never, always, or only where the whole text begins. And the text may be cut before every block. The order matters: no block is put where the text already begins with one, even one that was a blank. In this the
newer form differs from the older, whose files prepend first and replace afterwards. There is a trap in ``where the whole text begins'': once the normalizer has removed something, it may mean the beginning of the original text, or of the normalized one. A file in which the difference may matter is refused.
@^Metaspace@>

@ Sequences may be nested, and are taken apart until single stages are left. (The readers of all stages are in \.{unwoven/tokenizer-json/stages.c}.) The order of the file is the order in which they cut, and after \texttt{ByteLevel} it has a meaning that surprises: a stage there sees the
letters of the file's alphabet instead of the text, and a byte of an accented letter may look like a digit. Falcon's file has two such stages. So the text is spelt in these letters once, before the first of them, and at the end
what is left of it becomes bytes again. Both are steps, like all others; \texttt{Metaspace}, which would put in a block that is no letter, is refused there.

\printedfunction{tokenizer-json/stages.c}{after_bytes}

Exactness has an unpleasant side here. The makers' library uses tables of different years: an accent is what Unicode called a mark in its version~9, from which the scripts of letters are too, and punctuation is what it called so in version~8. Our library is newer and knows more characters. So our program lists those that have come since, and leaves them alone. Only two normalizers are missing, those of BERT and of bytes, which do several things at once.

@* What we do not know, we refuse. \label{sec:description}
Two rules protect us from a file that is newer than our program, or broken, or made to do damage. The first is about keys. A key that we do not know may change ids or not; we cannot tell. So it is refused. But programs write out all fields that they have, whether a tokenizer uses them or not, and a newer program has more of them. If we refused them all, we could read hardly any file. So there is an exception: a value that says nothing, null, false or empty, asks for nothing.

\printedfunction{tokenizer-json/fields.c}{reader_keys}

@ The message has the four parts of chapter 0: file, field, found, wanted. The program of this chapter reads a file that asks for BERT's normal form, and prints what it gets; you find it at the end of the checkpoint in \cref{sec:descriptionscheck}.

The second rule is about sizes. An id is an integer from 0 on, and the table of ids is as long as the largest. So a file of ten bytes could ask for a table of gigabytes, if we believed it. What do we know about an honest file? Each word takes some bytes of it. So in a vocabulary without gaps every id is smaller than the number of bytes, and with gaps it almost always is.

\printedfunction{tokenizer-json/fields.c}{reader_id}

@* Patterns of Oniguruma and of PCRE2. \label{sec:dialects}
The worst case is a part that we \emph{do} know, with another meaning. A pattern in a file was written for the library that the file's makers used, which is called Oniguruma; ours is PCRE2. Most of what patterns say means the same to both, and the treacherous parts are those that both accept. After a count such as \texttt{\char123 1,3\char125} a plus means ``one or more times'' to Oniguruma, and ``never give any of it back'' to PCRE2. The tokenizer would cut
at other places and give other ids, silently.
@^Oniguruma@>@^PCRE2@>

So we translate a pattern from a file before it is compiled (\cref{tab:dialects}). Where there is a way to tell PCRE2 what Oniguruma would have done, we write that; a part for which there is none, or whose reading we have not
verified, is refused, and the message names it. The patterns of the published files of chapter~1 come through as they are.

\begin{table}
\tabcaption{tab:dialects}{Parts of a pattern with two readings, and what becomes of them.}
\begin{tabular*}{\textwidth}{@@{}p{25mm}@@{\extracolsep{\fill}}p{46mm}p{36mm}@@{}}
\tabhead{part} & \tabhead{two readings} & \tabhead{what we do}\\
\midrule
\texttt{\char123 1,3\char125+}, \texttt{\char123 3\char125?} & a repeated repetition, or a possessive or lazy one & a group around it\\
\texttt{\char94}, \texttt{\char36} & ends of a line to Oniguruma, of the whole text to PCRE2 & looking back or ahead\\
\texttt{\textbackslash b}, \texttt{\textbackslash B} & words end at other letters & looking back and ahead\\
\texttt{\textbackslash h} & a hexadecimal digit, or a blank & a class\\
\texttt{[a\&\&[\char94 b]]} & an intersection to Oniguruma; characters to PCRE2 & looking back at it; other nested classes are refused\\
\texttt{[[:alpha:]]} & two lists of letters & Unicode's property\\
\texttt{\textbackslash p\char123 Greek\char125} & a script, or also what it shares with others & the script itself\\
\texttt{(?i)} & a switch by itself extends further in one of them & taken at the beginning, else refused\\
\texttt{(?i:ss)} & also a \texttt{\ss} to Oniguruma: one character that stands for two & refused\\
\texttt{[]a]} & a class with a bracket, or an empty one & refused
\end{tabular*}
\end{table}

The function that looks at the next part of a pattern is a table in the form of a switch. It appends what PCRE2 is to read, and returns what is wrong, or null. What was repeated last begins at |p->atom|, so that a group can be put around it.

\printedfunction{tokenizer-json/dialects.c}{read_next}

@ Folded letters are the strangest case. Where a group ignores the case of letters, the pattern \texttt{ss} of Oniguruma also matches the single character \texttt{\ss}, which stands
for two letters. So in such a group we refuse the five pairs of letters that have such a character, and everything beyond ASCII. (|folded| has one bit for each depth of nesting.)

\printedfunction{tokenizer-json/dialects.c}{read_letter}

@* Words, merges, and what goes around. \label{sec:around}
The model has words and merges. A merge is a pair of words, or, in older files, one string with one blank between two words. Both words and what they make together must be in the vocabulary; if they are not, the file is broken, or of a kind that marks the beginnings of words in its merges. Neither word may be empty, and a fuzzer found out why: with an empty vocabulary and two empty words our buffer was never allocated, and the second word began at a null pointer plus zero, which C does not allow. (\.{unwoven/tokenizer-json/words.c})
@^fuzzing@>

\emph{Dropout}, which omits merges at random to make training harder, must be off, or the same text would have other ids every time. The \emph{unknown token} stands for text that the vocabulary cannot spell. If every byte has a token it is never used, and the file may name one; if some byte has none we refuse the file, since no byte-level tokenizer that we have met does that. In a vocabulary of characters, an unknown character becomes bytes first, and the unknown token is the last resort. Some files have tokens for only a few bytes. A character all of whose bytes have tokens is spelt in them, any other is unknown. If one of each kind follow each other, Hugging Face's library even changes their order: the unknown token waits until a known character comes, and the bytes overtake it. So ours waits as well (\cref{sec:lastcut}).
@^unknown token@>

@ A \emph{template} is a list in which \texttt{A} is the text, with special tokens before and after it. If two templates follow each other, the second one goes around the first. A template names a token by its text, in a field that is called \texttt{id} all the same; only the numbers under \texttt{ids} count. (\.{around.c}; the file has a second list, for pairs of texts, which we ignore: a model that writes is given one text.) Without a post-processor a second file, \.{tokenizer\_config.json}, says whether a text begins or ends with a special token.

@ \label{sec:decodersteps}The \emph{decoder} of a byte-level vocabulary joins bytes, and that is all. With characters the decoder is a small program, whose steps change each token and, after the step called \texttt{Fuse}, the whole text. We carry out the steps before \texttt{Fuse} once, for all tokens, when the file is read. After it we know one step, which strips a blank from the beginning. It may strip one at most: no encoder adds more, so a second blank is one that the model wrote. (\.{decoder.c})

@* The whole file, and other files. \label{sec:wholefile}
In which order should we read the parts? Not in that of the file, and not in that of use: each part after those that it refers to. The words come before the decoder, which changes their texts, and both before the added tokens, which decode as they are written. These, and all stages, come before the tables that point into the pool of strings. (A fuzzer found a stage whose strings were added after the tables, and moved what they pointed to.) The ids around a text come last.

Before all that, |is_ours| decides whether a file is of our kind at all, that is, whether its model is BPE or Unigram. A file of another kind is not an error, and a caller may go on without a tokenizer; a file of our kind with an unknown field is an error, and the caller may not.

@ There are other kinds of files. We tell them apart by what they contain, not by their names, which users change. A model of SentencePiece begins with its first piece (\cref{sec:protobuf}), a list of ranks with a word and a number, a GGUF file with its four letters (\cref{gguf}). Everything else is taken for JSON, and the parser's message says what is wrong with it. And GPT-2 was published before \.{tokenizer.json} existed: as a vocabulary, \.{vocab.json}, and a list of merges, \.{merges.txt}. Everything else was in GPT-2's program, so it is in ours as well.
@^merges.txt@>@^vocab.json@>

@ Writing goes the other way (\.{writing.c}). Words are spelt in the alphabet of bytes, and merges as two words with a
blank between, the form that old and new readers understand. Nothing depends on a date, on a machine, or on the order of a hash table: the same merges give the same bytes, and a test checks that.

@* The check. \label{sec:descriptionscheck}
The program learns a few merges from a short text, makes a tokenizer of them, writes it as a file, reads the file, and
compares: both tokenizers must give a text the same ids. The text is encoded twice: once as typed by a user, where the end of a text is spelt in letters, and once as written by the program itself, where it is one token. Then it shows how a file is refused. (The parts are in \.{unwoven/tokenizer-json/shown.inc}.)

@c
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tokenizer-json/tokenizer_json.h"
#include "tokenizer-json/shown.inc"
@;@#
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "alphabet") == 0) return print_alphabet();
  if (strcmp(what, "values") == 0) return print_values();
  return print_round_trip();
}

@ Each id is printed with its bytes, of which those that are no printable character of ASCII are hexadecimal:

\checkpoint{build/out/tokenizer-json.txt}{a tokenizer written, read, and refused}

@* Exercises. \label{sec:descriptionexercises}
The first two need paper and an editor. The third adds a stage that some published files have, and that our reader refuses.

\begin{exercises}
\exercise{check}{ex:descriptions.alphabet}{A word in a file of GPT-2's kind is written with the three characters U+00C3, U+00A9 and U+0120. Which bytes does it stand for, and what does a reader see?}{\texttt{make
exercise-W6-1}}{The first two stand for themselves as bytes, \texttt{c3} and \texttt{a9}, and U+0120 is the moved blank, \texttt{20}: an e with an acute accent, and a blank.}
\exercise{think}{ex:descriptions.small}{Write a \texttt{tokenizer.json} with which \texttt{the} becomes a single id and decodes to itself. Not counting blanks, it may have at most \given{200} bytes.}{\texttt{make
exercise-W6-2}}{Three letters, \tok{th} and \tok{the}, two merges; \texttt{ByteLevel} cuts, without its blank, and decodes. Without \tok{th} a merge would name a word that is not there, and the file would be refused.}
\exercise{think}{ex:descriptions.words}{Add the stage \texttt{CharDelimiterSplit}: it cuts at one character, given as \texttt{delimiter}, and drops it.}{\texttt{make
exercise-W6-3}}{A stage that keeps gaps and no matches, with the delimiter as a literal pattern; |reader_keys| refuses any other setting. With |keep_matches| the delimiters would come back as pieces of their own.}
\end{exercises}
