@i types.w
@s lanes int
@s wide int

@s json_error_t int
@s json_int_t int
@s field_read int
@s watch_see int
\chapterquestion{What does a model compute, and in which order does it add?}
@** The model.
\incipit{A}{ model is a} function from rows of tokens to rows of numbers.
@c
#include <stdio.h>
#include <stdint.h>
#include "02-model/forward.h"
int main(int argc, char **argv)
{
  struct memory m = @[{.refuse_at=0}@];
  struct error why;
  for (int i = 1; i < argc; i++) {
    struct model *lm = model_open(&m, argv[i], &why);
    if (!lm) printf("%s\n", why.words);
    else { printf("%s ok %s %d %d ignored\n", argv[i], lm->config.family, lm->config.n_layers, (int) lm->config.n_ignored);
    model_close(&m, lm);}
  }
  return m.all.held != 0;
}

@* Kernels. \label{sec:kernels}
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
@* Weights in a file. \label{sec:safetensors}
A model is a long list of named arrays of numbers, called \emph{tensors}, and a page of
settings. The arrays come in a format named safetensors: eight bytes that say how long
the header is, the header, which is JSON and gives for each name a type, a shape and
two offsets, and then the bytes that the offsets point into. The format was made
to be dull. Loading it executes nothing, and we need not copy what we can map.
@^safetensors@>@^tensor@>

Whoever wrote the file may have been careless or hostile, so we believe none of it until
it adds up: the header ends within the file, it is strict JSON, every product of a shape
fits in 64 bits, every tensor has exactly the bytes its shape and type call for, and the
tensors lie one behind the other from the first byte after the header to the last byte
of the file, without hole or overlap. After that no later chapter needs to check an
offset again.

@(safetensors.h@>=
#ifndef INCIPIT_SAFETENSORS_H
#define INCIPIT_SAFETENSORS_H
#include <jansson.h>
#include "00-ground/ground.h"
@<A tensor in a file@>@;
@<All tensors of a model@>@;
@<A file of JSON@>@;
#endif

@ A tensor stays where it is. What we keep beside it is its name, its type as the file
spells it, and its shape, outermost dimension first. The engine computes with three of
the types, F32, F16 and BF16; the others are understood far enough to list them.

@<A tensor in a file@>=
struct stored {
  const char *name, *type, *file; /* type as in the file: \.{"F32"}, \.{"BF16"}, \dots */
  const unsigned char *data; /* little endian, not always aligned */
  uint64_t bytes, elements, begin;
  size_t number; /* its place in the list by name */
  uint32_t rank;
  uint64_t shape[];
}; /* owned by its |struct weights|; rank 0 has one element */

@ A model may be one file, or several with an index that says which tensor is in which.
Behind this interface the difference is gone.

@<All tensors of a model@>=
struct weights;
struct weights *weights_open(struct memory *m, const char *path,
  struct error *why);
  /* maps and validates a safetensors file, or those of a directory:
     \.{model.safetensors}, else the files that its
     \.{model.safetensors.index.json} names; null and a sentence if anything
     is amiss. Owned by the caller */
void weights_close(struct memory *m, struct weights *w);
  /* unmaps the files; every pointer into them dies. Null is nothing */
size_t weights_count(const struct weights *w);
  /* how many tensors */
const struct stored *weights_at(const struct weights *w, size_t i);
  /* number |i| in the order of their names, $0\le i<{}$|weights_count(w)| */
const struct stored *weights_find(const struct weights *w, const char *name);
  /* by name, or null */
const char *weights_path(const struct weights *w);
  /* the file, or the index: the name to put into an error */

@ The settings are JSON as well, and so is the index. They are read whole, and as
strictly as the headers: UTF-8 throughout, no key twice.

@<A file of JSON@>=
json_t *json_read(const char *path, struct error *why);
  /* the value in a file, to be released with |json_decref|; strict: duplicate
     keys, bad UTF-8, more than 64\,MiB are errors; null and a sentence */
const char *json_excerpt(json_t *value, char room[64]);
  /* the value as one would type it, cut to fit into |room|, for an error's
     ``found''; returns |room| */

@ Inside, a file is a mapping with its path, and all tensors are in one list. A path is
a block of its own, because tensors point to it while the array of files may still grow.

@<What |struct weights| holds@>=
struct shard { char *path; struct mapping map; };
struct weights {
  char *path; /* what messages name: the file, or the index */
  struct shard *shard;
  size_t n_shards;
  struct stored **list;
  size_t n, room;
};

@* Reading a header. \label{sec:header}
A header may have |HEADER_MOST| bytes, the format says, and a tree of JSON nodes
takes many times the space of its text. So we let jansson read one value at a time, the
name of a tensor and then its entry, and keep only what the entry says. Between the
values there are braces, colons and commas, and those we read ourselves. A file that
turns out to be bad has then cost little more than its own size.

@<A reader of headers@>=
struct reader {
  struct memory *m;
  struct weights *w; /* where the tensors go */
  const char *path, *at, *end;
  bool metadata; /* has been seen */
  struct error *why;
};
enum { ENTRY_MOST = 4096, METADATA_MOST = 4 << 20 }; /* bytes */
@#
static bool header_bad(struct reader *r, const char *found, const char *wanted)
{
  return error_found(r->why, r->path, "the header", found, wanted);
}

@ jansson is told to stop after one value and to say where it stopped. The bound on the
length is simply the length that it is given: a value that is not finished by then is
an error at the end of the text.

@<Read one value of the header@>=
static json_t *header_value(struct reader *r, size_t most, size_t flags)
{
  json_error_t found;
  size_t left = (size_t) (r->end - r->at);
  json_t *value = json_loadb(r->at, left < most ? left : most, JSON_DECODE_ANY
    | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES | flags, &found);
  if (value == NULL) header_bad(r, found.text, "strict JSON");
  else r->at += found.position;
  return value;
}

@ Punctuation is one character, perhaps after white space. The character that was read
is the answer; the end of the header reads as a zero.

@<Read one mark of punctuation@>=
static char header_mark(struct reader *r)
{
  while (r->at < r->end && *r->at != '\0' && strchr(" \t\r\n", *r->at) != NULL)
    r->at++;
  return r->at < r->end ? *r->at++ : '\0';
}

@ The header is a brace, then names and their values until the closing brace, and after
that nothing but white space. |r->at - 1| is the mark just read: an object that is not
empty begins with a name, which jansson wants to see from its first quotation mark.

@<Read the whole header@>=
static bool header_read(struct reader *r)
{
  if (header_mark(r) != '{') return header_bad(r, "no object", "{");
  char mark = header_mark(r);
  if (mark == '"') {
    r->at--;
    do if (!header_pair(r)) return false;
    while ((mark = header_mark(r)) == ',');
  }
  if (mark != '}') return header_bad(r, "cut short or out of order", ", or }");
  if (header_mark(r) != '\0' || r->at < r->end)
    return header_bad(r, "followed by something", "white space up to its end");
  return true;
}

@ One name and its value. The name |__metadata__| is not a tensor: its value is an
object of strings, which we check and forget, since nothing in it may change what the
model computes.

@<Read a name and its value@>=
static bool header_pair(struct reader *r)
{
  json_t *name = header_value(r, ENTRY_MOST, 0);
  if (name == NULL) return false;
  bool ok = json_is_string(name) && header_mark(r) == ':';
  if (!ok) header_bad(r, "no list of names and values", "\"name\": value");
  else if (strcmp(json_string_value(name), "__metadata__") == 0)
    ok = header_metadata(r);
  else ok = header_tensor(r, json_string_value(name));
  json_decref(name);
  return ok;
}

@ A string of metadata may contain anything, a zero byte too; so jansson is told to allow
it here, and here only.

@<Check the metadata@>=
static bool header_metadata(struct reader *r)
{
  if (r->metadata) return header_bad(r, "__metadata__ twice", "each name once");
  r->metadata = true;
  json_t *all = header_value(r, METADATA_MOST, JSON_ALLOW_NUL);
  if (all == NULL) return false;
  bool ok = json_is_object(all);
  for (void *i = json_object_iter(all); i != NULL && ok;
       i = json_object_iter_next(all, i))
    ok = json_is_string(json_object_iter_value(i));
  if (!ok) tensor_bad(r, "__metadata__", all, "an object of strings");
  json_decref(all);
  return ok;
}

@ The message about a name tells the file, the name, what stands there, and what would
have been accepted.

@<Say what is wrong with an entry@>=
static bool tensor_bad(struct reader *r, const char *name, json_t *found,
  const char *wanted)
{
  char room[64];
  return error_found(r->why, r->path, name, json_excerpt(found, room), wanted);
}

@ The entry of a tensor has a type, a shape and two offsets. The file's own word for the
type is replaced by ours, which lives as long as the program.

@<Take down one tensor@>=
static bool header_tensor(struct reader *r, const char *name)
{
  json_t *entry = header_value(r, ENTRY_MOST, 0);
  if (entry == NULL) return false;
  json_t *type = json_object_get(entry, "dtype");
  json_t *shape = json_object_get(entry, "shape");
  json_t *offset = json_object_get(entry, "data_offsets");
  bool ok = json_is_string(type) && json_is_array(shape)
    && json_array_size(offset) == 2;
  if (!ok)
    tensor_bad(r, name, entry, "a dtype, a shape and two data_offsets");
  else {
    struct stored *t = tensor_add(r, name, json_array_size(shape));
    ok = t != NULL && tensor_fill(r, t, type, shape, offset);
  }
  json_decref(entry);
  return ok;
}

@ A tensor's block holds its shape and, behind the shape, its name. The list of pointers
doubles when it is full, so that most tensors are added without moving the others.

@<Add a tensor to the list@>=
static struct stored *tensor_add(struct reader *r, const char *name, size_t rank)
{
  struct weights *w = r->w;
  if (w->n == w->room) {
    size_t room = w->room == 0 ? 64 : 2 * w->room;
    void *grown = memory_grow(r->m, FOR_OTHER, w->list, w->room, room,
      sizeof *w->list, r->why);
    if (grown == NULL) return NULL;
    w->list = grown, w->room = room;
  }
  size_t fixed = sizeof(struct stored) + rank * sizeof(uint64_t);
  size_t length = strlen(name) + 1;
  struct stored *t = memory_take(r->m, FOR_OTHER, fixed + length, 1, r->why);
  if (t == NULL) return NULL;
  t->rank = (uint32_t) rank, t->file = r->path;
  t->name = memcpy((char *) t + fixed, name, length);
  return w->list[w->n++] = t;
}

@ The types of the format, with their bits. Some are smaller than a byte; a tensor of
those must still fill whole bytes.

@<The types that the format knows@>=
static const struct type { const char *name; uint64_t bits; } known_type[] =
  @[{ {"F32", 32}, {"F16", 16}, {"BF16", 16}, {"F64", 64}, {"BOOL", 8},@|
    {"U8", 8}, {"I8", 8}, {"U16", 16}, {"I16", 16}, {"U32", 32}, {"I32", 32},@|
    {"U64", 64}, {"I64", 64}, {"C64", 64}, {"F4", 4}, {"F6_E2M3", 6},@|
    {"F6_E3M2", 6}, {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},@|
    {"F8_E5M2FNUZ", 8}, {"F8_E4M3FNUZ", 8} }@];
@#
static const struct type *type_find(const char *name)
{
  for (size_t i = 0; i < sizeof known_type / sizeof known_type[0]; i++)
    if (strcmp(known_type[i].name, name) == 0) return &known_type[i];
  return NULL;
}

@ Multiplying what a stranger wrote is how buffers overflow. |count_up| multiplies only
after it has looked whether the product fits; a negative number, a real and a |true|
are refused by the same line, since none of them is a natural number.

@<Multiply numbers from a file@>=
static bool count_up(uint64_t *product, json_t *factor)
{
  if (!json_is_integer(factor) || json_integer_value(factor) < 0) return false;
  uint64_t f = (uint64_t) json_integer_value(factor);
  if (f != 0 && *product > UINT64_MAX / f) return false;
  *product *= f;
  return true;
}

@ Bits are elements times the bits of one, and the offsets must enclose exactly as many
bytes. Whether they lie within the file is seen when all of them are known.

@<Fill in type, shape and extent@>=
static bool tensor_fill(struct reader *r, struct stored *t, json_t *type,
  json_t *shape, json_t *offset)
{
  const struct type *known = type_find(json_string_value(type));
  if (known == NULL)
    return tensor_bad(r, t->name, type, "a type of the format");
  t->type = known->name, t->elements = 1;
  for (uint32_t i = 0; i < t->rank; i++) {
    t->shape[i] = 1;
    if (!count_up(&t->shape[i], json_array_get(shape, i))
        || !count_up(&t->elements, json_array_get(shape, i)))
      return tensor_bad(r, t->name, shape, "fewer than 2^64 elements");
  }
  uint64_t end = 1;
  t->begin = 1;
  if (!count_up(&t->begin, json_array_get(offset, 0))
      || !count_up(&end, json_array_get(offset, 1)) || t->begin > end)
    return tensor_bad(r, t->name, offset, "two rising offsets");
  t->bytes = end - t->begin;
  if (t->elements > UINT64_MAX / known->bits
      || t->elements * known->bits % 8 != 0
      || t->elements * known->bits / 8 != t->bytes)
    return tensor_bad(r, t->name, offset, "as many bytes as type and shape need");
  return true;
}

@ Now the extents. Sorted by where they begin, each tensor must start where the one
before it ended, and the last must end with the file. That one rule excludes holes,
overlaps, bytes that nobody names, and offsets beyond the end.

@<Lay the tensors of a file end to end@>=
static bool extents_check(struct reader *r, struct stored **list, size_t n,
  const unsigned char *data, uint64_t bytes)
{
  if (n > 0) qsort(list, n, sizeof *list, by_extent);
  uint64_t at = 0;
  for (size_t i = 0; i < n; i++) {
    char found[64];
    snprintf(found, sizeof found, "at byte %" PRIu64 " after %" PRIu64,
      list[i]->begin, at);
    if (list[i]->begin != at || list[i]->bytes > bytes - at)
      return error_found(r->why, r->path, list[i]->name, found,
        "no hole, no overlap, within the file");
    list[i]->data = data + at;
    at += list[i]->bytes;
  }
  return at == bytes || error_say(r->why, "%s: the data are %" PRIu64 " bytes;"@|
    " wanted: %" PRIu64 ", the last offset", r->path, bytes, at);
}

@ An empty tensor begins where its successor begins, and sorts before it. For the final
list, which is searched by name, the order is that of the names.

@<Compare two tensors@>=
static int by_extent(const void *a, const void *b)
{
  const struct stored *x = *(struct stored *const *) a;
  const struct stored *y = *(struct stored *const *) b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}
@#
static int by_name(const void *a, const void *b)
{
  return strcmp((*(struct stored *const *) a)->name,
    (*(struct stored *const *) b)->name);
}

@* Files and shards. \label{sec:shards}
A file is mapped, its length field read, its header walked, its extents laid end to end.
|first| is where the list stood before, so that only this file's tensors are sorted.

@<Read one file of tensors@>=
static bool shard_read(struct weights *w, struct shard *s, struct memory *m,
  struct error *why)
{
  struct reader r = @[{ .m = m, .w = w, .path = s->path, .why = why }@];
  if (!file_map(&s->map, s->path, why)) return false;
  uint64_t header = 0;
  if (s->map.size < 8) return header_bad(&r, "missing", "8 bytes of length");
  for (int i = 0; i < 8; i++) header |= (uint64_t) s->map.bytes[i] << 8 * i;
  if (header > HEADER_MOST || header > s->map.size - 8)
    return header_bad(&r, "longer than the file", "at most 100,000,000 bytes, "@|
      "and no more than there are");
  r.at = (const char *) s->map.bytes + 8;
  r.end = r.at + header;
  size_t first = w->n;
  return header_read(&r) && extents_check(&r, w->list + first, w->n - first,
    s->map.bytes + 8 + header, s->map.size - 8 - header);
}

@ A file joins the list of files before anything can fail with it, so that closing knows
about it in every case.

@<Open one more file@>=
static bool shard_open(struct weights *w, struct memory *m, const char *directory,
  const char *name, struct error *why)
{
  struct shard *grown = memory_grow(m, FOR_OTHER, w->shard, w->n_shards,
    w->n_shards + 1, sizeof *grown, why);
  if (grown == NULL) return false;
  w->shard = grown;
  struct shard *s = &w->shard[w->n_shards++];
  s->path = path_keep(m, directory, name, why);
  return s->path != NULL && shard_read(w, s, m, why);
}

@ The index names a file for every tensor. A name with a slash in it, or one that begins
with a dot, could lead out of the directory (|"../../etc/passwd"| is a file name, too),
and no tool writes such names; they are refused before anything is opened.

@<Open the files that an index names@>=
static bool index_open(struct weights *w, struct memory *m, const char *directory,
  json_t *map, struct error *why)
{
  for (void *i = json_object_iter(map); i != NULL;
       i = json_object_iter_next(map, i)) {
    const char *file = json_string_value(json_object_iter_value(i));
    char room[64];
    if (file == NULL || *file == '\0' || *file == '.' || strchr(file, '/') != NULL)
      return error_found(why, w->path, json_object_iter_key(i),
        json_excerpt(json_object_iter_value(i), room),
        "the name of a file in the same directory");
    size_t k = 0, skip = strlen(directory) + 1;
    while (k < w->n_shards && strcmp(w->shard[k].path + skip, file) != 0) k++;
    if (k == w->n_shards && !shard_open(w, m, directory, file, why)) return false;
  }
  return true;
}

@ Afterwards index and files must agree: every tensor of the index in the file that it
names, and no tensor that the index does not know. Since names are unique, equal counts
suffice for the second half.

@<Compare the index with the files@>=
static bool index_check(struct weights *w, json_t *map, struct error *why)
{
  for (void *i = json_object_iter(map); i != NULL;
       i = json_object_iter_next(map, i)) {
    const struct stored *t = weights_find(w, json_object_iter_key(i));
    const char *file = json_string_value(json_object_iter_value(i));
    if (t == NULL || strcmp(strrchr(t->file, '/') + 1, file) != 0)
      return error_found(why, w->path, json_object_iter_key(i), file,
        "the file that has this tensor");
  }
  return json_object_size(map) == w->n || error_say(why,
    "%s: weight_map has %zu tensors; wanted: %zu, as in the files", w->path,
    json_object_size(map), w->n);
}

@ With one file or many, no name may occur twice. In the sorted list two equal names are
neighbours.

@<Sort by name, and refuse a name given twice@>=
static bool weights_sort(struct weights *w, struct error *why)
{
  if (w->n > 0) qsort(w->list, w->n, sizeof *w->list, by_name);
  for (size_t i = 1; i < w->n; i++)
    if (strcmp(w->list[i - 1]->name, w->list[i]->name) == 0)
      return error_found(why, w->list[i]->file, w->list[i]->name,
        "given twice", "each name once");
  for (size_t i = 0; i < w->n; i++) w->list[i]->number = i;
  return true;
}

@ An index is JSON with a |weight_map|. Its other member, |metadata|, counts bytes; we
count them ourselves.

@<Open by an index@>=
static bool weights_open_index(struct weights *w, struct memory *m,
  const char *directory, struct error *why)
{
  json_t *index = json_read(w->path, why);
  if (index == NULL) return false;
  json_t *map = json_object_get(index, "weight_map");
  char room[64];
  bool ok = json_is_object(map) || error_found(why, w->path, "weight_map",
    json_excerpt(map, room), "an object of names and files");
  ok = ok && index_open(w, m, directory, map, why) && weights_sort(w, why)
    && index_check(w, map, why);
  json_decref(index);
  return ok;
}

@ A path is a directory or a file. In a directory the single file has precedence over an
index, as elsewhere. If neither is there, opening the single file fails, and its
sentence names what was missing.

@<Open whatever the path leads to@>=
struct weights *weights_open(struct memory *m, const char *path,
  struct error *why)
{
  struct stat about;
  bool directory = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
  struct weights *w = memory_take(m, FOR_OTHER, 1, sizeof *w, why);
  if (w == NULL) return NULL;
  const char *name = directory ? "model.safetensors" : "";
  char *single = path_keep(m, path, name, why);
  char *index = path_keep(m, path, "model.safetensors.index.json", why);
  bool ok = single != NULL && index != NULL;
  bool indexed = ok && directory && access(single, F_OK) != 0
    && access(index, F_OK) == 0;
  w->path = indexed ? index : single;
  path_return(m, indexed ? single : index);
  if (indexed) ok = weights_open_index(w, m, path, why);
  else ok = ok && shard_open(w, m, path, name, why) && weights_sort(w, why);
  if (ok) return w;
  weights_close(m, w);
  return NULL;
}

@ To close is to give back what was taken, in any state of completion.

@<Close what was opened@>=
void weights_close(struct memory *m, struct weights *w)
{
  if (w == NULL) return;
  for (size_t i = 0; i < w->n; i++) {
    struct stored *t = w->list[i];
    memory_give(m, FOR_OTHER, t, sizeof *t + t->rank * sizeof(uint64_t)
      + strlen(t->name) + 1, 1);
  }
  for (size_t i = 0; i < w->n_shards; i++) {
    file_unmap(&w->shard[i].map);
    path_return(m, w->shard[i].path);
  }
  memory_give(m, FOR_OTHER, w->list, w->room, sizeof *w->list);
  memory_give(m, FOR_OTHER, w->shard, w->n_shards, sizeof *w->shard);
  path_return(m, w->path);
  memory_give(m, FOR_OTHER, w, 1, sizeof *w);
}

@ Finding is a binary search: a model asks for every name once, and a list of names in
order is there anyway.

@<Find a tensor by its name@>=
const struct stored *weights_find(const struct weights *w, const char *name)
{
  size_t low = 0, high = w->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(name, w->list[middle]->name);
    if (order == 0) return w->list[middle];
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return NULL;
}
@#
size_t weights_count(const struct weights *w) { return w->n; }
const struct stored *weights_at(const struct weights *w, size_t i)
{
  return w->list[i];
}
const char *weights_path(const struct weights *w) { return w->path; }

@ A string of ours is a block like any other, and goes back with its size, which is its
length and the zero at its end.

@<Keep a path, return a path@>=
static char *path_keep(struct memory *m, const char *directory, const char *name,
  struct error *why)
{
  size_t a = strlen(directory), b = strlen(name);
  char *path = memory_take(m, FOR_OTHER, a + (b > 0) + b + 1, 1, why);
  if (path == NULL) return NULL;
  memcpy(path, directory, a);
  if (b > 0) path[a] = '/', memcpy(path + a + 1, name, b);
  return path;
}
@#
static void path_return(struct memory *m, char *path)
{
  if (path != NULL) memory_give(m, FOR_OTHER, path, strlen(path) + 1, 1);
}

@ Settings and index are read from the mapping as well. The bound keeps a file of the
wrong kind from being taken for JSON gigabyte by gigabyte.

@<Read a file of JSON@>=
json_t *json_read(const char *path, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  json_error_t found;
  json_t *value = NULL;
  if (map.size > JSON_MOST)
    error_found(why, path, "this", "very large", "JSON of at most 64 MiB");
  else {
    value = json_loadb((const char *) map.bytes, map.size, JSON_DECODE_ANY
      | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &found);
    if (value == NULL)
      error_say(why, "%s: line %d: %s; wanted: strict JSON", path, found.line,
        found.text);
  }
  file_unmap(&map);
  return value;
}

@ A value is quoted in a sentence as it would be typed, in ASCII, and cut with three
dots. jansson leaves out a piece that does not fit any more, so the zeros laid down
beforehand end the string there.

@<Quote a value of JSON@>=
const char *json_excerpt(json_t *value, char room[64])
{
  if (value == NULL) return strcpy(room, "missing");
  memset(room, 0, 64);
  size_t n = json_dumpb(value, room, 60,
    JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
  if (n > 60) strcpy(room + (strlen(room) < 56 ? strlen(room) : 56), "...");
  return room;
}

@ The module, in the order that C wants. The file is little endian, and so must the
machine be; a machine that is not would need a copy of every tensor.

@(safetensors.c@>=
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "02-model/safetensors.h"
@#
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
  "weights are mapped, and stored little endian");
enum { HEADER_MOST = 100000000, JSON_MOST = 64 << 20 };
@<What |struct weights| holds@>@;
@<A reader of headers@>@;
@<Headers, from the mark to the whole@>@;
@<Files, from the extent to the directory@>@;

@ First come the pieces that read a header.

@<Headers, from the mark to the whole@>=
@<Quote a value of JSON@>@;
@<Read a file of JSON@>@;
@<Read one value of the header@>@;
@<Read one mark of punctuation@>@;
@<Say what is wrong with an entry@>@;
@<The types that the format knows@>@;
@<Multiply numbers from a file@>@;
@<Fill in type, shape and extent@>@;
@<Add a tensor to the list@>@;
@<Take down one tensor@>@;
@<Check the metadata@>@;
@<Read a name and its value@>@;
@<Read the whole header@>@;

@ Then those that put files together.

@<Files, from the extent to the directory@>=
@<Keep a path, return a path@>@;
@<Compare two tensors@>@;
@<Lay the tensors of a file end to end@>@;
@<Read one file of tensors@>@;
@<Open one more file@>@;
@<Sort by name, and refuse a name given twice@>@;
@<Find a tensor by its name@>@;
@<Open the files that an index names@>@;
@<Compare the index with the files@>@;
@<Open by an index@>@;
@<Close what was opened@>@;
@<Open whatever the path leads to@>@;
@* The settings. \label{sec:config}
The other file is \.{config.json}. It says how many layers there are and how wide, and
two dozen things more, under names that depend on the family of the model and on the
year in which it was saved. We read it into one structure. Behind this structure there
is only one kind of model: a GPT-2 is a model with learned positions, biases and a
LayerNorm, a Llama is one with rotations and an RMSNorm, and the rest is the same.
@^configuration@>@^GPT-2@>@^Llama@>

@(config.h@>=
#ifndef INCIPIT_CONFIG_H
#define INCIPIT_CONFIG_H
#include "02-model/safetensors.h"
@<Where the rotations get their frequencies@>@;
@<What the model's maker suggests for sampling@>@;
@<What the settings say@>@;
#endif

@ The sizes are those of \cref{sec:shapes}. Four flags tell the families apart; the
forward pass asks these flags and never the name of the family.

@<What the settings say@>=
enum { EOS_MOST = 16 };
struct ignored { const char *file, *field, *reason; };
  /* a setting that changes nothing, and why we think so */
struct model_config {
  const char *family; /* \.{"gpt2"}, \.{"llama"}, \dots: its |model_type| */
  uint32_t vocab_size, n_positions, d_model, d_inner, n_layers;
  uint32_t n_heads, n_kv_heads, head_dim;
  uint32_t window; /* positions that a row sees, itself included; 0: all */
  double norm_eps;
  bool layer_norm, learned_positions, gated; /* else RMSNorm, rotations, plain MLP */
  bool qkv_bias, out_bias, mlp_bias, qk_norm, tied;
  struct rope_config rope;
  uint32_t n_eos, eos[EOS_MOST];
  bool has_bos;
  uint32_t bos;
  const char *eos_from; /* the file that gave the end tokens; null: none did */
  struct sampling_config sampling;
  struct ignored *ignored;
  size_t n_ignored, ignored_room;
};
bool config_open(struct model_config *c, struct memory *m, const char *directory,
  struct error *why);
  /* reads \.{config.json} and, if there, \.{generation\_config.json}; every
     field is used, known to be harmless, or an error; on failure nothing is held */
bool config_ignore(struct model_config *c, struct memory *m, const char *file,
  const char *field, const char *reason, struct error *why);
  /* adds to the list of what is ignored; |field| is copied, the others are not */
void config_close(struct memory *m, struct model_config *c);
  /* returns the list of ignored fields */

@ Rotary positions turn pairs of numbers by an angle that is the position times a
frequency (\cref{sec:rope}). The frequencies are a geometric series that starts at 1 and
is governed by |theta|. Llama 3.1 stretches the slow ones, so that a model trained on
short texts keeps its bearings in long ones; that takes four more numbers.

@<Where the rotations get their frequencies@>=
struct rope_config {
  bool llama3; /* stretched, else plain */
  double theta, factor, low_freq_factor, high_freq_factor;
  uint32_t original; /* positions that the model was first trained on */
};

@ The maker of a model may leave advice on how to choose tokens. The advice is kept, and
chapter 7 will follow it; here only the end tokens matter.

@<What the model's maker suggests for sampling@>=
struct sampling_config {
  bool do_sample;
  double temperature, top_p, min_p, typical_p, repetition_penalty;
  uint32_t top_k, no_repeat_ngram_size;
}; /* what is not given has the value that does nothing */

@ What must not happen is that a setting which matters is overlooked. A model saved with
a kind of normalization that we don't have would still run, and write nonsense in a
confident voice. So every field of the file must be accounted for: it is used; or it
stands in a list of harmless fields, each with its reason; or it is null, |false| or
empty, which is how a feature says that it is absent; or it is an error that names it.

@<The state of reading settings@>=
struct settings {
  const char *path, *file; /* the path for messages; the file's bare name */
  json_t *all;
  struct model_config *c;
  struct memory *m;
  struct error *why;
};
static bool setting_bad(struct settings *s, const char *name, json_t *found,
  const char *wanted)
{
  char room[64];
  return error_found(s->why, s->path, name, json_excerpt(found, room), wanted);
}

@ A field that is used has a row in a table: its name, the families that have it, whether
it must be there, the function that reads it, where the value goes, and the least and
greatest value that makes sense.

@<A row of the table of fields@>=
struct field;
typedef bool field_read(struct settings *s, const struct field *f, json_t *value);
struct field {
  const char *name;
  unsigned of; /* families */
  bool required;
  field_read *read;
  size_t at; /* place in |struct model_config| */
  double least, most;
};
enum { GPT2 = 1, LLAMA = 2, MISTRAL = 4, QWEN2 = 8, QWEN3 = 16,@|
  LATER = LLAMA | MISTRAL | QWEN2 | QWEN3, ALL = GPT2 | LATER, MOST = 0x7fffffff };

@ Three functions read a natural number, a real number, and a yes or no. JSON has a type
for each of them, and |12.0| or |"12"| or |true| is not the number 12.

@<Read a number or a flag@>=
static bool read_count(struct settings *s, const struct field *f, json_t *value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "an integer from %.0f to %.0f", f->least,
    f->most);
  double x = json_is_integer(value) ? (double) json_integer_value(value) : -1;
  if (x < f->least || x > f->most) return setting_bad(s, f->name, value, wanted);
  *(uint32_t *) ((char *) s->c + f->at) = (uint32_t) x;
  return true;
}
@#
static bool read_real(struct settings *s, const struct field *f, json_t *value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a number from %g to %g", f->least, f->most);
  double x = json_is_number(value) ? json_number_value(value) : f->least - 1;
  if (x < f->least || x > f->most) return setting_bad(s, f->name, value, wanted);
  *(double *) ((char *) s->c + f->at) = x;
  return true;
}
@#
static bool read_flag(struct settings *s, const struct field *f, json_t *value)
{
  if (!json_is_boolean(value))
    return setting_bad(s, f->name, value, "true or false");
  *(bool *) ((char *) s->c + f->at) = json_is_true(value);
  return true;
}

@ Some settings have only one value under which our arithmetic is the model's. A GPT-2
whose scores are divided by the number of the layer, for example, exists as a switch in
the library and would need a line of ours that is not there.

@<Insist on a value@>=
static bool read_true(struct settings *s, const struct field *f, json_t *value)
{
  return json_is_true(value) || setting_bad(s, f->name, value, "true");
}
static bool read_false(struct settings *s, const struct field *f, json_t *value)
{
  return json_is_false(value) || setting_bad(s, f->name, value, "false");
}
static bool read_activation(struct settings *s, const struct field *f,
  json_t *value)
{
  const char *wanted = s->c->gated ? "silu" : "gelu_new";
  const char *found = json_is_string(value) ? json_string_value(value) : "";
  bool same = strcmp(found, wanted) == 0
    || (!s->c->gated && strcmp(found, "gelu_pytorch_tanh") == 0);
  return same || setting_bad(s, f->name, value, wanted);
}

@ The token that ends a text is one id or a list of them. The file with the advice for
sampling is read second, and what it says replaces what \.{config.json} said.

@<Read ids@>=
static bool read_eos(struct settings *s, const struct field *f, json_t *value)
{
  size_t n = json_is_array(value) ? json_array_size(value) : 1;
  if (n > EOS_MOST) return setting_bad(s, f->name, value, "at most 16 ids");
  for (size_t i = 0; i < n; i++) {
    json_t *id = json_is_array(value) ? json_array_get(value, i) : value;
    if (!json_is_integer(id) || json_integer_value(id) < 0
        || json_integer_value(id) > MOST)
      return setting_bad(s, f->name, value, "an id or a list of ids");
    s->c->eos[i] = (uint32_t) json_integer_value(id);
  }
  s->c->n_eos = (uint32_t) n, s->c->eos_from = s->file;
  return true;
}
@#
static bool read_bos(struct settings *s, const struct field *f, json_t *value)
{
  s->c->has_bos = read_count(s, f, value);
  return s->c->has_bos;
}

@ GPT-2's early files have |n_ctx| beside |n_positions|, with the same value. Where the
two differ we don't know what was meant. Nor do we if the layers of a model are of
several kinds.

@<Read what must agree with something else@>=
static bool read_n_ctx(struct settings *s, const struct field *f, json_t *value)
{
  return json_equal(value, json_object_get(s->all, "n_positions"))
    || setting_bad(s, f->name, value, "the same as n_positions");
}
@#
static bool read_layer_types(struct settings *s, const struct field *f,
  json_t *value)
{
  json_t *window = json_object_get(s->all, "sliding_window");
  const char *wanted = json_is_integer(window)
    && !json_is_false(json_object_get(s->all, "use_sliding_window"))
    ? "sliding_attention" : "full_attention";
  bool same = json_is_array(value);
  for (size_t i = 0; i < json_array_size(value); i++) {
    json_t *type = json_array_get(value, i);
    same = same && json_is_string(type)
      && strcmp(json_string_value(type), wanted) == 0;
  }
  return same || setting_bad(s, f->name, value, wanted);
}

@ Here is the table for \.{config.json}. The same quantity has one name in GPT-2 and
another in the later families; it goes to the same place.



@<The fields of \.{config.json} that are used@>=
static const struct field used_field[] = @[{ {"vocab_size", ALL, true, read_count,
    at(vocab_size), 1, MOST},@|
  {"n_positions", GPT2, true, read_count, at(n_positions), 1, MOST},@|
  {"n_ctx", GPT2, false, read_n_ctx, 0, 0, 0},@|
  {"n_embd", GPT2, true, read_count, at(d_model), 1, MOST},@|
  {"n_layer", GPT2, true, read_count, at(n_layers), 1, MOST},@|
  {"n_head", GPT2, true, read_count, at(n_heads), 1, MOST},@|
  {"n_inner", GPT2, false, read_count, at(d_inner), 1, MOST},@|
  {"activation_function", GPT2, false, read_activation, 0, 0, 0},@|
  {"layer_norm_epsilon", GPT2, false, read_real, at(norm_eps), 0, 1},@|
  {"scale_attn_weights", GPT2, false, read_true, 0, 0, 0},@|
  {"scale_attn_by_inverse_layer_idx", GPT2, false, read_false, 0, 0, 0},@|
  {"max_position_embeddings", LATER, true, read_count, at(n_positions), 1, MOST},@|
  {"hidden_size", LATER, true, read_count, at(d_model), 1, MOST},@|
  {"num_hidden_layers", LATER, true, read_count, at(n_layers), 1, MOST},@|
  {"num_attention_heads", LATER, true, read_count, at(n_heads), 1, MOST},@|
  {"num_key_value_heads", LATER, false, read_count, at(n_kv_heads), 1, MOST},@|
  {"head_dim", LATER, false, read_count, at(head_dim), 1, MOST},@|
  {"intermediate_size", LATER, true, read_count, at(d_inner), 1, MOST},@|
  {"hidden_act", LATER, false, read_activation, 0, 0, 0},@|
  {"rms_norm_eps", LATER, false, read_real, at(norm_eps), 0, 1},@|
  {"attention_bias", LLAMA | QWEN3, false, read_flag, at(out_bias), 0, 0},@|
  {"mlp_bias", LLAMA, false, read_flag, at(mlp_bias), 0, 0},@|
  {"sliding_window", MISTRAL, false, read_count, at(window), 1, MOST},@|
  {"use_sliding_window", QWEN2 | QWEN3, false, read_false, 0, 0, 0},@|
  {"layer_types", LATER, false, read_layer_types, 0, 0, 0},@|
  {"rope_theta", LATER, false, read_nothing, 0, 0, 0},@|
  {"rope_scaling", LATER, false, read_nothing, 0, 0, 0},@|
  {"rope_parameters", LATER, false, read_nothing, 0, 0, 0},@|
  {"tie_word_embeddings", ALL, false, read_flag, at(tied), 0, 0},@|
  {"bos_token_id", ALL, false, read_bos, at(bos), 0, MOST},@|
  {"eos_token_id", ALL, false, read_eos, 0, 0, 0},@|
  {"model_type", ALL, true, read_nothing, 0, 0, 0},@|
  {"architectures", ALL, false, read_nothing, 0, 0, 0} }@];

@ And the one for \.{generation\_config.json}. The lengths that it may suggest are the
caller's business, not the model's, and are among the harmless.

@<The fields of \.{generation\_config.json} that are used@>=
static const struct field advice_field[] = @[{ {"do_sample", ALL, false, read_flag,
    at(sampling.do_sample), 0, 0},@|
  {"temperature", ALL, false, read_real, at(sampling.temperature), 0, 1e4},@|
  {"top_k", ALL, false, read_count, at(sampling.top_k), 0, MOST},@|
  {"top_p", ALL, false, read_real, at(sampling.top_p), 0, 1},@|
  {"min_p", ALL, false, read_real, at(sampling.min_p), 0, 1},@|
  {"typical_p", ALL, false, read_real, at(sampling.typical_p), 1e-9, 1},@|
  {"repetition_penalty", ALL, false, read_real,
    at(sampling.repetition_penalty), 1e-9, 1e9},@|
  {"no_repeat_ngram_size", ALL, false, read_count,
    at(sampling.no_repeat_ngram_size), 0, MOST},@|
  {"bos_token_id", ALL, false, read_bos, at(bos), 0, MOST},@|
  {"eos_token_id", ALL, false, read_eos, 0, 0, 0} }@];

@ The harmless fields, with the reason why each cannot change a logit. Most of them
belong to training, to other heads, or to the program that saved the file. The reason is
what \.{incipit inspect} prints beside the name.
@^harmless fields@>

@<The fields that are known to be harmless@>=
static const struct harmless { const char *name, *reason; } harmless_field[] =
  @[{ {"transformers_version", "says who wrote the file"},@|
  {"_name_or_path", "says where the file lay"},@|
  {"_commit_hash", "says where the file lay"},@|
  {"torch_dtype", "the weights' own header says their type"},@|
  {"dtype", "the weights' own header says their type"},@|
  {"initializer_range", "used before training only"},@|
  {"attn_pdrop", "dropout: used in training only"},@|
  {"embd_pdrop", "dropout: used in training only"},@|
  {"resid_pdrop", "dropout: used in training only"},@|
  {"attention_dropout", "dropout: used in training only"},@|
  {"gradient_checkpointing", "used in training only"},@|
  {"summary_activation", "belongs to a classifier"},@|
  {"summary_first_dropout", "belongs to a classifier"},@|
  {"summary_proj_to_labels", "belongs to a classifier"},@|
  {"summary_type", "belongs to a classifier"},@|
  {"summary_use_proj", "belongs to a classifier"},@|
  {"id2label", "belongs to a classifier"},@|
  {"label2id", "belongs to a classifier"},@|
  {"num_labels", "belongs to a classifier"},@|
  {"pad_token_id", "we never pad"},@|
  {"use_cache", "what is kept changes no result"},@|
  {"pretraining_tp", "cuts a product into parts, and adds them up again"},@|
  {"reorder_and_upcast_attn", "the precision of another program"},@|
  {"task_specific_params", "suggestions to a user interface"},@|
  {"max_window_layers", "without a window there are none"},@|
  {"is_llama_config", "says what model_type says"},@|
  {"transformers.js_config", "settings of another program"},@|
  {"output_attentions", "what another program returns"},@|
  {"output_hidden_states", "what another program returns"},@|
  {"return_dict", "what another program returns"} }@];

@ Of the advice, what concerns search is asked for by options (chapter 9), and lengths
belong to the caller.

@<The advice that is known to be harmless@>=
static const struct harmless harmless_advice[] =
  @[{ {"transformers_version", "says who wrote the file"},@|
  {"_from_model_config", "says who wrote the file"},@|
  {"pad_token_id", "we never pad"},@|
  {"max_length", "lengths are the caller's"},@|
  {"max_new_tokens", "lengths are the caller's"},@|
  {"min_length", "lengths are the caller's"},@|
  {"min_new_tokens", "lengths are the caller's"},@|
  {"num_beams", "a search is asked for by option"},@|
  {"num_return_sequences", "a search is asked for by option"},@|
  {"early_stopping", "a search is asked for by option"},@|
  {"length_penalty", "a search is asked for by option"},@|
  {"use_cache", "what is kept changes no result"},@|
  {"cache_implementation", "where rows are kept changes no result"},@|
  {"output_attentions", "what another program returns"},@|
  {"output_hidden_states", "what another program returns"},@|
  {"output_scores", "what another program returns"},@|
  {"return_dict_in_generate", "what another program returns"} }@];

@ Two tables and a family make a reading. Each field of the file is looked up in the one,
then in the other, and then asked whether it says anything at all.

@<Account for every field@>=
static bool account_for(struct settings *s, const char *name, json_t *value,
  const struct tables *t)
{
  for (size_t i = 0; i < t->n_fields; i++)
    if (strcmp(t->field[i].name, name) == 0 && (t->field[i].of & t->family) != 0)
      return json_is_null(value) || t->field[i].read(s, &t->field[i], value);
  for (size_t i = 0; i < t->n_harmless; i++)
    if (strcmp(t->harmless[i].name, name) == 0)
      return ignore(s, t->harmless[i].name, t->harmless[i].reason);
  bool empty = json_is_null(value) || json_is_false(value)
    || (json_is_string(value) && json_string_length(value) == 0)
    || (json_is_array(value) && json_array_size(value) == 0)
    || (json_is_object(value) && json_object_size(value) == 0);
  if (empty) return ignore(s, name, "null, false or empty");
  return setting_bad(s, name, value, "a field that this program knows");
}

@ A field that is required and absent, or null, is found after all others have been read;
its message says what kind of value is missing.

@<Read all fields of a file@>=
static bool settings_read(struct settings *s, const struct tables *t)
{
  for (void *i = json_object_iter(s->all); i != NULL;
       i = json_object_iter_next(s->all, i))
    if (!account_for(s, json_object_iter_key(i), json_object_iter_value(i), t))
      return false;
  for (size_t i = 0; i < t->n_fields; i++) {
    const struct field *f = &t->field[i];
    json_t *value = json_object_get(s->all, f->name);
    if (f->required && (f->of & t->family) != 0
        && (value == NULL || json_is_null(value)))
      return setting_bad(s, f->name, value, "a value: there is no default");
  }
  return true;
}

@ What was ignored is remembered, since a user of \.{inspect} wants to see it. The name
may be the file's own, which ends with the reading, so the list keeps a copy.

@<Remember what was ignored@>=
bool config_ignore(struct model_config *c, struct memory *m, const char *file,
  const char *field, const char *reason, struct error *why)
{
  if (c->n_ignored == c->ignored_room) {
    size_t room = c->ignored_room == 0 ? 32 : 2 * c->ignored_room;
    struct ignored *grown = memory_grow(m, FOR_OTHER, c->ignored,
      c->ignored_room, room, sizeof *grown, why);
    if (grown == NULL) return false;
    c->ignored = grown, c->ignored_room = room;
  }
  char *copy = memory_take(m, FOR_OTHER, strlen(field) + 1, 1, why);
  if (copy == NULL) return false;
  strcpy(copy, field);
  c->ignored[c->n_ignored++] = (struct ignored) @[{ file, copy, reason }@];
  return true;
}
@#
static bool ignore(struct settings *s, const char *name, const char *reason)
{
  return config_ignore(s->c, s->m, s->file, name, reason, s->why);
}

@ What a reading is steered by: the fields that are used, those that are harmless, and
the family, which decides which rows of the first table count.

@<What steers a reading@>=
struct tables {
  unsigned family;
  const struct field *field;
  size_t n_fields;
  const struct harmless *harmless;
  size_t n_harmless;
};
#define at(member) offsetof(struct model_config, member)
#define COUNT(table) (sizeof (table) / sizeof (table)[0])
static bool read_nothing(struct settings *s, const struct field *f, json_t *value)
{
  (void) s, (void) f, (void) value; /* read elsewhere, as a group */
  return true;
}

@* Families. \label{sec:families}
The family is told by |model_type|, and |architectures| must not contradict it: a
checkpoint for classification has the same type and no head that we could use. Each
family sets the flags for what it always does, before its fields are read.

@<The families@>=
static const struct family {
  const char *type, *architecture;
  unsigned bit;
  struct model_config always;
} family[] =
  @[{ {"gpt2", "GPT2LMHeadModel", GPT2, { .layer_norm = true, .norm_eps = 1e-5,
    .learned_positions = true, .qkv_bias = true, .out_bias = true,
    .mlp_bias = true, .tied = true }},@|
  {"llama", "LlamaForCausalLM", LLAMA, { .gated = true, .norm_eps = 1e-6 }},@|
  {"mistral", "MistralForCausalLM", MISTRAL, { .gated = true,
    .norm_eps = 1e-6 }},@|
  {"qwen2", "Qwen2ForCausalLM", QWEN2, { .gated = true, .norm_eps = 1e-6,
    .qkv_bias = true }},@|
  {"qwen3", "Qwen3ForCausalLM", QWEN3, { .gated = true, .norm_eps = 1e-6,
    .qk_norm = true }} }@];

@ A family that is not in the table is refused by its name. Some of them have tensors
with the very names of Llama's, and put their norms elsewhere.

@<Find the family@>=
static const struct family *family_find(struct settings *s)
{
  json_t *type = json_object_get(s->all, "model_type");
  json_t *list = json_object_get(s->all, "architectures");
  for (size_t i = 0; i < COUNT(family) && json_is_string(type); i++) {
    if (strcmp(json_string_value(type), family[i].type) != 0) continue;
    bool same = list == NULL || json_is_null(list);
    for (size_t k = 0; k < json_array_size(list); k++) {
      json_t *name = json_array_get(list, k);
      same = same || (json_is_string(name)
        && strcmp(json_string_value(name), family[i].architecture) == 0);
    }
    if (same) return &family[i];
    setting_bad(s, "architectures", list, family[i].architecture);
    return NULL;
  }
  setting_bad(s, "model_type", type, "gpt2, llama, mistral, qwen2 or qwen3");
  return NULL;
}

@ Some sizes follow from others when they are not given: as many heads for keys as for
queries, heads that divide the width, an MLP four times as wide in GPT-2. What does not
divide is an error of the file.

@<Derive the sizes that were not given@>=
static bool settings_derive(struct settings *s)
{
  struct model_config *c = s->c;
  const char *heads = c->learned_positions ? "n_head" : "num_attention_heads";
  json_t *found = json_object_get(s->all, heads);
  if (c->n_kv_heads == 0) c->n_kv_heads = c->n_heads;
  if (c->head_dim == 0 && c->d_model % c->n_heads != 0)
    return setting_bad(s, heads, found, "a divisor of the width");
  if (c->head_dim == 0) c->head_dim = c->d_model / c->n_heads;
  if (c->n_heads % c->n_kv_heads != 0)
    return setting_bad(s, heads, found, "a multiple of num_key_value_heads");
  if (!c->learned_positions && c->head_dim % 2 != 0)
    return setting_bad(s, "head_dim", json_object_get(s->all, "head_dim"),
      "an even number: rotations turn pairs");
  if (c->d_inner == 0 && c->d_model > MOST / 4)
    return setting_bad(s, "n_embd", json_object_get(s->all, "n_embd"),
      "at most 536870911");
  if (c->d_inner == 0) c->d_inner = 4 * c->d_model;
  if (c->gated && c->out_bias) c->qkv_bias = true;
  return true;
}

@ The frequencies are described in one place or another. Files of transformers 4 have
|rope_theta| and |rope_scaling|, those of version 5 put both into |rope_parameters|, and
the kind is called |rope_type| or, earlier, |type|. We take either, and refuse a file
that says two things.

@<Read how positions are rotated@>=
static bool settings_rope(struct settings *s)
{
  json_t *old = json_object_get(s->all, "rope_scaling");
  json_t *five = json_object_get(s->all, "rope_parameters");
  json_t *theta = json_object_get(s->all, "rope_theta");
  if (json_is_null(theta)) theta = NULL;
  bool both = json_is_object(old) && json_is_object(five);
  if (both && !json_equal(old, five))
    return setting_bad(s, "rope_scaling", old, "the same as rope_parameters");
  const char *name = json_is_object(five) ? "rope_parameters" : "rope_scaling";
  json_t *given = json_is_object(five) ? five : old;
  if (given != NULL && !json_is_null(given) && !json_is_object(given))
    return setting_bad(s, name, given, "an object or null");
  json_t *inner = json_object_get(given, "rope_theta");
  if (theta != NULL && inner != NULL
      && json_number_value(theta) != json_number_value(inner))
    return setting_bad(s, "rope_theta", theta, "the one in rope_parameters");
  s->c->rope.theta = 10000;
  struct field f = @[{ "rope_theta", ALL, false, read_real, at(rope.theta), 1, 1e18 }@];
  if (inner == NULL) inner = theta;
  if (inner != NULL && !read_real(s, &f, inner)) return false;
  return given == NULL || json_is_null(given) || rope_kind(s, name, given);
}

@ Of the kinds of stretching we have two: none, called |"default"|, and |"llama3"|, which
takes its four numbers. Any other kind is refused by name, and so is any other member.

@<Read the kind of stretching@>=
static bool rope_kind(struct settings *s, const char *where, json_t *given)
{
  static const struct field number[] =
    @[{ {"factor", ALL, true, read_real, at(rope.factor), 1, 1e9},@|
    {"low_freq_factor", ALL, true, read_real, at(rope.low_freq_factor), 1e-9, 1e9},@|
    {"high_freq_factor", ALL, true, read_real, at(rope.high_freq_factor), 1e-9, 1e9},@|
    {"original_max_position_embeddings", ALL, true, read_count,
      at(rope.original), 1, MOST},@|
    {"rope_type", ALL, false, read_nothing, 0, 0, 0},@|
    {"type", ALL, false, read_nothing, 0, 0, 0},@|
    {"rope_theta", ALL, false, read_nothing, 0, 0, 0} }@];
  json_t *type = json_object_get(given, "rope_type");
  if (type == NULL) type = json_object_get(given, "type");
  const char *kind = json_is_string(type) ? json_string_value(type) : "";
  s->c->rope.llama3 = strcmp(kind, "llama3") == 0;
  if (!s->c->rope.llama3 && strcmp(kind, "default") != 0)
    return setting_bad(s, where, given, "a rope_type of default or llama3");
  size_t skip = s->c->rope.llama3 ? 0 : 4;
  struct settings inner = *s;
  inner.all = given;
  struct tables t = @[{ ALL, number + skip, COUNT(number) - skip, NULL, 0 }@];
  if (!settings_read(&inner, &t)) return false;
  if (s->c->rope.llama3
      && s->c->rope.high_freq_factor <= s->c->rope.low_freq_factor)
    return setting_bad(s, where, given, "high_freq_factor above low_freq_factor");
  return true;
}

@ A file is opened, must be an object, and is read with its tables. The second file may
be absent.

@<Read one of the two files@>=
static bool settings_file(struct settings *s, const char *directory,
  const char *file, char *path, size_t room)
{
  s->path = path, s->file = file;
  int n = snprintf(path, room, "%s/%s", directory, file);
  if (n < 0 || (size_t) n >= room)
    return error_say(s->why, "%s: the path is too long", directory);
  s->all = json_read(path, s->why);
  if (s->all == NULL) return false;
  if (json_is_object(s->all)) return true;
  return setting_bad(s, "this", s->all, "an object");
}
@#
static bool settings_advice(struct settings *s)
{
  struct tables t = @[{ ALL, advice_field, COUNT(advice_field),
    harmless_advice, COUNT(harmless_advice) }@];
  return settings_read(s, &t);
}

@ First the family, then its fields, then what follows from them.

@<Read the model's own settings@>=
static bool settings_model(struct settings *s)
{
  const struct family *f = family_find(s);
  if (f == NULL) return false;
  *s->c = f->always;
  s->c->family = f->type;
  s->c->sampling = (struct sampling_config) @[{ .temperature = 1, .top_p = 1,
    .typical_p = 1, .repetition_penalty = 1 }@];
  struct tables t = @[{ f->bit, used_field, COUNT(used_field),
    harmless_field, COUNT(harmless_field) }@];
  return settings_read(s, &t) && settings_derive(s)
    && (s->c->learned_positions || settings_rope(s));
}

@ The whole reading, and the way back if it fails half-way.

@<Open and close the settings@>=
bool config_open(struct model_config *c, struct memory *m, const char *directory,
  struct error *why)
{
  char path[4096];
  struct settings s = @[{ .c = c, .m = m, .why = why }@];
  *c = (struct model_config) @[{ .family = NULL }@];
  bool ok = settings_file(&s, directory, "config.json", path, sizeof path)
    && settings_model(&s);
  json_decref(s.all);
  s.all = NULL;
  const char *advice = "generation_config.json";
  snprintf(path, sizeof path, "%s/%s", directory, advice);
  if (ok && access(path, F_OK) == 0)
    ok = settings_file(&s, directory, advice, path, sizeof path)
      && settings_advice(&s);
  json_decref(s.all);
  if (!ok) config_close(m, c);
  return ok;
}
@#
void config_close(struct memory *m, struct model_config *c)
{
  for (size_t i = 0; i < c->n_ignored; i++)
    memory_give(m, FOR_OTHER, (char *) (uintptr_t) c->ignored[i].field,
      strlen(c->ignored[i].field) + 1, 1);
  memory_give(m, FOR_OTHER, c->ignored, c->ignored_room, sizeof *c->ignored);
  *c = (struct model_config) @[{ .family = NULL }@];
}

@ The module has the readers first, because the tables name them.

@(config.c@>=
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "02-model/config.h"
@#
@<The state of reading settings@>@;
@<A row of the table of fields@>@;
@<Readers and tables@>@;
@<From one field to two files@>@;

@ The readers, and the tables that send each field to its reader.

@<Readers and tables@>=
@<Read a number or a flag@>@;
@<Insist on a value@>@;
@<Read ids@>@;
@<Read what must agree with something else@>@;
@<The fields that are known to be harmless@>@;
@<The advice that is known to be harmless@>@;
@<What steers a reading@>@;
@<The fields of \.{config.json} that are used@>@;
@<The fields of \.{generation\_config.json} that are used@>@;
@<The families@>@;

@ And what works on the tables.

@<From one field to two files@>=
@<Remember what was ignored@>@;
@<Account for every field@>@;
@<Read all fields of a file@>@;
@<Find the family@>@;
@<Derive the sizes that were not given@>@;
@<Read the kind of stretching@>@;
@<Read how positions are rotated@>@;
@<Read one of the two files@>@;
@<Read the model's own settings@>@;
@<Open and close the settings@>@;
@* The model, put together. \label{sec:model}
Names and shapes meet here. |model_open| asks the settings what there must be, looks for
each tensor by its name, insists on its shape, and leaves it where it lies: a model of
ten gigabytes is open in a few milliseconds, because nothing of it has been read yet but
the header. Numbers are widened to float32 when they are used.
@^model@>

@(model.h@>=
#ifndef INCIPIT_MODEL_H
#define INCIPIT_MODEL_H
#include "02-model/config.h"
#include "02-model/kernels.h"
@<One layer@>@;
@<The whole model@>@;
#endif

@ A layer has two halves, each with a norm before it. The first projects to queries, keys
and values and, after attention, back; the second goes up to a wider space and down
again. GPT-2 stores the three projections as one matrix; the later families have a
second matrix on the way up, the gate.

@<One layer@>=
struct layer {
  struct normalizer before_attention, before_mlp, of_queries, of_keys;
  struct matrix qkv[3], out, up[2], down;
  size_t n_qkv, n_up; /* 1 if fused, else 3; 2 with a gate */
}; /* |qkv[0]| is |[d_model][3*d_model]| if fused; |up[0]| is the gate, if any */

@ The frequencies of the rotations are computed once, from the settings. The last three
numbers are what a pass costs and reads, for the counters.

@<The whole model@>=
struct model {
  struct model_config config;
  struct weights *weights;
  struct tensor embedding, positions; /* |[vocab_size][d_model]|, |[n_positions][d_model]| */
  struct layer *layers;
  struct normalizer last; /* before the head */
  struct matrix head; /* |[vocab_size][d_model]|, the embedding itself if tied */
  struct heads heads;
  float *frequency; /* |[head_dim/2]|, or null with learned positions */
  uint64_t layer_madds, layer_bytes, head_bytes;
};
struct model *model_open(struct memory *m, const char *directory,
  struct error *why);
  /* maps the weights of a directory in Hugging Face's layout and checks them
     against its settings; null and a sentence that names file and field. Owned by
     the caller; any number of threads may read it */
void model_close(struct memory *m, struct model *lm);
  /* closes the files and returns the rest; null is nothing */
uint64_t model_parameters(const struct model *lm);
  /* numbers in the tensors that are used, a tied head not counted twice */

@ While the model is put together we keep the prefix of the names, a mark for each tensor
of the file that has found its use, and whether something has gone wrong: then all that
follows does nothing, and one test at the end suffices.

@<The state of assembly@>=
struct assembly {
  struct memory *m;
  struct model *lm;
  const char *prefix; /* \.{"transformer."}, \.{"model."}, or nothing */
  bool *used; /* one for each tensor of the file */
  bool ok;
  uint64_t bytes; /* of the tensors found so far */
  struct error *why;
};

@ One tensor, by name, with the shape that it must have; |columns| is 0 for a vector. Three
sentences can come out of here: it is missing, it has another shape, or its type is one
that we cannot compute with.

@<Find one tensor, and insist on its shape@>=
static struct tensor need(struct assembly *a, const char *name, uint64_t rows,
  uint64_t columns)
{
  struct tensor none = @[{ NULL, WEIGHT_F32 }@];
  if (!a->ok) return none;
  const struct stored *t = weights_find(a->lm->weights, name);
  char wanted[64], found[64] = "missing";
  if (columns == 0) snprintf(wanted, sizeof wanted, "[%" PRIu64 "]", rows);
  else snprintf(wanted, sizeof wanted, "[%" PRIu64 ", %" PRIu64 "]", rows, columns);
  if (t != NULL) shape_words(t, found);
  a->ok = strcmp(found, wanted) == 0
    || error_found(a->why, t == NULL ? weights_path(a->lm->weights) : t->file, name,
      found, wanted);
  if (!a->ok) return none;
  @<Turn |t| into a tensor of a type that we have, or fail@>@;
}

@ The file's word for the type becomes ours. A tensor that is found is marked as used, and
its bytes are added up.

@<Turn |t| into a tensor of a type that we have, or fail@>=
static const char *const type[] = @[{ "F32", "F16", "BF16" }@];
for (int i = 0; i < 3; i++)
  if (strcmp(t->type, type[i]) == 0) {
    a->used[t->number] = true, a->bytes += t->bytes;
    return (struct tensor) @[{ t->data, (enum weight_type) i }@];
  }
a->ok = error_found(a->why, t->file, name, t->type, "F32, F16 or BF16");
return none;

@ A shape is written as the file writes it, as a list in brackets; a long one is cut, and
is then certainly not the one that was wanted.

@<Write a shape in words@>=
static void shape_words(const struct stored *t, char found[64])
{
  size_t n = (size_t) snprintf(found, 64, "[");
  for (uint32_t i = 0; i < t->rank && n < 40; i++)
    n += (size_t) snprintf(found + n, 64 - n, "%s%" PRIu64, i > 0 ? ", " : "",
      t->shape[i]);
  snprintf(found + n, 64 - n, t->rank > 0 && n >= 40 ? "..." : "]");
}

@ The name is made of the prefix, the number of the layer and the rest. A matrix has a bias
or not, as the settings say; GPT-2 stores its matrices with the inputs first.

@<Find a matrix with its bias@>=
static struct matrix need_matrix(struct assembly *a, uint32_t layer,
  const char *name, size_t in, size_t out, bool bias)
{
  struct matrix w = @[{ .in = in, .out = out }@];
  char full[160];
  w.transposed = a->lm->config.learned_positions;
  layer_name(a, layer, name, "weight", full);
  w.weight = w.transposed ? need(a, full, in, out) : need(a, full, out, in);
  layer_name(a, layer, name, "bias", full);
  if (bias) w.bias = need(a, full, out, 0);
  a->lm->layer_madds += (uint64_t) in * out;
  return w;
}
@#
static void layer_name(const struct assembly *a, uint32_t layer, const char *name,
  const char *what, char full[160])
{
  const char *list = a->lm->config.learned_positions ? "h" : "layers";
  snprintf(full, 160, "%s%s.%" PRIu32 ".%s.%s", a->prefix, list, layer, name, what);
}

@ A norm has a gain, and a LayerNorm a bias, too.

@<Find a norm@>=
static struct normalizer need_norm(struct assembly *a, const char *gain,
  const char *bias, size_t d)
{
  const struct model_config *c = &a->lm->config;
  struct normalizer g = @[{ .kind = c->layer_norm ? NORM_LAYER : NORM_RMS,
    .epsilon = (float) c->norm_eps }@];
  g.gain = need(a, gain, d, 0);
  if (c->layer_norm) g.bias = need(a, bias, d, 0);
  return g;
}
@#
static struct normalizer layer_norm(struct assembly *a, uint32_t layer,
  const char *name, size_t d)
{
  char gain[160], bias[160];
  layer_name(a, layer, name, "weight", gain);
  layer_name(a, layer, name, "bias", bias);
  return need_norm(a, gain, bias, d);
}

@ GPT-2's layer, name by name.

@<Assemble a layer of GPT-2@>=
static void layer_gpt2(struct assembly *a, uint32_t i, struct layer *l)
{
  size_t d = a->lm->config.d_model, inner = a->lm->config.d_inner;
  l->before_attention = layer_norm(a, i, "ln_1", d);
  l->qkv[0] = need_matrix(a, i, "attn.c_attn", d, 3 * d, true);
  l->n_qkv = 1;
  l->out = need_matrix(a, i, "attn.c_proj", d, d, true);
  l->before_mlp = layer_norm(a, i, "ln_2", d);
  l->up[0] = need_matrix(a, i, "mlp.c_fc", d, inner, true);
  l->n_up = 1;
  l->down = need_matrix(a, i, "mlp.c_proj", inner, d, true);
}

@ And Llama's. With fewer heads for keys and values than for queries, two of the matrices
are narrower.

@<Assemble a layer of Llama and its kin@>=
static void layer_llama(struct assembly *a, uint32_t i, struct layer *l)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, inner = c->d_inner;
  size_t q = (size_t) c->n_heads * c->head_dim;
  size_t kv = (size_t) c->n_kv_heads * c->head_dim;
  l->before_attention = layer_norm(a, i, "input_layernorm", d);
  l->qkv[0] = need_matrix(a, i, "self_attn.q_proj", d, q, c->qkv_bias);
  l->qkv[1] = need_matrix(a, i, "self_attn.k_proj", d, kv, c->qkv_bias);
  l->qkv[2] = need_matrix(a, i, "self_attn.v_proj", d, kv, c->qkv_bias);
  l->n_qkv = 3;
  if (c->qk_norm) {
    l->of_queries = layer_norm(a, i, "self_attn.q_norm", c->head_dim);
    l->of_keys = layer_norm(a, i, "self_attn.k_norm", c->head_dim);
  }
  l->out = need_matrix(a, i, "self_attn.o_proj", q, d, c->out_bias);
  l->before_mlp = layer_norm(a, i, "post_attention_layernorm", d);
  l->up[0] = need_matrix(a, i, "mlp.gate_proj", d, inner, c->mlp_bias);
  l->up[1] = need_matrix(a, i, "mlp.up_proj", d, inner, c->mlp_bias);
  l->n_up = 2;
  l->down = need_matrix(a, i, "mlp.down_proj", inner, d, c->mlp_bias);
}

@ Outside the layers there are the embedding, GPT-2's positions, the last norm and the
head. Most small models have no head of their own: the embedding that turned an id into
a row is used to ask how much the last row looks like each id.
@^tied head@>

@<Assemble what is outside the layers@>=
static void assemble_ends(struct assembly *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  bool gpt2 = c->learned_positions;
  char name[2][160];
  snprintf(name[0], 160, "%s%s", a->prefix, gpt2 ? "wte.weight" : "embed_tokens.weight");
  lm->embedding = need(a, name[0], c->vocab_size, c->d_model);
  snprintf(name[0], 160, "%swpe.weight", a->prefix);
  if (gpt2) lm->positions = need(a, name[0], c->n_positions, c->d_model);
  snprintf(name[0], 160, "%s%s.weight", a->prefix, gpt2 ? "ln_f" : "norm");
  snprintf(name[1], 160, "%sln_f.bias", a->prefix);
  lm->last = need_norm(a, name[0], name[1], c->d_model);
  lm->head = (struct matrix) @[{ .in = c->d_model, .out = c->vocab_size }@];
  lm->head.weight = c->tied ? lm->embedding
    : need(a, "lm_head.weight", c->vocab_size, c->d_model);
  lm->head_bytes = (uint64_t) c->vocab_size * c->d_model
    * weight_bytes(lm->head.weight.type);
}

@ The number of layers comes from a file, and so we look whether the tensors of the last
one can be there at all before we take memory for that many.

@<Assemble the layers@>=
static void assemble_layers(struct assembly *a)
{
  struct model *lm = a->lm;
  uint32_t n = lm->config.n_layers;
  uint64_t before = a->bytes;
  if (n > weights_count(lm->weights)) {
    char found[64];
    snprintf(found, sizeof found, "%" PRIu32 " layers", n);
    a->ok = error_found(a->why, weights_path(lm->weights), "this", found,
      "no more layers than the file has tensors");
    return;
  }
  lm->layers = memory_take(a->m, FOR_OTHER, n, sizeof *lm->layers, a->why);
  a->ok = lm->layers != NULL;
  for (uint32_t i = 0; i < n && a->ok; i++)
    if (lm->config.learned_positions) layer_gpt2(a, i, &lm->layers[i]);
    else layer_llama(a, i, &lm->layers[i]);
  lm->layer_bytes = a->bytes - before;
}

@ A tensor that nobody asked for is as suspicious as a setting that nobody knows: a bias
that the settings deny would be left out in silence. So it is an error, unless it is one
of those that the libraries of the years have left behind.

@<Account for every tensor@>=
static bool left_over(struct assembly *a, const struct stored *t)
{
  static const struct { const char *end, *reason; } known[] =
    @[{ {".attn.bias", "a stored causal mask: ours is the order of rows"},@|
    {".attn.masked_bias", "the value that a stored mask puts in"},@|
    {".rotary_emb.inv_freq", "stored frequencies: computed from rope_theta"} }@];
  size_t n = strlen(t->name);
  for (int i = 0; i < 3; i++) {
    size_t k = strlen(known[i].end);
    if (n > k && strcmp(t->name + n - k, known[i].end) == 0)
      return config_ignore(&a->lm->config, a->m, t->file, t->name,
        known[i].reason, a->why);
  }
  if (strcmp(t->name, "lm_head.weight") == 0) return tied_head(a, t);
  return error_found(a->why, t->file, t->name, "a tensor without use",
    "only the tensors that config.json calls for");
}

@ Some tools write the head of a tied model all the same. It does no harm if it is the
embedding, byte for byte.

@<Compare a stored head with the embedding it is tied to@>=
static bool tied_head(struct assembly *a, const struct stored *t)
{
  const struct model_config *c = &a->lm->config;
  uint64_t bytes = (uint64_t) c->vocab_size * c->d_model
    * weight_bytes(a->lm->embedding.type);
  if (t->bytes != bytes || memcmp(t->data, a->lm->embedding.data, bytes) != 0)
    return error_found(a->why, t->file, t->name, "not the embedding",
      "equal, since tie_word_embeddings is true");
  return config_ignore(&a->lm->config, a->m, t->file, t->name,
    "the embedding once more: the head is tied", a->why);
}

@ Frequency number $i$ of |half| is |theta| to the power $-i/{}$|half|, computed in double and
rounded once. The stretching of Llama 3.1 leaves the quick ones alone, those that turn
often within the original context; divides the slow ones by |factor|; and goes smoothly
from the one to the other in between.
@^rotary positions@>@^Llama 3.1@>

@<Compute the frequencies of the rotations@>=
static double stretched(const struct rope_config *r, double frequency)
{
  double turns = frequency * r->original / 6.283185307179586;
  if (turns > r->high_freq_factor) return frequency;
  if (turns < r->low_freq_factor) return frequency / r->factor;
  double t = (turns - r->low_freq_factor)
    / (r->high_freq_factor - r->low_freq_factor);
  double kept = t * frequency, slowed = (1 - t) * (frequency / r->factor);
  return kept + slowed;
}
@#
static bool model_frequencies(struct assembly *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  uint32_t half = c->head_dim / 2;
  if (c->learned_positions) return true;
  lm->frequency = memory_take(a->m, FOR_OTHER, half, sizeof(float), a->why);
  for (uint32_t i = 0; i < half && lm->frequency != NULL; i++) {
    double f = num_pow(c->rope.theta, -(double) i / half);
    lm->frequency[i] = (float) (c->rope.llama3 ? stretched(&c->rope, f) : f);
  }
  return lm->frequency != NULL;
}

@ Everything together. The prefix is found out by looking for the embedding with it.

@<Assemble the model@>=
static bool model_assemble(struct assembly *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  a->prefix = c->learned_positions ? "transformer." : "model.";
  if (weights_find(lm->weights, c->learned_positions ? "transformer.wte.weight"
      : "model.embed_tokens.weight") == NULL)
    a->prefix = "";
  lm->heads = (struct heads) @[{ c->n_heads, c->n_kv_heads, c->head_dim,
    (float) (1 / sqrt((double) c->head_dim)) }@];
  assemble_ends(a);
  if (a->ok) assemble_layers(a);
  for (size_t i = 0; i < weights_count(lm->weights) && a->ok; i++)
    if (!a->used[i]) a->ok = left_over(a, weights_at(lm->weights, i));
  return a->ok && model_frequencies(a);
}

@ The same function frees what a failure leaves behind and what a success has built.

@<Open and close a model@>=
struct model *model_open(struct memory *m, const char *directory,
  struct error *why)
{
  struct model *lm = memory_take(m, FOR_OTHER, 1, sizeof *lm, why);
  if (lm == NULL) return NULL;
  struct assembly a = @[{ .m = m, .lm = lm, .ok = true, .why = why }@];
  bool ok = config_open(&lm->config, m, directory, why)
    && (lm->weights = weights_open(m, directory, why)) != NULL;
  size_t n = ok ? weights_count(lm->weights) : 0;
  if (ok) a.used = memory_take(m, FOR_OTHER, n, sizeof *a.used, why);
  ok = ok && a.used != NULL && model_assemble(&a);
  memory_give(m, FOR_OTHER, a.used, n, sizeof *a.used);
  if (ok) return lm;
  model_close(m, lm);
  return NULL;
}
@#
void model_close(struct memory *m, struct model *lm)
{
  if (lm == NULL) return;
  const struct model_config *c = &lm->config;
  memory_give(m, FOR_OTHER, lm->layers, c->n_layers, sizeof *lm->layers);
  memory_give(m, FOR_OTHER, lm->frequency, c->head_dim / 2, sizeof(float));
  weights_close(m, lm->weights);
  config_close(m, &lm->config);
  memory_give(m, FOR_OTHER, lm, 1, sizeof *lm);
}

@ A tied head is counted where it is an embedding, and not again; tensors that were
ignored are not counted at all.

@<Count the parameters@>=
uint64_t model_parameters(const struct model *lm)
{
  const struct model_config *c = &lm->config;
  uint64_t n = 0;
  for (size_t i = 0; i < weights_count(lm->weights); i++)
    n += weights_at(lm->weights, i)->elements;
  for (size_t i = 0; i < c->n_ignored; i++) {
    const struct stored *t = weights_find(lm->weights, c->ignored[i].field);
    if (t != NULL) n -= t->elements;
  }
  return n;
}

@ The module.

@(model.c@>=
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "02-model/model.h"
#include "02-model/numbers.h"
@;@#
@<The state of assembly@>@;
@<Write a shape in words@>@;
@<Find one tensor, and insist on its shape@>@;
@<Tensors by the layer@>@;
@<The model as a whole@>@;

@ From a name to a layer.

@<Tensors by the layer@>=
static void layer_name(const struct assembly *a, uint32_t layer, const char *name,
  const char *what, char full[160]);
@<Find a matrix with its bias@>@;
@<Find a norm@>@;
@<Assemble a layer of GPT-2@>@;
@<Assemble a layer of Llama and its kin@>@;

@ And from the layers to the model.

@<The model as a whole@>=
@<Assemble what is outside the layers@>@;
@<Assemble the layers@>@;
@<Compare a stored head with the embedding it is tied to@>@;
@<Account for every tensor@>@;
@<Compute the frequencies of the rotations@>@;
@<Assemble the model@>@;
@<Open and close a model@>@;
@<Count the parameters@>@;
@* Rows and the store. \label{sec:rows}
A \emph{row} is a token at a position of a sequence. It is the unit in which this book
counts work, and the whole difference between the ways to generate text, from the naive
loop of the next chapter to beams and guesses and batches, is which rows go into a pass
and what is kept from it.
@^row@>@^store@>

What a pass keeps are keys and values: a row's query looks at the keys of all positions
up to its own and collects their values, so each layer must find the keys and values of
earlier rows somewhere. That somewhere is the \emph{store}.

@(store.h@>=
#ifndef INCIPIT_STORE_H
#define INCIPIT_STORE_H
#include "02-model/model.h"
@<A row is three numbers@>@;
@<What a store can do@>@;
@<The store as others see it@>@;
@<A store of one block a sequence@>@;
#endif

@ Three numbers, and the token is needed only at the entrance.

@<A row is three numbers@>=
struct row { uint32_t sequence, position, token; };
  /* a token at a position (from 0) of a sequence (from 0) */

@ A store is a table of functions with a state behind it, because there will be more than
one: chapter 4 has one that keeps its rows, chapter 12 one that shares pages among
sequences. The pass knows only this table.

@<What a store can do@>=
struct store;
struct store_kind {
  bool (*begin)(struct store *s, const struct row *rows, size_t n,
    struct error *why);
    /* as |store_begin| */
  void (*put)(struct store *s, uint32_t layer, const float *k, const float *v);
    /* as |store_put| */
  void (*view)(const struct store *s, uint32_t layer, size_t row, struct view *v);
    /* as |store_view| */
  void (*end)(struct store *s, bool commit);
    /* as |store_commit|, or as |store_abort| */
  void (*empty)(struct store *s);
    /* as |store_empty| */
  void (*close)(struct store *s);
    /* as |store_close|, but never for null */
};

@ The rules of the game: the rows of one call come in any order; the positions of a
sequence grow from call to call without a gap; a pass is admitted whole or not at all;
all rows' keys and values of a layer are stored before any row of that layer looks, and
are read back as they were stored. Until |store_commit| nothing of the pass counts.

@<The store as others see it@>=
struct store {
  const struct store_kind *kind;
  struct memory *m; /* where passes through this store take their memory */
  uint32_t n_sequences, n_positions; /* the most it holds */
  size_t row_bytes; /* keys and values of one row in one layer, as stored */
  size_t seen, recomputed;
};
  /* the part that all stores have in common. |seen|: rows of the store that some
     row of the present pass sees; |recomputed|: rows of the pass that an earlier pass
     had computed, with the same tokens up to there. Both are set by |store_begin| */
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why);
  /* admits a pass of |n| rows or refuses it in words: a sequence or position out of
     range, a gap, a position given twice or stored already; |rows| must live
     until the end of the pass */
void store_put(struct store *s, uint32_t layer, const float *k, const float *v);
  /* keys and values of all rows of the pass, |[n][n_kv_heads*head_dim]| each */
void store_view(const struct store *s, uint32_t layer, size_t row,
  struct view *v);
  /* what row number |row| of the pass sees in |layer| */
void store_commit(struct store *s);
  /* ends the pass: its rows belong to the store */
void store_abort(struct store *s);
  /* ends the pass as if it had not been */
void store_empty(struct store *s);
  /* forgets all rows, but not which tokens have been computed */
void store_close(struct store *s);
  /* returns the memory; null is nothing */

@ The functions of the interface only pass the call on.

@<Pass the call on to the kind of store@>=
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why)
{
  return s->kind->begin(s, rows, n, why);
}
void store_put(struct store *s, uint32_t layer, const float *k, const float *v)
{
  s->kind->put(s, layer, k, v);
}
void store_view(const struct store *s, uint32_t layer, size_t row,
  struct view *v)
{
  s->kind->view(s, layer, row, v);
}
void store_commit(struct store *s) { s->kind->end(s, true); }
void store_abort(struct store *s) { s->kind->end(s, false); }
void store_empty(struct store *s) { s->kind->empty(s); }
void store_close(struct store *s) { if (s != NULL) s->kind->close(s); }

@ The store of this chapter is as plain as can be: a sequence has one block, in it a
layer has its keys and then its values, and position |t| is the |t|-th row of those. The
block grows by doubling.

@<A store of one block a sequence@>=
struct store *store_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, struct error *why);
  /* a store for |n_sequences| sequences of a model, in float32, empty; null and
     a sentence if memory is refused. Owned by the caller */

@ A sequence remembers, beside its block, the tokens that it has computed. They survive
|store_empty|: in the naive loop the same rows are computed again and again, and
somebody has to notice.

@<What the plain store holds@>=
struct sequence {
  float *block;
  size_t room, length; /* rows in the block, and those that count */
  uint32_t *token; /* |[room]| */
  size_t computed; /* positions whose tokens are known from earlier passes */
  size_t first, count; /* its rows in |order|, while a pass is on */
};
struct plain_store {
  struct store common; /* must come first: a |struct store *| points here */
  size_t width, n_layers, window;
  struct sequence *sequence;
  const struct row *rows; /* of the present pass */
  size_t n, *order; /* row numbers by sequence and position, plus one */
};

@ To admit a pass is to check it and to make room for it. Nothing that a refusal would
have to undo is changed before the checks are through, but for the counts, which are
zero between passes.

@<Admit a pass, or refuse it@>=
static bool plain_begin(struct store *common, const struct row *rows, size_t n,
  struct error *why)
{
  struct plain_store *s = (struct plain_store *) common;
  if (n == 0 || s->n > 0)
    return error_say(why, n == 0 ? "the pass has no rows; wanted: 1 or more"
      : "the store is in a pass; wanted: its end");
  for (size_t i = 0; i < n; i++)
    if (rows[i].sequence >= common->n_sequences)
      return error_say(why, "row %zu is of sequence %" PRIu32 "; wanted:"@|
        " below %" PRIu32, i, rows[i].sequence, common->n_sequences);
  s->order = memory_take(common->m, FOR_ACTIVATIONS, n, sizeof *s->order, why);
  if (s->order == NULL) return false;
  s->rows = rows, s->n = n;
  for (size_t i = 0; i < n; i++) s->sequence[rows[i].sequence].count++;
  bool ok = plain_order(s, why) && plain_grow(s, why);
  if (ok) plain_measure(s);
  else plain_end(common, false);
  return ok;
}

@ If a sequence that has |length| rows gets |count| more, their positions must be
|length| \dots\ |length+count-1|, each once. So there is exactly one place for each row,
and a row that finds its place out of bounds or taken is an error. After that |order|
lists the rows by sequence and position, and no sorting was needed.

@<Find a place for every row@>=
static bool plain_order(struct plain_store *s, struct error *why)
{
  size_t first = 0;
  for (uint32_t q = 0; q < s->common.n_sequences; q++)
    s->sequence[q].first = first, first += s->sequence[q].count;
  for (size_t i = 0; i < s->n; i++) {
    const struct row *r = &s->rows[i];
    const struct sequence *q = &s->sequence[r->sequence];
    const char *wrong = NULL;
    if (r->position >= s->common.n_positions) wrong = "beyond the context";
    else if (r->position < q->length) wrong = "stored already";
    else if (r->position >= q->length + q->count) wrong = "behind a gap";
    else if (s->order[q->first + r->position - q->length] != 0)
      wrong = "given twice";
    if (wrong != NULL)
      return error_say(why, "position %" PRIu32 " of sequence %" PRIu32
        " is %s; wanted: from %zu on, each once, below %" PRIu32, r->position,
        r->sequence, wrong, q->length, s->common.n_positions);
    s->order[q->first + r->position - q->length] = i + 1;
  }
  return true;
}

@ A block that is too small is replaced by one of twice the size, or of the size that the
pass needs. If memory is refused, the sequences that have grown already keep their
larger blocks; nobody can tell.

@<Make room for the rows of the pass@>=
static bool plain_grow(struct plain_store *s, struct error *why)
{
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct sequence *q = &s->sequence[i];
    size_t wanted = q->length + q->count, room = 2 * q->room;
    if (wanted <= q->room) continue;
    if (room > s->common.n_positions) room = s->common.n_positions;
    if (room < wanted) room = wanted;
    if (!sequence_grow(s, q, room, why)) return false;
  }
  return true;
}

@ Keys and values of a layer lie |room| rows apart, so a larger block is not the old one
with something behind it: each layer's rows move to a new place.

@<Give a sequence a larger block@>=
static bool sequence_grow(struct plain_store *s, struct sequence *q, size_t room,
  struct error *why)
{
  struct memory *m = s->common.m;
  size_t parts = 2 * s->n_layers, each = s->width * sizeof(float);
  float *block = memory_take(m, FOR_CACHE, room, parts * each, why);
  uint32_t *token = block == NULL ? NULL : memory_grow(m, FOR_TOKENS, q->token,
    q->room, room, sizeof *token, why);
  if (token == NULL) {
    memory_give(m, FOR_CACHE, block, room, parts * each);
    return false;
  }
  for (size_t i = 0; i < parts && q->length > 0; i++)
    memcpy(block + i * room * s->width, q->block + i * q->room * s->width,
      q->length * each);
  memory_give(m, FOR_CACHE, q->block, q->room, parts * each);
  q->block = block, q->token = token, q->room = room;
  return true;
}

@ A row was computed before if an earlier pass had the same token at its position and at
all positions before it, since keys and values are a function of those. The first row
that differs makes everything behind it new.

@<Count the rows of a sequence that were computed before@>=
static uint32_t token_at(const struct plain_store *s, const struct sequence *q,
  size_t k)
{
  return s->rows[s->order[q->first + k] - 1].token;
}
static size_t known(const struct plain_store *s, const struct sequence *q)
{
  size_t k = 0;
  while (k < q->count && q->length + k < q->computed
      && q->token[q->length + k] == token_at(s, q, k))
    k++;
  return k;
}

@ The rows that some row of the pass will look at are those from the first one that the
earliest of them sees. With a window that may be later than the beginning.

@<Count the rows that are seen, and those computed before@>=
static size_t lowest(const struct plain_store *s, size_t position)
{
  bool short_sighted = s->window > 0 && position >= s->window;
  return short_sighted ? position - s->window + 1 : 0;
}
@#
static void plain_measure(struct plain_store *s)
{
  s->common.seen = s->common.recomputed = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    const struct sequence *q = &s->sequence[i];
    if (q->count == 0) continue;
    s->common.recomputed += known(s, q);
    s->common.seen += q->length + q->count - lowest(s, q->length);
  }
}

@ Storing is copying, to the row's own place in the layer.

@<Store the keys and values of a layer@>=
static void plain_put(struct store *common, uint32_t layer, const float *k,
  const float *v)
{
  struct plain_store *s = (struct plain_store *) common;
  size_t each = s->width * sizeof(float);
  for (size_t i = 0; i < s->n; i++) {
    const struct sequence *q = &s->sequence[s->rows[i].sequence];
    size_t t = s->rows[i].position;
    float *place = q->block + (2 * layer * q->room + t) * s->width;
    memcpy(place, k + i * s->width, each);
    memcpy(place + q->room * s->width, v + i * s->width, each);
  }
}

@ A row sees the positions up to its own, and from the first on, or from the beginning of
its window. What it does not see is left out of the sum, not multiplied by zero.

@<Show what a row sees@>=
static void plain_view(const struct store *common, uint32_t layer, size_t row,
  struct view *v)
{
  const struct plain_store *s = (const struct plain_store *) common;
  const struct sequence *q = &s->sequence[s->rows[row].sequence];
  uint32_t position = s->rows[row].position;
  const float *keys = q->block + 2 * layer * q->room * s->width;
  *v = (struct view) @[{ .base_k = keys, .base_v = keys + q->room * s->width,
    .row_bytes = s->width * sizeof(float), .type = WEIGHT_F32,
    .lo = (uint32_t) lowest(s, position), .hi = position + 1 }@];
}

@ At the end of a pass its rows count, or not. If they do, their tokens are remembered,
and what had been computed beyond a new token is forgotten.

@<End a pass, empty the store@>=
static void plain_end(struct store *common, bool commit)
{
  struct plain_store *s = (struct plain_store *) common;
  for (uint32_t i = 0; i < common->n_sequences; i++) {
    struct sequence *q = &s->sequence[i];
    size_t old = commit ? known(s, q) : 0, end = q->length + q->count;
    for (size_t k = old; k < q->count && commit; k++)
      q->token[q->length + k] = token_at(s, q, k);
    if (commit && (old < q->count || q->computed < end)) q->computed = end;
    if (commit) q->length = end;
    q->count = 0;
  }
  memory_give(common->m, FOR_ACTIVATIONS, s->order, s->n, sizeof *s->order);
  s->order = NULL, s->n = 0;
}
@#
static void plain_empty(struct store *common)
{
  struct plain_store *s = (struct plain_store *) common;
  for (uint32_t i = 0; i < common->n_sequences; i++) s->sequence[i].length = 0;
}

@ Opening takes only the array of sequences; blocks come with the first rows.

@<Open a plain store@>=
struct store *store_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, struct error *why)
{
  static const struct store_kind kind = @[{ plain_begin, plain_put, plain_view,
    plain_end, plain_empty, plain_close }@];
  struct plain_store *s = memory_take(m, FOR_OTHER, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  s->sequence = memory_take(m, FOR_OTHER, n_sequences, sizeof *s->sequence, why);
  if (s->sequence == NULL) {
    memory_give(m, FOR_OTHER, s, 1, sizeof *s);
    return NULL;
  }
  s->width = (size_t) c->n_kv_heads * c->head_dim;
  s->n_layers = c->n_layers, s->window = c->window;
  s->common = (struct store) @[{ .kind = &kind, .m = m,
    .n_sequences = n_sequences, .n_positions = c->n_positions,
    .row_bytes = 2 * s->width * sizeof(float) }@];
  return &s->common;
}

@ Closing returns everything, block by block.

@<Close a plain store@>=
static void plain_close(struct store *common)
{
  struct plain_store *s = (struct plain_store *) common;
  struct memory *m = common->m;
  for (uint32_t i = 0; i < common->n_sequences; i++) {
    struct sequence *q = &s->sequence[i];
    memory_give(m, FOR_CACHE, q->block, q->room,
      2 * s->n_layers * s->width * sizeof(float));
    memory_give(m, FOR_TOKENS, q->token, q->room, sizeof *q->token);
  }
  memory_give(m, FOR_OTHER, s->sequence, common->n_sequences, sizeof *s->sequence);
  memory_give(m, FOR_OTHER, s, 1, sizeof *s);
}

@ The module.

@(store.c@>=
#include <inttypes.h>
#include <string.h>
#include "02-model/store.h"
@;@#
@<What the plain store holds@>@;
@<Pass the call on to the kind of store@>@;
@<Find a place for every row@>@;
@<Give a sequence a larger block@>@;
@<Make room for the rows of the pass@>@;
@<Count the rows of a sequence that were computed before@>@;
@<Count the rows that are seen, and those computed before@>@;
@<End a pass, empty the store@>@;
@<Admit a pass, or refuse it@>@;
@<Store the keys and values of a layer@>@;
@<Show what a row sees@>@;
@<Close a plain store@>@;
@<Open a plain store@>@;
@* The pass. \label{sec:forward}
Now the model is run. The function that does it takes any list of rows, puts all of them
through all layers, and leaves a \emph{hidden state} for each: the |d_model| numbers from
which the head can make logits. It makes no logits itself, since a step of generation
wants them for one row only, and the head is, in a small model, the largest matrix
of all.
@^pass@>@^hidden state@>

@(forward.h@>=
#ifndef INCIPIT_FORWARD_H
#define INCIPIT_FORWARD_H
#include "02-model/store.h"
@<What a pass leaves behind@>@;
@<A watcher@>@;
@<From rows to hidden states@>@;
@<From hidden states to logits and probabilities@>@;
#endif

@ A pass is alive until it is closed, and takes its memory from the store's. Its hidden
states are those after the last layer, before the last norm.

@<What a pass leaves behind@>=
struct pass {
  struct memory *m;
  size_t n, d_model;
  float *hidden; /* |[n][d_model]|, in the order of the rows */
  uint32_t *spoilt; /* |[n]|: the layer, from 1, behind which a row first held a
    number that is not finite, 0 if its embedding did, |SOUND| if none */
  bool head_read; /* the head's weights have been counted for this pass */
};
enum { SOUND = 0x7fffffff };

@ Some chapters want to look into a pass: to draw attention, to print the numbers of a
hand calculation, to see whether a later token has changed an earlier row. A
\emph{watcher} is called at every stage of every layer with the numbers as they are. What
it writes there is what the pass goes on with; that is how chapter 3 leaves out
one query and looks what happens.
@^watcher@>

@<A watcher@>=
enum stage { STAGE_EMBEDDING, STAGE_NORM, STAGE_QUERY, STAGE_KEY, STAGE_VALUE,
  STAGE_WEIGHTS, STAGE_MIXED, STAGE_ATTENTION, STAGE_MLP_NORM, STAGE_INNER,
  STAGE_MLP, STAGE_LAYER };
  /* |[n][d_model]| but for: queries and mixed values |[n][n_heads][head_dim]|, keys
     and values |[n][n_kv_heads][head_dim]|, after rotation; attention weights
     |[n][n_heads][longest]|; inner |[n][d_inner]|. |STAGE_ATTENTION| and |STAGE_MLP| are
     what is added to the residual stream, |STAGE_LAYER| is the stream after it */
typedef void watch_see(void *what, enum stage stage, uint32_t layer, float *x,
  size_t rows, size_t width);
  /* |x| is |[rows][width]|, belongs to the pass, and may be changed */
struct watch { watch_see *see; void *what; bool weights; };
  /* |weights|: attention weights are wanted, too */

@ The four functions of the chapter. Each takes the engine first: the kernels in use, the
pool of workers, and the counters.

@<From rows to hidden states@>=
bool forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **pass, struct error *why);
  /* puts |n| rows through all layers and commits them to the store; |*pass| is
     owned by the caller. On failure nothing has been stored and there is no pass */
bool forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watch *watch, struct pass **pass,
  struct error *why);
  /* the same, with a watcher; a null |watch| is none */
void pass_close(struct pass *p);
  /* returns the memory of a pass; null is nothing */
bool pass_sound(const struct model *lm, const struct pass *p, size_t row,
  struct error *why);
  /* true if the row's hidden state is finite; else a sentence that names the layer */

@ And from there on.

@<From hidden states to logits and probabilities@>=
bool head(struct engine *e, const struct model *lm, struct pass *p,
  const size_t *which, size_t n, float *logits, struct error *why);
  /* logits |[n][vocab_size]| of the rows |which[0]|\dots, in that order, each
     below |p->n|; a row may be named twice */
bool evaluate(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, const size_t *which, size_t wanted,
  float *logits, struct error *why);
  /* the naive way: empties the store, runs |n| ids through one pass as sequence 0,
     and gives the logits |[wanted][vocab_size]| of the positions |which| */
bool logprobs(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, double *logprob, double *sum, struct error *why);
  /* natural logarithms of the probability of each id after those before it,
     |logprob[i]| for |i| from 1 on; |logprob[0]| is 0, and stands for nothing; |*sum|
     adds them in order. A logit that is not finite is an error */

@ A pass needs a desk: a dozen arrays, all of them taken before the first layer and
returned after the last. Whatever is taken is noted, so that one loop can clear the desk,
also when it is only half full because the sixth array was refused.

@<The desk of a pass@>=
struct sheet { void *p; size_t count, size; };
struct desk {
  struct memory *m;
  struct error *why;
  struct sheet sheet[24];
  size_t n;
  bool refused;
};
static void *desk_take(struct desk *d, size_t count, size_t size)
{
  if (d->refused) return NULL;
  struct sheet *s = &d->sheet[d->n];
  *s = (struct sheet) @[{ NULL, count, size }@];
  s->p = memory_take(d->m, FOR_ACTIVATIONS, count, size, d->why);
  if (s->p == NULL) d->refused = true;
  else d->n++;
  return s->p;
}
static void desk_clear(struct desk *d)
{
  while (d->n-- > 0) {
    struct sheet *s = &d->sheet[d->n];
    memory_give(d->m, FOR_ACTIVATIONS, s->p, s->count, s->size);
  }
}

@ What lies on it. Widths in numbers: a query has |n_heads*head_dim|, a key or a value
|n_kv_heads*head_dim|.

@<What lies on the desk@>=
struct work {
  struct engine *e;
  const struct model *lm;
  struct store *s;
  const struct watch *watch;
  struct pass *p;
  size_t n, q_width, kv_width, longest;
  float *x; /* the residual stream, |p->hidden| */
  float *normed, *fused, *q, *k, *v, *mixed, *added, *inner, *up; /* |[n][...]| */
  float *cosine, *sine; /* |[n][head_dim/2]| */
  float *room, *weights; /* for attention */
  uint32_t *id, *position;
  struct view *view;
};

@ The sizes come from the settings, which the shapes of the weights have confirmed; a
product with the number of rows is checked by |memory_take|.

@<Lay out the desk@>=
static bool work_take(struct work *w, struct desk *d)
{
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, one = sizeof(float), half = c->head_dim / 2;
  w->q_width = (size_t) c->n_heads * c->head_dim;
  w->kv_width = (size_t) c->n_kv_heads * c->head_dim;
  bool fused = w->lm->layers[0].n_qkv == 1, gated = w->lm->layers[0].n_up == 2;
  w->normed = desk_take(d, n, c->d_model * one);
  w->fused = desk_take(d, fused ? n : 0, 3 * w->q_width * one);
  w->q = desk_take(d, n, w->q_width * one);
  w->k = desk_take(d, n, w->kv_width * one);
  w->v = desk_take(d, n, w->kv_width * one);
  w->mixed = desk_take(d, n, w->q_width * one);
  w->added = desk_take(d, n, c->d_model * one);
  w->inner = desk_take(d, n, c->d_inner * one);
  w->up = desk_take(d, gated ? n : 0, c->d_inner * one);
  w->cosine = desk_take(d, n, half * one);
  w->sine = desk_take(d, n, half * one);
  w->id = desk_take(d, n, sizeof *w->id);
  w->position = desk_take(d, n, sizeof *w->position);
  w->view = desk_take(d, n, sizeof *w->view);
  w->room = desk_take(d, pool_workers(w->e->self),
    kernels_room(&w->lm->heads, w->longest) * one);
  bool weights = w->watch != NULL && w->watch->weights;
  w->weights = desk_take(d, weights ? n * c->n_heads : 0, w->longest * one);
  return !d->refused;
}

@ The embedding of an id is its row of the table. GPT-2 adds a second table's row, that of
the position; Llama turns queries and keys later, by angles that we compute here once
for all layers.

@<Turn ids into rows@>=
static void work_embed(struct work *w, const struct row *rows)
{
  const struct model *lm = w->lm;
  const struct kernels *k = w->e->k;
  size_t d = lm->config.d_model;
  for (size_t i = 0; i < w->n; i++)
    w->id[i] = rows[i].token, w->position[i] = rows[i].position;
  k->embed(w->e, lm->embedding, d, w->id, w->n, w->x);
  uint64_t bytes = weight_bytes(lm->embedding.type);
  if (lm->config.learned_positions) {
    k->embed(w->e, lm->positions, d, w->position, w->n, w->added);
    k->add(w->e, w->x, w->added, w->n * d);
    bytes += weight_bytes(lm->positions.type);
  }
  else k->angles(w->e, w->position, w->n, lm->frequency,
    lm->config.head_dim / 2, 1, w->cosine, w->sine);
  w->e->c->weight_bytes_read += w->n * d * bytes;
  look(w, STAGE_EMBEDDING, 0, w->x, d);
}
@#
static void look(const struct work *w, enum stage stage, uint32_t layer, float *x,
  size_t width)
{
  if (w->watch != NULL)
    w->watch->see(w->watch->what, stage, layer, x, w->n, width);
}

@ Queries, keys and values are three products with the same normed rows. One call makes
all three, so that the rows are read once; where the file has them fused, one product is
cut into three.

@<Project to queries, keys and values@>=
static void work_project(struct work *w, const struct layer *l)
{
  const struct kernels *k = w->e->k;
  if (l->n_qkv == 3) {
    k->linear(w->e, l->qkv, 3, w->normed, w->n,
      (float *[]) @[{ w->q, w->k, w->v }@]);
    return;
  }
  k->linear(w->e, l->qkv, 1, w->normed, w->n, (float *[]) @[{ w->fused }@]);
  size_t d = w->q_width, size = d * sizeof(float);
  for (size_t i = 0; i < w->n; i++) {
    memcpy(w->q + i * d, w->fused + 3 * i * d, size);
    memcpy(w->k + i * d, w->fused + (3 * i + 1) * d, size);
    memcpy(w->v + i * d, w->fused + (3 * i + 2) * d, size);
  }
}

@ Positions enter queries and keys here, if they have not entered with the embedding. The
Qwens of the third kind norm both before; a norm of |head_dim| numbers is the same
function as one of |d_model|.

@<Norm and turn queries and keys@>=
static void work_turn(struct work *w, const struct layer *l)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->head_dim;
  if (l->of_queries.gain.data != NULL) {
    k->normalize(w->e, &l->of_queries, w->q, n * c->n_heads, d, w->q);
    k->normalize(w->e, &l->of_keys, w->k, n * c->n_kv_heads, d, w->k);
  }
  if (c->learned_positions) return;
  k->rotate(w->e, w->q, n, c->n_heads, d / 2, w->cosine, w->sine);
  k->rotate(w->e, w->k, n, c->n_kv_heads, d / 2, w->cosine, w->sine);
}

@ Attention. All keys and values of the layer are stored first, and only then does the
first row look: a row sees itself, and in a pass of many rows it sees the others of its
sequence in the same pass.

@<Let every row attend@>=
static void work_attend(struct work *w, uint32_t i)
{
  const struct model *lm = w->lm;
  struct counters *c = w->e->c;
  store_put(w->s, i, w->k, w->v);
  uint64_t pairs = 0;
  for (size_t r = 0; r < w->n; r++) {
    store_view(w->s, i, r, &w->view[r]);
    pairs += w->view[r].hi - w->view[r].lo;
  }
  struct capture keep = @[{ w->weights, w->longest }@];
  bool weights = w->watch != NULL && w->watch->weights;
  w->e->k->attend(w->e, &lm->heads, w->q, w->view, w->n, w->room, w->mixed,
    weights ? &keep : NULL);
  if (i == 0) c->qk_pairs += pairs;
  c->madds_attention += 2 * w->q_width * pairs;
  c->cache_bytes_written += w->n * w->s->row_bytes;
  c->cache_bytes_read += w->s->seen * w->s->row_bytes;
  if (weights)
    look(w, STAGE_WEIGHTS, i, w->weights, lm->config.n_heads * w->longest);
}

@ The first half of a layer: norm, attention, and the way back into the residual stream.

@<Pass through attention@>=
static void work_first_half(struct work *w, const struct layer *l, uint32_t i)
{
  const struct kernels *k = w->e->k;
  size_t d = w->lm->config.d_model;
  k->normalize(w->e, &l->before_attention, w->x, w->n, d, w->normed);
  look(w, STAGE_NORM, i, w->normed, d);
  work_project(w, l);
  work_turn(w, l);
  look(w, STAGE_QUERY, i, w->q, w->q_width);
  look(w, STAGE_KEY, i, w->k, w->kv_width);
  look(w, STAGE_VALUE, i, w->v, w->kv_width);
  work_attend(w, i);
  look(w, STAGE_MIXED, i, w->mixed, w->q_width);
  k->linear(w->e, &l->out, 1, w->mixed, w->n, (float *[]) @[{ w->added }@]);
  look(w, STAGE_ATTENTION, i, w->added, d);
  k->add(w->e, w->x, w->added, w->n * d);
}

@ The second half: norm, up, the bend, down, and into the stream. With a gate, the bend is
applied to the gate, which then multiplies the other product.

@<Pass through the MLP@>=
static void work_second_half(struct work *w, const struct layer *l, uint32_t i)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->d_model;
  k->normalize(w->e, &l->before_mlp, w->x, n, d, w->normed);
  look(w, STAGE_MLP_NORM, i, w->normed, d);
  k->linear(w->e, l->up, l->n_up, w->normed, n,
    (float *[]) @[{ w->inner, w->up }@]);
  k->activate(w->e, c->gated ? ACTIVATION_SILU : ACTIVATION_GELU_TANH, w->inner,
    c->gated ? w->up : NULL, n * c->d_inner, w->inner);
  look(w, STAGE_INNER, i, w->inner, c->d_inner);
  k->linear(w->e, &l->down, 1, w->inner, n, (float *[]) @[{ w->added }@]);
  look(w, STAGE_MLP, i, w->added, d);
  k->add(w->e, w->x, w->added, n * d);
  look(w, STAGE_LAYER, i, w->x, d);
}

@ A weight that is not a number makes everything after it not a number, and the answer is
then an error and not a token. Where it began is cheap to find while the rows are at
hand. A number that is not finite makes $x-x$ something else than zero.

@<Note the rows that are no longer finite@>=
static void note_spoilt(struct work *w, uint32_t behind)
{
  size_t d = w->lm->config.d_model;
  for (size_t r = 0; r < w->n; r++) {
    bool finite = true;
    for (size_t i = 0; i < d; i++)
      finite = finite && w->x[r * d + i] - w->x[r * d + i] == 0;
    if (!finite && w->p->spoilt[r] == SOUND) w->p->spoilt[r] = behind;
  }
}

@ So a pass is short: embed, and then for each layer its two halves.

@<Put the rows through all layers@>=
static void work_run(struct work *w, const struct row *rows)
{
  const struct model *lm = w->lm;
  struct counters *c = w->e->c;
  work_embed(w, rows);
  note_spoilt(w, 0);
  for (uint32_t i = 0; i < lm->config.n_layers; i++) {
    work_first_half(w, &lm->layers[i], i);
    work_second_half(w, &lm->layers[i], i);
    note_spoilt(w, i + 1);
  }
  c->passes++, c->rows += w->n;
  c->kv_rows_computed += w->n, c->kv_rows_recomputed += w->s->recomputed;
  c->madds_linear += w->n * lm->layer_madds;
  c->weight_bytes_read += lm->layer_bytes;
}

@ Before that, the rows are checked: ids against the vocabulary here, positions by the
store. The longest view decides how much room attention needs.

@<Check the ids, and find the longest view@>=
static bool rows_check(const struct model *lm, const struct row *rows, size_t n,
  size_t *longest, struct error *why)
{
  *longest = 1;
  for (size_t i = 0; i < n; i++) {
    if (rows[i].token >= lm->config.vocab_size)
      return error_say(why, "the token of row %zu is %" PRIu32 "; wanted:"@|
        " below %" PRIu32 ", the size of the vocabulary", i, rows[i].token,
        lm->config.vocab_size);
    if (rows[i].position >= *longest) *longest = (size_t) rows[i].position + 1;
  }
  return true;
}

@ The store admits the rows, the desk is laid out, the work is done, the desk is cleared.
If the desk cannot be had, the store is told that there was no pass.

@<Run a pass, watched or not@>=
bool forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watch *watch, struct pass **pass,
  struct error *why)
{
  struct work w = @[{ .e = e, .lm = lm, .s = s, .watch = watch, .n = n }@];
  struct desk d = @[{ .m = s->m, .why = why }@];
  *pass = NULL;
  if (!kernels_self_test(e->k, why) || !rows_check(lm, rows, n, &w.longest, why)
      || !store_begin(s, rows, n, why))
    return false;
  w.p = pass_open(s->m, n, lm->config.d_model, why);
  bool ok = w.p != NULL && work_take(&w, &d);
  if (ok) {
    w.x = w.p->hidden;
    work_run(&w, rows);
    store_commit(s);
    *pass = w.p;
  }
  else {
    store_abort(s);
    pass_close(w.p);
  }
  desk_clear(&d);
  return ok;
}
@#
bool forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **pass, struct error *why)
{
  return forward_watched(e, lm, s, rows, n, NULL, pass, why);
}

@ The pass itself outlives the desk.

@<Open and close a pass@>=
static struct pass *pass_open(struct memory *m, size_t n, size_t d_model,
  struct error *why)
{
  struct pass *p = memory_take(m, FOR_ACTIVATIONS, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  *p = (struct pass) @[{ .m = m, .n = n, .d_model = d_model }@];
  p->hidden = memory_take(m, FOR_ACTIVATIONS, n, d_model * sizeof(float), why);
  if (p->hidden != NULL)
    p->spoilt = memory_take(m, FOR_ACTIVATIONS, n, sizeof *p->spoilt, why);
  for (size_t i = 0; p->spoilt != NULL && i < n; i++) p->spoilt[i] = SOUND;
  if (p->spoilt != NULL) return p;
  pass_close(p);
  return NULL;
}
@#
void pass_close(struct pass *p)
{
  if (p == NULL) return;
  memory_give(p->m, FOR_ACTIVATIONS, p->spoilt, p->n, sizeof *p->spoilt);
  memory_give(p->m, FOR_ACTIVATIONS, p->hidden, p->n, p->d_model * sizeof(float));
  memory_give(p->m, FOR_ACTIVATIONS, p, 1, sizeof *p);
}

@ Whoever must not go on with such a row asks before.

@<Say where a row was spoilt@>=
bool pass_sound(const struct model *lm, const struct pass *p, size_t row,
  struct error *why)
{
  uint32_t at = p->spoilt[row];
  if (at == SOUND) return true;
  if (at == 0)
    return error_say(why, "%s: the embedding of row %zu is not finite;"@|
      " wanted: finite logits", weights_path(lm->weights), row);
  return error_say(why, "%s: row %zu is not finite behind layer %" PRIu32 " of %"
    PRIu32 "; wanted: finite logits", weights_path(lm->weights), row, at,
    lm->config.n_layers);
}

@* From the last row to words. \label{sec:head}
The head norms the rows that are wanted and multiplies each with one row of its matrix for
every id of the vocabulary. Each product is a \emph{logit}. The bytes of the matrix are
counted once a pass, the multiply-adds once a row.
@^logit@>@^head@>

@<Make logits of the rows that are wanted@>=
bool head(struct engine *e, const struct model *lm, struct pass *p,
  const size_t *which, size_t n, float *logits, struct error *why)
{
  size_t d = p->d_model;
  for (size_t i = 0; i < n; i++)
    if (which[i] >= p->n)
      return error_say(why, "logits of row %zu; wanted: a row below %zu",
        which[i], p->n);
  if (n == 0) return true;
  float *x = memory_take(p->m, FOR_ACTIVATIONS, n, d * sizeof *x, why);
  if (x == NULL) return false;
  for (size_t i = 0; i < n; i++)
    memcpy(x + i * d, p->hidden + which[i] * d, d * sizeof *x);
  e->k->normalize(e, &lm->last, x, n, d, x);
  e->k->linear(e, &lm->head, 1, x, n, &logits);
  memory_give(p->m, FOR_ACTIVATIONS, x, n, d * sizeof *x);
  e->c->madds_head += (uint64_t) n * d * lm->config.vocab_size;
  if (!p->head_read) e->c->weight_bytes_read += lm->head_bytes;
  p->head_read = true;
  return true;
}

@ The naive way to evaluate a text, and for the next chapter the only one: everything from
the beginning, in one pass.

@<Evaluate ids from an empty store@>=
static bool naive_pass(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, struct pass **p, struct error *why)
{
  *p = NULL;
  if (n > s->n_positions)
    return error_say(why, "the text has %zu tokens; wanted: at most %" PRIu32
      ", the model's context", n, s->n_positions);
  struct row *rows = memory_take(s->m, FOR_ACTIVATIONS, n, sizeof *rows, why);
  if (rows == NULL) return false;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, ids[i] }@];
  store_empty(s);
  bool ok = forward(e, lm, s, rows, n, p, why);
  memory_give(s->m, FOR_ACTIVATIONS, rows, n, sizeof *rows);
  return ok;
}
@#
bool evaluate(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, const size_t *which, size_t wanted,
  float *logits, struct error *why)
{
  struct pass *p;
  bool ok = naive_pass(e, lm, s, ids, n, &p, why)
    && head(e, lm, p, which, wanted, logits, why);
  pass_close(p);
  return ok;
}

@ The probability of a text, given its first token, is the product of the probabilities of
the others, each given all before it; all of them come out of one pass, because row |i|
has seen exactly the tokens up to |i| and predicts the next. The product is a sum of
logarithms (\cref{sec:chain} says why). A logit that is not finite has no logarithm
worth adding.

@<Add up the log-probabilities of a text@>=
static bool one_logprob(struct engine *e, const struct model *lm, struct pass *p,
  size_t i, uint32_t next, float *logits, double *logprob, struct error *why)
{
  uint32_t vocab = lm->config.vocab_size;
  if (!pass_sound(lm, p, i, why) || !head(e, lm, p, &i, 1, logits, why))
    return false;
  for (uint32_t v = 0; v < vocab; v++)
    if (!(logits[v] - logits[v] == 0))
      return error_say(why, "%s: the logit of token %" PRIu32 " behind row %zu"@|
        " is not finite; wanted: a number", weights_path(lm->weights), v, i);
  e->k->log_softmax(e, logits, 1, vocab, logprob);
  logprob[0] = logprob[next];
  return true;
}

@ The log-softmax needs room for the whole vocabulary, and so do the logits; both are taken
once.

@<Evaluate a text and add up@>=
bool logprobs(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, double *logprob, double *sum, struct error *why)
{
  struct pass *p = NULL;
  size_t vocab = lm->config.vocab_size;
  struct desk d = @[{ .m = s->m, .why = why }@];
  float *logits = desk_take(&d, vocab, sizeof *logits);
  double *all = desk_take(&d, vocab, sizeof *all);
  bool ok = !d.refused && naive_pass(e, lm, s, ids, n, &p, why);
  *sum = 0;
  if (ok) logprob[0] = 0;
  for (size_t i = 0; i + 1 < n && ok; i++) {
    ok = one_logprob(e, lm, p, i, ids[i + 1], logits, all, why);
    if (ok) logprob[i + 1] = all[0], *sum += all[0];
  }
  pass_close(p);
  desk_clear(&d);
  return ok;
}

@ The module, from the desk to the log-probability.

@(forward.c@>=
#include <inttypes.h>
#include <string.h>
#include "02-model/forward.h"
@;@#
@<The desk of a pass@>@;
@<What lies on the desk@>@;
@<Lay out the desk@>@;
@<A layer, step by step@>@;
@<Whole passes@>@;

@ What happens to a row in a layer.

@<A layer, step by step@>=
static void look(const struct work *w, enum stage stage, uint32_t layer, float *x,
  size_t width);
@<Turn ids into rows@>@;
@<Project to queries, keys and values@>@;
@<Norm and turn queries and keys@>@;
@<Let every row attend@>@;
@<Pass through attention@>@;
@<Pass through the MLP@>@;

@ And what happens around the layers.

@<Whole passes@>=
@<Note the rows that are no longer finite@>@;
@<Put the rows through all layers@>@;
@<Check the ids, and find the longest view@>@;
@<Open and close a pass@>@;
@<Run a pass, watched or not@>@;
@<Say where a row was spoilt@>@;
@<Make logits of the rows that are wanted@>@;
@<Evaluate ids from an empty store@>@;
@<Add up the log-probabilities of a text@>@;
@<Evaluate a text and add up@>@;
