@i types.w
@s vec int
@s each while
@s each_run while
@s each_two while
@s TARGET inline
@s INLINE inline
@s ALONE inline
@s HELPER inline
@s __m128 int
@s __m128i int
@s __m512 int
@s __m512i int
@s uint16x4_t int

\chapterquestion{What does an instruction set need, and what do the small kernels do?}
@** Inside the kernels: other instruction sets, ends of rows, small kernels.

\incipit{C}{hapter 11} has the large kernels, linear layers and attention, under the head for AVX2. Here is everything around them: the heads for plain C, AVX-512 and NEON, the ends of rows that fill no register, matrices stored by inputs, norms, rotations, the positions that a row sees, the division of attention among workers, activations, probabilities, the probes, and the list of the tables.
@^kernel@>@^head, of kernels@>

@* Heads for other instruction sets. \label{sec:heads11}
The first is for plain C, without any instructions of its own.

@(scalar.inc@>=
#define TARGET
#define WIDTH 4
#define TILE_ROWS 6
#define FUSED_IS_CALLED
#define HELPER @[static ALONE@]@;
#include "kernels/lanes.inc"
@<Multiply--add and the rest, in plain C@>@;

@ In plain C the multiply--add is a call for each lane, since a compiler that may not assume the
instruction has nothing better; without the instruction, |fmaf| computes the same bits several times more slowly. This table is
slow, and is there for machines that have neither of the other two, and to be compared with.

The bodies have very many multiply--adds once their loops are written out. With four calls in place of each, this table took longer to compile than all others together. So here |fused| itself is called, and so is what widens, chooses and folds. Every call of |fmaf| puts all registers of the loop into memory anyway, and one call of |fused| does it once instead of four times.

@<Multiply--add and the rest, in plain C@>=
static ALONE vec fused(vec a, vec b, vec c)
{
  for (int j = 0; j < WIDTH; j++) c[j] = fmaf(a[j], b[j], c[j]);
  return c;
}
static ALONE vec spread(float x)
{@+ return (vec) @[{ x, x, x, x }@];@+ }
static ALONE vec widen(const uint16_t *h, enum weight_type type)
{
  vec v = @[{ 0 }@];
  for (int j = 0; j < WIDTH; j++)
    v[j] = type == WEIGHT_F16 ? num_from_f16(h[j]) : num_from_bf16(h[j]);
  return v;
}
static ALONE vec i8_to_f32(const int8_t *small)
{
  vec v = @[{ 0 }@];
  for (int j = 0; j < WIDTH; j++) v[j] = (float) small[j];
  return v;
}
@<Choose lanes and fold them, in plain C@>@;

@ |blend| takes the first |n| lanes from |a| and the others from |b|, and |load_first| loads |n| floats and fills the other lanes with zeros; the ends of rows will need both. |fold_all| folds as many sums as there are lanes, the last two steps of each: the halves of two sums become one register, twice, and then the neighbours of those two another. Every table's |fold_all| is a tree of such additions, with as many steps as its width wants; and each compiler has its own way to say how the lanes of two registers are mixed, which |MIX| hides.

@<Choose lanes and fold them, in plain C@>=
HELPER vec blend(int n, vec a, vec b)
{
  for (int j = 0; j < WIDTH; j++) a[j] = j < n ? a[j] : b[j];
  return a;
}
HELPER vec load_first(const void *p, int n)
{
  vec v = @[{ 0 }@];
  memcpy(&v, p, (size_t) n * sizeof (float));
  return v;
}
HELPER vec fold_all(const vec *a)
{
  vec b[2];
  each (i, 2) b[i] = MIX(a[2 * i], a[2 * i + 1], 0, 1, 4, 5)
    + MIX(a[2 * i], a[2 * i + 1], 2, 3, 6, 7);
  return MIX(b[0], b[1], 0, 2, 4, 6) + MIX(b[0], b[1], 1, 3, 5, 7);
}

@ And this one is for AVX-512, where sixteen lanes are one register and there are thirty-two of them:
twenty-four sums, four weights, one input.

@(avx512.inc@>=
#include <immintrin.h>
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,"@| \
  "avx512vl,avx2,fma,f16c")))
#define WIDTH 16
#define TILE_ROWS 12
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for AVX-512@>@;

@ For AVX-512 the same with longer names. What decides between the two tables is never what an instruction gives, only how many lanes it
gives at once.

@<Multiply--add and the rest, for AVX-512@>=
INLINE vec fused(vec a, vec b, vec c)
{@+ return _mm512_fmadd_ps(a, b, c);@+ }
@<Spread, widen, choose and fold, for AVX-512@>@;

@ The rest has no multiply--add.

@<Spread, widen, choose and fold, for AVX-512@>=
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

@ Processors with the instructions of ARM have thirty-two registers of four lanes, in every one of them that has 64 bits; so this table needs no question to the processor, and the attribute is empty.
@^NEON@>

@(neon.inc@>=
#include <arm_neon.h>
#define TARGET
#define WIDTH 4
#define TILE_ROWS 12
#define HELPER INLINE
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for NEON@>@;

@ For NEON only three functions are its own. The rest is as in plain C, since a |vec| of four floats is a register here, and a compiler finds the instructions.
This table was written without such a machine: it is compiled for one, and an emulator runs the tests of all kernels, which ask for the same bits as everywhere (\.{make cross}). How fast it is, an emulator cannot say.
@^emulator@>@^cross compiler@>

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

@* The parts of a table. \label{sec:parts34}
Each head is compiled with the bodies in five files (\cref{sec:bodies}), which must know of each other what this header says. A table has up to three ways through a linear layer: inputs as floats, in blocks of bytes, and in pairs of bfloat16. Each of them has four functions, whose types are those of |struct kernels|. For attention with all heads together there is a structure that says where things lie; |segments.inc| fills it.

@(parts.h@>=
#ifndef INCIPIT_PARTS_H
#define INCIPIT_PARTS_H
#include "functions/numbers.h"
#include "kernels/kernels.h"
@<A way through a linear layer@>@;
@<The parts of attention@>@;
extern const struct kernels kernels_scalar, kernels_avx2, kernels_avx512,
  kernels_neon;
  /* the tables that are made of all this */
#endif

@ On AVX-512 bytes have two files; the second needs AVX512-VNNI. Pairs need AVX512-BF16.

@<A way through a linear layer@>=
struct linear_kernels {
  void (*linear)(const struct engine *e, const struct matrix *list, size_t n,
    const float *x, size_t rows, float *const *y);
  size_t (*room)(const struct matrix *list, size_t n, size_t rows);
  size_t (*prepared_bytes)(const struct matrix *w, enum activations format);
  void (*prepare)(const struct matrix *w, enum activations format, void *to);
};
  /* four functions of a table for inputs in one format */
extern const struct linear_kernels floats_scalar, floats_avx2, floats_avx512,
  floats_neon;
  /* for inputs that are floats */
extern const struct linear_kernels blocks_scalar, blocks_avx2, blocks_avx512,
  blocks_vnni, blocks_neon;
  /* for inputs that are rounded to bytes */
extern const struct linear_kernels pairs_avx512;
  /* for inputs that are rounded to bfloat16 */

@ There must be room for the scores and the results of all heads.

@<The parts of attention@>=
enum { SCORES = 256 + 16 };
  /* floats between the scores of two heads */
struct heads_unit { const struct attention_dims *h; const struct kv_view *v;
  size_t n, most; /* heads; blocks that each may have */
  const float *q; float *y, *score, *left; size_t *away; };
  /* |away[n]|, |score[n][SCORES]|, |left[n][most][2 + head_dim]| */
struct heads_kernels { void (*attend)(const struct heads_unit *u,
  struct kv_range seen); };
  /* attention of one row, all heads together */
extern const struct heads_kernels heads_scalar, heads_avx2, heads_avx512,
  heads_neon;
  /* the file that has it for each head */
struct attention_kernels {
  void (*attend)(const struct engine *e, const struct attention_dims *h,
    const float *q, const struct segment *list, size_t n, float *scratch,
    float *y, const struct attention_probe *probe);
  size_t (*room)(const struct attention_dims *h, size_t rows, size_t max_len);
};
  /* two functions of a table */
extern const struct attention_kernels attention_scalar, attention_avx2,
  attention_avx512, attention_neon;
  /* the file that has them for each head */

@ The entries of a table choose a part by the format of the inputs. |BLOCKS| and |PAIRS| are addresses that a table's file names; where there are no pairs, |PAIRS| is null. The processor is asked at each call; the answer is a bit in memory. A test can take either of two parts.

@(entries.inc@>=
static const struct linear_kernels *part_of(enum activations format)
{
  if (format == ACTIVATIONS_INT8) return BLOCKS;
  return format == ACTIVATIONS_BF16 ? PAIRS : &FLOATS;
}
@<Linear layers through their parts@>@;
@<What a linear layer wants of memory@>@;
@<Attention through its part@>@;

@ A table cannot name the functions of another file's structure, which C does not count as constants; so it has its own, which call them.

@<Linear layers through their parts@>=
static void linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{@+ FLOATS.linear(e, list, n, x, rows, y);@+ }
static void linear_int8(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{@+ part_of(ACTIVATIONS_INT8)->linear(e, list, n, x, rows, y);@+ }
static void linear_bf16(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  const struct linear_kernels *pairs = part_of(ACTIVATIONS_BF16);
  if (pairs != NULL) pairs->linear(e, list, n, x, rows, y);
  else plain_linear_bf16(e, list, n, x, rows, y);
}

@ The workspace is enough for each of the formats.

@<What a linear layer wants of memory@>=
static size_t room(const struct matrix *list, size_t n, size_t rows)
{
  size_t most = FLOATS.room(list, n, rows);
  const struct linear_kernels *pairs = part_of(ACTIVATIONS_BF16);
  size_t bytes = part_of(ACTIVATIONS_INT8)->room(list, n, rows);
  if (bytes > most) most = bytes;
  bytes = pairs != NULL ? pairs->room(list, n, rows) : 0;
  return bytes > most ? bytes : most;
}
static size_t prepared_bytes(const struct matrix *w, enum activations format)
{
  const struct linear_kernels *part = part_of(format);
  return part != NULL ? part->prepared_bytes(w, format) : 0;
}
static void prepare(const struct matrix *w, enum activations format, void *to)
{@+ part_of(format)->prepare(w, format, to);@+ }

@ @<Attention through its part@>=
static void attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{@+ ATTENTION.attend(e, h, q, list, n, scratch, y, probe);@+ }
static size_t attention_room(const struct attention_dims *h, size_t rows,
  size_t max_len)
{@+ return ATTENTION.room(h, rows, max_len);@+ }

@* Pairs of bfloat16. \label{sec:pairs11}
When the inputs of a layer are rounded to bfloat16 (\cref{sec:dotbf}), two neighbours make one word of \given{32} bits, the size of a float. The definition gives pair $i$ to lane $i\bmod16$, exactly as it gives the single number $i$ to lane $i\bmod16$ when inputs are floats. So a matrix in bfloat16 with \given{768} inputs has the shape of a matrix of floats with \given{384}, if the multiply--add takes words apart; loads, panels, tiles and folds only move words. AVX512-BF16 has that multiply--add, \texttt{VDPBF16PS}. This file therefore puts it in place of the other under the head for AVX-512, and includes the linear layers once more.
@^bfloat16@>@^AVX512-BF16@>@^VDPBF16PS@>

What should it gain? A tile makes half as many steps, each of one instruction a register of sums, so with many rows we expect twice the speed of floats wherever the processor begins this instruction as often as an ordinary multiply--add. On such a processor a tile is nearly that fast. A whole prompt gains less, because attention, norms and activations stay in float and take a larger share of the time.

@(pairs.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,"@| \
  "avx512vl,avx512bf16,avx2,fma,f16c")))
#define WIDTH 16
#define TILE_ROWS 12
#define WORDS_ALONE
#include "kernels/lanes.inc"
INLINE vec fused(vec a, vec b, vec c)
{@+ return _mm512_dpbf16_ps(c, (__m512bh) a, (__m512bh) b);@+ }
@<Spread, widen, choose and fold, for AVX-512@>@;
#include "kernels/linear.inc"
@<Multiply pairs of bfloat16@>@;
#endif

@ A matrix can be seen as pairs if the numbers of a row are neighbours, and if their number is even, so that no pair is cut by the end of a row. All published models in bfloat16 are like that, except those stored by inputs.

@<Multiply pairs of bfloat16@>=
static bool see_pairs(const struct matrix *w, struct matrix *pairs)
{
  *pairs = *w;
  pairs->weight.type = WEIGHT_F32, pairs->in = w->in / 2;
  return w->in % 2 == 0 && w->in > 0 && !w->transposed
    && w->weight.type == WEIGHT_BF16;
}

@ The inputs are rounded as |num_to_bf16| does it, sixteen at a time. The instruction that rounds would flush small numbers before it rounds, and the definition rounds first; at the edge that is not the same.

@<Multiply pairs of bfloat16@>=
INLINE uint16_t rounded_half(float x)
{
  uint32_t u = num_bits32(x), quiet = u >> 16 | 0x40u;
  uint32_t near = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
  return (uint16_t) ((u & 0x7fffffffu) > 0x7f800000u ? quiet : near);
}
TARGET static void round_halves(const float *x, size_t n, uint16_t *to)
{
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (size_t j = 0; j < 16; j++) to[i + j] = rounded_half(x[i + j]);
  for (; i < n; i++) to[i] = rounded_half(x[i]);
}

@ The rounded inputs stay in the workspace of the first worker, after its panels, for at most |MOST_ROWS| rows at a time.

@<Multiply pairs of bfloat16@>=
static size_t before_inputs(const struct matrix *w, size_t rows)
{@+ return (room(w, 1, rows) + 63) / 64 * 64;@+ }
static size_t pairs_room(const struct matrix *list, size_t n, size_t rows)
{
  struct matrix one;
  if (rows > MOST_ROWS) rows = MOST_ROWS;
  for (size_t m = 0; m < n; m++)
    if (see_pairs(&list[m], &one))
      return before_inputs(&one, rows) + rows * one.in * sizeof(float);
  return 0;
}

@ Without a workspace, or where there are no pairs, the definition of \cref{sec:dotbf} is slow and right.

@<Multiply pairs of bfloat16@>=
enum { PAIR_LISTS = 4 };
static void pairs_few(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  struct matrix pairs[PAIR_LISTS];
  bool fit = true;
  char *inputs = pool_workspace(e->pool, 0, pairs_room(list, n, rows));
  for (size_t m = 0; m < n; m++) fit &= see_pairs(&list[m], &pairs[m]);
  if (inputs == NULL || !fit) {
    plain_linear_bf16(e, list, n, x, rows, y);
    return;
  }
  inputs += before_inputs(pairs, rows);
  round_halves(x, rows * list->in, (void *) inputs);
  linear(e, pairs, n, (const void *) inputs, rows, y);
}

@ The call is cut into lists of a few matrices and blocks of |MOST_ROWS| rows.

@<Multiply pairs of bfloat16@>=
static void pairs_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  for (size_t r = 0, here; r < rows; r += here) {
    here = rows - r < MOST_ROWS ? rows - r : MOST_ROWS;
    for (size_t m = 0, some; m < n; m += some) {
      float *to[PAIR_LISTS];
      some = n - m < PAIR_LISTS ? n - m : PAIR_LISTS;
      for (size_t i = 0; i < some; i++) to[i] = y[m + i] + r * list[m + i].out;
      pairs_few(e, list + m, some, x + r * list->in, here, to);
    }
  }
}

@ Panels of pairs are panels of words.

@<Multiply pairs of bfloat16@>=
static size_t pairs_bytes(const struct matrix *w, enum activations format)
{
  struct matrix pairs;
  (void) format;
  return see_pairs(w, &pairs) ? prepared_bytes(&pairs, ACTIVATIONS_F32) : 0;
}
static void pairs_prepare(const struct matrix *w, enum activations format,
  void *to)
{
  struct matrix pairs;
  (void) format;
  if (see_pairs(w, &pairs)) prepare(&pairs, ACTIVATIONS_F32, to);
}
const struct linear_kernels pairs_avx512 = @[{ pairs_linear, pairs_room,@|
  pairs_bytes, pairs_prepare }@];

@* Loading numbers. \label{sec:loading}
The loops of the kernels load registers of numbers of any type, and at the end of a row fewer than fill one.

@(load.inc@>=
@<Load numbers of any type@>@;
@<Load a register that is not full@>@;
@<Give the last terms to the first lanes@>@;

@ Now the bodies, which all of them share. One register of a tensor is loaded, and widened if it
must be. The type is known where this is inlined, so that the question costs nothing; and so is the size of the |memcpy|, which compilers
turn into one load that minds no misalignment. The |switch| has no |default|, here and wherever a type decides: if a type is added to the enumeration without a case of its own, the compiler stops,
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
  OTHER_BLOCKS:
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
  bool whole = number_types[t.type].bits == 8;
  memcpy(&b, p + 2 + (whole ? first : first % 16), sizeof b);
  if (!whole) b = (first < 16 ? b & 15 : b >> 4) - 8;
  int8_t small[WIDTH];
  memcpy(small, &b, sizeof b);
  return i8_to_f32(small) * widen(scale, WEIGHT_F16);
}

@ What will be loaded soon can be asked for before.

@<Load numbers of any type@>=
INLINE void prefetch(struct tensor t, size_t i)
{
  uintptr_t place = (uintptr_t) t.data + weight_row_bytes(t.type, i);
  __builtin_prefetch((const void *) place, 0, HINT);
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
  case WEIGHT_Q8_0: case WEIGHT_Q4_0: OTHER_BLOCKS:
    break;
  }
  return x;
}

@ The type of a matrix is asked outside of the loops: |DO_WITH_TYPE| calls |WITH_TYPE|, which its users define, with the constant that the type turned out to be. Pairs of bfloat16 (\cref{sec:pairs11}) are words of one type, and their file has no loops for others.

@<Load numbers of any type@>=
#if defined WORDS_ALONE
#define DO_WITH_TYPE(type) WITH_TYPE(WEIGHT_F32)
#else
#define DO_WITH_TYPE(type) \
  @[switch (type) { \
  case WEIGHT_F32: WITH_TYPE(WEIGHT_F32); break; \
  case WEIGHT_F16: WITH_TYPE(WEIGHT_F16); break; \
  case WEIGHT_BF16: WITH_TYPE(WEIGHT_BF16); break; \
  case WEIGHT_Q8_0: WITH_TYPE(WEIGHT_Q8_0); break; \
  case WEIGHT_Q4_0: WITH_TYPE(WEIGHT_Q4_0); break; \
  OTHER_BLOCKS: WITH_TYPE(type); \
  }@]
#endif

@ At the end of a row there may be fewer numbers than lanes; the other lanes are filled with zeros. Loading a whole
register would read past the end of the row: harmless in most places, but after the last row of a mapped file there may be no memory. Floats are loaded under a
mask, by |load_first|; numbers of two bytes are copied to a buffer first. A register that is full after all needs neither.

@<Load a register that is not full@>=
INLINE vec load_partial(struct tensor t, size_t i, int n)
{
  if (n == WIDTH) return load(t, i);
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

@* Many rows by a matrix as it lies. \label{sec:unpacked34}
The packing of weights and rows into panels costs a copy of both. It is worth it, because a tile with lanes over the outputs needs no fold and reads both sides from end to end. But where a register holds all sixteen lanes, another tile does without them: |LYING_ROWS| rows by four outputs, whose lanes run over $k$ as in the definition. It reads rows and weights as they are. A step loads ten registers for \given{24} multiply--adds, about as many for each as the tile of panels, and what it pays for that is a fold for each sum at the end.

When does it win? The rows of a tile must stay in the first-level cache while they meet all outputs of a block, so they may not be long. And ten rows that begin at a multiple of \given{4096} bytes from each other compete for the same few places in that cache, which takes its place for a line from the address within a page (\emph{associativity}).
@^packing, of weights@>@^associativity@>

@(unpacked.inc@>=
#if WIDTH == 16
@<Some rows by four outputs, lanes over $k$@>@;
@<Many rows by outputs as they lie@>@;
#else
#define by_lying(...) false
#endif

@ If fewer than four outputs are left, the last one is computed more than once. Two steps of the loop are written out in each turn; with eight, a tile was slower.

@<Some rows by four outputs, lanes over $k$@>=
enum { LYING_ROWS = 6 };
INLINE void lying_tile(int rows, const float *x, const struct matrix *w, size_t o,
  size_t outs, float *y)
{
  const float *weight[4];
  vec a[8][4] = @[{ { { 0 } } }@], v[LYING_ROWS], b;
  size_t n = w->in, whole = n / 16 * 16;
  each (c, 4) weight[c] = (const float *) w->weight.data@|
    + (o + ((size_t) c < outs ? (size_t) c : outs - 1)) * n;
  each_two (k, n / 16) {
    each (r, rows) memcpy(&v[r], x + (size_t) r * n + 16 * k, sizeof v[r]);
    each (c, 4) {
      memcpy(&b, weight[c] + 16 * k, sizeof b);
      each (r, rows) a[r][c] = fused(v[r], b, a[r][c]);
    }
  }
  if (whole < n) each (r, rows) each (c, 4)
    add_rest(x + (size_t) r * n, (struct tensor) @[{ weight[c], WEIGHT_F32 }@],@|
      whole, n - whole, &a[r][c]);
  TALLY("linear", 0, (size_t) rows * outs * n);
  @<Fold the sums of the tile, and put them in their places@>@;
}

@ |fold_all| folds \given{16} sums, those of four rows. The sums of rows that the tile does not have are 0, and the compiler knows it.

@<Fold the sums of the tile, and put them in their places@>=
each (g, 2) if (4 * g < rows) {
  float sum[WIDTH];
  vec folded = fold_all(a[4 * g]);
  memcpy(sum, &folded, sizeof sum);
  each (i, 4) if (4 * g + i < rows) {
    float *its = y + (size_t) (4 * g + i) * w->out;
    if (w->bias.data == NULL && outs == 4) memcpy(its + o, sum + 4 * i, 4 * sizeof *y);
    else put_sums(sum + 4 * i, w, o, outs, its);
  }
}

@ Only floats that are not prepared are multiplied as they lie; the result says whether the matrix was. The weights of |LYING_OUTS| outputs stay in the second-level cache while all rows pass over them, six at a time. To ask for the next ones meanwhile, as is done for panels, gained nothing: they are read from end to end by the first tile of rows, and the processor sees that.

@<Many rows by outputs as they lie@>=
TARGET static bool by_lying(const struct linear_job *job, const struct matrix *w,
  size_t r0, size_t r1, size_t from, size_t to, float *y)
{
  size_t n = w->in, rows, outs;
  if (w->weight.type != WEIGHT_F32 || w->transposed || n > LYING_INPUTS@|
      || n * sizeof(float) % 4096 == 0 || prepared_find(job->e, w) != NULL) return false;
  for (size_t o = from; o < to; o += outs) {
    outs = to - o < LYING_OUTS ? to - o : LYING_OUTS;
    for (size_t r = r0; r < r1; r += rows) {
      rows = r1 - r < LYING_ROWS ? r1 - r : LYING_ROWS;
      @<Some rows by all outputs of the block@>@;
    }
  }
  return true;
}

@ @<Some rows by all outputs of the block@>=
for (size_t c = o; c < o + outs; c += 4) {
  const float *x = job->x + r * n;
  size_t here = o + outs - c < 4 ? o + outs - c : 4;
  switch (rows) {
  case 6: lying_tile(6, x, w, c, here, y + r * w->out);@+ break;
  case 5: lying_tile(5, x, w, c, here, y + r * w->out);@+ break;
  case 4: lying_tile(4, x, w, c, here, y + r * w->out);@+ break;
  case 3: lying_tile(3, x, w, c, here, y + r * w->out);@+ break;
  case 2: lying_tile(2, x, w, c, here, y + r * w->out);@+ break;
  default: lying_tile(1, x, w, c, here, y + r * w->out);
  }
}

@* Matrices stored by inputs. \label{sec:byinputs}
GPT-2 stores its matrices the other way round. With many rows they are packed and make no difference; with few there is a function of its own.

@(inputs.inc@>=
@<The last columns of a matrix stored by inputs@>@;
@<Outputs |from| to |to| of a matrix stored by inputs@>@;

@ GPT-2's matrices lie the other way: the weights of one \emph{input} are neighbours. Here lanes
over $k$ would gather from sixteen places. So the registers run over the outputs
instead, and a lane of the definition becomes a whole row of an array: |sum[j]| holds
lane $j$ for a span of outputs. The additions are the same, in the same order; only which numbers share
a register has changed.

To load and store a sum for each multiply--add would leave the multipliers idle half of the time, so terms $k$,
$k+16$, and so on, |UNROLL| of them, which belong to the same lane, are added in one visit.

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
and it is never read; since the places of this register are outputs and not lanes, nothing from there is ever folded into a sum.

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

@* Norms. \label{sec:norms}
The two norms differ in the mean and in the bias, and share the rest (\cref{sec:norm} has the formulas). The row is
centred first, into the place of the result, with a mean of 0 where the norm has none; then one dot product with itself gives the size. What is left has no sums in it, and goes through arrays
of sixteen, so that the loop in the middle has sixteen turns even at the end of a row, and a compiler knows it.

@<One row normalized@>=
INLINE void scale_sixteen(const struct norm *g, bool shift, float r, size_t i,
  size_t here, float *y)
{
  float z[16] = @[{ 0 }@], gain[16] = @[{ 0 }@], bias[16] = @[{ 0 }@];
  memcpy(z, y + i, here * sizeof *z);
  take(g->gain, i, here, gain);
  if (shift) take(g->bias, i, here, bias);
  if (shift) each (j, 16) z[j] = fmaf(z[j] * r, gain[j], bias[j]);
  else each (j, 16) z[j] = z[j] * r * gain[j];
  memcpy(y + i, z, here * sizeof *z);
}
INLINE void centre(const float *x, size_t d, float mean, float *y)
{
  size_t i = 0;
  for (vec v; i + WIDTH <= d; i += WIDTH) {
    memcpy(&v, x + i, sizeof v);
    v -= mean;
    memcpy(y + i, &v, sizeof v);
  }
  for (; i < d; i++) y[i] = x[i] - mean;
}
INLINE void normalize_row(const struct norm *g, const float *x, size_t d,
  float *y)
{
  bool layer = g->kind == NORM_LAYER, shift = layer && g->bias.data != NULL;
  float mean = layer ? sum_of(x, d) / (float) d : 0.0f;
  centre(x, d, mean, y);
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

@ Norms and rotations are one file.

@(norms.inc@>=
@<The sum of sixteen lanes@>@;
@<Take up to sixteen numbers of a tensor@>@;
@<One row normalized@>@;
@<Norms of all rows@>@;
@<Angles of all rows@>@;
@<Turn the heads of one row@>@;
@<Rotations of all rows@>@;

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

@* The positions that a row sees. \label{sec:positions11}
Attention walks over blocks of positions, and within a block over runs of neighbours in memory.

@(positions.inc@>=
@<The positions that a row sees@>@;
@<Where the rows of a block lie@>@;
@<The weights that were asked for@>@;

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
#define @,each_run(r, b) @[for (struct kv_run r = next_run(b, NULL); \
  r.t0 < r.t1; r = next_run(b, &r))@]@;

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

@* All heads of a row together. \label{sec:heads34}
One row, as in decoding, has one query for each head. The keys of one head are pieces of rows, with the keys of the other heads between them. If each head goes through the cache by itself, memory is asked for pieces of \given{256} bytes, each in another place, and the whole cache is walked through once for every head. So in this way through attention the heads take turns after a few positions: then what is read is whole rows, one after the other, and only the small arrays of scores and sums are gone through again and again. The order of the additions in each sum is the same. The pages of \cref{cache} keep the rows of one head together; there a head takes all rows of a page in its turn, and what is read is one piece again.
@^attention@>

@(heads.inc@>=
#include "kernels/products.inc"
#include "kernels/join.inc"
INLINE const char *head_row(const struct heads_unit *u, uintptr_t row, size_t i)
{ return (const char *) (row + u->away[i]); }
@<The scores of all heads@>@;
@<The values of all heads@>@;
@<All blocks of all heads@>@;

@ The caller knows how much room that takes, and where the rows of a head begin. Heads of a group share their keys and values. The division is made once and not for every few positions: a division takes as long as a few positions of a head of \given{8} numbers.

@(heads_room.inc@>=
static size_t heads_room(const struct attention_dims *h, size_t max_len)
{
  size_t each_head = SCORES + kernels_scratch(h, max_len);
  return h->n_heads * (sizeof(size_t) + each_head * sizeof(float));
}
static void find_heads(const struct heads_unit *u, size_t from)
{
  size_t group = u->h->n_heads / u->h->n_kv_heads;
  for (size_t i = 0; i < u->n; i++)
    u->away[i] = (from + i) / group * u->v->head_bytes;
}

@ In the pages of a store the rows of a head lie together; if they are not too short, a head takes a whole run of them in its turn. What is wanted next is fetched ahead (a \emph{prefetch}): where rows are together, what lies |PAGED_AHEAD| bytes later, be it of the same head or of the next, and elsewhere the row that comes |TOGETHER| positions later.
@^prefetch@>

@<The scores of all heads@>=
static bool rows_together(const struct kv_view *v)
{@+ return v->head_bytes > v->row_bytes && v->row_bytes >= 64;@+ }
INLINE size_t bytes_ahead(const struct kv_view *v, bool paged)
{@+ return paged ? PAGED_AHEAD : TOGETHER * v->row_bytes;@+ }

@ A turn goes through as many keys at once as there are lanes. Maximum and sum are taken over whole sixteens, so what is left of the first and the last gets scores that count for nothing.

@<The scores of all heads@>=
INLINE void heads_scores(const struct heads_unit *u, enum weight_type type,
  bool paged, const struct position_block *b)
{
  size_t stride = u->v->row_bytes, d = u->h->head_dim;
  vec none = spread(-INFINITY);
  size_t first = b->t0 % 256 / 16 * 16, last = (b->t1 - 1) % 256 / 16 * 16;
  for (size_t i = 0; i < u->n; i++)
    for (size_t k = 0; k < 16; k += WIDTH) {
      memcpy(u->score + i * SCORES + first + k, &none, sizeof none);
      memcpy(u->score + i * SCORES + last + k, &none, sizeof none);
    }
  uint32_t some = paged ? 256 : WIDTH;
  each_run (r, b)
    for (uint32_t t0 = r.t0; t0 < r.t1; t0 += some)
      for (size_t i = 0; i < u->n; i++)
        for (uint32_t t = t0; t < r.t1 && t - t0 < some; t += WIDTH) {
          uintptr_t row = u->v->key + r.at + (t - r.t0) * stride;
          @<The scores of one head for a register of keys@>@;
        }
}

@ @<The scores of one head for a register of keys@>=
size_t here = r.t1 - t < WIDTH ? r.t1 - t : WIDTH, ahead = bytes_ahead(u->v, paged);
const char *key = head_row(u, row, i);
for (size_t z = 0; paged && z < WIDTH * stride; z += 64)
  __builtin_prefetch((const void *) ((uintptr_t) key + ahead + z), 0, HINT);
vec s = dots("attention", u->q + i * d, key, stride, here, type, d, ahead);
s = blend((int) here, s * spread(u->h->scale), none);
memcpy(u->score + i * SCORES + t % 256, &s, sizeof s);
TALLY("pairs", 0, here);

@ The chains of some columns go on where they were left after the last turn. A chain has one addition a position, which must wait for the one before it. A head of \given{64} numbers has chains enough to keep the multiply--add units at work.

@<The values of all heads@>=
INLINE void go_on(int columns, const float *w, const char *place, size_t stride,
  size_t ahead, enum weight_type type, size_t first, uint32_t n, float *o)
{
  vec a[64 / WIDTH];
  ahead += weight_row_bytes(type, first);
  each (p, columns / WIDTH) memcpy(&a[p], o + p * WIDTH, sizeof a[p]);
  for (uint32_t i = 0; i < n; i++, place += stride) {
    struct tensor row = @[{ place, type }@];
    vec v = spread(w[i]);
    for (size_t z = 0; z < weight_row_bytes(type, (size_t) columns); z += 64)
      __builtin_prefetch(place + ahead + z, 0, HINT);
    each (p, columns / WIDTH)
      a[p] = fused(v, load(row, first + (size_t) p * WIDTH), a[p]);
    TALLY("attention", 0, columns);
  }
  each (p, columns / WIDTH) memcpy(o + p * WIDTH, &a[p], sizeof a[p]);
}

@ A head of \given{8} numbers has a single chain in AVX2. While one of its additions waits for the one before, the processor looks ahead and begins with the chains of the next heads, if they are not too many instructions away. So here the few positions stand one after the other, without a loop.

@<The values of all heads@>=
INLINE void go_on_eight(const float *w, const char *place, size_t stride,
  enum weight_type type, size_t first, uint32_t n, float *o)
{
  enum { EACH = WIDTH < 8 ? WIDTH : 8 };
  vec a[8 / EACH] = @[{ { 0 } }@];
  each (p, 8 / EACH) memcpy(&a[p], o + p * EACH, EACH * sizeof *o);
  each (i, TOGETHER) if ((uint32_t) i < n) {
    struct tensor row = @[{ place + (size_t) i * stride, type }@];
    each (p, 8 / EACH)
      a[p] = fused(spread(w[i]), load_partial(row, first + (size_t) p * EACH, EACH), a[p]);
    TALLY("attention", 0, 8);
  }
  each (p, 8 / EACH) memcpy(o + p * EACH, &a[p], EACH * sizeof *o);
}

@ The last columns of a head may be fewer than sixteen. Behind them stands the result of another block, which must not be touched.

@<The values of all heads@>=
INLINE void go_on_rest(size_t columns, const float *w, const char *place,
  size_t stride, enum weight_type type, size_t first, uint32_t n, float *o)
{
  vec a[PARTS];
  float z[16] = @[{ 0 }@];
  memcpy(z, o, columns * sizeof *o);
  memcpy(a, z, sizeof a);
  for (uint32_t i = 0; i < n; i++, place += stride) {
    struct tensor row = @[{ place, type }@];
    vec v = spread(w[i]);
    each (p, PARTS) if ((int) columns > p * WIDTH)
      a[p] = fused(v, load_partial(row, first + (size_t) p * WIDTH,
        part_lanes(columns, p)), a[p]);
    TALLY("attention", 0, columns);
  }
  memcpy(z, a, sizeof z);
  memcpy(o, z, columns * sizeof *o);
}

@ @<The values of all heads@>=
INLINE void heads_values(const struct heads_unit *u, enum weight_type type,
  bool paged, const struct position_block *b, float *left)
{
  size_t stride = u->v->row_bytes, d = u->h->head_dim, ahead = bytes_ahead(u->v, paged);
  uint32_t some = paged ? 256 : TOGETHER;
  each_run (r, b)
    for (uint32_t t = r.t0; t < r.t1; t += some) {
      uint32_t here = r.t1 - t < some ? r.t1 - t : some;
      uintptr_t row = u->v->value + r.at + (t - r.t0) * stride;
      for (size_t i = 0; i < u->n; i++) {
        const char *value = head_row(u, row, i);
        const float *w = u->score + i * SCORES + t % 256;
        float *o = left + i * u->most * (PART_OUT + d) + PART_OUT;
        size_t c = 0;
        for (; c + 64 <= d; c += 64)
          go_on(64, w, value, stride, ahead, type, c, here, o + c);
        for (; c + 16 <= d; c += 16)
          go_on(16, w, value, stride, ahead, type, c, here, o + c);
        if (d - c == 8 && here == TOGETHER)
          go_on_eight(w, value, stride, type, c, TOGETHER, o + c);
        else if (d - c == 8 && here < TOGETHER)
          go_on_eight(w, value, stride, type, c, here, o + c);
        else if (c < d) go_on_rest(d - c, w, value, stride, type, c, here, o + c);
      }
    }
}

@ Block by block, then, as in |attend_head|, and a join for each head.

@<All blocks of all heads@>=
INLINE void heads_blocks(const struct heads_unit *u, enum weight_type type,
  bool paged, struct kv_range seen)
{
  size_t d = u->h->head_dim, stride = PART_OUT + d, n = 0;
  struct position_block b;
  b.v = u->v, b.seen = seen;
  for (b.t0 = seen.lo; b.t0 < seen.hi; b.t0 = b.t1, n++) {
    b.t1 = block_end(&seen, b.t0);
    heads_scores(u, type, paged, &b);
    size_t from = b.t0 % 256, to = (b.t1 - 1) % 256 + 1;
    for (size_t i = 0; i < u->n; i++) {
      float *score = u->score + i * SCORES, *left = u->left + (i * u->most + n) * stride;
      left[PART_MAX] = greatest(score, from, to);
      left[PART_SUM] = exponentials(score, from, to, left[PART_MAX]);
      memset(left + PART_OUT, 0, d * sizeof *left);
    }
    heads_values(u, type, paged, &b, u->left + n * stride);
  }
  for (size_t i = 0; i < u->n; i++)
    join_blocks(u->left + i * u->most * stride, n, d, u->y + i * d);
}
TARGET static void attend_together(const struct heads_unit *u, struct kv_range seen)
{
  @<Take the heads with the loops for the view's type@>@;
}

@ @<Take the heads with the loops for the view's type@>=
#define WITH_ROWS(name) \
  @[if (paged) heads_blocks(u, name, true, seen); \
  else heads_blocks(u, name, false, seen)@]
bool paged = rows_together(u->v);
switch (u->v->type) {
case WEIGHT_F32: WITH_ROWS(WEIGHT_F32);@+ break;
case WEIGHT_F16: WITH_ROWS(WEIGHT_F16);@+ break;
case WEIGHT_BF16: WITH_ROWS(WEIGHT_BF16);@+ break;
case WEIGHT_Q8_0: WITH_ROWS(WEIGHT_Q8_0);@+ break;
case WEIGHT_Q4_0: WITH_ROWS(WEIGHT_Q4_0);@+ break;
OTHER_BLOCKS: break;
}
#undef WITH_ROWS

@* The division of attention. \label{sec:segments11}
Which worker attends to which rows and heads is decided here.

@(segments.inc@>=
@<One worker's share of attention@>@;

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

@ Many queries go together if the segment has them and the worker has room. Sinks, which make a hole in what a row sees, and rows whose weights are asked for, go one by one.

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

@ A segment of one row has too few queries for a tile. Its heads are divided instead, and each worker takes all of its own together (\cref{sec:heads34}).

@<One worker's share of attention@>=
TARGET static void attend_heads(const struct attend_job *job,
  const struct segment *s, unsigned worker, unsigned workers, float *room)
{
  const struct attention_dims *h = job->h;
  size_t from = (size_t) h->n_heads * worker / workers;
  size_t to = (size_t) h->n_heads * (worker + 1) / workers;
  for (uint32_t row = 0; row < s->n_rows; row++) {
    size_t at = ((s->first_row + row) * (size_t) h->n_heads + from) * h->head_dim;
    struct heads_unit u = @[{ .h = h, .v = &s->view, .n = to - from,@|
      .q = job->q + at, .y = job->y + at,@|
      .most = job->scratch_each / (PART_OUT + h->head_dim) }@];
    u.away = (void *) room, u.score = (float *) (u.away + u.n);
    u.left = u.score + u.n * SCORES;
    find_heads(&u, from);
    HEADS.attend(&u, segment_range(s, row));
  }
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
    if (room != NULL && !is_tiled(h, s->n_rows)) {
      attend_heads(job, s, worker, workers, room);
      continue;
    }
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
OTHER_BLOCKS: break;
}
#undef WITH_ROWS

@ Weights that are asked for are zero where nothing was seen, so that the code that draws them needs no second list of
what each row could see.

@<Make |kept| ready if the weights are wanted@>=
if (job->probe != NULL) {
  kept = job->probe->weights + i * job->probe->stride;
  memset(kept, 0, job->probe->stride * sizeof *kept);
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

@ Some numbers, at most sixteen: if they are fewer, the rest is computed on zeros that are never read. Multiplying by |up| comes last. With a constant |here| it needs no more than a few instructions.

@<One worker's share of an activation@>=
struct activate_job { enum activation_kind kind; const float *x, *up;
  size_t n; float *y; };
@#
INLINE void activate_some(const struct activate_job *job, size_t i, size_t here)
{
  float z[16] = @[{ 0 }@], up[16] = @[{ 0 }@];
  memcpy(z, job->x + i, here * sizeof *z);
  activation(job->kind, z);
  if (job->up != NULL) {
    memcpy(up, job->up + i, here * sizeof *up);
    each (j, 16) z[j] *= up[j];
  }
  memcpy(job->y + i, z, here * sizeof *z);
}

@ A worker takes a contiguous piece, in sixteens, of which the last may be short.

@<One worker's share of an activation@>=
TARGET static void activate_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct activate_job *job = ctx;
  size_t i = worker_begin(job->n, 16, worker, workers);
  size_t to = worker_begin(job->n, 16, worker + 1, workers);
  TALLY("activate part", worker, 1);
  for (; i + 16 <= to; i += 16) activate_some(job, i, 16);
  if (i < to) activate_some(job, i, to - i);
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

@ These kernels go number by number, or row by row, and have no order of summation to speak of but the last.

@(curves.inc@>=
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

@ All of this is included after the other kernels.

@(probes.inc@>=
@<Two roundings, and one@>@;
@<Calculate, and read nothing@>@;
@<Read, and hardly calculate@>@;

@* The files of the tables. \label{sec:files34}
These are the files that a compiler is given; \cref{sec:bodies} has the first of them, \.{avx2\_linear.c}. First the linear layers of the other heads.

@(scalar_linear.c@>=
#include "kernels/parts.h"
#include "kernels/scalar.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_scalar = @[{ linear, room,@|
  prepared_bytes, prepare }@];

@ @(avx512_linear.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_avx512 = @[{ linear, room,@|
  prepared_bytes, prepare }@];
#endif

@ NEON is compiled for aarch64 alone.
@^aarch64@>

@(neon_linear.c@>=
#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#include "kernels/linear.inc"
const struct linear_kernels floats_neon = @[{ linear, room,@|
  prepared_bytes, prepare }@];
#endif

@ Blocks of small integers are the bodies of \cref{kernels/blocks}.

@(scalar_blocks.c@>=
#include "kernels/parts.h"
#include "kernels/scalar.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_scalar = @[{ int8_linear, int8_room,@|
  int8_bytes, int8_prepare }@];

@ @(avx2_blocks.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_avx2 = @[{ int8_linear, int8_room,@|
  int8_bytes, int8_prepare }@];
#endif

@ @(avx512_blocks.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_avx512 = @[{ int8_linear, int8_room,@|
  int8_bytes, int8_prepare }@];
#endif

@ @(neon_blocks.c@>=
#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#include "kernels/blocks.inc"
const struct linear_kernels blocks_neon = @[{ int8_linear, int8_room,@|
  int8_bytes, int8_prepare }@];
#endif

@ All heads of a row together are \cref{sec:heads34}.

@(scalar_heads.c@>=
#include "kernels/parts.h"
#include "kernels/scalar.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_scalar = @[{ attend_together }@];

@ @(avx2_heads.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_avx2 = @[{ attend_together }@];
#endif

@ @(avx512_heads.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_avx512 = @[{ attend_together }@];
#endif

@ @(neon_heads.c@>=
#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#include "kernels/heads.inc"
const struct heads_kernels heads_neon = @[{ attend_together }@];
#endif

@ Attention of one head at a time, and of many rows, is \cref{sec:attention}. With AVX-512 heads that are too small for its registers go to AVX2.

@(scalar_attention.c@>=
#include "kernels/parts.h"
#include "kernels/scalar.inc"
#define HEADS heads_scalar
#include "kernels/attention.inc"
const struct attention_kernels attention_scalar = @[{ attend, attention_room }@];

@ @(avx2_attention.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#define HEADS heads_avx2
#include "kernels/attention.inc"
const struct attention_kernels attention_avx2 = @[{ attend, attention_room }@];
#endif

@ @(avx512_attention.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#define HEADS heads_avx512
#define NARROW attention_avx2
#include "kernels/attention.inc"
const struct attention_kernels attention_avx512 = @[{ attend, attention_room }@];
#endif

@ @(neon_attention.c@>=
#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#define HEADS heads_neon
#include "kernels/attention.inc"
const struct attention_kernels attention_neon = @[{ attend, attention_room }@];
#endif

@ And the tables. That of AVX-512 has the most to choose from.

@(scalar.c@>=
#include "kernels/parts.h"
#include "kernels/scalar.inc"
#define NAME "scalar"
#define TABLE kernels_scalar
#define FLOATS floats_scalar
#define BLOCKS &blocks_scalar
#define PAIRS NULL
#define ATTENTION attention_scalar
#include "kernels/table.inc"

@ @(avx2.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx2.inc"
#define NAME "avx2"
#define TABLE kernels_avx2
#define FLOATS floats_avx2
#define BLOCKS &blocks_avx2
#define PAIRS NULL
#define ATTENTION attention_avx2
#include "kernels/table.inc"
#endif

@ @(avx512.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include "kernels/avx512.inc"
#define NAME "avx512"
#define TABLE kernels_avx512
#define FLOATS floats_avx512
#define BLOCKS @[(__builtin_cpu_supports("avx512vnni")@| \
  ? &blocks_vnni : &blocks_avx512)@]
#define PAIRS @[(__builtin_cpu_supports("avx512bf16") ? &pairs_avx512 : NULL)@]
#define ATTENTION attention_avx512
#include "kernels/table.inc"
#endif

@ @(neon.c@>=
#include "kernels/parts.h"
#if defined __aarch64__
#include "kernels/neon.inc"
#define NAME "neon"
#define TABLE kernels_neon
#define FLOATS floats_neon
#define BLOCKS &blocks_neon
#define PAIRS NULL
#define ATTENTION attention_neon
#include "kernels/table.inc"
#endif

@* The list of the tables. \label{sec:listoftables}
The tables that exist in this build, the slowest first, each with the question whether this processor can
run it. On a processor of another kind there is only the plain one, which the compiler is free to make faster by itself. The list is made
anew on the stack at each call; to keep it would take a global variable, with the question of which thread writes it first. A program of a chapter that is compiled by hand says |ONLY_PLAIN|, so that nobody has to wait for tables that make the same bits: of this module it needs \.{kernels.c} and \.{prepared.c} alone.

@<The tables of this build@>=
const struct kernels *kernels_at(size_t i)
{
  const struct kernels *found[4] = @[{ &kernels_plain }@];
  size_t n = 1;
#if !defined ONLY_PLAIN
  found[n++] = &kernels_scalar;
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
#endif
  return i < n ? found[i] : NULL;
}

@ A caller that asks for a table by name and cannot have it is told which there are. A caller that names none gets the last of the list, which is the
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

@ The file that everybody calls is the shortest: it knows the tables, chooses among them, and has not one
multiplication in it.

@(kernels.c@>=
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/parts.h"
@;@#
@<The tables of this build@>@;
@<Find a table by its name@>@;
