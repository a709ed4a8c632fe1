/* kernels.cu -- All kernels of a device, for nvcc and for a C compiler.
   made from chapters/14-cuda.w; change it there

   It is one text for both, because the host must run what the device runs. Every
   kernel adds in the order of the plain kernels, so it gives their bits; but for
   those that use a tensor core. The compiler must not contract a product and a sum:
   -fmad=false. The order of the included files is that of use. */

#ifdef __CUDACC__
#define INCIPIT_CUDA
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include "functions/numbers.c"
#include <stdio.h>
#else
#include "functions/numbers.h"
#endif
#include "cuda/machine.inc"
#include "cuda/reading.inc"

/* <The kernels of linear layers> */

/* <Sizes of tiles> */
enum { TILE = 32, DEPTH = 32, TILE_STRIDE = 34, MANY_THREADS = 256 };

enum { SECTION = 512, HALF_ROWS = 16, HALF_OUTPUTS = 8, FRAGMENTS = 8 };

enum { X_ROWS = 128, W_ROWS = 64, HALF_STRIDE = 5 };

enum { ATTEND_THREADS = 256, QUERIES = 16 };

/* <The kernel that adds> */
#define ELEMENTS_OF(i, n) \
  (size_t i = (size_t) at.x * at.threads + t; i < n; i += (size_t) WIDEST * at.threads)
KERNEL void add_rows(GRID const struct add_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for ELEMENTS_OF(i, a.n) a.y[i] += a.x[i];
}

/* <Which matrix, which row, and where a sum goes> */
INLINE const struct matrix_part *part_of(const struct linear_args *a, unsigned *x)
{
  uint32_t i = 0;
  while (i + 1 < a->n && *x >= a->of[i + 1].first) i++;
  *x -= a->of[i].first;
  return &a->of[i];
}

INLINE uint32_t row_within(const struct linear_args *a, uint32_t r)
{ return r < a->rows ? r : a->rows - 1; }

INLINE void put_output(const struct linear_args *a, const struct matrix_part *m, uint32_t r,
  unsigned o, float sum)
{
  if (r >= a->rows || o >= m->out) return;
  if (m->bias.data != NULL) sum += number_at(&m->bias, 0, o);
  m->y[(size_t) r * m->out + o] = sum;
}

/* <The lanes of a thread> */
enum { AHEAD = 32 };
INLINE void fetch_steps(const struct linear_args *a, const struct matrix_part *m, int type,
  uint32_t ahead, unsigned o, uint32_t k, float *w)
{
  uint32_t first = k + 1 < a->in ? k : 0;
  o = o < m->out ? o : 0;
  UNROLL(32)
  for (uint32_t i = 0; i < ahead; i++)
    two_at(&m->weight, type, o, k + 16 * i + 1 < a->in ? k + 16 * i : first, w + 2 * i);
}

INLINE void add_steps(const struct linear_args *a, int rows, uint32_t ahead, uint32_t k, bool whole,
  uint32_t from, const float *w, float *lane)
{
  UNROLL(32)
  for (uint32_t i = 0; i < ahead; i++) {
    /* not filled up with zeros: to add a product with 0 could turn -0 into 0 */
    if (!whole && k + 16 * i + 1 >= a->in) continue;
    UNROLL(8)
    for (int r = 0; r < rows; r++) {
      const float *x = a->x + (size_t) row_within(a, from + (uint32_t) r) * a->in + k + 16 * i;
      lane[2 * r] = fmaf(x[0], w[2 * i], lane[2 * r]);
      lane[2 * r + 1] = fmaf(x[1], w[2 * i + 1], lane[2 * r + 1]);
    }
  }
}

INLINE void add_last(const struct linear_args *a, const struct matrix_part *m, int rows,
  unsigned o, unsigned j, uint32_t from, float *lane)
{
  if (o >= m->out || a->in % 2 == 0 || (a->in - 1) % 16 != 2 * j) return;
  for (int r = 0; r < rows; r++)
    lane[2 * r] = fmaf(a->x[(size_t) row_within(a, from + (uint32_t) r) * a->in
      + a->in - 1], number_at(&m->weight, o, a->in - 1), lane[2 * r]);
}

/* <Few rows by a matrix> */
enum { FEW_THREADS = 128, FEW_OUTPUTS = FEW_THREADS / 8, FEW_ROWS = 8 };
INLINE void few_rows(const struct linear_args *a, struct block_place at, int type, int rows,
  uint32_t ahead)
{
  const struct matrix_part *m = part_of(a, &at.x);
  uint32_t from = at.y * (uint32_t) rows;
  PRIVATE(float, lane, 2 * FEW_ROWS);
  PRIVATE(float, other, 2 * FEW_ROWS);
  PRIVATE(float, w, 2 * AHEAD);
  EACH_LANE(t)
    for (int i = 0; i < 2 * rows; i++) MINE(lane)[i] = 0;
  for (uint32_t k0 = 0; k0 < a->in; k0 += 16 * ahead) {
    /* a phase of its own, or the compiler moves the loads back to their
       multiplications */
    EACH_LANE(t)
      fetch_steps(a, m, type, ahead, at.x * FEW_OUTPUTS + t / 8, k0 + t % 8 * 2, MINE(w));
    EACH_LANE(t)
      if (k0 + 16 * ahead <= a->in)
        add_steps(a, rows, ahead, k0 + t % 8 * 2, true, from, MINE(w), MINE(lane));
      else add_steps(a, rows, ahead, k0 + t % 8 * 2, false, from, MINE(w), MINE(lane));
  }
  EACH_LANE(t)
    add_last(a, m, rows, at.x * FEW_OUTPUTS + t / 8, t % 8, from, MINE(lane));
  /* <Fold the lanes of eight threads, and store> */
  /* all threads add, though one of eight stores: an addition has the same bits either
     way round */
  for (unsigned apart = 4; apart > 0; apart /= 2) {
    EACH_LANE(t)
      for (int i = 0; i < 2 * rows; i++)
        MINE(other)[i] = FROM_LANE(lane, i, (t & 31u) ^ apart);
    EACH_LANE(t)
      for (int i = 0; i < 2 * rows; i++) MINE(lane)[i] += MINE(other)[i];
  }
  EACH_LANE(t) {
    unsigned o = at.x * FEW_OUTPUTS + t / 8;
    if (t % 8 != 0 || o >= m->out) continue;
    for (int r = 0; r < rows; r++)
      put_output(a, m, from + (uint32_t) r, o, MINE(lane)[2 * r] + MINE(lane)[2 * r + 1]);
  }
}

/* <Two plainer kernels for one row> */
INLINE float half_weight(const struct linear_args *a, unsigned o, uint32_t k)
{
  const struct stored_rows *s = &a->of[0].weight;
  return num_from_bf16(((const uint16_t *) s->data)[(size_t) o * s->stride + k]);
}

KERNEL void step_outputs(GRID const struct linear_args a)
{
  HERE(at);
  EACH_THREAD(t) {
    unsigned o = at.x * FEW_THREADS + t;
    float lane[16] = { 0 };
    /* the phase goes on to its barrier: no thread returns */
    if (o >= a.of[0].out) continue;
    for (uint32_t k = 0; k < a.in; k += 16) {
      UNROLL(16)
      for (uint32_t j = 0; j < 16; j++)
        lane[j] = fmaf(a.x[k + j], half_weight(&a, o, k + j), lane[j]);
    }
    for (unsigned apart = 8; apart > 0; apart /= 2)
      for (unsigned j = 0; j < apart; j++) lane[j] += lane[j + apart];
    a.of[0].y[o] = lane[0];
  }
}

KERNEL void step_lanes(GRID const struct linear_args a)
{
  HERE(at);
  PRIVATE(float, lane, 1);
  PRIVATE(float, other, 1);
  EACH_LANE(t) {
    unsigned o = at.x * (FEW_THREADS / 16) + t / 16;
    MINE(lane)[0] = 0;
    for (uint32_t k = t % 16; k < a.in && o < a.of[0].out; k += 16)
      MINE(lane)[0] = fmaf(a.x[k], half_weight(&a, o, k), MINE(lane)[0]);
  }
  for (unsigned apart = 8; apart > 0; apart /= 2) {
    EACH_LANE(t)
      MINE(other)[0] = FROM_LANE(lane, 0, (t & 31u) ^ apart);
    EACH_LANE(t)
      MINE(lane)[0] += MINE(other)[0];
  }
  EACH_LANE(t) {
    unsigned o = at.x * (FEW_THREADS / 16) + t / 16;
    if (t % 16 == 0 && o < a.of[0].out) a.of[0].y[o] = MINE(lane)[0];
  }
}

/* <The kernels for few rows> */
#define FEW(name, type, rows) \
  KERNEL void name(GRID const struct linear_args a) \
  { HERE(at); few_rows(&a, at, type, rows, AHEAD); }
#define FEW_OF(name, type) \
  FEW(name##_1, type, 1) FEW(name##_2, type, 2) \
  FEW(name##_4, type, 4) FEW(name##_8, type, 8)
FEW_OF(few_f32, DEVICE_F32)
FEW_OF(few_f16, DEVICE_F16)
FEW_OF(few_bf16, DEVICE_BF16)
FEW_OF(few_q8, DEVICE_Q8_0)
KERNEL void step_pairs(GRID const struct linear_args a)
{
  HERE(at);
  few_rows(&a, at, DEVICE_BF16, 1, 1);
}

/* <Tiles in shared memory> */
INLINE void fill_tiles(const struct linear_args *a, const struct matrix_part *m, int type,
  const struct block_place *at, uint32_t k0, unsigned t, float *xs, float *ws)
{
  float x[4], w[4];
  unsigned row = t / DEPTH, k = t % DEPTH;
  bool within = k0 + k < a->in;
  struct stored_rows s = m->weight;
  s.type = (uint32_t) type;
  UNROLL(4)
  for (unsigned i = 0; i < 4; i++) {
    uint32_t r = at->y * TILE + row + 8 * i, o = at->x * TILE + row + 8 * i;
    x[i] = within && r < a->rows ? a->x[(size_t) r * a->in + k0 + k] : 0;
    w[i] = within && o < m->out ? number_at(&s, o, k0 + k) : 0;
  }
  UNROLL(4)
  for (unsigned i = 0; i < 4; i++) {
    xs[(row + 8 * i) * TILE_STRIDE + k] = x[i];
    ws[(row + 8 * i) * TILE_STRIDE + k] = w[i];
  }
}

INLINE void multiply_tiles(uint32_t left, unsigned t, const float *xs, const float *ws,
  float *sum)
{
  unsigned lane = t % 16, row = t / 64 * 8, out = t / 16 % 4 * 8;
  for (unsigned k = lane; k < DEPTH && k < left; k += 16) {
    float x[8], w[8];
    UNROLL(8)
    for (unsigned i = 0; i < 8; i++)
      x[i] = xs[(row + i) * TILE_STRIDE + k], w[i] = ws[(out + i) * TILE_STRIDE + k];
    UNROLL(64)
    for (int i = 0; i < 64; i++) sum[i] = fmaf(x[i / 8], w[i % 8], sum[i]);
  }
}

/* <Many rows by a matrix> */
INLINE void many_rows(const struct linear_args *a, struct block_place at, int type)
{
  const struct matrix_part *m = part_of(a, &at.x);
  SHARED(float, xs, TILE * TILE_STRIDE);
  SHARED(float, ws, TILE * TILE_STRIDE);
  PRIVATE(float, sum, 64);
  PRIVATE(float, other, 1);
  EACH_THREAD(t) {
    UNROLL(64)
    for (int i = 0; i < 64; i++) MINE(sum)[i] = 0;
  }
  for (uint32_t k0 = 0; k0 < a->in; k0 += DEPTH) {
    /* no thread multiplies before all have filled, or fills while others still
       multiply */
    EACH_THREAD(t) fill_tiles(a, m, type, &at, k0, t, xs, ws);
    EACH_THREAD(t) multiply_tiles(a->in - k0, t, xs, ws, MINE(sum));
  }
  /* <Fold the lanes of sixteen threads, and store> */
  UNROLL(64)
  for (int i = 0; i < 64; i++) {
    UNROLL(4)
    for (unsigned apart = 8; apart > 0; apart /= 2) {
      EACH_LANE(t) MINE(other)[0] = FROM_LANE(sum, i, (t & 31u) ^ apart);
      EACH_LANE(t) MINE(sum)[i] += MINE(other)[0];
    }
    EACH_LANE(t)
      if (t % 16 == (unsigned) i % 16)
        put_output(a, m, at.y * TILE + t / 64 * 8 + (unsigned) i / 8,
          at.x * TILE + t / 16 % 4 * 8 + (unsigned) i % 8, MINE(sum)[i]);
  }
}

/* <The kernels for many rows> */
#define MANY(name, type) \
  KERNEL void name(GRID const struct linear_args a) \
  { HERE(at); many_rows(&a, at, type); }
MANY(many_f32, DEVICE_F32)
MANY(many_f16, DEVICE_F16)
MANY(many_bf16, DEVICE_BF16)
MANY(many_q8, DEVICE_Q8_0)

/* <One block of products> */
INLINE int dot_word(uint32_t x, uint32_t w, int sum)
{
#ifdef __CUDACC__
  return __dp4a((int) x, (int) w, sum);
#else
  for (int i = 0; i < 32; i += 8) sum += (int8_t) (x >> i) * (int8_t) (w >> i);
  return sum;
#endif
}

INLINE void block_product(const struct linear_args *a, const struct matrix_part *m, unsigned o,
  uint32_t b, uint32_t r, float to[2])
{
  to[0] = to[1] = 0;
  if (o >= m->out || b >= a->in / 32) return;
  size_t i = (size_t) o * m->weight.stride + b * 32, k = (size_t) r * a->in + b * 32;
  int sum = 0;
  UNROLL(2)
  for (size_t j = 0; j < 32; j += 16) {
    struct four_words x = load_four(a->q + k + j);
    struct four_words w = load_four((const int8_t *) m->weight.data + i + j);
    UNROLL(4)
    for (int n = 0; n < 4; n++) sum = dot_word(x.word[n], w.word[n], sum);
  }
  to[0] = (float) sum;
  to[1] = half_number(m->weight.scale[(size_t) o * (m->weight.stride / 2) + b])
    * a->d[k / 32];
}

/* <Few rows of bytes by a matrix> */
INLINE void few_bytes(const struct linear_args *a, struct block_place at, int rows)
{
  const struct matrix_part *m = part_of(a, &at.x);
  uint32_t from = at.y * (uint32_t) rows, blocks = a->in / 32;
  const int rounds = rows > 4 ? 1 : rows > 2 ? 2 : 4;
  PRIVATE(float, product, 2 * FEW_ROWS);
  PRIVATE(float, sum, FEW_ROWS);
  EACH_LANE(t)
    for (int r = 0; r < rows; r++) MINE(sum)[r] = 0;
  for (uint32_t b0 = 0; b0 < blocks; b0 += 8 * (uint32_t) rounds) {
    EACH_LANE(t) {
      UNROLL(8)
      for (int i = 0; i < rounds * rows; i++)
        block_product(a, m, at.x * FEW_OUTPUTS + t / 8, b0 + (uint32_t) (i / rows) * 8 + t % 8,
          row_within(a, from + (uint32_t) (i % rows)), MINE(product) + 2 * i);
    }
    /* the chain over the blocks has one order: every thread adds all eight products,
       in that of the blocks */
    /* <Add the products of each round in rising order> */
    EACH_LANE(t) {
      UNROLL(8)
      for (int i = 0; i < rounds * rows; i++) {
        UNROLL(8)
        for (uint32_t b = 0; b < 8; b++) {
          float whole = FROM_LANE(product, 2 * i, (t & 24u) + b);
          float scale = FROM_LANE(product, 2 * i + 1, (t & 24u) + b);
          if (b0 + (uint32_t) (i / rows) * 8 + b < blocks)
            MINE(sum)[i % rows] = fmaf(whole, scale, MINE(sum)[i % rows]);
        }
      }
    }
  }
  EACH_LANE(t)
    for (int r = 0; r < rows && t % 8 == 0; r++)
      put_output(a, m, from + (uint32_t) r, at.x * FEW_OUTPUTS + t / 8, MINE(sum)[r]);
}
#include "cuda/bytes.inc"

/* <The kernels for bytes> */
#define FEW_BYTES(name, rows) \
  KERNEL void name(GRID const struct linear_args a) \
  { HERE(at); few_bytes(&a, at, rows); }
FEW_BYTES(bytes_1, 1)
FEW_BYTES(bytes_2, 2)
FEW_BYTES(bytes_4, 4)
FEW_BYTES(bytes_8, 8)
KERNEL void bytes_many(GRID const struct linear_args a)
{
  HERE(at);
  many_bytes(&a, at);
}

/* <Multiply on a tensor core> */
#ifdef __CUDACC__
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#define MULTIPLY_16(x, i, w, j, sum, k) \
  asm volatile(MMA "{%0,%1,%2,%3}, {%4,%5,%6,%7}, " \
    "{%8,%9}, {%0,%1,%2,%3};" \
    : "+f"(sum[k]), "+f"(sum[k + 1]), \
      "+f"(sum[k + 2]), "+f"(sum[k + 3]) \
    : "r"(x[i]), "r"(x[i + 1]), \
      "r"(x[i + 2]), "r"(x[i + 3]), \
      "r"(w[j]), "r"(w[j + 1]))
#else

/* <A stand-in for a tensor core> */
static double two_products(uint32_t x, uint32_t w)
{
  double low = (double) num_from_bf16((uint16_t) x) * (double) num_from_bf16((uint16_t) w);
  return low + (double) num_from_bf16((uint16_t) (x >> 16))
    * (double) num_from_bf16((uint16_t) (w >> 16));
}
#define HELD(name, thread, i) name[(t & ~31u) + (thread)][i]
#define MULTIPLY_16(x, i, w, j, sum, k) \
  for (unsigned e = 0; e < 4; e++) { \
    double all = (double) sum[t][(k) + e]; \
    for (unsigned q = 0; q < 4; q++) { \
      unsigned of_x = (t & 28u) + q, of_w = (t % 4 * 2 + e % 2) * 4 + q; \
      all += two_products(HELD(x, of_x, (i) + e / 2), HELD(w, of_w, j)); \
      all += two_products(HELD(x, of_x, (i) + e / 2 + 2), HELD(w, of_w, (j) + 1)); \
    } \
    sum[t][(k) + e] = (float) all; \
  }
#endif

/* <The fragments of a thread> */
INLINE const uint16_t *half_inputs(const struct linear_args *a, uint32_t r)
{ return a->h + (size_t) row_within(a, r) * ((a->in + 15) / 16 * 16); }

INLINE const uint16_t *half_weights(const struct matrix_part *m, uint32_t o)
{
  return (const uint16_t *) m->weight.data
    + (size_t) (o < m->out ? o : m->out - 1) * m->weight.stride;
}

INLINE void load_fragments(const struct linear_args *a, const struct matrix_part *m,
  const struct block_place *at, uint32_t k, unsigned t, uint32_t *x, uint32_t *w)
{
  unsigned g = t % 32 / 4, q = t % 4;
  uint32_t r = at->y * HALF_ROWS + g;
  k = (k < a->in ? k : 0) + 2 * q;
  const uint16_t *x0 = half_inputs(a, r) + k, *x8 = half_inputs(a, r + 8) + k;
  const uint16_t *w0 = half_weights(m, at->x * HALF_OUTPUTS + g) + k;
  x[0] = load_word(x0), x[1] = load_word(x8);
  x[2] = load_word(x0 + 8), x[3] = load_word(x8 + 8);
  w[0] = load_word(w0), w[1] = load_word(w0 + 8);
}

INLINE void put_fragment(float *to, unsigned stride, unsigned t, const float *sum)
{
  unsigned g = t % 32 / 4, q = t % 4;
  to[g * stride + 2 * q] = sum[0], to[g * stride + 2 * q + 1] = sum[1];
  to[(g + 8) * stride + 2 * q] = sum[2], to[(g + 8) * stride + 2 * q + 1] = sum[3];
}

/* <Few rows of halves by a matrix> */
INLINE void few_halves(const struct linear_args *a, struct block_place at)
{
  const struct matrix_part *m = part_of(a, &at.x);
  SHARED(float, part, 4 * HALF_ROWS * HALF_OUTPUTS);
  PRIVATE(uint32_t, x, 4 * FRAGMENTS);
  PRIVATE(uint32_t, w, 2 * FRAGMENTS);
  PRIVATE(float, sum, 4);
  PRIVATE(float, total, 1);
  for (uint32_t k0 = 0; k0 < a->in; k0 += 4 * SECTION) {
    /* <Multiply the section of each warp> */
    EACH_LANE(t)
      for (int i = 0; i < 4; i++) MINE(sum)[i] = 0;
    for (uint32_t k = 0; k < SECTION; k += 16 * FRAGMENTS) {
      EACH_LANE(t) {
        UNROLL(8)
        for (uint32_t i = 0; i < FRAGMENTS; i++)
          load_fragments(a, m, &at, k0 + t / 32 * SECTION + k + 16 * i, t,
            MINE(x) + 4 * i, MINE(w) + 2 * i);
      }
      EACH_LANE(t) {
        UNROLL(8)
        for (uint32_t i = 0; i < FRAGMENTS; i++)
          if (k0 + t / 32 * SECTION + k + 16 * i < a->in)
            MULTIPLY_16(x, 4 * i, w, 2 * i, sum, 0);
      }
    }
    EACH_THREAD(t) put_fragment(part + t / 32 * 128, HALF_OUTPUTS, t, MINE(sum));
    EACH_THREAD(t)
      for (uint32_t i = 0; i < 4 && k0 + i * SECTION < a->in; i++)
        MINE(total)[0] = k0 + i == 0 ? part[t] : MINE(total)[0] + part[i * 128 + t];
  }
  EACH_THREAD(t)
    put_output(a, m, at.y * HALF_ROWS + t / HALF_OUTPUTS,
      at.x * HALF_OUTPUTS + t % HALF_OUTPUTS, MINE(total)[0]);
}

/* <Tiles of halves in shared memory> */
INLINE void fetch_halves(const struct linear_args *a, const struct matrix_part *m,
  const struct block_place *at, uint32_t k0, unsigned t, struct four_words next[3])
{
  uint32_t k = k0 + t % 4 * 8;
  if (k >= (a->in + 15) / 16 * 16) k = 0;
  next[0] = load_four(half_inputs(a, at->y * X_ROWS + t / 4) + k);
  next[1] = load_four(half_inputs(a, at->y * X_ROWS + 64 + t / 4) + k);
  next[2] = load_four(half_weights(m, at->x * W_ROWS + t / 4) + k);
}

INLINE void put_halves(const struct four_words next[3], unsigned t, struct four_words *xs,
  struct four_words *ws)
{
  xs[t / 4 * HALF_STRIDE + t % 4] = next[0];
  xs[(64 + t / 4) * HALF_STRIDE + t % 4] = next[1];
  ws[t / 4 * HALF_STRIDE + t % 4] = next[2];
}

INLINE void take_fragments(const uint32_t *xs, const uint32_t *ws, uint32_t word,
  unsigned t, uint32_t *x, uint32_t *w)
{
  unsigned g = t % 32 / 4, q = t % 4;
  xs += (t / 64 * 32 + g) * 4 * HALF_STRIDE + word + q;
  ws += (t / 32 % 2 * 32 + g) * 4 * HALF_STRIDE + word + q;
  UNROLL(8)
  for (unsigned i = 0; i < 8; i++) {
    x[i] = xs[(i / 4 * 16 + i % 2 * 8) * 4 * HALF_STRIDE + i % 4 / 2 * 4];
    w[i] = ws[i / 2 * 8 * 4 * HALF_STRIDE + i % 2 * 4];
  }
}

/* <Many rows of halves by a matrix> */
INLINE void many_halves(const struct linear_args *a, struct block_place at)
{
  const struct matrix_part *m = part_of(a, &at.x);
  SHARED(struct four_words, xs, 2 * X_ROWS * HALF_STRIDE);
  SHARED(struct four_words, ws, 2 * W_ROWS * HALF_STRIDE);
  PRIVATE(struct four_words, next, 3);
  PRIVATE(uint32_t, x, 8);
  PRIVATE(uint32_t, w, 8);
  PRIVATE(float, sum, 32);
  PRIVATE(float, total, 32);
  EACH_LANE(t) fetch_halves(a, m, &at, 0, t, MINE(next));
  for (uint32_t k0 = 0; k0 < a->in; k0 += 32) {
    struct four_words *const x0 = xs + k0 / 32 % 2 * X_ROWS * HALF_STRIDE;
    struct four_words *const w0 = ws + k0 / 32 % 2 * W_ROWS * HALF_STRIDE;
    if (k0 % SECTION == 0) EACH_LANE(t) {
      UNROLL(32)
      for (int i = 0; i < 32; i++) {
        if (k0 == SECTION) MINE(total)[i] = MINE(sum)[i];
        else if (k0 > 0) MINE(total)[i] += MINE(sum)[i];
        MINE(sum)[i] = 0;
      }
    }
    /* two places in turn: a warp that fills this one again has passed the barrier of
       the tile in between */
    EACH_THREAD(t) put_halves(MINE(next), t, x0, w0);
    EACH_LANE(t) fetch_halves(a, m, &at, k0 + 32, t, MINE(next));
    /* <Multiply the two steps of a tile> */
    for (uint32_t k = 0; k < 32; k += 16) {
      EACH_LANE(t) take_fragments(x0->word, w0->word, k / 2, t, MINE(x), MINE(w));
      EACH_LANE(t) {
        if (k0 + k >= a->in) continue;
        UNROLL(8)
        for (unsigned i = 0; i < 8; i++) MULTIPLY_16(x, i / 4 * 4, w, i % 4 * 2, sum, 4 * i);
      }
    }
  }
  /* <Add the last section, and store> */
  EACH_THREAD(t) {
    unsigned g = t % 32 / 4, q = t % 4;
    UNROLL(32)
    for (unsigned i = 0; i < 32; i++) {
      float last = MINE(sum)[i];
      if (a->in > SECTION) last = MINE(total)[i] + last;
      put_output(a, m, at.y * X_ROWS + t / 64 * 32 + i / 16 * 16 + i % 4 / 2 * 8 + g,
        at.x * W_ROWS + t / 32 % 2 * 32 + i / 4 % 4 * 8 + 2 * q + i % 2, last);
    }
  }
}

/* <The kernels for halves> */
KERNEL void halves_few(GRID const struct linear_args a)
{
  HERE(at);
  few_halves(&a, at);
}

KERNEL void halves_many(GRID const struct linear_args a)
{
  HERE(at);
  many_halves(&a, at);
}
#include "cuda/small.inc"
#include "cuda/queries.inc"

/* <The kernels of attention> */

/* <The scores of four queries> */
INLINE void score_four(const struct attend_args *a, const uint64_t *from, uint64_t key,
  uint32_t type, float *score)
{
  float lane[4][16];
  for (int i = 0; i < 64; i++) lane[i / 16][i % 16] = 0;
  UNROLL(1)
  for (uint32_t k = 0; k < a->head_dim; k += 16) {
    bool sixteen = a->suits && k + 16 <= a->head_dim;
    if (sixteen) {
      UNROLL(2)
      for (uint32_t half = 0; half < 16; half += 8) {
        float x[8], y[8];
        cached_eight(key, type, k + half, x);
        UNROLL(4)
        for (int i = 0; i < 4; i++) {
          eight_floats(a->q + from[i] + k + half, y);
          UNROLL(8)
          for (uint32_t j = 0; j < 8; j++)
            lane[i][half + j] = fmaf(y[j], x[j], lane[i][half + j]);
        }
      }
    }
    else {
      UNROLL(16)
      for (uint32_t j = 0; j < 16; j++) {
        if (k + j >= a->head_dim) continue;
        float x = cached_number(key, type, false, k + j);
        UNROLL(4)
        for (int i = 0; i < 4; i++)
          lane[i][j] = fmaf(a->q[from[i] + k + j], x, lane[i][j]);
      }
    }
  }
  UNROLL(4)
  for (int i = 0; i < 4; i++) score[i * 256] = fold_sixteen(lane[i]) * a->scale;
}

/* <The maximum and the exponentials> */
INLINE float most_of_sixteen(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, const float *score, unsigned t)
{
  float most = -FLT_MAX;
  unsigned i = t / 16;
  for (unsigned k = t % 16; k < 256; k += 16) {
    bool seen = query_is(a, tile, i) && is_seen(s, query_row(a, tile, i), at->x * 256 + k);
    if (seen && score[i * 256 + k] > most) most = score[i * 256 + k];
  }
  return most;
}

INLINE float most_of(const float *most)
{
  float all = -INFINITY;
  for (int i = 0; i < 16; i++) all = most[i] > all ? most[i] : all;
  return all;
}

#define NOT_SEEN -1.0f
INLINE void exponentials(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, const float *most, float *score, unsigned t, float *lane)
{
  unsigned i = t / 16;
  float m = most_of(most), sum = 0;
  for (unsigned k = t % 16; k < 256; k += 16) {
    uint32_t p = at->x * 256 + k;
    bool seen = query_is(a, tile, i) && is_seen(s, query_row(a, tile, i), p);
    float e = seen ? num_expf(score[k] - m) : 0;
    /* no exponential is negative, so -1 can mean that the query does not see the
       position */
    score[k] = seen ? e : NOT_SEEN;
    sum += e;
    if (a->weights != NULL && query_is(a, tile, i) && p < a->stride)
      a->weights[query_place(a, s, tile, at, i) * a->stride + p] = seen ? e : -0.0f;
  }
  lane[t] = sum;
}

/* <What a block leaves> */
INLINE float *left_of(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, unsigned i)
{
  size_t place = query_place(a, s, tile, at, i) - (size_t) a->first_row * a->n_heads;
  return a->left + place * a->blocks * (a->head_dim + 2) + at->x * (a->head_dim + 2);
}

INLINE void leave_sums(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, const float *most, float *lane,
  unsigned t)
{
  if (t >= QUERIES || !query_is(a, tile, t)) return;
  float *left = left_of(a, s, tile, at, t);
  /* a maximum is at least -FLT_MAX, so -infinity can mark a block in which nothing is
     seen */
  left[0] = sees_block(s, query_row(a, tile, t), at->x * 256) ? most_of(most + t * 16) : -INFINITY;
  left[1] = fold_sixteen(lane + t * 16);
}

/* <The values of a block> */
INLINE void add_sixteen(const struct device_segment *s, uint32_t type, bool even, uint64_t base,
  const uint64_t *place, const float *score, uint32_t k, float out[4])
{
  float v[16];
  UNROLL(16)
  for (int i = 0; i < 16; i++)
    v[i] = cached_number(s->value + base + place[i], type, even, k);
  UNROLL(16)
  for (int i = 0; i < 16; i++) {
    UNROLL(4)
    for (int q = 0; q < 4; q++) {
      float e = score[q * 256 + i];
      if (e >= 0) out[q] = fmaf(e, v[i], out[q]);
    }
  }
}

INLINE void add_values(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, uint32_t type, bool even,
  const uint64_t *place, const float *score, unsigned t)
{
  for (uint32_t item = t; item < a->head_dim * QUERIES / 4; item += ATTEND_THREADS) {
    unsigned first = item / a->head_dim * 4, k = item % a->head_dim;
    float out[4] = { 0, 0, 0, 0 };
    if (!query_is(a, tile, first)) return;
    UNROLL(1)
    for (uint32_t p = 0; p < 256; p += 16)
      add_sixteen(s, type, even, at->y * s->head_bytes, place + p,
        score + first * 256 + p, k, out);
    for (unsigned i = 0; i < 4; i++)
      if (query_is(a, tile, first + i))
        left_of(a, s, tile, at, first + i)[2 + k] = out[i];
  }
}

/* <One block of positions for a tile of queries> */
KERNEL AT_ONCE(ATTEND_THREADS, 2) void attend_blocks(GRID const struct attend_args a)
{
  HERE(at);
  const struct query_tile *tile = &a.tile[at.z];
  const struct device_segment *s = &a.segment[tile->segment];
  SHARED(uint64_t, place, 256);
  SHARED(uint64_t, from, QUERIES);
  SHARED(float, score, QUERIES * 256);
  SHARED(float, most, QUERIES * 16);
  SHARED(float, lane, QUERIES * 16);
  /* <Leave a block that no row of the tile reaches> */
  /* after the last row of the tile: all threads of the block leave together */
  if (a.weights == NULL && at.x * 256 >= s->first_position + tile->row + tile->rows) {
    EACH_THREAD(t)
      if (t < QUERIES && query_is(&a, tile, t)) left_of(&a, s, tile, &at, t)[0] = -INFINITY;
    return;
  }
  EACH_THREAD(t) {
    place[t] = place_seen(s, tile, at.x * 256 + t);
    if (t < QUERIES)
      from[t] = query_place(&a, s, tile, &at, query_is(&a, tile, t) ? t : 0) * a.head_dim;
  }
  UNROLL(4)
  for (unsigned i = 0; i < QUERIES; i += 4)
    if (query_is(&a, tile, i)) EACH_THREAD(t)
      score_four(&a, from + i, s->key + place[t] + at.y * s->head_bytes, s->type,
        score + i * 256 + t);
  EACH_THREAD(t) most[t] = most_of_sixteen(&a, s, tile, &at, score, t);
  EACH_THREAD(t) exponentials(&a, s, tile, &at, most + t / 16 * 16, score + t / 16 * 256, t, lane);
  EACH_THREAD(t) leave_sums(&a, s, tile, &at, most, lane, t);
  /* <Add the values, in a copy of the code for each type> */
#define VALUES(type, even) add_values(&a, s, tile, &at, type, even, place, score, t)
  EACH_THREAD(t) {
    if (s->type == DEVICE_F32 && a.even) VALUES(DEVICE_F32, true);
    else if (s->type == DEVICE_F16 && a.even) VALUES(DEVICE_F16, true);
    else if (s->type == DEVICE_BF16 && a.even) VALUES(DEVICE_BF16, true);
    else if (s->type == DEVICE_Q8_0) VALUES(DEVICE_Q8_0, false);
    else VALUES(s->type, false);
  }
}

/* <Join the blocks of a row> */
KERNEL void join_blocks(GRID const struct attend_args a)
{
  HERE(at);
  SHARED(float, most, 128);
  size_t d = a.head_dim, each = d + 2, place = (size_t) at.x * a.n_heads + at.y;
  float *left = a.left + place * a.blocks * each;
  place += (size_t) a.first_row * a.n_heads;
  EACH_THREAD(t) {
    float m = -INFINITY;
    for (size_t b = t; b < a.blocks; b += at.threads)
      m = left[b * each] > m ? left[b * each] : m;
    most[t] = m;
  }
  EACH_THREAD(t) {
    float m = -INFINITY;
    for (unsigned i = 0; i < at.threads; i++) m = most[i] > m ? most[i] : m;
    /* the factor of a block takes the place of its maximum */
    for (size_t b = t; b < a.blocks; b += at.threads)
      left[b * each] = left[b * each] != -INFINITY ? num_expf(left[b * each] - m) : NOT_SEEN;
  }
  EACH_THREAD(t) {
    float l = 0;
    UNROLL(8)
    for (uint32_t b = 0; b < a.blocks; b++)
      l = left[b * each] < 0 ? l : fmaf(left[b * each + 1], left[b * each], l);
    for (size_t i = t; i < d; i += at.threads) {
      float y = 0;
      UNROLL(8)
      for (uint32_t b = 0; b < a.blocks; b++) {
        float v = left[b * each + 2 + i];
        y = left[b * each] < 0 ? y : fmaf(v, left[b * each], y);
      }
      a.y[place * d + i] = y / l;
    }
    for (size_t p = t; a.weights != NULL && p < a.stride; p += at.threads) {
      float *w = &a.weights[place * a.stride + p];
      *w = num_bits32(*w) == 0x80000000u ? 0 : *w * left[p / 256 * each] / l;
    }
  }
}
#include "cuda/choose.inc"
#ifdef __CUDACC__
#include "cuda/driver_cuda.inc"
#else
#include "cuda/driver_host.inc"
#endif
