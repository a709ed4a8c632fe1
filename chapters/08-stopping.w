@i types.w
@s size_t int
@s step_stop int
@s step_watch int
@s sig_atomic_t int

\chapterquestion{Nobody has told the model how long an answer should be. When is it over, and how much of it may be shown before it is?}
@** Stopping and streaming.
\incipit{T}{he loop} goes round, and each round adds a token. Nothing in it is tired or satisfied. A text ends because somebody ends it: the model, by a token that means the end; the caller, who wants so many tokens, or
no more than fit; or one of the two by a phrase, as when the caller says that the answer is over where the next question begins. The first two are comparisons of numbers. The third is not so simple, since a phrase is made of characters, and the model
writes tokens: the phrase may begin in the middle of one and end in the middle of another.
@^stopping@>@^stop strings@>@^streaming@>

And somebody is reading along. A reader who sees each token as it comes must not see the beginning of the phrase that ends the text, for the phrase is no part of it; nor half a character. So some bytes wait. Which? A common answer is: as many
as the longest phrase has, less one. Another: everything, once a phrase has begun. Both show the reader less than they could. The exact answer is a machine that was found half a century ago for searching libraries, and that knows at every byte how much of the text it may still have to take back.

@ The chapter makes two files. |stops| is the machine: a few phrases, and at every byte of a text the one that ends there and the one that may have begun. |stopping| is what stands between the loop and a reader: it turns ids into bytes, releases them, asks a list of criteria whether the text is to end,
and remembers which of them said so. A short program lets the built-in model run into each of its ends (\cref{sec:ends}). What looking for phrases costs, and what no way of stopping can mend, is measured in the laboratory.

\begin{byhand}{a text byte by byte}
A text is to end at \emph{anno} or at \emph{nah}, whichever is complete first. After each byte ask: what is the longest end of the text that begins one of the two? So much is held back; what stands before it is released.

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

At the fifth byte this \emph{anno} is no longer possible. So \emph{ann} must give way to a shorter end of its own that begins one of the two: \emph{nn} does not, \emph{n} does, and it goes on with the new byte, to \emph{na}, the beginning of \emph{nah}. Two bytes wait on, and two can go. At the sixth \emph{nah} is complete, and the text is what stands before it: $6-3=3$ bytes, \emph{Han}. All three of them have been released, and of \emph{nah} none. Had the reader been shown all but the last three
bytes every time, the same text would have come later; had everything waited since \emph{a}, it would have come at the end.
\end{byhand}

@* Stop strings as an automaton. \label{sec:automaton}
A phrase at which a text ends is called a \emph{stop string}, and it is a string of bytes. Why not of characters, or of tokens? Of tokens it cannot be: \tok{\char92n\char92n} is one token in some vocabularies, two in ours, and a part of a longer one in others; which tokens spell a phrase depends on what stands before it. Characters would do, but a token
may end in the middle of one, and then there would be something that has come and cannot be compared. Bytes have neither trouble. A caller may even ask for bytes that are no text.

All stop strings together are kept as a tree, in which those that begin alike share their beginnings. A \emph{state} is a node of the tree, that is, a beginning of one or more of the strings; the root is the empty one; \cref{fig:links}\lab{lab:stoptree} has the tree of the calculation. Reading a text, we are always in one state: the longest end of the text so far that is a node. In the calculation above these are the bytes of the third
column. The rest of the text is of no interest: nothing that began further back can become a stop string.
@^Aho--Corasick automaton@>

\fig{links}{fig:links}{The tree of \emph{anno} and \emph{nah}. A double frame is a whole stop string, a number below a node the bytes that wait in it. A dashed arrow leads to the longest shorter end that is a node; where none is drawn it leads to the root.}{A root at the left and two branches from it: a, an, ann, anno above and n, na, nah below; the last of each has a double frame. The numbers 1, 2, 3, 0 stand under the upper nodes, 1, 2, 0 under the lower ones. Dashed arrows lead from an and from ann down to n, and from na up to a.}

@<Stop strings, and the machine that looks for them@>=
struct stop_string { const unsigned char *byte; size_t n; };
  /* |n| bytes at which a text is to end; borrowed */
struct stops_node { uint32_t child, sibling, failure, depth, hold, ending;
  unsigned char byte; };
  /* a beginning of a stop string, |depth| bytes long, the last of them |byte|; its first
     child and its next |sibling|; the longest other node that is an end of
     it, |failure|; 1 more than the number of the longest string that ends here,
     |ending|; how many bytes at the end may still become a part of one, |hold| */
struct stops { struct memory *m; const struct stop_string *list; size_t n;
  struct stops_node *node; size_t cap, n_nodes; uint32_t first[256]; };
  /* |node[0]| is the root, and so 0 stands for no node; |first[b]| is the root's child for byte |b| */

@ What a caller does with it is little: open it, step through the bytes of a text, and look at the state. It is not changed by stepping; so one machine serves many texts at once, each with its own state.

@<Stop strings, and the machine that looks for them@>=
bool stops_open(struct stops *s, struct memory *m,
  const struct stop_string *list, size_t n, struct error *why);
  /* builds the automaton of Aho and Corasick (1975) for |list[n]|, which is borrowed, in
     memory in proportion to its bytes, and in as much time, times the ways in which the strings go on from
     one node, 256 at the most; |n| may be 0; on failure there is nothing to
     close, but it does no harm; errors: an empty string, too many bytes, memory */
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

@ The child of a node for a byte is looked up in the list of its children, which is as long as there are different ways to go on: one or two, mostly. Only the root has a table of all bytes. There a text spends its time, since most bytes begin no stop string; and a list of children at the root would be walked to its end for each of them.

Full tables for all nodes would need no walking at all, and $2^{10}$ bytes for every byte of a stop string. That is a fair price for four short phrases, but somebody may come with a stop string that has been read from a file.

@<Look for a child@>=
static uint32_t child_for(const struct stops *s, uint32_t at,
  unsigned char byte)
{
  if (at == 0) return s->first[byte];
  uint32_t next = s->node[at].child;
  while (next != 0 && s->node[next].byte != byte)
    next = s->node[next].sibling;
  return next;
}

@ The step. If the state has a child for the byte, that is the new state. If not, the longest end does not go on with this byte, and the next longest must be tried: a shorter end of the same text that is also a node. That is what |failure| names, the dashed arrow of the figure; and it has a failure of its own, down to the root, which is an end of every text. The first that has a child for the byte wins, being the longest.
@^failure, of a state@>

How long can the walk take? Each step of it makes the state shorter by a byte or more, and each byte of the text makes it longer by one at most. So in a whole text there are no more steps of the walk than there are bytes in it, whatever the strings are: for one byte the walk may be as long as a stop string, but only after as many bytes without a walk. Each of these steps looks through one list of children, and only strings that go on in many ways from the same beginning make that list long.
@^amortised cost@>

@<Step through a byte@>=
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

@ A string is added by walking down the tree as far as it goes, and making nodes for the rest. Of two equal strings the first keeps its number.

@<Add a string to the tree@>=
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
      if (at == 0) s->first[x->byte[i]] = next;
    }
    at = next;
  }
  if (s->node[at].ending == 0) s->node[at].ending = (uint32_t) which + 1;
}

@ Then the failures are found, and the step itself finds them. Take a node that is reached from |at| by a byte. An end of it is an end of |at| with this byte after it; so its failure is where one step by this byte leads from the failure of |at|. All nodes on the way are shorter than the node in question; so if the tree is gone through level by level, their own failures are known. The levels come of themselves
when every node that is visited puts its children at the end of a queue. The walks are short here, too: along one string the failures get longer by a byte a node at most, and each step of a walk makes one shorter, so there are no more steps than the string has bytes.

@<Find the failures, level by level@>=
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

@ Two things are read off a state while a text runs, and neither may take a walk. A string that ends at a node is longer than any that ends at its failure; if none ends at the node itself, the failure knows. And how much may be claimed? A node with children is a beginning of something longer: all its bytes wait. A leaf is a whole string and nothing else, so it begins
nothing; what waits is what its failure says. (A whole string does not always end the text. \Cref{sec:outflow} has a case in which it is passed over, and then the question comes up.)

@<See what ends at |x|, and what it may become@>=
const struct stops_node *shorter = &s->node[x->failure];
if (x->ending == 0) x->ending = shorter->ending;
x->hold = x->child != 0 ? x->depth : shorter->hold;

@ So both questions are answered by a look into the node.

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

@ To open the machine is to count the bytes, take as many nodes and a root, add all strings, and link. The queue is needed for the linking only. An empty string ends every text before it has begun; that can hardly be meant, and to pass over it would be to guess. Somebody has made a mistake, and we say so.

@<Open and close the machine@>=
bool stops_open(struct stops *s, struct memory *m,
  const struct stop_string *list, size_t n, struct error *why)
{
  *s = (struct stops) @[{ .m = m, .list = list, .n = n, .n_nodes = 1 }@];
  size_t cap = 1;
  for (size_t i = 0; i < n; i++) {
    if (list[i].n == 0) return error_say(why, "stop string %zu is empty;"@|
        " wanted: 1 byte or more", i);
    if (list[i].n > UINT32_MAX - cap) return error_say(why,@|
        "the stop strings have"@| " more than %" PRIu32 " bytes",@|
        UINT32_MAX - 1);
    cap += list[i].n;
  }
  @<Take the nodes, and build the tree@>@;
}

@ A node has 28 bytes. They are taken for as many nodes as there are bytes in the strings, also where beginnings are shared: strings that share most of their bytes are rarely asked for.

@<Take the nodes, and build the tree@>=
s->node = memory_alloc(m, MEMORY_TOKENS, cap, sizeof *s->node, why);
uint32_t *queue = s->node == NULL ? NULL
  : memory_alloc(m, MEMORY_TOKENS, cap, sizeof *queue, why);
s->cap = cap;
if (queue == NULL) {
  stops_close(s);
  return false;
}
for (size_t i = 0; i < n; i++) add_string(s, i);
link_nodes(s, queue);
memory_free(m, queue);
return true;

@ A machine that was never opened, if it is all zero, can be closed as well.

@<Open and close the machine@>=
void stops_close(struct stops *s)
{
  memory_free(s->m, s->node);
  s->node = NULL;
}

@ The strings on a command line are typed, and not every byte has a key. So a stop string is written with escapes: \.{\char92 n} for the end of a line, \.{\char92 t} for a tab, \.{\char92 x} and two hexadecimal digits for any byte, also one that is no character, and \.{\char92\char92} for a backslash. Anything else after a backslash is a mistake, since tomorrow it might mean something.
@^escapes@>

@<Stop strings, and the machine that looks for them@>=
bool stops_unescape(struct memory *m, const char *text, struct bytes *out,
  struct error *why);
  /* appends |text| to |out|; a backslash and what stands after it, an n, a t, an x with two hexadecimal digits
     or a backslash, are replaced by one byte; errors: a backslash before anything else, memory; on failure |out| is as it was */

@ One byte at a time is put down, and when something is wrong everything that was put down is taken back.

@<Replace the escapes@>=
bool stops_unescape(struct memory *m, const char *text, struct bytes *out,
  struct error *why)
{
  size_t before = out->n;
  for (const char *p = text; *p != '\0'; ) {
    unsigned char byte = (unsigned char) *p;
    size_t n = byte == '\\' ? escape(p + 1, &byte) : 1;
    bool ok = n > 0 ? bytes_push(m, out, &byte, 1, why)
      : error_say(why, "stop string `%s': "@|
        "wanted behind a backslash: n, t,"@|
        " a backslash, or x and two hexadecimal digits", text);
    if (!ok) {
      out->n = before;
      return false;
    }
    p += n;
  }
  return true;
}

@ An escape is two or four characters long. Where the text ends before its second digit, the zero at the end is no digit.

@<Read an escape@>=
static size_t escape(const char *p, unsigned char *byte)
{
  int value = *p == 'x' ? hex_byte(p + 1) : -1;
  switch (*p) {
  case 'n': *byte = '\n'; return 2;
  case 't': *byte = '\t'; return 2;
  case '\\': *byte = '\\'; return 2;
  case 'x':
    if (value < 0) return 0;
    *byte = (unsigned char) value;
    return 4;
  default: return 0;
  }
}

@ The header of the machine needs nothing but memory and bytes.

@(stops.h@>=
#ifndef INCIPIT_STOPS_H
#define INCIPIT_STOPS_H
#include "tokens/utf8.h"
@<Stop strings, and the machine that looks for them@>@;
#endif

@ In its source the step comes before the linking that uses it.

@(stops.c@>=
#include <inttypes.h>
#include "stopping/stops.h"
@;@#
@<Look for a child@>@;
@<Step through a byte@>@;
@<Look at a state@>@;
@<Add a string to the tree@>@;
@<Find the failures, level by level@>@;
@<Open and close the machine@>@;
@<Read an escape@>@;
@<Replace the escapes@>@;

@* Output that is certain. \label{sec:outflow}
Between the loop and a reader stands a \emph{text stream}, through which the text flows out. It takes the tokens one by one and has all bytes of the text so far, of which the first so many are released: a reader may be shown these, and will never have to be told that they were not meant. When a stop string is complete, the text is cut before it, and all that is left is
released.
@^text stream@>@^hold-back@>

The rule in one sentence: \emph{the text ends immediately before that occurrence of a stop string whose end comes first; if several end there, before the longest}. An occurrence lies within what was written, and not in the prompt, which is nobody's answer; it may begin in one token and end in another. Nothing in this sentence mentions tokens, and so, unless some are protected, the text does not depend on how the model happens to cut it. The earliest \emph{beginning}, which other
programs ask for, would: of \emph{abcd} and \emph{bc}, at the text \emph{abcd}, the first begins first and the second ends first; and when the bytes come one by one, the second is complete while the first still lacks one.

There are two options. A caller may want to see the stop string (|include_stop|); the text then ends after it, and nothing needs to be held for its sake. And the first so many tokens may be protected (|min_tokens|): a stop string that ends in one of them is passed over. One that begins there and ends later is not, and it is cut out like any other, so that less may be left than the protected tokens had: |min_tokens| says how long the model must have written, and not how much is shown. It is the one place in which tokens come into the rule.
@^min\_tokens@>

@<What stands between the loop and a reader@>=
struct text_stream { struct memory *m; const struct tokenizer *t;
  const struct stops *until; bool include_stop; size_t min_tokens;@|
  struct bytes text; size_t released, tokens; uint32_t state; bool begun;
  const struct stop_string *found; };
  /* set by the caller, and borrowed: memory, a tokenizer (null: tokens have no bytes), the stop
     strings, and two options; the rest begins as zero: |text.n| bytes of
     which |released| may be shown, of |tokens| tokens; |found| is the stop string
     before (or after) which the text has been cut, or null */
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
struct text_stream_state { size_t n, released, tokens; uint32_t state;
  bool begun; const struct stop_string *found; };
  /* how far a text stream has come: everything that a token changes, but the bytes */
struct text_stream_state text_stream_save(const struct text_stream *o);
  /* where it is now */
void text_stream_restore(struct text_stream *o,
  const struct text_stream_state *to);
  /* goes back to where it was when |*to| was saved, as if no token had come since; the
     stream has not been closed or given a prompt in between */
void text_stream_close(struct text_stream *o);
  /* returns the text */

@ What is held when a token has come? The longest end of the text that begins a longer stop string; or, if that is longer, a character of which some bytes are missing (\cref{sec:streaming}). The first is a look at the state, and the second a look at the last three bytes. (A stop string that begins in the middle of a character may split one, and then the half before it is shown; \cref{ex:stop.whole} mends that.)

@<Take the bytes from |from| on, and release what is certain@>=
static void take_bytes(struct text_stream *o, size_t from)
{
  o->tokens++;
  for (size_t i = from; i < o->text.n; i++) {
    o->state = stops_step(o->until, o->state, o->text.byte[i]);
    const struct stop_string *x = stops_ending(o->until, o->state);
    if (x == NULL || o->tokens <= o->min_tokens) continue;
    o->found = x;
    o->text.n = i + 1 - (o->include_stop ? 0 : x->n);
    o->released = o->text.n;
    return;
  }
  size_t held = utf8_held(o->text.byte, o->text.n);
  size_t claimed = o->include_stop ? 0 : stops_hold(o->until, o->state);
  o->released = o->text.n - (claimed > held ? claimed : held);
}

@ Is that right? Four things have to be shown.

\emph{The text is that of the rule.} The bytes are gone through in their order, whatever tokens they come in, so the first at which a string ends is where the first occurrence is complete; and of those that end there |stops_ending| names the longest.

\emph{What has been released is never wanted back.} Let the held end of the text begin at a place $i$ after some token, and at a place $j$ after a later one. If the later end is the beginning of a stop string, then so is what had come of it at the time of the earlier token, since it is a beginning of a beginning; and an unfinished character was unfinished before. So what begins at $j$ was held at the earlier time, if it had come at all; and as the longest was held,
$i\le j$. The released part only grows.

\emph{No byte of a stop string gets out.} An occurrence ends with some byte of a token. Before that token, what had come of the occurrence was a beginning of it and not the whole, so it was held. (Under |include_stop| these bytes are a part of the text, and nothing has to be held for their sake.)

\emph{Nothing is held without a reason.} Each byte that is held belongs to a beginning of a stop string or of a character, and the next token might bring the rest. Here a doubt remains, and it is a small one: a stop string that contains another, like \emph{abcd}, may never get as far as its end, because the other ends first, and then it holds its bytes in vain. With |min_tokens| the other may be passed over, however; then it is not in vain. \Cref{ex:stop.live} holds only what is not.

@ That was the difficult part; the functions around it are short. The bytes of a token are appended first, and then gone through where they stand.

@<Take a token@>=
bool text_stream_bytes(struct text_stream *o, const unsigned char *byte, size_t n,
  struct error *why)
{
  size_t from = o->text.n;
  if (o->found != NULL) return true;
  if (!bytes_push(o->m, &o->text, byte, n, why)) return false;
  take_bytes(o, from);
  return true;
}

@ An id becomes bytes by the tokenizer, which may have to know whether anything stands before it: some vocabularies put a blank before every word, and take it away from the first (\cref{sec:decodersteps}). What stands before the first token written is the prompt. Its ids are shown to the tokenizer until one of them has bytes; what comes after that one is no longer the beginning of a text. (A text stream that is kept over a cancelled text may be shown the longer prompt of the next call; what it has of the text stays.)

@<Take a token@>=
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
  if (o->found != NULL) return true;
  if (o->t != NULL && !tokenizer_decode_next(o->t, o->m, id, true,@|
      &o->begun, &o->text, why)) return false;
  take_bytes(o, from);
  return true;
}

@ At the end everything goes, also half a character: the model has written no more of it, and to drop it would be to lose a byte that was written. A terminal or a JSON object may show U+FFFD in its place.

@<Take a token@>=
void text_stream_end(struct text_stream *o)
{
  o->released = o->text.n;
}
void text_stream_close(struct text_stream *o)
{
  bytes_free(o->m, &o->text);
  o->released = 0;
}

@ A program that only guesses what comes next may have to take tokens back. So the state of a text stream can be saved and restored. It is small, because the bytes need not be copied: a text stream only appends, and the cut before a stop string makes the text shorter but changes no byte of it. After a restore the bytes of the tokens that were taken back are still there, beyond the end, and the next token overwrites them.
@^speculative decoding@>

@<Take a token@>=
struct text_stream_state text_stream_save(const struct text_stream *o)
{
  return (struct text_stream_state) @[{ .n = o->text.n, .released = o->released,@|
    .tokens = o->tokens, .state = o->state, .begun = o->begun,@|
    .found = o->found }@];
}
void text_stream_restore(struct text_stream *o,
  const struct text_stream_state *to)
{
  o->text.n = to->n, o->released = to->released;
  o->tokens = to->tokens, o->state = to->state;
  o->begun = to->begun, o->found = to->found;
}

@ The text stream keeps the whole text, where the stream of \cref{tokens} kept three bytes. With long stop strings what is held can be long, too, and moving it forward with every token would cost more than the search; and at the end somebody wants the text anyway.

@* A list of criteria. \label{sec:criteria}
The loop of \cref{loop} knows three ends: a token of the model's that means the end, the length, and the caller's \emph{no}. For any other it asks a function, after each token, whether the text is to end with it. A \emph{criterion} is such a function with a name. Several of them make a list; the list itself is asked like one of them, and says yes when one of its members does.
@^criteria, for stopping@>

It remembers which one it was, because ``the text is over'' tells little to one who waits for the third item of a list. If several say yes on the same token, the first of the list counts. And all of them are asked, about every token, also those after one that has said yes: a criterion may keep a record of the text, as the text stream does, and that record would lack the text's last token if somebody before it in the list had said yes to it. What a criterion knows must not depend on its place.

@<What may end a text@>=
struct criterion { const char *name; step_stop *should_stop; void *ctx; };
  /* |should_stop|, called with |ctx|, says whether a text is to end; borrowed */
struct criteria { const struct criterion *list; size_t n;
  const struct criterion *fired; };
  /* |list[n]|, borrowed; the first that said yes, null at the beginning: the only
     state of the list itself, to be copied by a caller who goes back */
bool criteria_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);
  /* a |step_stop|; |ctx| is a |struct criteria|: yes if one of the list says so; all are asked */
const char *criteria_reason(const struct criteria *c, enum finish_reason ended);
  /* what ended a text that the loop left with |ended|: \.{eos}, the name of a criterion, or null for the length and for
     a cancelled text */

@ Only a member that fails ends the matter at once: there is a sentence, the loop passes it on, and no text is left of which a record could lack something.

@<Ask all of a list@>=
bool criteria_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct criteria *c = ctx;
  for (size_t i = 0; i < c->n; i++) {
    const struct criterion *x = &c->list[i];
    bool yes = false;
    if (!x->should_stop(x->ctx, text, &yes, why)) return false;
    if (yes && c->fired == NULL) c->fired = x;
  }
  *enough = c->fired != NULL;
  return true;
}

@ The loop asks nobody when an end token has come. So a text that was stopped, and by no criterion, was ended by the model itself; and that is how the order of the ends comes about: first the end token, then the list in its order, then the length, and last the watcher, whose \emph{no} counts only if the text has not ended before it.

A whole round, then: the token is chosen, and joins the text; the criteria are asked, and by being asked the text stream takes the token; then the watcher sees the step, and finds in the text stream what has just been released; then the text ends, or the next round begins. So a watcher may show each token with what it has set free.

@<Ask all of a list@>=
const char *criteria_reason(const struct criteria *c, enum finish_reason ended)
{
  if (ended != FINISH_STOP) return NULL;
  return c->fired == NULL ? "eos" : c->fired->name;
}

@ The text stream is a criterion: it takes the newest token, and says yes when a stop string is complete.

@<What may end a text@>=
bool text_stream_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);
  /* a |step_stop|; |ctx| is a |struct text_stream|, which takes the last token */
bool repetition_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);
  /* a |step_stop|; |ctx| points to a |size_t| $N$: are the last $3N$ tokens
     that were written the same $N$ tokens three times? 0: never */

@ An end token that ends the text never gets here, and its bytes are no part of the text, whether it is marked as special or not. One that was chosen when |min_tokens| had not been reached does get here, and is a token like any other.

@<Stop at a stop string@>=
bool text_stream_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct text_stream *o = ctx;
  if (!text_stream_id(o, text->text.id[text->text.n - 1], why)) return false;
  *enough = o->found != NULL;
  return true;
}

@ A text that goes in a circle will not end by itself (\cref{sec:loops}). The penalties of \cref{sec:penalties} try to lead it out; one can also give up. The last $3N$ tokens are the same $N$ three times over if each but the first $N$ of them equals the one that stands $N$ before it: one comparison of memory, which mostly fails at its first token. Why three times, and not twice? People do say a thing twice. Tokens of the prompt do not count: a caller may
give the model a refrain. And which $N$? The criterion sees a circle of $N$ tokens, and one whose length divides $N$, but no other: with 12 it sees circles of 1, 2, 3, 4, 6 and 12, at the price of three rounds of twelve. A caller who knows nothing may put several into the list.
@^repetition@>

@<Stop at a repetition@>=
bool repetition_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  (void) why;
  size_t n = *(const size_t *) ctx;
  size_t written = text->text.n - text->n_prompt;
  if (n == 0 || written / 3 < n) return true;
  const uint32_t *end = text->text.id + text->text.n;
  *enough = memcmp(end - 2 * n, end - 3 * n, 2 * n * sizeof *end) == 0;
  return true;
}

@ That is the module. A user's own criterion is a function with the same four parameters; the program of \cref{sec:ends} has one, which counts sentences.

@(stopping.h@>=
#ifndef INCIPIT_STOPPING_H
#define INCIPIT_STOPPING_H
#include "tokenizer/tokenizer.h"
#include "loop/generate.h"
#include "stopping/stops.h"
@<What stands between the loop and a reader@>@;
@<What may end a text@>@;
#endif

@ In its source the text stream stands before the criteria, one of which it is.

@(stopping.c@>=
#include <string.h>
#include "stopping/stopping.h"
@;@#
@<Take the bytes from |from| on, and release what is certain@>@;
@<Take a token@>@;
@<Ask all of a list@>@;
@<Stop at a stop string@>@;
@<Stop at a repetition@>@;

@* Eleven stopping criteria. \label{sec:ends}
The module is complete. A program puts it to work: the built-in model is asked for eleven texts, each of which ends for another reason, and then one text is shown on its way to a reader, token by token.

The program and the laboratory both need a function that writes one text as its caller asks. A \emph{request} is the caller's side of the module: two stop strings at most, a number of tokens, and so on; a member that is zero asks for nothing. If there is a |script|, the text is not the model's: the script is recited, so that we can show what we like. A \emph{session} has what it takes to write, and what has become of the newest text.

@<One text on request@>=
struct text_request { const char *prompt, *stop[2], *script; size_t max,@|
  min_tokens, repetition, cancel, raise; uint32_t context; bool ignore_eos; };
  /* up to |max| tokens after |prompt|; two stop strings or fewer; the same
     |repetition| tokens three times; an end after token number |cancel|; a signal
     after number |raise|; a context smaller than the model's */
struct text_session { struct generate_context g; struct model *lm;
  struct tokenizer *t; step_recall *recall; step_select *select;
  void *select_ctx; step_watch *see; void *see_ctx; struct criterion own;@|
  const struct text_request *r; struct continuation text; struct ids script;
  struct stop_string list[2]; struct stops until; struct text_stream flow;
  size_t steps; const char *reason; };
  /* set by the caller, and borrowed: all up to |own|, a criterion of the caller's or none; |see| is
     called after each token; the rest is the newest text, which begins as zero */

@ The strings and the script can be prepared without a text being written: the laboratory feeds the text stream with bytes of its own.

@<One text on request@>=
bool text_session_prepare(struct text_session *u,
  const struct text_request *r, struct error *why);
  /* drops the newest text, and builds stop strings, an empty text stream and the script for |*r| */
bool text_session_write(struct text_session *u, const struct text_request *r,
  const uint32_t *prompt, size_t n, struct error *why);
  /* prepares, and writes after |n| ids; |reason| says what ended the text; it is an
     error if a person has cut it short */
bool text_session_answer(struct text_session *u, const struct text_request *r,
  struct error *why);
  /* the same after the text |r->prompt| */
void text_session_clear(struct text_session *u);
  /* returns the newest text */

@ The stop strings become a machine, and the machine a part of the text stream.

@<Prepare a text, and clear it away@>=
void text_session_clear(struct text_session *u)
{
  continuation_free(u->g.m, &u->text);
  text_stream_close(&u->flow);
  stops_close(&u->until);
  ids_free(u->g.m, &u->script);
}
bool text_session_prepare(struct text_session *u,
  const struct text_request *r, struct error *why)
{
  size_t n = 0;
  text_session_clear(u);
  for (; n < 2 && r->stop[n] != NULL; n++)
    u->list[n] = (struct stop_string) @[{@|
      (const unsigned char *) r->stop[n], strlen(r->stop[n]) }@];
  u->r = r;
  u->steps = 0, u->reason = NULL;
  u->flow = (struct text_stream) @[{ .m = u->g.m, .t = u->t,@|
    .until = &u->until, .min_tokens = r->min_tokens }@];
  return stops_open(&u->until, u->g.m, u->list, n, why)@|
    && (r->script == NULL || tokenizer_encode(u->t, u->g.m, r->script,@|
      strlen(r->script), false, false, &u->script, why));
}

@ Cancelling is the watcher's part. \label{sec:cancelled} A watcher's |false| is the request of somebody who does not want any more, whatever the text is like; so it stands in no list, and has a reason of its own, |FINISH_CANCELLED|. Where does it come from? From a program that has seen enough, or from a person who presses Ctrl-C. Then the operating
system interrupts the program wherever it is, in the middle of a product perhaps, and calls a function of ours. That function may do next to nothing: memory may be half taken, a row half written. It notes the number of the signal in a variable of which the language promises that it is written in one piece, and goes back. After the next token, when everything is in order, the watcher looks at the variable, whatever was asked for. Here the program can send the signal to itself.
@^cancelling@>@^signals@>

@<Watch a text, or recite it@>=
static volatile sig_atomic_t interrupted;
static void note_signal(int number)
{
  interrupted = number;
}
static bool watch(void *ctx, const struct step *now)
{
  struct text_session *u = ctx;
  u->steps++;
  if (u->see != NULL && !u->see(u->see_ctx, now)) return false;
  if (u->steps == u->r->raise) raise(SIGINT);
  return u->steps != u->r->cancel && interrupted == 0;
}

@ The function that recites chooses the script's next token, whatever the logits are.

@<Watch a text, or recite it@>=
static bool recite(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  const struct text_session *u = ctx;
  (void) logits, (void) why;
  *chosen = u->script.id[text->text.n - text->n_prompt];
  return true;
}

@ For a text with a shorter context a store is opened with a copy of the settings, in which that one number is smaller.

@<Watch a text, or recite it@>=
static struct store *open_shorter(const struct text_session *u,
  uint32_t context, struct error *why)
{
  struct model_config config = u->lm->config;
  config.n_positions = context;
  return store_open(u->g.m, &config, 1, why);
}

@ To write a text is to put the parts together: the text stream is one of two or three criteria, and the criteria are a part of the options of the loop. One that is not asked for stays in the list and says no: without stop strings, or with a count of 0, there is nothing that it could say yes to. A script ends with its last token.

@<Write a text@>=
bool text_session_write(struct text_session *u, const struct text_request *r,
  const uint32_t *prompt, size_t n, struct error *why)
{
  const struct model_config *config = &u->lm->config;
  size_t repetition = r->repetition;
  struct criterion list[] = @[{@|
    {"string", text_stream_should_stop, &u->flow},@|
    {"repetition", repetition_should_stop, &repetition}, u->own }@];
  struct criteria any = @[{ list, u->own.should_stop == NULL ? 2 : 3, NULL }@];
  if (!text_session_prepare(u, r, why)) return false;
  bool scripted = u->script.n > 0;
  struct generate_options want = @[{ .eos = config->eos,@|
    .n_eos = r->ignore_eos ? 0 : config->n_eos, .min_tokens = r->min_tokens,@|
    .max_new_tokens = scripted ? u->script.n : r->max,@|
    .select = scripted ? recite : u->select,@|
    .select_ctx = scripted ? u : u->select_ctx, .recall = u->recall,@|
    .stop = criteria_should_stop, .stop_ctx = &any,@|
    .on_step = watch, .ctx = u }@];
  @<Generate, and find the reason@>@;
}

@ If a shorter context is asked for, the text gets a store of its own with room for no more than that. The limit belongs to the store and not to the model, which may be shared, and whose settings stay as they are. Of the ends of a text the list knows those that are its own and the model's; the loop tells the others apart. A text that a person has cut short must not pass for a whole one, so it is an error. At any other time Ctrl-C ends the program, as it does everywhere.

@<Generate, and find the reason@>=
struct generate_context g = u->g;
if (r->context > 0 && (g.s = open_shorter(u, r->context, why)) == NULL)
  return false;
void (*usual)(int) = signal(SIGINT, note_signal);
interrupted = 0;
bool ok = text_stream_prompt(&u->flow, prompt, n, why)@|
  && generate(&g, prompt, n, &want, &u->text, why);
signal(SIGINT, usual);
if (g.s != u->g.s) store_close(g.s);
text_stream_end(&u->flow);
u->reason = criteria_reason(&any, u->text.ended);
if (u->reason == NULL) u->reason =@|
  u->text.ended == FINISH_CANCELLED ? "cancelled" : "length";
return ok && (interrupted == 0 || r->raise > 0@|
  || error_say(why, "the text was interrupted"));

@ Mostly a prompt is a text.

@<Write a text@>=
bool text_session_answer(struct text_session *u, const struct text_request *r,
  struct error *why)
{
  struct ids list = @[{ .n = 0 }@];
  bool ok = tokenizer_encode(u->t, u->g.m, r->prompt, strlen(r->prompt),@|
      false, false, &list, why)@|
    && text_session_write(u, r, list.id, list.n, why);
  ids_free(u->g.m, &list);
  return ok;
}

@ The pair of files is linked to the two programs, and is no part of the library.

@(text_session.h@>=
#ifndef INCIPIT_TEXT_SESSION_H
#define INCIPIT_TEXT_SESSION_H
#include "stopping/stopping.h"
@<One text on request@>@;
#endif

@ The parts that work for the others come first.

@(text_session.c@>=
#include <signal.h>
#include <string.h>
#include "stopping/text_session.h"
@;@#
@<Prepare a text, and clear it away@>@;
@<Watch a text, or recite it@>@;
@<Write a text@>@;

@ With this the program of the chapter is not much more than a list of requests.

@c
#include <inttypes.h>
#include <stdio.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "stopping/text_session.h"
@;@#
@<The requests@>@;
@<Count full stops@>@;
@<Say what a token shows@>@;
@<Say how a text ended@>@;
@<Open a session, answer all requests, and close it@>@;

@ The dog's tale ends by itself, or where the caller ends it; the owl is asked a question; a shopping list is recited, to be ended after its third item; and the clock in the sun ticks for ever. The last request is the text that is shown token by token.

@<The requests@>=
#define DOG "The dog", .max = 400
#define OWL "User: Where does the owl live?\nAssistant:", .max = 400
#define SUN "The cat sat in the sun. The clock said", .max = 400
#define LIST "1. apples\n2. pears\n3. plums\n4. nuts\n5. apples\n6. plums"
#define CAFE "A caf\xc3\xa9.\nUseful: 5 " "\xe2\x82\xac.\n\nUser:"
static const struct { const char *name; struct text_request r; }
ends[] = @[{@|
  { "end token", { DOG } },@|
  { "the same, not before 100", { DOG, .min_tokens = 99 } },@|
  { "length 20", { "The dog", .max = 20 } },@|
  { "context 24", { DOG, .context = 24 } },@|
  { "two line ends", { OWL, .stop = { "\n\n" } } },@|
  { "these, or User:", { OWL, .stop = { "\n\n", "User:" } } },@|
  { "4.", { "A list:\n", .stop = { "4." }, .script = LIST } },@|
  { "2 tokens, three times", { SUN, .repetition = 2 } },@|
  { "three sentences", { DOG } },@|
  { "cancelled by a callback", { DOG, .cancel = 7 } },@|
  { "cancelled by a signal", { DOG, .raise = 7 } } }@];
static const struct text_request on_the_way = @[{ "A list:\n",@|
  .stop = { "\n\n", "User:" }, .script = CAFE }@];
enum { ENDS = sizeof ends / sizeof *ends, SENTENCES = 8 }; /* the ninth */

@ A criterion of the caller's own counts full stops. It is in the list for one of the texts, and ends that one with its third sentence.

@<Count full stops@>=
static bool three_sentences(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  const struct text_stream *flow = ctx;
  size_t seen = 0;
  (void) text, (void) why;
  for (size_t i = 0; i < flow->text.n; i++)
    seen += flow->text.byte[i] == '.';
  *enough = seen >= 3;
  return true;
}

@ A line for each text: what was asked for, how many tokens were written, why the text ended, and its last words.

@<Say how a text ended@>=
static void show_end(const struct text_session *u, const char *name)
{
  size_t n = u->flow.text.n;
  printf("%-24s%4zu  %-11s", name, u->steps, u->reason);
  for (size_t i = n < 22 ? 0 : n - 22; i < n; i++)
    putchar(u->flow.text.byte[i] == '\n' ? '/' : u->flow.text.byte[i]);
  printf("\n");
}

@ And a line for each token of a text that is shown on its way: the token, what the reader sees of it, and what is held. Each is put in quotation marks, and what comes after it begins in a column of its own.

@<Say what a token shows@>=
static void print_quoted(const unsigned char *byte, size_t n, int width)
{
  width -= printf("\"");
  for (size_t i = 0; i < n; i++)
    if (byte[i] == '\n') width -= printf("\\n");
    else if (byte[i] < 0x80) width -= printf("%c", byte[i]);
    else width -= printf("\\x%02X", (unsigned) byte[i]);
  printf("\"%*s", width > 1 ? width - 1 : 0, "");
}
struct reader { const struct text_session *u; size_t shown; };
static bool show_token(void *ctx, const struct step *now)
{
  struct reader *x = ctx;
  const struct text_stream *flow = &x->u->flow;
  size_t n, held = flow->text.n - flow->released;
  const unsigned char *byte = tokenizer_text(x->u->t, now->chosen, &n);
  printf("%3zu  ", x->u->steps), print_quoted(byte, n, 9);
  byte = flow->text.byte + x->shown, n = flow->released - x->shown;
  printf("shows "), print_quoted(byte, n, held > 0 ? 19 : 0);
  if (held > 0) printf("holds "), print_quoted(byte + n, held, 0);
  printf("%s\n", flow->found != NULL ? " and ends" : "");
  x->shown = flow->released;
  return true;
}

@ The end token is named first, with the file that names it, since a wrong one is a common illness (\cref{sec:endtoken}).

@<Open a session...@>=
static bool run(struct text_session *u, struct error *why)
{
  const struct model_config *config = &u->lm->config;
  size_t n;
  const unsigned char *byte = tokenizer_text(u->t, config->eos[0], &n);
  printf("end token %" PRIu32 ", %.*s, says %s\n", config->eos[0], (int) n,@|
    (const char *) byte, config->eos_from);
  for (size_t i = 0; i < ENDS; i++) {
    u->own = (struct criterion) @[{ "callback",@|
      i == SENTENCES ? three_sentences : NULL, &u->flow }@];
    if (!text_session_answer(u, &ends[i].r, why)) return false;
    show_end(u, ends[i].name);
  }
  struct reader x = @[{ u, 0 }@];
  u->see = show_token, u->see_ctx = &x;
  return text_session_answer(u, &on_the_way, why);
}

@ Model, tokenizer and store are opened as in the chapters before, and closed in the reverse order, even if one of them could not be opened.

@<Open a session...@>=
int main(void)
{
  static const char *const pocket = "models/pocket";
  static struct memory m;
  struct counters c = @[{ .passes = 0 }@];
  struct error why;
  struct engine e = @[{ .k = kernels_find(NULL, &why), .c = &c }@];
  struct text_session u = @[{ .recall = store_match_prefix }@];
  bool ok = e.k != NULL@|
    && (u.lm = model_open(&m, pocket, &why)) != NULL@|
    && (u.t = tokenizer_open(&m, pocket, &why)) != NULL;
  struct store *s = ok ? store_open(&m, &u.lm->config, 1, &why) : NULL;
  u.g = (struct generate_context) @[{ &e, u.lm, s, &m }@];
  ok = s != NULL && run(&u, &why);
  text_session_clear(&u);
  store_close(s);
  tokenizer_close(&m, u.t);
  model_close(&m, u.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ This is what became of them. The number counts all tokens that were written, the end token and those of a stop string among them; the words shown end before these. The first line says which of the model's files names the end token, since a wrong one is a common illness (\cref{sec:endtoken}).

\checkpoint[1,13]{build/out/stopping.txt}{eleven texts: after how many tokens each ended, why, and with what words; a stroke is the end of a line}

In the second text the model ended its tale at the same place as before, was not heard, and began another one. The length of the third ends it in the middle of a sentence, with a comma after somebody's words; and so a length mostly does: of \val{stop.talks} talks\lab{lab:endtoken} that the model was let
write by chance, the length \val{stop.cap} would have cut \val{stop.cut} short, and \val{stop.cut.inside} of these within a sentence. A larger length cuts fewer texts, but no more gently. The context of 24 positions is full one token later than one might think, because the last token is not read (\cref{sec:sixsteps}): \val{stop.context.written} tokens after a prompt of \val{stop.context.prompt}.

The two line ends stand between the exchanges of a talk, and two tokens make them. The name of the user comes in two tokens as well, and before the line ends; so with both strings it is the name that ends the text. The list ends after its third item, as a tutorial promises. Note what it was that ended it: two characters, and not a list. An item of 14.50 would have ended it too, in any place. The clock's two tokens are a tick and a comma.

In the last two nothing is wrong with the text. It has seven tokens and their bytes, it can be shown, and it can be continued: the model, given the prompt and these, wrote \val{stop.resumed} tokens more,\lab{lab:ends} the same as without the interruption; greedily, and with sampling as well, since chapter 7's draws depend on the position and not on a history. A cancelled text is a text.

The tokens are the same, but the criteria begin anew. A \emph{Us} that was held was released with the end of the text, and an \emph{er:} that follows completes nothing, as its beginning stands in the prompt; protected tokens, sentences and repetitions are counted from 0. Who wants the stop strings to go on as well keeps the text stream, does not end it, and gives it to the next call: it does not notice that there were two.

@* Sampling the end token. \label{sec:endtoken}
Among the tokens of a vocabulary is one, or a few, that stand for no text: in training they stood after each text, and a model that has learnt well finds them likely where a text is over. Which ids these are is written in the model's files, and in more than one of them. The loop takes them from \.{generation\_config.json} where that file lists any, from \.{config.json} otherwise. Models have been published in
which the two disagree, because the one was made for texts and the other for conversations, where each turn has an end of its own; whoever listens for the wrong one gets an answer, then an answer of the model to itself, and so on.
@^end token@>@^eos@>

The end token is chosen like any token. It is not enough that it is likely. Let a model give it $\frac9{10}$ and everything else the rest, and draw: of \val{stop.coin.trials} draws a share of \val[3]{claim.S3-39} went on. And if it is unlikely? With the same probability $e$ at each step the text has not ended after $n$ tokens with
\begin{equation}\label{eq:running}
  (1-e)^n,
\end{equation}
for it must have gone on $n$ times. That gets small, but it never is 0. For $e=0.01$ and $n=500$ it is \val[4]{claim.S2-68}, and of \val{stop.coin.texts} tossed texts \val{stop.coin.left} were still running, where \val[0]{stop.coin.left.expected} were to be expected. Each ends some time; but whoever serves a million texts with no other end will have some that come back very late, and later still if not every prompt has the same~$e$. A length is not a matter of taste.

\fig{running}{fig:running}{How many texts are still running after $n$ tokens: tossed with four constant probabilities of the end (points), by \eqref{eq:running} (lines), and written by the built-in model (steps). On this paper a constant chance is a straight line; the model's is none. Its steps break off where the last talk ends, since this paper has no zero.}{A plot with a logarithmic vertical axis from one hundredth to 1. Four straight lines fall from the upper left corner, the steepest for a tenth; points lie on them. A thick stepped line stays at the top for a while and then falls off like a cliff, to nothing before the flattest line has lost half.}

Is a model like a coin? \Cref{fig:running}\lab{lab:endtoken} has \val{stop.talks} talks of the built-in one, drawn at temperature 1. None has ended before \val{stop.talks.shortest} tokens, none went on for more than \val{stop.talks.longest}. Within a text the end has next to no probability: \val[3]{stop.eos.most} at the most, in \val{stop.eos.places} places where it was not chosen, and \val[1]{stop.eos.mean} millionths on the average; in the places where it was chosen, \val[2]{stop.eos.chosen}. A model that knows its texts sees the
end coming. One that does not, since the prompt is like nothing that it has read, may well behave like the coin with the smallest $e$.

@* What the reader sees. \label{sec:shown}
\Cref{fig:hold}\lab{lab:shown} is a text on its way to a reader, recited so that everything happens in it: two characters that come in pieces; a line end that is not followed by another; a word that begins like the stop string \emph{User:} and is another word; and at last two line ends.

\widefig{hold}{fig:hold}{A line is a token, a column a byte of the text. Red cells are released with the token, grey ones were released before. Hatched cells wait because a stop string may have begun, and dotted ones because half a character has come. The pale ones of the last line are the two line ends before which the text is cut; of them nothing was ever shown.}{Nineteen lines in steps, a token each, over twenty-five columns, the bytes. Each line has grey cells at the left and mostly one to three red ones at its end. Four lines end with hatched cells, one to three of them, and three with one or two dotted ones. In the last line the two cells of the stop string are empty.}

Nothing waits longer than it has to. The \emph{U} waits when it comes; so does \emph{Use}; with \emph{ful} all six are released, since now it is a useful thing and not a user. The line end before it could go already with the \emph{U}. Of \val{stop.shown.tokens} tokens of the owl's talk, \val{stop.shown.at.once} were shown whole and at once, \val[word]{stop.shown.waited} waited, and \val[word]{stop.shown.string} were the stop string and never shown. With the stop strings \emph{User:} and two line ends this is what streaming costs: nothing, nearly always; and then a word, for the time of a token or two.

\checkpoint[14,33]{build/out/stopping.txt}{the same, token by token: what each releases, and what is held after it}

@ That it does not matter how a text is cut into tokens has been proved; for the two strings that tutorials name it has been counted, too. A text of $n$ bytes can be cut in $2^{n-1}$ ways. Two short ones, the first with both strings in it and the second with one, were cut in all \val{claim.S3-42} ways: every cut ended at the same string and left the same text, and what was released on the way was always a beginning of it.

@ What do others hold? vLLM holds the length of the longest stop string less 1, always, in characters; llama.cpp holds what it has not sent yet, all of it, while the text ends with a beginning of one.\side{As of August 2026, read in their sources: \.{detokenizer.py} and \.{server-context.cpp}.} Neither shows a byte that it would have to take back. \Cref{tab:held} has what a reader waits for; the fixed number is counted in bytes there.

\begin{table}[bp]
\tabcaption{tab:held}{How many bytes wait after a token, on the average, and the share of tokens with which nothing is shown. The short strings are two line ends and \emph{User:}; in the long list the second is a whole line, \emph{Assistant: Goodbye!} with the line end before it. \val{stop.rule.tokens} tokens of talks.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrrrr@@{}}
\toprule
& \multicolumn{2}{c}{\tabhead{short strings}} & \multicolumn{2}{c}{\tabhead{a long one}}\\
& \tabhead{bytes} & \tabhead{silent} & \tabhead{bytes} & \tabhead{silent}\\
\midrule
what may be claimed & \val[2]{stop.rule.short.ours} & \val[2]{stop.rule.short.ours.silent} & \val[2]{stop.rule.long.ours} & \val[2]{stop.rule.long.ours.silent}\\
all that is unsent & \val[2]{stop.rule.short.unsent} & \val[2]{stop.rule.short.unsent.silent} & \val[2]{stop.rule.long.unsent} & \val[2]{stop.rule.long.unsent.silent}\\
the longest, less 1 & \val[2]{stop.rule.short.fixed} & \val[2]{stop.rule.short.fixed.silent} & \val[2]{stop.rule.long.fixed} & \val[2]{stop.rule.long.fixed.silent}\\
\bottomrule
\end{tabular*}
\end{table}

The two columns of a list say different things, and they do not agree. With the fixed number fewest tokens are silent: once a text is longer than that number, whatever comes in at the end pushes as many bytes out in front. Something is shown with nearly every token, but it is always old. The reader is \val[1]{stop.rule.short.fixed} bytes behind with the short strings, which is about a token, and \val[1]{stop.rule.long.fixed} with the long one, which is a few words; and that in every
place of every text, for the sake of a phrase that hardly ever comes. By what may be claimed the reader has everything, nearly always, and stops for a moment where something has begun. The rule in the middle lets nothing go while something has begun: neither what stands before it in the same token, nor what one beginning leaves to the reader when another takes its place, like the \emph{an} of our calculation. With the long string all of them wait longer, ours because every answer of a talk begins like it; but ours only there. So what speaks for the fixed number is an even flow, and what speaks against it is the time.

@* What it costs. \label{sec:stopcost}
Somebody looks at every byte of every text; is that slow?\lab{lab:stopcost} A byte takes a step of the machine, and the step may take a walk. In the tales that lie beside the model, \val{stop.walk.bytes} bytes of them, the two short strings take \val{stop.walk.two} steps of walking, \val[4]{claim.S2-101} for a byte. A list that was made to be hard, the first few letters of \val{stop.walk.strings} places of the tales themselves, takes \val[2]{stop.walk.hard}. The bound is 1, whatever the strings are.

\fig{search}{fig:search}{Time that looking for two stop strings takes with a token, over the length of the text: stepping on, and searching the whole text again each time, from the same length on. Medians, measured once, on the machine that the file of the numbers names.}{Logarithmic paper. The line of the machine is level, at some tens of nanoseconds. The line of the search begins near it and rises in proportion to the length, to some microseconds for the longest text.}

The clock says the same. With the machine a token of four bytes takes \val[0]{stop.clock.first} nanoseconds when the text has \val{stop.clock.first.tokens} tokens, and \val[0]{stop.clock.last} when it has \val{stop.clock.tokens}. Who calls the C library's |strstr| for each string on the whole text, each time, pays \val[0]{stop.clock.scan.first} nanoseconds for the shorter text and \val[1]{stop.clock.scan.last} microseconds for the longer: the function is fast, but the text grows. (To search only the end of the text, as long as the longest string and the newest token, would not grow either.) And see what the
comparison is about. A pass of the built-in model, a very small one, takes \val[0]{stop.clock.pass} microseconds when the text has \val{stop.clock.pass.tokens} tokens. The machine adds \val[2]{stop.clock.percent} percent to that, and the search \val[1]{stop.clock.scan.percent} percent at the longer text, more for a still longer one, and less for a larger model. Neither decides anything. What speaks for the machine is the hold-back, which it knows without asking.

@* What no criterion can fix. \label{sec:limits}
Choosers, masks and penalties have a hand in every token before it is written. To a text already written, nothing can be done from outside but to end it: what stands there stays, and that it was written from left to right shows. Five things are said about this way of writing; four can be given a number,\lab{lab:limits} with the model that we have, and one is our opinion.

\emph{Nothing is taken back.} Of the \val{stop.written} tokens of the talks, \val{stop.rare} had a probability of less than one percent when they were drawn. All of them stand in the talks, and the model has read every one and gone on from it. It has no way of saying that it did not mean that. (A rare token is not a fault as such: at temperature 1 such tokens are drawn as often as their probabilities say, and some of them are the best of a tale. They stand for faults here because they can be counted.)

\emph{Left to right.} A word is chosen by what stands before it, and often what stands after it would settle the matter. In a tale that the model has not been trained on, take a token away and let the model say what stood there: it is right in \val{stop.gap.left} of \val{stop.gap.places} places. Now let it consider the \val[word]{stop.gap.after} tokens after the gap, too: of its \val[word]{stop.gap.choices} likeliest tokens it is to take the one with which the gap \emph{and} what follows are likeliest together. It is right in \val{stop.gap.both}. This
is one tale, and what stands after one place stands before others, so the difference is a hint and no measurement; but it points where one would think. Where the model could have told better, the loop has asked it too early.
@^left-to-right bias@>@^revision@>

\emph{Length.} If one token in so many goes wrong, of whatever kind the fault is, and independently, then the share of texts in which none does is \eqref{eq:running}, with another $e$. The rare tokens of the talks come at a rate of \val[4]{stop.rare.rate}; of the \val{stop.cut} talks that have \val{stop.cap} tokens, \val[0]{stop.clean.expected} should have none of them up to there, and \val{stop.clean} have. Long texts have more of everything, faults included.

\emph{No plan.} The likeliest token need not begin the likeliest pair. At the same places the likeliest pair of tokens, among those that begin with one of the \val[word]{stop.gap.choices} likeliest, begins with another token than the likeliest in \val[word]{stop.pair.other} of \val{stop.gap.places}: it happens, and in two tokens of an easy tale hardly ever. Chapter 9 looks further ahead, and finds what that is worth.
@^planning@>

\emph{And streaming} makes it visible: what has been shown cannot be changed, so a program that would like to change it must not show it yet. Whether people are better served by an answer that comes at once or by one that has been read over before it was sent is a matter of opinion. Ours is that nobody can have both, and that the choice is the caller's and not the loop's.

\begin{aside}{Thinking first}
Two remedies are in use, and neither changes the loop. A model may be led to write down its steps before the answer, a \emph{chain of thought};\side{Wei and others 2022.} what should have been planned then stands in the text, where the following tokens can look at it, and the part that nobody needs to see is cut off by a stop string. Or several continuations are written and weighed, some given up and some carried on, a \emph{tree} of texts:\side{Yao and others 2023.} so something is taken back, at the
price of having written it. Both buy better tokens with more of them. How much better, others have measured, and we have not.
\end{aside}

@* Sequences without padding. \label{sec:padding}
Texts that are written together end at different times, and begin with prompts of different lengths. Programs that keep them in a table of equal rows fill the short ones up with a \emph{pad} token, mostly the end token for want of a better one, and then have to see to it that nobody looks at it: the pads must be masked, and the positions counted without them. Ours has no table. A pass is a list of rows, each with its sequence and its position (\cref{sec:causal}); a text that has ended has no row in the next pass; and no token of
the vocabulary has to stand for nothing.
@^padding@>

What happens if that is forgotten?\lab{lab:padding} Put four end tokens before a prompt, and the logits after it differ, by \val[2]{stop.pad.end.left} at the most. Two things are mixed in this number: the pads are looked at, and the prompt stands four positions further on. The model writes the same greedy text, as far as we compared, \val{stop.pad.end.same} tokens: ours has been trained on rows of texts, one after the other with an end token between them, and so end tokens before a text are nothing new to it. That is our explanation, and no reason to rely on it with another model. With full stops for pads the logits differ by \val[2]{stop.pad.other.left}, and the text is
another from token \val{stop.pad.parts} on. And with pads \emph{after} the prompt, if the last row is asked what comes next, the logits differ by \val[2]{stop.pad.end.right}: that row predicts what follows an end. In no case is there an error message.

@* A mask ends nothing. \label{sec:maskends}
One more thing is said about forms: that a mask on the tokens \emph{forces} a text into a grammar. It does, step by step: what is struck out cannot be drawn. After the owl's question all tokens but those made of digits were struck out,\lab{lab:maskends} and of \val{stop.mask.draws} tokens drawn at temperature 1 all were made of digits, though the model gave these \val[1]{stop.mask.digits} millionths of the probability. How the mask is computed from a grammar is the business of \cref{constraints}. But a mask cannot force a text to be finished: the length may come
first, and then what is left is the valid beginning of a form.

@* What others do. \label{sec:stopothers}
Stop strings are an option of nearly every program that lets a model write, and the three that we have read do not agree about them.\side{Read in August 2026: \.{stopping\_criteria.py} of Hugging Face's library, and the files named in \cref{sec:shown}.} Hugging Face's library compares with the text of \emph{all} tokens, the prompt included: a prompt that ends in \emph{Us} and a model that goes on with \emph{er:} have said it, and the text ends. It never cuts; whoever wanted the string gone cuts for himself. vLLM looks at what was written only, and ends the text where an occurrence ends first, as we do; of two that end there it takes the one that stands first in the list, where we take the longest, so that the order of a list
means nothing. Its hold-back is a number of characters. llama.cpp takes, among the occurrences that are complete after a token, the one that \emph{begins} first. That depends on the tokens: of \emph{abcd} and \emph{bc}, with \emph{abcd} in one token, it shows nothing; with a token for each letter it shows the \emph{a}, because \emph{bc} was complete a token earlier. Ours shows the \emph{a} in both cases.

They differ in |min_tokens| as well. In vLLM the end tokens are struck out before the choice until so many tokens have been written, which changes the text; here they may be chosen, and are not obeyed. A stop string that begins in a protected token and ends after it is obeyed, in vLLM and here: it is there to be read.

The search itself is Aho's and Corasick's of 1975, who looked for many keywords in a library's catalogue; for a single string it becomes that of Morris and Pratt, of 1970. What is ours is the number |hold| in the node, and that is two lines.

@* What the tutorials say. \label{sec:stoptutorials}
On this subject the tutorials are brief and mostly right. Three sentences need another beside them.

\begin{tutorial}{wrong}{S3-39}
\quoted{When the model assigns high probability to the EOS token, generation stops.}
\ourrun it stops when that token is \emph{chosen}. With a probability of $\frac9{10}$ it was not chosen in a share of \val[3]{claim.S3-39} of \val{stop.coin.trials} draws. Greedily it stops when nothing is likelier, however small the probability is that suffices for that.
\end{tutorial}

\begin{tutorial}{misleading}{S3-43}
\quoted{a penalty on recently generated tokens can break the loop — or generation can be stopped entirely}
\ourrun these are two things. A penalty changes the scores and ends nothing: with each of the penalties of \cref{sec:loops} the text had all its \val{sampling.loop.long} tokens. Counting repetitions ended the ticking of the clock after \val{claim.S3-43}, and changed no score.
\end{tutorial}

\begin{tutorial}{misleading}{S2-99}
\quoted{Must be set to a valid token ID (often the EOS token ID) to avoid errors with variable-length sequences.}
\ourrun an id alone avoids the message and not the error: without a mask four pads make another prompt, and with full stops for pads another text from token \val{claim.S2-99} on. Where the end token is the pad, nobody can tell afterwards which ends were meant. Where each text has as many rows as tokens (\cref{sec:padding}) there is nothing to set.
\end{tutorial}

@ The others, in a few sentences. A text ends by an end token, by its length, or by the caller's strings (S1-50): these are \val[word]{claim.S1-50} reasons, each was seen and reported, and there are more. An end token need not have come after any number of tokens (S2-68); how likely that is, \cref{sec:endtoken} says. A text stopped as soon as the string was complete (S2-70): the owl's, after token \val{claim.S2-70}. A list can be stopped after its third item (S2-71), if \emph{4.} stands nowhere else in it. Several criteria are combined (S2-72): the first that says yes ends the text, with both strings at token
\val{claim.S2-72}. The strings \emph{User:} and two line ends work, also when they come in pieces (S3-42), in \val{claim.S3-42} ways to cut them. Each token arrives as it is computed (S3-18): \val{claim.S3-18} of \val{stop.shown.tokens} did, \val[word]{stop.shown.waited} had to wait for the next, and \val[word]{stop.shown.string} were the stop string. Texts end in the middle of a sentence (S3-41), \val{claim.S3-41} of the talks at a length of \val{stop.cap}. Looking for strings costs something (S2-101), \val[2]{stop.clock.percent} percent of a pass. And masking guarantees the form (S2-104), as far as the text goes (\cref{sec:maskends}).

@* Exercises. \label{sec:stopexercises}
Each names the command that checks an answer; most of these try it against the machine of this chapter.

\begin{exercises}
\exercise{check}{ex:stop.onion}{The stop strings are \emph{onion} and \emph{nine}. How many bytes are held after each byte of \emph{ononine}, up to the last but one?}{\texttt{make exercise-08-1}}{1, 2, 1, 2, 3, 3. The third byte is no \emph{i}, and so the \emph{o} of another \emph{onion}; after the fifth \emph{oni} may go on; the sixth leaves \emph{nin} of it, the beginning of \emph{nine}.}
\exercise{check}{ex:stop.cap}{A model ends its text with the same probability of two percent at each token. For which smallest length do at least 999 in 1,000 texts end by themselves?}{\texttt{make exercise-08-2}}{$0.98^n\le0.001$ gives $n\ge\ln0.001/\ln0.98=341.9$, so 342.}
\exercise{think}{ex:stop.mean}{How many tokens does such a text have on the average, its end token included, if the end has the probability $e$ and there is a length $n$? Give it for $e=0.01$ and $n=100$, with one decimal.}{\texttt{make exercise-08-3}}{Token $i$ is written if none before it was the end: $\sum_{i=1}^n(1-e)^{i-1}=\bigl(1-(1-e)^n\bigr)/e$, here $63.4$, where without a length it would be 100.}
\exercise{think}{ex:stop.walk}{Find a list of stop strings, of 20 bytes together at most, and a text in which one byte takes a walk of eight failures.}{\texttt{make exercise-08-4}}{\emph{aaaaaaaab}, eight times the same letter and another, and the text \emph{aaaaaaaac}: from the state of eight letters the \emph{c} tries each shorter one. Before that eight bytes went by without a walk.}
\exercise{think}{ex:stop.never}{Of the stop strings \emph{abcd}, \emph{bc}, \emph{xbc}, \emph{bcx}, \emph{cde}, \emph{e} and \emph{xe}, which can never be the one that ends a text?}{\texttt{make exercise-08-5}}{Those that contain another one that ends before they do: \emph{abcd} and \emph{bcx}. In \emph{xbc}, \emph{cde} and \emph{xe} the other one ends with them, and they are longer.}
\exercise{think}{ex:stop.cuts}{Another rule says: after each token, if stop strings are complete, end the text where the first of them \emph{begins}. Find three stop strings and a text for which this gives three different texts, by three ways to cut the text into tokens.}{\texttt{make exercise-08-6}}{\emph{abcdef}, \emph{bcde} and \emph{cd}, each inside the one before, and the text \emph{abcdef}. Byte by byte \emph{cd} is complete first, and \emph{ab} is left; if \emph{de} is one token, \emph{bcde} is complete with it and begins earlier, which leaves \emph{a}; with all in one token nothing is left. By our rule it is \emph{ab}, always.}
\exercise{build}{ex:stop.live}{Let |hold| count only what can still come true: a beginning of a stop string that must pass through another one is not held. The texts must not change when no token is protected, and nothing may be released later than now.}{\texttt{make exercise-08-7}}{A node is alive if it is a whole string, or if no string ends at it and one of its children is alive: so go through the queue backwards. Then go forwards again: |hold| is the depth of a node that is alive and at which no string ends, and that of the failure elsewhere.}
\exercise{build}{ex:stop.whole}{A stop string in bytes may begin in the middle of a character, and then the hold cuts that character in two: its first half is shown. Let the text stream release no half characters, whatever the strings are.}{\texttt{make exercise-08-8}}{One line: what is to be released may end with an unfinished character itself, so take |utf8_held| of it once more and hold that, too.}
\end{exercises}
