@i types.w
@s size_t int
@s step_stop int
@s step_watch int
@s sig_atomic_t int

\chapterquestion{Nothing tells the model how long an answer should be. When is it over, and how much of it may be shown before it is?}
@** Stopping and streaming.
\incipit{A}{sk the built-in model} where the owl lives. It answers in two sentences, begins a new line, writes \emph{User:}, asks itself the next question, and answers that as well. Nothing is wrong with the model: you have shown it the beginning of a conversation, and it continues the conversation. But you wanted the answer only. So you tell the program to stop at \emph{User:}.

That is the hardest of three ways to end a text. The model may select a token that means the end. The text may reach a length, yours or the context's. Or a phrase appears, like our \emph{User:}. For the first two we compare numbers. A phrase is made of characters, though, and the model writes tokens: the phrase may begin in the middle of one token and end in the middle of another. And meanwhile you are reading along, because the program shows you each token as soon as it is written, which is called \emph{streaming}.
@^stopping@>@^streaming@>

@ Let us write the obvious program first. After each token it searches the whole text for the phrase, with the C library's |strstr|. If the phrase is not there, it shows the token. If it is, the program stops, and the part of the phrase that is on the screen already must be wiped off again; we print how many bytes that is. (The text is |c|, which begins with the prompt; the session |u| knows the tokenizer and the phrase; |show| prints bytes. To save room we print the last tokens only.)

@<The obvious way@>=
static void show_obvious(const struct session *u, struct ids c)
{
  char text[400] = "", *found = NULL;
  size_t shown = 0, n;
  for (size_t i = u->prompt.n; found == NULL && i < c.n; i++) {
    const unsigned char *byte = tokenizer_text(u->p.t, c.id[i], &n);
    if (shown + n >= sizeof text)@+ break;
    memcpy(text + shown, byte, n);
    found = strstr(text, u->r->stop[1]);
    if (found == NULL)@+ shown += n;
    if (found == NULL && i + 11 >= c.n)@+ show(byte, n), putchar('|');
  }
  if (found != NULL)@+ printf(" %zu to be wiped off\n", shown - (size_t) (found - text));
}

@ We try it on what the built-in model wrote about the owl. A bar follows each token, and a stroke is the end of a line.

\widecheckpoint[9,9]{build/out/stopping.txt}{the obvious program on the model's own text, with \emph{User:} as the phrase}

The search is right, and it is too late. When it finds the phrase, its beginning has been on your screen for the time of a pass. A terminal might wipe it off. A program that has sent the bytes over a network cannot.

So we have to hold some bytes back. Which? You could always hold as many as the phrase has, less one. Then you are always a word behind, for the sake of a phrase that hardly ever comes. Or you could send nothing as long as a phrase may have begun. That is better, and still more than is needed; \cref{tab:held} compares them. The exact answer comes from an algorithm of \given{1975} for searching library catalogues: the automaton of Aho and Corasick \cited{Aho 1975} knows after every byte how much of the text you may still have to take back. We need two words for it. A \emph{prefix} of a string is any part at its beginning, a \emph{suffix} any part at its end.
@^prefix@>@^suffix@>

@ The chapter makes two pairs of files. |stops| is the automaton: we feed it a few phrases, then the text byte by byte, and after each byte it says which phrase ends there and how much of one may have begun. |stopping| sits between the loop and you. It turns ids into bytes, releases the bytes that are certain, and asks a list of \emph{stopping criteria} whether the text is to end. The chapter's program makes the built-in model run into each of its ends (\cref{sec:ends}).

\begin{byhand}{a text byte by byte}
A text is to end at \emph{anno} or at \emph{nah}, whichever is complete first. After each byte we ask: what is the longest suffix of the text that is a prefix of one of the two? We hold that much, and release what comes before it.

\medskip
\begin{tabular}{@@{}lllrl@@{}}
\tabhead{byte} & \tabhead{text} & \tabhead{suffix} & \tabhead{held} & \tabhead{released}\\
H & H & & 0 & H\\
a & Ha & a & 1 &\\
n & Han & an & 2 &\\
n & Hann & ann & 3 &\\
a & Hanna & na & 2 & an\\
h & Hannah & nah & &
\end{tabular}
\medskip

The fifth byte is an \emph{a}, and rules out this \emph{anno}. But the text may still contain \emph{nah}. So we look for a shorter suffix of \emph{ann} that is a prefix of one of the two: \emph{nn} is not, \emph{n} is, and with the new byte it becomes \emph{na}. Two bytes still wait, and two can go. With the sixth byte \emph{nah} is complete, and the text is what comes before it: $6-3=3$ bytes, \emph{Han}. You have seen all three already, and nothing of \emph{nah}. Had we always held the last three
bytes, you would have seen the same text later; had everything waited from the first \emph{a} on, you would have seen it at the end.
\end{byhand}

@* Stop strings: the automaton of Aho and Corasick. \label{sec:automaton}
A phrase at which a text ends is called a \emph{stop string} or \emph{stop sequence}. Ours are strings of bytes. Why not of tokens? The two line ends \tok{\char92n\char92n} are one token in some vocabularies, two in ours, and part of a longer token in others; which tokens spell a phrase depends on what comes before it. Why not of characters? A token may end in the middle of a character, and half a character cannot be compared with anything. Bytes have neither problem, and you may even stop at bytes that are not valid text.
@^stop string@>

We keep all stop strings together in a tree, a \emph{trie}, in which strings with a common prefix share it. A \emph{state} is a node of the tree: a prefix of one or more of the strings. The root is the empty prefix (\cref{fig:links}).\lab{lab:stoptree} While we read a text we are always in one state, the longest suffix of the text that is a node: in the calculation above, the third column. We may forget everything else about the text, because nothing that began further back can still become a stop string.
@^Aho--Corasick automaton@>@^trie@>

\fig{links}{fig:links}{The tree of \emph{anno} and \emph{nah}. A double frame marks a whole stop string; the number below a node is how many bytes wait in that state. A dashed arrow is the \emph{failure link}: it leads to the node's longest proper suffix that is a node. Where none is drawn it leads to the root.}{A root at the left and two branches from it: a, an, ann, anno above and n, na, nah below; the last of each has a double frame. The numbers 1, 2, 3, 0 stand under the upper nodes, 1, 2, 0 under the lower ones. Dashed arrows lead from an and from ann down to n, and from na up to a.}

@ In C a state is the number of its node.

@<Stop strings, and the machine that looks for them@>=
struct stop_string { const unsigned char *byte;@+ size_t n; };
  /* |n| bytes at which a text is to end; borrowed */
struct stops_node { uint32_t child, sibling, failure, depth, hold, ending;
  unsigned char byte; };
  /* a prefix of a stop string, |depth| bytes long, the last of them |byte|; its first
     |child| and its next |sibling|; |failure|: its longest proper suffix that is a node;
     |ending|: the number of the longest string that ends here, counted from 1, or 0; |hold|: how
     many bytes at the end may still become a part of one */
struct stops { struct memory *m;@+ const struct stop_string *list;@+ size_t n;
  struct stops_node *node;@+ size_t cap, n_nodes;@+ uint32_t first[256]; };
  /* |node[0]| is the root, and so 0 stands for no node; |first[b]| is the root's child for byte |b| */

@ You open the automaton, step through the bytes of a text, and look at the state. Stepping does not change the automaton, so one of them serves many texts at once, each with a state of its own. (On a command line not every byte has a key; |stops_unescape|, plain C in \.{unwoven/stopping/escapes.c}, replaces escapes such as \.{\char92 n}.)
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
  /* the length of the longest suffix of the text that is a prefix of a longer stop
     string */
const struct stop_string *stops_ending(const struct stops *s, uint32_t state);
  /* the longest stop string that ends with the text, or null */
bool stops_unescape(struct memory *m, const char *text, struct bytes *out,
  struct error *why);
  /* appends |text| to |out|, with each escape replaced by its byte; errors: a backslash before
     anything else, memory; on failure |out| is as it was */

@ The children of a node form a list, mostly of one or two. Only the root has a table of all bytes: most bytes begin no stop string, so a text spends most of its time there, and without the table each of those bytes would be compared with all children of the root. Could we give every node such a table? Then we would search nothing; but a table takes \given{1024} bytes, and each byte of a stop string would need one: a fair price for four short phrases, a high one for thousands that are read from a file.

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

@ Now the step. If the state has a child for the byte, that child is the new state. If not, this suffix of the text cannot be continued, and we try the next longest suffix that is also a node. The dashed arrow, |failure|, leads there. If that node has no child for the byte either, we follow its failure in turn, and so on down to the root, the empty suffix, which every text has. The first node with a child for the byte wins, because it is the longest.

How long can this walk take? Each of its steps makes the state shorter by at least one byte, and each byte of the text makes it longer by at most one. So over a whole text the walks take no more steps than there are bytes, whatever the strings are. You can make a single byte walk as far as a stop string is long, but only after as many bytes that caused no walk: the cost is \emph{amortized}. (Each step of a walk searches one list of children, which is long only if strings continue in many ways from the same prefix.)
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

@ To add a string we walk down the tree as far as it goes, and make nodes for the rest. If a string is given twice, the first keeps its number.

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

@ How do we find the failure links? With the step itself. Suppose that a node $x$ is its parent followed by the byte $b$, as \emph{ann} is \emph{an} followed by \emph{n}. Then every proper suffix of $x$, unless it is empty, is a proper suffix of the parent followed by $b$. We want the longest that is a node; so we start from the longest suffix of the parent that is a node, its failure, and step by $b$. For \emph{ann} we start from \emph{n}, the failure of \emph{an}; it has no child \emph{n}, so the step falls back to the root and takes the root's child \emph{n}.

This step visits only nodes shorter than $x$. If we go through the tree level by level, their failures are known already; and the levels come in order
if each node that we visit puts its children at the end of a queue. These walks are short as well: along one string the failures get longer by at most one byte a node, and each step of a walk makes one shorter.
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

@ While a text runs we ask a state two questions, and neither answer may cost a walk. Which string ends here? If one ends at the node itself, that is the one, since all that end at the node's failure are shorter; otherwise the failure's answer is ours. And how much do we have to hold? A node with children is a prefix of something longer, so all its bytes wait. A leaf is a whole string and begins
nothing else, so we hold what its failure holds. (You might object that a whole string ends the text, so nothing can wait there. \Cref{sec:outflow} shows a case in which it is passed over.)

@<See what ends at |x|, and what it may become@>=
const struct stops_node *shorter = &s->node[x->failure];
if (x->ending == 0)@+ x->ending = shorter->ending;
x->hold = x->child != 0 ? x->depth : shorter->hold;

@ Each question now costs a look at the node.

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

@ To open the automaton we count the bytes, allocate that many nodes and a root, add all strings, and link. An empty string would end every text before it begins. You can hardly mean that, so it is an error.

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

@ A node takes 28 bytes. We allocate one for each byte of the strings, even where prefixes are shared; stop strings rarely share long ones. The queue serves the linking only.

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

@ The automaton's header needs only memory and bytes.

@(stops.h@>=
#ifndef INCIPIT_STOPS_H
#define INCIPIT_STOPS_H
#include "tokens/utf8.h"
@<Stop strings, and the machine that looks for them@>@;
#endif

@ The machine is built once and then only read.

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
You know now how much of the text to hold. What holds it is a \emph{text stream}: it takes the tokens one by one, as a \emph{streaming detokenizer} does, and keeps all bytes of the text so far. The first |released| of them are certain. You may see these, and none of them will be taken back. When a stop string is complete, the text is cut before it, and what is left is
released.
@^text stream@>@^hold-back@>@^detokenizer@>

The rule in one sentence: \emph{the text ends immediately before that occurrence of a stop string whose end comes first; if several end there, before the longest.} An occurrence lies within what the model wrote, and never in the prompt; it may begin in one token and end in another. Nothing in this sentence mentions tokens, so the text does not depend on how the model happens to cut it into tokens. Could we take the earliest \emph{beginning} instead? Take \emph{abcd} and \emph{bc}, and the text \emph{abcd}: the first begins first, the second ends first. If all four bytes come in one token, both are complete, and we would cut before the \emph{a}. If they come one by one, \emph{bc} is complete while \emph{abcd} still lacks a byte, and we would cut after it.

There are two options. With |include_stop| the text ends after the stop string, and none of it has to be held. With |min_tokens| the first tokens are protected: a stop string that ends in one of them is passed over. If it begins in a protected token and ends after it, it counts, and is cut out like any other. So you may see less than the protected tokens had: |min_tokens| says how long the model must have written, not how much is shown. Tokens enter the rule nowhere else.
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

@ We give a text stream the prompt, then one token after another, and tell it when no token will follow.

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

@ What do we hold after a token? The longest suffix of the text that is a prefix of a longer stop string; or, if that is longer, a character of which some bytes are missing (\cref{sec:streaming}). For the first we look at the state, for the second at the last three bytes. (A stop string that begins in the middle of a character may split one, and then the half before it is shown; \cref{ex:stop.whole} mends that.)

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

@ Is this right? We have four things to show.

\emph{The text is that of the rule.} We go through the bytes in their order, whatever tokens they come in. So the first byte at which a string ends is where the first occurrence is complete; and of those that end there |stops_ending| names the longest.

\emph{Released bytes are never taken back.} Let the held part begin at byte $i$ after some token, and at byte $j$ after a later one. The later held part is a prefix of a stop string, or of a character. At the earlier token the bytes of it that had arrived were a shorter prefix of the same string. They were held then; and since we hold the longest such suffix,
$i\le j$. The released part only grows.

\emph{No byte of a stop string gets out.} An occurrence ends within some token. Before that token, the bytes of it that had arrived were a prefix of it, and so they were held. (With |include_stop| these bytes are part of the text.)

\emph{Nothing is held without a reason.} The held bytes are a prefix of a stop string or of a character, and the next token might bring the rest. There is one small exception: a stop string that contains another, as \emph{abcd} contains \emph{bc}, may never be completed, because the other ends the text first; then its bytes are held in vain. (With |min_tokens| the other may be passed over.) \Cref{ex:stop.live} holds only what can still matter.

@ The rest is short. We append the bytes of a token to the text, and the automaton reads them there. At the end we release everything, even half a character: the model wrote that byte, and it is not ours to drop. A terminal or a JSON object may show U+FFFD in its place.

The stream of \cref{tokens} kept three bytes; this one keeps the whole text. Long stop strings may hold many bytes, which would have to be moved forward with every token. Besides, you will want the whole text at the end.

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

@ The tokenizer turns an id into bytes. For some vocabularies it must know whether anything precedes the token: they put a blank before every word and take it away from the first word of a text (\cref{sec:decodersteps}). The prompt precedes our first token. So we feed the prompt's ids to the tokenizer until one of them yields bytes; from then on the rule for the first word no longer applies. Special tokens, such as those that mark the turns of a conversation, yield no bytes. (If you continue a cancelled text with the same stream, show it the longer prompt of the next call; the stream keeps the text that it has.)
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

@ A program that guesses several tokens ahead may have to take some back, and the text stream with them. So its state can be saved and restored, which is cheap: a text stream only appends, and the cut before a stop string shortens the text without changing a byte of it. After a restore the next token overwrites the bytes that were taken back. Both functions copy the six fields of the struct, out and back (\.{unwoven/stopping/going\_back.c}).

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
The loop of \cref{loop} can end a text for three reasons: an end token, the length, and a callback that says no. Stop strings are a fourth, and you will think of others: three sentences, a valid answer, a text that has begun to repeat itself. The loop cannot know them all. So it calls a function after each token, |stop|, and asks whether the text is to end. A \emph{stopping criterion} is such a function with a name. Several of them make a list, and the list is itself such a function: it says yes when one of its members does. \Cref{fig:ending} shows where each decision is made.
@^stopping criterion@>@^end token@>@^callback@>

\herefig{ending}{fig:ending}{One round of the loop, and the four places where it may be the last. Above each is the reason that we report; below it the \emph{finish reason} that programming interfaces of language services return. The criteria are a list: text stream, repetition, your own.}{A chain of six boxes from left to right: select, append, end token, stopping criteria, length, watcher; from the last an arrow leads back to the first. From the last four an arrow leads up to the words eos, the criterion's name, length, cancelled. Below the boxes: stop under the end token and the criteria, length under the length, nothing under the watcher.}

The list remembers which member said yes. If you wait for the third item of a list, ``the text is over'' tells you little. If several say yes to the same token, the first in the list counts. Why does the list ask all of them about every token, even after one has said yes? We tried to stop asking. Then a text stream further down the list missed the last token, and its text lacked a word. A criterion may keep a record of the text, and the record must not depend on its place in the list.

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

The loop does not ask the list when an end token has come. So if a text has stopped and no criterion has said yes, the model ended it. The order is: the end token, the list, the length, and last the \emph{watcher}, the callback that sees each step (\cref{sec:watch}). Its \emph{no} counts only if nothing else has ended the text. When the loop calls the watcher, the text stream has taken the token; so the watcher can print each token together with the bytes that the token has released.

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

@ The text stream is a criterion: it takes the newest token, and says yes when a stop string is complete. An end token that ends the text never gets here, and its bytes are no part of the text. If it comes within the first |min_tokens| it does get here, and is a token like any other.

@<Stop at a stop string@>=
bool text_stream_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct text_stream *o = ctx;
  if (!text_stream_id(o, text->text.id[text->text.n - 1], why))@+ return false;
  *enough = o->found != NULL;
  return true;
}

@ Greedy decoding may go round in a circle for ever (\cref{sec:loops}). The penalties of \cref{sec:penalties} try to lead the text out; you can also give up. The last $3N$ tokens are $N$ tokens three times over if each but the first $N$ equals the one $N$ places before it: a single comparison of memory, which mostly fails at its first token. Why three times, and not twice? People do say a thing twice. Tokens of the prompt do not count, since you may
have given the model a refrain. And which $N$? The criterion sees a cycle of $N$ tokens, or of a divisor of $N$, and no other: with 12 it sees cycles of 1, 2, 3, 4, 6 and 12 tokens, after three times twelve. If you do not know the length, put several of them into the list.
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

@ That is the module. You can write a criterion of your own, a function with the same four parameters. The program of \cref{sec:ends} has one that counts sentences.

@(stopping.h@>=
#ifndef INCIPIT_STOPPING_H
#define INCIPIT_STOPPING_H
#include "tokenizer/tokenizer.h"
#include "loop/generate.h"
#include "stopping/stops.h"
@<What stands between the loop and a reader@>@;
@<What may end a text@>@;
#endif

@ The source file begins with what holds for the stream after every token.

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
Now let the built-in model run into each of its ends. The program asks for ten texts that end for six different reasons, and then shows one text on its way to a reader, token by token. Three of its prompts are the model's to answer: \emph{The dog} begins a tale, which ends by itself unless we end it earlier; the owl's you know; and the clock's makes the model tick for ever. The shopping list and the last text are not the model's: the program recites a \emph{script}, so that we can show any text we like.
@^finish reason@>

@<The requests@>=
struct request { const char *name, *prompt, *stop[2], *script;
  size_t max, min_tokens, repetition, raise;@+ uint32_t context;
  step_stop *own;@+ bool tokens, obvious; };
  /* up to |max| tokens after |prompt|; two stop strings or fewer; the same
     |repetition| tokens three times; a signal after token number |raise|; a context smaller than the model's; a criterion of the caller's |own|;
     are the |tokens| shown, and is it shown the |obvious| way? */
static const char owl[] = "User: Where does"@| " the owl live?\nAssistant:";

@ Each line is a way to end. The last text has no name, and is shown on its way.

@<The requests@>=
static const struct request ends[] = @[{@|
  { "end token", "The dog", .max = 400 },@/
  { "the same, not before 100", "The dog", .max = 400, .min_tokens = 99 },@/
  { "length 20", "The dog", .max = 20 },@/
  { "context 24", "The dog", .max = 400, .context = 24 },@/
  { "two line ends", owl, { "\n\n" }, .max = 400 },@/
  { "these, or User:", owl, { "\n\n", "User:" }, .max = 400, .obvious = true },@/
  { "4.", "A list:\n", { "4." },@| .script = "1. apples\n2. pears\n"@| "3. plums\n4. nuts" },@/
  { "2 tokens, three times", "The cat sat in the sun."@| " The clock said",@|
    .max = 400, .repetition = 2 },@/
  { "three sentences", "The dog", .max = 400, .own = three_sentences },@/
  { "cancelled by a signal", "The dog", .max = 400, .raise = 7 },@/
  { "", "A list:\n", { "\n\n", "User:" }, .tokens = true,@|
    .script = "A caf\xc3\xa9.\nUseful: 5"@| " \xe2\x82\xac.\n\nUser:" } }@];

@ One criterion is our own: it counts full stops.

@<Count full stops@>=
static bool three_sentences(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct bytes so_far = ((const struct text_stream *) ctx)->text;
  size_t seen = 0;
  (void) text, (void) why;
  for (size_t i = 0; i < so_far.n; i++)@+ seen += so_far.byte[i] == '.';
  *enough = seen >= 3;
  return true;
}

@ A session holds the model, what it takes to write, and the newest text.

@<What a session holds@>=
struct session { struct pocket p;@+ struct generate_context g;
  const struct request *r;@+ struct text_stream flow;
  struct ids prompt, script;@+ size_t steps, shown; };
  /* the model, and what it takes to write; the newest text, of which |steps| tokens are
     written, and |shown| bytes */

@ For each text we print its name, how many tokens were written, why it ended, and its last words. Of the text that is shown on its way, we print what each token releases, and a bar.

@<Show a text@>=
static void show(const unsigned char *byte, size_t n)
{
  for (size_t i = 0; i < n; i++)@+ putchar(byte[i] == '\n' ? '/' : byte[i]);
}

@ Suppose that you have seen enough and press Ctrl-C. \label{sec:cancelled} The operating
system interrupts the program wherever it is, in the middle of a product perhaps, and calls a function of ours. What may that function do? Next to nothing: memory may be half taken and a row half written. It notes the signal's number in a variable that C promises to write in one piece, and returns. After the next token, when everything is in order, the watcher looks at the variable and says no. That means that the caller wants no more, whatever the text is like. So cancelling is no member of the list, and has a reason of its own, |FINISH_CANCELLED|. (Here the program can send the signal to itself.)
@^signal@>@^cancellation@>

The last function recites: it selects the script's next token, whatever the logits are.

@<Watch a text, or recite it@>=
static volatile sig_atomic_t interrupted;
static void note_signal(int number) {@+ interrupted = number;@+ }
static bool watch(void *ctx, const struct step *now)
{
  struct session *u = ctx;
  u->steps++, (void) now;
  if (u->r->tokens)@+ show(u->flow.text.byte + u->shown,@|
    u->flow.released - u->shown), putchar('|');
  u->shown = u->flow.released;
  if (u->steps == u->r->raise)@+ raise(SIGINT);
  return interrupted == 0;
}
static bool recite(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  (void) logits, (void) why;
  *chosen = ((const struct session *) ctx)->script.id[text->text.n - text->n_prompt];
  return true;
}

@ Now the parts come together: the stop strings become an automaton, the automaton a part of the text stream, the text stream one of two or three criteria, and the criteria one of the loop's options. If you have cut a text short with Ctrl-C, it must not pass for a whole one, so that is an error.

@<Write a text, and say how it ended@>=
static bool answer(struct session *u, const struct stops *until,
  struct error *why)
{
  const struct request *r = u->r;
  struct continuation text = @[{ .n_prompt = 0 }@];
  @<The criteria of a request@>@;
  @<The options of the loop@>@;
  u->flow = (struct text_stream) @[{ .m = u->g.m, .t = u->p.t,@|
    .until = until, .min_tokens = r->min_tokens }@];
  interrupted = 0;
  bool ok = text_stream_prompt(&u->flow, u->prompt.id, u->prompt.n, why)@|
    && generate(&u->g, u->prompt.id, u->prompt.n, &want, &text, why);
  text_stream_end(&u->flow);
  @<Print how the text ended@>@;
  text_stream_close(&u->flow);
  continuation_free(u->g.m, &text);
  return ok && (interrupted == 0 || r->raise > 0@|
    || error_say(why, "the text was interrupted"));
}

@ A criterion that is not wanted stays in the list: without stop strings, or with a count of 0, it never says yes.

@<The criteria of a request@>=
struct criterion list[] = @[{@|
  {"string", text_stream_should_stop, &u->flow},@|
  {"repetition", repetition_should_stop, (void *) &r->repetition},@|
  {"callback", r->own, &u->flow} }@];
struct criteria any = @[{ list, r->own == NULL ? 2 : 3, NULL }@];

@ The loop gets the list as its one |stop|, and the watcher. A script is as long as its tokens.

@<The options of the loop@>=
bool scripted = u->script.n > 0;
struct generate_options want = @[{ .eos = u->p.lm->config.eos,@|
  .n_eos = u->p.lm->config.n_eos, .min_tokens = r->min_tokens,@|
  .max_new_tokens = scripted ? u->script.n : r->max,@|
  .select = scripted ? recite : NULL, .select_ctx = u,@|
  .recall = store_match_prefix, .stop = criteria_should_stop,@|
  .stop_ctx = &any, .on_step = watch, .ctx = u }@];

@ The list names its own ends and the model's; the loop knows the others, length and cancellation.

@<Print how the text ended@>=
size_t n = u->flow.text.n, last = n < 22 ? n : 22;
const char *reason = criteria_reason(&any, text.ended);
if (reason == NULL)@+ reason = text.ended == FINISH_CANCELLED ? "cancelled" : "length";
if (!r->tokens)@+ printf("%-24s%4zu  %-11s", r->name, u->steps, reason),@|
  show(u->flow.text.byte + n - last, last);
printf("\n");
if (ok && r->obvious)@+ show_obvious(u, text.text);

@ Before a request, we open the automaton, encode prompt and script, and open a store with as many positions as the context has. To test a short context we give the store a copy of the settings in which that one number is smaller; the model keeps its own.

@<Answer a request@>=
static bool begin(struct session *u, const struct request *r,
  struct error *why)
{
  struct memory *m = &u->p.m;
  struct stop_string list[2];
  struct stops until;
  struct model_config config = u->p.lm->config;
  size_t n = 0;
  for (; n < 2 && r->stop[n] != NULL; n++)
    list[n] = (struct stop_string) @[{@|
      (const unsigned char *) r->stop[n], strlen(r->stop[n]) }@];
  if (r->context > 0)@+ config.n_positions = r->context;
  if (!stops_open(&until, m, list, n, why))@+ return false;
  u->g = (struct generate_context) @[{ &u->p.e, u->p.lm, NULL, m }@];
  u->r = r, u->steps = u->shown = u->prompt.n = u->script.n = 0;
  bool ok = tokenizer_encode(u->p.t, m, r->prompt, strlen(r->prompt),@|
      false, false, &u->prompt, why)@|
    && (r->script == NULL || tokenizer_encode(u->p.t, m, r->script,@|
      strlen(r->script), false, false, &u->script, why))@|
    && (u->g.s = array_store_open(m, &config, why)) != NULL@|
    && answer(u, &until, why);
  store_close(u->g.s), stops_close(&until);
  return ok;
}

@ Model and tokenizer are opened and closed as in the earlier chapters; for the programs of this chapter and its neighbours that is done in \.{unwoven/sampling/pocket.inc}, by |pocket_open| and |pocket_close|.

@c
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "stopping/stopping.h"
#include "sampling/pocket.inc"
@;@#
@<Count full stops@>@;
@<The requests@>@;
@<What a session holds@>@;
@<Show a text@>@;
@<The obvious way@>@;
@<Watch a text, or recite it@>@;
@<Write a text, and say how it ended@>@;
@<Answer a request@>@;
@<Open the model, and answer all requests@>@;

@ All requests are answered in turn; a failure ends the program.

@<Open the model, and answer all requests@>=
int main(void)
{
  static struct session u;
  struct error why;
  bool ok = pocket_open(&u.p, &why);
  signal(SIGINT, note_signal);
  if (ok)@+ printf("end token %u, says %s\n",@|
    (unsigned) u.p.lm->config.eos[0], u.p.lm->config.eos_from);
  for (size_t i = 0; ok && i < sizeof ends / sizeof *ends; i++)
    ok = begin(&u, &ends[i], &why);
  ids_free(&u.p.m, &u.script), ids_free(&u.p.m, &u.prompt);
  pocket_close(&u.p);
  if (!ok)@+ fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ This is what became of them. The number counts all tokens that were written, including the end token and those of a stop string; the words shown end before these. The first line names the file that the end token was read from, since a wrong one is a common mistake (\cref{sec:endtoken}). The line in the middle, with the bars, is the obvious program's; you have seen it.

\checkpoint{build/out/stopping.txt}{ten texts: after how many tokens each ended, why, and its last words; and a text on its way, a bar after each token; a stroke is a line end}

In the second text the model ended its tale at the same place as before, but we did not obey its end token; it went on as after the end of any text, with a new one. The third, of 20 tokens, ends in the middle of a sentence, as texts that are cut by a length mostly do: of \val{stop.talks} conversations that we let the model
write,\lab{lab:endtoken} a limit of \val{stop.cap} tokens would have cut \val{stop.cut} short, \val{stop.cut.inside} of them within a sentence. A larger limit cuts fewer texts, but no more gently. The context of 24 positions is full one token later than you might think, because the last token is not read (\cref{sec:contextfull}): \val{stop.context.written} tokens after a prompt of \val{stop.context.prompt}.

In the owl's conversation an empty line separates the exchanges; it takes two tokens. The name \emph{User:} comes earlier, in two tokens as well; so with both strings the name ends the text. The list ends after its third item, but look at what ended it: the two characters \emph{4.}, anywhere. A price of \given{14.50} would have ended it as well. The clock's two tokens are a tick and a comma.

A cancelled text is a text. The last has seven tokens; you can show it, and you can go on with it: given the prompt and these seven, the model wrote \val{stop.resumed} more tokens,\lab{lab:ends} the same as without the interruption. With sampling it does the same, since the draws of \cref{sampling} depend on the position and not on a history.

The tokens are the same, but the criteria begin anew. Suppose that a \emph{Us} was held when you cancelled. It was released when the text ended, and an \emph{er:} that follows completes nothing, because its beginning is now in the prompt. Protected tokens, sentences and repetitions are counted from 0. If you want the stop strings to go on as well, keep the text stream, do not end it, and give it to the next call.

@ Three questions remain that you will ask. \emph{What is counted?} Every token that was selected, because each cost a pass: those of a stop string, and the end token, are on the bill although you do not see them.
\emph{What is left in the cache?} The cut concerns bytes only. The ids stay as they were written, and the cache has a row for each of them except the last, which was not read. If you go on with the text that was shown, its tokens are encoded anew, and the rows up to the first difference are used again (\cref{cache}).
\emph{Can stopping change the text?} Not here. The criteria never touch the logits, and the draws depend on seed and position; so with the same seed a text under other stopping options is the same text, longer or shorter. That is why we select an end token within |min_tokens| and do not obey it. Other libraries mask it: then the tale goes on, but with other tokens. The search of \cref{search} masks it too.
@^min\_tokens@>

@* The end token is sampled. \label{sec:endtoken}
Why did the tale of the dog end at all? Among the tokens of a vocabulary one or a few stand for no text: the \emph{end-of-sequence} tokens, EOS for short. In training they followed each text, so a model that has learned well gives them a high probability where a text is over. Which ids are they? The model's files say it, in more than one place, and the places may disagree, because one file was made for texts and the other for conversations. The loop takes \.{generation\_config.json} if that file lists any, and \.{config.json} otherwise.
Llama~3.1 lists three: \.{<\char124 end\_of\_text\char124>} after a document, \.{<\char124 eot\_id\char124>} after a turn of a conversation, and \.{<\char124 eom\_id\char124>} after a message that waits for a tool's result.\side{\.{generation\_config.json} of the published Llama 3.1 models. The ids are \given{128001}, \given{128009} and \given{128008}.} A program that listens for the first alone shows you the answer, then the model's answer to itself, and so on. So the loop compares each token with a whole list. With |n_eos| 0 it ignores them all, which is the command's \.{-{}-ignore-eos}, useful for measurements.
@^end token@>@^tools, of a model@>

An end token has to be selected, like any other token. A high probability is not enough. Let a model give it \given{0.9}, everything else \given{0.1}, and draw: of \val{stop.coin.trials} draws a share of \val[3]{claim.S3-39} went on. And a low probability? If it is $e$ at each step, then a text is still running after $n$ tokens with the probability
\begin{equation}\label{eq:running}
  (1-e)^n,
\end{equation}
because it must have gone on $n$ times. That becomes small, but never 0. For $e=\given{0.01}$ and $n=\given{500}$ it is \val[4]{claim.S2-68}: of \val{stop.coin.texts} simulated texts \val{stop.coin.left} were still running, where we expected \val[0]{stop.coin.left.expected}. Each of them ends at some time, but if you run a server with a \given{million} requests and no limit on the length, some will come back very late.

\fig{running}{fig:running}{The share of texts that are still running after $n$ tokens: simulated with four constant probabilities of the end (points), by \eqref{eq:running} (lines), and written by the built-in model (steps). With a logarithmic axis a constant probability gives a straight line; the model's texts do not. The steps break off where the last conversation ends.}{A plot with a logarithmic vertical axis from one hundredth to 1. Four straight lines fall from the upper left corner, the steepest for e of \given{0.1}, then \given{0.03}, \given{0.01} and \given{0.003}; points lie on them. A thick stepped line stays at the top for a while and then falls off like a cliff, to nothing before the flattest line has lost half.}

Does a model behave like a coin? \Cref{fig:running}\lab{lab:endtoken} shows \val{stop.talks} conversations of the built-in one, drawn at temperature 1. None ended before \val{stop.talks.shortest} tokens, none went on for more than \val{stop.talks.longest}. Within a text the end has next to no probability: at most \val[3]{stop.eos.most} in \val{stop.eos.places} places where it was not selected, and \val[1]{stop.eos.mean} millionths on average; where it was selected, \val[2]{stop.eos.chosen}. A model that knows its texts sees the
end coming. We have not tried one whose prompt is like nothing it was trained on; we think that it may well behave like the coin with the smallest $e$.

@* Bytes shown, bytes held. \label{sec:shown}
\Cref{fig:hold}\lab{lab:shown} shows the last text of the program on its way to you. We made it up so that everything happens in it: two characters that come in pieces, a line end that is not followed by another, a word that begins like the stop string \emph{User:} and is another word, and at last two line ends.

\widefig{hold}{fig:hold}{A line is a token, a column a byte of the text. Red cells are released with the token, grey ones were released before. Hatched cells wait because a stop string may have begun, dotted ones because only part of a character has come. The pale cells of the last line are the two line ends before which the text is cut; nothing of them was ever shown.}{Nineteen lines in steps, a token each, over twenty-five columns, the bytes. Each line has grey cells at the left and mostly one to three red ones at its end. Four lines end with hatched cells, one to three of them, and three with one or two dotted ones. In the last line the two cells of the stop string are empty.}

Follow the line of the \emph{U}. It waits when it comes, then \emph{Use}; with \emph{ful} all six letters are released, because now it is a useful thing and not a user. The line end before it was released already when the \emph{U} came. (In the program's last line, where nothing comes between two bars, a token has released nothing.) How often would you notice? Of the \val{stop.shown.tokens} tokens of the owl's conversation you would see \val{stop.shown.at.once} whole and at once; \val[word]{stop.shown.waited} waited, and \val[word]{stop.shown.string} were the stop string, which you never see.

We have proved that the cuts between tokens do not matter. We have also counted it: a text of $n$ bytes can be cut in $2^{n-1}$ ways, and we cut two short texts with these stop strings in all \val{claim.S3-42} ways that they have. Every cut ended at the same string and left the same text, and what was released on the way was always a prefix of it.

@* The cost of stop strings. \label{sec:stopcost}
The automaton looks at every byte of every text. Is that slow?\lab{lab:stopcost} Each byte takes a step, and the step may take a walk. In the \val{stop.walk.bytes} bytes of the tales that come with the model, our two strings cause \val{stop.walk.two} steps of walking, \val[4]{claim.S2-101} a byte. Then we made a list that should be hard, the first letters at \val{stop.walk.strings} places of the tales themselves: \val[2]{stop.walk.hard} a byte. The bound is 1, whatever the strings are.

The clock agrees. A token of four bytes takes the automaton \val[0]{stop.clock.first} nanoseconds after \val{stop.clock.first.tokens} tokens, and \val[0]{stop.clock.last} after \val{stop.clock.tokens}. The obvious program, which calls |strstr| for each string on the whole text, takes \val[0]{stop.clock.scan.first} nanoseconds for the shorter text and \val[1]{stop.clock.scan.last} microseconds for the longer. But
compare: a pass of the built-in model, a very small one, takes \val[0]{stop.clock.pass} microseconds at \val{stop.clock.pass.tokens} tokens. The automaton adds \val[2]{stop.clock.percent} percent to that, the search of the longer text \val[1]{stop.clock.scan.percent} percent. Time decides nothing here. We use the automaton because it knows how much to hold.

@* Padding, and why we have none. \label{sec:padding}
When several texts are written together, their prompts differ in length, and they end at different times. Many programs keep them in a rectangular table and fill the short lines with a \emph{pad} token, mostly the end token for want of a better one. Then they must mask the pads in attention, and count the positions without them. We have no table. A pass is a list of rows, each with its sequence and its position (\cref{sec:rows}), which is called a \emph{ragged batch}; a text that has ended has no row in the next pass, and needs no pad token.
@^padding@>@^ragged batch@>

What happens if you forget the mask?\lab{lab:padding} We put four pads before a prompt, unmasked. With end tokens for pads the logits after the prompt change by up to \val[2]{stop.pad.end.left}, yet all \val{stop.pad.end.same} greedy tokens that we compared stayed the same; the built-in model was trained on texts with end tokens between them, so we think that it has learned to take no notice. With full stops for pads the logits change by up to \val[2]{stop.pad.other.left}, and the
text is another from token \val{stop.pad.parts} on. With pads \emph{after} the prompt the last row is a pad's, and the logits change by \val[2]{stop.pad.end.right}: that row predicts what follows an end token. You get no error message in any of these cases.

@* What stopping cannot mend. \label{sec:limits}
Temperature, masks and penalties act before a token is selected. Once a text is written, you can only decide where it ends: what is there stays, and it was written from left to right. What does that cost? We took four numbers from the built-in model.\lab{lab:limits}

\emph{Nothing is taken back.} Of the \val{stop.written} tokens of our conversations, \val{stop.rare} had a probability of less than one percent when they were drawn. The model has read each of them and gone on from it; it has no way to say that it did not mean that. (A rare token is not a fault. We count them because faults are harder to count.)

\emph{Left to right.} What follows a word would often settle which word it is. We remove a token from a tale that the model was not trained on, and let the model fill the gap: its likeliest token is right in \val{stop.gap.left} of \val{stop.gap.places} places. Now we let it look ahead: we try its \val[word]{stop.gap.choices} likeliest tokens in the gap, and take the one that makes the gap and the \val[word]{stop.gap.after} tokens after it likeliest together. That is right in \val{stop.gap.both}.
One tale is a hint and no proof, but it points where you would expect.

\emph{Length.} If each token is faulty independently with probability $e$, then \eqref{eq:running} is the share of texts of $n$ tokens without a fault. The rare tokens come at a rate of \val[4]{stop.rare.rate}; of the \val{stop.cut} conversations with at least \val{stop.cap} tokens, \val[0]{stop.clean.expected} should have none among the first \val{stop.cap}, and \val{stop.clean} have none.

\emph{No plan.} The likeliest token need not begin the likeliest pair of tokens. In an easy tale it nearly always does: of the same \val{stop.gap.places} places only \val[word]{stop.pair.other} has a likeliest pair that begins with another token. \Cref{search} looks further ahead, and finds out what that is worth.

Streaming makes all this visible: what you have shown you cannot change. Whether an answer is better sent at once or read over first is for you to decide.

\begin{aside}{Thinking first}
Two remedies are in use, and neither changes the loop. You may lead the model to write down its steps before the answer, a \emph{chain of thought};\side{\cited[Wei and others 2022]{Wei 2022}.} then the plan is in the text, where the following tokens can attend to it, and a stop string separates it from the answer. Or you write several continuations, weigh them, give some up and carry others on, a \emph{tree of thoughts}:\side{\cited[Yao and others 2023]{Yao 2023}.} so something is taken back, at the
price of having been written. Both buy better tokens with more of them. We have not measured how much better. @^chain of thought@> @^tree of thoughts@>
\end{aside}

@ And what of masks? \label{sec:maskends} People say that a mask \emph{forces} a text into a form. Step by step it does: after the owl's question we masked all tokens but those made of digits,\lab{lab:maskends} and all \val{stop.mask.draws} tokens drawn at temperature 1 were made of digits, though the model gave these \val[1]{stop.mask.digits} millionths of the probability.
But such a mask does not finish a text. If the length comes first, you are left with the valid beginning of a form, half an object of JSON for example. To guarantee a whole one, the mask must know how many tokens are left, and forbid each token after which the rest could not be completed in time. The constraints of \cref{constraints} do that: with a limit of 12 tokens they write a complete object, and they refuse a limit that is too short for the form before the first token.
@^mask@>

@* Differences between implementations. \label{sec:stopothers}
\begin{table}[tbp]
\tabcaption{tab:stopothers}{Stop strings in four programs; the last column is what waits because a stop string may have begun. All but Hugging Face cut the text before the string. Read in August \given{2026}: \.{stopping\_criteria.py} of Hugging Face's library (\texttt{6978a60}), \.{detokenizer.py} of vLLM (\texttt{017e9f4}), \.{server-context.cpp} of llama.cpp (\texttt{3f545be}).}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}llll@@{}}
\toprule
& \tabhead{looks at} & \tabhead{occurrence} & \tabhead{holds back}\\
\midrule
this book & new bytes & earliest end & what may begin\\
Hugging Face & prompt and text & any & nothing\\
vLLM & new characters & earliest end & longest less 1\\
llama.cpp & new bytes & earliest start & all unsent\\
\bottomrule
\end{tabular*}
\end{table}

You will meet stop strings in nearly every program that lets a model write. No two of those in \cref{tab:stopothers} agree about them.
@^vLLM@>@^llama.cpp@>@^Hugging Face@>


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

@ Hugging Face's library compares with the whole text, prompt included: if your prompt ends in \emph{Us} and the model goes on with \emph{er:}, the text ends. It never cuts; you have to. Of two strings that end together vLLM takes the first of the list, and we the longest. llama.cpp looks, after each token, for the occurrence that begins first, and that depends on the tokens. Take \emph{abcd} and \emph{bc} once more. If \emph{abcd} comes in one token, it shows nothing; if the letters come one by one, it shows the \emph{a}, because \emph{bc} is complete first. Ours shows the \emph{a} in both cases. As to |min_tokens|, vLLM masks the end tokens until that many have been written, where we select and do not obey them.

What does each hold-back mean for your reader? None of them shows a byte that would have to be taken back. vLLM always holds as many characters as the longest stop string has, less one; llama.cpp holds all that is unsent as long as a suffix of the text is a prefix of a stop string. \Cref{tab:held} compares the three rules.


@ With the fixed number the fewest tokens are silent: once the text is longer than that, every byte that arrives releases one. You see something with nearly every token, but always late: by \val[1]{stop.rule.short.fixed} bytes with the short strings, about a token, and by \val[1]{stop.rule.long.fixed} with the long one, a few words.
By our rule you have everything nearly always, and wait for a moment where something has begun. llama.cpp's rule is as prompt, except that it releases nothing while a stop string may have begun, not even bytes that can no longer belong to one, like the \emph{an} of our calculation. The fixed number gives an even flow; ours gives the text sooner.

The search itself is the one that \cited[Aho and Corasick published in 1975]{Aho 1975}; for a single string it becomes that of Morris and Pratt, of \given{1970} \cited{Morris 1970}. We add the number |hold| to the node: two lines.

@* What the tutorials say. \label{sec:stoptutorials}
On this subject the tutorials are brief and mostly right. Two sentences teach something; the laboratory has the others.\lab{lab:stopclaims}

\begin{claimed}{S3-39}
Of \val{stop.coin.trials} draws in which the end token had the probability $\given{0.9}$, a share of \val[3]{claim.S3-39} went on. The text stops when that token is \emph{selected}. Greedy decoding stops when no token is likelier, however small that probability is.
\end{claimed}

\begin{claimed}{S2-99}
With four unmasked pads before it a prompt is another prompt: with full stops for pads the text is another from token \val{claim.S2-99} on. The id silences the message and leaves the error. If the end token is your pad, you can no longer tell the ends that the model meant from the filling. Where each text has as many rows as tokens (\cref{sec:padding}) there is no pad to set.
\end{claimed}

@* Exercises. \label{sec:stopexercises}
Each names the command that checks your answer; most of these try it against the automaton of this chapter.

\begin{exercises}
\exercise{check}{ex:stop.onion}{The stop strings are \emph{onion} and \emph{nine}. How many bytes are held after each byte of \emph{ononine}, up to the last but one?}{\texttt{make exercise-08-1}}{1, 2, 1, 2, 3, 3. The third byte is no \emph{i}, and so the \emph{o} of another \emph{onion}; after the fifth \emph{oni} may go on; the sixth leaves \emph{nin} of it, the beginning of \emph{nine}.}
\exercise{check}{ex:stop.cap}{A model ends its text with the same probability of two percent at each token. For which smallest length do at least \given{999} in \given{1,000} texts end by themselves?}{\texttt{make exercise-08-2}}{$\given{0.98}^n\le0.001$ gives $n\ge\ln0.001/\ln0.98=\given{341.9}$, so \given{342}.}
\exercise{think}{ex:stop.mean}{How many tokens does such a text have on average, its end token included, if the end has the probability $e$ and there is a length $n$? Give it for $e=\given{0.01}$ and $n=\given{100}$, with one decimal.}{\texttt{make exercise-08-3}}{Token $i$ is written if none before it was the end: $\sum_{i=1}^n(1-e)^{i-1}=\bigl(1-(1-e)^n\bigr)/e$, here $\given{63.4}$, where without a length it would be \given{100}.}
\exercise{think}{ex:stop.walk}{Find a list of stop strings, of 20 bytes together at most, and a text in which one byte takes a walk of eight failures.}{\texttt{make exercise-08-4}}{\emph{aaaaaaaab}, eight times the same letter and another, and the text \emph{aaaaaaaac}: from the state of eight letters the \emph{c} tries each shorter one. Before that eight bytes went by without a walk.}
\exercise{think}{ex:stop.never}{Of the stop strings \emph{abcd}, \emph{bc}, \emph{xbc}, \emph{bcx}, \emph{cde}, \emph{e} and \emph{xe}, which can never be the one that ends a text?}{\texttt{make exercise-08-5}}{Those that contain another one that ends before they do: \emph{abcd} and \emph{bcx}. In \emph{xbc}, \emph{cde} and \emph{xe} the other one ends with them, and they are longer.}
\exercise{think}{ex:stop.cuts}{Another rule says: after each token, if stop strings are complete, end the text where the first of them \emph{begins}. Find three stop strings and a text for which this gives three different texts, by three ways to cut the text into tokens.}{\texttt{make exercise-08-6}}{\emph{abcdef}, \emph{bcde} and \emph{cd}, each inside the one before, and the text \emph{abcdef}. Byte by byte \emph{cd} is complete first, and \emph{ab} is left; if \emph{de} is one token, \emph{bcde} is complete with it and begins earlier, which leaves \emph{a}; with all in one token nothing is left. By our rule it is \emph{ab}, always.}
\exercise{think}{ex:stop.live}{Let |hold| count only what can still come true: a beginning of a stop string that must pass through another one is not held. The texts must not change when no token is protected, and nothing may be released later than now.}{\texttt{make exercise-08-7}}{A node is alive if it is a whole string, or if no string ends at it and one of its children is alive: so go through the queue backwards. Then go forwards again: |hold| is the depth of a node that is alive and at which no string ends, and that of the failure elsewhere.}
\exercise{check}{ex:stop.whole}{A stop string in bytes may begin in the middle of a character, and then the hold cuts that character in two: its first half is shown. Let the text stream release no half characters, whatever the strings are.}{\texttt{make exercise-08-8}}{One line: what is to be released may end with an unfinished character itself, so take |utf8_held| of it once more and hold that as well.}
\end{exercises}
