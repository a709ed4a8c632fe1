/* wide.c -- made from workshop/10-gradients.w; change it there */

/* L.14  wide.c */

#include <math.h>
#include <string.h>
#include "kernels/numbers.h"
#include "gradients/slopes.h"
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH 8

/* L.16  Tools of the pieces */

#if defined __clang__
#define each(i, n) _Pragma("unroll") for (int i =  0; i < (n); i++)
#else
#define each(i, n) _Pragma("GCC unroll 16") for (int i =  0; i < (n); i++)
#endif
#define INLINE static inline __attribute__((always_inline)) TARGET
typedef __attribute__((vector_size(4 * WIDTH)))
float vec;
enum { PARTS = 16 / WIDTH };

/* L.17  Tools of the pieces */

INLINE vec load(const float *x)
{
  vec v;
  memcpy(&v, x, sizeof v);
  return v;
}

/* L.18  Tools of the pieces */

INLINE float fold(float *lane)
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++)
      lane[j] += lane[j + s];
  return lane[0];
}

/* L.15  Fuse and spread with AVX2 */

INLINE vec fused(vec a, vec b, vec c)
{
  return _mm256_fmadd_ps(a, b, c);
}

INLINE vec spread(float x)
{
  return _mm256_set1_ps(x);
}

/* L.19  Bodies of the pieces */

/* L.21  A tile of a product */

INLINE void tile(int rows, const float *a, size_t a_row, size_t a_step,
                 const float *b, size_t b_step, size_t terms, float *c,
                 size_t c_row)
{
  vec s[TILE][PARTS];
  each(r, rows) each(p, PARTS) s[r][p] = load(c + (size_t)r * c_row + p * WIDTH);
  for (size_t k = 0; k < terms; k++, a += a_step, b += b_step) {

/* L.22  Add term k to every number of the tile */

    vec v[PARTS];
    each(p, PARTS) v[p] = load(b + p * WIDTH);
    each(r, rows) {
      float one = a[(size_t)r * a_row];
      vec x = spread(one);
      each(p, PARTS) s[r][p] = fused(x, v[p], s[r][p]);
    }

  }
  each(r, rows) each(p, PARTS)
      memcpy(c + (size_t)r * c_row + p * WIDTH, &s[r][p], sizeof(vec));
}

/* L.23  Pack the two sides of a product */

static TARGET void pack_b(const struct product *p, size_t k0,
                          size_t depth, float *to)
{
  for (size_t j = 0; j + 16 <= p->cols; j += 16)
    for (size_t k = 0; k < depth; k++, to += 16)
      memcpy(to, p->b + (k0 + k) * p->b_step + j, 16 * sizeof *to);
}

/* L.24  Pack the two sides of a product */

static TARGET void pack_a(const struct product *p, size_t i0,
                          size_t rows, size_t k0, size_t depth, float *to)
{
  const float *a = p->a + i0 * p->a_row + k0 * p->a_step;
  for (size_t k = 0; k < depth; k++, a += p->a_step) {
    size_t r = 0;
    for (; p->a_row == 1 && r + TILE <= rows; r += TILE)
      memcpy(to + r * depth + k * TILE, a + r, TILE * sizeof *to);
    for (; r < rows; r++)
      to[r / TILE * TILE * depth + k * TILE + r % TILE] = a[r * p->a_row];
  }
}

/* L.25  Multiply */

struct strip {
  const float *a;
  size_t a_row, a_step, a_tile;
  const float *b;
  size_t b_step, b_panel, depth;
};

/* L.26  Multiply */

static TARGET void strip_rows(const struct product *p,
                              const struct strip *s, size_t rows, float *c)
{
  for (size_t j = 0; j + 16 <= p->cols; j += 16) {
    const float *b = s->b + j / 16 * s->b_panel;
    size_t i = 0;
    for (; i + TILE <= rows; i += TILE)
      tile(TILE, s->a + i / TILE * s->a_tile, s->a_row, s->a_step, b,
           s->b_step, s->depth, c + i * p->c_row + j, p->c_row);
    for (; i < rows; i++)
      tile(1, s->a + i / TILE * s->a_tile + i % TILE * s->a_row,
           s->a_row, s->a_step, b, s->b_step, s->depth,
           c + i * p->c_row + j, p->c_row);
  }
}

/* L.27  Multiply */

static TARGET void last_columns(const struct product *p)
{
  for (size_t i = 0; i < p->rows; i++)
    for (size_t j = p->cols / 16 * 16; j < p->cols; j++) {
      float *c = p->c + i * p->c_row + j;
      for (size_t k = 0; k < p->terms; k++)
        *c = fmaf(p->a[i * p->a_row + k * p->a_step], p->b[k * p->b_step + j], *c);
    }
}

/* L.28  Multiply */

static TARGET void multiply(const struct product *p, float *desk)
{
  bool deep = p->terms > SHALLOW;
  bool packs_b = deep && p->rows > STRIP;
  bool packs_a = deep && (p->a_step != 1 || (packs_b && p->a_row > 1000));
  for (size_t i = 0; !p->add && i < p->rows; i++)
    memset(p->c + i * p->c_row, 0, p->cols * sizeof *p->c);
  size_t most = packs_b ? DEPTH : packs_a ? DEPTH : p->terms;
  float *b = desk, *a = desk + DEPTH * (p->cols + 16);
  for (size_t k0 = 0; k0 < p->terms; k0 += most) {

/* L.29  Add 'most' terms, or those that are left */

    size_t depth = p->terms - k0 < most ? p->terms - k0 : most;
    struct strip s = { NULL, p->a_row, p->a_step, TILE * p->a_row, b,
      16, 16 * depth, depth
    };
    if (packs_b)
      pack_b(p, k0, depth, b);
    else
      s.b = p->b + k0 * p->b_step, s.b_step = p->b_step, s.b_panel = 16;

/* L.30  Go through the rows strip by strip */

    for (size_t i = 0; i < p->rows; i += STRIP) {
      size_t rows = p->rows - i < STRIP ? p->rows - i : STRIP;
      if (packs_a) {
        pack_a(p, i, rows, k0, depth, a);
        s.a = a, s.a_row = 1, s.a_step = TILE, s.a_tile = TILE * depth;
      } else
        s.a = p->a + i * p->a_row + k0 * p->a_step;
      strip_rows(p, &s, rows, p->c + i * p->c_row);
    }

  }
  last_columns(p);
}

/* L.31  Sixteen outputs with lanes in rows */

INLINE void one_lane(int rows, const float *x, size_t n,
                     const float *panel, vec a[TILE][PARTS])
{
  each(r, rows) each(p, PARTS) a[r][p] = spread(0);
  for (size_t k = 0; k < n; k += 16) {
    vec v[PARTS];
    each(p, PARTS) v[p] = load(panel + 16 * k + p * WIDTH);
    each(r, rows) {
      vec one = spread(x[(size_t)r * n + k]);
      each(p, PARTS) a[r][p] = fused(one, v[p], a[r][p]);
    }
  }
}

/* L.32  Sixteen outputs with lanes in rows */

INLINE void lanes_tile(int rows, const float *x, size_t n,
                       const float *panel, float *y, size_t y_row)
{
  vec a[TILE][PARTS], part[4][TILE][PARTS];
  each(i, 16) {
    int j = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | i >> 3;
    one_lane(rows, x + j, n, panel + 16 * j, a);

/* L.33  Carry the finished lane */

    each(level, 4) {
      if ((~i & ((1 << level) - 1)) != 0)
        continue;
      each(r, rows) each(p, PARTS) {
        if ((i >> level & 1) != 0)
          a[r][p] = part[level][r][p] + a[r][p];
        else
          part[level][r][p] = a[r][p];
      }
    }

  }
  each(r, rows) each(p, PARTS)
      memcpy(y + (size_t)r * y_row + p * WIDTH, &a[r][p], sizeof(vec));
}

/* L.34  A linear layer for many rows */

static TARGET void linear(const float *x, size_t rows, const float *w,
                          size_t in, size_t out, float *y, float *desk)
{
  for (size_t o = 0; o < out; o += 16) {
    for (size_t j = 0; j < 16; j++)
      for (size_t k = 0; k < in; k++)
        desk[16 * k + j] = w[(o + j) * in + k];
    size_t i = 0;
    for (; i + TILE <= rows; i += TILE)
      lanes_tile(TILE, x + i * in, in, desk, y + i * out + o, out);
    for (; i < rows; i++)
      lanes_tile(1, x + i * in, in, desk, y + i * out + o, out);
  }
}

/* L.35  Exponentials of a block of scores */

INLINE float largest(const float *z, size_t n)
{
  float lane[16], most = z[0];
  for (int j = 0; j < 16; j++)
    lane[j] = z[0];
  for (size_t t = 0; t + 16 <= n; t += 16)
    for (size_t j = 0; j < 16; j++)
      lane[j] = z[t + j] > lane[j] ? z[t + j] : lane[j];
  for (int j = 0; j < 16; j++)
    most = lane[j] > most ? lane[j] : most;
  for (size_t t = n / 16 * 16; t < n; t++)
    most = z[t] > most ? z[t] : most;
  return most;
}

/* L.36  Exponentials of a block of scores */

static TARGET void weigh(float *s, size_t sees, size_t n, float scale, float *left)
{
  float lane[16] = { 0 };
  for (size_t t = 0; t < n; t += 16)
    for (size_t j = 0; j < 16; j++)
      s[t + j] *= scale;
  for (size_t t = sees; t < n; t++)
    s[t] = -INFINITY;
  float most = largest(s, n);
  for (size_t g = 0; g < n; g += 16) {
    float z[16];
    for (int j = 0; j < 16; j++)
      z[j] = num_expf(s[g + (size_t)j] - most);
    for (int j = 0; j < 16; j++)
      lane[j] += z[j];
    memcpy(s + g, z, sizeof z);
  }
  left[0] = most, left[1] = fold(lane);
}

/* L.37  Exponentials of a block of scores */

static TARGET void join(const float *left, const float *parts,
                        size_t n, size_t h, float *y, float *known)
{
  float m = -INFINITY, l = 0;
  for (size_t b = 0; b < n; b++) {
    float most = left[2 * b * STRIP];
    m = most > m ? most : m;
  }
  for (size_t c = 0; c < h; c++)
    y[c] = 0;
  for (size_t b = 0; b < n; b++) {

/* L.38  Bring block b down to the common maximum, and add it */

    const float *o = parts + b * STRIP * h;
    float w = num_expf(left[2 * b * STRIP] - m);
    l = fmaf(left[2 * b * STRIP + 1], w, l);
    for (size_t c = 0; c < h; c += 16)
      for (size_t j = 0; j < 16; j++)
        y[c + j] = fmaf(o[c + j], w, y[c + j]);

  }
  for (size_t c = 0; c < h; c += 16)
    for (size_t j = 0; j < 16; j++)
      y[c + j] = y[c + j] / l;
  known[0] = m, known[1] = l;
}

/* L.40  Weights and scores, on the way back */

static TARGET void weigh_back(float *s, float *g, size_t sees,
                              size_t n, float scale, const float *known,
                              const float *y, const float *dy, size_t h)
{
  float most = known[0], part = 1.0f / known[1], lane[16] = { 0 };
  for (size_t c = 0; c < h; c += 16)
    for (size_t j = 0; j < 16; j++)
      lane[j] = fmaf(y[c + j], dy[c + j], lane[j]);
  float mean = fold(lane);
  for (size_t t = sees; t < n; t++)
    s[t] = -INFINITY;
  for (size_t t = 0; t < n; t += 16) {

/* L.41  Weigh sixteen scores again, and turn their slopes */

    float p[16], d[16];
    memcpy(p, s + t, sizeof p);
    memcpy(d, g + t, sizeof d);
    for (int j = 0; j < 16; j++)
      p[j] = num_expf(p[j] * scale - most) * part;
    for (int j = 0; j < 16; j++)
      d[j] = p[j] * (d[j] - mean) * scale;
    memcpy(s + t, p, sizeof p);
    memcpy(g + t, d, sizeof d);

  }
}

/* L.42  The loss of one row, and its gradient */

INLINE float exponential_of(const float *z, size_t i, size_t n, float most)
{
  return i < n ? num_expf(z[i] - most) : 0;
}

/* L.43  The loss of one row, and its gradient */

static TARGET double judge(float *z, size_t n, uint32_t right, float share)
{
  float most = largest(z, n), own = z[right];
  double lane[16] = { 0 };
  for (size_t i = 0; i < n; i += 16) {

/* L.44  Make sixteen logits exponentials, and sum them */

    float e[16];
    if (i + 16 <= n)
      for (size_t j = 0; j < 16; j++)
        e[j] = num_expf(z[i + j] - most);
    else
      for (size_t j = 0; j < 16; j++)
        e[j] = exponential_of(z, i + j, n, most);
    for (size_t j = 0; j < 16; j++)
      lane[j] += (double)e[j];
    memcpy(z + i, e, (n - i < 16 ? n - i : 16) * sizeof *z);

  }
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++)
      lane[j] += lane[j + s];
  float each_one = share / (float)lane[0];
  for (size_t i = 0; i < n; i++)
    z[i] *= each_one;
  z[right] -= share;
  return num_log(lane[0]) - ((double)own - (double)most);
}

/* L.46  A norm on the way back */

static TARGET float norm_back(const float *x, const float *gain,
                              const float *dy, size_t d, float *dx)
{
  float square[16] = { 0 }, along[16] = { 0 };
  for (size_t k = 0; k < d; k += 16)
    for (size_t j = 0; j < 16; j++) {
      square[j] = fmaf(x[k + j], x[k + j], square[j]);
      along[j] = fmaf(dy[k + j] * gain[k + j], x[k + j], along[j]);
    }
  float r = 1.0f / sqrtf(fold(square) / (float)d + 1e-5f);
  float pull = fold(along) * r * r / (float)d;

/* L.47  Add the slopes of the norm to 'dx' */

  for (size_t k = 0; k < d; k += 16)
    for (size_t j = 0; j < 16; j++) {
      float t = fmaf(-pull, x[k + j], dy[k + j] * gain[k + j]);
      dx[k + j] = fmaf(r, t, dx[k + j]);
    }

  return r;
}

/* L.48  A norm on the way back */

static TARGET void gain_back(const float *x, const float *dy,
                             const float *r, size_t rows, size_t d, size_t from,
                             size_t to, float *dgain)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t k = from; k < to; k += 16)
      for (size_t j = 0; j < 16; j++)
        dgain[k + j] = fmaf(dy[i * d + k + j] * r[i], x[i * d + k + j],
                            dgain[k + j]);
}

/* L.50  A gate on the way back */

static TARGET void gate_back(const float *gate, const float *up,
                             const float *dinner, size_t n, float *dgate,
                             float *dup)
{
  for (size_t i = 0; i < n; i += 16) {
    float s[16], a[16];
    for (size_t j = 0; j < 16; j++)
      s[j] = 1.0f / (1.0f + num_expf(-gate[i + j]));
    for (size_t j = 0; j < 16; j++)
      a[j] = gate[i + j] * s[j];
    for (size_t j = 0; j < 16; j++)
      dup[i + j] = dinner[i + j] * a[j];
    for (size_t j = 0; j < 16; j++)
      dgate[i + j] = dinner[i + j] * up[i + j]
          * fmaf(a[j], 1.0f - s[j], s[j]);
  }
}

/* L.53  Squares of a gradient, and a step of AdamW */

static TARGET double square(const float *g, size_t n)
{
  double lane[16] = { 0 };
  for (size_t i = 0; i + 16 <= n; i += 16)
    for (size_t j = 0; j < 16; j++)
      lane[j] += (double)g[i + j] * (double)g[i + j];
  for (size_t i = n / 16 * 16; i < n; i++)
    lane[0] += (double)g[i] * (double)g[i];
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++)
      lane[j] += lane[j + s];
  return lane[0];
}

/* L.54  Squares of a gradient, and a step of AdamW */

INLINE void adam_some(const struct moments *a, size_t i, size_t n)
{
  float *restrict w = a->w + i, *restrict grad = a->g + i;
  float *restrict first = a->first + i, *restrict second = a->second + i;
  const bool *decays = a->decays + i;
  float scale = a->scale, rate = a->rate, fix1 = a->fix1, fix2 = a->fix2;
  for (size_t j = 0; j < n; j++) {
    float g = grad[j] * scale, gg = g * g;
    first[j] = fmaf(0.9f, first[j] - g, g);
    second[j] = fmaf(0.95f, second[j] - gg, gg);
    float move = first[j] * fix1 / (sqrtf(second[j] * fix2) + 1e-8f);
    move = fmaf(decays[j] ? 0.1f : 0.0f, w[j], move);
    w[j] = fmaf(-rate, move, w[j]);
    grad[j] = 0;
  }
}

/* L.55  Squares of a gradient, and a step of AdamW */

static TARGET void adam(const struct moments *a, size_t from, size_t to)
{
  size_t i = from;
  for (; i + 64 <= to; i += 64)
    adam_some(a, i, 64);
  adam_some(a, i, to - i);
  if (a->mean != NULL)
    for (i = from; i < to; i++)
      a->mean[i] = fmaf(a->keep, a->mean[i] - a->w[i], a->w[i]);
}

const struct slopes slopes_wide = { multiply, linear, weigh,
  join, weigh_back, judge, norm_back, gain_back, gate_back, square,
  adam
};
#endif
