@i types.w
@s lanes int
@s wide int

% ==== the opening of the chapter belongs to the second half (02-model-b.part) ====
\chapterquestion{What does a model compute, and in which order does it add?}
@** The model.
\incipit{A}{ model is a} function from rows of tokens to rows of numbers.

@c
#include <stdio.h>
#include <string.h>
#include "02-model/kernels.h"
@;@#
int main(void)
{
  printf("kernels: %s\n", kernels_find("scalar", NULL)->name);
  return 0;
}

@* Kernels. \label{sec:kernels}
% ==== end of the opening ====
The interface, one line for each thing that a pass does.

@(counters.h@>=
#ifndef INCIPIT_COUNTERS_H
#define INCIPIT_COUNTERS_H
#include <stdint.h>
@<What is counted@>@;
#endif

@ Counters are bumped where the cost is paid, once a call and never once an element; so
counting costs nothing that could be measured.

@<What is counted@>=
struct counters {
  uint64_t passes, rows;
  uint64_t kv_rows_computed, kv_rows_recomputed, qk_pairs;
  uint64_t madds_linear, madds_attention, madds_head;
  uint64_t weight_bytes_read, cache_bytes_read, cache_bytes_written;
};
  /* calls of |forward|; tokens at positions put through all layers; positions whose
     keys and values were computed, and those of them that an earlier pass had computed;
     (query, key) pairs of one head of the first layer; multiply--adds of the layers'
     matrices, of attention over all heads and layers, and of the head; stored bytes of
     weights read; bytes of cache read and written */

@ The header of the kernels.

@(kernels.h@>=
#ifndef INCIPIT_KERNELS_H
#define INCIPIT_KERNELS_H
#include "00-ground/ground.h"
#include "02-model/counters.h"
@<Numbers as a file stores them@>@;
@<What the kernels work on@>@;
@<The table of kernels@>@;
@<How a table is found and tested@>@;
#endif

@ Weights come in three types.

@<Numbers as a file stores them@>=
enum weight_type { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16 };
  /* IEEE binary32, IEEE binary16, the upper half of a binary32 */
size_t weight_bytes(enum weight_type type);
  /* bytes of one number: 4, 2, 2 */
struct tensor { const void *data; enum weight_type type; };
  /* numbers where they lie in the file (or in memory), little-endian, in any
     alignment, owned by somebody else; null |data|: there is no such tensor */
struct matrix { struct tensor weight, bias; size_t in, out; bool transposed; };
  /* a linear layer: |weight| is |[out][in]|, or |[in][out]| if |transposed|
     (GPT-2's Conv1D); |bias| is |[out]| or absent */

@ What a norm, a row's view of the store, and attention need to know.

@<What the kernels work on@>=
enum norm_kind { NORM_RMS, NORM_LAYER };
  /* Zhang and Sennrich 2019; Ba, Kiros and Hinton 2016 */
struct normalizer { enum norm_kind kind; struct tensor gain, bias; float epsilon; };
  /* |gain| and |bias| are |[d]|; each may be absent; NORM\_RMS looks at no |bias| */
enum activation_kind { ACTIVATION_GELU_TANH, ACTIVATION_GELU_ERF,
  ACTIVATION_SILU };
  /* Hendrycks and Gimpel 2016, approximated and exact; Elfwing and others 2017 */
struct heads { uint32_t n_heads, n_kv_heads, head_dim; float scale; };
  /* |n_heads| is a multiple of |n_kv_heads|; |scale| multiplies each score */
struct view {
  const void *base_k, *base_v;
  const uint32_t *page;
  size_t page_rows, row_bytes;
  enum weight_type type;
  uint32_t lo, hi;
};
  /* what one row sees of one layer of a sequence: positions |lo <= t < hi|. The
     keys of position |t| are |[n_kv_heads][head_dim]| numbers of |type| at |base_k +
     r*row_bytes|, where |r == t| if |page| is null, else |r == page[t/page_rows]*page_rows
     + t%page_rows|; the values likewise at |base_v| */
struct capture { float *weights; size_t stride; };
  /* where attention shall leave its weights: |[rows][n_heads][stride]|, that of
     position |t| at index |t|; positions that a row does not see get 0 */

@ Here is the table.

@<The table of kernels@>=
struct engine;
struct kernels {
  const char *name;
  @<The kernels, one by one@>@;
};
struct engine { const struct kernels *k; void *self; struct counters *c; };
  /* the first argument of every kernel: the kernels in use, their |struct pool *|
     (null: one thread), and the counters, which the callers of kernels bump */

@ What each does. None allocates; none fails.

@<The kernels, one by one@>=
void (*linear)(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
  /* |y[m] = x*w|$_m$ for |n| matrices with the same |in|: |x| is |[rows][in]|,
     |y[m]| is |[rows][out]| of |list[m]| and overlaps nothing. The bias is added last */
void (*normalize)(const struct engine *e, const struct normalizer *g,
  const float *x, size_t rows, size_t d, float *y);
  /* |x| and |y| are |[rows][d]| and may be the same */
void (*angles)(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s);
  /* $\cos$ and $\sin$, times |scaling|, of position times frequency in float32:
     |c| and |s| are |[rows][half]| (Su and others 2021) */
void (*rotate)(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s);
  /* turns the pairs (|i|, |i+half|) of each head of |x|, |[rows][n_heads][2*half]|,
     by the row's angles, in place: the half-split pairing of the Llama checkpoints */
void (*attend)(const struct engine *e, const struct heads *h, const float *q,
  const struct view *seen, size_t rows, float *room, float *y,
  const struct capture *keep);
  /* |q| and |y| are |[rows][n_heads][head_dim]|, |seen| is |[rows]|; |room| has
     |kernels_room| floats for each worker; |keep| may be null (Vaswani and others 2017) */
void (*activate)(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y);
  /* |y[i]| $=f($|x[i]|$)$, times |up[i]| if |up| is not null; |y| may be |x| or |up| */
void (*add)(const struct engine *e, float *y, const float *x, size_t n);
  /* |y[i] += x[i]|: the residual stream */
void (*embed)(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y);
  /* row |id[r]| of |table|, |[...][d]|, widened to |y[r]|, |[rows][d]| */
void (*softmax)(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y);
  /* $e^{x-\max}$ over its sum, in double, for each row of |x|, |[rows][n]| */
void (*log_softmax)(const struct engine *e, const float *x, size_t rows,
  size_t n, double *y);
  /* $(x-\max)-\ln\sum e^{x-\max}$, in double, natural logarithms */

@ Which tables there are depends on the processor.

@<How a table is found and tested@>=
const struct kernels *kernels_find(const char *name, struct error *why);
  /* the table called |name|, \.{scalar}, \.{avx2} or \.{avx512}, or for null the
     fastest that this processor can run; null and a sentence that lists those it can */
const struct kernels *kernels_at(size_t i);
  /* table number |i| of those that this build has and this processor can run,
     the slowest first; null behind the last */
bool kernels_self_test(const struct kernels *k, struct error *why);
  /* false and a sentence if the build contracts $a\times b+c$ or has no exact |fma|;
     |forward| refuses to run then */
size_t kernels_room(const struct heads *h, size_t longest);
  /* floats that one worker of |attend| needs when no row sees more than |longest|
     positions */

@* Functions. The header of our own functions.

@(numbers.h@>=
#ifndef INCIPIT_NUMBERS_H
#define INCIPIT_NUMBERS_H
#include "00-ground/ground.h"
@<The functions@>@;
#endif

@ Seven functions in two widths, and the two short formats.

@<The functions@>=
float num_expf(float x);
  /* $e^x$; 1 exactly for 0 */
float num_logf(float x);
  /* natural logarithm */
float num_powf(float x, float y);
  /* $x^y$ */
float num_sinf(float x);
  /* sine of an angle in radians */
float num_cosf(float x);
  /* cosine of an angle in radians */
float num_tanhf(float x);
  /* hyperbolic tangent */
float num_erff(float x);
  /* error function */
double num_exp(double x);
  /* $e^x$; 1 exactly for 0 */
double num_log(double x);
  /* natural logarithm */
double num_pow(double x, double y);
  /* $x^y$ */
double num_sin(double x);
  /* sine of an angle in radians, however large */
double num_cos(double x);
  /* cosine of an angle in radians, however large */
double num_tanh(double x);
  /* hyperbolic tangent */
double num_erf(double x);
  /* error function */
float num_from_f16(uint16_t h);
  /* IEEE binary16, widened exactly */
float num_from_bf16(uint16_t h);
  /* the upper half of a binary32, widened exactly */
uint16_t num_to_f16(float x);
  /* rounded to nearest even; too large becomes infinite */
uint16_t num_to_bf16(float x);
  /* rounded to nearest even; too large becomes infinite */

@ Plain for now.

@(numbers.c@>=
#include <math.h>
#include <string.h>
#include "02-model/numbers.h"
@;@#
float num_expf(float x) { return (float) exp(x); }
float num_logf(float x) { return (float) log(x); }
float num_powf(float x, float y) { return (float) pow(x, y); }
float num_sinf(float x) { return (float) sin(x); }
float num_cosf(float x) { return (float) cos(x); }
float num_tanhf(float x) { return (float) tanh(x); }
float num_erff(float x) { return (float) erf(x); }
double num_exp(double x) { return exp(x); }
double num_log(double x) { return log(x); }
double num_pow(double x, double y) { return pow(x, y); }
double num_sin(double x) { return sin(x); }
double num_cos(double x) { return cos(x); }
double num_tanh(double x) { return tanh(x); }
double num_erf(double x) { return erf(x); }
@<Widen and narrow@>@;

@ Plain for now.

@<Widen and narrow@>=
float num_from_bf16(uint16_t h)
{
  uint32_t u = (uint32_t) h << 16;
  float x;
  memcpy(&x, &u, 4);
  return x;
}
float num_from_f16(uint16_t h)
{
  uint32_t u = (uint32_t) (h & 0x7fff) << 13;
  float x;
  memcpy(&x, &u, 4);
  x *= 0x1p112f;
  memcpy(&u, &x, 4);
  if ((h & 0x7c00) == 0x7c00) u |= 0x7f800000;
  u |= (uint32_t) (h & 0x8000) << 16;
  memcpy(&x, &u, 4);
  return x;
}
uint16_t num_to_bf16(float x)
{
  uint32_t u;
  memcpy(&u, &x, 4);
  if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t) (u >> 16 | 0x40);
  return (uint16_t) ((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
uint16_t num_to_f16(float x)
{
  uint32_t u, sign;
  memcpy(&u, &x, 4);
  sign = u >> 16 & 0x8000, u &= 0x7fffffff;
  if (u > 0x7f800000) return (uint16_t) (sign | 0x7e00);
  if (u >= 0x477ff000) return (uint16_t) (sign | 0x7c00);
  memcpy(&x, &u, 4);
  if (u < 0x38800000) {
    x += 0.5f;
    memcpy(&u, &x, 4);
    return (uint16_t) (sign | (u - 0x3f000000));
  }
  return (uint16_t) (sign | (u - 0x38000000 + 0xfff + (u >> 13 & 1)) >> 13);
}

@ Plain for now.

@(kernels.c@>=
#include <math.h>
#include <string.h>
#include "02-model/kernels.h"
#include "02-model/numbers.h"
@;@#
static float get(struct tensor t, size_t i)
{
  uint16_t h;
  float f;
  if (t.type == WEIGHT_F32) {
    memcpy(&f, (const char *) t.data + 4 * i, 4);
    return f;
  }
  memcpy(&h, (const char *) t.data + 2 * i, 2);
  return t.type == WEIGHT_F16 ? num_from_f16(h) : num_from_bf16(h);
}
size_t weight_bytes(enum weight_type type)
{
  return type == WEIGHT_F32 ? 4 : 2;
}
static float fold(float acc[16])
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) acc[j] += acc[j + s];
  return acc[0];
}
static float dot(const float *x, const float *y, size_t n)
{
  float acc[16] = @[{ 0 }@];
  for (size_t k = 0; k < n; k++) acc[k % 16] = fmaf(x[k], y[k], acc[k % 16]);
  return fold(acc);
}
@<Plain linear and norm@>@;
@<Plain rope@>@;
@<Plain attention@>@;
@<Plain others@>@;
@<Plain table@>@;

@ Plain for now.

@<Plain linear and norm@>=
static void plain_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t m = 0; m < n; m++)
    for (size_t r = 0; r < rows; r++)
      for (size_t o = 0; o < list[m].out; o++) {
        const struct matrix *w = &list[m];
        float acc[16] = @[{ 0 }@];
        for (size_t k = 0; k < w->in; k++) {
          float f = get(w->weight, w->transposed ? k * w->out + o
            : o * w->in + k);
          acc[k % 16] = fmaf(x[r * w->in + k], f, acc[k % 16]);
        }
        float sum = fold(acc);
        if (w->bias.data != NULL) sum += get(w->bias, o);
        y[m][r * w->out + o] = sum;
      }
}
static void plain_normalize(const struct engine *e, const struct normalizer *g,
  const float *x, size_t rows, size_t d, float *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, x += d, y += d) {
    float mean = 0;
    if (g->kind == NORM_LAYER) {
      float acc[16] = @[{ 0 }@];
      for (size_t k = 0; k < d; k++) acc[k % 16] += x[k];
      mean = fold(acc) / (float) d;
    }
    for (size_t k = 0; k < d; k++)
      y[k] = g->kind == NORM_LAYER ? x[k] - mean : x[k];
    float scale = 1 / sqrtf(dot(y, y, d) / (float) d + g->epsilon);
    for (size_t k = 0; k < d; k++) {
      y[k] *= scale;
      bool bias = g->kind == NORM_LAYER && g->bias.data != NULL;
      float gain = g->gain.data != NULL ? get(g->gain, k) : 1;
      y[k] = bias ? fmaf(y[k], gain, get(g->bias, k)) : y[k] * gain;
    }
  }
}

@ Plain for now.

@<Plain rope@>=
static void plain_angles(const struct engine *e, const uint32_t *position,
  size_t rows, const float *frequency, size_t half, float scaling, float *c,
  float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < half; i++) {
      float angle = (float) position[r] * frequency[i];
      c[r * half + i] = (float) num_cos(angle) * scaling;
      s[r * half + i] = (float) num_sin(angle) * scaling;
    }
}
static void plain_rotate(const struct engine *e, float *x, size_t rows,
  size_t n_heads, size_t half, const float *c, const float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t h = 0; h < n_heads; h++, x += 2 * half)
      for (size_t i = 0; i < half; i++) {
        float x0 = x[i], x1 = x[half + i], cc = c[r * half + i];
        float ss = s[r * half + i], a = x1 * ss, b = x1 * cc;
        x[i] = fmaf(x0, cc, -a);
        x[half + i] = fmaf(x0, ss, b);
      }
}

@ Plain for now.

@<Plain attention@>=
static struct tensor kv_row(const struct view *v, const void *base, uint32_t t)
{
  size_t r = t;
  if (v->page != NULL)
    r = v->page[t / v->page_rows] * v->page_rows + t % v->page_rows;
  return (struct tensor) @[{ (const char *) base + r * v->row_bytes, v->type }@];
}
static void plain_head(const struct heads *h, const float *q,
  const struct view *v, size_t kv, float *y, float *keep)
{
  size_t d = h->head_dim;
  float m = -INFINITY, l = 0;
  for (size_t c = 0; c < d; c++) y[c] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t b = v->lo / 256; b * 256 < v->hi; b++) {
      uint32_t t0 = b * 256 > v->lo ? b * 256 : v->lo;
      uint32_t t1 = b * 256 + 256 < v->hi ? b * 256 + 256 : v->hi;
      float s[256], mb = -INFINITY, acc[16] = @[{ 0 }@];
      for (uint32_t t = t0; t < t1; t++) {
        float a[16] = @[{ 0 }@];
        struct tensor k = kv_row(v, v->base_k, t);
        for (size_t c = 0; c < d; c++)
          a[c % 16] = fmaf(q[c], get(k, kv * d + c), a[c % 16]);
        s[t % 256] = fold(a) * h->scale;
        if (s[t % 256] > mb) mb = s[t % 256];
      }
      if (mb > m) m = mb;
      if (pass == 0) continue;
      float w = num_expf(mb - m);
      for (uint32_t t = t0; t < t1; t++) {
        s[t % 256] = num_expf(s[t % 256] - mb);
        acc[t % 16] += s[t % 256];
        if (keep != NULL) keep[t] = s[t % 256] * w;
      }
      l = fmaf(fold(acc), w, l);
      for (size_t c = 0; c < d; c++) {
        float o = 0;
        for (uint32_t t = t0; t < t1; t++)
          o = fmaf(s[t % 256], get(kv_row(v, v->base_v, t), kv * d + c), o);
        y[c] = fmaf(o, w, y[c]);
      }
    }
  for (size_t c = 0; c < d; c++) y[c] /= l;
  if (keep != NULL)
    for (uint32_t t = v->lo; t < v->hi; t++) keep[t] /= l;
}
static void plain_attend(const struct engine *e, const struct heads *h,
  const float *q, const struct view *seen, size_t rows, float *room, float *y,
  const struct capture *keep)
{
  (void) e, (void) room;
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  for (size_t i = 0; i < rows * h->n_heads; i++) {
    float *kept = keep == NULL ? NULL : keep->weights + i * keep->stride;
    if (kept != NULL) memset(kept, 0, keep->stride * sizeof *kept);
    plain_head(h, q + i * d, &seen[i / h->n_heads], i % h->n_heads / group,
      y + i * d, kept);
  }
}

@ Plain for now.

@<Plain others@>=
static void plain_activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++) {
    float z = x[i], cube = z * z * z, f;
    if (kind == ACTIVATION_SILU) f = z / (1 + num_expf(-z));
    else if (kind == ACTIVATION_GELU_ERF)
      f = 0.5f * z * (1 + num_erff(z * 0.70710678f));
    else f = 0.5f * z * (1 + num_tanhf(0.79788456f
      * fmaf(0.044715f, cube, z)));
    y[i] = up == NULL ? f : f * up[i];
  }
}
static void plain_add(const struct engine *e, float *y, const float *x, size_t n)
{
  (void) e;
  for (size_t i = 0; i < n; i++) y[i] += x[i];
}
static void plain_embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < d; c++) y[r * d + c] = get(table, id[r] * d + c);
}
static double sum_exp(const float *x, size_t n, double m)
{
  double acc[16] = @[{ 0 }@];
  for (size_t i = 0; i < n; i++) acc[i % 16] += num_exp((double) x[i] - m);
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) acc[j] += acc[j + s];
  return acc[0];
}
static void plain_softmax(const struct engine *e, const float *x, size_t rows,
  size_t n, double *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double m = (double) x[0];
    for (size_t i = 0; i < n; i++) if ((double) x[i] > m) m = (double) x[i];
    double sum = sum_exp(x, n, m);
    for (size_t i = 0; i < n; i++) y[i] = num_exp((double) x[i] - m) / sum;
  }
}
static void plain_log_softmax(const struct engine *e, const float *x,
  size_t rows, size_t n, double *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double m = (double) x[0];
    for (size_t i = 0; i < n; i++) if ((double) x[i] > m) m = (double) x[i];
    double logsum = num_log(sum_exp(x, n, m));
    for (size_t i = 0; i < n; i++) y[i] = ((double) x[i] - m) - logsum;
  }
}

@ Plain for now.

@<Plain table@>=
static const struct kernels plain = @[{ "scalar", plain_linear, plain_normalize,
  plain_angles, plain_rotate, plain_attend, plain_activate, plain_add,
  plain_embed, plain_softmax, plain_log_softmax }@];
const struct kernels *kernels_at(size_t i)
{
  return i == 0 ? &plain : NULL;
}
const struct kernels *kernels_find(const char *name, struct error *why)
{
  if (name == NULL || strcmp(name, "scalar") == 0) return &plain;
  error_say(why, "no kernels called %s; there are: scalar", name);
  return NULL;
}
bool kernels_self_test(const struct kernels *k, struct error *why)
{
  (void) k, (void) why;
  return true;
}
size_t kernels_room(const struct heads *h, size_t longest)
{
  return (longest / 256 + 2) * ((size_t) h->head_dim + 16);
}
