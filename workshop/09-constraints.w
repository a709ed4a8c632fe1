@i types.w
@s array int
@s pair_map int
@s name_map int
@s heap int
@s heap_item int
@s tokenizer int
@s store int
@s pass int
@s row int

\chapterquestion{Can a program rely on the form of what a model writes?}
@** Constrained decoding: patterns and grammars. \label{sec:constraints}
\incipit{A}{program that asks} a model for a date, for a yes or a no, for an object in JSON, gets what a model writes: most of the time a date, and sometimes a remark about dates.
It can ask again. It can also make everything else impossible. A model's last step is to choose one token of many; if at each step we forbid all tokens after which the text could no longer
be completed to the required form, the text has that form every time, whatever the model prefers. This is \emph{constrained decoding}.
@^constrained decoding@>

The form is given by a \emph{regular expression} or by a \emph{grammar}. Both describe letters, and tokens are not letters. A token may end in the middle of a word, or even of a character, or contain the end of one
thing and the beginning of two others: \texttt{"\char125,}, a common token in JSON, ends a string, closes an object and goes on in the list around it. So the constraint is a machine that reads bytes, and a token is allowed in a state of the machine if the machine can read all its bytes from there. We must know which tokens these are, out of
\given{128\,256} in Llama~3's vocabulary, before the next one is chosen, and finding out should take less time than the model takes for a token.

There is a second problem. The length of a text is limited, and the model does not know the limit. If an object is cut off in the middle, it was useless to obey the constraint up to there. So for each state we also
compute how many tokens it takes to complete the text, and forbid a token that leads too far away for the tokens that are left. Then every text is complete, and a limit that is too small is refused before anything is written. For most constraints this number is the least possible; for some it may be larger than necessary (\cref{sec:cost}).

\begin{byhand}{a laugh}
The pattern is \texttt{(ha)+!}, and the pieces of the vocabulary are \tok{h}, \tok{a}, \tok{!}, \tok{ha}, \tok{ah}, \tok{a!}, \tok{haha}. The machine has four states. In state 0 it has read nothing; in state 1, an \texttt{h} whose \texttt{a} must follow; in state 2, a whole
\texttt{ha}; in state 3, the exclamation mark, after which nothing may follow. We read each piece letter by letter from each state. A dash means that the piece cannot come there.

\medskip
\begin{tabular}{@@{}llllllllr@@{}}
\tabhead{state} & \tabhead{h} & \tabhead{a} & \tabhead{!} & \tabhead{ha} & \tabhead{ah} & \tabhead{a!} & \tabhead{haha} & \tabhead{tokens to the end}\\
0 & 1 & - & - & 2 & - & - & 2 & 2\\
1 & - & 2 & - & - & 1 & 3 & - & 1\\
2 & 1 & - & 3 & 2 & - & - & 2 & 1\\
3 & - & - & - & - & - & - & - & 0
\end{tabular}
\medskip

We compute the last column from the bottom up. State 3 is the end. From states 1 and 2 one token leads there; from state 0 none does, but some lead to 1 or 2, so the least is 2 tokens. A limit of 1 is refused. With two tokens left, state 0 allows \tok{h}, \tok{ha} and \tok{haha}, and state 1
allows \tok{a}, \tok{ah} and \tok{a!}. With one token left, state 1 allows only \tok{a!}, and state 2 only \tok{!}.
\end{byhand}

@ The module has a header for its users, |constraint.h|, and a smaller one, |bond.h|, that ties a text to a constraint. Besides |bond.c| it has five files: |pattern.c| and |grammar.c| parse the two languages, |parser.c| has what both parsers need, |net.c| makes the same kind of network from both, and |constraint.c| runs tokens through it. As everywhere in this book, a function that other files call is named after the thing
that it works on: |parser_hex| and |parser_set| for a parser, |net_free| for a network. The program
prints the table of the hand calculation.

@c
#include <stdio.h>
#include <string.h>
#include "constraints/constraint.h"
@;@#
@<Make the table of the hand calculation@>@;
@#
int main(void)
{
  static struct memory m;
  struct error why;
  bool ok = laugh_aloud(&m, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@* The interface of a constraint. \label{sec:constraintface}
A constraint is made from a pattern or a grammar. It can check a whole text, for which it needs no vocabulary, or work token by token. It computes its states on demand, so even a question may fail for lack of memory. A state is a number;
a caller can keep numbers beside a text more easily than pointers, and can compare them.

@<A constraint@>=
struct constraint;
struct constraint *constraint_regex(struct memory *m, const char *pattern,
  size_t n, struct error *why);
  /* the texts that a pattern of |n| bytes matches as a whole; owned by the
     caller; |m| must outlive it; NULL and a sentence that names the byte */
struct constraint *constraint_grammar(struct memory *m, const char *name,
  const char *text, size_t n, struct error *why);
  /* the texts that rule \.{root} of a grammar of |n| bytes makes; |name|, of
     the file, is for error messages, which name the line, or the byte that
     is not UTF-8; otherwise as above */
extern const char constraint_json[];
  /* a grammar of one JSON object (RFC 8259), with bounded white space and
     numbers */
void constraint_free(struct constraint *c);
  /* frees all of it; NULL does nothing */
bool constraint_matches(struct constraint *c, const char *text, size_t n,
  bool *yes, struct error *why);
  /* is the whole text of |n| bytes one of them? Fails only for lack of memory,
     or at one of the limits of \.{constraint.c}, which it names */

@ The caller gives the vocabulary as pieces: for each id its bytes. The same vocabulary serves many constraints, and sorting it takes longer than compiling most patterns; so it is done once, in an object of its own, a \emph{lexicon}. The
caller says which ids may be used at all. Special tokens may not, since their names are not text. The end-of-text token is not in the lexicon either; the constraint decides when it may come.

@<A vocabulary in order@>=
struct token_bytes { const unsigned char *byte; size_t n; };
  /* the |n| bytes of a token */
struct lexicon;
struct lexicon *lexicon_open(struct memory *m, const struct token_bytes *spelt,
  const bool *usable, size_t vocab_size, struct error *why);
  /* sorts |vocab_size| pieces and keeps a copy; an id that is not
     |usable| (NULL: all are) or has no bytes is never allowed; |m| must
     outlive it; NULL and a sentence if there is no memory */
void lexicon_close(struct lexicon *l);
  /* frees all of it; NULL does nothing */
bool constraint_bind(struct constraint *c, const struct lexicon *l,
  bool strips, struct error *why);
  /* from now on |c| uses these tokens; |l| must outlive |c| or its next
     binding; |strips|: the first token of a text loses one blank at its
     front. The numbers of earlier states are invalid. False and a sentence if
     no text can be written at all, and then |c| can be bound again; or for
     lack of memory, and then the caller may only call |constraint_free| */

@ The other functions serve the steps of a loop: which tokens may come next, and to which state a chosen token leads. The budget counts the tokens that may still be written, including the next one but not an end-of-text token, which is allowed where |accepts| says
so. A caller without a limit passes |SIZE_MAX|.

@<Steps of a constraint@>=
uint32_t constraint_start(const struct constraint *c);
  /* the state in which nothing has been written */
bool constraint_mask(struct constraint *c, uint32_t state, size_t budget,
  uint8_t *allowed, bool *accepts, struct error *why);
  /* |allowed[id]|, for each id of the lexicon: 1 if the token may come next
     and |constraint_minimum| after it is at most |budget - 1|, else 0;
     |*accepts|: may the text end here? False and a sentence if neither is
     possible: it names the budget that would be enough */
bool constraint_step(struct constraint *c, uint32_t state, uint32_t id,
  uint32_t *next, struct error *why);
  /* the state after token |id|; false and a sentence if it cannot come */
bool constraint_minimum(struct constraint *c, uint32_t state, size_t *tokens,
  struct error *why);
  /* a number of tokens that complete the text: the least, but where rules
     nest or there are very many states it may be more than that;
     false and a sentence if the tokens cannot complete it at all */

@ The constraint keeps all states that it has found until it is told to forget them, or is bound again. A pattern has finitely many states; a grammar that can nest has infinitely many, and a server that has answered very many requests may tell it to forget them. One more function reports
how much is kept.

@<Steps of a constraint@>=
struct constraint_look { size_t nodes, classes, states, bytes; };
  /* nodes of the network, classes of bytes that it distinguishes, states
     found so far, bytes they take */
struct constraint_look constraint_look(const struct constraint *c);
  /* the present numbers */
bool constraint_forget(struct constraint *c, struct error *why);
  /* forgets all states but those of the beginning; all numbers are invalid,
     ask |constraint_start| again; after a failure call |constraint_free| */

@ The header. Only one thread at a time may use a constraint, because each question may add states; a lexicon does not change, and many threads may share it.

@(constraint.h@>=
#ifndef INCIPIT_CONSTRAINT_H
#define INCIPIT_CONSTRAINT_H
#include "ground/ground.h"
@<A constraint@>@;
@<A vocabulary in order@>@;
@<Steps of a constraint@>@;
#endif

@* The syntax tree. \label{sec:constraintshapes}
Patterns and grammars differ more in notation than in what they can say. Both have characters and sets of characters, sequences, choices and repetitions. A grammar also has names,
which call rules. So both parsers make the same \emph{abstract syntax trees} (AST), from six kinds of nodes. We call such a tree, or a part of one, a \emph{shape}, and keep all shapes of a text in one list, in which the number of a node serves as a pointer.
@^grammar@>

@<Shapes@>=
struct code_range { uint32_t lo, hi; };
  /* characters |lo| to |hi|, both included */
enum ast_kind { AST_EMPTY, AST_SET, AST_BOTH, AST_EITHER,
  AST_TIMES, AST_CALL };
  /* what |struct ast_node| says of each */
struct ast_node { enum ast_kind kind; uint32_t a, b, min, max; };
  /* |SET|: |b| ranges from number |a| on; |BOTH|: |a|, then |b|; |EITHER|: one
     of the two; |TIMES|: |a|, |min| to |max| times; |CALL|: rule |a| */
#define NO_AST_NODE UINT32_MAX
#define PARSER_FOREVER UINT32_MAX
#define PARSER_LAST_POINT 0x10ffff

@ There will be many lists that grow. One function adds an element to any of them and returns its address, to which the caller gives a type. The compiler cannot check this type. That is the price of writing the function once; each list is used in only a few places.

@<A list that grows@>=
struct array { void *block; size_t n, cap; };
  /* |n| elements in a block for |cap|; all zero is empty; the user of the
     list knows their size */
void *array_push(struct memory *m, struct array *l, size_t size,
  struct error *why);
  /* a new element of |size| bytes at the end, zeroed; NULL and a sentence if
     memory is refused: the list is as it was */
void array_free(struct memory *m, struct array *l);
  /* frees the block and empties the list */

@ The list grows by the rule of \cref{sec:memory}. Each new element is zeroed, because a list may have been shortened by setting |n| back, and then its block still contains old elements.

@<Make room in a list@>=
void *array_push(struct memory *m, struct array *l, size_t size,
  struct error *why)
{
  char *p = memory_reserve(m, MEMORY_TOKENS, l->block, &l->cap, l->n + 1,
    16, size, why);
  if (p == NULL) return NULL;
  l->block = p;
  return memset(p + size * l->n++, 0, size);
}

@ A list that was freed is empty and can be filled again.

@<Make room in a list@>=
void array_free(struct memory *m, struct array *l)
{
  memory_free(m, l->block);
  *l = (struct array) @[{ NULL, 0, 0 }@];
}

@ A parser goes through the text from left to right, and puts shapes and ranges into their lists. Its error messages begin with a name: that of the grammar's file, or the words \emph{the pattern}. It counts the depth because
parentheses are read by functions that call themselves, and a text of nothing but parentheses must not overflow the machine's stack.

@<A reader@>=
enum { PARSER_MAX_DEPTH = 100, PARSER_MAX_TIMES = 1000, PARSER_MAX_TEXT = 1 << 20 };
  /* limits: nesting, repetition counts, bytes of a pattern or grammar */
struct parser { struct memory *m; const char *name; const unsigned char *text;
  size_t n, at, depth; bool lines; struct array nodes, ranges;
  struct error *why; };
  /* byte |at| of |n| is next; |lines|: messages name lines, not bytes */
bool parser_begin(struct parser *r, struct memory *m, const char *name,
  const char *text, size_t n, struct error *why);
  /* checks the whole text first: false and a sentence if it is not UTF-8,
     or too long; |text| must outlive the parser */
void parser_end(struct parser *r);
  /* frees the lists */
uint32_t parser_refuse(struct parser *r, size_t at, const char *what);
  /* says |what| is wrong at byte |at|; always |NO_AST_NODE| */
uint32_t parser_node(struct parser *r, struct ast_node s);
  /* its number, or |NO_AST_NODE| */
uint32_t parser_join(struct parser *r, enum ast_kind kind, uint32_t a,
  uint32_t b);
  /* |BOTH| or |EITHER|; |NO_AST_NODE| if either is that */

@ We check first that the whole text is valid UTF-8, and name the first byte that is not, so the parsers need not check again. The text has a mebibyte at most, so 32 bits are enough to number everything that is made from
it.

@<Begin to read, and end@>=
bool parser_begin(struct parser *r, struct memory *m, const char *name,
  const char *text, size_t n, struct error *why)
{
  *r = (struct parser) @[{ .m = m, .name = name, .n = n, .why = why }@];
  r->text = (const unsigned char *) text;
  if (n > PARSER_MAX_TEXT) return error_say(why, "%s: it has %zu bytes,"@|
    " the most is %d", name, n, PARSER_MAX_TEXT);
  for (size_t i = 0, k; i < n; i += k) {
    bool whole;
    k = utf8_run(r->text + i, n - i, &whole);
    if (!whole) return error_say(why, "%s: byte %zu is 0x%02x,"@|
      " which is not UTF-8", name, i, r->text[i]);
  }
  return true;
}

@ Once the network has been made, the shapes are no longer needed. The text itself is the caller's and was not copied.

@<Begin to read, and end@>=
void parser_end(struct parser *r)
{
  array_free(r->m, &r->nodes);
  array_free(r->m, &r->ranges);
}

@ An error message gives the place, quotes the text there, and says what is wrong with it. The quotation has a dozen bytes at most, stops at the end of the line, and does not cut a character in half.

@<Refuse what stands here@>=
/* Shows a dozen bytes of what stands there, but not half a character: a sentence must be UTF-8.
   It counts lines only now, for refusing happens once. */
uint32_t parser_refuse(struct parser *r, size_t at, const char *what)
{
  size_t line = 1, n = 0;
  const char *shown = (const char *) r->text + at;
  for (size_t i = 0; i < at; i++) line += r->text[i] == '\n';
  while (at + n < r->n && n < 12 && shown[n] != '\n' && shown[n] != '\r') n++;
  while (at + n < r->n && n > 0 && (r->text[at + n] & 0xc0) == 0x80) n--;
  error_say(r->why, "%s, %s %zu%s%.*s%s: %s", r->name,@|
    r->lines ? "line" : "byte", r->lines ? line : at,@|
    n > 0 ? ", at \"" : ", at the end", (int) n, shown,@|
    n > 0 ? "\"" : "", what);
  return NO_AST_NODE;
}

@ Shapes are made bottom up, so a shape only points to earlier ones. A part that could not be read is |NO_AST_NODE|, and so is every shape that would contain it; this lets the parsers join shapes first and check for failure afterwards.

@<Add a shape@>=
uint32_t parser_node(struct parser *r, struct ast_node s)
{
  struct ast_node *fresh = array_push(r->m, &r->nodes, sizeof *fresh, r->why);
  if (fresh == NULL) return NO_AST_NODE;
  *fresh = s;
  return (uint32_t) (r->nodes.n - 1);
}

@ Every sequence and every choice joins two shapes, so joining has a function of its own.

@<Add a shape@>=
/* a refusal in either part is passed on, so callers need not ask after each step */
uint32_t parser_join(struct parser *r, enum ast_kind kind, uint32_t a,
  uint32_t b)
{
  if (a == NO_AST_NODE || b == NO_AST_NODE) return NO_AST_NODE;
  return parser_node(r, (struct ast_node) @[{ kind, a, b, 0, 0 }@]);
}

@ The two languages also share their smallest parts: a literal character, a character's number in hexadecimal digits, a repetition, and a set of characters.

@<A reader@>=
uint32_t parser_point(struct parser *r);
  /* reads one character and returns it */
bool parser_hex(struct parser *r, size_t min, size_t max,
  uint32_t *point);
  /* a character given by its number, in hexadecimal digits; false and a
     sentence if no character has it */
uint32_t parser_times(struct parser *r, uint32_t s);
  /* shape |s|, repeated as the text here says: by nothing, \.{?}, \.{*},
     \.{+}, or a count in braces */
bool parser_range(struct parser *r, uint32_t lo, uint32_t hi);
  /* adds one range */
uint32_t parser_set(struct parser *r, size_t from, bool negated);
  /* the set of all ranges from number |from| on, or of all other characters */

@ The text is known to be UTF-8, so reading a character cannot fail.

@<Read a character, or its number@>=
/* |parser_begin| has checked that the whole text is UTF-8, so the state is not looked at */
uint32_t parser_point(struct parser *r)
{
  enum utf8_state state;
  size_t k = utf8_next(r->text + r->at, r->n - r->at, &state);
  uint32_t point = utf8_point(r->text + r->at, k);
  r->at += k;
  return point;
}

@ A number may be too large for a character, or be one of the |0x800| surrogates, which UTF-16 keeps for itself. Both are refused: no text in UTF-8 can contain them, and a set with a character that can never occur is probably a mistake.
@^surrogates@>
Reading stops as soon as the number exceeds the last character, so it cannot overflow, however many digits follow. Patterns allow up to eight, in braces, and grammars have escapes with two, four and eight.

@<Read a character, or its number@>=
/* The loop stops as soon as the number is too large, so |x| cannot wrap. Surrogates are no
   characters: no UTF-8 text has them. */
bool parser_hex(struct parser *r, size_t min, size_t max,
  uint32_t *point)
{
  size_t from = r->at, k = 0;
  uint32_t x = 0;
  for (; k < max && r->at < r->n && hex_digit(r->text[r->at]) >= 0; k++)
    if ((x = 16 * x + (uint32_t) hex_digit(r->text[r->at++])) > PARSER_LAST_POINT)
      break;
  *point = x;
  if (x > PARSER_LAST_POINT || (x >= 0xd800 && x <= 0xdfff))
    return parser_refuse(r, from, "no character has this number"), false;
  return k >= min || (parser_refuse(r, from,@|
    "hexadecimal digits are wanted"), false);
}

@* Repetition. \label{sec:howoften}
A sign after a thing says how often the thing may come. A count in braces is limited to \given{1000}: the network has a copy for each, and a pattern that needs more can use a star. Reading stops when the count exceeds this limit, so it cannot overflow.

@<Read how often@>=
/* A bound for each count bounds nothing yet, since repetitions can be nested; |emit| counts the
   work. */
static bool read_count(struct parser *r, uint32_t *count)
{
  size_t from = r->at;
  *count = 0;
  for (; r->at < r->n && r->text[r->at] >= '0' && r->text[r->at] <= '9';
      r->at++) {
    *count = 10 * *count + (uint32_t) (r->text[r->at] - '0');
    if (*count > PARSER_MAX_TIMES) return parser_refuse(r, from,@|
      "a thing may be repeated 1000 times at most"), false;
  }
  return r->at > from || (parser_refuse(r, from,@|
    "a count is wanted; a brace itself is written \\{"), false);
}

@ The braces contain \.{m}, \.{m,} or \.{m,n}. If they contain something else, Perl and its successors take the brace literally; here it is an error, since it is usually a mistake.

@<Read how often@>=
static bool read_braces(struct parser *r, struct ast_node *s)
{
  size_t from = r->at++;
  if (!read_count(r, &s->min)) return false;
  s->max = s->min;
  if (r->at < r->n && r->text[r->at] == ',') {
    r->at++;
    if (r->at < r->n && r->text[r->at] == '}') s->max = PARSER_FOREVER;
    else if (!read_count(r, &s->max)) return false;
  }
  if (r->at == r->n || r->text[r->at] != '}')
    return parser_refuse(r, r->at, "a closing brace is wanted"), false;
  r->at++;
  return s->max >= s->min || (parser_refuse(r, from,@|
    "the second count is less than the first"), false);
}

@ The signs \.{?}, \.{*} and \.{+} abbreviate braces. If neither a sign nor a brace follows, the thing comes once, and needs no shape around it. If the thing itself could not be read, the error has been reported, and the failure is passed on.

@<Read how often@>=
/* gives |s| itself if nothing follows that repeats; callers compare, to find a repetition of a
   repetition */
uint32_t parser_times(struct parser *r, uint32_t s)
{
  if (s == NO_AST_NODE || r->at == r->n) return s;
  struct ast_node t = @[{ AST_TIMES, s, 0, 0, PARSER_FOREVER }@];
  switch (r->text[r->at]) {
  case '?': t.max = 1, r->at++; break;
  case '*': r->at++; break;
  case '+': t.min = 1, r->at++; break;
  case '{': if (!read_braces(r, &t)) return NO_AST_NODE; break;
  default: return s;
  }
  return parser_node(r, t);
}

@* Sets of characters. \label{sec:sets}
A set is written as ranges in any order, which may overlap, and it may be negated. When it is complete, we sort the ranges by where they begin, and join those that overlap or touch. The ranges of the set that is being read are always the last ones in
their list.

@<Finish a set@>=
static int by_beginning(const void *a, const void *b)
{
  const struct code_range *x = a, *y = b;
  return x->lo < y->lo ? -1 : x->lo > y->lo;
}

@ A range is added as it comes. The parser has checked that its smaller end comes first.

@<Finish a set@>=
bool parser_range(struct parser *r, uint32_t lo, uint32_t hi)
{
  struct code_range *fresh = array_push(r->m, &r->ranges, sizeof *fresh, r->why);
  if (fresh == NULL) return false;
  *fresh = (struct code_range) @[{ lo, hi }@];
  return true;
}

@ To negate a set, we replace its ranges by the gaps between them. A set of $n$ ranges has at most $n+1$ gaps, so we first add one range, after the last character, and then replace each range by the gap before it. An empty gap is left out.

@<Finish a set@>=
/* The ranges of a set are the last of the list, from |from| on. They are sorted and joined in
   place: |k| never overtakes |i|. For a negated set a range beyond the last character is added,
   so that the gap before it comes out as well, and for each range at most one gap is written. */
uint32_t parser_set(struct parser *r, size_t from, bool negated)
{
  if (negated && !parser_range(r, PARSER_LAST_POINT + 1, PARSER_LAST_POINT + 1))
    return NO_AST_NODE;
  struct code_range *x = r->ranges.block;
  size_t n = r->ranges.n - from, k = 0;
  uint32_t next = 0;                        /* all ranges so far end before it */
  if (n > 0) qsort(x += from, n, sizeof *x, by_beginning);
  for (size_t i = 0; i < n; i++) {
    struct code_range now = x[i];
    if (negated && now.lo > next)
      x[k++] = (struct code_range) @[{ next, now.lo - 1 }@];
    if (!negated && (k == 0 || now.lo > next)) x[k++] = now;
    else if (!negated && now.hi > x[k - 1].hi) x[k - 1].hi = now.hi;
    if (now.hi >= next) next = now.hi + 1;
  }
  r->ranges.n = from + k;
  return parser_node(r, (struct ast_node) @[{ AST_SET, (uint32_t) from,@|
    (uint32_t) k, 0, 0 }@]);
}

@ The header of what the two parsers have in common.

@(parser.h@>=
#ifndef INCIPIT_PARSER_H
#define INCIPIT_PARSER_H
#include "ground/ground.h"
@<Shapes@>@;
@<A list that grows@>@;
@<A reader@>@;
#endif

@ Patterns and grammars share this file; each of the two languages then has one of its own.

@(parser.c@>=
/* What the readers of patterns and of grammars share: nodes of the tree, ranges, repetitions,
   sentences of refusal. A parser reads |text| from |at| on and never goes back. Nodes are
   numbered in the order in which they are made, so a child has a smaller number than its
   parent, and |NO_AST_NODE| means that the reason has been said already. Both arrays may move
   when they grow: keep numbers, not addresses. */
#include <stdlib.h>
#include <string.h>
#include "tokens/utf8.h"
#include "constraints/parser.h"
@<Make room in a list@>@;
@<Begin to read, and end@>@;
@<Refuse what stands here@>@;
@<Add a shape@>@;
@<Read a character, or its number@>@;
@<Read how often@>@;
@<Finish a set@>@;
@* Patterns. \label{sec:patterns}
Our regular expressions are a subset of those of PCRE2, which the pre-tokenizers of chapter 1 use, with the same meaning. There are characters that stand for themselves; \.{.} for any but a line's end; sets in brackets, with ranges and \.{\char94}; \.{\char92 d}, \.{\char92 w}, \.{\char92 s} and their
opposites, in ASCII as in PCRE2 without its property flag; the escapes \.{\char92 n}, \.{\char92 r}, \.{\char92 t}, \.{\char92 f}, two hexadecimal digits after \.{\char92 x} or any number in braces, and a backslash before any sign that is neither letter nor digit; groups, which may be marked \.{?:}; the bar; and the repetitions of \cref{sec:howoften}, to which a question mark may be
added that means ``as few as possible''. As the whole text must match, few or many makes no difference. (PCRE2 asks for this with |PCRE2_ANCHORED| and |PCRE2_ENDANCHORED|.)
@^PCRE2@>@^regular expression@>

Everything else is refused with a sentence. No finite automaton can handle a back reference, which asks what was written long ago. Possessive repetitions and atomic groups control how a search backtracks, and would even take matches of a whole text away. Lookahead, Unicode properties and named classes we left out to stay short.

@<The readers of two languages@>=
uint32_t parser_pattern(struct parser *r);
  /* the shape of the whole pattern, or |NO_AST_NODE| and a sentence */

@ A pattern is a choice of sequences of things. Each of the three, choice, sequence and thing, has a function, and a group in parentheses is a choice again. If text is left when the outermost choice has ended, it begins with a closing parenthesis that was never opened.

@<Read a pattern@>=
/* what is left over can only be a parenthesis that closes nothing */
uint32_t parser_pattern(struct parser *r)
{
  uint32_t s = read_choice(r);
  return s == NO_AST_NODE || r->at == r->n ? s : parser_refuse(r, r->at,@|
    "this parenthesis was never opened; itself it is written \\)");
}

@ A bar separates two sequences, and a closing parenthesis ends the last. A sequence may be empty: \.{a\char124} is \texttt{a} or nothing.

@<Read a choice between sequences@>=
static uint32_t read_choice(struct parser *r)
{
  uint32_t s = read_sequence(r);
  while (s != NO_AST_NODE && r->at < r->n && r->text[r->at] == '|') {
    r->at++;
    s = parser_join(r, AST_EITHER, s, read_sequence(r));
  }
  return s;
}

@ The signs for the beginning and the end of a text are redundant here, since the whole text must match. Many people write them, so we accept them where they are redundant: \.{\char94} at the beginning of the whole pattern or of one of its outermost alternatives, \.{\$} at the end of one. (In PCRE2 a \.{\$} also matches before the last line's
end; but the match must end where the text ends, so this makes no difference.) Within a group they could make the group impossible to match, and are refused.

@<Read a sequence of things@>=
static bool is_last(const struct parser *r)
{
  return r->depth == 0 && (r->at + 1 == r->n || r->text[r->at + 1] == '|');
}

@ A sequence begins with the empty shape and grows by one thing at a time, until the parser meets a bar, a closing parenthesis or the end of the text.

@<Read a sequence of things@>=
/* Anchors are read over at the beginning and the end of the whole pattern, where they say what
   is true anyway. |AST_BOTH| hangs to the left: |emit| goes down that side in a loop and not by
   calling itself. */
static uint32_t read_sequence(struct parser *r)
{
  uint32_t s = parser_node(r, (struct ast_node) @[{ AST_EMPTY,@|
    0, 0, 0, 0 }@]);
  if (r->depth == 0 && r->at < r->n && r->text[r->at] == '^') r->at++;
  while (s != NO_AST_NODE && r->at < r->n && r->text[r->at] != '|'
      && r->text[r->at] != ')') {
    if (r->text[r->at] == '$' && is_last(r)) r->at++;
    else s = parser_join(r, AST_BOTH, s, read_repeated(r));
  }
  return s;
}

@ A repetition may follow a thing, and after that perhaps the question mark that makes no difference. A plus there would make the repetition possessive, and is refused; so is a second repetition, as in Perl.

@<Read a thing and how often it comes@>=
/* A question mark after a repetition is read over: as few as possible and as many as possible
   are the same where the whole text must match. */
static uint32_t read_repeated(struct parser *r)
{
  uint32_t once = read_thing(r), s = parser_times(r, once);
  if (s == NO_AST_NODE || s == once || r->at == r->n) return s;
  if (r->text[r->at] == '?') r->at++;
  if (r->at == r->n || strchr("?*+{", r->text[r->at]) == NULL
      || r->text[r->at] == '\0') return s;
  return parser_refuse(r, r->at, r->text[r->at] == '+'@|
    ? "possessive repetition is not done here"@|
    : "a repetition can't be repeated; put parentheses around it");
}

@ The first character of a thing tells what it is, and every character that is not special is itself a thing. The signs \.{\char94} and \.{\$} reach this function only where they are not redundant.

@<Read one thing@>=
/* The signs that mean something are refused where they would mean nothing, as by PCRE2; a
   closing parenthesis does not come here. */
static uint32_t read_thing(struct parser *r)
{
  size_t from = r->ranges.n;
  switch (r->text[r->at]) {
  case '(': return read_group(r);
  case '[': return read_set(r);
  case '?': case '*': case '+': case '{':
    return parser_refuse(r, r->at,@|
      "there is nothing before this to repeat");
  case '^': case '$':
    return parser_refuse(r, r->at, "the whole text must match, and this"@|
      " may only come at its beginning or end");
  case '\\':
    return read_escape(r) ? parser_set(r, from, false) : NO_AST_NODE;
  case '.':
    r->at++;
    return parser_range(r, '\n', '\n') ? parser_set(r, from, true)@|
      : NO_AST_NODE;
  default: break;
  }
  uint32_t point = parser_point(r);
  return parser_range(r, point, point) ? parser_set(r, from, false)@|
    : NO_AST_NODE;
}

@ A group only holds things together; what it has matched is not recorded. So a plain parenthesis and one with \.{?:} are the same, and anything else after the question mark is refused: names, flags, conditions, lookahead and lookbehind.

@<Read a group@>=
/* all that begins with a question mark but \.{?:} changes what matching means: looking ahead,
   naming, options */
static uint32_t read_group(struct parser *r)
{
  size_t from = r->at++;
  bool marked = r->n - r->at >= 2 && r->text[r->at] == '?';
  if (marked && r->text[r->at + 1] == ':') r->at += 2;
  else if (r->at < r->n && (r->text[r->at] == '?' || r->text[r->at] == '*'))
    return parser_refuse(r, from, "of the groups with a word of their own"@|
      " only (?: is done here");
  if (++r->depth > PARSER_MAX_DEPTH)
    return parser_refuse(r, from, "the parentheses are too deep");
  uint32_t s = read_choice(r);
  r->depth--;
  if (s != NO_AST_NODE && r->at == r->n)
    return parser_refuse(r, from, "this parenthesis is never closed");
  r->at += s != NO_AST_NODE;
  return s;
}

@ An escape adds ranges to the set that is being read: one character, or the characters of a kind. A table gives the ranges of the kinds in ASCII; their opposites are the gaps, up to the last character of Unicode.

@<Read an escape@>=
/* The ranges are in rising order, and a capital letter means the gaps between them: between one
   range's end and the next one's beginning. */
static bool add_kind(struct parser *r, unsigned char letter)
{
  static const struct { char letter; struct code_range x[4]; size_t n; }
    kind[] = @[{ { 'd', @[{ {'0', '9'} }@], 1 },@|
      { 'w', @[{ {'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'} }@], 4 },@|
      { 's', @[{ {9, 13}, {' ', ' '} }@], 2 } }@];
  size_t k = 0;
  uint32_t next = 0;
  while (kind[k].letter != (char) (letter | 0x20)) k++;
  for (size_t i = 0; i < kind[k].n; i++) {
    struct code_range now = kind[k].x[i];
    if (!(letter & 0x20)) now = (struct code_range) @[{ next, now.lo - 1 }@];
    if (!parser_range(r, now.lo, now.hi)) return false;
    next = kind[k].x[i].hi + 1;
  }
  return (letter & 0x20) != 0 || parser_range(r, next, PARSER_LAST_POINT);
}

@ A character can be given by its number, either in two digits or, in braces, in up to eight.

@<Read an escape@>=
static bool numbered_point(struct parser *r, size_t from, uint32_t *point)
{
  if (r->at == r->n || r->text[r->at] != '{')
    return parser_hex(r, 2, 2, point);
  r->at++;
  if (!parser_hex(r, 1, 8, point)) return false;
  if (r->at < r->n && r->text[r->at++] == '}') return true;
  parser_refuse(r, from, "a closing brace is wanted");
  return false;
}

@ Letters and digits after a backslash that we do not know are refused, all with the same sentence, since each is some part of PCRE2 that we do not implement. In a set, the code that reads a hyphen must know whether a character or a kind came before it; for a kind |*point| is |NO_POINT|.

@<Read an escape@>=
#define NO_POINT UINT32_MAX
@#
static bool escaped_point(struct parser *r, uint32_t *point)
{
  static const char letter[] = "nrtf", meant[] = "\n\r\t\f";
  size_t from = r->at++;
  unsigned char c = r->at < r->n ? r->text[r->at] : 'Q';
  const char *known = c == '\0' ? NULL : strchr(letter, c);
  bool word = c >= 0x80 || c < ' ' || c == 0x7f || (c >= '0' && c <= '9')
    || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  r->at++;
  *point = known != NULL ? (uint32_t) meant[known - letter] : c;
  if (known != NULL || !word) return true;
  if (c == 'x') return numbered_point(r, from, point);
  parser_refuse(r, from, "this escape is not done here");
  return false;
}
  /* A backslash before a letter or digit that we do not know is refused, since it may mean
     anything elsewhere; before any other sign it means that sign. At the end of the text |c| is a
     letter that nobody knows. */

@ The function for either sort of escape: a kind adds its ranges at once, and any other escape gives one character.

@<Read an escape@>=
static bool read_escape_point(struct parser *r, uint32_t *point)
{
  unsigned char c = r->at + 1 < r->n ? r->text[r->at + 1] : '\0';
  *point = NO_POINT;
  if (c == '\0' || strchr("dwsDWS", c) == NULL) return escaped_point(r, point);
  r->at += 2;
  return add_kind(r, c);
}

@ Outside of a set, an escape is a set by itself. A character becomes a range of one; a kind has added its ranges already.

@<Read an escape@>=
static bool read_escape(struct parser *r)
{
  uint32_t point;
  if (!read_escape_point(r, &point)) return false;
  return point == NO_POINT || parser_range(r, point, point);
}

@ Brackets contain characters, escapes and ranges. A hyphen stands for itself where it comes first or last, and between two characters it makes a range; after a kind or after a range PCRE2 guesses, and we do not. An opening bracket followed by a colon, a dot or an equals sign would be a named class.

@<Read a set in brackets@>=
/* a class such as \.{[:alpha:]} would otherwise be read as a set of its letters, which PCRE2 does
   not do */
static bool set_point(struct parser *r, uint32_t *point)
{
  unsigned char c = r->text[r->at];
  if (c == '\\') return read_escape_point(r, point);
  if (c == '[' && r->at + 1 < r->n && r->text[r->at + 1] != '\0'
      && strchr(":.=", r->text[r->at + 1]) != NULL)
    return parser_refuse(r, r->at, "named classes are not done here"), false;
  *point = parser_point(r);
  return true;
}

@ So a member of a set is one character or kind, or two characters with a hyphen between them. A hyphen before the closing bracket makes no range.

@<Read a set in brackets@>=
/* |NO_POINT| is an escape that stands for several characters: it has added its ranges already
   and cannot be an end of a range. */
static bool set_member(struct parser *r, bool first)
{
  size_t from = r->at;
  uint32_t lo, hi;
  if (r->text[r->at] == '-' && !first
      && (r->at + 1 == r->n || r->text[r->at + 1] != ']'))
    return parser_refuse(r, from,@|
      "a hyphen in the midst of a set is written \\-"), false;
  if (!set_point(r, &lo)) return false;
  hi = lo;
  if (r->n - r->at >= 2 && r->text[r->at] == '-' && r->text[r->at + 1] != ']') {
    r->at++;
    if (!set_point(r, &hi)) return false;
    if (lo == NO_POINT || hi == NO_POINT || hi < lo)
      return parser_refuse(r, from, "this is not a range"), false;
  }
  return lo == NO_POINT || parser_range(r, lo, hi);
}

@ An empty set is refused, because dialects disagree: to some \.{[]} is empty, to others the beginning of a longer set. We also refuse a set that begins and ends with the same one of those three signs, which PCRE2 takes for a named class in the wrong place.

@<Read a set in brackets@>=
static uint32_t read_set(struct parser *r)
{
  size_t from = r->at++, ranges = r->ranges.n;
  bool negated = r->at < r->n && r->text[r->at] == '^', first = true;
  r->at += negated;
  if (r->at < r->n && r->text[r->at] == ']') return parser_refuse(r, from,@|
    "a set of nothing; a bracket itself is written \\]");
  for (; r->at < r->n && r->text[r->at] != ']'; first = false)
    if (!set_member(r, first)) return NO_AST_NODE;
  if (r->at == r->n)
    return parser_refuse(r, from, "this bracket is never closed");
  if (r->at - from > 2 && r->text[from + 1] == r->text[r->at - 1]
      && memchr(":.=", r->text[from + 1], 3) != NULL)
    return parser_refuse(r, from, "named classes are not done here");
  r->at++;
  return parser_set(r, ranges, negated);
}

@ In the file the smallest parts come first, as far as that goes: a group is a choice that may contain groups.

@(pattern.c@>=
/* Regular expressions to a tree, by recursive descent. What PCRE2 would read differently from
   us is refused here and not guessed at: a pattern must not mean one thing in another program
   and something else in this one. The depth of parentheses is bounded, and so is the stack. */
#include <string.h>
#include "constraints/net.h"
static uint32_t read_choice(struct parser *r);
@<Read an escape@>@;
@<Read a set in brackets@>@;
@<Read a group@>@;
@<Read one thing@>@;
@<Read a thing and how often it comes@>@;
@<Read a sequence of things@>@;
@<Read a choice between sequences@>@;
@<Read a pattern@>@;

@* Grammars. \label{sec:grammars}
A grammar gives names to things. Our notation is a subset of GBNF, the notation of \emph{llama.cpp}, in which many grammars have been published. A rule is a name of letters, digits and hyphens, the sign \.{::=}, and what the name stands for, up to the line's end; the line may be broken after that sign, after a bar, and within parentheses. Things are
\.{"texts"} and sets in brackets, with the escapes \.{\char92 n}, \.{\char92 r}, \.{\char92 t}, \.{\char92\char92}, \.{\char92"}, \.{\char92 [}, \.{\char92 ]}, and numbers of two, four or eight hexadecimal digits after \.{\char92 x}, \.{\char92 u} and \.{\char92 U}; the dot, which here stands for every character; names of rules; and groups. Repetitions are written as in patterns, blanks may separate all of these, and a comment
begins with \.{\#}. The whole text must match the rule called \.{root}.
@^GBNF@>@^grammar@>

@<The readers of two languages@>=
struct grammar_rule { const unsigned char *name; size_t n, at; uint32_t means; };
  /* a name of |n| bytes in the text, where it first occurs, and what it
     stands for, or |NO_AST_NODE| */
bool parser_grammar(struct parser *r, struct array *rules, uint32_t *root);
  /* puts a |struct grammar_rule| for every name into the list, which the caller
     frees even if it fails; |*root|: the number of \.{root} */

@ Each name gets a number where it first occurs, whether it has been defined or not. The table of \cref{sec:tables} finds the number; it points into the text, which outlives it.

@<Find the number of a name@>=
struct names { struct array *rules; struct name_map by_name; };
@#
static uint32_t name_number(struct parser *r, struct names *all)
{
  const unsigned char *name = r->text + r->at;
  size_t n = 0, at = r->at;
  while (at + n < r->n && is_name(name[n])) n++;
  uint32_t k = name_map_get(&all->by_name, name, n);
  r->at += n;
  if (k > 0) return k - 1;
  if (all->rules->n == MAX_RULES)
    return parser_refuse(r, at, "there are too many rules");
  struct grammar_rule *fresh = array_push(r->m, all->rules, sizeof *fresh, r->why);
  if (fresh == NULL) return NO_AST_NODE;
  *fresh = (struct grammar_rule) @[{ name, n, at, NO_AST_NODE }@];
  k = (uint32_t) all->rules->n;
  return name_map_put(r->m, &all->by_name, name, n, k, r->why) ? k - 1
    : NO_AST_NODE;
}
  /* The table has numbers plus one, since 0 says that a name is new. The names stay in the
     grammar's text, which must outlive the parser. */

@ The letters are those of ASCII; an underscore is not allowed in a name in GBNF, although programmers tend to write one.

@<Letters and blanks of a grammar@>=
enum { MAX_RULES = 4096 };
static bool is_name(unsigned char c)
{
  return (c >= '0' && c <= '9') || c == '-'
    || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

@ The end of a line counts as a blank within parentheses, after a bar and between rules; elsewhere it ends the rule. A comment goes up to the end of the line and does not contain it.

@<Letters and blanks of a grammar@>=
/* A comment goes to the line's end, which itself counts only if |lines| is true. */
static void skip_blanks(struct parser *r, bool lines)
{
  for (; r->at < r->n; r->at++) {
    unsigned char c = r->text[r->at];
    if (c == '#')
      while (r->at + 1 < r->n && r->text[r->at + 1] != '\n'
        && r->text[r->at + 1] != '\r') r->at++;
    else if (c != ' ' && c != '\t' && !(lines && (c == '\n' || c == '\r')))
      return;
  }
}

@ A text in quotation marks is a sequence of sets of one character each. An unknown escape is refused, and so is a text that is not closed before the end of its line.

@<Read a character of a text or a set@>=
/* only the escapes of GBNF, and all others are refused */
static bool grammar_point(struct parser *r, uint32_t *point)
{
  static const char letter[] = "nrt\\\"[]", meant[] = "\n\r\t\\\"[]";
  size_t from = r->at;
  if (r->text[r->at] != '\\') return *point = parser_point(r), true;
  unsigned char c = r->at + 1 < r->n ? r->text[r->at + 1] : '\0';
  const char *known = c == '\0' ? NULL : strchr(letter, c);
  r->at += 2;
  if (known != NULL) *point = (uint32_t) meant[known - letter];
  else if (c == 'x') return parser_hex(r, 2, 2, point);
  else if (c == 'u') return parser_hex(r, 4, 4, point);
  else if (c == 'U') return parser_hex(r, 8, 8, point);
  return known != NULL || (parser_refuse(r, from,@|
    "this escape is not done here"), false);
}

@ The sequence begins with the empty shape, since a text may be empty.

@<Read a text in quotation marks@>=
/* each character is a set of one, so texts need no kind of node of their own */
static uint32_t read_text(struct parser *r)
{
  size_t from = r->at++;
  uint32_t point, s = parser_node(r, (struct ast_node) @[{ AST_EMPTY,@|
    0, 0, 0, 0 }@]);
  while (s != NO_AST_NODE && r->at < r->n && r->text[r->at] != '"'
      && r->text[r->at] != '\n') {
    size_t first = r->ranges.n;
    if (!grammar_point(r, &point) || !parser_range(r, point, point))
      return NO_AST_NODE;
    s = parser_join(r, AST_BOTH, s, parser_set(r, first, false));
  }
  if (s != NO_AST_NODE && (r->at == r->n || r->text[r->at] != '"'))
    return parser_refuse(r, from, "this text is never closed");
  r->at++;
  return s;
}

@ Sets are simpler than those of patterns: there are no kinds, so any member before a hyphen can begin a range.

@<Read a grammar's set@>=
static bool grammar_member(struct parser *r)
{
  size_t from = r->at;
  uint32_t lo, hi;
  if (!grammar_point(r, &lo)) return false;
  hi = lo;
  if (r->n - r->at >= 2 && r->text[r->at] == '-' && r->text[r->at + 1] != ']') {
    r->at++;
    if (!grammar_point(r, &hi)) return false;
    if (hi < lo) return parser_refuse(r, from, "this is not a range"), false;
  }
  return parser_range(r, lo, hi);
}

@ The brackets are the same as in patterns, and so are the two errors: an empty set, and a bracket that is never closed.

@<Read a grammar's set@>=
static uint32_t grammar_set(struct parser *r)
{
  size_t from = r->at++, ranges = r->ranges.n;
  bool negated = r->at < r->n && r->text[r->at] == '^';
  r->at += negated;
  if (r->at < r->n && r->text[r->at] == ']') return parser_refuse(r, from,@|
    "a set of nothing; a bracket itself is written \\]");
  while (r->at < r->n && r->text[r->at] != ']' && r->text[r->at] != '\n')
    if (!grammar_member(r)) return NO_AST_NODE;
  if (r->at == r->n || r->text[r->at] != ']')
    return parser_refuse(r, from, "this bracket is never closed");
  r->at++;
  return parser_set(r, ranges, negated);
}

@ The first character of a thing tells what it is. If none of them is here, the sequence has ended, and we return |NO_THING|; the caller decides whether it may end here.

@<Read a grammar's thing@>=
#define NO_THING (UINT32_MAX - 1)
@#
static uint32_t grammar_thing(struct parser *r, struct names *all)
{
  size_t from = r->ranges.n;
  unsigned char c = r->at < r->n ? r->text[r->at] : '\0';
  if (c == '"') return read_text(r);
  if (c == '[') return grammar_set(r);
  if (c == '(') return grammar_group(r, all);
  if (c == '.') {
    r->at++;
    return parser_set(r, from, true);
  }
  if (!is_name(c)) return NO_THING;
  uint32_t k = name_number(r, all);
  return k == NO_AST_NODE ? k : parser_node(r, (struct ast_node)@|
    @[{ AST_CALL, k, 0, 0, 0 }@]);
}
  /* |NO_THING| is no error: the sequence ends here, and its reader knows what may follow */

@ Blanks may come between the things, and within parentheses also line ends. They may even separate a repetition from what it repeats.

@<Read a grammar's sequence@>=
/* A blank may come before the sign of a repetition, and after one; so a second repetition is
   looked for here, or it would be refused with a sentence about something else. */
static uint32_t grammar_sequence(struct parser *r, struct names *all)
{
  uint32_t s = parser_node(r, (struct ast_node) @[{ AST_EMPTY,@|
    0, 0, 0, 0 }@]);
  while (s != NO_AST_NODE) {
    uint32_t once = grammar_thing(r, all), part = once;
    if (once == NO_THING) break;
    skip_blanks(r, r->depth > 0);
    if (once != NO_AST_NODE) part = parser_times(r, once);
    skip_blanks(r, r->depth > 0);
    if (part != once && part != NO_AST_NODE && r->at < r->n
        && r->text[r->at] != '\0' && strchr("?*+{", r->text[r->at]) != NULL)
      return parser_refuse(r, r->at,@|
        "a repetition can't be repeated; put parentheses around it");
    s = parser_join(r, AST_BOTH, s, part);
  }
  return s;
}

@ After a bar the rule may continue on the next line.

@<Read a grammar's choice@>=
static uint32_t grammar_choice(struct parser *r, struct names *all)
{
  uint32_t s = grammar_sequence(r, all);
  while (s != NO_AST_NODE && r->at < r->n && r->text[r->at] == '|') {
    r->at++;
    skip_blanks(r, true);
    s = parser_join(r, AST_EITHER, s, grammar_sequence(r, all));
  }
  return s;
}

@ Within a group the line may be broken anywhere.

@<Read a grammar's group@>=
static uint32_t grammar_group(struct parser *r, struct names *all)
{
  size_t from = r->at++;
  if (++r->depth > PARSER_MAX_DEPTH)
    return parser_refuse(r, from, "the parentheses are too deep");
  skip_blanks(r, true);
  uint32_t s = grammar_choice(r, all);
  r->depth--;
  if (s != NO_AST_NODE && r->at == r->n)
    return parser_refuse(r, from, "this parenthesis is never closed");
  if (s != NO_AST_NODE && r->text[r->at] != ')')
    return parser_refuse(r, r->at, "neither a thing, nor a bar, nor the"@|
      " closing parenthesis");
  r->at += s != NO_AST_NODE;
  return s;
}

@ A rule ends with its line. A second definition of the same name is refused; it is usually a copy that its author forgot to rename.

@<Read a rule@>=
/* The rule is found again by its number at the end: reading it may have moved the array. */
static bool read_rule(struct parser *r, struct names *all)
{
  size_t from = r->at;
  if (!is_name(r->text[r->at])) return parser_refuse(r, from,@|
    "the name of a rule is wanted"), false;
  uint32_t k = name_number(r, all);
  if (k == NO_AST_NODE) return false;
  skip_blanks(r, false);
  if (r->n - r->at < 3 || memcmp(r->text + r->at, "::=", 3) != 0)
    return parser_refuse(r, r->at, "::= is wanted"), false;
  if (((struct grammar_rule *) all->rules->block)[k].means != NO_AST_NODE)
    return parser_refuse(r, from, "this rule is defined already"), false;
  r->at += 3;
  skip_blanks(r, true);
  uint32_t s = grammar_choice(r, all);
  if (s == NO_AST_NODE) return false;
  if (r->at < r->n && r->text[r->at] != '\n' && r->text[r->at] != '\r')
    return parser_refuse(r, r->at, "neither a thing, nor a bar, nor the end"@|
      " of the line"), false;
  ((struct grammar_rule *) all->rules->block)[k].means = s;
  return true;
}

@ When all rules have been read, every name must have a rule, and one of them must be the root.

@<Read a whole grammar@>=
/* a name without a rule is reported where it is first used */
static bool check_names(struct parser *r, const struct names *all,
  uint32_t *root)
{
  const struct grammar_rule *rule = all->rules->block;
  *root = name_map_get(&all->by_name, (const unsigned char *) "root", 4);
  for (size_t i = 0; i < all->rules->n; i++)
    if (rule[i].means == NO_AST_NODE)
      return parser_refuse(r, rule[i].at, "no rule has this name"), false;
  if ((*root)-- == 0) return error_say(r->why, "%s: there is no rule root,"@|
    " with which the whole text begins", r->name);
  return true;
}

@ In a grammar, error messages name lines. The rules come one after the other, with blank lines and comments between them.

@<Read a whole grammar@>=
bool parser_grammar(struct parser *r, struct array *rules, uint32_t *root)
{
  struct names all = @[{ .rules = rules }@];
  bool ok = true;
  r->lines = true;
  for (skip_blanks(r, true); ok && r->at < r->n; skip_blanks(r, true))
    ok = read_rule(r, &all);
  ok = ok && check_names(r, &all, root);
  name_map_free(r->m, &all.by_name);
  return ok;
}

@ The file ends with the function that reads a whole grammar.

@(grammar.c@>=
/* Grammars in a subset of GBNF to a tree for each rule, by recursive descent. A name gets its
   number where it is first met, defined or not; whether all are defined is asked at the end,
   for a rule may be used before its definition. Line ends are blanks within parentheses, after
   a bar and after the sign of definition, and end a rule elsewhere: |depth| says which. */
#include <string.h>
#include "lookups/table.h"
#include "constraints/net.h"
@<Letters and blanks of a grammar@>@;
@<Find the number of a name@>@;
static uint32_t grammar_group(struct parser *r, struct names *all);
@<Read a character of a text or a set@>@;
@<Read a text in quotation marks@>@;
@<Read a grammar's set@>@;
@<Read a grammar's thing@>@;
@<Read a grammar's sequence@>@;
@<Read a grammar's choice@>@;
@<Read a grammar's group@>@;
@<Read a rule@>@;
@<Read a whole grammar@>@;
@* The transition network. \label{sec:constraintnetwork}
A tree says what a text is made of. To read a text from left to right we need to know something else: what may come next. So each shape becomes a part of a \emph{network}, with four kinds of nodes: read one byte from a range and go on to a node; go on to either of two nodes; go through a rule and then on to a node; end the rule. For
patterns this is Thompson's construction of a nondeterministic finite automaton (NFA), and with the third kind of node it is what Woods called a recursive transition network.\side{Ken Thompson, 1968, for an editor \cited{Thompson 1968}; William Woods, 1970 \cited{Woods 1970}, for questions about rocks from the moon.} It needs a stack of the nodes to return to when rules end; a pattern has a single rule, which is never called, and needs no stack.
\cited[Willard and Louf 2023]{Willard 2023} described how to mask the tokens of a language model with an automaton; their program \emph{Outlines} computes the whole table of states and tokens in advance. \emph{XGrammar} (\cited[Dong and others 2024]{Dong 2024}) keeps a stack for grammars, as we do, and computes in advance everything that does not depend on the stack.
@^recursive transition network@>@^Thompson, Ken@>@^Woods, William@>

@<A network@>=
enum node_kind { NET_END, NET_BYTES, NET_FORK, NET_CALL };
  /* what |struct net_node| says of each */
struct net_node { uint8_t kind, lo, hi; uint32_t next, other; };
  /* |BYTES|: one of |lo| to |hi|, then |next|; |FORK|: |next| or |other|;
     |CALL|: rule |other|, then |next|; |END|: of the rule we are in */
struct net { struct memory *m; const char *name; struct array nodes;
  struct pair_map same; size_t work; uint32_t *start, *least, root;
  size_t n_rules, n_least; bool nested; };
  /* node 0 is the only |END|; |start|: the first node of each of the |n_rules|;
     |least|: for each of the |n_least| nodes the fewest bytes to the |END|,
     |NET_NEVER| if it cannot be reached; |root|: the number of the root's rule;
     |nested|: can a rule come within itself? */
#define NET_NEVER UINT32_MAX
enum { NET_MAX_NODES = 1 << 16, NET_MAX_WORK = 1 << 20, NET_MAX_LEAST = 1 << 30 };
  /* limits: nodes of a network, steps that build it, fewest bytes of a text */
bool net_of_pattern(struct net *w, struct parser *r);
  /* fills a network that is all zero but for |m| and |name|; errors: the text,
     its size, memory; call |net_free| in any case */
bool net_of_grammar(struct net *w, struct parser *r);
  /* the same, from a grammar */
uint32_t net_sum(uint32_t a, uint32_t b);
  /* $a+b$ bytes, |NET_MAX_LEAST| at most; |NET_NEVER| if either is that */
void net_free(struct net *w);
  /* frees all of it, even after a failure */

@ We turn a shape into nodes from its end: given the node that follows, we make the nodes before it, and return the first of them. Only the loop of a star has to be patched later. Where a node of bytes would be the same as an earlier one, we use the earlier one; the table of pairs
finds it by the bytes it reads and the node that follows. This saves much, since a set of characters makes many nodes with the same ends.

@<Add a node@>=
#define NO_NODE UINT32_MAX
@#
static uint32_t node_add(struct net *w, struct net_node x, struct error *why)
{
  uint32_t key = x.kind == NET_BYTES ? 1u << 16 | (uint32_t) x.lo << 8 | x.hi
    : 0;
  uint32_t known = key == 0 ? 0 : pair_map_get(&w->same, key, x.next);
  if (known != 0) return known;
  if (w->nodes.n == NET_MAX_NODES) return error_say(why, "%s: it is too large:"@|
    " more than %d nodes", w->name, NET_MAX_NODES), NO_NODE;
  struct net_node *fresh = array_push(w->m, &w->nodes, sizeof *fresh, why);
  if (fresh == NULL) return NO_NODE;
  *fresh = x;
  known = (uint32_t) (w->nodes.n - 1);
  return key == 0 || pair_map_put(w->m, &w->same, key, x.next, known, why)
    ? known : NO_NODE;
}
  /* Only reading nodes are shared; a fork may be mended after it is made. The key tells ranges
     from 0, which means not shared. */

@ Forks are made so often that they have a function of their own, which passes on the failure of either side.

@<Add a node@>=
static uint32_t node_fork(struct net *w, uint32_t one, uint32_t other,
  struct error *why)
{
  if (one == NO_NODE || other == NO_NODE) return NO_NODE;
  return node_add(w, (struct net_node) @[{ NET_FORK, 0, 0, one, other }@], why);
}

@ A character is one to four bytes, so a range of characters is seldom a single range of bytes. The characters from U+00E0 to U+0120 are |0xc3| with |0xa0| to |0xbf|, and |0xc4| with |0x80| to |0xa0|. But we can cut any range into parts in which, written as UTF-8, each byte has a range of its own, independent of the other bytes: cut where the length changes, and then wherever the last six, twelve or 18 bits
do not run through all their values. The surrogates are left out here, since no text contains them.
@^UTF-8@>

@<Cut a range of characters@>=
/* The largest end, up to |hi|, so that the characters from |lo| on are one range in each byte:
   all of one length, and the same in all bytes before those that run through their whole range. */
static uint32_t cut(uint32_t lo, uint32_t hi)
{
  static const uint32_t longer[] = @[{ 0x7f, 0x7ff, 0xffff }@];
  for (int i = 0; i < 3; i++)
    if (lo <= longer[i] && hi > longer[i]) hi = longer[i];
  for (uint32_t tail = 0x3ffff; tail >= 0x3f && lo >= 0x80; tail >>= 6) {
    if ((lo & ~tail) == (hi & ~tail)) continue;
    if ((lo & tail) != 0) hi = lo | tail;
    else if ((hi & tail) != tail) hi = (hi & ~tail) - 1;
  }
  return hi;
}

@ The function returns the last character of the first part. Is one pass of the loop, from long tails to short ones, enough? Take the first tail at which |lo| and |hi| differ in the bits above. If |lo|'s tail is not zero, |hi| comes down to the end of |lo|'s block, and from then on the two agree above this tail. If |lo|'s tail is zero and |hi|'s is not all ones,
|hi| comes down to a tail of all ones, so that its shorter tails are all ones as well. In either case no later step undoes this.

@ The bytes of the two ends of such a part are the ends of the byte ranges. The chain of nodes is made from its last byte, like everything in the network.

@<Make nodes for a range of characters@>=
static size_t encode(uint32_t point, uint8_t byte[4])
{
  size_t n = 1u + (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);
  static const uint8_t mark[] = @[{ 0, 0xc0, 0xe0, 0xf0 }@];
  for (size_t i = n; i-- > 1; point >>= 6)
    byte[i] = (uint8_t) (0x80 | (point & 0x3f));
  byte[0] = (uint8_t) (mark[n - 1] | point);
  return n;
}

@ Since |lo| and |hi| are the ends of a part that was cut as above, they have the same length, and their bytes give the range of each byte in it.

@<Make nodes for a range of characters@>=
static uint32_t emit_part(struct net *w, uint32_t lo, uint32_t hi,
  uint32_t next, struct error *why)
{
  uint8_t a[4], b[4];
  size_t n = encode(lo, a);
  encode(hi, b);
  while (n-- > 0 && next != NO_NODE)
    next = node_add(w, (struct net_node) @[{ NET_BYTES, a[n], b[n], next, 0 }@],@|
      why);
  return next;
}

@ Each range is cut into parts, and all parts of all ranges are joined by forks. A pattern can contain an empty set, the negation of all characters. It becomes a fork that leads only to itself: a node like any other, from which the end cannot be reached.

@<Make nodes for a range of characters@>=
/* The gap of the surrogates is jumped over. An empty set must not become |next|, which would
   read nothing and go on: it becomes a fork that leads to itself and thus never to the end. */
static uint32_t emit_set(struct net *w, const struct code_range *x,
  size_t n, uint32_t next, struct error *why)
{
  uint32_t all = NO_NODE, one;
  for (size_t i = 0; i < n; i++)
    for (uint32_t lo = x[i].lo, hi; lo <= x[i].hi; lo = hi + 1) {
      if (lo >= 0xd800 && lo <= 0xdfff) { hi = 0xdfff; continue; }
      hi = cut(lo, lo < 0xd800 && x[i].hi >= 0xd800 ? 0xd7ff : x[i].hi);
      one = emit_part(w, lo, hi, next, why);
      all = all == NO_NODE ? one : node_fork(w, one, all, why);
      if (all == NO_NODE) return NO_NODE;
    }
  if (all != NO_NODE) return all;
  one = (uint32_t) w->nodes.n;
  return node_add(w, (struct net_node) @[{ NET_FORK, 0, 0, one, one }@], why);
}

@ A star is a fork: one way leads to the thing and back to the fork, the other leads on. The fork must be made first, since the thing leads back to it. A plus enters the loop at the thing. For a minimum above one we put copies before the loop; a count with a maximum ends in copies each of which can be skipped together with all copies after it. Copies of an empty thing make no nodes but take time, and three counts within
one another can ask for $10^9$ of them; so we count the work as well.

@<Make nodes for a repetition@>=
/* For ever: a fork is made first and mended when what it leads to is there. Otherwise the
   optional copies are made from the last to the first, each with a way out; then those that
   must come. */
static uint32_t emit_times(struct net *w, const struct parser *r,
  const struct ast_node *s, uint32_t next, struct error *why)
{
  uint32_t min = s->min, tail = next, first;
  if (s->max == PARSER_FOREVER) {
    tail = node_fork(w, next, next, why);
    first = tail == NO_NODE ? NO_NODE : emit(w, r, s->a, tail, why);
    if (first == NO_NODE) return NO_NODE;
    ((struct net_node *) w->nodes.block)[tail].next = first;
    if (min > 0) tail = first, min--;
  } else for (uint32_t i = s->min; i < s->max && tail != NO_NODE; i++)
    tail = node_fork(w, emit(w, r, s->a, tail, why), next, why);
  for (; min > 0 && tail != NO_NODE; min--)
    tail = emit(w, r, s->a, tail, why);
  return tail;
}

@ The trees of long sequences and choices lean to the left, since they were joined from the left, and a loop goes down this side; the recursion goes only into parentheses, whose depth is limited.

@<Make nodes for a shape@>=
/* Sequences and choices hang to the left and are walked in loops, so the depth of the calls is
   that of the parentheses. The work is counted here, where all of it passes. */
static uint32_t emit(struct net *w, const struct parser *r, uint32_t at,
  uint32_t next, struct error *why)
{
  const struct ast_node *all = r->nodes.block, *s = &all[at];
  if (++w->work > NET_MAX_WORK) return error_say(why, "%s: it is too large:"@|
    " its repetitions come to too much", w->name), NO_NODE;
  for (; s->kind == AST_BOTH && next != NO_NODE; s = &all[s->a])
    next = emit(w, r, s->b, next, why);
  if (next == NO_NODE || s->kind == AST_EMPTY) return next;
  if (s->kind == AST_TIMES) return emit_times(w, r, s, next, why);
  if (s->kind == AST_SET) return emit_set(w,@|
    (const struct code_range *) r->ranges.block + s->a, s->b, next, why);
  if (s->kind == AST_CALL) return node_add(w, (struct net_node) @[{ NET_CALL,@|
    0, 0, next, s->a }@], why);
  uint32_t any = emit(w, r, s->b, next, why);
  for (s = &all[s->a]; s->kind == AST_EITHER && any != NO_NODE;
      s = &all[s->a])
    any = node_fork(w, emit(w, r, s->b, next, why), any, why);
  return any == NO_NODE ? any : node_fork(w,
    emit(w, r, (uint32_t) (s - all), next, why), any, why);
}

@* Bytes to the end. \label{sec:least}
For each node we want the least number of bytes from there to its rule's end. A node of bytes needs one more than the node after it, a fork the smaller number of its two, a call the rule's own number plus that of the node after it. All numbers begin at |NET_NEVER|; then each is computed again from the others, until nothing changes.\side{Knuth showed in 1977 how to do it in one pass, with a heap \cited{Knuth 1977}.} As nodes are made from the end, the first pass finds nearly all numbers.
If each rule calls the next one twice, the numbers double with every rule: with 31 rules the shortest text has more than $10^9$ bytes. Numbers stop growing at |NET_MAX_LEAST|.

@<Find the least number of bytes to the end@>=
/* stops at the largest number, and ``never'' stays never */
uint32_t net_sum(uint32_t a, uint32_t b)
{
  if (a == NET_NEVER || b == NET_NEVER) return NET_NEVER;
  return a + b < NET_MAX_LEAST ? a + b : NET_MAX_LEAST;
}

@ The number of a node depends on its kind. The end, the fourth kind, has zero.

@<Find the least number of bytes to the end@>=
static uint32_t from_here(const struct net *w, const struct net_node *x)
{
  switch ((enum node_kind) x->kind) {
  case NET_BYTES: return net_sum(1, w->least[x->next]);
  case NET_FORK: return w->least[x->next] < w->least[x->other]
    ? w->least[x->next] : w->least[x->other];
  case NET_CALL: return net_sum(w->least[w->start[x->other]], w->least[x->next]);
  case NET_END: break;
  }
  return 0;
}

@ The passes come to an end, because numbers only decrease and are never negative. A fork that leads only to itself stays at |NET_NEVER|, and so does a rule that always calls itself.

@<Find the least number of bytes to the end@>=
/* To a fixed point: numbers only become smaller, so it ends. Nodes are made from the end, so
   one round is nearly enough, except for rules that call each other. */
static bool find_least(struct net *w, struct error *why)
{
  const struct net_node *x = w->nodes.block;
  w->n_least = w->nodes.n;
  w->least = memory_alloc(w->m, MEMORY_TOKENS, w->n_least, sizeof *w->least, why);
  if (w->least == NULL) return false;
  for (size_t i = 0; i < w->n_least; i++) w->least[i] = NET_NEVER;
  for (bool quiet = false; !quiet;) {
    quiet = true;
    for (size_t i = 0; i < w->n_least; i++) {
      uint32_t found = from_here(w, &x[i]);
      if (found != w->least[i]) w->least[i] = found, quiet = false;
    }
  }
  return true;
}

@ Now two questions about a rule. Can it call itself before a byte has been read? That is \emph{left recursion}, even if it is hidden because something that can be empty comes first, and it would let the stack grow without limit between two bytes. And can it call itself at all, with something left to do afterwards? Then it nests, and there are infinitely many states. We answer both questions by a
search from the rule's first node. The first search stops at nodes of bytes, the second does not. The first goes on after a call only if the rule that is called can be empty.
@^left recursion@>

@<Ask whether a rule comes to itself again@>=
static bool goes_through(const struct net *w, const struct net_node *x,
  bool silent)
{
  if (x->kind == NET_CALL)
    return !silent || w->least[w->start[x->other]] == 0;
  return x->kind == NET_FORK || (x->kind == NET_BYTES && !silent);
}
@#
struct walkers { uint32_t *seen, *todo; };
@#
static bool comes_again(const struct net *w, uint32_t rule, bool silent,
  const struct walkers *scratch)
{
  const struct net_node *all = w->nodes.block;
  uint32_t n = 0, mark = 2 * rule + (silent ? 2 : 1);
  scratch->todo[n++] = w->start[rule];
  while (n > 0) {
    uint32_t at = scratch->todo[--n];
    const struct net_node *x = &all[at];
    if (scratch->seen[at] == mark) continue;
    scratch->seen[at] = mark;
    bool call = x->kind == NET_CALL;
    if (call && x->other == rule && (silent || x->next != 0)) return true;
    if (call) scratch->todo[n++] = w->start[x->other];
    if (x->kind == NET_FORK) scratch->todo[n++] = x->other;
    if (goes_through(w, x, silent)) scratch->todo[n++] = x->next;
  }
  return false;
}
  /* Can the rule be reached from its own beginning, silently (before any byte) or with something
     left to return to? |mark| differs for each rule and question, so |seen| need not be cleared.
     |todo| has room for twice the nodes:
     each is done once and adds at most two. */

@ Each search looks at a node once and adds at most two nodes to the list, which gives the length that the list must have. After a call at a rule's end nothing is left to do; so a rule that calls itself only at its end is a loop, and does not nest.

@<Ask whether a rule comes to itself again@>=
/* Left recursion would let |follow| push frames for ever without reading a byte, so it is
   refused. |nested| says that stacks can grow without a limit: then the states cannot all be
   listed. */
static bool check_rules(struct net *w, const struct parser *r,
  const struct grammar_rule *rule, struct error *why)
{
  size_t cap = 3 * w->n_least;
  bool ok = true;
  struct walkers x = @[{ memory_alloc(w->m, MEMORY_TOKENS, cap,@|
    sizeof (uint32_t), why), NULL }@];
  if (x.seen == NULL) return false;
  x.todo = x.seen + w->n_least;
  for (uint32_t i = 0; ok && i < w->n_rules; i++) {
    if (w->least[w->start[i]] == NET_NEVER)
      ok = refuse_rule(r, &rule[i], "comes to no end: no text is ever complete");
    else if (comes_again(w, i, true, &x))
      ok = refuse_rule(r, &rule[i], "calls itself before it has read anything"
        @| " (left recursion)");
    w->nested = w->nested || (ok && comes_again(w, i, false, &x));
  }
  memory_free(w->m, x.seen);
  return ok;
}

@ The sentence names the rule, and the line where its name first occurs.

@<Say what is wrong with a rule@>=
static bool refuse_rule(const struct parser *r, const struct grammar_rule *rule,
  const char *what)
{
  size_t line = 1;
  for (size_t i = 0; i < rule->at; i++) line += r->text[i] == '\n';
  return error_say(r->why, "%s: the rule %.*s, of line %zu, %s", r->name,@|
    (int) (rule->n < 60 ? rule->n : 60), (const char *) rule->name, line, what);
}

@ For both languages we begin a network with the end, node 0, and the list of first nodes.

@<Make the network of a text@>=
static bool net_begin(struct net *w, size_t n_rules,
  struct error *why)
{
  w->start = memory_alloc(w->m, MEMORY_TOKENS, n_rules, sizeof *w->start, why);
  if (w->start == NULL) return false;
  w->n_rules = n_rules;
  return node_add(w, (struct net_node) @[{ .kind = NET_END }@], why) != NO_NODE;
}

@ A pattern has a single rule. It may match no text at all, such as \.{a[\char94\char92 d\char92 D]}, which asks for a character that is neither a digit nor anything else. PCRE2 accepts such a pattern and never finds anything; we refuse it, since a model could write nothing that matches.

@<Make the network of a text@>=
bool net_of_pattern(struct net *w, struct parser *r)
{
  uint32_t s = parser_pattern(r);
  if (s == NO_AST_NODE || !net_begin(w, 1, r->why)) return false;
  w->start[0] = emit(w, r, s, 0, r->why);
  if (w->start[0] == NO_NODE || !find_least(w, r->why)) return false;
  return w->least[w->start[0]] != NET_NEVER || error_say(r->why,@|
    "%s: no text matches it", w->name);
}

@ The nodes of a grammar's rules are made one rule after the other, in the order in which their names first occur. A call names a rule by its number, not by its first node, so it does not matter whether the rule has been made yet.

@<Make the network of a text@>=
bool net_of_grammar(struct net *w, struct parser *r)
{
  struct array rules = @[{ NULL, 0, 0 }@];
  uint32_t root;
  bool ok = parser_grammar(r, &rules, &root)
    && net_begin(w, rules.n, r->why);
  const struct grammar_rule *rule = rules.block;
  for (size_t i = 0; ok && i < rules.n; i++) {
    w->start[i] = emit(w, r, rule[i].means, 0, r->why);
    ok = w->start[i] != NO_NODE;
  }
  ok = ok && find_least(w, r->why) && check_rules(w, r, rule, r->why);
  if (ok) w->root = root;
  array_free(w->m, &rules);
  return ok;
}

@ After a failure the network may be half made. Whatever was not allocated is NULL, and its size zero.

@<Make the network of a text@>=
void net_free(struct net *w)
{
  array_free(w->m, &w->nodes);
  pair_map_free(w->m, &w->same);
  memory_free(w->m, w->start);
  memory_free(w->m, w->least);
}

@ The headers and the file.

@(net.h@>=
#ifndef INCIPIT_NET_H
#define INCIPIT_NET_H
#include "lookups/table.h"
#include "constraints/parser.h"
@<The readers of two languages@>@;
@<A network@>@;
#endif

@ The file begins with single nodes and ends with a whole network that has been checked.

@(net.c@>=
/* From a tree to a transition network. It is built from its end: each part is told the node
   |next| where it goes on, so no node has to be mended later but the loop of a repetition. Node
   0 is the end of a rule, of all of them. Nodes that read the same bytes and go on to the same
   node are made once. |least[i]| is the least number of bytes from node |i| to the end of its
   rule, and |NET_NEVER| if there is none. Both the nodes and the work of making them are
   bounded, since a short text can describe a huge network. */
#include <string.h>
#include "constraints/net.h"
@<Add a node@>@;
@<Cut a range of characters@>@;
@<Make nodes for a range of characters@>@;
static uint32_t emit(struct net *w, const struct parser *r, uint32_t at,
  uint32_t next, struct error *why);
@<Make nodes for a repetition@>@;
@<Make nodes for a shape@>@;
@<Find the least number of bytes to the end@>@;
@<Say what is wrong with a rule@>@;
@<Ask whether a rule comes to itself again@>@;
@<Make the network of a text@>@;
@* Configurations and states. \label{sec:standing}
Several ways through the network may be open at once: after \texttt{a} in \texttt{ab\char124ac} two nodes wait, one for \texttt{b} and one for \texttt{c}. In a grammar each way also has a stack. So a \emph{configuration} is a set of pairs, each of a node that waits for a byte and a stack. One more pair, the end and the empty stack, says that the
text is complete. Two texts that lead to the same configuration can be continued in the same ways, so a configuration is all that a state has to contain.
@^configuration@>

A stack is a node to return to, on top of another stack. Each stack that occurs is kept once and has a number, so comparing stacks means comparing numbers; the empty one is 0. A table of pairs finds the number, and for each stack we note the least number of bytes it takes to empty it.

@<Stacks and configurations@>=
struct call_frame { uint32_t back, below, least; };
struct position { uint32_t node, stack; };
struct dfa_state { uint32_t number, n, least, cost; bool accepts;
  size_t round, gathered, n_after; struct dfa_state **after; struct position *at;
  struct dfa_state *next[]; };
  /* |n| pairs in order; the least number of bytes to the end, and of tokens,
     or |COST_UNKNOWN|; the |n_after| others to which one token leads, or NULL;
     for each class of bytes the next state, or NULL if not yet computed */
#define COST_UNKNOWN (UINT32_MAX - 1)

@ We compute a configuration when it is first needed, and keep it: by number in a list, and by its pairs in a table of names, since an array of pairs is a string of bytes like any other. One configuration, without pairs, is for all texts that cannot be continued, and one is the beginning. All this is a deterministic finite automaton (DFA) that is built lazily. The idea of following all ways through a pattern at once, instead of trying one
after the other, is Thompson's as well.
@^automaton@>

@<What a constraint knows@>=
enum { MAX_BYTES = 1 << 28, MAX_PAIRS = 1 << 16, MAX_WAYS = 1 << 20 };
enum tried { UNTRIED, WHOLE, ENDLESS };
struct constraint { struct memory *m; struct net w; uint8_t byte_class[256];
  char name[200]; size_t n_classes, closures, ways, bytes, round, gathers;
  struct array states, stacks, todo;
  struct pair_map stack_of, visited; struct name_map by_pairs; struct heap found;
  struct dfa_state *dead, *start, *first; const struct lexicon *words;
  bool strips, complete; uint8_t lacking; enum tried known;
  struct dfa_state **at, **reached; size_t n_at; struct array pending,
  group; };
  /* |at| for each depth of a walk, and |reached| for each piece, in one block */

@ If no node distinguishes two bytes, a configuration need not distinguish them either; we put them into one class, which makes its table of next configurations shorter. A new class begins where some node's range of bytes begins, and just after it ends. JSON has \val{constraint.json.kinds} classes. Nodes from which the end cannot be reached are ignored.

@<Sort the bytes into kinds@>=
/* Bytes that no node tells apart are one class, so a state needs a place for each class and not
   for 256 bytes. A class begins where some range begins or has just ended. */
static void sort_bytes(struct constraint *c)
{
  bool begins[257] = @[{ true }@];
  const struct net_node *x = c->w.nodes.block;
  for (size_t i = 0; i < c->w.n_least; i++)
    if (x[i].kind == NET_BYTES && c->w.least[i] != NET_NEVER)
      begins[x[i].lo] = begins[x[i].hi + 1] = true;
  for (size_t b = 0; b < 256; b++) {
    c->n_classes += begins[b];
    c->byte_class[b] = (uint8_t) (c->n_classes - 1);
  }
}

@ Entering a rule pushes a frame, unless nothing is left to do after the call: then the inner rule can return directly to the frame below. This is a tail call, and a rule that ends by calling itself runs like a loop. The table finds a frame that has been pushed on the same stack before.

@<Push a frame@>=
/* A call at the end of a rule has nothing to come back to, so it pushes nothing: without this a
   right-recursive rule would make a new stack in each round. */
static bool push(struct constraint *c, uint32_t back, uint32_t below,
  uint32_t *stack, struct error *why)
{
  *stack = back == 0 ? below : pair_map_get(&c->stack_of, back, below);
  if (back == 0 || *stack != 0) return true;
  struct call_frame *fresh = array_push(c->m, &c->stacks, sizeof *fresh, why);
  if (fresh == NULL) return false;
  *stack = (uint32_t) c->stacks.n - 1;
  *fresh = (struct call_frame) @[{ back, below,@|
    net_sum(c->w.least[back], ((struct call_frame *) c->stacks.block)[below].least) }@];
  return pair_map_put(c->m, &c->stack_of, back, below, *stack, why);
}

@ From each pair we go on without reading a byte, through forks, into rules and out of them, until only nodes are left that wait for a byte. We may meet a pair twice, around a star whose thing can be empty, but must follow it only once. The table |visited| has for each pair the number of the last search that met it, so it need not be cleared between searches. Nodes from which the end cannot be reached are not
followed; so every pair that is kept can be completed, and a configuration without pairs is dead.

A grammar of a few lines can open a great many ways before a single byte is read, if each rule calls the next in two different ways and the last is empty: with 30 such rules there are $2^{30}$ stacks. So we count the pairs of a search, and give up beyond |MAX_WAYS|.

@<Follow all ways to where they wait@>=
/* |visited| holds the number of the search that met a pair last, so it is never emptied. Nodes
   from which no end can be reached are not entered: a state that is not dead can always be
   completed. */
static bool reach(struct constraint *c, uint32_t node, uint32_t stack,
  struct error *why)
{
  if (c->w.least[node] == NET_NEVER
      || pair_map_get(&c->visited, node, stack) == c->closures) return true;
  if (c->ways++ == MAX_WAYS) return error_say(why, "%s: there are more"@|
    " than %d ways between two bytes", c->w.name, MAX_WAYS);
  struct position *p = array_push(c->m, &c->todo, sizeof *p, why);
  if (p == NULL) return false;
  *p = (struct position) @[{ node, stack }@];
  return pair_map_put(c->m, &c->visited, node, stack, (uint32_t) c->closures, why);
}

@ One pair at a time is taken from the list. A pair that waits for a byte goes into a heap, which later returns the pairs in order, so that equal sets give equal arrays.

@<Follow all ways to where they wait@>=
/* Goes on through what reads nothing. What waits for a byte, or is the end of all, is collected
   in a heap, which will give it back in order. */
static bool follow(struct constraint *c, struct position p, struct error *why)
{
  const struct net_node *x = (struct net_node *) c->w.nodes.block + p.node;
  const struct call_frame *f = (struct call_frame *) c->stacks.block + p.stack;
  uint32_t stack;
  if (x->kind == NET_FORK)
    return reach(c, x->next, p.stack, why) && reach(c, x->other, p.stack, why);
  if (x->kind == NET_CALL)
    return push(c, x->next, p.stack, &stack, why)
      && reach(c, c->w.start[x->other], stack, why);
  if (x->kind == NET_END && p.stack != 0)
    return reach(c, f->back, f->below, why);
  if (c->found.n == MAX_PAIRS) return error_say(why, "%s: more than %d ways"@|
    " are open at once", c->w.name, MAX_PAIRS);
  return heap_push(c->m, &c->found, (struct heap_item) @[{ p.node, p.stack }@], why);
}

@ Each search begins by emptying both lists, since an earlier search that failed may have left something in them.

@<Follow all ways to where they wait@>=
static void begin_search(struct constraint *c)
{
  c->closures++;
  c->todo.n = c->found.n = 0;
  c->ways = 0;
}

@ We take pairs from the end of the list; the order in which ways are followed does not change the set.

@<Follow all ways to where they wait@>=
static bool follow_all(struct constraint *c, struct error *why)
{
  while (c->todo.n > 0)
    if (!follow(c, ((struct position *) c->todo.block)[--c->todo.n], why))
      return false;
  return true;
}

@ A configuration is one block of memory: its numbers, then the pointers to the next configurations, then its pairs.

@<Make a configuration of what was found@>=
static size_t block_size(const struct constraint *c, size_t n)
{
  return sizeof (struct dfa_state)@|
    + c->n_classes * sizeof (struct dfa_state *) + n * sizeof (struct position);
}

@ All states together may take |MAX_BYTES|: their blocks with the lists that belong to them, which |bytes| counts, the list of states, the stacks, and the three tables. Beyond that the constraint fails with a sentence, rather than use up the machine's memory. The limit is checked when a configuration is made; between two checks a search may still take as much as |MAX_WAYS| allows.

@<Make a configuration of what was found@>=
/* what counts against the limit: also tables, which are the larger part with small states */
static size_t bytes_taken(const struct constraint *c)
{
  return c->bytes + c->states.cap * sizeof (struct dfa_state *)@|
    + c->stacks.cap * sizeof (struct call_frame)
    + (c->visited.cap + c->stack_of.cap) * sizeof (struct pair_slot)@|
    + c->by_pairs.cap * sizeof (struct name_slot);
}
static bool within_limits(const struct constraint *c, size_t more,
  struct error *why)
{
  return bytes_taken(c) + more <= MAX_BYTES || error_say(why,@|
    "%s: its %zu states have no more room", c->w.name, c->states.n);
}

@ The number of bytes from a configuration to the end is the least of its pairs' numbers, and a pair's number is the sum of those of its node and its stack. The pairs are in order, and only |(END, 0)| has node 0, so a configuration accepts exactly if this pair comes first.

@<Make a configuration of what was found@>=
/* One block: the structure, the list of next states, the pairs. Pairs are sorted by node, and
   node 0 is the end of a rule; with an empty stack it is the text's end, so |accepts| looks at
   the first pair only. */
static struct dfa_state *state_add(struct constraint *c,
  const struct position *p, size_t n, struct error *why)
{
  size_t size = block_size(c, n);
  if (!within_limits(c, size, why)) return NULL;
  struct dfa_state **slot = array_push(c->m, &c->states, sizeof *slot, why);
  if (slot == NULL) return NULL;
  struct dfa_state *x = memory_alloc(c->m, MEMORY_TOKENS, size, 1, why);
  if (x == NULL) return c->states.n--, NULL;
  c->bytes += size;
  x->number = (uint32_t) (c->states.n - 1), x->n = (uint32_t) n;
  x->at = (struct position *) (x->next + c->n_classes);
  if (n > 0) memcpy(x->at, p, n * sizeof *p);
  x->accepts = n > 0 && p[0].node == 0;
  x->least = NET_NEVER, x->cost = COST_UNKNOWN;
  for (size_t i = 0; i < n; i++) {
    uint32_t one = net_sum(c->w.least[p[i].node],@|
      ((struct call_frame *) c->stacks.block)[p[i].stack].least);
    if (one < x->least) x->least = one;
  }
  return *slot = x;
}

@ The heap is emptied into the list |todo|, which is free now, and we look the array up in the table.

@<Make a configuration of what was found@>=
/* Sorting first, since the same set must be found again whatever way led to it. The list
   |todo|, which is empty by now, serves a second time. */
static struct dfa_state *gather_pairs(struct constraint *c,
  struct error *why)
{
  if (!follow_all(c, why)) return NULL;
  while (c->found.n > 0) {
    struct heap_item e = heap_pop(&c->found);
    struct position *p = array_push(c->m, &c->todo, sizeof *p, why);
    if (p == NULL) return NULL;
    *p = (struct position) @[{ (uint32_t) e.key, (uint32_t) e.tie }@];
  }
  size_t n = c->todo.n, bytes = n * sizeof (struct position);
  if (n == 0) return c->dead;
  uint32_t known = name_map_get(&c->by_pairs, c->todo.block, bytes);
  if (known > 0)
    return ((struct dfa_state **) c->states.block)[known - 1];
  struct dfa_state *x = state_add(c, c->todo.block, n, why);
  return x == NULL || !name_map_put(c->m, &c->by_pairs,
    (unsigned char *) x->at, bytes, x->number + 1, why) ? NULL : x;
}

@ To find the next configuration after a byte, all pairs that wait for this byte go on. The result is stored under the byte's class, for the next time.

@<Find the next configuration@>=
/* |byte| stands for its whole class: the answer is kept under the class */
static struct dfa_state *discover(struct constraint *c,
  struct dfa_state *x, uint8_t byte, struct error *why)
{
  const struct net_node *all = c->w.nodes.block;
  begin_search(c);
  for (size_t i = 0; i < x->n; i++) {
    const struct net_node *at = &all[x->at[i].node];
    if (at->kind == NET_BYTES && at->lo <= byte && byte <= at->hi
        && !reach(c, at->next, x->at[i].stack, why)) return NULL;
  }
  return x->next[c->byte_class[byte]] = gather_pairs(c, why);
}

@ Nearly always the answer is already there, and this case must be fast, since the walk through the tokens consists of it. So it is a function of its own, small enough to be inlined.

@<Find the next configuration@>=
/* the fast way, taken for nearly every byte; null only after an error, since dead is a state */
static inline struct dfa_state *advance(struct constraint *c,
  struct dfa_state *x, uint8_t byte, struct error *why)
{
  struct dfa_state *next = x->next[c->byte_class[byte]];
  return next != NULL ? next : discover(c, x, byte, why);
}

@ With this we can say whether a text matches. The configuration is dead from the first byte that cannot come.

@<Match a whole text@>=
bool constraint_matches(struct constraint *c, const char *text, size_t n,
  bool *yes, struct error *why)
{
  struct dfa_state *x = c->start;
  for (size_t i = 0; i < n && x != NULL && x != c->dead; i++)
    x = advance(c, x, (uint8_t) text[i], why);
  *yes = x != NULL && x->accepts;
  return x != NULL;
}

@* Creating and freeing a constraint. \label{sec:forget}
A new constraint has two configurations, or three: the dead one; the start; and, where the first token loses a blank, a copy of the start that is not in the table. No text returns to the copy, so a text in this state is empty.

@<Begin with nothing known@>=
/* With |strips| the beginning of the text is a state of its own, equal to |start| but never
   found by its pairs: only there does the first token lose its blank. */
static bool state_first(struct constraint *c, struct error *why)
{
  if (array_push(c->m, &c->stacks, sizeof (struct call_frame), why) == NULL
      || (c->dead = state_add(c, NULL, 0, why)) == NULL) return false;
  begin_search(c);
  if (!reach(c, c->w.start[c->w.root], 0, why)
      || (c->start = gather_pairs(c, why)) == NULL) return false;
  c->first = !c->strips ? c->start
    : state_add(c, c->start->at, c->start->n, why);
  return c->first != NULL;
}

@ Forgetting means freeing all states and beginning again. The tables |visited| and |stack_of| must be freed as well, since they contain numbers of stacks and searches.

@<Begin with nothing known@>=
/* the network stays; all that was learnt by running it goes */
static void drop_states(struct constraint *c)
{
  for (size_t i = 0; i < c->states.n; i++) {
    struct dfa_state *x = ((struct dfa_state **) c->states.block)[i];
    memory_free(c->m, x->after);
    memory_free(c->m, x);
  }
  array_free(c->m, &c->states);
  array_free(c->m, &c->stacks);
  pair_map_free(c->m, &c->visited), pair_map_free(c->m, &c->stack_of);
  name_map_free(c->m, &c->by_pairs);
  c->bytes = c->closures = 0;
  c->known = UNTRIED;
}

@ The function for callers does both.

@<Begin with nothing known@>=
bool constraint_forget(struct constraint *c, struct error *why)
{
  drop_states(c);
  return state_first(c, why);
}

@ One function makes constraints for both languages. It copies the name for later error messages, since the caller's string may be gone by then.

@<Make a constraint, and return it@>=
static struct constraint *constraint_new(struct memory *m, const char *name,
  bool grammar, const char *text, size_t n, struct error *why)
{
  struct parser r = @[{ .m = m }@];
  struct constraint *c = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *c, why);
  if (c == NULL) return NULL;
  c->m = c->w.m = m;
  snprintf(c->name, sizeof c->name, "%s", name);
  c->w.name = c->name;
  bool ok = parser_begin(&r, m, c->name, text, n, why)@|
    && (grammar ? net_of_grammar : net_of_pattern)(&c->w, &r);
  parser_end(&r);
  if (ok && c->w.least[c->w.start[c->w.root]] == NET_MAX_LEAST)
    ok = error_say(why, "%s: its shortest text has %d bytes or more", name,@|
      NET_MAX_LEAST);
  if (ok) sort_bytes(c);
  if (ok && state_first(c, why)) return c;
  constraint_free(c);
  return NULL;
}

@ The two public functions call it, one for each language.

@<Make a constraint, and return it@>=
struct constraint *constraint_regex(struct memory *m, const char *pattern,
  size_t n, struct error *why)
{
  return constraint_new(m, "the pattern", false, pattern, n, why);
}
struct constraint *constraint_grammar(struct memory *m, const char *name,
  const char *text, size_t n, struct error *why)
{
  return constraint_new(m, name, true, text, n, why);
}

@ Everything is freed; in a constraint that was never bound |at| is NULL.

@<Make a constraint, and return it@>=
void constraint_free(struct constraint *c)
{
  if (c == NULL) return;
  struct memory *m = c->m;
  drop_states(c);
  array_free(m, &c->todo);
  array_free(m, &c->pending);
  array_free(m, &c->group);
  heap_free(m, &c->found);
  memory_free(m, c->at);
  net_free(&c->w);
  memory_free(m, c);
}

@* A trie of the pieces. \label{sec:lexicon}
To find out which of \given{128\,256} tokens are possible, we could read each of them from the present state. But many begin alike, and if the machine fails on the first letters of one, it fails on the same letters of the next. So we put the pieces into a \emph{trie}, a tree in which pieces that begin alike share a path; a letter that cannot come cuts off everything after it. We call a node of this tree a \emph{twig}.
@^trie@>

The tree is stored as an array, each twig before those that follow it in a piece, so that a walk mostly goes to the next element. Each twig also says where to go on if everything that hangs on it is cut off. The pieces are numbered in their order, and a twig has the number of the first piece that it belongs to.

@<The pieces as a tree@>=
struct lexicon_node { uint32_t skip, word; unsigned depth : 24, byte : 8; };
  /* a letter at |depth| (0: a piece's first); the next twig that does not hang
     on it; the first piece, in order, that it is part of */
struct lexicon_id { uint32_t id, word; };
  /* a token and the number of its piece: two tokens may be spelt alike */
struct lexicon { struct memory *m; size_t vocab_size, n_nodes, n_ids, n_words,
  max_len, n_bytes; struct lexicon_node *node; struct lexicon_id *token;
  size_t *from; uint8_t *text; bool single[256]; };
  /* |token| in the order of the pieces; the bytes of id |i| are those of |text|
     from |from[i]| to |from[i+1]|: none if it cannot be used */
enum { MAX_PIECE = 1 << 24 };

@ First we copy the usable pieces, one after the other.

@<Copy the pieces@>=
/* Tokens that cannot be used have no bytes here, and so are in no place of the tree. The sums
   are checked before anything is taken. */
static bool copy_pieces(struct lexicon *l, const struct token_bytes *spelt,
  const bool *usable, struct error *why)
{
  for (size_t i = 0; i < l->vocab_size; i++) {
    size_t n = usable == NULL || usable[i] ? spelt[i].n : 0;
    if (n > MAX_PIECE || l->n_bytes > UINT32_MAX / 2) return error_say(why,@|
      "token %zu has %zu bytes, and those before it %zu; a token may have"@|
      " %d, and all before it %u", i, n, l->n_bytes, MAX_PIECE,
      (unsigned) (UINT32_MAX / 2));
    l->n_bytes += n, l->n_ids += n > 0;
    if (n > l->max_len) l->max_len = n;
  }
  l->from = memory_alloc(l->m, MEMORY_TOKENS, l->vocab_size + 1, sizeof *l->from,
    why);
  l->text = memory_alloc(l->m, MEMORY_TOKENS, l->n_bytes, 1, why);
  if (l->from == NULL || l->text == NULL) return false;
  for (size_t i = 0; i < l->vocab_size; i++) {
    size_t n = usable == NULL || usable[i] ? spelt[i].n : 0;
    if (n > 0) memcpy(l->text + l->from[i], spelt[i].byte, n);
    if (n == 1) l->single[spelt[i].byte[0]] = true;
    l->from[i + 1] = l->from[i] + n;
  }
  return true;
}

@ Then they are sorted, as in a dictionary; among equal pieces the smaller id comes first, so that the order does not depend on the sorting algorithm.

@<Sort the pieces@>=
struct spelling { const uint8_t *byte; size_t n; uint32_t id; };
static int as_in_a_dictionary(const void *a, const void *b)
{
  const struct spelling *x = a, *y = b;
  int c = memcmp(x->byte, y->byte, x->n < y->n ? x->n : y->n);
  if (c != 0) return c;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return x->id < y->id ? -1 : 1;
}

@ Only pieces that are usable and have bytes are sorted.

@<Sort the pieces@>=
static struct spelling *sort_pieces(const struct lexicon *l, struct error *why)
{
  struct spelling *sorted = memory_alloc(l->m, MEMORY_TOKENS, l->n_ids, sizeof *sorted,
    why);
  size_t k = 0;
  for (size_t i = 0; sorted != NULL && i < l->vocab_size; i++)
    if (l->from[i + 1] > l->from[i])
      sorted[k++] = (struct spelling) @[{ l->text + l->from[i],@|
        l->from[i + 1] - l->from[i], (uint32_t) i }@];
  if (sorted != NULL) qsort(sorted, k, sizeof *sorted, as_in_a_dictionary);
  return sorted;
}

@ The sorted pieces already determine the tree: a piece shares its first few letters with the one before it, and all its other letters are new twigs. One pass counts these, so that the array has the right size.

@<Count the twigs@>=
static size_t in_common(const struct spelling *sorted, size_t i)
{
  size_t k = 0, n;
  if (i == 0) return 0;
  n = sorted[i].n < sorted[i - 1].n ? sorted[i].n : sorted[i - 1].n;
  while (k < n && sorted[i].byte[k] == sorted[i - 1].byte[k]) k++;
  return k;
}

@ A piece that is the same as the one before it adds no twigs.

@<Count the twigs@>=
static size_t count_nodes(const struct spelling *sorted, size_t n)
{
  size_t all = 0;
  for (size_t i = 0; i < n; i++) all += sorted[i].n - in_common(sorted, i);
  return all;
}

@ The second pass writes them. The twigs of the present piece are open. When the next piece no longer shares a twig, this twig is closed, and its |skip| is the place where the next twig will be. So |open| says, for each depth, which twig is open there.

@<Grow the tree@>=
static void grow_nodes(struct lexicon *l, const struct spelling *sorted,
  uint32_t *open)
{
  size_t made = 0, depth = 0, words = 0;
  for (size_t i = 0; i < l->n_ids; i++) {
    size_t k = in_common(sorted, i);
    words += k < sorted[i].n;
    while (depth > k) l->node[open[--depth]].skip = (uint32_t) made;
    for (; depth < sorted[i].n; depth++) {
      open[depth] = (uint32_t) made;
      l->node[made++] = (struct lexicon_node) @[{ 0, (uint32_t) words - 1,@|
        (unsigned) depth & 0xffffff, sorted[i].byte[depth] }@];
    }
    l->token[i] = (struct lexicon_id) @[{ sorted[i].id, (uint32_t) words - 1 }@];
  }
  while (depth > 0) l->node[open[--depth]].skip = (uint32_t) made;
  l->n_words = words;
}

@ When sorted pieces share all their letters with the piece before them, the two are the same. Some vocabularies do spell two tokens alike, usually by an oversight; both get the same number, and both are allowed or forbidden together.

@<Open a lexicon, and close it@>=
static bool make_nodes(struct lexicon *l, struct spelling *sorted,
  struct error *why)
{
  l->n_nodes = count_nodes(sorted, l->n_ids);
  l->node = memory_alloc(l->m, MEMORY_TOKENS, l->n_nodes, sizeof *l->node, why);
  l->token = memory_alloc(l->m, MEMORY_TOKENS, l->n_ids, sizeof *l->token, why);
  uint32_t *open = memory_alloc(l->m, MEMORY_TOKENS, l->max_len, sizeof *open, why);
  bool ok = l->node != NULL && l->token != NULL && open != NULL;
  if (ok) grow_nodes(l, sorted, open);
  memory_free(l->m, open);
  return ok;
}

@ Ids have 32 bits, enough for any vocabulary, but a caller might pass a larger size. If a step fails, |lexicon_close| frees what the earlier ones allocated.

@<Open a lexicon, and close it@>=
/* the tokens' bytes are copied: the caller may free its own */
struct lexicon *lexicon_open(struct memory *m, const struct token_bytes *spelt,
  const bool *usable, size_t vocab_size, struct error *why)
{
  if (vocab_size >= UINT32_MAX)
    return error_say(why, "%zu tokens are too many", vocab_size), NULL;
  struct lexicon *l = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *l, why);
  if (l == NULL) return NULL;
  l->m = m;
  l->vocab_size = vocab_size;
  l->max_len = 1;
  struct spelling *sorted = NULL;
  bool ok = copy_pieces(l, spelt, usable, why)
    && (sorted = sort_pieces(l, why)) != NULL && make_nodes(l, sorted, why);
  memory_free(m, sorted);
  if (ok) return l;
  lexicon_close(l);
  return NULL;
}

@ A pointer that was not set yet is NULL, and freeing NULL does nothing.

@<Open a lexicon, and close it@>=
void lexicon_close(struct lexicon *l)
{
  if (l == NULL) return;
  memory_free(l->m, l->from);
  memory_free(l->m, l->text);
  memory_free(l->m, l->node);
  memory_free(l->m, l->token);
  memory_free(l->m, l);
}

@* The mask of a state. \label{sec:walk}
A walk goes through the tree and keeps the configuration at each depth. At its end we know for each piece where it leads. Nearly all the time of a mask is spent in this function, so its loop does little: it takes the next twig and the configuration above it, finds the configuration after the twig's byte, and writes one entry for the piece. If the configuration is dead, it skips to where the twig says.

The loop writes an entry at every twig, not only where a piece ends. The last letter of a piece comes after all its others and overwrites what they have written. A test whether a piece ends here would be a branch that the processor cannot predict, and would cost more time than all the rest.

@<Walk through the pieces@>=
/* The hot loop: through all tokens as a tree in depth-first order. |at[d]| is the state after
   |d| bytes of the present path; a dead state jumps over the whole branch by |skip|. A node
   that is in the midst of a token writes to a place of |reached| that a later node of the same
   token overwrites, so no test for ends is needed. A blank that the first token loses leads to
   |start| and is not a text by itself. */
static bool walk(struct constraint *c, struct dfa_state *from,
  struct error *why)
{
  const struct lexicon_node *all = c->words->node, *t = all;
  const struct lexicon_node *end = all + c->words->n_nodes;
  struct dfa_state **at = c->at, **reached = c->reached;
  const struct dfa_state *dead = c->dead;
  bool strip = c->strips && from == c->first;
  memset(reached, 0, c->words->n_words * sizeof *reached);
  for (at[0] = from; t < end;) {
    bool blank = strip && t->depth == 0 && t->byte == ' ';
    struct dfa_state *next = blank ? c->start
      : advance(c, at[t->depth], t->byte, why);
    if (next == NULL) return false;
    reached[t->word] = next == dead || blank ? NULL : next;
    at[t->depth + 1] = next;
    t = next == dead ? all + t->skip : t + 1;
  }
  return true;
}

@ If the path is cut off, the entry becomes NULL, since an earlier letter of the same piece may have written there. The later pieces that are cut off with it have no entry yet.

A text whose first token loses a blank begins after this blank like any other text; this is what |blank| means in the walk. A piece that is only a blank would become empty; after it the text would begin a second time, so it is left out. (SentencePiece needs this: it puts a blank before the first word when it encodes, and drops it when it decodes.)

@ We measured how long a mask takes, for \given{128\,256} pieces and \val[0]{constraint.masks} states of several constraints (\texttt{make bench-constraints}; the file names the machine).\lab{lab:constraintmasks} Once the configurations that a walk meets are known, the slowest mask takes \val[2]{constraint.worst} milliseconds, where nearly everything is allowed, and the fastest \val[2]{constraint.best}: looking at the entry of every piece takes that long
even if everything is cut off at once. If a mask takes more than 2 milliseconds, the benchmark fails. These are masks of states in which a mask has been made before; the end of \cref{sec:cost} gives the cost of the first one.

@* Tokens to the end. \label{sec:cost}
We know the least number of bytes to the end for each configuration. The least number of \emph{tokens} is not more than that, if each byte that may be needed is a token by itself, and not less than the bytes divided by the length of the longest piece. This is usually enough: as long as the budget has at least as many tokens as bytes are needed, a token is good. Only near the end of the budget must we know the number
itself.

To find it we look at the configurations to which one token leads, from each of these at the next, and so on; the number of a configuration is one more than the least among those after it. For a constraint that does not nest we do this once for all configurations that tokens reach, unless there are more than |MAX_TOGETHER|, and the result is exact. With nesting there are infinitely many, since
every opening bracket leads to new ones. So for nested constraints, and for very large ones, we look only at tokens that bring the end \emph{nearer}, counted in bytes. This finds the shortest way that never moves away from the end; it misses a way that first moves away and still takes fewer tokens. And if even these configurations are more than |MAX_TOGETHER|, we use the number of bytes.

In the last two cases the number may be too large, but there is always a way to the end with that many tokens. So no text is cut off. At worst we refuse a limit that would have been just enough, or forbid a token near the end of the budget for which there would have been time. For example, a sequence of more than |MAX_TOGETHER| letters, each from a to z, has so many states that its limit is counted in letters, although
hardly any token has only one.

We do the walk once for each configuration, and note the different configurations to which it leads. Each of these stores the number of the last walk that met it, so we see whether it has already been noted.

@<How far tokens lead@>=
enum { MAX_TOGETHER = 1024 };
@#
static bool note(struct constraint *c, struct array *all,
  struct dfa_state *x, struct error *why)
{
  if (x->round == c->round) return true;
  struct dfa_state **slot = array_push(c->m, all, sizeof *slot, why);
  if (slot == NULL) return false;
  *slot = x, x->round = c->round;
  return true;
}
  /* |round| marks what is in the list already, so each state comes once */

@ The list is made in a block that grows, and then copied into one of the exact size, because there will be many such lists: within a JSON string a token can lead to some dozens of configurations.

@<How far tokens lead@>=
/* computed once for a state and kept: walking is the expensive part */
static bool find_after(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  struct array all = @[{ NULL, 0, 0 }@];
  if (x->after != NULL) return true;
  bool ok = walk(c, x, why);
  c->round++;
  for (size_t i = 0; ok && i < c->words->n_words; i++)
    ok = c->reached[i] == NULL || note(c, &all, c->reached[i], why);
  ok = ok && within_limits(c, all.n * sizeof *x->after, why)
    && (x->after = memory_alloc(c->m, MEMORY_TOKENS, all.n,
      sizeof *x->after, why)) != NULL;
  if (ok) x->n_after = all.n, c->bytes += all.n * sizeof *x->after;
  if (ok && all.n > 0)
    memcpy(x->after, all.block, all.n * sizeof *x->after);
  array_free(c->m, &all);
  return ok;
}

@ Starting from one configuration we collect those whose numbers depend on each other; |nearer| says whether only tokens that bring the end nearer count. Whether there are too many may depend only on the constraint, the vocabulary and this configuration, not on earlier questions: the same text must come out no matter what was written before.

@<Collect what belongs together@>=
static bool collect_one(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  if (x->gathered == c->gathers) return true;
  struct dfa_state **slot = array_push(c->m, &c->group, sizeof *slot,
    why);
  if (slot == NULL) return false;
  *slot = x, x->gathered = c->gathers;
  return true;
}

@ Two functions ask which tokens count, the one that collects and the one that computes the numbers. They must agree, so both call this one.

@<Collect what belongs together@>=
static bool is_collected(const struct dfa_state *x,
  const struct dfa_state *after, bool nearer)
{
  return !nearer || after->least < x->least;
}

@ The list is also the queue of the search: we read it from the front while new configurations are added at its end.

@<Collect what belongs together@>=
/* With |nearer| only steps that come nearer to the end in bytes are followed; that ends, since
   the bytes left grow less. More than |MAX_TOGETHER| states are given up: |all| stays false,
   and that is no error. */
static bool collect_predecessors(struct constraint *c, struct dfa_state *from,
  bool nearer, bool *all, struct error *why)
{
  *all = false;
  c->gathers++;
  c->group.n = 0;
  if (!collect_one(c, from, why)) return false;
  for (size_t i = 0; i < c->group.n; i++) {
    struct dfa_state *x = ((struct dfa_state **) c->group.block)[i];
    if (c->group.n > MAX_TOGETHER) return true;
    if (!find_after(c, x, why)) return false;
    for (size_t k = 0; k < x->n_after; k++)
      if (is_collected(x, x->after[k], nearer) && !collect_one(c, x->after[k], why))
        return false;
  }
  return *all = true;
}

@ When all have been collected, we compute the numbers as we did for the nodes: zero where a text may end, |NET_NEVER| elsewhere, and then again and again one more than the least among the next, until nothing changes. The configurations collected last tend to be nearest to the end, so each pass begins with them.

@<Count the tokens to the end@>=
/* Shortest ways by rounds until nothing changes, from the last found to the first, since those
   found late are near the end. */
static void compute_cost_group(struct constraint *c, bool nearer)
{
  struct dfa_state **x = c->group.block;
  for (size_t i = 0; i < c->group.n; i++)
    x[i]->cost = x[i]->accepts ? 0 : NET_NEVER;
  for (bool quiet = false; !quiet;) {
    quiet = true;
    for (size_t i = c->group.n; i-- > 0;)
      for (size_t k = 0; k < x[i]->n_after; k++) {
        const struct dfa_state *y = x[i]->after[k];
        if (!is_collected(x[i], y, nearer) || y->cost == NET_NEVER
            || y->cost + 1 >= x[i]->cost) continue;
        x[i]->cost = y->cost + 1, quiet = false;
      }
  }
}

@ Once for each constraint, we try to collect all configurations from the beginning, which gives all numbers together. For constraints that nest we do not try.

@<Count the tokens to the end@>=
/* Tried once: if the whole automaton is small, all exact costs are known for good. With nested
   rules it has no end. */
static bool compute_all_costs(struct constraint *c, struct error *why)
{
  bool all = false;
  if (!c->w.nested && !collect_predecessors(c, c->first, false, &all, why))
    return false;
  if (all) compute_cost_group(c, false);
  c->known = all ? WHOLE : ENDLESS;
  return true;
}

@ To \emph{settle} a configuration means to compute its number of tokens. There are four cases. The number is known because all have been computed together; or it is computed from the configurations nearer to the end; or, if these are too many, it is the number of bytes, if each byte is a token; or, if some byte is not a token, it cannot be computed, and we say so. No number is ever too small. Where the text may end already, the number is zero and there is no search, which might well find too many configurations.

@<Count the tokens to the end@>=
/* The cheapest answer first: known, accepting, from the whole automaton. Otherwise from the
   states nearer to the end; if these are too many and every byte is a token, the number of
   bytes is a safe upper bound. */
static bool compute_cost(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  bool all;
  if (c->known == UNTRIED && !compute_all_costs(c, why)) return false;
  if (x->accepts) x->cost = 0;
  if (x->cost != COST_UNKNOWN) return true;
  if (x == c->first && c->strips) return compute_cost_first(c, x, why);
  if (!collect_predecessors(c, x, true, &all, why)) return false;
  if (all) compute_cost_group(c, true);
  else if (c->complete) x->cost = x->least;
  else return error_say(why, "%s: more than %d states "@|"are nearer to the "@|
    "end, and byte 0x%02x "@|"is not a token", c->w.name, MAX_TOGETHER,@|
    c->lacking);
  return true;
}

@ The very first token may lose a blank, and then it brings the end less near than its length suggests. So we settle every configuration that the first token can lead to, and the beginning needs one token more than the best of them.

@<Count the tokens to the end@>=
/* the first state has ways of its own, so its cost is one more than the cheapest of those after
   it */
static bool compute_cost_first(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  if (!find_after(c, x, why)) return false;
  uint32_t best = NET_NEVER - 1;
  for (size_t k = 0; k < x->n_after; k++) {
    if (!compute_cost(c, x->after[k], why)) return false;
    if (x->after[k]->cost < best) best = x->after[k]->cost;
  }
  x->cost = x->accepts ? 0 : best + 1;
  return true;
}

@ How much time does this take, and when? Each configuration is settled once, with a walk for each configuration collected with it, |MAX_TOGETHER| at most. Where rules do not nest, |compute_all_costs| settles all at the first question about a minimum. A caller asks this question when it opens a cursor (|constraint_cursor_open|), since the limit may be too small; so the time is spent before the text begins, and later masks are not slowed down. For a sequence of \given{300} letters it was
\val[0]{constraint.first} milliseconds; the benchmark opens no cursor, so it measures this as the time of the first mask. The time grows in proportion to the length, until there are more than |MAX_TOGETHER| configurations: then all these walks settle nothing, and we look for ways that lead nearer to the end.

Where rules nest, nothing can be settled in advance, and the work is done during a mask. It is not needed if each byte is a token and at least as many tokens are left as bytes are needed, which is true most of the time. Near the end of the budget, the first mask in a state takes \val[1]{constraint.nearjson} to \val[1]{constraint.firstjson} milliseconds in JSON, and each later one in that state \val[2]{constraint.best} to \val[2]{constraint.worst}, like any other. These are not bounds: another
grammar may have many more states near its ends.

@* Binding, masking, stepping. \label{sec:mask}
When a constraint is bound to a vocabulary, we check whether these tokens can write a matching text at all. They can if every byte that some node waits for is a token. If some byte is not, we compute the number of tokens from the beginning, and if that is |NET_NEVER| the message names the byte. If the first token loses a blank, we must check the beginning as well: a text that has to begin with a blank may be impossible.

@<Bind the constraint to a vocabulary@>=
/* If every byte that occurs is a token, any text can be finished byte by byte, and no cost need
   be known: the common case, and a fast one. */
static void look_for_bytes(struct constraint *c)
{
  const struct net_node *x = c->w.nodes.block;
  c->complete = true;
  for (size_t i = 0; i < c->w.n_least; i++)
    if (x[i].kind == NET_BYTES && c->w.least[i] != NET_NEVER)
      for (unsigned b = x[i].lo; c->complete && b <= x[i].hi; b++)
        if (!c->words->single[b]) c->complete = false, c->lacking = (uint8_t) b;
}

@ Where every byte is a token the answer is yes without a search, except for the lost blank; otherwise we must try the tokens.

@<Bind the constraint to a vocabulary@>=
/* asked when binding, so that a constraint that these tokens cannot meet is refused before a
   text is begun */
static bool can_begin(struct constraint *c, struct error *why)
{
  if (c->first->accepts || (c->complete && !c->strips)) return true;
  if (c->complete ? !find_after(c, c->first, why) : !compute_cost(c, c->first, why))
    return false;
  if (c->complete ? c->first->n_after > 0 : c->first->cost != NET_NEVER)
    return true;
  if (c->complete) return error_say(why, "%s: no token can begin a text,"@|
    " as the first one loses a blank", c->w.name);
  return error_say(why, "%s: the tokens can't write it;"@|
    " none is byte 0x%02x alone", c->w.name, c->lacking);
}

@ The walk needs an entry for each depth of the new vocabulary's tree and for each piece. All states that were found with another vocabulary are forgotten.

@<Bind the constraint to a vocabulary@>=
/* what was learnt with other tokens is forgotten: lists of next states depend on them */
bool constraint_bind(struct constraint *c, const struct lexicon *l,
  bool strips, struct error *why)
{
  size_t n = l->max_len + 1 + l->n_words;
  struct dfa_state **at = memory_alloc(c->m, MEMORY_TOKENS, n, sizeof *at, why);
  if (at == NULL) return false;
  memory_free(c->m, c->at);
  c->at = at, c->n_at = n;
  c->reached = at + l->max_len + 1;
  c->words = l;
  c->strips = strips;
  look_for_bytes(c);
  return constraint_forget(c, why) && can_begin(c, why);
}

@ A number that belongs to no state is the caller's mistake, and is refused; so is a question about tokens before the constraint has been bound.

@<Find a state by its number@>=
/* numbers come from callers, who may have kept them for too long */
static struct dfa_state *state_at(const struct constraint *c,
  uint32_t state, struct error *why)
{
  if (c->words == NULL)
    return error_say(why, "%s: it is not bound to tokens", c->w.name), NULL;
  if (state < c->states.n && state != c->dead->number)
    return ((struct dfa_state **) c->states.block)[state];
  return error_say(why, "%s: there is no state %u", c->w.name, state), NULL;
}

@ The first state has a number like any other. After the states have been forgotten the caller must ask for it again.

@<Find a state by its number@>=
uint32_t constraint_start(const struct constraint *c)
{
  return c->first->number;
}

@ A token is good if the text after it can be completed with the tokens that are then left. There are three answers: it is good, it is bad, or the configuration after it must be settled before we know.

@<Judge what comes after a token@>=
enum fate { FATE_GOOD, FATE_BAD, FATE_OPEN };
@#
static enum fate judge(const struct constraint *c,
  const struct dfa_state *x, size_t left)
{
  if (c->complete && x->least <= left) return FATE_GOOD;
  if (x->cost == NET_NEVER) return FATE_BAD;
  if (x->cost != COST_UNKNOWN) return x->cost <= left ? FATE_GOOD : FATE_BAD;
  return left < (x->least + c->words->max_len - 1) / c->words->max_len
    ? FATE_BAD : FATE_OPEN;
}
  /* Bytes are an upper bound of the tokens if all bytes are tokens, and bytes divided by the
     longest token are always a lower one; only between them is the exact cost needed. */

@ So making a mask takes a walk and then a judgement of each token. Configurations that are still open are put aside. If there are any, we settle them and do everything again; the second time none is open. In the long middle of a text one round is enough. (We need the second walk because settling a configuration takes walks of its own, which overwrite the results of ours.)

@<Mark the tokens that may come@>=
/* Good or bad at once; those that are open are noted, and decided all together in a second
   round. */
static bool mark(struct constraint *c, struct dfa_state *x, size_t left,
  uint8_t *allowed, bool *any, struct error *why)
{
  const struct lexicon_id *t = c->words->token;
  if (!walk(c, x, why)) return false;
  c->round++, c->pending.n = 0;
  for (size_t i = 0; i < c->words->n_ids; i++) {
    struct dfa_state *after = c->reached[t[i].word];
    enum fate f = after == NULL ? FATE_BAD : judge(c, after, left);
    if (f == FATE_OPEN && !note(c, &c->pending, after, why)) return false;
    allowed[t[i].id] = f == FATE_GOOD;
    *any = *any || f == FATE_GOOD;
  }
  return true;
}

@ The second round comes after all configurations that were put aside have been settled.

@<Mark the tokens that may come@>=
/* the costs must not be computed in the midst of |mark|: they walk, too, and |reached| would be
   overwritten */
static bool mark_all(struct constraint *c, struct dfa_state *x,
  size_t left, uint8_t *allowed, bool *any, struct error *why)
{
  if (!mark(c, x, left, allowed, any, why)) return false;
  if (c->pending.n == 0) return true;
  for (size_t i = 0; i < c->pending.n; i++)
    if (!compute_cost(c, ((struct dfa_state **) c->pending.block)[i], why))
      return false;
  return mark(c, x, left, allowed, any, why);
}

@ Before we judge the tokens, we judge the state itself with the same function: can the text be completed within this budget? If it cannot, we say so at once, and name the number that would be enough. At the beginning of a text this refuses a limit that is too small; later it cannot happen to a caller that follows the masks and counts the budget down. (If the first token loses a blank, the text may need more tokens than |judge| assumes. Then no token is good, and the message is the same.)

@<Mask the tokens@>=
/* One token of the budget is the token itself, so what follows has |budget-1|. No token and not
   accepting: the limit is too small, and the sentence says how much would do. */
bool constraint_mask(struct constraint *c, uint32_t state, size_t budget,
  uint8_t *allowed, bool *accepts, struct error *why)
{
  struct dfa_state *x = state_at(c, state, why);
  bool any = false;
  if (x == NULL) return false;
  memset(allowed, 0, c->words->vocab_size);
  *accepts = x->accepts;
  if (judge(c, x, budget) == FATE_OPEN && !compute_cost(c, x, why)) return false;
  if (budget > 0 && judge(c, x, budget) == FATE_GOOD
      && !mark_all(c, x, budget - 1, allowed, &any, why)) return false;
  if (any || x->accepts) return true;
  size_t min_tokens;
  if (!constraint_minimum(c, state, &min_tokens, why)) return false;
  return error_say(why, "%s: it takes at least %zu tokens to the end,"@|
    " and the limit leaves %zu", c->w.name, min_tokens, budget);
}

@ The minimum is the number of tokens that |compute_cost| has found. A state without such a number is one that no mask would have let the caller reach.

@<Mask the tokens@>=
bool constraint_minimum(struct constraint *c, uint32_t state, size_t *tokens,
  struct error *why)
{
  struct dfa_state *x = state_at(c, state, why);
  if (x == NULL || !compute_cost(c, x, why)) return false;
  *tokens = x->cost;
  return x->cost != NET_NEVER || error_say(why,@|
    "%s: the tokens can't end this text", c->w.name);
}

@ A step reads the token's bytes, except for the blank that the first token loses.

@<Step after a token@>=
/* Byte by byte and not by looking into |reached|, since the last walk may have been for another
   state. A token without bytes never moves the state and is refused. */
bool constraint_step(struct constraint *c, uint32_t state, uint32_t id,
  uint32_t *next, struct error *why)
{
  struct dfa_state *x = state_at(c, state, why);
  if (x == NULL) return false;
  const struct lexicon *l = c->words;
  size_t at = id < l->vocab_size ? l->from[id] : 0;
  size_t end = id < l->vocab_size ? l->from[id + 1] : 0;
  bool first = c->strips && x == c->first;
  if (first && at < end && l->text[at] == ' ') at++, x = c->start;
  bool empty = at == end;
  for (; at < end && x != NULL && x != c->dead; at++)
    x = advance(c, x, l->text[at], why);
  if (x == NULL) return false;
  *next = x->number;
  return (!empty && x != c->dead) || error_say(why,@|
    "%s: token %u can't come here", c->w.name, id);
}

@ This function reports the present numbers.

@<Look at what is known@>=
struct constraint_look constraint_look(const struct constraint *c)
{
  return (struct constraint_look) @[{ c->w.nodes.n, c->n_classes, c->states.n,@|
    bytes_taken(c) }@];
}

@ The file has the lexicon and the constraint. The header declares both by name only, without their fields.

@(constraint.c@>=
/* Which tokens may come? A network is run as a deterministic automaton whose states are made
   when they are first met, and a lexicon, the tokens as a tree of bytes, is walked against it.
   Invariants: a state is a set of pairs of a node that waits and a stack, sorted and listed
   once, so two states are equal if they are the same block. Stacks are kept once as well, 0 is
   the empty one. State 0 is |dead|, with no pairs. States are blocks of their own and never
   move; the lists do. All that is made is kept until |constraint_forget|, up to |MAX_BYTES|; a
   state's number stays valid until then. A lexicon is only read and may serve several threads;
   a constraint may not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "constraints/constraint.h"
#include "constraints/net.h"
@<The pieces as a tree@>@;
@<Stacks and configurations@>@;
@<What a constraint knows@>@;
@<Sort the bytes into kinds@>@;
@<Push a frame@>@;
@<Follow all ways to where they wait@>@;
@<Make a configuration of what was found@>@;
@<Find the next configuration@>@;
@<Match a whole text@>@;
@<Begin with nothing known@>@;
@<Make a constraint, and return it@>@;
@<Copy the pieces@>@;
@<Sort the pieces@>@;
@<Count the twigs@>@;
@<Grow the tree@>@;
@<Open a lexicon, and close it@>@;
@<Walk through the pieces@>@;
@<How far tokens lead@>@;
@<Collect what belongs together@>@;
static bool compute_cost_first(struct constraint *c, struct dfa_state *x,
  struct error *why);
@<Count the tokens to the end@>@;
@<Bind the constraint to a vocabulary@>@;
@<Find a state by its number@>@;
@<Judge what comes after a token@>@;
@<Mark the tokens that may come@>@;
@<Mask the tokens@>@;
@<Step after a token@>@;
@<Look at what is known@>@;
@<An object of JSON@>@;

@* The cursor. \label{sec:bound}
Before each choice, chapter 7's sampler asks which tokens may come (\cref{sec:bonds}). To answer for a constraint we keep a \emph{constraint cursor}: the constraint, the state that the text has reached, and a mask. The cursor
tells the constraint how many tokens may still be written, this one included, and allows the end token exactly where the text may end.

@<The cursor of a text@>=
struct constraint_cursor { struct constraint *c; uint32_t state; uint8_t *allowed;
  size_t vocab, max_tokens; const uint32_t *eos; size_t n_eos; };
  /* a text of at most |max_tokens| tokens must match |c| and has reached |state|;
     |allowed[vocab]| is its own, |c| and the ids of the end tokens are borrowed */
bool constraint_cursor_open(struct constraint_cursor *b, struct memory *m,
  struct constraint *c,
  size_t vocab, size_t max_tokens, const uint32_t *eos, size_t n_eos,@|
  struct error *why);
  /* |c| must be bound to the tokens; errors: |max_tokens| is less than
     |constraint_minimum|, which the sentence names; memory. Close nothing then */
void constraint_cursor_close(struct constraint_cursor *b, struct memory *m);
  /* frees the mask; a cursor that is all zero has none */
void constraint_cursor_restart(struct constraint_cursor *b);
  /* for another text, from its beginning */
bool constraint_cursor_matches(const struct constraint_cursor *b, bool *yes,
  struct error *why);
  /* does the text so far match? */
bool bond_allow(void *ctx, size_t written, const uint8_t **allowed,
  struct error *why);
  /* chapter 7's |struct token_rule| calls it before a choice; |ctx| is a cursor */
bool bond_take(void *ctx, uint32_t id, struct error *why);
  /* and this when a token has joined the text */
uint32_t bond_save(const void *ctx);
  /* the state that the text has reached */
void bond_restore(void *ctx, uint32_t state);
  /* goes back to a state that |bond_save| gave */
bool constraint_cursor_should_stop(void *ctx, const struct continuation *text,
  bool *enough,
  struct error *why);
  /* a |step_stop|: without end tokens, a text must end when it matches and
     nothing may follow; |ctx| is a cursor */

@ If no matching text fits into the limit, this is reported before the model computes anything, with the least limit that would be enough.

@<Open and close a cursor@>=
/* |c| is set last: a cursor that failed to open has none and can be closed */
bool constraint_cursor_open(struct constraint_cursor *b, struct memory *m,
  struct constraint *c,
  size_t vocab, size_t max_tokens, const uint32_t *eos, size_t n_eos,@|
  struct error *why)
{
  size_t min_tokens;
  *b = (struct constraint_cursor) @[{ .vocab = vocab, .max_tokens = max_tokens,
    .eos = eos,@|
    .n_eos = n_eos }@];
  if (!constraint_minimum(c, constraint_start(c), &min_tokens, why)) return false;
  if (min_tokens > max_tokens) return error_say(why, "at most %zu tokens may be"@|
      " written; wanted: %zu or more, which a text that matches takes",@|
      max_tokens, min_tokens);
  b->allowed = memory_alloc(m, MEMORY_OTHER, vocab, 1, why);
  if (b->allowed == NULL) return false;
  b->c = c;
  constraint_cursor_restart(b);
  return true;
}

@ Closing a cursor frees its mask; restarting it goes back to the beginning, for the next of several texts.

@<Open and close a cursor@>=
void constraint_cursor_close(struct constraint_cursor *b, struct memory *m)
{
  memory_free(m, b->allowed);
  *b = (struct constraint_cursor) @[{ .c = NULL }@];
}
void constraint_cursor_restart(struct constraint_cursor *b)
{
  if (b->c != NULL) b->state = constraint_start(b->c);
}

@ Before each choice the cursor tells the sampler which tokens are allowed; after it, it tells the constraint which token has joined the text. The constraint does not read end tokens, because they are not text; so we handle them here. The state of the cursor is one number, which a caller can save and restore to try out several continuations; it is valid until the constraint is told to forget its states.

@<Narrow the choice to what may come@>=
/* end tokens after the mask, since the lexicon may know them as ordinary ones */
bool bond_allow(void *ctx, size_t written, const uint8_t **allowed,
  struct error *why)
{
  struct constraint_cursor *b = ctx;
  bool accepts;
  if (!constraint_mask(b->c, b->state, b->max_tokens - written, b->allowed,
      &accepts, why)) return false;
  for (size_t i = 0; i < b->n_eos; i++) b->allowed[b->eos[i]] = accepts;
  *allowed = b->allowed;
  return true;
}
bool bond_take(void *ctx, uint32_t id, struct error *why)
{
  struct constraint_cursor *b = ctx;
  for (size_t i = 0; i < b->n_eos; i++)
    if (b->eos[i] == id) return true;
  return constraint_step(b->c, b->state, id, &b->state, why);
}
uint32_t bond_save(const void *ctx)
{
  const struct constraint_cursor *b = ctx;
  return b->state;
}
void bond_restore(void *ctx, uint32_t state)
{
  struct constraint_cursor *b = ctx;
  b->state = state;
}

@ Where a text matches and no other token may follow, only the end token is left, and it is chosen. If there is no end token, because the model has none or because the caller ignores it, chapter 3's loop asks |constraint_cursor_should_stop|, which ends the text.

@<End a text that nothing may follow@>=
/* Only without end tokens: with one the model decides when to end. A text that matches and can
   go on is not ended. */
bool constraint_cursor_should_stop(void *ctx, const struct continuation *text,
  bool *enough,
  struct error *why)
{
  struct constraint_cursor *b = ctx;
  size_t written = text->text.n - text->n_prompt;
  if (b->c == NULL || b->n_eos > 0 || written >= b->max_tokens) return true;
  bool accepts, any = false;
  if (!constraint_mask(b->c, b->state, b->max_tokens - written, b->allowed,
      &accepts, why)) return false;
  for (size_t i = 0; i < b->vocab; i++) any = any || b->allowed[i] != 0;
  *enough = accepts && !any;
  return true;
}
@#
bool constraint_cursor_matches(const struct constraint_cursor *b, bool *yes,
  struct error *why)
{
  size_t min_tokens = 0;
  bool ok = b->c == NULL || constraint_minimum(b->c, b->state, &min_tokens, why);
  *yes = ok && min_tokens == 0;
  return ok;
}
  /* the least number of tokens to the end is 0 exactly if the text may end here */

@ The cursor is a module of its own, since it depends on chapter 3's loop; the constraint depends only on bytes and tokens.

@(bond.h@>=
#ifndef INCIPIT_BOND_H
#define INCIPIT_BOND_H
#include "loop/generate.h"
#include "constraints/constraint.h"
@<The cursor of a text@>@;
#endif

@ The cursor is a small file, since all that is hard is in the automaton.

@(bond.c@>=
/* A constraint, a state of it, and a limit: the rule that a sampler obeys for one text. The
   state is a number, so saving and restoring is copying it. End tokens are no part of the
   language: they are allowed exactly where the text may end, and taking one changes nothing.
   The cursor borrows the constraint and the list of end tokens and owns |allowed|. */
#include "constraints/bond.h"
@;@#
@<Open and close a cursor@>@;
@<Narrow the choice to what may come@>@;
@<End a text that nothing may follow@>@;

@* An object of JSON. \label{sec:jsongrammar}
We supply the grammar that most users want. RFC 8259 \cited{Bray 2017} defines a JSON object; we restrict it in three ways, so that every text of our grammar is still valid JSON. Between the parts we allow at most one blank, or a line's end and up to 32 blanks, and before a colon none: a model that may write blanks for ever sometimes does. Numbers have at most 15 digits before and after the point and two in the exponent, for the same
reason, and because JSON readers differ on longer ones. Finally, escaped surrogates must come in pairs, and the character zero is not allowed, since a reader in C may take it for the end of the string.
@^JSON@>

@<An object of JSON@>=
const char constraint_json[] =
  "root ::= object\n"@|
  "object ::= \"{\" ws ( member (\",\" ws member)* )? \"}\"\n"@|
  "member ::= string \":\" ws value ws\n"@|
  "array ::= \"[\" ws ( value ws (\",\" ws value ws)* )? \"]\"\n"@|
  "value ::= object | array | string | number | \"true\" | \"false\" |"@|
  " \"null\"\n"@|
  "string ::= \"\\\"\" ( [^\"\\\\\\x00-\\x1f] | escape )* \"\\\"\"\n"@|
  "escape ::= \"\\\\\" ( [\"\\\\/bfnrt] | \"u\" unit )\n"@|
  "unit ::= [1-9a-cefA-CEF] hex hex hex | \"0\" [1-9a-fA-F] hex hex |\n"@|
  "  \"00\" [1-9a-fA-F] hex | \"000\" [1-9a-fA-F] |\n"@|
  "  [dD] ( [0-7] hex hex |\n"@|
  "    [89abAB] hex hex \"\\\\u\" [dD] [c-fC-F] hex hex )\n"@|
  "hex ::= [0-9a-fA-F]\n"@|
  "number ::= \"-\"? (\"0\" | [1-9] [0-9]{0,14}) (\".\" [0-9]{1,15})? (\n"@|
  "  [eE] [-+]? [0-9]{1,2} )?\n"@|
  "ws ::= (\" \" | \"\\n\" [ ]{0,32})?\n";
@* The table of the box, computed. \label{sec:laugh}
Now the program can repeat the hand calculation. The pieces are those of the box; a dash marks a piece that cannot come in a state. As in the box, states are numbered in the order in which they are met; in the constraint's own numbers there are gaps, since it also has states in the middle of tokens, and a dead one.

@<Make the table of the hand calculation@>=
enum { LAUGHS = 7, LAUGH_STATES = 4 };
static const char *const laugh_piece[LAUGHS] = @[{ "h", "a", "!", "ha", "ah",@|
  "a!", "haha" }@];
static const char laugh[] = "(ha)+!";
struct laughing { uint32_t state[LAUGH_STATES]; size_t n; };
static size_t met_as(struct laughing *x, uint32_t state)
{
  size_t k = 0;
  while (k < x->n && x->state[k] != state) k++;
  if (k == x->n && k < LAUGH_STATES) x->state[x->n++] = state;
  return k;
}

@ A row of the table asks for each piece where it leads. Here a refusal is an answer too, so its message is not needed.

@<Make the table of the hand calculation@>=
static bool print_laugh(struct constraint *c, struct error *why)
{
  struct laughing x = @[{ .state[0] = constraint_start(c), .n = 1 }@];
  uint32_t next;
  size_t tokens;
  printf("%s\nstate", laugh);
  for (uint32_t i = 0; i < LAUGHS; i++) printf("%5s", laugh_piece[i]);
  printf("   to the end\n");
  for (size_t k = 0; k < x.n; k++) {
    printf("%5zu", k);
    for (uint32_t i = 0; i < LAUGHS; i++)
      if (constraint_step(c, x.state[k], i, &next, NULL))
        printf("%5zu", met_as(&x, next));
      else printf("    -");
    if (!constraint_minimum(c, x.state[k], &tokens, why)) return false;
    printf("%13zu\n", tokens);
  }
  return true;
}

@ The order in which the rows meet the states decides their numbers. From state 0, \tok{h} comes first and leads to 1, \tok{ha} to 2; state 3 is met from 1. So the numbers agree with those of the box.

Last, we ask for a limit of 1, which must be refused.

@<Make the table of the hand calculation@>=
static bool laugh_aloud(struct memory *m, struct error *why)
{
  struct token_bytes spelt[LAUGHS];
  uint8_t allowed[LAUGHS];
  struct error none;
  bool accepts;
  for (int i = 0; i < LAUGHS; i++)
    spelt[i] = (struct token_bytes) @[{ (const unsigned char *) laugh_piece[i],@|
      strlen(laugh_piece[i]) }@];
  struct lexicon *l = lexicon_open(m, spelt, NULL, LAUGHS, why);
  struct constraint *c = l == NULL ? NULL
    : constraint_regex(m, laugh, strlen(laugh), why);
  bool ok = c != NULL && constraint_bind(c, l, false, why)
    && print_laugh(c, why);
  if (ok && !constraint_mask(c, constraint_start(c), 1, allowed, &accepts,@|
    &none)) printf("%s\n", none.text);
  constraint_free(c);
  lexicon_close(l);
  return ok;
}

@ The program prints the table, and the refusal of a limit that is too small.

\widecheckpoint{build/out/constraints.txt}{a laugh}

@* The constraint over a vocabulary. \label{sec:eyes}
The built-in model has a small vocabulary. Its tokenizer gives the pieces, and the ids that are marked special are not usable. For five constraints\lab{lab:constrainteyes}
a program of the laboratory counts the nodes of the network, the classes of bytes that it distinguishes, the tokens that may begin a text, and the least number of tokens in a text. That last number is not
the number of bytes of the shortest text: \texttt{yes} has three bytes, and may be one token.

\Cref{sec:constraintcheck} has the table. A dot takes more than two dozen nodes, for characters of one to four bytes; the story's pattern, with its many dots, has \val{constraint.story.nodes} nodes, while all of JSON needs \val{constraint.json.nodes}. These nodes take some memory, but no time until a text reaches them. In tokens it is the other way round: a story of three dozen letters can be told in \val{constraint.story.least} tokens, if it may consist of long words in any order; a
date takes one for each of its ten signs, because this vocabulary joins no digits.

@* The built-in model fills in a form. \label{sec:writesjson}
The built-in model was trained on little stories and has never seen JSON. This suits our test: if its text is an object, the constraint has made it one. The model is given three words of a story and may then write \val{constraint.json.budget} tokens of a JSON object, or \val{constraint.card.budget} tokens of a card that a grammar of our own describes. We always take the allowed token with the highest logit. (Chapter 7 samples among the allowed tokens instead; its loop needs one more line for this.)

The resulting texts\lab{lab:constraintwrites} are at the end of the box in \cref{sec:constraintcheck}. JSON is the most liberal of our constraints. The model's object consists of two strings, a name and its value, both from a story: between quotation marks nearly every token is allowed. Of the \val{constraint.json.budget} tokens only \val{constraint.json.overruled} are not what it would have
written anyway.

The card is stricter: a name, an age, and some friends, where each name is a capital letter and up to eleven small ones. \Cref{fig:allowed} shows how many tokens were allowed at each step. Where the grammar spells out its own words, there are only a few ways to cut them into tokens. At the beginning of a name nearly a third of the vocabulary is allowed, and with each letter fewer tokens are, since a piece must fit into what is left of the eleven. At the end the model can add
no more friends, because the budget is running out. After step \val{constraint.card.closing} each token had to be one on a shortest way.

\fig{allowed}{fig:allowed}{How many of the \val{constraint.vocab} tokens were allowed at each step of writing a card (points), and the least number of tokens that would then complete it (bars). The line is the budget that was left.}{A plot over the steps with a logarithmic axis. Points lie between one token and nearly a third of all, high within
names and low between them. Bars below sink step by step from more than 20 to none, and the falling line of the tokens that are left meets them near the right end.}

@* The check. \label{sec:constraintcheck}
The laboratory prints the counts for the five constraints with the built-in model's vocabulary, and the two texts. At the end the program checked each text against its constraint once more, byte by byte, without tokens.

\widecheckpoint{build/out/laboratory/constraints.txt}{five constraints, and what a storyteller makes of them}

@* Exercises. \label{sec:constraintexercises}
The command beside an exercise checks the answer with the code of this chapter.

\begin{exercises}
\exercise{check}{ex:constraint.laugh}{Take the piece \tok{a!} out of the vocabulary of the laugh. What is the last column of its table then, from state 0 to state 3? And which pieces may come in state 1 when two tokens are left?}{\texttt{make exercise-W9-1}}{2, 2, 1, 0. Only \tok a: after \tok{ah} we are in state 1 again, and need two more.}
\exercise{think}{ex:constraint.states}{The pattern \texttt{(a\char124b)*a(a\char124b)\char123$k$\char125} asks for an \texttt a followed by exactly $k$ more letters. How many states has its automaton for $k=1$, $2$, $3$, $10$, the dead one not counted?}{\texttt{make exercise-W9-2}}{$2^{k+1}$. Until the text is over the automaton cannot know whether an \texttt a is the one that counts, so it must remember which of the last $k+1$ letters were \texttt a. The network needs only a few nodes more than $k$; this is why we make states only when they are needed.}
\exercise{check}{ex:constraint.sums}{Write a grammar of sums and differences of whole numbers without leading zeros and without blanks. Any number of parentheses is allowed, but none may be empty: \texttt{7}, \texttt{1+(20-3)}, \texttt{((4))-5+6}. Our compiler must accept the grammar.}{\texttt{make exercise-W9-3}}{The obvious rule, that a sum is a sum, a sign and a term, is left recursive. Use a star: a sum is a term and any number of further terms, each with a sign before it; a term is a number, or a sum in parentheses.}
\end{exercises}
