@i types.w

\chapterquestion{The model knows only numbers from a list. Who made the list, and how does a
sentence become numbers from it without losing a single letter?}
@** Tokenization: bytes, UTF-8, byte-pair encoding. \label{sec:tokens}
\incipit{A}{ language model never} sees a letter. You give it whole numbers, each below some
fixed bound, and it answers with a score for every number that could come next (chapter 2); from the scores a program
chooses one (chapters 3 and 7). Everything that looks like language happens
outside the model, in a program that turns text into numbers and numbers back into text. That
program is called a \emph{tokenizer}. The numbers are
\emph{ids}, the pieces of text they stand for are \emph{tokens}, and the list that pairs the
two is the \emph{vocabulary}.
@^token@>@^vocabulary@>@^id@>@^tokenizer@>

What would you put on the list? You could put letters on it. Then a sentence is a long sequence of numbers,
and a model's work grows with the length of the sequence, as chapter 3 will count. You could put words on it.
Then the sequence is short, and the first word that is not on the list cannot be written
at all. The method of nearly every published model lies between. Begin with the
\val{tokens.bytes} values that a byte can have; with them you can write anything. Then look at a large
text, find the two neighbours that stand side by side most often, and give that pair a number
of its own. This is a \emph{merge}. Do it again, and again, until the list is as long as you like. Frequent words end up as one
token, rare ones as a few, and a word that was never seen can still be written, byte by byte at the
worst. All that you have learnt is the list of merges in their order; a merge's place
in the list, counted from 0, is its \emph{rank}. The method is \emph{byte-pair encoding} (BPE), a trick for
compressing files that Philip Gage published in 1994 \cited{Gage 1994} and Rico Sennrich and his colleagues brought to
translation in 2016 \cited{Sennrich 2016}. GPT-2, OpenAI's model of \given{2019}, started it from bytes, and so does Llama~3, Meta's of
\given{2024}; this book reads the files of both.
@^byte-pair encoding@>@^merge@>@^Gage, Philip@>@^Sennrich, Rico@>

\begin{byhand}{nine merges, and a word that was not there}
The text is \texttt{the cat that sat}. First cut it before every space, because no token should
reach across two words (\cref{sec:split} says why). That makes four \emph{pieces}, and every byte is a token: @^piece@>
\begin{center}\piece{t h e}\enspace\piece{\textvisiblespace\ c a t}\enspace\piece{\textvisiblespace\ t h a t}\enspace\piece{\textvisiblespace\ s a t}\end{center}
Now count neighbours within the pieces: \tok{a}\,\tok{t} stand side by side three times, \tok{t}\,\tok{h}
twice, all other pairs once. So the first merge makes \tok{at}. In what is left \tok{t}\,\tok{h} is the only pair that occurs
twice, and the second merge makes \tok{th}.

\medskip
\begin{tabular}{@@{}rlrl@@{}}
\tabhead{rank} & \tabhead{pair} & \tabhead{count} & \tabhead{the pieces afterwards}\\
0 & \tok{a}\,\tok{t} & 3 & \piece{t h e} \enspace \piece{\textvisiblespace\ c at} \enspace \piece{\textvisiblespace\ t h at} \enspace \piece{\textvisiblespace\ s at}\\
1 & \tok{t}\,\tok{h} & 2 & \piece{th e} \enspace \piece{\textvisiblespace\ c at} \enspace \piece{\textvisiblespace\ th at} \enspace \piece{\textvisiblespace\ s at}\\
2 & \tok{\ }\,\tok{c} & 1 & \piece{th e} \enspace \piece{\textvisiblespace c at} \enspace \piece{\textvisiblespace\ th at} \enspace \piece{\textvisiblespace\ s at}\\
3 & \tok{\ }\,\tok{s} & 1 & \piece{th e} \enspace \piece{\textvisiblespace c at} \enspace \piece{\textvisiblespace\ th at} \enspace \piece{\textvisiblespace s at}\\
4 & \tok{\ }\,\tok{th} & 1 & \piece{th e} \enspace \piece{\textvisiblespace c at} \enspace \piece{\textvisiblespace th at} \enspace \piece{\textvisiblespace s at}
\end{tabular}
\medskip

From rank 2 on every pair occurs once, and a rule must decide. Ours: the smaller left id, then
the smaller right one. A byte's id is its value, and merges make new ids in turn, after the last byte. The space is byte 32,
smaller than every letter, so it goes first. Of its three right neighbours \texttt{c} is byte 99, \texttt{s} is byte 115, and \texttt{th}, which rank 1 has made, is
256 + 1 = 257. Four more merges, \piece{th e}, \piece{\textvisiblespace c at}, \piece{\textvisiblespace s at}, \piece{\textvisiblespace th at} in this order, and each of
the four pieces is a single token.

Now encode \texttt{that}, at the start of a line, so without its space: \piece{t h a t}. Of its pairs
\piece{t h} has rank 1 and \piece{a t} has rank 0; the lowest goes first: \piece{t h at}. Then \piece{t h}: \piece{th at}. No
merge joins \tok{th} and \tok{at} (there is one for \tok{\ th} and \tok{at}), so we stop: two tokens,
257 and 256. The word was not on the list, and we wrote it with parts that are.
\end{byhand}

@ \Cref{fig:merges}\lab{lab:tokensfigures} shows the same on a slightly longer page, the three lines about a cat from which the
laboratory's program learns. At the top, one sentence of that page is \val{tokens.sentence.bytes} bytes, each a token
by itself. With every line more merges are known. Watch the tokens grow together where the page repeats
itself; a token of one line is always made of whole tokens of the line above, for what was
joined is never taken apart again. At the bottom the sentence is \val{tokens.sentence.ids} tokens, one for each of its six words and one for the full stop. ``The cat
sat'' is three of them. These three will be with us to the end of the book.

\widefig{merges}{fig:merges}{One sentence, encoded with more and more merges, whose number stands on the left and the number of
tokens on the right. Red: tokens that the line above did not have.}{Ten rows, one below the other. Each shows the sentence
The cat sat on the mat, cut into boxes. The first row, without merges, has one box for each byte, spaces and full stop included, 23 in all. From row to row
boxes join, the new ones in red: at, he, then space t and the, cat and sat with their spaces, on, mat. The last row has seven boxes, six
words and the full stop.}

@ How long should the list be? The model pays twice for a long one: it stores a vector of numbers
for every token of the list, and it computes a score for every one of them each time it writes one. For a
short list it pays in the length of the text: fewer bytes a token, more tokens a page, more work. And
from a token that hardly ever occurs in its training texts the model cannot learn when to use it. Published lists are compromises between these costs: GPT-2 has \val{tokens.gpt2.merges} merges and \val{tokens.gpt2} ids, Llama~3 has \val{tokens.llama3}.
Afterwards the list belongs to the model like its weights. Exchange two ids, and the model takes each for the other; add new ids at the end, and they mean nothing until the model is trained further.

\begin{claimed}{S3-02}
The number is one vocabulary's: OpenAI's cl100k, \val{tokens.bytes} bytes, \val{tokens.cl100k.merges} merges and
\val{tokens.cl100k.special} places for special tokens (\cref{sec:tokenizer}), \val{tokens.cl100k} ids. GPT-2 has half as many; Llama~3,
with \val{tokens.llama3}, more. Another tutorial says ``typically 32,000 to 128,000+ tokens'' (S1-04), which holds.
\end{claimed}

@ First comes the idea: how merges are learnt, how you apply them, how ids become text again, and what
tokens do to a model that reads them. Then comes the care that real text needs: UTF-8, characters that arrive in halves, the cut into pieces, and what published tokenizers add. We use two hash tables, a heap and a library that does the cutting; \cref{lookups} explains them.

@* Learning the merges: the trainer. \label{sec:learning}
Here is the rule of the hand calculation, precisely. Ids 0 to \given{255} are the
values of a byte; the $k$-th merge, counted from 0, makes id $\given{256} + k$. The count of a pair is the number of
places, inside pieces, where its two ids stand side by side; places may overlap, so
\texttt{aaa} has \tok{a}\,\tok{a} twice. The pair with the highest count is merged; of several the one with
the smaller left id, and of those the one with the smaller right id. The pair is merged from left to
right without overlap, so that \texttt{aaa} becomes \tok{aa}\,\tok{a}. Then all pairs are counted
again. A pair that occurs once is merged like any other; when no pair is left, training ends.
@^tie@>@^training of merges@>

Other programs break ties differently: some take the pair that was met first. As long as no two counts are equal, all of them learn the same
list. After the first tie the lists may differ, and because every merge changes later counts, they need not agree
again. Does that matter to you? Not once a list exists: there is only one way to apply it.

What are merges worth? \Cref{fig:shrink}\lab{lab:tokensfigures} counts bytes per id while the list grows. On the page from which we learn, the curve climbs
until every word is a token. We also tried a page that the trainer has not seen, though it speaks of the same cat: there the curve gains little more than a third as much, for the later merges
fit only the words of the first page. So train on a text as mixed as the texts that will be read, and as large as you can, and end the list long before its
last merges are about one document. If your training text is full of English, English comes out short; a language of which it had
little needs more ids for the same page.

\fig{shrink}{fig:shrink}{Bytes per id, while merges are added: on the three lines that they are learnt from, and on three
lines of news about the same cat. Dashed: one byte per id, where both begin.}{Two curves that begin at one byte per id. The curve of the page that is learnt from rises nearly straight, to more than three bytes, and is flat from merge 31 on, since there
is no pair left. The curve of the unseen page rises much more slowly, and ends below two.}

@(bpe.h@>=
#ifndef INCIPIT_BPE_H
#define INCIPIT_BPE_H
#include "ground/ground.h"
#include "tokens/utf8.h"
#include "lookups/table.h"
struct bpe_merge {@+ uint32_t left, right;@+ };
  /* merge number $k$ of a list makes id $256 + k$ of these two */
bool bpe_train(struct memory *m, const char *text, size_t n,
  const char *pattern, size_t merges, struct bpe_merge **out,
  size_t *n_out, struct error *why);
  /* learns at most |merges| merges from |n| bytes, cut by |pattern|
     (null: one piece); |*out| has |*n_out| of them in a block of
     |merges|, to be given back by |bpe_forget|; Gage 1994, Sennrich
     et al. 2016 */
void bpe_forget(struct memory *m, struct bpe_merge *merge);
  /* returns what |bpe_train| gave */

@ Why not do what the rule says? Then each merge reads the whole text twice, once to count and once to merge. GPT-2's list would take \val{tokens.gpt2.merges} such rounds,
and each would find again most of what the round before has found: hardly anything changes from one
merge to the next.

What does a merge change? Only the places where its pair stands, and their neighbours. We want to go there and nowhere else, and that takes three things. At each place two tokens become one, and in a plain array
everything after it would have to move. So the text is an array of \emph{nodes}, one for each byte, in which the nodes of a piece form a \emph{linked list}; the right node just drops out.
But where are the places? For every pair of ids we keep its count and another linked list, of the nodes where the pair begins. And which pair is next? A merge changes the counts of others, so it does not help to sort
the pairs once. We keep them by count in a \emph{heap}, a structure that gives out its first entry in a number of steps that grows with the logarithm of its size.

\Cref{fig:nodes} shows the array for the hand calculation. Both kinds of lists run through the same nodes. Is there room for a list per pair? There is, because a node begins at most one pair, the one with
its right neighbour; so two more links in each node are all that the lists of all pairs need.
@^linked list@>@^node@>

\widefig{nodes}{fig:nodes}{The trainer's array before and after its first merge. The text of the hand calculation has 16 nodes. Above them the list of each piece (black); below the list of a pair (red), which begins at
the pair's own entry. After the merge the node of each \emph{a} holds the new id, the node of each \emph{t} that followed is out of its list, and three new pairs begin one node to the left, each with a list of one node.}{Two rows of 16
boxes, with the letters of the cat that sat, a box a byte, numbered from 0 to 15. In the first row arcs above join the boxes of each of the four pieces in both directions; no arc crosses from one piece to the next. Below, red arcs join boxes 5, 10 and 14, the three letters a that
are followed by t, and an arrow leads from the words pair a t, count 3, first 5, last 14 to box 5. In the second row boxes 5, 10 and 14 hold at, boxes 6, 11 and 15 are dotted and out of the lists, and boxes 4, 9 and 13 begin the new pairs c at, h at and s at.}

We name nodes by their numbers and not by pointers: a number takes four bytes where a pointer would take eight, and each node has four links.

@<What the trainer knows@>=
#define NOWHERE UINT32_MAX /* the end of a list */
struct text_node {@+ uint32_t id;
  uint32_t prev, next; /* the neighbours in the piece */
  uint32_t prev_occ, next_occ; /* the neighbours in the pair's list */
  uint32_t weight; /* how often the piece occurs in the text */
};
struct bpe_pair {@+ uint64_t count;@+ uint32_t left, right, first, last;@+ };

@ A long text contains the piece \piece{\textvisiblespace\ t h e} very many times, and whatever happens to one of them happens to all. So we keep equal pieces
once, with the number of times they occur, their \emph{weight}. After the text has been cut, training costs no more than training on its
dictionary. The function |unique_collect| (plain C, in \.{unwoven/tokens/unique.c}) cuts the text as \cref{sec:split} describes and gives us an array |piece| of the |n| different pieces: |byte| and |n| of each, and its |weight|.

How do we find the entry of a pair? In a \emph{hash table}: an array in which the place of an entry is
computed from its key, so that it is found in a few steps, however many there are. |pair_map_put| enters a value, and |pair_map_get| finds it again. The value 0 means that there is no entry, so the numbers in the table count from 1. For the heap there are |heap_push|, and |heap_pop|, which takes out the smallest entry.
@^hash table@>@^heap@>

\printedheader[pair_map_put, pair_map_get, heap_item, heap_push, heap_pop]{lookups/table.h}

@<What the trainer knows@>=
struct bpe_trainer {@+ struct memory *m;@+ struct error *why;
  struct unique_pieces unique; /* the pieces, and how often each occurs */
  struct text_node *nodes; /* one for each of their bytes */
  struct bpe_pair *pairs;@+ size_t n_pairs, pairs_cap;
  struct pair_map pair_number; /* from two ids to their pair, plus 1 */
  struct heap queue;@+ }; /* of the pairs, by count */

@ Now we lay out the array of nodes, once, piece after piece. A node's number must be below |NOWHERE|, so the text has at most 4 GiB,
where equal pieces count once. The pairs of a piece are entered after all of its nodes, because to find a pair we need the id of the
right neighbour as well. Finally all pairs enter the heap, each with its count.

@<Lay out the nodes and count the pairs@>=
static bool lay_out(struct bpe_trainer *t)
{
  size_t n = t->unique.n_bytes;
  if (n >= NOWHERE) return error_say(t->why,
    "a text of %zu bytes is too long to learn from", n);
  t->nodes = memory_alloc(t->m, MEMORY_TOKENS, n, sizeof *t->nodes, t->why);
  if (t->nodes == NULL)@+ return false;
  uint32_t i = 0;
  for (size_t k = 0; k < t->unique.n; k++) {
    const struct unique_piece *p = &t->unique.piece[k];
    uint32_t first = i, last = i + (uint32_t) p->n - 1;
    @<Write the nodes of a piece@>@;
    /*- after all nodes of the piece, since a pair is found by the id of its right neighbour */
    for (i = first; i < last; i++)
      if (!link_pair(t, i))@+ return false;
    i = last + 1;
  }
  return queue_from(t, 0);
}

@ At the ends of a piece there is no neighbour, and so no pair reaches from one piece into the next. A new node is in no pair's list yet.

@<Write the nodes of a piece@>=
for (; i <= last; i++)
  t->nodes[i] = (struct text_node) @[{ p->byte[i - first],@|
    i > first ? i - 1 : NOWHERE, i < last ? i + 1 : NOWHERE,@|
    NOWHERE, NOWHERE, p->weight }@];

@ A pair that is met for the first time gets the next place in the array of pairs, with a count of zero and an empty list, and the table learns its number. We never remove a pair, not even when its count has fallen back to zero: an entry of the
heap may still name it.

@<Enter and strike out the pair that begins at a node@>=
static bool new_pair(struct bpe_trainer *t, uint32_t left, uint32_t right,
  uint32_t *k)
{
  struct bpe_pair *p = memory_reserve(t->m, MEMORY_TOKENS, t->pairs,
    &t->pairs_cap, t->n_pairs + 1, 256, sizeof *p, t->why);
  if (p == NULL)@+ return false;
  t->pairs = p;
  *k = (uint32_t) (t->n_pairs + 1);
  if (!pair_map_put(t->m, &t->pair_number, left, right, *k, t->why))
    return false;
  t->pairs[t->n_pairs++] = (struct bpe_pair) @[{ 0, left, right, NOWHERE,
    NOWHERE }@];
  return true;
}
  /*- Pairs are never removed, not even at count 0: an entry of the heap may still name them. The
    table counts them from 1; 0 is no entry. */

@ To enter a node in the list of its pair, we find the pair, or make it, and append the node. Because we always go through pieces from left to right, the nodes of every list are in the order of
the text, and ``from left to right'' will later need no sorting. The count grows by the weight of the node, so that a piece counts as often as it occurs.

@<Enter and strike out the pair that begins at a node@>=
static bool link_pair(struct bpe_trainer *t, uint32_t i)
{
  uint32_t left = t->nodes[i].id, right = t->nodes[t->nodes[i].next].id;
  uint32_t k = pair_map_get(&t->pair_number, left, right);
  if (k == 0 && !new_pair(t, left, right, &k))@+ return false;
  struct bpe_pair *p = &t->pairs[k - 1];
  t->nodes[i].prev_occ = p->last, t->nodes[i].next_occ = NOWHERE;
  if (p->last == NOWHERE)@+ p->first = i;
  else@+ t->nodes[p->last].next_occ = i;
  p->last = i;
  p->count += t->nodes[i].weight;
  return true;
}
  /*- Pieces are always gone through from left to right, so the list of a pair is in the order of
    the text. Nodes count with their weight: equal pieces are kept once. */

@ To take a node out of its list, we link its two neighbours there with each other. This is why the list has links in both directions: with
one, we would have to walk along it to find the neighbour before, and the list of a common pair may be as long as the text.

@<Enter and strike out the pair that begins at a node@>=
static void unlink_pair(struct bpe_trainer *t, uint32_t i)
{
  const struct text_node *s = &t->nodes[i];
  uint32_t k = pair_map_get(&t->pair_number, s->id, t->nodes[s->next].id);
  struct bpe_pair *p = &t->pairs[k - 1];
  if (s->prev_occ == NOWHERE)@+ p->first = s->next_occ;
  else@+ t->nodes[s->prev_occ].next_occ = s->next_occ;
  if (s->next_occ == NOWHERE)@+ p->last = s->prev_occ;
  else@+ t->nodes[s->next_occ].prev_occ = s->prev_occ;
  p->count -= s->weight;
}
  /*- The lists have links both ways for this: that of a common pair may be as long as the text. */

@ Now the merge itself, at one place. Which nodes does it concern? Four at most: the one before, the two of the pair, and the one after. We strike out the pairs that the two ids form with their neighbours,
the right node leaves the piece, the left one takes the new id, and we enter the new pairs.
In the piece \piece{\textvisiblespace\ t h a t}, nodes 7 to 11 of \cref{fig:nodes}, merging \tok a\,\tok t at node 10 strikes out \tok h\,\tok a at node 9 and \tok a\,\tok t at node 10; node 11
leaves; node 10 is \tok{at} now, and node 9 begins \tok h\,\tok{at}. Nothing else changes in the whole text.

@<Merge a pair wherever it occurs@>=
static bool merge_at(struct bpe_trainer *t, uint32_t i, uint32_t made)
{
  uint32_t prev = t->nodes[i].prev, gone = t->nodes[i].next,
    next = t->nodes[gone].next;
  if (prev != NOWHERE)@+ unlink_pair(t, prev);
  if (next != NOWHERE)@+ unlink_pair(t, gone);
  unlink_pair(t, i);
  t->nodes[i].id = made, t->nodes[i].next = next;
  if (next != NOWHERE)@+ t->nodes[next].prev = i;
  if (prev != NOWHERE && !link_pair(t, prev))@+ return false;
  return next == NOWHERE || link_pair(t, i);
}
  /*- Four nodes at most are concerned. First the pairs that end here are struck out, while both
    ids are still there; then the right node leaves, and the new pairs are entered. */

@ To merge a pair everywhere, we merge at the head of its list until the list is empty. What about overlaps?
They take care of themselves: in \texttt{aaa} the merge at the first place strikes out the pair
that began at the second, before we come to it. All pairs with the new id are new, and enter the heap when their
counts are final.

@<Merge a pair wherever it occurs@>=
static bool merge_all(struct bpe_trainer *t, const struct bpe_pair *best,
  uint32_t made)
{
  size_t k = pair_map_get(&t->pair_number, best->left, best->right) - 1;
  size_t fresh = t->n_pairs;
  while (t->pairs[k].first != NOWHERE)
    if (!merge_at(t, t->pairs[k].first, made))@+ return false;
  return queue_from(t, fresh);
}
  /*- Always at the head of the list: in aaa the first merge strikes out the second pair before we
    come to it. New pairs enter the heap when their counts are final. */

@ The heap gives out the smallest entry first, and we want the highest count; so a count goes in with its bits inverted, which reverses the order. Equal counts are
decided by the second key, with the left id in its upper half and the right id in its lower half: that is the rule
for ties. We leave out a pair that no longer occurs, so that an empty heap means that there is nothing to merge.

@<Put pairs into the heap@>=
static bool queue_pair(struct bpe_trainer *t, const struct bpe_pair *p)
{
  struct heap_item e = @[{ ~p->count,
    (uint64_t) p->left << 32 | p->right }@];
  return p->count == 0 || heap_push(t->m, &t->queue, e, t->why);
}
  /*- The heap gives out the smallest entry and we want the highest count, so the count goes in
    inverted. */
@#
static bool queue_from(struct bpe_trainer *t, size_t k)
{
  for (; k < t->n_pairs; k++)
    if (!queue_pair(t, &t->pairs[k]))@+ return false;
  return true;
}

@ Here is a difficulty. A merge changes the counts of other pairs, and their entries in the heap are out of date. You could move a pair in the heap whenever its count changes; but then every pair must know its place in the heap, and we think that most of the
moving would be for pairs that never come near the top. So we do nothing, and look how wrong an entry can be.

It can only be too high. A pair of bytes is counted when the text is laid out; any other pair's count grows during the
one merge that makes the newer of its two ids. Then the pair enters the heap, and
from then on other merges can only take places away from it. So we take the top entry, look at
the pair's true count, and if that is lower, put the pair back with the true one. An entry that comes out
with the right count has the highest count of all: no other entry is higher, and no pair's true count is higher than the pair's entry.
This is a \emph{lazy} heap.

@<Find the pair with the highest count@>=
static bool best_pair(struct bpe_trainer *t, struct bpe_pair **best)
{
  *best = NULL;
  while (t->queue.n > 0) {
    struct heap_item e = heap_pop(&t->queue);
    uint32_t k = pair_map_get(&t->pair_number, (uint32_t) (e.tie >> 32),
      (uint32_t) e.tie);
    struct bpe_pair *p = &t->pairs[k - 1];
    if (p->count == ~e.key) {
      *best = p;
      return true;
    }
    if (!queue_pair(t, p))@+ return false;
  }
  return true;
}
  /*- A count only falls once the pair is in the heap, so an entry may be too high and never too
    low. One that comes out with its true count is the highest of all; one that does not goes in
    again. */

@ What does training cost? A merge at one place removes one node, and there were no more nodes than bytes; so in \emph{all} merges
together there are fewer places than the text has bytes, however many merges you ask for. Each place strikes out at most three pairs and enters
at most two. And a pair that comes out of the heap with too high a count has lost a place since it went in, so there are no more entries to put back than places that were struck out. With $n$ bytes of different pieces everything is of the order $n\log n$, the logarithm for the heap.

This is the loop that you went through nine times in the hand calculation. If no pair is left, every piece is one token, and the list is shorter than was asked for.

@<Find and merge, again and again@>=
static bool learn(struct bpe_trainer *t, struct bpe_merge *list,
  size_t merges, size_t *n_out)
{
  size_t k = 0;
  for (; k < merges; k++) {
    struct bpe_pair *best;
    if (!best_pair(t, &best))@+ return false;
    if (best == NULL)@+ break;
    list[k] = (struct bpe_merge) @[{ best->left, best->right }@];
    if (!merge_all(t, best, (uint32_t) (256 + k)))@+ return false;
  }
  *n_out = k;
  return true;
}

@ The trainer as a whole is now short: cut, lay out, learn. The caller gets either a list or an error, never half a list. An id has 32 bits, of which one value is |NOWHERE|; so the number of merges is limited.

@<Learn merges from a text@>=
bool bpe_train(struct memory *m, const char *text, size_t n,
  const char *pattern, size_t merges, struct bpe_merge **out,
  size_t *n_out, struct error *why)
{
  struct bpe_trainer t = @[{ .m = m, .why = why }@];
  struct bpe_merge *list = NULL;
  *out = NULL, *n_out = 0;
  bool ok = merges < NOWHERE - 256
    || error_say(why, "%zu merges are more than ids can number", merges);
  ok = ok && unique_collect(m, &t.unique, (const unsigned char *) text, n,
    pattern, why) && lay_out(&t);
  if (ok) list = memory_alloc(m, MEMORY_TOKENS, merges, sizeof *list,
    why);
  ok = ok && list != NULL && learn(&t, list, merges, n_out);
  @<Free what the trainer has used@>@;
  if (ok)@+ *out = list;
  else@+ bpe_forget(m, list);
  return ok;
}

@ Whatever has happened, everything but the list is freed; what was never begun is null, and freeing null does nothing.

@<Free what the trainer has used@>=
heap_free(m, &t.queue);
pair_map_free(m, &t.pair_number);
memory_free(m, t.pairs);
memory_free(m, t.nodes);
unique_free(m, &t.unique);

@* Encoding: applying the merges. \label{sec:encoding}
To encode a text, apply the merges in the order in which they were learnt. Why in that order, and not,
say, always the longest token that fits? Because the model has been trained on texts that were
encoded in that way; any other encoding, though it stands for the same bytes, is a sequence of
ids that the model has hardly ever seen. And why was the model trained with that order? Because a merge was
learnt on a text in which all earlier ones had been applied: \tok{\ }\,\tok{th} can
only be found where \tok{t}\,\tok{h} is \tok{th} already.
@^rank@>@^encoding, of text@>

The definition is: look at all neighbours, merge the pair with the lowest rank, of several equal ones the
leftmost, and repeat until no two neighbours have a rank. \Cref{fig:work}\lab{lab:tokenslooks} compares it with our program.

\herefig{work}{fig:work}{Look-ups in the table of ranks for a run of equal letters: the definition, taken literally, and the program
of this section. For a run twice as long the definition looks four times as often, our program twice.}{A plot with two logarithmic axes: letters in a run
against look-ups. Both lines start together at two letters. The line of the definition rises with slope 2, the line of the program with slope 1. At the right end, at 2 to the power of 10 letters, the upper one
is more than two powers of ten above the lower.}

Why not write just the definition? It is a
slow program, since each round looks at everything, but pieces are usually words, and then it does not matter. Then somebody sends you a megabyte of one letter without a space. There are nearly
as many rounds as letters, and each looks at all pairs that are left: with $n=10^6$ letters that is about $n^2/2$, or $5\cdot10^{11}$, look-ups. On a machine
with many users, one such text would stop all the others. We counted how often the table of ranks is asked for runs of one letter
that get longer and longer: for \val{tokens.looks.n} letters \val{tokens.looks.slow} times by the
definition, and \val{tokens.looks.fast} times in our way, about three per letter.

@ A published vocabulary numbers its tokens as it likes: the ids of the bytes may be anything, and
the $k$-th merge may make any id. (GPT-2's letter \texttt A is 32, and not 65.) So the encoder has a list of \emph{rules}, each with its
rank, and a table from pairs to rules. A merge that was learnt here is the special case in which byte $b$ has id $b$ and rule
$k$ makes $\given{256}+k$. |bpe_add| appends a rule, whose rank is its place in the list; it and the other functions that only keep the rules in memory are in \.{unwoven/tokens/rules.c}.

@(bpe.h@>=
#define BPE_NONE UINT32_MAX
struct bpe_rule {@+ uint32_t left, right, made, rank;@+ };
  /* the pair |left|, |right| becomes |made|; of several rules that apply, the lowest |rank| goes first */
struct bpe {@+ uint32_t byte_id[256];@+ struct bpe_rule *rule;@+ size_t n,
  cap;@+ struct pair_map place;@+ };
  /* the id of every byte, |BPE_NONE| if it has none; |n| rules, of
     which the lowest rank goes first; from a pair to the place of its
     rule, plus 1 */

@ Encoding needs scratch memory. You supply it and keep it for the next piece, so that memory is allocated only when a piece needs more than any before. The rules are only read; two of your threads may
encode with the same rules if each has its own scratch memory.

@(bpe.h@>=
struct bpe_node {@+ uint32_t id, prev, next;@+ };
  /* an id of a piece, and the numbers of its neighbours, |BPE_NONE| at the ends */
struct bpe_work {@+ struct ids piece;@+ struct bpe_node *node;@+ size_t cap;
  struct heap queue;@+ uint64_t lookups;@+ };
  /* a piece as ids, a list of |cap| nodes, the merges to be done, and
     a count of look-ups; all zero to begin with */
bool bpe_encode(const struct bpe *b, struct memory *m,
  struct bpe_work *w, const unsigned char *byte, size_t n,
  struct ids *out, struct error *why);
  /* appends the ids of a piece of |n| bytes; the time is of the order
     $n\log n$ for any piece; on failure |out| is as it was */
bool bpe_join(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct ids *out, struct error *why);
  /* the same for a piece whose first ids are in |w->piece|, which is
     used up */
#include "tokens/rules.h"

@ A look-up is one question about two neighbours. The answer is a \emph{candidate} for merging: the rank in the upper half of a number, the
place of the rule in the lower half; or the largest number there is, if no rule has the pair. Of two candidates the one with the smaller upper half goes first.

@<Join a short piece@>=
static uint64_t look_at(const struct bpe *b, struct bpe_work *w,
  uint32_t left, uint32_t right)
{
  uint32_t place = pair_map_get(&b->place, left, right);
  w->lookups++;
  if (place == 0)@+ return UINT64_MAX;
  return (uint64_t) b->rule[place - 1].rank << 32 | (place - 1);
}
  /*- A candidate: rank above, place of the rule below; or the largest number there is, which no
    rank beats. */

@ Most pieces are words of a few bytes. For them we do follow the definition, with one improvement: after
a merge, only the two pairs that the new token is part of have changed, so we look up these two and remember the other candidates. Then a round is a walk over an array
that fits into the innermost cache.

@<Join a short piece@>=
enum { SHORT = 32 };
/*- By the definition, but a merge looks up only the two pairs that it has made. Strictly less: of
  equal ranks the leftmost. */
static size_t join_short(const struct bpe *b, struct bpe_work *w,
  uint32_t *id, size_t n)
{
  uint64_t candidate[SHORT];
  for (size_t i = 0; i + 1 < n; i++)
    candidate[i] = look_at(b, w, id[i], id[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; i++)
      if (candidate[i] >> 32 < candidate[best] >> 32)@+ best = i;
    if (candidate[best] == UINT64_MAX)@+ break;
    @<Merge at |best|, and look up the two new pairs@>@;
  }
  return n;
}

@ Of the two ids that are merged the right one leaves the array, and the ids after it move up, together with their candidates.

@<Merge at |best|, and look up the two new pairs@>=
size_t after = n - best - 2;
id[best] = b->rule[(uint32_t) candidate[best]].made;
memmove(id + best + 1, id + best + 2, after * sizeof *id);
memmove(candidate + best, candidate + best + 1,
  after * sizeof *candidate);
n--;
if (best > 0)
  candidate[best - 1] = look_at(b, w, id[best - 1], id[best]);
if (after > 0)
  candidate[best] = look_at(b, w, id[best], id[best + 1]);

@ Each round walks over the array once, and there are fewer rounds than ids: the order is $n^2$, which is why this is for short pieces only. For a long piece we do what the trainer does with its text: a linked list of nodes, and the candidates in a
heap, ordered by rank and then by place. In the beginning every id is a node, and we \emph{consider} every pair of neighbours: we look it up, and enter it in the heap if it has a rank. A node's number is its place in the piece. It does not change
when others leave the list, so you can read ``leftmost'' off the number.

Take \piece{t h a t} and the nine merges of the hand calculation. The heap begins with two candidates, rank 1 at place 0 and rank 0 at place 2. The second comes
out first, and makes \tok{at}; \tok{h}\,\tok{at} has no rank. Then the other comes out, finds its \tok t and \tok h still there, and makes \tok{th};
\tok{th}\,\tok{at} has no rank. The heap is empty, and the ids that are left in the list are the answer.
@^heap@>

@<Join a long piece@>=
static bool consider(const struct bpe *b, struct memory *m,
  struct bpe_work *w, uint32_t i, struct error *why)
{
  const struct bpe_node *left = &w->node[i];
  uint64_t c = look_at(b, w, left->id, w->node[left->next].id);
  return c == UINT64_MAX || heap_push(m, &w->queue,
    (struct heap_item) @[{ c >> 32,@| (uint64_t) i << 32
    | (uint32_t) c }@], why);
}
  /*- By rank, then by place: a node keeps its number when others leave, so leftmost can be read
    off it. */

@ The nodes are those of the piece before, if there are enough of them. If not, they are replaced; nothing in them needs to be kept.

@<Join a long piece@>=
static bool begin_list(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct error *why)
{
  size_t n = w->piece.n;
  if (n > w->cap) {
    memory_free(m, w->node);
    w->cap = 0;
    w->node = memory_alloc(m, MEMORY_TOKENS, n, sizeof *w->node, why);
    if (w->node == NULL)@+ return false;
    w->cap = n;
  }
  w->queue.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    w->node[i] = (struct bpe_node) @[{ w->piece.id[i],
      i > 0 ? i - 1 : NOWHERE,@| i + 1 < n ? i + 1 : NOWHERE }@];
    if (i > 0 && !consider(b, m, w, i - 1, why))@+ return false;
  }
  return true;
}

@ What becomes of a candidate that another merge has overtaken? We could find it in the heap and strike it out. It is simpler to leave it there: when it comes out we recognize it, because the two ids that its rule wants are no longer
there. Each merge makes at most two new candidates, and there are fewer than $n$ merges, so
at most $3n$ candidates pass through the heap, each in $\log n$ steps.

The left node of a merge lives on with the new id; so the first node never leaves the list, which begins at node 0. The right one gets an id that no rule wants, so that
we recognize candidates which still point to it as well. Two pairs are new: the neighbour before with the new token, and the new token with the
neighbour after. No others can have become possible.

@<Join a long piece@>=
static bool join_long(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct ids *out, struct error *why)
{
  size_t start = out->n;
  if (!begin_list(b, m, w, why))@+ return false;
  while (w->queue.n > 0) {
    struct heap_item e = heap_pop(&w->queue);
    const struct bpe_rule *r = &b->rule[(uint32_t) e.tie];
    uint32_t i = (uint32_t) (e.tie >> 32), next = w->node[i].next;
    if (w->node[i].id != r->left || next == NOWHERE
      || w->node[next].id != r->right)@+ continue;
    uint32_t after = w->node[next].next, before = w->node[i].prev;
    w->node[i].id = r->made, w->node[i].next = after;
    w->node[next].id = BPE_NONE;
    if (after != NOWHERE)@+ w->node[after].prev = i;
    if (before != NOWHERE && !consider(b, m, w, before, why))
      return false;
    if (after != NOWHERE && !consider(b, m, w, i, why))@+ return false;
  }
  @<Append the ids that are left in the list@>@;
  return true;
}
  /*- A candidate that was overtaken stays in the heap, and is known when it comes out, since the
    ids that its rule wants are gone; the right node of a merge gets an id that no rule wants. The
    left one lives on, so the list always begins at node 0. */

@ An encoding that cannot be finished leaves |out| as it was, so that the caller never has half a text.

@<Append the ids that are left in the list@>=
for (uint32_t i = 0; i != NOWHERE; i = w->node[i].next)
  if (!ids_push(m, out, w->node[i].id, why)) {
    out->n = start;
    return false;
  }

@ The length alone decides between the two ways, and you cannot tell from the result which was taken: both give the same ids, after
the same number of look-ups. The tests compare both with the definition.

@<Encode a piece@>=
bool bpe_join(const struct bpe *b, struct memory *m,
  struct bpe_work *w, struct ids *out, struct error *why)
{
  if (w->piece.n > SHORT)@+ return w->piece.n < NOWHERE
    ? join_long(b, m, w, out, why) : error_say(why,
    "a piece of %zu letters is too long", w->piece.n);
  size_t n = join_short(b, w, w->piece.id, w->piece.n), start = out->n;
  for (size_t i = 0; i < n; i++)
    if (!ids_push(m, out, w->piece.id[i], why)) {
      out->n = start;
      return false;
    }
  return true;
}
  /*- The two ways give the same ids after the same number of look-ups; the test compares both with
    the definition. */

@ A piece of bytes begins as the bytes' ids. A vocabulary without a token for some byte cannot encode
every text; the error says which byte it was.

@<Encode a piece@>=
bool bpe_encode(const struct bpe *b, struct memory *m,
  struct bpe_work *w, const unsigned char *byte, size_t n,
  struct ids *out, struct error *why)
{
  w->piece.n = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t id = b->byte_id[byte[i]];
    if (id == BPE_NONE)
      return error_say(why, "the vocabulary cannot spell byte 0x%02x",
        byte[i]);
    if (!ids_push(m, &w->piece, id, why))@+ return false;
  }
  return bpe_join(b, m, w, out, why);
}

@* Decoding. \label{sec:back}
Decoding needs no search, no rank and no heap: every id stands for a string of bytes, and the text is
these strings, one after another. The list of merges says which bytes they are. A byte's id
is the byte; any other id was made of two older ones, each of which is a byte or was made of two
older ones still. So to expand an id we keep a stack of ids still to be expanded. We take off the topmost; if it is a byte, we write it; if not, we push its right half and then its left half, which
is now on top. Each id makes way for smaller ones, so the stack is empty in the end.

You would write this as a recursive function, and it would be shorter by a line or two. But a token may be made of a long one and a byte,
and that of a long one and a byte, and so on, so the recursion may be as deep as the longest token has bytes. Our stack is a block of memory, which may be
refused with a message; the machine's own stack overflows without one.
@^decoding, of ids@>

@(bpe.h@>=
bool bpe_learnt(struct memory *m, struct bpe *b,
  const struct bpe_merge *merge, size_t n, struct error *why);
  /* fills an empty |b| with the ids of the bytes and |n| merges as
     |bpe_train| gives them; |bpe_free| returns it */
bool bpe_spell(struct memory *m, const struct bpe_merge *merge,
  uint32_t id, struct bytes *out, struct error *why);
  /* appends the bytes of an id: a byte, or one that the merges make;
     on failure |out| is as it was */
#endif

@ If memory is refused, the bytes that were appended are taken back.

@<Expand an id, and make an encoder of merges@>=
bool bpe_spell(struct memory *m, const struct bpe_merge *merge,
  uint32_t id, struct bytes *out, struct error *why)
{
  struct ids stack = @[{ NULL, 0, 0 }@];
  size_t start = out->n;
  bool ok = ids_push(m, &stack, id, why);
  while (ok && stack.n > 0) {
    uint32_t top = stack.id[--stack.n];
    unsigned char byte = (unsigned char) top;
    if (top < 256)@+ ok = bytes_push(m, out, &byte, 1, why);
    else@+ ok = ids_push(m, &stack, merge[top - 256].right, why)
      && ids_push(m, &stack, merge[top - 256].left, why);
  }
  ids_free(m, &stack);
  if (!ok)@+ out->n = start;
  return ok;
}
  /*- A stack of ours, not the machine's: a token may be as deep as it has bytes, and ours is
    refused with a message. Right half first, so that the left one is on top. */

@ An encoder for merges that were learnt here is the simplest there is: a byte's id is the byte, and rule
$k$ makes id $\given{256}+k$. No two ids of such a list have the same bytes (\cref{ex:tokens.alike} asks why). Nevertheless you can write one text with different ids: \texttt{that} also with
the ids of its four bytes, and a model is free to write it in that way. From a text to ids and back you always get the same text; from ids to a text and back you need not get
the same ids.

@<Expand an id, and make an encoder of merges@>=
bool bpe_learnt(struct memory *m, struct bpe *b,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  for (uint32_t i = 0; i < 256; i++) b->byte_id[i] = i;
  for (uint32_t k = 0; k < n; k++)
    if (!bpe_add(m, b, merge[k].left, merge[k].right, 256 + k, why))
      return false;
  return true;
}

@ The encoder is
given pieces and does not care who cut them: a pattern, the rules of \cref{tokenizer}, or nobody.

@(bpe.c@>=
@;
/** Byte-pair encoding: learning merges from a text, and applying them. Learning keeps three things
  up to date, so that a merge costs only the places where it happens: the text as nodes, those of a
  piece in a list; for each pair of ids its count and the list of its nodes, in the order of the
  text; and the pairs by count in a heap. A count in the heap may be too high, never too low: the
  heap is lazy. Ties go to the smaller left id, then the smaller right one, so a text has one list
  of merges. Encoding a piece has two ways, by its length, with the same ids and the same look-ups.
  Whatever fails leaves the caller's output as it was. */
#include <string.h>
#include "tokens/bpe.h"
#include "tokens/unique.h"
@<What the trainer knows@>@;
@<Enter and strike out the pair that begins at a node@>@;
@<Put pairs into the heap@>@;
@<Lay out the nodes and count the pairs@>@;
@<Find the pair with the highest count@>@;
@<Merge a pair wherever it occurs@>@;
@<Find and merge, again and again@>@;
@<Learn merges from a text@>@;
@<Join a short piece@>@;
@<Join a long piece@>@;
@<Encode a piece@>@;
@<Expand an id, and make an encoder of merges@>@;

@* What a model sees: letters, sums, languages. \label{sec:tokenswords}
How many times does the letter r occur in \emph{strawberry}? Before you laugh at a model that answers two, look at what it was given. \Cref{fig:letters} shows four published vocabularies. At the beginning of a text
\emph{strawberry} is three tokens, \tok{st}\,\tok{raw}\,\tok{berry} or \tok{str}\,\tok{aw}\,\tok{berry}; after a space it is a single one in three of them. An id is a number, and nothing in the number says which letters it stands for. That
\tok{\ strawberry} has three r's must be learnt like any other fact, from texts in which words are taken apart, and separately for each token. So a model that miscounts letters need not be bad at counting; it counts something that it cannot see.
A model that first writes the word letter by letter has each letter as a token of its own, and can count those.
@^counting letters@>

Sums suffer from the same cause. In GPT-2 \tok{\ 10000} is one token, but \tok{\ 9999} is two, \tok{\ 9}\,\tok{999} (at the beginning of a text \tok{9999} is one). Nothing in the ids tells the model that the one number follows the other. In Llama~3 the digits are cut in threes, but from the left: in \given{9999} the first token counts tens and in
\given{10000} it counts hundreds, so a carry changes where every later digit is found. Llama~2 and Qwen~3 give each digit a token of its own. That costs more tokens, and the same digit has the same id wherever it stands.

\widefig{letters}{fig:letters}{A word and a sum in four published vocabularies; on the right the number of tokens. The same word has other tokens after a space than at the beginning, and the numbers are cut in three different ways.}{Four rows of boxes below one another, one for each of GPT-2, Llama 2, Llama 3 and Qwen 3, over the same
text: strawberry, comma, a strawberry, comma, \given{9999} plus 1 equals \given{10000}. At the beginning all four cut strawberry in three. The second time it is one box with its space, but for Llama 2, which cuts it in three again. GPT-2 cuts \given{9999} into 9 and \given{999} and has one box for \given{10000}, Llama 3 cuts \given{999} and 9, \given{100} and 00, the other two have a box for each digit. The numbers of tokens are 13, 24, 17 and 22.}

@ How many tokens is a page? \Cref{tab:words} counts\lab{lab:tokenskeys} a text of \val{tokens.words.english} words on how books were copied by hand, its German translation, and a C function, |utf8_next| of \cref{sec:bytes}.
In published vocabularies an English word is \val[2]{tokens.words.llama3.english} to \val[2]{tokens.words.llama2.english} tokens, punctuation included. German pays more. Its words are longer, and the list has fewer of them: in GPT-2, which was trained on English, the translation has
\val[2]{tokens.german.gpt2} times as many tokens as the original, in Llama~3 \val[2]{tokens.german.llama3} times. If you pay by the token, you pay that much more for the same contents, wait that much longer for it, and fit that much less of it
into a model's context, all that it can read at once. In C nearly every operator and bracket is a token, and so is, in GPT-2, every space of an indentation; Llama~3 and Qwen~3 have tokens for runs of spaces, and for a bracket with the line end after it. This book's own
vocabulary is small and was trained on English tales; German falls apart in it, into less than two bytes a token.
@^tokens per word@>

\begin{table}[htp]
\tabcaption{tab:words}{Tokens per word and bytes per token of one page in English and in German, and bytes per token of a page of C. A word is what is between two spaces.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrr@@{}}
& \multicolumn{2}{c}{English} & \multicolumn{2}{c}{German} & C\\
\tabhead{vocabulary} & \tabhead{tokens/word} & \tabhead{bytes/token} & \tabhead{tokens/word} & \tabhead{bytes/token} & \tabhead{bytes/token}\\\midrule
this book's & \val[2]{tokens.words.pocket.english} & \val[2]{tokens.width.pocket.english} & \val[2]{tokens.words.pocket.german} & \val[2]{tokens.width.pocket.german} & \val[2]{tokens.width.pocket.code}\\
GPT-2 & \val[2]{tokens.words.gpt2.english} & \val[2]{tokens.width.gpt2.english} & \val[2]{tokens.words.gpt2.german} & \val[2]{tokens.width.gpt2.german} & \val[2]{tokens.width.gpt2.code}\\
Llama 2 & \val[2]{tokens.words.llama2.english} & \val[2]{tokens.width.llama2.english} & \val[2]{tokens.words.llama2.german} & \val[2]{tokens.width.llama2.german} & \val[2]{tokens.width.llama2.code}\\
Llama 3 & \val[2]{tokens.words.llama3.english} & \val[2]{tokens.width.llama3.english} & \val[2]{tokens.words.llama3.german} & \val[2]{tokens.width.llama3.german} & \val[2]{tokens.width.llama3.code}\\
Qwen 3 & \val[2]{tokens.words.qwen3.english} & \val[2]{tokens.width.qwen3.english} & \val[2]{tokens.words.qwen3.german} & \val[2]{tokens.width.qwen3.german} & \val[2]{tokens.width.qwen3.code}
\end{tabular*}
\end{table}

@* Bytes and UTF-8. \label{sec:bytes}
A text in memory is a sequence of bytes, and what the bytes mean is a convention. The convention of
our time is \emph{UTF-8} \cited{Yergeau 2003}: a byte below \given{128} is the ASCII character of that number; any other
character is one leading byte, whose upper bits say how many bytes follow, and one to three
continuation bytes of the form \texttt{10xxxxxx}. No leading byte has that form. So no character's
bytes occur inside another's, and if you start anywhere in a text you find the beginning of a character after at most
three bytes.
@^UTF-8@>

\begin{byhand}{one character, three bytes}
The euro sign is character U+20AC. In bits, \texttt{2} is \texttt{0010}, \texttt{0} is \texttt{0000}, \texttt{A} is \texttt{1010}, \texttt{C} is
\texttt{1100}. A character of sixteen bits goes into three bytes, as four, six and six bits, each after a mark that says which part it is:

\medskip
\begin{tabular}{@@{}llll@@{}}
\tabhead{bits} & \tabhead{mark} & \tabhead{byte} & \tabhead{hexadecimal}\\
\texttt{0010} & \texttt{1110} & \texttt{11100010} & \texttt{e2}\\
\texttt{000010} & \texttt{10} & \texttt{10000010} & \texttt{82}\\
\texttt{101100} & \texttt{10} & \texttt{10101100} & \texttt{ac}
\end{tabular}
\medskip

A program that sees only \texttt{82} knows from its first two bits that no character begins here, and goes one byte back.
\end{byhand}

Why do merges start from bytes and not from characters? Because then you can encode every text. Unicode has
more characters than you would want to list, and gets new ones every year; there are \val{tokens.bytes}
bytes, and there will be no more. The price is that a token may end in the middle of a
character, and the program that shows the text has to wait for the other half (\cref{sec:streaming}).

@ Everything else about UTF-8 comes down to one question: what begins at this byte? There are three
answers. A whole character; something broken, which no further byte can mend; or the
beginning of a character whose rest is not there yet. A file needs the first two; only a
text that is still being written needs the third. The length that comes with the
second answer is that of the \emph{maximal subpart}: the longest beginning that could
still have become a character. The bytes \texttt{f0 9f 98} before a space are one such part, since a fourth byte might
have made a face of them; in \texttt{ed a0 80} each byte counts alone, since no character begins with \texttt{ed a0}. The Unicode standard recommends replacing each such part by
one U+FFFD, the black diamond with a question mark, and so do we.
@^maximal subpart@>@^U+FFFD@>

@(utf8.h@>=
#ifndef INCIPIT_UTF8_H
#define INCIPIT_UTF8_H
#include "ground/buffers.h"
enum utf8_state {@+ UTF8_WHOLE, UTF8_BROKEN, UTF8_UNFINISHED@+ };
  /* a character; a maximal subpart of none; the beginning of one, cut
     off */
size_t utf8_next(const unsigned char *byte, size_t n,
  enum utf8_state *state);
  /* how many of the |n| $\ge 1$ bytes belong to what begins at the
     first of them, 1 to 4; Unicode 15, section 3.9, tables 3-7 and
     3-8 */

@ The leading byte gives the length. The values |0xc0| and |0xc1| could only begin a character
that has a shorter spelling, and from |0xf5| on the character would lie beyond the last one that
Unicode allows; so they begin nothing, like the continuation bytes, and are broken by themselves.

@<Tell what begins at a byte@>=
static size_t announced_length(unsigned char b)
{
  if (b < 0x80)@+ return 1;
  if (b < 0xc2)@+ return 0;
  if (b < 0xe0)@+ return 2;
  if (b < 0xf0)@+ return 3;
  return b < 0xf5 ? 4 : 0;
}
  /*- c0 and c1 could only begin a spelling that is too long, and f5 and above lie beyond Unicode:
    they begin nothing. */

@ From the second byte on we go forward as long as each byte may come next. We may have to stop early, for two reasons: the bytes are at an
end, or the next one does not fit. Either way the count is the length of what could still have become a character, as promised; only
the state differs, and we set it to |UTF8_BROKEN| in advance.

@<Tell what begins at a byte@>=
size_t utf8_next(const unsigned char *byte, size_t n,
  enum utf8_state *state)
{
  unsigned char b = byte[0], low = 0x80, high = 0xbf;
  size_t length = announced_length(b);
  @<Narrow what the second byte may be@>@;
  *state = UTF8_BROKEN;
  if (length == 0)@+ return 1;
  for (size_t k = 1; k < length; k++) {
    if (k == n) {
      *state = UTF8_UNFINISHED;
      return k;
    }
    if (byte[k] < low || byte[k] > high)@+ return k;
    low = 0x80, high = 0xbf;
  }
  *state = UTF8_WHOLE;
  return length;
}
  /*- The length of what is broken is that of the maximal subpart, as Unicode recommends it. Four
    leading bytes narrow what may follow: no overlong spellings, no surrogates, nothing beyond
    U+10FFFF. */

@ Four leading bytes restrict the byte after them. Two of the four, |0xe0| and |0xf0|, would otherwise allow a spelling that is too
long: a slash that was spelled \texttt{e0 80 af} has slipped through many a check for slashes, so Unicode allows one spelling for each character. After |0xed| would come the surrogates U+D800 to U+DFFF (a device of UTF-16, not characters), and after |0xf4|
what is beyond U+10FFFF.

@<Narrow what the second byte may be@>=
if (b == 0xe0)@+ low = 0xa0;
if (b == 0xed)@+ high = 0x9f;
if (b == 0xf0)@+ low = 0x90;
if (b == 0xf4)@+ high = 0x8f;

@ |utf8_next| also answers how many bytes at the end of a text wait for more. (\Cref{sec:notutf} has three functions that grow from it: they find how far whole characters reach, show a broken text, and give the number of a character.)

@(utf8.h@>=
size_t utf8_held(const unsigned char *byte, size_t n);
  /* how many bytes at the end are an unfinished character, 0 to 3 */

@ A character of four bytes is unfinished with at most three. So there are three endings to try, and the last three bytes of a text
decide, however long it is. We try the longest ending first;
because no leading byte is also a continuation, at most one of the three can be the
beginning of a character, and what comes before it does not matter. Of \texttt{41 e2 82} the last three bytes begin with a whole letter, so they are not
unfinished; the last two are, so two bytes wait.

@<Count the bytes that wait for more@>=
size_t utf8_held(const unsigned char *byte, size_t n)
{
  for (size_t k = n < 3 ? n : 3; k > 0; k--) {
    enum utf8_state state;
    if (utf8_next(byte + n - k, k, &state) == k
      && state == UTF8_UNFINISHED)@+ return k;
  }
  return 0;
}
  /*- The longest ending first; no leading byte is a continuation, so at most one of the three can
    begin a character. */

@* Streaming: characters that arrive in halves. \label{sec:streaming}
A model writes one token at a time, and you want to see each as it comes. But a token is
a few bytes, and may be half a character: the euro sign has three bytes, and a small vocabulary
has a token for each of them and none for the whole. Print the three one by one, and your
terminal shows three black diamonds. You might decode all ids again after each token, and print what is new; but that costs more with every token, and diamonds
that were printed have to be taken back. So between the tokens and the screen we
hold back the bytes that are not a character \emph{yet}, and nothing else.
@^streaming@>

The definition is short. After each token, release everything but an ending that is the beginning of a character and can still be completed. So at most three bytes are ever held. A byte that
can never become a character is released at once (holding it would be holding it forever). And
nothing is ever lost: the pieces released, and what is flushed at the end, are together exactly
the bytes of all tokens. \Cref{fig:stream}\lab{lab:tokensfigures} shows the seven tokens of a price: \texttt{on}, a space, the euro sign, \texttt{9}.

\begin{claimed}{S3-52}
The euro sign costs the model \val{tokens.euro.ids} tokens in our small vocabulary and
reaches the reader in one piece, after the last of them. Half characters are held back here;
chapter 8 will hold back what may be the beginning of a stop string, and chapter 13 will write
several tokens at a step. So what you see on the screen lags behind what happens, by up to a whole stop string.
\end{claimed}

\fig{stream}{fig:stream}{Seven tokens on their way to the screen. Above the line: bytes that each releases; below: bytes
that are held after it. At the bottom the ids, which here are single bytes.}{A row of seven columns, one for each token of the text on, space, euro sign, nine. The first three columns release one
byte each and hold none. The fourth and fifth, the first two bytes of the euro sign, release nothing and hold one and two bytes. The sixth releases three
at once. The seventh releases one.}

@(utf8.h@>=
struct stream {@+ unsigned char held[3];@+ size_t n;@+ };
  /* the |n| bytes that are held back; all zero is a stream that
     begins */
bool stream_feed(struct memory *m, struct stream *s,
  const unsigned char *byte, size_t n, struct bytes *out,
  struct error *why);
  /* appends to |out| what may be released now that |n| more bytes are
     known; on failure |s| and |out| are as they were */
bool stream_flush(struct memory *m, struct stream *s,
  struct bytes *out, struct error *why);
  /* appends what is held, raw, and empties the stream */
#include "tokens/lossy.h"
#endif

@ We put the held bytes and the new ones into |out| and take back the ending that must wait. What
was released before need not be looked at: had it been the beginning of a character, it
would have been held. If memory for the second copy is refused, the first is taken back; a caller who tries again must not
find the held bytes twice.

@<Release what is certain, hold the rest@>=
bool stream_feed(struct memory *m, struct stream *s,
  const unsigned char *byte, size_t n, struct bytes *out,
  struct error *why)
{
  size_t start = out->n;
  if (!bytes_push(m, out, s->held, s->n, why))@+ return false;
  if (!bytes_push(m, out, byte, n, why)) {
    out->n = start;
    return false;
  }
  s->n = utf8_held(out->byte + start, out->n - start);
  out->n -= s->n;
  if (s->n > 0) memcpy(s->held, out->byte + out->n, s->n);
  return true;
}
  /*- What went out before cannot begin a character, or it would have been held. If the second push
    is refused, the first is taken back: who tries again must not find the held bytes twice. */

@ At the end of a text nothing more will come, and what is held goes out as it is, finished or not. It is bad to show half a character. It would be worse to
swallow a byte that the model has written, because then the text would not encode to what the model wrote.

@<Release what is certain, hold the rest@>=
bool stream_flush(struct memory *m, struct stream *s,
  struct bytes *out, struct error *why)
{
  if (!bytes_push(m, out, s->held, s->n, why))@+ return false;
  s->n = 0;
  return true;
}
  /*- Half a character goes out as it is: the text must encode to what the model wrote. */

@ The growing buffers, |struct bytes|, are those of chapter 0.

@(utf8.c@>=
@;
/** What begins at a byte, how much of an ending must wait, and a stream that holds it back. At
  most three bytes ever wait, and only those that may still become a character: what can become
  none is released at once. All that is released, and what is flushed, are together exactly the
  bytes that came in. */
#include <string.h>
#include "tokens/utf8.h"
@<Tell what begins at a byte@>@;
@<Count the bytes that wait for more@>@;
@<Release what is certain, hold the rest@>@;

@* Pre-tokenization: where a piece ends. \label{sec:split}
In the hand calculation we cut the text before every space, and learnt merges only inside
the pieces. Why? Many English words end in \texttt{e}, so without the cut the pair \tok{e}\,\tok{\ } would be among the first
to be merged; and then \texttt{the} would be one token
before a space, another one before a comma, a third at the end of a line. The cut, which is called \emph{pre-tokenization}, costs a little
compression and buys a vocabulary of things that mean something. The space goes with the word that \emph{follows}: so a word in the middle of a sentence is a single token with its space, and no tokens are spent on spaces.
@^pre-tokenizer@>

Where exactly a piece ends is part of the vocabulary: if your program cuts differently, it gets other ids, and
the model, which has seen only the right ones, understands less. The published tokenizers say it
with a \emph{regular expression}. GPT-2's reads, in words: an English contraction such as \texttt{'ll};
or a run of letters, of digits, or of other signs, each with the one space before it; or white
space, of which the last space is left for the word that follows. Llama~3's is similar, but
takes digits in threes, any sign before a word, and line ends with what precedes
them. In text that is not plain prose you soon see the difference:

\medskip
\begin{tabular}{@@{}ll@@{}}
GPT-2 & \tok{It}\,\tok{'s}\,\tok{\ 12345}\,\tok{\ o}\,\tok{'}\,\tok{clock}\,\tok{,}\,\tok{\ }\,\tok{\ he}\,\tok{'ll}\,\tok{\ say}\,\tok{.}\\
Llama 3 & \tok{It}\,\tok{'s}\,\tok{\ }\,\tok{123}\,\tok{45}\,\tok{\ o}\,\tok{'clock}\,\tok{,}\,\tok{\ }\,\tok{\ he}\,\tok{'ll}\,\tok{\ say}\,\tok{.}
\end{tabular}
\medskip
@^regular expression@>

@ The library PCRE2 finds the matches. A \emph{splitter} is a compiled pattern, and the pieces of a text are its matches and what lies between them; \cref{sec:pcre} has the layer between the library and us, and the two patterns. You
begin to cut a text with |pieces_begin|, and ask |pieces_next| for the next piece until you get an empty one.
@^PCRE2@>

The class \texttt{\textbackslash p\{L\}}, ``any letter of any script'', grows with every version of Unicode. So which
piece a new character belongs to depends on the library's version, which \.{incipit --version}
prints. The PCRE2 that made this book knows Unicode \val[raw]{tokens.unicode}.
@^Unicode, version of@>

\printedheader[text_piece, pieces_begin, pieces_next]{lookups/split.h}

@* Three families of vocabularies. \label{sec:threefamilies}
Models come with three kinds of vocabularies, and the list of merges of this chapter is the first. They answer three questions differently. \emph{With what does encoding begin?} GPT-2 begins with bytes (\emph{byte-level} BPE), so that
nothing can be missing. But a letter that is not Latin is two or three tokens until merges have put it together, and a vocabulary that was learnt on English has spent few merges on that. Google's
SentencePiece, of \given{2018}, begins with characters. Those that are frequent enough have a token from the start; the others fall into bytes, which nothing
joins (\emph{byte fallback}). So it does better on a language that it has seen and worse on one that it has not.
@^SentencePiece@>@^byte fallback@>

\emph{Where may a token end?} A pattern knows what a word is, and its author had to know it first: GPT-2's knows the contractions of English, and only in small letters. SentencePiece was made for translation, also from languages written without
spaces, and wanted no such rules. The space is a character like others, shown as a low block, and merges with its neighbours as they do. The weakness is the first word. It has no space before it, and so would
be another token than the same word further on; so a space is put there, and taken away in the end. A program that decodes one token alone cannot know
whether to show its space; it depends on whether something comes before it.

\emph{What is written down?} GPT-2 writes down a list of merges, as we do. (In its files a space looks like a \texttt{G} with a dot above: every byte has a character that
can be seen, \cref{tokenizer-json}.) SentencePiece writes down a number for each token, and the rule that neighbours merge if together they are a token, the pair with
the best number first. The third kind is the file format of OpenAI's tiktoken. Like GPT-2 it starts from bytes and a pattern; like
SentencePiece it stores a number for each token and no merges. It is still BPE: \cref{sentencepiece} recovers the merges from the numbers, and the only news is that several merges can share a rank.
@^tiktoken@>

@ \Cref{fig:spellings} shows one sentence that is hard for all. Llama~2's vocabulary is SentencePiece's, the other three begin with bytes and differ in their patterns. All of them leave one of the two spaces to what follows. The Greek word takes nearly a token for each letter
at best; in GPT-2 the bytes of its first two letters have not even been merged. There are two ways to write \texttt{\'e}, and the sentence has both. Llama~3 joins the
combining accent to the letter that \emph{follows} it, although it belongs to the letter before: to a merge it is bytes like others. Qwen~3 brings the text into a \emph{normal
form} first, in which both letters are written in the same way, and has one token for the word; in exchange
the text that comes back is not, byte for byte, the one that went in. The last sign is a cat, too rare for all four.
@^normal form@>

\widefig{spellings}{fig:spellings}{One sentence in four published vocabularies; on the right the number of tokens. Red: tokens that are only a part of a character. The cat is U+1F408, four bytes and a token in none of the four.}{Four rows of boxes below one another, one for each of GPT-2, Llama 2, Llama 3 and Qwen 3, over the same sentence: Don't pay, two spaces, a
euro sign and \given{12345}, for, the Greek word for cat, a comma, the French word for summer with its first accent as a character of its own, and a cat. The boxes differ in the digits, the Greek letters and the accents. Bytes that are no character by themselves are tinted red: the cat in all
rows, two Greek letters and the accent in GPT-2. The numbers of tokens are between 19 and 27.}

@* Special tokens, and the interface of a tokenizer. \label{sec:tokenizer}
What is published as a tokenizer is more than a list of merges and a pattern. Some texts stand for one
id as a whole: a \emph{special token} like \mbox{\texttt{<\textbar endoftext\textbar>}}, which ends a document in GPT-2's training text.
Some tokenizers bring the text into a normal form; some put a space before it; some
put an id of their own before all others. Each of these changes ids, so
each must be done exactly as the model's makers did it, or refused with a message. A tokenizer that
is nearly right is worse than none: the model answers anyway, only a little more stupidly, and
nothing tells you why. So our tests ask for the ids that Hugging Face's library gives, text by text, for the vocabularies of GPT-2, Llama 2 and 3,
Qwen~3 and Mistral and for small ones of ours (\.{tests/suites/check\_tokenizer.c}).
@^special token@>

Special tokens steer: one ends a document, others mark whose turn it is in a conversation. What if somebody types \mbox{\texttt{<\textbar endoftext\textbar>}} into your program? In a text that comes from a user the letters must stay
letters, or the user could write what only the program should. So every call has two switches. With |parse_special| the text \mbox{\texttt{<\textbar endoftext\textbar>}} becomes the special token; without it, it stays ordinary characters. With |add_special| we also get the ids that the tokenizer's files want before and after a text.

\Cref{tokenizer} makes such a tokenizer from the parts of this chapter and many small rules. |tokenizer_open| reads one from a file or a directory, and |tokenizer_close| returns its memory. Between the two, the later chapters encode and decode; |tokenizer_decode_next| decodes one id of a text that is still being written.

\printedheader[tokenizer_open, tokenizer_encode, tokenizer_decode, tokenizer_decode_next]{tokenizer/tokenizer.h}

@* The check. \label{sec:tokenscheck}
Here is the way from a text to its ids, all of it, now that the parts have names: cut, and
encode every piece. (The text must be whole characters from
end to end; a text that may have other bytes in it is first cut into runs, \cref{sec:notutf}.)

@<From a text to its ids@>=
static bool encode(struct memory *m, const struct bpe *rules,
  const char *text, struct ids *out, struct error *why)
{
  struct bpe_work work = @[{ .cap = 0 }@];
  struct split_work cut = @[{ .m = m }@];
  struct splitter *by = splitter_open(m, split_gpt2, strlen(split_gpt2),
    false, why);
  struct pieces p;
  struct text_piece next;
  bool ok = by != NULL;
  pieces_begin(&p, by, &cut, (const unsigned char *) text, strlen(text));
  while (ok && (ok = pieces_next(&p, &next, why)) && next.n > 0)
    ok = bpe_encode(rules, m, &work, next.byte, next.n, out, why);
  split_work_free(&cut);
  splitter_close(by);
  bpe_work_free(m, &work);
  return ok;
}

@ We promised that if you encode a text and decode the ids, you get the same text, whatever the text is. Now we can prove it. The pieces, one after the other, are the text. A piece begins as its bytes, each with an id that stands for it; and a
merge puts one id in the place of two, an id that stands for the bytes of both. So at no moment, and whatever the merges are, do the ids stand for anything else.
Whether a program does what the proof says is another matter. This one learns the nine merges of the hand calculation, encodes \texttt{that}, and expands the ids again. If anything has changed, it ends with a status other than 0, and the build stops.

@c
#include <stdio.h>
#include <string.h>
#include "tokens/bpe.h"
#include "lookups/split.h"
@<From a text to its ids@>@;
@#
int main(void)
{
  static const char text[] = "the cat that sat", word[] = "that";
  struct memory m = @[{ .fail_at = 0 }@];
  struct error why = @[{ .text = "" }@];
  struct bpe_merge *merge = NULL;
  struct bpe rules = @[{ .n = 0 }@];
  struct ids list = @[{ NULL, 0, 0 }@];
  struct bytes back = @[{ NULL, 0, 0 }@];
  size_t n = 0;
  @<Learn the merges, and encode the word@>@;
  @<Print merges and ids, and expand the ids@>@;
  ok = ok && back.n == strlen(word) && memcmp(back.byte, word, back.n) == 0;
  bytes_free(&m, &back);
  ids_free(&m, &list);
  bpe_free(&m, &rules);
  bpe_forget(&m, merge);
  return ok && m.all.live == 0 ? 0 : 1;
}

@ The three steps depend on each other, and the first failure ends them, with its message in |why|.

@<Learn the merges, and encode the word@>=
bool ok = bpe_train(&m, text, strlen(text), split_gpt2, 9, &merge, &n,
  &why) && bpe_learnt(&m, &rules, merge, n, &why)
  && encode(&m, &rules, word, &list, &why);

@ Three merges to a line; then the ids of the word, and what they expand to.

@<Print merges and ids, and expand the ids@>=
for (size_t k = 0; k < n; k++) printf("%3u + %3u -> %zu%s",
  (unsigned) merge[k].left, (unsigned) merge[k].right, 256 + k,
  k % 3 == 2 ? "\n" : "     ");
printf("%s:", word);
for (size_t i = 0; ok && i < list.n; i++) {
  printf(" %u", (unsigned) list.id[i]);
  ok = bpe_spell(&m, merge, list.id[i], &back, &why);
}
printf(", and back: %.*s%s\n", (int) back.n, (char *) back.byte, why.text);

@ Pencil and program agree: \given{256} joins the bytes of \texttt a and \texttt t, and the word that was not learnt is \given{257} and \given{256}.

\checkpoint{build/out/tokens.txt}{the hand calculation, by the program}

The laboratory does the same with the page about the cat and its \val{tokens.story.merges} merges.\lab{lab:tokenscheck} It prints a space as a low line. ``The bat'' has
its \tok{The} and its \tok{at}, and a space and a \tok b that are tokens by themselves, because no word of the page begins like that.
The euro sign of the price, for which the page has no token, goes through a stream. The tests encode and decode very many strings of arbitrary bytes.

\checkpoint[19,26]{build/out/laboratory/tokens.txt}{ids from a page of three lines, a round trip, a stream}

@ What does tokenization cost? Compared with what comes, next to nothing. A byte costs a few look-ups in a table on the way to ids, and is copied once on the way back. To write one token the smallest GPT-2, as chapter~2 will
count, does \val{gpt2.head} multiplications and as many additions for the scores of its vocabulary alone. So a short encoding is
worth looking for, and the time to find it does not matter, as long as it grows with the text and not with its square. \Cref{sec:tokenspeed} has the speed in megabytes a second, beside that of other programs. A text is now a list of numbers. What does a model do with it?

@* Exercises. \label{sec:tokensexercises}
\begin{exercises}
\exercise{check}{ex:tokens.banana}{Learn from \texttt{banana bandana}, cut before the space, until no pair is left. Which rank is
the first of which the rule for ties decides, and how many merges are there?}{\texttt{make exercise-01-1}}{\tok{a}\,\tok{n}
occurs four times and has rank 0. After it \tok{b}\,\tok{an} and \tok{an}\,\tok{a} occur twice: rank 1 is a tie, and \tok b is
the smaller left id. Seven merges in all.}
\exercise{check}{ex:tokens.held}{The bytes |0xe2|, |0x82|, |0x41|, |0xf0|, |0x9f|, |0xe2| come one by one. How many are held after
each?}{\texttt{make exercise-01-2}}{1, 2, 0, 1, 2, 1: the third can never be part of the character that the first two began, so all
three go; the same happens to the fourth and the fifth when the sixth comes, which itself may begin something.}
\exercise{think}{ex:tokens.longest}{Give a text to learn from, and a word without spaces that is encoded otherwise if one always takes the longest
token that fits.}{\texttt{make exercise-01-3}}{\texttt{bc.bc.bc.ab.ab} teaches \tok{b}\,\tok{c} before \tok{a}\,\tok{b}. Then \texttt{abc} is
\tok a\,\tok{bc}; the longest token at its beginning would be \tok{ab}.}
\exercise{think}{ex:tokens.alike}{Write down merges of which two ids stand for the same bytes. Then show that a list which was \emph{learnt} has no
such two.}{\texttt{make exercise-01-4} (the list)}{\tok a\,\tok b, \tok b\,\tok c, \tok{ab}\,\tok c and \tok a\,\tok{bc} make \texttt{abc} twice. But suppose that a
learnt list has two such ids, and look at a place of the text where the first was made, just after that merge, and at a place where the second will be made later. At both places no merge so far has joined the first or the last
letter with a neighbour outside, or the id could not be made there. So the same letters went through the same merges: at each rank either both places
had the pair or neither. In a run of equal ids the merges go from left to right, and might begin outside the letters; but had they
an odd number of ids before them, one of them would have been joined across the border. So at the second place the letters are the first id already, and no later merge finds two ids there.}
\exercise{think}{ex:tokens.most}{How many merges can be learnt from one piece of $n$ bytes, at the most?}{\texttt{make
exercise-01-5}}{$n-1$: every merge shortens the piece by at least one, and one token is left in the end. A piece in which no pair ever occurs twice has
them all.}
\exercise{check}{ex:tokens.once}{A pair that occurs in the text once is not worth a token. Let the trainer stop before the first
such pair.}{\texttt{make exercise-01-6}}{In |learn|, ask for |best->count < 2| as well. Of the nine merges of the hand calculation two are left.}
\exercise{think}{ex:tokens.spell}{Write the rival: a function that encodes a text by always taking the longest token that fits. How many ids do the three lines of
news take then, and how many with the merges in their order?}{\texttt{make exercise-01-7}}{Two loops, one over the places of the text and one over the
ids. For most texts the rival is a little shorter; it is still the wrong one, since no model has ever read its encoding.}
\exercise{check}{ex:tokens.ranks}{The tokens \tok a, \tok b, \tok{ab}, \tok{bb}, \tok{abb} have the ranks 0 to 4. How many merges does that make, and how is \texttt{abbabb} encoded?}{\texttt{make
exercise-01-8}}{\tok a\,\tok b, \tok b\,\tok b, and two for the last: \tok a\,\tok{bb} and \tok{ab}\,\tok b. Both \texttt{ab} go first, and then both times \tok{ab}\,\tok b makes \tok{abb}: two tokens. \tok{bb} has no part in it.}
\exercise{think}{ex:tokens.across}{SentencePiece shows a space as a block. If a block occurs only at the beginning of tokens, we may cut a text before each block without changing its encoding (\cref{tokenizer}). Find a vocabulary, with scores, where it occurs elsewhere, and a text of three letters for which the cut
makes a difference.}{\texttt{make exercise-01-9}}{One token is enough that has a block after a letter: \texttt{a\textunderscore} in a text like \texttt{a\textunderscore b}, with a score that makes it go first. Uncut it is \texttt{a\textunderscore}\enspace\texttt b; cut before the block \texttt{a}\enspace\texttt{\textunderscore}\enspace\texttt b.}
\exercise{check}{ex:tokens.languages}{Write a program that prints, for each file that it is given, bytes per token and tokens per word, with two decimals. Use it for one page in several languages, and for vocabularies that you have. (The command \texttt{incipit tokenize --count} counts for
you.)}{\texttt{make exercise-01-10}}{A loop around |wc -c|, |wc -w| and the command. With this book's own vocabulary, learnt on English tales, English has nearly three bytes a token, German less than two, and Greek or Russian one: their words were never read, and fall apart into bytes.}
\exercise{think}{ex:tokens.smallest}{Write the function that finds the $k$ smallest of $n$ numbers, in rising order, with a heap (\cref{sec:heap}) that never holds more than
$k+1$.}{\texttt{make exercise-01-11}}{The heap has the smallest on top, and we want to throw the largest away; so each number is entered as its distance from the largest possible number. |heap_pop| takes
out the smallest of those, which is the largest of ours.}
\end{exercises}
