@i types.w
@s size_t int
@s store int
@s cache_demand int
@s cache_block int
@s prefix_entry int
@s prefix_index int
@s request int
@s request_state int
@s scheduler int
@s scheduler_options int
@s scheduler_counts int
@s generate_context int
@s generate_options int

\chapterquestion{One computer, and a whole class that wants answers from it. Do they have to queue? And does my answer change when others are served at the same time?}
@** Serving many: continuous batching, shared prefixes.
\incipit{W}{e have built} a writer for one reader. Now put it on a machine in a classroom. \given{30} students send their prompts, and the simplest thing that we can do is to serve them one after the other: the last student waits for all the others' texts. That hurts all the more as \cref{phases} has shown what the machine does meanwhile. A pass with one row reads all the weights to use each of them once. Its multipliers are idle for most of the time; a second row, or a tenth, would cost next to nothing.

So let us put the rows of other people there. That is called \emph{batching}, and a program that decides, pass by pass, whose rows are computed is a \emph{scheduler}. This chapter builds one. It is short, because the hard part has been done: \cref{loop}'s step takes a list of texts of any lengths, and \cref{cache}'s pages belong to nobody in particular.
@^scheduler@>

What we will insist on is the second half of the question. In most systems of this kind, an answer depends on who else was served in the same moment: sums are added up in another order when a batch has another size, and now and then a token comes out different. Their authors know this, and call it fundamental. It is not. Every request here gets, bit for bit, the text that it would have got alone; in any company, in any order of arrival, interrupted or not. The tests compare texts of \given{10\,000} random schedules with \texttt{==}.

@ First a schedule with a pencil. The numbers are from a tutorial.

\begin{byhand}{eight requests, four slots}
Eight requests wait. They want 10, 100, 20, 30, 50, 15, 80 and 40 tokens. Our machine has four \emph{slots}: it takes four texts one step further in each pass, for the price of one.

\emph{Static batching.} The first four go together, and when all are done the next four. The first batch takes as long as its longest text, 100 steps; the second takes 80. Together 180 steps.

How busy were the slots? They had $4\cdot180=720$ places for tokens, and $10+100+20+30+50+15+80+40=345$ tokens were written: 48 percent. More than half of the time a slot was waiting for a neighbour.

\emph{Continuous batching.} As soon as a text ends, the next request takes its slot.

\medskip
\begin{tabular}{@@{}lrrl@@{}}
\tabhead{request} & \tabhead{from} & \tabhead{to step} & \tabhead{in the slot of}\\
A (10) & 1 & 10 & \\
B (100) & 1 & 100 & \\
C (20) & 1 & 20 & \\
D (30) & 1 & 30 & \\
E (50) & 11 & 60 & A\\
F (15) & 21 & 35 & C\\
G (80) & 31 & 110 & D\\
H (40) & 36 & 75 & F
\end{tabular}
\medskip

The last text, G, ends with step 110, so $345/440$ of the places are used: 78 percent. It is not 100, because at the end nobody is left who could take a slot. And F, who wanted 15 tokens, has them after step 35 instead of step 115.
\end{byhand}

\widefig{slots}{fig:slots}{The same eight requests, as our scheduler serves them. Pale stretches are slots without a text.}{Two groups of four rows, one row for each slot, over passes. In batches, short stretches leave most of the rows empty until the longest of the batch ends, and again in the second batch. Continuously, each stretch is followed at once by another, and only at the end a slot or two stay empty.}

\Cref{fig:slots}\lab{lab:slots} has both schedules. Continuous batching is also called \emph{in-flight batching}; \cited[Yu and others 2022]{Yu 2022} had the idea of scheduling by the pass and not by the request. \Cref{sec:servingcheck} runs both schedules, and prints these numbers.
@^continuous batching@>@^static batching@>@^slot@>

@* Texts of different lengths in one pass: ragged batches. \label{sec:ragged}
What goes into such a pass? Suppose four prompts arrive, of 7, 3, 12 and 1 tokens. Many libraries want a rectangle: they make the short ones longer with \emph{padding}, tokens that mean nothing, until all have 12; then they need a mask, so that nobody attends to the padding, and a list of positions, so that the first real token still counts as the first. That is $4\cdot12=48$ rows for 23 tokens, and three lists that must agree. Forget the mask, or let positions count the pads, and the text is another one. (\Cref{sec:padding} has counted what happens then.)

Ours is a list of rows, and each row says to which text it belongs and at which position it stands. A pass with the four prompts has 23 rows, in any order. Such a batch is called \emph{ragged}. Matrices do not care whose rows they multiply; attention looks up the text of each row, and reads that text's pages and no others. There is nothing to mask, and nothing to go wrong.
@^ragged batch@>@^padding@>

So one pass may have rows of all kinds: one row of a text that is being written, twelve of a prompt, and a piece of the middle of a long prompt whose beginning was read before. The function |generate_step| of \cref{sec:generate} does exactly this. It takes the list of texts; each says by |chunk| how many rows it may have at most. What is missing is somebody who makes the list.

@* The scheduler. \label{sec:scheduler}
What should it decide? We ask five things of a pass, and the rest follows.

\emph{Nobody who is writing waits.} A text that is being written, or \emph{decodes}, has one row in every pass. A long prompt that has just arrived must not hold up the others; so it is read in pieces, beside them (\emph{chunked prefill}, \cref{sec:chunks}).

\emph{A pass is never too long.} It has at most |pass_rows| rows. That number is what everybody's next token waits for.

\emph{First come, first served.} Whoever arrives first gets a slot first, and is read first.

\emph{Memory is known before it is needed.} A text is let in when the cache has pages for all its rows. If texts grow, and pages run out nevertheless, somebody has to give way: the youngest.

\emph{Every text ends.} The oldest text is never interrupted. So it ends some day; then another one is the oldest.

@ One text that somebody waits for is a \emph{request}. Most of it is a sequence of \cref{sec:generate}. The scheduler keeps a copy of the options, because it changes the number of rows from pass to pass; the sampler behind them stays the caller's. All requests that have not ended form a line, in the order of their arrival.
@^request@>

@<A text that somebody waits for@>=
enum request_state { REQUEST_ENDED, REQUEST_WAITING, REQUEST_RUNNING };
  /* not in the line; in it without a slot; with one */
struct request {
  struct sequence q; /* the text so far, and after an end, why it ended */
  struct generate_options want; /* what the caller wants, but for rows and chunks */
  enum request_state state;
  struct prefix_place chain; /* where its newest full page is in the index */
  size_t indexed; /* so many of its pages are in the index */
  size_t found; /* rows that it had not to compute when it got its slot */
  size_t preempted; /* how often it has lost its slot */
  struct request *next; /* the one that came after it */
};
  /* a text that somebody waits for; zero: none */

@ What a scheduler is told when it is opened, and what it counts. The cache has one sequence for each slot, and a slot is a number of a sequence.

@<What a scheduler is told, and what it counts@>=
struct scheduler_options {
  size_t pass_rows; /* the most rows in a pass, at least one for each slot; 0: 256 */
  bool share; /* keep full pages, and find them again by their tokens */
  bool in_batches; /* nobody is let in before all have ended: static batching */
};
  /* how to serve; zero is the usual choice everywhere */
struct scheduler_counts {
  uint64_t passes, rows; /* computed */
  uint64_t slots_used; /* slots with a row, summed over passes */
  uint64_t found; /* rows that were not computed, because the index had them */
  uint64_t preempted; /* slots taken away */
};
  /* what was done since the scheduler was opened */

@ These, and the functions that follow, make the header.

@(scheduler.h@>=
#ifndef INCIPIT_SCHEDULER_H
#define INCIPIT_SCHEDULER_H
#include "loop/generate.h"
#include "serving/prefix.h"
@<A text that somebody waits for@>@;
@<What a scheduler is told, and what it counts@>@;
@<What a scheduler does@>@;
#endif

@ The caller owns its requests, and may look at them between two steps: new tokens are at the end of |q.c.text|. One |scheduler_step| is one pass. (Who wants to be told of each token sets |on_step| in the options, as everywhere.)

@<What a scheduler does@>=
struct scheduler {
  struct generate_context g; /* the model, and a cache with a sequence for each slot */
  struct scheduler_options w;
  struct request *line; /* all that have not ended, in the order of arrival */
  bool *taken; /* [slots] */
  struct sequence **list; /* [slots]: those that have rows in the next pass */
  struct cache_demand *demand; /* [slots]: their rows */
  float *logits; /* [slots][vocab] */
  struct prefix_index index;
  uint32_t limit; /* slots that may be used: fewer after memory was refused */
  struct scheduler_counts counts;
};
  /* requests, and a cache with a slot for some of them; only |counts| is for others to read */
bool scheduler_open(struct scheduler *s, const struct generate_context *g,
  const struct scheduler_options *w, struct error *why);
  /* |g->s| must be a cache; all four are borrowed. Errors: fewer rows in a pass than slots, memory */
bool scheduler_submit(struct scheduler *s, struct request *r, const uint32_t *prompt,
  size_t n, const struct generate_options *want, struct error *why);
  /* puts a text at the end of the line; errors: those of |sequence_open|. Then |r| is empty */
bool scheduler_step(struct scheduler *s, struct error *why);
  /* one pass; false and a sentence if it was cancelled. What is wrong with one text ends that text, with
     |FINISH_ERROR| */
void scheduler_cancel(struct scheduler *s, struct request *r);
  /* ends a text with |FINISH_CANCELLED| if it has not ended */
void request_close(struct scheduler *s, struct request *r);
  /* cancels, and frees the text */
bool scheduler_idle(const struct scheduler *s);
  /* is the line empty? */
void scheduler_close(struct scheduler *s);
  /* cancels all texts, which stay their callers', and returns the memory; the cache is empty then */

@* One step. \label{sec:schedulerstep}
A step lets in who may come in, makes the list, sees that there are pages for it, and calls |generate_step|. Afterwards, those that have ended leave.

@<Take all texts one step further@>=
bool scheduler_step(struct scheduler *s, struct error *why)
{
  let_in(s);
  size_t n = plan_pass(s);
  while (n > 0 && !cache_fits(s->g.s, s->demand, n) && make_room(s))
    n = plan_pass(s);
  if (n == 0) return true;
  if (!generate_step(&s->g, s->list, n, s->logits, why))
    return pass_refused(s, n, why);
  count_pass(s, n);
  if (s->limit < s->g.s->n_sequences) s->limit++;
  for (struct request *r = s->line, *next; r != NULL; r = next) {
    next = r->next;
    if (r->state == REQUEST_RUNNING) index_new_pages(s, r);
    if (r->q.c.ended != FINISH_NONE) request_leave(s, r);
  }
  return true;
}

@ How many rows does a text still have to read? All that the cache does not have of it, and the last one in any case, since the next token is chosen by its logits. A text that is being written has to read one: the token that was chosen in the pass before.

@<Plan a pass@>=
/* the rows that a text in a slot has to read before its next token */
static size_t rows_to_read(const struct scheduler *s, const struct request *r)
{
  size_t n = r->q.c.text.n, stored = store_length(s->g.s, r->q.c.sequence);
  return stored < n ? n - stored : 1;
}

@ The plan has two rounds. In the first, every text that is one row away from its next token gets this row. There are never more such texts than slots, and |pass_rows| is at least as large; so nobody is left out. In the second round, those who still read their prompts get what is left, in the order of their arrival. Who gets nothing waits for the next pass; and since older texts come first, each will be the first some day.

@<Plan a pass@>=
static void plan_text(struct scheduler *s, struct request *r, size_t rows, size_t *n)
{
  r->want.chunk = rows;
  s->list[*n] = &r->q;
  s->demand[*n] = (struct cache_demand) @[{ r->q.c.sequence, rows }@];
  ++*n;
}
static size_t plan_pass(struct scheduler *s)
{
  size_t n = 0, left = s->w.pass_rows;
  for (struct request *r = s->line; r != NULL; r = r->next)
    if (r->state == REQUEST_RUNNING && rows_to_read(s, r) == 1)
      plan_text(s, r, 1, &n), left--;
  for (struct request *r = s->line; r != NULL && left > 0; r = r->next) {
    size_t rows = r->state == REQUEST_RUNNING ? rows_to_read(s, r) : 0;
    if (rows <= 1) continue;
    if (rows > left) rows = left;
    plan_text(s, r, rows, &n), left -= rows;
  }
  return n;
}

@ The counters of the pass say how well the slots were used: |slots_used|, divided by the number of passes and of slots, is the share of the hand calculation.

@<Plan a pass@>=
static void count_pass(struct scheduler *s, size_t n)
{
  s->counts.passes++;
  s->counts.slots_used += n;
  for (size_t i = 0; i < n; i++) s->counts.rows += s->demand[i].rows;
}

@* Who is let in. \label{sec:admission}
A request is let in when a slot is free and the cache has room for its rows. For all of them, not only for the first piece: a text that is let in and then finds no pages has done work for nothing. And the texts that are in already will grow; so we ask for one page more for each of them. If the first in the line cannot come in, nobody else does, even if there were room for a small one. That is what \emph{first come, first served} means; otherwise, a stream of small requests would keep a large one out for ever.

@<Let requests in@>=
/* would all texts in slots, and this one, have pages for what they have to read, and one page to grow? */
static bool room_for(struct scheduler *s, const struct request *r)
{
  size_t n = 0;
  for (const struct request *a = s->line; a != NULL; a = a->next)
    if (a == r || a->state == REQUEST_RUNNING)
      s->demand[n++] = (struct cache_demand) @[{ a->q.c.sequence,
        rows_to_read(s, a) + (a == r ? 0 : s->index.page_rows) }@];
  return cache_fits(s->g.s, s->demand, n);
}

@ Pages that the index keeps for nobody give way first. A request that finds itself alone is always let in: a text that can never fit is refused when it is submitted, so it will fit once the index has given up its pages.

@<Let requests in@>=
/* with a slot and the rows that others have computed; false, and as before, if there is no room */
static bool admit(struct scheduler *s, struct request *r, uint32_t slot, bool alone)
{
  r->q.c.sequence = slot;
  r->indexed = prefix_adopt(&s->index, slot, r->q.c.text.id, r->q.c.text.n, &r->chain);
  while (!room_for(s, r) && prefix_evict(&s->index, false)) continue;
  if (!alone && !room_for(s, r)) {
    store_crop(s->g.s, slot, 0);
    return false;
  }
  size_t all = r->q.c.text.n - 1, has = store_length(s->g.s, slot);
  r->found = has < all ? has : all;
  s->counts.found += r->found;
  s->taken[slot] = true;
  r->state = REQUEST_RUNNING;
  return true;
}

@ |limit| is the number of slots, except after a pass for which the system has refused memory (\cref{sec:preempt}).

@<Let requests in@>=
static void let_in(struct scheduler *s)
{
  uint32_t running = 0, slot = 0;
  for (struct request *r = s->line; r != NULL; r = r->next)
    running += r->state == REQUEST_RUNNING;
  bool closed = s->w.in_batches && running > 0;
  for (struct request *r = s->line; r != NULL && !closed && running < s->limit; r = r->next) {
    if (r->state == REQUEST_RUNNING) continue;
    while (s->taken[slot]) slot++;
    if (!admit(s, r, slot, running == 0)) return;
    running++;
  }
}

@* When pages run out: preemption. \label{sec:preempt}
Texts grow, and nobody knows how long they will be. Sooner or later a pass wants a page and there is none. What then? There are four ways, and each is in use somewhere.

\emph{Refuse} the text that wants the page: its reader sees an error after half an answer. \emph{Reserve} pages for the longest text that each request may become: nothing ever runs out, and most of the memory is never used. \emph{Swap}: copy the pages of one text to a larger memory, and back later. \emph{Preempt and recompute}: take the slot and the pages of one text, and read its tokens again when there is room. On a processor, where the cache lies in the largest memory there is, swapping has no place to go to. So we recompute. It costs the rows of that text a second time; not its tokens, which are not chosen again.
@^preemption@>@^swapping@>

@ Whom do we take? The youngest, since it has the least to lose. First of all, though, pages that the index keeps for nobody. The oldest text keeps its slot in any case; if it is alone, and there is still no room, then pages of its own that the index holds as well are in the way of a copy, and the index lets go of them.

@<Make room@>=
/* takes a slot away; the text, and the state of its sampler, stay as they are, and it keeps its place in the line */
static void preempt(struct scheduler *s, struct request *r)
{
  store_crop(s->g.s, r->q.c.sequence, 0);
  s->taken[r->q.c.sequence] = false;
  r->state = REQUEST_WAITING;
  r->preempted++;
  s->counts.preempted++;
}
static bool make_room(struct scheduler *s)
{
  struct request *oldest = NULL, *youngest = NULL;
  if (prefix_evict(&s->index, false)) return true;
  for (struct request *r = s->line; r != NULL; r = r->next)
    if (r->state == REQUEST_RUNNING) {
      if (oldest == NULL) oldest = r;
      youngest = r;
    }
  if (youngest == oldest) return prefix_evict(&s->index, true);
  preempt(s, youngest);
  return true;
}

@ Does anything change for the text that was interrupted? Its tokens so far are still there, and nobody takes them back. When it gets a slot again, it reads them all, like a prompt: the same rows, with the same bits. Then comes the next choice. The noise of the sampler depends on the seed, the text's number and the position (\cref{sec:philox}), not on the clock and not on how often somebody asked. So the next token is the one that it would have been. The reader notices a pause.

Could a text wait for ever? That is called \emph{starvation}. And could it go on for ever that two texts take each other's slots? The one that was preempted is let in only if there is room for all its rows and for a page more of everybody else. So between two preemptions, someone has grown by a page. And the oldest text has never lost its slot: it ends, and there is one less.
@^starvation@>

@ A pass can also fail for another reason: the system refuses memory. Then nobody has lost anything (\cref{sec:generate}); the step may be tried again with one text fewer. If it fails with a single text, this text is the one for which there is no memory, and it ends with the reason. Only a pass that was cancelled from outside is no fault of any text.

@<Make room@>=
static bool pass_refused(struct scheduler *s, size_t n, struct error *why)
{
  struct request *youngest = s->line;
  if (progress_cancelled(s->g.e->progress)) return false;
  for (struct request *r = s->line; r != NULL; r = r->next)
    if (r->state == REQUEST_RUNNING) youngest = r;
  if (n > 1) {
    preempt(s, youngest);
    s->limit = (uint32_t) n - 1;
    return true;
  }
  for (struct request *r = s->line; r != NULL; r = r->next)
    if (&r->q == s->list[0]) youngest = r;
  youngest->q.why = *why;
  youngest->q.c.ended = FINISH_ERROR;
  request_leave(s, youngest);
  return true;
}

@* Shared prefixes. \label{sec:prefixindex}
A whole class uses the same program, and the program puts the same page of instructions before every question. The keys and values of these tokens are the same for everybody. Why? By \cref{sec:causal}, a row depends on the tokens up to its own and on nothing else. So if two prompts begin with the same tokens, they have the same first rows, to the last bit, and the second may use the pages of the first.
@^prefix sharing@>

What we need is an index that says: \emph{these tokens, after those, are in that page}. Think of a tree. Below its root are the first pages of texts; below each page those that came after it. To look a prompt up, we walk down from the root, a page of tokens at a time, until there is no branch with the next tokens.

\widefig{prefixtree}{fig:prefixtree}{Three prompts that begin alike, in pages of four tokens. The pages of the common beginning exist once.}{A tree of boxes, each a page with four words. The root's only child is shared by all three prompts, the next is shared by two of them, and each prompt ends in a branch of its own.}

@ The branches of all nodes are in one hash table: its key is the number of the parent and the page's tokens. A hash says only where to look. Two different pages may have the same one, and then a system that trusts its hashes gives a reader the memory of somebody else's text. Such systems exist. Ours compares the tokens, every one; and since the parent was found in the same way, the whole beginning has been compared.
@^hash@>

@<The pages that are known by their tokens@>=
struct prefix_place { uint32_t entry; uint64_t born; };
  /* an entry, and when it was made: an entry's number may be used again; zero: the root */
struct prefix_entry {
  uint64_t born; /* 0: it is free */
  uint32_t parent; /* the entry of the page before it; 0: it is a first page */
  uint32_t next; /* in the same bucket, or in the list of free entries */
  uint32_t children; /* entries whose parent it is */
  uint64_t used; /* when it was last adopted or made */
  struct cache_block block; /* holds a reference to each of its pages */
};
  /* a full page, which is known by its tokens and by what comes before it */
struct prefix_index {
  struct store *s; /* a cache; null if nothing is to be shared */
  struct memory *m;
  size_t page_rows, n, cap; /* entries from 1 to |n-1| have been used; entry 0 is the root */
  struct prefix_entry *entry; /* [cap] */
  uint32_t *token; /* [cap] pages */
  uint32_t *bucket; /* [cap]: the first entry of each, 0: none */
  uint32_t free; /* the first free entry, 0: none */
  size_t kept; /* entries in use */
  uint64_t clock;
};
  /* the tree of all pages that are known */

@ The functions. None of them fails: an index that finds no memory for another entry does not have this entry, and some rows are computed again.

@(prefix.h@>=
#ifndef INCIPIT_PREFIX_H
#define INCIPIT_PREFIX_H
#include "cache/share.h"
@<The pages that are known by their tokens@>@;
bool prefix_open(struct prefix_index *x, struct store *s, struct memory *m,
  struct error *why);
  /* an empty index of the pages of |s|, or, if that is null, one that finds nothing */
size_t prefix_adopt(struct prefix_index *x, uint32_t sequence, const uint32_t *id,
  size_t n, struct prefix_place *last);
  /* gives the empty sequence all pages that are known to begin the text |id[n]|; returns how many, and where the last one is */
struct prefix_place prefix_add(struct prefix_index *x, struct prefix_place after,
  const uint32_t *token, uint32_t sequence, size_t i);
  /* the place of page |i| of the sequence, which has |token[page_rows]| and comes after another; zero if it cannot be had */
bool prefix_evict(struct prefix_index *x, bool in_use);
  /* gives up the entry without children that was not used for the longest time; only one whose pages nobody else has, or any; false: there is none */
void prefix_close(struct prefix_index *x);
  /* gives up all entries, and the memory */
#endif

@ The hash mixes the parent's number and the tokens. It is chosen for speed; a reader who sends prompts that collide makes only the index slow, and never wrong.

@<Find a page by its tokens@>=
static size_t bucket_of(const struct prefix_index *x, uint32_t parent, const uint32_t *token)
{
  uint64_t h = parent;
  for (size_t i = 0; i < x->page_rows; i++)
    h = (h ^ token[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
  return (size_t) (h % x->cap);
}
static uint32_t find_page(const struct prefix_index *x, uint32_t parent,
  const uint32_t *token)
{
  uint32_t i = x->bucket[bucket_of(x, parent, token)];
  while (i != 0 && (x->entry[i].parent != parent
      || memcmp(x->token + i * x->page_rows, token, x->page_rows * sizeof *token) != 0))
    i = x->entry[i].next;
  return i;
}

@ Adopting walks down the tree. Afterwards the clock is set, from the last page up to the first: so a page was never used less recently than one that comes after it, and the page that is given up first is a leaf.

@<Adopt the pages of a known beginning@>=
size_t prefix_adopt(struct prefix_index *x, uint32_t sequence, const uint32_t *id,
  size_t n, struct prefix_place *last)
{
  size_t pages = 0;
  uint32_t at = 0;
  struct error why;
  for (; x->s != NULL && (pages + 1) * x->page_rows <= n; pages++) {
    const uint32_t *token = id + pages * x->page_rows;
    uint32_t i = find_page(x, at, token);
    if (i == 0 || !cache_adopt(x->s, sequence, &x->entry[i].block, token, &why)) break;
    at = i;
  }
  *last = (struct prefix_place) @[{ at, at == 0 ? 0 : x->entry[at].born }@];
  for (; at != 0; at = x->entry[at].parent) x->entry[at].used = ++x->clock;
  return pages;
}

@ If the whole prompt is known, all its rows are there, and the logits of the last one are not. The text must read its last token once more: |rows_to_read| gives 1, and |store_match_prefix| takes one row back. That row is in a page that others have, so the pass copies the page before it writes (\cref{sec:pages}). A prompt that is known from beginning to end costs one row.

@ A new entry takes a reference to its pages, as a block table would. If another text has brought the same tokens in the meantime, its entry stays, and ours goes on after that one: the rows are the same. But then a text may go on after an entry that it does not hold a page of. When the entry is given up, its number may be used again for quite another page, and a child of it would be found after the wrong beginning. So a place has the time of its entry's birth as well, and is of no use when that is another.

@<Add a page@>=
struct prefix_place prefix_add(struct prefix_index *x, struct prefix_place after,
  const uint32_t *token, uint32_t sequence, size_t i)
{
  struct cache_block block;
  struct prefix_place none = @[{ 0, 0 }@];
  if (x->s == NULL || (after.entry != 0 && x->entry[after.entry].born != after.born))
    return none;
  uint32_t e = find_page(x, after.entry, token);
  if (e == 0) {
    if (!cache_block_of(x->s, sequence, i, &block) || (e = new_entry(x)) == 0) return none;
    x->entry[e] = (struct prefix_entry) @[{ .born = ++x->clock, .parent = after.entry,
      .block = block }@];
    memcpy(x->token + e * x->page_rows, token, x->page_rows * sizeof *token);
    cache_block_hold(x->s, &block);
    x->entry[after.entry].children++;
    enter(x, e);
    x->kept++;
  }
  x->entry[e].used = ++x->clock;
  return (struct prefix_place) @[{ e, x->entry[e].born }@];
}

@ The arrays double when they are full. The number of buckets is that of the entries, so all entries must then be entered anew.

@<Have one more entry@>=
static void enter(struct prefix_index *x, uint32_t e)
{
  size_t b = bucket_of(x, x->entry[e].parent, x->token + e * x->page_rows);
  x->entry[e].next = x->bucket[b];
  x->bucket[b] = e;
}
static bool more_entries(struct prefix_index *x)
{
  struct error why;
  size_t cap = x->cap == 0 ? 64 : 2 * x->cap;
  void *entry = memory_resize(x->m, MEMORY_OTHER, x->entry, cap, sizeof *x->entry, &why);
  if (entry != NULL) x->entry = entry;
  void *token = entry == NULL ? NULL : memory_resize(x->m, MEMORY_TOKENS, x->token,
    cap * x->page_rows, sizeof *x->token, &why);
  if (token != NULL) x->token = token;
  void *bucket = token == NULL ? NULL : memory_resize(x->m, MEMORY_OTHER, x->bucket, cap,
    sizeof *x->bucket, &why);
  if (bucket == NULL) return false;
  x->bucket = bucket, x->cap = cap;
  memset(x->bucket, 0, cap * sizeof *x->bucket);
  for (uint32_t i = 1; i < x->n; i++) enter(x, i);
  return true;
}
static uint32_t new_entry(struct prefix_index *x)
{
  uint32_t e = x->free;
  if (e != 0) x->free = x->entry[e].next;
  else if (x->n < x->cap || more_entries(x)) e = (uint32_t) x->n++;
  return e;
}

@ The scheduler brings each page to the index in the pass that has filled it. So a text that arrives while the first one is still reading its prompt finds the part that was read. |chain| is the entry of the newest page; if the index has no memory, the chain ends, and so does the sharing of this text.

@<Bring new pages to the index@>=
static void index_new_pages(struct scheduler *s, struct request *r)
{
  size_t rows = s->index.page_rows, n = store_length(s->g.s, r->q.c.sequence) / rows;
  while (s->index.s != NULL && r->indexed < n) {
    if (r->indexed > 0 && r->chain.entry == 0) return;
    r->chain = prefix_add(&s->index, r->chain, r->q.c.text.id + r->indexed * rows,
      r->q.c.sequence, r->indexed);
    r->indexed++;
  }
}

@ Giving up the least recently used entry keeps what is asked for often. An entry with children stays, because a child cannot be found without it. The search goes through all entries; there are as many as pages in the cache, and it is done once for each page that runs short.
@^least recently used@>

@<Give up a page@>=
static void drop_entry(struct prefix_index *x, uint32_t i)
{
  uint32_t *at = &x->bucket[bucket_of(x, x->entry[i].parent, x->token + i * x->page_rows)];
  while (*at != i) at = &x->entry[*at].next;
  *at = x->entry[i].next;
  cache_block_release(x->s, &x->entry[i].block);
  x->entry[x->entry[i].parent].children--;
  x->entry[i].next = x->free;
  x->entry[i].born = 0;
  x->free = i;
  x->kept--;
}
bool prefix_evict(struct prefix_index *x, bool in_use)
{
  uint32_t oldest = 0;
  for (uint32_t i = 1; i < x->n; i++) {
    const struct prefix_entry *e = &x->entry[i];
    if (e->born == 0 || e->children > 0) continue;
    if (!in_use && cache_block_in_use(x->s, &e->block)) continue;
    if (oldest == 0 || e->used < x->entry[oldest].used) oldest = i;
  }
  if (oldest != 0) drop_entry(x, oldest);
  return oldest != 0;
}

@ One file has the index, and says why it may trust what it finds.

@(prefix.c@>=
/** The index of prefixes: which full pages of a cache have which tokens after which others.

   A page is found by its parent and its tokens, and tokens are compared, so what is found has the
   very rows that a pass would compute. An entry holds a reference to its pages; nobody writes to a
   page that has two. The number of an entry is used again after it was given up, and a place
   that remembers one has to compare its birth. */
#include <string.h>
#include "serving/prefix.h"
@;@#
@<Find a page by its tokens@>@;
@<Adopt the pages of a known beginning@>@;
@<Have one more entry@>@;
@<Add a page@>@;
@<Give up a page@>@;

@ And one has the scheduler. Opening, submitting, cancelling and closing are in \.{unwoven/serving/open.c}.

@(scheduler.c@>=
/** The scheduler: whose rows are computed in the next pass.

   Between steps each request of the line waits, without rows in the cache, or runs, in a slot of
   its own; the line is in order of arrival, always. Three things are promised. The oldest that
   runs is never preempted, so every text ends. A text that is one row away from its next token
   has this row in every pass. And no decision here is seen in a text: a token depends on the
   rows before it and on its position, never on the pass. */
#include "cache/keep.h"
#include "serving/inside.h"
@;@#
@<Plan a pass@>@;
@<Let requests in@>@;
@<Leave@>@;
@<Make room@>@;
@<Bring new pages to the index@>@;
@<Take all texts one step further@>@;

@ Whoever ends gives back the slot. Its full pages stay in the index.

@<Leave@>=
void request_leave(struct scheduler *s, struct request *r)
{
  struct request **at = &s->line;
  if (r->state == REQUEST_RUNNING) {
    store_crop(s->g.s, r->q.c.sequence, 0);
    s->taken[r->q.c.sequence] = false;
  }
  r->state = REQUEST_ENDED;
  while (*at != r) at = &(*at)->next;
  *at = r->next;
}

@* The check, and what the tutorials say. \label{sec:servingcheck}
The chapter's program serves the eight requests of the hand calculation three times with the built-in model: in batches, continuously, and continuously with a cache so small that texts have to give way. It counts passes and used slots. And it compares all texts with those that the model writes when each request is alone.

@<Eight requests@>=
enum { REQUESTS = 8, SLOTS = 4 };
static const size_t wanted[REQUESTS] = @[{ 10, 100, 20, 30, 50, 15, 80, 40 }@];
struct house { struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm;@+ struct tokenizer *t;@+ struct ids prompt[REQUESTS];
  struct continuation alone[REQUESTS]; };
static bool house_open(struct house *h, struct error *why)
{
  static const char *const begins[REQUESTS] = @[{ "The cat sat", "The owl", "A", "The harvest",@|
    "In the village", "The dog", "Once", "The king" }@];
  static const char pocket[] = "models/pocket";
  bool ok = true;
  h->e = (struct engine) @[{ .k = kernels_find(NULL, why), .c = &h->c }@];
  if (h->e.k == NULL || (h->lm = model_open(&h->m, pocket, why)) == NULL
      || (h->t = tokenizer_open(&h->m, pocket, why)) == NULL) return false;
  for (size_t i = 0; ok && i < REQUESTS; i++)
    ok = tokenizer_encode(h->t, &h->m, begins[i], strlen(begins[i]), false, false,@|
      &h->prompt[i], why);
  return ok;
}

@ Alone, each request is written by |generate|, in a cache of its own. An end token does not count here, so that the lengths are those of the hand calculation.

@<Eight requests@>=
static bool write_alone(struct house *h, struct error *why)
{
  struct cache_options usual = @[{ .rows = 0 }@];
  struct store *s = cache_open(&h->m, &h->lm->config, 1, &usual, why);
  bool ok = s != NULL;
  for (size_t i = 0; ok && i < REQUESTS; i++) {
    struct generate_context g = @[{ &h->e, h->lm, s, &h->m }@];
    struct generate_options want = @[{ .max_new_tokens = wanted[i],@|
      .recall = store_match_prefix }@];
    ok = generate(&g, h->prompt[i].id, h->prompt[i].n, &want, &h->alone[i], why);
  }
  store_close(s);
  return ok;
}

@ Together, all are submitted at once, and the scheduler steps until nobody is left.

@<Serve them together@>=
static bool serve(struct house *h, const struct scheduler_options *w, size_t rows,
  struct scheduler_counts *counts, size_t *same, struct error *why)
{
  struct cache_options size = @[{ .rows = rows, .page_rows = 16 }@];
  struct request r[REQUESTS] = @[{ { .state = REQUEST_ENDED } }@];
  struct scheduler s;
  struct store *cache = cache_open(&h->m, &h->lm->config, SLOTS, &size, why);
  struct generate_context g = @[{ &h->e, h->lm, cache, &h->m }@];
  bool open = cache != NULL && scheduler_open(&s, &g, w, why), ok = open;
  for (size_t i = 0; ok && i < REQUESTS; i++) {
    struct generate_options want = @[{ .max_new_tokens = wanted[i] }@];
    ok = scheduler_submit(&s, &r[i], h->prompt[i].id, h->prompt[i].n, &want, why);
  }
  while (ok && !scheduler_idle(&s)) ok = scheduler_step(&s, why);
  for (size_t i = 0; open && i < REQUESTS; i++) {
    const struct ids *a = &r[i].q.c.text, *b = &h->alone[i].text;
    *same += ok && a->n == b->n && memcmp(a->id, b->id, a->n * sizeof *a->id) == 0;
    request_close(&s, &r[i]);
  }
  if (open) *counts = s.counts, scheduler_close(&s);
  store_close(cache);
  return ok;
}

@ Each line of the output has one way of serving: passes, the share of slots that were used, rows computed, and slots taken away.

@<Serve them together@>=
static bool print_ways(struct house *h, struct error *why)
{
  static const struct { const char *name;@+ struct scheduler_options w;@+ size_t rows; } way[] = @[{@|
    { "in batches", { .in_batches = true }, 0 }, { "continuously", { .share = false }, 0 },@|
    { "in 160 rows", { .share = true }, 160 } }@];
  size_t same = 0;
  printf("              passes  slots used  rows  preempted\n");
  for (size_t i = 0; i < 3; i++) {
    struct scheduler_counts c;
    if (!serve(h, &way[i].w, way[i].rows, &c, &same, why)) return false;
    printf("%-13s %6" PRIu64 "  %8.1f %%  %4" PRIu64 "  %9" PRIu64 "\n", way[i].name,
      c.passes, 100.0 * (double) c.slots_used / (double) (SLOTS * c.passes), c.rows,
      c.preempted);
  }
  printf("%zu of %d texts are those of a request alone\n", same, 3 * REQUESTS);
  return true;
}

@ The class of \cref{sec:prefixindex} is the second experiment. A prompt of a common beginning of \given{64} tokens and one more token of its own comes \given{100} times, and asks for one token.

@<Serve a class@>=
static bool print_class(struct house *h, struct error *why)
{
  struct cache_options size = @[{ .page_rows = 16, .rows = 1024 }@];
  struct scheduler s;
  struct store *cache = cache_open(&h->m, &h->lm->config, SLOTS, &size, why);
  struct generate_context g = @[{ &h->e, h->lm, cache, &h->m }@];
  struct scheduler_options w = @[{ .share = true }@];
  bool ok = cache != NULL && scheduler_open(&s, &g, &w, why);
  for (uint32_t i = 0; ok && i < 100; i++) {
    struct request r;
    struct generate_options want = @[{ .max_new_tokens = 1 }@];
    uint32_t text[65];
    memcpy(text, h->alone[1].text.id, 64 * sizeof *text);
    text[64] = i;
    ok = scheduler_submit(&s, &r, text, 65, &want, why);
    while (ok && !scheduler_idle(&s)) ok = scheduler_step(&s, why);
    request_close(&s, &r);
  }
  if (ok) printf("100 prompts of 65 tokens: %" PRIu64 " rows computed, %" PRIu64@|
    " found\n", s.counts.rows, s.counts.found);
  if (cache != NULL) scheduler_close(&s);
  store_close(cache);
  return ok;
}

@ The program.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "serving/scheduler.h"
@;@#
@<Eight requests@>@;
@<Serve them together@>@;
@<Serve a class@>@;
@#
int main(void)
{
  static struct house h;
  struct error why;
  bool ok = house_open(&h, &why) && write_alone(&h, &why) && print_ways(&h, &why)
    && print_class(&h, &why);
  for (size_t i = 0; i < REQUESTS; i++)
    ids_free(&h.m, &h.prompt[i]), continuation_free(&h.m, &h.alone[i]);
  tokenizer_close(&h.m, h.t), model_close(&h.m, h.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The first two lines are those of the pencil. In the third, texts lose their slots and are read again, and still come out the same. The class costs the common beginning once, and one row for each of its prompts.

\widecheckpoint{build/out/serving.txt}{eight requests served in three ways, and a class with one beginning}

@ The last text of the pencil's schedule ends with pass \val{serving.passes.continuous}, and that is not the least that is possible. If we knew beforehand how long the texts will be, and took the longest first, \val{serving.passes.longest} passes would do. But nobody knows it, and the mean time until a text is there would be longer: \val[0]{serving.wait.longest} passes instead of \val[0]{serving.wait.continuous}. (In batches it is \val[0]{serving.wait.static}.)

\claim{S2-86}

@* Exercises. \label{sec:servingexercises}
Each exercise names the command that checks your answer.

\begin{exercises}
\exercise{check}{ex:serving.padding}{Four prompts have 5, \given{120}, \given{30} and \given{77} tokens. How many rows has the rectangle that padding makes of them, and how many has a ragged batch?}{\texttt{make exercise-12-1}}{\given{480} and \given{232}: four times the longest, and the sum.}
\exercise{check}{ex:serving.shortest}{The eight requests of the hand calculation come in the order of their lengths, the shortest first. How many passes does the scheduler need, and in how many passes altogether do the eight texts wait for their ends (the sum of the numbers of their last passes)?}{\texttt{make exercise-12-2}}{\given{130} and \given{420}. The mean wait is shorter than in any other order, and the longest text is left alone at the end.}
\exercise{think}{ex:serving.shared}{Pages have 16 rows. \given{40} requests come one after the other, each with the same \given{70} tokens and then 5 of its own, and ask for one token. How many rows are computed?}{\texttt{make exercise-12-3}}{\given{504}. The first computes 75 rows. The others find four full pages, 64 rows, and compute 11 each; the last six of the common tokens are in a page that is not full, and such pages are not in the index.}
\end{exercises}
