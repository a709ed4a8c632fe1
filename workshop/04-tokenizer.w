@i types.w

\chapterquestion{A model comes with a list of tokens that another program made. Can we use the list so that not one id
differs from that program's?}
@** Inside a tokenizer. \label{sec:vocabularies}
\incipit{T}{he tokenizer of chapter 1} has an interface and an implementation, and this chapter shows both: what other programs may ask of it, its structure, and the functions
that work on it. \Cref{sentencepiece,tokenizer-json} read the files from which it is filled. You can
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
blanks become blocks & \texttt{\textunderscore\textunderscore a} & 3 letters
\end{tabular}
\medskip

If we first replace the blanks, and put a block only where there is none, we get one block and a letter:

\medskip
\begin{tabular}{@@{}lll@@{}}
blanks become blocks & \texttt{\textunderscore a} & \\
put, unless it is there & \texttt{\textunderscore a} & 2 letters
\end{tabular}
\medskip

The vocabulary was made in the first order, and older files ask for it; newer files for the same vocabulary ask for the second. The second gives one token less, its decoded text
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

@<Keep letters, and know ids@>=
bool tokenizer_intern(struct memory *m, struct tokenizer *t,
  const void *byte, size_t n, struct span *where, struct error *why)
{
  if (n > UINT32_MAX - t->string_pool.n)
    return error_say(why,
      "a vocabulary of more than 4 GiB of letters");
  *where = (struct span) @[{ (uint32_t) t->string_pool.n,
    (uint32_t) n }@];
  return bytes_push(m, &t->string_pool, byte, n, why);
}

@ An id has 32 bits as well. The table of ids doubles when it is full, so
that a vocabulary in any order needs few moves; entries of ids without a token stay empty, and decode to nothing. The caller must use an entry before asking for the next, because then the
table may move. The readers of files have checked that no id is above |TOKENIZER_MAX_ID|, since they know which field to name if one is.

@<Keep letters, and know ids@>=
struct vocab_entry *tokenizer_vocab_at(struct memory *m, struct tokenizer *t,
  uint32_t id, struct error *why)
{
  struct vocab_entry *p = memory_reserve(m, MEMORY_TOKENS, t->vocab, &t->vocab_cap,
    (size_t) id + 1, 256, sizeof *p, why);
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
  name_map_free(m, &t->by_piece);
  bool ok = tokenizer_index_vocab(m, t, why);
  for (int root = 0; root < 3; root++)
    ok = ok && new_trie_node(m, t, 0, 0, why);
  for (size_t i = 0; ok && i < t->n_added; i++) {
    const struct added_token *x = &t->added[i];
    const unsigned char *byte = t->string_pool.byte + x->text.at;
    struct bytes normal = @[{ NULL, 0, 0 }@];
    bool after = x->normalized && t->n_normalizers > 0 && !x->frozen;
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
@#
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
      || (c >= 0x1f130 && c <= 0x1f149)
      || (c >= 0x1f150 && c <= 0x1f169)
      || (c >= 0x1f170 && c <= 0x1f189);
  }
}

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

@* From text to ids. \label{sec:encode}
Encoding is a series of cuts. Into runs of characters and of what is none; at the added tokens
that stand there as written; at those that stand there in the normal form; by the stages of
the pre-tokenizer; and what is left are pieces for \cref{sec:encoding}. Everything that the functions
need on the way travels in one structure.

@<What an encoding needs on its way@>=
struct job { const struct tokenizer *t; struct memory *m; struct ids *out;
  struct bpe_work work; struct split_work cut; bool parse_special; struct error *why;
  size_t unknown_end; };
  /* |unknown_end|: where the row of the piece ended when the last
     unknown letter was pushed; the row has ended there still if no
     other has followed */

@ At the bottom is a piece. Some tokenizers look it up as a whole before they merge
(\texttt{ignore\_merges}: Llama~3's does, because its vocabulary has tokens that its own merges
do not reach).

@<Encode what needs no more cutting@>=
static bool encode_piece(struct job *j, const unsigned char *byte,
  size_t n)
{
  uint32_t whole = j->t->ignore_merges
    ? name_map_get(&j->t->by_piece, byte, n) : 0;
  if (whole != 0) return ids_push(j->m, j->out, whole - 1, j->why);
  return j->t->char_level ? encode_characters(j, byte, n)
    : bpe_encode(&j->t->rules, j->m, &j->work, byte, n, j->out,
    j->why);
}

@ A vocabulary of characters begins with the ids of characters. One that has no id is spelt in bytes, which is called \emph{byte fallback}, if there are tokens for all of its bytes; else it becomes the
unknown token, of which some files want one for several in a row: for letters that are unknown, not for a letter whose own token is the unknown one, which a file may choose. Where not even that exists, the text cannot be encoded, and the message shows the character's number. No letter is left out
without a mark: where something stood, there is an unknown token at least.
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

@ The bytes of a character that has no token of its own; and, from outside, bytes that are no character at all. The latter may meet a byte without a token.

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

@ Such vocabularies have no pattern that cuts words apart: the blank is a letter like others, written as U+2581, a low block, and a text is one long piece. To
merge in it is of the order $n\log n$; but in nearly all of these vocabularies no token has the block after another letter, only at its beginning. Then \emph{no merge can reach over the place
between a letter and a block}, for what it made would be such a token. So the row may be ended there, and what comes out is the same, to the last id; only
the rows are words now and not books. |splits_at_spaces| says that the vocabulary is like that. It is found out by looking, not taken for granted. The block must be a token itself, or it would be spelt in bytes, which could join what stands before them.

@<Tell whether words are apart@>=
static const unsigned char block[3] = @[{ 0xe2, 0x96, 0x81 }@];
static bool word_begins(const unsigned char *text, size_t at,
  size_t n)
{
  return at > 0 && n - at >= 3 && memcmp(text + at, block, 3) == 0
    && (at < 3 || memcmp(text + at - 3, block, 3) != 0);
}
@#
void tokenizer_find_splits(struct tokenizer *t)
{
  t->splits_at_spaces = name_map_get(&t->by_piece, block, 3) != 0;
  for (size_t i = 0; i < t->n_vocab; i++) {
    struct span s = t->vocab[i].piece;
    for (size_t k = 1; k < s.n && t->splits_at_spaces; k++)
      t->splits_at_spaces = !word_begins(t->string_pool.byte + s.at, k, s.n);
  }
}

@ So a piece is read character by character, and joined where a word ends, where a frozen token stands, and at its end. What a frozen token is taken for is decided here
and nowhere else: no letter of it comes into a row, and so no merge can begin in it or reach over it.

@<Encode a piece of characters@>=
static bool join(struct job *j)
{
  bool ok = bpe_join(&j->t->rules, j->m, &j->work, j->out, j->why);
  j->work.piece.n = 0, j->unknown_end = 0;
  return ok;
}
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
what lies between them; the makers of such a file know why. The function calls itself for the next stage with each piece, so the recursion is as deep as there are stages, and no
list of pieces is ever made.

@<Go through the stages@>=
static bool encode_from(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n)
{
  if (n == 0) return true;
  if (k == j->t->n_steps) return encode_piece(j, text, n);
  const struct text_step *s = &j->t->step[k];
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

@ A stage that changes its text makes a copy, since the text is not ours to write in, and it is the copy that goes on.

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

@ A blank before a text, or a block, makes its first word look like all others: \tok{\ the} and not \tok{the}. There are three opinions on where it belongs: before every text;
before every one that does not begin so already; and only where the whole begins, and not after an added token in its middle. Each is somebody's, and gives other ids.

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
  default:
    return compose(m, text, n, out, why);
  }
}

@ Replacing cuts the text and keeps the gaps; the words take the place of every match. A piece of length 0 is the sign that the text is at its end. The memory of the search is freed whether the loop ends well or not.

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

@ Of blanks in a row one is left, and at both ends none. That is \emph{SentencePiece}'s idea of a clean text, if its file asks for it; Llama's does not, since in programs blanks have a meaning. At the end of the text it takes
blocks for blanks, too, if blanks will become blocks; these are the stage's |words|.

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

@ The two searches for added tokens are the same function. What lies between the tokens
goes on to the second search, by way of the normal form, and from there to the other stages. So a text that has no added token in it passes through both
searches in one piece.

@<Go on with what lies between added tokens@>=
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

@ The search goes through a text from |*at| on, one character at a time where no token begins. A token that is found need not be meant: it may be special where special tokens are not wanted, or have to be a whole word and be part of a longer one. Then it is passed over, letters and all:
the search goes on after it, as Hugging Face's does, so what another token shares with
it is not found either.

@<Cut at the added tokens@>=
struct added_place { const struct added_token *token; size_t from, to; };
@#
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

@ A token may swallow white space. What has been encoded ends at |done|, and may end after the beginning of the token, if the one before has swallowed white space that this one
begins with. White space that was
measured once is not measured again: up to |done| there is nothing else.

@<Cut at the added tokens@>=
static void swallow_space(struct added_place *p, const unsigned char *text,
  size_t n, size_t done)
{
  if (p->token->lstrip)
    p->from = done < p->from ? space_before(text, p->from, done) : done;
  if (p->token->rstrip)
    p->to = p->to < done ? done : space_after(text, n, p->to);
}

@ To swallow white space on the left, a token reaches back into what has not been encoded yet, which is why nothing is encoded before the
next token has been found. A token that is nothing but white space, and takes what is before it, may have been swallowed whole; it is not there any more. One that takes nothing before it is found all the same, and what follows it is encoded from its end on, as Hugging Face's library does. What remains after the last token is a piece like the others.

@<Cut at the added tokens@>=
static bool encode_added(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n)
{
  size_t done = 0, at = 0;
  struct added_place p;
  while (find_added(j, root, text, n, &at, &p)) {
    swallow_space(&p, text, n, done);
    if (p.from >= p.to) continue;
    if (done < p.from && !encode_between(j, root, first && done == 0,
      text + done, p.from - done)) return false;
    if (!ids_push(j->m, j->out, p.token->id, j->why)) return false;
    done = p.to;
  }
  return done >= n || encode_between(j, root, first && done == 0,
    text + done, n - done);
}

@ The normal form is a matter of characters that can be written in two ways: \texttt{\'e} is one
character, or an \texttt{e} and an accent. NFC makes one of them where there is one \cited{Whistler 2022}. Three steps lead there: every character is taken apart as far as possible, marks that stand
after one letter are put into the order of their \emph{classes}, and what can be joined is joined. The library utf8proc knows how all characters are taken apart, their classes, and what joins.
@^normal form@>

Its own function for all three sorts marks by exchanging neighbours. Nobody notices on a text of letters with an accent or two; on a text that is nothing but marks, which a
stranger may send us, its time grows with the square of the length. So the middle step is ours. A mark's key is its class, then its place, then what it is, all in one number; sorting the
numbers of a run sorts the marks, and leaves those of one class as they stood.

@<Bring a text into the normal form@>=
static uint64_t mark_key(utf8proc_int32_t point, uint64_t place)
{
  uint64_t kind =
    (uint64_t) utf8proc_get_property(point)->combining_class;
  return kind << 56 | place << 21 | (uint64_t) point;
}
static int by_key(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
  return x < y ? -1 : x > y;
}

@ Characters are taken apart one by one into the row of keys. A character of |k| bytes becomes at most two for each of its bytes, and four in all; so a row of twice the bytes
is long enough. What has class 0 is a letter, and ends a run.

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
      if (key[made] >> 56 != 0) continue;
      qsort(key + run, made - run, sizeof *key, by_key);
      run = made + 1;
    }
  }
  qsort(key + run, made - run, sizeof *key, by_key);
  return made;
}

@ Joining is utf8proc's again. It works on numbers of characters, in place, and what it leaves is written as UTF-8.

@<Bring a text into the normal form@>=
static bool compose_run(struct memory *m, const unsigned char *text,
  size_t n, struct bytes *out, struct error *why)
{
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

@ Most of a text has nothing to do with any of this. A character below U+0300 is in the normal form already and never joins with what stands before it; so is a Chinese character, or a syllable of Hangul.
With each of these a new run begins, and a run of one such character is copied. So a page of English or French is only read, and what is taken apart are the letters after which a mark stands.

@<Bring a text into the normal form@>=
static bool stands_alone(const unsigned char *text, size_t length)
{
  uint32_t c = utf8_point(text, length);
  return c < 0x300 || (c >= 0x3400 && c <= 0x9fff)
    || (c >= 0xac00 && c <= 0xd7a3);
}
@#
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

@ All the forms of a tokenizer are gone through one after another, each with a row of its own; the last row is the result. The row before is given back as soon as the next
is there, so that at most two are alive, whatever the file asks for.

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

@ The outermost cut is between characters and bytes that are none. The latter are spelt byte
by byte, so that \emph{every} row of bytes comes back from decoding as it was, if the tokenizer has no normal form. Whether these bytes begin the whole is known to the
caller alone.

@<Encode a text@>=
static bool encode_runs(struct job *j, bool first,
  const unsigned char *byte, size_t n)
{
  size_t length = 0;
  bool ok = true, whole;
  for (size_t at = 0; ok && at < n; at += length) {
    length = utf8_run(byte + at, n - at, &whole);
    j->work.piece.n = 0;
    ok = whole ? encode_added(j, 0, first && at == 0, byte + at, length)
      : push_bytes(j, byte + at, length) && join(j);
  }
  return ok;
}

@ If anything fails on the way, the ids that were already appended are taken back by
forgetting them; the caller's row is as it was.

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

@ A conversation is encoded in stretches (\cref{sec:injection}), and the tokens between them are put by whoever knows that they are meant. Such a stretch is not the beginning of a text, even
if it is the beginning of what we are given: where a block is put only before the first word of the whole, none is put here.

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

@ What the files put before and after a text are ids like any others: mostly one before it that means ``here a text begins'', and none after.

@<Push the ids that the files add@>=
static bool push_all(struct job *j, const struct ids *list)
{
  for (size_t i = 0; i < list->n; i++)
    if (!ids_push(j->m, j->out, list->id[i], j->why)) return false;
  return true;
}

@* Decoding. \label{sec:decode}
Decoding puts the texts of the ids one after another. An id that the tokenizer does not know adds
nothing: models are often given more rows than their tokenizer has tokens, because some numbers
are rounder than others.

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

@ The ids may be anything, since a model has made them; so nothing is asserted about them, and whether the bytes are characters is not asked either (\cref{sec:streaming} is for that).

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
stage directions. A tokenizer that has put a blank before the text takes one away again, and only from where the text begins; so a text that is decoded id by id
must remember whether it has begun.

@<Decode ids, and answer questions about them@>=
bool tokenizer_decode_next(const struct tokenizer *t,
  struct memory *m, uint32_t id, bool skip_special, bool *begun,
  struct bytes *out, struct error *why)
{
  size_t n, drop;
  if (skip_special && tokenizer_is_special(t, id)) return true;
  const unsigned char *text = tokenizer_text(t, id, &n);
  drop = t->strip_prefix_space && !*begun && n > 0 && text[0] == ' ';
  if (!bytes_push(m, out, text + drop, n - drop, why)) return false;
  *begun = *begun || n > 0;
  return true;
}

@ An id beyond the last that is known is not special. As in decoding, whatever a model may have written gets an answer.

@<Decode ids, and answer questions about them@>=
bool tokenizer_is_special(const struct tokenizer *t, uint32_t id)
{
  return id < t->n_vocab && t->vocab[id].special;
}

@ A text is looked for among the added tokens first, one after the other, since whoever asks for \texttt{<\textbar endoftext\textbar>} means the special token and not some
word of the vocabulary that is spelt like it. The search is for whole tokens: a text of two tokens is not found.

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

@ The first of the ids that the files put before a text is taken for the one that begins it. There may be several, and the name is that of the
usual case: ``beginning of sequence''.

@<Decode ids, and answer questions about them@>=
bool tokenizer_bos(const struct tokenizer *t, uint32_t *id)
{
  if (t->prefix_ids.n > 0) *id = t->prefix_ids.id[0];
  return t->prefix_ids.n > 0;
}

@ A few are answered without looking. The kind is a word for people. The size is what a model must have rows for, at the least. What a file may say and we do not
do, because it is about batches of texts and not about a text, is told to whoever asks.

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

@ Added tokens are given out one by one, in the order in which they were added. The letters are ours and stay where they are until the tokenizer is closed.

@<Decode ids, and answer questions about them@>=
struct tokenizer_added tokenizer_added_at(const struct tokenizer *t,
  size_t i)
{
  const struct added_token *x = &t->added[i];
  return (struct tokenizer_added) @[{ x->id,
    t->string_pool.byte + x->text.at,@| x->text.n, x->special }@];
}

@ The two versions of Unicode are those of the libraries that we were linked with, which may be younger than those that we were compiled with. They need not agree with each other, and nothing here
needs them to.

@<Decode ids, and answer questions about them@>=
void tokenizer_unicode(char pcre2[24], char utf8proc[24])
{
  splitter_unicode(pcre2);
  snprintf(utf8proc, 24, "%s", utf8proc_unicode_version());
}

@ What an id reads as need not be what it is spelt like. Two steps make the one of the other, once, when a file is read. In all texts a string takes the place of another, mostly a blank that of a
block. Texts in which it does not occur stay what they are, the same letters as
their pieces.

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

@ Words such as \tok{<0x0A>} read as the byte that they name, with two hexadecimal digits of which the letters are capital. Other spellings of the same number are ordinary words.

@<Make texts of pieces@>=
static int named_byte(const unsigned char *c, size_t n)
{
  if (n != 6 || memcmp(c, "<0x", 3) != 0 || c[5] != '>') return -1;
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

@ Closing returns one block after another. It also serves when opening has failed half-way, because
whatever was not made yet is zero. The tokenizer itself goes last.

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

@ Merges from \cref{sec:learning} become a tokenizer whose ids are those of the trainer plus one,
since id 0 goes to the end of the text. A token's letters are those of its two halves; chapter 1 has spelt them for us, and only a list that was not learnt could name a half that is not made yet.

@<Make a tokenizer from merges@>=
static bool spell_merges(struct memory *m, struct tokenizer *t,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  for (uint32_t i = 0; i < 256 + n; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(m, t, i + 1, why);
    if (k == NULL) return false;
    size_t at = t->string_pool.n;
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

@ With the letters spelt, the rest is a list of small steps. The file that |tokenizer_write|
writes describes exactly this, and a test compares the two: GPT-2's cut, one special token, no normal form. Whoever changes the one must change the other.

@<Make a tokenizer from merges@>=
static const char end_of_text[] = "<|endoftext|>";
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

@ From here on failure has one way out: what was made is returned by closing, and there is null and a sentence. There may be as many merges as |TOKENIZER_MAX_ID| leaves
when the bytes and the end of the text have their ids.

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

@ How large do the tables become? The list of ids and that of the rules grow to twice their capacity and a little more; the two tables that are looked into double as soon as they are half full.
So the capacity of each is the first of a series that is large enough, and follows from the number of entries alone, without a tokenizer (\eqref{eq:vocabulary}). A test opens some and compares.

@<Tell what the tables take@>=
static uint64_t next_room(uint64_t n)
{
  uint64_t cap = 0;
  while (cap < n) cap = 2 * cap + 256;
  return cap;
}
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

@ The inside has a header of its own, which only the two readers of files include, \cref{sentencepiece,tokenizer-json}. What is not in it can be changed without anybody noticing.

@(tokenizer_internal.h@>=
#ifndef INCIPIT_TOKENIZER_INTERNAL_H
#define INCIPIT_TOKENIZER_INTERNAL_H
#include "tokenizer/tokenizer.h"
@<A tokenizer, from inside@>@;
#endif

@ In the file some functions call each other, or stand before what they need, so four are announced. Otherwise everything stands before the first that uses it, from the letters of the tokens up to the whole tokenizer.

@(tokenizer.c@>=
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
@<Keep letters, and know ids@>@;
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

@ The functions that cut call each other downwards, from the whole text to the piece, and so they stand here upwards.

@<From a text to its ids, by ever smaller cuts@>=
@<Tell whether words are apart@>@;
@<Encode a piece of characters@>@;
@<Encode what needs no more cutting@>@;
@<Go through the stages@>@;
@<Bring a text into the normal form@>@;
@<Replace, or thin out@>@;
@<Change a text@>@;
@<Go through the forms@>@;
@<Go on with what lies between added tokens@>@;
@<Cut at the added tokens@>@;
@<Push the ids that the files add@>@;
@<Encode a text@>@;

@* How fast. \label{sec:tokenspeed}
Text becomes ids once, and a model then works on each of them for as long as it takes to encode pages. So a tokenizer need not be fast for the sake of one prompt. It must be for the sake of those who
count the tokens of a library, or cut a corpus for training; and it must not be slow on \emph{some} texts, which is another thing, and the reason for the heap in \cref{sec:encoding}.

What does a byte cost? It is looked at by the pattern, a few steps of machine code. Then it is one end of a pair, and so is every token that is made on the way: a piece of $n$ bytes begins with $n-1$ pairs, and each of its at most $n-1$ merges
makes two new ones. That is less than three questions a byte to the table of pairs, and fewer where pieces become tokens at once. The rest is what a question costs. Ours is about two numbers, which are one key of eight bytes, and
the answer lies where the key says, mostly in the first place that is looked at (\cref{sec:tables}). A program that keeps the \emph{letters} of its tokens as keys must read and mix the letters of both for every question; one that also
keeps for each token where in the text it came from, so that others can mark words by it, writes that down as well. We give back ids and nothing else.

\fig{speeds}{fig:speeds}{How fast text becomes ids, beside other programs in the same run, on one thread; the scale is logarithmic, and the numbers are those of the full dots: ten megabytes without a repeated paragraph.
Open: one megabyte of Shakespeare. All give the same ids.}{A chart of dots in three groups, cl100k, GPT-2 and Llama 2, a row for each program, on a logarithmic scale of megabytes a second. Incipit stands at the right of each group, beyond ten; tiktoken at about
half of that; sentencepiece, the tokenizers library and llama.cpp stand around one. The dots for one and for ten megabytes lie close together in every row of incipit.}

@ \Cref{fig:speeds} shows what comes of it. It was taken by \.{make bench-tokens}, which encodes each text in one call, in turn with the other programs that it finds on the machine, and compares the ids. Ten megabytes take about ten times as long as one: the two dots of a row lie close to each
other, and how far apart depends on the minute as much as on the program: the bars through the dots span the middle half of the rounds. None of this uses a cache of words, which makes an average text look better and helps nobody whose text is not average; \cref{fig:speeds} has the library both with its cache and without, and a text with new words all the time is hardly sped up by it.

@* The check. \label{sec:vocabcheck}
The words are a block, a letter, both together, and the two bytes of the letter \texttt{\'e}, for which there is no word. A merge makes the third of the first two.

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

@ The older files put first; the newer ones write blocks first. Both are forms, and change the whole text.

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

@ The texts are that of the hand calculation and one with a letter that has no word. What comes back is printed between bars, so that a blank at its beginning can be seen.

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

@ Each order has a tokenizer of its own, made by hand and closed again; if anything was not returned, the program says so by its status.

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
The first is done with a finger on the paper; the second wants a reason, and the third one word.

\begin{exercises}
\exercise{check}{ex:vocab.longest}{The letters and the signs \texttt{<} and \texttt{>} are tokens, and three tokens have been added: \texttt{<a>}, \texttt{<a>b} and \texttt{b<a>c}. Which tokens does a text become that consists of the nine signs \texttt{<a>b<a>c}?}{\texttt{make
exercise-W4-1}}{At the first place the longest is \texttt{<a>b}. What remains is \texttt{<a>c}, in which \texttt{<a>} is found; a \texttt c is left. The longest of all, \texttt{b<a>c}, began later.}
\exercise{think}{ex:vocab.most}{A vocabulary of characters has all bytes as a last resort, and puts a block before the text, as Llama~2's does. How many ids can a text of $n$ characters have at the most? Give a formula in $n$.}{\texttt{make
exercise-W4-2}}{A character that is no piece becomes its bytes, at most four, and nothing joins them; the block is one id more where nothing begins with it: $4n+1$. Faces reach it.}
\exercise{build}{ex:vocab.shortest}{Let the search for added tokens take the \emph{shortest} that begins at a place, and of the places still the first. What would a file with both \texttt{<s>} and \texttt{<s>x} never find?}{\texttt{make
exercise-W4-3}}{A |break| after |*length = i + 1|. The longer of two that begin alike would never be found again.}
\end{exercises}
