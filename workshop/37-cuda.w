@i types.w
@s cudaDeviceProp int
@s cudaKernelNodeParams int
@s cudaGraphNode_t int
@s cudaError_t int
@s cudaGraphExec_t int
@s cudaGraph_t int
@s cudaStream_t int
@s EACH_THREAD while
@s EACH_LANE while
@s KERNEL static
@s INLINE inline
@s UNROLL if
@s GRID const


\chapterquestion{What stands between a call of a kernel and a device that does it later?}
@** Inside the device: small kernels, launches, memory.
\Cref{cuda} has the kernels that decide the speed. These are the others, which every pass needs as well, and the C that stands between the table of kernels and the device.
@^CUDA@>

@* Small kernels.
They are one file, which the one with the large kernels includes, and each is a few lines: on a device most of a layer is loops without a carry, one element for each thread.

@(small.inc@>=
@<The sum of sixteen lanes in one thread@>@;
@<Numbers of the cache@>@;
@<The kernel that normalizes@>@;
@<The kernels for positions@>@;
@<The kernel of activations@>@;
@<The kernels that move rows@>@;
@<The kernel that looks for bad numbers@>@;
@<The kernel that rounds inputs to bytes@>@;
@<The kernel that rounds inputs to halves@>@;
@<The kernel that only multiplies@>@;
@<Numbers into the cache@>@;
@<The kernel that writes keys and values@>@;

@ Where one thread has all sixteen lanes, it folds them alone.

@<The sum of sixteen lanes in one thread@>=
INLINE float fold_sixteen(float *lane)
{
  UNROLL(4)
  for (int half = 8; half > 0; half /= 2) {
    UNROLL(8)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  }
  return lane[0];
}

@ A row of the cache has one of five types, the last two in blocks (\cref{sec:rowformats}). Four bytes are read at once where their address allows it. The questions come one after the other: a |switch| over the five types needs more registers than |attend_blocks| has. There is no sixth, since |DEVICE_WEIGHTS| and the formats of a cache name all types that come to a device.

@<Numbers of the cache@>=
INLINE float cached_number(uint64_t row, uint32_t type, bool even, uint32_t k)
{
  const unsigned char *p = (const unsigned char *) (uintptr_t) row;
  if (type == DEVICE_F32 && even) return num_float(load_word(p + 4 * (size_t) k));
  if (type == DEVICE_F32) {
    p += 4 * (size_t) k;
    return num_float(half_of_bytes(p) | (uint32_t) half_of_bytes(p + 2) << 16);
  }
  if (type == DEVICE_F16 || type == DEVICE_BF16) {
    uint16_t h = even ? load_half(p + 2 * (size_t) k) : half_of_bytes(p + 2 * (size_t) k);
    return type == DEVICE_F16 ? half_number(h) : num_from_bf16(h);
  }
  p += k / 32 * (type == DEVICE_Q8_0 ? 34u : 18u), k %= 32;
  float d = half_number(half_of_bytes(p));
  if (type == DEVICE_Q8_0) return (float) (int8_t) p[2 + k] * d;
  return (float) ((k < 16 ? p[2 + k] & 15 : p[2 + k - 16] >> 4) - 8) * d;
}

@ Eight numbers of a key come in two loads or in one, if the address is a multiple of sixteen; so do eight floats of a query. All places in |x| are constants once the loops are written out. They must be: an array with a place that the compiler does not know cannot be in registers, and then each number that has been loaded goes to memory, and comes back, before the next load is sent off. So |load_four| is called once for four words, too. If each word is taken from a call of its own, the compiler loads it alone, and no longer knows that its neighbours stand beside it.

@<Numbers of the cache@>=
INLINE void eight_floats(const void *from, float x[8])
{
  UNROLL(2)
  for (int i = 0; i < 8; i += 4) {
    struct four_words f = load_four((const char *) from + 4 * i);
    UNROLL(4)
    for (int j = 0; j < 4; j++) x[i + j] = num_float(f.word[j]);
  }
}

INLINE void eight_halves(const void *from, bool f16, float x[8])
{
  struct four_words f = load_four(from);
  UNROLL(8)
  for (int i = 0; i < 8; i++) {
    uint16_t h = (uint16_t) (f.word[i / 2] >> i % 2 * 16);
    x[i] = f16 ? half_number(h) : num_from_bf16(h);
  }
}

INLINE void eight_numbers(uint64_t row, uint32_t type, uint32_t k, float x[8])
{
  UNROLL(8)
  for (uint32_t i = 0; i < 8; i++) x[i] = cached_number(row, type, false, k + i);
}

INLINE void cached_eight(uint64_t row, uint32_t type, uint32_t k, float x[8])
{
  const void *p = (const void *) (uintptr_t) (row + (type == DEVICE_F32 ? 4u : 2u) * (uint64_t) k);
  bool whole = (uintptr_t) p % 16 == 0;
  if (whole && type == DEVICE_F32) eight_floats(p, x);
  else if (whole && type == DEVICE_F16) eight_halves(p, true, x);
  else if (whole && type == DEVICE_BF16) eight_halves(p, false, x);
  else if (type == DEVICE_Q8_0) eight_numbers(row, DEVICE_Q8_0, k, x);
  else eight_numbers(row, type, k, x);
}

@ A norm takes a block of threads for each row. Its sums are of sixteen lanes, so sixteen threads add and the others wait; but all of them fetch the row into shared memory, a part of it at a time, since sixteen threads with a load each would wait for their loads and not for the additions.

@<The kernel that normalizes@>=
enum { NORM_PART = 2048 };
INLINE float lane_of_part(const float *part, size_t n, bool squares, unsigned t, float sum)
{
  UNROLL(16)
  for (size_t k = t; k < n; k += 16)
    sum = squares ? fmaf(part[k], part[k], sum) : sum + part[k];
  return sum;
}

@ Eight loads of each thread are on their way before the first number is stored.

@<The kernel that normalizes@>=
INLINE void fetch_part(const float *x, size_t n, float mean, unsigned t, unsigned threads,
  float *part)
{
  for (size_t i = t; i < n; i += 8 * (size_t) threads) {
    float v[8];
    UNROLL(8)
    for (size_t j = 0; j < 8; j++) v[j] = i + j * threads < n ? x[i + j * threads] : 0;
    UNROLL(8)
    for (size_t j = 0; j < 8; j++)
      if (i + j * threads < n) part[i + j * threads] = v[j] - mean;
  }
}

@ The mean is the first of two rounds, which a norm without a mean leaves out.

@<The kernel that normalizes@>=
KERNEL void normalize_rows(GRID const struct norm_args a)
{
  HERE(at);
  @[SHARED(float, part, NORM_PART)@];
  @[SHARED(float, lane, 16)@];
  @[SHARED(float, of_row, 2)@];
  size_t d = a.d;
  const float *x = a.x + at.x * d;
  float *y = a.y + at.x * d;
  EACH_THREAD(t)
    if (t < 2) of_row[t] = 0;
  for (unsigned round = a.centred ? 0 : 1; round < 2; round++) {
    EACH_THREAD(t)
      if (t < 16) lane[t] = 0;
    for (size_t from = 0; from < d; from += NORM_PART) {
      size_t n = d - from < NORM_PART ? d - from : NORM_PART;
      EACH_THREAD(t) fetch_part(x + from, n, of_row[0], t, at.threads, part);
      EACH_THREAD(t)
        if (t < 16) lane[t] = lane_of_part(part, n, round == 1, t, lane[t]);
    }
    EACH_THREAD(t)
      if (t == 0) of_row[round] = fold_sixteen(lane) / (float) d;
  }
  @<Write a row that is normalized@>@;
}

@ The gain and the bias are the model's.

@<Write a row that is normalized@>=
EACH_THREAD(t) {
  float one = 1.0f / sqrtf(of_row[1] + a.epsilon);
  for (size_t i = t; i < d; i += at.threads) {
    float gain = a.gain.data != NULL ? number_at(&a.gain, 0, i) : 1.0f;
    float z = (x[i] - of_row[0]) * one;
    y[i] = a.centred && a.bias.data != NULL ? fmaf(z, gain, number_at(&a.bias, 0, i)) : z * gain;
  }
}

@ Angles are computed in double and rounded, as in \cref{sec:rope}. Each thread has a pair: the cosine and the sine of one angle, or two numbers that are turned by it.

@<The kernels for positions@>=
KERNEL void make_angles(GRID const struct angles_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(i, (size_t) a.rows * a.half)@] {
      float angle = (float) a.position[i / a.half] * a.frequency[i % a.half];
      a.cosine[i] = (float) num_cos((double) angle) * a.scaling;
      a.sine[i] = (float) num_sin((double) angle) * a.scaling;
    }
}

KERNEL void rotate_rows(GRID const struct angles_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(i, (size_t) a.rows * a.n_heads * a.half)@] {
      size_t k = i % a.half, head = i / a.half, angle = head / a.n_heads * a.half + k;
      float *x = a.x + head * 2 * a.half + k, c = a.cosine[angle], s = a.sine[angle];
      float x0 = x[0], x1 = x[a.half], across = x1 * s, along = x1 * c;
      x[0] = fmaf(x0, c, -across);
      x[a.half] = fmaf(x0, s, along);
    }
}

@ The three curves are those of \cref{sec:mlp}.

@<The kernel of activations@>=
INLINE float activation(uint32_t kind, float x)
{
  if (kind == DEVICE_SILU) return x / (1.0f + num_expf(-x));
  if (kind == DEVICE_GELU_ERF) return 0.5f * x * (1.0f + num_erff(x * 0.70710677f));
  float cube = x * x * x, inner = 0.7978846f * fmaf(0.044715f, cube, x);
  return 0.5f * x * (1.0f + num_tanhf(inner));
}

KERNEL void activate_rows(GRID const struct activate_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(i, a.n)@]
      a.y[i] = activation(a.kind, a.x[i]) * (a.up != NULL ? a.up[i] : 1.0f);
}

@ Rows are looked up, chosen, taken apart and copied by the same kind of loop.

@<The kernels that move rows@>=
KERNEL void embed_rows(GRID const struct move_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(i, a.n * a.width)@]
      a.y[i] = number_at(&a.table, a.id[i / a.width], i % a.width);
}

KERNEL void gather_rows(GRID const struct move_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(i, a.n * a.width)@] a.y[i] = a.x[a.which[i / a.width] * a.width + i % a.width];
}

KERNEL void split_rows(GRID const struct split_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(i, a.rows * a.n * a.width)@] {
      size_t part = i / a.width % a.n, row = i / a.width / a.n;
      a.y[part][row * a.width + i % a.width] = a.x[i];
    }
}

KERNEL void copy_bytes(GRID const struct copy_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(i, a.n)@] {
      if (a.wide) ((struct four_words *) a.to)[i] = ((const struct four_words *) a.from)[i];
      else ((char *) a.to)[i] = ((const char *) a.from)[i];
    }
}

@ A block of threads looks at one row. If several threads find something, all write the same mark.

@<The kernel that looks for bad numbers@>=
KERNEL void mark_rows(GRID const struct mark_args a)
{
  HERE(at);
  @[SHARED(uint32_t, bad, 1)@];
  const float *x = a.x + at.x * (size_t) a.d;
  EACH_THREAD(t)
    if (t == 0) bad[0] = 0;
  EACH_THREAD(t)
    for (uint32_t i = t; i < a.d; i += at.threads)
      if ((num_bits32(x[i]) & 0x7f800000u) == 0x7f800000u) bad[0] = 1;
  EACH_THREAD(t)
    if (t == 0 && bad[0] != 0 && a.first[at.x] == a.none) a.first[at.x] = a.mark;
}

@ Inputs are rounded to bytes as in \cref{sec:int8}, \given{32} by one thread.

@<The kernel that rounds inputs to bytes@>=
KERNEL void bytes_of_rows(GRID const struct bytes_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(b, a.n)@] {
      const float *x = a.x + b * 32;
      uint32_t most = 0;
      for (int i = 0; i < 32; i++) {
        uint32_t bits = num_bits32(x[i]) & 0x7fffffff;
        most = bits > most ? bits : most;
      }
      float max = num_float(most), up = max < 0x1p-64f ? 0x1p64f : 1, times = max == 0 ? 0 : 127 / (max * up);
      a.d[b] = max / 127;
      for (size_t i = 0; i < 32; i++) {
        float z = rintf(x[i] * up * times);
        if (z != z) z = 0;
        z = z > 127 ? 127 : z;
        a.q[b * 32 + i] = (int8_t) (z < -127 ? -127 : z);
      }
    }
}

@ And to bfloat16, two by one thread, as a word; a row is filled up with zeros to a multiple of sixteen.

@<The kernel that rounds inputs to halves@>=
KERNEL void halves_of_rows(GRID const struct halves_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(i, (size_t) a.rows * a.words)@] {
      size_t row = i / a.words, k = i % a.words * 2;
      const float *x = a.x + row * a.in + k;
      uint32_t low = k < a.in ? num_to_bf16(x[0]) : 0, high = k + 1 < a.in ? num_to_bf16(x[1]) : 0;
      a.h[i] = low | high << 16;
    }
}

@ What a device can multiply at most is measured by a kernel that does nothing else: eight chains in each thread, in registers.

@<The kernel that only multiplies@>=
KERNEL void multiply_only(GRID const struct probe_args a)
{
  HERE(at);
  EACH_THREAD(t) {
    float x[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, all = 0;
    for (uint32_t i = 0; i < a.n; i++) {
      UNROLL(8)
      for (int j = 0; j < 8; j++) x[j] = fmaf(x[j], 0.5f, 1.0f);
    }
    UNROLL(8)
    for (int j = 0; j < 8; j++) all += x[j];
    a.left[(size_t) at.x * at.threads + t] = all;
  }
}

@ A compiler that contracts |a*a+c| into one rounding, which nvcc does unless it is told not to, or a multiply--add that rounds twice would give other bits everywhere. A kernel asks, as \cref{sec:selftest} does on the host.

@<The kernel that only multiplies@>=
KERNEL void check_rounding(GRID const struct round_args a)
{
  HERE(at);
  EACH_THREAD(t) {
    if (t != 0) continue;
    a.left[0] = a.a * a.a + a.c;
    a.left[1] = fmaf(a.a, a.a, a.c);
  }
}

@ The formats of a row of the cache, as \cref{sec:rowformats} writes them: one number, or a block by one thread.

@<Numbers into the cache@>=
INLINE int within(float x, int low, int high)
{
  if (x != x) return 0;
  if (x < (float) low) return low;
  return x > (float) high ? high : (int) x;
}

INLINE void put_half_at(unsigned char *to, uint16_t h)
{ to[0] = (unsigned char) h, to[1] = (unsigned char) (h >> 8); }
INLINE void put_block(const float *x, bool four, unsigned char *to)
{
  float most = 0;
  for (int i = 0; i < 32; i++)
    if (fabsf(x[i]) > fabsf(most)) most = four ? x[i] : fabsf(x[i]);
  float d = four ? most / -8 : most / 127, times = d != 0 ? 1 / d : 0;
  put_half_at(to, num_to_f16(d));
  for (int i = 0; i < 16; i++) {
    float low = x[i] * times, high = x[i + 16] * times;
    if (four)
      to[2 + i] = (unsigned char) (within(low + 8.5f, 0, 15) | within(high + 8.5f, 0, 15) << 4);
    else {
      to[2 + i] = (unsigned char) within(roundf(low), -128, 127);
      to[18 + i] = (unsigned char) within(roundf(high), -128, 127);
    }
  }
}

@ A float is written as two halves of two bytes, since rows of the cache have no alignment that we could rely on.

@<Numbers into the cache@>=
INLINE void put_numbers(const float *x, uint32_t type, uint32_t i, uint64_t row)
{
  unsigned char *to = (unsigned char *) (uintptr_t) row;
  uint32_t u = num_bits32(x[i]);
  if (type == DEVICE_F32)
    put_half_at(to + 4 * (size_t) i, (uint16_t) u), put_half_at(to + 4 * (size_t) i + 2, (uint16_t) (u >> 16));
  else if (type == DEVICE_F16) put_half_at(to + 2 * (size_t) i, num_to_f16(x[i]));
  else if (type == DEVICE_BF16) put_half_at(to + 2 * (size_t) i, num_to_bf16(x[i]));
  else if (i % 32 == 0)
    put_block(x + i, type == DEVICE_Q4_0, to + i / 32 * (type == DEVICE_Q4_0 ? 18u : 34u));
}

@ A block of threads writes one row: all heads of its keys and of its values.

@<The kernel that writes keys and values@>=
KERNEL void write_rows(GRID const struct write_args a)
{
  HERE(at);
  const struct query_tile *tile = &a.tile[at.x];
  const struct device_segment *s = &a.segment[tile->segment];
  uint32_t p = s->first_position + tile->row, d = a.head_dim;
  uint64_t place = s->page == NULL ? p * s->row_bytes
    : s->page[p / s->page_rows] + p % s->page_rows * s->row_bytes;
  size_t from = (size_t) (s->first_row + tile->row) * a.n_kv_heads * d;
  EACH_THREAD(t)
    for (uint32_t i = t; i < a.n_kv_heads * d; i += at.threads) {
      uint64_t head = place + i / d * s->head_bytes;
      put_numbers(a.k + from + i / d * d, s->type, i % d, s->key + head);
      put_numbers(a.v + from + i / d * d, s->type, i % d, s->value + head);
    }
}

@ What these kernels are given.

@(small.h@>=
#ifndef INCIPIT_CUDA_SMALL_H
#define INCIPIT_CUDA_SMALL_H
enum { DEVICE_SILU, DEVICE_GELU_TANH, DEVICE_GELU_ERF };
  /* those of |enum activation_kind| */
struct norm_args { const float *x; float *y; struct stored_rows gain, bias; uint32_t d, centred; float epsilon; uint32_t zero; };
  /* a block of threads for each row of |d| */
struct angles_args { const uint32_t *position; const float *frequency; float *x, *cosine, *sine;
  uint32_t rows, half, n_heads; float scaling; };
  /* |x|: [rows][n\_heads][2*half], in place */
struct activate_args { const float *x, *up; float *y; size_t n; uint32_t kind, zero; };
  /* |up| may be null */
struct move_args { const float *x; float *y; const uint32_t *id; const uint64_t *which; struct stored_rows table; size_t n, width; };
  /* row |id[i]| of |table|, or row |which[i]| of |x|, to row |i| of |y| */
struct split_args { const float *x; float *y[MOST_PARTS]; size_t rows, n, width; };
  /* |x|: [rows][n][width] */
struct copy_args { void *to; const void *from; size_t n; uint32_t wide, zero; };
  /* |n| bytes within the device, or |n| times sixteen if |wide| */
struct mark_args { const float *x; uint32_t *first; uint32_t d, mark, none, zero; };
  /* a block of threads for each row of |d| */
struct bytes_args { const float *x; int8_t *q; float *d; size_t n; };
  /* |n| blocks of 32 */
struct halves_args { const float *x; uint32_t *h; uint32_t rows, in, words, zero; };
  /* |x|: [rows][in]; |h|: [rows][words], two numbers each */
struct round_args { float *left; float a, c; };
  /* |left[0]|: |a*a + c| as it is compiled; |left[1]|: the multiply--add of the kernels */
struct probe_args { float *left; uint32_t n, zero; };
  /* |8*n| multiply-adds a thread */
struct write_args { const struct device_segment *segment; const struct query_tile *tile;
  const float *k, *v; uint32_t n_kv_heads, head_dim; };
  /* a block of threads for each tile, which is one row */
#endif

@* Reading numbers. \label{sec:readingnumbers}
Two, four or sixteen bytes come in one load on the device, where all our rows are aligned. C does not allow a number to be read as another type than it was written as, so the host copies the bytes. In a cache that a caller has made, numbers may be at odd addresses; there a half is read as two bytes.

@(reading.inc@>=
struct __attribute__((aligned(16))) four_words { uint32_t word[4]; };
#ifdef __CUDACC__
#define LOAD(type, p) return *(const type *) (p)
#else
#define LOAD(type, p) type u; memcpy(&u, p, sizeof u); return u
#endif
INLINE struct four_words load_four(const void *p)
{
  @[LOAD(struct four_words, p)@];
}
INLINE uint32_t load_word(const void *p)
{
  @[LOAD(uint32_t, p)@];
}
INLINE uint16_t load_half(const void *p)
{
  @[LOAD(uint16_t, p)@];
}
INLINE uint16_t half_of_bytes(const void *p)
{
  const unsigned char *c = (const unsigned char *) p;
  return (uint16_t) (c[0] | c[1] << 8);
}

@ Numbers as they are stored become floats on their way into a register. Nothing is rounded in that, so it does not matter where it is done.

@(reading.inc@>=
INLINE float half_number(uint16_t h)
{
#ifdef __CUDACC__
  return __half2float(__ushort_as_half(h));
#else
  return num_from_f16(h);
#endif
}

INLINE float number_at(const struct stored_rows *s, size_t row, size_t k)
{
  size_t i = row * s->stride + k;
  if (s->type == DEVICE_F32) return ((const float *) s->data)[i];
  if (s->type == DEVICE_Q8_0)
    return (float) ((const int8_t *) s->data)[i]
      * half_number(s->scale[row * (s->stride / 2) + k / 32]);
  uint16_t h = ((const uint16_t *) s->data)[i];
  return s->type == DEVICE_F16 ? half_number(h) : num_from_bf16(h);
}

@ Two numbers come in one load, if their type has its own case. The type is a constant wherever the function is called, so the compiler keeps one of the cases.

@(reading.inc@>=
struct __attribute__((aligned(8))) two_floats { float a, b; };
INLINE void two_at(const struct stored_rows *s, int type, size_t row, size_t k,
  float w[2])
{
  size_t i = row * s->stride + k;
  switch ((enum device_type) type) {
  case DEVICE_F32: {
    struct two_floats v = *(const struct two_floats *) ((const float *) s->data + i);
    w[0] = v.a, w[1] = v.b;
    break;
  }
  case DEVICE_F16: case DEVICE_BF16: {
    uint32_t both = load_word((const uint16_t *) s->data + i);
    uint16_t low = (uint16_t) both, high = (uint16_t) (both >> 16);
    w[0] = type == DEVICE_F16 ? half_number(low) : num_from_bf16(low);
    w[1] = type == DEVICE_F16 ? half_number(high) : num_from_bf16(high);
    break;
  }
  case DEVICE_Q8_0: {
    uint16_t both = load_half((const int8_t *) s->data + i);
    float scale = half_number(s->scale[row * (s->stride / 2) + k / 32]);
    w[0] = (float) (int8_t) both * scale, w[1] = (float) (int8_t) (both >> 8) * scale;
    break;
  }
  case DEVICE_Q4_0: w[0] = w[1] = 0; /* only the cache has it */
  }
}

@* The queries of a tile. \label{sec:tilequeries}
A position that no row of the tile sees may lie after the last row, where there is no page, or before the window, where the page has been given to others. In its place the kernels fetch the position of the tile's first row, and do nothing with it. So no load waits for a decision.

@(queries.inc@>=
INLINE bool is_seen(const struct device_segment *s, uint32_t row, uint32_t p)
{
  uint32_t last = s->first_position + row, lo = 0;
  if (s->window > 0 && last >= s->window) lo = last + 1 - s->window;
  return p <= last && (p >= lo || p < s->sinks);
}

INLINE bool sees_block(const struct device_segment *s, uint32_t row, uint32_t begin)
{
  uint32_t last = s->first_position + row, end = last - begin < 255 ? last : begin + 255;
  return begin <= last && (is_seen(s, row, begin) || is_seen(s, row, end));
}

INLINE uint64_t place_seen(const struct device_segment *s, const struct query_tile *tile,
  uint32_t p)
{
  uint32_t end = tile->row + tile->rows;
  bool seen = false;
  for (uint32_t r = tile->row; r < end && !seen; r++) seen = is_seen(s, r, p);
  if (!seen) p = s->first_position + tile->row;
  if (s->page == NULL) return p * s->row_bytes;
  return s->page[p / s->page_rows] + p % s->page_rows * s->row_bytes;
}

@ Query |i| of a tile is head |i%heads| of row |i/heads|. Its number among all the heads of the slice tells where what it leaves goes.

@(queries.inc@>=
INLINE uint32_t query_row(const struct attend_args *a, const struct query_tile *tile, unsigned i)
{ return tile->row + i / a->heads; }
INLINE size_t query_place(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, unsigned i)
{
  uint32_t group = a->n_heads / a->n_kv_heads;
  size_t row = s->first_row + query_row(a, tile, i);
  return row * a->n_heads + at->y * group + tile->head + i % a->heads;
}

INLINE bool query_is(const struct attend_args *a, const struct query_tile *tile, unsigned i)
{
  uint32_t group = a->n_heads / a->n_kv_heads;
  return i < tile->rows * a->heads && tile->head + i % a->heads < group;
}

@* Choosing a token on the device. \label{sec:devicechoosing}
Of equal sums the lower id wins, so that the order of comparisons does not matter.

@(choose.inc@>=
INLINE void keep_best(struct best_token *b, double score, uint32_t id)
{
  if (score > b->score || (score == b->score && id < b->id))
    b->score = score, b->id = id;
}

@ The noise is that of \cref{sec:gumbel}: Philox's ten rounds, of which the first 52 bits are used. They are written a second time here because the sampler's are in a file that the device's compiler does not see.

@(choose.inc@>=
INLINE double noise_of(const struct choose_args *a, uint32_t id)
{
  uint32_t k0 = (uint32_t) a->seed, k1 = (uint32_t) (a->seed >> 32);
  uint32_t c[4] = { id, a->position, a->sequence, 0 };
  for (int round = 0; round < 10; round++) {
    uint64_t p = (uint64_t) 0xD2511F53u * c[0], q = (uint64_t) 0xCD9E8D57u * c[2];
    c[0] = (uint32_t) (q >> 32) ^ c[1] ^ k0, c[1] = (uint32_t) q;
    c[2] = (uint32_t) (p >> 32) ^ c[3] ^ k1, c[3] = (uint32_t) p;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  uint64_t m = (uint64_t) c[0] << 20 | c[1] >> 12;
  return -num_log(-num_log(((double) m + 0.5) * 0x1p-52));
}

@ Each block of threads chooses among some tokens, and a second kernel among the blocks.

@(choose.inc@>=
KERNEL void choose_parts(GRID const struct choose_args a)
{
  HERE(at);
  @[SHARED(struct best_token, best, 256)@];
  EACH_THREAD(t) {
    struct best_token b = @[{ -INFINITY, UINT32_MAX, 0 }@];
    for (uint32_t i = at.x * at.threads + t; i < a.n; i += a.parts * at.threads) {
      double score = (double) a.logits[i];
      if (a.temperature > 0) score = score / a.temperature + noise_of(&a, i);
      if (!(score < INFINITY)) score = INFINITY;
      keep_best(&b, score, i);
    }
    best[t] = b;
  }
  EACH_THREAD(t)
    if (t == 0) {
      struct best_token b = best[0];
      for (unsigned i = 1; i < at.threads; i++) keep_best(&b, best[i].score, best[i].id);
      a.part[at.x] = b;
    }
}

KERNEL void choose_token(GRID const struct choose_args a)
{
  HERE(at);
  EACH_THREAD(t)
    if (t == 0)
      for (uint32_t i = 1; i < a.parts; i++)
        keep_best(a.part, a.part[i].score, a.part[i].id);
}

@* Tiles of bytes. \label{sec:bytetiles}
With many rows a thread has four rows by four outputs, and a block of threads 64 by 64. One step is one block of 32 numbers: whole sums that begin at 0, and then a multiply--add for each with the product of two scales.

@<Sizes of tiles of bytes@>=
enum { BYTE_TILE = 64, WORDS = 8, WORD_STRIDE = 9 };

@ Two phases a block of 32: fill, multiply.

@<Many rows of bytes by a matrix@>=
INLINE void many_bytes(const struct linear_args *a, struct block_place at)
{
  const struct matrix_part *m = part_of(a, &at.x);
  @[SHARED(uint32_t, xs, BYTE_TILE * WORD_STRIDE)@];
  @[SHARED(uint32_t, ws, BYTE_TILE * WORD_STRIDE)@];
  @[SHARED(float, xd, BYTE_TILE)@];
  @[SHARED(float, wd, BYTE_TILE)@];
  @[PRIVATE(float, sum, 16)@];
  EACH_THREAD(t) {
    UNROLL(16)
    for (int i = 0; i < 16; i++) MINE(sum)[i] = 0;
  }
  for (uint32_t b = 0; b < a->in / 32; b++) {
    EACH_THREAD(t) fill_words(a, m, &at, b, t, xs, ws, xd, wd);
    EACH_THREAD(t) multiply_words(t, xs, ws, xd, wd, MINE(sum));
  }
  EACH_THREAD(t) {
    UNROLL(16)
    for (unsigned i = 0; i < 16; i++)
      put_output(a, m, at.y * BYTE_TILE + t / 16 * 4 + i / 4,@|
        at.x * BYTE_TILE + t % 16 * 4 + i % 4, MINE(sum)[i]);
  }
}

@ Each word has four bytes. The scales go with the first two words of a row.

@<Tiles of words in shared memory@>=
INLINE void fill_words(const struct linear_args *a, const struct matrix_part *m,
  const struct block_place *at, uint32_t b, unsigned t, uint32_t *xs, uint32_t *ws,
  float *xd, float *wd)
{
  for (unsigned i = t; i < BYTE_TILE * WORDS; i += MANY_THREADS) {
    unsigned row = i / WORDS, word = i % WORDS;
    uint32_t r = at->y * BYTE_TILE + row, o = at->x * BYTE_TILE + row;
    size_t xi = (size_t) r * a->in + b * 32, wi = (size_t) o * m->weight.stride + b * 32;
    bool has_x = r < a->rows, has_w = o < m->out;
    xs[row * WORD_STRIDE + word] = has_x ? load_word(a->q + xi + 4 * word) : 0;
    ws[row * WORD_STRIDE + word] = has_w
      ? load_word((const int8_t *) m->weight.data + wi + 4 * word) : 0;
    if (word == 0) xd[row] = has_x ? a->d[xi / 32] : 0;
    if (word == 1) wd[row] = has_w ? half_number(m->weight.scale[(size_t) o * (m->weight.stride / 2) + b]) : 0;
  }
}

INLINE void multiply_words(unsigned t, const uint32_t *xs, const uint32_t *ws,
  const float *xd, const float *wd, float *sum)
{
  unsigned row = t / 16 * 4, out = t % 16 * 4;
  int whole[16] = { 0 };
  UNROLL(8)
  for (unsigned k = 0; k < WORDS; k++) {
    UNROLL(16)
    for (unsigned i = 0; i < 16; i++)
      whole[i] = dot_word(xs[(row + i / 4) * WORD_STRIDE + k],@|
        ws[(out + i % 4) * WORD_STRIDE + k], whole[i]);
  }
  UNROLL(16)
  for (unsigned i = 0; i < 16; i++)
    sum[i] = fmaf((float) whole[i], wd[out + i % 4] * xd[row + i / 4], sum[i]);
}

@ These are a file of their own.

@(bytes.inc@>=
@<Sizes of tiles of bytes@>@;
@<Tiles of words in shared memory@>@;
@<Many rows of bytes by a matrix@>@;

@* Two drivers.
Device number |n| of the host is the host with threads in order |n|.

@(driver_host.inc@>=
#include <stdlib.h>
#include <unistd.h>
static void *host_open(unsigned number, struct device_facts *facts, char why[200])
{
  struct host_state *s = number > 2 ? NULL : calloc(1, sizeof *s);
  strcpy(why, number > 2 ? "the host as a device has the numbers 0, 1 and 2" : "out of memory");
  if (s == NULL) return NULL;
  s->order = number;
  uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);
  *facts = (struct device_facts) @[{ .name = "host", .multiprocessors = 1,@|
    .bytes = (uint64_t) sysconf(_SC_PHYS_PAGES) * page,@|
    .free = (uint64_t) sysconf(_SC_AVPHYS_PAGES) * page }@];
  return s;
}

static void *host_alloc(void *state, size_t bytes)
{
  (void) state;
  void *p = aligned_alloc(256, (bytes + 256) / 256 * 256);
  if (p != NULL) memset(p, 0, bytes);
  return p;
}
static void host_release(void *state, void *p)
{ (void) state, free(p); }
static bool host_move(void *state, void *to, const void *from, size_t bytes)
{ (void) state, memcpy(to, from, bytes); return true; }
static void host_fault(void *state, char why[200])
{ (void) state, strcpy(why, "no fault"); }

const struct device_driver driver_host = @[{ .name = "host", .open = host_open, .close = free,
  .alloc = host_alloc, .release = host_release, .alloc_shared = host_alloc,
  .release_shared = host_release, .put = host_move, .get = host_move,
  .run = host_run, .fault = host_fault }@];

@ A device that is not there is a sentence that says how many there are.

@(driver_cuda.inc@>=
static void cuda_close(void *state)
{
  struct cuda_state *s = here(state);
  for (int i = 0; i < KEPT; i++) drop_graph(&s->kept[i]);
  if (s->stream != NULL) cudaStreamDestroy(s->stream);
  free(s);
}

static void *cuda_open(unsigned number, struct device_facts *facts, char why[200])
{
  struct cuda_state *s = (struct cuda_state *) calloc(1, sizeof *s);
  cudaDeviceProp is;
  size_t left = 0, all = 0;
  int there = 0;
  snprintf(why, 200, "out of memory");
  if (s == NULL) return NULL;
  s->number = (int) number;
  bool ok = went(s, cudaGetDeviceCount(&there));
  if (ok && number >= (unsigned) there) {
    snprintf(why, 200, "device %u; this machine has %d", number, there);
    @+return cuda_close(s), @[(void *) NULL@];
  }
  ok = ok && went(s, cudaSetDevice((int) number))
    && went(s, cudaGetDeviceProperties(&is, (int) number))
    && went(s, cudaMemGetInfo(&left, &all))
    && went(s, cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
  if (!ok) {
    snprintf(why, 200, "%s", cudaGetErrorString(s->fault));
    @+return cuda_close(s), @[(void *) NULL@];
  }
  snprintf(facts->name, sizeof facts->name, "%s", is.name);
  facts->bytes = all, facts->free = left;
  facts->multiprocessors = (uint32_t) is.multiProcessorCount;
  facts->major = (uint32_t) is.major, facts->minor = (uint32_t) is.minor;
  return s;
}

@ Memory of the host that is never moved by the system can be copied to the device without the processor's help, so the small numbers are kept in such memory.

@(driver_cuda.inc@>=
static void *cuda_alloc(void *state, size_t bytes)
{
  struct cuda_state *s = here(state);
  void *p = NULL;
  cudaError_t e = cudaMalloc(&p, bytes > 0 ? bytes : 1);
  if (e == cudaErrorMemoryAllocation) cudaGetLastError(); /* a refusal is no fault */
  else if (went(s, e) && went(s, cudaMemsetAsync(p, 0, bytes, s->stream))) return p;
  cudaFree(p);
  return NULL;
}
static void cuda_release(void *state, void *p)
{ here(state), cudaFree(p); }
static void *cuda_alloc_shared(void *state, size_t bytes)
{
  void *p = NULL;
  return went(here(state), cudaMallocHost(&p, bytes)) ? p : NULL;
}
static void cuda_release_shared(void *state, void *p)
{ here(state), cudaFreeHost(p); }

static bool cuda_put(void *state, void *to, const void *from, size_t bytes)
{
  struct cuda_state *s = here(state);
  return went(s, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->stream))
    && went(s, cudaStreamSynchronize(s->stream));
}
static bool cuda_get(void *state, void *to, const void *from, size_t bytes)
{
  struct cuda_state *s = here(state);
  return went(s, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, s->stream))
    && went(s, cudaStreamSynchronize(s->stream));
}
static void cuda_fault(void *state, char why[200])
{
  struct cuda_state *s = (struct cuda_state *) state;
  snprintf(why, 200, "%s", cudaGetErrorString(s->fault));
}

const struct device_driver driver_cuda = @[{ "cuda", cuda_open, cuda_close, cuda_alloc,
  cuda_release, cuda_alloc_shared, cuda_release_shared, cuda_put, cuda_get, cuda_run,
  cuda_fault }@];

@* The list of kernels. \label{sec:works}
The list of the kernels stands once. It makes the names of an |enum|, the table of functions for the device, and the cases of a |switch| for the host.

@(works.inc@>=
#define WORKS(DO) \
  DO(few_f32_1, linear) DO(few_f32_2, linear) DO(few_f32_4, linear) DO(few_f32_8, linear) \
  DO(few_f16_1, linear) DO(few_f16_2, linear) DO(few_f16_4, linear) DO(few_f16_8, linear) \
  DO(few_bf16_1, linear) DO(few_bf16_2, linear) DO(few_bf16_4, linear) DO(few_bf16_8, linear) \
  DO(few_q8_1, linear) DO(few_q8_2, linear) DO(few_q8_4, linear) DO(few_q8_8, linear) \
  DO(many_f32, linear) DO(many_f16, linear) DO(many_bf16, linear) DO(many_q8, linear) \
  DO(bytes_1, linear) DO(bytes_2, linear) DO(bytes_4, linear) DO(bytes_8, linear) \
  DO(bytes_many, linear) DO(halves_few, linear) DO(halves_many, linear) \
  DO(step_outputs, linear) DO(step_lanes, linear) DO(step_pairs, linear) \
  DO(add_rows, add) DO(attend_blocks, attend) DO(join_blocks, attend) \
  DO(normalize_rows, norm) DO(make_angles, angles) DO(rotate_rows, angles) \
  DO(activate_rows, activate) DO(embed_rows, move) DO(gather_rows, move) \
  DO(split_rows, split) DO(copy_bytes, copy) DO(mark_rows, mark) \
  DO(bytes_of_rows, bytes) DO(halves_of_rows, halves) DO(write_rows, write) DO(multiply_only, probe) DO(check_rounding, round) \
  DO(choose_parts, choose) DO(choose_token, choose)
#define WORK_NAME(name, of) WORK_##name,

@* Opening a device. \label{sec:deviceheader}
To the rest of the engine a device is a table of kernels with a memory of its own.

@(device.h@>=
#ifndef INCIPIT_CUDA_DEVICE_H
#define INCIPIT_CUDA_DEVICE_H
#include "kernels/kernels.h"
struct device; /* begins with the |struct buffers| of its memory; used by one thread at a time */
struct device *device_open(struct memory *m, const char *name, struct error *why);
  /* \.{cuda}, \.{cuda:n}, or \.{host:n}, which runs the same kernels on the host, its threads in order |n|, 0 to 2; null and a
     sentence, which without CUDA in this build says how to get it. Owned by the caller */
void device_close(struct device *d);
  /* frees what the device still holds; null does nothing */
const struct kernels *device_kernels(const struct device *d);
  /* its table, for an engine; valid as long as the device is open */
const struct buffers *device_memory(const struct device *d);
  /* the memory of that table */
const char *device_name(const struct device *d);
  /* the name that it gives itself */
void device_room(const struct device *d, uint64_t *bytes, uint64_t *free);
  /* its memory, and what was free when it was opened */
struct device_counts { uint64_t launches, lists, known; };
  /* kernels that were launched, and lists in which they were sent */
struct device_counts device_count(const struct device *d);
  /* since it was opened; |known|: lists that had the shape of one of the last four */
bool device_measure(const struct device *d, double *madds, double *bytes, struct error *why);
  /* multiply-adds in float, and bytes read or written by a copy, a second: the best of some rounds */
bool device_step(const struct device *d, unsigned step, const uint16_t *w,@|
  const float *x, uint32_t in, uint32_t out, float *y, double *seconds, struct error *why);
  /* one row |x| by a matrix |w| of bfloat16, [out][in], |in| a multiple of 16, all of them the host's: |y| by the kernel of a step of chapter 14's table, 0 to 3, and how long one of ten launches took */
bool device_choose(const struct device *d, const float *logits, uint32_t n,@|
  double temperature, uint64_t seed, uint32_t sequence, uint32_t position, uint32_t *id,@|
  struct error *why);
  /* the token that |funnel_choose| takes from logits on the device, if nothing but a temperature was set; 0: the likeliest.
     Refuses the logits that |funnel_fill| refuses */
#endif

@ What the device keeps between two calls: the list of launches, the small numbers in the shared memory, and blocks that were released and may be used again.

@(queue.h@>=
#ifndef INCIPIT_CUDA_QUEUE_H
#define INCIPIT_CUDA_QUEUE_H
#include "cuda/device.h"
#include "cuda/launch.h"
enum { SMALL_BYTES = 4 << 20, WORK_BYTES = 64 << 20,
  HOST_WORK_BYTES = 1 << 20 };
  /* of the small numbers, and of the workspace */
struct launch_shape { uint32_t work, x, y, z, threads; };
  /* what a graph cannot change */
struct known_list { struct launch_shape *shape; size_t n; };
  /* a list that was run */
struct device_block { void *p; size_t bytes, charged; enum memory_class what; struct memory *m; bool used; };
  /* memory of the device, and how much of it is charged to whom */
struct device { struct buffers memory; struct kernels k; const struct device_driver *driver;
  void *state; struct memory *m; struct device_facts facts;
  struct launch *list; size_t n; struct known_list known[KEPT]; unsigned oldest;
  char *small, *mirror; size_t filled, sent, work_bytes;
  struct device_block *block; size_t n_blocks, cap;
  char *work; void *lent[2 * MOST_PARTS]; size_t n_lent; bool failed; char fault[200]; struct device_counts counts; };
  /* |memory| comes first: the kernels find the device by it */
@#
void device_reserve(struct device *d, size_t bytes, size_t pieces);
  /* makes room for that many bytes in as many calls of |device_send|; nothing else may be asked of the device before the launch that uses them */
void *device_send(struct device *d, const void *from, size_t bytes);
  /* the place on the device at which a copy of |from| will be before the next launch */
void device_launch(struct device *d, const struct launch *l);
  /* adds it to the list */
bool device_flush(struct device *d);
  /* runs the list; false if the device has failed */
bool device_memory_open(struct device *d, struct error *why);
  /* gives |d->memory| its functions, and allocates what |d| needs itself */
void device_memory_close(struct device *d);
  /* frees all blocks */
void device_fails(struct device *d, const char *why);
  /* notes the first failure: nothing is launched any more */
void device_table(struct device *d);
  /* makes |d->k| */
#endif

@ A device that has failed does nothing more. The first failure stays, and |working| tells it when a pass ends.

@(queue.c@>=
#include <stdio.h>
#include <string.h>
#include "cuda/queue.h"
@<Note a failure@>@;
@<Run the list@>@;
@<Send small numbers@>@;
@<Add a launch to the list@>@;
@<Find a block for a request@>@;
@<Give and take memory of the device@>@;
@<Move bytes to the device and back@>@;
@<Open and close the memory of a device@>@;

@ The first failure is the one that is told: what fails after it usually fails because of it. What was in the list is forgotten, and nothing can be added to it any more (\cref{sec:devicelist}). A caller that tries pass after pass on a device that has failed must get the sentence each time, and not a list that grows beyond its end.

@<Note a failure@>=
void device_fails(struct device *d, const char *why)
{
  if (!d->failed) snprintf(d->fault, sizeof d->fault, "%s", why);
  d->failed = true, d->n = 0;
}

static bool failed(struct device *d)
{
  char why[200];
  d->driver->fault(d->state, why);
  device_fails(d, why);
  return false;
}

@ The shapes of the last lists are remembered, each in a place of its own; a list of another shape takes the place that was given out longest ago. For the driver of CUDA a place has a graph.

@<Run the list@>=
static struct launch_shape shape_of(const struct launch *l)
{
  return (struct launch_shape) @[{ (uint32_t) l->work, l->x, l->y, l->z, l->threads }@];
}

static bool has_shape(const struct known_list *k, const struct launch *list, size_t n)
{
  for (size_t i = 0; i < n && k->n == n; i++) {
    struct launch_shape s = shape_of(&list[i]);
    if (memcmp(&k->shape[i], &s, sizeof s) != 0) return false;
  }
  return k->n == n;
}

static bool is_known(struct device *d, size_t n, unsigned *place)
{
  for (*place = 0; *place < KEPT; ++*place)
    if (has_shape(&d->known[*place], d->list, n)) return true;
  struct known_list *k = &d->known[*place = d->oldest];
  d->oldest = (d->oldest + 1) % KEPT, k->n = n;
  for (size_t i = 0; i < n; i++) k->shape[i] = shape_of(&d->list[i]);
  return false;
}

@ What has been collected since the last time is sent with the list.

@<Run the list@>=
bool device_flush(struct device *d)
{
  size_t from = d->sent, n = d->n;
  if (d->failed) return false;
  if (n == 0) return true;
  d->sent = d->filled, d->n = 0;
  unsigned place;
  bool known = is_known(d, n, &place);
  d->counts.launches += n, d->counts.lists++;
  d->counts.known += known;
  return d->driver->run(d->state, d->list, n, place, known, d->mirror + from, d->small + from,
    d->filled - from) || failed(d);
}

@ Shared memory that has been sent may still be under way, so it is used again only when the device has been waited for. That happens whenever numbers come back, which is once a pass; then the next pass puts its numbers in the same places, and finds the same arguments in its launches. What one call sends belongs together: a kernel is given addresses of all of it. So a function says first how much it will send, and if there is no room for that, the device is waited for before the first of it is put down. More than all the room in one call is a failure; no pass of a size that we know comes near it.

@<Send small numbers@>=
static bool settle(struct device *d)
{
  char last;
  return device_flush(d) && (d->driver->get(d->state, &last, d->mirror, 1) || failed(d));
}

void device_reserve(struct device *d, size_t bytes, size_t pieces)
{
  size_t most = bytes + 16 * pieces;
  if (d->filled + most <= SMALL_BYTES) return;
  settle(d);
  d->filled = d->sent = 0;
  if (most > SMALL_BYTES) device_fails(d, "one call has more places to send than there is room for");
}

void *device_send(struct device *d, const void *from, size_t bytes)
{
  char *to = d->mirror + d->filled;
  if (d->failed || bytes > SMALL_BYTES - d->filled) {
    device_fails(d, "more was sent than had been reserved");
    return d->mirror;
  }
  memcpy(d->small + d->filled, from, bytes);
  d->filled += (bytes + 15) / 16 * 16;
  return to;
}

@ A launch of no blocks does nothing, and CUDA would refuse it. A full list is run; if that fails, there is no place for another launch.  \label{sec:devicelist}

@<Add a launch to the list@>=
void device_launch(struct device *d, const struct launch *l)
{
  if (l->x == 0 || l->y == 0 || l->z == 0) return;
  if (d->n == MOST_LAUNCHES) device_flush(d);
  if (!d->failed) d->list[d->n++] = *l;
}

@ A pass asks for the same arrays again and again. So a block that is released is kept, and is given to the next request of its size: the addresses stay the same as well.

@<Find a block for a request@>=
static struct device_block *kept_block(struct device *d, size_t bytes)
{
  for (size_t i = 0; i < d->n_blocks; i++)
    if (!d->block[i].used && d->block[i].bytes == bytes) return &d->block[i];
  return NULL;
}

static void drop_kept(struct device *d)
{
  if (d->n_blocks > 0) settle(d);
  for (size_t i = 0; i < d->n_blocks; )
    if (d->block[i].used) i++;
    else {
      d->driver->release(d->state, d->block[i].p);
      d->block[i] = d->block[--d->n_blocks];
    }
}

static struct device_block *new_block(struct device *d, size_t bytes, struct error *why)
{
  struct device_block *list = memory_reserve(d->m, MEMORY_OTHER, d->block, &d->cap,
    d->n_blocks + 1, 16, sizeof *list, why);
  if (list == NULL) return NULL;
  d->block = list;
  void *p = d->driver->alloc(d->state, bytes);
  if (p == NULL) drop_kept(d), p = d->driver->alloc(d->state, bytes);
  if (p == NULL) return NULL;
  d->block[d->n_blocks] = (struct device_block) @[{ .p = p, .bytes = bytes }@];
  return &d->block[d->n_blocks++];
}

@ Bytes are charged to the one who asks for them, as everywhere, whether the block is new or kept.

@<Give and take memory of the device@>=
static void *device_alloc(const struct buffers *b, struct memory *m,
  enum memory_class what, size_t count, size_t size, struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) b;
  if (size != 0 && count > SIZE_MAX / 2 / size) {
    error_say(why, "out of memory of %s: %zu times %zu bytes for %s", d->facts.name,
      count, size, memory_class_name(what));
    return NULL;
  }
  size_t bytes = (count * size + 256) / 256 * 256;
  if (!memory_charge(m, what, count * size, why)) return NULL;
  struct error inner = { "" };
  struct device_block *k = kept_block(d, bytes);
  if (k == NULL) k = new_block(d, bytes, &inner);
  if (k != NULL) {
    k->used = true, k->charged = count * size;
    k->what = what, k->m = m;
    return k->p;
  }
  memory_discharge(m, what, count * size);
  if (d->failed) error_say(why, "%s failed: %s", d->facts.name, d->fault);
  else error_say(why, "out of memory of %s: %zu bytes for %s, %llu held by this program of %llu",
    d->facts.name, count * size, memory_class_name(what),
    (unsigned long long) m->all.live, (unsigned long long) d->facts.bytes);
  return NULL;
}

static void device_release(const struct buffers *b, struct memory *m, void *p)
{
  struct device *d = (struct device *) (uintptr_t) b;
  for (size_t i = 0; i < d->n_blocks && p != NULL; i++) {
    if (d->block[i].p != p || !d->block[i].used) continue;
    memory_discharge(m, d->block[i].what, d->block[i].charged);
    d->block[i].used = false;
  }
}

@ Few bytes go the way of the small numbers and are copied by a kernel in their turn. Many are copied at once, after what is in the list. What comes back comes into the page-locked memory of the small numbers, which nobody needs any more once the list has run, and is copied to the caller from there. To ordinary memory the driver would copy by such a way round as well, only in memory of its own.

@<Move bytes to the device and back@>=
static void launch_copy(struct device *d, void *to, const void *from, size_t bytes)
{
  bool wide = ((uintptr_t) to | (uintptr_t) from | bytes) % 16 == 0;
  size_t n = wide ? bytes / 16 : bytes, blocks = (n + 255) / 256;
  struct launch l = @[{ .work = WORK_copy_bytes, .y = 1, .z = 1, .threads = 256 }@];
  l.x = blocks > WIDEST ? WIDEST : (uint32_t) blocks;
  l.a.copy = (struct copy_args) @[{ to, from, n, wide, 0 }@];
  device_launch(d, &l);
}

static void device_set(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  struct device *d = (struct device *) (uintptr_t) b;
  if (bytes <= 1 << 16) {
    device_reserve(d, bytes, 1);
    launch_copy(d, to, device_send(d, from, bytes), bytes);
  } else if (device_flush(d) && !d->driver->put(d->state, to, from, bytes)) failed(d);
}

static void device_get(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  struct device *d = (struct device *) (uintptr_t) b;
  memset(to, 0, bytes);
  for (size_t at = 0, now; at < bytes && device_flush(d); at += now) {
    now = bytes - at < SMALL_BYTES ? bytes - at : SMALL_BYTES;
    if (d->driver->get(d->state, d->small, (const char *) from + at, now))
      memcpy((char *) to + at, d->small, now);
    else failed(d);
  }
  d->filled = d->sent = 0;
}

static void device_copy(const struct buffers *b, void *to, const void *from, size_t bytes)
{ launch_copy((struct device *) (uintptr_t) b, to, from, bytes); }

static bool device_working(const struct buffers *b, struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) b;
  return !d->failed || error_say(why, "%s failed: %s", d->facts.name, d->fault);
}

@ The device needs three blocks of its own: the mirror, the workspace of attention and of rounded inputs, and the list.

@<Open and close the memory of a device@>=
bool device_memory_open(struct device *d, struct error *why)
{
  d->memory = (struct buffers) @[{ .alloc = device_alloc, .release = device_release,@|
    .set = device_set, .get = device_get, .copy = device_copy, .working = device_working }@];
  d->list = memory_alloc(d->m, MEMORY_OTHER, MOST_LAUNCHES, sizeof *d->list, why);
  struct launch_shape *shape = d->list == NULL ? NULL
    : memory_alloc(d->m, MEMORY_OTHER, KEPT * MOST_LAUNCHES, sizeof *shape, why);
  if (shape == NULL) return false;
  for (int i = 0; i < KEPT; i++) d->known[i].shape = shape + i * MOST_LAUNCHES;
  d->mirror = device_alloc(&d->memory, d->m, MEMORY_OTHER, SMALL_BYTES, 1, why);
  d->work = d->mirror == NULL ? NULL
    : device_alloc(&d->memory, d->m, MEMORY_ACTIVATIONS, d->work_bytes, 1, why);
  d->small = d->work == NULL ? NULL : d->driver->alloc_shared(d->state, SMALL_BYTES);
  if (d->small == NULL && d->work != NULL)
    return error_say(why, "out of memory: %d bytes to exchange with %s", SMALL_BYTES, d->facts.name);
  return d->small != NULL;
}

void device_memory_close(struct device *d)
{
  if (d->list != NULL && d->mirror != NULL) settle(d);
  if (d->small != NULL) d->driver->release_shared(d->state, d->small);
  for (size_t i = 0; i < d->n_blocks; i++) {
    struct device_block *b = &d->block[i];
    if (b->used) memory_discharge(b->m, b->what, b->charged);
    d->driver->release(d->state, b->p);
  }
  memory_free(d->m, d->block);
  memory_free(d->m, d->list), memory_free(d->m, d->known[0].shape);
}

@* The table. \label{sec:devicetable}
Each function of the table turns its arguments into a launch. Hidden states, keys and values are on the device already. Weights are looked for among the copies that were prepared when the model was opened.

@(table.c@>=
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cuda/queue.h"
#include "ground/timing.h"
@<The types of a device are ours@>@;
@<Begin a launch@>@;
@<Put a matrix on the device@>@;
@<Find a tensor on the device@>@;
@<Linear layers on a device@>@;
@<Linear layers with rounded inputs@>@;
@<The small kernels of a layer@>@;
@<Segments and tiles for the device@>@;
@<Attention on a device@>@;
@<Rows and marks on a device@>@;
@<The choice on a device@>@;
@<Measure a device@>@;
@<The table of a device@>@;
@<Open a device, and close it@>@;

@ The kernels have their own names for the types, since their file does not see our headers. A device does not read all types: the set says which, and a model that has others is refused (\cref{sec:refused}).

@<The types of a device are ours@>=
_Static_assert((int) DEVICE_F32 == (int) WEIGHT_F32 && (int) DEVICE_F16 == (int) WEIGHT_F16@|
  && (int) DEVICE_BF16 == (int) WEIGHT_BF16 && (int) DEVICE_Q8_0 == (int) WEIGHT_Q8_0@|
  && (int) DEVICE_Q4_0 == (int) WEIGHT_Q4_0, "types of numbers");
enum { DEVICE_WEIGHTS = 1 << WEIGHT_F32 | 1 << WEIGHT_F16 | 1 << WEIGHT_BF16@|
  | 1 << WEIGHT_Q8_0 };
  /* the types of matrices that a device reads, bit |1 << type| for each */
_Static_assert((int) WORK_few_q8_1 == (int) WORK_few_f32_1 + 4 * (int) WEIGHT_Q8_0@|
  && (int) WORK_many_q8 == (int) WORK_many_f32 + (int) WEIGHT_Q8_0, "the order of kernels");
_Static_assert((int) DEVICE_SILU == (int) ACTIVATION_SILU
  && (int) DEVICE_GELU_TANH == (int) ACTIVATION_GELU_TANH, "activations");

@ The launch is zeroed first, so that two launches with equal arguments are equal bytes.

@<Begin a launch@>=
static struct device *device_of(const struct engine *e)
{ return (struct device *) (uintptr_t) e->k->memory; }
static struct launch launch_of(enum kernel_work work, size_t x, size_t y, unsigned threads)
{
  struct launch l;
  memset(&l, 0, sizeof l);
  l.work = work, l.threads = threads;
  l.x = (uint32_t) x, l.y = (uint32_t) y;
  l.z = 1;
  return l;
}

static struct launch launch_each(enum kernel_work work, size_t n)
{
  size_t blocks = (n + 255) / 256;
  return launch_of(work, blocks > WIDEST ? WIDEST : blocks, 1, 256);
}

@ A matrix is stored on the device by outputs, whatever order its file has, each row padded with zeros to a multiple of sixteen numbers, so that two neighbours always come in one load. A row of Q8\_0 has first all its bytes and then its scales, since a block of 34 bytes would be at odd addresses.

@<Put a matrix on the device@>=
static size_t stride_of(const struct matrix *w)
{
  size_t row = w->in + (w->weight.type == WEIGHT_Q8_0 ? w->in / 16 : 0);
  return (row + 15) / 16 * 16;
}
static size_t row_bytes_of(const struct matrix *w)
{
  enum weight_type type = w->weight.type;
  if (type == WEIGHT_Q8_0) return stride_of(w);
  return stride_of(w) * (type == WEIGHT_F32 ? 4 : 2);
}
static size_t device_prepared_bytes(const struct matrix *w, enum activations format)
{
  (void) format;
  bool is_read = (DEVICE_WEIGHTS >> w->weight.type & 1) != 0;
  return is_read ? w->out * row_bytes_of(w) : 0;
}

static void arrange_row(const struct matrix *w, size_t o, char *to)
{
  size_t one = w->weight.type == WEIGHT_F32 ? 4 : 2, step = w->transposed ? w->out : 1;
  const char *from = (const char *) w->weight.data;
  if (w->weight.type == WEIGHT_Q8_0) {
    from += weight_row_bytes(WEIGHT_Q8_0, o * w->in);
    for (size_t b = 0; b < w->in / 32; b++, from += 34)
      memcpy(to + w->in + 2 * b, from, 2), memcpy(to + 32 * b, from + 2, 32);
    return;
  }
  from += (w->transposed ? o : o * w->in) * one;
  for (size_t k = 0; k < w->in; k++) memcpy(to + k * one, from + k * step * one, one);
}

static void arrange(const struct matrix *w, enum activations format, void *to)
{
  (void) format;
  for (size_t o = 0; o < w->out; o++) arrange_row(w, o, (char *) to + o * row_bytes_of(w));
}

@ What a kernel is given of a tensor follows from its shape and its place.

@<Find a tensor on the device@>=
static struct stored_rows stored_at(const struct matrix *w, const void *at)
{
  const void *scale = (const char *) at + w->in;
  return (struct stored_rows) @[{ at, w->weight.type == WEIGHT_Q8_0 ? scale : NULL,@|
    (uint32_t) w->weight.type, (uint32_t) stride_of(w) }@];
}

@ Weights that were not prepared are sent for one launch, into blocks that are given back as soon as it is in the list: a block is used again only by what comes after it. So |lent| never holds more than a launch can need, a matrix and a bias for each part. Tests call kernels like that; an engine that does is slow, but not wrong.

@<Find a tensor on the device@>=
static void *send_for_now(struct device *d, const struct matrix *w)
{
  size_t bytes = device_prepared_bytes(w, ACTIVATIONS_DEFAULT);
  struct error why = { "" };
  if (bytes == 0) return device_fails(d, "a tensor of a type that it cannot read"), NULL;
  char *ready = memory_alloc(d->m, MEMORY_OTHER, bytes, 1, &why);
  void *p = ready == NULL ? NULL
    : d->memory.alloc(&d->memory, d->m, MEMORY_WEIGHTS, bytes, 1, &why);
  if (p != NULL) {
    arrange(w, ACTIVATIONS_DEFAULT, ready);
    d->memory.set(&d->memory, p, ready, bytes);
    d->lent[d->n_lent++] = p;
  } else device_fails(d, why.text);
  memory_free(d->m, ready);
  return p;
}

static void take_back(struct device *d)
{
  while (d->n_lent > 0) d->memory.release(&d->memory, d->m, d->lent[--d->n_lent]);
}

static struct stored_rows tensor_here(const struct engine *e, const struct matrix *w)
{
  if (w->weight.data == NULL) return (struct stored_rows) @[{ .data = NULL }@];
  const void *at = prepared_find(e, w);
  if (at == NULL) at = send_for_now(device_of(e), w);
  return at == NULL ? (struct stored_rows) @[{ .data = NULL }@] : stored_at(w, at);
}

static struct stored_rows vector_here(const struct engine *e, struct tensor t, size_t n)
{
  struct matrix w = @[{ .weight = t, .in = n, .out = 1 }@];
  return tensor_here(e, &w);
}

@ Matrices of one type go into one launch. With few rows the kernel is chosen by how many, with many there is one for each type.

@<Linear layers on a device@>=
struct shape { enum kernel_work few, many; unsigned outputs, tall, wide; };
  /* the kernels; outputs a block with few rows; rows and outputs a block with many */
static void launch_linear(struct device *d, struct linear_args *a, const struct shape *s)
{
  bool few = a->rows <= 16;
  unsigned power = 0;
  while (power < 3 && 1u << power < a->rows) power++;
  unsigned per = few ? s->outputs : s->wide;
  size_t y = few ? (a->rows + (1u << power) - 1) >> power : (a->rows + s->tall - 1) / s->tall;
  enum kernel_work work = few ? s->few + power : s->many;
  if (s->few == WORK_halves_few && few) work = s->few, y = 1;
  uint32_t blocks = 0;
  for (uint32_t i = 0; i < a->n; i++) {
    a->of[i].first = blocks;
    blocks += (a->of[i].out + per - 1) / per;
  }
  struct launch l = launch_of(work, blocks, y, few ? 128 : 256);
  l.a.linear = *a;
  device_launch(d, &l);
  take_back(d);
}

@ The parts of a launch are matrices that stand side by side in the list and have the same type.

@<Linear layers on a device@>=
static size_t gather_parts(const struct engine *e, const struct matrix *list, size_t n,
  float *const *y, struct linear_args *a)
{
  size_t i = 0;
  memset(a->of, 0, sizeof a->of);
  for (; i < n && i < MOST_PARTS && list[i].weight.type == list[0].weight.type; i++) {
    a->of[i].weight = tensor_here(e, &list[i]);
    a->of[i].bias = vector_here(e, list[i].bias, list[i].out);
    a->of[i].y = y[i], a->of[i].out = (uint32_t) list[i].out;
  }
  a->n = (uint32_t) i, a->in = (uint32_t) list[0].in;
  return i;
}

static void device_linear(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  for (size_t i = 0, done; i < n; i += done) {
    struct linear_args a = @[{ .x = x, .rows = (uint32_t) rows }@];
    done = gather_parts(e, list + i, n - i, y + i, &a);
    enum weight_type type = list[i].weight.type;
    struct shape s = @[{ WORK_few_f32_1 + 4 * (unsigned) type, WORK_many_f32 + (unsigned) type,@|
      16, 32, 32 }@];
    launch_linear(device_of(e), &a, &s);
  }
}

@ Inputs that are rounded go into the device's workspace, as many rows at a time as it has room for: |most|. Three functions differ in what they call; a slice of rows is one call.

@<Linear layers with rounded inputs@>=
static void launch_slice(const struct engine *e, const struct matrix *list, size_t n, size_t row,
  struct linear_args *a, const struct shape *s, float *const *y)
{
  for (size_t i = 0, done; i < n; i += done) {
    done = gather_parts(e, list + i, n - i, y + i, a);
    for (size_t j = 0; j < done; j++) a->of[j].y += row * a->of[j].out;
    launch_linear(device_of(e), a, s);
  }
}

static void device_linear_bf16(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  struct device *d = device_of(e);
  struct shape s = { WORK_halves_few, WORK_halves_many, 8, 128, 64 };
  size_t in = list[0].in, words = (in + 15) / 16 * 8, most = d->work_bytes / (4 * words);
  if (most == 0) device_fails(d, "a row of inputs is larger than the workspace");
  for (size_t r = 0, now; r < rows && most > 0; r += now) {
    now = rows - r < most ? rows - r : most;
    struct launch l = launch_each(WORK_halves_of_rows, now * words);
    l.a.halves = (struct halves_args) @[{ x + r * in, (uint32_t *) (void *) d->work,@|
      (uint32_t) now, (uint32_t) in, (uint32_t) words, 0 }@];
    device_launch(d, &l);
    struct linear_args a = @[{ .h = (uint16_t *) (void *) d->work, .rows = (uint32_t) now }@];
    launch_slice(e, list, n, r, &a, &s, y);
  }
}

@ Bytes have their scales after them.

@<Linear layers with rounded inputs@>=
static void round_inputs(struct device *d, struct linear_args *a)
{
  size_t n = (size_t) a->rows * a->in;
  struct launch l = launch_each(WORK_bytes_of_rows, n / 32);
  a->q = (int8_t *) d->work, a->d = (float *) (void *) (d->work + (n + 255) / 256 * 256);
  l.a.bytes = (struct bytes_args) @[{ a->x, (int8_t *) d->work,@|
    (float *) (void *) (d->work + (n + 255) / 256 * 256), n / 32 }@];
  device_launch(d, &l);
}

static void device_linear_int8(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  struct device *d = device_of(e);
  struct shape s = { WORK_bytes_1, WORK_bytes_many, 16, 64, 64 };
  size_t most = (d->work_bytes - 256) / (list[0].in + list[0].in / 8);
  if (most == 0) device_fails(d, "a row of inputs is larger than the workspace");
  for (size_t r = 0, now; r < rows && most > 0; r += now) {
    struct linear_args a = @[{ .x = x + r * list[0].in }@];
    now = rows - r < most ? rows - r : most;
    a.rows = (uint32_t) now, a.in = (uint32_t) list[0].in;
    round_inputs(d, &a);
    launch_slice(e, list, n, r, &a, &s, y);
  }
}

@ The others have no choice to make.

@<The small kernels of a layer@>=
static void device_normalize(const struct engine *e, const struct norm *g, const float *x,
  size_t rows, size_t d, float *y)
{
  struct launch l = launch_of(WORK_normalize_rows, rows, 1, 256);
  l.a.norm = (struct norm_args) @[{ .x = x, .y = y, .gain = vector_here(e, g->gain, d),@|
    .bias = vector_here(e, g->bias, d), .d = (uint32_t) d,@|
    .centred = g->kind == NORM_LAYER, .epsilon = g->epsilon }@];
  device_launch(device_of(e), &l);
  take_back(device_of(e));
}

static void device_angles(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s)
{
  struct device *d = device_of(e);
  struct launch l = launch_each(WORK_make_angles, rows * half);
  device_reserve(d, rows * sizeof *position + half * sizeof *frequency, 2);
  l.a.angles = (struct angles_args) @[{
    .position = device_send(d, position, rows * sizeof *position),@|
    .frequency = device_send(d, frequency, half * sizeof *frequency),@|
    .cosine = c, .sine = s, .rows = (uint32_t) rows, .half = (uint32_t) half,@|
    .scaling = scaling }@];
  device_launch(d, &l);
}

static void device_rotate(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s)
{
  struct launch l = launch_each(WORK_rotate_rows, rows * n_heads * half);
  l.a.angles = (struct angles_args) @[{ .x = x, .cosine = (float *) (uintptr_t) c,@|
    .sine = (float *) (uintptr_t) s, .rows = (uint32_t) rows, .half = (uint32_t) half,@|
    .n_heads = (uint32_t) n_heads }@];
  device_launch(device_of(e), &l);
}

static void device_activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  struct launch l = launch_each(WORK_activate_rows, n);
  l.a.activate = (struct activate_args) @[{ x, up, y, n, (uint32_t) kind, 0 }@];
  device_launch(device_of(e), &l);
}

static void device_add(const struct engine *e, float *y, const float *x, size_t n)
{
  struct launch l = launch_each(WORK_add_rows, n);
  l.a.add = (struct add_args) @[{ y, x, n }@];
  device_launch(device_of(e), &l);
}

@ The addresses of a segment's pages are sent with it, or, where a sequence is cut into several segments, with the last of them. Positions that a window has left have pages no more; the kernels do not look at their entries.

@<Segments and tiles for the device@>=
static size_t pages_of(const struct segment *s)
{
  size_t rows = (size_t) s->first_position + s->n_rows;
  return s->view.page == NULL ? 0 : (rows + s->view.page_rows - 1) / s->view.page_rows;
}

static bool shares_pages(const struct segment *list, size_t n, size_t i)
{
  return i + 1 < n && list[i].view.page == list[i + 1].view.page
    && pages_of(&list[i]) <= pages_of(&list[i + 1]);
}

static void reserve_segments(struct device *d, const struct segment *list, size_t n,
  size_t tiles, size_t slices)
{
  size_t bytes = n * sizeof (struct device_segment) + tiles * sizeof (struct query_tile);
  for (size_t i = 0; i < n; i++)
    if (!shares_pages(list, n, i)) bytes += 8 * pages_of(&list[i]);
  device_reserve(d, bytes, n + slices + 1);
}

@ The segments are sent after their pages, with the addresses on the device in them.

@<Segments and tiles for the device@>=
static const struct device_segment *send_segments(struct device *d,
  const struct segment *list, size_t n)
{
  struct error why = { "" };
  struct device_segment *all = memory_alloc(d->m, MEMORY_OTHER, n, sizeof *all, &why);
  if (all == NULL) return device_fails(d, why.text), NULL;
  for (size_t i = n; i-- > 0; ) {
    const struct kv_view *v = &list[i].view;
    all[i] = (struct device_segment) @[{ v->key, v->value, v->row_bytes, v->head_bytes, NULL,@|
      (uint32_t) v->page_rows, (uint32_t) v->type, v->sinks, list[i].first_row,@|
      list[i].n_rows, list[i].first_position, list[i].window, 0 }@];
    _Static_assert(sizeof (uint64_t) == sizeof *v->page, "addresses of 64 bits");
    if (v->page == NULL) continue;
    all[i].page = shares_pages(list, n, i) ? all[i + 1].page
      : device_send(d, v->page, 8 * pages_of(&list[i]));
  }
  const struct device_segment *there = device_send(d, all, n * sizeof *all);
  memory_free(d->m, all);
  return there;
}

@ The tiles of the rows from |r0| to |r1| of the pass: |most| rows of a segment, for |heads| heads of each group. The first call, with |tile| null, only counts.

@<Segments and tiles for the device@>=
static size_t cut_tiles(const struct segment *list, size_t n, uint32_t r0, uint32_t r1,
  uint32_t most, uint32_t group, uint32_t heads, struct query_tile *tile)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t from = list[i].first_row > r0 ? list[i].first_row : r0;
    uint32_t end = list[i].first_row + list[i].n_rows;
    end = end < r1 ? end : r1;
    for (uint32_t r = from; r < end; r += most)
      for (uint32_t h = 0; h < group; h += heads, count++)
        if (tile != NULL)
          tile[count] = (struct query_tile) @[{ (uint32_t) i, r - list[i].first_row,@|
            end - r < most ? end - r : most, h }@];
  }
  return count;
}

static const struct query_tile *send_tiles(struct device *d, const struct segment *list, size_t n,
  uint32_t r0, uint32_t r1, uint32_t most, uint32_t group, uint32_t heads, size_t *count)
{
  struct error why = { "" };
  *count = cut_tiles(list, n, r0, r1, most, group, heads, NULL);
  struct query_tile *all = memory_alloc(d->m, MEMORY_OTHER, *count, sizeof *all, &why);
  if (all == NULL) return device_fails(d, why.text), NULL;
  cut_tiles(list, n, r0, r1, most, group, heads, all);
  const struct query_tile *there = device_send(d, all, *count * sizeof *all);
  memory_free(d->m, all);
  return there;
}

@ A store has all its rows at addresses that suit their numbers; a caller of the kernels may have others.

@<Attention on a device@>=
static bool all_even(const struct segment *list, size_t n)
{
  uintptr_t all = 0, odd = n > 0 && list[0].view.type == WEIGHT_F32 ? 4 : 2;
  for (size_t i = 0; i < n; i++) {
    const struct kv_view *v = &list[i].view;
    all |= v->key | v->value | v->row_bytes | v->head_bytes;
    for (size_t k = 0; v->page != NULL && k < pages_of(&list[i]); k++)
      all |= (uintptr_t) v->page[k];
  }
  return all % odd == 0;
}

@ What the blocks of a row leave is in the workspace until they are joined, so a long prompt is done in slices of rows. The first of them need not be the first row of the pass: an engine that reports its progress asks for a part of the rows at a time.

@<Attention on a device@>=
enum { MOST_ROWS = 8192 };
static void attend_slice(const struct engine *e, const struct segment *list, size_t n,
  struct attend_args *a, uint32_t r0, uint32_t r1)
{
  struct device *d = device_of(e);
  uint32_t group = a->n_heads / a->n_kv_heads;
  size_t tiles;
  a->heads = group < 16 ? group : 16, a->first_row = r0;
  a->tile = send_tiles(d, list, n, r0, r1, 16 / a->heads, group, a->heads, &tiles);
  struct launch l = launch_of(WORK_attend_blocks, a->blocks, a->n_kv_heads, 256);
  l.z = (uint32_t) tiles, l.a.attend = *a;
  device_launch(d, &l);
  l = launch_of(WORK_join_blocks, r1 - r0, a->n_heads, 128);
  l.a.attend = *a;
  device_launch(d, &l);
}

static void device_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  struct device *d = device_of(e);
  uint32_t rows = 0, most = 1, first = n > 0 ? list[0].first_row : 0;
  (void) scratch;
  for (size_t i = 0; i < n; i++) {
    if (list[i].first_row < first) first = list[i].first_row;
    uint32_t end = list[i].first_position + list[i].n_rows;
    most = end > most ? end : most, rows += list[i].n_rows;
  }
  if (probe != NULL && probe->stride > most) most = (uint32_t) probe->stride;
  size_t blocks = (most + 255) / 256, group = h->n_heads / h->n_kv_heads;
  size_t slice = d->work_bytes / (h->n_heads * blocks * (h->head_dim + 2) * sizeof (float));
  if (slice > MOST_ROWS / ((group + 15) / 16)) slice = MOST_ROWS / ((group + 15) / 16);
  if (slice == 0) device_fails(d, "a row's blocks of attention are larger than the workspace");
  if (d->failed) return;
  reserve_segments(d, list, n, rows * ((group + 15) / 16), rows / slice + 1);
  struct attend_args a = @[{ .q = q, .left = (float *) (void *) d->work,@|
    .segment = send_segments(d, list, n), .y = y,@|
    .weights = probe != NULL ? probe->weights : NULL,@|
    .stride = probe != NULL ? probe->stride : 0, .n_heads = h->n_heads,@|
    .n_kv_heads = h->n_kv_heads, .head_dim = h->head_dim,@|
    .blocks = (uint32_t) blocks, .scale = h->scale, .even = all_even(list, n),@|
    .suits = ((uintptr_t) q | h->head_dim * sizeof *q) % 16 == 0 }@];
  size_t end = (size_t) first + rows;
  for (size_t r = first; r < end; r += slice)
    attend_slice(e, list, n, &a, (uint32_t) r, (uint32_t) (r + slice < end ? r + slice : end));
}

@ An embedding is a matrix whose rows are looked up. How many it has is not known here, and only for weights that were not prepared does it matter.

@<Rows and marks on a device@>=
static void device_embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  size_t known = 0;
  for (size_t i = 0; i < rows; i++) known = id[i] >= known ? (size_t) id[i] + 1 : known;
  struct matrix w = @[{ .weight = table, .in = d, .out = known }@];
  struct launch l = launch_each(WORK_embed_rows, rows * d);
  l.a.move = (struct move_args) @[{ .y = y, .n = rows, .width = d,@|
    .table = tensor_here(e, &w) }@];
  device_reserve(device_of(e), rows * sizeof *id, 1);
  l.a.move.id = device_send(device_of(e), id, rows * sizeof *id);
  device_launch(device_of(e), &l);
  take_back(device_of(e));
}

@ The lists of row numbers are sent as they are.

@<Rows and marks on a device@>=
static void device_split(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y)
{
  struct launch l = launch_each(WORK_split_rows, rows * n * width);
  if (n > MOST_PARTS) { device_fails(device_of(e), "rows in more parts than a launch takes"); return; }
  l.a.split = (struct split_args) @[{ .x = x, .rows = rows, .n = n, .width = width }@];
  for (size_t i = 0; i < n; i++) l.a.split.y[i] = y[i];
  device_launch(device_of(e), &l);
}

static void device_gather(const struct engine *e, const float *x, size_t d,
  const size_t *which, size_t n, float *y)
{
  struct device *on = device_of(e);
  struct launch l = launch_each(WORK_gather_rows, n * d);
  device_reserve(on, n * sizeof *which, 1);
  l.a.move = (struct move_args) @[{ .x = x, .y = y, .n = n, .width = d,@|
    .which = device_send(on, which, n * sizeof *which) }@];
  _Static_assert(sizeof *which == 8, "sizes of 64 bits");
  device_launch(on, &l);
}

static void device_write(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k, const float *v)
{
  struct device *d = device_of(e);
  struct launch l;
  size_t tiles, rows = 0;
  (void) encode;
  for (size_t i = 0; i < n; i++) rows += list[i].n_rows;
  reserve_segments(d, list, n, rows, 1);
  const struct device_segment *segment = send_segments(d, list, n);
  const struct query_tile *tile = send_tiles(d, list, n, 0, UINT32_MAX, 1, 1, 1, &tiles);
  l = launch_of(WORK_write_rows, tiles, 1, 128);
  l.a.write = (struct write_args) @[{ segment, tile, k, v, h->n_kv_heads, h->head_dim }@];
  device_launch(d, &l);
}

static void device_mark(const struct engine *e, const float *x, size_t rows, size_t d,
  uint32_t mark, uint32_t none, uint32_t *first)
{
  struct launch l = launch_of(WORK_mark_rows, rows, 1, 128);
  l.a.mark = (struct mark_args) @[{ x, first, (uint32_t) d, mark, none, 0 }@];
  device_launch(device_of(e), &l);
}

@ 64 blocks choose, each in its share of the vocabulary, and one thread chooses among the 64. The sampler refuses logits that are NaN or infinite, and so does this function: to the kernel such a logit is the best of all.

@<The choice on a device@>=
bool device_choose(const struct device *at, const float *logits, uint32_t n,
  double temperature, uint64_t seed, uint32_t sequence, uint32_t position, uint32_t *id,
  struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) at;
  struct best_token best = { 0, 0, 0 };
  struct launch l = launch_of(WORK_choose_parts, 64, 1, 256);
  l.a.choose = (struct choose_args) @[{ logits, (struct best_token *) (void *) d->work, seed,@|
    temperature, n, 64, sequence, position }@];
  device_launch(d, &l);
  l.work = WORK_choose_token;
  l.x = 1, l.threads = 32;
  device_launch(d, &l);
  d->memory.get(&d->memory, &best, d->work, sizeof best);
  *id = best.id;
  if (!d->memory.working(&d->memory, why)) return false;
  if (best.score == -INFINITY)
    return error_say(why, "all %u logits are -inf; wanted: a token to choose", n);
  return best.score < INFINITY || error_say(why, "logit %u is nan or infinite;"@|
    " wanted: a number, or -inf for a token that is out", best.id);
}

@ The yardsticks of \cref{sec:roofline}, for a device: a copy of many bytes, ten times, and a kernel that multiplies only. The host as a device gets less to do.

@<Measure a device@>=
static double round_of(struct device *d, char *half, size_t bytes, uint32_t n)
{
  struct launch l = launch_of(WORK_multiply_only, n > 0 ? WIDEST : 0, 1, 256);
  double began;
  char one;
  l.a.probe = (struct probe_args) @[{ (float *) (void *) half, n, 0 }@];
  d->memory.get(&d->memory, &one, half, 1);
  began = timing_seconds();
  for (int i = 0; i < 10 && n == 0; i++) d->memory.copy(&d->memory, half + bytes, half, bytes);
  device_launch(d, &l);
  d->memory.get(&d->memory, &one, half, 1);
  return timing_seconds() - began;
}

bool device_measure(const struct device *at, double *madds, double *bytes, struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) at;
  bool real = d->driver != &driver_host;
  size_t half = (size_t) (real ? 256 : 4) << 20;
  uint32_t n = real ? 4096 : 4;
  double copied = 1e9, multiplied = 1e9;
  char *p = d->memory.alloc(&d->memory, d->m, MEMORY_OTHER, 2, half, why);
  if (p == NULL) return false;
  for (int i = 0; i < 5; i++) {
    double a = round_of(d, p, half, 0), b = round_of(d, p, half, n);
    copied = a < copied ? a : copied, multiplied = b < multiplied ? b : multiplied;
  }
  d->memory.release(&d->memory, d->m, p);
  *bytes = 10 * 2 * (double) half / copied;
  *madds = 8.0 * n * WIDEST * 256 / multiplied;
  return d->memory.working(&d->memory, why);
}

@ The steps of \cref{tab:devicesteps} are the only kernels that no pass calls. A block has \given{128} threads in each.

@<Measure a device@>=
static double ten_launches(struct device *d, const struct launch *l, char *done)
{
  double best = 1e9;
  for (int i = 0; i < 6; i++) { /* the first warms up */
    d->memory.get(&d->memory, done, d->work, 1);
    double began = timing_seconds();
    for (int j = 0; j < 10; j++) device_launch(d, l);
    d->memory.get(&d->memory, done, d->work, 1);
    double took = (timing_seconds() - began) / 10;
    if (i > 0 && took < best) best = took;
  }
  return best;
}

bool device_step(const struct device *at, unsigned step, const uint16_t *w,
  const float *x, uint32_t in, uint32_t out, float *y, double *seconds, struct error *why)
{
  static const enum kernel_work work[] = { WORK_step_outputs, WORK_step_lanes,@|
    WORK_step_pairs, WORK_few_bf16_1 };
  static const unsigned sharing[] = { 1, 16, 8, 8 };
  if (step > 3 || in % 16 != 0)
    return error_say(why, "step %u with %u inputs; wanted: 0 to 3, a multiple of 16", step, in);
  struct device *d = (struct device *) (uintptr_t) at;
  struct buffers *b = &d->memory;
  size_t weights = ((size_t) in * out * 2 + 255) / 256 * 256, inputs = ((size_t) in * 4 + 255) / 256 * 256;
  unsigned each = 128 / sharing[step]; /* of a block */
  struct launch l = launch_of(work[step], (out + each - 1) / each, 1, 128);
  char done, *p = b->alloc(b, d->m, MEMORY_OTHER, weights + inputs + (size_t) out * 4, 1, why);
  if (p == NULL) return false;
  b->set(b, p, w, (size_t) in * out * 2), b->set(b, p + weights, x, (size_t) in * 4);
  l.a.linear = (struct linear_args) @[{ .x = (float *) (void *) (p + weights), .n = 1, .in = in, .rows = 1 }@];
  l.a.linear.of[0].weight = (struct stored_rows) @[{ p, NULL, DEVICE_BF16, in }@];
  l.a.linear.of[0].y = (float *) (void *) (p + weights + inputs), l.a.linear.of[0].out = out;
  *seconds = ten_launches(d, &l, &done);
  b->get(b, y, p + weights + inputs, (size_t) out * 4);
  b->release(b, d->m, p);
  return b->working(b, why);
}

@ What a device does not do itself, the distributions of the sampler, is done on the host by its fastest table. The two tests of rounding are the host's as well; the device is asked once, when it is opened.

@<The table of a device@>=
void device_table(struct device *d)
{
  struct kernels *k = &d->k;
  *k = *kernels_find(NULL, NULL);
  k->name = "cuda", k->memory = &d->memory;
  k->matrix_types = DEVICE_WEIGHTS;
  k->int8_types = 1u << WEIGHT_Q8_0, k->bf16_types = 1u << WEIGHT_BF16;
  k->linear = device_linear, k->linear_int8 = device_linear_int8;
  k->linear_bf16 = device_linear_bf16, k->normalize = device_normalize;
  k->rotate = device_rotate, k->angles = device_angles;
  k->attend = device_attend, k->activate = device_activate;
  k->add = device_add, k->embed = device_embed;
  k->split = device_split, k->gather = device_gather;
  k->write = device_write;
  k->mark_nonfinite = device_mark, k->room = plain_room;
  k->attention_room = plain_attention_room;
  k->prepared_bytes = device_prepared_bytes, k->prepare = arrange;
}

@ The name has a number after a colon, or means the first device.

@<Open a device, and close it@>=
static const struct device_driver *driver_of(const char *name, unsigned *number, struct error *why)
{
  char rest;
  *number = 0;
  bool host = strncmp(name, "host", 4) == 0, cuda = strncmp(name, "cuda", 4) == 0;
  if ((!host && !cuda) || (name[4] != '\0'
      && (name[4] != ':' || name[5] < '0' || name[5] > '9'@|
        || sscanf(name + 5, "%9u%c", number, &rest) != 1)))
    return error_say(why, "device `%s'; wanted: cuda or cuda:n", name), (void *) NULL;
  if (host) return &driver_host;
#ifdef INCIPIT_CUDA
  return &driver_cuda;
#else
  return error_say(why, "device `%s': this program was built without CUDA; wanted: one built by"
    " `make CUDA=1', which needs nvcc of the CUDA toolkit", name), (void *) NULL;
#endif
}

static bool rounds_rightly(struct device *d, struct error *why)
{
  struct launch l = launch_of(WORK_check_rounding, 1, 1, 32);
  float left[2];
  l.a.round = (struct round_args) @[{ (float *) (void *) d->work, 0x1.001p0f, -0x1.002p0f }@];
  device_launch(d, &l);
  d->memory.get(&d->memory, left, d->work, sizeof left);
  if (!d->memory.working(&d->memory, why)) return false;
  if (left[0] == 0.0f && left[1] == 0x1p-24f) return true;
  return error_say(why, "%s: its kernels round otherwise than the processor (%a and %a);"
    " wanted: kernels compiled with -fmad=false", d->facts.name, (double) left[0],
    (double) left[1]);
}

struct device *device_open(struct memory *m, const char *name, struct error *why)
{
  unsigned number;
  char fault[200] = "";
  const struct device_driver *driver = driver_of(name, &number, why);
  struct device *d = driver == NULL ? NULL : memory_alloc(m, MEMORY_OTHER, 1, sizeof *d, why);
  if (d == NULL) return NULL;
  d->driver = driver, d->m = m;
  d->work_bytes = driver == &driver_host ? HOST_WORK_BYTES : WORK_BYTES;
  d->state = driver->open(number, &d->facts, fault);
  if (d->state == NULL) error_say(why, "device `%s': %s", name, fault);
  if (d->state == NULL || !device_memory_open(d, why)) return device_close(d), (void *) NULL;
  device_table(d);
  if (!rounds_rightly(d, why)) return device_close(d), (void *) NULL;
  d->counts = (struct device_counts) @[{ 0, 0, 0 }@];
  return d;
}

void device_close(struct device *d)
{
  if (d == NULL) return;
  if (d->state != NULL) device_memory_close(d), d->driver->close(d->state);
  memory_free(d->m, d);
}
const struct kernels *device_kernels(const struct device *d)
{ return &d->k; }
const struct buffers *device_memory(const struct device *d)
{ return &d->memory; }
const char *device_name(const struct device *d)
{ return d->facts.name; }
struct device_counts device_count(const struct device *d)
{ return d->counts; }
void device_room(const struct device *d, uint64_t *bytes, uint64_t *free)
{ *bytes = d->facts.bytes, *free = d->facts.free; }
