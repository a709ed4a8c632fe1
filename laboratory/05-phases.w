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
@s pass_part int

\chapterquestion{Where does the time of a pass go?}
@** Experiments on prefill and decode. \label{lab:phases}
\incipit{T}{wo models} are timed: the stand-in, which is random numbers in the shape of GPT-2 small and too large for the processor's caches, and the built-in model,
which is small enough for them. First we take the time of single passes, then of the kernels in a pass, then of whole texts. A clock never says the same twice. So the seven words that
use one, |"roof"|, |"passes"|, |"parts"|, |"chunks"|, |"texts"|, |"run"| and |"batch"|, are no part of the build: \texttt{make measure} keeps what they print in \.{figures/data}. The word
|"values"| makes keys of these files, and adds what can be counted without a clock.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "laboratory/kit.h"
#include "laboratory/kit-random.h"
#include "kernels/kernels.h"
#include "phases/phases.h"
@;@#
@<Probe the machine, and read what the probes said@>@;
@<Take the time of passes@>@;
@<Take the time of parts@>@;
@<Take the time of chunks and whole texts@>@;
@<Write one run down, step by step@>@;
@<Take the time of batches@>@;
@<Read the passes that were measured@>@;
@<Make keys of the shorter files@>@;
@<Print what follows from shapes@>@;
@<Print what the machine did in the passes@>@;
@<Print what whole texts take@>@;
@<Print what became of the claims@>@;
@<Print every number that the prose quotes@>@;
int main(int argc, char **argv)
{
  static const struct lab_command words[] = @[{ { "values", print_values },@|
    { "values", claims_of_counters }, { "values", print_known },@|
    { "roof", print_roof }, { "passes", print_passes },@|
    { "parts", print_parts }, { "chunks", print_chunks },@|
    { "texts", print_texts }, { "run", print_run },@|
    { "batch", print_batch }, { NULL, NULL } }@];
  return lab_main(argc, argv, words);
}

@* Times of passes. \label{lab:measured}
All times of this chapter are compared with one roof. The word |"roof"| probes the machine, with one worker and with two, in multiply--adds and bytes a microsecond. \texttt{make measure} does that first, and takes everything else after it, in one sitting.

@<Probe the machine, and read what the probes said@>=
static bool print_roof(struct fixture *lab, struct error *why)
{
  printf("workers,madds,bytes\n");
  for (unsigned workers = 1; workers <= 2; workers++) {
    struct bench b = @[{ .m = NULL }@];
    struct roofline speed;
    bool ok = bench_open(&b, lab, lab->model, workers, NULL, why)
      && roofline_measure(&lab->m, &b.e, &speed, why);
    if (ok) printf("%u,%.1f,%.1f\n", workers, speed.madds / 1e6, speed.bytes / 1e6);
    bench_close(&b);
    if (!ok) return false;
  }
  return true;
}

@ The other words read the roof from the file. A bench is opened anew for each number of workers, with memory for the whole context, so that no pass has to wait for it.

@<Probe the machine, and read what the probes said@>=
enum { ROUNDS = 5, READINGS = 8, LONGEST = 1000 };
struct probed { struct bench b;@+ struct roofline speed;
  struct prepared_weights *ready; };
  /* |ready|: copies of the weights, if they were packed once */
static bool probed_open(struct probed *x, struct fixture *lab,
  const struct model *lm, unsigned workers, struct error *why)
{
  double roof[3][2]; /* the columns of the file, a worker and two */
  if (!data_numbers("phases.roof", 3, 2, roof[0], why)) return false;
  x->speed = (struct roofline) @[{ 1e6 * roof[1][workers - 1],@|
    1e6 * roof[2][workers - 1] }@];
  return lm != NULL && bench_open(&x->b, lab, lm, workers,
      &(struct cache_options) @[{ .preallocate = true }@], why);
}

@ The passes are those of both phases: one row after many, from the deepest on, so that the store needs to be filled once only; and many rows after none. All take turns in a round. A single row is read |READINGS| times, and the last time counts: the first ones may come right after the filling of the store, when the caches are full of other things.

@<Take the time of passes@>=
static const struct point { size_t depth, rows; } points[] = @[{ {1000, 1},@|
  {768, 1}, {512, 1}, {256, 1}, {128, 1}, {0, 1}, {0, 2}, {0, 4}, {0, 8},@|
  {0, 16}, {0, 32}, {0, 64}, {0, 100}, {0, 128}, {0, 256}, {0, 512},@|
  {0, LONGEST} }@];
enum { POINTS = sizeof points / sizeof *points };
static bool time_points(struct probed *x, struct phase seen[POINTS][ROUNDS],
  struct error *why)
{
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < POINTS; i++)
      for (int t = points[i].rows == 1 ? READINGS : 1; t > 0; t--)
        if (!phase_read(&x->b.g,
          points[i].depth, points[i].rows, 0, &seen[i][r], why)) return false;
  return true;
}

@ A line of the file has the pass, the quartiles of its time in milliseconds, what the counters say, and the roof, in multiply--adds and bytes a microsecond.

@<Take the time of passes@>=
static void print_points(const struct probed *x, const char *name,
  unsigned workers, struct phase seen[POINTS][ROUNDS])
{
  for (int i = 0; i < POINTS; i++) {
    double taken[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) taken[r] = 1e3 * seen[i][r].seconds;
    const struct counters *work = &seen[i][0].work;
    printf("%s,%u,%zu,%zu", name, workers, points[i].depth, points[i].rows);
    print_quartiles(taken, ROUNDS, 1, 4);
    printf(",%" PRIu64 ",%" PRIu64 ",%.1f,%.1f\n", work_madds(work),
      work_bytes(work), x->speed.madds / 1e6, x->speed.bytes / 1e6);
  }
}

@ Both models are timed with one worker and with two; the built-in model's lines come last.

@<Take the time of passes@>=
static bool print_passes(struct fixture *lab, struct error *why)
{
  struct model *big = lab_stand_in(lab, why);
  printf("model,workers,depth,rows,low,median,high,madds,bytes,"
    "speed,bandwidth\n");
  for (unsigned i = 0; i < 4; i++) {
    struct probed x = @[{ .b.m = NULL }@];
    struct phase seen[POINTS][ROUNDS];
    bool ok = probed_open(&x, lab, i < 2 ? big : lab->model, 1 + i % 2, why)
      && time_points(&x, seen, why);
    if (ok) print_points(&x, i < 2 ? "gpt2" : "pocket", 1 + i % 2, seen);
    bench_close(&x.b);
    if (!ok) return false;
  }
  return true;
}

@* The parts of a pass. \label{lab:parts}
The kernels are a table; so a table whose functions look at the clock, call the true ones, and look again, tells how much each has taken. The table is the first member of a struct that has room for the times: a kernel that is called with the engine finds them.

@<Take the time of parts@>=
enum pass_part { PART_LINEAR, PART_HEAD, PART_ATTENTION, PART_NORM,
  PART_ACTIVATION, PART_REST, PARTS };
struct timed { struct kernels k;@+ const struct kernels *true_ones;
  size_t vocab;@+ double spent[PARTS]; };
static struct timed *timed_of(const struct engine *e)
{
  return (struct timed *) (uintptr_t) e->k;
}
static void timed_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  struct timed *t = timed_of(e);
  double start = timing_seconds();
  t->true_ones->linear(e, list, n, x, rows, y);
  enum pass_part which = list->out == t->vocab ? PART_HEAD : PART_LINEAR;
  t->spent[which] += timing_seconds() - start;
}
static void timed_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  double start = timing_seconds();
  timed_of(e)->true_ones->attend(e, h, q, list, n, scratch, y, probe);
  timed_of(e)->spent[PART_ATTENTION] += timing_seconds() - start;
}

@ Norms and activations take little time; they are timed in the same way.

@<Take the time of parts@>=
static void timed_normalize(const struct engine *e, const struct norm *g,
  const float *x, size_t rows, size_t d, float *y)
{
  double start = timing_seconds();
  timed_of(e)->true_ones->normalize(e, g, x, rows, d, y);
  timed_of(e)->spent[PART_NORM] += timing_seconds() - start;
}
static void timed_activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  double start = timing_seconds();
  timed_of(e)->true_ones->activate(e, kind, x, up, n, y);
  timed_of(e)->spent[PART_ACTIVATION] += timing_seconds() - start;
}

@ The rest is what no kernel has taken: the copying of rows into the store, additions to the residual stream, and the memory of the pass. A first pass fills the store, and is not timed.

@<Take the time of parts@>=
static bool time_parts(struct probed *x, size_t depth, size_t rows,
  double median[PARTS], struct error *why)
{
  struct engine *e = &x->b.e;
  struct timed t = @[{ *e->k, e->k, x->b.g.lm->config.vocab_size, { 0 } }@];
  double taken[PARTS][ROUNDS];
  t.k.linear = timed_linear, t.k.attend = timed_attend;
  t.k.normalize = timed_normalize, t.k.activate = timed_activate;
  struct phase seen;
  bool ok = phase_read(&x->b.g, depth, rows, 0, &seen, why);
  e->k = &t.k;
  for (int r = 0; ok && r < ROUNDS; r++) {
    memset(t.spent, 0, sizeof t.spent);
    ok = phase_read(&x->b.g, depth, rows, 0, &seen, why);
    t.spent[PART_REST] = seen.seconds;
    for (int i = 0; i < PART_REST; i++) t.spent[PART_REST] -= t.spent[i];
    for (int i = 0; i < PARTS; i++) taken[i][r] = 1e3 * t.spent[i];
  }
  for (int i = 0; ok && i < PARTS; i++)
    median[i] = timing_quartiles(taken[i], ROUNDS).median;
  e->k = t.true_ones;
  return ok;
}

@ How fast is the kernel of the linear layers if it does not have to wait for memory? We give it a matrix and the inputs of 96 rows that fit into the second-level cache together: for the stand-in a matrix of \given{512} inputs and 64 outputs, stored as GPT-2's are; for the built-in model one of its own, of \given{128} inputs, in two bytes a weight.

@<Take the time of parts@>=
static double time_alone(struct probed *p, const struct matrix *alone)
{
  enum { ROWS = 96, TIMES = 200 };
  static const float x[ROWS * 512];
  static float y[ROWS * 512];
  float *to = y;
  double taken[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    double start = timing_seconds();
    for (int i = 0; i < TIMES; i++)
      p->b.e.k->linear(&p->b.e, alone, 1, x, ROWS, &to);
    taken[r] = timing_seconds() - start;
  }
  return 1e-6 * TIMES * ROWS * (double) (alone->in * alone->out)
    / timing_quartiles(taken, ROUNDS).median;
}

@ One pass of each phase is taken apart, for both models. The last column is the speed of the probe; in the line of the kernel alone it is the kernel's own.

@<Take the time of parts@>=
static bool print_model_parts(struct fixture *lab, const struct model *lm,
  const char *name, const struct matrix *alone, struct error *why)
{
  static const char *const part[] = @[{ "linear", "head", "attention",@|
    "norm", "activation", "rest" }@];
  struct probed x = @[{ .b.m = NULL }@];
  double median[PARTS];
  bool ok = probed_open(&x, lab, lm, 1, why);
  for (int k = 0; ok && k < 2; k++) {
    size_t depth = k == 0 ? 512 : 0, rows = k == 0 ? 1 : 512;
    ok = time_parts(&x, depth, rows, median, why);
    for (int i = 0; ok && i < PARTS; i++) printf("%s,%zu,%zu,%s,%.4f,%.1f\n",
      name, depth, rows, part[i], median[i], x.speed.madds / 1e6);
  }
  if (ok) printf("%s,0,96,alone,0,%.1f\n", name, time_alone(&x, alone));
  bench_close(&x.b);
  return ok;
}

@ One more question can only be answered by a measurement. GPT-2 stores its matrices by inputs, so a product reads a piece of \emph{each} row, and a second worker's share is the right half of each. If the same numbers are taken for matrices stored by outputs, each worker's share is contiguous. So one token is decoded with the stand-in's matrices transposed, by one worker and by two.

@<Take the time of parts@>=
static bool time_turned(struct fixture *lab, struct model *lm,
  unsigned workers, struct error *why)
{
  struct probed x = @[{ .b.m = NULL }@];
  double taken[ROUNDS];
  bool ok = probed_open(&x, lab, lm, workers, why);
  for (int r = -1; ok && r < ROUNDS; r++) {
    struct phase seen;
    ok = phase_read(&x.b.g, 0, 1, 0, &seen, why);
    if (r >= 0) taken[r] = 1e3 * seen.seconds;
  }
  if (ok) printf("gpt2,0,%u,turned,%.4f,%.1f\n", workers,
    timing_quartiles(taken, ROUNDS).median, x.speed.bytes / 1e6);
  bench_close(&x.b);
  return ok;
}

@ One file has the parts of both models and the two runs with transposed matrices.

@<Take the time of parts@>=
static bool print_parts(struct fixture *lab, struct error *why)
{
  static const float numbers[512 * 64];
  struct matrix alone = @[{ .weight = { numbers, WEIGHT_F32 }, .in = 512,@|
    .out = 64, .transposed = true }@];
  struct model *lm = lab_stand_in(lab, why);
  printf("model,depth,rows,part,time,speed\n");
  if (!print_model_parts(lab, lm, "gpt2", &alone, why)@|
      || !print_model_parts(lab, lab->model, "pocket",
        &lab->model->layers[0].up[0], why)) return false;
  for (uint32_t i = 0; i < lm->config.n_layers; i++) {
    struct model_layer *l = &lm->layers[i];
    l->qkv[0].transposed = l->out.transposed = false;
    l->up[0].transposed = l->down.transposed = false;
  }
  return time_turned(lab, lm, 1, why) && time_turned(lab, lm, 2, why);
}

@* Times of whole texts. \label{lab:texts}
First a prefill of \given{512} rows in chunks: from one row a pass, which is decode in all but name, to all in one.

@<Take the time of chunks and whole texts@>=
static bool print_chunks(struct fixture *lab, struct error *why)
{
  enum { CHUNKS = 10, TIMES = 3 };
  struct probed x = @[{ .b.m = NULL }@];
  double taken[CHUNKS][TIMES];
  bool ok = probed_open(&x, lab, lab_stand_in(lab, why), 1, why);
  for (int r = 0; r < TIMES; r++)
    for (int i = 0; ok && i < CHUNKS; i++) {
      struct phase seen;
      ok = phase_read(&x.b.g, 0, 512, (size_t) 1 << i, &seen, why);
      taken[i][r] = seen.seconds;
    }
  printf("chunk,seconds\n");
  for (int i = 0; ok && i < CHUNKS; i++) printf("%d,%.4f\n", 1 << i,
    timing_quartiles(taken[i], TIMES).median);
  bench_close(&x.b);
  return ok;
}

@ Then the loop generates whole texts, with the cache and without: six with the stand-in and a long one with the built-in model. The stand-in's text is nonsense, but takes as long as any other. Each is run once: without the cache even a text of \given{100} tokens takes \val[0]{phases.text.gpt2.1.100.naive} seconds.

@<Take the time of chunks and whole texts@>=
static bool time_text(struct bench *b, size_t p, size_t g, bool keep,
  step_watch *see, void *ctx, struct error *why)
{
  uint32_t prompt[LONGEST];
  for (size_t i = 0; i < p; i++)
    prompt[i] = (uint32_t) (i * 31 % b->g.lm->config.vocab_size);
  struct generate_options want = @[{ .max_new_tokens = g,
    .recall = keep ? store_match_prefix : NULL, .on_step = see,@|
    .ctx = ctx }@];
  store_crop(b->s, 0, 0);
  return bench_write(b, prompt, p, &want, why);
}
static bool print_texts(struct fixture *lab, struct error *why)
{
  static const struct { const char *name;@+ size_t p, g;@+ bool keep; } texts[]
    = @[{ { "gpt2", 1, 30, false }, { "gpt2", 1, 30, true },@|
    { "gpt2", 50, 30, false }, { "gpt2", 50, 30, true },@|
    { "gpt2", 1, 100, false }, { "gpt2", 1, 100, true },@|
    { "pocket", 1000, 1000, true } }@];
  printf("model,prompt,written,cached,seconds\n");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct probed x = @[{ .b.m = NULL }@];
    bool ok = probed_open(&x, lab, texts[i].name[0] == 'g'
      ? lab_stand_in(lab, why) : lab->model, 1, why);
    double start = timing_seconds();
    ok = ok && time_text(&x.b, texts[i].p, texts[i].g, texts[i].keep, NULL,
      NULL, why);
    if (ok) printf("%s,%zu,%zu,%d,%.4f\n", texts[i].name, texts[i].p,
      texts[i].g, texts[i].keep, timing_seconds() - start);
    bench_close(&x.b);
    if (!ok) return false;
  }
  return true;
}

@ One run is written down step by step, for \cref{fig:run}: \given{128} tokens given to the stand-in, and 24 to write. A line has the rows of the step, when it began and ended, in milliseconds, and its work.

@<Write one run down, step by step@>=
struct diary { double start, last;@+ const struct roofline *speed; };
static bool write_diary(void *ctx, const struct step *now)
{
  struct diary *d = ctx;
  const struct counters *a = &now->before, *z = &now->after;
  double end = 1e3 * (timing_seconds() - d->start);
  printf("%zu,%" PRIu64 ",%.4f,%.4f,", now->number, z->rows - a->rows,
    d->last, end);
  printf("%" PRIu64 ",%" PRIu64 ",%.1f,%.1f\n", work_madds(z) - work_madds(a),
    work_bytes(z) - work_bytes(a), d->speed->madds / 1e6,
    d->speed->bytes / 1e6);
  d->last = end;
  return true;
}

@ A first token is written and thrown away, so that the memory of the pass and the weights have been touched before the diary begins.

@<Write one run down, step by step@>=
static bool print_run(struct fixture *lab, struct error *why)
{
  struct probed x = @[{ .b.m = NULL }@];
  bool ok = probed_open(&x, lab, lab_stand_in(lab, why), 1, why)
    && time_text(&x.b, 128, 1, true, NULL, NULL, why);
  printf("step,rows,begin,end,madds,bytes,speed,bandwidth\n");
  struct diary d = @[{ timing_seconds(), 0, &x.speed }@];
  ok = ok && time_text(&x.b, 128, 24, true, write_diary, &d, why);
  bench_close(&x.b);
  return ok;
}

@* Times of batches. \label{lab:batch}
How long does one decoding step take for several sequences at once? Each of 32 sequences has a cache of its own with \given{128} rows of the stand-in, so nothing is shared but the weights. A step takes one row of each of the first $n$ sequences, computes the logits of all $n$ rows, and is then taken back. The first sequences are filled one after the other, in chunks.

@<Take the time of batches@>=
enum { BATCH = 32, BATCH_DEPTH = 128, BATCH_ROUNDS = 25, BATCHES = 6 };
static bool fill_sequences(struct bench *b, struct error *why)
{
  struct row rows[BATCH_DEPTH];
  bool ok = true;
  for (uint32_t s = 0; ok && s < BATCH; s++) {
    struct pass *p = NULL;
    for (uint32_t i = 0; i < BATCH_DEPTH; i++)
      rows[i] = (struct row) @[{ s, i, (s * 7 + i * 31) % 50257 }@];
    ok = model_read(&b->g, rows, BATCH_DEPTH, 0, &p, why);
    pass_close(p);
  }
  return ok;
}

@ The clock runs from the call of the pass until the logits of all rows are known. It is the processor's clock, which stops when another program has the core; with one worker that is all the time that a step takes.

@<Take the time of batches@>=
static bool time_batch(struct bench *b, uint32_t n, float *logits,
  struct phase *out, struct error *why)
{
  struct row rows[BATCH];
  size_t which[BATCH];
  struct pass *p = NULL;
  for (uint32_t s = 0; s < n; s++) which[s] = s,
    rows[s] = (struct row) @[{ s, BATCH_DEPTH, s * 7 + 1 }@];
  struct counters before = *b->g.e->c;
  clock_t start = clock();
  bool ok = model_read(&b->g, rows, n, 0, &p, why)
    && model_logits(b->g.e, b->g.lm, p, which, n, logits, why);
  out->seconds = (double) (clock() - start) / CLOCKS_PER_SEC;
  out->work = counters_since(&before, b->g.e->c);
  pass_close(p);
  for (uint32_t s = 0; s < n; s++) store_crop(b->s, s, BATCH_DEPTH);
  return ok;
}

@ If a pass has several rows, the kernel wants the weights in another order, and packs them (\cref{sec:linear}). Unless it is told otherwise it does so in every pass. The option \texttt{{-}{-}packed} of the command does it once, before the first pass, and keeps the copies. The copies belong to a bench, as its workers do.

@<Take the time of batches@>=
static bool probed_pack(struct probed *x, struct error *why)
{
  x->ready = model_prepare(x->b.m, x->b.e.k, x->b.e.activations, x->b.g.lm, why);
  x->b.e.prepared = x->ready;
  return x->ready != NULL;
}
static void probed_close(struct probed *x)
{
  bench_close(&x->b);
  prepared_close(x->b.m, x->ready);
}

@ The sizes of batches take turns in each round, as the passes do, and each size is timed with the weights packed in the pass and with the copies that were made once. Only the quickest of the rounds counts: a machine that others use as well can make a step slower, but not quicker. The bound must be of the same kind; so both probes (\cref{sec:probes}) take their turn in each round, and the quickest of them counts.

@<Take the time of batches@>=
enum { SWEPT = 1 << 26, SPINS = 1 << 28 };
struct batches { struct probed x;@+ double packing, least[2][BATCHES];
  struct phase seen[BATCHES];@+ float *block; };
  /* |packing|: milliseconds for all copies; |least|: of a step, packing in each pass and packed once;
     |block[SWEPT]| is what the bandwidth is probed with */
static double seconds_since(clock_t start)
{
  return (double) (clock() - start) / CLOCKS_PER_SEC;
}
static void probe_again(struct batches *b)
{
  const struct kernels *k = b->x.b.e.k;
  float left[2];
  clock_t start = clock();
  double done = (double) k->probe_flops(SPINS, &left[0]);
  b->x.speed.madds = fmax(b->x.speed.madds, done / seconds_since(start));
  start = clock();
  left[1] = k->probe_bandwidth(b->block, SWEPT);
  b->x.speed.bytes = fmax(b->x.speed.bytes,
    SWEPT * sizeof (float) / seconds_since(start));
  b->block[0] += left[0] > left[1];
}
static bool time_batches(struct batches *b, float *logits, struct error *why)
{
  clock_t start = clock();
  bool ok = probed_pack(&b->x, why);
  b->packing = 1e3 * seconds_since(start);
  b->x.speed = (struct roofline) @[{ .madds = 0 }@];
  for (int r = 0; ok && r < BATCH_ROUNDS; r++) {
    probe_again(b);
    for (int i = 0; ok && i < 2 * BATCHES; i++) {
      double *least = &b->least[i % 2][i / 2];
      b->x.b.e.prepared = i % 2 == 0 ? NULL : b->x.ready;
      ok = time_batch(&b->x.b, 1u << i / 2, logits, &b->seen[i / 2], why);
      double ms = 1e3 * b->seen[i / 2].seconds;
      if (r == 0 || ms < *least) *least = ms;
    }
  }
  return ok;
}

@ A line of the file says how the weights were, and has the number of sequences, the milliseconds of a step, its work, the roof of these rounds, and the milliseconds that were spent once.

@<Take the time of batches@>=
static void print_batches(const struct batches *b)
{
  printf("weights,sequences,low,madds,bytes,speed,bandwidth,once\n");
  for (int i = 0; i < 2 * BATCHES; i++) {
    const struct counters *work = &b->seen[i % BATCHES].work;
    printf("%s,%d,%.4f,%" PRIu64 ",%" PRIu64 ",%.1f,%.1f,%.1f\n",@|
      i < BATCHES ? "mapped" : "packed", 1 << i % BATCHES,@|
      b->least[i / BATCHES][i % BATCHES], work_madds(work), work_bytes(work),@|
      b->x.speed.madds / 1e6, b->x.speed.bytes / 1e6, i < BATCHES ? 0 : b->packing);
  }
}
static bool print_batch(struct fixture *lab, struct error *why)
{
  struct batches b = @[{ .packing = 0 }@];
  struct model *lm = lab_stand_in(lab, why);
  bool ok = probed_open(&b.x, lab, lm, 1, why);
  store_close(b.x.b.s);
  b.x.b.s = b.x.b.g.s = !ok ? NULL : cache_open(&lab->m, &lm->config, BATCH,@|
    &(struct cache_options) @[{ .rows = BATCH * 2 * BATCH_DEPTH }@], why);
  float *logits = b.x.b.s == NULL ? NULL : lab_take(lab,
    (size_t) BATCH * lm->config.vocab_size, sizeof *logits, why);
  b.block = logits == NULL ? NULL : lab_take(lab, SWEPT, sizeof *b.block, why);
  for (size_t i = 0; b.block != NULL && i < SWEPT; i++) b.block[i] = 1;
  ok = b.block != NULL && fill_sequences(&b.x.b, why) && time_batches(&b, logits, why);
  if (ok) print_batches(&b);
  probed_close(&b.x);
  return ok;
}

@* Findings. \label{lab:findings}
The figures and the keys are made from the files that the measurements leave. A line of the file of passes is read into a struct.

@<Read the passes that were measured@>=
struct seen_pass { char model[16];@+ unsigned workers;@+ size_t depth, rows;
  double low, median, high, madds, bytes, speed, bandwidth; };
struct findings { const struct fixture *lab;
  struct seen_pass pass[4 * POINTS];@+ int n;@+ double single, four, excess; };
  /* |single|, |four|: milliseconds of a step of one sequence and of four; |excess|: the largest percentage by which a text took longer than its passes */
static bool take_pass(void *ctx, const char *line)
{
  struct findings *f = ctx;
  struct seen_pass *p = &f->pass[f->n];
  if (f->n == 4 * POINTS
      || sscanf(line, "%15[a-z0-9],%u,%zu,%zu,%lf,%lf,%lf,%lf,%lf,%lf,%lf",@|
        p->model, &p->workers, &p->depth, &p->rows, &p->low, &p->median,@|
        &p->high, &p->madds, &p->bytes, &p->speed, &p->bandwidth) < 11)
    return false;
  f->n++;
  return true;
}

@ A pass is found by its model, workers, depth and rows. A pass that was not measured is taken from the straight line between two that were; so whole texts can be added up, step by step, from 17 measured passes.

@<Read the passes that were measured@>=
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

@ The two neighbours of a length are looked for among the stand-in's passes of one worker: those that read, at depth 0, or those of a single row. In either list one of the two numbers of a pass tells its place.

@<Read the passes that were measured@>=
static double place_of(const struct seen_pass *p, bool reads)
{
  return (double) (reads ? p->rows : p->depth);
}
static double between(const struct findings *f, bool reads, double at)
{
  const struct seen_pass *a = NULL, *b = NULL;
  for (int i = 0; i < f->n; i++) {
    const struct seen_pass *p = &f->pass[i];
    if (strcmp(p->model, "gpt2") != 0 || p->workers != 1
        || (reads ? p->depth > 0 : p->rows > 1)) continue;
    double x = place_of(p, reads);
    if (x <= at && (a == NULL || x > place_of(a, reads))) a = p;
    if (x >= at && (b == NULL || x < place_of(b, reads))) b = p;
  }
  if (a == NULL) a = b;
  if (b == NULL || a == b) return a->median;
  double from = place_of(a, reads), to = place_of(b, reads);
  return a->median + (b->median - a->median) * (at - from) / (to - from);
}

@ The time of a whole text with the cache is one pass over the prompt, and then one row after $p$, $p+1$, \dots; without it, a pass over all of the text each time. In seconds.

@<Read the passes that were measured@>=
static double text_cached(const struct findings *f, size_t p, size_t g)
{
  double sum = between(f, true, (double) p);
  for (size_t i = 1; i < g; i++)
    sum += between(f, false, (double) (p + i - 1));
  return sum / 1e3;
}
static double text_naive(const struct findings *f, size_t p, size_t g)
{
  double sum = 0;
  for (size_t i = 0; i < g; i++) sum += between(f, true, (double) (p + i));
  return sum / 1e3;
}

@ The other measured files are shorter, and each line of them becomes a number or two as it is read.
For each part of a pass the key is its milliseconds. For the matrices of the layers we also compute their speed, from the multiply--adds that a row does in them, and for the transposed matrices their share of the bandwidth, from the bytes that the counters saw in such a pass.

@<Make keys of the shorter files@>=
static double row_madds(const struct findings *f, const char *model)
{
  const struct model_config *c = &random_model_gpt2;
  if (strcmp(model, "pocket") == 0) return (double) f->lab->model->layer_madds;
  return (double) c->n_layers * c->d_model
    * (4.0 * c->d_model + 2.0 * c->d_inner);
}
static bool take_part(void *ctx, const char *line)
{
  const struct findings *f = ctx;
  size_t depth, rows;
  char model[16], part[16];
  double ms, speed;
  if (sscanf(line, "%15[a-z0-9],%zu,%zu,%15[a-z],%lf,%lf", model, &depth,@|
      &rows, part, &ms, &speed) != 6) return false;
  if (strcmp(part, "alone") == 0)
    printf("phases.alone.%s %.4f\n", model, speed / 1e3);
  else if (strcmp(part, "turned") == 0)
    printf("phases.turned.%zu %.4f\nphases.turned.share.%zu %.4f\n", rows, ms,
      rows, 100 * find_pass(f, model, 1, 0, 1)->bytes / (ms * 1e3 * speed));
  else printf("phases.part.%s.%zu.%s %.4f\n", model, rows, part, ms);
  if (rows == 512 && strcmp(part, "linear") == 0) printf("phases.linear.%s"
    " %.4f\n", model, 512 * row_madds(f, model) / ms / 1e6);
  return true;
}

@ The key of a chunked prefill names the rows of a chunk; that of a whole text names the model, the two lengths, and whether the cache was kept.

@<Make keys of the shorter files@>=
static bool take_chunk(void *ctx, const char *line)
{
  (void) ctx;
  size_t chunk;
  double seconds;
  if (sscanf(line, "%zu,%lf", &chunk, &seconds) != 2) return false;
  printf("phases.chunk.%zu %.4f\n", chunk, seconds);
  return true;
}
static bool take_text(void *ctx, const char *line)
{
  struct findings *f = ctx;
  char model[16];
  size_t p, g;
  int keep;
  double seconds;
  if (sscanf(line, "%15[a-z0-9],%zu,%zu,%d,%lf", model, &p, &g, &keep,@|
      &seconds) != 5) return false;
  printf("phases.text.%s.%zu.%zu.%s %.4f\n", model, p, g,
    keep ? "cached" : "naive", seconds);
  double sum = keep ? text_cached(f, p, g) : text_naive(f, p, g);
  if (p == 1) f->excess = fmax(f->excess, 100 * (seconds / sum - 1));
  return true;
}

@ A batch has the milliseconds of its step, the tokens of all its sequences together in a second, the percentage of the bound that it reaches, and its intensity.

@<Make keys of the shorter files@>=
static bool take_batch(void *ctx, const char *line)
{
  struct findings *f = ctx;
  char w[8];
  int n;
  double ms, madds, bytes, speed, bandwidth, once;
  if (sscanf(line, "%7[a-z],%d,%lf,%lf,%lf,%lf,%lf,%lf", w, &n, &ms, &madds,@|
      &bytes, &speed, &bandwidth, &once) != 8) return false;
  const char *kind = once > 0 ? "" : "mapped.";
  if (n == 1) f->single = ms;
  printf("phases.batch.%sms.%d %.4f\n", kind, n, ms);
  printf("phases.batch.%srow.%d %.4f\n", kind, n, ms / n);
  printf("phases.batch.%srate.%d %.4f\n", kind, n, 1e3 * n / ms);
  printf("phases.batch.%sgain.%d %.4f\n", kind, n, n * f->single / ms);
  printf("phases.batch.%sshare.%d %.4f\n", kind, n,@|
    fmax(madds / speed, bytes / bandwidth) / 10 / ms);
  if (n == 4 && once > 0) print_key("phases.packing", "%.4f", f->four - ms);
  if (n == 4) f->four = ms;
  if (n == BATCH && once > 0) print_key("phases.packing.once", "%.4f", once);
  return true;
}

@ A published machine has its balance, in operations for each byte, and the most tokens a second that 1, 4 and 8 of them can write with \given{140} gigabytes of weights.

@<Make keys of the shorter files@>=
@<Print what an H100 could do at best@>@;
static bool take_hardware(void *ctx, const char *line)
{
  (void) ctx;
  char name[16];
  double tera, giga, bytes = 140e9;
  if (sscanf(line, "%15[A-Za-z0-9 ],%lf,%lf", name, &tera, &giga) != 3)
    return false;
  for (char *c = name; *c != '\0'; c++) if (*c == ' ') *c = '-';
  printf("phases.balance.%s %.4f\n", name, 1e3 * tera / giga);
  for (int n = 1; n <= 8; n = n == 1 ? 4 : 2 * n)
    printf("phases.bound.%s.%d %.4f\n", name, n, n * giga * 1e9 / bytes);
  if (strcmp(name, "H100") == 0) print_h100(tera * 1e12, giga * 1e9);
  return true;
}

@ For the machine that most sources name we also compute when the first token of a prompt can come at the earliest, in milliseconds, for \given{140} gigabytes of weights of two bytes each; how many times faster than in decode each of its tokens is; how many times as long a prompt of \given{1000} tokens takes as one of \given{100}; how many sequences of \given{8192} tokens make the cache of Llama 3 70B as large as the weights (a token has two vectors of \given{1024} numbers in each of 80 layers); and how many seconds the naive loop needs for an answer of \given{1000} tokens, if each pass is as fast as it can be.

@<Print what an H100 could do at best@>=
static void print_h100(double flops, double bandwidth)
{
  double bytes = 140e9, of[2], naive = 0;
  for (int n = 1; n <= 1000; n++)
    naive += fmax(bytes / bandwidth, n * bytes / flops);
  print_key("phases.naive.answer", "%.2f", naive);
  for (int i = 0; i < 2; i++) {
    double n = i == 0 ? 100 : 1000;
    of[i] = 1e3 * fmax(bytes / bandwidth, n * bytes / flops);
    printf("phases.earliest.%.0f %.4f\n", n, of[i]);
    printf("phases.gap.%.0f %.4f\n", n, n * 1e3 * bytes / bandwidth / of[i]);
  }
  print_key("phases.earliest.ratio", "%.4f", of[1] / of[0]);
  print_key("phases.batch.even", "%.4f",
    bytes / (8192 * 2. * 80 * 1024 * 2));
  print_key("claim.S1-46", "%.4f", 4 * bandwidth / bytes);
}

@* The keys. \label{lab:phasekeys}
First what needs no measurement: intensities by \eqref{eq:intensity}, and the shape of the stand-in.

@<Print what follows from shapes@>=
static double intensity(double n, double a, double b)
{
  return 0.25 / (1 / n + 1 / a + 1 / b);
}
static void print_shapes(void)
{
  size_t n = random_model_numbers(&random_model_gpt2);
  print_key("phases.intensity.512", "%.4f", intensity(512, 768, 3072));
  print_key("phases.intensity.limit", "%.4f", 0.25 / (1 / 768. + 1 / 3072.));
  print_key("phases.standin.parameters", "%zu", n);
  print_key("phases.standin.bytes", "%zu", n * sizeof (float));
}

@ In a model with as many heads of keys as of queries a row of width $d$ does $12d^2$ multiply--adds in a layer (four matrices of $d\times d$ and two of $d\times4d$), and $2d$ for each key that it sees.

@<Print what follows from shapes@>=
static void print_overtaking(const struct model *pocket)
{
  static const struct { const char *name;@+ double d, layers, v; } m[] = @[{@|
    { "gpt2", 768, 12, 50257 }, { "gpt2-xl", 1600, 48, 50257 },@|
    { "7b", 4096, 32, 32000 } }@];
  for (int i = 0; i < 3; i++) {
    double layers = 12 * m[i].d * m[i].d * m[i].layers, head = m[i].v * m[i].d;
    printf("phases.overtake.%s %.0f\n", m[i].name, 6 * m[i].d);
    printf("phases.head.%s %.4f\n", m[i].name, 100 * head / (layers + head));
  }
  double head = (double) pocket->config.vocab_size
    * (double) pocket->config.d_model;
  print_key("phases.head.pocket", "%.4f",
    100 * head / (head + (double) pocket->layer_madds));
}

@ What the machine did: its own two speeds, for one worker and for two; the share of them that the two phases reach; and what a second worker is good for, next to what it is good for in the probes.

@<Print what the machine did in the passes@>=
static double madds_share(const struct seen_pass *p)
{
  return 100 * (p->madds / p->median / 1e3 / p->speed);
}
static double bytes_share(const struct seen_pass *p)
{
  return 100 * (p->bytes / p->median / 1e3 / p->bandwidth);
}
static void print_machine(const struct findings *f)
{
  const struct seen_pass *read[3], *write[3];
  for (unsigned w = 1; w <= 2; w++) {
    read[w] = find_pass(f, "gpt2", w, 0, 512);
    write[w] = find_pass(f, "gpt2", w, 0, 1);
    printf("phases.speed.%u %.4f\n", w, read[w]->speed / 1e3);
    printf("phases.bandwidth.%u %.4f\n", w, read[w]->bandwidth / 1e3);
    printf("phases.share.read.%u %.4f\n", w, madds_share(read[w]));
    printf("phases.share.write.%u %.4f\n", w, bytes_share(write[w]));
  }
  const struct seen_pass *r = read[1], *w = write[1];
  print_key("phases.balance", "%.4f", r->speed / r->bandwidth);
  print_key("phases.balance.rows", "%.4f", 4 * r->speed / r->bandwidth);
  print_key("phases.scale.read", "%.4f", r->median / read[2]->median);
  print_key("phases.scale.write", "%.4f", w->median / write[2]->median);
  print_key("phases.scale.speed", "%.4f", read[2]->speed / r->speed);
  print_key("phases.scale.bandwidth", "%.4f", read[2]->bandwidth / r->bandwidth);
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

@ Whole texts are sums over the measured passes: with the cache and without, and the answer of \given{500} tokens beside that of one.

@<Print what whole texts take@>=
static void print_whole_texts(const struct findings *f)
{
  static const size_t g[] = @[{ 30, 100, 300, 1000 }@], p[] = @[{ 50, 100, 500 }@];
  for (int i = 0; i < 4; i++) {
    double naive = text_naive(f, 1, g[i]), kept = text_cached(f, 1, g[i]);
    printf("phases.sum.naive.%zu %.4f\nphases.sum.kept.%zu %.4f\n", g[i],
      naive, g[i], kept);
    printf("phases.sum.ratio.%zu %.4f\n", g[i], naive / kept);
  }
  print_key("phases.sum.naive.50.30", "%.4f", text_naive(f, 50, 30));
  print_key("phases.sum.kept.50.30", "%.4f", text_cached(f, 50, 30));
  for (int i = 0; i < 3; i++) printf("phases.answer.%zu %.4f\n", p[i],
    text_cached(f, p[i], 500) / text_cached(f, p[i], 1));
  for (double n = 100; n <= 1000; n *= 10)
    printf("phases.ratio.%.0f %.4f\n", n,
      between(f, false, n) * n / between(f, true, n));
}

@ Most claims of the sources about the two phases are settled by the passes that were measured.

@<Print what became of the claims@>=
static void print_claims(const struct findings *f)
{
  const struct seen_pass *prefill = find_pass(f, "gpt2", 1, 0, 512);
  const struct seen_pass *decode = find_pass(f, "gpt2", 1, 512, 1);
  double row = prefill->median / 512, answer = 0;
  for (size_t i = 0; i < 1000; i++)
    answer += between(f, false, fmin((double) i, LONGEST));
  print_key("claim.S1-10", "%.4f", prefill->madds / prefill->bytes);
  print_key("claim.S1-48", "%.4f", decode->madds / decode->bytes);
  print_key("claim.S1-11", "%.4f",
    between(f, true, 1000) / between(f, true, 100));
  print_key("claim.S1-15", "%.4f", bytes_share(decode));
  print_key("claim.S1-17 claim.S1-47 claim.S3-19", "%.4f",
    decode->median / row);
  print_key("claim.S1-42", "%.4f",
    text_cached(f, 100, 500) / text_cached(f, 100, 1));
  print_key("claim.S2-65", "%.4f",
    text_naive(f, 1, 1000) / text_cached(f, 1, 1000));
  print_key("claim.S2-73", "%.4f", find_pass(f, "gpt2", 1, 0, 1)->median
    / (find_pass(f, "gpt2", 1, 0, 64)->median / 64));
  print_key("claim.S3-16", "%.4f", row);
  print_key("claim.S3-20", "%.4f", answer / between(f, true, 1000));
}

@ The others are settled by the counters of a run: a prompt of seven is one pass of seven rows, and each token after the first costs a pass that cannot begin before the last has ended. (The second of the three runs finds six of the seven rows in the store, and so its only pass has one row, like all later ones.)

@<Print what became of the claims@>=
static bool claims_of_counters(struct fixture *lab, struct error *why)
{
  struct bench *b = &lab->b;
  struct generate_options want = @[{ .max_new_tokens = 1,
    .recall = store_match_prefix }@];
  const struct counters *c = &lab->c;
  lab_reset(lab);
  if (!bench_write(b, lab->sentence, PARROT_WORDS, &want, why)) return false;
  print_key("claim.S1-06 claim.S2-90", "%" PRIu64, c->passes);
  print_key("claim.S3-15", "%zu", store_length(b->s, 0));
  double first = (double) work_madds(c) / (double) work_bytes(c);
  lab_reset(lab);
  if (!bench_write(b, lab->sentence, PARROT_WORDS, &want, why)) return false;
  print_key("phases.shown.ratio", "%.4f", first * (double) work_bytes(c)
    / (double) work_madds(c));
  store_crop(b->s, 0, 0);
  lab_reset(lab);
  want.max_new_tokens = 20;
  if (!bench_write(b, lab->sentence, PARROT_WORDS, &want, why)) return false;
  print_key("claim.S3-17 phases.shown.passes", "%" PRIu64, c->passes);
  return true;
}

@ How well does the built-in model predict the sentence it knows by heart, and how well the same sentence a second time, right after the first?

@<Print what became of the claims@>=
static bool print_known(struct fixture *lab, struct error *why)
{
  uint32_t id[2 * PARROT_WORDS];
  struct perplexity p, q;
  for (size_t i = 0; i < 2 * PARROT_WORDS; i++)
    id[i] = lab->sentence[i % PARROT_WORDS];
  if (!perplexity_of(&lab->b.g, id, PARROT_WORDS, PARROT_WORDS,
        PARROT_WORDS, &p, why)
      || !perplexity_of(&lab->b.g, id, 2 * PARROT_WORDS, 2 * PARROT_WORDS,@|
        2 * PARROT_WORDS, &q, why)) return false;
  print_key("phases.known.1", "%.4f", exp(p.loss / (double) p.tokens));
  print_key("phases.known.2", "%.4f", exp((q.loss - p.loss)
    / (double) (q.tokens - p.tokens)));
  return true;
}

@ The passes are read first, since the other files are compared with them.

@<Print every number that the prose quotes@>=
static bool print_values(struct fixture *lab, struct error *why)
{
  static struct findings f;
  f.lab = lab;
  if (!data_read("phases.passes", take_pass, &f, 4 * POINTS, why)) return false;
  print_shapes(), print_overtaking(lab->model);
  print_machine(&f), print_times(&f);
  print_whole_texts(&f), print_claims(&f);
  bool ok = data_read("phases.parts", take_part, &f, 4 * PARTS + 4, why)
    && data_read("phases.chunks", take_chunk, &f, 10, why)
    && data_read("phases.texts", take_text, &f, 7, why)
    && data_read("phases.batch", take_batch, &f, 2 * BATCHES, why)
    && data_read("phases.hardware", take_hardware, &f, 6, why);
  print_key("phases.sum.excess", "%.4f", f.excess);
  return ok;
}

@* Where a pass loses time. \label{lab:second}
\Cref{fig:depth} shows the time per output token against the length of the context; the cache is read in every step, and grows. What wavers there is the machine.

\fig{depth}{fig:depth}{Milliseconds for each decoded token against the rows in the cache, in GPT-2 small's shape; broken: two workers. Grey: the bound, which is the time to read weights and cache.}{A line that rises slowly from the left, over a parallel grey one that is a little lower. The broken pair, of two workers, is lower and rises less.}

\Cref{tab:parts} takes one pass of each phase apart. The decoded row spends nearly all of its time in products with matrices, and reads them nearly as fast as the probe reads its block. Does the order matter in which they are stored? GPT-2's matrices are stored by inputs, in rows thousands of bytes long, of which a product takes a piece at a time. If the same numbers are taken for matrices stored by outputs, as Llama's are, a token takes \val[1]{phases.turned.1} milliseconds and reaches \val[0]{phases.turned.share.1} percent of the bandwidth, where it took \val[1]{phases.ms.gpt2.1.0.1} milliseconds and reached \val[0]{phases.share.write.1} percent. With two workers it takes \val[1]{phases.turned.2} milliseconds in place of \val[1]{phases.ms.gpt2.2.0.1}. So it hardly matters.

\begin{table}
\tabcaption{tab:parts}{Milliseconds of two passes of the stand-in, by kernels: one row after \given{512} others, and \given{512} rows after none.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rr@@{}}
\tabhead{part} & \tabhead{1 row} & \tabhead{\given{512} rows}\\\midrule
matrices of the layers & \val[1]{phases.part.gpt2.1.linear} & \val[0]{phases.part.gpt2.512.linear}\\
the head & \val[1]{phases.part.gpt2.1.head} & \val[0]{phases.part.gpt2.512.head}\\
attention & \val[1]{phases.part.gpt2.1.attention} & \val[0]{phases.part.gpt2.512.attention}\\
norms & \val[1]{phases.part.gpt2.1.norm} & \val[0]{phases.part.gpt2.512.norm}\\
activations & \val[1]{phases.part.gpt2.1.activation} & \val[0]{phases.part.gpt2.512.activation}\\
all else & \val[1]{phases.part.gpt2.1.rest} & \val[0]{phases.part.gpt2.512.rest}
\end{tabular*}
\end{table}

In prefill the same products alone take longer than the bound allows for the whole pass. The probe's multiply--adds find their numbers in registers; the kernel's must fetch theirs, at best from the processor's own caches. On a matrix and rows that never leave the second-level cache the kernel does \val[1]{phases.alone.gpt2} billion multiply--adds a second. In the pass it does \val[1]{phases.linear.gpt2}, on matrices that are larger and cost less at their edges. So prefill does not wait for memory. Most of the gap is the kernel's own; the rest is attention, whose products are short and are folded one by one, and then activations and norms.

@ At two to thirty rows a pass is farthest from its bound: it takes \val[1]{phases.over.gpt2.1.0.8} times as long with eight rows, and \val[1]{phases.over.gpt2.1.0.16} times with 16. There it does one thing after the other: it fetches the weights, packs them into panels, and multiplies. The bound assumes that fetching and multiplying overlap, and ignores packing. What packing costs we can see in the batches (\cref{lab:batch}): a step of four sequences takes \val[0]{phases.batch.mapped.ms.4} milliseconds if it packs, and \val[0]{phases.batch.ms.4} if the copies are there. The other \val[0]{phases.packing} are the price. It is paid once a pass. With more rows than a block of panels serves, the deepest matrices are packed several times, and attention grows; so with \given{1000} rows a row takes \val[2]{phases.row.gpt2.1.0.1000} milliseconds, and with \given{256} only \val[2]{phases.row.gpt2.1.0.256}.

@ The built-in model is farther from its bound, \val[1]{phases.over.pocket.1.0.512} times with \given{512} rows, and its rows gain little from being many: a row costs \val[2]{phases.row.pocket.1.0.1} milliseconds alone, \val[2]{phases.row.pocket.1.0.128} among \given{128}, and \val[2]{phases.row.pocket.1.0.512} among \given{512}. In that largest pass its matrices take \val[0]{phases.part.pocket.512.linear} milliseconds and attention \val[0]{phases.part.pocket.512.attention}, together most of the pass. The matrices are small: a product of \given{128} terms is eight steps of sixteen lanes, and then the lanes are folded. One such matrix alone, in the cache, runs at \val[1]{phases.alone.pocket} billion multiply--adds a second, where the probe does \val[1]{phases.speed.1}, and in the pass at \val[1]{phases.linear.pocket}. And attention takes a fold for each key of a head of 32 numbers.
A small model waits neither for memory nor for multiplications, but for everything else.

The built-in model was also run once to read \given{1000} tokens and write \given{1000} more. That took \val[2]{phases.text.pocket.1000.1000.cached} seconds; the prefill takes \val[0]{phases.ms.pocket.1.0.1000} milliseconds, and the first of the steps after it \val[2]{phases.ms.pocket.1.1000.1}.

@* Claims of the tutorials. \label{lab:phaseclaims}
These were judged with the numbers above.

\begin{claimed}{S1-42}
after a prompt of \given{100} tokens \val[0]{claim.S1-42} times as long. The first token pays for the prompt.
\end{claimed}

\begin{claimed}{S2-65}
\val[0]{claim.S2-65} times in GPT-2 small's shape: one order of magnitude and a good part of the second. With the built-in model it is two and more, \val[0]{cache.clock.ratio.1000} times (\cref{sec:cacheclock}).
\end{claimed}
