@i types.w
@s vec int
@s each while
@s TARGET inline
@s INLINE inline
@s restrict const

\chapterquestion{If one of a million weights were a little larger, how would the loss change? And how can one sweep answer that for all of them?}
@** Slopes.
\incipit{A}{ll of training} rests on one kind of number: the slope of the loss along a weight. This appendix derives
those numbers, operation by operation, and writes the loops that compute them; appendix~A then strings the loops
together. Nothing is needed but the derivatives of school, $x^2$, $e^x$, $\ln x$, products and quotients, and the rule that says
how to differentiate a function of a function.
@^backpropagation@>

\begin{byhand}{one matrix, forwards and back}
Let $y=Wx$ with $W$ of the rows $(1,2)$ and $(3,-1)$, and $x=(2,1)$. So $y=(2+2,\ 6-1)=(4,5)$. Let the
loss be the product $L=y_1y_2=20$. A little more of $y_1$ makes $L$ grow by $y_2$ times as much, so the slopes of the loss along $y$
are $dy=(5,4)$.

\medskip
The number $x_1$ enters $y_1$ once and $y_2$ three times, so its slope is $1\times5+3\times4=17$; that of $x_2$
is $2\times5-1\times4=6$. A weight multiplies one $x$ and is felt in one $y$: the first row of $W$ has the slopes
$(5\times2,\ 5\times1)=(10,5)$, the second $(4\times2,\ 4\times1)=(8,4)$.

\medskip
Is the 17 true? With $x_1=2.1$ we get $y=(4.1,5.3)$ and $L=21.73$; with $x_1=1.9$, $y=(3.9,4.7)$ and
$L=18.33$. The difference is $3.4$ over a distance of $0.2$, and $3.4/0.2=17$.
\end{byhand}

@ The program does what the box does, with the pieces that train the built-in model.

@c
#include <stdio.h>
#include <string.h>
#include "A12-slopes/slopes.h"
@;@#
@<The box, by the pieces@>@;
@#
int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "values") == 0) return 0;
  one_matrix();
  return 0;
}

@ A product is told by its strides from which side a matrix is read, so the same |W| and |x| serve both ways.

@<The box, by the pieces@>=
static void one_matrix(void)
{
  static float desk[DEPTH * 80];
  float w[4] = @[{ 1, 2, 3, -1 }@], x[2] = @[{ 2, 1 }@];
  float dy[2] = @[{ 5, 4 }@], dx[2], dw[4];
  struct product back = @[{ .a = dy, .a_row = 2, .a_step = 1, .b = w,
    .b_step = 2, .c = dx, .c_row = 2, .rows = 1, .terms = 2,
    .cols = 2 }@];
  slopes_plain.multiply(&back, desk);
  struct product own = @[{ .a = dy, .a_row = 1, .a_step = 2, .b = x,
    .b_step = 2, .c = dw, .c_row = 2, .rows = 2, .terms = 1,
    .cols = 2 }@];
  slopes_plain.multiply(&own, desk);
  printf("a matrix: dx %g %g, dW %g %g, %g %g\n", (double) dx[0],
    (double) dx[1], (double) dw[0], (double) dw[1], (double) dw[2],
    (double) dw[3]);
}

@* The pieces of the way back. \label{sec:slopes}
The way forward uses the kernels of chapter 2 as they are. The way back needs other
products, and a few loops over rows. They are collected in a table, as the kernels are, and
for the same reason: one text of each loop, compiled twice, gives the same bits with and
without the wide registers of the machine.

@(slopes.h@>=
#ifndef INCIPIT_SLOPES_H
#define INCIPIT_SLOPES_H
#include "00-ground/ground.h"
@<What a product is@>@;
@<What the pieces are@>@;
#endif

@ Every gradient of a matrix, and every gradient that a matrix hands on, is a sum of
products. We fix its order once: the terms are added one after the other, the first term
first. So it does not matter how the outputs are divided among workers.
@<What a product is@>=
struct product {
  const float *a; size_t a_row, a_step;
  const float *b; size_t b_step;
  float *c; size_t c_row;
  size_t rows, terms, cols; bool add;
};
  /* $c_{ij}=\sum_k a_{ik}b_{kj}$ in rising order of $k$ by fused multiply--adds,
     from 0 or, if |add|, from what is there;
     $a_{ik}$ is |a[i*a_row+k*a_step]|,
     $b_{kj}$ is |b[k*b_step+j]|, $c_{ij}$ is |c[i*c_row+j]| */
enum { SHALLOW = 64, DEPTH = 256, STRIP = 48, TILE = 6 };
  /* products of more than |SHALLOW| terms are packed, |DEPTH| terms and
     |STRIP| rows at a time */

@ The other pieces work on one row, or on a range of numbers. Each worker calls them for its
share.
@<What the pieces are@>=
struct moments { float *w, *g, *first, *second, *mean; const bool *decays;
  float rate, scale, fix1, fix2, keep; };
  /* weights and gradients, the two moments, the running mean of the weights or
     null; the numbers of one step of AdamW */
struct slopes {
  void (*multiply)(const struct product *p, float *desk);
  /* |desk| has |DEPTH*(cols+16+STRIP)| floats */
  void (*linear)(const float *x, size_t rows, const float *w,
    size_t in, size_t out,
    float *y, float *desk);
  /* the bits of the kernel |linear| for a matrix |[out][in]|, both multiples of
     16; |desk| has |16*in| floats */
  @<Pieces of attention and of the loss@>@;
  @<Pieces of norms, gates and steps@>@;
};
extern const struct slopes slopes_plain, slopes_wide;
  /* compiled for any machine; for AVX2, if this is one */

@ Attention forward is here as well, because many rows at once want another order of work than the engine's; its bits are the
engine's. Going back, it needs what going forward left.
@<Pieces of attention and of the loss@>=
  void (*weigh)(float *s, size_t sees, size_t n, float scale,
    float *left);
  /* scores of one block of at most 256 keys, |n| of them up to a multiple of 16,
     become exponentials; |left[0]| is the maximum and |left[1]| the sum of those seen */
  void (*join)(const float *left, const float *parts, size_t n,
    size_t h, float *y,
    float *known);
  /* joins |n| blocks of one row, |STRIP| rows apart in |left| and |parts|; |known|
     is the maximum and the sum over all of them */
  void (*weigh_back)(float *s, float *g, size_t sees, size_t n,
    float scale,
    const float *known, const float *y, const float *dy, size_t h);
  /* |s| becomes weights and |g|, gradients of weights, gradients of scores; |known|
     is what |join| left, |y| what attention mixed, |dy| its gradient */
  double (*judge)(float *z, size_t n, uint32_t right, float share);
  /* the loss of one row of logits, which become its gradient times |share| */

@ The rest goes over rows or over ranges of numbers, and is cut among the workers where no sum is cut.
@<Pieces of norms, gates and steps@>=
  float (*norm_back)(const float *x, const float *gain,
    const float *dy, size_t d,
    float *dx);
  /* adds to |dx|, and returns 1 over the root mean square */
  void (*gain_back)(const float *x, const float *dy, const float *r,
    size_t rows,
    size_t d, size_t from, size_t to, float *dgain);
  /* adds to |dgain| for the columns |from| to |to|, |r| is what |norm_back| returned */
  void (*gate_back)(const float *gate, const float *up,
    const float *dinner,
    size_t n, float *dgate, float *dup);
  /* |n| is a multiple of 16 */
  double (*square)(const float *g, size_t n);
  /* sum of squares */
  void (*adam)(const struct moments *a, size_t from, size_t to);
  /* one step for the weights |from| to |to|; the gradient becomes 0 */

@ Two modules with the same body. The plain one leaves the fused multiply--add to the
C~library's |fmaf|, which is exact and slow.
@(plain.c@>=
#include <math.h>
#include <string.h>
#include "A6-kernels/numbers.h"
#include "A12-slopes/slopes.h"
#define TARGET
#define WIDTH 4
@<Tools of the pieces@>@;
INLINE vec fused(vec a, vec b, vec c)
{
  each(i, WIDTH) c[i] = fmaf(a[i], b[i], c[i]);
  return c;
}
@#
INLINE vec spread(float x)
{
  vec v;
  each(i, WIDTH) v[i] = x;
  return v;
}
@<Bodies of the pieces@>@;
const struct slopes slopes_plain = @[{ multiply, linear, weigh,@|
  join, weigh_back, judge, norm_back, gain_back, gate_back, square,@|
  adam }@];

@ The wide one has eight numbers in a register.
@(wide.c@>=
#include <math.h>
#include <string.h>
#include "A6-kernels/numbers.h"
#include "A12-slopes/slopes.h"
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH 8
@<Tools of the pieces@>@;
INLINE vec fused(vec a, vec b, vec c)
{
  return _mm256_fmadd_ps(a, b, c);
}
@#
INLINE vec spread(float x)
{
  return _mm256_set1_ps(x);
}
@<Bodies of the pieces@>@;
const struct slopes slopes_wide = @[{ multiply, linear, weigh,@|
  join, weigh_back, judge, norm_back, gain_back, gate_back, square,@|
  adam }@];
#endif

@ The tools are those of chapter 2: a loop that is written out, and lanes that fold by
halves.
@<Tools of the pieces@>=
#if defined __clang__
#define each(i, n) @[_Pragma("unroll") for (int i = 0; i < (n); i++)@]
#else
#define each(i, n) @[_Pragma("GCC unroll 16") for (int i = 0; i < (n); i++)@]
#endif
#define INLINE static inline __attribute__((always_inline)) TARGET
@[typedef __attribute__((vector_size(4 * WIDTH))) float vec@];
enum { PARTS = 16 / WIDTH };

@ A register is loaded from any address: |memcpy| of its size is one instruction, and the
compiler is told no lie about alignment.
@<Tools of the pieces@>=
INLINE vec load(const float *x)
{
  vec v;
  memcpy(&v, x, sizeof v);
  return v;
}

@ Lanes are folded by halves, eighth to first, fourth to first, as chapter 2 defines the sum. The
order is written out and does not depend on the width of a register.
@<Tools of the pieces@>=
INLINE float fold(float *lane)
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}

@ The bodies are compiled twice, once for each table. Nothing in them says how wide a register is,
apart from the loops over |PARTS|.
@<Bodies of the pieces@>=
@<A tile of a product@>@;
@<Pack the two sides of a product@>@;
@<Multiply@>@;
@<Sixteen outputs with lanes in rows@>@;
@<A linear layer for many rows@>@;
@<Exponentials of a block of scores@>@;
@<Weights and scores, on the way back@>@;
@<The loss of one row, and its gradient@>@;
@<A norm on the way back@>@;
@<A gate on the way back@>@;
@<Squares of a gradient, and a step of AdamW@>@;

@ Six rows and sixteen columns of the result stay in registers while the terms run by. Each
term costs one load of each side and twelve multiply--adds.
@<A tile of a product@>=
INLINE void tile(int rows, const float *a, size_t a_row, size_t a_step,
  const float *b, size_t b_step, size_t terms, float *c, size_t c_row)
{
  vec s[TILE][PARTS];
  each(r, rows) each(p, PARTS) s[r][p] =
    load(c + (size_t) r * c_row + p * WIDTH);
  for (size_t k = 0; k < terms; k++, a += a_step, b += b_step) {
    vec v[PARTS];
    each(p, PARTS) v[p] = load(b + p * WIDTH);
    each(r, rows) {
      float one = a[(size_t) r * a_row];
      vec x = spread(one);
      each(p, PARTS) s[r][p] = fused(x, v[p], s[r][p]);
    }
  }
  each(r, rows) each(p, PARTS)
    memcpy(c + (size_t) r * c_row + p * WIDTH, &s[r][p], sizeof(vec));
}

@ Rows that lie far apart fall into the same few sets of the cache. So a deep product first
copies a panel of each side to where its numbers are neighbours; that costs a copy for
many multiplications.
@<Pack the two sides of a product@>=
static TARGET void pack_b(const struct product *p, size_t k0,
  size_t depth, float *to)
{
  for (size_t j = 0; j + 16 <= p->cols; j += 16)
    for (size_t k = 0; k < depth; k++, to += 16)
      memcpy(to, p->b + (k0 + k) * p->b_step + j, 16 * sizeof *to);
}

@ The other side is cut into tiles of six rows. When the rows are neighbours in memory already,
as they are where a matrix is read by its columns, six of them are copied at once.
@<Pack the two sides of a product@>=
static TARGET void pack_a(const struct product *p, size_t i0,
  size_t rows, size_t k0,
  size_t depth, float *to)
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

@ A strip is a few rows against all columns. What is left over when the rows are no
multiple of six, or the columns of sixteen, is done one by one, in the same order.
@<Multiply@>=
struct strip { const float *a; size_t a_row, a_step, a_tile;
  const float *b; size_t b_step, b_panel, depth; };

@ For each panel of sixteen columns the strip is gone through tile by tile, so that the panel
stays in the nearest cache while the rows pass.
@<Multiply@>=
static TARGET void strip_rows(const struct product *p,
  const struct strip *s, size_t rows,
  float *c)
{
  for (size_t j = 0; j + 16 <= p->cols; j += 16) {
    const float *b = s->b + j / 16 * s->b_panel;
    size_t i = 0;
    for (; i + TILE <= rows; i += TILE)
      tile(TILE, s->a + i / TILE * s->a_tile, s->a_row, s->a_step, b,
        s->b_step,
        s->depth, c + i * p->c_row + j, p->c_row);
    for (; i < rows; i++)
      tile(1, s->a + i / TILE * s->a_tile + i % TILE * s->a_row,
        s->a_row, s->a_step,
        b, s->b_step, s->depth, c + i * p->c_row + j, p->c_row);
  }
}

@ The last few columns, fewer than sixteen, are summed one by one. Our own model has none; the
small models of the tests do.
@<Multiply@>=
static TARGET void last_columns(const struct product *p)
{
  for (size_t i = 0; i < p->rows; i++)
    for (size_t j = p->cols / 16 * 16; j < p->cols; j++) {
      float *c = p->c + i * p->c_row + j;
      for (size_t k = 0; k < p->terms; k++)
        *c = fmaf(p->a[i * p->a_row + k * p->a_step],
          p->b[k * p->b_step + j], *c);
    }
}

@ Whether a side is packed depends on the shapes alone, and never changes a bit: packing
moves numbers, it does not add them. A side that lies well already is left alone.
@<Multiply@>=
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
    size_t depth = p->terms - k0 < most ? p->terms - k0 : most;
    struct strip s = @[{ NULL, p->a_row, p->a_step, TILE * p->a_row, b,
      16, 16 * depth,
      depth }@];
    if (packs_b) pack_b(p, k0, depth, b);
    else s.b = p->b + k0 * p->b_step, s.b_step = p->b_step, s.b_panel =
      16;
    @<Go through the rows strip by strip@>@;
  }
  last_columns(p);
}

@ A strip of 48 rows is packed, if it has to be, and then multiplied with every panel. Its size
is what fits into the nearest cache beside a panel.
@<Go through the rows strip by strip@>=
for (size_t i = 0; i < p->rows; i += STRIP) {
  size_t rows = p->rows - i < STRIP ? p->rows - i : STRIP;
  if (packs_a) {
    pack_a(p, i, rows, k0, depth, a);
    s.a = a, s.a_row = 1, s.a_step = TILE, s.a_tile = TILE * depth;
  }
  else s.a = p->a + i * p->a_row + k0 * p->a_step;
  strip_rows(p, &s, rows, p->c + i * p->c_row);
}

@ The linear kernel of chapter 2 is made for few rows and long sums: it keeps the sixteen
lanes of a sum in a register and folds them at the end. We have a thousand rows and sums of
128 terms, eight to a lane, so it spends as long on folding as on multiplying. Here each
lane is a tile of its own, of six rows and sixteen \emph{outputs}, and folding is adding
tiles. The lanes come in the order 0, 8, 4, 12, 2, \dots, so that the two halves of every fold
meet as soon as both are there; four tiles wait at most. Each sum has the same terms in the
same tree, and therefore the same bits.
@<Sixteen outputs with lanes in rows@>=
INLINE void one_lane(int rows, const float *x, size_t n,
  const float *panel,
  vec a[TILE][PARTS])
{
  each(r, rows) each(p, PARTS) a[r][p] = spread(0);
  for (size_t k = 0; k < n; k += 16) {
    vec v[PARTS];
    each(p, PARTS) v[p] = load(panel + 16 * k + p * WIDTH);
    each(r, rows) {
      vec one = spread(x[(size_t) r * n + k]);
      each(p, PARTS) a[r][p] = fused(one, v[p], a[r][p]);
    }
  }
}

@ A lane that is finished is added to the one that waits for it, and the sum to the one that
waits for that: like carrying, when one counts in binary. All indices are known to the compiler, so
the tiles stay in registers where there is room.
@<Sixteen outputs with lanes in rows@>=
INLINE void lanes_tile(int rows, const float *x, size_t n,
  const float *panel,
  float *y, size_t y_row)
{
  vec a[TILE][PARTS], part[4][TILE][PARTS];
  each(i, 16) {
    int j = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | i >> 3;
    one_lane(rows, x + j, n, panel + 16 * j, a);
    each(level, 4) {
      if ((~i & ((1 << level) - 1)) != 0) continue;
      each(r, rows) each(p, PARTS) {
        if ((i >> level & 1) != 0) a[r][p] = part[level][r][p] + a[r][p];
        else part[level][r][p] = a[r][p];
      }
    }
  }
  each(r, rows) each(p, PARTS)
    memcpy(y + (size_t) r * y_row + p * WIDTH, &a[r][p], sizeof(vec));
}

@ The weights of sixteen outputs are turned first, so that the sixteen of one term are
neighbours.
@<A linear layer for many rows@>=
static TARGET void linear(const float *x, size_t rows, const float *w,
  size_t in,
  size_t out, float *y, float *desk)
{
  for (size_t o = 0; o < out; o += 16) {
    for (size_t j = 0; j < 16; j++)
      for (size_t k = 0; k < in; k++) desk[16 * k + j] =
        w[(o + j) * in + k];
    size_t i = 0;
    for (; i + TILE <= rows; i += TILE)
      lanes_tile(TILE, x + i * in, in, desk, y + i * out + o, out);
    for (; i < rows; i++) lanes_tile(1, x + i * in, in, desk,
      y + i * out + o, out);
  }
}

@ The scores of one row against one block of at most 256 keys. This is word for word what the
kernel of chapter~2 does with a block: the maximum, the exponentials in groups of sixteen,
their sum in lanes. So its bits are those of the engine.
@<Exponentials of a block of scores@>=
INLINE float largest(const float *z, size_t n)
{
  float lane[16], most = z[0];
  for (int j = 0; j < 16; j++) lane[j] = z[0];
  for (size_t t = 0; t + 16 <= n; t += 16)
    for (size_t j = 0; j < 16; j++) lane[j] = z[t + j] > lane[j]
      ? z[t + j] : lane[j];
  for (int j = 0; j < 16; j++) most = lane[j] > most ? lane[j] : most;
  for (size_t t = n / 16 * 16; t < n;
  t++) most = z[t] > most ? z[t] : most;
  return most;
}

@ Scores behind the last one seen become $-\infty$ before the maximum is taken, and 0 as
exponentials. So a group of sixteen needs no special case at its end.
@<Exponentials of a block of scores@>=
static TARGET void weigh(float *s, size_t sees, size_t n, float scale,
  float *left)
{
  float lane[16] = @[{ 0 }@];
  for (size_t t = 0; t < n; t += 16)
    for (size_t j = 0; j < 16; j++) s[t + j] *= scale;
  for (size_t t = sees; t < n; t++) s[t] = -INFINITY;
  float most = largest(s, n);
  for (size_t g = 0; g < n; g += 16) {
    float z[16];
    for (int j = 0; j < 16; j++) z[j] =
      num_expf(s[g + (size_t) j] - most);
    for (int j = 0; j < 16; j++) lane[j] += z[j];
    memcpy(s + g, z, sizeof z);
  }
  left[0] = most, left[1] = fold(lane);
}

@ The blocks of a row are joined as in chapter 2, in rising order, each brought down to the
common maximum.
@<Exponentials of a block of scores@>=
static TARGET void join(const float *left, const float *parts,
  size_t n, size_t h,
  float *y, float *known)
{
  float m = -INFINITY, l = 0;
  for (size_t b = 0; b < n; b++) {
    float most = left[2 * b * STRIP];
    m = most > m ? most : m;
  }
  for (size_t c = 0; c < h; c++) y[c] = 0;
  for (size_t b = 0; b < n; b++) {
    const float *o = parts + b * STRIP * h;
    float w = num_expf(left[2 * b * STRIP] - m);
    l = fmaf(left[2 * b * STRIP + 1], w, l);
    for (size_t c = 0; c < h; c += 16)
      for (size_t j = 0; j < 16; j++) y[c + j] =
        fmaf(o[c + j], w, y[c + j]);
  }
  for (size_t c = 0; c < h; c += 16)
    for (size_t j = 0; j < 16; j++) y[c + j] = y[c + j] / l;
  known[0] = m, known[1] = l;
}

@ Going back, the weights are made again from the scores rather than kept: a thousand tokens
would need far more room for them than for everything else. With $p$ the weights and $g$ the gradients that come
back for them, the gradient of score $t$ is $p_t(g_t-\sum_u p_ug_u)$, times the scale. The
sum under the weights needs no weights: since $g_u=dy\cdot v_u$, it is $dy\cdot y$.
@<Weights and scores, on the way back@>=
static TARGET void weigh_back(float *s, float *g, size_t sees,
  size_t n, float scale,
  const float *known, const float *y, const float *dy, size_t h)
{
  float most = known[0], part = 1.0f / known[1], lane[16] = @[{ 0 }@];
  for (size_t c = 0; c < h; c += 16)
    for (size_t j = 0; j < 16; j++) lane[j] =
      fmaf(y[c + j], dy[c + j], lane[j]);
  float mean = fold(lane);
  for (size_t t = sees; t < n; t++) s[t] = -INFINITY;
  for (size_t t = 0; t < n; t += 16) {
    float p[16], d[16];
    memcpy(p, s + t, sizeof p);
    memcpy(d, g + t, sizeof d);
    for (int j = 0; j < 16; j++) p[j] =
      num_expf(p[j] * scale - most) * part;
    for (int j = 0; j < 16; j++) d[j] = p[j] * (d[j] - mean) * scale;
    memcpy(s + t, p, sizeof p);
    memcpy(g + t, d, sizeof d);
  }
}

@ The loss of a row is $\log\sum_v e^{z_v-m}-(z_r-m)$, and its gradient the probabilities,
with one taken from the right token's. The sum is kept in double.
@<The loss of one row, and its gradient@>=
INLINE float exponential_of(const float *z, size_t i, size_t n,
  float most)
{
  return i < n ? num_expf(z[i] - most) : 0;
}

@ The exponentials are taken in groups of sixteen and summed in sixteen lanes of double; the last
group of a vocabulary that is no multiple of sixteen is filled up with zeros.
@<The loss of one row, and its gradient@>=
static TARGET double judge(float *z, size_t n, uint32_t right,
  float share)
{
  float most = largest(z, n), own = z[right];
  double lane[16] = @[{ 0 }@];
  for (size_t i = 0; i < n; i += 16) {
    float e[16];
    if (i + 16 <= n) for (size_t j = 0; j < 16;
    j++) e[j] = num_expf(z[i + j] - most);
    else for (size_t j = 0; j < 16; j++) e[j] =
      exponential_of(z, i + j, n, most);
    for (size_t j = 0; j < 16; j++) lane[j] += (double) e[j];
    memcpy(z + i, e, (n - i < 16 ? n - i : 16) * sizeof *z);
  }
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  float each_one = share / (float) lane[0];
  for (size_t i = 0; i < n; i++) z[i] *= each_one;
  z[right] -= share;
  return num_log(lane[0]) - ((double) own - (double) most);
}

@ With $r=1/\sqrt{\overline{x^2}+\epsilon}$ and $t_k=\gamma_k\,dy_k$, the gradient of
$x_k$ is $r\,(t_k-x_k\,r^2\,\overline{t\,x})$.
@<A norm on the way back@>=
static TARGET float norm_back(const float *x, const float *gain,
  const float *dy,
  size_t d, float *dx)
{
  float square[16] = @[{ 0 }@], along[16] = @[{ 0 }@];
  for (size_t k = 0; k < d; k += 16)
    for (size_t j = 0; j < 16; j++) {
      square[j] = fmaf(x[k + j], x[k + j], square[j]);
      along[j] = fmaf(dy[k + j] * gain[k + j], x[k + j], along[j]);
    }
  float r = 1.0f / sqrtf(fold(square) / (float) d + 1e-5f);
  float pull = fold(along) * r * r / (float) d;
  for (size_t k = 0; k < d; k += 16)
    for (size_t j = 0; j < 16; j++) {
      float t = fmaf(-pull, x[k + j], dy[k + j] * gain[k + j]);
      dx[k + j] = fmaf(r, t, dx[k + j]);
    }
  return r;
}

@ The gain's gradient is a sum over rows. It is divided among the workers by columns, never by
rows: dividing a sum would make its order depend on their number.
@<A norm on the way back@>=
static TARGET void gain_back(const float *x, const float *dy,
  const float *r,
  size_t rows, size_t d, size_t from, size_t to, float *dgain)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t k = from; k < to; k += 16)
      for (size_t j = 0; j < 16; j++)
        dgain[k + j] = fmaf(dy[i * d + k + j] * r[i], x[i * d + k + j],
          dgain[k + j]);
}

@ The gated unit is $a=u\,g\,\sigma(g)$. Its two gradients need $\sigma(g)$ again, and
$\bigl(g\sigma(g)\bigr)'=\sigma(g)\bigl(1+g(1-\sigma(g))\bigr)$.
@<A gate on the way back@>=
static TARGET void gate_back(const float *gate, const float *up,
  const float *dinner,
  size_t n, float *dgate, float *dup)
{
  for (size_t i = 0; i < n; i += 16) {
    float s[16], a[16];
    for (size_t j = 0; j < 16; j++) s[j] =
      1.0f / (1.0f + num_expf(-gate[i + j]));
    for (size_t j = 0; j < 16; j++) a[j] = gate[i + j] * s[j];
    for (size_t j = 0; j < 16; j++) dup[i + j] = dinner[i + j] * a[j];
    for (size_t j = 0; j < 16; j++)
      dgate[i + j] = dinner[i + j] * up[i + j]
        * fmaf(a[j], 1.0f - s[j], s[j]);
  }
}

@ The squares are summed in double. AdamW then keeps a running mean of the gradient and one
of its square, and moves each weight by their quotient.
@<Squares of a gradient, and a step of AdamW@>=
static TARGET double square(const float *g, size_t n)
{
  double lane[16] = @[{ 0 }@];
  for (size_t i = 0; i + 16 <= n; i += 16)
    for (size_t j = 0; j < 16; j++)
      lane[j] += (double) g[i + j] * (double) g[i + j];
  for (size_t i = n / 16 * 16; i < n;
  i++) lane[0] += (double) g[i] * (double) g[i];
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}

@ Each number has its own arithmetic, so a range can begin and end anywhere.
@<Squares of a gradient, and a step of AdamW@>=
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

@ A few dozen weights at a time are enough for the compiler to use whole registers. The running
mean of the weights is kept in the last stretch only.
@<Squares of a gradient, and a step of AdamW@>=
static TARGET void adam(const struct moments *a, size_t from, size_t to)
{
  size_t i = from;
  for (; i + 64 <= to; i += 64) adam_some(a, i, 64);
  adam_some(a, i, to - i);
  if (a->mean != NULL)
    for (i = from; i < to; i++)
      a->mean[i] = fmaf(a->keep, a->mean[i] - a->w[i], a->w[i]);
}


@* The check. \label{sec:slopescheck}
The program's own words.

\checkpoint{build/out/A12-slopes.txt}{the cases worked by hand, by the pieces}
