@i types.w

\chapterquestion{A model comes with a list of tokens that another program made. Can we use the list so that not one id
differs from that program's?}
@** Inside a tokenizer. \label{sec:vocabularies}
\incipit{C}{hapter 1 explains} how text becomes ids, and you could leave it at that. But suppose you want the \emph{same} ids as another program, for every text. That is a matter of
many small rules, each of which could have been decided otherwise. Where does the first blank go? Is \.{</s>} in a user's text a token, or four letters? What is a letter? Most of these rules were decided at Hugging Face: most
open models are published on its site, and its library wrote the files beside the weights. What that library does with a text is our
definition of correct. If a file has a rule that we do not implement, its reader stops with a sentence: a
tokenizer that is almost right would be worse than none.

In this chapter we take a text through the whole tokenizer. \Cref{sentencepiece,tokenizer-json} read the files from which one is filled.

\begin{byhand}{one blank, two opinions}
Llama~2's vocabulary has no blanks. A blank is written as a block, U+2581, here \tok{\textunderscore}, and one more is put before the text, so that its first word
looks like the others. The text is a blank and an \texttt{a}. If we first put a block and then replace the blanks, we get two blocks and a letter:

\medskip
\begin{tabular}{@@{}lll@@{}}
put, in any case & \texttt{\textunderscore\ a} & \\
blanks become blocks & \texttt{\textunderscore\textunderscore a} & 3 characters
\end{tabular}
\medskip

If we first replace the blanks, and put a block only where there is none, we get one block and a letter:

\medskip
\begin{tabular}{@@{}lll@@{}}
blanks become blocks & \texttt{\textunderscore a} & \\
put, unless it is there & \texttt{\textunderscore a} & 2 characters
\end{tabular}
\medskip

The vocabulary was made in the first order, and older files ask for that; newer files for the same vocabulary ask for the second. The second gives one token fewer, its decoded text
has lost the blank, and the model has seen only one of the two in training. We follow the file.
\end{byhand}

@ The program does the hand calculation in both orders with a vocabulary of five tokens, and spells in bytes a letter that has no token. Its last line is for later (\cref{sec:unigram}). The vocabularies, and the functions that print, are in \.{unwoven/tokenizer/shown.inc}.

@c
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer_internal.h"
#include "tokenizer/shown.inc"
@;@#
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  bool values = strcmp(what, "values") == 0;
  bool lattice = strcmp(what, "lattice") == 0;
  for (int newer = 0; newer < 2 && !lattice; newer++)
    if (!show_order(newer, values)) return 1;
  return show_lattice(values, lattice) ? 0 : 1;
}

@* Ever smaller cuts. \label{sec:inside}
Encoding is a series of cuts, and \cref{fig:stages} shows them on one text. First we separate what is UTF-8 from bytes that are not. Then we look for \emph{added} tokens in the text, such as the end of a document. What remains is brought into a normal form, and in that we look for added tokens once more. The stages of the \emph{pre-tokenizer} cut it into words, and only then do we merge as in \cref{sec:encoding}.
@^added token@>@^pre-tokenizer@>

\widefig{stages}{fig:stages}{The stages of a tokenizer. Each row is the text as the stage before has left it. What has become an id (filled) is not touched again.}{Six rows of boxes, one below the other. The first has the bytes of a text: the word Le, the token for a pause in angle brackets, the word café with its accent written as a character of its own, an exclamation mark, and one byte ff that is no character. In the second row the byte is separate. In the third the token is filled: it is an id. In the fourth the letter e and the accent are one character. In the fifth the text is cut into Le, blank café and the exclamation mark. In the last row all boxes are filled: Le, blank ca, fé, the exclamation mark, the token, and the byte.}

Why so many? Because each cut protects something from the next. No merge may swallow half of a special token, so those are taken out before. No pattern should see a broken character. And a vocabulary was learnt on texts in one normal form; an \texttt{e} with a separate accent would become other tokens than \texttt{\'e}.

@ The stages between, normal form and pre-tokenizer, come from the file, in any order and number. One kind cuts. All others change the text: they put characters before it, replace characters by others, bring it
into one of four normal forms, map characters by a table, make them small, or remove marks, control characters or superfluous blanks.

In Hugging Face's files such a stage is an object with one of many names; \cref{tokenizer-json} translates them into these. The number of stages is limited, since a hostile file could otherwise slow us down with patterns without end.

\printedheader[text_step_kind..text_step]{tokenizer/tokenizer_internal.h}

A cut may leave its matches as pieces of their own, drop them, or glue each to a neighbour: a blank to the word before it, say. The enumeration in the middle says which.

@* Where the words are kept. \label{sec:outside}
A vocabulary has \given{100,000} strings or more, most of them a few bytes long. As many allocations would cost more memory for their headers (\cref{sec:allocator}) than for their letters. So the bytes of all tokens are in one block of memory, the \emph{string pool}, and a token is a \emph{span} of it, an offset and a length. Why not an address? The pool moves when it grows.
@^string pool@>@^span@>

\printedheader[span, vocab_entry]{tokenizer/tokenizer_internal.h}

Every id has two spans, and they are nearly always equal. Its \emph{piece} is the spelling by which the vocabulary finds the token;
its \emph{text} is what decoding gives. When do they differ? A file may put a blank in place of a block, or the byte \texttt{0a} in place of the six characters \tok{<0x0A>}. Doing it once for each token, when the file is read, means that decoding only has to copy.

Beside the pool a tokenizer has one field for each thing that a file can state. Those that are ids plus one have a zero for ``none''.

\printedheader[tokenizer]{tokenizer/tokenizer_internal.h}

Plain C in \.{unwoven/tokenizer/build.c} fills all this, by functions that must be called in a fixed order: pieces, their table, stages, added tokens, the tree of those. Once it is complete, a tokenizer is only read, so any number of threads can encode with it at the same time.

@* Added tokens. \label{sec:added}
An added token is found in the text before anything is merged. Five flags in the file say how.

\printedheader[added_token]{tokenizer/tokenizer_internal.h}

\emph{Special} tokens steer a conversation or end a document;
in a text that a user has typed they must stay ordinary characters, or the user could write what
only the program should (\cref{sec:injection}). So they are recognized only on request; other added tokens always are. A token may
swallow the white space on its left (|lstrip|) or right (|rstrip|); it may have to be a whole word; and it
may be looked for after the text has been brought into its normal form. The sixth flag is ours: \emph{frozen} tokens are the pieces that the user of SentencePiece has defined (\cref{sentencepiece}). We look for them where merging begins, and they decode as pieces do.
@^special token@>

@ If several added tokens begin at the same place, the longest wins; if they overlap,
the one that begins first. Llama~3 has \val{tokens.llama3.special} added tokens that begin alike. Comparing the text with all of them at every place would be slow, so we arrange their bytes
as a tree, a \emph{trie}: below the root are the possible first bytes, below each of them the
possible second ones, and the node of a token's last byte has the token's number.
@^trie@>

\printedheader[trie_node]{tokenizer/tokenizer_internal.h}

The children of a node are a linked list. A table of all bytes at every node would be faster only for nodes with
many children, and added tokens branch little. (There are two more tries in these volumes: the nodes of the stop strings have failure links besides the children, \cref{sec:automaton}, and the pieces
of \cref{sec:lexicon} are walked from first to last, so they need no links at all.)

@<Find the longest added token here@>=
uint32_t tokenizer_trie_child(const struct tokenizer *t, uint32_t at,
  unsigned char byte)
{
  uint32_t next = t->trie[at].child;
  while (next != 0 && t->trie[next].byte != byte)
    next = t->trie[next].sibling;
  return next;
}
  /*- A list, since added tokens branch little. */

@ To find the longest token at a place we walk down the tree as long as the bytes agree,
and remember the last end of a token that we passed. At most places of most texts the walk ends at the root, because no token begins with that byte. So for a text
without added tokens the search costs hardly more than reading it.

@<Find the longest added token here@>=
const struct added_token *tokenizer_longest_added(const struct tokenizer *t,
  uint32_t root, const unsigned char *text, size_t n, size_t *length)
{
  const struct added_token *found = NULL;
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    at = tokenizer_trie_child(t, at, text[i]);
    if (at == 0) break;
    if (t->trie[at].added == 0) continue;
    found = &t->added[t->trie[at].added - 1];
    *length = i + 1;
  }
  return found;
}
  /*- At most places of most texts the walk ends at the root. */

@ To insert a token we walk down in the same way, and make a node where there is none (\.{unwoven/tokenizer/plant.inc}). There are three roots: for the tokens that are looked for before the normal form (0) and after it (1), and for the frozen ones (2). Here is a trap. A token that is looked for in the normal form must be in that form itself, or it would never be found. So we normalize it before we insert it, as if it were a whole text. If the file puts a block before every text, the token gets one as well, and is found only where the text has a block. Strange, but Hugging Face's library does the same.

A second trap caught us. The bytes of the added tokens were appended to the pool after those of the pieces. When the pool moved, the
table of pieces pointed into memory that had been
freed, which mostly still held the right bytes. Every test passed; a fuzzer found it. So now the table is made again first.

@<Make the tree of added tokens@>=
#include "tokenizer/plant.inc"
@;@#
bool tokenizer_index_added(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  /*- The tokens' bytes came after those of the pieces, and the pool may have moved; by_piece would
    point into what was freed. */
  name_map_free(m, &t->by_piece);
  bool ok = tokenizer_index_vocab(m, t, why);
  for (int root = 0; root < 3; root++)
    ok = ok && new_trie_node(m, t, 0, 0, why);
  for (size_t i = 0; ok && i < t->n_added; i++) {
    const struct added_token *x = &t->added[i];
    const unsigned char *byte = t->string_pool.byte + x->text.at;
    struct bytes normal = @[{ NULL, 0, 0 }@];
    bool after = x->normalized && t->n_normalizers > 0 && !x->frozen;
    /*- What is looked for in the normal form must be in it, block before it and all, or it would
      never be found. */
    if (after) ok = tokenizer_normalize(t, m, byte, x->text.n, true, &normal,
      why);
    t->any_frozen = t->any_frozen || x->frozen;
    uint32_t root = x->normalized ? 1 : 0;
    if (x->frozen) root = 2;
    ok = ok && plant(m, t, root, after ? normal.byte : byte,
      after ? normal.n : x->text.n, (uint32_t) i + 1, why);
    bytes_free(m, &normal);
  }
  return ok;
}

@ The two flags about white space and the one about words need to know what a space is, and what a letter. White space is a property of Unicode. Its list has not changed
since Unicode~6.3, so we can write it into the program; the list of letters grows every year, so that we take from the library utf8proc. One property is missing there, ``alphabetic''. The circled and a few other enclosed letters have that property although
their categories do not show it, so we add them by their numbers. This is not a matter of taste: it is what \texttt{\textbackslash w} means in the regular
expressions by which Hugging Face's library finds the ends of words (\.{unwoven/tokenizer/words.c}).
@^utf8proc@>

A token is a whole word if neither the character before it nor the one after it belongs to a word. So \texttt{[x]} is not a whole word in \texttt{a[x]b}, where it
is left to the merges, but it is one in \texttt{a [x] b}. How do we find the character \emph{before} a byte? We step back over continuation bytes. Chapter 1 praised UTF-8 for this: the beginning is at most
three bytes away, and we recognize it when we are there.

@* From text to ids. \label{sec:encode}
Now we follow \cref{fig:stages} from top to bottom. One structure has all that the
functions need on the way.

@<What an encoding needs on its way@>=
struct job { const struct tokenizer *t; struct memory *m; struct ids *out;
  struct bpe_work work; struct unigram_work best; struct split_work cut;
  bool parse_special; struct error *why; bool unknown; };
  /* |unknown|: there is an unknown character that the row of the piece
     does not yet have */

@ The first cut is between valid UTF-8 and other bytes. \label{sec:notutf} Take a text of six bytes: an A, two of the three bytes of a euro sign, a b, a byte that no character has, and a c. |utf8_next| (\cref{sec:bytes}) tells us of each part how long it is and whether it is a character. |utf8_run| puts neighbours of one kind together and returns the length of the first run. Here no two neighbours are of one kind, so there are five runs; a text without faults, and that is nearly every text, comes out as a single one.

\medskip
\begin{tabular}{@@{}llll@@{}}
\tabhead{bytes} & \tabhead{are} & \tabhead{encoded as} & \tabhead{shown as}\\
\texttt{41} & a character & text & A\\
\texttt{e2 82} & a euro sign, cut off & two bytes & U+FFFD\\
\texttt{62} & a character & text & b\\
\texttt{ff} & no beginning of a character & a byte & U+FFFD\\
\texttt{63} & a character & text & c
\end{tabular}
\medskip

What if we have to show such a text? A screen wants characters, so |utf8_lossy| puts a U+FFFD, which most screens draw as a black diamond, in the place of each part that is none. The two bytes of the euro sign are one part, and get one diamond. The result is for eyes only. Never encode it again: a broken byte has become three other bytes, and a model would read diamonds.
@^U+FFFD@>

\printedheader[utf8_run..utf8_point]{tokens/lossy.h}

The third function gives the number of a character, for white space and letters here, and for ranges of characters in \cref{constraints}.

@ Here the runs are encoded. Bytes that form no character are spelt byte
by byte, so that decoding gives back \emph{every} string of bytes as it was, if the tokenizer has no normal form.

@<Encode a text@>=
static bool encode_runs(struct job *j, bool first,
  const unsigned char *byte, size_t n)
{
  size_t length = 0;
  bool ok = true, whole;
  for (size_t at = 0; ok && at < n; at += length) {
    /*- What is no UTF-8 is spelt byte by byte, so every string of bytes comes back. */
    length = utf8_run(byte + at, n - at, &whole);
    j->work.piece.n = 0;
    ok = whole ? encode_added(j, 0, first && at == 0, byte + at, length)
      : push_bytes(j, byte + at, length) && join(j);
  }
  return ok;
}

@ Around it is the function that everybody calls, with its two flags. The files may put ids before and after a text: mostly one before it that means ``here a text begins'', and none after. If anything fails on the way, we remove the ids that were already appended by
resetting the length of the caller's row.

@<Encode a text@>=
bool tokenizer_encode(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, bool add_special, bool parse_special,
  struct ids *out,
  struct error *why)
{
  struct job j = @[{ .t = t, .m = m, .out = out, .cut = { .m = m },@|
    .parse_special = parse_special, .why = why }@];
  size_t start = out->n;
  bool ok = (!add_special || push_all(&j, &t->prefix_ids))
    && encode_runs(&j, true, (const unsigned char *) text, n)
    && (!add_special || push_all(&j, &t->suffix_ids));
  split_work_free(&j.cut), bpe_work_free(m, &j.work);
  memory_free(m, j.best.node);
  if (!ok) out->n = start;
  return ok;
}

@ The list of such ids is seldom longer than one.

@<Push the ids that the files add@>=
static bool push_all(struct job *j, const struct ids *list)
{
  for (size_t i = 0; i < list->n; i++)
    if (!ids_push(j->m, j->out, list->id[i], j->why)) return false;
  return true;
}

@ A conversation is encoded in stretches (\cref{sec:injection}), and the caller puts the special tokens between them. A stretch is not the beginning of a text, even
though it is all that the function gets: if the file puts a block only before the first word of the whole, none is put here.

@<Encode a text@>=
bool tokenizer_encode_inside(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, struct ids *out, struct error *why)
{
  struct job j = @[{ .t = t, .m = m, .out = out, .cut = { .m = m },@|
    .why = why }@];
  size_t start = out->n;
  bool ok = encode_runs(&j, false, (const unsigned char *) text, n);
  split_work_free(&j.cut), bpe_work_free(m, &j.work);
  memory_free(m, j.best.node);
  if (!ok) out->n = start;
  return ok;
}
  /*- A stretch of a conversation is not the beginning of a text, though it is all that we get. */

@* At the added tokens. \label{sec:cutadded}
The search goes through a text from |*at| on, one byte at a time where no token begins. Not every match counts: a special token may not be wanted, and a token that has to be a whole word may be part of a longer one. Then we skip all of the match and
continue after it, as Hugging Face's library does, and do not find
another token that overlaps it.

@<Cut at the added tokens@>=
struct added_place { const struct added_token *token; size_t from, to; };
@#
/*- A match that does not count is skipped whole, as Hugging Face does it: no other token that
  overlaps it is found. */
static bool find_added(const struct job *j, uint32_t root,
  const unsigned char *text, size_t n, size_t *at, struct added_place *p)
{
  while (*at < n) {
    size_t from = *at, length = 1;
    const struct added_token *x = tokenizer_longest_added(j->t, root, text + from,
      n - from, &length);
    *at += length;
    if (x == NULL || (x->special && !j->parse_special)) continue;
    if (x->single_word && !tokenizer_whole_word(text, n, from, *at)) continue;
    *p = (struct added_place) @[{ x, from, *at }@];
    return true;
  }
  return false;
}

@ A token may swallow white space. The text is encoded up to |done|, which may be after the beginning of the token, if the previous one has swallowed white space with which this one
begins. Then everything from there up to
|done| is white space, and we need not measure it again.

@<Cut at the added tokens@>=
static void swallow_space(struct added_place *p, const unsigned char *text,
  size_t n, size_t done)
{
  if (p->token->lstrip)
    p->from = done < p->from ? tokenizer_space_before(text, p->from, done) : done;
  if (p->token->rstrip)
    p->to = p->to < done ? done : tokenizer_space_after(text, n, p->to);
}
  /*- The token before may have swallowed beyond our beginning; what lies between is white space.
    */

@ Because a token can reach back into the text on its left, we encode the text before a token only when the
token has been found. Can a token vanish? Yes, if it consists of white space and the one before has swallowed all of it. If it has the flag |lstrip|, we skip it; if not, it still counts.

@<Cut at the added tokens@>=
static bool encode_added(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n)
{
  size_t done = 0, at = 0;
  struct added_place p;
  while (find_added(j, root, text, n, &at, &p)) {
    swallow_space(&p, text, n, done);
    /*- all of it has been swallowed by the token before */
    if (p.from >= p.to) continue;
    /*- only now: a token may swallow white space on its left */
    if (done < p.from && !encode_between(j, root, first && done == 0,
      text + done, p.from - done)) return false;
    if (!ids_push(j->m, j->out, p.token->id, j->why)) return false;
    done = p.to;
  }
  return done >= n || encode_between(j, root, first && done == 0,
    text + done, n - done);
}

@ One function does both searches. After the first, the text between the tokens
is normalized and searched again; after the second, it goes on to the stages. Even without a normal form the two follow each other, as in Hugging Face's library; that is why it may prefer a token of the first root to one of the second that begins earlier.

@<Encode the text between added tokens@>=
static bool encode_between(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n)
{
  if (root == 1)
    return encode_from(j, j->t->n_normalizers, first, text, n);
  if (j->t->n_normalizers == 0) return encode_added(j, 1, first, text, n);
  struct bytes normal = @[{ NULL, 0, 0 }@];
  bool ok = tokenizer_normalize(j->t, j->m, text, n, first, &normal, j->why)
    && encode_added(j, 1, first, normal.byte, normal.n);
  bytes_free(j->m, &normal);
  return ok;
}
  /*- After root 0 the text is normalized and searched again; after root 1 it goes to the stages.
    Without a normal form the two searches still follow each other, since Hugging Face's do. */

@* Through the stages. \label{sec:prestages}
The stages of the pre-tokenizer apply one after another, each to the pieces that the one before
has left. The obvious program makes a list of pieces after each stage. We need no list: the function calls itself with each piece for the next stage, as soon as there is one. The recursion is as deep as there are stages.

@<Go through the stages@>=
static bool glues(enum text_glue how, const struct text_piece *held,
  const struct text_piece *next)
{
  if (held->n == 0) return false;
  switch (how) {
  case GLUE_BEFORE: return next->match && !held->match;
  case GLUE_AFTER: return !next->match && held->match;
  case GLUE_RUNS: return next->match && held->match;
  case GLUE_NONE: break;
  }
  return false;
}
  /*- of several matches in a row only the first goes to the gap before, the last to that after;
    two gaps in a row have an empty match between them, which keeps them apart */
@#
static bool encode_from(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n)
{
  if (n == 0) return true;
  if (k == j->t->n_steps) return encode_piece(j, text, n);
  const struct text_step *s = &j->t->step[k];
  /*- which calls encode_from with the changed copy */
  if (s->what != STEP_SPLIT) return encode_changed(j, k, first, text, n);
  struct pieces p;
  struct text_piece next, held = @[{ text, 0, false }@];
  pieces_begin(&p, s->by, &j->cut, text, n);
  do {
    if (!pieces_next(&p, &next, j->why)) return false;
    if (next.n > 0 && (next.match ? !s->keep_matches
      : !s->keep_gaps)) continue;
    if (next.n > 0 && glues(s->glue, &held, &next)) {
      held.n += next.n, held.match = next.match;
      continue;
    }
    if (held.n > 0 && !encode_from(j, k + 1,
      first && held.byte == text, held.byte, held.n)) return false;
    held = next;
  } while (next.n > 0);
  return true;
}
  /*- Calls itself with each piece for the next stage: no list of pieces is ever made, and the
    recursion is as deep as there are stages. */

@ A stage that changes its text writes a copy, because the text belongs to the caller, and the next stage gets the copy.

@<Go through the stages@>=
static bool encode_changed(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n)
{
  struct bytes copy = @[{ NULL, 0, 0 }@];
  bool ok = tokenizer_change(j->t, &j->t->step[k], j->m, text, n, first, &copy,
    j->why) && encode_from(j, k + 1, first, copy.byte, copy.n);
  bytes_free(j->m, &copy);
  return ok;
}

@ What are the changes? Mostly the one of the hand calculation. A block before a text makes its first word look like all others, \tok{\ the} and not \tok{the}. Tokenizers differ in where they put it: before every stretch of text;
before every stretch that does not begin with one already; or only at the beginning of the whole. Each gives other ids.

A stage that strips leaves one blank of several in a row, and none at either end. This is how SentencePiece cleans a text if its file asks for it; Llama's file does not, since blanks have a meaning in source code.

@ The last kind is the normal form. \label{sec:normalform} Some characters can be written in two ways: \texttt{\'e} is one
character, or an \texttt{e} and an accent. Normal form C, or NFC, uses the single character where there is one \cited{Whistler 2022}. It takes three steps: every character is decomposed as far as possible, the marks
after a letter are sorted by their \emph{combining classes}, and characters that can be composed are composed. The library utf8proc has the tables for all three, and a function that does all three.
@^normal form@>

The other three forms are the same steps: form D leaves out the last one, and the forms K take apart what only \emph{looks} alike as well, so that the ligature \texttt{fi} becomes two letters.

We use the library for the first step and the third. For the second it exchanges neighbours. That is fast for letters with an accent or two; but on a text that consists of marks, which an
attacker may send us, its time grows with the square of the length. So we sort ourselves, with a trick: a mark's key is one number, made of its class, its place and its code point. Sorting the
keys of a run sorts the marks by class, and keeps the order of marks of the same class.

\printedfunction{tokenizer/forms.c}{mark_key}

Most text needs none of this. A character below U+0300 is in the normal form already and never composes with the character before it; the same holds for a Chinese character, or a syllable of Hangul.
So a page of English or French is only copied, and we decompose just the letters with marks after them.

@* The last cut, and the merges. \label{sec:lastcut}
What needs no more cutting is a piece. Some tokenizers look a piece up as a whole before they merge
(\texttt{ignore\_merges}): Llama~3's does, because its vocabulary has tokens that its own merges
do not reach. Gemma~4's does so for runs of line ends only (|lines_whole|).

@<Encode what needs no more cutting@>=
static bool encode_piece(struct job *j, const unsigned char *byte,
  size_t n)
{
  /*- Llama 3 has tokens that its own merges do not reach. */
  bool asks = j->t->ignore_merges
    || (j->t->lines_whole && byte[0] == '\n');
  uint32_t whole = asks ? name_map_get(&j->t->by_piece, byte, n) : 0;
  if (whole != 0) return ids_push(j->m, j->out, whole - 1, j->why);
  if (j->t->unigram.n > 0) return unigram_encode(j->t, j->m, &j->best,
    byte, n, j->out, j->why);
  return j->t->char_level ? encode_characters(j, byte, n)
    : bpe_encode(&j->t->rules, j->m, &j->work, byte, n, j->out,
    j->why);
}

@ In byte-level BPE we merge from bytes, and nothing is ever missing. In a vocabulary of \emph{characters} merging begins with the ids of the characters, and no vocabulary has them all. A character without an id is spelt in bytes if there are tokens for all of them, which is called \emph{byte fallback}. Otherwise it becomes the
\emph{unknown token}; some files ask for one unknown token for several unknown characters in a row. (A file may also give a character the unknown token as its own; such a character is not unknown, and is not counted among these.) If there is no unknown token either, the text cannot be encoded. So no character is lost
without a trace: at least an unknown token is left of it.
@^byte fallback@>@^unknown token@>

@<Encode a piece of characters@>=
static bool push_unknown(struct job *j)
{
  bool waits = j->unknown;
  j->unknown = false;
  return !waits || ids_push(j->m, &j->work.piece,
    j->t->unknown - 1, j->why);
}
  /*- It waits until a character follows that is known, so that several can become one. */
@#
static bool push_character(struct job *j, const unsigned char *c,
  size_t n)
{
  const struct tokenizer *t = j->t;
  struct ids *row = &j->work.piece;
  uint32_t id = n == 1 ? t->letter[*c] : name_map_get(&t->by_piece, c,
    n);
  if (id != 0) return push_unknown(j)
    && ids_push(j->m, row, id - 1, j->why);
  bool bytes = true;
  for (size_t i = 0; i < n; i++)
    bytes = bytes && t->rules.byte_id[c[i]] != BPE_NONE;
  /*- the unknown character before waits: the makers' library does so */
  if (bytes) return push_bytes(j, c, n);
  if (t->unknown == 0)
    return error_say(j->why, "the vocabulary cannot spell the "@|
      "character U+%04X", (unsigned) utf8_point(c, n));
  if (!t->fuse_unk && !push_unknown(j)) return false;
  return j->unknown = true;
}
  /*- A character without a token is spelt in bytes if there is one for each, else it becomes the
    unknown token; several in a row may become one. None is lost without a trace. */

@ The bytes of such a character are pushed by a function that |encode_runs| calls as well, for bytes that do not form a character.

@<Encode a piece of characters@>=
static bool push_bytes(struct job *j, const unsigned char *byte,
  size_t n)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t id = j->t->rules.byte_id[byte[i]];
    if (id == BPE_NONE) id = j->t->unknown - 1;
    if (id == BPE_NONE) return error_say(j->why,
      "the vocabulary cannot spell byte 0x%02x", byte[i]);
    if (!ids_push(j->m, &j->work.piece, id, j->why)) return false;
  }
  return true;
}
  /*- unknown counts from 1, so if there is no unknown token its id is BPE_NONE as well. */

@ Such vocabularies have no pattern that cuts words apart: the blank is a character like any other, written as the block U+2581, and a whole book is one long piece. Merging
it takes time of the order $n\log n$. Can we cut it ourselves, and get the same ids? Look at the tokens. In nearly all of these vocabularies a token has blocks only at its beginning, never after another character. Then \emph{no merge can join a block to the character
before it}, for the result would be such a token. So we can end the row there;
the rows are now words and not books. We do not assume this but look at all pieces. And the block must be a token itself, or it would be spelt in bytes, which could merge with the bytes before them.

@<Check whether a match stands at word boundaries@>=
static const unsigned char block[3] = @[{ 0xe2, 0x96, 0x81 }@];
bool tokenizer_word_begins(const unsigned char *text, size_t at,
  size_t n)
{
  return at > 0 && n - at >= 3 && memcmp(text + at, block, 3) == 0
    && (at < 3 || memcmp(text + at - 3, block, 3) != 0);
}
@#
/*- If no token has a block after another character, no merge can join a block to what comes before
  it. Then a row may end before each block, with the same ids: rows are words, not books. The block
  must be a token itself, or its bytes could merge. */
void tokenizer_find_splits(struct tokenizer *t)
{
  t->splits_at_spaces = name_map_get(&t->by_piece, block, 3) != 0;
  for (size_t i = 0; i < t->n_vocab; i++) {
    struct span s = t->vocab[i].piece;
    for (size_t k = 1; k < s.n && t->splits_at_spaces; k++)
      t->splits_at_spaces = !tokenizer_word_begins(t->string_pool.byte + s.at, k, s.n);
  }
}

@ So we read a piece character by character, and merge the row where a word ends, before a frozen token, and at the end of the piece. A frozen token is pushed directly:
none of its characters enters a row, so no merge can begin in it or cross it.

@<Encode a piece of characters@>=
static bool join(struct job *j)
{
  bool ok = push_unknown(j)
    && bpe_join(&j->t->rules, j->m, &j->work, j->out, j->why);
  j->work.piece.n = 0;
  return ok;
}
  /*- Merges the row and begins a new one. */
@#
static bool encode_characters(struct job *j,
  const unsigned char *text, size_t n)
{
  enum utf8_state state;
  size_t length;
  j->work.piece.n = 0;
  for (size_t at = 0; at < n; at += length) {
    const struct added_token *x = !j->t->any_frozen ? NULL
      : tokenizer_longest_added(j->t, 2, text + at, n - at, &length);
    if (x == NULL) length = utf8_next(text + at, n - at, &state);
    if ((x != NULL || (j->t->splits_at_spaces
      && tokenizer_word_begins(text, at, n))) && !join(j)) return false;
    if (x != NULL ? !ids_push(j->m, j->out, x->id, j->why)
      : !push_character(j, text + at, length)) return false;
  }
  return join(j);
}

@* The best of all ways: Unigram and Viterbi. \label{sec:unigram}
Merging decides one pair at a time and never takes a decision back. Could we not look at the whole word first, and choose the best of \emph{all} ways to cut it? That is what the vocabularies of T5, XLM-R and many smaller models want. Their method is called \emph{Unigram} \cited{Kudo 2018a}: every piece has a score, the logarithm of a probability that was learnt; the score of a way to cut a text is the sum of the scores of its pieces, and the way with the best score wins. A sum of logarithms is the logarithm of a product. So the best way is the likeliest, if each piece is drawn without a look at the others.
@^Unigram@>@^Viterbi algorithm@>

\begin{byhand}{\texttt{abab}, cut in the best way}
Five pieces have scores: \tok a $-2$, \tok b $-2.5$, \tok{ab} $-3$, \tok{ba} $-3.1$ and \tok{aba} $-5$. Four letters have eight ways to be cut, six of which use only these pieces:

\medskip
\begin{tabular}{@@{}lll@@{}}
\tok a \tok b \tok a \tok b & $-2-2.5-2-2.5$ & $-9$\\
\tok a \tok{ba} \tok b & $-2-3.1-2.5$ & $-7.6$\\
\tok{aba} \tok b & $-5-2.5$ & $-7.5$\\
\tok{ab} \tok a \tok b & $-3-2-2.5$ & $-7.5$\\
\tok a \tok b \tok{ab} & $-2-2.5-3$ & $-7.5$\\
\tok{ab} \tok{ab} & $-3-3$ & $-6$
\end{tabular}
\medskip

Two letters more, and there are four times as many ways. But we need not list them. Ask instead how well each \emph{place} between two letters can be reached. Place 0 costs nothing. Place 1 is reached by \tok a: $-2$. Place 2 is reached by \tok b from place 1, $-4.5$, or by \tok{ab} from the beginning, $-3$: the second is better. We forget the first, since whatever comes later adds the same to both. Place 3 is reached from the beginning by \tok{aba}, $-5$; from place 1 by \tok{ba}, $-2-3.1=-5.1$; from place 2 by \tok a, $-3-2=-5$. A tie! We go from left to right and keep the one that we met first, \tok{aba}. Place 4 is reached from place 3 by \tok b, $-7.5$, or from place 2 by \tok{ab}, $-6$.
Now we walk back: place 4 was reached from 2, and 2 from 0. The best way is \tok{ab} \tok{ab}.
\end{byhand}

\Cref{fig:unigram} shows all of it as a \emph{lattice}: the places from left to right, and an arc for each piece that fits between two of them. A way to cut the text is a path from the left end to the right, and for each place we keep the best path to it. This is the \emph{Viterbi algorithm} \cited{Viterbi 1967}:
\begin{equation}\label{eq:viterbi}
  \beta_0=0,\qquad \beta_j=\max_{i<j,\ t_i\ldots t_{j-1}\in V}\bigl(\beta_i+s(t_i\ldots t_{j-1})\bigr),
\end{equation}
where $t$ is the text, $V$ the vocabulary, $s$ the score of a piece, and $\beta_j$ the score of the best path to place $j$.
@^lattice@>

\fig{unigram}{fig:unigram}{The lattice of \texttt{abab}: places with the best score to each, and arcs for the pieces. Red: the best way.}{Five places in a row, numbered zero to four. Arcs above and below lead from place to place, each with its piece and its score. Two arcs are red: ab from place zero to two, and ab from two to four. Under the places are the best scores: zero, minus two, minus three, minus five, minus six.}

@ For each place we keep three things: the best score so far, the place from which it was reached, and the id of the piece. We add scores from the left, and here we must be careful. Two ways may have the same pieces in another order, and then rounding decides between them. Hugging Face's library adds in double precision, SentencePiece itself in single. To get the same ids we add as the program does that made the file.

@<Take the better way@>=
static double sum(const struct unigram *u, double a, double b)
{
  return u->floats ? (double) ((float) a + (float) b) : a + b;
}
@#
static void reach(struct unigram_node *to, uint32_t from, uint32_t id,
  double score)
{
  /*- strictly better: of equal ways the first that was met, which begins further left */
  if (to->from != BPE_NONE && score <= to->score) return;
  *to = (struct unigram_node) @[{ score, from, 0, id }@];
}

@ Which pieces begin at a place? We keep the pieces in a sorted list, in which those that begin with the same bytes are neighbours. Say the text goes on with \texttt{aba}. We start with the range of all pieces and narrow it, byte by byte: those that begin with \texttt a, those that begin with \texttt{ab}, and so on, until the range is empty. A binary search finds each new range. If \texttt{ab} itself is a piece, it is the first of its range, since a shorter word comes before its continuations.

@<Find the pieces that begin here@>=
struct range { size_t from, to; };
@#
static int byte_at(const struct tokenizer *t, size_t k, size_t at)
{
  struct span s = t->vocab[t->unigram.sorted[k]].piece;
  return at < s.n ? t->string_pool.byte[s.at + at] : -1;
}
@#
static size_t first_from(const struct tokenizer *t, struct range r,
  size_t at, int byte)
{
  while (r.from < r.to) {
    size_t middle = r.from + (r.to - r.from) / 2;
    if (byte_at(t, middle, at) < byte) r.from = middle + 1;
    else r.to = middle;
  }
  return r.from;
}
  /*- A piece that has ended comes before all others, so its next byte counts as -1. */

@ From one place we now reach every place where such a piece ends. What if the character at this place is not a piece? Then we could be stuck. So there is always one way more: the single character as \emph{unknown}, with a score that is ten below that of the worst piece. It will be chosen only if nothing else is left.

@<Find the best way to each place@>=
static void reach_from(const struct tokenizer *t, struct unigram_node *node,
  const unsigned char *text, size_t n, size_t at)
{
  const struct unigram *u = &t->unigram;
  enum utf8_state state;
  size_t one = utf8_next(text + at, n - at, &state), k = 0;
  struct range r = @[{ 0, u->n }@];
  bool single = false;
  while (at + k < n) {
    size_t from = first_from(t, r, k, text[at + k]);
    r.to = first_from(t, r, k, text[at + k] + 1);
    r.from = from, k++;
    if (r.from == r.to) break;
    uint32_t id = u->sorted[r.from];
    if (t->vocab[id].piece.n != k) continue;
    reach(node + at + k, (uint32_t) at, id,
      sum(u, node[at].score, u->score[id]));
    single = single || k == one;
  }
  if (!single) reach(node + at + one, (uint32_t) at, BPE_NONE,
    sum(u, node[at].score, u->unknown));
}

@ We go through the characters once, from left to right. The links of the best way lead back from the end, so a second loop turns them around.

@<Find the best way to each place@>=
static double best_way(const struct tokenizer *t,
  struct unigram_node *node, const unsigned char *text, size_t n,
  double score)
{
  enum utf8_state state;
  for (size_t i = 0; i <= n; i++) node[i].from = BPE_NONE;
  node[0].score = score;
  for (size_t at = 0; at < n; at += utf8_next(text + at, n - at, &state))
    reach_from(t, node, text, n, at);
  for (uint32_t at = (uint32_t) n; at > 0; at = node[at].from)
    node[node[at].from].to = at;
  return node[n].score;
}

@ Now the ids are pushed, from left to right. Several unknown characters in a row are taken together: they become their bytes, if the vocabulary has a token for each, and otherwise a single unknown token. One case is odd. A user may type \texttt{<unk>}. That is a piece, but its id is the unknown one, so Hugging Face's library treats it like an unknown character and joins it to unknown neighbours; only if the whole row is a piece of the vocabulary does it get that piece's id. (The code is \.{unwoven/tokenizer/unspelt.inc}.)

@ A whole book would need a node for each of its bytes. But if no piece of the vocabulary has a block after another character, every path passes through the place before a block, as with merges, so we can go word by word. Only the score is carried from word to word: if each word began with zero, the sums would be rounded in other places.

@<Cut a text in the best way@>=
static bool make_nodes(struct memory *m, struct unigram_work *w,
  size_t n, struct error *why)
{
  if (n >= BPE_NONE) return error_say(why,
    "a piece of %zu letters is too long", n);
  struct unigram_node *p = memory_reserve(m, MEMORY_TOKENS, w->node,
    &w->cap, n + 1, 256, sizeof *p, why);
  if (p != NULL) w->node = p;
  return p != NULL;
}
@#
bool unigram_encode(const struct tokenizer *t, struct memory *m,
  struct unigram_work *w, const unsigned char *text, size_t n,
  struct ids *out, struct error *why)
{
  double score = 0;
  struct unspelt row = @[{ text, 0 }@];
  for (size_t at = 0, end; at < n; at = end) {
    for (end = at + 1; end < n && !(t->splits_at_spaces
      && tokenizer_word_begins(text, end, n)); end++) ;
    if (!make_nodes(m, w, end - at, why)) return false;
    score = best_way(t, w->node, text + at, end - at, score);
    if (!push_way(t, m, w->node, text + at, end - at, &row, out,
      why)) return false;
  }
  return push_row(t, m, &row, out, why);
}

@ What does it cost? A text of $n$ characters has $n$ places. From each there are at most as many arcs as the longest piece has bytes, $L$, and each arc takes two binary searches among $v$ pieces: $O(nL\log v)$. In practice a range shrinks to a few pieces after a byte or two. No text can make it slower than that, which we cannot say of the patterns.

@(unigram.c@>=
@;
/** Unigram: of all ways to cut a text into pieces the one with the best sum of scores, found by
  Viterbi's algorithm. Sums are those of the programs that made the files, rounding and ties included.
  A range of the sorted pieces stands for the node of a tree. */
#include "tokenizer/inside.h"
@<Take the better way@>@;
@<Find the pieces that begin here@>@;
@<Find the best way to each place@>@;
#include "tokenizer/unspelt.inc"
@;@#
@<Cut a text in the best way@>@;

@* Decoding. \label{sec:decode}
Decoding concatenates the texts of the ids. They come from a model and may be anything: the embedding of a model often has more rows than its tokenizer has tokens, because a round number of rows
is convenient. An id that the tokenizer does not know adds nothing. Whether the bytes form characters is not asked here; \cref{sec:streaming} does.

A tokenizer that puts a blank before the text removes it again, but only at the beginning. So a caller that decodes id by id
must remember whether the text has begun:

\printedfunction{tokenizer/answers.c}{tokenizer_decode_next}

The other questions about a tokenizer are in \.{unwoven/tokenizer/answers.c}. One of them has a catch. Which token is spelt \texttt{<\textbar endoftext\textbar>}? A vocabulary may have a piece with that spelling, and an added token as well. We look among the added tokens first, since you mean the special one.

@ How large do the tables become? \Cref{accounts} wants to know without opening a tokenizer. The lists grow to twice their capacity and a little more, and the two hash tables double as soon as they are half full.
So the capacity of each is the first number of a series that is large enough, and follows from the number of entries~\eqref{eq:vocabulary}. A test opens some tokenizers and compares.

The built-in model's vocabulary comes from no file: the merges that chapter 1's trainer has learnt become a tokenizer in memory (\.{unwoven/tokenizer/merges.c}), with the end of a text as id 0, so that all of the
trainer's ids move up by one. It can be written as a \.{tokenizer.json} that other programs read, and a test compares the two.

@ The two searches have a file of their own, because the maps of \cref{sec:charsmap} use them as well.

@(added.c@>=
@;
/** What begins here: the longest added token of a root, by a walk down the tree, and whether a word does.
  These functions only look; the tree is made in tokenizer.c. */
#include <string.h>
#include "tokenizer/inside.h"
@<Find the longest added token here@>@;
@<Check whether a match stands at word boundaries@>@;

@ Some functions call each other, or come before a function that they call, so three are declared first.

@(tokenizer.c@>=
@;
/** From text to ids, whatever file the vocabulary came from. Encoding is a series of
  cuts: valid UTF-8 and other bytes; added tokens in the text (root 0 of the tree); added tokens in
  its normal form (root 1); the stages of the pre-tokenizer; and only then merging, before which
  frozen tokens (root 2) are found. Where two readings are possible we do what Hugging Face's
  library does, since the model was trained so. |by_piece| and the tree borrow bytes of the string
  pool, which moves when it grows: |tokenizer_index_added| comes after the last byte. In the tables 0
  is no entry, so ids stand there plus 1. A tokenizer is only read once it is made; all that an
  encoding changes is in its struct job. */
#include <string.h>
#include "tokenizer/inside.h"
@<What an encoding needs on its way@>@;
static bool push_bytes(struct job *j, const unsigned char *byte,
  size_t n);
static bool encode_changed(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n);
static bool encode_added(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n);
@#
@<Make the tree of added tokens@>@;
@<Encode a piece of characters@>@;
@<Encode what needs no more cutting@>@;
@<Go through the stages@>@;
@<Encode the text between added tokens@>@;
@<Cut at the added tokens@>@;
@<Push the ids that the files add@>@;
@<Encode a text@>@;

@* How fast. \label{sec:tokenspeed}
Text becomes ids once, and a model then works on each id for as long as it takes to encode pages. So for one prompt a tokenizer need not be fast. It must be fast for users who
count the tokens of a library, or encode a corpus for training. And it must not be slow on \emph{some} texts, which is another matter, and the reason for the heap in \cref{sec:encoding}.

What does a byte cost? The pattern looks at it, which takes a few machine instructions. Then we look up pairs: a piece of $n$ bytes begins with $n-1$ pairs, and each of its at most $n-1$ merges
makes two new ones. That is less than three lookups per byte in the table of pairs, and fewer where a whole piece is a token. The rest is the cost of a lookup. Our key is two ids, eight bytes together, and
mostly the entry is at the first place where we look (\cref{sec:tables}). A program whose keys are the \emph{strings} of its tokens must read and hash the strings of both for every lookup. A program that also
records where in the text each token came from, so that others can highlight words, has to write that as well. We return only the ids.

\fig{speeds}{fig:speeds}{How fast text becomes ids, compared with other programs in the same run, on one thread; the scale is logarithmic. Full dots, to which the numbers belong: ten megabytes without a repeated paragraph.
Open dots: one megabyte of Shakespeare. All programs give the same ids.}{A chart of dots in three groups, cl100k, GPT-2 and Llama 2, a row for each program, on a logarithmic scale of megabytes a second. Incipit stands at the right of each group, beyond ten; tiktoken at about
half of that; sentencepiece, the tokenizers library and llama.cpp stand around one. The dots for one and for ten megabytes lie close together in every row of incipit.}

@ \Cref{fig:speeds} shows the result. It was measured by \.{make bench-tokens}, which encodes each text in one call, in turn with the other programs that it finds on the machine, and compares the ids. Ten megabytes take about ten times as long as one: the two dots of a row are close to each
other. Their distance depends on the moment of the measurement as much as on the program; the bars through the dots span the middle half of the rounds. Our program has no cache of words. A cache speeds up texts that repeat their words; the figure has Hugging Face's library with its cache and without, and for a text with ever new words the cache hardly helps.

@* The check. \label{sec:vocabcheck}
The older files first put a block; the newer ones first replace the blanks. The letter \texttt{\'e} has no token, so it is spelt in two bytes. The decoded text is printed between bars, so that you can see a blank at its beginning.

\checkpoint{build/out/tokenizer.txt}{two orders, a letter in bytes, and a best way}

@* Exercises. \label{sec:vocabexercises}
The first and the fourth can be done on paper; the second needs an argument, and the third one word of C.

\begin{exercises}
\exercise{check}{ex:vocab.longest}{The letters and the signs \texttt{<} and \texttt{>} are tokens, and three tokens have been added: \texttt{<a>}, \texttt{<a>b} and \texttt{b<a>c}. Which tokens does the text \texttt{<a>b<a>c} become?}{\texttt{make
exercise-W4-1}}{The longest that begins at the first place is \texttt{<a>b}. What remains is \texttt{<a>c}, in which \texttt{<a>} is found; a \texttt c is left. The longest of all, \texttt{b<a>c}, begins later.}
\exercise{think}{ex:vocab.most}{A vocabulary of characters has all bytes as a last resort, and puts a block before the text, as Llama~2's does. How many ids can a text of $n$ characters have at most? Give a formula in $n$.}{\texttt{make
exercise-W4-2}}{A character that is not a piece becomes its bytes, at most four, and no merge joins them; the block is one id more if nothing merges with it: $4n+1$. Emoji without a piece of their own reach the bound.}
\exercise{check}{ex:vocab.shortest}{Let the search for added tokens take the \emph{shortest} that begins at a place, but still at the first place. What would a file with both \texttt{<s>} and \texttt{<s>x} never find?}{\texttt{make
exercise-W4-3}}{A |break| after |*length = i + 1|. Of two tokens that begin alike, the longer would never be found.}
\exercise{check}{ex:vocab.unigram}{Unigram cuts \texttt{banana} with the pieces \tok b $-3$, \tok a $-2$, \tok n $-2$, \tok{an} $-3$, \tok{na} $\given{-3.2}$, \tok{ana} $\given{-4.5}$ and \tok{ban} $-6$. Which pieces is the best way made of?}{\texttt{make
exercise-W4-4}}{The last place is best reached from the third by \tok{ana}; the third by \tok b\,\tok{an}, $-3-3$, as well as by \tok{ban}, $-6$, which was met first. So the best way is \tok{ban}\,\tok{ana}.}
\exercise{think}{ex:vocab.ways}{A text of $n$ letters \texttt a, and all of \tok a, \tok{aa}, \tok{aaa} are pieces with the same score, which is negative like every logarithm of a probability. How many pieces has the best way? Give a formula in $n$, with \texttt{\%} for a remainder.}{\texttt{make
exercise-W4-5}}{Every piece costs the same, so the fewest win: $n/3$, rounded up, \texttt{(n+2-(n+2)\%3)/3}.}
\end{exercises}
