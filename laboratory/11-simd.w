@i types.w
@s lab_print int
@s matrix int
@s tensor int
@s engine int
@s rung int
@s kernels int
@s segment int
@s attention_dims int
@s prepared_weights int
@s pool_work int

\chapterquestion{What is each step of the ladder worth?}
@** Experiments on fast kernels. \label{lab:simd}
\incipit{C}{hapter 11 climbs} from the loop that a student types to kernels at the limit of the machine. Here each rung is timed, on one layer with the shape of a model of \given{110} M weights, beside two probes of the same instructions: one that only multiplies and adds, and one that only reads. A rung and the probes take turns, so that a slow minute of the machine hits all of them alike.

The words |"ladder"|, |"stream"|, |"rows"|, |"depth"| and |"small"| use a clock, and \texttt{make measure} keeps what they print. |"values"| makes keys of those files, and compares the bits of all rungs.

@c
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "kernels/kernels.h"
#include "laboratory/kit2.h"
@;@#
@<The layer of the experiments@>@;
@<The rungs of the ladder@>@;
@<Time the rungs@>@;
@<Time one row@>@;
@<Time few and many rows@>@;
@<Time attention at a depth@>@;
@<Time the small kernels@>@;
@<Compare the bits of all rungs@>@;
@<Make keys of what was measured@>@;
@<Count what a tile loads@>@;
int main(int argc, char **argv)
{
  static const struct lab_command words[] = @[{ { "values", print_equal },@|
    { "values", print_tiles }, { "values", print_measured },@|
    { "tiles", draw_tiles }, { "ladder", print_ladder },@|
    { "stream", print_stream }, { "rows", print_rows },@|
    { "depth", print_depth }, { "small", print_small }, { NULL, NULL } }@];
  return lab_main(argc, argv, words);
}

@* The layer. \label{lab:simdlayer}
The matrix has \given{768} inputs and \given{2048} outputs, the shape of the first of the two large matrices of an MLP. Its weights are small numbers without pattern, and so are the inputs.

@<The layer of the experiments@>=
enum { IN = 768, OUT = 2048, ROWS = 96, ROUNDS = 7 };
struct layer { float *weight, *x, *y; void *coded; struct matrix m; };
static bool layer_open(struct fixture *lab, struct layer *l, enum weight_type type,
  struct error *why)
{
  uint64_t seed = 11;
  l->weight = lab_take(lab, IN * OUT, sizeof (float), why);
  l->x = lab_take(lab, 2 * 512 * IN, sizeof (float), why);
  l->y = lab_take(lab, (size_t) 512 * OUT, sizeof (float), why);
  l->coded = lab_take(lab, 1, weight_row_bytes(type, IN * OUT), why);
  if (l->coded == NULL) return false;
  for (size_t i = 0; i < IN * OUT; i++)
    l->weight[i] = (float) random_normal(&seed) * 0.02f;
  for (size_t i = 0; i < 2 * 512 * IN; i++) l->x[i] = (float) random_normal(&seed);
  l->m = (struct matrix) @[{ .weight = { l->coded, type }, .in = IN, .out = OUT }@];
  return weights_encode(type, l->weight, IN * OUT, l->coded, why);
}

@* The rungs. \label{lab:rungs}
A rung is a table of kernels and how it is used. Without a pool a table has no workspace, and multiplies the rows one by one; with one it packs panels and computes tiles; and if the weights were prepared before, it need not pack them. The lowest rung is no table at all but the loop that everybody writes first, with a single sum. Its bits are not those of the definition, as it adds in another order.

@<The rungs of the ladder@>=
struct rung { const char *name, *table; unsigned workers; bool prepared;
  enum weight_type type; enum activations inputs; };
static const struct rung rungs[] = @[{@|
  { "textbook", NULL, 0, false, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "plain", "plain", 0, false, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "portable", "scalar", 1, false, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "avx2.rows", "avx2", 0, false, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "avx2.tiles", "avx2", 1, false, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "avx512.rows", "avx512", 0, false, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "avx512.tiles", "avx512", 1, false, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "avx512.packed", "avx512", 1, true, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "two", "avx512", 2, true, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "bf16", "avx512", 1, true, WEIGHT_BF16, ACTIVATIONS_F32 },@|
  { "q8_0", "avx512", 1, true, WEIGHT_Q8_0, ACTIVATIONS_INT8 },@|
  { "q4_0", "avx512", 1, true, WEIGHT_Q4_0, ACTIVATIONS_INT8 } }@];
enum { RUNGS = sizeof rungs / sizeof *rungs };
static void textbook(const struct layer *l, size_t rows)
{
  for (size_t r = 0; r < rows; r++)
    for (size_t o = 0; o < OUT; o++) {
      float sum = 0;
      for (size_t k = 0; k < IN; k++) sum += l->x[r * IN + k] * l->weight[o * IN + k];
      l->y[r * OUT + o] = sum;
    }
}

@ A rung is made ready once: its layer, the pool with the workspace that the table asks for, and the prepared weights. A machine that lacks the instructions of a table leaves the rung out.

@<The rungs of the ladder@>=
struct ready { const struct rung *of; struct layer l; struct engine e;
  struct pool *pool; struct prepared_weights *kept; double taken[ROUNDS]; };
static bool rung_open(struct fixture *lab, const struct rung *r, struct ready *a,
  size_t rows, struct error *why)
{
  const struct matrix *list = &a->l.m;
  *a = (struct ready) @[{ .of = r }@];
  if (!layer_open(lab, &a->l, r->type, why)) return false;
  a->e = (struct engine) @[{ .activations = r->inputs }@];
  a->e.k = r->table == NULL ? &kernels_plain : kernels_find(r->table, why);
  if (a->e.k == NULL) return true; /* not on this machine */
  if (r->workers > 0) {
    a->pool = a->e.pool = pool_open(&lab->m, r->workers, why);
    if (a->pool == NULL || !pool_reserve(a->pool, a->e.k->room(list, 1, rows), why))
      return false;
  }
  if (r->prepared)
    a->kept = prepared_open(&lab->m, a->e.k, r->inputs, NULL, &list, 1, why);
  a->e.prepared = a->kept;
  return !r->prepared || a->kept != NULL;
}
static void rung_close(struct fixture *lab, struct ready *a)
{
  prepared_close(&lab->m, a->kept);
  pool_close(&lab->m, a->pool);
}

@ One run, and its seconds.

@<The rungs of the ladder@>=
static double rung_run(struct ready *a, size_t rows)
{
  float *y = a->l.y;
  double start = timing_seconds();
  if (a->of->table == NULL) textbook(&a->l, rows);
  else kernels_multiply(&a->e, &a->l.m, 1, a->l.x, rows, &y);
  return timing_seconds() - start;
}

@* Many rows. \label{lab:ladder}
The ladder is climbed with \given{96} rows: their inputs and a strip of weights fit into the second-level cache, so that it is the multiplications that count. The probe runs in the fastest table of the machine, with one worker, between the rungs of each round. The first round is not counted.

@<Time the rungs@>=
static double probe_madds(const struct kernels *k)
{
  float left;
  double start = timing_seconds();
  double n = (double) k->probe_flops(1 << 25, &left);
  return n / (timing_seconds() - start);
}
static bool print_ladder(struct fixture *lab, struct error *why)
{
  struct ready *all = lab_take(lab, RUNGS, sizeof *all, why);
  const struct kernels *best = kernels_find(NULL, why);
  double roof[ROUNDS], madds = (double) ROWS * IN * OUT;
  bool ok = all != NULL;
  for (int i = 0; i < RUNGS && ok; i++) ok = rung_open(lab, &rungs[i], &all[i], ROWS, why);
  for (int t = -1; t < ROUNDS && ok; t++) {
    double r = probe_madds(best);
    for (int i = 0; i < RUNGS; i++) {
      double taken = all[i].e.k == NULL ? 0 : rung_run(&all[i], ROWS);
      if (t >= 0) all[i].taken[t] = taken, roof[t] = r / 1e9;
    }
  }
  double top = ok ? timing_quartiles(roof, ROUNDS).median : 0;
  if (ok) printf("rung,low,median,high,roof\n");
  for (int i = 0; i < RUNGS && ok; i++) @<Print the rate of rung |i|@>@;
  for (int i = 0; i < RUNGS && all != NULL; i++) rung_close(lab, &all[i]);
  return ok;
}

@ The columns are $10^9$ multiply--adds a second: quartiles of the rung, and the roof.

@<Print the rate of rung |i|@>=
{
  double rate[ROUNDS];
  if (all[i].e.k == NULL) continue;
  for (int t = 0; t < ROUNDS; t++) rate[t] = madds / all[i].taken[t] / 1e9;
  printf("%s", rungs[i].name);
  print_quartiles(rate, ROUNDS, 1, 3);
  printf(",%.2f\n", top);
}

@* One row. \label{lab:simdstream}
A pass of one row waits for memory, so the matrix must come from there: the rungs multiply by a list of copies of the same matrix that is several times as large as the third-level cache. The probe reads the float weights of the same list.

@<Time one row@>=
struct one_row { enum weight_type type; const char *table, *name; unsigned workers; };
static const struct one_row streams[] = @[{@|
  { WEIGHT_F32, "plain", "plain", 1 }, { WEIGHT_F32, "avx2", "avx2", 1 },@|
  { WEIGHT_F32, "avx512", "f32", 1 }, { WEIGHT_F16, "avx512", "f16", 1 },@|
  { WEIGHT_BF16, "avx512", "bf16", 1 }, { WEIGHT_Q8_0, "avx512", "q8_0", 1 },@|
  { WEIGHT_Q5_1, "avx512", "q5_1", 1 }, { WEIGHT_Q5_0, "avx512", "q5_0", 1 },@|
  { WEIGHT_Q4_1, "avx512", "q4_1", 1 }, { WEIGHT_Q4_0, "avx512", "q4_0", 1 },@|
  { WEIGHT_F32, "avx512", "f32", 2 }, { WEIGHT_BF16, "avx512", "bf16", 2 },@|
  { WEIGHT_Q8_0, "avx512", "q8_0", 2 }, { WEIGHT_Q4_0, "avx512", "q4_0", 2 } }@];
enum { STREAMS = sizeof streams / sizeof *streams, FLOATS = 1 << 26, COPIES = 160 };
static void read_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct layer *l = ctx;
  size_t share = FLOATS / workers;
  l->y[worker] = kernels_find(NULL, NULL)->probe_bandwidth(
    l->weight + worker * share, share);
}
static double probe_bytes(struct pool *p, struct layer *big)
{
  double start = timing_seconds();
  pool_run(p, read_part, big);
  return 4.0 * FLOATS / (timing_seconds() - start);
}

@ The list has as many copies as fill the block of \given{256} MiB, at most |COPIES|.

@<Time one row@>=
static bool time_one_row(struct fixture *lab, const struct one_row *s,
  struct layer *big, struct layer *one, struct error *why)
{
  size_t bytes = weight_row_bytes(s->type, IN * OUT), n = 4 * (size_t) FLOATS / bytes;
  struct matrix list[COPIES];
  float *y[COPIES];
  struct engine e = @[{ .k = kernels_find(s->table, NULL) }@];
  double rate[ROUNDS], roof[ROUNDS];
  if (n > COPIES) n = COPIES;
  if (e.k == NULL) return true;
  e.pool = pool_open(&lab->m, s->workers, why);
  if (e.pool == NULL || !weights_encode(s->type, one->weight, IN * OUT, big->weight, why))
    return false;
  for (size_t i = 0; i < n; i++) {
    char *at = (char *) big->weight + i * bytes;
    if (i > 0) memcpy(at, big->weight, bytes);
    list[i] = one->m, y[i] = one->y;
    list[i].weight = (struct tensor) @[{ at, s->type }@];
  }
  for (int t = -1; t < ROUNDS; t++) {
    double r = probe_bytes(e.pool, big), start = timing_seconds();
    kernels_multiply(&e, list, n, one->x, 1, y);
    double taken = timing_seconds() - start;
    if (t >= 0) rate[t] = (double) (n * bytes) / taken / 1e9, roof[t] = r / 1e9;
  }
  @<Print the rate of a stream@>@;
  pool_close(&lab->m, e.pool);
  return true;
}

@ Gigabytes a second of weights as they are stored; the roof is the median of the probe.

@<Print the rate of a stream@>=
printf("%s,%u", s->name, s->workers);
print_quartiles(rate, ROUNDS, 1, 3);
printf(",%.3f\n", timing_quartiles(roof, ROUNDS).median);

@ All of them in turn.

@<Time one row@>=
static bool print_stream(struct fixture *lab, struct error *why)
{
  struct layer big, one;
  if (!layer_open(lab, &one, WEIGHT_F32, why)) return false;
  big = one, big.weight = lab_take(lab, FLOATS, sizeof (float), why);
  if (big.weight == NULL) return false;
  printf("type,workers,low,median,high,roof\n");
  for (int i = 0; i < STREAMS; i++)
    if (!time_one_row(lab, &streams[i], &big, &one, why)) return false;
  return true;
}

@* From one row to many. \label{lab:simdrows}
Between the two limits the time of a row falls. The numbers of rows are chosen around the height of a tile, twelve with AVX-512: one row more than a tile costs another tile.

@<Time few and many rows@>=
static const size_t heights[] = @[{ 1, 2, 3, 4, 6, 8, 12, 13, 24, 48, 96, 192, 512 }@];
enum { HEIGHTS = sizeof heights / sizeof *heights };
static const struct rung tall[] = @[{@|
  { "f32", "avx512", 1, false, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "f32.packed", "avx512", 1, true, WEIGHT_F32, ACTIVATIONS_F32 },@|
  { "bf16.packed", "avx512", 1, true, WEIGHT_BF16, ACTIVATIONS_F32 },@|
  { "q8_0", "avx512", 1, false, WEIGHT_Q8_0, ACTIVATIONS_INT8 },@|
  { "q8_0.packed", "avx512", 1, true, WEIGHT_Q8_0, ACTIVATIONS_INT8 } }@];
enum { TALL = sizeof tall / sizeof *tall };
static bool print_rows(struct fixture *lab, struct error *why)
{
  printf("weights,rows,low,median,high\n");
  for (int i = 0; i < TALL; i++) {
    struct ready a;
    bool ok = rung_open(lab, &tall[i], &a, 512, why);
    for (int h = 0; h < HEIGHTS && ok && a.e.k != NULL; h++) {
      double rate[ROUNDS], madds = (double) heights[h] * IN * OUT;
      for (int t = -1; t < ROUNDS; t++) {
        double taken = rung_run(&a, heights[h]);
        if (t >= 0) rate[t] = madds / taken / 1e9;
      }
      printf("%s,%zu", tall[i].name, heights[h]);
      print_quartiles(rate, ROUNDS, 1, 3);
      printf("\n");
    }
    rung_close(lab, &a);
    if (!ok) return false;
  }
  return true;
}

@* Attention at a depth. \label{lab:simddepth}
One row looks at |depth| positions of a cache with 12 heads of 64 numbers. The caches of many layers are in one block of \given{256} MiB, and each call takes the next, so that keys and values come from memory. Twelve heads, each with its own keys and values.

@<Time attention at a depth@>=
struct deep { struct attention_dims h; struct segment s; size_t stride, n, at; };
static void deep_open(struct deep *d, const float *block, enum weight_type type,
  uint32_t depth)
{
  size_t row = weight_row_bytes(type, 12 * 64), part = row * depth;
  *d = (struct deep) @[{ .h = { 12, 12, 64, 0.125f } }@];
  d->stride = 2 * part, d->n = 4 * (size_t) FLOATS / d->stride;
  d->s.view = (struct kv_view) @[{ .key = (uintptr_t) block,@|
    .value = (uintptr_t) block + part, .row_bytes = row,@|
    .head_bytes = weight_row_bytes(type, 64), .type = type }@];
  d->s.n_rows = 1, d->s.first_position = depth - 1;
}
static double deep_run(struct deep *d, struct engine *e, const struct layer *l,
  float *scratch)
{
  struct segment s = d->s;
  double start = timing_seconds();
  for (size_t i = 0; i < d->n; i++) {
    s.view.key = d->s.view.key + i * d->stride;
    s.view.value = d->s.view.value + i * d->stride;
    e->k->attend(e, &d->h, l->x, &s, 1, scratch, l->y, NULL);
  }
  return (double) (d->n * d->stride) / (timing_seconds() - start);
}

@ The block is filled with copies of the same \given{1536} numbers, in the format of the cache.

@<Time attention at a depth@>=
static bool fill_cache(void *block, const float *x, enum weight_type type,
  struct error *why)
{
  size_t piece = weight_row_bytes(type, 1536), all = 4 * (size_t) FLOATS;
  if (!weights_encode(type, x, 1536, block, why)) return false;
  for (size_t at = piece; at + piece <= all; at += piece)
    memcpy((char *) block + at, block, piece);
  return true;
}

@ In gigabytes of keys and values a second, beside the same probe. An engine without a pool has no room for all heads of a row, and each head goes through the cache alone; the other has a pool of one worker. The two take turns.

@<Time attention at a depth@>=
struct depth_kind { const char *name; enum weight_type type; };
static void time_depth(const struct depth_kind *kept, uint32_t depth,@|
  struct layer *big, const struct layer *l, float *scratch, struct engine *e)
{
  struct deep d;
  struct pool *pool[2] = @[{ NULL, e->pool }@];
  double rate[2][ROUNDS], roof[ROUNDS];
  deep_open(&d, big->weight, kept->type, depth);
  for (int t = -1; t < ROUNDS; t++) {
    double got[2], r = probe_bytes(NULL, big);
    for (int i = 0; i < 2; i++) e->pool = pool[i], got[i] = deep_run(&d, e, l, scratch);
    for (int i = 0; t >= 0 && i < 2; i++) rate[i][t] = got[i] / 1e9;
    if (t >= 0) roof[t] = r / 1e9;
  }
  for (int i = 0; i < 2; i++) {
    printf("%s.%s,%u", kept->name, i == 0 ? "alone" : "together", depth);
    print_quartiles(rate[i], ROUNDS, 1, 3);
    printf(",%.3f\n", timing_quartiles(roof, ROUNDS).median);
  }
}

@ The longest cache needs the most room.

@<Time attention at a depth@>=
static bool reserve_heads(struct engine *e, struct error *why)
{
  struct deep d;
  deep_open(&d, NULL, WEIGHT_F32, 8192);
  return pool_reserve(e->pool, e->k->attention_room(&d.h, 1, 8192), why);
}
static bool print_depth(struct fixture *lab, struct error *why)
{
  static const struct depth_kind kept[] = @[{ { "f32", WEIGHT_F32 },@| { "f16", WEIGHT_F16 } }@];
  struct layer big, l;
  struct engine e = @[{ .k = kernels_find(NULL, why),@|
    .pool = pool_open(&lab->m, 1, why) }@];
  bool ok = e.pool != NULL && layer_open(lab, &l, WEIGHT_F32, why)@|
    && reserve_heads(&e, why);
  float *scratch = ok ? lab_take(lab, 40 * 66, sizeof *scratch, why) : NULL;
  if (ok) big = l, big.weight = lab_take(lab, FLOATS, sizeof (float), why);
  ok = scratch != NULL && big.weight != NULL;
  if (ok) printf("type,depth,low,median,high,roof\n");
  for (int k = 0; ok && k < 2; k++) {
    ok = fill_cache(big.weight, l.x, kept[k].type, why);
    for (uint32_t depth = 512; ok && depth <= 8192; depth *= 2)
      time_depth(&kept[k], depth, &big, &l, scratch, &e);
  }
  pool_close(&lab->m, e.pool);
  return ok;
}

@* The small kernels. \label{lab:small}
What else a pass and a choice take: a norm of \given{512} rows, and the kernels over the logits of a vocabulary of \given{128256} tokens, in milliseconds.

@<Time the small kernels@>=
enum { LOGITS = 128256 };
static void run_small(int which, const struct engine *e, struct layer *l, double *z)
{
  static const struct norm g = @[{ .kind = NORM_RMS, .epsilon = 1e-5f }@];
  if (which == 0) e->k->normalize(e, &g, l->x, 512, IN, l->y);
  if (which == 1) e->k->activate(e, ACTIVATION_SILU, l->x, NULL, 512 * IN, l->y);
  if (which == 2) e->k->softmax(e, l->x, 1, LOGITS, z);
  if (which == 3) e->k->log_softmax(e, l->x, 1, LOGITS, z);
}
static bool print_small(struct fixture *lab, struct error *why)
{
  static const char *const name[] = @[{ "norm", "silu", "softmax", "logsoftmax" }@];
  struct layer l;
  struct engine e = @[{ .k = kernels_find(NULL, why) }@];
  double *z = lab_take(lab, LOGITS, sizeof *z, why), taken[ROUNDS];
  if (z == NULL || !layer_open(lab, &l, WEIGHT_F32, why)) return false;
  printf("kernel,numbers,low,median,high\n");
  for (int i = 0; i < 4; i++) {
    for (int t = -1; t < ROUNDS; t++) {
      double start = timing_seconds();
      run_small(i, &e, &l, z);
      if (t >= 0) taken[t] = 1e3 * (timing_seconds() - start);
    }
    printf("%s,%d", name[i], i < 2 ? 512 * IN : LOGITS);
    print_quartiles(taken, ROUNDS, 1, 4);
    printf("\n");
  }
  return true;
}

@* The same bits. \label{lab:equalrungs}
All rungs with float weights but the lowest must print the same results, and so must the rungs of each other type. They are compared with the plain table, for five rows; and it is counted in how many of its results the loop of the textbook differs.

@<Compare the bits of all rungs@>=
static bool print_equal(struct fixture *lab, struct error *why)
{
  enum { FEW = 5, ALL = FEW * OUT };
  float *plain = lab_take(lab, ALL, sizeof *plain, why), *y = plain;
  uint64_t differ = 0, other = 0;
  if (plain == NULL) return false;
  for (int i = 0; i < RUNGS; i++) {
    struct ready a;
    bool ok = rung_open(lab, &rungs[i], &a, FEW, why);
    struct engine e = @[{ .k = &kernels_plain, .activations = rungs[i].inputs }@];
    if (ok && a.e.k != NULL) {
      kernels_multiply(&e, &a.l.m, 1, a.l.x, FEW, &y);
      rung_run(&a, FEW);
      for (size_t k = 0; k < ALL; k++) {
        bool same = num_bits32(plain[k]) == num_bits32(a.l.y[k]);
        if (rungs[i].table == NULL) other += !same;
        else differ += !same;
      }
    }
    rung_close(lab, &a);
    if (!ok) return false;
  }
  print_key("simd.differ", "%llu", (unsigned long long) differ);
  print_key("simd.textbook.differ", "%llu", (unsigned long long) other);
  print_key("simd.textbook.of", "%d", ALL);
  return true;
}

@* What a tile loads. \label{lab:tiles}
A tile of $m$ rows by $n$ registers of outputs does $mn$ multiply--adds a step, and loads $n$ weights and $m$ inputs. It keeps $mn$ sums in registers, and needs $n$ more for weights and one for an input. A word prints the data of a figure: for both numbers of registers, the best that each $n$ allows.

@<Count what a tile loads@>=
static int tile_height(int registers, int n)
{
  return (registers - 1 - n) / n;
}
static double tile_loads(int m, int n)
{
  return (double) (m + n) / (m * n);
}
static bool draw_tiles(struct fixture *lab, struct error *why)
{
  (void) lab, (void) why;
  printf("registers,n,m,loads\n");
  for (int registers = 16; registers <= 32; registers += 16)
    for (int n = 1; n <= 4; n++) {
      int m = tile_height(registers, n);
      printf("%d,%d,%d,%.4f\n", registers, n, m, tile_loads(m, n));
    }
  return true;
}
static bool print_tiles(struct fixture *lab, struct error *why)
{
  (void) lab, (void) why;
  for (int registers = 16; registers <= 32; registers += 16)
    for (int n = 1; n <= 4; n++) {
      int m = tile_height(registers, n);
      print_key(label_of("simd.tile.%d.%d.rows", registers, n).text, "%d", m);
      print_key(label_of("simd.tile.%d.%d.loads", registers, n).text, "%.4f",
        tile_loads(m, n));
    }
  return true;
}

@* Tuned numbers. \label{lab:tuned}
What \.{make tune} has measured is kept like the times of the other experiments. A line is named after a number of \.{ground/tuning.h}, the value that was tried in its place, and the work: |one.q4_0| is one row by a matrix of \given{2048} inputs in Q4\_0, |many.f32| \given{512} rows by one of floats, |heads| the attention of one row and |prompt| that of many. Each copy of the kernels does the same work in turn, in this process, on more weights than any cache holds if there is only one row. One thread is timed by its own clock, so that other programs disturb it less; they share the memory with it all the same.

@* A few rows. \label{lab:few}
\.{bench/rows.c} (\texttt{make build/bench/rows}) lets a pass of some rows and a pass of one take turns, on random weights in memory, and prints the median of the quotients and its quartiles. The lines |before| are of the kernels as they were when each row was multiplied by itself, and were taken in the same hour on the same machine. The two probes are those of \cref{sec:probes}, in $10^9$ a second. Other programs ran meanwhile, which disturbs a thread's own clock less than the one on the wall, but does disturb it, since they share memory and caches.

@* Keys. \label{lab:simdkeys}
Each measured line becomes two keys: a median, and its share of the roof in percent, where there is one. The keys of the ladder are \texttt{simd.ladder.} and the name of a rung; those of one row \texttt{simd.stream.}, the type of the weights, and the number of threads; those of many rows \texttt{simd.rows.}, the weights, and the number of rows; those of attention \texttt{simd.depth.}, the type of the cache, \texttt{.alone} or \texttt{.together}, and the depth; those of the small kernels \texttt{simd.small.}, the kernel, and how many numbers it has; those of the other hint \texttt{simd.tune.}, the line, and the number of threads; those of a few rows \texttt{simd.few.}, \texttt{pass.} or \texttt{before.}, the type, how the weights are kept, the rows, and the number of threads. A share has \texttt{.share} after that. What a tile loads is \texttt{simd.tile.}, the registers of the machine, the registers of outputs, and \texttt{.rows} or \texttt{.loads}.

@<Make keys of what was measured@>=
struct measured_file { const char *name, *key; bool roof, by_number; size_t lines;
  const char *only; }; /* lines that begin so, of one thread; null: all */
static bool take_measured(void *ctx, const char *line)
{
  const struct measured_file *f = ctx;
  char name[32] = "", number[16] = "";
  double low, median, high, roof = 0;
  int n = f->by_number
    ? sscanf(line, "%31[a-z0-9_.],%15[0-9],%lf,%lf,%lf,%lf", name, number, &low,@|
      &median, &high, &roof)
    : sscanf(line, "%31[a-z0-9_.],%lf,%lf,%lf,%lf", name, &low, &median, &high, &roof);
  if (n != (f->by_number ? 5 : 4) + f->roof) return false;
  if (f->only != NULL && (strncmp(name, f->only, strlen(f->only)) != 0
      || strcmp(number, "1") != 0)) return false;
  const char *dot = f->by_number ? "." : "";
  struct label key = label_of(f->key, name, dot, number);
  print_key(key.text, "%.4f", median);
  if (f->roof) print_key(label_of("%s.share", key.text).text, "%.2f", 100 * median / roof);
  return true;
}
static bool print_measured(struct fixture *lab, struct error *why)
{
  static const struct measured_file file[] = @[{@|
    { "simd.ladder", "simd.ladder.%s%s%s", true, false, RUNGS, NULL },@|
    { "simd.stream", "simd.stream.%s%s%s", true, true, STREAMS, NULL },@|
    { "simd.rows", "simd.rows.%s%s%s", false, true, TALL * HEIGHTS, NULL },@|
    { "simd.depth", "simd.depth.%s%s%s", true, true, 20, NULL },@|
    { "simd.small", "simd.small.%s%s%s", false, true, 4, NULL },@|
    { "simd.tune", "simd.tune.%s%s%s", false, true, 15, "hint.3." },@|
    { "simd.few", "simd.few.%s%s%s", false, true, 98, NULL } }@];
  (void) lab;
  for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
    struct measured_file f = file[i];
    if (!data_read(f.name, take_measured, &f, f.lines, why)) return false;
  }
  return true;
}
