@i types.w

\chapterquestion{A model comes with a list of tokens that another program made. Can we use the list so that not one id
differs from that program's?}
@** Inside a tokenizer. \label{sec:vocabularies}
\incipit{T}{he tokenizer of chapter 1} has an interface and an implementation, and this chapter shows both: what other programs may ask of it, its structure, and the functions
that work on it. The next two chapters, \cref{sentencepiece,tokenizer-json}, read the files from which it is filled. You can
understand how text becomes ids without this chapter. We need it to get the same ids as other programs, and that is a matter of
many small rules, each of which could have been decided otherwise. Most of them were decided at Hugging Face: most
open models are published on its site, and its library wrote the files beside the weights. What that library does with a text is our
definition of correct. We take
the rules as they are. If a file has a rule that we do not implement, its reader stops with a sentence: a
tokenizer that is almost right would be worse than none.

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

@ The program does the hand calculation in both orders with a vocabulary of five tokens, and spells in bytes a letter that has no token. With |"values"| it prints the keys.

@c
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer_internal.h"
@<A vocabulary of a few words@>@;
@<Show a text's ids in both orders@>@;
@#
int main(int argc, char **argv)
{
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  for (int newer = 0; newer < 2; newer++)
    if (!show_order(newer, values)) return 1;
  return 0;
}

@* The interface. \label{sec:outside}
Other programs open a tokenizer, encode, decode, and close it. Encoding has the two flags of
\cref{sec:tokenizer}: whether the text of a special token becomes that token, and whether the ids that the files put around a text are added.
@^tokenizer@>

@<A tokenizer, from outside@>=
struct tokenizer;
struct tokenizer *tokenizer_open(struct memory *m, const char *path,
  struct error *why);
  /* reads a \.{tokenizer.json}, or a directory that has one, or has
     \.{vocab.json} and \.{merges.txt}, or \.{encoder.json} and
     \.{vocab.bpe}; null and a sentence; |m| must outlive it */
void tokenizer_close(struct memory *m, struct tokenizer *t);
  /* returns all of it; closing a null does nothing */
bool tokenizer_encode(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, bool add_special, bool parse_special,
  struct ids *out,
  struct error *why);
  /* appends the ids of |n| bytes; |add_special|: also the ids that
     the files put before and after a text; |parse_special|: the text
     of a special token is that token; on failure |out| is as it was.
     The tokenizer is only read: any number of threads may use it at the
     same time, each with its own |m| */
bool tokenizer_decode(const struct tokenizer *t, struct memory *m,
  const uint32_t *id, size_t n, bool skip_special, struct bytes *out,
  struct error *why);
  /* appends the bytes of |n| ids; an id that the tokenizer does not
     know has none; on failure |out| is as it was */
bool tokenizer_decode_next(const struct tokenizer *t,
  struct memory *m, uint32_t id, bool skip_special, bool *begun,
  struct bytes *out, struct error *why);
  /* the same for one id of a text; |*begun|, false at first, becomes
     true when an id has had bytes */
bool tokenizer_encode_inside(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, struct ids *out, struct error *why);
  /* like |tokenizer_encode|, for |n| bytes that come after an added token, in the
     middle of a text; adds nothing, and knows no special token */

@ A directory may have no tokenizer, or one of a kind that this book does not treat. A caller that
supplies ids can still use the model. So there is a second function for opening, which
tells these cases apart from a broken tokenizer.

@<A tokenizer, from outside@>=
enum tokenizer_found { TOKENIZER_OPEN, TOKENIZER_ABSENT,
  TOKENIZER_OTHER_KIND, TOKENIZER_REFUSED };
  /* it is open; there is none; it is of another kind (Unigram,
     WordPiece); it is of our kind, but invalid, or has a rule that we
     do not implement */
enum tokenizer_found tokenizer_try(struct memory *m, const char *path,
  struct tokenizer **t, struct error *why);
  /* like |tokenizer_open|; |*t| is null and there is a sentence
     unless it is open */

@ The next functions answer questions. The command that shows a model's directory needs them, and so does the loop of chapter 3, which must know the id that ends a text, and the
text of every id that it has written. These functions allocate nothing, so they cannot fail.

@<A tokenizer, from outside@>=
const char *tokenizer_kind(const struct tokenizer *t);
  /* what it is, in words: \.{"byte-level BPE"} */
const char *tokenizer_ignores(const struct tokenizer *t, size_t i);
  /* field |i| (0 or 1) of its file that we ignore, null if the file
     does not have it */
size_t tokenizer_vocab_size(const struct tokenizer *t);
  /* the largest id plus 1 */
bool tokenizer_is_special(const struct tokenizer *t, uint32_t id);
  /* is this id that of a token marked special? */
bool tokenizer_find(const struct tokenizer *t, const char *text,
  size_t n, uint32_t *id);
  /* the id of the token with exactly these |n| bytes; added tokens
     have precedence */
const unsigned char *tokenizer_text(const struct tokenizer *t,
  uint32_t id, size_t *n);
  /* the |*n| bytes of an id, which belong to the tokenizer; unknown
     ids have 0 */
bool tokenizer_bos(const struct tokenizer *t, uint32_t *id);
  /* the id that |add_special| puts first, if it puts one */

@ Tokens that were added to a vocabulary after it was learnt have a list of their own, since they are found in a text
before any merge is tried. A caller asks how many there are, and then for each by its index. If we returned a list, the caller would have to free it.

@<A tokenizer, from outside@>=
struct tokenizer_added { uint32_t id; const unsigned char *byte;
  size_t n;
  bool special; };
  /* a token that was added to the vocabulary: its id and its |n| bytes, borrowed */
size_t tokenizer_added_count(const struct tokenizer *t);
  /* how many tokens were added to the vocabulary, special or not */
struct tokenizer_added tokenizer_added_at(const struct tokenizer *t,
  size_t i);
  /* added token |i|; the bytes belong to the tokenizer */

@ Finally, the merges that chapter 1's trainer has learnt become a tokenizer, in memory or as a file that other
programs can read. The built-in model's vocabulary was made in this way. Id 0 is the end of a text, so all of the
trainer's ids move up by one.

@<A tokenizer, from outside@>=
struct tokenizer *tokenizer_from_merges(struct memory *m,
  const struct bpe_merge *merge, size_t n, struct error *why);
  /* id 0 is the end of a text, 1 to 256 are the bytes, then come |n|
     merges; text is cut by |split_gpt2|; null and a sentence */
bool tokenizer_write(struct memory *m, const char *path,
  const struct bpe_merge *merge, size_t n, struct error *why);
  /* writes the same as a \.{tokenizer.json} that Hugging Face's
     library reads */
void tokenizer_unicode(char pcre2[24], char utf8proc[24]);
  /* which versions of Unicode the patterns and the normal form
     know */

@ Chapter 6 calculates how much memory a tokenizer takes, without access to its structure. So two functions say how many bytes the tables of a vocabulary of any size would take, and how many
entries and bytes the tables of an open tokenizer have.

@<A tokenizer, from outside@>=
uint64_t tokenizer_bytes(uint64_t ids, uint64_t merges);
  /* the bytes of the four tables of a byte-level vocabulary whose ids come
     in rising order */
struct tokenizer_tables { size_t ids, merges; uint64_t bytes, letters; };
  /* how many ids and merges a tokenizer has, and the bytes of its tables and of its string pool */
struct tokenizer_tables tokenizer_tables(const struct tokenizer *t);
  /* the entries of its tables, the bytes allocated for the tables, and
     those for the string pool */

@ Every program may include this header; the implementation's is only for the modules that fill a tokenizer. This one includes three others, because
the interface uses merges, patterns, and rows of bytes and ids.

@(tokenizer.h@>=
#ifndef INCIPIT_TOKENIZER_H
#define INCIPIT_TOKENIZER_H
#include "tokens/bpe.h"
#include "lookups/split.h"
#include "tokens/utf8.h"
@<A tokenizer, from outside@>@;
#endif

@* The implementation. \label{sec:inside}
The bytes of all tokens are in one block of memory, the \emph{string pool}, and a token is a \emph{span} of it. A block for each token would mean as many allocations as there are tokens, most of them of a few bytes. Every
id has two spans, which are nearly always equal: its \emph{piece}, the spelling by which the vocabulary finds the token,
and its \emph{text}, the bytes that decoding gives. They differ in two cases. A token of the file may not stand for bytes: such a
token decodes to the text in the file, and has no piece that merges could reach. Or the file may change the text for decoding, for example by putting a blank in place of a block.

@<A tokenizer, from inside@>=
struct span { uint32_t at, n; };
  /* |n| bytes of the string pool, from |at| on */
struct vocab_entry { struct span piece, text; bool special; };
  /* how an id is spelt in the vocabulary, and what it decodes to */
struct added_token { struct span text; uint32_t id; bool special,
  lstrip, rstrip, single_word, normalized, frozen; };
  /* a token added to the vocabulary, with the flags of \.{tokenizer.json}; |frozen|: defined by the user of SentencePiece, and
     decoded as a piece is */
struct trie_node { uint32_t child, sibling, added; unsigned char byte; };
  /* a node of the tree of added tokens; 0: none; |added| counts from
     1 */

@ A text goes through \emph{stages}, of five kinds. Four kinds change the text: they put characters before it, replace characters by others, bring the text
into a normal form, or remove superfluous blanks. The fifth kind cuts it. We search for added tokens twice, in the original text and in its normal form. The first |n_normalizers| stages work on the text between the tokens of the first search, the others on the text between those of the second.
@^added token@>

@<A tokenizer, from inside@>=
enum text_step_kind { STEP_SPLIT, STEP_PREPEND, STEP_REPLACE, STEP_NFC, STEP_STRIP };
  /* what |struct text_step| says of each; |STEP_NFC|: normal form C; |STEP_STRIP|: blanks at the ends go */
struct text_step { enum text_step_kind what; struct splitter *by;
  struct span words;
  bool keep_matches, keep_gaps, first_only, unless_there; };
  /* |STEP_SPLIT|: at the matches of |by|, of which and of the gaps some are
     kept; |STEP_PREPEND|: |words| before a text, or before the first only, or
     unless they are there; |STEP_REPLACE|: the matches of |by| by |words| */

@ The tokenizer has one field for each thing that a file can state: the vocabulary, merges, added tokens, stages, ids around a text, and some
switches. Merging starts from bytes or, if |char_level| is set, from characters. In the second case an array has the ids of the ASCII characters; a character without a token is spelt in bytes, or gets the id |unknown|. Two limits are fixed, both far above every published vocabulary: a file may be wrong, and must not make us allocate whatever it asks for.

@<A tokenizer, from inside@>=
enum { TOKENIZER_MAX_STEPS = 16, TOKENIZER_MAX_ID = 1 << 22 };
  /* limits of a vocabulary: stages, and the largest id */
struct tokenizer {
  const char *kind;
  struct bytes string_pool;
  struct vocab_entry *vocab; size_t n_vocab, vocab_cap; /* by id */
  struct name_map by_piece;
    /* from a token's spelling to its id, plus 1 */
  struct bpe rules;
  struct added_token *added; size_t n_added, added_cap;
  struct trie_node *trie; size_t n_trie, trie_cap;
  struct text_step step[TOKENIZER_MAX_STEPS]; size_t n_normalizers, n_steps;
  struct ids prefix_ids, suffix_ids; /* what the post-processor adds */
  bool ignore_merges, char_level, byte_fallback, fuse_unk,
    splits_at_spaces, any_frozen, strip_prefix_space, ignored[2];
  uint32_t letter[128], unknown;
    /* ids of characters plus 1; the id of what cannot be spelt, plus
       1 */
};
  /* a vocabulary, and how text is cut into it and put together again */

@ The readers of files and |tokenizer_from_merges| fill a tokenizer by the same functions, in a fixed order: first the pieces of the vocabulary, then |tokenizer_index_vocab|, then the added tokens, then
|tokenizer_index_added|. Nothing is ever removed. A caller that adds bytes to the string pool gets an offset into it and not an address, because the pool moves when it grows.

@<A tokenizer, from inside@>=
bool tokenizer_intern(struct memory *m, struct tokenizer *t,
  const void *byte, size_t n, struct span *where, struct error *why);
  /* copies |n| bytes into the string pool */
struct vocab_entry *tokenizer_vocab_at(struct memory *m, struct tokenizer *t,
  uint32_t id, struct error *why);
  /* the entry of an id, made if necessary; null and a sentence on
     failure */
bool tokenizer_index_vocab(struct memory *m, struct tokenizer *t,
  struct error *why);
  /* after the last piece: makes |by_piece|, finds the ids of the
     bytes */
void tokenizer_find_splits(struct tokenizer *t);
  /* after |tokenizer_index_vocab|: finds out whether words can be merged
     separately */

@ Added tokens come when all pieces are known, because a file may add a token that is a piece already, to give it flags. The tree by which we find
them in a text is made last: if a token asks for it, the tree has its normal form, and so the stages must be complete by then.

@<A tokenizer, from inside@>=
bool tokenizer_add_token(struct memory *m, struct tokenizer *t,
  const struct added_token *x, struct error *why);
  /* adds a token; its bytes are in the string pool already */
bool tokenizer_index_added(struct memory *m, struct tokenizer *t,
  struct error *why);
  /* after the last one, and the last stage: makes the tree, and
     |by_piece| again, since the pool may have moved; nothing may be
     added to the pool afterwards */

@ Stages are appended in the order in which a text goes through them: the |n_normalizers| that make the normal form, then those of the pre-tokenizer, most of them cuts. The texts to which ids decode are changed
once, when all pieces are known; so decoding only has to copy texts, and to drop a first blank.

@<A tokenizer, from inside@>=
bool tokenizer_add_step(struct memory *m, struct tokenizer *t,
  struct text_step s, const char *pattern, size_t n, bool literal,
  struct error *why);
  /* appends a stage and compiles its pattern if it has one; at most
     |TOKENIZER_MAX_STEPS| */
bool tokenizer_add_split(struct memory *m, struct tokenizer *t,
  const char *pattern, size_t n, struct error *why);
  /* a cut that keeps everything */
bool tokenizer_add_string(struct memory *m, struct tokenizer *t, struct text_step s,
  const char *words, size_t n_words, const char *pattern, size_t n,
  bool literal, struct error *why);
  /* a stage that has words */
bool tokenizer_texts_replace(struct memory *m, struct tokenizer *t,
  const char *from, size_t n, const char *to, size_t n_to,
  struct error *why);
  /* in the texts of all ids: replaces a string by another */
bool tokenizer_texts_as_bytes(struct memory *m, struct tokenizer *t,
  struct error *why);
  /* \tok{<0x41>} decodes to the byte 65, and so on */
bool tokenizer_normalize(const struct tokenizer *t, struct memory *m,
  const unsigned char *text, size_t n, bool first, struct bytes *out,
  struct error *why);
  /* makes |out| the text after the first |n_normalizers| stages;
     |first|: it is the beginning of the whole */

@ A stage's pattern is compiled when the stage is appended; if PCRE2 refuses it, its message becomes our sentence. The number of stages is limited: no published
file comes near the limit, and a hostile file could otherwise slow us down with patterns without end.

@<Append a stage@>=
bool tokenizer_add_step(struct memory *m, struct tokenizer *t,
  struct text_step s, const char *pattern, size_t n, bool literal,
  struct error *why)
{
  /*- A hostile file could slow us down with patterns without end. */
  if (t->n_steps == TOKENIZER_MAX_STEPS)
    return error_say(why, "more than %d stages", TOKENIZER_MAX_STEPS);
  if (pattern != NULL) {
    s.by = splitter_open(m, pattern, n, literal, why);
    if (s.by == NULL) return false;
  }
  t->step[t->n_steps++] = s;
  return true;
}

@ Two kinds of stages are so common that they have functions of their own: a cut that keeps both the matches of its pattern and the gaps between them, as the patterns
of published vocabularies do, and a stage that inserts a string.

@<Append a stage@>=
bool tokenizer_add_split(struct memory *m, struct tokenizer *t,
  const char *pattern, size_t n, struct error *why)
{
  return tokenizer_add_step(m, t, (struct text_step) @[{ .what = STEP_SPLIT,@|
    .keep_matches = true, .keep_gaps = true }@], pattern, n, false,
    why);
}
@#
bool tokenizer_add_string(struct memory *m, struct tokenizer *t, struct text_step s,
  const char *words, size_t n_words, const char *pattern, size_t n,
  bool literal, struct error *why)
{
  return tokenizer_intern(m, t, words, n_words, &s.words, why)
    && tokenizer_add_step(m, t, s, pattern, n, literal, why);
}

@ The offsets of a span have 32 bits, which is enough for 4 GiB of vocabulary; a file that
has more is refused, so that no offset wraps around. We write the span before we append the bytes, because it begins where the pool ends now.

@<Store the strings, and find ids@>=
bool tokenizer_intern(struct memory *m, struct tokenizer *t,
  const void *byte, size_t n, struct span *where, struct error *why)
{
  if (n > UINT32_MAX - t->string_pool.n)
    return error_say(why,
      "a vocabulary of more than 4 GiB of letters");
  /*- before the push: the span begins where the pool ends now */
  *where = (struct span) @[{ (uint32_t) t->string_pool.n,
    (uint32_t) n }@];
  return bytes_push(m, &t->string_pool, byte, n, why);
}

@ An id has 32 bits as well. For an id beyond its end, the table of ids grows to twice that id, so
that a vocabulary in any order needs few moves; entries of ids without a token stay empty, and decode to nothing. The caller must use an entry before asking for the next, because then the
table may move. The readers of files have checked that no id is above |TOKENIZER_MAX_ID|, since they know which field to name if one is.

@<Store the strings, and find ids@>=
struct vocab_entry *tokenizer_vocab_at(struct memory *m, struct tokenizer *t,
  uint32_t id, struct error *why)
{
  struct vocab_entry *p = memory_reserve(m, MEMORY_TOKENS, t->vocab, &t->vocab_cap,
    (size_t) id + 1, 256, sizeof *p, why);
  /*- The entry must be used before the next one is asked for: the table may move. */
  if (p == NULL) return NULL;
  t->vocab = p;
  if (id >= t->n_vocab) t->n_vocab = (size_t) id + 1;
  return &t->vocab[id];
}

@ When all pieces are known, the table of pieces can point to their bytes, until the pool grows and moves.
We enter the id plus one, because 0 means that there is no such piece. We also copy the ids of single bytes and ASCII characters into arrays,
which are faster than the table.

@<Make the table of pieces@>=
bool tokenizer_index_vocab(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  for (size_t i = 0; i < t->n_vocab; i++) {
    struct span s = t->vocab[i].piece;
    if (s.n > 0 && !name_map_put(m, &t->by_piece,
      t->string_pool.byte + s.at, s.n, (uint32_t) i + 1,
      why)) return false;
  }
  for (unsigned b = 0; b < 128; b++) {
    unsigned char byte = (unsigned char) b;
    t->letter[b] = name_map_get(&t->by_piece, &byte, 1);
  }
  for (unsigned b = 0; b < 256; b++) t->rules.byte_id[b] =
    byte_token(t, b);
  return true;
}

@ The token of a byte is the piece that consists of this one byte. In a vocabulary of characters it is a piece of six characters, such as \tok{<0x0A>}, if the file asks for byte fallback. The table returns the id plus 1, or 0 if it lacks the piece; so the result minus 1 is the id, or |BPE_NONE|.

@<Find the token of a byte@>=
static uint32_t byte_token(const struct tokenizer *t, unsigned b)
{
  char word[8] = @[{ (char) b }@];
  size_t n = 1;
  if (t->char_level) {
    if (!t->byte_fallback) return BPE_NONE;
    n = (size_t) snprintf(word, sizeof word, "<0x%02X>", b);
  }
  /*- 0, for none, becomes BPE_NONE */
  return name_map_get(&t->by_piece, (const unsigned char *) word, n) - 1;
}

@* Added tokens. \label{sec:added}
An \emph{added} token is found in the text before anything is merged, so no merge can break
it. Five flags in the file say how. \emph{Special} tokens steer a conversation or end a document;
in a text that a user has typed they must stay ordinary characters, or the user could write what
only the program should. So they are recognized only on request; other added tokens always are. An added token may
swallow the white space on its left or right; it may have to be a whole word; and it
may be looked for before or after the text has been brought into its normal form. A sixth flag is ours: the \emph{frozen} tokens are the pieces that the user of SentencePiece has defined (\cref{sentencepiece}). We look for them where merging begins, and they decode as pieces do.
@^special token@>

@<Add a token@>=
bool tokenizer_add_token(struct memory *m, struct tokenizer *t,
  const struct added_token *x, struct error *why)
{
  struct added_token *p = memory_reserve(m, MEMORY_TOKENS, t->added, &t->added_cap,
    t->n_added + 1, 16, sizeof *p, why);
  if (p == NULL) return false;
  t->added = p;
  struct vocab_entry *k = tokenizer_vocab_at(m, t, x->id, why);
  if (k == NULL) return false;
  /*- a frozen token decodes as its piece does, block to blank and all */
  if (!x->frozen) k->text = x->text;
  k->special = x->special;
  t->added[t->n_added++] = *x;
  return true;
}

@ If several added tokens begin at the same place, the longest wins; if they overlap,
the one that begins first. Llama~3 has \val{tokens.llama3.special} added tokens that begin alike, and
comparing the text with all of them at every place would be slow. So we arrange their bytes
as a tree, called a \emph{trie}: below the root are the possible first bytes, below each of them the
possible second ones, and the node of a token's last byte has the token's number. There
are three roots: for the tokens that are looked for before the normal form (0) and after it (1), and for the frozen ones, which are looked for last, where
merging begins (2).
@^trie@>

@<Make the tree of added tokens@>=
static bool new_trie_node(struct memory *m, struct tokenizer *t,
  unsigned char byte, uint32_t sibling, struct error *why)
{
  struct trie_node *p = memory_reserve(m, MEMORY_TOKENS, t->trie, &t->trie_cap,
    t->n_trie + 1, 64, sizeof *p, why);
  if (p == NULL) return false;
  t->trie = p;
  t->trie[t->n_trie++] = (struct trie_node) @[{ 0, sibling, 0, byte }@];
  return true;
}
  /*- 0 is no child and no sibling: the roots have the numbers 0 to 2, and are nobody's child. */

@ The children of a node are a linked list, which both inserting and searching walk by this function. A table of all bytes at every node would be faster only for nodes with
many children, and added tokens branch little. (The book has two more tries, which are made otherwise: the nodes of the stop strings have failure links besides the children, \cref{sec:automaton}, and the pieces
of \cref{sec:lexicon} are walked from first to last, so they need no links at all.)

@<Make the tree of added tokens@>=
static uint32_t trie_child(const struct tokenizer *t, uint32_t at,
  unsigned char byte)
{
  uint32_t next = t->trie[at].child;
  while (next != 0 && t->trie[next].byte != byte)
    next = t->trie[next].sibling;
  return next;
}
  /*- A list, since added tokens branch little. */

@ To insert a token we walk down the tree by its bytes, and make a node where there is none. A new node becomes the first of its siblings. Of two
tokens with the same bytes, the one that came first in the file counts.

@<Make the tree of added tokens@>=
static bool plant(struct memory *m, struct tokenizer *t,
  uint32_t root, const unsigned char *byte, size_t n, uint32_t number,
  struct error *why)
{
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    uint32_t k = trie_child(t, at, byte[i]);
    if (k == 0) {
      k = (uint32_t) t->n_trie;
      if (!new_trie_node(m, t, byte[i], t->trie[at].child, why))
        return false;
      t->trie[at].child = k;
    }
    at = k;
  }
  /*- of two with the same bytes, the first in the file */
  if (t->trie[at].added == 0) t->trie[at].added = number;
  return true;
}

@ The bytes of the added tokens were appended to the pool after those of the pieces, and the pool may have moved; then the
table of pieces has old addresses, so we make it again first. (A fuzzer found this: the table pointed into memory that had been
freed, which mostly still held the right bytes.)

A token that is looked for in the normal form must be in that form itself, or it would never be found. So we normalize it before we insert it, as if it were a whole text, which is what Hugging Face's library does. If the file puts a block before every text, the token gets one as well, and is found only where the text has a block. Even without a normal
form we search the first two roots one after the other, as Hugging Face's library does; that is why it may prefer a token of the first root to one of the second that begins earlier.

@<Make the tree of added tokens@>=
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

@ To find the longest token at a place we walk down the tree as long as the bytes agree,
and remember the last end of a token that we passed. At most places of most texts the walk ends at the root, because no token begins with that byte. So for a text
without added tokens the search costs hardly more than reading it.

@<Find the longest added token here@>=
static const struct added_token *longest_match(const struct tokenizer *t,
  uint32_t root, const unsigned char *text, size_t n, size_t *length)
{
  const struct added_token *found = NULL;
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    at = trie_child(t, at, text[i]);
    if (at == 0) break;
    if (t->trie[at].added == 0) continue;
    found = &t->added[t->trie[at].added - 1];
    *length = i + 1;
  }
  return found;
}
  /*- At most places of most texts the walk ends at the root. */

@ White space is defined by Unicode's property of that name. Its list has not changed
since Unicode~6.3, so we can write it into the program; the list of letters grows every year, so we cannot. A token with the flag |rstrip| takes all the white space after it.

@<Measure white space@>=
static bool is_space(uint32_t c)
{
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85
    || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a)
    || c == 0x2028 || c == 0x2029
    || c == 0x202f || c == 0x205f || c == 0x3000;
}
  /*- Unicode's White_Space, which has not changed since version 6.3. */
@#
static size_t space_after(const unsigned char *text, size_t n,
  size_t at)
{
  for (enum utf8_state state; at < n;) {
    size_t step = utf8_next(text + at, n - at, &state);
    if (!is_space(utf8_point(text + at, step))) break;
    at += step;
  }
  return at;
}

@ Backwards we step over continuation bytes to the beginning of each character. Chapter 1 praised UTF-8 for this: the beginning is at most
three bytes away, and we recognize it when we are there. A token with the flag |lstrip| takes the white space before it, but
not beyond |stop|, where the previous token ended.

@<Measure white space@>=
static size_t character_before(const unsigned char *text, size_t at)
{
  do at--; while ((text[at] & 0xc0) == 0x80);
  return at;
}
  /*- at most three steps: no continuation byte begins a character */
@#
/*- not beyond stop, where the previous token ended */
static size_t space_before(const unsigned char *text, size_t at,
  size_t stop)
{
  while (at > stop) {
    size_t i = character_before(text, at);
    if (i < stop || !is_space(utf8_point(text + i, at - i))) break;
    at = i;
  }
  return at;
}

@ Whether a token is a whole word depends on its neighbours: letters, marks, decimal digits,
connecting punctuation and joiners belong to words. The library utf8proc knows the category of every
character, but not the property ``alphabetic''. The circled and a few other enclosed letters have that property although
their categories do not show it, so we add them by their numbers. This list is not a matter of taste: it is what \texttt{\textbackslash w} means in the regular
expressions by which Hugging Face's library finds the ends of words. A different library reads these than reads its patterns (\cref{tokenizer-json}), and it follows Unicode's advice exactly.
@^utf8proc@>

@<Tell whether a character belongs to a word@>=
static bool in_word(const unsigned char *text, size_t length)
{
  uint32_t c = utf8_point(text, length);
  static const uint32_t of_words = 1u << UTF8PROC_CATEGORY_LU@|
    | 1u << UTF8PROC_CATEGORY_LL | 1u << UTF8PROC_CATEGORY_LT@|
    | 1u << UTF8PROC_CATEGORY_LM | 1u << UTF8PROC_CATEGORY_LO@|
    | 1u << UTF8PROC_CATEGORY_MN | 1u << UTF8PROC_CATEGORY_MC@|
    | 1u << UTF8PROC_CATEGORY_ME | 1u << UTF8PROC_CATEGORY_ND@|
    | 1u << UTF8PROC_CATEGORY_NL | 1u << UTF8PROC_CATEGORY_PC;
  return (of_words >> utf8proc_category((utf8proc_int32_t) c) & 1) != 0
    || c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9)
    || (c >= 0x1f130 && c <= 0x1f149)
    || (c >= 0x1f150 && c <= 0x1f169)
    || (c >= 0x1f170 && c <= 0x1f189);
}
  /*- What backslash w means in the regular expressions of Hugging Face's library: utf8proc lacks
    the property Alphabetic, so the enclosed letters, whose categories do not show it, stand here
    by number. */

@ A token is a whole word if neither the character before it nor the one after it belongs to a word. So \texttt{[x]} is not a whole word in \texttt{a[x]b}, where it
is left to the merges, but it is one in \texttt{a [x] b}.

@<Tell whether a character belongs to a word@>=
static bool whole_word(const unsigned char *text, size_t n,
  size_t from, size_t to)
{
  enum utf8_state state;
  size_t before = from > 0 ? character_before(text, from) : 0;
  return (from == 0 || !in_word(text + before, from - before))
    && (to == n || !in_word(text + to,
    utf8_next(text + to, n - to, &state)));
}
  /*- neither neighbour belongs to a word */

@* From text to ids. \label{sec:encode}
Encoding is a series of cuts. The text is cut into valid UTF-8 and other bytes; at the added tokens
in the original text; at those in its normal form; and by the stages of
the pre-tokenizer. The pieces that remain are merged as in \cref{sec:encoding}. One structure holds everything that
the functions need on the way.

@<What an encoding needs on its way@>=
struct job { const struct tokenizer *t; struct memory *m; struct ids *out;
  struct bpe_work work; struct split_work cut; bool parse_special; struct error *why;
  size_t unknown_end; };
  /* |unknown_end|: how long the row of the piece was after the last
     unknown character; if the row is still that long, nothing has
     followed */

@ At the end, one function encodes a piece. Some tokenizers look a piece up as a whole before they merge
(\texttt{ignore\_merges}): Llama~3's does, because its vocabulary has tokens that its own merges
do not reach.

@<Encode what needs no more cutting@>=
static bool encode_piece(struct job *j, const unsigned char *byte,
  size_t n)
{
  /*- Llama 3 has tokens that its own merges do not reach. */
  uint32_t whole = j->t->ignore_merges
    ? name_map_get(&j->t->by_piece, byte, n) : 0;
  if (whole != 0) return ids_push(j->m, j->out, whole - 1, j->why);
  return j->t->char_level ? encode_characters(j, byte, n)
    : bpe_encode(&j->t->rules, j->m, &j->work, byte, n, j->out,
    j->why);
}

@ In a vocabulary of characters, merging begins with the ids of the characters. A character without an id is spelt in bytes if there are tokens for all of them, which is called \emph{byte fallback}; otherwise it becomes the
\emph{unknown token}. Some files ask for one unknown token for several unknown characters in a row. (A file may also give a character the unknown token as its own; such a character is not unknown, and is not counted among these.) If there is no unknown token, the text cannot be encoded, and the message shows the character's number. So no character is lost
without a trace: at least an unknown token is left of it.
@^byte fallback@>

@<Encode a piece of characters@>=
static bool push_character(struct job *j, const unsigned char *c,
  size_t n)
{
  const struct tokenizer *t = j->t;
  struct ids *row = &j->work.piece;
  uint32_t id = n == 1 ? t->letter[*c] : name_map_get(&t->by_piece, c,
    n);
  if (id != 0) return ids_push(j->m, row, id - 1, j->why);
  bool bytes = true;
  for (size_t i = 0; i < n; i++)
    bytes = bytes && t->rules.byte_id[c[i]] != BPE_NONE;
  if (bytes) return push_bytes(j, c, n);
  if (t->unknown == 0)
    return error_say(j->why, "the vocabulary cannot spell the "@|
      "character U+%04X", (unsigned) utf8_point(c, n));
  if (t->fuse_unk && row->n > 0 && j->unknown_end == row->n)
    return true;
  j->unknown_end = row->n + 1;
  return ids_push(j->m, row, t->unknown - 1, j->why);
}
  /*- A character without a token is spelt in bytes if there is one for each, else it becomes the
    unknown token; several in a row may become one. None is lost without a trace. */

@ This function pushes the bytes of a character without a token; |encode_runs| also calls it for bytes that do not form a character. Among the latter may be a byte without a token.

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

@ Such vocabularies have no pattern that cuts words apart: the blank is a character like any other, written as the block U+2581, and a text is one long piece. Merging
it takes time of the order $n\log n$; but in nearly all of these vocabularies a token has blocks only at its beginning, never after another character. Then \emph{no merge can join a block to the character
before it}, for the result would be such a token. So we can end the row there, and get the same ids;
only the rows are now words and not books. |splits_at_spaces| says that the vocabulary has this property. We do not assume it but look at all pieces. The block must be a token itself, or it would be spelt in bytes, which could merge with the bytes before them.

@<Check whether a match stands at word boundaries@>=
static const unsigned char block[3] = @[{ 0xe2, 0x96, 0x81 }@];
static bool word_begins(const unsigned char *text, size_t at,
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
      t->splits_at_spaces = !word_begins(t->string_pool.byte + s.at, k, s.n);
  }
}

@ So we read a piece character by character, and merge the row where a word ends, before a frozen token, and at the end of the piece. A frozen token is pushed directly:
none of its characters enters a row, so no merge can begin in it or cross it.

@<Encode a piece of characters@>=
static bool join(struct job *j)
{
  bool ok = bpe_join(&j->t->rules, j->m, &j->work, j->out, j->why);
  j->work.piece.n = 0, j->unknown_end = 0;
  return ok;
}
  /*- Merges the row and begins a new one. */
@#
static bool encode_characters(struct job *j,
  const unsigned char *text, size_t n)
{
  enum utf8_state state;
  size_t length;
  j->work.piece.n = 0, j->unknown_end = 0;
  for (size_t at = 0; at < n; at += length) {
    const struct added_token *x = !j->t->any_frozen ? NULL
      : longest_match(j->t, 2, text + at, n - at, &length);
    if (x == NULL) length = utf8_next(text + at, n - at, &state);
    if ((x != NULL || (j->t->splits_at_spaces
      && word_begins(text, at, n))) && !join(j)) return false;
    if (x != NULL ? !ids_push(j->m, j->out, x->id, j->why)
      : !push_character(j, text + at, length)) return false;
  }
  return join(j);
}

@ The stages of the pre-tokenizer apply one after another, each to the pieces that the one before
has left. A cut may drop its matches, or
the gaps between them, if the file says so. The function calls itself with each piece for the next stage, so the depth of the recursion is the number of stages, and no
list of pieces is ever made.

@<Go through the stages@>=
static bool encode_from(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n)
{
  if (n == 0) return true;
  if (k == j->t->n_steps) return encode_piece(j, text, n);
  const struct text_step *s = &j->t->step[k];
  /*- which calls encode_from with the changed copy */
  if (s->what != STEP_SPLIT) return encode_changed(j, k, first, text, n);
  struct pieces p;
  struct text_piece next;
  pieces_begin(&p, s->by, &j->cut, text, n);
  for (;;) {
    if (!pieces_next(&p, &next, j->why)) return false;
    if (next.n == 0) return true;
    if (next.match ? !s->keep_matches : !s->keep_gaps) continue;
    if (!encode_from(j, k + 1, first && next.byte == text, next.byte,
      next.n)) return false;
  }
}
  /*- Calls itself with each piece for the next stage: no list of pieces is ever made, and the
    recursion is as deep as there are stages. */

@ A stage that changes its text writes a copy, because the text belongs to the caller, and the next stage gets the copy.

@<Go through the stages@>=
static bool encode_changed(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n)
{
  struct bytes copy = @[{ NULL, 0, 0 }@];
  bool ok = change(j->t, &j->t->step[k], j->m, text, n, first, &copy,
    j->why) && encode_from(j, k + 1, first, copy.byte, copy.n);
  bytes_free(j->m, &copy);
  return ok;
}

@ A blank or a block before a text makes its first word look like all others: \tok{\ the} and not \tok{the}. Tokenizers differ in where they put it: before every stretch of text;
before every stretch that does not begin with one already; or only at the beginning of the whole, and not after an added token in its middle. Each rule gives different ids.

@<Change a text@>=
static bool change(const struct tokenizer *t, const struct text_step *s,
  struct memory *m, const unsigned char *text, size_t n, bool first,
  struct bytes *out, struct error *why)
{
  const unsigned char *words = t->string_pool.byte + s->words.at;
  bool there = s->unless_there && n >= s->words.n
    && memcmp(text, words, s->words.n) == 0;
  switch (s->what) {
  case STEP_PREPEND:
    return (n == 0 || there || (s->first_only && !first)
      || bytes_push(m, out, words, s->words.n, why))
      && bytes_push(m, out, text, n, why);
  case STEP_REPLACE:
    return replace(s, words, m, text, n, out, why);
  case STEP_STRIP:
    return strip(s, words, m, text, n, out, why);
  case STEP_NFC: case STEP_SPLIT: break; /* a cut is no change */
  }
  return compose(m, text, n, out, why);
}
  /*- Tokenizers differ in where a block goes: before every stretch, before those without one, or
    before the first of the whole only. Each rule gives other ids. */

@ Replacing cuts the text at the matches, keeps the gaps, and puts |words| in place of every match. A piece of length 0 marks the end of the text. We free the memory of the search whether the loop has succeeded or not.

@<Replace, or thin out@>=
static bool replace(const struct text_step *s, const unsigned char *words,
  struct memory *m, const unsigned char *text, size_t n,
  struct bytes *out, struct error *why)
{
  struct split_work cut = @[{ .m = m }@];
  struct pieces p;
  struct text_piece next;
  bool ok = true;
  pieces_begin(&p, s->by, &cut, text, n);
  while ((ok = ok && pieces_next(&p, &next, why)) && next.n > 0)
    ok = bytes_push(m, out, next.match ? words : next.byte,
      next.match ? s->words.n : next.n, why);
  split_work_free(&cut);
  return ok;
}

@ One blank is left of several in a row, and none at either end. This is how \emph{SentencePiece} cleans a text if its file asks for it; Llama's file does not, since blanks have a meaning in source code. If blanks will become blocks, SentencePiece also removes
blocks at the end of the text; the stage's |words| is then a block.

@<Replace, or thin out@>=
static bool strip(const struct text_step *s, const unsigned char *words,
  struct memory *m, const unsigned char *text, size_t n,
  struct bytes *out, struct error *why)
{
  for (size_t i = 0; i < n; i++) {
    bool blank = text[i] == ' ';
    if (blank && (out->n == 0 || out->byte[out->n - 1] == ' '))
      continue;
    if (!bytes_push(m, out, &text[i], 1, why)) return false;
  }
  for (;;) {
    size_t k = s->words.n;
    if (out->n > 0 && out->byte[out->n - 1] == ' ') out->n--;
    else if (k > 0 && out->n >= k
      && memcmp(out->byte + out->n - k, words, k) == 0) out->n -= k;
    else return true;
  }
}
  /*- SentencePiece: one blank of several, none at the ends; and no block at the end if blanks
    become blocks (words). */

@ One function does both searches for added tokens. After the first, the text between the tokens
is normalized and searched again; after the second, it goes to the other stages. A text without added tokens passes through both
searches in one piece.

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

@ The search goes through a text from |*at| on, one byte at a time where no token begins. Not every match counts: a special token may not be wanted, and a token that has to be a whole word may be part of a longer one. Then we skip all of the match:
the search continues after it, as Hugging Face's does, and does not find
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
    const struct added_token *x = longest_match(j->t, root, text + from,
      n - from, &length);
    *at += length;
    if (x == NULL || (x->special && !j->parse_special)) continue;
    if (x->single_word && !whole_word(text, n, from, *at)) continue;
    *p = (struct added_place) @[{ x, from, *at }@];
    return true;
  }
  return false;
}

@ A token may swallow white space. The text is encoded up to |done|, which may be after the beginning of the token, if the previous token has swallowed white space with which this one
begins. Then everything from there up to
|done| is white space, and we need not measure it again.

@<Cut at the added tokens@>=
static void swallow_space(struct added_place *p, const unsigned char *text,
  size_t n, size_t done)
{
  if (p->token->lstrip)
    p->from = done < p->from ? space_before(text, p->from, done) : done;
  if (p->token->rstrip)
    p->to = p->to < done ? done : space_after(text, n, p->to);
}
  /*- The token before may have swallowed beyond our beginning; what lies between is white space.
    */

@ To swallow white space on its left, a token reaches back into text that is not encoded yet. So we encode the text before a token only when the
token has been found. The previous token may have swallowed all of a token that consists of white space. If that token has the flag |lstrip|, we skip it; if not, it still counts, and encoding continues from its end, as in Hugging Face's library. The text after the last token is encoded like the rest.

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

@ Some characters can be written in two ways: \texttt{\'e} is one
character, or an \texttt{e} and an accent. Normal form C, or NFC, uses the single character where there is one \cited{Whistler 2022}. It takes three steps: every character is decomposed as far as possible, the marks
after a letter are sorted by their \emph{combining classes}, and characters that can be composed are composed. The library utf8proc has the tables for all three.
@^normal form@>

Its own function for all three sorts marks by exchanging neighbours. That is fast for letters with an accent or two, but on a text that consists of marks, which an
attacker may send us, its time grows with the square of the length. So we do the second step ourselves. A mark's key is one number, made of its class, its place and its code point; sorting the
keys of a run sorts the marks by class, and keeps the order of marks of the same class.

@<Bring a text into the normal form@>=
static uint64_t mark_key(utf8proc_int32_t point, uint64_t place)
{
  uint64_t kind =
    (uint64_t) utf8proc_get_property(point)->combining_class;
  return kind << 56 | place << 21 | (uint64_t) point;
}
  /*- Sorting keys sorts marks by class, and keeps the order within a class. utf8proc would sort by
    exchanging neighbours, in quadratic time on a text of nothing but marks. */
static int by_key(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
  return x < y ? -1 : x > y;
}

@ We decompose the characters one by one into an array of keys. A character becomes at most four, and at most two for each of its bytes; so an array of twice the number of bytes
is long enough. A character of class 0 is not a mark, and ends a run.

@<Bring a text into the normal form@>=
static size_t take_apart(const unsigned char *text, size_t n,
  uint64_t *key)
{
  size_t made = 0, run = 0, step;
  enum utf8_state state;
  for (size_t i = 0; i < n; i += step) {
    utf8proc_int32_t part[8];
    int bound = 0;
    step = utf8_next(text + i, n - i, &state);
    utf8proc_ssize_t parts = utf8proc_decompose_char(
      (utf8proc_int32_t) utf8_point(text + i, step), part, 8,@|
      UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, &bound);
    for (utf8proc_ssize_t k = 0; k < parts; k++, made++) {
      key[made] = mark_key(part[k], made);
      /*- class 0 is no mark, and ends a run */
      if (key[made] >> 56 != 0) continue;
      qsort(key + run, made - run, sizeof *key, by_key);
      run = made + 1;
    }
  }
  qsort(key + run, made - run, sizeof *key, by_key);
  return made;
}

@ Composing is left to utf8proc. It works on code points, in place, and we write its result as UTF-8.

@<Bring a text into the normal form@>=
static bool compose_run(struct memory *m, const unsigned char *text,
  size_t n, struct bytes *out, struct error *why)
{
  /*- a character becomes at most four, and at most two for each of its bytes */
  uint64_t *key = memory_alloc(m, MEMORY_TOKENS, 2 * n, sizeof *key, why);
  utf8proc_int32_t *point = memory_alloc(m, MEMORY_TOKENS, 2 * n,
    sizeof *point, why);
  bool ok = key != NULL && point != NULL;
  size_t made = ok ? take_apart(text, n, key) : 0;
  for (size_t i = 0; i < made; i++)
    point[i] = (utf8proc_int32_t) (key[i] & 0x1fffff);
  utf8proc_ssize_t left = utf8proc_normalize_utf32(point,
    (utf8proc_ssize_t) made, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  for (utf8proc_ssize_t i = 0; ok && i < left; i++) {
    utf8proc_uint8_t c[4];
    ok = bytes_push(m, out, c,
      (size_t) utf8proc_encode_char(point[i], c), why);
  }
  memory_free(m, key);
  memory_free(m, point);
  return ok;
}

@ Most text needs none of this. A character below U+0300 is in the normal form already and never composes with the character before it; the same holds for a Chinese character, or a syllable of Hangul.
Each of these begins a new run, and a run of one such character is copied. So a page of English or French is only copied, and we decompose just the letters with marks after them.

@<Bring a text into the normal form@>=
static bool stands_alone(const unsigned char *text, size_t length)
{
  uint32_t c = utf8_point(text, length);
  return c < 0x300 || (c >= 0x3400 && c <= 0x9fff)
    || (c >= 0xac00 && c <= 0xd7a3);
}
  /*- In the normal form already, and composes with nothing before it: most text is only copied. */
@#
/*- A run goes from one character that stands alone to the next; a run of one such is copied. */
static bool compose(struct memory *m, const unsigned char *text,
  size_t n, struct bytes *out, struct error *why)
{
  enum utf8_state state;
  for (size_t i = 0, first, end; i < n; i = end) {
    first = utf8_next(text + i, n - i, &state), end = i + first;
    for (size_t step; end < n; end += step) {
      step = utf8_next(text + end, n - end, &state);
      if (stands_alone(text + end, step)) break;
    }
    bool alone = end == i + first && stands_alone(text + i, first);
    if (!(alone ? bytes_push(m, out, text + i, first, why)
      : compose_run(m, text + i, end - i, out, why))) return false;
  }
  return true;
}

@ The normalizing stages run one after another, each with a row of bytes of its own; the last row is the result. Each row is freed as soon as the next
is complete, so there are never more than two, however many stages the file has.

@<Go through the forms@>=
bool tokenizer_normalize(const struct tokenizer *t, struct memory *m,
  const unsigned char *text, size_t n, bool first, struct bytes *out,
  struct error *why)
{
  bytes_free(m, out);
  for (size_t k = 0; k < t->n_normalizers; k++) {
    struct bytes next = @[{ NULL, 0, 0 }@];
    bool ok = change(t, &t->step[k], m, text, n, first, &next, why);
    bytes_free(m, out);
    *out = next;
    if (!ok) return false;
    text = next.byte, n = next.n;
  }
  return true;
}
  /*- text may be the row before, so that is freed only when the next one is there. */

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

The third function gives the number of a character, and so tells white space and letters for this chapter, and ranges of characters for \cref{constraints}. The number is made of the free bits: seven, five, four or three in the first byte, six in each of the others. (The three functions are plain C, in \.{unwoven/tokens/lossy.c}.)

@ Here the runs are encoded. Bytes that form no character are spelt byte
by byte, so that decoding gives back \emph{every} string of bytes as it was, if the tokenizer has no normal form. Only the caller knows whether the text is the beginning of
the whole.

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

@ If anything fails on the way, we remove the ids that were already appended by
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
  if (!ok) out->n = start;
  return ok;
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
  if (!ok) out->n = start;
  return ok;
}
  /*- A stretch of a conversation is not the beginning of a text, though it is all that we get. */

@ The files may put ids before and after a text: mostly one before it that means ``here a text begins'', and none after.

@<Push the ids that the files add@>=
static bool push_all(struct job *j, const struct ids *list)
{
  for (size_t i = 0; i < list->n; i++)
    if (!ids_push(j->m, j->out, list->id[i], j->why)) return false;
  return true;
}

@* Decoding. \label{sec:decode}
Decoding concatenates the texts of the ids. An id that the tokenizer does not know adds
nothing: the embedding of a model often has more rows than its tokenizer has tokens, because a round number of rows
is convenient.

@<Decode ids, and answer questions about them@>=
const unsigned char *tokenizer_text(const struct tokenizer *t,
  uint32_t id, size_t *n)
{
  struct span s = @[{ 0, 0 }@];
  if (id < t->n_vocab) s = t->vocab[id].text;
  *n = s.n;
  return s.n > 0 ? t->string_pool.byte + s.at
    : (const unsigned char *) "";
}
  /*- A model may have more rows than its tokenizer has tokens, so any id gets an answer. */

@ The ids come from a model and may be anything, so we assert nothing about them. We do not check either whether the bytes form characters; \cref{sec:streaming} does.

@<Decode ids, and answer questions about them@>=
bool tokenizer_decode(const struct tokenizer *t, struct memory *m,
  const uint32_t *id, size_t n, bool skip_special, struct bytes *out,
  struct error *why)
{
  size_t start = out->n;
  bool begun = false;
  for (size_t i = 0; i < n; i++)
    if (!tokenizer_decode_next(t, m, id[i], skip_special, &begun, out,
      why)) {
      out->n = start;
      return false;
    }
  return true;
}

@ Special tokens are left out on request, for a reader who wants the conversation and not its
stage directions. A tokenizer that puts a blank before the text removes it again, but only at the beginning of the text; so a caller that decodes id by id
must remember whether the text has begun.

@<Decode ids, and answer questions about them@>=
bool tokenizer_decode_next(const struct tokenizer *t,
  struct memory *m, uint32_t id, bool skip_special, bool *begun,
  struct bytes *out, struct error *why)
{
  size_t n, drop;
  if (skip_special && tokenizer_is_special(t, id)) return true;
  const unsigned char *text = tokenizer_text(t, id, &n);
  /*- The blank that encoding put before the text; whether the text has begun is the caller's to
    remember. */
  drop = t->strip_prefix_space && !*begun && n > 0 && text[0] == ' ';
  if (!bytes_push(m, out, text + drop, n - drop, why)) return false;
  *begun = *begun || n > 0;
  return true;
}

@ An unknown id is not special. As in decoding, any id gets an answer.

@<Decode ids, and answer questions about them@>=
bool tokenizer_is_special(const struct tokenizer *t, uint32_t id)
{
  return id < t->n_vocab && t->vocab[id].special;
}

@ We look for a text among the added tokens first, one after the other, since a caller that asks for \texttt{<\textbar endoftext\textbar>} means the special token and not a
piece with the same spelling. Only whole tokens are found, not a text of two.

@<Decode ids, and answer questions about them@>=
bool tokenizer_find(const struct tokenizer *t, const char *text,
  size_t n, uint32_t *id)
{
  for (size_t i = 0; i < t->n_added; i++) {
    struct span s = t->added[i].text;
    if (s.n != n || memcmp(t->string_pool.byte + s.at, text, n) != 0)
      continue;
    *id = t->added[i].id;
    return true;
  }
  uint32_t found = name_map_get(&t->by_piece,
    (const unsigned char *) text, n);
  if (found != 0) *id = found - 1;
  return found != 0;
}
  /*- added tokens first: who asks for the end of the text means the token, not a piece that is
    spelt like it */

@ The files may put several ids before a text; we return the first. Its usual name is ``beginning of sequence'', or
BOS.

@<Decode ids, and answer questions about them@>=
bool tokenizer_bos(const struct tokenizer *t, uint32_t *id)
{
  if (t->prefix_ids.n > 0) *id = t->prefix_ids.id[0];
  return t->prefix_ids.n > 0;
}

@ A few questions are answered by a field. The kind is a description for people. The size is the least number of rows that the model's embedding must have. Two fields
of the files, |truncation| and |padding|, are about batches of texts, so we ignore them, but a caller can ask whether the file has them.

@<Decode ids, and answer questions about them@>=
const char *tokenizer_kind(const struct tokenizer *t)
{
  return t->kind;
}
@#
const char *tokenizer_ignores(const struct tokenizer *t, size_t i)
{
  static const char *const name[] = @[{ "truncation", "padding" }@];
  return i < 2 && t->ignored[i] ? name[i] : NULL;
}
@#
size_t tokenizer_vocab_size(const struct tokenizer *t)
{
  return t->n_vocab;
}
@#
size_t tokenizer_added_count(const struct tokenizer *t)
{
  return t->n_added;
}

@ Added tokens are returned one by one, in the order in which they were added. Their bytes belong to the tokenizer and do not move until it is closed.

@<Decode ids, and answer questions about them@>=
struct tokenizer_added tokenizer_added_at(const struct tokenizer *t,
  size_t i)
{
  const struct added_token *x = &t->added[i];
  return (struct tokenizer_added) @[{ x->id,
    t->string_pool.byte + x->text.at,@| x->text.n, x->special }@];
}

@ The two versions of Unicode are those of the libraries at run time, which may be newer than those at compile time. They may differ from each other, and nothing here
needs them to agree.

@<Decode ids, and answer questions about them@>=
void tokenizer_unicode(char pcre2[24], char utf8proc[24])
{
  splitter_unicode(pcre2);
  snprintf(utf8proc, 24, "%s", utf8proc_unicode_version());
}

@ The text of an id may differ from its piece. When a file is read, two functions make the texts from the pieces. The first replaces a string by another in all texts, mostly a block by a
blank. A text in which the string does not occur keeps
the bytes of its piece.

@<Make texts of pieces@>=
bool tokenizer_texts_replace(struct memory *m, struct tokenizer *t,
  const char *from, size_t n, const char *to, size_t n_to,
  struct error *why)
{
  struct bytes row = @[{ NULL, 0, 0 }@];
  bool ok = true;
  for (size_t i = 0; ok && i < t->n_vocab; i++) {
    struct span *s = &t->vocab[i].text;
    bool any = false;
    row.n = 0;
    for (size_t k = 0; ok && k < s->n;) {
      const unsigned char *c = t->string_pool.byte + s->at + k;
      bool here = s->n - k >= n && memcmp(c, from, n) == 0;
      ok = here ? bytes_push(m, &row, to, n_to, why)
        : bytes_push(m, &row, c, 1, why);
      any = any || here, k += here ? n : 1;
    }
    if (any) ok = ok && tokenizer_intern(m, t, row.byte, row.n, s, why);
  }
  bytes_free(m, &row);
  return ok;
}
  /*- A text in which from does not occur keeps the bytes of its piece. */

@ The second makes pieces such as \tok{<0x0A>} decode to the byte that they name. The two hexadecimal digits must be upper case; other spellings of the same number are ordinary pieces.

@<Make texts of pieces@>=
static int named_byte(const unsigned char *c, size_t n)
{
  if (n != 6 || memcmp(c, "<0x", 3) != 0 || c[5] != '>') return -1;
  /*- capital digits only: other spellings are ordinary pieces */
  return c[3] >= 'a' || c[4] >= 'a' ? -1 : hex_byte(c + 3);
}
@#
bool tokenizer_texts_as_bytes(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  for (size_t i = 0; i < t->n_vocab; i++) {
    struct span *s = &t->vocab[i].text;
    int b = s->n == 0 ? -1 : named_byte(t->string_pool.byte + s->at,
      s->n);
    unsigned char byte = (unsigned char) b;
    if (b >= 0 && !tokenizer_intern(m, t, &byte, 1, s, why)) return false;
  }
  return true;
}

@ Closing frees one block after another. It works even if opening has failed half-way, because
every field that was not filled yet is zero. The tokenizer itself is freed last.

@<Close a tokenizer@>=
void tokenizer_close(struct memory *m, struct tokenizer *t)
{
  if (t == NULL) return;
  for (size_t i = 0; i < t->n_steps; i++)
    splitter_close(t->step[i].by);
  ids_free(m, &t->prefix_ids);
  ids_free(m, &t->suffix_ids);
  bpe_free(m, &t->rules);
  name_map_free(m, &t->by_piece);
  bytes_free(m, &t->string_pool);
  memory_free(m, t->vocab);
  memory_free(m, t->added);
  memory_free(m, t->trie);
  memory_free(m, t);
}
  /*- also after half an opening: what was not filled is zero */

@ Merges from \cref{sec:learning} become a tokenizer whose ids are those of the trainer plus one,
since id 0 is the end of the text. A token's bytes are those of its two halves, and chapter 1's |bpe_spell| finds them. Each half must have a smaller id than the token; a list that our trainer has learnt always satisfies this, any other may not.

@<Make a tokenizer from merges@>=
static bool spell_merges(struct memory *m, struct tokenizer *t,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  for (uint32_t i = 0; i < 256 + n; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(m, t, i + 1, why);
    if (k == NULL) return false;
    size_t at = t->string_pool.n;
    /*- a list that was not learnt by bpe_train could go in circles */
    if (i >= 256 && (merge[i - 256].left >= i
      || merge[i - 256].right >= i)) return error_say(why,
      "merge %u joins ids that are not made yet", i - 256);
    if (!bpe_spell(m, merge, i, &t->string_pool, why)) return false;
    if (t->string_pool.n > UINT32_MAX)
      return error_say(why,
        "a vocabulary of more than 4 GiB of letters");
    k->piece = (struct span) @[{ (uint32_t) at,
      (uint32_t) (t->string_pool.n - at) }@];
    k->text = k->piece;
    if (i >= 256 && !bpe_add(m, &t->rules, merge[i - 256].left + 1,
      merge[i - 256].right + 1, i + 1, why)) return false;
  }
  return true;
}

@ The rest is a list of small steps: GPT-2's cut, one special token, no normal form. The file that |tokenizer_write|
writes describes exactly this tokenizer, and a test compares the two. If you change one, change the other.

@<Make a tokenizer from merges@>=
static const char end_of_text[] = "<|endoftext|>";
/*- tokenizer_write describes exactly this tokenizer: change both or none. */
static bool finish_merges(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  struct added_token x = @[{ .id = 0, .special = true }@];
  t->kind = "byte-level BPE";
  return tokenizer_add_split(m, t, split_gpt2, strlen(split_gpt2), why)
    && tokenizer_intern(m, t, end_of_text, strlen(end_of_text), &x.text,
    why) && tokenizer_index_vocab(m, t, why) && tokenizer_add_token(m, t, &x, why)
    && tokenizer_index_added(m, t, why);
}

@ On any failure we close what was made, and return null and a sentence. The number of merges is limited by |TOKENIZER_MAX_ID|, less
the ids of the bytes and the end of the text.

@<Make a tokenizer from merges@>=
struct tokenizer *tokenizer_from_merges(struct memory *m,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  struct tokenizer *t = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *t, why);
  if (t == NULL) return NULL;
  if (n <= TOKENIZER_MAX_ID - 257 ? spell_merges(m, t, merge, n, why)
      && finish_merges(m, t, why) : error_say(why,
      "%zu merges are too many", n))
    return t;
  tokenizer_close(m, t);
  return NULL;
}

@ How large do the tables become? The list of ids and that of the rules grow to twice their capacity and a little more; the two hash tables double as soon as they are half full.
So the capacity of each is the first number of a series that is large enough, and we can calculate it from the number of entries, without a tokenizer (\eqref{eq:vocabulary}). A test opens some tokenizers and compares.

@<Tell what the tables take@>=
static uint64_t next_room(uint64_t n)
{
  uint64_t cap = 0;
  while (cap < n) cap = 2 * cap + 256;
  return cap;
}
  /*- memory_reserve and the hash tables grow in fixed series, so the room follows from the number
    of entries. */
static uint64_t next_power(uint64_t n)
{
  uint64_t cap = 64;
  while (cap < 2 * n) cap *= 2;
  return n == 0 ? 0 : cap;
}
uint64_t tokenizer_bytes(uint64_t ids, uint64_t merges)
{
  return next_room(ids) * sizeof (struct vocab_entry)
    + next_power(ids) * sizeof (struct name_slot)
    + next_room(merges) * sizeof (struct bpe_rule)
    + next_power(merges) * sizeof (struct pair_slot);
}
@#
struct tokenizer_tables tokenizer_tables(const struct tokenizer *t)
{
  return (struct tokenizer_tables) @[{ .ids = t->n_vocab, .merges = t->rules.n,@|
    .bytes = t->vocab_cap * sizeof *t->vocab
      + t->by_piece.cap * sizeof *t->by_piece.slot
      + t->rules.cap * sizeof *t->rules.rule
      + t->rules.place.cap * sizeof *t->rules.place.slot,@|
    .letters = t->string_pool.cap }@];
}

@ The implementation has a header of its own, which the two readers of files include, \cref{sentencepiece,tokenizer-json}. Functions that are not declared in it can change without any change to the readers.

@(tokenizer_internal.h@>=
#ifndef INCIPIT_TOKENIZER_INTERNAL_H
#define INCIPIT_TOKENIZER_INTERNAL_H
#include "tokenizer/tokenizer.h"
@<A tokenizer, from inside@>@;
#endif

@ Some functions call each other, or come before a function that they call, so four are declared first.

@(tokenizer.c@>=
@;
/** From text to ids and back, whatever file the vocabulary came from. Encoding is a series of
  cuts: valid UTF-8 and other bytes; added tokens in the text (root 0 of the tree); added tokens in
  its normal form (root 1); the stages of the pre-tokenizer; and only then merging, before which
  frozen tokens (root 2) are found. Where two readings are possible we do what Hugging Face's
  library does, since the model was trained so. |by_piece| and the tree borrow bytes of the string
  pool, which moves when it grows: |tokenizer_index_added| comes after the last byte. In the tables 0
  is no entry, so ids stand there plus 1. A tokenizer is only read once it is made; all that an
  encoding changes is in its struct job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include "tokenizer/tokenizer_internal.h"
@<What an encoding needs on its way@>@;
static bool push_bytes(struct job *j, const unsigned char *byte,
  size_t n);
static bool change(const struct tokenizer *t, const struct text_step *s,
  struct memory *m, const unsigned char *text, size_t n, bool first,
  struct bytes *out, struct error *why);
static bool encode_changed(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n);
static bool encode_added(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n);
@#
@<Store the strings, and find ids@>@;
@<Append a stage@>@;
@<Find the token of a byte@>@;
@<Make the table of pieces@>@;
@<Add a token@>@;
@<Make the tree of added tokens@>@;
@<Find the longest added token here@>@;
@<Measure white space@>@;
@<Tell whether a character belongs to a word@>@;
@<From a text to its ids, by ever smaller cuts@>@;
@<Make texts of pieces@>@;
@<Decode ids, and answer questions about them@>@;
@<Close a tokenizer@>@;
@<Make a tokenizer from merges@>@;
@<Tell what the tables take@>@;

@ The functions that cut call each other from the whole text down to the piece, so here they come in the opposite order.

@<From a text to its ids, by ever smaller cuts@>=
@<Check whether a match stands at word boundaries@>@;
@<Encode a piece of characters@>@;
@<Encode what needs no more cutting@>@;
@<Go through the stages@>@;
@<Bring a text into the normal form@>@;
@<Replace, or thin out@>@;
@<Change a text@>@;
@<Go through the forms@>@;
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
The tokens are a block, a letter, both together, and the two bytes of the letter \texttt{\'e}, which has no token of its own. A merge makes the third from the first two.

@<A vocabulary of a few words@>=
#define BLOCK "\xe2\x96\x81"
static bool make_words(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  static const char *const word[] = @[{ BLOCK, "a", BLOCK "a",@|
    "<0xC3>", "<0xA9>" }@];
  t->char_level = t->byte_fallback = t->strip_prefix_space = true;
  for (uint32_t i = 0; i < 5; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(m, t, i, why);
    if (k == NULL || !tokenizer_intern(m, t, word[i], strlen(word[i]),
      &k->piece, why)) return false;
    k->text = k->piece;
  }
  return bpe_add(m, &t->rules, 0, 1, 2, why)
    && tokenizer_texts_replace(m, t, BLOCK, 3, " ", 1, why)
    && tokenizer_texts_as_bytes(m, t, why) && tokenizer_index_added(m, t, why);
}

@ The older files first put a block; the newer ones first replace the blanks. Both are normalizing stages, which change the whole text.

@<A vocabulary of a few words@>=
static bool make_forms(struct memory *m, struct tokenizer *t,
  bool newer, struct error *why)
{
  for (int i = 0; i < 2; i++) {
    bool put = (i == 0) != newer;
    struct text_step s = @[{ .what = put ? STEP_PREPEND : STEP_REPLACE,@|
      .unless_there = newer }@];
    if (!tokenizer_add_string(m, t, s, BLOCK, 3, put ? NULL : " ", 1, true, why))
      return false;
  }
  t->n_normalizers = t->n_steps;
  return true;
}

@ The texts are that of the hand calculation and one with a letter that has no token. The decoded text is printed between bars, so that you can see a blank at its beginning.

@<Show a text's ids in both orders@>=
static bool show_text(struct memory *m, struct tokenizer *t,
  bool newer, bool values, const char *text, struct error *why)
{
  struct ids list = @[{ NULL, 0, 0 }@];
  struct bytes back = @[{ NULL, 0, 0 }@];
  bool ok = tokenizer_encode(t, m, text, strlen(text), false, false,
    &list, why) && tokenizer_decode(t, m, list.id, list.n, false,
    &back, why);
  if (values) printf("vocab.order.%s.%zu %zu\n",
    newer ? "newer" : "older", strlen(text), list.n);
  else {
    printf("%s form: |%s| is", newer ? "newer" : "older", text);
    for (size_t i = 0; i < list.n; i++)
      printf(" %u", (unsigned) list.id[i]);
    printf(", and back |%.*s|\n", (int) back.n,
      back.n > 0 ? (const char *) back.byte : "");
  }
  ids_free(m, &list);
  bytes_free(m, &back);
  return ok;
}

@ Each order has a tokenizer of its own, which is made by hand and then closed; if any memory was not freed, the program's exit status says so.

@<Show a text's ids in both orders@>=
static bool show_order(bool newer, bool values)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct error why;
  struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t,
    &why);
  bool ok = t != NULL && make_forms(&m, t, newer, &why)
    && make_words(&m, t, &why)
    && show_text(&m, t, newer, values, " a", &why)
    && show_text(&m, t, newer, values, "a\xc3\xa9", &why);
  tokenizer_close(&m, t);
  return ok && m.all.live == 0;
}

@ What the program prints:

\checkpoint{build/out/tokenizer.txt}{two orders, and a letter in bytes}

@* Exercises. \label{sec:vocabexercises}
The first can be done on paper; the second needs an argument, and the third one word of C.

\begin{exercises}
\exercise{check}{ex:vocab.longest}{The letters and the signs \texttt{<} and \texttt{>} are tokens, and three tokens have been added: \texttt{<a>}, \texttt{<a>b} and \texttt{b<a>c}. Which tokens does the text \texttt{<a>b<a>c} become?}{\texttt{make
exercise-W4-1}}{The longest that begins at the first place is \texttt{<a>b}. What remains is \texttt{<a>c}, in which \texttt{<a>} is found; a \texttt c is left. The longest of all, \texttt{b<a>c}, begins later.}
\exercise{think}{ex:vocab.most}{A vocabulary of characters has all bytes as a last resort, and puts a block before the text, as Llama~2's does. How many ids can a text of $n$ characters have at most? Give a formula in $n$.}{\texttt{make
exercise-W4-2}}{A character that is not a piece becomes its bytes, at most four, and no merge joins them; the block is one id more if nothing merges with it: $4n+1$. Emoji without a piece of their own reach the bound.}
\exercise{check}{ex:vocab.shortest}{Let the search for added tokens take the \emph{shortest} that begins at a place, but still at the first place. What would a file with both \texttt{<s>} and \texttt{<s>x} never find?}{\texttt{make
exercise-W4-3}}{A |break| after |*length = i + 1|. Of two tokens that begin alike, the longer would never be found.}
\end{exercises}
