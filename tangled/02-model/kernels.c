/* kernels.c -- made from chapters/02-model.w; change it there */

/* 2.14  kernels.c */

#include <math.h>
#include <string.h>
#include "02-model/kernels.h"
#include "02-model/numbers.h"

static float get(struct tensor t, size_t i)
{
  uint16_t h;
  float f;
  if (t.type == WEIGHT_F32) {
    memcpy(&f, (const char *)t.data + 4 * i, 4);
    return f;
  }
  memcpy(&h, (const char *)t.data + 2 * i, 2);
  return t.type == WEIGHT_F16 ? num_from_f16(h) : num_from_bf16(h);
}

size_t weight_bytes(enum weight_type type)
{
  return type == WEIGHT_F32 ? 4 : 2;
}

static float fold(float acc[16])
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++)
      acc[j] += acc[j + s];
  return acc[0];
}

static float dot(const float *x, const float *y, size_t n)
{
  float acc[16] = { 0 };
  for (size_t k = 0; k < n; k++)
    acc[k % 16] = fmaf(x[k], y[k], acc[k % 16]);
  return fold(acc);
}

/* 2.15  Plain linear and norm */

static void plain_linear(const struct engine *e, const struct matrix *list,
                         size_t n, const float *x, size_t rows, float *const *y)
{
  (void)e;
  for (size_t m = 0; m < n; m++)
    for (size_t r = 0; r < rows; r++)
      for (size_t o = 0; o < list[m].out; o++) {
        const struct matrix *w = &list[m];
        float acc[16] = { 0 };
        for (size_t k = 0; k < w->in; k++) {
          float f = get(w->weight, w->transposed ? k * w->out + o : o * w->in + k);
          acc[k % 16] = fmaf(x[r * w->in + k], f, acc[k % 16]);
        }
        float sum = fold(acc);
        if (w->bias.data != NULL)
          sum += get(w->bias, o);
        y[m][r * w->out + o] = sum;
      }
}

static void plain_normalize(const struct engine *e, const struct normalizer *g,
                            const float *x, size_t rows, size_t d, float *y)
{
  (void)e;
  for (size_t r = 0; r < rows; r++, x += d, y += d) {
    float mean = 0;
    if (g->kind == NORM_LAYER) {
      float acc[16] = { 0 };
      for (size_t k = 0; k < d; k++)
        acc[k % 16] += x[k];
      mean = fold(acc) / (float)d;
    }
    for (size_t k = 0; k < d; k++)
      y[k] = g->kind == NORM_LAYER ? x[k] - mean : x[k];
    float scale = 1 / sqrtf(dot(y, y, d) / (float)d + g->epsilon);
    for (size_t k = 0; k < d; k++) {
      y[k] *= scale;
      bool bias = g->kind == NORM_LAYER && g->bias.data != NULL;
      float gain = g->gain.data != NULL ? get(g->gain, k) : 1;
      y[k] = bias ? fmaf(y[k], gain, get(g->bias, k)) : y[k] * gain;
    }
  }
}

/* 2.16  Plain rope */

static void plain_angles(const struct engine *e, const uint32_t * position,
                         size_t rows, const float *frequency, size_t half,
                         float scaling, float *c, float *s)
{
  (void)e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < half; i++) {
      float angle = (float)position[r] * frequency[i];
      c[r * half + i] = (float)num_cos(angle) * scaling;
      s[r * half + i] = (float)num_sin(angle) * scaling;
    }
}

static void plain_rotate(const struct engine *e, float *x, size_t rows,
                         size_t n_heads, size_t half, const float *c,
                         const float *s)
{
  (void)e;
  for (size_t r = 0; r < rows; r++)
    for (size_t h = 0; h < n_heads; h++, x += 2 * half)
      for (size_t i = 0; i < half; i++) {
        float x0 = x[i], x1 = x[half + i], cc = c[r * half + i];
        float ss = s[r * half + i], a = x1 * ss, b = x1 * cc;
        x[i] = fmaf(x0, cc, -a);
        x[half + i] = fmaf(x0, ss, b);
      }
}

/* 2.17  Plain attention */

static struct tensor kv_row(const struct view *v, const void *base, uint32_t t)
{
  size_t r = t;
  if (v->page != NULL)
    r = v->page[t / v->page_rows] * v->page_rows + t % v->page_rows;
  return (struct tensor) { (const char *)base + r * v->row_bytes, v->type };
}

static void plain_head(const struct heads *h, const float *q,
                       const struct view *v, size_t kv, float *y, float *keep)
{
  size_t d = h->head_dim;
  float m = -INFINITY, l = 0;
  for (size_t c = 0; c < d; c++)
    y[c] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t b = v->lo / 256; b * 256 < v->hi; b++) {
      uint32_t t0 = b * 256 > v->lo ? b * 256 : v->lo;
      uint32_t t1 = b * 256 + 256 < v->hi ? b * 256 + 256 : v->hi;
      float s[256], mb = -INFINITY, acc[16] = { 0 };
      for (uint32_t t = t0; t < t1; t++) {
        float a[16] = { 0 };
        struct tensor k = kv_row(v, v->base_k, t);
        for (size_t c = 0; c < d; c++)
          a[c % 16] = fmaf(q[c], get(k, kv * d + c), a[c % 16]);
        s[t % 256] = fold(a) * h->scale;
        if (s[t % 256] > mb)
          mb = s[t % 256];
      }
      if (mb > m)
        m = mb;
      if (pass == 0)
        continue;
      float w = num_expf(mb - m);
      for (uint32_t t = t0; t < t1; t++) {
        s[t % 256] = num_expf(s[t % 256] - mb);
        acc[t % 16] += s[t % 256];
        if (keep != NULL)
          keep[t] = s[t % 256] * w;
      }
      l = fmaf(fold(acc), w, l);
      for (size_t c = 0; c < d; c++) {
        float o = 0;
        for (uint32_t t = t0; t < t1; t++)
          o = fmaf(s[t % 256], get(kv_row(v, v->base_v, t), kv * d + c), o);
        y[c] = fmaf(o, w, y[c]);
      }
    }
  for (size_t c = 0; c < d; c++)
    y[c] /= l;
  if (keep != NULL)
    for (uint32_t t = v->lo; t < v->hi; t++)
      keep[t] /= l;
}

static void plain_attend(const struct engine *e, const struct heads *h,
                         const float *q, const struct view *seen, size_t rows,
                         float *room, float *y, const struct capture *keep)
{
  (void)e, (void)room;
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  for (size_t i = 0; i < rows * h->n_heads; i++) {
    float *kept = keep == NULL ? NULL : keep->weights + i * keep->stride;
    if (kept != NULL)
      memset(kept, 0, keep->stride * sizeof *kept);
    plain_head(h, q + i * d, &seen[i / h->n_heads], i % h->n_heads / group,
               y + i * d, kept);
  }
}

/* 2.18  Plain others */

static void plain_activate(const struct engine *e, enum activation_kind kind,
                           const float *x, const float *up, size_t n, float *y)
{
  (void)e;
  for (size_t i = 0; i < n; i++) {
    float z = x[i], cube = z * z * z, f;
    if (kind == ACTIVATION_SILU)
      f = z / (1 + num_expf(-z));
    else if (kind == ACTIVATION_GELU_ERF)
      f = 0.5f * z * (1 + num_erff(z * 0.70710678f));
    else
      f = 0.5f * z * (1 + num_tanhf(0.79788456f * fmaf(0.044715f, cube, z)));
    y[i] = up == NULL ? f : f * up[i];
  }
}

static void plain_add(const struct engine *e, float *y, const float *x, size_t n)
{
  (void)e;
  for (size_t i = 0; i < n; i++)
    y[i] += x[i];
}

static void plain_embed(const struct engine *e, struct tensor table, size_t d,
                        const uint32_t * id, size_t rows, float *y)
{
  (void)e;
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < d; c++)
      y[r * d + c] = get(table, id[r] * d + c);
}

static double sum_exp(const float *x, size_t n, double m)
{
  double acc[16] = { 0 };
  for (size_t i = 0; i < n; i++)
    acc[i % 16] += num_exp((double)x[i] - m);
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++)
      acc[j] += acc[j + s];
  return acc[0];
}

static void plain_softmax(const struct engine *e, const float *x, size_t rows,
                          size_t n, double *y)
{
  (void)e;
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double m = (double)x[0];
    for (size_t i = 0; i < n; i++)
      if ((double)x[i] > m)
        m = (double)x[i];
    double sum = sum_exp(x, n, m);
    for (size_t i = 0; i < n; i++)
      y[i] = num_exp((double)x[i] - m) / sum;
  }
}

static void plain_log_softmax(const struct engine *e, const float *x,
                              size_t rows, size_t n, double *y)
{
  (void)e;
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double m = (double)x[0];
    for (size_t i = 0; i < n; i++)
      if ((double)x[i] > m)
        m = (double)x[i];
    double logsum = num_log(sum_exp(x, n, m));
    for (size_t i = 0; i < n; i++)
      y[i] = ((double)x[i] - m) - logsum;
  }
}

/* 2.19  Plain table */

static const struct kernels plain = { "scalar", plain_linear, plain_normalize,
  plain_angles, plain_rotate, plain_attend, plain_activate, plain_add,
  plain_embed, plain_softmax, plain_log_softmax
};

const struct kernels *kernels_at(size_t i)
{
  return i == 0 ? &plain : NULL;
}

const struct kernels *kernels_find(const char *name, struct error *why)
{
  if (name == NULL || strcmp(name, "scalar") == 0)
    return &plain;
  error_say(why, "no kernels called %s; there are: scalar", name);
  return NULL;
}

bool kernels_self_test(const struct kernels *k, struct error *why)
{
  (void)k, (void)why;
  return true;
}

size_t kernels_room(const struct heads *h, size_t longest)
{
  return (longest / 256 + 2) * ((size_t)h->head_dim + 16);
}
