/* scalar.c -- made from chapters/A6-kernels.w; change it there */

/* F.13  scalar.c */

#include "A6-kernels/kernels.h"
#include "A6-kernels/numbers.h"
#define TARGET
#define WIDTH 4
#define TILE_ROWS 2
#define TILE_OUTS 2

/* F.16  Loops that are written out, and lanes */

#if defined __clang__
#define each(i, n) _Pragma("unroll") for (int i =  0; i < (n); i++)
#else
#define each(i, n) _Pragma("GCC unroll 16") for (int i =  0; i < (n); i++)
#endif
#define INLINE static inline __attribute__((always_inline)) TARGET
#ifndef TALLY
#define TALLY(what, worker, amount) ((void) 0)
#endif
typedef float vec __attribute__((vector_size(4 * WIDTH)));
enum { PARTS = 16 / WIDTH, MOST_OUTS = 4 };

/* F.17  Multiply--add and the rest, in plain C */

INLINE vec fused(vec a, vec b, vec c)
{
  for (int j = 0; j < WIDTH; j++)
    c[j] = fmaf(a[j], b[j], c[j]);
  return c;
}

INLINE vec spread(float x)
{
  return (vec) {
  x, x, x, x};
}

INLINE vec widen(const uint16_t * h, enum weight_type type)
{
  vec v = { 0 };
  for (int j = 0; j < WIDTH; j++)
    v[j] = type == WEIGHT_F16 ? num_from_f16(h[j]) : num_from_bf16(h[j]);
  return v;
}

/* F.18  Choose lanes and fold them, in plain C */

INLINE vec choose(int n, vec a, vec b)
{
  for (int j = 0; j < WIDTH; j++)
    a[j] = j < n ? a[j] : b[j];
  return a;
}

/* F.19  Fold sixteen lanes in an array */

INLINE float fold_array(float *lane)
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++)
      lane[j] += lane[j + s];
  return lane[0];
}

INLINE float fold(const vec * a)
{
  float lane[16];
  memcpy(lane, a, sizeof lane);
  return fold_array(lane);
}

/* F.74  The bodies of the kernels */

#ifndef WORTH_DIVIDING
#define WORTH_DIVIDING 65536
#endif

/* F.42  Where a worker's share begins */

static size_t share(size_t n, unsigned worker, unsigned workers)
{
  if (worker == workers)
    return n;
  return n * worker / workers / 16 * 16;
}

/* F.25  Load numbers of any type */

INLINE vec load(struct tensor t, size_t i)
{
  vec v;
  uint16_t h[WIDTH];
  const char *p = (const char *)t.data + i * (t.type == WEIGHT_F32 ? 4 : 2);
  if (t.type == WEIGHT_F32) {
    memcpy(&v, p, sizeof v);
    return v;
  }
  memcpy(h, p, sizeof h);
  return widen(h, t.type);
}

/* F.26  Load numbers of any type */

INLINE float at(struct tensor t, size_t i)
{
  float x;
  uint16_t h;
  const char *p = (const char *)t.data + i * (t.type == WEIGHT_F32 ? 4 : 2);
  if (t.type == WEIGHT_F32) {
    memcpy(&x, p, sizeof x);
    return x;
  }
  memcpy(&h, p, sizeof h);
  return t.type == WEIGHT_F16 ? num_from_f16(h) : num_from_bf16(h);
}

/* F.28  Load a register that is not full */

INLINE vec some(struct tensor t, size_t i, int n)
{
  char room[4 * WIDTH] = { 0 };
  size_t size = t.type == WEIGHT_F32 ? 4 : 2;
  memcpy(room, (const char *)t.data + i * size, (size_t)n * size);
  return load((struct tensor) { room, t.type }, 0);
}

/* F.29  Give the last terms to the first lanes, and fold */

__attribute__((noinline))
TARGET static float last(const vec * a, const float *x,
                         struct tensor w, size_t begin, size_t rest)
{
  struct tensor in = { x, WEIGHT_F32 };
  vec b[PARTS];
  each(p, PARTS) {
    int here = (int)rest - p * WIDTH;
    b[p] = a[p];
    if (here > WIDTH)
      here = WIDTH;
    if (here > 0)
      b[p] = choose(here, fused(some(in, (size_t)p * WIDTH, here),
                                some(w, begin + (size_t)p * WIDTH, here), a[p]),
                    a[p]);
  }
  return fold(b);
}

INLINE float finish(const vec * a, const float *x, struct tensor w, size_t begin,
                    size_t rest)
{
  return rest == 0 ? fold(a) : last(a, x, w, begin, rest);
}

/* F.30  The dot product of sixteen lanes */

INLINE float dot(const float *x, struct tensor w, size_t first, size_t n)
{
  struct tensor in = { x, WEIGHT_F32 };
  vec a[PARTS] = { 0 };
  size_t whole = n / 16 * 16;
  for (size_t k = 0; k < whole; k += 16)
    each(p, PARTS)
        a[p] = fused(load(in, k + (size_t)p * WIDTH),
                     load(w, first + k + (size_t)p * WIDTH), a[p]);
  return finish(a, x + whole, w, first + whole, n - whole);
}

/* F.46  The sum of sixteen lanes */

INLINE float sum_of(const float *x, size_t n)
{
  float lane[16] = { 0 };
  size_t whole = n / 16 * 16;
  for (size_t k = 0; k < whole; k += 16)
    for (size_t j = 0; j < 16; j++)
      lane[j] += x[k + j];
  for (size_t j = 0; j < n - whole; j++)
    lane[j] += x[whole + j];
  return fold_array(lane);
}

/* F.76  Linear layers, piece by piece */

/* F.27  Compute a tile of dot products */

INLINE void tile(int rows, int outs, const float *x, struct tensor w, size_t n,
                 size_t first, float sum[TILE_ROWS][MOST_OUTS])
{
  struct tensor in = { x, WEIGHT_F32 };
  vec a[TILE_ROWS][MOST_OUTS][PARTS] = { 0 };
  size_t whole = n / 16 * 16;
  for (size_t k = 0; k < whole; k += 16)
    each(p, PARTS) {
    vec b[MOST_OUTS];
    each(o, outs) b[o] = load(w, first + (size_t)o * n + k + (size_t)p * WIDTH);
    each(r, rows) {
      vec v = load(in, (size_t)r * n + k + (size_t)p * WIDTH);
      each(o, outs) a[r][o][p] = fused(v, b[o], a[r][o][p]);
      TALLY("linear", 0, outs * WIDTH);
    }
    }
  TALLY("linear", 0, (size_t)rows * (size_t)outs * (n - whole));
  each(r, rows) each(o, outs)
      sum[r][o] = finish(a[r][o], x + (size_t)r * n + whole, w,
                         first + (size_t)o * n + whole, n - whole);
}

/* F.34  Add the bias, if there is one */

INLINE float biased(float sum, const struct matrix *w, size_t o)
{
  return w->bias.data == NULL ? sum : sum + at(w->bias, o);
}

/* F.31  Outputs 'from' to 'to' of a matrix stored by outputs */

INLINE void by_outputs(const struct matrix *w, enum weight_type type,
                       const float *x, size_t rows, size_t from, size_t to,
                       float *y)
{
  struct tensor t = { w->weight.data, type };
  size_t n = w->in, step;
  for (size_t strip = from; strip < to; strip += 16) {
    size_t end = strip + 16 < to ? strip + 16 : to;
    for (size_t r = 0; r < rows; r += step) {
      step = rows - r >= TILE_ROWS ? TILE_ROWS : 1;
      const float *in = x + r * n;
      float *out = y + r * w->out;
      size_t o = strip;
      if (step > 1)
        for (; o + TILE_OUTS <= end; o += TILE_OUTS)
/* F.32  A tile of TILE_ROWS by TILE_OUTS at output o */

        {
          float sum[TILE_ROWS][MOST_OUTS];
          tile(TILE_ROWS, TILE_OUTS, in, t, n, o * n, sum);
          each(i, TILE_ROWS) each(j, TILE_OUTS)
              out[(size_t)i * w->out + o + (size_t)j] =
              biased(sum[i][j], w, o + (size_t)j);
        }

      for (size_t i = 0; i < step; i++)
/* F.33  One row from output o to the 'end' */

      {
        size_t c = o;
        float sum[TILE_ROWS][MOST_OUTS];
        for (; c + 4 <= end; c += 4) {
          tile(1, 4, in + i * n, t, n, c * n, sum);
          each(j, 4) out[i * w->out + c + (size_t)j] =
              biased(sum[0][j], w, c + (size_t)j);
        }
        for (; c < end; c++) {
          tile(1, 1, in + i * n, t, n, c * n, sum);
          out[i * w->out + c] = biased(sum[0][0], w, c);
        }
      }

    }
  }
}

/* F.39  The last columns of a matrix stored by inputs */

INLINE void columns(const float *x, const struct matrix *w, struct tensor t,
                    size_t o, size_t n, float *y)
{
  vec lane[16] = { {0} };
  float sum[WIDTH];
  for (size_t k = 0; k < w->in; k++) {
    vec b = some(t, k * w->out + o, (int)n);
    lane[k % 16] = fused(spread(x[k]), b, lane[k % 16]);
    TALLY("linear", 0, n);
  }
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++)
      lane[j] += lane[j + s];
  memcpy(sum, lane, sizeof sum);
  for (size_t c = 0; c < n; c++)
    y[o + c] = biased(sum[c], w, o + c);
}

/* F.38  Outputs 'from' to 'to' of a matrix stored by inputs */

enum { SPAN_ROWS = 4, STEPS = 4, SUMS = 4096 };

/* F.35  Add the terms from k on to the lanes of a span */

INLINE void visit(int rows, int steps, const float *x, const struct matrix *w,
                  struct tensor t, size_t k, size_t o, size_t span, float *sum)
{
  vec b[STEPS], v[SPAN_ROWS][STEPS];
  each(s, steps) each(r, rows)
      v[r][s] = spread(x[(size_t)r * w->in + k + 16 * (size_t)s]);
  for (size_t c = 0; c < span; c += WIDTH) {
    each(s, steps) b[s] = load(t, (k + 16 * (size_t)s) * w->out + o + c);
    each(r, rows) {
      float *lane = sum + ((size_t)r * 16 + k % 16) * span + c;
      vec a;
      memcpy(&a, lane, sizeof a);
      each(s, steps) a = fused(v[r][s], b[s], a);
      memcpy(lane, &a, sizeof a);
      TALLY("linear", 0, steps * WIDTH);
    }
  }
}

/* F.36  A span of outputs for a few rows */

INLINE void across(int rows, int steps, const float *x, const struct matrix *w,
                   struct tensor t, size_t o, size_t span, float *y)
{
  float sum[SUMS];
  size_t k = 0, block = 16 * (size_t)steps;
  memset(sum, 0, (size_t)rows * 16 * span * sizeof *sum);
  for (; k + block <= w->in; k += block)
    for (size_t j = 0; j < 16; j++)
      visit(rows, steps, x, w, t, k + j, o, span, sum);
  for (; k < w->in; k++)
    visit(rows, 1, x, w, t, k, o, span, sum);
  for (size_t r = 0; r < (size_t)rows; r++) {
    float *lane = sum + r * 16 * span;

/* F.37  Fold the lanes of a span */

    for (size_t s = 8; s > 0; s /= 2)
      for (size_t c = 0; c < s * span; c += WIDTH) {
        vec a, b;
        memcpy(&a, lane + c, sizeof a);
        memcpy(&b, lane + s * span + c, sizeof b);
        a += b;
        memcpy(lane + c, &a, sizeof a);
      }

    for (size_t c = 0; c < span; c++)
      y[r * w->out + o + c] = biased(lane[c], w, o + c);
  }
}

INLINE void by_inputs(const struct matrix *w, enum weight_type type,
                      const float *x, size_t rows, size_t from, size_t to, float *y)
{
  struct tensor t = { w->weight.data, type };
  size_t o = from, span, step;
  for (; to - o >= WIDTH; o += span) {
    size_t most = rows >= SPAN_ROWS ? SUMS / 16 / SPAN_ROWS : SUMS / 16;
    span = to - o >= most ? most : (to - o) / WIDTH * WIDTH;
    for (size_t r = 0; r < rows; r += step) {
      const float *in = x + r * w->in;
      step = rows - r >= SPAN_ROWS && span <= SUMS / 16 / SPAN_ROWS ? SPAN_ROWS : 1;
      if (step == 1)
        across(1, STEPS, in, w, t, o, span, y + r * w->out);
      else
        across(SPAN_ROWS, 2, in, w, t, o, span, y + r * w->out);
    }
  }
  for (size_t r = 0; r < rows && o < to; r++)
    columns(x + r * w->in, w, t, o, to - o, y + r * w->out);
}

/* F.40  One worker's share of a linear layer */

struct linear_job {
  const struct matrix *list;
  size_t n;
  const float *x;
  size_t rows;
  float *const *y;
};

TARGET static void linear_matrix(const struct matrix *w, const float *x,
                                 size_t rows, size_t from, size_t to, float *y)
{

/* F.41  Call the loops for the matrix's type and layout */

#define WITH_TYPE(type) \
  (w->transposed ? by_inputs(w, type, x, rows, from, to, y) \
   : by_outputs(w, type, x, rows, from, to, y))
  if (w->weight.type == WEIGHT_F32)
    WITH_TYPE(WEIGHT_F32);
  else if (w->weight.type == WEIGHT_F16)
    WITH_TYPE(WEIGHT_F16);
  else
    WITH_TYPE(WEIGHT_BF16);
#undef WITH_TYPE

}

TARGET static void linear_part(void *what, unsigned worker, unsigned workers)
{
  const struct linear_job *job = what;
  TALLY("linear part", worker, 1);
  for (size_t m = 0; m < job->n; m++) {
    const struct matrix *w = &job->list[m];
    size_t from = share(w->out, worker, workers);
    size_t to = share(w->out, worker + 1, workers);
    if (from < to)
      linear_matrix(w, job->x, job->rows, from, to, job->y[m]);
  }
}

/* F.43  Do a linear layer */

static void linear(const struct engine *e, const struct matrix *list, size_t n,
                   const float *x, size_t rows, float *const *y)
{
  struct linear_job job = { list, n, x, rows, y };
  size_t work = 0;
  for (size_t m = 0; m < n; m++)
    work += list[m].out * list[m].in * rows;
  pool_run(work >= WORTH_DIVIDING ? e->self : NULL, linear_part, &job);
}

/* F.45  Take up to sixteen numbers of a tensor */

INLINE void take(struct tensor t, size_t i, size_t here, float *z)
{
  for (size_t j = 0; j < here; j++)
    z[j] = t.data == NULL ? 1.0f : at(t, i + j);
}

/* F.44  One row normalized */

INLINE void normalize_row(const struct normalizer *g, const float *x, size_t d,
                          float *y)
{
  bool layer = g->kind == NORM_LAYER, shift = layer && g->bias.data != NULL;
  float mean = layer ? sum_of(x, d) / (float)d : 0.0f;
  for (size_t i = 0; i < d; i++)
    y[i] = layer ? x[i] - mean : x[i];
  float square = dot(y, (struct tensor) { y, WEIGHT_F32 }, 0, d);
  float r = 1.0f / sqrtf(square / (float)d + g->epsilon);
  for (size_t i = 0; i < d; i += 16) {
    size_t here = d - i < 16 ? d - i : 16;
    float z[16] = { 0 }, gain[16] = { 0 }, bias[16] = { 0 };
    memcpy(z, y + i, here * sizeof *z);
    take(g->gain, i, here, gain);
    if (shift)
      take(g->bias, i, here, bias);
    for (int j = 0; j < 16; j++)
      z[j] = shift ? fmaf(z[j] * r, gain[j], bias[j]) : z[j] * r * gain[j];
    memcpy(y + i, z, here * sizeof *z);
  }
}

/* F.47  Norms of all rows */

struct normalize_job {
  const struct normalizer *g;
  const float *x;
  size_t rows;
  size_t d;
  float *y;
};

TARGET static void normalize_part(void *what, unsigned worker, unsigned workers)
{
  const struct normalize_job *job = what;
  TALLY("normalize part", worker, 1);
  size_t from = job->rows * worker / workers;
  size_t to = job->rows * (worker + 1) / workers;
  for (size_t r = from; r < to; r++)
    normalize_row(job->g, job->x + r * job->d, job->d, job->y + r * job->d);
}

static void normalize(const struct engine *e, const struct normalizer *g,
                      const float *x, size_t rows, size_t d, float *y)
{
  struct normalize_job job = { g, x, rows, d, y };
  bool large = rows * d >= WORTH_DIVIDING;
  pool_run(large ? e->self : NULL, normalize_part, &job);
}

/* F.48  Angles of all rows */

struct angles_job {
  const uint32_t *position;
  size_t rows;
  const float *frequency;
  size_t half;
  float scaling, *c, *s;
};

TARGET static void angles_part(void *what, unsigned worker, unsigned workers)
{
  const struct angles_job *job = what;
  size_t half = job->half, to = job->rows * (worker + 1) / workers;
  TALLY("angles part", worker, 1);
  for (size_t r = job->rows * worker / workers; r < to; r++)
    for (size_t i = 0; i < half; i++) {
      float angle = (float)job->position[r] * job->frequency[i];
      float c = (float)num_cos((double)angle);
      float s = (float)num_sin((double)angle);
      job->c[r * half + i] = c * job->scaling;
      job->s[r * half + i] = s * job->scaling;
    }
}

/* F.49  Angles of all rows */

static void angles(const struct engine *e, const uint32_t * position,
                   size_t rows, const float *frequency, size_t half, float scaling,
                   float *c, float *s)
{
  struct angles_job job = { position, rows, frequency, half, scaling, c, s };
  bool large = rows * half >= WORTH_DIVIDING / 16;
  pool_run(large ? e->self : NULL, angles_part, &job);
}

/* F.50  Turn the heads of one row */

INLINE void rotate_row(float *x, size_t n_heads, size_t half, const float *c,
                       const float *s)
{
  for (size_t h = 0; h < n_heads; h++, x += 2 * half)
    for (size_t i = 0; i < half; i++) {
      float x0 = x[i], x1 = x[half + i];
      float across = x1 * s[i], along = x1 * c[i];
      x[i] = fmaf(x0, c[i], -across);
      x[half + i] = fmaf(x0, s[i], along);
    }
}

/* F.51  Rotations of all rows */

struct rotate_job {
  float *x;
  size_t rows, n_heads, half;
  const float *c, *s;
};

TARGET static void rotate_part(void *what, unsigned worker, unsigned workers)
{
  const struct rotate_job *job = what;
  size_t half = job->half, to = job->rows * (worker + 1) / workers;
  TALLY("rotate part", worker, 1);
  for (size_t r = job->rows * worker / workers; r < to; r++)
    rotate_row(job->x + r * job->n_heads * 2 * half, job->n_heads, half,
               job->c + r * half, job->s + r * half);
}

static void rotate(const struct engine *e, float *x, size_t rows,
                   size_t n_heads, size_t half, const float *c, const float *s)
{
  struct rotate_job job = { x, rows, n_heads, half, c, s };
  bool large = rows * n_heads * half >= WORTH_DIVIDING;
  pool_run(large ? e->self : NULL, rotate_part, &job);
}

/* F.77  Attention, piece by piece */

/* F.52  What one block of positions leaves behind */

enum { BLOCK_M, BLOCK_L, BLOCK_O };

/* F.54  Where a position's row lies */

INLINE struct tensor kv_row(const struct view *v, const void *base, uint32_t t,
                            enum weight_type type)
{
  size_t r = t;
  if (v->page != NULL)
    r = v->page[t / v->page_rows] * v->page_rows + t % v->page_rows;
  return (struct tensor) { (const char *)base + r * v->row_bytes, type };
}

/* F.57  The chain over a block for some columns */

INLINE void chain(int columns, const float *weight, const struct view *v,
                  uint32_t t0, uint32_t t1, enum weight_type type, size_t first,
                  float *o)
{
  vec a[64 / WIDTH] = { 0 };
  for (uint32_t t = t0; t < t1; t++) {
    struct tensor row = kv_row(v, v->base_v, t, type);
    vec w = spread(weight[t % 256]);
    each(p, columns / WIDTH)
        a[p] = fused(w, load(row, first + (size_t)p * WIDTH), a[p]);
    TALLY("attention", 0, columns);
  }
  memcpy(o, a, (size_t)columns * sizeof *o);
}

/* F.58  Attention of one head over one block */

INLINE void attend_block(const struct heads *h, const float *q,
                         const struct view *v, enum weight_type type, size_t first,
                         uint32_t t0, uint32_t t1, float *left, float *kept)
{
  size_t d = h->head_dim;

/* F.53  The scores of a block, and their maximum */

  float score[256], most = -INFINITY;
  struct tensor key[256];
  for (int i = 0; i < 256; i++)
    score[i] = -INFINITY;
  for (uint32_t t = t0; t < t1; t++)
    key[t % 256] = kv_row(v, v->base_k, t, type);
  for (uint32_t t = t0; t < t1; t++) {
    float s = dot(q, key[t % 256], first, d) * h->scale;
    score[t % 256] = s;
    if (s > most)
      most = s;
    TALLY("attention", 0, d);
    TALLY("pairs", 0, 1);
  }

/* F.55  The exponentials of a block, and their sum in lanes */

  float lane[16] = { 0 };
  for (uint32_t g = t0 % 256 / 16 * 16; g <= (t1 - 1) % 256; g += 16) {
    float z[16];
    for (int j = 0; j < 16; j++)
      z[j] = num_expf(score[g + (uint32_t) j] - most);
    for (int j = 0; j < 16; j++)
      lane[j] += z[j];
    memcpy(score + g, z, sizeof z);
  }
  left[BLOCK_M] = most, left[BLOCK_L] = fold_array(lane);

/* F.56  The values of a block, each times its exponential */

#define CHAIN(columns) \
  chain(columns, score, v, t0, t1, type, first + c, left + BLOCK_O + c)
  size_t c = 0;
  for (; c + 64 <= d; c += 64)
    CHAIN(64);
  for (; c + 16 <= d; c += 16)
    CHAIN(16);
  for (; c < d; c++) {
    float sum = 0;
    for (uint32_t t = t0; t < t1; t++)
      sum = fmaf(score[t % 256], at(kv_row(v, v->base_v, t, type), first + c), sum);
    left[BLOCK_O + c] = sum;
    TALLY("attention", 0, t1 - t0);
  }
#undef CHAIN

  if (kept != NULL)
    for (uint32_t t = t0; t < t1; t++)
      kept[t] = score[t % 256];
}

/* F.59  All blocks of one head, and their join */

INLINE void attend_head(const struct heads *h, const float *q,
                        const struct view *v, enum weight_type type, size_t first,
                        float *room, float *y, float *kept)
{
  size_t d = h->head_dim, stride = BLOCK_O + d, n = 0;
  for (uint32_t t0 = v->lo, t1; t0 < v->hi; t0 = t1, n++) {
    t1 = v->hi - t0 <= 256 - t0 % 256 ? v->hi : t0 + (256 - t0 % 256);
    attend_block(h, q, v, type, first, t0, t1, room + n * stride, kept);
  }

/* F.60  Join the blocks in rising order */

  float m = -INFINITY, l = 0;
  for (size_t i = 0; i < n; i++)
    if (room[i * stride + BLOCK_M] > m)
      m = room[i * stride + BLOCK_M];
  for (size_t c = 0; c < d; c++)
    y[c] = 0;
  for (size_t i = 0; i < n; i++) {
    const float *left = room + i * stride;
    float w = num_expf(left[BLOCK_M] - m);
    l = fmaf(left[BLOCK_L], w, l);
    for (size_t c = 0; c < d; c++)
      y[c] = fmaf(left[BLOCK_O + c], w, y[c]);
  }
  for (size_t c = 0; c < d; c++)
    y[c] = y[c] / l;
  if (kept != NULL)
    for (uint32_t t = v->lo; t < v->hi; t++) {
      float own = room[(t / 256 - v->lo / 256) * stride + BLOCK_M];
      kept[t] = kept[t] * num_expf(own - m) / l;
    }

}

/* F.61  One worker's share of attention */

struct attend_job {
  const struct heads *h;
  const float *q;
  const struct view *seen;
  size_t rows;
  float *room, *y;
  size_t room_each;
  const struct capture *keep;
};

TARGET static void attend_part(void *what, unsigned worker, unsigned workers)
{
  const struct attend_job *job = what;
  const struct heads *h = job->h;
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  float *room = job->room + worker * job->room_each;
  TALLY("attend part", worker, 1);
  for (size_t i = worker; i < job->rows * h->n_heads; i += workers) {
    const struct view *v = &job->seen[i / h->n_heads];
    const float *q = job->q + i * d;
    float *y = job->y + i * d, *kept = NULL;
    size_t first = i % h->n_heads / group * d;

/* F.63  Make 'kept' ready if the weights are wanted */

    if (job->keep != NULL) {
      kept = job->keep->weights + i * job->keep->stride;
      memset(kept, 0, job->keep->stride * sizeof *kept);
    }

/* F.62  Attend with the loops for the view's type */

    if (v->type == WEIGHT_F32)
      attend_head(h, q, v, WEIGHT_F32, first, room, y, kept);
    else if (v->type == WEIGHT_F16)
      attend_head(h, q, v, WEIGHT_F16, first, room, y, kept);
    else
      attend_head(h, q, v, WEIGHT_BF16, first, room, y, kept);

  }
}

/* F.64  Do attention */

static void attend(const struct engine *e, const struct heads *h,
                   const float *q, const struct view *seen, size_t rows,
                   float *room, float *y, const struct capture *keep)
{
  size_t longest = 0, pairs = 0;
  for (size_t r = 0; r < rows; r++) {
    size_t n = seen[r].hi - seen[r].lo;
    pairs += n, longest = n > longest ? n : longest;
  }
  struct attend_job job = { h, q, seen, rows, room, y,
    kernels_room(h, longest), keep
  };
  bool large = pairs * h->n_heads * h->head_dim >= WORTH_DIVIDING;
  pool_run(large ? e->self : NULL, attend_part, &job);
}

/* F.75  Curves, stream and the two ends, piece by piece */

/* F.65  The three curves, sixteen numbers at a time */

INLINE void curve(enum activation_kind kind, float *z)
{
  if (kind == ACTIVATION_GELU_TANH)
    for (int j = 0; j < 16; j++) {
      float x = z[j], cube = x * x * x;
      float inner = 0.7978846f * fmaf(0.044715f, cube, x);
      z[j] = 0.5f * x * (1.0f + num_tanhf(inner));
  } else if (kind == ACTIVATION_GELU_ERF)
    for (int j = 0; j < 16; j++)
      z[j] = 0.5f * z[j] * (1.0f + num_erff(z[j] * 0.70710677f));
  else
    for (int j = 0; j < 16; j++)
      z[j] = z[j] / (1.0f + num_expf(-z[j]));
}

/* F.66  One worker's share of an activation */

struct activate_job {
  enum activation_kind kind;
  const float *x, *up;
  size_t n;
  float *y;
};

TARGET static void activate_part(void *what, unsigned worker, unsigned workers)
{
  const struct activate_job *job = what;
  size_t to = share(job->n, worker + 1, workers);
  TALLY("activate part", worker, 1);
  for (size_t i = share(job->n, worker, workers); i < to; i += 16) {
    float z[16] = { 0 };
    size_t here = to - i < 16 ? to - i : 16;
    memcpy(z, job->x + i, here * sizeof *z);
    curve(job->kind, z);
    if (job->up != NULL)
      for (size_t j = 0; j < here; j++)
        z[j] *= job->up[i + j];
    memcpy(job->y + i, z, here * sizeof *z);
  }
}

/* F.67  Do an activation */

static void activate(const struct engine *e, enum activation_kind kind,
                     const float *x, const float *up, size_t n, float *y)
{
  struct activate_job job = { kind, x, up, n, y };
  bool large = n >= WORTH_DIVIDING / 4;
  pool_run(large ? e->self : NULL, activate_part, &job);
}

/* F.68  Add to the residual stream */

struct add_job {
  float *y;
  const float *x;
  size_t n;
};

TARGET static void add_part(void *what, unsigned worker, unsigned workers)
{
  const struct add_job *job = what;
  (void)worker, (void)workers;
  TALLY("add part", worker, 1);
  for (size_t i = 0; i < job->n; i++)
    job->y[i] += job->x[i];
}

static void add(const struct engine *e, float *y, const float *x, size_t n)
{
  struct add_job job = { y, x, n };
  (void)e;
  pool_run(NULL, add_part, &job);
}

/* F.69  Look rows of the embedding up */

struct embed_job {
  struct tensor table;
  size_t d;
  const uint32_t *id;
  size_t rows;
  float *y;
};

TARGET static void embed_part(void *what, unsigned worker, unsigned workers)
{
  const struct embed_job *job = what;
  (void)worker, (void)workers;
  TALLY("embed part", worker, 1);
  for (size_t r = 0; r < job->rows; r++)
    for (size_t i = 0; i < job->d; i++)
      job->y[r * job->d + i] = at(job->table, job->id[r] * job->d + i);
}

static void embed(const struct engine *e, struct tensor table, size_t d,
                  const uint32_t * id, size_t rows, float *y)
{
  struct embed_job job = { table, d, id, rows, y };
  (void)e;
  pool_run(NULL, embed_part, &job);
}

/* F.70  The sum of the exponentials of a row, in double */

INLINE double sum_of_exp(const float *x, size_t n, double most, double *y)
{
  double lane[16] = { 0 };
  size_t whole = n / 16 * 16;
  for (size_t i = 0; i < whole; i += 16) {
    double z[16];
    for (size_t j = 0; j < 16; j++)
      z[j] = num_exp((double)x[i + j] - most);
    for (size_t j = 0; j < 16; j++)
      lane[j] += z[j];
    memcpy(y + i, z, sizeof z);
  }
  for (size_t i = whole; i < n; i++)
    lane[i - whole] += y[i] = num_exp((double)x[i] - most);
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++)
      lane[j] += lane[j + s];
  return lane[0];
}

/* F.71  One worker's share of the probabilities */

struct softmax_job {
  const float *x;
  size_t rows, n;
  double *y;
  bool logarithm;
};

TARGET static void softmax_part(void *what, unsigned worker, unsigned workers)
{
  const struct softmax_job *job = what;
  size_t n = job->n, to = job->rows * (worker + 1) / workers;
  TALLY("softmax part", worker, 1);
  for (size_t r = job->rows * worker / workers; r < to; r++) {
    const float *x = job->x + r * n;
    double *y = job->y + r * n, most = -INFINITY;
    for (size_t i = 0; i < n; i++)
      if ((double)x[i] > most)
        most = (double)x[i];
    double sum = sum_of_exp(x, n, most, y);
    double log_sum = job->logarithm ? num_log(sum) : 0.0;
    for (size_t i = 0; i < n; i++)
      y[i] = job->logarithm ? (double)x[i] - most - log_sum : y[i] / sum;
  }
}

/* F.72  Do a softmax */

static void softmax(const struct engine *e, const float *x, size_t rows,
                    size_t n, double *y)
{
  struct softmax_job job = { x, rows, n, y, false };
  bool large = rows * n >= WORTH_DIVIDING / 4;
  pool_run(large ? e->self : NULL, softmax_part, &job);
}

static void log_softmax(const struct engine *e, const float *x, size_t rows,
                        size_t n, double *y)
{
  struct softmax_job job = { x, rows, n, y, true };
  bool large = rows * n >= WORTH_DIVIDING / 4;
  pool_run(large ? e->self : NULL, softmax_part, &job);
}

/* F.80  Two roundings, and one */

TARGET static float two_roundings(float a, float b, float c)
{
  return a * b + c;
}

TARGET static float one_rounding(float a, float b, float c)
{
  vec v = fused(spread(a), spread(b), spread(c));
  return v[0];
}

const struct kernels kernels_scalar = { "scalar",
/* F.78  The functions of a table, in order */

  linear, normalize, rotate, attend, activate, add,
  embed, angles, softmax, log_softmax, two_roundings, one_rounding
};
