/* quantization.c -- Weights and inputs rounded to few bits, and linear layers with
   such inputs: the definition that every fast kernel is compared with.
   made from chapters/10-quantization.w; change it there

   A block is rounded by itself, so no row disturbs another. */

#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/quantization.h"

/* <Round a block of weights> */
static bool put_half(float x, unsigned char *to)
{
  uint16_t h = num_to_f16(x);
  to[0] = (unsigned char) h, to[1] = (unsigned char) (h >> 8);
  return (h & 0x7c00) != 0x7c00;
}

static int whole_within(float x, int low, int high)
{
  if (x - x != 0) return 0;
  if (x < (float) low) return low;
  return x > (float) high ? high : (int) x;
}

static bool encode_q8_0(const float *x, unsigned char *to)
{
  float most = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
  float d = most / 127, times = d != 0 ? 1 / d : 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    to[2 + i] = (unsigned char) whole_within(roundf(x[i] * times), -128, 127);
  return put_half(d, to);
}

static struct block_scale symmetric_scale(const float *x, int top)
{
  float most = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    if (fabsf(x[i]) > fabsf(most)) most = x[i];
  return (struct block_scale) { most / (float) -(top / 2 + 1), 0 };
}

static struct block_scale min_max_scale(const float *x, int top)
{
  float low = x[0], high = x[0];
  for (int i = 1; i < WEIGHT_BLOCK; i++) {
    if (x[i] < low) low = x[i];
    if (x[i] > high) high = x[i];
  }
  return (struct block_scale) { (high - low) / (float) top, low };
}

static bool encode_nibbles(enum weight_type type, const float *x, unsigned char *to)
{
  const struct number_type *t = &number_types[type];
  bool min = t->has_min, five = t->bits == 5;
  int top = (1 << t->bits) - 1;
  struct block_scale s = min ? min_max_scale(x, top)
    : symmetric_scale(x, top);
  float times = s.d != 0 ? 1 / s.d : 0;
  float shift = (float) t->offset + 0.5f;
  unsigned char *q = to + t->low_at, *high = to + t->high_at;
  memset(q, 0, WEIGHT_BLOCK / 2);
  if (five) memset(high, 0, WEIGHT_BLOCK / 8);
  for (int i = 0; i < WEIGHT_BLOCK; i++) {
    float z = (x[i] - s.m) * times;
    int whole = whole_within(z + shift, 0, top);
    q[i % 16] |= (unsigned char) ((whole & 15) << i / 16 * 4);
    if (five) high[i / 8] |= (unsigned char) (whole >> 4 << i % 8);
  }
  bool fits = put_half(s.d, to);
  if (min && !put_half(s.m, to + 2)) fits = false;
  return fits;
}

/* <Round one block, of whatever type> */
static bool encode_block(enum weight_type type, const float *x, unsigned char *to)
{
  uint16_t h;
  switch (type) {
  case WEIGHT_F32: memcpy(to, x, sizeof *x); break;
  case WEIGHT_F16: h = num_to_f16(*x); memcpy(to, &h, sizeof h); break;
  case WEIGHT_BF16: h = num_to_bf16(*x); memcpy(to, &h, sizeof h); break;
  case WEIGHT_Q8_0: return encode_q8_0(x, to);
  case WEIGHT_Q4_0: case WEIGHT_Q4_1: case WEIGHT_Q5_0: case WEIGHT_Q5_1:
    return encode_nibbles(type, x, to);
  case WEIGHT_Q4_K: case WEIGHT_Q6_K: return superblock_encode(type, x, to);
  case WEIGHT_Q2_K: case WEIGHT_Q3_K: case WEIGHT_Q5_K:
  case WEIGHT_IQ4_NL: case WEIGHT_IQ4_XS: case WEIGHT_MXFP4: return false;
  }
  return true;
}

/* <Write weights> */
uint32_t weights_written(void)
{
  uint32_t types = 0;
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++)
    types |= (uint32_t) number_types[t].is_written << t;
  return types;
}

bool weights_encode(enum weight_type type, const float *x, size_t n, void *to,
  struct error *why)
{
  const struct number_type *t = &number_types[type];
  char wanted[TYPES_TEXT];
  if (!t->is_written) {
    kernels_list_types(weights_written(), wanted);
    return error_say(why, "%s is read and not written; wanted: %s", t->name, wanted);
  }
  if (n % t->block != 0)
    return error_say(why, "%zu numbers in %s; wanted: a multiple of %d", n, t->name, t->block);
  for (size_t i = 0; i < n; i++)
    if (x[i] - x[i] != 0)
      return error_say(why, "number %zu is not finite; wanted: finite numbers", i);
  /* <Write block after block, or fail> */
  for (size_t i = 0; i < n; i += t->block) {
    unsigned char *at = (unsigned char *) to + weight_row_bytes(type, i);
    if (!encode_block(type, x + i, at))
      return error_say(why, "numbers %zu to %zu, the first of them %g, need a scale beyond"
        " binary16 in %s; wanted: smaller numbers",
        i, i + t->block - 1, (double) x[i], t->name);
  }
  return true;
}

/* <Round a block of inputs> */
void quantize_int8(const float *x, struct int8_block *to)
{
  uint32_t most = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++) {
    uint32_t bits = num_bits32(x[i]) & 0x7fffffff;
    if (bits > most) most = bits;
  }
  float max = num_float(most), up = max < 0x1p-64f ? 0x1p64f : 1;
  float times = max == 0 ? 0 : 127 / (max * up);
  to->d = max / 127, to->sum[0] = to->sum[1] = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++) {
    float z = rintf(x[i] * up * times);
    if (z != z) z = 0;
    if (z > 127) z = 127;
    if (z < -127) z = -127;
    to->q[i] = (int8_t) z, to->sum[i / 16] += to->q[i];
  }
}

/* <Add the product of 32 inputs> */
static float add_product(enum weight_type type, const unsigned char *block,
  size_t at, const struct int8_block *x, float acc)
{
  size_t group = number_types[type].group;
  for (size_t g = 0; g < WEIGHT_BLOCK; g += group) {
    struct block_scale s = block_scale_of(type, block, at + g);
    int32_t sum = 0, in = x->sum[g / 16];
    if (group == WEIGHT_BLOCK) in += x->sum[1];
    for (size_t i = g; i < g + group; i++)
      sum += x->q[i] * block_whole(type, block, at + i);
    acc = fmaf((float) sum, s.d * x->d, acc);
    if (block_has_min(type)) acc = fmaf((float) in, s.m * x->d, acc);
  }
  return acc;
}

/* <Add the bias of a row> */
static void add_bias(const struct matrix *w, float *y)
{
  for (size_t o = 0; o < w->out && w->bias.data != NULL; o++)
    y[o] += tensor_number(w->bias, o);
}

/* <A linear layer with inputs of eight bits> */
static void row_int8(const struct matrix *w, const float *x, float *y)
{
  size_t block = number_types[w->weight.type].block;
  size_t row = weight_row_bytes(w->weight.type, w->in);
  for (size_t o = 0; o < w->out; o++) y[o] = 0;
  for (size_t k = 0; k < w->in; k += WEIGHT_BLOCK) {
    struct int8_block in;
    quantize_int8(x + k, &in);
    const unsigned char *p = (const unsigned char *) w->weight.data
      + weight_row_bytes(w->weight.type, k / block * block);
    for (size_t o = 0; o < w->out; o++)
      y[o] = add_product(w->weight.type, p + o * row, k % block, &in, y[o]);
  }
}

void plain_linear_int8(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++)
    for (size_t r = 0; r < rows; r++) {
      float *out = y[i] + r * list[i].out;
      row_int8(&list[i], x + r * list[i].in, out);
      add_bias(&list[i], out);
    }
}

/* <Multiply and add, and flush what is small> */
static float flushed(float x)
{ return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static float fma_flushed(float x, float w, float c)
{
  float a = flushed(x), b = flushed(w), sum = fmaf(a, b, c);
  if (fabsf(sum) == 0x1p-126f
    && fabs((double) a * (double) b + (double) c) < 0x1.ffffffp-127)
    return copysignf(0, sum);
  return flushed(sum);
}

/* <A linear layer with inputs of sixteen bits> */
static float dotbf(const float *x, size_t n, struct tensor w, size_t first,
  size_t step)
{
  float lane[16] = { 0 };
  for (size_t k = 0; k < n; k += 2) {
    float *a = &lane[k / 2 % 16];
    for (size_t i = k + 2 < n ? k + 2 : n; i-- > k; )
      *a = fma_flushed(num_from_bf16(num_to_bf16(x[i])),
        tensor_number(w, first + i * step), *a);
  }
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}

void plain_linear_bf16(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++) {
    const struct matrix *w = &list[i];
    size_t row = w->transposed ? 1 : w->in, step = w->transposed ? w->out : 1;
    for (size_t r = 0; r < rows; r++) {
      float *out = y[i] + r * w->out;
      for (size_t o = 0; o < w->out; o++)
        out[o] = dotbf(x + r * w->in, w->in, w->weight, o * row, step);
      add_bias(w, out);
    }
  }
}
