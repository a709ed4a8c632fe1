@i types.w
@s size_t int
@s step_stop int
@s step_watch int
@s sig_atomic_t int

\chapterquestion{Nothing tells the model how long an answer should be. When is it over, and how much of it may be shown before it is?}
@** Stopping and streaming.
\incipit{T}{he loop} goes round, and each round adds a token. The loop itself never tires of it. Three things end a text: the model selects a token that means the end; the text reaches a length that the caller has set, or that the context has;
or a phrase appears at which the caller wants it to stop, such as the words that introduce the next question. The first two are comparisons of numbers. The third is harder, because a phrase is made of characters and the model
writes tokens: the phrase may begin in the middle of one token and end in the middle of another.
@^stopping@>@^streaming@>

Meanwhile a person is reading along. A reader who is shown each token as it comes, which is called \emph{streaming}, must not see the beginning of a phrase that is going to end the text, because the phrase is no part of the answer; nor half of a character. So we hold some bytes back. Which? A common answer is: as many
as the longest phrase has, less one. Another is: everything, once a phrase may have begun. Both show the reader less than they could. The exact answer comes from an algorithm of 1975 for searching library catalogues: the automaton of Aho and Corasick \cited{Aho 1975} knows after every byte how much of the text may still have to be taken back.

@ The chapter makes two pairs of files. |stops| is the automaton: it is given a few phrases, and says after every byte of a text which phrase ends there and how much of one may have begun. |stopping| connects the loop with a reader: it turns ids into bytes, releases the bytes that are certain, and asks a list of \emph{stopping criteria} whether the text is to end,
remembering which of them said so. A short program then makes the built-in model run into each of its ends (\cref{sec:ends}).

\begin{byhand}{a text byte by byte}
A text is to end at \emph{anno} or at \emph{nah}, whichever is complete first. After each byte we ask: what is the longest end of the text that begins one of the two? That much is held back; what comes before it is released.

\medskip
\begin{tabular}{@@{}lllrl@@{}}
\tabhead{byte} & \tabhead{text} & \tabhead{its end} & \tabhead{held} & \tabhead{released}\\
H & H & & 0 & H\\
a & Ha & a & 1 &\\
n & Han & an & 2 &\\
n & Hann & ann & 3 &\\
a & Hanna & na & 2 & an\\
h & Hannah & nah & &
\end{tabular}
\medskip

The fifth byte rules out this \emph{anno}. So \emph{ann} must give way to a shorter end of its own that also begins one of the two: \emph{nn} does not, \emph{n} does, and with the new byte it becomes \emph{na}, the beginning of \emph{nah}. Two bytes still wait, and two can go. With the sixth byte \emph{nah} is complete, and the text is what comes before it: $6-3=3$ bytes, \emph{Han}. All three have been released already, and nothing of \emph{nah} has. Had we always held the last three
bytes, the same text would have come later; had everything waited from the first \emph{a} on, it would have come at the end.
\end{byhand}

@* Stop strings: the automaton of Aho and Corasick. \label{sec:automaton}
A phrase at which a text ends is called a \emph{stop string} or \emph{stop sequence}. Ours are strings of bytes. Why not of tokens? The two line ends \tok{\char92n\char92n} are one token in some vocabularies, two in ours, and part of a longer token in others; which tokens spell a phrase depends on what comes before it. Why not of characters? A token
may end in the middle of one, and then something has come that cannot be compared. Bytes have neither problem, and a caller may even ask for bytes that are not valid text.
@^stop string@>

We keep all stop strings together in a tree, a \emph{trie}, in which strings that begin alike share their beginnings. A \emph{state} is a node of the tree: a beginning of one or more of the strings, the root being the empty one (\cref{fig:links}).\lab{lab:stoptree} While reading a text we are always in one state: the longest end of the text so far that is a node. In the calculation above it is the third
column. Nothing else about the text matters, for nothing that began further back can still become a stop string.
@^Aho--Corasick automaton@>@^trie@>

\fig{links}{fig:links}{The tree of \emph{anno} and \emph{nah}. A double frame marks a whole stop string; the number below a node is how many bytes wait in that state. A dashed arrow is the \emph{failure link}: it leads to the longest shorter end that is a node. Where none is drawn it leads to the root.}{A root at the left and two branches from it: a, an, ann, anno above and n, na, nah below; the last of each has a double frame. The numbers 1, 2, 3, 0 stand under the upper nodes, 1, 2, 0 under the lower ones. Dashed arrows lead from an and from ann down to n, and from na up to a.}

@<Stop strings, and the machine that looks for them@>=
struct stop_string { const unsigned char *byte;@+ size_t n; };
  /* |n| bytes at which a text is to end; borrowed */
struct stops_node { uint32_t child, sibling, failure, depth, hold, ending;
  unsigned char byte; };
  /* a beginning of a stop string, |depth| bytes long, the last of them |byte|; its first
     |child| and its next |sibling|; |failure|: the longest other node that is an end of it;
     |ending|: the number of the longest string that ends here, counted from 1, or 0; |hold|: how
     many bytes at the end may still become a part of one */
struct stops { struct memory *m;@+ const struct stop_string *list;@+ size_t n;
  struct stops_node *node;@+ size_t cap, n_nodes;@+ uint32_t first[256]; };
  /* |node[0]| is the root, and so 0 stands for no node; |first[b]| is the root's child for byte |b| */

@ The caller opens the automaton, steps through the bytes of a text, and looks at the state. Stepping does not change the automaton; so one of them serves many texts at once, each with a state of its own. It takes memory in proportion to the bytes of the strings. You type stop strings on a command line, where not every byte has a key; |stops_unescape| replaces escapes such as \.{\char92 n} for a line end. (It is plain C, in \.{unwoven/stopping/escapes.c}.)
@^escapes@>

@<Stop strings, and the machine that looks for them@>=
bool stops_open(struct stops *s, struct memory *m,
  const struct stop_string *list, size_t n, struct error *why);
  /* builds the automaton for |list[n]|, which is borrowed; |n| may be 0; on failure there is
     nothing to close, but it does no harm; errors: an empty string, too many
     bytes, memory */
void stops_close(struct stops *s);
  /* returns the nodes */
uint32_t stops_step(const struct stops *s, uint32_t state,
  unsigned char byte);
  /* the state after one more byte; a text begins in state 0 */
size_t stops_hold(const struct stops *s, uint32_t state);
  /* the length of the longest end of the text that begins a longer stop
     string */
const struct stop_string *stops_ending(const struct stops *s, uint32_t state);
  /* the longest stop string that ends with the text, or null */
bool stops_unescape(struct memory *m, const char *text, struct bytes *out,
  struct error *why);
  /* appends |text| to |out|, with each escape replaced by its byte; errors: a backslash before
     anything else, memory; on failure |out| is as it was */

@ The children of a node form a list, which is as long as there are different ways to continue: mostly one or two. Only the root has a table of all bytes. A text spends most of its time there, since most bytes begin no stop string; with a list, each of these bytes would be compared with all children of the root. Full tables for all nodes would need no walking at all, but 1024 bytes for every byte of a stop string: a fair price for four short phrases, a high one for a list of thousands that is read from a file.

@<Look for a child@>=
/* the root has a table, since most bytes of a text begin no stop string; other nodes have a
   list */
static uint32_t child_for(const struct stops *s, uint32_t at,
  unsigned char byte)
{
  if (at == 0)@+ return s->first[byte];
  uint32_t next = s->node[at].child;
  while (next != 0 && s->node[next].byte != byte)
    next = s->node[next].sibling;
  return next;
}

@ The step. If the state has a child for the byte, that child is the new state. If not, the longest end of the text cannot be continued with this byte, and we try the next longest: the longest shorter end of the same text that is also a node. That is |failure|, the dashed arrow of the figure. It has a failure of its own, and so on down to the root, which is an end of every text. The first of these with a child for the byte wins, because it is the longest.

How long can this walk take? Each of its steps makes the state shorter by at least one byte, and each byte of the text makes it longer by at most one. So in a whole text the walks take no more steps than there are bytes, whatever the strings are. A single byte may cause a walk as long as a stop string, but only after as many bytes that caused none: the cost is \emph{amortized}. (Each step of a walk looks through one list of children, which is long only if strings continue in many ways from the same beginning.)
@^amortized cost@>

@<Step through a byte@>=
/* A step may follow several failures, but each makes the state less deep, and a byte deepens it
   by one: over a whole text there are no more failures than bytes. */
uint32_t stops_step(const struct stops *s, uint32_t state,
  unsigned char byte)
{
  uint32_t next = child_for(s, state, byte);
  while (next == 0 && state != 0) {
    state = s->node[state].failure;
    next = child_for(s, state, byte);
  }
  return next;
}

@ To add a string we walk down the tree as far as it goes, and make nodes for the rest. Of two equal strings the first keeps its number.

@<Add a string to the tree@>=
/* If a string is given twice, the first counts. A new child goes to the front of the list. */
static void add_string(struct stops *s, size_t which)
{
  const struct stop_string *x = &s->list[which];
  uint32_t at = 0;
  for (size_t i = 0; i < x->n; i++) {
    uint32_t next = child_for(s, at, x->byte[i]);
    if (next == 0) {
      next = (uint32_t) s->n_nodes++;
      s->node[next] = (struct stops_node) @[{ .depth = (uint32_t) i + 1,@|
        .sibling = s->node[at].child, .byte = x->byte[i] }@];
      s->node[at].child = next;
      if (at == 0)@+ s->first[x->byte[i]] = next;
    }
    at = next;
  }
  if (s->node[at].ending == 0)@+ s->node[at].ending = (uint32_t) which + 1;
}

@ Then the failure links are found, by the step itself. Take a node that is reached from |at| by a byte. Every shorter end of it is an end of |at| followed by that byte. So we step from the failure of |at| by the same byte, and arrive at the failure that we look for. That step visits only nodes shorter than the one in question; so if we go through the tree level by level, their failures are known already. The levels come in order
if each node that is visited puts its children at the end of a queue. These walks are short as well: along one string the failures get longer by at most one byte a node, and each step of a walk makes one shorter.
@^failure link@>

@<Find the failures, level by level@>=
/* Breadth first: |stops_step| from the parent's failure meets only nodes whose links are done.
   Children of the root keep failure 0; otherwise they would fail to themselves. */
static void link_nodes(struct stops *s, uint32_t *queue)
{
  size_t tail = 1; /* |queue[0]| is the root */
  for (size_t i = 0; i < tail; i++) {
    uint32_t at = queue[i], c = s->node[at].child;
    for (; c != 0; c = s->node[c].sibling) {
      struct stops_node *x = &s->node[c];
      if (at != 0)
        x->failure = stops_step(s, s->node[at].failure, x->byte);
      @<See what ends at |x|, and what it may become@>@;
      queue[tail++] = c;
    }
  }
}

@ Two things are read from a state while a text runs, and neither may cost a walk. Which string ends here? A string that ends at the node itself is longer than any that ends at its failure; if there is none, we take the failure's. And how much has to be held? A node with children is the beginning of something longer: all its bytes wait. A leaf is a whole string and begins
nothing else; what waits there is what waits at its failure. (A whole string does not always end the text: \cref{sec:outflow} has a case in which it is passed over, and then this number is needed.)

@<See what ends at |x|, and what it may become@>=
const struct stops_node *shorter = &s->node[x->failure];
if (x->ending == 0)@+ x->ending = shorter->ending;
x->hold = x->child != 0 ? x->depth : shorter->hold;

@ Both questions are then answered by a look at the node.

@<Look at a state@>=
size_t stops_hold(const struct stops *s, uint32_t state)
{
  return s->node[state].hold;
}
const struct stop_string *stops_ending(const struct stops *s, uint32_t state)
{
  uint32_t which = s->node[state].ending;
  return which == 0 ? NULL : &s->list[which - 1];
}

@ To open the automaton we count the bytes, take that many nodes and a root, add all strings, and link. An empty string would end every text before it begins. The caller can hardly mean that, so it is an error.

@<Open and close the machine@>=
/* the strings are the caller's and stay */
void stops_close(struct stops *s)
{
  memory_free(s->m, s->node);
  s->node = NULL;
}
@#
bool stops_open(struct stops *s, struct memory *m,
  const struct stop_string *list, size_t n, struct error *why)
{
  *s = (struct stops) @[{ .m = m, .list = list, .n = n, .n_nodes = 1 }@];
  size_t cap = 1;
  for (size_t i = 0; i < n; i++) {
    if (list[i].n == 0)@+ return error_say(why, "stop string %zu is empty;"@|
        " wanted: 1 byte or more", i);
    if (list[i].n > UINT32_MAX - cap)@+ return error_say(why,@|
        "the stop strings have"@| " more than %" PRIu32 " bytes",@|
        UINT32_MAX - 1);
    cap += list[i].n;
  }
  @<Take the nodes, and build the tree@>@;
}
  /* An empty string would end every text before its first byte, so it is refused. Numbers of
     nodes have 32 bits, and the sum is checked string by string, before it can wrap. */

@ A node takes 28 bytes. We take one for each byte of the strings, even where beginnings are shared; stop strings rarely share long ones. The queue is needed for the linking only.

@<Take the nodes, and build the tree@>=
s->node = memory_alloc(m, MEMORY_TOKENS, cap, sizeof *s->node, why);
uint32_t *queue = s->node == NULL ? NULL
  : memory_alloc(m, MEMORY_TOKENS, cap, sizeof *queue, why);
s->cap = cap;
if (queue == NULL) {
  stops_close(s);
  return false;
}
for (size_t i = 0; i < n; i++)@+ add_string(s, i);
link_nodes(s, queue);
memory_free(m, queue);
return true;

@ The header of the automaton needs only memory and bytes.

@(stops.h@>=
#ifndef INCIPIT_STOPS_H
#define INCIPIT_STOPS_H
#include "tokens/utf8.h"
@<Stop strings, and the machine that looks for them@>@;
#endif

@ The machine is built once and then only read; so one machine may serve many texts at once.

@(stops.c@>=
/* The machine of Aho and Corasick. Node 0 is the root, and 0 also says ``no node'', which is safe: the
   root is nobody's child. The failure of a node is less deep than
   the node, so links are made level by level, and what a node inherits from its failure is
   final when it is read. |node| has |cap| entries, one for each byte of all strings and one for
   the root; so no index can run over. Once opened it is only read. */
#include <inttypes.h>
#include "stopping/stops.h"
@;@#
@<Look for a child@>@;
@<Step through a byte@>@;
@<Look at a state@>@;
@<Add a string to the tree@>@;
@<Find the failures, level by level@>@;
@<Open and close the machine@>@;

@* Hold-back: what may be streamed. \label{sec:outflow}
A \emph{text stream} connects the loop with a reader. It takes the tokens one by one, a \emph{streaming detokenizer}, and keeps all bytes of the text so far. The first |released| of them are certain: the reader may be shown these, and none of them will be taken back. When a stop string is complete, the text is cut before it, and what is left is
released.
@^text stream@>@^hold-back@>@^detokenizer@>

The rule in one sentence: \emph{the text ends immediately before that occurrence of a stop string whose end comes first; if several end there, before the longest.} An occurrence lies within what the model wrote, and never in the prompt; it may begin in one token and end in another. Nothing in this sentence mentions tokens, and so the text does not depend on how the model happens to cut it into tokens. With the earliest \emph{beginning} instead, it would depend on that.
Take \emph{abcd} and \emph{bc}, and the text \emph{abcd}: the first begins first, the second ends first. If all four bytes come in one token, both are complete; if they come one by one, \emph{bc} is complete while \emph{abcd} still lacks a byte.

There are two options. With |include_stop| the text ends after the stop string, and none of it needs to be held. With |min_tokens| the first tokens are protected: a stop string that ends in one of them is passed over. A stop string that begins in a protected token and ends after it counts, and is cut out like any other. So less may be left than the protected tokens had: |min_tokens| says how long the model must have written, not how much is shown. Tokens enter the rule nowhere else.
@^min\_tokens@>

@<What stands between the loop and a reader@>=
struct text_stream { struct memory *m;@+ const struct tokenizer *t;
  const struct stops *until;@+ bool include_stop;@+ size_t min_tokens;
  struct bytes text;@+ size_t released, tokens;@+ uint32_t state;@+ bool begun;
  const struct stop_string *found; };
  /* set by the caller, and borrowed: memory, a tokenizer (null: tokens have no bytes), the stop
     strings, and two options; the rest begins as zero: |text.n| bytes of
     which |released| may be shown, of |tokens| tokens; |found| is the stop string
     before (or after) which the text has been cut, or null */

@ A text stream is given the prompt, then one token after another, and is told when no token will follow.

@<What stands between the loop and a reader@>=
bool text_stream_prompt(struct text_stream *o, const uint32_t *id, size_t n,
  struct error *why);
  /* takes note of a prompt |id[n]|, whose bytes are no part of the text */
bool text_stream_id(struct text_stream *o, uint32_t id, struct error *why);
  /* takes the next token; special ones have no bytes. After a stop
     string nothing is taken any more; on failure nothing has changed */
bool text_stream_bytes(struct text_stream *o, const unsigned char *byte, size_t n,
  struct error *why);
  /* the same for a token that is |n| bytes */
void text_stream_end(struct text_stream *o);
  /* no token will follow: releases what is held */
void text_stream_close(struct text_stream *o);
  /* returns the text */

@ What is held after a token? The longest end of the text that begins a longer stop string; or, if that is longer, a character of which some bytes are missing (\cref{sec:streaming}). The first is a look at the state, the second a look at the last three bytes. (A stop string that begins in the middle of a character may split one, and then the half before it is shown; \cref{ex:stop.whole} mends that.)

@<Take the bytes from |from| on, and release what is certain@>=
/* Byte by byte, for a stop string may begin in one token and end in the middle of another; what
   follows it in the token is dropped. Two things are held back, an unfinished character and
   what may become a stop string; both reach to the end of the text, so the longer one covers
   the other. */
static void take_bytes(struct text_stream *o, size_t from)
{
  o->tokens++;
  for (size_t i = from; i < o->text.n; i++) {
    o->state = stops_step(o->until, o->state, o->text.byte[i]);
    const struct stop_string *x = stops_ending(o->until, o->state);
    if (x == NULL || o->tokens <= o->min_tokens)@+ continue;
    o->found = x;
    o->text.n = i + 1 - (o->include_stop ? 0 : x->n);
    o->released = o->text.n;
    return;
  }
  size_t held = utf8_held(o->text.byte, o->text.n);
  size_t claimed = o->include_stop ? 0 : stops_hold(o->until, o->state);
  o->released = o->text.n - (claimed > held ? claimed : held);
}

@ Is this right? There are four things to show.

\emph{The text is that of the rule.} We go through the bytes in their order, whatever tokens they come in. So the first byte at which a string ends is where the first occurrence is complete; and of those that end there |stops_ending| names the longest.

\emph{Released bytes are never taken back.} Let the held part begin at byte $i$ after some token, and at byte $j$ after a later one. The later held part is the beginning of a stop string, or of a character. What had come of it by the time of the earlier token was a shorter beginning of the same thing, so it was held then; and as the longest such end was held,
$i\le j$. The released part only grows.

\emph{No byte of a stop string gets out.} An occurrence ends within some token. Before that token, what had come of the occurrence was a beginning of it, and so it was held. (With |include_stop| these bytes are part of the text.)

\emph{Nothing is held without a reason.} Each held byte belongs to the beginning of a stop string or of a character, and the next token might bring the rest. There is one small exception: a stop string that contains another, as \emph{abcd} contains \emph{bc}, may never be completed, because the other ends the text first; then its bytes are held in vain. With |min_tokens|, however, the other may be passed over. \Cref{ex:stop.live} holds only what can still matter.

@ The rest is short. The bytes of a token are appended to the text, and the automaton reads them there. At the end everything is released, even half a character: to drop it would lose a byte that the model wrote. A terminal or a JSON object may show U+FFFD in its place.

The text stream keeps the whole text, whereas the stream of \cref{tokens} kept three bytes. Long stop strings may hold many bytes, and moving them forward with every token would cost more than the search; besides, the caller wants the whole text at the end.

@<Take a token@>=
/* after a stop string further tokens are ignored, as the header promises */
bool text_stream_bytes(struct text_stream *o, const unsigned char *byte, size_t n,
  struct error *why)
{
  size_t from = o->text.n;
  if (o->found != NULL)@+ return true;
  if (!bytes_push(o->m, &o->text, byte, n, why))@+ return false;
  take_bytes(o, from);
  return true;
}
@#
void text_stream_end(struct text_stream *o)
{
  o->released = o->text.n;
}
  /* no token will come, so what was held can become nothing else */
void text_stream_close(struct text_stream *o)
{
  bytes_free(o->m, &o->text);
  o->released = 0;
}

@ The tokenizer turns an id into bytes. For some vocabularies it must know whether anything precedes the token: they put a blank before every word and take it away from the first word of a text (\cref{sec:decodersteps}). What precedes the first new token is the prompt. So we feed the prompt's ids to the tokenizer until one of them yields bytes; from then on the rule for the first word no longer applies. Special tokens, such as those that mark the turns of a conversation, yield no bytes. (A caller who continues a cancelled text with the same stream shows it the longer prompt of the next call; the text that it has stays.)
@^special token@>

@<Take a token@>=
/* The prompt is decoded only until the decoder has begun, which decides about a blank before
   the first token; its bytes are thrown away. */
bool text_stream_prompt(struct text_stream *o, const uint32_t *id, size_t n,
  struct error *why)
{
  size_t before = o->text.n;
  bool ok = true;
  for (size_t i = 0; o->t != NULL && ok && !o->begun && i < n; i++)
    ok = tokenizer_decode_next(o->t, o->m, id[i], true, &o->begun,@|
      &o->text, why);
  o->text.n = before;
  return ok;
}
bool text_stream_id(struct text_stream *o, uint32_t id, struct error *why)
{
  size_t from = o->text.n;
  if (o->found != NULL)@+ return true;
  if (o->t != NULL && !tokenizer_decode_next(o->t, o->m, id, true,@|
      &o->begun, &o->text, why)) return false;
  take_bytes(o, from);
  return true;
}

@ A program that guesses several tokens ahead may have to take some back. So the state of a text stream can be saved and restored. That is cheap, because the bytes need not be copied: a text stream only appends, and the cut before a stop string shortens the text without changing a byte of it. After a restore the bytes of the tokens that were taken back are still there, beyond the end, and the next token overwrites them. Both functions only copy the six fields of the struct, out and back (\.{unwoven/stopping/going\_back.c}).

@<What stands between the loop and a reader@>=
struct text_stream_state { size_t n, released, tokens;@+ uint32_t state;
  bool begun;@+ const struct stop_string *found; };
  /* how far a text stream has come: everything that a token changes, but the bytes */
struct text_stream_state text_stream_save(const struct text_stream *o);
  /* where it is now */
void text_stream_restore(struct text_stream *o,
  const struct text_stream_state *to);
  /* goes back to where it was when |*to| was saved, as if no token had come since; the
     stream has not been closed or given a prompt in between */

@* Stopping criteria. \label{sec:criteria}
The loop of \cref{loop} knows three ends: an end token, the length, and a callback that says no. For any other it calls a function after each token, |stop|, and asks whether the text is to end. A \emph{stopping criterion} is such a function with a name. Several of them make a list; the list is itself such a function, and says yes when one of its members does. \Cref{fig:ending} shows where each decision is made.
@^stopping criterion@>@^end token@>@^callback@>

\herefig{ending}{fig:ending}{One round of the loop, and the four places where it may be the last. Above each is the reason that we report; below it the \emph{finish reason} that programming interfaces of language services return. The criteria are a list: text stream, repetition, your own.}{A chain of six boxes from left to right: select, append, end token, stopping criteria, length, watcher; from the last an arrow leads back to the first. From the last four an arrow leads up to the words eos, the criterion's name, length, cancelled. Below the boxes: stop under the end token and the criteria, length under the length, nothing under the watcher.}

The list remembers which member it was. ``The text is over'' says little to a caller who waits for the third item of a list. If several say yes to the same token, the first in the list counts. All of them are asked about every token, even after one has said yes: a criterion may keep a record of the text, as the text stream does, and the record would lack the last token if an earlier member had said yes to it. What a criterion knows must not depend on its place in the list.

@<What may end a text@>=
struct criterion { const char *name;@+ step_stop *should_stop;@+ void *ctx; };
  /* |should_stop|, called with |ctx|, says whether a text is to end; borrowed */
struct criteria { const struct criterion *list;@+ size_t n;
  const struct criterion *fired; };
  /* |list[n]|, borrowed; the first that said yes, null at the beginning: the only
     state of the list itself, to be copied by a caller who goes back */
bool criteria_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);
  /* a |step_stop|; |ctx| is a |struct criteria|: yes if one of the list says so; all are asked */
const char *criteria_reason(const struct criteria *c, enum finish_reason ended);
  /* what ended a text that the loop left with |ended|: \.{eos}, the name of a criterion, or null for the length and for
     a cancelled text */
bool text_stream_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);
  /* a |step_stop|; |ctx| is a |struct text_stream|, which takes the last token */
bool repetition_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);
  /* a |step_stop|; |ctx| points to a |size_t| $N$: are the last $3N$ tokens
     that were written the same $N$ tokens three times? 0: never */

@ If a member fails, the others are not asked: the loop reports the error, and there is no text whose record could be incomplete.

The loop does not ask the list when an end token has come. So if a text has stopped and no criterion has said yes, it was the model that ended it. The order is: the end token, the list, the length, and last the \emph{watcher}, the callback that sees each step (\cref{sec:watch}), whose no counts only if the text has not ended already. When the watcher is called, the text stream has taken the token; so it can print each token together with the bytes that the token has released.

@<Ask all of a list@>=
/* no early return when one says yes: the others may count tokens */
bool criteria_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct criteria *c = ctx;
  for (size_t i = 0; i < c->n; i++) {
    const struct criterion *x = &c->list[i];
    bool yes = false;
    if (!x->should_stop(x->ctx, text, &yes, why))@+ return false;
    if (yes && c->fired == NULL)@+ c->fired = x;
  }
  *enough = c->fired != NULL;
  return true;
}
@#
const char *criteria_reason(const struct criteria *c, enum finish_reason ended)
{
  if (ended != FINISH_STOP)@+ return NULL;
  return c->fired == NULL ? "eos" : c->fired->name;
}
  /* the loop ends a text by itself only at an end token; so without a criterion that was it */

@ The text stream is a criterion: it takes the newest token, and says yes when a stop string is complete. An end token that ends the text never gets here, and its bytes are no part of the text. One that comes within the first |min_tokens| does get here, and is a token like any other.

@<Stop at a stop string@>=
bool text_stream_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct text_stream *o = ctx;
  if (!text_stream_id(o, text->text.id[text->text.n - 1], why))@+ return false;
  *enough = o->found != NULL;
  return true;
}

@ A text that repeats itself will not stop by itself (\cref{sec:loops}). The penalties of \cref{sec:penalties} try to lead it out; one can also give up. The last $3N$ tokens are $N$ tokens three times over if each but the first $N$ equals the one $N$ places before it: a single comparison of memory, which mostly fails at its first token. Why three times, and not twice? People do say a thing twice. Tokens of the prompt do not count, since the caller may
have given the model a refrain. And which $N$? The criterion sees a cycle of $N$ tokens, or of a divisor of $N$, and no other: with 12 it sees cycles of 1, 2, 3, 4, 6 and 12 tokens, after three times twelve. A caller who does not know the length can put several of them into the list.
@^repetition@>

@<Stop at a repetition@>=
/* The last $2n$ tokens are compared with those from $n$ tokens earlier: if they agree, the last
   three times $n$ tokens are one piece three times. The prompt does not count. */
bool repetition_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  (void) why;
  size_t n = *(const size_t *) ctx;
  size_t written = text->text.n - text->n_prompt;
  if (n == 0 || written / 3 < n)@+ return true;
  const uint32_t *end = text->text.id + text->text.n;
  *enough = memcmp(end - 2 * n, end - 3 * n, 2 * n * sizeof *end) == 0;
  return true;
}

@ That is the module. A criterion of your own is a function with the same four parameters; the program of \cref{sec:ends} has one, which counts sentences.

@(stopping.h@>=
#ifndef INCIPIT_STOPPING_H
#define INCIPIT_STOPPING_H
#include "tokenizer/tokenizer.h"
#include "loop/generate.h"
#include "stopping/stops.h"
@<What stands between the loop and a reader@>@;
@<What may end a text@>@;
#endif

@ Here are the text stream and the criteria, with what holds for the stream after every token.

@(stopping.c@>=
/* The text stream, and what may end a text. After every token the first |released| bytes are
   certain: they are whole characters, and no stop string that is still possible begins in them.
   |released| never goes down, and |text.n| goes down once, when a stop string is found. After
   that the stream takes no more tokens. What a criterion finds is remembered in |fired|, the
   first one only; all are asked in every step, because a stream has to see every token. */
#include <string.h>
#include "stopping/stopping.h"
@;@#
@<Take the bytes from |from| on, and release what is certain@>@;
@<Take a token@>@;
@<Ask all of a list@>@;
@<Stop at a stop string@>@;
@<Stop at a repetition@>@;

@* Finish reasons. \label{sec:ends}
A program puts the module to work: it asks the built-in model for eleven texts that end for six different reasons, and then shows one text on its way to a reader, token by token. It is little more than a list of requests. Three of its prompts are the model's to answer: \emph{The dog} begins a tale, which ends by itself unless the caller ends it earlier; the owl's is a question; and the clock's makes the model tick for ever. The shopping list and the last text are not the model's: a \emph{script} is recited, so that we can show any text we like.
@^finish reason@>

@<The requests@>=
#define DOG .prompt = "The dog", .max = 400
#define OWL .prompt = "User: Where does the owl live?\nAssistant:", .max = 400
#define LIST "1. apples\n2. pears\n3. plums\n4. nuts\n5. apples\n6. plums"
struct request { const char *name, *prompt, *stop[2], *script;
  size_t max, min_tokens, repetition, cancel, raise;@+ uint32_t context;
  step_stop *own;@+ bool tokens; };
  /* up to |max| tokens after |prompt|; two stop strings or fewer; the same
     |repetition| tokens three times; an end after token number |cancel|; a signal
     after number |raise|; a context smaller than the model's; a criterion of the caller's |own|;
     are the |tokens| shown? */

@ Each line is a way to end; the last text has no name, and is shown on its way.

@<The requests@>=
static const struct request ends[] = @[{@|
  { "end token", DOG },@|
  { "the same, not before 100", DOG, .min_tokens = 99 },@|
  { "length 20", .prompt = "The dog", .max = 20 },@|
  { "context 24", DOG, .context = 24 },@|
  { "two line ends", OWL, .stop = { "\n\n" } },@|
  { "these, or User:", OWL, .stop = { "\n\n", "User:" } },@|
  { "4.", "A list:\n", .stop = { "4." }, .script = LIST },@|
  { "2 tokens, three times", "The cat sat in the sun. The clock said",@|
    .max = 400, .repetition = 2 },@|
  { "three sentences", DOG, .own = three_sentences },@|
  { "cancelled by a callback", DOG, .cancel = 7 },@|
  { "cancelled by a signal", DOG, .raise = 7 },@|
  { "", "A list:\n", .stop = { "\n\n", "User:" }, .tokens = true,@|
    .script = "A caf\xc3\xa9.\nUseful: 5 "@| "\xe2\x82\xac.\n\nUser:" } }@];

@ One criterion is our own: it counts full stops.

@<Count full stops@>=
static bool three_sentences(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  const struct text_stream *flow = ctx;
  size_t seen = 0;
  (void) text, (void) why;
  for (size_t i = 0; i < flow->text.n; i++)@+ seen += flow->text.byte[i] == '.';
  *enough = seen >= 3;
  return true;
}

@ A session holds what is needed for writing, and the newest text.

@<What a session holds@>=
struct session { struct generate_context g;@+ const struct model_config *config;
  struct tokenizer *t;@+ const struct request *r;@+ struct text_stream flow;
  struct ids prompt, script;@+ size_t steps, shown; };
  /* what it takes to write; the newest text, of which |steps| tokens are
     written, and |shown| bytes */

@ For each text we print its name, how many tokens were written, why it ended, and its last words; of the text that is shown on its way, what each token releases, and a bar.

@<Show a text@>=
static void show(const struct session *u, size_t from, size_t to)
{
  for (; from < to; from++)
    putchar(u->flow.text.byte[from] == '\n' ? '/' : u->flow.text.byte[from]);
}

@ A text is cancelled by the watcher. \label{sec:cancelled} Its |false| means that the caller wants no more, whatever the text is like; so it is no member of the list, and has a reason of its own, |FINISH_CANCELLED|. Where does the wish come from? From a program that has seen enough, or from a person who presses Ctrl-C. Then the operating
system interrupts the program wherever it is, in the middle of a product perhaps, and calls a function of ours. That function may do next to nothing, because memory may be half taken and a row half written. It notes the signal's number in a variable that C promises to write in one piece, and returns. After the next token, when everything is in order, the watcher looks at the variable. (Here the program can send the signal to itself.)
@^signal@>@^cancellation@>

The last function recites: it selects the script's next token, whatever the logits are.

@<Watch a text, or recite it@>=
static volatile sig_atomic_t interrupted;
static void note_signal(int number)
{@+ interrupted = number;@+ }
static bool watch(void *ctx, const struct step *now)
{
  struct session *u = ctx;
  u->steps++;
  (void) now;
  if (u->r->tokens)@+ show(u, u->shown, u->flow.released), putchar('|');
  u->shown = u->flow.released;
  if (u->steps == u->r->raise)@+ raise(SIGINT);
  return u->steps != u->r->cancel && interrupted == 0;
}
static bool recite(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  const struct session *u = ctx;
  (void) logits, (void) why;
  *chosen = u->script.id[text->text.n - text->n_prompt];
  return true;
}

@ Now the parts come together: the stop strings become an automaton, the automaton a part of the text stream, the text stream one of two or three criteria, and the criteria one of the loop's options. A text that a person has cut short must not pass for a whole one, so that is an error.

@<Write a text, and say how it ended@>=
static bool answer(struct session *u, const struct stops *until,
  struct error *why)
{
  const struct request *r = u->r;
  struct continuation text = @[{ .n_prompt = 0 }@];
  @<The criteria of a request@>@;
  @<The options of the loop@>@;
  u->flow = (struct text_stream) @[{ .m = u->g.m, .t = u->t,@|
    .until = until, .min_tokens = r->min_tokens }@];
  void (*usual)(int) = signal(SIGINT, note_signal);
  interrupted = 0;
  bool ok = text_stream_prompt(&u->flow, u->prompt.id, u->prompt.n, why)@|
    && generate(&u->g, u->prompt.id, u->prompt.n, &want, &text, why);
  signal(SIGINT, usual);
  text_stream_end(&u->flow);
  @<Print how the text ended@>@;
  text_stream_close(&u->flow);
  continuation_free(u->g.m, &text);
  return ok && (interrupted == 0 || r->raise > 0@|
    || error_say(why, "the text was interrupted"));
}

@ A criterion that is not wanted stays in the list: without stop strings, or with a count of 0, it never says yes.

@<The criteria of a request@>=
size_t repetition = r->repetition;
struct criterion list[] = @[{@|
  {"string", text_stream_should_stop, &u->flow},@|
  {"repetition", repetition_should_stop, &repetition},@|
  {"callback", r->own, &u->flow} }@];
struct criteria any = @[{ list, r->own == NULL ? 2 : 3, NULL }@];

@ The loop gets the list as its one |stop|, and the watcher. A script is as long as its tokens.

@<The options of the loop@>=
bool scripted = u->script.n > 0;
struct generate_options want = @[{ .eos = u->config->eos,@|
  .n_eos = u->config->n_eos, .min_tokens = r->min_tokens,@|
  .max_new_tokens = scripted ? u->script.n : r->max,@|
  .select = scripted ? recite : NULL, .select_ctx = u,@|
  .recall = store_match_prefix, .stop = criteria_should_stop,@|
  .stop_ctx = &any, .on_step = watch, .ctx = u }@];

@ The list names its own ends and the model's; the loop knows the others, length and cancellation.

@<Print how the text ended@>=
size_t n = u->flow.text.n, last = n < 22 ? n : 22;
const char *reason = criteria_reason(&any, text.ended);
if (reason == NULL)@+ reason =@|
  text.ended == FINISH_CANCELLED ? "cancelled" : "length";
if (!r->tokens)@+ printf("%-24s%4zu  %-11s", r->name, u->steps, reason);
show(u, r->tokens ? n : n - last, n), printf("\n");

@ A request is prepared: the automaton is opened, prompt and script are encoded, and a store is opened with as many positions as the context has. To test a short context we give the store a copy of the settings in which that one number is smaller; the model keeps its own.

@<Answer a request@>=
static bool begin(struct session *u, const struct request *r,
  struct error *why)
{
  struct memory *m = u->g.m;
  struct stop_string list[2];
  struct stops until;
  struct model_config config = *u->config;
  size_t n = 0;
  for (; n < 2 && r->stop[n] != NULL; n++)
    list[n] = (struct stop_string) @[{@|
      (const unsigned char *) r->stop[n], strlen(r->stop[n]) }@];
  if (r->context > 0)@+ config.n_positions = r->context;
  if (!stops_open(&until, m, list, n, why))@+ return false;
  u->r = r, u->steps = u->shown = u->prompt.n = u->script.n = 0;
  bool ok = tokenizer_encode(u->t, m, r->prompt, strlen(r->prompt),@|
      false, false, &u->prompt, why)@|
    && (r->script == NULL || tokenizer_encode(u->t, m, r->script,@|
      strlen(r->script), false, false, &u->script, why))@|
    && (u->g.s = array_store_open(m, &config, why)) != NULL@|
    && answer(u, &until, why);
  store_close(u->g.s), u->g.s = NULL;
  stops_close(&until);
  return ok;
}

@ Model and tokenizer are opened as in the earlier chapters, and closed in reverse order, even if one of them could not be opened.

@c
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "stopping/stopping.h"
@;@#
@<Count full stops@>@;
@<The requests@>@;
@<What a session holds@>@;
@<Show a text@>@;
@<Watch a text, or recite it@>@;
@<Write a text, and say how it ended@>@;
@<Answer a request@>@;
@<Open the model, and answer all requests@>@;

@ All requests are answered in turn; a failure ends the program.

@<Open the model, and answer all requests@>=
int main(void)
{
  static struct memory m;
  struct counters c = @[{ .passes = 0 }@];
  struct error why;
  struct engine e = @[{ .k = kernels_find(NULL, &why), .c = &c }@];
  struct session u = @[{ .r = NULL }@];
  struct model *lm = NULL;
  bool ok = e.k != NULL && (lm = model_open(&m, "models/pocket", &why)) != NULL@|
    && (u.t = tokenizer_open(&m, "models/pocket", &why)) != NULL;
  u.g = (struct generate_context) @[{ &e, lm, NULL, &m }@];
  if (ok)@+ u.config = &lm->config, printf("end token %" PRIu32 "," " says %s\n",@|
    lm->config.eos[0], lm->config.eos_from);
  for (size_t i = 0; ok && i < sizeof ends / sizeof *ends; i++)
    ok = begin(&u, &ends[i], &why);
  ids_free(&m, &u.script), ids_free(&m, &u.prompt);
  tokenizer_close(&m, u.t), model_close(&m, lm);
  if (!ok)@+ fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ This is what became of them. The number counts all tokens that were written, including the end token and those of a stop string; the words shown end before these. The first line names the file that the end token was read from, since a wrong one is a common mistake (\cref{sec:endtoken}).

\checkpoint{build/out/stopping.txt}{eleven texts: after how many tokens each ended, why, and its last words; and a text on its way, a bar after each token; a stroke is a line end}

In the second text the model ended its tale at the same place as before, but the end token was not obeyed; the model went on as after the end of any text, with a new one. The third, of 20 tokens, ends in the middle of a sentence, as texts that are cut by a length mostly do: of \val{stop.talks} conversations that we let the model
write,\lab{lab:endtoken} a limit of \val{stop.cap} tokens would have cut \val{stop.cut} short, \val{stop.cut.inside} of them within a sentence. A larger limit cuts fewer texts, but no more gently. The context of 24 positions is full one token later than one might think, because the last token is not read (\cref{sec:contextfull}): \val{stop.context.written} tokens after a prompt of \val{stop.context.prompt}.

In the owl's conversation an empty line separates the exchanges; it takes two tokens. The name \emph{User:} comes earlier, in two tokens as well; so with both strings it is the name that ends the text. The list ends after its third item, but note what ended it: the two characters \emph{4.}, anywhere. A price of 14.50 would have ended it too. The clock's two tokens are a tick and a comma.

The last two texts were cancelled, and there is nothing wrong with them. They have seven tokens each, can be shown, and can be continued: given the prompt and these seven, the model wrote \val{stop.resumed} more tokens,\lab{lab:ends} the same as without the interruption; with sampling as well, since the draws of chapter 7 depend on the position and not on a history.

The tokens are the same, but the criteria begin anew. A \emph{Us} that was held was released when the text ended, and an \emph{er:} that follows completes nothing, because its beginning is now in the prompt; protected tokens, sentences and repetitions are counted from 0. A caller who wants the stop strings to go on as well keeps the text stream, does not end it, and gives it to the next call.

@ Three questions remain that a caller will ask. \emph{What is counted?} Every token that was selected, because each cost a pass: those of a stop string, and the end token, are on the bill although they are not shown.
\emph{What is left in the cache?} The cut concerns bytes only. The ids stay as they were written, and the cache has a row for each of them except the last, which was not read. If a conversation goes on with the text that was shown, its tokens are encoded anew, and the rows up to the first difference are used again (\cref{cache}).
\emph{Can stopping change the text?} Not here. The criteria never touch the logits, and the draws depend on seed and position; so with the same seed a text under other stopping options is the same text, longer or shorter. That is why an end token within |min_tokens| is selected and not obeyed. Other libraries mask it instead, which keeps the tale going and draws other tokens; the search of chapter 9 has such a mask.
@^min\_tokens@>

@* The end token is sampled. \label{sec:endtoken}
Among the tokens of a vocabulary one or a few stand for no text: the \emph{end-of-sequence} tokens, EOS for short. In training they followed each text, and a model that has learned well gives them a high probability where a text is over. Which ids are they? The model's files say it, in more than one place. The loop takes them from \.{generation\_config.json} if that file lists any, and from \.{config.json} otherwise. The two may disagree,
because one was made for texts and the other for conversations. Llama~3.1, for instance, lists three: \.{<\char124 end\_of\_text\char124>} after a document, \.{<\char124 eot\_id\char124>} after a turn of a conversation, and \.{<\char124 eom\_id\char124>} after a message that waits for a tool's result.\side{\.{generation\_config.json} of the published Llama 3.1 models. The ids are 128001, 128009 and 128008.} A program that listens for the first alone gets the answer, then an answer of the model to itself, and so on. Therefore the loop compares each token with all of a list; with |n_eos| 0 it ignores them all, which is the command's \.{-{}-ignore-eos}, useful for measurements.
@^end token@>@^tools, of a model@>

An end token is selected like any other token. A high probability is not enough: let a model give it \given{0.9}, everything else \given{0.1}, and draw; of \val{stop.coin.trials} draws a share of \val[3]{claim.S3-39} went on. And a low probability? If it is $e$ at each step, a text has not ended after $n$ tokens with the probability
\begin{equation}\label{eq:running}
  (1-e)^n,
\end{equation}
because it must have gone on $n$ times. That becomes small, but never 0. For $e=\given{0.01}$ and $n=\given{500}$ it is \val[4]{claim.S2-68}: of \val{stop.coin.texts} simulated texts \val{stop.coin.left} were still running, where \val[0]{stop.coin.left.expected} were to be expected. Each of them ends at some time, but a server with a million requests and no limit on the length will have some that come back very late.

\fig{running}{fig:running}{The share of texts that are still running after $n$ tokens: simulated with four constant probabilities of the end (points), by \eqref{eq:running} (lines), and written by the built-in model (steps). With a logarithmic axis a constant probability gives a straight line; the model's texts do not. The steps break off where the last conversation ends.}{A plot with a logarithmic vertical axis from one hundredth to 1. Four straight lines fall from the upper left corner, the steepest for e of \given{0.1}, then \given{0.03}, \given{0.01} and \given{0.003}; points lie on them. A thick stepped line stays at the top for a while and then falls off like a cliff, to nothing before the flattest line has lost half.}

Does a model behave like a coin? \Cref{fig:running}\lab{lab:endtoken} has \val{stop.talks} conversations of the built-in one, drawn at temperature 1. None ended before \val{stop.talks.shortest} tokens, none went on for more than \val{stop.talks.longest}. Within a text the end has next to no probability: at most \val[3]{stop.eos.most} in \val{stop.eos.places} places where it was not selected, and \val[1]{stop.eos.mean} millionths on average; where it was selected, \val[2]{stop.eos.chosen}. A model that knows its texts sees the
end coming. One whose prompt is like nothing it was trained on may well behave like the coin with the smallest $e$.

@* Bytes shown, bytes held. \label{sec:shown}
\Cref{fig:hold}\lab{lab:shown} shows the last text of the program on its way to a reader, recited so that everything happens in it: two characters that come in pieces, a line end that is not followed by another, a word that begins like the stop string \emph{User:} and is another word, and at last two line ends.

\widefig{hold}{fig:hold}{A line is a token, a column a byte of the text. Red cells are released with the token, grey ones were released before. Hatched cells wait because a stop string may have begun, dotted ones because only part of a character has come. The pale cells of the last line are the two line ends before which the text is cut; nothing of them was ever shown.}{Nineteen lines in steps, a token each, over twenty-five columns, the bytes. Each line has grey cells at the left and mostly one to three red ones at its end. Four lines end with hatched cells, one to three of them, and three with one or two dotted ones. In the last line the two cells of the stop string are empty.}

Nothing waits longer than it must. The \emph{U} waits when it comes, then \emph{Use}; with \emph{ful} all six letters are released, because now it is a useful thing and not a user. The line end before it was released already when the \emph{U} came. (In the program's last line, where nothing comes between two bars, a token has released nothing.) How often does a reader notice? Of the \val{stop.shown.tokens} tokens of the owl's conversation, \val{stop.shown.at.once} were shown whole and at once, \val[word]{stop.shown.waited} waited, and \val[word]{stop.shown.string} were the stop string and never shown.

We have proved that the cuts between tokens do not matter. We have also counted it: a text of $n$ bytes can be cut in $2^{n-1}$ ways, and two short texts with these stop strings were cut in all \val{claim.S3-42} ways. Every cut ended at the same string and left the same text, and what was released on the way was always a beginning of it.

@* The cost of stop strings. \label{sec:stopcost}
The automaton looks at every byte of every text; is that slow?\lab{lab:stopcost} Each byte takes a step, and the step may take a walk. In the \val{stop.walk.bytes} bytes of the tales that come with the model, our two strings cause \val{stop.walk.two} steps of walking, \val[4]{claim.S2-101} a byte. A list made to be hard, the first letters at \val{stop.walk.strings} places of the tales themselves, causes \val[2]{stop.walk.hard} a byte. The bound is 1, whatever the strings are.

The clock agrees. A token of four bytes takes the automaton \val[0]{stop.clock.first} nanoseconds after \val{stop.clock.first.tokens} tokens, and \val[0]{stop.clock.last} after \val{stop.clock.tokens}. Calling the C library's |strstr| for each string on the whole text costs \val[0]{stop.clock.scan.first} nanoseconds for the shorter text and \val[1]{stop.clock.scan.last} microseconds for the longer. But
compare: a pass of the built-in model, a very small one, takes \val[0]{stop.clock.pass} microseconds at \val{stop.clock.pass.tokens} tokens. The automaton adds \val[2]{stop.clock.percent} percent to that, the search of the longer text \val[1]{stop.clock.scan.percent} percent. Time decides nothing here. We use the automaton because it knows how much to hold.

@* Padding, and why we have none. \label{sec:padding}
Texts that are written together begin with prompts of different lengths and end at different times. Many programs keep them in a rectangular table and fill the short lines with a \emph{pad} token, mostly the end token for want of a better one. Then the pads must be masked in attention, and the positions counted without them. We have no table. A pass is a list of rows, each with its sequence and its position (\cref{sec:rows}), which is called a \emph{ragged batch}; a text that has ended has no row in the next pass, and no pad token is needed.
@^padding@>@^ragged batch@>

What happens if the mask is forgotten?\lab{lab:padding} We put four pads before a prompt, unmasked. With end tokens for pads the logits after the prompt change by up to \val[2]{stop.pad.end.left}, yet all \val{stop.pad.end.same} greedy tokens that we compared stayed the same: the built-in model was trained on texts with end tokens between them, and has seen this before. With full stops for pads the logits change by up to \val[2]{stop.pad.other.left}, and the
text is another from token \val{stop.pad.parts} on. With pads \emph{after} the prompt the last row is a pad's, and the logits change by \val[2]{stop.pad.end.right}: that row predicts what follows an end token. In no case is there an error message.

@* What stopping cannot mend. \label{sec:limits}
Temperature, masks and penalties act before a token is selected. Once a text is written, nothing but its end can be decided: what is there stays, and it was written from left to right. What does that cost? Four numbers from the built-in model.\lab{lab:limits}

\emph{Nothing is taken back.} Of the \val{stop.written} tokens of our conversations, \val{stop.rare} had a probability of less than one percent when they were drawn. The model has read each of them and gone on from it; it has no way to say that it did not mean that. (A rare token is not a fault. We count them because faults are harder to count.)

\emph{Left to right.} What follows a word would often settle which word it is. We remove a token from a tale that the model was not trained on, and let the model fill the gap: its likeliest token is right in \val{stop.gap.left} of \val{stop.gap.places} places. Now, of its \val[word]{stop.gap.choices} likeliest tokens, we take the one with which the gap and the next \val[word]{stop.gap.after} tokens are likeliest together. That is right in \val{stop.gap.both}.
One tale is a hint and no proof, but it points where one would expect.

\emph{Length.} If each token is faulty independently with probability $e$, then \eqref{eq:running} is the share of texts of $n$ tokens without a fault. The rare tokens come at a rate of \val[4]{stop.rare.rate}; of the \val{stop.cut} conversations with at least \val{stop.cap} tokens, \val[0]{stop.clean.expected} should have none among the first \val{stop.cap}, and \val{stop.clean} have none.

\emph{No plan.} The likeliest token need not begin the likeliest pair. At the same \val{stop.gap.places} places the likeliest pair begins with another token in \val[word]{stop.pair.other}: in an easy tale hardly ever. Chapter 9 looks further ahead, and finds out what that is worth.

Streaming makes all this visible: what has been shown cannot be changed. Whether an answer is better sent at once or read over first is for the caller to decide.

\begin{aside}{Thinking first}
Two remedies are in use, and neither changes the loop. A model may be led to write down its steps before the answer, a \emph{chain of thought};\side{\cited[Wei and others 2022]{Wei 2022}.} the plan then is in the text, where the following tokens can attend to it, and a stop string separates it from the answer. Or several continuations are written and weighed, some given up and some carried on, a \emph{tree of thoughts}:\side{\cited[Yao and others 2023]{Yao 2023}.} so something is taken back, at the
price of having been written. Both buy better tokens with more of them. We have not measured how much better. @^chain of thought@> @^tree of thoughts@>
\end{aside}

@ And what of masks? \label{sec:maskends} It is often said that masking tokens \emph{forces} a text into a form. Step by step it does: after the owl's question we masked all tokens but those made of digits,\lab{lab:maskends} and all \val{stop.mask.draws} tokens drawn at temperature 1 were made of digits, though the model gave these \val[1]{stop.mask.digits} millionths of the probability.
But such a mask does not finish a text. If the length comes first, what is left is only the valid beginning of a form, half an object of JSON for example. To guarantee a whole one, the mask must know how many tokens are left, and forbid each token after which the rest could not be completed in time. The constraints of \cref{constraints} do that: with a limit of 12 tokens they write a complete object, and a limit that is too short for the form is refused before the first token.
@^mask@>

@* Differences between implementations. \label{sec:stopothers}
Nearly every program that lets a model write has stop strings. No two of those in \cref{tab:stopothers} agree about them.
@^vLLM@>@^llama.cpp@>@^Hugging Face@>

\begin{table}[tbp]
\tabcaption{tab:stopothers}{Stop strings in four programs; the last column is what waits because a stop string may have begun. Read in August 2026: \.{stopping\_criteria.py} of Hugging Face's library (\texttt{6978a60}), \.{detokenizer.py} of vLLM (\texttt{017e9f4}), \.{server-context.cpp} of llama.cpp (\texttt{3f545be}).}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lllll@@{}}
\toprule
& \tabhead{looks at} & \tabhead{occurrence} & \tabhead{cuts} & \tabhead{holds back}\\
\midrule
this book & new bytes & earliest end & yes & what may begin\\
Hugging Face & prompt and text & any & no & nothing\\
vLLM & new characters & earliest end & yes & longest less 1\\
llama.cpp & new bytes & earliest start & yes & all unsent\\
\bottomrule
\end{tabular*}
\end{table}

Hugging Face's library compares with the whole text, prompt included: if a prompt ends in \emph{Us} and the model goes on with \emph{er:}, the text ends. It never cuts; the caller does. Of two strings that end together vLLM takes the first of the list, and we the longest. llama.cpp looks, after each token, for the occurrence that begins first, and that depends on the tokens: of \emph{abcd} and \emph{bc}, with \emph{abcd} in one token, it shows nothing; with a token for each letter it shows the \emph{a}, because \emph{bc} was complete a token earlier. Ours shows the \emph{a} in both cases. As to |min_tokens|, vLLM masks the end tokens until that many have been written, where we select and do not obey them.

What does each hold-back mean for a reader? None of them shows a byte that would have to be taken back. vLLM always holds as many characters as the longest stop string has, less one; llama.cpp holds all that is unsent as long as the text ends with the beginning of a stop string. \Cref{tab:held} compares the three rules.

\begin{table}[tbp]
\tabcaption{tab:held}{How many bytes wait after a token, on average, and the share of tokens after which nothing is shown. The short strings are two line ends and \emph{User:}; in the long list the second is a whole line, \emph{Assistant: Goodbye!} with the line end before it. \val{stop.rule.tokens} tokens of conversations; vLLM's rule counted in bytes.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrrrr@@{}}
\toprule
& \multicolumn{2}{c}{\tabhead{short strings}} & \multicolumn{2}{c}{\tabhead{a long one}}\\
& \tabhead{bytes held} & \tabhead{silent} & \tabhead{bytes held} & \tabhead{silent}\\
\midrule
this book: what may have begun & \val[2]{stop.rule.short.ours} & \val[2]{stop.rule.short.ours.silent} & \val[2]{stop.rule.long.ours} & \val[2]{stop.rule.long.ours.silent}\\
llama.cpp: all that is unsent & \val[2]{stop.rule.short.unsent} & \val[2]{stop.rule.short.unsent.silent} & \val[2]{stop.rule.long.unsent} & \val[2]{stop.rule.long.unsent.silent}\\
vLLM: the longest, less 1 & \val[2]{stop.rule.short.fixed} & \val[2]{stop.rule.short.fixed.silent} & \val[2]{stop.rule.long.fixed} & \val[2]{stop.rule.long.fixed.silent}\\
\bottomrule
\end{tabular*}
\end{table}

With the fixed number the fewest tokens are silent: once a text is longer than that number, whatever comes in at the end pushes as many bytes out in front. Something is shown with nearly every token, but it is always late: by \val[1]{stop.rule.short.fixed} bytes with the short strings, about a token, and by \val[1]{stop.rule.long.fixed} with the long one, a few words. The delay is there in every text, for the sake of a phrase that hardly ever comes.
By our rule the reader nearly always has everything, and waits for a moment where something has begun. llama.cpp's rule is as prompt, except that it releases nothing while a stop string may have begun, not even bytes that can no longer belong to one, like the \emph{an} of our calculation. The fixed number gives an even flow; ours gives the text sooner.

The search itself is the one that \cited[Aho and Corasick published in 1975]{Aho 1975}; for a single string it becomes that of Morris and Pratt, of 1970 \cited{Morris 1970}. What we add is the number |hold| in the node: two lines.

@* What the tutorials say. \label{sec:stoptutorials}
On this subject the tutorials are brief and mostly right. Two sentences teach something; the other claims are in the laboratory.\lab{lab:stopclaims}

\begin{claimed}{S3-39}
it stops when that token is \emph{selected}. With a probability of $\given{0.9}$ it was not, in a share of \val[3]{claim.S3-39} of \val{stop.coin.trials} draws. Greedy decoding stops when no token is likelier, however small that probability is.
\end{claimed}

\begin{claimed}{S2-99}
an id alone avoids the message and not the error: without a mask four pads make another prompt, and with full stops for pads another text from token \val{claim.S2-99} on. Where the end token is the pad, the ends that the model meant can no longer be told from the filling. Where each text has as many rows as tokens (\cref{sec:padding}) there is no pad to set.
\end{claimed}

@* Exercises. \label{sec:stopexercises}
Each names the command that checks an answer; most of these try it against the automaton of this chapter.

\begin{exercises}
\exercise{check}{ex:stop.onion}{The stop strings are \emph{onion} and \emph{nine}. How many bytes are held after each byte of \emph{ononine}, up to the last but one?}{\texttt{make exercise-08-1}}{1, 2, 1, 2, 3, 3. The third byte is no \emph{i}, and so the \emph{o} of another \emph{onion}; after the fifth \emph{oni} may go on; the sixth leaves \emph{nin} of it, the beginning of \emph{nine}.}
\exercise{check}{ex:stop.cap}{A model ends its text with the same probability of two percent at each token. For which smallest length do at least \given{999} in \given{1,000} texts end by themselves?}{\texttt{make exercise-08-2}}{$0.98^n\le0.001$ gives $n\ge\ln0.001/\ln0.98=341.9$, so 342.}
\exercise{think}{ex:stop.mean}{How many tokens does such a text have on average, its end token included, if the end has the probability $e$ and there is a length $n$? Give it for $e=\given{0.01}$ and $n=\given{100}$, with one decimal.}{\texttt{make exercise-08-3}}{Token $i$ is written if none before it was the end: $\sum_{i=1}^n(1-e)^{i-1}=\bigl(1-(1-e)^n\bigr)/e$, here $63.4$, where without a length it would be \given{100}.}
\exercise{think}{ex:stop.walk}{Find a list of stop strings, of 20 bytes together at most, and a text in which one byte takes a walk of eight failures.}{\texttt{make exercise-08-4}}{\emph{aaaaaaaab}, eight times the same letter and another, and the text \emph{aaaaaaaac}: from the state of eight letters the \emph{c} tries each shorter one. Before that eight bytes went by without a walk.}
\exercise{think}{ex:stop.never}{Of the stop strings \emph{abcd}, \emph{bc}, \emph{xbc}, \emph{bcx}, \emph{cde}, \emph{e} and \emph{xe}, which can never be the one that ends a text?}{\texttt{make exercise-08-5}}{Those that contain another one that ends before they do: \emph{abcd} and \emph{bcx}. In \emph{xbc}, \emph{cde} and \emph{xe} the other one ends with them, and they are longer.}
\exercise{think}{ex:stop.cuts}{Another rule says: after each token, if stop strings are complete, end the text where the first of them \emph{begins}. Find three stop strings and a text for which this gives three different texts, by three ways to cut the text into tokens.}{\texttt{make exercise-08-6}}{\emph{abcdef}, \emph{bcde} and \emph{cd}, each inside the one before, and the text \emph{abcdef}. Byte by byte \emph{cd} is complete first, and \emph{ab} is left; if \emph{de} is one token, \emph{bcde} is complete with it and begins earlier, which leaves \emph{a}; with all in one token nothing is left. By our rule it is \emph{ab}, always.}
\exercise{think}{ex:stop.live}{Let |hold| count only what can still come true: a beginning of a stop string that must pass through another one is not held. The texts must not change when no token is protected, and nothing may be released later than now.}{\texttt{make exercise-08-7}}{A node is alive if it is a whole string, or if no string ends at it and one of its children is alive: so go through the queue backwards. Then go forwards again: |hold| is the depth of a node that is alive and at which no string ends, and that of the failure elsewhere.}
\exercise{check}{ex:stop.whole}{A stop string in bytes may begin in the middle of a character, and then the hold cuts that character in two: its first half is shown. Let the text stream release no half characters, whatever the strings are.}{\texttt{make exercise-08-8}}{One line: what is to be released may end with an unfinished character itself, so take |utf8_held| of it once more and hold that as well.}
\end{exercises}
