@i types.w
@s vec int
@s ivec int
@s few_signed int
@s each while
@s TARGET inline
@s INLINE inline
@s ALONE inline
@s __m128i int
@s __m256i int
@s __m512 int
@s __m512i int

\chapterquestion{How many bytes can be multiplied at once, and stay exact?}
@** Kernels for blocks of small integers.
\incipit{C}{hapter 10} defines the product of a matrix in blocks with inputs of eight bits, number by number. Here it is computed as fast as a processor can: one instruction multiplies \given{64} bytes and adds the products in fours. Whole numbers are added exactly in any order, so only the multiply--adds in float, one or two a block, keep the order of the definition. Each output has a chain of its own, and a lane of a register follows it.
@^block, of weights@>

The bodies are compiled under each head of \cref{kernels}. They need from it a register of floats, |fused|, |spread| and |widen|. The order is from the innermost function outwards.

@(blocks.inc@>=
@<Registers of whole numbers@>@;
@<Four products in each lane@>@;
@<Round the inputs of a row@>@;
@<Take apart a block that lies across lanes@>@;
@<Multiply a few rows by a strip@>@;
@<Lay blocks across lanes@>@;
@<Multiply all rows by some outputs@>@;
@<Divide the outputs among workers@>@;
@<What the table gets of all this@>@;

@ AVX512-VNNI came later than AVX-512, so there is one more head. It has the functions of AVX-512 that the bodies need, and allows one more set of instructions.
@^VNNI@>

@(vnni.c@>=
#include "kernels/parts.h"
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,"@| \
  "avx512vl,avx512vnni,avx2,fma,f16c")))
#define WIDTH 16
#define VNNI
#include "kernels/lanes.inc"
INLINE vec fused(vec a, vec b, vec c)
{@+ return _mm512_fmadd_ps(a, b, c);@+ }
INLINE vec spread(float x)
{@+ return _mm512_set1_ps(x);@+ }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  (void) type; /* always |WEIGHT_F16| here */
  return _mm512_cvtph_ps(_mm256_loadu_si256((const void *) h));
}
#include "kernels/blocks.inc"
const struct linear_kernels blocks_vnni = @[{ int8_linear, int8_room,@|
  int8_bytes, int8_prepare }@];
#endif

@* Bytes in registers.
An |ivec| has as many whole numbers as a |vec| has floats. Where bits of a float are wanted, they are copied.

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

@ Everything rests on one operation: each lane has four weights and four inputs, a byte each, and the sum of the four products is added to an |int32_t|. The VNNI instruction does that, but takes the weights without sign. The numbers of most types have no sign before an offset is subtracted. Those of Q8\_0 do, and are stored with \given{128} added.

Other processors add in two steps, so three functions share the work: |dot4| adds to what |sums_begin| has made of a first term, and |sums_end| makes whole numbers of it. With VNNI the last two have nothing to do.

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

@ Before VNNI there is an instruction for the sum of \emph{two} products, which it limits to \given{sixteen} bits. Weights up to \given{128} and inputs up to \given{127} come to \given{32,512} at most, below the limit of \given{32,767}. So no offset is added here; a sign is moved from the weight to its input. A second instruction adds neighbours and leaves \given{32} bits.

@<Four products without VNNI@>=
#if WIDTH == 16
INLINE ivec dot4(ivec a, ivec w, ivec x, bool is_signed)
{
  __m512i u = (__m512i) w, v = (__m512i) x;
  if (is_signed) {
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

@ Weights of few bits leave room. With four bits a product is at most $15\cdot127$. A lane has no more than eight sums of two in a block, which come to $8\cdot2\cdot15\cdot127$, or \given{30,480}; that is still below the limit, and nothing can overflow. So they are added in \given{sixteen} bits, with half as many instructions, and made whole once a block. With five bits there is room for four such sums, with six bits for two, with eight for one. In general a product of an integer of $b$ bits with one of seven has at most $b+7$ bits, two of them one more, and $2^{7-b}$ such sums \given{fifteen}, the sixteenth being for the sign.
@^overflow@>

@<How long sums may be short@>=
INLINE int short_sums(enum weight_type type)
{
  int bits = number_types[type].bits;
  return bits < 8 ? 1 << (7 - bits) : 1;
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

@* Inputs.
A row is rounded once, as \cref{model/quantization} defines it, and then multiplied by all matrices of the list. With the bytes of a block goes what each sum must begin with: the negative sum of the bytes, which a weight's offset multiplies. Q6\_K has a scale for each \given{16} numbers, so it needs the sums of the halves.

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

@ A product is limited to \given{127} and becomes 0 if it is no number. Then $2^{23}+2^{22}$ is added, which leaves no place for a fraction: the processor rounds to the nearest whole number, a half to the even one, and the whole number is in the last bits of the sum.

@<Round a register to bytes@>=
INLINE ivec nearest_bytes(vec z)
{
  ivec high = z > 127, low = z < -127, known = z == z;
  ivec bits = as_ints(z) & known;
  bits = pick(as_ints(spread(127)), high, bits);
  bits = pick(as_ints(spread(-127)), low, bits);
  return as_ints(as_floats(bits) + 12582912.0f) - 0x4b400000;
}

@ The largest absolute value is found as whole numbers: without the sign, the bits of floats are in the order of the floats, and a NaN is above infinity.

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
\given{Sixteen} outputs lie side by side, one in each lane. Their blocks are stored so: the first four bytes of all of them, then the next four, and at the end, for types whose blocks are not a multiple of four bytes, the halves that are left over. Nothing is unpacked, so a panel is as large as the blocks were. |int8_words| and |int8_halves| say how many of both there are, and |int8_word_at| in which word a byte of the block is: the words begin after the half, if the scale comes first, as it does except in Q6\_K.

@<Take apart a block that lies across lanes@>=
INLINE size_t int8_words(enum weight_type type)
{@+ return number_types[type].bytes / 4;@+ }
INLINE size_t int8_halves(enum weight_type type)
{@+ return number_types[type].bytes % 4 / 2;@+ }
INLINE size_t int8_skipped(enum weight_type type)
{@+ return number_types[type].d_at == 0 ? 2 * int8_halves(type) : 0;@+ }
INLINE size_t int8_word_at(enum weight_type type, size_t byte)
{@+ return (byte - int8_skipped(type)) / 4;@+ }
INLINE int int8_groups(enum weight_type type)
{@+ return WEIGHT_BLOCK / number_types[type].group;@+ }
@<Four numbers of each lane@>@;
@<A half of each lane@>@;
@<Scale and minimum of each lane@>@;
@<What a sum begins with@>@;

@ Numbers |4*j| to |4*j+3| of the |i|th \given{32} of a block are cut out, in all lanes at once and without their offset. The fifth bits of four neighbours are four neighbouring bits: a multiplication by $2^{4}+2^{11}+2^{18}+2^{25}$, written to base 16 below one bit lower, brings one to each byte.

@<Four numbers of each lane@>=
INLINE ivec fifth_bits(ivec high, size_t j)
{
  ivec bits = high >> (int) (4 * j) & 15;
  return bits * 0x02040810 & 0x10101010;
}
INLINE ivec four_numbers(enum weight_type type, const int32_t *w, size_t i,
  size_t j)
{
  int up = (int) (j / 4 * 4), part = (int) i % 4;
  const ivec low_bits = ints(0x0f0f0f0f);
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
      | (ints_at(w, high + i / 4 * 8 + j) >> part * 2 & 0x03030303) * 16;
  case WEIGHT_F32: case WEIGHT_F16: case WEIGHT_BF16: break;
  }
  return ints(0); /* these have kernels of their own */
}

@ Some scales are halves within a word. The upper bits are dropped by the conversion to \given{sixteen} bits, and what is left is widened as any half is.

@<A half of each lane@>=
INLINE vec low_half(ivec w)
{
  few_halves few = __builtin_convertvector(w, few_halves);
  uint16_t h[WIDTH];
  memcpy(h, &few, sizeof h);
  return widen(h, WEIGHT_F16);
}
INLINE vec high_half(ivec w)
{@+ return low_half(w >> 16);@+ }

@ The scale of unit |u| of a block, and its minimum if there is one, with the sign turned: what it multiplies is the \emph{negative} sum of the inputs. The words |w| begin with the scales. A unit is a group of numbers with one scale: \given{32}, in Q6\_K \given{16}. Four six-bit numbers of Q4\_K are in a word each, one a byte, and the last four are pieced together as \cref{model/quantization} shows, four at a time.

@<Scale and minimum of each lane@>=
INLINE vec packed_scales(const int32_t *w, size_t u, vec *min)
{
  int t = 8 * ((int) u % 4);
  ivec a = ints_at(w, 1), b = ints_at(w, 2), last = ints_at(w, 3);
  if (u < 4) a &= 0x3f3f3f3f, b &= 0x3f3f3f3f;
  else {
    a = (last & 0x0f0f0f0f) | (a >> 2 & 0x30303030);
    b = (last >> 4 & 0x0f0f0f0f) | (b >> 2 & 0x30303030);
  }
  *min = high_half(ints_at(w, 0)) * to_floats(b >> t & 63);
  return low_half(ints_at(w, 0)) * to_floats(a >> t & 63);
}
INLINE vec unit_scales(enum weight_type type, const int32_t *w,
  const uint16_t *half, size_t u, vec *min)
{
  ivec byte = ints_at(w, u / 4) >> 8 * ((int) u % 4) & 255;
  switch (number_types[type].scales) {
  case SCALE_ALONE:
    if (!number_types[type].has_min) break;
    *min = -high_half(ints_at(w, 0));
    return low_half(ints_at(w, 0));
  case SCALES_PACKED: return packed_scales(w, u, min);
  case SCALES_BYTES:
    return widen(half, WEIGHT_F16) * to_floats((byte ^ 128) - 128);
  }
  return widen(half, WEIGHT_F16);
}

@ If all weights of a block are too large by $c$, the sum of the products is too large by $c$ times the sum of the inputs. So the sum begins with that number less, and nothing has to be subtracted from any weight.

@<What a sum begins with@>=
INLINE ivec sum_begins(enum weight_type type, const struct int8_input *x,
  int half)
{
  const struct number_type *t = &number_types[type];
  int32_t minus = int8_groups(type) > 1 ? x->minus_half[half] : x->minus;
  return ints(minus * (t->bits == 8 ? INT8_OFFSET : t->offset));
}

@* Tiles. \label{sec:int8tile}
A \emph{strip} is two registers of outputs. A tile multiplies it with a few rows, block after block, and each row has a sum in each of the two registers. With \given{32} registers six rows fit: twelve sums of whole numbers and twelve of floats, and the compiler may keep some of the latter in memory, since they are wanted once a block. With \given{sixteen} registers three rows fit. Plain C has one row, because a compiler without wide registers gains nothing from more.
@^register@>

@<Multiply a few rows by a strip@>=
enum { SIDES = 2, STRIP = SIDES * WIDTH,@|
  INT8_ROWS = WIDTH * 3 / 8 };
struct int8_strip { const int32_t *word[SIDES]; const uint16_t *half[SIDES]; };
@<Sums of whole numbers over a unit@>@;
@<Add a unit to the sums in float@>@;
@<Multiply a few rows by the blocks of a strip@>@;

@ Here is where the time goes. Four bytes of a row are spread to all lanes and multiplied with four weights of \given{32} outputs. The words are taken in an order in which both nibbles of one are used together. A type with two groups in a unit, as Q6\_K, is done in halves.

@<Sums of whole numbers over a unit@>=
INLINE void whole_sums(int rows, enum weight_type type,
  const struct int8_strip *s, size_t i, int h, const struct int8_input *x,
  ivec a[INT8_ROWS][SIDES])
{
  int groups = int8_groups(type);
  bool whole = number_types[type].bits == 8;
  ivec w[SIDES], some[INT8_ROWS][SIDES];
  each (r, rows) each (p, SIDES) {
    a[r][p] = sum_begins(type, x + r, h);
    some[r][p] = sums_begin(a[r][p]);
  }
  each (k, 8) {
    int j = groups > 1 ? k : k / 2 + k % 2 * 4;
    if (j * groups / 8 != h) continue;
    each (p, SIDES) w[p] = four_numbers(type, s->word[p], i, (size_t) j);
    each (r, rows) {
      int32_t word;
      memcpy(&word, x[r].q + 4 * j, sizeof word);
      each (p, SIDES)
        some[r][p] = dot4(some[r][p], w[p], ints(word), whole);
    }
    if ((k + 1) % short_sums(type) == 0) each (r, rows) each (p, SIDES) {
      a[r][p] = sums_end(a[r][p], some[r][p]);
      some[r][p] = sums_begin(a[r][p]);
    }
  }
}

@ One multiply--add for the products of the unit, and one for its minimum, as in the definition: the products of scales are rounded before.

@<Add a unit to the sums in float@>=
INLINE vec add_products(enum weight_type type, ivec a, vec d, vec min,
  const struct int8_input *x, vec sum)
{
  sum = fused(to_floats(a), d * x->scale, sum);
  if (number_types[type].has_min)
    sum = fused(to_floats(ints(x->minus)), min * x->scale, sum);
  return sum;
}

@ In a tile this is done for all rows of a strip, whose scales begin at word |at|.

@<Add a unit to the sums in float@>=
INLINE void add_unit(int rows, enum weight_type type,
  const struct int8_strip *s, size_t at, size_t u, const struct int8_input *x,
  ivec a[INT8_ROWS][SIDES], vec sum[INT8_ROWS][SIDES])
{
  each (p, SIDES) {
    vec min = @[{ 0 }@];
    vec d = unit_scales(type, s->word[p] + at * WIDTH, s->half[p], u, &min);
    each (r, rows)
      sum[r][p] = add_products(type, a[r][p], d, min, x + r, sum[r][p]);
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
    for (size_t i = 0; i < units; i++, x += stride)
      each (h, groups) {
        ivec a[INT8_ROWS][SIDES];
        size_t u = (size_t) groups * i + (size_t) h;
        whole_sums(rows, type, &s, i, h, x, a);
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

@* Panels. \label{sec:int8panels}
A panel is filled block after block. Lanes beyond the last output get zeros. With AVX2 and AVX-\given{512} the blocks of as many outputs as a register has lanes are turned in registers, four words at a time; elsewhere the words are copied one by one.

@<Lay blocks across lanes@>=
@<Turn rows of words@>@;
@<The words of one block of each output@>@;
INLINE void int8_fill(enum weight_type type, const unsigned char *w,
  size_t stride, size_t outs, size_t blocks, int32_t *word, uint16_t *half,
  size_t ahead)
{
  size_t size = number_types[type].bytes, halves = int8_halves(type);
  size_t half_at = number_types[type].d_at;
  for (size_t b = 0; b < blocks; b++, w += size) {
    uintptr_t next = (uintptr_t) w + ahead + b * size * (WIDTH - 1);
    if (ahead > 0)
      for (size_t z = 0; z < size * WIDTH; z += 64)
        __builtin_prefetch((const void *) (next + z), 0, HINT);
    fill_words(type, w, stride, outs, word);
    word += int8_words(type) * WIDTH;
    if (halves == 0) continue;
    if (outs == WIDTH) each (o, WIDTH)
      memcpy(half + o, w + (size_t) o * stride + half_at, sizeof *half);
    else {
      for (size_t o = 0; o < WIDTH; o++) half[o] = 0;
      for (size_t o = 0; o < outs; o++)
        memcpy(half + o, w + o * stride + half_at, sizeof *half);
    }
    half += WIDTH;
  }
}

@ The offset of signed bytes is added to each of them by turning its highest bit over.

@<The words of one block of each output@>=
INLINE void fill_words(enum weight_type type, const unsigned char *w,
  size_t stride, size_t outs, int32_t *word)
{
  size_t n = int8_words(type), k = 0;
  bool flip = number_types[type].bits == 8 && INT8_OFFSET != 0;
  w += int8_skipped(type);
#ifdef UNPACK
  if (outs == WIDTH) k = turn_words(w, stride, n, word);
#endif
  if (k < n && outs < WIDTH) memset(word, 0, n * WIDTH * sizeof *word);
  for (; k < n; k++)
    for (size_t o = 0; o < outs; o++)
      memcpy(word + k * WIDTH + o, w + o * stride + 4 * k, sizeof *word);
  for (k = 0; flip && k < n; k++) {
    ivec v = ints_at(word, k) ^ (int32_t) 0x80808080u;
    memcpy(word + k * WIDTH, &v, sizeof v);
  }
}

@ Each \given{128} bits of a register get four words of one output; two steps of unpacking then leave in each of four registers one word of all outputs. The last group of words may overlap the one before.

@<Turn rows of words@>=
@<Words of some outputs in one register@>@;
#ifdef UNPACK
INLINE size_t turn_words(const unsigned char *w, size_t stride, size_t n,
  int32_t *word)
{
  for (size_t k = 0; k < n; k += 4) {
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

@ Output $i$ is followed by outputs $i+4$, $i+8$ and $i+12$. |FIRST_WORDS| spreads the first word of each \given{128} bits over all four, and |EVERYWHERE| puts \given{sixteen} bytes into each of them.

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

@* Few rows, and blocks as they lie in the file. \label{sec:storedrow}
To fill a panel takes longer than to use it once, and with a few rows it is used only a few times. So for them the lanes of a register are not all different outputs: each \given{128} bits have \given{sixteen} numbers of one block, as they lie in the file, and a register as many outputs as it has such parts. Four registers hold a number of each output of a strip. What the products leave, four whole sums for each output, is turned and added up as the words of a panel are turned. Whole numbers are added exactly, so the order is free; from there on each output has a lane, and its chain in float is the same as before. A last strip that is not full keeps its panels.

@(stored.inc@>=
#ifdef UNPACK
enum { STORED_ROWS = WIDTH / 4 };
@<Sixteen numbers of some outputs@>@;
@<The whole sums of some outputs@>@;
@<Scales and minima of a block@>@;
@<A few rows by a strip of stored blocks@>@;
#endif

@ Half |h| of a unit, \given{sixteen} numbers a byte each, of outputs that are |away| bytes apart. Where nibbles are stored, the lower ones of \given{16} bytes are the first half of a block. Neighbouring units of a large block share bytes: in Q4\_K the lower nibbles of \given{32} bytes are one unit and the higher ones the next; in Q6\_K they are the lower four bits of units that are two apart, and the higher two bits of four units share \given{32} bytes. Such units are done together; |i| is the first of them and |z| counts from there, so that the compiler sees that it has their bytes already.

@<Sixteen numbers of some outputs@>=
@<Sixteen fifth bits@>@;
INLINE ivec sixteen_numbers(enum weight_type type, const unsigned char *p,
  size_t away, size_t i, int z, int h)
{
  const ivec low_bits = ints(0x0f0f0f0f);
  size_t at = 16 * (size_t) h, more = 32 * (size_t) (z % 2);
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
      | (HIGH(8 * i + at) >> 2 * z & 0x03030303) << 4;
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

@ The halves of a unit are added, unless each has a scale, as in Q6\_K. In Q8\_0 without VNNI, two products may fill \given{sixteen} bits, and are made whole at once.

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

@ Two registers become one in each step, until each output has one lane. Without VNNI the sums stay short as long as \cref{sec:blocklanes}'s limit allows, so that fewer registers have to be made whole; |n| is how many products a short sum has already, and |most| how many it may have.

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
  each (o, 4) if (most > 1 && 2 * n > most) a[o] = sums_end(ints(0), a[o]);
  each (o, 2) {
    a[o] = JOIN(epi32, a[2 * o], a[2 * o + 1], 2 * n <= most);
    if (2 * n <= most && 4 * n > most) a[o] = sums_end(ints(0), a[o]);
  }
  a[0] = JOIN(epi64, a[0], a[1], 4 * n <= most);
  return 4 * n <= most ? sums_end(ints(0), a[0]) : a[0];
}

@ What stands before or after the numbers is laid across lanes. Most blocks begin with their scale, in the lower half of the first word; the scales of Q6\_K are words near the end, with a half behind them. A block of Q4\_0 has so few bytes that turning four words of it, for a scale of two bytes, was a third of its work in vectors: with AVX-512 its scales are loaded one by one and put together in ordinary registers, which have nothing else to do.

@<Scales and minima of a block@>=
#if WIDTH == 16
INLINE vec loose_scales(const unsigned char *p, size_t stride)
{
  uint64_t four_scales[4];
  uint16_t half[WIDTH], one;
  each (o, 4) {
    four_scales[o] = 0;
    each (i, 4) {
      memcpy(&one, p + (size_t) (4 * o + i) * stride, sizeof one);
      four_scales[o] |= (uint64_t) one << 16 * i;
    }
  }
  memcpy(half, four_scales, sizeof half);
  return widen(half, WEIGHT_F16);
}
#endif
INLINE void stored_scales(enum weight_type type, const unsigned char *p,
  size_t stride, vec *scale, vec *min)
{
  int32_t word[4 * WIDTH];
  uint16_t half[WIDTH];
  const struct number_type *t = &number_types[type];
  int units = t->block / t->group;
#if WIDTH == 16
  if (LOOSE_SCALES && type == WEIGHT_Q4_0) {
    scale[0] = loose_scales(p, stride);
    return;
  }
#endif
  turn_words(p + t->scales_at, stride, 4, word);
  few_halves low = __builtin_convertvector(ints_at(word, 0), few_halves);
  memcpy(half, &low, sizeof half);
  if (t->d_at > 0)
    each (o, WIDTH) memcpy(half + o, p + (size_t) o * stride + t->d_at, 2);
  each (u, units)
    scale[u] = unit_scales(type, word, half, (size_t) u, min + u);
}

@ A strip is one register of outputs, so that the addresses of its rows stay in registers. |n| blocks are added to the sums of |rows| rows, whose inputs are |step| apart from one block to the next. Memory is fetched ahead, from |next| on, in the order in which it lies, as many bytes with each unit as are used up meanwhile; |next| is one and a half strips away. To ask for rows of a strip side by side, as they will be used, is slower: memory is read fastest in one line. And the lines must go to the second-level cache, not to the first (\cref{sec:tuning}).
@^prefetch@>

@<A few rows by a strip of stored blocks@>=
INLINE void stored_strip(int rows, enum weight_type type, const unsigned char *row,
  size_t stride, size_t n, const struct int8_input *x, size_t step, uintptr_t next,
  vec *sum)
{
  size_t size = number_types[type].bytes;
  size_t units = number_types[type].block / WEIGHT_BLOCK, bytes = size * WIDTH / units;
  int groups = int8_groups(type), steps = number_types[type].span / WEIGHT_BLOCK;
  vec scale[16], min[16];
  ivec a[2][STORED_ROWS];
  for (size_t c = 0; c < n; c++, row += size) {
    stored_scales(type, row, stride, scale, min);
    for (size_t i = 0; i < units; i += (size_t) steps) each (z, steps) {
      each (k, (int) (bytes + 63) / 64)
        __builtin_prefetch((const void *) (next + 64 * (size_t) k), 0, HINT);
      next += bytes;
      stored_sums(rows, type, row, stride, i, z, x, a);
      each (h, groups) {
        size_t u = (i + (size_t) z) * (size_t) groups + (size_t) h;
        each (r, rows)
          sum[r] = add_products(type, a[h][r], scale[u], min[u], x + r, sum[r]);
      }
      x += step;
    }
  }
  TALLY("linear", 0, (size_t) rows * WIDTH * n * units * WEIGHT_BLOCK);
}

@ |begin| and |end| are blocks, and |x| has the inputs from |begin| on. Blocks before |begin| have left their sums in |y|.

@<A few rows by a strip of stored blocks@>=
INLINE void stored_rows(int rows, enum weight_type type, const struct outputs_job *job,
  const unsigned char *row, const struct int8_input *x, size_t step, float *y)
{
  size_t stride = weight_row_bytes(type, job->w->in), out = job->w->out;
  vec sum[STORED_ROWS];
  each (r, rows) {
    sum[r] = spread(0);
    if (job->begin > 0) memcpy(&sum[r], y + (size_t) r * out, sizeof (vec));
  }
  stored_strip(rows, type, row, stride, job->end - job->begin, x, step,
    (uintptr_t) row + WIDTH * stride * STRIPS_AHEAD / 2, sum);
  each (r, rows) memcpy(y + (size_t) r * out, &sum[r], sizeof (vec));
}

@ All rows pass over a strip before the next one is touched, as many at once as there are registers for. Their inputs lie in groups of |INT8_ROWS|.

@<A few rows by a strip of stored blocks@>=
INLINE void stored_strips(enum weight_type type, const struct outputs_job *job,
  size_t from, size_t to, float *y)
{
  size_t size = number_types[type].bytes, stride = weight_row_bytes(type, job->w->in);
  size_t units = (job->end - job->begin) * (number_types[type].block / WEIGHT_BLOCK);
  const unsigned char *row = job->w->weight.data;
  row += from * stride + job->begin * size;
  for (; to - from >= WIDTH; from += WIDTH, row += WIDTH * stride)
    for (size_t g = 0, here, r; g < job->rows; g += here) {
      here = job->rows - g < INT8_ROWS ? job->rows - g : INT8_ROWS, r = 0;
#define ROWS(n) \
      @[for (; here - r >= n; r += n) \
        stored_rows(n, type, job, row, job->x + g * units + r, here, \
          y + (g + r) * job->w->out + from)@]
#if WIDTH == 16
      ROWS(4);
      ROWS(3);
#endif
      ROWS(2);
      ROWS(1);
#undef ROWS
    }
}

@ What is left of the outputs is returned.

@<A few rows by a strip of stored blocks@>=
typedef void stored_of_type(const struct outputs_job *job, size_t from,
  size_t to, float *y);
static ALONE void strips_q8_0(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ stored_strips(WEIGHT_Q8_0, job, from, to, y);@+ }
static ALONE void strips_q4_0(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ stored_strips(WEIGHT_Q4_0, job, from, to, y);@+ }
static ALONE void strips_q4_1(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ stored_strips(WEIGHT_Q4_1, job, from, to, y);@+ }
static ALONE void strips_q5_0(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ stored_strips(WEIGHT_Q5_0, job, from, to, y);@+ }
static ALONE void strips_q5_1(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ stored_strips(WEIGHT_Q5_1, job, from, to, y);@+ }
static ALONE void strips_q4_k(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ stored_strips(WEIGHT_Q4_K, job, from, to, y);@+ }
static ALONE void strips_q6_k(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ stored_strips(WEIGHT_Q6_K, job, from, to, y);@+ }
static stored_of_type *const strips_of[] = @[{
  [WEIGHT_Q8_0] = strips_q8_0,@|
  [WEIGHT_Q4_0] = strips_q4_0,@|
  [WEIGHT_Q4_1] = strips_q4_1,@|
  [WEIGHT_Q5_0] = strips_q5_0,@|
  [WEIGHT_Q5_1] = strips_q5_1,@|
  [WEIGHT_Q4_K] = strips_q4_k,@|
  [WEIGHT_Q6_K] = strips_q6_k }@];
TARGET static size_t stored_outputs(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{
  strips_of[job->w->weight.type](job, from, to, y);
  return to - (to - from) % WIDTH;
}

@* All rows.
Each function so far has a type that the compiler knows. Here it is looked at. If the matrix was prepared, its panels are there; if not, a panel of a few blocks is filled on the stack and used for at most |INT8_MANY| rows; up to |STORED_MOST| rows do without (\cref{sec:storedrow}).

@<Multiply all rows by some outputs@>=
static size_t block_panel_bytes(const struct matrix *w)
{
  size_t bytes = weight_row_bytes(w->weight.type, w->in) * WIDTH;
  return (bytes + 63) / 64 * 64;
}
#define EACH_BLOCK_TYPE(CALL) \
  case WEIGHT_Q8_0: CALL(WEIGHT_Q8_0); break; \
  case WEIGHT_Q4_0: CALL(WEIGHT_Q4_0); break; \
  case WEIGHT_Q4_1: CALL(WEIGHT_Q4_1); break; \
  case WEIGHT_Q5_0: CALL(WEIGHT_Q5_0); break; \
  case WEIGHT_Q5_1: CALL(WEIGHT_Q5_1); break; \
  case WEIGHT_Q4_K: CALL(WEIGHT_Q4_K); break; \
  case WEIGHT_Q6_K: CALL(WEIGHT_Q6_K); break; \
  case WEIGHT_F32: case WEIGHT_F16: case WEIGHT_BF16: break
@<Fill a panel of some blocks@>@;
@<Some rows by the blocks of a strip@>@;
@<Find or fill the panels of a strip@>@;
@<What is multiplied with some outputs@>@;
#include "kernels/stored.inc"
@<Some inputs of all rows by some outputs@>@;

@ Memory is fetched ahead for a strip that will come next, in the order in which it lies there.

@<Fill a panel of some blocks@>=
TARGET static void fill_panel(const struct matrix *w, size_t o, size_t block,
  size_t blocks, void *to, bool is_ahead)
{
  enum weight_type type = w->weight.type;
  size_t stride = weight_row_bytes(type, w->in);
  size_t skip = block * number_types[type].bytes;
  size_t outs = w->out - o < WIDTH ? w->out - o : WIDTH;
  const unsigned char *from = w->weight.data;
  from += o * stride + skip;
  int32_t *word = to;
  uint16_t *half = (void *) (word + int8_words(type) * blocks * WIDTH);
  size_t ahead = is_ahead ? STRIP * stride + skip * (WIDTH - 1) : 0;
#define FILL(T) \
  int8_fill(T, from, stride, outs, blocks, word, half, ahead)
  switch (type) {
  EACH_BLOCK_TYPE(FILL);
  }
#undef FILL
}

@ As many rows as fit go together, and the few that are left over in smaller tiles.

@<Some rows by the blocks of a strip@>=
INLINE void int8_tiles(enum weight_type type, const struct int8_strip *s,
  size_t blocks, const struct int8_input *x, size_t rows, bool first, float *y,
  size_t ld, size_t outs)
{
  size_t r = 0;
#define TILES(n) \
  @[for (; rows - r >= n; r += n) \
    int8_tile(n, type, *s, blocks, x + r, rows, first, y + r * ld, ld, outs)@]
#if WIDTH == 16
  TILES(6);
  TILES(4);
  TILES(2);
#elif WIDTH == 8
  TILES(3);
#endif
  TILES(1);
#undef TILES
}

@ The second panel of the last strip may not exist; then the first takes its place, and what comes of it is not stored.

@<Find or fill the panels of a strip@>=
INLINE struct int8_strip find_strip(const struct matrix *w, const void *panels,
  size_t o, size_t to, size_t block, size_t blocks, char (*fresh)[8704])
{
  enum weight_type type = w->weight.type;
  struct int8_strip s;
  for (size_t p = 0; p < SIDES; p++) {
    size_t at = o + p * WIDTH < to ? o + p * WIDTH : o, all = blocks, skip = 0;
    const char *panel = fresh[p];
    if (panels == NULL) fill_panel(w, at, block, blocks, fresh[p], true);
    else {
      panel = (const char *) panels + at / WIDTH * block_panel_bytes(w);
      all = w->in / number_types[type].block, skip = block;
    }
    const int32_t *word = (const void *) panel;
    const uint16_t *half = (const void *) (word + all * int8_words(type) * WIDTH);
    s.word[p] = word + skip * int8_words(type) * WIDTH;
    s.half[p] = half + skip * int8_halves(type) * WIDTH;
  }
  return s;
}

@ Outputs are multiplied with the inputs |x| of some rows, those of the blocks from |begin| up to |end|.

@<What is multiplied with some outputs@>=
struct outputs_job { const struct matrix *w; const void *panels;
  const struct int8_input *x; size_t rows, begin, end; };

@ A strip of many rows is passed a few blocks at a time, so that these stay in the nearest cache until all rows have used them; a strip of few rows in one piece.

@<Some inputs of all rows by some outputs@>=
INLINE void int8_strips(enum weight_type type, const struct outputs_job *job,
  size_t from, size_t to, float *y)
{
  const struct matrix *w = job->w;
  const struct int8_input *x = job->x;
  size_t rows = job->rows, begin = job->begin, end = job->end;
  size_t units = number_types[type].block / WEIGHT_BLOCK, n;
  size_t most = (job->panels != NULL ? INT8_READY : INT8_FRESH) / units;
  _Alignas(64) char fresh[SIDES][8704]; /* |INT8_FRESH| of the largest units */
  if (job->panels != NULL && rows <= INT8_ROWS) most = end - begin;
  for (size_t r0 = 0; r0 < rows; r0 += INT8_MANY)
    for (size_t o = from; o < to; o += STRIP)
      for (size_t c = begin; c < end; c += n) {
        n = end - c < most ? end - c : most;
        size_t outs = to - o < STRIP ? to - o : STRIP, here;
        struct int8_strip s = find_strip(w, job->panels, o, to, c, n, fresh);
        for (size_t r = r0; r < rows && r < r0 + INT8_MANY; r += here) {
          here = rows - r < INT8_ROWS ? rows - r : INT8_ROWS;
          const struct int8_input *in = x + r * (end - begin) * units
            + (c - begin) * units * here;
          float *out = y + r * w->out + o;
          int8_tiles(type, &s, n, in, here, c == 0, out, w->out, outs);
        }
      }
}

@ Each type has a function of its own, which is not inlined: a compiler that has all of them in one takes more than twice the memory.

@<Some inputs of all rows by some outputs@>=
typedef void outputs_of_type(const struct outputs_job *job, size_t from,
  size_t to, float *y);
static ALONE void outputs_q8_0(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ int8_strips(WEIGHT_Q8_0, job, from, to, y);@+ }
static ALONE void outputs_q4_0(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ int8_strips(WEIGHT_Q4_0, job, from, to, y);@+ }
static ALONE void outputs_q4_1(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ int8_strips(WEIGHT_Q4_1, job, from, to, y);@+ }
static ALONE void outputs_q5_0(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ int8_strips(WEIGHT_Q5_0, job, from, to, y);@+ }
static ALONE void outputs_q5_1(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ int8_strips(WEIGHT_Q5_1, job, from, to, y);@+ }
static ALONE void outputs_q4_k(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ int8_strips(WEIGHT_Q4_K, job, from, to, y);@+ }
static ALONE void outputs_q6_k(const struct outputs_job *job, size_t from,
  size_t to, float *y)
{@+ int8_strips(WEIGHT_Q6_K, job, from, to, y);@+ }
static outputs_of_type *const outputs_of[] = @[{
  [WEIGHT_Q8_0] = outputs_q8_0,@|
  [WEIGHT_Q4_0] = outputs_q4_0,@|
  [WEIGHT_Q4_1] = outputs_q4_1,@|
  [WEIGHT_Q5_0] = outputs_q5_0,@|
  [WEIGHT_Q5_1] = outputs_q5_1,@|
  [WEIGHT_Q4_K] = outputs_q4_k,@|
  [WEIGHT_Q6_K] = outputs_q6_k }@];

@ A few rows take blocks as they lie, as far as whole registers go.

@<Some inputs of all rows by some outputs@>=
TARGET static void int8_outputs(const struct matrix *w, const void *panels,
  const struct int8_input *x, size_t rows, size_t begin, size_t end,
  size_t from, size_t to, float *y)
{
  struct outputs_job job = @[{ w, panels, x, rows, begin, end }@];
#ifdef UNPACK
  if (panels == NULL && rows <= STORED_MOST)
    from = stored_outputs(&job, from, to, y);
#endif
  outputs_of[w->weight.type](&job, from, to, y);
}

@* The work divided.
The rounded inputs of all rows are in the workspace of the first worker, where the others read them. First each worker rounds some of the rows, then each multiplies all rows by some of the outputs. Without a workspace each worker rounds for itself what fits on its stack, a few rows at a time.

@<Divide the outputs among workers@>=
struct int8_job { const struct engine *e; const struct matrix *list; size_t n;
  const float *x; size_t rows; float *const *y; struct int8_input *shared; };
@<Round some inputs of a group of rows@>@;
@<One worker's share of the rounding@>@;
@<Multiply without a workspace@>@;
@<One worker's share of the outputs@>@;
@<Multiply inputs of eight bits@>@;

@ Up to |INT8_ROWS| rows from |r| on are a group, stored side by side.

@<Round some inputs of a group of rows@>=
INLINE void round_group(const struct int8_job *job, size_t r, size_t here,
  size_t from, size_t to, struct int8_input *q)
{
  size_t in = job->list->in;
  for (size_t i = 0; i < here; i++)
    for (size_t k = from; k < to; k += WEIGHT_BLOCK)
      round_block(job->x + (r + i) * in + k,
        q + (k - from) / WEIGHT_BLOCK * here + i);
}

@ No group is divided.

@<One worker's share of the rounding@>=
TARGET static void int8_round_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct int8_job *job = ctx;
  size_t in = job->list->in, rows = job->rows;
  size_t groups = (rows + INT8_ROWS - 1) / INT8_ROWS;
  size_t end = groups * (worker + 1) / workers;
  for (size_t g = groups * worker / workers; g < end; g++) {
    size_t r = g * INT8_ROWS;
    size_t here = rows - r < INT8_ROWS ? rows - r : INT8_ROWS;
    round_group(job, r, here, 0, in, job->shared + r * (in / WEIGHT_BLOCK));
  }
}

@ The sums of a row can be left in |y| between two pieces of its inputs, so a piece of any size will do.

@<Multiply without a workspace@>=
TARGET static void int8_unshared(const struct int8_job *job,
  const struct matrix *w, const void *panels, size_t from, size_t to, float *y)
{
  struct int8_input q[1024];
  size_t block = number_types[w->weight.type].block, rows = job->rows, here;
  for (size_t r = 0; r < rows; r += here) {
    here = rows - r < INT8_ROWS ? rows - r : INT8_ROWS;
    size_t most = sizeof q / sizeof *q / here * WEIGHT_BLOCK / 256 * 256, n;
    for (size_t k = 0; k < w->in; k += n) {
      n = w->in - k < most ? w->in - k : most;
      round_group(job, r, here, k, k + n, q);
      int8_outputs(w, panels, q, here, k / block, (k + n) / block, from, to,
        y + r * w->out);
    }
  }
}

@ Shares are whole strips. The bias is added last, by the worker that has the output.

@<One worker's share of the outputs@>=
TARGET static void int8_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct int8_job *job = ctx;
  TALLY("linear int8 part", worker, 1);
  for (size_t m = 0; m < job->n; m++) {
    const struct matrix *w = &job->list[m];
    size_t strips = (w->out + STRIP - 1) / STRIP;
    size_t from = strips * worker / workers * STRIP;
    size_t to = strips * (worker + 1) / workers * STRIP;
    if (to > w->out) to = w->out;
    const void *panels = prepared_find(job->e, w);
    float *y = job->y[m];
    if (job->shared == NULL) int8_unshared(job, w, panels, from, to, y);
    else int8_outputs(w, panels, job->shared, job->rows, 0,
      w->in / number_types[w->weight.type].block, from, to, y);
    for (size_t r = 0; r < job->rows && w->bias.data != NULL; r++)
      for (size_t o = from; o < to; o++)
        y[r * w->out + o] += tensor_number(w->bias, o);
  }
}

@ One row is rounded by the thread that calls, since that takes less time than to wake another thread.

@<Multiply inputs of eight bits@>=
static void int8_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  if (n == 0) return;
  size_t work = 0, inputs = rows * list->in;
  struct int8_job job = @[{ e, list, n, x, rows, y, NULL }@];
  job.shared = pool_workspace(e->pool, 0,
    inputs / WEIGHT_BLOCK * sizeof *job.shared);
  for (size_t m = 0; m < n; m++) work += list[m].out * inputs;
  if (job.shared != NULL)
    pool_run(inputs >= WORTH_DIVIDING ? e->pool : NULL, int8_round_part, &job);
  pool_share(work >= WORTH_DIVIDING ? e->pool : NULL, int8_part, &job);
}

@* What a table has.
All panels of a matrix follow each other. A panel is as large as the blocks of \given{sixteen} outputs, up to \given{64} bytes.

@<What the table gets of all this@>=
static void int8_prepare(const struct matrix *w, enum activations format,
  void *to)
{
  (void) format;
  size_t blocks = w->in / number_types[w->weight.type].block;
  for (size_t o = 0; o < w->out; o += WIDTH)
    fill_panel(w, o, 0, blocks, (char *) to + o / WIDTH * block_panel_bytes(w), false);
}

@ The workspace has the rounded inputs of the rows; only matrices in blocks want it.

@<What the table gets of all this@>=
static size_t int8_bytes(const struct matrix *w, enum activations format)
{
  (void) format;
  return (w->out + WIDTH - 1) / WIDTH * block_panel_bytes(w);
}
static size_t int8_room(const struct matrix *list, size_t n, size_t rows)
{
  size_t most = 0;
  for (size_t m = 0; m < n; m++) {
    if ((WEIGHTS_IN_BLOCKS >> list[m].weight.type & 1) == 0) continue;
    size_t bytes = rows * (list[m].in / WEIGHT_BLOCK)
      * sizeof (struct int8_input);
    if (bytes > most) most = bytes;
  }
  return most;
}
