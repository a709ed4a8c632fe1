/* scalar.c -- made from chapters/11-simd.w; change it there */

/* F.13  scalar.c */

#include "kernels/kernels.h"
#include "kernels/numbers.h"
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
typedef uint8_t few_bytes __attribute__((vector_size(WIDTH)));
typedef uint16_t few_halves __attribute__((vector_size(2 * WIDTH)));
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

INLINE vec count_up(const int8_t * small)
{
  vec v = { 0 };
  for (int j = 0; j < WIDTH; j++)
    v[j] = (float)small[j];
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

/* F.84  The bodies of the kernels */

#ifndef WORTH_DIVIDING
#define WORTH_DIVIDING 65536
#endif

/* F.50  Where a worker's share begins */

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

INLINE vec load_block(struct tensor t, size_t i)
{
  size_t first = i % BLOCK_NUMBERS;
  const unsigned char *p = (const unsigned char *)t.data
      + row_bytes(t.type, i - first);
  uint16_t one, scale[WIDTH];
  few_bytes b;
  memcpy(&one, p, sizeof one);
  few_halves all = one + (few_halves) { 0 };
  memcpy(scale, &all, sizeof all);
  memcpy(&b, p + 2 + (t.type == BLOCKS_Q8_0 ? first : first % 16), sizeof b);
  if (t.type == BLOCKS_Q4_0)
    b = (first < 16 ? b & 15 : b >> 4) - 8;
  int8_t small[WIDTH];
  memcpy(small, &b, sizeof b);
  return count_up(small) * widen(scale, WEIGHT_F16);
}

INLINE vec load_row(struct tensor t, size_t i)
{
  return t.type < BLOCKS_Q8_0 ? load(t, i) : load_block(t, i);
}

/* F.27  Load numbers of any type */

INLINE void ask_for(struct tensor t, size_t i)
{
  uintptr_t place = (uintptr_t) t.data + i * (t.type == WEIGHT_F32 ? 4 : 2);
  __builtin_prefetch((const void *)place);
}

/* F.28  Load numbers of any type */

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

/* F.30  Load a register that is not full */

INLINE vec some(struct tensor t, size_t i, int n)
{
  char room[4 * WIDTH] = { 0 };
  size_t size = t.type == WEIGHT_F32 ? 4 : 2;
  memcpy(room, (const char *)t.data + i * size, (size_t)n * size);
  return load((struct tensor) { room, t.type }, 0);
}

/* F.31  Give the last terms to the first lanes, and fold */

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

/* F.32  The dot product of sixteen lanes */

INLINE float dot(const float *x, struct tensor w, size_t first, size_t n)
{
  struct tensor in = { x, WEIGHT_F32 };
  vec a[PARTS] = { 0 };
  size_t whole = n / 16 * 16;
  for (size_t k = 0; k < whole; k += 16)
    each(p, PARTS)
        a[p] = fused(load(in, k + (size_t)p * WIDTH),
                     load_row(w, first + k + (size_t)p * WIDTH), a[p]);
  return finish(a, x + whole, w, first + whole, n - whole);
}

/* F.54  The sum of sixteen lanes */

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

/* F.86  Linear layers, piece by piece */

/* F.29  Compute a tile of dot products */

INLINE void tile(int rows, int outs, const float *x, struct tensor w, size_t n,
                 size_t first, float sum[TILE_ROWS][MOST_OUTS])
{
  struct tensor in = { x, WEIGHT_F32 };
  vec a[TILE_ROWS][MOST_OUTS][PARTS];
  size_t whole = n / 16 * 16;
  each(r, rows) each(o, outs) each(p, PARTS) a[r][o][p] = (vec) {
  0};
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

/* F.36  Add the bias, if there is one */

INLINE float biased(float sum, const struct matrix *w, size_t o)
{
  return w->bias.data == NULL ? sum : sum + at(w->bias, o);
}

/* F.33  Outputs 'from' to 'to' of a matrix stored by outputs */

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
/* F.34  A tile of TILE_ROWS by TILE_OUTS at output o */

        {
          float sum[TILE_ROWS][MOST_OUTS];
          tile(TILE_ROWS, TILE_OUTS, in, t, n, o * n, sum);
          each(i, TILE_ROWS) each(j, TILE_OUTS)
              out[(size_t)i * w->out + o + (size_t)j] =
              biased(sum[i][j], w, o + (size_t)j);
        }

      for (size_t i = 0; i < step; i++)
/* F.35  One row from output o to the 'end' */

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

/* F.41  The last columns of a matrix stored by inputs */

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

/* F.40  Outputs 'from' to 'to' of a matrix stored by inputs */

enum { STEPS = 4, SPAN = 256 };

/* F.39  Fold the lanes of many sums */

INLINE void fold_lanes(float *lane, size_t sums)
{
  for (size_t s = 8; s > 0; s /= 2)
    for (size_t c = 0; c < s * sums; c += WIDTH) {
      vec a, b;
      memcpy(&a, lane + c, sizeof a);
      memcpy(&b, lane + s * sums + c, sizeof b);
      a += b;
      memcpy(lane + c, &a, sizeof a);
    }
}

/* F.37  Add the terms from k on to the lanes of a span */

INLINE void visit(int steps, const float *x, const struct matrix *w,
                  struct tensor t, size_t k, size_t o, size_t span, float *sum)
{
  vec b[STEPS], v[STEPS];
  each(s, steps) v[s] = spread(x[k + 16 * (size_t)s]);
  for (size_t c = 0; c < span; c += WIDTH) {
    each(s, steps) b[s] = load(t, (k + 16 * (size_t)s) * w->out + o + c);
    float *lane = sum + k % 16 * span + c;
    vec a;
    memcpy(&a, lane, sizeof a);
    each(s, steps) a = fused(v[s], b[s], a);
    memcpy(lane, &a, sizeof a);
    TALLY("linear", 0, steps * WIDTH);
  }
}

/* F.38  A span of outputs for one row */

INLINE void across(const float *x, const struct matrix *w, struct tensor t,
                   size_t o, size_t span, float *y)
{
  float sum[16 * SPAN];
  size_t k = 0, block = 16 * STEPS;
  memset(sum, 0, 16 * span * sizeof *sum);
  for (; k + block <= w->in; k += block)
    for (size_t j = 0; j < 16; j++)
      visit(STEPS, x, w, t, k + j, o, span, sum);
  for (; k < w->in; k++)
    visit(1, x, w, t, k, o, span, sum);
  fold_lanes(sum, span);
  for (size_t c = 0; c < span; c++)
    y[o + c] = biased(sum[c], w, o + c);
}

INLINE void by_inputs(const struct matrix *w, enum weight_type type,
                      const float *x, size_t from, size_t to, float *y)
{
  struct tensor t = { w->weight.data, type };
  size_t o = from, span;
  for (; to - o >= WIDTH; o += span) {
    span = to - o >= SPAN ? SPAN : (to - o) / WIDTH * WIDTH;
    across(x, w, t, o, span, y);
  }
  if (o < to)
    columns(x, w, t, o, to - o, y);
}

/* F.42  Copy weights into panels */

enum { GROUP = 6, PANEL = 2 * WIDTH, DEPTH = 1024, BLOCK = 96, AHEAD = 24 };
INLINE void fill_panels(const struct matrix *w, struct tensor t, size_t o,
                        size_t outs, size_t k0, size_t depth, float *panels)
{
  for (size_t k = 0; k < depth; k++) {
    float *to = panels + (k % 16 * (DEPTH / 16) + k / 16) * PANEL;
    ask_for(t, (k0 + k + AHEAD) * w->out + o);
    for (size_t h = 0; h < PANEL; h += WIDTH) {
      size_t from = (k0 + k) * w->out + o + h;
      vec v = { 0 };
      if (outs >= h + WIDTH)
        v = load(t, from);
      else if (outs > h)
        v = some(t, from, (int)(outs - h));
      memcpy(to + h, &v, sizeof v);
    }
  }
}

/* F.43  Pass a panel with a few rows */

INLINE void pass_panel(int rows, const float *x, size_t n, size_t steps,
                       const float *w, size_t outs, float *lane)
{
  vec a[GROUP][2], b[2];
  (void)outs;
  each(r, rows) each(h, 2)
      memcpy(&a[r][h], lane + r * PANEL + h * WIDTH, sizeof a[r][h]);
  for (size_t k = 0; k < steps; k++) {
    each(h, 2) memcpy(&b[h], w + k * PANEL + h * WIDTH, sizeof b[h]);
    each(r, rows) {
      vec v = spread(x[(size_t)r * n + 16 * k]);
      each(h, 2) a[r][h] = fused(v, b[h], a[r][h]);
      TALLY("linear", 0, outs);
    }
  }
  each(r, rows) each(h, 2)
      memcpy(lane + r * PANEL + h * WIDTH, &a[r][h], sizeof a[r][h]);
}

/* F.44  Pass all sixteen panels */

TARGET static void pass_panels(size_t rows, const float *x, size_t n,
                               size_t depth, const float *panels, size_t outs,
                               float *lane)
{
#define PASS(rows) \
  pass_panel(rows, x + j, n, (depth - j + 15) / 16, \
    panels + j * (DEPTH / 16) * PANEL, outs, lane + j * GROUP * PANEL)
  for (size_t j = 0; j < 16 && j < depth; j++)
    switch (rows) {
    case 6:
      PASS(6);
      break;
    case 5:
      PASS(5);
      break;
    case 4:
      PASS(4);
      break;
    case 3:
      PASS(3);
      break;
    case 2:
      PASS(2);
      break;
    default:
      PASS(1);
    }
#undef PASS
}

/* F.45  Several rows by the outputs 'from' to 'to' of a matrix stored by inputs */

INLINE void by_panels(const struct matrix *w, enum weight_type type,
                      const float *x, size_t rows, size_t from, size_t to, float *y)
{
  struct tensor t = { w->weight.data, type };
  float panels[DEPTH * PANEL], lane[BLOCK / GROUP][16 * GROUP * PANEL];
  size_t n = w->in;
  for (size_t o = from; o < to; o += PANEL)
    for (size_t r0 = 0, r1; r0 < rows; r0 = r1) {
      size_t outs = to - o < PANEL ? to - o : PANEL;
      r1 = rows - r0 < BLOCK ? rows : r0 + BLOCK;
      memset(lane, 0, (r1 - r0 + GROUP - 1) / GROUP * sizeof *lane);
      for (size_t k = 0; k < n; k += DEPTH)
/* F.46  Pass the panels from input k on with rows 'r0' to 'r1' */

      {
        size_t depth = n - k < DEPTH ? n - k : DEPTH;
        if (r0 == 0 || n > DEPTH)
          fill_panels(w, t, o, outs, k, depth, panels);
        for (size_t r = r0; r < r1; r += GROUP)
          pass_panels(r1 - r < GROUP ? r1 - r : GROUP, x + r * n + k, n, depth,
                      panels, outs, lane[(r - r0) / GROUP]);
      }

/* F.47  Fold the lanes of rows 'r0' to 'r1', and put the sums in place */

      for (size_t r = r0; r < r1; r++) {
        float *group = lane[(r - r0) / GROUP], *sum = group
            + (r - r0) % GROUP * PANEL;
        if ((r - r0) % GROUP == 0)
          fold_lanes(group, GROUP * PANEL);
        for (size_t c = 0; c < outs; c++)
          y[r * w->out + o + c] = biased(sum[c], w, o + c);
      }

    }
}

/* F.48  One worker's share of a linear layer */

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

/* F.49  Call the loops for the matrix's type and layout */

#define WITH_TYPE(type) \
  (!w->transposed ? by_outputs(w, type, x, rows, from, to, y) \
   : rows == 1 ? by_inputs(w, type, x, from, to, y) \
   : by_panels(w, type, x, rows, from, to, y))
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

/* F.51  Do a linear layer */

static void linear(const struct engine *e, const struct matrix *list, size_t n,
                   const float *x, size_t rows, float *const *y)
{
  struct linear_job job = { list, n, x, rows, y };
  size_t work = 0;
  for (size_t m = 0; m < n; m++)
    work += list[m].out * list[m].in * rows;
  pool_run(work >= WORTH_DIVIDING ? e->self : NULL, linear_part, &job);
}

/* F.53  Take up to sixteen numbers of a tensor */

INLINE void take(struct tensor t, size_t i, size_t here, float *z)
{
  for (size_t j = 0; j < here; j++)
    z[j] = t.data == NULL ? 1.0f : at(t, i + j);
}

/* F.52  One row normalized */

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

/* F.55  Norms of all rows */

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

/* F.56  Angles of all rows */

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

/* F.57  Angles of all rows */

static void angles(const struct engine *e, const uint32_t * position,
                   size_t rows, const float *frequency, size_t half, float scaling,
                   float *c, float *s)
{
  struct angles_job job = { position, rows, frequency, half, scaling, c, s };
  bool large = rows * half >= WORTH_DIVIDING / 16;
  pool_run(large ? e->self : NULL, angles_part, &job);
}

/* F.58  Turn the heads of one row */

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

/* F.59  Rotations of all rows */

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

/* F.87  Attention, piece by piece */

/* F.60  What one block of positions leaves behind */

enum { BLOCK_M, BLOCK_L, BLOCK_O };

/* F.61  What one block of positions leaves behind */

INLINE uint32_t next_seen(const struct view *v, uint32_t t)
{
  return t + 1 == v->sinks ? v->lo : t + 1;
}

/* F.63  Where the rows of a block lie */

INLINE void row_places(const struct view *v, uint32_t t0, uint32_t t1,
                       size_t *place)
{
  for (uint32_t t = t0, end = t1; t < t1; end = t1) {
    size_t at = t * v->row_bytes, rows = v->page_rows;
    if (v->page != NULL) {
      at = v->page[t / rows] * v->page_bytes + t % rows * v->row_bytes;
      if (rows - t % rows < end - t)
        end = t + (uint32_t) (rows - t % rows);
    }
    for (; t < end; t++, at += v->row_bytes)
      place[t % 256] = at;
  }
}

INLINE struct tensor row_of(const void *base, size_t place, enum weight_type type)
{
  return (struct tensor) { (const char *)base + place, type };
}

/* F.66  The chain over a block for some columns */

INLINE void chain(int columns, const float *weight, const struct view *v,
                  const size_t *place, uint32_t t0, uint32_t t1,
                  enum weight_type type, size_t first, float *o)
{
  vec a[64 / WIDTH] = { 0 };
  for (uint32_t t = t0; t < t1; t = next_seen(v, t)) {
    struct tensor row = row_of(v->base_v, place[t % 256], type);
    vec w = spread(weight[t % 256]);
    each(p, columns / WIDTH)
        a[p] = fused(w, load_row(row, first + (size_t)p * WIDTH), a[p]);
    TALLY("attention", 0, columns);
  }
  memcpy(o, a, (size_t)columns * sizeof *o);
}

/* F.67  Attention of one head over one block */

INLINE void attend_block(const struct heads *h, const float *q,
                         const struct view *v, enum weight_type type, uint32_t t0,
                         uint32_t t1, float *left, float *kept)
{
  size_t d = h->head_dim;

/* F.62  The scores of a block, and their maximum */

  float score[256], most = -INFINITY;
  size_t place[256];
  for (int i = 0; i < 256; i++)
    score[i] = -INFINITY;
  row_places(v, t0, t1, place);
  for (uint32_t t = t0; t < t1; t = next_seen(v, t)) {
    float s = dot(q, row_of(v->base_k, place[t % 256], type), 0, d)
        * h->scale;
    score[t % 256] = s;
    if (s > most)
      most = s;
    TALLY("attention", 0, d);
    TALLY("pairs", 0, 1);
  }

/* F.64  The exponentials of a block, and their sum in lanes */

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

/* F.65  The values of a block, each times its exponential */

#define CHAIN(columns) \
  chain(columns, score, v, place, t0, t1, type, c, left + BLOCK_O + c)
  size_t c = 0;
  for (; c + 64 <= d; c += 64)
    CHAIN(64);
  for (; c + 16 <= d; c += 16)
    CHAIN(16);
  for (; c < d; c++) {
    float sum = 0;
    for (uint32_t t = t0; t < t1; t = next_seen(v, t)) {
      sum = fmaf(score[t % 256], at(row_of(v->base_v, place[t % 256], type),
                                    c), sum);
      TALLY("attention", 0, 1);
    }
    left[BLOCK_O + c] = sum;
  }
#undef CHAIN

  if (kept != NULL)
    for (uint32_t t = t0; t < t1; t = next_seen(v, t))
      kept[t] = score[t % 256];
}

/* F.68  All blocks of one head, and their join */

INLINE void attend_head(const struct heads *h, const float *q,
                        const struct view *v, enum weight_type type, float *room,
                        float *y, float *kept)
{
  size_t d = h->head_dim, stride = BLOCK_O + d, n = 0;
  for (uint32_t t0 = v->sinks > 0 ? 0 : v->lo, t1; t0 < v->hi; n++) {
    t1 = v->hi - t0 <= 256 - t0 % 256 ? v->hi : t0 + (256 - t0 % 256);
    attend_block(h, q, v, type, t0, t1, room + n * stride, kept);
    t0 = t1 >= v->sinks && t1 < v->lo ? v->lo : t1;
  }

/* F.69  Join the blocks in rising order */

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
  const float *own = room;
  for (uint32_t t = v->sinks > 0 ? 0 : v->lo, next; kept != NULL && t < v->hi;
       t = next) {
    kept[t] = kept[t] * num_expf(own[BLOCK_M] - m) / l;
    next = next_seen(v, t);
    if (next / 256 > t / 256)
      own += stride;
  }

}

/* F.70  One worker's share of attention */

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
  for (size_t unit = worker; unit < job->rows * h->n_heads; unit += workers) {
    size_t row = unit % job->rows, i = row * h->n_heads + unit / job->rows;
    struct view v = job->seen[row];
    const float *q = job->q + i * d;
    float *y = job->y + i * d, *kept = NULL;
    size_t head = i % h->n_heads / group * v.head_bytes;
    v.base_k = (const char *)v.base_k + head;
    v.base_v = (const char *)v.base_v + head;

/* F.72  Make 'kept' ready if the weights are wanted */

    if (job->keep != NULL) {
      kept = job->keep->weights + i * job->keep->stride;
      memset(kept, 0, job->keep->stride * sizeof *kept);
    }

/* F.71  Attend with the loops for the view's type */

#define WITH_ROWS(name) attend_head(h, q, &v, name, room, y, kept)
    if (v.type == WEIGHT_F32)
      WITH_ROWS(WEIGHT_F32);
    else if (v.type == WEIGHT_F16)
      WITH_ROWS(WEIGHT_F16);
    else if (v.type == WEIGHT_BF16)
      WITH_ROWS(WEIGHT_BF16);

    else if (v.type == BLOCKS_Q8_0)
      WITH_ROWS(BLOCKS_Q8_0);
    else
      WITH_ROWS(BLOCKS_Q4_0);
#undef WITH_ROWS

  }
}

/* F.73  Do attention */

static void attend(const struct engine *e, const struct heads *h,
                   const float *q, const struct view *seen, size_t rows,
                   float *room, float *y, const struct capture *keep)
{
  size_t longest = 0, pairs = 0;
  for (size_t r = 0; r < rows; r++) {
    size_t n = seen[r].hi - (seen[r].sinks > 0 ? 0 : seen[r].lo);
    pairs += n, longest = n > longest ? n : longest;
  }
  struct attend_job job = { h, q, seen, rows, room, y,
    kernels_room(h, longest), keep
  };
  bool large = pairs * h->n_heads * h->head_dim >= WORTH_DIVIDING;
  pool_run(large ? e->self : NULL, attend_part, &job);
}

/* F.85  Curves, stream and the two ends, piece by piece */

/* F.74  The three curves, sixteen numbers at a time */

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

/* F.75  One worker's share of an activation */

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

/* F.76  Do an activation */

static void activate(const struct engine *e, enum activation_kind kind,
                     const float *x, const float *up, size_t n, float *y)
{
  struct activate_job job = { kind, x, up, n, y };
  bool large = n >= WORTH_DIVIDING / 4;
  pool_run(large ? e->self : NULL, activate_part, &job);
}

/* F.77  Add to the residual stream */

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

/* F.78  Look rows of the embedding up */

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

/* F.79  The sum of the exponentials of a row, in double */

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

/* F.80  One worker's share of the probabilities */

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

/* F.81  Do a softmax */

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

/* F.82  Exponentials of many doubles */

TARGET static void weigh(double *z, size_t n, double most)
{
  size_t whole = n / 16 * 16;
  for (size_t i = 0; i < whole; i += 16) {
    double w[16];
    for (size_t j = 0; j < 16; j++)
      w[j] = num_exp(z[i + j] - most);
    memcpy(z + i, w, sizeof w);
  }
  for (size_t i = whole; i < n; i++)
    z[i] = num_exp(z[i] - most);
}

/* F.90  Two roundings, and one */

TARGET static float two_roundings(float a, float b, float c)
{
  return a * b + c;
}

TARGET static float one_rounding(float a, float b, float c)
{
  vec v = fused(spread(a), spread(b), spread(c));
  return v[0];
}

/* F.92  Calculate, and read nothing */

enum { CHAINS = 12 };
TARGET static uint64_t spin(uint64_t n, float *left)
{
  vec a[CHAINS], half = spread(0.5f), one = spread(1.0f);
  uint64_t each_round = CHAINS * WIDTH, rounds = n / each_round + 1;
  each(i, CHAINS) a[i] = spread((float)i);
  for (uint64_t k = 0; k < rounds; k++)
    each(i, CHAINS) a[i] = fused(a[i], half, one);
  *left = 0;
  each(i, CHAINS) * left += a[i][0];
  return rounds * each_round;
}

/* F.93  Read, and hardly calculate */

TARGET static float sweep(const float *x, size_t n)
{
  enum { AT_ONCE = 8 };
  vec a[AT_ONCE] = { {0} }, v;
  size_t k = 0;
  for (; k + AT_ONCE * WIDTH <= n; k += AT_ONCE * WIDTH)
    each(i, AT_ONCE) {
    memcpy(&v, x + k + i * WIDTH, sizeof v);
    a[i] += v;
    }
  float sum = 0;
  each(i, AT_ONCE) for (int j = 0; j < WIDTH; j++)
    sum += a[i][j];
  for (; k < n; k++)
    sum += x[k];
  return sum;
}

const struct kernels kernels_scalar = { "scalar",
/* F.88  The functions of a table, in order */

  linear, normalize, rotate, attend, activate, add,
  embed, angles, softmax, log_softmax, weigh,
  two_roundings, one_rounding, spin, sweep
};
