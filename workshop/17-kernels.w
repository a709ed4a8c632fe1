@i types.w
@s vec int
@s ivec int
@s few_signed int
@s few_bytes int
@s few_halves int
@s four int
@s words int
@s shorts int
@s each while
@s each_run while
@s each_two while
@s TARGET inline
@s INLINE inline
@s ALONE inline
@s HELPER inline
@s __m128 int
@s __m128i int
@s __m256i int
@s __m512 int
@s __m512i int
@s uint16x4_t int

\chapterquestion{A register has sixteen places. What if the row, the matrix or the number has another size?}
@** Inside the kernels: registers, panels, bytes.

\incipit{C}{hapter 11} shows the two large kernels where everything fits: one kind of register, rows of whole registers, weights that lie side by side, numbers that are floats. Real models are not so kind. A head has eight numbers and a register sixteen lanes. GPT-2 stores its matrices the other way round. A weight has four bits, and no processor multiplies numbers of four bits. Here we take these troubles one by one. The obvious answer is slow each time, or changes some bit of a result, and so we look for another.
@^kernel@>@^head, of kernels@>

You need \cref{kernels} for this, and for the bytes what \cref{model/quantization} says of blocks. What only surrounds these loops is ordinary C in the folder \.{unwoven/kernels}; \cref{sec:parts34} says which file has what.

@ The trouble with small numbers first, since a pencil is enough for it. One instruction of AVX2 multiplies \given{32} weights of eight bits with as many inputs, and adds each product to that of its neighbour. The sums have sixteen bits, and the instruction says nothing when one does not fit, an \emph{overflow}.

\begin{byhand}{four bytes, and sums short of 32767}
The weights have no sign, the inputs have one:

\medskip
\begin{tabular}{@@{}l@@{\quad}r@@{\quad}r@@{\quad}r@@{\quad}r@@{}}
weight & $255$ & $255$ & $3$ & $90$\\
input & $127$ & $127$ & $-100$ & $7$\\
product & $32385$ & $32385$ & $-300$ & $630$\\
sum of two & & $64770$ & & $330$
\end{tabular}
\medskip

A number of 16 bits ends at 32767, so in place of 64770 the processor gives us 32767. Weights without a sign may not be that large. If a sign goes with the input, a weight of eight bits is at most 128, and fewer bits leave more room. A product is at most the weight times 127; a sum is of two products; and so many sums can be added up:

\medskip
\begin{tabular}{@@{}r@@{\quad}r@@{\quad}r@@{\quad}r@@{\quad}r@@{\quad}r@@{}}
bits & weight & times 127 & of two & sums & make\\
$8$ & $128$ & $16256$ & $32512$ & $1$ & $32512$\\
$6$ & $63$ & $8001$ & $16002$ & $2$ & $32004$\\
$5$ & $31$ & $3937$ & $7874$ & $4$ & $31496$\\
$4$ & $15$ & $1905$ & $3810$ & $8$ & $30480$
\end{tabular}
\medskip

One more of them would be too large in every line; in the last it makes $9\cdot3810=34290$.
\end{byhand}

With four bits we may add eight results of the instruction before anything has to be widened; with eight bits not even two. \Cref{sec:bytes34} makes kernels of that.
@^overflow@>

@* Three more heads. \label{sec:heads11}
Everything that a processor brings along is in its \emph{head}: how wide a register is, how to multiply and add, how to widen a small number, how to fold. Chapter 11 prints the head for AVX2 (\cref{sec:bodies}); if you want the kernels on another machine, this is what you write. The first of the others is for plain C, without any instruction of its own.

@(scalar.inc@>=
/** A head of plain C: four lanes, and no instruction of any machine. It is slow, and is there for
  machines that have nothing better, and to be compared with. What other heads inline is called here, or
  the compiler would take longer for it than for all others together. */
#define TARGET
#define WIDTH 4
#define TILE_ROWS 6
#define FUSED_IS_CALLED
#define HELPER @[static ALONE@]@;
#include "kernels/lanes.inc"
@<Multiply--add and the rest, in plain C@>@;

@ What would be one instruction elsewhere is a loop over four lanes. The bodies have very many multiply--adds once their loops are written out; with four calls of |fmaf| in place of each, this table took longer to compile than all others together. So here |fused| itself is a function that is called, and so are its companions. It costs nothing: each call of |fmaf| drives all registers of the loop into memory anyway, and a call of |fused| does that once instead of four times.

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

@ Three functions more, for the ends of rows and of sums: |blend| takes the first |n| lanes from |a| and the others from |b|; |load_first| loads |n| floats and fills the other lanes with zeros; |fold_all| folds as many sums as there are lanes. The last is a tree: halves of two sums become one register, then neighbours of those two another, so each step keeps all lanes busy where a fold of one sum would use half, then a quarter of them. gcc and clang each have their own way to mix the lanes of two registers, which |MIX| hides.

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

@ With AVX-512 sixteen lanes are one register, and there are 32 of those. A tile of twelve rows has 24 sums, and needs two more registers for weights and one for an input.
@^AVX-512@>

@(avx512.inc@>=
/** The head for AVX-512: all sixteen lanes of the definition are one register. */
#include <immintrin.h>
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,"@| \
  "avx512vl,avx2,fma,f16c")))
#define WIDTH 16
#define TILE_ROWS 12
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for AVX-512@>@;

@ The names are longer than those for AVX2, and each of these functions is again an instruction or two.

@<Multiply--add and the rest, for AVX-512@>=
INLINE vec fused(vec a, vec b, vec c)
{@+ return _mm512_fmadd_ps(a, b, c);@+ }
@<Spread, widen, choose and fold, for AVX-512@>@;

@ The rest has no multiply--add, and is a section of its own because the pairs of \cref{sec:pairs11} bring another one.

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

@ A mask is a number here, with a bit for each lane, and a fold begins one step earlier, with the upper half of a register. The tree is the one of plain C with two more levels: the first two steps add halves and quarters of registers, the last two neighbours.

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

@ Every processor of the ARM family with 64 bits has the instructions called NEON, so nothing has to be asked and the attribute is empty. There are 32 registers of four lanes, which leaves room for the tall tile.
@^NEON@>

We wrote this head without such a machine. A cross compiler makes the tests for one, and an emulator runs them; they ask for the same bits as everywhere (\.{make cross}). How fast it is, an emulator cannot say.
@^emulator@>@^cross compiler@>

@(neon.inc@>=
/** The head for NEON, which every processor of the ARM family with 64 bits has. It is tested in an
  emulator (make cross), and was never timed. */
#include <arm_neon.h>
#define TARGET
#define WIDTH 4
#define TILE_ROWS 12
#define HELPER INLINE
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for NEON@>@;

@ Only |fused|, |spread| and |widen| are NEON's own. The rest is as in plain C, since a |vec| of four floats is a register here and a compiler finds the instructions.

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

@* Where a row ends. \label{sec:loading}
A row of \given{21} numbers fills one register of sixteen lanes, and five lanes of a second. What do we put into the other eleven? Not what follows in memory: after the last row of a mapped file there may be no memory, and reading it would end the program. Zeros, then? The load is safe, but the sum is not the same. A lane that has $-0$ would get $0\cdot0$ added and become $+0$, which is another pattern of bits; the definition gives that lane nothing. So two things are needed: a load that stops, and an addition that leaves some lanes as they are. This file has both.

@(load.inc@>=
/** Loading registers of any type, whole and in part. The type is a constant wherever this is inlined,
  so that asking for it costs nothing; a switch over types has no default, so that the compiler stops
  when a type has no case. Nothing is read beyond the numbers that are asked for. */
@<Load numbers of any type@>@;
#include "kernels/by_type.inc"
@<Load a register that is not full@>@;
@<Give the last terms to the first lanes@>@;

@ Floats are loaded under a mask; numbers of two bytes go through a buffer. A register that is full after all needs neither.

@<Load a register that is not full@>=
INLINE vec load_partial(struct tensor t, size_t i, int n)
{
  /*- most registers are full, and a plain load needs no mask and no buffer */
  if (n == WIDTH) return load(t, i);
  if (t.type == WEIGHT_F32) return load_first((const char *) t.data + i * 4, n);
  char buffer[4 * WIDTH] = @[{ 0 }@];
  memcpy(buffer, (const char *) t.data + weight_row_bytes(t.type, i),
    weight_row_bytes(t.type, (size_t) n));
  return load((struct tensor) @[{ buffer, t.type }@], 0);
}

@ The multiply--add is done for all lanes, and |blend| keeps the old sum where there was no term.

@<Give the last terms to the first lanes@>=
INLINE void add_rest(const float *x, struct tensor w, size_t i, size_t rest, vec *a)
{
  /*- a lane without a term keeps its bits: -0 + 0 would be +0 */
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

@ A whole register is loaded by a |memcpy| whose size the compiler knows: it becomes one load, which does not mind where it begins. Numbers of two bytes are widened by the head. Where attention reads them, keys and values may also be in blocks.

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

@ Widening a block is exact: a scale of 11 significant bits times a number of 8 at most has 19, and a float holds 24. So attention gets floats like any other, and its sums know nothing of blocks. A register never reaches into the next block, because 32 is a multiple of every width. The bytes are taken apart in whole registers; only the step from small whole numbers to floats needs an instruction of the head.

@<Load a register out of a block@>=
INLINE vec load_block(struct tensor t, size_t i)
{
  size_t first = i % WEIGHT_BLOCK;
  const unsigned char *p = (const unsigned char *) t.data
    + weight_row_bytes(t.type, i - first);
  uint16_t one, scale[WIDTH];
  few_bytes b;
  memcpy(&one, p, sizeof one);
  /*- as many copies of the scale as lanes, since a head widens registers */
  few_halves all = one + (few_halves) @[{ 0 }@];
  memcpy(scale, &all, sizeof all);
  bool whole = number_types[t.type].bits == 8;
  memcpy(&b, p + 2 + (whole ? first : first % 16), sizeof b);
  if (!whole) b = (first < 16 ? b & 15 : b >> 4) - 8;
  int8_t small[WIDTH];
  memcpy(small, &b, sizeof b);
  return i8_to_f32(small) * widen(scale, WEIGHT_F16);
}

@* Weights stored by inputs. \label{sec:byinputs}
We have assumed that the weights of one output are neighbours. GPT-2's matrices lie the other way round: there the weights of one \emph{input} are. A register with sixteen lanes over $k$ would have to collect its weights from sixteen places. What can we do without touching a bit?

The definition says in which order the terms of a lane are added, and not where a lane is kept. So let a register run over the outputs, and keep lane $j$ of a whole span of outputs as row $j$ of an array. Then the weights are read as they lie, and each lane gets the same terms in the same order as before. Only which numbers share a register has changed.

@(inputs.inc@>=
/** Few rows by a matrix stored by inputs. Registers run over outputs; lane j of the definition is row j
  of an array, for a span of outputs. Each lane gets its terms in the order of k. */
#include "kernels/columns.inc"
@<Outputs |from| to |to| of a matrix stored by inputs@>@;

@ If we loaded and stored a sum for each multiply--add, the multipliers would be idle half of the time. Terms $k$, $k+16$ and so on belong to the same lane, so |UNROLL| of them are added in one visit.

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

@ One row by a span of outputs: the lanes begin with zero, the terms come in blocks, and those that fill no block one by one, in the order of $k$. In the end whole rows of the array are folded. The array is on the stack, and its size is what limits a span: that of |SPAN| outputs takes 16 KiB, half of the smallest first-level cache that is common.

@<A span of outputs for one row@>=
INLINE void outputs_of_row(const float *x, const struct matrix *w, struct tensor t,
  size_t o, size_t span, float *y)
{
  float sum[16 * SPAN];
  size_t k = 0, block = 16 * UNROLL;
  memset(sum, 0, 16 * span * sizeof *sum);
  /*- in blocks or one by one, the terms of a lane come in the order of k */
  for (; k + block <= w->in; k += block)
    for (size_t j = 0; j < 16; j++) add_terms(UNROLL, x, w, t, k + j, o, span, sum);
  for (; k < w->in; k++) add_terms(1, x, w, t, k, o, span, sum);
  fold_lanes(sum, span);
  for (size_t c = 0; c < span; c++) y[o + c] = add_bias(sum[c], w, o + c);
}

@ To fold, lane $j+s$ is added to lane $j$, for all sums of the array at once. The second loop runs over both indices as one, because the lanes lie one after the other.

@<Fold the lanes of many sums@>=
INLINE void fold_lanes(float *lane, size_t sums)
{
  /*- lane j + s of all sums follows lane j of all sums, so both indices run as one */
  for (size_t s = 8; s > 0; s /= 2)
    for (size_t c = 0; c < s * sums; c += WIDTH) {
      vec a, b;
      memcpy(&a, lane + c, sizeof a);
      memcpy(&b, lane + s * sums + c, sizeof b);
      a += b;
      memcpy(lane + c, &a, sizeof a);
    }
}

@ A long span reads the weights in long runs. At the edge of the matrix fewer outputs are left than a register holds, and |columns| takes them, one input at a time (\.{unwoven/kernels/columns.inc}).

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

@* Packing: how a panel lies in memory. \label{sec:packing}
A tile (\cref{sec:linear}) wants something else again. At each step it loads, for one input, the weights of |NR| outputs side by side. In the file the next output's weight is a whole row away, so these |NR| numbers are in as many lines of the cache, and often in as many pages. Before many rows are multiplied we therefore copy the weights into panels (\cref{fig:panel}). Two orders are mixed in a panel: the inputs come lane by lane, since a tile finishes one lane before it begins another, and the lanes come in the order in which the fold wants them, which is that of their numbers with the bits reversed.
@^panel@>@^packing, of weights@>

\fig{panel}{fig:panel}{A matrix of four outputs and eight inputs, as it lies in the file (above, row after row) and as a panel (below, from left to right). For the picture the definition has four lanes; inputs 0 and 4 belong to lane 0, inputs 2 and 6 to lane 2, which is the next in reversed order. A step of a tile reads one input of all outputs.}{Above, a grid of four rows, the outputs, and eight columns, the inputs 0 to 7, shaded by lane: columns 0 and 4 darkest, 2 and 6 next, then 1 and 5, then 3 and 7. Below, one strip of 32 cells in groups of four: inputs 0, 4, 2, 6, 1, 5, 3, 7, each with outputs 0 to 3. Arrows lead from columns 0 and 4 of the grid to the first two groups.}

@ For the rows of a pass a panel is made by a plain loop: each number that is copied here serves as many multiply--adds as there are outputs.

@(packing.inc@>=
/** Panels: rows or weights in the order in which a tile reads them. A step is one input of all rows or
  outputs of the panel, at the place that |panel_place| says; those that are missing are 0. Attention
  packs its queries and keys with the same functions. */
@<Pack rows into a panel@>@;
@<Pack outputs into a panel@>@;

@ A full tile has a count that the compiler knows, and its loop is written out. Where there are fewer rows, zeros take the places of the others.

@<Pack rows into a panel@>=
INLINE void pack_rows(const float *const *row, size_t rows, size_t n, float *to)
{
  size_t wide = (size_t) tile_rows(rows);
  for (size_t k = 0; k < n; k++) {
    float *step = to + panel_place(n, k) * wide;
    if (rows == TILE_ROWS) each (r, TILE_ROWS) step[r] = row[r][k];
    else for (size_t r = 0; r < wide; r++) step[r] = r < rows ? row[r][k] : 0;
  }
}

@ Weights are packed in every call, if they are used as they lie in the file, and then a weight that is copied serves only as many multiply--adds as there are rows. Here the copy counts. We widen sixteen inputs of each output into a small block, which is still in rows, and then turn the block on its side, four times four numbers at a time. Such a \emph{transposition} takes eight shuffles for sixteen numbers; one by one they would be sixteen loads and sixteen stores.
@^transposition@>

@<Pack outputs into a panel@>=
INLINE void turn_square(const float *from, size_t apart, size_t c,
  float *const *to)
{
  four a[4], b[4];
  /*- first neighbours change places, then halves */
  each (i, 4) memcpy(&a[i], from + (size_t) i * apart, sizeof a[i]);
  b[0] = MIX(a[0], a[1], 0, 4, 1, 5), b[1] = MIX(a[0], a[1], 2, 6, 3, 7);
  b[2] = MIX(a[2], a[3], 0, 4, 1, 5), b[3] = MIX(a[2], a[3], 2, 6, 3, 7);
  each (i, 2) {
    a[2 * i] = MIX(b[i], b[i + 2], 0, 1, 4, 5);
    a[2 * i + 1] = MIX(b[i], b[i + 2], 2, 3, 6, 7);
  }
  each (i, 4) memcpy(to[i] + c, &a[i], sizeof a[i]);
}

@ The rows' addresses are given, and need not be neighbours, because the keys of attention are packed in the same way and may be in different pages.

@<Pack outputs into a panel@>=
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

@ The inputs of an output are widened register by register, and what will be packed next of it is asked for.

@<Widen the inputs from |k| on of output |c| into the |block|@>=
{
  struct tensor t = @[{ row[c], type }@];
  prefetch(t, k + PACK_AHEAD);
  each (p, PARTS) {
    size_t i = (size_t) p * WIDTH;
    vec v = @[{ 0 }@];
    if (here >= i + WIDTH) v = load(t, k + i);
    else if (here > i) v = load_partial(t, k + i, (int) (here - i));
    memcpy(&block[c][i], &v, sizeof v);
  }
}

@ A matrix stored by inputs has the steps of its panels ready made, and they are only put in order. The next piece is a whole row of the file away, which no processor guesses; so it is told, |INPUTS_AHEAD| inputs early. (To ask for an address that does not exist is allowed; nothing comes.)
@^prefetch@>

@<Pack a strip of a matrix@>=
INLINE void pack_inputs(const struct matrix *w, struct tensor t, size_t o,
  size_t outs, float *panel)
{
  for (size_t k = 0; k < w->in; k++) {
    float *to = panel + panel_place(w->in, k) * NR;
    prefetch(t, (k + INPUTS_AHEAD) * w->out + o);
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
  DO_WITH_TYPE(w->weight.type)@;
#undef WITH_TYPE
}

@* Prepared weights. \label{sec:prepared11}
The panels of a matrix are the same in every call. Why not pack them once? Because it takes memory and time: a program that reads one prompt is done before the copies have paid. So the user chooses. As a rule the weights are \emph{mapped}: they stay as they lie in the file, the model starts at once, and programs that use the same file share its memory. With \.{--packed} (|packed| of the library) the matrices are \emph{prepared} when the model is opened, and the engine gets the copies. All results have the same bits.
@^packed weights@>@^mapped weights@>

A copy keeps the type of the weights, and a tile widens what it loads: a pass with one row waits for bytes, and a float has twice those of a bfloat16. \.{unwoven/kernels/prepared.c} makes the copies, and as soon as a matrix has its copy, gives the pages of the file back to the operating system.

@(strips.inc@>=
/** A matrix in panels: packed for a call, or prepared once, in the type of the weights. All panels of a
  matrix follow each other. */
@<Pack a strip of a matrix@>@;
@<Prepare the panels of a matrix@>@;
@<One row by a matrix that was prepared@>@;

@ Preparing is done once, and its loop is as plain as can be: |panel_place| says where a weight goes.

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
      /*- copied and not widened: a pass with one row waits for bytes */
      size_t i = w->transposed ? k * w->out + o : o * w->in + k;
      memcpy((char *) to + o / NR * panel_bytes(w) + at * size, from + i * size, size);
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

@* Many rows without a panel. \label{sec:unpacked34}
Packing costs a copy of both sides. Where a register holds all sixteen lanes there is a tile that needs none: |LYING_ROWS| rows by four outputs, with lanes over $k$ as in the definition. It reads rows and weights where they lie. A step loads ten registers for \given{24} multiply--adds, about as many for each as the tile of panels. What it pays is a fold for each sum at the end.

When does it win? The rows of a tile must stay in the first-level cache while they meet all outputs of a block, so they may not be long. And they may not be \given{4096} bytes apart, or a multiple of that: a cache chooses the place of a line from its address within a page, so ten such rows would compete for the same few places (\emph{associativity}).
@^packing, of weights@>@^associativity@>

@(unpacked.inc@>=
/** Many rows of floats by a matrix as it lies, where a register has all sixteen lanes. |by_lying| says
  whether it has multiplied them; if not, panels do. */
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
  /*- an output beyond the last is the last once more, and is not stored */
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

@ The weights of |LYING_OUTS| outputs stay in the second-level cache while all rows pass over them, six at a time. To ask for the next ones meanwhile, as is done for panels, gained nothing: the first tile of rows reads them from end to end, and the processor sees that.

@<Many rows by outputs as they lie@>=
TARGET static bool by_lying(const struct linear_job *job, const struct matrix *w,
  size_t r0, size_t r1, size_t from, size_t to, float *y)
{
  size_t n = w->in, rows, outs;
  /*- rows a multiple of 4096 bytes apart compete for the same places of the first-level cache */
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

@ A tile of fewer rows than six is a copy of the loop with another constant.

@<Some rows by all outputs of the block@>=
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

@* A few rows together. \label{sec:fewrows}
Chapter 11 takes one row after the other past a strip of weights, which comes from memory once. Is that not enough? It was for a long time. But a second row loads the strip again from the cache, widens it again and folds it by itself, and all that takes longer than memory takes to bring the next strip. When some tokens are guessed and checked in one pass, there are two to eight rows, and they should cost little more than one.
@^few rows@>

So a weight that has been loaded and widened meets all rows before the next one is loaded. The tile is that of the section before: some rows by a few outputs, lanes over $k$. Only three things are added. It takes any type of weights; it asks for memory, which here comes only once; and it goes through long rows in pieces, so that the inputs stay in the first-level cache. Each sum still gets its terms in rising $k$, lane by lane.

@(few.inc@>=
/** Two to eight rows of floats by a matrix as it lies: a weight that was loaded and widened meets all rows. |by_few| says whether it has
  multiplied them. A sum has the order of the definition, as if its row were alone. */
#if defined FUSED_IS_CALLED
#define by_few(...) false
#else
enum { FEW_ROWS = 8, FEW_OUTS = WIDTH < 8 ? WIDTH : 8 };
@<One step of a few rows@>@;
@<The last step of a few rows@>@;
@<A few rows by a few outputs@>@;
#include "kernels/few_outputs.inc"
#endif

@ The inputs are copied first: sixteen of each row, then the next sixteen. So a tile reads them from end to end, and rows that are a multiple of \given{4096} bytes apart do not compete for the same places of the cache. The copy is small beside the matrix.

@<One step of a few rows@>=
INLINE void few_step(int rows, int side, const float *x,@|
  const char *const *row, enum weight_type type, size_t k,@|
  vec a[FEW_ROWS][4][PARTS])
{
  each (p, PARTS) {
    vec v[FEW_ROWS];
    each (r, rows) memcpy(&v[r], x + r * 16 + p * WIDTH, sizeof v[r]);
    each (c, side) {
      vec b = load((struct tensor) @[{ row[c], type }@], k + (size_t) p * WIDTH);
      each (r, rows) a[r][c][p] = fused(v[r], b, a[r][c][p]);
    }
  }
}

@ Where a row ends before its last step does, the weights go through a buffer, and lanes without a term keep their bits (\cref{sec:loading}).

@<The last step of a few rows@>=
INLINE void few_rest(int rows, int side, const float *x, const char *const *row,@|
  enum weight_type type, size_t k, size_t rest,@| vec a[FEW_ROWS][4][PARTS])
{
  char edge[4][16 * sizeof (float)] = @[{ { 0 } }@];
  each (c, side) memcpy(edge[c],
    row[c] + weight_row_bytes(type, k), weight_row_bytes(type, rest));
  each (p, PARTS) {
    int here = (int) rest - p * WIDTH < WIDTH ? (int) rest - p * WIDTH : WIDTH;
    if (here > 0) each (c, side) {
      vec v, b = load((struct tensor) @[{ edge[c], type }@], (size_t) p * WIDTH);
      each (r, rows) {
        memcpy(&v, x + r * 16 + p * WIDTH, sizeof v);
        a[r][c][p] = blend(here, fused(v, b, a[r][c][p]), a[r][c][p]);
      }
    }
  }
}

@ A tile takes the inputs from |k| up to |end|, and takes up the sums again that the piece before has left. With each step it asks for as many bytes as the step has used, in the order in which memory lies and not in that of their use, as the strips of blocks do (\cref{sec:storedrow}).

@<A few rows by a few outputs@>=
INLINE uintptr_t few_tile(int rows, int side, const float *x, size_t k,@|
  size_t end, const char *const *row, enum weight_type type,@|
  uintptr_t next, vec *sum)
{
  vec a[FEW_ROWS][4][PARTS];
  size_t whole = end / 16 * 16;
  size_t bytes = (size_t) side * weight_row_bytes(type, 16);
  each (r, rows) each (c, side) each (p, PARTS)
    a[r][c][p] = k == 0 ? spread(0) : sum[(r * FEW_OUTS + c) * PARTS + p];
  for (; k < whole; k += 16, x += rows * 16, next += bytes) {
    for (size_t z = 0; z < bytes; z += 64)
      __builtin_prefetch((const void *) (next + z), 0, HINT);
    few_step(rows, side, x, row, type, k, a);
  }
  if (whole < end) few_rest(rows, side, x, row, type, whole, end - whole, a);
  each (r, rows) each (c, side) each (p, PARTS)
    sum[(r * FEW_OUTS + c) * PARTS + p] = a[r][c][p];
  return next;
}

@ \Cref{tab:few}\lab{lab:few} has what it brings, on a Zen~4. Four rows of floats cost \val[2]{simd.few.pass.f32.mapped.4.1} times as much as one, where they cost \val[2]{simd.few.before.f32.mapped.4.1} times as much when the rows took turns.
Why is it not the same for all types? One core multiplies and adds $\val[0]{simd.few.probe.madds.1}\cdot10^9$ times a second here, and reads $\val[0]{simd.few.probe.bytes.1}\cdot10^9$ bytes. Four rows make one multiply--add for each byte of floats, but two for each byte of weights in bfloat16, and that is about as many as the multipliers can do meanwhile. So here a row more is paid for, whatever the kernel does.
Blocks of bytes have their multiply--adds of whole numbers for little, four in a lane. Before, each row of blocks as they lie folded four sums for each output; now their words are turned once for all rows (\cref{sec:turnedrow}). What is left are the products and the scales in float, once for \given{32} weights. Q4\_K, with its minima, has twice as many scales, and its weights come from memory almost twice as fast: a single row keeps the processor busy already, so there a row more is paid for. Packed blocks need no fold. Their rows now have one tile up to six rows; three rows had been two and one, each of which took the weights apart for itself.

\begin{table}[tbp]
\tabcaption{tab:few}{A pass of some rows as a multiple of a pass of one row, one thread, weights of the shape of TinyLlama, six of its layers, more than the caches hold. \emph{Before}: the rows one after the other, in the same strips, blocks with a fold for each; three packed rows as three single ones, or as two tiles.}
\footnotesize\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrrrrr@@{}}
& \multicolumn{4}{c}{\tabhead{mapped}} & \multicolumn{4}{c}{\tabhead{packed}}\\
\tabhead{rows} & \tabhead{4, before} & \tabhead{2} & \tabhead{4} & \tabhead{8} & \tabhead{3, before} & \tabhead{3} & \tabhead{4} & \tabhead{8}\\\midrule
float32 & \val[2]{simd.few.before.f32.mapped.4.1} & \val[2]{simd.few.pass.f32.mapped.2.1} & \val[2]{simd.few.pass.f32.mapped.4.1} & \val[2]{simd.few.pass.f32.mapped.8.1} & \val[2]{simd.few.before.f32.packed.3.1} & \val[2]{simd.few.pass.f32.packed.3.1} & \val[2]{simd.few.pass.f32.packed.4.1} & \val[2]{simd.few.pass.f32.packed.8.1}\\
bfloat16 & \val[2]{simd.few.before.bf16.mapped.4.1} & \val[2]{simd.few.pass.bf16.mapped.2.1} & \val[2]{simd.few.pass.bf16.mapped.4.1} & \val[2]{simd.few.pass.bf16.mapped.8.1} & \val[2]{simd.few.before.bf16.packed.3.1} & \val[2]{simd.few.pass.bf16.packed.3.1} & \val[2]{simd.few.pass.bf16.packed.4.1} & \val[2]{simd.few.pass.bf16.packed.8.1}\\
Q8\_0 & \val[2]{simd.few.before.q8_0.mapped.4.1} & \val[2]{simd.few.pass.q8_0.mapped.2.1} & \val[2]{simd.few.pass.q8_0.mapped.4.1} & \val[2]{simd.few.pass.q8_0.mapped.8.1} & \val[2]{simd.few.before.q8_0.packed.3.1} & \val[2]{simd.few.pass.q8_0.packed.3.1} & \val[2]{simd.few.pass.q8_0.packed.4.1} & \val[2]{simd.few.pass.q8_0.packed.8.1}\\
Q4\_K & \val[2]{simd.few.before.q4_k.mapped.4.1} & \val[2]{simd.few.pass.q4_k.mapped.2.1} & \val[2]{simd.few.pass.q4_k.mapped.4.1} & \val[2]{simd.few.pass.q4_k.mapped.8.1} & \val[2]{simd.few.before.q4_k.packed.3.1} & \val[2]{simd.few.pass.q4_k.packed.3.1} & \val[2]{simd.few.pass.q4_k.packed.4.1} & \val[2]{simd.few.pass.q4_k.packed.8.1}
\end{tabular*}
\end{table}

@* All heads of a row together. \label{sec:heads34}
Decoding attends with one row, which has one query for each head. Head by head, we would read \given{256} bytes here and \given{256} there, because the keys of the other heads lie between them, and walk through the whole cache once per head. Instead all heads look at a few positions, then at the next few: we read whole rows, in order, and only the small arrays of scores and sums are gone through again and again. Each sum gets its terms in the same order as before.
@^attention@>

In the pages of \cref{cache} it is the other way round: there the rows of one head are together. So a head takes all rows of a page in its turn, and again we read one piece of memory from end to end.

@(heads.inc@>=
/** Attention of one row, all heads together: they take turns after a few positions, so that the cache
  is read once and in order. Each sum has the order of the definition, as if its head were alone. */
#include "kernels/products.inc"
#include "kernels/join.inc"
  /*- where head i has its part of a row */
INLINE const char *head_row(const struct heads_unit *u, uintptr_t row, size_t i)
{ return (const char *) (row + u->away[i]); }
@<The scores of all heads@>@;
@<The values of a head, some columns@>@;
#include "kernels/heads_values.inc"
@<All blocks of all heads@>@;

@ What the steps of a block hand on to each other is one structure: which positions the block has, and for each of them a number, which is first its score and then the exponential of that. Position $t$ has the index |t % 256|; there are more places than positions, so that whole registers may be stored.

@(positions.inc@>=
/** The positions that a row sees, block by block, and where their keys and values lie in memory. A run is
  a stretch of positions whose rows lie at equal distances; a block is cut into runs where a page ends, or
  where a hole begins. seen.inc has the walk from block to block. */
#include "kernels/seen.inc"
struct position_block {
  const struct kv_view *v;
  struct kv_range seen;
  uint32_t t0, t1; /* from |t0| up to |t1| */
  float weight[256 + WIDTH]; /* its score, and then the exponential of that */
};
@<Where the rows of a block lie@>@;

@ The keys and values of a position are where the view says: one after the other, or in the page that a table names. We cut the walk over a block where a page ends, or where the positions have a hole, and call what lies between two cuts a \emph{run}. A page is looked up once a run. Once for each position of each head would be a division each time, and that takes as long as the product that it is for.

@<Where the rows of a block lie@>=
struct kv_run { uint32_t t0, t1; uintptr_t at; };
  /* positions |t0 <= t < t1| and where the rows of |t0| are, but for |key| or |value| */
INLINE struct kv_run run_from(const struct kv_view *v,
  const struct kv_range *seen, uint32_t t, uint32_t end)
{
  struct kv_run r = @[{ t, end, t * v->row_bytes }@];
  /*- the hole after the sinks ends a run, and so does the page */
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
#define @,each_run(r, b) @[for (struct kv_run r = next_run(b, NULL); \
  r.t0 < r.t1; r = next_run(b, &r))@]@;

@ Scores first. What is wanted next is fetched ahead, a \emph{prefetch}: where a head's rows are together, what lies |PAGED_AHEAD| bytes later, be it of the same head or of the next, and elsewhere the row that comes |TOGETHER| positions later.
@^prefetch@>

@<The scores of all heads@>=
static bool rows_together(const struct kv_view *v)
{@+ return v->head_bytes > v->row_bytes && v->row_bytes >= 64;@+ }
INLINE size_t bytes_ahead(const struct kv_view *v, bool paged)
{@+ return paged ? PAGED_AHEAD : TOGETHER * v->row_bytes;@+ }

@ A turn goes through as many keys at once as there are lanes. Maximum and sum are taken over whole sixteens later, so what is left of the first and of the last gets scores that count for nothing.

@<The scores of all heads@>=
INLINE void heads_scores(const struct heads_unit *u, enum weight_type type,
  bool paged, const struct position_block *b)
{
  size_t stride = u->v->row_bytes, d = u->h->head_dim;
  /*- what is left of the first and the last sixteen is read with them, and must count for nothing */
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

@ As many keys of one head as there are lanes are multiplied with its query, by the function that multiplies one row with as many outputs.

@<The scores of one head for a register of keys@>=
size_t here = r.t1 - t < WIDTH ? r.t1 - t : WIDTH, ahead = bytes_ahead(u->v, paged);
const char *key = head_row(u, row, i);
for (size_t z = 0; paged && z < WIDTH * stride; z += 64)
  __builtin_prefetch((const void *) ((uintptr_t) key + ahead + z), 0, HINT);
vec s = dots("attention", u->q + i * d, key, stride, here, type, d, ahead);
s = blend((int) here, s * spread(u->h->scale), none);
memcpy(u->score + i * SCORES + t % 256, &s, sizeof s);
TALLY("pairs", 0, here);

@ Then the values. Each column of a head has one chain, with one addition a position, and each addition must wait for the one before it. A head of \given{64} numbers has chains enough to keep the multiply--add units at work; a turn loads them, adds a few positions, and stores them. For fewer columns there are |go_on_eight| and |go_on_rest| in \.{unwoven/kernels/heads\_values.inc}, and |heads_values|, which calls all three.

@<The values of a head, some columns@>=
INLINE void go_on(int columns, const float *w, const char *place, size_t stride,
  size_t ahead, enum weight_type type, size_t first, uint32_t n, float *o)
{
  vec a[64 / WIDTH];
  ahead += weight_row_bytes(type, first);
  /*- each chain goes on where the turn before left it */
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
      cap_scores(score, from, to, u->h->cap);
      left[PART_MAX] = greatest(score, from, to);
      left[PART_SUM] = exponentials(score, from, to, left[PART_MAX]);
      memset(left + PART_OUT, 0, d * sizeof *left);
    }
    heads_values(u, type, paged, &b, u->left + n * stride);
  }
  for (size_t i = 0; i < u->n; i++)
    join_blocks(u->left + i * u->most * stride, n, d, head_sink(u->h, u->first + i),
      u->y + i * d);
}
TARGET static void attend_together(const struct heads_unit *u, struct kv_range seen)
{
  @<Take the heads with the loops for the view's type@>@;
}

@ The type of the cache and the layout of its rows are asked once, outside of the loops, and each answer gets loops of its own. In plain C the layout is asked in the loops: there it costs little beside a call of |fmaf|, and the copies would take the compiler twice as long.

@<Take the heads with the loops for the view's type@>=
#if defined FUSED_IS_CALLED
#define WITH_ROWS(name) @[heads_blocks(u, name, paged, seen)@]
#else
#define WITH_ROWS(name) \
  @[if (paged) heads_blocks(u, name, true, seen); \
  else heads_blocks(u, name, false, seen)@]
#endif
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

@* Bytes: four products in a lane. \label{sec:bytes34}
Chapter 10 defines the product of a matrix in blocks with inputs of eight bits, number by number. How many of these numbers can be multiplied at once? One instruction of AVX-512 takes \given{64} weights and as many inputs and adds the products in fours. Whole numbers are added exactly in any order, so that inside of a block we may do as we like; only the multiply--adds in float, one or two a block, keep the order of the definition. Each output has a chain of its own, and a lane of a register follows it.
@^block, of weights@>

@(bytes.inc@>=
/** Products of bytes: registers of whole numbers, inputs rounded to bytes, blocks with one output to a
  lane, and the tile that multiplies them. Sums of whole numbers never overflow: sixteen bits are counted
  (|short_sums|), and thirty-two hold a block of any type. Rounding is only where the definition rounds. */
@<Registers of whole numbers@>@;
@<Four products in each lane@>@;
@<Round the inputs of a row@>@;
@<Take apart a block that lies across lanes@>@;
@<Multiply a few rows by a strip@>@;
@<Turn rows of words@>@;

@ An |ivec| has as many whole numbers as a |vec| has floats. Where bits of a float are wanted, they are copied.

@<Registers of whole numbers@>=
typedef int32_t ivec @[__attribute__((vector_size(4 * WIDTH)))@];
typedef int8_t few_signed @[__attribute__((vector_size(WIDTH)))@];
INLINE ivec ints(int32_t i)
{@+ return i + (ivec) @[{ 0 }@];@+ }
INLINE ivec as_ints(vec v)
{@+ ivec u;@+ memcpy(&u, &v, sizeof u);@+ return u;@+ }
INLINE vec as_floats(ivec u)
{@+ vec v;@+ memcpy(&v, &u, sizeof v);@+ return v;@+ }
INLINE vec to_floats(ivec v)
{@+ return __builtin_convertvector(v, vec);@+ }
INLINE ivec ints_at(const int32_t *w, size_t i)
{@+ ivec v;@+ memcpy(&v, w + i * WIDTH, sizeof v);@+ return v;@+ }
INLINE ivec pick(ivec if_true, ivec mask, ivec otherwise)
{@+ return (if_true & mask) | (otherwise & ~mask);@+ }

@ Everything rests on |dot4|: each lane has four weights and four inputs, a byte each, and the four products are added to an |int32_t|. The instruction of AVX512-VNNI does just that, but takes the weights without sign. In most types the numbers have no sign before an offset is subtracted. Those of Q8\_0 have one, and are stored with \given{128} added. The offset is taken back at the beginning of a sum.
@^VNNI@>

Other processors add in two steps, so three functions share the work: |dot4| adds to what |sums_begin| has made of a first term, and |sums_end| makes whole numbers of it. With VNNI the last two have nothing to do. (VNNI came later than AVX-512, so the bytes are compiled once more for it, in \.{unwoven/kernels/vnni.c}.)

@<Four products in each lane@>=
#ifdef VNNI
enum { INT8_OFFSET = 128 };
INLINE ivec dot4(ivec a, ivec w, ivec x, bool is_signed)
{
  (void) is_signed; /* no weight is, after the offset */
  return (ivec) _mm512_dpbusd_epi32((__m512i) a, (__m512i) w, (__m512i) x);
}
INLINE ivec sums_begin(ivec first)
{@+ return first;@+ }
INLINE ivec sums_end(ivec first, ivec a)
{@+ (void) first;@+ return a;@+ }
#else
enum { INT8_OFFSET = 0 };
@<Four products without VNNI@>@;
#endif
@<How long sums may be short@>@;

@ Before VNNI there is the instruction of the box, for sums of \emph{two} products in sixteen bits. So here nothing is added to a weight with a sign. It gives its sign to its input, and \given{128} times \given{127}, twice, is short of the limit. A second instruction adds neighbours and leaves \given{32} bits.

@<Four products without VNNI@>=
#if WIDTH == 16
INLINE ivec dot4(ivec a, ivec w, ivec x, bool is_signed)
{
  __m512i u = (__m512i) w, v = (__m512i) x;
  if (is_signed) {
    /*- a weight of -128 becomes 128, which has room without a sign */
    v = _mm512_mask_sub_epi8(v, _mm512_movepi8_mask(u),
      _mm512_setzero_si512(), v);
    u = _mm512_abs_epi8(u);
  }
  return (ivec) _mm512_add_epi16((__m512i) a, _mm512_maddubs_epi16(u, v));
}
INLINE ivec sums_end(ivec first, ivec a)
{@+ return first + (ivec) _mm512_madd_epi16((__m512i) a, _mm512_set1_epi16(1));@+ }
INLINE ivec sums_begin(ivec first)
{@+ (void) first;@+ return ints(0);@+ }
#elif WIDTH == 8
INLINE ivec dot4(ivec a, ivec w, ivec x, bool is_signed)
{
  __m256i u = (__m256i) w, v = (__m256i) x;
  if (is_signed) v = _mm256_sign_epi8(v, u), u = _mm256_abs_epi8(u);
  return (ivec) _mm256_add_epi16((__m256i) a, _mm256_maddubs_epi16(u, v));
}
INLINE ivec sums_end(ivec first, ivec a)
{@+ return first + (ivec) _mm256_madd_epi16((__m256i) a, _mm256_set1_epi16(1));@+ }
INLINE ivec sums_begin(ivec first)
{@+ (void) first;@+ return ints(0);@+ }
#else
@<Four products in plain C@>@;
#endif

@ How many such sums may be added before that? A number of $b$ bits times one of seven has at most $b+7$ bits. The sum of two products has one more, and $2^{7-b}$ such sums have $7-b$ more: \given{fifteen} together, and the sixteenth bit is for the sign. For $b=4$ that allows eight sums, as in the box: all eight words of a block are added in sixteen bits, with half as many instructions, and widened once.

@<How long sums may be short@>=
INLINE int short_sums(enum weight_type type)
{
  const struct number_type *t = &number_types[type];
  int bits = t->steps == STEPS_FLOAT ? 5 : t->bits, all = t->group / 4;
  if (bits == 8 || t->steps == STEPS_CURVE) return 1;
  return 1 << (7 - bits) < all ? 1 << (7 - bits) : all;
}

@ In plain C a byte is cut out of each lane, and multiplied as the |int32_t| that it is.

@<Four products in plain C@>=
INLINE ivec dot4(ivec a, ivec w, ivec x, bool is_signed)
{
  each (i, 4) {
    ivec u = w >> 8 * i & 255, v = x >> 8 * i & 255;
    v = (v ^ 128) - 128;
    if (is_signed) u = (u ^ 128) - 128;
    a += u * v;
  }
  return a;
}
INLINE ivec sums_begin(ivec first)
{@+ return first;@+ }
INLINE ivec sums_end(ivec first, ivec a)
{@+ (void) first;@+ return a;@+ }

@* Inputs, rounded to bytes. \label{sec:inputbytes}
A row is rounded once, as \cref{model/quantization} defines it, and then meets all matrices of the list. With the bytes of a block goes what each sum must begin with: the negative sum of the bytes, which a weight's offset multiplies. Q6\_K has a scale for each \given{16} numbers, so it needs the sums of the halves.

@<Round the inputs of a row@>=
struct int8_input { int8_t q[WEIGHT_BLOCK]; float scale;
  int32_t minus, minus_half[2]; };
INLINE int32_t largest_lane(ivec v)
{
  int32_t most = v[0];
  for (int j = 1; j < WIDTH; j++) most = v[j] > most ? v[j] : most;
  return most;
}
INLINE int32_t sum_of_lanes(ivec v)
{
  int32_t sum = 0;
  for (int j = 0; j < WIDTH; j++) sum += v[j];
  return sum;
}
@<Round a register to bytes@>@;
@<Round a block to bytes@>@;

@ How do you round a register of floats to whole numbers when the instruction for that is another one in every table? Add $2^{23}+2^{22}$. The sum has no bits left for a fraction, so the addition itself rounds, to the nearest whole number and a half to the even one, and the whole number stands in the last bits. Before that a product is limited to \given{127}, and becomes 0 if it is no number.

@<Round a register to bytes@>=
INLINE ivec nearest_bytes(vec z)
{
  ivec high = z > 127, low = z < -127, known = z == z;
  ivec bits = as_ints(z) & known;
  bits = pick(as_ints(spread(127)), high, bits);
  bits = pick(as_ints(spread(-127)), low, bits);
  /*- 2^23 + 2^22, whose bits are 0x4b400000: what is added to it stands in its last bits, also if it is negative */
  return as_ints(as_floats(bits) + 12582912.0f) - 0x4b400000;
}

@ The largest absolute value is found among whole numbers: without the sign, the bits of floats are in the order of the floats, and a NaN is above infinity.

@<Round a block to bytes@>=
INLINE void round_block(const float *x, struct int8_input *to)
{
  vec v[WEIGHT_BLOCK / WIDTH];
  ivec most = @[{ 0 }@], total[2] = @[{ { 0 } }@];
  memcpy(v, x, sizeof v);
  each (i, WEIGHT_BLOCK / WIDTH) {
    ivec u = as_ints(v[i]) & 0x7fffffff;
    most = pick(u, u > most, most);
  }
  int32_t top = largest_lane(most);
  /*- a tiny block is scaled up first: 127 over a subnormal number would be infinite */
  float amax = num_float((uint32_t) top), up = amax < 0x1p-64f ? 0x1p64f : 1;
  float times = top == 0 ? 0 : 127 / (amax * up);
  to->scale = amax / 127;
  each (i, WEIGHT_BLOCK / WIDTH) {
    ivec q = nearest_bytes(v[i] * up * times);
    few_signed few = __builtin_convertvector(q, few_signed);
    memcpy(to->q + i * WIDTH, &few, sizeof few);
    total[i * WIDTH / 16] -= q;
  }
  each (h, 2) to->minus_half[h] = sum_of_lanes(total[h]);
  to->minus = to->minus_half[0] + to->minus_half[1];
}

@* Blocks across lanes. \label{sec:blocklanes}
A lane follows an output, so the blocks of many outputs must be taken apart at once. \given{Sixteen} outputs lie side by side, one in each lane: the first four bytes of all their blocks, then the next four, and at the end, for types whose blocks are not a multiple of four bytes, the halves that are left over. Nothing is unpacked, so a panel is as large as the blocks were. |int8_words| and |int8_halves| say how many of both there are, and |int8_word_at| in which word a byte of the block is: the words begin after the half, if the scale comes first, as it does except in Q6\_K.

@<Take apart a block that lies across lanes@>=
INLINE size_t int8_words(enum weight_type type)
{@+ return number_types[type].bytes / 4;@+ }
INLINE size_t int8_halves(enum weight_type type)
{@+ return (number_types[type].bytes % 4u + 1) / 2;@+ }
INLINE size_t int8_skipped(enum weight_type type)
{@+ return number_types[type].d_at == 0 ? number_types[type].bytes % 4 : 0;@+ }
INLINE size_t int8_word_at(enum weight_type type, size_t byte)
{@+ return (byte - int8_skipped(type)) / 4;@+ }
INLINE int int8_groups(enum weight_type type)
{@+ return WEIGHT_BLOCK / number_types[type].group;@+ }
@<Four numbers of each lane@>@;
#include "kernels/scales.inc"
@<What a sum begins with@>@;

@ Numbers |4*j| to |4*j+3| of the |i|th \given{32} of a block are cut out, in all lanes at once and without their offset. Nibbles are easy: a shift and a mask. A fifth bit is not, since four neighbours have their fifth bits side by side. Multiplying by $2^{4}+2^{11}+2^{18}+2^{25}$ makes four shifted copies, in which each byte has one of them at bit 4; the mask keeps that one. (The code writes the constant in hexadecimal.)

@<Four numbers of each lane@>=
INLINE ivec fifth_bits(ivec high, size_t j)
{
  /*- the product of four bits with each power overlaps no other in the bits that the mask keeps */
  ivec bits = high >> (int) (4 * j) & 15;
  return bits * 0x02040810 & 0x10101010;
}
@<Whole numbers out of a table@>@;
INLINE ivec four_numbers(enum weight_type type, const int32_t *w, size_t i,
  size_t j)
{
  int up = (int) (j / 4 * 4), part = (int) i % 4;
  const ivec low_bits = ints(0x0f0f0f0f), two_bits = ints(0x03030303);
  size_t low = int8_word_at(type, number_types[type].low_at);
  size_t high = int8_word_at(type, number_types[type].high_at);
  switch (type) {
  case WEIGHT_Q8_0:@+ return ints_at(w, j);
  case WEIGHT_Q4_0: case WEIGHT_Q4_1:@+ return ints_at(w, low + j % 4) >> up & low_bits;
  case WEIGHT_Q5_0: case WEIGHT_Q5_1:
    return (ints_at(w, low + j % 4) >> up & low_bits) | fifth_bits(ints_at(w, high), j);
  case WEIGHT_Q4_K:
    return ints_at(w, low + i / 2 * 8 + j) >> part % 2 * 4 & low_bits;
  case WEIGHT_Q6_K:
    return (ints_at(w, low + i / 4 * 16 + i % 2 * 8 + j) >> part / 2 * 4 & low_bits)
      | (ints_at(w, high + i / 4 * 8 + j) >> part * 2 & two_bits) * 16;
  case WEIGHT_Q2_K:@+ return ints_at(w, low + i / 4 * 8 + j) >> part * 2 & two_bits;
  case WEIGHT_Q3_K:
    return (ints_at(w, low + i / 4 * 8 + j) >> part * 2 & two_bits)
      | (ints_at(w, high + j) >> (int) i & 0x01010101) * 4;
  case WEIGHT_Q5_K:
    return (ints_at(w, low + i / 2 * 8 + j) >> part % 2 * 4 & low_bits)
      | (ints_at(w, high + j) >> (int) i & 0x01010101) * 16;
  case WEIGHT_IQ4_NL: case WEIGHT_IQ4_XS: case WEIGHT_MXFP4:
    return look_up(type, ints_at(w, low + 4 * i + j % 4) >> up & low_bits);
  case WEIGHT_F32: case WEIGHT_F16: case WEIGHT_BF16: break;
  }
  return ints(0); /* these have kernels of their own */
}

@ The types whose steps are not equal store places in a table of sixteen bytes (\cref{sec:unequal}). What the kernels multiply comes out of it: signed bytes like those of Q8\_0, for MXFP4 numbers that were made positive. An instruction looks up each byte of a register in such a table; plain C does it byte by byte. As sums of three bits more than four would not do, |short_sums| counts the numbers of MXFP4 as five bits, and those of the curve as eight.

@<Whole numbers out of a table@>=
INLINE ivec look_up(enum weight_type type, ivec place)
{
  uint8_t table[16];
  int add = short_sums(type) == 1 ? INT8_OFFSET : number_types[type].offset;
  each (i, 16)
    table[i] = (uint8_t) (block_steps[number_types[type].steps][i] + add);
#if WIDTH == 16
  __m128i few = _mm_loadu_si128((const void *) table);
  return (ivec) _mm512_shuffle_epi8(_mm512_broadcast_i32x4(few), (__m512i) place);
#elif WIDTH == 8
  __m128i few = _mm_loadu_si128((const void *) table);
  return (ivec) _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(few), (__m256i) place);
#else
  uint8_t byte[4 * WIDTH];
  memcpy(byte, &place, sizeof byte);
  each (i, 4 * WIDTH) byte[i] = table[byte[i] & 15];
  memcpy(&place, byte, sizeof byte);
  return place;
#endif
}

@ If all weights of a block are too large by $c$, the sum of the products is too large by $c$ times the sum of the inputs. So the sum begins with that number less, and nothing has to be subtracted from any weight.

@<What a sum begins with@>=
INLINE ivec sum_begins(enum weight_type type, const struct int8_input *x,
  int half)
{
  const struct number_type *t = &number_types[type];
  /*- the negative sum of the inputs, times what every weight is too large by */
  int32_t minus = int8_groups(type) > 1 ? x->minus_half[half] : x->minus;
  return ints(minus * (short_sums(type) == 1 ? INT8_OFFSET : t->offset));
}

@* A tile of bytes. \label{sec:int8tile}
A \emph{strip} is two registers of outputs. A tile multiplies it with a few rows, block after block, and each row has a sum in each of the two registers. With \given{32} registers six rows fit: twelve sums of whole numbers and twelve of floats, and the compiler may keep some of the latter in memory, since they are wanted once a block. With \given{16} registers three rows fit. Plain C has one row, because a compiler without wide registers gains nothing from more.
@^register@>

@<Multiply a few rows by a strip@>=
enum { SIDES = 2, STRIP = SIDES * WIDTH,@|
  INT8_ROWS = WIDTH * 3 / 8, TURNED_MOST = WIDTH == 16 ? 8 : INT8_ROWS };
struct int8_strip { const int32_t *word[SIDES]; const uint16_t *half[SIDES]; };
@<Sums of whole numbers over a unit@>@;
@<Add a unit to the sums in float@>@;
@<Multiply a few rows by the blocks of a strip@>@;

@ Here is where the time goes. Four bytes of a row are spread to all lanes and multiplied with four weights of \given{32} outputs. The words are taken in an order in which both nibbles of one are used together. A type with two groups in a unit, as Q6\_K, is done in halves.

@<Sums of whole numbers over a unit@>=
INLINE void whole_sums(int rows, int sides, enum weight_type type,
  const struct int8_strip *s, size_t i, int h, const struct int8_input *x,
  ivec a[][SIDES])
{
  int groups = int8_groups(type);
  bool whole = short_sums(type) == 1;
  ivec w[SIDES], some[TURNED_MOST][SIDES];
  each (r, rows) each (p, sides) {
    a[r][p] = sum_begins(type, x + r, h);
    some[r][p] = sums_begin(a[r][p]);
  }
  /*- 0, 4, 1, 5, ...: the low and the high nibbles of a word are used one after the other */
  each (k, 8) {
    int j = groups > 1 ? k : k / 2 + k % 2 * 4;
    if (j * groups / 8 != h) continue;
    each (p, sides) w[p] = four_numbers(type, s->word[p], i, (size_t) j);
    each (r, rows) {
      int32_t word;
      memcpy(&word, x[r].q + 4 * j, sizeof word);
      each (p, sides)
        some[r][p] = dot4(some[r][p], w[p], ints(word), whole);
    }
    if ((k + 1) % short_sums(type) == 0) each (r, rows) each (p, sides) {
      a[r][p] = sums_end(a[r][p], some[r][p]);
      some[r][p] = sums_begin(a[r][p]);
    }
  }
}

@ One multiply--add for the products of the unit, and one for its minimum, as in the definition: the products of scales are rounded before. The scales come out of \.{unwoven/kernels/scales.inc}.

@<Add a unit to the sums in float@>=
INLINE vec add_products(enum weight_type type, ivec a, vec d, vec min,
  const struct int8_input *x, int half, vec sum)
{
  int32_t minus = int8_groups(type) > 1 ? x->minus_half[half] : x->minus;
  sum = fused(to_floats(a), d * x->scale, sum);
  if (number_types[type].has_min)
    sum = fused(to_floats(ints(minus)), min * x->scale, sum);
  return sum;
}

@ A tile does this for all of its rows. The scales of the strip begin at word |at|, and are computed once for all of them.

@<Add a unit to the sums in float@>=
INLINE void add_unit(int rows, enum weight_type type,
  const struct int8_strip *s, size_t at, size_t u, const struct int8_input *x,
  ivec a[INT8_ROWS][SIDES], vec sum[INT8_ROWS][SIDES])
{
  each (p, SIDES) {
    vec min = @[{ 0 }@];
    vec d = unit_scales(type, s->word[p] + at * WIDTH, s->half[p], u, &min);
    each (r, rows)
      sum[r][p] = add_products(type, a[r][p], d, min, x + r, (int) u % 2, sum[r][p]);
  }
}

@ Rows that go together are stored together: block |i| of each of them, then block |i+1|. So |x| advances by |stride| from block to block. The first pieces of a row begin with 0, later ones with what |y| has. The last strip of a matrix may have fewer outputs than lanes; all others are copied with a size that the compiler knows.

@<Multiply a few rows by the blocks of a strip@>=
INLINE void read_strip(const float *y, size_t outs, vec *sum)
{
  float edge[STRIP] = @[{ 0 }@];
  if (outs < STRIP) memcpy(edge, y, outs * sizeof *edge), y = edge;
  each (p, SIDES) memcpy(&sum[p], y + p * WIDTH, sizeof sum[p]);
}
INLINE void write_strip(const vec *sum, size_t outs, float *y)
{
  float edge[STRIP];
  float *to = outs < STRIP ? edge : y;
  each (p, SIDES) memcpy(to + p * WIDTH, &sum[p], sizeof sum[p]);
  if (outs < STRIP) memcpy(y, edge, outs * sizeof *edge);
}
INLINE void int8_tile(int rows, enum weight_type type, struct int8_strip s,
  size_t blocks, const struct int8_input *x, size_t stride, bool first,
  float *y, size_t ld, size_t outs)
{
  size_t units = number_types[type].block / WEIGHT_BLOCK;
  int groups = int8_groups(type);
  vec sum[INT8_ROWS][SIDES];
  if (first) each (r, rows) each (p, SIDES) sum[r][p] = spread(0);
  else each (r, rows) read_strip(y + (size_t) r * ld, outs, sum[r]);
  for (size_t b = 0; b < blocks; b++) {
    /*- x: this unit of the first row; the other rows of the group follow it */
    for (size_t i = 0; i < units; i++, x += stride)
      each (h, groups) {
        ivec a[INT8_ROWS][SIDES];
        size_t u = (size_t) groups * i + (size_t) h;
        whole_sums(rows, SIDES, type, &s, i, h, x, a);
        add_unit(rows, type, &s, number_types[type].scales_at / 4, u, x, a, sum);
      }
    each (p, SIDES) {
      s.word[p] += int8_words(type) * WIDTH;
      s.half[p] += int8_halves(type) * WIDTH;
    }
  }
  TALLY("linear", 0, (size_t) rows * outs * blocks * units * WEIGHT_BLOCK);
  each (r, rows) write_strip(sum[r], outs, y + (size_t) r * ld);
}

@* Words turned in registers. \label{sec:int8panels}
A panel of blocks needs one word of sixteen outputs side by side, and in the file each output's next word follows its last. That is a transposition again, now of words. Each \given{128} bits of a register get four words of one output; two steps of unpacking leave in each of four registers one word of all outputs. The last group of words may overlap the one before. Plain C and NEON copy the words one by one.
@^transposition@>

@<Turn rows of words@>=
@<Words of some outputs in one register@>@;
#ifdef UNPACK
INLINE size_t turn_words(const unsigned char *w, size_t stride, size_t n,
  int32_t *word)
{
  for (size_t k = 0; k < n; k += 4) {
    /*- the last words overlap those before, and are written twice with the same bits */
    if (k + 4 > n) k = n - 4;
    words r[4];
    each (i, 4) r[i] = four_apart(w + 4 * k + (size_t) i * stride, 4 * stride);
    words a = UNPACK(lo_epi32, r[0], r[1]), b = UNPACK(hi_epi32, r[0], r[1]);
    words c = UNPACK(lo_epi32, r[2], r[3]), d = UNPACK(hi_epi32, r[2], r[3]);
    r[0] = UNPACK(lo_epi64, a, c), r[1] = UNPACK(hi_epi64, a, c);
    r[2] = UNPACK(lo_epi64, b, d), r[3] = UNPACK(hi_epi64, b, d);
    each (i, 4) memcpy(word + (k + (size_t) i) * WIDTH, &r[i], sizeof r[i]);
  }
  return n;
}
#endif

@ Output $i$ is followed by outputs $i+4$, $i+8$ and $i+12$. |FIRST_WORDS| spreads the first word of each \given{128} bits over all four, and |EVERYWHERE| puts \given{16} bytes into each of them.

@<Words of some outputs in one register@>=
#if WIDTH == 16
typedef __m512i words;
#define UNPACK(how, a, b) @[_mm512_unpack##how(a, b)@]
#define FIRST_WORDS(v) @[_mm512_shuffle_epi32(v, 0)@]
#define EVERYWHERE(p) @[_mm512_broadcast_i32x4(_mm_loadu_si128(p))@]
INLINE words four_apart(const unsigned char *p, size_t away)
{
  words v = _mm512_castsi128_si512(_mm_loadu_si128((const void *) p));
  v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *) (p + away)), 1);
  v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *) (p + 2 * away)), 2);
  return _mm512_inserti32x4(v, _mm_loadu_si128((const void *) (p + 3 * away)), 3);
}
#elif WIDTH == 8
typedef __m256i words;
#define UNPACK(how, a, b) @[_mm256_unpack##how(a, b)@]
#define FIRST_WORDS(v) @[_mm256_shuffle_epi32(v, 0)@]
#define EVERYWHERE(p) @[_mm256_broadcastsi128_si256(_mm_loadu_si128(p))@]
INLINE words four_apart(const unsigned char *p, size_t away)
{
  words v = _mm256_castsi128_si256(_mm_loadu_si128((const void *) p));
  return _mm256_inserti128_si256(v, _mm_loadu_si128((const void *) (p + away)), 1);
}
#endif

@* One row: blocks as they lie in the file. \label{sec:storedrow}
To fill a panel takes longer than to use it once, and in decoding it is used once. So for a single row the lanes of a register are not all different outputs. Each \given{128} bits have \given{16} numbers of one block, as they lie in the file, and a register has as many outputs as it has such parts. Four registers hold a number of each output of a strip. The products leave four whole sums for each output, and these are turned and added up as the words of a panel are turned. We may, since whole numbers are added exactly. From there on each output has a lane, and its chain in float is the same as before.

@(stored.inc@>=
/** A row by blocks as they lie in the file, where whole registers can be turned; with AVX2 two rows, whose
  registers hold half as much. Each 128 bits of a register have sixteen numbers of one output; what is added there are whole numbers, so the order is
  free. Scales and strips are in \.{stored\_strips.inc}. */
#ifdef UNPACK
enum { STORED_ROWS = WIDTH / 4 };
@<Sixteen numbers of some outputs@>@;
@<The whole sums of some outputs@>@;
#include "kernels/stored_strips.inc"
#endif

@ Half |h| of a unit, \given{16} numbers a byte each, of outputs that are |away| bytes apart. Where nibbles are stored, the lower ones of \given{16} bytes are the first half of a block. Neighbouring units of a large block share bytes: in Q4\_K the lower nibbles of \given{32} bytes are one unit and the higher ones the next; in Q6\_K they are the lower four bits of units that are two apart, and the higher two bits of four units share \given{32} bytes. Such units are done together; |i| is the first of them and |z| counts from there, so that the compiler sees that it has their bytes already.

@<Sixteen numbers of some outputs@>=
@<Sixteen fifth bits@>@;
INLINE ivec sixteen_numbers(enum weight_type type, const unsigned char *p,
  size_t away, size_t i, int z, int h)
{
  const ivec low_bits = ints(0x0f0f0f0f), two_bits = ints(0x03030303);
  size_t at = 16 * (size_t) h, more = 32 * (size_t) (z % 2);
  int unit = (int) i + z;
#define LOW(place) @[((ivec) four_apart(p + number_types[type].low_at + (place), away))@]
#define HIGH(place) @[((ivec) four_apart(p + number_types[type].high_at + (place), away))@]
  switch (type) {
  case WEIGHT_Q8_0:@+ return LOW(at) ^ (int32_t) (INT8_OFFSET * 0x01010101u);
  case WEIGHT_Q4_0: case WEIGHT_Q4_1:@+ return LOW(0) >> 4 * h & low_bits;
  case WEIGHT_Q5_0: case WEIGHT_Q5_1:
    return (LOW(0) >> 4 * h & low_bits) | sixteen_fifths(HIGH(0), h);
  case WEIGHT_Q4_K:@+ return LOW(16 * i + at) >> 4 * z & low_bits;
  case WEIGHT_Q6_K:
    return (LOW(16 * i + more + at) >> z / 2 * 4 & low_bits)@|
      | (HIGH(8 * i + at) >> 2 * z & two_bits) << 4;
  case WEIGHT_Q2_K:@+ return LOW(8 * i + at) >> 2 * z & two_bits;
  case WEIGHT_Q3_K:
    return (LOW(8 * i + at) >> 2 * z & two_bits)@|
      | (HIGH(at) >> unit & 0x01010101) << 2;
  case WEIGHT_Q5_K:
    return (LOW(16 * i + at) >> 4 * z & low_bits)@|
      | (HIGH(at) >> unit & 0x01010101) << 4;
  case WEIGHT_IQ4_NL: case WEIGHT_IQ4_XS: case WEIGHT_MXFP4:
    return look_up(type, LOW(16 * i) >> 4 * h & low_bits);
  case WEIGHT_F32: case WEIGHT_F16: case WEIGHT_BF16: break;
  }
#undef LOW
#undef HIGH
  return ints(0);
}

@ The fifth bits of a block are \given{32} bits in a row. Each of the four words of an output wants the next four of them, one to a byte, and they are brought there as in a panel.

@<Sixteen fifth bits@>=
INLINE ivec sixteen_fifths(ivec v, int h)
{
  ivec shift = @[{ 0 }@];
  for (int i = 0; i < WIDTH; i++) shift[i] = 4 * (i % 4) + 16 * h;
  return fifth_bits((ivec) FIRST_WORDS((words) v) >> shift, 0);
}

@ The halves of a unit are added, unless each has a scale, as in Q6\_K. In Q8\_0 without VNNI, two products may fill \given{16} bits, and are made whole at once.

@<The whole sums of some outputs@>=
INLINE ivec products(enum weight_type type, ivec before, ivec w, ivec x)
{
  if (short_sums(type) > 1) return dot4(before, w, x, false);
  return sums_end(before, dot4(sums_begin(before), w, x, true));
}
@<Four registers of sums folded into one@>@;
INLINE void stored_sums(int rows, enum weight_type type,
  const unsigned char *block, size_t stride, size_t i, int z,
  const struct int8_input *x, ivec sum[2][STORED_ROWS])
{
  int groups = int8_groups(type);
  ivec a[2][STORED_ROWS][4];
  each (o, 4) each (h, 2) {
    ivec w = sixteen_numbers(type, block + (size_t) o * stride, 4 * stride, i, z, h);
    each (r, rows) {
      ivec v = (ivec) EVERYWHERE((const void *) (x[r].q + 16 * h));
      ivec before = h > 0 && groups == 1 ? a[0][r][o] : ints(0);
      a[groups == 1 ? 0 : h][r][o] = products(type, before, w, v);
    }
  }
  each (h, groups) each (r, rows) sum[h][r] =
    fold_four(2 / groups, short_sums(type), a[h][r]) + sum_begins(type, x + r, h);
}

@ Two registers become one in each step, until each output has one lane. Without VNNI the sums stay short as long as the limit of \cref{sec:bytes34} allows, so that fewer registers have to be made whole; |n| is how many products a short sum has already, and |most| how many it may have.

@<Four registers of sums folded into one@>=
typedef int16_t shorts @[__attribute__((vector_size(4 * WIDTH)))@];
INLINE ivec joined(words a, words b, bool is_short)
{
  return is_short ? (ivec) ((shorts) a + (shorts) b) : (ivec) a + (ivec) b;
}
#define JOIN(lanes, a, b, is_short) \
  @[joined(UNPACK(lo_##lanes, (words) a, (words) b), \
    UNPACK(hi_##lanes, (words) a, (words) b), is_short)@]
INLINE ivec fold_four(int n, int most, ivec *a)
{
#ifdef VNNI
  most = 1; /* the sums are whole from the beginning */
#endif
  /*- sums stay short as long as the products in them allow: half as many registers to widen */
  each (o, 4) if (most > 1 && 2 * n > most) a[o] = sums_end(ints(0), a[o]);
  each (o, 2) {
    a[o] = JOIN(epi32, a[2 * o], a[2 * o + 1], 2 * n <= most);
    if (2 * n <= most && 4 * n > most) a[o] = sums_end(ints(0), a[o]);
  }
  a[0] = JOIN(epi64, a[0], a[1], 4 * n <= most);
  return 4 * n <= most ? sums_end(ints(0), a[0]) : a[0];
}

@ The rest is in \.{unwoven/kernels/stored\_strips.inc}: scales, the order of strips and rows, and what is fetched ahead. Two things there were found with a clock. A prefetch goes through memory in the order in which it lies and not in the order in which it is used, since memory is read fastest in one line; and it goes into the second-level cache, not the first (\cref{sec:tuning}). And a block of \given{32} numbers of four bits is so short that laying its scale across lanes was a third of the work in vectors: with AVX-512 such scales are loaded one by one into ordinary registers, which have nothing else to do.
@^prefetch@>

@ Large blocks allow something better. One of \given{256} numbers has \given{64} bytes of low bits in a row. So a register can be loaded at once, with bytes of one output only, where \given{16} bytes of four outputs take four loads. Its quarters belong to different units, and nothing may be added across them. But four such registers can be folded into one as above, and only the folded ones, a quarter as many, have their quarters exchanged, so that each has one unit of all outputs. For a block of Q6\_K and \given{16} outputs, \given{192} loads become \given{64}, and \given{144} instructions that put quarters together become \given{32}. The sums are the same whole numbers, and their products are added in the same order. This is \.{unwoven/kernels/wide.inc}, for AVX-512 and a single row; numbers of two bits are so few that the way of \cref{sec:turnedrow} is faster still.

@ What does a type cost? \Cref{tab:blockspeeds} has the time of one processor for a token, in a model of \given{110}\,M random weights that are all of one type. With one row at a time the bytes count, and then the work of taking them apart: \texttt{q6\_k} has the most bytes, and \texttt{q3\_k} puts each number together from two places. The types with a table cost little more than those without, since a look into sixteen bytes is one instruction. With many rows a block is taken apart once for all of them, and what remains is the work of each row: types with a scale for 16 numbers need two multiply--adds where the others need one.\lab{lab:ksearch}
@^block, of weights@>

\begin{table}
\tabcaption{tab:blockspeeds}{Milliseconds of one thread for a token, decoding by itself and reading \given{64} at once, and how many times as long llama.cpp takes for it.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
& \tabhead{decode} & \tabhead{llama.cpp} & \tabhead{64 rows} & \tabhead{llama.cpp}\\\midrule
\texttt{q4\_0} & \val[2]{speeds.q4_0.decode} & \val[2]{speeds.q4_0.decode.times} & \val[2]{speeds.q4_0.prefill} & \val[2]{speeds.q4_0.prefill.times}\\
\texttt{q4\_k} & \val[2]{speeds.q4_k.decode} & \val[2]{speeds.q4_k.decode.times} & \val[2]{speeds.q4_k.prefill} & \val[2]{speeds.q4_k.prefill.times}\\
\texttt{q5\_k} & \val[2]{speeds.q5_k.decode} & \val[2]{speeds.q5_k.decode.times} & \val[2]{speeds.q5_k.prefill} & \val[2]{speeds.q5_k.prefill.times}\\
\texttt{q6\_k} & \val[2]{speeds.q6_k.decode} & \val[2]{speeds.q6_k.decode.times} & \val[2]{speeds.q6_k.prefill} & \val[2]{speeds.q6_k.prefill.times}\\
\texttt{q3\_k} & \val[2]{speeds.q3_k.decode} & \val[2]{speeds.q3_k.decode.times} & \val[2]{speeds.q3_k.prefill} & \val[2]{speeds.q3_k.prefill.times}\\
\texttt{q2\_k} & \val[2]{speeds.q2_k.decode} & \val[2]{speeds.q2_k.decode.times} & \val[2]{speeds.q2_k.prefill} & \val[2]{speeds.q2_k.prefill.times}\\
\texttt{iq4\_nl} & \val[2]{speeds.iq4_nl.decode} & \val[2]{speeds.iq4_nl.decode.times} & \val[2]{speeds.iq4_nl.prefill} & \val[2]{speeds.iq4_nl.prefill.times}\\
\texttt{iq4\_xs} & \val[2]{speeds.iq4_xs.decode} & \val[2]{speeds.iq4_xs.decode.times} & \val[2]{speeds.iq4_xs.prefill} & \val[2]{speeds.iq4_xs.prefill.times}\\
\texttt{mxfp4} & \val[2]{speeds.mxfp4.decode} & \val[2]{speeds.mxfp4.decode.times} & \val[2]{speeds.mxfp4.prefill} & \val[2]{speeds.mxfp4.prefill.times}
\end{tabular*}
\end{table}

@* A few rows: words turned as they are used. \label{sec:turnedrow}
Why not go the same way with four rows? Count what a row costs. For \given{32} inputs and \given{16} outputs it multiplies \given{8} registers. Then it folds four registers of sums into one: \given{6} instructions that unpack and \given{3} that add, more than the products themselves, and every row does it again. The other way is to turn the weights instead of the sums. Eight words of \given{16} outputs take \given{8} loads of two halves and \given{24} instructions that shuffle; after that a lane belongs to one output, as in a panel, and a row more costs its \given{8} products. So turning costs \given{24} instructions once and saves \given{9} for each row. By this count it pays from three rows on; the clock says two with AVX-512 and three with AVX2. Numbers of two bits have the fewest words, and with AVX-512 even a single row of them gains.

The words of a panel are turned too, so is this not the same thing once more? It is not, because of \emph{when}. A panel is filled first and used afterwards. While it is filled, the units of the processor that multiply are idle; while it is used, those that shuffle and load are idle. If a block is turned just before its own products, all units have work, since a processor looks far ahead in its instructions. The words stay in registers: eight of weights, eight sums of whole numbers, and eight of floats leave room for the scales, and so up to eight rows go together. With more, a panel that is filled once and used again and again is the better way, and |STORED_MOST| is where the two change places.
The code is \.{unwoven/kernels/turned.inc}. It is short, because it does with a turned word what \cref{sec:int8tile} does.

@* Pairs of bfloat16. \label{sec:pairs11}
When the inputs of a layer are rounded to bfloat16 (\cref{sec:dotbf}), two neighbours make one word of \given{32} bits, the size of a float. The definition gives pair $i$ to lane $i\bmod16$, exactly as it gives the single number $i$ to lane $i\bmod16$ when inputs are floats. So a matrix in bfloat16 with \given{768} inputs has the shape of a matrix of floats with \given{384}. Loads, panels, tiles and folds only move words; if the multiply--add takes a word apart, all of chapter 11's linear layer can be used as it is. AVX512-BF16 has that multiply--add, \texttt{VDPBF16PS}. This file puts it in place of the other one, and includes the linear layers once more.
@^bfloat16@>@^AVX512-BF16@>@^VDPBF16PS@>

What should it gain? A tile makes half as many steps, each of one instruction a register of sums, so with many rows we expect twice the speed of floats wherever the processor begins this instruction as often as an ordinary multiply--add. On such a processor a tile is nearly that fast. A whole prompt gains less, because attention, norms and activations stay in float and take a larger share of the time.

@(pairs.c@>=
/** Linear layers with inputs rounded to bfloat16, two to a word. The linear layers of floats once more,
  with a multiply-add that takes words apart; so lanes, panels, tiles and folds are the same code. */
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
#include "kernels/pairs_calls.inc"
#endif

@ A matrix can be seen as pairs if the numbers of a row are neighbours, and if their number is even, so that no pair is cut by the end of a row. All published models in bfloat16 are like that, except those stored by inputs.

@<Multiply pairs of bfloat16@>=
static bool see_pairs(const struct matrix *w, struct matrix *pairs)
{
  *pairs = *w;
  pairs->weight.type = WEIGHT_F32, pairs->in = w->in / 2;
  /*- an odd row would pair its end with the beginning of the next */
  return w->in % 2 == 0 && w->in > 0 && !w->transposed
    && w->weight.type == WEIGHT_BF16;
}

@ The inputs are rounded as |num_to_bf16| does it, sixteen at a time. Why not with the processor's own instruction for that? It would flush small numbers to zero before it rounds, and the definition rounds first; at the edge that is not the same.

@<Multiply pairs of bfloat16@>=
INLINE uint16_t rounded_half(float x)
{
  uint32_t u = num_bits32(x), quiet = u >> 16 | 0x40u;
  /*- to the nearest, a half to the even one; a NaN must not become infinite */
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

@* Two yardsticks. \label{sec:probes} How near do the kernels come to what the machine can do? \Cref{phases} asks, and needs two yardsticks, of the same instructions as the kernels: one that only calculates, and one that only reads.

@(probes.inc@>=
/** What the machine can do, with the instructions of these kernels: only multiply--adds, and only reading. */
#include "kernels/rounding.inc"
@<Calculate, and read nothing@>@;
@<Read, and hardly calculate@>@;

@ A multiply--add takes a few cycles until its result can be used, and one or two can be begun in each cycle. So twelve sums that have nothing to do with each other are kept going, as many as a tile of AVX2 has. Each turns $x$ into $x/2+1$, and comes to rest at 2: no number grows or becomes tiny, which some processors would take longer for.

@<Calculate, and read nothing@>=
enum { CHAINS = 12 };
TARGET static uint64_t probe_flops(uint64_t n, float *left)
{
  vec a[CHAINS], half = spread(0.5f), one = spread(1.0f);
  uint64_t each_round = CHAINS * WIDTH, rounds = n / each_round + 1;
  each (i, CHAINS) a[i] = spread((float) i);
  for (uint64_t k = 0; k < rounds; k++)
    each (i, CHAINS) a[i] = fused(a[i], half, one);
  /*- the sums are used, or a compiler would leave out what made them */
  *left = 0;
  each (i, CHAINS) *left += a[i][0];
  return rounds * each_round;
}

@ Reading goes through eight registers at once, so that no addition has to wait for the one before. And it goes through the block in two places at the same time, as a kernel goes through several rows of a matrix: a processor fetches ahead for each place by itself, and asks the memory for more when there are two. (With one place the probe would say a fifth less than our own kernels need, and a roof lower than the house.)

@<Read, and hardly calculate@>=
TARGET static float probe_bandwidth(const float *x, size_t n)
{
  enum { AT_ONCE = 4 };
  const float *y = x + n / 2;
  vec a[2 * AT_ONCE] = @[{ @[{ 0 }@] }@], v;
  size_t k = 0;
  for (; k + AT_ONCE * WIDTH <= n / 2; k += AT_ONCE * WIDTH)
    each (i, AT_ONCE) {
      memcpy(&v, x + k + i * WIDTH, sizeof v);
      a[i] += v;
      memcpy(&v, y + k + i * WIDTH, sizeof v);
      a[AT_ONCE + i] += v;
    }
  float sum = 0;
  each (i, 2 * AT_ONCE)@+ for (int j = 0; j < WIDTH; j++)@+ sum += a[i][j];
  for (; k < n / 2; k++)@+ sum += x[k] + y[k];
  return n % 2 == 0 ? sum : sum + x[n - 1];
}

@* What is not printed. \label{sec:parts34}
A table is compiled in five files, for the compiler's sake (\cref{sec:bodies}): linear layers, blocks, attention, all heads together, and the small kernels with the table itself. \.{unwoven/kernels/parts.h} says what they know of each other, and \.{kernels.c} which tables this processor can run. \Cref{tab:kernelfiles} has the other files of that folder. Each says at its head what it is for and what must stay true, and beside its lines why they are as they are.

\begin{table}[tbp]
\tabcaption{tab:kernelfiles}{The files of unwoven/kernels that have kernels, and what each is for.}
\footnotesize\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}l@@{}}
\tabhead{file} & \tabhead{what is in it}\\\midrule
\texttt{norms.inc} & norms; rotation of queries and keys\\
\texttt{curves.inc} & activations, embedding, softmax\\
\texttt{segments.inc} & which worker has which rows and heads\\
\texttt{seen.inc}, \texttt{keys.inc} & the walk over positions; keys in panels\\
\texttt{heads\_values.inc}, \texttt{heads\_room.inc} & values of all heads; their room\\
\texttt{by\_type.inc}, \texttt{columns.inc} & single numbers; the last outputs\\
\texttt{blocks.inc}, \texttt{scales.inc} & panels of blocks, workers; scales\\
\texttt{stored\_strips.inc}, \texttt{wide.inc} & strips and rows of stored blocks\\
\texttt{few\_outputs.inc} & a few rows: pieces, groups, folds\\
\texttt{pairs\_calls.inc} & the calls for pairs of bfloat16\\
\texttt{prepared.c} & weights packed once, and found again\\
\texttt{entries.inc} & calls passed on to the other files
\end{tabular*}
\end{table}
