@i types.w
@s vec int
@s each while
@s each_step while
@s each_run while
@s each_two while
@s TARGET inline
@s INLINE inline
@s __m128 int
@s __m128i int
@s __m512 int
@s __m512i int
@s uint16x4_t int


\chapterquestion{Why can a matrix product run forty times faster than my loop, and how can every fast kernel give the same bits?}
@** Fast kernels: SIMD, tiles and threads.
\incipit{A}{ kernel is} one of the dozen loops in which a model spends its time. Chapter 2 defined what each computes, rounding by
rounding. Here they are written once, and compiled for plain C and for three kinds of vector instructions (SIMD: a single instruction for multiple data), AVX2, AVX-512 and NEON. There is nothing about language in this chapter. If
you are content to know that |linear| multiplies a matrix, you can skip it.
@^kernel@>@^SIMD@>@^AVX2@>@^AVX-512@>

@ Eight products are to be added, and the machine keeps three decimal digits of each sum.

\begin{byhand}{eight products, three digits}
The loop that comes to mind first adds from left to right:

\medskip
\begin{tabular}{@@{}l@@{\quad}r@@{\quad}r@@{\quad}r@@{\quad}r@@{\quad}r@@{\quad}r@@{\quad}r@@{\quad}r@@{}}
product & $400$ & $0.3$ & $20$ & $0.4$ & $300$ & $0.4$ & $30$ & $0.3$\\
sum & $400$ & $400$ & $420$ & $420$ & $720$ & $720$ & $750$ & $750$
\end{tabular}
\medskip

Each small product meets a large sum and is rounded away. Now we keep four sums. Product $k$ is added to sum $k\bmod4$ (first column), and then the four are added by halves:

\medskip
\begin{tabular}{@@{}l@@{\quad}l@@{\quad}l@@{\quad}l@@{}}
sum $0$ & $400+300=700$ & $700+50=750$ & $750+1.4=751$\\
sum $1$ & $0.3+0.4=0.7$ & $0.7+0.7=1.4$ &\\
sum $2$ & $20+30=50$ & &\\
sum $3$ & $0.4+0.3=0.7$ & &
\end{tabular}
\medskip

The exact sum is $751.4$. If all four begin at 0, they take $8$ additions, and the halves $3$. With registers of two numbers that is $4$ instructions for the sums and $2$ for the fold; with registers of four, $2$ and $2$.
\end{byhand}

@ The four sums are called \emph{lanes}, and adding them by halves is a \emph{fold}. Two things can be read off the box. The order of the additions changes the sum, so a compiler may not replace the first way by the second for us. (With \.{-ffast-math} it may, and chooses an order of its own; so our files do not compile with it.) But once the lanes are part of the definition, a wider register changes nothing: it adds the same numbers to the same lanes, more of them with one instruction. Our definition has sixteen lanes (\cref{sec:order}). That is one half of the answer to the question above.
@^lane@>@^fold@>

The other half is loads. One sum needs an input and a weight for each multiply--add, two loads. Take two rows and two outputs together: two inputs and two weights now serve four multiply--adds, one load for each. The sums of some rows and some outputs that are kept in registers together are a \emph{tile}. A tile computes each sum as it would be computed alone, so that here, too, no bit changes.
@^tile@>

@ The program prints what the kernels of this machine make of a small matrix, with the bits of each number. The same bits must
come out on any machine.

@c
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "kernels/kernels.h"
@;@#
@<Print a product with its bits@>@;
int main(int argc, char **argv)
{
  struct error why;
  if (argc > 1) return strcmp(argv[1], "values") != 0;
  if (kernels_find(NULL, &why) == NULL) return 1;
  return print_product();
}

@ All tables that this machine can run make the same product: |apart| counts the numbers in which one of them differs from the first. There are
21 inputs, no multiple of sixteen lanes, and three outputs, fewer than a register has lanes, so that registers which are filled only in part are in it; and nearly every product must be rounded. With one row no tile is computed; the tests compare tiles.

@<Print a product with its bits@>=
static int print_product(void)
{
  enum { IN = 21, OUT = 3 };
  float x[IN], w[IN * OUT], first[OUT], y[OUT], *place = y;
  int apart = 0;
  for (int i = 0; i < IN; i++) x[i] = 1.0f / (float) (i + 1);
  for (int i = 0; i < IN * OUT; i++) w[i] = (float) (i % 8) - 2.9f;
  struct matrix m = @[{ .weight = { w, WEIGHT_F32 }, .in = IN, .out = OUT }@];
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    struct engine e = @[{ .k = kernels_at(i) }@];
    e.k->linear(&e, &m, 1, x, 1, &place);
    if (i == 0) memcpy(first, y, sizeof y);
    for (int o = 0; o < OUT; o++) apart += num_bits32(y[o]) != num_bits32(first[o]);
  }
  for (int o = 0; o < OUT; o++)
    printf("output %d         %12.6f  %08x\n", o, (double) y[o], num_bits32(y[o]));
  printf("%d numbers in which the tables differ\n", apart);
  return apart > 0;
}

@* The tables of this chapter.
What a kernel is given, and what it must do, was settled in \cref{model}, which has a plain table of kernels; the structures are in \cref{sec:views} and \cref{sec:kernels}. The header of this chapter says how the fast ones are found.

@(kernels.h@>=
/** Tables of fast kernels, and weights prepared for them. Every table gives the bits of the plain one,
  so which of them a caller has can only be told by a clock. */
#ifndef INCIPIT_KERNELS_H
#define INCIPIT_KERNELS_H
#include "model/model.h"
#include "model/quantization.h"
@<Prepared weights@>@;
@<How a table is found@>@;
#endif

@ A table may want the weights of a matrix in another order than the file has them (\cref{sec:linear}). Then they are copied once, and the copy is found by the address of the weights. If there is none, |linear| uses the weights as they are in the file.

@<Prepared weights@>=
struct prepared_matrix { const void *weight; void *copy; };
  /* a matrix, by the address of its weights, and the copy of them */
struct prepared_weights { const struct kernels *k; enum activations activations;
  size_t n; struct prepared_matrix *of; };
  /* copies of the weights of |n| matrices for the table |k| and an engine's |activations|, by rising addresses */
struct prepared_weights *prepared_open(struct memory *m, const struct kernels *k,
  enum activations asked, const struct tensor_file *source,
  const struct matrix *const *list, size_t n, struct error *why);
  /* copies for those of |n| matrices for which |k| wants any, when an engine's activations are |asked|; the memory of what has been copied is given back, if it is in |source|,
     which may be null; null and a sentence if memory is refused. Owned by the
     caller, and must live as long as any engine that has it, and not longer than the weights */
void prepared_close(struct memory *m, struct prepared_weights *p);
  /* frees the copies; null does nothing */
struct prepared_weights *model_prepare(struct memory *m, const struct kernels *k,
  enum activations asked, const struct model *lm, struct error *why);
  /* copies of all matrices of |lm| for which |k| wants any; null and a sentence. Owned by the caller; the
     model stays as it is */
const void *prepared_find(const struct engine *e, const struct matrix *w);
  /* the copy of the weights of |w| for the engine's table, or null */

@ Which tables there are depends on the compiler; which of them can run, on the processor. It is asked here, once
(|__builtin_cpu_supports|), and never in a loop. A page in a browser has one more, \.{wasm}, with four lanes (\cref{sec:simd128}).

@<How a table is found@>=
const struct kernels *kernels_find(const char *name, struct error *why);
  /* the table called |name|, \.{plain}, \.{scalar}, \.{avx2}, \.{avx512} or \.{neon}, or for null the
     fastest that this processor can run; null and a sentence that lists those it can */
const struct kernels *kernels_at(size_t i);
  /* table number |i| of those that this build has and this processor can run,
     the slowest first; null after the last */

@ Kernels need exponentials, sines and powers, and take them from \cref{functions}, where each has the same bits on every machine. Some of those functions
are in its header and are compiled into the loops that use them. The others are called; this is the part of the header that declares them.

\printedheader[num_logf..num_to_bf16]{functions/numbers.h}

@* Sixteen lanes in three widths. \label{sec:bodies}
Each kernel is written once. What differs between the tables is a handful of definitions that come
before: how wide a register is, how to say multiply--add, and an attribute that allows the compiler to use
these instructions in these functions although the rest of the program must run without. So there is one text of the bodies, and there are four heads,
a file each, which make these definitions. This chapter shows the one for AVX2.
@^multiply--add@>

@ This file is for AVX2, the common ground of nearly all processors for personal computers since 2015. A register has eight
lanes, so sixteen lanes are two registers, and there are sixteen of those. The tile of six rows and two registers
of outputs uses twelve for sums; with two weights and one input at a time that is all but one.
@^register@>

@(avx2.inc@>=
/** The head for AVX2: eight lanes to a register, and sixteen registers. It has all that the bodies ask
  of the machine, and nothing else. */
#include <immintrin.h>
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define WIDTH 8
#define TILE_ROWS 6
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for AVX2@>@;

@ Head and bodies meet in files like this one, which has the linear layers for AVX2. The bodies could be one file for each head. But they are inlined into each other, once for every type of weights, and a compiler holds all of a file in memory at once: such a file kept it busy for a minute, with nearly a gigabyte of memory. So each table is five files, which compile side by side: linear layers, blocks of small integers, attention of one head, attention of all heads together, and the table itself with everything small. The others are in \cref{sec:parts34}.
@^compiler, time and memory@>

@(avx2_linear.c@>=
/** Linear layers of floats, with the head for AVX2. */
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_avx2 = @[{ linear, room,@|
  prepared_bytes, prepare }@];
#endif

@ What is the same for every head is a file, too. Like the bodies it cannot be compiled alone, and no other module
includes it. |TALLY| is nothing at all, except in a test that defines it to count every
multiply--add one by one and compare the total with the counters. |ALONE| marks a function that shall not be inlined.

@(lanes.inc@>=
/** What all heads share: the type of a register, loops that are written out, and the fold. A head
  includes it after it has said |WIDTH|, |TILE_ROWS| and |TARGET|; no other module does. */
#include "ground/tuning.h"
@<Loops that are written out@>@;
#define INLINE @[static inline __attribute__((always_inline)) TARGET@]@;
#define ALONE @[__attribute__((noinline, unused)) TARGET@]@;
#ifndef TALLY
#define TALLY(what, worker, amount) ((void) 0)
#endif
@<Registers of some numbers@>@;
enum { PARTS = 16 / WIDTH, NR = 2 * WIDTH };
@<Fold sixteen lanes in an array@>@;

@ A |vec| is a register: gcc and clang let us add and multiply such things with the
ordinary signs. The narrower types hold numbers that are still to be widened. To move numbers within a register, the two compilers have different functions; |MIX| is the one that there is.

@<Registers of some numbers@>=
typedef float vec @[__attribute__((vector_size(4 * WIDTH)))@];
typedef uint8_t few_bytes @[__attribute__((vector_size(WIDTH)))@];
typedef uint16_t few_halves @[__attribute__((vector_size(2 * WIDTH)))@];
typedef float four @[__attribute__((vector_size(16)))@];
typedef int32_t four_places @[__attribute__((vector_size(16)))@];
#if defined __clang__
#define MIX(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define MIX(a, b, i, j, k, l) \
  __builtin_shuffle(a, b, (four_places) @[{ i, j, k, l }@])
#endif

@ The sums of a tile are an array, and the compiler keeps them in registers only if it knows every index. So the loops
over them are written out (unrolled); a loop that begins with |each| is, and is a |for| loop in all other respects. How often |each_step| goes round is known only when the program runs; |STEPS| of its turns are written out as one, and two with |each_two|. In plain C that would only repeat calls (\cref{sec:heads11}).
@^unrolling@>

@<Loops that are written out@>=
#if defined __clang__
#define @,each(i, n) @[_Pragma("unroll")@,@, for (int i = 0; i < (n); i++)@]@;
#else
#define @,each(i, n) @[_Pragma("GCC unroll 16")@,@, for (int i = 0; i < (n); i++)@]@;
#endif
#if defined FUSED_IS_CALLED
#define @,each_step(k, n) @[for (size_t k = 0; k < (n); k++)@]@;
#elif defined __clang__
#define @,each_step(k, n) @[_Pragma("unroll STEPS")@,@, for (size_t k = 0; k < (n); k++)@]@;
#define @,each_two(k, n) @[_Pragma("unroll 2")@,@, for (size_t k = 0; k < (n); k++)@]@;
#else
#define @,each_step(k, n) @[_Pragma("GCC unroll STEPS")@,@, for (size_t k = 0; k < (n); k++)@]@;
#define @,each_two(k, n) @[_Pragma("GCC unroll 2")@,@, for (size_t k = 0; k < (n); k++)@]@;
#endif

@ The definition, word for word: eight to eight, four to four, two to two, one to one.

@<Fold sixteen lanes in an array@>=
INLINE float fold_array(float *lane)
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}

@ For AVX2 each of these is an instruction or two. Widening binary16 is an instruction
that the processor has had since 2012, and gives what |num_from_f16| gives.

@<Multiply--add and the rest, for AVX2@>=
INLINE vec fused(vec a, vec b, vec c)
{@+ return _mm256_fmadd_ps(a, b, c);@+ }
INLINE vec spread(float x)
{@+ return _mm256_set1_ps(x);@+ }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  __m128i short_ones = _mm_loadu_si128((const void *) h);
  if (type == WEIGHT_F16) return _mm256_cvtph_ps(short_ones);
  __m256i wide = _mm256_cvtepu16_epi32(short_ones);
  return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}
INLINE vec i8_to_f32(const int8_t *small)
{
  __m128i few = _mm_loadl_epi64((const void *) small);
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(few));
}
@<Choose lanes and fold them, for AVX2@>@;

@ A mask for the first |n| lanes is read out of a row of eight times $-1$ and eight times 0, from place $8-n$ on. The fold adds register to
register, then upper half to lower half, and so on: the same tree.

@<Choose lanes and fold them, for AVX2@>=
INLINE __m256i first_lanes(int n)
{
  static const int32_t on[16] = @[{ -1, -1, -1, -1, -1, -1, -1, -1 }@];
  return _mm256_loadu_si256((const void *) (on + 8 - n));
}
INLINE vec blend(int n, vec a, vec b)
{@+ return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(first_lanes(n)));@+ }
INLINE vec load_first(const void *p, int n)
{@+ return _mm256_maskload_ps(p, first_lanes(n));@+ }
INLINE vec fold_all(const vec *a)
{
  vec b[4], c[2];
  each (i, 4) b[i] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x20)
    + _mm256_permute2f128_ps(a[i], a[i + 4], 0x31);
  each (i, 2) c[i] = _mm256_shuffle_ps(b[2 * i], b[2 * i + 1], 0x44)
    + _mm256_shuffle_ps(b[2 * i], b[2 * i + 1], 0xee);
  return _mm256_shuffle_ps(c[0], c[1], 0x88)
    + _mm256_shuffle_ps(c[0], c[1], 0xdd);
}

@* Linear layers. \label{sec:linear}
Nearly all of the time of a pass is spent in linear layers, and what they wait for depends on the number of rows. With one
row each weight is used once, and the time is that of reading it. With many rows each is used
many times, and the time is that of the multiplications, provided that the weight comes from a
register and not from memory each time. So there are two ways through a matrix. They differ in which numbers share a register, and in nothing that can be seen in the bits:
the definition fixes sixteen chains of multiply--adds and the tree that folds them, and not where a chain is computed.

For \emph{few rows} the lanes are neighbours in $k$, as in the definition: the weights of an output lie one after the other in the file, and are loaded as they lie.

@ A dot product by itself is what norms need. Its loop is the definition of \cref{sec:order} read aloud: sixteen
terms at a time, each to its lane, the rest to the first lanes, and then the fold, which goes through an array. That is slow, but there are two norms in a layer, and each has one fold a row.

@<The dot product of sixteen lanes@>=
INLINE float dot(const float *x, struct tensor w, size_t n)
{
  struct tensor in = @[{ x, WEIGHT_F32 }@];
  vec a[PARTS] = @[{ 0 }@];
  float lane[16];
  size_t whole = n / 16 * 16;
  for (size_t k = 0; k < whole; k += 16)
    each (p, PARTS)
      a[p] = fused(load(in, k + (size_t) p * WIDTH),
        load(w, k + (size_t) p * WIDTH), a[p]);
  add_rest(x, w, whole, n - whole, a);
  memcpy(lane, a, sizeof lane);
  return fold_array(lane);
}

@ One row wants very many such products, and in a small model they are short: heads of eight numbers give a dot product of eight terms, and its fold would take longer than its terms. So |WIDTH| products are folded at once. The first steps of a fold, as long as the two halves are in different registers, are additions of registers; the rest is done by |fold_all|, which each head has in its own instructions: in each step two registers become one, so that an addition serves two sums at first, then four, and in the end all of them.
@^fold@>

@<Dot products of one row with as many others as a register has lanes@>=
INLINE vec fold_parts(vec *a)
{
  for (int s = PARTS / 2; s > 0; s /= 2)
    for (int p = 0; p < s; p++) a[p] += a[p + s];
  return a[0];
}

@ How many of them are computed side by side is a question of memory. A multiply--add takes four cycles until its sum can be used, and two can begin in each cycle, so eight chains would keep the multipliers busy; with AVX2, four rows have eight. But four rows that are read side by side are four places in memory, and a processor fetches ahead best what is read from end to end.
With long rows one chain is enough: it takes a register of sixteen weights every four cycles, more than memory can deliver.
So rows are taken by fours if four of them lie within a page of memory. Longer rows of floats are faster by fours with AVX2, and one after the other with AVX-512; so they go by fours only where sixteen lanes take more than one register.
And because the processor's own fetching ahead ends with the page, what comes |ahead| bytes later is asked for early, if rows are read one after the other. The request names a cache, |HINT|; which one turned out to matter a great deal (\cref{sec:tuning}). In a matrix, whose rows follow each other in memory, |ahead| is a few lines. In a cache, where the keys of the other heads come between two keys of one head, it is a number of rows.
Eight steps are written out for each turn of the loop, and this makes even a loop faster that waits for memory. A processor has only so many instructions under way, and each line that it waits for is asked for by one of them; if fewer of them are spent on counting, we think, more loads are under way at once.
@^prefetch@>

@<Dot products of one row with as many others as a register has lanes@>=
INLINE void dots_step(int side, const float *x, const char *const *row,
  enum weight_type type, size_t k, size_t ahead, vec a[4][PARTS])
{
  struct tensor in = @[{ x, WEIGHT_F32 }@];
  each (p, PARTS) {
    size_t at = k + (size_t) p * WIDTH;
    vec v = load(in, at);
    if (side == 1) __builtin_prefetch(*row + weight_row_bytes(type, at) + ahead, 0, HINT);
    each (i, side)
      a[i][p] = fused(v, load((struct tensor) @[{ row[i], type }@], at), a[i][p]);
  }
}

@ A step of weights in blocks is long already, so its loop is left as it is; and a row of blocks has no rest.

@<Dot products of one row with as many others as a register has lanes@>=
INLINE void some_dots(int side, const float *x, const char *const *row,
  enum weight_type type, size_t n, size_t ahead, vec *half)
{
  vec a[4][PARTS] = @[{ { { 0 } } }@];
  size_t whole = n / 16 * 16;
  if (number_types[type].block > 1)
    for (size_t k = 0; k < whole; k += 16) dots_step(side, x, row, type, k, ahead, a);
  else each_step (s, n / 16) dots_step(side, x, row, type, s * 16, ahead, a);
  each (i, side) {
    if (number_types[type].block == 1 && n > whole)
      add_rest(x, (struct tensor) @[{ row[i], type }@], whole, n - whole, a[i]);
    half[i] = fold_parts(a[i]);
  }
}

@ A row of fewer than sixteen numbers is shorter still than a step of this loop: its product is one multiply--add, to sums that are all $+0$. The lanes without a term need no |blend|, because $0\times0+0$ is the $+0$ that was there. What is left to save is the way to the row. So the query is loaded once for all, and the loop over the rows is written out, with their sums in registers until they are folded.

@<Dot products of one row with as many others as a register has lanes@>=
INLINE int part_lanes(size_t n, int p)
{@+ return (int) n - p * WIDTH < WIDTH ? (int) n - p * WIDTH : WIDTH;@+ }
INLINE vec short_dots(const float *x, const char *row, size_t stride,
  size_t there, enum weight_type type, size_t n)
{
  vec v[PARTS] = @[{ { 0 } }@], a[PARTS], half[WIDTH];
  struct tensor in = @[{ x, WEIGHT_F32 }@];
  each (p, PARTS) if ((int) n > p * WIDTH)
    v[p] = load_partial(in, (size_t) p * WIDTH, part_lanes(n, p));
  each (i, WIDTH) {
    struct tensor w = @[{ row, type }@];
    if ((size_t) i + 1 < there) row += stride;
    each (p, PARTS) {
      a[p] = spread(0);
      if ((int) n > p * WIDTH) a[p] = fused(v[p],
        load_partial(w, (size_t) p * WIDTH, part_lanes(n, p)), a[p]);
    }
    half[i] = fold_parts(a);
  }
  return fold_all(half);
}

@ The rows of the others begin |stride| bytes apart; |there| is how many there are, and if that is fewer than there are lanes, the last is taken more than once. Small models have heads of \given{8} numbers; with both counts known, their loop has no conditions left.

@<Dot products of one row with as many others as a register has lanes@>=
INLINE vec dots(const char *what, const float *x, const char *row,
  size_t stride, size_t there, enum weight_type type, size_t n, size_t ahead)
{
  vec half[WIDTH];
  const char *at[WIDTH];
  TALLY(what, 0, there * n);
  bool is_short = number_types[type].block == 1 && n < 16;
  if (is_short && n == 8 && there == WIDTH)
    return short_dots(x, row, stride, WIDTH, type, 8);
  if (is_short) return short_dots(x, row, stride, there, type, n);
  for (size_t i = 0; i < WIDTH; i++) at[i] = row + (i < there ? i : there - 1) * stride;
  bool whole_floats = FOURS_FLOATS && PARTS > 1 && type == WEIGHT_F32@|
    && stride == n * sizeof *x;
  if (stride <= FOURS_BYTES || whole_floats)
    for (size_t i = 0; i < WIDTH; i += 4)
      some_dots(4, x, at + i, type, n, ahead, half + i);
  else for (size_t i = 0; i < WIDTH; i++)
    some_dots(1, x, at + i, type, n, ahead, half + i);
  (void) what; /* only tallies ask */
  return fold_all(half);
}

@ A missing bias is not a zero: adding zero would turn $-0$ into $+0$. The bias is added when the sum is complete: as a first
term of a lane it would have changed what the lane rounds. Full registers of sums are copied one by one, with a size that the compiler knows; a copy whose size only the run knew was slow enough to be seen in a profile.

@<Put sums in their places, with the bias@>=
INLINE float add_bias(float sum, const struct matrix *w, size_t o)
{@+ return w->bias.data == NULL ? sum : sum + load_one(w->bias, o);@+ }
INLINE void put_sums(const float *sum, const struct matrix *w, size_t o,
  size_t outs, float *y)
{
  size_t c = 0;
  for (; w->bias.data == NULL && c + WIDTH <= outs; c += WIDTH)
    memcpy(y + o + c, sum + c, WIDTH * sizeof *y);
  for (; c < outs; c++) y[o + c] = add_bias(sum[c], w, o + c);
}

@ Outputs are taken |WIDTH| at a time, in \emph{strips}, and all rows pass over a strip before the next one is touched, so a weight comes from memory
once.

@<Few rows by the outputs |from| to |to| of a matrix stored by outputs@>=
INLINE void by_outputs(const struct matrix *w, enum weight_type type,
  const float *x, size_t rows, size_t from, size_t to, float *y)
{
  size_t stride = weight_row_bytes(type, w->in);
  for (size_t o = from; o < to; o += WIDTH) {
    size_t outs = to - o < WIDTH ? to - o : WIDTH;
    const char *row = (const char *) w->weight.data + o * stride;
    for (size_t r = 0; r < rows; r++) {
      vec sum = dots("linear", x + r * w->in, row, stride, outs, type,
        w->in, ROWS_AHEAD);
      float here[WIDTH];
      memcpy(here, &sum, sizeof here);
      put_sums(here, w, o, outs, y + r * w->out);
    }
  }
}

@ For \emph{many rows} the numbers of a register are different outputs, and the sixteen lanes of the definition are computed one after the other. Then a weight that is loaded serves as many rows as there are registers for their sums, an input is spread over a whole register, and nothing is folded across a register. What we compute at a time is a \emph{tile}: |TILE_ROWS| rows by |NR| outputs, which are two registers.

How large it should be can be worked out. A tile of $m$ rows keeps $2m$ sums in registers, and needs two more for weights and one for an input. Each step loads two weights and $m$ inputs for $2m$ multiply--adds. With sixteen registers $m=6$ gives eight loads for twelve multiply--adds; with thirty-two, $m=14$ would fit. We take $m=12$: it is divisible by three, so that rows left over at the end can fill a third of a tile, or two. That costs next to nothing, $14$ loads for $24$ multiply--adds instead of $16$ for $28$. A processor that loads at least as often as it multiplies is then busy multiplying. One register of outputs would need a little more than one load for each multiply--add; three would leave room for fewer rows and gain little (\cref{fig:tiles}).\lab{lab:tiles}

\fig{tiles}{fig:tiles}{Loads for each multiply--add of the largest tile that fits into 16 and into 32 registers, against its columns of registers.}{Two falling curves. With one register of outputs both tiles load about once for each multiply-add. With two the tile of 16 registers needs two thirds of a load, the one of 32 a little more than half; with three they fall further, and with four the tile of 16 registers rises again.}

@^tile@>@^panel@>@^packing, of weights@>

Both sides are copied first into the order in which a tile wants them, which is called \emph{packing}. A \emph{panel} of weights has |NR| outputs: first all steps of lane 0, each with the |NR| weights of one input, then all steps of another lane, so that a tile reads it from end to end. The panel of the rows is the same with |TILE_ROWS| rows in place of the outputs.

@ The lanes stand in the order of their numbers with the four bits reversed: 0, 8, 4, 12, 2, and so on (a \emph{bit reversal}). It is the order in which the fold wants them. When lanes 0 and 8 are done, they are added; lanes 4 and 12 come next, and their sum is added to the first one. So each lane soon meets its partner, and at most four unfinished tiles wait at any time. All sixteen lanes of a tile of AVX-512 would be $16\cdot12\cdot32$ floats, 24 KiB: half of a first-level cache, or more. Reversing twice changes nothing, so the same function gives the lane at a place and the place of a lane.
@^bit reversal@>

@<Where a lane stands in a panel@>=
INLINE size_t turned(size_t t)
{@+ return (t & 1) << 3 | (t & 2) << 1 | (t & 4) >> 1 | (t & 8) >> 3;@+ }
INLINE size_t lane_steps(size_t n, size_t lane)
{@+ return (n + 15 - lane) / 16;@+ }
INLINE size_t panel_place(size_t n, size_t k)
{@+ return turned(k % 16) * lane_steps(n, 0) + k / 16;@+ }

@ A tile, then: sixteen chains, one after the other, each in registers from its first term to its last; and after each, as many steps of the fold as can be taken. |real| is how many of the sums are used. The rows are those of a panel, or a single row as it is, where lane $j$ finds its terms sixteen places apart.

@<Compute a tile of dot products@>=
INLINE void tile(const char *what, size_t real, int rows, const float *x,
  struct tensor panel, size_t n, float *sum)
{
  vec a[TILE_ROWS][2], done[4][TILE_ROWS][2];
  size_t all = lane_steps(n, 0), depth = 0, step = rows == 1 ? 16 : (size_t) rows;
  (void) what, (void) real; /* only tallies ask */
  for (size_t t = 0; t < 16; t++) {
    size_t lane = turned(t);
    const float *in = x + (rows == 1 ? lane : t * all * (size_t) rows);
    each (r, rows) each (h, 2) a[r][h] = (vec) @[{ 0 }@];
    if (lane < n) @<Pass the chain of this |lane|@>@;
    for (size_t c = t + 1; c % 2 == 0; c /= 2, depth--)
      each (r, rows) each (h, 2) a[r][h] = done[depth - 1][r][h] + a[r][h];
    if (t < 15) {
      each (r, rows) each (h, 2) done[depth][r][h] = a[r][h];
      depth++;
    }
  }
  each (r, rows) each (h, 2)
    memcpy(sum + r * NR + h * WIDTH, &a[r][h], sizeof a[r][h]);
}

@ This is where a pass with many rows spends its time. A lane of \given{768} inputs has only 48 steps, so what a turn of the loop costs besides its multiply--adds is felt: with eight steps written out, a tile is faster. The weights of a panel are in the second-level cache, and the processor fetches them in time; to ask for them made a tile slower. Only a single row asks, since it reads a panel that was prepared and comes from memory.

@<Pass the chain of this |lane|@>=
each_step (k, lane_steps(n, lane)) {
  size_t at = (t * all + k) * NR;
  if (rows == 1) each (h, 2) prefetch(panel, at + PANEL_AHEAD * NR + (size_t) h * WIDTH);
  vec b[2] = @[{ load(panel, at), load(panel, at + WIDTH) }@];
  each (r, rows) {
    vec v = spread(in[k * step + (size_t) r]);
    each (h, 2) a[r][h] = fused(v, b[h], a[r][h]);
  }
  TALLY(what, 0, real);
}

@ Where there are fewer rows than a tile has, a smaller tile does: a third, or two thirds, and a panel of as many rows. What is left over of it is filled with zeros.

@<Compute a tile of dot products@>=
TARGET static int tile_rows(size_t rows)
{
  int third = TILE_ROWS / 3, thirds = ((int) rows + third - 1) / third;
  return thirds * third;
}
static ALONE void packed_tile(const char *what, size_t real, size_t rows,
  const float *x, struct tensor panel, size_t n, float *sum)
{
#define TILE(height, type) \
  @[tile(what, real, height, x, (struct tensor) { panel.data, type }, n, sum)@]
#define WITH_ROWS(type) \
  @[if (tile_rows(rows) == TILE_ROWS) TILE(TILE_ROWS, type); \
  else if (tile_rows(rows) == TILE_ROWS / 3) TILE(TILE_ROWS / 3, type); \
  else TILE(TILE_ROWS / 3 * 2, type)@]
  switch (panel.type) {
  case WEIGHT_F32: WITH_ROWS(WEIGHT_F32);@+ break;
  case WEIGHT_F16: WITH_ROWS(WEIGHT_F16);@+ break;
  case WEIGHT_BF16: WITH_ROWS(WEIGHT_BF16);@+ break;
  case WEIGHT_Q8_0: case WEIGHT_Q4_0: OTHER_BLOCKS: break;
  }
#undef WITH_ROWS
#undef TILE
}

@ Packing a strip reads weights that nothing has touched before, |NR| outputs side by side, and would wait for memory at each step. But while the tiles of a strip are computed, memory has nothing to do. So with each tile of the last |LATE| rows a piece of the next strip is asked for. (If it came sooner, the rows that pass through the second-level cache would push it out again. Panels that are ready lie one after the other, and the processor fetches them by itself.) And the lines that a tile will write to are asked for before it is computed.
@^prefetch@>

@<Ask for what will be wanted@>=
size_t done = r - r0, late = r1 - r0 < LATE ? r1 - r0 : LATE, early = r1 - r0 - late;
if (done + rows > early && o + 2 * NR <= to && ready == NULL && !w->transposed) {
  const char *next = w->weight.data;
  size_t i = done < early ? 0 : strip * (done - early) / late;
  size_t end = strip * (done + rows - early) / late;
  for (next += (o / NR + 1) * strip; i < end; i += 64) __builtin_prefetch(next + i, 0, HINT);
}
for (size_t i = 0; i < rows; i++)
  for (size_t c = 0; c < outs; c += 16)
    __builtin_prefetch(y + (r + i) * w->out + o + c, 1);

@ Now the pieces are put together. A block of at most |MOST_ROWS| rows is packed; then each strip of each matrix of the list is packed, unless it was prepared, and all tiles of the block are computed. The panel of a strip is read again for each tile, and stays in the second-level cache meanwhile; the rows are read again for each strip, from the third-level cache. Both are in the worker's workspace (\cref{sec:poolheader}). \label{sec:room}
@^workspace@>

@<Many rows by a worker's share of the matrices@>=
TARGET static size_t panels_room(size_t in, size_t rows)
{
  size_t most = rows < MOST_ROWS ? rows + TILE_ROWS : MOST_ROWS;
  return lane_steps(in, 0) * 16 * (NR + most) * sizeof(float);
}
TARGET static void by_panels(const struct linear_job *job, const struct matrix *w,
  size_t r0, size_t r1, size_t from, size_t to, float *room, float *y)
{
  size_t n = w->in, each_panel = lane_steps(n, 0) * 16;
  const char *ready = prepared_find(job->e, w);
  size_t strip = NR * weight_row_bytes(w->weight.type, n);
  float *x = room + each_panel * NR, sum[TILE_ROWS * NR];
  for (size_t o = from; o < to; o += NR) {
    size_t outs = to - o < NR ? to - o : NR, rows;
    struct tensor panel = @[{ room, WEIGHT_F32 }@];
    if (ready != NULL)
      panel = (struct tensor) @[{ ready + o / NR * panel_bytes(w), w->weight.type }@];
    else pack_strip(w, o, outs, room);
    for (size_t r = r0; r < r1; r += rows) {
      rows = r1 - r < TILE_ROWS ? r1 - r : TILE_ROWS;
      @<Ask for what will be wanted@>@;
      packed_tile("linear", rows * outs, rows, x + (r - r0) * each_panel, panel, n, sum);
      for (size_t i = 0; i < rows; i++)
        put_sums(sum + i * NR, w, o, outs, y + (r + i) * w->out);
    }
  }
}

@ A worker's part of the call is an equal share of the outputs of each matrix, cut at multiples of |NR|, the width of a panel. Every output is computed whole by one worker, so that the number of workers cannot be seen in it. The
type is asked here, outside of the loops, and each answer gets loops of its own. Matrices in blocks are not among the cases, and |matrix_types| says so: a model that has one is refused when it is opened, and a pass would refuse it once more.

@<One worker's share of a linear layer@>=
struct linear_job { const struct engine *e; const struct matrix *list; size_t n;
  const float *x; size_t rows; float *const *y; };
@#
#include "kernels/unpacked.inc"
#include "kernels/few.inc"
@<Many rows by a worker's share of the matrices@>@;
TARGET static void few_rows(const struct linear_job *job, const struct matrix *w,
  size_t from, size_t to, float *y)
{
  const char *ready = prepared_find(job->e, w);
#define WITH_TYPE(type) \
  @[if (ready == NULL && !w->transposed) \
    by_outputs(w, type, job->x, job->rows, from, to, y); \
  else for (size_t r = 0; r < job->rows; r++) { \
    const float *x = job->x + r * w->in; \
    if (ready == NULL) by_inputs(w, type, x, from, to, y + r * w->out); \
    else by_prepared(w, type, ready, x, from, to, y + r * w->out); \
  }@]
  DO_WITH_TYPE(w->weight.type)@;
#undef WITH_TYPE
}

@ Tiles pay from |MANY_ROWS| rows on if the panels of the weights are there, and from |PACKED_ROWS| on if they must be packed first. What is in between, two to eight rows by weights as they lie, is the work of |by_few| (\cref{sec:fewrows}): a weight that was loaded meets all of these rows, and a pass of four costs little more than a pass of one. Without a workspace, as in a caller that has no pool, the rows are multiplied one by one.

@<One worker's share of a linear layer@>=
TARGET static void linear_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct linear_job *job = ctx;
  size_t in = job->list->in;
  float *room = job->rows < MANY_ROWS ? NULL
    : pool_workspace(job->e->pool, worker, panels_room(in, job->rows));
  TALLY("linear part", worker, 1);
  for (size_t r0 = 0, r1; r0 < job->rows; r0 = r1) {
    r1 = room == NULL || job->rows - r0 < MOST_ROWS ? job->rows : r0 + MOST_ROWS;
    bool are_packed = false;
    for (size_t m = 0; m < job->n; m++) {
      const struct matrix *w = &job->list[m];
      size_t from = worker_begin(w->out, NR, worker, workers);
      size_t to = worker_begin(w->out, NR, worker + 1, workers);
      if (room == NULL) few_rows(job, w, from, to, job->y[m]);
      else if (by_few(job, w, from, to, room, job->y[m])) continue;
      else if (by_lying(job, w, r0, r1, from, to, job->y[m])) continue;
      else if (job->rows < PACKED_ROWS && !w->transposed
          && prepared_find(job->e, w) == NULL) few_rows(job, w, from, to, job->y[m]);
      else {
        if (!are_packed) @<Pack rows |r0| to |r1|@>@;
        are_packed = true;
        by_panels(job, w, r0, r1, from, to, room, job->y[m]);
      }
    }
  }
}

@ Some matrices need no panels: |by_lying| multiplies them as they lie in the file, where that is faster (\cref{sec:unpacked34}). Each worker packs all rows for itself, when the first matrix of the list wants them. Could they share the packed rows? Then they would have to wait for each other before the first tile. With two workers we would save half of the packing, and wait for about as long, we think. With many workers it is different, since we pack as often as there are workers: there sharing should pay, and we have not tried it.

@<Pack rows |r0| to |r1|@>=
for (size_t r = r0; r < r1; r += TILE_ROWS) {
  const float *row[TILE_ROWS];
  size_t rows = r1 - r < TILE_ROWS ? r1 - r : TILE_ROWS, all = lane_steps(in, 0) * 16;
  for (size_t i = 0; i < rows; i++) row[i] = job->x + (r + i) * in;
  pack_rows(row, rows, in, room + all * (NR + r - r0));
}

@ The share of a worker begins at a multiple of |step|, and the last share ends
at |n|. Steps are divided among the workers, not numbers, so the shares of two workers differ by one step at most.

@<Where a worker's share begins@>=
static size_t worker_begin(size_t n, size_t step, unsigned worker, unsigned workers)
{
  size_t begin = (n + step - 1) / step * worker / workers * step;
  return begin < n ? begin : n;
}

@ Waking other threads takes microseconds, and a small matrix is done by then. So work below
|WORTH_DIVIDING| multiply--adds is not divided: with a null pool the caller's thread does it. A call that needs no workspace is cut into more shares than there are workers, and a worker that has done one takes another; so we never wait long for a worker whose core was taken away for a while (\cref{sec:poollife}). Kernels do not set the floating-point modes,
since the pass has set them for all of its kernels (\cref{sec:pool}).

@<Do a linear layer@>=
static void linear(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  struct linear_job job = @[{ e, list, n, x, rows, y }@];
  size_t work = 0;
  for (size_t m = 0; m < n; m++) work += list[m].out * list[m].in * rows;
  /*- waking other threads takes microseconds, and a small matrix is done by then */
  struct pool *pool = work >= WORTH_DIVIDING ? e->pool : NULL;
  if (rows < MANY_ROWS) pool_share(pool, linear_part, &job);
  else pool_run(pool, linear_part, &job);
}

@ The workspace depends on the shapes alone: all matrices of a list have the same number of inputs.

@<The workspace of a linear layer@>=
static size_t room(const struct matrix *list, size_t n, size_t rows)
{@+ return n > 0 && rows >= MANY_ROWS ? panels_room(list->in, rows) : 0;@+ }

@ A linear layer needs nothing but what is above. The file is compiled with each head, and once more for the inputs in bfloat16 of \cref{sec:pairs11}. Attention includes two parts of it, dot products and panels, which are files for that reason.

@(linear.inc@>=
/** Linear layers of floats: few rows by weights as they lie, many rows through panels. An output is
  computed whole by one worker in the sixteen lanes of the definition, so neither the way nor the
  workers can be seen in a bit. */
#include "kernels/shares.inc"
#include "kernels/products.inc"
@<Put sums in their places, with the bias@>@;
@<Few rows by the outputs |from| to |to| of a matrix stored by outputs@>@;
#include "kernels/inputs.inc"
#include "kernels/panels.inc"
#include "kernels/strips.inc"
@<One worker's share of a linear layer@>@;
@<Do a linear layer@>@;
@<The workspace of a linear layer@>@;

@ Every kernel that divides its outputs among workers asks where a share begins, so that is a file by itself.

@(shares.inc@>=
/** Where a worker's share begins. Shares are cut at whole steps. */
@<Where a worker's share begins@>@;

@ Attention compares one query with many keys, and that is the product of one row with many others: it takes the same function, in this file.

@(products.inc@>=
/** One row by as many others as a register has lanes, for few rows by a matrix and for a query by its
  keys. Sums are folded together, as many as there are lanes. */
#include "kernels/load.inc"
@<Dot products of one row with as many others as a register has lanes@>@;

@ With many queries, attention multiplies by tiles. It includes the tile and the packing from here.

@(panels.inc@>=
/** The tile of dot products, and where a lane stands in a panel. Lanes come one after the other, and
  each is folded as soon as its partner is there: at most four unfinished tiles wait. */
@<Where a lane stands in a panel@>@;
@<Compute a tile of dot products@>@;
#include "kernels/packing.inc"

@* Attention. \label{sec:attention}
Attention goes block by block, as \cref{sec:blocks} laid down: in each block of \given{256} positions a maximum, a sum of exponentials and a sum
of values, and in the end a join. The result of a block is $m_b$, $l_b$ and $o_b$, in this order, as |2 + head_dim| floats.
@^attention@>

@<The result of one block of positions@>=
enum { PART_MAX, PART_SUM, PART_OUT };

@ The steps of a block hand a |struct position_block| on to each other (\.{positions.inc}). It has the view |v| and the range |seen| of the row, the block's positions, from |t0| up to |t1|, and an array |weight| with a number for each of them, which is first the position's score and then the exponential of that. What belongs to position $t$ has the index |t % 256|. |each_run| goes through the positions of the block: it is a loop over \emph{runs} of neighbours in memory, which end where a page ends or a hole begins.

The first step: the scores of a block, and their maximum. As many keys as there are lanes are multiplied with the query at once (\cref{sec:linear}). A position that is not seen scores $-\infty$. Its exponential is 0, which changes no bit of a sum of positive numbers, so whole
sixteens can go through |num_expf| and we need not ask which of them count. Keys are asked for sixteen positions early: the keys of one head are far apart, and the processor does not see that they are a sequence. Reading sixteen of them takes longer than memory takes to answer, so that each is there when it is wanted.

@<The scores of a block@>=
INLINE void block_scores(const struct attention_dims *h, const float *q,
  enum weight_type type, struct position_block *b)
{
  /*- what is not seen scores -infinity, so that whole sixteens can go through the exponential */
  vec none = spread(-INFINITY);
  for (int i = 0; i < 256; i += WIDTH) memcpy(b->weight + i, &none, sizeof none);
  each_run (r, b)
    for (uint32_t t = r.t0; t < r.t1; t += WIDTH) {
      size_t here = r.t1 - t < WIDTH ? r.t1 - t : WIDTH, stride = b->v->row_bytes;
      const char *row = (const char *) (b->v->key + r.at + (t - r.t0) * stride);
      vec s = dots("attention", q, row, stride, here, type, h->head_dim,
        KEYS_AHEAD * stride) * spread(h->scale);
      s = blend((int) here, s, none);
      memcpy(b->weight + t % 256, &s, sizeof s);
      TALLY("pairs", 0, here);
    }
}

@ The greatest score of a block is found sixteen at a time as well; to a maximum the order does not matter. It begins at |-FLT_MAX|, as in the plain kernel. Were it to begin at $-\infty$, a block of which all scores are $-\infty$ would subtract it from itself, and have NaN where 0 should be (\cref{sec:blocks}).

@<The greatest score of a block@>=
INLINE float greatest(const float *score, size_t from, size_t to)
{
  float lane[16];
  /*- where the plain kernel begins: a block of scores that are all -infinity has sums of 0, not NaN */
  for (int j = 0; j < 16; j++) lane[j] = -FLT_MAX;
  for (size_t g = from / 16 * 16; g < to; g += 16)
    for (int j = 0; j < 16; j++)
      lane[j] = score[g + (size_t) j] > lane[j] ? score[g + (size_t) j] : lane[j];
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++)
      if (lane[j + s] > lane[j]) lane[j] = lane[j + s];
  return lane[0];
}

@ The second step takes sixteen exponentials at a time and adds each to its own lane. They overwrite the scores,
since the values will want them next.

@<The exponentials of a block, and their sum in lanes@>=
INLINE float exponentials(float *weight, size_t from, size_t to, float max)
{
  float lane[16] = @[{ 0 }@];
  for (size_t g = from / 16 * 16; g < to; g += 16) {
    /*- in the place of the scores, which nothing needs any more */
    float z[16], *w = weight + g;
    for (int j = 0; j < 16; j++) z[j] = num_expf(w[j] - max);
    for (int j = 0; j < 16; j++) lane[j] += z[j];
    memcpy(w, z, sizeof z);
  }
  return fold_array(lane);
}

@ The third step adds up the values, each times its exponential, over the same positions as the scores, so that the values between the sinks and the window are never touched. The sums of some columns stay in registers until the block is done, and a value is loaded once and used once. How many columns go together cannot be seen in the result, since each has a chain of its own.

@<The chain over a block for some columns@>=
INLINE void axpy_chain(int columns, const struct position_block *b,
  enum weight_type type, size_t first, float *o)
{
  /*- each column has a chain of its own, so how many go together cannot be seen */
  vec a[64 / WIDTH] = @[{ 0 }@];
  each_run (r, b) {
    uintptr_t place = b->v->value + r.at;
    for (uint32_t t = r.t0; t < r.t1; t++, place += b->v->row_bytes) {
      struct tensor row = @[{ (const void *) place, type }@];
      vec w = spread(b->weight[t % 256]);
      each (p, columns / WIDTH)
        a[p] = fused(w, load(row, first + (size_t) p * WIDTH), a[p]);
      TALLY("attention", 0, columns);
    }
  }
  memcpy(o, a, (size_t) columns * sizeof *o);
}

@ As many columns go together as fit into the registers, and then whole sixteens. The columns that are left, fewer than sixteen, fill their registers in part. In
a small model, whose heads have eight numbers, there are no others.

@<The values of a block, each times its exponential@>=
INLINE void axpy_few(size_t columns, const struct position_block *b,
  enum weight_type type, size_t first, float *o)
{
  vec a[PARTS] = @[{ 0 }@];
  each_run (r, b) {
    uintptr_t place = b->v->value + r.at;
    for (uint32_t t = r.t0; t < r.t1; t++, place += b->v->row_bytes) {
      struct tensor row = @[{ (const void *) place, type }@];
      vec w = spread(b->weight[t % 256]);
      each (p, PARTS) {
        int here = (int) columns - p * WIDTH;
        if (here > WIDTH) here = WIDTH;
        if (here > 0) a[p] = fused(w,
          load_partial(row, first + (size_t) p * WIDTH, here), a[p]);
      }
      TALLY("attention", 0, columns);
    }
  }
  float z[16];
  memcpy(z, a, sizeof z); /* whole, or else the sums would live in memory */
  memcpy(o, z, columns * sizeof *o);
}

@ The columns of a head are taken in this order: groups of the largest size first, then sixteens, then the rest.

@<The values of a block, each times its exponential@>=
INLINE void block_values(const struct position_block *b,
  enum weight_type type, size_t d, float *o)
{
  size_t c = 0;
  for (; c + 64 <= d; c += 64) axpy_chain(64, b, type, c, o + c);
  for (; c + 16 <= d; c += 16) axpy_chain(16, b, type, c, o + c);
  if (c < d) axpy_few(d - c, b, type, c, o + c);
}

@ One block for one head is these three steps in turn, with the cap of scores that one family has (\cref{sec:caps}) before the second, and leaves the three numbers or rows of numbers that the join needs.

@<Attention of one head over one block@>=
INLINE void attend_block(const struct attention_dims *h, const float *q,
  enum weight_type type, struct position_block *b, float *left)
{
  size_t from = b->t0 % 256, to = (b->t1 - 1) % 256 + 1;
  block_scores(h, q, type, b);
  cap_scores(b->weight, from, to, h->cap);
  left[PART_MAX] = greatest(b->weight, from, to);
  left[PART_SUM] = exponentials(b->weight, from, to, left[PART_MAX]);
  block_values(b, type, h->head_dim, left + PART_OUT);
}

@ One head of one row: all blocks that its range touches, and then the join. The results of the blocks are in the worker's own |scratch|. When the caller wants to see the weights, |kept| has room for them, and the exponentials are
kept there; they become weights after the join.
Several heads of queries share one head of keys where there are fewer of these (\cited[Ainslie and others 2023]{Ainslie 2023}).

@<All blocks of one head, and their join@>=
INLINE void attend_head(const struct attention_dims *h, const float *q,
  const struct kv_view *v, struct kv_range seen, enum weight_type type,
  float sink, float *scratch, float *y, float *kept)
{
  size_t d = h->head_dim, stride = PART_OUT + d, n = 0;
  struct position_block b;
  b.v = v, b.seen = seen;
  for (b.t0 = first_seen(&seen); b.t0 < seen.hi; b.t0 = next_block(&seen, b.t1)) {
    b.t1 = block_end(&seen, b.t0);
    attend_block(h, q, type, &b, scratch + n++ * stride);
    for (uint32_t t = b.t0; kept != NULL && t < b.t1; t = next_seen(&seen, t))
      kept[t] = b.weight[t % 256];
  }
  float l = join_blocks(scratch, n, d, sink, y);
  if (kept != NULL) finish_weights(&seen, scratch, stride, l, kept);
}

@ The join: the greatest maximum, the weight of each block, two chains, one division. A single block passes through it unchanged, because its weight is
$e^0$, exactly 1, and the chains begin with 0. The weights of the blocks take the place of their maxima, which are no longer needed. (A head with a |sink| begins maximum and sum with that, as the definition does.)

@<Join the blocks in rising order@>=
INLINE void join_columns(const float *left, size_t n, size_t stride, float l,
  size_t c, size_t here, float *y)
{
  /*- a single block passes unchanged: its weight is exactly 1, and the chain begins with 0 */
  float z[16] = @[{ 0 }@], o[16] = @[{ 0 }@];
  for (size_t i = 0; i < n; i++, left += stride) {
    memcpy(o, left + PART_OUT + c, here * sizeof *o);
    for (int j = 0; j < 16; j++) z[j] = fmaf(o[j], left[PART_MAX], z[j]);
  }
  for (int j = 0; j < 16; j++) z[j] = z[j] / l;
  memcpy(y + c, z, here * sizeof *z);
}
INLINE float join_blocks(float *left, size_t n, size_t d, float sink, float *y)
{
  size_t stride = PART_OUT + d, c = 0;
  float m = sink, l = 0;
  for (size_t i = 0; i < n; i++)
    if (left[i * stride + PART_MAX] > m) m = left[i * stride + PART_MAX];
  if (sink > -INFINITY) l = num_expf(sink - m);
  for (size_t i = 0; i < n; i++) {
    float w = num_expf(left[i * stride + PART_MAX] - m);
    l = fmaf(left[i * stride + PART_SUM], w, l);
    left[i * stride + PART_MAX] = w; /*- the maximum is not needed again */
  }
  for (; c + 16 <= d; c += 16) join_columns(left, n, stride, l, c, 16, y);
  if (c < d) join_columns(left, n, stride, l, c, d - c, y);
  return l;
}

@ So far each query has read all keys and values for itself. With one row that is what has to be done. In a prompt, neighbouring rows look at nearly the same positions, and so do the heads that share a head of keys. Then attention is two products of matrices with an exponential in between: queries times keys, and exponentials times values. The first is a linear layer whose weights are the keys, and is done in the same panels and tiles. The second is simpler still, since its definition has one chain for each number instead of sixteen, and the values of a position are neighbours already.
@^attention, of many rows@>

@ A \emph{unit} is at most |QUERIES| queries that share a head of keys: those of all its heads of queries, in a few neighbouring rows. It goes through the blocks of positions that any of them sees. Packing the keys of a block takes about as long as four tiles of queries take to use them. A unit has four such tiles with AVX-512 and eight with AVX2, so packing is at most half of the work on keys.

@<What a unit of queries has@>=
struct query_unit {
  const struct attention_dims *h;
  struct kv_view v; /* of the head of keys */
  size_t n, wide, deep; /* queries; columns of the values and rows of a panel, rounded up */
  const float *q[QUERIES];
  float *y[QUERIES], sink[QUERIES];
  uint32_t lo[QUERIES], hi[QUERIES]; /* the positions that a query sees */
  size_t blocks[QUERIES], most; /* with a result, of |most| */
  float *key, *value, *query, *score, *left; /* in the worker's workspace */
};

@ The room that it takes depends on the shapes, and for the results of the blocks, which wait for the join, on the longest range. A single row has no unit of queries; its heads are computed together (\cref{sec:heads34}), and |heads_room| is what that takes.

@<What a unit of queries has@>=
static bool is_tiled(const struct attention_dims *h, size_t rows)
{
  size_t group = h->n_heads / h->n_kv_heads;
  return rows * group >= MANY_QUERIES && group <= QUERIES;
}
static size_t attention_room(const struct attention_dims *h, size_t rows,
  size_t max_len)
{
  size_t d = h->head_dim, alone = heads_room(h, max_len);
  size_t deep = (d + 15) / 16 * 16, wide = (d + NR - 1) / NR * NR;
  if (!is_tiled(h, rows)) return alone;
  size_t tiled = sizeof(float) * (256 * (deep + wide)@|
    + QUERIES * (deep + 256 + kernels_scratch(h, max_len)));
  return tiled > alone ? tiled : alone;
}
static void unit_arrays(struct query_unit *u, float *room)
{
  u->key = room, u->value = u->key + 256 * u->deep;
  u->query = u->value + 256 * u->wide;
  u->score = u->query + QUERIES * u->deep;
  u->left = u->score + QUERIES * 256;
  memset(u->score, 0, QUERIES * 256 * sizeof *u->score);
}

@ The scores of one tile of queries. At the edge of what they see, the tile multiplies a few keys with queries that do not see them. Those products are thrown away: their scores are $-\infty$, as in the other way through attention.

@<The scores of a tile of queries@>=
TARGET static void tile_scores(struct query_unit *u, size_t first, size_t rows,
  uint32_t t0, uint32_t t1)
{
  float sum[TILE_ROWS * NR], *score = u->score + first * 256;
  for (size_t i = 0; i < rows * 256; i++) score[i] = -INFINITY;
  for (uint32_t t = t0; t < t1; t += NR) {
    uint32_t n = t1 - t < NR ? t1 - t : NR;
    packed_tile("attention", 0, rows, u->query + first * u->deep, (struct tensor)
      @[{ u->key + (t - t0) * u->deep, WEIGHT_F32 }@], u->h->head_dim, sum);
    for (size_t i = 0; i < rows; i++) {
      /*- keys that this query does not see were multiplied with it, and are not taken */
      uint32_t c = u->lo[first + i] > t ? u->lo[first + i] - t : 0;
      uint32_t to = u->hi[first + i] > t ? u->hi[first + i] - t : 0;
      float *its = score + i * 256 + t % 256;
      if (to > n) to = n;
      for (vec v; c + WIDTH <= to; c += WIDTH) {
        memcpy(&v, sum + i * NR + c, sizeof v);
        v *= u->h->scale;
        memcpy(its + c, &v, sizeof v);
      }
      for (; c < to; c++) its[c] = sum[i * NR + c] * u->h->scale;
    }
  }
}

@ The chains over values, for some rows and |NR| columns, go on where they were.

@<The chains of a tile of queries@>=
INLINE void value_chain(int rows, const float *e, const float *value,
  size_t wide, size_t n, float *sum)
{
  vec a[TILE_ROWS][2], b[2];
  each (r, rows) each (h, 2)
    memcpy(&a[r][h], sum + r * NR + h * WIDTH, sizeof a[r][h]);
  for (size_t k = 0; k < n; k++, value += wide) {
    each (h, 2) memcpy(&b[h], value + h * WIDTH, sizeof b[h]);
    each (r, rows) {
      vec v = spread(e[(size_t) r * 256 + k]);
      each (h, 2) a[r][h] = fused(v, b[h], a[r][h]);
    }
  }
  each (r, rows) each (h, 2)
    memcpy(sum + r * NR + h * WIDTH, &a[r][h], sizeof a[r][h]);
}
TARGET static void value_chains(size_t rows, const float *e, const float *value,
  size_t wide, size_t n, float *sum)
{
  if (rows == 1) value_chain(1, e, value, wide, n, sum);
  else if (tile_rows(rows) == TILE_ROWS) value_chain(TILE_ROWS, e, value, wide, n, sum);
  else if (tile_rows(rows) == TILE_ROWS / 3)
    value_chain(TILE_ROWS / 3, e, value, wide, n, sum);
  else value_chain(TILE_ROWS / 3 * 2, e, value, wide, n, sum);
}

@ The rows of a tile do not see the same positions: a later row sees more at the end and, with a window, fewer at the beginning. And a value that is not seen must be left out of the chain, for zero times infinity is NaN. So each chain goes alone up to the positions that the whole tile sees, takes these together with the others, and goes alone again. Only a few positions of a block are taken alone.

@<The chains of a tile of queries@>=
TARGET static void tile_values(struct query_unit *u, size_t first, size_t rows,
  uint32_t t0, size_t c, const uint32_t *from, const uint32_t *to, float *sum)
{
  /*- Together only where all rows of the tile see: a value that a row does not see must stay out of its
     chain, since zero times infinity is no number. */
  const float *value = u->value + c, *e = u->score + first * 256;
  uint32_t lo = from[0], hi = to[0];
  for (size_t i = 1; i < rows; i++) {
    if (from[i] > lo) lo = from[i];
    if (to[i] < hi) hi = to[i];
  }
  if (lo > hi) lo = hi = t0 + 256; /* nothing is seen by all */
  memset(sum, 0, TILE_ROWS * NR * sizeof *sum);
  for (int after = 0; after < 2; after++) {
    for (size_t i = 0; i < rows; i++) {
      uint32_t t = after ? hi : from[i], end = after || to[i] < lo ? to[i] : lo;
      if (t < end)
        value_chains(1, e + i * 256 + t % 256, value + t % 256 * u->wide, u->wide,
          end - t, sum + i * NR);
    }
    if (!after && lo < hi)
      value_chains(rows, e + lo % 256, value + lo % 256 * u->wide, u->wide, hi - lo, sum);
  }
}

@ One tile of queries over one block: scores, maxima, exponentials, values. A query that sees nothing of the block has no result for it.

@<A tile of queries over one block@>=
TARGET static void tile_block(struct query_unit *u, size_t first, size_t rows,
  uint32_t t0, uint32_t t1)
{
  float *left[TILE_ROWS], sum[TILE_ROWS * NR];
  uint32_t from[TILE_ROWS], to[TILE_ROWS];
  size_t d = u->h->head_dim;
  tile_scores(u, first, rows, t0, t1);
  for (size_t i = 0; i < rows; i++) {
    size_t at = first + i;
    float *score = u->score + at * 256;
    left[i] = u->left + (at * u->most + u->blocks[at]) * (PART_OUT + d);
    from[i] = u->lo[at] > t0 ? u->lo[at] : t0, to[i] = u->hi[at] < t1 ? u->hi[at] : t1;
    if (from[i] >= to[i]) from[i] = to[i] = t0, left[i] = NULL;
    else @<Take the exponentials of one query@>@;
  }
  for (size_t c = 0; c < d; c += NR) {
    tile_values(u, first, rows, t0, c, from, to, sum);
    for (size_t i = 0; i < rows; i++)
      if (left[i] != NULL)
        memcpy(left[i] + PART_OUT + c, sum + i * NR,
          (d - c < NR ? d - c : NR) * sizeof *sum);
  }
}

@ For one query of the tile the exponentials take the place of its scores, over the positions that it sees, and their maximum and sum go to the result of the block.

@<Take the exponentials of one query@>=
{
  size_t a = from[i] % 256, z = (to[i] - 1) % 256 + 1;
  cap_scores(score, a, z, u->h->cap);
  left[i][PART_MAX] = greatest(score, a, z);
  left[i][PART_SUM] = exponentials(score, a, z, left[i][PART_MAX]);
  u->blocks[at]++;
  TALLY("pairs", 0, z - a);
  TALLY("attention", 0, 2 * d * (z - a));
}

@ A unit, then: its queries are packed; for each block the keys and values are packed and each tile goes over them; and in the end every query joins its blocks as before. The first row begins lowest, and the last one ends highest, since rows of a segment follow each other.

@<All blocks of a unit of queries@>=
TARGET static void attend_queries(struct query_unit *u, float *room)
{
  uint32_t lo = u->lo[0], hi = u->hi[u->n - 1];
  unit_arrays(u, room);
  for (size_t i = 0; i < u->n; i += TILE_ROWS)
    pack_rows(u->q + i, u->n - i < TILE_ROWS ? u->n - i : TILE_ROWS,
      u->h->head_dim, u->query + i * u->deep);
  for (uint32_t t0 = lo, t1; t0 < hi; t0 = t1) {
    t1 = hi - t0 < 256 - t0 % 256 ? hi : t0 + 256 - t0 % 256;
    pack_positions(u, t0, t1);
    for (size_t i = 0; i < u->n; i += TILE_ROWS)
      tile_block(u, i, u->n - i < TILE_ROWS ? u->n - i : TILE_ROWS, t0, t1);
  }
  size_t d = u->h->head_dim;
  for (size_t i = 0; i < u->n; i++)
    join_blocks(u->left + i * u->most * (PART_OUT + d), u->blocks[i], d, u->sink[i],
      u->y[i]);
}

@ How much there is to do, and how much scratch memory a worker needs, follow from the ranges. The last row of a segment sees the most, and all rows are counted like it; so are
the positions between sinks and window, which no row sees. Both may be estimated too high, never too low. The heads of a small model, with \given{8} numbers, would leave half of a register of AVX-512 empty; there |NARROW| names the table of AVX2, whose registers they fill.

@<Do attention@>=
static void attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
#ifdef NARROW
  if (NARROW_HEADS && h->head_dim < WIDTH) {
    NARROW.attend(e, h, q, list, n, scratch, y, probe);
    return;
  }
#endif
  size_t max_len = 0, pairs = 0;
  for (size_t k = 0; k < n; k++) {
    struct kv_range last = segment_range(&list[k], list[k].n_rows - 1);
    size_t len = last.hi - (last.sinks > 0 ? 0 : last.lo);
    pairs += len * list[k].n_rows, max_len = len > max_len ? len : max_len;
  }
  struct attend_job job = @[{ h, q, list, n, scratch, y,@|
    kernels_scratch(h, max_len), max_len, probe, e->pool }@];
  bool large = pairs * h->n_heads * h->head_dim >= WORTH_DIVIDING;
  pool_run(large ? e->pool : NULL, attend_part, &job);
}

@* The ladder: what each step is worth. \label{sec:ladder}
Now we can answer the question at the head of the chapter. Take one layer of the model of \given{110}\,M weights, \given{768} inputs by \given{2048} outputs, and give it \given{96} rows. Before a step is timed, we say what it should bring. The unit is the rate of a \emph{probe}, a loop that only multiplies and adds in registers. The probe runs once in each round of all steps, so that a slow minute of the machine is slow for both.

The processor is an AMD EPYC with cores of the kind Zen~5, whose multipliers take a whole register of AVX-512, twice a cycle: \given{32} multiply--adds. A single sum must wait for its last addition, about three cycles, so the textbook's loop should reach $1/96$ of the probe. The definition in plain C may not assume that the processor has a fused multiply--add. It calls |fmaf| each time, and a call takes about ten cycles: \given{1/320}. (The library's |fmaf| has the instruction inside, if the processor has it. Without it, the library needs several times as long.) With the instruction and sixteen lanes, each
multiply--add still needs two loads, an input and a weight, and a core loads twice a cycle: $1/2$. A tile loads less often than it multiplies (\cref{fig:tiles}): nearly 1. With AVX2, whose registers are half as wide, both should be half of that. Weights in bfloat16 are half as many bytes, which matters only if bytes are what the step waits for, and we did not expect that: 1 again. Integers of eight bits go four to a float's place, and an instruction of VNNI multiplies and adds all four (\cref{kernels/inside}): 4.
@^probe@>

\begin{table}[tbp]
\tabcaption{tab:ladder}{One layer with \given{96} rows, one thread unless two are named: $10^9$ multiply--adds a second, and their share of the probe in percent, predicted and seen.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrl@@{}}
\tabhead{step} & \tabhead{rate} & \tabhead{predicted} & \tabhead{seen} & \tabhead{what it waits for}\\\midrule
one sum, the textbook's & \val[2]{simd.ladder.textbook} & \given{1.0} & \val[1]{simd.ladder.textbook.share} & its last addition\\
the definition, plain C & \val[2]{simd.ladder.plain} & \given{0.3} & \val[1]{simd.ladder.plain.share} & the call of |fmaf|\\
lanes, no instruction & \val[2]{simd.ladder.portable} & \given{0.3} & \val[1]{simd.ladder.portable.share} & the call of |fmaf|\\
AVX2, row by row & \val[1]{simd.ladder.avx2.rows} & \given{25} & \val[0]{simd.ladder.avx2.rows.share} & loads\\
AVX2, tiles & \val[1]{simd.ladder.avx2.tiles} & \given{50} & \val[0]{simd.ladder.avx2.tiles.share} & packing\\
AVX-512, row by row & \val[1]{simd.ladder.avx512.rows} & \given{50} & \val[0]{simd.ladder.avx512.rows.share} & its last multiply--add\\
AVX-512, tiles & \val[1]{simd.ladder.avx512.tiles} & \given{100} & \val[0]{simd.ladder.avx512.tiles.share} & packing\\
weights packed before & \val[1]{simd.ladder.avx512.packed} & \given{100} & \val[0]{simd.ladder.avx512.packed.share} & memory\\
two threads & \val[1]{simd.ladder.two} & \given{200} & \val[0]{simd.ladder.two.share} & not known\\
weights in bfloat16 & \val[1]{simd.ladder.bf16} & \given{100} & \val[0]{simd.ladder.bf16.share} & memory\\
Q8\_0, int8 inputs & \val[1]{simd.ladder.q8_0} & \given{400} & \val[0]{simd.ladder.q8_0.share} & scales of blocks\\
Q4\_0, int8 inputs & \val[1]{simd.ladder.q4_0} & \given{400} & \val[0]{simd.ladder.q4_0.share} & scales of blocks
\end{tabular*}
\end{table}

@ \Cref{tab:ladder} and \cref{fig:ladder}\lab{lab:ladder} have what we saw. Each step gives the bits of the plain table for the same weights and inputs: we compared five rows of each step, and \val{simd.differ} outputs differ.\lab{lab:equalrungs} The textbook's sum is another sum, and \val{simd.textbook.differ} of its \val{simd.textbook.of} outputs have other bits. The textbook's loop makes $\val[1]{simd.ladder.textbook}\cdot10^9$ multiply--adds a second; the tiles of AVX-512 make $\val[0]{simd.ladder.avx512.tiles}\cdot10^9$, and have the bits of the definition in plain C, which makes $\val[1]{simd.ladder.plain}\cdot10^9$.

\fig{ladder}{fig:ladder}{The steps of the ladder: one layer with \given{96} rows, $10^9$ multiply--adds a second. The line is the probe.}{Twelve steps from bottom to top on a logarithmic axis. The three without the instruction lie far to the left. The two that go row by row with vectors reach a quarter and a third of the line of the probe, the tiles of AVX-512 come close to it, and two threads and int8 inputs are to the right of it.}

Most predictions were too good. Those for tiles and for integers left out what does not shrink with the multiply--adds. A tile has to be packed first, each weight once a call. With \given{96} rows that is one move for \given{96} multiply--adds, yet it is a move across memory. Weights that were packed before save that move, but they still come from memory: each step has a matrix of its own, and together they do not fit into the third-level cache. (\Cref{fig:simdroof} has the same layer with weights that stay there; then packing before is worth more.) For the same reason weights in bfloat16, which are half as many bytes, are faster than floats, against our prediction. A block of integers ends after \given{32} numbers with a conversion to float and a multiply--add by the product of two scales. That work does not shrink with the integers, and we think that it is what keeps the last two lines from their prediction.

Row by row, AVX2 does better than predicted: it takes rows of floats by fours, and an input that was loaded once serves all four. AVX-512 takes them one after the other, for the sake of memory (\cref{sec:linear}), and each multiply--add waits for the one before. A single chain would reach $1/8$. We see twice that, probably because a row has only 48 steps of sixteen, and the processor begins the next row before the last one is done. The textbook's sum is faster than it should be, as if an addition took two cycles and not three. Perhaps it does: a processor can hand the result of an addition straight to the next one, and our three cycles were those of its predecessors. We have not measured that addition alone. And we cannot say what two threads lose: the probe runs on one thread only, and the machine is a virtual one, whose two processors may share more than we know.

@ With one row nothing is used twice, and the bound is that of \cref{sec:roofline}'s slope: the bytes of the weights by the bandwidth. \Cref{fig:simdroof}\lab{lab:simdrows} puts both ends into one picture. The curves are those of a layer that stays in the third-level cache, which is faster than memory, so they begin above the slope; with more rows they bend to the level of the probe. (Those of float weights dip where there is one row more than a tile has, and also at four rows, for which this build still packed the weights.) The diamonds are single rows whose weights do come from memory, as in decoding. They lie at the slope or below it, and smaller weights move them to the right along it: that is the whole gain of quantization in decoding.

\fig{simdroof}{fig:simdroof}{One layer on the roofline of the two probes. Each point of a curve is a number of rows, with weights from the third-level cache. Diamonds: one row, with weights from memory.}{Logarithmic axes, multiply-adds for each byte of weights against multiply-adds a second. A slope and a level are the bounds. The points of float weights climb with the rows, but for two dips, and end just below the level; those of int8 inputs go above it.}

In a long context attention is the same kind of work: each key and each value is read once, for one row. \Cref{fig:simdattention}\lab{lab:simddepth} shows how many of those bytes pass in a second, on another machine than that of the ladder, one with AVX2. If each head goes through the cache alone (open circles), a row does not keep up with the memory. We had suspected the exponentials, but a profile has next to nothing there; the time goes into waiting for keys and values. A head takes a piece of each row, so that memory is never read from end to end, as the probe reads it. Taken together (\cref{sec:heads34}), the heads read whole rows, one after the other. With \given{8192} positions in the cache this raises a row's share of the probe from \val[0]{simd.depth.f32.alone.8192.share} to \val[0]{simd.depth.f32.together.8192.share} percent for floats, and from \val[0]{simd.depth.f16.alone.8192.share} to \val[0]{simd.depth.f16.together.8192.share} percent for halves.

\fig{simdattention}{fig:simdattention}{Attention of one row over a long cache: gigabytes of keys and values a second, for a cache in float32 and in float16, with each head alone and with all heads together. Dashed: the probe that reads, in the same run.}{Four measured curves, almost level. For both types the one with all heads together lies well above the one with each head alone; that of float32 comes nearest to the dashed lines of the probe.}

@* Beside other engines. \label{sec:peers}
The probe says how far a kernel is from its machine. It does not say whether another engine is nearer. So \.{make peers} gets other engines, builds them for the machine it runs on, writes the same random weights in the format of each, and lets them work in turn, each time between two runs of the probes. \Cref{tab:peers} has the medians of ten rounds on the machine of the ladder, with its two processors.

@ We had wanted more: a prompt at \given{85} percent of the multiply--adds and half again as fast as llama.cpp, decoding at \given{90} percent of the memory's rate. Decoding with weights in float32 and bfloat16 reaches that, a prompt in blocks of bytes is read several times as fast as by llama.cpp, and the smallest model writes faster by an even larger factor. \Cref{tab:profile} says where the time goes in those that miss it.
@^profile@>@^llama.cpp@>@^ik\_llama.cpp@>

\begin{table}[p]
\tabcaption{tab:peers}{What this engine does on the machine of the ladder, and beside others: our rate, its share of the probe in percent (reading, multiply--adds, or integer products), and the quotients of our rate and theirs in the same round, medians of ten. Units: prefill and decode, tokens a second; four rows, the time of a pass of one row; memory, the bytes of weights and cache together. For ik\_llama.cpp we take the faster of its two ways to store the weights. The lines \emph{after \given{8192} rows} decode with the model of \given{110}\,M weights in float32 and a cache of the type that is named. Where less is better, theirs is divided by ours. The indented lines have quotients of medians. A dash: not measured, or the engine cannot do it.}
\footnotesize\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrr@@{}}
\tabhead{work} & \tabhead{threads} & \tabhead{ours} & \tabhead{share} & \tabhead{llama.cpp} & \tabhead{ik\_llama.cpp}\\\midrule
\directlua{incipit.peers("figures/data/peers.csv")}
\end{tabular*}
\end{table}

\begin{table}[tbp]
\tabcaption{tab:profile}{Where the time of a pass goes, in percent of the samples of a profiler, one thread on the same machine: in the matrices, in packing weights and rounding inputs, in attention, in the other kernels, and in the operating system.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrr@@{}}
\tabhead{work} & \tabhead{matrices} & \tabhead{packing} & \tabhead{attention} & \tabhead{others} & \tabhead{system}\\\midrule
\directlua{incipit.profile("figures/data/profile.csv")}
\end{tabular*}
\end{table}

A prompt of floats spends so much of its time outside of the matrices that the pass would miss the goal even if they were multiplied at the rate of the probe. With weights in bfloat16 both others are faster than we are: this processor multiplies pairs of bfloat16 in one instruction (AVX512-BF16), and they round the inputs for it. We do so only on request, as in the next line of the table. In decoding most of the time is in the rows of the matrices, and a part of the rest in the operating system, which maps the file into memory when a page of it is touched for the first time. The probe only reads. A kernel also widens its weights and multiplies, so it has fewer lines of memory under way. We think that this is the difference.

@ What helped is in the kernels of this chapter and of \cref{kernels/inside}. Up to |STORED_MOST| rows multiply blocks as they lie in the file. For a single row a register of AVX-512 is filled with bytes as they lie, 16 of each of four outputs, or 64 of one output whose blocks are large; the same instructions take them all apart, and what comes one and a half strips later is asked for meanwhile. For a few rows the words are turned, once for all of them, just before they are used (\cref{sec:turnedrow}): on a Zen~4 a pass of four rows of Q8\_0 takes \val[2]{simd.few.pass.q8_0.mapped.4.1} times as long as a pass of one, since they wait for the same bytes. (\Cref{tab:peers} has the same quotient on the machine of the ladder.)

@* Prefetching, and what else the clock chose. \label{sec:tuning}
When one row is multiplied, nearly every load finds its line in memory only, and memory is slow to answer. A program can ask earlier. A \emph{prefetch}, also called a hint, is an instruction with an address and a cache: it fetches the line into that cache, nothing waits for it, and if the address does not exist, nothing happens. In C it is |__builtin_prefetch(p, 0, 3)| for the first-level cache and all below it, and with 2 in place of 3 for the second-level cache. No bit of a result depends on it.
@^prefetch@>@^cache, of a processor@>

Which cache would you choose? The first is the nearest, so we asked for that. On a processor of the kind Zen~5 we saw no difference. On a Zen~4 it halves the speed of decoding: with the same kernels and a hint into the first-level cache, a row by a matrix in blocks runs at \val[2]{simd.tune.hint.3.one.q4_0.1} (Q4\_0), \val[2]{simd.tune.hint.3.one.q4_k.1} (Q4\_K) and \val[2]{simd.tune.hint.3.one.q8_0.1} (Q8\_0) of the speed that it has with a hint into the second. Rows of floats (\val[2]{simd.tune.hint.3.one.f32.1}) and attention over a long cache (\val[2]{simd.tune.hint.3.heads.f32.1}) lose less.

We think that this is why. A core has only a few places to note which lines the first-level cache waits for, and a hint into that cache takes one of them until memory answers. When they are all taken by hints, the loads that the kernel needs now must wait. The second-level cache has more places, and a load that finds its line there waits so briefly that the processor has other work meanwhile. How many places there are differs from one kind of processor to the next, so a hint that is right on one can be wrong on another, and only a clock tells.

@ How far ahead to ask is the same kind of choice: too near, and the line comes late; too far, and it is thrown out again before it is used. So is the number of rows from which packing pays, and so is how long a waiting thread spins. We call them \emph{tuned} numbers.
They are together in one header, \.{ground/tuning.h}. \.{make tune} puts other values in their places, one at a time, compiles the kernels for each, and lets all of them do the same work in one process, turn about. It compares their bits, prints how fast each is beside the value of the header, and says what it would choose on this machine.
\Cref{tab:tuned}\lab{lab:tuned} has what a Zen~4 says. So far one header serves all our machines. It is a compromise: what is best differs from machine to machine, and where it does, we avoid the greater loss.
The table cannot show how processors differ. On a Zen~3 with AVX2, rows of floats by fours were the faster way (|FOURS_FLOATS|), on a Zen~5 with AVX-512 one after the other; there the width of the registers decides. (This number and |SPIN_YIELD| have no other value in the table: to try one takes another processor, or two idle ones.) One line asks us to look again: with sixteen positions in turn (|TOGETHER|), attention over a cache of halves gains more on this machine than anything else in the table does. The header has not followed yet. The sizes of tiles were not timed but worked out from the number of registers, and pages of \given{64} rows come from an experiment in \cref{sec:layout}.

Five things that a person who tunes kernels asks for are not here. The panel of a strip (\cref{sec:room}) fits into the second-level cache only if its rows are not too long: with \given{11008} inputs AVX-512's panel of \given{32} outputs is \given{1.4} MB of floats, more than many such caches, and |MOST_ROWS| packed rows are \given{22.7} MB for each worker. The libraries for matrix products therefore cut the inputs into pieces as well, which is called \emph{cache blocking}. We do not, because a tile would have to put away and take up again the sums of all sixteen lanes for each piece.
On a machine with several processors each has memory of its own (\emph{NUMA}), and a worker should find its weights in the nearest one. Large pages (\emph{huge pages}) would spare look-ups in the processor's table of pages, the TLB. And some processors lower their clock while they run AVX-512. We do nothing about these three, and our machines, virtual ones with two processors, could not have told us whether it helps. Nor do we use the matrix units of newer processors (AMX, SME).
@^cache blocking@>@^AMX@>@^NUMA@>@^huge pages@>@^TLB@>

\begin{table}[p]
\tabcaption{tab:tuned}{The tuned numbers, what each is, and other values beside it, on an AMD EPYC of the kind Zen~4 with AVX-512: how fast each other value is, as a multiple of the speed with the value of the header. Where it was tried on several kinds of work, the least and the greatest of the medians. Above 1 the other value is faster.}
\footnotesize\def\arraystretch{.92}\begin{tabular}{@@{}l@@{\enspace}r@@{\enspace}p{77mm}@@{}}
\tabhead{number} & \tabhead{here} & \multicolumn{1}{@@{}l@@{}}{\tabhead{what it is, and other values}}\\\midrule
\directlua{incipit.tuned("figures/data/simd.tune.csv")}
\end{tabular}
\end{table}

@ \Cref{tab:peersfour} has some rows of \cref{tab:peers} once more, on this Zen~4. Here we read a prompt faster than llama.cpp, and decode blocks of bytes faster; it decodes floats and Q4\_K faster. Ik\_llama.cpp lays blocks out anew for its kernels and is ahead with all of them, and with the prompt. If you ask which engine is the fastest, the question lacks a processor.

\begin{table}[tbp]
\tabcaption{tab:peersfour}{As \cref{tab:peers}, medians of five rounds, on an AMD EPYC of the kind Zen~4 with two processors. Other programs ran now and then, so that rows with two threads scatter.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrr@@{}}
\tabhead{work} & \tabhead{threads} & \tabhead{ours} & \tabhead{share} & \tabhead{llama.cpp} & \tabhead{ik\_llama.cpp}\\\midrule
\directlua{incipit.peers("figures/data/peers.zen4.csv")}
\end{tabular*}
\end{table}

@* The check. \label{sec:kernelcheck}
On every machine this must come out, whichever table it has.

\checkpoint{build/out/kernels.txt}{what the program of this chapter prints}

@* The tables. \label{sec:kerneltables}
What the four heads share, in the order in which C wants it, comes to this. It is written once, and compiled with each head. Attention goes from a single row of the cache to the division of the work; each part
uses only those above it.

@(attention.inc@>=
/** Attention of one head at a time, and of tiles of queries. Blocks of 256 positions have a maximum, a
  sum and sums of values each, and are joined in rising order, whatever the layout of the cache and the
  division of the work. */
#include "kernels/products.inc"
#include "kernels/panels.inc"
#include "kernels/join.inc"
@<The scores of a block@>@;
@<The chain over a block for some columns@>@;
@<The values of a block, each times its exponential@>@;
@<Attention of one head over one block@>@;
@<All blocks of one head, and their join@>@;
#include "kernels/heads_room.inc"
@<What a unit of queries has@>@;
#include "kernels/keys.inc"
@<The scores of a tile of queries@>@;
@<The chains of a tile of queries@>@;
@<A tile of queries over one block@>@;
@<All blocks of a unit of queries@>@;
#include "kernels/segments.inc"
@<Do attention@>@;

@ One head and all heads together give a block the same maximum and the same sum, and join blocks in the same way.

@(join.inc@>=
/** What one head and all heads together have in common: the result of a block of positions, and the
  join. */
@<The result of one block of positions@>@;
#include "kernels/positions.inc"
#include "kernels/cap.inc"
@<The greatest score of a block@>@;
@<The exponentials of a block, and their sum in lanes@>@;
@<Join the blocks in rising order@>@;

@ The table itself is compiled with all kernels that are small.

@(table.inc@>=
/** A table, compiled with all kernels that are small. The including file says NAME, TABLE and which
  parts it has (FLOATS, BLOCKS, PAIRS, ATTENTION). */
#include "kernels/shares.inc"
#include "kernels/load.inc"
@<The dot product of sixteen lanes@>@;
#include "kernels/norms.inc"
#include "kernels/curves.inc"
#include "kernels/probes.inc"
#include "kernels/entries.inc"
@<The functions of a table@>@;

@ A table says of each kernel by name which function it is. Without the names two of the same type, |softmax| and |log_softmax|, could be
exchanged, and the compiler would see no fault.

@<The functions of a table@>=
const struct kernels TABLE = @[{ .name = NAME, .memory = &buffers_host,@|
.matrix_types = WEIGHTS_ALL, .int8_types = WEIGHTS_IN_BLOCKS,@|
.bf16_types = 1u << WEIGHT_BF16,@|
.linear_int8 = linear_int8, .linear_bf16 = linear_bf16,@|
.split = host_split, .gather = host_gather, .write = host_write,@|
.mark_nonfinite = mark_nonfinite,@|
.linear = linear, .room = room, .attention_room = attention_room,@|
.normalize = normalize, .rotate = rotate,@|
.attend = attend, .activate = activate, .add = add,@|
.embed = embed, .angles = angles, .softmax = softmax,@|
.log_softmax = log_softmax, .exp_shifted = exp_shifted,@|
.prepared_bytes = prepared_bytes, .prepare = prepare,@|
.mul_add_unfused = mul_add_unfused, .mul_add_fused = mul_add_fused,@|
.probe_flops = probe_flops, .probe_bandwidth = probe_bandwidth }@];

@* Exercises. \label{sec:simdexercises}
The command beside an exercise judges your answer. Exercise 7 changes the engine, and the command builds it anew; for exercise 8 you write a kernel of your own, on any machine, and on one with AVX2 it is timed beside the probe.

\begin{exercises}
\exercise{check}{ex:simd.place}{A panel holds the weights of outputs with \given{768} inputs. How many weights of the same output come before that of input 37?}{\texttt{make exercise-11-1}}{$37\bmod16=5$, and the four bits of 5 reversed are those of 10. Ten lanes of 48 weights come before, and in the lane itself the weights of inputs 5 and 21: $\given{482}$.}
\exercise{check}{ex:simd.fold}{Sixteen numbers are added: $2^{24}$, and then fifteen ones. What is their sum as floats in one chain, and what in sixteen lanes with the fold of the definition?}{\texttt{make exercise-11-2}}{In one chain each 1 is half a unit in the last place and is rounded away: $\given{16\,777\,216}$. The lanes add ones to ones first, and lose only the 1 that meets $2^{24}$ alone: $\given{16\,777\,230}$.}
\exercise{think}{ex:simd.tall}{A machine has 64 vector registers. How many rows has the tallest tile with three registers of outputs, and how many loads does it need for each multiply--add? Give two decimals.}{\texttt{make exercise-11-3}}{$3m+3+1\le64$ gives $m=20$, and $(3+20)/60=\given{0.38}$.}
\exercise{think}{ex:simd.chains}{A multiply--add takes four cycles, and two can begin in each. How many chains must be under way at least, so that none waits? How many rows must a tile with two registers of outputs have for that?}{\texttt{make exercise-11-4}}{$4\cdot2=8$ chains, which are the sums of 4 rows.}
\exercise{think}{ex:simd.bound}{A model has $\given{1.1}\cdot10^9$ weights, and memory delivers \given{20} GB a second. How many tokens a second can be decoded at most in \texttt{q8\_0}, and how many in \texttt{q4\_0}? Give one decimal.}{\texttt{make exercise-11-5}}{A block of 32 takes 34 bytes or 18: $\given{17.1}$ and $\given{32.3}$.}
\exercise{think}{ex:simd.rows}{Tiles have twelve rows, and what is left over is rounded up to thirds of a tile. For how many rows does a layer with 13 rows pay, and for how many one with 17?}{\texttt{make exercise-11-6}}{$12+4=16$ and $12+8=20$.}
\exercise{check}{ex:simd.shares}{When the panels of a matrix cannot be divided evenly, |worker_begin| gives more of them to the last worker. Let worker 0, the calling thread, which begins first, have the largest share instead. Shares still begin at whole panels and differ by one panel at most, and no bit of a result changes.}{\texttt{make exercise-11-7}}{The quotient is rounded up: |((n + step - 1) / step * worker + workers - 1) / workers * step|.}
\exercise{think}{ex:simd.kernel}{Write a kernel for many rows: a function |multiply| in C with the loads and multiply--adds of sixteen lanes that the skeleton names. It must give the bits of the plain table, do each multiply--add once, load at most $\given{0.9}$ times for each, and, where there is AVX2, reach a tenth of the probe. The number of inputs is a multiple of 16.}{\texttt{make exercise-11-8}}{Two rows by three outputs share five loads for six multiply--adds, and their six sums are twelve registers of AVX2. Row by row each multiply--add needs two loads. The model answer has 25 lines and is about a quarter as fast as the probe.}
\end{exercises}
