@i types.w
@s cache_options int
@s cache_state int

\chapterquestion{The model has read this text a moment ago. Why must it read it again?}
@** The KV cache: keep, page, fork, crop.
\incipit{I}{t must not.} Chapter 3's loop has six steps, and the first of them is to forget. Nothing that it forgets has changed when it is
computed again; that was proved, and tested to the last bit. So the cure is to leave the first step out. The keys and values of all earlier
positions stay in the store, each pass has one row, the newest, and what comes out is the same: the same tokens, and under them the same logits, bit for bit; and to write $10^3$ tokens takes less than a hundredth of the time. What stays in the store from step to step is called the \emph{KV cache}.
@^KV cache@>

The change is one line. It costs memory, a great deal of it for a long text, and it brings questions that the naive loop did not have. What exactly is in there after so many steps?
Who writes first, and who reads? What if two texts begin alike, or one is taken back a few tokens and goes on differently? It is easy to be off by one in answering such questions, and the sources that we ran are.

\begin{byhand}{three given, four to write, and nothing forgotten}
\tok{The}\tok{\ cat}\tok{\ sat} are given; \gen{\ on}\gen{\ the}\gen{\ mat}\gen{.} are written. Each pass computes the rows
that the store does not have.

\medskip
\begin{tabular}{@@{}llrr@@{}}
\tabhead{pass} & \tabhead{reads positions} & \tabhead{rows} & \tabhead{in the store then}\\
1, writes \gen{\ on} & 0 1 2 & 3 & 3\\
2, writes \gen{\ the} & 3 & 1 & 4\\
3, writes \gen{\ mat} & 4 & 1 & 5\\
4, writes \gen{.} & 5 & 1 & 6
\end{tabular}
\medskip

In all $3+1+1+1=6$ rows, where chapter 3 has 18. The store has $3$, $4$, $5$ and at last $6$ rows, for a text of $3+4=7$ tokens: always one fewer than the
text, as nobody has read the newest token yet. And how many of the six are read again by a later pass? Row 0, 1 and 2 by three passes, row 3 by two, row 4 by one, row 5 by none: $5$ rows.
\end{byhand}

@ The chapter makes a module, |cache.h| and |cache.c|: a store that holds many texts, and lets two of them share what they have in common. The loop is chapter 3's. The
program writes the same text twice, with and without a memory, and compares every number that comes out; it looks at the cache before and after a step; and it forks a text, until the cache is full. Everything else that is measured here is measured in \cref{lab:cache}, and a note in the margin says where.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "loop/generate.h"
#include "cache/cache.h"
@;@#
@<A model and the sentence that it writes@>@;
@<Write the text twice, and compare@>@;
@<Show what a step adds to the cache@>@;
@<Show what a fork costs@>@;
int main(void)
{
  static struct writer w;
  struct error why;
  bool ok = writer_open(&w, &why) && print_twice(&w, &why)
    && print_step(&w, &why) && print_fork(&w, &why);
  ids_free(&w.m, &w.sentence), tokenizer_close(&w.m, w.t);
  model_close(&w.m, w.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The writer is the built-in model of \.{models/pocket}. It knows the sentence of chapter 3; here are the ids that its tokenizer has for the seven words.

@<A model and the sentence that it writes@>=
struct writer { struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm;@+ struct tokenizer *t;@+ struct ids sentence; };
static bool writer_open(struct writer *w, struct error *why)
{
  static const char text[] = "The cat sat on the mat.", pocket[] = "models/pocket";
  w->e = (struct engine) @[{ .k = kernels_find(NULL, why), .c = &w->c }@];
  return w->e.k != NULL && (w->lm = model_open(&w->m, pocket, why)) != NULL
    && (w->t = tokenizer_open(&w->m, pocket, why)) != NULL
    && tokenizer_encode(w->t, &w->m, text, strlen(text), false, false,
      &w->sentence, why);
}

@* The line that changes. \label{sec:line}
Chapter 3's loop (\cref{sec:generate}) forgets, makes rows for the tokens that the store does not have, runs them and scores what may follow, selects, appends, and asks whether to stop. Its first step is the line

\smallskip
\hskip 2em|if (want->recall == NULL)|\hfil\break
\null\hskip 4em|store_crop(g->s, q->c.sequence, q->first);|
\smallskip

\noindent where |first| is 0 when a round begins. It is left out if the caller brings a |recall|, which is then asked how much of the text the store has. The one that everybody brings is |store_match_prefix|: it compares the tokens of the store with those of the text, and \emph{keeps} the rows as far as they agree. In the second step it finds a row for every token but the last, and
the pass has one row. That is the whole cache, as far as the loop is concerned. |recall| is looked at in every step, so a caller may even change it between two steps of one text; the pass after that has all rows, or again one.

@(keep.h@>=
#ifndef INCIPIT_KEEP_H
#define INCIPIT_KEEP_H
#include "model/store.h"
size_t store_match_prefix(struct store *s, uint32_t sequence, const uint32_t *id,
  size_t n);
  /* crops |sequence| to the rows that have the tokens |id[0]|, \dots, |id[n-1]|, as
     far as they agree, and says how many rows it has then */
#endif

@ The tokens that a sequence was computed from are in the store's batch (\cref{sec:rows}), and they tell which of its rows belong to a text: as many as have its tokens, from the first on. The store of chapter 2
and the cache of this one keep the same |kv_batch|, so the function serves both.

@(keep.c@>=
#include "cache/keep.h"
@;@#
size_t store_match_prefix(struct store *s, uint32_t sequence, const uint32_t *id,
  size_t n)
{
  const struct kv_sequence *q = &s->batch.sequence[sequence];
  size_t k = 0;
  while (k < n && k < q->length && q->token[k] == id[k]) k++;
  store_crop(s, sequence, k);
  return q->length;
}

@* The same text with and without the cache. \label{sec:twice}
The built-in model writes the sentence of chapter 3 twice; the first time it forgets, the second time it does not. At every step the bits of all logits are compared, and not one may differ: there is no tolerance, since there is no
rounding that could differ. A row that goes through the layers alone is added up in the same order as in company (\cref{sec:order}).

A watcher keeps for each step what it has cost, how many rows are stored after it, and all logits; and it adds up the costs.

@<Write the text twice, and compare@>=
enum { GIVEN = 3, STEPS = 4 };
struct diary { struct { unsigned rows, pairs, stored; } step[STEPS], all;
  const struct store *s;@+ float *logits;@+ size_t vocab; };
  /* of each step, and in all; |logits|: |[STEPS][vocab]| */
static bool note_step(void *ctx, const struct step *now)
{
  struct diary *d = ctx;
  size_t i = now->number - 1;
  d->step[i].rows = (unsigned) (now->after.rows - now->before.rows);
  d->step[i].pairs = (unsigned) (now->after.qk_pairs - now->before.qk_pairs);
  d->step[i].stored = (unsigned) store_length(d->s, 0);
  d->all.rows += d->step[i].rows, d->all.pairs += d->step[i].pairs;
  memcpy(d->logits + i * d->vocab, now->logits, d->vocab * sizeof (float));
  return true;
}

@ One function writes the text in either way. (After $p$ tokens given and $g$ written there are $p+g-1$ rows in the cache, with memory or without; \cref{lab:cachetwice} asserts it of every
run that it makes.)

@<Write the text twice, and compare@>=
static bool write_text(struct writer *w, bool keep, struct diary *d,
  struct error *why)
{
  struct store *s = cache_open(&w->m, &w->lm->config, 1,
    &(struct cache_options) @[{ .rows = 0 }@], why);
  struct generate_context maker = @[{ &w->e, w->lm, s, &w->m }@];
  struct generate_options want = @[{ .max_new_tokens = STEPS, .on_step = note_step,@|
    .ctx = d, .recall = keep ? store_match_prefix : NULL }@];
  struct continuation text = @[{ .n_prompt = 0 }@];
  d->s = s;
  bool ok = s != NULL
    && generate(&maker, w->sentence.id, GIVEN, &want, &text, why);
  continuation_free(&w->m, &text);
  store_close(s);
  return ok;
}

@ Then the two diaries are printed side by side, and the logits compared as bytes.

@<Write the text twice, and compare@>=
static void print_diaries(const struct diary *a, const struct diary *b)
{
  size_t n = STEPS * a->vocab, differ = 0;
  printf("       forgetting        remembering\n");
  printf("step   rows  pairs       rows  pairs  stored\n");
  for (size_t i = 0; i < STEPS; i++)
    printf("%3zu %7u %6u  %9u %6u %7u\n", i + 1, a->step[i].rows,@|
      a->step[i].pairs, b->step[i].rows, b->step[i].pairs, b->step[i].stored);
  printf("all %7u %6u", a->all.rows, a->all.pairs);
  printf("  %9u %6u\n", b->all.rows, b->all.pairs);
  for (size_t i = 0; i < n; i++)
    differ += memcmp(a->logits + i, b->logits + i, sizeof (float)) != 0;
  printf("%zu of %zu logits differ\n", differ, n);
}
static bool print_twice(struct writer *w, struct error *why)
{
  size_t n = w->lm->config.vocab_size;
  float *z = memory_alloc(&w->m, MEMORY_ACTIVATIONS, 2 * STEPS * n, sizeof *z, why);
  if (z == NULL) return false;
  struct diary a = @[{ .logits = z, .vocab = n }@], b = a;
  b.logits += STEPS * n;
  bool ok = write_text(w, false, &a, why) && write_text(w, true, &b, why);
  if (ok) print_diaries(&a, &b);
  memory_free(&w->m, z);
  return ok;
}

@ \Cref{fig:plates}\lab{lab:plates} is the cache after each of the four passes of the hand calculation, read from memory. It grows by one line in all plates at once, and lags behind the text by one token. What was there stays as it was: the pattern of a line is the same in every column of the figure.

\widefig{plates}{fig:plates}{The keys in the cache after each of the four passes: a plate for each of the six layers, the deepest below, a line for each position, a cell for each number, darker the larger it is, whatever its sign. Red cells are those that the pass has added. A red word is the token that has just been written; it has no line yet.}{Four
columns of six plates. The plates of a column have three lines, then four, five and six; after the first pass all three are lit, later only the last. The pattern of dark and light cells in a line does not change from column to column.}

@* Store first, then attend. \label{sec:append}
A row looks at the rows before it \emph{and at itself}. So its key and its value must be in the store before its query goes looking; chapter 2 made this a rule of the game. Explanations of the cached step often have it the other way
round: the query attends to all cached keys and values; \emph{then} the new key and value are appended. Does it matter?

\begin{byhand}{a row that overlooks itself}
One head of one number. Two rows are stored, with the values $3$ and $6$. A third comes, with the value $8$. Its scores are such that $e^s$ is $1$ for the first row, $2$ for the second, and $3$ for itself.

\medskip
\begin{tabular}{@@{}ll@@{}}
store first & $(1\cdot3+2\cdot6+3\cdot8)\div(1+2+3)=39\div6=6.5$\\
look first & $(1\cdot3+2\cdot6)\div(1+2)=15\div3=5$
\end{tabular}
\medskip

Nothing is lost for ever: the next row finds all three. But this one has found $5$ where it should have found $6.5$, and what it hands on to the next layer is wrong.
\end{byhand}

@ The prompt is read as it should be; then one row is read by either rule, and the logits after it are compared.\lab{lab:late} On \tok{The}\tok{\ cat}\tok{\ sat}\gen{\ on}, \val{cache.late.differ} of \val{cache.late.of} logits come out different. That alone could be rounding; but one is off by
\val[2]{cache.late.most}, where all logits lie between \val[1]{cache.late.low} and \val[1]{cache.late.high}. The next token does not mind: \gen{\ the} has a probability of \val[4]{cache.late.right} by one rule and of \val[4]{cache.late.wrong} by the other, as the model knows this sentence by heart. But written on from \tok{The}\tok{\ cat}, the two part with token \val{cache.late.parts}. The cached loop of the wrong order is another model, and nothing tells its reader so.

@* Counting the entries of a cache. \label{sec:tenpositions}
What is in the cache after a prompt of ten tokens, and what does one more token add? Each layer has the keys and the values of ten positions; a key has |n_kv_heads| parts of |head_dim| numbers. Written as an array, with the sequences of a batch in front, that is
\.{[layers][B][kv\_heads][10][head\_dim]}, once for keys and once for values. One pass of \emph{one} row makes it \.{[layers][B][kv\_heads][11][head\_dim]}. The order of the axes changes no number that is stored, only how fast it is found again; ours will be page, layer, head and then row (\cref{sec:layout}).

The program reads the sentence as far as it is told, in one pass, and starts it again when it is over.

@<Show what a step adds to the cache@>=
static bool read_on(struct writer *w, struct store *s, uint32_t sequence,
  size_t n, struct error *why)
{
  struct row row[32];@+ struct pass *p;
  size_t at = store_length(s, sequence);
  for (size_t i = 0; i < n; i++)
    row[i] = (struct row) @[{ sequence, (uint32_t) (at + i),
      w->sentence.id[(at + i) % w->sentence.n] }@];
  if (!model_forward(&w->e, w->lm, s, row, n, &p, why)) return false;
  pass_close(p);
  return true;
}

@ It reads ten tokens and one, and prints after both what the shape of the cache is and how many rows went in.

@<Show what a step adds to the cache@>=
static bool print_step(struct writer *w, struct error *why)
{
  const struct model_config *c = &w->lm->config;
  struct cache_options any = @[{ .rows = 0 }@];
  struct store *s = cache_open(&w->m, c, 1, &any, why);
  bool ok = s != NULL;
  for (size_t n = 10; ok && n > 0; n = n == 10) {
    uint64_t before = w->c.rows;
    ok = read_on(w, s, 0, n, why);
    if (ok) printf("keys and values: [%u][1][%u][%zu][%u], %" PRIu64
      " rows in\n", c->n_layers, c->n_kv_heads, store_length(s, 0),
      c->head_dim, w->c.rows - before);
  }
  store_close(s);
  return ok;
}

@* The work that remains. \label{sec:counting}
A step of the naive loop over $n$ tokens computes $n$ rows and compares $n(n+1)/2$ pairs of a query and a key. With the cache it computes one row, and that row's query meets $n$ keys: its own and those of the $n-1$ rows before. Over a whole text that begins with one token, $T$
steps compute
\begin{equation}\label{eq:cachedrows}
  \sum_{n=1}^{T}n=\frac{T(T+1)}2\ \hbox{rows, now}\ \sum_{n=1}^{T}1=T,
\end{equation}
and the pairs, which were a sum of sums, lose one of the two:
\begin{equation}\label{eq:cachedpairs}
  \sum_{n=1}^{T}\frac{n(n+1)}2=\frac{T(T+1)(T+2)}6\ \hbox{pairs, now}\ \sum_{n=1}^{T}n=\frac{T(T+1)}2.
\end{equation}
(The first of the four sums is that of the numbers up to $T$; the third follows from $n(n+1)/2=\binom{n+1}2$, whose sum up to $T$ is $\binom{T+2}3$.) For $T=10^3$ the counters of both loops say\lab{lab:cachesums}
\val{cache.naive.rows.1.1000} rows and \val{cache.naive.pairs.1.1000} pairs, and then \val{cache.rows.1.1000} rows and \val{cache.pairs.1.1000} pairs. (Pairs are those of one head in one layer; each head of each layer has as many.)

So what has become linear? The rows, and with them everything that a row costs by itself: projections, feed-forward, norms. The looking has become quadratic, from cubic. Whoever writes that the cache makes generation linear has counted the rows; who then complains that long
contexts are slow has met the pairs. The number of pairs that is left is the number of \emph{rows} that the naive loop has, the same $T(T+1)/2$: so one and the same formula is printed here as the cost with the cache and there as the cost without it, and both are right about something.

\fig{cachegrowth}{fig:cachegrowth}{Rows (points) and pairs (circles) of a text that begins with one token, without the cache and with it. The pairs that are left lie on the rows that there were.}{Logarithmic paper. Without the cache the pairs rise with slope three and the rows with slope two; with it
the pairs rise with slope two, on the very line of the rows before, and the rows with slope one.}

@ In the small case of the hand calculation the last of the four sums can be done on the fingers: the three queries of the first pass look at $1$, $2$ and $3$ keys, those of the others at $4$, $5$ and $6$. That is \val{cache.pairs.3.4} in all, where chapter 3's loop has \val{cache.naive.pairs.3.4}.

@* What the cache costs. \label{sec:price}
The work that is saved is paid for with memory. A row that is kept has a key and a value in each layer: $2\cdot\hbox{layers}\cdot\hbox{kv\_heads}\cdot\hbox{head\_dim}$ numbers. In GPT-2 small's shape, 12 layers of 12 heads of 64, and in numbers of two bytes, that is \val{cache.gpt2.row} bytes a
position. (Ours have four, and take twice that; chapter 6 has shorter ones.)

After a prompt of 50 tokens and 100 written there are \val{cache.rows.50.100} rows in the cache, which are \val{cache.gpt2.bytes} bytes, and of the \val{cache.naive.rows.50.100} rows that the naive loop computes \val{cache.saved.50.100} have not been computed. So each row
that was saved has cost \val[0]{cache.price.50.100} bytes; and the longer the text the cheaper they get, because what is saved grows with the square of the text and the memory with the text: \val[0]{cache.price.1.1000} bytes at $10^3$ tokens from one.

The memory is not the whole price. What is stored must also be read again: each step reads all keys and values that it looks at. The counters say how much that is (|cache_bytes_read|), and chapter 5 how long it takes.

@* Measured times. \label{sec:cacheclock}
A step with the cache has one row, which costs what a row costs by itself, and looks at $n$ keys. We expect
\begin{equation}\label{eq:cachedstep}
  t(n)=a+bn,
\end{equation}
where chapter 3's step took $an+bn(n+1)/2$. So we took the time of each of $10^3$ steps that the built-in model writes from one token, both ways, in \val[0]{cache.clock.rounds} rounds. \Cref{fig:cacheclock}\lab{lab:cacheclock} shows the steps. Fitted to the cached steps, \eqref{eq:cachedstep} has $a$ at \val[0]{cache.clock.row} microseconds and $b$ at \val[1]{cache.clock.key} nanoseconds a key,
with a mean error of \val[1]{cache.clock.error} percent. The row alone costs more here than a row in company, and by what factor, and why, is the subject of chapter 5.

All $10^3$ tokens take \val[1]{cache.clock.naive.1000} seconds without the cache and \val[2]{cache.clock.kept.1000} with it. The rows have become \val[0]{cache.clock.rows} times fewer, the time \val[0]{cache.clock.ratio.1000} times shorter. And the first 30 tokens? There the factor is \val[1]{cache.clock.ratio.30}; with 100 tokens it is \val[1]{cache.clock.ratio.100}, and with 300 it is \val[1]{cache.clock.ratio.300}.

\fig{cacheclock}{fig:cacheclock}{Time of a step over the length of the text, without the cache and with it; both axes are logarithmic. Medians of the rounds, on the machine that the file of the numbers names.}{Two curves on logarithmic paper. The naive one rises steadily and ever more steeply, over three orders of magnitude. The
cached one is nearly flat, and rises a little towards many tokens.}

@* Cached keys and rotary positions. \label{sec:turned}
The keys are stored as attention wants them: multiplied, normed and \emph{turned} by the angles of their position (\cref{sec:layer}). Turned once, a key serves every later query. Stored before the turn, each would have to be turned again by every row that looks at it, as many times as there are
pairs, in every layer.

What is gained in work is lost in freedom: a turned key belongs to its position. If the first half of a text is dropped and the rest moved to the front, all keys of the rest must be turned back by the distance, row by row. And that does not make them what they would be in a text that begins there. In every layer but the first, a key and a value are made of what their row has found when it looked back, and
what it took from the half that was dropped cannot be taken out again. For the same reason a paragraph that was read at position 0 cannot be pasted after another text, wherever its keys are turned to: its rows have not looked at that text. A table of common paragraphs, each computed once and used anywhere, is not to be had. Only the \emph{beginning} of a text can be
shared, because it stands at the same positions after the same tokens in both. (Models with learned positions, as GPT-2, add the position before the first layer. Their keys cannot even be turned back.)
@^RoPE@>

@* Paging. \label{sec:pages}
Where should the rows of a sequence lie? In one block, as the store of \cref{model} has them, if there is one text and its length is known. But several texts
grow at different speeds; two of them may begin alike, and one may be cut off and go on differently. With blocks each of these is a copy. So this store keeps its rows in
\emph{pages} of a few rows each, and a sequence is a list of pages: the row of position |t| is row $t\bmod P$ of the page that stands at place $\lfloor t/P\rfloor$
of the list. A page may stand on more than one list. To fork a sequence is to copy its list; to crop it is to make the list shorter. No key and no value moves (Kwon and others 2023).
@^page@>@^fork@>@^crop@>

A page that is on two lists must not be written to: what one text appends, the other would see. Rows are only appended, so the one page with rows that is ever written to is the last; a pass that
finds it shared takes a page of its own first, and copies the rows that count. This is called \emph{copy on write}. A fork is followed by one such copy at most, and so is a crop back into a page that is still shared.
@^copy on write@>

@(cache.h@>=
#ifndef INCIPIT_CACHE_H
#define INCIPIT_CACHE_H
#include "cache/keep.h"
@<A store that keeps its rows in pages@>@;
#endif

@ The most that it may hold is one of the caller's options. Memory for all of it is not taken at once, unless the caller wants that too: a context of 131072 positions, as Llama~3.1 has, would ask for gigabytes before
the first word. The pool of pages grows by doubling like everything here that grows; but the pages that it has stay where they are, and nothing is copied. Only the kernels read and write the pages, which are in the memory
of the backend; the cache itself never looks into one.

@<A store that keeps its rows in pages@>=
struct kv_format { const char *name; enum weight_type type;
  void (*encode)(const float *x, size_t n, void *to);
    /* writes |n| numbers to the |row_bytes(type,n)| bytes at |to| */
};
  /* a way to keep rows, by its name */
struct cache_options { size_t rows, page_rows, pass;
  const struct kv_format *format; bool preallocate;@|
  bool set_window; uint32_t window, sinks, context;@|
  const struct buffers *memory; };
  /* the most rows it may hold in all its sequences, 0: as many as their contexts
     have; rows a page, a power of two up to 256, 0: 64; the most rows of a sequence
     in one pass, 0: a context; how rows are kept, null: in float32; whether the
     memory for all of them is taken when it is opened; |set_window|: whether all layers see the last |window|
     positions, 0: all, and the first |sinks|, instead of what the model's settings say; the longest text, 0: the
     model's; and which memory, that of the kernels that will use it, null: the host's */
struct store *cache_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, const struct cache_options *w, struct error *why);
  /* an empty cache for |n_sequences| sequences of a model; null and a
     sentence if memory is refused or an option cannot be met. Owned by the caller,
     and closed by |store_close| */

@ What a fork costs, and what a cache holds, can be asked; if we say that nothing was copied, you should be able to check.

@<A store that keeps its rows in pages@>=
struct cache_state { size_t pages, pages_used, page_rows, bytes, bytes_used,
  bytes_copied; };
  /* pages that there is memory for, and those on some list; rows of one; the bytes
     of both; bytes that were copied because a shared page was written to */
struct cache_state cache_look(const struct store *s);
  /* the state of a cache; all zero for a store of another kind */

@ What is a store's own business and what is common to all was settled in \cref{model}. The |batch| in |common| has for each sequence a |kv_sequence|: its length, its tokens, and which rows of the pass that is going on are its. A kind of store supplies five functions. One reserves memory for the rows of the batch, or refuses. One shows where the keys and values of a sequence are, as a |kv_view|; the kernels write and read there. One is told when a sequence was cropped, one makes a fork, after |store_fork| has copied the tokens, and one closes the store.

Inside ours there is one \emph{pool} of pages for all sequences. In a page each layer has its keys and then its values, for the same rows, so that one list serves all layers. What is known of a page is its address and how many lists it is on;
the pages that are on none are kept on a stack, which is threaded through the same array: the |k|-th spare page is |page[k].free_next|.

@<What the cache holds@>=
struct page_info { uint32_t refs, writers, free_next; bool slab; char *data; };
  /* lists that it is on, and how many of them write to it in this pass; a spare
     page; does a slab begin with it? its |[n_layers][2][heads][page_rows][head_bytes]| */
struct page_list { uint32_t *page; const char **data; size_t n, cap, first; };
  /* |[cap]| numbers and addresses; the pages of sinks and those from |first| to |n| are
     really there */
struct layer_group {
  uint32_t layer, n_layers; /* one layer of the group, and how many it has */
  struct page_info *page; size_t cap, n_free, max_pages; /* |[cap]|; the most pages */
  struct page_list *sequence; /* |[n_sequences]| */
};

@ One list serves all layers that look equally far back. In most models these are all. Some have layers of two kinds, which see everything or only a window; the second kind can do without the rows that the first still needs. So the layers are put into \emph{layer groups}, as on shelves: layers with the same window are in the same group, which has a pool and lists of its own. No model that we can read has more than two.
@^layer group@>@^window@>

@<What the cache holds@>=
enum { MAX_GROUPS = 2 };
struct cache {
  struct store common; /* must come first: a |struct store *| points here */
  struct kv_format format;
  size_t heads, head_bytes, page_rows, sink_pages, copied;
    /* |head_bytes|: a key or a value of one head in one row */
  uint32_t *slot_in_group; /* |[n_layers]|: the index of a layer in its group */
  size_t n_groups;
  struct layer_group group[MAX_GROUPS];
};
static const struct layer_group *group_of(const struct cache *s, uint32_t layer)
{
  const struct layer_group *f = s->group;
  const uint32_t *window = s->common.window;
  while (window[layer] != window[f->layer]) f++;
  return f;
}

@ How many pages do $n$ rows take? The question comes often. A page has a part for the keys and one for the values of each layer; in a part, each head has its rows for itself (\cref{sec:layout}). So a head that reads a page reads one piece of memory from end to end.

@<What the cache holds@>=
static size_t pages_for(const struct cache *s, size_t rows)
{@+ return (rows + s->page_rows - 1) / s->page_rows;@+ }
static size_t plane_bytes(const struct cache *s)
{@+ return s->heads * s->page_rows * s->head_bytes;@+ }
static size_t page_bytes(const struct cache *s, const struct layer_group *f)
{@+ return 2 * f->n_layers * plane_bytes(s);@+ }
static char *page_address(const struct cache *s, const struct layer_group *f, size_t part,
  size_t page, size_t head, size_t row)
{
  return f->page[page].data + part * plane_bytes(s)
    + (head * s->page_rows + row) * s->head_bytes;
}

@ Reserving memory for a pass means having pages for all of its rows, or refusing. First each sequence of the pass leaves the pages that its rows will not see again (\cref{sec:leaving}). Then the pages that are wanted are counted for all sequences, and taken only when it is certain that all can be had; so a
refusal takes no page from anybody and gives none. A cache that is full says how much it has and how much was requested, both in whole pages: whoever reads that can tell whether to wait, to crop, or to ask for a larger cache.

@<Have pages for the rows of the pass@>=
static bool group_reserve(struct cache *s, struct layer_group *f, struct error *why)
{
  for (uint32_t i = 0; i < s->common.n_sequences; i++)
    if (s->common.batch.sequence[i].count > 0) evict_window(s, f, i);
  size_t wanted = count_new_pages(s, f) + count_copies(s, f);
  size_t used = f->cap - f->n_free;
  if (wanted > f->max_pages - used)
    return error_say(why, "the cache holds %zu rows, of which %zu are"@|
      " taken; wanted: room for %zu more, in pages of %zu",@|
      f->max_pages * s->page_rows, used * s->page_rows, wanted * s->page_rows,
      s->page_rows);
  if (wanted > f->n_free && !pages_grow(s, f, used + wanted, why))
    return false;
  for (uint32_t i = 0; i < s->common.n_sequences; i++)
    if (!list_grow(s, f, i, why)) return false;
  return true;
}
static bool cache_reserve(struct store *common, struct error *why)
{
  struct cache *s = (struct cache *) common;
  for (size_t k = 0; k < s->n_groups; k++)
    if (!group_reserve(s, &s->group[k], why)) return false;
  for (size_t k = 0; k < s->n_groups; k++)
    for (uint32_t i = 0; i < common->n_sequences; i++)
      assign_pages(s, &s->group[k], i);
  return true;
}

@ Two sorts of pages are wanted. The first are the new ones: those that the list of a sequence lacks for its rows.

@<Count the new pages of a pass@>=
static size_t count_new_pages(const struct cache *s,
  const struct layer_group *f)
{
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    const struct kv_sequence *q = &s->common.batch.sequence[i];
    size_t had = f->sequence[i].n, n = pages_for(s, q->length + q->count);
    if (q->count > 0 && n > had) wanted += n - had;
  }
  return wanted;
}

@ The second are copies. A sequence whose last page is not full writes its next row to that page, and if the page is on other lists as well, the sequence needs one of its own. No other page of a list is written to.

@<Count the copies of a pass@>=
static struct page_info *written_page(const struct cache *s,
  const struct layer_group *f, uint32_t sequence)
{
  const struct kv_sequence *q = &s->common.batch.sequence[sequence];
  const uint32_t *list = f->sequence[sequence].page;
  if (q->count == 0 || q->length % s->page_rows == 0) return NULL;
  return &f->page[list[q->length / s->page_rows]];
}

@ How many copies does a page want? With three lists on it and two writers, two: the third list goes on reading what is there. With three writers also two, since the last of them has the page for itself once the others have left. So each writer of a page wants a copy, except the one that finds all other lists gone: |writers| counts up, and a copy is wanted until it reaches |refs|. What a refused pass has counted must not be counted again, so every page that is written to begins at 0.

@<Count the copies of a pass@>=
static size_t count_copies(const struct cache *s,
  const struct layer_group *f)
{
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct page_info *page = written_page(s, f, i);
    if (page != NULL) page->writers = 0;
  }
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct page_info *page = written_page(s, f, i);
    if (page != NULL && ++page->writers < page->refs) wanted++;
  }
  return wanted;
}

@ Now they are taken, in the same order. Nothing here can fail any more. A writer that copies leaves the shared page, so here |refs| alone tells which of them must. Pages that a pass has taken stay on the list also if the pass is aborted; the next one will want them.

@<Take the pages that a sequence wants@>=
static uint32_t page_acquire(struct layer_group *f)
{
  uint32_t n = f->page[--f->n_free].free_next;
  f->page[n].refs = 1;
  return n;
}
static void list_set(const struct layer_group *f, struct page_list *l, size_t i,
  uint32_t page)
{
  l->page[i] = page, l->data[i] = f->page[page].data;
}
@<Give a sequence a page of its own@>@;
static void assign_pages(struct cache *s, struct layer_group *f, uint32_t sequence)
{
  const struct kv_sequence *q = &s->common.batch.sequence[sequence];
  struct page_list *l = &f->sequence[sequence];
  const struct page_info *shared = written_page(s, f, sequence);
  if (q->count == 0) return;
  if (shared != NULL && shared->refs > 1) copy_page(s, f, l, q->length);
  while (l->n < pages_for(s, q->length + q->count))
    list_set(f, l, l->n++, page_acquire(f));
}

@ Only the rows that count are copied, in every layer, keys and values. The page that was shared has one reader less.

@<Give a sequence a page of its own@>=
static void copy_page(struct cache *s, struct layer_group *f, struct page_list *l,
  size_t length)
{
  size_t i = length / s->page_rows;
  size_t bytes = length % s->page_rows * s->head_bytes;
  uint32_t old = l->page[i], mine = page_acquire(f);
  const struct buffers *b = s->common.memory;
  f->page[old].refs--;
  list_set(f, l, i, mine);
  for (size_t part = 0; part < 2 * f->n_layers; part++)
    for (size_t h = 0; h < s->heads; h++) {
      b->copy(b, page_address(s, f, part, mine, h, 0), page_address(s, f, part, old, h, 0),
        bytes);
      s->copied += bytes;
    }
}

@ When a sequence is cropped it leaves the pages that have none of its rows any more. A page that nobody reads is spare again.

@<Leave the pages after the last row@>=
static void page_release(struct layer_group *f, uint32_t page)
{
  if (--f->page[page].refs == 0) f->page[f->n_free++].free_next = page;
}
static void group_truncated(struct cache *s, struct layer_group *f, uint32_t sequence)
{
  struct page_list *l = &f->sequence[sequence];
  size_t n = pages_for(s, s->common.batch.sequence[sequence].length);
  while (l->n > n) {
    l->n--;
    if (l->n >= l->first || l->n < s->sink_pages) page_release(f, l->page[l->n]);
  }
  if (n < l->first) l->first = s->sink_pages;
}

@ How does a pool of pages grow? The plain store allocates a larger block and copies everything into it, and for a moment there are both. For a cache of some gigabytes that would be a long moment, and twice the memory; and on a graphics processor the pages may be in use at that moment. But pages need not be next to each other: the page table says where each of them is. So the pool allocates another block for the new pages alone, called a \emph{slab}, and an old page keeps its address as long as the cache is open. There are few slabs: because the pool doubles, each has as many pages as all slabs before it.
@^slab@>

The first page of a slab is marked, since its address is the one by which the slab is freed. The new pages go on the stack of spare pages, the lowest on top.

@<Give the pool more pages@>=
static bool pages_grow(struct cache *s, struct layer_group *f, size_t wanted,
  struct error *why)
{
  struct memory *m = s->common.m;
  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
  size_t old = f->cap, bytes = page_bytes(s, f);
  const struct buffers *b = s->common.memory;
  struct page_info *page = memory_resize(m, MEMORY_OTHER, f->page, cap,
    sizeof *page, why);
  if (page == NULL) return false;
  f->page = page;
  char *slab = b->alloc(b, m, MEMORY_CACHE, cap - old, bytes, why);
  if (slab == NULL) return false;
  f->cap = cap;
  page[old].slab = true;
  for (size_t i = old; i < cap; i++)
    page[i].data = slab + (i - old) * bytes;
  for (size_t i = cap; i > old; i--)
    page[f->n_free++].free_next = (uint32_t) i - 1;
  return true;
}

@ Lists grow by doubling as well. A list has the number and the address of each of its pages; the addresses are the \emph{page table} that attention is given.
@^page table@>

@<Make a list longer@>=
static bool list_reserve(struct cache *s, struct page_list *l, size_t n,
  struct error *why)
{
  if (n <= l->cap) return true;
  size_t cap = store_next_cap(l->cap, n, pages_for(s, s->common.n_positions));
  uint32_t *page = memory_resize(s->common.m, MEMORY_OTHER, l->page, cap, sizeof *page,
    why);
  if (page == NULL) return false;
  l->page = page;
  const char **data = memory_resize(s->common.m, MEMORY_OTHER, l->data, cap,
    sizeof *data, why);
  if (data == NULL) return false;
  l->data = data, l->cap = cap;
  return true;
}
static bool list_grow(struct cache *s, struct layer_group *f, uint32_t sequence,
  struct error *why)
{
  const struct kv_sequence *q = &s->common.batch.sequence[sequence];
  return list_reserve(s, &f->sequence[sequence],
    pages_for(s, q->length + q->count), why);
}

@ A row is stored where it will be seen, so one view serves for writing and for reading: the page table of the sequence, where in a page the layer's keys and its values begin, and how far it is from row to row and from head to head. The kernels find the rest by themselves. In float32 a row is stored as it is; chapter 6 has formats that round, and then all rows read the rounded numbers, including the row's own query.

@<Store rows in pages, and show them@>=
static void cache_view(const struct store *common, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  const struct cache *s = (const struct cache *) common;
  const struct layer_group *f = group_of(s, layer);
  const struct page_list *l = &f->sequence[sequence];
  size_t part = 2 * s->slot_in_group[layer];
  *v = (struct kv_view) @[{ .key = part * plane_bytes(s),@|
    .value = (part + 1) * plane_bytes(s), .page = l->data,@|
    .page_rows = (uint32_t) s->page_rows,@|
    .row_bytes = (uint32_t) s->head_bytes, .head_bytes = s->page_rows * s->head_bytes,@|
    .type = s->format.type }@];
}

@ A fork makes a list that is equal to another, up to the page of the last row that counts, and adds a reader to each of its pages. The tokens of the sequence, which take four bytes each, have been copied by |store_fork|. An empty sequence may still have pages, if its first pass was aborted; it gives them up first.

@<Fork a sequence@>=
static bool group_fork(struct cache *s, struct layer_group *f, uint32_t from,
  uint32_t to, struct error *why)
{
  struct page_list *a = &f->sequence[from], *b = &f->sequence[to];
  size_t n = pages_for(s, store_length(&s->common, from));
  while (b->n > 0) page_release(f, b->page[--b->n]);
  if (!list_reserve(s, b, n, why)) return false;
  for (; b->n < n; b->n++) {
    b->page[b->n] = a->page[b->n], b->data[b->n] = a->data[b->n];
    if (b->n >= a->first || b->n < s->sink_pages)
      f->page[a->page[b->n]].refs++;
  }
  b->first = a->first;
  return true;
}
static bool cache_fork(struct store *common, uint32_t from, uint32_t to,
  struct error *why)
{
  struct cache *s = (struct cache *) common;
  for (size_t k = 0; k < s->n_groups; k++)
    if (!group_fork(s, &s->group[k], from, to, why)) return false;
  return true;
}

@ The report adds up the pages of all groups. A store of another kind, which we recognize by its table of functions, has no pages to report.

@<Look at a cache@>=
struct cache_state cache_look(const struct store *common)
{
  if (common->kind != &cache_kind) return (struct cache_state) @[{ .pages = 0 }@];
  const struct cache *s = (const struct cache *) common;
  struct cache_state all = @[{ .page_rows = s->page_rows,@|
    .bytes_copied = s->copied }@];
  for (size_t k = 0; k < s->n_groups; k++) {
    const struct layer_group *f = &s->group[k];
    size_t used = f->cap - f->n_free;
    all.pages += f->cap, all.pages_used += used;
    all.bytes += f->cap * page_bytes(s, f);
    all.bytes_used += used * page_bytes(s, f);
  }
  return all;
}

@* Pages outside the window. \label{sec:leaving}
A layer with a window of $W$ positions shows the row at position $p$ the rows from $p-W+1$ on. So when a sequence has $L$ rows and $n$ more are coming, the earliest of them sees back to $L-W+1$, and whatever lies before that will never be looked at again, by these rows or by later ones. Its pages can be left. What stays are the rows
from $L-W+1$ to $L+n-1$, which are $W-1+n$: in a step of one row $W$, however long the text has become. This is often drawn as a ring, in which the new row takes the place of the oldest (\cref{fig:ring}). With pages of one row it is exactly that, and with longer ones nearly: the row that is left is still there until the whole page is.
@^ring@>@^window@>

A model that keeps sinks never leaves the pages in which they stand. Then the list has a hole: from the sinks' last page to the page at |first| there are numbers on it that belong to somebody else by now, and nobody asks for them.

@<Leave the pages that no row will see again@>=
static void evict_window(struct cache *s, struct layer_group *f, uint32_t sequence)
{
  struct page_list *l = &f->sequence[sequence];
  size_t length = s->common.batch.sequence[sequence].length;
  size_t seen = store_window_start(&s->common, f->layer, length) / s->page_rows;
  while (l->first < seen) page_release(f, l->page[l->first++]);
}

@ There is one thing that such a sequence cannot do. If it is cropped to fewer rows, its next row must see $W-1$ of those before it, and perhaps they have gone. Pages are left when a pass begins and not when it ends; so the rows of the last pass can always be taken back, which is what a caller wants who tries something. A crop that goes back further finds the window broken, and then nothing is kept: the text is read again from the start. That costs time and is never wrong.

@<Leave the pages after the last row@>=
static void cache_truncated(struct store *common, uint32_t sequence)
{
  struct cache *s = (struct cache *) common;
  struct kv_sequence *q = &common->batch.sequence[sequence];
  for (size_t k = 0; k < s->n_groups; k++) {
    const struct layer_group *f = &s->group[k];
    size_t first = f->sequence[sequence].first;
    if (first > s->sink_pages && first * s->page_rows
        > store_window_start(common, f->layer, q->length)) q->length = 0;
  }
  for (size_t k = 0; k < s->n_groups; k++)
    group_truncated(s, &s->group[k], sequence);
}

@ A cache is closed group by group. The marked pages are the first of their slabs.

@<Close a cache@>=
static void cache_close(struct store *common)
{
  struct cache *s = (struct cache *) common;
  struct memory *m = common->m;
  for (size_t k = 0; k < s->n_groups; k++) {
    struct layer_group *f = &s->group[k];
    for (uint32_t i = 0; f->sequence != NULL && i < common->n_sequences; i++)
      memory_free(m, f->sequence[i].page), memory_free(m, f->sequence[i].data);
    memory_free(m, f->sequence);
    for (size_t i = 0; i < f->cap; i++)
      if (f->page[i].slab)
        common->memory->release(common->memory, m, f->page[i].data);
    memory_free(m, f->page);
  }
  memory_free(m, s->slot_in_group);
  memory_free(m, s);
}

@ This is its table of functions. A store is a cache if and only if its |kind| points to this table.

@<The functions that make a cache@>=
static const struct store_kind cache_kind = @[{@|
  .reserve = cache_reserve, .view = cache_view,@|
  .truncated = cache_truncated, .fork = cache_fork, .close = cache_close }@];

@ The layers are put into their groups in order.

@<Open and close a cache@>=
static bool group_layers(struct cache *s, struct error *why)
{
  struct store *common = &s->common;
  const uint32_t *window = common->window;
  s->slot_in_group = memory_alloc(common->m, MEMORY_OTHER, common->n_layers,
    sizeof *s->slot_in_group,
    why);
  for (uint32_t i = 0; s->slot_in_group != NULL && i < common->n_layers; i++) {
    size_t k = 0;
    while (k < s->n_groups && window[s->group[k].layer] != window[i]) k++;
    if (k == s->n_groups) s->group[s->n_groups++].layer = i;
    s->slot_in_group[i] = s->group[k].n_layers++;
  }
  for (size_t k = 0; s->slot_in_group != NULL && k < s->n_groups; k++) {
    struct page_list *l = memory_alloc(common->m, MEMORY_OTHER,
      common->n_sequences, sizeof *l, why);
    if (l == NULL) return false;
    s->group[k].sequence = l;
    for (uint32_t i = 0; i < common->n_sequences; i++)
      l[i].first = s->sink_pages;
  }
  return s->slot_in_group != NULL;
}

@ The largest number of pages in a layer group follows from the options; with a window a sequence needs no more than its ring, which may lie askew and touch one page more than it fills. A page's number has 32 bits, and a cache of more pages than that would take more memory than there is.

@<Open and close a cache@>=
static bool group_apply_options(struct cache *s, struct layer_group *f,
  const struct cache_options *w, struct error *why)
{
  size_t context = s->common.n_positions, each = pages_for(s, context);
  size_t window = s->common.window[f->layer];
  size_t ring = window - 1 + (w->pass == 0 ? context : w->pass);
  size_t ring_pages = pages_for(s, ring - 1) + 1 + s->sink_pages;
  if (window > 0 && ring_pages < each) each = ring_pages;
  f->max_pages = s->common.n_sequences * each;
  if (w->rows > 0 && (window == 0 || pages_for(s, w->rows) < f->max_pages))
    f->max_pages = pages_for(s, w->rows);
  if (f->max_pages > UINT32_MAX)
    return error_say(why, "a cache of %zu pages; wanted: at most %"
      PRIu32, f->max_pages, UINT32_MAX);
  return !w->preallocate || pages_grow(s, f, f->max_pages, why);
}

@ A page has a power of two of rows, up to 256, so that a block of attention, 256 positions, is always a whole number of pages. In blocks of 32 numbers a head must have whole blocks, because it is read by itself.

@<Open and close a cache@>=
static bool apply_options(struct cache *s, const struct cache_options *w,
  struct error *why)
{
  static const struct kv_format floats = @[{ "f32", WEIGHT_F32,@|
    kv_encode_f32 }@];
  const struct store *c = &s->common;
  s->format = w->format == NULL ? floats : *w->format;
  s->common.encode = s->format.encode;
  if (w->memory != NULL) s->common.memory = w->memory;
  s->page_rows = w->page_rows == 0 ? 64 : w->page_rows;
  if (s->page_rows > 256 || (s->page_rows & (s->page_rows - 1)) != 0)
    return error_say(why, "a page of %zu rows; wanted: a power of two up to"@|
      " 256", s->page_rows);
  int block = number_types[s->format.type].block;
  if (c->head_dim % (uint32_t) block != 0)
    return error_say(why, "a cache in %s for a head_dim of %u; wanted: a"@|
      " multiple of %d", s->format.name, c->head_dim, block);
  s->heads = c->n_kv_heads, s->head_bytes = weight_row_bytes(s->format.type, c->head_dim);
  s->common.row_bytes = 2 * s->heads * s->head_bytes;
  s->sink_pages = pages_for(s, c->sinks);
  return true;
}

@ A caller may decide for this cache alone how far back a row sees, and how long a text may be. The model's settings are not touched, because other caches use them, perhaps in other threads; the caller's wishes are written into a copy. A context longer than the model's is refused, because the model was not made for the positions beyond.
@^window@>@^attention sink@>

@<Open and close a cache@>=
static bool apply_limits(struct model_config *c, const struct cache_options *w,
  struct error *why)
{
  if (w->context > c->n_positions)
    return error_say(why, "a context of %" PRIu32 " positions; wanted: at most"@|
      " %" PRIu32 ", the model's", w->context, c->n_positions);
  if (w->context > 0) c->n_positions = w->context;
  return (!w->set_window && w->sinks == 0)
    || config_set_window(c, w->window, w->sinks, why);
}

@ If anything fails on the way, |store_close| frees what there is; it can close a cache that is only half open.

@<Open and close a cache@>=
struct store *cache_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, const struct cache_options *w, struct error *why)
{
  struct model_config own = *c;
  if (!apply_limits(&own, w, why)) return NULL;
  struct cache *s = memory_alloc(m, MEMORY_OTHER, 1, sizeof *s, why);
  if (s == NULL)@+ return NULL;
  if (!store_prepare(&s->common, &cache_kind, m, &own, n_sequences, why)) {
    memory_free(m, s);
    return NULL;
  }
  bool ok = apply_options(s, w, why) && group_layers(s, why);
  for (size_t k = 0; ok && k < s->n_groups; k++)
    ok = group_apply_options(s, &s->group[k], w, why);
  if (ok)@+ return &s->common;
  store_close(&s->common);
  return NULL;
}

@ The module's parts in C's order.

@(cache.c@>=
#include <inttypes.h>
#include <string.h>
#include "cache/cache.h"
@;@#
@<What the cache holds@>@;
@<Give the pool more pages@>@;
@<Make a list longer@>@;
@<Leave the pages after the last row@>@;
@<Leave the pages that no row will see again@>@;
@<Count the new pages of a pass@>@;
@<Count the copies of a pass@>@;
@<Take the pages that a sequence wants@>@;
@<Have pages for the rows of the pass@>@;
@<Store rows in pages, and show them@>@;
@<Fork a sequence@>@;
@<Close a cache@>@;
@<The functions that make a cache@>@;
@<Look at a cache@>@;
@<Open and close a cache@>@;

@* The layout of a page. \label{sec:layout}
Three things were decided in these pages that no formula decides: that a page has 64 rows, that in a page each head has its rows for itself, and that there are pages at all. The other order, a row with its heads next to each other, is the natural one: it is how rows come out of the products and how
chapter 2's store keeps them. But a head that looks at many rows then takes 256 bytes every \val{layout.stride}. Larger pages need fewer entries on the lists, but half of a last page is wasted on average.

So we measured attention itself: one new row in GPT-2 small's shape, one layer of 12 heads of 64, with the keys and values of 256, 1024 or 4096 positions, in eight layouts. The pages are shuffled, as they would be after some forks and crops. \Cref{tab:layouts}\lab{lab:layouts} has the medians.

What separates the layouts is the order. With 4096 positions the rows of one block take \val[1]{layout.order} times as long as the heads of one block. The processor fetches ahead what lies in a line, and loses the thread at every gap; in the order of rows there is one after each row, and so it makes no difference there how large a page is. In the order of heads the thread is lost at the end of a page: pages of 16 cost \val[0]{layout.cost16} percent, pages of 64 \val[0]{layout.cost64} percent, and pages of 256 \val[0]{layout.cost256}. The 64 are a compromise, between that and the half page that each text wastes.

\begin{table}
\tabcaption{tab:layouts}{Microseconds of one layer's attention for one row, over so many positions that are stored.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{layout} & \tabhead{256} & \tabhead{1024} & \tabhead{4096}\\
rows, one block & \val[0]{layout.rows.256} & \val[0]{layout.rows.1024} & \val[0]{layout.rows.4096}\\
rows, pages of 16 & \val[0]{layout.rows16.256} & \val[0]{layout.rows16.1024} & \val[0]{layout.rows16.4096}\\
rows, pages of 64 & \val[0]{layout.rows64.256} & \val[0]{layout.rows64.1024} & \val[0]{layout.rows64.4096}\\
rows, pages of 256 & \val[0]{layout.rows256.256} & \val[0]{layout.rows256.1024} & \val[0]{layout.rows256.4096}\\
heads, one block & \val[0]{layout.heads.256} & \val[0]{layout.heads.1024} & \val[0]{layout.heads.4096}\\
heads, pages of 16 & \val[0]{layout.heads16.256} & \val[0]{layout.heads16.1024} & \val[0]{layout.heads16.4096}\\
heads, pages of 64 & \val[0]{layout.heads64.256} & \val[0]{layout.heads64.1024} & \val[0]{layout.heads64.4096}\\
heads, pages of 256 & \val[0]{layout.heads256.256} & \val[0]{layout.heads256.1024} & \val[0]{layout.heads256.4096}
\end{tabular*}
\end{table}

@* The counter of a moving picture. \label{sec:demonstration}
One of the sources is a moving picture. Six layers, a prompt of seven or eight tokens, a counter named COMPUTE, and a switch between two modes. Let it write twenty tokens, it says, turn the cache off, and the counter jumps ``from about 120 to over 2400''. What does COMPUTE count? The page does not say. We ran it, with six for each row that is computed, as one
block is drawn for each layer, and tried what else one might mean by ``after 20 tokens''.\lab{lab:picture}

\medskip
\noindent\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
& \multicolumn2{c}{prompt of 7} & \multicolumn2{c}{prompt of 8}\\
\tabhead{what is counted} & \tabhead{cached} & \tabhead{not} & \tabhead{cached} & \tabhead{not}\\
rows that 20 steps read & \val{demo.7.rows} & \val{demo.7.naive} & \val{demo.8.rows} & \val{demo.8.naive}\\
and one pass more, of the 20th token & \val{demo.7.drawn} & \val{demo.7.naivedrawn} & \val{demo.8.drawn} & \val{demo.8.naivedrawn}\\
prompt token by token, 20 steps & \val{demo.7.rows} & \val{demo.7.fed} & \val{demo.8.rows} & \val{demo.8.fed}\\
and one pass more, of the 20th token & \val{demo.7.drawn} & \val{demo.7.feddrawn} & \val{demo.8.drawn} & \val{demo.8.feddrawn}\\
rows of written tokens only & \val{demo.written} & --- & \val{demo.written} & ---
\end{tabular*}
\medskip

@ No line has both numbers. (In the last one the other is no number at all: without the cache there is no pass that has rows of written tokens only.) ``About 120'' is the last line, rows of the twenty tokens that were written without those of the prompt; ``over 2400'' is what a prompt of eight costs if it is fed token by token, \val{demo.8.feddrawn}, prompt included. If the counter just goes on after the switch, it passes 2400 in the \val{demo.7.passes}th step after it for either prompt, at \val{demo.7.passed} and \val{demo.8.passed}. And $6\cdot20^2$ is 2400 exactly, which is perhaps where it came from.

The runs are the parrot's, which does not mind how many layers we multiply by.

@* What the tutorials say. \label{sec:cachetutorials}
The five sources agree that there is a cache and that it is worth having. On what it holds when, three of them are off by one.\lab{lab:cacheclaims}

\begin{tutorial}{offbyone}{S0-11}
\quoted{the write head commits a new token into the slot, the KV cache for that position fills in}
\ourrun when the first token has been written after a prompt of three, the text has four and the cache \val{claim.S0-11}. A token's keys and values are made when it is \emph{read}, one step later.
\end{tutorial}

\begin{tutorial}{offbyone}{S3-08, S0-31}
\quoted{when generating token 501, you don't actually need to recompute the attention Keys and Values for tokens 1-500}
\ourrun at that step \val{claim.S3-08} rows are in the cache. Token 500 is the newest; its row is not recomputed but computed, in this very step, for the first time.
\end{tutorial}

\begin{tutorial}{offbyone}{S1-13, S3-10}
\quoted{the new token's query attends to all cached keys and values (from the prompt and all previously generated tokens)}
\ourrun and to its own, which the next line of the same list appends too late. In that order the logits after \gen{\ on} are off by up to \val[2]{claim.S1-13}.
\end{tutorial}

\begin{tutorial}{offbyone}{S0-09}
\quoted{At each step the head fans beams back through every prior token}
\ourrun when the eleventh token is to be written, the query is that of position \val{claim.S0-09}, the last token there is, and it looks at itself as well. The empty slot has no query.
\end{tutorial}

@ What becomes linear was said in \cref{sec:counting}. These say otherwise, one of them in an article that says it rightly further down.

\begin{tutorial}{wrong}{S3-12}
\quoted{With KV caching, it's O(n) — each step only processes one new token against the cached history.}
\ourrun printed there as the cost of a whole text, where the naive one has O(n²). One row a step, against a history of $n$: for $10^3$ tokens \val{claim.S3-12} pairs. Each step is linear, and their sum is not.
\end{tutorial}

\begin{tutorial}{misleading}{S0-04, S1-22, S2-03, S2-94}
\quoted{Without it, inference cost scales quadratically with sequence length instead of linearly.}
\ourrun rows go from quadratic to linear, pairs from cubic to quadratic: \val{claim.S0-04} are left.
\end{tutorial}

\begin{tutorial}{ambiguous}{S0-06, S0-13}
\quoted{The COMPUTE stat jumps from about 120 to over 2400}
\ourrun by none of five ways of counting (\cref{sec:demonstration}). After a prompt of eight it is \val{claim.S0-13} with the cache and \val{claim.S0-06} without.
\end{tutorial}

@ And these are about what the cache is.

\begin{tutorial}{misleading}{S0-51}
\quoted{It is not a memoized function result; it is the actual intermediate attention state}
\ourrun it is a memoized function result, namely of the tokens up to the row: written twice, \val{claim.S0-51} logits differ. That is why it may be shared.
\end{tutorial}

\begin{tutorial}{misleading}{S1-56}
\quoted{The KV cache is optional.}
\ourrun the source prints the sentence as a misconception of others. It is none as far as the text goes: with the cache and without it \val{claim.S1-56} logits differ. For the time it takes, the cache is not optional.
\end{tutorial}

\begin{tutorial}{misleading}{S4-50}
\quoted{Trades compute for memory}
\ourrun the other way round: at 50 and 100 tokens, in GPT-2 small's shape, \val{claim.S4-50} bytes are spent, and rows are saved.
\end{tutorial}

\begin{tutorial}{misleading}{S0-50}
\quoted{the model never sees its output as a whole, only as the growing sequence it keeps extending}
\ourrun it sees all of it but one token: of seven tokens the last pass has read \val{claim.S0-50}, and they are the output as far as there is one.
\end{tutorial}

@* The check. \label{sec:cachecheck}
The last thing that the program does is to fork. The prompt has ten tokens, and two texts go on from it. After the fork nothing has been copied; when the first of the two is written to, the rows that it shares on the last page are; the other then has that page for itself. In the end more is requested than there is, and the cache refuses with a sentence that has both numbers, here in two lines.

\checkpoint{build/out/cache.txt}{the same text twice; ten positions and one more; a fork, and a full cache}

@<Show what a fork costs@>=
static bool print_fork(struct writer *w, struct error *why)
{
  struct cache_options small = @[{ .rows = 48, .page_rows = 16 }@];
  struct store *s = cache_open(&w->m, &w->lm->config, 2, &small, why);
  bool ok = s != NULL && read_on(w, s, 0, 10, why) && store_fork(s, 0, 1, why);
  if (ok) printf("forked:   %zu page, %zu bytes copied\n",
    cache_look(s).pages_used, cache_look(s).bytes_copied);
  for (uint32_t q = 0; ok && q < 2; q++) {
    ok = read_on(w, s, q, 1, why);
    if (ok) printf("%u goes on: %zu pages, %zu bytes copied\n", q,
      cache_look(s).pages_used, cache_look(s).bytes_copied);
  }
  if (ok && !read_on(w, s, 0, 25, why)) {
    int half = (int) strcspn(why->text, ";") + 1;
    printf("%.*s\n %s\n", half, why->text, why->text + half);
  }
  store_close(s);
  return ok;
}

@* Exercises. \label{sec:cacheexercises}
The command beside an exercise judges your answer by running the loop and the cache.

\begin{exercises}
\exercise{check}{ex:cache.rows}{A prompt of 12 tokens, 30 to write. How many rows are in the cache at the end, how many were computed, and how many pairs were compared?}{\texttt{make exercise-04-1}}{$12+30-1=41$ rows, each computed once. The prompt has $12\cdot13/2=78$ pairs, and the 29 rows after it look at $13$, $14$, \dots, $41$ keys: $78+29\cdot27=861$.}
\exercise{check}{ex:cache.pages}{Three texts begin with the same 40 tokens, in pages of 16, and each goes on for 10 tokens of its own. How many pages are taken, and how many rows are copied?}{\texttt{make exercise-04-2}}{The 40 are two full pages and 8 rows of a third. Two of the three texts copy those 8 rows; the last to write has the page for itself. Each then has 18 rows after the full pages, on two pages: $2+3\cdot2=8$ pages, 16 rows copied.}
\exercise{think}{ex:cache.saved}{From how many tokens on has the cache saved at least as many rows as it has computed, if the prompt has 100?}{\texttt{make exercise-04-3}}{Saved are $gp+g(g-1)/2-(p+g-1)$ rows, computed $p+g-1$. With two tokens the first is one short of the second, with three it is nearly twice as much: 3.}
\exercise{think}{ex:cache.pairs}{How many pairs does the cached loop compare for a prompt of $p$ tokens and $k$ written? Give a formula.}{\texttt{make exercise-04-4}}{$p(p+1)/2$ for the prompt, and $p+1$, $p+2$, \dots\ for the $k-1$ rows after it: $p(p+1)/2+(k-1)p+k(k-1)/2$.}
\exercise{think}{ex:cache.reuse}{A text of 60 tokens is in the cache. How many of its rows can serve another text of 60 tokens that differs in the 38th only? And one that is the first without its first token?}{\texttt{make exercise-04-5}}{37: the rows after the difference belong to another text, though their tokens agree. And none, unless the first two tokens are equal: every token stands at another position.}
\exercise{check}{ex:cache.bytes}{How many bytes a position does a cache of 2-byte numbers take in a model of 24 layers, 16 heads and a |head_dim| of 64? And if the 16 heads share 4 heads of keys and values?}{\texttt{make exercise-04-6}}{$2\cdot24\cdot16\cdot64\cdot2$ bytes, and a quarter of that.}
\exercise{build}{ex:cache.exact}{Let the pool grow by exactly the pages that are wanted, and not by doubling. How often does it ask for memory for a text of 300 tokens that is written one by one, in pages of 16? Change |pages_grow|.}{\texttt{make exercise-04-7}}{|cap = wanted|. It asks once for each page that is added, where doubling asks once for each power of two.}
\exercise{build}{ex:cache.share}{Let |store_match_prefix| keep nothing of a text that differs, not even the rows before the difference. What does that make slower?}{\texttt{make exercise-04-8}}{Where |k < q->length| and |k < n| the sequence is cropped to nothing. Only a second text that begins like the first is dearer now; no logit changes.}
\end{exercises}
