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
\incipit{Y}{ou ask a model} for an object in JSON, and pass its answer to a parser. Most of the time there is an object. Sometimes there is a remark about objects first, and sometimes the limit of tokens cuts a string in half.
You can ask again, and hope. Or you can make everything else impossible. A model's last step is to choose one token of many. Before it chooses, we forbid each token after which the text could no longer become an object.
What is left may be likely or unlikely, but the text has the form every time. This is \emph{constrained decoding}.
@^constrained decoding@>

You state the form as a \emph{regular expression} or as a \emph{grammar}. How do we find the tokens that it forbids? The first idea is to append each token to the text and ask a parser. That fails twice. A parser says right or wrong, and we need a third answer, ``right so far''. And Llama~3 has \given{128\,256} tokens, so we would parse the whole text \given{128\,256} times before each choice.

Nor can we parse token by token. Both languages describe letters, and a token may end in the middle of a word, or even of a character, or begin in one thing and end in another: \texttt{"\char125,}, a common token in JSON, ends a string, closes an object and goes on in the list around it. So we want a machine that reads bytes, and in each of its states knows what may follow; a token is allowed in a state if the machine can read all its bytes from there. And we want the answer for all tokens in less time than the model takes for one.

There is a second problem. The length of a text is limited, and the model does not know the limit. If an object is cut off in the middle, it was useless to obey the constraint up to there. So for each state we also
compute how many tokens it takes to complete the text, and forbid a token that leads too far away for the tokens that are left. Then every text is complete, and a limit that is too small is refused before anything is written.

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

@ From the text of a pattern to a mask there are five steps, and each of them makes something. A \emph{tree} says what a text is made of. A \emph{network} says what may come next. A \emph{state} says where in the network a text may be. A \emph{trie} has the vocabulary, so that we can walk through all tokens at once. And each state has a \emph{number}, the tokens that it takes to the end. The chapter goes through them in this order. What only surrounds them is plain C in \.{unwoven/constraints}: the two parsers, opening and closing, and the sorting of a vocabulary.

The program of this chapter computes the table of the box, so that you see a constraint at work before you see how it is made.

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
You make a constraint from a pattern or a grammar, and bind it to a vocabulary. To check a whole text it needs no vocabulary at all. It makes its states when they are first met, so even a question may fail for lack of memory, and only one thread at a time may use it.
@^constraint@>

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

@ The caller gives the vocabulary as pieces: for each id its bytes. The same vocabulary serves many constraints, and sorting it takes longer than compiling most patterns, so it is sorted once, in an object of its own, a \emph{lexicon}. A lexicon does not change, and many threads may share it. The
caller says which ids may be used at all. Special tokens may not, since their names are not text. The end-of-text token is not in the lexicon either; the constraint decides when it may come.
@^lexicon@>

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

@ The other functions serve the steps of a loop: which tokens may come next, and to which state does the chosen one lead? A state is a number. You can keep a number beside a text, save it, compare it and go back to it. The budget counts the tokens that may still be written: the next one counts, an end-of-text token does not. Without a limit, pass |SIZE_MAX|.

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

@ States are kept until the constraint is told to forget them, or is bound again. A pattern has finitely many. A grammar that can nest has infinitely many, so a server that has answered very many requests may want to forget some; |constraint_look| says how much there is.

@<Steps of a constraint@>=
struct constraint_look { size_t nodes, classes, states, bytes; };
  /* nodes of the network, classes of bytes that it distinguishes, states
     found so far, bytes they take */
struct constraint_look constraint_look(const struct constraint *c);
  /* the present numbers */
bool constraint_forget(struct constraint *c, struct error *why);
  /* forgets all states but those of the beginning; all numbers are invalid,
     ask |constraint_start| again; after a failure call |constraint_free| */

@ All of it is one header.

@(constraint.h@>=
#ifndef INCIPIT_CONSTRAINT_H
#define INCIPIT_CONSTRAINT_H
#include "ground/ground.h"
@<A constraint@>@;
@<A vocabulary in order@>@;
@<Steps of a constraint@>@;
#endif

@* The table of the box, computed. \label{sec:laugh}
Here is a user of this interface. We number the states as the box does, in the order in which we meet them. (The constraint's own numbers have gaps, since it also has states in the middle of tokens, and one from which nothing can follow.)

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

@ A row of the table asks for each piece where it leads. A refusal is an answer here, so we do not ask for its message.

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

@ Open a lexicon, make a constraint, bind the two: that is all it takes. At the end we ask for a limit of 1, which must be refused.

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

@ From state 0, \tok{h} comes first and leads to 1, \tok{ha} to 2; state 3 is met from 1. So the numbers agree with those of the box, and so does the rest.

\widecheckpoint{build/out/constraints.txt}{a laugh}

@* Two languages and one tree. \label{sec:constraintshapes}
A pattern is good for a date or a choice of words. But can a pattern describe an object that has objects in it? No regular expression can: to check brackets you must count them, and a pattern cannot count. So there is a second language, in which things have names, and a thing may contain its own name. \Cref{tab:constraintlanguages} puts the two side by side.
@^regular expression@>@^PCRE2@>

\begin{table}
\tabcaption{tab:constraintlanguages}{What you can write. Everything else is refused with a sentence that names the place.}
\begin{tabular*}{\textwidth}{@@{}p{31mm}@@{\extracolsep{\fill}}p{37mm}p{37mm}@@{}}
\tabhead{what} & \tabhead{in a pattern} & \tabhead{in a grammar}\\
\midrule
a text & \texttt{yes} & \texttt{"yes"}\\
any character & \texttt{.} (no line's end) & \texttt{.}\\
one of a set & \texttt{[a-z]}, \texttt{[\char94 a-z]}, \texttt{\char92 d}, \texttt{\char92 w}, \texttt{\char92 s}, \texttt{\char92 D}, \texttt{\char92 W}, \texttt{\char92 S} & \texttt{[a-z]}, \texttt{[\char94 a-z]}\\
either of two & \texttt{yes\char124 no} & \texttt{"yes" \char124\ "no"}\\
a group & \texttt{(ha)}, \texttt{(?:ha)} & \texttt{("h" "a")}\\
how often & \texttt{?}, \texttt{*}, \texttt{+}, \texttt{\char123 2\char125}, \texttt{\char123 2,\char125}, \texttt{\char123 2,5\char125} & the same\\
escapes & \texttt{\char92 n}, \texttt{\char92 r}, \texttt{\char92 t}, \texttt{\char92 f}, \texttt{\char92 x41}, \texttt{\char92 x\char123 41\char125}, and \texttt{\char92} before a sign & \texttt{\char92 n}, \texttt{\char92 r}, \texttt{\char92 t}, \texttt{\char92\char92}, \texttt{\char92"}, \texttt{\char92 [}, \texttt{\char92 ]}, \texttt{\char92 x41}, \texttt{\char92 u0041}, \texttt{\char92 U00000041}\\
a rule & & \texttt{name ::= "h" name}\\
a comment & & \texttt{\char35\ up to the line's end}
\end{tabular*}
\end{table}

\emph{Patterns} are a subset of those of PCRE2, which the pre-tokenizers of chapter 1 use, with the same meaning: a pattern must not mean one thing there and something else here. The whole text must match. So the signs \.{\char94} and \.{\$} say nothing where people like to put them, at the beginning and the end, and we read over them there; and a repetition may ask for ``as few as possible'' or not, which makes no difference.

Why is the rest refused? No finite automaton can handle a back reference, which asks what was written long ago. Possessive repetitions and atomic groups control how a search backtracks, and would even take matches of a whole text away. Lookahead, Unicode properties and named classes we left out to stay short. And where dialects disagree, we do not guess: to some \.{[]} is an empty set, to others the beginning of a longer one.

@ \emph{Grammars}\label{sec:grammars} are a subset of GBNF, the notation of \emph{llama.cpp}, in which many grammars have been published. A rule has a name, the sign \.{::=}, and what the name stands for, up to the end of the line; you may break the line after that sign, after a bar, and within parentheses. The whole text must match the rule called \.{root}. Here is one that we shall use for the rest of the chapter. It makes the texts \texttt{[7]}, \texttt{[[7]]}, \texttt{[[[7]]]} and so on:

\medskip
\leavevmode\hbox{}\qquad\texttt{root ::= "[" ( root \char124\ "7" ) "]"}
\medskip
@^grammar@>@^GBNF@>

Patterns and grammars differ more in notation than in what they can say, so both parsers make the same kind of \emph{abstract syntax tree} (AST), from six kinds of nodes. Only a grammar makes the last kind.
@^abstract syntax tree@>

\printedheader[ast_kind, ast_node]{constraints/parser.h}

@ The parsers work by \emph{recursive descent}: a choice consists of sequences, a sequence of things, and a thing in parentheses is a choice again, so each of the three is a function that calls the next. This one reads a choice.
@^recursive descent@>

\printedfunction{constraints/pattern.c}{read_choice}

No call is followed by a question whether it failed. A part that could not be read is |NO_AST_NODE|, and |parser_join| makes |NO_AST_NODE| of whatever would contain it; the sentence has been written by then. (A text of nothing but parentheses would make these functions call each other until the stack overflows. So a parser counts the depth, and stops at \given{100}.)

A set is a list of ranges, in any order, and perhaps negated. When it is complete, |parser_set| sorts the ranges and joins those that touch. To negate it we need the gaps, of which there may be one more than ranges. So we add an empty range after the last character of Unicode, and write the gap before each range into the same list.

@* The transition network. \label{sec:constraintnetwork}
A tree says what a text is made of. To read a text from left to right we need to know something else: what may come next? So we turn each tree into a part of a \emph{network}, with four kinds of nodes. One reads a byte from a range and goes on to another node. A \emph{fork} goes on to either of two nodes. A \emph{call} goes through a rule and then on to a node. And one node ends the rule. \Cref{fig:network} has the network of our grammar.

\fig{network}{fig:network}{The network of \texttt{root ::= "[" ( root \char124\ "7" ) "]"}, and where a text may be in it. Each tile is a node that waits, with the nodes to return to under it, the next one on top.}{Above, six nodes from left to right: node 5 reads an opening bracket and leads to fork 4; one way goes to call 3, which goes through root and then to node 1, the other to node 2, which reads a 7 and leads to node 1; node 1 reads a closing bracket and leads to node 0, the end. Below, six texts, and under each the nodes that wait with their stacks: before anything, node 5; after one bracket, node 2 with nothing and node 5 on a stack of node 1; after two brackets, node 2 on one and node 5 on two; after the 7, node 1 on one; after a closing bracket, node 1 with nothing; after the last, node 0.}

For patterns this is Thompson's construction of a \emph{nondeterministic finite automaton} (NFA), and with the third kind of node it is what Woods called a \emph{recursive transition network}.\side{Ken Thompson, 1968, for an editor \cited{Thompson 1968}; William Woods, 1970 \cited{Woods 1970}, for questions about rocks from the moon.} It needs a stack of the nodes to return to when rules end; a pattern has a single rule, which is never called, and needs no stack.
@^NFA@>@^recursive transition network@>@^Thompson, Ken@>@^Woods, William@>

\cited[Willard and Louf 2023]{Willard 2023} described how to mask the tokens of a language model with an automaton; their program \emph{Outlines} computes the whole table of states and tokens in advance. \emph{XGrammar} (\cited[Dong and others 2024]{Dong 2024}) keeps a stack for grammars, as we do, and computes in advance everything that does not depend on the stack.

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

@ Three files work on a network. \.{unwoven/constraints/nodes.c} adds single nodes. \.{net.c}, below, makes them from a tree. And \.{unwoven/constraints/networks.c} makes a whole network and refuses rules that cannot work.

@(net.h@>=
#ifndef INCIPIT_NET_H
#define INCIPIT_NET_H
#include "lookups/table.h"
#include "constraints/parser.h"
@<A network@>@;
#endif

@ We make the nodes from the end of a text to its beginning: the maker of a part is told which node follows, and returns the first of its own. So every node knows its successor when it is made. In \cref{fig:network} the end has number 0, the closing bracket 1, and the opening one comes last. Where two nodes would read the same bytes and go on to the same node, |net_add| makes only one. This saves much, since a set of characters makes many chains with the same ends.

\emph{Characters are not bytes.} A character has one to four bytes, so a range of characters is seldom a single range of bytes. The characters from U+00E0 to U+0120 are |0xc3| with |0xa0| to |0xbf|, and |0xc4| with |0x80| to |0xa0|. But we can cut any range into parts in which, written as UTF-8, each byte has a range of its own, independent of the other bytes: cut where the length changes, and then wherever the last six, twelve or 18 bits
do not run through all their values. The function returns the last character of the first part.
@^UTF-8@>

\printedfunction{constraints/characters.c}{cut}

Is one pass of the second loop, from long tails to short ones, enough? Take the first tail at which |lo| and |hi| differ in the bits above. If |lo|'s tail is not zero, |hi| comes down to the end of |lo|'s block, and from then on the two agree above this tail. If |lo|'s tail is zero and |hi|'s is not all ones,
|hi| comes down to a tail of all ones, so that its shorter tails are all ones as well. In either case no later step undoes this.

The parts of a set become chains of nodes, joined by forks. Surrogates are left out, since no text contains them. And what becomes of an empty set, which matches nothing? A fork that leads only to itself, so that no way goes on from it to the end.

@ How does a star become nodes? As a fork: one way leads to the thing and back to the fork, the other leads on. The fork must be made first, since the thing leads back to it, and it is the only node that is mended later. A plus enters this loop at the thing. A minimum above one becomes copies before the loop. And \.{x\{2,4\}} becomes two copies of \.{x} and then two that can be skipped: the third together with the fourth, or the fourth alone.

@<Make nodes for a repetition@>=
/*- For ever: a fork is made first and mended when what it leads to is there. Otherwise the
   optional copies are made from the last to the first, each with a way out; then those that
   must come. */
static uint32_t emit_times(struct net *w, const struct parser *r,
  const struct ast_node *s, uint32_t next, struct error *why)
{
  uint32_t min = s->min, tail = next, first;
  if (s->max == PARSER_FOREVER) {
    tail = net_fork(w, next, next, why);
    first = tail == NO_NODE ? NO_NODE : net_emit(w, r, s->a, tail, why);
    if (first == NO_NODE) return NO_NODE;
    ((struct net_node *) w->nodes.block)[tail].next = first;
    if (min > 0) tail = first, min--;
  } else for (uint32_t i = s->min; i < s->max && tail != NO_NODE; i++)
    tail = net_fork(w, net_emit(w, r, s->a, tail, why), next, why);
  for (; min > 0 && tail != NO_NODE; min--)
    tail = net_emit(w, r, s->a, tail, why);
  return tail;
}

@ Now the whole tree. Long sequences and choices lean to the left, since they were joined from the left, and a loop goes down this side; only parentheses make the function call itself, and their depth is limited.

Copies of an empty thing make no nodes, but they take time, and three counts of \given{1000} within
one another ask for $10^9$ of them. So we count the work as well.

@<Make nodes for a shape@>=
/*- Sequences and choices hang to the left and are walked in loops, so the depth of the calls is
   that of the parentheses. The work is counted here, where all of it passes. */
uint32_t net_emit(struct net *w, const struct parser *r, uint32_t at,
  uint32_t next, struct error *why)
{
  const struct ast_node *all = r->nodes.block, *s = &all[at];
  if (++w->work > NET_MAX_WORK) return error_say(why, "%s: it is too large:"@|
    " its repetitions come to too much", w->name), NO_NODE;
  for (; s->kind == AST_BOTH && next != NO_NODE; s = &all[s->a])
    next = net_emit(w, r, s->b, next, why);
  if (next == NO_NODE || s->kind == AST_EMPTY) return next;
  if (s->kind == AST_TIMES) return emit_times(w, r, s, next, why);
  if (s->kind == AST_SET) return net_set(w,@|
    (const struct code_range *) r->ranges.block + s->a, s->b, next, why);
  if (s->kind == AST_CALL) return net_add(w, (struct net_node) @[{ NET_CALL,@|
    0, 0, next, s->a }@], why);
  uint32_t any = net_emit(w, r, s->b, next, why);
  for (s = &all[s->a]; s->kind == AST_EITHER && any != NO_NODE;
      s = &all[s->a])
    any = net_fork(w, net_emit(w, r, s->b, next, why), any, why);
  return any == NO_NODE ? any : net_fork(w,
    net_emit(w, r, (uint32_t) (s - all), next, why), any, why);
}

@* Bytes to the end. \label{sec:least}
How many bytes does it take from a node to the end of its rule, at least? A node of bytes needs one more than the node after it, a fork the smaller number of its two, a call the called rule's own number plus that of the node after it. Try it on \cref{fig:network}: node 1 has 1 and node 2 has 2. Node 3 needs the number of node 5, which needs that of fork 4, which needs the smaller of node 2's and node 3's. A circle? Through node 3 there is a whole \texttt{root} to read, so node 2 is the shorter way: the fork has 2, node 5 has 3, and node 3 has $3+1=4$.

The code breaks the circle otherwise. All numbers begin at |NET_NEVER|, and each is computed again from the others, until nothing changes.\side{Knuth showed in 1977 how to do it in one pass, with a heap \cited{Knuth 1977}.} Numbers only decrease, so this ends; and as nodes are made from the end, the first pass finds nearly all of them.

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

@ What stays at |NET_NEVER|? A fork that leads only to itself, and a rule that always calls itself: no text ever gets out of it. A pattern with such a beginning matches nothing, and is refused; so is a rule.

If each rule calls the next one twice, the numbers double with every rule, and with 31 rules the shortest text has more than $10^9$ bytes. So |net_sum| stops at |NET_MAX_LEAST|.

@<Find the least number of bytes to the end@>=
/*- To a fixed point: numbers only become smaller, so it ends. Nodes are made from the end, so
   one round is nearly enough, except for rules that call each other. */
bool net_find_least(struct net *w, struct error *why)
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

@ The file has both: the nodes of a tree, and the numbers.

@(net.c@>=
/** From a tree to a transition network. It is built from its end: each part is told the node
   |next| where it goes on, so no node has to be mended later but the loop of a repetition. Node
   0 is the end of a rule, of all of them. |least[i]| is the least number of bytes from node |i|
   to the end of its rule, and |NET_NEVER| if there is none. The work of making nodes is bounded. */
#include "constraints/nodes.h"
@;@#
@<Make nodes for a repetition@>@;
@<Make nodes for a shape@>@;
@<Find the least number of bytes to the end@>@;

@ A rule can be wrong in another way. Can it call itself before a byte has been read? That is \emph{left recursion}, as in \texttt{sum ::= sum "+" term}, even if it is hidden because something that can be empty comes first. It would let the stack grow without limit between two bytes, so it is refused. A second question is not about errors: can a rule call itself with something left to do afterwards? Then it \emph{nests}, as our \texttt{root} does, and there are infinitely many states. A rule that calls itself only at its very end is just a loop.
@^left recursion@>

Both questions are answered by one search from the rule's first node, in |comes_again| (\.{unwoven/constraints/networks.c}). For the first question it stops at nodes of bytes, and goes on after a call only if the called rule can be empty; for the second it does not stop.

@* States: where a text may be. \label{sec:standing}
Several ways through the network may be open at once. After \texttt{[} in \cref{fig:network} two nodes wait, one for \texttt{7} and one for another bracket. They also differ in what is left to do. Node 5 is in a second \texttt{root}, and will have to go back to node 1 of the first. So we write down pairs: a node that waits for a byte, and a stack of nodes to return to. A \emph{configuration} is a set of such pairs. One more pair, the end and the empty stack, says that the
text is complete. Two texts that lead to the same configuration can be continued in the same ways, so a configuration is all that a state has to remember.
@^configuration@>

Follow the figure. After \texttt{[[} node 2 waits, with node 1 to return to, and node 5 with two returns. A \texttt{7} leads on only from node 2; one pair is left, and the model has no choice any more. The next bracket ends the inner rule, so node 1 is taken from the stack.

We make a configuration when it is first needed, and keep it. From then on a byte leads from one state to another as in a table, and the table grows while we read: a \emph{deterministic finite automaton} (DFA) that is built lazily. The idea of following all ways at once, instead of trying one after the other, is Thompson's as well.
@^DFA@>@^automaton@>

@<Stacks and configurations@>=
struct call_frame { uint32_t back, below, least; };
  /* where to go on, the stack below, and the bytes that it takes to empty it */
struct position { uint32_t node, stack; };
  /* a node that waits, and the number of its stack */
struct dfa_state { uint32_t number, n, least, cost; bool accepts;
  size_t round, gathered, n_after; struct dfa_state **after; struct position *at;
  struct dfa_state *next[]; };
  /* |n| pairs in order; the least number of bytes to the end, and of tokens,
     or |COST_UNKNOWN|; the |n_after| others to which one token leads, or NULL;
     for each class of bytes the next state, or NULL if not yet computed */
#define COST_UNKNOWN (UINT32_MAX - 1)

@ Stacks share their lower parts: a stack is a node to return to, on top of another stack. Each stack that occurs is kept once and has a number, so comparing stacks means comparing numbers; the empty one is 0. For each we note how many bytes it takes, at least, to empty it. The constraint has all of this: the network, the states in a list and in a table by their pairs, the stacks, and what the vocabulary adds.

If no node distinguishes two bytes, a state need not distinguish them either. We put them into one class, which makes the table |next| of each state shorter: JSON has \val{constraint.json.kinds} classes instead of \given{256}.

@<What a constraint knows@>=
enum { MAX_BYTES = 1 << 28, MAX_PAIRS = 1 << 16, MAX_WAYS = 1 << 20 };
  /* limits: bytes of all states, pairs of one, pairs that a search meets */
enum tried { UNTRIED, WHOLE, ENDLESS };
  /* have all tokens to the end been counted together, and were they few enough? */
struct constraint { struct memory *m; struct net w; uint8_t byte_class[256];
  char name[200]; size_t n_classes, closures, ways, bytes, round, gathers;
  struct array states, stacks, todo;
  struct pair_map stack_of, visited; struct name_map by_pairs; struct heap found;
  struct dfa_state *dead, *start, *first; const struct lexicon *words;
  bool strips, complete; uint8_t lacking; enum tried known;
  struct dfa_state **at, **reached; size_t n_at; struct array pending,
  group; };
  /* |at| for each depth of a walk, and |reached| for each piece, in one block */

@ Entering a rule pushes a frame. There is one exception, the \emph{tail call}. If nothing is left to do after the call, there is nothing to come back to: the inner rule can return directly to the frame below. So a rule that ends by calling itself runs like a loop, and its stack does not grow.
@^tail call@>

@<Push a frame@>=
/*- A call at the end of a rule has nothing to come back to, so it pushes nothing: without this a
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

@ Now the search. From each pair we go on without reading a byte, through forks, into rules and out of them, until only nodes are left that wait. We may meet a pair twice, around a star whose thing can be empty, but must follow it only once. The table |visited| has for each pair the number of the last search that met it, so it need not be cleared between searches. And we never enter a node from which the end cannot be reached. So every pair that is kept can be completed, and a configuration without pairs is dead.

How many pairs can there be? A grammar of a few lines can open a great many ways before a single byte is read, if each rule calls the next in two different ways and the last is empty: with 30 such rules there are $2^{30}$ stacks. So we count the pairs of a search, and give up beyond |MAX_WAYS|.

@<Follow all ways to where they wait@>=
/*- |visited| holds the number of the search that met a pair last, so it is never emptied. Nodes
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

@ We take one pair from the list and look at its node. Four kinds of nodes, four things to do. A pair that waits goes into a heap, which will return the pairs in order, so that equal sets become equal arrays.

@<Follow all ways to where they wait@>=
/*- Goes on through what reads nothing. What waits for a byte, or is the end of all, is collected
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

@ When the list is empty, the heap has the whole configuration. Have we met it before? Its array of pairs is a string of bytes like any other, so a table of names finds it.

@<Follow all ways to where they wait@>=
static void begin_search(struct constraint *c)
{
  c->closures++;
  c->todo.n = c->found.n = 0;
  c->ways = 0;
}
static bool follow_all(struct constraint *c, struct error *why)
{
  while (c->todo.n > 0)
    if (!follow(c, ((struct position *) c->todo.block)[--c->todo.n], why))
      return false;
  return true;
}
@#
/*- Sorting first, since the same set must be found again whatever way led to it. The list
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

@ And where does a text begin? At the first node of the root, with an empty stack. A new constraint has two states, the dead one and this one. If the first token loses a blank there is a third, a copy of the start that is not in the table: no text returns to it, so a text in this state is empty.

@<Begin with nothing known@>=
/*- With |strips| the beginning of the text is a state of its own, equal to |start| but never
   found by its pairs: only there does the first token lose its blank. */
bool state_first(struct constraint *c, struct error *why)
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

@ To find the next state after a byte, all pairs that wait for this byte go on. The answer is kept under the byte's class, for the next time. Nearly always it is there already, and this case must be fast, since the walk through the tokens consists of it; so |advance| is small enough to be inlined.

@<Find the next configuration@>=
/*- |byte| stands for its whole class: the answer is kept under the class */
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
@#
/*- the fast way, taken for nearly every byte; null only after an error, since dead is a state */
static inline struct dfa_state *advance(struct constraint *c,
  struct dfa_state *x, uint8_t byte, struct error *why)
{
  struct dfa_state *next = x->next[c->byte_class[byte]];
  return next != NULL ? next : discover(c, x, byte, why);
}

@ With this we can already check a whole text. From the first byte that cannot come, the state is dead.

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

@* A trie of the pieces. \label{sec:lexicon}
Which of \given{128\,256} tokens are possible in a state? We could read each of them from there. But many begin alike, and if the machine fails on the first letter of one, it fails on the same letter of the next. So we put the pieces into a \emph{trie}, a tree in which pieces that begin alike share a path. A letter that cannot come cuts off everything after it. \Cref{fig:trie} has the pieces of the laugh: from state 1, five looks decide about seven pieces and all their letters.
@^trie@>

\fig{trie}{fig:trie}{The seven pieces of the box as a trie, and as the array in which it is stored. From state 1 the letters in red are read and lead to a state; the crossed-out ones cannot come, and the walk goes on where their arc ends.}{Above, a tree: from the root to an exclamation mark, to a, and to h; from a to an exclamation mark and to h; from h to a chain of a, h, a. Under each letter that was read from state 1 is the state that it leads to: a to 2, a! to 3, ah to 1. The exclamation mark and the h at the root are crossed out, and the chain behind the h is drawn faint. Below, the same eight letters in a row of cells; an arc from the h jumps over the three cells behind it to the end.}

The tree is an array, each letter before those that follow it in a piece, so that a walk mostly goes to the next element. Each element also says where to go on if everything that hangs on it is cut off. The pieces are numbered in their order, and an element has the number of the first piece that it belongs to. (Some vocabularies spell two tokens alike, usually by an oversight. The two are one piece, and are allowed or forbidden together.)

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

@ Sorted pieces already determine the tree: a piece shares its first few letters with the one before it, and all its other letters are new. So \.{unwoven/constraints/lexicon.c} sorts the pieces, counts the letters that are new, and writes them down in one pass.

The insides of a constraint and of a lexicon are in one header, which only the files of this module include.

@(inside.h@>=
#ifndef INCIPIT_CONSTRAINT_INSIDE_H
#define INCIPIT_CONSTRAINT_INSIDE_H
#include "constraints/constraint.h"
#include "constraints/net.h"
@<The pieces as a tree@>@;
@<Stacks and configurations@>@;
@<What a constraint knows@>@;
#endif

@* The mask of a state. \label{sec:walk}
A walk goes through the trie and keeps the state at each depth. At its end we know for each piece where it leads. Nearly all the time of a mask is spent here, so the loop does little: it takes the next letter and the state above it, finds the state after the letter, and writes one entry for the piece. If the state is dead, it skips.

Look at the assignment to |reached|. It is made for every letter, not only where a piece ends. Is that wrong? The last letter of a piece comes after all its others and overwrites what they have written. A test whether a piece ends here would be a branch that the processor cannot predict, and would cost more time than all the rest. And where a path is cut off we write NULL, since an earlier letter of this piece may have left its state there. The other pieces that are cut off with it have no entry yet.

@<Walk through the pieces@>=
/*- The hot loop: through all tokens as a tree in depth-first order. |at[d]| is the state after
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

@ What is |blank|? SentencePiece puts a blank before the first word when it encodes, and drops it when it decodes. So the first token of a text may lose a blank, and the text begins after it, like any other. A piece that is only a blank would become empty; after it the text would begin a second time, so it is left out.

@ We measured how long a mask takes, for \given{128\,256} pieces and \val[0]{constraint.masks} states of several constraints (\texttt{make bench-constraints}; the file names the machine).\lab{lab:constraintmasks} Once the states that a walk meets are known, the slowest mask takes \val[2]{constraint.worst} milliseconds, where nearly everything is allowed, and the fastest \val[2]{constraint.best}: looking at the entry of every piece takes that long
even if everything is cut off at once. If a mask takes more than 2 milliseconds, the benchmark fails. These are masks of states in which a mask has been made before; the end of \cref{sec:cost} has the cost of the first one.

@* Tokens to the end. \label{sec:cost}
For each state we know the least number of bytes to the end. We want the least number of \emph{tokens}. It is not more than that, if each byte that may be needed is a token by itself. It is not less than the bytes divided by the length of the longest piece. Most of the time these two bounds are enough. As long as the budget has at least as many tokens as bytes are needed, a token is good. Only near the end of the budget must we know the number
itself.

To find it we look at the states to which one token leads, from each of these at the next, and so on; a state needs one token more than the best state after it. For a constraint that does not nest we do this once for all states that tokens reach, and the result is exact. With nesting there are infinitely many, since
every opening bracket leads to new ones. What then? We look only at tokens that bring the end \emph{nearer}, counted in bytes. Bytes run out, so this ends. It finds the shortest way that never moves away from the end, and misses a way that first moves away and still takes fewer tokens. If even these states are more than |MAX_TOGETHER|, we use the number of bytes.

In the last two cases the number may be too large, but there is always a way to the end with that many tokens. So no text is cut off. At worst we refuse a limit that would have been just enough, or forbid a token near the end of the budget for which there would have been time. Take a pattern of \given{2000} letters, each from a to z: it has more than |MAX_TOGETHER| states, so we demand a budget of \given{2000} tokens, although
most tokens have several letters.

@ We do the walk once for each state, and keep a list of the different states to which it leads. Within a JSON string a token can lead to some dozens of them. A state stores the number of the last walk that met it, so we see whether it is in the list already.

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
  /*- |round| marks what is in the list already, so each state comes once */
@#
/*- computed once for a state and kept: walking is the expensive part */
bool state_find_after(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  struct array all = @[{ NULL, 0, 0 }@];
  if (x->after != NULL) return true;
  bool ok = walk(c, x, why);
  c->round++;
  for (size_t i = 0; ok && i < c->words->n_words; i++)
    ok = c->reached[i] == NULL || note(c, &all, c->reached[i], why);
  ok = ok && state_fits(c, all.n * sizeof *x->after, why)
    && (x->after = memory_alloc(c->m, MEMORY_TOKENS, all.n,
      sizeof *x->after, why)) != NULL;
  if (ok) x->n_after = all.n, c->bytes += all.n * sizeof *x->after;
  if (ok && all.n > 0)
    memcpy(x->after, all.block, all.n * sizeof *x->after);
  array_free(c->m, &all);
  return ok;
}

@ Starting from one state we collect those whose numbers depend on each other. The list is also the queue of the search: we read it from the front while new states are added at its end. Whether there are too many depends only on the constraint, the vocabulary and this state. If it depended on earlier questions as well, a text could change because of another that was written before it.

@<Collect what belongs together@>=
static bool is_collected(const struct dfa_state *x,
  const struct dfa_state *after, bool nearer)
{
  return !nearer || after->least < x->least;
}
@#
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
@#
/*- With |nearer| only steps that come nearer to the end in bytes are followed; that ends, since
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
    if (!state_find_after(c, x, why)) return false;
    for (size_t k = 0; k < x->n_after; k++)
      if (is_collected(x, x->after[k], nearer) && !collect_one(c, x->after[k], why))
        return false;
  }
  return *all = true;
}

@ When all have been collected, we compute the numbers as we did for the nodes: zero where a text may end, |NET_NEVER| elsewhere, and then again and again one more than the best of the next, until nothing changes. Those that were found last tend to be nearest to the end, so each pass begins with them.

@<Count the tokens to the end@>=
/*- Shortest ways by rounds until nothing changes, from the last found to the first, since those
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

@ Which numbers are computed when? Once for each constraint we try to get all of them together; if rules nest we need not try. After that each state is asked for by itself, and there are four cases. The number is known, or zero because the text may end here. It is computed from the states nearer to the end. If these are too many, it is the number of bytes, provided that each byte is a token. And if some byte is not a token, we cannot say, and say so. No number is ever too small.

@<Count the tokens to the end@>=
/*- Tried once: if the whole automaton is small, all exact costs are known for good. With nested
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
@#
/*- The cheapest answer first: known, accepting, from the whole automaton. Otherwise from the
   states nearer to the end; if these are too many and every byte is a token, the number of
   bytes is a safe upper bound. */
bool state_compute_cost(struct constraint *c, struct dfa_state *x,
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

@ The very first token may lose a blank, and then it brings the end less near than its length suggests. So we ask every state that the first token can lead to; the beginning needs one token more than the best of them.

@<Count the tokens to the end@>=
/*- the first state has ways of its own, so its cost is one more than the cheapest of those after
   it */
static bool compute_cost_first(struct constraint *c, struct dfa_state *x,
  struct error *why)
{
  if (!state_find_after(c, x, why)) return false;
  uint32_t best = NET_NEVER - 1;
  for (size_t k = 0; k < x->n_after; k++) {
    if (!state_compute_cost(c, x->after[k], why)) return false;
    if (x->after[k]->cost < best) best = x->after[k]->cost;
  }
  x->cost = x->accepts ? 0 : best + 1;
  return true;
}

@ How much time does this take, and when? One question costs a walk for each state that is collected, |MAX_TOGETHER| at most, and a state is asked about only once. Where rules do not nest, the first question answers for all states. A caller asks it when it opens a cursor (|constraint_cursor_open|), to see whether the limit is too small; so the time is spent before the text begins, and later masks are not slowed down. For a sequence of \given{300} letters it was
\val[0]{constraint.first} milliseconds. (The benchmark opens no cursor, so its first mask takes that long.) The time grows in proportion to the length, until there are more than |MAX_TOGETHER| states: then these walks were in vain, and we look for ways that lead nearer to the end.

Where rules nest, nothing can be computed in advance, and the work is done during a mask. It is not needed if each byte is a token and at least as many tokens are left as bytes are needed, which is true most of the time. Near the end of the budget, the first mask in a state takes \val[1]{constraint.nearjson} to \val[1]{constraint.firstjson} milliseconds in JSON, and each later one in that state \val[2]{constraint.best} to \val[2]{constraint.worst}, like any other. These are not bounds: another
grammar may have many more states near its ends.

@* Masking and stepping. \label{sec:mask}
A token is good if the text after it can be completed with the tokens that are then left. There are three answers: it is good, it is bad, or we must count the tokens before we know.

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
  /*- Bytes are an upper bound of the tokens if all bytes are tokens, and bytes divided by the
     longest token are always a lower one; only between them is the exact cost needed. */

@ So a mask takes a walk, and then a judgement of each token. States that are still open are put aside. If there are any, we count for all of them and do everything again; the second time none is open. Why a second walk? Counting takes walks of its own, which overwrite the results of ours. In the long middle of a text one round is enough.

@<Mark the tokens that may come@>=
/*- Good or bad at once; those that are open are noted, and decided all together in a second
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

@ Between the two rounds we count for the states that were put aside.

@<Mark the tokens that may come@>=
/*- the costs must not be computed in the midst of |mark|: they walk, too, and |reached| would be
   overwritten */
static bool mark_all(struct constraint *c, struct dfa_state *x,
  size_t left, uint8_t *allowed, bool *any, struct error *why)
{
  if (!mark(c, x, left, allowed, any, why)) return false;
  if (c->pending.n == 0) return true;
  for (size_t i = 0; i < c->pending.n; i++)
    if (!state_compute_cost(c, ((struct dfa_state **) c->pending.block)[i], why))
      return false;
  return mark(c, x, left, allowed, any, why);
}

@ Before we judge the tokens, we judge the state itself with the same function: can the text be completed within this budget? If it cannot, we say so at once, and name the number that would be enough. At the beginning of a text this refuses a limit that is too small. Later it cannot happen to a caller that follows the masks and counts the budget down. (If the first token loses a blank, the text may need more tokens than |judge| assumes. Then no token is good, and the message is the same.)

@<Mask the tokens@>=
/*- One token of the budget is the token itself, so what follows has |budget-1|. No token and not
   accepting: the limit is too small, and the sentence says how much would do. */
bool constraint_mask(struct constraint *c, uint32_t state, size_t budget,
  uint8_t *allowed, bool *accepts, struct error *why)
{
  struct dfa_state *x = state_at(c, state, why);
  bool any = false;
  if (x == NULL) return false;
  memset(allowed, 0, c->words->vocab_size);
  *accepts = x->accepts;
  if (judge(c, x, budget) == FATE_OPEN && !state_compute_cost(c, x, why)) return false;
  if (budget > 0 && judge(c, x, budget) == FATE_GOOD
      && !mark_all(c, x, budget - 1, allowed, &any, why)) return false;
  if (any || x->accepts) return true;
  size_t min_tokens;
  if (!constraint_minimum(c, state, &min_tokens, why)) return false;
  return error_say(why, "%s: it takes at least %zu tokens to the end,"@|
    " and the limit leaves %zu", c->w.name, min_tokens, budget);
}

@ The minimum is the number that |state_compute_cost| has found. A state without such a number is one that no mask would have let the caller reach.

@<Mask the tokens@>=
bool constraint_minimum(struct constraint *c, uint32_t state, size_t *tokens,
  struct error *why)
{
  struct dfa_state *x = state_at(c, state, why);
  if (x == NULL || !state_compute_cost(c, x, why)) return false;
  *tokens = x->cost;
  return x->cost != NET_NEVER || error_say(why,@|
    "%s: the tokens can't end this text", c->w.name);
}

@ A step reads the token's bytes, except for the blank that the first token loses.

@<Step after a token@>=
/*- Byte by byte and not by looking into |reached|, since the last walk may have been for another
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

@ \emph{Binding} asks whether these tokens can write a matching text at all. They can if every byte that some node waits for is a token. If some byte is not, we count the tokens from the beginning, and if there is no way the message names the byte. If the first token loses a blank, the beginning must be checked even so: a text that has to begin with a blank may be impossible. (This is |can_begin|, in \.{unwoven/constraints/open.c}, where constraints are made, bound and freed.)

@(constraint.c@>=
/** Which tokens may come? A network is run as a deterministic automaton whose states are made
   when they are first met, and a lexicon, the tokens as a tree of bytes, is walked against it.
   Invariants: a state is a set of pairs of a node that waits and a stack, sorted and listed
   once, so two states are equal if they are the same block. Stacks are kept once as well, 0 is
   the empty one. State 0 is |dead|, with no pairs. States are blocks of their own and never
   move; the lists do. All that is made is kept until |constraint_forget|, up to |MAX_BYTES|; a
   state's number stays valid until then. A constraint serves one thread at a time. */
#include <string.h>
#include "constraints/states.h"
@;@#
@<Push a frame@>@;
@<Follow all ways to where they wait@>@;
@<Begin with nothing known@>@;
@<Find the next configuration@>@;
@<Match a whole text@>@;
@<Walk through the pieces@>@;
@<How far tokens lead@>@;
@<Collect what belongs together@>@;
static bool compute_cost_first(struct constraint *c, struct dfa_state *x,
  struct error *why);
@<Count the tokens to the end@>@;
@<Judge what comes after a token@>@;
@<Mark the tokens that may come@>@;
@<Mask the tokens@>@;
@<Step after a token@>@;

@* The cursor. \label{sec:bound}
Before each choice, chapter 7's sampler asks which tokens may come (\cref{sec:bonds}). To answer for a constraint we keep a \emph{constraint cursor}: the constraint, the state that the text has reached, a mask, and the limit. Most of it is plain C, in \.{unwoven/constraints/bond.c}; the question that is asked at each token is this.

\printedfunction{constraints/bond.c}{bond_allow}

The constraint does not read end tokens, because they are not text. The cursor allows them exactly where the text may end, and it does so after the mask, since the lexicon may know them as ordinary ones. Where a text matches and no other token may follow, only the end token is left, and it is chosen. If there is no end token, because the model has none or because the caller ignores it, chapter 3's loop asks |constraint_cursor_should_stop|, which ends the text.

If no matching text fits into the limit, |constraint_cursor_open| says so before the model computes anything, with the least limit that would be enough. And since the state is one number, a caller can save it, try out several continuations, and come back.

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

@ It has a file of its own, and is compiled like any other grammar.

@(json.c@>=
/** The grammar of an object in JSON, as text: it is compiled by those who use it. */
#include "constraints/constraint.h"
@;@#
@<An object of JSON@>@;

@* The constraint over a vocabulary. \label{sec:eyes}
Now the built-in model, whose vocabulary is small. Its tokenizer gives the pieces, and the ids that are marked special are not usable. For five constraints\lab{lab:constrainteyes}
a program of the laboratory counts the nodes of the network, the classes of bytes, the tokens that may begin a text, and the least number of tokens in a text.

\widecheckpoint{build/out/laboratory/constraints.txt}{five constraints, and what a storyteller makes of them}

A dot takes more than two dozen nodes, for characters of one to four bytes. So the story's pattern, with its many dots, has \val{constraint.story.nodes} nodes, while all of JSON needs \val{constraint.json.nodes}. Does that make stories slow? No: nodes take some memory, but no time until a text reaches them. In tokens it is the other way round. A story of three dozen letters can be told in \val{constraint.story.least} tokens, if it may consist of long words in any order; a
date takes one for each of its ten signs, because this vocabulary joins no digits.

@* The built-in model fills in a form. \label{sec:writesjson}
The built-in model was trained on little stories and has never seen JSON. This suits our test: if its text is an object, the constraint has made it one. The model is given three words of a story and may then write \val{constraint.json.budget} tokens of a JSON object, or \val{constraint.card.budget} tokens of a card that a grammar of our own describes. We always take the allowed token with the highest logit. (Chapter 7 samples among the allowed tokens instead; its loop needs one more line for this.)

The texts\lab{lab:constraintwrites} are at the end of the checkpoint. JSON is the most liberal of our constraints. The model's object consists of two strings, a name and its value, both from a story: between quotation marks nearly every token is allowed. Of the \val{constraint.json.budget} tokens only \val{constraint.json.overruled} are not what it would have
written anyway.

The card is stricter: a name, an age, and some friends, where each name is a capital letter and up to eleven small ones. \Cref{fig:allowed} shows how many tokens were allowed at each step. Where the grammar spells out its own words, there are only a few ways to cut them into tokens. At the beginning of a name nearly a third of the vocabulary is allowed, and with each letter fewer tokens are, since a piece must fit into what is left of the eleven. At the end the model can add
no more friends, because the budget is running out. After step \val{constraint.card.closing} each token had to be one on a shortest way.

\fig{allowed}{fig:allowed}{How many of the \val{constraint.vocab} tokens were allowed at each step of writing a card (points), and the least number of tokens that would then complete it (bars). The line is the budget that was left.}{A plot over the steps with a logarithmic axis. Points lie between one token and nearly a third of all, high within
names and low between them. Bars below sink step by step from more than 20 to none, and the falling line of the tokens that are left meets them near the right end.}

@* The check. \label{sec:constraintcheck}
At the end the laboratory checked each of its texts against its constraint once more, byte by byte, without tokens.

Could the constraint and this check make the same mistake? They run the same network. So the suite \texttt{check\_constraints} has nothing of this chapter in its answers. It compares random patterns with PCRE2, on texts that match and on texts that nearly do, and random grammars with a table of all their short texts. It compares masks with their definition, by trying out every way to the end in tiny vocabularies. And whatever is written must match within its budget.

@* Exercises. \label{sec:constraintexercises}
The command beside an exercise checks the answer with the code of this chapter.

\begin{exercises}
\exercise{check}{ex:constraint.laugh}{Take the piece \tok{a!} out of the vocabulary of the laugh. What is the last column of its table then, from state 0 to state 3? And which pieces may come in state 1 when two tokens are left?}{\texttt{make exercise-W9-1}}{2, 2, 1, 0. Only \tok a: after \tok{ah} we are in state 1 again, and need two more.}
\exercise{think}{ex:constraint.states}{The pattern \texttt{(a\char124b)*a(a\char124b)\char123$k$\char125} asks for an \texttt a followed by exactly $k$ more letters. How many states has its automaton for $k=1$, $2$, $3$, $10$, the dead one not counted?}{\texttt{make exercise-W9-2}}{$2^{k+1}$. Until the text is over the automaton cannot know whether an \texttt a is the one that counts, so it must remember which of the last $k+1$ letters were \texttt a. The network needs only a few nodes more than $k$; this is why we make states only when they are needed.}
\exercise{check}{ex:constraint.sums}{Write a grammar of sums and differences of whole numbers without leading zeros and without blanks. Any number of parentheses is allowed, but none may be empty: \texttt{7}, \texttt{1+(20-3)}, \texttt{((4))-5+6}. Our compiler must accept the grammar.}{\texttt{make exercise-W9-3}}{The obvious rule, that a sum is a sum, a sign and a term, is left recursive. Use a star: a sum is a term and any number of further terms, each with a sign before it; a term is a number, or a sum in parentheses.}
\end{exercises}
