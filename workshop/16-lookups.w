@i types.w
@s pcre2_code int
@s pcre2_general_context int
@s pcre2_compile_context int
@s pcre2_match_context int
@s pcre2_match_data int
@s pcre2_jit_stack int
@s PCRE2_SIZE int

\chapterquestion{Three questions come up once for every pair of neighbours in a text. How are they answered in a few steps, even when the text is
meant to make them slow?}
@** Hash tables, a heap, and patterns. \label{sec:lookups}
\incipit{T}{okenization asks} three questions, over and over: what is the number of this pair of ids, what is the number of this string of
bytes, and what comes next, in order of importance? Two hash tables answer the first two, and a heap answers the third. C's library has none of them, so here they are; if you
have written such structures before, you lose nothing by skipping them. A fourth question is asked once for every word: where does the next piece of the text end? We leave it to the library PCRE2, and
the second half of this chapter is the layer between that library and \cref{tokens}. Patterns and grammars (\cref{constraints}) use the tables as well.

@* Two hash tables. \label{sec:tables}
The question about pairs is asked most often: once for every two neighbours in a text. A \emph{hash table}
answers it in a few steps, however many pairs it holds. It is an array of slots. From the pair we
compute the index of a slot, by a rule that sends similar pairs to places far apart, and
we begin to look there. A value of 0 marks a free slot, which is why the numbers in a table begin with 1;
a separate flag would make every slot a third larger.
@^hash table@>

@<A table from pairs to numbers@>=
struct pair_slot {@+ uint32_t left, right, value;@+ };
  /* a pair and its value; 0: the slot is free */
struct pair_map {@+ struct pair_slot *slot;@+ size_t cap, used;@+ };
  /* |cap| slots, a power of two, at most half of them used; a slot whose
     value is 0 is free; all zero is an empty table */
bool pair_map_put(struct memory *m, struct pair_map *p, uint32_t left,
  uint32_t right, uint32_t value, struct error *why);
  /* enters |value| $\ge 1$ for a pair, in place of an older one */
uint32_t pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right);
  /* the value of a pair, 0 if there is none */
void pair_map_free(struct memory *m, struct pair_map *p);
  /* returns the block and empties the table */

@ The index comes from a product: the pair as one number of 64 bits, times a large odd
constant. We take bits from the middle of the product, where all bits of both ids have had their
influence. If another pair is already in that slot, the next one is tried, and so on around the
table; this is called \emph{linear probing}. When a fraction $\alpha$ of the slots is used, an unsuccessful search looks at
${1\over2}\bigl({1+1/(1-\alpha)^2}\bigr)$ of them on average, if the rule is as good as chance \cited{Knuth 1998}. For $\alpha={1\over2}$ that
is two and a half; at nine tenths it would be twenty times as many. That is why we leave half of the slots free.
@^linear probing@>

@<Find a pair's slot, or the free one where it belongs@>=
static size_t pair_place(const struct pair_map *p, uint32_t left, uint32_t right)
{
  uint64_t h = ((uint64_t) left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
  size_t i = (size_t) (h >> 32) & (p->cap - 1);
  while (p->slot[i].value != 0
      && (p->slot[i].left != left || p->slot[i].right != right))
    i = (i + 1) & (p->cap - 1);
  return i;
}
  /*- The multiplier is 2^64 divided by the golden ratio; the upper half of the product is mixed
    best. */
@#
uint32_t pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right)
{
  return p->cap == 0 ? 0 : p->slot[pair_place(p, left, right)].value;
}

@ Crowding is the one thing that can go wrong with a hash table without any answer being wrong. Neighbouring ids
are a hard test for the rule, since they differ in few bits. After \val{lookups.pairs} pairs $(i, i+1)$ have been entered, the table has
\val{lookups.slots} slots, and the longest run of used ones has \val{lookups.crowd}: no search looks at more than one slot beyond that number.\lab{lab:tokenscrowd}

A table that would become more than half full is replaced by one of twice the size. Its slots
are not copied but entered again, because in the larger table a pair may belong in another slot. All doublings together enter
fewer than two pairs for each pair that the table holds in the end, since each doubling has half as many to move as the next.

@<Give a table of pairs twice the room@>=
static bool pair_map_grow(struct memory *m, struct pair_map *p, struct error *why)
{
  struct pair_map larger = @[{ NULL, p->cap == 0 ? 64 : 2 * p->cap, p->used }@];
  larger.slot = memory_alloc(m, MEMORY_TOKENS, larger.cap, sizeof *larger.slot, why);
  if (larger.slot == NULL) return false;
  for (size_t i = 0; i < p->cap; i++) {
    const struct pair_slot *s = &p->slot[i];
    if (s->value != 0) larger.slot[pair_place(&larger, s->left, s->right)] = *s;
  }
  pair_map_free(m, p);
  *p = larger;
  return true;
}
  /*- Every slot depends on cap, so each entry is placed anew. The old table stays until the new
    one is full. */

@ To enter a pair, we find its slot and write there; if the slot was free, one more is in use.
Nothing is ever deleted from a table. Deleting would be the only difficult operation: a slot that became free in the
middle of a run of used slots would end searches that have to continue past it.

@<Enter a pair, and return the table@>=
bool pair_map_put(struct memory *m, struct pair_map *p, uint32_t left,
  uint32_t right, uint32_t value, struct error *why)
{
  /*- at most half full: runs of taken slots stay short, and a search finds a free one */
  if (2 * (p->used + 1) > p->cap && !pair_map_grow(m, p, why)) return false;
  struct pair_slot *s = &p->slot[pair_place(p, left, right)];
  if (s->value == 0) p->used++;
  *s = (struct pair_slot) @[{ left, right, value }@];
  return true;
}
@#
void pair_map_free(struct memory *m, struct pair_map *p)
{
  memory_free(m, p->slot);
  *p = (struct pair_map) @[{ NULL, 0, 0 }@];
}

@ The second table is the same with strings of bytes as keys. It does not own the bytes; it
points to them, so they must stay where they are for as long as the table is used.

@<A table from strings to numbers@>=
struct name_slot {@+ const unsigned char *byte;@+ size_t n;@+ uint32_t value;@+ };
  /* |n| bytes and their value; 0: the slot is free */
struct name_map {@+ struct name_slot *slot;@+ size_t cap, used;@+ };
  /* like |struct pair_map|; the bytes belong to the caller and stay where they are */
bool name_map_put(struct memory *m, struct name_map *p, const unsigned char *byte,
  size_t n, uint32_t value, struct error *why);
  /* enters |value| $\ge 1$ for a string of |n| bytes, in place of an older one */
uint32_t name_map_get(const struct name_map *p, const unsigned char *byte,
  size_t n);
  /* the value of a string, 0 if there is none */
void name_map_free(struct memory *m, struct name_map *p);
  /* returns the block and empties the table */

@ The hash of a string is computed from all of its bytes: each is combined with the result so far, which is then multiplied by a constant.
The function is known as FNV-1a.\side{By Fowler, Noll and Vo, in 1991 \cited{Noll 2026}. Its constants
are a prime and an offset that were chosen by trying.} A multiplication carries upwards only, so the lowest bits of the product do not depend on
the upper bits of any byte. Since the index is taken from the lowest bits, we first fold the upper half over them. The table grows and is filled as that of the pairs (\.{unwoven/lookups/names.inc}).
@^hash function@>

@<Find a string's slot, or the free one where it belongs@>=
static size_t name_place(const struct name_map *p, const unsigned char *byte,
  size_t n)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t k = 0; k < n; k++) h = (h ^ byte[k]) * UINT64_C(0x100000001b3);
  size_t i = (size_t) (h ^ h >> 32) & (p->cap - 1);
  while (p->slot[i].value != 0 && (p->slot[i].n != n
      || memcmp(p->slot[i].byte, byte, n) != 0))
    i = (i + 1) & (p->cap - 1);
  return i;
}
  /*- FNV-1a, whose upper bits are the better ones; they are folded into the lower, which we use.
    */
@#
uint32_t name_map_get(const struct name_map *p, const unsigned char *byte, size_t n)
{
  return p->cap == 0 ? 0 : p->slot[name_place(p, byte, n)].value;
}

@* A heap. \label{sec:heap}
The third structure answers ``what comes next?''. It is a heap of entries with two keys
each: the first decides, and where it is equal, the second. The encoder uses rank
and place, the trainer count and pair; for both, the smallest entry is the next. With only one key, the order of two equal
entries would depend on what was in the heap before, and a vocabulary must not depend on that.
@^heap@>

\begin{byhand}{five things to do}
A \emph{heap} is an array that is read as a tree: below place $i$ are the places $2i+1$ and $2i+2$, and no number
has a smaller one below it. Put in 5, 2, 8, 1, 4, one after another. Each number is added
at the end and changes places with the one above it for as long as that one is larger:

\medskip
\begin{tabular}{@@{}rll@@{}}
\tabhead{in} & \tabhead{the array} & \tabhead{what moved}\\
5 & 5 & \\
2 & 2 5 & 2 above 5\\
8 & 2 5 8 & \\
1 & 1 2 8 5 & 1 above 5, then above 2\\
4 & 1 2 8 5 4 & 4 is larger than 2, and stays below it
\end{tabular}
\medskip

The smallest is always at the top. When it is taken out, the last number takes its place and sinks, on
the side of the smaller of the two below it: 4 comes to the top, 2 rises above it, and the array is
2 4 8 5. Taking out all of them gives 1, 2, 4, 5, 8.
\end{byhand}

@<A heap of things to do@>=
struct heap_item {@+ uint64_t key, tie;@+ };
  /* what a heap orders: by |key|, of equals by |tie| */
struct heap {@+ struct heap_item *item;@+ size_t n, cap;@+ };
  /* |item[0]| is the smallest; |item[i]| is not larger than |item[2*i + 1]| and
     |item[2*i + 2]|; all zero is empty */
bool heap_push(struct memory *m, struct heap *h, struct heap_item e, struct error *why);
  /* puts an entry in; on failure the heap is as it was */
struct heap_item heap_pop(struct heap *h);
  /* takes the smallest of |h->n| $\ge 1$ entries out */
void heap_free(struct memory *m, struct heap *h);
  /* returns the block and empties the heap */

@ The order of two entries is defined in one place. The trainer wants the largest count first and not the smallest, so it enters the complement of a count.

@<Put an entry into the heap@>=
static bool comes_before(struct heap_item a, struct heap_item b)
{
  return a.key < b.key || (a.key == b.key && a.tie < b.tie);
}
  /*- The tie makes the order total, so what comes out does not depend on the order of going in. */

@ A new entry begins at the end and rises: as long as the entry above it is larger, that one moves
down. The number of steps is at most the depth of the heap, the logarithm of its size. The new entry is written once, when its place
is known; until then a hole rises instead of it.

@<Put an entry into the heap@>=
bool heap_push(struct memory *m, struct heap *h, struct heap_item e, struct error *why)
{
  struct heap_item *p = memory_reserve(m, MEMORY_TOKENS, h->item, &h->cap, h->n + 1, 32,
    sizeof *p, why);
  if (p == NULL) return false;
  h->item = p;
  size_t i = h->n++;
  /*- The entry is written once, at the end: those above it move down a place. */
  for (; i > 0 && comes_before(e, h->item[(i - 1) / 2]); i = (i - 1) / 2)
    h->item[i] = h->item[(i - 1) / 2];
  h->item[i] = e;
  return true;
}

@ When the smallest is taken out, the last entry takes the free place at the top and sinks,
always on the side of the smaller of the two entries below it, until neither comes before it. On the other side the larger of the two would
end up above the smaller.

@<Take the smallest entry out@>=
struct heap_item heap_pop(struct heap *h)
{
  struct heap_item top = h->item[0], last = h->item[--h->n];
  size_t i = 0;
  for (;;) {
    size_t next = 2 * i + 1;
    /*- the smaller of the two below */
    if (next + 1 < h->n && comes_before(h->item[next + 1], h->item[next])) next++;
    if (next >= h->n || !comes_before(h->item[next], last)) break;
    h->item[i] = h->item[next];
    i = next;
  }
  h->item[i] = last;
  return top;
}
@#
void heap_free(struct memory *m, struct heap *h)
{
  memory_free(m, h->item);
  *h = (struct heap) @[{ NULL, 0, 0 }@];
}

@ The two tables and the heap have a header of their own, since grammars use them too (\cref{constraints}).

@(table.h@>=
#ifndef INCIPIT_TABLE_H
#define INCIPIT_TABLE_H
#include "ground/ground.h"
@<A table from pairs to numbers@>@;
@<A table from strings to numbers@>@;
@<A heap of things to do@>@;
#endif

@ The file has the two tables, and then the heap.

@(table.c@>=
@;
/** Two hash tables, from a pair of ids and from a string to a number, and a heap. The tables are
  open: an entry stands at its hash or at the next free slot after it. A value of 0 marks a free
  slot, so callers store numbers from 1 on. No entry is ever taken out, and half of the slots are
  free at least, so a search always meets a free slot and ends. Names are borrowed, and must
  outlive the table. Entries of the heap with equal keys leave it by their tie. */
#include <string.h>
#include "lookups/table.h"
@<Find a pair's slot, or the free one where it belongs@>@;
@<Give a table of pairs twice the room@>@;
@<Enter a pair, and return the table@>@;
@<Find a string's slot, or the free one where it belongs@>@;
#include "lookups/names.inc"
@<Put an entry into the heap@>@;
@<Take the smallest entry out@>@;

@* Pre-tokenization with PCRE2. \label{sec:pcre}
\Cref{sec:split} says what a pre-tokenizer is for, and what the published patterns mean. PCRE2 compiles such a pattern to machine code. A
\emph{splitter} is a compiled pattern; the pieces of a text are its matches \emph{and} what
lies between them, in order, so that no byte of the text is lost even where a pattern
forgets one. Some of the files of \cref{tokenizer} cut at a plain string instead, in which a dot is a dot; the flag |literal|
is for them.
@^PCRE2@>

@<A pattern that cuts@>=
struct splitter;
struct splitter *splitter_open(struct memory *m, const char *pattern,
  size_t n, bool literal, struct error *why);
  /* compiles |n| bytes of pattern, as they stand if |literal|; |m|
     must outlive the splitter, which is not changed by its use; null
     and a sentence */
void splitter_close(struct splitter *s);
  /* returns all of it; closing a null does nothing */
bool splitter_same(const struct splitter *a, const struct splitter *b);
  /* do they cut by the same pattern? */
void splitter_unicode(char version[24]);
  /* which version of Unicode the patterns know, as in \.{"14.0.0"} */
extern const char split_gpt2[], split_llama3[];
  /* the patterns of GPT-2 and of Llama 3 */

@ Cutting goes piece by piece, so that the longest text needs no list of its pieces. The splitter is
what is compiled once; |struct pieces| is a text on its way through it, and remembers how far we are (|at|) and where the next
match was found (|from|, |to|). A search needs a place for its result, and some memory to search in. If these were in the splitter, only one thread at a time could use it, and with it the whole tokenizer. So the caller supplies them, as a |struct split_work|, and a splitter is only read.

@<A pattern that cuts@>=
struct split_work {@+ struct memory *m;@+ void *general, *result, *limits,
  *stack;@+ };
  /* |m| is set by the caller, the rest begins as null and is PCRE2's;
     serves all splitters and all cuttings of one thread, even one
     inside another */
void split_work_free(struct split_work *w);
  /* returns what the searches took; it may be used again */
struct text_piece {@+ const unsigned char *byte;@+ size_t n;
  bool match;@+ };
  /* |n| bytes inside the text; were they a match, or did they lie between
     two? */
struct pieces {@+ const struct splitter *by;@+ struct split_work *work;
  const unsigned char *text;@+ size_t n, at, from, to;@+ bool known, full;@+ };
  /* a text that is being cut; for |pieces_next| only */
void pieces_begin(struct pieces *p, const struct splitter *by,
  struct split_work *w, const unsigned char *text, size_t n);
  /* begins to cut |n| bytes, which must be whole characters; with a
     null splitter the text is one piece, and |w| may be null */
bool pieces_next(struct pieces *p, struct text_piece *next,
  struct error *why);
  /* the next piece; |next->n == 0| at the end, no other piece is
     empty; false and a sentence if the pattern gives up */

@ The two patterns, exactly as their makers published them. They are long, and C joins strings that stand next to each other. \texttt{\textbackslash p\{L\}} is any letter of any script,
\texttt{\textbackslash p\{N\}} any digit, \texttt{\textbackslash s} white space; \texttt{(?!\textbackslash S)} looks at the next character without taking it.
The last two alternatives of either leave a space for the word that follows. Of two spaces before \texttt{he} the first of them takes both, sees that what
comes next is not white space, and gives one back; that one goes with the word. The very last alternative takes single white space that no word wants.
@^Llama 3@>

@<The published patterns@>=
const char split_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d|"@|
  " ?\\p{L}+| ?\\p{N}+|"@| " ?[^\\s\\p{L}\\p{N}]+|"@|
  "\\s+(?!\\S)|\\s+";
const char split_llama3[] = "(?i:'s|'t|'re|'ve|'m|"@| "'ll|'d)|"@|
  "[^\\r\\n\\p{L}\\p{N}]?"@| "\\p{L}+|\\p{N}{1,3}|"@|
  " ?[^\\s\\p{L}\\p{N}]+"@| "[\\r\\n]*|\\s*[\\r\\n]+|"@|
    "\\s+(?!\\S)|\\s+";

@ One thing in them has more than one meaning. The \texttt{\textbackslash s} of the tokenizers is Unicode's
property |White_Space|. PCRE2's \texttt{\textbackslash s} with Unicode switched on has one character more,
U+180E, the Mongolian vowel separator, which was a space until Unicode~6.3. So \texttt{\textbackslash s} is
rewritten before compiling, and \texttt{\textbackslash S} likewise; inside brackets, too, where a property may stand
as well as a class. A backslash is read together with what follows it, so that an escaped backslash before an \texttt s stays as it is: in \texttt{\textbackslash\textbackslash s} the letter is a letter.
@^white space@>

The letters of a word, \texttt{\textbackslash w}, are another such thing. PCRE2 means letters, numbers and the underscore. The library for which the files were written means all that Unicode calls alphabetic, marks, decimal digits, punctuation that joins words and, by an accident of its tables, six signs
that are numbers but not decimal: three raised digits and three fractions. (We asked it about every character of Unicode.) Outside of brackets the list becomes a class of its own. Inside of brackets the opposite, \texttt{\textbackslash W}, cannot be written so, and \cref{tokenizer-json} refuses it there.

@<Rewrite white space and words in a pattern@>=
#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}" SIGNS
#define SIGNS "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"
static const char *rewritten(char c, bool in_class)
{
  switch (c) {
  case 's': return "\\p{White_Space}";
  case 'S': return "\\P{White_Space}";
  case 'w': return in_class ? WORD : "[" WORD "]";
  /*- not in a class, where it cannot be written as a list */
  case 'W': return in_class ? NULL : "[^" WORD "]";
  default: return NULL;
  }
}
@#
/*- Only what PCRE2 understands otherwise than the pattern's author is rewritten: white space and
  words. A backslash takes its next character with it, so a bracket that is quoted opens no class.
  */
static bool rewrite(struct memory *m, const char *pattern, size_t n,
  struct bytes *out, struct error *why)
{
  bool in_class = false;
  for (size_t i = 0; i < n;) {
    size_t length = pattern[i] == '\\' && i + 1 < n ? 2 : 1;
    const char *put = pattern + i;
    const char *instead = length == 2 ? rewritten(put[1], in_class) : NULL;
    i += length;
    if (length == 1 && *put == '[') in_class = true;
    else if (length == 1 && *put == ']') in_class = false;
    if (instead != NULL) put = instead, length = strlen(instead);
    if (!bytes_push(m, out, put, length, why))@+ return false;
  }
  return true;
}

@ PCRE2 asks for memory through two functions of ours, so its blocks are in our accounts. A refusal is a null here, and the
caller of PCRE2 finds the words for it. Only the machine code is not counted: PCRE2 asks the
system itself for those pages.

@<Let PCRE2 take its memory from ours@>=
static void *take_for_pcre2(size_t n, void *m)
{
  return memory_alloc(m, MEMORY_TOKENS, n, 1, NULL);
}
@#
static void give_for_pcre2(void *block, void *m)
{
  memory_free(m, block);
}

@ A splitter keeps two things of PCRE2: where memory comes from, and the code. A hash of the pattern's text is kept as well, since PCRE2 does not return the text and a writer of files wants to know which pattern it was. Once a pattern has been compiled, any number of threads may search with it.

@<What a splitter holds@>=
struct splitter {
  struct memory *home;
  pcre2_general_context *general;
  pcre2_code *code;
  uint64_t mark; /* FNV-1a of the pattern, and whether it is literal */
};

@ Opening takes two steps, rewriting and compiling. Each is tried only if the one before it went well, so the chain of
|&&| stops at the first that fails, with its message in |why|. What was made until then is freed by the function that closes a splitter at the
end of its life; a second list of what to undo could forget something.

@<Compile a pattern@>=
struct splitter *splitter_open(struct memory *m, const char *pattern,
  size_t n, bool literal, struct error *why)
{
  struct splitter *s = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *s, why);
  if (s == NULL)@+ return NULL;
  s->home = m;
  s->general = pcre2_general_context_create(take_for_pcre2,
    give_for_pcre2, m);
  struct bytes text = @[{ NULL, 0, 0 }@];
  /*- Each step runs only if the one before went well; splitter_close undoes whatever there is. */
  bool ok = s->general != NULL || error_say(why,
    "out of memory for a pattern");
  ok = ok && (literal ? bytes_push(m, &text, pattern, n, why)
    : rewrite(m, pattern, n, &text, why));
  ok = ok && compile(s, &text, literal, why);
  s->mark = literal;
  for (size_t i = 0; i < text.n; i++)
    s->mark = (s->mark ^ text.byte[i]) * 1099511628211u;
  bytes_free(m, &text);
  if (ok)@+ return s;
  splitter_close(s);
  return NULL;
}

@ Unicode properties are switched on, and \texttt{\textbackslash C}, which could cut a character in two, off. A literal pattern
has neither, so it gets neither option, which PCRE2 would refuse together. If there
is no machine code to be had, on a system that forbids it or for lack of memory, the
interpreter serves: it finds the same matches, only more slowly. So we ignore what |pcre2_jit_compile| returns. What is wrong with a bad pattern goes into the message, with the place; the caller knows
from which file it came.

@<Have PCRE2 compile it@>=
static bool compile(struct splitter *s, const struct bytes *text,
  bool literal, struct error *why)
{
  int code = 0;
  PCRE2_SIZE place = 0;
  pcre2_compile_context *c = pcre2_compile_context_create(s->general);
  if (c == NULL) return error_say(why, "out of memory for a pattern");
  s->code = pcre2_compile(text->n > 0 ? text->byte : (PCRE2_SPTR) "",
    text->n, PCRE2_UTF | (literal ? PCRE2_LITERAL
    : PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C),
    &code, &place, c);
  pcre2_compile_context_free(c);
  if (s->code != NULL) {
    /*- The result is ignored: without machine code the interpreter finds the same matches, later.
      */
    pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE);
    return true;
  }
  unsigned char words[160] = "";
  pcre2_get_error_message(code, words, sizeof words);
  return error_say(why, "%s at byte %zu", (const char *) words,
    (size_t) place);
}

@ What a thread needs for its searches is made at the first of them. A result has room for one pair of numbers, where the
match begins and where it ends; groups inside the pattern are not needed. The limits are set later, for each text that is cut.

@<Make room for the searches@>=
static bool make_room(struct split_work *w, struct error *why)
{
  if (w->limits != NULL) return true;
  if (w->general == NULL) w->general =
    pcre2_general_context_create(take_for_pcre2, give_for_pcre2, w->m);
  if (w->general != NULL && w->result == NULL)
    w->result = pcre2_match_data_create(1, w->general);
  if (w->result != NULL)
    w->limits = pcre2_match_context_create(w->general);
  return w->limits != NULL
    || error_say(why, "out of memory for a pattern");
}

@ All of it is freed in the opposite order, and PCRE2's functions accept a
null for what was never made. In the same way |splitter_close| serves both a splitter that has done its work and one that was never finished.

@<Make room for the searches@>=
void split_work_free(struct split_work *w)
{
  pcre2_jit_stack_free(w->stack);
  pcre2_match_context_free(w->limits);
  pcre2_match_data_free(w->result);
  pcre2_general_context_free(w->general);
  *w = (struct split_work) @[{ .m = w->m }@];
}
void splitter_close(struct splitter *s)
{
  if (s == NULL)@+ return;
  pcre2_code_free(s->code);
  pcre2_general_context_free(s->general);
  memory_free(s->home, s);
}

@ A search goes on from where the last one ended. PCRE2 counts the steps of a search and gives up
after too many, which protects against patterns that try everything. Its own limit, \given{10\,000\,000} steps, is the same for every text. The published patterns need a few
steps a letter; so we add |100| for every byte, which leaves them room and still ends the others. The number must fit into 32 bits. From texts of 20 MB on, well before it would not,
we take the largest that fits. It is set before every search, because between two searches a piece of this text may have been cut by another pattern with the same |struct split_work|.

@<Begin to cut@>=
void pieces_begin(struct pieces *p, const struct splitter *by,
  struct split_work *w, const unsigned char *text, size_t n)
{
  *p = (struct pieces) @[{ .by = by, .work = w, .text = text, .n = n }@];
  if (by == NULL) p->from = p->to = n, p->known = true;
}
/*- Against patterns that try everything. 100 steps a byte are plenty for those that are published;
  set anew before each search, since another pattern may have been searched with this work
  meanwhile. */
static void set_limit(struct split_work *w, size_t n)
{
  size_t limit = n < 20000000 ? 10000000 + 100 * n : UINT32_MAX;
  pcre2_set_match_limit(w->limits, (uint32_t) limit);
}

@ If no match is left, we report an empty one at the end of the text, so that the caller needs no
third case. After an empty match we set |full|, which forbids another empty match at the same place; otherwise the search would return the
same one forever. We know that the text is UTF-8 and tell PCRE2 not to check it: it would read the whole text at every search, a text of $n$ pieces $n$ times.

@<Look for the next match@>=
static bool look(struct pieces *p, struct error *why)
{
  const struct splitter *s = p->by;
  struct split_work *w = p->work;
  /*- The text is UTF-8, and PCRE2 would check the rest of it at each search. After an empty match
    another at the same place is forbidden, or we would find it for ever. */
  uint32_t options = PCRE2_NO_UTF_CHECK | (p->full
    ? PCRE2_NOTEMPTY_ATSTART : 0);
  int got;
  if (!make_room(w, why)) return false;
  set_limit(w, p->n);
  @<Search, and once more without machine code if its stack ends@>@;
  p->from = p->to = p->n;
  p->known = true;
  if (got == PCRE2_ERROR_NOMATCH)@+ return true;
  if (got < 0)@+ return pcre2_error(got, p->at, why);
  const PCRE2_SIZE *found = pcre2_get_ovector_pointer(w->result);
  p->from = found[0], p->to = found[1];
  /*- a look-around can make a match end before it begins */
  return (p->at <= p->from && p->from <= p->to)
    || error_say(why, "the pattern matches backwards at byte %zu",
    p->at);
}

@ The machine code searches on a stack of 32 kilobytes, and a pattern that remembers many places to come back to may reach its end. The size of a stack must
not decide what the pieces are. So the search is done again with a stack that may grow to a megabyte, which most texts never need. If that is not enough either, PCRE2's interpreter does the search, which may use as much memory as we have.

@<Search, and once more without machine code if its stack ends@>=
got = pcre2_match(s->code, p->text, p->n, p->at, options,
  w->result, w->limits);
if (got == PCRE2_ERROR_JIT_STACKLIMIT && w->stack == NULL) {
  w->stack = pcre2_jit_stack_create(32 * 1024, 1024 * 1024, w->general);
  pcre2_jit_stack_assign(w->limits, NULL, w->stack);
  got = pcre2_match(s->code, p->text, p->n, p->at, options,
    w->result, w->limits);
}
if (got == PCRE2_ERROR_JIT_STACKLIMIT)
  got = pcre2_match(s->code, p->text, p->n, p->at,
    options | PCRE2_NO_JIT, w->result, w->limits);

@ The message also says where in the text the search gave up: the text is unusual as often as the pattern.

@<Say why a search failed@>=
static bool pcre2_error(int code, size_t at,
  struct error *why)
{
  unsigned char words[160] = "";
  pcre2_get_error_message(code, words, sizeof words);
  return error_say(why, "cutting the text at byte %zu: %s", at,
    (const char *) words);
}

@ The next piece is what lies before the match, if anything does, and then the match, if it is not
empty. So one match may give two pieces, and it is kept (|known|) until both have been given out. An empty match is not a piece, but it ends the one before it, as it does in other languages'
libraries: a pattern that matches nothing but the place between \texttt a and \texttt b cuts \texttt{ab} in two. The loop ends, since
every round either moves |at| or sets |full|, after which the next match is not empty, or lies further on. A text without bytes may come as a null, and nothing may be added to a null, not even 0;
so the place of a piece is computed only where there is one.

@<Cut off the next piece@>=
bool pieces_next(struct pieces *p, struct text_piece *next,
  struct error *why)
{
  *next = (struct text_piece) @[{ p->text, 0, false }@];
  /*- Ends: each round moves at, or sets full, after which the next match is not empty or lies
    further on. */
  while (p->at < p->n) {
    if (!p->known && !look(p, why))@+ return false;
    /*- here and not before: a text of no bytes may be null */
    next->byte = p->text + p->at;
    if (p->at < p->from) {
      next->n = p->from - p->at;
      p->at = p->from;
      return true;
    }
    p->known = false, p->full = p->from == p->to;
    /*- an empty match is no piece, but it ends the one before it */
    if (p->full)@+ continue;
    next->n = p->to - p->from, next->match = true;
    p->at = p->to;
    return true;
  }
  return true;
}

@ Unicode grows every year, and with it the letters that \texttt{\textbackslash p\{L\}} stands for. So which
piece a new character belongs to depends on the library's version; \.{incipit --version}
prints it. The PCRE2 that made this book knows Unicode \val[raw]{tokens.unicode}. A text with a letter that is younger may be cut differently by
different machines, as it is by Hugging Face's library, which has a version of its own.

@<Ask for the version of Unicode@>=
bool splitter_same(const struct splitter *a, const struct splitter *b)
{@+ return a == b || (a != NULL && b != NULL && a->mark == b->mark);@+ }
void splitter_unicode(char version[24])
{
  if (pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, NULL) > 24
      || pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version) < 0)
    strcpy(version, "?");
}

@ The header needs nothing of PCRE2. To put
another library in its place, or to match the two patterns by hand, one file has to change.

@(split.h@>=
#ifndef INCIPIT_SPLIT_H
#define INCIPIT_SPLIT_H
#include "ground/ground.h"
@<A pattern that cuts@>@;
#endif

@ PCRE2 comes in three widths of characters, and each file says which one it uses. Ours are eight bits wide.

@(split.c@>=
@;
/** Cutting a text at the matches of a pattern, with PCRE2. The only file that knows PCRE2. A
  splitter is compiled once and only read afterwards, so any number of threads may search with it;
  what a search changes is in the thread's own |struct split_work|. Neither the machine code that
  PCRE2 makes nor the size of its stack may decide what the pieces are: whatever fails for lack of
  those is searched again without. PCRE2's memory is ours, and counted. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>
#include "ground/buffers.h"
#include "lookups/split.h"
@<The published patterns@>@;
@<Rewrite white space and words in a pattern@>@;
@<Let PCRE2 take its memory from ours@>@;
@<What a splitter holds@>@;
@<Have PCRE2 compile it@>@;
@<Make room for the searches@>@;
@<Compile a pattern@>@;
@<Say why a search failed@>@;
@<Begin to cut@>@;
@<Look for the next match@>@;
@<Cut off the next piece@>@;
@<Ask for the version of Unicode@>@;
