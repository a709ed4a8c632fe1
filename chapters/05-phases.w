@i types.w
@s roofline int
@s phase int
@s perplexity int
@s stand_in int
@s engine int
@s kernels int
@s matrix int
@s tensor int
@s norm int
@s model_layer int

\chapterquestion{Why does the first word take so long, and then they come running?}
@** Prefill and decode.
\incipit{A}{ machine that multiplies} has two things to wait for: the multiplications, and the numbers that are to be multiplied. With the cache, each pass after the first has a single
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

@ The chapter makes a module that measures: how fast the machine calculates and reads (|roofline_measure|), what a pass takes (|phase_read|), and how well a model predicts a text that it only reads (|perplexity_of|). The
program shows the two phases, by what the counters say of each pass, and that a prompt may be read in chunks of any size. What a clock has to say is measured in \cref{lab:phases}.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
#include "phases/phases.h"
@;@#
@<A model that reads the sentence over and over@>@;
@<Show the rows of the two phases@>@;
@<Show that chunks change nothing@>@;
@<Show what windows do@>@;
int main(void)
{
  static struct reading r;
  struct error why;
  bool ok = reading_open(&r, &why) && show_phases(&r, &why)
    && show_chunks(&r, &why) && show_windows(&r, &why);
  store_close(r.s), ids_free(&r.m, &r.text);
  model_close(&r.m, r.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ All three parts of it work with the built-in model and one cache, which is emptied before each. The text is the sentence of chapter 3 over and over again. Its seven ids are taken once and then repeated; a tokenizer that was given the whole
text would find another first word in the second sentence, for there it would have a blank before it.

@<A model that reads the sentence over and over@>=
enum { WORDS = 7, TEXT = 20 * WORDS };
struct reading {
  struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm;@+ struct store *s;@+ struct generate_context g;@+ struct ids text;
};
static bool reading_open(struct reading *r, struct error *why)
{
  static const char sentence[] = "The cat sat on the mat.", pocket[] = "models/pocket";
  r->e = (struct engine) @[{ .k = kernels_find(NULL, why), .c = &r->c }@];
  if (r->e.k == NULL || (r->lm = model_open(&r->m, pocket, why)) == NULL
      || (r->s = cache_open(&r->m, &r->lm->config, 1,
        &(struct cache_options) @[{ .rows = 0 }@], why)) == NULL) return false;
  struct tokenizer *t = tokenizer_open(&r->m, pocket, why);
  bool ok = t != NULL && tokenizer_encode(t, &r->m, sentence, strlen(sentence),
    false, false, &r->text, why);
  for (size_t i = 0; ok && i + WORDS < TEXT; i++)
    ok = ids_push(&r->m, &r->text, r->text.id[i], why);
  tokenizer_close(&r->m, t);
  r->g = (struct generate_context) @[{ &r->e, r->lm, r->s, &r->m }@];
  return ok;
}

@* Arithmetic intensity. \label{sec:intensity}
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
#include "loop/generate.h"
@<What a machine can do@>@;
@<What a pass has taken@>@;
@<A model of which only the shape counts@>@;
@<How well a text is predicted@>@;
#endif

@ A machine is two speeds, as in the hand calculation, and a pass is measured against the slower of them. Work is what the counters have counted, added up in the two currencies.

@<What a machine can do@>=
struct roofline { double madds, bytes; };
  /* multiply--adds of floats and bytes read from memory, a second */
bool roofline_measure(struct memory *m, const struct engine *e,
  struct roofline *out, struct error *why);
  /* what all workers of the engine together do with its kernels' instructions, the medians of
     some rounds; errors: memory */
uint64_t work_madds(const struct counters *c);
  /* multiply--adds of layers, attention and head */
uint64_t work_bytes(const struct counters *c);
  /* bytes of weights and cache, read or written */
void counters_add(struct counters *a, const struct counters *b);
  /* |a| becomes the sum of both */
struct counters counters_since(const struct counters *before,
  const struct counters *after);
  /* what was counted between two copies */
double work_bound(const struct roofline *m, const struct counters *c);
  /* the seconds that |roofline| needs at least (Williams, Waterman and Patterson 2009) */

@ The sums are short. Counters only ever grow; what a pass has cost is the difference between two copies. Both go through the counters as an array, so that none can be forgotten.

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
  for (int i = 0; i < N_COUNTERS; i++) a->of[i] += b->of[i];
}
struct counters counters_since(const struct counters *before,
  const struct counters *after)
{
  struct counters between = *after;
  for (int i = 0; i < N_COUNTERS; i++) between.of[i] -= before->of[i];
  return between;
}
double work_bound(const struct roofline *m, const struct counters *c)
{
  return fmax((double) work_madds(c) / m->madds,
    (double) work_bytes(c) / m->bytes);
}

@* Peak speed and bandwidth. \label{sec:machine}
A data sheet names the speed of the best processor on its best day. We want that of this one, now, with the workers that the engine has, by the instructions that its kernels use. So each worker runs the kernels' |probe_flops|, which only calculates, and then |probe_bandwidth|, which only reads, over a block that no cache can hold (\cref{sec:probes}). Several rounds are taken, and the median counts, as a probe may be disturbed like anything else.
@^probe@>

@<Probe the machine@>=
enum { PROBES = 7, SPINS = 1 << 27, SWEPT = 1 << 26 };
struct probe_part { uint64_t done; float left; };
struct roofline_probe { const struct kernels *k; const float *block;
  struct probe_part *of; };
  /* |of[workers]| */
static void measure_flops(void *ctx, unsigned worker, unsigned workers)
{
  struct roofline_probe *p = ctx;
  (void) workers;
  p->of[worker].done = p->k->probe_flops(SPINS, &p->of[worker].left);
}
static void measure_bandwidth(void *ctx, unsigned worker, unsigned workers)
{
  struct roofline_probe *p = ctx;
  size_t from = (size_t) SWEPT / workers * worker;
  size_t to = worker + 1 == workers ? SWEPT : from + SWEPT / workers;
  p->of[worker].left = p->k->probe_bandwidth(p->block + from, to - from);
}

@ The block has 256 MiB, several times as much as the largest cache of the processors that we know; it is written once before it is read, or the system would show the same empty page everywhere.

@<Probe the machine@>=
bool roofline_measure(struct memory *m, const struct engine *e,
  struct roofline *out, struct error *why)
{
  double madds[PROBES], bytes[PROBES];
  unsigned workers = pool_workers(e->pool);
  struct probe_part *of = memory_alloc(m, MEMORY_OTHER, workers, sizeof *of, why);
  float *block = of == NULL ? NULL
    : memory_alloc(m, MEMORY_OTHER, SWEPT, sizeof *block, why);
  struct roofline_probe p = @[{ e->k, block, of }@];
  for (size_t i = 0; block != NULL && i < SWEPT; i++) block[i] = 1;
  for (int r = 0; block != NULL && r < PROBES; r++)
    @<Take the time of one round of probes@>@;
  if (block != NULL) *out = (struct roofline) @[{
    timing_quartiles(madds, PROBES).median,
    timing_quartiles(bytes, PROBES).median }@];
  memory_free(m, block);
  memory_free(m, of);
  return block != NULL;
}

@ What the workers have done is added up, and divided by the time until the last of them was ready.

@<Take the time of one round of probes@>=
{
  double start = timing_seconds(), done = 0;
  pool_run(e->pool, measure_flops, &p);
  double middle = timing_seconds();
  pool_run(e->pool, measure_bandwidth, &p);
  double end = timing_seconds();
  for (unsigned i = 0; i < workers; i++) done += (double) of[i].done;
  madds[r] = done / (middle - start);
  bytes[r] = SWEPT * sizeof (float) / (end - middle);
}

@* Timing a pass. \label{sec:passes}
Every pass of this chapter is a number of rows read after a number of stored ones: prefill reads $n$ rows after none, decode one row after $d$. The module takes the time of either, the scores of the last row included, since no phase is over before they are known.

@<What a pass has taken@>=
struct phase { double seconds; struct counters work; };
  /* of one pass, or of the passes of a chunked prefill together */
bool phase_read(const struct generate_context *g, size_t depth, size_t n,
  size_t chunk, struct phase *out, struct error *why);
  /* reads |n| rows after |depth| stored rows, in passes of at most |chunk| (0: in one), and
     scores the last; sequence 0 of the store then has |depth+n| rows. Rows that the
     store lacks are read first, and not counted. Errors: those of |model_forward| */

@ Which tokens they are does not matter to the clock; consecutive ones are never equal, that is all. What the store lacks is filled in chunks, so that no great amount of memory is wanted for it.

@<Take the time of a pass@>=
static bool read_on(const struct generate_context *g, size_t from, size_t n,
  size_t chunk, float *logits, struct error *why)
{
  struct pass *p = NULL;
  struct row *rows = memory_alloc(g->m, MEMORY_ACTIVATIONS, n, sizeof *rows, why);
  if (rows == NULL) return false;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) (from + i),
      (uint32_t) ((from + i) * 31 % g->lm->config.vocab_size) }@];
  bool ok = model_read(g, rows, n, chunk, &p, why);
  if (ok && logits != NULL)
    ok = model_logits(g->e, g->lm, p, &(size_t) @[{ p->n - 1 }@], 1, logits, why);
  pass_close(p);
  memory_free(g->m, rows);
  return ok;
}

@ The clock runs from the call to the scores; the counters are read at both ends.

@<Take the time of a pass@>=
bool phase_read(const struct generate_context *g, size_t depth, size_t n,
  size_t chunk, struct phase *out, struct error *why)
{
  size_t v = g->lm->config.vocab_size, have;
  store_crop(g->s, 0, depth);
  have = store_length(g->s, 0);
  if (have < depth && !read_on(g, have, depth - have, 256, NULL, why))
    return false;
  float *logits = memory_alloc(g->m, MEMORY_ACTIVATIONS, v, sizeof *logits, why);
  if (logits == NULL) return false;
  struct counters before = *g->e->c;
  double start = timing_seconds();
  bool ok = read_on(g, depth, n, chunk, logits, why);
  out->seconds = timing_seconds() - start;
  out->work = counters_since(&before, g->e->c);
  memory_free(g->m, logits);
  return ok;
}

@ A model of a published shape can be measured without its weights, for the clock does not read. |random_model_open| makes one in the shape of GPT-2 small: \val{phases.standin.parameters} parameters, \val{phases.standin.bytes} bytes of random numbers between $-0.02$ and $0.02$. That is what the figures of this chapter need: the built-in model's few megabytes stay in the caches of a processor, and there the memory is never asked.

@<A model of which only the shape counts@>=
extern const struct model_config random_model_gpt2;
  /* its shape (Radford and others 2019) */
struct model *random_model_open(struct memory *m, const struct model_config *shape,
  struct error *why);
  /* a model of GPT-2's kind with random weights in float32; owned by the caller; null
     and a sentence if memory is refused */
void random_model_close(struct memory *m, struct model *lm);
  /* returns its memory; null is nothing */
size_t random_model_numbers(const struct model_config *shape);
  /* how many weights it has */

@ All numbers stand in one block, and are dealt out in order.

@<Make a model of random numbers@>=
const struct model_config random_model_gpt2 = @[{ .family = "gpt2",@|
  .vocab_size = 50257, .n_positions = 1024, .d_model = 768,@|
  .d_inner = 3072, .n_layers = 12, .n_heads = 12, .n_kv_heads = 12,@|
  .head_dim = 64, .norm_eps = 1e-5, .layer_norm = true,@|
  .learned_positions = true, .activation = ACTIVATION_GELU_TANH,@|
  .tied = true }@];
struct weight_filler { float *next; uint64_t seed; };
static struct tensor fill_next(struct weight_filler *d, size_t n)
{
  struct tensor t = @[{ d->next, WEIGHT_F32 }@];
  for (size_t i = 0; i < n; i++) {
    d->seed = d->seed * 48271 % 2147483647;
    *d->next++ = 0.04f * ((float) d->seed / 2147483647.0f - 0.5f);
  }
  return t;
}
static struct matrix fill_matrix(struct weight_filler *d, size_t in, size_t out)
{
  struct tensor w = fill_next(d, in * out);
  return (struct matrix) @[{ w, fill_next(d, out), in, out, true }@];
}

@ A layer of GPT-2 has two norms, and four matrices with their biases: $12d^2+13d$ numbers for a width of $d$ and an inner width of $4d$.

@<Make a model of random numbers@>=
static size_t layer_numbers(const struct model_config *c)
{
  size_t d = c->d_model, f = c->d_inner;
  return 4 * d + 3 * d * d + 3 * d + d * d + d + 2 * d * f + f + d;
}
static void fill_layer(struct weight_filler *d, const struct model_config *c,
  struct model_layer *l)
{
  size_t n = c->d_model, f = c->d_inner;
  float epsilon = (float) c->norm_eps;
  l->attn_norm = (struct norm) @[{ .kind = NORM_LAYER,@|
    .gain = fill_next(d, n), .bias = fill_next(d, n), .epsilon = epsilon }@];
  l->mlp_norm = (struct norm) @[{ .kind = NORM_LAYER,@|
    .gain = fill_next(d, n), .bias = fill_next(d, n), .epsilon = epsilon }@];
  l->qkv[0] = fill_matrix(d, n, 3 * n), l->n_qkv = 1;
  l->out = fill_matrix(d, n, n);
  l->up[0] = fill_matrix(d, n, f), l->n_up = 1;
  l->down = fill_matrix(d, f, n);
}

@ What the counters need to know is filled in as the loader of \cref{families} does it.

@<Make a model of random numbers@>=
static void fill_model(struct model *lm, float *block)
{
  struct model_config *c = &lm->config;
  struct weight_filler d = @[{ block, 1 }@];
  size_t n = c->d_model;
  lm->embedding = fill_next(&d, n * c->vocab_size);
  lm->positions = fill_next(&d, n * c->n_positions);
  for (uint32_t i = 0; i < c->n_layers; i++)
    fill_layer(&d, c, &lm->layers[i]);
  lm->final_norm = (struct norm) @[{ .kind = NORM_LAYER, .gain = fill_next(&d, n),@|
    .bias = fill_next(&d, n), .epsilon = (float) c->norm_eps }@];
  lm->head = (struct matrix) @[{ .weight = lm->embedding, .in = n,@|
    .out = c->vocab_size }@];
  lm->attention = (struct attention_dims) @[{ c->n_heads, c->n_kv_heads, c->head_dim,@|
    1 / sqrtf((float) c->head_dim) }@];
  lm->layer_bytes = c->n_layers * layer_numbers(c) * sizeof (float);
  lm->layer_madds = c->n_layers * (4 * n * n + 2 * n * c->d_inner);
  lm->head_bytes = (uint64_t) n * c->vocab_size * sizeof (float);
}

@ The memory is accounted for as weights, of which there is one block.

@<Make a model of random numbers@>=
size_t random_model_numbers(const struct model_config *c)
{
  return (size_t) c->d_model * (c->vocab_size + c->n_positions + 2)
    + c->n_layers * layer_numbers(c);
}
struct model *random_model_open(struct memory *m, const struct model_config *shape,
  struct error *why)
{
  struct model *lm = memory_alloc(m, MEMORY_WEIGHTS, 1, sizeof *lm, why);
  if (lm == NULL)@+ return NULL;
  lm->config = *shape;
  lm->layers = memory_alloc(m, MEMORY_WEIGHTS, shape->n_layers,
    sizeof *lm->layers, why);
  float *block = lm->layers == NULL ? NULL
    : memory_alloc(m, MEMORY_WEIGHTS, random_model_numbers(shape), sizeof *block, why);
  if (block != NULL) fill_model(lm, block);
  if (block != NULL)@+ return lm;
  random_model_close(m, lm);
  return NULL;
}

@ The block begins with the embedding.

@<Make a model of random numbers@>=
void random_model_close(struct memory *m, struct model *lm)
{
  if (lm == NULL) return;
  float *block = NULL;
  memcpy(&block, &lm->embedding.data, sizeof block);
  memory_free(m, block);
  memory_free(m, lm->layers);
  memory_free(m, lm);
}

@* Perplexity. \label{sec:perplexity}
Prefill is useful even when no decode follows. Each row of a text says what it expects next, and the text says what came: so one pass over a text tells how well the model predicts it, token by token. The mean of $-\ln p$ over its tokens is the \emph{loss}, in nats a token; $e$ to that power is the \emph{perplexity}, the number of equally likely tokens among which the model seems to guess. To compare models whose tokens differ in length, one divides the sum by the bytes of the text instead, and by $\ln2$: bits a byte.
@^perplexity@>@^bits per byte@>

A text longer than the context is read in \emph{windows}, each from an empty store. The first token of a window has nobody before it and cannot be scored there; the next few have little. If windows overlap, a token is scored in the first window where it has a predecessor, and the later windows only give their new tokens more to look back at. That costs more passes and gives a better loss of the same model: two perplexities can be compared only if their windows are the same.

@<How well a text is predicted@>=
struct perplexity { size_t tokens, windows; double loss; };
  /* tokens that were scored, windows that were read, and the sum of $-\ln p$, in order */
bool perplexity_of(const struct generate_context *g, const uint32_t *id, size_t n,
  size_t context, size_t stride, struct perplexity *out, struct error *why);
  /* reads |n| ids in windows of |context| ids that begin every |stride| ids, 1 to |context|; errors: a
     context beyond the model's, an id out of range, memory, a logit that is not finite */

@ A window has its rows read in chunks of 64, and after each chunk those rows are scored whose next token is a new one. The scores of 16 rows are made at a time: one row alone would read the head's weights once a token, and all rows of a window at once would want memory for as many scores as the vocabulary has tokens, each.

@<Score a window@>=
enum { READ_AT_ONCE = 64, SCORED_AT_ONCE = 16 };
struct ppl_reader { const struct generate_context *g; const uint32_t *id;
  float *logits; double *logprob; struct perplexity *out; };
  /* |[SCORED_AT_ONCE][vocab_size]|, twice */
static bool score_rows(struct ppl_reader *r, struct pass *p, size_t base,
  size_t first, size_t last, struct error *why)
{
  const struct generate_context *g = r->g;
  size_t v = g->lm->config.vocab_size, which[SCORED_AT_ONCE], n;
  for (size_t i = first; i < last; i += n) {
    for (n = 0; n < SCORED_AT_ONCE && i + n < last; n++) which[n] = i + n;
    if (!model_logits(g->e, g->lm, p, which, n, r->logits, why)) return false;
    g->e->k->log_softmax(g->e, r->logits, n, v, r->logprob);
    for (size_t k = 0; k < n; k++)
      @<Add the loss of the token after row |i+k|@>@;
  }
  return true;
}

@ A score that is not a number spoils the probabilities of its whole row, and a score of minus infinity makes its own token impossible. Either would make the sum worthless, so it is an error.

@<Add the loss of the token after row |i+k|@>=
{
  double loss = -r->logprob[k * v + r->id[base + i + k + 1]];
  if (!isfinite(loss))
    return error_say(why, "the loss of token %zu is not finite; wanted:"@|
      " finite logits", base + i + k + 1);
  r->out->loss += loss, r->out->tokens++;
}

@ Token |seen| is the first that no window has scored yet; the row before it is the first whose scores are wanted.

@<Score a window@>=
static bool score_window(struct ppl_reader *r, size_t begin, size_t end,
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
    ok = model_forward(r->g->e, r->g->lm, r->g->s, rows, n, &p, why)
      && score_rows(r, p, at, first, last, why);
    pass_close(p);
  }
  return ok;
}

@ The last window is the first that reaches the end of the text.

@<Read a text in windows@>=
static bool read_windows(struct ppl_reader *r, size_t n, size_t context,
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
bool perplexity_of(const struct generate_context *g, const uint32_t *id, size_t n,
  size_t context, size_t stride, struct perplexity *out, struct error *why)
{
  size_t max = g->s->n_positions, v = g->lm->config.vocab_size;
  struct memory *m = g->m;
  *out = (struct perplexity) @[{ .tokens = 0 }@];
  if (context < 1 || context > max)
    return error_say(why, "windows of %zu tokens; wanted: 1 to %zu, the"@|
      " model's context", context, max);
  if (stride < 1 || stride > context)
    return error_say(why, "windows every %zu tokens; wanted: 1 to %zu, the"@|
      " length of a window", stride, context);
  for (size_t i = 0; i < n; i++)
    if (id[i] >= v) return error_say(why, "token %zu of the text is id %"
      PRIu32 "; the vocabulary has %zu", i, id[i], v);
  struct ppl_reader r = @[{ .g = g, .id = id, .out = out }@];
  r.logits = memory_alloc(m, MEMORY_ACTIVATIONS, SCORED_AT_ONCE * v,
    sizeof *r.logits, why);
  if (r.logits != NULL) r.logprob = memory_alloc(m, MEMORY_ACTIVATIONS,
    SCORED_AT_ONCE * v, sizeof *r.logprob, why);
  bool ok = r.logprob != NULL && read_windows(&r, n, context, stride, why);
  memory_free(m, r.logprob);
  memory_free(m, r.logits);
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
static bool print_pass(void *ctx, const struct step *now)
{
  const struct counters *a = &now->before, *b = &now->after;
  double madds = (double) (work_madds(b) - work_madds(a));
  double bytes = (double) (work_bytes(b) - work_bytes(a));
  (void) ctx;
  printf("%4zu %5" PRIu64 " %12.0f %10.0f %9.2f\n", now->number,
    b->rows - a->rows, madds, bytes, madds / bytes);
  return true;
}
static bool show_phases(struct reading *r, struct error *why)
{
  struct generate_options want = @[{ .max_new_tokens = 4, .recall = store_match_prefix,@|
    .on_step = print_pass }@];
  struct continuation text;
  printf("pass  rows  mult.-adds      bytes  a byte\n");
  bool ok = generate(&r->g, r->text.id, WORDS, &want, &text, why);
  continuation_free(&r->m, &text);
  return ok;
}

@ The intensity of the first pass is not seven times that of the others, but \val[1]{phases.shown.ratio} times. The reason is the head: it reads all of its weights for the last row only, in either phase.

@* Chunked prefill. \label{sec:chunks}
A prompt of a hundred thousand tokens would be a pass of a hundred thousand rows: more memory for its activations than for its keys and values, and for all the others who share the machine a long time in which nothing moves. So prompts are read in \emph{chunks} (Agrawal and others 2023), a pass each. From which sizes may one choose? From all: the rows of a chunk find their predecessors in the store, and cannot tell whether these came in the same pass or in another. The program reads one prompt in chunks of several sizes and compares the scores of its last row.
@^chunked prefill@>

@<Show that chunks change nothing@>=
enum { PROMPT = 60 };
static bool read_chunked(struct reading *r, size_t chunk, float *logits,
  struct error *why)
{
  struct row rows[PROMPT];
  struct pass *p = NULL;
  for (uint32_t i = 0; i < PROMPT; i++)
    rows[i] = (struct row) @[{ 0, i, r->text.id[i] }@];
  r->c = (struct counters) @[{ .passes = 0 }@];
  store_clear(r->s);
  bool ok = model_read(&r->g, rows, PROMPT, chunk, &p, why)
    && model_logits(&r->e, r->lm, p, &(size_t) @[{ p->n - 1 }@], 1, logits, why);
  pass_close(p);
  return ok;
}

@ The prompt is read in one pass first, and the others are compared with that.

@<Show that chunks change nothing@>=
static bool show_chunks(struct reading *r, struct error *why)
{
  static const size_t chunk[] = @[{ 1, 7, 16, 59 }@];
  size_t n = r->lm->config.vocab_size;
  float *z = memory_alloc(&r->m, MEMORY_ACTIVATIONS, 2 * n, sizeof *z, why);
  bool ok = z != NULL && read_chunked(r, 0, z, why);
  for (int i = 0; ok && i < 4; i++) {
    size_t differ = 0;
    ok = read_chunked(r, chunk[i], z + n, why);
    for (size_t k = 0; k < n; k++)
      differ += memcmp(z + k, z + n + k, sizeof *z) != 0;
    if (ok) printf("%d rows in chunks of %2zu: %2zu passes, ", PROMPT,@|
      chunk[i], (size_t) r->c.passes);
    if (ok) printf("%zu of %zu logits differ\n", differ, n);
  }
  memory_free(&r->m, z);
  return ok;
}

@* The measurements. \label{sec:measured}
Two models are measured, the stand-in of GPT-2 small and the built-in one, with one worker and with two; the machine is probed just before each measurement, as its speed this minute is not that of the last.\lab{lab:measured}

@* The roofline. \label{sec:roofline}
So much for the taking of times; now for what they say. On the machine of these pages one worker does \val[1]{phases.speed.1} billion multiply--adds a second and reads \val[1]{phases.bandwidth.1} billion bytes. The quotient, \val[1]{phases.balance} multiply--adds a byte, is the machine's \emph{balance}: work of less intensity waits for memory, work of more waits for the multipliers. In rows of a large matrix, at four bytes a weight, the balance stands at \val[0]{phases.balance.rows} rows.
@^machine balance@>

\Cref{fig:roofline}\lab{lab:findings} has the two bounds of \eqref{eq:bound} as a roof: on the left the slope of the memory, on the right the ceiling of the multipliers. Under it stand the passes. One row of the stand-in, at the left end, reaches \val[0]{phases.share.write.1} percent of the bandwidth; 512 rows reach \val[0]{phases.share.read.1} percent of the multipliers. Between the two a pass climbs with its rows, with a stop at two rows, and beyond a hundred it sinks a little again; we shall see why.

\widefig{roofline}{fig:roofline}{Passes of 1 to $10^3$ rows under the roof of the machine; broken lines are two workers. Red diamonds: one row after up to $10^3$ others. The built-in model's few megabytes come from the processor's caches, and its passes gain little from company.}{A roof on logarithmic paper, rising on the left and flat on the right. A chain of points for GPT-2's shape climbs under it from the left wall to the ceiling, a little below the roof at both ends and farther below in the middle. The diamonds sit on the left wall. The built-in model's chain begins near the slope and is almost flat.}

@ Where a pass takes more than a quarter longer than the bound, there must be a reason, and it must be possible to measure it. \Cref{tab:parts}\lab{lab:parts} takes one pass of each
phase apart. (In another minute than the figure: this machine is shared, and its minutes differ.) The row that decodes spends nearly all of its time in products with matrices, and reads them more slowly than the probe reads its block. GPT-2's matrices are stored by inputs, in rows thousands of bytes long of which a product takes a piece at a time. With the same numbers taken for matrices stored by outputs, as Llama's are, a token takes
\val[1]{phases.turned.1} milliseconds instead of \val[1]{phases.ms.gpt2.1.0.1}, and \val[0]{phases.turned.share.1} percent of the bandwidth are reached.

In prefill the same products take nearly twice as long as the bound would have the whole pass take. Why? The probe's multiply--adds find their numbers in registers, and the kernel's must fetch theirs, at the best from the
processor's own caches. We let the kernel run there, on a matrix and rows that never leave the second-level cache, and it does \val[1]{phases.alone.gpt2} billion a
second. In the pass it does \val[1]{phases.linear.gpt2}, on matrices that are larger and cost less at their edges. So prefill does not wait for memory. Most of the gap is
the kernel's own, and chapter 11 will close it; the rest is attention, whose products are short and must be folded one by one, and then activations and norms.

\begin{table}
\tabcaption{tab:parts}{Milliseconds of two passes of the stand-in, by kernels: one row after 512 others, and 512 rows after none.}
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

@* Time to first token, time per token. \label{sec:firsttoken}
Whoever waits for an answer waits for two things. The \emph{time to first token} is that of the prefill, and grows with the prompt; the \emph{time per token} is that of a decoded row, and grows with all that is there already. \Cref{tab:waits} has both for the two models, with one worker.
@^time to first token@>@^time per output token@>

\begin{table}
\tabcaption{tab:waits}{Milliseconds to the first token after a prompt, and for each token after a context of that length.}
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

@ The cache is read in every step, and grows; so a token gets dearer with depth (\cref{fig:depth}; what wavers there is the machine), though the weights are the larger part for as long as GPT-2's context lasts. \Cref{fig:run}\lab{lab:texts} is one run from the prompt on, seen by two meters: how much is calculated in each moment, and how much is read. First the one needle is up, and then the other.

\widefig{run}{fig:run}{A run of the stand-in: 128 tokens given, 24 written. Above, billions of multiply--adds a second in each pass; below, billions of bytes. The lines are what the machine's probes reach.}{Two strips over the same time axis, in milliseconds. In the first the long pass on the left stands high and the many short ones on the right are almost flat; in the second it is the other way round.}

@* Why decoding is sequential. \label{sec:serial}
A prompt of a million tokens can be read in one pass, because all of it is there. An answer cannot be written in one: its second token depends on the first, which is chosen when the pass is over. So a text of $g$ new tokens takes one pass for the prompt and $g-1$ more, \val{phases.shown.passes} for 20, one after the other, and each reads all weights. More processors shorten a pass; they do not make two of them run at the same time.
@^sequential bottleneck@>

Therefore a model has a speed limit on any machine: the bandwidth, divided by what a pass must read. A model of 70 billion parameters in two bytes each is 140 gigabytes. \Cref{tab:hardware}\lab{lab:findings} divides.

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

@* The time of a whole answer. \label{sec:answers}
What does an answer take in all? The measured passes can be added up: one of the prompt, then one row after $p$, after $p+1$, and so on, with times between two measured ones taken from the straight line. \Cref{tab:answers}\lab{lab:phasekeys} has the sums for texts from one token, with the cache and without. Three of them were also run, as a check of the adding: 30 tokens without the cache took \val[1]{phases.text.gpt2.1.30.naive} seconds, where the sum has \val[1]{phases.sum.naive.30}; with it \val[2]{phases.text.gpt2.1.30.cached}, where the sum has \val[2]{phases.sum.kept.30}; and 100 tokens without it \val[1]{phases.text.gpt2.1.100.naive}, where the sum has \val[1]{phases.sum.naive.100}. The runs are a little longer than the sums of medians, as runs are.

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

The factor is not that of the rows, \val[0]{cache.clock.rows} at $10^3$ tokens: the naive loop's rows come in company, and are cheaper apiece by the factor of \cref{fig:rowtime}. And how many times as long as one token does an answer of 500 take? It depends on the prompt, whose prefill is in both: \val[0]{phases.answer.50} times after a prompt of 50 tokens, \val[0]{phases.answer.100} after 100, \val[0]{phases.answer.500} after 500. The built-in model, run once, has read $10^3$ tokens and written $10^3$ more in \val[2]{phases.text.pocket.1000.1000.cached} seconds.

@ The chunks of \cref{sec:chunks} change no bit, but they change the clock: a prefill of 512 rows takes \val[2]{phases.chunk.512} seconds in one pass, \val[2]{phases.chunk.128} in chunks of 128, \val[2]{phases.chunk.32} in chunks of 32, and \val[1]{phases.chunk.1} if it is fed token by token (of which only the last is scored). Each chunk reads the weights again. Down to about a hundred rows that hardly matters here; on a machine of greater balance the chunks must be larger by as much.

@* What the tutorials say. \label{sec:phasetutorials}
Most of what the sources say about the two phases is right. What is not has to do with how much.

\begin{tutorial}{wrong}{S1-11}
\quoted{A 1000-token prompt is processed in roughly the same wall-clock time as a 100-token prompt}
\ourrun in \val[1]{claim.S1-11} times the time. It is true of two prompts below the machine's balance, and here both are far above it; on an accelerator 100 tokens are below and 1000 above (\cref{tab:hardware}), and the factor is still 3 or more.
\end{tutorial}

\begin{tutorial}{misleading}{S1-42}
\quoted{A 500-token response takes roughly 500 times longer to generate than a single token.}
\ourrun after a prompt of 100 tokens \val[0]{claim.S1-42} times as long. The first token pays for the prompt.
\end{tutorial}

\begin{tutorial}{misleading}{S1-47}
\quoted{Prefill is 10-100x faster per token than decode}
\ourrun \val[1]{claim.S1-47} times, on this machine with this model, at 512 tokens. The factor depends on the machine's balance, \val[0]{phases.balance.rows} rows here; on accelerators it is larger.
\end{tutorial}

\begin{tutorial}{misleading}{S2-65}
\quoted{At 1000 tokens, the difference becomes orders of magnitude.}
\ourrun \val[0]{claim.S2-65} times in GPT-2 small's shape: one order of magnitude and a good part of the second. With the built-in model it is two and more, \val[0]{cache.clock.ratio.1000} times (\cref{sec:cacheclock}).
\end{tutorial}

@* The check. \label{sec:phasecheck}
What the program prints:

\checkpoint{build/out/phases.txt}{the passes of a run; a prompt in chunks; a text in windows}

The hand calculation is the first table in small: pass 1 has seven rows, and does seven times the work of the others in the layers, with the same bytes of weights. The built-in model's weights are stored in two bytes each; so a byte brings \emph{half} a multiply--add where the stand-in's brings a quarter.

The last lines are those of \cref{sec:perplexity}: the whole text in windows of 32 tokens. The nearer the windows begin to each other, the more each scored token has seen, and the better it is predicted.

@<Show what windows do@>=
static bool show_windows(struct reading *r, struct error *why)
{
  for (size_t stride = 32; stride >= 8; stride /= 2) {
    struct perplexity p;
    if (!perplexity_of(&r->g, r->text.id, TEXT, 32, stride, &p, why))
      return false;
    printf("windows every %2zu: %2zu, %zu of %d scored, perplexity %.4f\n",
      stride, p.windows, p.tokens, TEXT, exp(p.loss / (double) p.tokens));
  }
  return true;
}

@* Exercises. \label{sec:phaseexercises}
The command beside an exercise judges your answer.

\begin{exercises}
\exercise{check}{ex:phases.balance}{A machine does $90\cdot10^9$ multiply--adds and reads $20\cdot10^9$ bytes a second; the weights have two bytes each. From how many rows on does a pass over large matrices wait for the multipliers?}{\texttt{make exercise-05-1}}{A row needs one multiply--add for each weight, that is for each two bytes. In the time of two bytes the machine does $90/20\cdot2=9$.}
\exercise{check}{ex:phases.chunks}{A prompt of 1200 tokens is read in chunks of 96, and 40 tokens are written. How many passes are that, and how many rows?}{\texttt{make exercise-05-2}}{$1200/96=12.5$, so 13 passes for the prompt, and 39 more: 52 passes. $1200+39=1239$ rows.}
\exercise{think}{ex:phases.overtake}{A model has a width of 2048, a gated inner layer of 5632 (three matrices), and 32 heads of 64, which share 4 heads of keys and values. At how many tokens does attention overtake the matrices?}{\texttt{make exercise-05-3}}{$2\cdot2048^2$ for queries and output, $2\cdot2048\cdot256$ for keys and values, $3\cdot2048\cdot5632$ for the inner layer; divided by $2\cdot2048$ that is $2048+256+8448=10752$.}
\exercise{think}{ex:phases.limit}{A model reads 16 060 000 000 bytes of weights and 131072 bytes of cache for each stored token. What is the most tokens a second that a memory of $10^{12}$ bytes a second allows after 8192 tokens? And after 65536? Round down.}{\texttt{make exercise-05-4}}{$10^{12}/(16\,060\,000\,000+8192\cdot131072)=58.4$, and $10^{12}/(16\,060\,000\,000+65536\cdot131072)=40.6$.}
\exercise{think}{ex:phases.time}{Decoding after $n$ stored rows takes $a+bn$. How long does it take to write $g$ tokens after a prompt of $p$, if the first is chosen when the prompt has been read, which is not counted? Give a formula.}{\texttt{make exercise-05-5}}{$g-1$ rows are decoded, after $p$, $p+1$, \dots, $p+g-2$: $(g-1)(a+bp)+b(g-1)(g-2)/2$.}
\exercise{think}{ex:phases.windows}{A text of 1500 tokens is read in windows of 256, one every 64. How many windows are read, how many tokens scored, and how many rows computed?}{\texttt{make exercise-05-6}}{$(1500-256)/64$ rounded up is 20, and the first makes 21. Every token but the first is scored once: 1499. Twenty windows have 256 rows, and the last, which begins at 1280, has 220: 5340.}
\exercise{build}{ex:phases.surprise}{Let |struct perplexity| say, too, which token of the text was the most surprising, in a field |size_t worst|: its place in the text, and the first of several.}{\texttt{make exercise-05-7}}{The largest loss so far must be kept beside it, in |struct ppl_reader|, since the sum has forgotten it.}
\exercise{build}{ex:phases.smaller}{A pass that is refused need not be the end: let |model_read| try again with half the rows; only a single row that is refused ends it.}{\texttt{make exercise-05-8}}{Where |model_forward| fails and |here| is more than 1, halve |chunk| (or |here|, if there was no |chunk|) and go on with the same |i|. A pass that is refused has stored nothing.}
\end{exercises}
