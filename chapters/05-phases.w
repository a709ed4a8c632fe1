@i types.w
@s machine int
@s phase int
@s perplexity int
@s stand_in int
@s engine int
@s kernels int
@s matrix int
@s tensor int
@s normalizer int
@s model_layer int

\chapterquestion{Why does the first word take so long, and then they come running?}
@** Prefill and decode.
\incipit{A}{ machine that multiplies} has two things to wait for: the multiplications, and the numbers that are to be multiplied. With the cache, each pass behind the first has a single
row, and a single row uses every weight of the model exactly once. The first pass has as many rows as the prompt has tokens, and uses each weight as many times. So the same model, on the same machine, does
two kinds of work: first it calculates, and then it reads. The first is called \emph{prefill}, the second \emph{decode}.
@^prefill@>@^decode@>

\begin{byhand}{six weights, and a machine of two speeds}
A matrix has $2\cdot3=6$ weights. The machine fetches one weight in each tick of its clock, and can in the same tick do four multiply--adds with what it has. A row needs six multiply--adds; so $n$ rows need $6n$, and the six weights are fetched once for all of them.

\medskip
\begin{tabular}{@@{}rrrrr@@{}}
\tabhead{rows} & \tabhead{ticks to fetch} & \tabhead{ticks to multiply} & \tabhead{whichever is more} & \tabhead{a row}\\
1 & 6 & $6\div4=1.5$ & 6 & 6\\
2 & 6 & $12\div4=3$ & 6 & 3\\
4 & 6 & $24\div4=6$ & 6 & 1.5\\
8 & 6 & $48\div4=12$ & 12 & 1.5
\end{tabular}
\medskip

One row costs as much time as four: three of the four are free. From there on a row costs 1.5 ticks, however many come. And the machine's two speeds alone, four to one, have told us where: at 4 rows.
\end{byhand}

@ The chapter makes a module that measures: how fast the machine calculates and reads (|machine_probe|), what a pass takes (|phase_read|), and how well a model predicts a text that it only reads (|perplexity_of|). The
program uses it to put each of the two phases where it belongs.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/timing.h"
#include "loop/laboratory.h"
#include "loop/loop.h"
#include "cache/cache.h"
#include "phases/phases.h"
@;@#
@<What the measurements work with@>@;
@<Show the rows of the two phases@>@;
@<Show that chunks change nothing@>@;
@<Take the time of passes@>@;
@<Take the time of parts@>@;
@<Take the time of chunks and whole texts@>@;
@<Read what was measured@>@;
@<Print every number that the prose quotes@>@;
@#
int main(int argc, char **argv)
{
  struct laboratory lab;
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = laboratory_open(&lab, &why) && print_what(&lab, what, &why);
  laboratory_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.words);
  return !ok;
}

@* Work, and what it needs. \label{sec:intensity}
A linear layer with $a$ inputs and $b$ outputs does $nab$ multiply--adds for $n$ rows. For that it must read $ab$ weights, and $n$ rows of inputs, and write $n$ rows of outputs. In numbers of four bytes the multiply--adds for each byte moved are
\begin{equation}\label{eq:intensity}
  I(n)={nab\over4\,(ab+na+nb)}={1\over4}\cdot{1\over{1\over n}+{1\over b}+{1\over a}}.
\end{equation}
This is called the \emph{arithmetic intensity} (with two operations in a multiply--add, and not one, it is twice as much). For one row the first of the three fractions is all that matters, and $I$ is a quarter: four bytes for each multiply--add. It grows with the number of rows, one for one, until $1/n$ has become as small as $1/a+1/b$; a matrix of 768 by 3072 gets to \val[0]{phases.intensity.512} with 512 rows and to \val[0]{phases.intensity.limit} at most.
@^arithmetic intensity@>

Attention has no weights; what it reads is the cache. A query of one head meets $m$ keys and takes its share of $m$ values: $2dm$ multiply--adds for $d$ numbers a head, and $2dm$ numbers read. Again a quarter, and this time more tokens do not help: each sequence has a cache of its own. Only the rows of one sequence in one pass share what they read, as in prefill, and the heads that share one head of keys and values, as in grouped-query attention. So a row that decodes has an intensity of one quarter, whatever the model, as long as numbers have four bytes and no heads are shared; with numbers of two bytes it is a half.

@ The counters have all that is needed: multiply--adds of the layers, of attention and of the head; bytes of weights, and bytes of the cache, read and written. Inputs and outputs of the layers are not among them, since they stay in the machine's caches or should; so the intensities of the figures to come are a little higher than \eqref{eq:intensity} says. Even a pass that fetches and multiplies at the same time, and has never to wait for both, takes
\begin{equation}\label{eq:bound}
  t\ge\max\Bigl({\hbox{multiply--adds}\over F},{\hbox{bytes}\over B}\Bigr)
\end{equation}
on a machine that does $F$ multiply--adds a second and reads $B$ bytes (Williams and others 2009). No pass can be faster, if what it reads comes from memory; how much slower it is says how good the program is.
@^roofline@>

@(phases.h@>=
#ifndef INCIPIT_PHASES_H
#define INCIPIT_PHASES_H
#include "loop/loop.h"
@<What a machine can do@>@;
@<What a pass has taken@>@;
@<A model of which only the shape counts@>@;
@<How well a text is predicted@>@;
#endif

@ A machine is two speeds, as in the hand calculation, and a pass is measured against the slower of them. Work is what the counters have counted, added up in the two currencies.

@<What a machine can do@>=
struct machine { double madds, bytes; };
  /* multiply--adds of floats and bytes read from memory, a second */
bool machine_probe(struct memory *m, const struct engine *e,
  struct machine *out, struct error *why);
  /* what all workers of the engine together do with its kernels' instructions, the medians of
     some rounds; errors: memory */
uint64_t work_madds(const struct counters *c);
  /* multiply--adds of layers, attention and head */
uint64_t work_bytes(const struct counters *c);
  /* bytes of weights and cache, read or written */
void counters_add(struct counters *a, const struct counters *b);
  /* |a| becomes the sum of both */
double work_bound(const struct machine *m, const struct counters *c);
  /* the seconds that |machine| needs at least (Williams, Waterman and Patterson 2009) */

@ The sums are short.

@<Sum up the work@>=
uint64_t work_madds(const struct counters *c)
{@+ return c->madds_linear + c->madds_attention + c->madds_head;@+ }
uint64_t work_bytes(const struct counters *c)
{
  return c->weight_bytes_read + c->cache_bytes_read
    + c->cache_bytes_written;
}
void counters_add(struct counters *a, const struct counters *b)
{
  a->passes += b->passes, a->rows += b->rows;
  a->kv_rows_computed += b->kv_rows_computed;
  a->kv_rows_recomputed += b->kv_rows_recomputed;
  a->qk_pairs += b->qk_pairs, a->madds_linear += b->madds_linear;
  a->madds_attention += b->madds_attention, a->madds_head += b->madds_head;
  a->weight_bytes_read += b->weight_bytes_read;
  a->cache_bytes_read += b->cache_bytes_read;
  a->cache_bytes_written += b->cache_bytes_written;
}
double work_bound(const struct machine *m, const struct counters *c)
{
  return fmax((double) work_madds(c) / m->madds,
    (double) work_bytes(c) / m->bytes);
}

@* What the machine can do. \label{sec:machine}
A data sheet names the speed of the best processor on its best day. We want that of this one, now, with the workers that the engine has, by the instructions that its kernels use. So each worker runs the kernels' |spin|, which only calculates, and then |sweep|, which only reads, over a block that no cache can hold (\cref{sec:probes}). Several rounds are taken, and the median counts, as a probe may be disturbed like anything else.
@^probe@>

@<Probe the machine@>=
enum { PROBES = 7, SPINS = 1 << 27, SWEPT = 1 << 26 };
struct share { uint64_t done; float left; };
struct probe { const struct kernels *k; const float *block;
  struct share *of; };
  /* |of[workers]| */
static void probe_spin(void *what, unsigned worker, unsigned workers)
{
  struct probe *p = what;
  (void) workers;
  p->of[worker].done = p->k->spin(SPINS, &p->of[worker].left);
}
static void probe_sweep(void *what, unsigned worker, unsigned workers)
{
  struct probe *p = what;
  size_t from = (size_t) SWEPT / workers * worker;
  size_t to = worker + 1 == workers ? SWEPT : from + SWEPT / workers;
  p->of[worker].left = p->k->sweep(p->block + from, to - from);
}

@ The block has 256 MiB, several times as much as the largest cache of the processors that we know; it is written once before it is read, or the system would show the same empty page everywhere.

@<Probe the machine@>=
bool machine_probe(struct memory *m, const struct engine *e,
  struct machine *out, struct error *why)
{
  double madds[PROBES], bytes[PROBES];
  unsigned workers = pool_workers(e->self);
  struct share *of = memory_take(m, FOR_OTHER, workers, sizeof *of, why);
  float *block = of == NULL ? NULL
    : memory_take(m, FOR_OTHER, SWEPT, sizeof *block, why);
  struct probe p = @[{ e->k, block, of }@];
  for (size_t i = 0; block != NULL && i < SWEPT; i++) block[i] = 1;
  for (int r = 0; block != NULL && r < PROBES; r++)
    @<Take the time of one round of probes@>@;
  if (block != NULL) *out = (struct machine) @[{
    timing_quartiles(madds, PROBES).median,
    timing_quartiles(bytes, PROBES).median }@];
  memory_give(m, FOR_OTHER, block, block == NULL ? 0 : SWEPT, sizeof *block);
  memory_give(m, FOR_OTHER, of, of == NULL ? 0 : workers, sizeof *of);
  return block != NULL;
}

@ What the workers have done is added up, and divided by the time until the last of them was ready.

@<Take the time of one round of probes@>=
{
  double start = timing_seconds(), done = 0;
  pool_run(e->self, probe_spin, &p);
  double middle = timing_seconds();
  pool_run(e->self, probe_sweep, &p);
  double end = timing_seconds();
  for (unsigned i = 0; i < workers; i++) done += (double) of[i].done;
  madds[r] = done / (middle - start);
  bytes[r] = SWEPT * sizeof (float) / (end - middle);
}

@* What a pass takes. \label{sec:passes}
Every pass of this chapter is so many rows behind so many that are stored: prefill is $n$ rows behind none, decode one row behind $d$. The module takes the time of either, the scores of the last row included, since no phase is over before they are known.

@<What a pass has taken@>=
struct phase { double seconds; struct counters work; };
  /* of one pass, or of the passes of a chunked prefill together */
bool phase_read(const struct generator *g, size_t depth, size_t n,
  size_t chunk, struct phase *out, struct error *why);
  /* reads |n| rows behind |depth| rows, in passes of at most |chunk| (0: in one), and
     scores the last; sequence 0 of the store then has |depth+n| rows. Rows that the
     store lacks are read first, and not counted. Errors: those of |forward| */

@ Which tokens they are does not matter to the clock; consecutive ones are never equal, that is all. What the store lacks is filled in chunks, so that no great amount of memory is wanted for it.

@<Take the time of a pass@>=
static bool read_on(const struct generator *g, size_t from, size_t n,
  size_t chunk, float *logits, struct error *why)
{
  struct pass *p = NULL;
  struct row *rows = memory_take(g->m, FOR_ACTIVATIONS, n, sizeof *rows, why);
  if (rows == NULL) return false;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) (from + i),
      (uint32_t) ((from + i) * 31 % g->lm->config.vocab_size) }@];
  bool ok = read_rows(g, rows, n, chunk, &p, why);
  if (ok && logits != NULL)
    ok = head(g->e, g->lm, p, &(size_t) @[{ p->n - 1 }@], 1, logits, why);
  pass_close(p);
  memory_give(g->m, FOR_ACTIVATIONS, rows, n, sizeof *rows);
  return ok;
}

@ Counters only ever grow; what a pass has cost is the difference between two copies.

@<Take the time of a pass@>=
static struct counters since(const struct counters *a, const struct counters *b)
{
  return (struct counters) @[{ b->passes - a->passes, b->rows - a->rows,@|
    b->kv_rows_computed - a->kv_rows_computed,@|
    b->kv_rows_recomputed - a->kv_rows_recomputed,@|
    b->qk_pairs - a->qk_pairs, b->madds_linear - a->madds_linear,@|
    b->madds_attention - a->madds_attention, b->madds_head - a->madds_head,@|
    b->weight_bytes_read - a->weight_bytes_read,@|
    b->cache_bytes_read - a->cache_bytes_read,@|
    b->cache_bytes_written - a->cache_bytes_written }@];
}

@ The clock runs from the call to the scores; the counters are read at both ends.

@<Take the time of a pass@>=
bool phase_read(const struct generator *g, size_t depth, size_t n,
  size_t chunk, struct phase *out, struct error *why)
{
  size_t v = g->lm->config.vocab_size, have;
  store_crop(g->s, 0, depth);
  have = store_length(g->s, 0);
  if (have < depth && !read_on(g, have, depth - have, 256, NULL, why))
    return false;
  float *logits = memory_take(g->m, FOR_ACTIVATIONS, v, sizeof *logits, why);
  if (logits == NULL) return false;
  struct counters before = *g->e->c;
  double start = timing_seconds();
  bool ok = read_on(g, depth, n, chunk, logits, why);
  out->seconds = timing_seconds() - start;
  out->work = since(&before, g->e->c);
  memory_give(g->m, FOR_ACTIVATIONS, logits, v, sizeof *logits);
  return ok;
}

@ A model of a published shape can be measured without its weights, for the clock does not read. |stand_in_open| makes one in the shape of GPT-2 small: \val{phases.standin.parameters} parameters, \val{phases.standin.bytes} bytes of random numbers between $-0.02$ and $0.02$. That is what the figures of this chapter need: the built-in model's few megabytes stay in the caches of a processor, and there the memory is never asked.

@<A model of which only the shape counts@>=
extern const struct model_config gpt2_small;
  /* its shape (Radford and others 2019) */
struct model *stand_in_open(struct memory *m, const struct model_config *shape,
  struct error *why);
  /* a model of GPT-2's kind with random weights in float32; owned by the caller; null
     and a sentence if memory is refused */
void stand_in_close(struct memory *m, struct model *lm);
  /* returns its memory; null is nothing */
size_t stand_in_numbers(const struct model_config *shape);
  /* how many weights it has */

@ All numbers stand in one block, and are dealt out in order.

@<Make a model of random numbers@>=
const struct model_config gpt2_small = @[{ .family = "gpt2",@|
  .vocab_size = 50257, .n_positions = 1024, .d_model = 768,@|
  .d_inner = 3072, .n_layers = 12, .n_heads = 12, .n_kv_heads = 12,@|
  .head_dim = 64, .norm_eps = 1e-5, .layer_norm = true,@|
  .learned_positions = true, .activation = ACTIVATION_GELU_TANH,@|
  .tied = true }@];
struct dealer { float *next; uint64_t seed; };
static struct tensor deal(struct dealer *d, size_t n)
{
  struct tensor t = @[{ d->next, WEIGHT_F32 }@];
  for (size_t i = 0; i < n; i++) {
    d->seed = d->seed * 48271 % 2147483647;
    *d->next++ = 0.04f * ((float) d->seed / 2147483647.0f - 0.5f);
  }
  return t;
}
static struct matrix deal_matrix(struct dealer *d, size_t in, size_t out)
{
  struct tensor w = deal(d, in * out);
  return (struct matrix) @[{ w, deal(d, out), in, out, true }@];
}

@ A layer of GPT-2 has two norms, and four matrices with their biases: $12d^2+13d$ numbers for a width of $d$ and an inner width of $4d$.

@<Make a model of random numbers@>=
static size_t layer_numbers(const struct model_config *c)
{
  size_t d = c->d_model, f = c->d_inner;
  return 4 * d + 3 * d * d + 3 * d + d * d + d + 2 * d * f + f + d;
}
static void deal_layer(struct dealer *d, const struct model_config *c,
  struct model_layer *l)
{
  size_t n = c->d_model, f = c->d_inner;
  float epsilon = (float) c->norm_eps;
  l->before_attention = (struct normalizer) @[{ .kind = NORM_LAYER,@|
    .gain = deal(d, n), .bias = deal(d, n), .epsilon = epsilon }@];
  l->before_mlp = (struct normalizer) @[{ .kind = NORM_LAYER,@|
    .gain = deal(d, n), .bias = deal(d, n), .epsilon = epsilon }@];
  l->qkv[0] = deal_matrix(d, n, 3 * n), l->n_qkv = 1;
  l->out = deal_matrix(d, n, n);
  l->up[0] = deal_matrix(d, n, f), l->n_up = 1;
  l->down = deal_matrix(d, f, n);
}

@ What the counters need to know is filled in as the loader of \cref{families} does it.

@<Make a model of random numbers@>=
static void deal_model(struct model *lm, float *block)
{
  struct model_config *c = &lm->config;
  struct dealer d = @[{ block, 1 }@];
  size_t n = c->d_model;
  lm->embedding = deal(&d, n * c->vocab_size);
  lm->positions = deal(&d, n * c->n_positions);
  for (uint32_t i = 0; i < c->n_layers; i++)
    deal_layer(&d, c, &lm->layers[i]);
  lm->last = (struct normalizer) @[{ .kind = NORM_LAYER, .gain = deal(&d, n),@|
    .bias = deal(&d, n), .epsilon = (float) c->norm_eps }@];
  lm->head = (struct matrix) @[{ .weight = lm->embedding, .in = n,@|
    .out = c->vocab_size }@];
  lm->attention = (struct heads) @[{ c->n_heads, c->n_kv_heads, c->head_dim,@|
    1 / sqrtf((float) c->head_dim) }@];
  lm->layer_bytes = c->n_layers * layer_numbers(c) * sizeof (float);
  lm->layer_madds = c->n_layers * (4 * n * n + 2 * n * c->d_inner);
  lm->head_bytes = (uint64_t) n * c->vocab_size * sizeof (float);
}

@ The memory is accounted for as weights, of which there is one block.

@<Make a model of random numbers@>=
size_t stand_in_numbers(const struct model_config *c)
{
  return (size_t) c->d_model * (c->vocab_size + c->n_positions + 2)
    + c->n_layers * layer_numbers(c);
}
struct model *stand_in_open(struct memory *m, const struct model_config *shape,
  struct error *why)
{
  struct model *lm = memory_take(m, FOR_WEIGHTS, 1, sizeof *lm, why);
  if (lm == NULL)@+ return NULL;
  lm->config = *shape;
  lm->layers = memory_take(m, FOR_WEIGHTS, shape->n_layers,
    sizeof *lm->layers, why);
  float *block = lm->layers == NULL ? NULL
    : memory_take(m, FOR_WEIGHTS, stand_in_numbers(shape), sizeof *block, why);
  if (block != NULL) deal_model(lm, block);
  if (block != NULL)@+ return lm;
  stand_in_close(m, lm);
  return NULL;
}

@ The block begins with the embedding.

@<Make a model of random numbers@>=
void stand_in_close(struct memory *m, struct model *lm)
{
  if (lm == NULL) return;
  const struct model_config *c = &lm->config;
  float *block = NULL;
  memcpy(&block, &lm->embedding.data, sizeof block);
  memory_give(m, FOR_WEIGHTS, block, block == NULL ? 0 : stand_in_numbers(c),
    sizeof *block);
  memory_give(m, FOR_WEIGHTS, lm->layers, lm->layers == NULL ? 0 : c->n_layers,
    sizeof *lm->layers);
  memory_give(m, FOR_WEIGHTS, lm, 1, sizeof *lm);
}

@* A text that is only read. \label{sec:perplexity}
Prefill has a use without any decode behind it. Each row of a text says what it expects next, and the text says what came: so one pass over a text tells how well the model predicts it, token by token. The mean of $-\ln p$ over its tokens is the \emph{loss}, in nats a token; $e$ to that power is the \emph{perplexity}, the number of equally likely tokens among which the model seems to guess. To compare models whose tokens differ in length, one divides the sum by the bytes of the text instead, and by $\ln2$: bits a byte.
@^perplexity@>@^bits per byte@>

A text longer than the context is read in \emph{windows}, each from an empty store. The first token of a window has nobody before it and cannot be scored there; the next few have little. If windows overlap, a token is scored in the first window where it has a predecessor, and the later windows only give their new tokens more to look back at. That costs more passes and gives a better loss of the same model: two perplexities can be compared only if their windows are the same.

@<How well a text is predicted@>=
struct perplexity { size_t tokens, windows; double loss; };
  /* tokens that were scored, windows that were read, and the sum of $-\ln p$, in order */
bool perplexity_of(const struct generator *g, const uint32_t *id, size_t n,
  size_t context, size_t stride, struct perplexity *out, struct error *why);
  /* reads |n| ids in windows of |context| ids that begin every |stride| ids, 1 to |context|; errors: a
     context beyond the model's, an id out of range, memory, a logit that is not finite */

@ A window has its rows read in chunks of 64, and behind each chunk those rows are scored whose next token is a new one. The scores of 16 rows are made at a time: one row alone would read the head's weights once a token, and all rows of a window at once would want memory for as many scores as the vocabulary has tokens, each.

@<Score a window@>=
enum { READ_AT_ONCE = 64, SCORED_AT_ONCE = 16 };
struct reader { const struct generator *g; const uint32_t *id;
  float *logits; double *logprob; struct perplexity *out; };
  /* |[SCORED_AT_ONCE][vocab_size]|, twice */
static bool score_rows(struct reader *r, struct pass *p, size_t base,
  size_t first, size_t last, struct error *why)
{
  const struct generator *g = r->g;
  size_t v = g->lm->config.vocab_size, which[SCORED_AT_ONCE], n;
  for (size_t i = first; i < last; i += n) {
    for (n = 0; n < SCORED_AT_ONCE && i + n < last; n++) which[n] = i + n;
    if (!head(g->e, g->lm, p, which, n, r->logits, why)) return false;
    g->e->k->log_softmax(g->e, r->logits, n, v, r->logprob);
    for (size_t k = 0; k < n; k++)
      @<Add the loss of the token behind row |i+k|@>@;
  }
  return true;
}

@ A score that is not a number spoils the probabilities of its whole row, and a score of minus infinity makes its own token impossible. Either would make the sum worthless, so it is an error.

@<Add the loss of the token behind row |i+k|@>=
{
  double loss = -r->logprob[k * v + r->id[base + i + k + 1]];
  if (!isfinite(loss))
    return error_say(why, "the loss of token %zu is not finite; wanted:"@|
      " finite logits", base + i + k + 1);
  r->out->loss += loss, r->out->tokens++;
}

@ Token |seen| is the first that no window has scored yet; the row before it is the first whose scores are wanted.

@<Score a window@>=
static bool score_window(struct reader *r, size_t begin, size_t end,
  size_t seen, struct error *why)
{
  struct row rows[READ_AT_ONCE];
  bool ok = true;
  store_crop(r->g->s, 0, 0);
  for (size_t at = begin, n; ok && at < end; at += n) {
    struct pass *p = NULL;
    n = end - at < READ_AT_ONCE ? end - at : READ_AT_ONCE;
    for (size_t i = 0; i < n; i++)
      rows[i] = (struct row) @[{ 0, (uint32_t) (at + i - begin),
        r->id[at + i] }@];
    size_t first = seen > at + 1 ? seen - at - 1 : 0;
    size_t last = at + n == end ? n - 1 : n;
    ok = forward(r->g->e, r->g->lm, r->g->s, rows, n, &p, why)
      && score_rows(r, p, at, first, last, why);
    pass_close(p);
  }
  return ok;
}

@ The last window is the first that reaches the end of the text.

@<Read a text in windows@>=
static bool read_windows(struct reader *r, size_t n, size_t context,
  size_t stride, struct error *why)
{
  size_t seen = 1, end = 0;
  for (size_t begin = 0; end < n; begin += stride) {
    end = n - begin < context ? n : begin + context;
    if (seen <= begin) seen = begin + 1;
    if (!score_window(r, begin, end, seen, why)) return false;
    r->out->windows++;
    seen = end;
  }
  return true;
}

@ A stride longer than the window would leave tokens out, and is refused; so is one of nothing. The ids are looked at before anything is read: the token that a row is scored by may come with the next chunk, which nobody has checked yet.

@<Read a text in windows@>=
bool perplexity_of(const struct generator *g, const uint32_t *id, size_t n,
  size_t context, size_t stride, struct perplexity *out, struct error *why)
{
  size_t most = g->lm->config.n_positions, v = g->lm->config.vocab_size;
  struct memory *m = g->m;
  *out = (struct perplexity) @[{ .tokens = 0 }@];
  if (context < 1 || context > most)
    return error_say(why, "windows of %zu tokens; wanted: 1 to %zu, the"@|
      " model's context", context, most);
  if (stride < 1 || stride > context)
    return error_say(why, "windows every %zu tokens; wanted: 1 to %zu, the"@|
      " length of a window", stride, context);
  for (size_t i = 0; i < n; i++)
    if (id[i] >= v) return error_say(why, "token %zu of the text is id %"
      PRIu32 "; the vocabulary has %zu", i, id[i], v);
  struct reader r = @[{ .g = g, .id = id, .out = out }@];
  r.logits = memory_take(m, FOR_ACTIVATIONS, SCORED_AT_ONCE * v,
    sizeof *r.logits, why);
  if (r.logits != NULL) r.logprob = memory_take(m, FOR_ACTIVATIONS,
    SCORED_AT_ONCE * v, sizeof *r.logprob, why);
  bool ok = r.logprob != NULL && read_windows(&r, n, context, stride, why);
  memory_give(m, FOR_ACTIVATIONS, r.logprob, r.logprob == NULL ? 0
    : SCORED_AT_ONCE * v, sizeof *r.logprob);
  memory_give(m, FOR_ACTIVATIONS, r.logits, r.logits == NULL ? 0
    : SCORED_AT_ONCE * v, sizeof *r.logits);
  return ok;
}

@ The module's parts in C's order.

@(phases.c@>=
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "ground/timing.h"
#include "phases/phases.h"
@;@#
@<Sum up the work@>@;
@<Probe the machine@>@;
@<Take the time of a pass@>@;
@<Make a model of random numbers@>@;
@<Score a window@>@;
@<Read a text in windows@>@;

@* Rows in passes. \label{sec:rowspasses}
The loop of chapter 3, with the memory of chapter 4, has been doing both phases all the time. The prompt's rows are what the store lacks in the first step; later it lacks one. We only have to look: a watcher prints what the counters say of each pass, for the built-in model, with the seven tokens of the sentence given and four to write.

@<Show the rows of the two phases@>=
static bool print_pass(void *self, const struct step *now)
{
  const struct counters *a = &now->before, *b = &now->after;
  double madds = (double) (work_madds(b) - work_madds(a));
  double bytes = (double) (work_bytes(b) - work_bytes(a));
  (void) self;
  printf("%4zu %5" PRIu64 " %12.0f %10.0f %9.2f\n", now->number,@|
    b->rows - a->rows, madds, bytes, madds / bytes);
  return true;
}
static bool show_phases(struct laboratory *lab, struct error *why)
{
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) @[{ .rows = 0 }@], why);
  struct generator maker = @[{ &lab->e, lab->pocket, s, &lab->m }@];
  struct settings want = @[{ .max_new_tokens = 4, .recall = store_keep,@|
    .see = print_pass }@];
  struct continuation text;
  printf("pass  rows  mult.-adds      bytes  a byte\n");
  bool ok = s != NULL
    && generate(&maker, lab->sentence, WORDS, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  store_close(s);
  return ok;
}

@ The intensity of the first pass is not seven times that of the others, but \val[1]{phases.shown.ratio} times. The reason is the head: it reads all of its weights for the last row only, in either phase.

@* In chunks. \label{sec:chunks}
A prompt of a hundred thousand tokens would be a pass of a hundred thousand rows: more memory for its activations than for its keys and values, and for all the others who share the machine a long time in which nothing moves. So prompts are read in \emph{chunks} (Agrawal and others 2023), a pass each. From which sizes may one choose? From all: the rows of a chunk find their predecessors in the store, and cannot tell whether these came in the same pass or in another. The program reads one prompt in chunks of several sizes and compares the scores behind its last row.
@^chunked prefill@>

@<Show that chunks change nothing@>=
enum { PROMPT = 60 };
static bool read_chunked(struct laboratory *lab, size_t chunk, float *logits,
  uint64_t *passes, struct error *why)
{
  struct row rows[PROMPT];
  struct pass *p = NULL;
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) @[{ .rows = 0 }@], why);
  struct generator g = @[{ &lab->e, lab->pocket, s, &lab->m }@];
  uint64_t before = lab->c.passes;
  for (uint32_t i = 0; i < PROMPT; i++)
    rows[i] = (struct row) @[{ 0, i, lab->sentence[i % WORDS] }@];
  bool ok = s != NULL && read_rows(&g, rows, PROMPT, chunk, &p, why);
  ok = ok && head(&lab->e, lab->pocket, p, &(size_t) @[{ p->n - 1 }@], 1,@|
    logits, why);
  *passes = lab->c.passes - before;
  pass_close(p);
  store_close(s);
  return ok;
}

@ All in one comes first, and is what the others are compared with.

@<Show that chunks change nothing@>=
static bool show_chunks(struct laboratory *lab, struct error *why)
{
  static const size_t chunk[] = @[{ 0, 1, 7, 16, 59 }@];
  size_t n = lab->pocket->config.vocab_size;
  float *z = memory_take(&lab->m, FOR_ACTIVATIONS, 2 * n, sizeof *z, why);
  bool ok = z != NULL;
  for (int i = 0; ok && i < 5; i++) {
    uint64_t passes = 0;
    float *here = i == 0 ? z : z + n;
    size_t differ = 0;
    ok = read_chunked(lab, chunk[i], here, &passes, why);
    for (size_t k = 0; k < n; k++)
      differ += memcmp(z + k, here + k, sizeof *z) != 0;
    if (ok && i > 0) printf("%d rows in chunks of %2zu: %2" PRIu64
      " passes, %zu of %zu logits differ\n", PROMPT, chunk[i], passes,
      differ, n);
  }
  memory_give(&lab->m, FOR_ACTIVATIONS, z, z == NULL ? 0 : 2 * n, sizeof *z);
  return ok;
}

@ What windows do is shown with the sentence, twenty times over, in windows of 32 tokens.

@<Show that chunks change nothing@>=
static bool show_windows(struct laboratory *lab, struct error *why)
{
  enum { TEXT = 20 * WORDS };
  uint32_t id[TEXT];
  for (int i = 0; i < TEXT; i++) id[i] = lab->sentence[i % WORDS];
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) @[{ .rows = 0 }@], why);
  struct generator g = @[{ &lab->e, lab->pocket, s, &lab->m }@];
  bool ok = s != NULL;
  for (size_t stride = 32; ok && stride >= 8; stride /= 2) {
    struct perplexity p;
    ok = perplexity_of(&g, id, TEXT, 32, stride, &p, why);
    double mean = p.loss / (double) p.tokens;
    if (ok) printf("windows every %2zu: %2zu, %zu of %d scored,"@|
      " perplexity %.4f\n", stride, p.windows, p.tokens, TEXT, exp(mean));
  }
  store_close(s);
  return ok;
}

@* Measured. \label{sec:measured}
Two models are measured, the stand-in of GPT-2 small and the built-in one, with one worker and with two. What a measurement works with is kept together; it is opened anew for each number of workers, and the machine is probed just before, as its speed this minute is not that of the last.

@<What the measurements work with@>=
enum { ROUNDS = 5, LONGEST = 1000 };
struct bench { struct laboratory *lab; struct pool *crew; struct engine e;
  struct store *s; struct generator g; struct machine speed; };
static bool bench_open(struct bench *b, struct laboratory *lab,
  const struct model *lm, unsigned workers, struct error *why)
{
  struct memory *m = &lab->m;
  *b = (struct bench) @[{ .lab = lab, .e = lab->e }@];
  b->crew = pool_open(m, workers, why);
  if (b->crew != NULL) b->s = cache_open(m, &lm->config, 1,
    &(struct cache_wishes) @[{ .at_once = true }@], why);
  b->e.self = b->crew;
  b->g = (struct generator) @[{ &b->e, lm, b->s, m }@];
  return b->s != NULL && machine_probe(m, &b->e, &b->speed, why);
}
static void bench_close(struct bench *b)
{
  store_close(b->s);
  pool_close(&b->lab->m, b->crew);
}

@ The passes are those of both phases: one row behind many, from the deepest on, so that the store needs to be filled once only; and many rows behind none. All take turns in a round. A single row is read twice, and the second time counts: the first may come right behind the filling of the store, when the caches are full of other things.

@<Take the time of passes@>=
static const struct point { size_t depth, rows; } points[] = @[{ {1000, 1},@|
  {768, 1}, {512, 1}, {256, 1}, {128, 1}, {0, 1}, {0, 2}, {0, 4}, {0, 8},@|
  {0, 16}, {0, 32}, {0, 64}, {0, 100}, {0, 128}, {0, 256}, {0, 512},@|
  {0, LONGEST} }@];
enum { POINTS = sizeof points / sizeof *points };
static bool time_points(struct bench *b, struct phase seen[POINTS][ROUNDS],
  struct error *why)
{
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < POINTS; i++)
      for (int twice = 0; twice < 2; twice++)
        if ((twice || points[i].rows == 1) && !phase_read(&b->g,
          points[i].depth, points[i].rows, 0, &seen[i][r], why)) return false;
  return true;
}

@ A line of the file has the pass, the quartiles of its time in milliseconds, what the counters say, and what the machine did in the same minute, in multiply--adds and bytes a microsecond.

@<Take the time of passes@>=
static void print_points(const struct bench *b, const char *name,
  unsigned workers, struct phase seen[POINTS][ROUNDS])
{
  for (int i = 0; i < POINTS; i++) {
    double taken[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) taken[r] = 1e3 * seen[i][r].seconds;
    struct quartiles q = timing_quartiles(taken, ROUNDS);
    const struct counters *work = &seen[i][0].work;
    printf("%s,%u,%zu,%zu,%.4f,%.4f,%.4f,", name, workers, points[i].depth,
      points[i].rows, q.low, q.median, q.high);
    printf("%" PRIu64 ",%" PRIu64 ",%.1f,%.1f\n", work_madds(work),
      work_bytes(work), b->speed.madds / 1e6, b->speed.bytes / 1e6);
  }
}
static bool time_model(struct laboratory *lab, const struct model *lm,
  const char *name, struct error *why)
{
  bool ok = true;
  for (unsigned workers = 1; ok && workers <= 2; workers++) {
    struct bench b;
    struct phase seen[POINTS][ROUNDS];
    ok = bench_open(&b, lab, lm, workers, why) && time_points(&b, seen, why);
    if (ok) print_points(&b, name, workers, seen);
    bench_close(&b);
  }
  return ok;
}

@ The built-in model's lines come last.

@<Take the time of passes@>=
static bool print_passes(struct laboratory *lab, struct error *why)
{
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  printf("model,workers,depth,rows,low,median,high,madds,bytes,"
    "speed,bandwidth\n");
  bool ok = lm != NULL && time_model(lab, lm, "gpt2", why)
    && time_model(lab, lab->pocket, "pocket", why);
  stand_in_close(&lab->m, lm);
  return ok;
}

@ Where does the time of a pass go? The kernels are a table; so a table whose functions look at the clock, call the true ones, and look again, tells how much each has taken. The table stands at the head of a struct that has room for the times: whoever is called with the engine finds them.

@<Take the time of parts@>=
enum piece { PART_LINEAR, PART_HEAD, PART_ATTENTION, PART_NORM,@|
  PART_ACTIVATION, PART_REST, PARTS };
struct timed { struct kernels k; const struct kernels *true_ones;
  size_t vocab; double spent[PARTS]; };
static void timed_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  struct timed *t = (struct timed *) (uintptr_t) e->k;
  double start = timing_seconds();
  t->true_ones->linear(e, list, n, x, rows, y);
  enum piece which = list->out == t->vocab ? PART_HEAD : PART_LINEAR;
  t->spent[which] += timing_seconds() - start;
}
static void timed_attend(const struct engine *e, const struct heads *h,
  const float *q, const struct view *seen, size_t rows, float *room, float *y,
  const struct capture *keep)
{
  struct timed *t = (struct timed *) (uintptr_t) e->k;
  double start = timing_seconds();
  t->true_ones->attend(e, h, q, seen, rows, room, y, keep);
  t->spent[PART_ATTENTION] += timing_seconds() - start;
}

@ Norms and activations are small, but they are there.

@<Take the time of parts@>=
static void timed_normalize(const struct engine *e, const struct normalizer *g,
  const float *x, size_t rows, size_t d, float *y)
{
  struct timed *t = (struct timed *) (uintptr_t) e->k;
  double start = timing_seconds();
  t->true_ones->normalize(e, g, x, rows, d, y);
  t->spent[PART_NORM] += timing_seconds() - start;
}
static void timed_activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  struct timed *t = (struct timed *) (uintptr_t) e->k;
  double start = timing_seconds();
  t->true_ones->activate(e, kind, x, up, n, y);
  t->spent[PART_ACTIVATION] += timing_seconds() - start;
}

@ The rest is what no kernel has taken: the copying of rows into the store, additions to the residual stream, and the memory of the pass. A first pass fills the store, and is not timed.

@<Take the time of parts@>=
static bool time_parts(struct bench *b, size_t depth, size_t rows,
  double median[PARTS], struct error *why)
{
  struct timed t = @[{ *b->e.k, b->e.k, b->g.lm->config.vocab_size, { 0 } }@];
  double taken[PARTS][ROUNDS];
  t.k.linear = timed_linear, t.k.attend = timed_attend;
  t.k.normalize = timed_normalize, t.k.activate = timed_activate;
  struct phase seen;
  bool ok = phase_read(&b->g, depth, rows, 0, &seen, why);
  b->e.k = &t.k;
  for (int r = 0; ok && r < ROUNDS; r++) {
    memset(t.spent, 0, sizeof t.spent);
    ok = phase_read(&b->g, depth, rows, 0, &seen, why);
    t.spent[PART_REST] = seen.seconds;
    for (int i = 0; i < PART_REST; i++) t.spent[PART_REST] -= t.spent[i];
    for (int i = 0; i < PARTS; i++) taken[i][r] = 1e3 * t.spent[i];
  }
  for (int i = 0; ok && i < PARTS; i++)
    median[i] = timing_quartiles(taken[i], ROUNDS).median;
  b->e.k = t.true_ones;
  return ok;
}

@ And how fast is the kernel of the linear layers if memory does not keep it waiting? It is given a matrix and the inputs of 96 rows that stay in the second-level cache together: for the stand-in one of 512 inputs and 64 outputs, stored as GPT-2's are; for the built-in model one of its own, of 128 inputs, in two bytes a weight.

@<Take the time of parts@>=
static double time_alone(struct bench *b, const struct matrix *alone)
{
  enum { ROWS = 96, TIMES = 200 };
  static const float x[ROWS * 512];
  static float y[ROWS * 512];
  float *to = y;
  double taken[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    double start = timing_seconds();
    for (int i = 0; i < TIMES; i++)
      b->e.k->linear(&b->e, alone, 1, x, ROWS, &to);
    taken[r] = timing_seconds() - start;
  }
  return 1e-6 * TIMES * ROWS * (double) (alone->in * alone->out)
    / timing_quartiles(taken, ROUNDS).median;
}

@ Two passes of either model are taken apart, one of each phase; the last column is the speed of the probe in this minute, and in the line of the kernel alone its own.

@<Take the time of parts@>=
static bool print_model_parts(struct bench *b, const char *name,
  const struct matrix *alone, struct error *why)
{
  static const char *const part[] = @[{ "linear", "head", "attention",@|
    "norm", "activation", "rest" }@];
  double median[PARTS];
  for (int k = 0; k < 2; k++) {
    size_t depth = k == 0 ? 512 : 0, rows = k == 0 ? 1 : 512;
    if (!time_parts(b, depth, rows, median, why)) return false;
    for (int i = 0; i < PARTS; i++) printf("%s,%zu,%zu,%s,%.4f,%.1f\n", name,
      depth, rows, part[i], median[i], b->speed.madds / 1e6);
  }
  printf("%s,0,96,alone,0,%.1f\n", name, time_alone(b, alone));
  return true;
}

@ One more question can only be answered by a measurement. GPT-2 stores its matrices by inputs: then what a product reads is a piece of \emph{each} row, and a second worker's half is the right half of each. If the same numbers are taken for matrices stored by outputs, everybody's share is one piece from end to end. So a token is written with the stand-in's matrices turned, by one worker and by two.

@<Take the time of parts@>=
static bool time_turned(struct laboratory *lab, struct model *lm,
  struct error *why)
{
  bool ok = true;
  for (uint32_t i = 0; i < lm->config.n_layers; i++) {
    struct model_layer *l = &lm->layers[i];
    l->qkv[0].transposed = l->out.transposed = false;
    l->up[0].transposed = l->down.transposed = false;
  }
  for (unsigned workers = 1; ok && workers <= 2; workers++) {
    struct bench b;
    double taken[ROUNDS];
    ok = bench_open(&b, lab, lm, workers, why);
    for (int r = -1; ok && r < ROUNDS; r++) {
      struct phase seen;
      ok = phase_read(&b.g, 0, 1, 0, &seen, why);
      if (r >= 0) taken[r] = 1e3 * seen.seconds;
    }
    if (ok) printf("gpt2,0,%u,turned,%.4f,%.1f\n", workers,
      timing_quartiles(taken, ROUNDS).median, b.speed.bytes / 1e6);
    bench_close(&b);
  }
  return ok;
}

@ All of that goes into one file.

@<Take the time of parts@>=
static bool print_parts(struct laboratory *lab, struct error *why)
{
  static const float numbers[512 * 64];
  struct tensor any = @[{ numbers, WEIGHT_F32 }@];
  struct matrix alone = @[{ .weight = any, .in = 512, .out = 64,@|
    .transposed = true }@];
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  struct bench big = @[{ .lab = lab }@], small = @[{ .lab = lab }@];
  printf("model,depth,rows,part,time,speed\n");
  bool ok = lm != NULL && bench_open(&big, lab, lm, 1, why)
    && print_model_parts(&big, "gpt2", &alone, why)
    && bench_open(&small, lab, lab->pocket, 1, why)
    && print_model_parts(&small, "pocket", &lab->pocket->layers[0].up[0],
      why) && time_turned(lab, lm, why);
  bench_close(&big), bench_close(&small);
  stand_in_close(&lab->m, lm);
  return ok;
}

@ A prefill of 512 rows in chunks: from one row a pass, which is decode in all but name, to all in one.

@<Take the time of chunks and whole texts@>=
static bool print_chunks(struct laboratory *lab, struct error *why)
{
  static const size_t chunk[] = @[{ 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 }@];
  enum { CHUNKS = sizeof chunk / sizeof *chunk, TIMES = 3 };
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  struct bench b = @[{ .lab = lab }@];
  double taken[CHUNKS][TIMES];
  bool ok = lm != NULL && bench_open(&b, lab, lm, 1, why);
  for (int r = 0; r < TIMES; r++)
    for (int i = 0; ok && i < CHUNKS; i++) {
      struct phase seen;
      ok = phase_read(&b.g, 0, 512, chunk[i], &seen, why);
      taken[i][r] = seen.seconds;
    }
  printf("chunk,seconds\n");
  for (int i = 0; ok && i < CHUNKS; i++) printf("%zu,%.4f\n", chunk[i],
    timing_quartiles(taken[i], TIMES).median);
  bench_close(&b);
  stand_in_close(&lab->m, lm);
  return ok;
}

@ Whole texts are written by the loop, with the cache and without, six by the stand-in and a long one by the built-in model. The stand-in's text is nonsense, and costs what sense would cost.

@<Take the time of chunks and whole texts@>=
struct essay { const char *name; size_t p, g; bool keep; };
static bool time_essay(struct bench *b, const struct essay *t,
  double *seconds, struct error *why)
{
  uint32_t prompt[LONGEST];
  for (size_t i = 0; i < t->p; i++)
    prompt[i] = (uint32_t) (i * 31 % b->g.lm->config.vocab_size);
  struct settings want = @[{ .max_new_tokens = t->g, .recall = t->keep ? store_keep : NULL }@];
  struct continuation text;
  double start = timing_seconds();
  store_crop(b->s, 0, 0);
  if (!generate(&b->g, prompt, t->p, &want, &text, why)) return false;
  *seconds = timing_seconds() - start;
  continuation_free(b->g.m, &text);
  return true;
}

@ One run each: without the cache even a text of 100 tokens takes half a minute.

@<Take the time of chunks and whole texts@>=
static bool print_texts(struct laboratory *lab, struct error *why)
{
  static const struct essay essays[] = @[{ { "gpt2", 1, 30, false },@|
    { "gpt2", 1, 30, true }, { "gpt2", 50, 30, false },@|
    { "gpt2", 50, 30, true }, { "gpt2", 1, 100, false },@|
    { "gpt2", 1, 100, true }, { "pocket", 1000, 1000, true } }@];
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  struct bench big = @[{ .lab = lab }@], small = @[{ .lab = lab }@];
  bool ok = lm != NULL && bench_open(&big, lab, lm, 1, why)
    && bench_open(&small, lab, lab->pocket, 1, why);
  printf("model,prompt,written,cached,seconds\n");
  for (size_t i = 0; ok && i < sizeof essays / sizeof *essays; i++) {
    const struct essay *t = &essays[i];
    double seconds;
    ok = time_essay(t->name[0] == 'g' ? &big : &small, t, &seconds, why);
    if (ok) printf("%s,%zu,%zu,%d,%.4f\n", t->name, t->p, t->g, t->keep,
      seconds);
  }
  bench_close(&big), bench_close(&small);
  stand_in_close(&lab->m, lm);
  return ok;
}

@ One run is written down step by step, for a figure: 128 tokens given to the stand-in, and 24 to write. A line has the rows of the step, when it began and ended, in milliseconds, and its work.

@<Take the time of chunks and whole texts@>=
struct diary { double start, last; const struct bench *b; };
static bool write_diary(void *self, const struct step *now)
{
  struct diary *d = self;
  const struct counters *a = &now->before, *z = &now->after;
  double end = 1e3 * (timing_seconds() - d->start);
  printf("%zu,%" PRIu64 ",%.4f,%.4f,", now->number, z->rows - a->rows,@|
    d->last, end);
  printf("%" PRIu64 ",%" PRIu64 ",%.1f,%.1f\n", work_madds(z) - work_madds(a),
    work_bytes(z) - work_bytes(a), d->b->speed.madds / 1e6,@|
    d->b->speed.bytes / 1e6);
  d->last = end;
  return true;
}

@ A first token is written and thrown away, so that the memory of the pass and the weights have been touched before the diary begins.

@<Take the time of chunks and whole texts@>=
static bool print_run(struct laboratory *lab, struct error *why)
{
  uint32_t prompt[128];
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  struct bench b = @[{ .lab = lab }@];
  struct continuation text;
  struct settings want = @[{ .max_new_tokens = 1, .recall = store_keep }@];
  for (uint32_t i = 0; i < 128; i++) prompt[i] = i * 31;
  bool ok = lm != NULL && bench_open(&b, lab, lm, 1, why)
    && generate(&b.g, prompt, 128, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  printf("step,rows,begin,end,madds,bytes,speed,bandwidth\n");
  struct diary d = @[{ timing_seconds(), 0, &b }@];
  want.max_new_tokens = 24, want.see = write_diary, want.self = &d;
  if (ok) store_crop(b.s, 0, 0);
  ok = ok && generate(&b.g, prompt, 128, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  bench_close(&b);
  stand_in_close(&lab->m, lm);
  return ok;
}

@* On the roofline. \label{sec:roofline}
So much for the taking of times; now for what they say. On the machine of these pages one worker does \val[1]{phases.speed.1} billion multiply--adds a second and reads \val[1]{phases.bandwidth.1} billion bytes. The quotient, \val[1]{phases.balance} multiply--adds a byte, is the machine's \emph{balance}: work of less intensity waits for memory, work of more waits for the multipliers. In rows of a large matrix, at four bytes a weight, the balance stands at \val[0]{phases.balance.rows} rows.
@^machine balance@>

\Cref{fig:roofline} has the two bounds of \eqref{eq:bound} as a roof: on the left the slope of the memory, on the right the ceiling of the multipliers. Under it stand the passes. One row of the stand-in, at the left end, reaches \val[0]{phases.share.write.1} percent of the bandwidth; 512 rows reach \val[0]{phases.share.read.1} percent of the multipliers. Between the two a pass climbs with its rows, with a stop at two rows, and beyond a hundred it sinks a little again; we shall see why.

\widefig{roofline}{fig:roofline}{Passes of 1 to $10^3$ rows under the roof of the machine; broken lines are two workers. Red diamonds: one row behind up to $10^3$ others. The built-in model's few megabytes come from the processor's caches, and its passes gain little from company.}{A roof on logarithmic paper, rising on the left and flat on the right. A chain of points for GPT-2's shape climbs under it from the left wall to the ceiling, a little below the roof at both ends and farther below in the middle. The diamonds sit on the left wall. The built-in model's chain begins near the slope and is almost flat.}

@ Where a pass takes more than a quarter longer than the bound, there must be a reason, and it must be possible to measure it. \Cref{tab:parts} takes one pass of each
phase apart. (In another minute than the figure: this machine is shared, and its minutes differ.) The row that decodes spends nearly all of its time in products with matrices, and reads them more slowly than the probe reads its block. GPT-2's matrices are stored by inputs, in rows thousands of bytes long of which a product takes a piece at a time. With the same numbers taken for matrices stored by outputs, as Llama's are, a token takes
\val[1]{phases.turned.1} milliseconds instead of \val[1]{phases.ms.gpt2.1.0.1}, and \val[0]{phases.turned.share.1} percent of the bandwidth are reached.

In prefill the same products take nearly twice as long as the bound would have the whole pass take. Why? The probe's multiply--adds find their numbers in registers, and the kernel's must fetch theirs, at the best from the
processor's own caches. We let the kernel run there, on a matrix and rows that never leave the second-level cache, and it does \val[1]{phases.alone.gpt2} billion a
second. In the pass it does \val[1]{phases.linear.gpt2}, on matrices that are larger and cost less at their edges. So prefill does not wait for memory. Most of the gap is
the kernel's own, and chapter 11 will close it; the rest is attention, whose products are short and must be folded one by one, and then activations and norms.

\begin{table}
\tabcaption{tab:parts}{Milliseconds of two passes of the stand-in, by kernels: one row behind 512 others, and 512 rows behind none.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rr@@{}}
\tabhead{part} & \tabhead{1 row} & \tabhead{512 rows}\\
matrices of the layers & \val[1]{phases.part.gpt2.1.linear} & \val[0]{phases.part.gpt2.512.linear}\\
the head & \val[1]{phases.part.gpt2.1.head} & \val[0]{phases.part.gpt2.512.head}\\
attention & \val[1]{phases.part.gpt2.1.attention} & \val[0]{phases.part.gpt2.512.attention}\\
norms & \val[1]{phases.part.gpt2.1.norm} & \val[0]{phases.part.gpt2.512.norm}\\
activations & \val[1]{phases.part.gpt2.1.activation} & \val[0]{phases.part.gpt2.512.activation}\\
all else & \val[1]{phases.part.gpt2.1.rest} & \val[0]{phases.part.gpt2.512.rest}
\end{tabular*}
\end{table}

@ In the middle, at two to thirty rows, a pass is farthest from its bound: \val[1]{phases.over.gpt2.1.0.8} times at eight rows. There it waits for one thing after the
other: the weights are fetched, then packed into panels, then multiplied, where the bound has the first and the last at the same time and knows nothing of the packing. At
two rows the multiplying is next to nothing, and of the \val[0]{phases.ms.gpt2.1.0.2} milliseconds of that pass one row alone takes \val[0]{phases.ms.gpt2.1.0.1}; what is
left, \val[0]{phases.packing}, is the price of packing. It is paid once a pass. \Cref{fig:rowtime} shows what that means for a row: the second costs nearly as much as the
first, and then each is cheaper, until with about a hundred rows the price has come down to \val[1]{phases.row.gpt2.1.0.100} milliseconds, from
\val[1]{phases.row.gpt2.1.0.1}. From there it rises again, to \val[1]{phases.row.gpt2.1.0.1000} with $10^3$ rows: each row has more rows before it to look at, and a pass
with more rows than a block of panels serves packs the deepest matrices several times.

\fig{rowtime}{fig:rowtime}{Milliseconds a row against the rows of the pass, in GPT-2 small's shape; broken: two workers. Grey: the bound of one worker.}{Logarithmic paper. The curve jumps up from one row to two, and then falls, at first quickly, to a twentieth. The bound is a line that falls with slope one until it meets a floor.}

@ Two workers do \val[2]{phases.scale.speed} times as much as one in the first probe, and \val[2]{phases.scale.bandwidth} times as much in the second, since they share the way to memory. They read 512 rows \val[2]{phases.scale.read} times as fast as one, and write
\val[2]{phases.scale.write} times as fast: in either phase not far from what the machine allows. With the matrices turned, the two need \val[1]{phases.turned.2} milliseconds for a token, and have
\val[0]{phases.turned.share.2} percent of the bandwidth. A third worker would help prefill on a machine of three cores; decode it would hardly help at all.

@ The built-in model is farther from its bound, \val[1]{phases.over.pocket.1.0.512} times with 512 rows, and gains little from company: a row costs
\val[2]{phases.row.pocket.1.0.1} milliseconds alone, \val[2]{phases.row.pocket.1.0.128} among 128, and \val[2]{phases.row.pocket.1.0.512} among 512. In that largest pass
its matrices take \val[0]{phases.part.pocket.512.linear} milliseconds and attention \val[0]{phases.part.pocket.512.attention}, nearly all there is. The matrices are
small: a product of 128 terms is eight steps of sixteen lanes, and then the lanes must be folded. One of them alone, in the cache, runs at \val[1]{phases.alone.pocket} billion multiply--adds a second, half of what the probe does, and in the pass at \val[1]{phases.linear.pocket}. And attention looks at \emph{all} keys of a head of 32 numbers, again with a
fold for each. So it is not memory that a small model waits for, nor multiplications; it is everything else.

@* The first token, and the others. \label{sec:firsttoken}
Whoever waits for an answer waits for two things. The \emph{time to first token} is that of the prefill, and grows with the prompt; the \emph{time per token} is that of a decoded row, and grows with all that is there already. \Cref{tab:waits} has both for the two models, with one worker.
@^time to first token@>@^time per output token@>

\begin{table}
\tabcaption{tab:waits}{Milliseconds to the first token behind a prompt, and for each token behind so many.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrr@@{}}
& \multicolumn2{c}{GPT-2 small's shape} & \multicolumn2{c}{built-in model}\\
\tabhead{tokens} & \tabhead{first} & \tabhead{others} & \tabhead{first} & \tabhead{others}\\
1 & \val[0]{phases.ms.gpt2.1.0.1} & \val[0]{phases.ms.gpt2.1.0.1} & \val[2]{phases.ms.pocket.1.0.1} & \val[2]{phases.ms.pocket.1.0.1}\\
128 & \val[0]{phases.ms.gpt2.1.0.128} & \val[0]{phases.ms.gpt2.1.128.1} & \val[1]{phases.ms.pocket.1.0.128} & \val[2]{phases.ms.pocket.1.128.1}\\
256 & \val[0]{phases.ms.gpt2.1.0.256} & \val[0]{phases.ms.gpt2.1.256.1} & \val[1]{phases.ms.pocket.1.0.256} & \val[2]{phases.ms.pocket.1.256.1}\\
512 & \val[0]{phases.ms.gpt2.1.0.512} & \val[0]{phases.ms.gpt2.1.512.1} & \val[1]{phases.ms.pocket.1.0.512} & \val[2]{phases.ms.pocket.1.512.1}\\
1000 & \val[0]{phases.ms.gpt2.1.0.1000} & \val[0]{phases.ms.gpt2.1.1000.1} & \val[1]{phases.ms.pocket.1.0.1000} & \val[2]{phases.ms.pocket.1.1000.1}
\end{tabular*}
\end{table}

A prompt of $10^3$ tokens takes \val[1]{claim.S1-11} times as long as one of 100, and not the same time: ten times for the rows, and the rest because each of them has more to look at. A token that is written costs as much as \val[1]{phases.ratio.100} that are read in a prompt of 100, and as \val[1]{phases.ratio.1000} in one of 1000. The two phases differ by that factor here; on a machine of greater balance they differ by more.

\fig{depth}{fig:depth}{Milliseconds for each written token against the rows that are stored, in GPT-2 small's shape; broken: two workers. Grey: the bound, which is the time to read weights and cache.}{A line that rises slowly from the left, over a parallel grey one that lies a little lower. The broken pair, of two workers, lies lower and rises less.}

@ The cache is read in every step, and grows; so a token gets dearer with depth (\cref{fig:depth}; what wavers there is the machine), though the weights are the larger part for as long as GPT-2's context lasts. \Cref{fig:run} is one run from the prompt on, seen by two meters: how much is calculated in each moment, and how much is read. First the one needle is up, and then the other.

\widefig{run}{fig:run}{A run of the stand-in: 128 tokens given, 24 written. Above, billions of multiply--adds a second in each pass; below, billions of bytes. The lines are what the machine's probes reach.}{Two strips over the same time axis, in milliseconds. In the first the long pass on the left stands high and the many short ones on the right are almost flat; in the second it is the other way round.}

@* Why it cannot be hurried. \label{sec:serial}
A prompt of a million tokens can be read in one pass, because all of it is there. An answer cannot be written in one: its second token depends on the first, which is chosen when the pass is over. So a text of $g$ new tokens takes one pass for the prompt and $g-1$ more, \val{phases.shown.passes} for 20, one after the other, and each reads all weights. More processors shorten a pass; they do not make two of them run at the same time.
@^sequential bottleneck@>

Therefore a model has a speed limit on any machine: the bandwidth, divided by what a pass must read. A model of 70 billion parameters in two bytes each is 140 gigabytes. \Cref{tab:hardware} divides.

\begin{table}
\tabcaption{tab:hardware}{Published figures of accelerators: operations for each byte at balance (two to a multiply--add, in bfloat16), and the most tokens a second that 1, 4 and 8 of them can write with a model of 140 gigabytes for one reader. From the makers' data sheets, 2021 to 2024.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{machine} & \tabhead{balance} & \tabhead{1} & \tabhead{4} & \tabhead{8}\\
A100, 80 GB & \val[0]{phases.balance.A100} & \val[1]{phases.bound.A100.1} & \val[0]{phases.bound.A100.4} & \val[0]{phases.bound.A100.8}\\
H100 & \val[0]{phases.balance.H100} & \val[1]{phases.bound.H100.1} & \val[0]{phases.bound.H100.4} & \val[0]{phases.bound.H100.8}\\
H200 & \val[0]{phases.balance.H200} & \val[1]{phases.bound.H200.1} & \val[0]{phases.bound.H200.4} & \val[0]{phases.bound.H200.8}\\
B200 & \val[0]{phases.balance.B200} & \val[1]{phases.bound.B200.1} & \val[0]{phases.bound.B200.4} & \val[0]{phases.bound.B200.8}\\
MI300X & \val[0]{phases.balance.MI300X} & \val[1]{phases.bound.MI300X.1} & \val[0]{phases.bound.MI300X.4} & \val[0]{phases.bound.MI300X.8}\\
TPU v5e & \val[0]{phases.balance.TPU-v5e} & \val[1]{phases.bound.TPU-v5e.1} & \val[0]{phases.bound.TPU-v5e.4} & \val[0]{phases.bound.TPU-v5e.8}
\end{tabular*}
\end{table}

When somebody reports 30 to 100 tokens a second for a large model, then, it is no measure of cleverness. It is bandwidth: four H100s cannot exceed \val[0]{phases.bound.H100.4}, and come near it if the program is good. (One of them could not even hold the model; the column says what its bandwidth alone would allow.) And the balance says why such a machine wants company: two operations are one multiply--add, and a weight has two bytes, so the number in the table is at the same time the number of rows that it could do for the price of one. Where the rows come from is the matter of chapter 12.

@ Two other limits can be computed without any machine. A layer of a model with a width of $d$ and $H_{kv}=H$ heads does $12d^2$ multiply--adds for a row: $4d^2$ for queries, keys, values and output, and $8d^2$ for an inner width of $4d$. Its attention does $d$ for the score of each key and $d$ for each value, $2dn$ for $n$ keys. So attention \emph{overtakes} the matrices where
\begin{equation}\label{eq:overtake}
  2dn=12d^2,\qquad n=6d,
\end{equation}
and with the same $n$ the cache, of $2dn$ numbers a layer, overtakes the weights, of $12d^2$: a row then reads as much of the past as of the model. For GPT-2 small that is at \val{phases.overtake.gpt2} tokens, beyond its context; for a model of Llama 7B's width of 4096 at \val{phases.overtake.7b}. Fewer heads of keys and values make two of the matrices narrower, which lowers the first limit a little, and the cache much smaller, which pushes the second away.

The head, at last, does $Vd$ for each row that wants scores. With \val[0]{phases.head.gpt2} percent of all multiply--adds of a decoded row in GPT-2 small it is no trifle; in GPT-2 XL it has \val[1]{phases.head.gpt2-xl} percent, in a 7B model \val[1]{phases.head.7b}, in the built-in one \val[0]{phases.head.pocket}. Large vocabularies weigh on small models.

@* Whole answers. \label{sec:answers}
What does an answer take in all? The measured passes can be added up: one of the prompt, then one row behind $p$, behind $p+1$, and so on, with times between two measured ones taken from the straight line. \Cref{tab:answers} has the sums for texts from one token, with the cache and without. Three of them were also run, as a check of the adding: 30 tokens without the cache took \val[1]{phases.text.gpt2.1.30.naive} seconds, where the sum has \val[1]{phases.sum.naive.30}; with it \val[2]{phases.text.gpt2.1.30.cached}, where the sum has \val[2]{phases.sum.kept.30}; and 100 tokens without it \val[1]{phases.text.gpt2.1.100.naive}, where the sum has \val[1]{phases.sum.naive.100}. The runs are a little longer than the sums of medians, as runs are.

\begin{table}
\tabcaption{tab:answers}{Seconds for a text that begins with one token, in GPT-2 small's shape with one worker.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{tokens} & \tabhead{without cache} & \tabhead{with cache} & \tabhead{factor}\\
30 & \val[1]{phases.sum.naive.30} & \val[2]{phases.sum.kept.30} & \val[1]{phases.sum.ratio.30}\\
100 & \val[1]{phases.sum.naive.100} & \val[2]{phases.sum.kept.100} & \val[1]{phases.sum.ratio.100}\\
300 & \val[0]{phases.sum.naive.300} & \val[1]{phases.sum.kept.300} & \val[1]{phases.sum.ratio.300}\\
1000 & \val[0]{phases.sum.naive.1000} & \val[1]{phases.sum.kept.1000} & \val[1]{phases.sum.ratio.1000}
\end{tabular*}
\end{table}

The factor is not that of the rows, \val[0]{cache.clock.rows} at $10^3$ tokens: the naive loop's rows come in company, and are cheaper apiece by the factor of \cref{fig:rowtime}. And how many times as long as one token does an answer of 500 take? It depends on the prompt, whose prefill is in both: \val[0]{phases.answer.50} times behind 50 tokens, \val[0]{phases.answer.100} behind 100, \val[0]{phases.answer.500} behind 500. The built-in model, run once, has read $10^3$ tokens and written $10^3$ more in \val[2]{phases.text.pocket.1000.1000.cached} seconds.

@ The chunks of \cref{sec:chunks} change no bit, but they change the clock: a prefill of 512 rows takes \val[2]{phases.chunk.512} seconds in one pass, \val[2]{phases.chunk.128} in chunks of 128, \val[2]{phases.chunk.32} in chunks of 32, and \val[1]{phases.chunk.1} if it is fed token by token (of which only the last is scored). Each chunk reads the weights again. Down to about a hundred rows that hardly matters here; on a machine of greater balance the chunks must be larger by as much.

@ The figures and the sentences are made of the files that the measurements leave. A line of passes is read into a struct; the text that stands around the numbers is the same in all of them.

@<Read what was measured@>=
struct seen_pass { char model[16]; unsigned workers; size_t depth, rows;
  double low, median, high, madds, bytes, speed, bandwidth; };
enum { PASSES = 128 };
struct findings { struct seen_pass pass[PASSES]; int n; };
static bool read_pass(const char *line, struct seen_pass *p)
{
  return sscanf(line, "%15[a-z0-9],%u,%zu,%zu,%lf,%lf,%lf,%lf,%lf,%lf,%lf",@|
    p->model, &p->workers, &p->depth, &p->rows, &p->low, &p->median,@|
    &p->high, &p->madds, &p->bytes, &p->speed, &p->bandwidth) == 11;
}
static bool read_passes(struct findings *f, struct error *why)
{
  static const char *const path = "figures/data/phases.passes.csv";
  FILE *file = fopen(path, "r");
  char line[256];
  f->n = 0;
  if (file == NULL) return error_say(why, "%s: cannot be opened", path);
  while (f->n < PASSES && fgets(line, sizeof line, file) != NULL)
    f->n += read_pass(line, &f->pass[f->n]);
  fclose(file);
  return f->n == 4 * POINTS || error_say(why, "%s: %d passes, %d wanted",
    path, f->n, 4 * POINTS);
}

@ A pass is asked for by what it was. What has not been measured lies on the straight line between two passes that have; so whole texts can be added up, step by step, from 17 measured passes.

@<Read what was measured@>=
static const struct seen_pass *find_pass(const struct findings *f,
  const char *model, unsigned workers, size_t depth, size_t rows)
{
  for (int i = 0; i < f->n; i++) {
    const struct seen_pass *p = &f->pass[i];
    if (strcmp(p->model, model) == 0 && p->workers == workers
        && p->depth == depth && p->rows == rows) return p;
  }
  return &f->pass[0];
}

@ The two neighbours of a length are looked for among the passes of one worker: those that read, at depth 0, or those of a single row. In either list one of the two numbers of a pass tells where it stands.

@<Read what was measured@>=
static double place_of(const struct seen_pass *p, bool reads)
{@+ return (double) (reads ? p->rows : p->depth);@+ }
static double between(const struct findings *f, const char *model,
  bool reads, double at)
{
  const struct seen_pass *a = NULL, *b = NULL;
  for (int i = 0; i < f->n; i++) {
    const struct seen_pass *p = &f->pass[i];
    if (strcmp(p->model, model) != 0 || p->workers != 1
        || (reads ? p->depth > 0 : p->rows > 1)) continue;
    double x = place_of(p, reads);
    if (x <= at && (a == NULL || x > place_of(a, reads))) a = p;
    if (x >= at && (b == NULL || x < place_of(b, reads))) b = p;
  }
  if (a == NULL) a = b;
  if (b == NULL || a == b)@+ return a->median;
  double from = place_of(a, reads), to = place_of(b, reads);
  return a->median + (b->median - a->median) * (at - from) / (to - from);
}

@ The time of a whole text with the cache: one pass over the prompt, then one row behind $p$, $p+1$, \dots; without it, a pass over all of the text each time. In seconds.

@<Read what was measured@>=
static double text_cached(const struct findings *f, const char *model,
  size_t p, size_t g)
{
  double sum = between(f, model, true, (double) p);
  for (size_t i = 1; i < g; i++)
    sum += between(f, model, false, (double) (p + i - 1));
  return sum / 1e3;
}
static double text_naive(const struct findings *f, const char *model,
  size_t p, size_t g)
{
  double sum = 0;
  for (size_t i = 0; i < g; i++)
    sum += between(f, model, true, (double) (p + i));
  return sum / 1e3;
}

@ The other measured files are shorter, and each line of them becomes a number or two as it is read. Whoever takes a line may look at the passes, and at the shape of the built-in model.

@<Read what was measured@>=
struct source { const struct findings *f; const struct laboratory *lab; };
static bool each_line(const struct source *from, const char *name,
  bool take(const struct source *from, const char *line), int wanted,
  struct error *why)
{
  char path[80], line[256];
  snprintf(path, sizeof path, "figures/data/phases.%s.csv", name);
  FILE *f = fopen(path, "r");
  int n = 0;
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  while (fgets(line, sizeof line, f) != NULL) n += take(from, line);
  fclose(f);
  return n == wanted || error_say(why, "%s: %d lines of numbers, %d wanted",
    path, n, wanted);
}

@ A part of a pass has its milliseconds. For the matrices of the layers their speed is reckoned as well, from the multiply--adds that a row does in them; and for the matrices that were turned the share of the bandwidth, from the bytes that the counters saw in such a pass.

@<Read what was measured@>=
static double row_madds(const struct source *from, const char *model)
{
  const struct model_config *c = &gpt2_small;
  if (strcmp(model, "pocket") == 0)
    return (double) from->lab->pocket->layer_madds;
  return (double) c->n_layers * c->d_model
    * (4.0 * c->d_model + 2.0 * c->d_inner);
}
static bool take_part(const struct source *from, const char *line)
{
  size_t depth, rows;
  char model[16], part[16];
  double ms, speed;
  if (sscanf(line, "%15[a-z0-9],%zu,%zu,%15[a-z],%lf,%lf", model, &depth,@|
      &rows, part, &ms, &speed) != 6) return false;
  if (strcmp(part, "alone") == 0)
    printf("phases.alone.%s %.4f\n", model, speed / 1e3);
  else if (strcmp(part, "turned") == 0)
    printf("phases.turned.%zu %.4f\nphases.turned.share.%zu %.4f\n", rows, ms,
      rows, 100 * find_pass(from->f, model, 1, 0, 1)->bytes
      / (ms * 1e3 * speed));
  else printf("phases.part.%s.%zu.%s %.4f\n", model, rows, part, ms);
  if (rows == 512 && strcmp(part, "linear") == 0) printf("phases.linear.%s"@|
    " %.4f\n", model, 512 * row_madds(from, model) / ms / 1e6);
  return true;
}

@ A chunk has its seconds.

@<Read what was measured@>=
static bool take_chunk(const struct source *from, const char *line)
{
  (void) from;
  size_t chunk;
  double seconds;
  if (sscanf(line, "%zu,%lf", &chunk, &seconds) != 2)@+ return false;
  printf("phases.chunk.%zu %.4f\n", chunk, seconds);
  return true;
}

@ A whole text has its name from the model, the lengths, and whether the cache was kept.

@<Read what was measured@>=
static bool take_text(const struct source *from, const char *line)
{
  (void) from;
  char model[16];
  size_t p, g;
  int keep;
  double seconds;
  if (sscanf(line, "%15[a-z0-9],%zu,%zu,%d,%lf", model, &p, &g, &keep,@|
      &seconds) != 5) return false;
  printf("phases.text.%s.%zu.%zu.%s %.4f\n", model, p, g,
    keep ? "cached" : "naive", seconds);
  return true;
}

@ A published machine has its balance, in operations for each byte, and the most tokens a second that 1, 4 and 8 of them can write with 140 gigabytes of weights.

@<Read what was measured@>=
static bool take_hardware(const struct source *from, const char *line)
{
  (void) from;
  char name[16];
  double tera, giga, bytes = 140e9;
  if (sscanf(line, "%15[A-Za-z0-9 ],%lf,%lf", name, &tera, &giga) != 3)
    return false;
  for (char *c = name; *c != '\0'; c++) if (*c == ' ') *c = '-';
  printf("phases.balance.%s %.4f\n", name, 1e3 * tera / giga);
  static const int many[] = @[{ 1, 4, 8 }@];
  for (int i = 0; i < 3; i++) printf("phases.bound.%s.%d %.4f\n", name,@|
    many[i], many[i] * giga * 1e9 / bytes);
  if (strcmp(name, "H100") == 0)
    printf("claim.S1-46 %.4f\n", 4 * giga * 1e9 / bytes);
  return true;
}

@* What the tutorials say. \label{sec:phasetutorials}
Most of what the sources say about the two phases is right. What is not has to do with how much.

\begin{tutorial}{wrong}{S1-11}
\quoted{A 1000-token prompt is processed in roughly the same wall-clock time as a 100-token prompt}
\ourrun in \val[1]{claim.S1-11} times the time. It is true of two prompts below the machine's balance, and here both are far above it; on an accelerator 100 tokens are below and 1000 above (\cref{tab:hardware}), and the factor is still 3 or more.
\end{tutorial}

\begin{tutorial}{misleading}{S1-42}
\quoted{A 500-token response takes roughly 500 times longer to generate than a single token.}
\ourrun behind a prompt of 100 tokens \val[0]{claim.S1-42} times as long. The first token pays for the prompt.
\end{tutorial}

\begin{tutorial}{misleading}{S1-47}
\quoted{Prefill is 10-100x faster per token than decode}
\ourrun \val[1]{claim.S1-47} times, on this machine with this model, at 512 tokens. The factor depends on the machine's balance, \val[0]{phases.balance.rows} rows here; on accelerators it is larger.
\end{tutorial}

\begin{tutorial}{misleading}{S2-65}
\quoted{At 1000 tokens, the difference becomes orders of magnitude.}
\ourrun \val[0]{claim.S2-65} times in GPT-2 small's shape: one order of magnitude and a good part of the second. With the built-in model it is two and more, \val[0]{cache.clock.ratio.1000} times (\cref{sec:cacheclock}).
\end{tutorial}

@* Numbers and claims. \label{sec:phasenumbers}
First what needs no measurement: intensities, and the shape of the stand-in.

@<Print every number that the prose quotes@>=
static double intensity(double n, double a, double b)
{@+ return 0.25 / (1 / n + 1 / a + 1 / b);@+ }
static void print_shapes(void)
{
  printf("phases.intensity.512 %.4f\n", intensity(512, 768, 3072));
  printf("phases.intensity.limit %.4f\n", 0.25 / (1 / 768. + 1 / 3072.));
  size_t n = stand_in_numbers(&gpt2_small);
  printf("phases.standin.parameters %zu\n", n);
  printf("phases.standin.bytes %zu\n", n * sizeof (float));
}
@<Print where attention overtakes@>@;
@<Print what the machine did in the passes@>@;
@<Print what whole texts take@>@;
@<Print what became of the claims@>@;
static bool print_values(struct laboratory *lab, struct error *why)
{
  static struct findings f;
  print_shapes();
  print_overtaking(lab);
  if (!read_passes(&f, why)) return false;
  print_machine(&f);
  print_times(&f);
  print_whole_texts(&f);
  struct source from = @[{ &f, lab }@];
  return print_claims(lab, &f, why)
    && each_line(&from, "parts", take_part, 4 * PARTS + 4, why)
    && each_line(&from, "chunks", take_chunk, 10, why)
    && each_line(&from, "texts", take_text, 7, why)
    && each_line(&from, "hardware", take_hardware, 6, why);
}

@ What the machine did: its own two speeds, for one worker and for two; the share of them that the two phases reach; and what a second worker is good for, next to what it is good for in the probes.

@<Print what the machine did in the passes@>=
static double madds_share(const struct seen_pass *p)
{@+ return p->madds / p->median / 1e3 / p->speed;@+ }
static double bytes_share(const struct seen_pass *p)
{@+ return p->bytes / p->median / 1e3 / p->bandwidth;@+ }
static void print_machine(const struct findings *f)
{
  const struct seen_pass *read[3], *write[3];
  for (unsigned w = 1; w <= 2; w++) {
    read[w] = find_pass(f, "gpt2", w, 0, 512);
    write[w] = find_pass(f, "gpt2", w, 0, 1);
    printf("phases.speed.%u %.4f\n", w, read[w]->speed / 1e3);
    printf("phases.bandwidth.%u %.4f\n", w, read[w]->bandwidth / 1e3);
    printf("phases.share.read.%u %.4f\n", w, 100 * madds_share(read[w]));
    printf("phases.share.write.%u %.4f\n", w, 100 * bytes_share(write[w]));
  }
  printf("phases.balance %.4f\n", read[1]->speed / read[1]->bandwidth);
  printf("phases.balance.rows %.4f\n",
    4 * read[1]->speed / read[1]->bandwidth);
  printf("phases.packing %.4f\n", find_pass(f, "gpt2", 1, 0, 2)->median
    - write[1]->median);
  printf("phases.scale.read %.4f\n", read[1]->median / read[2]->median);
  printf("phases.scale.write %.4f\n", write[1]->median / write[2]->median);
  printf("phases.scale.speed %.4f\n", read[2]->speed / read[1]->speed);
  printf("phases.scale.bandwidth %.4f\n",
    read[2]->bandwidth / read[1]->bandwidth);
}

@ Of each pass the time, and how it compares with the bound \eqref{eq:bound}.

@<Print what the machine did in the passes@>=
static void print_times(const struct findings *f)
{
  for (int i = 0; i < f->n; i++) {
    const struct seen_pass *p = &f->pass[i];
    double bound = fmax(p->madds / p->speed, p->bytes / p->bandwidth) / 1e3;
    char name[64];
    snprintf(name, sizeof name, "%s.%u.%zu.%zu", p->model, p->workers,
      p->depth, p->rows);
    printf("phases.ms.%s %.4f\n", name, p->median);
    printf("phases.over.%s %.4f\n", name, p->median / bound);
    if (p->depth == 0) printf("phases.row.%s %.4f\n", name,
      p->median / (double) p->rows);
  }
}

@ Whole texts are sums over the measured passes: with the cache and without, and the answer of 500 tokens beside that of one.

@<Print what whole texts take@>=
static void print_whole_texts(const struct findings *f)
{
  static const size_t g[] = @[{ 30, 100, 300, 1000 }@],@|
    p[] = @[{ 50, 100, 500 }@];
  for (int i = 0; i < 4; i++) {
    double naive = text_naive(f, "gpt2", 1, g[i]);
    double kept = text_cached(f, "gpt2", 1, g[i]);
    printf("phases.sum.naive.%zu %.4f\nphases.sum.kept.%zu %.4f\n", g[i],
      naive, g[i], kept);
    printf("phases.sum.ratio.%zu %.4f\n", g[i], naive / kept);
  }
  printf("phases.sum.naive.50.30 %.4f\n", text_naive(f, "gpt2", 50, 30));
  printf("phases.sum.kept.50.30 %.4f\n", text_cached(f, "gpt2", 50, 30));
  for (int i = 0; i < 3; i++) printf("phases.answer.%zu %.4f\n", p[i],
    text_cached(f, "gpt2", p[i], 500) / text_cached(f, "gpt2", p[i], 1));
  for (int i = 1; i < 3; i++) {
    size_t n = i == 1 ? 100 : 1000;
    double one = between(f, "gpt2", false, (double) n);
    printf("phases.ratio.%zu %.4f\n", n,
      one * (double) n / between(f, "gpt2", true, (double) n));
  }
}

@ In a model with as many heads of keys as of queries a row of width $d$ does $12d^2$ multiply--adds in a layer (four matrices of $d\times d$ and two of $d\times4d$), and $2d$ for each key that it sees.

@<Print where attention overtakes@>=
static void print_overtaking(const struct laboratory *lab)
{
  static const struct { const char *name; double d, layers, v; } m[] = @[{@|
    { "gpt2", 768, 12, 50257 }, { "gpt2-xl", 1600, 48, 50257 },@|
    { "7b", 4096, 32, 32000 } }@];
  for (int i = 0; i < 3; i++) {
    double layers = 12 * m[i].d * m[i].d * m[i].layers;
    printf("phases.overtake.%s %.0f\n", m[i].name, 6 * m[i].d);
    printf("phases.head.%s %.4f\n", m[i].name,
      100 * m[i].v * m[i].d / (layers + m[i].v * m[i].d));
  }
  const struct model_config *c = &lab->pocket->config;
  double head = (double) c->vocab_size * (double) c->d_model;
  printf("phases.head.pocket %.4f\n",
    100 * head / (head + (double) lab->pocket->layer_madds));
}

@ The claims of the sources about the two phases. Some are settled by the counters of a run: a prompt of seven is one pass of seven rows, and each token after the first costs a pass that cannot begin before the last has ended. (The second of the three runs finds six of the seven rows in the store, and so its only pass has one row, like all later ones.)

@<Print what became of the claims@>=
static bool claims_of_counters(struct laboratory *lab, struct error *why)
{
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) @[{ .rows = 0 }@], why);
  struct generator g = @[{ &lab->e, lab->pocket, s, &lab->m }@];
  struct settings want = @[{ .max_new_tokens = 1, .recall = store_keep }@];
  struct continuation text;
  lab->c = (struct counters) @[{ .passes = 0 }@];
  if (s == NULL) return false;
  bool ok = generate(&g, lab->sentence, WORDS, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  printf("claim.S1-06 %" PRIu64 "\nclaim.S2-90 %" PRIu64 "\n",@|
    lab->c.passes, lab->c.passes);
  printf("claim.S3-15 %zu\n", store_length(s, 0));
  double first = (double) work_madds(&lab->c) / (double) work_bytes(&lab->c);
  lab->c = (struct counters) @[{ .passes = 0 }@];
  ok = ok && generate(&g, lab->sentence, WORDS, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  printf("phases.shown.ratio %.4f\n", first
    * (double) work_bytes(&lab->c) / (double) work_madds(&lab->c));
  store_crop(s, 0, 0);
  want.max_new_tokens = 20, lab->c.passes = 0;
  ok = ok && generate(&g, lab->sentence, WORDS, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  printf("claim.S3-17 %" PRIu64 "\nphases.shown.passes %" PRIu64 "\n",@|
    lab->c.passes, lab->c.passes);
  store_close(s);
  return ok;
}

@ The others by the passes that were measured.

@<Print what became of the claims@>=
static bool print_claims(struct laboratory *lab, const struct findings *f,
  struct error *why)
{
  const struct seen_pass *prefill = find_pass(f, "gpt2", 1, 0, 512);
  const struct seen_pass *decode = find_pass(f, "gpt2", 1, 512, 1);
  double row = prefill->median / 512, ratio = decode->median / row;
  printf("claim.S1-10 %.4f\n", prefill->madds / prefill->bytes);
  printf("claim.S1-48 %.4f\n", decode->madds / decode->bytes);
  printf("claim.S1-11 %.4f\n", between(f, "gpt2", true, 1000)
    / between(f, "gpt2", true, 100));
  printf("claim.S1-15 %.4f\n", 100 * bytes_share(decode));
  static const char *const faster[] = @[{ "S1-17", "S1-47", "S3-19" }@];
  for (int i = 0; i < 3; i++) printf("claim.%s %.4f\n", faster[i], ratio);
  printf("claim.S1-42 %.4f\n", text_cached(f, "gpt2", 100, 500)
    / text_cached(f, "gpt2", 100, 1));
  printf("claim.S2-65 %.4f\n", text_naive(f, "gpt2", 1, 1000)
    / text_cached(f, "gpt2", 1, 1000));
  printf("claim.S2-73 %.4f\n", find_pass(f, "gpt2", 1, 0, 1)->median
    / (find_pass(f, "gpt2", 1, 0, 64)->median / 64));
  printf("claim.S3-16 %.4f\n", row);
  double answer = 0;
  for (size_t i = 0; i < 1000; i++)
    answer += between(f, "gpt2", false, fmin((double) i, LONGEST));
  printf("claim.S3-20 %.4f\n", answer / between(f, "gpt2", true, 1000));
  return claims_of_counters(lab, why);
}

@ Without a word the program prints what stands in the box of \cref{sec:phasecheck}.

@<Print every number that the prose quotes@>=
static bool print_what(struct laboratory *lab, const char *what,
  struct error *why)
{
  if (strcmp(what, "values") == 0) return print_values(lab, why);
  if (strcmp(what, "passes") == 0) return print_passes(lab, why);
  if (strcmp(what, "parts") == 0) return print_parts(lab, why);
  if (strcmp(what, "chunks") == 0) return print_chunks(lab, why);
  if (strcmp(what, "texts") == 0) return print_texts(lab, why);
  if (strcmp(what, "run") == 0) return print_run(lab, why);
  return show_phases(lab, why) && show_chunks(lab, why)
    && show_windows(lab, why);
}

@* The check. \label{sec:phasecheck}
What the program prints:

\checkpoint{build/out/phases.txt}{the passes of a run; a prompt in chunks; a text in windows}

The hand calculation is the first table in small: pass 1 has seven rows, and does seven times the work of the others in the layers, with the same bytes of weights. The built-in model's weights are stored in two bytes each; so a byte brings \emph{half} a multiply--add where the stand-in's brings a quarter.

@* Exercises. \label{sec:phaseexercises}
The command beside an exercise judges your answer.

\begin{exercises}
\exercise{check}{ex:phases.balance}{A machine does $90\cdot10^9$ multiply--adds and reads $20\cdot10^9$ bytes a second; the weights have two bytes each. From how many rows on does a pass over large matrices wait for the multipliers?}{\texttt{make exercise-05-1}}{A row needs one multiply--add for each weight, that is for each two bytes. In the time of two bytes the machine does $90/20\cdot2=9$.}
\exercise{check}{ex:phases.chunks}{A prompt of 1200 tokens is read in chunks of 96, and 40 tokens are written. How many passes are that, and how many rows?}{\texttt{make exercise-05-2}}{$1200/96=12.5$, so 13 passes for the prompt, and 39 more: 52 passes. $1200+39=1239$ rows.}
\exercise{think}{ex:phases.overtake}{A model has a width of 2048, a gated inner layer of 5632 (three matrices), and 32 heads of 64, which share 4 heads of keys and values. At how many tokens does attention overtake the matrices?}{\texttt{make exercise-05-3}}{$2\cdot2048^2$ for queries and output, $2\cdot2048\cdot256$ for keys and values, $3\cdot2048\cdot5632$ for the inner layer; divided by $2\cdot2048$ that is $2048+256+8448=10752$.}
\exercise{think}{ex:phases.limit}{A model reads 16 060 000 000 bytes of weights and 131072 bytes of cache for each stored token. What is the most tokens a second that a memory of $10^{12}$ bytes a second allows behind 8192 tokens? And behind 65536? Round down.}{\texttt{make exercise-05-4}}{$10^{12}/(16\,060\,000\,000+8192\cdot131072)=58.4$, and $10^{12}/(16\,060\,000\,000+65536\cdot131072)=40.6$.}
\exercise{think}{ex:phases.time}{Decoding behind $n$ stored rows takes $a+bn$. How long does it take to write $g$ tokens behind a prompt of $p$, if the first is chosen when the prompt has been read, which is not counted? Give a formula.}{\texttt{make exercise-05-5}}{$g-1$ rows are decoded, behind $p$, $p+1$, \dots, $p+g-2$: $(g-1)(a+bp)+b(g-1)(g-2)/2$.}
\exercise{think}{ex:phases.windows}{A text of 1500 tokens is read in windows of 256, one every 64. How many windows are read, how many tokens scored, and how many rows computed?}{\texttt{make exercise-05-6}}{$(1500-256)/64$ rounded up is 20, and the first makes 21. Every token but the first is scored once: 1499. Twenty windows have 256 rows, and the last, which begins at 1280, has 220: 5340.}
\exercise{build}{ex:phases.surprise}{Let |struct perplexity| say, too, which token of the text was the most surprising, in a field |size_t worst|: its place in the text, and the first of several.}{\texttt{make exercise-05-7}}{The largest loss so far must be kept beside it, in |struct reader|, since the sum has forgotten it.}
\exercise{build}{ex:phases.smaller}{A pass that is refused need not be the end: let |read_rows| try again with half the rows; only a single row that is refused ends it.}{\texttt{make exercise-05-8}}{Where |forward| fails and |here| is more than 1, halve |chunk| (or |here|, if there was no |chunk|) and go on with the same |i|. A pass that is refused has stored nothing.}
\end{exercises}
