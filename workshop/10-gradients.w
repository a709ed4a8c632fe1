@i types.w
@s vec int
@s each while
@s TARGET inline
@s INLINE inline
@s restrict const

\chapterquestion{If one of a million weights were a little larger, how would the loss change? And how can one pass over the network answer that for all of them?}
@** Gradients of every operation.
\incipit{A}{ll of training} rests on one kind of number. The \emph{loss} says how badly a model predicts a text; the derivative of the loss with respect to one weight, called
the \emph{gradient} of that weight, says how fast the loss grows as the weight grows. This chapter derives the gradients, operation by operation, and writes
the loops that compute them; \cref{training} puts the loops together. From school we need the derivatives of
$x^2$, $\sqrt x$, $e^x$, $\ln x$ and $1/x$, the product rule and the chain rule. They are enough for the whole
of a language model.
@^gradient@>

\begin{byhand}{one matrix, forwards and back}
Let $y=Wx$ with $W$ of the rows $(1,2)$ and $(3,-1)$, and $x=(2,1)$. So $y=(2+2,\ 6-1)=(4,5)$. Let the
loss be the product $L=y_1y_2=20$. Where $y_1$ grows, $L$ grows by $y_2$ times as much, and the other way round; so the gradients of the loss
with respect to $y$ are $dy=(5,4)$.

\medskip
The number $x_1$ enters $y_1$ once and $y_2$ three times, so its gradient is $1\times5+3\times4=17$; that of $x_2$
is $2\times5-1\times4=6$. A weight multiplies one $x$ and is felt in one $y$: the first row of $W$ has the gradients
$(5\times2,\ 5\times1)=(10,5)$, the second $(4\times2,\ 4\times1)=(8,4)$.

\medskip
Is the 17 right? With $x_1=2.1$ we get $y=(4.1,5.3)$ and $L=21.73$; with $x_1=1.9$, $y=(3.9,4.7)$ and
$L=18.33$. The difference is $3.40$ over a distance of $0.2$, and $3.40/0.2=17$.
\end{byhand}

@ The program repeats the boxes of this chapter with the loops that trained the built-in model.

@c
#include <stdio.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"
@;@#
@<Repeat the box of the matrix@>@;
@;@#
#include "gradients/shown.inc"

@* The chain rule. \label{sec:chainrule}
We write $dx$ for the gradients of the loss with respect to $x$. If $x$ is a list of numbers, $dx$ is a list of the same length. Now let some operation
compute $y$ from $x$, and let the loss depend on $x$ only through this $y$. If $x_j$ grows by a tiny $\delta$, each $y_i$ grows by
$\delta\,\partial y_i/\partial x_j$, and the loss by $dy_i$ times that. All these effects add:
\begin{equation}\label{eq:backrule}
dx_j=\sum_i dy_i\,\frac{\partial y_i}{\partial x_j}.
\end{equation}
This is the \emph{chain rule}, and the only law of the chapter: all that remains is to apply it to one operation after the other. Three things follow from it.
@^chain rule@>

It is \emph{local}. Once we have $dy$, we need not know what comes after $y$. So each operation
can be treated on its own, the last one first, and each hands the gradients of its inputs to the operation before it. This is \emph{backpropagation}.\side{\cited[Rumelhart, Hinton and Williams 1986]{Rumelhart 1986}.} The gradients of a number that is used in two
places \emph{add}, since the sum runs over everything that $x_j$ enters; so each loop below adds to what is already there, or its comment says
that it does not. And the derivatives are taken \emph{at the $x$ of the forward pass}: the backward pass needs the rows of the forward pass, which must be
kept or computed again.
@^backpropagation@>

@ Why do we go backwards? We could also move each weight in turn and watch the loss. That takes a pass for every weight, more than a
\given{million} passes for one step of our small model. Backpropagation visits each operation
once, however many weights it has. For a matrix of $m$ weights and one row, the forward pass takes $m$ multiply--adds. On
the backward pass $dx$ takes $m$ more, and the gradients of the weights another $m$. So a
step of training costs about as much as three forward passes, and gives the gradients of all weights exactly.
@^cost of training@>

@ Three operations are so simple that they need no loop of their own. \emph{A sum} $y=x+f(x)$, as in the residual stream: by \eqref{eq:backrule}, $dx$ is
$dy$ itself plus what comes back through $f$. \emph{A look-up}, as in the embedding: the row of the table that was copied gets the gradients of
its copy, and all other rows get none; a token that occurs at two places gets the sum of both. \emph{A rotation} of a pair of numbers, as in RoPE,
is a matrix of a cosine $c$ and a sine $s$, and \eqref{eq:backrule} transposes it:
\begin{align*}
y_1&=c\,x_1-s\,x_2,&dx_1&=\phantom{-}c\,dy_1+s\,dy_2,\\
y_2&=s\,x_1+c\,x_2,&dx_2&=-s\,dy_1+c\,dy_2.
\end{align*}
The transposed matrix is the rotation by the opposite angle. So we use the engine's own kernel, with the sines negated.

\begin{byhand}{a rotation, and back}
Let $c=0.6$ and $s=0.8$. The pair $(5,10)$ becomes $(5\times0.6-10\times0.8,\ 5\times0.8+10\times0.6)=(-5,10)$. If the gradients
there are $(2,3)$, those of the pair before the rotation are $(2\times0.6+3\times0.8,\ 3\times0.6-2\times0.8)=(3.6,0.2)$.

\medskip
A check that works for every linear operation: $dy\cdot y=-2\times5+3\times10=20$, and $dx\cdot x=3.6\times5+0.2\times10=20$.
\end{byhand}

@* The backward kernels. \label{sec:slopes}
The forward pass uses the kernels of chapter 2 as they are. The backward pass needs other matrix
products, and a few loops over rows. They are collected in a table of functions, as the kernels are, and
for the same reason: each loop is written once, compiled twice, and gives the same bits with and
without the wide registers of the machine.

@(gradients.h@>=
#ifndef INCIPIT_GRADIENTS_H
#define INCIPIT_GRADIENTS_H
#include "ground/ground.h"
@<What a product is@>@;
@<What the functions are@>@;
#endif

@ The gradient of a weight of a matrix, and the gradient of an input of the matrix, are both sums of
products. We fix the order of such a sum once: the terms are added one after the other, beginning with
the first. If a sum were divided among several workers, its bits would depend on their number, and so would the trained model. So
each worker computes whole sums.
@<What a product is@>=
struct product {
  const float *a; size_t a_row, a_step;
  const float *b; size_t b_step;
  float *c; size_t c_row;
  size_t rows, terms, cols; bool add;
};
  /* $c_{ij}=\sum_k a_{ik}b_{kj}$ in rising order of $k$ by fused
     multiply--adds, from 0 or, if |add|, from what is there;
     $a_{ik}$ is |a[i*a_row+k*a_step]|,
     $b_{kj}$ is |b[k*b_step+j]|, $c_{ij}$ is |c[i*c_row+j]| */

@ The engine adds a sum in sixteen lanes (\cref{sec:order}), because it mostly has one long sum to compute and
would wait for each addition. A product of matrices is thousands of independent sums, which keep the adders busy
without lanes.

Four numbers decide how a large product is cut up. We found them by experiment, and none of them changes a bit of any
result.
@<What a product is@>=
enum { GRADIENTS_SMALL = 64, GRADIENTS_KC = 256, GRADIENTS_MC = 48, GRADIENTS_MR = 6 };
  /* products of more than |GRADIENTS_SMALL| terms are packed, |GRADIENTS_KC| terms and
     |GRADIENTS_MC| rows at a time; |GRADIENTS_MR| rows of a result go together */

@ The table begins with the two functions that take nearly all the time. The others work on one row or on a range of
numbers, so that a caller can divide the rows among its workers as it likes.
@<What the functions are@>=
@<The numbers of one step@>@;
struct gradients {
  void (*multiply)(const struct product *p, float *scratch);
    /* |scratch| has |GRADIENTS_KC*(cols+16+GRADIENTS_MC)| floats */
  void (*linear)(const float *x, size_t rows, const float *w,
    size_t in, size_t out, float *y, float *scratch);
    /* the bits of the kernel |linear| for a matrix |[out][in]|, both
       multiples of 16; |scratch| has |16*in| floats */
  @<Pieces of attention and of the loss@>@;
  @<Pieces of norms, gates and steps@>@;
};
  /* the kernels of the backward pass; all arrays belong to the caller */
extern const struct gradients gradients_plain, gradients_wide;
  /* compiled for any machine; for AVX2, if this is one */

@ The \emph{forward} pass of attention is here as well. The engine's kernel takes one row after the other, since it mostly has only
one; a trainer has hundreds at once, and computes the same sums faster in another order of work. It also keeps a maximum and a
sum for each row, which the backward pass needs.
@<Pieces of attention and of the loss@>=
  void (*softmax_block)(float *s, size_t sees, size_t n, float scale,
    float *left);
    /* scores of one block of at most 256 keys, |n| of them up to a
       multiple of 16, become exponentials; |left[0]| is the maximum and
       |left[1]| the sum of those seen */
  void (*join)(const float *left, const float *parts, size_t n,
    size_t h, float *y, float *known);
    /* joins |n| blocks of one row, |GRADIENTS_MC| rows apart in |left| and
       |parts|; |known| is the maximum and the sum over all of them */
  void (*softmax_backward)(float *s, float *g, size_t sees, size_t n,
    float scale, const float *known, const float *y,
    const float *dy, size_t h);
    /* |s| becomes weights and |g|, gradients of weights, gradients of
       scores; |known| is what |join| left, |y| what attention mixed, |dy|
       its gradient */
  double (*cross_entropy)(float *z, size_t n, uint32_t right, float share);
    /* the loss of one row of logits, which become its gradient times
       |share| */

@ Of the other functions, only |gain_backward| sums over rows. Its work is divided by columns, so that each sum stays
with one worker.
@<Pieces of norms, gates and steps@>=
  float (*norm_backward)(const float *x, const float *gain,
    const float *dy, size_t d, float *dx);
    /* adds to |dx|, and returns 1 over the root mean square */
  void (*gain_backward)(const float *x, const float *dy, const float *r,
    size_t rows, size_t d, size_t from, size_t to, float *dgain);
    /* adds to |dgain| for the columns |from| to |to|, |r| is what
       |norm_backward| returned */
  void (*swiglu_backward)(const float *gate, const float *up,
    const float *dinner, size_t n, float *dgate, float *dup);
    /* |n| is a multiple of 16; |dgate| and |dup| are written, not added to */
  double (*square)(const float *g, size_t n);
    /* sum of squares */
  void (*adam)(const struct moments *a, size_t from, size_t to);
    /* one step for the weights from |from| to |to|; the gradient becomes 0 */

@ Each of the two tables has a file, and both files include the same body after definitions of their own. The plain one leaves the fused multiply--add to the
C~library's |fmaf|, which is exact, but slow where the processor has no instruction for it. It serves as the reference for the other, and for
machines without AVX2.
@(plain.c@>=
/** The gradients in plain C: the reference, and what runs without AVX2. It defines a register of
   four numbers and its fused multiply and add, and includes the bodies that wide.c includes
   too; so the two tables have the same results to the last bit. */
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"
#define TARGET
#define WIDTH 4
#include "gradients/slopes_tools.inc"
@<Fuse and spread without wide registers@>@;
#include "gradients/slopes_bodies.inc"
const struct gradients gradients_plain = @[@<The functions of a table@>@];

@ Both tables name the same functions.

@<The functions of a table@>=
@[{ .multiply = multiply, .linear = linear, .softmax_block = softmax_block,@|
.join = join, .softmax_backward = softmax_backward,@|
.cross_entropy = cross_entropy, .norm_backward = norm_backward,@|
.gain_backward = gain_backward, .swiglu_backward = swiglu_backward,@|
.square = square, .adam = adam }@]

@ Only two operations depend on the machine: multiply and add a whole register with one rounding, and
fill a register with copies of one number.
@<Fuse and spread without wide registers@>=
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

@ The wide one has eight numbers in a register. On a machine that is not an x86-64 the file is empty, and its table is
not used.
@(wide.c@>=
/** The same with AVX2: eight numbers in a register. On other machines the file is empty and its
   table must not be named (network.c asks for the same macro). */
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "gradients/gradients.h"
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH 8
#include "gradients/slopes_tools.inc"
@<Fuse and spread with AVX2@>@;
#include "gradients/slopes_bodies.inc"
const struct gradients gradients_wide = @[@<The functions of a table@>@];
#endif

@ Here each of the two is one instruction. They round exactly as the loops of the plain module do, which is why the two tables
can be compared with |==|.
@<Fuse and spread with AVX2@>=
INLINE vec fused(vec a, vec b, vec c)
{
  return _mm256_fmadd_ps(a, b, c);
}
@#
INLINE vec spread(float x)
{
  return _mm256_set1_ps(x);
}

@ The tools are those of the kernels: a loop that the compiler unrolls completely, because an array that is
indexed by a variable cannot be kept in registers; and functions that are always inlined, since one that is called would have to
be compiled for the same target.
@(slopes_tools.inc@>=
#if defined __clang__
#define @,each(i, n) @[_Pragma("unroll")@,@, for (int i = 0; i < (n); i++)@]
#else
#define @,each(i, n) @[_Pragma("GCC unroll 16")@,@, for (int i = 0; i < (n); i++)@]
#endif
#define INLINE static inline __attribute__((always_inline)) TARGET
@[typedef __attribute__((vector_size(4 * WIDTH))) float vec@];
enum { PARTS = 16 / WIDTH };

@ A register can be loaded from any address: the compiler turns this |memcpy| into one instruction, and no
pointer promises an alignment that it does not have.
@(slopes_tools.inc@>=
INLINE vec load(const float *x)
{
  vec v;
  memcpy(&v, x, sizeof v);
  return v;
}

@ The sixteen lanes of a sum are folded by halves, as \cref{sec:order} defines it: the last eight are added to the first eight, then four to four, two to two, and one to one. These
are ordinary additions, so their order cannot depend on the width of a register.
@(slopes_tools.inc@>=
/*- by halves, in ordinary additions: the order of a sum is part of its result, and no register's
   width may decide it */
INLINE float fold(float *lane)
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}

@ The bodies are compiled once for each table.
@(slopes_bodies.inc@>=
/* The bodies of both tables; plain.c and wide.c include this after defining |TARGET|, |WIDTH|,
   |fused| and |spread|. Only loops over |PARTS| know the width of a register. Every number of a
   result has one sum with one fixed order: terms of a product from the first to the last, all
   other sums in sixteen lanes that are folded at the end. Blocks, packing and workers move
   numbers and never reorder a sum. Widths are multiples of 16 (|network_open| has checked);
   rows are any number. */
@<A tile of a product@>@;
@<Pack the two sides of a product@>@;
@<Multiply@>@;
@<Sixteen outputs with lanes in rows@>@;
@<A linear layer for many rows@>@;
@<Exponentials of a block of scores@>@;
@<Weights and scores, on the backward pass@>@;
@<The loss of one row, and its gradient@>@;
@<A norm on the backward pass@>@;
@<A gate on the backward pass@>@;
@<Squares of a gradient, and a step of AdamW@>@;

@* The gradient of a linear layer. \label{sec:slopematrix}
Let $y_i=\sum_jW_{ij}x_j$. Two derivatives are needed for \eqref{eq:backrule}. For an input, $\partial y_i/\partial x_j=W_{ij}$; so
$dx_j=\sum_idy_iW_{ij}$, a sum down a \emph{column} of the matrix where the forward pass sums along a row. For a weight, only $y_i$
contains $W_{ij}$, and $\partial y_i/\partial W_{ij}=x_j$; so $dW_{ij}=dy_i\,x_j$: every product of a gradient of the output
with a number of the input.

A pass has many rows, one for each token, and all of them use the same $W$. Their gradients add, so
$dW$ is the sum over the rows. If $X$, $Y$, $dX$ and $dY$ are the matrices of all the rows, then
\begin{equation}\label{eq:matrixback}
dX=dY\,W,\qquad dW=dY^{\mathsf T}X.
\end{equation}
Neither product needs a transposed copy in memory: the strides of a |struct product| say in which direction a matrix is read.
@^gradient of a matrix@>

@ A product is computed in tiles: six rows and sixteen columns of the result stay in registers until all their terms have been added. Each
term costs a load of sixteen numbers of $b$ and of six single ones of $a$, and twelve multiply--adds of eight numbers each. A smaller tile would wait for memory, and a larger one
would not fit into the sixteen registers.
@<A tile of a product@>=
/*- It begins with what is in c and adds to it, so a product whose terms are cut in pieces has
   the same sums as in one. rows is a constant wherever this is inlined, or the array could
   not be in registers. */
INLINE void tile(int rows, const float *a, size_t a_row, size_t a_step,
  const float *b, size_t b_step, size_t terms, float *c, size_t c_row)
{
  vec s[GRADIENTS_MR][PARTS];
  each(r, rows) each(p, PARTS) s[r][p] =
    load(c + (size_t) r * c_row + p * WIDTH);
  for (size_t k = 0; k < terms; k++, a += a_step, b += b_step) {
    @<Add term |k| to every number of the tile@>@;
  }
  each(r, rows) each(p, PARTS)
    memcpy(c + (size_t) r * c_row + p * WIDTH, &s[r][p], sizeof(vec));
}

@ The tile starts from what the result holds and is written back whole, so the terms can be added in several
batches: each continues where the last one stopped, with the same additions in the same order.
@<Add term |k| to every number of the tile@>=
vec v[PARTS];
each(p, PARTS) v[p] = load(b + p * WIDTH);
each(r, rows) {
  float one = a[(size_t) r * a_row];
  vec x = spread(one);
  each(p, PARTS) s[r][p] = fused(x, v[p], s[r][p]);
}

@ Numbers whose addresses differ by a power of two compete for the same few lines of the processor's cache. So a product of many terms first
\emph{packs} a panel of each side: it copies the numbers to a place where they are neighbours. The copy is made once and read many times: a panel of $b$ by every
strip of rows.
@<Pack the two sides of a product@>=
/*- Panels of sixteen columns, each read from top to bottom: the tile then reads one stream. */
static TARGET void pack_b(const struct product *p, size_t k0,
  size_t depth, float *to)
{
  for (size_t j = 0; j + 16 <= p->cols; j += 16)
    for (size_t k = 0; k < depth; k++, to += 16)
      memcpy(to, p->b + (k0 + k) * p->b_step + j, 16 * sizeof *to);
}

@ The other side is cut into tiles of six rows, and within a tile the six numbers of one term become neighbours. In $dW=dY^{\mathsf T}X$ they
are neighbours already, because the matrix is read by its columns; then six are copied at once.
@<Pack the two sides of a product@>=
/*- Groups of six rows, term by term. If the rows are next to each other in memory (a transposed
   matrix), six are copied at once. */
static TARGET void pack_a(const struct product *p, size_t i0,
  size_t rows, size_t k0, size_t depth, float *to)
{
  const float *a = p->a + i0 * p->a_row + k0 * p->a_step;
  for (size_t k = 0; k < depth; k++, a += p->a_step) {
    size_t r = 0;
    for (; p->a_row == 1 && r + GRADIENTS_MR <= rows; r += GRADIENTS_MR)
      memcpy(to + r * depth + k * GRADIENTS_MR, a + r, GRADIENTS_MR * sizeof *to);
    for (; r < rows; r++)
      to[r / GRADIENTS_MR * GRADIENTS_MR * depth + k * GRADIENTS_MR + r
        % GRADIENTS_MR] = a[r * p->a_row];
  }
}

@ A strip is a few rows of $a$, to be multiplied with all columns of $b$. Its strides take care of whether the two sides were packed,
so the code that follows has one form for all cases.
@<Multiply@>=
struct strip { const float *a; size_t a_row, a_step, a_tile;
  const float *b; size_t b_step, b_panel, depth; };

@ For each panel of sixteen columns we go through the strip tile by tile, so that the panel
stays in the nearest cache. Rows that do not fill a tile are taken one at a time, with the same
terms in the same order.
@<Multiply@>=
/*- Rows that do not fill a tile go one by one; the tile of one row adds in the same order. */
static TARGET void strip_rows(const struct product *p,
  const struct strip *s, size_t rows, float *c)
{
  for (size_t j = 0; j + 16 <= p->cols; j += 16) {
    const float *b = s->b + j / 16 * s->b_panel;
    size_t i = 0;
    for (; i + GRADIENTS_MR <= rows; i += GRADIENTS_MR)
      tile(GRADIENTS_MR, s->a + i / GRADIENTS_MR * s->a_tile, s->a_row, s->a_step, b,
        s->b_step, s->depth, c + i * p->c_row + j, p->c_row);
    for (; i < rows; i++)
      tile(1, s->a + i / GRADIENTS_MR * s->a_tile + i % GRADIENTS_MR * s->a_row,
        s->a_row, s->a_step, b, s->b_step, s->depth,
        c + i * p->c_row + j, p->c_row);
  }
}

@ The last columns, if there are fewer than sixteen left, are summed one by one. All widths of our own model are multiples of
sixteen, but those of the small networks of the tests are not.
@<Multiply@>=
/*- what is left of a width that is no multiple of 16, term by term as in a tile */
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

@ Whether a side is packed depends on the shapes alone, and never changes a bit of the result: packing
moves numbers and does not add them. It does not pay for short sums, nor for $b$ when a single strip would read the
copy, nor for an $a$ whose terms are neighbours already. (But then their rows may be so far apart that the copy pays after all.)
@<Multiply@>=
/*- What is packed depends on the shape alone: short products are not worth a copy, and a matrix
   that is read along its memory needs none. Packing changes speed and no bit. The scratch has
   the panels of b first, then those of a. */
static TARGET void multiply(const struct product *p, float *scratch)
{
  bool deep = p->terms > GRADIENTS_SMALL;
  bool packs_b = deep && p->rows > GRADIENTS_MC;
  bool packs_a = deep && (p->a_step != 1 || (packs_b && p->a_row > 1000));
  for (size_t i = 0; !p->add && i < p->rows; i++)
    memset(p->c + i * p->c_row, 0, p->cols * sizeof *p->c);
  size_t max = packs_a || packs_b ? GRADIENTS_KC : p->terms;
  float *b = scratch, *a = scratch + GRADIENTS_KC * (p->cols + 16);
  for (size_t k0 = 0; k0 < p->terms; k0 += max) {
    @<Add |max| terms, or those that are left@>@;
  }
  last_columns(p);
}

@ If a side is packed, a batch has at most |GRADIENTS_KC| terms, so that a packed panel fits into the cache. The result is read and
written once for each batch, which costs little beside the multiplications.
@<Add |max| terms, or those that are left@>=
size_t depth = p->terms - k0 < max ? p->terms - k0 : max;
struct strip s = @[{ NULL, p->a_row, p->a_step, GRADIENTS_MR * p->a_row, b,
  16, 16 * depth, depth }@];
if (packs_b) pack_b(p, k0, depth, b);
else {
  s.b = p->b + k0 * p->b_step;
  s.b_step = p->b_step;
  s.b_panel = 16;
}
@<Go through the rows strip by strip@>@;

@ A strip of 48 rows is packed, if necessary, and then multiplied with every panel. It is eight tiles, which stay
in the cache meanwhile.
@<Go through the rows strip by strip@>=
for (size_t i = 0; i < p->rows; i += GRADIENTS_MC) {
  size_t rows = p->rows - i < GRADIENTS_MC ? p->rows - i : GRADIENTS_MC;
  if (packs_a) {
    pack_a(p, i, rows, k0, depth, a);
    s.a = a, s.a_row = 1;
    s.a_step = GRADIENTS_MR, s.a_tile = GRADIENTS_MR * depth;
  }
  else s.a = p->a + i * p->a_row + k0 * p->a_step;
  strip_rows(p, &s, rows, p->c + i * p->c_row);
}

@* Forward, for many rows. \label{sec:manyrows}
The linear kernel of chapter 2 is made for few rows and long sums: it keeps the sixteen
lanes of a sum in a register and folds them at the end. A trainer has a \given{thousand} rows and sums of
\given{128} terms, eight to a lane, so the kernel would spend as long on folding as on multiplying. Yet the trainer's pass must give
the engine's bits; otherwise we would train one function and use another.

So we keep the sums and change the layout. Each
lane becomes a tile of its own, of six rows and sixteen \emph{outputs}, and folding means adding whole
tiles, element by element. Each sum has the same terms, added in the
same tree as before, and therefore the same bits.

@<Sixteen outputs with lanes in rows@>=
/* one lane of the sums: every sixteenth input from |x| on, for sixteen outputs at once */
INLINE void one_lane(int rows, const float *x, size_t n,
  const float *panel, vec a[GRADIENTS_MR][PARTS])
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

@ Sixteen tiles at once would not fit into the registers. But the fold adds lane 8 to lane 0, 12 to 4, and then those two sums. So
we compute the lanes in the order 0, 8, 4, 12, 2, \dots, and add two as soon as
both are there. That order is the numbers from 0 to 15 with their four bits reversed, and
at most four tiles wait for their partner.
@<Sixteen outputs with lanes in rows@>=
/*- The kernels' linear layer adds sixteen lanes and folds them by halves. Here lanes come one at
   a time, so they are taken in the order in which the fold joins them (the bits of i
   reversed), and a finished half waits in part: four levels, like carrying in a binary
   counter. So training computes the bits that generation will. */
INLINE void lanes_tile(int rows, const float *x, size_t n,
  const float *panel, float *y, size_t y_row)
{
  vec a[GRADIENTS_MR][PARTS], part[4][GRADIENTS_MR][PARTS];
  each(i, 16) {
    int j = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | i >> 3;
    one_lane(rows, x + j, n, panel + 16 * j, a);
    @<Carry the finished lane@>@;
  }
  each(r, rows) each(p, PARTS)
    memcpy(y + (size_t) r * y_row + p * WIDTH, &a[r][p], sizeof(vec));
}

@ This works like counting in binary. A finished lane waits at the lowest level; if one waits there already, the two are added and their
sum goes one level up, as a carry does. The earlier one is the left term, as in the definition, though the sum of two floats does not depend on
their order. All indices are known to the compiler, so the tiles stay in registers where there is room.
@<Carry the finished lane@>=
each(level, 4) {
  if ((~i & ((1 << level) - 1)) != 0) continue;
  each(r, rows) each(p, PARTS) {
    if ((i >> level & 1) != 0) a[r][p] = part[level][r][p] + a[r][p];
    else part[level][r][p] = a[r][p];
  }
}

@ The weights of sixteen outputs are transposed first, so that the sixteen weights of one term are
neighbours. This costs as much as the multiplications of one row, and there are hundreds of rows.
@<A linear layer for many rows@>=
/*- sixteen outputs are turned once and then serve all rows */
static TARGET void linear(const float *x, size_t rows, const float *w,
  size_t in, size_t out, float *y, float *scratch)
{
  for (size_t o = 0; o < out; o += 16) {
    for (size_t j = 0; j < 16; j++)
      for (size_t k = 0; k < in; k++)
        scratch[16 * k + j] = w[(o + j) * in + k];
    size_t i = 0;
    for (; i + GRADIENTS_MR <= rows; i += GRADIENTS_MR)
      lanes_tile(GRADIENTS_MR, x + i * in, in, scratch, y + i * out + o, out);
    for (; i < rows; i++)
      lanes_tile(1, x + i * in, in, scratch, y + i * out + o, out);
  }
}

@ Attention takes the scores of one row in blocks of at most \given{256} keys. With a block we do exactly what the
engine's kernel does (\cref{sec:attention}): the maximum, the exponentials in groups of sixteen,
their sum in lanes. A maximum has no rounding, so its order is free; like the engine's it is never below the smallest finite number.
@<Exponentials of a block of scores@>=
/*- the order of a maximum does not matter */
INLINE float largest(const float *z, size_t n)
{
  float lane[16], max = -FLT_MAX;
  for (int j = 0; j < 16; j++) lane[j] = max;
  for (size_t t = 0; t + 16 <= n; t += 16)
    for (size_t j = 0; j < 16; j++)
      lane[j] = z[t + j] > lane[j] ? z[t + j] : lane[j];
  for (int j = 0; j < 16; j++) max = lane[j] > max ? lane[j] : max;
  for (size_t t = n / 16 * 16; t < n; t++)
    max = z[t] > max ? z[t] : max;
  return max;
}

@ A row sees no key after its own position. The scores of such keys become $-\infty$ before the maximum is taken, and their exponentials are 0. So the last group of
sixteen needs no special case: adding 0 does not change a sum of exponentials.
@<Exponentials of a block of scores@>=
/*- Scores that the row does not see become minus infinity, and their exponentials exactly 0:
   they stay in the sums without changing a bit. left keeps the maximum and the sum, for
   join. */
static TARGET void softmax_block(float *s, size_t sees, size_t n, float scale,
  float *left)
{
  float lane[16] = @[{ 0 }@];
  for (size_t t = 0; t < n; t += 16)
    for (size_t j = 0; j < 16; j++) s[t + j] *= scale;
  for (size_t t = sees; t < n; t++) s[t] = -INFINITY;
  float max = largest(s, n);
  for (size_t g = 0; g < n; g += 16) {
    float z[16];
    for (int j = 0; j < 16; j++)
      z[j] = num_expf(s[g + (size_t) j] - max);
    for (int j = 0; j < 16; j++) lane[j] += z[j];
    memcpy(s + g, z, sizeof z);
  }
  left[0] = max, left[1] = fold(lane);
}

@ Each block has its own maximum $m_b$, and so its exponentials have a scale of their own. With
$m$ the largest of the maxima, the factor $e^{m_b-m}$ brings block $b$ to the common scale: its sum of exponentials and its weighted sum of values are
multiplied by it and added, in rising order of the blocks, as in the engine. At the end the sum of values is divided by the sum of exponentials.
@<Exponentials of a block of scores@>=
/*- Blocks of 256 positions are brought to a common maximum and added from the first to the last,
   as the kernels do. known, maximum and sum, is all that the way back needs to make the
   weights again. */
static TARGET void join(const float *left, const float *parts,
  size_t n, size_t h, float *y, float *known)
{
  float m = -INFINITY, l = 0;
  for (size_t b = 0; b < n; b++) {
    float max = left[2 * b * GRADIENTS_MC];
    m = max > m ? max : m;
  }
  for (size_t c = 0; c < h; c++) y[c] = 0;
  for (size_t b = 0; b < n; b++) {
    @<Bring block |b| down to the common maximum, and add it@>@;
  }
  for (size_t c = 0; c < h; c += 16)
    for (size_t j = 0; j < 16; j++) y[c + j] = y[c + j] / l;
  known[0] = m, known[1] = l;
}

@ The block with the largest maximum has the factor 1. The factor of a block far below it is near 0, as its weights should be.
@<Bring block |b| down to the common maximum, and add it@>=
const float *o = parts + b * GRADIENTS_MC * h;
float w = num_expf(left[2 * b * GRADIENTS_MC] - m);
l = fmaf(left[2 * b * GRADIENTS_MC + 1], w, l);
for (size_t c = 0; c < h; c += 16)
  for (size_t j = 0; j < 16; j++)
    y[c + j] = fmaf(o[c + j], w, y[c + j]);

@* The gradient of softmax. \label{sec:softmaxback}
Attention turns scores $s_i$ into weights $p_i=e^{s_i}/S$, with $S=\sum_je^{s_j}$. How does $p_i$ change with a score? The quotient rule has two cases.
If $j\ne i$, only $S$ contains $s_j$, and $\partial p_i/\partial s_j=-e^{s_i}e^{s_j}/S^2=-p_ip_j$: what one weight gains,
the others lose. If $j=i$, the numerator grows too, which adds $e^{s_i}/S=p_i$. Now let $g_i$ be the gradients that come back
for the weights. By the chain rule,
\begin{equation}\label{eq:softmaxback}
ds_j=\sum_ig_i\,\frac{\partial p_i}{\partial s_j}=p_jg_j-\sum_ig_i\,p_ip_j=p_j\Bigl(g_j-\sum_ip_ig_i\Bigr).
\end{equation}
So the gradient of a score is its weight times the difference between $g_j$ and the weighted mean of all the $g_i$. The
gradients of all scores of a row add up to 0.
@^softmax@>

\begin{byhand}{three keys, one look}
The scores are $\ln3$, $\ln2$ and $0$, their exponentials 3, 2 and 1, the sum 6; so the weights are
$1/2$, $1/3$ and $1/6$. The values are $6$, $0$ and $12$, and attention mixes $6\times1/2+0\times1/3+12\times1/6=5$.

\medskip
Let the gradient with respect to the mixture be 1. Then $g$ is the values themselves, their average under the weights is the $5$ just found, and the scores get
$1/2\times(6-5)=1/2$, $1/3\times(0-5)=-5/3$ and $1/6\times(12-5)=7/6$. Together: $3/6-10/6+7/6=0$.
\end{byhand}

@ In the box the average of the gradients was the mixture itself, and that is no accident. The mixture is $y=\sum_ip_iv_i$, so $g_i=dy\cdot v_i$, and
$$\sum_ip_ig_i=dy\cdot\sum_ip_iv_i=dy\cdot y.$$
The sum over all keys in \eqref{eq:softmaxback} is one short dot product of two rows that we have anyway. Nor need we keep the weights, of which a text of
$n$ tokens has about $n^2/2$ for each head and layer. We compute the scores again, which takes one more product, and then $p_i=e^{s_i-m}/l$ from the maximum $m$ and the sum $l$
that |join| left.
@<Weights and scores, on the backward pass@>=
/*- The weights are computed again from the scores and not kept: they would take memory in the square
   of the length. mean is the sum of weights times gradients; it is y times dy, which needs no pass
   over the positions. */
static TARGET void softmax_backward(float *s, float *g, size_t sees,
  size_t n, float scale, const float *known, const float *y,
  const float *dy, size_t h)
{
  float max = known[0], part = 1.0f / known[1], lane[16] = @[{ 0 }@];
  for (size_t c = 0; c < h; c += 16)
    for (size_t j = 0; j < 16; j++)
      lane[j] = fmaf(y[c + j], dy[c + j], lane[j]);
  float mean = fold(lane);
  for (size_t t = sees; t < n; t++) s[t] = -INFINITY;
  for (size_t t = 0; t < n; t += 16) {
    @<Weigh sixteen scores again, and turn their gradients@>@;
  }
}

@ The scores were scaled before the exponentials were taken, $s=\alpha\,q\cdot k$, so the gradient with respect to $q\cdot k$ has the factor
$\alpha$ as well. Keys that the row does not see have the weight 0, and therefore the gradient 0, whatever |g| holds.
@<Weigh sixteen scores again, and turn their gradients@>=
float p[16], d[16];
memcpy(p, s + t, sizeof p);
memcpy(d, g + t, sizeof d);
for (int j = 0; j < 16; j++)
  p[j] = num_expf(p[j] * scale - max) * part;
for (int j = 0; j < 16; j++) d[j] = p[j] * (d[j] - mean) * scale;
memcpy(s + t, p, sizeof p);
memcpy(g + t, d, sizeof d);

@ The loss of a row is $L=-\ln p_r$, where $r$ is the token that really came next and $p$ is the softmax of the logits $z$. The gradients with respect to the probabilities are $g_r=-1/p_r$ and 0 for all
others. In \eqref{eq:softmaxback} the average is $p_r\cdot(-1/p_r)=-1$, so $dz_j=p_j(0+1)=p_j$ for the others and
$p_r(-1/p_r+1)=p_r-1$ for the right one: the probabilities, less 1 at the right token. The box at the
beginning of \cref{training} has an example.

The loss itself is computed as $L=\ln\sum_ve^{z_v-m}-(z_r-m)$ with $m$ the largest logit, so that no exponential overflows. The sum has thousands of small
terms beside one near 1. It is kept in double, because we will compare the loss with an entropy to several digits.
@<The loss of one row, and its gradient@>=
INLINE float exponential_of(const float *z, size_t i, size_t n,
  float max)
{
  return i < n ? num_expf(z[i] - max) : 0;
}

@ The loss is computed last, when the gradients have replaced the logits; so the largest logit and that of the right token are remembered. |share| is the part of the whole loss that one row
counts for, and the gradient is multiplied by it here, where it enters the network.
@<The loss of one row, and its gradient@>=
/*- z becomes its own gradient. The sum is in double, for it has as many terms as the
   vocabulary. share is one part of the batch, so gradients of several passes can be added. */
static TARGET double cross_entropy(float *z, size_t n, uint32_t right,
  float share)
{
  float max = largest(z, n), own = z[right];
  double lane[16] = @[{ 0 }@];
  for (size_t i = 0; i < n; i += 16) {
    @<Make sixteen logits exponentials, and sum them@>@;
  }
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  float each_one = share / (float) lane[0];
  for (size_t i = 0; i < n; i++) z[i] *= each_one;
  z[right] -= share;
  return num_log(lane[0]) - ((double) own - (double) max);
}

@ The exponentials are taken in groups of sixteen; if the vocabulary is not a multiple of sixteen, the last
group is filled up with zeros, and only what belongs to the row is written back.
@<Make sixteen logits exponentials, and sum them@>=
float e[16];
if (i + 16 <= n) for (size_t j = 0; j < 16; j++)
  e[j] = num_expf(z[i + j] - max);
else for (size_t j = 0; j < 16; j++)
  e[j] = exponential_of(z, i + j, n, max);
for (size_t j = 0; j < 16; j++) lane[j] += (double) e[j];
memcpy(z + i, e, (n - i < 16 ? n - i : 16) * sizeof *z);

@* The gradient of a norm. \label{sec:normback}
The norm is $y_k=\gamma_kx_kr$ with $r=1/\sqrt{m+\epsilon}$, where $m=\frac1d\sum_kx_k^2$ is the mean square. An input affects the outputs in two ways: directly,
and through $r$, which all outputs share. For the second, $\partial m/\partial x_j=2x_j/d$, and the derivative of $(m+\epsilon)^{-1/2}$ is
$-\frac12(m+\epsilon)^{-3/2}=-\frac12r^3$; so $\partial r/\partial x_j=-r^3x_j/d$. Write $t_k=\gamma_k\,dy_k$ for the gradients before the gain. Then
\begin{equation}\label{eq:normback}
dx_j=t_jr+\sum_kt_kx_k\,\frac{\partial r}{\partial x_j}
=r\Bigl(t_j-x_j\,r^2\,\frac1d\sum_kt_kx_k\Bigr).
\end{equation}
The second term has a meaning. A norm gives the same for $x$ and for $2x$, so
the derivative in the direction of $x$ has to be 0. What is subtracted is just the part of $t$ that points in this direction.
@^norm@>

\begin{byhand}{two numbers, normed}
Let $x=(1,7)$, $\gamma=(2,1)$, $\epsilon=0$. The mean square is $(1+49)/2=25$ and $r=1/5=0.2$. Let $dy=(5,10)$. Then
$t=(2\times5,\ 1\times10)=(10,10)$, the mean of $tx$ is $(10+70)/2=40$, and $r^2$ times it is $40/25=1.6$. So
$dx=(0.2\times(10-1.6),\ 0.2\times(10-11.2))=(1.68,-0.24)$.

\medskip
Along $x$ itself: $1.68\times1-0.24\times7=0$. The gains get $5\times1\times0.2=1$ and $10\times7\times0.2=14$.
\end{byhand}

@ The first loop computes two sums over the row, and the second uses them. The result is added to what is there, because $x$ is the
residual stream, which has another gradient already. With $\epsilon$ in the root, the derivative in the direction of $x$ is
not quite 0, but the formula is still exact, since $r$ contains $\epsilon$.
@<A norm on the backward pass@>=
/*- adds to dx, where the residual stream's gradient is already; returns the factor of the row,
   for gain_backward */
static TARGET float norm_backward(const float *x, const float *gain,
  const float *dy, size_t d, float *dx)
{
  float square[16] = @[{ 0 }@], along[16] = @[{ 0 }@];
  for (size_t k = 0; k < d; k += 16)
    for (size_t j = 0; j < 16; j++) {
      square[j] = fmaf(x[k + j], x[k + j], square[j]);
      along[j] = fmaf(dy[k + j] * gain[k + j], x[k + j], along[j]);
    }
  float r = 1.0f / sqrtf(fold(square) / (float) d + 1e-5f);
  float pull = fold(along) * r * r / (float) d;
  @<Add the gradients of the norm to |dx|@>@;
  return r;
}

@ Here |pull| is the factor of $x_j$ in \eqref{eq:normback}, the same for the whole row.
@<Add the gradients of the norm to |dx|@>=
for (size_t k = 0; k < d; k += 16)
  for (size_t j = 0; j < 16; j++) {
    float t = fmaf(-pull, x[k + j], dy[k + j] * gain[k + j]);
    dx[k + j] = fmaf(r, t, dx[k + j]);
  }

@ A gain belongs to one column and serves every row, so its gradient is the sum of $dy_k\,x_k\,r$ over the rows, each with its own $r$. A worker takes
some of the columns and all of the rows.
@<A norm on the backward pass@>=
/*- Workers divide columns and not rows: each sum over the rows belongs to one worker. */
static TARGET void gain_backward(const float *x, const float *dy,
  const float *r, size_t rows, size_t d, size_t from, size_t to,
  float *dgain)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t k = from; k < to; k += 16)
      for (size_t j = 0; j < 16; j++)
        dgain[k + j] = fmaf(dy[i * d + k + j] * r[i], x[i * d + k + j],
          dgain[k + j]);
}

@* The gradient of a gated unit. \label{sec:gateback}
The gated unit (SwiGLU) computes $a=u\,g\,\sigma(g)$ from a gate $g$ and its partner $u$, with $\sigma(g)=1/(1+e^{-g})$. For the partner it is a
mere product, and $du=da\cdot g\,\sigma(g)$. For the gate we need $\sigma'$. The derivative of $1/f$ is $-f'/f^2$:
$$\sigma'(g)=\frac{e^{-g}}{(1+e^{-g})^2}=\frac1{1+e^{-g}}\cdot\frac{e^{-g}}{1+e^{-g}}=\sigma(g)\bigl(1-\sigma(g)\bigr).$$
With the product rule, $(g\,\sigma)'=\sigma+g\,\sigma(1-\sigma)$, and so
\begin{equation}\label{eq:gateback}
dg=da\cdot u\cdot\bigl(\sigma+g\,\sigma\,(1-\sigma)\bigr),\qquad du=da\cdot g\,\sigma.
\end{equation}
\Cref{fig:silu}\lab{lab:slopesprints} shows both curves. The slope is above 1 for some gates and below 0 for others. Where
the gate is shut, far to the left, both curves are 0, and neither the gate nor its partner learns anything from that token.
@^gate@>

\fig{silu}{fig:silu}{The gate $g\,\sigma(g)$, and its slope, by which the backward pass multiplies the gradients. The dotted lines are 0 and 1; the slope falls below 0
on the left and rises above 1 on the right.}{A plot from minus 6 to 6. One curve lies at 0 on the left, dips a little below it, passes through 0 and rises like
a straight line. The other, its slope, is 0 on the far left, dips below 0, is one half in the middle, rises a little above 1, and ends at 1.}

\begin{byhand}{one gate and its partner}
Let $\sigma=0.75$, which is the gate $g=\ln3$, about $1.10$; $u=3$ and $da=2$. Then $g\,\sigma=1.10\times0.75=0.825$ and $du=2\times0.825=1.65$. The
slope of the curve is $0.75+0.825\times0.25=0.95625$, about $0.956$, and $dg=2\times3\times0.956=5.736$.
\end{byhand}

@ In the code |s| is $\sigma$ and |a| is $g\,\sigma$. Neither was kept on the forward pass: computing an
exponential again is cheaper than keeping a row for every layer.
@<A gate on the backward pass@>=
/*- the sigmoid is computed again and was not kept */
static TARGET void swiglu_backward(const float *gate, const float *up,
  const float *dinner, size_t n, float *dgate, float *dup)
{
  for (size_t i = 0; i < n; i += 16) {
    float s[16], a[16];
    for (size_t j = 0; j < 16; j++)
      s[j] = 1.0f / (1.0f + num_expf(-gate[i + j]));
    for (size_t j = 0; j < 16; j++) a[j] = gate[i + j] * s[j];
    for (size_t j = 0; j < 16; j++) dup[i + j] = dinner[i + j] * a[j];
    for (size_t j = 0; j < 16; j++)
      dgate[i + j] = dinner[i + j] * up[i + j]
        * fmaf(a[j], 1.0f - s[j], s[j]);
  }
}

@* AdamW. \label{sec:adam}
Once all gradients are known, each weight is moved a little against its own gradient, so that the loss falls. How far? A plain multiple of the gradient treats all weights alike, but the gradients of an embedding
row that was used once and of a gain that every row passes through differ by orders of magnitude. AdamW measures each weight's step by that weight's own
gradients.\side{\cited[Kingma and Ba 2015]{Kingma 2015}; \cited[Loshchilov and Hutter 2019]{Loshchilov 2019}.} It keeps two running means for each weight, of the gradient and of its square:
$$m_t=\beta_1m_{t-1}+(1-\beta_1)\,g_t,\qquad v_t=\beta_2v_{t-1}+(1-\beta_2)\,g_t^2,$$
starting from $m_0=v_0=0$, and moves the weight by $m/\sqrt v$, times a small \emph{learning rate}. If all gradients were a \given{thousand} times larger, the quotient would be the same. A gradient that
stays about the same gives a quotient near 1; one that keeps changing its sign gives $m$ near 0, and the weight stays.
@^AdamW@>

Because both means begin at 0, they are too small at first, and we know by how much. Insert the definition into itself: after $t$ steps the
coefficients of all the $g$ in $m_t$ sum to $(1-\beta_1)(1+\beta_1+\cdots+\beta_1^{t-1})=1-\beta_1^t$, and those of a mean should sum to 1. So $m_t$ is divided by
$1-\beta_1^t$, and $v_t$ by $1-\beta_2^t$.

To the quotient AdamW adds a small multiple of the weight itself. This is \emph{weight decay}: it pulls weights that the loss does not need towards 0.

\begin{byhand}{one weight, two steps}
Let $\beta_1=0.9$, $\beta_2=0.95$, the rate $0.1$, and $w=1$ with the decay $0.1$. The first gradient is $4$. Then $m=0.1\times4=0.4$
and $v=0.05\times16=0.8$; divided by $0.1$ and $0.05$ they are $4$ and $16$; the move is $4/4=1$, as for \emph{every} first gradient. The decay
adds $0.1\times1=0.1$, and $w=1-0.1\times1.1=0.89$.

\medskip
The second gradient is $2$. Now $m=0.9\times0.4+0.1\times2=0.56$ and $v=0.95\times0.8+0.05\times4=0.96$. They are divided by
$1-0.81=0.19$ and $1-0.9025=0.0975$, which gives $2.947$ and $9.846$, whose root is $3.138$. The move is $2.947/3.138=0.939$, the decay
adds $0.089$, and $w=0.89-0.1\times1.028=0.7872$.
\end{byhand}

@ A struct has the numbers of one step: |fix1| and |fix2| are the factors that correct the two means, |scale| shortens the gradient, and |rate| is the learning rate. The running mean
of the \emph{weights}, with its factor |keep|, belongs to the last phase of a run and is explained in \cref{sec:plan}.
@<The numbers of one step@>=
struct moments { float *w, *g, *first, *second, *mean; const bool *decays;
  float rate, scale, fix1, fix2, keep; };
  /* weights and gradients, the two moments, the running mean of the weights or
     null; the numbers of one step of AdamW */

@ Before a step we need the norm of the whole gradient, to scale it down if it is too large. The squares of a \given{million}
small numbers are summed in double, since in a float most of them would be lost to rounding.
@<Squares of a gradient, and a step of AdamW@>=
/*- in double and in sixteen lanes; the caller adds blocks whose number does not depend on the
   workers */
static TARGET double square(const float *g, size_t n)
{
  double lane[16] = @[{ 0 }@];
  for (size_t i = 0; i + 16 <= n; i += 16)
    for (size_t j = 0; j < 16; j++)
      lane[j] += (double) g[i + j] * (double) g[i + j];
  for (size_t i = n / 16 * 16; i < n; i++)
    lane[0] += (double) g[i] * (double) g[i];
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}

@ Each weight is moved independently of the others, so a range can begin and end anywhere. A running mean
$\beta m+(1-\beta)g$ is written $g+\beta(m-g)$: one multiply--add, and exact where $m=g$. The $10^{-8}$ prevents a division by 0 for a weight that has never had a gradient.
The decay is added \emph{after} the division; as a part of the gradient it would be divided too, and rarely used
weights would decay fastest. Only matrices decay. Gains do not: their neutral value is 1.
@^weight decay@>
@<Squares of a gradient, and a step of AdamW@>=
/*- Each weight for itself, so any division among workers gives the same bits. The gradient is
   set to 0 here, for the next step adds to it. Decay is added to the move and not to the
   gradient: that is the W of AdamW. A moment is written so that it
   stays where it is once it has reached the gradient. */
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

@ We move sixty-four weights at a time, because a loop of constant length makes the compiler use whole registers. The gradients have been set to 0 on the way, and the next step
adds to them.
@<Squares of a gradient, and a step of AdamW@>=
/*- mean is the running mean of the weights, if there is one; keep is 0 in its first step */
static TARGET void adam(const struct moments *a, size_t from, size_t to)
{
  size_t i = from;
  for (; i + 64 <= to; i += 64) adam_some(a, i, 64);
  adam_some(a, i, to - i);
  if (a->mean != NULL)
    for (i = from; i < to; i++)
      a->mean[i] = fmaf(a->keep, a->mean[i] - a->w[i], a->w[i]);
}

@* The boxes, recomputed. \label{sec:slopesboxes}
The program prints one line for each of five boxes of this chapter. Here is the first; the others are in \.{unwoven/gradients/shown.inc}.

@<Repeat the box of the matrix@>=
static void box_matrix(void)
{
  static float scratch[GRADIENTS_KC * (2 + 16 + GRADIENTS_MC)];
  float w[4] = @[{ 1, 2, 3, -1 }@], x[2] = @[{ 2, 1 }@];
  float dy[2] = @[{ 5, 4 }@], dx[2], dw[4];
  struct product down = @[{ .a = dy, .a_row = 2, .a_step = 1, .b = w,
    .b_step = 2, .c = dx, .c_row = 2, .rows = 1, .terms = 2,
    .cols = 2 }@];
  gradients_plain.multiply(&down, scratch);
  struct product own = @[{ .a = dy, .a_row = 1, .a_step = 2, .b = x,
    .b_step = 2, .c = dw, .c_row = 2, .rows = 2, .terms = 1,
    .cols = 2 }@];
  gradients_plain.multiply(&own, scratch);
  printf("box 1, matrix: dx %g %g, dW %g %g %g %g\n", (double) dx[0],
    (double) dx[1], (double) dw[0], (double) dw[1], (double) dw[2],
    (double) dw[3]);
}

@ These are the numbers that we found by hand.

\checkpoint{build/out/gradients.txt}{the boxes, recomputed}

@* Checking gradients by finite differences. \label{sec:slopescheck}
A derivation can be wrong on paper, and a loop in the code. Both errors are found by a \emph{gradient check}, which measures the slope of the loss itself. Move one input by $h$ to
either side; then
$$\frac{L(x+h)-L(x-h)}{2h}=L'(x)+\frac{h^2}6L'''(x)+\cdots,$$
since in the series of $L(x\pm h)$ the even terms cancel. This takes two forward passes for each input: far too slow for
training, but just right for a check.
@^gradient check@>

How large should $h$ be? The error of the formula falls with $h^2$; but the two losses are rounded, their difference
is not more exact than they are, and it is divided by a smaller and smaller $2h$. \Cref{fig:steps} shows both effects. With the losses in double the best step gives
\val[1]{slopes.digits.double} correct digits; with the same losses rounded to single precision, no step gives more than \val[1]{slopes.digits.single}. A gradient check in
float cannot tell a small mistake from rounding. So the laboratory checks the functions against plain loops in double,\lab{lab:slopesdifferences} written from the formulas of the forward pass
alone.

\fig{steps}{fig:steps}{The error of a difference quotient against the step, for the gradients of a row's loss. The error of a one-sided difference falls with the step, that of a two-sided one with its
square, until rounding takes over and the error rises again: sooner if the losses are floats.}{A plot with logarithmic axes, the
step from one half on the left to a billionth of 1 on the right, the error upwards. Three curves fall from the left. The steepest reaches its lowest point between ten and
eleven digits, turns, and rises to the right. The curve to one side falls half as steeply. The curve of floats turns first, at about five digits, and rises to no digit at all.}

@ A float has a rounding error of some hundredths of a millionth of its size, so a correct function is off by about as much. (The matrix is exact here, because its numbers are multiples of
an eighth and their products need no rounding.) With a forgotten factor or a wrong sign, a gradient is off by
a large part of itself. The gap between the two is wide, so the limit of the check need not be finely chosen. The largest error of all \val{slopes.count} gradients\lab{lab:slopesdifferences} is \val[2]{slopes.worst} millionths.

@ This check does not notice a function that is called with the wrong rows. For that the whole network has to be checked, which
\cref{sec:trainingcheck} does tensor by tensor. \Cref{tab:gradients} shows eleven of its results: the embedding, the nine tensors of the first layer, and the
last gain.

\begin{table}
\tabcaption{tab:gradients}{The slope of the loss in a random direction, by a finite difference and by
backpropagation.}
\begin{tabular}{@@{}lrr@@{}}
\tabhead{tensor} & \tabhead{by difference} & \tabhead{backwards}\\\midrule
embedding, also head & \val{grad.0.far} & \val{grad.0.back}\\
gain before attention & \val{grad.1.far} & \val{grad.1.back}\\
queries & \val{grad.2.far} & \val{grad.2.back}\\
keys & \val{grad.3.far} & \val{grad.3.back}\\
values & \val{grad.4.far} & \val{grad.4.back}\\
output of attention & \val{grad.5.far} & \val{grad.5.back}\\
gain before the gated unit & \val{grad.6.far} & \val{grad.6.back}\\
gate & \val{grad.7.far} & \val{grad.7.back}\\
its partner & \val{grad.8.far} & \val{grad.8.back}\\
output of the gated unit & \val{grad.9.far} & \val{grad.9.back}\\
last gain & \val{grad.10.far} & \val{grad.10.back}
\end{tabular}
\end{table}

\checkpoint{build/out/laboratory/gradients.txt}{every gradient against differences}

@* Exercises. \label{sec:slopesexercises}
The command beside an exercise judges the answer by the functions themselves, or by differences.

\begin{exercises}
\exercise{check}{ex:slopes.matrix}{$W$ has the rows $(2,1)$ and $(0,3)$, $x=(1,2)$, and the gradients $dy=(1,-1)$ come back. What are $dx$ and
$dW$?}{\texttt{make exercise-W10-1}}{$dx=(2\times1+0,\ 1\times1-3\times1)=(2,-2)$; the rows of $dW$ are $(1,2)$ and $(-1,-2)$.}
\exercise{check}{ex:slopes.norm}{A norm with gains 1 and $\epsilon=0$ is given $x=(3,3)$, and $dy=(1,0)$ comes back. What is
$dx$?}{\texttt{make exercise-W10-2}}{$r=\frac13$, the mean of $tx$ is $\frac32$, $r^2$ times it $\frac16$; so
$dx=\frac13(1-\frac12,\,0-\frac12)=(\frac16,-\frac16)$. Along $x$ that is 0.}
\exercise{think}{ex:slopes.scale}{All keys of a head are doubled and the scale $\alpha$ is halved. The model is the same. By which factors do $dq$ and
$dk$ change? What does that say about a step that is a plain multiple of the gradient?}{\texttt{make exercise-W10-3}}{$dq$ stays, being $ds\,\alpha\,k$; $dk=ds\,\alpha\,q$ is
halved. The larger keys would get the smaller steps: such a step depends on how the same model is written down, and AdamW's does not, up to $\epsilon$ and the
decay.}
\exercise{think}{ex:slopes.epsilon}{The first gradient that a weight ever sees is $10^{-9}$, and the weight does not decay. How far does AdamW move it, as a share of the rate? And if it is
$10^{-6}$?}{\texttt{make exercise-W10-4}}{The divisor is $10^{-9}+10^{-8}$, so the share is $\frac1{11}$; for the larger, $10^{-6}/(10^{-6}+10^{-8})=\frac{\given{100}}{\given{101}}$. A gradient counts
as 0 only if it is far below $10^{-8}$.}
\exercise{think}{ex:slopes.steps}{In a two-sided difference the error of the formula is about $h^2$ and that of rounding about $u/h$, where $u$ is the rounding of the loss. How do the best step and the
best error grow with $u$? Give the two exponents, and compare them with the two lowest points of \cref{fig:steps}.}{\texttt{make exercise-W10-5}}{$h^2+u/h$ is least where
$2h=u/h^2$: $h$ grows like $u^{1/3}$ and the error like $u^{2/3}$. From float to double $u$ shrinks by $2^{29}$, which is worth
$\frac23\times29\log_{10}2$, nearly six digits.}
\exercise{think}{ex:slopes.layernorm}{GPT-2's norm subtracts the mean first: $y_k=\gamma_k(x_k-\mu)r+\beta_k$, with $r$ from the variance. Write its backward
pass.}{\texttt{make exercise-W10-6}}{With $t_k=\gamma_kdy_k$ and $\hat x_k=(x_k-\mu)r$, $dx_j=r\bigl(t_j-\overline t-\hat x_j\,\overline{t\hat x}\bigr)$: what is
subtracted is now also the part of $t$ along $(1,\dots,1)$, since adding a constant to $x$ changes nothing.}
\exercise{check}{ex:slopes.zloss}{Some trainers add $\lambda\,(\ln\sum_ve^{z_v})^2$ to the loss of a row, so that the logits do not drift away from 0 together. Write the
gradient.}{\texttt{make exercise-W10-7}}{$\partial\ln\sum e^z/\partial z_j=p_j$, so $dz_j=p_j(1+2\lambda\ln\sum e^z)-[j=r]$. It no longer adds up to 0, which is its
purpose.}
\end{exercises}
