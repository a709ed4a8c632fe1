/* plain.c -- the plain kernels, which define what the engine computes.
   made from chapters/02-model.w; change it there

   Every sum is in the order that chapter 2 gives, and every rounding where its
   formulas have it; no other table may differ in a bit. So nothing here is rearranged
   for speed. The kernels keep no state and allocate nothing. */

#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "ground/pool.h"
#include "model/quantization.h"

/* <Kernels in which each row is alone> */
static void embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < d; i++)
      y[r * d + i] = tensor_number(table, id[r] * d + i);
}

static void add(const struct engine *e, float *y, const float *x, size_t n)
{
  (void) e;
  for (size_t i = 0; i < n; i++) y[i] += x[i];
}

static float fold(float *lane)
{
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}

static float dot16(const float *x, size_t n, struct tensor w, size_t first, size_t step)
{
  float lane[16] = { 0 };
  for (size_t k = 0; k < n; k++)
    lane[k % 16] = fmaf(x[k], tensor_number(w, first + k * step), lane[k % 16]);
  return fold(lane);
}

static float sum16(const float *x, size_t n)
{
  float lane[16] = { 0 };
  for (size_t k = 0; k < n; k++) lane[k % 16] += x[k];
  return fold(lane);
}

static void linear(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++) {
    const struct matrix *w = &list[i];
    size_t row = w->transposed ? 1 : w->in, step = w->transposed ? w->out : 1;
    for (size_t r = 0; r < rows; r++)
      for (size_t o = 0; o < w->out; o++) {
        float sum = dot16(x + r * w->in, w->in, w->weight, o * row, step);
        if (w->bias.data != NULL) sum += tensor_number(w->bias, o);
        y[i][r * w->out + o] = sum;
      }
  }
}

static void normalize(const struct engine *e, const struct norm *g, const float *x,
  size_t rows, size_t d, float *y)
{
  (void) e;
  bool layer = g->kind == NORM_LAYER;
  for (size_t r = 0; r < rows; r++, x += d, y += d) {
    float mean = layer ? sum16(x, d) / (float) d : 0.0f;
    for (size_t i = 0; i < d; i++) y[i] = x[i] - mean;
    struct tensor c = { y, WEIGHT_F32 };
    float root = 1.0f / sqrtf(dot16(y, d, c, 0, 1) / (float) d + g->epsilon);
    for (size_t i = 0; i < d; i++) {
      float gain = g->gain.data != NULL ? tensor_number(g->gain, i) : 1.0f;
      if (layer && g->bias.data != NULL)
        y[i] = fmaf(y[i] * root, gain, tensor_number(g->bias, i));
      else y[i] = y[i] * root * gain;
    }
  }
}

static void angles(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < half; i++) {
      float angle = (float) position[r] * frequency[i];
      c[r * half + i] = (float) num_cos((double) angle) * scaling;
      s[r * half + i] = (float) num_sin((double) angle) * scaling;
    }
}

static void rotate(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, c += half, s += half)
    for (size_t h = 0; h < n_heads; h++, x += 2 * half)
      for (size_t i = 0; i < half; i++) {
        float x0 = x[i], x1 = x[half + i], across = x1 * s[i], along = x1 * c[i];
        x[i] = fmaf(x0, c[i], -across);
        x[half + i] = fmaf(x0, s[i], along);
      }
}

static float activation(enum activation_kind kind, float x)
{
  if (kind == ACTIVATION_SILU) return x / (1.0f + num_expf(-x));
  if (kind == ACTIVATION_GELU_ERF)
    return 0.5f * x * (1.0f + num_erff(x * 0.70710677f));
  float cube = x * x * x, inner = 0.7978846f * fmaf(0.044715f, cube, x);
  return 0.5f * x * (1.0f + num_tanhf(inner));
}

static void activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++)
    y[i] = activation(kind, x[i]) * (up != NULL ? up[i] : 1.0f);
}

/* <Attention, where rows meet> */
static bool is_seen(const struct kv_range *r, uint32_t t)
{ return t < r->hi && (t >= r->lo || t < r->sinks); }
static bool sees_block(const struct kv_range *r, uint32_t begin)
{ return begin < r->sinks || begin + 256 > r->lo; }
static float capped(float score, float cap)
{ return score > -INFINITY ? cap * num_tanhf(score / cap) : score; }
static void attend_block(const struct attention_dims *h, const struct kv_view *v,
  size_t of, const struct kv_range *see, const float *q, uint32_t begin, float *left,
  float *weights)
{
  float kept[256], lane[16] = { 0 }, *out = left + 2;
  /* <Score the positions of a block, and find the maximum> */
  left[0] = -FLT_MAX;
  for (uint32_t t = begin; t < begin + 256; t++) {
    if (!is_seen(see, t)) continue;
    kept[t % 256] = dot16(q, h->head_dim, kv_row(v, v->key, t, of), 0, 1) * h->scale;
    if (h->cap > 0) kept[t % 256] = capped(kept[t % 256], h->cap);
    if (kept[t % 256] > left[0]) left[0] = kept[t % 256];
  }
  /* <Add up the exponentials and the weighted values> */
  for (size_t i = 0; i < h->head_dim; i++) out[i] = 0;
  for (uint32_t t = begin; t < begin + 256; t++) {
    if (!is_seen(see, t)) continue;
    struct tensor value = kv_row(v, v->value, t, of);
    float p = num_expf(kept[t % 256] - left[0]);
    lane[t % 16] += p;
    for (size_t i = 0; i < h->head_dim; i++)
      out[i] = fmaf(p, tensor_number(value, i), out[i]);
    if (weights != NULL) weights[t] = p;
  }
  left[1] = fold(lane);
}

static void weigh(const struct kv_range *see, const float *left, size_t d, float m,
  float l, float *weights)
{
  for (uint32_t begin = 0; begin < see->hi; begin += 256) {
    if (!sees_block(see, begin)) continue;
    for (uint32_t t = begin; t < begin + 256; t++)
      if (is_seen(see, t)) weights[t] = weights[t] * num_expf(left[0] - m) / l;
    left += d + 2;
  }
}

static void attend_head(const struct attention_dims *h, const struct kv_view *v,
  size_t of, const struct kv_range *see, const float *q, float sink, float *left,
  float *y, float *weights)
{
  size_t d = h->head_dim, n = 0;
  float m = sink, l = 0;
  for (uint32_t begin = 0; begin < see->hi; begin += 256) {
    float *block = left + n * (d + 2);
    if (!sees_block(see, begin)) continue;
    attend_block(h, v, of, see, q, begin, block, weights);
    m = block[0] > m ? block[0] : m, n++;
  }
  /* <Join the blocks> */
  if (sink > -INFINITY) l = num_expf(sink - m);
  for (size_t i = 0; i < d; i++) y[i] = 0;
  for (size_t b = 0; b < n; b++) {
    const float *block = left + b * (d + 2);
    float w = num_expf(block[0] - m);
    l = fmaf(block[1], w, l);
    for (size_t i = 0; i < d; i++) y[i] = fmaf(block[2 + i], w, y[i]);
  }
  for (size_t i = 0; i < d; i++) y[i] /= l;
  if (weights != NULL) weigh(see, left, d, m, l, weights);
}

static void attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  (void) e;
  for (size_t k = 0; k < n; k++)
    for (uint32_t r = 0; r < list[k].n_rows; r++)
      for (size_t head = 0; head < h->n_heads; head++) {
        size_t i = (list[k].first_row + (size_t) r) * h->n_heads + head;
        struct kv_range see = segment_range(&list[k], r);
        float *weights = probe == NULL ? NULL : probe->weights + i * probe->stride;
        if (probe != NULL) memset(weights, 0, probe->stride * sizeof *weights);
        attend_head(h, &list[k].view, head / group, &see, q + i * d,
          head_sink(h, head), scratch, y + i * d, weights);
      }
}

/* <Softmax of the logits> */
static double sum_exp(const float *x, size_t n, double *max)
{
  double lane[16] = { 0 };
  *max = -INFINITY;
  for (size_t i = 0; i < n; i++) *max = (double) x[i] > *max ? (double) x[i] : *max;
  for (size_t i = 0; i < n; i++) lane[i % 16] += num_exp((double) x[i] - *max);
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}

static void probabilities(const float *x, size_t rows, size_t n, bool logs, double *y)
{
  struct float_modes modes;
  float_modes_begin(&modes);
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double max, sum = sum_exp(x, n, &max), log_sum = num_log(sum);
    for (size_t i = 0; i < n; i++) {
      double z = (double) x[i] - max;
      y[i] = logs ? z - log_sum : num_exp(z) / sum;
    }
  }
  float_modes_end(&modes);
}

static void softmax(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y)
{ (void) e, probabilities(x, rows, n, false, y); }
static void log_softmax(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y)
{ (void) e, probabilities(x, rows, n, true, y); }

static void exp_shifted(double *z, size_t n, double max)
{ for (size_t i = 0; i < n; i++) z[i] = num_exp(z[i] - max); }

/* <The table of plain kernels> */
const struct kernels kernels_plain = { .name = "plain",
  .linear = linear, .normalize = normalize, .rotate = rotate,
  .attend = attend, .activate = activate, .add = add,
  .embed = embed, .angles = angles, .softmax = softmax,
  .log_softmax = log_softmax, .exp_shifted = exp_shifted,
  .linear_int8 = plain_linear_int8, .linear_bf16 = plain_linear_bf16,
  .memory = &buffers_host, .matrix_types = WEIGHTS_ALL,
  .int8_types = WEIGHTS_IN_BLOCKS, .bf16_types = 1u << WEIGHT_BF16,
  .split = host_split, .gather = host_gather, .write = host_write,
  .mark_nonfinite = plain_mark_nonfinite, .room = plain_room,
  .attention_room = plain_attention_room,
  .prepared_bytes = plain_prepared_bytes, .prepare = plain_prepare,
  .mul_add_unfused = plain_mul_add_unfused, .mul_add_fused = plain_mul_add_fused,
  .probe_flops = plain_probe_flops, .probe_bandwidth = plain_probe_bandwidth };
