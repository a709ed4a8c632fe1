@i types.w
@s vec int
@s each while
@s each_run while
@s TARGET inline
@s INLINE inline
@s __m128 int
@s __m128i int
@s __m512 int
@s __m512i int
@s uint16x4_t int

\chapterquestion{How can three programs for three processors give the same bits?}
@** Kernels in scalar C, AVX2 and AVX-512.
\incipit{A}{ kernel is} one of the dozen loops in which a model spends its time. Chapter 2 defined what each computes, rounding by
rounding. Here they are written, once in plain C and in two kinds of vector instructions (SIMD: a single instruction for multiple data). There is nothing about language in this chapter. If
you are content to know that |linear| multiplies a matrix, you can skip it.
@^kernel@>@^SIMD@>@^AVX2@>@^AVX-512@>

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

@ All tables that this machine can run make the same product: |apart| counts the numbers in which one of them differs from the first. The rows
are no multiple of sixteen and the outputs no multiple of a tile, so that the awkward ends are in it, and nearly every product must be rounded.

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
What a kernel is given, and what it must do, was settled in \cref{model}, which has a plain table of kernels; the structures are in \cref{sec:kerneltable}. The header of this chapter says how the fast ones are found.

@(kernels.h@>=
#ifndef INCIPIT_KERNELS_H
#define INCIPIT_KERNELS_H
#include "model/model.h"
#include "model/quantization.h"
@<Prepared weights@>@;
@<How a table is found@>@;
#endif

@ A copy is found by the address of the weights from which it was made. If the engine has no copies, or none of this matrix, |linear| uses the weights as they are in the file.

@<Prepared weights@>=
struct prepared_matrix { const void *weight; void *copy; };
  /* a matrix, by the address of its weights, and the copy of them */
struct prepared_weights { const struct kernels *k; enum activations activations;
  size_t n; struct prepared_matrix *of; };
  /* copies of the weights of |n| matrices for the table |k| and an engine's |activations|, by rising addresses */
struct prepared_weights *prepared_open(struct memory *m, const struct kernels *k,
  enum activations asked, const struct matrix *const *list, size_t n,
  struct error *why);
  /* copies for those of |n| matrices for which |k| wants any, when an engine's activations are |asked|; null and a sentence if memory is refused. Owned by the
     caller, and must live as long as any engine that has it, and not longer than the weights */
void prepared_close(struct memory *m, struct prepared_weights *p);
  /* frees the copies; null does nothing */
struct prepared_weights *model_prepare(struct memory *m, const struct kernels *k,
  enum activations asked, const struct model *lm, struct error *why);
  /* copies of all matrices of |lm| for which |k| wants any; null and a sentence. Owned by the caller; the
     model stays as it is */
const void *prepared_find(const struct engine *e, const struct matrix *w);
  /* the copy of the weights of |w| for the engine's table, or null */

@ Which tables there are depends on the build and on the processor it finds itself on.
That is asked here, once, and never again.

@<How a table is found@>=
const struct kernels *kernels_find(const char *name, struct error *why);
  /* the table called |name|, \.{plain}, \.{scalar}, \.{avx2}, \.{avx512} or \.{neon}, or for null the
     fastest that this processor can run; null and a sentence that lists those it can */
const struct kernels *kernels_at(size_t i);
  /* table number |i| of those that this build has and this processor can run,
     the slowest first; null after the last */

@ Kernels need exponentials, sines and powers, and take them from \cref{functions}, where each has the same bits on every machine. Some of those functions
are in its header and are compiled into the loops that use them. The others are called; this is the part of the header that declares them.

\printedheader[176,212]{functions/numbers.h}

@* Sixteen lanes in three widths. \label{sec:bodies}
Each kernel is written once. What differs between the tables is a handful of definitions that come
before: how wide a register is, how to say multiply--add, and an attribute that allows the compiler to use
these instructions in these functions although the rest of the program must run without. So there is one text of the bodies, \.{bodies.inc}, and four heads:
each of the files below makes its definitions and then includes it.
@^multiply--add@>

@(scalar.c@>=
#include "kernels/kernels.h"
#include "functions/numbers.h"
#define NAME "scalar"
#define TARGET
#define WIDTH 4
#define TILE_ROWS 6
#include "kernels/lanes.inc"
@<Multiply--add and the rest, in plain C@>@;
#include "kernels/bodies.inc"
const struct kernels kernels_scalar =
  @[@<The functions of a table@>@];

@ This file is for AVX2, the common ground of nearly all processors for personal computers since 2015. A register has eight
lanes, so sixteen lanes are two registers, and there are sixteen of those. The tile of three rows and two
outputs uses twelve for sums; with two weights and one input at a time that is all but one.
@^register@>

@(avx2.c@>=
#include "kernels/kernels.h"
#include "functions/numbers.h"
#if defined __x86_64__
#include <immintrin.h>
#define NAME "avx2"
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define WIDTH 8
#define TILE_ROWS 6
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for AVX2@>@;
#include "kernels/bodies.inc"
const struct kernels kernels_avx2 =
  @[@<The functions of a table@>@];
#endif

@ And this one is for AVX-512, where sixteen lanes are one register and there are thirty-two of them:
twenty-four sums, four weights, one input.

@(avx512.c@>=
#include "kernels/kernels.h"
#include "functions/numbers.h"
#if defined __x86_64__
#include <immintrin.h>
#define NAME "avx512"
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,"@| \
  "avx512vl,avx2,fma,f16c")))
#define WIDTH 16
#define TILE_ROWS 12
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for AVX-512@>@;
#include "kernels/bodies.inc"
const struct kernels kernels_avx512 =
  @[@<The functions of a table@>@];
#endif

@ Processors with the instructions of ARM have thirty-two registers of four lanes, in every one of them that has 64 bits; so this table needs no question to the processor, and the attribute is empty.
@^NEON@>@^aarch64@>

@(neon.c@>=
#include "kernels/kernels.h"
#include "functions/numbers.h"
#if defined __aarch64__
#include <arm_neon.h>
#define NAME "neon"
#define TARGET
#define WIDTH 4
#define TILE_ROWS 12
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for NEON@>@;
#include "kernels/bodies.inc"
const struct kernels kernels_neon =
  @[@<The functions of a table@>@];
#endif

@ A |vec| is a register: gcc and clang let us add and multiply such things with the
ordinary signs. A sum that shall stay in registers must be an array whose indices
the compiler knows, so the loops over it have to be written out; |each| asks
for that. It is a |for| loop in all other respects.

|TALLY| is nothing at all, except in a test that defines it to count every
multiply--add one by one and hold the sum against the counters. All this is the same for every head, too, and is a file with as little of its own as the bodies: neither can be
compiled alone, and neither is a header for anybody else.
@^unrolling@>

@(lanes.inc@>=
#if defined __clang__
#define each(i, n) @[_Pragma("unroll") for (int i = 0; i < (n); i++)@]@;
#else
#define each(i, n) @[_Pragma("GCC unroll 16") for (int i = 0; i < (n); i++)@]@;
#endif
#define INLINE @[static inline __attribute__((always_inline)) TARGET@]@;
#ifndef TALLY
#define TALLY(what, worker, amount) ((void) 0)
#endif
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
enum { PARTS = 16 / WIDTH, NR = 2 * WIDTH };

@ In plain C the multiply--add is a call for each lane, since a compiler that may not assume the
instruction has nothing better; |fmaf| computes the same with whole numbers if it must. This table is
slow, and is there for machines that have neither of the other two, and to be compared with.

@<Multiply--add and the rest, in plain C@>=
INLINE vec fused(vec a, vec b, vec c)
{
  for (int j = 0; j < WIDTH; j++) c[j] = fmaf(a[j], b[j], c[j]);
  return c;
}
INLINE vec spread(float x)
{@+ return (vec) @[{ x, x, x, x }@];@+ }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  vec v = @[{ 0 }@];
  for (int j = 0; j < WIDTH; j++)
    v[j] = type == WEIGHT_F16 ? num_from_f16(h[j]) : num_from_bf16(h[j]);
  return v;
}
INLINE vec i8_to_f32(const int8_t *small)
{
  vec v = @[{ 0 }@];
  for (int j = 0; j < WIDTH; j++) v[j] = (float) small[j];
  return v;
}
@<Choose lanes and fold them, in plain C@>@;

@ |blend| takes the first |n| lanes from |a| and the others from |b|, and |load_first| loads |n| floats and fills the other lanes with zeros; the ends of rows will need both. |fold_all| folds as many sums as there are lanes, the last two steps of each: the halves of two sums become one register, twice, and then the neighbours of those two another. Every table's |fold_all| is a tree of such additions, with as many steps as its width wants; and each compiler has its own way to say how the lanes of two registers are mixed, which |MIX| hides.

@<Choose lanes and fold them, in plain C@>=
INLINE vec blend(int n, vec a, vec b)
{
  for (int j = 0; j < WIDTH; j++) a[j] = j < n ? a[j] : b[j];
  return a;
}
INLINE vec load_first(const void *p, int n)
{
  vec v = @[{ 0 }@];
  memcpy(&v, p, (size_t) n * sizeof (float));
  return v;
}
@<Fold sixteen lanes in an array@>@;
INLINE vec fold_all(const vec *a)
{
  vec b[2];
  each (i, 2) b[i] = MIX(a[2 * i], a[2 * i + 1], 0, 1, 4, 5)
    + MIX(a[2 * i], a[2 * i + 1], 2, 3, 6, 7);
  return MIX(b[0], b[1], 0, 2, 4, 6) + MIX(b[0], b[1], 1, 3, 5, 7);
}

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
@<Fold sixteen lanes in an array@>@;
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

@ For AVX-512 the same with longer names. What decides between the two tables is never what an instruction gives, only how many lanes it
gives at once.

@<Multiply--add and the rest, for AVX-512@>=
INLINE vec fused(vec a, vec b, vec c)
{@+ return _mm512_fmadd_ps(a, b, c);@+ }
INLINE vec spread(float x)
{@+ return _mm512_set1_ps(x);@+ }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  __m256i short_ones = _mm256_loadu_si256((const void *) h);
  if (type == WEIGHT_F16) return _mm512_cvtph_ps(short_ones);
  __m512i wide = _mm512_cvtepu16_epi32(short_ones);
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}
INLINE vec i8_to_f32(const int8_t *small)
{
  __m128i few = _mm_loadu_si128((const void *) small);
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(few));
}
@<Choose lanes and fold them, for AVX-512@>@;

@ Here a mask is a number with a bit for each lane. With sixteen lanes in one register the fold begins with its upper half.

@<Choose lanes and fold them, for AVX-512@>=
INLINE vec blend(int n, vec a, vec b)
{@+ return _mm512_mask_blend_ps((__mmask16) ((1u << n) - 1), b, a);@+ }
INLINE vec load_first(const void *p, int n)
{@+ return _mm512_maskz_loadu_ps((__mmask16) ((1u << n) - 1), p);@+ }
@<Fold sixteen lanes in an array@>@;
INLINE vec fold_all(const vec *a)
{
  vec b[8], c[4], d[2];
  each (i, 8) {
    vec x = a[i % 4 + i / 4 * 8], y = a[i % 4 + i / 4 * 8 + 4];
    b[i] = _mm512_shuffle_f32x4(x, y, 0x44) + _mm512_shuffle_f32x4(x, y, 0xee);
  }
  each (i, 4) c[i] = _mm512_shuffle_f32x4(b[i], b[i + 4], 0x88)
    + _mm512_shuffle_f32x4(b[i], b[i + 4], 0xdd);
  each (i, 2) d[i] = _mm512_shuffle_ps(c[2 * i], c[2 * i + 1], 0x44)
    + _mm512_shuffle_ps(c[2 * i], c[2 * i + 1], 0xee);
  return _mm512_shuffle_ps(d[0], d[1], 0x88)
    + _mm512_shuffle_ps(d[0], d[1], 0xdd);
}

@ For NEON only three functions are its own. The rest is as in plain C, since a |vec| of four floats is a register here, and a compiler finds the instructions.

@<Multiply--add and the rest, for NEON@>=
INLINE vec fused(vec a, vec b, vec c)
{@+ return vfmaq_f32(c, a, b);@+ }
INLINE vec spread(float x)
{@+ return vdupq_n_f32(x);@+ }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  uint16x4_t short_ones = vld1_u16(h);
  if (type == WEIGHT_F16)
    return vcvt_f32_f16(vreinterpret_f16_u16(short_ones));
  return vreinterpretq_f32_u32(vshll_n_u16(short_ones, 16));
}
INLINE vec i8_to_f32(const int8_t *small)
{
  vec v = @[{ 0 }@];
  for (int j = 0; j < WIDTH; j++) v[j] = (float) small[j];
  return v;
}
@<Choose lanes and fold them, in plain C@>@;

@ Now the bodies, which all of them share. One register of a tensor is loaded, and widened if it
must be. The type is known where this is inlined, so that the question costs nothing; and so is the size of the |memcpy|, which compilers
turn into one load that minds no misalignment. The |switch| has no |default|, here and wherever a type decides: if a type is added to the enumeration without a case of its own, the compiler warns,
and no number is ever read as one of another type.

@<Load numbers of any type@>=
@<Load a register out of a block@>@;
INLINE vec load(struct tensor t, size_t i)
{
  vec v = @[{ 0 }@];
  uint16_t h[WIDTH];
  const char *p = (const char *) t.data + weight_row_bytes(t.type, i);
  switch (t.type) {
  case WEIGHT_F32:
    memcpy(&v, p, sizeof v);
    break;
  case WEIGHT_F16: case WEIGHT_BF16:
    memcpy(h, p, sizeof h);
    return widen(h, t.type);
  case WEIGHT_Q8_0: case WEIGHT_Q4_0:
    return load_block(t, i);
  case WEIGHT_Q4_1: case WEIGHT_Q5_0: case WEIGHT_Q5_1: case WEIGHT_Q4_K:
  case WEIGHT_Q6_K:
    for (int j = 0; j < WIDTH; j++) v[j] = tensor_number(t, i + (size_t) j);
  }
  return v;
}

@ A row in blocks is widened exactly, too: a scale of 11 significant bits times a number of 8 at most has 19, and a float holds 24. So what attention reads is a float like any other, and its sums know nothing of blocks. Where a register begins within its block is
|i%WEIGHT_BLOCK|; it never reaches into the next block, because 32 is a multiple of every width. The bytes are taken apart in whole registers; only the last step, from small whole numbers to floats, has an instruction of its own in each table, |i8_to_f32|, and the scale goes through |widen|, as often as there are lanes.

@<Load a register out of a block@>=
INLINE vec load_block(struct tensor t, size_t i)
{
  size_t first = i % WEIGHT_BLOCK;
  const unsigned char *p = (const unsigned char *) t.data
    + weight_row_bytes(t.type, i - first);
  uint16_t one, scale[WIDTH];
  few_bytes b;
  memcpy(&one, p, sizeof one);
  few_halves all = one + (few_halves) @[{ 0 }@];
  memcpy(scale, &all, sizeof all);
  memcpy(&b, p + 2 + (t.type == WEIGHT_Q8_0 ? first : first % 16), sizeof b);
  if (t.type == WEIGHT_Q4_0) b = (first < 16 ? b & 15 : b >> 4) - 8;
  int8_t small[WIDTH];
  memcpy(small, &b, sizeof b);
  return i8_to_f32(small) * widen(scale, WEIGHT_F16);
}

@ What will be loaded soon can be asked for before.

@<Load numbers of any type@>=
INLINE void prefetch(struct tensor t, size_t i)
{
  uintptr_t place = (uintptr_t) t.data + weight_row_bytes(t.type, i);
  __builtin_prefetch((const void *) place);
}

@ A single number, for the ends of rows, for gains and biases, and for whatever is touched too seldom to be worth a register. It is only for types in which each number has its own place. Gains and biases have no other type, since a model with another is refused. A call of |tensor_number| for blocks would cost registers in the middle of the loops and never be made.

@<Load numbers of any type@>=
INLINE float load_one(struct tensor t, size_t i)
{
  float x = 0;
  uint16_t h;
  const char *p = t.data;
  switch (t.type) {
  case WEIGHT_F32:
    memcpy(&x, p + i * sizeof x, sizeof x);
    break;
  case WEIGHT_F16:
    memcpy(&h, p + i * sizeof h, sizeof h);
    return num_from_f16(h);
  case WEIGHT_BF16:
    memcpy(&h, p + i * sizeof h, sizeof h);
    return num_from_bf16(h);
  case WEIGHT_Q8_0: case WEIGHT_Q4_0: case WEIGHT_Q4_1: case WEIGHT_Q5_0:
  case WEIGHT_Q5_1: case WEIGHT_Q4_K: case WEIGHT_Q6_K:
    break;
  }
  return x;
}

@* Linear layers. \label{sec:linear}
Nearly all of the time of a pass is spent in linear layers, and what they wait for depends on the number of rows. With one
row each weight is used once, and the time is that of reading it. With many rows each is used
many times, and the time is that of the multiplications, provided that the weight comes from a
register and not from memory each time. So there are two ways through a matrix. They differ in who stands side by side in a register, and in nothing that can be seen in the bits:
the definition fixes sixteen chains of multiply--adds and the tree that folds them, and not where a chain is computed.

For \emph{few rows} the lanes are neighbours in $k$, as in the definition: the weights of an output lie one after the other in the file, and are loaded as they lie.

@ At the end of a row there may be fewer numbers than lanes; the other lanes are filled with zeros. Loading a whole
register would read past the end of the row: harmless in most places, but after the last row of a mapped file there may be no memory. Floats are loaded under a
mask, by |load_first|; numbers of two bytes are copied to a buffer first.

@<Load a register that is not full@>=
INLINE vec load_partial(struct tensor t, size_t i, int n)
{
  if (t.type == WEIGHT_F32) return load_first((const char *) t.data + i * 4, n);
  char buffer[4 * WIDTH] = @[{ 0 }@];
  memcpy(buffer, (const char *) t.data + weight_row_bytes(t.type, i),
    weight_row_bytes(t.type, (size_t) n));
  return load((struct tensor) @[{ buffer, t.type }@], 0);
}

@ What is left of a row when all sixteens are done is fewer than sixteen terms, and only
the first lanes get one more. The others must not even be given a zero: $-0+0$ is $+0$. So the multiply--add is done for all lanes of a register, and |blend| keeps the old sum where there was no term.

@<Give the last terms to the first lanes@>=
INLINE void add_rest(const float *x, struct tensor w, size_t i, size_t rest, vec *a)
{
  struct tensor in = @[{ x, WEIGHT_F32 }@];
  each (p, PARTS) {
    int here = (int) rest - p * WIDTH;
    size_t k = i + (size_t) p * WIDTH;
    if (here > WIDTH) here = WIDTH;
    if (here > 0)
      a[p] = blend(here, fused(load_partial(in, k, here),
        load_partial(w, k, here), a[p]), a[p]);
  }
}

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

@ How many of them are computed side by side is a question of memory. A multiply--add takes four cycles until its sum can be used, so four chains would keep the multiplier busy. But four rows that are read side by side are four places in memory, and a processor fetches ahead best what is read from end to end. With long rows one chain is enough: it takes a register of sixteen weights every four cycles, more than memory can deliver. So rows are taken by fours only if four of them lie within a page of memory; and what comes a page later is asked for early, because the processor's own fetching ahead ends with the page.
@^prefetch@>

@<Dot products of one row with as many others as a register has lanes@>=
enum { PAGE = 4096 };
INLINE void some_dots(int side, const float *x, const char *const *row,
  enum weight_type type, size_t n, vec *half)
{
  struct tensor in = @[{ x, WEIGHT_F32 }@];
  vec a[4][PARTS] = @[{ { { 0 } } }@];
  size_t whole = n / 16 * 16;
  for (size_t k = 0; k < whole; k += 16)
    each (p, PARTS) {
      size_t at = k + (size_t) p * WIDTH;
      vec v = load(in, at);
      if (side == 1) __builtin_prefetch(*row + weight_row_bytes(type, at) + PAGE);
      each (i, side)
        a[i][p] = fused(v, load((struct tensor) @[{ row[i], type }@], at), a[i][p]);
    }
  each (i, side) {
    if (n > whole)
      add_rest(x, (struct tensor) @[{ row[i], type }@], whole, n - whole, a[i]);
    half[i] = fold_parts(a[i]);
  }
}

@ The rows of the others begin |stride| bytes apart; |there| is how many there are, and if that is fewer than there are lanes, the last is taken more than once.

@<Dot products of one row with as many others as a register has lanes@>=
INLINE vec dots(const char *what, const float *x, const char *row,
  size_t stride, size_t there, enum weight_type type, size_t n)
{
  vec half[WIDTH];
  const char *at[WIDTH];
  for (size_t i = 0; i < WIDTH; i++) at[i] = row + (i < there ? i : there - 1) * stride;
  if (stride <= PAGE / 4)
    for (size_t i = 0; i < WIDTH; i += 4) some_dots(4, x, at + i, type, n, half + i);
  else for (size_t i = 0; i < WIDTH; i++) some_dots(1, x, at + i, type, n, half + i);
  (void) what; /* only tallies ask */
  TALLY(what, 0, there * n);
  return fold_all(half);
}

@ A missing bias is not a zero: adding zero would turn $-0$ into $+0$. The bias is added when the sum is complete: as a first
term of a lane it would have changed what the lane rounds.

@<Put sums in their places, with the bias@>=
INLINE float add_bias(float sum, const struct matrix *w, size_t o)
{@+ return w->bias.data == NULL ? sum : sum + load_one(w->bias, o);@+ }
INLINE void put_sums(const float *sum, const struct matrix *w, size_t o,
  size_t outs, float *y)
{
  if (w->bias.data == NULL) memcpy(y + o, sum, outs * sizeof *y);
  else for (size_t c = 0; c < outs; c++)
    y[o + c] = sum[c] + load_one(w->bias, o + c);
}

@ Outputs are taken in strips of |WIDTH|, and all rows pass over a strip before the next one is touched, so a weight comes from memory
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
      vec sum = dots("linear", x + r * w->in, row, stride, outs, type, w->in);
      float here[WIDTH];
      memcpy(here, &sum, sizeof here);
      put_sums(here, w, o, outs, y + r * w->out);
    }
  }
}

@ GPT-2's matrices lie the other way: the weights of one \emph{input} are neighbours. Here lanes
over $k$ would gather from sixteen places. So the registers run over the outputs
instead, and a lane of the definition becomes a whole row of an array: |sum[j]| holds
lane $j$ for a span of outputs. The additions are the same, in the same order; only who stands next
to whom has changed.

To load and store a sum for each multiply--add would leave the multipliers idle half of the time, so terms $k$,
$k+16$, $k+32$ and $k+48$, which belong to the same lane, are added in one visit.

@<Add the terms from |k| on to the lanes of a span@>=
INLINE void add_terms(int steps, const float *x, const struct matrix *w,
  struct tensor t, size_t k, size_t o, size_t span, float *sum)
{
  vec b[UNROLL], v[UNROLL];
  each (s, steps) v[s] = spread(x[k + 16 * (size_t) s]);
  for (size_t c = 0; c < span; c += WIDTH) {
    each (s, steps) b[s] = load(t, (k + 16 * (size_t) s) * w->out + o + c);
    float *lane = sum + k % 16 * span + c;
    vec a;
    memcpy(&a, lane, sizeof a);
    each (s, steps) a = fused(v[s], b[s], a);
    memcpy(lane, &a, sizeof a);
    TALLY("linear", 0, steps * WIDTH);
  }
}

@ One row by a span of outputs: the lanes begin with zero, the terms are visited in blocks, and the
fold goes over whole rows of the array. Terms that fill no block are visited one by one, in the order of $k$, as a lane demands. The array is on
the stack, and its size is what limits a span.

@<A span of outputs for one row@>=
INLINE void outputs_of_row(const float *x, const struct matrix *w, struct tensor t,
  size_t o, size_t span, float *y)
{
  float sum[16 * SPAN];
  size_t k = 0, block = 16 * UNROLL;
  memset(sum, 0, 16 * span * sizeof *sum);
  for (; k + block <= w->in; k += block)
    for (size_t j = 0; j < 16; j++) add_terms(UNROLL, x, w, t, k + j, o, span, sum);
  for (; k < w->in; k++) add_terms(1, x, w, t, k, o, span, sum);
  fold_lanes(sum, span);
  for (size_t c = 0; c < span; c++) y[o + c] = add_bias(sum[c], w, o + c);
}

@ Lane $j+s$ is added to lane $j$, for all sums of the array at once. The second loop runs over
both indices as one, because the lanes lie one after the other.

@<Fold the lanes of many sums@>=
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

@ A long span reads the weights in long runs, and its sums still fit into the first-level cache: those of |SPAN| outputs take 16 KiB, half of the smallest that is common. At the edge of the
matrix fewer outputs are left than a register holds.

@<Outputs |from| to |to| of a matrix stored by inputs@>=
enum { UNROLL = 4, SPAN = 256 };
@<Fold the lanes of many sums@>@;
@<Add the terms from |k| on to the lanes of a span@>@;
@<A span of outputs for one row@>@;
INLINE void by_inputs(const struct matrix *w, enum weight_type type,
  const float *x, size_t from, size_t to, float *y)
{
  struct tensor t = @[{ w->weight.data, type }@];
  size_t o = from, span;
  for (; to - o >= WIDTH; o += span) {
    span = to - o >= SPAN ? SPAN : (to - o) / WIDTH * WIDTH;
    outputs_of_row(x, w, t, o, span, y);
  }
  if (o < to) columns(x, w, t, o, to - o, y);
}

@ The last few outputs of a matrix fill a register only in part. What stands in its other places is computed along,
and nobody reads it; since the places of this register are outputs and not lanes, nothing from there is ever folded into a sum.

@<The last columns of a matrix stored by inputs@>=
INLINE void columns(const float *x, const struct matrix *w, struct tensor t,
  size_t o, size_t n, float *y)
{
  vec lane[16] = @[{ { 0 } }@];
  float sum[WIDTH];
  for (size_t k = 0; k < w->in; k++) {
    vec b = load_partial(t, k * w->out + o, (int) n);
    lane[k % 16] = fused(spread(x[k]), b, lane[k % 16]);
    TALLY("linear", 0, n);
  }
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  memcpy(sum, lane, sizeof sum);
  for (size_t c = 0; c < n; c++) y[o + c] = add_bias(sum[c], w, o + c);
}

@ For \emph{many rows} the lanes are outputs. Then a weight that is loaded serves as many rows as there are registers for their sums, an input is spread over all lanes, and nothing is folded across a register. What we compute at a time is a \emph{tile}: |TILE_ROWS| rows by |NR| outputs, which are two registers.

How large it should be can be worked out. A tile of $m$ rows keeps $2m$ sums in registers, and needs two more for weights and one for an input. Each step loads two weights and $m$ inputs for $2m$ multiply--adds. With sixteen registers $m=6$ gives eight loads for twelve multiply--adds; with thirty-two $m=12$ gives $14$ for $24$. A processor that loads at least as often as it multiplies is then busy multiplying. One register of outputs would need a load for nearly every multiply--add; three would leave room for fewer rows and gain little.
@^tile@>@^panel@>@^packing, of weights@>

Both sides are copied first into the order in which a tile wants them, which is called \emph{packing}. A \emph{panel} of weights has |NR| outputs: first all steps of lane 0, each with the |NR| weights of one input, then all steps of another lane, so that a tile reads it from end to end. The panel of the rows is the same with |TILE_ROWS| rows in place of the outputs.

@ The lanes stand in the order of their numbers with the four bits reversed: 0, 8, 4, 12, 2, and so on (a \emph{bit reversal}). It is the order in which the fold wants them. When lanes 0 and 8 are done, they are added; with the next two their sum is added to that of lanes 4 and 12; so at most four unfinished tiles wait at any time, and sixteen lanes of a tile that would not fit into the first-level cache never exist at once. Reversing twice changes nothing, so the same function gives the lane at a place and the place of a lane.
@^bit reversal@>

@<Where a lane stands in a panel@>=
INLINE size_t turned(size_t t)
{@+ return (t & 1) << 3 | (t & 2) << 1 | (t & 4) >> 1 | (t & 8) >> 3;@+ }
INLINE size_t lane_steps(size_t n, size_t lane)
{@+ return (n + 15 - lane) / 16;@+ }
INLINE size_t panel_place(size_t n, size_t k)
{@+ return turned(k % 16) * lane_steps(n, 0) + k / 16;@+ }

@ A tile, then: sixteen chains, one after the other, each in registers from its first term to its last; and after each, as many steps of the fold as can be taken. |real| is how many of the sums anybody wants. The rows are those of a panel, or a single row as it is, where lane $j$ finds its terms sixteen places apart.

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

@ This is where a pass with many rows spends its time.

@<Pass the chain of this |lane|@>=
for (size_t k = 0; k < lane_steps(n, lane); k++) {
  size_t at = (t * all + k) * NR;
  prefetch(panel, at + 12 * NR), prefetch(panel, at + 12 * NR + WIDTH);
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
TARGET static void packed_tile(const char *what, size_t real, size_t rows,
  const float *x, struct tensor panel, size_t n, float *sum)
{
#define TILE(height, type) \
  @[tile(what, real, height, x, (struct tensor) { panel.data, type }, n, sum)@]
#define WITH_ROWS(type) \
  @[if (tile_rows(rows) == TILE_ROWS) TILE(TILE_ROWS, type); \
  else if (tile_rows(rows) == TILE_ROWS / 3) TILE(TILE_ROWS / 3, type); \
  else TILE(TILE_ROWS / 3 * 2, type)@]
  switch (panel.type) {
  case WEIGHT_F16: WITH_ROWS(WEIGHT_F16);@+ break;
  case WEIGHT_BF16: WITH_ROWS(WEIGHT_BF16);@+ break;
  default: WITH_ROWS(WEIGHT_F32);
  }
#undef WITH_ROWS
#undef TILE
}

@ The panel of some rows. Each number that is copied here serves as many multiply--adds as there are outputs, so the loop is plain; only its order matters, in which the numbers are stored one after the other.

@<Pack rows into a panel@>=
INLINE void pack_rows(const float *const *row, size_t rows, size_t n, float *to)
{
  size_t wide = (size_t) tile_rows(rows);
  for (size_t t = 0; t < 16; t++, to += lane_steps(n, 0) * wide)
    for (size_t i = 0, k = turned(t); k < n; i++, k += 16)
      for (size_t r = 0; r < wide; r++)
        to[i * wide + r] = r < rows ? row[r][k] : 0;
}

@ Weights are packed more often: in every call, if they are used as they lie in the file, and then there are as many multiply--adds for a weight as rows. So this copy counts: sixteen inputs of the outputs of a strip are first widened, row by row, into a small block; from there they go to the panel by squares of four times four, which eight shuffles turn on their sides, a \emph{transposition}.
@^transposition@>

@<Pack outputs into a panel@>=
INLINE void turn_square(const float *from, size_t apart, size_t c,
  float *const *to)
{
  four a[4], b[4];
  each (i, 4) memcpy(&a[i], from + (size_t) i * apart, sizeof a[i]);
  b[0] = MIX(a[0], a[1], 0, 4, 1, 5), b[1] = MIX(a[0], a[1], 2, 6, 3, 7);
  b[2] = MIX(a[2], a[3], 0, 4, 1, 5), b[3] = MIX(a[2], a[3], 2, 6, 3, 7);
  each (i, 2) {
    a[2 * i] = MIX(b[i], b[i + 2], 0, 1, 4, 5);
    a[2 * i + 1] = MIX(b[i], b[i + 2], 2, 3, 6, 7);
  }
  each (i, 4) memcpy(to[i] + c, &a[i], sizeof a[i]);
}

@ The addresses of the rows are given, since the keys of attention (\cref{sec:attention}) will be packed in the same way.

@<Pack outputs into a panel@>=
enum { PREFETCH = 24, AHEAD = 64 };
INLINE void pack_outputs(const char *const *row, size_t outs,
  enum weight_type type, size_t n, float *panel)
{
  float block[NR][16] = @[{ { 0 } }@];
  for (size_t k = 0; k < n; k += 16) {
    size_t here = n - k < 16 ? n - k : 16;
    for (size_t c = 0; c < outs; c++)
      @<Widen the inputs from |k| on of output |c| into the |block|@>@;
    for (size_t j = 0; j < here; j += 4) {
      float *to[4];
      each (i, 4) to[i] = panel + panel_place(n, k + j + (size_t) i) * NR;
      for (size_t c = 0; c < NR; c += 4) turn_square(&block[c][j], 16, c, to);
    }
  }
}

@ @<Widen the inputs from |k| on of output |c| into the |block|@>=
{
  struct tensor t = @[{ row[c], type }@];
  prefetch(t, k + AHEAD);
  each (p, PARTS) {
    size_t i = (size_t) p * WIDTH;
    vec v = @[{ 0 }@];
    if (here >= i + WIDTH) v = load(t, k + i);
    else if (here > i) v = load_partial(t, k + i, (int) (here - i));
    memcpy(&block[c][i], &v, sizeof v);
  }
}

@ A matrix that is stored by inputs has its panel's steps ready made; they are only put in order. No processor guesses that the next piece lies thousands of bytes on, so it is told: the piece of |PREFETCH| inputs later is asked for while this one is copied. (To ask for an address that does not exist is allowed; nothing comes.)
@^prefetch@>

@<Pack outputs into a panel@>=
INLINE void pack_inputs(const struct matrix *w, struct tensor t, size_t o,
  size_t outs, float *panel)
{
  for (size_t k = 0; k < w->in; k++) {
    float *to = panel + panel_place(w->in, k) * NR;
    prefetch(t, (k + PREFETCH) * w->out + o);
    each (p, 2) {
      size_t h = (size_t) p * WIDTH, from = k * w->out + o + h;
      vec v = @[{ 0 }@];
      if (outs >= h + WIDTH) v = load(t, from);
      else if (outs > h) v = load_partial(t, from, (int) (outs - h));
      memcpy(to + h, &v, sizeof v);
    }
  }
}
TARGET static void pack_strip(const struct matrix *w, size_t o, size_t outs,
  float *panel)
{
  const char *row[NR];
#define WITH_TYPE(type) \
  @[if (w->transposed) \
    pack_inputs(w, (struct tensor) { w->weight.data, type }, o, outs, panel); \
  else { \
    for (size_t c = 0; c < outs; c++) row[c] = (const char *) w->weight.data \
      + weight_row_bytes(type, (o + c) * w->in); \
    pack_outputs(row, outs, type, w->in, panel); \
  }@]
  @<Do |WITH_TYPE| for the type of the weights@>@;
#undef WITH_TYPE
}

@ @<Do |WITH_TYPE| for the type of the weights@>=
switch (w->weight.type) {
case WEIGHT_F32: WITH_TYPE(WEIGHT_F32);@+ break;
case WEIGHT_F16: WITH_TYPE(WEIGHT_F16);@+ break;
case WEIGHT_BF16: WITH_TYPE(WEIGHT_BF16);@+ break;
case WEIGHT_Q8_0: WITH_TYPE(WEIGHT_Q8_0);@+ break;
case WEIGHT_Q4_0: WITH_TYPE(WEIGHT_Q4_0);@+ break;
case WEIGHT_Q4_1: case WEIGHT_Q5_0: case WEIGHT_Q5_1: case WEIGHT_Q4_K:
case WEIGHT_Q6_K: WITH_TYPE(w->weight.type);
}

@ The panels of a matrix are the same in every call, so they may as well be packed once. That is what these tables do when a matrix is \emph{prepared}: all panels of all strips, one after the other, in the type of the weights, because a pass with one row waits for bytes. A tile widens what it loads.

@<Prepare the panels of a matrix@>=
TARGET static size_t panel_bytes(const struct matrix *w)
{@+ return lane_steps(w->in, 0) * 16 * NR * number_types[w->weight.type].bytes;@+ }
TARGET static size_t prepared_bytes(const struct matrix *w, enum activations format)
{
  if (format != ACTIVATIONS_F32 || number_types[w->weight.type].block > 1) return 0;
  return (w->out + NR - 1) / NR * panel_bytes(w);
}
TARGET static void prepare(const struct matrix *w, enum activations format,
  void *to)
{
  (void) format;
  size_t size = number_types[w->weight.type].bytes;
  const char *from = w->weight.data;
  for (size_t o = 0; o < w->out; o++)
    for (size_t k = 0; k < w->in; k++) {
      size_t at = panel_place(w->in, k) * NR + o % NR;
      size_t i = w->transposed ? k * w->out + o : o * w->in + k;
      memcpy((char *) to + o / NR * panel_bytes(w) + at * size, from + i * size, size);
    }
}

@ Now the pieces are put together. A block of at most |MOST_ROWS| rows is packed; then each strip of each matrix of the list is packed, unless it was prepared, and all tiles of the block are computed. The panel of a strip is read again for each tile, and stays in the second-level cache meanwhile; the rows are read again for each strip, from the third. Both are in the worker's workspace (\cref{sec:poolheader}). \label{sec:room}
@^workspace@>

@<Many rows by a worker's share of the matrices@>=
enum { MOST_ROWS = 516 };
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
  float *x = room + each_panel * NR, sum[TILE_ROWS * NR];
  for (size_t o = from; o < to; o += NR) {
    size_t outs = to - o < NR ? to - o : NR, rows;
    struct tensor panel = @[{ room, WEIGHT_F32 }@];
    if (ready != NULL)
      panel = (struct tensor) @[{ ready + o / NR * panel_bytes(w), w->weight.type }@];
    else pack_strip(w, o, outs, room);
    for (size_t r = r0; r < r1; r += rows) {
      rows = r1 - r < TILE_ROWS ? r1 - r : TILE_ROWS;
      packed_tile("linear", rows * outs, rows, x + (r - r0) * each_panel, panel, n, sum);
      for (size_t i = 0; i < rows; i++)
        put_sums(sum + i * NR, w, o, outs, y + (r + i) * w->out);
    }
  }
}

@ One row by a prepared matrix needs no workspace: a tile of one row takes the row as it is.

@<One row by a matrix that was prepared@>=
INLINE void by_prepared(const struct matrix *w, enum weight_type type,
  const char *panels, const float *x, size_t from, size_t to, float *y)
{
  float sum[NR];
  for (size_t o = from; o < to; o += NR) {
    size_t outs = to - o < NR ? to - o : NR;
    struct tensor panel = @[{ panels + o / NR * panel_bytes(w), type }@];
    tile("linear", outs, 1, x, panel, w->in, sum);
    put_sums(sum, w, o, outs, y);
  }
}

@ A worker's part of the call is an equal share of the outputs of each matrix, cut at multiples of |NR|, the width of a panel. Every output is computed whole by one worker, so that the number of workers cannot be seen in it. The
type is asked here, outside of the loops, and each answer gets loops of its own. Matrices in blocks are not among the cases, and |matrix_types| says so: a model that has one is refused when it is opened, and a pass would refuse it once more.

@<One worker's share of a linear layer@>=
struct linear_job { const struct engine *e; const struct matrix *list; size_t n;
  const float *x; size_t rows; float *const *y; };
@#
@<Many rows by a worker's share of the matrices@>@;
@<One row by a matrix that was prepared@>@;
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
  @<Do |WITH_TYPE| for the type of the weights@>@;
#undef WITH_TYPE
}

@ Packing pays from a few rows on. Without a workspace, as in a caller that has no pool, the rows are multiplied one by one.

@<One worker's share of a linear layer@>=
enum { MANY_ROWS = 4 };
TARGET static void linear_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct linear_job *job = ctx;
  size_t in = job->list->in;
  float *room = job->rows < MANY_ROWS ? NULL
    : pool_workspace(job->e->pool, worker, panels_room(in, job->rows));
  TALLY("linear part", worker, 1);
  for (size_t r0 = 0, r1; r0 < job->rows; r0 = r1) {
    r1 = room == NULL || job->rows - r0 < MOST_ROWS ? job->rows : r0 + MOST_ROWS;
    if (room != NULL)
      @<Pack rows |r0| to |r1|@>@;
    for (size_t m = 0; m < job->n; m++) {
      const struct matrix *w = &job->list[m];
      size_t from = worker_begin(w->out, NR, worker, workers);
      size_t to = worker_begin(w->out, NR, worker + 1, workers);
      if (room == NULL) few_rows(job, w, from, to, job->y[m]);
      else by_panels(job, w, r0, r1, from, to, room, job->y[m]);
    }
  }
}

@ Each worker packs all rows for itself. To share them they would have to wait for each other, and that takes as long.

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
some tens of thousands of multiply--adds is not divided: with a null pool the caller's thread does it. Kernels do not set the floating-point modes,
since the pass has set them for all of its kernels (\cref{sec:pool}).

@<Do a linear layer@>=
static void linear(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  struct linear_job job = @[{ e, list, n, x, rows, y }@];
  size_t work = 0;
  for (size_t m = 0; m < n; m++) work += list[m].out * list[m].in * rows;
  pool_run(work >= WORTH_DIVIDING ? e->pool : NULL, linear_part, &job);
}

@ The workspace depends on the shapes alone: all matrices of a list have the same number of inputs.

@<Do a linear layer@>=
static size_t room(const struct matrix *list, size_t n, size_t rows)
{@+ return n > 0 && rows >= MANY_ROWS ? panels_room(list->in, rows) : 0;@+ }

@* Norms. \label{sec:norms}
The two norms differ in the mean and in the bias, and share the rest (\cref{sec:norm} has the formulas). The row is
centred first, into the place of the result; then one dot product with itself gives the size. What is left has no sums in it, and goes through arrays
of sixteen, so that the loop in the middle has sixteen turns even at the end of a row, and a compiler knows it.

@<One row normalized@>=
INLINE void scale_sixteen(const struct norm *g, bool shift, float r, size_t i,
  size_t here, float *y)
{
  float z[16] = @[{ 0 }@], gain[16] = @[{ 0 }@], bias[16] = @[{ 0 }@];
  memcpy(z, y + i, here * sizeof *z);
  take(g->gain, i, here, gain);
  if (shift) take(g->bias, i, here, bias);
  for (int j = 0; j < 16; j++)
    z[j] = shift ? fmaf(z[j] * r, gain[j], bias[j]) : z[j] * r * gain[j];
  memcpy(y + i, z, here * sizeof *z);
}
INLINE void normalize_row(const struct norm *g, const float *x, size_t d,
  float *y)
{
  bool layer = g->kind == NORM_LAYER, shift = layer && g->bias.data != NULL;
  float mean = layer ? sum_of(x, d) / (float) d : 0.0f;
  for (size_t i = 0; i < d; i++) y[i] = layer ? x[i] - mean : x[i];
  float square = dot(y, (struct tensor) @[{ y, WEIGHT_F32 }@], d);
  float r = 1.0f / sqrtf(square / (float) d + g->epsilon);
  size_t i = 0;
  for (; i + 16 <= d; i += 16) scale_sixteen(g, shift, r, i, 16, y);
  if (i < d) scale_sixteen(g, shift, r, i, d - i, y);
}

@ Up to sixteen numbers of a tensor, widened; floats are as wide as they get. A gain that is not there is 1, which as a factor
changes nothing.

@<Take up to sixteen numbers of a tensor@>=
INLINE void take(struct tensor t, size_t i, size_t here, float *z)
{
  if (t.data == NULL)
    for (size_t j = 0; j < here; j++) z[j] = 1.0f;
  else if (t.type == WEIGHT_F32)
    memcpy(z, (const char *) t.data + i * sizeof *z, here * sizeof *z);
  else
    for (size_t j = 0; j < here; j++) z[j] = load_one(t, i + j);
}

@ The sum of sixteen lanes, without products, for the mean of LayerNorm. Plain additions are enough here: the
compiler sees sixteen neighbours and needs no help.

@<The sum of sixteen lanes@>=
INLINE float sum_of(const float *x, size_t n)
{
  float lane[16] = @[{ 0 }@];
  size_t whole = n / 16 * 16;
  for (size_t k = 0; k < whole; k += 16)
    for (size_t j = 0; j < 16; j++) lane[j] += x[k + j];
  for (size_t j = 0; j < n - whole; j++) lane[j] += x[whole + j];
  return fold_array(lane);
}

@ Rows are the natural unit to be divided here. Where they do not come out even, some workers get one more; a row is never cut, or its sums
would be cut with it.

@<Norms of all rows@>=
struct normalize_job { const struct norm *g; const float *x; size_t rows;
  size_t d; float *y; };
@#
TARGET static void normalize_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct normalize_job *job = ctx;
  TALLY("normalize part", worker, 1);
  size_t from = job->rows * worker / workers;
  size_t to = job->rows * (worker + 1) / workers;
  for (size_t r = from; r < to; r++)
    normalize_row(job->g, job->x + r * job->d, job->d, job->y + r * job->d);
}
static void normalize(const struct engine *e, const struct norm *g,
  const float *x, size_t rows, size_t d, float *y)
{
  struct normalize_job job = @[{ g, x, rows, d, y }@];
  bool large = rows * d >= WORTH_DIVIDING;
  pool_run(large ? e->pool : NULL, normalize_part, &job);
}

@* Rotation. \label{sec:rotate}
The angles of a row are the same in every layer, so they are computed once for a pass: position times frequency, rounded to float, and then
cosine and sine in double, rounded once.

@<Angles of all rows@>=
struct angles_job { const uint32_t *position; size_t rows;
  const float *frequency; size_t half; float scaling, *c, *s; };
@#
TARGET static void angles_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct angles_job *job = ctx;
  size_t half = job->half, to = job->rows * (worker + 1) / workers;
  TALLY("angles part", worker, 1);
  for (size_t r = job->rows * worker / workers; r < to; r++)
    for (size_t i = 0; i < half; i++) {
      float angle = (float) job->position[r] * job->frequency[i];
      float c = (float) num_cos((double) angle);
      float s = (float) num_sin((double) angle);
      job->c[r * half + i] = c * job->scaling;
      job->s[r * half + i] = s * job->scaling;
    }
}

@ A sine costs as much as many multiply--adds, and so the work is divided when there is a sixteenth of the usual amount.

@<Angles of all rows@>=
static void angles(const struct engine *e, const uint32_t *position,
  size_t rows, const float *frequency, size_t half, float scaling, float *c,
  float *s)
{
  struct angles_job job = @[{ position, rows, frequency, half, scaling, c, s }@];
  bool large = rows * half >= WORTH_DIVIDING / 16;
  pool_run(large ? e->pool : NULL, angles_part, &job);
}

@ A turn has four products, of which two are rounded by themselves and two inside an |fmaf|: those of $x_0$.

@<Turn the heads of one row@>=
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

@ Again whole rows for a worker; the angles of a row serve all of its heads. Queries and keys come in two calls, since there may be fewer
heads of keys.

@<Rotations of all rows@>=
struct rotate_job { float *x; size_t rows, n_heads, half; const float *c, *s; };
@#
TARGET static void rotate_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct rotate_job *job = ctx;
  size_t half = job->half, to = job->rows * (worker + 1) / workers;
  TALLY("rotate part", worker, 1);
  for (size_t r = job->rows * worker / workers; r < to; r++)
    rotate_row(job->x + r * job->n_heads * 2 * half, job->n_heads, half,
      job->c + r * half, job->s + r * half);
}
static void rotate(const struct engine *e, float *x, size_t rows,
  size_t n_heads, size_t half, const float *c, const float *s)
{
  struct rotate_job job = @[{ x, rows, n_heads, half, c, s }@];
  bool large = rows * n_heads * half >= WORTH_DIVIDING;
  pool_run(large ? e->pool : NULL, rotate_part, &job);
}

@* Attention. \label{sec:attention}
Attention goes block by block, as \cref{sec:attend} laid down: in each block of 256 positions a maximum, a sum of exponentials and a sum
of values, and in the end a join. The result of a block is $m_b$, $l_b$ and $o_b$, in this order, as |2 + head_dim| floats.
@^attention@>

@<The result of one block of positions@>=
enum { PART_MAX, PART_SUM, PART_OUT };

@ Most rows see positions without a hole. If the model keeps a few at the beginning besides its window, there is one hole, and every walk over positions steps across it.

@<The positions that a row sees@>=
INLINE uint32_t first_seen(const struct kv_range *r)
{@+ return r->sinks > 0 ? 0 : r->lo;@+ }
INLINE uint32_t next_seen(const struct kv_range *r, uint32_t t)
{@+ return t + 1 == r->sinks ? r->lo : t + 1;@+ }

@ The walk over blocks follows the same rule. A block ends at the next multiple of 256 or with the range, and the block after it begins where it ends; but a block that would begin in the hole begins at |lo|, after the hole. So the first and the last block may be visible only in part, and a block that lies in the hole is not touched.

@<The positions that a row sees@>=
INLINE uint32_t block_end(const struct kv_range *r, uint32_t t0)
{
  uint32_t most = 256 - t0 % 256;
  return r->hi - t0 <= most ? r->hi : t0 + most;
}
INLINE uint32_t next_block(const struct kv_range *r, uint32_t end)
{@+ return end >= r->sinks && end < r->lo ? r->lo : end;@+ }

@ What the steps of a block hand on to each other is one structure: which positions it has, and a number for each of them, which is first its score and then the exponential of that. What belongs to position $t$ has the index |t % 256|; there are more places than positions, so that whole registers may be stored.

@<The positions that a row sees@>=
struct position_block {
  const struct kv_view *v;
  struct kv_range seen;
  uint32_t t0, t1; /* from |t0| up to |t1| */
  float weight[256 + WIDTH]; /* its score, and then the exponential of that */
};

@ The keys and values of a position are where the view says: one after the other, or in the page that the table names. The walk over a block is cut where a page ends, or a hole begins; what lies between two cuts is a \emph{run} of positions whose rows lie at equal distances. A page is looked up once a run; a division for every
position, of every head, would take as long as the product that it is for.

@<Where the rows of a block lie@>=
struct kv_run { uint32_t t0, t1; uintptr_t at; };
  /* positions |t0 <= t < t1| and where the rows of |t0| are, but for |key| or |value| */
INLINE struct kv_run run_from(const struct kv_view *v,
  const struct kv_range *seen, uint32_t t, uint32_t end)
{
  struct kv_run r = @[{ t, end, t * v->row_bytes }@];
  if (t < seen->sinks && seen->sinks < end) r.t1 = seen->sinks;
  if (v->page == NULL) return r;
  uint32_t rows = (uint32_t) v->page_rows, left = rows - t % rows;
  r.at = (uintptr_t) v->page[t / rows] + t % rows * v->row_bytes;
  if (left < r.t1 - t) r.t1 = t + left;
  return r;
}
INLINE struct kv_run next_run(const struct position_block *b,
  const struct kv_run *before)
{
  uint32_t t = before == NULL ? b->t0 : next_seen(&b->seen, before->t1 - 1);
  if (t >= b->t1) return (struct kv_run) @[{ t, t, 0 }@];
  return run_from(b->v, &b->seen, t, b->t1);
}

@ The walk itself is a loop that is written three times, and so has a name.

@<Where the rows of a block lie@>=
#define each_run(r, b) @[for (struct kv_run r = next_run(b, NULL); \
  r.t0 < r.t1; r = next_run(b, &r))@]@;

@ The first step: the scores of a block, and their maximum. As many keys as there are lanes are multiplied with the query at once (\cref{sec:linear}). Where there is no visible position the score is $-\infty$, so that whole
sixteens can go through |num_expf| at once, which makes zeros of those. A zero added to a sum of numbers that
are not negative changes no bit of it.

@<The scores of a block, and their maximum@>=
INLINE void block_scores(const struct attention_dims *h, const float *q,
  enum weight_type type, struct position_block *b)
{
  vec none = spread(-INFINITY);
  for (int i = 0; i < 256; i += WIDTH) memcpy(b->weight + i, &none, sizeof none);
  each_run (r, b)
    for (uint32_t t = r.t0; t < r.t1; t += WIDTH) {
      size_t here = r.t1 - t < WIDTH ? r.t1 - t : WIDTH, stride = b->v->row_bytes;
      const char *row = (const char *) (b->v->key + r.at + (t - r.t0) * stride);
      vec s = dots("attention", q, row, stride, here, type, h->head_dim)
        * spread(h->scale);
      s = blend((int) here, s, none);
      memcpy(b->weight + t % 256, &s, sizeof s);
      TALLY("pairs", 0, here);
    }
}

@ The greatest of a block is found sixteen at a time, too. The order does not matter to a maximum.

@<The scores of a block, and their maximum@>=
INLINE float greatest(const float *score, size_t from, size_t to)
{
  float lane[16];
  for (int j = 0; j < 16; j++) lane[j] = -INFINITY;
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
    float z[16], *w = weight + g;
    for (int j = 0; j < 16; j++) z[j] = num_expf(w[j] - max);
    for (int j = 0; j < 16; j++) lane[j] += z[j];
    memcpy(w, z, sizeof z);
  }
  return fold_array(lane);
}

@ The third step adds up the values, each times its exponential, over the same positions as the scores, so that a value in the hole is never touched. The sums of some columns stay in registers until the block is done, and a value is loaded once and used once. How many columns go together cannot be seen in the result, since each has a chain of its own.

@<The chain over a block for some columns@>=
INLINE void axpy_chain(int columns, const struct position_block *b,
  enum weight_type type, size_t first, float *o)
{
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
@#
INLINE void block_values(const struct position_block *b,
  enum weight_type type, size_t d, float *o)
{
  size_t c = 0;
  for (; c + 64 <= d; c += 64) axpy_chain(64, b, type, c, o + c);
  for (; c + 16 <= d; c += 16) axpy_chain(16, b, type, c, o + c);
  if (c < d) axpy_few(d - c, b, type, c, o + c);
}

@ One block for one head is these three steps in turn, and leaves the three numbers or rows of numbers that the join needs.

@<Attention of one head over one block@>=
INLINE void attend_block(const struct attention_dims *h, const float *q,
  enum weight_type type, struct position_block *b, float *left)
{
  size_t from = b->t0 % 256, to = (b->t1 - 1) % 256 + 1;
  block_scores(h, q, type, b);
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
  float *scratch, float *y, float *kept)
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
  float l = join_blocks(scratch, n, d, y);
  if (kept != NULL) finish_weights(&seen, scratch, stride, l, kept);
}

@ The join: the greatest maximum, the weight of each block, two chains, one division. A single block passes through it unchanged, because its weight is
$e^0$, exactly 1, and the chains begin with 0. The weights of the blocks take the place of their maxima, which nobody needs any more.

@<Join the blocks in rising order@>=
INLINE void join_columns(const float *left, size_t n, size_t stride, float l,
  size_t c, size_t here, float *y)
{
  float z[16] = @[{ 0 }@], o[16] = @[{ 0 }@];
  for (size_t i = 0; i < n; i++, left += stride) {
    memcpy(o, left + PART_OUT + c, here * sizeof *o);
    for (int j = 0; j < 16; j++) z[j] = fmaf(o[j], left[PART_MAX], z[j]);
  }
  for (int j = 0; j < 16; j++) z[j] = z[j] / l;
  memcpy(y + c, z, here * sizeof *z);
}
INLINE float join_blocks(float *left, size_t n, size_t d, float *y)
{
  size_t stride = PART_OUT + d, c = 0;
  float m = -INFINITY, l = 0;
  for (size_t i = 0; i < n; i++)
    if (left[i * stride + PART_MAX] > m) m = left[i * stride + PART_MAX];
  for (size_t i = 0; i < n; i++) {
    float w = num_expf(left[i * stride + PART_MAX] - m);
    l = fmaf(left[i * stride + PART_SUM], w, l);
    left[i * stride + PART_MAX] = w;
  }
  for (; c + 16 <= d; c += 16) join_columns(left, n, stride, l, c, 16, y);
  if (c < d) join_columns(left, n, stride, l, c, d - c, y);
  return l;
}

@ If the weights are wanted they are finished with the same numbers: each exponential times the weight of its block, over the sum. The walk over the blocks is the one that made them, so the results of the blocks come in the same order.

@<The weights that were asked for@>=
INLINE void finish_weights(const struct kv_range *seen, const float *scratch,
  size_t stride, float l, float *kept)
{
  for (uint32_t t0 = first_seen(seen); t0 < seen->hi;) {
    uint32_t t1 = block_end(seen, t0);
    for (uint32_t t = t0; t < t1; t = next_seen(seen, t))
      kept[t] = kept[t] * scratch[PART_MAX] / l;
    scratch += stride;
    t0 = next_block(seen, t1);
  }
}

@ So far each query has read all keys and values for itself. With one row that is what has to be done. In a prompt, neighbouring rows look at nearly the same positions, and so do the heads that share a head of keys. Then attention is two products of matrices with an exponential in between: queries times keys, and exponentials times values. The first is a linear layer whose weights are the keys, and is done in the same panels and tiles. The second is simpler still, since its definition has one chain for each number instead of sixteen, and the values of a position are neighbours already.
@^attention, of many rows@>

@ A \emph{unit} is at most |QUERIES| queries that share a head of keys: all heads of a few rows that follow each other. It goes through the blocks of positions that any of them sees. Packing the keys of a block takes about as long as using them four times, so a unit has two tiles of queries.

@<What a unit of queries has@>=
enum { QUERIES = 2 * TILE_ROWS, MANY_QUERIES = 4 };
struct query_unit {
  const struct attention_dims *h;
  struct kv_view v; /* of the head of keys */
  size_t n, wide, deep; /* queries; columns of the values and rows of a panel, rounded up */
  const float *q[QUERIES];
  float *y[QUERIES];
  uint32_t lo[QUERIES], hi[QUERIES]; /* the positions that a query sees */
  size_t blocks[QUERIES], most; /* with a result, of |most| */
  float *key, *value, *query, *score, *left; /* in the worker's workspace */
};

@ The room that it takes depends on the shapes, and for the results of the blocks, which wait for the join, on the longest range.

@<What a unit of queries has@>=
static size_t attention_room(const struct attention_dims *h, size_t rows,
  size_t max_len)
{
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  size_t deep = (d + 15) / 16 * 16, wide = (d + NR - 1) / NR * NR;
  if (rows * group < MANY_QUERIES || group > QUERIES) return 0;
  return sizeof(float) * (256 * (deep + wide)@|
    + QUERIES * (deep + 256 + kernels_scratch(h, max_len)));
}
static void unit_arrays(struct query_unit *u, float *room)
{
  u->key = room, u->value = u->key + 256 * u->deep;
  u->query = u->value + 256 * u->wide;
  u->score = u->query + QUERIES * u->deep;
  u->left = u->score + QUERIES * 256;
  memset(u->score, 0, QUERIES * 256 * sizeof *u->score);
}

@ The keys of the positions from |t0| to |t1| become panels, |NR| positions each; the values are widened, and their rows filled up with zeros. This is all that depends on the type of the cache.

@<Pack the keys and values of a block@>=
INLINE void pack_block(struct query_unit *u, enum weight_type type,
  uint32_t t0, uint32_t t1)
{
  const char *row[256];
  size_t d = u->h->head_dim, stride = u->v.row_bytes, n = 0;
  struct position_block b;
  b.v = &u->v, b.seen = (struct kv_range) @[{ t0, t1, 0 }@];
  b.t0 = t0, b.t1 = t1;
  each_run (r, &b)
    for (uint32_t t = r.t0; t < r.t1; t++, r.at += stride) {
      row[n++] = (const char *) (u->v.key + r.at);
      for (size_t c = 0; c < u->wide; c += WIDTH) {
        struct tensor from = @[{ (const void *) (u->v.value + r.at), type }@];
        vec v = @[{ 0 }@];
        if (c + WIDTH <= d) v = load(from, c);
        else if (c < d) v = load_partial(from, c, (int) (d - c));
        memcpy(u->value + t % 256 * u->wide + c, &v, sizeof v);
      }
    }
  for (size_t i = 0; i < n; i += NR)
    pack_outputs(row + i, n - i < NR ? n - i : NR, type, d, u->key + i * u->deep);
}
TARGET static void pack_positions(struct query_unit *u, uint32_t t0, uint32_t t1)
{
  switch (u->v.type) {
  case WEIGHT_F32: pack_block(u, WEIGHT_F32, t0, t1);@+ break;
  case WEIGHT_F16: pack_block(u, WEIGHT_F16, t0, t1);@+ break;
  case WEIGHT_BF16: pack_block(u, WEIGHT_BF16, t0, t1);@+ break;
  case WEIGHT_Q8_0: pack_block(u, WEIGHT_Q8_0, t0, t1);@+ break;
  case WEIGHT_Q4_0: pack_block(u, WEIGHT_Q4_0, t0, t1);@+ break;
  case WEIGHT_Q4_1: case WEIGHT_Q5_0: case WEIGHT_Q5_1: case WEIGHT_Q4_K:
  case WEIGHT_Q6_K: break;
  }
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
      uint32_t from = u->lo[first + i] > t ? u->lo[first + i] - t : 0;
      uint32_t to = u->hi[first + i] > t ? u->hi[first + i] - t : 0;
      for (uint32_t c = from; c < to && c < n; c++)
        score[i * 256 + (t + c) % 256] = sum[i * NR + c] * u->h->scale;
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

@ The rows of a tile do not see the same positions: a later row sees more at the end and, with a window, fewer at the beginning. And a value that is not seen must be left out of the chain, for zero times infinity would be no number. So each chain goes alone until the positions come that all of the tile see, and alone again behind them. What has to be done alone is a few positions of a block.

@<The chains of a tile of queries@>=
TARGET static void tile_values(struct query_unit *u, size_t first, size_t rows,
  uint32_t t0, size_t c, const uint32_t *from, const uint32_t *to, float *sum)
{
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

@ @<Take the exponentials of one query@>=
{
  size_t a = from[i] % 256, z = (to[i] - 1) % 256 + 1;
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
    join_blocks(u->left + i * u->most * (PART_OUT + d), u->blocks[i], d, u->y[i]);
}

@ The unit of work is one head of one row. Their costs differ, since a late row sees more than an early one; so the units
are dealt out like cards, one to each worker in turn: first all rows of a segment for its first head, and then for the next, because the rows of one head look at the same keys and values, which stay in the cache as long as no others are read. A unit needs one head of the view, so it moves the beginning of the view to that head. One worker computes the whole of a unit, and needs nothing from another.

@<One worker's share of attention@>=
struct attend_job { const struct attention_dims *h; const float *q;
  const struct segment *list; size_t n; float *scratch, *y;
  size_t scratch_each, max_len; const struct attention_probe *probe;
  struct pool *pool; };
@#
TARGET static void attend_unit(const struct attend_job *job, const struct segment *s,
  uint32_t row, size_t head, float *scratch)
{
  const struct attention_dims *h = job->h;
  size_t i = (s->first_row + row) * (size_t) h->n_heads + head, d = h->head_dim;
  const float *q = job->q + i * d;
  float *y = job->y + i * d, *kept = NULL;
  struct kv_range seen = segment_range(s, row);
  struct kv_view v = s->view;
  size_t away = head / (h->n_heads / h->n_kv_heads) * v.head_bytes;
  v.key += away, v.value += away;
  @<Make |kept| ready if the weights are wanted@>@;
  @<Attend with the loops for the view's type@>@;
}

@ Many queries go together if the segment has them and the worker has room. Sinks, which make a hole in what a row sees, and weights that somebody wants to look at go one by one.

@<One worker's share of attention@>=
TARGET static void attend_rows_of_head(const struct attend_job *job,
  const struct segment *s, uint32_t row, uint32_t n_rows, size_t g, float *room)
{
  const struct attention_dims *h = job->h;
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  struct query_unit u = @[{ .h = h, .v = s->view, .n = n_rows * group,@|
    .wide = (d + NR - 1) / NR * NR, .deep = (d + 15) / 16 * 16,@|
    .most = job->scratch_each / (PART_OUT + d) }@];
  u.v.key += g * u.v.head_bytes, u.v.value += g * u.v.head_bytes;
  for (size_t i = 0; i < u.n; i++) {
    struct kv_range seen = segment_range(s, row + (uint32_t) (i / group));
    size_t at = (s->first_row + row + i / group) * h->n_heads + g * group + i % group;
    u.q[i] = job->q + at * d, u.y[i] = job->y + at * d;
    u.lo[i] = seen.lo, u.hi[i] = seen.hi;
  }
  attend_queries(&u, room);
}

@ The deal goes on from segment to segment: |unit| counts on, and what is left of it after a segment is the worker's first unit in the next.

@<One worker's share of attention@>=
TARGET static void attend_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct attend_job *job = ctx;
  const struct attention_dims *h = job->h;
  float *scratch = job->scratch + worker * job->scratch_each;
  size_t unit = worker, group = h->n_heads / h->n_kv_heads;
  TALLY("attend part", worker, 1);
  for (size_t k = 0; k < job->n; k++) {
    const struct segment *s = &job->list[k];
    size_t each_unit = 1, size = attention_room(h, s->n_rows, job->max_len);
    float *room = size > 0 && s->view.sinks == 0 && job->probe == NULL
      ? pool_workspace(job->pool, worker, size) : NULL;
    if (room != NULL) each_unit = QUERIES / group;
    size_t deals = (s->n_rows + each_unit - 1) / each_unit;
    size_t units = deals * (room != NULL ? h->n_kv_heads : h->n_heads);
    for (; unit < units; unit += workers) {
      uint32_t row = (uint32_t) (unit % deals * each_unit), left = s->n_rows - row;
      if (room == NULL) attend_unit(job, s, row, unit / deals, scratch);
      else attend_rows_of_head(job, s, row,
        left < each_unit ? left : (uint32_t) each_unit, unit / deals, room);
    }
    unit -= units;
  }
}

@ As with matrices, the type is asked once for a head, outside of the loops, and each answer has loops in which it is a constant. Chapter 2's store keeps
floats; others will keep their rows shorter. Blocks come in whole ones only: a |head_dim| that is no multiple of 32 is refused by the store, so that the ends of rows, where |load_one| and |dot_tail| would look for single numbers, are empty there.

@<Attend with the loops for the view's type@>=
#define WITH_ROWS(name) @[attend_head(h, q, &v, seen, name, scratch, y, kept)@]@;
switch (v.type) {
case WEIGHT_F32: WITH_ROWS(WEIGHT_F32);@+ break;
case WEIGHT_F16: WITH_ROWS(WEIGHT_F16);@+ break;
case WEIGHT_BF16: WITH_ROWS(WEIGHT_BF16);@+ break;
case WEIGHT_Q8_0: WITH_ROWS(WEIGHT_Q8_0);@+ break;
case WEIGHT_Q4_0: WITH_ROWS(WEIGHT_Q4_0);@+ break;
case WEIGHT_Q4_1: case WEIGHT_Q5_0: case WEIGHT_Q5_1: case WEIGHT_Q4_K:
case WEIGHT_Q6_K: break;
}
#undef WITH_ROWS

@ Weights that are asked for are zero where nothing was seen, so that whoever draws them needs no second list of
what each row could see.

@<Make |kept| ready if the weights are wanted@>=
if (job->probe != NULL) {
  kept = job->probe->weights + i * job->probe->stride;
  memset(kept, 0, job->probe->stride * sizeof *kept);
}

@ How much there is to do, and how much scratch memory a worker needs, follow from the ranges. The last row of a segment sees the most, and all rows are counted like it; so are
the positions between sinks and window, which no row sees. Both may be estimated too high, never too low.

@<Do attention@>=
static void attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
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

@* Activations. \label{sec:activations}
The curves of an MLP. The third is the exact form of GPT-2's curve, which some relatives use: ${1\over2}x\bigl(1+\hbox{erf}(x/\sqrt2)\bigr)$.
Sixteen numbers are bent at a time, so that the compiler can use whatever registers there are.

@<The three curves, sixteen numbers at a time@>=
INLINE void activation(enum activation_kind kind, float *z)
{
  if (kind == ACTIVATION_GELU_TANH)
    for (int j = 0; j < 16; j++) {
      float x = z[j], cube = x * x * x;
      float inner = 0.7978846f * fmaf(0.044715f, cube, x);
      z[j] = 0.5f * x * (1.0f + num_tanhf(inner));
    }
  else if (kind == ACTIVATION_GELU_ERF)
    for (int j = 0; j < 16; j++)
      z[j] = 0.5f * z[j] * (1.0f + num_erff(z[j] * 0.70710677f));
  else
    for (int j = 0; j < 16; j++) z[j] = z[j] / (1.0f + num_expf(-z[j]));
}

@ A worker takes a contiguous piece, in sixteens; the last sixteen may be short, and then the rest of it is computed on
zeros that nobody reads. Multiplying by |up| comes last.

@<One worker's share of an activation@>=
struct activate_job { enum activation_kind kind; const float *x, *up;
  size_t n; float *y; };
@#
TARGET static void activate_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct activate_job *job = ctx;
  size_t to = worker_begin(job->n, 16, worker + 1, workers);
  TALLY("activate part", worker, 1);
  for (size_t i = worker_begin(job->n, 16, worker, workers); i < to; i += 16) {
    float z[16] = @[{ 0 }@];
    size_t here = to - i < 16 ? to - i : 16;
    memcpy(z, job->x + i, here * sizeof *z);
    activation(job->kind, z);
    if (job->up != NULL)
      for (size_t j = 0; j < here; j++) z[j] *= job->up[i + j];
    memcpy(job->y + i, z, here * sizeof *z);
  }
}

@ An activation is worth dividing sooner than a sum, for an exponential costs as much as a dozen
multiply--adds.

@<Do an activation@>=
static void activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  struct activate_job job = @[{ kind, x, up, n, y }@];
  bool large = n >= WORTH_DIVIDING / 4;
  pool_run(large ? e->pool : NULL, activate_part, &job);
}

@ Adding to the residual stream is a matter of memory, and never worth dividing for the models of this book. The
caller's thread does it in one loop.

@<Add to the residual stream@>=
TARGET static void add(const struct engine *e, float *y, const float *x, size_t n)
{
  (void) e;
  TALLY("add part", 0, 1);
  for (size_t i = 0; i < n; i++) y[i] += x[i];
}

@ So is the lookup of an embedding: a row is widened, number by number. Only rows that are asked for are touched, and of a mapped file nothing
else is ever read. A row in blocks is read number by number as well, by |tensor_number|.

@<Look rows of the embedding up@>=
TARGET static void embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  (void) e;
  TALLY("embed part", 0, 1);
  bool blocks = number_types[table.type].block > 1;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < d; i++) {
      size_t at = id[r] * d + i;
      y[r * d + i] = blocks ? tensor_number(table, at) : load_one(table, at);
    }
}

@ For a finite number $x-x$ is zero. For an infinite one it is NaN, and for NaN it is NaN again. A single NaN makes the sum of all these differences NaN, whatever the others are; so a whole row is checked without a
branch, and only the sum is looked at.

@<Look for numbers that are not finite@>=
TARGET static void mark_nonfinite(const struct engine *e, const float *x, size_t rows,
  size_t d, uint32_t mark, uint32_t none, uint32_t *first)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, x += d) {
    float lane[16] = @[{ 0 }@];
    size_t whole = d / 16 * 16;
    for (size_t i = 0; i < whole; i += 16)
      for (size_t j = 0; j < 16; j++) lane[j] += x[i + j] - x[i + j];
    for (size_t i = whole; i < d; i++) lane[i - whole] += x[i] - x[i];
    if (fold_array(lane) != 0 && first[r] == none) first[r] = mark;
  }
}

@* Probabilities. \label{sec:probabilities}
At the end of a pass stand the logits, one for each token of the vocabulary, in float. What is done with them from here on is
done in double. A sum of fifty thousand exponentials in float would be off in the fifth digit, and the
probabilities that it gives would not sum to 1; in double they do, within $10^{-14}$. The vocabulary
is summed in sixteen lanes again, for the same reason as ever, and the exponentials are left in |y|.

@<The sum of the exponentials of a row, in double@>=
INLINE double sum_of_exp(const float *x, size_t n, double max, double *y)
{
  double lane[16] = @[{ 0 }@];
  size_t whole = n / 16 * 16;
  for (size_t i = 0; i < whole; i += 16) {
    double z[16];
    for (size_t j = 0; j < 16; j++) z[j] = num_exp((double) x[i + j] - max);
    for (size_t j = 0; j < 16; j++) lane[j] += z[j];
    memcpy(y + i, z, sizeof z);
  }
  for (size_t i = whole; i < n; i++)
    lane[i - whole] += y[i] = num_exp((double) x[i] - max);
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}

@ A probability is the exponential over the sum; its logarithm is the difference to the maximum, less the
logarithm of the sum. That second form is not the logarithm of the first: where the probability is
too small for a double, its logarithm is still an ordinary number.

@<One worker's share of the probabilities@>=
struct softmax_job { const float *x; size_t rows, n; double *y; bool logarithm; };
@#
TARGET static void softmax_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct softmax_job *job = ctx;
  size_t n = job->n, to = job->rows * (worker + 1) / workers;
  TALLY("softmax part", worker, 1);
  for (size_t r = job->rows * worker / workers; r < to; r++) {
    const float *x = job->x + r * n;
    double *y = job->y + r * n, max = -INFINITY;
    for (size_t i = 0; i < n; i++)
      if ((double) x[i] > max) max = (double) x[i];
    double sum = sum_of_exp(x, n, max, y);
    double log_sum = job->logarithm ? num_log(sum) : 0.0;
    for (size_t i = 0; i < n; i++)
      y[i] = job->logarithm ? (double) x[i] - max - log_sum : y[i] / sum;
  }
}

@ The two kernels differ in one word, which says whether a probability or its logarithm is wanted; a vocabulary is
long, so the work is divided by rows early. They are called when the pass is over, by a search or a sampler, and so they set the floating-point modes themselves.

@<Do a softmax@>=
static void softmax_rows(const struct engine *e, struct softmax_job *job)
{
  bool large = job->rows * job->n >= WORTH_DIVIDING / 4;
  struct float_modes modes;
  float_modes_begin(&modes);
  pool_run(large ? e->pool : NULL, softmax_part, job);
  float_modes_end(&modes);
}
static void softmax(const struct engine *e, const float *x, size_t rows,
  size_t n, double *y)
{@+ softmax_rows(e, &(struct softmax_job) @[{ x, rows, n, y, false }@]);@+ }
static void log_softmax(const struct engine *e, const float *x, size_t rows,
  size_t n, double *y)
{@+ softmax_rows(e, &(struct softmax_job) @[{ x, rows, n, y, true }@]);@+ }

@ A sampler wants less: the exponentials alone, of numbers that are doubles already, and it adds them up itself, in an order that
is no business of a kernel. What it wants of this file is that sixteen are computed at a time. Memory is copied to and fro because the compiler can see then that the sixteen
do not depend on each other.

@<Exponentials of many doubles@>=
TARGET static void exp_shifted(double *z, size_t n, double max)
{
  size_t whole = n / 16 * 16;
  for (size_t i = 0; i < whole; i += 16) {
    double w[16];
    for (size_t j = 0; j < 16; j++) w[j] = num_exp(z[i + j] - max);
    memcpy(z + i, w, sizeof w);
  }
  for (size_t i = whole; i < n; i++) z[i] = num_exp(z[i] - max);
}

@* The check. \label{sec:kernelcheck}
On every machine this must come out, whichever table it has.

\checkpoint{build/out/kernels.txt}{what the program of this chapter prints}

@* The tables. \label{sec:kerneltables}
What the three files share, in the order in which C wants it, comes to this. It stands in the C once, and is compiled three times.

@(bodies.inc@>=
#ifndef WORTH_DIVIDING
#define WORTH_DIVIDING 65536 /* multiply--adds */
#endif
@<Where a worker's share begins@>@;
@<Load numbers of any type@>@;
@<Load a register that is not full@>@;
@<Give the last terms to the first lanes@>@;
@<The dot product of sixteen lanes@>@;
@<Dot products of one row with as many others as a register has lanes@>@;
@<The sum of sixteen lanes@>@;
@<Linear layers, piece by piece@>@;
#include "kernels/blocks.inc"
@<Take up to sixteen numbers of a tensor@>@;
@<One row normalized@>@;
@<Norms of all rows@>@;
@<Angles of all rows@>@;
@<Turn the heads of one row@>@;
@<Rotations of all rows@>@;
@<Attention, piece by piece@>@;
@<Curves, stream and the two ends, piece by piece@>@;
@<Two roundings, and one@>@;
@<Calculate, and read nothing@>@;
@<Read, and hardly calculate@>@;

@ Those that go number by number, or row by row, and have no order of summation to speak of but the last.

@<Curves, stream and the two ends, piece by piece@>=
@<The three curves, sixteen numbers at a time@>@;
@<One worker's share of an activation@>@;
@<Do an activation@>@;
@<Add to the residual stream@>@;
@<Look rows of the embedding up@>@;
@<Look for numbers that are not finite@>@;
@<The sum of the exponentials of a row, in double@>@;
@<One worker's share of the probabilities@>@;
@<Do a softmax@>@;
@<Exponentials of many doubles@>@;

@ Linear layers and attention have more pieces than the others. They stand from the innermost loop outwards.

@<Linear layers, piece by piece@>=
@<Put sums in their places, with the bias@>@;
@<Few rows by the outputs |from| to |to| of a matrix stored by outputs@>@;
@<The last columns of a matrix stored by inputs@>@;
@<Outputs |from| to |to| of a matrix stored by inputs@>@;
@<Where a lane stands in a panel@>@;
@<Compute a tile of dot products@>@;
@<Pack rows into a panel@>@;
@<Pack outputs into a panel@>@;
@<Prepare the panels of a matrix@>@;
@<One worker's share of a linear layer@>@;
@<Do a linear layer@>@;

@ Attention is put together in the same way, from a single row of the cache to the division of the work; each part
uses only those above it.

@<Attention, piece by piece@>=
@<The result of one block of positions@>@;
@<The positions that a row sees@>@;
@<Where the rows of a block lie@>@;
@<The scores of a block, and their maximum@>@;
@<The exponentials of a block, and their sum in lanes@>@;
@<The chain over a block for some columns@>@;
@<The values of a block, each times its exponential@>@;
@<Attention of one head over one block@>@;
@<The weights that were asked for@>@;
@<Join the blocks in rising order@>@;
@<All blocks of one head, and their join@>@;
@<What a unit of queries has@>@;
@<Pack the keys and values of a block@>@;
@<The scores of a tile of queries@>@;
@<The chains of a tile of queries@>@;
@<A tile of queries over one block@>@;
@<All blocks of a unit of queries@>@;
@<One worker's share of attention@>@;
@<Do attention@>@;

@ A table says of each kernel by name which function it is. Without the names two of the same type, |softmax| and |log_softmax|, could be
exchanged, and the compiler would see no fault.

@<The functions of a table@>=
@[{ .name = NAME, .memory = &buffers_host,@|
.matrix_types = WEIGHTS_ALL, .int8_types = WEIGHTS_IN_BLOCKS,@|
.bf16_types = 1u << WEIGHT_BF16,@|
.linear_int8 = linear_int8, .linear_bf16 = plain_linear_bf16,@|
.split = host_split, .gather = host_gather, .write = host_write,@|
.mark_nonfinite = mark_nonfinite,@|
.linear = linear, .room = room_of_all, .attention_room = attention_room,@|
.normalize = normalize, .rotate = rotate,@|
.attend = attend, .activate = activate, .add = add,@|
.embed = embed, .angles = angles, .softmax = softmax,@|
.log_softmax = log_softmax, .exp_shifted = exp_shifted,@|
.prepared_bytes = prepared_bytes_of_all, .prepare = prepare_all,@|
.mul_add_unfused = mul_add_unfused, .mul_add_fused = mul_add_fused,@|
.probe_flops = probe_flops, .probe_bandwidth = probe_bandwidth }@]

@ In a program that is compiled as the Makefile says, they differ. Both are called through the table, so that no compiler can know the arguments and
work the answer out beforehand.

@<Two roundings, and one@>=
TARGET static float mul_add_unfused(float a, float b, float c)
{@+ return a * b + c;@+ }
TARGET static float mul_add_fused(float a, float b, float c)
{
  vec v = fused(spread(a), spread(b), spread(c));
  return v[0];
}

@* Two yardsticks. \label{sec:probes} How near do the kernels come to what the machine can do? \Cref{phases} asks, and needs two yardsticks, of the same instructions as the kernels: one that only calculates, and one that only reads.
A multiply--add takes a few cycles until its result can be used, and one or two can be begun in each cycle. So twelve sums that have nothing to do with each other are kept going, as many as a tile has. Each turns $x$ into $x/2+1$, and comes to rest at 2.

@<Calculate, and read nothing@>=
enum { CHAINS = 12 };
TARGET static uint64_t probe_flops(uint64_t n, float *left)
{
  vec a[CHAINS], half = spread(0.5f), one = spread(1.0f);
  uint64_t each_round = CHAINS * WIDTH, rounds = n / each_round + 1;
  each (i, CHAINS) a[i] = spread((float) i);
  for (uint64_t k = 0; k < rounds; k++)
    each (i, CHAINS) a[i] = fused(a[i], half, one);
  *left = 0;
  each (i, CHAINS) *left += a[i][0];
  return rounds * each_round;
}

@ Reading goes through eight registers at once, so that no addition has to wait for the one before.

@<Read, and hardly calculate@>=
TARGET static float probe_bandwidth(const float *x, size_t n)
{
  enum { AT_ONCE = 8 };
  vec a[AT_ONCE] = @[{ { 0 } }@], v;
  size_t k = 0;
  for (; k + AT_ONCE * WIDTH <= n; k += AT_ONCE * WIDTH)
    each (i, AT_ONCE) {
      memcpy(&v, x + k + i * WIDTH, sizeof v);
      a[i] += v;
    }
  float sum = 0;
  each (i, AT_ONCE) for (int j = 0; j < WIDTH; j++) sum += a[i][j];
  for (; k < n; k++) sum += x[k];
  return sum;
}

@ The tables that exist in this build, the slowest first, each with the question whether this processor can
run it. On a processor of another kind there is only the plain one, which the compiler is free to make faster by itself. The list is made
anew on the stack at each call; to keep it would take a variable that somebody must be the first to write.

@<The tables of this build@>=
extern const struct kernels kernels_scalar, kernels_avx2, kernels_avx512,
  kernels_neon;
@#
const struct kernels *kernels_at(size_t i)
{
  const struct kernels *found[4] = @[{ &kernels_plain, &kernels_scalar }@];
  size_t n = 2;
#if defined __x86_64__
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f")
    && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
    && __builtin_cpu_supports("avx512vl");
  if (avx2) found[n++] = &kernels_avx2;
  if (avx512) found[n++] = &kernels_avx512;
#elif defined __aarch64__
  found[n++] = &kernels_neon;
#endif
  return i < n ? found[i] : NULL;
}

@ Whoever asks for a table by name and cannot have it is told what there is. Whoever asks for none gets the last of the list, which is the
fastest.

@<Find a table by its name@>=
const struct kernels *kernels_find(const char *name, struct error *why)
{
  char there[200] = "";
  size_t n = 0;
  const struct kernels *k = NULL;
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    k = kernels_at(i);
    if (name != NULL && strcmp(name, k->name) == 0) return k;
    n += (size_t) snprintf(there + n, sizeof there - n, i > 0 ? ", %s" : "%s", k->name);
    if (n >= sizeof there) n = sizeof there - 1;
  }
  if (name == NULL) return k;
  error_say(why, "kernels: %s is not among those that this machine can"@|
    " run; wanted: one of %s", name, there);
  return NULL;
}

@ The list of copies is sorted by the addresses of the weights, and so a copy is found by binary search.

@<Prepare weights, and find them@>=
static int by_weight(const void *a, const void *b)
{
  uintptr_t x = (uintptr_t) ((const struct prepared_matrix *) a)->weight;
  uintptr_t y = (uintptr_t) ((const struct prepared_matrix *) b)->weight;
  return (x > y) - (x < y);
}
const void *prepared_find(const struct engine *e, const struct matrix *w)
{
  struct prepared_matrix key = @[{ w->weight.data, NULL }@];
  if (e->prepared == NULL || e->prepared->k != e->k
      || e->prepared->activations != e->activations) return NULL;
  const struct prepared_matrix *found = bsearch(&key, e->prepared->of,
    e->prepared->n, sizeof key, by_weight);
  return found == NULL ? NULL : found->copy;
}

@ Each copy is a block of its own. If memory runs out, the copies made so far are freed again.

@<Prepare weights, and find them@>=
struct prepared_weights *prepared_open(struct memory *m, const struct kernels *k,
  enum activations asked, const struct matrix *const *list, size_t n,
  struct error *why)
{
  struct prepared_weights *p = memory_alloc(m, MEMORY_OTHER, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  p->k = k, p->activations = asked;
  p->of = memory_alloc(m, MEMORY_OTHER, n, sizeof *p->of, why);
  bool ok = p->of != NULL;
  for (size_t i = 0; i < n && ok; i++) {
    enum activations format = activations_of(asked, list[i]->weight.type);
    size_t bytes = k->prepared_bytes(list[i], format);
    if (bytes == 0) continue;
    void *copy = memory_alloc(m, MEMORY_WEIGHTS, bytes, 1, why);
    ok = copy != NULL;
    if (!ok) break;
    k->prepare(list[i], format, copy);
    p->of[p->n++] = (struct prepared_matrix) @[{ list[i]->weight.data, copy }@];
  }
  if (ok) qsort(p->of, p->n, sizeof *p->of, by_weight);
  if (ok) return p;
  prepared_close(m, p);
  return NULL;
}

@ Closing frees the copies and the list, but not the weights, which belong to the model.

@<Prepare weights, and find them@>=
void prepared_close(struct memory *m, struct prepared_weights *p)
{
  if (p == NULL) return;
  for (size_t i = 0; i < p->n; i++) memory_free(m, p->of[i].copy);
  memory_free(m, p->of);
  memory_free(m, p);
}

@ Kernels multiply faster when the weights are in an order that suits them (\cref{sec:linear}). A program that has the memory for a second copy of the weights, and will use the model for long enough, may have the matrices \emph{prepared}, and give the copies to its engine.
The model's part in this is only to list its matrices.

@<Prepare a model's matrices@>=
struct prepared_weights *model_prepare(struct memory *m, const struct kernels *k,
  enum activations asked, const struct model *lm, struct error *why)
{
  size_t n = 0, most = (size_t) lm->config.n_layers * 7 + 1;
  const struct matrix **list = memory_alloc(m, MEMORY_OTHER, most, sizeof *list,
    why);
  if (list == NULL) return NULL;
  for (uint32_t i = 0; i < lm->config.n_layers; i++) {
    const struct model_layer *l = &lm->layers[i];
    for (size_t j = 0; j < l->n_qkv; j++) list[n++] = &l->qkv[j];
    for (size_t j = 0; j < l->n_up; j++) list[n++] = &l->up[j];
    list[n++] = &l->out, list[n++] = &l->down;
  }
  list[n++] = &lm->head;
  struct prepared_weights *p = prepared_open(m, k, asked, list, n, why);
  memory_free(m, list);
  return p;
}

@ The file that everybody calls is the shortest: it knows the tables, chooses among them, and has not one
multiplication in it.

@(kernels.c@>=
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "functions/numbers.h"
#include "kernels/kernels.h"
@;@#
@<The tables of this build@>@;
@<Find a table by its name@>@;
@<Prepare weights, and find them@>@;
@<Prepare a model's matrices@>@;
